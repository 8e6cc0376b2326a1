//! induscode's transcripts through the command, with no option.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::sandbox::Sandbox;

const FILE: &str = "01KE6P4YM0000000000000000A.ndjson";

fn fixture(case: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/induscode");
    fs::read_to_string(fixtures.join(case).join(FILE)).unwrap()
}

/// indusagi's SessionManager and induscode keep the sessions of one project side by side.
#[test]
fn both_formats_of_one_project_are_listed() {
    let home = Sandbox::new();
    let header = json!({"type": "session", "version": 3, "id": "a", "cwd": "~/river",
        "timestamp": "2026-01-05T09:00:00.000Z"});
    home.write(
        ".pindusagi/agent/sessions/--home-ada-river--/a.jsonl",
        &format!("{header}\n"),
    );
    let transcript = format!(".pindusagi/sessions/--home-ada-river--/{FILE}");
    home.write(&transcript, &fixture("file-without-head"));
    let listed = home.json(&["list", "--all", "--json"]);
    let sessions = listed["sessions"].as_array().unwrap();
    let mut agents: Vec<_> = sessions.iter().map(|row| row["agent"].clone()).collect();
    agents.sort_by_key(|agent| agent.to_string());
    assert_eq!(agents, ["indusagi", "induscode"]);
}

/// Where the `head` line says that it stands, the session is shown: what was abandoned, and what
/// was said since, is on another branch.
#[test]
fn the_first_line_says_what_is_shown() {
    let node = |id: &str, prev: &str, role: &str, text: &str| {
        json!({"schema": "indus/transcript@1", "kind": "entry", "id": id,
            "prev": Some(prev).filter(|prev| !prev.is_empty()), "role": role,
            "message": {"role": role, "content": text}, "at": "2026-01-05T09:00:00Z"})
    };
    let nodes = [
        node("n1", "", "user", "first"),
        node("n2", "n1", "assistant", "answer"),
        node("n3", "n2", "user", "abandoned question"),
        node("n4", "n3", "assistant", "abandoned answer"),
    ];
    for (leaf, branch) in [(Some("n2"), &["n1", "n2"][..]), (None, &[])] {
        let home = Sandbox::new();
        let head = json!({"schema": "indus/transcript@1", "kind": "head", "sessionId": "01K", "leaf": leaf});
        let lines = std::iter::once(&head).chain(&nodes);
        let lines: Vec<String> = lines.map(ToString::to_string).collect();
        home.write(
            ".pindusagi/sessions/--river--/01K.ndjson",
            &lines.join("\n"),
        );
        let shown = home.json(&["show", "01K", "--json"]);
        let shown = shown["entries"].as_array().unwrap().iter();
        assert_eq!(
            shown
                .map(|entry| entry["id"].as_str().unwrap())
                .collect::<Vec<_>>(),
            branch
        );
        let found = |query: &str| {
            home.json(&["search", query, "--json"])["total"]
                .as_u64()
                .unwrap()
        };
        assert_eq!(found("abandoned is:branch"), 2);
        assert_eq!(found("abandoned -is:branch"), 0);
        assert_eq!(found("first -is:branch"), branch.len().min(1) as u64);
        let tree = home.json(&["tree", "01K", "--json"]);
        let tree = tree["entries"].as_array().unwrap().iter();
        let leaves: Vec<_> = tree.filter(|row| row["is_leaf"] == true).collect();
        assert_eq!(leaves.first().map(|row| row["id"].as_str().unwrap()), leaf);
    }
}

/// A branch writes the file again with a line before all others: nothing is there twice.
#[test]
fn a_rewrite_that_changes_the_first_line_doubles_nothing() {
    let home = Sandbox::new();
    let transcript = format!(".pindusagi/sessions/--river--/{FILE}");
    home.write(&transcript, &fixture("file-without-head"));
    let count =
        |home: &Sandbox| home.json(&["list", "--all", "--json"])["sessions"][0]["entries"].clone();
    assert_eq!(count(&home), 2);
    home.settle();
    home.write(&transcript, &fixture("stale-head"));
    assert_eq!(count(&home), 4);
    let found = home.json(&["search", "\"Where does the river end\"", "--json"]);
    assert_eq!(
        found["sessions"][0]["hits"].as_array().map(Vec::len),
        Some(1),
        "{found}"
    );
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}
