//! Which passages hold which terms, while a segment is being made?
//!
//! tantivy's own table looks up token after token, and each waits for the memory two or three
//! times. Here the tokens of a text are looked up some hundred at once, so the waits overlap.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;

use foldhash::quality::FixedState;

use super::term::{Term, beginning, gather};
use super::tokenizer::Segmenter;

/// Tokens that are looked up together.
const BLOCK: usize = 256;
/// Bytes of room that a table has from the beginning, for the sake of memory: allocators map as
/// much as that apart and give it back as a whole (glibc from 32 MB on, whatever it has seen), and
/// what is never written takes none.
const ROOM: usize = 40 << 20;
/// Where more bytes than these are cleared, their memory is given back.
const KEPT: usize = 64 << 20;
/// Slots of the table in the beginning.
const FIRST_TABLE: usize = 1 << 12;

/// The terms of one field, and for each the documents it stands in.
pub(super) struct Postings {
    with_positions: bool,
    /// Seeded at random, so no file can hold words that meet in one slot.
    hashes: FixedState,
    /// Slots, each `hash << 32 | term + 1`, 0 = free. Open addressing; their number is a power of
    /// two.
    table: Vec<u64>,
    /// Each by its number.
    terms: Vec<Term>,
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
            hashes: FixedState::with_seed(RandomState::new().hash_one(0u8)),
            table: vec![0; FIRST_TABLE],
            terms: with_room(),
            keys: with_room(),
            chunks: with_room(),
            block: Block {
                text: Vec::new(),
                tokens: Vec::with_capacity(BLOCK),
            },
        }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.table) + size_of_val(&*self.terms) + self.keys.len() + self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Forget all terms. Their memory is used again, but for the table: it counts from its first
    /// slot to its last.
    pub fn clear(&mut self) {
        self.table = vec![0; FIRST_TABLE];
        clear(&mut self.terms);
        clear(&mut self.keys);
        clear(&mut self.chunks);
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
                let mut hash = self.hashes.build_hasher();
                hash.write(text);
                self.block.text.extend_from_slice(text);
                self.block.tokens.push(Token {
                    hash: hash.finish() as u32,
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
        while (self.terms.len() + self.block.tokens.len()) * 4 > self.table.len() * 3 {
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
            let mut term = self.terms[number as usize];
            if self.with_positions {
                term.note_position(&mut self.chunks, document, position);
            } else {
                term.note(&mut self.chunks, document);
            }
            self.terms[number as usize] = term;
        }
        self.block.text.clear();
        self.block.tokens.clear();
    }

    /// The first term with the hash of each token plus 1, 0 = none. What will be read of them is
    /// read: no step here waits for the one before.
    fn likely_terms(&self) -> [u32; BLOCK] {
        let mask = self.table.len() - 1;
        let tokens = &self.block.tokens;
        let mut slots = [0u64; BLOCK];
        for (slot, token) in slots.iter_mut().zip(tokens) {
            *slot = self.table[token.hash as usize & mask];
        }
        let mut likely = [0u32; BLOCK];
        let mut places = [(0u32, 0u32); BLOCK];
        for (((likely, place), slot), token) in
            likely.iter_mut().zip(&mut places).zip(slots).zip(tokens)
        {
            let (mut slot, mut at) = (slot, token.hash as usize & mask);
            while slot != 0 && (slot >> 32) as u32 != token.hash {
                at = (at + 1) & mask;
                slot = self.table[at];
            }
            if slot != 0 {
                *likely = slot as u32;
                let term = &self.terms[slot as u32 as usize - 1];
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

    /// Whether this term stands there in the block's text.
    fn is(&self, number: u32, text: &Range<usize>) -> bool {
        let start = self.terms[number as usize].key as usize;
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
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table[at];
            if slot == 0 {
                break;
            }
            if (slot >> 32) as u32 == hash && self.is(slot as u32 - 1, &text) {
                return slot as u32 - 1;
            }
            at = (at + 1) & mask;
        }
        let number = self.terms.len() as u32;
        self.terms.push(Term::new(self.keys.len() as u32));
        // No token is longer than `MAX_TOKEN`.
        self.keys.push(text.len() as u8);
        self.keys.extend_from_slice(&self.block.text[text]);
        self.table[at] = u64::from(hash) << 32 | u64::from(number + 1);
        number
    }

    fn double(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for slot in self.table.iter().copied().filter(|slot| *slot != 0) {
            let mut at = (slot >> 32) as usize & mask;
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = slot;
        }
        self.table = table;
    }

    /// Hand over each term and its [list](gather), in the order of the terms.
    pub fn each(&self, mut each: impl FnMut(&[u8], &[u8]) -> io::Result<()>) -> io::Result<()> {
        let text = |number: u32| key(&self.keys, &self.terms[number as usize]);
        let numbers = 0..self.terms.len() as u32;
        let mut order: Vec<(u64, u32)> = numbers
            .map(|number| (beginning(text(number)), number))
            .collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
        let mut list = Vec::new();
        for (at, &(_, number)) in order.iter().enumerate() {
            if at % BLOCK == 0 {
                self.warm_lists(&order[at..order.len().min(at + BLOCK)]);
            }
            gather(&self.chunks, &self.terms[number as usize], &mut list);
            each(text(number), &list)?;
        }
        Ok(())
    }
}

/// Nothing yet, with the room that a table has.
fn with_room<T>() -> Vec<T> {
    Vec::with_capacity(ROOM / size_of::<T>())
}

fn clear<T>(table: &mut Vec<T>) {
    if size_of_val(&**table) > KEPT {
        *table = with_room();
    }
    table.clear();
}

fn key<'a>(keys: &'a [u8], term: &Term) -> &'a [u8] {
    let start = term.key as usize + 1;
    &keys[start..start + usize::from(keys[start - 1])]
}
