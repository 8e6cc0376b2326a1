//! What does a person at a terminal meet whom a command asks something, or who is given more than
//! the terminal holds?

use crate::sandbox::Sandbox;
use crate::watching::{message, session};

const FILE: &str = ".pi/agent/sessions/--w--/one.jsonl";

#[test]
fn no_is_an_answer_and_no_error() {
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one").replace("/w\"", "~/gone\""));
    // Else it may be in use.
    home.touch(&path, 1_767_600_000);
    let unit = home
        .home
        .join(".config/systemd/user/sessionary-watch.service");
    let _ = home.run(&["sync"]);
    for (arguments, nothing) in [
        (&["delete", "019b8d10"][..], "No: nothing was moved."),
        (&["clean"], "No: nothing was removed."),
        (&["resume", "019b8d10"], "No: nothing was started."),
        (&["watch", "--install"], "No: nothing was installed."),
    ] {
        for typed in ["n\n", "\n"] {
            let Some(seen) = home.on_terminal(arguments, typed) else {
                return;
            };
            let end = format!("{nothing}\n--- exit Some(1)\n");
            assert!(seen.ends_with(&end), "{arguments:?}: {seen}");
            assert!(seen.contains("[y/N]"), "{arguments:?}: {seen}");
            assert!(!seen.contains("error"), "{arguments:?}: {seen}");
        }
        // Nobody is there to be asked: that is one.
        let said = home.run(arguments);
        assert!(said.contains("error: "), "{arguments:?}: {said}");
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    assert!(path.exists() && !unit.exists());
    assert!(home.home.join(".cache/sessionary").exists());
    let seen = home.on_terminal(&["clean"], "y\n").unwrap();
    assert!(
        seen.contains("Removed ") && !seen.contains("exit"),
        "{seen}"
    );
    assert!(!home.home.join(".cache/sessionary").exists());
}

/// Who answers later than their agent goes on moves nothing that they were not shown.
#[test]
fn what_changes_before_the_answer_is_not_moved() {
    use std::io::{Read, Write};
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one").replace("/w\"", "~/gone\""));
    home.touch(&path, 1_767_600_000);
    let _ = home.run(&["sync"]);
    for (arguments, is_moved) in [
        (&["delete", "019b8d10"][..], false),
        (&["delete", "019b8d10", "--force"], true),
    ] {
        let Some(mut script) = home.start_on_terminal(arguments) else {
            return;
        };
        let (mut seen, mut byte) = (Vec::new(), [0]);
        let screen = script.stdout.as_mut().expect("its output");
        while !seen.ends_with(b"[y/N]") && screen.read(&mut byte).expect("read") > 0 {
            seen.extend(byte);
        }
        let text = std::fs::read_to_string(&path).expect("the session");
        std::fs::write(&path, text + &message(1, "went on")).expect("written");
        let typed = script.stdin.as_mut().expect("its input");
        typed.write_all(b"y\n").expect("typed");
        let output = script.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(path.exists(), !is_moved, "{said}");
        let is_told = said.contains("changed") && said.contains("--force");
        assert_eq!(is_told, !is_moved, "{said}");
        assert_eq!(output.status.code(), Some(if is_moved { 0 } else { 2 }));
        if !is_moved {
            home.touch(&path, 1_767_600_000);
        }
    }
}

/// Rows and columns of the terminal on which answers are paged.
const ROWS: usize = 10;

