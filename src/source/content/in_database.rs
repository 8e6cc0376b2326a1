//! Which sources are no files of their own, and what are they called? Sessions in a database, and
//! lines of a file of names: each has a path below that file, where no file can be.

use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::{Content, first_line};
use crate::databases::{self, RowNames, Turn};
use crate::format::Format;
use crate::format::database::Database;
use crate::format::names::Names;
use crate::model::Placement;
use crate::source::identity::Identity;

/// A session in a database, or in a file of names: a path below a file, where no file can be.
pub(super) struct SessionKey {
    rows: Rows,
    file: PathBuf,
    key: String,
}

enum Rows {
    Database(&'static Database),
    Names(&'static Names),
}

impl SessionKey {
    pub fn of(format: &dyn Format, path: &Path) -> Option<SessionKey> {
        let file = path.parent()?;
        let (rows, file) = match format.about().database {
            Some(database) => (Rows::Database(database), file.to_path_buf()),
            None => {
                let (names, file) = names_in(format, file)?;
                (Rows::Names(names), file)
            }
        };
        let key = key(path.file_name()?.to_str()?);
        let is_there = match rows {
            // A root may be called as a folder of documents is.
            Rows::Database(database) if file.is_dir() => {
                databases::store(&file, database).is_some() && !path.exists()
            }
            _ => file.is_file(),
        };
        is_there.then_some(SessionKey { rows, file, key })
    }

    pub fn identity(&self) -> io::Result<Identity> {
        match self.rows {
            Rows::Database(database) => databases::identity(&self.file, database, &self.key),
            Rows::Names(names) => {
                let line = databases::line_of(&self.file, names, &self.key)?;
                Ok(databases::identity_of_line(&line))
            }
        }
    }

    pub fn open(&self) -> io::Result<Content> {
        match self.rows {
            Rows::Database(database) => {
                let session = databases::session(&self.file, database, &self.key)?;
                Ok(Content::of_session(session, 0..0))
            }
            Rows::Names(names) => {
                let line = databases::line_of(&self.file, names, &self.key)?;
                let identity = databases::identity_of_line(&line);
                Ok(Content::of_lines(identity, line.into_bytes()))
            }
        }
    }

    /// See [`Location::open_from`](super::Location::open_from).
    pub fn open_from(&self, behind: u64, turn: &Turn) -> io::Result<Option<Content>> {
        let Rows::Database(database) = self.rows else {
            return Ok(None);
        };
        let session = databases::session_from(&self.file, database, &self.key, turn)?;
        Ok(session.map(|session| {
            let first = first_line(&session.lines).len() as u64;
            Content::of_session(session, first..first + behind)
        }))
    }
}

/// The names that the file at `ROOT/../FILE` holds, and where that is: the root may be a link.
fn names_in(format: &dyn Format, file: &Path) -> Option<(&'static Names, PathBuf)> {
    let mut root = file.components();
    let name = root.next_back()?.as_os_str().to_str()?;
    let is_beside = root.next_back() == Some(Component::ParentDir);
    let root = is_beside.then_some(root.as_path())?;
    let names = format.names(root).filter(|names| names.is_one(name))?;
    Some((names, root.parent()?.join(name)))
}

/// The last name in the path of the session of this key: letters that a name cannot hold are
/// escaped.
pub fn file_name(key: &str) -> String {
    let escaped = key
        .replace('%', "%25")
        .replace('/', "%2F")
        .replace('\\', "%5C");
    match escaped.as_str() {
        "" | "." | ".." => format!("%{}", escaped.replace('.', "%2E")),
        _ => escaped,
    }
}

/// The place of the session in a database at this path below a root, where files belong to it too:
/// see [`Format::place_within`].
pub fn place_within(format: &dyn Format, relative: &str) -> Option<String> {
    let path = Path::new(relative);
    format.place_within(path.parent()?, &key(path.file_name()?.to_str()?))
}

/// The key of the session with that last name in its path.
fn key(name: &str) -> String {
    match name {
        "%" => String::new(),
        "%%2E" => ".".to_owned(),
        "%%2E%2E" => "..".to_owned(),
        _ => name
            .replace("%5C", "\\")
            .replace("%2F", "/")
            .replace("%25", "%"),
    }
}

/// Whether a row of the source at `path` can be read without all others: in documents it cannot.
pub fn has_rows(format: &dyn Format, path: &Path) -> bool {
    let file = format.about().database.zip(path.parent());
    file.is_none_or(|(database, file)| databases::store(file, database).is_none())
}

/// The line of one row of the source at `path`: see [`rows`].
///
/// # Errors
/// When the database cannot be read.
pub fn row(format: &dyn Format, path: &Path, name: &str) -> io::Result<Option<Vec<u8>>> {
    Ok(rows(format, path, &[name])?.pop().flatten())
}

/// The lines of these rows of the source at `path`, which [`has_rows`], `table:key`; `None` for one
/// that is no longer there, or that is in no database.
///
/// # Errors
/// When the database cannot be read.
pub fn rows(format: &dyn Format, path: &Path, names: &[&str]) -> io::Result<Vec<Option<Vec<u8>>>> {
    let nothing = || Ok(vec![None; names.len()]);
    let Some(SessionKey { rows, file, key }) = SessionKey::of(format, path) else {
        return nothing();
    };
    match rows {
        Rows::Database(database) => databases::rows(&file, database, &key, names),
        Rows::Names(of) => {
            let line = match databases::line_of(&file, of, &key) {
                Err(error) if error.kind() == ErrorKind::NotFound => return nothing(),
                line => line?.trim_end().as_bytes().to_vec(),
            };
            let own = RowNames::default().of(0, &line);
            let is_it = |name: &&str| (own.as_deref() == Some(*name)).then(|| line.clone());
            Ok(names.iter().map(is_it).collect())
        }
    }
}

/// Whether the source at this path below a root is a session in a database.
pub fn is_in_database(format: &dyn Format, relative: &str) -> bool {
    let file = Path::new(relative).parent();
    format.about().database.is_some()
        && file.is_some_and(|file| format.place(file, false) == Placement::Database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_name_of_its_own() {
        for name in ["ses_1", "a/b", "50%", "%2F", "", ".", "..", "%", "a\\b"] {
            let file = file_name(name);
            assert!(!file.is_empty() && !file.contains(['/', '\\']), "{file}");
            assert_eq!(key(&file), name, "{file}");
        }
    }
}
