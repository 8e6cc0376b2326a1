//! Single events, and sessions of a few of them.

use serde_json::{Value, json};

use super::{event, read, related};
use crate::Format;
use crate::copilot::Copilot;
use crate::model::Class::{self, Output, Prose};

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
