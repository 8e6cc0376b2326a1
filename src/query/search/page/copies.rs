//! Which candidates repeat a hit of the page, and how many of them are its copies?

use std::collections::HashMap;

use crate::query::search::cursor::Fingerprint;

/// A copy is counted only if it follows the hit, or the copy before it, within so many candidates
/// and bytes of their lines. So much is read behind a page, so that a short page counts the copies
/// that a longer one would.
pub(in crate::query::search) const AHEAD: usize = 16;
const AHEAD_BYTES: u64 = 64 << 10;

/// How far the candidates were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Progress {
    /// How many were.
    pub candidates: usize,
    /// Bytes of their lines.
    pub bytes: u64,
}

/// The hits of a page, and their copies.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// By the fingerprint of a line or text, the first fingerprint of the hit that says it.
    seen: HashMap<Fingerprint, Fingerprint>,
    of_hit: HashMap<Fingerprint, CopiesOfHit>,
}

#[derive(Debug)]
struct CopiesOfHit {
    count: u64,
    /// Where the hit or its last copy was.
    last: Progress,
}

impl Copies {
    /// Later candidates that say the same are copies of this hit.
    pub fn remember(&mut self, prints: (Fingerprint, Option<Fingerprint>), at: Progress) {
        let own = prints.0;
        let both = std::iter::once(own).chain(prints.1);
        self.seen.extend(both.map(|print| (print, own)));
        self.of_hit.insert(own, CopiesOfHit { count: 0, last: at });
    }

    /// Whether an earlier hit says the same. If that is near, this one counts as its copy.
    pub fn count_copy(&mut self, print: Fingerprint, at: Progress) -> bool {
        let Some(own) = self.seen.get(&print) else {
            return false;
        };
        if let Some(copies) = self.of_hit.get_mut(own)
            && at.candidates <= copies.last.candidates + AHEAD
            && at.bytes <= copies.last.bytes.saturating_add(AHEAD_BYTES)
        {
            copies.count += 1;
            copies.last = at;
        }
        true
    }

    /// How many copies the hit with this first fingerprint has.
    pub fn count(&self, own: Fingerprint) -> u64 {
        self.of_hit.get(&own).map_or(0, |copies| copies.count)
    }

    /// Whether the next candidate, of so many bytes, could still be a copy of one of these hits.
    pub fn is_near(
        &self,
        hits: impl Iterator<Item = Fingerprint>,
        at: Progress,
        length: u64,
    ) -> bool {
        let known = hits.filter_map(|own| self.of_hit.get(&own));
        let last = known.map(|copies| copies.last).max();
        last.is_some_and(|last| {
            at.candidates < last.candidates + AHEAD
                && at.bytes.saturating_add(length) <= last.bytes.saturating_add(AHEAD_BYTES)
        })
    }
}
