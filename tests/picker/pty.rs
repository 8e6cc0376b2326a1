//! What does a program show on a terminal of its own, and how does it leave that terminal?
//!
//! Nothing here depends on how long something takes: what is to be seen is waited for.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcgetpgrp, tcsetwinsize};
use vt100::{Callbacks, Parser, Screen};

use crate::watching::watcher::until;

/// Whatever is not there by then never comes.
const DEADLINE: Duration = Duration::from_secs(60);

/// A terminal, and what is on its screen.
pub struct Pty {
    master: File,
    /// Kept open, so that its modes outlive the programs on it.
    slave: OwnedFd,
    shown: Arc<(Mutex<Shown>, Condvar)>,
    /// Who shows what is written on it, until the other end of this is closed.
    showing: Option<(UnixStream, JoinHandle<()>)>,
}

struct Shown {
    parser: Parser<Answers>,
    /// All that was ever written on it.
    written: Vec<u8>,
}

/// The terminal answers questions as real ones do.
struct Answers {
    terminal: File,
    is_mute: bool,
}

impl Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        _: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        letter: char,
    ) {
        if letter == 'n' && parameters == [&[6][..]] && !self.is_mute {
            let (row, column) = screen.cursor_position();
            write!(self.terminal, "\x1b[{};{}R", row + 1, column + 1).expect("its answer");
        }
    }
}

/// All that a program can leave behind on a terminal.
#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    /// As `stty -a` shows them.
    modes: String,
    /// The screen with its colours.
    screen: String,
    cursor: (u16, u16),
    /// The mouse, pastes, the keypad.
    input: String,
    has_cursor: bool,
    is_alternate: bool,
}

impl Condition {
    /// Whether all is the same but for what stands on the screen, and where the cursor is for that.
    pub fn is_like_but_for_text(&self, other: &Self) -> bool {
        let rest = |condition: &Self| {
            let Self {
                modes,
                input,
                has_cursor,
                is_alternate,
                ..
            } = condition;
            (modes.clone(), input.clone(), *has_cursor, *is_alternate)
        };
        rest(self) == rest(other)
    }
}

fn size(columns: u16, rows: u16) -> (NonZero<u16>, NonZero<u16>) {
    let size = |size| NonZero::new(size).expect("a size");
    (size(rows), size(columns))
}

impl Pty {
    /// A terminal of this size.
    pub fn new(columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is open");
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let slave = ioctl_tiocgptpeer(&master, flags).expect("its other end");
        let master = File::from(master);
        let answers = Answers {
            terminal: master.try_clone().expect("the terminal"),
            is_mute: false,
        };
        let (height, width) = size(columns, rows);
        let shown = Shown {
            parser: Parser::new_with_callbacks(height, width, 0, answers),
            written: Vec::new(),
        };
        let mut pty = Self {
            master,
            slave,
            shown: Arc::new((Mutex::new(shown), Condvar::new())),
            showing: None,
        };
        pty.set_size(columns, rows);
        pty.showing = Some(pty.show());
        pty
    }

    /// A terminal that never says where its cursor is.
    pub fn mute(self) -> Self {
        let mut shown = self.shown.0.lock().expect("the screen");
        shown.parser.callbacks_mut().is_mute = true;
        drop(shown);
        self
    }

