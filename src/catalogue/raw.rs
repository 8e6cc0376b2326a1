//! What does an entry say, byte for byte? `raw(entry)` in SQL: the text is in the session file, not in the catalogue.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::open::{Catalogue, Error};
use crate::source::checkpoint::hash;
use crate::source::place::bytes_at;

/// The catalogue to look entries up in, and the file that was read last.
struct Reader {
    catalogue: Catalogue,
    open: Option<(PathBuf, File)>,
}

/// Let statements of `to` call `raw(entry)`: the entry's record as text; NULL for a number that is no entry, and for an
/// entry whose bytes are no longer what was catalogued.
pub(super) fn register(to: &Connection, catalogue: &Path) -> rusqlite::Result<()> {
    let path = catalogue.to_path_buf();
    // Opened by the first call: most queries have none.
    let reader: Mutex<Option<Reader>> = Mutex::new(None);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    to.create_scalar_function("raw", 1, flags, move |context| {
        let Some(entry) = context.get::<Option<i64>>(0)? else {
            return Ok(None);
        };
        // SQLite's own error keeps its number: what is damaged is told as such.
        let failed = |e: Error| match e {
            Error::Sqlite {
                error: rusqlite::Error::SqliteFailure(code, _),
                ..
            } => rusqlite::Error::SqliteFailure(code, None),
            e => rusqlite::Error::UserFunctionError(e.into()),
        };
        let mut reader = reader
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if reader.is_none() {
            *reader = Catalogue::open_readable(&path)
                .map_err(failed)?
                .map(|catalogue| Reader {
                    catalogue,
                    open: None,
                });
        }
        match reader.as_mut() {
            Some(reader) => reader.text(entry).map_err(failed),
            None => Ok(None),
        }
    })
}

impl Reader {
    fn text(&mut self, key: i64) -> Result<Option<String>, Error> {
        let Some(entry) = self.catalogue.entry(key)? else {
            return Ok(None);
        };
        let Some((path, _)) = self.catalogue.source_place(entry.source)? else {
            return Ok(None);
        };
        // A file that cannot be read says nothing any more.
        let bytes = self.bytes(&path, entry.start, entry.length).ok();
        Ok(bytes
            .flatten()
            .filter(|bytes| hash(bytes) == entry.hash)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn bytes(&mut self, path: &Path, start: u64, length: u64) -> std::io::Result<Option<Vec<u8>>> {
        let file = match self.open.take() {
            Some((open, file)) if open == path => file,
            _ => File::open(path)?,
        };
        let (_, file) = self.open.insert((path.to_path_buf(), file));
        bytes_at(file, start, length)
    }
}
