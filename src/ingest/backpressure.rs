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
    left: Mutex<BudgetState>,
    landed: Condvar,
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
            left: Mutex::new(BudgetState {
                bytes: room as i64,
                ended: false,
            }),
            landed: Condvar::new(),
        }
    }

    /// Wait until there is room. Gives back the number of bytes to pass to [`land`](Self::land)
    /// later.
    pub fn depart(&self, bytes: u64) -> u64 {
        let bytes = bytes.max(LEAST);
        let is_full = |left: &mut BudgetState| left.bytes <= 0 && !left.ended;
        let waited = self.landed.wait_while(self.left(), is_full);
        let mut left = waited.unwrap_or_else(PoisonError::into_inner);
        left.bytes = left.bytes.saturating_sub_unsigned(bytes);
        bytes
    }

    /// They have arrived.
    pub fn land(&self, bytes: u64) {
        let mut left = self.left();
        left.bytes = left.bytes.saturating_add_unsigned(bytes);
        drop(left);
        self.landed.notify_all();
    }

    /// When this is dropped, for whatever reason, all waiting threads continue, because nothing
    /// will land any more.
    pub fn until_dropped(&self) -> BudgetGuard<'_> {
        BudgetGuard(self)
    }

    fn left(&self) -> MutexGuard<'_, BudgetState> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`ByteBudget::until_dropped`].
pub(super) struct BudgetGuard<'f>(&'f ByteBudget);

impl Drop for BudgetGuard<'_> {
    fn drop(&mut self) {
        self.0.left().ended = true;
        self.0.landed.notify_all();
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
        let (flight, on_the_way) = (ByteBudget::of(ROOM), AtomicU64::new(0));
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for step in 1..=4 {
                let (send, flight, on_the_way) = (send.clone(), &flight, &on_the_way);
                scope.spawn(move || {
                    for bytes in (0..200).map(|at| at * step * 100) {
                        let bytes = flight.depart(bytes);
                        let now = on_the_way.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        assert!(now <= ROOM + 4 * MOST, "{now}");
                        send.send(bytes).unwrap();
                    }
                });
            }
            drop(send);
            for bytes in receive {
                on_the_way.fetch_sub(bytes, Ordering::SeqCst);
                flight.land(bytes);
            }
        });
        // A giant departs where there is any room, and all others wait until it has landed.
        let giant = flight.depart(100 * ROOM);
        assert!(flight.left().bytes < 0);
        flight.land(giant);
        assert_eq!(flight.left().bytes, ROOM as i64);
    }

    #[test]
    fn nobody_waits_for_a_writer_that_is_gone() {
        let flight = ByteBudget::of(LEAST);
        std::thread::scope(|scope| {
            let end = flight.until_dropped();
            flight.depart(LEAST);
            let waiting = scope.spawn(|| flight.depart(LEAST));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!waiting.is_finished());
            drop(end);
        });
    }
}
