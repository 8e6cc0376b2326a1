//! What stands at a place in a source?

use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use super::content::Content;

/// Bytes that are read at once where one part follows another.
const READ_AT_ONCE: usize = 256 << 10;
/// So much between two parts is read with them, as long as they are no more than this together.
const NEAR: u64 = 8 << 10;
const NEAR_TOGETHER: u64 = 64 << 10;

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

/// Hands each of these parts to `take`, in their order; `None` for one that is not there or cannot
/// be read. Those that lie close together are read at once with what is between them: to ask is
/// dearer than to copy.
pub fn each_part(file: &mut Content, parts: &[(u64, u64)], take: &mut dyn FnMut(Option<&[u8]>)) {
    let size = file.length().unwrap_or(0);
    let (mut rest, mut buffer) = (parts, Vec::new());
    while let Some(&(start, _)) = rest.first() {
        let (near, others) = rest.split_at(near_each_other(rest, size));
        rest = others;
        let read = match near.last() {
            Some(&(last, length)) if last.saturating_add(length) <= size => {
                read_into(&mut buffer, file, start, last + length - start).ok()
            }
            _ => None,
        };
        for (at, length) in near {
            // Both fit: that many bytes are in memory.
            let from = (at - start) as usize;
            take(read.and_then(|bytes| bytes.get(from..from + *length as usize)));
        }
    }
}

/// How many of these parts are read at once: the first and those that follow it closely.
fn near_each_other(parts: &[(u64, u64)], size: u64) -> usize {
    let begin = parts.first().map_or(0, |(start, _)| *start);
    let is_near = |pair: &&[(u64, u64)]| {
        let [end, next_end] = [0, 1].map(|at| pair[at].0.saturating_add(pair[at].1));
        let gap = pair[1].0.checked_sub(end);
        gap.is_some_and(|gap| gap <= NEAR) && next_end <= size && next_end - begin <= NEAR_TOGETHER
    };
    1 + parts.windows(2).take_while(is_near).count()
}

/// So many bytes from `start` on, in a buffer that grows with the longest.
fn read_into<'b>(
    buffer: &'b mut Vec<u8>,
    file: &mut Content,
    start: u64,
    length: u64,
) -> std::io::Result<&'b [u8]> {
    let needed = usize::try_from(length).map_err(|_| ErrorKind::OutOfMemory)?;
    if buffer.len() < needed {
        buffer
            .try_reserve_exact(needed - buffer.len())
            .map_err(|_| ErrorKind::OutOfMemory)?;
        buffer.resize(needed, 0);
    }
    file.seek(SeekFrom::Start(start))?;
    let bytes = &mut buffer[..needed];
    file.read_exact(bytes)?;
    Ok(bytes)
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
    fn parts_that_lie_together_are_those_that_were_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at / 7) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mut file = Content::open(FORMATS[0], &path).unwrap();
        let parts = [
            (0, 10),
            (10, 0),
            (12, 3),
            (8_000, 5_000),
            (100_000, 1),
            (100_000, 1),
            (99_000, 3),
            (99_005, 200_000),
            (299_999, 1),
            (299_999, 2),
            (300_000, 0),
            (u64::MAX, 2),
            (5, u64::MAX),
            (7, 2),
        ];
        let mut read = Vec::new();
        each_part(&mut file, &parts, &mut |part| {
            read.push(part.map(<[u8]>::to_vec));
        });
        let asked = parts.map(|(start, length)| {
            let end = usize::try_from(start.checked_add(length)?).ok()?;
            bytes.get(start as usize..end).map(<[u8]>::to_vec)
        });
        assert_eq!(read, asked);
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
