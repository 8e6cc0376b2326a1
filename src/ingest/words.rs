//! The words stage: the entries that the outbox names are read again, and their text is added to
//! the words.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use self::jobs::{add_all, adders, is_change};
use super::open_words::{done_in, payload};
use crate::catalogue::outbox::{OutboxItem, StaleKeys};
use crate::catalogue::{self, Catalogue};
use crate::causes::with_causes;
use crate::format::Format;
use crate::model::{Event, Report};
use crate::words::{self, Words, WordsError, WordsLock, WordsWriter};

mod jobs;

/// Bytes of entries in one batch when there is no hurry and this is all there is, or much more; see
/// [`words_batch`].
const WORDS_BATCH: (u64, u64) = (1 << 30, 4 << 30);
/// A batch is at most this part (one in so many) of the backlog, but never less than the smallest
/// batch.
const PART_OF_ALL: u64 = 8;
/// Bytes of entries in one batch when time is short: after an answer, or with any other budget.
pub const SMALL_WORDS_BATCH: u64 = 1 << 20;
/// Memory of all adders together.
#[cfg(not(feature = "failpoints"))]
const ADDER_BYTES: usize = 100_000_000;
/// So little that a few lines do not fit into it.
#[cfg(feature = "failpoints")]
const ADDER_BYTES: usize = 100_000;

/// Bytes of entries in one batch when there is no hurry and the backlog has so many, each counted
/// as prose and as output. That much is read in vain when a sync is killed in the words stage, and
/// up to a quarter more if the batch finishes the backlog. Each batch creates one segment per
/// thread (several, for many small passages), and common terms are repeated in each; so a large
/// backlog gets larger batches.
fn words_batch(backlog: u64) -> u64 {
    let (least, most) = WORDS_BATCH;
    (backlog / PART_OF_ALL).clamp(least, most)
}

/// What goes wrong in the words stage.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum WordsStage {
    #[error(transparent)]
    Catalogue(#[from] catalogue::Error),
    #[error(transparent)]
    Words(#[from] WordsError),
}

impl From<WordsStage> for crate::error::Error {
    fn from(error: WordsStage) -> crate::error::Error {
        match error {
            WordsStage::Catalogue(error) => error.into(),
            WordsStage::Words(error) => error.into(),
        }
    }
}

/// How much is done at once.
#[derive(Clone, Copy, Default)]
pub struct BatchLimits<'a> {
    /// How long it may take; the first batch is always added. `None`: until nothing is left.
    pub budget: Option<Duration>,
    /// Bytes of a batch; `None`: [`words_batch`].
    pub batch: Option<u64>,
    /// The caller comes back soon: what is busy now is not worth a note.
    pub tries_again: bool,
    /// Before there are too many segments it ends, and the caller merges; else what must be is
    /// merged on the way.
    pub leaves_merging: bool,
    /// Asked again and again: whether a batch is to end with what it has, because somebody waits.
    pub is_enough: Option<&'a dyn Fn() -> bool>,
}

impl BatchLimits<'_> {
    fn is_enough(&self) -> bool {
        self.is_enough.is_some_and(|is_enough| is_enough())
    }
}

