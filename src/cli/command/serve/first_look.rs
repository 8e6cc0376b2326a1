//! Has this process looked at all files once? Until then nobody else here can do it either.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whoever asks before that waits so long for it; then the answer says that it is incomplete.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first look at all files. Clones are one.
#[derive(Clone, Default)]
pub struct FirstLook(Arc<(Mutex<bool>, Condvar)>);

impl FirstLook {
    /// It is over, or will never be.
    pub fn end(&self) {
        let (is_over, turned) = &*self.0;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        turned.notify_all();
    }

    /// Waits for it.
    pub fn wait(&self) {
        let (is_over, turned) = &*self.0;
        let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = turned.wait_timeout_while(is_over, PATIENCE, |is_over| !*is_over);
    }
}
