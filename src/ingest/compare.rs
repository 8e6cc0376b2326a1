//! One source read anew, as if never seen, and held against its rows.

use std::path::Path;

use super::passages::passages;
use super::plan::Plan;
use super::reading::{Cost, read_source};
use crate::catalogue::entries::{Children, EntriesOfSource, StoredEntry};
use crate::catalogue::read::{Known, ProblemsOfSource};
use crate::catalogue::write::{Chunk, EntryRow, flag};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::model::{Class, Part};
use crate::source::identity::Identity;
use crate::source::place::Places;

/// What the comparison found.
#[derive(Default)]
pub struct Comparison {
    /// Bytes read.
    pub bytes_read: u64,
    /// Entries in the file.
    pub entries: u64,
    /// The passages that the words must have, by key.
    pub passages: Vec<(u64, Class)>,
    /// What differs.
    pub differences: Vec<String>,
    /// Why the file could not be read, though it is there.
    pub unread: Option<String>,
}

/// Read `path` and compare it with what is stored of it: chunk by chunk, so that memory does not grow with the file.
pub fn compare_source(
    catalogue: &Catalogue,
    root: i64,
    path: &Path,
    known: &Known,
    format: &dyn Format,
) -> Result<Comparison, Error> {
    let plan = Plan {
        root,
        path: path.to_path_buf(),
        relative: &known.relative,
        place: &known.relative,
        part: Part::Main,
        unlisted: known.unlisted.clone(),
        format,
        known: None,
        checkpoint: None,
        size: 0,
        mtime_ns: 0,
    };
    let mut comparing = Comparing {
        catalogue,
        path,
        known,
        format,
        rows: catalogue.each_entry_of_source(known.source)?,
        row_count: 0,
        problems: catalogue.problems(known.source),
        problem_count: 0,
        problem_rows: 0,
        problems_differ: false,
        gaps: None,
        records: None,
        tiled: Some(0),
        last: None,
        result: Comparison::default(),
    };
    let (mut cost, mut compared) = (Cost::default(), Ok(()));
    let read = read_source(&plan, None, &mut Vec::new(), &mut cost, &mut |chunk, _| {
        if compared.is_ok() {
            compared = comparing.take(chunk);
        }
    });
    if let Err(error) = read {
        let mut result = Comparison::default();
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                result.differences.push(format!("cannot be read: {error}"));
            }
            _ => result.unread = Some(error.to_string()),
        }
        return Ok(result);
    }
    compared?;
    comparing.result.bytes_read = cost.bytes_read;
    comparing.end()
}

/// A source on its way through the comparison.
struct Comparing<'c> {
    catalogue: &'c Catalogue,
    path: &'c Path,
    known: &'c Known,
    format: &'c dyn Format,
    rows: EntriesOfSource<'c>,
    row_count: u64,
    problems: ProblemsOfSource<'c>,
    problem_count: u64,
    problem_rows: u64,
    problems_differ: bool,
    /// The file, to see what stands between entries.
    gaps: Option<Places>,
    /// The file, to see what entries say.
    records: Option<Places>,
    /// Up to which byte entries, problems and separators tile the file; `None`: they do not.
    tiled: Option<u64>,
    /// The last chunk, without its entries.
    last: Option<Chunk<Vec<EntryRow>>>,
    result: Comparison,
}

