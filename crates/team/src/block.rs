//! Where is a file cut into blocks, and by what is a block known?
//!
//! A block ends at a line that itself says so, so that files that begin alike share their blocks,
//! and has 256 KiB to 1 MiB. What follows the last of these cuts is the *tail*. It is kept in parts
//! of which each is at most half of the one before, so that an append sends its own bytes and a
//! tail has few parts.

use ring::{digest, hmac};
use serde::{Deserialize, Serialize};

/// A block is not cut before so many bytes.
pub const LEAST: usize = 256 << 10;
/// A block has no more bytes.
pub const MOST: usize = 1 << 20;
/// A compressed block has no more bytes: zstd adds a little to what does not compress.
pub const MOST_PACKED: usize = MOST + (MOST >> 6) + 1024;
/// The end of a line, by which it is decided whether a block ends there.
const LINE_END: usize = 64;
/// One line in so many ends a block that is long enough.
const CUTS: u64 = 128;
/// zstd's level: 2 to 3 s of one core per GB, and about a fifth of it is left.
const LEVEL: i32 = 1;

/// By what a host knows its blocks. Without it nobody can tell what a block says from its id.
#[derive(Clone)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The id of a block that says this.
    pub fn id(&self, bytes: &[u8]) -> BlockId {
        self.id_of(&sha256(bytes))
    }

    /// The id of a block whose SHA-256 is this: its bytes are gone through once.
    fn id_of(&self, sha256: &digest::Digest) -> BlockId {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        BlockId(hex(hmac::sign(&key, sha256.as_ref()).as_ref()))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Key")
    }
}

/// By what a block is known in a store: 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockId(String);

impl BlockId {
    /// The id that this is; `None`: it is none.
    pub fn parse(text: &str) -> Option<BlockId> {
        is_hash(text).then(|| BlockId(text.to_owned()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A piece of a file: a block, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The block.
    pub id: BlockId,
    /// How many bytes it holds.
    pub bytes: u32,
    /// Their SHA-256, by which a reader, who has no key, proves them.
    pub sha256: String,
}

impl Part {
    /// The part that says this.
    pub fn of(bytes: &[u8], key: &Key) -> Part {
        let sha256 = sha256(bytes);
        Part {
            id: key.id_of(&sha256),
            bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            sha256: hex(sha256.as_ref()),
        }
    }

    /// Whether it can be one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_of_size = (1..=MOST).contains(&(self.bytes as usize));
        match is_of_size && is_hash(&self.id.0) && is_hash(&self.sha256) {
            true => Ok(()),
            false => Err("a block that it names cannot be one"),
        }
    }

    /// What the block says, if it is this one.
    ///
    /// # Errors
    /// That it is not. Whatever it holds, no more is unpacked than the part says.
    pub fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>, &'static str> {
        const NOT_IT: &str = "a block does not hold what the manifest says";
        let bytes = self.bytes as usize;
        if bytes > MOST || packed.len() > MOST_PACKED {
            return Err(NOT_IT);
        }
        let unpacked = zstd::bulk::decompress(packed, bytes).map_err(|_| NOT_IT)?;
        let is_it = unpacked.len() == bytes && hex(sha256(&unpacked).as_ref()) == self.sha256;
        is_it.then_some(unpacked).ok_or(NOT_IT)
    }
}

/// Compress a block.
///
/// # Errors
/// When there is no memory for it.
pub fn pack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
}

/// The parts of a file that says this. Those of its tail are the ones of `before`, as far as they
/// still are what the tail begins with; what follows is one part more, and takes in those before it
/// that are less than twice as long.
pub fn parts<'a>(content: &'a [u8], before: &[Part], key: &Key) -> Vec<(Part, &'a [u8])> {
    let mut parts = Vec::new();
    let mut rest = content;
    while let Some(end) = cut(rest) {
        let (block, after) = rest.split_at(end);
        parts.push((Part::of(block, key), block));
        rest = after;
    }
    let tail = tail(rest, known_tail(&parts, before), key);
    parts.extend(tail);
    parts
}

/// What `before` says behind the blocks that it begins with, if it does.
fn known_tail<'a>(blocks: &[(Part, &[u8])], before: &'a [Part]) -> &'a [Part] {
    let begins =
        before.len() >= blocks.len() && blocks.iter().zip(before).all(|(of, it)| of.0 == *it);
    if begins { &before[blocks.len()..] } else { &[] }
}

fn tail<'a>(tail: &'a [u8], before: &[Part], key: &Key) -> Vec<(Part, &'a [u8])> {
    let mut parts = Vec::new();
    let mut rest = tail;
    for part in before {
        let Some((bytes, after)) = rest.split_at_checked(part.bytes as usize) else {
            break;
        };
        if key.id(bytes) != part.id {
            break;
        }
        parts.push((part.clone(), bytes));
        rest = after;
    }
    let mut from = tail.len() - rest.len();
    while let Some((_, last)) =
        parts.pop_if(|(_, last)| from < tail.len() && last.len() < 2 * (tail.len() - from))
    {
        from -= last.len();
    }
    let rest = &tail[from..];
    if !rest.is_empty() {
        parts.push((Part::of(rest, key), rest));
    }
    parts
}

