//! What does the catalogue know of excluded files? How to recognise them, and whether their text is
//! wiped.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::error::Error;
use super::open::{Catalogue, step};
use crate::archive::SourcePath;
use crate::source::fingerprints::DirectoryFingerprint;
use crate::source::identity::Identity;
use crate::stored_path;

/// A stored source with what excludes it.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct ExcludedSource {
    pub source: i64,
    pub session: Option<i64>,
    pub root: i64,
    pub format: String,
    pub path: PathBuf,
    /// What it is called in the archive.
    pub kept_as: SourcePath,
    /// Working directory of its session.
    pub cwd: String,
    /// Key of its session below the root.
    pub session_key: String,
    pub is_main: bool,
    pub identity: Identity,
}

impl Catalogue {
    /// By which rules was left out: see [`Config::left_out_by`](crate::Config).
    pub fn excluded_by(&self) -> Result<Option<i64>, Error> {
        let by = "SELECT exclude FROM _store";
        self.one(by, [], |r| r.get(0))
    }

    /// Note that these rules hold from now on. What was left out before is looked at again.
    pub fn exclude_by(&self, fingerprint: Option<i64>) -> Result<(), Error> {
        self.with(|c| {
            c.execute_batch(
                "DELETE FROM _excluded; DELETE FROM _folders; UPDATE _roots SET excluded = 0, full_scan_ms = NULL",
            )?;
            c.execute("UPDATE _store SET exclude = ?1", [fingerprint])?;
            Ok(())
        })
    }

    /// Show every source with its session.
    pub fn sources_with_sessions(&self, mut each: impl FnMut(ExcludedSource)) -> Result<(), Error> {
        let sql = "SELECT f.source, f.root, r.format, r.path, f.relative, coalesce(s.cwd, ''), coalesce(s.place, ''),
                        coalesce(p.part = 'main', 0), f.device, f.inode, f.size, f.mtime_ns, f.ctime_ns, s.session, r.agent
                 FROM _sources f JOIN _roots r USING (root) LEFT JOIN _session_sources p USING (source)
                   LEFT JOIN _sessions s USING (session)";
        self.each(sql, [], |r| {
            let kept_as = SourcePath {
                agent: r.get(14)?,
                root: PathBuf::from(r.get_ref(3)?.as_str()?),
                relative: r.get(4)?,
            };
            each(ExcludedSource {
                kept_as,
                source: r.get(0)?,
                session: r.get(13)?,
                root: r.get(1)?,
                format: r.get(2)?,
                path: Path::new(r.get_ref(3)?.as_str()?).join(r.get_ref(4)?.as_str()?),
                cwd: r.get(5)?,
                session_key: r.get(6)?,
                is_main: r.get(7)?,
                identity: Identity {
                    device: r.get(8)?,
                    inode: r.get(9)?,
                    size: r.get::<_, i64>(10)? as u64,
                    mtime_ns: r.get(11)?,
                    ctime_ns: r.get(12)?,
                },
            });
            Ok(())
        })
    }

    /// Forget the files that are no source and for which `is_out` holds; gives back how many there
    /// were.
    pub fn forget_foreign_files(&self, is_out: impl Fn(&Path) -> bool) -> Result<u64, Error> {
        self.with(|c| {
            let foreign_files: Vec<(i64, String, String)> = c
                .prepare("SELECT root, relative, path FROM _strays JOIN _roots USING (root)")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect::<Result<_, _>>()?;
            let mut forgotten = 0;
            for (root, relative, above) in foreign_files {
                if is_out(&stored_path::below(Path::new(&above), &relative)) {
                    forgotten += c.execute(
                        "DELETE FROM _strays WHERE root = ?1 AND relative = ?2",
                        params![root, relative],
                    )? as u64;
                }
            }
            Ok(forgotten)
        })
    }

