//! Which passages hold which terms, while a segment is being made?
//!
//! tantivy's own table looks up token after token, and each waits for the memory two or three
//! times. Here the tokens of a text are looked up some hundred at once, so the waits overlap.

use std::hash::{BuildHasher, RandomState};
use std::io;

use tantivy::postings::FieldSerializer;

use super::hash::hash;
use super::tokenizer::Segmenter;

/// Tokens that are looked up together.
const BLOCK: usize = 256;
/// Bytes of postings in the first chunk of a term, and in the largest.
const CHUNK: (u16, u16) = (8, 1024);

/// What has become larger than this gets [`AT_ONCE`] bytes of room the next time.
const LARGE: usize = 1 << 20;
/// More than the 32 MB up to which glibc may take memory from what it keeps for later, and does not give all of it back: this it
/// has the system map, untouched, moves it without copying when it grows, and gives it back as a whole.
const AT_ONCE: usize = 40 << 20;

/// The terms of one field, and for each the documents it stands in.
pub(super) struct Postings {
    with_positions: bool,
    seed: u64,
    /// `hash << 32 | term + 1`, 0 = free. Open addressing; the length is a power of two.
    table: Vec<u64>,
    terms: Vec<Term>,
    /// Each term's length and bytes.
    keys: Vec<u8>,
    /// The chunks of the terms' postings. Behind each chunk is the place of the term's next one.
    chunks: Vec<u8>,
    tokens: u64,
    block: Block,
}

/// A term and its postings.
///
/// They are numbers of 7 bits a byte. Without positions: nothing for a single document, else the
/// first document, and for each further one its distance. With positions: the first document, the distances
/// of its positions, each plus 1, then for each further document 0, its distance and the same.
#[derive(Debug, Clone, Copy, Default)]
struct Term {
    key: u32,
    /// The document that was noted last.
    last: u32,
    /// Where the term stands there at last; without positions 1, and 0 before there is any document.
    current: u32,
    chunk: u32,
    cursor: u32,
    room: u16,
    size: u16,
}

/// Tokens on their way into the table.
struct Block {
    text: Vec<u8>,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    hash: u32,
    end: u32,
    position: u32,
}

impl Postings {
    pub fn new(with_positions: bool) -> Self {
        Self {
            with_positions,
            seed: RandomState::new().hash_one(0u8),
            table: vec![0; 1 << 12],
            terms: Vec::new(),
            keys: Vec::new(),
            chunks: Vec::new(),
            tokens: 0,
            block: Block {
                text: Vec::new(),
                tokens: Vec::with_capacity(BLOCK),
            },
        }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.table.len() * size_of::<u64>()
            + self.terms.len() * size_of::<Term>()
            + self.keys.len()
            + self.chunks.len()
    }

    /// All tokens of all documents.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Add a document, which must be later than those before it. Returns the number of its tokens.
    pub fn add(&mut self, segmenter: &mut Segmenter, document: u32, pieces: &[String]) -> u32 {
        let mut tokens = 0;
        let mut start = 0;
        for piece in pieces {
            let mut end = start;
            segmenter.run(piece, |token| {
                let position = start + token.position;
                end = end.max(position + 1);
                tokens += 1;
                let text = token.text.as_bytes();
                self.block.text.extend_from_slice(text);
                self.block.tokens.push(Token {
                    hash: hash(self.seed, text),
                    end: self.block.text.len() as u32,
                    position,
                });
                if self.block.tokens.len() == BLOCK {
                    self.settle(document);
                }
            });
            // A gap, so that no phrase spans two pieces.
            start = end + 1;
        }
        self.settle(document);
        self.tokens += u64::from(tokens);
        tokens
    }

    /// Note all tokens of the block.
    fn settle(&mut self, document: u32) {
        while (self.terms.len() + self.block.tokens.len()) * 4 > self.table.len() * 3 {
            self.grow();
        }
        make_room(&mut self.terms, BLOCK);
        make_room(&mut self.keys, self.block.text.len() + BLOCK);
        // A number may begin a chunk, and each token is at most three.
        make_room(&mut self.chunks, BLOCK * 3 * (usize::from(CHUNK.1) + 4));
        self.warm();
        let mut start = 0;
        for at in 0..self.block.tokens.len() {
            let Token {
                hash,
                end,
                position,
            } = self.block.tokens[at];
            let term = self.term(hash, start, end as usize);
            start = end as usize;
            let (term, chunks) = (&mut self.terms[term], &mut self.chunks);
            if self.with_positions {
                term.note_position(chunks, document, position);
            } else {
                term.note(chunks, document);
            }
        }
        self.block.text.clear();
        self.block.tokens.clear();
    }

