//! The index of a process that answers many questions, opened again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sessionary::{Cancel, Config, Error, Freshness, Index};

/// How the index is opened. Clones are one.
#[derive(Clone)]
pub struct ServedIndex {
    config: Config,
    /// Whether what the configuration file leaves out was stored once. If others have stored
    /// something else since, that holds.
    rules_are_set: Arc<AtomicBool>,
}

impl ServedIndex {
    pub fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            rules_are_set: Arc::default(),
        }
    }

    /// The same, for a question that may be called off.
    pub fn cancelled_by(&self, cancel: &Cancel) -> Self {
        let mut served = self.clone();
        served.config.cancel = cancel.clone();
        served
    }

    /// What to open it by now.
    pub fn config(&self) -> Config {
        let mut config = self.config.clone();
        if self.rules_are_set.load(Ordering::Relaxed) {
            config.rules = config.rules.as_stored();
        }
        config
    }

    pub fn open(&self, freshness: Freshness) -> Result<Index, Error> {
        let index = Index::open(&self.config(), freshness)?;
        if !index.config().rules.are_set() {
            self.rules_are_set.store(true, Ordering::Relaxed);
        }
        Ok(index)
    }
}
