//! Copilot's sessions, case by case: `fixtures/copilot.py` writes them.

use std::path::Path;

use serde_json::{Value, json};

use super::Copilot;
use crate::model::{Facts, Fold, SessionFacts, SourcePart};
use crate::testing::{MTIME, Read, only, sessions};
use crate::{Format, SourceFacts, resume};

mod events;
mod usage;

const SESSION: &str = "6d0b1f6e-0000-4000-8000-0000000000c1";

fn read(case: &str) -> Read {
    only(&Copilot, case)
}

fn roles<'r>(read: &'r Read, kind: &str) -> Vec<&'r str> {
    let roles = read.of_kind(kind).into_iter();
    roles
        .map(|facts| facts.role.as_deref().unwrap_or_default())
        .collect()
}

fn own(read: &Read, key: &str) -> serde_json::Value {
    let own = read.session.own.as_deref().unwrap();
    serde_json::from_str::<serde_json::Value>(own).unwrap()[key].clone()
}

#[test]
fn subagent_inside_the_file() {
    let read = read("subagent");
    // Its messages are those of the session, but nobody typed its prompt and it is none of the
    // talk.
    assert_eq!(roles(&read, "user.message"), ["user", "injected"]);
    assert_eq!(read.session.message_count, 3);
    assert_eq!(
        read.session.first_message.as_deref(),
        Some("Send somebody to the attic.")
    );
    assert_eq!(own(&read, "subagents"), 1);
    // Its prompt is found once, where it was called.
    assert_eq!(read.found("Count the trunks in the attic."), 1);
    assert_eq!(read.found("There are seven."), 2);
    // The session's model stays, and what the subagent took counts.
    assert_eq!(read.session.model.as_deref(), Some("gpt-5"));
    assert_eq!(read.session.tokens, Some(4 * 130));
    let calls = read.entries.iter().flat_map(|facts| &facts.calls);
    let calls: Vec<_> = calls.filter(|call| !call.is_result).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].subject.as_deref(), Some("ls attic"));
}

/// Versions that did not name the subagent name the call that started it.
#[test]
fn subagent_of_versions_that_name_its_call() {
    let read = read("older-subagent");
    assert_eq!(read.session.message_count, 3);
    assert_eq!(read.session.model.as_deref(), Some("gpt-5"));
    assert_eq!(own(&read, "subagents"), 1);
    assert_eq!(read.found("Count the rakes"), 1);
    assert_eq!(read.found("There are two."), 2);
}

#[test]
fn resume_is_two_runs_of_one_session_and_usage_counts_once() {
    let read = read("resumed");
    // Each run's end says what the session took so far.
    assert_eq!(read.session.tokens, Some(2 * 130));
    assert_eq!(own(&read, "inputTokens"), 200);
    assert_eq!(own(&read, "totalPremiumRequests"), 2);
    let usage = read.of_kind("session.usage_record")[0]
        .usage
        .clone()
        .unwrap();
    // What was read from the cache and written to it is no input of ours.
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write),
        (Some(75), Some(20), Some(5))
    );
    assert_eq!((usage.output, usage.reasoning), (Some(30), Some(7)));
    assert_eq!(usage.response_id.as_deref(), Some("r1"));
    assert_eq!(usage.cost_total, None);
    // It stands where the last run was.
    let session = &read.session;
    assert_eq!(session.cwd, "/home/ada/code/app/docs");
    assert_eq!(session.git_branch.as_deref(), Some("cellar"));
    assert_eq!(session.model.as_deref(), Some("gpt-5"));
    assert_eq!(session.thinking_level.as_deref(), Some("high"));
    assert_eq!(
        session.created_raw.as_deref(),
        Some("2026-01-05T09:00:00.000Z")
    );
    assert_eq!(session.version, Some(1));
    let resume = resume("copilot", "copilot", "x", (&session.id, None), &session.cwd).unwrap();
    assert_eq!(resume.argv, ["copilot", &format!("--resume={SESSION}")]);
}

