//! How do sources and sessions leave?

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;

impl Catalogue {
    /// Remove the rows of a source that is gone, and its session if that was its last source. Gives
    /// back whether a session was removed, and the sessions that lost the source, whose rows have
    /// to be built again by [`Catalogue::refold_session`].
    pub fn remove_source(&self, source: i64) -> Result<(bool, Vec<i64>), Error> {
        self.with(|c| {
            let sessions = self.sessions_of(source)?;
            let (mut vanished, mut left_over) = (false, Vec::new());
            for session in sessions {
                self.forget(source, session, 0)?;
                c.execute(
                    "DELETE FROM _session_sources WHERE session = ?1 AND source = ?2",
                    params![session, source],
                )?;
                let left: i64 = c.query_row(
                    "SELECT count(*) FROM _session_sources WHERE session = ?1",
                    [session],
                    |r| r.get(0),
                )?;
                if left == 0 {
                    self.drop_session(session)?;
                    vanished = true;
                } else {
                    left_over.push(session);
                }
            }
            c.execute("DELETE FROM _outbox WHERE source = ?1", [source])?;
            c.execute("DELETE FROM _sources WHERE source = ?1", [source])?;
            c.execute("DELETE FROM _checkpoints WHERE source = ?1", [source])?;
            Ok((vanished, left_over))
        })
    }

    /// Remove a session whose file was rewritten over and over, so that it starts again under a new
    /// number. `false`: it has several sources, and stays.
    pub(super) fn remove_rewritten(&self, session: i64) -> rusqlite::Result<bool> {
        let c = &self.connection;
        let sources: Vec<i64> = c
            .prepare_cached("SELECT source FROM _session_sources WHERE session = ?1")?
            .query_map([session], |r| r.get(0))?
            .collect::<Result<_, _>>()?;
        let [source] = sources[..] else {
            return Ok(false);
        };
        self.forget(source, session, 0)?;
        c.execute("DELETE FROM _session_sources WHERE session = ?1", [session])?;
        self.drop_session(session)?;
        Ok(true)
    }

    /// Remove a session that has no source any more: its rows, and what is noted where one goes.
    fn drop_session(&self, session: i64) -> rusqlite::Result<()> {
        self.note_gone(session)?;
        self.note_names(session)?;
        let c = &self.connection;
        c.execute("DELETE FROM _sessions WHERE session = ?1", [session])?;
        c.execute("DELETE FROM _rows WHERE session = ?1", [session])?;
        Ok(())
    }
}
