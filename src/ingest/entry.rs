//! What does an entry say, byte for byte? Read again from its source, which is opened once; of a
//! session in a database the first row that is asked for is read alone.

use std::io;

use crate::catalogue::entries::{RecordPlace, StoredEntry};
use crate::catalogue::{Catalogue, Error};
use crate::format::{Format, format_named};
use crate::source::checkpoint::hash;
use crate::source::content::{self, Content, Location};
use crate::source::place::{bytes_at, each_part};

/// A source whose entries are read again.
pub struct OpenSource {
    /// Where it is.
    pub path: Location,
    /// The format that reads it.
    pub format: &'static dyn Format,
    content: Option<Content>,
    /// Whether a row of it was read by itself.
    is_read: bool,
}

impl OpenSource {
    /// The source of this number; `None`: it is gone, or its format is not one of these.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn find(
        source: i64,
        catalogue: &Catalogue,
        formats: &[&'static dyn Format],
    ) -> Result<Option<OpenSource>, Error> {
        let place = catalogue.source_place(source)?;
        Ok(place
            .and_then(|(path, name)| Some(OpenSource::new(path, format_named(formats, &name)?))))
    }

    /// The source at `path`, which is opened with the first entry that is read.
    pub fn new(path: Location, format: &'static dyn Format) -> OpenSource {
        OpenSource {
            path,
            format,
            content: None,
            is_read: false,
        }
    }

    /// The bytes of an entry; `None` when they are no longer what was catalogued.
    ///
    /// # Errors
    /// Those of the file.
    pub fn record(&mut self, entry: &StoredEntry) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.bytes(entry)?;
        Ok(bytes.filter(|bytes| hash(bytes) == entry.hash))
    }

    /// [`OpenSource::record`] of an entry of which only the place is known.
    ///
    /// # Errors
    /// Those of the file.
    pub fn record_at(&mut self, place: &RecordPlace) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.bytes_at(place.start, place.length, place.row.as_deref())?;
        Ok(bytes.filter(|bytes| hash(bytes) == place.hash))
    }

    /// [`OpenSource::record_at`] each of these places, in file order, handed to `take`; `None` too
    /// for what cannot be read.
    pub fn each_record(&mut self, places: &[RecordPlace], take: &mut dyn FnMut(Option<&[u8]>)) {
        if places.iter().any(|place| place.row.is_some()) {
            for place in places {
                take(self.record_at(place).unwrap_or_default().as_deref());
            }
            return;
        }
        let Ok(mut content) = self.path.open(self.format) else {
            return places.iter().for_each(|_| take(None));
        };
        let parts: Vec<_> = places
            .iter()
            .map(|place| (place.start, place.length))
            .collect();
        let mut hashes = places.iter().map(|place| place.hash);
        each_part(&mut content, &parts, &mut |bytes| {
            let wanted = hashes.next();
            take(bytes.filter(|bytes| Some(hash(bytes)) == wanted));
        });
    }

    /// What stands now where an entry was; `None` when the source ends before.
    ///
    /// # Errors
    /// Those of the file.
    pub fn bytes(&mut self, entry: &StoredEntry) -> io::Result<Option<Vec<u8>>> {
        self.bytes_at(entry.start, entry.length, entry.row.as_deref())
    }

    fn bytes_at(
        &mut self,
        start: u64,
        length: u64,
        row: Option<&str>,
    ) -> io::Result<Option<Vec<u8>>> {
        // One row is read by itself; for more of them all are.
        if let (Some(row), None, false) = (row, &self.content, self.is_read)
            && !self.path.is_archived()
            && content::has_rows(self.format, &self.path)
        {
            self.is_read = true;
            return content::row(self.format, &self.path, row);
        }
        let content = match &mut self.content {
            Some(content) => content,
            None => self.content.insert(self.path.open(self.format)?),
        };
        bytes_at(content, start, length)
    }
}
