//! What stands at a place in a source?

use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use super::content::Content;

/// Bytes that are read at once where one part follows another.
const READ_AT_ONCE: usize = 256 << 10;

/// So many bytes from `start` on; `None` when the source ends before. Nothing is made room for that
/// is not there: a place may come from a damaged row.
pub fn bytes_at(file: &mut Content, start: u64, length: u64) -> std::io::Result<Option<Vec<u8>>> {
    if !holds(file, start, length)? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let Ok(needed) = usize::try_from(length) else {
        return Err(ErrorKind::OutOfMemory.into());
    };
    bytes
        .try_reserve_exact(needed)
        .map_err(|_| ErrorKind::OutOfMemory)?;
    bytes.resize(needed, 0);
    file.seek(SeekFrom::Start(start))?;
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the source is long enough to hold them.
pub fn holds(file: &Content, start: u64, length: u64) -> std::io::Result<bool> {
    let size = file.length()?;
    Ok(start.checked_add(length).is_some_and(|end| end <= size))
}

/// A source of which one part is read after the other, most of them one behind the other.
pub struct RangeReader {
    file: BufReader<Content>,
    at: u64,
    size: u64,
    buffer: Vec<u8>,
}

impl RangeReader {
    /// Of what was opened.
    pub fn new(file: Content) -> std::io::Result<Self> {
        let size = file.length()?;
        Ok(Self {
            file: BufReader::with_capacity(READ_AT_ONCE, file),
            at: 0,
            size,
            buffer: Vec::new(),
        })
    }

    /// Whether the source reaches so far.
    pub fn holds(&mut self, end: u64) -> bool {
        if end > self.size
            && let Ok(length) = self.file.get_ref().length()
        {
            // It may have grown.
            self.size = length;
        }
        end <= self.size
    }

    /// So many bytes from `start` on; `None` when the file ends before.
    pub fn bytes(&mut self, start: u64, length: u64) -> std::io::Result<Option<&[u8]>> {
        let end = start.checked_add(length).filter(|end| self.holds(*end));
        let (Some(end), Ok(needed)) = (end, usize::try_from(length)) else {
            return Ok(None);
        };
        // Both are places in a file: less than 2^63.
        self.file
            .seek_relative(start.cast_signed() - self.at.cast_signed())?;
        self.at = start;
        self.buffer.clear();
        self.buffer
            .try_reserve_exact(needed)
            .map_err(|_| ErrorKind::OutOfMemory)?;
        self.buffer.resize(needed, 0);
        if let Err(error) = self.file.read_exact(&mut self.buffer) {
            // It was cut meanwhile.
            self.at = self.file.seek(SeekFrom::Start(start))?;
            return Err(error);
        }
        self.at = end;
        Ok(Some(&self.buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FORMATS;

    #[test]
    fn only_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let mut file = Content::open(FORMATS[0], &path).unwrap();
        let mut at = |start, length| bytes_at(&mut file, start, length).unwrap();
        assert_eq!(at(2, 3).as_deref(), Some(&b"234"[..]));
        assert_eq!(at(0, 10).map(|all| all.len()), Some(10));
        assert_eq!(at(10, 0).as_deref(), Some(&b""[..]));
        for (start, length) in [(0, 11), (11, 0), (0, 1 << 62), (u64::MAX, 2), (5, u64::MAX)] {
            assert_eq!(at(start, length), None, "{start} {length}");
        }
    }

    #[test]
    fn one_part_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let mut places = RangeReader::new(Content::open(FORMATS[0], &path).unwrap()).unwrap();
        let mut at = |start, length| places.bytes(start, length).unwrap().map(<[u8]>::to_vec);
        assert_eq!(at(2, 3).as_deref(), Some(&b"234"[..]));
        assert_eq!(at(5, 1).as_deref(), Some(&b"5"[..]));
        assert_eq!(at(0, 2).as_deref(), Some(&b"01"[..]));
        assert_eq!(at(9, 2), None);
        assert_eq!(at(9, u64::MAX), None);
        std::fs::write(&path, "0123456789ab").unwrap();
        assert_eq!(at(9, 3).as_deref(), Some(&b"9ab"[..]));
    }
}
