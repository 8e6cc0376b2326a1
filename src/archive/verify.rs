//! Is every byte still what was kept?

use std::collections::HashMap;

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::error::Error;
use super::keep::chained;
use super::open::Archive;
use super::pack::unpacked;
use crate::causes::with_causes;

/// What verifying found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveCheck {
    /// Contents of sources.
    pub generations: u64,
    /// Blocks.
    pub blocks: u64,
    /// Bytes in all contents.
    pub bytes: u64,
    /// What is damaged, a sentence each.
    pub damage: Vec<String>,
}

impl Archive {
    /// Have SQLite check its pages and indexes, decompress and hash every block, and follow the
    /// chain of every content: all of it in one state, whoever writes meanwhile.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn verify(&self) -> Result<ArchiveCheck, Error> {
        let begins = self.connection.is_autocommit();
        if begins {
            self.with(|c| c.execute_batch("BEGIN"))?;
        }
        let mut verified = ArchiveCheck::default();
        let done = self.verify_all(&mut verified);
        if begins {
            self.rollback();
        }
        match done {
            // Where pages are damaged it is no wonder that not all of it can be read.
            Err(error) if !verified.damage.is_empty() => verified.damage.push(with_causes(&error)),
            done => done?,
        }
        Ok(verified)
    }

    fn verify_all(&self, verified: &mut ArchiveCheck) -> Result<(), Error> {
        let found = self.all("PRAGMA integrity_check(20)", [], |r| r.get::<_, String>(0))?;
        verified
            .damage
            .extend(found.into_iter().filter(|line| line != "ok"));
        let sums = self.verify_blocks(verified)?;
        let sql = "SELECT generation, g.length, agent, root, relative FROM generations g JOIN sources USING (source)
            ORDER BY generation";
        let generations = self.all(sql, [], |r| {
            let names: [String; 3] = [r.get(2)?, r.get(3)?, r.get(4)?];
            Ok((r.get::<_, i64>(0)?, r.get::<_, u64>(1)?, names.join(" ")))
        })?;
        for (generation, length, name) in generations {
            verified.generations += 1;
            verified.bytes = verified.bytes.saturating_add(length);
            if let Some(what) = self.broken_chain(generation, length, &sums)? {
                verified.damage.push(format!("{name}: {what}"));
            }
        }
        Ok(())
    }

    /// Length and SHA-256 of every block that is what it is said to be.
    fn verify_blocks(&self, verified: &mut ArchiveCheck) -> Result<Sums, Error> {
        let mut sums = Sums::new();
        self.with(|c| {
            let mut blocks = c.prepare("SELECT block, sha256, length, data FROM blocks")?;
            let mut rows = blocks.query([])?;
            while let Some(row) = rows.next()? {
                verified.blocks += 1;
                let (block, sha256, length): (i64, [u8; 32], u64) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let bytes = unpacked(row.get_ref(3)?.as_blob()?, length);
                let is_it = |bytes: Vec<u8>| <[u8; 32]>::from(Sha256::digest(bytes)) == sha256;
                match bytes.is_ok_and(is_it) {
                    true => drop(sums.insert(block, (length, sha256))),
                    false => verified.damage.push(format!("block {block} is damaged")),
                }
            }
            Ok(())
        })?;
        Ok(sums)
    }

    /// Where the parts of a content are not those that were kept.
    fn broken_chain(
        &self,
        generation: i64,
        length: u64,
        sums: &Sums,
    ) -> Result<Option<String>, Error> {
        let sql =
            "SELECT start, length, block, chain FROM parts WHERE generation = ?1 ORDER BY start";
        let parts = self.all(sql, params![generation], |r| {
            let place: (u64, u64) = (r.get(0)?, r.get(1)?);
            Ok((place, r.get::<_, i64>(2)?, r.get::<_, [u8; 32]>(3)?))
        })?;
        let (mut at, mut before) = (0, None);
        for ((start, length), block, chain) in parts {
            let sum = sums.get(&block).filter(|(has, _)| *has == length);
            let expected = sum.map(|(_, sha256)| chained(before, start, length, sha256));
            if start != at || expected != Some(chain) {
                return Ok(Some(format!("what was kept from byte {at} on is damaged")));
            }
            (at, before) = (start + length, Some(chain));
        }
        let is_short = at != length;
        Ok(is_short.then(|| format!("only {at} of {length} bytes are there")))
    }
}

/// Length and SHA-256 by the number of the block.
type Sums = HashMap<i64, (u64, [u8; 32])>;
