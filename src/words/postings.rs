//! Which passages hold which terms, while a segment is being made?
//!
//! tantivy's own table looks up token after token, and each waits for the memory two or three
//! times. Here the tokens of a text are looked up some hundred at once, so the waits overlap.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::Range;

use super::hash::hash;
use super::term::{Term, beginning, gather};
use super::tokenizer::Segmenter;

/// Tokens that are looked up together.
const BLOCK: usize = 256;
/// Bytes of a slot of the table.
const SLOT: usize = 8;
/// Bytes of room that a table has from the beginning, for the sake of memory: allocators map as
/// much as that apart and give it back as a whole (glibc from 32 MB on, whatever it has seen), and
/// what is never written takes none.
const ROOM: usize = 40 << 20;
/// Where more bytes than these are cleared, their memory is given back.
const KEPT: usize = 64 << 20;
/// Bytes of the table in the beginning.
const FIRST_TABLE: usize = SLOT << 12;

/// The terms of one field, and for each the documents it stands in.
pub(super) struct Postings {
    with_positions: bool,
    seed: u64,
    /// Slots of 8 bytes, each `hash << 32 | term + 1`, 0 = free. Open addressing; their number is a
    /// power of two.
    table: Vec<u8>,
    /// See [`Term`].
    terms: Vec<u8>,
    /// Each term's length and bytes.
    keys: Vec<u8>,
    /// The chunks of the terms' postings. Behind each chunk is the place of the term's next one.
    chunks: Vec<u8>,
    block: Block,
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
            table: vec![0; FIRST_TABLE],
            terms: Vec::with_capacity(ROOM),
            keys: Vec::with_capacity(ROOM),
            chunks: Vec::with_capacity(ROOM),
            block: Block {
                text: Vec::new(),
                tokens: Vec::with_capacity(BLOCK),
            },
        }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.table.len() + self.terms.len() + self.keys.len() + self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Forget all terms. Their memory is used again, but for the table: it counts from its first
    /// slot to its last.
    pub fn clear(&mut self) {
        self.table = vec![0; FIRST_TABLE];
        for bytes in [&mut self.terms, &mut self.keys, &mut self.chunks] {
            if bytes.len() > KEPT {
                *bytes = Vec::with_capacity(ROOM);
            }
            bytes.clear();
        }
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
        tokens
    }

    /// Note all tokens of the block.
    fn settle(&mut self, document: u32) {
        while (self.count() + self.block.tokens.len()) * 4 > self.table.len() / SLOT * 3 {
            self.double();
        }
        let likely = self.likely_terms();
        let mut start = 0;
        for (at, likely) in (0..self.block.tokens.len()).zip(likely) {
            let Token {
                hash,
                end,
                position,
            } = self.block.tokens[at];
            let text = start..end as usize;
            start = text.end;
            let number = match likely.checked_sub(1) {
                Some(number) if self.is(number, &text) => number,
                _ => self.term(hash, text),
            };
            let mut term = Term::at(&self.terms, number);
            if self.with_positions {
                term.note_position(&mut self.chunks, document, position);
            } else {
                term.note(&mut self.chunks, document);
            }
            term.put(&mut self.terms, number);
        }
        self.block.text.clear();
        self.block.tokens.clear();
    }

    /// The first term with the hash of each token plus 1, 0 = none. What will be read of them is
    /// read: no step here waits for the one before.
    fn likely_terms(&self) -> [u32; BLOCK] {
        let mask = self.table.len() / SLOT - 1;
        let tokens = &self.block.tokens;
        let mut slots = [0u64; BLOCK];
        for (slot, token) in slots.iter_mut().zip(tokens) {
            *slot = slot_at(&self.table, token.hash as usize & mask);
        }
        let mut likely = [0u32; BLOCK];
        let mut places = [(0u32, 0u32); BLOCK];
        for (((likely, place), slot), token) in
            likely.iter_mut().zip(&mut places).zip(slots).zip(tokens)
        {
            let (mut slot, mut at) = (slot, token.hash as usize & mask);
            while slot != 0 && (slot >> 32) as u32 != token.hash {
                at = (at + 1) & mask;
                slot = slot_at(&self.table, at);
            }
            if slot != 0 {
                *likely = slot as u32;
                let term = Term::at(&self.terms, slot as u32 - 1);
                *place = (term.key, term.cursor);
            }
        }
        let mut sum = 0u8;
        for (key, cursor) in &places[..tokens.len()] {
            sum ^= self.keys.get(*key as usize).copied().unwrap_or(0);
            sum ^= self.chunks.get(*cursor as usize).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
        likely
    }

    /// Read what writing these terms will read.
    fn warm_lists(&self, order: &[(u64, u32)]) {
        let mut places = [(0, 0); BLOCK];
        for (place, (_, number)) in places.iter_mut().zip(order) {
            let term = Term::at(&self.terms, *number);
            *place = (term.chunk as usize, term.key as usize);
        }
        let mut sum = 0u8;
        for (chunk, key) in places {
            sum ^= self.chunks.get(chunk).copied().unwrap_or(0);
            sum ^= self.keys.get(key).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    /// How many terms there are.
    fn count(&self) -> usize {
        self.terms.len() / Term::BYTES
    }

    /// Whether this term stands there in the block's text.
    fn is(&self, number: u32, text: &Range<usize>) -> bool {
        let start = Term::at(&self.terms, number).key as usize;
        let length = text.len();
        if usize::from(self.keys[start]) != length {
            return false;
        }
        // Most are short: their bytes and what follows are compared in one step, where something
        // does.
        let eight = |bytes: &[u8], at: usize| {
            let bytes = bytes.get(at..at + 8)?;
            bytes.try_into().ok().map(u64::from_le_bytes)
        };
        if length <= 8
            && let Some(known) = eight(&self.keys, start + 1)
            && let Some(this) = eight(&self.block.text, text.start)
        {
            return (known ^ this) << (64 - 8 * length) == 0;
        }
        self.keys[start + 1..][..length] == self.block.text[text.clone()]
    }

    /// The term that stands there in the block's text, be it a new one.
    fn term(&mut self, hash: u32, text: Range<usize>) -> u32 {
        let mask = self.table.len() / SLOT - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = slot_at(&self.table, at);
            if slot == 0 {
                break;
            }
            if (slot >> 32) as u32 == hash && self.is(slot as u32 - 1, &text) {
                return slot as u32 - 1;
            }
            at = (at + 1) & mask;
        }
        let number = self.count() as u32;
        self.terms.resize(self.terms.len() + Term::BYTES, 0);
        let term = Term::new(self.keys.len() as u32);
        term.put(&mut self.terms, number);
        // No token is longer than `MAX_TOKEN`.
        self.keys.push(text.len() as u8);
        self.keys.extend_from_slice(&self.block.text[text]);
        put_slot(
            &mut self.table,
            at,
            u64::from(hash) << 32 | u64::from(number + 1),
        );
        number
    }

    fn double(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() / SLOT - 1;
        for slot in self.table.chunks_exact(SLOT).map(|slot| slot_at(slot, 0)) {
            if slot == 0 {
                continue;
            }
            let mut at = (slot >> 32) as usize & mask;
            while slot_at(&table, at) != 0 {
                at = (at + 1) & mask;
            }
            put_slot(&mut table, at, slot);
        }
        self.table = table;
    }

    /// Hand over each term and its [list](gather), in the order of the terms.
    pub fn each(&self, mut each: impl FnMut(&[u8], &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut order: Vec<(u64, u32)> = (0..self.count() as u32)
            .map(|number| {
                let key = key(&self.keys, &Term::at(&self.terms, number));
                (beginning(key), number)
            })
            .collect();
        let text = |number: u32| key(&self.keys, &Term::at(&self.terms, number));
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
        let mut list = Vec::new();
        for (at, &(_, number)) in order.iter().enumerate() {
            if at % BLOCK == 0 {
                self.warm_lists(&order[at..order.len().min(at + BLOCK)]);
            }
            gather(&self.chunks, &Term::at(&self.terms, number), &mut list);
            each(text(number), &list)?;
        }
        Ok(())
    }
}

fn slot_at(table: &[u8], at: usize) -> u64 {
    let bytes = &table[at * SLOT..][..SLOT];
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn put_slot(table: &mut [u8], at: usize, slot: u64) {
    table[at * SLOT..][..SLOT].copy_from_slice(&slot.to_le_bytes());
}

fn key<'a>(keys: &'a [u8], term: &Term) -> &'a [u8] {
    let start = term.key as usize + 1;
    &keys[start..start + usize::from(keys[start - 1])]
}