impl Comparing<'_> {
    fn take(&mut self, mut chunk: Chunk<Vec<EntryRow>>) -> Result<(), Error> {
        let entries = std::mem::take(&mut chunk.entries);
        let problems = std::mem::take(&mut chunk.problems);
        let entry_ranges = entries.iter().map(|e| (e.start, e.length));
        let problem_ranges = problems.iter().map(|p| (p.start, p.length));
        let mut ranges: Vec<(u64, u64)> = entry_ranges.chain(problem_ranges).collect();
        ranges.sort_unstable();
        for (start, length) in ranges {
            self.tile(start, length);
        }
        for entry in &entries {
            self.result.entries += 1;
            if let Some(row) = self.rows.next()? {
                self.entry(&row, entry)?;
                self.row(&row);
            }
        }
        for problem in &problems {
            self.problem_count += 1;
            let row = self.problems.next()?;
            self.problem_rows += u64::from(row.is_some());
            self.problems_differ |= row.is_none_or(|row| {
                (row.start, row.length, row.provisional, &row.reason)
                    != (
                        problem.start,
                        problem.length,
                        problem.provisional,
                        &problem.reason,
                    )
            });
        }
        self.last = Some(chunk);
        Ok(())
    }

    /// What is told of a part of the file follows what was told before, with nothing but blanks between.
    fn tile(&mut self, start: u64, length: u64) {
        let Some(at) = self.tiled else {
            return;
        };
        if self.gaps.is_none() {
            self.gaps = Places::open(self.path).ok();
        }
        // A file that cannot be read any more is told when it is read next.
        let Some(file) = &mut self.gaps else {
            return;
        };
        let end = start.checked_add(length).filter(|end| file.holds(*end));
        self.tiled = end.filter(|_| at <= start);
        if self.tiled.is_none() {
            self.result.differences.push(format!(
                "byte {start} is accounted for twice, or not in the file"
            ));
            return;
        }
        let gap = file.bytes(at, start - at).ok().flatten();
        let is_blank = gap.is_none_or(|gap| {
            String::from_utf8_lossy(gap)
                .chars()
                .all(|c| crate::format::json::trim(c.encode_utf8(&mut [0; 4])).is_empty())
        });
        if !is_blank {
            self.result.differences.push(format!(
                "bytes {at} to {start} are accounted for by nothing"
            ));
        }
    }

    fn entry(&mut self, row: &StoredEntry, entry: &EntryRow) -> Result<(), Error> {
        let f = &entry.facts;
        let equal = row.start == entry.start
            && row.length == entry.length
            && row.line == entry.line
            && row.hash == entry.hash
            && row.kind == f.kind
            && row.role == f.role
            && row.id == f.id
            && row.parent == f.parent
            && row.time_ms == f.time_ms
            && row.taken_ms == entry.taken_ms
            && row.agent_sees == f.agent_sees
            && row.flags == entry.flags
            && row.stop_reason == f.stop_reason;
        if !equal {
            self.result.differences.push(format!(
                "line {}: the row differs from the entry at byte {}",
                entry.line, entry.start
            ));
        }
        if self.catalogue.children(row.key)? != Children::of(f) {
            self.result.differences.push(format!(
                "line {}: calls, usage, files, label, compaction or run differ",
                entry.line
            ));
        }
        Ok(())
    }

    /// The passages of what stands where a row says.
    fn row(&mut self, row: &StoredEntry) {
        self.row_count += 1;
        if row.flags & flag::PROVISIONAL != 0 {
            return;
        }
        if self.records.is_none() {
            self.records = Places::open(self.path).ok();
        }
        let file = self.records.as_mut();
        let record = file.and_then(|file| file.bytes(row.start, row.length).ok().flatten());
        let told = (row.flags, row.stop_reason.is_some());
        let passages = record.map(|record| passages(self.format, self.path, record, told));
        let passages = passages.into_iter().flatten();
        let keys = passages.map(|p| (row.key as u64, p.class));
        self.result.passages.extend(keys);
    }

    fn end(mut self) -> Result<Comparison, Error> {
        while let Some(row) = self.rows.next()? {
            self.row(&row);
        }
        if let Ok(whole) = std::fs::metadata(self.path) {
            self.tile(whole.len(), 0);
        }
        let at = |identity: Identity| Identity {
            ctime_ns: 0,
            ..identity
        };
        let observed = self.last.as_ref().map(|last| last.identity);
        let same = at(observed.unwrap_or_default()) == at(self.known.stored.identity);
        let (entries, rows) = (self.result.entries, self.row_count);
        if rows != entries {
            let when = if same {
                ""
            } else {
                " (the file changed since the last sync)"
            };
            let what = format!("{entries} entries in the file, {rows} rows{when}");
            self.result.differences.push(what);
        }
        while self.problems.next()?.is_some() {
            self.problem_rows += 1;
        }
        let (problems, rows) = (self.problem_count, self.problem_rows);
        if self.problems_differ || problems != rows {
            let what = format!("{problems} problems in the file, {rows} rows, or others");
            self.result.differences.push(what);
        }
        if let Some(last) = &self.last {
            let fold = serde_json::to_string(&last.fold).unwrap_or_default();
            let checkpoint = self.catalogue.checkpoint(self.known.source)?;
            if checkpoint.as_ref().is_none_or(|c| c.fold != fold) {
                self.result
                    .differences
                    .push("the saved fold differs".into());
            }
            if last.consumed != self.known.stored.consumed
                || checkpoint.is_none_or(|c| c.proof != last.proof)
            {
                self.result
                    .differences
                    .push("the checkpoint differs".into());
            }
            let session =
                self.catalogue
                    .session_differs(self.known.source, self.format, &last.shown)?;
            self.result.differences.extend(session);
        }
        if !same && self.row_count != entries {
            self.result.passages.clear();
        }
        Ok(self.result)
    }
}
