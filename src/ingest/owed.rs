//! What do searches find in the text that the words still lack? It is read from the files, once, on
//! every core, and forgotten again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::sync::Event;
use crate::catalogue::outbox::Item;
use crate::catalogue::write::flag;
use crate::catalogue::{self, Catalogue};
use crate::format::Format;
use crate::model::{Class, Standing};
use crate::source::checkpoint::hash;
use crate::words::{Facts, Owed, Part, Scan, Scope};

/// Bytes of entries that are read whatever they say, about: the sample that scores rest on.
const SAMPLE_BYTES: u64 = 512 << 10;
/// A range of more bytes is read by one thread at a time, and its memory given back.
const LARGE_BYTES: u64 = 16 << 20;
/// Ranges are joined up to so many bytes: bytes that changed hide what is read together with them.
const JOINED_BYTES: u64 = 1 << 20;
/// Ranges that wait for a thread.
const WAITING: usize = 8;

/// A range of owed entries with all that reading it needs.
struct Range {
    path: Arc<PathBuf>,
    format: &'static dyn Format,
    shares: Shares,
    entries: Vec<Entry>,
}

struct Entry {
    owed: Owed,
    start: u64,
    length: u64,
    hash: u64,
}

/// Whether the conversation is owed, and whether the answers of tools are.
type Shares = [bool; 2];

