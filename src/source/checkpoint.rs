//! What to do with a file whose earlier state is known: stored × observed → decision. These are
//! pure functions, except for the proof itself, which gets a reader.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use super::identity::Identity;
use crate::format::WriteMode;

/// Bytes hashed as one block.
pub const BLOCK: usize = 64 * 1024;
/// What no format has for its revision: a source of this one is read again.
pub const NO_REVISION: u32 = u32::MAX;
/// Bytes before the end that prove an append.
pub const TAIL: usize = 4 * 1024;

/// Proof of a prefix: a CRC-64 state a block, the last one unfinished, and one over the tail. Its
/// bytes are those of a file, and of a session in a database the hashes of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proof {
    /// One CRC-64 a full block of [`BLOCK`] bytes, then the state of the unfinished one.
    blocks: Vec<u64>,
    /// Bytes in the unfinished block.
    filled: usize,
    /// CRC-64 over the last [`TAIL`] bytes.
    tail: u64,
}

/// CRC-64/NVME of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc64Nvme, bytes)
}

fn extend_state(state: Option<u64>, bytes: &[u8]) -> u64 {
    use crc_fast::{CrcAlgorithm, Digest};
    let mut digest = match state {
        Some(state) => Digest::new_with_init_state(CrcAlgorithm::Crc64Nvme, state),
        None => Digest::new(CrcAlgorithm::Crc64Nvme),
    };
    digest.update(bytes);
    digest.get_state()
}

impl Proof {
    /// Bytes of memory it takes, about.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }

    /// How many blocks there are, the unfinished one among them.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes that the proof covers.
    pub fn covers(&self) -> u64 {
        if self.filled == 0 {
            (self.blocks.len() * BLOCK) as u64
        } else {
            ((self.blocks.len() - 1) * BLOCK + self.filled) as u64
        }
    }

    /// Add the bytes that follow.
    pub fn extend(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let take = bytes.len().min(BLOCK - self.filled);
            let (now, rest) = bytes.split_at(take);
            if self.filled == 0 {
                self.blocks.push(extend_state(None, now));
            } else if let Some(last) = self.blocks.last_mut() {
                *last = extend_state(Some(*last), now);
            }
            self.filled = (self.filled + take) % BLOCK;
            bytes = rest;
        }
    }

    /// Set the tail: the last bytes before the end of what is covered (at most [`TAIL`] are used).
    pub fn set_tail(&mut self, last_bytes: &[u8]) {
        self.tail = hash(&last_bytes[last_bytes.len().saturating_sub(TAIL)..]);
    }

    /// As stored: tail, filled, then the blocks, each 8 bytes little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 8 * self.blocks.len());
        bytes.extend_from_slice(&self.tail.to_le_bytes());
        bytes.extend_from_slice(&(self.filled as u64).to_le_bytes());
        for block in &self.blocks {
            bytes.extend_from_slice(&block.to_le_bytes());
        }
        bytes
    }

    /// From the stored form; anything else proves nothing.
    pub fn from_bytes(bytes: &[u8]) -> Proof {
        let mut words = bytes.chunks_exact(8).map(|c| {
            let mut word = [0u8; 8];
            word.copy_from_slice(c);
            u64::from_le_bytes(word)
        });
        let (Some(tail), Some(filled)) = (words.next(), words.next()) else {
            return Proof::default();
        };
        let blocks: Vec<u64> = words.collect();
        if filled as usize >= BLOCK || (blocks.is_empty() && filled != 0) {
            return Proof::default();
        }
        Proof {
            blocks,
            filled: filled as usize,
            tail,
        }
    }
}

/// What was stored of a file at its last reading.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ReadState {
    pub identity: Identity,
    pub racy: bool,
    pub revision: u32,
    pub consumed: u64,
    /// Bytes of the content.
    pub length: u64,
}

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nothing to read.
    Unchanged,
    /// Prove the tail; if it holds, read on from `consumed`, else prove all blocks.
    ProveTail,
    /// Prove all blocks; if they hold, read on from `consumed`, else read everything.
    ProveBlocks,
    /// Read everything.
    Reread,
}

/// Decide what to do with a file.
pub fn decide(
    stored: Option<&ReadState>,
    observed: &Identity,
    mode: WriteMode,
    revision: u32,
) -> Decision {
    let Some(stored) = stored else {
        return Decision::Reread;
    };
    if stored.revision != revision {
        return Decision::Reread;
    }
    let was = stored.identity;
    if was == *observed {
        // Too close to the clock at the last reading, its identity proves nothing.
        return match stored.racy {
            true => Decision::ProveBlocks,
            false => Decision::Unchanged,
        };
    }
    let is_same_file = (was.device, was.inode) == (observed.device, observed.inode);
    match mode {
        WriteMode::Rename => Decision::Reread,
        WriteMode::Append if is_same_file && observed.size > was.size => Decision::ProveTail,
        _ => Decision::ProveBlocks,
    }
}

/// The last bytes that the proof covers, if they are still there; and the bytes read.
pub fn tail_holds<R: Read + Seek>(
    file: &mut R,
    proof: &Proof,
) -> std::io::Result<(Option<Vec<u8>>, u64)> {
    let length = proof.covers().min(TAIL as u64);
    let mut bytes = vec![0u8; length as usize];
    file.seek(SeekFrom::Start(proof.covers() - length))?;
    let got = read_full(file, &mut bytes)?;
    let holds = got as u64 == length && hash(&bytes) == proof.tail;
    Ok((holds.then_some(bytes), got as u64))
}

