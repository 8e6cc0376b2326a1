//! What had a session read before it wrote all of a file? All that it was given may hold lines of
//! the file, but for the answers of calls that name another one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::calls::Calls;
use crate::blame::{GivenTexts, Place, ReadLines, SessionEdit};
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::format::edits::Change;

/// Lines with more bytes than these are not looked for at once.
const MOST_BYTES: usize = 4 << 20;

impl Calls<'_> {
    /// Reads what sessions had read before they wrote all of the file, where nothing else says what
    /// was in it before.
    pub(super) fn read_what_was_seen(&mut self, names: &[&str]) -> Result<(), Error> {
        let mut of_sessions: HashMap<i64, Vec<usize>> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            let made = &call.made;
            let is_told = call.before_in.is_some() || made.is_new == Some(true);
            if !is_told && made.hunks.is_none() && written(made).next().is_some() {
                of_sessions.entry(made.session).or_default().push(at);
            }
        }
        for (session, writes) in of_sessions {
            let of = self.session(session)?;
            // What it goes on from is not in its file.
            if of.is_none_or(|of| of.base.is_some()) {
                for at in writes {
                    self.calls[at].made.seen = GivenTexts::anything();
                }
                continue;
            }
            let given = self.given(session, names)?;
            let is_it = |text: &str| names.iter().any(|name| text.contains(name));
            let mut left = &*writes;
            while !left.is_empty() {
                let (lines, count) = self.lines_of(left);
                let (now, later) = left.split_at(count);
                self.read_given(lines, &given, now, &is_it)?;
                left = later;
            }
        }
        Ok(())
    }

    /// What a session was given.
    fn given(&mut self, session: i64, names: &[&str]) -> Result<Vec<Given>, Error> {
        let mut answers: HashMap<i64, (bool, bool)> = HashMap::new();
        let mut asking: HashSet<i64> = HashSet::new();
        for call in self.snapshot.catalogue.calls_of_session(session)? {
            let subject = call.subject.unwrap_or_default();
            let names_it = names.iter().any(|name| subject.contains(name));
            let answer = answers.entry(call.answer.unwrap_or(call.key));
            let (is_of_file, is_of_others) = answer.or_insert((false, true));
            *is_of_file |= names_it;
            *is_of_others &= call.is_file && !names_it;
            asking.extend(call.answer.map(|_| call.key));
        }
        let is_own = |entry: &StoredEntry| {
            let says = entry.role.as_deref() == Some("assistant") || asking.contains(&entry.key);
            says && entry.flags & flag::TOOL_RESULT == 0
        };
        let entries = self.chain(session)?.entries().iter();
        let given = entries.filter(|entry| !is_own(entry)).map(|entry| {
            let answer = answers.get(&entry.key).copied();
            let (is_of_file, is_of_others) = answer.unwrap_or_default();
            Given {
                entry: entry.clone(),
                is_of_file,
                is_of_others,
            }
        });
        Ok(given.collect())
    }

    /// The lines of the first of these writes, and of how many.
    fn lines_of(&self, writes: &[usize]) -> (HashSet<String>, usize) {
        let mut lines = HashSet::new();
        let mut bytes = 0;
        for (count, at) in writes.iter().enumerate() {
            for line in written(&self.calls[*at].made).flat_map(ReadLines::of) {
                if !lines.contains(line) {
                    bytes += line.len();
                    lines.insert(line.to_owned());
                }
            }
            if bytes >= MOST_BYTES {
                return (lines, count + 1);
            }
        }
        (lines, writes.len())
    }

    /// Looks for these lines in what a session was given, and tells its writes.
    fn read_given(
        &mut self,
        lines: HashSet<String>,
        given: &[Given],
        writes: &[usize],
        names_it: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let read = match ReadLines::new(lines) {
            Some(mut read) => {
                for Given {
                    entry,
                    is_of_file,
                    is_of_others,
                } in given
                {
                    let text = self.reader.text(entry)?.unwrap_or_default();
                    for piece in text.iter().flat_map(|(_, pieces)| pieces) {
                        let names_it = *is_of_file || names_it(piece);
                        if names_it || !is_of_others {
                            read.read(piece, place(entry), names_it);
                        }
                    }
                }
                Some(Arc::new(read))
            }
            None => None,
        };
        for at in writes {
            let call = &mut self.calls[*at];
            call.made.seen = match &read {
                Some(read) => GivenTexts::before(place(&call.entry), Arc::clone(read)),
                None => GivenTexts::anything(),
            };
        }
        Ok(())
    }
}

/// An entry with what a session was given.
struct Given {
    entry: StoredEntry,
    /// It answers a call that names the file.
    is_of_file: bool,
    /// It answers only calls of tools that were given other files.
    is_of_others: bool,
}

/// The texts that a call wrote into the file.
fn written(made: &SessionEdit) -> impl Iterator<Item = &str> {
    made.changes.iter().filter_map(|change| match change {
        Change::Write(text) => Some(&**text),
        _ => None,
    })
}

/// Where an entry stands. The keys of one source are in file order.
fn place(entry: &StoredEntry) -> Place {
    Place {
        source: entry.source,
        key: entry.key,
        ms: entry.searched_ms,
    }
}