    /// The feed keeps saying that sessions went, but no longer which ones.
    pub fn forget_names(&self, is_out: impl Fn(i64, &Path) -> bool) -> Result<(), Error> {
        self.with(|c| {
            let named: Vec<(i64, i64, String)> = c
                .prepare("SELECT seq, session, path FROM _changes WHERE path <> ''")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect::<Result<_, _>>()?;
            let mut forget = c.prepare("UPDATE _changes SET id = '', path = '' WHERE seq = ?1")?;
            for (seq, session, path) in named {
                if is_out(session, Path::new(&path)) {
                    forget.execute([seq])?;
                }
            }
            Ok(())
        })
    }

    /// Keys of all sessions of a root, as they are below it.
    pub fn session_keys(&self, root: i64) -> Result<HashSet<String>, Error> {
        self.all("SELECT place FROM _sessions WHERE root = ?1", [root], |r| {
            r.get(0)
        })
    }

    /// Whether a root has a session of this key.
    pub fn has_session(&self, root: i64, session_key: &str) -> Result<bool, Error> {
        let one = "SELECT 1 FROM _sessions WHERE root = ?1 AND place = ?2";
        self.with(|c| {
            let mut one = c.prepare_cached(one)?;
            one.exists(params![root, session_key])
        })
    }

    /// Sessions that were left out by their working directory: hash of the place, and the main
    /// source as it was.
    pub fn excluded(&self, root: i64) -> Result<BTreeMap<i64, DirectoryFingerprint>, Error> {
        self.all(
            "SELECT place, seal FROM _excluded WHERE root = ?1",
            [root],
            |r| Ok((r.get(0)?, DirectoryFingerprint(r.get(1)?))),
        )
    }

    /// What was left out is to be looked at again.
    pub fn doubt_excluded(&self) -> Result<(), Error> {
        self.execute("DELETE FROM _excluded", []).map(drop)
    }

    /// How many files the last scan left out.
    pub fn excluded_files(&self, root: i64) -> Result<u64, Error> {
        let files = "SELECT excluded FROM _roots WHERE root = ?1";
        Ok(self.one(files, [root], |r| r.get::<_, i64>(0))? as u64)
    }

    /// Note what a scan left out: the sessions, and how many files.
    pub fn note_excluded(
        &self,
        root: i64,
        places: &BTreeMap<i64, DirectoryFingerprint>,
        files: u64,
    ) -> Result<(), Error> {
        if self.excluded(root)? != *places {
            self.with(|c| {
                c.execute("DELETE FROM _excluded WHERE root = ?1", [root])?;
                let mut add = c.prepare_cached("INSERT INTO _excluded VALUES (?1, ?2, ?3)")?;
                for (place, fingerprint) in places {
                    add.execute(params![root, place, fingerprint.0])?;
                }
                Ok(())
            })?;
        }
        self.execute(
            "UPDATE _roots SET excluded = ?2 WHERE root = ?1 AND excluded <> ?2",
            params![root, files as i64],
        )
        .map(drop)
    }

    /// Note that what was removed still has to be wiped from the disk.
    pub fn request_wipe(&self) -> Result<(), Error> {
        let request = "UPDATE _store SET wipe = 1";
        self.execute(request, []).map(drop)
    }

    /// Whether something is.
    pub fn is_wipe_requested(&self) -> Result<bool, Error> {
        let sql = "SELECT wipe FROM _store";
        self.one(sql, [], |r| r.get(0))
    }

    /// Leave nothing in the database and its WAL but what the rows say. `false`: a reader still
    /// uses an older state, so this has to be done again.
    pub fn wipe(&self) -> Result<bool, Error> {
        // VACUUM writes the whole database into the WAL. If the WAL cannot be emptied first, every
        // attempt would make it longer.
        if !self.empty_wal()? {
            return Ok(false);
        }
        self.with(|c| {
            c.flush_prepared_statement_cache();
            // Pages of removed rows are overwritten; those that changed rows left behind go with
            // the old file.
            c.pragma_update(None, "secure_delete", "ON")?;
            step("catalogue.vacuum")?;
            c.execute_batch("VACUUM")
        })?;
        if !self.empty_wal()? {
            return Ok(false);
        }
        self.step("catalogue.wiped")?;
        // Only now, so that a wipe that was cut short is done again.
        let done = "UPDATE _store SET wipe = 0";
        self.execute(done, [])?;
        Ok(true)
    }
}
