//! What do the rows of a session say, a line for each?
//!
//! `{"table":T,"key":K,"row":{COLUMN:VALUE,…}}` with the columns in the table's order. Text that is
//! JSON stands as JSON, a blob as its length. A row that belongs to another one repeats what its
//! format needs of that, under the other's table:
//! `{"table":T,"key":K,"message":{"role":"user"},…}`. Of a row that holds a line the line is that.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params_from_iter};

use super::budget::{Budget, LONGEST_LINE};
use super::documents::store;
use super::events;
use super::lines::{Lines, RowNames};
use super::list::{Stamps, identity_of, key};
use super::open::read;
use super::schema::{Present, quoted};
use super::shelf;
use super::turns::{self, Turn};
use super::write::{column, on_one_line, repeated, said, write};
use crate::format::database::{Database, Inner, Layout, Line, Stamp, Table};
use crate::format::identity::Identity;

/// A session as it is at one moment.
pub struct Session {
    /// See [`list`](super::list()).
    pub identity: Identity,
    /// Its lines.
    pub lines: Vec<u8>,
    /// Which row each of them is.
    pub names: RowNames,
    /// Where turns begin in the lines, if that is known.
    pub turns: Vec<(u64, Turn)>,
}

/// The session of that key in the database at `path`, with all its rows.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is none; when the database cannot be read.
pub fn session(path: &Path, database: &'static Database, session: &str) -> io::Result<Session> {
    if let Some(documents) = store(path, database) {
        return documents.session(session);
    }
    let found = read(path, |connection| {
        read_session(connection, database, (session, None))
    })?;
    found.ok_or_else(|| ErrorKind::NotFound.into())
}

/// The session of that key with its own row and those from that turn on. `None`: rows before it are
/// other ones, or that is not known.
///
/// # Errors
/// When the database cannot be read.
pub fn session_from(
    path: &Path,
    database: &'static Database,
    session: &str,
    turn: &Turn,
) -> io::Result<Option<Session>> {
    if store(path, database).is_some() {
        return Ok(None);
    }
    read(path, |connection| {
        read_session(connection, database, (session, Some(turn)))
    })
}

pub(super) fn read_session(
    connection: &Connection,
    database: &'static Database,
    (session, from): (&str, Option<&Turn>),
) -> rusqlite::Result<Option<Session>> {
    for layout in database.layouts {
        let Some(stamps) = Stamps::of(connection, layout)? else {
            continue;
        };
        let Some(own) = stamps.own(session)? else {
            continue;
        };
        if let Some(turn) = from
            && !turns::stands(connection, layout, (session, turn), own.1)?
        {
            return Ok(None);
        }
        let change = events::change(connection, layout, session, own.1)?;
        let mut all = Lines::from(from, (own.1, change));
        add_lines(connection, layout, (session, from), &mut all)?;
        let (lines, names, turns) = all.into_parts();
        let (turns, identity) = match turns.into_parts() {
            Some((turns, sums)) => (turns, identity_of(own.0, own.1, &sums)),
            None if from.is_some() => return Ok(None),
            None => (Vec::new(), stamps.counted(session, own.0, own.1)?),
        };
        return Ok(Some(Session {
            identity,
            lines,
            names,
            turns,
        }));
    }
    Ok(None)
}

/// Add the lines of all rows of a session, or of its own and those from that turn on.
pub(super) fn add_lines(
    connection: &Connection,
    layout: &'static Layout,
    (session, from): (&str, Option<&Turn>),
    lines: &mut Lines,
) -> rusqlite::Result<()> {
    let is_of_turns = |table: &Table| table.turn.is_some() && table.stamp == Stamp::Times;
    if !matches!(layout.rows, [table] if is_of_turns(table)) {
        lines.turns.give_up();
    }
    if let Some(own) = Present::of(connection, &layout.sessions, layout)? {
        each_line(connection, &own, session, |line| {
            lines.bytes.extend_from_slice(line);
        })?;
    }
    for table in layout.rows {
        let own = Present::of(connection, table, layout)?;
        if let Some(line) = &table.line {
            let before = lines.bytes.len();
            if let Some(own) = &own {
                held(connection, (own, line), session, lines)?;
            }
            let is_empty = lines.bytes.len() == before;
            for shelf in table.shelves.iter().filter(|_| is_empty) {
                let shelf = (shelf, table.name);
                if shelf::add(connection, layout, shelf, session, lines)? {
                    break;
                }
            }
            continue;
        }
        let Some(outer) = own else {
            lines.turns.give_up();
            continue;
        };
        let inner = match &table.inner {
            Some(inner) => Present::of(connection, inner.table, layout)?.map(|own| (inner, own)),
            None => None,
        };
        let inner = inner.as_ref().map(|(inner, own)| (*inner, own));
        within(connection, (&outer, inner), (session, from), lines)?;
    }
    Ok(())
}