/// Bring the words up to the catalogue. The caller holds the index's lock; that of the words is
/// taken here. Gives back the sources whose bytes differ from those that were catalogued. Their
/// entries stay in the outbox until they are read again.
///
/// # Errors
/// [`WordsError::Busy`] when another process merges the words. The caller holds the index's lock
/// and should not wait for the merge while it does.
pub fn index_words(
    catalogue: &Catalogue,
    directory: &Path,
    formats: &[&'static dyn Format],
    limits: BatchLimits<'_>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<i64>, WordsStage> {
    if let Some(why) = super::disk_space::lacking(catalogue, directory)? {
        report.note_once(why);
        count_backlog(catalogue, directory, report)?;
        return Ok(BTreeSet::new());
    }
    if limits.budget.is_none() {
        catalogue.keep_more_pages()?;
    }
    catalogue.index_ids()?;
    catalogue.index_remotes()?;
    let mut add = |done, report: &mut Report| {
        add_backlog(
            catalogue, directory, formats, limits, done, progress, report,
        )
    };
    let why = match Words::open_to_write(directory) {
        Ok(words) => match done_in(&words, catalogue)? {
            Ok(done) => match add(Some(done), report) {
                // Damage that is found only now.
                Err(WordsStage::Words(error)) if error.asks_for_rebuild() => with_causes(&error),
                added => return added,
            },
            Err(mismatch) => mismatch.to_string(),
        },
        Err(WordsError::Missing(_)) => String::new(),
        Err(error) if error.asks_for_rebuild() => with_causes(&error),
        Err(error) => return Err(error.into()),
    };
    if directory.exists() {
        WordsLock::take(directory, Duration::ZERO)?.remove_words()?;
    }
    // This is noted only now, because a caller that does not get the lock tries again.
    if !why.is_empty() {
        report.notes.push(format!("the words are rebuilt: {why}"));
    }
    catalogue.transaction(|| catalogue.queue_everything())?;
    add(None, report)
}

/// What the words in this directory lack where nothing was given to them.
pub fn count_backlog(
    catalogue: &Catalogue,
    directory: &Path,
    report: &mut Report,
) -> Result<(), catalogue::Error> {
    let lack = match words::exist(directory) {
        true => catalogue.backlog(0)?,
        false => catalogue.backlog_without_words()?,
    };
    (report.outstanding, report.outstanding_bytes) = (lack.entries, lack.bytes);
    Ok(())
}

/// Add the backlog to words that are done up to this batch; `None`: to new ones. Gives back the
/// sources whose bytes changed.
fn add_backlog(
    catalogue: &Catalogue,
    directory: &Path,
    formats: &[&'static dyn Format],
    limits: BatchLimits<'_>,
    done: Option<i64>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<i64>, WordsStage> {
    let started = Instant::now();
    let (done, is_new) = (done.unwrap_or(0), done.is_none());
    catalogue.settle_batches(done)?;
    let (backlog_bytes, items) = catalogue.work_left(done)?;
    let epoch = catalogue.epoch()?.0;
    if items == 0 && catalogue.dead(done)?.is_empty() && !is_new {
        (report.outstanding, report.outstanding_bytes) = (0, 0);
        return Ok(BTreeSet::new());
    }
    let lock = WordsLock::take(directory, Duration::ZERO)?;
    let mut writer = WordsWriter::open(lock, ADDER_BYTES, adders())?;
    if is_new {
        writer.commit(&payload(&epoch, 0))?;
    }
    let mut batches = BacklogBatches {
        catalogue,
        formats,
        writer,
        epoch,
        started,
        done,
        backlog_bytes,
        indexed_bytes: 0,
        failed: HashSet::new(),
        changed: BTreeSet::new(),
        progress,
        report: &mut *report,
    };
    let result = batches.add_all(limits);
    if matches!(result, Err(WordsStage::Catalogue(_))) {
        return result.map(|()| BTreeSet::new());
    }
    let (done, changed) = (batches.done, batches.changed);
    let closed = batches.writer.close();
    let lack = catalogue.backlog(done)?;
    (report.outstanding, report.outstanding_bytes) = (lack.entries, lack.bytes);
    report.ms.words += started.elapsed().as_secs_f64() * 1000.0;
    let closed = closed.map_err(WordsStage::from);
    result.and(closed).map(|()| changed)
}

/// The backlog on its way into the words, batch by batch.
struct BacklogBatches<'a> {
    catalogue: &'a Catalogue,
    formats: &'a [&'static dyn Format],
    writer: WordsWriter,
    epoch: String,
    started: Instant,
    /// The last batch that is in the words.
    done: i64,
    /// Bytes of entries in the backlog at the beginning, and how many of them were read since.
    backlog_bytes: u64,
    indexed_bytes: u64,
    /// Items that could not be read.
    failed: HashSet<i64>,
    /// Sources whose bytes are others than those that were catalogued.
    changed: BTreeSet<i64>,
    progress: &'a mut dyn FnMut(Event),
    report: &'a mut Report,
}

impl BacklogBatches<'_> {
    /// Add batch after batch until the backlog is empty, the time is over, or segments must be
    /// merged first.
    fn add_all(&mut self, limits: BatchLimits<'_>) -> Result<(), WordsStage> {
        let batch_bytes = limits
            .batch
            .unwrap_or_else(|| words_batch(self.backlog_bytes));
        let (mut is_first, mut was_prose) = (true, false);
        loop {
            // The first batch is added whatever the budget, so that each call gets somewhere.
            let is_over = limits.budget.is_some_and(|b| self.started.elapsed() >= b);
            if !is_first && (is_over || limits.is_enough()) {
                return Ok(());
            }
            is_first = false;
            // The caller merges, without the locks that are held here.
            if self.writer.is_crowded()? && limits.leaves_merging {
                return Ok(());
            }
            let work = self.catalogue.next_work(batch_bytes, &self.failed)?;
            let is_prose = work.first().is_some_and(|item| !item.of_tools);
            if !is_prose && was_prose {
                self.report.ms.prose = Some(self.started.elapsed().as_secs_f64() * 1000.0);
            }
            was_prose = is_prose;
            let dead = self.catalogue.dead(self.done)?;
            if work.is_empty() && dead.is_empty() {
                return Ok(());
            }
            if !dead.is_empty() {
                self.delete(&dead)?;
            }
            self.add_batch(&work, limits)?;
        }
    }

    /// Take dead keys out of the words, in a batch of their own: the entries to be added next may
    /// have the same keys.
    fn delete(&mut self, dead: &[StaleKeys]) -> Result<(), WordsStage> {
        let batch = self.catalogue.stamp(&[], dead)?;
        let ranges = dead.iter().map(|d| (d.first as u64, d.last as u64));
        self.writer.delete(ranges, &payload(&self.epoch, batch))?;
        self.done = batch;
        Ok(self.catalogue.settle_batches(batch)?)
    }

    /// Add what can be read of these items, and commit it.
    fn add_batch(
        &mut self,
        work: &[OutboxItem],
        limits: BatchLimits<'_>,
    ) -> Result<(), WordsStage> {
        let mut complete = Vec::with_capacity(work.len());
        let (catalogue, formats, of) = (self.catalogue, self.formats, self.backlog_bytes);
        let writer = &mut self.writer;
        add_all(catalogue, formats, writer, work, limits, |item, added| {
            self.indexed_bytes = self.indexed_bytes.saturating_add(item.bytes);
            let bytes = self.indexed_bytes;
            (self.progress)(Event::Indexed { bytes, of });
            match added {
                Ok((count, read)) => {
                    self.report.passages += count;
                    self.report.bytes_read += read;
                    complete.push(item);
                }
                Err(error) => {
                    self.failed.insert(item.item);
                    if is_change(&error) {
                        self.changed.insert(item.source);
                    }
                }
            }
        })?;
        if complete.is_empty() {
            return Ok(());
        }
        let batch = catalogue.stamp(&complete, &[])?;
        self.writer.commit(&payload(&self.epoch, batch))?;
        self.done = batch;
        Ok(catalogue.settle_batches(batch)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/crash.rs` kills syncs and counts what they had read in vain, by these numbers.
    #[test]
    fn a_batch_is_as_large_as_is_promised() {
        assert_eq!(SMALL_WORDS_BATCH, 1 << 20);
        assert_eq!([0, 1 << 33].map(words_batch), [1 << 30; 2]);
        assert_eq!([1 << 34, 1 << 40].map(words_batch), [2 << 30, 4 << 30]);
    }
}
