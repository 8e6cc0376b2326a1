//! How is the archive opened, and whose sessions are kept in it?

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row, params};
use sessionary_formats::identity::{FileId, file_at};

use super::error::Error;
use crate::failpoint::reach;
use crate::private;
use crate::sqlite_file::{beside, uri};

/// "SESA" in SQLite's application_id.
const APPLICATION_ID: i32 = 0x5345_5341;
/// One step a file, numbered by `user_version`.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_archive.sql"),
    include_str!("../../migrations/0002_archive_wipe.sql"),
    include_str!("../../migrations/0003_archive_changes.sql"),
];
/// How long a statement waits for another process, as a sync of another index.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The file in the archive's folder.
const FILE: &str = "archive.sqlite";
/// Stands for every agent that has no row of its own.
const EVERY_AGENT: &str = "*";

/// An open archive.
pub struct Archive {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    id: String,
    /// Which file it is: another one may stand at the path by now.
    file: Option<FileId>,
    /// How many changes were made by this one since that was asked.
    own_changes: Cell<i64>,
}

impl Archive {
    /// Whether there is one in this folder.
    pub fn exists(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Open the archive in this folder for writing; made when missing. The caller holds the writer
    /// lock of its index. Nothing is written but by [`Archive::begin`].
    ///
    /// # Errors
    /// When it cannot be opened, is none of ours or of a newer version.
    pub fn open_writable(folder: &Path) -> Result<Archive, Error> {
        let path = folder.join(FILE);
        // Before SQLite makes it, which would follow the umask. Never opened when it is there: to
        // close it again would give up all locks of this process on it (POSIX).
        let made = reach("archive.create").and_then(|()| {
            private::create_dir_all(folder)?;
            private::options().create_new(true).append(true).open(&path)
        });
        match made {
            Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::Io { path, source });
            }
            _ => {}
        }
        // Before it is opened: one that takes its place meanwhile is found to be another one.
        let file = file_at(&path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags);
        let connection = opened.map_err(|error| at(&path, error))?;
        let archive = Archive {
            connection,
            path,
            id: String::new(),
            file,
            own_changes: Cell::new(0),
        };
        archive.prepare()?.with_id()
    }

    /// Open it for reading; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be opened, is none of ours or of a newer version.
    pub fn open_readable(folder: &Path) -> Result<Option<Archive>, Error> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let opened = |name: &Path| -> Result<Option<Archive>, Error> {
            let opened = Connection::open_with_flags(name, flags);
            let connection = opened.map_err(|error| at(&path, error))?;
            let archive = Archive {
                connection,
                path: path.clone(),
                id: String::new(),
                file: file_at(&path),
                own_changes: Cell::new(0),
            };
            archive.with(|c| c.busy_timeout(PATIENCE))?;
            match archive.version()? {
                0 => Ok(None),
                _ => archive.with_id().map(Some),
            }
        };
        opened(&path).or_else(|first: Error| {
            // On a disk that is full or may not be written there is no room for the file in which
            // readers and writers meet. It is read alone then, if it is all there is.
            match first.lacks_room() && size(&beside(&path, "-wal")) == 0 {
                true => opened(Path::new(&uri(&path, "immutable=1"))).map_err(|_| first),
                false => Err(first),
            }
        })
    }

    /// Whether another file stands at its path by now, or none.
    pub fn is_replaced(&self) -> bool {
        file_at(&self.path) != self.file
    }

    /// Its version; 0 while it is empty.
    fn version(&self) -> Result<u32, Error> {
        let (version, found, tables): (u32, i32, i64) = self.with(|c| {
            Ok((
                c.pragma_query_value(None, "user_version", |r| r.get(0))?,
                c.pragma_query_value(None, "application_id", |r| r.get(0))?,
                c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?,
            ))
        })?;
        let path = self.path.clone();
        if found != APPLICATION_ID && (found != 0 || tables != 0) {
            return Err(Error::Foreign { path, found });
        }
        let known = MIGRATIONS.len() as u32;
        match version > known {
            true => Err(Error::Newer {
                path,
                found: version,
                known,
            }),
            false => Ok(version),
        }
    }

    fn prepare(self) -> Result<Archive, Error> {
        self.with(|c| c.busy_timeout(PATIENCE))?;
        let version = self.version()?;
        self.with(|c| {
            if version == 0 {
                // Pages that become free can be given back to the system.
                c.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            }
            c.pragma_update(None, "journal_mode", "WAL")?;
            // A commit is on the disk before the catalogue relies on it.
            c.pragma_update(None, "synchronous", "FULL")?;
            // What is removed is overwritten.
            c.pragma_update(None, "secure_delete", "ON")?;
            c.pragma_update(None, "foreign_keys", "OFF")?;
            c.set_prepared_statement_cache_capacity(32);
            Ok(())
        })?;
        if (version as usize) < MIGRATIONS.len() {
            self.begin()?;
            // Another process, with the lock of another index, may have been first.
            let version = self.version()?;
            self.with(|c| {
                c.pragma_update(None, "application_id", APPLICATION_ID)?;
                for step in &MIGRATIONS[version as usize..] {
                    c.execute_batch(step)?;
                }
                c.pragma_update(None, "user_version", MIGRATIONS.len() as u32)
            })?;
            self.commit()?;
        }
        Ok(self)
    }

    fn with_id(mut self) -> Result<Archive, Error> {
        self.id = self.one("SELECT archive FROM store", [], |r| r.get(0))?;
        Ok(self)
    }

    /// Which archive this is: 16 hexadecimal digits, given when it was made.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How often something in it was kept, renamed or forgotten.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn changes(&self) -> Result<i64, Error> {
        self.one("SELECT changes FROM store", [], |r| r.get(0))
    }

    /// How often something was forgotten.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn forgets(&self) -> Result<i64, Error> {
        self.one("SELECT forgets FROM store", [], |r| r.get(0))
    }

    /// Count a change.
    pub(super) fn note_change(&self) -> Result<(), Error> {
        let note = "UPDATE store SET changes = changes + 1";
        self.own_changes.set(self.own_changes.get() + 1);
        self.execute(note, []).map(drop)
    }

    /// How many of the changes were made here since this was last asked.
    pub fn take_own_changes(&self) -> i64 {
        self.own_changes.take()
    }

    /// It is an older copy of an archive that had so many changes. From now on it is another one,
    /// for every catalogue that knew that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn renew_id(&mut self, changes: i64) -> Result<(), Error> {
        let renew = "UPDATE store SET archive = lower(hex(randomblob(8))), changes = ?1 + 1 RETURNING archive";
        self.id = self.transaction(|| self.one(renew, [changes], |r| r.get(0)))?;
        Ok(())
    }

    /// Begin to write, unless that was done.
    ///
    /// # Errors
    /// When another process writes it for long.
    pub fn begin(&self) -> Result<(), Error> {
        match self.connection.is_autocommit() {
            true => self.with(|c| c.execute_batch("BEGIN IMMEDIATE")),
            false => Ok(()),
        }
    }

    /// Make what was written since [`Archive::begin`] last; it is on the disk then.
    ///
    /// # Errors
    /// When it cannot be written; it is undone then.
    pub fn commit(&self) -> Result<(), Error> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        let committed = self
            .step("archive.commit")
            .and_then(|()| self.with(|c| c.execute_batch("COMMIT")));
        if committed.is_err() {
            self.rollback();
        }
        committed
    }

    /// Undo what was written since [`Archive::begin`].
    pub fn rollback(&self) {
        if !self.connection.is_autocommit() {
            // Closing the connection undoes it too.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Do this in one transaction.
    ///
    /// # Errors
    /// Those of the work and of writing; all of it is undone then.
    pub fn transaction<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.begin()?;
        let done = work().and_then(|done| self.commit().map(|()| done));
        if done.is_err() {
            self.rollback();
        }
        done
    }

    /// Whether this agent's sessions are kept; `unnamed`: also where those of all agents are.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn keeps(&self, agent: &str, unnamed: bool) -> Result<bool, Error> {
        Ok(self.asked_of(agent, unnamed)?.unwrap_or(false))
    }

    /// Whether somebody asked that this agent's sessions are kept, or that they are not; `None`:
    /// nobody said anything. Of whom is `unnamed` as in [`Archive::keeps`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn asked_of(&self, agent: &str, unnamed: bool) -> Result<Option<bool>, Error> {
        let kept = "SELECT is_kept FROM agents WHERE agent = ?1 OR (?3 AND agent = ?2) ORDER BY agent = ?2";
        self.first(kept, params![agent, EVERY_AGENT, unnamed], |r| r.get(0))
    }

    /// Keep the sessions of these agents from now on, or no longer; without names those of all.
    /// What is kept already stays.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn set_kept(&self, agents: &[String], is_kept: bool) -> Result<(), Error> {
        self.transaction(|| {
            if agents.is_empty() {
                // What was said of an agent by its name goes where it says the contrary.
                self.execute("DELETE FROM agents WHERE is_kept <> ?1", [is_kept])?;
            }
            let every = [EVERY_AGENT.to_owned()];
            let agents = if agents.is_empty() { &every } else { agents };
            for agent in agents {
                let set = "INSERT OR REPLACE INTO agents VALUES (?1, ?2)";
                self.execute(set, params![agent, is_kept])?;
            }
            Ok(())
        })
    }

    /// Fail at this step as if the disk had failed: see [`crate::failpoint`].
    pub(super) fn step(&self, name: &str) -> Result<(), Error> {
        reach(name).map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })
    }

    /// Statements with SQLite's error given its path.
    pub(super) fn with<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        run(&self.connection).map_err(|error| at(&self.path, error))
    }

    /// All rows of an answer.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_map(bound, make)?.collect())
    }

    /// The first row of an answer that may have none.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_row(bound, make).optional())
    }

    /// The first row of an answer that always has one.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_row(bound, make))
    }

    /// Run a statement that gives no rows; how many it changed.
    pub(super) fn execute(&self, sql: &str, bound: impl Params) -> Result<usize, Error> {
        self.with(|c| c.prepare_cached(sql)?.execute(bound))
    }

    /// Bytes in it are not what was kept.
    pub(super) fn damaged(&self, what: String) -> Error {
        Error::Damaged {
            path: self.path.clone(),
            what,
        }
    }
}

/// Bytes of a file; none where there is none.
pub(super) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

fn at(path: &Path, error: rusqlite::Error) -> Error {
    Error::Sqlite {
        path: path.to_path_buf(),
        error,
    }
}
