//! One source read anew, as if never seen, and held against its rows.
//!
//! The bytes that were catalogued are told by their proof. While it holds, whatever was written
//! behind them, the rows must say what these bytes say. No transaction is open while the file is
//! read: that none of the rows was replaced meanwhile is told by the state of the source before and
//! after, and what differs is looked at again.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::passages::passages;
use super::plan::SourcePlan;
use super::reading::{Cost, read_once};
use crate::catalogue::entries::{Children, EntriesOfSource, StoredEntry};
use crate::catalogue::read::{ProblemsOfSource, SourceState};
use crate::catalogue::write::{Chunk, EntryRow, flag};
use crate::catalogue::{Catalogue, Error};
use crate::format::{Format, Shape};
use crate::model::{Class, SourcePart};
use crate::source::checkpoint::hash;
use crate::source::identity::Identity;
use crate::source::place::RangeReader;

/// How often a source is looked at that differs: twice if nobody writes meanwhile.
const LOOKS: usize = 4;

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The rows say what the file says.
    Equal,
    /// The file was written since it was catalogued, or somebody writes what is stored of it.
    Behind(String),
    /// Where bytes were catalogued other ones stand now.
    OtherBytes,
    /// The rows say something else than the bytes that were catalogued.
    Differs(String),
    /// The file could not be read, though it is there.
    Unread(String),
}

/// A passage that the words must have.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct ExpectedPassage {
    pub key: u64,
    pub class: Class,
    /// Whether a tool answers in its entry.
    pub answers: bool,
}

/// A source as compared with what is stored of it.
pub struct Comparison {
    /// What came of it.
    pub finding: Finding,
    /// Its number; `None` when it is in the catalogue no more.
    pub source: Option<i64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Entries in the file.
    pub entries: u64,
    /// The passages that the words must have, by key.
    pub passages: Vec<ExpectedPassage>,
    /// Keys of entries whose bytes could not be read: nobody can say what the words must have of
    /// them.
    pub untold: Vec<u64>,
}

impl Comparison {
    /// Of a source whose rows were not looked at.
    fn without_rows(
        catalogue: &Catalogue,
        source: Option<i64>,
        finding: Finding,
    ) -> Result<Comparison, Error> {
        Ok(Comparison {
            finding,
            source,
            bytes_read: 0,
            entries: 0,
            passages: Vec::new(),
            untold: match source {
                Some(source) => keys_of_source(catalogue, source)?,
                None => Vec::new(),
            },
        })
    }
}

/// Keys of all entries of a source.
fn keys_of_source(catalogue: &Catalogue, source: i64) -> Result<Vec<u64>, Error> {
    let (mut rows, mut keys) = (catalogue.each_entry_of_source(source)?, Vec::new());
    while let Some(row) = rows.next()? {
        keys.push(row.key as u64);
    }
    Ok(keys)
}

/// Read `path` and compare it with what is stored of it: chunk by chunk, so that memory does not
/// grow with the file. `read` is told of how many bytes the chunks of one look were.
pub fn compare_source(
    catalogue: &Catalogue,
    root: i64,
    path: &Path,
    relative: &str,
    format: &dyn Format,
    read: &mut dyn FnMut(u64),
) -> Result<Comparison, Error> {
    let (mut looks, mut bytes_read) = (0, 0);
    loop {
        looks += 1;
        let Some(state) = catalogue.source_state(root, relative)? else {
            let gone = Finding::Behind("is no longer in the catalogue".into());
            return Comparison::without_rows(catalogue, None, gone);
        };
        let place = (root, path, relative);
        let (mut compared, is_certain) = compare_once(catalogue, place, &state, format, read)?;
        bytes_read += compared.bytes_read;
        compared.bytes_read = bytes_read;
        let differs = matches!(compared.finding, Finding::Differs(_) | Finding::OtherBytes);
        if !differs || (is_certain && looks > 1) {
            return Ok(compared);
        }
        if looks == LOOKS {
            compared.finding = Finding::Behind("is being written".into());
            return Ok(compared);
        }
    }
}

