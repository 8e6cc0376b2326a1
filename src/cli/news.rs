//! What is new while a program of ours stays open?
//!
//! It keeps the index current itself, as `watch` does; where another process watches, it listens to
//! what that one commits.

use std::time::Duration;

use sessionary::index::{WatchEnd, WatchEvent, WatchOptions};
use sessionary::{Config, Error, Event, Freshness, Index, Indexer};

/// How often it is looked whether the other process watches still, and anybody listens.
const PAUSE: Duration = Duration::from_secs(60);

/// What is new in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// So many of the files that must be read were read.
    Reading { done: u64, all: u64 },
    /// Sessions are new, gone, or say more than before.
    Changed,
    /// All that was on disk is in the index.
    Current,
    /// It is kept current no more, for this reason.
    Stopped(String),
}

/// Keeps the index current and says what is new, until nobody listens any more.
pub fn keep_current(config: &Config, say: &dyn Fn(News) -> bool) {
    let ended = loop {
        match watch(config, say) {
            // When that process is gone, it is this one's turn.
            Err(Error::Watched { .. }) => match listen(config, say) {
                Ok(()) => {}
                Err(error) => break Err(error),
            },
            end => break end,
        }
    };
    let why = match ended {
        Ok(WatchEnd::Cancelled) | Err(Error::Cancelled) => return,
        Ok(WatchEnd::Removed) => "the index was removed".to_owned(),
        Ok(WatchEnd::Reconfigured) => "other settings are in force by now".to_owned(),
        Ok(_) => "another version of sessionary is at work".to_owned(),
        Err(error) => error.to_string(),
    };
    say(News::Stopped(why));
}

/// Keeps the index current.
fn watch(config: &Config, say: &dyn Fn(News) -> bool) -> Result<WatchEnd, Error> {
    let mut all = 0;
    let mut progress = |event| match event {
        Event::Discovered { files, .. } => {
            all = files;
            say(News::Reading { done: 0, all });
        }
        Event::Catalogued { files, .. } => {
            say(News::Reading { done: files, all });
        }
        Event::Readable => {
            say(News::Changed);
        }
        _ => {}
    };
    let indexer = Indexer::open_to_watch(config, true, &mut progress)?;
    let told = &mut |event: WatchEvent<'_>| {
        match event {
            WatchEvent::Checked(..) => {
                say(News::Changed);
                say(News::Current);
            }
            WatchEvent::Synced(_) | WatchEvent::Indexed(_) => {
                say(News::Changed);
            }
            _ => {}
        };
    };
    indexer.watch(&WatchOptions::default(), told)
}

/// Tells what another process commits, as long as one watches.
fn listen(config: &Config, say: &dyn Fn(News) -> bool) -> Result<(), Error> {
    let mut feed = Index::subscribe(config, None)?;
    // What was committed before is not told.
    say(News::Changed);
    say(News::Current);
    loop {
        let is_told = match feed.wait(PAUSE)? {
            Some(_) => say(News::Changed),
            None if !Index::open(config, Freshness::AsCommitted)?.is_watched() => return Ok(()),
            None => true,
        };
        if !is_told || config.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
}
