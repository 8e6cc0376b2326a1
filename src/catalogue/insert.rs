//! Which rows do the entries of a chunk become? Their values, ready to be bound, table by table.
//!
//! They are made where the entries were read, on every core, and bound by the one writer: a few
//! long runs of values instead of a dozen texts an entry, which the writer would have to fetch from
//! another core's memory and free one by one.

use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::answered::NEAR;
use super::counted::Answers;
use super::usage_row::UsageRow;
use super::usage_row::counted::{CALLS_ALONE, YES};
use super::write::{Entries, EntryRow, flag};
use crate::model::Call;

/// Bytes of entries that one outbox row stands for, about: batches are made of whole rows.
pub(super) const OUTBOX_BYTES: i64 = 2 << 20;

/// The rows of some entries of one source.
pub struct EntryRows {
    count: i64,
    entries: Table,
    calls: Table,
    usage: Table,
    files: Table,
    labels: Table,
    compactions: Table,
    runs: Table,
    outbox: Vec<OutboxSpan>,
    /// Calls without an answer so far, by their ids.
    unanswered: HashMap<String, Vec<OpenCall>>,
    answers: Answers,
}

/// A call without an answer so far.
struct OpenCall {
    /// Place of its entry in the chunk.
    at: i64,
    /// Where these values of its row stand.
    is_error: usize,
    duration_ms: usize,
    is_timed: bool,
    answer: usize,
}

/// What one outbox row stands for: first and last entry by their place in the chunk, and their
/// bytes.
pub(super) struct OutboxSpan {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) bytes: i64,
}

impl Default for EntryRows {
    fn default() -> EntryRows {
        EntryRows {
            count: 0,
            entries: Table::new("_entries", 16),
            calls: Table::new("_calls", 9),
            usage: Table::new("_usage", 19),
            files: Table::new("_files", 4),
            labels: Table::new("_labels", 3),
            compactions: Table::new("_compactions", 4),
            runs: Table::new("_runs", 4),
            outbox: Vec::new(),
            unanswered: HashMap::new(),
            answers: Answers::default(),
        }
    }
}

impl Entries for EntryRows {
    fn add(&mut self, entry: EntryRow) {
        let at = self.count;
        self.count += 1;
        self.queue(at, &entry);
        let f = &entry.facts;
        let row = self.entries.row(at);
        row.source();
        for place in [entry.start, entry.length, entry.line, entry.hash] {
            row.integer(place as i64);
        }
        row.text(f.kind.as_str());
        for text in [&f.role, &f.id, &f.parent] {
            row.text(text.as_deref());
        }
        row.integer(f.time_ms);
        row.integer(i64::from(f.agent_sees));
        row.integer(entry.flags);
        row.text(f.stop_reason.as_deref());
        row.integer(entry.taken_ms);
        row.text(entry.row.as_deref());
        for (ordinal, call) in (0..).zip(&f.calls) {
            self.call(at, ordinal, call);
        }
        for result in f.calls.iter().filter(|call| call.is_result) {
            self.answer(at, result);
        }
        if let Some(counted) = UsageRow::of(&entry) {
            self.usage(at, &counted);
        }
        for (ordinal, file) in (0..).zip(&f.files) {
            let row = self.files.row(at);
            row.integer(ordinal);
            row.text(file.path.as_str());
            row.integer(i64::from(file.modified));
        }
        if let Some(label) = &f.label {
            let row = self.labels.row(at);
            row.text(label.target.as_str());
            row.text(label.text.as_deref());
        }
        if let Some(compaction) = &f.compaction {
            let row = self.compactions.row(at);
            row.text(compaction.first_kept.as_deref());
            row.integer(compaction.tokens_before);
            row.integer(compaction.first_kept_index);
        }
        if let Some(run) = &f.run {
            let row = self.runs.row(at);
            row.integer(run.turns);
            row.real(run.cost);
            row.integer(run.duration_ms);
        }
    }

    fn bytes(&self) -> usize {
        self.tables().into_iter().map(Table::bytes).sum()
    }
}

impl EntryRows {
    /// How many entries there are.
    pub fn count(&self) -> i64 {
        self.count
    }

    fn usage(&mut self, at: i64, counted: &UsageRow<'_>) {
        let row = self.usage.row(at);
        let u = &counted.usage;
        row.integer(counted.what);
        let place = row.next();
        row.integer(YES);
        row.integer(counted.time_ms);
        row.text(u.model.as_deref());
        row.integer(u.input);
        row.integer(u.output);
        row.integer(u.cache_read);
        row.integer(u.cache_write);
        row.integer(u.total);
        row.real(u.cost_total);
        row.integer(u.reasoning);
        row.text(u.provider.as_deref());
        row.text(u.response_id.as_deref());
        row.real(u.cost_input);
        row.real(u.cost_output);
        row.real(u.cost_cache_read);
        row.real(u.cost_cache_write);
        row.integer(counted.said);
        if let Some(place) = self.answers.add(counted, place) {
            self.usage.cells[place] = Cell::Integer(CALLS_ALONE);
        }
    }

