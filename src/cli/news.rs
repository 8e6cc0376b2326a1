//! What is new while a program of ours stays open?
//!
//! It keeps the index current itself, as `watch` does; where another process watches, it listens to
//! what that one commits.

use std::sync::mpsc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use sessionary::index::{FeedEvent, WatchEnd, WatchEvent, WatchOptions};
use sessionary::{Config, Error, Event, Index, Indexer, with_causes};

/// How often it is looked whether it was called off, while another process watches.
const PAUSE: Duration = Duration::from_secs(60);
/// How often it is looked whether there is an index again.
const SHORT_PAUSE: Duration = Duration::from_secs(1);

/// What is new in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// So many of the files that must be read were read.
    Reading { done: u64, all: u64 },
    /// Sessions are new, gone, or say more than before.
    Changed,
    /// All that was on disk is in the index.
    Current,
    /// The index was removed: there is nothing to keep current until somebody makes one.
    Removed,
    /// It is kept current no more, for this reason.
    Stopped(String),
}

/// Keeps the index current and says what is new, until nobody listens any more.
pub fn keep_current(config: &Config, say: &dyn Fn(News) -> bool) {
    let why = loop {
        let end = match watch(config, say) {
            Err(Error::Watched { .. }) => match listen(config, say) {
                // When that process is gone, it is this one's turn.
                Ok(()) => continue,
                Err(error) => Err(error),
            },
            end => end,
        };
        match end {
            Ok(WatchEnd::Cancelled) | Err(Error::Cancelled) => return,
            // Whoever removed it did not mean that it is made again, until somebody asks for it.
            Ok(WatchEnd::Removed) | Err(Error::NoIndex) => {
                if !(say(News::Removed) && is_made_again(config)) {
                    return;
                }
            }
            Ok(WatchEnd::Reconfigured) => break "other settings are in force by now".to_owned(),
            Ok(_) => break "another version of sessionary is at work".to_owned(),
            Err(error) => break with_causes(&error),
        }
    };
    say(News::Stopped(why));
}

/// Waits until somebody has made an index; `false`: nobody waits for that any more.
fn is_made_again(config: &Config) -> bool {
    while !config.cancel.is_cancelled() {
        sleep(SHORT_PAUSE);
        if config.catalogue_path().exists() {
            return true;
        }
    }
    false
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
    let indexer = Indexer::open_to_watch(config, &mut progress)?;
    let told = &mut |event: WatchEvent<'_>| {
        match event {
            WatchEvent::Checked { .. } => {
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

/// What is heard of the other process.
enum Heard {
    Event(Result<FeedEvent, Error>),
    /// It watches no longer.
    Ended,
}

/// Tells what another process commits, as long as one watches.
fn listen(config: &Config, say: &dyn Fn(News) -> bool) -> Result<(), Error> {
    let feed = Index::subscribe(config, None)?;
    // What was committed before is not told.
    say(News::Changed);
    say(News::Current);
    let (tell, heard) = mpsc::channel();
    let told_of_the_end = tell.clone();
    // Both wait without waking up, and what they wait for cannot be called off: they end with
    // their event, or with the program.
    start("feed", config, move || {
        feed.map(Heard::Event).all(|event| tell.send(event).is_ok());
    })?;
    let watched = config.clone();
    start("other-watcher", config, move || {
        Index::wait_while_watched(&watched);
        let _ = told_of_the_end.send(Heard::Ended);
    })?;
    loop {
        let is_told = match heard.recv_timeout(PAUSE) {
            Ok(Heard::Event(event)) => event.map(|_| say(News::Changed))?,
            Ok(Heard::Ended) => return Ok(()),
            // Nobody is told anything until there is news, and a picker that was left is gone.
            Err(_) => true,
        };
        if !is_told || config.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
}

fn start(name: &str, config: &Config, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let started = Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(|source| Error::Io {
        path: config.index_dir.clone(),
        source,
    })
}
