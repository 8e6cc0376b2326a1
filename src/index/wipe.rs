//! When is what was removed wiped from the index's files?

use std::time::Instant;

use super::{Error, Event, Indexer};
use crate::causes::with_causes;
use crate::ingest::{self, WordsStage};
use crate::model::Report;
use crate::words::{self, Merge, WordsError};

/// What follows when what was removed cannot be wiped.
const UNWIPED: &str =
    "what was removed is no longer found, but stays on the disk until a later sync wipes it";

impl Indexer {
    /// Sync, and leave nothing in the index's files of text that is gone from the session files:
    /// segments of the words are rewritten without it, and so is the catalogue. What cannot be
    /// wiped now, because a reader still uses it, is named in the notes of the report and wiped by
    /// the next sync.
    ///
    /// # Errors
    /// As [`Indexer::sync`].
    pub fn purge(&mut self, progress: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        let mut report = self.sync_with(progress)?;
        self.catalogue.request_wipe()?;
        self.wipe(&mut report)?;
        Ok(report)
    }

    /// Whether something that was removed is still in the files of the index or the archive:
    /// [`Indexer::purge`] could not wipe it, and the next sync tries it again.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn is_wipe_requested(&self) -> Result<bool, Error> {
        Ok(self.keeper.is_wipe_requested() || self.catalogue.is_wipe_requested()?)
    }

    /// Wipe what was removed, because it is excluded, [forgotten](Self::forget_deleted) or
    /// [on demand](Self::purge), if that is not done yet. Where it cannot be done now the notes of
    /// the report say so, and the next sync does it: no answer depends on it.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    // Others may have written meanwhile, so it is done when nothing is left that depends on what
    // was seen before.
    pub fn wipe(&mut self, report: &mut Report) -> Result<(), Error> {
        if self.keeper.is_wipe_requested() {
            self.wipe_archive(report);
        }
        if !self.catalogue.is_wipe_requested()? {
            return Ok(());
        }
        let why = match self.wipe_in_steps()? {
            Ok(true) => return Ok(()),
            Ok(false) => "another process reads the index".to_owned(),
            Err(WordsStage::Words(error)) => with_causes(&error),
            Err(WordsStage::Catalogue(error)) if error.is_refusal_to_write() => with_causes(&error),
            Err(error) => return Err(error.into()),
        };
        report.notes.push(format!("{why}; {UNWIPED}"));
        Ok(())
    }

    /// All of the archive is written anew, and others may read it for minutes, as who verifies it
    /// does. A caller for whom it is not worth waiting leaves that to the next sync.
    fn wipe_archive(&self, report: &mut Report) {
        let Some(patience) = self.patience.archive else {
            return;
        };
        let why = match self.keeper.wipe(patience) {
            Ok(true) => return,
            Ok(false) => "another process uses the archive".to_owned(),
            Err(error) => with_causes(&error),
        };
        report.notes.push(format!("{why}; {UNWIPED}"));
    }

    /// Rewriting segments takes long, so the lock is released meanwhile and other processes can
    /// write. A caller that must not wait for others keeps the lock, because its answer should not
    /// depend on what they do.
    fn wipe_in_steps(&mut self) -> Result<Result<bool, WordsStage>, Error> {
        let directory = self.config.words_dir();
        if !self.patience.is_for_writers() {
            return Ok(ingest::wipe(&self.catalogue, &directory));
        }
        let cancel = self.config.cancel.clone();
        let began = Instant::now();
        loop {
            let deleted = ingest::delete_removed(&self.catalogue, &directory);
            // The wipe itself reports other errors of the words.
            if let Ok(()) | Err(WordsStage::Words(WordsError::Busy)) = deleted {
                let goes_on = || !cancel.is_cancelled();
                let rewrite = || words::merge(&directory, Merge::Deleted, &goes_on);
                let _ = self.while_others_write(rewrite)?;
            }
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            match ingest::wipe(&self.catalogue, &directory) {
                // Another process took the lock of the words first.
                Err(WordsStage::Words(WordsError::Busy)) if began.elapsed() < words::PATIENCE => {}
                wiped => return Ok(wiped),
            }
        }
    }
}
