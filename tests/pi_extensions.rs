//! What extensions of pi write beside and below its sessions.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const FOLDER: &str = ".pi/agent/sessions/--w--";
const STEM: &str = "2026-05-12T01-02-27-000Z_019e19b4-eb48-746a-aa6b-000000000001";

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn header(id: &str, parent: Option<&str>) -> Value {
    let mut header = json!({"type": "session", "version": 3, "id": id,
        "timestamp": "2026-05-12T01:02:27.000Z", "cwd": "/w"});
    if let Some(parent) = parent {
        header["parentSession"] = parent.into();
    }
    header
}

fn said(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-05-12T01:02:28.000Z",
        "message": {"role": role, "content": [{"type": "text", "text": text}]}})
}

/// A session that started a subagent by pi-subagents, and the subagent's own.
fn store() -> Sandbox {
    let home = Sandbox::new();
    let id = &STEM[25..];
    let parent = [
        header(id, None),
        said("a1", None, "user", "delegate the walrus"),
        said("a2", Some("a1"), "assistant", "all delegated"),
    ];
    home.write(&format!("{FOLDER}/{STEM}.jsonl"), &lines(&parent));
    let child = [
        header("c1", None),
        json!({"type": "session_info", "id": "c0", "parentId": null, "name": "scout: find gizmo",
            "timestamp": "2026-05-12T01:02:28.000Z"}),
        said("c1", Some("c0"), "user", "Task: find gizmo"),
        said("c2", Some("c1"), "assistant", "found gizmo"),
    ];
    home.write(
        &format!("{FOLDER}/{STEM}/5f316403/run-0/session.jsonl"),
        &lines(&child),
    );
    home
}

fn ids(home: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let answer = home.json(arguments);
    let rows = answer["sessions"].as_array().expect("sessions").iter();
    let mut ids: Vec<String> = rows
        .map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect();
    ids.sort();
    ids
}

/// pi-subagents 0.67.0 (`child-transcript.ts`, `artifacts.ts`): copies of what stands in the
/// session of the subagent.
#[test]
fn transcripts_of_subagents_are_not_read_beside_their_sessions() {
    let home = store();
    let record = json!({"version": 1, "recordType": "message", "runId": "5f316403", "agent": "scout",
        "ts": 1_778_547_747_000_u64, "role": "assistant", "text": "found gizmo"});
    let artifacts = format!("{FOLDER}/subagent-artifacts");
    home.write(
        &format!("{artifacts}/5f316403_scout_0_transcript.jsonl"),
        &lines(&[record]),
    );
    let events = [
        header("c1", None),
        json!({"type": "agent_start"}),
        json!({"type": "message_end", "message": {"role": "assistant", "content": "found gizmo"}}),
    ];
    home.write(
        &format!("{artifacts}/5f316403_scout_0.jsonl"),
        &lines(&events),
    );
    let told = home.run(&["sync"]);
    assert!(!told.contains("shape"), "{told}");
    let all = ids(&home, &["list", "--all", "--subagents", "--json"]);
    assert_eq!(all, [&STEM[25..], "c1"]);
    let found = home.json(&["search", "gizmo", "--json", "--every-copy"]);
    assert_eq!(
        found["sessions"].as_array().map(Vec::len),
        Some(1),
        "{found}"
    );
}

/// pi-subagents 0.67.0 (`getSubagentSessionRoot`, `createForkContextResolver`).
#[test]
fn sessions_of_subagents_are_counted_at_who_started_them() {
    let home = store();
    let copied = said("a1", None, "user", "delegate the walrus");
    let mut asked = said("f2", Some("a1"), "user", "Task: polish topaz");
    asked["timestamp"] = "2026-05-12T01:05:28.000Z".into();
    let mut fork = header("f1", Some("/home/other/a.jsonl"));
    fork["timestamp"] = "2026-05-12T01:05:27.000Z".into();
    home.write(
        &format!("{FOLDER}/{STEM}/forks/2026-05-12T01-05-27-000Z_f1.jsonl"),
        &lines(&[fork, copied, asked]),
    );
    home.write(
        &format!("{FOLDER}/{STEM}/5f316403/run-0/session/77/run-0/session.jsonl"),
        &lines(&[
            header("d1", None),
            said("d2", None, "user", "Task: dig opal"),
        ]),
    );
    let id = &STEM[25..];
    assert_eq!(ids(&home, &["list", "--all", "--json"]), [id]);
    let rows = home.json(&["list", "--all", "--json"]);
    assert_eq!(rows["sessions"][0]["subagents"], 3, "{rows}");
    let sql = "SELECT c.id, p.id, relation FROM forks f JOIN sessions c USING (session)
        JOIN sessions p ON p.session = f.parent ORDER BY 1";
    let rows = home.json(&["sql", sql, "--json"]);
    let expected = json!([
        ["c1", id, "subagent"],
        ["d1", "c1", "subagent"],
        ["f1", id, "subagent"]
    ]);
    assert_eq!(rows["rows"], expected, "{rows}");
    for (query, sessions) in [
        ("role:user gizmo", 0),
        ("role:user topaz", 0),
        ("role:user opal", 0),
        ("role:injected topaz", 1),
        ("gizmo", 1),
        ("role:user walrus", 1),
    ] {
        let found = home.json(&["search", query, "--json"]);
        let found = found["sessions"].as_array().map(Vec::len);
        assert_eq!(found, Some(sessions), "{query}");
    }
    let said = home.run(&["verify"]);
    assert!(!said.contains("--- exit"), "{said}");
}
