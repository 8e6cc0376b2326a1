//! What is there to see before there is a session? `--demo`, of which nothing is left.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

/// A home with a session and a configuration of its user's, and an empty folder for temporary
/// files.
struct Place {
    home: Sandbox,
    temporary: PathBuf,
    before: Vec<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let home = Sandbox::new();
        let temporary = home.home.join("../temporary");
        fs::create_dir_all(&temporary).expect("a folder");
        home.write(
            ".pi/agent/sessions/--own--/own.jsonl",
            "{\"type\":\"session\",\"version\":3,\"id\":\"own\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"~/code/parser\"}\n\
             {\"type\":\"message\",\"id\":\"e1\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"linker of my own\"}}\n",
        );
        // Whoever reads it fails.
        home.write(".config/sessionary/config.toml", "unreadable = [");
        let mut place = Self {
            home,
            temporary,
            before: Vec::new(),
        };
        place.before = place.files();
        place
    }

    fn files(&self) -> Vec<PathBuf> {
        let all = walkdir::WalkDir::new(&self.home.home).sort_by_file_name();
        all.into_iter()
            .map(|entry| entry.expect("an entry").into_path())
            .collect()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(&["--demo"]);
        command
            .args(arguments)
            .env("TMPDIR", &self.temporary)
            .env("SESSIONARY_INDEX_DIR", self.home.home.join("index"));
        command
    }

    fn untouched(&self, after: &str) {
        assert_eq!(self.files(), self.before, "{after}");
        let left: Vec<_> = fs::read_dir(&self.temporary).expect("it").collect();
        assert!(left.is_empty(), "{after}: {left:?}");
    }
}

#[test]
fn who_has_no_sessions_is_offered_a_demo_that_has_some() {
    let home = Sandbox::new();
    let output = home.output(&["list", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    let offered = said
        .lines()
        .find_map(|line| line.split_once("sessionary --demo "));
    let (_, words) = offered.unwrap_or_else(|| panic!("{said}"));
    let mut offered = vec!["--demo"];
    offered.extend(words.split(' '));
    let listed = home.output(&offered);
    assert_eq!(listed.status.code(), Some(0));
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert_eq!(listed.lines().count(), 4, "{listed}");
}

#[test]
fn every_command_works_on_the_demo_and_leaves_nothing() {
    let place = Place::new();
    let page = place.home.home.join("../page.html");
    let page = page.display().to_string();
    for arguments in [
        &[][..],
        &["list"],
        &["list", "--all", "--json"],
        &["list", "--all", "--since", "2d"],
        &["search", "linker error"],
        &["search", "リンカー", "--json"],
        &["tree", "last"],
        &["show", "last:5e550003", "--context", "1"],
        &["context", "last"],
        &["resume", "last", "--print"],
        &["resume", "last", "--json"],
        &["export", "last"],
        &["export", "last", "--out", &page],
        &["new", "Something else"],
        &["append", "last", "--user", "And now the tests"],
        &["append", "f47ac10b", "--user", "And now the tests"],
        &["name", "last", "Another name"],
        &["label", "last:5e550001", "start"],
        &["branch", "last:5e550004"],
        &["fork", "last"],
        &["delete", "f47ac10b", "--dry-run"],
        &["sql", "SELECT tool, calls, errors FROM tools"],
        &["sync"],
        &["sync", "--purge"],
        &["rebuild"],
        &["roots"],
        &["status"],
        &["status", "--roots"],
        &["verify"],
        &["config", "show"],
        &["config", "path"],
        &["completions", "bash"],
    ] {
        let output = place.command(arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(!told.contains("of my own"), "{arguments:?}: {told}");
        place.untouched(&format!("{arguments:?}"));
    }
}

/// Commands as lines show them: in backticks, behind `Next:`, or in a column of their own.
fn commands_in(text: &str) -> Vec<String> {
    let shown = regex::Regex::new(r"sessionary ((?:[^ `\\\n]| [^ `·\n])+)").expect("an expression");
    shown
        .captures_iter(text)
        .map(|command| command[1].to_owned())
        .collect()
}

#[test]
fn every_command_that_a_demo_shows_works_on_it() {
    let place = Place::new();
    let mut shown = Vec::new();
    for arguments in [
        &[][..],
        &["search", "linker error"],
        &["search", "リンカー"],
        &["show", "nowhere"],
        &["show", "nowhere", "--json"],
        &["show", "last:nowhere"],
        &["search", "/(/"],
    ] {
        let output = place.command(arguments).output().expect("it runs");
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        let commands = commands_in(&text);
        assert!(!commands.is_empty(), "{arguments:?}: {text}");
        shown.extend(commands);
    }
    shown.sort();
    shown.dedup();
    assert!(shown.len() > 6, "{shown:?}");
    for command in shown {
        let command = command.replace("WORDS", "linker");
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "--demo", "{command}");
        let output = place.command(&[]).args(&words[1..]).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
        place.untouched(&command);
    }
}

#[test]
fn a_demo_does_nothing_beyond_its_folder() {
    let place = Place::new();
    let own = place.home.home.join(".pi/agent/sessions/--own--/own.jsonl");
    let own = own.display().to_string();
    for (arguments, code, why) in [
        (&["resume", "last"][..], 2, "no agent knows"),
        (
            &["delete", "f47ac10b", "--yes", "--force"],
            2,
            "the trash belongs",
        ),
        (&["watch"], 2, "nothing to watch"),
        (&["watch", "--install", "--yes"], 2, "nothing to watch"),
        (&["list", "--index", "here"], 2, "its own index"),
        (&["list", "--root", "pi:/"], 2, "its own index"),
        (&["show", &own], 1, "own.jsonl"),
        (&["name", &own, "Changed"], 1, "own.jsonl"),
        (&["clean", "--yes", "--config"], 1, "Nothing to remove"),
    ] {
        let output = place.command(arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
        place.untouched(&format!("{arguments:?}"));
    }
}

#[test]
fn nothing_is_left_of_a_demo_whose_reader_has_gone() {
    let place = Place::new();
    for arguments in [
        &["list", "--all"][..],
        &["show", "last"],
        &["export", "last"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        assert!(child.wait().expect("it ends").success(), "{arguments:?}");
        place.untouched(&format!("{arguments:?}"));
    }
}

#[test]
fn nothing_is_left_of_a_demo_that_is_interrupted() {
    let place = Place::new();
    // It waits for an entry, with its index open.
    let mut child = place
        .command(&["append", "last"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    // Its folder stands when it may be interrupted: the index comes later.
    let is_open = || {
        let all = walkdir::WalkDir::new(&place.temporary).into_iter();
        all.flatten()
            .any(|entry| entry.file_name() == "catalogue.sqlite")
    };
    while !is_open() {
        assert!(child.try_wait().expect("it").is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    place.untouched("interrupted");
}
