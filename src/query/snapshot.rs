//! Which state of the index does an answer describe? One state of both stores, which does not
//! change while the answer is made.
//!
//! A snapshot is a read transaction of the catalogue together with the words as one commit left
//! them, and the batch numbers of both agree. Nothing but a snapshot can be asked: the catalogue
//! of an [`Index`](crate::Index) is out of reach for everybody else.
//!
//! Session files are read while an answer is made, and their agents may change them at any time.
//! Each entry that is read again is checked by its hash. A source with other bytes is noted on the
//! snapshot; when the answer is done, the index takes in what the file says now, and the question
//! is asked once more on a new snapshot.

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::catalogue::Catalogue;
use crate::catalogue::outbox::Backlog;
use crate::config::Config;
use crate::error::Error;
use crate::ingest::{Agreement, WordsCache, WordsState};
use crate::model::{BranchPlace, FeedPosition, SessionRow};
use crate::query::session_lengths::SessionLengths;

/// Files that hold other bytes than those catalogued, by their sources.
pub(crate) type ChangedFiles = BTreeMap<i64, PathBuf>;

/// Where entries stand in their trees, by key; `None`: nowhere.
type EntryPlaces = HashMap<i64, Option<BranchPlace>>;

/// How often a question is asked again because somebody has committed in between.
const TRIES: usize = 5;

/// One state of the index: every question to a snapshot is answered from this state.
///
/// While it lives it holds a read transaction of the catalogue, and the WAL of a catalogue that
/// somebody writes meanwhile grows: ask, let it go, and print afterwards. Several snapshots of one
/// [`Index`](crate::Index) that live at the same time are of the same state.
pub struct Snapshot<'i> {
    pub(super) stores: &'i Stores,
    pub(super) catalogue: &'i Catalogue,
    /// Opened when they are asked for.
    words: OnceCell<Rc<WordsState>>,
    /// Whether nobody will ask again on a newer snapshot.
    is_last: bool,
    /// Files that hold other bytes than those catalogued, by their sources.
    changed: RefCell<ChangedFiles>,
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("config", &self.stores.config)
            .field("complete", &self.stores.complete)
            .finish_non_exhaustive()
    }
}

/// Both stores of an index as they were opened, and how far they were behind the files then.
pub(crate) struct Stores {
    pub config: Config,
    /// Where there is no index yet and none could be made, it is empty and in memory.
    pub catalogue: Catalogue,
    pub is_made: bool,
    /// Whether all files were looked at on opening.
    pub was_checked: bool,
    /// Whether all files were looked at and catalogued.
    pub complete: bool,
    pub pending_files: u64,
    /// Whether a full scan had ended, since the catalogue was last empty, when it was opened.
    was_scanned: bool,
    /// Snapshots that are alive.
    snapshots: Cell<usize>,
    /// The words of the last search.
    words: RefCell<WordsCache>,
    /// How long sessions are, and in which state of the catalogue they were that long. Somebody who
    /// types a query asks for it with every key.
    lengths: RefCell<Option<(String, i64, Arc<SessionLengths>)>>,
    /// Where hits stand in their trees, as far as that was asked in that state: the next key mostly
    /// finds them again.
    places: RefCell<(String, i64, EntryPlaces)>,
}

impl Stores {
    /// All that this catalogue holds, whatever the files say.
    pub fn of(config: Config, catalogue: Catalogue) -> Stores {
        Stores {
            was_scanned: catalogue.was_scanned().unwrap_or(false),
            config,
            catalogue,
            is_made: true,
            was_checked: false,
            complete: true,
            pending_files: 0,
            snapshots: Cell::new(0),
            words: RefCell::default(),
            lengths: RefCell::default(),
            places: RefCell::default(),
        }
    }

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
            stores: self,
            catalogue: &self.catalogue,
            words: OnceCell::new(),
            is_last: true,
            changed: RefCell::default(),
        })
    }

    /// Ask a question of a snapshot of its own; where somebody commits in between, of a newer one.
    /// With the answer come the files that turned out to hold other bytes.
    pub fn ask<T>(
        &self,
        question: &mut impl FnMut(&Snapshot<'_>) -> Result<T, Error>,
    ) -> (Result<T, Error>, ChangedFiles) {
        let mut tries = 1;
        loop {
            let mut snapshot = match self.snapshot() {
                Ok(snapshot) => snapshot,
                Err(error) => return (Err(error), ChangedFiles::new()),
            };
            snapshot.is_last = tries >= TRIES;
            let answer = question(&snapshot);
            let changed = snapshot.into_changed();
            match answer {
                Err(Error::Outdated) if tries < TRIES => tries += 1,
                answer => return (answer, changed),
            }
        }
    }

    /// Whether the catalogue was emptied since it was opened, in a state in which it `was_scanned`
    /// or not, and is being filled again.
    pub fn is_refilled(&self, was_scanned: bool) -> bool {
        self.was_scanned && !was_scanned
    }
}

