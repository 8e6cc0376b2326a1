//! Is nothing sent twice, and nothing that was not named?

use serde_json::json;

use crate::machine::{BOAT, DIARY, Folder, Machine, tree};

#[test]
fn a_second_push_sends_nothing_and_an_append_its_own_bytes() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let long = "word ".repeat(20_000);
    let path = ada.write_session(BOAT, "0a", &[&long, "second", &long]);
    ada.settle(&path);
    let first = ada.json(&["push"]);
    assert_eq!(first["sessions"][0]["session"], "0a");
    assert_eq!(first["sent_blocks"], 1);
    let before = tree(store.path());

    let again = ada.json(&["push"]);
    assert_eq!(
        (&again["sent_blocks"], &again["sent_bytes"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(again["sessions"], json!([]));
    assert_eq!(tree(store.path()), before);

    ada.say(&path, "appended");
    let appended = ada.json(&["push"]);
    assert_eq!(appended["sent_blocks"], 1);
    assert!(appended["sent_bytes"].as_u64().unwrap() < 400, "{appended}");
    // The blocks that were there are there as they were.
    let after = tree(store.path());
    let blocks = before.iter().filter(|(name, _)| name.ends_with(".zst"));
    assert!(blocks.clone().count() == 1 && blocks.clone().all(|(name, of)| after[name] == *of));
}

#[test]
fn what_a_dry_run_says_is_what_a_push_does_and_it_does_nothing() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let before = tree(store.path());
    ada.write_session(
        BOAT,
        "0a",
        &[
            "one",
            "the key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ],
    );
    ada.write_session(BOAT, "0b", &["two"]);
    let would = ada.json(&["push", "--dry-run"]);
    assert_eq!(tree(store.path()), before);
    assert_eq!(ada.json(&["push"]), would);
    assert_eq!(would["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn only_sessions_of_shared_repositories_leave() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, "0a", &["of the boat"]);
    ada.write_session(DIARY, "0b", &["walrusprivate"]);
    let outside = ada
        .home()
        .join(".pi/agent/sessions/--tmp--/2026-01-05T09-00-00-000Z_0c.jsonl");
    std::fs::create_dir_all(outside.parent().unwrap()).unwrap();
    std::fs::write(
        outside,
        "{\"type\":\"session\",\"version\":3,\"id\":\"0c\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/tmp\"}\n",
    )
    .unwrap();
    let pushed = ada.json(&["push"]);
    let sent = pushed["sessions"].as_array().unwrap();
    assert_eq!(
        sent.iter().map(|of| &of["session"]).collect::<Vec<_>>(),
        ["0a"]
    );
    assert_eq!(stored_sessions(&store), ["0a"]);
}

#[test]
fn nothing_leaves_before_a_repository_is_named() {
    let store = Folder::new();
    let ada = Machine::new("ada");
    ada.team(&["init", &store.address(), "--host", "ada"]);
    ada.write_session(BOAT, "0a", &["of the boat"]);
    assert_eq!(ada.json(&["push"])["sessions"], json!([]));
    assert_eq!(
        tree(store.path()).keys().collect::<Vec<_>>(),
        ["/ada/host.json"]
    );
}

#[test]
fn what_is_excluded_never_leaves() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let draft = ada.write_session(BOAT, "0a", &["walrusprivate"]);
    ada.write_session(BOAT, "0b", &["may be read"]);
    // The index knows it from before it was excluded.
    ada.json(&["push", "--dry-run"]);
    let config = ada.home().join(".config/sessionary/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(
        &config,
        format!("exclude = [{:?}]\n", draft.display().to_string()),
    )
    .unwrap();
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), ["0b"]);
}

#[test]
fn a_session_that_was_moved_leaves_its_old_place_and_one_that_is_gone_stays() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let moved = ada.write_session(BOAT, "0a", &["moved"]);
    let gone = ada.write_session(BOAT, "0b", &["gone"]);
    ada.json(&["push"]);
    std::fs::rename(
        &moved,
        moved.with_file_name("2026-01-06T09-00-00-000Z_0a.jsonl"),
    )
    .unwrap();
    std::fs::remove_file(gone).unwrap();
    let pushed = ada.json(&["push"]);
    assert_eq!(
        (&pushed["taken_back"], &pushed["gone"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(pushed["sent_blocks"], 0);
    assert_eq!(stored_sessions(&store), ["0a", "0b"]);
    ada.json(&["push", "--prune"]);
    assert_eq!(stored_sessions(&store), ["0a"]);
}

/// Agents that keep documents truncate them and write them anew; on a full disk half of one stays.
#[test]
fn a_document_that_is_not_whole_replaces_nothing() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let project = ada.home().join(".gemini/tmp/boat");
    std::fs::create_dir_all(project.join("chats")).unwrap();
    let cwd = ada.cwd(BOAT).display().to_string();
    std::fs::write(project.join(".project_root"), &cwd).unwrap();
    let path = project.join("chats/session-2026-01-05T09-00-7d1c0a52.json");
    let message = json!({"id": "o1", "timestamp": "2026-01-05T09:00:01.000Z", "type": "user",
        "content": [{"text": "of the boat"}]});
    let document = json!({"sessionId": "7d1c0a52", "startTime": "2026-01-05T09:00:00.000Z",
        "lastUpdated": "2026-01-05T09:00:00.000Z", "messages": [message, message]});
    let document = document.to_string();
    // What was never sent as a whole is not sent at all.
    std::fs::write(&path, &document[..document.len() - 9]).unwrap();
    let names_a_problem = || {
        let output = ada.output(&["push"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("session-2026-01-05T09-00-7d1c0a52.json"),
            "{said}"
        );
    };
    names_a_problem();
    // But for the file beside it that says which directory it ran in.
    assert_eq!(stored_sessions(&store).len(), 1);
    std::fs::write(&path, &document).unwrap();
    ada.json(&["push"]);
    let before = tree(store.path());
    for half in [&document[..document.len() / 2], &document[..1]] {
        std::fs::write(&path, half).unwrap();
        names_a_problem();
        assert_eq!(tree(store.path()), before);
    }
    std::fs::write(&path, "").unwrap();
    ada.output(&["push"]);
    assert_eq!(tree(store.path()), before);
    let bob = Machine::sharing("bob", &store.address());
    bob.json(&["pull"]);
    assert!(
        bob.copies()
            .values()
            .any(|copy| copy == document.as_bytes())
    );
    // Once it is whole again, all is as ever.
    let written = document.replace("of the boat", "of the new boat");
    std::fs::write(&path, &written).unwrap();
    ada.json(&["push"]);
    bob.json(&["pull"]);
    assert!(bob.copies().values().any(|copy| copy == written.as_bytes()));
}

/// Whatever the store is now.
#[test]
fn what_a_push_that_was_killed_left_goes_with_the_next() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let left = ada.data().join("team.rows");
    std::fs::create_dir_all(left.join("ada")).unwrap();
    ada.json(&["push", "--dry-run"]);
    assert!(left.exists());
    ada.json(&["push"]);
    assert!(!left.exists());
}

/// The system gives no thread with so large a stack.
#[cfg(unix)]
#[test]
fn without_a_thread_a_push_says_so() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, "0a", &["of the boat"]);
    ada.sync();
    let mut push = ada.command(&["push"]);
    let output = push.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
    let output = output.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no thread can be started"), "{said}");
    assert_eq!(stored_sessions(&store), [""; 0]);
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), ["0a"]);
}

/// The sessions that have a manifest in a folder, each as often as it has one.
pub fn stored_sessions(store: &Folder) -> Vec<String> {
    let files = tree(store.path());
    let is_manifest = |name: &str| name.contains("/files/") && name.ends_with(".json");
    let manifests = files.iter().filter(|(name, _)| is_manifest(name));
    let session = |of: &[u8]| {
        let manifest: serde_json::Value = serde_json::from_slice(of).unwrap();
        manifest["session"].as_str().unwrap().to_owned()
    };
    let mut sessions: Vec<String> = manifests.map(|(_, of)| session(of)).collect();
    sessions.sort();
    sessions
}
