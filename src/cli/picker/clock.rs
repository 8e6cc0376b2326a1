//! What time is it while the picker is open, counted from the moment that ages count to?

use jiff::Timestamp;

use crate::output::Screen;

/// The system's clock, set to another moment where the command was given one.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Milliseconds by which it is ahead of the system's.
    ahead: i64,
}

impl Clock {
    /// The clock of a screen that is open from now on.
    pub fn of(screen: &Screen) -> Self {
        Self::set_to(screen.now_ms)
    }

    /// A clock that shows this moment now.
    pub fn set_to(now_ms: i64) -> Self {
        Self {
            ahead: now_ms - system_ms(),
        }
    }

    pub fn now_ms(self) -> i64 {
        system_ms() + self.ahead
    }
}

fn system_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::Clock;

    #[test]
    fn it_goes_on_from_the_moment_to_which_it_was_set() {
        let clock = Clock::set_to(1_000);
        sleep(Duration::from_millis(20));
        assert!(clock.now_ms() > 1_000);
    }
}
