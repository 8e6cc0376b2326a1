//! Does `secrets` name every session and entry that holds a key, and never the key?

use serde_json::{Value, json};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const OTHER: &str = "ghp_9876543210abcdefghijABCDEFGHIJ456789";
const PASSWORD: &str = "q7Zr2LmV9xTb4";
const AT: &str = "2026-01-02T09:00:00.000Z";

/// One session with keys in its title, an output and a branch that was given up; one without.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let typed = format!("deploy with {TOKEN}, {OTHER} and again {TOKEN}");
    let url = format!("postgres://ada:{PASSWORD}@db:5432/parser");
    let said = [
        ("user", typed.as_str()),
        ("assistant", "Deployed."),
        ("toolResult", url.as_str()),
    ];
    pi_session(&home, "0199aaaa-with", "code/parser", AT, &said);
    let path = home
        .home
        .join(".pi/agent/sessions/--x--/0199aaaa-with.jsonl");
    let mut file = std::fs::read_to_string(&path).unwrap();
    for (id, text) in [("given", TOKEN), ("other", "no key here")] {
        let text = json!([{"type": "text", "text": text}]);
        let line = json!({"type": "message", "id": id, "parentId": "e1", "timestamp": AT,
            "message": {"role": "assistant", "content": text}});
        file.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, file).unwrap();
    let said = [("user", "the key is under the mat"), ("assistant", "ghp_")];
    pi_session(&home, "0199bbbb-without", "code/mat", AT, &said);
    home
}

/// What an advisor took is an entry of its own behind the answer, which says nothing.
#[test]
fn what_has_no_bytes_is_not_looked_through() {
    let home = Sandbox::new();
    let id = "5e550000-0000-4000-8000-000000000001";
    let iterations = json!([{"type": "advisor_message", "model": "opus", "input_tokens": 9}]);
    let answer = json!({"id": "m", "role": "assistant", "model": "sonnet",
        "content": [{"type": "text", "text": "Oak."}],
        "usage": {"input_tokens": 4, "output_tokens": 5, "iterations": iterations}});
    let line = json!({"type": "assistant", "uuid": "a1", "parentUuid": null, "sessionId": id,
        "cwd": "/w", "timestamp": AT, "message": answer});
    let path = format!(".claude/projects/-w/{id}.jsonl");
    home.write(&path, &format!("{line}\n"));
    let looked = home.json(&["secrets", "--json"]);
    assert_eq!(looked["searched"], json!({"sessions": 1, "entries": 1}));
    let all = home.json(&["sql", "SELECT entries FROM sessions", "--json"]);
    assert_eq!(all["rows"], json!([[2]]));
}

/// No form of the answer repeats a value.
fn says_nothing(said: &str) {
    for value in [TOKEN, &TOKEN[4..], &OTHER[4..], PASSWORD] {
        assert!(!said.contains(value), "{said}");
    }
}

