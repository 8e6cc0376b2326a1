//! How does each screen look, at every width?

use std::thread::sleep;
use std::time::Duration;

use insta::assert_snapshot;

use super::pty::{Program, Pty};
use super::{home, start};
use crate::sandbox::Sandbox;

/// The screen once nothing more comes, without how long an answer took, nor which keys that left
/// room for where there is little.
fn screen(pty: &Pty, columns: u16) -> String {
    let took = match columns < 80 {
        true => r"\d+ ms( · (Alt-A|F1) \w+)*",
        false => r"\d+ ms",
    };
    let took = regex::Regex::new(took).expect("an expression");
    let mut seen = (String::new(), 0);
    while seen.1 < 25 {
        sleep(Duration::from_millis(20));
        let text = took.replace_all(&pty.text(), "N ms").into_owned();
        seen = match text == seen.0 {
            true => (text, seen.1 + 1),
            false => (text, 0),
        };
    }
    seen.0
}

fn opened(home: &Sandbox, columns: u16, keys: &str, shown: &str) -> (Pty, Program) {
    let pty = Pty::new(columns, 24);
    let program = start(home, &pty, &["pick"]);
    pty.until_shown("36 sessions");
    pty.keys(keys);
    pty.until_shown(shown);
    (pty, program)
}

/// The screens at each width, each with its name.
fn at_widths(keys: &str, shown: &str, preview: &str) -> String {
    let home = home();
    let mut all = String::new();
    for columns in [40, 60, 80, 120, 200] {
        let (pty, _program) = opened(&home, columns, keys, shown);
        if columns >= 60 {
            pty.until_shown(preview);
        }
        all += &format!("{columns} columns\n{}\n", screen(&pty, columns));
    }
    all
}

#[test]
fn the_list() {
    assert_snapshot!(at_widths("", "Linker error in CI", "Use the bundled one."));
}

#[test]
fn a_search() {
    assert_snapshot!(at_widths(
        "walrus number\x1bo",
        "newest first",
        "walrus number 39"
    ));
}

#[test]
fn a_search_for_one_thing() {
    assert_snapshot!(at_widths("sqlite3", "1 of 36", "does not find sqlite3"));
}

#[test]
fn nothing_is_found() {
    assert_snapshot!(at_widths("xylophone", "0 of 36", ""));
}

/// Where there is no session, the place of the list says whose are there and are not read, and
/// what helps; so does what is said when it is left.
#[test]
fn what_is_not_read_is_said_where_there_is_nothing() {
    let home = Sandbox::new();
    home.write(".junie/sessions/one/events.jsonl", "{}\n");
    let pty = Pty::new(80, 24);
    let mut program = start(&home, &pty, &["pick"]);
    pty.until_shown("Junie: 1 file, 3 B, not read by this version");
    pty.until_shown(" No sessions were found in any of these places.");
    pty.until_shown(" To try it on made-up sessions: sessionary --demo list --all");
    pty.until_shown(" Looked in ~/.pi/agent/sessions, ");
    pty.keys("\x1b");
    assert_eq!(program.code(), Some(1));
    pty.until_shown("\nNo sessions were found in any of these places.");
}

#[test]
fn the_help() {
    // Its last line is drawn last.
    assert_snapshot!(at_widths("\x1bOP", "close", ""));
}
