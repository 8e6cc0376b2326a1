//! What can go wrong behind the two doors?

use std::path::{Path, PathBuf};

use crate::archive;
use crate::catalogue::{self, RefusalCause};
use crate::model::SessionRow;
use crate::words::WordsError;

/// What is wrong with a store of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFault {
    /// The catalogue is damaged. Opening it again with a check rebuilds it.
    Damaged,
    /// Another process has removed or rebuilt the catalogue: open the index again.
    Replaced,
    /// Another process's transaction has to end first.
    Locked,
    /// The system refuses to read or to write: [`Error::cause`] says why.
    Refused,
    /// A file stands there that is no catalogue, or one of a newer version.
    Foreign,
    /// A session has had more entries than can be counted.
    FullSession,
    /// What was asked is no statement of SQL that only reads.
    Query,
    /// The words cannot be read or written; searches read the session files instead.
    Words,
    /// Something else.
    Other,
}

/// What a store of the index said.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Box<Store>);

#[derive(Debug, thiserror::Error)]
enum Store {
    #[error(transparent)]
    Catalogue(catalogue::Error),
    #[error(transparent)]
    Words(WordsError),
}

/// A setting that cannot be read, or followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
#[non_exhaustive]
pub struct BadSetting {
    /// What is wrong, and where: a file with its line, a flag.
    pub what: String,
    /// What would be right.
    pub hint: Option<String>,
}

