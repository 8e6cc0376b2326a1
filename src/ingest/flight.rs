//! How much may be on its way from those who read files to the one who writes the catalogue?
//!
//! Bytes are counted, not chunks: most files are small, and a handful of their chunks would have everybody wait for everybody.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a chunk takes up at least: many a file has a few lines only.
const LEAST: u64 = 4 << 10;

/// So many bytes may be on their way, and no more.
pub(super) struct Flight {
    left: Mutex<Left>,
    landed: Condvar,
    room: u64,
}

struct Left {
    bytes: u64,
    ended: bool,
}

impl Flight {
    /// Room for so many bytes.
    pub fn of(room: u64) -> Self {
        Self {
            left: Mutex::new(Left {
                bytes: room,
                ended: false,
            }),
            landed: Condvar::new(),
            room,
        }
    }

    /// Wait until there is room for `bytes`, or for all that there can be. What is given back is to be given to
    /// [`land`](Self::land).
    pub fn depart(&self, bytes: u64) -> u64 {
        let bytes = bytes.clamp(LEAST.min(self.room), self.room);
        let is_full = |left: &mut Left| left.bytes < bytes && !left.ended;
        let waited = self.landed.wait_while(self.left(), is_full);
        let mut left = waited.unwrap_or_else(PoisonError::into_inner);
        left.bytes = left.bytes.saturating_sub(bytes);
        bytes
    }

    /// They have arrived.
    pub fn land(&self, bytes: u64) {
        self.left().bytes += bytes;
        self.landed.notify_all();
    }

    /// Nobody waits any more when this is dropped, whatever the reason: nothing will land.
    pub fn until_dropped(&self) -> Ends<'_> {
        Ends(self)
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Flight::until_dropped`].
pub(super) struct Ends<'f>(&'f Flight);

impl Drop for Ends<'_> {
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
    fn never_more_than_there_is_room_for() {
        const ROOM: u64 = 10 * LEAST;
        let (flight, on_the_way) = (Flight::of(ROOM), AtomicU64::new(0));
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for step in 1..=4 {
                let (send, flight, on_the_way) = (send.clone(), &flight, &on_the_way);
                scope.spawn(move || {
                    for bytes in (0..200).map(|at| at * step * 100) {
                        let bytes = flight.depart(bytes);
                        let now = on_the_way.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        assert!(now <= ROOM, "{now}");
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
        assert_eq!(flight.depart(u64::MAX), ROOM, "a giant goes alone");
    }

    #[test]
    fn nobody_waits_for_a_writer_that_is_gone() {
        let flight = Flight::of(LEAST);
        std::thread::scope(|scope| {
            let end = flight.until_dropped();
            flight.depart(LEAST);
            scope.spawn(|| flight.depart(LEAST));
            drop(end);
        });
    }
}
