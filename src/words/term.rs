//! In which documents does a term stand, and where in them? One byte after the other, in chunks
//! that grow.

/// Bytes of postings in the first chunk of a term, and in the largest.
const CHUNK: (u16, u16) = (8, 1024);

/// A term of [`Postings`](super::postings::Postings) and where its postings are.
///
/// They are numbers of 7 bits a byte. Without positions: nothing for a single document (in its
/// [list](gather) that one), else the first document, and for each further one its distance. With
/// positions: the first document, the distances of its positions, each plus 1, then for each
/// further document 0, its distance and the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    /// Where its text is.
    pub key: u32,
    /// The document that was noted last.
    pub last: u32,
    /// Where the term stands there at last; without positions 1, and 0 before there is any
    /// document.
    current: u32,
    /// Where its first chunk begins.
    pub chunk: u32,
    /// Where its next byte goes.
    pub cursor: u32,
    room: u16,
    size: u16,
}

impl Term {
    /// One that stands nowhere yet, and where its text is.
    pub fn new(key: u32) -> Term {
        Term {
            key,
            ..Term::default()
        }
    }

    #[inline]
    pub fn note(&mut self, chunks: &mut Vec<u8>, document: u32) {
        if self.current > 0 {
            if self.last == document {
                return;
            }
            if self.size == 0 {
                self.push(chunks, self.last);
            }
            self.push(chunks, document - self.last);
        }
        self.last = document;
        self.current = 1;
    }

    #[inline]
    pub fn note_position(&mut self, chunks: &mut Vec<u8>, document: u32, position: u32) {
        if self.size == 0 || self.last != document {
            if self.size == 0 {
                self.push(chunks, document);
            } else {
                self.push(chunks, 0);
                self.push(chunks, document - self.last);
            }
            self.last = document;
            self.current = 0;
        }
        self.push(chunks, position - self.current + 1);
        self.current = position;
    }

    #[inline]
    fn push(&mut self, chunks: &mut Vec<u8>, mut value: u32) {
        while value > 127 {
            self.push_byte(chunks, value as u8 | 128);
            value >>= 7;
        }
        self.push_byte(chunks, value as u8);
    }

    #[inline(always)]
    fn push_byte(&mut self, chunks: &mut Vec<u8>, byte: u8) {
        if self.room == 0 {
            *self = self.with_room(chunks);
        }
        chunks[self.cursor as usize] = byte;
        self.cursor += 1;
        self.room -= 1;
    }

    /// With a chunk more. By value: a term whose address is taken is kept in memory, and each byte
    /// would be a detour.
    #[cold]
    #[inline(never)]
    fn with_room(mut self, chunks: &mut Vec<u8>) -> Term {
        let start = chunks.len();
        let link = (start as u32).to_le_bytes();
        if self.size == 0 {
            self.chunk = start as u32;
        } else {
            let cursor = self.cursor as usize;
            chunks[cursor..cursor + link.len()].copy_from_slice(&link);
        }
        self.size = next_size(self.size);
        chunks.resize(start + usize::from(self.size) + link.len(), 0);
        self.cursor = start as u32;
        self.room = self.size;
        self
    }
}

fn next_size(size: u16) -> u16 {
    (size * 2).clamp(CHUNK.0, CHUNK.1)
}

/// The first eight bytes of a term's text: mostly they tell which of two comes first.
pub(super) fn beginning(text: &[u8]) -> u64 {
    let mut start = [0; 8];
    let length = text.len().min(8);
    start[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(start)
}

/// All postings of a term in one piece, as [`Term`] says; of a single document its number.
pub(super) fn gather(chunks: &[u8], term: &Term, list: &mut Vec<u8>) {
    list.clear();
    if term.size == 0 {
        push_number(list, term.last);
        return;
    }
    let (mut start, mut size) = (term.chunk as usize, CHUNK.0);
    let end = term.cursor as usize;
    loop {
        let link = start + usize::from(size);
        if (start..=link).contains(&end) {
            list.extend_from_slice(&chunks[start..end]);
            return;
        }
        list.extend_from_slice(&chunks[start..link]);
        let next = [0, 1, 2, 3].map(|at| chunks[link + at]);
        start = u32::from_le_bytes(next) as usize;
        size = next_size(size);
    }
}

/// Add a number in bytes of 7 bits.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut value: u32) {
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The numbers of a list, in their order.
pub(super) struct Numbers<'a>(pub &'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(byte & 127).wrapping_shl(shift);
            if *byte < 128 {
                return Some(value);
            }
            shift += 7;
        }
    }
}
