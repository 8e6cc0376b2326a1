//! Which files of an index directory were written by this program, in any version? And how are they
//! removed, and nothing else?

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::catalogue::APPLICATION_ID;
use crate::config::is_file_of_rules;
use crate::error::Error;
use crate::index::writer_lock::{self, WaitPolicy};
use crate::index::{CACHE_TAG, is_file_of_watcher};
use crate::words;

/// Names of what lies in the directory of a generation, beside the lock, the words and what a
/// watcher says.
const FILES: [&str; 7] = [
    "catalogue.sqlite",
    "catalogue.sqlite-wal",
    "catalogue.sqlite-shm",
    "catalogue.sqlite-damaged",
    "writer",
    "background",
    "asked",
];

/// What lies in an index directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexFiles {
    /// Everything of ours: files, and directories that hold nothing else. The contents come before
    /// their directory, so that they can be removed in order.
    pub ours: Vec<PathBuf>,
    /// Length of all these files in bytes.
    pub bytes: u64,
    /// What is not ours: it stays.
    pub foreign: Vec<PathBuf>,
    index_dir: PathBuf,
    /// Those of `ours` that were found.
    found: Vec<PathBuf>,
    locks: Vec<PathBuf>,
}

/// How often removing is tried while somebody keeps rebuilding the index.
const TRIES: u32 = 3;

/// Look what is in an index directory. One that is not there holds nothing.
///
/// # Errors
/// [`Error::Io`] when it cannot be read.
pub fn traces(index_dir: &Path) -> Result<IndexFiles, Error> {
    let mut traces = IndexFiles {
        index_dir: index_dir.to_path_buf(),
        ..IndexFiles::default()
    };
    let entries = match fs::read_dir(index_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(traces),
        Err(error) => return Err(Error::io(index_dir, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|e| Error::io(index_dir, e))?.path());
    }
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_tag = || fs::read_to_string(&path).is_ok_and(|tag| tag == CACHE_TAG);
        let is_of_rules = is_file_of_rules(&name) && !is_directory(&path);
        if is_of_rules || (name == "CACHEDIR.TAG" && is_tag()) {
            traces.take(path);
        } else if is_generation(&name) && is_directory(&path) && holds_catalogue(&path) {
            traces
                .generation(path)
                .map_err(|e| Error::io(index_dir, e))?;
        } else {
            traces.foreign.push(path);
        }
    }
    if traces.foreign.is_empty() && !traces.ours.is_empty() {
        traces.ours.push(index_dir.to_path_buf());
    }
    traces.found.clone_from(&traces.ours);
    Ok(traces)
}

impl IndexFiles {
    /// Remove what is ours. A process that writes an index is waited for: a minute, or as long as
    /// it makes progress.
    ///
    /// # Errors
    /// [`Error::Busy`] when an index is being written and makes no progress, [`Error::Io`] when the
    /// file system does not say whether it is: then nothing was removed.
    pub fn remove(&self) -> Result<(), Error> {
        self.remove_within(writer_lock::WHILE)
    }

    /// Remove what is ours, unless an index is being written: nobody is waited for.
    ///
    /// # Errors
    /// Those of [`IndexFiles::remove`], where an index is being written.
    pub fn try_remove(&self) -> Result<(), Error> {
        self.remove_within(writer_lock::AT_ONCE)
    }

