//! Can what a session holds act on a terminal, lead out of a folder, or become an option of a
//! command? Sessions made to try.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Escape sequences of both kinds, controls, marks that turn text around or hide it.
const ACTS: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}1m\u{8}\r\u{202e}txt\u{2066}\u{200f}\u{61c}\u{2028}\u{feff}\u{7f}\u{e0041}\0end";

/// As the terminal's own rules would have it.
fn acts(character: char) -> bool {
    character != '\n'
        && (character.is_control()
            || matches!(u32::from(character), 0x61c | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069 | 0xfeff | 0xe0000..=0xe007f))
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Sessions of several agents in which everything that may be text is hostile.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let bad = |what: &str| format!("{what}{ACTS}");
    let cwd = home.cwd.display().to_string();
    let time = "2026-01-05T09:00:01.000Z";
    let huge = format!("{} {}", bad("name"), "n".repeat(100_000));
    let session = |id: &str, cwd: &str| json!({"type": "session", "version": 3, "id": id, "timestamp": bad("2026-01-05T09:00:00.000Z"), "cwd": cwd, "parentSession": bad("/parent")});
    let entries = [
        json!({"type": "message", "id": bad("a1"), "parentId": null, "timestamp": time, "message": {"role": "user", "content": bad("walrus first"), "timestamp": 1}}),
        json!({"type": "message", "id": "../../a2", "parentId": bad("a1"), "timestamp": bad(time), "message": {"role": "assistant", "provider": bad("provider"), "model": bad("model"), "stopReason": bad("stop"),
            "content": [{"type": "text", "text": bad("walrus answer")}, {"type": "thinking", "thinking": bad("thinks")}, {"type": "toolCall", "id": bad("t1"), "name": bad("bash"), "arguments": {"command": bad("walrus"), bad("key"): bad("value")}}], "timestamp": 2}}),
        json!({"type": "message", "id": "a3", "parentId": "../../a2", "timestamp": time, "message": {"role": "toolResult", "toolCallId": bad("t1"), "toolName": bad("bash"), "content": [{"type": "text", "text": bad("walrus output")}], "isError": true, "timestamp": 3}}),
        json!({"type": bad("zebra"), "id": "a4", "parentId": "a3", "timestamp": time, "data": bad("walrus")}),
        json!({"type": "message", "id": "a5", "parentId": "a4", "timestamp": time, "message": {"role": bad("role"), "content": bad("walrus of nobody")}}),
        json!({"type": "label", "id": "a6", "parentId": "a5", "timestamp": time, "targetId": "a3", "label": bad("label")}),
        json!({"type": "model_change", "id": "a7", "parentId": "a6", "timestamp": time, "provider": bad("p"), "modelId": bad("m")}),
        json!({"type": "session_info", "id": "a8", "parentId": "a7", "timestamp": time, "name": huge}),
    ];
    let file = |header: Value, tail: &str| lines(&[&[header][..], &entries].concat()) + tail;
    let folder = ".pi/agent/sessions/--code-parser--";
    home.write(
        &format!("{folder}/one.jsonl"),
        &file(
            session(&bad("../../../one"), &cwd),
            &format!("not json {ACTS}\n"),
        ),
    );
    let name = ACTS.replace(['\0', '/'], "");
    home.write(
        &format!("{folder}/x{name}\n.jsonl"),
        &file(session("two", &bad("/nowhere")), ""),
    );
    home.write(
        &format!(".pi/agent/sessions/--x{name}--/three.txt"),
        "no session",
    );
    home.write(
        &format!(".pi/agent/sessions/--x{name}--/four.jsonl"),
        &format!("{ACTS}\n"),
    );
    home.write(
        ".indusagi/agent/sessions/--w--/five.jsonl",
        &file(session("-five", "../../../../tmp"), ""),
    );
    let clido = [
        json!({"type": "meta", "session_id": "--version", "schema_version": 1, "start_time": bad("2026-01-05T09:00:00+00:00"), "project_path": bad("/p")}),
        json!({"type": "user_message", "role": "user", "content": [{"type": "text", "text": bad("walrus of clido")}]}),
        json!({"type": "title", "title": bad("title")}),
        json!({"type": "result", "exit_status": bad("failed"), "total_cost_usd": 0.5, "num_turns": 1, "duration_ms": 1}),
    ];
    home.write("clido/sessions/--version.jsonl", &lines(&clido));
    let copilot = [
        json!({"type": "session.start", "id": "c1", "timestamp": time, "data": {"sessionId": bad("--help"), "copilotVersion": bad("1"), "context": {"cwd": bad("/p"), "branch": bad("b")}}}),
        json!({"type": "user.message", "id": "c2", "timestamp": time, "data": {"content": bad("walrus of copilot")}}),
        json!({"type": bad("zebra"), "id": bad("c3"), "timestamp": bad(time), "data": bad("walrus")}),
    ];
    let folder = ".copilot/session-state/six";
    home.write(&format!("{folder}/events.jsonl"), &lines(&copilot));
    home.write(
        &format!("{folder}/workspace.yaml"),
        &format!("name: {}\nuser_named: true\n", bad("a name")),
    );
    openclaw(&home, &entries);
    agents_of_lines(&home);
    opencode(&home);
    let place = ".local/share/agentuse/project/global/session/01KE6P4YM00000000000000000-x";
    let document = json!({"id": bad("01KE"), "model": bad("a:b"), "status": bad("error"), "agent": {"id": bad("agent"), "name": bad("agent")},
        "project": {"root": cwd, "cwd": cwd}, "time": {"created": 1_767_603_600_000_i64, "updated": 1_767_603_600_005_i64}, "error": {"message": bad("walrus error"), "code": bad("CODE")}});
    home.write(&format!("{place}/session.json"), &document.to_string());
    home.settle();
    home
}

