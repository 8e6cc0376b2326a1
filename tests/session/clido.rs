//! clido's lines: written as clido writes them, read as strictly or past what it refuses, resumed,
//! forked.

use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde_json::json;
use sessionary::session::clido::{
    SessionLine, SessionReader, SessionWriter, fork, redact, resume, stale_files,
};

use super::{Place, read};

#[test]
fn every_kind_of_line_is_written_as_clido_writes_it() {
    let place = Place::new();
    let path = place.folder.path().join("clido/sessions/_w/id.jsonl");
    let clock = &*place.setup.clock;
    let mut writer = SessionWriter::create(&path, "id", "/w", clock).expect("new");
    assert!(
        SessionWriter::create(&path, "id", "/w", clock).is_err(),
        "it is there"
    );
    let lines = [
        SessionLine::user("é \"x\""),
        SessionLine::AssistantMessage {
            content: vec![
                json!({"type": "tool_use", "name": "Write", "id": "t1", "input": {"b": 1, "a": 1.5}}),
            ],
        },
        SessionLine::ToolCall {
            tool_use_id: "t1".to_owned(),
            tool_name: "Write".to_owned(),
            input: json!({"b": 1, "a": 1.5}),
        },
        SessionLine::ToolResult {
            tool_use_id: "t1".to_owned(),
            content: "ok".to_owned(),
            is_error: false,
            duration_ms: Some(8),
            path: Some("/w/x".to_owned()),
            content_hash: Some("ab".to_owned()),
            mtime_nanos: None,
        },
        SessionLine::System {
            subtype: "info".to_owned(),
            message: None,
        },
        SessionLine::Result {
            exit_status: "success".to_owned(),
            total_cost_usd: 0.0,
            num_turns: 1,
            duration_ms: 20,
        },
        SessionLine::Title {
            title: "t".to_owned(),
        },
    ];
    for line in &lines {
        writer.write_line(line).expect("written");
    }
    let expected = [
        r#"{"type":"meta","session_id":"id","schema_version":1,"start_time":"2026-01-05T09:00:00.250+00:00","project_path":"/w"}"#,
        r#"{"type":"user_message","role":"user","content":[{"text":"é \"x\"","type":"text"}]}"#,
        r#"{"type":"assistant_message","content":[{"id":"t1","input":{"a":1.5,"b":1},"name":"Write","type":"tool_use"}]}"#,
        r#"{"type":"tool_call","tool_use_id":"t1","tool_name":"Write","input":{"a":1.5,"b":1}}"#,
        r#"{"type":"tool_result","tool_use_id":"t1","content":"ok","is_error":false,"duration_ms":8,"path":"/w/x","content_hash":"ab"}"#,
        r#"{"type":"system","subtype":"info"}"#,
        r#"{"type":"result","exit_status":"success","total_cost_usd":0.0,"num_turns":1,"duration_ms":20}"#,
        r#"{"type":"title","title":"t"}"#,
    ];
    assert_eq!(read(&path), expected.join("\n") + "\n");
    let read_back: Result<Vec<_>, _> = SessionReader::open(&path).expect("there").collect();
    assert_eq!(read_back.expect("lines")[1..], lines);
}

#[test]
fn secrets_are_left_out_unless_they_are_wanted() {
    for (text, written) in [
        ("key sk-ant-a1_b.c+d/e-f!", "key sk-ant-[REDACTED]!"),
        (
            "sk-proj-x sk-or-y sk-z AKIA1",
            "sk-proj-[REDACTED] sk-or-[REDACTED] sk-[REDACTED] AKIA[REDACTED]",
        ),
        (
            "task-sk-list is risk-free",
            "task-[REDACTED] is risk-[REDACTED]",
        ),
        ("sk- and sk-ant-", "sk- and sk-ant-"),
    ] {
        assert_eq!(redact(text), written);
    }
    let place = Place::new();
    let path = place.folder.path().join("id.jsonl");
    let mut writer = SessionWriter::create(&path, "id", "/sk-w", &*place.setup.clock).expect("new");
    writer
        .write_line(&SessionLine::user("sk-1"))
        .expect("written");
    writer.redacts = false;
    writer
        .write_line(&SessionLine::user("sk-2"))
        .expect("written");
    let text = read(&path);
    assert!(text.contains("/sk-w") && text.contains("sk-[REDACTED]") && text.contains("sk-2"));
}

#[test]
fn what_clido_refuses_ends_a_strict_reader_only() {
    let place = Place::new();
    let meta = r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"x","project_path":"/w"}"#;
    let path = place.file(format!(
        "{meta}\r\n\n{{\"type\":\"later\",\"n\":1}}\nnot json\n{{\"type\":\"title\"}}\n{}\n{{\"type\":\"title\",\"title\":\"t\"}}",
        meta.replace("\"schema_version\":1", "\"schema_version\":2")
    ));
    let strict: Vec<_> = SessionReader::open(&path).expect("there").collect();
    assert_eq!(strict.len(), 2);
    assert_eq!(strict[1].as_ref().map_err(|bad| bad.line), Err(3));
    let lenient: Vec<_> = SessionReader::open_lenient(&path).expect("there").collect();
    assert_eq!(lenient.len(), 6);
    assert!(matches!(&lenient[1], Ok(SessionLine::Other(json)) if json.as_str().contains("later")));
    assert_eq!(lenient[2].as_ref().map_err(|bad| bad.line), Err(4));
    assert!(matches!(&lenient[3], Err(bad) if bad.reason.contains("title")));
    assert!(matches!(
        &lenient[4],
        Ok(SessionLine::Meta {
            schema_version: 2,
            ..
        })
    ));
    // A line without an end is ended before the next one.
    let mut writer = SessionWriter::append_to(&path).expect("there");
    writer.write_line(&SessionLine::user("x")).expect("written");
    assert_eq!(
        SessionReader::open_lenient(&path).expect("there").count(),
        7
    );
    assert!(read(&path).contains("\"t\"}\n{\"type\":\"user_message\""));
}

