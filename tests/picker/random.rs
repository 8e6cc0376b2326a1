//! Does anything that can be typed, at any moment, break it?

use std::os::unix::process::ExitStatusExt;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;
use vt100::Screen;

use super::pty::{Program, Pty};
use super::{home, start, write};
use crate::watching::watcher::until;

/// Keys as a terminal sends them, and what is typed.
const KEYS: [&str; 54] = [
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b[H",
    "\x1b[F",
    "\x1b[1;5H",
    "\x1b[1;5F",
    "\x1b[3~",
    "\t",
    "\x1b[Z",
    "\x01",
    "\x02",
    "\x05",
    "\x06",
    "\x08",
    "\x0b",
    "\x0e",
    "\x10",
    "\x15",
    "\x17",
    "\x19",
    "\x7f",
    "\x00",
    "\x1bs",
    "\x1bo",
    "\x1bp",
    "\x1bc",
    "\x1bOP",
    "n",
    "N",
    "t",
    "walrus",
    "linker ",
    "\"off",
    "(",
    "role:us",
    "-",
    "e",
    " ",
    "日本",
    "*ar*",
    "/w.l/",
    "~",
    "\x1b[200~two\nlines\x1b[201~",
    "\x1b[<64;30;5M",
    "\x1b[<0;30;5M",
    "\x1b[1;2A",
    "\x1b[1;2B",
    "\x0c",
    "\x1bm",
    "\x1bd",
];

/// How many keys of which kind; the long form takes more.
fn rounds() -> usize {
    let asked = std::env::var("SESSIONARY_PICKER_KEYS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(300)
}

fn seed() -> u64 {
    let asked = std::env::var("SESSIONARY_SEED").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(20)
}

/// Opened again where keys have ended it; its exit code is one of those that are promised.
fn reopened(program: &mut Program, pty: &Pty, open: impl Fn() -> Program) {
    if !program.runs() {
        let code = program.code();
        assert!(matches!(code, Some(0 | 1)), "{code:?}\n{}", pty.text());
        *program = open();
    }
}

#[test]
fn any_keys_at_any_moment_leave_it_alive_or_the_terminal_as_it_was() {
    let home = home();
    let pty = Pty::new(100, 30);
    pty.print("$ before\r\n");
    let before = pty.condition();
    let open = || {
        pty.resize(100, 30);
        // What is typed ahead is typed into it: that may end it at once, or leave no room for the
        // help that its last line names.
        let mut program = start(&home, &pty, &["pick", "--print", "id"]);
        until("it is open", || {
            pty.look(Screen::alternate_screen) || !program.runs()
        });
        program
    };
    let mut program = open();
    let (mut random, rounds) = (ChaCha8Rng::seed_from_u64(seed()), rounds());
    for round in 0..rounds {
        for _ in 0..random.random_range(1..6) {
            pty.keys(KEYS.choose(&mut random).expect("some"));
        }
        match random.random_range(0..40) {
            0 => pty.resize(random.random_range(2..210), random.random_range(2..60)),
            1 => write(
                &home,
                700 + round as u32 % 600,
                "New",
                "/w",
                &[("user", "walrus")],
            ),
            2 => drop(home.run(&["rebuild"])),
            3 => drop(home.run(&["sync"])),
            4 => pty.keys("\r"),
            _ => {}
        }
        reopened(&mut program, &pty, open);
    }
    // Whatever has the keys, so many of these end it.
    pty.resize(100, 30);
    for _ in 0..20 {
        if program.runs() {
            pty.keys("\x03");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    // The last of them may meet it when the terminal is given back already, as an interrupt.
    let end = program.ended();
    let is_left = matches!(end.code(), Some(0 | 1)) || end.signal() == Some(Signal::INT.as_raw());
    assert!(is_left, "{end:?}\n{}", pty.text());
    until("the terminal is as it was", || {
        pty.condition().is_like_but_for_text(&before)
    });
    assert!(!pty.written().contains("panicked"), "{}", pty.text());
    eprintln!("{rounds} sequences of keys");
}
