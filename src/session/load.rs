//! Which entries does a file hold, as its agent reads it?

use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism};

use super::entry::Entry;
use super::value::is_truthy;

/// Bytes that one thread reads and parses at once, about: up to the end of a line.
const PIECE: u64 = 512 * 1024;
/// Bytes in which the end of a line is looked for first.
const WINDOW: u64 = 8 * 1024;

/// The entries of a file from some place on.
pub(super) struct Loaded {
    pub entries: Vec<Entry>,
    /// Behind the last of them. What follows is a line that is still being written, or torn.
    pub end: u64,
}

/// The entries between two places: of lines that are one JSON value, but not null, false, 0 or "".
pub(super) fn load(file: &File, from: u64, until: u64) -> io::Result<Loaded> {
    let pieces = pieces(file, from, until.min(file.metadata()?.len()))?;
    let loaded = load_pieces(file, &pieces)?;
    Ok(Loaded {
        end: loaded.last().map_or(from, |last| last.end),
        entries: loaded.into_iter().flat_map(|piece| piece.entries).collect(),
    })
}

/// The entries of pieces, on every core: by threads of their own, for who shares a pool with others may wait for them, and
/// they for the session's lock that is held here.
fn load_pieces(file: &File, pieces: &[(u64, u64)]) -> io::Result<Vec<Loaded>> {
    let next = AtomicUsize::new(0);
    let load_rest = || -> Vec<(usize, io::Result<Loaded>)> {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let pieces = taken.map_while(|at| Some((at, *pieces.get(at)?)));
        pieces
            .map(|(at, piece)| (at, load_piece(file, piece)))
            .collect()
    };
    // For one, no thread is worth starting.
    let most = match pieces.len() {
        0 | 1 => 1,
        several => available_parallelism().map_or(1, usize::from).min(several),
    };
    let mut loaded = std::thread::scope(|scope| {
        let others: Vec<_> = (1..most)
            .map_while(|_| Builder::new().spawn_scoped(scope, load_rest).ok())
            .collect();
        let mut loaded = load_rest();
        for other in others {
            loaded.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        loaded
    });
    loaded.sort_unstable_by_key(|(at, _)| *at);
    loaded.into_iter().map(|(_, loaded)| loaded).collect()
}

/// The lines between two places in pieces of whole lines, each from where to where.
fn pieces(file: &File, from: u64, until: u64) -> io::Result<Vec<(u64, u64)>> {
    let mut pieces = Vec::new();
    let (mut start, mut window) = (from, Vec::new());
    while start < until {
        let mut end = until;
        // From the last byte of a full piece on.
        let mut at = start + PIECE - 1;
        let mut length = WINDOW;
        while at < until {
            window.resize(length.min(until - at) as usize, 0);
            let read = read_at(file, &mut window, at)?;
            if let Some(place) = memchr::memchr(b'\n', &window[..read]) {
                end = at + place as u64 + 1;
                break;
            }
            if read < window.len() {
                break;
            }
            at += read as u64;
            length = (length * 2).min(PIECE);
        }
        pieces.push((start, end));
        start = end;
    }
    Ok(pieces)
}

/// The entries of a piece. Its text is kept with them, so that no line is copied.
fn load_piece(file: &File, (start, end): (u64, u64)) -> io::Result<Loaded> {
    let mut bytes = vec![0; (end - start) as usize];
    let read = read_at(file, &mut bytes, start)?;
    // Shorter by now.
    bytes.truncate(read);
    let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
    let rest = bytes.len() - whole;
    // Bytes that are no UTF-8 are what agents read them as. To ask first is far faster than to have that replaced.
    let text = String::from_utf8(bytes);
    let text = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    // Where the last line begins that has no end; replaced bytes moved it.
    let last = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
    let text = Arc::new(text);
    let mut entries = Vec::new();
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', &text.as_bytes()[..last]) {
        let entry = Entry::within(&text, from..end);
        entries.extend(entry.filter(counts));
        from = end + 1;
    }
    let mut end = start + whole as u64;
    if let Some(entry) = Entry::within(&text, last..text.len()) {
        entries.extend(Some(entry).filter(counts));
        end += rest as u64;
    }
    Ok(Loaded { entries, end })
}

/// As many bytes from that place on as there are.
fn read_at(file: &File, bytes: &mut [u8], from: u64) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;
    let mut done = 0;
    while done < bytes.len() {
        #[cfg(unix)]
        let read = file.read_at(&mut bytes[done..], from + done as u64);
        #[cfg(windows)]
        let read = file.seek_read(&mut bytes[done..], from + done as u64);
        match read {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
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
    use std::io::{Seek, Write};

    use super::*;

    #[test]
    fn lines_of_every_length_are_read_in_their_order() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut text = String::new();
        const FULL: usize = PIECE as usize;
        let lengths = [1, 10, FULL - 1, FULL, FULL + 1, 5 * FULL, 3, FULL / 2];
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
            let loaded = load(&file, 0, u64::MAX).expect("read");
            let ids: Vec<_> = loaded
                .entries
                .iter()
                .filter_map(Entry::id)
                .map(str::to_owned)
                .collect();
            let expected: Vec<_> = (0..number + more).map(|id| id.to_string()).collect();
            assert_eq!((ids, loaded.end), (expected, end), "{tail}");
        }
        let part = load(&file, 0, 20).expect("read");
        assert_eq!((part.entries.len(), part.end), (1, 17));
    }
}
