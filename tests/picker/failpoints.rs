//! What becomes of the terminal when the picker panics, and of an answer that takes long?

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use super::pty::{Pty, lines};
use super::{FOLDER, home};

#[test]
fn a_panic_in_any_thread_is_told_on_a_terminal_that_is_as_it_was() {
    let home = home();
    // A first sync would be drawn as often as it comes further: it is done before.
    let _ = home.run(&["sync"]);
    home.settle();
    for (place, typed) in [
        // Before the first list it may draw, ask and read more than once.
        ("picker-draws=30*off->panic(drawn wrongly)", "li"),
        ("picker-asks=10*off->panic(asked wrongly)", "l"),
        ("picker-reads=10*off->panic(read wrongly)", "\x1b[B"),
    ] {
        for arguments in [&["pick"][..], &["pick", "--height", "40%"]] {
            if place.contains("reads") && arguments.len() > 1 {
                // There is no preview.
                continue;
            }
            let pty = Pty::new(100, 30);
            let before = pty.condition();
            let mut command = home.command(arguments);
            command.env("FAILPOINTS", place);
            let mut program = pty.start(&command);
            pty.until_shown("Linker error in CI");
            // A question that the next key overtakes may never be asked, so it is typed on.
            for _ in 0..600 {
                if !program.runs() {
                    break;
                }
                pty.keys(typed);
                sleep(Duration::from_millis(50));
            }
            let code = program.code();
            pty.until_shown("wrongly");
            assert!(matches!(code, Some(2 | 101)), "{place}: {code:?}");
            assert!(pty.text().contains("panicked at"), "{}", pty.text());
            assert!(pty.condition().is_like_but_for_text(&before), "{place}");
            assert!(!pty.text().contains("Linker"), "{}", pty.text());
        }
    }
}

#[test]
fn a_question_is_answered_while_a_session_is_being_written() {
    let home = home();
    let pty = Pty::new(100, 30);
    let mut command = home.command(&["pick", "--print", "id"]);
    // Each answer takes longer than the next change of the index.
    command.env("FAILPOINTS", "picker-asks=sleep(700)");
    let mut program = pty.start(&command);
    pty.until_shown("36 sessions");
    let id = format!("019b8d10-0000-7000-8000-{:012}", 540);
    let path = home.home.join(FOLDER).join(format!("{id}.jsonl"));
    let is_done = AtomicBool::new(false);
    let write_on = || {
        // As long as somebody waits for the answer.
        for number in 0..1_400 {
            if is_done.load(Ordering::SeqCst) {
                return;
            }
            let line = format!(
                r#"{{"type":"custom","customType":"tick","id":"t{number:07}","parentId":null,"timestamp":"2026-01-03T11:30:00.000Z"}}"#
            );
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            writeln!(file, "{line}").unwrap();
            sleep(Duration::from_millis(50));
        }
    };
    scope(|scope| {
        scope.spawn(write_on);
        pty.keys("\"number 17\"");
        pty.until("the answer", |screen| lines(screen).contains(" 1 of 36 "));
        is_done.store(true, Ordering::SeqCst);
    });
    pty.keys("\r");
    assert_eq!(program.code(), Some(0));
    pty.until_shown("019b8d10-0000-7000-8000-000000000017");
}
