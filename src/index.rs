//! The two doors of the library: [`Index`] reads, [`Indexer`] writes.

use std::cell::RefCell;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalogue::{self, Catalogue, GENERATION};
use crate::failpoint::reach;
use crate::ingest::{self, WordsStage};
use crate::model::Report;

mod agent_list;
mod config;
mod debt;
mod error;
mod feed;
mod turns;
mod watch;

pub use self::config::{Config, ProjectRoots, RootSpec};
pub use self::debt::Debt;
pub use self::error::Error;
pub use self::feed::{Feed, News};
pub use self::watch::{Ended, WatchOptions, Watched, caught_up};
pub use crate::catalogue::{Rows, SqlPart};
pub use crate::ingest::{Cancel, Event};
pub use crate::query::{
    ListScope, Listed, SearchScope, ShowScope, ShownPart, TreeFilter, TreePart, WrittenList,
};

/// How current an [`Index`] must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Look at every file first and catalogue what is new.
    Check,
    /// As the last writer left it.
    AsCommitted,
}

/// What follows when the words cannot be written: no answer depends on it.
const POSTPONED: &str =
    "the words are postponed until there is room, and searches read the session files instead";

/// What follows when what is excluded cannot be wiped.
const UNWIPED: &str = "what is excluded is found no more, but can be read from the index's files until a later sync has wiped it";

/// The writer: holds the index's lock as long as it lives.
pub struct Indexer {
    config: Config,
    catalogue: Catalogue,
    notes: Vec<String>,
    lock: File,
    /// The catalogue's file when it was opened.
    opened: Option<(i64, i64)>,
}

impl Indexer {
    /// Take the lock and open the index, made when missing. Where a live watcher holds the lock, its turn is waited for.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process holds the lock; [`Error::NotOurs`] for another user's directory.
    pub fn open(config: &Config) -> Result<Indexer, Error> {
        Indexer::open_within(config, turns::WHILE)
    }

