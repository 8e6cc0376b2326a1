//! What an agent's database holds, as data: which tables are its sessions, and by which columns
//! their rows are found, ordered and known to have changed.
//!
//! Nothing here opens a database. Tables and columns that a file lacks are no error: agents add
//! them as they grow, and a file keeps those of the version that wrote it.

/// A database of many sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Database {
    /// The ways in which it stores a session. One that is stored in two of them is read from the
    /// first.
    pub generations: &'static [Generation],
}

/// One way in which sessions are stored: a table with a row for each, and tables of what is in
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// A row for each session.
    pub sessions: Table,
    /// The rows of a session, table after table.
    pub rows: &'static [Table],
    /// A table with a number for each session that grows with every change of it.
    pub sequence: Option<Sequence>,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The column that tells its rows apart.
    pub key: &'static str,
    /// The column that names the session of a row.
    pub session: &'static str,
    /// The columns by which the rows of a session are in order.
    pub order: &'static [&'static str],
    /// The column that says when a row was changed, in ms since the epoch.
    pub changed: &'static str,
    /// Columns whose text is JSON.
    pub json: &'static [&'static str],
    /// The rows that belong to one of this table and follow it.
    pub inner: Option<Inner>,
}

/// Rows that belong to a row of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inner {
    /// Their table.
    pub table: &'static Table,
    /// The column that names the row which they belong to.
    pub outer: &'static str,
    /// A member of a JSON column of that row which their own lines repeat, because they say nothing
    /// without it: `(column, member)`.
    pub repeats: (&'static str, &'static str),
}

/// A number for each session that grows with every change of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    /// The table.
    pub table: &'static str,
    /// The column that names the session.
    pub session: &'static str,
    /// The column with the number.
    pub number: &'static str,
}
