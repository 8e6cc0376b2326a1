//! How is a file or a folder made that nobody else may read? With its mode from the first moment
//! on, whatever the umask.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Options to open a file with, for its owner alone if it is made.
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Open a file to be locked or written, made when missing; what is in it stays.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

/// Write a file where none is: all of it, or nothing.
pub fn write_new(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = target.parent();
    let folder = folder.filter(|above| !above.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    // It takes the name only where nothing has it.
    let written = file.persist_noclobber(target);
    written.map(drop).map_err(|failed| failed.error)
}

/// Write a whole file, made when missing.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    file.write_all(bytes.as_ref())
}

/// Make a folder and those above it, where they are missing.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
