//! How does the catalogue get to a place where its own file cannot be opened? As one private file
//! of its own.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use super::error::Error;
use super::open::Catalogue;

impl Catalogue {
    /// Write all of it as of now into a new file `to`, without WAL and free pages, readable by its
    /// owner alone. It appears there as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] when `to` exists or its folder cannot be written.
    pub fn save_as(&self, to: &Path) -> Result<(), Error> {
        let failed = |source: IoError| Error::Io {
            path: to.to_path_buf(),
            source,
        };
        let folder = match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let exists = || {
            failed(IoError::new(
                ErrorKind::AlreadyExists,
                "the file already exists; name a new one",
            ))
        };
        if to.symlink_metadata().is_ok() {
            return Err(exists());
        }
        // Else it would be said of a file that is there only while this is done.
        std::fs::metadata(folder).map_err(|source| Error::Io {
            path: folder.to_path_buf(),
            source,
        })?;
        // SQLite fills a file that exists if it is empty; this one is private from the beginning.
        let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let name = file.path().to_string_lossy().into_owned();
        self.execute("VACUUM INTO ?1", [name])?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(to) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists()),
            Err(error) => Err(failed(error.error)),
        }
    }
}
