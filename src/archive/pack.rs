//! Where are bytes cut into blocks, and how are these compressed? At places that the bytes
//! themselves name, so that a copy that begins otherwise is soon cut alike, and its blocks are
//! stored once.

use std::io;

use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;

/// A block is not cut before so many bytes.
pub const LEAST: usize = 256 << 10;
/// A block has no more bytes.
pub const MOST: usize = 1 << 20;
/// Level 1 takes 2 to 3 s of one core per GB, and leaves about a fifth.
const LEVEL: i32 = 1;
/// The end of a line, by which it is decided whether a block ends there.
const LINE_END: usize = 64;
/// One line in 128 ends a block that is long enough.
const CUTS: u64 = 127;

/// Bytes, compressed.
#[derive(Debug, Clone)]
pub struct Block {
    /// How many bytes it holds, at most [`MOST`].
    pub length: u64,
    pub(super) sha256: [u8; 32],
    pub(super) data: Vec<u8>,
}

impl Block {
    /// Compress these bytes, [`MOST`] at most.
    pub(super) fn of(bytes: &[u8]) -> io::Result<Block> {
        Block::by(&mut Compressor::new(LEVEL)?, bytes)
    }

    fn by(compressor: &mut Compressor<'_>, bytes: &[u8]) -> io::Result<Block> {
        Ok(Block {
            length: bytes.len() as u64,
            sha256: Sha256::digest(bytes).into(),
            data: compressor.compress(bytes)?,
        })
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        unpacked(&self.data, self.length)
    }
}

/// The bytes of a compressed block of this length.
pub(super) fn unpacked(data: &[u8], length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MOST {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let bytes = zstd::bulk::decompress(data, length)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// Some bytes of a source in a row.
#[derive(Debug, Clone)]
pub struct PackedBytes {
    /// Where the first block begins.
    pub from: u64,
    /// The blocks, one behind the other.
    pub blocks: Vec<Block>,
    /// The modification time of the file, where it ends behind them; `None`: there may be more.
    pub end_ns: Option<i64>,
}

impl PackedBytes {
    /// All bytes in the blocks.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        for block in &self.blocks {
            all.extend(block.bytes()?);
        }
        Ok(all)
    }

    /// Bytes of memory it takes, about.
    pub fn memory(&self) -> u64 {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.data.len() as u64).sum()
    }
}

/// Cuts bytes into blocks as they are read.
pub struct Packer {
    compressor: Compressor<'static>,
    /// Where the first of the blocks begins.
    from: u64,
    blocks: Vec<Block>,
    /// What is not cut yet.
    open: Vec<u8>,
}

impl Packer {
    /// For the bytes of a source from `from` on.
    ///
    /// # Errors
    /// When there is no memory for a compressor.
    pub fn at(from: u64) -> io::Result<Packer> {
        Ok(Packer {
            compressor: Compressor::new(LEVEL)?,
            from,
            blocks: Vec::new(),
            open: Vec::new(),
        })
    }

    /// Add the bytes that follow.
    ///
    /// # Errors
    /// When there is no memory to compress them.
    pub fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = (MOST - self.open.len()).min(bytes.len());
            let (now, rest) = bytes.split_at(room);
            let mut searched = self.open.len().max(LEAST);
            self.open.extend_from_slice(now);
            bytes = rest;
            while let Some(end) = cut(&self.open, searched) {
                self.pack(end)?;
                searched = LEAST;
            }
        }
        Ok(())
    }

    /// Take what is complete.
    pub fn packed(&mut self) -> PackedBytes {
        let blocks = std::mem::take(&mut self.blocks);
        let from = self.from;
        self.from += blocks.iter().map(|block| block.length).sum::<u64>();
        PackedBytes {
            from,
            blocks,
            end_ns: None,
        }
    }

    /// Take the rest, behind which the source ends; `mtime_ns` is its file's.
    ///
    /// # Errors
    /// As of [`Packer::push`].
    pub fn finish(mut self, mtime_ns: i64) -> io::Result<PackedBytes> {
        if !self.open.is_empty() {
            self.pack(self.open.len())?;
        }
        Ok(PackedBytes {
            end_ns: Some(mtime_ns),
            ..self.packed()
        })
    }

    fn pack(&mut self, end: usize) -> io::Result<()> {
        let block = Block::by(&mut self.compressor, &self.open[..end])?;
        self.blocks.push(block);
        self.open.drain(..end);
        Ok(())
    }
}