/// A home with one session of so many messages, and a pager that keeps what it is given.
fn paged(messages: u32) -> Sandbox {
    let home = Sandbox::new();
    let said = (1..messages).map(|number| {
        let parent = format!(r#""parentId":"e{:07}""#, number - 1);
        message(number, "said").replace(r#""parentId":null"#, &parent)
    });
    let text = session(1, "one") + &said.collect::<String>();
    home.write(FILE, &text.replace("/w\"", "~/code/parser\""));
    pager(&home, "env > $HOME/env; cat > $HOME/got; echo PAGED");
    home
}

/// Writes the pager.
fn pager(home: &Sandbox, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = home.write("bin/pager", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the command in a small terminal: what is seen there. `None` where there is no `script`.
fn in_terminal(home: &Sandbox, variables: &[(&str, &str)], arguments: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_sessionary");
    let line = format!("stty rows {ROWS} cols 60; exec {program} {arguments}");
    let _ = std::fs::remove_file(home.home.join("got"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}/bin:{path}", home.home.display());
    let told = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .envs([("TERM", "xterm"), ("PATH", &path), ("SHELL", "/bin/sh")])
        .envs([("TZ", "UTC"), ("PAGER", "pager")])
        .env("HOME", &home.home)
        .envs(variables.iter().copied())
        .current_dir(&home.cwd)
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(told) = told else {
        eprintln!("SKIPPED: there is no `script`");
        return None;
    };
    let seen = String::from_utf8_lossy(&told.stdout).replace('\r', "");
    Some(match told.status.code() {
        Some(0) => seen,
        code => format!("{seen}--- exit {code:?}\n"),
    })
}

/// What the pager was given; nothing where none ran.
fn got(home: &Sandbox) -> String {
    std::fs::read_to_string(home.home.join("got")).unwrap_or_default()
}

#[test]
fn what_is_longer_than_the_terminal_goes_through_the_pager() {
    let home = paged(30);
    let Some(seen) = in_terminal(&home, &[], "show 019b8d10") else {
        return;
    };
    assert_eq!(seen, "PAGED\n");
    assert!(got(&home).contains("e0000029") && got(&home).contains("said"));
    // As git sets them.
    let variables = std::fs::read_to_string(home.home.join("env")).unwrap();
    assert!(variables.contains("LESS=FRX\n") && variables.contains("LV=-c\n"));
    assert!(variables.contains("LESSCHARSET=utf-8\n"));
    // It keeps its colours, and the width of the terminal.
    assert!(got(&home).contains("\u{1b}[36m"), "{}", got(&home));
    let rule = got(&home).lines().nth(4).unwrap().to_owned();
    assert_eq!(
        rule.matches('─').count() + " user · 2026-01-05 09:00 · e0000000 ".len() - 2,
        60,
        "{rule}"
    );

    let own = [("LESS", "S"), ("SESSIONARY_PAGER", "pager | cat; echo OWN")];
    let seen = in_terminal(&home, &own, "show 019b8d10").unwrap();
    assert_eq!(seen, "PAGED\nOWN\n");
    let variables = std::fs::read_to_string(home.home.join("env")).unwrap();
    assert!(variables.contains("LESS=S\n"));

    for (arguments, is_paged) in [
        ("tree 019b8d10", true),
        ("search said --limit 0", true),
        ("context 019b8d10", true),
        ("sql 'SELECT entry FROM entries'", true),
        ("sql --schema", true),
        ("list --all", false),
        ("search said --limit 1", false),
        ("show 019b8d10:e0000003", false),
        // What a program reads, or what is asked for as it is.
        ("show 019b8d10 --json", false),
        ("show 019b8d10 --raw", false),
        ("tree 019b8d10 --fields id --tsv", false),
        ("sql --csv 'SELECT entry FROM entries'", false),
        ("sql --jsonl 'SELECT entry FROM entries'", false),
        ("export 019b8d10 --format markdown", false),
        ("config --help", false),
    ] {
        let seen = in_terminal(&home, &[], arguments).unwrap();
        assert_eq!(seen.contains("PAGED\n"), is_paged, "{arguments}: {seen}");
        assert_eq!(!got(&home).is_empty(), is_paged, "{arguments}: {seen}");
        assert!(!seen.contains("exit"), "{arguments}: {seen}");
        // What is said stands behind.
        if let Some((before, _)) = seen.split_once("PAGED\n") {
            assert_eq!(before, "", "{arguments}");
        }
    }
    let seen = in_terminal(&home, &[], "search said --limit 0").unwrap();
    assert!(seen.starts_with("PAGED\n29 matches in 1 session"), "{seen}");
}

#[test]
fn who_wants_no_pager_gets_none() {
    let home = paged(30);
    for (variables, arguments) in [
        (&[][..], "--no-pager show 019b8d10"),
        (&[("PAGER", "")], "show 019b8d10"),
        (&[("PAGER", " cat ")], "show 019b8d10"),
        (&[("SESSIONARY_PAGER", "")], "show 019b8d10"),
        (&[("TERM", "dumb")], "show 019b8d10"),
        (&[("TERM", "")], "show 019b8d10"),
        // Nobody would end it.
        (&[("CLAUDECODE", "1")], "show 019b8d10"),
        (&[("PAGER", "no-such-program")], "show 019b8d10"),
    ] {
        let Some(seen) = in_terminal(&home, variables, arguments) else {
            return;
        };
        assert!(!seen.contains("PAGED"), "{variables:?}: {seen}");
        assert_eq!(seen.matches("e0000029").count(), 1, "{variables:?}: {seen}");
        assert!(!seen.contains("exit"), "{variables:?}: {seen}");
    }
    home.write(".config/sessionary/config.toml", "pager = false\n");
    let seen = in_terminal(&home, &[], "show 019b8d10").unwrap();
    assert!(seen.contains("e0000029") && got(&home).is_empty(), "{seen}");
}

#[test]
fn a_pager_that_ends_early_is_no_error() {
    // More than a pipe holds, and indexed, so that nothing is said of progress meanwhile.
    let home = paged(1_500);
    let _ = home.run(&["sync"]);
    for script in [
        "head -c 1 > $HOME/got",
        "exec < /dev/null; echo x > $HOME/got; exit 3",
        "echo x > $HOME/got; kill -9 $$",
    ] {
        pager(&home, script);
        let Some(seen) = in_terminal(&home, &[], "search said --limit 0") else {
            return;
        };
        assert!(got(&home).len() < 3, "{script}");
        let said = seen.trim_start_matches("Killed\n");
        assert!(
            said.starts_with("1,499 matches in 1 session"),
            "{script}: {seen}"
        );
        assert!(
            !seen.contains("exit") && !seen.contains("error"),
            "{script}: {seen}"
        );
    }
}

#[test]
fn an_interrupt_is_the_pagers_alone() {
    let home = paged(30);
    pager(
        &home,
        "trap '' INT QUIT; kill -INT 0; kill -QUIT 0; sleep 0.2; cat > $HOME/got; echo PAGED",
    );
    for demo in ["", "--demo "] {
        let Some(seen) = in_terminal(&home, &[], &format!("{demo}sql --schema")) else {
            return;
        };
        assert!(seen.ends_with("PAGED\n"), "{demo}: {seen}");
        assert!(got(&home).contains("sessions"), "{demo}");
    }
}
