//! What the first Codex wrote: one document for each session, of the shape that its versions
//! 0.1.2504172351, 0.1.2505172129 and 0.1.2505291658 wrote here.

use std::path::Path;

use serde_json::{Value, json};

use crate::codex::Codex;
use crate::model::{Facts, Fold, Placement, SessionFacts, SourcePart};
use crate::{Format, SourceFacts};

const FILE: &str = "rollout-2025-05-17-0af3af15-7a69-40ba-b7e3-7214a2bc3ed6.json";

/// The document as Codex writes it, header first; its items on one line each, or indented.
fn document(items: &Value, is_indented: bool) -> String {
    let header = json!({
        "timestamp": "2025-05-17T09:30:00.000Z",
        "id": "0af3af15-7a69-40ba-b7e3-7214a2bc3ed6",
        "instructions": "Answer in verse."
    });
    match is_indented {
        true => format!("{{\n  \"session\": {header:#},\n  \"items\": {items:#}\n}}"),
        false => format!("{{\"session\":{header},\"items\":{items}}}"),
    }
}

fn items() -> Value {
    let says = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    json!([
        says("user", "input_text", "Which birds are here?"),
        {"type": "reasoning", "id": "rs_1", "duration_ms": 288,
            "summary": [{"type": "summary_text", "text": "Look into the folder."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "shell",
            "arguments": "{\"command\":[\"ls\",\"birds\"]}"},
        {"type": "function_call_output", "call_id": "call_1",
            "output": "{\"output\":\"no birds\\n\",\"metadata\":{\"exit_code\":2}}"},
        says("assistant", "output_text", "None [\"at\"] {all}.")
    ])
}

/// What each record says, with its bytes and text, and what they say of the session.
fn read(bytes: &[u8]) -> (Vec<(Facts, String, Vec<String>)>, SessionFacts) {
    let (mut fold, mut entries) = (Fold::default(), Vec::new());
    for at in Codex.elements(Path::new(FILE), bytes).unwrap() {
        let record = &bytes[at];
        let mut facts = Codex.facts(record);
        Codex.relate(&mut fold, record, &mut facts);
        Codex.fold(&mut fold, &facts);
        let passages = Codex.passages(record).into_iter();
        let texts = passages.flat_map(|passage| passage.pieces).collect();
        let record = String::from_utf8_lossy(record).into_owned();
        entries.push((facts, record, texts));
    }
    let Placement::Source { unlisted, .. } = Codex.place(Path::new(FILE), false) else {
        panic!("it is a source");
    };
    let session = Codex.session(&[SourceFacts {
        relative: Path::new(FILE),
        mtime_ms: 7,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: unlisted.as_deref(),
        problems: (0, None),
    }]);
    (entries, session)
}

#[test]
fn a_document_holds_a_header_and_items() {
    for is_indented in [true, false] {
        let text = document(&items(), is_indented);
        let (entries, session) = read(text.as_bytes());
        let kinds: Vec<&str> = entries.iter().map(|(facts, ..)| &*facts.kind).collect();
        let wanted = "session_meta message reasoning function_call function_call_output message";
        assert_eq!(kinds.join(" "), wanted);
        let texts: Vec<&str> = entries
            .iter()
            .flat_map(|(.., texts)| texts)
            .map(|t| &**t)
            .collect();
        for text in [
            "Which birds are here?",
            "Look into the folder.",
            "no birds\n",
        ] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }
        let prompts = Codex.prompts_at(Path::new(FILE), entries[0].1.as_bytes());
        assert_eq!(prompts, ["Answer in verse."]);
        assert!(entries[4].0.is_error && !entries[5].0.is_error);

        assert_eq!(session.id, "0af3af15-7a69-40ba-b7e3-7214a2bc3ed6");
        assert_eq!(
            session.first_message.as_deref(),
            Some("Which birds are here?")
        );
        assert_eq!(session.typed.as_deref(), Some("Which birds are here?"));
        assert_eq!((session.message_count, session.error_count), (2, 1));
        assert_eq!(
            session.created_raw.as_deref(),
            Some("2025-05-17T09:30:00.000Z")
        );
        assert_eq!(Some(session.modified_ms), session.created_ms);
        assert_eq!(
            session.hidden.as_deref(),
            Some("a document of Codex's first versions")
        );
    }
}

#[test]
fn a_document_without_items_has_a_header_still() {
    let (entries, session) = read(document(&json!([]), false).as_bytes());
    assert_eq!(entries.len(), 1);
    assert_eq!((session.message_count, session.first_message), (0, None));
    assert_eq!(session.id, "0af3af15-7a69-40ba-b7e3-7214a2bc3ed6");
}

#[test]
fn another_document_is_none_of_codex() {
    for other in [
        "{\"items\":[]}",
        "[]",
        "{\"session\":{",
        "",
        "{\"session\":{},\"items\":7}",
    ] {
        assert_eq!(
            Codex.elements(Path::new(FILE), other.as_bytes()),
            None,
            "{other}"
        );
    }
    for name in ["sessions.json", "config.json", "history.json"] {
        let place = Codex.place(Path::new(name), false);
        assert!(matches!(place, Placement::Ignore(_)), "{name}");
    }
}

#[test]
fn no_command_resumes_a_document() {
    let of = |reason| crate::resumes_unlisted("codex", reason, false);
    assert!(of("codex exec ran it") && !of("a document of Codex's first versions"));
}
