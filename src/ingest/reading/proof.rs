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
    is_lines && plan.format.database().is_some() && file.rows().is_some()
}

/// Add these bytes to a proof, and to the last ones that it covers.
pub fn prove_bytes(bytes: &[u8], (proof, tail): (&mut Proof, &mut Vec<u8>)) {
    proof.extend(bytes);
    if bytes.len() >= TAIL {
        tail.clear();
        tail.extend_from_slice(&bytes[bytes.len() - TAIL..]);
    } else {
        let over = (tail.len() + bytes.len()).saturating_sub(TAIL);
        tail.drain(..over);
        tail.extend_from_slice(bytes);
    }
}

/// Add these whole lines.
pub fn prove_rows(lines: &[u8], (proof, tail): (&mut Proof, &mut Vec<u8>)) {
    let (mut hashes, mut start) = (Vec::new(), 0);
    for end in memchr::memchr_iter(b'\n', lines) {
        hashes.extend(hash(&lines[start..end]).to_le_bytes());
        start = end + 1;
    }
    prove_bytes(&hashes, (proof, tail));
}

/// Add lines of these hashes.
pub fn prove_row_hashes(hashes: &[u64], proven: (&mut Proof, &mut Vec<u8>)) {
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    prove_bytes(&bytes, proven);
}

/// Add a line of this hash.
pub fn prove_row_hash(hash: u64, proven: (&mut Proof, &mut Vec<u8>)) {
    prove_bytes(&hash.to_le_bytes(), proven);
}
