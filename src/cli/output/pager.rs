//! Who shows an answer that is longer than the terminal? A pager, found and started as git does.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::spool::Spool;
use super::text::char_columns;
use crate::agents;

/// Columns and rows of a terminal that does not know its size.
const UNKNOWN_SIZE: (usize, usize) = (80, 24);

/// Exit codes by which a shell says that there is no such program, or none that it may run.
const NOT_STARTED: [Option<i32>; 2] = [Some(126), Some(127)];

/// Whether Ctrl-C ends this process: while somebody reads it is meant for the pager alone.
static ENDS: AtomicBool = AtomicBool::new(true);

/// Whether somebody is reading in a pager.
pub fn is_open() -> bool {
    !ENDS.load(Ordering::SeqCst)
}

/// Whether answers can be read in one: only a person at a terminal that moves its cursor pages
/// through them.
pub fn is_possible() -> bool {
    let moves = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    moves && io::stdout().is_terminal() && !agents::runs_this()
}

/// Prints the answer in the pager where it is longer than the terminal, else as it is. `meanwhile`
/// is done while somebody reads in a pager, which may take hours.
pub fn print(mut answer: Spool, meanwhile: impl FnOnce()) -> io::Result<()> {
    let Some(mut pager) = command().filter(|_| is_longer(&answer, size())) else {
        return answer.print();
    };
    keep_interrupts_to_the_pager();
    ENDS.store(false, Ordering::SeqCst);
    let ended = match pager.stdin(Stdio::piped()).spawn() {
        Ok(pager) => feed(pager, &mut answer, meanwhile),
        Err(_) => Ok(NOT_STARTED[0]),
    };
    ENDS.store(true, Ordering::SeqCst);
    match NOT_STARTED.contains(&ended?) {
        true => answer.print(),
        false => Ok(()),
    }
}

/// Hands the answer to the pager, as slowly as it is read, and waits for its end: its exit code.
fn feed(mut pager: Child, answer: &mut Spool, meanwhile: impl FnOnce()) -> io::Result<Option<i32>> {
    let input = pager.stdin.take();
    let fed = thread::scope(|scope| -> io::Result<()> {
        let feeding = thread::Builder::new().spawn_scoped(scope, || match input {
            Some(mut input) => answer.show(&mut input),
            None => Ok(()),
        })?;
        meanwhile();
        feeding.join().unwrap_or(Ok(()))
    });
    let ended = pager.wait()?;
    match fed {
        // Who has read enough closes the pager.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(ended.code()),
    }
}

/// The pager, which the shell starts as it was typed; `None` where none is wanted.
fn command() -> Option<Command> {
    let named = ["SESSIONARY_PAGER", "PAGER"];
    let mut command = match named.into_iter().find_map(env::var_os) {
        None => Command::new("less"),
        Some(line) if ["", "cat"].contains(&line.to_string_lossy().trim()) => return None,
        Some(line) => {
            // A shell that an interrupt ends would leave the pager behind.
            let mut script = OsString::from("trap : INT QUIT\n");
            script.push(line);
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(script);
            shell
        }
    };
    // F ends where all of it fits, R shows colours, X leaves it on the screen. What we print is
    // UTF-8 whatever the locale.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    Some(command)
}

/// A pager that is interrupted goes on, and so must who feeds it: else the shell and the pager
/// would both read what is typed.
fn keep_interrupts_to_the_pager() {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        // A demo removes its folder at an interrupt, after asking whether somebody is reading.
        let of_demo = crate::demo::runs().then_some(Signal::INT);
        for signal in [Signal::INT, Signal::QUIT] {
            if of_demo != Some(signal) {
                // Where that is refused it is as it was.
                let _ = signal_hook::flag::register_conditional_default(signal.as_raw(), &ENDS);
            }
        }
    }
}

/// Columns and rows of the terminal.
fn size() -> (usize, usize) {
    terminal_size::terminal_size_of(io::stdout()).map_or(UNKNOWN_SIZE, |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}

/// Whether an answer and the line to type in behind it have no room on the terminal.
fn is_longer(answer: &Spool, (columns, rows): (usize, usize)) -> bool {
    let Some(text) = answer.whole() else {
        return true;
    };
    let mut taken = 0;
    for line in String::from_utf8_lossy(text).lines() {
        taken += printed_columns(line).div_ceil(columns.max(1)).max(1);
        if taken >= rows {
            return true;
        }
    }
    false
}

/// Columns of a line of ours; its colours have none.
fn printed_columns(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let width = |text: &str| text.chars().map(char_columns).sum::<usize>();
    let first = parts.next().map_or(0, width);
    let coloured = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| width(text)));
    first + coloured.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn an_answer_is_longer_when_it_leaves_no_line_to_type_in() {
        let is_longer = |text: &str, size| {
            let mut answer = Spool::default();
            answer.write_all(text.as_bytes()).unwrap();
            is_longer(&answer, size)
        };
        assert!(!is_longer("", (80, 2)));
        assert!(!is_longer("a\nb\nc\n", (80, 4)));
        assert!(is_longer("a\nb\nc\n", (80, 3)));
        assert!(is_longer("\n\n\n", (80, 3)));
        // Lines that the terminal breaks.
        assert!(!is_longer("abcde\nabcde\n", (5, 3)));
        assert!(is_longer("abcde\nabcdef\n", (5, 3)));
        assert!(is_longer("日本語\nab\n", (5, 3)));
        let red = "\u{1b}[31mabcde\u{1b}[0m\n";
        assert!(!is_longer(&red.repeat(2), (5, 3)));
        // What is in a file is longer than any terminal.
        assert!(is_longer(&"x".repeat(3 << 20), (u16::MAX.into(), 999)));
    }
}
