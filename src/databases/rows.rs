//! What do the rows of a session say, a line for each?
//!
//! `{"table":T,"key":K,"row":{COLUMN:VALUE,…}}` with the columns in the table's order. Text that is
//! JSON stands as JSON, a blob as its length. A row that belongs to another one repeats what its
//! format needs of that, under the other's table:
//! `{"table":T,"key":K,"message":{"role":"user"},…}`. Of a row that holds a line the line is that.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::lines::{Lines, RowNames};
use super::list::{Stamps, key};
use super::open::read;
use super::schema::{Present, quoted};
use super::shelf::{self, unpacked};
use crate::format::database::{Database, Generation, Inner, Line, Table};
use crate::format::identity::Identity;
use crate::format::json;

/// A session as it is at one moment.
pub struct Session {
    /// See [`list`](super::list()).
    pub identity: Identity,
    /// Its lines.
    pub lines: Vec<u8>,
    /// Which row each of them is.
    pub names: RowNames,
}

/// The session of that key in the database at `path`, with all its rows.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is none; when the database cannot be read.
pub fn session(path: &Path, database: &'static Database, session: &str) -> io::Result<Session> {
    let found = read(path, |connection| {
        read_session(connection, database, session)
    })?;
    found.ok_or_else(|| ErrorKind::NotFound.into())
}

fn read_session(
    connection: &Connection,
    database: &'static Database,
    session: &str,
) -> rusqlite::Result<Option<Session>> {
    for generation in database.generations {
        let Some(stamps) = Stamps::of(connection, generation)? else {
            continue;
        };
        if let Some(identity) = stamps.one(session)? {
            let (lines, names) = lines(connection, generation, session)?.into_parts();
            return Ok(Some(Session {
                identity,
                lines,
                names,
            }));
        }
    }
    Ok(None)
}

fn lines(
    connection: &Connection,
    generation: &'static Generation,
    session: &str,
) -> rusqlite::Result<Lines> {
    let mut lines = Lines::default();
    if let Some(own) = Present::of(connection, &generation.sessions, generation)? {
        each_line(connection, &own, session, |line| {
            lines.bytes.extend_from_slice(line);
        })?;
    }
    for table in generation.rows {
        let own = Present::of(connection, table, generation)?;
        if let Some(line) = &table.line {
            let before = lines.bytes.len();
            if let Some(own) = &own {
                held(connection, (own, line), session, &mut lines)?;
            }
            let shelves = table.shelves.iter();
            for shelf in shelves
                .take_while(|_| lines.bytes.len() == before)
                .collect::<Vec<_>>()
            {
                let shelf = (shelf, table.name);
                if shelf::add(connection, generation, shelf, session, &mut lines)? {
                    break;
                }
            }
            continue;
        }
        let Some(outer) = own else {
            continue;
        };
        match &table.inner {
            Some(inner) => within(connection, generation, (&outer, inner), session, &mut lines)?,
            None => each_line(connection, &outer, session, |line| {
                lines.bytes.extend_from_slice(line);
            })?,
        }
    }
    Ok(lines)
}

