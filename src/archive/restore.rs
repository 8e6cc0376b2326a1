//! How does a source come back? As the file that it was, below its agent's root, where none is.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::content::ArchivedFile;
use super::error::Error;
use super::open::Archive;
use super::sources::Place;
use crate::private;

impl Archive {
    /// Write the newest content of a source to where its file was, byte for byte and with its
    /// modification time. A file that is there stays as it is. Gives back the path.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when there is a file; [`ErrorKind::NotFound`] when nothing is
    /// kept of the source; when the file cannot be written, or the archive not be read.
    pub fn restore(self, place: &Place) -> Result<PathBuf, Error> {
        let below = place.path();
        let path = below.clone().unwrap_or_else(|| self.path.clone());
        let failed = |error| Error::Io {
            path: path.clone(),
            error,
        };
        let target = below.ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
        let kept = ArchivedFile::newest(self, place)?;
        let kept = kept.ok_or_else(|| failed(ErrorKind::NotFound.into()))?;
        write(kept, &place.root, &target).map_err(failed)?;
        Ok(target)
    }
}

/// All of it is there, or nothing.
fn write(mut kept: ArchivedFile, root: &Path, target: &Path) -> io::Result<()> {
    if target.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let folder = target.parent().ok_or(ErrorKind::InvalidInput)?;
    private::create_dir_all(folder)?;
    // Links among the folders may lead elsewhere by now.
    if !folder.canonicalize()?.starts_with(root.canonicalize()?) {
        let why = "a link leads out of the agent's folder";
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    let mtime_ns = u64::try_from(kept.generation().mtime_ns).unwrap_or(0);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut kept, &mut file)?;
    let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(mtime_ns);
    file.as_file().set_modified(modified)?;
    file.as_file().sync_all()?;
    // It takes the name only where no file has it.
    file.persist_noclobber(target)
        .map(drop)
        .map_err(|failed| failed.error)
}
