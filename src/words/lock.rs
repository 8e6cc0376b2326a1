//! Who may write the words? One process at a time, be it to add to them, to merge, wipe or remove
//! them.
//!
//! It is not the index's lock, because a merge takes seconds in which the catalogue can be written.
//! A process that needs both takes the index's lock first. A merge takes only this one.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tantivy::directory::INDEX_WRITER_LOCK;

use super::{WordsError, files};
use crate::failpoint::reach;
use crate::private;
use crate::source::identity::{Identity, file_at};

/// How long a process waits for the lock if it can do nothing without it. A merge takes some
/// seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// After how long a lock that is held is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// The lock of the words in a folder: tantivy's own, so that other programs that write with tantivy
/// are kept out, too.
///
/// It is held before the index is opened: an index opened earlier may have read a state that
/// another writer has since replaced.
pub struct WordsLock {
    dir: PathBuf,
    file: File,
}

impl WordsLock {
    /// Take the lock; the folder is created when missing. If another process holds the lock, wait
    /// for it no longer than `patience`.
    ///
    /// # Errors
    /// [`WordsError::Busy`] after that time.
    pub fn take(dir: &Path, patience: Duration) -> Result<Self, WordsError> {
        private::create_dir_all(dir)?;
        Self::take_existing(dir, patience)
    }

    /// [`WordsLock::take`] in a folder that exists already. The folder is not created, because the
    /// index may have been removed.
    ///
    /// # Errors
    /// [`WordsError::Missing`] when the folder does not exist.
    pub fn take_existing(dir: &Path, patience: Duration) -> Result<Self, WordsError> {
        let began = Instant::now();
        loop {
            if let Some(file) = try_lock(dir)? {
                let dir = dir.to_owned();
                return Ok(Self { dir, file });
            }
            if began.elapsed() >= patience {
                return Err(WordsError::Busy);
            }
            sleep(PAUSE);
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Remove the words. What is not ours stays, and the folder.
    pub fn remove_words(&self) -> Result<(), WordsError> {
        Ok(files::remove(&self.dir)?)
    }
}

impl Drop for WordsLock {
    fn drop(&mut self) {
        // Not only closed: a process that is being started holds what we hold until it becomes
        // another program.
        let _ = self.file.unlock();
    }
}

/// `None`: another process holds it.
fn try_lock(dir: &Path) -> Result<Option<File>, WordsError> {
    reach("words.lock")?;
    let path = dir.join(&INDEX_WRITER_LOCK.filepath);
    let file = match private::open_or_create(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(WordsError::Missing(dir.to_owned()));
        }
        opened => opened?,
    };
    match file.try_lock() {
        // If the file was removed with the index meanwhile, locking it keeps no process out.
        Ok(()) => {
            let held = Identity::of(&file.metadata()?).file();
            Ok((file_at(&path) == Some(held)).then_some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_who_waits_comes_next() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("words");
        let held = WordsLock::take(&dir, Duration::ZERO).unwrap();
        let second = WordsLock::take(&dir, Duration::ZERO);
        assert!(matches!(second, Err(WordsError::Busy)));
        std::thread::scope(|threads| {
            let waits = threads.spawn(|| WordsLock::take(&dir, Duration::from_secs(60)).map(drop));
            sleep(4 * PAUSE);
            // A process that is being started holds it, too.
            let inherited = held.file.try_clone().unwrap();
            drop(held);
            assert!(matches!(waits.join(), Ok(Ok(()))));
            drop(inherited);
        });
    }
}
