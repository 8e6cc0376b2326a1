//! Single events, and sessions of a few of them.

use std::path::Path;

use serde_json::{Value, json};

use super::{event, read, related};
use crate::copilot::Copilot;
use crate::model::Class::{self, Output, Prose};
use crate::model::{Fold, SourcePart};
use crate::{Format, SourceFacts};

/// A patch is all that its tool is given, or stands in a command.
#[test]
fn patches_name_their_files() {
    let patch = |file: &str| {
        format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n")
    };
    let heredoc = format!("cd sub && apply_patch <<'E'\n{}E", patch("b.rs"));
    let requests = json!([
        {"toolCallId": "1", "name": "apply_patch", "arguments": patch("a.rs")},
        {"toolCallId": "2", "name": "bash", "arguments": {"command": heredoc}},
        {"toolCallId": "3", "name": "bash", "arguments": {"command": "ls"}},
        {"toolCallId": "4", "name": "echo", "arguments": "text"},
    ]);
    let record = event("assistant.message", json!({ "toolRequests": requests })).to_string();
    let facts = Copilot.facts(record.as_bytes());
    let files = facts.files.iter().map(|file| (&*file.path, file.modified));
    let files: Vec<_> = files.collect();
    assert_eq!(files, [("a.rs", true), ("sub/b.rs", true)]);
    let subjects: Vec<_> = facts
        .calls
        .iter()
        .map(|call| call.subject.as_deref())
        .collect();
    assert_eq!(subjects, [Some("a.rs"), Some("sub/b.rs"), Some("ls"), None]);
}

/// The pieces of an event's passages.
fn pieces(event: &Value) -> Vec<(Class, Vec<String>)> {
    let passages = Copilot.passages(event.to_string().as_bytes());
    let pieces = passages.into_iter().map(|of| (of.class, of.pieces));
    pieces.collect()
}

#[test]
fn attachments_are_found() {
    let attachments = json!([
        {"type": "file", "path": "/code/barn.ts", "displayName": "barn.ts"},
        {"type": "directory", "path": "/code/loft", "displayName": "the loft"},
        {"type": "selection", "filePath": "/code/hay.ts", "displayName": "hay.ts", "text": "bales"},
        {"type": "github_reference", "number": 7, "title": "Mend the gate"},
        {"type": "blob", "mimeType": "image/png", "data": "QUJD", "displayName": "b.png"},
        "none",
    ]);
    let message = json!({"content": "Look.", "attachments": attachments});
    let mut asked = event("user.message", message);
    let output = [
        "/code/barn.ts",
        "/code/loft",
        "the loft",
        "/code/hay.ts",
        "bales",
        "Mend the gate",
        "b.png",
    ];
    let [prose, output] = [&["Look."][..], &output].map(|of| of.iter().map(|of| (*of).to_owned()));
    assert_eq!(
        pieces(&asked),
        [(Prose, prose.collect()), (Output, output.collect())]
    );
    asked["agentId"] = json!("kid");
    assert!(pieces(&asked).is_empty());
}

/// What a later version took over from the layout before `session-state`.
#[test]
fn an_imported_session_has_its_first_prompt() {
    let messages = json!([
        {"role": "system", "content": "You are a fixture."},
        {"role": "user", "content": "Oil the old pump."},
        {"role": "assistant", "content": "It runs."},
        {"role": "tool", "content": "squeak"},
    ]);
    let legacy = json!({"legacySession": {"chatMessages": messages}, "sourceFile": "a.json"});
    let imported = event("session.import_legacy", legacy);
    assert_eq!(
        pieces(&imported),
        [
            (
                Prose,
                vec!["Oil the old pump.".to_owned(), "It runs.".to_owned()]
            ),
            (Output, vec!["squeak".to_owned()]),
        ]
    );
    assert_eq!(read("imported").found("Oil the old pump."), 1);
    let (session, entries) = related(&[imported], true);
    assert_eq!(session.typed.as_deref(), Some("Oil the old pump."));
    assert!(!entries[0].silent && Copilot.knows(&entries[0].kind));
}

