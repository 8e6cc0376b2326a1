//! What has changed since? The feed of changed sessions, read on from where its reader is.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Config, Error, Index};
use crate::catalogue::Catalogue;
use crate::model::{FeedPosition, SessionChange};
use crate::source::events::Events;
use crate::source::identity::file_at;

/// Changes that are read at once.
const BATCH: usize = 1000;
/// How long a feed sleeps before it checks again for a commit, by reading one number in shared
/// memory: where the system reports no changes, and for a while after it has.
const PAUSE: Duration = Duration::from_millis(10);
/// SQLite writes a commit a moment before others can read it, so a feed keeps checking this long
/// after the last write.
const WHILE: Duration = Duration::from_millis(100);
/// So often it checks where the system reports nothing.
const SELDOM: Duration = Duration::from_secs(60);

impl FeedPosition {
    /// What follows, and whether something that followed is kept no more: another catalogue stands
    /// there, or too much has changed.
    pub(super) fn advance(
        &mut self,
        catalogue: &Catalogue,
    ) -> Result<(Vec<SessionChange>, bool), Error> {
        let kept = catalogue.changes_kept()?;
        // A number that was never given here is of another filling, too.
        let is_other = self.index_id != kept.index_id || self.seq > kept.last;
        if is_other {
            self.seq = 0;
        }
        let missed = is_other || self.seq + 1 < kept.first;
        self.index_id = kept.index_id;
        let changes = match self.seq < kept.last {
            true => catalogue.changes_after(self.seq, BATCH)?,
            false => Vec::new(),
        };
        if let Some(last) = changes.last() {
            self.seq = last.seq;
        }
        Ok((changes, missed))
    }
}

/// What a [`Feed`] has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedEvent {
    /// Changes of sessions, in their order.
    Changes(Vec<SessionChange>),
    /// Some changes are no longer known, because the index was rebuilt or the reader was away for
    /// more than 100,000 changes. A reader that keeps a copy has to read all sessions again. The
    /// changes that are still known follow.
    Missed,
}

