//! The entries that a search reads itself: no more of each than it asks for.

use std::path::PathBuf;

use rusqlite::params;

use super::open::{Catalogue, Error};
use super::write::ARRIVAL_BITS;
use crate::source::identity::Identity;

/// Entries of one session in one source that lie near each other, keys `first..=last`, all within the bytes `start..end`.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Stretch {
    pub source: i64,
    pub first: i64,
    pub last: i64,
    pub start: u64,
    pub end: u64,
    pub path: PathBuf,
    pub format: String,
    /// Of the source as it was read; `None` when a later change could share it.
    pub identity: Option<Identity>,
}

/// An entry's place in its source, and the facts that searches filter by.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct OwedRow<'a> {
    pub key: i64,
    pub start: u64,
    pub length: u64,
    pub hash: u64,
    pub time_ms: Option<i64>,
    pub flags: i64,
    pub kind: &'a str,
    pub role: Option<&'a str>,
}

impl Catalogue {
    /// Show the entries of one source whose keys lie in `first..=last`, by key.
    pub fn owed_entries(
        &self,
        source: i64,
        first: i64,
        last: i64,
        mut each: impl FnMut(OwedRow<'_>),
    ) -> Result<(), Error> {
        let mut run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT key, start, length, hash, time_ms, flags, kind, role FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND source = ?3",
            )?;
            let mut rows = statement.query(params![first, last, source])?;
            while let Some(row) = rows.next()? {
                let kind = row.get_ref(6)?;
                let role = row.get_ref(7)?;
                each(OwedRow {
                    key: row.get(0)?,
                    start: row.get::<_, i64>(1)? as u64,
                    length: row.get::<_, i64>(2)? as u64,
                    hash: row.get::<_, i64>(3)? as u64,
                    time_ms: row.get(4)?,
                    flags: row.get(5)?,
                    kind: kind.as_str()?,
                    role: role.as_str_or_null()?,
                });
            }
            Ok(())
        };
        self.told(run())
    }

    /// Show everything: each session's part of each source, and of larger ones than `part` bytes stretches of about so many.
    pub fn stretches(&self, part: u64, mut each: impl FnMut(Stretch)) -> Result<(), Error> {
        let part = part as i64;
        let mut run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "WITH large AS (
                   SELECT source, min(key) AS first, max(key) AS last, min(start) AS start, max(start + length) AS end
                   FROM (SELECT source, key, start, length,
                                sum(length) OVER (PARTITION BY source, session ORDER BY key) / ?1 AS part, session
                         FROM (SELECT e.source, e.key, e.start, e.length, e.key >> ?2 AS session
                               FROM _sources s JOIN _session_sources USING (source)
                                    JOIN _entries e ON e.source = s.source
                                     AND e.key BETWEEN session << ?2 AND ((session + 1) << ?2) - 1
                               WHERE s.size > ?1))
                   GROUP BY source, session, part),
                 all_of AS (
                   SELECT source, session << ?2 AS first, ((session + 1) << ?2) - 1 AS last, 0 AS start, size AS end
                   FROM _session_sources JOIN _sources USING (source) WHERE size <= ?1
                   UNION ALL SELECT * FROM large)
                 SELECT a.source, a.first, a.last, a.start, a.end, r.path, s.relative, r.format,
                        s.racy, s.device, s.inode, s.size, s.mtime_ns, s.ctime_ns
                 FROM all_of a JOIN _sources s USING (source) JOIN _roots r USING (root)",
            )?;
            let mut rows = statement.query(params![part, ARRIVAL_BITS])?;
            while let Some(row) = rows.next()? {
                let (root, relative): (String, String) = (row.get(5)?, row.get(6)?);
                let identity = Identity {
                    device: row.get(9)?,
                    inode: row.get(10)?,
                    size: row.get::<_, i64>(11)? as u64,
                    mtime_ns: row.get(12)?,
                    ctime_ns: row.get(13)?,
                };
                each(Stretch {
                    source: row.get(0)?,
                    first: row.get(1)?,
                    last: row.get(2)?,
                    start: row.get::<_, i64>(3)? as u64,
                    end: row.get::<_, i64>(4)? as u64,
                    path: PathBuf::from(root).join(relative),
                    format: row.get(7)?,
                    identity: (!row.get::<_, bool>(8)?).then_some(identity),
                });
            }
            Ok(())
        };
        self.told(run())
    }
}