/// Let `scan` read all that the words at batch `done` lack (`None`: there are none) and the scope admits. Also returns how
/// many items hold bytes that changed since they were catalogued.
pub fn scan_owed<'a>(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    done: Option<i64>,
    scan: &'a Scan,
    scope: &Scope<'_>,
    progress: &mut dyn FnMut(Event),
) -> Result<(Vec<Part<'a>>, u64), catalogue::Error> {
    let owed = owed_ranges(catalogue, done)?;
    let bytes: u64 = owed.iter().map(|(item, _)| item.bytes).sum();
    let step = bytes / SAMPLE_BYTES + 1;
    let threads = rayon::current_num_threads().min(owed.len());
    let (send, receive) = sync_channel::<Range>(WAITING);
    let (receive, large) = (Mutex::new(receive), Mutex::new(()));
    std::thread::scope(|threads_of| {
        let readers: Vec<_> = (0..threads)
            .map(|_| threads_of.spawn(|| read_all(scan, &receive, &large)))
            .collect();
        let mut failed = 0;
        let mut places: HashMap<i64, Option<(Arc<PathBuf>, String)>> = HashMap::new();
        let mut read = 0;
        let mut queue = || -> Result<(), catalogue::Error> {
            for (item, shares) in &owed {
                progress(Event::Scanned {
                    bytes: read,
                    of: bytes,
                });
                read += item.bytes;
                let place = match places.get(&item.source) {
                    Some(place) => place,
                    None => {
                        let place = catalogue.source_place(item.source)?;
                        let place = place.map(|(path, format)| (Arc::new(path), format));
                        places.entry(item.source).or_insert(place)
                    }
                };
                let Some((path, format)) = place else {
                    continue;
                };
                let Some(format) = formats.iter().find(|f| f.name() == format) else {
                    failed += items(*shares);
                    continue;
                };
                let range = Range {
                    path: Arc::clone(path),
                    format: *format,
                    shares: *shares,
                    entries: entries(catalogue, item, *shares, step, scope)?,
                };
                // A closed channel means the readers have panicked, which joining them tells.
                let _ = send.send(range);
            }
            Ok(())
        };
        let queued = queue();
        drop(send);
        let mut parts = Vec::with_capacity(readers.len());
        for reader in readers {
            match reader.join() {
                Ok((part, changed)) => {
                    parts.push(part);
                    failed += changed;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        queued.map(|()| (parts, failed))
    })
}

/// The owed items, those of the same entries together, and the entries that only searches read.
fn owed_ranges(
    catalogue: &Catalogue,
    done: Option<i64>,
) -> Result<Vec<(Item, Shares)>, catalogue::Error> {
    let mut items = match done {
        Some(done) => catalogue.owed(done)?,
        None => catalogue.owed_without_words()?,
    };
    items.sort_by_key(|item| (item.source, item.first, item.last));
    let mut ranges: Vec<(Item, Shares)> = Vec::new();
    for item in items {
        let share = usize::from(item.answers);
        match ranges.last_mut() {
            Some((known, shares))
                if (known.source, known.first, known.last)
                    == (item.source, item.first, item.last) =>
            {
                shares[share] = true;
            }
            _ => {
                let mut shares = [false; 2];
                shares[share] = true;
                ranges.push((item, shares));
            }
        }
    }
    let mut ranges = joined(ranges);
    for entry in catalogue.provisional_entries()? {
        let item = Item {
            item: 0,
            source: entry.source,
            first: entry.key,
            last: entry.key,
            answers: false,
            bytes: entry.length,
        };
        ranges.push((item, [true; 2]));
    }
    Ok(ranges)
}

/// Ranges of entries that follow each other in one source are read together: appends are owed one by one.
fn joined(ranges: Vec<(Item, Shares)>) -> Vec<(Item, Shares)> {
    let mut all: Vec<(Item, Shares)> = Vec::with_capacity(ranges.len());
    for (item, shares) in ranges {
        match all.last_mut() {
            Some((known, its)) if *its == shares && goes_on(known, &item) => {
                known.last = item.last;
                known.bytes += item.bytes;
            }
            _ => all.push((item, shares)),
        }
    }
    all
}

fn goes_on(known: &Item, next: &Item) -> bool {
    known.source == next.source
        && known.last + 1 == next.first
        && known.bytes + next.bytes <= JOINED_BYTES
}

/// How many items a range of these shares is.
fn items(shares: Shares) -> u64 {
    shares.into_iter().map(u64::from).sum()
}

fn entries(
    catalogue: &Catalogue,
    item: &Item,
    shares: Shares,
    step: u64,
    scope: &Scope<'_>,
) -> Result<Vec<Entry>, catalogue::Error> {
    let filters_tools = !scope.tools.any.is_empty() || !scope.tools.none.is_empty();
    let tools = if filters_tools {
        catalogue.tools_between(item.first, item.last)?
    } else {
        HashMap::new()
    };
    let mut entries = Vec::new();
    catalogue.owed_entries(item.source, item.first, item.last, |row| {
        if !shares[usize::from(row.flags & flag::ANSWER != 0)] {
            return;
        }
        let key = row.key as u64;
        let facts = Facts {
            time_ms: row.time_ms,
            kind: row.kind,
            role: row.role,
            tools: tools.get(&row.key).map_or(&[], Vec::as_slice),
            is_error: row.flags & flag::ERROR != 0,
        };
        entries.push(Entry {
            owed: Owed {
                key,
                time_ms: row.time_ms,
                standing: Standing::of(Class::Prose, facts.kind, facts.role),
                admitted: scope.admits(&facts) && scope.allow.is_none_or(|allow| allow(key)),
                // The hash knows nothing of the text: any share of its values is a fair sample.
                sampled: row.hash % step == 0,
            },
            start: row.start,
            length: row.length,
            hash: row.hash,
        });
    })?;
    Ok(entries)
}

/// What one thread does: read ranges until there are no more.
fn read_all<'a>(
    scan: &'a Scan,
    ranges: &Mutex<Receiver<Range>>,
    large: &Mutex<()>,
) -> (Part<'a>, u64) {
    let mut part = scan.part();
    let mut buffer = Vec::new();
    let mut failed = 0;
    loop {
        let next = ranges.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(range) = next else {
            return (part, failed);
        };
        let read = match (range.entries.first(), range.entries.last()) {
            (Some(first), Some(last)) => {
                let (start, end) = (first.start, last.start + last.length);
                let is_large = end - start > LARGE_BYTES;
                let _alone = is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
                let read = read_range(&range, start, end, &mut buffer, &mut part);
                if is_large {
                    buffer = Vec::new();
                }
                read
            }
            _ => Some(()),
        };
        if read.is_none() {
            failed += items(range.shares);
        }
    }
}

/// Read one range as a whole; `None` when its bytes are no longer what was catalogued.
fn read_range(
    range: &Range,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    part: &mut Part<'_>,
) -> Option<()> {
    let mut file = File::open(range.path.as_path()).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let length = usize::try_from(end - start).ok()?;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    let bytes = &mut buffer[..length];
    file.read_exact(bytes).ok()?;
    let record = |entry: &Entry| {
        let from = (entry.start - start) as usize;
        &bytes[from..from + entry.length as usize]
    };
    let mut entries = range.entries.iter();
    if entries.any(|entry| hash(record(entry)) != entry.hash) {
        return None;
    }
    let follows = |a: &Entry, b: &Entry| a.owed.key + 1 == b.owed.key;
    for run in range.entries.chunk_by(follows) {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            for class in [Class::Prose, Class::Output] {
                part.cover(class, first.owed.key, last.owed.key);
            }
        }
    }
    for entry in &range.entries {
        let (owed, record) = (entry.owed, record(entry));
        part.count(owed, entry.length);
        if owed.sampled || (owed.admitted && part.may_match(record)) {
            for passage in range.format.passages_at(&range.path, record) {
                part.read(owed, passage.class, &passage.pieces);
            }
        }
    }
    Some(())
}