/// Chat messages in the form of OpenAI's have lists of parts, or no text.
#[test]
fn an_imported_session_may_begin_with_parts() {
    let prompt = json!([{"type": "image_url"}, {"type": "text", "text": "Oil the pump."}]);
    for first in [
        json!(null),
        json!(""),
        json!([]),
        json!([1]),
        prompt.clone(),
    ] {
        let messages = json!([
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": first},
            {"role": "user", "content": prompt},
        ]);
        let legacy = json!({"legacySession": {"chatMessages": messages}});
        let (session, _) = related(&[event("session.import_legacy", legacy)], true);
        assert_eq!(session.typed.as_deref(), Some("Oil the pump."), "{first}");
    }
}

/// Versions before 1.0.86 tell a command's exit code in the last line of what it gave back alone.
#[test]
fn exit_codes_of_versions_that_write_them_as_text() {
    let is_error = |content: &str, more: Value| {
        let mut data = json!({"toolCallId": "c", "success": true, "result": {"content": content}});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let record = event("tool.execution_complete", data).to_string();
        let facts = Copilot.facts(record.as_bytes());
        assert_eq!(facts.calls[0].is_error, Some(facts.is_error));
        facts.is_error
    };
    for (content, expected) in [
        ("x\n<exited with exit code 3>", true),
        ("<exited with exit code -1>", true),
        ("x\n<shellId: 0 completed with exit code 5>", true),
        ("x\n<command with id: s1 exited with exit code 4>", true),
        ("x\n<exited with exit code 0>", false),
        ("x\n<shellId: 0 completed with exit code 0>", false),
        ("<exited with exit code 3>\nand more", false),
        ("it says <exited with exit code 3>", false),
        ("<a page with exit code 3>", false),
        ("<exited with exit code three>", false),
        ("", false),
    ] {
        assert_eq!(is_error(content, json!({})), expected, "{content}");
    }
    // Where the event itself says it, the text does not count.
    let told = json!({"shellExecution": {"exitCode": 0}});
    assert!(!is_error("<exited with exit code 3>", told));
}

/// A file, a page or a subagent's answer may end as what a shell gives does. Whose answer it is
/// says its call; some providers number the calls of each answer.
#[test]
fn only_what_shells_give_ends_with_an_exit_code() {
    let called = |tool: &str| {
        let request = json!([{"toolCallId": "c", "name": tool, "arguments": {"path": "a"}}]);
        event("assistant.message", json!({"toolRequests": request}))
    };
    let answered = |more: Value| {
        let result = json!({"content": "x\n<exited with exit code 3>"});
        let mut data = json!({"toolCallId": "c", "success": true, "result": result});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event("tool.execution_complete", data)
    };
    for (tool, more, expected) in [
        ("view", json!({}), false),
        ("view", json!({"success": false}), true),
        ("bash", json!({}), true),
        ("read_powershell", json!({}), true),
        ("github-mcp-get_file", json!({}), false),
    ] {
        // What was answered before under the same id is forgotten.
        let events = [
            called("view"),
            answered(json!({})),
            called(tool),
            answered(more),
        ];
        let (session, entries) = related(&events, true);
        let last = entries.last().unwrap();
        assert_eq!(last.is_error, expected, "{tool}");
        assert_eq!(last.calls[0].is_error, Some(expected), "{tool}");
        assert_eq!(session.error_count, u64::from(expected), "{tool}");
    }
    // Nothing says what was called.
    let (session, _) = related(&[answered(json!({}))], true);
    assert_eq!(session.error_count, 1);
}

/// The autopilot goes on by a message without text, which 1.0.12 marks in no other way.
#[test]
fn continuations_of_the_autopilot_are_silent() {
    let sent = |data: Value| event("user.message", data);
    let image = json!([{"type": "file", "path": "/a.png", "mimeType": "image/png"}]);
    let (session, entries) = related(
        &[
            sent(json!({"content": "Work alone", "agentMode": "autopilot"})),
            sent(json!({"content": "", "attachments": [], "agentMode": "autopilot"})),
            sent(json!({"content": "", "source": "autopilot", "isAutopilotContinuation": true})),
            sent(json!({"content": "", "attachments": image})),
            sent(json!({"content": "Go on", "isAutopilotContinuation": true})),
        ],
        true,
    );
    assert_eq!(session.message_count, 2);
    assert_eq!(session.first_message.as_deref(), Some("Work alone"));
    let seen = entries.iter().map(|of| (of.role.as_deref(), of.silent));
    let (user, injected) = (Some("user"), Some("injected"));
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            (user, false),
            (injected, true),
            (injected, true),
            (user, false),
            (injected, false),
        ]
    );
}

