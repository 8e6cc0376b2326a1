//! What lines say of where a session comes from. What they say of the talk is tested with the
//! index, in `tests/qwen.rs`.

use std::path::Path;

use serde_json::{Value, json};

use super::Qwen;
use crate::model::{Class, Facts, Fold, SessionFacts, SourcePart};
use crate::{Format, SourceFacts};

const ID: &str = "5ea50000-0000-4000-8000-000000000001";
const ORIGIN: &str = "5ea50000-0000-4000-8000-000000000002";
const STARTER: &str = "5ea50000-0000-4000-8000-000000000003";

fn line(second: u32, more: Value) -> Value {
    let mut line = json!({"uuid": format!("u{second}"), "parentUuid": null, "sessionId": ID, "cwd": "/w", "version": "0.24.4",
        "timestamp": format!("2026-01-05T09:00:{second:02}.000Z")});
    let more = more.as_object().cloned().unwrap_or_default();
    line.as_object_mut().unwrap().extend(more);
    line
}

fn typed(second: u32) -> Value {
    let message = json!({"role": "user", "parts": [{"text": "Where does the ferry moor?"}]});
    line(
        second,
        json!({"type": "user", "provenance": "real_user", "message": message}),
    )
}

fn noted(second: u32, subtype: &str, payload: Value) -> Value {
    line(
        second,
        json!({"type": "system", "subtype": subtype, "systemPayload": payload}),
    )
}

fn started(second: u32) -> Value {
    noted(
        second,
        "parent_session",
        json!({"parentSessionId": STARTER}),
    )
}

fn copied(mut line: Value) -> Value {
    line["forkedFrom"] = json!({"sessionId": ORIGIN, "messageUuid": line["uuid"]});
    line
}

fn session_at(path: &str, lines: &[Value]) -> SessionFacts {
    let path = Path::new(path);
    let mut fold = Fold::default();
    for line in lines {
        // Saved and read again between any two lines, as between two looks at the file.
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let line = line.to_string();
        let mut facts = Qwen.facts_at(path, line.as_bytes());
        Qwen.relate(&mut fold, line.as_bytes(), &mut facts);
        Qwen.fold(&mut fold, &facts);
    }
    Qwen.session(&[SourceFacts {
        relative: path,
        mtime_ms: 0,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }])
}

fn session(lines: &[Value]) -> SessionFacts {
    session_at(&format!("-w/chats/{ID}.jsonl"), lines)
}

fn parent_and_second(session: &SessionFacts) -> (Option<&str>, Option<&str>) {
    let second = session.created_raw.as_deref().map(|raw| &raw[17..19]);
    (session.parent_session.as_deref(), second)
}

#[test]
fn a_fork_begins_behind_what_it_copied() {
    let lines = [copied(typed(1)), copied(typed(2)), typed(30), typed(31)];
    // Until something is typed it begins with the last line of its origin.
    for (read, second) in [(1, "01"), (2, "02"), (3, "30"), (4, "30")] {
        let fork = session(&lines[..read]);
        assert_eq!(parent_and_second(&fork), (Some(ORIGIN), Some(second)));
        assert!(!fork.is_subagent);
    }
}

/// A side task says first what it is, and is a fork as any other.
#[test]
fn a_fork_whose_first_line_is_its_own() {
    let source = json!({"sourceType": "side_task", "sourceId": ORIGIN});
    let lines = [
        noted(20, "session_source", source),
        copied(typed(1)),
        typed(30),
    ];
    for read in 2..=3 {
        let fork = session(&lines[..read]);
        assert_eq!(parent_and_second(&fork), (Some(ORIGIN), Some("20")));
        assert!(!fork.is_subagent);
    }
}

