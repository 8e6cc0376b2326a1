//! Which rows of a session were changed since it was read, by what its agent notes of each change?

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};

use super::list::key;
use super::schema::{Present, columns, quoted};
use super::turns::{Turn, from_row};
use super::write::said;
use crate::format::database::{Changed, Events, Layout};

/// Whether all that was changed since a turn was read, up to this number of the session, is in the
/// turn or behind it. `false`: it is not, or a change is not there or not known; then rows have to
/// be looked at.
pub(super) fn are_behind(
    connection: &Connection,
    (events, outer): (&Events, &Present),
    (session, turn): (&str, &Turn),
    number: i64,
) -> rusqlite::Result<bool> {
    // Where nothing is noted something else has led here.
    if number <= turn.number || !are_there(connection, events)? {
        return Ok(false);
    }
    // A restored backup gives its numbers once more, to other changes.
    let change = change_of(connection, events, session, turn.number)?;
    if change.is_none() || change != turn.change {
        return Ok(false);
    }
    let (kind, data) = events.says;
    let sql = format!(
        "SELECT {kind}, {data} FROM {table} WHERE {session} = ?1 AND {number} > ?2 AND {number} <= ?3",
        kind = quoted(kind),
        data = quoted(data),
        table = quoted(events.table),
        session = quoted(events.session),
        number = quoted(events.number),
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query((session, turn.number, number))?;
    let (mut noted, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        noted += 1;
        let (ValueRef::Text(kind), ValueRef::Text(data)) = (row.get_ref(0)?, row.get_ref(1)?)
        else {
            return Ok(false);
        };
        match (events.changed)(&said(kind), &said(data)) {
            None => return Ok(false),
            Some(Changed::Session) => {}
            // Most changes are of one row after the other.
            Some(Changed::Row(key)) if last.as_ref() == Some(&key) => {}
            Some(Changed::Row(key)) => {
                if !is_behind(connection, outer, (session, turn), &key)? {
                    return Ok(false);
                }
                last = Some(key);
            }
        }
    }
    Ok(Some(noted) == number.checked_sub(turn.number))
}

/// The key of the change by which a session came to that number; `None`: that is not noted.
pub(super) fn change(
    connection: &Connection,
    layout: &Layout,
    session: &str,
    number: i64,
) -> rusqlite::Result<Option<String>> {
    match layout.sequence.and_then(|sequence| sequence.events) {
        Some(events) if are_there(connection, &events)? => {
            change_of(connection, &events, session, number)
        }
        _ => Ok(None),
    }
}

fn change_of(
    connection: &Connection,
    events: &Events,
    session: &str,
    number: i64,
) -> rusqlite::Result<Option<String>> {
    let sql = format!(
        "SELECT {} FROM {} WHERE {} = ?1 AND {} = ?2",
        quoted(events.key),
        quoted(events.table),
        quoted(events.session),
        quoted(events.number),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row((session, number), |row| key(row, 0));
    Ok(found.optional()?.flatten())
}

fn are_there(connection: &Connection, events: &Events) -> rusqlite::Result<bool> {
    let there = columns(connection, events.table)?;
    let (kind, data) = events.says;
    let needed = [events.key, events.session, events.number, kind, data];
    Ok(needed
        .iter()
        .all(|needed| there.iter().any(|name| name == needed)))
}

/// Whether the row with this key is that of the turn, or behind it.
fn is_behind(
    connection: &Connection,
    outer: &Present,
    (session, turn): (&str, &Turn),
    key: &str,
) -> rusqlite::Result<bool> {
    let sql = format!(
        "SELECT 1 FROM {} WHERE {} AND {} = ?3",
        quoted(outer.table.name),
        from_row(outer),
        quoted(outer.table.key)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.exists((session, &turn.key, key))
}
