//! What is done when something was told, or is due? Look, write, say, answer; then index words and settle.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Ended, Stop, Watch, Watched};
use crate::index::Error;
use crate::ingest::{self, Hinted};
use crate::model::Report;

/// How long words are indexed before it is asked whether something was told.
const SLICE: Duration = Duration::from_secs(1);
/// Words are indexed this long after the first change in any case.
const LATEST: Duration = Duration::from_secs(5);
/// When something cannot be written it is tried again after this time.
const AGAIN: Duration = Duration::from_secs(1);
/// Looks at everything take at most one part in so many of the time.
const SHARE: u32 = 20;
/// Polling takes at most one part in so many of the time.
const POLL_SHARE: u32 = 50;

impl Watch<'_> {
    /// Do what was told of and what is due, as far as it can be done now.
    pub(super) fn turn(&mut self) -> Result<(), Stop> {
        if Instant::now() >= self.next_full {
            self.check_executable()?;
            self.presence.sweep();
            let why = match self.polls {
                None => "it is time again",
                Some(_) => "polling",
            };
            self.look_at_all(why);
        }
        // Who waits must know whether what is watched is still what is there.
        if !self.cookies.is_empty() && self.roots.iter().any(super::roots::Root::is_other) {
            self.look_at_all("another directory stands in a root's place");
        }
        if !self.indexer.config.exclude.is_empty() && !self.hints.is_empty() {
            // Whether a file is excluded may be told by another one of its session.
            self.hints.clear();
            self.look_at_all("something changed");
        }
        let is_full = self.full.is_some() && Instant::now() >= self.not_before;
        let waits =
            !self.hints.is_empty() || (!self.cookies.is_empty() && !self.doubted.is_empty());
        if is_full || waits {
            self.with_lock(|watch| match is_full {
                true => watch.check(),
                false => watch.sync(),
            })?;
        }
        self.say()?;
        if self.hints.is_empty() && self.full.is_none() {
            for cookie in self.cookies.drain(..) {
                self.presence.answer(&cookie);
            }
        }
        match self.words {
            Some((due, _)) if Instant::now() >= due => self.with_lock(Self::index_words),
            _ => Ok(()),
        }
    }

    /// With the writer lock. What cannot be written now is tried again later.
    fn with_lock(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Stop> {
        let mut pause = Duration::from_micros(50);
        while !self.indexer.take_turn()? {
            if self.indexer.config.cancel.is_cancelled() {
                return Err(Stop::Ended(Ended::Cancelled));
            }
            if self.indexer.is_removed() {
                return Err(Stop::Ended(Ended::Removed));
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        if !self.indexer.catalogue.has_our_schema()? {
            return Err(Stop::Ended(Ended::OtherVersion));
        }
        let done = work(self).and_then(|()| self.tell_changes());
        self.indexer.give_way()?;
        match done {
            Ok(()) => Ok(()),
            Err(Error::Catalogue(error)) if error.is_refusal_to_write() => {
                (self.told)(Watched::Delayed(&Error::Catalogue(error)));
                self.again("what could not be written");
                Ok(())
            }
            Err(Error::Catalogue(error)) if error.is_damage() => {
                // A check builds it anew.
                self.again("the catalogue is damaged");
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn again(&mut self, why: &str) {
        self.look_at_all(why);
        self.not_before = Instant::now() + AGAIN;
        self.words = self.words.map(|(_, since)| (self.not_before, since));
    }

    /// Look at everything.
    fn check(&mut self) -> Result<(), Error> {
        let started = Instant::now();
        self.watch_roots();
        let report = self.indexer.sync_catalogue(&mut |_| {})?;
        // Roots that follow from sessions met for the first time are watched from now on, and looked at once more.
        let found_roots = self.indexer.config.roots.len() > self.roots.len();
        let took = started.elapsed();
        let now = Instant::now();
        self.hints.clear();
        self.racy.clear();
        self.doubted.clear();
        self.unreadable = report.files_unreadable;
        self.state.files = report.files_seen;
        self.not_before = now + took * SHARE;
        self.next_full = now
            + match self.polls {
                None => self.options.full_scan,
                Some(_) => self.options.interval.max(took * POLL_SHARE),
            };
        let why = self.full.take().unwrap_or_default();
        if found_roots {
            self.look_at_all("roots were found");
            self.not_before = now;
        }
        if report.files_changed > 0 {
            self.owe_words();
        }
        (self.told)(Watched::Checked(&why, &report));
        Ok(())
    }

    /// Look at what was told of.
    fn sync(&mut self) -> Result<(), Error> {
        let mut report = Report::default();
        let asked = !self.cookies.is_empty();
        let config = &self.indexer.config;
        let mut hinted: Vec<Hinted<'_>> = Vec::new();
        let mut of = Vec::new();
        for (at, paths) in &self.hints {
            if let Some(spec) = config.roots.get(*at) {
                of.push(*at);
                let paths = paths.clone();
                let prove = false;
                hinted.push(Hinted { spec, paths, prove });
            }
        }
        // Who asks wants to be certain: what may have changed within a tick of the clock is read again.
        for (at, path) in self.doubted.iter().filter(|_| asked) {
            if let Some(spec) = config.roots.get(*at) {
                of.push(*at);
                let paths = BTreeSet::from([path.clone()]);
                let prove = true;
                hinted.push(Hinted { spec, paths, prove });
            }
        }
        let (catalogue, formats) = (&self.indexer.catalogue, &config.formats);
        let left = ingest::sync_hints(catalogue, &hinted, formats, &config.cancel, &mut report)?;
        drop(hinted);
        if asked {
            self.doubted.clear();
        }
        self.hints.clear();
        let place = |(at, path): (usize, String)| (of[at], path);
        for read in left.racy.into_iter().map(place) {
            self.doubted.remove(&read);
            self.racy.insert(read);
        }
        self.doubted.extend(left.doubted.into_iter().map(place));
        self.unreadable += report.files_unreadable;
        if !left.whole.is_empty() {
            self.look_at_all("a root came or went");
        }
        if report.files_changed > 0 {
            self.owe_words();
        }
        (self.told)(Watched::Synced(&report));
        Ok(())
    }

    /// Words wait until nothing has changed for a while.
    fn owe_words(&mut self) {
        let now = Instant::now();
        let since = self.words.map_or(now, |(_, since)| since);
        let due = (now + self.options.quiet).min(since + LATEST);
        self.words = Some((due, since));
    }

    /// Index some words, and settle what is quiet.
    fn index_words(&mut self) -> Result<(), Error> {
        let mut report = Report::default();
        self.indexer.index_words_in_slices(SLICE, &mut report)?;
        let now = Instant::now();
        // What cannot be indexed now is tried again with the next change.
        let goes_on = report.outstanding > 0 && report.passages > 0;
        self.words = goes_on.then_some((now, now));
        let certain = self.racy.difference(&self.doubted);
        let config = &self.indexer.config;
        let early = ingest::settle(&self.indexer.catalogue, &config.roots, certain)?;
        self.racy.clear();
        if !early.is_empty() {
            self.racy.extend(early);
            self.words.get_or_insert((now + self.options.quiet, now));
        }
        let cwds = self.indexer.catalogue.working_directories()?;
        if cwds != self.cwds {
            let found = self
                .indexer
                .config
                .add_project_roots(&self.indexer.catalogue)?;
            self.cwds = cwds;
            if !found.is_empty() {
                self.look_at_all("roots were found");
            }
        }
        (self.told)(Watched::Indexed(&report));
        Ok(())
    }

    fn tell_changes(&mut self) -> Result<(), Error> {
        loop {
            let (changes, missed) = self.feed.advance(&self.indexer.catalogue)?;
            if changes.is_empty() && !missed {
                return Ok(());
            }
            (self.told)(Watched::Changed(&changes, missed));
        }
    }
}
