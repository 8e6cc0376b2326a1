//! What can go wrong with the words, and does a rebuild help?

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
    #[error("the word index was built differently: {0}")]
    Foreign(String),
    /// The index is damaged.
    #[error("the words cannot be read: {0}")]
    Unreadable(String),
    /// An earlier reader found the index damaged.
    #[error("{0}")]
    Condemned(String),
    /// The caller cancelled the question.
    #[error("cancelled")]
    Cancelled,
    /// Another process writes, merges or wipes the index.
    #[error("another process is writing the words")]
    Busy,
    /// The system gives no random bytes, by which segments are named.
    #[error(
        "word index: the system gives no random bytes: it has no getrandom and no /dev/urandom"
    )]
    NoRandom,
    /// The system gives no thread.
    #[error("word index: no thread can be started: {0}")]
    NoThread(String),
    /// The file system refused.
    #[error("word index")]
    Io(#[source] std::io::Error),
    /// tantivy failed otherwise: its words are in the message, without those that help nobody.
    #[error("word index: {}", said(.0))]
    Engine(TantivyError),
}

/// Nothing in this room waits for a descriptor: what would block is a thread, wherever tantivy
/// starts it.
impl From<std::io::Error> for WordsError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::WouldBlock => Self::NoThread(error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<TantivyError> for WordsError {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::IoError(io) if io.kind() == std::io::ErrorKind::WouldBlock => {
                Self::NoThread(io.to_string())
            }
            other => Self::Engine(other),
        }
    }
}

impl WordsError {
    /// Whether the index has to be rebuilt in a new folder.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(
            self,
            Self::Missing(_) | Self::Foreign(_) | Self::Unreadable(_) | Self::Condemned(_)
        )
    }

    /// Whether writing failed because of what the files hold, or for an unknown reason, and not
    /// because the system refused it.
    pub fn is_failure(&self) -> bool {
        self.asks_for_rebuild() || matches!(self, Self::Engine(_)) && !self.is_full()
    }

    /// Whether a thread is lacking, for which the system may have room later.
    pub fn lacks_threads(&self) -> bool {
        matches!(self, Self::NoThread(_))
    }

    /// As an I/O error, for callers that add the place where it happened.
    pub fn into_io(self) -> std::io::Error {
        match self {
            Self::Io(error) => error,
            other => std::io::Error::other(other.to_string()),
        }
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Io(error) => is_full(error),
            Self::Engine(error) => is_full(error),
            _ => false,
        }
    }

    /// Finds out that no segment can be named before tantivy does, which ends the process.
    ///
    /// # Errors
    /// [`WordsError::NoRandom`].
    pub(super) fn unless_random() -> Result<(), Self> {
        getrandom::fill(&mut [0; 16]).map_err(|_| Self::NoRandom)
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
            // All that tantivy calls so are threads.
            TantivyError::SystemError(error) => Self::NoThread(error),
            TantivyError::IoError(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                Self::from(TantivyError::IoError(error))
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

/// ENOSPC, EFBIG, and EDQUOT as Linux and the BSDs number it.
const FULL: [i32; 4] = [28, 27, 122, 69];

fn said_of(code: i32) -> String {
    std::io::Error::from_raw_os_error(code).to_string()
}

/// Whether a file cannot become longer because the disk is full or a limit is reached.
fn refuses_more(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// An error of the system's may be wrapped in tantivy's, and that in the system's again.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(io) = error.downcast_ref::<std::io::Error>() {
        return refuses_more(io)
            || io.get_ref().is_some_and(|inner| is_full(inner))
            // A thread's error that came as text: the system's own words.
            || cfg!(unix) && FULL.iter().any(|code| io.to_string() == said_of(*code));
    }
    match error.downcast_ref::<TantivyError>() {
        Some(
            TantivyError::IoError(io)
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. }),
        ) => is_full(io.as_ref()),
        _ => error.source().is_some_and(is_full),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_block_is_a_thread() {
        let refused = || std::io::Error::from(std::io::ErrorKind::WouldBlock);
        let tantivys = TantivyError::IoError(std::sync::Arc::new(refused()));
        for error in [WordsError::from(refused()), WordsError::from(tantivys)] {
            assert!(error.lacks_threads() && !error.is_failure(), "{error:?}");
            assert!(
                error.to_string().contains("no thread can be started"),
                "{error}"
            );
        }
    }
}
