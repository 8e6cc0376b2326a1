//! Where do the time and new ids come from? From the caller; here are the usual answers.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since the epoch, UTC.
    fn now_ms(&self) -> i64;
}

/// Makes ids.
pub trait Ids: Debug + Send + Sync {
    /// A random UUID, written as usual. The first eight digits are an entry's id, as long as that
    /// is free.
    fn random(&self) -> String;
    /// A UUID of version 7 of that time, in ms since the epoch.
    fn timed(&self, ms: i64) -> String;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            })
    }
}

/// Random ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> String {
        Uuid::new_v4().to_string()
    }

    fn timed(&self, ms: i64) -> String {
        let mut random = [0; 10];
        random.copy_from_slice(&Uuid::new_v4().as_bytes()[..10]);
        // Those two bytes of a version 4 hold its version: the last six are all chance.
        random[6..].copy_from_slice(&Uuid::new_v4().as_bytes()[12..]);
        let ms = u64::try_from(ms).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(ms, &random)
            .into_uuid()
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_what_they_are_called() {
        let id = RandomIds.timed(1_767_603_600_250);
        assert_eq!(&id[..14], "019b8d62-7b7a-");
        assert_eq!(&id[14..15], "7");
        assert_ne!(id, RandomIds.timed(1_767_603_600_250));
        assert_eq!(&RandomIds.random()[14..15], "4");
    }
}
