//! How is a file opened for reading where something else may stand in its place? At a fifo whoever
//! opens it waits for a writer, and a device gives bytes without end: nothing but a regular file
//! is read.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

mod recent;

pub use recent::Recent;

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
    use std::io::Read;
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
            let mut text = String::new();
            open(&at(name)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text", "{name}");
        }
        for name in ["fifo", "link to a fifo", "socket", "/dev/zero", "."] {
            let error = open(&at(name)).unwrap_err();
            assert!(is_refusal(&error), "{name}: {error}");
        }
        let error = open(&at("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(open_unlinked(&at("file")).is_ok());
        let error = open_unlinked(&at("link")).unwrap_err();
        assert!(error.to_string().contains("link"), "{error}");
    }
}
