//! What does a watcher do when there are hints, or something is due? It scans, writes, reports the
//! changes and answers the readers that wait; then it indexes words, settles racy files and proves
//! files that grew.

use std::time::{Duration, Instant, SystemTime};

use super::{TurnEnd, Watch, WatchEnd, WatchEvent};
use crate::error::Error;
use crate::error::StoreFault;
use crate::ingest::{self, HintedPaths};
use crate::model::Report;
use crate::source::identity::file_at;

/// How long words are indexed before it looks for new notifications.
const SLICE: Duration = Duration::from_secs(1);
/// Between two slices others may write.
const BREATH: Duration = Duration::from_millis(20);
/// Words are indexed this long after the first change in any case.
const LATEST: Duration = Duration::from_secs(2);
/// When something cannot be written it is tried again after this time.
const AGAIN: Duration = Duration::from_secs(1);
/// How long to wait after words could not be written. Searches read the backlog meanwhile.
const WORDS_AGAIN: Duration = Duration::from_secs(10);
/// While they are merged it is asked so often whether that is over.
const WHILE_MERGED: Duration = Duration::from_millis(100);
/// Full scans take at most this part (one in so many) of the time.
const SHARE: u32 = 20;
/// But are put off no longer than this.
const MOST_PUT_OFF: Duration = Duration::from_secs(30);
/// Polling takes at most this part (one in so many) of the time.
const POLL_SHARE: u32 = 50;
/// The reason given for the full scan that rebuilds a damaged catalogue.
const DAMAGED: &str = "the catalogue is damaged";

/// What was done while the lock was held. It is reported after the lock is released, because a
/// listener may be slow.
enum Done {
    Checked(String, Report),
    Synced(Report),
    Indexed(Report),
    Proven(Report),
    /// This watcher has to stop.
    Ended(WatchEnd),
}

