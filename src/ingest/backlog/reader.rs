//! What does one thread do? It reads ranges of files and lets its part of the scan see their
//! entries.

use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::passages::passages;
use super::BacklogClasses;
use crate::format::Format;
use crate::format::Shape;
use crate::model::Class;
use crate::source::checkpoint::hash;
use crate::source::content::{Content, LastOpened, Location, has_rows, rows};
use crate::source::identity::Identity;
use crate::source::place::holds;
use crate::words::{BacklogEntry, ThreadResult};

/// Entries of a session in a database, and bytes of them, that are sooner read row by row: when the
/// session is opened all of it is read.
const FEW_ROWS: (i64, u64) = (32, 256 << 10);
/// A range of more bytes is read by one thread at a time, and its memory given back.
const LARGE_BYTES: u64 = 16 << 20;

/// Entries that are read together, with all that reading them needs.
pub(super) struct Range {
    pub source: i64,
    pub first: i64,
    pub last: i64,
    pub bytes: u64,
    pub shares: BacklogClasses,
    pub path: Arc<Location>,
    pub format: &'static dyn Format,
    /// `None`: the entries tell.
    pub place: Option<EntryRanges>,
}

/// Where all entries of a range are.
pub(super) struct EntryRanges {
    pub start: u64,
    pub end: u64,
    /// Of the file as it was catalogued.
    pub identity: Option<Identity>,
}

pub(super) struct Entry {
    pub asked: BacklogEntry,
    pub start: u64,
    pub length: u64,
    pub hash: u64,
    /// Its flags, and whether it says why it ended.
    pub flags: i64,
    /// Whether it says why it ended.
    pub ended: bool,
    /// Of a row of a database which it is, `table:key`.
    pub row: Option<String>,
}

/// Asked whether anybody still wants what is read.
pub(super) type KeepReading<'w> = Option<&'w (dyn Fn() -> bool + Sync)>;

/// What a thread has.
pub(super) struct BacklogReader<'a, 'l, E> {
    pub part: ThreadResult<'a>,
    /// The entries of the range of this number; `None`: the catalogue cannot tell.
    entries: E,
    large: &'l Mutex<()>,
    wanted: KeepReading<'l>,
    buffer: Vec<u8>,
    last: LastOpened,
}

impl<'a, 'l, E: FnMut(usize) -> Option<Vec<Entry>>> BacklogReader<'a, 'l, E> {
    pub fn new(
        part: ThreadResult<'a>,
        entries: E,
        large: &'l Mutex<()>,
        wanted: KeepReading<'l>,
    ) -> Self {
        Self {
            part,
            entries,
            large,
            wanted,
            buffer: Vec::new(),
            last: LastOpened::default(),
        }
    }

    /// Whether anybody still wants what is read.
    pub fn is_wanted(&self) -> bool {
        self.wanted.is_none_or(|wanted| wanted())
    }

    /// Read the range of this number; whether its bytes are what was catalogued.
    pub fn read(&mut self, number: usize, range: &Range) -> bool {
        let is_large = range.bytes > LARGE_BYTES;
        let large = self.large;
        let _alone = is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        let read = match self.read_rows(number, range) {
            Some(read) => read,
            None => self.read_range(number, range),
        };
        if is_large {
            self.buffer = Vec::new();
        }
        read.is_some()
    }

    /// Read the range row by row. `None`: it is not one of a few rows that are as they were
    /// catalogued, and is to be read as any other.
    fn read_rows(&mut self, number: usize, range: &Range) -> Option<Option<()>> {
        let (few, bytes) = FEW_ROWS;
        let may_be = range.place.is_none()
            && range.bytes <= bytes
            && range.last - range.first < few
            && range.format.about().database.is_some()
            && !range.path.is_archived()
            && has_rows(range.format, &range.path);
        if !may_be {
            return None;
        }
        let entries = (self.entries)(number)?;
        let names: Option<Vec<&str>> = entries.iter().map(|entry| entry.row.as_deref()).collect();
        let lines = rows(range.format, &range.path, &names?).ok()?;
        let lines: Vec<Vec<u8>> = lines.into_iter().collect::<Option<_>>()?;
        let mut both = entries.iter().zip(&lines);
        if !both.all(|(entry, line)| hash(line) == entry.hash) {
            return None;
        }
        cover(&mut self.part, &entries);
        for (entry, line) in entries.iter().zip(&lines) {
            if !self.is_wanted() {
                return Some(None);
            }
            give(&mut self.part, range, entry, line, true);
        }
        Some(Some(()))
    }

