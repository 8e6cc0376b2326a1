//! What is new while the picker is open?
//!
//! The picker keeps the index current itself, as `watch` does; where another process watches, it
//! listens to what that one commits.

use std::sync::mpsc::Sender;
use std::time::Duration;

use sessionary::index::{WatchEnd, WatchEvent, WatchOptions};
use sessionary::{Config, Error, Event, Freshness, Index, Indexer};

use super::message::{Message, News};
use super::start_thread;

/// How often it is looked whether the other process watches still, and anybody listens.
const PAUSE: Duration = Duration::from_secs(60);

/// Tells what is new until nobody listens any more.
pub fn start(config: &Config, tell: &Sender<Message>) {
    let (config, tell) = (config.clone(), tell.clone());
    start_thread("picker-news", move || {
        let say = |news| tell.send(Message::News(news)).is_ok();
        let behind = loop {
            match watch(&config, &say) {
                // When that process is gone, it is this one's turn.
                Err(Error::Watched { .. }) => match listen(&config, &say) {
                    Ok(()) => {}
                    Err(error) => break Err(error),
                },
                ended => break ended,
            }
        };
        let why = match behind {
            Ok(WatchEnd::Cancelled) | Err(Error::Cancelled) => return,
            Ok(WatchEnd::Removed) => "the index was removed".to_owned(),
            Ok(WatchEnd::Reconfigured) => "other settings are in force by now".to_owned(),
            Ok(_) => "another version of sessionary is at work".to_owned(),
            Err(error) => error.to_string(),
        };
        say(News::Behind(why));
    });
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
