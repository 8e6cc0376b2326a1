//! What is stored of some paths below a root, and of what lies below them?

use std::collections::BTreeSet;

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use super::read::{KNOWN, StoredSource, known};
use crate::source::discover::ForeignFile;
use crate::source::fingerprints::parent;

/// The paths below a directory: from the first of these on, before the second.
fn below(path: &str) -> (String, String) {
    // `0` follows `/`.
    (format!("{path}/"), format!("{path}0"))
}

impl Catalogue {
    /// The sources at these paths and below them; sorted by path.
    pub fn known_at(
        &self,
        root: i64,
        paths: &BTreeSet<String>,
    ) -> Result<Vec<StoredSource>, Error> {
        self.with(|c| {
            let mut one = c.prepare_cached(&format!(
                "SELECT {KNOWN} FROM _sources WHERE root = ?1 AND relative = ?2"
            ))?;
            let mut under = c.prepare_cached(&format!(
                "SELECT {KNOWN} FROM _sources WHERE root = ?1 AND relative >= ?2 AND relative < ?3"
            ))?;
            let mut all = Vec::new();
            for path in paths {
                for row in one.query_map(params![root, path], known)? {
                    all.push(row?);
                }
                let (from, to) = below(path);
                for row in under.query_map(params![root, from, to], known)? {
                    all.push(row?);
                }
            }
            all.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
            Ok(all)
        })
    }

    /// The files at these paths and below them that are no source; sorted by path.
    pub fn foreign_files_at(
        &self,
        root: i64,
        paths: &BTreeSet<String>,
    ) -> Result<Vec<ForeignFile>, Error> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT relative, reason, unread FROM _strays WHERE root = ?1 AND relative = ?2
                 UNION ALL
                 SELECT relative, reason, unread FROM _strays WHERE root = ?1 AND relative >= ?3 AND relative < ?4",
            )?;
            let mut all = Vec::new();
            for path in paths {
                let (from, to) = below(path);
                let rows = statement.query_map(params![root, path, from, to], |r| {
                    Ok(ForeignFile {
                        relative: r.get(0)?,
                        reason: r.get(1)?,
                        unread: r.get(2)?,
                    })
                })?;
                for row in rows {
                    all.push(row?);
                }
            }
            all.sort();
            Ok(all)
        })
    }

    /// Instead of the files there that were no source: these.
    pub fn replace_foreign_files(
        &self,
        root: i64,
        old: &[ForeignFile],
        new: &[ForeignFile],
    ) -> Result<(), Error> {
        for foreign_file in old {
            let gone = "DELETE FROM _strays WHERE root = ?1 AND relative = ?2";
            self.execute(gone, params![root, foreign_file.relative])?;
        }
        new.iter()
            .try_for_each(|foreign_file| self.note_foreign_file(root, foreign_file))
    }

    /// Compare what is in the directories of these paths, and below them, again in any case.
    pub fn doubt_folders_at(&self, root: i64, paths: &BTreeSet<String>) -> Result<(), Error> {
        self.with(|c| {
            let mut one = c.prepare_cached(
                "UPDATE _folders SET seal = NULL WHERE root = ?1 AND relative = ?2 AND seal IS NOT NULL",
            )?;
            let mut under = c.prepare_cached(
                "UPDATE _folders SET seal = NULL WHERE root = ?1 AND relative >= ?2 AND relative < ?3 AND seal IS NOT NULL",
            )?;
            for path in paths {
                let (from, to) = below(path);
                one.execute(params![root, parent(path)])?;
                one.execute(params![root, path])?;
                under.execute(params![root, from, to])?;
            }
            Ok(())
        })
    }
}
