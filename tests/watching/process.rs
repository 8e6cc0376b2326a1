//! The command `watch`: killed, stopped, started again, and ended by signals.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

#[cfg(target_os = "linux")]
use super::number;
use super::watcher::until;
use super::{append, message, session};
use crate::sandbox::Sandbox;
#[cfg(target_os = "linux")]
use sessionary::Config;

struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    fn start(home: &Sandbox, arguments: &[&str]) -> Process {
        let mut all = vec!["watch"];
        all.extend(arguments);
        let mut command = home.command(&all);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        until("it watches", || {
            let status = home.json(&["status", "--json"]);
            let pid = status["watcher"]["pid"].as_u64() == Some(u64::from(child.id()));
            pid && status["watcher"]["why"].as_str() != Some("it has just begun")
        });
        Process { child, lines }
    }

    fn signal(&self, signal: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &process]).status();
        assert!(sent.unwrap().success());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const FILE: &str = ".pi/agent/sessions/--w--/one.jsonl";

fn entries(home: &Sandbox) -> u64 {
    let mut list = home.json(&["list", "--all", "--json"]);
    // Said where the watcher was met at work for long.
    until("an answer is complete", || {
        if list["complete"] == false {
            list = home.json(&["list", "--all", "--json"]);
        }
        list["complete"] == true
    });
    list["sessions"][0]["entries"].as_u64().unwrap()
}

