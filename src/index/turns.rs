//! Whose turn is it to write? Who watches gives the lock up between two syncs; who finds a watcher at work waits for it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Deref;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::watch::barrier::Live;
use super::{Config, Error, Indexer};
use crate::catalogue::Catalogue;
use crate::ingest::Pace;
use crate::model::Report;
use crate::source::identity::{Identity, file_at};
use crate::words::Merge;

/// Bytes of entries that a watcher gives to the words at once, about: some tenths of a second.
const SLICE_BYTES: u64 = 32 << 20;

/// How long a turn of a live watcher, or a look of somebody who only asks whether the lock is held, is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    longest: Duration,
    /// Nor longer, unless the watcher gets on: its first look may take minutes.
    while_it_gets_on: bool,
}

/// How long a read waits for a watcher's turn to end: mostly some tenths of a millisecond.
pub(super) const MOMENT: Patience = Patience {
    longest: Duration::from_millis(250),
    while_it_gets_on: false,
};
/// How long who writes waits for it: it may be indexing words.
pub(super) const WHILE: Patience = Patience {
    longest: Duration::from_secs(60),
    while_it_gets_on: true,
};

/// The file by which the index is locked. Dropped, it is unlocked, not only closed: a process that is being started holds what
/// we hold until it becomes another program, a lock too.
pub(super) struct Lock(pub File);

impl Deref for Lock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where that fails, closing it is what is left.
        let _ = self.0.unlock();
    }
}

/// Take the writer lock; `waits` is told again and again while a turn is waited for. `false`: somebody else is at work.
pub(super) fn lock_within(
    config: &Config,
    lock: &File,
    patience: Patience,
    waits: &mut dyn FnMut(),
) -> io::Result<bool> {
    let mut began = Instant::now();
    let mut written = None;
    let mut is_watched = None;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let waited = began.elapsed();
                let before = *written.get_or_insert_with(|| last_written(config));
                let mut is_watched =
                    || *is_watched.get_or_insert_with(|| Live::find(config).is_some());
                if !is_only_asked_for(lock)? && !is_watched() {
                    return Ok(false);
                }
                if waited >= patience.longest {
                    let now = last_written(config);
                    if !patience.while_it_gets_on || before == now {
                        return Ok(false);
                    }
                    (began, written) = (Instant::now(), Some(now));
                }
                waits();
                let pause = waited / 4;
                sleep(pause.clamp(Duration::from_micros(100), Duration::from_millis(10)));
            }
        }
    }
}

/// What tells whether somebody gets on with writing the index: when each of the stores was written last.
fn last_written(config: &Config) -> [Option<Identity>; 2] {
    let catalogue = config.generation_dir().join("catalogue.sqlite-wal");
    [catalogue, config.words_dir()].map(|path| fs::metadata(path).ok().map(|m| Identity::of(&m)))
}

/// Whether nobody holds the lock for writing: [`super::Index::has_writer`] shares it for a moment.
fn is_only_asked_for(lock: &File) -> io::Result<bool> {
    match lock.try_lock_shared() {
        Ok(()) => lock.unlock().map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Indexer {
    /// Give the lock up, and keep the catalogue open.
    pub(super) fn give_way(&self) -> Result<(), Error> {
        let path = self.config.generation_dir().join("lock");
        self.lock.unlock().map_err(|e| Error::io(&path, e))
    }

    /// Take it again. `false`: somebody else is at work, or the index was removed.
    pub(super) fn take_turn(&mut self) -> Result<bool, Error> {
        let path = self.config.catalogue_path();
        match self.lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(Error::io(&path, error)),
        }
        if self.is_removed() {
            return Ok(false);
        }
        // Somebody may have made a damaged catalogue anew.
        if self.catalogue.file() != file_at(&path) {
            self.catalogue = Catalogue::open_writable(&path, self.config.wal_bytes)?;
        }
        Ok(true)
    }

    /// Whether the index was removed: the lock that is held is nobody's any more.
    pub(super) fn is_removed(&self) -> bool {
        let path = self.config.generation_dir().join("lock");
        match (file_at(&path), self.lock.metadata()) {
            (Some(at_path), Ok(held)) => at_path != Identity::of(&held).file(),
            _ => true,
        }
    }

    /// Give the words what they are owed, for about so long, and begin to merge them where that is
    /// due. `false`: they cannot be written while they are merged, by us or somebody else.
    pub(super) fn index_words_in_slices(
        &mut self,
        slice: Duration,
        report: &mut Report,
    ) -> Result<bool, Error> {
        let pace = Pace {
            budget: Some(slice),
            batch: Some(SLICE_BYTES),
            leaves_merging: true,
        };
        let written = self.words_stage(pace, &mut |_| {}, report)?;
        self.merging.start(&self.config, Merge::All);
        Ok(written && !self.merging.is_going_on())
    }
}

/// Whether a sync in this process would do what a watcher does anyway.
pub(super) fn is_watched(config: &Config) -> bool {
    Live::find(config).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::watch::barrier::{Presence, State};

    #[test]
    fn what_is_dropped_is_unlocked_though_a_process_that_is_being_started_holds_it_too() {
        let place = tempfile::tempdir().unwrap();
        let config = Config::new(place.path().join("index"), Vec::new());
        let indexer = Indexer::open(&config).unwrap();
        let held_too = indexer.lock.try_clone().unwrap();
        drop(indexer);
        Indexer::open(&config).unwrap();
        drop(held_too);
    }

    #[test]
    fn who_asks_for_a_writer_keeps_none_away() {
        let place = tempfile::tempdir().unwrap();
        let config = Config::new(place.path().join("index"), Vec::new());
        drop(Indexer::open(&config).unwrap());
        let lock = File::open(config.generation_dir().join("lock")).unwrap();
        // As `has_writer` does, for longer.
        lock.lock_shared().unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| Indexer::open(&config).map(drop));
            sleep(Duration::from_millis(50));
            lock.unlock().unwrap();
            assert!(matches!(writer.join(), Ok(Ok(()))));
        });
        lock.lock().unwrap();
        let refused = Indexer::open(&config).map(drop);
        assert!(matches!(refused, Err(Error::Busy { .. })), "{refused:?}");
    }

    #[test]
    fn who_writes_waits_for_a_watcher_as_long_as_it_gets_on() {
        let place = tempfile::tempdir().unwrap();
        let config = Config::new(place.path().join("index"), Vec::new());
        drop(Indexer::open(&config).unwrap());
        let mut presence = Presence::new(&config).unwrap();
        presence.say(&State::new(0));
        let path = config.generation_dir().join("lock");
        let (held, lock) = (File::open(&path).unwrap(), File::open(&path).unwrap());
        held.lock().unwrap();
        let longest = Duration::from_millis(30);
        let patience = |while_it_gets_on| Patience {
            longest,
            while_it_gets_on,
        };
        let began = Instant::now();
        // It writes whenever it is waited for, and has done so for longer than anybody waits for one that hangs.
        let mut gets_on = || {
            let words = config.words_dir();
            fs::create_dir_all(words.join(began.elapsed().as_nanos().to_string())).unwrap();
            if began.elapsed() > longest * 10 {
                held.unlock().unwrap();
            }
        };
        let is_ours = lock_within(&config, &lock, patience(false), &mut gets_on).unwrap();
        assert!(!is_ours, "a reader does not");
        assert!(lock_within(&config, &lock, patience(true), &mut gets_on).unwrap());
        lock.unlock().unwrap();
        held.lock().unwrap();
        let is_ours = lock_within(&config, &lock, patience(true), &mut || {}).unwrap();
        assert!(!is_ours, "it hangs");
    }
}
