//! The door for readers: [`Index`] opens the index, brought up to the files where that is asked
//! for. [`Indexer`] is the other door.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::catalogue::{self, Catalogue, GENERATION};
use crate::config::Config;
use crate::error::Error;
#[cfg(doc)]
use crate::error::StoreFault;
use crate::ingest;
#[cfg(doc)]
use crate::model::SearchAnswer;
use crate::model::{Event, Mask, Report, Verification};
use crate::query::{Stores, preview, verify};
use crate::source::root::RootSpec;

mod answers;
mod archive;
mod asking;
mod backlog;
mod damage;
mod feed;
mod heal;
mod indexer;
mod list_events;
mod merging;
mod progress;
mod roots;
mod turns;
mod watch;
mod wipe;
mod words;
pub(crate) mod writer_lock;

pub use self::archive::{
    ArchiveCheck, ArchiveStatus, ArchiveTotals, Generation, KeptFiles, NotRestored, Restored,
    Version,
};
pub use self::asking::StreamOutcome;
pub use self::backlog::BacklogSize;
pub use self::feed::{Feed, FeedEvent};
pub use self::indexer::Indexer;
pub use self::list_events::ListEvent;
pub(crate) use self::watch::is_file_of_watcher;
pub use self::watch::{WatchEnd, WatchEvent, WatchOptions, caught_up};
pub use crate::catalogue::{Column, RefusalCause, Rows, SqlPart, Table, Values};
pub use crate::query::{
    AgentListScope, BlameScope, Branch, CommitScope, CopiedBranch, EntryCalls, Highlighter,
    ListPage, ListScope, MOST_CALLED_SO, NameScope, PrintedLengths, SearchScope, SessionFile,
    SharedFile, SharedFiles, ShowScope, ShownPart, Snapshot, SpendingScope, TitleMatch, TreeFilter,
    TreePart, TreeScope, UnsharedFile, WhereScope, WrittenList, steps_from_last,
};
pub use crate::words::panic_is_caught;

/// How current an [`Index`] must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Freshness {
    /// Look at every file first and catalogue what is new.
    Check,
    /// As the last writer left it.
    AsCommitted,
}

/// A copy that [`Index::save_catalogue`] has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedCatalogue {
    /// Its length.
    pub bytes: u64,
    /// Whether all files were catalogued when it was made.
    pub complete: bool,
}

/// The reader. It takes no lock that a writer needs, except for a moment to try whether it is held.
///
/// An index belongs to one thread: it can be sent to another one ([`Send`]) but not shared by two.
/// Each thread opens its own one from the same [`Config`]; what they read from the disk is shared.
///
/// ```compile_fail
/// # use sessionary::Index;
/// fn is_shared<T: Sync>() {}
/// is_shared::<Index>();
/// ```
///
/// Every answer is given on a [`Snapshot`]: each method that asks takes one of its own. The
/// questions of every day are methods here; [`Index::ask`] asks any that a snapshot answers, and
/// [`Index::stream`] those whose answers are handed out piece by piece. Questions that belong
/// together should be asked of one snapshot.
pub struct Index {
    /// What a [`Snapshot`] reads.
    stores: Stores,
    /// What the check on opening did; `None` when it could not be done.
    report: Option<Report>,
    /// Why it could not.
    obstacle: Option<Error>,
    /// Whether sources that turn out to have changed are read again.
    heals: bool,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("config", &self.stores.config)
            .field("report", &self.report)
            .field("obstacle", &self.obstacle)
            .finish_non_exhaustive()
    }
}

impl Index {
    /// Open the index for reading, brought up to the files first where `freshness` asks for it and
    /// no other process is writing.
    ///
    /// # Errors
    /// [`Error::UnknownFormat`] of a root; [`Error::Rules`] where what is left out is not known;
    /// [`Error::Cancelled`]; [`Error::Store`] where the catalogue cannot be read, as that of a
    /// newer version. What only keeps it from being brought up to the files is no error:
    /// [`Index::obstacle`] says it.
    pub fn open(config: &Config, freshness: Freshness) -> Result<Index, Error> {
        Index::open_with(config, freshness, &mut |_| {})
    }

    /// [`Index::open`], with the progress of a sync given to `progress`.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn open_with(
        config: &Config,
        freshness: Freshness,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Index, Error> {
        match freshness {
            Freshness::Check => Index::open_checked(config, progress),
            Freshness::AsCommitted => Index::as_it_is(&config.held()?, freshness, None),
        }
    }

