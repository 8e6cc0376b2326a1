//! How are segments of the words merged while the catalogue can be written? On a thread that holds
//! only the lock of the words.

use std::thread::{Builder, JoinHandle};

use super::Config;
use crate::words::{Merge, is_merge_due, merge};

/// A merge that may be going on. Dropped, it is waited for: no thread of ours writes the words
/// after us.
#[derive(Default)]
pub(super) struct MergeThread(Option<JoinHandle<()>>);

impl MergeThread {
    /// Merge what there is to merge, if that is not being done. What is called off ends after one
    /// merge.
    pub fn start(&mut self, config: &Config, which: Merge) {
        let directory = config.words_dir();
        if self.is_going_on() || !is_merge_due(&directory, which) {
            return;
        }
        let cancel = config.cancel.clone();
        let work = move || {
            // No answer depends on this merge. What cannot be merged now is merged after a later
            // write, and damage leaves a mark.
            let _ = merge(&directory, which, &|| !cancel.is_cancelled());
        };
        self.0 = Builder::new().name("merging".into()).spawn(work).ok();
    }

    pub fn is_going_on(&self) -> bool {
        self.0.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for MergeThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}
