//! GitHub Copilot CLI's sessions through the command: two files a session, subagents inside.

use std::path::Path;

use serde_json::json;

use crate::sandbox::Sandbox;

const SESSION: &str = "6d0b1f6e-0000-4000-8000-0000000000c1";

/// A home with a session of `fixtures/copilot/<case>`.
fn home(case: &str) -> Sandbox {
    let home = Sandbox::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/copilot");
    for name in ["events.jsonl", "workspace.yaml"] {
        let file = fixtures.join(case).join(SESSION).join(name);
        if let Ok(text) = std::fs::read_to_string(file) {
            home.write(&format!(".copilot/session-state/{SESSION}/{name}"), &text);
        }
    }
    home
}

#[test]
fn a_session_is_listed_found_and_taken_up_again() {
    let home = home("subagent");
    let listed = home.json(&["list", "--all", "--json"]);
    let session = &listed["sessions"][0];
    assert_eq!(listed["total"], 1, "{listed}");
    assert_eq!(session["id"], SESSION);
    assert_eq!(session["title"], "Send somebody to the attic.");
    assert_eq!(session["tokens"], 520);
    assert_eq!(
        session["resume"]["argv"],
        json!(["copilot", format!("--resume={SESSION}")])
    );
    let hits = |query: &str| {
        let found = home.json(&["search", query, "--json"]);
        let sessions = found["sessions"].as_array().map_or(0, Vec::len);
        (
            sessions,
            found["sessions"][0]["hits"].as_array().map_or(0, Vec::len),
        )
    };
    // System prompts are found as such only.
    assert_eq!(hits("\"helper of this fixture\""), (0, 0));
    assert_eq!(hits("kind:system \"helper of this fixture\"").0, 1);
    assert_eq!(hits("\"Send somebody to the attic\""), (1, 1));
    assert_eq!(hits("current_datetime"), (0, 0));
    // What begins, ends or repeats another event is shown among all entries alone.
    let entries = |arguments: &[&str]| {
        let shown = home.json(arguments);
        let entries = shown["entries"].as_array().unwrap().clone();
        let empty = entries.iter().filter(|entry| entry["text"] == json!([]));
        (entries.len(), empty.count())
    };
    assert_eq!(entries(&["show", SESSION, "--json"]).1, 0);
    assert!(entries(&["show", SESSION, "--all", "--json"]).1 > 5);
    let usage = home.json(&["sql", "--json", "SELECT count(*), sum(total) FROM usage"]);
    assert_eq!(usage["rows"], json!([[4, 520]]));
    let calls = home.json(&[
        "sql",
        "--json",
        "SELECT tool, is_error FROM calls ORDER BY entry",
    ]);
    assert_eq!(calls["rows"], json!([["task", 0], ["bash", 0]]));
    // The answer does not name its tool, but it is one of that call.
    for tool in ["task", "bash"] {
        assert_eq!(hits(&format!("tool:{tool} role:toolResult")).0, 1, "{tool}");
        let others = hits(&format!("role:toolResult -tool:{tool}"));
        assert_eq!(others.0, 1, "{tool}");
    }
}

/// Versions without records of usage say at the end of each run what it took.
#[test]
fn usage_of_runs_without_records_is_counted() {
    let home = home("shutdown-totals");
    let listed = home.json(&["list", "--all", "--json"]);
    assert_eq!(listed["sessions"][0]["tokens"], 430);
    let query = "SELECT model, total FROM usage ORDER BY entry";
    let usage = home.json(&["sql", "--json", query]);
    assert_eq!(usage["rows"], json!([["gpt-5", 130], ["gpt-5", 300]]));
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}

