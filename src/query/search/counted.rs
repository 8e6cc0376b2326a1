//! How much matches in all? Passages that the index cannot decide on (phrases in what tools print)
//! are read and counted as long as there are few. If there are more, the count says how many may
//! match. Either way it does not depend on the length of the page.

use std::collections::HashSet;

use super::Search;
use super::compiled::CompiledSearch;
use super::passage::CandidateCheck;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::error::Error;
use crate::model::Class;
use crate::query::show::Reader;
use crate::words::{self, Order, SearchSource, search_any};

/// At most so many passages, and so many bytes of lines, are read to be counted: that takes about
/// as long as the rest of a search.
const MOST: usize = 1024;
const MOST_BYTES: u64 = 2 << 20;

/// How much matches.
pub(super) struct MatchCounts {
    /// Passages that match; where too many would have to be read, those that may match.
    pub total: u64,
    /// Sessions of these.
    pub sessions: u64,
    /// Whether they match for certain. If not, `total` and `sessions` are upper bounds.
    pub is_exact: bool,
    /// Passages that may match, read or not.
    candidates: u64,
    /// The candidates that were read and do not match.
    refuted: HashSet<(u64, Class)>,
}

impl MatchCounts {
    /// Whether a candidate was read and does not match.
    pub fn refutes(&self, hit: &words::Hit) -> bool {
        self.refuted.contains(&(hit.key, hit.class))
    }

    /// These counts, with none left: reading the candidates has shown that nothing matches.
    pub fn emptied(self) -> Self {
        Self {
            total: 0,
            sessions: 0,
            is_exact: true,
            ..self
        }
    }

    /// How much more this is than `less`, which counted a part of the same passages, and whether
    /// that is certain. Passages that may match and are in both counts make no difference.
    pub fn beyond(&self, less: &Self) -> (u64, bool) {
        match self.is_exact && less.is_exact {
            true => (self.total.saturating_sub(less.total), true),
            false => (self.candidates.saturating_sub(less.candidates), false),
        }
    }
}

impl Search<'_> {
    /// How much matches in all directories beyond what was counted `here`, and whether that is
    /// certain.
    pub(super) fn elsewhere(
        &self,
        asked: &CompiledSearch<'_>,
        here: &MatchCounts,
    ) -> Result<(u64, bool), Error> {
        let count =
            |sides: &[SearchSource<'_>]| self.counted(asked, sides, &asked.count_of(sides)?);
        let all = count(&asked.everywhere)?;
        // Of several words the newest sessions are those with the most of them, and elsewhere that
        // may be more.
        match self.ranks_sessions && self.scope.newest_first {
            true => Ok(all.beyond(&count(&asked.here)?)),
            false => Ok(all.beyond(here)),
        }
    }

    /// Count what `sides` found.
    pub(super) fn counted(
        &self,
        asked: &CompiledSearch<'_>,
        sides: &[SearchSource<'_>],
        found: &words::Answer,
    ) -> Result<MatchCounts, Error> {
        let candidates = found.total as u64;
        let mut counted = MatchCounts {
            total: candidates,
            sessions: found.sessions as u64,
            is_exact: found.undecided == 0,
            candidates,
            refuted: HashSet::new(),
        };
        if counted.is_exact || found.undecided > MOST {
            return Ok(counted);
        }
        let mut all = search_any(sides, Order::Newest, usize::MAX)?.hits;
        // Lines of one file are read one after the other.
        all.sort_unstable_by_key(|hit| (hit.key, hit.class));
        let (mut undecided, mut bytes) = (Vec::new(), 0_u64);
        for hit in all.iter().filter(|hit| hit.needs_check) {
            let Some(entry) = self.entry(hit)? else {
                return Ok(counted);
            };
            bytes = bytes.saturating_add(entry.length);
            if bytes > MOST_BYTES {
                return Ok(counted);
            }
            undecided.push((hit, entry));
        }
        let mut reader = Reader::new(self.snapshot);
        counted.is_exact = true;
        for (hit, entry) in undecided {
            match self.read(asked, sides, &mut reader, hit, &entry)? {
                CandidateCheck::Match(_) => {}
                CandidateCheck::Other => drop(counted.refuted.insert((hit.key, hit.class))),
                CandidateCheck::Stale => counted.is_exact = false,
            }
        }
        all.retain(|hit| !counted.refutes(hit));
        let sessions: HashSet<u64> = all.iter().map(|hit| hit.key >> ARRIVAL_BITS).collect();
        (counted.total, counted.sessions) = (all.len() as u64, sessions.len() as u64);
        Ok(counted)
    }
}
