//! How does a client learn of changes? A thread reads the feed and tells them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sessionary::index::{Feed, FeedEvent};
use sessionary::model::{Cancel, FeedPosition, SessionChange};
use sessionary::{Config, Error, Index, with_causes};

use super::params;
use crate::failure::Failure;
use crate::rpc::{self, OutputQueue};

/// The notification.
pub const METHOD: &str = "change";
/// So often it is looked whether anybody listens still.
const PAUSE: Duration = Duration::from_secs(1);

/// What a client is told once it has subscribed.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ChangeNotice {
    /// A session has changed.
    Change(SessionChange),
    /// Some changes are not known any more, or had no room: what is read again is right.
    Missed {
        /// Always `true`.
        missed: bool,
    },
    /// No more will be told.
    Ended {
        /// Why.
        ended: String,
    },
}

impl ChangeNotice {
    fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

/// Why the index is kept current no more, as soon as that is so. Clones are one.
pub type Stopped = Arc<OnceLock<String>>;

/// The changes that a client is told.
pub struct Changes {
    config: Config,
    stopped: Stopped,
    /// What ends the thread that tells them.
    telling: Mutex<Option<Cancel>>,
}

impl Changes {
    pub fn new(config: &Config, stopped: &Stopped) -> Self {
        Self {
            config: config.clone(),
            stopped: Arc::clone(stopped),
            telling: Mutex::default(),
        }
    }

    /// Begins to tell them, in the place of an earlier beginning: those behind the position that is
    /// given back. Where another one was asked for that is not of this filling, that is told first.
    pub fn start(
        &self,
        asked: params::Subscribe,
        output: &OutputQueue,
    ) -> Result<FeedPosition, Failure> {
        let mut feed = Index::subscribe(&self.config, None)?;
        let mut position = feed.position();
        let is_known = |seq: i64| {
            let is_same = |id: &String| *id == position.index_id;
            seq <= position.seq && asked.index_id.as_ref().is_none_or(is_same)
        };
        let is_missed = asked.since.is_some_and(|seq| !is_known(seq));
        if let Some(seq) = asked.since.filter(|_| !is_missed) {
            position.seq = seq;
            feed = Index::subscribe(&self.config, Some(&position))?;
        }
        let (cancel, output) = (Cancel::default(), output.clone());
        if let Some(before) = self.lock().replace(cancel.clone()) {
            before.cancel();
        }
        let stopped = Arc::clone(&self.stopped);
        let tell = move || {
            if is_missed {
                say(&output, &MISSED);
            }
            match tell(feed, &output, &cancel, &stopped) {
                Ok(None) => {}
                Ok(Some(ended)) => say(&output, &ChangeNotice::Ended { ended }),
                Err(error) => {
                    let ended = with_causes(&error);
                    say(&output, &ChangeNotice::Ended { ended });
                }
            }
        };
        Builder::new()
            .name("serve-changes".to_owned())
            .spawn(tell)?;
        Ok(position)
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

/// Tells changes until nobody is to be told any more; or until there will be no more, for this
/// reason.
fn tell(
    mut feed: Feed,
    output: &OutputQueue,
    cancel: &Cancel,
    stopped: &Stopped,
) -> Result<Option<String>, Error> {
    while !output.is_closed() {
        // What was committed before that is told still.
        let stopped = stopped.get();
        let event = feed.wait(if stopped.is_some() {
            Duration::ZERO
        } else {
            PAUSE
        })?;
        if cancel.is_cancelled() {
            break;
        }
        match (event, stopped) {
            (Some(FeedEvent::Changes(changes)), _) => {
                let changes = changes.into_iter().map(ChangeNotice::Change);
                changes.for_each(|change| say(output, &change));
            }
            (Some(_), _) => say(output, &MISSED),
            (None, Some(why)) => return Ok(Some(why.clone())),
            (None, None) => {}
        }
    }
    Ok(None)
}

const MISSED: ChangeNotice = ChangeNotice::Missed { missed: true };

fn say(output: &OutputQueue, told: &ChangeNotice) {
    let line = |told: &ChangeNotice| rpc::notification(METHOD, &told.json());
    output.news(&line(told), &line(&MISSED));
}
