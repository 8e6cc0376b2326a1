//! What does a live watcher vouch for, and how is it asked whether the index equals the files now?
//!
//! A watcher holds a lock on `watch/lock` as long as it lives, and says in `watch/state.json` what
//! it watches. A reader that wants to know creates a *fence*, a file beside these. Its notification
//! comes in the same queue as those of session files. So when the watcher reaches it, everything
//! reported before is in the catalogue, and the watcher removes the fence. A heartbeat would only
//! prove that the process is alive; this proves that it is not behind.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::catalogue::CONTRACT_VERSION;
use crate::config::Config;
use crate::error::Error;
use crate::private;
use crate::source::checkpoint::hash;
use crate::source::root::RootSpec;

/// What the names of fences begin with.
const FENCE: &str = "ask-";
/// No reader waits any more for fences of this age.
const STALE: Duration = Duration::from_secs(60);

const LOCK: &str = "lock";
const STATE: &str = "state.json";
/// The state is written under this name first, and then renamed.
const NEW_STATE: &str = "state.new";

/// Whether a file of this name was made by a watcher or by a reader that asks one.
pub fn is_ours(name: &str) -> bool {
    let is_fence = |rest: &str| {
        let number = |part: &str| part.parse::<u64>().is_ok();
        rest.split_once('-')
            .is_some_and(|(process, of)| number(process) && number(of))
    };
    [LOCK, STATE, NEW_STATE].contains(&name) || name.strip_prefix(FENCE).is_some_and(is_fence)
}

/// How often the lock is tried.
const TRIES: u32 = 5;

/// What a watcher says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatcherState {
    version: String,
    contract: u32,
    /// Its process.
    pub pid: u32,
    /// Since when, in ms.
    pub since_ms: i64,
    /// Whether all roots are watched; else they are polled.
    pub watches: bool,
    /// Whether an answered fence proves that the catalogue equals the files.
    pub vouches: bool,
    /// Why not.
    pub why: Option<String>,
    /// Directories that are watched.
    pub directories: u64,
    /// Number of files at the last full scan.
    pub files: u64,
    /// Hashes of the roots with all that decides how they are read.
    roots: BTreeSet<u64>,
}

impl WatcherState {
    /// The state of a watcher that has scanned nothing yet.
    pub fn new(since_ms: i64) -> WatcherState {
        WatcherState {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            contract: CONTRACT_VERSION,
            pid: process::id(),
            since_ms,
            watches: false,
            vouches: false,
            why: Some("it has just begun".to_owned()),
            directories: 0,
            files: 0,
            roots: BTreeSet::new(),
        }
    }

    /// Name the roots it keeps up to date.
    pub fn set_roots(&mut self, config: &Config) {
        self.roots = config.roots.iter().map(|root| key(root, config)).collect();
    }

    /// Whether its word counts for all of these roots.
    pub fn covers(&self, config: &Config) -> bool {
        let mut roots = config.roots.iter();
        self.vouches
            && self.version == env!("CARGO_PKG_VERSION")
            && self.contract == CONTRACT_VERSION
            && roots.all(|root| self.roots.contains(&key(root, config)))
    }
}

fn key(root: &RootSpec, config: &Config) -> u64 {
    let parts = (
        &root.agent,
        &root.format,
        &root.path,
        &root.label,
        root.flat,
    );
    hash(format!("{parts:?} {:?}", config.left_out_by()).as_bytes())
}

/// Absolute, as the paths in notifications are.
fn directory(generation: &Path) -> PathBuf {
    let directory = generation.join("watch");
    std::path::absolute(&directory).unwrap_or(directory)
}

/// The watcher's side.
pub struct WatcherFence {
    directory: PathBuf,
    said: Option<WatcherState>,
    _lock: File,
}

impl WatcherFence {
    /// Be the one watcher of this index.
    ///
    /// # Errors
    /// [`Error::Watched`] when there is one.
    pub fn new(config: &Config) -> Result<WatcherFence, Error> {
        let directory = directory(&config.generation_dir());
        private::create_dir_all(&directory).map_err(|e| Error::io(&directory, e))?;
        let path = directory.join(LOCK);
        let lock = private::open_or_create(&path).map_err(|e| Error::io(&path, e))?;
        // Readers hold it for a moment to see whether anybody does.
        let mut tries = 0;
        while let Err(refused) = lock.try_lock() {
            match refused {
                TryLockError::Error(error) => return Err(Error::io(&path, error)),
                TryLockError::WouldBlock if tries == TRIES => {
                    return Err(Error::Watched {
                        index_dir: config.index_dir.clone(),
                    });
                }
                TryLockError::WouldBlock => sleep(Duration::from_millis(2)),
            }
            tries += 1;
        }
        // What another one left behind.
        let _ = fs::remove_file(directory.join(STATE));
        Ok(WatcherFence {
            directory,
            said: None,
            _lock: lock,
        })
    }

    /// Where fences are made.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether this is the path of a fence.
    pub fn is_fence(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        path.parent() == Some(&*self.directory) && name.is_some_and(|name| name.starts_with(FENCE))
    }

