//! The door for the one writer: the lock, and what is done while it is held.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::damage::{REBUILT, remove_catalogue};
use super::merging::MergeThread;
use super::turns::BackgroundLock;
use super::writer_lock::{WaitPolicy, WriterLock};
use super::{CACHE_TAG, Config, Error, Event, RootSpec, writer_lock};
use crate::catalogue::{self, Catalogue};
use crate::causes::with_causes;
use crate::config::lasting;
use crate::failpoint::reach;
use crate::ingest::{self, HintedPaths, Keeper};
use crate::model::Report;
use crate::private;
use crate::repository::Remotes;
use crate::source::discover::relative;

/// What follows when it cannot be noted what is proven.
const UNPROVEN: &str =
    "a later sync compares the files that grew with what was read of them before";

/// The writer: holds the index's lock as long as it lives. Segments of the words are merged on
/// another thread; when it is dropped the lock is released, and a running merge is waited for.
pub struct Indexer {
    pub(super) config: Config,
    pub(super) catalogue: Catalogue,
    /// Keeps what is read in the archive.
    pub(super) keeper: Keeper,
    pub(super) notes: Vec<String>,
    pub(super) lock: WriterLock,
    /// With what patience it was opened.
    pub(super) patience: WaitPolicy,
    /// After the lock, which is given up before this is waited for.
    pub(super) merging: MergeThread,
}

