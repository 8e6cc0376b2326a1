//! The words stage: the entries that the outbox names are read again, and their text is added to
//! the words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::open_words::{done_in, payload};
use super::passages::passages;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::outbox::{OutboxItem, StaleKeys};
use crate::catalogue::write::flag;
use crate::catalogue::{self, Catalogue};
use crate::format::Format;
use crate::model::Event;
use crate::model::{Class, Report};
use crate::source::checkpoint::hash;
use crate::source::content::{LastOpened, Location};
use crate::threads;
use crate::words::{Adder, AdderReport, Doc, Words, WordsError, WordsLock, WordsWriter};

/// Bytes of entries in one batch when there is no hurry and this is all there is, or much more; see
/// [`words_batch`].
const WORDS_BATCH: (u64, u64) = (1 << 30, 4 << 30);
/// A batch is at most this part (one in so many) of the backlog, but never less than the smallest
/// batch.
const PART_OF_ALL: u64 = 8;
/// Bytes of entries in one batch when time is short: after an answer, or with any other budget.
pub const SMALL_WORDS_BATCH: u64 = 1 << 20;
/// Bytes between two entries that are sooner read than stepped over.
const SMALL_GAP: u64 = 256;
/// Memory of more bytes than an item mostly has is given back after one that has.
const MUCH_READ: usize = 4 << 20;
/// Memory of all adders together.
#[cfg(not(feature = "failpoints"))]
const ADDER_BYTES: usize = 100_000_000;
/// So little that a few lines do not fit into it.
#[cfg(feature = "failpoints")]
const ADDER_BYTES: usize = 100_000;
/// Items that wait for an adder.
const WAITING_JOBS: usize = 8;
/// Threads that add passages, at most.
const MOST_ADDERS: usize = 4;

