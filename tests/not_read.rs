//! What lies on this machine and is not read is said where somebody misses it.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What commands say about a home in which only sessions of other agents lie.
#[test]
fn an_empty_list_says_what_is_not_read() {
    let home = Sandbox::new();
    home.write(".junie/sessions/one/events.jsonl", "{}\n");
    home.write(".junie/sessions/two/events.jsonl", "{}\n");
    home.write(".config/Cursor/User/globalStorage/state.vscdb", "made up");
    // What is read is not in the list, nor is a folder without files.
    home.write(".cursor/projects/x/agent-transcripts/y/y.lock", "");
    std::fs::create_dir_all(home.home.join(".factory/sessions")).unwrap();
    let junie = "Junie: 2 files, 6 B, not read by this version (~/.junie/sessions)";
    let said = home.run(&["list"]);
    assert!(said.contains(junie), "{said}");
    assert!(said.contains("No sessions were found"), "{said}");
    for arguments in [&["sync"][..], &["status", "--roots"], &["search", "x"], &[]] {
        let said = home.run(arguments);
        assert!(said.contains(junie), "{arguments:?}: {said}");
        assert!(!said.contains("Cursor: "), "{arguments:?}: {said}");
        assert!(!said.contains("Droid"), "{arguments:?}: {said}");
        #[cfg(target_os = "linux")]
        assert!(
            said.contains("Cursor's editor: 1 file, 7 B"),
            "{arguments:?}: {said}"
        );
    }
    let roots = home.json(&["status", "--roots", "--json"]);
    let others = roots["not_read"].as_array().unwrap();
    let junie = others
        .iter()
        .find(|other| other["agent"] == "Junie")
        .unwrap();
    assert_eq!(
        (&junie["files"], &junie["has_more"]),
        (&json!(2), &json!(false))
    );
}

/// A folder that is named is read, whosever it is.
#[test]
fn a_folder_that_is_named_is_not_missed() {
    let home = Sandbox::new();
    home.write(".omp/agent/sessions/--x--/one.jsonl", "{}\n");
    assert!(home.run(&["sync"]).contains("Oh My Pi: 1 file, 3 B"));
    let root = format!("pi:{}", home.home.join(".omp/agent/sessions").display());
    let said = home.run(&["--root", &root, "sync"]);
    assert!(!said.contains("Oh My Pi"), "{said}");
}

/// What another agent's format reads where it is named is told with that.
#[test]
fn what_can_be_read_is_told_with_how() {
    let home = Sandbox::new();
    home.write(".local/share/kilo/kilo.db", "made up");
    home.write(".qwen/tmp/5e/chats/session-1.json", "{}");
    let root = |folder: &str| home.home.join(folder).display().to_string();
    let kilo = format!("opencode:{}", root(".local/share/kilo"));
    let qwen = format!("gemini:{}", root(".qwen/tmp"));
    let said = home.run(&["status", "--roots"]);
    for (agent, root) in [
        ("Kilo CLI: 1 file, 7 B", &kilo),
        ("Qwen Code in Gemini CLI's format: 1 file, 2 B", &qwen),
    ] {
        let shown = root.replace(&home.home.display().to_string(), "$HOME");
        let told = format!("{agent}, read with `--root {shown}` only");
        assert!(said.contains(&told), "{said}");
        let said = home.run(&["--root", root, "status", "--roots"]);
        assert!(!said.contains(agent), "{said}");
    }
    let roots = home.json(&["status", "--roots", "--json"]);
    assert_eq!(roots["not_read"][0]["root"], json!(kilo));
}

/// An agent that is read writes another shape: its sessions are there and say nothing.
#[test]
fn files_of_an_unknown_shape_are_told() {
    let home = Sandbox::new();
    let line = json!({"schema": "indus/transcript@2", "kind": "entry", "text": "hello"});
    for name in ["a", "b", "c"] {
        home.write(
            &format!(".pindusagi/sessions/--x--/{name}.ndjson"),
            &format!("{line}\n"),
        );
    }
    let said = home.run(&["sync"]);
    let expected = "induscode: 3 files of a shape that this version does not know; \
                    first: ~/.pindusagi/sessions/--x--/a.ndjson, line 1";
    assert!(said.contains(expected), "{said}");
    assert!(home.run(&["status", "--roots"]).contains(expected));
    // A session that has only begun is of a known shape.
    let home = Sandbox::new();
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "~/code/parser"});
    home.write(".pi/agent/sessions/--x--/s.jsonl", &format!("{header}\n"));
    let said = home.run(&["sync"]);
    assert!(!said.contains("shape"), "{said}");
}

