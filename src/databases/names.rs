//! What do files beside a root call its sessions? See [`Names`].
//!
//! Each session that a file names, or pins, is a source of one line. Its identity is that line: a
//! name may change without any time that says so.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::list::key;
use super::open::read;
use super::schema::{columns, quoted};
use crate::format::identity::Identity;
use crate::format::names::{Names, NamesFile, NamesTable};

/// The files of names beside the root at `root`, as paths below it: the database, which counts
/// more, then the lines.
pub fn names_files(root: &Path, names: &Names) -> Vec<String> {
    let Some(Ok(files)) = root.parent().map(fs::read_dir) else {
        return Vec::new();
    };
    let (mut database, mut lines) = (None, None);
    for file in files.flatten() {
        let file = file.file_name();
        let Some(file) = file.to_str() else { continue };
        if file == names.lines.name {
            lines = Some(file.to_owned());
        }
        let newest = names
            .number_of(file)
            .map(|number| (number, file.to_owned()));
        database = database.max(newest);
    }
    let database = database.map(|(_, file)| file);
    let files = database.into_iter().chain(lines);
    files.map(|file| format!("{ABOVE}{file}")).collect()
}

/// How the path below a root begins of what lies beside it.
pub const ABOVE: &str = "../";

/// The sessions that the file at `path` names or pins, each with its line.
///
/// # Errors
/// When it cannot be read.
pub fn named(path: &Path, names: &Names) -> io::Result<BTreeMap<String, Said>> {
    match path
        .file_name()
        .is_some_and(|name| name == names.lines.name)
    {
        true => in_lines(path, &names.lines),
        false => read(path, |connection| in_table(connection, &names.table)),
    }
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
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    Identity {
        size: line.len() as u64,
        // It says nothing about when it was changed, and 0 is of what was not read to its end.
        mtime_ns: 1,
        ctime_ns: hasher.finish().cast_signed(),
        ..Identity::default()
    }
}

/// The line of that session in the file at `path`.
///
/// # Errors
/// [`ErrorKind::NotFound`] when it names no such session; when it cannot be read.
pub fn line_of(path: &Path, names: &Names, session: &str) -> io::Result<String> {
    let said = named(path, names)?.remove(session);
    said.map(|said| said.line)
        .ok_or_else(|| ErrorKind::NotFound.into())
}

/// The last name of each session counts. A line that says nothing costs itself alone.
fn in_lines(path: &Path, file: &NamesFile) -> io::Result<BTreeMap<String, Said>> {
    let mut named = BTreeMap::new();
    for line in BufReader::new(File::open(path)?).split(b'\n') {
        let line: Value = serde_json::from_slice(&line?).unwrap_or_default();
        let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::trim);
        if let (Some(session), Some(name)) = (text(file.key), text(file.given))
            && !name.is_empty()
        {
            let said = said(file.table, session, Some(name), false);
            named.insert(session.to_owned(), said);
        }
    }
    Ok(named)
}

fn in_table(
    connection: &Connection,
    table: &NamesTable,
) -> rusqlite::Result<BTreeMap<String, Said>> {
    let present = columns(connection, table.name)?;
    let mut named = BTreeMap::new();
    if !present.iter().any(|column| column == table.key) {
        return Ok(named);
    }
    let ((title, beginning), (mode, untitled)) = (table.title, table.untitled);
    let wanted = [table.key, table.given, title, beginning, mode, table.pinned];
    let wanted = wanted.map(|column| match present.iter().any(|own| own == column) {
        true => quoted(column),
        false => "NULL".to_owned(),
    });
    let select = format!("SELECT {} FROM {}", wanted.join(", "), quoted(table.name));
    let mut statement = connection.prepare(&select)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(session) = key(row, 0)? else {
            continue;
        };
        let given = text(row, 1)?;
        let has_title = text(row, 4)?.as_deref() != Some(untitled);
        let title = text(row, 2)?.filter(|_| has_title);
        let beginning = text(row, 3)?;
        let title = title.filter(|title| Some(title) != beginning.as_ref());
        let pinned = matches!(row.get_ref(5)?, ValueRef::Integer(number) if number != 0);
        let name = title.or(given);
        if name.is_some() || pinned {
            let said = said(table.name, &session, name.as_deref(), pinned);
            named.insert(session, said);
        }
    }
    Ok(named)
}

/// A text that says something.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text).trim().to_owned();
            Some(text).filter(|text| !text.is_empty())
        }
        _ => None,
    })
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
