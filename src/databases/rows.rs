//! What do the rows of a session say, a line for each?
//!
//! `{"table":T,"key":K,"row":{COLUMN:VALUE,…}}` with the columns in the table's order. Text that is
//! JSON stands as JSON, a blob as its length. A row that belongs to another one repeats what its
//! format needs of that, under the other's table:
//! `{"table":T,"key":K,"message":{"role":"user"},…}`.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::list::{Stamps, key};
use super::open::read;
use super::schema::{Present, quoted};
use crate::format::database::{Database, Generation, Inner, Table};
use crate::format::identity::Identity;
use crate::format::json;

/// A session as it is at one moment.
pub struct Session {
    /// See [`list`](super::list()).
    pub identity: Identity,
    /// Its lines.
    pub lines: Vec<u8>,
}

/// The session of that key in the database at `path`, with all its rows.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is none; when the database cannot be read.
pub fn session(path: &Path, database: &'static Database, session: &str) -> io::Result<Session> {
    let found = read(path, |connection| {
        for generation in database.generations {
            let Some(stamps) = Stamps::of(connection, generation)? else {
                continue;
            };
            if let Some(identity) = stamps.one(session)? {
                let lines = lines(connection, generation, session)?;
                return Ok(Some(Session { identity, lines }));
            }
        }
        Ok(None)
    })?;
    found.ok_or_else(|| ErrorKind::NotFound.into())
}

fn lines(
    connection: &Connection,
    generation: &'static Generation,
    session: &str,
) -> rusqlite::Result<Vec<u8>> {
    let mut lines = Vec::new();
    if let Some(own) = Present::of(connection, &generation.sessions)? {
        of_session(connection, &own, session, |row| {
            write(&mut lines, &own, row, None)
        })?;
    }
    for table in generation.rows {
        let Some(outer) = Present::of(connection, table)? else {
            continue;
        };
        let inner = match &table.inner {
            Some(inner) => Present::of(connection, inner.table)?.map(|own| (inner, own)),
            None => None,
        };
        let of_outer = inner.as_ref().map(|(inner, own)| select(own, inner.outer));
        of_session(connection, &outer, session, |row| {
            write(&mut lines, &outer, row, None)?;
            if let (Some((inner, own)), Some(of_outer)) = (&inner, &of_outer)
                && let Some(named) = key(row, column(&outer, table.key))?
            {
                let repeated = repeated(row, &outer, inner)?;
                let mut statement = connection.prepare_cached(of_outer)?;
                let mut rows = statement.query([named])?;
                while let Some(row) = rows.next()? {
                    write(&mut lines, own, row, repeated.as_deref())?;
                }
            }
            Ok(())
        })?;
        if let Some((inner, own)) = &inner {
            orphans(connection, &outer, (inner, own), session, &mut lines)?;
        }
    }
    Ok(lines)
}

/// Give every row of a session in this table to `each`, in order.
fn of_session(
    connection: &Connection,
    present: &Present,
    session: &str,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&select(present, present.table.session))?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

/// Rows in order of which a column has some value.
fn select(present: &Present, by: &str) -> String {
    format!(
        "SELECT {} FROM {} WHERE {} = ?1 ORDER BY {}",
        present.named(),
        quoted(present.table.name),
        quoted(by),
        present.order()
    )
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
        "SELECT {} FROM {} WHERE {} = ?1 AND NOT EXISTS (SELECT 1 FROM {outer} o WHERE o.{} = {inner}.{} AND o.{} = ?1) ORDER BY {}",
        own.named(),
        quoted(own.table.name),
        quoted(own.table.session),
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
        let Some((own, outer)) = table_of(database, table) else {
            return Ok(None);
        };
        let Some(own) = Present::of(connection, own)? else {
            return Ok(None);
        };
        let select = format!(
            "SELECT {} FROM {} WHERE {} = ?1 AND {} = ?2",
            own.named(),
            quoted(own.table.name),
            quoted(own.table.key),
            quoted(own.table.session)
        );
        let mut statement = connection.prepare(&select)?;
        let line = |row: &Row<'_>| {
            let repeated = match outer {
                Some((outer, inner)) => of_outer(connection, outer, inner, row, &own)?,
                None => None,
            };
            let mut line = Vec::new();
            write(&mut line, &own, row, repeated.as_deref())?;
            line.pop();
            Ok(line)
        };
        statement.query_row([wanted, session], line).optional()
    })
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

/// The table of that name, and the one that its rows belong to.
fn table_of(
    database: &'static Database,
    name: &str,
) -> Option<(&'static Table, Option<(&'static Table, &'static Inner)>)> {
    database.generations.iter().find_map(|generation| {
        if generation.sessions.name == name {
            return Some((&generation.sessions, None));
        }
        generation.rows.iter().find_map(|table| match &table.inner {
            _ if table.name == name => Some((table, None)),
            Some(inner) if inner.table.name == name => Some((inner.table, Some((table, inner)))),
            _ => None,
        })
    })
}

/// What a row repeats of the one that it belongs to.
fn of_outer(
    connection: &Connection,
    outer: &'static Table,
    inner: &Inner,
    row: &Row<'_>,
    own: &Present,
) -> rusqlite::Result<Option<String>> {
    let at = own.columns.iter().position(|name| name == inner.outer);
    let (Some(at), Some(outer)) = (at, Present::of(connection, outer)?) else {
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
fn said(bytes: &[u8]) -> Cow<'_, str> {
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
fn on_one_line(json: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        true => json.replace(['\n', '\r'], " ").into(),
        false => json.into(),
    }
}