    fn open_within(config: &Config, patience: Duration) -> Result<Indexer, Error> {
        let directory = config.generation_dir();
        make_private(&config.index_dir, &directory)?;
        let lock_path = directory.join("lock");
        let lock = reach("index.lock")
            .and_then(|()| {
                File::options()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(&lock_path)
            })
            .map_err(|e| Error::unwritable(&lock_path, e))?;
        let locked = turns::lock_within(config, &lock, patience);
        if !locked.map_err(|e| Error::io(&lock_path, e))? {
            return Err(Error::Busy {
                index_dir: config.index_dir.clone(),
            });
        }
        let path = config.catalogue_path();
        let mut notes = Vec::new();
        let catalogue = match Catalogue::open_writable(&path, config.wal_bytes) {
            Ok(catalogue) => catalogue,
            Err(error) if error.is_damage() => {
                notes.push(format!("{error}; the catalogue is built anew"));
                remove_catalogue(&path)?;
                Catalogue::open_writable(&path, config.wal_bytes)?
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Indexer {
            config: config.clone(),
            opened: turns::file_at(&path),
            catalogue,
            notes,
            lock,
        })
    }

    /// The same where an index was made before; `None` where there is none.
    pub fn open_existing(config: &Config) -> Result<Option<Indexer>, Error> {
        match config.catalogue_path().exists() {
            true => Indexer::open(config).map(Some),
            false => Ok(None),
        }
    }

    /// Bring catalogue and words up to the files.
    pub fn sync(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        let mut report = self.sync_catalogue(progress)?;
        self.index_words(None, progress, &mut report)?;
        progress(Event::Done);
        self.end()?;
        Ok(report)
    }

    /// What is done is done: the lock may go.
    fn end(&self) -> Result<(), Error> {
        reach("index.unlock").map_err(|e| Error::io(&self.config.index_dir, e))
    }

    /// Bring the catalogue up to the files; the words owe the rest, and searches read it from the files.
    pub fn sync_catalogue(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        let mut report = Report {
            notes: std::mem::take(&mut self.notes),
            ..Report::default()
        };
        match self.sync_roots(progress, &mut report) {
            Ok(()) => {}
            Err(Error::Catalogue(error)) if error.is_damage() => {
                let path = self.config.catalogue_path();
                report = Report {
                    notes: vec![format!("{error}; the catalogue is built anew")],
                    ..Report::default()
                };
                remove_catalogue(&path)?;
                self.catalogue = Catalogue::open_writable(&path, self.config.wal_bytes)?;
                self.opened = turns::file_at(&path);
                self.sync_roots(progress, &mut report)?;
            }
            Err(error) => return Err(error),
        }
        Ok(report)
    }

    /// Bring the catalogue up to these files alone, given by absolute paths: nothing else is looked at. For whoever knows what
    /// changed, having just written it. Files that are gone take their rows with them; those below no root, and those that
    /// are no sources, are passed over.
    pub fn sync_files(&mut self, files: &[PathBuf]) -> Result<Report, Error> {
        let mut report = Report {
            notes: std::mem::take(&mut self.notes),
            ..Report::default()
        };
        self.apply_exclude(&mut report)?;
        self.config.add_project_roots(&self.catalogue)?;
        let Config {
            roots,
            formats,
            exclude,
            cancel,
            ..
        } = &self.config;
        let catalogue = &self.catalogue;
        ingest::sync_files(
            catalogue,
            roots,
            formats,
            exclude,
            cancel,
            files,
            &mut report,
        )?;
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.sweep_excluded(&mut report)?;
        Ok(report)
    }

    /// All roots, then those that follow from sessions met for the first time.
    fn sync_roots(
        &mut self,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        self.apply_exclude(report)?;
        self.config.add_project_roots(&self.catalogue)?;
        let mut roots = self.config.roots.clone();
        while !roots.is_empty() {
            let before = report.files_changed;
            let formats = &self.config.formats;
            let (exclude, cancel) = (&self.config.exclude, &self.config.cancel);
            ingest::sync_catalogue(
                &self.catalogue,
                &roots,
                formats,
                exclude,
                cancel,
                progress,
                report,
            )?;
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            roots = match report.files_changed > before {
                true => self.config.add_project_roots(&self.catalogue)?,
                false => Vec::new(),
            };
        }
        self.sweep_excluded(report)
    }

    /// Forget sessions that turned out to be excluded.
    fn sweep_excluded(&self, report: &mut Report) -> Result<(), Error> {
        let (exclude, formats) = (&self.config.exclude, &self.config.formats);
        match ingest::sweep_excluded(&self.catalogue, exclude, formats)? {
            0 => Ok(()),
            _ => self.wipe(report),
        }
    }

    /// Forget what is excluded now and was not before.
    fn apply_exclude(&mut self, report: &mut Report) -> Result<(), Error> {
        let (exclude, formats) = (&self.config.exclude, &self.config.formats);
        let files = ingest::apply_exclude(&self.catalogue, exclude, formats)?;
        if files > 0 {
            report.notes.push(format!(
                "{files} files are excluded now: what was stored of them is removed"
            ));
        }
        self.wipe(report)
    }

    /// Wipe what was removed because it is excluded, if that is not done yet. Where it cannot be done now the next sync
    /// does it: no answer depends on it.
    fn wipe(&self, report: &mut Report) -> Result<(), Error> {
        if !self.catalogue.owes_wipe()? {
            return Ok(());
        }
        let why = match ingest::wipe(&self.catalogue, &self.config.words_dir()) {
            Ok(true) => return Ok(()),
            Ok(false) => "another process reads the index".to_owned(),
            Err(WordsStage::Words(error)) => error.to_string(),
            Err(WordsStage::Catalogue(error)) if error.is_refusal_to_write() => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        report.notes.push(format!("{why}; {UNWIPED}"));
        Ok(())
    }

    /// Give the words what they are owed, for at most `budget`.
    pub fn index_words(
        &mut self,
        budget: Option<Duration>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        let batch = match budget {
            Some(_) => ingest::SMALL_WORDS_BATCH,
            None => ingest::WORDS_BATCH,
        };
        self.words_stage(budget, batch, progress, report)
    }

    fn words_stage(
        &mut self,
        budget: Option<Duration>,
        batch: u64,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        let directory = self.config.words_dir();
        let indexed = ingest::index_words(
            &self.catalogue,
            &directory,
            &self.config.formats,
            (budget, batch),
            progress,
            report,
        );
        match indexed {
            Err(WordsStage::Words(error)) if error.is_full() => {
                report.notes.push(format!("{error}; {POSTPONED}"));
                Ok(())
            }
            Err(WordsStage::Catalogue(error)) if error.is_refusal_to_write() => {
                report.notes.push(format!("{error}; {POSTPONED}"));
                Ok(())
            }
            indexed => Ok(indexed?),
        }
    }

    /// Throw both stores away and make them from the files.
    pub fn rebuild(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        match self.catalogue.reset(!self.config.exclude.is_empty()) {
            Ok(()) => {}
            Err(error) if error.is_damage() => {
                let path = self.config.catalogue_path();
                remove_catalogue(&path)?;
                self.catalogue = Catalogue::open_writable(&path, self.config.wal_bytes)?;
                self.opened = turns::file_at(&path);
            }
            Err(error) => return Err(error.into()),
        }
        let words = self.config.words_dir();
        match reach("words.forget").and_then(|()| std::fs::remove_dir_all(&words)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(&words, error)),
        }
        self.sync(progress)
    }
}

/// The reader. It never takes a lock that a writer holds for longer than a try.
pub struct Index {
    pub(crate) config: Config,
    /// `None`: there is no index yet and none could be made.
    pub(crate) catalogue: Option<Catalogue>,
    /// Whether all files were looked at and catalogued.
    pub(crate) complete: bool,
    pub(crate) pending_files: u64,
    /// What the check on opening did; `None` when it could not be done.
    pub(crate) report: Option<Report>,
    /// Why it could not.
    pub(crate) obstacle: Option<Error>,
    /// The words of the last search.
    pub(crate) words: RefCell<ingest::Kept>,
}

impl Index {
    /// Open the index for reading, brought up to the files first where `freshness` asks for it and no other
    /// process is writing.
    pub fn open(config: &Config, freshness: Freshness) -> Result<Index, Error> {
        Index::open_with(config, freshness, &mut |_| {})
    }

