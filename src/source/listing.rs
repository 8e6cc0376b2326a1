//! What does one directory hold? Every name with what it is, in one pass and without following
//! links.

use std::ffi::OsString;
#[cfg(unix)]
use std::ffi::{CStr, OsStr};
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
#[cfg(unix)]
use std::os::fd::OwnedFd;
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
pub struct DirEntry {
    pub name: OsString,
    /// What it is, or why that cannot be found out.
    pub what: io::Result<(Kind, Identity)>,
}

/// What a directory holds.
#[derive(Debug, Default)]
pub struct Listing {
    pub names: Vec<DirEntry>,
    /// Why there may be more.
    pub broken_off: Option<io::Error>,
}

/// Every name in the directory at `path`.
#[cfg(unix)]
pub fn list(path: &Path) -> io::Result<Listing> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
    use std::os::unix::ffi::OsStrExt;

    // Relative to the open directory: a walk down the whole path for each name is most of what a
    // look costs.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, path, flags, Mode::empty())?;
    let mut names = Vec::new();
    let broken_off = each_name(&directory, |name| {
        if matches!(name.to_bytes(), b"." | b"..") {
            return;
        }
        let what = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let what = what.map_err(io::Error::from).map(|stat| {
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            };
            (kind, of_stat(&stat))
        });
        let name = OsStr::from_bytes(name.to_bytes()).to_owned();
        names.push(DirEntry { name, what });
    });
    let broken_off = broken_off.err();
    Ok(Listing { names, broken_off })
}

/// The identity in the answer of a system call, as [`Identity::of`] has it.
#[cfg(unix)]
// The fields are of other types on other systems.
#[allow(clippy::unnecessary_cast)]
fn of_stat(stat: &rustix::fs::Stat) -> Identity {
    let nanoseconds = |s: i64, n: i64| s.saturating_mul(1_000_000_000).saturating_add(n);
    Identity {
        device: stat.st_dev as i64,
        inode: stat.st_ino as i64,
        size: stat.st_size as u64,
        mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    }
}

/// Give every name in the open directory to `each`.
#[cfg(target_os = "linux")]
fn each_name(directory: &OwnedFd, mut each: impl FnMut(&CStr)) -> io::Result<()> {
    // Some hundred names a call.
    let mut buffer = [MaybeUninit::uninit(); 16 << 10];
    let mut entries = rustix::fs::RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => each(entry.file_name()),
            // Removed meanwhile: it holds nothing.
            Err(rustix::io::Errno::NOENT) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Give every name in the open directory to `each`.
#[cfg(all(unix, not(target_os = "linux")))]
fn each_name(directory: &OwnedFd, mut each: impl FnMut(&CStr)) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(directory)? {
        each(entry?.file_name());
    }
    Ok(())
}

/// Every name in the directory at `path`.
#[cfg(not(unix))]
pub fn list(path: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in std::fs::read_dir(path)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                listing.broken_off = Some(error);
                break;
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
        let name = entry.file_name();
        listing.names.push(DirEntry { name, what });
    }
    Ok(listing)
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
