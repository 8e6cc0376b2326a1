//! Which bytes of its file are one branch of a session?

use std::io::Write;

use super::outline::{HEADER, OutlineQuery, Without};
use super::show::Reader;
use crate::error::Error;
use crate::format::Shape;
use crate::model::SessionRow;
use crate::query::Snapshot;

impl Snapshot<'_> {
    /// Write one branch as a session file of its own: the header and the way down to `leaf` (an id
    /// or `L<line>`), or to where the session stands, each entry's exact bytes on a line. How many
    /// lines were written.
    ///
    /// Nothing is rewritten, so the copy has the session's id, and labels that stand on other
    /// branches are not in it; see
    /// [`SessionManager::create_branched_session`][own] for a session of its own.
    ///
    /// [own]: crate::session::SessionManager::create_branched_session
    ///
    /// # Errors
    /// [`Error::NotLines`]; [`Error::NoEntry`] when the leaf is not in the session;
    /// [`Error::Changed`] when an entry's bytes have changed; [`Error::Io`] of the file or of
    /// `out`.
    pub fn copy_branch(
        &self,
        session: &SessionRow,
        leaf: Option<&str>,
        out: &mut dyn Write,
    ) -> Result<u64, Error> {
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
        let mut reader = Reader::new(self);
        let mut written = 0;
        // Only the first entry that the agent reads can be the header.
        let mut first = None;
        self.catalogue
            .each_placed(stored.session, None, &mut |entry| {
                if entry.agent_sees && first.is_none() {
                    first = Some((entry.key, entry.kind == HEADER));
                }
            })?;
        let header = first
            .filter(|(_, is_header)| *is_header)
            .map(|(key, _)| key);
        // The way down to the header is the header.
        let below = branch.iter().map(|at| outline.keys[*at]);
        let below = below.filter(|key| Some(*key) != header);
        for key in header.into_iter().chain(below) {
            let entry = self.catalogue.entry(key)?;
            let entry = entry.ok_or_else(|| self.no_entry(session, leaf.unwrap_or_default()))?;
            let bytes = reader.bytes(&entry)?.ok_or_else(|| Error::Changed {
                path: session.path.clone(),
            })?;
            out.write_all(&bytes)
                .and_then(|()| out.write_all(b"\n"))
                .map_err(|e| Error::io("the output".as_ref(), e))?;
            written += 1;
        }
        Ok(written)
    }
}
