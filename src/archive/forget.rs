//! How is a source forgotten, so that not even a free page holds its bytes?

use std::time::Duration;

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::error::Error;
use super::open::{Archive, PATIENCE};
use super::sources::Place;

impl Archive {
    /// Forget every content of a source; whether there was one. Blocks that another source holds
    /// stay. `for_good`: nothing of it is kept again. [`Archive::wipe`] has to follow the commit.
    /// Within a transaction.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget(&self, place: &Place, for_good: bool) -> Result<bool, Error> {
        if for_good {
            let add = "INSERT OR IGNORE INTO forgotten VALUES (?1)";
            self.execute(add, params![hash(place)])?;
        }
        let Some(source) = self.source(place)? else {
            return Ok(false);
        };
        let of = "SELECT generation FROM generations WHERE source = ?1";
        for generation in self.all(of, [source], |r| r.get(0))? {
            self.cut_off(generation, 0)?;
        }
        self.execute("DELETE FROM generations WHERE source = ?1", [source])?;
        self.execute("DELETE FROM sources WHERE source = ?1", [source])?;
        self.execute("UPDATE store SET unwiped = random()", [])?;
        self.step("archive.forget")?;
        Ok(true)
    }

    /// Whether a source is never to be kept again.
    pub(super) fn is_forgotten(&self, place: &Place) -> Result<bool, Error> {
        let one = "SELECT 1 FROM forgotten WHERE place = ?1";
        let found = self.first(one, params![hash(place)], |_| Ok(()))?;
        Ok(found.is_some())
    }

    /// Whether what was forgotten is still to be wiped.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn owes_wipe(&self) -> Result<bool, Error> {
        Ok(self.unwiped()?.is_some())
    }

    /// The number that whoever forgot something last has drawn; `None`: it is wiped.
    pub(super) fn unwiped(&self) -> Result<Option<i64>, Error> {
        self.one("SELECT unwiped FROM store", [], |r| r.get(0))
    }

    /// Leave nothing in the files but what is kept. Free pages were overwritten with zeros when
    /// they became free; now they are given back, and the write-ahead log, which has older ones, is
    /// emptied. `false`: another process still reads an older state, or writes, after this time, so
    /// this has to be done again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn wipe(&self, patience: Duration) -> Result<bool, Error> {
        self.step("archive.wipe")?;
        self.with(|c| c.busy_timeout(patience))?;
        let wiped = self.wipe_now();
        self.with(|c| c.busy_timeout(PATIENCE))?;
        match wiped {
            Err(error) if error.is_busy() => Ok(false),
            wiped => wiped,
        }
    }

    fn wipe_now(&self) -> Result<bool, Error> {
        let unwiped = self.unwiped()?;
        let is_wiped = self.with(|c| {
            let mut vacuum = c.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            drop(rows);
            // 0: all of it was copied into the database, and the file is empty.
            let blocked: i64 = c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0))?;
            Ok(blocked == 0)
        })?;
        if is_wiped {
            // Only now, so that a wipe that was cut short is done again.
            self.note_wiped(unwiped)?;
        }
        Ok(is_wiped)
    }

    /// What was forgotten before this number was drawn is wiped; what another process has forgotten
    /// since is not.
    pub(super) fn note_wiped(&self, unwiped: Option<i64>) -> Result<(), Error> {
        let done = "UPDATE store SET unwiped = NULL WHERE unwiped = ?1";
        self.execute(done, [unwiped]).map(drop)
    }
}

/// By which a place is known that is not to be named.
fn hash(place: &Place) -> [u8; 32] {
    let names = [
        &*place.agent,
        &*place.root.to_string_lossy(),
        &place.relative,
    ];
    Sha256::digest(names.join("\0")).into()
}
