//! What stands at a place in a file?

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// So many bytes from `start` on; `None` when the file ends before. Nothing is made room for that is not there: a place may
/// come from a damaged row.
pub fn bytes_at(file: &mut File, start: u64, length: u64) -> std::io::Result<Option<Vec<u8>>> {
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

/// Whether the file is long enough to hold them.
pub fn holds(file: &File, start: u64, length: u64) -> std::io::Result<bool> {
    let size = file.metadata()?.len();
    Ok(start.checked_add(length).is_some_and(|end| end <= size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let mut file = File::open(path).unwrap();
        let mut at = |start, length| bytes_at(&mut file, start, length).unwrap();
        assert_eq!(at(2, 3).as_deref(), Some(&b"234"[..]));
        assert_eq!(at(0, 10).map(|all| all.len()), Some(10));
        assert_eq!(at(10, 0).as_deref(), Some(&b""[..]));
        for (start, length) in [(0, 11), (11, 0), (0, 1 << 62), (u64::MAX, 2), (5, u64::MAX)] {
            assert_eq!(at(start, length), None, "{start} {length}");
        }
    }
}
