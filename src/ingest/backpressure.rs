//! How much may be on its way from the threads that read files to the one that writes the
//! catalogue?
//!
//! Bytes are counted, not chunks: most files are small, and with a limit of a few chunks all
//! threads would keep waiting for each other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a chunk takes up at least: many a file has a few lines only.
const LEAST: u64 = 4 << 10;

/// About so many bytes may be on their way.
pub(super) struct ByteBudget {
    state: Mutex<BudgetState>,
    grown: Condvar,
}

struct BudgetState {
    /// It may be below zero, because a thread may take more than there is. Otherwise a large chunk
    /// would wait for ever behind many small ones.
    bytes: i64,
    ended: bool,
}

impl ByteBudget {
    /// A budget of so many bytes. Each thread may exceed it by one chunk.
    pub fn of(room: u64) -> Self {
        Self {
            state: Mutex::new(BudgetState {
                bytes: room as i64,
                ended: false,
            }),
            grown: Condvar::new(),
        }
    }

    /// Wait until there is room. Gives back the number of bytes to pass to
    /// [`give_back`](Self::give_back) later.
    pub fn take(&self, bytes: u64) -> u64 {
        let bytes = bytes.max(LEAST);
        let is_full = |state: &mut BudgetState| state.bytes <= 0 && !state.ended;
        let waited = self.grown.wait_while(self.state(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.bytes = state.bytes.saturating_sub_unsigned(bytes);
        bytes
    }

    /// They have arrived: there is room for as many again.
    pub fn give_back(&self, bytes: u64) {
        let mut state = self.state();
        state.bytes = state.bytes.saturating_add_unsigned(bytes);
        drop(state);
        self.grown.notify_all();
    }

    /// When this is dropped, for whatever reason, all waiting threads continue, because nothing
    /// will be given back any more.
    pub fn until_dropped(&self) -> BudgetGuard<'_> {
        BudgetGuard(self)
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`ByteBudget::until_dropped`].
pub(super) struct BudgetGuard<'b>(&'b ByteBudget);

impl Drop for BudgetGuard<'_> {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.grown.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn hardly_more_than_there_is_room_for() {
        const ROOM: u64 = 10 * LEAST;
        const MOST: u64 = 199 * 400;
        let (budget, on_the_way) = (ByteBudget::of(ROOM), AtomicU64::new(0));
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for step in 1..=4 {
                let (send, budget, on_the_way) = (send.clone(), &budget, &on_the_way);
                scope.spawn(move || {
                    for bytes in (0..200).map(|at| at * step * 100) {
                        let bytes = budget.take(bytes);
                        let now = on_the_way.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        assert!(now <= ROOM + 4 * MOST, "{now}");
                        send.send(bytes).unwrap();
                    }
                });
            }
            drop(send);
            for bytes in receive {
                on_the_way.fetch_sub(bytes, Ordering::SeqCst);
                budget.give_back(bytes);
            }
        });
        // A giant takes where there is any room, and all others wait until it is given back.
        let giant = budget.take(100 * ROOM);
        assert!(budget.state().bytes < 0);
        budget.give_back(giant);
        assert_eq!(budget.state().bytes, ROOM as i64);
    }

    #[test]
    fn nobody_waits_for_a_writer_that_is_gone() {
        let budget = ByteBudget::of(LEAST);
        std::thread::scope(|scope| {
            let end = budget.until_dropped();
            budget.take(LEAST);
            let waiting = scope.spawn(|| budget.take(LEAST));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!waiting.is_finished());
            drop(end);
        });
    }
}