/// Where the first block of these bytes ends; before `searched` it does not.
fn cut(bytes: &[u8], searched: usize) -> Option<usize> {
    let after = bytes.get(searched..)?;
    let ends = memchr::memchr_iter(b'\n', after).map(|at| searched + at + 1);
    let mut ends = ends.filter(|end| {
        let algorithm = crc_fast::CrcAlgorithm::Crc64Nvme;
        crc_fast::checksum(algorithm, &bytes[end - LINE_END..*end]) & CUTS == 0
    });
    let end = ends.next();
    end.or((bytes.len() == MOST).then_some(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn lines(seed: u64, bytes: usize) -> Vec<u8> {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut all = Vec::new();
        while all.len() < bytes {
            let words: Vec<String> = (0..random.random_range(3..400))
                .map(|_| format!("w{}", random.random_range(0..5000)))
                .collect();
            all.extend_from_slice(words.join(" ").as_bytes());
            all.push(b'\n');
        }
        all
    }

    fn packed(bytes: &[u8], piece: usize) -> Vec<Block> {
        let mut packer = Packer::at(0).unwrap();
        let mut blocks = Vec::new();
        for piece in bytes.chunks(piece) {
            packer.push(piece).unwrap();
            blocks.append(&mut packer.packed().blocks);
        }
        blocks.append(&mut packer.finish(0).unwrap().blocks);
        blocks
    }

    fn joined(blocks: &[Block]) -> Vec<u8> {
        let bytes = blocks.iter().map(|block| block.bytes().unwrap());
        bytes.collect::<Vec<_>>().concat()
    }

    #[test]
    fn blocks_hold_all_bytes_however_they_come() {
        for bytes in [lines(1, 3 << 20), vec![7; (2 << 20) + 5], Vec::new()] {
            let whole = packed(&bytes, bytes.len().max(1));
            assert_eq!(joined(&whole), bytes);
            for piece in [1000, 65_537, 1 << 20] {
                let other = packed(&bytes, piece);
                let sums = |blocks: &[Block]| blocks.iter().map(|b| b.sha256).collect::<Vec<_>>();
                assert_eq!(sums(&other), sums(&whole), "{piece}");
            }
            let (_, complete) = whole.split_last().unzip();
            for block in complete.unwrap_or_default() {
                assert!((LEAST..=MOST).contains(&(block.length as usize)));
            }
        }
    }

    #[test]
    fn a_copy_that_begins_otherwise_is_soon_cut_alike() {
        let bytes = lines(2, 6 << 20);
        let copy = [b"another first line\n", bytes.as_slice()].concat();
        let of_origin: Vec<_> = packed(&bytes, 1 << 20).iter().map(|b| b.sha256).collect();
        let of_copy = packed(&copy, 1 << 20);
        let shared = of_copy.iter().filter(|b| of_origin.contains(&b.sha256));
        let shared: u64 = shared.map(|b| b.length).sum();
        assert!(shared > 4 << 20, "{shared} of {}", copy.len());
    }

    #[test]
    fn what_claims_to_be_longer_than_a_block_is_refused() {
        let block = Block::of(b"bytes").unwrap();
        assert!(unpacked(&block.data, 6).is_err());
        assert!(unpacked(&block.data, 4).is_err());
        assert!(unpacked(&block.data, u64::MAX).is_err());
        assert!(unpacked(b"no zstd", 5).is_err());
    }
}