/// Add the rows of a table of a session, each with those that belong to it.
fn within(
    connection: &Connection,
    generation: &'static Generation,
    (outer, inner): (&Present, &'static Inner),
    session: &str,
    lines: &mut Lines,
) -> rusqlite::Result<()> {
    let own = Present::of(connection, inner.table, generation)?;
    let of_outer = own.as_ref().map(|own| {
        let is_of_outer = format!("{} = ?1", quoted(inner.outer));
        (own, select(own, &is_of_outer))
    });
    of_session(connection, outer, session, |row| {
        write(&mut lines.bytes, outer, row, None)?;
        if let Some((own, of_outer)) = &of_outer
            && let Some(named) = key(row, column(outer, outer.table.key))?
        {
            let repeated = repeated(row, outer, inner)?;
            let mut statement = connection.prepare_cached(of_outer)?;
            let mut rows = statement.query([named])?;
            while let Some(row) = rows.next()? {
                write(&mut lines.bytes, own, row, repeated.as_deref())?;
            }
        }
        Ok(())
    })?;
    match &own {
        Some(own) => orphans(connection, outer, (inner, own), session, &mut lines.bytes),
        None => Ok(()),
    }
}

/// Give the line of every row of a session in this table to `each`, in order.
pub(super) fn each_line(
    connection: &Connection,
    present: &Present,
    session: &str,
    mut each: impl FnMut(&[u8]),
) -> rusqlite::Result<()> {
    let mut line = Vec::new();
    of_session(connection, present, session, |row| {
        line.clear();
        write(&mut line, present, row, None)?;
        each(&line);
        Ok(())
    })
}

/// Give every row of a session in this table to `each`, in order.
fn of_session(
    connection: &Connection,
    present: &Present,
    session: &str,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&select(present, &present.of_session))?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

/// The rows in order of which this is true.
fn select(present: &Present, is: &str) -> String {
    format!(
        "SELECT {} FROM {} WHERE {is} ORDER BY {}",
        present.named(),
        quoted(present.table.name),
        present.order()
    )
}

/// Add the lines that the rows of a session hold.
fn held(
    connection: &Connection,
    (present, line): (&Present, &Line),
    session: &str,
    lines: &mut Lines,
) -> rusqlite::Result<()> {
    let sql = format!(
        "{} WHERE {} ORDER BY {}",
        select_held(present, line),
        present.of_session,
        present.order()
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let name = format!(
            "{}:{}",
            present.table.name,
            key(row, 0)?.unwrap_or_default()
        );
        match held_line(row)? {
            Ok(line) => lines.add(&line, name),
            Err(why) => lines.add_problem(&format!(
                "{name} cannot be read: {why}; restore the database from a backup"
            )),
        }
    }
    Ok(())
}

/// Key, text, compressed text and the length of that.
fn select_held(present: &Present, line: &Line) -> String {
    let column = |name: &str| match present.has(name) {
        true => quoted(name),
        false => "NULL".to_owned(),
    };
    format!(
        "SELECT {}, {}, {}, {} FROM {}",
        quoted(present.table.key),
        column(line.text),
        column(line.packed.0),
        column(line.packed.1),
        quoted(present.table.name)
    )
}

/// The line that a row holds, or why that is not known.
fn held_line(row: &Row<'_>) -> rusqlite::Result<Result<String, String>> {
    let text = match (row.get_ref(1)?, row.get_ref(2)?) {
        (ValueRef::Text(text), _) => said(text),
        (ValueRef::Null, ValueRef::Blob(packed)) => {
            let length = match row.get_ref(3)? {
                ValueRef::Integer(length) => u64::try_from(length).unwrap_or_default(),
                _ => return Ok(Err("its length is not known".to_owned())),
            };
            match unpacked(packed, length) {
                Ok(text) if text.len() as u64 == length => said(&text).into_owned().into(),
                Ok(_) => return Ok(Err("it is shorter than it was".to_owned())),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        _ => return Ok(Err("it has no text".to_owned())),
    };
    Ok(Ok(on_one_line(text.trim()).into_owned()))
}

/// Rows of a session that belong to no row of it.
fn orphans(
    connection: &Connection,
    outer: &Present,
    (inner, own): (&Inner, &Present),
    session: &str,
    lines: &mut Vec<u8>,
) -> rusqlite::Result<()> {
    let select = format!(
        "SELECT {} FROM {} WHERE {} AND NOT EXISTS (SELECT 1 FROM {outer} o WHERE o.{} = {inner}.{} AND o.{} = ?1) ORDER BY {}",
        own.named(),
        quoted(own.table.name),
        own.of_session,
        quoted(outer.table.key),
        quoted(inner.outer),
        quoted(outer.table.session),
        own.order(),
        outer = quoted(outer.table.name),
        inner = quoted(own.table.name),
    );
    let mut statement = connection.prepare(&select)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        write(lines, own, row, None)?;
    }
    Ok(())
}

/// The line of one row, `table:key`, of a session; `None` where there is no such row.
///
/// # Errors
/// When the database cannot be read.
pub fn row(
    path: &Path,
    database: &'static Database,
    session: &str,
    name: &str,
) -> io::Result<Option<Vec<u8>>> {
    let Some((table, wanted)) = name.split_once(':') else {
        return Ok(None);
    };
    read(path, |connection| {
        let Some((generation, own, outer)) = table_of(database, table) else {
            return Ok(None);
        };
        if let Some(own) = Present::of(connection, own, generation)? {
            let found = match &own.table.line {
                Some(line) => row_held(connection, (&own, line), session, wanted)?,
                None => row_of(connection, generation, (&own, outer), session, wanted)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        // It may have been put away.
        if own.shelves.is_empty() {
            return Ok(None);
        }
        let session = read_session(connection, database, session)?;
        Ok(session.and_then(|session| {
            let line = session.names.line(name, &session.lines);
            line.map(<[u8]>::to_vec)
        }))
    })
}

/// The line of the row with that key.
fn row_of(
    connection: &Connection,
    generation: &'static Generation,
    (own, outer): (&Present, Option<(&'static Table, &'static Inner)>),
    session: &str,
    key: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let is_it = format!("{} AND {} = ?2", own.of_session, quoted(own.table.key));
    let line = |row: &Row<'_>| {
        let repeated = match outer {
            Some((outer, inner)) => of_outer(connection, generation, (outer, inner), row, own)?,
            None => None,
        };
        let mut line = Vec::new();
        write(&mut line, own, row, repeated.as_deref())?;
        line.pop();
        Ok(line)
    };
    let mut statement = connection.prepare(&select(own, &is_it))?;
    statement.query_row([session, key], line).optional()
}

/// The line that the row with that key holds.
fn row_held(
    connection: &Connection,
    (own, line): (&Present, &Line),
    session: &str,
    key: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = format!(
        "{} WHERE {} AND {} = ?2",
        select_held(own, line),
        own.of_session,
        quoted(own.table.key)
    );
    let mut statement = connection.prepare(&sql)?;
    let held = statement.query_row([session, key], held_line).optional()?;
    Ok(held.and_then(Result::ok).map(String::into_bytes))
}

/// Which row a line is of, `table:key`.
pub fn row_name(line: &[u8]) -> Option<String> {
    let (table, rest) = text_after(line, b"{\"table\":")?;
    let (key, _) = text_after(rest, b",\"key\":")?;
    Some(format!("{table}:{key}"))
}

/// The text that follows these bytes, and what follows it.
fn text_after<'l>(line: &'l [u8], bytes: &[u8]) -> Option<(String, &'l [u8])> {
    let rest = line.strip_prefix(bytes)?;
    let mut texts = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
    let text = texts.next()?.ok()?;
    Some((text, &rest[texts.byte_offset()..]))
}

/// A table of a generation, and the one that its rows belong to.
type Place = (
    &'static Generation,
    &'static Table,
    Option<(&'static Table, &'static Inner)>,
);

/// The table of that name.
fn table_of(database: &'static Database, name: &str) -> Option<Place> {
    database.generations.iter().find_map(|generation| {
        if generation.sessions.name == name {
            return Some((generation, &generation.sessions, None));
        }
        generation.rows.iter().find_map(|table| match &table.inner {
            _ if table.name == name => Some((generation, table, None)),
            Some(inner) if inner.table.name == name => {
                Some((generation, inner.table, Some((table, inner))))
            }
            _ => None,
        })
    })
}

/// What a row repeats of the one that it belongs to.
fn of_outer(
    connection: &Connection,
    generation: &'static Generation,
    (outer, inner): (&'static Table, &Inner),
    row: &Row<'_>,
    own: &Present,
) -> rusqlite::Result<Option<String>> {
    let at = own.columns.iter().position(|name| name == inner.outer);
    let (Some(at), Some(outer)) = (at, Present::of(connection, outer, generation)?) else {
        return Ok(None);
    };
    let Some(named) = key(row, at)? else {
        return Ok(None);
    };
    let select = format!(
        "SELECT {} FROM {} WHERE {} = ?1",
        outer.named(),
        quoted(outer.table.name),
        quoted(outer.table.key)
    );
    let mut statement = connection.prepare(&select)?;
    let repeated = statement.query_row([named], |row| repeated(row, &outer, inner));
    Ok(repeated.optional()?.flatten())
}

/// What the rows that belong to this one repeat of it, as a member of their lines.
fn repeated(row: &Row<'_>, outer: &Present, inner: &Inner) -> rusqlite::Result<Option<String>> {
    let (from, member) = inner.repeats;
    if !outer.has(from) {
        return Ok(None);
    }
    let ValueRef::Text(text) = row.get_ref(column(outer, from))? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(text);
    let value = json::whole(text.as_bytes()).and_then(|_| json::member(&text, member));
    let member_of = |value: &str| format!("\"{}\":{{\"{member}\":{value}}},", outer.table.name);
    Ok(value.map(|value| member_of(&on_one_line(value))))
}

/// The place of a column that is there.
fn column(present: &Present, name: &str) -> usize {
    let mut columns = present.columns.iter();
    columns
        .position(|column| column == name)
        .unwrap_or_default()
}

/// Write the line of a row.
fn write(
    lines: &mut Vec<u8>,
    present: &Present,
    row: &Row<'_>,
    repeated: Option<&str>,
) -> rusqlite::Result<()> {
    let own = key(row, column(present, present.table.key))?.unwrap_or_default();
    lines.extend_from_slice(b"{\"table\":");
    text(lines, present.table.name);
    lines.extend_from_slice(b",\"key\":");
    text(lines, &own);
    lines.push(b',');
    lines.extend_from_slice(repeated.unwrap_or_default().as_bytes());
    lines.extend_from_slice(b"\"row\":{");
    for (at, name) in present.columns.iter().enumerate() {
        if at > 0 {
            lines.push(b',');
        }
        text(lines, name);
        lines.push(b':');
        let is_json = present.table.json.contains(&name.as_str());
        value(lines, row.get_ref(at)?, is_json);
    }
    lines.extend_from_slice(b"}}\n");
    Ok(())
}

fn value(lines: &mut Vec<u8>, value: ValueRef<'_>, is_json: bool) {
    match value {
        ValueRef::Null => lines.extend_from_slice(b"null"),
        ValueRef::Integer(number) => lines.extend_from_slice(number.to_string().as_bytes()),
        ValueRef::Real(number) => match serde_json::to_string(&number) {
            Ok(number) => lines.extend_from_slice(number.as_bytes()),
            Err(_) => lines.extend_from_slice(b"null"),
        },
        ValueRef::Text(bytes) => {
            let said = said(bytes);
            match is_json && json::whole(said.as_bytes()).is_some() {
                true => lines.extend_from_slice(on_one_line(said.trim()).as_bytes()),
                false => text(lines, &said),
            }
        }
        ValueRef::Blob(bytes) => {
            // A vector takes all that is written to it.
            let _ = std::write!(lines, "{{\"bytes\":{}}}", bytes.len());
        }
    }
}

/// Text of a database, whatever its bytes are.
pub(super) fn said(bytes: &[u8]) -> Cow<'_, str> {
    match json::utf8(bytes) {
        Some(text) => text.into(),
        None => String::from_utf8_lossy(bytes),
    }
}

fn text(lines: &mut Vec<u8>, text: &str) {
    // Text is always written.
    let _ = serde_json::to_writer(lines, text);
}

/// JSON without its line breaks, which stand between its tokens only.
pub(super) fn on_one_line(json: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        true => json.replace(['\n', '\r'], " ").into(),
        false => json.into(),
    }
}
