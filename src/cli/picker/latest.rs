//! How does a thread get the newest request, and none that was overtaken?

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

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

    /// Nobody needs any more what was asked for.
    pub fn call_off(&self) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.cancel.cancel();
        slot.next = None;
        self.filled.notify_all();
    }

    /// Whether what is worked on is called off before so much time is over.
    pub fn is_called_off_within(&self, patience: Duration) -> bool {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |slot: &mut Slot<T>| !slot.cancel.is_cancelled();
        let (slot, _) = self
            .filled
            .wait_timeout_while(slot, patience, is_wanted)
            .unwrap_or_else(PoisonError::into_inner);
        slot.cancel.is_cancelled()
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
    use std::thread;
    use std::time::Duration;

    use super::Latest;

    #[test]
    fn the_newest_request_calls_off_the_one_before() {
        let requests = Latest::default();
        requests.put(1);
        requests.put(2);
        let (request, cancel) = requests.take().expect("a request");
        assert!(request == 2 && !cancel.is_cancelled());
        requests.put(3);
        assert!(cancel.is_cancelled());
        requests.close();
        assert!(requests.take().is_none());
    }

    #[test]
    fn what_nobody_needs_any_more_is_called_off() {
        let (soon, late) = (Duration::ZERO, Duration::from_secs(600));
        let requests = Latest::default();
        requests.put(1);
        let (_, cancel) = requests.take().expect("a request");
        assert!(!requests.is_called_off_within(soon));
        requests.call_off();
        assert!(cancel.is_cancelled() && requests.is_called_off_within(late));
        requests.put(2);
        let (request, cancel) = requests.take().expect("another one");
        assert!(request == 2 && !cancel.is_cancelled());
        thread::scope(|scope| {
            let waits = scope.spawn(|| requests.is_called_off_within(late));
            requests.put(3);
            assert!(waits.join().expect("it ends"));
        });
    }
}
