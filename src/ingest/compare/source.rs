//! Do the rows of one source say what its chunks say?

use super::differences::Differences;
use super::{Comparison, ExpectedPassage, Finding, is_same};
use crate::catalogue::children::Children;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::{SourceState, StoredProblem};
use crate::catalogue::write::{Chunk, EntryRow, flag};
use crate::catalogue::{Catalogue, Error, Paged};
use crate::format::{Format, Shape};
use crate::ingest::passages::passages;
use crate::model::Fold;
use crate::source::checkpoint::hash;
use crate::source::content::Location;
use crate::source::identity::Identity;
use crate::source::place::RangeReader;

/// Entries of one document or line are separated by it.
const COMMA: char = ',';
/// What may stand behind the last element of a document besides: it closes list and document.
const CLOSING: [char; 3] = [COMMA, ']', '}'];

/// A source on its way through a comparison.
pub struct SourceComparison<'c> {
    catalogue: &'c Catalogue,
    path: &'c Location,
    state: &'c SourceState,
    format: &'c dyn Format,
    /// The file is as long as it was. Otherwise it has grown, and it is read only up to the end of
    /// the lines that were whole then.
    is_whole: bool,
    rows: Paged<'c, StoredEntry>,
    /// Rows of whole lines, and entries.
    row_count: u64,
    entry_count: u64,
    problems: Paged<'c, StoredProblem>,
    /// Between what is proven to be the bytes that were catalogued and their rows.
    differences: Differences,
    /// Between what follows the last whole line and its rows.
    of_tail: Differences,
    /// Bytes that belong to two entries or problems, or to none.
    unaccounted: Option<String>,
    /// The file, to see what stands between entries.
    gaps: Option<RangeReader>,
    /// The file, to see what entries say.
    records: Option<RangeReader>,
    /// Up to which byte entries, problems and separators tile the file; `None`: they do not.
    tiled: Option<u64>,
    /// The last chunk, without its entries.
    last: Option<Chunk<Vec<EntryRow>>>,
    pub compared: Comparison,
}

/// What is known of a file after it was read to be compared.
pub struct ReadFile {
    /// Its identity now; `None`: it is gone.
    identity: Option<Identity>,
    /// Its identity when it was read is the catalogued one.
    is_same: bool,
    /// It was not written while it was read.
    was_left_alone: bool,
    /// The bytes that were catalogued are still in it.
    proof_holds: bool,
}

/// What is stored of a source after its file was read.
pub struct StoredNow {
    /// How the row of its session differs from the file.
    session_difference: Option<String>,
    /// Nothing of it was written since the comparison began.
    is_as_before: bool,
    /// Its entries were not replaced since then.
    has_same_rows: bool,
}

impl<'c> SourceComparison<'c> {
    pub fn new(
        catalogue: &'c Catalogue,
        path: &'c Location,
        state: &'c SourceState,
        format: &'c dyn Format,
        is_whole: bool,
    ) -> Result<SourceComparison<'c>, Error> {
        let source = state.known.source;
        Ok(SourceComparison {
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
                unread_entries: Vec::new(),
            },
        })
    }
}

