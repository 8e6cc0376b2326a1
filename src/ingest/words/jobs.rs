//! How is the text of what the outbox names read again, on all cores, and added to the words?

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::{BatchLimits, WordsStage};
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::outbox::OutboxItem;
use crate::catalogue::write::flag;
use crate::catalogue::{self, Catalogue};
use crate::format::{Format, format_named};
use crate::ingest::passages::passages;
use crate::model::Passage;
use crate::source::checkpoint::hash;
use crate::source::content::{LastOpened, Location};
use crate::threads;
use crate::words::{Adder, AdderReport, Doc, WordsError, WordsWriter};

/// Bytes between two entries that are sooner read than stepped over.
const SMALL_GAP: u64 = 256;
/// Memory of more bytes than an item mostly has is given back after one that has.
const MUCH_READ: usize = 4 << 20;
/// Items that wait for an adder.
const WAITING_JOBS: usize = 8;
/// Threads that add passages, at most.
const MOST_ADDERS: usize = 4;

/// The error for a file that holds other bytes than were catalogued.
fn changed() -> io::Error {
    ErrorKind::InvalidData.into()
}

/// Whether an error means that the bytes changed, and not that the file cannot be read now. If the
/// file is gone, the next scan finds that.
pub(super) fn is_change(error: &io::Error) -> bool {
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
pub(super) fn add_all(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    writer: &mut WordsWriter,
    work: &[OutboxItem],
    limits: BatchLimits<'_>,
    mut each: impl FnMut(OutboxItem, io::Result<(u64, u64)>),
) -> Result<(), WordsStage> {
    let Some(pool) = threads::pool() else {
        return add_alone(catalogue, formats, writer, work, limits, each);
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
        for item in until_enough(work, limits) {
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
    limits: BatchLimits<'w>,
) -> impl Iterator<Item = &'w OutboxItem> {
    let numbered = work.iter().enumerate();
    let is_wanted = move |(at, _): &(usize, _)| *at == 0 || !limits.is_enough();
    numbered.take_while(is_wanted).map(|(_, item)| item)
}

/// Read and add all items on this thread, because no other one can be started. `each` is called as
/// by [`add_all`].
fn add_alone(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    writer: &mut WordsWriter,
    work: &[OutboxItem],
    limits: BatchLimits<'_>,
    mut each: impl FnMut(OutboxItem, io::Result<(u64, u64)>),
) -> Result<(), WordsStage> {
    let (mut adder, mut reader) = (writer.adder()?, JobReader::default());
    for item in until_enough(work, limits) {
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
pub(super) fn adders() -> usize {
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
        let format = format_named(formats, &job.format).ok_or(ErrorKind::Unsupported)?;
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
            |entry: &&StoredEntry| (entry.flags & flag::TOOL_RESULT != 0) == job.item.of_tools;
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
            let (flags, ended) = (entry.flags, entry.stop_reason.is_some());
            let is_name = self.format.about().is_name(&entry.kind);
            for passage in passages(self.format, &self.job.path, record, flags, ended) {
                adder.add(&doc(entry, is_name, passage, tools))?;
                added += 1;
            }
        }
        Ok(added)
    }
}

/// A passage with the facts that searches filter by.
fn doc(entry: &StoredEntry, is_name: bool, passage: Passage, tools: Option<&Vec<String>>) -> Doc {
    Doc {
        key: entry.key as u64,
        class: passage.class,
        time_ms: entry.searched_ms,
        kind: entry.kind.clone(),
        role: entry.role.clone(),
        tools: tools.cloned().unwrap_or_default(),
        is_error: entry.flags & flag::ERROR != 0,
        is_name,
        pieces: passage.pieces,
    }
}
