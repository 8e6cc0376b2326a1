//! When is the picker opened, and what do other programs get from it?

use super::pty::Pty;
use super::{home, shell, start};

const TITLE: &str = "Linker error in CI";

#[test]
fn what_is_chosen_is_printed_for_the_program_that_asked() {
    let home = home();
    let pty = Pty::new(100, 30);
    let _shell = shell(&home, &pty);
    let id = "019b8d10-0000-7000-8000-000000000600";
    let path = format!("{}/{}/{id}.jsonl", home.home.display(), super::FOLDER);
    let cwd = home.cwd.display();
    for (what, expected) in [
        ("id", id.to_owned()),
        ("path", path.clone()),
        ("command", format!("cd -- {cwd} && pi --session {path}")),
    ] {
        for height in ["", "--height 40%"] {
            pty.keys("clear\n");
            pty.until_shown("$\n");
            pty.keys(&format!("got=$(s pick {height} --print {what})\n"));
            pty.until_shown(TITLE);
            pty.keys("\r");
            pty.until_gone(TITLE);
            pty.keys("echo \"$? $got\" > ~/got; echo don''e\n");
            pty.until_shown("done\n");
            let got = std::fs::read_to_string(home.home.join("got")).unwrap();
            assert_eq!(got, format!("0 {expected}\n"), "{what} {height}");
        }
    }
    for arguments in ["--print json", "--json"] {
        pty.keys(&format!("clear; s pick {arguments} > ~/got\n"));
        pty.until_shown(TITLE);
        pty.keys("\r");
        pty.until_gone(TITLE);
        pty.keys("echo don''e\n");
        pty.until_shown("done\n");
        let got = std::fs::read_to_string(home.home.join("got")).unwrap();
        let row: serde_json::Value = serde_json::from_str(&got).unwrap();
        let listed = home.json(&["list", "--json"]);
        assert_eq!(row["id"], id);
        assert_eq!(row["path"], listed["sessions"][0]["path"]);
    }
}

#[test]
fn several_marked_ones_are_printed_in_the_order_of_the_list() {
    let home = home();
    let pty = Pty::new(100, 30);
    let mut program = start(&home, &pty, &["pick", "--print", "id"]);
    pty.until_shown(TITLE);
    // The third, then the first two.
    pty.keys("\x1b[B\x1b[B\t\x1b[A\x1b[A\x1b[A\t\t\r");
    assert_eq!(program.code(), Some(0));
    let minutes = ["600", "540", "420"];
    let ids = minutes.map(|minute| format!("019b8d10-0000-7000-8000-000000000{minute}\n"));
    pty.until_shown(&ids[2]);
    assert_eq!(pty.text(), ids.concat());
}

#[test]
fn nothing_chosen_is_nothing_printed() {
    let home = home();
    let pty = Pty::new(100, 30);
    let _shell = shell(&home, &pty);
    pty.keys("clear; got=$(s pick --print id); echo \"got '$got' $?\"\n");
    pty.until_shown(TITLE);
    pty.keys("\x03");
    pty.until_shown("got '' 1\n");
}

#[test]
fn commands_without_an_argument_open_it_on_a_terminal() {
    let home = home();
    for (arguments, shown) in [
        (&["show"][..], "Why does the build end with a linker error?"),
        (&["tree"], "e6000000"),
    ] {
        let pty = Pty::new(100, 40);
        let mut program = start(&home, &pty, arguments);
        pty.until_shown(TITLE);
        pty.keys("\r");
        assert_eq!(program.code(), Some(0), "{arguments:?}");
        pty.until("it is printed", |screen| !screen.alternate_screen());
        pty.until_shown(shown);
    }
    // The agent is started, in the session's directory.
    let pi = "#!/bin/sh\necho \"pi in $PWD: $*\"\nread -r line\necho \"read $line\"\nexit 7\n";
    let pi = home.write("bin/pi", pi);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(pi, mode).unwrap();
    for arguments in [&[][..], &["resume"], &["pick"]] {
        let pty = Pty::new(200, 30);
        let before = pty.condition();
        let mut command = home.command(arguments);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}/bin:{path}", home.home.display()));
        let mut program = pty.start(&command);
        pty.until_shown(TITLE);
        pty.keys("\r");
        pty.until_shown(&format!("pi in {}: --session", home.cwd.display()));
        // All of what is typed is the agent's.
        pty.keys("typed for the agent\n");
        pty.until_shown("read typed for the agent\n");
        assert_eq!(program.code(), Some(7), "{arguments:?}");
        assert!(pty.condition().is_like_but_for_text(&before));
    }
}

