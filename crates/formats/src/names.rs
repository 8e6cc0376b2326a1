//! Files beside a root in which an agent keeps what its sessions are called, as data.
//!
//! Nothing here opens a file. What such a file says of a session is a source of that session, of
//! one line: `{"table":T,"key":ID,"row":{"name":N,"is_pinned":true}}`. Its path is the file's with
//! the session's id below it.

/// Where names are kept. All of it lies in the folder above the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// How the name of a database begins and ends; between them is a number, and of several the
    /// one with the highest counts.
    pub database: (&'static str, &'static str),
    /// Its table.
    pub table: NamesTable,
    /// A file of lines, each of which names a session anew.
    pub lines: NamesFile,
}

/// A table with a row for each session. Columns that it lacks are no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesTable {
    /// Its name.
    pub name: &'static str,
    /// The session's id.
    pub key: &'static str,
    /// The name that was given to it.
    pub given: &'static str,
    /// Its title, and the message of which agents make one: a title that is no other text is no
    /// name.
    pub title: (&'static str, &'static str),
    /// A column and its value in the rows of sessions whose title is never a name.
    pub untitled: (&'static str, &'static str),
    /// Whether the session is pinned.
    pub pinned: &'static str,
}

/// A file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesFile {
    /// Its name.
    pub name: &'static str,
    /// What stands for a table in the lines that are made of it.
    pub table: &'static str,
    /// The member that holds the session's id.
    pub key: &'static str,
    /// The member that holds its name. An empty one says nothing.
    pub given: &'static str,
}

impl Names {
    /// The number in the name of a database of names; `None`: it is no such name.
    pub fn number_of(&self, file: &str) -> Option<u64> {
        let (begin, end) = self.database;
        file.strip_prefix(begin)?.strip_suffix(end)?.parse().ok()
    }

    /// Whether a file of that name holds names.
    pub fn is_one(&self, file: &str) -> bool {
        file == self.lines.name || self.number_of(file).is_some()
    }
}
