//! Which sources must be read again though nothing at their files says so?

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::open::{Catalogue, Error};
use crate::source::checkpoint::NO_REVISION;

impl Catalogue {
    /// What is stored of these sources is not what stands in their files: the next look at them
    /// reads each from its first byte. One transaction; numbers of no source are passed over.
    pub fn condemn_sources(&self, sources: &[i64]) -> Result<(), Error> {
        self.begin()?;
        let condemned = sources.iter().try_for_each(|source| self.void(*source));
        let committed = condemned.and_then(|()| self.commit());
        if committed.is_err() {
            self.rollback();
        }
        committed
    }

    /// Make the checkpoint of a source void, and have its directory looked into.
    fn void(&self, source: i64) -> Result<(), Error> {
        // Racy as well: no search takes the identity for a proof of the bytes meanwhile.
        let run = || -> rusqlite::Result<Option<(i64, String)>> {
            self.connection
                .prepare_cached(
                    "UPDATE _sources SET revision = ?2, racy = 1 WHERE source = ?1 RETURNING root, relative",
                )?
                .query_row(params![source, NO_REVISION], |r| Ok((r.get(0)?, r.get(1)?)))
                .optional()
        };
        match self.told(run())? {
            Some((root, relative)) => self.doubt_folders_at(root, &BTreeSet::from([relative])),
            None => Ok(()),
        }
    }
}