    /// Publish what is watched, if that has changed. `false`: it cannot be written now. Then
    /// nothing is published, and readers scan for themselves.
    pub fn say(&mut self, state: &WatcherState) -> bool {
        if self.said.as_ref() == Some(state) {
            return true;
        }
        let (new, path) = (self.directory.join(NEW_STATE), self.directory.join(STATE));
        let json = serde_json::to_vec(state).unwrap_or_default();
        let said = private::write(&new, json).and_then(|()| fs::rename(&new, &path));
        if said.is_err() {
            // This needs no room.
            let _ = fs::remove_file(&path);
        }
        self.said = said.is_ok().then(|| state.clone());
        said.is_ok()
    }

    /// Answer a fence: everything that was reported before it is in the catalogue.
    pub fn answer(&self, fence: &Path) {
        // If it is gone already, its reader has stopped waiting.
        let _ = fs::remove_file(fence);
    }

    /// After a full scan that began at this time, remove the fences of readers that were killed
    /// while they waited. If a reader still waits for one, the answer is true all the same.
    pub fn sweep(&self, began: SystemTime) {
        let Ok(names) = fs::read_dir(&self.directory) else {
            return;
        };
        for name in names.flatten() {
            let made = name.metadata().and_then(|metadata| metadata.modified());
            let age = made.map(|made| began.duration_since(made));
            if self.is_fence(&name.path()) && matches!(age, Ok(Ok(age)) if age > STALE) {
                self.answer(&name.path());
            }
        }
    }
}

impl Drop for WatcherFence {
    fn drop(&mut self) {
        // After the index was removed another process may watch at this place.
        if read(&self.directory).is_some_and(|state| Some(&state) == self.said.as_ref()) {
            let _ = fs::remove_file(self.directory.join(STATE));
        }
    }
}

/// A reader's side: a watcher that lives.
pub struct ReaderFence {
    directory: PathBuf,
    /// What it says of itself.
    pub state: WatcherState,
}

impl ReaderFence {
    /// The live watcher of the index, if there is one.
    pub fn find(config: &Config) -> Option<ReaderFence> {
        ReaderFence::find_in(&config.generation_dir())
    }

    /// The live watcher of the index in this directory of a generation, if there is one.
    pub fn find_in(generation: &Path) -> Option<ReaderFence> {
        let directory = directory(generation);
        let lock = File::open(directory.join(LOCK)).ok()?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            _ => return None,
        }
        let state = read(&directory)?;
        Some(ReaderFence { directory, state })
    }

    /// Wait until all that is on disk now is in the catalogue, but no longer than `patience`; how
    /// long it took.
    pub fn ask(&self, patience: Duration) -> Option<Duration> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{FENCE}{}-{number}", process::id());
        let fence = self.directory.join(name);
        let started = Instant::now();
        private::options()
            .create_new(true)
            .write(true)
            .open(&fence)
            .ok()?;
        loop {
            let waited = started.elapsed();
            if !fence.exists() {
                return Some(waited);
            }
            if waited >= patience {
                let _ = fs::remove_file(&fence);
                return None;
            }
            // An answer takes some tenths of a millisecond; what takes longer is asked for less
            // often.
            sleep((waited / 8).clamp(Duration::from_micros(20), Duration::from_millis(2)));
        }
    }

    /// Wait until all that is on disk now is in the catalogue, but no longer than `patience`.
    /// Whether that is reached, and the watcher still vouches for all roots of `config`.
    pub fn vouches(&self, config: &Config, patience: Duration) -> bool {
        self.state.covers(config)
            && self.ask(patience).is_some()
            // Meanwhile it may have found out that it misses notifications.
            && read(&self.directory).is_some_and(|state| state.covers(config))
    }
}

/// Waits until no watcher holds its lock on the index in this directory of a generation. Where that
/// cannot be waited for, it has ended.
pub fn wait_while_locked(generation: &Path) {
    let Ok(lock) = File::open(directory(generation).join(LOCK)) else {
        return;
    };
    while let Err(error) = lock.lock_shared() {
        if error.kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
    // A process that is started at this moment would keep it.
    let _ = lock.unlock();
}

fn read(directory: &Path) -> Option<WatcherState> {
    let json = fs::read(directory.join(STATE)).ok()?;
    serde_json::from_slice(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fences_of_long_ago_are_swept() {
        let place = tempfile::tempdir().unwrap();
        let config = Config::new(place.path().join("index"), Vec::new());
        let presence = WatcherFence::new(&config).unwrap();
        let now = SystemTime::now();
        for (name, age) in [
            ("ask-1-0", STALE * 2),
            ("ask-2-0", STALE / 2),
            ("other", STALE * 2),
        ] {
            let file = File::create(presence.directory().join(name)).unwrap();
            file.set_modified(now - age).unwrap();
        }
        presence.sweep(now);
        let left =
            ["ask-1-0", "ask-2-0", "other"].map(|name| presence.directory().join(name).exists());
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn there_is_one_watcher_and_its_word_goes_with_it() {
        let place = tempfile::tempdir().unwrap();
        let config = Config::new(place.path().join("index"), Vec::new());
        let mut presence = WatcherFence::new(&config).unwrap();
        let second = WatcherFence::new(&config).map(drop);
        assert!(matches!(second, Err(Error::Watched { .. })), "{second:?}");
        assert!(
            ReaderFence::find(&config).is_none(),
            "it has said nothing yet"
        );
        let state = WatcherState::new(0);
        assert!(presence.say(&state));
        assert_eq!(
            ReaderFence::find(&config).map(|live| live.state),
            Some(state)
        );
        drop(presence);
        assert!(ReaderFence::find(&config).is_none());
        assert!(read(&directory(&config.generation_dir())).is_none());
    }
}
