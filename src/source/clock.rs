//! Was the clock set, or did the machine sleep? The kernel reports both, so nothing has to be
//! polled.

#[cfg(target_os = "linux")]
pub use linux::Jumps;

/// Reports jumps of the wall clock until it is dropped.
#[cfg(not(target_os = "linux"))]
pub struct Jumps;

#[cfg(not(target_os = "linux"))]
impl Jumps {
    /// This system does not report them.
    pub fn watch(_: impl Fn() + Send + 'static) -> Option<Jumps> {
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::Builder;

    use rustix::io::{Errno, read};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    /// The year 2242, in s: the kernel counts no further than 2262.
    const NEVER: i64 = 1 << 33;

    /// Reports jumps of the wall clock until it is dropped.
    pub struct Jumps(Arc<Timer>);

    /// A timer at a moment that never comes: reading it ends with an error when the clock jumps.
    struct Timer {
        timer: OwnedFd,
        dropped: AtomicBool,
    }

    impl Timer {
        fn set(&self, tv_sec: i64, flags: TimerfdTimerFlags) -> Result<(), Errno> {
            let at = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
            let spec = Itimerspec {
                it_interval: at(0, 0),
                it_value: at(tv_sec, 1),
            };
            timerfd_settime(&self.timer, flags, &spec).map(drop)
        }

        /// Waits for the next jump; `None`: the kernel reports nothing more.
        fn jump(&self) -> Option<()> {
            let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
            match self.set(NEVER, flags) {
                // The timer is set, but the clock has jumped again since the last jump was
                // reported.
                Err(Errno::CANCELED) => return Some(()),
                set => set.ok()?,
            }
            while !self.dropped.load(Ordering::SeqCst) {
                match read(&self.timer, &mut [0u8; 8]) {
                    Err(Errno::CANCELED) => return Some(()),
                    Err(Errno::INTR) => {}
                    _ => return None,
                }
            }
            None
        }
    }

    impl Jumps {
        /// Call `jumped` each time the clock is set or the machine wakes up. `None`: the system
        /// does not report them.
        pub fn watch(jumped: impl Fn() + Send + 'static) -> Option<Jumps> {
            let timer = Arc::new(Timer {
                timer: timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC).ok()?,
                dropped: AtomicBool::new(false),
            });
            let waiting = Arc::clone(&timer);
            let wait = move || {
                while waiting.jump().is_some() {
                    jumped();
                }
            };
            Builder::new().name("clock".into()).spawn(wait).ok()?;
            Some(Jumps(timer))
        }
    }

    impl Drop for Jumps {
        fn drop(&mut self) {
            // Either the thread sees the one before it waits, or the other ends its waiting.
            self.0.dropped.store(true, Ordering::SeqCst);
            let _ = self.0.set(0, TimerfdTimerFlags::empty());
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::sync::mpsc::channel;

        #[test]
        fn the_thread_ends_with_its_jumps() {
            let (alive, ended) = channel::<()>();
            let jumps = Jumps::watch(move || alive.send(()).unwrap_or_default());
            assert!(jumps.is_some());
            drop(jumps);
            // What the thread holds is dropped with it.
            while ended.recv().is_ok() {}
        }
    }
}
