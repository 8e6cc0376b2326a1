//! What does one directory hold? Every name with what it is, in one pass and without following links.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::identity::Identity;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    File,
    Folder,
    Link,
    /// A socket, a device and the like.
    Other,
}

/// A name in a directory.
#[derive(Debug)]
pub struct Listed<'a> {
    pub name: &'a OsStr,
    /// What it is, or why that cannot be told.
    pub what: io::Result<(Kind, Identity)>,
}

/// Give every name in the directory at `path` to `each`. An error given there is one of reading on.
#[cfg(unix)]
pub fn list(path: &Path, mut each: impl FnMut(io::Result<Listed<'_>>)) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
    use std::os::unix::ffi::OsStrExt;

    // Relative to the open directory: a walk down the whole path for each name is most of what a look costs.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut names = Dir::new(openat(CWD, path, flags, Mode::empty())?)?;
    while let Some(entry) = names.read() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                each(Err(error.into()));
                continue;
            }
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let what = statat(names.fd()?, name, AtFlags::SYMLINK_NOFOLLOW);
        let what = what.map_err(io::Error::from).map(|stat| {
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            };
            (kind, Identity::of_stat(&stat))
        });
        each(Ok(Listed {
            name: OsStr::from_bytes(name.to_bytes()),
            what,
        }));
    }
    Ok(())
}

/// Give every name in the directory at `path` to `each`. An error given there is one of reading on.
#[cfg(not(unix))]
pub fn list(path: &Path, mut each: impl FnMut(io::Result<Listed<'_>>)) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                each(Err(error));
                continue;
            }
        };
        let what = entry.metadata().map(|metadata| {
            let kind = match metadata.file_type() {
                of_type if of_type.is_symlink() => Kind::Link,
                of_type if of_type.is_dir() => Kind::Folder,
                of_type if of_type.is_file() => Kind::File,
                _ => Kind::Other,
            };
            (kind, Identity::of(&metadata))
        });
        each(Ok(Listed {
            name: &entry.file_name(),
            what,
        }));
    }
    Ok(())
}

impl Kind {
    /// What a link leads to, or a directory entry followed.
    pub fn of(metadata: &std::fs::Metadata) -> Kind {
        match () {
            () if metadata.is_dir() => Kind::Folder,
            () if metadata.is_file() => Kind::File,
            () => Kind::Other,
        }
    }
}
