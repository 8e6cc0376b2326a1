//! What happens when the disk is nearly full, and when a session is larger than the memory?

use std::process::Command;

use crate::corpus::{RARE, Spec, write};
use crate::findable::long_line::peak;
use crate::sandbox::Sandbox;

/// Runs a script in a mount namespace of its own; `None` where the system does not let us have one.
pub fn unshared(script: &str, variables: &[(&str, &std::ffi::OsStr)]) -> Option<String> {
    let flags = match rustix::process::geteuid().is_root() {
        true => ["--mount", "--"].as_slice(),
        false => ["--mount", "--map-root-user", "--"].as_slice(),
    };
    let may = Command::new("unshare")
        .args(flags)
        .args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output();
    if !may.is_ok_and(|may| may.status.success()) {
        eprintln!("SKIPPED: no mount namespace may be made here");
        return None;
    }
    let output = Command::new("unshare")
        .args(flags)
        .args(["sh", "-euc", script])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(variables.iter().copied())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &said)
}

#[test]
fn without_room_the_words_are_postponed_and_nothing_is_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = folder.path().join("sessions");
    let spec = Spec {
        bytes: 12_000_000,
        files: 20,
        seed: 3,
    };
    write(&sessions, spec).expect("a corpus");
    let index = folder.path().join("index");
    std::fs::create_dir(&index).expect("a folder");
    // A quarter of 12 MB is 3 MB: 3 MB hold the catalogue and not that. 4 MB seem to be enough and
    // are not.
    let script = r#"
        mount -t tmpfs -o size=3m tmpfs "$INDEX"
        s() { "$SESSIONARY" --no-default-roots --root pi:"$SESSIONS" --index "$INDEX" "$@"; }
        s sync
        echo "hits $(s --json search "$RARE" | grep -o '"entry":' | wc -l)"
        echo "listed $(s list --all | wc -l)"
        test ! -e "$INDEX"/v5/words && echo none
        mount -o remount,size=4m "$INDEX"
        s sync >/dev/null
        echo "hits $(s --json search "$RARE" | grep -o '"entry":' | wc -l)"
        mount -o remount,size=64m "$INDEX"
        s sync >/dev/null
        test -e "$INDEX"/v5/words && echo some
        echo "hits $(s --json search "$RARE" | grep -o '"entry":' | wc -l)"
        s verify
    "#;
    let variables = [
        ("HOME", folder.path().as_os_str()),
        ("SESSIONARY", env!("CARGO_BIN_EXE_sessionary").as_ref()),
        ("SESSIONS", sessions.as_os_str()),
        ("INDEX", index.as_os_str()),
        ("RARE", RARE.as_ref()),
    ];
    let Some(told) = unshared(script, &variables) else {
        return;
    };
    let lines: Vec<&str> = told.lines().collect();
    let has = |line: &str| lines.iter().filter(|l| **l == line).count();
    assert!(told.contains("postponed until there is room"), "{told}");
    assert_eq!((has("hits 3"), has("listed 21")), (3, 1), "{told}");
    assert_eq!((has("none"), has("some")), (1, 1), "{told}");
    assert!(told.contains("both stores equal the files"), "{told}");
}

/// The memory of what answers about a session, whatever its size.
const ANSWER_KB: u64 = 40 * 1024;

#[test]
fn a_session_is_shown_in_less_memory_than_it_has_bytes() {
    let home = Sandbox::new();
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"large","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
    );
    let words = "all that is said stands in the file and nowhere else ".repeat(320);
    for at in 0..1500 {
        let parent = match at {
            0 => "null".to_owned(),
            _ => format!("\"e{}\"", at - 1),
        };
        text.push_str(&format!(
            "\n{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":{parent},\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}"
        ));
    }
    assert!(text.len() as u64 > 24 << 20);
    home.write(".pi/agent/sessions/--w--/large.jsonl", &(text + "\n"));
    // Whoever answers indexes for a moment afterwards, in memory of its own: there is to be nothing
    // left.
    assert!(home.output(&["sync"]).status.success());
    for arguments in [
        &["list", "--all"][..],
        &["show", "large"],
        &["--json", "show", "large", "--all"],
        &["show", "large", "--raw"],
        &["tree", "large"],
        &["--json", "tree", "large", "--filter", "all"],
    ] {
        let peak = peak(&mut home.command(arguments));
        assert!(peak < ANSWER_KB, "{arguments:?}: {} MB", peak / 1024);
    }
}

