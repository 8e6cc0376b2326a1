//! How do sessions hang together: forks, origins, subagents?

use std::collections::HashMap;

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use super::read::base;
use super::write::{flag, key_range};
use crate::model::{Base, ChildSession};

/// What a session says of the one that it comes from.
pub struct NamedParent {
    /// Its path, or its id, as it is written.
    pub written: String,
    /// The session, and its path, where it is there.
    pub found: Option<(i64, String)>,
}

impl Catalogue {
    /// The session of that id, of the agent and the machine of the session `beside` it, with what
    /// it goes on from itself.
    pub fn base(&self, id: &str, beside: i64) -> Result<Option<(i64, Option<Base>)>, Error> {
        let sql = "SELECT s.session, s.base_session, s.base_end
            FROM _roots r CROSS JOIN _sessions s ON s.root = r.root AND s.id = ?1
            WHERE s.path <> '' AND (r.agent, r.host) =
                (SELECT agent, host FROM _roots JOIN _sessions USING (root) WHERE session = ?2)
            ORDER BY NOT r.current, s.hidden IS NOT NULL, s.path";
        self.first(sql, params![id, beside], |r| {
            Ok((r.get(0)?, base(r.get(1)?, r.get(2)?)))
        })
    }

    /// Whether that many bytes of a session are whole entries of its one source, but for what lies
    /// beside that.
    pub fn reaches(&self, session: i64, end: u64) -> Result<bool, Error> {
        let (low, high) = key_range(session);
        let sql = format!(
            "SELECT count(*) = 1 AND max(length) >= ?2 AND NOT EXISTS (
                SELECT 1 FROM _entries e
                WHERE e.key BETWEEN ?3 AND ?4 AND e.start < ?2 AND e.start + e.length > ?2
                    AND e.flags & {} = 0)
            FROM _session_sources JOIN _sources USING (source) WHERE session = ?1 AND part <> 'side'",
            flag::BESIDE
        );
        let bound = params![session, end.cast_signed(), low, high];
        let reaches = self.first(&sql, bound, |r| r.get::<_, Option<bool>>(0))?;
        Ok(reaches.flatten().unwrap_or(false))
    }

    /// The sessions that come from this one, the oldest first.
    pub fn child_sessions(&self, session: i64) -> Result<Vec<ChildSession>, Error> {
        let sql =
            "SELECT path, subagent FROM _sessions WHERE parent = ?1 ORDER BY created_ms, path";
        self.all(sql, [session], |r| {
            Ok(ChildSession {
                path: r.get::<_, String>(0)?.into(),
                is_subagent: r.get(1)?,
            })
        })
    }

    /// Ids of the sessions that one with this id has started to work for it, and of those that they
    /// have.
    pub fn subagents_of(&self, id: &str) -> Result<Vec<String>, Error> {
        let sql = "WITH RECURSIVE below(session, id) AS (
               SELECT session, id FROM _sessions WHERE subagent AND parent_session = ?1
               UNION SELECT c.session, c.id FROM below JOIN _sessions c ON c.parent = below.session
                     WHERE c.subagent)
            SELECT DISTINCT id FROM below";
        self.all(sql, [id], |r| r.get(0))
    }

    /// The entries of a session that are in its own files or database, or in copies of them where
    /// there are only these; and whether each is a line of a file by itself.
    pub fn main_entries(&self, session: i64) -> Result<HashMap<i64, bool>, Error> {
        let (low, high) = key_range(session);
        let sql = "SELECT key, row IS NULL AND flags & ?4 = 0 FROM _entries e
            JOIN _session_sources f ON f.session = ?1 AND f.source = e.source
            WHERE key BETWEEN ?2 AND ?3 AND part <> 'side' AND (part = 'main' OR NOT EXISTS (
                SELECT 1 FROM _session_sources m WHERE m.session = ?1 AND m.part = 'main'))";
        let bound = [session, low, high, flag::FUSED];
        let entries: Vec<(i64, bool)> = self.all(sql, bound, |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(entries.into_iter().collect())
    }

    /// Whether another session started this one to work for it.
    pub fn is_subagent(&self, session: i64) -> Result<bool, Error> {
        let sql = "SELECT subagent FROM _sessions WHERE session = ?1";
        Ok(self.first(sql, [session], |r| r.get(0))?.unwrap_or(false))
    }

    /// The one that a session comes from: of a subagent the one that started it, of another the one
    /// that it was forked from. `None`: it names none, or itself.
    pub fn parent_of(&self, session: i64) -> Result<Option<NamedParent>, Error> {
        let sql = "SELECT c.parent_session, p.session, p.path
            FROM _sessions c LEFT JOIN _sessions p ON p.session = c.parent
            WHERE c.session = ?1 AND c.parent_session NOT IN (c.id, c.path)";
        self.first(sql, [session], |r| {
            let (session, path): (Option<i64>, Option<String>) = (r.get(1)?, r.get(2)?);
            Ok(NamedParent {
                written: r.get(0)?,
                found: session.zip(path),
            })
        })
    }
}
