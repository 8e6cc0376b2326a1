//! May more be written? Not while somebody's read transaction keeps a long WAL from being shortened.
//!
//! SQLite's writer never waits for readers: it appends to the WAL, and a checkpoint copies into the database only what no
//! reader could still want the old state of. A read transaction that never ends therefore keeps every page written since
//! it began, and no setting changes that: the WAL is bounded only by writing no more. Readers see no harm in
//! it, and sessions are not lost: their files are the truth, and the next sync reads on from where this one stopped.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::open::{Catalogue, Error};

/// Bytes of WAL that are always allowed.
pub const WAL_BYTES: u64 = 64 << 20;
/// So many times the catalogue may stand in its WAL: enough to refill it while somebody reads.
const CATALOGUES: u64 = 2;
/// How long a checkpoint waits for readers: queries end, forgotten transactions do not.
const PATIENCE: Duration = Duration::from_millis(200);

impl Catalogue {
    /// Shorten the WAL when it has become long.
    ///
    /// # Errors
    /// [`Error::Blocked`] when a read transaction keeps it.
    pub(super) fn make_room(&self) -> Result<(), Error> {
        let Ok(wal) = std::fs::metadata(beside(self.path(), "-wal")) else {
            return Ok(());
        };
        let catalogue = std::fs::metadata(self.path()).map_or(0, |m| m.len());
        if wal.len() <= self.wal_bytes.max(CATALOGUES * catalogue) {
            return Ok(());
        }
        if self.empty_wal()? {
            return Ok(());
        }
        Err(Error::Blocked {
            path: self.path().to_path_buf(),
            bytes: wal.len(),
            readers: readers(self.path()),
        })
    }

    /// Copy all of the WAL into the database and cut it to nothing. `false`: a reader holds on to an older state.
    pub(super) fn empty_wal(&self) -> Result<bool, Error> {
        self.step("catalogue.checkpoint")?;
        let copier = self.copier.borrow();
        let _alone = copier.as_ref().map(Copier::wait);
        let c = &self.connection;
        let run = || -> rusqlite::Result<bool> {
            c.busy_timeout(PATIENCE)?;
            // 0: all of it was copied, and the file is empty.
            let emptied = c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| {
                r.get::<_, i64>(0)
            });
            c.busy_timeout(super::open::PATIENCE)?;
            Ok(emptied? == 0)
        };
        self.told(run())
    }
}

/// A thread that copies the WAL into the database, on a connection of its own, while the writer writes on: whoever copies
/// waits for the disk. What is left for the writer, when the WAL has become long, is what it has just written.
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
    fn wait(&self) -> MutexGuard<'_, ()> {
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

/// A file that SQLite keeps beside the database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Processes with a read transaction on the database, as people know them; none where the system does not tell.
#[cfg(target_os = "linux")]
fn readers(path: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;
    // A reader holds a shared lock on one of these bytes of the WAL index: see "WAL locks" in SQLite's walformat.html.
    const READ_LOCKS: std::ops::RangeInclusive<u64> = 123..=127;
    let Ok(index) = std::fs::metadata(beside(path, "-shm")) else {
        return Vec::new();
    };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut processes: Vec<u32> = locks
        .lines()
        .filter_map(|line| {
            // 1: POSIX  ADVISORY  READ 4711 fe:00:131078 123 123
            let fields: Vec<&str> = line.split_whitespace().collect();
            let ["POSIX", _, "READ", process, file, first, _] = fields.get(1..)? else {
                return None;
            };
            let inode: u64 = file.rsplit(':').next()?.parse().ok()?;
            let is_reader = inode == index.ino() && READ_LOCKS.contains(&first.parse().ok()?);
            process.parse().ok().filter(|_| is_reader)
        })
        .collect();
    processes.sort_unstable();
    processes.dedup();
    processes
        .into_iter()
        .map(|process| {
            let name = std::fs::read_to_string(format!("/proc/{process}/comm"));
            match name {
                Ok(name) => format!("process {process} ({})", name.trim()),
                Err(_) => format!("process {process}"),
            }
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn readers(_: &Path) -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_while_more_is_written_is_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogue.sqlite");
        let catalogue = Catalogue::open_writable(&path, 1 << 16).unwrap();
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
