//! Whose turn is it to write? Who watches gives the lock up between two syncs; who finds a watcher at work waits for it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::watch::barrier::Live;
use super::{Config, Error, Indexer};
use crate::catalogue::Catalogue;
use crate::model::Report;
use crate::source::identity::Identity;

/// Bytes of entries that a watcher gives to the words at once, about: some tenths of a second.
const SLICE_BYTES: u64 = 32 << 20;

/// Take the writer lock. Where a live watcher may hold it, or somebody who only asks whether it is held, wait for it so
/// long; `false`: somebody else is at work.
pub(super) fn lock_within(config: &Config, lock: &File, patience: Duration) -> io::Result<bool> {
    let started = Instant::now();
    let mut is_watched = None;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let waited = started.elapsed();
                let mut is_watched =
                    || *is_watched.get_or_insert_with(|| Live::find(config).is_some());
                if waited >= patience || !is_only_asked_for(lock)? && !is_watched() {
                    return Ok(false);
                }
                let pause = waited / 4;
                sleep(pause.clamp(Duration::from_micros(100), Duration::from_millis(10)));
            }
        }
    }
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
        if self.opened != file_at(&path) {
            self.catalogue = Catalogue::open_writable(&path, self.config.wal_bytes)?;
            self.opened = file_at(&path);
        }
        Ok(true)
    }

    /// Whether the index was removed: the lock that is held is nobody's any more.
    pub(super) fn is_removed(&self) -> bool {
        let path = self.config.generation_dir().join("lock");
        match (fs::metadata(&path), self.lock.metadata()) {
            (Ok(at_path), Ok(held)) => key(&at_path) != key(&held),
            _ => true,
        }
    }

    /// Give the words what they are owed, for about so long.
    pub(super) fn index_words_in_slices(
        &mut self,
        slice: Duration,
        report: &mut Report,
    ) -> Result<(), Error> {
        self.words_stage(Some(slice), SLICE_BYTES, &mut |_| {}, report)
    }
}

/// The file at a path: device and inode, where the system has them.
pub(super) fn file_at(path: &std::path::Path) -> Option<(i64, i64)> {
    fs::metadata(path).ok().map(|metadata| key(&metadata))
}

fn key(metadata: &fs::Metadata) -> (i64, i64) {
    let Identity { device, inode, .. } = Identity::of(metadata);
    (device, inode)
}

/// How long a read waits for a watcher's turn to end: mostly some tenths of a millisecond.
pub(super) const MOMENT: Duration = Duration::from_millis(250);
/// How long who writes waits for it: it may be indexing words.
pub(super) const WHILE: Duration = Duration::from_secs(60);

/// Whether a sync in this process would do what a watcher does anyway.
pub(super) fn is_watched(config: &Config) -> bool {
    Live::find(config).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
