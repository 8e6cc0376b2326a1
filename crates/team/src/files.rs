//! How is a file written so that it is there as a whole or not at all, and found to be a plain file
//! below a folder, with no link on the way?

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// How the names of files begin that are not complete yet.
pub const UNFINISHED: &str = ".unfinished-";

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Whoever its folder and the umask admit, of the owner's group: a folder is shared by them.
    Group,
}

/// A new file in this folder, not in its place yet.
pub fn begin(folder: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    if readers == Readers::Group {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o660));
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.tempfile_in(folder)
}

/// Write a whole file, its folder made where it is missing.
pub fn write(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder, readers)?;
    let mut file = begin(folder, readers)?;
    file.write_all(bytes)?;
    finish(file, path)
}

/// Flush a new file to the disk and put it into its place.
pub fn finish(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_data()?;
    place(file, path)
}

/// Put a new file into its place.
pub fn place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// Make a folder and those above it, where they are missing.
pub fn make_folder(folder: &Path, readers: Readers) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(
        &mut builder,
        match readers {
            Readers::Owner => 0o700,
            Readers::Group => 0o770,
        },
    );
    #[cfg(not(unix))]
    let _ = readers;
    builder.recursive(true).create(folder)
}

/// The whole of a plain file of `most` bytes at most; `None`: there is none.
pub fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(found) = plain_file(path)? else {
        return Ok(None);
    };
    if found.len() > most {
        return Err(wrong("it is longer than any that this program writes"));
    }
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The plain file that is at this path; `None`: nothing is. A link, a folder, a fifo is an error.
pub fn plain_file(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(wrong("it is no plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The path of a checked name below a folder, if no link and no file stands on the way; with
/// `make`, folders that are missing are made for these readers.
pub fn below(folder: &Path, name: &str, make: Option<Readers>) -> io::Result<PathBuf> {
    let mut path = folder.to_path_buf();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(wrong("a folder on the way to it is none, or a link")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make.map_or(Ok(()), |readers| make_folder(&path, readers))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

/// Open a plain file for reading, and no link that has taken its place meanwhile.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    no_link(&mut options);
    options.open(path)
}

/// Open a plain file to add to it, and no link that has taken its place meanwhile.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true);
    no_link(&mut options);
    options.open(path)
}

fn no_link(options: &mut fs::OpenOptions) {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Remove a file; one that is not there is removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// What is in a folder, by name; nothing where it is missing. A link to a folder is an error.
pub fn list(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(wrong("it is no folder, or a link")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // What no program of ours has written has no name that we look for.
        let name = entry.file_name().to_string_lossy().into_owned();
        all.push((name, entry.path()));
    }
    all.sort();
    Ok(all)
}

/// Bytes that may still be written to this folder; `None`: the system does not say.
pub fn free(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let system = rustix::fs::statvfs(folder).ok()?;
        Some(system.f_bavail.saturating_mul(system.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
