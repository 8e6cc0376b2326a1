//! Who indexes the words after an answer? On a terminal a process of its own, where that is much
//! and allowed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use sessionary::model::Report;
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::sandbox::Sandbox;

/// How long a spawned process may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A home with so much text that nobody indexes it in passing.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"much","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
    );
    let words = "nobody indexes all of this text in passing ".repeat(200);
    for at in 0..700 {
        text.push_str(&format!(
            "\n{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}"
        ));
    }
    assert!(text.len() > 5 << 20);
    home.write(".pi/agent/sessions/--w--/much.jsonl", &(text + "\n"));
    home
}

/// Runs the command on a terminal: what it says there, or `None` where there is no `script` to make
/// one.
fn on_terminal(home: &Sandbox, arguments: &str) -> Option<String> {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_sessionary"));
    let told = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env_clear()
        .envs([
            ("HOME", home.home.as_os_str()),
            ("SHELL", "/bin/sh".as_ref()),
        ])
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&home.cwd)
        .stdin(Stdio::null())
        .output();
    match told {
        Ok(told) => Some(String::from_utf8_lossy(&told.stdout).into_owned()),
        Err(_) => {
            eprintln!("SKIPPED: there is no `script`");
            None
        }
    }
}

/// The entries that the words lack, asked without any work on them.
fn outstanding(home: &Sandbox) -> u64 {
    let config = Config::new(home.home.join("index"), Vec::new());
    let index = Index::open(&config, Freshness::AsCommitted).expect("the index");
    index.status().expect("its state").outstanding
}

#[test]
fn a_process_is_started_and_comes_to_its_end() {
    let home = home();
    let Some(told) = on_terminal(&home, "--index ~/index search passing --limit 1") else {
        return;
    };
    assert!(told.contains("700 matches in 1 session"), "{told}");
    let started = Instant::now();
    while outstanding(&home) > 0 {
        assert!(
            started.elapsed() < PATIENCE,
            "{} are left",
            outstanding(&home)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn nothing_is_started_where_the_configuration_forbids_it() {
    let home = home();
    home.write(".config/sessionary/config.toml", "background = false\n");
    let Some(told) = on_terminal(&home, "--index ~/index search passing --limit 1") else {
        return;
    };
    assert!(told.contains("700 matches in 1 session"), "{told}");
    assert!(told.contains("until you run `sessionary sync`"), "{told}");
    let left = outstanding(&home);
    std::thread::sleep(Duration::from_millis(500));
    assert!(left > 0 && outstanding(&home) == left);
    assert!(!home.home.join("index/v4/words").exists());
}

#[test]
fn what_is_owed_is_counted_in_entries_each_once() {
    let home = Sandbox::new();
    let message = |id: String, message: serde_json::Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z", "message": message});
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"}),
    ];
    for at in 0..40 {
        lines.push(message(
            format!("a{at}"),
            json!({"role": "assistant", "content": [
            {"type": "text", "text": "I look"},
            {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]}),
        ));
        lines.push(message(
            format!("r{at}"),
            json!({"role": "toolResult", "toolCallId": "c",
            "toolName": "bash", "content": [{"type": "text", "text": "src"}]}),
        ));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write("pi/--w--/1.jsonl", &text);
    let config = Config::new(
        home.home.join("index"),
        vec![root("pi", "pi", &home.home.join("pi"))],
    );
    let mut indexer = Indexer::open(&config).expect("the index");
    indexer.sync_catalogue(&mut |_| {}).expect("it reads");
    let owed = || {
        let index = Index::open(&config, Freshness::AsCommitted).expect("the index");
        let status = index.status().expect("its state");
        (status.outstanding, status.outstanding_bytes)
    };
    // Without the ends of the lines.
    let all = (81, (text.len() - lines.len()) as u64);
    assert_eq!(owed(), all);
    let answers: Vec<_> = lines
        .iter()
        .filter(|line| line["message"]["role"] == "toolResult")
        .collect();
    let bytes: usize = answers.iter().map(|line| line.to_string().len()).sum();
    let answers = (answers.len() as u64, bytes as u64);
    // What is said comes first, as a whole.
    let mut told = all;
    for budget in (1..).step_by(3) {
        let mut report = Report::default();
        indexer
            .index_words(
                Some(Duration::from_millis(budget)),
                &mut |_| {},
                &mut report,
            )
            .expect("they are indexed");
        told = (report.outstanding, report.outstanding_bytes);
        assert_eq!(owed(), told);
        if told != all {
            break;
        }
    }
    assert!(told == answers || told == (0, 0), "{told:?} of {all:?}");
    let report = indexer.sync(&mut |_| {}).expect("it syncs");
    assert_eq!((report.outstanding, report.outstanding_bytes), (0, 0));
    assert_eq!(owed(), (0, 0));
}