    /// Open the index brought up to the files.
    fn open_checked(config: &Config, progress: &mut dyn FnMut(Event)) -> Result<Index, Error> {
        let config = &config.held()?;
        if let Some(index) = watch::vouched_for(config)? {
            return Ok(index);
        }
        let obstacle = match Indexer::open_to_scan(config) {
            Ok(mut indexer) => match indexer.sync_catalogue(progress) {
                Ok(report) => {
                    // The lock is given up here, the open catalogue is not: opening takes as long
                    // as looking.
                    let mut index = Index::of(indexer.config, indexer.catalogue);
                    index.stores.was_checked = true;
                    index.stores.complete = report.files_unreadable == 0;
                    index.stores.pending_files = report.files_unreadable;
                    index.report = Some(report);
                    index.heals = true;
                    return Ok(index);
                }
                // The disk is full, or went read-only: answer from what is there.
                Err(error) if error.is_obstacle() => error,
                Err(error) => return Err(error),
            },
            // Another process is at it, or the directory cannot be written: answer from what is
            // there.
            Err(error) if error.is_obstacle() => error,
            Err(error) => return Err(error),
        };
        Index::as_it_is(config, Freshness::Check, Some(obstacle))
    }

    /// Open the index as it is, for an `obstacle` to more; `freshness` asks how far it is behind
    /// the files.
    fn as_it_is(
        config: &Config,
        freshness: Freshness,
        obstacle: Option<Error>,
    ) -> Result<Index, Error> {
        let catalogue = match Catalogue::open_readable(&config.catalogue_path()) {
            Ok(catalogue) => catalogue,
            Err(error) if error.is_damage() => None,
            // The obstacle says why.
            Err(catalogue::Error::Io { .. }) if obstacle.is_some() => None,
            Err(error) => return Err(error.into()),
        };
        let mut config = config.clone();
        if let Some(catalogue) = &catalogue {
            config.add_project_roots(catalogue)?;
        }
        let (complete, pending_files) = match (freshness, &catalogue) {
            // Before the first full scan has ended, anything may be missing.
            (Freshness::AsCommitted, Some(catalogue)) => (catalogue.was_scanned()?, 0),
            (Freshness::AsCommitted, None) => (false, 0),
            (Freshness::Check, Some(catalogue)) => {
                let pending = ingest::count_pending(catalogue, &config)?;
                // What other rules have left out is remembered as such, and not looked into again.
                let is_by_these = catalogue.excluded_by()? == config.left_out_by();
                (pending == 0 && is_by_these, pending)
            }
            // Nothing is known: all that is there is pending.
            (Freshness::Check, None) => {
                let pending = ingest::count_pending(&Catalogue::in_memory()?, &config)?;
                (false, pending)
            }
        };
        let is_made = catalogue.is_some();
        let catalogue = catalogue.map_or_else(Catalogue::in_memory, Ok)?;
        let mut index = Index::of(config, catalogue);
        index.stores.is_made = is_made;
        index.stores.complete = complete;
        index.stores.pending_files = pending_files;
        index.obstacle = obstacle;
        index.heals = is_made && freshness == Freshness::Check;
        Ok(index)
    }

    /// An index of one file alone, wherever it lies: made in memory, and nothing of it is kept.
    /// [`Snapshot::only`] is the session in it.
    ///
    /// # Errors
    /// [`Error::NoEntries`] when no format finds an entry in it.
    pub fn of_file(config: &Config, path: &Path) -> Result<Index, Error> {
        let made = ingest::catalogue_file(path, &config.formats)?;
        let (catalogue, root) =
            made.map_err(|e| Error::io(path, e))?
                .ok_or_else(|| Error::NoEntries {
                    path: path.to_path_buf(),
                })?;
        let config = Config {
            roots: vec![root],
            ..config.clone()
        };
        Ok(Index::of(config, catalogue))
    }

    /// An index of what lies below these roots now: made in memory, and nothing of it is kept.
    ///
    /// # Errors
    /// When a root has a format that is not known, or memory runs out.
    pub fn of_roots(config: &Config) -> Result<Index, Error> {
        let config = &config.held()?;
        let catalogue = Catalogue::in_memory()?;
        let mut report = Report::default();
        let targets = ingest::SyncTargets {
            catalogue: &catalogue,
            keeper: &ingest::Keeper::open(config),
        };
        ingest::sync_catalogue(targets, config, &config.roots, &mut |_| {}, &mut report)?;
        let mut index = Index::of(config.clone(), catalogue);
        index.stores.complete = report.files_unreadable == 0;
        index.report = Some(report);
        Ok(index)
    }