/// A session of images alone is called as one of Codex's; a text is its title where there is one.
#[test]
fn a_session_may_begin_with_an_image() {
    let attachments = json!([{"type": "file", "path": "/a.png", "mimeType": "image/png"}]);
    let image = event(
        "user.message",
        json!({"content": "", "attachments": attachments}),
    );
    let text = event("user.message", json!({"content": "What is it?"}));
    for (events, expected) in [
        (vec![image.clone()], "[Image]"),
        (vec![image, text], "What is it?"),
    ] {
        let (session, _) = related(&events, true);
        assert_eq!(session.first_message.as_deref(), Some(expected));
        assert_eq!(session.typed.as_deref(), Some(expected));
    }
}

/// What broke a turn off is shown, as Codex's is; a model's calls around a compaction are not.
#[test]
fn events_that_only_some_versions_write() {
    let read = |kind: &str, data: Value| {
        assert!(Copilot.knows(kind), "{kind}");
        Copilot.facts(event(kind, data).to_string().as_bytes())
    };
    let aborted = read("abort", json!({"reason": "user_initiated"}));
    assert_eq!(aborted.stop_reason.as_deref(), Some("user_initiated"));
    assert!(!aborted.silent && !aborted.is_error);
    let messages = json!({"messages": [{"role": "system", "content": "You are"}]});
    assert!(read("model.messages_snapshot", messages).silent);
    assert!(read("factory.run_updated", json!({})).silent);
    assert!(!Copilot.knows("models.unheard"));
    // What subagents were called before.
    let failed = event("custom_agent.failed", json!({"error": "It fell."}));
    let (session, entries) = related(
        &[
            event("custom_agent.started", json!({"toolCallId": "c"})),
            failed.clone(),
        ],
        true,
    );
    let own: Value = serde_json::from_str(&session.own.unwrap()).unwrap();
    assert_eq!((&own["subagents"], session.error_count), (&json!(1), 1));
    assert!(entries[0].silent && !entries[1].silent);
    assert_eq!(pieces(&failed), [(Output, vec!["It fell.".to_owned()])]);
}

/// A long first prompt is cut where it stands as a name or a summary, and still is no name.
#[test]
fn a_cut_prompt_is_no_name() {
    let yaml = Path::new("a/workspace.yaml");
    let prompt = "Why does the\nquince pump rattle?";
    let mut events = Fold::default();
    let asked = event("user.message", json!({ "content": prompt })).to_string();
    Copilot.fold(&mut events, &Copilot.facts(asked.as_bytes()));
    let read = |text: &str| {
        let mut workspace = Fold::default();
        Copilot.fold(&mut workspace, &Copilot.facts_at(yaml, text.as_bytes()));
        let source = |fold, relative, part| SourceFacts {
            relative,
            mtime_ms: 0,
            fold,
            part,
            unlisted: None,
            problems: (0, None),
        };
        let session = Copilot.session(&[
            source(&events, Path::new("a/events.jsonl"), SourcePart::Main),
            source(&workspace, yaml, SourcePart::Side),
        ]);
        let found = Copilot.passages_at(yaml, text.as_bytes()).len();
        (session.name, found)
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(read("summary: Why does the quince pu...\n"), (None, 0));
    assert_eq!(read("name: Why does the quince...\n"), (None, 0));
    assert_eq!(read("name: Why does the quince ...\n"), (None, 0));
    for other in [
        "Why does the ounce...",
        "Rattling pump",
        "Why does the pu...",
    ] {
        assert_eq!(read(&format!("name: {other}\n")), (named(other), 0));
    }
    assert_eq!(
        read("summary: Rattling pump\n"),
        (named("Rattling pump"), 1)
    );
    // As long as no model's name is.
    let long = "pump ".repeat(21);
    assert_eq!(read(&format!("summary: {long}\n")).1, 0);
    let given = "name: Why does the quince pu...\nuser_named: true\n";
    assert_eq!(read(given), (named("Why does the quince pu..."), 1));
}
