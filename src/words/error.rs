//! What can go wrong with the words, and whether building them anew helps.

use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{OpenReadError, OpenWriteError};

/// An error of the words room.
#[derive(Debug, thiserror::Error)]
pub enum WordsError {
    /// There is no index in the folder.
    #[error("no word index in {0}")]
    Missing(PathBuf),
    /// The folder holds an index that this build did not make.
    #[error("the word index is of another make: {0}")]
    Foreign(String),
    /// The index is damaged.
    #[error("the words cannot be read: {0}")]
    Unreadable(String),
    /// Whoever read the index last found it damaged.
    #[error("{0}")]
    Condemned(String),
    /// Somebody else writes, merges or wipes the index.
    #[error("another process is writing the words")]
    Busy,
    /// The file system refused.
    #[error("word index: {0}")]
    Io(#[from] std::io::Error),
    /// tantivy failed otherwise.
    #[error("word index: {}", said(.0))]
    Engine(#[from] TantivyError),
}

impl WordsError {
    /// Whether building the index anew, in a new folder, is the way out.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(
            self,
            Self::Missing(_) | Self::Foreign(_) | Self::Unreadable(_) | Self::Condemned(_)
        )
    }

    /// Whether writing has failed on what the files hold, or nobody knows on what: not because the system refused.
    pub fn is_failure(&self) -> bool {
        self.asks_for_rebuild() || matches!(self, Self::Engine(_)) && !self.is_full()
    }

    /// As an error of the system's, for whoever tells where it happened.
    pub fn into_io(self) -> std::io::Error {
        match self {
            Self::Io(error) => error,
            other => std::io::Error::other(other.to_string()),
        }
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        is_full(self)
    }

    /// A file of the index whose checksum is wrong, or that is gone.
    pub(super) fn damaged(file: &Path) -> Self {
        Self::Unreadable(format!("{} is damaged", file.display()))
    }

    /// Sort out what reading an index came to.
    pub(super) fn of_reading(error: TantivyError) -> Self {
        match error {
            TantivyError::LockFailure(tantivy::directory::error::LockError::LockBusy, _) => {
                Self::Busy
            }
            TantivyError::LockFailure(tantivy::directory::error::LockError::IoError(source), _) => {
                Self::Io(std::io::Error::new(source.kind(), source.to_string()))
            }
            TantivyError::IncompatibleIndex(reason) => Self::Foreign(format!("{reason:?}")),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
                if !matches!(
                    io_error.kind(),
                    std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData
                ) =>
            {
                Self::Io(std::io::Error::new(
                    io_error.kind(),
                    format!("{}: {io_error}", filepath.display()),
                ))
            }
            TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(reason)) => {
                Self::Foreign(format!("{reason:?}"))
            }
            other => Self::Unreadable(other.to_string()),
        }
    }
}

/// What tantivy says; where the system refused, what the system says.
fn said(error: &TantivyError) -> String {
    match error {
        TantivyError::IoError(io) => io.to_string(),
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            format!("{}: {io_error}", filepath.display())
        }
        other => other.to_string(),
    }
}

/// An error of the system's may be wrapped in tantivy's, and that in the system's again.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(io) = error.downcast_ref::<std::io::Error>() {
        return io.kind() == std::io::ErrorKind::StorageFull
            || io.get_ref().is_some_and(|inner| is_full(inner))
            // A thread's error that came as text: the system's own words for ENOSPC.
            || cfg!(unix) && io.to_string() == std::io::Error::from_raw_os_error(28).to_string();
    }
    match error.downcast_ref::<TantivyError>() {
        Some(
            TantivyError::IoError(io)
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. }),
        ) => is_full(io.as_ref()),
        _ => error.source().is_some_and(is_full),
    }
}
