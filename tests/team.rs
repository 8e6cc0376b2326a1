//! Does `sessionary team` run `sessionary-team`, and say where to get it?

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use crate::sandbox::Sandbox;
use crate::watching::session;
use crate::watching::watcher::until;

/// Run a copy of the program that stands in a folder of its own.
fn team(program: &Path, path: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", path);
    command.env("HOME", path);
    loop {
        match command.output() {
            // What another test was starting while this was written still has it open.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            output => return output.expect("sessionary runs"),
        }
    }
}

/// A program that says which it is and what it is asked for.
fn stand_in(folder: &Path, name: &str) {
    let path = folder.join("sessionary-team");
    fs::write(&path, format!("#!/bin/sh\necho \"{name}: $*\"\nexit 7\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_program_beside_this_one_is_run_or_the_one_on_the_path() {
    let home = Sandbox::new();
    let [own, path] = ["own", "path"].map(|name| home.home.join(name));
    for folder in [&own, &path] {
        fs::create_dir_all(folder).unwrap();
    }
    let program = own.join("sessionary");
    fs::copy(env!("CARGO_BIN_EXE_sessionary"), &program).unwrap();

    let missing = team(&program, &path, &["team", "push"]);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{said}");
    for way in [
        "cargo install --locked --path crates/team",
        "pip install sessionary-team",
        "npm install --global @sessionary/team-",
    ] {
        assert!(said.contains(way), "{said}");
    }

    stand_in(&path, "on the path");
    let output = team(&program, &path, &["team", "push", "--dry-run", "--json"]);
    assert_eq!(output.stdout, b"on the path: push --dry-run --json\n");
    assert_eq!(output.status.code(), Some(7));
    stand_in(&own, "beside");
    let output = team(&program, &path, &["--json", "team", "push", "--help"]);
    assert_eq!(output.stdout, b"beside: --json push --help\n");
    let output = team(&program, &path, &["--utc", "team", "sql", "SELECT 1"]);
    assert_eq!(output.stdout, b"beside: --utc sql SELECT 1\n");
}

#[test]
fn what_would_not_hold_for_what_is_shared_is_refused() {
    let home = Sandbox::new();
    let program = home.home.join("sessionary");
    fs::copy(env!("CARGO_BIN_EXE_sessionary"), &program).unwrap();
    stand_in(&home.home, "asked");
    for option in [
        "--root=pi:/a",
        "--no-default-roots",
        "--follow-links",
        "--reveal",
        "--dir",
    ] {
        let output = team(&program, &home.home, &[option, "team", "push"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(output.stdout.is_empty());
        assert!(said.contains(option.split('=').next().unwrap()), "{said}");
    }
}

/// A stand-in that notes what it is asked for, and the last line of a session.
fn noting(home: &Sandbox) -> std::path::PathBuf {
    let folder = home.home.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("sessionary");
    fs::copy(env!("CARGO_BIN_EXE_sessionary"), &program).unwrap();
    let path = folder.join("sessionary-team");
    let note = format!("#!/bin/sh\necho \"$*\" >> '{}/asked'\n", folder.display());
    fs::write(&path, note).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// How often a push was asked for; nothing else is.
fn pushes(home: &Sandbox) -> usize {
    let asked = fs::read_to_string(home.home.join("bin/asked")).unwrap_or_default();
    assert!(asked.lines().all(|line| line == "push"), "{asked}");
    asked.lines().count()
}

struct Watching(std::process::Child);

impl Watching {
    fn start(home: &Sandbox, program: &Path) -> Watching {
        let like = home.command(&["watch", "--json"]);
        let mut command = Command::new(program);
        command.args(like.get_args()).env_clear();
        let set = like
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        command
            .envs(set)
            .current_dir(like.get_current_dir().unwrap());
        let (out, nothing) = (std::process::Stdio::piped(), std::process::Stdio::null());
        Watching(command.stdout(out).stderr(nothing).spawn().unwrap())
    }

    /// Waits until it has seen a change.
    fn has_seen_one(&mut self) {
        let mut line = String::new();
        let out = self.0.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        assert!(line.contains("changed"), "{line}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SESSION: &str = ".pi/agent/sessions/--w--/one.jsonl";

#[test]
fn a_watcher_pushes_what_has_changed_where_that_is_set() {
    let home = Sandbox::new();
    let program = noting(&home);
    home.write(".config/sessionary/config.toml", "[team]\nauto = true\n");
    let _watching = Watching::start(&home, &program);
    // What changed while nothing watched.
    until("it pushes at the start", || pushes(&home) > 0);
    let before = pushes(&home);
    home.write(SESSION, &session(1, "one"));
    until("it pushes what is new", || pushes(&home) > before);
}

#[test]
fn a_watcher_pushes_nothing_where_that_is_not_set() {
    let home = Sandbox::new();
    let program = noting(&home);
    let mut watching = Watching::start(&home, &program);
    home.write(SESSION, &session(1, "one"));
    watching.has_seen_one();
    assert_eq!(pushes(&home), 0);
}

#[test]
fn a_question_for_the_team_is_handed_over() {
    let home = Sandbox::new();
    let program = home.home.join("sessionary");
    fs::copy(env!("CARGO_BIN_EXE_sessionary"), &program).unwrap();
    stand_in(&home.home, "asked");
    let asked = |arguments: &[&str]| {
        let output = team(&program, &home.home, arguments);
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = asked(&["sql", "--at", "team", "SELECT 1"]);
    assert_eq!(plain, "asked: sql -- SELECT 1\n");
    let all = asked(&["--json", "--utc", "sql", "--at", "team", "-"]);
    assert_eq!(all, "asked: --json --utc sql -- -\n");
    let csv = asked(&["sql", "--at=team", "--csv", "SELECT 1"]);
    assert_eq!(csv, "asked: sql --csv -- SELECT 1\n");
    assert_eq!(
        asked(&["sql", "--at", "team", "--schema"]),
        "asked: sql --schema\n"
    );
}
