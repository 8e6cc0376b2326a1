//! How the catalogue is opened: pragmas, private modes, migrations, and what is refused.

use std::cell::RefCell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags};

use super::counted::PendingCounts;
use super::error::Error;
use super::locks;
use super::parents::RenamedSessions;
use super::sums::DirtyBlocks;
use super::wal::WAL_BYTES;
use crate::failpoint;
use crate::model::Zone;
#[cfg(unix)]
use crate::private;
use crate::repository::Remotes;
use crate::source::identity::{FileId, Identity, file_at};
use crate::sqlite_file::{beside, uri};

/// Name of the index directory's generation: a binary touches its own only.
pub const GENERATION: u32 = 5;
/// Version of the public views.
pub const CONTRACT_VERSION: u32 = 4;
/// "SESY" in SQLite's application_id.
pub const APPLICATION_ID: i32 = 0x5345_5359;

/// How long a statement waits for another process's lock, unless the caller asks for less.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How often opening is tried again when the catalogue is rebuilt meanwhile.
const TRIES: u32 = 3;

/// One step a file, numbered by `user_version`.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_catalogue.sql"),
    include_str!("../../migrations/0002_repositories.sql"),
    include_str!("../../migrations/0003_turns.sql"),
    include_str!("../../migrations/0004_sums.sql"),
    include_str!("../../migrations/0005_kept.sql"),
    include_str!("../../migrations/0006_moved.sql"),
    include_str!("../../migrations/0007_relations.sql"),
    include_str!("../../migrations/0008_parents.sql"),
    include_str!("../../migrations/0009_parents_elsewhere.sql"),
    include_str!("../../migrations/0010_largest.sql"),
];

/// An open catalogue.
pub struct Catalogue {
    pub(super) connection: Connection,
    /// Usage for which it has to be decided before the transaction ends which copy counts.
    pub(super) unsettled: RefCell<PendingCounts>,
    /// Blocks whose sums are computed again before the transaction ends.
    pub(super) touched: RefCell<DirtyBlocks>,
    /// Sessions whose parent, and whose children's, is found before the transaction ends.
    pub(super) renamed: RefCell<RenamedSessions>,
    /// How long the WAL may become while another process reads.
    pub(super) wal_bytes: u64,
    /// How long a statement waits for another process's lock.
    pub(super) patience: Duration,
    /// The zone in which a writer stores local days.
    pub(super) zone: Zone,
    /// Of which repositories directories are, as far as this sync has asked.
    pub(super) remotes: RefCell<Remotes>,
    path: PathBuf,
    file: Option<FileId>,
}

/// Pages kept by who only reads: a list reads every page once, and each page kept costs a page
/// fault.
const READING_CACHE_KIB: i32 = 1_000;
/// The page cache of a writer, which appends rows to a dozen trees.
const WRITING_CACHE_KIB: i32 = 16_000;

/// Pages in the WAL from which on each commit copies them into the database, and waits for the disk
/// twice.
const CHECKPOINT_PAGES: i32 = 8_000;

impl Catalogue {
    /// Whether nothing is lost by not closing it: nothing was written, and no earlier writer has
    /// left a WAL to be emptied.
    pub fn is_clean(&self) -> bool {
        let wal = beside(&self.path, "-wal");
        self.rows_written() == 0 && std::fs::metadata(wal).is_ok_and(|m| m.len() == 0)
    }