/// What each of several models took in such a run counts under its name, once, in a copy of the
/// session too.
#[test]
fn usage_of_several_models_of_a_run_is_told_apart() {
    let home = home("shutdown-totals");
    let folder = format!(".copilot/session-state/{SESSION}");
    let events = home.home.join(&folder).join("events.jsonl");
    let mut text = std::fs::read_to_string(&events).unwrap();
    home.settle();
    assert_eq!(home.json(&["list", "--all", "--json"])["total"], 1);
    let took = |input: i64, output: i64| {
        let took = json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": 10});
        json!({ "usage": took })
    };
    for event in [
        json!({"type": "session.resume", "id": "y", "timestamp": "2026-01-05T11:00:00.000Z",
            "data": {}}),
        json!({"type": "session.shutdown", "id": "z", "timestamp": "2026-01-05T11:00:01.000Z",
            "data": {"modelMetrics": {"gpt-5": took(30, 3), "opus": took(40, 4)}}}),
    ] {
        text += &format!("{event}\n");
    }
    std::fs::write(&events, &text).unwrap();
    let query = "SELECT model, count(*), sum(input), sum(output), sum(cache_read) FROM usage \
        GROUP BY 1 ORDER BY 1";
    let expected = json!([["gpt-5", 3, 370, 83, 10], ["opus", 1, 30, 4, 10]]);
    assert_eq!(home.json(&["sql", "--json", query])["rows"], expected);
    let listed = home.json(&["list", "--all", "--json"]);
    assert_eq!(listed["sessions"][0]["tokens"], 430 + 77);
    let shown = home.json(&["show", SESSION, "--json"]);
    let entries = shown["entries"].as_array().unwrap();
    assert!(
        entries.iter().all(|entry| entry["kind"] != "usage"),
        "{shown}"
    );
    // Among all entries it has no heading of its own: nothing would stand below it.
    let all = home.json(&["show", SESSION, "--all", "--json"]);
    let others = all["entries"].as_array().unwrap().iter();
    let others = others.filter(|entry| entry["kind"] == "usage");
    assert_eq!(others.count(), 1, "{all}");
    let all = home.run(&["show", SESSION, "--all"]);
    assert!(!all.contains("── usage"), "{all}");
    home.write(".copilot/session-state/another/events.jsonl", &text);
    assert_eq!(home.json(&["sql", "--json", query])["rows"], expected);
    let rebuilt = home.run(&["rebuild"]);
    assert!(!rebuilt.contains("--- exit"), "{rebuilt}");
    assert_eq!(home.json(&["sql", "--json", query])["rows"], expected);
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}

/// The name is another file: what is written there shows, and what is appended to the events.
#[test]
fn both_files_are_followed() {
    let home = home("first-prompt");
    let session = |home: &Sandbox| home.json(&["list", "--all", "--json"])["sessions"][0].clone();
    let first = session(&home);
    assert_eq!(
        (&first["name"], &first["messageCount"]),
        (&json!(null), &json!(2))
    );
    let folder = format!(".copilot/session-state/{SESSION}");
    home.settle();
    home.write(
        &format!("{folder}/workspace.yaml"),
        &format!("id: {SESSION}\nname: The fence\nuser_named: true\n"),
    );
    let events = home.home.join(&folder).join("events.jsonl");
    let mut text = std::fs::read_to_string(&events).unwrap();
    let event = json!({"type": "user.message", "id": "z", "parentId": "y",
        "timestamp": "2026-01-05T11:00:00.000Z", "data": {"content": "And the gate."}});
    text += &format!("{event}\n");
    std::fs::write(&events, text).unwrap();
    let second = session(&home);
    assert_eq!(
        (&second["name"], &second["messageCount"]),
        (&json!("The fence"), &json!(3))
    );
    assert_eq!(second["modified"], "2026-01-05T11:00:00.000Z");
    // The name is line 1 of its file, and so is the first event, which has an id.
    let found = home.json(&["search", "fence", "kind:session", "--json"]);
    let address = found["sessions"][0]["hits"][0]["address"].as_str().unwrap();
    assert_eq!(address, format!("{SESSION}:L1"));
    let shown = home.json(&["show", address, "--json"]);
    assert_eq!(
        shown["entries"][0]["text"],
        json!([["prose", ["The fence"]]])
    );
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}