/// Sessions of OpenClaw's, in a file and in a database.
fn openclaw(home: &Sandbox, entries: &[Value]) {
    let bad = |what: &str| format!("{what}{ACTS}");
    let names = json!({bad("-key"): {"sessionId": "seven", "displayName": bad("a name"), "label": bad("label")}});
    let folder = ".openclaw/agents/main";
    home.write(&format!("{folder}/sessions/seven.jsonl"), &lines(entries));
    home.write(
        &format!("{folder}/sessions/sessions.json"),
        &names.to_string(),
    );
    home.write(&format!("{folder}/agent/x.txt"), "");
    let database =
        Connection::open(home.home.join(folder).join("agent/openclaw-agent.sqlite")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, display_name TEXT);
             CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, reason TEXT, channel TEXT, updated_at INTEGER);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, event_utf8_bytes INTEGER);",
        )
        .unwrap();
    let (key, id, name) = (
        bad("--help"),
        bad("../../eight").replace('\0', ""),
        bad("a name"),
    );
    let node = "INSERT INTO session_nodes VALUES (?1, ?2, ?3)";
    database.execute(node, [&key, &id, &name]).unwrap();
    let window = "INSERT INTO session_windows VALUES (?1, ?2, ?3, ?3, 5)";
    database.execute(window, [&id, &key, &name]).unwrap();
    let event = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, NULL, NULL)";
    let header = json!({"type": "session", "version": 4, "id": &id, "cwd": bad("/p")}).to_string();
    let texts = entries.iter().map(Value::to_string);
    let others = [
        bad("no json"),
        bad("!why"),
        "\"two\" \"values\"".to_owned(),
        "{\"table\":\"session_nodes\",\"row\":{}}".to_owned(),
    ];
    for (seq, text) in [header].into_iter().chain(texts).chain(others).enumerate() {
        database
            .execute(event, rusqlite::params![id, seq as i64, text])
            .unwrap();
    }
    let bomb = zstd::encode_all(&vec![b' '; 1 << 20][..], 1).unwrap();
    let packed = "INSERT INTO transcript_events VALUES (?1, 99, NULL, ?2, 7)";
    database
        .execute(packed, rusqlite::params![id, bomb])
        .unwrap();
}

