//! How does the index stay up to date while files change? One process watches them, and syncs what
//! notifications name.
//!
//! A notification is only a hint; what counts is what the file says. Each hint leads to an ordinary
//! sync of the path that it names. Whatever makes hints unreliable (an overflow, a jump of the
//! clock, a root that came or went) leads to a full scan. The writer lock is released after each
//! write, so that `sync` and other writers work as if there were no watcher.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::{Config, Error, Event, Index, Indexer, writer_lock};
use crate::catalogue::Catalogue;
use crate::ingest::Audits;
use crate::model::{Cancel, FeedPosition, Report, SessionChange, WatchMode, WatcherStatus, iso};
use crate::source::clock::Jumps;
use crate::source::events::{Events, Notifications};
use crate::source::filesystem::Mounts;
use crate::source::identity::Identity;

pub(super) mod barrier;
mod roots;
mod turn;

pub(crate) use barrier::is_ours as is_file_of_watcher;
use barrier::{ReaderFence, WatcherFence, WatcherState};
use roots::WatchedRoot;

/// How to watch.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// Scan all files again and again instead of waiting for notifications.
    pub poll: bool,
    /// The program that watches: when another one stands at this path, the watching ends.
    pub executable: Option<PathBuf>,
    /// How often a full scan is done without any notification.
    pub full_scan: Duration,
    /// How often files are scanned where there are no notifications; less often when a scan takes
    /// more than a fiftieth of this.
    pub interval: Duration,
    /// Words are indexed when nothing has changed for this long.
    pub quiet: Duration,
    /// A file that grew is [proven](Indexer::prove) when it has not changed for this long; all of
    /// them after each full scan.
    pub rest: Duration,
    /// Ends this watcher from another thread, and nothing else: keep a clone of it. A cancelled one
    /// stays so: give a new one for the next watcher. [`Config::cancel`](super::Config::cancel)
    /// ends it too.
    pub cancel: Cancel,
}

impl Default for WatchOptions {
    /// Watch; a full scan every ten minutes, or every two seconds without notifications; words
    /// after a second, proofs after a minute.
    fn default() -> WatchOptions {
        WatchOptions {
            poll: false,
            executable: None,
            full_scan: Duration::from_secs(600),
            interval: Duration::from_secs(2),
            quiet: Duration::from_secs(1),
            rest: Duration::from_secs(60),
            cancel: Cancel::default(),
        }
    }
}