#[test]
fn name_and_first_prompt() {
    let named = read("named");
    assert_eq!(named.session.name.as_deref(), Some("Ada's fence"));
    assert_eq!(named.found("Ada's fence"), 1);
    // Without a name the picker shows the first prompt, which the list knows anyway.
    let unnamed = read("first-prompt");
    assert_eq!(unnamed.session.name, None);
    assert_eq!(unnamed.session.typed.as_deref(), Some("Paint the fence."));
    assert_eq!(unnamed.found("Paint the fence."), 1);
    let generated = read("generated-name");
    assert_eq!(
        generated.session.name.as_deref(),
        Some("Fence: painting it")
    );
}

/// Versions that wrote no name wrote a summary, which stands nowhere else.
#[test]
fn summary_in_place_of_a_name() {
    let read = read("older-name");
    assert_eq!(read.session.name.as_deref(), Some("The fence of summer"));
    assert_eq!(read.found("The fence of summer"), 1);
}

#[test]
fn error_turn_without_answer() {
    let read = read("error-without-answer");
    assert_eq!(read.session.error_count, 1);
    assert_eq!(read.session.message_count, 1);
    assert_eq!(read.output, ["400 the model is down"]);
    assert!(read.of_kind("session.error")[0].is_error);
}

#[test]
fn exit_code_2_with_success() {
    let read = read("exit-code");
    let results = read.of_kind("tool.execution_complete");
    let errors: Vec<_> = results
        .iter()
        .map(|facts| facts.calls[0].is_error)
        .collect();
    assert_eq!(errors, [Some(true), Some(true)]);
    assert_eq!(read.session.error_count, 2);
    assert_eq!((read.found("no such well"), read.found("no match")), (1, 1));
    let answer = read.of_kind("assistant.message")[0];
    assert_eq!(answer.calls.len(), 2);
    assert_eq!(answer.files[0].path, "/home/ada/code/app/well.md");
    assert!(answer.files[0].modified);
}

#[test]
fn system_prompt_is_not_found_and_the_prompt_once() {
    let read = read("system-prompt");
    assert_eq!(read.found("keeper of walruses"), 0);
    assert_eq!(
        read.prompts,
        ["You are a keeper of walruses. Speak of nothing but zeppelins."]
    );
    assert_eq!(read.found("Where is the walrus?"), 1);
    assert_eq!(read.found("current_datetime"), 0);
    assert_eq!(read.found("I look for it."), 1);
    // What hooks were given, encrypted thoughts, and a skill but where the model was given it.
    assert_eq!(read.found("zeppelins"), 1);
    assert_eq!((read.found("Zm9vYmFy"), read.found("cXV4")), (0, 0));
    assert_eq!(roles(&read, "user.message"), ["user", "injected"]);
}

#[test]
fn event_over_several_lines() {
    let read = read("several-lines");
    assert_eq!(read.problems, ["torn", "not JSON"]);
    assert_eq!(read.entries.len(), 3);
    assert_eq!(read.found("Third."), 1);
}

#[test]
fn line_separators_stay_in_their_line() {
    let read = read("line-separators");
    assert!(read.problems.is_empty());
    assert_eq!(read.prose, ["one\u{2028}two\u{2029}three\u{85}four"]);
}

#[test]
fn fused_record() {
    let read = read("fused");
    assert_eq!(read.problems, ["torn"]);
    assert_eq!(read.prose, ["First.", "Third."]);
}

#[test]
fn no_workspace_yaml() {
    let read = read("no-workspace");
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    assert_eq!(read.session.name, None);
    assert_eq!(read.session.hidden, None);
    assert_eq!(read.session.modified_ms, 1_767_603_603_000);
}

#[test]
fn folder_without_events_jsonl() {
    let read = read("no-events");
    assert_eq!(read.session.hidden.as_deref(), Some("no events.jsonl"));
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    assert_eq!(read.session.created_ms, Some(1_767_603_600_000));
    assert_eq!(read.session.modified_ms, MTIME);
    assert_eq!(read.session.name.as_deref(), Some("Never begun."));
}

#[test]
fn unknown_event_type() {
    let read = read("unknown-type");
    assert!(read.problems.is_empty());
    let unknown = read.of_kind("session.brand_new");
    assert_eq!(unknown.len(), 1);
    assert!(unknown[0].id.is_some() && unknown[0].time_ms.is_some());
    assert_eq!(read.found("tomorrow"), 0);
    assert_eq!(read.entries.len(), 6);
    assert_eq!(read.session.message_count, 2);
}