/// Sessions of agents that keep lines: with parents that go round, ids that come twice, numbers too
/// large, nesting too deep and values of other types.
fn agents_of_lines(home: &Sandbox) {
    claude(home);
    codex(home);
    gemini(home);
    qwen(home);
    cursor(home);
}

/// The id of the session of each.
const ID: &str = "0197c0de-0000-4000-8000-000000000001";
const TIME: &str = "2026-01-05T09:00:01.000Z";

fn bad(what: &str) -> String {
    format!("{what}{ACTS}")
}

/// Values where no agent writes such.
fn odd() -> [Value; 4] {
    let deep: Value = (0..100).fold(json!(bad("walrus")), |inner, _| json!([inner]));
    [
        json!(1e300),
        json!({bad("key"): bad("walrus")}),
        deep,
        json!(i64::MIN),
    ]
}

fn claude(home: &Sandbox) {
    let of_claude = |kind: &str, uuid: &str, parent: &str, content: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": bad(ID), "timestamp": TIME, "cwd": bad("/p"), "gitBranch": bad("b"),
        "costUSD": 1e300, "message": {"id": bad("m"), "role": kind, "model": bad("model"), "content": content, "usage": {"input_tokens": i64::MAX, "output_tokens": -1}}})
    };
    let mut claude = vec![
        of_claude(
            "user",
            &bad("u1"),
            &bad("u2"),
            json!(bad("walrus of claude")),
        ),
        of_claude(
            "assistant",
            &bad("u2"),
            &bad("u1"),
            json!([{"type": "tool_use", "id": bad("t"), "name": bad("Read"), "input": {"file_path": bad("../../x")}}]),
        ),
        of_claude(
            "assistant",
            &bad("u2"),
            &bad("u2"),
            json!([{"type": bad("zebra"), "text": bad("walrus")}]),
        ),
        json!({"type": "custom-title", "customTitle": bad("title"), "sessionId": ID}),
        json!({"type": "last-prompt", "leafUuid": bad("nowhere")}),
    ];
    claude.extend(
        odd()
            .iter()
            .map(|odd| of_claude("user", "u3", "u2", odd.clone())),
    );
    home.write(&format!(".claude/projects/-w/{ID}.jsonl"), &lines(&claude));
}

fn codex(home: &Sandbox) {
    let of_codex = |kind: &str, payload: Value| json!({"timestamp": bad(TIME), "ordinal": u64::MAX, "type": kind, "payload": payload});
    let mut codex = vec![
        of_codex(
            "session_meta",
            json!({"id": bad(ID), "cwd": bad("/p"), "forked_from_id": ID, "history_base": {"thread_id": ID, "end_byte_offset": i64::MAX}, "git": {"branch": bad("b")}, "model_provider": bad("p")}),
        ),
        of_codex(
            "turn_context",
            json!({"model": bad("m"), "cwd": odd()[0], "effort": bad("e")}),
        ),
        of_codex(
            "response_item",
            json!({"type": "message", "id": bad("i"), "role": "user", "content": [{"type": "input_text", "text": bad("walrus of codex")}]}),
        ),
        of_codex(
            "response_item",
            json!({"type": "function_call", "id": bad("i"), "call_id": bad("c"), "name": bad("shell"), "arguments": bad("{\"command\":")}),
        ),
        of_codex(
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": {"total_tokens": i64::MAX}, "last_token_usage": {"input_tokens": i64::MAX, "cached_input_tokens": i64::MIN}}}),
        ),
        of_codex(
            "event_msg",
            json!({"type": "thread_name_updated", "thread_name": bad("name")}),
        ),
    ];
    codex.extend(odd().iter().map(|odd| {
        of_codex(
            "response_item",
            json!({"type": "message", "role": "user", "content": odd}),
        )
    }));
    home.write(
        &format!(".codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-{ID}.jsonl"),
        &lines(&codex),
    );
}