/// Three hundred sessions that begin with a hundred thousand letters each: 30 MB of what lists say
/// of them.
#[test]
fn what_is_asked_takes_no_memory_for_sessions_that_are_not_told() {
    let home = Sandbox::new();
    let words = "said in the beginning ".repeat(4800);
    for number in 0..300 {
        home.write(
            &format!(".pi/agent/sessions/--w--/{number}.jsonl"),
            &format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{number:04}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n\
                 {{\"type\":\"message\",\"id\":\"m\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n"
            ),
        );
    }
    assert!(home.output(&["sync"]).status.success());
    let by_path = home.home.join(".pi/agent/sessions/--w--/7.jsonl");
    let by_path = by_path.to_str().expect("a path that is text");
    for arguments in [
        &["show", "0007"][..],
        &["tree", "0299", "--json"],
        &["tree", by_path],
        &["list", "--all", "--json"],
        &["list", "--all", "--limit", "20"],
        &["list", "--all"],
    ] {
        let peak = peak(&mut home.command(arguments));
        assert!(peak < ANSWER_KB, "{arguments:?}: {} MB", peak / 1024);
    }
}

/// More sessions than whose lines are kept until the columns are measured.
#[test]
fn a_long_list_is_a_table_whose_columns_fit_all_of_it() {
    let home = Sandbox::new();
    let words = "said in the beginning ".repeat(60);
    let many = 4_200;
    for number in 0..many {
        // The last ones are wider than all before.
        let (wide, id) = match number < 40 {
            true => (
                "wide-",
                format!("{number:04}-and-what-tells-it-apart-{number}"),
            ),
            false => ("", format!("{number:04}aaaa-0000")),
        };
        home.write(
            &format!(".pi/agent/sessions/--w--/{number}.jsonl"),
            &format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/{wide}w\"}}\n\
                 {{\"type\":\"message\",\"id\":\"m\",\"parentId\":null,\"timestamp\":\"2026-01-{:02}T{:02}:{:02}:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n",
                1 + number / 1440,
                number / 60 % 24,
                number % 60
            ),
        );
    }
    assert!(home.output(&["sync"]).status.success());
    let text = |arguments: &[&str]| {
        let output = home.output(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let table = text(&["list", "--all"]);
    let rows = text(&["list", "--all", "--jsonl"]);
    assert_eq!(table.lines().count(), 1 + many);
    let header = table.lines().next().expect("a header");
    let [id, project, title] = ["SESSION", "PROJECT", "TITLE"].map(|title| header.find(title));
    let (id, project, title) = (
        id.expect("ids"),
        project.expect("projects"),
        title.expect("titles"),
    );
    for (line, row) in table.lines().skip(1).zip(rows.lines()) {
        let row: serde_json::Value = serde_json::from_str(row).expect("a row");
        let number = &row["id"].as_str().expect("an id")[..4];
        assert!(line[id..].starts_with(number), "{line} of {row}");
        assert!(
            line[project..].starts_with(row["cwd"].as_str().expect("a folder")),
            "{line}"
        );
        assert!(line[title..].starts_with("said in"), "{line}");
    }
    let narrow = text(&["list", "--all", "--width", "80"]);
    assert_eq!(narrow.lines().count(), 1 + many);
    let longest = narrow.lines().map(|line| line.chars().count()).max();
    assert_eq!(longest, Some(80));
    let peak = peak(&mut home.command(&["list", "--all"]));
    assert!(peak < ANSWER_KB, "{} MB", peak / 1024);
}