    /// Every table from which the views about sessions are made, with all of its rows. Those of
    /// other versions may be others.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tables(&self) -> Result<Vec<Table>, Error> {
        Ok(self.stores.catalogue.tables()?)
    }

    /// All that this catalogue holds, whatever the files say.
    fn of(config: Config, catalogue: Catalogue) -> Index {
        Index {
            stores: Stores::of(config, catalogue),
            report: None,
            obstacle: None,
            heals: false,
        }
    }

    /// Leave what is open to the end of the process: the kernel gives memory and a hundred mapped
    /// files back faster at once than one by one. For programs that end with the answer. What must
    /// be closed with care is closed.
    #[doc(hidden)]
    pub fn leave(self) {
        match self.stores.is_made && !self.stores.catalogue.is_clean() {
            true => drop(self),
            false => std::mem::forget(self),
        }
    }

    /// Whether there is an index: without one, and without a way to make it, every answer is empty.
    pub fn is_made(&self) -> bool {
        self.stores.is_made
    }

    /// Why the check on opening could not be done: the answers are as the last writer left the
    /// index.
    pub fn obstacle(&self) -> Option<&Error> {
        self.obstacle.as_ref()
    }

    /// Whether all that is on disk was read.
    pub fn is_complete(&self) -> bool {
        self.stores.complete
    }

    /// What the check on opening read and found; `None` when another writer was at it.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// What it was opened with, and the roots that follow from its sessions.
    pub fn config(&self) -> &Config {
        &self.stores.config
    }

    /// Add the backlog to the words for about as long as `budget`, and give back what is left of
    /// it. A program that only opens the index and searches needs to call this: otherwise every
    /// search reads the backlog from the files, and says so ([`SearchAnswer::outstanding`]). The
    /// work is done here, on threads of this process.
    ///
    /// Nothing is done when the backlog is [too small](BacklogSize::Little) to open a writer for,
    /// when the index cannot be written or was removed, and when another process writes or watches,
    /// which will do it. So the backlog may stay as it is: callers that call this repeatedly should
    /// leave time between calls, or stop when it did not shrink.
    ///
    /// # Errors
    /// When the catalogue or the words cannot be read, or a session file not be read again.
    pub fn index_backlog(&mut self, budget: Duration) -> Result<BacklogSize, Error> {
        let backlog = self.backlog_size()?;
        // A watcher does it when nothing has changed for a while.
        // Who could not write before the answer cannot after it.
        if self.obstacle.is_some() || self.is_watched() || backlog == BacklogSize::Little {
            return Ok(backlog);
        }
        // A removed index must not be created again, and the backlog of this one is not that of
        // another one.
        if self.stores.catalogue.is_replaced() {
            return Ok(backlog);
        }
        match Indexer::try_open(&self.stores.config) {
            Ok(mut indexer) => {
                indexer.index_words(Some(budget), &mut |_| {})?;
            }
            Err(error) if error.is_obstacle() => {}
            Err(error) => return Err(error),
        }
        self.backlog_size()
    }

    /// Run one SQL statement that only reads, on the public views, and keep its whole answer.
    /// `values` are those of its parameters, `?` or `?1`, in their order, so that nothing has to be
    /// quoted: numbers, text, `null`; true and false are 1 and 0, arrays and objects the text of
    /// their JSON, which `json_each(?)` takes apart.
    ///
    /// ```no_run
    /// # use sessionary::{Config, Freshness, Index};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let index = Index::open(&config, Freshness::Check)?;
    /// let named = "SELECT id, messages FROM sessions WHERE name = ? AND created_ms > ?";
    /// let rows = index.sql(named, &["Ada's boat".into(), 1_780_000_000_000_i64.into()])?.rows;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A [fault](Error::fault) of the kind [`StoreFault::Query`] where it is no such statement, or
    /// has more or fewer parameters than `values` gives; [`Error::NoIndex`] without an index; those
    /// of SQLite.
    pub fn sql(&self, query: &str, values: &[Value]) -> Result<Rows, Error> {
        let mut answer = Rows::default();
        let mut ask = || -> Result<StreamOutcome, Error> {
            answer = Rows::default();
            self.sql_each(query, values, None, &mut |part| {
                match part {
                    SqlPart::Columns(names) => answer.columns = names.to_vec(),
                    SqlPart::Row(row) => answer.rows.push(row.to_vec()),
                }
                Ok(())
            })
        };
        if ask()?.healed {
            let _ = ask()?;
        }
        Ok(answer)
    }

    /// Run one SQL statement that only reads, as [`Index::sql`] does, and give `each` its rows as
    /// SQLite finds them; `preview(entry)` is masked by `mask`. An error of `each` ends it. A
    /// snapshot is held until `each` has returned from the last row, so `each` should not block.
    ///
    /// # Errors
    /// Those of `each`, and as [`Index::sql`].
    pub fn sql_each<E: From<Error>>(
        &self,
        query: &str,
        values: &[Value],
        mask: Option<&Mask>,
        each: &mut dyn FnMut(SqlPart<'_>) -> Result<(), E>,
    ) -> Result<StreamOutcome, E> {
        let preview = preview(self.stores.config.formats.clone(), mask);
        let zone = &self.stores.config.zone;
        let ended = self.made()?.sql(query, values, preview, zone, each);
        let ended = ended.map_err(Error::from)??;
        let is_refilled = self.stores.is_refilled(ended.was_scanned);
        Ok(StreamOutcome {
            complete: self.stores.complete && ended.changed.is_empty() && !is_refilled,
            healed: !ended.changed.is_empty() && self.heal(ended.changed.keys()),
            changed_files: ended.changed.into_values().collect(),
        })
    }

    /// Save the catalogue as it is now as one new file, readable by its owner alone.
    ///
    /// # Errors
    /// When `file` exists or its folder cannot be written; [`Error::NoIndex`] without an index.
    pub fn save_catalogue(&self, file: &Path) -> Result<SavedCatalogue, Error> {
        self.made()?.save_as(file).map_err(|error| match error {
            // It is `file` that could not be written, not the index.
            catalogue::Error::Io { path, source } => Error::Io { path, source },
            error => error.into(),
        })?;
        let saved = std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
        Ok(SavedCatalogue {
            bytes: saved.len(),
            complete: self.stores.complete,
        })
    }

    fn made(&self) -> Result<&Catalogue, Error> {
        match self.stores.is_made {
            true => Ok(&self.stores.catalogue),
            false => Err(Error::NoIndex),
        }
    }

    /// Whether a live watcher keeps the index up to date, words included.
    pub fn is_watched(&self) -> bool {
        writer_lock::is_watched(&self.stores.config)
    }

    /// Waits as long as a live watcher keeps the index of this configuration up to date, without
    /// waking up. It cannot be called off.
    pub fn wait_while_watched(config: &Config) {
        writer_lock::wait_while_watched(config);
    }

    /// Whether another process holds the writer lock, or indexes in the background (see
    /// [`Indexer::sync_for`]) and has it again in a moment.
    pub fn has_writer(&self) -> bool {
        let config = &self.stores.config;
        config.has_writer() || turns::is_at_work(&config.generation_dir())
    }

    /// Read every file again and compare: bytes tiled by entries and problems, rows, session
    /// values, passages.
    ///
    /// It may run beside writers: each file is compared up to its catalogued end, and what seems to
    /// differ is looked at again in a newer state of both stores. No transaction stays open while
    /// files are read.
    ///
    /// It changes two things: a damaged store gets a mark, so that searches do not use damaged
    /// words and the next sync rebuilds the store; and a session file that holds other bytes than
    /// were catalogued is read again.
    ///
    /// # Errors
    /// When one of the stores cannot be read. What differs is no error: the [`Verification`] says
    /// it.
    pub fn verify(&self) -> Result<Verification, Error> {
        self.verify_with(&mut |_| {})
    }

    /// [`Index::verify`]. `progress` gets the number of files and bytes to be compared, and then
    /// repeatedly how many were.
    ///
    /// # Errors
    /// As [`Index::verify`].
    pub fn verify_with(&self, progress: &mut dyn FnMut(Event)) -> Result<Verification, Error> {
        let verification = verify(&self.stores, progress)?;
        // Session files that hold other bytes than were catalogued are read again, where that can
        // be done now; the next sync does it otherwise, if not by itself.
        self.heal(&verification.condemned);
        Ok(verification)
    }
}

/// Tells backup programs that nothing is lost without the index, and us that the directory is ours.
pub(crate) const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# sessionary's index: a cache made from session files\n";

/// What this build is made of, for people: the versions that decide what an index holds.
pub fn versions() -> String {
    format!(
        "index generation {GENERATION}, SQL contract {}, JSON schema {}\nSQLite {}, {}",
        catalogue::CONTRACT_VERSION,
        crate::model::SCHEMA_VERSION,
        catalogue::sqlite_version(),
        crate::words::tantivy_version()
    )
}
