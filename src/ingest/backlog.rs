//! What do searches find in the text that the words still lack? It is read from the files, once, on
//! every core, and forgotten again.
//!
//! Threads read the files; the one that called looks entries up in the catalogue for them. Where
//! the bytes of a file rule all matches out, its entries are not looked up.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

use crate::catalogue::backlog::BacklogRange;
use crate::catalogue::outbox::OutboxItem;
use crate::catalogue::write::{ARRIVAL_BITS, flag};
use crate::catalogue::{self, Catalogue};
use crate::format::{Format, format_named};
use crate::model::Event;
use crate::model::{Class, Standing};
use crate::source::content::Location;
use crate::threads;
use crate::words::{BacklogEntry, Facts, Scan, Scope, ThreadResult};

mod reader;

use reader::{BacklogReader, Entry, EntryRanges, KeepReading, Range};

/// So much is read sooner than threads are started for it.
const LITTLE_BYTES: u64 = 64 << 10;
/// A larger file is read in parts of about this many bytes.
const PART_BYTES: u64 = 4 << 20;
/// Ranges are joined up to so many bytes: bytes that changed hide what is read together with them.
const JOINED_BYTES: u64 = 1 << 20;
/// How often progress is reported, at least.
const TELL: Duration = Duration::from_millis(100);

/// Whether the conversation is in the backlog, and whether the answers of tools are.
type BacklogClasses = [bool; 2];

/// Let `scan` read everything that the words at batch `done` lack (`None`: there are no words) and
/// the scope admits. Also returns the sources whose bytes changed since they were catalogued, or
/// that cannot be read. Reading stops early when the answer is no longer wanted.
pub fn scan_backlog<'a>(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    done: Option<i64>,
    scan: &'a Scan,
    scope: &Scope<'_>,
    progress: &mut dyn FnMut(Event),
) -> Result<(Vec<ThreadResult<'a>>, BTreeSet<i64>), catalogue::Error> {
    let (ranges, mut failed) = match done {
        Some(done) => lacking(catalogue, formats, done)?,
        None => {
            let mut all = AllText::new(formats, scope);
            catalogue.stretches(PART_BYTES, |one| all.add(one))?;
            (all.ranges, all.failed)
        }
    };
    let mut parts = Vec::new();
    if ranges.is_empty() {
        return Ok((parts, failed));
    }
    let of: u64 = ranges.iter().map(|range| range.bytes).sum();
    let entries = |number: usize| entries(catalogue, &ranges[number], scope);
    // To ask for their number already starts the threads.
    if of > LITTLE_BYTES {
        // One more than there are cores, for one may wait for the catalogue.
        let threads = (threads::count() + 1).min(ranges.len());
        let report = |bytes| progress(Event::Scanned { bytes, of });
        let wanted = scope.wanted;
        if let Some(read) = read_together(&ranges, threads, scan, wanted, entries, report)? {
            return Ok(read);
        }
    }
    let (mut error, large) = (None, Mutex::new(()));
    let entries = |number| entries(number).map_err(|e| error = Some(e)).ok();
    let wanted = scope.wanted;
    let mut reader = BacklogReader::new(scan.part(), entries, &large, wanted);
    for (number, range) in ranges.iter().enumerate() {
        if !reader.is_wanted() {
            break;
        }
        if !reader.read(number, range) {
            failed.insert(range.source);
        }
    }
    parts.push(reader.part);
    error.map_or(Ok((parts, failed)), Err)
}

/// What each thread read, and the sources of which it could not read something.
type ReadParts<'a> = (Vec<ThreadResult<'a>>, BTreeSet<i64>);

