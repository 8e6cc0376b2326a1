//! How is a question asked? Each one gets its own snapshot, and it is asked again when session
//! files turn out to hold other bytes than were catalogued.

use std::path::PathBuf;

use super::{Index, Indexer};
use crate::error::Error;
use crate::query::Snapshot;

/// How an answer that was given piece by piece has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct StreamOutcome {
    /// Whether it holds all that is on disk.
    pub complete: bool,
    /// Files that hold other bytes than those catalogued.
    pub changed_files: Vec<PathBuf>,
    /// Whether the index has read these files again meanwhile: asked once more, the same question
    /// is answered from what they say now.
    pub healed: bool,
}

impl Index {
    /// How often a question is asked at most while its files go on changing: beside an agent that
    /// writes a hundred lines a second, every third answer of a busy machine meets a change.
    pub const TRIES: usize = 4;

    /// Take a snapshot of what is committed now.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        self.stores.snapshot()
    }

    /// Ask a question of the newest snapshot. Where session files turn out to have changed they are
    /// read again, and the question is asked again, [`Index::TRIES`] times in all.
    pub(super) fn ask<T>(
        &self,
        mut question: impl FnMut(&Snapshot<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut tries = 1;
        loop {
            let (answer, changed) = self.stores.ask(&mut question);
            if changed.is_empty() || tries == Self::TRIES || !self.heal(changed.keys()) {
                return answer;
            }
            tries += 1;
        }
    }

    /// Ask a question of the newest snapshot whose answer is given piece by piece. What was given
    /// cannot be taken back, so the question is asked only once. Gives back how the answer ended.
    pub(super) fn stream<T, E: From<Error>>(
        &self,
        question: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<(T, StreamOutcome), E> {
        let snapshot = self.stores.snapshot()?;
        let answer = question(&snapshot);
        let complete = snapshot.is_complete();
        let changed = snapshot.into_changed();
        let healed = !changed.is_empty() && self.heal(changed.keys());
        let streamed = StreamOutcome {
            complete,
            changed_files: changed.into_values().collect(),
            healed,
        };
        Ok((answer?, streamed))
    }

    /// Have these sources read again from their first byte. `false`: nothing can be written now, or
    /// this index was opened without bringing it up to the files. Then the next sync reads them.
    pub(super) fn heal<'s>(&self, changed: impl IntoIterator<Item = &'s i64>) -> bool {
        if !self.heals {
            return false;
        }
        // What the last scan could not read cannot be read now either.
        let can_be_read = |source: &i64| {
            !self
                .stores
                .catalogue
                .is_noted_unread(*source)
                .unwrap_or(false)
        };
        let sources: Vec<i64> = changed.into_iter().copied().filter(can_be_read).collect();
        if sources.is_empty() {
            return false;
        }
        match Indexer::open_existing(&self.stores.config) {
            Ok(Some(mut indexer)) => indexer.heal(&sources).is_ok(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
