//! Is a process at work that indexes words for nobody who waits, and lets others write between two
//! batches? It holds a lock of its own for as long as it lives.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::Error;
use crate::private;

/// The lock's file, in the directory of a generation.
const FILE: &str = "background";

/// The lock of the process that indexes in the background.
pub(super) struct BackgroundLock(File);

impl BackgroundLock {
    /// `None`: another process has it.
    pub fn take(generation: &Path) -> Result<Option<Self>, Error> {
        let path = generation.join(FILE);
        let mut options = private::options();
        let options = options.create(true).truncate(false).write(true);
        let file = options
            .open(&path)
            .map_err(|e| Error::unwritable(&path, e))?;
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
