//! What if the bytes of a session file have changed, but its size and times have not? A reader that
//! comes upon such bytes condemns the source, and it is read again from its first byte. Changes
//! that no reader comes upon are found by comparing every block with its proof.

use std::time::{Duration, Instant};

use super::{Error, Indexer};
use crate::ingest::Audits;
use crate::model::Report;
use crate::source::identity::now_ns;

/// Bytes that are compared at once, about: some milliseconds.
const PROOF_BYTES: u64 = 8 << 20;

impl Indexer {
    /// Read these sources again from their first bytes, and bring the catalogue up to these files
    /// only. Call it for files that hold other bytes than the index says; their text joins the
    /// backlog of the words. `sources` are numbers as in the view `sources`. Numbers of no source,
    /// and of roots that are not configured, are skipped.
    ///
    /// # Errors
    /// As [`Indexer::sync_files`].
    pub fn heal(&mut self, sources: &[i64]) -> Result<Report, Error> {
        let mut report = Report::default();
        self.heal_into(sources, &mut report)?;
        Ok(report)
    }

    fn heal_into(&mut self, sources: &[i64], report: &mut Report) -> Result<(), Error> {
        self.hold()?;
        self.catalogue.condemn_sources(sources)?;
        let mut files = Vec::with_capacity(sources.len());
        for source in sources {
            let place = self.catalogue.source_place(*source)?;
            files.extend(place.map(|(path, _)| path.to_path_buf()));
        }
        self.sync_files_into(&files, report)
    }

    /// [`Indexer::heal`] as a part of a sync: what it reads is added to the sync's report.
    pub(super) fn heal_within(
        &mut self,
        sources: &[i64],
        report: &mut Report,
    ) -> Result<(), Error> {
        if sources.is_empty() {
            return Ok(());
        }
        let before = report.clone();
        if let Err(error) = self.heal_into(sources, report) {
            // What is not committed is not told.
            *report = before;
            return Err(error);
        }
        // A sync has seen the files before, and one that was read earlier in it counts only once.
        let changed = report.files_changed - before.files_changed;
        report.files_seen = before.files_seen;
        report.files_changed = report.files_changed.min(before.files_seen.max(changed));
        Ok(())
    }

    /// Compare every block of the files that grew with what was read of them before; a sync
    /// compares only the last 4 KB of that. A file with a changed block is read again from its
    /// beginning. This reads each such file once, so it is best done when there is time.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and those of [`Indexer::sync_files`].
    pub fn prove(&mut self) -> Result<Report, Error> {
        let mut report = Report::default();
        self.prove_within(&mut report)?;
        Ok(report)
    }

    /// [`Indexer::prove`] as a part of a sync: what it reads is added to the sync's report.
    pub(super) fn prove_within(&mut self, report: &mut Report) -> Result<(), Error> {
        self.hold()?;
        let mut audits = self.audits(None)?;
        while !audits.is_empty() {
            if self.config.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.prove_some(&mut audits, report)?;
        }
        Ok(())
    }

    /// The sources that have to be proven: all of them, or only those unchanged for at least
    /// `rest`.
    pub(super) fn audits(&self, rest: Option<Duration>) -> Result<Audits, Error> {
        let mut roots = Vec::new();
        for spec in &self.config.roots {
            roots.extend(self.catalogue.root_of(&spec.agent, &spec.path)?);
        }
        let since = rest.map(|rest| {
            let rest = i64::try_from(rest.as_nanos()).unwrap_or(i64::MAX);
            now_ns().saturating_sub(rest)
        });
        Ok(Audits::of(self.catalogue.unproven(&roots, since)?))
    }

    /// Prove some of them, and heal those in which a block is another one.
    pub(super) fn prove_some(
        &mut self,
        audits: &mut Audits,
        report: &mut Report,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let changed = audits.go_on(&self.catalogue, &self.config.formats, PROOF_BYTES, report)?;
        report.ms.catalogue += started.elapsed().as_secs_f64() * 1000.0;
        self.heal_within(&changed, report)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Config;
    use crate::source::root::RootSpec;

    #[test]
    fn a_file_that_changes_while_it_is_synced_counts_once() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap().join("s/--w--");
        fs::create_dir_all(&folder).unwrap();
        let write = |word: &str| {
            let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n";
            let message = format!("{{\"role\":\"user\",\"content\":\"{word}\"}}");
            let said = format!("{{\"type\":\"message\",\"id\":\"a\",\"message\":{message}}}\n");
            fs::write(folder.join("s.jsonl"), header.to_owned() + &said).unwrap();
        };
        let spec = RootSpec::new("pi", folder.parent().unwrap().to_owned());
        write("walrus");
        let config = Config::new(place.path().join("index"), vec![spec]);
        let mut indexer = Indexer::open(&config).unwrap();
        let mut report = indexer.sync_catalogue(&mut |_| {}).unwrap();
        let entries = report.entries;
        assert_eq!(report.files_changed, 1);
        write("dugong");
        let words = indexer.index_words_into(None, &mut |_| {}, &mut report);
        words.unwrap();
        assert_eq!((report.files_changed, report.outstanding), (1, 0));
        assert_eq!(report.entries, 2 * entries, "it was read again");
    }
}
