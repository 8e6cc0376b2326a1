//! How do the bytes of a source get into the archive? Behind what is kept of it, or, where its file
//! no longer holds that, as the next generation, which shares all parts before the difference.

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::error::Error;
use super::open::Archive;
use super::pack::{Block, LEAST, PackedBytes};
use super::sources::{Generation, SourcePath};

/// So many short parts at the end of a generation are joined. A file that grows line by line is
/// thereby written about three times, and each line at once.
const SHORT_PARTS: usize = 32;

impl Archive {
    /// Keep some bytes of a source; before them it holds what is kept. `false`: less than that is
    /// kept, or what is kept is damaged and they cannot be compared with it, so the source has to
    /// be read from its first byte. Within a transaction.
    ///
    /// # Errors
    /// When it cannot be written, or what is there cannot be read.
    pub fn keep(
        &self,
        place: &SourcePath,
        packed: &PackedBytes,
        now_ms: i64,
    ) -> Result<bool, Error> {
        let from = packed.from;
        if self.is_forgotten(place)? {
            return Ok(true);
        }
        self.step("archive.keep")?;
        self.note_change()?;
        let source = self.ensure_source(place)?;
        let generation = match self.newest(source)? {
            Some(newest) if newest.length >= from => newest,
            None if from == 0 => self.begin_generation(source, now_ms)?,
            _ => return Ok(false),
        };
        match self.keep_blocks(source, place, generation, packed, now_ms) {
            // Nothing is shared with what is damaged: all of the source is kept anew.
            Err(Error::Damaged { .. }) => {
                self.begin_generation(source, now_ms)?;
                Ok(false)
            }
            kept => kept.map(|()| true),
        }
    }

    fn keep_blocks(
        &self,
        source: i64,
        place: &SourcePath,
        mut generation: Generation,
        packed: &PackedBytes,
        now_ms: i64,
    ) -> Result<(), Error> {
        let mut at = packed.from;
        for block in &packed.blocks {
            self.keep_block(source, &mut generation, at, block, now_ms)?;
            at += block.length;
        }
        let Some(mtime_ns) = packed.end_ns else {
            return Ok(());
        };
        if generation.length > at {
            // Another index may have read and kept more of it meanwhile. An older copy that was put
            // in its place is as old, but shorter.
            if mtime_ns < generation.mtime_ns && is_as_long(place, generation.length) {
                return Ok(());
            }
            generation = self.branch(source, &generation, at, now_ms)?;
        }
        let set = "UPDATE generations SET mtime_ns = ?2 WHERE generation = ?1 AND mtime_ns <> ?2";
        self.execute(set, params![generation.number, mtime_ns])?;
        Ok(())
    }