    /// The same with progress.
    pub fn open_with(
        config: &Config,
        freshness: Freshness,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Index, Error> {
        let mut obstacle = None;
        if freshness == Freshness::Check
            && let Some(index) = watch::vouched_for(config)?
        {
            return Ok(index);
        }
        if freshness == Freshness::Check {
            match Indexer::open_within(config, turns::MOMENT) {
                Ok(mut indexer) => match indexer.sync_catalogue(progress) {
                    Ok(report) => {
                        return Ok(Index {
                            config: indexer.config,
                            // The lock is given up here, the open catalogue is not: opening takes as long as looking.
                            catalogue: Some(indexer.catalogue),
                            complete: report.files_unreadable == 0,
                            pending_files: report.files_unreadable,
                            report: Some(report),
                            obstacle: None,
                            words: RefCell::default(),
                        });
                    }
                    // The disk is full, or went read-only: answer from what is there.
                    Err(Error::Catalogue(error)) if error.is_refusal_to_write() => {
                        obstacle = Some(error.into());
                    }
                    Err(error) => return Err(error),
                },
                // Another process is at it, or the directory cannot be written: answer from what is there.
                Err(error @ (Error::Busy { .. } | Error::Unwritable { .. } | Error::Io { .. })) => {
                    obstacle = Some(error);
                }
                Err(Error::Catalogue(error)) if error.is_refusal_to_write() => {
                    obstacle = Some(error.into());
                }
                Err(error) => return Err(error),
            }
        }
        let catalogue = match Catalogue::open_readable(&config.catalogue_path()) {
            Ok(catalogue) => catalogue,
            Err(error) if error.is_damage() => None,
            Err(error) => return Err(error.into()),
        };
        let mut config = config.clone();
        if let Some(catalogue) = &catalogue {
            config.add_project_roots(catalogue)?;
        }
        let (complete, pending_files) = match (freshness, &catalogue) {
            (Freshness::AsCommitted, _) => (true, 0),
            (Freshness::Check, Some(catalogue)) => {
                let pending = ingest::count_pending(
                    catalogue,
                    &config.roots,
                    &config.formats,
                    &config.exclude,
                )?;
                (pending == 0, pending)
            }
            // Nothing is known: all that is there is pending.
            (Freshness::Check, None) => {
                let nothing = Catalogue::in_memory()?;
                let (roots, formats) = (&config.roots, &config.formats);
                let pending = ingest::count_pending(&nothing, roots, formats, &config.exclude)?;
                (false, pending)
            }
        };
        Ok(Index {
            config,
            catalogue,
            complete,
            pending_files,
            report: None,
            obstacle,
            words: RefCell::default(),
        })
    }

    /// An index of one file alone, wherever it lies: made in memory, and nothing of it is kept.
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
        Ok(Index {
            config: Config {
                roots: vec![root],
                ..config.clone()
            },
            catalogue: Some(catalogue),
            complete: true,
            pending_files: 0,
            report: None,
            obstacle: None,
            words: RefCell::default(),
        })
    }