#[test]
fn a_long_system_prompt_is_cut_on_a_terminal() {
    let home = home("system-prompt");
    let file = format!(".copilot/session-state/{SESSION}/events.jsonl");
    let events = std::fs::read_to_string(home.home.join(&file)).unwrap();
    let rules: String = (0..40).map(|rule| format!("\\nrule {rule}")).collect();
    let long = events.replacen(
        r#""content":"You are"#,
        &format!(r#""content":"{rules} You are"#),
        1,
    );
    assert_ne!(events, long);
    home.write(&file, &long);
    let Some(seen) = home.on_terminal(&["show", SESSION, "--no-pager"], "") else {
        return;
    };
    assert!(
        seen.contains("│ rule 10") && !seen.contains("rule 39"),
        "{seen}"
    );
    assert!(seen.contains("more lines; --full shows them"), "{seen}");
    assert!(home.run(&["show", SESSION, "--full"]).contains("rule 39"));
}

/// A session is moved to the trash as a whole.
#[test]
fn a_session_is_its_folder() {
    let home = home("named");
    let moved = home.json(&["delete", SESSION, "--dry-run", "--json"]);
    let text = moved.to_string();
    let folder = format!("session-state/{SESSION}\"");
    assert!(text.contains(&folder), "{text}");
}

/// Of a session of two files those come back that are gone.
#[test]
fn a_session_of_which_one_file_is_gone_is_restored() {
    let home = home("named");
    let folder = home.home.join(".copilot/session-state").join(SESSION);
    let files = ["events.jsonl", "workspace.yaml"].map(|name| folder.join(name));
    let written = files.clone().map(|file| std::fs::read(file).unwrap());
    for words in [&["archive", "on", "copilot"][..], &["sync"]] {
        assert!(home.output(words).status.success(), "{words:?}");
    }
    let [events, workspace] = &files;
    for gone in [vec![events], vec![workspace], vec![events, workspace]] {
        for file in &gone {
            std::fs::remove_file(file).unwrap();
        }
        let restored = home.json(&["archive", "restore", SESSION, "--json"]);
        assert_eq!(restored["files"], json!(gone), "{restored}");
        assert_eq!(
            files.clone().map(|file| std::fs::read(file).unwrap()),
            written
        );
    }
    let said = home.run(&["archive", "restore", SESSION]);
    assert!(said.contains("nothing was written"), "{said}");
    assert!(said.contains("exit Some(1)"), "{said}");
}

/// What Copilot notes for itself is in the chain of events, and on nobody's way through the tree.
#[test]
fn the_tree_shows_what_a_person_means() {
    let home = home("subagent");
    let tree = home.run(&["tree", SESSION]);
    for kind in ["turn_start", "usage_record", "execution_start"] {
        assert!(!tree.contains(kind), "{kind}: {tree}");
        let count = format!("SELECT count(*) > 0 FROM entries WHERE kind LIKE '%{kind}'");
        let listed = home.json(&["sql", "--json", &count]);
        assert_eq!(listed["rows"], json!([[1]]), "{kind}");
    }
    let told = ["user", "assistant", "toolResult"];
    assert!(told.iter().all(|kind| tree.contains(kind)), "{tree}");
    // Each of them goes on from one that is shown.
    let shown = "SELECT count(*) FROM entries child JOIN entries parent ON parent.id = child.parent
        WHERE parent.kind IN ('assistant.turn_start', 'session.usage_record', 'tool.execution_start')";
    assert_eq!(home.json(&["sql", "--json", shown])["rows"], json!([[0]]));
}

/// Ends without an id are told apart by their times, else by all that they say.
#[test]
fn ends_of_runs_without_ids_are_told_apart() {
    let home = Sandbox::new();
    let took = |input: i64| json!({"usage": {"inputTokens": input, "outputTokens": 1}});
    let ends = [
        json!({"id": "", "timestamp": "2026-01-05T11:00:01.000Z"}),
        json!({"id": "", "timestamp": "2026-01-05T12:00:01.000Z"}),
        json!({}),
        json!({}),
    ];
    for (number, mut end) in (0..).zip(ends) {
        end["type"] = "session.shutdown".into();
        let first = 10 + number / 2 * number;
        end["data"] = json!({"modelMetrics": {"A": took(first), "B": took(20)}});
        let said = json!({"type": "user.message", "id": format!("u{number}"),
            "timestamp": "2026-01-05T10:00:01.000Z", "data": {"content": "hello"}});
        let file = format!(".copilot/session-state/s{number}/events.jsonl");
        home.write(&file, &format!("{said}\n{end}\n"));
    }
    let query = "SELECT model, count(*), sum(input) FROM usage GROUP BY 1 ORDER BY 1";
    let expected = json!([["A", 4, 10 + 10 + 12 + 13], ["B", 4, 80]]);
    assert_eq!(home.json(&["sql", "--json", query])["rows"], expected);
    let listed = home.json(&["list", "--all", "--json"]);
    let tokens = listed["sessions"].as_array().unwrap().iter();
    let tokens: i64 = tokens.map(|row| row["tokens"].as_i64().unwrap()).sum();
    assert_eq!(tokens, 45 + 80 + 8);
}

/// Before its folders a session was one file; the layout before that is told and not read.
#[test]
fn what_older_layouts_hold_is_read_or_told() {
    let home = Sandbox::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/copilot/flat-file")
        .join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(file).unwrap();
    home.write(&format!(".copilot/session-state/{SESSION}.jsonl"), &text);
    home.write(".copilot/history-session-state/session_1.json", "{}");
    home.write(".copilot/jb/one/partition-1.jsonl", "{}\n");
    let listed = home.json(&["list", "--all", "--json"]);
    assert_eq!(listed["total"], 1, "{listed}");
    let session = &listed["sessions"][0];
    assert_eq!(session["id"], SESSION);
    assert_eq!(session["title"], "An old question.");
    assert_eq!(session["messageCount"], 2);
    let found = home.json(&["search", "\"old answer\"", "--json"]);
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(1));
    let roots = home.run(&["status", "--roots"]);
    let oldest =
        "GitHub Copilot CLI, before its session-state: 1 file, 2 B, not read by this version";
    assert!(roots.contains(oldest), "{roots}");
    let editor = "GitHub Copilot in JetBrains: 1 file, 3 B, not read by this version";
    assert!(roots.contains(editor), "{roots}");
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}
