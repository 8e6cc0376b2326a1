//! Who gives the words what they lack, once the answer is printed? Time to exit counts, not time to
//! print.
//!
//! Whoever calls the command, a person at a terminal, a script or an agent, gets a process that
//! indexes in the background where there is much to do.

use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use sessionary::index::BacklogSize;
use sessionary::{Cancel, Error, Index};

use crate::demo;
use crate::output::Screen;
use crate::output::time::bytes;
use crate::places::is_in_home_of_another;

/// How long a read verb goes on indexing after it has answered.
const MOMENT: Duration = Duration::from_millis(200);

/// For how many seconds the process in the background may work.
pub const MOST_SECONDS: u64 = 10 * 60;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackgroundStep {
    Nothing,
    /// Index for a moment; the next verb goes on.
    Here,
    /// Let a process of its own do all of it.
    Spawn,
}

/// `background`: we may work after answers. `may_start`: and a process may be
/// started here.
fn step(backlog: BacklogSize, background: bool, may_start: bool) -> BackgroundStep {
    match backlog {
        BacklogSize::Little => BackgroundStep::Nothing,
        BacklogSize::Sync(_) if background && may_start => BackgroundStep::Spawn,
        _ if background => BackgroundStep::Here,
        _ => BackgroundStep::Nothing,
    }
}

/// Does some of the outstanding work, or starts a process that does all of it. Returns what is to
/// be said of it, where much is outstanding.
pub fn afterwards(index: &mut Index, screen: &Screen) -> Option<String> {
    // The answer is out already: a failure here is found again, and told, by whoever needs the
    // words.
    let backlog = index.backlog_size().unwrap_or(BacklogSize::Little);
    // Root leaves no files in the home folder of another user.
    let background = index.config().background && !is_in_home_of_another();
    let step = step(backlog, background, may_start(screen));
    let is_taken_care_of = match step {
        BackgroundStep::Spawn => index.has_writer() || index.is_watched() || spawn(screen).is_ok(),
        BackgroundStep::Here => {
            let _ = index.index_backlog(MOMENT);
            false
        }
        BackgroundStep::Nothing => false,
    };
    let BacklogSize::Sync(text) = backlog else {
        return None;
    };
    let text = bytes(text);
    Some(match is_taken_care_of {
        _ if step == BackgroundStep::Here => format!(
            "The words of {text} of text are not indexed: each command indexes a part of them after its answer, and `sessionary sync` all of them."
        ),
        true => format!(
            "The words of {text} of text are not indexed yet: searches read that text until a process in the background has indexed it."
        ),
        false => format!(
            "The words of {text} of text are not indexed: every search reads that text again until you run `sessionary sync`."
        ),
    })
}

/// Whether a process may be started. An index that is named for one command is none to go on
/// writing after it.
fn may_start(screen: &Screen) -> bool {
    !(screen.names_index || demo::runs())
}

/// Starts `sync` for the same index; it outlives this process and holds nothing that is open in it.
/// Where another one is at work it ends at once.
fn spawn(screen: &Screen) -> io::Result<()> {
    let program = std::env::current_exe()?;
    // It reads and writes when nobody else does, where the system has a command for that.
    let mut idle = Command::new("ionice");
    idle.args(["-c", "3"]).arg(&program);
    if cfg!(target_os = "linux") && start(idle, screen).is_ok() {
        return Ok(());
    }
    start(Command::new(program), screen)
}

fn start(mut sync: Command, screen: &Screen) -> io::Result<()> {
    let most = format!("--background={MOST_SECONDS}");
    sync.args(&screen.again).args(["sync", &most]);
    sync.stdin(Stdio::null());
    sync.stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        // The terminal's interrupts and its end are meant for others, from the first moment on.
        // Without a terminal, whoever ends a script with all that it has started means us as well.
        if io::IsTerminal::is_terminal(&io::stderr()) {
            std::os::unix::process::CommandExt::process_group(&mut sync, 0);
        }
        // What else a shell handed down, as with `3>&1`: its reader waits for the end.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        const BELOW_NORMAL_PRIORITY_CLASS: u32 = 0x0000_4000;
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        sync.creation_flags(
            CREATE_NEW_PROCESS_GROUP | BELOW_NORMAL_PRIORITY_CLASS | CREATE_NO_WINDOW,
        );
    }
    sync.spawn().map(drop)
}

/// Gives way to everybody. Threads started later inherit it. On Windows whoever starts us has seen
/// to it, and on Linux to its reads and writes.
pub fn step_back() {
    #[cfg(unix)]
    {
        let _ = rustix::process::nice(10);
    }
}

/// Calls off what is being done when this time is over: it ends where nothing is lost.
pub fn end_in_time(most: Duration, cancel: &Cancel) {
    let cancel = cancel.clone();
    let wait = move || {
        thread::sleep(most);
        cancel.cancel();
    };
    // Without it only the words keep to their time.
    let _ = thread::Builder::new().spawn(wait);
}

/// Ends what goes on step by step where it was called off.
pub fn go_on(cancel: &Cancel) -> Result<(), Error> {
    match cancel.is_cancelled() {
        true => Err(Error::Cancelled),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_called_off() {
        let cancel = Cancel::default();
        end_in_time(Duration::ZERO, &cancel);
        while !cancel.is_cancelled() {
            thread::yield_now();
        }
        let goes_on = Cancel::default();
        end_in_time(Duration::from_secs(MOST_SECONDS), &goes_on);
        assert!(!goes_on.is_cancelled());
    }

    #[test]
    fn processes_are_started_only_where_that_is_worth_it_and_allowed() {
        for (backlog, background, may_start, expected) in [
            (BacklogSize::Little, true, true, BackgroundStep::Nothing),
            (BacklogSize::Moment, true, true, BackgroundStep::Here),
            (BacklogSize::Moment, true, false, BackgroundStep::Here),
            (BacklogSize::Moment, false, true, BackgroundStep::Nothing),
            (BacklogSize::Sync(9), true, true, BackgroundStep::Spawn),
            (BacklogSize::Sync(9), true, false, BackgroundStep::Here),
            (BacklogSize::Sync(9), false, true, BackgroundStep::Nothing),
            (BacklogSize::Sync(9), false, false, BackgroundStep::Nothing),
        ] {
            let step = step(backlog, background, may_start);
            assert_eq!(step, expected, "{backlog:?} {background} {may_start}");
        }
    }
}
