//! The words stage: what the outbox owes is read again, its text extracted and added to the words.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::sync::Event;
use crate::catalogue::outbox::Item;
use crate::catalogue::read::StoredEntry;
use crate::catalogue::write::flag;
use crate::catalogue::{self, Catalogue};
use crate::format::Format;
use crate::model::{Class, Report};
use crate::source::checkpoint::hash;
use crate::words::{Doc, SCHEMA_REVISION, Words, WordsError, WordsWriter};

/// Bytes of entries in one batch when there is no hurry: what a crash makes to be done again.
const BATCH_BYTES: u64 = 128 << 20;
/// Bytes of entries in one batch when time is short.
const SMALL_BATCH_BYTES: u64 = 1 << 20;
/// Memory of the words' writer.
const WRITER_BYTES: usize = 150_000_000;
/// Threads of the words' writer.
const WRITER_THREADS: usize = 2;

/// What goes wrong in the words stage.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum WordsStage {
    #[error(transparent)]
    Catalogue(#[from] catalogue::Error),
    #[error(transparent)]
    Words(#[from] WordsError),
}

/// The commit payload: which catalogue, up to which batch, by which rules of segmentation.
fn payload(epoch: &str, batch: i64) -> String {
    format!("{epoch}:{batch}:{SCHEMA_REVISION}")
}

/// Up to which batch the words are done, if they belong to this catalogue.
pub fn done_batch(payload: Option<&str>, epoch: &str, last_batch: i64) -> Result<i64, String> {
    let Some(payload) = payload else {
        return Err("they were never committed".into());
    };
    let mut parts = payload.split(':');
    let (of, batch, revision) = (parts.next(), parts.next(), parts.next());
    if of != Some(epoch) {
        return Err("they belong to another catalogue".into());
    }
    if revision != Some(SCHEMA_REVISION.to_string().as_str()) {
        return Err("they were made by other rules".into());
    }
    match batch.and_then(|b| b.parse().ok()) {
        Some(batch) if batch <= last_batch => Ok(batch),
        Some(_) => Err("they are of a batch the catalogue never stamped".into()),
        None => Err("their mark cannot be read".into()),
    }
}

/// The words as a reader finds them, and up to which batch they are done. `None` and 0 when there are none to trust.
pub fn open_words(
    catalogue: &Catalogue,
    directory: &Path,
) -> Result<(Option<Words>, i64), WordsStage> {
    let words = match Words::open(directory) {
        Ok(words) => words,
        Err(error) if error.asks_for_rebuild() => return Ok((None, 0)),
        Err(error) => return Err(error.into()),
    };
    let (epoch, last_batch) = catalogue.epoch()?;
    Ok(match done_batch(words.payload(), &epoch, last_batch) {
        Ok(done) => (Some(words), done),
        Err(_) => (None, 0),
    })
}

/// Bring the words up to the catalogue, for at most `budget` (`None` = to the end). The caller holds the writer lock.
pub fn index_words(
    catalogue: &Catalogue,
    directory: &Path,
    formats: &[&'static dyn Format],
    budget: Option<Duration>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<(), WordsStage> {
    let started = Instant::now();
    let (epoch, last_batch) = catalogue.epoch()?;
    let state = match Words::open(directory) {
        Ok(words) => done_batch(words.payload(), &epoch, last_batch),
        Err(WordsError::Missing(_)) => Err(String::new()),
        Err(error) if error.asks_for_rebuild() => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let (mut done, anew) = match state {
        Ok(done) => (done, false),
        Err(why) => {
            if !why.is_empty() {
                report
                    .notes
                    .push(format!("the words are built anew: {why}"));
            }
            let made = directory
                .exists()
                .then(|| std::fs::remove_dir_all(directory))
                .transpose();
            made.map_err(WordsError::from)?;
            catalogue.begin()?;
            catalogue.owe_everything()?;
            catalogue.commit()?;
            (0, true)
        }
    };
    catalogue.settle_batches(done)?;
    let (of, rows) = catalogue.outstanding(done)?;
    let epoch = catalogue.epoch()?.0;
    if rows == 0 && catalogue.dead(done)?.is_empty() && !anew {
        return Ok(());
    }
    let mut writer = WordsWriter::open(directory, WRITER_BYTES, WRITER_THREADS)?;
    if anew {
        writer.commit(&payload(&epoch, 0))?;
    }
    let mut failed: HashSet<i64> = HashSet::new();
    let mut indexed = 0;
    let result = loop {
        if budget.is_some_and(|b| started.elapsed() >= b) {
            break Ok(());
        }
        let bytes = if budget.is_some() {
            SMALL_BATCH_BYTES
        } else {
            BATCH_BYTES
        };
        let work = catalogue.next_work(bytes, &failed)?;
        let dead = catalogue.dead(done)?;
        if work.is_empty() && dead.is_empty() {
            break Ok(());
        }
        for range in &dead {
            writer.delete_entries(range.first as u64, range.last as u64)?;
        }
        let mut complete = Vec::with_capacity(work.len());
        let jobs = jobs(catalogue, &work)?;
        let added = add_all(&mut writer, formats, jobs, |item, docs| {
            indexed += item.bytes;
            progress(Event::Indexed { bytes: indexed, of });
            match docs {
                Some((count, read)) => {
                    report.passages += count;
                    report.bytes_read += read;
                    complete.push(item);
                }
                // Changed or unreadable since it was catalogued: owed until the next sync has looked.
                None => {
                    failed.insert(item.item);
                }
            }
        });
        if let Err(error) = added {
            break Err(error.into());
        }
        if complete.is_empty() && dead.is_empty() {
            continue;
        }
        let batch = catalogue.stamp(&complete, &dead)?;
        if let Err(error) = writer.commit(&payload(&epoch, batch)) {
            break Err(error.into());
        }
        done = batch;
        catalogue.settle_batches(done)?;
    };
    // Merges must end before the lock is given up; see DESIGN.
    let closed = writer.close();
    report.outstanding = catalogue.outstanding(done)?.1;
    report.ms.words += started.elapsed().as_secs_f64() * 1000.0;
    result.and(closed.map_err(WordsStage::from))
}

/// An item with all that reading it needs.
struct Job {
    item: Item,
    path: PathBuf,
    format: String,
    entries: Vec<StoredEntry>,
    tools: HashMap<i64, Vec<String>>,
}

fn jobs(catalogue: &Catalogue, work: &[Item]) -> Result<Vec<Job>, catalogue::Error> {
    let mut jobs = Vec::with_capacity(work.len());
    for item in work {
        let Some((path, format)) = catalogue.source_place(item.source)? else {
            continue;
        };
        let mut entries = catalogue.entries_between(item.source, item.first, item.last)?;
        entries.retain(|e| e.flags & flag::PROVISIONAL == 0);
        let tools = catalogue.tools_between(item.first, item.last)?;
        jobs.push(Job {
            item: item.clone(),
            path,
            format,
            entries,
            tools,
        });
    }
    Ok(jobs)
}

/// Read all jobs on every core and add them, one item as a whole or not at all.
fn add_all(
    writer: &mut WordsWriter,
    formats: &[&'static dyn Format],
    jobs: Vec<Job>,
    mut each: impl FnMut(Item, Option<(u64, u64)>),
) -> Result<(), WordsError> {
    rayon::in_place_scope(|scope| {
        let (send, receive) = sync_channel(4);
        scope.spawn(move |_| {
            jobs.into_par_iter().with_max_len(1).for_each(|job| {
                let docs = documents(&job, formats, &Wanted::all());
                // A closed channel means the writer failed; its error is told.
                let _ = send.send((job.item, docs));
            });
        });
        for (item, docs) in receive {
            let Some((docs, read)) = docs else {
                each(item, None);
                continue;
            };
            let count = docs.len() as u64;
            for doc in docs {
                writer.add(doc)?;
            }
            each(item, Some((count, read)));
        }
        Ok(())
    })
}

/// The passages of a job's class, and the bytes read; `None` when its bytes are no longer what was catalogued.
fn documents(
    job: &Job,
    formats: &[&'static dyn Format],
    wanted: &Wanted<'_>,
) -> Option<(Vec<Doc>, u64)> {
    let format = formats.iter().find(|f| f.name() == job.format)?;
    let (Some(first), Some(last)) = (job.entries.first(), job.entries.last()) else {
        return Some((Vec::new(), 0));
    };
    let (start, end) = (first.start, last.start + last.length);
    let mut file = File::open(&job.path).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = vec![0; (end - start) as usize];
    file.read_exact(&mut bytes).ok()?;
    let mut docs = Vec::new();
    for entry in &job.entries {
        let from = (entry.start - start) as usize;
        let record = &bytes[from..from + entry.length as usize];
        if hash(record) != entry.hash {
            return None;
        }
        if !(wanted.record)(record) {
            continue;
        }
        for passage in format.passages_at(&job.path, record) {
            if passage.class == job.item.class && (wanted.pieces)(&passage.pieces) {
                docs.push(doc(
                    entry,
                    passage.class,
                    passage.pieces,
                    job.tools.get(&entry.key),
                ));
            }
        }
    }
    Some((docs, end - start))
}

/// A passage with the facts that searches filter by.
pub fn doc(
    entry: &StoredEntry,
    class: Class,
    pieces: Vec<String>,
    tools: Option<&Vec<String>>,
) -> Doc {
    Doc {
        key: entry.key as u64,
        class,
        time_ms: entry.time_ms,
        kind: entry.kind.clone(),
        role: entry.role.clone(),
        tools: tools.cloned().unwrap_or_default(),
        is_error: entry.flags & flag::ERROR != 0,
        pieces,
    }
}

/// Which passages are wanted: first asked of the raw record, then of the decoded text.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// `false` is certain: no passage of the record is wanted.
    pub record: &'a (dyn Fn(&[u8]) -> bool + Sync),
    /// Whether a passage of these pieces is wanted.
    pub pieces: &'a (dyn Fn(&[String]) -> bool + Sync),
}

impl Wanted<'_> {
    fn all() -> Wanted<'static> {
        Wanted {
            record: &|_| true,
            pieces: &|_| true,
        }
    }
}

/// What the overlay needs: the documents that the words at `done` lack and that may match.
pub struct Owed {
    /// Their passages.
    pub docs: Vec<Doc>,
    /// Items whose bytes changed since they were catalogued.
    pub failed: u64,
}

/// Read what is owed, filtered by the raw bytes.
pub fn owed_documents(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    done: i64,
    wanted: &Wanted<'_>,
) -> Result<Owed, catalogue::Error> {
    let mut work = catalogue.owed(done)?;
    for entry in catalogue.provisional_entries()? {
        for class in [Class::Prose, Class::Output] {
            work.push(Item {
                item: 0,
                source: entry.source,
                first: entry.key,
                last: entry.key,
                class,
                bytes: entry.length,
            });
        }
    }
    let mut jobs = Vec::with_capacity(work.len());
    for item in &work {
        let Some((path, format)) = catalogue.source_place(item.source)? else {
            continue;
        };
        let entries = catalogue.entries_between(item.source, item.first, item.last)?;
        let tools = catalogue.tools_between(item.first, item.last)?;
        jobs.push(Job {
            item: item.clone(),
            path,
            format,
            entries,
            tools,
        });
    }
    let read: Vec<Option<(Vec<Doc>, u64)>> = jobs
        .par_iter()
        .map(|job| documents(job, formats, wanted))
        .collect();
    let failed = read.iter().filter(|r| r.is_none()).count() as u64;
    Ok(Owed {
        docs: read
            .into_iter()
            .flatten()
            .flat_map(|(docs, _)| docs)
            .collect(),
        failed,
    })
}
