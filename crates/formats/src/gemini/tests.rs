//! What a session's header and the kinds of its lines say of the session. What a log of changes says
//! is tested with the index, in `tests/gemini.rs`.

use std::path::Path;

use serde_json::{Value, json};

use super::Gemini;
use crate::model::{Fold, SessionFacts, SourcePart};
use crate::{Format, Record, SourceFacts};

fn folded(file: &str, records: &[&[u8]]) -> Fold {
    let relative = Path::new("aviary/chats").join(file);
    let mut fold = Fold::default();
    for record in records {
        let mut facts = Gemini.facts_at(&relative, record);
        Gemini.relate(&mut fold, Record::of(record), &mut facts);
        Gemini.fold(&mut fold, &facts);
    }
    fold
}

fn source<'a>(relative: &'a Path, fold: &'a Fold) -> SourceFacts<'a> {
    SourceFacts {
        relative,
        mtime_ms: 0,
        fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }
}

fn session(file: &str, records: &[&[u8]]) -> SessionFacts {
    let relative = Path::new("aviary/chats").join(file);
    Gemini.session(&[source(&relative, &folded(file, records))])
}

fn log(records: &[Value]) -> SessionFacts {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    session("session-2026-01-05T09-00-7d1c0a52.jsonl", &lines)
}

fn document(document: &Value) -> SessionFacts {
    let file = "session-2026-01-05T09-00-7d1c0a52.json";
    let bytes = document.to_string().into_bytes();
    let elements = Gemini.elements(Path::new(file), &bytes).unwrap();
    let records: Vec<&[u8]> = elements.into_iter().map(|at| &bytes[at]).collect();
    session(file, &records)
}

fn header(kind: &str) -> Value {
    json!({"sessionId": "7d1c0a52", "projectHash": "5e", "startTime": "2026-01-05T09:00:00.000Z", "kind": kind})
}

fn says(kind: &str, text: &str) -> Value {
    json!({"id": format!("{kind} {text}"), "type": kind, "content": text})
}

#[test]
fn what_the_program_notes_is_no_message() {
    let note = || says("info", "A new version is there.");
    let context = says("user", "<session_context>\nBelow /home/ada.");
    let hidden = |session: SessionFacts| session.hidden;
    let none = Some("no messages".to_owned());
    assert_eq!(hidden(log(&[header("main"), note()])), none);
    assert_eq!(
        hidden(log(&[header("main"), note(), says("error", "No seeds.")])),
        none
    );
    let mut noted = header("main");
    noted["messages"] = json!([note()]);
    assert_eq!(hidden(document(&noted)), none);
    for said in [
        context,
        says("user", "Feed the owl"),
        says("gemini", "Fed."),
    ] {
        assert_eq!(hidden(log(&[header("main"), note(), said])), None);
    }
}

/// The kind stands in the header, or behind the messages of a document.
#[test]
fn subagents_beside_the_other_sessions() {
    let talk = [says("user", "Count the grebes"), says("gemini", "Seven.")];
    let [prompt, answer] = talk.clone();
    let mut whole = header("subagent");
    whole["messages"] = json!(talk);
    // The keys are in order here, so the kind comes before the messages.
    let ahead = document(&whole);
    let text = r#"{"sessionId":"7d1c0a52","projectHash":"5e","startTime":"2026-01-05T09:00:00.000Z","messages":"#;
    let behind = format!("{text}{},\"kind\":\"subagent\"}}", json!(talk));
    let file = "session-2026-01-05T09-00-7d1c0a52.json";
    let elements = Gemini.elements(Path::new(file), behind.as_bytes()).unwrap();
    let records: Vec<&[u8]> = elements
        .into_iter()
        .map(|at| &behind.as_bytes()[at])
        .collect();
    for session in [
        log(&[header("subagent"), prompt.clone(), answer.clone()]),
        ahead,
        session(file, &records),
    ] {
        assert_eq!(session.hidden.as_deref(), Some("a subagent's session"));
        assert!(session.is_subagent);
        assert_eq!(session.first_message.as_deref(), Some("Count the grebes"));
    }
    let session = log(&[header("main"), prompt, answer]);
    assert_eq!(session.hidden, None);
    assert_eq!(session.message_count, 2);
}

/// Versions that kept subagents beside the others gave them the id of their session.
#[test]
fn a_subagents_file_of_the_same_id_hides_no_session() {
    let file = "session-2026-01-05T09-00-7d1c0a52.jsonl";
    let folds = [("main", "Feed the owl"), ("subagent", "Count")].map(|(kind, prompt)| {
        let lines = [header(kind), says("user", prompt)].map(|line| line.to_string());
        folded(file, &lines.each_ref().map(|line| line.as_bytes()))
    });
    let relative = Path::new("aviary/chats").join(file);
    let sources = folds.each_ref().map(|fold| source(&relative, fold));
    let both = Gemini.session(&sources);
    assert_eq!((both.is_subagent, both.hidden), (false, None));
    assert_eq!(both.first_message.as_deref(), Some("Feed the owl"));
    assert!(Gemini.session(&sources[1..]).is_subagent);
}