fn gemini(home: &Sandbox) {
    let of_gemini = |name: &str, kind: &str, content: Value| {
        json!({"id": name, "timestamp": bad(TIME), "type": kind, "content": content, "model": bad("m"), "tokens": {"input": i64::MAX, "output": i64::MAX, "total": 1},
        "toolCalls": [{"id": bad("c"), "name": bad("run"), "args": {"command": bad("walrus")}, "status": bad("error")}]})
    };
    let mut gemini = vec![
        json!({"sessionId": bad(ID), "projectHash": bad("h"), "startTime": bad(TIME), "kind": "main"}),
        of_gemini(&bad("g"), "user", json!(bad("walrus of gemini"))),
        of_gemini(&bad("g"), "gemini", json!([{"text": bad("walrus again")}])),
        json!({"$rewindTo": bad("g")}),
        json!({"$set": {"summary": bad("title"), "messages": [of_gemini(&bad("n"), &bad("zebra"), json!(bad("walrus")))]}}),
    ];
    gemini.extend(odd().iter().map(|odd| of_gemini("o", "user", odd.clone())));
    home.write(".gemini/tmp/w/.project_root", &bad("/p").replace('\0', ""));
    home.write(
        ".gemini/tmp/w/chats/session-2026-01-05T09-00-0197c0de.jsonl",
        &lines(&gemini),
    );
}

fn qwen(home: &Sandbox) {
    let of_qwen = |kind: &str, uuid: &str, parent: &str, parts: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "timestamp": bad(TIME), "cwd": bad("/p"), "model": bad("m"),
        "message": {"role": kind, "parts": parts}, "usageMetadata": {"promptTokenCount": i64::MAX, "totalTokenCount": i64::MAX}})
    };
    let mut qwen = vec![
        of_qwen(
            "user",
            &bad("q1"),
            &bad("q2"),
            json!([{"text": bad("walrus of qwen")}]),
        ),
        of_qwen(
            "assistant",
            &bad("q2"),
            &bad("q1"),
            json!([{"text": bad("walrus"), "thought": true}, {"functionCall": {"id": bad("c"), "name": bad("n"), "args": {"path": bad("x")}}}]),
        ),
        json!({"type": "system", "subtype": "custom_title", "uuid": bad("q2"), "parentUuid": bad("q2"), "sessionId": ID, "systemPayload": {"customTitle": bad("title")}}),
    ];
    qwen.extend(
        odd()
            .iter()
            .map(|odd| of_qwen("user", "q3", "q2", odd.clone())),
    );
    home.write(
        &format!(".qwen/projects/-w/chats/{ID}.jsonl"),
        &lines(&qwen),
    );
}

fn cursor(home: &Sandbox) {
    let mut cursor = vec![
        json!({"role": "user", "message": {"content": [{"type": "text", "text": bad("<user_query>walrus of cursor</user_query>")}]}}),
        json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": bad("Read"), "input": {"path": bad("../x")}}]}}),
    ];
    cursor.extend(
        odd()
            .iter()
            .map(|odd| json!({"role": odd, "message": {"content": odd}})),
    );
    home.write(
        &format!(".cursor/projects/w/agent-transcripts/{ID}/{ID}.jsonl"),
        &lines(&cursor),
    );
}

