//! Which tables and columns of an agent's database are there?

use rusqlite::Connection;
use serde_json::Value;

use crate::format::database::{Layout, Table};

/// The columns of a table in its order; none where there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut info = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    info.query_map([table], |row| row.get(0))?.collect()
}

/// A table as it is in one database.
pub(super) struct Present {
    pub table: &'static Table,
    /// Its columns that are read, in its order.
    pub columns: Vec<String>,
    /// Each of them as the name of a member in a line.
    pub members: Vec<String>,
    /// How a statement finds the rows of the session whose key is `?1`.
    pub of_session: String,
}

impl Present {
    /// `None`: it is not there, or without the columns by which its rows are found.
    pub fn of(
        connection: &Connection,
        table: &'static Table,
        layout: &'static Layout,
    ) -> rusqlite::Result<Option<Present>> {
        let mut columns = columns(connection, table.name)?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        if !has(table.key) || !has(table.session) {
            return Ok(None);
        }
        let Some(session) = key_of(connection, table, &layout.sessions)? else {
            return Ok(None);
        };
        columns.retain(|column| !table.without.contains(&column.as_str()));
        let member = |name: &String| format!("{}:", Value::from(&**name));
        Ok(Some(Present {
            table,
            members: columns.iter().map(member).collect(),
            columns,
            of_session: format!("{} = {session}", quoted(table.session)),
        }))
    }

    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own == column)
    }

    /// Its columns, as a statement names them.
    pub fn named(&self) -> String {
        let quoted: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        quoted.join(", ")
    }

    /// The order of its rows, as a statement names it: each column once, for SQLite sorts rows by
    /// itself where one is named twice, whatever index there is.
    pub fn order(&self) -> String {
        let key = self.table.key;
        let known = self.table.order.iter().filter(|name| **name != key);
        let known = known.filter(|name| self.has(name));
        let columns: Vec<String> = known.chain([&key]).map(|name| quoted(name)).collect();
        columns.join(", ")
    }

    /// The time of a row's change, as a statement names it.
    pub fn changed(&self) -> String {
        match self.has(self.table.changed) {
            true => quoted(self.table.changed),
            false => "0".to_owned(),
        }
    }
}

/// What names the session whose key is `?1` in this table, as a statement says it; `None`: what
/// `sessions` would have to say for that is not there.
fn key_of(
    connection: &Connection,
    table: &Table,
    sessions: &Table,
) -> rusqlite::Result<Option<String>> {
    let Some(by) = table.by else {
        return Ok(Some("?1".to_owned()));
    };
    let said = |of: &Table, key: &str| {
        let is_there = columns(connection, of.name)?
            .iter()
            .any(|column| column == by);
        Ok::<_, rusqlite::Error>(is_there.then(|| {
            let (name, session) = (quoted(of.name), quoted(of.session));
            format!(
                "(SELECT {} FROM {name} WHERE {session} = {key})",
                quoted(by)
            )
        }))
    };
    let own = said(sessions, "?1")?;
    let first = match table.by_row_of {
        Some(of) => match key_of(connection, of, sessions)? {
            Some(key) => said(of, &key)?,
            None => None,
        },
        None => None,
    };
    Ok(match (first, own) {
        (Some(first), Some(own)) => Some(format!("coalesce({first}, {own})")),
        (first, own) => first.or(own),
    })
}

/// A name in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
