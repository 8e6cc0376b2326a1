//! What does an entry say, byte for byte, or on one line? `raw(entry)` and `preview(entry)` in SQL:
//! the text is in the session file, not in the catalogue.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::functions::{Context, FunctionFlags};

use super::error::Error;
use super::open::Catalogue;
use super::write::flag;
use crate::format::{Format, format_named};
use crate::source::checkpoint::hash;
use crate::source::content::{Content, Location};
use crate::source::place::bytes_at;

/// How often it is tried to see what the statement sees, while others commit.
const TRIES: usize = 5;

/// How entries are read, and what they say on one line.
pub struct Preview {
    /// The formats that are known; what others wrote says nothing.
    pub formats: Vec<&'static dyn Format>,
    /// What an entry says on one line, by its format, its file's path and its record.
    pub line: LineOfEntry,
}

/// See [`Preview::line`].
pub type LineOfEntry = Box<dyn Fn(&dyn Format, &Path, &[u8]) -> String + Send>;

/// What reads entries for one statement.
pub(super) struct EntryReader {
    preview: Preview,
    /// To look entries up in.
    catalogue: Catalogue,
    /// The file that was read last.
    open: Option<(Location, Content)>,
    /// Files that hold other bytes than those catalogued, by their sources.
    changed: BTreeMap<i64, PathBuf>,
}

/// A [`EntryReader`] that SQLite holds, too.
pub(super) struct SharedEntryReader(Arc<Mutex<EntryReader>>);

/// Take a snapshot of both. Whether there was no commit in between.
fn snapshots_of_one_state(catalogue: &Catalogue, to: &Catalogue) -> Result<bool, Error> {
    let mut versions = [0; 2];
    for version in &mut versions {
        catalogue.end_snapshot();
        catalogue.snapshot()?;
        *version = catalogue.data_version()?;
        // Between the two: what this one sees is what both of them see.
        if !to.holds_snapshot() {
            to.snapshot()?;
        }
    }
    let is_one = versions[0] == versions[1];
    if !is_one {
        to.end_snapshot();
    }
    Ok(is_one)
}

impl SharedEntryReader {
    /// Let statements of `to`, which holds no snapshot yet, call `raw(entry)`, the entry's record
    /// as text, and `preview(entry)`; NULL for a number that is no entry, and for an entry whose
    /// bytes are no longer what was catalogued. Both hold a snapshot of one state afterwards.
    ///
    /// # Errors
    /// [`Error::Replaced`] when the catalogue is another one by now, or is written again and again.
    pub(super) fn register(to: &Catalogue, preview: Preview) -> Result<SharedEntryReader, Error> {
        let replaced = || Error::Replaced {
            path: to.path().to_path_buf(),
        };
        let opened = Catalogue::open_readable(to.path())?;
        let catalogue = opened.filter(|opened| opened.file() == to.file());
        let catalogue = catalogue.ok_or_else(replaced)?;
        let mut tries = 0;
        while !snapshots_of_one_state(&catalogue, to)? {
            tries += 1;
            if tries == TRIES {
                return Err(replaced());
            }
        }
        let reader = Arc::new(Mutex::new(EntryReader {
            preview,
            catalogue,
            open: None,
            changed: BTreeMap::new(),
        }));
        for (name, says) in [
            ("raw", EntryReader::text as EntryFunction),
            ("preview", EntryReader::preview as EntryFunction),
        ] {
            to.with_path(SharedEntryReader(Arc::clone(&reader)).function(to, name, says))?;
        }
        Ok(SharedEntryReader(reader))
    }

    /// Makes a function of an entry's number.
    fn function(self, to: &Catalogue, name: &str, says: EntryFunction) -> rusqlite::Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        let of_entry = move |context: &Context<'_>| {
            let Some(entry) = context.get::<Option<i64>>(0)? else {
                return Ok(None);
            };
            // SQLite's own error keeps its number, so that damage is recognized as damage.
            let failed = |e: Error| match e {
                Error::Sqlite {
                    error: rusqlite::Error::SqliteFailure(code, _),
                    ..
                } => rusqlite::Error::SqliteFailure(code, None),
                e => rusqlite::Error::UserFunctionError(e.into()),
            };
            says(&mut self.reader(), entry).map_err(failed)
        };
        to.connection
            .create_scalar_function(name, 1, flags, of_entry)
    }

    fn reader(&self) -> MutexGuard<'_, EntryReader> {
        let reader = self.0.lock();
        reader.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Files that turned out to hold other bytes than those catalogued, by their sources.
    pub(super) fn changed(&self) -> BTreeMap<i64, PathBuf> {
        std::mem::take(&mut self.reader().changed)
    }
}

/// The record of an entry, its file and its format.
type Record = (Vec<u8>, Location, &'static dyn Format);

/// What one of the functions says of an entry.
type EntryFunction = fn(&mut EntryReader, i64) -> Result<Option<String>, Error>;

impl EntryReader {
    fn text(&mut self, key: i64) -> Result<Option<String>, Error> {
        // One that says what another model took has no bytes.
        let read = self.record(key)?.filter(|(record, ..)| !record.is_empty());
        Ok(read.map(|(record, ..)| String::from_utf8_lossy(&record).into_owned()))
    }

    fn preview(&mut self, key: i64) -> Result<Option<String>, Error> {
        let entry = self.catalogue.entry(key)?;
        if entry.is_some_and(|entry| entry.flags & flag::SILENT != 0) {
            return Ok(Some(String::new()));
        }
        let read = self.record(key)?;
        Ok(read.map(|(record, path, format)| (self.preview.line)(format, &path, &record)))
    }

    /// The entry's record, its file and its format.
    fn record(&mut self, key: i64) -> Result<Option<Record>, Error> {
        let Some(entry) = self.catalogue.entry(key)? else {
            return Ok(None);
        };
        let Some((path, name)) = self.catalogue.source_place(entry.source)? else {
            return Ok(None);
        };
        let Some(format) = format_named(&self.preview.formats, &name) else {
            return Ok(None);
        };
        // A file that cannot be read says nothing any more.
        let bytes = self.bytes(format, &path, (entry.start, entry.length));
        let bytes = bytes.ok().flatten();
        let record = bytes.filter(|bytes| hash(bytes) == entry.hash);
        let Some(record) = record else {
            self.changed.insert(entry.source, path.to_path_buf());
            return Ok(None);
        };
        Ok(Some((record, path, format)))
    }

    fn bytes(
        &mut self,
        format: &dyn Format,
        path: &Location,
        (start, length): (u64, u64),
    ) -> std::io::Result<Option<Vec<u8>>> {
        let file = match self.open.take() {
            Some((open, file)) if open == *path => file,
            _ => path.open(format)?,
        };
        let (_, file) = self.open.insert((path.clone(), file));
        bytes_at(file, start, length)
    }
}
