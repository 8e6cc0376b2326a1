//! Which sources must be read again or proven, though size and times of their files are unchanged?

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::error::Error;
use super::open::Catalogue;
use super::read::{KNOWN, known, numbers};
use crate::source::checkpoint::{NO_REVISION, ReadState};
use crate::source::identity::Identity;

impl Catalogue {
    /// Note that what is stored of these sources is not what their files hold, so that the next
    /// sync reads each from its first byte. One transaction; numbers of no source are skipped.
    pub fn condemn_sources(&self, sources: &[i64]) -> Result<(), Error> {
        self.transaction(|| sources.iter().try_for_each(|source| self.void(*source)))
    }

    /// Make the checkpoint of a source void, and its directory fingerprint too, so that the next
    /// scan finds the file.
    fn void(&self, source: i64) -> Result<(), Error> {
        // Racy as well: no search takes the identity for a proof of the bytes meanwhile.
        let sql = "UPDATE _sources SET revision = ?2, racy = 1 WHERE source = ?1 RETURNING root, relative";
        match self.first(sql, params![source, NO_REVISION], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })? {
            Some((root, relative)) => self.doubt_folders_at(root, &BTreeSet::from([relative])),
            None => Ok(()),
        }
    }

    /// The sources of these roots that were read on by their tails since all their blocks were
    /// proven: all of them, or those that have not changed since then.
    pub fn unproven(&self, roots: &[i64], unchanged_since: Option<i64>) -> Result<Vec<i64>, Error> {
        // For an empty list SQLite plans without the index, and INDEXED BY would be an error.
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let query = format!(
            "SELECT source FROM _sources INDEXED BY _sources_unproven
             WHERE unproven AND root IN ({}) AND (?1 IS NULL OR ctime_ns <= ?1)",
            numbers(roots)
        );
        self.all(&query, [unchanged_since], |r| r.get(0))
    }

    /// What was stored of a source at its last reading.
    pub fn stored(&self, source: i64) -> Result<Option<ReadState>, Error> {
        let query = format!("SELECT {KNOWN} FROM _sources WHERE source = ?1");
        self.with(|c| {
            let mut statement = c.prepare_cached(&query)?;
            let stored = statement.query_row([source], |r| known(r).map(|known| known.stored));
            stored.optional()
        })
    }

    /// All blocks of a source are as they were when they were read. Within a transaction.
    pub fn note_proven(&self, source: i64) -> Result<(), Error> {
        let proven = "UPDATE _sources SET unproven = 0 WHERE source = ?1 AND unproven";
        self.execute(proven, [source]).map(drop)
    }

    /// Note in one transaction that all blocks of these sources are as they were when they were
    /// read. A source is left out if its identity is no longer the given one: then it was read
    /// again since.
    pub fn note_all_proven(&self, proven: &[(i64, Identity)]) -> Result<(), Error> {
        let note = |(source, identity): &(i64, Identity)| match self.stored(*source)? {
            Some(stored) if stored.identity == *identity => self.note_proven(*source),
            _ => Ok(()),
        };
        self.transaction(|| proven.iter().try_for_each(note))
    }
}
