//! How do sessions hang together: forks, origins, subagents?

use rusqlite::{Row, params};

use super::error::Error;
use super::open::Catalogue;
use super::read::base;
use super::write::{flag, key_range};
use crate::model::Base;

/// A session that names another one as the one it comes from.
pub struct Child {
    /// Its path.
    pub path: String,
    /// Whether the other one started it to work for it.
    pub is_subagent: bool,
}

fn child(row: &Row<'_>) -> rusqlite::Result<Child> {
    Ok(Child {
        path: row.get(0)?,
        is_subagent: row.get(1)?,
    })
}

impl Catalogue {
    /// Path of the session that a session of the same root names by its id. Of copies it is the
    /// one that the view `forks` names.
    pub fn path_of_id(&self, id: &str, beside: i64) -> Result<Option<String>, Error> {
        let sql = "SELECT s.path FROM _sessions c JOIN _sessions s ON s.root = c.root AND s.id = ?1
            WHERE c.session = ?2
            ORDER BY iif(substr(c.place, 1, length(rtrim(s.place, replace(s.place, '/', ''))))
                         = rtrim(s.place, replace(s.place, '/', '')),
                         length(rtrim(s.place, replace(s.place, '/', ''))), -1) DESC, s.path";
        self.first(sql, params![id, beside], |r| r.get(0))
    }

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

    /// Paths of sessions of the same root that name `session` as their parent by its id.
    pub fn children_of_id(&self, id: &str, session: i64) -> Result<Vec<Child>, Error> {
        let sql = "SELECT path, subagent FROM _sessions WHERE parent_session = ?1
            AND root = (SELECT root FROM _sessions WHERE session = ?2) ORDER BY created_ms, path";
        self.all(sql, params![id, session], child)
    }

    /// Paths of sessions whose header names `path` as their parent.
    pub fn children_of_path(&self, path: &str) -> Result<Vec<Child>, Error> {
        let sql = "SELECT path, subagent FROM _sessions WHERE parent_session = ?1 AND path <> ?1
            ORDER BY created_ms, path";
        self.all(sql, [path], child)
    }

    /// Ids of the sessions that one with this id has started to work for it, and of those that they
    /// have.
    pub fn subagents_of(&self, id: &str) -> Result<Vec<String>, Error> {
        let sql = "WITH RECURSIVE below(root, id) AS (
               SELECT root, id FROM _sessions WHERE subagent AND parent_session = ?1
               UNION SELECT s.root, s.id FROM below CROSS JOIN _sessions s
                     WHERE s.root = below.root AND s.parent_session = below.id AND s.subagent)
            SELECT DISTINCT id FROM below";
        self.all(sql, [id], |r| r.get(0))
    }

    /// Whether another session started this one to work for it.
    pub fn is_subagent(&self, session: i64) -> Result<bool, Error> {
        let sql = "SELECT subagent FROM _sessions WHERE session = ?1";
        Ok(self.first(sql, [session], |r| r.get(0))?.unwrap_or(false))
    }

    /// The parent that a session's header names, by the session's path, and whether that one
    /// started it to work for it.
    pub fn parent_of(&self, path: &str) -> Result<Option<(String, bool)>, Error> {
        let sql = "SELECT parent_session, subagent FROM _sessions
            WHERE path = ?1 AND parent_session IS NOT NULL";
        self.first(sql, [path], |r| Ok((r.get(0)?, r.get(1)?)))
    }
}
