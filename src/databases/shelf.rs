//! What was put away of the rows of a session: one compressed text for all of them.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Component, Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::Deserialize;

use super::budget::{Budget, LONGEST_LINE};
use super::lines::Lines;
use super::list::key;
use super::schema::{Present, quoted};
use super::write::{on_one_line, said};
use crate::format::database::{Holds, Layout, Shelf};
use crate::format::json::{self, Int, Loose, Text};
use crate::regular;

/// Add the lines of all that is put away there of a session, as rows of the table called `table`.
/// `false`: nothing is.
pub(super) fn add(
    connection: &Connection,
    layout: &'static Layout,
    (shelf, table): (&Shelf, &str),
    session: &str,
    lines: &mut Lines,
) -> rusqlite::Result<bool> {
    let Some(own) = Present::of(connection, shelf.table, layout)? else {
        return Ok(false);
    };
    let column = |name: &str| match own.has(name) || name == shelf.blob {
        true => quoted(name),
        false => "NULL".to_owned(),
    };
    let sql = format!(
        "SELECT {}, {}, {}, {} FROM {} WHERE {} ORDER BY {}",
        column(shelf.blob),
        shelf.encoding.map_or("NULL".to_owned(), column),
        shelf
            .file
            .map_or("NULL".to_owned(), |(_, name)| column(name)),
        quoted(own.table.key),
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
        if lines.budget.is_spent() {
            break;
        }
        let name = format!("{}:{}", own.table.name, key(row, 3)?.unwrap_or_default());
        let text = opened(row, shelf, folder);
        let added = text.and_then(|text| taken.add(text, &name, (shelf.holds, table), lines));
        if let Err(why) = added {
            lines.add_problem(&format!(
                "{name} cannot be read: {why}; restore it from a backup"
            ));
        }
    }
    Ok(is_any)
}

/// The text of one row of a shelf, to be read.
fn opened<'r>(
    row: &'r Row<'_>,
    shelf: &Shelf,
    folder: Option<&Path>,
) -> Result<Box<dyn BufRead + 'r>, String> {
    let value = |at| row.get_ref(at).unwrap_or(ValueRef::Null);
    let is_plain = value(1)
        .as_str()
        .is_ok_and(|encoding| encoding == "identity");
    let bytes: Box<dyn BufRead + 'r> = match (value(0), shelf.file, folder) {
        (ValueRef::Blob(bytes), ..) => Box::new(bytes),
        (_, Some((below, _)), Some(folder)) => {
            let name = value(2).as_str().unwrap_or_default();
            let file = file(&folder.join(below), name);
            Box::new(BufReader::new(
                file.map_err(|error| format!("{name}: {error}"))?,
            ))
        }
        _ => return Err("it is not there".to_owned()),
    };
    if is_plain {
        return Ok(bytes);
    }
    let decoder = zstd::Decoder::with_buffer(bytes).map_err(|error| error.to_string())?;
    Ok(Box::new(BufReader::new(decoder)))
}

/// A file in that folder, and none to which a link there leads.
fn file(folder: &Path, name: &str) -> io::Result<File> {
    let path = within(folder, name).ok_or_else(|| io::Error::other("no name of a file"))?;
    regular::open_unlinked(&path)
}

/// The path of what has that name in that folder itself; `None`: it is no name.
pub(super) fn within(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    let is_name = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
    is_name.then(|| folder.join(name))
}

/// What the texts of a session hold. Later ones repeat what earlier ones say.
#[derive(Default)]
struct Taken {
    /// Which of the lines that were added it is, by its hash.
    lines: HashMap<u64, usize>,
    rows: usize,
}

impl Taken {
    /// Add the lines of the text called `name`, as rows of the table called `table`.
    fn add(
        &mut self,
        text: impl BufRead,
        name: &str,
        (holds, table): (Holds, &str),
        lines: &mut Lines,
    ) -> Result<(), String> {
        let most = lines.budget.left().saturating_add(1);
        let mut text = text.take(most);
        let added = self.add_lines(&mut text, name, (holds, table), lines);
        match lines.budget.decode(most - text.limit()) {
            true => added,
            false => {
                lines.add_problem(&format!("{name}: {}", Budget::SPENT));
                Ok(())
            }
        }
    }

    /// Add them, until there is no room for more.
    fn add_lines(
        &mut self,
        text: &mut Take<impl BufRead>,
        name: &str,
        (holds, table): (Holds, &str),
        lines: &mut Lines,
    ) -> Result<(), String> {
        // What a text repeats of itself is there twice.
        let before = lines.count();
        let mut line = Vec::new();
        for number in 1_u64.. {
            let is_long = next_line(text, &mut line)
                .map_err(|error| format!("of its line {number}: {error}"))?;
            if line.is_empty() || text.limit() == 0 {
                break;
            }
            let added = match is_long {
                true => Err("it is longer than 64 MiB"),
                false => self.add_line(&line, (holds, table), before, lines),
            };
            if let Err(why) = added {
                let why = format!(
                    "line {number} of {name} cannot be read: {why}; restore it from a backup"
                );
                if lines.budget.keep(2 * why.len()) {
                    lines.add_problem(&why);
                }
            }
            if lines.budget.is_spent() {
                break;
            }
        }
        Ok(())
    }

    /// Add a line, unless it is one of the first `before` or there is no room for it.
    fn add_line(
        &mut self,
        line: &[u8],
        (holds, table): (Holds, &str),
        before: usize,
        lines: &mut Lines,
    ) -> Result<(), &'static str> {
        let line = said(line);
        if line.trim().is_empty() {
            return Ok(());
        }
        let (line, key) = match holds {
            Holds::Lines => (line, None),
            Holds::Events => match event(&line) {
                Event::Row(line, key) => (line.into(), key),
                Event::Other => return Ok(()),
                Event::Unreadable => return Err("it is no JSON"),
            },
        };
        let line = on_one_line(line.trim());
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        let same = *(self.lines.entry(hasher.finish())).or_insert(lines.count());
        let is_repeated = same < before && lines.added(same) == Some(line.as_bytes());
        if !is_repeated && lines.budget.keep(line.len()) {
            let key = key.unwrap_or(self.rows as i64);
            lines.add(&line, format!("{table}:{key}"));
            self.rows += 1;
        }
        Ok(())
    }
}

/// Read a line; `true`: it is too long, and what is left of it is passed over.
fn next_line(text: &mut Take<impl BufRead>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    text.by_ref()
        .take(LONGEST_LINE + 1)
        .read_until(b'\n', line)?;
    let is_long = line.len() as u64 > LONGEST_LINE && !line.ends_with(b"\n");
    if is_long {
        text.skip_until(b'\n')?;
    }
    Ok(is_long)
}

/// A line of what is put away as JSON.
enum Event {
    Row(String, Option<i64>),
    Other,
    Unreadable,
}

/// What such a line says.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    row: Loose<SaidRow<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SaidRow<'a> {
    seq: Int,
    #[serde(borrow)]
    event_json: Text<'a>,
}

fn event(line: &str) -> Event {
    let Some(line) = json::parse::<Loose<Said<'_>>>(line) else {
        return Event::Unreadable;
    };
    match line {
        Loose::Object(Said {
            kind,
            row: Loose::Object(row),
        }) if kind.as_str() == Some("event") => match row.event_json.0 {
            Some(text) => Event::Row(text.into_owned(), row.seq.0),
            None => Event::Other,
        },
        _ => Event::Other,
    }
}
