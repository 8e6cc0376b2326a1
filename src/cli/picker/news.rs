//! What is new while the picker is open?
//!
//! The picker keeps the index current itself, as `watch` does; where another process watches, it
//! listens to what that one commits.

use std::sync::mpsc::Sender;
use std::time::Duration;

use sessionary::index::{FeedEvent, WatchEvent, WatchOptions};
use sessionary::{Config, Error, Event, Index, Indexer};

use super::message::{Message, News};
use super::start_thread;

/// How often it is looked whether anybody listens still, where another process watches.
const PAUSE: Duration = Duration::from_secs(60);

/// Tells what is new until nobody listens any more.
pub fn start(config: &Config, tell: &Sender<Message>) {
    let (config, tell) = (config.clone(), tell.clone());
    start_thread("picker-news", move || {
        let say = |news| tell.send(Message::News(news)).is_ok();
        match watch(&config, &say) {
            Ok(()) | Err(Error::Cancelled) => {}
            Err(Error::Watched { .. }) => {
                say(News::Current);
                if let Err(error) = listen(&config, &say) {
                    say(News::Behind(error.to_string()));
                }
            }
            Err(error) => {
                say(News::Behind(error.to_string()));
            }
        }
    });
}

/// Keeps the index current.
fn watch(config: &Config, say: &dyn Fn(News) -> bool) -> Result<(), Error> {
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
    indexer.watch(&WatchOptions::default(), told).map(drop)
}

/// Tells what another process commits.
fn listen(config: &Config, say: &dyn Fn(News) -> bool) -> Result<(), Error> {
    let mut feed = Index::subscribe(config, None)?;
    loop {
        match feed.wait(PAUSE)? {
            Some(FeedEvent::Changes(_) | FeedEvent::Missed | _) if !say(News::Changed) => {
                return Ok(());
            }
            _ if config.cancel.is_cancelled() => return Ok(()),
            _ => {}
        }
    }
}