    /// Leave the words of the last search mapped until the process ends: the kernel gives a hundred files back faster
    /// at once than one by one. For programs that end with the answer.
    pub fn leave_words_mapped(&self) {
        std::mem::forget(self.words.take());
    }

    /// Why the check on opening could not be done: the answers are as the last writer left the index.
    pub fn obstacle(&self) -> Option<&Error> {
        self.obstacle.as_ref()
    }

    /// Whether all that is on disk was read.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// What the check on opening read and found; `None` when another writer was at it.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// What it was opened with, and the roots that follow from its sessions.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// After answering: some words work, if there is [more than a little](Index::words_debt) and nobody else is at it.
    pub fn finish_words(&mut self, budget: Duration) -> Result<(), Error> {
        // A watcher does it when nothing has changed for a while.
        let rests = !self.config.background || turns::is_watched(&self.config);
        if rests || self.words_debt()? == Debt::Little {
            return Ok(());
        }
        match Indexer::open(&self.config) {
            Ok(mut indexer) => {
                indexer.index_words(Some(budget), &mut |_| {}, &mut Report::default())
            }
            Err(Error::Busy { .. } | Error::Unwritable { .. } | Error::Io { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Run one SQL statement that only reads, on the public views, and keep its whole answer.
    pub fn sql(&self, query: &str) -> Result<Rows, Error> {
        let mut answer = Rows {
            columns: Vec::new(),
            rows: Vec::new(),
        };
        self.sql_each(query, &mut |part| {
            match part {
                SqlPart::Columns(names) => answer.columns = names.to_vec(),
                SqlPart::Row(values) => answer.rows.push(values.to_vec()),
            }
            Ok(())
        })?;
        Ok(answer)
    }

    /// The same row by row, as SQLite finds them. An error of `each` ends it.
    pub fn sql_each(
        &self,
        query: &str,
        each: &mut dyn FnMut(SqlPart<'_>) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let catalogue = self.catalogue.as_ref().ok_or(Error::NoIndex)?;
        catalogue
            .sql(query, each)?
            .map_err(|error| Error::io("the output".as_ref(), error))
    }

    /// Save the catalogue as it is now as one new file, readable by its owner alone: its length, and whether all files
    /// were catalogued.
    ///
    /// # Errors
    /// When `file` exists or its folder cannot be written; [`Error::NoIndex`] without an index.
    pub fn save_catalogue(&self, file: &Path) -> Result<(u64, bool), Error> {
        let catalogue = self.catalogue.as_ref().ok_or(Error::NoIndex)?;
        catalogue.save_as(file).map_err(|error| match error {
            // It is `file` that could not be written, not the index.
            catalogue::Error::Io { path, error } => Error::Io { path, error },
            error => error.into(),
        })?;
        let saved = std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
        Ok((saved.len(), self.complete))
    }

    /// Whether another process holds the writer lock.
    pub fn has_writer(&self) -> bool {
        let path = self.config.generation_dir().join("lock");
        File::open(path)
            .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
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
        rusqlite::version(),
        tantivy::version_string()
    )
}

/// The index directory is private: transcripts hold secrets.
fn make_private(index_dir: &Path, generation: &Path) -> Result<(), Error> {
    let existed = index_dir.exists();
    reach("index.create")
        .and_then(|()| std::fs::create_dir_all(generation))
        .map_err(|e| Error::unwritable(generation, e))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let metadata = std::fs::metadata(index_dir).map_err(|e| Error::io(index_dir, e))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(Error::NotOurs {
                path: index_dir.to_path_buf(),
            });
        }
        let private = std::fs::Permissions::from_mode(0o700);
        if !existed {
            std::fs::set_permissions(index_dir, private.clone())
                .map_err(|e| Error::unwritable(index_dir, e))?;
        }
        if std::fs::metadata(generation).is_ok_and(|m| m.mode() & 0o77 != 0) {
            std::fs::set_permissions(generation, private)
                .map_err(|e| Error::unwritable(generation, e))?;
        }
    }
    if !existed {
        let tag = index_dir.join("CACHEDIR.TAG");
        std::fs::write(&tag, CACHE_TAG).map_err(|e| Error::unwritable(&tag, e))?;
    }
    Ok(())
}

fn remove_catalogue(path: &Path) -> Result<(), Error> {
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        match reach("catalogue.remove").and_then(|()| std::fs::remove_file(&file)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    Ok(())
}