    /// Rows written by this connection so far.
    pub fn rows_written(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Keep a page cache that is large enough for writing much.
    pub fn keep_more_pages(&self) -> Result<(), Error> {
        let size = -WRITING_CACHE_KIB;
        self.with_path(self.connection.pragma_update(None, "cache_size", size))
    }

    /// Shrink the page cache to that of a reader and free the rest. This is for a process that
    /// stays open when the work is done.
    pub fn keep_few_pages(&self) -> Result<(), Error> {
        let size = -READING_CACHE_KIB;
        self.with_path(self.connection.pragma_update(None, "cache_size", size))
    }

    /// Whether the page cache is that of a reader.
    #[cfg(test)]
    pub fn keeps_few_pages(&self) -> bool {
        let size = self
            .connection
            .pragma_query_value(None, "cache_size", |r| r.get::<_, i32>(0));
        size == Ok(-READING_CACHE_KIB)
    }

    fn of(connection: Connection, path: &Path, file: Option<FileId>) -> Self {
        Self {
            connection,
            unsettled: RefCell::default(),
            touched: RefCell::default(),
            renamed: RefCell::default(),
            wal_bytes: WAL_BYTES,
            patience: PATIENCE,
            zone: Zone::UTC,
            remotes: RefCell::default(),
            path: path.to_path_buf(),
            file,
        }
    }

    /// Open for writing: made when missing, migrated when older. The caller holds the writer lock.
    /// `wal_bytes` is how long the WAL may become while another process reads, `patience` how long
    /// a statement waits for another program's lock. Local days will be those of `zone`, and
    /// `remotes` tells of which repositories working directories are.
    pub fn open_writable(
        path: &Path,
        wal_bytes: u64,
        patience: Duration,
        zone: &Zone,
        remotes: Remotes,
    ) -> Result<Catalogue, Error> {
        let make = || -> std::io::Result<()> {
            #[cfg(unix)]
            {
                // Made before SQLite does, because SQLite's mode follows the umask; -wal and -shm
                // follow the file's. Never opened when it is there: to close it again would give up
                // all locks of this process on it (POSIX).
                let made = private::options().create_new(true).append(true).open(path);
                match made {
                    Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    // A link to a file that is not there yet.
                    Err(_) if !path.try_exists()? => {
                        private::options().create(true).append(true).open(path)?;
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        let made = failpoint::reach("catalogue.create").and_then(|()| make());
        made.map_err(|source| Error::Io {
            path: path.to_path_buf(),
            source,
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| at(path, error))?;
        // What may not be written SQLite opens for reading.
        let err = |error| at(path, error);
        if connection.is_readonly("main").map_err(err)? {
            return Err(Error::Io {
                path: path.to_path_buf(),
                source: std::io::ErrorKind::PermissionDenied.into(),
            });
        }
        settle_plans(&connection).map_err(err)?;
        let mut catalogue = Catalogue {
            wal_bytes,
            patience,
            zone: zone.clone(),
            remotes: RefCell::new(remotes),
            ..Catalogue::of(connection, path, None)
        };
        catalogue.prepare_writable()?;
        catalogue.file = file_at(path);
        Ok(catalogue)
    }

    fn prepare_writable(&mut self) -> Result<(), Error> {
        let path = self.path.clone();
        let err = |error| at(&path, error);
        let c = &mut self.connection;
        c.busy_timeout(self.patience).map_err(err)?;
        let version: u32 = c
            .pragma_query_value(None, "user_version", |r| r.get(0))
            .map_err(err)?;
        let application: i32 = c
            .pragma_query_value(None, "application_id", |r| r.get(0))
            .map_err(err)?;
        let tables: i64 = c
            .query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))
            .map_err(err)?;
        if application != APPLICATION_ID && (application != 0 || tables != 0) {
            return Err(Error::Foreign {
                path,
                found: application,
            });
        }
        let known = MIGRATIONS.len() as u32;
        if version > known {
            return Err(Error::Newer {
                path,
                found: version,
                known,
            });
        }
        step("catalogue.prepare").map_err(err)?;
        c.pragma_update(None, "journal_mode", "WAL").map_err(err)?;
        c.pragma_update(None, "synchronous", "NORMAL")
            .map_err(err)?;
        c.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)
            .map_err(err)?;
        c.pragma_update(None, "cache_size", -READING_CACHE_KIB)
            .map_err(err)?;
        c.pragma_update(None, "journal_size_limit", WAL_BYTES as i64)
            .map_err(err)?;
        // The WAL and its index stay when the last writer closes, empty: a reader that may not make
        // files finds them.
        c.file_control(None::<&str>, FileControl::PersistWal(&mut 1))
            .map_err(err)?;
        c.set_prepared_statement_cache_capacity(64);
        if version < known {
            self.migrate(version)?;
            // The application id has to be in the database file itself from now on, not only in the
            // WAL, however long another process keeps it open.
            self.empty_wal()?;
        }
        self.with_path(self.take_zone())
    }

    /// Apply every migration after the first `taken` ones, all of them or none.
    fn migrate(&self, taken: u32) -> Result<(), Error> {
        let c = &self.connection;
        let run = || -> rusqlite::Result<()> {
            c.execute_batch("BEGIN IMMEDIATE")?;
            c.pragma_update(None, "application_id", APPLICATION_ID)?;
            for step in &MIGRATIONS[taken as usize..] {
                c.execute_batch(step)?;
            }
            if taken > 0 {
                self.renew_sessions()?;
                self.renew_sums()?;
            }
            c.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?;
            step("catalogue.migrate")?;
            c.execute_batch("COMMIT")
        };
        let done = run();
        if done.is_err() {
            self.rollback();
        }
        self.with_path(done)
    }

    /// A catalogue of nothing that is gone when it is dropped.
    pub fn in_memory() -> Result<Catalogue, Error> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory().map_err(|error| at(&path, error))?;
        let catalogue = Catalogue::of(connection, &path, None);
        for step in MIGRATIONS {
            catalogue.with_path(catalogue.connection.execute_batch(step))?;
        }
        catalogue.with_path(catalogue.take_zone())?;
        Ok(catalogue)
    }

    /// Delete everything in one transaction, so that a concurrent reader sees all or nothing. With
    /// `wipe`, or when a wipe was due already, the deleted text is still to be wiped from the disk.
    pub fn reset(&self, wipe: bool) -> Result<(), Error> {
        let c = &self.connection;
        let run = || -> rusqlite::Result<()> {
            // Dropping a table checks every row that others refer to.
            c.execute_batch("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")?;
            let is_requested: bool = c.query_row("SELECT wipe FROM _store", [], |r| r.get(0))?;
            let objects: Vec<(String, String)> = c
                .prepare(
                    "SELECT type, name FROM sqlite_schema
                     WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
                     ORDER BY type DESC",
                )?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect::<Result<_, _>>()?;
            for (of_type, name) in objects {
                c.execute_batch(&format!("DROP {of_type} \"{name}\""))?;
            }
            for step in MIGRATIONS {
                c.execute_batch(step)?;
            }
            c.execute("UPDATE _store SET wipe = ?1", [wipe || is_requested])?;
            step("catalogue.reset")?;
            c.execute_batch("COMMIT")
        };
        let mut done = run();
        if done.is_err() {
            self.rollback();
        }
        done = done.and(c.execute_batch("PRAGMA foreign_keys = ON"));
        c.flush_prepared_statement_cache();
        self.with_path(done)
    }

    /// Open for reading. `Ok(None)` when there is no catalogue yet; an error where nobody can tell.
    pub fn open_readable(path: &Path) -> Result<Option<Catalogue>, Error> {
        let mut tried = 0;
        loop {
            let file = match fs::metadata(path) {
                Ok(metadata) => Identity::of(&metadata).file(),
                Err(source) => match source.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => return Ok(None),
                    _ => {
                        let path = path.to_path_buf();
                        return Err(Error::Io { path, source });
                    }
                },
            };
            let opened = Catalogue::open_file(path, file);
            // If the file was replaced meanwhile, its database may have been opened with the WAL of
            // the other one. Then it is opened again; it will hardly be replaced several times in a
            // row.
            if file_at(path) == Some(file) || tried == TRIES {
                return opened;
            }
            tried += 1;
        }
    }

    /// Open the catalogue whose file is known to be `file`, for reading.
    fn open_file(path: &Path, file: FileId) -> Result<Option<Catalogue>, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let looks_open = |connection: Connection| -> rusqlite::Result<(Connection, u32, i32)> {
            connection.busy_timeout(PATIENCE)?;
            settle_plans(&connection)?;
            let version = connection.pragma_query_value(None, "user_version", |r| r.get(0))?;
            let application =
                connection.pragma_query_value(None, "application_id", |r| r.get(0))?;
            Ok((connection, version, application))
        };
        let mut file = Some(file);
        let opened = Connection::open_with_flags(path, flags)
            .and_then(looks_open)
            .or_else(|first| {
                // A process that locks out all others may be in the middle of writing it.
                if is_locked(&first) {
                    return Err(first);
                }
                // A concurrent write can make it look damaged.
                file = None;
                // A directory that cannot be written has no room for the -shm file: read the file
                // alone.
                Connection::open_with_flags(uri(path, "immutable=1"), flags)
                    .and_then(looks_open)
                    .map_err(|_| first)
            });
        let (connection, version, application) = opened.map_err(|error| at(path, error))?;
        if version == 0 && application == 0 {
            return Ok(None);
        }
        if application != APPLICATION_ID {
            return Err(Error::Foreign {
                path: path.to_path_buf(),
                found: application,
            });
        }
        let known = MIGRATIONS.len() as u32;
        if version > known {
            return Err(Error::Newer {
                path: path.to_path_buf(),
                found: version,
                known,
            });
        }
        if version < known {
            return Ok(None);
        }
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Some(Catalogue::of(connection, path, file)))
    }

    /// Whether no other version of this program has given the database another schema since it was
    /// opened.
    pub fn has_our_schema(&self) -> Result<bool, Error> {
        let version = self
            .connection
            .prepare_cached("PRAGMA user_version")
            .and_then(|mut s| s.query_row([], |r| r.get::<_, u32>(0)));
        Ok(self.with_path(version)? == MIGRATIONS.len() as u32)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file that is; another one may stand at the path by now. `None`: it is in memory.
    pub fn file(&self) -> Option<FileId> {
        self.file
    }

    /// Whether the file at the path was replaced or removed.
    pub fn is_replaced(&self) -> bool {
        self.file.is_some() && file_at(&self.path) != self.file
    }

    /// Set how long a statement waits for another program's lock.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), Error> {
        self.patience = patience;
        self.with_path(self.connection.busy_timeout(patience))
    }

    /// Have `step` called whenever something is committed.
    pub fn on_commit(&mut self, step: impl Fn() + Send + 'static) -> Result<(), Error> {
        let hook = move || {
            step();
            // It is not to be undone.
            false
        };
        let set = self.connection.commit_hook(Some(hook));
        self.with_path(set)
    }

    /// Fail at this step as if SQLite had got an error from the disk: see [`failpoint`].
    pub(super) fn step(&self, name: &str) -> Result<(), Error> {
        self.with_path(step(name))
    }

    /// Give SQLite's error its path. What is found to be damaged is marked.
    pub(super) fn with_path<T>(&self, result: rusqlite::Result<T>) -> Result<T, Error> {
        result.map_err(|error| {
            // Where another process empties it meanwhile a row may be missing.
            let is_absence = matches!(error, rusqlite::Error::QueryReturnedNoRows);
            let error = at(&self.path, error);
            if matches!(error, Error::Sqlite { .. }) && self.is_replaced() {
                let path = self.path.clone();
                return Error::Replaced { path };
            }
            if error.is_damage() && !is_absence {
                self.condemn(&error.to_string());
            }
            error
        })
    }
}

/// Plans depend on the schema alone: without this SQLite (as built here, with STAT4) prepares a
/// statement again each time it is bound to other values.
fn settle_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
}

/// See [`Catalogue::step`].
pub(super) fn step(name: &str) -> rusqlite::Result<()> {
    use rusqlite::ffi::{Error as Code, SQLITE_FULL, SQLITE_IOERR_WRITE};
    failpoint::reach(name).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::StorageFull => SQLITE_FULL,
            _ => SQLITE_IOERR_WRITE,
        };
        rusqlite::Error::SqliteFailure(Code::new(code), None)
    })
}

pub(super) fn at(path: &Path, error: rusqlite::Error) -> Error {
    let holders = is_locked(&error).then(|| locks::writers(path));
    let path = path.to_path_buf();
    match holders {
        Some(holders) => Error::Locked { path, holders },
        None => Error::Sqlite { path, error },
    }
}

/// Whether another process's lock is in the way.
fn is_locked(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed)
    )
}
