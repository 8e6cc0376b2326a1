//! What does one directory hold? Every name with what it is, in one pass and without following links.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::identity::Identity;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Link,
    /// A socket, a device and the like.
    Other,
}

/// A name in a directory.
#[derive(Debug)]
pub struct Listed {
    pub name: OsString,
    /// What it is, or why that cannot be told.
    pub what: io::Result<(Kind, Identity)>,
}

/// Give every name in the directory at `path` to `each`. An error given there is one of reading on.
#[cfg(unix)]
pub fn list(path: &Path, mut each: impl FnMut(io::Result<Listed>)) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
    use std::os::unix::ffi::OsStringExt;

    // Relative to the open directory: a walk down the whole path for each name is most of what a look costs.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut names = Dir::new(openat(CWD, path, flags, Mode::empty())?)?;
    while let Some(entry) = names.read() {
        let listed = entry.map_err(io::Error::from).and_then(|entry| {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                return Ok(None);
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
            Ok(Some(Listed {
                name: OsString::from_vec(name.to_bytes().to_vec()),
                what,
            }))
        });
        if let Some(listed) = listed.transpose() {
            each(listed);
        }
    }
    Ok(())
}

/// Give every name in the directory at `path` to `each`. An error given there is one of reading on.
#[cfg(not(unix))]
pub fn list(path: &Path, mut each: impl FnMut(io::Result<Listed>)) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        each(entry.map(|entry| Listed {
            name: entry.file_name(),
            what: entry.metadata().map(|metadata| {
                let kind = match metadata.file_type() {
                    of_type if of_type.is_symlink() => Kind::Link,
                    of_type if of_type.is_dir() => Kind::Folder,
                    of_type if of_type.is_file() => Kind::File,
                    _ => Kind::Other,
                };
                (kind, Identity::of(&metadata))
            }),
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