/// Where the first block of these bytes ends; `None`: it is not complete.
fn cut(bytes: &[u8]) -> Option<usize> {
    let within = &bytes[..bytes.len().min(MOST)];
    let mut at = LEAST;
    while let Some(line) = within
        .get(at..)
        .and_then(|rest| rest.iter().position(|of| *of == b'\n'))
    {
        at += line + 1;
        if ends_block(&within[at - LINE_END..at]) {
            return Some(at);
        }
    }
    (bytes.len() >= MOST).then_some(MOST)
}

/// Whether a line that ends so ends a block: FNV-1a, the same for ever.
fn ends_block(line_end: &[u8]) -> bool {
    let hash = line_end
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    (hash >> 32).is_multiple_of(CUTS)
}

fn sha256(bytes: &[u8]) -> digest::Digest {
    digest::digest(&digest::SHA256, bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

/// Whether these are 64 hexadecimal digits.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && is_digits(text)
}

/// Whether these are hexadecimal digits.
pub(crate) fn is_digits(text: &str) -> bool {
    let is_digit = |of: u8| of.is_ascii_digit() || (b'a'..=b'f').contains(&of);
    text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key([7; 32]);

    /// Lines of a session that differ.
    fn lines(count: usize) -> Vec<u8> {
        let line = |at| {
            format!(
                "{{\"id\":\"{at:08x}\",\"text\":\"{}\"}}\n",
                "word ".repeat(at % 97)
            )
        };
        (0..count).map(line).collect::<String>().into_bytes()
    }

    fn sent<'a>(parts: &[(Part, &'a [u8])], before: &[Part]) -> Vec<&'a [u8]> {
        let new = parts.iter().filter(|(part, _)| !before.contains(part));
        new.map(|(_, bytes)| *bytes).collect()
    }

    fn only_parts(parts: &[(Part, &[u8])]) -> Vec<Part> {
        parts.iter().map(|(part, _)| part.clone()).collect()
    }

    #[test]
    fn parts_in_order_are_the_file() {
        for content in [lines(0), lines(1), lines(30_000), vec![b'x'; 3 * MOST + 5]] {
            let parts = parts(&content, &[], &KEY);
            let joined: Vec<u8> = parts.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
            assert_eq!(joined, content);
            assert!(parts.iter().all(|(part, bytes)| part.check().is_ok() && part.bytes as usize == bytes.len()));
            let closed = parts.len().saturating_sub(1);
            assert!(
                parts[..closed]
                    .iter()
                    .all(|(part, _)| part.bytes as usize >= LEAST)
            );
        }
    }

    #[test]
    fn an_append_sends_its_own_bytes() {
        let whole = lines(30_000);
        let at = whole.len() - 5_000;
        let before = only_parts(&parts(&whole[..at], &[], &KEY));
        let after = parts(&whole, &before, &KEY);
        assert_eq!(sent(&after, &before), [&whole[at..]]);
        // A line at a time, parts are joined: each byte is sent few times.
        let mut known = before;
        let mut all = 0;
        for end in (at..=whole.len()).step_by(50) {
            let next = parts(&whole[..end], &known, &KEY);
            all += sent(&next, &known).iter().map(|of| of.len()).sum::<usize>();
            known = only_parts(&next);
        }
        assert!(known.len() < 21 + whole.len() / LEAST, "{}", known.len());
        assert!(all < 8 * 5_000, "{all}");
    }

    #[test]
    fn what_is_inserted_changes_few_blocks() {
        let whole = lines(60_000);
        let before = only_parts(&parts(&whole, &[], &KEY));
        let mut other = b"one line more\n".to_vec();
        other.extend_from_slice(&whole);
        let new = parts(&other, &before, &KEY);
        assert!(before.len() > 6, "{}", before.len());
        assert!(
            sent(&new, &before).len() <= 2,
            "{}",
            sent(&new, &before).len()
        );
    }

    #[test]
    fn ids_need_the_key() {
        assert_ne!(KEY.id(b"a"), Key([8; 32]).id(b"a"));
        assert_ne!(KEY.id(b"a").as_str(), hex(sha256(b"a").as_ref()));
        assert!(BlockId::parse(KEY.id(b"a").as_str()).is_some());
        assert!(BlockId::parse("../../etc/passwd").is_none());
    }

    #[test]
    fn a_block_is_what_its_part_says_or_nothing() {
        let part = Part::of(b"said", &KEY);
        assert_eq!(part.unpack(&pack(b"said").unwrap()).unwrap(), b"said");
        assert!(part.unpack(&pack(b"sa1d").unwrap()).is_err());
        assert!(part.unpack(b"said").is_err());
        // A gigabyte in some kilobytes is not unpacked.
        let bomb = pack(&vec![0; 64 << 20]).unwrap();
        assert!(part.unpack(&bomb).is_err());
    }
}