/// Sessions of OpenCode's whose rows name each other and hold what no agent writes.
fn opencode(home: &Sandbox) {
    let bad = |what: &str| format!("{what}{ACTS}").replace('\0', "");
    home.write(".local/share/opencode/x.txt", "");
    let file = home.home.join(".local/share/opencode/opencode.db");
    let database = Connection::open(file).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);",
        )
        .unwrap();
    let (one, two) = (bad("--help"), bad("../../ses_2"));
    let session = "INSERT INTO session VALUES (?1, ?2, ?3, ?3, ?3, 5, 6)";
    for (id, parent) in [(&one, &two), (&two, &one)] {
        database
            .execute(session, [id, parent, &bad("title")])
            .unwrap();
        let message = json!({"role": bad("user"), "modelID": bad("m"), "cost": 1e300, "tokens": {"input": i64::MAX, "output": i64::MAX}, "time": {"created": i64::MAX, "completed": i64::MIN}, "error": {"name": bad("E"), "data": {"message": bad("walrus")}}});
        let part = json!({"type": "tool", "tool": bad("bash"), "callID": bad("c"), "state": {"status": "completed", "input": {"command": bad("walrus")}, "output": [[[bad("walrus")]]], "metadata": {"exit": 1e300}, "time": {"start": i64::MIN, "end": i64::MAX}}});
        let text = json!({"type": "text", "text": bad("walrus of opencode")});
        for (at, data) in [
            part.to_string(),
            text.to_string(),
            bad("{no json"),
            "[]".into(),
        ]
        .iter()
        .enumerate()
        {
            let key = format!("{id}{at}");
            let row = "INSERT INTO part VALUES (?1, ?2, ?2, 5, 6, ?3)";
            database.execute(row, [&key, id, data]).unwrap();
        }
        let row = "INSERT INTO message VALUES (?1, ?1, ?2, 6, ?3)";
        database
            .execute(row, rusqlite::params![id, i64::MAX, message.to_string()])
            .unwrap();
    }
}

/// What was printed, if none of it acts.
fn harmless(output: &Output, arguments: &[&str]) -> String {
    let mut said = String::new();
    for bytes in [&output.stdout, &output.stderr] {
        let text =
            std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        if let Some(at) = text.find(acts) {
            let before: Vec<char> = text[..at].chars().rev().take(60).collect();
            let before: String = before.into_iter().rev().collect();
            let acting = text[at..].chars().next();
            panic!("{arguments:?}: {before:?}, then {acting:?}");
        }
        said.push_str(text);
    }
    let code = output.status.code();
    assert!(
        matches!(code, Some(0..=2)),
        "{arguments:?}: {code:?} {said}"
    );
    said
}

