//! What do some rows say, and which row is a line?

use std::borrow::Cow;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};

use super::budget::Budget;
use super::list::key;
use super::open::read;
use super::rows::{held_line, read_session, select, select_held};
use super::schema::{Present, quoted};
use super::write::{repeated, write};
use crate::format::database::{Database, Inner, Layout, Line, Table};

/// The line of each of these rows, `table:key`, of a session in a database, not in documents;
/// `None` where there is no such row.
///
/// # Errors
/// When the database cannot be read.
pub fn rows(
    path: &Path,
    database: &'static Database,
    session: &str,
    names: &[&str],
) -> io::Result<Vec<Option<Vec<u8>>>> {
    read(path, |connection| {
        let names = names.iter();
        let lines = names.map(|name| row_named(connection, database, session, name));
        lines.collect()
    })
}

fn row_named(
    connection: &Connection,
    database: &'static Database,
    session: &str,
    name: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let Some((table, wanted)) = name.split_once(':') else {
        return Ok(None);
    };
    let mut may_be_put_away = false;
    for (layout, own, outer) in tables_of(database, table) {
        may_be_put_away |= !own.shelves.is_empty();
        let Some(own) = Present::of(connection, own, layout)? else {
            continue;
        };
        let found = match &own.table.line {
            Some(line) => row_held(connection, (&own, line), session, wanted)?,
            None => row_of(connection, layout, (&own, outer), session, wanted)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    if !may_be_put_away {
        return Ok(None);
    }
    let session = read_session(connection, database, (session, None))?;
    Ok(session.and_then(|session| {
        let line = session.names.line(name, &session.lines);
        line.map(<[u8]>::to_vec)
    }))
}

/// The line of the row with that key.
fn row_of(
    connection: &Connection,
    layout: &'static Layout,
    (own, outer): (&Present, Option<(&'static Table, &'static Inner)>),
    session: &str,
    key: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let is_it = format!("{} AND {} = ?2", own.of_session, quoted(own.table.key));
    let line = |row: &Row<'_>| {
        let repeated = match outer {
            Some((outer, inner)) => of_outer(connection, layout, (outer, inner), row, own)?,
            None => None,
        };
        let mut line = Vec::new();
        write(&mut line, own, row, repeated.as_deref())?;
        line.pop();
        Ok(line)
    };
    let mut statement = connection.prepare_cached(&select(own, &is_it))?;
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
    let mut rows = statement.query([session, key])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let mut unpacked = Vec::new();
    let held = held_line(row, &mut unpacked, &mut Budget::default())?;
    Ok(held.ok().map(|line| line.into_owned().into_bytes()))
}

/// Which row a line is of, `table:key`.
pub(super) fn row_name(line: &[u8]) -> Option<String> {
    let (table, rest) = text_after(line, b"{\"table\":")?;
    let (key, _) = text_after(rest, b",\"key\":")?;
    Some([&table, ":", &key].concat())
}

/// The text that follows these bytes, and what follows it.
fn text_after<'l>(line: &'l [u8], bytes: &[u8]) -> Option<(Cow<'l, str>, &'l [u8])> {
    let rest = line.strip_prefix(bytes)?;
    // Most names and keys are letters and digits.
    let end = rest.iter().skip(1).position(|byte| !is_plain(*byte))? + 1;
    if rest[0] == b'"' && rest[end] == b'"' {
        return Some((str::from_utf8(&rest[1..end]).ok()?.into(), &rest[end + 1..]));
    }
    let mut texts = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
    let text = texts.next()?.ok()?;
    Some((text.into(), &rest[texts.byte_offset()..]))
}

/// Whether the byte stands for itself in a text.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.')
}

/// A table of a layout, and the one that its rows belong to.
type Place = (
    &'static Layout,
    &'static Table,
    Option<(&'static Table, &'static Inner)>,
);

/// The tables of that name: one may be read in several ways, each of which finds other rows.
fn tables_of<'n>(database: &'static Database, name: &'n str) -> impl Iterator<Item = Place> + 'n {
    let places = database.layouts.iter().flat_map(|layout| {
        let own = [(layout, &layout.sessions, None)];
        let rows = layout.rows.iter().flat_map(move |table| {
            let inner = table.inner.as_ref();
            let inner = inner.map(|inner| (layout, inner.table, Some((table, inner))));
            [(layout, table, None)].into_iter().chain(inner)
        });
        own.into_iter().chain(rows)
    });
    places.filter(move |(_, table, _)| table.name == name)
}

/// What a row repeats of the one that it belongs to.
fn of_outer(
    connection: &Connection,
    layout: &'static Layout,
    (outer, inner): (&'static Table, &Inner),
    row: &Row<'_>,
    own: &Present,
) -> rusqlite::Result<Option<String>> {
    let at = own.columns.iter().position(|name| name == inner.outer);
    let (Some(at), Some(outer)) = (at, Present::of(connection, outer, layout)?) else {
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
    let mut statement = connection.prepare_cached(&select)?;
    let repeated = statement.query_row([named], |row| repeated(row, &outer, inner));
    Ok(repeated.optional()?.flatten())
}