    /// `None` when its bytes are no longer what was catalogued.
    fn read_range(&mut self, number: usize, range: &Range) -> Option<()> {
        let mut file = self.last.open(&range.path, range.format).ok()?;
        let read = self.read_opened(number, range, &mut file);
        self.last.keep(&range.path, file);
        read
    }

    fn read_opened(&mut self, number: usize, range: &Range, file: &mut Content) -> Option<()> {
        // While the identity is unchanged the bytes are, too. Otherwise each entry's hash decides.
        let same = match &range.place {
            Some(place) if place.identity.is_some() => {
                place.identity == Some(file.identity().ok()?)
            }
            _ => false,
        };
        let json = range.format.shape_of(&range.path) != Shape::Text;
        let mut held = 0..0;
        if let Some(place) = &range.place
            && same
            && self.part.rules_out()
        {
            held = place.start..place.end;
            self.fill(file, held.start, held.end)?;
            let bytes = self.bytes(0, held.end - held.start)?;
            if !self.part.may_match(bytes, json) {
                return Some(());
            }
        }
        let mut entries = (self.entries)(number)?;
        let all = entries.len();
        let start = entries.iter().map(|entry| entry.start).min().unwrap_or(0);
        let end = entries.iter().map(Entry::end).max().unwrap_or(0);
        if start < held.start || held.end < end {
            held = start..end;
            self.fill(file, start, end)?;
        }
        let Self {
            part,
            buffer,
            wanted,
            ..
        } = self;
        let record = |entry: &Entry| {
            let from = usize::try_from(entry.start - held.start).ok()?;
            buffer.get(from..from + usize::try_from(entry.length).ok()?)
        };
        let is_itself = |entry: &Entry| record(entry).is_some_and(|r| hash(r) == entry.hash);
        if !same {
            entries.retain(is_itself);
        }
        cover(part, &entries);
        for entry in &entries {
            if wanted.is_some_and(|wanted| !wanted()) {
                return None;
            }
            give(part, range, entry, record(entry)?, json);
        }
        (entries.len() == all).then_some(())
    }

    fn fill(&mut self, file: &mut Content, start: u64, end: u64) -> Option<()> {
        let length = end.checked_sub(start)?;
        if !holds(file, start, length).ok()? {
            return None;
        }
        let length = usize::try_from(length).ok()?;
        if let Some(more) = length.checked_sub(self.buffer.len()) {
            self.buffer.try_reserve(more).ok()?;
            self.buffer.resize(length, 0);
        }
        file.seek(SeekFrom::Start(start)).ok()?;
        file.read_exact(&mut self.buffer[..length]).ok()
    }

    fn bytes(&self, from: usize, length: u64) -> Option<&[u8]> {
        self.buffer.get(from..from + usize::try_from(length).ok()?)
    }
}

/// Let a part of the scan see an entry, whose bytes are `record`.
fn give(part: &mut ThreadResult<'_>, range: &Range, entry: &Entry, record: &[u8], json: bool) {
    if entry.asked.admitted && part.may_match(record, json) {
        for passage in passages(range.format, &range.path, record, entry.flags, entry.ended) {
            part.read(entry.asked, passage.class, &passage.pieces);
        }
    }
}

/// From now on the overlay stands in for these entries, run of keys by run of keys.
fn cover(part: &mut ThreadResult<'_>, entries: &[Entry]) {
    for run in entries.chunk_by(|a, b| a.asked.key + 1 == b.asked.key) {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            for class in [Class::Prose, Class::Output] {
                part.cover(class, first.asked.key, last.asked.key);
            }
        }
    }
}

impl Entry {
    fn end(&self) -> u64 {
        self.start + self.length
    }
}
