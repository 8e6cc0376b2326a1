//! Which sources do sessions of this machine consist of, and of which repositories are they?

use rusqlite::params;

use super::beside::BESIDE_ROOT;
use super::error::Error;
use super::open::Catalogue;
use super::read::{LOCATION, location};
use crate::source::content::Location;

/// A source as one of its sessions holds it.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct SessionSource {
    pub source: i64,
    pub agent: String,
    pub relative: String,
    pub bytes: u64,
    pub modified_ms: i64,
    pub session: String,
    pub cwd: String,
    /// When it began, or when its file was changed last.
    pub began_ms: i64,
    pub repository: Option<String>,
    /// Whether the session itself says so; else it is that of its directory.
    pub is_recorded: bool,
    /// Whether it was in another repository before.
    pub has_moved: bool,
}

/// How a source is opened.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct SourceAt {
    pub format: String,
    pub flat: bool,
    pub relative: String,
    pub location: Location,
}

impl Catalogue {
    /// Every source of this machine's sessions of these repositories, one row for each session in
    /// it. Sorted by agent and path; of one path in several folders, the one written last comes
    /// first; of one source, the session whose main source it is. Roots no longer configured are
    /// left out, and so are files of names beside a root, which name sessions of every repository.
    pub fn session_sources(&self, repositories: &[String]) -> Result<Vec<SessionSource>, Error> {
        let repositories = serde_json::json!(repositories).to_string();
        let sql =
            "SELECT s.source, r.agent, s.relative, s.length, s.mtime_ns / 1000000, m.id, m.cwd,
                coalesce(m.repository, m.remote), m.repository IS NOT NULL,
                coalesce(m.created_ms, m.file_ms, 0), m.has_moved
            FROM _session_sources p JOIN _sources s USING (source) JOIN _roots r ON r.root = s.root
                JOIN _sessions m ON m.session = p.session
            WHERE r.host = '' AND r.current = 1 AND m.path <> ''
            AND NOT (s.relative >= ?2 AND s.relative < ?3) AND s.source IN (
                SELECT source FROM _sessions JOIN _session_sources USING (session)
                WHERE coalesce(repository, remote) IN (SELECT value FROM json_each(?1)))
            ORDER BY r.agent, s.relative, s.mtime_ns DESC, r.path, s.source, p.part = 'main' DESC, m.session";
        let (from, to) = BESIDE_ROOT;
        self.all(sql, params![repositories, from, to], |r| {
            Ok(SessionSource {
                source: r.get(0)?,
                agent: r.get(1)?,
                relative: r.get(2)?,
                bytes: r.get(3)?,
                modified_ms: r.get(4)?,
                session: r.get(5)?,
                cwd: r.get(6)?,
                repository: r.get(7)?,
                is_recorded: r.get(8)?,
                began_ms: r.get(9)?,
                has_moved: r.get(10)?,
            })
        })
    }

    /// Where a source is; `None`: it is known no more.
    pub fn source_at(&self, source: i64) -> Result<Option<SourceAt>, Error> {
        let sql = format!(
            "SELECT {LOCATION}, r.format, r.flat
             FROM _sources s JOIN _roots r USING (root) WHERE s.source = ?1"
        );
        self.first(&sql, [source], |r| {
            Ok(SourceAt {
                location: location(r, 0)?,
                relative: r.get(2)?,
                format: r.get(4)?,
                flat: r.get(5)?,
            })
        })
    }
}
