//! What does a table call sessions?

use std::collections::{BTreeMap, HashSet};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows};

use super::{Said, said};
use crate::databases::list::key;
use crate::databases::schema::{columns, quoted};
use crate::format::names::NamesTable;

/// What it says of these sessions. `None`: there is no such table.
pub fn named(
    connection: &Connection,
    table: &NamesTable,
    sessions: &HashSet<String>,
) -> rusqlite::Result<Option<BTreeMap<String, Said>>> {
    let Some(select) = select(connection, table)? else {
        return Ok(None);
    };
    let mut named = BTreeMap::new();
    let mut statement = connection.prepare(&select)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(session) = key(row, 0)?.filter(|session| sessions.contains(session))
            && let Some(said) = of_row(row, table, &session)?
        {
            named.insert(session, said);
        }
    }
    Ok(Some(named))
}

/// What it says of a session.
pub fn of(
    connection: &Connection,
    table: &NamesTable,
    session: &str,
) -> rusqlite::Result<Option<Said>> {
    let Some(select) = select(connection, table)? else {
        return Ok(None);
    };
    let select = format!("{select} WHERE {} = ?1", quoted(table.key));
    let mut statement = connection.prepare(&select)?;
    last(statement.query([session])?, table, session)
}

/// Of several rows the last that says something.
fn last(mut rows: Rows<'_>, table: &NamesTable, session: &str) -> rusqlite::Result<Option<Said>> {
    let mut found = None;
    while let Some(row) = rows.next()? {
        found = of_row(row, table, session)?.or(found);
    }
    Ok(found)
}

/// The statement that gives every row. `None`: there is no such table, or it has no keys.
fn select(connection: &Connection, table: &NamesTable) -> rusqlite::Result<Option<String>> {
    let present = columns(connection, table.name)?;
    if !present.iter().any(|column| column == table.key) {
        return Ok(None);
    }
    let ((title, beginning), (mode, _)) = (table.title, table.untitled);
    let wanted = [table.key, table.given, title, beginning, mode, table.pinned];
    let wanted = wanted.map(|column| match present.iter().any(|own| own == column) {
        true => quoted(column),
        false => "NULL".to_owned(),
    });
    let (wanted, table) = (wanted.join(", "), quoted(table.name));
    Ok(Some(format!("SELECT {wanted} FROM {table}")))
}

/// What a row says of its session, if that is anything.
fn of_row(row: &Row<'_>, table: &NamesTable, session: &str) -> rusqlite::Result<Option<Said>> {
    let given = text(row, 1)?;
    let has_title = text(row, 4)?.as_deref() != Some(table.untitled.1);
    let title = text(row, 2)?.filter(|_| has_title);
    let beginning = text(row, 3)?;
    let title = title.filter(|title| Some(title) != beginning.as_ref());
    let pinned = matches!(row.get_ref(5)?, ValueRef::Integer(number) if number != 0);
    let name = title.or(given);
    let is_anything = name.is_some() || pinned;
    Ok(is_anything.then(|| said(table.name, session, name.as_deref(), pinned)))
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
