//! Which sessions ever wrote a line of this text? A file may go back to what it was before, and
//! then a text alone does not say which of them it is.

use std::collections::HashMap;

use super::is_telling;

/// Who had lines in a file, by their texts. Lines that are typed everywhere are not kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    of: HashMap<String, Owner>,
    /// By their texts without white space.
    of_bare: HashMap<String, Owner>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Session(i64),
    /// It was there, and nobody knows who wrote it.
    Nobody,
    Several,
}

impl Owners {
    /// These lines stand in the file.
    pub fn stand<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        for line in lines.into_iter().filter(|line| is_telling(line)) {
            self.of.entry(line.to_owned()).or_insert(Owner::Nobody);
            self.of_bare.entry(bare(line)).or_insert(Owner::Nobody);
        }
    }

    /// A session writes this line.
    pub fn write(&mut self, line: &str, session: i64) {
        if is_telling(line) {
            add(&mut self.of, line.to_owned(), session);
            add(&mut self.of_bare, bare(line), session);
        }
    }

    /// Whether a line of this text may be another's than this session's.
    pub fn is_disputed(&self, line: &str, session: i64) -> bool {
        let owner = self.of.get(line);
        owner.is_some_and(|owner| *owner != Owner::Session(session))
    }

    /// Whether a line of this text, but for its white space, may be another's.
    pub fn is_disputed_but_for_space(&self, line: &str, session: i64) -> bool {
        let owner = self.of_bare.get(&bare(line));
        owner.is_some_and(|owner| *owner != Owner::Session(session))
    }
}

fn add(owners: &mut HashMap<String, Owner>, line: String, session: i64) {
    let owner = owners.entry(line);
    owner
        .and_modify(|owner| match owner {
            Owner::Session(other) if *other == session => {}
            owner => *owner = Owner::Several,
        })
        .or_insert(Owner::Session(session));
}

/// A line without its white space.
pub(crate) fn bare(line: &str) -> String {
    line.split_whitespace().collect()
}