/// Read all ranges on so many `threads`, or fewer if the system refuses more. `None`: it refuses
/// all.
fn read_together<'a>(
    ranges: &[Range],
    threads: usize,
    scan: &'a Scan,
    wanted: KeepReading<'_>,
    entries: impl Fn(usize) -> Result<Vec<Entry>, catalogue::Error>,
    mut report: impl FnMut(u64),
) -> Result<Option<ReadParts<'a>>, catalogue::Error> {
    let (next, read, large) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::new(()));
    let parts_of_one = parts_of_one(ranges);
    std::thread::scope(|scope| {
        let (ask, asked) = channel();
        let start = |_| {
            let mut reader = BacklogReader::new(scan.part(), asking(ask.clone()), &large, wanted);
            let (next, read, all) = (&next, &read, &parts_of_one);
            let read_on = move || {
                let mut failed = BTreeSet::new();
                while let Some(numbers) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for number in numbers.clone() {
                        if !reader.is_wanted() {
                            return (reader.part, failed);
                        }
                        let range = &ranges[number];
                        if !reader.read(number, range) {
                            failed.insert(range.source);
                        }
                        read.fetch_add(range.bytes, Ordering::Relaxed);
                    }
                }
                (reader.part, failed)
            };
            Builder::new().spawn_scoped(scope, read_on).ok()
        };
        let readers: Vec<_> = (0..threads).map_while(start).collect();
        if readers.is_empty() {
            return Ok(None);
        }
        drop(ask);
        let served = serve(asked, entries, || report(read.load(Ordering::Relaxed)));
        let (mut parts, mut failed) = (Vec::new(), BTreeSet::new());
        for reader in readers {
            match reader.join() {
                Ok((part, changed)) => {
                    parts.push(part);
                    failed.extend(changed);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        served.map(|()| Some((parts, failed)))
    })
}

/// The ranges that a thread takes at once, by their numbers: all of a session in a database, which
/// is read as a whole when it is opened, and of a file one.
fn parts_of_one(ranges: &[Range]) -> Vec<std::ops::Range<usize>> {
    let is_one = |a: &Range, b: &Range| a.source == b.source && a.format.about().database.is_some();
    let (mut parts, mut next) = (Vec::new(), 0);
    for part in ranges.chunk_by(is_one) {
        parts.push(next..next + part.len());
        next += part.len();
    }
    parts
}

/// A thread asks for the entries of a range.
struct Request {
    range: usize,
    answer: SyncSender<Vec<Entry>>,
}

/// How a thread asks; `None` when the catalogue cannot tell, which ends the search.
fn asking(ask: Sender<Request>) -> impl FnMut(usize) -> Option<Vec<Entry>> {
    move |range| {
        let (answer, answered) = sync_channel(1);
        ask.send(Request { range, answer }).ok()?;
        answered.recv().ok()
    }
}

/// Answer requests until no thread is left to ask. An error ends this, and all waiting threads with
/// it.
fn serve(
    asked: Receiver<Request>,
    entries: impl Fn(usize) -> Result<Vec<Entry>, catalogue::Error>,
    mut report: impl FnMut(),
) -> Result<(), catalogue::Error> {
    loop {
        match asked.recv_timeout(TELL) {
            Ok(request) => {
                // Sending fails only if the asking thread has panicked, which is found when it is
                // joined.
                let _ = request.answer.send(entries(request.range)?);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        report();
    }
}

/// Where files are and how they are read; `None` for a format that is not known here.
type Files = HashMap<i64, Option<(Arc<Location>, &'static dyn Format)>>;

/// What the words at batch `done` lack: the items of the same entries together, and the entries
/// that only searches read. Also the sources whose formats are not known here.
fn lacking(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    done: i64,
) -> Result<(Vec<Range>, BTreeSet<i64>), catalogue::Error> {
    let mut lacking: Vec<(OutboxItem, BacklogClasses)> = Vec::new();
    let mut items = catalogue.outbox(done)?;
    items.sort_by_key(|item| (item.source, item.first, item.last));
    for item in items {
        let share = usize::from(item.of_tools);
        let place = |item: &OutboxItem| (item.source, item.first, item.last);
        match lacking.last_mut() {
            Some((known, shares)) if place(known) == place(&item) => shares[share] = true,
            _ => {
                let mut shares = [false; 2];
                shares[share] = true;
                lacking.push((item, shares));
            }
        }
    }
    let mut lacking = joined(lacking);
    for entry in catalogue.provisional_entries()? {
        let item = OutboxItem {
            item: 0,
            source: entry.source,
            first: entry.key,
            last: entry.key,
            of_tools: false,
            bytes: entry.length,
        };
        lacking.push((item, [true; 2]));
    }
    let (mut ranges, mut failed, mut files) = (Vec::new(), BTreeSet::new(), Files::new());
    for (item, shares) in lacking {
        let file = match files.get(&item.source) {
            Some(file) => file,
            None => {
                let Some((path, name)) = catalogue.source_place(item.source)? else {
                    continue;
                };
                let file = format_named(formats, &name).map(|format| (Arc::new(path), format));
                files.entry(item.source).or_insert(file)
            }
        };
        match file {
            Some((path, format)) => ranges.push(Range {
                source: item.source,
                first: item.first,
                last: item.last,
                bytes: item.bytes,
                shares,
                path: Arc::clone(path),
                format: *format,
                place: None,
            }),
            None => {
                failed.insert(item.source);
            }
        }
    }
    Ok((ranges, failed))
}

/// Whether entries of a session may be asked for.
fn admits(scope: &Scope<'_>, session: i64) -> bool {
    scope.sessions.is_none_or(|may_be| may_be(session))
}

/// All text of the sessions that the scope may leave.
struct AllText<'s> {
    formats: &'s [&'static dyn Format],
    scope: &'s Scope<'s>,
    ranges: Vec<Range>,
    /// Sources whose formats are not known here.
    failed: BTreeSet<i64>,
}

impl<'s> AllText<'s> {
    fn new(formats: &'s [&'static dyn Format], scope: &'s Scope<'s>) -> Self {
        Self {
            formats,
            scope,
            ranges: Vec::new(),
            failed: BTreeSet::new(),
        }
    }

    fn add(&mut self, stretch: BacklogRange) {
        if !admits(self.scope, stretch.first >> ARRIVAL_BITS) {
            return;
        }
        let Some(format) = format_named(self.formats, &stretch.format) else {
            self.failed.insert(stretch.source);
            return;
        };
        self.ranges.push(Range {
            source: stretch.source,
            first: stretch.first,
            last: stretch.last,
            bytes: stretch.end.saturating_sub(stretch.start),
            shares: [true; 2],
            path: Arc::new(stretch.path),
            format,
            place: Some(EntryRanges {
                start: stretch.start,
                end: stretch.end,
                identity: stretch.identity,
            }),
        });
    }
}

/// Join ranges of entries that follow each other in one source, because each append is an item of
/// its own in the outbox.
fn joined(ranges: Vec<(OutboxItem, BacklogClasses)>) -> Vec<(OutboxItem, BacklogClasses)> {
    let mut all: Vec<(OutboxItem, BacklogClasses)> = Vec::with_capacity(ranges.len());
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

fn goes_on(known: &OutboxItem, next: &OutboxItem) -> bool {
    known.source == next.source
        && known.last + 1 == next.first
        && known.bytes + next.bytes <= JOINED_BYTES
}

/// The entries of a range in file order.
fn entries(
    catalogue: &Catalogue,
    range: &Range,
    scope: &Scope<'_>,
) -> Result<Vec<Entry>, catalogue::Error> {
    let filters_tools = !scope.tools.any.is_empty() || !scope.tools.none.is_empty();
    let tools = if filters_tools {
        catalogue.tools_between(range.first, range.last)?
    } else {
        HashMap::new()
    };
    let mut entries = Vec::new();
    catalogue.backlog_entries(range.source, range.first, range.last, |row| {
        if !range.shares[usize::from(row.flags & flag::TOOL_RESULT != 0)] {
            return;
        }
        let key = row.key as u64;
        let facts = Facts {
            time_ms: row.searched_ms,
            kind: row.kind,
            role: row.role,
            tools: tools.get(&row.key).map_or(&[], Vec::as_slice),
            is_error: row.flags & flag::ERROR != 0,
        };
        entries.push(Entry {
            asked: BacklogEntry {
                key,
                time_ms: row.searched_ms,
                standing: Standing::of(
                    Class::Prose,
                    range.format.about().is_name(row.kind),
                    row.role,
                ),
                admitted: scope.admits(&facts) && scope.allow.is_none_or(|allow| allow(key)),
            },
            start: row.start,
            length: row.length,
            hash: row.hash,
            flags: row.flags,
            ended: row.ended,
            row: row.row.map(str::to_owned),
        });
    })?;
    // Keys ascend in nearly the same order.
    entries.sort_by_key(|entry| entry.start);
    Ok(entries)
}
