//! What appears while the picker is open?

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::pty::{Pty, lines};
use super::{FOLDER, home, start, write};

/// Waits until the selection stands on this.
fn until_selected(pty: &Pty, title: &str) {
    pty.until(&format!("{title} is selected"), |screen| {
        lines(screen).contains(&format!("\u{258c} {title}"))
    });
}

#[test]
fn new_sessions_and_new_lines_appear_and_the_selection_stays() {
    let home = home();
    let pty = Pty::new(120, 30);
    let mut program = start(&home, &pty, &["pick", "--print", "id"]);
    pty.until_shown("36 sessions");
    pty.keys("\x1b[B");
    until_selected(&pty, "The parser reads");
    write(
        &home,
        660,
        "Brand new",
        "~/code/parser",
        &[("user", "pelican one")],
    );
    pty.until_shown("37 sessions");
    pty.until_shown("  Brand new");
    until_selected(&pty, "The parser reads");
    // What is typed is asked of what came later, too.
    pty.keys("pelican");
    pty.until_shown("1 of 37");
    let line = r#"{"type":"message","id":"late0001","parentId":"e6600000","timestamp":"2026-01-03T11:30:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"pelican heron"}]}}"#;
    let id = format!("019b8d10-0000-7000-8000-{:012}", 660);
    let path = home.home.join(FOLDER).join(format!("{id}.jsonl"));
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{line}").unwrap();
    pty.keys(" heron");
    pty.until_shown("pelican heron");
    std::fs::remove_file(&path).unwrap();
    pty.until_shown(" 0 of ");
    pty.keys("\x15");
    pty.until_shown("36 sessions");
    pty.keys("\x1b[B\r");
    assert_eq!(program.code(), Some(0));
    pty.until_shown("019b8d10-0000-7000-8000-000000000540");
}

#[test]
fn what_keeps_the_index_from_being_written_is_said() {
    let home = home();
    let pty = Pty::new(200, 30);
    let mut program = start(&home, &pty, &["--index", "mine", "pick"]);
    pty.until_shown("36 sessions");
    pty.until_gone("not all files were read");
    let catalogue = home.cwd.join("mine/v5/catalogue.sqlite");
    let other = rusqlite::Connection::open(catalogue).unwrap();
    other.busy_timeout(Duration::from_secs(60)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    write(&home, 662, "Brand new", "/elsewhere", &[("user", "heron")]);
    pty.until_shown("36 sessions · ");
    pty.until_shown("is locked by ");
    other.execute_batch("ROLLBACK").unwrap();
    pty.until_shown("37 sessions");
    pty.until_gone("is locked by ");
    pty.keys("\x1b");
    assert_eq!(program.code(), Some(1));
}

#[test]
fn it_is_current_beside_another_process_that_watches() {
    let home = home();
    let mut watcher = home.command(&["watch"]);
    let watcher = watcher.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _watcher = Killed(watcher.expect("a watcher"));
    let pty = Pty::new(80, 24);
    let mut program = start(&home, &pty, &["pick"]);
    pty.until_shown("36 sessions");
    write(&home, 661, "Brand new", "/elsewhere", &[("user", "heron")]);
    pty.until_shown("37 sessions");
    pty.keys("\x1b");
    assert_eq!(program.code(), Some(1));
}

#[test]
fn it_rests_while_nothing_happens() {
    let home = home();
    let pty = Pty::new(120, 30);
    let mut program = start(&home, &pty, &["pick"]);
    pty.until_shown("36 sessions");
    let second = || std::thread::sleep(std::time::Duration::from_secs(1));
    // First it looks at all files, and indexes what is new.
    (0..4).for_each(|_| second());
    let before = program.ticks();
    (0..3).for_each(|_| second());
    // A clock tick is ten milliseconds.
    assert!(
        program.ticks() - before <= 3,
        "{}",
        program.ticks() - before
    );
    pty.keys("\x1b");
    assert_eq!(program.code(), Some(1));
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_session_that_is_read_stays_selected_however_many_are_newer() {
    let home = home();
    for reads in [true, false] {
        let pty = Pty::new(120, 24);
        let mut program = start(&home, &pty, &["pick", "--print", "id"]);
        pty.until_shown(if reads { "36 sessions" } else { "56 sessions" });
        let (title, id) = match reads {
            true => ("Linker error in CI", 600),
            false => ("newer 719", 719),
        };
        until_selected(&pty, title);
        if reads {
            pty.keys("\x1b[C");
            pty.until_shown("Esc list");
        }
        let first = if reads { 700 } else { 720 };
        for minute in first..first + 20 {
            let said = format!("newer {minute}");
            write(&home, minute, &said, "~/code/parser", &[("user", &said)]);
        }
        pty.until_shown(if reads { "56 sessions" } else { "76 sessions" });
        until_selected(&pty, title);
        assert!(!pty.text().contains("no longer in the list"));
        pty.keys("\r");
        assert_eq!(program.code(), Some(0));
        pty.until_shown(&format!("019b8d10-0000-7000-8000-{id:012}"));
    }
}

#[test]
fn a_larger_terminal_has_more_rows() {
    let home = home();
    let pty = Pty::new(50, 16);
    let mut program = start(&home, &pty, &["pick", "--print", "id"]);
    pty.until_shown("36 sessions");
    pty.resize(50, 70);
    pty.until_shown("walrus number 15");
    pty.keys("\x03");
    assert_eq!(program.code(), Some(1));
}

#[test]
fn what_others_wrote_on_the_terminal_goes_when_it_is_drawn_anew() {
    let home = home();
    for arguments in [&["pick"][..], &["pick", "--height", "12"]] {
        let pty = Pty::new(100, 24);
        let mut program = start(&home, &pty, arguments);
        pty.until_shown("36 sessions");
        pty.write_beside("\x1b7\x1b[24;1Hstray\x1b8");
        pty.until_shown("stray");
        pty.keys("\x0c");
        pty.until_gone("stray");
        pty.until_shown("36 sessions");
        pty.keys("\x03");
        assert_eq!(program.code(), Some(1));
    }
}
