//! What an agent's database holds, as data: which tables are its sessions, and by which columns
//! their rows are found, ordered and known to have changed.
//!
//! Nothing here opens a database. Tables and columns that a file lacks are no error: agents add
//! them as they grow, and a file keeps those of the version that wrote it.

use std::collections::BTreeSet;

/// A database of many sessions.
#[derive(Debug, Clone, Copy)]
pub struct Database {
    /// The ways in which it stores a session. One that is stored in two of them is read from the
    /// first.
    pub layouts: &'static [Layout],
    /// JSON documents that say what its rows would say. The folder of many is read until a database
    /// beside it holds one of its sessions.
    pub documents: Option<&'static Documents>,
    /// Whether a session's own row says what it is called, where it ran and when: all by which a
    /// list finds and shows it, but what is counted of its entries.
    pub own_rows_name: bool,
}

/// Sessions in JSON documents: in a folder of many, one for what would be a row, and in files of
/// which each holds a session.
#[derive(Debug, Clone, Copy)]
pub struct Documents {
    /// The folder of many, below a root.
    pub folder: &'static str,
    /// The folder in it with those of sessions, `ANY/SESSION.json`.
    pub sessions: &'static str,
    /// The folder of what is in a session, `SESSION/ID.json`.
    pub outer: &'static str,
    /// The folder of what belongs to that, `ID OF OUTER/ID.json`.
    pub inner: &'static str,
    /// The line of the row that a document would be; `None`: it is not of a known shape.
    pub line: fn(&Document<'_>) -> Option<String>,
    /// What the lines of all inner documents repeat of the text of the one they belong to.
    pub repeats: fn(&str) -> String,
    /// The documents that a whole session in one file consists of; `None`: it is none.
    pub within: for<'d> fn(&'d str) -> Option<Whole<'d>>,
}

impl Documents {
    /// How files end that may hold a document.
    pub const END: &'static str = "json";
}

/// One document.
#[derive(Debug, Clone, Copy)]
pub struct Document<'d> {
    /// One of the folders of [`Documents`], `sessions`, `outer` or `inner`: what it would be a row
    /// of.
    pub of: &'static str,
    /// What it is called: its file's name without the end.
    pub name: &'d str,
    /// The session to which it belongs.
    pub session: &'d str,
    /// Its text.
    pub text: &'d str,
    /// The document which it belongs to, where it is an inner one: its name, and what is repeated
    /// of it, as [`Documents::repeats`] says.
    pub outer: Option<(&'d str, &'d str)>,
}

/// The documents of a session in one file.
#[derive(Debug, Clone, Default)]
pub struct Whole<'d> {
    /// The session's id.
    pub id: String,
    /// That of the session itself.
    pub session: &'d str,
    /// Outer ones, each with its inner ones.
    pub outer: Vec<(&'d str, Vec<&'d str>)>,
}

impl Database {
    /// Whether rows hold lines as their agent wrote them: what a row is called is not in its line
    /// then.
    pub fn holds_lines(&self) -> bool {
        let mut rows = self.layouts.iter().flat_map(|stored| stored.rows);
        rows.any(|table| table.line.is_some())
    }

    /// The folders in which files of it lie that its rows only name, as seen from its own.
    pub fn shelf_folders(&self) -> BTreeSet<&'static str> {
        let rows = self.layouts.iter().flat_map(|stored| stored.rows);
        let shelves = rows.flat_map(|table| table.shelves);
        shelves.filter_map(|shelf| Some(shelf.file?.0)).collect()
    }
}

/// One way in which sessions are stored: a table with a row for each, and tables of what is in
/// them.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
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
    /// The column of the session's own row which `session` names; `None`: the session's key.
    pub by: Option<&'static str>,
    /// Another table whose row of the session may have that column too: what that says comes first.
    pub by_row_of: Option<&'static Table>,
    /// The columns by which the rows of a session are in order.
    pub order: &'static [&'static str],
    /// The column that says when a row was changed, in ms since the epoch.
    pub changed: &'static str,
    /// How it shows that its rows are other ones.
    pub stamp: Stamp,
    /// Columns whose text is JSON.
    pub json: &'static [&'static str],
    /// Columns that say nothing of a session, some of them much.
    pub without: &'static [&'static str],
    /// The column whose text is the line of a row, as it stands.
    pub line: Option<Line>,
    /// Where all its rows of a session may be put away: the first place that has any counts.
    pub shelves: &'static [Shelf],
    /// The rows that belong to one of this table and follow it.
    pub inner: Option<Inner>,
    /// Which of its rows begin a turn: a long session is read on from the last one before which
    /// nothing has changed.
    pub turn: Option<Turn>,
}

impl Table {
    /// A table of which nothing more is to be said.
    pub const PLAIN: Table = Table {
        name: "",
        key: "",
        session: "",
        by: None,
        by_row_of: None,
        order: &[],
        changed: "",
        stamp: Stamp::Times,
        json: &[],
        without: &[],
        line: None,
        shelves: &[],
        inner: None,
        turn: None,
    };
}

/// What the rows that begin a turn say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The column.
    pub column: &'static str,
    /// The member of the JSON in that column; `None`: the column itself.
    pub member: Option<&'static str>,
    /// The text that stands there.
    pub text: &'static str,
}

/// How it shows that the rows of a session in a table are other ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// By their number, the greatest of their times of change and the sum of these.
    Times,
    /// By their number and the greatest of their keys, which are numbers: rows are added alone.
    Last,
    /// By all they say: they are few and short.
    Whole,
}

/// A column whose text is the line of a row, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The column.
    pub text: &'static str,
    /// The column in which that text stands compressed (zstd) where `text` is null, and the one
    /// with its length in bytes.
    pub packed: (&'static str, &'static str),
}

/// Rows of a session that its agent took out of their table and put away as one compressed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    /// The table with a row for each such text.
    pub table: &'static Table,
    /// The column with the text.
    pub blob: &'static str,
    /// The column that says `identity` where the text is not compressed (zstd).
    pub encoding: Option<&'static str>,
    /// Where the text is where it is not in the column: the folder, as seen from that of the
    /// database, and the column with the file's name.
    pub file: Option<(&'static str, &'static str)>,
    /// What the text is.
    pub holds: Holds,
}

/// What a text holds that stands for the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The line of each row.
    Lines,
    /// A line of JSON for each row: `{"kind":"event","row":{"seq":0,"event_json":"…"}}`. Those of
    /// other kinds are of other tables.
    Events,
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
#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    /// The table.
    pub table: &'static str,
    /// The column that names the session.
    pub session: &'static str,
    /// The column with the number.
    pub number: &'static str,
    /// What has each of these numbers.
    pub events: Option<Events>,
}

/// A table with a row for each change of a session.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    /// The table.
    pub table: &'static str,
    /// The column with what no other change has, in a copy of the database either.
    pub key: &'static str,
    /// The column that names the session.
    pub session: &'static str,
    /// The column with the number of the change.
    pub number: &'static str,
    /// The columns with its type, and with what it says.
    pub says: (&'static str, &'static str),
    /// What was changed, by what stands in these columns; `None`: that is not known.
    pub changed: fn(&str, &str) -> Option<Changed>,
}

/// What a change has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The session's own row.
    Session,
    /// The row of this key in the first table of the session, or one that belongs to it.
    Row(String),
}
