//! The lines that the rows of a session are, and which row each of them is.

use super::one::row_name;

/// Lines under way.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub bytes: Vec<u8>,
    names: Vec<Named>,
}

/// A line that does not say itself which row it is.
#[derive(Debug)]
struct Named {
    start: u64,
    length: u64,
    row: Result<String, String>,
}

impl Lines {
    /// Add a line that says nothing but what its row holds.
    pub fn add(&mut self, line: &str, name: String) {
        self.push(line, Ok(name));
    }

    /// Add what cannot be read, as a line that says so.
    pub fn add_problem(&mut self, why: &str) {
        self.push(why, Err(why.to_owned()));
    }

    fn push(&mut self, line: &str, row: Result<String, String>) {
        self.names.push(Named {
            start: self.bytes.len() as u64,
            length: line.len() as u64,
            row,
        });
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }

    /// What they are, and how they are called.
    pub fn into_parts(self) -> (Vec<u8>, RowNames) {
        (self.bytes, RowNames(self.names))
    }
}

/// Which rows the lines of a session are.
#[derive(Debug, Default)]
pub struct RowNames(Vec<Named>);

impl RowNames {
    /// Which row the entry with these bytes is, which begins there, `table:key`; `None`: it is only
    /// a part of a row.
    pub fn of(&self, start: u64, entry: &[u8]) -> Option<String> {
        match self.at(start) {
            Some(named) => {
                let name = named.row.as_ref().ok();
                name.filter(|_| named.length == entry.len() as u64).cloned()
            }
            None => row_name(entry),
        }
    }

    /// Why the row whose line begins there could not be read.
    pub fn problem(&self, start: u64) -> Option<&str> {
        self.at(start)?.row.as_ref().err().map(String::as_str)
    }

    /// The line of the row of that name.
    pub fn line<'l>(&self, name: &str, lines: &'l [u8]) -> Option<&'l [u8]> {
        let is_it = |named: &&Named| named.row.as_deref() == Ok(name);
        let named = self.0.iter().find(is_it)?;
        let start = usize::try_from(named.start).ok()?;
        lines.get(start..start.checked_add(usize::try_from(named.length).ok()?)?)
    }

    fn at(&self, start: u64) -> Option<&Named> {
        let at = self.0.binary_search_by_key(&start, |named| named.start);
        self.0.get(at.ok()?)
    }
}
