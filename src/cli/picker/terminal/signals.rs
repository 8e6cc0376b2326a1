//! What do the system's signals mean to the picker, and to what comes after it?

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use nix::unistd::{self, Pid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{self, Signal};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::held;
use crate::demo;
use crate::output::pager;
use crate::picker::message::{Message, System};
use crate::picker::start_thread;

/// Those that end a process.
const ENDS: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

/// So long the picker may take to give the terminal back, which may have come to a standstill.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a signal means.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// The picker takes care of it.
    Tell(System),
    /// What it means to any process.
    AsUsual,
    Nothing,
}

/// Who the process is to others when a signal comes.
#[derive(Debug, Clone, Copy)]
struct Situation {
    /// The picker is open.
    picks: bool,
    /// Somebody reads in a pager, for whom interrupts are meant.
    pages: bool,
    /// A demo, which removes its folder before it ends.
    is_demo: bool,
}

fn meaning(signal: Signal, situation: Situation) -> Meaning {
    let ends = ENDS.contains(&signal);
    match signal {
        Signal::CONT if situation.picks => Meaning::Tell(System::Continue),
        Signal::TSTP if situation.picks => Meaning::Tell(System::Stop),
        _ if ends && situation.picks => Meaning::Tell(System::End(signal.as_raw())),
        Signal::INT | Signal::QUIT if situation.pages => Meaning::Nothing,
        // It has a handler of its own.
        _ if ends && situation.is_demo && signal != Signal::QUIT => Meaning::Nothing,
        Signal::CONT => Meaning::Nothing,
        _ => Meaning::AsUsual,
    }
}

/// Tells the picker of signals, and once it is closed lets them mean what they do by default: what
/// is once handled cannot be left to the system again.
pub fn listen(tell: &Sender<Message>) -> io::Result<()> {
    let listened = ENDS.into_iter().chain([Signal::TSTP, Signal::CONT]);
    let mut signals = Signals::new(listened.map(Signal::as_raw))?;
    let tell = tell.clone();
    start_thread("picker-signals", move || {
        loop {
            let come: Vec<_> = signals.wait().filter_map(Signal::from_named_raw).collect();
            for &signal in &come {
                // As with the system: who is let go on does not stop any more.
                if signal != Signal::TSTP || !come.contains(&Signal::CONT) {
                    take(signal, &tell);
                }
            }
        }
    });
    Ok(())
}

fn take(signal: Signal, tell: &Sender<Message>) {
    let situation = Situation {
        picks: held::is_open(),
        pages: pager::is_open(),
        is_demo: demo::runs(),
    };
    let by_default = match meaning(signal, situation) {
        Meaning::Nothing => false,
        Meaning::AsUsual => true,
        Meaning::Tell(system) => {
            let ends = matches!(system, System::End(_));
            let is_heard = tell.send(Message::System(system)).is_ok();
            if is_heard && ends {
                thread::sleep(PATIENCE);
            }
            ends || !is_heard
        }
    };
    if by_default && (signal != Signal::TSTP || is_of_a_job()) {
        let _ = emulate_default_handler(signal.as_raw());
    }
}

/// Tells when the terminal is closed, which need not be told by a signal.
pub fn watch_terminal(tty: &File, tell: &Sender<Message>) -> io::Result<()> {
    let (tty, tell) = (tty.try_clone()?, tell.clone());
    start_thread("picker-hang-up", move || {
        loop {
            let mut watched = [PollFd::from_borrowed_fd(tty.as_fd(), PollFlags::empty())];
            let polled = poll(&mut watched, None);
            let seen = watched[0].revents();
            if seen.intersects(PollFlags::HUP | PollFlags::ERR) {
                let _ = tell.send(Message::System(System::HungUp));
                return;
            }
            // Some systems cannot wait for a terminal by this name.
            if polled.is_err_and(|error| error != rustix::io::Errno::INTR) || !seen.is_empty() {
                return;
            }
        }
    });
    Ok(())
}

/// Whether a shell would let the process go on again that stops. Where nobody would, the system
/// lets nobody stop by SIGTSTP: for example where the picker is the terminal's only program, or is
/// started within `$(...)`, where the shell itself would stop with it.
pub fn is_of_a_job() -> bool {
    // A session that began outside of this process's namespace has no number here, but 0, which
    // rustix takes for impossible.
    let known = |session: Pid| (session.as_raw() != 0).then_some(session);
    let session = unistd::getsid(None).ok().and_then(known);
    let parents = unistd::getsid(Some(unistd::getppid())).ok().and_then(known);
    session.is_some() && session == parents && session != Some(unistd::getpgrp())
}

/// Stops this process, or all of its job, until a shell lets it go on.
pub fn stop(whole_job: bool) {
    let _ = match whole_job {
        true => process::kill_current_process_group(Signal::STOP),
        false => process::kill_process(process::getpid(), Signal::STOP),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_means_what_it_does_by_default_once_the_picker_is_closed() {
        let means = |signal, picks, pages, is_demo| {
            let situation = Situation {
                picks,
                pages,
                is_demo,
            };
            meaning(signal, situation)
        };
        for signal in ENDS {
            let told = Meaning::Tell(System::End(signal.as_raw()));
            assert_eq!(means(signal, true, false, true), told);
            assert_eq!(means(signal, false, false, false), Meaning::AsUsual);
        }
        for signal in [Signal::INT, Signal::QUIT] {
            assert_eq!(means(signal, false, true, false), Meaning::Nothing);
        }
        assert_eq!(means(Signal::TERM, false, true, false), Meaning::AsUsual);
        assert_eq!(means(Signal::TERM, false, false, true), Meaning::Nothing);
        assert_eq!(means(Signal::TSTP, false, false, false), Meaning::AsUsual);
        assert_eq!(means(Signal::CONT, false, false, false), Meaning::Nothing);
        let stop = Meaning::Tell(System::Stop);
        assert_eq!(means(Signal::TSTP, true, false, false), stop);
    }
}
