//! Whose turn is it to write? A watcher releases the lock between two syncs, a process in the
//! background between two batches. A process that finds the lock taken waits for it.

use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::progress::{self, Progress};
use super::turns;
use super::watch::barrier::{self, ReaderFence};
use super::{Config, Error, Indexer};
use crate::archive;
use crate::catalogue;
use crate::model::Event;
use crate::source::identity::{Identity, file_at};
use crate::words::{self, WordsError, WordsLock};

/// How long to wait for the lock while another process writes, or only checks whether it is held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitPolicy {
    awaited: LockHolder,
    longest: Duration,
    /// How long a statement waits for another program's lock: one of ours would not be held
    /// meanwhile.
    pub statements: Duration,
    /// How long it waits for who uses the archive, where what was forgotten is to be wiped from it.
    /// `None`: nobody asked for that, so it is left to the next sync.
    pub archive: Option<Duration>,
}

/// Whose lock is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockHolder {
    Nobody,
    /// A live watcher or a process in the background, whose turns are short.
    TurnTaker,
    /// Any writer, and longer than agreed as long as it makes progress: a first sync may take
    /// minutes.
    Writer,
}

/// Do not wait for other processes.
pub(crate) const AT_ONCE: WaitPolicy = WaitPolicy {
    awaited: LockHolder::Nobody,
    longest: Duration::from_millis(250),
    statements: BRIEFLY,
    archive: Some(Duration::ZERO),
};
/// How long a read waits for a turn to end: of a watcher mostly some tenths of a millisecond. A
/// process in the background cuts its turn short, which takes some tenths of a second, and longer
/// where much else is done; without that wait the answer would lack what has just been said.
pub(crate) const MOMENT: WaitPolicy = WaitPolicy {
    awaited: LockHolder::TurnTaker,
    longest: Duration::from_secs(1),
    statements: BRIEFLY,
    archive: None,
};
/// How long a writer waits for any other writer, which may be indexing words.
pub(crate) const WHILE: WaitPolicy = WaitPolicy {
    awaited: LockHolder::Writer,
    longest: Duration::from_secs(60),
    statements: catalogue::PATIENCE,
    archive: Some(archive::PATIENCE),
};
/// How long the watcher waits: as long as any writer for the lock, but only briefly for a catalogue
/// that another program keeps locked. It tries again later and keeps nobody from the index
/// meanwhile.
pub(crate) const WATCHING: WaitPolicy = WaitPolicy {
    statements: BRIEFLY,
    archive: None,
    ..WHILE
};

/// How long between two looks whether a lock is free by now.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a process in the background lets others write between two batches.
const BREATH: Duration = Duration::from_millis(20);

/// How long a statement waits for another program's lock where there is an answer without it.
const BRIEFLY: Duration = Duration::from_millis(100);

impl WaitPolicy {
    /// Whether it waits for any writer. If not, the lock should not be released for a moment,
    /// because another process may take it and keep it for long.
    pub fn is_for_writers(self) -> bool {
        self.awaited == LockHolder::Writer
    }

    /// Why the lock was not taken.
    pub fn refusal(self, index_dir: &Path, generation: &Path) -> Error {
        Error::Busy {
            index_dir: index_dir.to_path_buf(),
            writer: progress::writer(generation),
            stalled: self.is_for_writers(),
        }
    }
}

/// The file by which the index is locked. When dropped it is unlocked, and not only closed: between
/// fork and exec a child process holds our files open, and with them the lock.
pub(super) struct WriterLock {
    file: File,
    /// Not where it was given up, and could not be had again.
    is_held: Cell<bool>,
    /// What the holder of the lock reports about its work.
    pub progress: Arc<Progress>,
}

impl WriterLock {
    /// Of a file that is locked, in the directory of a generation.
    pub fn of(file: File, generation: &Path) -> Self {
        let progress = Arc::new(Progress::new(generation));
        progress.step();
        let is_held = Cell::new(true);
        Self {
            file,
            is_held,
            progress,
        }
    }
}

impl Deref for WriterLock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        self.progress.end();
        // Where that fails, closing it is what is left.
        let _ = self.file.unlock();
    }
}

/// Take the writer lock of a generation. While it waits it calls `waits` again and again, which
/// says whether to keep waiting. `false`: another process is at work.
pub(crate) fn lock_within(
    generation: &Path,
    lock: &File,
    patience: WaitPolicy,
    waits: &mut dyn FnMut() -> bool,
) -> io::Result<bool> {
    let (mut began, mut state) = (Instant::now(), None);
    let (mut takes_turns, mut asking) = (None, None);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let waited = began.elapsed();
                let gets_on = patience.is_for_writers();
                let mut takes_turns = || {
                    *takes_turns.get_or_insert_with(|| {
                        ReaderFence::find_in(generation).is_some() || turns::is_at_work(generation)
                    })
                };
                let is_awaited = match patience.awaited {
                    LockHolder::Nobody => false,
                    LockHolder::TurnTaker => takes_turns(),
                    LockHolder::Writer => true,
                };
                if !is_awaited && !is_only_asked_for(lock)? {
                    return Ok(false);
                }
                asking = asking.or_else(|| turns::WaiterLock::begin(generation));
                if gets_on && state.is_none() {
                    state = Some(progress::state(generation));
                }
                if waited >= patience.longest {
                    let now = gets_on.then(|| progress::state(generation));
                    if now == state {
                        return Ok(false);
                    }
                    (began, state) = (Instant::now(), now);
                }
                if !waits() {
                    return Ok(false);
                }
                let pause = waited / 4;
                sleep(pause.clamp(Duration::from_micros(100), Duration::from_millis(10)));
            }
        }
    }
}

