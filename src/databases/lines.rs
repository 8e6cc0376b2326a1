//! The lines that the rows of a session are, and which row each of them is.

use super::budget::Budget;
use super::one::row_name;
use super::turns::{Turn, Turns};
use super::write::on_one_line;

/// Lines under way.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub bytes: Vec<u8>,
    names: Vec<UnnamedLine>,
    pub turns: Turns,
    /// How much of what is compressed may still become lines.
    pub budget: Budget,
}

/// A line that does not say itself which row it is.
#[derive(Debug)]
struct UnnamedLine {
    start: u64,
    length: u64,
    row: Result<String, String>,
}

impl UnnamedLine {
    fn bytes<'l>(&self, lines: &'l [u8]) -> Option<&'l [u8]> {
        let start = usize::try_from(self.start).ok()?;
        lines.get(start..start.checked_add(usize::try_from(self.length).ok()?)?)
    }
}

impl Lines {
    /// Of all rows of a session of this number, or of its own and those from that turn on.
    pub fn from(turn: Option<&Turn>, number: (i64, Option<String>)) -> Lines {
        Lines {
            turns: Turns::from(turn, number),
            ..Lines::default()
        }
    }

    /// Add a line that says itself which row it is, `{"table":…`.
    pub fn add_row(&mut self, line: &str) {
        let line = on_one_line(line);
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }

    /// Add a line that says nothing but what its row holds.
    pub fn add(&mut self, line: &str, name: String) {
        self.push(line, Ok(name));
    }

    /// Add what cannot be read, as a line that says so.
    pub fn add_problem(&mut self, why: &str) {
        let why = on_one_line(why);
        self.push(&why, Err(why.clone().into_owned()));
    }

    /// How many were added by themselves.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// That one of those which were added by themselves.
    pub fn added(&self, number: usize) -> Option<&[u8]> {
        self.names.get(number)?.bytes(&self.bytes)
    }

    /// Whatever a database says, it is one line.
    fn push(&mut self, line: &str, row: Result<String, String>) {
        let line = on_one_line(line);
        self.names.push(UnnamedLine {
            start: self.bytes.len() as u64,
            length: line.len() as u64,
            row,
        });
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }

    /// What they are, how they are called, and where turns begin.
    pub fn into_parts(self) -> (Vec<u8>, RowNames, Turns) {
        (self.bytes, RowNames(self.names), self.turns)
    }
}

/// Which rows the lines of a session are.
#[derive(Debug, Default)]
pub struct RowNames(Vec<UnnamedLine>);

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
        let is_it = |named: &&UnnamedLine| named.row.as_deref() == Ok(name);
        self.0.iter().find(is_it)?.bytes(lines)
    }

    fn at(&self, start: u64) -> Option<&UnnamedLine> {
        let at = self.0.binary_search_by_key(&start, |named| named.start);
        self.0.get(at.ok()?)
    }
}
