//! Which roots are there, and what was found below each?

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{OptionalExtension, params};

use super::error::Error;
use super::open::Catalogue;
use super::write::key_range;
use crate::format::Format;
use crate::source::discover::ForeignFile;
use crate::source::identity::file_at;
use crate::source::links::{ABOVE_A_ROOT, NOT_FOLLOWED};
use crate::source::root::RootSpec;

/// What was found of a root.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct RootCounts {
    pub root: i64,
    pub error: Option<String>,
    pub files: u64,
    pub sessions: u64,
    pub newest_ms: Option<i64>,
    pub excluded: u64,
    pub links_not_followed: u64,
    pub unknown: u64,
    pub first_unknown: Option<String>,
    pub entries: u64,
    pub unparsed: u64,
}

/// Sessions in which nothing is known: no header, no directory, no message of anybody, no entry of
/// a kind that may stand alone (`?3`: those of each format); but not those of which no whole line
/// is written yet. Only those without a header are looked into.
const UNKNOWN: &str = "s.path <> '' AND s.messages = 0 AND s.created_raw IS NULL AND s.created_ms IS NULL AND s.cwd = ''
    AND (s.entries > 0 OR EXISTS (SELECT 1 FROM _problems p JOIN _session_sources ss USING (source)
                                  WHERE ss.session = s.session AND NOT p.provisional))
    AND NOT EXISTS (SELECT 1 FROM _entries e
                    WHERE (e.role IS NOT NULL
                           OR e.kind IN (SELECT value FROM json_each(?3, '$.' || r.format)))
                    AND e.key BETWEEN s.session << 24 AND ((s.session + 1) << 24) - 1)";