impl SourceComparison<'_> {
    /// Compare what was read with its rows.
    pub fn take(&mut self, mut chunk: Chunk<Vec<EntryRow>>) -> Result<(), Error> {
        let entries = std::mem::take(&mut chunk.entries);
        let problems = std::mem::take(&mut chunk.problems);
        let entry_ranges = entries.iter().map(|e| (e.start, e.length));
        let problem_ranges = problems.iter().map(|p| (p.start, p.length));
        let mut ranges: Vec<(u64, u64)> = entry_ranges.chain(problem_ranges).collect();
        ranges.sort_unstable();
        for (start, length) in ranges {
            self.tile(start, length, &[COMMA]);
        }
        for entry in &entries {
            self.compared.entries += 1;
            let is_provisional = entry.flags & flag::PROVISIONAL != 0;
            self.entry_count += u64::from(!is_provisional);
            match self.rows.next().transpose()? {
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
            let row = self.problems.next().transpose()?;
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

    /// Whether a row belongs to the tail, which follows the last whole line, or was written
    /// meanwhile.
    fn is_of_tail(&self, flags: i64, start: u64) -> bool {
        flags & flag::PROVISIONAL != 0 || start >= self.state.known.stored.consumed
    }

    fn differ(&mut self, is_of_tail: bool, what: impl FnOnce() -> String) {
        match is_of_tail {
            true => self.of_tail.add(what),
            false => self.differences.add(what),
        }
    }

    /// Check that this part of the file follows the part before it, with nothing but blanks and
    /// these between.
    fn tile(&mut self, start: u64, length: u64, separators: &[char]) {
        let Some(at) = self.tiled else {
            return;
        };
        if self.gaps.is_none() {
            self.gaps = self.path.open(self.format).and_then(RangeReader::new).ok();
        }
        // A file that cannot be read any more is reported at the next read.
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
            String::from_utf8_lossy(gap).chars().all(|c| {
                separators.contains(&c)
                    || crate::format::json::trim(c.encode_utf8(&mut [0; 4])).is_empty()
            })
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
            && row.row == entry.row
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

    /// Collect the passages of the record to which a row points.
    fn row(&mut self, row: &StoredEntry) {
        if row.flags & flag::PROVISIONAL != 0 {
            return;
        }
        if self.records.is_none() {
            self.records = self.path.open(self.format).and_then(RangeReader::new).ok();
        }
        let file = self.records.as_mut();
        let record = file.and_then(|file| file.bytes(row.start, row.length).ok().flatten());
        let Some(record) = record.filter(|record| hash(record) == row.hash) else {
            self.compared.unread_entries.push(row.key as u64);
            return;
        };
        let (flags, ended) = (row.flags, row.stop_reason.is_some());
        let passages = passages(self.format, self.path, record, flags, ended);
        let expected = passages.iter().map(|passage| ExpectedPassage {
            key: row.key as u64,
            class: passage.class,
            of_tools: row.flags & flag::TOOL_RESULT != 0,
        });
        self.compared.passages.extend(expected);
    }

    /// Compare what is left after the last chunk, and conclude. Also gives back whether the stored
    /// rows stayed the same meanwhile.
    pub fn end(mut self, root: i64, relative: &str) -> Result<(Comparison, bool), Error> {
        let has_tail = self.take_remaining_rows()?;
        let identity = self.path.identity(self.format).ok();
        if self.is_whole
            && let Some(length) = self.whole_length(identity)
        {
            let separators = match self.format.shape_of(self.path) {
                Shape::Elements => &CLOSING[..],
                _ => &[COMMA],
            };
            self.tile(length, 0, separators);
        }
        let Some(mut last) = self.last.take() else {
            self.compared.finding = Finding::Behind("is being written".into());
            return Ok((self.compared, false));
        };
        // They stand in other files, which may be other ones since.
        let stored_fold = self
            .state
            .checkpoint
            .as_ref()
            .map(|known| known.fold.as_str());
        let stored_fold = stored_fold.and_then(|fold| serde_json::from_str::<Fold>(fold).ok());
        let stored_fold = stored_fold.unwrap_or_default();
        for fold in [&mut last.fold, &mut last.shown] {
            fold.cwd_beside.clone_from(&stored_fold.cwd_beside);
            fold.named_beside.clone_from(&stored_fold.named_beside);
        }
        let stored = &self.state.known.stored;
        let file = ReadFile {
            identity,
            is_same: is_same(&last.identity, &stored.identity),
            was_left_alone: identity == Some(last.identity),
            proof_holds: self.compare_checkpoint(&last),
        };
        if file.was_left_alone
            && let Some(unaccounted) = self.unaccounted.take()
        {
            self.differences.add(|| unaccounted);
        }
        // A source that is read in parts gets its session's row with the last part. That row covers
        // the tail too, which is not read when the file has grown since.
        let is_read = stored.identity.mtime_ns != 0 || stored.identity.ctime_ns != 0;
        let has_row = is_read && (self.is_whole || !has_tail);
        let now = self.stored_now(root, relative, &last, has_row && file.proof_holds)?;
        Ok(self.conclude(&file, now))
    }

    /// How long the content is that was read as a whole, if it is a file by what it is now.
    fn whole_length(&self, identity: Option<Identity>) -> Option<u64> {
        match self.path.is_file(self.format) {
            true => identity.map(|identity| identity.size),
            false => self.last.as_ref().map(|last| last.length),
        }
    }

    /// Note the rows for which there is nothing in the file. Gives back whether some of them belong
    /// to the tail, which follows the last whole line.
    fn take_remaining_rows(&mut self) -> Result<bool, Error> {
        let mut has_tail = false;
        while let Some(row) = self.rows.next().transpose()? {
            let is_of_tail = self.is_of_tail(row.flags, row.start);
            self.row_count += u64::from(!is_of_tail);
            self.row(&row);
            has_tail |= is_of_tail;
            if is_of_tail {
                let what = || format!("byte {}: a row names an entry that is not there", row.start);
                self.of_tail.add(what);
            }
        }
        while let Some(row) = self.problems.next().transpose()? {
            let is_of_tail = row.provisional || row.start >= self.state.known.stored.consumed;
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
        Ok(has_tail)
    }

    /// Whether the proof of the stored checkpoint holds; if so, its fold is compared too.
    fn compare_checkpoint(&mut self, last: &Chunk<Vec<EntryRow>>) -> bool {
        let checkpoint = self.state.checkpoint.as_ref();
        let proof_holds = last.consumed == self.state.known.stored.consumed
            && checkpoint.is_some_and(|checkpoint| checkpoint.proof == last.proof);
        if proof_holds {
            let fold = serde_json::to_string(&last.fold).unwrap_or_default();
            if checkpoint.is_none_or(|checkpoint| checkpoint.fold != fold) {
                self.differences.add(|| "the saved fold differs".into());
            }
        }
        proof_holds
    }

    /// What is stored of the source now, all of it at one moment. The row of its session is
    /// compared if `compares_session` and nothing was written meanwhile.
    fn stored_now(
        &self,
        root: i64,
        relative: &str,
        last: &Chunk<Vec<EntryRow>>,
        compares_session: bool,
    ) -> Result<StoredNow, Error> {
        let (catalogue, state) = (self.catalogue, self.state);
        let (source, stored) = (state.known.source, &state.known.stored);
        catalogue.at_one_moment(|| {
            let now = catalogue.source_state(root, relative)?;
            let now = now.filter(|now| now.known.source == source);
            let has_same_rows = now.as_ref().is_some_and(|now| now.first == state.first);
            let is_as_before = has_same_rows && now.is_some_and(|now| now.known.stored == *stored);
            let session_difference = match is_as_before && compares_session {
                true => catalogue.session_differs(source, self.format, &last.shown)?,
                false => None,
            };
            Ok::<_, Error>(StoredNow {
                session_difference,
                is_as_before,
                has_same_rows,
            })
        })
    }

    /// What follows from all that was compared, and whether the stored rows stayed the same.
    fn conclude(self, file: &ReadFile, now: StoredNow) -> (Comparison, bool) {
        let (mut compared, of_tail) = (self.compared, self.of_tail);
        let mut differences = self.differences;
        let is_untouched = file.is_same && file.was_left_alone;
        if !file.proof_holds {
            // If the file is untouched according to the kernel, and it says what the rows say, then
            // only the checkpoint is wrong.
            let is_checkpoint = is_untouched && differences.is_empty() && of_tail.is_empty();
            if !is_checkpoint {
                compared.finding = Finding::OtherBytes;
                return (compared, now.is_as_before);
            }
            differences.add(|| "the checkpoint differs".into());
        }
        if let Some(session) = now.session_difference {
            differences.add(|| session);
        }
        let is_certain = now.is_as_before || (now.has_same_rows && self.state.first.is_some());
        if let Some(what) = differences.summary() {
            compared.finding = Finding::Differs(what);
            return (compared, is_certain);
        }
        // The proof does not cover the tail: it counts only in an untouched file.
        if is_untouched && let Some(what) = of_tail.summary() {
            compared.finding = Finding::Differs(what);
            return (compared, now.is_as_before);
        }
        let stored = &self.state.known.stored.identity;
        compared.finding = match file.identity {
            None => Finding::Behind("is gone".into()),
            Some(now) if is_same(&now, stored) => Finding::Equal,
            Some(now) if now.size > stored.size => {
                Finding::Behind("has grown since it was catalogued".into())
            }
            Some(_) => Finding::Behind("was written since it was catalogued".into()),
        };
        (compared, is_certain)
    }
}
