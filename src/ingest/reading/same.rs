//! Which entries of a session in a database are as they were when it was read before?
//!
//! The session's own row is its first line, and it changes with everything that is done in it. So
//! its lines are gone through from the first one on. Entries that are as they were stay in the
//! catalogue and in the words, and only get their new places: what is written is what has changed.

use super::turns::AtTurn;
use crate::catalogue::entries::EntrySpan;
use crate::catalogue::write::{Chunk, MovedEntries};
use crate::ingest::plan::SourcePlan;
use crate::model::{Facts, Fold};

/// Goes through them, until one has changed.
#[derive(Default)]
pub struct SameEntries<'p>(Option<Walk<'p>>);

struct Walk<'p> {
    stored: &'p [EntrySpan],
    /// How many of them were found.
    found: usize,
    /// The fold over all of them, by which the first one is told.
    fold: Box<Fold>,
    /// What the first one is now.
    first: MovedEntries,
}

impl<'p> SameEntries<'p> {
    /// For a source that is read from its first byte, or from a turn on; what stands before the
    /// turn is unchanged.
    pub fn of(
        plan: &'p SourcePlan<'_>,
        is_from_first: bool,
        at_turn: &Option<AtTurn>,
    ) -> SameEntries<'p> {
        if let Some(at_turn) = at_turn {
            return SameEntries(Some(Walk {
                stored: &plan.stored,
                found: at_turn.entries,
                fold: Box::default(),
                first: at_turn.first,
            }));
        }
        let fold = (plan.checkpoint.as_ref())
            .filter(|_| is_from_first && !plan.stored.is_empty())
            .and_then(|checkpoint| serde_json::from_str(&checkpoint.fold).ok());
        SameEntries(fold.map(|fold| Walk {
            stored: &plan.stored,
            found: 0,
            fold,
            first: MovedEntries::default(),
        }))
    }

    /// Whether all entries up to now are as they were.
    pub fn goes_on(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the next entry, of that length and hash at `start`, is one that is stored. If not,
    /// `chunk` begins with it.
    pub fn is_next<E>(
        &mut self,
        start: u64,
        length: u64,
        hash: u64,
        facts: &Facts,
        plan: &SourcePlan<'_>,
        chunk: &mut Chunk<E>,
    ) -> bool {
        let Some(walk) = &mut self.0 else {
            return false;
        };
        let is_next = match walk.stored.get(walk.found) {
            Some(stored) if walk.found == 0 => {
                walk.first = MovedEntries {
                    length,
                    hash,
                    by: length.cast_signed() - stored.length.cast_signed(),
                };
                let is_first = (stored.start, start) == (0, 0);
                is_first && plan.format.says_the_same(&walk.fold, facts)
            }
            Some(stored) => {
                let place = (
                    stored.start.checked_add_signed(walk.first.by),
                    stored.length,
                );
                (place, stored.hash) == ((Some(start), length), hash)
            }
            None => false,
        };
        match is_next {
            true => walk.found += 1,
            false => self.end(start, chunk),
        }
        is_next
    }

    /// No more of them are as they were; what comes now begins at `end`.
    pub fn end<E>(&mut self, end: u64, chunk: &mut Chunk<E>) {
        let Some(walk) = self.0.take().filter(|walk| walk.found > 0) else {
            return;
        };
        let rest = walk.stored.get(walk.found);
        let rest = rest.and_then(|stored| stored.start.checked_add_signed(walk.first.by));
        chunk.forget_from = Some(rest.unwrap_or(end));
        chunk.moved = Some(walk.first);
    }
}
