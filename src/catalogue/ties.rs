//! Which of several sessions or entries comes first where nothing else tells? What their files say
//! decides, not the order in which they were read.

use rusqlite::Row;

use super::error::Error;
use super::open::Catalogue;

/// What is asked of a session that ties with another one.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct SessionTie {
    pub parent: Option<i64>,
    pub is_subagent: bool,
    /// It names a parent, which may be gone.
    pub names_parent: bool,
    pub order: SessionOrder,
}

/// By what sessions are told apart that have as many above them; the lesser one comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionOrder {
    is_foreign: bool,
    created_ms: i64,
    path: String,
    agent: String,
    host: String,
    root: String,
    session_key: String,
}

/// See [`SessionTie::names_parent`].
pub(super) const NAMES_PARENT: &str = "coalesce(s.parent_session NOT IN ('', s.id, s.path), 0)";

/// See [`SessionOrder`].
pub(super) const SESSION_ORDER: &str =
    "r.host <> '', coalesce(s.created_ms, 1 << 62), s.path, r.agent, r.host, r.path, s.place";

/// Asks what [`session_tie`] reads, of some sessions.
fn session_ties(which: &str) -> String {
    format!(
        "SELECT s.session, s.parent, s.subagent, {NAMES_PARENT}, {SESSION_ORDER}
            FROM _sessions s JOIN _roots r USING (root){which}"
    )
}

fn session_tie(r: &Row<'_>) -> rusqlite::Result<(i64, SessionTie)> {
    let tie = SessionTie {
        parent: r.get(1)?,
        is_subagent: r.get(2)?,
        names_parent: r.get(3)?,
        order: SessionOrder {
            is_foreign: r.get(4)?,
            created_ms: r.get(5)?,
            path: r.get(6)?,
            agent: r.get(7)?,
            host: r.get(8)?,
            root: r.get(9)?,
            session_key: r.get(10)?,
        },
    };
    Ok((r.get(0)?, tie))
}

/// By what entries of one session are told apart that tie; the lesser one comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryTie {
    is_beside_main: bool,
    relative: String,
}

impl Catalogue {
    /// What tells this session from those that tie with it.
    pub fn session_tie(&self, session: i64) -> Result<Option<SessionTie>, Error> {
        let sql = session_ties(" WHERE s.session = ?1");
        let found = self.first(&sql, [session], session_tie)?;
        Ok(found.map(|(_, tie)| tie))
    }

    /// The same of all sessions, by their numbers.
    pub fn session_ties(&self) -> Result<Vec<(i64, SessionTie)>, Error> {
        self.all(&session_ties(""), [], session_tie)
    }

    /// By what this entry is told from others of its session that tie with it, but for those in
    /// the same source: these have their keys in the order in which they stand there.
    pub fn entry_tie(&self, key: i64) -> Result<Option<EntryTie>, Error> {
        let sql = "SELECT p.part <> 'main', f.relative
            FROM _entries e JOIN _sources f USING (source)
                JOIN _session_sources p ON p.session = ?1 >> 24 AND p.source = e.source
            WHERE e.key = ?1";
        self.first(sql, [key], |r| {
            Ok(EntryTie {
                is_beside_main: r.get(0)?,
                relative: r.get(1)?,
            })
        })
    }
}
