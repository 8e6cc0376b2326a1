//! What do files beside a root call its sessions? See [`Names`].
//!
//! Each session that a file names, or pins, is a source of one line. Its identity is that line: a
//! name may change without any time that says so.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::open::{Patience, read_within};
use crate::format::identity::Identity;
use crate::format::names::{Names, beside_root};
use crate::format::stable_hash;

mod lines;
mod table;

/// The files of names beside the root at `root`, as paths below it: databases, the one with the
/// highest number first, then the lines, which count less.
pub fn names_files(root: &Path, names: &Names) -> Vec<String> {
    let Some(Ok(files)) = root.parent().map(fs::read_dir) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for file in files.flatten() {
        let name = file.file_name();
        let Some(name) = name.to_str().filter(|name| names.is_one(name)) else {
            continue;
        };
        if fs::metadata(file.path()).is_ok_and(|file| file.is_file()) {
            found.push((names.number_of(name), beside_root(name)));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, file)| file).collect()
}

/// What the file at `path` says of these sessions, as far as it names or pins them. `None`: it is
/// a database that holds no names.
///
/// # Errors
/// When it cannot be read; [`ErrorKind::Unsupported`] when it is no database.
pub fn named(
    path: &Path,
    names: &Names,
    sessions: &HashSet<String>,
) -> io::Result<Option<BTreeMap<String, Said>>> {
    match is_of_lines(path, names) {
        true => lines::named(path, &names.lines, sessions).map(Some),
        false => read_within(path, Patience::BRIEF, |connection| {
            table::named(connection, &names.table, sessions)
        }),
    }
}

/// The line of that session in the file at `path`.
///
/// # Errors
/// [`ErrorKind::NotFound`] when it names no such session; when it cannot be read.
pub fn line_of(path: &Path, names: &Names, session: &str) -> io::Result<String> {
    let said = match is_of_lines(path, names) {
        true => lines::of(path, &names.lines, session)?,
        false => read_within(path, Patience::BRIEF, |connection| {
            table::of(connection, &names.table, session)
        })?,
    };
    said.map(|said| said.line)
        .ok_or_else(|| ErrorKind::NotFound.into())
}

fn is_of_lines(path: &Path, names: &Names) -> bool {
    path.file_name()
        .is_some_and(|name| name == names.lines.name)
}

/// What a file says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// As a line.
    pub line: String,
    /// Whether it names it.
    pub has_name: bool,
}

/// The identity of a session's line.
pub fn identity_of_line(line: &str) -> Identity {
    Identity {
        size: line.len() as u64,
        // It says nothing about when it was changed, and 0 is of what was not read to its end.
        mtime_ns: 1,
        ctime_ns: stable_hash::of([line.as_bytes()]).cast_signed(),
        ..Identity::default()
    }
}

fn said(table: &str, session: &str, name: Option<&str>, pinned: bool) -> Said {
    let mut row = Map::new();
    row.extend(name.map(|name| ("name".to_owned(), name.into())));
    if pinned {
        row.insert("is_pinned".to_owned(), true.into());
    }
    // In this order, whatever order objects have.
    let (table, session, row) = (json!(table), json!(session), Value::Object(row));
    Said {
        line: format!("{{\"table\":{table},\"key\":{session},\"row\":{row}}}\n"),
        has_name: name.is_some(),
    }
}