    /// The file of a source has moved: what is kept of it is of the source at its new place, unless
    /// something is kept of that already. Whether it is. Within a transaction.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rename(&self, old: &SourcePath, new: &SourcePath) -> Result<bool, Error> {
        if self.source(new)?.is_some() {
            return Ok(false);
        }
        let Some(source) = self.source(old)? else {
            return Ok(false);
        };
        self.note_change()?;
        let set = "UPDATE sources SET agent = ?2, root = ?3, relative = ?4 WHERE source = ?1";
        let root = new.root.to_string_lossy();
        self.execute(set, params![source, new.agent, root, new.relative])?;
        Ok(true)
    }

    fn ensure_source(&self, place: &SourcePath) -> Result<i64, Error> {
        if let Some(source) = self.source(place)? {
            return Ok(source);
        }
        let add =
            "INSERT INTO sources (agent, root, relative) VALUES (?1, ?2, ?3) RETURNING source";
        let root = place.root.to_string_lossy();
        self.one(add, params![place.agent, root, place.relative], |r| {
            r.get(0)
        })
    }

    fn begin_generation(&self, source: i64, now_ms: i64) -> Result<Generation, Error> {
        let add = "INSERT INTO generations (source, length, mtime_ns, begun_ms, kept_ms) VALUES (?1, 0, 0, ?2, ?2)
            RETURNING generation";
        Ok(Generation {
            number: self.one(add, params![source, now_ms], |r| r.get(0))?,
            length: 0,
            mtime_ns: 0,
            begun_ms: now_ms,
            kept_ms: now_ms,
        })
    }

    /// Keep one block of the source, at `at`.
    fn keep_block(
        &self,
        source: i64,
        generation: &mut Generation,
        at: u64,
        block: &Block,
        now_ms: i64,
    ) -> Result<(), Error> {
        if generation.length == at {
            return self.append(generation, block, now_ms);
        }
        if self.holds_block(generation, at, block)? {
            return Ok(());
        }
        let bytes = block.bytes().map_err(|error| self.io(error))?;
        let there = generation.length.saturating_sub(at).min(block.length);
        let there = self.bytes(generation.number, at, there)?;
        let alike = bytes.iter().zip(&there).take_while(|(a, b)| a == b).count();
        if alike < there.len() {
            *generation = self.branch(source, generation, at + alike as u64, now_ms)?;
        }
        match &bytes[alike..] {
            [] => Ok(()),
            more => {
                let block = Block::of(more).map_err(|error| self.io(error))?;
                self.append(generation, &block, now_ms)
            }
        }
    }

    /// Whether exactly this block is kept there.
    fn holds_block(&self, generation: &Generation, at: u64, block: &Block) -> Result<bool, Error> {
        let number = self.known_block(block)?;
        let sql = "SELECT 1 FROM parts WHERE generation = ?1 AND start = ?2 AND block = ?3";
        let bound = params![generation.number, at, number];
        Ok(self.first(sql, bound, |_| Ok(()))?.is_some())
    }

    /// The number of a block whose bytes are kept already. What the disk has made of them meanwhile
    /// does not count: here they are.
    fn known_block(&self, block: &Block) -> Result<Option<i64>, Error> {
        let known = "SELECT block FROM blocks WHERE sha256 = ?1";
        let known = self.first(known, [block.sha256], |r| r.get(0))?;
        if let Some(number) = known {
            let mend = "UPDATE blocks SET length = ?2, data = ?3 WHERE block = ?1 AND (length, data) <> (?2, ?3)";
            self.execute(mend, params![number, block.length, block.data])?;
        }
        Ok(known)
    }

    /// Begin a generation that is the other one up to `end`, whose parts it shares.
    fn branch(
        &self,
        source: i64,
        other: &Generation,
        end: u64,
        now_ms: i64,
    ) -> Result<Generation, Error> {
        let mut generation = self.begin_generation(source, now_ms)?;
        let share = "INSERT INTO parts SELECT ?1, start, length, block, chain FROM parts
            WHERE generation = ?2 AND start + length <= ?3";
        self.execute(share, params![generation.number, other.number, end])?;
        let shared = "SELECT coalesce(max(start + length), 0) FROM parts WHERE generation = ?1";
        generation.length = self.one(shared, [generation.number], |r| r.get(0))?;
        self.set_length(&mut generation, now_ms)?;
        if generation.length < end {
            let length = end - generation.length;
            let rest = self.bytes(other.number, generation.length, length)?;
            let rest = Block::of(&rest).map_err(|error| self.io(error))?;
            self.append(&mut generation, &rest, now_ms)?;
        }
        Ok(generation)
    }

    /// Add a block at the end of a generation, whose short parts are joined when they have become
    /// many or long.
    fn append(&self, generation: &mut Generation, block: &Block, now_ms: i64) -> Result<(), Error> {
        let short = self.short_parts(generation.number)?;
        let bytes: u64 = short.iter().map(|(_, length)| length).sum();
        let is_full = short.len() >= SHORT_PARTS || bytes + block.length >= LEAST as u64;
        if let [.., (start, _)] = short[..]
            && short.len() > 1
            && is_full
        {
            match self.bytes(generation.number, start, bytes) {
                Ok(joined) => {
                    let joined = Block::of(&joined).map_err(|error| self.io(error))?;
                    self.cut_off(generation.number, start)?;
                    self.add_part(generation.number, start, &joined)?;
                }
                // A new sum over damaged bytes would prove them.
                Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.add_part(generation.number, generation.length, block)?;
        generation.length += block.length;
        self.set_length(generation, now_ms)
    }

    /// Start and length of the short parts with which a generation ends, the last one first.
    fn short_parts(&self, generation: i64) -> Result<Vec<(u64, u64)>, Error> {
        let sql =
            "SELECT start, length FROM parts WHERE generation = ?1 ORDER BY start DESC LIMIT ?2";
        let last = self.all(sql, params![generation, SHORT_PARTS as i64], |r| {
            Ok((r.get(0)?, r.get::<_, u64>(1)?))
        })?;
        let short = last.into_iter();
        Ok(short
            .take_while(|(_, length)| *length < LEAST as u64)
            .collect())
    }

    fn set_length(&self, generation: &mut Generation, now_ms: i64) -> Result<(), Error> {
        generation.kept_ms = now_ms;
        let set = "UPDATE generations SET length = ?2, kept_ms = ?3 WHERE generation = ?1";
        let bound = params![generation.number, generation.length, now_ms];
        self.execute(set, bound).map(drop)
    }

    fn add_part(&self, generation: i64, start: u64, block: &Block) -> Result<(), Error> {
        let number: i64 = match self.known_block(block)? {
            Some(number) => number,
            None => {
                let add =
                    "INSERT INTO blocks (sha256, length, data) VALUES (?1, ?2, ?3) RETURNING block";
                let bound = params![block.sha256, block.length, block.data];
                self.one(add, bound, |r| r.get(0))?
            }
        };
        let before = "SELECT chain FROM parts WHERE generation = ?1 ORDER BY start DESC LIMIT 1";
        let before: Option<[u8; 32]> = self.first(before, [generation], |r| r.get(0))?;
        let chain = chained(before, start, block.length, &block.sha256);
        let add = "INSERT INTO parts VALUES (?1, ?2, ?3, ?4, ?5)";
        let bound = params![generation, start, block.length, number, chain];
        self.execute(add, bound).map(drop)
    }

    /// Remove the parts of a generation from `start` on, and the blocks that no other part names.
    pub(super) fn cut_off(&self, generation: i64, start: u64) -> Result<(), Error> {
        let sql = "SELECT DISTINCT block FROM parts WHERE generation = ?1 AND start >= ?2";
        let blocks = self.all(sql, params![generation, start], |r| r.get::<_, i64>(0))?;
        let remove = "DELETE FROM parts WHERE generation = ?1 AND start >= ?2";
        self.execute(remove, params![generation, start])?;
        for block in blocks {
            let remove = "DELETE FROM blocks WHERE block = ?1 AND NOT EXISTS (SELECT 1 FROM parts WHERE block = ?1)";
            self.execute(remove, [block])?;
        }
        Ok(())
    }

    fn io(&self, source: std::io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// The chain after a part.
pub(super) fn chained(
    before: Option<[u8; 32]>,
    start: u64,
    length: u64,
    sha256: &[u8; 32],
) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(before.unwrap_or_default());
    hash.update(start.to_le_bytes());
    hash.update(length.to_le_bytes());
    hash.update(sha256);
    hash.finalize().into()
}

/// Whether the file of a source has at least so many bytes now.
fn is_as_long(place: &SourcePath, length: u64) -> bool {
    let found = place.path().and_then(|path| std::fs::metadata(path).ok());
    found.is_some_and(|file| file.len() >= length)
}
