//! What is a proof made of?
//!
//! Of a file of its bytes. Of a session in a database of the hashes of its lines: those that are
//! stored stand for lines that are not read.

use crate::format::Shape;
use crate::ingest::plan::SourcePlan;
use crate::source::checkpoint::{Proof, TAIL, hash};
use crate::source::content::Content;

/// Whether the source of `plan` is a session in a database.
pub fn is_rows(plan: &SourcePlan<'_>, file: &Content) -> bool {
    let is_lines = plan.format.shape_of(&plan.path) == Shape::Lines;
    is_lines && plan.format.about().database.is_some() && file.rows().is_some()
}

/// A proof that grows while its source is read.
#[derive(Debug, Clone, Default)]
pub struct GrowingProof {
    proof: Proof,
    /// The last bytes that it covers, so that the next proof reaches back as far as this one.
    tail: Vec<u8>,
}

impl GrowingProof {
    /// One that goes on behind what `proof` covers, of which these are the last bytes.
    pub fn behind(proof: Proof, tail: Vec<u8>) -> GrowingProof {
        GrowingProof { proof, tail }
    }

    /// The last bytes that it covers.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The proof of what was added up to now.
    pub fn so_far(&mut self) -> &Proof {
        self.proof.set_tail(&self.tail);
        &self.proof
    }

    /// Add these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.proof.extend(bytes);
        if bytes.len() >= TAIL {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - TAIL..]);
        } else {
            let over = (self.tail.len() + bytes.len()).saturating_sub(TAIL);
            self.tail.drain(..over);
            self.tail.extend_from_slice(bytes);
        }
    }

    /// Add these whole lines of a session in a database.
    pub fn add_rows(&mut self, lines: &[u8]) {
        let (mut hashes, mut start) = (Vec::new(), 0);
        for end in memchr::memchr_iter(b'\n', lines) {
            hashes.push(hash(&lines[start..end]));
            start = end + 1;
        }
        self.add_row_hashes(&hashes);
    }

    /// Add lines of these hashes.
    pub fn add_row_hashes(&mut self, hashes: &[u64]) {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        self.add(&bytes);
    }
}
