//! What did a source hold? Read from its blocks as if they were its file.

use std::borrow::Borrow;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::error::Error;
use super::open::Archive;
use super::pack::unpacked;
use super::sources::{Generation, SourcePath};

/// One content of a source. It stays as it is when the archive is written meanwhile: parts may be
/// joined, but hold what they held.
pub struct ArchivedFile<A = Archive> {
    archive: A,
    generation: Generation,
    at: u64,
    /// The part that was read last: where it begins, and its bytes.
    part: (u64, Vec<u8>),
}

impl<A: Borrow<Archive>> ArchivedFile<A> {
    /// The newest content of a source; `None` when nothing of it is kept.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn newest(archive: A, place: &SourcePath) -> Result<Option<ArchivedFile<A>>, Error> {
        let newest = match archive.borrow().source(place)? {
            Some(source) => archive.borrow().newest(source)?,
            None => None,
        };
        Ok(newest.map(|generation| ArchivedFile::of(archive, generation)))
    }

    /// This content.
    pub fn of(archive: A, generation: Generation) -> ArchivedFile<A> {
        ArchivedFile {
            archive,
            generation,
            at: 0,
            part: (0, Vec::new()),
        }
    }

    /// Which content it is.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The rest of the part at the current place; empty at the end.
    fn rest_of_part(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.generation.length {
            return Ok(&[]);
        }
        let (start, bytes) = &self.part;
        if self.at < *start || self.at >= start + bytes.len() as u64 {
            self.part = self
                .archive
                .borrow()
                .part_at(self.generation.number, self.at)?;
        }
        let within = usize::try_from(self.at - self.part.0).map_err(|_| ErrorKind::InvalidData)?;
        // What was appended since it was opened is not its content.
        let left = usize::try_from(self.generation.length - self.at).unwrap_or(usize::MAX);
        let rest = self.part.1.get(within..).unwrap_or_default();
        Ok(&rest[..rest.len().min(left)])
    }
}

impl<A: Borrow<Archive>> Read for ArchivedFile<A> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.rest_of_part()?;
        let most = rest.len().min(buffer.len());
        buffer[..most].copy_from_slice(&rest[..most]);
        self.at += most as u64;
        Ok(most)
    }
}

impl<A> Seek for ArchivedFile<A> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.generation.length.checked_add_signed(by),
        };
        self.at = to.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Archive {
    /// The part of a generation in which the byte `at` lies: where it begins, and its bytes.
    fn part_at(&self, generation: i64, at: u64) -> Result<(u64, Vec<u8>), Error> {
        let sql = "SELECT start, b.length, data, sha256 FROM parts JOIN blocks b USING (block)
            WHERE generation = ?1 AND start <= ?2 ORDER BY start DESC LIMIT 1";
        let part = self.first(sql, params![generation, at], |r| {
            let (start, length): (u64, u64) = (r.get(0)?, r.get(1)?);
            Ok((
                start,
                length,
                r.get::<_, Vec<u8>>(2)?,
                r.get::<_, [u8; 32]>(3)?,
            ))
        })?;
        let missing = || self.damaged(format!("byte {at} of generation {generation} is missing"));
        let (start, length, data, sha256) = part.ok_or_else(missing)?;
        // A flipped bit may well decompress, to other bytes.
        let bytes = unpacked(&data, length).ok();
        let bytes = bytes.filter(|bytes| <[u8; 32]>::from(Sha256::digest(bytes)) == sha256);
        let bytes = bytes.ok_or_else(|| {
            self.damaged(format!(
                "the part at byte {start} of generation {generation} is damaged"
            ))
        })?;
        match at - start < length {
            true => Ok((start, bytes)),
            false => Err(missing()),
        }
    }

    /// So many bytes of a generation, from `start` on.
    pub(super) fn bytes(&self, generation: i64, start: u64, length: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let (mut at, end) = (start, start + length);
        while at < end {
            let (begins, part) = self.part_at(generation, at)?;
            let within = (at - begins) as usize;
            let most = part.len().min((end - begins) as usize);
            bytes.extend_from_slice(&part[within..most]);
            at = begins + most as u64;
        }
        Ok(bytes)
    }
}
