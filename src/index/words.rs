//! How do the words get what they lack? The backlog is added to them at once, or in slices between
//! which others write.

use std::time::{Duration, Instant};

use super::turns;
use super::{Error, Indexer};
use crate::causes::with_causes;
use crate::ingest::{self, BatchLimits, WordsStage};
use crate::model::{Event, Report};
use crate::words::{Merge, WordsError};

/// Bytes of entries that a watcher, or a process in the background, gives to the words at once,
/// about: some tenths of a second.
const BATCH_BYTES: u64 = 32 << 20;

/// What follows when the words cannot be written: no answer depends on it.
const POSTPONED: &str = "indexing the words is postponed until there is room, and searches read the session files instead";
/// What follows when another program keeps the catalogue locked, or no thread can be started.
const DELAYED: &str =
    "indexing the words is postponed, and searches read the session files instead";
/// What follows when another process writes the words for a long time.
const LATER: &str =
    "the next sync indexes what the words lack; until then searches read it from the session files";

impl Indexer {
    /// Add the backlog to the words, for at most `budget`. A file whose bytes differ from those
    /// that were catalogued is read again, as by [`Indexer::heal`], and counts as changed, not as
    /// seen. With a budget nothing is noted of what is busy now: whoever has little time tries
    /// again.
    ///
    /// # Errors
    /// As [`Indexer::sync`].
    pub fn index_words(
        &mut self,
        budget: Option<Duration>,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Report, Error> {
        let mut report = Report::default();
        self.index_words_into(budget, progress, &mut report)?;
        Ok(report)
    }

    /// [`Indexer::index_words`] as a part of a sync: what it does is added to the sync's report.
    pub(super) fn index_words_into(
        &mut self,
        budget: Option<Duration>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        let limits = BatchLimits {
            budget,
            batch: budget.map(|_| ingest::SMALL_WORDS_BATCH),
            tries_again: budget.is_some(),
            leaves_merging: false,
            is_enough: None,
        };
        self.words_stage(limits, progress, report)?;
        let which = budget.map_or(Merge::All, |_| Merge::Small);
        self.merging.start(&self.config, which);
        Ok(())
    }

    /// Index the words batch by batch until a moment, and let others write in between.
    pub(super) fn index_words_by_turns(
        &mut self,
        ends: Instant,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut before = None;
        loop {
            let written = self.index_words_in_slices(Duration::ZERO, report)?;
            let now = (report.outstanding, report.passages);
            // What is left cannot be read now.
            let is_stuck = written && before == Some(now);
            if report.outstanding == 0 || is_stuck || Instant::now() >= ends {
                return Ok(());
            }
            before = Some(now);
            if !self.let_others_write(ends, progress)? {
                return Ok(());
            }
        }
    }

    /// Add the backlog to the words for about so long, and start a merge when one is due. `false`:
    /// the words cannot be written now, because this or another process is merging them.
    pub(super) fn index_words_in_slices(
        &mut self,
        slice: Duration,
        report: &mut Report,
    ) -> Result<bool, Error> {
        let waiter = turns::WaiterProbe::of(&self.config.generation_dir());
        let limits = BatchLimits {
            budget: Some(slice),
            batch: Some(BATCH_BYTES),
            tries_again: true,
            leaves_merging: true,
            is_enough: Some(&|| waiter.somebody_waits()),
        };
        let written = self.words_stage(limits, &mut |_| {}, report)?;
        self.merging.start(&self.config, Merge::All);
        Ok(written && !self.merging.is_going_on())
    }

    /// [`Indexer::index_words`] without starting a merge. `false`: another process is merging, and
    /// the caller has to try again.
    pub(super) fn words_stage(
        &mut self,
        limits: BatchLimits<'_>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<bool, Error> {
        self.hold()?;
        let Some(changed) = self.add_words(limits, progress, report)? else {
            return Ok(false);
        };
        if changed.is_empty() {
            return Ok(true);
        }
        match self.heal_within(&changed, report) {
            Err(error) if error.is_refusal_to_write() => {
                report.note_once(format!("{}; {POSTPONED}", with_causes(&error)));
                return Ok(true);
            }
            healed => healed?,
        }
        // This is done only once: files that keep changing are left to the next sync.
        let added = self.add_words(limits, progress, report)?;
        Ok(added.is_some())
    }

    /// Add the backlog to the words. Gives back the sources whose bytes changed since they were
    /// catalogued. `None`: another process is writing the words.
    fn add_words(
        &mut self,
        limits: BatchLimits<'_>,
        progress: &mut dyn FnMut(Event),
        report: &mut Report,
    ) -> Result<Option<Vec<i64>>, Error> {
        let directory = self.config.words_dir();
        let began = Instant::now();
        let error = loop {
            let indexed = ingest::index_words(
                &self.catalogue,
                &directory,
                &self.config.formats,
                limits,
                progress,
                report,
            );
            let error = match indexed {
                Ok(changed) => return Ok(Some(changed.into_iter().collect())),
                Err(error) => error,
            };
            if !is_busy(&error) || limits.tries_again || !self.let_others_merge(began)? {
                break error;
            }
        };
        if is_busy(&error) {
            if !limits.tries_again {
                report.note_once(format!("{}; {LATER}", WordsError::Busy));
            }
            ingest::count_backlog(&self.catalogue, &directory, report)?;
            return Ok(None);
        }
        let Some((why, follows)) = postponed(&error, limits.tries_again) else {
            return Err(error.into());
        };
        report.note_once(format!("{why}; {follows}"));
        ingest::count_backlog(&self.catalogue, &directory, report)?;
        Ok(Some(Vec::new()))
    }
}

/// Whether another process is writing the words.
fn is_busy(error: &WordsStage) -> bool {
    matches!(error, WordsStage::Words(WordsError::Busy))
}

/// Why the words are left for later, and what follows; `None` where that is an error. What is short
/// or locked for a moment is no reason for a caller that tries again.
fn postponed(error: &WordsStage, tries_again: bool) -> Option<(String, &'static str)> {
    let (is_postponed, follows) = match error {
        WordsStage::Words(error) if error.is_full() => (true, POSTPONED),
        WordsStage::Words(error) => (error.lacks_threads() && !tries_again, DELAYED),
        WordsStage::Catalogue(error) if error.waits_for_another() => (!tries_again, DELAYED),
        WordsStage::Catalogue(error) => (error.is_refusal_to_write(), POSTPONED),
    };
    is_postponed.then(|| (with_causes(error), follows))
}
