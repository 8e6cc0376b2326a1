//! Which entries does a file hold, as its agent reads it?

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rayon::prelude::*;

use super::entry::Entry;
use super::value::is_truthy;

/// Bytes that are read at once, and then parsed by one thread.
const PIECE: usize = 512 * 1024;
/// Pieces that are held at once.
const AT_ONCE: usize = 8;

/// The entries of a file from some place on.
pub(super) struct Loaded {
    pub entries: Vec<Entry>,
    /// Behind the last of them. What follows is a line that is still being written, or torn.
    pub end: u64,
}

/// The entries between two places: of lines that are one JSON value, but not null, false, 0 or "".
pub(super) fn load(file: &mut File, from: u64, until: u64) -> io::Result<Loaded> {
    file.seek(SeekFrom::Start(from))?;
    let mut file = file.take(until.saturating_sub(from));
    let mut loaded = Loaded {
        entries: Vec::new(),
        end: from,
    };
    // Begun and not ended yet.
    let mut rest = Vec::new();
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut ended = false;
        while pieces.len() < AT_ONCE && !ended {
            let mut piece = std::mem::take(&mut rest);
            let searched = piece.len();
            // A quarter more, not twice as much: a giant line must not cost more than twice its size.
            piece.reserve_exact(PIECE.max(searched / 4));
            ended = (&mut file).take(PIECE as u64).read_to_end(&mut piece)? == 0;
            match memchr::memrchr(b'\n', &piece[searched..]) {
                Some(at) => {
                    rest = piece.split_off(searched + at + 1);
                    loaded.end += piece.len() as u64;
                    pieces.push(piece);
                }
                None => rest = piece,
            }
        }
        match &pieces[..] {
            // For one, no thread is worth starting.
            [piece] => loaded.entries.extend(entries(piece)),
            _ => {
                let parsed: Vec<Vec<Entry>> =
                    pieces.par_iter().map(|piece| entries(piece)).collect();
                loaded.entries.extend(parsed.into_iter().flatten());
            }
        }
        pieces.clear();
        if ended {
            break;
        }
    }
    if let Some(entry) = Entry::parse(&rest) {
        loaded.entries.extend(Some(entry).filter(counts));
        loaded.end += rest.len() as u64;
    }
    Ok(loaded)
}

/// The entries in whole lines.
pub(super) fn entries(lines: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', lines).chain([lines.len()]) {
        found.extend(entry(&lines[from..end]));
        from = end + 1;
    }
    found
}

/// The entry that a line is to the agent.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    if line.is_empty() {
        return None;
    }
    Entry::parse(line).filter(counts)
}

fn counts(entry: &Entry) -> bool {
    is_truthy(entry.json())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_of_every_length_are_read_in_their_order() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut text = String::new();
        let lengths = [1, 10, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE, 3, PIECE / 2];
        let mut number = 0;
        for _ in 0..3 {
            for length in lengths {
                let filled = "x".repeat(length);
                text.push_str(&format!("{{\"id\":{number},\"a\":\"{filled}\"}}\n"));
                number += 1;
            }
            text.push_str("\nnot JSON\nnull\n");
        }
        let whole = text.len() as u64;
        for (tail, more, end) in [
            ("", 0, whole),
            ("{\"id\":24}", 1, whole + 9),
            ("{\"id\":24", 0, whole),
        ] {
            file.set_len(0).and_then(|()| file.rewind()).expect("empty");
            file.write_all(text.as_bytes())
                .and_then(|()| file.write_all(tail.as_bytes()))
                .expect("written");
            let loaded = load(&mut file, 0, u64::MAX).expect("read");
            let ids: Vec<_> = loaded
                .entries
                .iter()
                .filter_map(Entry::id)
                .map(str::to_owned)
                .collect();
            let expected: Vec<_> = (0..number + more).map(|id| id.to_string()).collect();
            assert_eq!((ids, loaded.end), (expected, end), "{tail}");
        }
        let part = load(&mut file, 0, 20).expect("read");
        assert_eq!((part.entries.len(), part.end), (1, 17));
    }
}
