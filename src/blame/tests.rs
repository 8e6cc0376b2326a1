//! Cases by hand, and random histories whose writers are known.

mod history;

use super::{GivenTexts, Place, ReadLines, SessionEdit, State, lines};
use crate::format::edits::{Change, Hunk, HunkLine};

/// The sessions that wrote the lines of `file`, `-` for nobody.
fn blamed(made: &[SessionEdit], file: &str) -> String {
    let writers = State::after(made).writers(&lines(file)).into_iter();
    let session = |writer: Option<usize>| match writer {
        Some(number) => made[number].session.to_string(),
        None => "-".to_owned(),
    };
    writers.map(session).collect()
}

fn made(session: i64, change: Change) -> SessionEdit {
    SessionEdit {
        session,
        changes: vec![change],
        ..SessionEdit::default()
    }
}

/// What a session had read that writes `text` then.
fn seen(text: &str, read: &str) -> GivenTexts {
    let place = |key| Place {
        source: 1,
        key,
        ms: None,
    };
    let wanted = ReadLines::of(text).map(str::to_owned).collect();
    let mut lines = ReadLines::new(wanted).expect("few lines");
    lines.read(read, place(1), true);
    GivenTexts::before(place(2), lines.into())
}

fn write(session: i64, text: &str) -> SessionEdit {
    made(session, Change::Write(text.to_owned()))
}

fn replace(session: i64, old: &str, new: &str) -> SessionEdit {
    let (old, new) = (old.to_owned(), new.to_owned());
    let all = false;
    made(session, Change::Replace { old, new, all })
}

const FILE: &str = "use std::fs;\n\nfn main() {\n    println!(\"one\");\n}\n";

#[test]
fn a_file_is_its_writers_and_an_edit_only_what_it_changed() {
    let edit = replace(
        2,
        "    println!(\"one\");",
        "    let two = 2;\n    println!(\"{two}\");",
    );
    let file = "use std::fs;\n\nfn main() {\n    let two = 2;\n    println!(\"{two}\");\n}\n";
    assert_eq!(blamed(&[write(1, FILE), edit], file), "111221");
}

#[test]
fn replacing_part_of_a_line_makes_it_the_editors() {
    let before = "let count = one(1);\nlet other = one(2);\n}\n";
    let edit = replace(2, "one(1)", "two(1)");
    let file = "let count = two(1);\nlet other = one(2);\n}\n";
    assert_eq!(blamed(&[write(1, before), edit], file), "211");
    let (old, new, all) = ("one".to_owned(), "two".to_owned(), true);
    let edit = made(2, Change::Replace { old, new, all });
    let file = "let count = two(1);\nlet other = two(2);\n}\n";
    assert_eq!(blamed(&[write(1, before), edit], file), "221");
    // The last line is joined to the one that follows.
    let edit = replace(2, "one(1);\n", "one(1); ");
    let file = "let count = one(1); let other = one(2);\n}\n";
    assert_eq!(blamed(&[write(1, before), edit], file), "21");
}

#[test]
fn of_a_file_that_is_not_known_only_what_was_written_there_is_anybodys() {
    let edit = replace(
        1,
        "fn main() {\n",
        "fn main() {\n    let number = start();\n",
    );
    let file =
        "use std::fs;\n\nfn main() {\n    let number = start();\n    println!(\"one\");\n}\n";
    assert_eq!(blamed(&[edit], file), "---1--");
}

#[test]
fn what_a_session_had_read_is_not_its_own_when_it_writes_the_file() {
    let file = format!("{FILE}// The end of it.\n");
    let seen = seen(&file, &format!("main.rs:\n{FILE}"));
    let write = SessionEdit {
        seen,
        ..write(1, &file)
    };
    assert_eq!(blamed(std::slice::from_ref(&write), &file), "-----1");
    let known = SessionEdit {
        seen: GivenTexts::default(),
        ..write
    };
    assert_eq!(blamed(&[known], &file), "111111");
}

#[test]
fn hands_take_lines_away_and_put_others_between() {
    let file = "use std::fs;\nuse std::io;\n\nfn main() {\n}\n}\n";
    // Which of the brackets is new is open, and whether the lines around are the old ones.
    assert_eq!(blamed(&[write(1, FILE)], file), "1--1--");
}

#[test]
fn a_line_that_two_sessions_wrote_is_nobodys() {
    // The second found a file in which the first one's work was gone.
    let line = "    let number = start();\n";
    let first = replace(1, "fn main() {\n", &format!("fn main() {{\n{line}"));
    let second = SessionEdit {
        is_uncertain: true,
        ..replace(2, "fn main() {\n\n", &format!("fn main() {{\n{line}\n"))
    };
    let file = format!("fn main() {{\n{line}\n}}\n");
    assert_eq!(blamed(std::slice::from_ref(&first), &file), "-1--");
    assert_eq!(blamed(&[first, second], &file), "----");
}

#[test]
fn what_is_recorded_of_the_file_decides() {
    // Somebody has written a line between the two calls.
    let before = FILE.replace("fn main", "// By hand, before.\nfn main");
    let edit = SessionEdit {
        before: Some(before.clone()),
        ..replace(2, "\"one\"", "\"two\"")
    };
    let file = before.replace("\"one\"", "\"two\"");
    assert_eq!(blamed(&[write(1, FILE), edit], &file), "1--121");
    let same = |text: &str| HunkLine::Same(text.to_owned());
    let hunk: Hunk = vec![
        same("fn main() {"),
        HunkLine::Old("    println!(\"one\");".to_owned()),
        HunkLine::New("    println!(\"two\");".to_owned()),
        same("}"),
    ];
    let edit = SessionEdit {
        hunks: Some(vec![hunk]),
        // The tool found it although the blanks differ.
        ..replace(2, "println!( \"one\" )", "println!(\"two\")")
    };
    assert_eq!(blamed(&[write(1, FILE), edit], &file), "1--121");
}

#[test]
fn white_space_alone_is_told_apart() {
    let state = State::after(&[write(1, FILE)]);
    let file = FILE.replace("    println", "\tprintln");
    let file = lines(&file);
    let open: Vec<bool> = state.writers(&file).iter().map(Option::is_none).collect();
    assert_eq!(open, [false, false, false, true, true]);
    let respaced = state.writers_but_for_space(&file, &open);
    assert_eq!(respaced, [None, None, None, Some(0), None]);
}