impl Watch<'_> {
    /// Follow the hints and do what is due, as far as that is possible now.
    pub(super) fn turn(&mut self) -> Result<(), TurnEnd> {
        if Instant::now() >= self.next_full {
            let why = match self.polls {
                None => "it is time again",
                Some(_) => "polling",
            };
            self.scan_all(why);
        }
        if self.roots_are_others() {
            self.scan_all("another directory stands in a root's place");
        }
        // There are no notifications of what a mount hides or shows.
        if self.mounts.changed() {
            self.scan_all("a file system was mounted or unmounted");
        }
        // A waiting reader must not get an answer about another index than the one that was synced.
        if !self.fences.is_empty() && self.index_is_other()? {
            self.scan_all("the index was made anew");
        }
        if self.full.is_none() && self.indexer.condemned().is_some() {
            self.scan_now(DAMAGED);
        }
        let is_full = self.full.is_some() && Instant::now() >= self.not_before;
        if self.refused && !is_full {
            // Hints that could not be followed lead to a full scan later.
            self.hints.clear();
        }
        let asked = !self.fences.is_empty() && !self.doubted.is_empty();
        let waits = (!self.hints.is_empty() || asked) && !self.refused;
        if is_full {
            self.check_executable()?;
            self.with_lock(Self::check)?;
        } else if waits {
            self.with_lock(Self::sync)?;
        }
        if self.say() && self.hints.is_empty() && self.full.is_none() {
            for fence in self.fences.drain(..) {
                self.presence.answer(&fence);
            }
        }
        let now = Instant::now();
        if let Some((_, since)) = self.words.filter(|(due, _)| now >= *due) {
            match self.indexer.merging.is_going_on() {
                true => self.words = Some((now + WHILE_MERGED, since)),
                false => self.with_lock(|watch| watch.index_words(SLICE))?,
            }
        }
        if self.proofs.is_some_and(|due| now >= due) {
            self.with_lock(Self::prove)?;
        }
        Ok(())
    }

    /// With the writer lock. What cannot be written now is tried again later.
    fn with_lock(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Done, Error>,
    ) -> Result<(), TurnEnd> {
        let started = Instant::now();
        let done = loop {
            match self.indexer.take_turn() {
                Ok(true) => {
                    break match self.is_not_ours() {
                        Ok(Some(ended)) => Ok(Done::Ended(ended)),
                        Ok(None) => work(self),
                        // Either the work itself rebuilds it, or a check after it does.
                        Err(error) if error.is_damage() => work(self),
                        Err(error) => Err(error),
                    };
                }
                Ok(false) => {}
                // Another one took its place, and is damaged.
                Err(error) if error.is_damage() => {
                    self.looked_at = None;
                    break self.indexer.renew().and(Err(error));
                }
                Err(error) => break Err(error),
            }
            if self.indexer.config.cancel.is_cancelled() {
                return Err(TurnEnd::Ended(WatchEnd::Cancelled));
            }
            if self.indexer.is_removed() {
                return Err(TurnEnd::Ended(WatchEnd::Removed));
            }
            let (shortest, longest) = (Duration::from_micros(50), Duration::from_millis(250));
            std::thread::sleep((started.elapsed() / 4).clamp(shortest, longest));
        };
        self.indexer.give_way()?;
        let reported = match done {
            Ok(Done::Ended(ended)) => return Err(TurnEnd::Ended(ended)),
            Ok(done) => self.report(&done).and_then(|()| self.report_changes()),
            Err(error) => Err(error),
        };
        match reported {
            Ok(()) => {}
            // A check rebuilds it.
            Err(error) if error.is_damage() => {
                let lately = |met: Instant| met.elapsed() < self.options.full_scan;
                let again = match self.damaged.replace(Instant::now()).is_some_and(lately) {
                    // Then more is wrong than a file.
                    true => self.options.full_scan,
                    false => AGAIN,
                };
                self.again(DAMAGED, again);
            }
            Err(error) if error.fault() == Some(StoreFault::Words) => {
                if !std::mem::replace(&mut self.words_refused, true) {
                    (self.on_event)(WatchEvent::Delayed(&error));
                }
                let now = Instant::now();
                self.words = Some((now + WORDS_AGAIN, now));
            }
            Err(error) if passes(&error) => {
                if !std::mem::replace(&mut self.refused, true) {
                    (self.on_event)(WatchEvent::Delayed(&error));
                }
                self.again("what could not be written", AGAIN);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn report(&mut self, done: &Done) -> Result<(), Error> {
        self.refused = false;
        (self.on_event)(match done {
            Done::Checked(reason, report) => WatchEvent::Checked { reason, report },
            Done::Synced(report) => WatchEvent::Synced(report),
            Done::Indexed(report) => {
                self.words_refused = false;
                WatchEvent::Indexed(report)
            }
            Done::Proven(report) => WatchEvent::Proven(report),
            Done::Ended(_) => return Ok(()),
        });
        Ok(())
    }

    /// Why it is not for this watcher to write any more, with the lock.
    fn is_not_ours(&self) -> Result<Option<WatchEnd>, Error> {
        let (catalogue, config) = (&self.indexer.catalogue, &self.indexer.config);
        if !catalogue.has_our_schema()? {
            return Ok(Some(WatchEnd::OtherVersion));
        }
        // Its own first scan takes its rules in.
        let is_other = self.looked_at.is_some() && catalogue.excluded_by()? != config.left_out_by();
        Ok(is_other.then_some(WatchEnd::Reconfigured))
    }

    /// Whether another process has begun to build a new index in the place of this one. The new one
    /// may still lack anything.
    fn index_is_other(&self) -> Result<bool, Error> {
        let path = self.indexer.config.catalogue_path();
        if file_at(&path) != self.indexer.catalogue.file() {
            return Ok(true);
        }
        match self.indexer.catalogue.changes_kept() {
            Ok(kept) => Ok(self.looked_at != Some(kept.index_id)),
            Err(error) if error.is_damage() || error.is_replaced() => Ok(true),
            Err(error) if error.is_refusal_to_write() => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn again(&mut self, why: &str, after: Duration) {
        self.scan_all(why);
        self.not_before = Instant::now() + after;
        // What could not be indexed now stays in the backlog.
        let since = self.words.map_or(self.not_before, |(_, since)| since);
        self.words = Some((self.not_before, since));
        self.proofs = self.proofs.map(|_| self.not_before);
    }

    /// Look at everything.
    fn check(&mut self) -> Result<Done, Error> {
        let began = SystemTime::now();
        self.watch_roots();
        // If the catalogue is rebuilt by another process while the lock is released for a wipe,
        // another scan is due.
        let kept = self.indexer.catalogue.changes_kept();
        let looked_at = kept.ok().map(|kept| kept.index_id);
        let tell = &mut self.on_event;
        let report = self
            .indexer
            .sync_catalogue(&mut |event| tell(WatchEvent::Progress(event)))?;
        // What follows touches few pages; without this memory would grow with the index.
        self.indexer.catalogue.keep_few_pages()?;
        self.looked_at = looked_at;
        // Roots that new sessions led to are watched from now on, and scanned once more.
        let found_roots = self.indexer.config.roots.len() > self.roots.len();
        let took = scan_time(&report);
        let now = Instant::now();
        self.hints.clear();
        self.racy.clear();
        self.rested.clear();
        self.doubted.clear();
        self.presence.sweep(began);
        self.unreadable = report.files_unreadable;
        self.state.files = report.files_seen;
        self.not_before = now + (took * SHARE).min(MOST_PUT_OFF);
        let (full_scan, interval) = (self.options.full_scan, self.options.interval);
        self.next_full = now
            + match self.polls {
                None => full_scan,
                Some(_) => interval.max((took * POLL_SHARE).min(full_scan)),
            };
        let why = self.full.take().unwrap_or_default();
        if found_roots {
            self.scan_now("roots were found");
        }
        if report.files_changed > 0 {
            self.schedule_words();
        }
        self.audits = self.indexer.audits(None)?;
        self.proofs = (!self.audits.is_empty()).then_some(now);
        Ok(Done::Checked(why, report))
    }

    /// Sync what the hints name.
    fn sync(&mut self) -> Result<Done, Error> {
        let indexer = &mut self.indexer;
        if indexer.keeper.renew(&indexer.config, &indexer.catalogue)? {
            self.scan_all("the archive is another one");
        }
        let mut report = Report::default();
        // A reader that asks wants to be certain, so files that may have changed within a tick of
        // the clock are read again.
        let prove = !self.fences.is_empty();
        if prove {
            for (at, path) in std::mem::take(&mut self.doubted) {
                self.hints.entry(at).or_default().insert(path);
            }
        }
        let hints = std::mem::take(&mut self.hints);
        let config = &self.indexer.config;
        // Hints are grouped by root, so that a file with two notifications is read only once.
        let (of, hinted): (Vec<usize>, Vec<HintedPaths<'_>>) = hints
            .into_iter()
            .filter_map(|(at, paths)| {
                let spec = config.roots.get(at)?;
                Some((at, HintedPaths { spec, paths, prove }))
            })
            .unzip();
        let left = ingest::sync_hints(self.indexer.sync_targets(), config, &hinted, &mut report)?;
        drop(hinted);
        let place = |(at, path): (usize, String)| (of[at], path);
        for read in left.racy.into_iter().map(place) {
            self.doubted.remove(&read);
            self.rested.remove(&read);
            self.racy.insert(read);
        }
        self.doubted.extend(left.doubted.into_iter().map(place));
        self.unreadable += report.files_unreadable;
        if !left.whole.is_empty() {
            self.scan_all("what changed does not tell all");
        }
        self.indexer.sweep_excluded()?;
        self.indexer.wipe(&mut report)?;
        if report.files_changed > 0 {
            self.schedule_words();
        }
        // Another process may have read what was appended.
        let rested = Instant::now() + self.options.rest;
        self.proofs.get_or_insert(rested);
        Ok(Done::Synced(report))
    }

    /// Words wait until nothing has changed for a while.
    fn schedule_words(&mut self) {
        let now = Instant::now();
        let since = self.words.map_or(now, |(_, since)| since);
        let due = (now + self.options.quiet).min(since + LATEST);
        self.words = Some((due, since));
    }

    /// Index some words, and settle what is quiet.
    fn index_words(&mut self, slice: Duration) -> Result<Done, Error> {
        let mut report = Report::default();
        let items = |watch: &Self| watch.indexer.catalogue.work_left(0).map(|left| left.1);
        let before = items(self)?;
        let is_over = self.indexer.index_words_in_slices(slice, &mut report)?;
        let now = Instant::now();
        let left = items(self)?;
        // What cannot be indexed now is tried again with the next change. An item may stand for no
        // entry that is lacking, and still has to be done.
        let goes_on = left > 0 && (left < before || report.passages > 0 || !is_over);
        let pause = if is_over { BREATH } else { WHILE_MERGED };
        self.words = goes_on.then_some((now + pause, now));
        // A change of a file that was read since the last time may not have been notified yet.
        let certain = self.rested.difference(&self.doubted);
        let config = &self.indexer.config;
        let early = ingest::settle(&self.indexer.catalogue, &config.roots, certain)?;
        self.rested = std::mem::take(&mut self.racy);
        self.rested.extend(early);
        if !self.rested.is_empty() {
            self.words.get_or_insert((now + self.options.quiet, now));
        }
        let cwds = self.indexer.catalogue.own_working_directories()?;
        if cwds != self.cwds {
            let found = self
                .indexer
                .config
                .add_project_roots(&self.indexer.catalogue)?;
            self.cwds = cwds;
            if !found.is_empty() {
                self.scan_now("roots were found");
            }
        }
        Ok(Done::Indexed(report))
    }

    /// Prove some of what has grown and rests.
    fn prove(&mut self) -> Result<Done, Error> {
        let mut report = Report::default();
        if self.audits.is_empty() {
            self.audits = self.indexer.audits(Some(self.options.rest))?;
        }
        self.indexer.prove_some(&mut self.audits, &mut report)?;
        let now = Instant::now();
        self.proofs = match self.audits.is_empty() {
            false => Some(now + BREATH),
            // What has changed lately, or cannot be read.
            true if !self.indexer.audits(None)?.is_empty() => Some(now + self.options.rest),
            true => None,
        };
        if report.files_changed > 0 {
            self.schedule_words();
        }
        Ok(Done::Proven(report))
    }

    /// Report the sessions that changed since the last report.
    fn report_changes(&mut self) -> Result<(), Error> {
        loop {
            let (changes, missed) = self.feed.advance(&self.indexer.catalogue)?;
            if changes.is_empty() && !missed {
                return Ok(());
            }
            (self.on_event)(WatchEvent::Changed {
                changes: &changes,
                missed,
            });
        }
    }
}

/// What a scan costs, without the reading of what was new: the next one must not wait for as long
/// as a first index took.
fn scan_time(report: &Report) -> Duration {
    Duration::try_from_secs_f64(report.ms.discover / 1000.0).unwrap_or_default()
}

/// Whether it may be possible later: the disk is full or read-only, too many files are open, or the
/// process that took the lock when it was released keeps it.
fn passes(error: &Error) -> bool {
    match error {
        Error::Io { .. } | Error::Unwritable { .. } | Error::Busy { .. } => true,
        error => error.is_refusal_to_write() || error.is_replaced(),
    }
}

#[cfg(test)]
mod tests;
