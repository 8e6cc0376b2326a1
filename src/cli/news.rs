//! What is new while a program of ours stays open?
//!
//! It keeps the index current itself, as `watch` does; where another process watches, it listens to
//! what that one commits.

use std::sync::mpsc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use sessionary::index::{FeedEvent, WatchEnd, WatchEvent, WatchOptions};
use sessionary::{Config, Error, Event, Index, Indexer, StoreFault, with_causes};

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
    /// What is new cannot be written now, for this reason. It is tried again.
    Behind(String),
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
    let indexer = Indexer::open_to_watch(config, &mut |_| {})?;
    let (mut reading, mut is_behind) = (Reading::default(), false);
    let told = &mut |event: WatchEvent<'_>| {
        match event {
            // What is tried again comes no further.
            WatchEvent::Progress(_) if is_behind => {}
            WatchEvent::Progress(event) => {
                if let Some(news) = reading.news(event) {
                    say(news);
                }
            }
            WatchEvent::Checked { .. } => {
                is_behind = false;
                say(News::Changed);
                say(News::Current);
            }
            WatchEvent::Synced(_) | WatchEvent::Indexed(_) => {
                say(News::Changed);
            }
            // What the words lack is found in the files.
            WatchEvent::Delayed(error) if error.fault() == Some(StoreFault::Words) => {}
            WatchEvent::Delayed(error) => {
                is_behind = true;
                say(News::Behind(with_causes(error)));
            }
            _ => {}
        };
    };
    indexer.watch(&WatchOptions::default(), told)
}

/// How far a full scan has come.
#[derive(Default)]
struct Reading {
    all: u64,
    percent: u64,
}

impl Reading {
    /// What is told of that: files one by one are more than anybody sees.
    fn news(&mut self, event: Event) -> Option<News> {
        match event {
            Event::Discovered { files, .. } => {
                (self.all, self.percent) = (files, 0);
                Some(News::Reading {
                    done: 0,
                    all: files,
                })
            }
            Event::Catalogued { files, .. } => {
                let percent = files.saturating_mul(100) / self.all.max(1);
                let is_new = std::mem::replace(&mut self.percent, percent) != percent;
                is_new.then_some(News::Reading {
                    done: files,
                    all: self.all,
                })
            }
            Event::Readable => Some(News::Changed),
            _ => None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_told_by_the_hundredth() {
        let mut reading = Reading::default();
        let read = |files| Event::Catalogued { files, bytes: 0 };
        let found = Event::Discovered {
            files: 300,
            bytes: 0,
        };
        assert_eq!(
            reading.news(found),
            Some(News::Reading { done: 0, all: 300 })
        );
        let told = (1..=300).filter_map(|files| reading.news(read(files)));
        let told: Vec<News> = told.collect();
        assert_eq!(told.len(), 100);
        assert_eq!(
            (told.first(), told.last()),
            (
                Some(&News::Reading { done: 3, all: 300 }),
                Some(&News::Reading {
                    done: 300,
                    all: 300
                })
            )
        );
        assert_eq!(reading.news(Event::Readable), Some(News::Changed));
    }
}
