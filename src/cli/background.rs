//! Who gives the words what they lack, once the answer is printed? Time to exit counts, not time to
//! print.

use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};
use std::time::Duration;

use sessionary::Index;
use sessionary::index::BacklogSize;

use crate::output::Screen;

/// How long a read verb goes on indexing after it has answered.
const MOMENT: Duration = Duration::from_millis(200);

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackgroundStep {
    Nothing,
    /// Index for a moment; the next verb goes on.
    Here,
    /// Let a process of its own do all of it.
    Spawn,
    /// Say that so many bytes are left to a sync.
    Say(u64),
}

/// `background`: the configuration lets us work after answers. `terminal`: somebody sits there.
fn step(debt: BacklogSize, background: bool, terminal: bool) -> BackgroundStep {
    match debt {
        BacklogSize::Little => BackgroundStep::Nothing,
        BacklogSize::Sync(bytes) if !background => BackgroundStep::Say(bytes),
        BacklogSize::Sync(_) if terminal => BackgroundStep::Spawn,
        _ if background => BackgroundStep::Here,
        _ => BackgroundStep::Nothing,
    }
}

/// Does some of the outstanding work, or starts a process that does all of it. Returns how many
/// bytes of text are left to whoever calls `sync`, where there is more than a little and nothing
/// may be done.
pub fn afterwards(index: &mut Index, screen: &Screen) -> Option<u64> {
    // The answer is out already: a failure here is found again, and told, by whoever needs the
    // words.
    let debt = index.words_debt().unwrap_or(BacklogSize::Little);
    match step(debt, index.config().background, io::stderr().is_terminal()) {
        BackgroundStep::Nothing => None,
        BackgroundStep::Here => {
            let _ = index.pay(MOMENT);
            None
        }
        BackgroundStep::Spawn => {
            if !index.has_writer() && !index.is_watched() {
                let _ = spawn(screen);
            }
            None
        }
        BackgroundStep::Say(bytes) => Some(bytes),
    }
}

/// Starts `sync` for the same index; it outlives this process and holds none of its three streams.
/// (What else a shell handed down, as with `3>&1`, it keeps: closing that takes unsafe code.) Where
/// another one is at work it ends at once.
fn spawn(screen: &Screen) -> io::Result<()> {
    let mut sync = Command::new(std::env::current_exe()?);
    sync.args(&screen.again).args(["sync", "--background"]);
    sync.stdin(Stdio::null());
    sync.stdout(Stdio::null()).stderr(Stdio::null());
    // The terminal's interrupts and its end are meant for others, from the first moment on.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut sync, 0);
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

/// Gives way to everybody. On Windows whoever starts us has seen to it.
pub fn step_back() {
    #[cfg(unix)]
    {
        let _ = rustix::process::nice(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_started_only_from_a_terminal_and_where_the_configuration_lets_us() {
        for (debt, background, terminal, expected) in [
            (BacklogSize::Little, true, true, BackgroundStep::Nothing),
            (BacklogSize::Moment, true, true, BackgroundStep::Here),
            (BacklogSize::Moment, true, false, BackgroundStep::Here),
            (BacklogSize::Moment, false, true, BackgroundStep::Nothing),
            (BacklogSize::Sync(9), true, true, BackgroundStep::Spawn),
            (BacklogSize::Sync(9), true, false, BackgroundStep::Here),
            (BacklogSize::Sync(9), false, true, BackgroundStep::Say(9)),
            (BacklogSize::Sync(9), false, false, BackgroundStep::Say(9)),
        ] {
            let step = step(debt, background, terminal);
            assert_eq!(step, expected, "{debt:?} {background} {terminal}");
        }
    }
}
