//! What can go wrong with a session.

use std::path::{Path, PathBuf};

/// Why something could not be done. Where it was to change a session file, that file is as it was.
/// ([`Error::Io`] where another program went on behind what could not be finished: appends say
/// more; and [`Error::Unfinished`].) What the system said is the
/// [`source`](std::error::Error::source), and not in the message where it would be its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    /// The file system said no.
    #[error("{}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file cannot be locked, and without a lock nothing is written: some network file systems
    /// have no locks.
    #[error("{} cannot be locked, and nothing is written without a lock", path.display())]
    NoLock {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file holds something, but its first entry is no session header. It is left alone.
    #[error("{} is not a valid session file: its first entry is not a header", path.display())]
    NotASession { path: PathBuf },
    /// A document of agentuse's cannot be read.
    #[error(transparent)]
    BadDocument(super::agentuse::BadDocument),
    /// No entry of the session has that id.
    #[error("entry {id} not found")]
    NoEntry { id: String },
    /// The session was opened for reading only.
    #[error("the session is open for reading only")]
    ReadOnly,
    /// The file is no longer there.
    #[error("{} is gone; nothing was written", path.display())]
    Gone { path: PathBuf },
    /// Another program rewrote the file, and the place where this session stood is not in it.
    #[error("{} was rewritten by another program; open it again", path.display())]
    Replaced { path: PathBuf },
    /// A file of an old version was rewritten, but what an agent appended in that very moment could
    /// not be carried over.
    #[error("{} was rewritten, but what was appended to it meanwhile could not be carried over: {error}; the file as it was is {}", path.display(), backup.display())]
    Unfinished {
        path: PathBuf,
        backup: PathBuf,
        error: std::io::Error,
    },
    /// A file of an old version is rewritten on the first append, and no folder was given for its
    /// backup.
    #[error("{} is of version {version}: appending rewrites it, and `Setup::backups` names no folder for a backup", path.display())]
    NoBackups { path: PathBuf, version: i64 },
    /// The agent does not know what was to be written.
    #[error("{agent} does not know {what}")]
    Unknown {
        agent: &'static str,
        what: &'static str,
    },
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// What was to be appended makes no sense.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }

    pub(super) fn no_lock(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::NoLock { path, source }
    }
}
