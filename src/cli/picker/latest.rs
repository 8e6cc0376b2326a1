//! How does a thread get the newest request, and none that was overtaken?

use std::sync::{Condvar, Mutex, PoisonError};

use sessionary::model::Cancel;

/// A place for one request. Whoever puts a new one there calls off the one that is worked on.
pub struct Latest<T> {
    slot: Mutex<Slot<T>>,
    filled: Condvar,
}

struct Slot<T> {
    next: Option<T>,
    /// Of the request that is worked on.
    cancel: Cancel,
    is_closed: bool,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self {
            slot: Mutex::new(Slot {
                next: None,
                cancel: Cancel::default(),
                is_closed: false,
            }),
            filled: Condvar::new(),
        }
    }
}

impl<T> Latest<T> {
    /// Asks for this instead of all that was asked for before.
    pub fn put(&self, request: T) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.cancel.cancel();
        slot.next = Some(request);
        self.filled.notify_one();
    }

    /// The next request, and what calls it off; `None`: there will be none.
    pub fn take(&self) -> Option<(T, Cancel)> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if slot.is_closed {
                return None;
            }
            if let Some(request) = slot.next.take() {
                slot.cancel = Cancel::default();
                return Some((request, slot.cancel.clone()));
            }
            slot = self
                .filled
                .wait(slot)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a request waits.
    pub fn waits(&self) -> bool {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.next.is_some() || slot.is_closed
    }

    /// Nothing more will be asked for.
    pub fn close(&self) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.is_closed = true;
        slot.cancel.cancel();
        self.filled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::Latest;

    #[test]
    fn the_newest_request_calls_off_the_one_before() {
        let requests = Latest::default();
        requests.put(1);
        requests.put(2);
        let (request, cancel) = requests.take().expect("a request");
        assert!(request == 2 && !cancel.is_cancelled());
        requests.put(3);
        assert!(cancel.is_cancelled() && requests.waits());
        requests.close();
        assert!(requests.take().is_none());
    }
}
