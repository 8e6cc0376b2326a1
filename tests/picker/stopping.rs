//! Does the picker stop as any program of a shell, and go on as if nothing had happened?

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::pty::{Pty, lines};
use super::{home, shell, start};

const TITLE: &str = "Linker error in CI";

/// The process group that has the keys, once it is another one than this.
fn other_than(pty: &Pty, group: Pid) -> Pid {
    pty.until("another foreground", |_| {
        pty.foreground().is_some_and(|now| now != group)
    });
    pty.foreground().unwrap()
}

fn prompts(pty: &Pty) -> usize {
    pty.look(|screen| lines(screen).lines().filter(|line| *line == "$").count())
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_gives_it_back() {
    let home = home();
    for arguments in ["pick", "pick --height 10", "show", ""] {
        let pty = Pty::new(100, 30);
        let shell = shell(&home, &pty);
        let before = pty.condition();
        pty.keys(&format!("s {arguments}\n"));
        pty.until_shown(TITLE);
        pty.keys("linker");
        pty.until_shown("> linker\n");
        let ways = [("\x1a", 80), ("TSTP", 120), ("STOP", 100)];
        for (way, columns) in ways {
            let job = other_than(&pty, shell.id());
            match way {
                "\x1a" => pty.keys(way),
                "TSTP" => kill_process_group(job, Signal::TSTP).unwrap(),
                _ => kill_process(job, Signal::STOP).unwrap(),
            }
            other_than(&pty, job);
            if way != "STOP" {
                pty.until("the prompt", |screen| lines(screen).ends_with("$\n"));
                assert!(pty.condition().is_like_but_for_text(&before), "{way}");
                assert!(pty.text().contains("Stopped"), "{}", pty.text());
                assert!(!pty.text().contains(TITLE), "{}", pty.text());
            }
            // Meanwhile the terminal may become another one.
            pty.resize(columns, 24);
            pty.keys("clear; echo in between\n");
            pty.until_shown("in between\n");
            pty.keys("fg\n");
            pty.until("all of it", |screen| {
                let text = lines(screen);
                text.contains("> linker\n") && text.contains(TITLE)
            });
            pty.keys("x");
            pty.until_shown("> linkerx\n");
            pty.keys("\x7f");
            pty.until_shown("> linker\n");
        }
        let job = other_than(&pty, shell.id());
        pty.keys("\x03");
        other_than(&pty, job);
        pty.keys("echo left $?\n");
        pty.until_shown("left 1\n$");
        assert!(pty.condition().is_like_but_for_text(&before));
    }
}

#[test]
fn where_nobody_would_let_it_go_on_it_does_not_stop() {
    let home = home();
    let pty = Pty::new(100, 30);
    let mut program = start(&home, &pty, &["pick", "--print", "id"]);
    pty.until_shown(TITLE);
    pty.keys("\x1al");
    pty.until_shown("> l\n");
    program.signal(Signal::TSTP);
    pty.keys("i");
    pty.until_shown("> li\n");
    pty.keys("\r");
    assert_eq!(program.code(), Some(0));
    // The shell itself would stop.
    let shell = shell(&home, &pty);
    pty.keys("clear; echo got $(s pick --print id) $?\n");
    pty.until_shown(TITLE);
    pty.keys("\x1alinker");
    pty.until_shown("> linker\n");
    pty.until("one row", |screen| lines(screen).contains("1 of"));
    pty.keys("\r");
    pty.until_shown("got 019b8d10-0000-7000-8000-000000000600 0\n$");
    assert!(shell.state() != "T" && prompts(&pty) == 1);
}

#[test]
fn a_pipeline_stops_as_one_job() {
    let home = home();
    let pty = Pty::new(100, 30);
    let _shell = shell(&home, &pty);
    pty.keys("s pick --print path | sed 's/.*600/chosen/'\n");
    pty.until_shown(TITLE);
    pty.keys("\x1a");
    pty.until_shown("Stopped");
    pty.keys("fg\n");
    pty.until_shown(TITLE);
    pty.keys("\r");
    pty.until_shown("chosen.jsonl\n$");
}
