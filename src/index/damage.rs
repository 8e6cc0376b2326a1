//! What if the catalogue turns out to be damaged? It is rebuilt from the session files, and the
//! reason is reported.
//!
//! Some damage shows up in a full scan, some only when a question is asked or the words are read.
//! Whatever comes upon it leaves a mark beside the catalogue, and the next sync that holds the lock
//! starts with an empty one. So a caller asks its question once more by opening the index again; it
//! makes no difference whether this process, another one or a watcher does the rebuild.

use std::path::Path;

use super::{Error, Indexer};
use crate::catalogue::{self, Catalogue};
use crate::failpoint::reach;
use crate::words::{self, WordsLock};

/// What follows from damage.
pub(super) const REBUILT: &str = "the catalogue is rebuilt";

impl Indexer {
    /// Why the catalogue has to be rebuilt, if it was found damaged.
    pub(super) fn condemned(&self) -> Option<String> {
        Catalogue::condemned(&self.config.catalogue_path())
    }

    /// Put an empty catalogue in the place of this one. Which of the words were to be wiped stood
    /// in it: where something is excluded they go with it.
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        let path = self.config.catalogue_path();
        // Windows removes no file that is open.
        self.catalogue = Catalogue::in_memory()?;
        remove_catalogue(&path)?;
        self.catalogue = self.open_catalogue()?;
        match self.config.rules.exclude().is_empty() {
            true => Ok(()),
            false => self.remove_words(),
        }
    }

    /// Remove the words; they are rebuilt from what the catalogue holds.
    pub(super) fn remove_words(&self) -> Result<(), Error> {
        let directory = self.config.words_dir();
        if directory.exists() {
            let lock = WordsLock::take(&directory, words::PATIENCE);
            let removed = lock.and_then(|lock| lock.remove_words());
            removed.map_err(|error| Error::io(&directory, error.into_io()))?;
        }
        Ok(())
    }
}

/// Remove a damaged catalogue.
pub(super) fn remove_catalogue(path: &Path) -> Result<(), Error> {
    for file in catalogue::files(path) {
        match reach("catalogue.remove").and_then(|()| std::fs::remove_file(&file)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    Ok(())
}
