//! What if the bytes of a session file are others than those that were read, and nothing at the file says so? Whoever meets
//! them condemns the source, and it is read again from its first byte.

use super::{Error, Indexer};
use crate::model::Report;

impl Indexer {
    /// Read these sources again from their first bytes, and bring the catalogue up to their files
    /// alone. For whoever met other bytes in a file than what is stored says; what the words then
    /// lack they owe. `sources` are numbers as in the view `sources`; those of no source, and of
    /// no root that is configured, are passed over.
    ///
    /// # Errors
    /// As [`Indexer::sync_files`].
    pub fn heal(&mut self, sources: &[i64]) -> Result<Report, Error> {
        self.catalogue.condemn_sources(sources)?;
        let mut files = Vec::with_capacity(sources.len());
        for source in sources {
            let place = self.catalogue.source_place(*source)?;
            files.extend(place.map(|(path, _)| path));
        }
        self.sync_files(&files)
    }

    /// The same within a sync, whose report is told of it.
    pub(super) fn heal_within(
        &mut self,
        sources: &[i64],
        report: &mut Report,
    ) -> Result<(), Error> {
        let healed = self.heal(sources)?;
        report.files_unreadable += healed.files_unreadable;
        report.bytes_read += healed.bytes_read;
        report.entries += healed.entries;
        report.problems += healed.problems;
        report.vanished += healed.vanished;
        report.ms.discover += healed.ms.discover;
        report.ms.catalogue += healed.ms.catalogue;
        report.notes.extend(healed.notes);
        // A file that the same sync had read already is one file still.
        let most = report.files_seen.max(healed.files_changed);
        report.files_changed = (report.files_changed + healed.files_changed).min(most);
        Ok(())
    }
}