/// Are all bytes that the proof covers still there? And the bytes read.
pub fn prove_all<R: Read + Seek>(file: &mut R, proof: &Proof) -> std::io::Result<(bool, u64)> {
    let (first, read) = prove_range(file, proof, 0..proof.block_count())?;
    Ok((first.is_none(), read))
}

/// Prove the blocks with these numbers, as far as there are such: the first one that is another,
/// and the bytes read.
pub fn prove_range<R: Read + Seek>(
    file: &mut R,
    proof: &Proof,
    numbers: Range<usize>,
) -> std::io::Result<(Option<usize>, u64)> {
    file.seek(SeekFrom::Start((numbers.start * BLOCK) as u64))?;
    let mut buffer = vec![0u8; BLOCK];
    let mut read = 0u64;
    let blocks = proof.blocks.iter().enumerate();
    for (at, expected) in blocks.take(numbers.end).skip(numbers.start) {
        let last = at + 1 == proof.blocks.len();
        let want = if last && proof.filled != 0 {
            proof.filled
        } else {
            BLOCK
        };
        let got = read_full(file, &mut buffer[..want])?;
        read += got as u64;
        if got < want || extend_state(None, &buffer[..want]) != *expected {
            return Ok((Some(at), read));
        }
    }
    Ok((None, read))
}

/// Read until `buffer` is full or the file ends.
pub fn read_full<R: Read>(file: &mut R, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn proof_of(bytes: &[u8]) -> Proof {
        let mut proof = Proof::default();
        proof.extend(bytes);
        proof.set_tail(bytes);
        proof
    }

    fn stored(bytes: &[u8]) -> ReadState {
        let identity = Identity {
            size: bytes.len() as u64,
            inode: 1,
            ctime_ns: 5,
            ..Identity::default()
        };
        ReadState {
            identity,
            racy: false,
            revision: 1,
            consumed: bytes.len() as u64,
            length: bytes.len() as u64,
        }
    }

    #[test]
    fn a_proof_made_in_pieces_equals_one_made_at_once() {
        let bytes: Vec<u8> = (0..BLOCK * 2 + 777).map(|i| (i * 7 % 251) as u8).collect();
        let whole = proof_of(&bytes);
        for piece in [1, 13, 4096, BLOCK - 1, BLOCK, BLOCK + 1] {
            let mut proof = Proof::default();
            for part in bytes.chunks(piece) {
                proof.extend(part);
            }
            proof.set_tail(&bytes);
            assert_eq!(proof, whole, "pieces of {piece}");
            assert_eq!(Proof::from_bytes(&proof.to_bytes()), whole);
        }
    }

    #[test]
    fn blocks_are_proven_some_at_a_time() {
        let mut bytes: Vec<u8> = vec![b'x'; BLOCK * 3 + 100];
        let proof = proof_of(&bytes);
        assert_eq!(proof.block_count(), 4);
        bytes[BLOCK * 2 + 5] = b'y';
        let mut file = Cursor::new(&bytes);
        let mut prove = |numbers| prove_range(&mut file, &proof, numbers).unwrap();
        let block = BLOCK as u64;
        assert_eq!(prove(0..2), (None, 2 * block));
        assert_eq!(prove(1..9), (Some(2), 2 * block));
        assert_eq!(prove(3..usize::MAX), (None, 100));
        assert_eq!(prove(4..5), (None, 0));
    }

    #[test]
    fn blocks_prove_up_to_the_first_changed_one() {
        let mut bytes: Vec<u8> = vec![b'x'; BLOCK * 3 + 100];
        let before = proof_of(&bytes);
        let proven = |bytes: &[u8]| {
            let mut file = Cursor::new(bytes);
            let (first, _) = prove_range(&mut file, &before, 0..usize::MAX).unwrap();
            (prove_all(&mut file, &before).unwrap().0, first)
        };
        assert_eq!(proven(&bytes), (true, None));
        bytes[BLOCK + 5] = b'y';
        assert_eq!(proven(&bytes), (false, Some(1)));
        bytes.truncate(BLOCK / 2);
        assert_eq!(proven(&bytes), (false, Some(0)));
    }

    #[test]
    fn what_is_read_of_a_file_follows_from_its_identity_and_how_it_is_written() {
        let before = stored(b"0123456789\n");
        let same = before.identity;
        let decide = |id: Identity, mode| decide(Some(&before), &id, mode, 1);
        assert_eq!(decide(same, WriteMode::Append), Decision::Unchanged);
        let grown = Identity {
            size: 20,
            ctime_ns: 6,
            ..same
        };
        assert_eq!(decide(grown, WriteMode::Append), Decision::ProveTail);
        assert_eq!(decide(grown, WriteMode::Overwrite), Decision::ProveBlocks);
        let restored = Identity {
            ctime_ns: 6,
            ..same
        };
        assert_eq!(decide(restored, WriteMode::Append), Decision::ProveBlocks);
        let other = Identity { inode: 2, ..grown };
        assert_eq!(decide(other, WriteMode::Append), Decision::ProveBlocks);
    }
}
