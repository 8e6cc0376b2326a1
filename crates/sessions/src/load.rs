//! Which entries does a file hold, as its agent reads it?

use std::fs::File;
use std::io;

use bytes::{Buf, Bytes};
use bytestring::ByteString;

use super::cores::on_every_core;
use super::entry::Entry;
use super::read::read;
use sessionary_formats::pi::Dialect;

/// Bytes that are parsed at once, about: up to the end of a line.
const PIECE: usize = 512 * 1024;

/// The entries of a file from some place on.
pub(super) struct LoadedEntries {
    pub entries: Vec<Entry>,
    /// Behind the last of them. What follows is a line that is still being written, or torn.
    pub end: u64,
}

/// The entries between two places: of lines that are one JSON value, and an entry in this dialect.
pub(super) fn load(
    dialect: Dialect,
    file: &File,
    from: u64,
    until: u64,
) -> io::Result<LoadedEntries> {
    let mut lines = read(file, from, until)?;
    let mut end = from;
    if from == 0 {
        let begins = dialect.passed_over(&lines);
        lines.advance(begins);
        end += begins as u64;
    }
    let last = lines.split_off(memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1));
    end += lines.len() as u64;
    let loaded = on_every_core(pieces(lines), |piece| entries_in(dialect, piece));
    let mut entries = Vec::with_capacity(loaded.iter().map(Vec::len).sum::<usize>() + 1);
    entries.extend(loaded.into_iter().flatten());
    // What has no end may be whole.
    if let Some(entry) = Entry::parse(&last) {
        entries.extend(Some(entry).filter(|entry| dialect.is_entry(entry.json())));
        end += last.len() as u64;
    }
    Ok(LoadedEntries { entries, end })
}

/// Whole lines in pieces of whole lines.
fn pieces(mut lines: Bytes) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    while let Some(further) = lines.get(PIECE..)
        && let Some(end) = memchr::memchr(b'\n', further)
    {
        pieces.push(lines.split_to(PIECE + end + 1));
    }
    pieces.push(lines);
    pieces
}

/// The entries of a whole file.
pub(super) fn entries(dialect: Dialect, mut file: Bytes) -> Vec<Entry> {
    file.advance(dialect.passed_over(&file));
    entries_in(dialect, file)
}

/// The entries in whole lines, which are kept with them: no line is copied.
fn entries_in(dialect: Dialect, lines: Bytes) -> Vec<Entry> {
    // Bytes that are no UTF-8 are what agents read them as. To ask first is far faster than to have
    // that replaced.
    let text = ByteString::try_from(lines.clone())
        .unwrap_or_else(|_| String::from_utf8_lossy(&lines).into_owned().into());
    let mut entries = Vec::new();
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        let entry = Entry::within(&text, &text[from..end]);
        entries.extend(entry.filter(|entry| dialect.is_entry(entry.json())));
        from = end + 1;
    }
    entries
}

/// The entry that a line is to the agent.
pub(super) fn entry(dialect: Dialect, line: &[u8]) -> Option<Entry> {
    if line.is_empty() {
        return None;
    }
    Entry::parse(line).filter(|entry| dialect.is_entry(entry.json()))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

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
            let loaded = load(Dialect::PI, &file, 0, u64::MAX).expect("read");
            let ids: Vec<_> = loaded
                .entries
                .iter()
                .filter_map(Entry::id)
                .map(str::to_owned)
                .collect();
            let expected: Vec<_> = (0..number + more).map(|id| id.to_string()).collect();
            assert_eq!((ids, loaded.end), (expected, end), "{tail}");
        }
        let part = load(Dialect::PI, &file, 0, 20).expect("read");
        assert_eq!((part.entries.len(), part.end), (1, 17));
    }
}
