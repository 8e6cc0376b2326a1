//! What is stored of directories, and which sources lie directly in some of them.

use std::collections::BTreeMap;

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use super::read::{KNOWN, StoredSource, known};
use crate::source::fingerprints::{DirectoryFingerprint, Folder, ranges_of_files};

/// Every so often every file is compared with what is stored, whatever the fingerprints say: where
/// directories vouch for their files, someone may have written in place.
const FULL_SCAN_MS: i64 = 3_600_000;

impl Catalogue {
    /// The directories of a root as they were when its format had this revision; none when a full
    /// scan is due.
    pub fn folders(&self, root: i64, revision: u32, now_ms: i64) -> Result<Vec<Folder>, Error> {
        let sql = "SELECT relative, seal, files FROM _folders
            WHERE root = ?1 AND (SELECT folders_revision IS ?2 AND abs(?3 - full_scan_ms) < ?4 FROM _roots WHERE root = ?1)";
        self.all(sql, params![root, revision, now_ms, FULL_SCAN_MS], |r| {
            Ok(Folder {
                relative: r.get(0)?,
                fingerprint: r.get::<_, Option<i64>>(1)?.map(DirectoryFingerprint),
                files: r.get::<_, i64>(2)? as u64,
            })
        })
    }

    /// The directories of a root, each with the number of sources directly in it.
    pub fn folder_files(&self, root: i64) -> Result<BTreeMap<String, u64>, Error> {
        self.all(
            "SELECT relative, files FROM _folders WHERE root = ?1",
            [root],
            |r| Ok((r.get(0)?, r.get::<_, i64>(1)? as u64)),
        )
    }

    /// Compare what is in these directories again in any case.
    pub fn doubt_folders(&self, root: i64, folders: &[(String, Vec<String>)]) -> Result<(), Error> {
        self.with(|c| {
            let mut doubt = c.prepare_cached(
                "UPDATE _folders SET seal = NULL WHERE root = ?1 AND relative = ?2",
            )?;
            for (relative, _) in folders {
                doubt.execute(params![root, relative])?;
            }
            Ok(())
        })
    }

    /// Store the directories of a root: all of them after a full scan, otherwise those that
    /// changed.
    pub fn note_folders(
        &self,
        root: i64,
        full_scan: Option<(u32, i64)>,
        changed: &[&Folder],
        gone: &[&str],
    ) -> Result<(), Error> {
        self.with(|c| {
            if let Some((revision, now_ms)) = full_scan {
                c.execute("DELETE FROM _folders WHERE root = ?1", [root])?;
                c.execute(
                    "UPDATE _roots SET folders_revision = ?2, full_scan_ms = ?3 WHERE root = ?1",
                    params![root, revision, now_ms],
                )?;
            }
            for relative in gone {
                c.prepare_cached("DELETE FROM _folders WHERE root = ?1 AND relative = ?2")?
                    .execute(params![root, relative])?;
            }
            for folder in changed {
                c.prepare_cached("INSERT OR REPLACE INTO _folders VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![
                        root,
                        folder.relative,
                        folder.fingerprint.map(|fingerprint| fingerprint.0),
                        folder.files as i64,
                    ])?;
            }
            Ok(())
        })
    }

    /// The sources that lie directly in these directories, or in directories that were in them and
    /// are no longer; sorted by path. Each comes with the directories that are in it now.
    pub fn known_sources_in(
        &self,
        root: i64,
        folders: &[(String, Vec<String>)],
    ) -> Result<Vec<StoredSource>, Error> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {KNOWN} FROM _sources WHERE root = ?1 AND relative >= ?2 AND relative < ?3"
            ))?;
            let mut all = Vec::new();
            for (folder, below) in folders {
                for (from, to) in ranges_of_files(folder, below) {
                    for row in statement.query_map(params![root, from, to], known)? {
                        all.push(row?);
                    }
                }
            }
            all.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
            Ok(all)
        })
    }
}
