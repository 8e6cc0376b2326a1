//! What if the catalogue's file is damaged inside? A process that reads a damaged part marks the
//! file, and the next writer rebuilds it from the session files.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::open::{Catalogue, MIGRATIONS};
use crate::private;
use crate::source::identity::file_at;
use crate::sqlite_file::beside;

/// The end of the name of the mark, a file beside the catalogue that says why the catalogue must
/// not be read any more.
const MARK: &str = "-damaged";

impl Error {
    /// The file is damaged and has to be rebuilt from the session files.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Error::Sqlite { error, .. } = self else {
            return false;
        };
        let lacks = |message: &str| {
            let all = ["no such table: ", "no such column: ", "no such index: "];
            all.iter().any(|lack| message.starts_with(lack))
        };
        match error {
            rusqlite::Error::SqliteFailure(failure, message) => {
                matches!(failure.code, DatabaseCorrupt | NotADatabase)
                    || message.as_deref().is_some_and(lacks)
            }
            // A statement that could not even be prepared.
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                matches!(error.code, DatabaseCorrupt | NotADatabase) || lacks(msg)
            }
            // What stands there is nothing that was ever written there.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows => true,
            _ => false,
        }
    }
}

impl Catalogue {
    /// Mark the file as one that has to be rebuilt. If the mark cannot be written, the next reader
    /// finds the damage again.
    pub fn condemn(&self, why: &str) {
        // Another process may have rebuilt it already, or another version may have migrated its
        // schema.
        let is_other = self.file().is_none() || file_at(self.path()) != self.file();
        let known = MIGRATIONS.len() as u32;
        let version = self
            .connection
            .pragma_query_value(None, "user_version", |r| r.get::<_, u32>(0));
        if !is_other && version.unwrap_or(known) == known {
            let _ = private::write(&mark(self.path()), why);
        }
    }

    /// Why the catalogue at `path` has to be rebuilt, if it was found damaged.
    pub fn condemned(path: &Path) -> Option<String> {
        let why = fs::read(mark(path)).ok()?;
        let why = String::from_utf8_lossy(&why).into_owned();
        // There was no room for more than the mark.
        let said = || format!("{}: damaged", path.display());
        Some(if why.is_empty() { said() } else { why })
    }
}

/// All files of the catalogue at `path`, what says that it is damaged last.
pub fn files(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", MARK].map(|suffix| beside(path, suffix))
}

fn mark(path: &Path) -> PathBuf {
    beside(path, MARK)
}