/// One look, and whether nobody has replaced what was looked at.
fn compare_once(
    catalogue: &Catalogue,
    (root, path, relative): (i64, &Path, &str),
    state: &SourceState,
    format: &dyn Format,
    read: &mut dyn FnMut(u64),
) -> Result<(Comparison, bool), Error> {
    let (source, stored) = (state.known.source, &state.known.stored);
    let without_rows = |finding| {
        let compared = Comparison::without_rows(catalogue, Some(source), finding)?;
        Ok((compared, true))
    };
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Finding::Behind("is gone".into()),
        _ => Finding::Unread(error.to_string()),
    };
    let observed = match fs::metadata(path) {
        Ok(metadata) => Identity::of(&metadata),
        Err(error) => return without_rows(failed(error)),
    };
    if stored.revision != format.revision() {
        return without_rows(Finding::Behind("has to be read again".into()));
    }
    let is_same = is_same(&observed, &stored.identity);
    let is_whole = is_same || observed.size == stored.identity.size;
    let is_lines = format.shape_of(path) == Shape::Lines;
    if !is_same && (observed.size < stored.consumed || !(is_whole || is_lines)) {
        return without_rows(Finding::OtherBytes);
    }
    let until = match is_whole {
        true => observed.size,
        false => stored.consumed,
    };
    let plan = SourcePlan {
        root,
        path: path.to_path_buf(),
        relative,
        place: relative,
        part: SourcePart::Main,
        unlisted: state.known.unlisted.clone(),
        format,
        known: None,
        checkpoint: None,
        size: 0,
        mtime_ns: 0,
        until: Some(until),
    };
    let mut look = SourceComparison {
        catalogue,
        path,
        state,
        format,
        is_whole,
        rows: catalogue.each_entry_of_source(source)?,
        row_count: 0,
        entry_count: 0,
        problems: catalogue.problems(source),
        differences: Differences::default(),
        of_tail: Differences::default(),
        unaccounted: None,
        gaps: None,
        records: None,
        tiled: Some(0),
        last: None,
        compared: Comparison {
            finding: Finding::Equal,
            source: Some(source),
            bytes_read: 0,
            entries: 0,
            passages: Vec::new(),
            untold: Vec::new(),
        },
    };
    let (mut cost, mut compared) = (Cost::default(), Ok(()));
    let done = read_once(&plan, false, &mut Vec::new(), &mut cost, &mut |chunk| {
        if compared.is_ok() {
            read(chunk.source_bytes);
            compared = look.take(chunk);
        }
    });
    if let Err(error) = done {
        return without_rows(failed(error));
    }
    compared?;
    look.compared.bytes_read = cost.bytes_read;
    look.end((root, relative))
}

/// Whether a file is as it was, but for a change that leaves its bytes and its time as they are.
fn is_same(now: &Identity, then: &Identity) -> bool {
    Identity {
        ctime_ns: 0,
        ..*now
    } == Identity {
        ctime_ns: 0,
        ..*then
    }
}

/// What differs: the first of it, and how much more.
#[derive(Default)]
struct Differences {
    first: Option<String>,
    more: u64,
}

impl Differences {
    fn add(&mut self, what: impl FnOnce() -> String) {
        match self.first {
            Some(_) => self.more += 1,
            None => self.first = Some(what()),
        }
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All of them in one line.
    fn told(self) -> Option<String> {
        let Differences { first, more } = self;
        first.map(|first| match more {
            0 => first,
            _ => format!("{first}; and {more} more differences"),
        })
    }
}

/// A source on its way through a comparison.
struct SourceComparison<'c> {
    catalogue: &'c Catalogue,
    path: &'c Path,
    state: &'c SourceState,
    format: &'c dyn Format,
    /// The file is as long as it was; otherwise it has grown, and no more of it is read than its
    /// whole lines then.
    is_whole: bool,
    rows: EntriesOfSource<'c>,
    /// Rows of whole lines, and entries.
    row_count: u64,
    entry_count: u64,
    problems: ProblemsOfSource<'c>,
    /// Between what is proven to be the bytes that were catalogued and their rows.
    differences: Differences,
    /// Between what follows the last whole line and its rows.
    of_tail: Differences,
    /// Bytes that are told of twice, or not at all.
    unaccounted: Option<String>,
    /// The file, to see what stands between entries.
    gaps: Option<RangeReader>,
    /// The file, to see what entries say.
    records: Option<RangeReader>,
    /// Up to which byte entries, problems and separators tile the file; `None`: they do not.
    tiled: Option<u64>,
    /// The last chunk, without its entries.
    last: Option<Chunk<Vec<EntryRow>>>,
    compared: Comparison,
}

