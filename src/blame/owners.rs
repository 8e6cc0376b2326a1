//! Which sessions ever wrote a line of this text? A file may go back to what it was before, and
//! then a text alone does not say which of them it is.

use std::collections::HashMap;

use super::is_telling;

/// Who had lines in a file, by their texts. Lines that are typed everywhere are not kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    of: HashMap<String, Owner>,
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
        }
    }

    /// A session writes this line.
    pub fn write(&mut self, line: &str, session: i64) {
        if is_telling(line) {
            let owner = self.of.entry(line.to_owned());
            owner
                .and_modify(|owner| match owner {
                    Owner::Session(other) if *other == session => {}
                    owner => *owner = Owner::Several,
                })
                .or_insert(Owner::Session(session));
        }
    }

    /// Whether a line of this text may be another's than this session's.
    pub fn is_disputed(&self, line: &str, session: i64) -> bool {
        let owner = self.of.get(line);
        owner.is_some_and(|owner| *owner != Owner::Session(session))
    }
}