/// Bytes of entries in one batch when there is no hurry and the backlog has so many, each counted
/// as prose and as output. That much is read in vain when a sync is killed in the words stage, and
/// up to a quarter more if the batch finishes the backlog. Each batch creates one segment per
/// thread (several, for many small passages), and common terms are repeated in each; so a large
/// backlog gets larger batches.
fn words_batch(owed: u64) -> u64 {
    let (least, most) = WORDS_BATCH;
    (owed / PART_OF_ALL).clamp(least, most)
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
    pace: BatchLimits<'_>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<i64>, WordsStage> {
    if let Some(why) = super::disk_space::lacking(catalogue, directory)? {
        report.notes.push(why);
        return Ok(BTreeSet::new());
    }
    if pace.budget.is_none() {
        catalogue.keep_more_pages()?;
    }
    catalogue.index_ids()?;
    catalogue.index_remotes()?;
    let mut add = |done, report: &mut Report| {
        add_owed(catalogue, directory, formats, pace, done, progress, report)
    };
    let why = match Words::open_to_write(directory) {
        Ok(words) => match done_in(&words, catalogue)? {
            Ok(done) => match add(Some(done), report) {
                // Damage that is found only now.
                Err(WordsStage::Words(error)) if error.asks_for_rebuild() => error.to_string(),
                added => return added,
            },
            Err(mismatch) => mismatch.to_string(),
        },
        Err(WordsError::Missing(_)) => String::new(),
        Err(error) if error.asks_for_rebuild() => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    if directory.exists() {
        WordsLock::take(directory, Duration::ZERO)?.remove_words()?;
    }
    // This is noted only now, because a caller that does not get the lock tries again.
    if !why.is_empty() {
        report.notes.push(format!("the words are rebuilt: {why}"));
    }
    catalogue.begin()?;
    catalogue.owe_everything()?;
    catalogue.commit()?;
    add(None, report)
}

/// Add the backlog to words that are done up to this batch; `None`: to new ones. Gives back the
/// sources whose bytes changed.
fn add_owed(
    catalogue: &Catalogue,
    directory: &Path,
    formats: &[&'static dyn Format],
    pace: BatchLimits<'_>,
    done: Option<i64>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<i64>, WordsStage> {
    let started = Instant::now();
    let (done, is_new) = (done.unwrap_or(0), done.is_none());
    catalogue.settle_batches(done)?;
    let (owed_bytes, items) = catalogue.work_left(done)?;
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
    let mut batches = OwedBatches {
        catalogue,
        formats,
        writer,
        epoch,
        started,
        done,
        owed_bytes,
        indexed_bytes: 0,
        failed: HashSet::new(),
        changed: BTreeSet::new(),
        progress,
        report: &mut *report,
    };
    let result = batches.add_all(pace);
    if matches!(result, Err(WordsStage::Catalogue(_))) {
        return result.map(|()| BTreeSet::new());
    }
    let (done, changed) = (batches.done, batches.changed);
    let closed = batches.writer.close();
    let lack = catalogue.outstanding(done)?;
    (report.outstanding, report.outstanding_bytes) = (lack.entries, lack.bytes);
    report.ms.words += started.elapsed().as_secs_f64() * 1000.0;
    let closed = closed.map_err(WordsStage::from);
    result.and(closed).map(|()| changed)
}

/// The backlog on its way into the words, batch by batch.
struct OwedBatches<'a> {
    catalogue: &'a Catalogue,
    formats: &'a [&'static dyn Format],
    writer: WordsWriter,
    epoch: String,
    started: Instant,
    /// The last batch that is in the words.
    done: i64,
    /// Bytes of entries in the backlog at the beginning, and how many of them were read since.
    owed_bytes: u64,
    indexed_bytes: u64,
    /// Items that could not be read.
    failed: HashSet<i64>,
    /// Sources whose bytes are others than those that were catalogued.
    changed: BTreeSet<i64>,
    progress: &'a mut dyn FnMut(Event),
    report: &'a mut Report,
}

impl OwedBatches<'_> {
    /// Add batch after batch until the backlog is empty, the time is over, or segments must be
    /// merged first.
    fn add_all(&mut self, pace: BatchLimits<'_>) -> Result<(), WordsStage> {
        let batch_bytes = pace.batch.unwrap_or_else(|| words_batch(self.owed_bytes));
        let (mut is_first, mut owes_prose) = (true, false);
        loop {
            // The first batch is added whatever the budget, so that each call gets somewhere.
            let is_over = pace.budget.is_some_and(|b| self.started.elapsed() >= b);
            if !is_first && (is_over || pace.is_enough()) {
                return Ok(());
            }
            is_first = false;
            // The caller merges, without the locks that are held here.
            if self.writer.is_crowded()? && pace.leaves_merging {
                return Ok(());
            }
            let work = self.catalogue.next_work(batch_bytes, &self.failed)?;
            let is_prose = work.first().is_some_and(|item| !item.answers);
            if !is_prose && owes_prose {
                self.report.ms.prose = Some(self.started.elapsed().as_secs_f64() * 1000.0);
            }
            owes_prose = is_prose;
            let dead = self.catalogue.dead(self.done)?;
            if work.is_empty() && dead.is_empty() {
                return Ok(());
            }
            if !dead.is_empty() {
                self.delete(&dead)?;
            }
            self.add_batch(&work, pace)?;
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
    fn add_batch(&mut self, work: &[OutboxItem], pace: BatchLimits<'_>) -> Result<(), WordsStage> {
        let mut complete = Vec::with_capacity(work.len());
        let (catalogue, formats, of) = (self.catalogue, self.formats, self.owed_bytes);
        let places = (catalogue, formats);
        add_all(places, &mut self.writer, work, pace, |item, added| {
            self.indexed_bytes += item.bytes;
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

/// The error for a file that holds other bytes than were catalogued.
fn changed() -> io::Error {
    ErrorKind::InvalidData.into()
}

/// Whether an error means that the bytes changed, and not that the file cannot be read now. If the
/// file is gone, the next scan finds that.
fn is_change(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

/// An item with all that reading it needs.
struct Job {
    item: OutboxItem,
    path: Location,
    format: String,
    entries: Vec<StoredEntry>,
    tools: HashMap<i64, Vec<String>>,
}

fn job(catalogue: &Catalogue, item: &OutboxItem) -> Result<Option<Job>, catalogue::Error> {
    let Some((path, format)) = catalogue.source_place(item.source)? else {
        return Ok(None);
    };
    let mut entries = catalogue.entries_between(item.source, item.first, item.last)?;
    entries.retain(|e| e.flags & flag::PROVISIONAL == 0);
    let tools = catalogue.tools_between(item.first, item.last)?;
    Ok(Some(Job {
        item: item.clone(),
        path,
        format,
        entries,
        tools,
    }))
}

/// Read all items on every core and add them, each as a whole or not at all; not those that are
/// left when it [is enough](BatchLimits::is_enough). `each` gets the number of passages added and
/// of bytes read, or the error.
fn add_all(
    (catalogue, formats): (&Catalogue, &[&'static dyn Format]),
    writer: &mut WordsWriter,
    work: &[OutboxItem],
    pace: BatchLimits<'_>,
    mut each: impl FnMut(OutboxItem, io::Result<(u64, u64)>),
) -> Result<(), WordsStage> {
    let Some(pool) = threads::pool() else {
        return add_alone((catalogue, formats), writer, work, pace, each);
    };
    let adders: Vec<Adder> = (0..adders().min(work.len()))
        .map(|_| writer.adder())
        .collect::<Result<_, _>>()?;
    let added = pool.in_place_scope(|scope| {
        let (send, jobs) = sync_channel::<Job>(WAITING_JOBS);
        let (results, received) = channel();
        let (finish, finished) = channel();
        // Held by the adders alone: when all of them have failed, sending fails too.
        let jobs = Arc::new(Mutex::new(jobs));
        for mut adder in adders {
            let (results, finish, jobs) = (results.clone(), finish.clone(), Arc::clone(&jobs));
            scope.spawn(move |_| {
                let mut reader = JobReader::default();
                let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let added = std::iter::from_fn(|| next().ok()).try_for_each(|job| {
                    let done = reader.add(&mut adder, &job, formats)?;
                    let _ = results.send((job.item, done));
                    Ok(())
                });
                let _ = finish.send(added.and_then(|()| adder.finish()));
            });
        }
        drop((results, finish, jobs));
        let mut queued = Ok(());
        for item in until_enough(work, pace) {
            match job(catalogue, item) {
                // Of a source that is in no catalogue: a damaged row.
                Ok(None) => each(item.clone(), Err(ErrorKind::Unsupported.into())),
                // No adder is left; their errors are returned below.
                Ok(Some(job)) => {
                    if send.send(job).is_err() {
                        break;
                    }
                }
                Err(error) => {
                    queued = Err(error);
                    break;
                }
            }
            received
                .try_iter()
                .for_each(|(item, done)| each(item, done));
        }
        drop(send);
        received
            .into_iter()
            .for_each(|(item, done)| each(item, done));
        queued?;
        Ok::<_, WordsStage>(
            finished
                .into_iter()
                .collect::<Result<Vec<AdderReport>, _>>()?,
        )
    })?;
    for added in added {
        writer.take(added)?;
    }
    Ok(())
}

/// The items until it is enough, one at least, so that each call gets somewhere.
fn until_enough<'w>(
    work: &'w [OutboxItem],
    pace: BatchLimits<'w>,
) -> impl Iterator<Item = &'w OutboxItem> {
    let numbered = work.iter().enumerate();
    let is_wanted = move |(at, _): &(usize, _)| *at == 0 || !pace.is_enough();
    numbered.take_while(is_wanted).map(|(_, item)| item)
}

/// Read and add all items on this thread, because no other one can be started. `each` is called as
/// by [`add_all`].
fn add_alone(
    (catalogue, formats): (&Catalogue, &[&'static dyn Format]),
    writer: &mut WordsWriter,
    work: &[OutboxItem],
    pace: BatchLimits<'_>,
    mut each: impl FnMut(OutboxItem, io::Result<(u64, u64)>),
) -> Result<(), WordsStage> {
    let (mut adder, mut reader) = (writer.adder()?, JobReader::default());
    for item in until_enough(work, pace) {
        let done = match job(catalogue, item)? {
            Some(job) => reader.add(&mut adder, &job, formats)?,
            // Of a source that is in no catalogue: a damaged row.
            None => Err(ErrorKind::Unsupported.into()),
        };
        each(item.clone(), done);
    }
    Ok(writer.take(adder.finish()?)?)
}

/// Reads one job after the other.
#[derive(Default)]
struct JobReader {
    bytes: Vec<u8>,
    last: LastOpened,
}

impl JobReader {
    /// Add the passages of a job: how many, and of how many bytes. An error where it cannot be
    /// read, or is no longer what was catalogued.
    fn add(
        &mut self,
        adder: &mut Adder,
        job: &Job,
        formats: &[&'static dyn Format],
    ) -> Result<io::Result<(u64, u64)>, WordsError> {
        let done = match DecodedJob::read(job, formats, self) {
            Ok(ready) => Ok((ready.add_to(adder)?, ready.read)),
            Err(error) => Err(error),
        };
        if self.bytes.len() > MUCH_READ {
            self.bytes = Vec::new();
        }
        Ok(done)
    }
}

/// Threads that add passages. Each has a part of the memory, so they must not be many.
fn adders() -> usize {
    threads::count().clamp(1, MOST_ADDERS)
}

/// The entries of a job, read and found to be what was catalogued.
struct DecodedJob<'j, 'b> {
    job: &'j Job,
    format: &'static dyn Format,
    records: Vec<(&'j StoredEntry, &'b [u8])>,
    /// Bytes read.
    read: u64,
}

impl<'j, 'b> DecodedJob<'j, 'b> {
    /// Read the entries into the memory of `reader`. If the bytes of one are no longer what was
    /// catalogued, the error [`is_change`].
    fn read(
        job: &'j Job,
        formats: &[&'static dyn Format],
        reader: &'b mut JobReader,
    ) -> io::Result<DecodedJob<'j, 'b>> {
        let format = formats.iter().find(|f| f.name() == job.format);
        let format = *format.ok_or(ErrorKind::Unsupported)?;
        let JobReader {
            bytes: buffer,
            last,
        } = reader;
        let mut file = last.open(&job.path, format)?;
        // What a damaged row names beyond the file's end is nothing to make room for.
        let length = file.length()?;
        let end_of = |entry: &StoredEntry| {
            let end = entry.start.checked_add(entry.length);
            end.filter(|end| *end <= length)
        };
        let is_of_job =
            |entry: &&StoredEntry| (entry.flags & flag::ANSWER != 0) == job.item.answers;
        let entries: Vec<&StoredEntry> = job.entries.iter().filter(is_of_job).collect();
        // Entries with nothing but their newline between them are read together.
        let follows = |a: &&StoredEntry, b: &&StoredEntry| {
            let gap = end_of(a).and_then(|end| b.start.checked_sub(end));
            gap.is_some_and(|gap| gap <= SMALL_GAP)
        };
        let mut places = Vec::with_capacity(entries.len());
        let mut read: usize = 0;
        for run in entries.chunk_by(follows) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let bytes = end_of(last).and_then(|end| end.checked_sub(first.start));
            let bytes = usize::try_from(bytes.ok_or_else(changed)?).ok();
            let end = bytes.and_then(|bytes| read.checked_add(bytes));
            let end = end.ok_or(ErrorKind::OutOfMemory)?;
            if buffer.len() < end {
                let more = buffer.try_reserve(end - buffer.len());
                more.map_err(|_| ErrorKind::OutOfMemory)?;
                buffer.resize(end, 0);
            }
            file.seek(SeekFrom::Start(first.start))?;
            file.read_exact(&mut buffer[read..end])?;
            let place = |entry: &StoredEntry| read + (entry.start - first.start) as usize;
            places.extend(run.iter().map(|entry| place(entry)));
            read = end;
        }
        last.keep(&job.path, file);
        let buffer = &*buffer;
        let record = |(entry, from): (&'j StoredEntry, usize)| {
            let end = from.checked_add(usize::try_from(entry.length).ok()?)?;
            let record = buffer.get(from..end)?;
            (hash(record) == entry.hash).then_some((entry, record))
        };
        let records: Option<_> = entries.into_iter().zip(places).map(record).collect();
        Ok(DecodedJob {
            job,
            format,
            records: records.ok_or_else(changed)?,
            read: read as u64,
        })
    }

    /// Add their passages, one after the other: the next one is decoded where the last one was. How
    /// many there are.
    fn add_to(&self, adder: &mut Adder) -> Result<u64, WordsError> {
        let mut added = 0;
        for (entry, record) in &self.records {
            let tools = self.job.tools.get(&entry.key);
            let stored = (entry.flags, entry.stop_reason.is_some());
            for passage in passages(self.format, &self.job.path, record, stored) {
                adder.add(&doc(entry, passage.class, passage.pieces, tools))?;
                added += 1;
            }
        }
        Ok(added)
    }
}

/// A passage with the facts that searches filter by.
fn doc(entry: &StoredEntry, class: Class, pieces: Vec<String>, tools: Option<&Vec<String>>) -> Doc {
    Doc {
        key: entry.key as u64,
        class,
        time_ms: entry.searched_ms,
        kind: entry.kind.clone(),
        role: entry.role.clone(),
        tools: tools.cloned().unwrap_or_default(),
        is_error: entry.flags & flag::ERROR != 0,
        pieces,
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
