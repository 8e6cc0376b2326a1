//! Is a process indexing words in the background? It holds a lock of its own as long as it lives,
//! and lets others write between two batches. A process that waits for it holds a second lock,
//! shared by all who wait; the indexer sees that and ends its batch early.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::Error;
use crate::private;

/// The lock's file, in the directory of a generation.
const FILE: &str = "background";

/// The file of the lock that is shared by those who wait.
const ASKED: &str = "asked";

/// The lock of the process that indexes in the background.
pub(super) struct BackgroundLock(File);

impl BackgroundLock {
    /// `None`: another process has it.
    pub fn take(generation: &Path) -> Result<Option<Self>, Error> {
        let path = generation.join(FILE);
        let file = private::open_or_create(&path).map_err(|e| Error::unwritable(&path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io(&path, error)),
        }
    }
}

impl Drop for BackgroundLock {
    fn drop(&mut self) {
        // A child process that is being started has the file open, too. Where this fails, closing
        // it is what is left.
        let _ = self.0.unlock();
    }
}

/// Whether a process indexes in the background.
pub(super) fn is_at_work(generation: &Path) -> bool {
    let file = File::open(generation.join(FILE));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn asked(generation: &Path) -> Option<File> {
    private::open_or_create(&generation.join(ASKED)).ok()
}

/// Somebody waits, as long as this is there.
pub(super) struct WaiterLock(File);

impl WaiterLock {
    /// `None`: it cannot be told to anybody. Then whole turns are waited for.
    pub fn begin(generation: &Path) -> Option<Self> {
        let file = asked(generation)?;
        file.try_lock_shared().ok().map(|()| Self(file))
    }
}

impl Drop for WaiterLock {
    fn drop(&mut self) {
        // As above.
        let _ = self.0.unlock();
    }
}

/// Tells whether somebody waits.
pub(super) struct WaiterProbe(Option<File>);

impl WaiterProbe {
    pub fn of(generation: &Path) -> Self {
        Self(asked(generation))
    }

    /// Whether somebody waits now.
    pub fn somebody_waits(&self) -> bool {
        let Some(file) = &self.0 else {
            return false;
        };
        match file.try_lock() {
            Ok(()) => file.unlock().is_err(),
            Err(error) => matches!(error, TryLockError::WouldBlock),
        }
    }
}