/// Everything that prints, of every session there is.
#[test]
fn nothing_that_is_printed_acts() {
    let home = home();
    harmless(&home.output(&["sync"]), &["sync"]);
    let index = home.json(&["list", "--all", "--subagents", "--json"]);
    let sessions = index["sessions"].as_array().expect("sessions");
    assert!(sessions.len() >= 5, "{}", sessions.len());
    for agent in ["claude", "codex", "cursor", "gemini", "qwen", "opencode"] {
        let found = home.json(&["list", "--all", "--subagents", "--agent", agent, "--json"]);
        let found = found["sessions"].as_array().expect("sessions");
        assert!(!found.is_empty(), "{agent}");
    }
    let bad = format!("x{ACTS}").replace('\0', "");
    let mut commands: Vec<Vec<&str>> = [
        &[][..],
        &["list"],
        &["list", "--all", "--sort", "cost"],
        &["list", "--all", "--subagents", "--errors"],
        &["list", "--agent", &bad],
        &["list", "--all", "--project", &bad],
        &["list", "--since", &bad],
        &["search", "walrus"],
        &[
            "search",
            "walrus",
            "--context",
            "3",
            "--explain",
            "--facets",
        ],
        &[
            "search",
            "walrus",
            "--passages",
            "--newest",
            "--color",
            "never",
        ],
        &["search", "walruz"],
        &["search", "name:red kind:session_info"],
        &["search", "*titl*"],
        &["search", &bad],
        &["search", "role:("],
        &["search", "walrus", "--cursor", &bad],
        &["search", "walrus", "--json", "--cursor", &bad],
        &["report", "--by", "model"],
        &["report", "--by", "project", "--html"],
        &["report", "--by", "tool"],
        &["secrets"],
        &["sql", "SELECT * FROM sessions"],
        &["sql", "SELECT * FROM entries"],
        &["sql", "SELECT * FROM calls"],
        &["sql", "SELECT * FROM labels"],
        &["sql", "SELECT * FROM problems"],
        &["sql", "SELECT raw(entry) FROM entries"],
        &["sql", "SELECT * FROM nothing"],
        &["sql", &bad],
        &["status"],
        &["status", "--roots"],
        &["status", "--roots", "--root", &bad],
        &["sync"],
        &["rebuild"],
        &["verify"],
        &["config", "show"],
        &["show", &bad],
        &["show", "nosuch"],
        &["show", "0"],
        &[&bad],
        &["list", &bad],
    ]
    .map(<[&str]>::to_vec)
    .to_vec();
    let root = format!("pi:{bad}={bad}");
    commands.push(vec!["status", "--roots", "--root", &root]);
    let paths: Vec<&str> = sessions
        .iter()
        .filter_map(|row| row["path"].as_str())
        .collect();
    for path in &paths {
        commands.extend(
            [
                &["show", path][..],
                &["show", path, "--all", "--full"],
                &["tree", path],
                &["tree", path, "--filter", "all"],
                &["tree", path, "--filter", "labeled-only", "--ascii"],
                &["context", path],
                &["context", path, "--llm"],
                &["resume", path, "--print"],
                &["resume", path],
                &["append", path, "--user", &bad, "--dry-run"],
                &["name", path, &bad, "--dry-run"],
                &["fork", path, "--dry-run"],
                &["migrate", path, "--dry-run"],
                &["export", path],
                &["export", path, "--format", "html"],
                &["delete", path, "--dry-run"],
            ]
            .map(<[&str]>::to_vec),
        );
    }
    for arguments in &commands {
        harmless(&home.output(arguments), arguments);
    }
    // Its lines end as RFC 4180 has it.
    let arguments = ["report", "--by", "model", "--csv"];
    let mut table = home.output(&arguments);
    let text = String::from_utf8_lossy(&table.stdout).replace("\r\n", "\n");
    table.stdout = text.into_bytes();
    assert!(harmless(&table, &arguments).contains("model"));
    let column = |query: &str| -> Vec<String> {
        let answer = home.json(&["sql", "--json", query]);
        let rows = answer["rows"].as_array().expect("rows");
        let texts = rows.iter().filter_map(|row| row[0].as_str());
        texts
            .filter(|text| !text.contains('\0'))
            .map(str::to_owned)
            .collect()
    };
    for view in column("SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT GLOB '_*'")
    {
        for form in [&[][..], &["--json"], &["--jsonl"]] {
            let query = format!("SELECT * FROM {view}");
            let arguments = [&["sql", &query], form].concat();
            harmless(&home.output(&arguments), &arguments);
        }
    }
    let named = "SELECT path || ':' || coalesce(entries.id, 'L' || line) FROM entries JOIN sessions USING (session)";
    for address in column(named) {
        let arguments = ["show", &address, "--context", "1"];
        harmless(&home.output(&arguments), &arguments);
    }
}