    fn call(&mut self, at: i64, ordinal: i64, call: &Call) {
        let row = self.calls.row(at);
        row.integer(ordinal);
        row.text(call.call_id.as_deref());
        row.text(call.tool.as_deref());
        row.integer(i64::from(call.is_result));
        let is_error = row.next();
        row.integer(call.is_error.map(i64::from));
        row.text(call.subject.as_deref());
        let duration_ms = row.next();
        row.integer(call.duration_ms);
        let answer = row.next();
        row.integer(None);
        if let (Some(id), false, None) = (&call.call_id, call.is_result, call.is_error) {
            let unanswered = OpenCall {
                at,
                is_error,
                duration_ms,
                is_timed: call.duration_ms.is_some(),
                answer,
            };
            let of_id = self.unanswered.entry(id.clone()).or_default();
            of_id.push(unanswered);
        }
    }

    /// Calls of this chunk have what their answer says. Those of earlier ones get it when the rows
    /// are in.
    fn answer(&mut self, at: i64, result: &Call) {
        let Some(id) = &result.call_id else {
            return;
        };
        for call in self.unanswered.remove(id).unwrap_or_default() {
            if at - call.at > NEAR {
                continue;
            }
            self.calls.cells[call.answer] = Cell::Key(at);
            if let Some(is_error) = result.is_error {
                self.calls.cells[call.is_error] = Cell::Integer(is_error.into());
            }
            if let (Some(duration), false) = (result.duration_ms, call.is_timed) {
                self.calls.cells[call.duration_ms] = Cell::Integer(duration);
            }
        }
    }

    /// What goes into the outbox. A provisional entry does not.
    pub(super) fn outbox(&self) -> &[OutboxSpan] {
        &self.outbox
    }

    fn tables(&self) -> [&Table; 7] {
        [
            &self.entries,
            &self.calls,
            &self.usage,
            &self.files,
            &self.labels,
            &self.compactions,
            &self.runs,
        ]
    }

    fn queue(&mut self, at: i64, entry: &EntryRow) {
        if entry.flags & flag::PROVISIONAL != 0 {
            return;
        }
        let bytes = entry.length as i64;
        match self.outbox.last_mut() {
            Some(run) if run.bytes + bytes <= OUTBOX_BYTES => {
                run.last = at;
                run.bytes += bytes;
            }
            _ => self.outbox.push(OutboxSpan {
                first: at,
                last: at,
                bytes,
            }),
        }
    }

    /// Insert them: `first` is the key of the first entry.
    pub(super) fn run(&self, to: &Connection, first: i64, source: i64) -> rusqlite::Result<()> {
        self.tables()
            .iter()
            .try_for_each(|table| table.run(to, first, source))
    }
}

/// Rows of one table, one after the other.
struct Table {
    name: &'static str,
    columns: usize,
    cells: Vec<Cell>,
    /// All texts of the cells, one after the other.
    texts: String,
}

/// One value of a row.
#[derive(Clone, Copy)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    /// So many bytes of the texts.
    Text(usize),
    /// The key of an entry: how many entries after the chunk's first.
    Key(i64),
    Source,
}

impl Table {
    fn new(name: &'static str, columns: usize) -> Table {
        Table {
            name,
            columns,
            cells: Vec::new(),
            texts: String::new(),
        }
    }

    /// Bytes of memory it takes, about.
    fn bytes(&self) -> usize {
        size_of_val(&*self.cells) + self.texts.len()
    }

    /// The next row, which begins with the key of the entry at `at`.
    fn row(&mut self, at: i64) -> &mut Table {
        self.cells.push(Cell::Key(at));
        self
    }

    fn source(&mut self) {
        self.cells.push(Cell::Source);
    }

    fn integer(&mut self, value: impl Into<Option<i64>>) {
        let cell = value.into().map_or(Cell::Null, Cell::Integer);
        self.cells.push(cell);
    }

    fn real(&mut self, value: Option<f64>) {
        self.cells.push(value.map_or(Cell::Null, Cell::Real));
    }

    fn text<'v>(&mut self, value: impl Into<Option<&'v str>>) {
        let text = value.into();
        self.texts.push_str(text.unwrap_or_default());
        let cell = text.map_or(Cell::Null, |text| Cell::Text(text.len()));
        self.cells.push(cell);
    }

    /// Where the next value will stand.
    fn next(&self) -> usize {
        self.cells.len()
    }

    /// Row by row: a statement of many rows may have to be undone by itself, so SQLite copies each
    /// page before it changes, which takes as long as starting a statement for each row.
    fn run(&self, to: &Connection, first: i64, source: i64) -> rusqlite::Result<()> {
        if self.cells.is_empty() {
            return Ok(());
        }
        let marks = vec!["?"; self.columns].join(",");
        let insert = format!("INSERT INTO {} VALUES ({marks})", self.name);
        let mut statement = to.prepare_cached(&insert)?;
        let mut texts = self.texts.as_bytes();
        for row in self.cells.chunks_exact(self.columns) {
            for (parameter, cell) in (1..).zip(row) {
                let value = match *cell {
                    Cell::Null => ValueRef::Null,
                    Cell::Integer(number) => ValueRef::Integer(number),
                    Cell::Real(number) => ValueRef::Real(number),
                    Cell::Text(length) => {
                        let (text, rest) = texts.split_at(length);
                        texts = rest;
                        ValueRef::Text(text)
                    }
                    Cell::Key(after) => ValueRef::Integer(first + after),
                    Cell::Source => ValueRef::Integer(source),
                };
                statement.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}