/// Claude Code leaves files in which there are only notes of sessions.
#[test]
fn files_with_notes_alone_are_of_a_known_shape() {
    let home = Sandbox::new();
    let write = |number: u32, line: &Value| {
        let path = format!(".claude/projects/-w/{number:08x}-0000-4000-8000-000000000000.jsonl");
        home.write(&path, &format!("{line}\n"));
    };
    for (number, line) in (0..).zip([
        json!({"type": "summary", "summary": "Boats", "leafUuid": "a1"}),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        json!({"type": "mode", "mode": "normal", "sessionId": "s"}),
        json!({"type": "last-prompt", "lastPrompt": "/deploy", "sessionId": "s"}),
    ]) {
        write(number, &line);
    }
    for arguments in [&["sync"][..], &["status", "--roots"]] {
        let said = home.run(arguments);
        assert!(!said.contains("of a shape"), "{said}");
    }
    write(9, &json!({"type": "walrus-state", "tusks": 2}));
    assert!(home.run(&["sync"]).contains("claude: 1 file of a shape"));
}

/// Lines that cannot be read are told where there are many.
#[test]
fn many_lines_that_cannot_be_read_are_told() {
    let home = Sandbox::new();
    let mut lines = json!({"type": "session", "version": 3, "id": "s", "cwd": "~/x"}).to_string();
    for id in 0..99 {
        let message = json!({"role": "user", "content": "hello"});
        let entry = json!({"type": "message", "id": id.to_string(), "message": message});
        lines += &format!("\n{entry}");
    }
    let path = ".pi/agent/sessions/--x--/s.jsonl";
    home.write(path, &format!("{lines}\nnot a line\n"));
    assert!(!home.run(&["sync"]).contains("cannot be read"));
    home.write(path, &format!("{lines}\n{}", "not a line\n".repeat(10)));
    let said = home.run(&["sync"]);
    let expected = "pi: 10 of 110 lines cannot be read; `sessionary sql 'SELECT * FROM problems'`";
    assert!(said.contains(expected), "{said}");
}

/// A newer version of an agent writes lines of types that nobody knows: those who read its sessions
/// hear it once for that version, where there are many of them.
#[test]
fn many_lines_of_unknown_types_are_told() {
    let thread = |number: u32, version: &str, known: usize, unknown: usize| {
        let id = format!("019b8d5e-7c80-7000-8000-{number:012x}");
        let mut lines = vec![
            json!({"timestamp": "2026-01-05T09:00:00.000Z", "type": "session_meta",
            "payload": {"id": id, "cwd": "/w", "cli_version": version}}),
        ];
        let item = |kind: &str| {
            json!({"timestamp": "2026-01-05T09:00:01.000Z", "type": "response_item",
                "payload": {"type": kind, "role": "user",
                    "content": [{"type": "input_text", "text": "hello"}]}})
        };
        lines.extend((0..known).map(|_| item("message")));
        lines.extend((0..unknown).map(|_| item("it's_a_walrus")));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let name = format!("rollout-2026-01-05T09-00-00-{id}.jsonl");
        (name, format!("{}\n", lines.join("\n")))
    };
    let home = Sandbox::new();
    let write = |number, version, known, unknown| {
        let (name, text) = thread(number, version, known, unknown);
        home.write(&format!(".codex/sessions/2026/01/05/{name}"), &text);
        home.write(&format!(".codex/archived_sessions/{name}"), &text);
    };
    // Each of the next is below one of the two bounds, but for the last.
    write(1, "0.169.0", 99, 9);
    write(2, "0.170.0", 299, 10);
    assert!(!home.run(&["sync"]).contains("types"));
    write(3, "0.171.0", 99, 10);
    let sql =
        r#"sessionary sql "SELECT session, line FROM entries WHERE kind IN ('it''s_a_walrus')""#;
    let expected = format!(
        "codex 0.171.0: 20 of the last 220 lines are of types that this version does not know \
         (it's_a_walrus); `{sql}` lists them"
    );
    for arguments in [&["sync"][..], &["status", "--roots"]] {
        let said = home.run(arguments);
        assert_eq!(said.matches("are of types").count(), 1, "{said}");
        assert!(said.contains(&expected), "{said}");
    }
    let query = "SELECT session, line FROM entries WHERE kind IN ('it''s_a_walrus')";
    let found = home.json(&["sql", query, "--json"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 2 * (9 + 10 + 10));
}