#[test]
fn what_is_asked_after_it_is_answered_by_the_same_keys() {
    let home = home();
    let pty = Pty::new(100, 30);
    let mut program = start(&home, &pty, &["resume"]);
    pty.until_shown(TITLE);
    pty.keys("number 39");
    pty.until_shown("▌ walrus number 39");
    pty.keys("\r");
    pty.until_shown("/gone is gone. Continue in this directory? [y/N]");
    pty.keys("n\n");
    pty.until_shown("No: nothing was started.");
    assert_eq!(program.code(), Some(1));
}

#[test]
fn without_a_terminal_nothing_is_opened() {
    let home = home();
    let said = home.run(&["pick"]);
    assert!(said.contains("there is no terminal to pick on"), "{said}");
    for command in ["resume", "show", "tree"] {
        let said = home.run(&[command]);
        assert!(
            said.contains("there is no terminal to pick one on"),
            "{said}"
        );
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    // Bare, it says how things stand.
    assert!(!home.run(&[]).contains("--- exit"), "{}", home.run(&[]));
    // Somebody is at a terminal, but the answer goes to a file or is read by a program.
    let pty = Pty::new(100, 30);
    let _shell = shell(&home, &pty);
    for command in ["s show", "s tree", "s resume", "s --json show"] {
        pty.keys(&format!("clear; {command} > ~/got; echo \"code $?\"\n"));
        pty.until_shown("code 2\n");
        assert!(
            pty.text().contains("there is no terminal to pick one on"),
            "{}",
            pty.text()
        );
    }
    pty.keys("clear; s > ~/got; echo \"code $?\"\n");
    pty.until_shown("code 0\n");
    // It is a terminal, and another process's: nobody could be heard.
    let pty = Pty::new(100, 30);
    let mut program = pty.start_without(&home.command(&["pick"]));
    pty.until_shown("there is no terminal to pick on");
    assert_eq!(program.code(), Some(2));
}

#[test]
fn keys_typed_ahead_mean_what_was_typed_before_them() {
    let home = home();
    for (keys, minute) in [
        ("\"number 17\"\r", 17),
        // One thing is found: there is nothing below it.
        ("\"number 17\"\x1b[B\r", 17),
        ("walrus number\x1bo\x1b[B\x1b[B\r", 37),
        // Another key takes Enter back.
        ("\"number 17\"\r\x15\"number 18\"\r", 18),
        // The last of all, and the one above it.
        ("\x1b[1;5F\r", 10),
        ("\x1b[1;5F\x1b[A\r", 11),
    ] {
        let pty = Pty::new(100, 24);
        let mut program = start(&home, &pty, &["pick", "--print", "id"]);
        pty.until_shown("36 sessions");
        pty.keys(keys);
        assert_eq!(program.code(), Some(0), "{keys:?}");
        pty.until_shown(&format!("019b8d10-0000-7000-8000-{minute:012}"));
    }
    // A branch is made of what was typed, too.
    let pty = Pty::new(100, 24);
    let mut program = start(&home, &pty, &["pick", "--print", "path"]);
    pty.until_shown("36 sessions");
    pty.keys("\"number 17\"\x1b\r");
    assert_eq!(program.code(), Some(0));
    pty.until("its path", |screen| screen.contents().contains(".jsonl"));
    let path = pty.look(|screen| screen.contents().replace('\n', ""));
    let text = std::fs::read_to_string(path.trim()).unwrap();
    assert!(text.contains("walrus number 17"), "{text}");
}