#[test]
fn changes_are_lines_of_json_until_a_signal() {
    let home = Sandbox::new();
    let mut watch = Process::start(&home, &["--json"]);
    let path = home.write(FILE, &session(1, "one"));
    let line: serde_json::Value = serde_json::from_str(&watch.line()).unwrap();
    assert_eq!(line["what"], "changed");
    assert_eq!(line["path"], path.to_str().unwrap());
    append(&path, &message(1, "two"));
    assert!(watch.line().contains("changed"));
    std::fs::remove_file(&path).unwrap();
    while !watch.line().contains("gone") {}
    watch.signal("-TERM");
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
    assert!(home.json(&["status", "--json"])["watcher"].is_null());
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_that_does_not_read_holds_nothing_up() {
    let home = Sandbox::new();
    let mut watch = Process::start(&home, &["--json"]);
    let index = Config::new(home.home.join(".cache/sessionary"), Vec::new());
    // Far more than a pipe and what is kept for a reader hold together.
    let folder = vec!["long".repeat(50); 8].join("/");
    let file = |number| format!(".pi/agent/sessions/{folder}/{number}.jsonl");
    for number in 0..1500 {
        home.write(&file(number), &session(number, "one"));
    }
    let entries = "SELECT coalesce(sum(entries), 0) FROM sessions";
    let mut expected = 0;
    let mut until_there = |more| {
        expected += more;
        until("all is there though nobody reads", || {
            number(&index, entries) == expected
        });
    };
    until_there(1500 * 2);
    // What is there now was told after what was there before.
    for number in 0..1500 {
        append(&home.home.join(file(number)), &message(1, "two"));
    }
    until_there(1500);
    // Who reads again learns that there is more than was told, and of all that comes.
    let mut told = 0;
    while watch.line() != "{\"missed\":true}\n" {
        told += 1;
        assert!(told < 3000, "all was told");
    }
    assert!(told > 0);
    append(&home.home.join(file(7)), &message(2, "three"));
    while !watch.line().contains("/7.jsonl") {}
    // Nor is it waited for by who ends it.
    for number in 0..1500 {
        append(&home.home.join(file(number)), &message(3, "four"));
    }
    until_there(1500 + 1);
    watch.signal("-TERM");
    until("it ends though nobody reads", || {
        watch.child.try_wait().unwrap().is_some()
    });
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_killed_watcher_leaves_nothing_that_hinders() {
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one"));
    for round in 0..4_u32 {
        let mut watch = Process::start(&home, &[]);
        append(&path, &message(round * 2 + 1, "under the watcher"));
        watch.signal("-KILL");
        watch.child.wait().unwrap();
        append(&path, &message(round * 2 + 2, "without one"));
        assert_eq!(entries(&home), u64::from(round) * 2 + 4);
    }
    let mut watch = Process::start(&home, &["--json"]);
    append(&path, &message(99, "again"));
    while !watch.line().contains("changed") {}
    assert_eq!(entries(&home), 11);
}

#[test]
fn a_stopped_watcher_is_not_waited_for() {
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one"));
    let watch = Process::start(&home, &[]);
    watch.signal("-STOP");
    append(&path, &message(1, "two"));
    assert_eq!(entries(&home), 3);
    let status = home.json(&["status", "--json"]);
    assert!(status["watcher"]["lag_ms"].is_null());
    assert!(home.output(&["sync"]).status.success());
    watch.signal("-CONT");
    append(&path, &message(2, "three"));
    until("it goes on", || {
        let rows = home.json(&["sql", "SELECT entries FROM sessions", "--json"]);
        rows["rows"][0][0].as_u64() == Some(4)
    });
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_mounted_over_a_watched_folder_is_noticed() {
    let home = Sandbox::new();
    home.write(FILE, &session(1, "hidden"));
    let new = home.write("new.jsonl", &session(2, "shown"));
    // Nobody tells of the mount, or of what is written there: who asks finds out.
    let script = r#"
        "$SESSIONARY" watch >"$HOME/told" &
        watcher=$!
        trap 'kill "$watcher"' EXIT
        said() {
            for try in $(seq 1 600); do
                "$SESSIONARY" status >"$HOME/status"
                grep -q "$1" "$HOME/$2" && return 0
                sleep 0.1
            done
            echo "waited in vain: $1"; cat "$HOME/status"; exit 1
        }
        said watches status
        mount -t tmpfs tmpfs "$HOME/.pi/agent/sessions/--w--"
        cp "$NEW" "$HOME/.pi/agent/sessions/--w--/two.jsonl"
        said "gone .*one.jsonl" told
        said "changed .*two.jsonl" told
        echo more >>"$HOME/.pi/agent/sessions/--w--/two.jsonl"
        until umount "$HOME/.pi/agent/sessions/--w--"; do sleep 0.1; done
        said "gone .*two.jsonl" told
        trap - EXIT
        kill "$watcher"; wait "$watcher"; echo "ended with $?"
    "#;
    let variables = [
        ("HOME", home.home.as_os_str()),
        ("SESSIONARY", env!("CARGO_BIN_EXE_sessionary").as_ref()),
        ("NEW", new.as_os_str()),
    ];
    let Some(told) = crate::scale::unshared(script, &variables) else {
        return;
    };
    assert!(told.contains("ended with 0"), "{told}");
}

#[test]
#[cfg(target_os = "linux")]
fn beyond_the_limits_of_the_system_all_is_looked_at_again_and_again() {
    // Limits of one's own need a user namespace of one's own.
    let unshared = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--", "sh", "-euc", script]);
        command
    };
    let may = unshared("echo 9 >/proc/sys/user/max_inotify_watches").output();
    if !may.is_ok_and(|may| may.status.success()) {
        eprintln!("SKIPPED: no user namespace may be made here");
        return;
    }
    let script = r#"
        echo "$WATCHES" >/proc/sys/user/max_inotify_watches
        echo "$INSTANCES" >/proc/sys/user/max_inotify_instances
        "$SESSIONARY" watch >"$HOME/told" 2>"$HOME/said" &
        watcher=$!
        trap 'kill "$watcher"' EXIT
        waited() {
            for try in $(seq 1 600); do
                grep -q "$1" "$HOME/$2" && return 0
                sleep 0.1
            done
            echo "waited in vain: $1"; cat "$HOME/said"; exit 1
        }
        if [ -n "$LATER" ]; then
            waited Watching said
            echo "$LATER" >/proc/sys/user/max_inotify_watches
        fi
        mkdir -p "$HOME/$(dirname "$TWO")"
        waited Polling said
        cp "$HOME/$ONE" "$HOME/$TWO"
        waited "changed .*two.jsonl" told
        cat "$HOME/said"
    "#;
    for (watches, instances, later, why) in [
        ("3", "9", "", "watched directories"),
        ("99", "0", "", "watching processes"),
        // By then all is watched that was there.
        ("99", "9", "3", "watched directories"),
    ] {
        let home = Sandbox::new();
        for number in 0..6 {
            let path = format!(".pi/agent/sessions/--w{number}--/one.jsonl");
            home.write(&path, &session(number, "walrus"));
        }
        let output = unshared(script)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home.home)
            .env("SESSIONARY", env!("CARGO_BIN_EXE_sessionary"))
            .envs([
                ("WATCHES", watches),
                ("INSTANCES", instances),
                ("LATER", later),
            ])
            .env("ONE", ".pi/agent/sessions/--w0--/one.jsonl")
            .env("TWO", ".pi/agent/sessions/--w6--/two.jsonl")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains(why),
            "{why}: {said}"
        );
    }
}

