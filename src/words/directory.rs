//! What does tantivy see of a folder that is damaged, or that cannot be written?

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::WordsError;
use super::passing::Passing;
use crate::failpoint::reach;

/// The least a file of tantivy can be: its footer's length and magic number.
const LEAST_LENGTH: usize = 8;

/// Bytes of a file from which on it is read by pieces. Of smaller ones hardly any memory is taken.
const WORTH_PIECES: usize = 2 << 20;

/// A folder with an index. Files cut to almost nothing are errors, where tantivy's own would panic.
#[derive(Debug, Clone)]
pub(super) struct IndexDirectory {
    inner: MmapDirectory,
    path: PathBuf,
    /// tantivy takes a lock while a reader opens the segments, so that a writer does not delete
    /// them meanwhile. A writer that is stopped, or that hangs, would keep all readers waiting: they go on without, and
    /// [`Words::open`](super::Words::open) tells files that were deleted from files that are lost.
    for_reading: bool,
}

impl IndexDirectory {
    pub fn open(path: &Path, for_reading: bool) -> Result<Self, WordsError> {
        match MmapDirectory::open(path) {
            Ok(inner) => Ok(Self {
                inner,
                path: path.to_owned(),
                for_reading,
            }),
            Err(OpenDirectoryError::IoError { io_error, .. }) => {
                Err(io::Error::new(io_error.kind(), io_error.to_string()).into())
            }
            Err(other) => Err(io::Error::other(other.to_string()).into()),
        }
    }
}

/// How often somebody else's lock is tried again, and after how long each time.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(2);

impl IndexDirectory {
    /// Our own lock keeps other writers out. Who holds this one is a process that is just being started, and lets go of all
    /// that it was handed once it is another program.
    fn locked(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let mut tried = 0;
        loop {
            match self.inner.acquire_lock(lock) {
                Err(LockError::LockBusy) if tried < TRIES => {
                    tried += 1;
                    std::thread::sleep(PAUSE);
                }
                locked => return locked,
            }
        }
    }
}

/// Whether a writer, who only merges, reads the file once from its beginning to its end: two thirds of all bytes.
fn is_passed_through(path: &Path) -> bool {
    let postings = ["idx", "pos"].map(OsStr::new);
    path.extension()
        .is_some_and(|kind| postings.contains(&kind))
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.inner.get_file_handle(path)?;
        if handle.len() < LEAST_LENGTH {
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, "shorter than any such file");
            return Err(OpenReadError::wrap_io_error(error, path.to_owned()));
        }
        if self.for_reading || handle.len() < WORTH_PIECES || !is_passed_through(path) {
            return Ok(handle);
        }
        Ok(Arc::new(Passing::new(self.path.join(path), handle)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        reach("words.delete").map_err(|error| DeleteError::IoError {
            io_error: Arc::new(error),
            filepath: path.to_owned(),
        })?;
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        reach("words.create")
            .map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        reach("words.rename")?;
        self.inner.atomic_write(path, data)?;
        reach("words.renamed")
    }

    fn sync_directory(&self) -> io::Result<()> {
        reach("words.fsync")?;
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.for_reading {
            true => Ok(DirectoryLock::from(Box::new(()))),
            false => self.locked(lock),
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use tantivy::directory::INDEX_WRITER_LOCK;

    use super::*;

    #[test]
    fn a_lock_that_is_held_for_a_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let directory = IndexDirectory::open(folder.path(), false).unwrap();
        drop(directory.acquire_lock(&INDEX_WRITER_LOCK).unwrap());
        let held = File::options()
            .create(true)
            .append(true)
            .open(folder.path().join(&INDEX_WRITER_LOCK.filepath))
            .unwrap();
        held.lock().unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(5 * PAUSE);
                drop(held);
            });
            directory.acquire_lock(&INDEX_WRITER_LOCK).unwrap();
        });
    }
}