impl Snapshot<'_> {
    /// What the index was opened with, and the roots that follow from its sessions.
    pub fn config(&self) -> &Config {
        &self.stores.config
    }

    /// Whether all that is on disk is in what was answered so far.
    pub fn is_complete(&self) -> bool {
        self.stores.complete && self.changed.borrow().is_empty() && !self.is_refilled()
    }

    /// Where the feed ends in this state: [`Index::subscribe`](crate::Index::subscribe) gives from
    /// there on what is committed after it.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn feed_position(&self) -> Result<FeedPosition, Error> {
        Ok(self.catalogue.changes_kept()?.end())
    }

    /// Whether somebody has emptied the catalogue since it was opened, and has not come to the end
    /// of filling it again.
    fn is_refilled(&self) -> bool {
        self.stores
            .is_refilled(self.catalogue.was_scanned().unwrap_or(true))
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
    pub(crate) fn words(&self) -> Result<Rc<WordsState>, Error> {
        if let Some(words) = self.words.get() {
            return Ok(Rc::clone(words));
        }
        let directory = self.stores.config.words_dir();
        let mut kept = self.stores.words.borrow_mut();
        let found = match kept.open(self.catalogue, &directory)? {
            Agreement::Agree(found) => found,
            Agreement::Newer => return Err(Error::Outdated),
            Agreement::Other if !self.is_last => return Err(Error::Outdated),
            // Words of another catalogue, or made by other rules, cannot be trusted.
            Agreement::Other => WordsState::default(),
        };
        Ok(Rc::clone(self.words.get_or_init(|| Rc::new(found))))
    }

    /// What these words lack.
    pub(super) fn lack(&self, found: &WordsState) -> Result<Backlog, Error> {
        Ok(match found.words {
            Some(_) => self.catalogue.backlog(found.done)?,
            None => self.catalogue.backlog_without_words()?,
        })
    }

    /// How many messages each session has.
    pub(super) fn session_lengths(&self) -> Result<Arc<SessionLengths>, Error> {
        let state = self.catalogue.changes_kept()?;
        let mut kept = self.stores.lengths.borrow_mut();
        if let Some((index_id, seq, lengths)) = &*kept
            && (index_id, *seq) == (&state.index_id, state.last)
        {
            return Ok(Arc::clone(lengths));
        }
        let lengths = Arc::new(SessionLengths::new(self.catalogue.message_counts()?));
        *kept = Some((state.index_id, state.last, Arc::clone(&lengths)));
        Ok(lengths)
    }

    /// Where entries stand in their trees, as far as that was asked before in this state.
    pub(super) fn known_places(&self) -> Result<RefMut<'_, EntryPlaces>, Error> {
        let state = self.catalogue.changes_kept()?;
        let mut kept = self.stores.places.borrow_mut();
        if (&kept.0, kept.1) != (&state.index_id, state.last) {
            *kept = (state.index_id, state.last, EntryPlaces::new());
        }
        Ok(RefMut::map(kept, |(_, _, places)| places))
    }

    pub(crate) fn into_changed(self) -> ChangedFiles {
        self.changed.take()
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        let left = self.stores.snapshots.get().saturating_sub(1);
        self.stores.snapshots.set(left);
        if left == 0 {
            self.catalogue.end_snapshot();
        }
    }
}
