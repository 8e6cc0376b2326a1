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