#[test]
fn json_says_the_same_without_acting() {
    let home = home();
    for arguments in [
        &["list", "--all", "--with-text"][..],
        &["search", "walrus", "--context", "2"],
        &["search", "title"],
        &[
            "search",
            "walrus",
            "--fields",
            "address,snippet,session.title",
        ],
        &["search", "walrus", "--max-bytes", "4000"],
        &["list", "--all", "--fields", "id,title"],
        &["list", "--all", "--max-bytes", "6000"],
        &["report", "--by", "model"],
        &["secrets"],
        &["status"],
        &["status", "--roots"],
        &["verify"],
        &["sync"],
        &["config", "show"],
        &[],
        &["show", "nosuch\u{1b}[2J"],
        &["sql", "SELECT * FROM nothing\u{202e}"],
        &["sql", "SELECT raw(entry) FROM entries"],
    ] {
        let arguments = [arguments, &["--json"]].concat();
        let said = harmless(&home.output(&arguments), &arguments);
        for line in said.lines().filter(|line| line.starts_with('{')) {
            let json: Result<Value, _> = serde_json::from_str(line);
            assert!(json.is_ok(), "{arguments:?}: {json:?}");
        }
    }
    let list = home.json(&["list", "--all", "--json"]);
    let rows = list["sessions"].as_array().expect("sessions");
    let first = rows
        .iter()
        .map(|row| row["firstMessage"].as_str().unwrap_or_default());
    assert!(
        first
            .clone()
            .any(|text| text == format!("walrus first{ACTS}")),
        "{rows:?}"
    );
    for row in rows {
        let arguments = [
            "show",
            row["path"].as_str().unwrap_or_default(),
            "--all",
            "--json",
        ];
        harmless(&home.output(&arguments), &arguments);
        let arguments = ["tree", arguments[1], "--filter", "all", "--json"];
        harmless(&home.output(&arguments), &arguments);
        let arguments = ["context", arguments[1], "--json"];
        harmless(&home.output(&arguments), &arguments);
    }
}

#[test]
fn an_id_is_never_an_option() {
    let home = home();
    let list = home.json(&["list", "--all", "--json"]);
    let rows = list["sessions"].as_array().expect("sessions");
    let clido = rows.iter().find(|row| row["agent"] == "clido");
    let clido = clido.expect("clido's session");
    assert_eq!(clido["id"], "--version");
    // It is the agent's own id, so there is no command that takes this session up.
    assert_eq!(clido["resume"], Value::Null);
    let commands = rows
        .iter()
        .filter_map(|row| row["resume"]["argv"].as_array());
    let last: Vec<&str> = commands.filter_map(|argv| argv.last()?.as_str()).collect();
    assert!(last.len() > 2, "{last:?}");
    // A word that begins with an option's name ends with its value.
    let is_option = |word: &&str| word.starts_with('-') && !word.starts_with("--resume=");
    assert!(!last.iter().any(is_option), "{last:?}");
}

/// Every file below a place, without what is below another.
fn files(place: &Path, but: &[&Path]) -> BTreeSet<PathBuf> {
    let all = walkdir::WalkDir::new(place).into_iter().flatten();
    let files = all.filter(|entry| entry.file_type().is_file());
    files
        .map(walkdir::DirEntry::into_path)
        .filter(|path| !but.iter().any(|but| path.starts_with(but)))
        .collect()
}

#[test]
fn a_path_in_a_session_leads_nowhere() {
    let home = home();
    let sandbox = home.home.parent().expect("the sandbox");
    let own = [
        home.home.join(".pi/agent/sessions"),
        home.home.join(".indusagi/agent/sessions"),
        home.home.join(".cache/sessionary"),
    ];
    let own: Vec<&Path> = own.iter().map(PathBuf::as_path).collect();
    let outside = files(sandbox, &own);
    let sessions = |place: usize| files(own[place], &[]).len();
    let before = (sessions(0), sessions(1));
    for arguments in [
        &["fork", "--", "-five"][..],
        &["branch", "--", "-five:a3"],
        &["fork", "../../../one"],
        &["branch", "../../../one:../../a2"],
    ] {
        let said = harmless(&home.output(arguments), arguments);
        assert!(said.contains("Written to"), "{arguments:?}: {said}");
    }
    assert_eq!((sessions(0), sessions(1)), (before.0 + 2, before.1 + 2));
    assert_eq!(files(sandbox, &own), outside);
}
