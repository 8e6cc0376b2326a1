//! What was put away of the rows of a session: one compressed text for all of them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::lines::Lines;
use super::schema::{Present, quoted};
use super::write::{on_one_line, said};
use crate::format::database::{Generation, Holds, Shelf};

/// What a text may be decoded to at most.
const LONGEST: u64 = 1 << 30;

/// Add the lines of all that is put away there of a session, as rows of the table called `table`.
/// `false`: nothing is.
pub(super) fn add(
    connection: &Connection,
    generation: &'static Generation,
    (shelf, table): (&Shelf, &str),
    session: &str,
    lines: &mut Lines,
) -> rusqlite::Result<bool> {
    let Some(own) = Present::of(connection, shelf.table, generation)? else {
        return Ok(false);
    };
    let column = |name: &str| match own.has(name) || name == shelf.blob {
        true => quoted(name),
        false => "NULL".to_owned(),
    };
    let sql = format!(
        "SELECT {}, {}, {} FROM {} WHERE {} ORDER BY {}",
        column(shelf.blob),
        shelf.encoding.map_or("NULL".to_owned(), column),
        shelf
            .file
            .map_or("NULL".to_owned(), |(_, name)| column(name)),
        quoted(own.table.name),
        own.of_session,
        own.order(),
    );
    let folder = connection.path().map(Path::new).and_then(Path::parent);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    let mut taken = Taken::default();
    let mut is_any = false;
    while let Some(row) = rows.next()? {
        is_any = true;
        match text(row, shelf, folder) {
            Ok(text) => taken.add(&text, (shelf.holds, table), lines),
            Err(why) => lines.add_problem(&format!(
                "a transcript in {} cannot be read: {why}; restore it from a backup",
                own.table.name
            )),
        }
    }
    Ok(is_any)
}

/// The text of one row of a shelf.
fn text(row: &Row<'_>, shelf: &Shelf, folder: Option<&Path>) -> Result<String, String> {
    let value = |at| row.get_ref(at).unwrap_or(ValueRef::Null);
    let is_plain = value(1)
        .as_str()
        .is_ok_and(|encoding| encoding == "identity");
    let bytes = match (value(0), shelf.file, folder) {
        (ValueRef::Blob(bytes), ..) => bytes.to_vec(),
        (_, Some((below, _)), Some(folder)) => {
            let name = value(2).as_str().unwrap_or_default();
            file(&folder.join(below), name).map_err(|error| format!("{name}: {error}"))?
        }
        _ => return Err("it is not there".to_owned()),
    };
    let decoded = match is_plain {
        true => Ok(bytes),
        false => unpacked(&bytes, LONGEST),
    };
    let decoded = decoded.map_err(|error| error.to_string())?;
    Ok(said(&decoded).into_owned())
}

/// A file in that folder.
fn file(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    let mut parts = Path::new(name).components();
    let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return Err(io::Error::other("no name of a file"));
    };
    let mut bytes = Vec::new();
    File::open(folder.join(name))?
        .take(LONGEST)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What compressed bytes decode to, if that is no longer than so.
pub(super) fn unpacked(bytes: &[u8], longest: u64) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    let decoder = zstd::Decoder::new(bytes)?;
    decoder.take(longest + 1).read_to_end(&mut decoded)?;
    match decoded.len() as u64 > longest {
        true => Err(io::Error::other("it is longer than it may be")),
        false => Ok(decoded),
    }
}

/// What the texts of a session hold. Later ones repeat what earlier ones say.
#[derive(Default)]
struct Taken {
    texts: usize,
    lines: HashSet<String>,
    rows: usize,
}

impl Taken {
    fn add(&mut self, text: &str, (holds, table): (Holds, &str), lines: &mut Lines) {
        self.texts += 1;
        for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
            let (line, key) = match holds {
                Holds::Lines => (line.to_owned(), None),
                Holds::Events => match event(line) {
                    Event::Row(line, key) => (line, key),
                    Event::Other => continue,
                    Event::Unreadable => {
                        lines.add_problem("a line of a transcript that was put away is no JSON");
                        continue;
                    }
                },
            };
            let line = on_one_line(line.trim()).into_owned();
            if self.lines.contains(&line) && self.texts > 1 {
                continue;
            }
            let key = key.unwrap_or(self.rows as i64);
            lines.add(&line, format!("{table}:{key}"));
            self.rows += 1;
            self.lines.insert(line);
        }
    }
}

/// A line of what is put away as JSON.
enum Event {
    Row(String, Option<i64>),
    Other,
    Unreadable,
}

fn event(line: &str) -> Event {
    let Ok(line) = serde_json::from_str::<Value>(line) else {
        return Event::Unreadable;
    };
    match (&line["kind"], &line["row"]["event_json"]) {
        (Value::String(kind), Value::String(text)) if kind == "event" => {
            Event::Row(text.clone(), line["row"]["seq"].as_i64())
        }
        _ => Event::Other,
    }
}
