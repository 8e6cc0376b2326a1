//! Is the work still wanted?

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Ends work from elsewhere: clones are one. What was committed until then stays, and the next sync
/// goes on there. A cancelled one stays so: give a new one for the next.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    /// Wakes whoever waits for something else.
    wake: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

impl Cancel {
    /// The work ends as soon as it can, with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let wake = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        wake.iter().for_each(|wake| wake());
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// One that is called off as soon as this or the other is.
    pub(crate) fn or(&self, other: &Cancel) -> Cancel {
        let either = Cancel::default();
        for one in [self, other] {
            let ended = either.clone();
            one.wakes(move || ended.cancel());
            // It may have been called off before.
            if one.is_cancelled() {
                either.cancel();
            }
        }
        either
    }

    /// Have this called when it is called off.
    pub(crate) fn wakes(&self, wake: impl Fn() + Send + 'static) {
        let mut all = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Box::new(wake));
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}