/// Events of a session as the index reads them; its fold goes through JSON before each of them, as
/// between two syncs, or never.
fn related(events: &[Value], is_saved: bool) -> (SessionFacts, Vec<Facts>) {
    let (mut fold, mut entries) = (Fold::default(), Vec::new());
    for event in events {
        if is_saved {
            fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        }
        let record = event.to_string();
        let mut facts = Copilot.facts(record.as_bytes());
        Copilot.relate(&mut fold, record.as_bytes(), &mut facts);
        Copilot.fold(&mut fold, &facts);
        entries.push(facts);
    }
    let source = SourceFacts {
        relative: Path::new("a/events.jsonl"),
        mtime_ms: MTIME,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    };
    (Copilot.session(&[source]), entries)
}

fn event(kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data})
}

#[test]
fn flat_file_of_the_older_layout() {
    let read = read("flat-file");
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.hidden, None);
    assert_eq!(read.prose, ["An old question.", "An old answer."]);
}

#[test]
fn compaction_attachments_and_what_is_not_typed() {
    let read = read("compacted-and-more");
    let compaction = read.of_kind("session.compaction_complete")[0]
        .compaction
        .clone();
    assert_eq!(compaction.unwrap().tokens_before, Some(9000));
    assert_eq!(read.found("They kept what counts."), 1);
    assert_eq!(roles(&read, "user.message"), ["user", "user", "injected"]);
    assert!(read.of_kind("user.message")[1].has_image);
    assert_eq!(read.found("iVBORw0KGgo"), 0);
    assert_eq!(read.of_kind("tool.user_requested")[0].calls.len(), 1);
    assert_eq!(read.output, ["a.png", "bash", "make kites"]);
}

#[test]
fn nothing_else_in_the_folders_is_a_session() {
    let sessions = sessions(&Copilot, "noise");
    assert_eq!(sessions.keys().collect::<Vec<_>>(), [SESSION]);
}

/// Every type of event that the JSON Schema of version 1.0.102 has, with whether it is written to
/// the file. `tests/agents/copilot_events.py` writes the list.
#[test]
fn every_event_of_the_schema_is_an_entry_of_its_type() {
    let events = include_str!("../../../../fixtures/copilot-events.txt");
    let mut written = 0;
    for line in events.lines() {
        let (kind, is_written) = line.split_once(' ').unwrap();
        written += u32::from(is_written == "written");
        let event = serde_json::json!({"type": kind, "id": "a", "parentId": null,
            "timestamp": "2026-01-05T09:00:00.000Z",
            "data": {"content": "the content", "summary": "the summary", "message": "the message"}});
        let event = event.to_string();
        let facts = Copilot.facts(event.as_bytes());
        assert_eq!(facts.kind, kind);
        assert!(Copilot.knows(kind), "{kind}");
        assert_eq!(facts.time_ms, Some(1_767_603_600_000), "{kind}");
        let found = Copilot.passages(event.as_bytes());
        let found: Vec<_> = found
            .into_iter()
            .flat_map(|passage| passage.pieces)
            .collect();
        let expected: &[&str] = match kind {
            "user.message" | "assistant.message" | "system.notification" => &["the content"],
            "session.error" | "session.info" | "session.warning" => &["the message"],
            _ => &[],
        };
        assert_eq!(found, expected, "{kind}");
    }
    assert_eq!((events.lines().count(), written), (163, 78));
}

/// Damage costs the record in which it is, and nothing panics.
#[test]
fn damaged_records_are_read_as_far_as_they_go() {
    let whole = br#"{"type":"assistant.message","id":"a","data":{"content":"x","toolRequests":[{"name":"bash","arguments":{"command":"ls"}}]}}"#;
    for at in 0..whole.len() {
        for byte in [b'"', b'{', b'}', b'0', b'\\', 0xff, 0] {
            let mut record = whole.to_vec();
            record[at] = byte;
            Copilot.facts(&record);
            Copilot.passages(&record);
        }
    }
    let deep = format!(
        r#"{{"type":"session.shutdown","data":{{"totalNanoAiu":{}1{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(Copilot.facts(deep.as_bytes()).header.is_some());
}
