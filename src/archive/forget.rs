//! How is a source forgotten, so that not even a free page holds its bytes?

use std::time::Duration;

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::error::Error;
use super::open::{Archive, PATIENCE};
use super::sources::{SessionName, SourcePath};

impl Archive {
    /// Forget every content of a source; whether there was one. Blocks that another source holds
    /// stay. `for_good`: nothing of it is kept again. [`Archive::wipe`] has to follow the commit.
    /// Within a transaction.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget(&self, place: &SourcePath, for_good: bool) -> Result<bool, Error> {
        if for_good {
            let add = "INSERT OR IGNORE INTO forgotten VALUES (?1)";
            self.execute(add, params![hash(place)])?;
        }
        let Some(source) = self.source(place)? else {
            return Ok(false);
        };
        let of = "SELECT generation FROM generations WHERE source = ?1";
        for generation in self.all(of, [source], |r| r.get(0))? {
            self.cut_off(generation, 0)?;
        }
        self.execute("DELETE FROM generations WHERE source = ?1", [source])?;
        self.execute("DELETE FROM sources WHERE source = ?1", [source])?;
        self.note_change()?;
        self.execute(
            "UPDATE store SET unwiped = random(), forgets = forgets + 1",
            [],
        )?;
        self.step("archive.forget")?;
        Ok(true)
    }

    /// Keep nothing of a session again, whatever files it comes to have. Within a transaction.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget_session(&self, session: &SessionName) -> Result<(), Error> {
        for sum in session_hashes(session) {
            self.execute("INSERT OR IGNORE INTO forgotten VALUES (?1)", [sum])?;
        }
        Ok(())
    }

    /// Whether a session is never to be kept again.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn is_forgotten_session(&self, session: &SessionName) -> Result<bool, Error> {
        for sum in session_hashes(session) {
            if self.has_forgotten(sum)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether there is anything that is never to be kept again.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn forgets_any(&self) -> Result<bool, Error> {
        let any = "SELECT EXISTS (SELECT 1 FROM forgotten)";
        self.one(any, [], |r| r.get(0))
    }

    /// Whether a source is never to be kept again.
    pub(super) fn is_forgotten(&self, place: &SourcePath) -> Result<bool, Error> {
        self.has_forgotten(hash(place))
    }

    fn has_forgotten(&self, sum: [u8; 32]) -> Result<bool, Error> {
        let one = "SELECT 1 FROM forgotten WHERE place = ?1";
        Ok(self.first(one, [sum], |_| Ok(()))?.is_some())
    }

    /// Whether what was forgotten is still to be wiped.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn is_wipe_requested(&self) -> Result<bool, Error> {
        Ok(self.unwiped()?.is_some())
    }

    /// The number that whoever forgot something last has drawn; `None`: it is wiped.
    pub(super) fn unwiped(&self) -> Result<Option<i64>, Error> {
        self.one("SELECT unwiped FROM store", [], |r| r.get(0))
    }

    /// Leave nothing in the files but what is kept: the database is written anew, and the
    /// write-ahead log is emptied. Pages that become free are overwritten at once, but between the
    /// rows of those that stay there may be copies of rows that stood there once. `false`: another
    /// process still reads an older state, or writes, after this time, so this has to be done
    /// again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn wipe(&self, patience: Duration) -> Result<bool, Error> {
        self.step("archive.wipe")?;
        self.with(|c| c.busy_timeout(patience))?;
        let wiped = self.wipe_now();
        self.with(|c| c.busy_timeout(PATIENCE))?;
        match wiped {
            Err(error) if error.is_busy() => Ok(false),
            wiped => wiped,
        }
    }

    fn wipe_now(&self) -> Result<bool, Error> {
        let unwiped = self.unwiped()?;
        // It writes the whole database into the log. While that cannot be emptied, every attempt
        // would make it longer.
        if !self.empty_log()? {
            return Ok(false);
        }
        self.with(|c| {
            c.flush_prepared_statement_cache();
            c.execute_batch("VACUUM")
        })?;
        let is_wiped = self.empty_log()?;
        if is_wiped {
            // Only now, so that a wipe that was cut short is done again.
            self.note_wiped(unwiped)?;
        }
        Ok(is_wiped)
    }

    /// Copy the write-ahead log into the database, and leave it empty; whether that was done.
    fn empty_log(&self) -> Result<bool, Error> {
        let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
        let blocked: i64 = self.with(|c| c.query_row(empty, [], |r| r.get(0)))?;
        Ok(blocked == 0)
    }

    /// What was forgotten before this number was drawn is wiped; what another process has forgotten
    /// since is not.
    pub(super) fn note_wiped(&self, unwiped: Option<i64>) -> Result<(), Error> {
        let done = "UPDATE store SET unwiped = NULL WHERE unwiped = ?1";
        self.execute(done, [unwiped]).map(drop)
    }
}

/// By which a place is known that is not to be named.
fn hash(place: &SourcePath) -> [u8; 32] {
    let names = [
        &*place.agent,
        &*place.root.to_string_lossy(),
        &place.relative,
    ];
    Sha256::digest(names.join("\0")).into()
}

/// By which a session is known that is not to be named: its key, and an id that is given once in
/// the world. Others are given again, and another session would never be kept.
fn session_hashes(session: &SessionName) -> Vec<[u8; 32]> {
    let SessionName {
        agent,
        root,
        session_key,
        id,
    } = session;
    let root = root.to_string_lossy();
    let mut names = vec![["session", agent, &root, session_key].join("\0")];
    if is_uuid(id) {
        names.push(["id", agent, id, ""].join("\0"));
    }
    let sums = names.iter().map(|name| Sha256::digest(name).into());
    sums.collect()
}

fn is_uuid(id: &str) -> bool {
    let groups: Vec<&str> = id.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(is_hex)
}
