//! Which tables and columns of an agent's database are there?

use rusqlite::Connection;

use crate::format::database::Table;

/// The columns of a table in its order; none where there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut info = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    info.query_map([table], |row| row.get(0))?.collect()
}

/// A table as it is in one database.
pub(super) struct Present {
    pub table: &'static Table,
    /// Its columns, in its order.
    pub columns: Vec<String>,
}

impl Present {
    /// `None`: it is not there, or without the columns by which its rows are found.
    pub fn of(connection: &Connection, table: &'static Table) -> rusqlite::Result<Option<Present>> {
        let columns = columns(connection, table.name)?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        let is_there = has(table.key) && has(table.session);
        Ok(is_there.then_some(Present { table, columns }))
    }

    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own == column)
    }

    /// Its columns, as a statement names them.
    pub fn named(&self) -> String {
        let quoted: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        quoted.join(", ")
    }

    /// The order of its rows, as a statement names it.
    pub fn order(&self) -> String {
        let known = self.table.order.iter().filter(|name| self.has(name));
        let columns: Vec<String> = known
            .chain([&self.table.key])
            .map(|name| quoted(name))
            .collect();
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

/// A name in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
