//! What can go wrong with the archive?

use std::io;
use std::path::PathBuf;

/// What can go wrong with the archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite's own error. It is in the message, and no source: its own source says it again.
    #[error("{}: {error}", .path.display())]
    Sqlite {
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
    /// A file or folder cannot be made, read or written.
    #[error("cannot access {}", .path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is no archive of ours.
    #[error("{} is not an archive of sessionary (application id {found:#x}): move it away, or name another folder", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
    },
    /// Written by a newer version.
    #[error("{} was written by a newer sessionary (schema {found}, this one knows {known}): update sessionary", .path.display())]
    Newer {
        /// The archive.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// Bytes in it are not what was kept.
    #[error("{}: {what}; `sessionary archive verify` lists all damage, and a backup of this file is the remedy", .path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// Whether another process used the archive for longer than was waited.
    pub(super) fn is_busy(&self) -> bool {
        let Error::Sqlite { error, .. } = self else {
            return false;
        };
        error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
    }

    /// Whether SQLite may make or fill no file beside the archive.
    pub(super) fn lacks_room(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
        let Error::Sqlite { error, .. } = self else {
            return false;
        };
        let code = error.sqlite_error_code();
        code.is_some_and(|code| [CannotOpen, DiskFull, ReadOnly, SystemIoFailure].contains(&code))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Io { source, .. } => source,
            error => io::Error::other(error),
        }
    }
}
