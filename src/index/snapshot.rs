//! On what is an answer given? On one state of both stores, which stays as it is while the
//! answer is made.
//!
//! A snapshot is a read transaction of the catalogue together with the words as one commit left
//! them, and the batch numbers of both agree. Nothing but a snapshot can be asked: the catalogue
//! of an [`Index`] is out of reach for everybody else.
//!
//! Session files are read while an answer is made, and they change when their agents please. Each
//! entry read again is proven by its hash. A source with other bytes is noted on the snapshot;
//! when the answer is done the index takes in what the file says now, and the question is asked
//! once more on a new snapshot.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Config, Error, Index, Indexer};
use crate::catalogue::Catalogue;
use crate::ingest::{Agreement, Found};
use crate::model::SessionRow;

/// How often a question is asked again because somebody has committed in between.
const TRIES: usize = 5;

/// One state of the index, which all that is asked of it is answered from.
///
/// While it lives it holds a read transaction of the catalogue, and the WAL of a catalogue that
/// somebody writes meanwhile grows: ask, let it go, and print afterwards. Several snapshots of one
/// [`Index`] that live at the same time are of the same state.
pub struct Snapshot<'i> {
    pub(crate) index: &'i Index,
    pub(crate) catalogue: &'i Catalogue,
    /// Opened when they are asked for.
    words: OnceCell<Rc<Found>>,
    /// Whether nobody will ask again on a newer snapshot.
    is_last: bool,
    /// Files that hold other bytes than those catalogued, by their sources.
    changed: RefCell<BTreeMap<i64, PathBuf>>,
}

/// How an answer that was given piece by piece has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Streamed {
    /// Whether it holds all that is on disk.
    pub complete: bool,
    /// Files that hold other bytes than those catalogued.
    pub changed_files: Vec<PathBuf>,
    /// Whether the index has read these files again meanwhile: asked once more, the same question
    /// is answered from what they say now.
    pub healed: bool,
}

impl Index {
    /// Take a snapshot of what is committed now.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        if self.snapshots.get() == 0 {
            self.catalogue.snapshot()?;
        }
        self.snapshots.set(self.snapshots.get() + 1);
        Ok(Snapshot {
            index: self,
            catalogue: &self.catalogue,
            words: OnceCell::new(),
            is_last: true,
            changed: RefCell::default(),
        })
    }

    /// Ask a question of a snapshot of its own. Where somebody commits in between it is asked of a
    /// newer one, and once more where session files turn out to have changed.
    pub(crate) fn ask<T>(
        &self,
        mut question: impl FnMut(&Snapshot<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut has_healed = false;
        let mut tries = 1;
        loop {
            let mut snapshot = self.snapshot()?;
            snapshot.is_last = tries >= TRIES;
            let answer = question(&snapshot);
            let changed = snapshot.into_changed();
            match answer {
                Err(Error::Outdated) if tries < TRIES => tries += 1,
                answer if changed.is_empty() || has_healed || !self.heal(changed.keys()) => {
                    return answer;
                }
                _ => has_healed = true,
            }
        }
    }

    /// The same for an answer that is given piece by piece and cannot be taken back: it is asked
    /// once, and the caller is told how it ended.
    pub(super) fn stream<T, E: From<Error>>(
        &self,
        question: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<(T, Streamed), E> {
        let snapshot = self.snapshot()?;
        let answer = question(&snapshot);
        let complete = snapshot.is_complete();
        let changed = snapshot.into_changed();
        let healed = !changed.is_empty() && self.heal(changed.keys());
        let streamed = Streamed {
            complete,
            changed_files: changed.into_values().collect(),
            healed,
        };
        Ok((answer?, streamed))
    }

    /// The catalogue without a snapshot. For [`Index::verify`] alone, which reads every file, holds no
    /// transaction meanwhile, and looks again at what differs.
    pub(crate) fn catalogue_in_parts(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Have these sources read again, from their first byte on. `false`: nothing can be written
    /// now, or this index is of files that it does not keep; whoever syncs next does it.
    pub(crate) fn heal<'s>(&self, changed: impl IntoIterator<Item = &'s i64>) -> bool {
        if !self.heals {
            return false;
        }
        // What the last look could not read cannot be read now either.
        let can_be_read = |source: &i64| !self.catalogue.is_noted_unread(*source).unwrap_or(false);
        let sources: Vec<i64> = changed.into_iter().copied().filter(can_be_read).collect();
        if sources.is_empty() {
            return false;
        }
        match Indexer::open_existing(&self.config) {
            Ok(Some(mut indexer)) => indexer.heal(&sources).is_ok(),
            _ => false,
        }
    }
}

impl Snapshot<'_> {
    /// What the index was opened with, and the roots that follow from its sessions.
    pub fn config(&self) -> &Config {
        &self.index.config
    }

    /// Whether all that is on disk is in what was answered so far.
    pub fn is_complete(&self) -> bool {
        self.index.complete && self.changed.borrow().is_empty() && !self.is_refilled()
    }

    /// Whether somebody has emptied the catalogue since it was opened, and has not come to the end
    /// of filling it again.
    fn is_refilled(&self) -> bool {
        self.index.was_scanned && !self.catalogue.was_scanned().unwrap_or(true)
    }

    /// No session has this name in this state of the index.
    pub(crate) fn not_found(&self, name: &str) -> Error {
        Error::NotFound {
            name: name.to_owned(),
            complete: self.is_complete(),
        }
    }

    /// The session has no such entry in this state of the index.
    pub(crate) fn no_entry(&self, session: &SessionRow, entry: &str) -> Error {
        Error::NoEntry {
            session: session.id.clone(),
            entry: entry.to_owned(),
            complete: self.is_complete(),
        }
    }

    /// Files that hold other bytes than those catalogued, as far as what was answered so far has
    /// met them.
    pub fn changed_files(&self) -> Vec<PathBuf> {
        self.changed.borrow().values().cloned().collect()
    }

    /// Note a file that holds other bytes than those catalogued, or cannot be read any more.
    pub(crate) fn note_changed(&self, source: i64, path: &Path) {
        let mut changed = self.changed.borrow_mut();
        changed.entry(source).or_insert_with(|| path.to_owned());
    }

    /// The words that belong to this state of the catalogue.
    ///
    /// # Errors
    /// [`Error::Outdated`] when they have gone on since the snapshot was taken.
    pub(crate) fn words(&self) -> Result<Rc<Found>, Error> {
        if let Some(words) = self.words.get() {
            return Ok(Rc::clone(words));
        }
        let directory = self.index.config.words_dir();
        let mut kept = self.index.words.borrow_mut();
        let found = match kept.open(self.catalogue, &directory)? {
            Agreement::Agree(found) => found,
            Agreement::Newer => return Err(Error::Outdated),
            Agreement::Other if !self.is_last => return Err(Error::Outdated),
            // Words of another catalogue, or by other rules: none to trust.
            Agreement::Other => Found::default(),
        };
        Ok(Rc::clone(self.words.get_or_init(|| Rc::new(found))))
    }

    fn into_changed(self) -> BTreeMap<i64, PathBuf> {
        self.changed.take()
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        let left = self.index.snapshots.get().saturating_sub(1);
        self.index.snapshots.set(left);
        if left == 0 {
            self.catalogue.end_snapshot();
        }
    }
}

#[cfg(test)]
mod tests;
