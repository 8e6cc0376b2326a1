//! Where is the last entry of an id? Without the ids themselves: those are in the entries.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::entry::Entry;

/// Places of entries by their ids.
#[derive(Debug, Default)]
pub(super) struct EntryIndex {
    table: HashTable<u32>,
    hasher: RandomState,
}

impl EntryIndex {
    /// With room for that many.
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self {
            table: HashTable::with_capacity(entries),
            hasher: RandomState::new(),
        }
    }

    /// The place of the entry of that id.
    pub(super) fn of(&self, id: &str, entries: &[Entry]) -> Option<usize> {
        let hash = self.hasher.hash_one(id);
        let found = self.table.find(hash, |at| id_at(entries, *at) == Some(id));
        found.map(|at| *at as usize)
    }

    /// Notes the entry at a place: what had its id before has it no more. Beyond four billion
    /// entries nothing is noted.
    pub(super) fn note(&mut self, at: usize, entries: &[Entry]) {
        let (Some(id), Ok(place)) = (entries[at].id(), u32::try_from(at)) else {
            return;
        };
        let hash = self.hasher.hash_one(id);
        let entry = self.table.entry(
            hash,
            |at| id_at(entries, *at) == Some(id),
            |at| {
                self.hasher
                    .hash_one(id_at(entries, *at).unwrap_or_default())
            },
        );
        *entry.insert(place).get_mut() = place;
    }
}

fn id_at(entries: &[Entry], at: u32) -> Option<&str> {
    entries.get(at as usize)?.id()
}
