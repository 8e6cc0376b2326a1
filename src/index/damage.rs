//! What if the catalogue turns out to be damaged? It is made anew from the session files, and the
//! reason is told.
//!
//! Some damage is met by the look at the files, some only by a question, or by the words. Whoever
//! meets it leaves a mark beside the catalogue; whoever looks at the files next, with the lock,
//! begins with an empty one. So the question is asked once more by opening the index again, be it
//! here, in another process or in a watcher.

use std::path::Path;

use super::{Error, Indexer};
use crate::catalogue::{self, Catalogue};
use crate::failpoint::reach;
use crate::words::{self, WordsLock};

/// What follows from damage.
pub(super) const ANEW: &str = "the catalogue is rebuilt";

impl Indexer {
    /// Why the catalogue is to be made anew, if somebody found that.
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

    /// Remove the words: they are made anew of what the catalogue holds.
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
