//! From which row on may a session be read that was read before?
//!
//! A long session grows at its end, turn by turn. The rows before a turn are known by their number,
//! their times of change and their sizes: as long as these are the same, what they say is not read.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::events;
use super::list::{integer, key};
use super::schema::{Present, quoted};
use super::write::{column, said};
use crate::format::database::Layout;
use crate::format::json;

/// Sums over rows of a session, without its own row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// How many they are.
    pub rows: i64,
    /// How many of them belong to another row.
    pub inner: i64,
    /// The greatest of their times of change.
    pub newest: i64,
    /// The sum of these, each without what would not fit.
    pub times: i64,
    /// Bytes of what they say.
    pub bytes: i64,
}

impl Sums {
    /// What is left of a time in a sum of them: all would not fit where there are millions.
    pub const MOST_OF_TIME: i64 = 1_000_000_007;

    fn add(&mut self, changed: i64, bytes: i64) {
        self.rows += 1;
        self.newest = self.newest.max(changed);
        self.times = self.times.wrapping_add(changed % Sums::MOST_OF_TIME);
        self.bytes = self.bytes.wrapping_add(bytes);
    }
}

/// A row that begins a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its key.
    pub key: String,
    /// Of all rows before it.
    pub before: Sums,
    /// The session's number in the agent's sequence when this was read.
    pub number: i64,
    /// The key of the change that had this number, where the agent notes each.
    #[serde(default)]
    pub change: Option<String>,
}

/// The turns of a session whose rows are being read.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Where the line of each begins.
    pub begun: Vec<(u64, Turn)>,
    /// Of all rows up to now; `None`: one of them is not known by its time and size.
    sums: Option<Sums>,
    /// The session's number, and the change that has it.
    number: (i64, Option<String>),
}

impl Turns {
    /// Of the rows of a session of this number that are read from the first one on, or from this
    /// turn on.
    pub fn from(turn: Option<&Turn>, number: (i64, Option<String>)) -> Turns {
        Turns {
            number,
            begun: Vec::new(),
            sums: Some(turn.map(|turn| turn.before).unwrap_or_default()),
        }
    }

    /// All of them, and the sums over all rows; `None`: that is not known.
    pub fn into_parts(self) -> Option<(Vec<(u64, Turn)>, Sums)> {
        let begun = self.begun;
        self.sums.map(|sums| (begun, sums))
    }

    /// There are rows that are not read in their order.
    pub fn give_up(&mut self) {
        self.sums = None;
    }

    /// The next row, whose line begins at `start`.
    pub fn add(&mut self, row: &Row<'_>, present: &Present, start: usize) -> rusqlite::Result<()> {
        let Some(sums) = &mut self.sums else {
            return Ok(());
        };
        if sums.rows > 0 && begins(row, present)? {
            let turn = Turn {
                key: key(row, column(present, present.table.key))?.unwrap_or_default(),
                before: *sums,
                number: self.number.0,
                change: self.number.1.clone(),
            };
            self.begun.push((start as u64, turn));
        }
        match stamp(row, present)? {
            Some((changed, bytes)) => sums.add(changed, bytes),
            None => self.sums = None,
        }
        Ok(())
    }

    /// The next row, which belongs to another one; `is_own`: of the same session.
    pub fn add_inner(
        &mut self,
        row: &Row<'_>,
        present: &Present,
        is_own: bool,
    ) -> rusqlite::Result<()> {
        let stamp = stamp(row, present)?.filter(|_| is_own);
        match (&mut self.sums, stamp) {
            (Some(sums), Some((changed, bytes))) => {
                sums.add(changed, bytes);
                sums.inner += 1;
            }
            _ => self.sums = None,
        }
        Ok(())
    }
}

/// Whether a row begins a turn.
fn begins(row: &Row<'_>, present: &Present) -> rusqlite::Result<bool> {
    let Some(turn) = &present.table.turn else {
        return Ok(false);
    };
    let ValueRef::Text(text) = row.get_ref(column(present, turn.column))? else {
        return Ok(false);
    };
    let Some(member) = turn.member else {
        return Ok(text == turn.text.as_bytes());
    };
    // Most rows do not say it anywhere.
    if memchr::memmem::find(text, turn.text.as_bytes()).is_none() {
        return Ok(false);
    }
    let text = said(text);
    let value = json::member(&text, member).and_then(|value| value.strip_prefix('"'));
    Ok(value.and_then(|value| value.strip_suffix('"')) == Some(turn.text))
}

/// When a row was changed, and the bytes of what it says; `None`: it is not known by these.
fn stamp(row: &Row<'_>, present: &Present) -> rusqlite::Result<Option<(i64, i64)>> {
    let at = column(present, present.table.changed);
    let ValueRef::Integer(changed) = row.get_ref(at)? else {
        return Ok(None);
    };
    let mut bytes = 0;
    for name in present.table.json.iter().filter(|name| present.has(name)) {
        bytes += match row.get_ref(column(present, name))? {
            ValueRef::Text(text) => text.len() as i64,
            ValueRef::Null => 0,
            _ => return Ok(None),
        };
    }
    Ok(Some((changed, bytes)))
}

/// How a statement finds the rows of the session whose key is `?1` from the row on whose key is
/// `?2`.
pub(super) fn from_row(present: &Present) -> String {
    beside_row(present, ">=")
}

fn beside_row(present: &Present, side: &str) -> String {
    format!(
        "{} AND ({order}) {side} (SELECT {order} FROM {} WHERE {} = ?2)",
        present.of_session,
        quoted(present.table.name),
        quoted(present.table.key),
        order = present.order(),
    )
}

/// Whether the rows of a session, which has this number now, are before a turn as they were.
pub(super) fn stands(
    connection: &Connection,
    layout: &'static Layout,
    (session, turn): (&str, &Turn),
    number: i64,
) -> rusqlite::Result<bool> {
    let [table] = layout.rows else {
        return Ok(false);
    };
    let Some(outer) = Present::of(connection, table, layout)? else {
        return Ok(false);
    };
    let events = layout.sequence.and_then(|sequence| sequence.events);
    if let Some(events) = events
        && events::are_behind(connection, (&events, &outer), (session, turn), number)?
    {
        return Ok(true);
    }
    let before = beside_row(&outer, "<");
    let mut sums = Sums::default();
    sum(connection, &outer, &before, (session, turn), &mut sums)?;
    if let Some(inner) = &table.inner
        && let Some(own) = Present::of(connection, inner.table, layout)?
    {
        let of_outer = format!(
            "{} IN (SELECT {} FROM {} WHERE {before})",
            quoted(inner.outer),
            quoted(table.key),
            quoted(table.name)
        );
        let rows = sums.rows;
        sum(connection, &own, &of_outer, (session, turn), &mut sums)?;
        sums.inner = sums.rows - rows;
    }
    Ok(sums == turn.before)
}

/// Add the rows of which this is true. Their sizes stand beside them: what they say is not read.
fn sum(
    connection: &Connection,
    present: &Present,
    is: &str,
    (session, turn): (&str, &Turn),
    sums: &mut Sums,
) -> rusqlite::Result<()> {
    let said = present.table.json.iter().filter(|name| present.has(name));
    let sizes: String = said
        .map(|name| format!(" + coalesce(octet_length({}), 0)", quoted(name)))
        .collect();
    let sql = format!(
        "SELECT {}, 0{sizes} FROM {} WHERE {is}",
        present.changed(),
        quoted(present.table.name)
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([session, &turn.key])?;
    while let Some(row) = rows.next()? {
        sums.add(integer(row, 0)?, integer(row, 1)?);
    }
    Ok(())
}
