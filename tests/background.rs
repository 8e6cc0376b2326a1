//! Who indexes the words after an answer? On a terminal a process of its own, where that is much and allowed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sessionary::{Config, Freshness, Index};

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

/// Runs the command on a terminal: what it says there, or `None` where there is no `script` to make one.
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
    assert!(told.contains("until `sessionary sync` was run"), "{told}");
    let left = outstanding(&home);
    std::thread::sleep(Duration::from_millis(500));
    assert!(left > 0 && outstanding(&home) == left);
    assert!(!home.home.join("index/v1/words").exists());
}