#[test]
fn what_is_known_already_is_not_noted_again() {
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one"));
    // A root that is a file is noted at every look.
    let root = format!("pi:{}", home.write("file", "").display());
    let notes = home.home.join("notes");
    let mut command = home.command(&["--root", &root, "watch", "--poll", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&notes).unwrap())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 1..3 {
        // Each change is told by another look.
        assert!(lines.next().unwrap().unwrap().contains("changed"));
        append(&path, &message(number, "more"));
    }
    assert!(lines.next().unwrap().unwrap().contains("changed"));
    child.kill().unwrap();
    child.wait().unwrap();
    let notes = std::fs::read_to_string(&notes).unwrap();
    assert_eq!(
        notes.matches("what is known of it is kept").count(),
        1,
        "{notes}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn an_installed_watcher_is_that_behind_the_link_that_was_called() {
    let home = Sandbox::new();
    let link = home.home.join("bin/sessionary-link");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    let called = home.command(&["watch", "--install", "--print"]);
    std::os::unix::fs::symlink(called.get_program(), &link).unwrap();
    let ask = |program: &std::path::Path| {
        let mut command = Command::new(program);
        let variables = called.get_envs();
        command
            .args(called.get_args())
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", link.parent().unwrap())
            .env("PI_CODING_AGENT_DIR", "agent of pi")
            .env("XDG_DATA_HOME", "ignored")
            .current_dir(&home.home);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let expected = format!("ExecStart=\"{}\" ", link.display());
    for called in [&*link, std::path::Path::new("sessionary-link")] {
        let unit = ask(called);
        assert!(unit.contains(&expected), "{unit}");
        let variable = format!(
            "\nEnvironment=\"PI_CODING_AGENT_DIR={}/agent of pi\"\n",
            home.home.display()
        );
        assert!(unit.contains(&variable), "{unit}");
        assert!(!unit.contains("XDG_DATA_HOME"), "{unit}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_installed_is_shown_first_and_goes_again() {
    let home = Sandbox::new();
    let unit = home
        .home
        .join(".config/systemd/user/sessionary-watch.service");
    let shown = home.run(&["--root", "pi:/srv/50%", "watch", "--install", "--print"]);
    let index = home.home.join(".cache/sessionary");
    let words = format!(
        r#"" "--index" "{}" "--root" "pi:/srv/50%%" "watch""#,
        index.display()
    );
    let line = shown.lines().find(|line| line.starts_with("ExecStart="));
    assert!(
        line.unwrap()
            .replace("$HOME", home.home.to_str().unwrap())
            .ends_with(&words),
        "{shown}"
    );
    let variable = shown.lines().find(|line| line.starts_with("Environment="));
    assert_eq!(
        variable,
        Some(r#"Environment="CLIDO_DATA_DIR=$HOME/clido""#)
    );
    // All that says how it is to be read is said again.
    let typed = ["--root", "pindusagi:/srv/p=old", "--follow-links"];
    let shown = home.run(&[&typed[..], &["watch", "--install", "--print"]].concat());
    let words = r#""--follow-links" "--root" "pindusagi:/srv/p=old" "watch""#;
    assert!(shown.contains(words), "{shown}");
    // What somebody has edited is not replaced without a word.
    std::fs::create_dir_all(unit.parent().unwrap()).unwrap();
    std::fs::write(&unit, "[Service]\nNice=19\n").unwrap();
    let asked = home.run(&["watch", "--install"]);
    assert!(asked.contains("replaces a different one"), "{asked}");
    std::fs::remove_file(&unit).unwrap();
    // Nobody is there to be asked.
    let asked = home.output(&["watch", "--install"]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(!unit.exists());
    assert!(
        home.output(&["watch", "--install", "--yes"])
            .status
            .success()
    );
    assert!(unit.exists());
    assert!(home.output(&["watch", "--uninstall"]).status.success());
    assert!(!unit.exists());
    assert_eq!(
        home.output(&["watch", "--uninstall"]).status.code(),
        Some(1)
    );
    // `clean` takes it too.
    assert!(
        home.output(&["watch", "--install", "--yes"])
            .status
            .success()
    );
    assert!(home.output(&["clean", "--yes"]).status.success());
    assert!(!unit.exists());
}