#[test]
fn a_session_that_another_one_started() {
    for lines in [
        vec![started(1), typed(2)],
        vec![typed(1), started(2)],
        vec![typed(1), copied(typed(2)), started(3)],
    ] {
        let worker = session(&lines);
        assert_eq!(parent_and_second(&worker), (Some(STARTER), Some("01")));
        // Qwen Code lists it.
        assert!(worker.is_subagent && worker.hidden.is_none());
    }
    // Its fork is none, though it may have copied the line that says so.
    let fork = session(&[copied(started(1)), copied(typed(2)), typed(30)]);
    assert_eq!(parent_and_second(&fork), (Some(ORIGIN), Some("30")));
    assert!(!fork.is_subagent);
}

/// Where nothing beside its lines says more, a subagent's parent is the session whose folder it is
/// in.
#[test]
fn a_subagent_alone() {
    let of = json!({"type": "user", "isSidechain": true, "agentId": "explorer-call_1", "message": {"parts": []}});
    let path = format!("-w/subagents/{ID}/agent-explorer-call_1.jsonl");
    let subagent = session_at(&path, &[line(1, of.clone()), line(2, of)]);
    assert_eq!(subagent.id, "explorer-call_1");
    assert_eq!(parent_and_second(&subagent), (Some(ID), Some("01")));
    assert!(subagent.is_subagent && subagent.hidden.is_some());
}

/// The facts of lines that follow each other, and what they come to.
fn related(lines: &[Value]) -> (Vec<Facts>, Fold) {
    let mut fold = Fold::default();
    let mut all = Vec::new();
    for line in lines {
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let line = line.to_string();
        let mut facts = Qwen.facts(line.as_bytes());
        Qwen.relate(&mut fold, line.as_bytes(), &mut facts);
        Qwen.fold(&mut fold, &facts);
        all.push(facts);
    }
    (all, fold)
}

fn starts(second: u32) -> Value {
    let call = json!({"functionCall": {"id": "c1", "name": "agent", "args": {"prompt": "Look"}}});
    let message = json!({"role": "model", "parts": [call]});
    line(second, json!({"type": "assistant", "message": message}))
}

fn answered(second: u32) -> Value {
    let answer = json!({"id": "c1", "name": "agent", "response": {"output": "seen"}});
    let message = json!({"role": "user", "parts": [{"functionResponse": answer}]});
    line(second, json!({"type": "tool_result", "message": message}))
}

fn calls(second: u32, version: &str, prompt: &str) -> Value {
    let event = json!({"event.name": "qwen-code.tool_call", "function_name": "run_shell_command",
        "function_args": {"command": "echo dugong"}, "duration_ms": 7, "success": false,
        "error": "no dugong here", "prompt_id": prompt});
    let mut line = noted(second, "ui_telemetry", json!({"uiEvent": event}));
    line["version"] = version.into();
    line
}

/// Until 0.15 what a subagent called stands in the telemetry of its session alone.
#[test]
fn what_a_subagent_without_a_file_called() {
    let of_subagent = &*format!("{ID}#general-purpose-rfqc2u#0");
    let (facts, fold) = related(&[
        typed(1),
        starts(2),
        calls(3, "0.15.6", of_subagent),
        answered(4),
    ]);
    let [call, answer] = &facts[2].calls[..] else {
        panic!("{:?}", facts[2].calls)
    };
    assert_eq!(call.tool.as_deref(), Some("run_shell_command"));
    assert_eq!(call.subject.as_deref(), Some("echo dugong"));
    assert_eq!((answer.is_error, answer.duration_ms), (Some(true), Some(7)));
    assert_eq!(answer.call_id, call.call_id);
    assert!(call.call_id.is_some() && facts[2].is_beside);
    assert_eq!(fold.errors, 1);
    let said = Qwen.passages(calls(3, "0.10.1", of_subagent).to_string().as_bytes());
    let [said] = &said[..] else {
        panic!("{said:?}")
    };
    let pieces = ["run_shell_command", "echo dugong", "no dugong here"];
    assert_eq!(
        (said.class, &said.pieces[..]),
        (Class::Output, &pieces.map(str::to_owned)[..])
    );
    // What the session itself called stands in its answers, and later versions write files.
    for (version, prompt) in [
        ("0.15.6", "d25b4e22cec8e"),
        ("0.15.6", &*format!("{ID}########0")),
        ("0.21.2", of_subagent),
        ("0.24.4", of_subagent),
        ("", of_subagent),
    ] {
        let line = calls(3, version, prompt);
        let (facts, fold) = related(&[typed(1), starts(2), line.clone(), answered(4)]);
        assert!(facts[2].calls.is_empty(), "{version} {prompt}");
        assert_eq!(fold.errors, 0);
        assert_eq!(Qwen.passages(line.to_string().as_bytes()), []);
    }
}

