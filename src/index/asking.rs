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

    /// Take a snapshot of what is committed now, or of what another one shows that still lives:
    /// while a program holds a snapshot of this index, everything that it asks of the index is
    /// asked of that state. So within a question ask the snapshot that is given, and drop a
    /// snapshot before asking for news.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        self.stores.snapshot()
    }

    /// Ask a question of the newest [`Snapshot`]: the one door to everything that a snapshot
    /// answers. The questions of every day have methods of their own ([`Index::list`],
    /// [`Index::search`], [`Index::show`] …), which ask in this way.
    ///
    /// ```no_run
    /// use sessionary::index::BlameScope;
    /// use sessionary::{Config, Freshness, Index};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let index = Index::open(&config, Freshness::Check)?;
    /// let scope = BlameScope {
    ///     text: std::fs::read_to_string("/home/ada/code/main.rs")?,
    ///     file: "/home/ada/code/main.rs".into(),
    ///     ..BlameScope::default()
    /// };
    /// let blame = index.ask(|snapshot| snapshot.blame(&scope))?;
    /// for line in blame.lines.iter().filter(|line| line.call.is_some()) {
    ///     println!("{}", line.text);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// The question may be several ones, which are then answered from one state of the index. Its
    /// answer is what was found, and nothing of the snapshot, which is let go before this returns.
    ///
    /// It may be asked more than once, so it should begin anew each time and do nothing that cannot
    /// be done again. Where session files turn out to have changed they are read again, and the
    /// question is asked again, [`Index::TRIES`] times in all; where somebody writes the index
    /// between two of its steps, it is asked of a newer snapshot. For an answer that is handed out
    /// piece by piece, as [`Snapshot::show_each`] does, there is [`Index::stream`]; to ask again is
    /// then left to the caller.
    ///
    /// # Errors
    /// Those of the question; when the catalogue cannot be read; [`Error::Outdated`] when somebody
    /// writes the index over and over.
    pub fn ask<T>(
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

    /// Ask a question of the newest [`Snapshot`] whose answer is handed out piece by piece, as
    /// those of [`Snapshot::each_row`], [`Snapshot::show_each`], [`Snapshot::tree_each`] and
    /// [`Snapshot::copy_branch`] are. What was handed out cannot be taken back, so the question is
    /// asked only once. With what it gives back comes how the answer has ended: where session files
    /// turned out to have changed they are read again afterwards, and whether that was done is in
    /// [`StreamOutcome::healed`]. [`Index::ask`] is for all other questions.
    ///
    /// The snapshot is held until the question returns, so what takes the pieces should not block,
    /// as a pager does that nobody scrolls.
    ///
    /// The error may be a type of the caller's. Where nothing else says which one it is, the
    /// function that takes the pieces has to: `|part| -> Result<(), Error> { … }`.
    ///
    /// # Errors
    /// Those of the question; when the catalogue cannot be read; [`Error::Outdated`] when somebody
    /// has written the index since the snapshot was taken. After [`Error::Changed`] the file was
    /// read again where that could be done: forget what was handed out, and ask once more.
    pub fn stream<T, E: From<Error>>(
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
