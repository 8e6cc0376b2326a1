//! May more be written? Not while a read transaction keeps a long WAL from being shortened.
//!
//! SQLite's writer never waits for readers: it appends to the WAL, and a checkpoint copies into the
//! database only what no reader could still want the old state of. A read transaction that never
//! ends therefore keeps every page written since it began, and no setting changes that: the WAL is
//! bounded only by writing no more. Readers see no harm in it, and sessions are not lost: their
//! files are the truth, and the next sync reads on from where this one stopped.

use std::time::Duration;

use super::error::Error;
use super::locks;
use super::open::Catalogue;
use crate::sqlite_file::beside;

/// Bytes of WAL that are always allowed.
pub const WAL_BYTES: u64 = 64 << 20;
/// How many times the size of the catalogue its WAL may reach: enough to refill it while another
/// process reads.
const CATALOGUES: u64 = 2;
/// How long a checkpoint waits for readers: queries end, forgotten transactions do not.
const PATIENCE: Duration = Duration::from_millis(200);

impl Catalogue {
    /// Shorten the WAL when it has become long.
    ///
    /// # Errors
    /// [`Error::Blocked`] when a read transaction keeps it.
    pub(super) fn make_room(&self) -> Result<(), Error> {
        let Ok(wal) = std::fs::metadata(beside(self.path(), "-wal")) else {
            return Ok(());
        };
        let catalogue = std::fs::metadata(self.path()).map_or(0, |m| m.len());
        if wal.len() <= self.wal_bytes.max(CATALOGUES * catalogue) {
            return Ok(());
        }
        if self.empty_wal()? {
            return Ok(());
        }
        Err(Error::Blocked {
            path: self.path().to_path_buf(),
            bytes: wal.len(),
            readers: locks::readers(self.path()),
        })
    }

    /// Copy all of the WAL into the database and cut it to nothing. `false`: a reader holds on to
    /// an older state.
    pub(super) fn empty_wal(&self) -> Result<bool, Error> {
        self.step("catalogue.checkpoint")?;
        self.with(|c| {
            c.busy_timeout(PATIENCE)?;
            // 0: all of it was copied, and the file is empty.
            let emptied = c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| {
                r.get::<_, i64>(0)
            });
            c.busy_timeout(self.patience)?;
            Ok(emptied? == 0)
        })
    }
}
