//! How is a file opened for reading where something else may stand in its place? At a fifo whoever
//! opens it waits for a writer, and a device gives bytes without end: nothing but a regular file
//! is read.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

mod recent;

pub(crate) use recent::Recent;

/// What an error says of anything else.
const REFUSAL: &str = "it is no regular file; remove it";

/// Open the file at `path`, to which a link may lead.
///
/// # Errors
/// Those of the file system; [`is_refusal`] knows the one that says that it is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, Links::Followed)
}

/// Open the file at `path` if it is no link.
///
/// # Errors
/// Those of [`open`].
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other("it is a link, and none is followed there"));
    }
    opened(path, Links::Refused)
}

/// Read the file at `path`, to which a link may lead: `most` bytes, and nothing of what follows.
///
/// # Errors
/// Those of [`open`], and of reading.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    beginning(open(path)?, most)
}

/// Read the file at `path` if it is no link, as [`read`] does.
///
/// # Errors
/// Those of [`read`].
pub fn read_unlinked(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    beginning(open_unlinked(path)?, most)
}

/// The first bytes of a file, `most` of them.
///
/// # Errors
/// Those of reading.
pub fn beginning(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuse what is no regular file.
///
/// # Errors
/// That it is none.
pub fn check(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::Unsupported, REFUSAL)),
    }
}

/// Whether the error says that something is no regular file.
pub fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

#[cfg(unix)]
fn opened(path: &Path, links: Links) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;

    // A regular file is read in the same way with these.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed());
    let file = match file.open(path) {
        // There is no other way to find out that it is a socket.
        Err(error) => {
            check(&path.metadata()?)?;
            return Err(error);
        }
        Ok(file) => file,
    };
    check(&file.metadata()?)?;
    Ok(file)
}

#[cfg(not(unix))]
fn opened(path: &Path, _links: Links) -> io::Result<File> {
    check(&path.metadata()?)?;
    let file = OpenOptions::new().read(true).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn nothing_but_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
        symlink(at("fifo"), at("link to a fifo")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for name in ["file", "link"] {
            for (most, text) in [(9, "text"), (4, "text"), (2, "te"), (0, "")] {
                let read = read(&at(name), most).unwrap();
                assert_eq!(read, text.as_bytes(), "{name}");
            }
        }
        for name in ["fifo", "link to a fifo", "socket", "/dev/zero", "."] {
            let error = open(&at(name)).unwrap_err();
            assert!(is_refusal(&error), "{name}: {error}");
        }
        let error = open(&at("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(read_unlinked(&at("file"), 2).unwrap(), b"te");
        let error = read_unlinked(&at("link"), 2).unwrap_err();
        assert!(error.to_string().contains("link"), "{error}");
    }
}