/// The changes of sessions as they are committed, by whatever process: see [`Index::subscribe`].
///
/// As an iterator it waits for ever.
pub struct Feed {
    path: PathBuf,
    catalogue: Catalogue,
    position: FeedPosition,
    version: Option<i64>,
    /// Changes that are given next, after [`FeedEvent::Missed`] was given.
    changes: Vec<SessionChange>,
    /// What the system reports of the catalogue's folder, while it does.
    events: Option<Events>,
    /// When something was last written there, as far as that is known.
    written: Instant,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed")
            .field("path", &self.path)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Index {
    /// The changes behind `since`, including future ones; `None`: only future ones.
    ///
    /// It reads on a connection of its own and needs no watcher; without one, changes are committed
    /// by whatever sync finds them. While it waits, the system wakes it when the catalogue is
    /// written. Where the system reports nothing, it checks a hundred times a second for a commit,
    /// by reading one number in shared memory and the identity of the file.
    ///
    /// A list and what has changed since have no gap between them where the list and
    /// [`Snapshot::feed_position`](super::Snapshot::feed_position) are of one snapshot. Where
    /// `since` is of another filling, as that of an index which was rebuilt later, the reader gets
    /// [`FeedEvent::Missed`]; so does who is subscribed while it is rebuilt.
    ///
    /// ```no_run
    /// use sessionary::index::{FeedEvent, ListScope};
    /// use sessionary::{Config, Freshness, Index};
    /// # fn main() -> Result<(), sessionary::Error> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let index = Index::open(&config, Freshness::Check)?;
    /// let (list, position) =
    ///     index.ask(|s| Ok((s.list(&ListScope::default())?, s.feed_position()?)))?;
    /// let mut copy = list.sessions;
    /// let mut feed = Index::subscribe(&config, Some(&position))?;
    /// while let Some(event) = feed.next() {
    ///     match event? {
    ///         FeedEvent::Changes(changes) => {
    ///             let numbers: Vec<i64> = changes.iter().map(|one| one.session).collect();
    ///             copy.retain(|row| !numbers.contains(&row.number));
    ///             // Those that are still there.
    ///             let again = ListScope { numbers: Some(numbers), ..ListScope::default() };
    ///             copy.extend(index.list(&again)?.sessions);
    ///         }
    ///         _ => break, // All sessions are to be listed again.
    ///     }
    ///     // Who goes on another time stores `feed.position()`.
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoIndex`] before there is an index.
    pub fn subscribe(config: &Config, since: Option<&FeedPosition>) -> Result<Feed, Error> {
        let path = config.catalogue_path();
        let catalogue = Catalogue::open_readable(&path)?.ok_or(Error::NoIndex)?;
        let position = match since {
            Some(since) => since.clone(),
            None => catalogue.changes_kept()?.end(),
        };
        Ok(Feed {
            path,
            catalogue,
            position,
            version: None,
            changes: Vec::new(),
            events: None,
            written: Instant::now(),
        })
    }
}

impl Feed {
    /// Up to where changes were given: who stores it can subscribe from there later. After
    /// [`FeedEvent::Missed`] store it once all sessions were read again.
    pub fn position(&self) -> FeedPosition {
        FeedPosition {
            index_id: self.position.index_id.clone(),
            seq: match self.changes.first() {
                Some(next) => next.seq - 1,
                None => self.position.seq,
            },
        }
    }

    /// What is new, without waiting; `None` when nothing is.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn poll(&mut self) -> Result<Option<FeedEvent>, Error> {
        if !self.changes.is_empty() {
            return Ok(Some(FeedEvent::Changes(std::mem::take(&mut self.changes))));
        }
        self.reopen()?;
        // This is asked before reading: a commit in between leads to reading again, and none is
        // missed.
        let version = self.catalogue.data_version()?;
        if self.version == Some(version) {
            return Ok(None);
        }
        let (changes, missed) = self.position.advance(&self.catalogue)?;
        if changes.len() < BATCH {
            self.version = Some(version);
        }
        if missed {
            self.changes = changes;
            return Ok(Some(FeedEvent::Missed));
        }
        Ok((!changes.is_empty()).then_some(FeedEvent::Changes(changes)))
    }

    /// Continue in the catalogue that is at the path now: a damaged or removed one is rebuilt
    /// there.
    fn reopen(&mut self) -> Result<(), Error> {
        let there = file_at(&self.path);
        if there.is_none() || there == self.catalogue.file() {
            return Ok(());
        }
        match Catalogue::open_readable(&self.path) {
            Ok(Some(catalogue)) => {
                (self.catalogue, self.version) = (catalogue, None);
            }
            // Somebody is making it.
            Ok(None) => {}
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The next event, waiting at most so long for it; `None` when none came.
    ///
    /// # Errors
    /// As [`Feed::poll`].
    pub fn wait(&mut self, most: Duration) -> Result<Option<FeedEvent>, Error> {
        let started = Instant::now();
        loop {
            if let Some(news) = self.poll()? {
                return Ok(Some(news));
            }
            let left = most.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            self.pause(left);
        }
    }

    /// Sleep until something may have been committed, `most` at most.
    fn pause(&mut self, most: Duration) {
        if self.written.elapsed() < WHILE {
            return sleep(most.min(PAUSE));
        }
        if self.events.is_none() {
            self.events = self.watch();
            // What was written before is not reported.
            return sleep(most.min(PAUSE));
        }
        let until = Instant::now() + most.min(SELDOM);
        let reported = self.events.as_ref().map(|events| events.take(Some(until)));
        let is_quiet = reported.is_none_or(|all| all.paths.is_empty() && all.everything.is_none());
        if !is_quiet {
            self.written = Instant::now();
        }
        // Another folder may take its place, of which nothing is reported.
        if !self.path.exists() {
            self.events = None;
        }
    }

    /// Have what is written to the catalogue reported, if that can be.
    fn watch(&self) -> Option<Events> {
        let folder = self.path.parent().filter(|_| self.path.exists())?;
        let mut events = Events::new().ok()?;
        events.watch(folder).ok()?.then_some(events)
    }
}

impl Iterator for Feed {
    type Item = Result<FeedEvent, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.wait(Duration::MAX) {
                Ok(None) => {}
                Ok(Some(news)) => return Some(Ok(news)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
