//! What can go wrong, and what is left out without ending the whole?

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Why nothing more could be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{path}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of this program's own says something that it never writes.
    #[error("{path}: {why}")]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// What is wrong, with the line where it is known.
        why: String,
    },
    /// The database, or the way to it, failed.
    #[error("the database: {why}")]
    Database {
        /// How.
        why: String,
        /// The SQLSTATE, where it is the server that refuses.
        code: Option<String>,
    },
    /// What was asked for is not done.
    #[error("{what}\n  hint: {hint}")]
    Refused {
        /// What, and why.
        what: String,
        /// What helps.
        hint: String,
    },
    /// The index did not answer.
    #[error(transparent)]
    Index(#[from] sessionary::Error),
}

impl Error {
    /// For [`Result::map_err`]: it happened at this path.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        move |source| Error::Io {
            path: path.to_path_buf(),
            source,
        }
    }

    /// What is not done, and what helps.
    pub fn refused(what: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::Refused {
            what: what.into(),
            hint: hint.into(),
        }
    }
}

/// One thing that was left out, while all others were done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which file, manifest or host.
    pub what: String,
    /// Why it was left out.
    pub why: String,
}

impl Problem {
    /// `what` was left out because of `why`.
    pub fn new(what: impl Into<String>, why: impl ToString) -> Problem {
        Problem {
            what: what.into(),
            why: why.to_string(),
        }
    }
}