/// What can go wrong. A message names what was touched; what the system said of it is its
/// [`source`](std::error::Error::source), what SQLite, tantivy or a parser said stands in the
/// message. [`with_causes`](crate::with_causes) says all of it; [`Error::fault`] and
/// [`Error::cause`] tell what kind it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process is writing the index.
    #[error("{} is writing the index in {}{}", writer.as_deref().unwrap_or("another process"), .index_dir.display(), if *.stalled { ", and has made no progress for a minute" } else { "" })]
    Busy {
        /// The index directory.
        index_dir: PathBuf,
        /// The process, where it says so.
        writer: Option<String>,
        /// It was waited for, and made no progress.
        stalled: bool,
    },
    /// Another process watches for this index already.
    #[error("another process already keeps the index in {} up to date", .index_dir.display())]
    Watched {
        /// The index directory.
        index_dir: PathBuf,
    },
    /// What is wrong with the archive.
    #[error(transparent)]
    Archive(Box<dyn std::error::Error + Send + Sync>),
    /// A file in which no format finds anything.
    #[error("{}: contains no entry of any known format", .path.display())]
    NoEntries {
        /// The file.
        path: PathBuf,
    },
    /// [`Config::cancel`](crate::Config::cancel) was called, or
    /// [`SearchScope::cancel`](crate::index::SearchScope::cancel). What was read of new files until
    /// then is kept.
    #[error("cancelled")]
    Cancelled,
    /// Somebody has written the index since the [`Snapshot`](crate::index::Snapshot) was taken, and
    /// what is asked needs both of its stores: take another one. Of a
    /// [`Branch`](crate::index::Branch): make another one.
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
        /// Whether every session was looked at, as far as the index was opened to look: otherwise
        /// it may be one that was not.
        complete: bool,
    },
    /// A name that is empty, as of a variable that is not set.
    #[error("the name of the session is empty")]
    NoName,
    /// Several sessions are called so, or have ids that begin so.
    #[error("{} sessions fit {name:?}", .candidates.len())]
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
        /// Whether every entry was looked at, as far as the index was opened to look: otherwise it
        /// may be one that was not.
        complete: bool,
    },
    /// Several entries of the session have ids that begin so.
    #[error("{} entries fit {entry:?}", .candidates.len())]
    AmbiguousEntry {
        /// As asked.
        entry: String,
        /// The ids that begin so.
        candidates: Vec<String>,
    },
    /// The session is kept in documents or rows: it has no lines that could be copied.
    #[error("session {session} is not stored as lines")]
    NotLines {
        /// Id of the session.
        session: String,
    },
    /// The query cannot be read.
    #[error(transparent)]
    Query(#[from] crate::syntax::SyntaxError),
    /// Not a cursor that an answer gave.
    #[error(
        "this cursor cannot be read: give the `cursor` of the page before as it is, or leave it out"
    )]
    Cursor,
    /// Even the shortest answer is longer than it may be.
    #[error("the shortest answer takes {least} bytes of JSON, more than is allowed")]
    TooFewBytes {
        /// So many bytes would do.
        least: usize,
    },
    /// A cursor that the answer to another question gave.
    #[error(
        "this cursor belongs to another question: ask as for the page that it came from, with the same query or session, filters and order, or leave it out"
    )]
    OtherCursor,
    /// The rules of what the index leaves out cannot be read, so nothing is stored.
    /// [Setting](crate::Rules::set) them, as the command does, writes them again.
    #[error("{}: {why}: what this index leaves out is not known until it is set again, as by `sessionary sync`", .path.display())]
    Rules {
        /// Their file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A root with a format that nothing reads.
    #[error("{}: no format is called `{format}`; known are {}", .root.display(), .known.join(", "))]
    UnknownFormat {
        /// The root.
        root: PathBuf,
        /// As [`RootSpec::format`](crate::RootSpec::format) names it.
        format: String,
        /// Those of [`Config::formats`](crate::Config::formats).
        known: Vec<&'static str>,
    },
    /// A setting of the user's.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// A directory of another user.
    #[error("{} belongs to another user", .path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// A store of the index: the catalogue or the words.
    #[error(transparent)]
    Store(StoreError),
    /// The index's folder, or a file in it, cannot be made or opened for writing.
    #[error("cannot write {}", .path.display())]
    Unwritable {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The session room.
    #[error(transparent)]
    Session(#[from] crate::session::Error),
    /// A file or folder.
    #[error("cannot {} {}", verb(.source), .path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The writer that the caller gave takes no more: nothing is wrong with the session or the
    /// index.
    #[error("the output cannot be written")]
    Output {
        /// What the writer said.
        source: std::io::Error,
    },
}

/// What the system refuses to do with a file or folder, as far as its answer tells.
fn verb(refusal: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{
        AlreadyExists, FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match refusal.kind() {
        AlreadyExists | FileTooLarge | QuotaExceeded | ReadOnlyFilesystem | StorageFull => "write",
        _ => "access",
    }
}

impl Error {
    /// Whether the catalogue is damaged. Opening the index with a check rebuilds it; then ask
    /// again.
    pub fn is_damage(&self) -> bool {
        self.fault() == Some(StoreFault::Damaged)
    }

    /// Whether another process has removed or rebuilt the index since it was opened: open it again
    /// and ask once more.
    pub fn is_replaced(&self) -> bool {
        self.fault() == Some(StoreFault::Replaced)
    }

    /// What is wrong with a store, where it is that.
    pub fn fault(&self) -> Option<StoreFault> {
        match self {
            Error::Store(error) => Some(error.fault()),
            _ => None,
        }
    }

    /// Why the system refuses to read or write the index; `None` where it is not the system that
    /// does.
    pub fn cause(&self) -> Option<RefusalCause> {
        match self {
            Error::Store(said) => match &*said.0 {
                Store::Catalogue(error) => error.cause(),
                Store::Words(error) => error.is_full().then_some(RefusalCause::Full),
            },
            Error::Unwritable { source, .. } => Some(RefusalCause::of(source)),
            _ => None,
        }
    }

    /// The catalogue cannot be written, or not now.
    pub(crate) fn is_refusal_to_write(&self) -> bool {
        matches!(self.fault(), Some(StoreFault::Locked | StoreFault::Refused))
    }

    /// What keeps one from writing, but not from answering with what was written before.
    pub(crate) fn is_obstacle(&self) -> bool {
        let is_obstacle = matches!(
            self,
            Error::Busy { .. } | Error::Unwritable { .. } | Error::Io { .. }
        );
        is_obstacle || self.is_refusal_to_write()
    }

    /// Whether the system gives no random bytes.
    pub fn lacks_random_bytes(&self) -> bool {
        matches!(self.of_words(), Some(WordsError::NoRandom))
    }

    /// What the words said.
    pub(crate) fn of_words(&self) -> Option<&WordsError> {
        match self {
            Error::Store(said) => match &*said.0 {
                Store::Words(error) => Some(error),
                Store::Catalogue(_) => None,
            },
            _ => None,
        }
    }

    pub(crate) fn unwritable(path: &Path, source: std::io::Error) -> Error {
        Error::Unwritable {
            path: path.to_path_buf(),
            source,
        }
    }

    pub(crate) fn output(source: std::io::Error) -> Error {
        Error::Output { source }
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Error {
        Error::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}

impl StoreError {
    /// What is wrong with it.
    pub fn fault(&self) -> StoreFault {
        use catalogue::Error as Catalogue;
        let error = match &*self.0 {
            Store::Catalogue(error) => error,
            Store::Words(_) => return StoreFault::Words,
        };
        match error {
            Catalogue::Query { .. } => StoreFault::Query,
            Catalogue::Foreign { .. } | Catalogue::Newer { .. } => StoreFault::Foreign,
            Catalogue::Full { .. } => StoreFault::FullSession,
            error if error.is_replaced() => StoreFault::Replaced,
            error if error.waits_for_another() => StoreFault::Locked,
            error if error.is_damage() => StoreFault::Damaged,
            error if error.is_refusal_to_write() => StoreFault::Refused,
            _ => StoreFault::Other,
        }
    }
}

impl From<catalogue::Error> for Error {
    fn from(error: catalogue::Error) -> Error {
        Error::Store(StoreError(Box::new(Store::Catalogue(error))))
    }
}

impl From<archive::Error> for Error {
    fn from(error: archive::Error) -> Error {
        match error {
            archive::Error::Io { path, source } => Error::Io { path, source },
            error => Error::Archive(Box::new(error)),
        }
    }
}

impl From<WordsError> for Error {
    fn from(error: WordsError) -> Error {
        match error {
            WordsError::Cancelled => Error::Cancelled,
            error => Error::Store(StoreError(Box::new(Store::Words(error)))),
        }
    }
}

impl BadSetting {
    pub(crate) fn new(what: impl Into<String>) -> BadSetting {
        BadSetting {
            what: what.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> BadSetting {
        BadSetting {
            hint: Some(hint.into()),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io::{self, ErrorKind};

    use super::*;
    use crate::causes::with_causes;

    #[test]
    fn what_the_system_said_is_the_source() {
        let refused = || io::Error::from(ErrorKind::PermissionDenied);
        let path = || PathBuf::from("here");
        let (of_catalogue, of_archive) = (
            catalogue::Error::Io {
                path: path(),
                source: refused(),
            },
            archive::Error::Io {
                path: path(),
                source: refused(),
            },
        );
        let of_session = crate::session::Error::NoLock {
            path: path(),
            source: refused(),
        };
        for error in [
            Error::io(&path(), refused()),
            Error::unwritable(&path(), refused()),
            of_catalogue.into(),
            of_archive.into(),
            of_session.into(),
            WordsError::from(refused()).into(),
        ] {
            let source = error.source().and_then(|said| said.downcast_ref());
            assert_eq!(
                source.map(io::Error::kind),
                Some(ErrorKind::PermissionDenied)
            );
            let (said, why) = (error.to_string(), refused().to_string());
            assert!(!said.contains(&why), "{said}");
            assert_eq!(with_causes(&error), format!("{said}: {why}"));
        }
    }

    #[test]
    fn a_message_says_what_could_not_be_done() {
        let path = Path::new("here");
        let of = |kind: ErrorKind| Error::io(path, kind.into()).to_string();
        assert_eq!(of(ErrorKind::NotFound), "cannot access here");
        assert_eq!(of(ErrorKind::StorageFull), "cannot write here");
        let unwritable = Error::unwritable(path, ErrorKind::NotADirectory.into());
        assert_eq!(unwritable.to_string(), "cannot write here");
        let of_catalogue = catalogue::Error::Io {
            path: path.to_owned(),
            source: ErrorKind::PermissionDenied.into(),
        };
        assert_eq!(Error::from(of_catalogue).to_string(), "cannot access here");
    }

    #[test]
    fn what_sqlite_said_is_said_once() {
        let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
        let failed = catalogue::Error::Sqlite {
            path: "here".into(),
            error: rusqlite::Error::SqliteFailure(full, Some("it is full".to_owned())),
        };
        assert_eq!(with_causes(&Error::from(failed)), "here: it is full");
    }
}