/// What a watcher reports while it watches.
#[derive(Debug)]
#[non_exhaustive]
pub enum WatchEvent<'a> {
    /// How far the full scan has come that is going on. It waits until this is taken, and so does
    /// everybody who wants to write.
    Progress(Event),
    /// A full scan was done.
    Checked {
        /// Why.
        reason: &'a str,
        /// What it found.
        report: &'a Report,
    },
    /// From now on there are notifications of changes: so many directories are watched.
    Watching(u64),
    /// There are no notifications, for this reason: all files are scanned again and again.
    Polling(&'a str),
    /// Hints were followed by a sync.
    Synced(&'a Report),
    /// Words were indexed.
    Indexed(&'a Report),
    /// Files that grew were compared with what was read of them.
    Proven(&'a Report),
    /// Sessions changed since the last report.
    Changed {
        /// Which of them, and how.
        changes: &'a [SessionChange],
        /// Whether others changed too of which it is no longer known which they are.
        missed: bool,
    },
    /// Nothing can be written now; it is tried again.
    Delayed(&'a Error),
}

/// Why a watcher has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchEnd {
    /// [`WatchOptions::cancel`] or [`Config::cancel`](super::Config::cancel) was called.
    Cancelled,
    /// Another program stands in its place.
    Replaced,
    /// The index was removed.
    Removed,
    /// Another version has given the index another schema.
    OtherVersion,
    /// Somebody has synced with other rules of what is left out: see
    /// [`Config::rules`](super::Config::rules).
    Reconfigured,
}

impl Indexer {
    /// [`Indexer::open_with`], to become the watcher.
    ///
    /// # Errors
    /// [`Error::Watched`] at once when another process watches for this index; otherwise as
    /// [`Indexer::open`].
    pub fn open_to_watch(
        config: &Config,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Indexer, Error> {
        nobody_watches(config)?;
        Indexer::open_with(config, progress)
    }

    /// [`Indexer::try_open`], to become the watcher.
    ///
    /// # Errors
    /// [`Error::Watched`] when another process watches for this index; otherwise as
    /// [`Indexer::try_open`].
    pub fn try_open_to_watch(config: &Config) -> Result<Indexer, Error> {
        nobody_watches(config)?;
        Indexer::try_open(config)
    }

    /// Keep the index up to date until something ends it. The lock is held only while something is
    /// written.
    ///
    /// # Errors
    /// [`Error::Watched`] when another process watches for this index, or an error of a sync that
    /// does not go away by itself.
    pub fn watch(
        mut self,
        options: &WatchOptions,
        on_event: &mut dyn FnMut(WatchEvent<'_>),
    ) -> Result<WatchEnd, Error> {
        self.config.cancel = self.config.cancel.or(&options.cancel);
        let presence = WatcherFence::new(&self.config)?;
        self.patience = writer_lock::WATCHING;
        self.catalogue.set_patience(self.patience.statements)?;
        let mut watch = Watch::new(self, options, presence, on_event)?;
        match watch.run() {
            Ok(ended) => Ok(ended),
            Err(TurnEnd::Ended(ended)) => Ok(ended),
            Err(TurnEnd::Failed(Error::Cancelled)) => Ok(WatchEnd::Cancelled),
            Err(TurnEnd::Failed(error)) => Err(error),
        }
    }
}

/// One process watches for an index.
fn nobody_watches(config: &Config) -> Result<(), Error> {
    match ReaderFence::find(config) {
        None => Ok(()),
        Some(_) => Err(Error::Watched {
            index_dir: config.index_dir.clone(),
        }),
    }
}

/// Why a turn goes no further.
enum TurnEnd {
    Ended(WatchEnd),
    Failed(Error),
}

impl<E: Into<Error>> From<E> for TurnEnd {
    fn from(error: E) -> TurnEnd {
        TurnEnd::Failed(error.into())
    }
}

/// A file, by the place of its root in the configuration and its path below that.
type HintPath = (usize, String);

struct Watch<'a> {
    indexer: Indexer,
    options: &'a WatchOptions,
    on_event: &'a mut dyn FnMut(WatchEvent<'_>),
    events: Events,
    presence: WatcherFence,
    state: WatcherState,
    /// As many as the configuration has.
    roots: Vec<WatchedRoot>,
    /// Why there are no notifications, if so.
    polls: Option<String>,
    /// Hints that were not followed yet, by root.
    hints: BTreeMap<usize, BTreeSet<String>>,
    /// Why a full scan is due, if so.
    full: Option<String>,
    /// Readers that wait until that is done.
    fences: Vec<PathBuf>,
    /// Files read within a tick of the clock after a change.
    racy: BTreeSet<HintPath>,
    /// Racy files that had no notification for a while since.
    rested: BTreeSet<HintPath>,
    /// Files with a further notification that look as they did when they were read.
    doubted: BTreeSet<HintPath>,
    /// Files and folders that could not be read. No notification comes when they become readable.
    unreadable: u64,
    /// Working directories for which it is known which roots follow.
    cwds: Vec<String>,
    feed: FeedPosition,
    executable: Option<Identity>,
    /// The id of the catalogue that was last scanned as a whole; `None` before the first scan.
    looked_at: Option<String>,
    /// Whether nothing can be written now, or no words.
    refused: bool,
    words_refused: bool,
    /// When the catalogue was last found to be damaged.
    damaged: Option<Instant>,
    /// When words are to be indexed, and since when there is a backlog.
    words: Option<(Instant, Instant)>,
    /// The sources that have to be proven, and when to continue or to look for more of them.
    audits: Audits,
    proofs: Option<Instant>,
    next_full: Instant,
    /// Looking at everything never takes more than a part of the time.
    not_before: Instant,
    mounts: Mounts,
    clock: (Instant, SystemTime),
    _jumps: Option<Jumps>,
}

impl<'a> Watch<'a> {
    fn new(
        indexer: Indexer,
        options: &'a WatchOptions,
        presence: WatcherFence,
        on_event: &'a mut dyn FnMut(WatchEvent<'_>),
    ) -> Result<Watch<'a>, Error> {
        let (events, polls) = match options.poll {
            true => (Events::none(), Some("it was asked for".to_owned())),
            false => match Events::new() {
                Ok(events) => (events, None),
                Err(refusal) => (Events::none(), Some(refusal.0)),
            },
        };
        indexer.config.cancel.wakes(events.waker());
        let jumps = Jumps::watch(events.waker());
        let feed = match indexer.catalogue.changes_kept() {
            // The first scan rebuilds it.
            Err(error) if error.is_damage() => FeedPosition::default(),
            kept => kept?.end(),
        };
        let now = Instant::now();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let since_ms = since.map_or(0, |since| since.as_millis() as i64);
        Ok(Watch {
            feed,
            executable: options.executable.as_deref().and_then(identity),
            indexer,
            options,
            on_event,
            events,
            presence,
            state: WatcherState::new(since_ms),
            roots: Vec::new(),
            polls,
            hints: BTreeMap::new(),
            full: Some("it begins".to_owned()),
            fences: Vec::new(),
            racy: BTreeSet::new(),
            rested: BTreeSet::new(),
            doubted: BTreeSet::new(),
            unreadable: 0,
            cwds: Vec::new(),
            looked_at: None,
            refused: false,
            words_refused: false,
            damaged: None,
            words: Some((now, now)),
            audits: Audits::default(),
            proofs: None,
            next_full: now,
            not_before: now,
            mounts: Mounts::now(),
            clock: (now, SystemTime::now()),
            _jumps: jumps,
        })
    }

    fn run(&mut self) -> Result<WatchEnd, TurnEnd> {
        self.presence.say(&self.state);
        // The lock was taken when the indexer was opened.
        self.indexer.give_way()?;
        if self.events.can_watch() {
            let directory = self.presence.directory().to_path_buf();
            if let Err(refusal) = self.events.watch(&directory) {
                self.poll(refusal.0);
            }
            if let Some(executable) = &self.options.executable {
                // A program file that cannot be watched is checked at every full scan.
                let _ = self.events.watch(executable);
            }
        }
        let mut said = None;
        loop {
            self.turn()?;
            if said.as_ref() != Some(&self.polls) {
                match &self.polls {
                    None => (self.on_event)(WatchEvent::Watching(self.state.directories)),
                    Some(why) => (self.on_event)(WatchEvent::Polling(why)),
                }
                said = Some(self.polls.clone());
            }
            let notifications = self.events.take(self.deadline());
            if self.indexer.config.cancel.is_cancelled() {
                return Ok(WatchEnd::Cancelled);
            }
            if self.clock_jumped() {
                self.scan_all("the clock jumped, or the machine slept");
            }
            self.sort(notifications)?;
        }
    }

    /// Notifications are missing or incomplete: from now on, and at once, files are polled.
    fn poll(&mut self, why: String) {
        if self.polls.is_none() {
            self.polls = Some(why);
            self.next_full = Instant::now();
        }
    }

    fn scan_all(&mut self, why: &str) {
        self.full.get_or_insert_with(|| why.to_owned());
    }

    /// Plan a full scan for the next turn, whatever delay was set.
    fn scan_now(&mut self, why: &str) {
        self.scan_all(why);
        self.not_before = Instant::now();
    }

    /// A notification is about files below roots, about roots that do not exist yet, or about the
    /// watcher itself.
    fn sort(&mut self, notifications: Notifications) -> Result<(), TurnEnd> {
        if let Some(why) = notifications.everything {
            // What the queue could not hold may have been a directory.
            self.scan_all(&why);
        }
        for path in notifications.paths {
            if self.presence.is_fence(&path) {
                self.fences.push(path);
            } else if path.starts_with(self.presence.directory()) {
                // There is no notification for the directory itself while a file in it is open.
                if path.ends_with("lock") && !path.exists() {
                    return Err(TurnEnd::Ended(WatchEnd::Removed));
                }
            } else if self.options.executable.as_ref() == Some(&path) {
                self.check_executable()?;
            } else {
                self.hint(&path);
            }
        }
        Ok(())
    }

    fn check_executable(&self) -> Result<(), TurnEnd> {
        let now = self.options.executable.as_deref().and_then(identity);
        match self.executable.map(same_file) == now.map(same_file) {
            true => Ok(()),
            false => Err(TurnEnd::Ended(WatchEnd::Replaced)),
        }
    }

    /// Until when there is nothing to do without a notification.
    fn deadline(&self) -> Option<Instant> {
        let words = self.words.map(|(due, _)| due);
        let full = self.full.as_ref().map(|_| self.not_before);
        [words, full, self.proofs, Some(self.next_full)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether the wall clock went otherwise than time did: it was set, or the machine slept.
    fn clock_jumped(&mut self) -> bool {
        const DRIFT: Duration = Duration::from_secs(3);
        let (then, wall) = std::mem::replace(&mut self.clock, (Instant::now(), SystemTime::now()));
        let passed = then.elapsed();
        match self.clock.1.duration_since(wall) {
            Ok(by_wall) => by_wall.abs_diff(passed) > DRIFT,
            Err(back) => back.duration() + passed > DRIFT,
        }
    }
}

/// With fewer files than this, a scan takes no longer than asking a watcher.
const FEW_FILES: u64 = 1000;
/// How long to wait for a watcher's answer before scanning all files.
const PATIENCE: Duration = Duration::from_millis(20);

/// The index as a live watcher vouches for it; `None`: look for yourself.
pub(super) fn vouched_for(config: &Config) -> Result<Option<Index>, Error> {
    let Some(live) = ReaderFence::find(config) else {
        return Ok(None);
    };
    if live.state.files < FEW_FILES || !live.state.vouches {
        return Ok(None);
    }
    // Whatever is wrong with the catalogue, the usual way finds out.
    let path = config.catalogue_path();
    let Ok(Some(catalogue)) = Catalogue::open_readable(&path) else {
        return Ok(None);
    };
    if Catalogue::condemned(&path).is_some() {
        return Ok(None);
    }
    let mut config = config.clone();
    config.add_project_roots(&catalogue)?;
    // A session that came in the meantime may name a folder that was not asked for.
    if !live.vouches(&config, PATIENCE) || !config.add_project_roots(&catalogue)?.is_empty() {
        return Ok(None);
    }
    Ok(Some(Index {
        heals: true,
        ..Index::of(config, catalogue)
    }))
}

/// Wait until a live watcher has brought the catalogue up to what is on disk now; how long that
/// took. `None` when it took longer than `most`, or no live watcher vouches for all roots of
/// `config`.
pub fn caught_up(config: &Config, most: Duration) -> Option<Duration> {
    let started = Instant::now();
    let config = config.held().ok()?;
    let live = ReaderFence::find(&config)?;
    live.vouches(&config, most).then(|| started.elapsed())
}

impl Index {
    /// The live watcher, if there is one, and how far it is behind.
    pub(super) fn watcher(&self) -> Option<WatcherStatus> {
        // Long enough to tell a busy one from one that hangs.
        const LONG: Duration = Duration::from_millis(500);
        let live = ReaderFence::find(&self.stores.config)?;
        let lag = live.state.watches.then(|| live.ask(LONG)).flatten();
        Some(WatcherStatus {
            pid: live.state.pid,
            since: iso(live.state.since_ms),
            since_ms: Some(live.state.since_ms),
            mode: match live.state.watches {
                true => WatchMode::Watch,
                false => WatchMode::Poll,
            },
            why: live.state.why,
            directories: live.state.directories,
            lag_ms: lag.map(|lag| lag.as_secs_f64() * 1000.0),
        })
    }
}

/// What stands at a path.
fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|m| Identity::of(&m))
}

/// The identity of a program file without its ctime, which changes with every new link to it.
fn same_file(identity: Identity) -> Identity {
    Identity {
        ctime_ns: 0,
        ..identity
    }
}
