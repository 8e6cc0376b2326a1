//! Is the work still wanted?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends work from elsewhere: clones are one. What was committed until then stays, and the next sync goes on there.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// The work ends as soon as it can, with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
