//! Why does the system refuse, and what can be done about it?

use std::io::{self, Write};
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use super::error::Error;

/// Why the system refuses to read or write the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalCause {
    /// The disk is full, or a limit on what may be written is reached.
    Full,
    /// The user lacks the rights.
    Rights,
    /// The file system is read-only.
    ReadOnly,
    /// Too many files are open.
    OpenFiles,
    /// The disk itself fails.
    Disk,
    /// Something else.
    Other,
}

impl RefusalCause {
    /// What the error of a system call stands for.
    pub fn of(error: &io::Error) -> RefusalCause {
        use io::ErrorKind::{
            FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        // ENFILE and EMFILE on every Unix; Windows says ERROR_TOO_MANY_OPEN_FILES.
        let too_many = match cfg!(windows) {
            true => 4..=4,
            false => 23..=24,
        };
        match error.kind() {
            FileTooLarge | QuotaExceeded | StorageFull => RefusalCause::Full,
            PermissionDenied => RefusalCause::Rights,
            ReadOnlyFilesystem => RefusalCause::ReadOnly,
            _ if error.raw_os_error().is_some_and(|n| too_many.contains(&n)) => {
                RefusalCause::OpenFiles
            }
            // EIO.
            _ if cfg!(unix) && error.raw_os_error() == Some(5) => RefusalCause::Disk,
            _ => RefusalCause::Other,
        }
    }
}

impl Error {
    /// Why the system refuses; `None` if it is not the system that does. SQLite reports the kind of
    /// a refusal but not its cause, so the system is asked again with an unnamed file beside the
    /// database.
    pub fn cause(&self) -> Option<RefusalCause> {
        let (path, failure) = match self {
            Error::Io { source, .. } => return Some(RefusalCause::of(source)),
            Error::Sqlite {
                path,
                error: rusqlite::Error::SqliteFailure(failure, _),
            } => (path, failure),
            _ => return None,
        };
        let grows = [
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_TRUNCATE,
            ffi::SQLITE_IOERR_SHMSIZE,
        ];
        let otherwise = match failure.code {
            ErrorCode::DiskFull => return Some(RefusalCause::Full),
            // What was open has been closed since.
            ErrorCode::CannotOpen => RefusalCause::OpenFiles,
            ErrorCode::PermissionDenied | ErrorCode::ReadOnly => RefusalCause::Rights,
            // Writing the first bytes does not show a quota or a limit.
            ErrorCode::SystemIoFailure if grows.contains(&failure.extended_code) => {
                RefusalCause::Full
            }
            ErrorCode::SystemIoFailure => RefusalCause::Disk,
            _ => return None,
        };
        let refusal = refusal_beside(path).or_else(|| refusal_of(path));
        Some(refusal.unwrap_or(otherwise))
    }
}

/// Why no file can be made beside this one; `None` if one can.
fn refusal_beside(path: &Path) -> Option<RefusalCause> {
    let folder = path.parent()?;
    let made = tempfile::tempfile_in(folder).and_then(|mut file| file.write_all(&[0; 4096]));
    made.err().map(|error| RefusalCause::of(&error))
}

/// Why this file may not be read and written. It is not opened for that: to close it again would
/// give up all locks of this process on it (POSIX).
fn refusal_of(path: &Path) -> Option<RefusalCause> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK) {
            return Some(RefusalCause::of(&error.into()));
        }
    }
    (!path.is_file()).then_some(RefusalCause::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_an_error_number_stands_for() {
        for (number, cause) in [
            (28, RefusalCause::Full),
            (122, RefusalCause::Full),
            (27, RefusalCause::Full),
            (13, RefusalCause::Rights),
            (1, RefusalCause::Rights),
            (30, RefusalCause::ReadOnly),
            (24, RefusalCause::OpenFiles),
            (23, RefusalCause::OpenFiles),
            (5, RefusalCause::Disk),
            (20, RefusalCause::Other),
        ] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(RefusalCause::of(&error), cause, "{error}");
        }
    }

    #[test]
    fn what_sqlite_does_not_tell_is_asked_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let failed = |code, path: &Path| Error::Sqlite {
            path: path.to_path_buf(),
            error: rusqlite::Error::SqliteFailure(ffi::Error::new(code), None),
        };
        let here = folder.path().join("catalogue.sqlite");
        std::fs::write(&here, "").unwrap();
        for (code, cause) in [
            (ffi::SQLITE_FULL, Some(RefusalCause::Full)),
            (ffi::SQLITE_IOERR_WRITE, Some(RefusalCause::Full)),
            (ffi::SQLITE_IOERR_READ, Some(RefusalCause::Disk)),
            (ffi::SQLITE_CANTOPEN, Some(RefusalCause::OpenFiles)),
            (ffi::SQLITE_READONLY, Some(RefusalCause::Rights)),
            (ffi::SQLITE_CORRUPT, None),
        ] {
            assert_eq!(failed(code, &here).cause(), cause, "{code}");
        }
        // A folder that is gone is no matter of rights.
        let gone = folder.path().join("gone/catalogue.sqlite");
        let cause = failed(ffi::SQLITE_CANTOPEN, &gone).cause();
        assert_eq!(cause, Some(RefusalCause::Other));
    }
}