/// One that works in the background has a file, in which its calls count.
#[test]
fn what_a_subagent_in_the_background_called() {
    let of_subagent = &*format!("{ID}#general-purpose-rfqc2u#0");
    let called = |second| calls(second, "0.15.10", of_subagent);
    for lines in [
        [typed(1), starts(2), answered(3), called(4)],
        [starts(1), typed(2), called(3), answered(4)],
    ] {
        let (facts, fold) = related(&lines);
        let shell = |facts: &Facts| facts.kind == "ui_telemetry" && !facts.calls.is_empty();
        assert!(!facts.iter().any(shell) && fold.errors == 0);
    }
}

#[test]
fn what_a_hook_adds_to_a_prompt_is_not_typed() {
    let added = "<qwen:user-prompt-submit-context>\na walrus\n</qwen:user-prompt-submit-context>";
    let parts = json!([{"text": "fix the zebra"}, {"text": added}]);
    let prompt = line(
        0,
        json!({"type": "user", "provenance": "real_user", "message": {"role": "user", "parts": parts}}),
    );
    let prompt = prompt.to_string();
    let facts = Qwen.facts_at(Path::new("p/chats/a.jsonl"), prompt.as_bytes());
    assert_eq!(facts.user_text.as_deref(), Some("fix the zebra"));
    let said = Qwen.passages(prompt.as_bytes()).into_iter();
    let said = said.map(|passage| (passage.class, passage.pieces.join("|")));
    let expected = [(Class::Prose, "fix the zebra"), (Class::Output, added)];
    let expected = expected.map(|(class, text)| (class, text.to_owned()));
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

#[test]
fn what_hooks_alone_say_is_not_typed() {
    let added = "<qwen:user-prompt-submit-context>\na walrus\n</qwen:user-prompt-submit-context>";
    let prompt = |shown: Value| {
        let message = json!({"role": "user", "parts": [{"text": added}, {"text": added}]});
        let line = line(
            0,
            json!({"type": "user", "provenance": "real_user", "message": message,
                "systemPayload": {"displayText": shown}}),
        );
        line.to_string()
    };
    let facts = |prompt: &str| Qwen.facts_at(Path::new("p/chats/a.jsonl"), prompt.as_bytes());
    let of_hooks = prompt(Value::Null);
    let found = facts(&of_hooks);
    assert_eq!(found.role.as_deref(), Some("injected"));
    assert_eq!(found.user_text, None);
    let said = Qwen.passages(of_hooks.as_bytes());
    assert!(said.iter().all(|passage| passage.class == Class::Output));
    assert_eq!(said.len(), 1);
    // A person may type such tags.
    let found = facts(&prompt("what is a walrus?".into()));
    assert_eq!(found.role.as_deref(), Some("user"));
    assert_eq!(found.user_text.as_deref(), Some("what is a walrus?"));
}

/// Until 0.15 a command that failed is a success to the agent.
#[test]
fn a_command_that_failed_is_an_error() {
    let of = |tool: &str, code: u32| {
        let output = format!(
            "Command: ls /nope\nOutput: no dugong\nError: (none)\nExit Code: {code}\nSignal: (none)\n\
             Process Group PGID: (none)"
        );
        let answer = json!({"id": "c1", "name": tool, "response": {"output": output}});
        let message = json!({"role": "user", "parts": [{"functionResponse": answer}]});
        line(
            2,
            json!({"type": "tool_result", "message": message, "toolCallResult": {"status": "success"}}),
        )
    };
    for (tool, code, failed) in [
        ("run_shell_command", 2, true),
        ("run_shell_command", 0, false),
        ("read_file", 2, false),
    ] {
        let facts = Qwen.facts(of(tool, code).to_string().as_bytes());
        assert_eq!(facts.is_error, failed);
        assert_eq!(facts.calls[0].is_error, Some(failed));
    }
}

fn command(second: u32, parent: Option<u32>, payload: Value) -> Value {
    let mut line = noted(second, "slash_command", payload);
    line["parentUuid"] = parent.map(|parent| format!("u{parent}")).into();
    line
}

/// A skill or a command becomes the next prompt, at once.
#[test]
fn what_a_command_becomes_is_not_typed() {
    let prompt = |parent: u32, milliseconds: u32| {
        let mut line = typed(9);
        line["parentUuid"] = format!("u{parent}").into();
        line["timestamp"] = format!("2026-01-05T09:00:02.{milliseconds:03}Z").into();
        line
    };
    let (soon, late) = (prompt(2, 40), {
        let mut line = prompt(2, 0);
        line["timestamp"] = "2026-01-05T09:00:05.000Z".into();
        line
    });
    for (sent, behind, role) in [
        (Value::Null, &soon, "injected"),
        (Value::Null, &late, "user"),
        (true.into(), &soon, "injected"),
        // What the command became was not written: this was typed.
        (true.into(), &late, "user"),
        (false.into(), &soon, "user"),
        // It goes on from another line.
        (true.into(), &prompt(7, 40), "user"),
    ] {
        let asked =
            json!({"phase": "invocation", "rawCommand": "/review a dugong", "sentToModel": sent});
        let lines = [
            command(1, None, asked),
            command(
                2,
                Some(1),
                json!({"phase": "result", "rawCommand": "/review a dugong"}),
            ),
            behind.clone(),
        ];
        let (facts, fold) = related(&lines);
        assert_eq!(facts[0].role.as_deref(), Some("user"));
        assert_eq!(facts[2].role.as_deref(), Some(role));
        // It counts, and the agent's own list shows it.
        assert_eq!(fold.messages, 1);
        assert!(fold.first_message.is_some());
        // What is typed next is typed.
        let (facts, _) = related(&[&lines[..], &[typed(10)]].concat());
        assert_eq!(facts[3].role.as_deref(), Some("user"));
    }
}

/// Until 0.12 the reason stands under another name, and what a person broke off is none.
#[test]
fn why_there_is_no_answer() {
    let failed = |event: Value| {
        let mut all = json!({"event.name": "qwen-code.api_error"});
        all.as_object_mut()
            .unwrap()
            .extend(event.as_object().cloned().unwrap());
        noted(1, "ui_telemetry", json!({"uiEvent": all}))
    };
    for (event, text, is_error) in [
        (json!({"error": "No dugong."}), "No dugong.", true),
        (
            json!({"error_message": "No dugong.", "error": "x"}),
            "No dugong.",
            true,
        ),
        (
            json!({"error": "Request was aborted."}),
            "Request was aborted.",
            false,
        ),
        (
            json!({"error_message": "Stopped.", "error_type": "APIUserAbortError"}),
            "Stopped.",
            false,
        ),
    ] {
        let line = failed(event).to_string();
        assert_eq!(Qwen.facts(line.as_bytes()).is_error, is_error, "{text}");
        let said = Qwen.passages(line.as_bytes());
        let pieces = said.iter().flat_map(|passage| &passage.pieces);
        assert!(pieces.eq([text]), "{text}");
    }
}
