//! How is a small file of ours kept in the data folder? Its owner alone can read it, it is replaced
//! as a whole, and one process at a time writes it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tempfile::NamedTempFile;

/// Bytes of a file that are read at most.
const MOST_BYTES: u64 = 4 << 20;

/// What is in it; `None`: it is not there.
pub fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let is_file = match fs::metadata(file) {
        Ok(found) => found.is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !is_file {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(Some(text))
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
/// work trees there were, cannot be read again from anywhere. Nobody else may read it: it names what
/// somebody works on.
pub fn replace(file: &Path, content: &impl Serialize) -> io::Result<()> {
    new.as_file().sync_all()?;
    let folder = file.parent().unwrap_or(Path::new("."));
    // A folder that cannot be synced keeps the name for as long as its file system likes.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    // Made with mode 0600.
    let mut new = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut new, content)?;
    new.write_all(b"\n")?;
    new.persist(file)?;
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
