//! How is a small file of ours kept in the data folder? Its owner alone can read it, it is replaced
//! as a whole, and one process at a time writes it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use sessionary::regular;
use tempfile::NamedTempFile;

/// Bytes of a file that are read at most.
const MOST_BYTES: u64 = 4 << 20;

/// What is in it; `None`: it is not there.
pub fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match regular::read(file, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A lock beside the file, in a folder that is made for them. Who holds it has soon written; where
/// one does not let go of it, it is an error.
pub fn lock(file: &Path) -> io::Result<File> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    let lock = File::create(lock_file(file))?;
    for _ in 0..100 {
        if lock.try_lock().is_ok() {
            return Ok(lock);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Where that lock is.
pub fn lock_file(file: &Path) -> PathBuf {
    file.with_extension("lock")
}

/// Replaces the file as a whole, also where the machine stops meanwhile: what is pinned, and which
/// work trees there were, cannot be read again from anywhere. Nobody else may read it: it names
/// what somebody works on.
pub fn replace(file: &Path, content: &impl Serialize) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // Made with mode 0600.
    let mut new = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut new, content)?;
    new.write_all(b"\n")?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    // A folder that cannot be synced keeps the name for as long as its file system likes.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Removes the file, and the folder if nothing else is in it.
pub fn forget(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Nothing of it is lost where one of these stays.
    let _ = fs::remove_file(lock_file(file));
    let _ = file.parent().map(fs::remove_dir);
    Ok(())
}