impl SourceComparison<'_> {
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
            self.compared.entries += 1;
            let is_provisional = entry.flags & flag::PROVISIONAL != 0;
            self.entry_count += u64::from(!is_provisional);
            match self.rows.next()? {
                Some(row) => {
                    self.row_count += u64::from(!self.is_of_tail(row.flags, row.start));
                    self.entry(&row, entry)?;
                    self.row(&row);
                }
                None => self.differ(is_provisional, || {
                    format!("line {}: the entry has no row", entry.line)
                }),
            }
        }
        for problem in &problems {
            let row = self.problems.next()?;
            let is_equal = row.is_some_and(|row| {
                (row.start, row.length, row.provisional, &row.reason)
                    == (
                        problem.start,
                        problem.length,
                        problem.provisional,
                        &problem.reason,
                    )
            });
            if !is_equal {
                self.differ(problem.provisional, || {
                    format!("byte {}: the row of the problem differs", problem.start)
                });
            }
        }
        self.last = Some(chunk);
        Ok(())
    }

    /// Whether a row is of what follows the last whole line, or was written meanwhile.
    fn is_of_tail(&self, flags: i64, start: u64) -> bool {
        flags & flag::PROVISIONAL != 0 || start >= self.state.known.stored.consumed
    }

    fn differ(&mut self, is_of_tail: bool, what: impl FnOnce() -> String) {
        match is_of_tail {
            true => self.of_tail.add(what),
            false => self.differences.add(what),
        }
    }

    /// What is told of a part of the file follows what was told before, with nothing but blanks
    /// between.
    fn tile(&mut self, start: u64, length: u64) {
        let Some(at) = self.tiled else {
            return;
        };
        if self.gaps.is_none() {
            self.gaps = RangeReader::open(self.path).ok();
        }
        // A file that cannot be read any more is told when it is read next.
        let Some(file) = &mut self.gaps else {
            return;
        };
        let end = start.checked_add(length).filter(|end| file.holds(*end));
        self.tiled = end.filter(|_| at <= start);
        if self.tiled.is_none() {
            self.unaccounted.get_or_insert_with(|| {
                format!("byte {start} is accounted for twice, or not in the file")
            });
            return;
        }
        let gap = file.bytes(at, start - at).ok().flatten();
        let is_blank = gap.is_none_or(|gap| {
            String::from_utf8_lossy(gap)
                .chars()
                .all(|c| crate::format::json::trim(c.encode_utf8(&mut [0; 4])).is_empty())
        });
        if !is_blank {
            self.unaccounted
                .get_or_insert_with(|| format!("bytes {at} to {start} are not accounted for"));
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
        let is_of_tail = entry.flags & flag::PROVISIONAL != 0;
        if !equal {
            self.differ(is_of_tail, || {
                format!(
                    "line {}: the row differs from the entry at byte {}",
                    entry.line, entry.start
                )
            });
        }
        if self.catalogue.children(row.key)? != Children::of(entry) {
            self.differ(is_of_tail, || {
                format!(
                    "line {}: calls, usage, files, label, compaction or run differ",
                    entry.line
                )
            });
        }
        Ok(())
    }

    /// The passages of what stands where a row says.
    fn row(&mut self, row: &StoredEntry) {
        if row.flags & flag::PROVISIONAL != 0 {
            return;
        }
        if self.records.is_none() {
            self.records = RangeReader::open(self.path).ok();
        }
        let file = self.records.as_mut();
        let record = file.and_then(|file| file.bytes(row.start, row.length).ok().flatten());
        let Some(record) = record.filter(|record| hash(record) == row.hash) else {
            self.compared.untold.push(row.key as u64);
            return;
        };
        let told = (row.flags, row.stop_reason.is_some());
        let passages = passages(self.format, self.path, record, told);
        let expected = passages.iter().map(|passage| ExpectedPassage {
            key: row.key as u64,
            class: passage.class,
            answers: row.flags & flag::ANSWER != 0,
        });
        self.compared.passages.extend(expected);
    }

    /// What the file does not say is in no row either; then it is told what came of it all.
    fn end(mut self, (root, relative): (i64, &str)) -> Result<(Comparison, bool), Error> {
        let stored = &self.state.known.stored;
        let mut has_tail = false;
        while let Some(row) = self.rows.next()? {
            let is_of_tail = self.is_of_tail(row.flags, row.start);
            self.row_count += u64::from(!is_of_tail);
            self.row(&row);
            has_tail |= is_of_tail;
            if is_of_tail {
                let what = || format!("byte {}: a row names an entry that is not there", row.start);
                self.of_tail.add(what);
            }
        }
        while let Some(row) = self.problems.next()? {
            let is_of_tail = row.provisional || row.start >= stored.consumed;
            has_tail |= is_of_tail;
            self.differ(is_of_tail, || {
                format!(
                    "byte {}: a row names a problem that is not there",
                    row.start
                )
            });
        }
        let (entries, rows) = (self.entry_count, self.row_count);
        if entries != rows {
            self.differences
                .add(|| format!("{entries} entries in the file, {rows} rows"));
        }
        let left = fs::metadata(self.path).ok().map(|m| Identity::of(&m));
        if let Some(left) = left
            && self.is_whole
        {
            self.tile(left.size, 0);
        }
        let Some(last) = self.last.take() else {
            self.compared.finding = Finding::Behind("is being written".into());
            return Ok((self.compared, false));
        };
        let was_left_alone = left == Some(last.identity);
        let is_same = is_same(&last.identity, &stored.identity);
        let checkpoint = self.state.checkpoint.as_ref();
        let proof_holds = last.consumed == stored.consumed
            && checkpoint.is_some_and(|checkpoint| checkpoint.proof == last.proof);
        if proof_holds {
            let fold = serde_json::to_string(&last.fold).unwrap_or_default();
            if checkpoint.is_none_or(|checkpoint| checkpoint.fold != fold) {
                self.differences.add(|| "the saved fold differs".into());
            }
        }
        if was_left_alone && let Some(unaccounted) = self.unaccounted.take() {
            self.differences.add(|| unaccounted);
        }
        // Of a file that is read in parts the row is made when all of it is in. What follows the
        // last whole line is in the row, and not read of a file that has grown since.
        let is_read = stored.identity.mtime_ns != 0 || stored.identity.ctime_ns != 0;
        let has_row = is_read && (self.is_whole || !has_tail);
        let (catalogue, state, format) = (self.catalogue, self.state, self.format);
        let (session, is_as_before, has_same_rows) = catalogue.at_one_moment(|| {
            let now = catalogue.source_state(root, relative)?;
            let now = now.filter(|now| now.known.source == state.known.source);
            let has_same_rows = now.as_ref().is_some_and(|now| now.first == state.first);
            let is_as_before = has_same_rows && now.is_some_and(|now| now.known.stored == *stored);
            let session = match is_as_before && has_row && proof_holds {
                true => catalogue.session_differs(state.known.source, format, &last.shown)?,
                false => None,
            };
            Ok::<_, Error>((session, is_as_before, has_same_rows))
        })?;
        let (mut compared, of_tail) = (self.compared, self.of_tail);
        let mut differences = self.differences;
        if !proof_holds {
            // The kernel says that nobody has touched the file, and it says what the rows say.
            let is_checkpoint =
                is_same && was_left_alone && differences.is_empty() && of_tail.is_empty();
            if !is_checkpoint {
                compared.finding = Finding::OtherBytes;
                return Ok((compared, is_as_before));
            }
            differences.add(|| "the checkpoint differs".into());
        }
        if let Some(session) = session {
            differences.add(|| session);
        }
        let is_certain = is_as_before || (has_same_rows && state.first.is_some());
        if let Some(what) = differences.told() {
            compared.finding = Finding::Differs(what);
            return Ok((compared, is_certain));
        }
        // What follows the last whole line is in no proof.
        if let Some(what) = of_tail.told()
            && is_same
            && was_left_alone
        {
            compared.finding = Finding::Differs(what);
            return Ok((compared, is_as_before));
        }
        compared.finding = match left {
            None => Finding::Behind("is gone".into()),
            Some(left) if self::is_same(&left, &stored.identity) => Finding::Equal,
            Some(left) if left.size > stored.identity.size => {
                Finding::Behind("has grown since it was catalogued".into())
            }
            Some(_) => Finding::Behind("was written since it was catalogued".into()),
        };
        Ok((compared, is_certain))
    }
}