    /// Read what [`term`](Self::term) will read: no step here waits for the one before.
    fn warm(&self) {
        let mask = self.table.len() - 1;
        let mut keys = [0u32; BLOCK];
        let mut slots = [0u64; BLOCK];
        for (slot, token) in slots.iter_mut().zip(&self.block.tokens) {
            *slot = self.table[token.hash as usize & mask];
        }
        for ((key, slot), token) in keys.iter_mut().zip(slots).zip(&self.block.tokens) {
            if slot != 0 && (slot >> 32) as u32 == token.hash {
                *key = self.terms[slot as u32 as usize - 1].key;
            }
        }
        let mut sum = 0u8;
        for key in &keys[..self.block.tokens.len()] {
            sum ^= self.keys.get(*key as usize).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    /// Read what writing these terms will read.
    fn warm_lists(&self, order: &[(u64, u32)]) {
        let mut places = [(0, 0); BLOCK];
        for (place, (_, number)) in places.iter_mut().zip(order) {
            let term = &self.terms[*number as usize];
            *place = (term.chunk as usize, term.key as usize);
        }
        let mut sum = 0u8;
        for (chunk, key) in places {
            sum ^= self.chunks.get(chunk).copied().unwrap_or(0);
            sum ^= self.keys.get(key).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    /// The term that stands in the block's text from `start` to `end`.
    fn term(&mut self, hash: u32, start: usize, end: usize) -> usize {
        let mask = self.table.len() - 1;
        let text = &self.block.text[start..end];
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table[at];
            if slot == 0 {
                break;
            }
            let term = slot as u32 as usize - 1;
            if (slot >> 32) as u32 == hash && key(&self.keys, &self.terms[term]) == text {
                return term;
            }
            at = (at + 1) & mask;
        }
        self.terms.push(Term {
            key: self.keys.len() as u32,
            ..Term::default()
        });
        // No token is longer than `MAX_TOKEN`.
        self.keys.push(text.len() as u8);
        self.keys.extend_from_slice(text);
        self.table[at] = u64::from(hash) << 32 | self.terms.len() as u64;
        self.terms.len() - 1
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![0; old.len() * 2];
        let mask = self.table.len() - 1;
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = (slot >> 32) as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = slot;
        }
    }

    /// Write all terms in their order. The number of the first document becomes `base`.
    pub fn write(&self, base: u32, field: &mut FieldSerializer<'_>) -> io::Result<()> {
        let mut order: Vec<(u64, u32)> = (0u32..)
            .zip(&self.terms)
            .map(|(number, term)| {
                let mut start = [0; 8];
                let key = key(&self.keys, term);
                let length = key.len().min(8);
                start[..length].copy_from_slice(&key[..length]);
                (u64::from_be_bytes(start), number)
            })
            .collect();
        let text = |number: u32| key(&self.keys, &self.terms[number as usize]);
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
        let mut positions = Vec::new();
        for (at, &(_, number)) in order.iter().enumerate() {
            if at % BLOCK == 0 {
                self.warm_lists(&order[at..order.len().min(at + BLOCK)]);
            }
            let term = &self.terms[number as usize];
            // How many documents there are is counted by `write_doc`.
            field.new_term(text(number), 1, true)?;
            let mut list = List::of(&self.chunks, term);
            if self.with_positions {
                let mut document = base + list.next().unwrap_or_default();
                while let Some(value) = list.next() {
                    if value > 0 {
                        positions.push(value - 1);
                        continue;
                    }
                    field.write_doc(document, positions.len() as u32, &positions);
                    positions.clear();
                    document += list.next().unwrap_or_default();
                }
                field.write_doc(document, positions.len() as u32, &positions);
                positions.clear();
            } else {
                let mut document = base + list.next().unwrap_or(term.last);
                field.write_doc(document, 1, &[]);
                while let Some(distance) = list.next() {
                    document += distance;
                    field.write_doc(document, 1, &[]);
                }
            }
            field.close_term()?;
        }
        Ok(())
    }
}

impl Term {
    fn note(&mut self, chunks: &mut Vec<u8>, document: u32) {
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

    fn note_position(&mut self, chunks: &mut Vec<u8>, document: u32, position: u32) {
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

    fn push(&mut self, chunks: &mut Vec<u8>, mut value: u32) {
        while value > 127 {
            self.push_byte(chunks, value as u8 | 128);
            value >>= 7;
        }
        self.push_byte(chunks, value as u8);
    }

    fn push_byte(&mut self, chunks: &mut Vec<u8>, byte: u8) {
        if self.room == 0 {
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
        }
        chunks[self.cursor as usize] = byte;
        self.cursor += 1;
        self.room -= 1;
    }
}

/// Of a vector that is large and nearly full.
fn make_room<T>(vector: &mut Vec<T>, more: usize) {
    let at_once = AT_ONCE / size_of::<T>();
    let is_small = vector.len() * size_of::<T>() < LARGE;
    if !is_small && vector.capacity() < at_once && vector.capacity() - vector.len() < more {
        vector.reserve_exact(at_once - vector.len());
    }
}

fn next_size(size: u16) -> u16 {
    (size * 2).clamp(CHUNK.0, CHUNK.1)
}

fn key<'a>(keys: &'a [u8], term: &Term) -> &'a [u8] {
    let start = term.key as usize + 1;
    &keys[start..start + usize::from(keys[start - 1])]
}

/// The numbers in the chunks of a term.
struct List<'a> {
    chunks: &'a [u8],
    at: usize,
    left: u16,
    size: u16,
    end: usize,
}

impl<'a> List<'a> {
    fn of(chunks: &'a [u8], term: &Term) -> Self {
        let size = if term.size == 0 { 0 } else { CHUNK.0 };
        Self {
            chunks,
            at: term.chunk as usize,
            left: size,
            size,
            end: term.cursor as usize,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        if self.at == self.end {
            return None;
        }
        if self.left == 0 {
            let link = self.chunks[self.at..self.at + 4].try_into().ok()?;
            self.at = u32::from_le_bytes(link) as usize;
            self.size = next_size(self.size);
            self.left = self.size;
        }
        let byte = self.chunks[self.at];
        self.at += 1;
        self.left -= 1;
        Some(byte)
    }

    fn next(&mut self) -> Option<u32> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            value |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
            shift += 7;
        }
    }
}
