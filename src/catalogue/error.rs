//! What can go wrong with the catalogue?

use std::path::PathBuf;

/// What can go wrong with the catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite's own error. It is in the message, and no source: its own source says it again.
    #[error("{path}: {error}", path = .path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
    /// A file that is no catalogue of ours.
    #[error("{} is not a sessionary catalogue (application id {found:#x})", .path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
        /// Its application id.
        found: i32,
    },
    /// Written by a newer version.
    #[error("{} was written by a newer sessionary (schema {found}, this one knows {known}): update sessionary", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// A session with more entries than its keys can count.
    #[error(
        "{relative}: this session has had more than 16,777,216 entries: split the file, or rebuild the index"
    )]
    Full {
        /// Path of the source below its root.
        relative: String,
    },
    /// A read transaction has been open so long that the WAL may not grow any more.
    #[error(
        "{}-wal has grown to {} MB and cannot be shortened while {} in a read transaction; nothing more is written until that ends",
        .path.display(), .bytes >> 20, whose(.readers)
    )]
    Blocked {
        /// The database.
        path: PathBuf,
        /// Length of its WAL.
        bytes: u64,
        /// The processes that read, on systems that tell.
        readers: Vec<String>,
    },
    /// Another program keeps the database locked, as one does that has begun to write and not come
    /// to an end.
    #[error("{} is locked by {}", .path.display(), named(.holders))]
    Locked {
        /// The database.
        path: PathBuf,
        /// The processes that hold the lock, on systems that tell.
        holders: Vec<String>,
    },
    /// Another process has removed or rebuilt the database. Open it again to get an answer.
    #[error("{} was rebuilt by another process in the meantime", .path.display())]
    Replaced {
        /// The database.
        path: PathBuf,
    },
    /// What was asked is no query, whatever the database holds.
    #[error("{message}")]
    Query {
        /// What SQLite said of it.
        message: String,
    },
    /// The directory cannot be made or read.
    #[error("cannot access {}", .path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// The file that was opened is not the catalogue any more: open it again.
    pub fn is_replaced(&self) -> bool {
        matches!(self, Error::Replaced { .. })
    }

    /// Whether another process's transaction has to end first.
    pub fn waits_for_another(&self) -> bool {
        matches!(self, Error::Blocked { .. } | Error::Locked { .. })
    }

    /// Whether the file or its directory cannot be written, or not now. If it cannot be read
    /// either, reading reports that.
    pub fn is_refusal_to_write(&self) -> bool {
        match self {
            Error::Io { .. } | Error::Blocked { .. } | Error::Locked { .. } => true,
            Error::Sqlite {
                error: rusqlite::Error::SqliteFailure(failure, _),
                ..
            } => {
                use rusqlite::ErrorCode::{
                    CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure,
                };
                matches!(
                    failure.code,
                    CannotOpen | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure
                )
            }
            _ => false,
        }
    }
}

fn whose(readers: &[String]) -> String {
    let verb = if readers.len() > 1 { "are" } else { "is" };
    format!("{} {verb}", named(readers))
}

fn named(processes: &[String]) -> String {
    match processes {
        [] => "another process".to_owned(),
        known => known.join(", "),
    }
}
