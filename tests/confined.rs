//! What have `mcp` and `serve` given up, and do they say when that stands in their way?

use std::fs;

use serde_json::{Value, json};

use crate::lines::{Talk, pi_session};
use crate::sandbox::Sandbox;

/// A session about a linker, and a place for the index.
fn home() -> (Sandbox, String) {
    let home = Sandbox::new();
    let said = [("user", "why does the linker fail")];
    pi_session(&home, "0199a", "code", "2026-01-02T09:00:00.000Z", &said);
    home.settle();
    let index = home.home.join("deep/down/index").display().to_string();
    (home, index)
}

/// The number of sessions that `serve` lists, or why it lists none.
fn listed(talk: &mut Talk) -> Result<Value, String> {
    let mut answer = talk.ask("list", json!({}));
    match answer["error"]["message"].as_str() {
        Some(message) => Err(message.to_owned()),
        None => Ok(answer["result"]["total"].take()),
    }
}

/// Tried by a thread, which has given something up then.
#[cfg(target_os = "linux")]
fn kernel_can_refuse() -> bool {
    use landlock::{AccessFs, Ruleset, RulesetAttr, RulesetStatus};

    let tried = std::thread::spawn(|| {
        let rules = Ruleset::default().handle_access(AccessFs::Execute);
        rules.unwrap().create().unwrap().restrict_self().unwrap()
    });
    tried.join().unwrap().ruleset != RulesetStatus::NotEnforced
}

#[cfg(target_os = "linux")]
#[test]
fn every_thread_has_given_up_what_it_does_not_need() {
    if !kernel_can_refuse() {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return;
    }
    let (home, index) = home();
    for verb in ["serve", "mcp"] {
        let mut talk = Talk::start(&home, &["--index", &index, verb], &[]);
        match verb {
            "serve" => {
                talk.result("hello", json!({"protocol": 1}));
                assert_eq!(listed(&mut talk), Ok(json!(1)));
            }
            _ => {
                let client = json!({"name": "test", "version": "1"});
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": client});
                talk.result("initialize", params);
                let params = json!({"name": "list_sessions", "arguments": {}});
                let said = talk.result("tools/call", params);
                assert_eq!(said.get("isError").and_then(Value::as_bool), Some(false));
            }
        }
        let threads = fs::read_dir(format!("/proc/{}/task", talk.id())).unwrap();
        let threads: Vec<String> = threads
            .map(|thread| fs::read_to_string(thread.unwrap().path().join("status")).unwrap())
            .collect();
        assert!(threads.len() > 3, "{verb}: {threads:?}");
        // Whoever gives something up this way can get nothing new by starting another program.
        let has_given_up = |status: &String| status.contains("NoNewPrivs:\t1");
        assert!(threads.iter().all(has_given_up), "{verb}: {threads:?}");
        assert!(talk.end().1.success());
    }
}

#[test]
fn a_folder_that_is_another_one_now_is_said() {
    let (home, index) = home();
    let place = ["--index", index.as_str()];
    let mut talk = Talk::start(&home, &[&place[..], &["serve"]].concat(), &[]);
    talk.result("hello", json!({"protocol": 1}));
    assert_eq!(listed(&mut talk), Ok(json!(1)));
    for removed in ["clean", "by hand", "made again"] {
        match removed {
            "clean" => drop(home.run(&[&place[..], &["clean", "--yes"]].concat())),
            "by hand" => fs::remove_dir_all(&index).unwrap_or_default(),
            _ => drop(home.run(&[&place[..], &["sync"]].concat())),
        }
        let why = listed(&mut talk).unwrap_err();
        assert!(why.contains("start it again"), "{removed}: {why}");
        assert!(why.contains(&index), "{removed}: {why}");
    }
    assert!(talk.end().1.success());
    let mut talk = Talk::start(&home, &[&place[..], &["serve"]].concat(), &[]);
    talk.result("hello", json!({"protocol": 1}));
    assert_eq!(listed(&mut talk), Ok(json!(1)));
}
