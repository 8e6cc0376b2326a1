//! What can go wrong behind the two doors?

use std::path::{Path, PathBuf};

use crate::catalogue::{self, Cause};
use crate::ingest::WordsStage;
use crate::model::SessionRow;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process is writing the index.
    #[error("{} is writing the index in {}{}", writer.as_deref().unwrap_or("another process"), .index_dir.display(), if *.stalled { ", and has not got on for a minute" } else { "" })]
    Busy {
        /// The index directory.
        index_dir: PathBuf,
        /// The process, where it says so.
        writer: Option<String>,
        /// It was waited for, and did not get on.
        stalled: bool,
    },
    /// Another process watches for this index already.
    #[error("another process keeps the index in {} up to date already", .index_dir.display())]
    Watched {
        /// The index directory.
        index_dir: PathBuf,
    },
    /// A file in which no format finds anything.
    #[error("{}: holds no entry of any known format", .path.display())]
    NoEntries {
        /// The file.
        path: PathBuf,
    },
    /// [`Config::cancel`](super::Config::cancel) was called. What was read until then is kept.
    #[error("cancelled")]
    Cancelled,
    /// Somebody has written the index since the [`Snapshot`](super::Snapshot) was taken, and what
    /// is asked needs both of its stores: take another one.
    #[error("the index has changed since this snapshot of it was taken")]
    Outdated,
    /// A session file holds other bytes than those catalogued, and they could not be read again
    /// now.
    #[error("{}: has changed since it was catalogued", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// There is no index yet, and none could be made.
    #[error("there is no index yet")]
    NoIndex,
    /// No session of that name.
    #[error("no session is named {name:?}")]
    NotFound {
        /// As asked.
        name: String,
    },
    /// A name that is empty, as of a variable that is not set.
    #[error("the name of the session is empty")]
    NoName,
    /// Several sessions begin with it.
    #[error("{name:?} is the beginning of {} session ids", .candidates.len())]
    Ambiguous {
        /// As asked.
        name: String,
        /// The sessions it could be.
        candidates: Vec<SessionRow>,
    },
    /// No such entry in the session.
    #[error("session {session} has no entry {entry:?}")]
    NoEntry {
        /// Id of the session.
        session: String,
        /// As asked.
        entry: String,
    },
    /// The session is kept in documents or rows: it has no lines that could be copied.
    #[error("session {session} is not kept as lines")]
    NotLines {
        /// Id of the session.
        session: String,
    },
    /// The query cannot be read.
    #[error(transparent)]
    Query(#[from] crate::query::syntax::SyntaxError),
    /// Not a cursor that an answer gave.
    #[error("this is no cursor of a search")]
    Cursor,
    /// Even the shortest answer is longer than it may be.
    #[error("the shortest answer takes {least} bytes of JSON, more than --max-bytes allows")]
    TooFewBytes {
        /// So many bytes would do.
        least: usize,
    },
    /// A cursor that the answer to another question gave.
    #[error(
        "this cursor goes on with another search: give it with the query, the filters and the order of the page that it came from, or leave it out"
    )]
    OtherCursor,
    /// A directory of another user.
    #[error("{} belongs to another user; name another directory with --index", .path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] catalogue::Error),
    /// The words.
    #[error(transparent)]
    Words(#[from] crate::words::WordsError),
    /// The index's folder, or a file in it, cannot be made or opened for writing.
    #[error("{}: {error}", .path.display())]
    Unwritable {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The session room.
    #[error(transparent)]
    Session(#[from] crate::session::Error),
    /// A file or folder.
    #[error("{}: {error}", .path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl Error {
    /// Why the system refuses to read or write the index; `None` where it is not the system that does.
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Error::Catalogue(error) => error.cause(),
            Error::Unwritable { error, .. } => Some(Cause::of(error)),
            Error::Words(error) => error.is_full().then_some(Cause::Full),
            _ => None,
        }
    }

    pub(crate) fn unwritable(path: &Path, error: std::io::Error) -> Error {
        Error::Unwritable {
            path: path.to_path_buf(),
            error,
        }
    }

    pub(crate) fn io(path: &Path, error: std::io::Error) -> Error {
        Error::Io {
            path: path.to_path_buf(),
            error,
        }
    }
}

impl From<WordsStage> for Error {
    fn from(error: WordsStage) -> Error {
        match error {
            WordsStage::Catalogue(error) => Error::Catalogue(error),
            WordsStage::Words(error) => Error::Words(error),
        }
    }
}