    fn remove_within(&self, patience: WaitPolicy) -> Result<(), Error> {
        let mut tried = 0;
        loop {
            let held = self.lock(patience)?;
            // While the lock was waited for, its holder may have written other files.
            let now = traces(&self.index_dir)?;
            let removed = now.ours.iter().try_for_each(|path| remove(path));
            drop(held);
            match removed {
                Ok(()) => break,
                // A reader has begun another index in this one's place.
                Err(error) if error.is_not_empty() && tried < TRIES => tried += 1,
                Err(error) => return Err(error),
            }
        }
        // Then the files that were added to those found at first. Those found at first were removed
        // above, and a path of theirs may belong to a new index by now.
        for path in self.ours.iter().filter(|path| !self.found.contains(path)) {
            match remove(path) {
                // What is not ours stays.
                Err(error) if error.is_not_empty() => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    /// Take the locks that keep every writer away.
    fn lock(&self, patience: WaitPolicy) -> Result<Vec<File>, Error> {
        let mut held = Vec::new();
        for path in &self.locks {
            // Where it cannot even be tried, as on a file system without locks, somebody may write.
            let unknown = |error: io::Error| {
                let remedy = "remove the index by hand once no sessionary runs";
                Error::io(
                    path,
                    io::Error::new(error.kind(), format!("{error}; {remedy}")),
                )
            };
            let lock = match File::options().write(true).open(path) {
                Ok(lock) => lock,
                Err(error) if is_nobodys_lock(&error) => continue,
                Err(error) => return Err(unknown(error)),
            };
            let generation = path.parent().unwrap_or(path);
            let locked = writer_lock::lock_within(generation, &lock, patience, &mut || true);
            if !locked.map_err(unknown)? {
                return Err(patience.refusal(&self.index_dir, generation));
            }
            held.push(lock);
        }
        Ok(held)
    }

    fn take(&mut self, path: PathBuf) {
        self.bytes += fs::symlink_metadata(&path).map_or(0, |m| m.len());
        self.ours.push(path);
    }

    fn generation(&mut self, directory: PathBuf) -> io::Result<()> {
        let (foreign, mut lock) = (self.foreign.len(), None);
        let first = self.locks.len();
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name == "words" && is_directory(&path) {
                self.locks.extend(words::locks(&path));
                self.folder(path, words::is_ours)?;
            } else if name == "watch" && is_directory(&path) {
                self.folder(path, is_file_of_watcher)?;
            } else if name == "lock" && !is_directory(&path) {
                // Whoever needs the words' locks as well takes this one before them.
                self.locks.insert(first, path.clone());
                lock = Some(path);
            } else if FILES.contains(&name.as_str()) && !is_directory(&path) {
                self.take(path);
            } else {
                self.foreign.push(path);
            }
        }
        // The lock is removed last: as long as it is there, the directory is recognised as ours and
        // stays locked.
        if let Some(lock) = lock {
            self.take(lock);
        }
        if self.foreign.len() == foreign {
            self.ours.push(directory);
        }
        Ok(())
    }

    /// Takes all files in a directory whose names are ours: of the words (segments, tantivy's own
    /// files, our marks) or of a watcher's state.
    fn folder(&mut self, directory: PathBuf, is_ours: fn(&str) -> bool) -> io::Result<()> {
        let foreign = self.foreign.len();
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            match name.filter(|name| is_ours(name) && !is_directory(&path)) {
                Some(_) => self.take(path),
                None => self.foreign.push(path),
            }
        }
        if self.foreign.len() == foreign {
            self.ours.push(directory);
        }
        Ok(())
    }
}

/// Whether nobody writes an index whose lock cannot be opened for this reason. Any other reason, as
/// too many open files, says nothing of others.
///
/// - Not found: who writes has made the lock before, and only who holds it removes it.
/// - Permission denied: who writes is the same user, and would have been refused too.
/// - A file system that is read-only: nobody writes there, nor is anything removed.
fn is_nobodys_lock(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(
        error.kind(),
        NotFound | PermissionDenied | ReadOnlyFilesystem
    )
}

/// Remove a file, or a directory that is empty. One that is gone is no error.
fn remove(path: &Path) -> Result<(), Error> {
    let gone = match is_directory(path) {
        true => fs::remove_dir(path),
        false => fs::remove_file(path),
    };
    match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

impl Error {
    /// A directory could not be removed for what is in it.
    fn is_not_empty(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::DirectoryNotEmpty)
    }
}

/// `v1`, `v2`, …
fn is_generation(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A directory itself, not a link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether a catalogue of any version lies in the directory, or was to be made there: SQLite's
/// header holds our id.
fn holds_catalogue(directory: &Path) -> bool {
    let mut header = [0; 72];
    let read = File::open(directory.join("catalogue.sqlite"))
        .and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) => header[68..] == APPLICATION_ID.to_be_bytes(),
        // A process was killed before it made the file, or the file was truncated.
        Err(_) => directory.join("lock").is_file(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::index::Indexer;

    /// Does what a merge does: it waits for the other lock while it holds the one of the words.
    #[test]
    fn locks_are_taken_in_the_order_in_which_who_writes_takes_them() {
        for _ in 0..8 {
            let place = tempfile::tempdir().unwrap();
            let config = Config::new(place.path().join("index"), Vec::new());
            drop(Indexer::open(&config).unwrap());
            let words = config.words_dir();
            let generation = words.parent().unwrap();
            fs::create_dir(&words).unwrap();
            for name in [".tantivy-meta.lock", ".tantivy-writer.lock"] {
                fs::write(words.join(name), "").unwrap();
            }
            let traces = traces(&config.index_dir).unwrap();
            let order = [
                generation.join("lock"),
                words.join(".tantivy-writer.lock"),
                words.join(".tantivy-meta.lock"),
            ];
            assert_eq!(traces.locks, order);
            traces.try_remove().unwrap();
            assert!(!config.index_dir.exists());
        }
    }
}
