//! How does the picker stand below the prompt?

use super::pty::{Pty, lines};
use super::{home, shell, start};

#[test]
fn it_stands_below_the_prompt_and_is_erased() {
    let home = home();
    let pty = Pty::new(60, 20);
    let _shell = shell(&home, &pty);
    let before = pty.condition();
    pty.keys("s pick --height 9 --print id");
    pty.until_shown("--print id\n");
    pty.keys("\n");
    pty.until_shown("36 sessions");
    let shown = pty.text();
    let shown: Vec<&str> = shown.lines().collect();
    assert!(
        shown[0].starts_with("$ s pick") && shown[1].starts_with('>'),
        "{shown:?}"
    );
    assert_eq!(shown.len(), 10, "{shown:?}");
    assert!(!pty.condition().is_like_but_for_text(&before));
    pty.keys("\x03");
    pty.until("erased", |screen| {
        lines(screen) == "$ s pick --height 9 --print id\n$\n"
    });
    assert!(pty.condition().is_like_but_for_text(&before));
}

#[test]
fn the_terminal_is_moved_up_where_there_is_too_little_room() {
    let home = home();
    for (height, taken) in [("10", 10), ("50%", 10), ("99", 20), ("1", 4)] {
        let pty = Pty::new(80, 20);
        pty.print(
            &(1..=19)
                .map(|line| format!("line {line}\r\n"))
                .collect::<String>(),
        );
        let mut program = start(&home, &pty, &["pick", "--height", height]);
        pty.until_shown("Linker error");
        let text = pty.text();
        let kept: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with("line"))
            .collect();
        assert_eq!(kept.len(), 20 - taken, "{text}");
        pty.keys("\x03");
        assert_eq!(program.code(), Some(1));
        // What was moved out of sight stays there; the prompt follows what is left.
        pty.until("erased", |screen| !screen.bracketed_paste());
        let left = kept.join("\n") + "\n";
        assert_eq!(pty.text(), left);
        let cursor = pty.look(|screen| screen.cursor_position());
        assert_eq!(cursor, (kept.len() as u16, 0));
    }
}

#[test]
fn a_line_that_is_being_typed_stays_in_sight() {
    let home = home();
    let pty = Pty::new(80, 20);
    pty.print("\r\n\r\n$ being typed ");
    let before = pty.condition();
    let mut program = start(&home, &pty, &["pick", "--height", "8", "--print", "id"]);
    pty.until_shown("Linker error");
    assert!(
        pty.text().starts_with("\n\n$ being typed\n>\n"),
        "{}",
        pty.text()
    );
    for (columns, rows) in [(60, 20), (60, 6)] {
        pty.resize(columns, rows);
        pty.keys("l");
        pty.until("it is drawn", |screen| {
            let text = lines(screen);
            text.contains("$ being typed\n> l") && text.contains("Linker")
        });
        pty.keys("\x7f");
        // Nothing is drawn any more that the next size would put elsewhere: the cursor comes last.
        pty.until("the whole list", |screen| {
            let text = lines(screen);
            let above = text.lines().position(|line| line == "$ being typed");
            let (row, column) = screen.cursor_position();
            text.contains("$ being typed\n>\n")
                && text.contains("36 sessions")
                && (above, column) == (usize::from(row).checked_sub(1), 2)
        });
    }
    pty.keys("\x03");
    assert_eq!(program.code(), Some(1));
    pty.until_gone("Linker");
    assert!(pty.condition().is_like_but_for_text(&before));
    assert!(pty.text().ends_with("$ being typed\n"), "{}", pty.text());
    let (_, column) = pty.look(|screen| screen.cursor_position());
    assert_eq!(column, 14);
}

#[test]
fn it_is_drawn_anew_where_it_stands() {
    let home = home();
    let pty = Pty::new(80, 20);
    pty.print("$ before\r\n");
    let mut program = start(&home, &pty, &["pick", "--height", "9"]);
    pty.until_shown("36 sessions");
    // Where a name is typed the cursor is further below.
    pty.keys("\x1bar");
    pty.until_shown("Name of");
    pty.keys("\x0c");
    pty.keys("letters");
    pty.until_shown("letters");
    // What is written beside it takes the cursor along.
    pty.write_beside("\r\nstray\r\n");
    pty.until_shown("stray");
    pty.keys("\x0c");
    pty.until_gone("stray");
    pty.keys("\x1b");
    pty.until_gone("letters");
    let text = pty.text();
    assert!(text.starts_with("$ before\n>\n"), "{text}");
    assert_eq!(text.lines().count(), 10, "{text}");
    pty.keys("\x03");
    assert_eq!(program.code(), Some(1));
    pty.until("erased", |screen| lines(screen) == "$ before\n");
}

#[test]
fn what_is_typed_ahead_is_the_query() {
    let home = home();
    let pty = Pty::new(80, 20);
    let mut program = start(&home, &pty, &["pick", "--height", "8"]);
    pty.keys("link");
    pty.until_shown("> link\n");
    pty.keys("er");
    pty.until_shown("> linker\n");
    pty.keys("\x03");
    assert_eq!(program.code(), Some(1));
}

#[test]
fn a_terminal_that_does_not_answer_gives_its_last_lines() {
    let home = home();
    let pty = Pty::new(80, 20).mute();
    pty.print("$ before\r\n");
    let mut program = start(&home, &pty, &["pick", "--height", "8"]);
    pty.until_shown("Linker error");
    let text = pty.text();
    assert_eq!(text.lines().count(), 20, "{text}");
    assert!(text.lines().nth(12).unwrap().starts_with('>'), "{text}");
    pty.keys("\x03");
    assert_eq!(program.code(), Some(1));
    pty.until_gone("Linker");
}

#[test]
fn nothing_is_said_by_dimness_or_colour_alone() {
    let home = home();
    let pty = Pty::new(80, 20);
    let _program = start(&home, &pty, &["pick", "--height", "12"]);
    pty.until_shown("Linker error");
    pty.until_shown("36 sessions");
    let dim = |text: &str| {
        pty.look(|screen| {
            let (rows, columns) = screen.size();
            let places = (0..rows.get()).flat_map(|y| (0..columns.get()).map(move |x| (y, x)));
            let cells = places.filter_map(|(y, x)| screen.cell(y, x));
            cells
                .filter(|cell| cell.dim() && !cell.contents().trim().is_empty())
                .count()
        }) > 0
            && !text.is_empty()
    };
    assert!(!dim("anything"), "{}", pty.text());
    let selected = |pty: &Pty| {
        let text = pty.text();
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        lines
            .iter()
            .position(|line| line.starts_with("> "))
            .map(|at| lines[at].clone())
    };
    assert!(
        selected(&pty).unwrap().contains("Linker error"),
        "{}",
        pty.text()
    );
    pty.keys("\x1b[B");
    pty.until("the next", |screen| {
        lines(screen)
            .lines()
            .any(|line| line.starts_with("> The parser reads"))
    });
}