impl Catalogue {
    /// The format and label a root was last scanned with.
    pub fn root_is(&self, root: i64) -> Result<(String, Option<String>), Error> {
        let is = "SELECT format, label FROM _roots WHERE root = ?1";
        self.one(is, [root], |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// Whether a root was last scanned as what it is now: in that format, by that label, as one
    /// folder of sessions or not, as that machine's.
    pub fn root_is_as(&self, root: i64, spec: &RootSpec) -> Result<bool, Error> {
        let is = "SELECT format = ?2 AND label IS ?3 AND flat = ?4 AND host = ?5
            FROM _roots WHERE root = ?1";
        let host = spec.host.as_deref().unwrap_or_default();
        let bound = params![root, spec.format, spec.label, spec.flat, host];
        self.one(is, bound, |r| r.get(0))
    }

    /// Number of a root, if it was ever scanned, be it under another name: the one it was named by
    /// first stays, as long as it leads there.
    pub fn root_of(&self, agent: &str, path: &Path) -> Result<Option<i64>, Error> {
        let of = "SELECT root FROM _roots WHERE agent = ?1 AND path = ?2";
        self.with(|c| {
            let mut of = c.prepare_cached(of)?;
            let root = of.query_row(params![agent, path.to_string_lossy()], |r| r.get(0));
            if let Some(root) = root.optional()? {
                return Ok(Some(root));
            }
            let Some(folder) = file_at(path) else {
                return Ok(None);
            };
            let mut same = c.prepare_cached(
                "SELECT root, path FROM _roots
                 WHERE agent = ?1 AND device = ?2 AND inode = ?3 ORDER BY root",
            )?;
            let mut rows = same.query(params![agent, folder.0, folder.1])?;
            while let Some(row) = rows.next()? {
                let named: String = row.get(1)?;
                if file_at(named.as_ref()) == Some(folder) {
                    return row.get(0).map(Some);
                }
            }
            Ok(None)
        })
    }

    /// Every working directory that a session names.
    pub fn working_directories(&self) -> Result<Vec<String>, Error> {
        // From one to the next along the index: there are far fewer than sessions.
        let sql = "WITH RECURSIVE here(cwd) AS (
                SELECT min(cwd) FROM _sessions WHERE cwd > ''
                UNION ALL
                SELECT (SELECT min(cwd) FROM _sessions WHERE cwd > here.cwd) FROM here WHERE cwd IS NOT NULL)
            SELECT cwd FROM here WHERE cwd IS NOT NULL";
        self.all(sql, [], |r| r.get(0))
    }

    /// Of these, every one that a session of this machine names.
    pub fn own_working_directories(&self) -> Result<Vec<String>, Error> {
        let mut all = self.working_directories()?;
        let any = "SELECT EXISTS (SELECT 1 FROM _roots WHERE host <> '')";
        if self.one(any, [], |r| r.get(0))? {
            let own = "SELECT DISTINCT cwd FROM _sessions JOIN _roots USING (root) WHERE host = ''";
            let own: Vec<String> = self.all(own, [], |r| r.get(0))?;
            let own: HashSet<String> = own.into_iter().collect();
            all.retain(|cwd| own.contains(cwd));
        }
        Ok(all)
    }

    /// Numbers of all roots ever scanned.
    pub fn root_numbers(&self) -> Result<Vec<i64>, Error> {
        self.all("SELECT root FROM _roots", [], |r| r.get(0))
    }

    /// The device a root was on when it was last read.
    pub fn root_device(&self, root: i64) -> Result<Option<i64>, Error> {
        let device = "SELECT device FROM _roots WHERE root = ?1";
        self.one(device, [root], |r| r.get(0))
    }

    /// All roots with their counts.
    pub fn roots(&self, formats: &[&dyn Format]) -> Result<Vec<RootCounts>, Error> {
        let alone = formats.iter().map(|format| {
            let about = format.about();
            (about.name.to_owned(), about.kinds_that_stand_alone.into())
        });
        let alone = serde_json::Value::Object(alone.collect()).to_string();
        let sql = format!(
            "SELECT r.root, r.error,
                   (SELECT count(*) FROM _sources s WHERE s.root = r.root),
                   (SELECT count(*) FROM _sessions s WHERE s.root = r.root),
                   (SELECT max(modified_ms) FROM _sessions s WHERE s.root = r.root), r.excluded,
                   (SELECT count(*) FROM _strays s WHERE s.root = r.root AND s.reason IN (?1, ?2)),
                   (SELECT count(*) FROM _sessions s WHERE s.root = r.root AND {UNKNOWN}),
                   (SELECT min(path) FROM _sessions s WHERE s.root = r.root AND {UNKNOWN}),
                   (SELECT coalesce(sum(entries), 0) FROM _sessions s WHERE s.root = r.root),
                   (SELECT coalesce(sum(problems), 0) FROM _sessions s WHERE s.root = r.root)
            FROM _roots r ORDER BY r.root"
        );
        self.all(&sql, [NOT_FOLLOWED, ABOVE_A_ROOT, &*alone], |r| {
            Ok(RootCounts {
                root: r.get(0)?,
                error: r.get(1)?,
                files: r.get::<_, i64>(2)? as u64,
                sessions: r.get::<_, i64>(3)? as u64,
                newest_ms: r.get(4)?,
                excluded: r.get::<_, i64>(5)? as u64,
                links_not_followed: r.get::<_, i64>(6)? as u64,
                unknown: r.get::<_, i64>(7)? as u64,
                first_unknown: r.get(8)?,
                entries: r.get::<_, i64>(9)? as u64,
                unparsed: r.get::<_, i64>(10)? as u64,
            })
        })
    }

    /// Files below a root that are no source, and why; sorted by path.
    pub fn foreign_files(&self, root: i64) -> Result<Vec<ForeignFile>, Error> {
        let sql = "SELECT relative, reason, unread FROM _strays WHERE root = ?1 ORDER BY relative";
        self.all(sql, [root], |r| {
            Ok(ForeignFile {
                relative: r.get(0)?,
                reason: r.get(1)?,
                unread: r.get(2)?,
            })
        })
    }

    /// How many links below a root were not followed at the last scan, for that reason.
    pub fn links_not_followed(&self, root: i64, reason: &str) -> Result<u64, Error> {
        let count = "SELECT count(*) FROM _strays WHERE root = ?1 AND reason = ?2";
        let count = self.one(count, params![root, reason], |r| r.get::<_, i64>(0))?;
        Ok(count as u64)
    }

    /// The last sessions of a root, at most so many, each with what only its agent records of it.
    pub fn last_sessions(&self, root: i64, most: usize) -> Result<Vec<(i64, String)>, Error> {
        let sql = "SELECT session, coalesce(own, '') FROM _sessions WHERE root = ?1 AND path <> ''
            ORDER BY modified_ms DESC, session LIMIT ?2";
        let bound = params![root, most as i64];
        self.all(sql, bound, |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// How many of the last entries of a session, of at most so many, are of each kind.
    pub fn last_kinds(&self, session: i64, most: usize) -> Result<Vec<(String, u64)>, Error> {
        let sql =
            "SELECT kind, count(*) FROM (SELECT kind FROM _entries WHERE key BETWEEN ?1 AND ?2
            ORDER BY key DESC LIMIT ?3) GROUP BY kind";
        let (low, high) = key_range(session);
        let bound = params![low, high, most as i64];
        self.all(sql, bound, |r| Ok((r.get(0)?, r.get::<_, i64>(1)? as u64)))
    }
}
