//! What does tantivy see of a folder that is damaged, or that cannot be written?

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, MmapDirectory,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use super::WordsError;
use crate::failpoint::reach;
use crate::private;

/// The least a file of tantivy can be: its footer's length and magic number.
const LEAST_LENGTH: usize = 8;

/// A folder with an index. Files cut to almost nothing are errors, where tantivy's own would panic.
#[derive(Debug, Clone)]
pub(super) struct IndexDirectory {
    inner: MmapDirectory,
    path: PathBuf,
    /// tantivy takes a lock while a reader opens the segments, so that a writer does not delete
    /// them meanwhile. A writer that is stopped, or that hangs, would keep all readers waiting. So
    /// they read without the lock, and [`Words::open`](super::Words::open) distinguishes files that
    /// were deleted from files that are lost.
    for_reading: bool,
}

impl IndexDirectory {
    pub fn open(path: &Path, for_reading: bool) -> Result<Self, WordsError> {
        match MmapDirectory::open(path) {
            Ok(inner) => Ok(Self {
                inner,
                path: std::path::absolute(path)?,
                for_reading,
            }),
            Err(OpenDirectoryError::IoError { io_error, .. }) => {
                Err(io::Error::new(io_error.kind(), io_error.to_string()).into())
            }
            Err(other) => Err(io::Error::other(other.to_string()).into()),
        }
    }
}

/// A file that is on the disk when it is complete.
struct SyncedFile(File);

impl Write for SyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.inner.get_file_handle(path)?;
        if handle.len() < LEAST_LENGTH {
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, "shorter than any such file");
            return Err(OpenReadError::wrap_io_error(error, path.to_owned()));
        }
        Ok(handle)
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
        // As tantivy's own, but for the mode: that leaves it to the umask.
        let file = reach("words.create").and_then(|()| {
            let mut options = private::options();
            options
                .write(true)
                .create_new(true)
                .open(self.path.join(path))
        });
        match file {
            Ok(file) => Ok(BufWriter::new(Box::new(SyncedFile(file)))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(error) => Err(OpenWriteError::wrap_io_error(error, path.to_owned())),
        }
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
        // A writer holds tantivy's own lock already, as a `WordsLock` that it took before it opened
        // the index.
        if self.for_reading || lock.filepath == INDEX_WRITER_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        // Made here, or the umask would have a say in its mode.
        let made = private::open_or_create(&self.path.join(&lock.filepath));
        made.map_err(LockError::wrap_io_error)?;
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}
