//! How does a client learn of changes? A thread reads the feed and tells them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use serde_json::{Value, json};
use sessionary::index::{Feed, FeedEvent};
use sessionary::model::Cancel;
use sessionary::{Config, Error, Index};

use crate::failure::Failure;
use crate::rpc::OutputQueue;

/// The notification.
pub const METHOD: &str = "change";
/// So often it is looked whether anybody listens still.
const PAUSE: Duration = Duration::from_secs(1);

/// The changes that a client is told.
pub struct Changes {
    config: Config,
    /// What ends the thread that tells them.
    telling: Mutex<Option<Cancel>>,
}

impl Changes {
    pub fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            telling: Mutex::default(),
        }
    }

    /// Begins to tell them, in the place of an earlier beginning.
    pub fn start(&self, since: Option<i64>, output: &OutputQueue) -> Result<(), Failure> {
        let feed = Index::subscribe(&self.config, since)?;
        let (cancel, output) = (Cancel::default(), output.clone());
        if let Some(before) = self.lock().replace(cancel.clone()) {
            before.cancel();
        }
        let tell = move || {
            if let Err(error) = tell(feed, &output, &cancel) {
                output.news(METHOD, &json!({ "ended": error.to_string() }));
            }
        };
        Builder::new()
            .name("serve-changes".to_owned())
            .spawn(tell)?;
        Ok(())
    }

    /// Tells no more of them.
    pub fn end(&self) {
        if let Some(telling) = self.lock().take() {
            telling.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Cancel>> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(mut feed: Feed, output: &OutputQueue, cancel: &Cancel) -> Result<(), Error> {
    while !(cancel.is_cancelled() || output.is_closed()) {
        let event = feed.wait(PAUSE)?;
        if cancel.is_cancelled() {
            break;
        }
        match event {
            Some(FeedEvent::Changes(changes)) => {
                for change in changes {
                    let change = serde_json::to_value(change).unwrap_or(Value::Null);
                    output.news(METHOD, &change);
                }
            }
            Some(_) => output.news(METHOD, &json!({ "missed": true })),
            None => {}
        }
    }
    Ok(())
}