/// Add the rows of a table of a session, each with those that belong to it.
fn within(
    connection: &Connection,
    (outer, inner): (&Present, Option<(&'static Inner, &Present)>),
    (session, from): (&str, Option<&Turn>),
    lines: &mut Lines,
) -> rusqlite::Result<()> {
    let of_outer = inner.map(|(inner, own)| {
        let is_of_outer = format!("{} = ?1", quoted(inner.outer));
        let session_at = column(own, own.table.session);
        (inner, own, select(own, &is_of_outer), session_at)
    });
    let mut own_rows = from.map_or(0, |turn| turn.before.inner);
    of_session(connection, outer, (session, from), |row| {
        lines.turns.add(row, outer, lines.bytes.len())?;
        write(&mut lines.bytes, outer, row, None)?;
        if let Some((inner, own, of_outer, session_at)) = &of_outer
            && let Some(named) = key(row, column(outer, outer.table.key))?
        {
            let repeated = repeated(row, outer, inner)?;
            let mut statement = connection.prepare_cached(of_outer)?;
            let mut rows = statement.query([named])?;
            while let Some(row) = rows.next()? {
                write(&mut lines.bytes, own, row, repeated.as_deref())?;
                let is_own = row.get_ref(*session_at)? == ValueRef::Text(session.as_bytes());
                own_rows += i64::from(is_own);
                lines.turns.add_inner(row, own, is_own)?;
            }
        }
        Ok(())
    })?;
    match inner {
        // To look for those without a message costs as much as to read all, and there are none.
        Some((inner, own)) if count(connection, own, session)? != own_rows => {
            lines.turns.give_up();
            orphans(connection, outer, (inner, own), session, &mut lines.bytes)
        }
        _ => Ok(()),
    }
}

/// How many rows a session has in this table.
fn count(connection: &Connection, present: &Present, session: &str) -> rusqlite::Result<i64> {
    let sql = format!(
        "SELECT count(*) FROM {} WHERE {}",
        quoted(present.table.name),
        present.of_session
    );
    connection
        .prepare_cached(&sql)?
        .query_row([session], |row| row.get(0))
}

/// Give the line of every row of a session in this table to `each`, in order.
pub(super) fn each_line(
    connection: &Connection,
    present: &Present,
    session: &str,
    mut each: impl FnMut(&[u8]),
) -> rusqlite::Result<()> {
    let mut line = Vec::new();
    of_session(connection, present, (session, None), |row| {
        line.clear();
        write(&mut line, present, row, None)?;
        each(&line);
        Ok(())
    })
}

/// Give every row of a session in this table, or those from that turn on, to `each`, in order.
fn of_session(
    connection: &Connection,
    present: &Present,
    (session, from): (&str, Option<&Turn>),
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let select = match from {
        None => select(present, &present.of_session),
        Some(_) => select(present, &turns::from_row(present)),
    };
    let mut statement = connection.prepare_cached(&select)?;
    let names = [session].into_iter().chain(from.map(|turn| &*turn.key));
    let mut rows = statement.query(params_from_iter(names))?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

/// The rows in order of which this is true.
pub(super) fn select(present: &Present, is: &str) -> String {
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
    let mut unpacked = Vec::new();
    while let Some(row) = rows.next()? {
        let is_packed = matches!(row.get_ref(1)?, ValueRef::Null);
        if is_packed && lines.budget.is_spent() {
            continue;
        }
        let name = format!(
            "{}:{}",
            present.table.name,
            key(row, 0)?.unwrap_or_default()
        );
        let line = held_line(row, &mut unpacked, &mut lines.budget)?;
        let length = line.as_ref().map_or(0, |line| line.len());
        let has_room = !is_packed || lines.budget.keep(length);
        match line {
            _ if !has_room => lines.add_problem(&format!("{name}: {}", Budget::SPENT)),
            Ok(line) => lines.add(&line, name),
            Err(why) => lines.add_problem(&format!(
                "{name} cannot be read: {why}; restore the database from a backup"
            )),
        }
    }
    Ok(())
}

/// Key, text, compressed text and the length of that.
pub(super) fn select_held(present: &Present, line: &Line) -> String {
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

/// The line that a row holds, or why that is not known. One that is compressed is decoded into
/// `unpacked`.
pub(super) fn held_line<'r>(
    row: &'r Row<'_>,
    unpacked: &'r mut Vec<u8>,
    budget: &mut Budget,
) -> rusqlite::Result<Result<Cow<'r, str>, String>> {
    unpacked.clear();
    let text = match (row.get_ref(1)?, row.get_ref(2)?) {
        (ValueRef::Text(text), _) => said(text),
        (ValueRef::Null, ValueRef::Blob(packed)) => {
            let length = match row.get_ref(3)? {
                ValueRef::Integer(length) => u64::try_from(length).unwrap_or_default(),
                _ => return Ok(Err("its length is not known".to_owned())),
            };
            let decoded = unpack(packed, length, unpacked);
            match decoded {
                _ if !budget.decode(unpacked.len() as u64) => {
                    return Ok(Err(Budget::SPENT.to_owned()));
                }
                Ok(()) => said(unpacked),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        _ => return Ok(Err("it has no text".to_owned())),
    };
    Ok(Ok(match text {
        Cow::Borrowed(text) => on_one_line(text.trim()),
        Cow::Owned(text) => on_one_line(text.trim()).into_owned().into(),
    }))
}

/// Decode the line of a row, which is of that length.
fn unpack(packed: &[u8], length: u64, unpacked: &mut Vec<u8>) -> io::Result<()> {
    if length > LONGEST_LINE {
        return Err(io::Error::other(format!(
            "it says that it is {length} bytes long, and no line of more than 64 MiB is decoded"
        )));
    }
    let decoder = zstd::Decoder::with_buffer(packed)?;
    decoder.take(length + 1).read_to_end(unpacked)?;
    match (unpacked.len() as u64).cmp(&length) {
        Ordering::Less => Err(io::Error::other("it is shorter than it was")),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(io::Error::other("it is longer than it was")),
    }
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