    /// Shows what is written on it, until it is closed.
    fn show(&self) -> (UnixStream, JoinHandle<()>) {
        let (ours, closed) = UnixStream::pair().expect("a pair");
        let mut master = self.master.try_clone().expect("the terminal");
        let shown = Arc::clone(&self.shown);
        let thread = thread::spawn(move || {
            let (mut some, mut unread) = ([0; 4096], Vec::new());
            loop {
                let mut waited = [
                    PollFd::new(&master, PollFlags::IN),
                    PollFd::new(&closed, PollFlags::IN),
                ];
                let _ = poll(&mut waited, None);
                if !waited[1].revents().is_empty() {
                    return;
                }
                let Ok(length @ 1..) = master.read(&mut some) else {
                    return;
                };
                let (shown, changed) = &*shown;
                let mut shown = shown.lock().expect("the screen");
                unread.extend_from_slice(&some[..length]);
                // The emulator leaves out U+FFFD, so all that follows would stand a column too far
                // left.
                let whole = match std::str::from_utf8(&unread) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => unread.len(),
                };
                let letters = String::from_utf8_lossy(&unread[..whole]);
                let letters = letters.replace('\u{fffd}', "?");
                shown.parser.process(letters.as_bytes());
                unread.drain(..whole);
                shown.written.extend_from_slice(&some[..length]);
                changed.notify_all();
            }
        });
        (ours, thread)
    }

    fn set_size(&self, columns: u16, rows: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.master, size).expect("another size");
    }

    /// The terminal becomes so large.
    pub fn resize(&self, columns: u16, rows: u16) {
        let mut shown = self.shown.0.lock().expect("the screen");
        let (height, width) = size(columns, rows);
        shown.parser.set_size(height, width);
        self.set_size(columns, rows);
    }

    /// Starts a program that the terminal belongs to, in a session of its own.
    pub fn start(&self, command: &Command) -> Program {
        self.start_by(&["--ctty"], command)
    }

    /// The same, but for that the terminal is only that of its streams.
    pub fn start_without(&self, command: &Command) -> Program {
        self.start_by(&[], command)
    }

    fn start_by(&self, how: &[&str], command: &Command) -> Program {
        let stream = || Stdio::from(self.slave.try_clone().expect("the terminal"));
        let variables = command.get_envs();
        let program = Command::new("setsid")
            .args(how)
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TERM", "xterm-256color")
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .current_dir(command.get_current_dir().expect("a directory"))
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .expect("setsid of util-linux");
        Program(program)
    }

    /// Types this.
    pub fn keys(&self, keys: &str) {
        (&self.master)
            .write_all(keys.as_bytes())
            .expect("somebody types");
    }

    /// Waits until the screen is so.
    pub fn until(&self, what: &str, so: impl Fn(&Screen) -> bool) {
        self.until_what_is_shown(what, |shown| so(shown.parser.screen()));
    }

    fn until_what_is_shown(&self, what: &str, so: impl Fn(&Shown) -> bool) {
        let (shown, changed) = &*self.shown;
        let end = Instant::now() + DEADLINE;
        let mut shown = shown.lock().expect("the screen");
        while !so(&shown) {
            if Instant::now() > end {
                let text = lines(shown.parser.screen());
                drop(shown);
                panic!("never: {what}\n{text}");
            }
            // Not all that is waited for is on the screen.
            let waited = changed.wait_timeout(shown, Duration::from_millis(20));
            shown = waited.expect("the screen").0;
        }
    }

    /// Waits until this stands on the screen.
    pub fn until_shown(&self, text: &str) {
        self.until(text, |screen| lines(screen).contains(text));
    }

    /// Waits until this does not stand on the screen any more.
    pub fn until_gone(&self, text: &str) {
        self.until(&format!("no {text}"), |screen| {
            !lines(screen).contains(text)
        });
    }

    /// Looks at the screen.
    pub fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(self.shown.0.lock().expect("the screen").parser.screen())
    }

    /// What stands on the screen, without the blanks at the ends of lines.
    pub fn text(&self) -> String {
        self.look(lines)
    }

    /// All that was ever written on it.
    pub fn written(&self) -> String {
        let shown = self.shown.0.lock().expect("the screen");
        String::from_utf8_lossy(&shown.written).into_owned()
    }

    /// Whether this ever stood on the screen.
    pub fn has_shown(&self, text: &str) -> bool {
        let written = self.written();
        let (height, width) = self.look(Screen::size);
        let mut parser = Parser::new(height, width, 0);
        written.split_inclusive('\x1b').any(|some| {
            parser.process(some.as_bytes());
            lines(parser.screen()).contains(text)
        })
    }

    /// The process group that has the keys.
    pub fn foreground(&self) -> Option<Pid> {
        tcgetpgrp(&self.master).ok()
    }

    /// The terminal as it is now.
    pub fn condition(&self) -> Condition {
        let modes = tcgetattr(&self.slave).expect("its modes");
        self.look(|screen| Condition {
            modes: format!("{modes:?}"),
            screen: screen.contents_formatted(),
            cursor: screen.cursor_position(),
            input: screen.input_mode_formatted(),
            has_cursor: !screen.hide_cursor(),
            is_alternate: screen.alternate_screen(),
        })
    }

    /// Waits until the terminal is as it was.
    pub fn until_as(&self, before: &Condition) {
        // What was written before a program's end may not have been read yet.
        let end = Instant::now() + DEADLINE;
        while self.condition() != *before && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(&self.condition(), before, "{}", self.text());
    }

    /// Writes this on it, beside whatever else is written there.
    pub fn write_beside(&self, text: &str) {
        let mut slave = File::from(self.slave.try_clone().expect("the terminal"));
        slave.write_all(text.as_bytes()).expect("it is shown");
    }

    /// Shows this, as a program did that ran before.
    pub fn print(&self, text: &str) {
        self.write_beside(text);
        // The terminal turns each end of a line into two bytes.
        let printed = text.replace('\n', "\r\n");
        // The first lines may be on the screen before the last one is.
        self.until_what_is_shown("all that was printed", |shown| {
            shown.written.ends_with(printed.as_bytes())
        });
    }
}

impl Drop for Pty {
    /// Closes the terminal, as one closes its window.
    fn drop(&mut self) {
        if let Some((ours, thread)) = self.showing.take() {
            drop(ours);
            let _ = thread.join();
        }
    }
}

/// The lines of the screen without the blanks at their ends.
pub fn lines(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let rows = screen.rows(0, columns.get());
    let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned() + "\n"
}

/// A program on a terminal. It is killed with the test.
pub struct Program(Child);

impl Program {
    pub fn id(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).expect("it is there");
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.0.try_wait().expect("its state").is_none()
    }

    /// Waits until a process is gone, or its end waits to be noticed.
    pub fn until_gone(id: &str) {
        until("the process ends", || {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_none_or(|(_, rest)| rest.starts_with('Z'))
        });
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> ExitStatus {
        let mut ended = None;
        until("the program ends", || {
            ended = self.0.try_wait().expect("its state");
            ended.is_some()
        });
        ended.expect("its end")
    }

    /// Its exit code.
    pub fn code(&mut self) -> Option<i32> {
        self.ended().code()
    }

    /// The signal that ended it.
    pub fn ended_by(&mut self) -> Option<i32> {
        self.ended().signal()
    }

    /// The letter of its state, as `ps` shows it.
    pub fn state(&self) -> String {
        self.stat(0)
    }

    /// Clock ticks of computing that it has used.
    pub fn ticks(&self) -> u64 {
        [11, 12]
            .map(|at| self.stat(at).parse::<u64>().expect("a number"))
            .iter()
            .sum()
    }

    /// What `/proc/PID/stat` says of it behind its name.
    fn stat(&self, at: usize) -> String {
        let path = format!("/proc/{}/stat", self.0.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        let (_, rest) = stat.rsplit_once(") ").unwrap_or_default();
        rest.split(' ').nth(at).unwrap_or_default().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