#[test]
fn a_session_is_resumed_with_an_answer_to_every_call() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let result = |id: &str| SessionLine::ToolResult {
        tool_use_id: id.to_owned(),
        content: "ok".to_owned(),
        is_error: false,
        duration_ms: None,
        path: None,
        content_hash: None,
        mtime_nanos: None,
    };
    let lines = [
        SessionLine::user("a"),
        SessionLine::AssistantMessage {
            content: vec![call("1"), call("2"), call("3")],
        },
        result("1"),
        SessionLine::Title {
            title: "t".to_owned(),
        },
        result("3"),
        SessionLine::assistant("b"),
        SessionLine::AssistantMessage {
            content: vec![call("4")],
        },
    ];
    let messages = resume(&lines).expect("known blocks");
    let roles: Vec<_> = messages.iter().map(|m| (m.role, m.content.len())).collect();
    assert_eq!(
        roles,
        [
            ("user", 1),
            ("assistant", 3),
            ("user", 3),
            ("assistant", 1),
            ("assistant", 1),
            ("user", 1)
        ]
    );
    assert_eq!(messages[2].content[2]["tool_use_id"], "2");
    assert_eq!(messages[5].content[0]["is_error"], true);
    let strange = SessionLine::AssistantMessage {
        content: vec![json!({"type": "video"})],
    };
    assert!(resume(&[strange]).is_err());
}

#[test]
fn files_that_changed_since_are_named() {
    let place = Place::new();
    let file = place.folder.path().join("x");
    fs::write(&file, "abc").expect("written");
    let mtime = || {
        let modified = fs::metadata(&file)
            .expect("there")
            .modified()
            .expect("its time");
        modified
            .duration_since(UNIX_EPOCH)
            .expect("after it")
            .as_nanos() as u64
    };
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let record = |hash: String, mtime: u64, path: &std::path::Path| {
        [SessionLine::ToolResult {
            tool_use_id: "t".to_owned(),
            content: String::new(),
            is_error: false,
            duration_ms: None,
            path: Some(path.to_string_lossy().into_owned()),
            content_hash: Some(hash),
            mtime_nanos: Some(mtime),
        }]
    };
    for hash in [hash.to_owned(), format!("sha256:{hash}")] {
        assert_eq!(stale_files(&record(hash, mtime(), &file)), []);
    }
    assert_eq!(stale_files(&record(hash.to_owned(), 1, &file)).len(), 1);
    assert_eq!(
        stale_files(&record("00".to_owned(), mtime(), &file)).len(),
        1
    );
    let gone = file.with_file_name("gone");
    assert_eq!(stale_files(&record(hash.to_owned(), 1, &gone)).len(), 1);
}

/// A session `a` with one question, as it is, and where a fork of it may go.
fn to_fork(place: &Place, question: &str) -> (PathBuf, PathBuf) {
    let [old, new] = ["a.jsonl", "b.jsonl"].map(|name| place.folder.path().join(name));
    let mut writer = SessionWriter::create(&old, "a", "/w", &*place.setup.clock).expect("new");
    writer.redacts = false;
    let line = SessionLine::user(question);
    writer.write_line(&line).expect("written");
    (old, new)
}

#[test]
fn a_fork_has_both_first_lines() {
    let place = Place::new();
    let (old, new) = to_fork(&place, "sk-kept");
    let before = read(&old);
    fork(&old, &new, "b", "/w", &*place.setup.clock).expect("a fork");
    assert_eq!(read(&old), before);
    assert!(read(&new).ends_with(&before));
    let ids: Vec<_> = SessionReader::open(&new)
        .expect("there")
        .map(|line| match line.expect("a line") {
            SessionLine::Meta { session_id, .. } => session_id,
            _ => String::new(),
        })
        .collect();
    assert_eq!(ids, ["b", "a", ""]);
}

#[test]
fn what_is_torn_is_not_forked() {
    let place = Place::new();
    let (old, new) = to_fork(&place, "hi");
    let whole = std::fs::read(&old).expect("its bytes");
    std::fs::write(&old, &whole[..whole.len() - 4]).expect("torn");
    let refused = fork(&old, &new, "b", "/w", &*place.setup.clock).expect_err("torn");
    assert!(refused.to_string().contains("torn"), "{refused}");
    assert!(!new.exists());
    // A line that lacks its end alone is whole.
    std::fs::write(&old, &whole[..whole.len() - 1]).expect("no end");
    fork(&old, &new, "b", "/w", &*place.setup.clock).expect("a fork");
    assert!(std::fs::read(&new).expect("its bytes").ends_with(&whole));
}