/// Whether this is still the index's lock: the lock file is removed together with an index.
pub(super) fn stands_at(path: &Path, lock: &File) -> bool {
    match (file_at(path), lock.metadata()) {
        (Some(at_path), Ok(held)) => at_path == Identity::of(&held).file(),
        _ => false,
    }
}

/// Whether no process holds the lock for writing: [`super::Index::has_writer`] shares it for a
/// moment.
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
        self.lock.is_held.set(false);
        self.lock.progress.end();
        self.lock.unlock().map_err(|e| Error::io(&path, e))
    }

    /// Take the lock again. `false`: another process is at work, or the index was removed.
    pub(super) fn take_turn(&mut self) -> Result<bool, Error> {
        match self.lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => {
                return Err(Error::io(&self.config.catalogue_path(), error));
            }
        }
        if self.is_removed() {
            return Ok(false);
        }
        self.go_on()?;
        Ok(true)
    }

    /// With the lock again.
    fn go_on(&mut self) -> Result<(), Error> {
        // Another process may have rebuilt a damaged catalogue.
        if self.catalogue.file() != file_at(&self.config.catalogue_path()) {
            self.catalogue = self.open_catalogue()?;
        }
        self.lock.is_held.set(true);
        self.lock.progress.step();
        Ok(())
    }

    /// Make sure that the lock is held: an indexer that had an error may have released it.
    ///
    /// # Errors
    /// As of [`Indexer::while_others_write`].
    pub(super) fn hold(&mut self) -> Result<(), Error> {
        match self.lock.is_held.get() {
            true => Ok(()),
            false => self.while_others_write(|| ()),
        }
    }

    /// Release the lock while another process merges the words, and take it again, so that other
    /// writers need not wait for the merge. `false`: it takes too long, or this indexer is not to
    /// wait.
    ///
    /// # Errors
    /// As of [`Indexer::while_others_write`].
    pub(super) fn let_others_merge(&mut self, began: Instant) -> Result<bool, Error> {
        if !self.patience.is_for_writers() {
            return Ok(false);
        }
        let directory = self.config.words_dir();
        let cancel = self.config.cancel.clone();
        self.while_others_write(|| {
            while began.elapsed() < words::PATIENCE && !cancel.is_cancelled() {
                match WordsLock::take_existing(&directory, PAUSE) {
                    Err(WordsError::Busy) => {}
                    // An error in the words is reported when they are written.
                    _ => return true,
                }
            }
            false
        })
    }

    /// Do this without the lock, and take it again: for what takes long and needs the words alone.
    ///
    /// # Errors
    /// [`Error::Busy`] when the lock is not to be had again, [`Error::Cancelled`] when that was
    /// called off, and [one that says](Error::is_replaced) that the index was removed. Before more
    /// is written by this one it has to [hold](Indexer::hold) the lock again.
    pub(super) fn while_others_write<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Error> {
        self.give_way()?;
        let done = work();
        let generation = self.config.generation_dir();
        let mut waits = || !self.config.cancel.is_cancelled() && !self.is_removed();
        let taken = lock_within(&generation, &self.lock, self.patience, &mut waits);
        let is_taken = taken.map_err(|error| Error::io(&generation, error))?;
        if self.is_removed() {
            let path = self.config.catalogue_path();
            return Err(catalogue::Error::Replaced { path }.into());
        }
        if !is_taken {
            return Err(match self.config.cancel.is_cancelled() {
                true => Error::Cancelled,
                false => self.patience.refusal(&self.config.index_dir, &generation),
            });
        }
        self.go_on()?;
        Ok(done)
    }

    /// Whether the index was removed: the lock that is held protects nothing any more.
    pub(super) fn is_removed(&self) -> bool {
        let path = self.config.generation_dir().join("lock");
        !stands_at(&path, &self.lock)
    }

    /// Let others write, and take the lock again. `false`: it is not to be had before `ends`, or
    /// nobody wants it any more.
    ///
    /// # Errors
    /// [One that says](Error::is_replaced) that the index was removed.
    pub(super) fn let_others_write(
        &mut self,
        ends: Instant,
        progress: &mut dyn FnMut(Event),
    ) -> Result<bool, Error> {
        self.give_way()?;
        let mut pause = BREATH;
        loop {
            progress(Event::Waiting);
            sleep(pause);
            if self.is_removed() {
                let path = self.config.catalogue_path();
                return Err(catalogue::Error::Replaced { path }.into());
            }
            if self.config.cancel.is_cancelled() || Instant::now() >= ends {
                return Ok(false);
            }
            if self.take_turn()? {
                return Ok(true);
            }
            pause = PAUSE;
        }
    }
}

/// Whether a sync in this process would do what a watcher does anyway.
pub(super) fn is_watched(config: &Config) -> bool {
    ReaderFence::find(config).is_some()
}

/// Waits until no process is the watcher of the index.
pub(super) fn wait_while_watched(config: &Config) {
    barrier::wait_while_locked(&config.generation_dir());
}

#[cfg(test)]
mod tests;
