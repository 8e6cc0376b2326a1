//! In which files is a session, and which others cannot do without it?

use std::path::{Path, PathBuf};

use rusqlite::params;

use super::beside::BESIDE_ROOT;
use super::error::Error;
use super::open::Catalogue;

impl Catalogue {
    /// Where the sources of a session are or were, its main ones first, and of each the id of
    /// another session that is in it as well. What a file beside the root calls the session is none
    /// of them.
    pub fn files_of(&self, session: i64) -> Result<Vec<(PathBuf, Option<String>)>, Error> {
        let sql = "SELECT r.path, s.relative,
                (SELECT o.id FROM _session_sources other JOIN _sessions o USING (session)
                    WHERE other.source = s.source AND other.session <> ?1 AND o.path <> '' LIMIT 1)
            FROM _session_sources p JOIN _sources s USING (source) JOIN _roots r ON r.root = s.root
            WHERE p.session = ?1 AND NOT (s.relative >= ?2 AND s.relative < ?3)
            ORDER BY p.part <> 'main', s.relative";
        let (from, to) = BESIDE_ROOT;
        self.all(sql, params![session, from, to], |r| {
            let path = Path::new(r.get_ref(0)?.as_str()?).join(r.get_ref(1)?.as_str()?);
            Ok((path, r.get(2)?))
        })
    }

    /// The sessions of this machine that go on from one of an agent and hold only what is their
    /// own.
    pub fn leaning_on(&self, id: &str, agent: &str) -> Result<Vec<i64>, Error> {
        let sql = "SELECT s.session FROM _sessions s JOIN _roots r USING (root)
            WHERE s.base_session = ?1 AND s.id <> ?1 AND r.agent = ?2 AND r.host = '' AND s.path <> ''
            ORDER BY s.created_ms, s.path";
        self.all(sql, [id, agent], |r| r.get(0))
    }
}
