//! How is a file read that is read from its beginning to its end, as by a merge? A piece at a time: of a mapped file every page
//! that was read once counts as memory of the process until all is read.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

/// Bytes read at once: what is asked for next mostly follows what was asked for last.
const PIECE: usize = 128 << 10;

/// More bytes than these are asked for at once to see whether a file is as it was written.
const LARGE: usize = 1 << 20;

/// A file of which a piece is held.
pub(super) struct Passing {
    held: Mutex<Held>,
    /// The same file, mapped. Of what is not read of it nothing is in memory.
    mapped: Arc<dyn FileHandle>,
}

struct Held {
    file: File,
    from: usize,
    bytes: OwnedBytes,
}

impl Passing {
    pub fn new(file: File, mapped: Arc<dyn FileHandle>) -> Self {
        let held = Mutex::new(Held {
            file,
            from: 0,
            bytes: OwnedBytes::empty(),
        });
        Self { held, mapped }
    }
}

impl Held {
    /// A range within `length` bytes of the file.
    fn read(&mut self, range: Range<usize>, length: usize) -> io::Result<OwnedBytes> {
        let holds =
            |held: &Self| range.start >= held.from && range.end <= held.from + held.bytes.len();
        if !holds(self) {
            let end = range.end.max(range.start + PIECE).min(length);
            let mut bytes = vec![0; end.saturating_sub(range.start)];
            self.file.seek(SeekFrom::Start(range.start as u64))?;
            self.file.read_exact(&mut bytes)?;
            (self.from, self.bytes) = (range.start, OwnedBytes::new(bytes));
        }
        Ok(self
            .bytes
            .slice(range.start - self.from..range.end - self.from))
    }
}

impl FileHandle for Passing {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.len() >= LARGE || range.end > self.len() {
            return self.mapped.read_bytes(range);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.read(range, self.len())
    }
}

impl HasLen for Passing {
    fn len(&self) -> usize {
        self.mapped.len()
    }
}

impl fmt::Debug for Passing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a file of {} bytes", self.len())
    }
}
