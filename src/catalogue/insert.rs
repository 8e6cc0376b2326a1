//! Which rows do the entries of a chunk become? Their values, ready to be bound, table by table.
//!
//! They are made where the entries were read, on every core, and bound by the one writer: a few
//! long runs of bytes instead of a dozen texts an entry, which the writer would have to fetch from
//! another core's memory and free one by one.

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::write::EntryRow;

/// Rows that one statement inserts, where there are so many: finding the end of the table and
/// starting a statement cost as much as a row.
const ROWS_A_STATEMENT: usize = 16;

/// The rows of some entries of one source.
pub struct Inserts {
    tables: [Table; 6],
}

impl Inserts {
    /// The rows of `entries`.
    pub fn of(entries: &[EntryRow]) -> Inserts {
        let mut rows = Table::new("_entries", 14);
        let mut calls = Table::new("_calls", 8);
        let mut usage = Table::new("_usage", 15);
        let mut files = Table::new("_files", 4);
        let mut labels = Table::new("_labels", 3);
        let mut compactions = Table::new("_compactions", 3);
        for (at, entry) in entries.iter().enumerate() {
            let f = &entry.facts;
            rows.begin(at);
            rows.source();
            for place in [entry.start, entry.length, entry.line, entry.hash] {
                rows.integer(place as i64);
            }
            rows.text(f.kind.as_str());
            for text in [&f.role, &f.id, &f.parent] {
                rows.text(text.as_deref());
            }
            rows.integer(f.time_ms);
            rows.integer(i64::from(f.agent_sees));
            rows.integer(entry.flags);
            rows.text(f.stop_reason.as_deref());
            for (ordinal, call) in f.calls.iter().enumerate() {
                calls.begin(at);
                calls.integer(ordinal as i64);
                calls.text(call.call_id.as_deref());
                calls.text(call.tool.as_deref());
                calls.integer(i64::from(call.is_result));
                calls.integer(call.is_error.map(i64::from));
                calls.text(call.subject.as_deref());
                calls.integer(call.duration_ms);
            }
            if let Some(u) = &f.usage {
                usage.begin(at);
                for text in [&u.provider, &u.model, &u.response_id] {
                    usage.text(text.as_deref());
                }
                for tokens in [
                    u.input,
                    u.output,
                    u.cache_read,
                    u.cache_write,
                    u.reasoning,
                    u.total,
                ] {
                    usage.integer(tokens);
                }
                for cost in [
                    u.cost_input,
                    u.cost_output,
                    u.cost_cache_read,
                    u.cost_cache_write,
                    u.cost_total,
                ] {
                    usage.real(cost);
                }
            }
            for (ordinal, file) in f.files.iter().enumerate() {
                files.begin(at);
                files.integer(ordinal as i64);
                files.text(file.path.as_str());
                files.integer(i64::from(file.modified));
            }
            if let Some(label) = &f.label {
                labels.begin(at);
                labels.text(label.target.as_str());
                labels.text(label.text.as_deref());
            }
            if let Some(compaction) = &f.compaction {
                compactions.begin(at);
                compactions.text(compaction.first_kept.as_deref());
                compactions.integer(compaction.tokens_before);
            }
        }
        Inserts {
            tables: [rows, calls, usage, files, labels, compactions],
        }
    }

    /// Insert them: `first` is the key of the first entry.
    pub(super) fn run(&self, to: &Connection, first: i64, source: i64) -> rusqlite::Result<()> {
        self.tables
            .iter()
            .try_for_each(|table| table.run(to, first, source))
    }
}

/// Values of one table's rows, one after the other: a tag, then eight bytes, or the length and a text.
struct Table {
    name: &'static str,
    columns: usize,
    rows: usize,
    values: Vec<u8>,
}

/// Tags of values.
mod tag {
    pub const NULL: u8 = 0;
    pub const INTEGER: u8 = 1;
    pub const REAL: u8 = 2;
    pub const TEXT: u8 = 3;
    /// How many entries after the chunk's first.
    pub const KEY: u8 = 4;
    pub const SOURCE: u8 = 5;
}

impl Table {
    fn new(name: &'static str, columns: usize) -> Table {
        Table {
            name,
            columns,
            rows: 0,
            values: Vec::new(),
        }
    }

    /// The next row, which begins with the key of the entry at `at`.
    fn begin(&mut self, at: usize) {
        self.rows += 1;
        self.tagged(tag::KEY, at as u64);
    }

    fn source(&mut self) {
        self.tagged(tag::SOURCE, 0);
    }

    fn integer(&mut self, value: impl Into<Option<i64>>) {
        match value.into() {
            Some(value) => self.tagged(tag::INTEGER, value as u64),
            None => self.tagged(tag::NULL, 0),
        }
    }

    fn real(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.tagged(tag::REAL, value.to_bits()),
            None => self.tagged(tag::NULL, 0),
        }
    }

    fn text<'v>(&mut self, value: impl Into<Option<&'v str>>) {
        match value.into() {
            Some(text) => {
                self.tagged(tag::TEXT, text.len() as u64);
                self.values.extend_from_slice(text.as_bytes());
            }
            None => self.tagged(tag::NULL, 0),
        }
    }

    fn tagged(&mut self, tag: u8, word: u64) {
        self.values.push(tag);
        self.values.extend_from_slice(&word.to_le_bytes());
    }

    fn run(&self, to: &Connection, first: i64, source: i64) -> rusqlite::Result<()> {
        let mut values = Values {
            rest: &self.values,
            first,
            source,
        };
        let (mut many, mut one) = (None, None);
        let mut left = self.rows;
        while left > 0 {
            let (statement, rows) = if left >= ROWS_A_STATEMENT {
                (&mut many, ROWS_A_STATEMENT)
            } else {
                (&mut one, 1)
            };
            let statement = match statement {
                Some(open) => open,
                None => statement.insert(to.prepare_cached(&self.sql(rows))?),
            };
            for parameter in 1..=rows * self.columns {
                let value = values.next().unwrap_or(ValueRef::Null);
                statement.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))?;
            }
            statement.raw_execute()?;
            left -= rows;
        }
        Ok(())
    }

    /// `OR FAIL`: what a failed statement has inserted need not be undone by itself, because the
    /// whole transaction is; so SQLite keeps no journal of each statement.
    fn sql(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        let rows = vec![row; rows].join(",");
        format!("INSERT OR FAIL INTO {} VALUES {rows}", self.name)
    }
}

/// The values of a table in order.
struct Values<'t> {
    rest: &'t [u8],
    first: i64,
    source: i64,
}

impl<'t> Iterator for Values<'t> {
    type Item = ValueRef<'t>;

    fn next(&mut self) -> Option<ValueRef<'t>> {
        let (tag, rest) = self.rest.split_first()?;
        let (word, rest) = rest.split_first_chunk()?;
        self.rest = rest;
        let word = u64::from_le_bytes(*word);
        Some(match *tag {
            tag::INTEGER => ValueRef::Integer(word as i64),
            tag::REAL => ValueRef::Real(f64::from_bits(word)),
            tag::TEXT => {
                let (text, rest) = rest.split_at_checked(word as usize)?;
                self.rest = rest;
                ValueRef::Text(text)
            }
            tag::KEY => ValueRef::Integer(self.first + word as i64),
            tag::SOURCE => ValueRef::Integer(self.source),
            _ => ValueRef::Null,
        })
    }
}