impl std::fmt::Debug for Indexer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Indexer")
            .field("config", &self.config)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl Indexer {
    /// Take the lock and open the index, which is created when missing. If another process holds
    /// the lock, wait a minute for it, or as long as that process makes progress.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process holds the lock and makes no progress;
    /// [`Error::NotOurs`] for another user's directory.
    pub fn open(config: &Config) -> Result<Indexer, Error> {
        Indexer::open_with(config, &mut |_| {})
    }

    /// Make the folders of the index where they are missing, for their owner alone.
    ///
    /// # Errors
    /// [`Error::NotOurs`] for another user's directory.
    #[doc(hidden)]
    pub fn make_folders(config: &Config) -> Result<(), Error> {
        make_private(&config.index_dir, &config.generation_dir())
    }

    /// [`Indexer::open`], with [`Event::Waiting`] given to `progress` while it waits for the lock.
    ///
    /// # Errors
    /// As [`Indexer::open`].
    pub fn open_with(config: &Config, progress: &mut dyn FnMut(Event)) -> Result<Indexer, Error> {
        Indexer::open_within(config, writer_lock::WHILE, progress)
    }

    /// [`Indexer::open`] without waiting for another process.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process holds the lock; otherwise as [`Indexer::open`].
    pub fn try_open(config: &Config) -> Result<Indexer, Error> {
        Indexer::open_within(config, writer_lock::AT_ONCE, &mut |_| {})
    }

    /// Open the index for the full scan before an answer. If a watcher is at work, wait a moment
    /// for the end of its turn.
    pub(super) fn open_to_scan(config: &Config) -> Result<Indexer, Error> {
        Indexer::open_within(config, writer_lock::MOMENT, &mut |_| {})
    }

    pub(super) fn open_within(
        config: &Config,
        patience: WaitPolicy,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Indexer, Error> {
        // Before anything is made.
        config.check_roots()?;
        Indexer::open_locked(config, lock(config, patience, progress)?, patience)
    }

    fn open_locked(
        config: &Config,
        lock: WriterLock,
        patience: WaitPolicy,
    ) -> Result<Indexer, Error> {
        let config = &config.held()?;
        let path = config.catalogue_path();
        let open = || open_catalogue(config, &lock, patience);
        let mut notes = Vec::new();
        let catalogue = match open() {
            Ok(catalogue) => catalogue,
            Err(error) if error.is_damage() => {
                notes.push(format!("{}; {REBUILT}", with_causes(&error)));
                remove_catalogue(&path)?;
                open()?
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Indexer {
            config: config.clone(),
            catalogue,
            keeper: Keeper::open(config),
            notes,
            lock,
            patience,
            merging: MergeThread::default(),
        })
    }

    /// Open an index that exists already; `None` if there is none. It waits only a moment for a
    /// watcher's turn to end. This is meant for programs that have just written a session: a
    /// running watcher is notified of that anyway.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process still holds the lock; otherwise as [`Indexer::open`].
    pub fn open_existing(config: &Config) -> Result<Option<Indexer>, Error> {
        match config.catalogue_path().exists() {
            true => Indexer::open_within(config, writer_lock::MOMENT, &mut |_| {}).map(Some),
            false => Ok(None),
        }
    }

    /// Open the catalogue that stands there now.
    pub(super) fn open_catalogue(&self) -> Result<Catalogue, catalogue::Error> {
        open_catalogue(&self.config, &self.lock, self.patience)
    }

    /// Bring catalogue and words up to the files, and [prove](Indexer::prove) what grew.
    ///
    /// # Errors
    /// [`Error::Busy`] where the lock was given up meanwhile and another process keeps it;
    /// [`Error::Cancelled`]; when the catalogue or the words cannot be read or written. A session
    /// file that cannot be read is no error: the [`Report`] counts it.
    pub fn sync(&mut self) -> Result<Report, Error> {
        self.sync_with(&mut |_| {})
    }

    /// [`Indexer::sync`], with its progress given to `progress`.
    ///
    /// # Errors
    /// As [`Indexer::sync`].
    pub fn sync_with(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        self.sync_within(None, progress)
    }

    /// [`Indexer::sync`] for nobody who waits. The words get the backlog in batches of about 32 MB,
    /// each of which is kept. Between two of them the lock is given up, so that others can bring
    /// the catalogue up to the files; `progress` gets [`Event::Waiting`] then. No batch is begun
    /// when `budget` is over since the beginning; [`Report::outstanding`] says what is left. The
    /// scan of the files is ended by [`Config::cancel`](crate::Config::cancel) alone.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process does the same; otherwise as of [`Indexer::sync`].
    pub fn sync_for(
        &mut self,
        budget: Duration,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Report, Error> {
        let generation = self.config.generation_dir();
        let Some(_lock) = BackgroundLock::take(&generation)? else {
            return Err(self.patience.refusal(&self.config.index_dir, &generation));
        };
        self.sync_within(Some(budget), progress)
    }

    fn sync_within(
        &mut self,
        budget: Option<Duration>,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Report, Error> {
        let ends = budget.map(|budget| Instant::now() + budget.min(LONGEST_BUDGET));
        let mut report = self.sync_catalogue(progress)?;
        match self.sync_rest(ends, progress, &mut report) {
            // It is marked now, so the next attempt rebuilds it.
            Err(error) if error.is_damage() => {
                report = self.sync_catalogue(progress)?;
                self.sync_rest(ends, progress, &mut report)?;
            }
            synced => synced?,
        }
        progress(Event::Done);
        self.end()?;
        Ok(report)
    }

    /// Do the rest of a sync after the scan: prove the files that grew, then index words; no batch
    /// of them is begun after `ends`.
    fn sync_rest(
        &mut self,
        ends: Option<Instant>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        match self.prove_within(report) {
            Err(error) if error.is_refusal_to_write() => {
                let why = with_causes(&error);
                report.notes.push(format!("{why}; {UNPROVEN}"));
            }
            proven => proven?,
        }
        match ends {
            None => self.index_words_into(None, progress, report),
            Some(ends) => self.index_words_by_turns(ends, progress, report),
        }
    }

    /// What is done is done: the lock may go.
    fn end(&self) -> Result<(), Error> {
        reach("index.unlock").map_err(|e| Error::io(&self.config.index_dir, e))
    }

    /// Bring the catalogue up to the files. New text joins the backlog of the words, and searches
    /// read it from the files. A catalogue that turns out to be damaged is rebuilt.
    ///
    /// # Errors
    /// As [`Indexer::sync`], but for the words.
    pub fn sync_catalogue(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        self.hold()?;
        let mut report = Report {
            notes: std::mem::take(&mut self.notes),
            ..Report::default()
        };
        let why = match self.condemned() {
            Some(why) => why,
            None => match self.scan_roots(None, progress, &mut report) {
                Err(error) if error.is_damage() => with_causes(&error),
                synced => return synced.map(|()| report),
            },
        };
        report = Report {
            notes: vec![format!("{why}; {REBUILT}")],
            ..Report::default()
        };
        self.renew()?;
        self.scan_roots(None, progress, &mut report)?;
        Ok(report)
    }

    /// Bring the catalogue up to these files only, given by absolute paths. This is for callers
    /// that know what changed because they have just written it. The rows of files that are gone
    /// are removed. Files below no root and files that are no sources are skipped. No other file is
    /// looked at, with one exception: if there are [exclusion rules](Config::rules) and a session
    /// is new, its whole root is scanned.
    ///
    /// # Errors
    /// As [`Indexer::sync_catalogue`].
    pub fn sync_files(&mut self, files: &[PathBuf]) -> Result<Report, Error> {
        let mut report = Report::default();
        self.sync_files_into(files, &mut report)?;
        Ok(report)
    }

    /// [`Indexer::sync_files`], added to a report.
    pub(super) fn sync_files_into(
        &mut self,
        files: &[PathBuf],
        report: &mut Report,
    ) -> Result<(), Error> {
        self.hold()?;
        report.notes.append(&mut self.notes);
        self.prepare(report)?;
        let config = &self.config;
        let files: Vec<PathBuf> = files.iter().map(|file| lasting(file)).collect();
        let hinted: Vec<HintedPaths<'_>> = config
            .roots
            .iter()
            .map(|spec| {
                let below = files.iter().filter_map(|f| f.strip_prefix(&spec.path).ok());
                let paths = below.filter_map(relative).filter(|path| !path.is_empty());
                let paths = paths.collect();
                let prove = true;
                HintedPaths { spec, paths, prove }
            })
            .filter(|hint| !hint.paths.is_empty())
            .collect();
        let left = ingest::sync_hints(self.sync_targets(), config, &hinted, report)?;
        let whole = left.whole.iter().map(|at| hinted[*at].spec.clone());
        let whole: Vec<RootSpec> = whole.collect();
        self.scan_roots(Some(whole), &mut |_| {}, report)
    }

    /// What a scan writes.
    pub(super) fn sync_targets(&self) -> ingest::SyncTargets<'_> {
        ingest::SyncTargets {
            catalogue: &self.catalogue,
            keeper: &self.keeper,
        }
    }

    /// Prepare a scan: remove what is excluded now, and look up all roots.
    pub(super) fn prepare(&mut self, report: &mut Report) -> Result<(), Error> {
        self.keeper.renew(&self.config, &self.catalogue)?;
        self.apply_exclude(report)?;
        self.config.add_project_roots(&self.catalogue)?;
        Ok(())
    }

    /// Scan these roots, or all of them, and then the roots that new sessions lead to.
    fn scan_roots(
        &mut self,
        roots: Option<Vec<RootSpec>>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut roots = match roots {
            Some(roots) => roots,
            None => {
                self.prepare(report)?;
                self.config.roots.clone()
            }
        };
        while !roots.is_empty() {
            let before = report.files_changed;
            ingest::sync_catalogue(self.sync_targets(), &self.config, &roots, progress, report)?;
            if self.config.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            roots = match report.files_changed > before {
                true => self.config.add_project_roots(&self.catalogue)?,
                false => Vec::new(),
            };
        }
        if self.config.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.name_roots()?;
        self.sweep_excluded()?;
        self.wipe(report)
    }

    /// Forget sessions that turned out to be excluded.
    pub(super) fn sweep_excluded(&self) -> Result<(), Error> {
        let (exclude, formats) = (self.config.rules.exclude(), &self.config.formats);
        ingest::sweep_excluded(self.sync_targets(), exclude, formats)?;
        Ok(())
    }

    /// Forget what is excluded now and was not before.
    fn apply_exclude(&mut self, report: &mut Report) -> Result<(), Error> {
        // Where the lock was given up in between, others may stand there now.
        let (index_dir, rules) = (&self.config.index_dir, &self.config.rules);
        let mut rules = rules.held(index_dir)?;
        rules.keep(index_dir, self.catalogue.excluded_by()?)?;
        self.config.rules = rules;
        let files = ingest::apply_exclude(self.sync_targets(), &self.config)?;
        let (are, them) = match files {
            1 => ("file is", "it"),
            _ => ("files are", "them"),
        };
        if files > 0 {
            report.notes.push(format!(
                "{files} {are} excluded now: what was stored of {them} is removed"
            ));
        }
        Ok(())
    }

    /// Throw both stores away and make them from the files.
    ///
    /// # Errors
    /// As [`Indexer::sync`].
    pub fn rebuild(&mut self) -> Result<Report, Error> {
        self.rebuild_with(&mut |_| {})
    }

    /// [`Indexer::rebuild`], with its progress given to `progress`.
    ///
    /// # Errors
    /// As [`Indexer::sync`].
    pub fn rebuild_with(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        self.hold()?;
        match self.condemned() {
            Some(_) => self.renew()?,
            None => match self
                .catalogue
                .reset(!self.config.rules.exclude().is_empty())
            {
                Err(error) if error.is_damage() => self.renew()?,
                reset => reset?,
            },
        }
        self.remove_words()?;
        self.sync_with(progress)
    }
}

/// Open the catalogue for the holder of the lock. Its commits are noted in the progress file beside
/// the lock.
fn open_catalogue(
    config: &Config,
    lock: &WriterLock,
    patience: WaitPolicy,
) -> Result<Catalogue, catalogue::Error> {
    let (path, progress) = (config.catalogue_path(), Arc::clone(&lock.progress));
    let mut catalogue = Catalogue::open_writable(
        &path,
        config.wal_bytes,
        patience.statements,
        &config.zone,
        Remotes::apart_from(config.home.as_deref()),
    )?;
    catalogue.on_commit(move || progress.step())?;
    Ok(catalogue)
}

/// Take the lock, in a directory that is made when missing.
fn lock(
    config: &Config,
    patience: WaitPolicy,
    progress: &mut dyn FnMut(Event),
) -> Result<WriterLock, Error> {
    let directory = config.generation_dir();
    let path = directory.join("lock");
    let mut removals = 0;
    loop {
        let lock = match open_lock(config, &directory, &path) {
            // Somebody removed the index between two steps.
            Err(Error::Unwritable { source, .. } | Error::Io { source, .. })
                if source.kind() == ErrorKind::NotFound && removals < MOST_REMOVALS =>
            {
                removals += 1;
                continue;
            }
            opened => opened?,
        };
        let mut waits = || {
            progress(Event::Waiting);
            !config.cancel.is_cancelled()
        };
        let locked = writer_lock::lock_within(&directory, &lock, patience, &mut waits);
        match locked.map_err(|e| Error::io(&path, e))? {
            // Else the index was removed meanwhile.
            true if writer_lock::stands_at(&path, &lock) => {
                return Ok(WriterLock::of(lock, &directory));
            }
            true => {}
            false if config.cancel.is_cancelled() => return Err(Error::Cancelled),
            false => return Err(patience.refusal(&config.index_dir, &directory)),
        }
    }
}

/// A budget of more is one of this much: the clock ends somewhere.
const LONGEST_BUDGET: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How often the index may be removed while its lock is made, before that is an error.
const MOST_REMOVALS: u32 = 10;

fn open_lock(config: &Config, directory: &Path, path: &Path) -> Result<File, Error> {
    make_private(&config.index_dir, directory)?;
    let opened = reach("index.lock").and_then(|()| private::open_or_create(path));
    opened.map_err(|e| Error::unwritable(path, e))
}

/// The index directory is private: transcripts hold secrets.
fn make_private(index_dir: &Path, generation: &Path) -> Result<(), Error> {
    let existed = index_dir.exists();
    // The folders above are not ours to close. Where they cannot be made, those in them cannot
    // either.
    if let Some(above) = index_dir.parent() {
        let _ = std::fs::create_dir_all(above);
    }
    reach("index.create")
        .and_then(|()| private::create_dir_all(generation))
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
        // It may have been created by another program, or by an earlier version that was stopped
        // here.
        if std::fs::metadata(generation).is_ok_and(|m| m.mode() & 0o77 != 0) {
            std::fs::set_permissions(generation, std::fs::Permissions::from_mode(0o700))
                .map_err(|e| Error::unwritable(generation, e))?;
        }
    }
    if !existed {
        let tag = index_dir.join("CACHEDIR.TAG");
        private::write(&tag, CACHE_TAG).map_err(|e| Error::unwritable(&tag, e))?;
    }
    Ok(())
}
