//! Which bytes of its file are one branch of a session?

use std::collections::{HashMap, HashSet};
use std::io::Write;

use super::outline::{HEADER, Outline, OutlineQuery, Without};
use super::show::Reader;
use crate::catalogue::entries::EntryPosition;
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::format::{Shape, Structure};
use crate::model::{LeafRule, SessionRow};
use crate::query::Snapshot;

/// A branch that was written as a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedBranch {
    /// Its lines.
    pub lines: u64,
    /// Whether its beginning stands in another session alone, and so is not in it.
    pub lacks_beginning: bool,
}

impl Snapshot<'_> {
    /// Write one branch as a session file of its own, each entry's exact bytes on a line: the
    /// header, the way down to `leaf` (an id or `L<line>`) or to where the session stands, and what
    /// the file says beside all branches: before that leaf, or all of it. Of an agent whose later
    /// lines change earlier ones (Gemini CLI, OpenClaw) it is the way alone, and with a leaf also
    /// of one whose lines say where the session stands (Claude Code, induscode).
    ///
    /// Nothing is rewritten, so the copy has the session's id, and what stands on other branches,
    /// labels too, is not in it; see [`SessionManager::create_branched_session`][own] for a session
    /// of its own.
    ///
    /// [own]: crate::session::SessionManager::create_branched_session
    ///
    /// # Errors
    /// [`Error::NotLines`]; [`Error::NoEntry`] when the leaf is not in the session;
    /// [`Error::Changed`] when an entry's bytes have changed; [`Error::Io`] of the file,
    /// [`Error::Output`] of `out`.
    pub fn copy_branch(
        &self,
        session: &SessionRow,
        leaf: Option<&str>,
        out: &mut dyn Write,
    ) -> Result<CopiedBranch, Error> {
        let stored = self.stored(session)?;
        let format = self.config().format(&stored.format);
        if format.map(|format| format.shape_of(&session.path)) != Some(Shape::Lines) {
            return Err(Error::NotLines {
                session: session.id.clone(),
            });
        }
        let ask = OutlineQuery {
            without: Without::Headers,
            find: leaf.as_slice(),
            inherited: false,
        };
        let outline = self.outline(&stored, ask)?;
        let mut branch = match leaf {
            Some(name) => outline.branch(self.found_in(&outline, session, name)?),
            None => outline.active_branch(),
        };
        branch.reverse();
        let keys = self.lines_of(&stored, &outline, &branch, leaf.is_none())?;
        let mut reader = Reader::new(self);
        for key in &keys {
            let entry = self.catalogue.entry(*key)?;
            let entry = entry.ok_or_else(|| self.no_entry(session, leaf.unwrap_or_default()))?;
            let bytes = reader.bytes(&entry)?.ok_or_else(|| Error::Changed {
                path: session.path.clone(),
            })?;
            out.write_all(&bytes)
                .and_then(|()| out.write_all(b"\n"))
                .map_err(Error::output)?;
        }
        Ok(CopiedBranch {
            lines: keys.len() as u64,
            lacks_beginning: stored.base.is_some(),
        })
    }

    /// The lines of a branch: its entries, in their order, and before each of them what the file
    /// says before it beside all branches; with `all` also what it says behind the last one.
    fn lines_of(
        &self,
        stored: &StoredSession,
        outline: &Outline,
        branch: &[usize],
        all: bool,
    ) -> Result<Vec<i64>, Error> {
        let branch: Vec<i64> = branch.iter().map(|at| outline.keys[*at]).collect();
        let is_on_branch: HashSet<i64> = branch.iter().copied().collect();
        let main = self.catalogue.main_entries(stored.session)?;
        // Where later lines replace earlier ones, some of these undo what is written. Where lines
        // name the place at which the session stands, that is another one than is asked for.
        let is_alone = self.structure(stored) == Some(Structure::RewrittenTree)
            || !all && self.leaf_rule(stored) == LeafRule::Named;
        let is_beside = |entry: &EntryPosition<'_>| {
            // A file whose entries form one line has no other branch.
            let says_more = says_beside(entry) || outline.in_line && entry.agent_sees;
            !is_alone && says_more && main.get(&entry.key) == Some(&true)
        };
        let (mut header, mut beside, mut places) = (None, Vec::new(), HashMap::new());
        let mut place = 0_u64;
        self.catalogue
            .each_placed(stored.session, None, &mut |entry| {
                place += 1;
                let is_header = entry.kind == HEADER;
                if is_header && header.is_none() && main.contains_key(&entry.key) {
                    header = Some(entry.key);
                }
                if is_on_branch.contains(&entry.key) {
                    places.insert(entry.key, place);
                } else if !is_header && is_beside(&entry) {
                    beside.push((place, entry.key));
                }
            })?;
        let mut keys: Vec<i64> = header.into_iter().collect();
        let mut beside = beside.into_iter().peekable();
        // The way down to the header is the header.
        for key in branch.into_iter().filter(|key| Some(*key) != header) {
            let place = places.get(&key).copied().unwrap_or_default();
            while let Some((_, before)) = beside.next_if(|(before, _)| *before < place) {
                keys.push(before);
            }
            keys.push(key);
        }
        if all {
            keys.extend(beside.map(|(_, key)| key));
        }
        Ok(keys)
    }
}

/// Whether an entry's line is on no branch, and does not say where the session stands: what it
/// stands at may be left out.
fn says_beside(entry: &EntryPosition<'_>) -> bool {
    entry.has_bytes && entry.is_beside() && entry.stands_at().is_none()
}
