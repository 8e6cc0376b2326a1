//! How does a source come back? As the file that it was, below its agent's root, where none is.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::content::ArchivedFile;
use super::error::Error;
use super::open::Archive;
use super::sources::SourcePath;
use crate::private;

impl Archive {
    /// Write the newest content of a source to where its file was, byte for byte and with its
    /// modification time. A file that is there stays as it is. Gives back the path; `None`: nothing
    /// is kept of the source.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when there is a file; when it cannot be written, or the archive
    /// not be read.
    pub fn restore(&self, place: &SourcePath) -> Result<Option<PathBuf>, Error> {
        let Some(kept) = ArchivedFile::newest(self, place)? else {
            return Ok(None);
        };
        let outside = || self.damaged(format!("{:?} is no path below a root", place.relative));
        let path = place.path().ok_or_else(outside)?;
        match write(kept, &place.root, &path) {
            Ok(()) => Ok(Some(path)),
            Err(source) => Err(Error::Io { path, source }),
        }
    }
}

/// All of it is there, or nothing.
fn write(mut kept: ArchivedFile<&Archive>, root: &Path, target: &Path) -> io::Result<()> {
    if target.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let folder = target.parent().ok_or(ErrorKind::InvalidInput)?;
    if leads_out(folder, root)? {
        let why = "a link leads out of the agent's folder";
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    private::create_dir_all(folder)?;
    let mtime_ns = u64::try_from(kept.generation().mtime_ns).unwrap_or(0);
    let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(mtime_ns);
    private::write_new(target, |file| {
        io::copy(&mut kept, file)?;
        file.set_modified(modified)
    })
}

/// Whether a folder below a root, of which not all may be there yet, lies elsewhere: links may have
/// been made among the folders.
fn leads_out(folder: &Path, root: &Path) -> io::Result<bool> {
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    match folder.ancestors().find(is_there) {
        Some(there) if there.starts_with(root) => {
            Ok(!there.canonicalize()?.starts_with(root.canonicalize()?))
        }
        // The root itself is gone, and with it all that could be a link.
        _ => Ok(false),
    }
}
