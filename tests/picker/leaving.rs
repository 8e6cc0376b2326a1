//! Is the terminal what it was, however the picker ends?

use rustix::process::Signal;

use super::pty::{Condition, Program, Pty};
use super::{bash, home, start};
use crate::sandbox::Sandbox;

/// A terminal on which something stands already.
fn used() -> (Pty, Condition) {
    let pty = Pty::new(100, 30);
    pty.print("$ what stood there\r\n\x1b[32mbefore\x1b[m\r\n$ sessionary pick\r\n");
    let before = pty.condition();
    (pty, before)
}

/// What a program that is chosen prints stands below what stood there.
fn printed_below(pty: &Pty, before: &Condition, printed: &str) {
    let after = pty.condition();
    assert!(after.is_like_but_for_text(before), "{before:?} {after:?}");
    let expected = format!("$ what stood there\nbefore\n$ sessionary pick\n{printed}");
    assert_eq!(pty.text(), expected);
}

fn opened(home: &Sandbox, pty: &Pty, arguments: &[&str]) -> Program {
    let program = start(home, pty, arguments);
    pty.until_shown("Linker error in CI");
    program
}

#[test]
fn leaving_by_a_key_gives_the_terminal_back() {
    let home = home();
    let keys = ["\x1b", "\x03", "\x07", "\x11", "\x04"];
    let states = [
        "",
        "linker",
        "\x1bOP",
        "\t\t",
        "\x1b[B\x1b[6~",
        "no such thing at all",
    ];
    for key in keys {
        for state in states {
            let (pty, before) = used();
            let mut program = opened(&home, &pty, &["pick"]);
            pty.keys(state);
            // Help is closed by a key, and Ctrl-D deletes.
            let mut end = match (key, state) {
                (_, "\x1bOP") => format!("x\x7f{key}"),
                ("\x04", _) => format!("\x15{key}"),
                _ => key.to_owned(),
            };
            if key == "\x1b" {
                // Nothing follows, or it would begin an escape sequence.
                end = end.replace('\x1b', "");
                pty.keys(&end);
                pty.keys("\x1b");
            } else {
                pty.keys(&end);
            }
            assert_eq!(program.code(), Some(1), "{key:?} after {state:?}");
            pty.until_as(&before);
        }
    }
}

#[test]
fn choosing_gives_the_terminal_back_before_anything_is_printed() {
    let home = home();
    for arguments in [
        &["pick", "--print", "id"][..],
        &["pick", "--print", "id", "--height", "9"],
    ] {
        let (pty, before) = used();
        let mut program = opened(&home, &pty, arguments);
        pty.keys("\r");
        assert_eq!(program.code(), Some(0));
        let chosen = "019b8d10-0000-7000-8000-000000000600\n";
        pty.until_shown(chosen.trim());
        printed_below(&pty, &before, chosen);
    }
}

#[test]
fn a_signal_ends_it_as_any_program_and_gives_the_terminal_back() {
    let home = home();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        for arguments in [&["pick"][..], &["pick", "--height", "10"], &[], &["show"]] {
            let (pty, before) = used();
            let mut program = opened(&home, &pty, arguments);
            program.signal(signal);
            assert_eq!(program.ended_by(), Some(signal.as_raw()), "{arguments:?}");
            pty.until_as(&before);
        }
    }
}

#[test]
fn a_signal_ends_a_demo_whose_folder_goes() {
    let home = Sandbox::new();
    let temporary = home.home.join("temporary");
    std::fs::create_dir_all(&temporary).unwrap();
    for signal in [
        Some(Signal::TERM),
        Some(Signal::HUP),
        Some(Signal::INT),
        None,
    ] {
        let (pty, before) = used();
        let mut command = home.command(&["--demo", "pick"]);
        command.env("TMPDIR", &temporary);
        let mut program = pty.start(&command);
        pty.until_shown("Linker error in CI");
        match signal {
            Some(signal) => {
                program.signal(signal);
                assert_eq!(program.ended_by(), Some(signal.as_raw()));
            }
            None => {
                pty.keys("\x1b");
                assert_eq!(program.code(), Some(1));
            }
        }
        pty.until_shown("Demo: three made-up sessions.");
        assert!(pty.condition().is_like_but_for_text(&before));
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().collect();
        assert!(left.is_empty(), "{signal:?}: {left:?}");
    }
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let home = home();
    // By a signal, and where nobody sends one.
    for ignored in ["", "trap '' HUP; "] {
        let pty = Pty::new(100, 30);
        let program = env!("CARGO_BIN_EXE_sessionary");
        let line = format!("{ignored}\"{program}\" pick & echo $! > ~/pid; fg > /dev/null");
        let _shell = pty.start(&bash(&home, &["-m", "-c", &line]));
        pty.until_shown("Linker error in CI");
        let id = std::fs::read_to_string(home.home.join("pid")).unwrap();
        drop(pty);
        Program::until_gone(id.trim());
    }
}