#[test]
fn sessions_and_entries_are_named_by_rule_and_values_are_not() {
    let home = home();
    let said = home.run(&["secrets"]);
    says_nothing(&said);
    insta::assert_snapshot!(said, @r#"
    0199aaaa  pi  ~/code/parser  deploy with ghp_[redacted], ghp_[redacted] and again ghp_[redacted]
      0199aaaa:e0  user  GitHub ×2
      0199aaaa:e2  toolResult  password or token in a URL
      0199aaaa:given  assistant  GitHub
    --- stderr
    2 sessions with 9 entries looked through: 3 entries in 1 session hold keys or tokens, which are not shown.
    --- exit Some(1)
    "#);

    let output = home.output(&["secrets", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    says_nothing(&String::from_utf8_lossy(&output.stdout));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["searched"], json!({"sessions": 2, "entries": 9}));
    assert_eq!(answer["complete"], true);
    let sessions = answer["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{answer}");
    let held: Vec<(&Value, &Value)> = sessions[0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["id"], &entry["secrets"]))
        .collect();
    let url = json!({"password or token in a URL": 1});
    let expected = [
        (&json!("e0"), &json!({"GitHub": 2})),
        (&json!("e2"), &url),
        (&json!("given"), &json!({"GitHub": 1})),
    ];
    assert_eq!(held, expected, "{answer}");
    // Each is what `show` takes.
    let id = sessions[0]["session"]["id"].as_str().unwrap();
    for (entry, _) in held {
        let address = format!("{id}:{}", entry.as_str().unwrap());
        assert!(
            home.output(&["show", &address]).status.success(),
            "{address}"
        );
    }
}

#[test]
fn nothing_reveals_a_value() {
    let home = home();
    for arguments in [
        &["secrets", "--reveal"][..],
        &["secrets", "--reveal", "--json"],
        &["secrets", "--project", TOKEN],
        &["secrets", "--agent", TOKEN],
    ] {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        says_nothing(&said);
    }
}

#[test]
fn without_any_it_ends_well_and_says_what_was_read() {
    let home = home();
    let said = home.run(&["secrets", "--project", "mat"]);
    insta::assert_snapshot!(said, @r#"
    --- stderr
    1 session with 3 entries looked through: no key or token that the rules know.
    "#);
    assert_eq!(
        home.output(&["secrets", "--project", "mat"]).status.code(),
        Some(0)
    );
    // Where nothing is there to read nothing is known.
    insta::assert_snapshot!(home.run(&["secrets", "--agent", "clido"]), @r#"
    --- stderr
    error: nothing was looked through: there is no session like that
    hint: `sessionary list --all` shows every session
    --- exit Some(2)
    "#);
    let output = home.output(&["secrets", "--agent", "clido", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["searched"], json!({"sessions": 0, "entries": 0}));
    insta::assert_snapshot!(home.run(&["secrets", "--since", "soon"]), @r#"
    --- stderr
    error: --since soon: not a time
    hint: for example 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026-10 or 2026-10-05
    --- exit Some(2)
    "#);
}

/// A session of pi's with these lines behind its first.
fn session(home: &Sandbox, id: &str, cwd: &str, lines: &[String]) {
    let first = json!({"type": "session", "version": 3, "id": id, "timestamp": AT, "cwd": cwd});
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = format!(".pi/agent/sessions/--y--/{id}.jsonl");
    home.write(&path, &format!("{first}\n{lines}"));
}

fn message(id: &str, role: &str, content: Value) -> String {
    json!({"type": "message", "id": id, "parentId": null, "timestamp": AT,
        "message": {"role": role, "content": content}})
    .to_string()
}

/// The entries that hold any, and each rule with its number.
fn held(home: &Sandbox) -> Vec<(String, Value)> {
    let output = home.output(&["secrets", "--json"]);
    says_nothing(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sessions = answer["sessions"].as_array().unwrap().iter();
    let entries = sessions.flat_map(|session| session["entries"].as_array().unwrap());
    let held = entries.map(|entry| {
        (
            entry["id"].as_str().unwrap().into(),
            entry["secrets"].clone(),
        )
    });
    held.collect()
}

#[test]
fn prompts_names_and_keys_that_only_their_name_tells_are_read() {
    let home = Sandbox::new();
    let id = "019b8d5e-7c80-7000-8000-000000000001";
    let line =
        |kind: &str, payload: Value| json!({"timestamp": AT, "type": kind, "payload": payload});
    let instructions = format!("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nuse {TOKEN}\n");
    let said = |text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "message", "role": "user", "content": content})
    };
    let base = json!({"text": format!("You deploy with {TOKEN}.")});
    let header = json!({"id": id, "timestamp": AT, "cwd": "/x", "originator": "codex_cli_rs",
        "cli_version": "0.169.0", "source": "cli", "base_instructions": base});
    let lines = [
        line("session_meta", header),
        line("response_item", said("Deploy it.")),
        line("response_item", said(&instructions)),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = format!(".codex/sessions/2026/01/02/rollout-2026-01-02T09-00-00-{id}.jsonl");
    home.write(&path, &lines);
    let one = json!({"GitHub": 1});
    let expected = [("L1", &one), ("L3", &one)].map(|(id, rules)| (id.to_owned(), rules.clone()));
    assert_eq!(held(&home), expected);

    let home = Sandbox::new();
    let call = json!([{"type": "toolCall", "id": "c1", "name": "login", "arguments":
        {"user": "ada", "password": PASSWORD}}]);
    let named = json!({"type": "session_info", "id": "n1", "parentId": null, "timestamp": AT, "name": TOKEN});
    let label = json!({"type": "label", "id": "l1", "parentId": null, "timestamp": AT,
        "targetId": "a1", "label": TOKEN});
    let lines = [
        message("a1", "assistant", call),
        named.to_string(),
        label.to_string(),
    ];
    session(&home, "0199cccc-named", "/x", &lines);
    let found = held(&home);
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["a1", "n1", "l1"], "{found:?}");
    assert_eq!(found[0].1, json!({"value of a secret's name": 1}));
}

/// Claude Code keeps the file as it was beside what it says of an edit; a picture is no text.
#[test]
fn what_stands_beside_what_was_said_is_read() {
    let home = Sandbox::new();
    let edited = json!({"originalFile": format!("deploy = \"{TOKEN}\"\n"), "filePath": "/x/a"});
    let picture = format!("{}-sk-{}", "A/".repeat(3000), "B1c2".repeat(12));
    let line = |uuid: &str, content: Value, twin: Value| {
        json!({"type": "user", "uuid": uuid, "parentUuid": null, "timestamp": AT,
            "sessionId": "7f000000-0000-4000-8000-000000000001", "cwd": "/x", "version": "2.1.0",
            "message": {"role": "user", "content": content}, "toolUseResult": twin})
    };
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "edited"}]);
    let source = json!({"type": "base64", "data": picture});
    let lines = [
        line("e1", result, edited),
        line(
            "p1",
            json!([{"type": "image", "source": source}]),
            Value::Null,
        ),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let name = "7f000000-0000-4000-8000-000000000001.jsonl";
    home.write(&format!(".claude/projects/-x/{name}"), &lines);
    assert_eq!(held(&home), [("e1".to_owned(), json!({"GitHub": 1}))]);
}

#[test]
fn what_is_no_entry_is_looked_through_to_its_end() {
    let home = home();
    assert!(home.output(&["sync"]).status.success());
    let path = home
        .home
        .join(".pi/agent/sessions/--x--/0199aaaa-with.jsonl");
    let mut file = std::fs::read_to_string(&path).unwrap();
    let start = file.len();
    // Behind what `show` shows of such bytes, across what is read at once, and at the end.
    let far = "no JSON ".repeat(100);
    let across = "no JSON ".repeat((1 << 17) - 101);
    file.push_str(&format!("{far}{TOKEN} {across}{OTHER} {far}{TOKEN}x\n"));
    std::fs::write(&path, file).unwrap();
    let found = held(&home);
    let (id, rules) = found.last().unwrap();
    assert_eq!(*id, format!("@{start}"), "{found:?}");
    assert_eq!(*rules, json!({"GitHub": 3}));
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn nothing_that_is_printed_holds_a_key_but_ids_and_paths() {
    let home = Sandbox::new();
    home.write(".config/sessionary/config.toml", "redact = \"never\"\n");
    let (half, rest) = TOKEN.split_at(20);
    let title = format!("is \u{1b}]8;;https://a.b\u{1b}\\{half}\u{1b}]8;;\u{1b}\\{rest} it");
    let kind = json!({"type": TOKEN, "id": "k1", "parentId": null, "timestamp": AT, "said": TOKEN});
    let lines = [
        message("u1", "user", json!(title)),
        message("r1", TOKEN, json!([{"type": "text", "text": TOKEN}])),
        kind.to_string(),
    ];
    session(&home, "0199cccc-odd", &format!("/srv/{TOKEN}/app"), &lines);
    let said = home.run(&["secrets", "--reveal"]);
    says_nothing(&said);
    assert!(!said.contains(rest), "{said}");
    insta::assert_snapshot!(said, @r#"
    0199cccc-odd  pi  /srv/ghp_[redacted]/app  is ␛]8;;https://a.b␛\ghp_[redacted] it
      0199cccc-odd:0199cccc-odd  session  GitHub
      0199cccc-odd:u1  user  GitHub
      0199cccc-odd:r1  ghp_[redacted]  GitHub
      0199cccc-odd:k1  ghp_[redacted]  GitHub
    --- stderr
    1 session with 4 entries looked through: 4 entries in 1 session hold keys or tokens, which are not shown.
    --- exit Some(1)
    "#);
    let json = home.output(&["secrets", "--reveal", "--json"]).stdout;
    let json = String::from_utf8(json).unwrap();
    says_nothing(&json);
    assert!(!json.contains(rest), "{json}");
    let answer: Value = serde_json::from_str(&json).unwrap();
    let entries = answer["sessions"][0]["entries"].as_array().unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (&entry["role"], &entry["kind"]))
        .collect();
    assert_eq!(told.len(), 4, "{answer}");
    assert_eq!(told[2].0, "ghp_[redacted]", "{answer}");
    assert_eq!(told[3].1, "ghp_[redacted]", "{answer}");
    assert_eq!(
        answer["sessions"][0]["session"]["cwd"],
        "/srv/ghp_[redacted]/app"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_read_is_no_proof() {
    use std::os::unix::ffi::OsStrExt;
    let home = Sandbox::new();
    let said = [("user", "the key is under the mat")];
    pi_session(&home, "0199bbbb-without", "code/mat", AT, &said);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.jsonl");
    std::fs::write(
        home.home.join(".pi/agent/sessions/--x--").join(name),
        "{}\n",
    )
    .unwrap();
    let said = home.run(&["secrets"]);
    insta::assert_snapshot!(said, @r#"
    --- stderr
    $HOME/.pi/agent/sessions/--x--/caf\xE9.jsonl: its name is not UTF-8; rename it to have it read
    1 session with 2 entries looked through: no key or token that the rules know.
    This answer is incomplete, as some files could not be read: `sessionary sql "SELECT * FROM problems WHERE what IN ('unread', 'root')"` lists them.
    error: not everything was looked through, and nothing found in the rest
    --- exit Some(2)
    "#);
    // Where there are any, that is the answer.
    let said = [("user", TOKEN)];
    pi_session(&home, "0199aaaa-with", "code/mat", AT, &said);
    let said = home.run(&["secrets"]);
    assert!(said.contains("1 entry in 1 session holds keys"), "{said}");
    assert!(said.contains("This answer is incomplete"), "{said}");
    assert!(said.ends_with("--- exit Some(1)\n"), "{said}");
}
