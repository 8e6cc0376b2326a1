//! How is a file read from its beginning to its end, as in a merge? A piece at a time. In a memory
//! map every page that was read once would count as memory of the process until the end.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

/// Bytes read at once: what is asked for next mostly follows what was asked for last.
const PIECE: usize = 128 << 10;

/// More bytes than these are asked for at once to see whether a file is as it was written.
const LARGE: usize = 1 << 20;

/// A file of which one piece is in memory. It is open only while a piece is read, because a merge
/// uses many files.
pub(super) struct StreamedFile {
    path: PathBuf,
    held: Mutex<HeldPiece>,
    /// The whole file as a memory map, for large reads and when it cannot be opened. Pages that are
    /// never read take no memory.
    mapped: Arc<dyn FileHandle>,
}

struct HeldPiece {
    from: usize,
    bytes: OwnedBytes,
}

impl StreamedFile {
    pub fn new(path: PathBuf, mapped: Arc<dyn FileHandle>) -> Self {
        let held = Mutex::new(HeldPiece {
            from: 0,
            bytes: OwnedBytes::empty(),
        });
        Self { path, held, mapped }
    }
}

impl HeldPiece {
    /// A range within `length` bytes of the file.
    fn read(&mut self, path: &Path, range: Range<usize>, length: usize) -> io::Result<OwnedBytes> {
        let holds =
            |held: &Self| range.start >= held.from && range.end <= held.from + held.bytes.len();
        if !holds(self) {
            let end = range.end.max(range.start + PIECE).min(length);
            let mut bytes = vec![0; end.saturating_sub(range.start)];
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(range.start as u64))?;
            file.read_exact(&mut bytes)?;
            (self.from, self.bytes) = (range.start, OwnedBytes::new(bytes));
        }
        Ok(self
            .bytes
            .slice(range.start - self.from..range.end - self.from))
    }
}

impl FileHandle for StreamedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.len() >= LARGE || range.end > self.len() {
            return self.mapped.read_bytes(range);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // If the file cannot be opened, for lack of a descriptor, say, the memory map has the same
        // bytes.
        let read = held.read(&self.path, range.clone(), self.len());
        read.or_else(|_| self.mapped.read_bytes(range))
    }
}

impl HasLen for StreamedFile {
    fn len(&self) -> usize {
        self.mapped.len()
    }
}

impl fmt::Debug for StreamedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a file of {} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_range_is_what_the_file_holds_though_it_is_gone_meanwhile() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        let bytes: Vec<u8> = (0..3 * LARGE).map(|at| (at * 31 / 7) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mapped: Arc<dyn FileHandle> = Arc::new(OwnedBytes::new(bytes.clone()));
        let passing = StreamedFile::new(path.clone(), mapped);
        let holds = |range: Range<usize>| {
            let read = passing.read_bytes(range.clone()).unwrap();
            assert!(*read == bytes[range.clone()], "{range:?}");
        };
        for at in (0..bytes.len() - PIECE).step_by(PIECE / 3 + 1) {
            holds(at..at + 10);
            holds(at + 5..at + PIECE + 7);
            holds(at / 2..at / 2);
        }
        holds(bytes.len() - 1..bytes.len());
        holds(0..LARGE);
        holds(0..bytes.len());
        std::fs::remove_file(&path).unwrap();
        holds(LARGE..LARGE + 9);
        holds(7..8);
    }
}
