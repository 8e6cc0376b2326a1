//! Who copies the WAL into the database while an empty catalogue is filled? A thread beside the writer.
//!
//! Whoever copies waits for the disk, and while the writer does, so do all who read for it. A checkpoint needs nothing of a writer,
//! who writes on behind it. What is left for the writer's own, when the WAL has become long, is what it has just written.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use rusqlite::{Connection, OpenFlags};

/// A thread with a connection of its own.
pub(super) struct Copier {
    wake: Option<SyncSender<()>>,
    at_work: Arc<Mutex<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Copier {
    /// `None`: the writer copies everything itself.
    pub fn start(path: &Path) -> Option<Copier> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).ok()?;
        connection
            .pragma_update(None, "synchronous", "NORMAL")
            .ok()?;
        let (wake, woken) = sync_channel(1);
        let at_work = Arc::new(Mutex::new(()));
        let works = Arc::clone(&at_work);
        let thread = Builder::new().name("checkpoint".into()).spawn(move || {
            for () in woken {
                let _works = works.lock().unwrap_or_else(PoisonError::into_inner);
                // What fails here the writer's own checkpoint meets again.
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        });
        Some(Copier {
            wake: Some(wake),
            at_work,
            thread: Some(thread.ok()?),
        })
    }

    /// There may be something to copy.
    pub fn wake(&self) {
        // Awake already, or gone: both are well.
        let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
    }

    /// Wait until it has done what it is at; it does nothing while the guard lives.
    pub fn wait(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.wake = None;
        // A thread that panicked has told so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::catalogue::{Catalogue, PATIENCE};

    #[test]
    fn it_copies_what_the_writer_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogue.sqlite");
        let catalogue = Catalogue::open_writable(&path, 1 << 30, PATIENCE).unwrap();
        let c = &catalogue.connection;
        c.execute_batch("CREATE TABLE much (bytes BLOB)").unwrap();
        catalogue.checkpoint_beside(true).unwrap();
        c.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        let long = || std::fs::metadata(&path).unwrap().len() > 500_000;
        assert!(!long());
        // Each commit wakes it; it need not be done before the next.
        let patience = Instant::now() + Duration::from_secs(60);
        while !long() {
            assert!(Instant::now() < patience, "nothing is copied");
            catalogue.begin().unwrap();
            let insert = "INSERT INTO much VALUES (randomblob(50000))";
            c.execute_batch(insert).unwrap();
            catalogue.commit().unwrap();
        }
    }

    #[test]
    fn what_is_copied_while_more_is_written_is_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogue.sqlite");
        let catalogue = Catalogue::open_writable(&path, 1 << 16, PATIENCE).unwrap();
        let c = &catalogue.connection;
        c.execute_batch("CREATE TABLE much (bytes BLOB)").unwrap();
        catalogue.checkpoint_beside(true).unwrap();
        assert!(catalogue.copier.borrow().is_some());
        // The WAL is longer than it may be again and again: then it is emptied, and nobody reads.
        for _ in 0..200 {
            catalogue.begin().unwrap();
            let insert = "INSERT INTO much VALUES (randomblob(50000))";
            c.execute_batch(insert).unwrap();
            catalogue.commit().unwrap();
        }
        catalogue.checkpoint_beside(false).unwrap();
        assert!(catalogue.copier.borrow().is_none());
        let other = Catalogue::open_readable(&path).unwrap().unwrap();
        let told = |what: &str| {
            let value = other
                .connection
                .query_row(what, [], |r| r.get::<_, rusqlite::types::Value>(0));
            value.unwrap()
        };
        assert_eq!(told("SELECT count(*) FROM much"), 200.into());
        assert_eq!(told("PRAGMA integrity_check"), "ok".to_owned().into());
    }
}
