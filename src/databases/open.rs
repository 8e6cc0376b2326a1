//! How is a database opened that its agent is writing?
//!
//! Changes that are not in the file yet stand beside it. With a `-wal` that holds something, SQLite
//! reads both by locks that no writer waits for. Without one the file alone is read as one that
//! cannot change, which takes no lock and makes no file, and which proves nothing if the file has
//! changed meanwhile: then it is read again.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::format::identity::{Identity, now_ns};
use crate::regular;
use crate::sqlite_file::{beside, uri};

/// How often a database is read at most that is changed meanwhile.
const READS: usize = 8;
/// Between two readings: file times are no finer than this.
const PAUSE: Duration = Duration::from_millis(25);

/// How long a database is waited for that its agent keeps locked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// How often it is tried at most.
    attempts: usize,
    /// How long each of them waits for the lock.
    wait: Duration,
}

impl Patience {
    /// For sessions.
    const SESSIONS: Patience = Patience {
        attempts: READS,
        wait: Duration::from_millis(250),
    };
    /// For what can be done without.
    pub const BRIEF: Patience = Patience {
        attempts: 2,
        wait: Duration::from_millis(50),
    };
}

/// How the journal of a change begins that is under way or was never ended.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The files that stand beside a database and are part of it.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What identifies one state of a database: the file, and the changes that stand beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseState {
    /// The database.
    pub file: Identity,
    /// Its `-wal`, if that holds anything.
    pub wal: Option<Identity>,
    /// Whether a change in its `-journal` is under way, or was never ended.
    is_in_change: bool,
}

impl DatabaseState {
    /// Of the database at `path`.
    ///
    /// # Errors
    /// Those of the file system; that it, or what stands beside it in the place of a part of it, is
    /// no regular file: SQLite would wait at a fifo.
    pub fn of(path: &Path) -> io::Result<DatabaseState> {
        let path = &real(path)?;
        let file = fs::metadata(path)?;
        regular::check(&file)?;
        for end in COMPANIONS {
            if let Ok(companion) = fs::metadata(beside(path, end)) {
                let named =
                    |error| io::Error::new(ErrorKind::Unsupported, format!("{end}: {error}"));
                regular::check(&companion).map_err(named)?;
            }
        }
        let wal = fs::metadata(beside(path, "-wal")).ok();
        Ok(DatabaseState {
            file: Identity::of(&file),
            wal: wal
                .filter(|wal| wal.len() > 0)
                .map(|wal| Identity::of(&wal)),
            is_in_change: begins_a_change(&beside(path, "-journal")),
        })
    }
}

/// Whether the name is that of a file which is part of the database whose name is given back.
pub fn companion(name: &str) -> Option<&str> {
    COMPANIONS.iter().find_map(|end| name.strip_suffix(end))
}

/// Whether changes of that file say nothing about the database: SQLite keeps locks in it.
pub fn is_alone(name: &str) -> bool {
    name.ends_with("-shm")
}

/// The file itself: what stands beside it stands beside no link to it.
fn real(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path)?.is_symlink() {
        true => fs::canonicalize(path),
        false => Ok(path.to_path_buf()),
    }
}

fn begins_a_change(journal: &Path) -> bool {
    let mut beginning = [0; JOURNAL.len()];
    regular::open(journal)
        .and_then(|mut file| file.read_exact(&mut beginning))
        .is_ok_and(|()| beginning == JOURNAL)
}

/// Do this with one state of the database at `path`. It is done again where that was not certain.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is no database; [`ErrorKind::ResourceBusy`] when its agent
/// kept it locked or kept changing it; otherwise what SQLite says of the file.
pub(super) fn read<T>(
    path: &Path,
    work: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> io::Result<T> {
    read_within(path, Patience::SESSIONS, work)
}

/// As [`read`], with so much patience.
///
/// # Errors
/// Those of [`read`]; [`ErrorKind::Unsupported`] when it is no database.
pub(super) fn read_within<T>(
    path: &Path,
    patience: Patience,
    mut work: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> io::Result<T> {
    let path = &real(path)?;
    let (mut refused, mut locked) = (None, 0);
    for again in 0..READS {
        if again > 0 {
            std::thread::sleep(PAUSE);
        }
        let before = DatabaseState::of(path)?;
        if before.wal.is_none() && before.is_in_change {
            continue;
        }
        let is_live = before.wal.is_some();
        let began_ns = now_ns();
        let done = connect(path, is_live, patience.wait).and_then(|connection| {
            connection.execute_batch("BEGIN")?;
            work(&connection)
        });
        let after = DatabaseState::of(path)?;
        let is_untouched = before == after && !before.file.is_racy(began_ns);
        match done {
            Ok(done) if is_live || is_untouched => return Ok(done),
            Ok(_) => {}
            Err(error) if is_busy(&error) => {
                refused = Some(error);
                locked += 1;
                if locked == patience.attempts {
                    break;
                }
            }
            // Its agent may have ended meanwhile, or begun.
            Err(error) if after.wal.is_some() != is_live => refused = Some(error),
            Err(error) if is_live || is_untouched => return Err(said(&error)),
            Err(error) => refused = Some(error),
        }
    }
    let why = match refused {
        Some(error) => format!("its agent keeps it locked or keeps changing it: {error}"),
        None => "its agent keeps changing it, or a change of it was never ended: start the agent"
            .to_owned(),
    };
    Err(io::Error::new(ErrorKind::ResourceBusy, why))
}

fn connect(path: &Path, is_live: bool, wait: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let way = if is_live { "mode=ro" } else { "immutable=1" };
    if is_live && !beside(path, "-shm").exists() {
        // SQLite would make one.
        let lacks = "its -wal holds changes and its -shm is missing: open it once with its agent";
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
            Some(lacks.to_owned()),
        ));
    }
    let connection = Connection::open_with_flags(uri(path, way), flags)?;
    connection.busy_timeout(wait)?;
    // Reading must not tidy up what its agent left.
    let no_checkpoint = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(no_checkpoint, true)?;
    // A statement runs once for each message: it is not planned anew for each one's id.
    let one_plan = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(one_plan, true)?;
    // What was counted of a session is read right after it: its pages are asked for once.
    connection.execute_batch("PRAGMA query_only = 1; PRAGMA cache_size = -8000")?;
    Ok(connection)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, SchemaChanged};
    let code = error.sqlite_error_code();
    matches!(code, Some(DatabaseBusy | DatabaseLocked | SchemaChanged))
}

/// What SQLite says of a file that it cannot read.
fn said(error: &rusqlite::Error) -> io::Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    };
    match error {
        rusqlite::Error::SqliteFailure(code, None) => io::Error::new(kind, code.to_string()),
        error => io::Error::new(kind, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_files_are_part_of_a_database() {
        assert_eq!(companion("a.db-wal"), Some("a.db"));
        assert_eq!(companion("a.db-journal"), Some("a.db"));
        assert_eq!(companion("a.db"), None);
    }
}
