//! The cases that a reader of Claude Code's files must pass, as far as one file shows them; those
//! of whole stores are in tests/claude.rs of the index.

use std::path::Path;

use serde_json::{Value, json};

use super::Claude;
use crate::model::{Class, Facts, Fold, Placement, SessionFacts, SourcePart};
use crate::{Format, Shape, SourceFacts};

mod again;
mod newer;
mod older;
mod subagents;
mod terminal;

const ID: &str = "0a000000-0000-4000-8000-000000000001";
const PARENT: &str = "0a000000-0000-4000-8000-000000000002";

/// A link of the chain, at this second.
fn link(kind: &str, uuid: &str, parent: &str, second: u32, more: Value) -> Value {
    let mut line = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": ID,
        "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "cwd": "/home/ada/boat", "version": "2.1.330", "gitBranch": "main"});
    if parent.is_empty() {
        line["parentUuid"] = Value::Null;
    }
    add(&mut line, more);
    line
}

fn add(line: &mut Value, more: Value) {
    let more = more.as_object().cloned().unwrap_or_default();
    line.as_object_mut().unwrap().extend(more);
}

fn typed(uuid: &str, parent: &str, second: u32, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    link(
        "user",
        uuid,
        parent,
        second,
        json!({"message": message, "promptSource": "typed"}),
    )
}

fn said(uuid: &str, parent: &str, second: u32, id: &str, block: Value, output: i64) -> Value {
    let usage = json!({"input_tokens": 100, "output_tokens": output, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10});
    let message = json!({"id": id, "role": "assistant", "model": "claude-opus-5-5", "content": [block], "usage": usage});
    link(
        "assistant",
        uuid,
        parent,
        second,
        json!({"message": message, "effort": "medium"}),
    )
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn answered(uuid: &str, parent: &str, second: u32, block: Value, twin: Value) -> Value {
    let message = json!({"role": "user", "content": [block]});
    link(
        "user",
        uuid,
        parent,
        second,
        json!({"message": message, "toolUseResult": twin}),
    )
}

fn facts(line: &Value) -> Facts {
    let record = line.to_string();
    let facts = Claude.facts(record.as_bytes());
    assert_eq!(
        Claude.facts_of_line(record.as_bytes()).as_ref(),
        Some(&facts)
    );
    facts
}

fn fold(lines: &[Value]) -> Fold {
    let mut fold = Fold::default();
    for line in lines {
        // Saved and read again between any two lines, as between two looks at the file.
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let mut facts = facts(line);
        Claude.relate(&mut fold, line.to_string().as_bytes(), &mut facts);
        Claude.fold(&mut fold, &facts);
    }
    fold
}

fn session_at(path: &str, lines: &[Value]) -> SessionFacts {
    let fold = fold(lines);
    Claude.session(&[source(path, &fold, SourcePart::Main)])
}

fn session(lines: &[Value]) -> SessionFacts {
    session_at(&format!("-home-ada-boat/{ID}.jsonl"), lines)
}

fn source<'a>(path: &'a str, fold: &'a Fold, part: SourcePart) -> SourceFacts<'a> {
    SourceFacts {
        relative: Path::new(path),
        mtime_ms: 7,
        fold,
        part,
        unlisted: None,
        problems: (0, None),
    }
}

fn said_of(line: &Value) -> Vec<(Class, Vec<String>)> {
    let passages = Claude.passages(line.to_string().as_bytes());
    passages
        .into_iter()
        .map(|of| (of.class, of.pieces))
        .collect()
}

#[test]
fn fork() {
    let copy = |mut line: Value, parent: Option<&str>| {
        line["sessionId"] = PARENT.into();
        if let Some(parent) = parent {
            line["requestSessionId"] = parent.into();
        }
        line
    };
    let cost =
        json!({"type": "cost-state", "sessionId": PARENT, "totalCostUSD": 0.5, "modelUsage": {}});
    let lines = [
        json!({"type": "mode", "mode": "normal", "sessionId": PARENT}),
        copy(typed("u1", "", 1, "paint the hull"), None),
        copy(said("a1", "u1", 2, "msg_1", text("done"), 5), Some(ID)),
        copy(typed("u2", "a1", 30, "and the mast"), None),
        copy(said("a2", "u2", 31, "msg_2", text("done too"), 6), None),
        cost,
    ];
    let session = session_at(&format!("-home-ada-boat/{PARENT}.jsonl"), &lines);
    assert_eq!(session.parent_session.as_deref(), Some(ID));
    // It begins where the copy ends, and its cost began with that of its origin.
    assert_eq!(
        session.created_raw.as_deref(),
        Some("2026-03-01T10:00:30.000Z")
    );
    assert_eq!(session.cost, None);
    assert!(session.own.unwrap().contains("\"totalCostUSD\":0.5"));
    assert_eq!(session.first_message.as_deref(), Some("paint the hull"));
}

#[test]
fn several_ids_in_one_file() {
    let mut old = typed("u1", "", 1, "paint the hull");
    old["sessionId"] = PARENT.into();
    let session = session(&[old, typed("u2", "u1", 9, "go on")]);
    assert_eq!(
        (&*session.id, session.parent_session.as_deref()),
        (ID, Some(PARENT))
    );
    assert_eq!(
        session.created_raw.as_deref(),
        Some("2026-03-01T10:00:09.000Z")
    );
}

/// Each version of a session that was gone on with begins with all lines of the one before.
#[test]
fn a_session_that_was_gone_on_with_twice() {
    let of = |id: &str, mut line: Value| {
        line["sessionId"] = id.into();
        line
    };
    let first = "0a000000-0000-4000-8000-000000000003";
    let lines = [
        of(first, typed("u1", "", 1, "paint the hull")),
        of(PARENT, typed("u2", "u1", 5, "go on")),
        typed("u3", "u2", 9, "and on"),
    ];
    let third = session(&lines);
    assert_eq!(third.parent_session.as_deref(), Some(PARENT));
    assert_eq!(
        third.created_raw.as_deref(),
        Some("2026-03-01T10:00:09.000Z")
    );
}

/// What another session says in its file is none of its beginning.
#[test]
fn a_line_of_another_session_behind_its_own() {
    let mut other = typed("u3", "u2", 9, "elsewhere");
    other["sessionId"] = PARENT.into();
    let cost =
        json!({"type": "cost-state", "sessionId": ID, "totalCostUSD": 0.5, "modelUsage": {}});
    let lines = [
        typed("u1", "", 1, "paint the hull"),
        typed("u2", "u1", 2, "and the mast"),
        other,
        cost,
    ];
    let session = session(&lines);
    assert_eq!(session.parent_session, None);
    assert_eq!(
        session.created_raw.as_deref(),
        Some("2026-03-01T10:00:01.000Z")
    );
    assert_eq!(session.cost, Some(0.5));
}

/// Of what a fork copies only answers say so: what follows the last one may be copied too.
#[test]
fn a_fork_begins_with_its_own_prompt() {
    let mut copied = said("a1", "u1", 2, "msg_1", text("done"), 5);
    copied["requestSessionId"] = PARENT.into();
    let reminder = json!({"attachment": {"type": "todo_reminder"}});
    let lines = [
        typed("u1", "", 1, "paint the hull"),
        copied,
        link("attachment", "t1", "a1", 3, reminder),
        typed("u2", "t1", 30, "and the mast"),
    ];
    let fork = session(&lines);
    assert_eq!(fork.parent_session.as_deref(), Some(PARENT));
    assert_eq!(
        fork.created_raw.as_deref(),
        Some("2026-03-01T10:00:30.000Z")
    );
}

/// Some servers say nothing of tokens.
#[test]
fn one_answer_in_three_lines_without_usage() {
    let of = |usage: Option<Value>, mut line: Value| {
        let message = line["message"].as_object_mut().unwrap();
        match usage {
            Some(usage) => message.insert("usage".to_owned(), usage),
            None => message.remove("usage"),
        };
        line
    };
    let lines = |usage: [Option<Value>; 4]| {
        let said = [
            said("a1", "u1", 2, "msg_1", text("red"), 0),
            said("a2", "a1", 2, "msg_1", text("or blue"), 0),
            said("a3", "a2", 2, "msg_1", text("or white"), 0),
            said("a4", "a3", 3, "msg_2", text("done"), 0),
        ];
        let said = usage.into_iter().zip(said);
        let said = said.map(|(usage, line)| of(usage, line));
        [typed("u1", "", 1, "paint")].into_iter().chain(said)
    };
    let counted = |usage| {
        let lines: Vec<Value> = lines(usage).collect();
        let session = session(&lines);
        (session.message_count, session.tokens)
    };
    let none = || Some(json!({}));
    assert_eq!(counted([None, None, None, None]), (3, None));
    assert_eq!(counted([none(), none(), none(), none()]), (3, None));
    let some = || Some(json!({"input_tokens": 10, "output_tokens": 0}));
    assert_eq!(counted([None, some(), none(), None]), (3, Some(10)));
    let zeros = || Some(json!({"input_tokens": 0, "output_tokens": 0}));
    assert_eq!(counted([none(), zeros(), None, None]), (3, Some(0)));
}

/// A line that is fused with another is none for agents: the next one of the answer is its first.
#[test]
fn an_answer_whose_first_line_is_dropped_counts() {
    let line = said("a1", "u1", 2, "msg_1", text("done"), 5).to_string();
    let mut fold = Fold::default();
    for agent_sees in [false, true] {
        let record = line.as_bytes();
        let mut facts = Claude.facts(record);
        facts.agent_sees = agent_sees;
        Claude.relate(&mut fold, record, &mut facts);
        Claude.fold(&mut fold, &facts);
    }
    assert_eq!((fold.messages, fold.tokens), (1, Some(135)));
}

/// An answer that is copied again goes on to name the session that it was given in.
#[test]
fn a_fork_of_a_fork_is_a_fork_of_the_nearer_one() {
    let first = "0a000000-0000-4000-8000-000000000003";
    let of = |mut line: Value, from: &str| {
        line["requestSessionId"] = from.into();
        line
    };
    let lines = [
        typed("u1", "", 1, "paint the hull"),
        of(said("a1", "u1", 2, "msg_1", text("done"), 5), first),
        typed("u2", "a1", 11, "and the mast"),
        of(said("a2", "u2", 12, "msg_2", text("done too"), 5), PARENT),
        typed("u3", "a2", 30, "and the deck"),
        said("a3", "u3", 31, "msg_3", text("done as well"), 5),
    ];
    for read in 4..=6 {
        let fork = session(&lines[..read]);
        assert_eq!(fork.parent_session.as_deref(), Some(PARENT));
        let begun = if read == 4 { 12 } else { 30 };
        let begun = format!("2026-03-01T10:00:{begun}.000Z");
        assert_eq!(fork.created_raw, Some(begun));
    }
}

/// `/branch` says on each line from where it was copied, on those of a person too.
#[test]
fn a_branch_is_a_fork_of_the_session_that_its_lines_name() {
    let first = "0a000000-0000-4000-8000-000000000003";
    let branched = |mut line: Value| {
        line["forkedFrom"] = json!({"sessionId": PARENT, "messageUuid": line["uuid"]});
        line
    };
    // It was interrupted before it was answered.
    let asked = branched(typed("u1", "", 1, "paint the hull"));
    let mut answer = branched(said("a1", "u1", 2, "msg_1", text("done"), 5));
    answer["requestSessionId"] = first.into();
    let own = typed("u2", "u1", 30, "paint the mast");
    for copied in [vec![asked.clone()], vec![asked, answer]] {
        let last = copied.last().and_then(|line| line["timestamp"].as_str());
        let branch = session(&copied);
        assert_eq!(branch.parent_session.as_deref(), Some(PARENT));
        assert_eq!(branch.created_raw.as_deref(), last);
        let lines: Vec<_> = copied.into_iter().chain([own.clone()]).collect();
        let branch = session(&lines);
        assert_eq!(branch.parent_session.as_deref(), Some(PARENT));
        assert_eq!(
            branch.created_raw.as_deref(),
            Some("2026-03-01T10:00:30.000Z")
        );
    }
}

/// Some servers give one id to all that they say.
#[test]
fn answers_of_one_id_are_told_apart_by_their_requests() {
    let of = |request: &str, mut line: Value| {
        line["requestId"] = request.into();
        line
    };
    let lines = [
        typed("u1", "", 1, "paint"),
        of("r1", said("a1", "u1", 2, "chatcmpl-0", text("red"), 5)),
        of("r1", said("a2", "a1", 2, "chatcmpl-0", text("or blue"), 5)),
        typed("u2", "a2", 3, "blue"),
        of("r2", said("a3", "u2", 4, "chatcmpl-0", text("done"), 5)),
    ];
    let session = session(&lines);
    assert_eq!((session.tokens, session.message_count), (Some(270), 4));
}

/// A subagent's lines, between those of its session, are no part of the talk.
#[test]
fn a_session_does_not_stand_where_a_subagent_does() {
    let mut lines = vec![
        typed("u1", "", 1, "look around"),
        said("a1", "u1", 2, "msg_1", text("a moment"), 5),
        typed("s1", "", 3, "list the boats"),
        said("s2", "s1", 4, "msg_2", text("one boat"), 5),
    ];
    for line in &mut lines[2..] {
        line["isSidechain"] = true.into();
    }
    let session = session(&lines);
    assert_eq!(session.leaf.as_deref(), Some("a1"));
    assert_eq!((session.message_count, session.tokens), (2, Some(270)));
}

/// A subagent may warm up before anything is typed: then the file is no subagent's.
#[test]
fn a_session_that_begins_with_a_subagents_lines() {
    let mut lines = vec![
        typed("s1", "", 1, "Warmup"),
        said("s2", "s1", 2, "msg_1", text("ready"), 5),
        typed("u1", "", 3, "look around"),
        said("a1", "u1", 4, "msg_2", text("a moment"), 5),
        said("s3", "s2", 5, "msg_3", text("still ready"), 5),
    ];
    for at in [0, 1, 4] {
        lines[at]["isSidechain"] = true.into();
    }
    let whole = session(&lines);
    assert_eq!(whole.leaf.as_deref(), Some("a1"));
    assert_eq!((whole.message_count, whole.tokens), (2, Some(405)));
    // Until then it may be one.
    assert_eq!(session(&lines[..2]).leaf.as_deref(), Some("s2"));
}

/// All lines of a hook have one id: what follows one goes on from where that went on.
#[test]
fn what_hooks_said_when_a_session_began() {
    let hook = |parent: &str, second| link("saved_hook_context", "h", parent, second, json!({}));
    let lines = [
        hook("", 1),
        typed("u1", "h", 2, "look around"),
        hook("u1", 3),
        hook("h", 4),
        said("a1", "h", 5, "msg_1", text("a moment"), 5),
    ];
    let mut fold = Fold::default();
    let above = lines.iter().map(|line| {
        let mut facts = facts(line);
        let record = line.to_string();
        Claude.relate(&mut fold, record.as_bytes(), &mut facts);
        assert_eq!(facts.silent, facts.kind == "saved_hook_context");
        facts.parent
    });
    let above: Vec<Option<String>> = above.collect();
    let u1 = || Some("u1".to_owned());
    assert_eq!(above, [None, None, u1(), u1(), u1()]);
    assert_eq!(session(&lines).leaf.as_deref(), Some("a1"));
    assert_eq!(session(&lines[..3]).leaf.as_deref(), Some("u1"));
}

/// Most summaries in a file are of other sessions of its project.
#[test]
fn a_summary_names_the_session_whose_line_it_names() {
    let summary = |leaf: &str, summary: &str| json!({"type": "summary", "summary": summary, "leafUuid": leaf});
    let mut lines = vec![
        summary("x9", "Deploying the server"),
        summary("u2", "Boats"),
        typed("u1", "", 1, "paint the hull"),
    ];
    assert_eq!(session(&lines).name, None);
    lines.push(typed("u2", "u1", 2, "and the mast"));
    assert_eq!(session(&lines).name.as_deref(), Some("Boats"));
    lines.push(summary("x8", "Another one"));
    assert_eq!(session(&lines).name.as_deref(), Some("Boats"));
    lines.push(summary("u2", "Boats again"));
    assert_eq!(session(&lines).name.as_deref(), Some("Boats again"));
}

#[test]
fn one_answer_in_four_lines() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let lines = [
        typed("u1", "", 1, "paint"),
        said(
            "a1",
            "u1",
            2,
            "msg_1",
            json!({"type": "thinking", "thinking": "which colour", "signature": "c2lnbg=="}),
            1,
        ),
        said("a2", "a1", 2, "msg_1", text("red"), 30),
        said("a3", "a2", 2, "msg_1", call("t1"), 30),
        said("a4", "a3", 2, "msg_1", call("t2"), 30),
    ];
    let session = session(&lines);
    assert_eq!(session.tokens, Some(160));
    assert_eq!(session.message_count, 2);
    let usage = facts(&lines[2]).usage.unwrap();
    assert!(usage.is_repeated);
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write),
        (Some(100), Some(20), Some(10))
    );
    assert_eq!(
        said_of(&lines[1]),
        [(Class::Prose, vec!["which colour".to_owned()])]
    );
}

#[test]
fn compaction() {
    let boundary = json!({"subtype": "compact_boundary", "logicalParentUuid": "a1", "content": "Conversation compacted",
        "compactMetadata": {"trigger": "auto", "preTokens": 160, "preservedSegment": {"headUuid": "a1", "tailUuid": "a1"}}});
    let boundary = facts(&link("system", "c1", "", 3, boundary));
    assert_eq!(boundary.kind, "compact_boundary");
    assert_eq!(boundary.parent.as_deref(), Some("a1"));
    let compaction = boundary.compaction.unwrap();
    assert_eq!(
        (compaction.first_kept.as_deref(), compaction.tokens_before),
        (Some("a1"), Some(160))
    );
    let mut summary = typed("s1", "c1", 3, "We painted the hull.");
    add(
        &mut summary,
        json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
    );
    let found = facts(&summary);
    assert_eq!(
        (found.role.as_deref(), found.user_text),
        (Some("injected"), None)
    );
    assert_eq!(
        said_of(&summary),
        [(Class::Prose, vec!["We painted the hull.".to_owned()])]
    );
}

#[test]
fn typed_is_what_a_person_typed() {
    let role = |line: &Value| facts(line).role.unwrap();
    for text in [
        "<command-name>/compact</command-name>",
        "<local-command-stdout>done</local-command-stdout>",
        "<system-reminder>be good</system-reminder>",
        "<task-notification>done</task-notification>",
        "<teammate-message teammate_id=\"a\">done</teammate-message>",
        "<channel source=\"telegram\">hello</channel>",
        "<ide_opened_file>a.rs</ide_opened_file>",
        "<ide_selection>a</ide_selection>",
        "[Request interrupted by user]",
    ] {
        assert_eq!(role(&typed("u", "", 1, text)), "injected", "{text}");
    }
    for text in [
        "<bash-notification>\n<shell-id>b1</shell-id>\n</bash-notification>",
        "<agent-notification>\n<agent-id>b1</agent-id>\n</agent-notification>",
        "<agent-message from=\"b1\">\n[Subagent hand-back] done\n</agent-message>",
        "<cross-session-message from=\"b1\">done</cross-session-message>",
        "<session-start-hook>be brief</session-start-hook>",
        "<tick>10:00</tick>",
        "Another Claude session sent a message:\n<agent-message from=\"b1\">done</agent-message>",
        "The coordinator sent a message while you were working: use red",
        "Stop hook feedback:\n- [lint]: failed",
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>done</task-notification>",
        "Caveat: the messages below",
        "This session is being continued from a previous conversation that ran out of context.",
        // Of versions 2.1.4 to 2.1.29 (entireio/cli, 00/c9e2351016/0/full.jsonl, line 6), and of
        // commands that Claude Code does not run.
        "Operation stopped by hook: Another session is active",
        "Operation stopped by hook",
        "Unknown skill: rebase",
        "Commands are in the form `/command [args]`",
        "This skill can only be invoked by Claude, not directly by users. Ask Claude to use the \"x\" skill for you.",
    ] {
        // A person who pastes one is believed, where the line says that it was typed.
        let mut line = typed("u", "", 1, text);
        assert_eq!(role(&line), "user", "{text}");
        line.as_object_mut().unwrap().remove("promptSource");
        assert_eq!(role(&line), "injected", "{text}");
        line["origin"] = json!({"kind": "human"});
        assert_eq!(role(&line), "user", "{text}");
    }
    for (name, value) in [
        ("isMeta", json!(true)),
        ("isSidechain", json!(true)),
        ("agentId", json!("x1")),
        ("promptSource", json!("system")),
    ] {
        let mut line = typed("u", "", 1, "hello");
        line[name] = value;
        assert_eq!(role(&line), "injected", "{name}");
    }
    let blocks = json!({"message": {"role": "user", "content": [text("what is"), text("this?"), {"type": "image", "source": {"type": "base64", "data": "QUJD"}}]}});
    let found = facts(&link("user", "u", "", 1, blocks));
    assert_eq!(found.user_text.as_deref(), Some("what is\nthis?"));
    assert!(found.has_image);
    let queued = |mode: &str| json!({"attachment": {"type": "queued_command", "prompt": "and the mast", "commandMode": mode}});
    let line = link("attachment", "q", "", 1, queued("prompt"));
    assert_eq!(facts(&line).user_text.as_deref(), Some("and the mast"));
    assert_eq!(
        said_of(&line),
        [(Class::Prose, vec!["and the mast".to_owned()])]
    );
    let line = link("attachment", "q", "", 1, queued("task-notification"));
    assert_eq!(role(&line), "injected");
}

/// Newer versions say who put a prompt there, whatever it begins with.
#[test]
fn a_prompt_is_of_the_origin_that_it_names() {
    for (origin, is_typed) in [
        (json!({"kind": "human"}), true),
        (json!({"kind": "task-notification"}), false),
        (json!({"kind": "peer", "from": "b1"}), false),
        (json!({"kind": "auto-continuation"}), false),
        (json!({}), true),
        (json!(null), true),
        (json!("peer"), true),
    ] {
        let mut line = typed("u", "", 1, "paint the hull");
        line["origin"] = origin.clone();
        let attachment = json!({"type": "queued_command", "prompt": "paint the hull",
            "commandMode": "prompt", "origin": origin});
        let queued = link("attachment", "q", "", 1, json!({"attachment": attachment}));
        for line in [line, queued] {
            let found = facts(&line);
            assert_eq!(found.is_message, is_typed, "{line}");
            let role = if is_typed { "user" } else { "injected" };
            assert_eq!(found.role.as_deref(), Some(role), "{line}");
        }
    }
    // What only begins like a notice is a person's.
    for text in [
        "Another Claude session sent a message: what is that?",
        "Stop hook feedback: where is it shown?",
        "Operation stopped by hooks: why?",
        "Unknown skill: rebase, it says",
        "Unknown skill: ",
        "Commands are in the form `/command [args]`, it says",
        "<goal>Paint the hull</goal>",
    ] {
        let mut line = typed("u", "", 1, text);
        line.as_object_mut().unwrap().remove("promptSource");
        assert!(facts(&line).is_message, "{text}");
    }
}

/// What an editor shows and what reminds the model stands beside what was typed, in a block of its
/// own or before it in one text.
#[test]
fn what_an_editor_shows_hides_no_prompt() {
    let shown = "<ide_opened_file>The file /home/ada/boat/oar.rs is open.</ide_opened_file>";
    let mut line = typed("u1", "", 1, "");
    for content in [
        json!([text(shown), text("paint the hull")]),
        json!([
            text("paint the hull"),
            text("<system-reminder>be brief</system-reminder>")
        ]),
        json!(format!("{shown}\npaint the hull")),
        json!([text(&format!(
            "<system-reminder>be brief</system-reminder>{shown} paint the hull"
        ))]),
    ] {
        line["message"]["content"] = content;
        let found = facts(&line);
        assert_eq!(found.role.as_deref(), Some("user"), "{line}");
        assert_eq!(found.user_text.as_deref(), Some("paint the hull"), "{line}");
        assert!(found.is_message);
    }
    // Selected code that holds the end of a selection says nothing in the person's place.
    let forged = "<ide_selection>a\n</ide_selection>\nforged\n</ide_selection>\n";
    for (content, is_typed) in [
        (format!("{forged}paint the hull"), true),
        (forged.to_owned(), false),
    ] {
        line["message"]["content"] = json!(content);
        let text = facts(&line).user_text;
        assert_eq!(text.as_deref(), is_typed.then_some("paint the hull"));
    }
    line["message"]["content"] = json!([text(shown), text("paint the hull")]);
    let said = said_of(&line);
    assert_eq!(said[0], (Class::Prose, vec!["paint the hull".to_owned()]));
    assert_eq!(said[1], (Class::Output, vec![shown.to_owned()]));
    for content in [
        json!([text(shown)]),
        json!(shown),
        json!([text(shown), text("[Request interrupted by user]")]),
        json!(format!("{shown}<command-name>/clear</command-name>")),
        json!("<ide_selection> without an end"),
        // The prompt that a command of older versions stands for.
        json!([
            text("<command-message>init is running</command-message>"),
            text("Look at all files")
        ]),
    ] {
        line["message"]["content"] = content;
        let found = facts(&line);
        assert_eq!(found.role.as_deref(), Some("injected"), "{line}");
        assert_eq!((found.user_text, found.is_message), (None, false), "{line}");
    }
}

#[test]
fn a_session_is_called_by_what_its_command_asked_for() {
    let command = |name: &str, words: &str| {
        let text = format!(
            "<command-message>{name} is running…</command-message>\n\
             <command-name>/{name}</command-name>\n<command-args>{words}</command-args>"
        );
        let mut line = typed("u1", "", 1, &text);
        line.as_object_mut().unwrap().remove("promptSource");
        line
    };
    let answer = said("a1", "u1", 2, "msg_1", text("red"), 5);
    let called = |lines: &[Value]| {
        let found = session(lines);
        (found.typed, found.first_message)
    };
    let some = |typed: &str, first: &str| (Some(typed.to_owned()), Some(first.to_owned()));
    let review = command("review", "the parser");
    let thanks = typed("u2", "a1", 3, "thanks");
    assert_eq!(
        called(&[review.clone(), answer.clone(), thanks.clone()]),
        some("the parser", "/review the parser")
    );
    assert_eq!(facts(&review).role.as_deref(), Some("injected"));
    // What sets something, or has no words, asks for nothing.
    for of_no_use in [
        command("model", "opus"),
        command("clear", "old work"),
        command("init", ""),
    ] {
        assert_eq!(
            called(&[of_no_use.clone(), answer.clone(), thanks.clone()]),
            some("thanks", "thanks")
        );
        let last = json!({"type": "last-prompt", "lastPrompt": "/init", "leafUuid": "a1", "sessionId": ID});
        assert_eq!(
            called(&[of_no_use, answer.clone(), last]),
            (None, Some("/init".to_owned()))
        );
    }
    let mut of_program = review;
    of_program["isMeta"] = true.into();
    assert_eq!(called(&[of_program, answer]), (None, None));
}

#[test]
fn what_was_typed_behind_a_sign_is_typed() {
    for (tag, said) in [
        ("bash-input", "git status"),
        ("user-memory-input", "use tabs"),
    ] {
        let line = typed("u", "", 1, &format!("<{tag}>{said}</{tag}>"));
        assert_eq!(facts(&line).user_text.as_deref(), Some(said));
    }
}

/// The desktop writes the first line of a person's twice; the first counts.
#[test]
fn a_line_that_comes_again() {
    let prompt = typed("u1", "", 1, "paint");
    let answer = said("a1", "u1", 2, "msg_1", text("red"), 5);
    let once = session(&[prompt.clone(), answer.clone()]);
    let mut other = prompt.clone();
    other["entrypoint"] = "claude-desktop".into();
    let twice = [prompt.clone(), other, answer.clone(), answer.clone()];
    let session_twice = session(&twice);
    assert_eq!((once.message_count, session_twice.message_count), (2, 2));
    assert_eq!(session_twice.tokens, once.tokens);
    let mut fold = Fold::default();
    let mut related = twice.iter().map(|line| {
        let mut facts = facts(line);
        Claude.relate(&mut fold, line.to_string().as_bytes(), &mut facts);
        facts
    });
    let (first, again) = (related.next().unwrap(), related.next().unwrap());
    assert_eq!(
        (first.role.as_deref(), first.is_beside),
        (Some("user"), false)
    );
    assert_eq!((again.role, again.is_beside), (None, true));
    assert_eq!(again.repeats, [Class::Prose, Class::Output]);
    // Under the same id, but not the same.
    let mut said_more = prompt.clone();
    said_more["message"]["content"] = "paint it red".into();
    assert_eq!(
        session(&[prompt.clone(), said_more, answer]).message_count,
        3
    );
    let entries = |lines: [&Value; 2]| {
        let mut fold = Fold::default();
        lines.map(|line| {
            let mut facts = facts(line);
            Claude.relate(&mut fold, line.to_string().as_bytes(), &mut facts);
            facts.is_beside
        })
    };
    // With another picture; and of long lines one that differs only far behind, or only in between.
    let picture = |data: &str| {
        let mut line = prompt.clone();
        let source = json!({"type": "base64", "data": data});
        line["message"]["content"] = json!([text("paint"), {"type": "image", "source": source}]);
        line
    };
    assert_eq!(entries([&picture("QUJD"), &picture("QUJE")]), [false; 2]);
    assert_eq!(entries([&picture("QUJD"), &picture("QUJD")]), [false, true]);
    let long = |end: &str| {
        let said_at_length = text(&format!("{}{end}", "red ".repeat(1000)));
        said("a1", "u1", 2, "msg_1", said_at_length, 5)
    };
    assert_eq!(entries([&long("hull"), &long("mast")]), [false; 2]);
    assert_eq!(entries([&long("hull"), &long("hull")]), [false, true]);
}

/// Versions of early 2025 wrote what an answer cost on each of its lines, and no `cost-state`.
#[test]
fn cost_of_answers_of_older_versions() {
    let with_cost = |mut line: Value, dollars: Value| {
        line["costUSD"] = dollars;
        line
    };
    let lines = [
        typed("u1", "", 1, "paint"),
        with_cost(said("a1", "u1", 2, "msg_1", text("red"), 5), json!(0.25)),
        with_cost(said("a2", "a1", 3, "msg_1", text("lead"), 7), json!(0.25)),
        with_cost(said("a3", "a2", 4, "msg_2", text("done"), 5), json!(0.5)),
        with_cost(said("a4", "a3", 5, "msg_3", text("odd"), 5), json!("much")),
        with_cost(said("a5", "a4", 6, "msg_4", text("owed"), 5), json!(-0.5)),
    ];
    assert_eq!(session(&lines).cost, Some(0.75));
    assert_eq!(facts(&lines[1]).usage.unwrap().cost_total, Some(0.25));
    assert_eq!(facts(&lines[5]).usage.unwrap().cost_total, None);
    let endless = lines[1].to_string().replace("0.25", "1e999");
    let endless = Claude.facts(endless.as_bytes()).usage.unwrap();
    assert_eq!(endless.cost_total, None);
}

#[test]
fn a_result_whose_twin_is_a_text() {
    let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 2\nno such boat", "is_error": true});
    let line = answered(
        "r1",
        "a1",
        3,
        block,
        json!("Error: Exit code 2\nno such boat"),
    );
    let found = facts(&line);
    assert_eq!(found.role.as_deref(), Some("toolResult"));
    assert!(found.is_error && found.calls[0].is_result);
    assert_eq!(found.calls[0].call_id.as_deref(), Some("t1"));
    assert_eq!(
        said_of(&line),
        [(Class::Output, vec!["Exit code 2\nno such boat".to_owned()])]
    );
    let unmarked = json!({"type": "tool_result", "tool_use_id": "t1", "content": "x"});
    assert!(facts(&answered("r1", "a1", 3, unmarked, json!("Error: x"))).is_error);
}

#[test]
fn system_prompts_are_apart() {
    let snapshot = json!({"attachment": {"type": "prompt_snapshot", "systemPrompt": ["You are a careful painter."], "tools": [{"name": "Bash", "description": "Runs commands"}]}});
    let snapshot = link("attachment", "p", "", 1, snapshot);
    let shape = json!({"type": "api-request-shape", "sessionId": ID, "shape": {"system": [{"type": "text", "text": "You are a careful painter."}], "tools": [{"name": "Bash", "description": "Runs commands"}]}});
    for (line, prompt) in [
        (&snapshot, "You are a careful painter."),
        (&shape, "Runs commands"),
    ] {
        assert!(facts(line).has_prompt);
        assert_eq!(said_of(line), []);
        let prompts = Claude.prompts_at(Path::new("x.jsonl"), line.to_string().as_bytes());
        assert!(prompts.iter().any(|text| text == prompt) && prompts.len() < 3);
    }
    for silent in [
        json!({"type": "api-request-blob", "hash": "x", "message": {"role": "user", "content": "paint"}}),
        json!({"type": "last-prompt", "lastPrompt": "paint", "leafUuid": "a1"}),
        link(
            "attachment",
            "x",
            "",
            1,
            json!({"attachment": {"type": "skill_listing", "content": "paint"}, "rendered": [{"content": "paint"}]}),
        ),
        link(
            "progress",
            "x",
            "",
            1,
            json!({"data": {"type": "agent_progress", "message": {"content": "paint"}}}),
        ),
        link(
            "system",
            "x",
            "",
            1,
            json!({"subtype": "turn_duration", "content": "paint"}),
        ),
    ] {
        assert_eq!(said_of(&silent), [], "{silent}");
    }
}

/// Newer versions write what a local command printed as a `system` line.
#[test]
fn what_claude_code_itself_says_is_found() {
    let said = "<local-command-stdout>Set model to opus</local-command-stdout>";
    let system = |subtype: &str, more: Value| {
        let mut line = link("system", "s1", "a1", 3, json!({"subtype": subtype}));
        add(&mut line, more);
        line
    };
    let older = said_of(&typed("u1", "", 1, said));
    for (subtype, content, class) in [
        ("local_command", said, Class::Prose),
        ("away_summary", "You paint the hull.", Class::Prose),
        ("informational", "Usage limit reached", Class::Output),
    ] {
        let line = system(subtype, json!({"content": content, "level": "notice"}));
        let found = facts(&line);
        assert_eq!(
            (&*found.kind, found.silent, found.role),
            (subtype, false, None)
        );
        assert!(!found.is_message);
        assert_eq!(said_of(&line), [(class, vec![content.to_owned()])]);
        if subtype == "local_command" {
            assert_eq!(said_of(&line), older);
        }
    }
    for line in [
        system("local_command", json!({"content": "", "level": "info"})),
        system("away_summary", json!({})),
        // What a hook reports of each of its runs.
        system(
            "informational",
            json!({"content": "Stop [lint] completed", "level": "info"}),
        ),
        system(
            "turn_duration",
            json!({"durationMs": 3, "content": "paint"}),
        ),
    ] {
        assert!(facts(&line).silent, "{line}");
        assert_eq!(said_of(&line), [], "{line}");
    }
}

#[test]
fn an_image_is_no_text() {
    let data = "QUJDREVG".repeat(8);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let block =
        json!({"type": "tool_result", "tool_use_id": "t1", "content": [image, text("a boat")]});
    let twin = json!({"type": "image", "file": {"base64": data}});
    let line = answered("r1", "a1", 3, block, twin);
    assert!(facts(&line).has_image);
    assert_eq!(said_of(&line), [(Class::Output, vec!["a boat".to_owned()])]);
}

#[test]
fn an_error_turn_is_no_answer() {
    let message = json!({"model": "<synthetic>", "content": [text("API Error: 400 no paint")], "usage": {"input_tokens": 0}});
    let line = json!({"message": message, "isApiErrorMessage": true, "apiErrorStatus": 400, "error": "unknown"});
    let line = link("assistant", "e1", "u1", 2, line);
    let found = facts(&line);
    assert!(found.is_error && !found.is_message);
    assert_eq!(
        (found.role.as_deref(), &found.model, &found.usage),
        (Some("system"), &None, &None)
    );
    assert_eq!(
        said_of(&line),
        [(Class::Output, vec!["API Error: 400 no paint".to_owned()])]
    );
}

#[test]
fn of_titles_the_last_custom_one_wins() {
    let title =
        |kind: &str, key: &str, title: &str| json!({"type": kind, key: title, "sessionId": ID});
    let prompt = typed("u1", "", 1, "paint the hull");
    let mut lines = vec![title("summary", "summary", "Boats"), prompt];
    assert_eq!(session(&lines).name.as_deref(), Some("Boats"));
    lines.push(title("ai-title", "aiTitle", "Painting boats"));
    assert_eq!(session(&lines).name.as_deref(), Some("Painting boats"));
    lines.push(title("custom-title", "customTitle", "Hull"));
    lines.push(title("ai-title", "aiTitle", "Later"));
    lines.push(title("agent-name", "agentName", "Other"));
    lines.push(title("custom-title", "customTitle", "Hull and mast"));
    let session = session(&lines);
    assert_eq!(session.name.as_deref(), Some("Hull and mast"));
    assert_eq!(session.typed.as_deref(), Some("paint the hull"));
}

#[test]
fn a_file_that_begins_without_a_directory() {
    let state = |kind: &str| json!({"type": kind, "sessionId": ID});
    let mut lines = vec![
        state("mode"),
        state("atis-latch"),
        state("queue-operation"),
        json!({"type": "file-history-snapshot", "snapshot": {}}),
        state("tools-used"),
    ];
    assert_eq!(session(&lines).hidden.as_deref(), Some("no messages"));
    lines.push(typed("u1", "", 1, "paint"));
    let mut elsewhere = typed("u2", "u1", 2, "paint");
    elsewhere["cwd"] = "/elsewhere".into();
    elsewhere["gitBranch"] = "mast".into();
    lines.push(elsewhere);
    let before = session(&lines);
    assert_eq!(before.cwd, "/home/ada/boat");
    assert_eq!(before.git_branch.as_deref(), Some("mast"));
    assert!(!before.has_moved);
    lines.push(json!({"type": "relocated", "sessionId": ID, "relocatedCwd": "/home/ada/ship"}));
    let after = session(&lines);
    assert_eq!((&*after.cwd, after.has_moved), ("/home/ada/ship", true));
}

#[test]
fn an_unknown_type() {
    let unknown = json!({"type": "zebra", "sessionId": ID, "content": "stripes"});
    let found = facts(&unknown);
    assert_eq!(
        (&*found.kind, found.is_beside, found.is_error),
        ("zebra", true, false)
    );
    assert_eq!(said_of(&unknown), []);
    // It may be a link of the chain.
    let linked = facts(&link("zebra", "z1", "u1", 1, json!({"content": "stripes"})));
    assert!(!linked.is_beside && linked.id.is_some());
    let attachment = link(
        "attachment",
        "x",
        "u1",
        1,
        json!({"attachment": {"type": "zebra", "content": "stripes"}}),
    );
    assert_eq!(said_of(&attachment), []);
    assert!(!facts(&attachment).is_beside);
}

#[test]
fn cost_over_resumes() {
    let cost = |dollars: f64| {
        json!({"type": "cost-state", "sessionId": ID, "totalCostUSD": dollars,
        "modelUsage": {"claude-opus-5-5": {"inputTokens": 3, "costUSD": dollars}}, "hasUnknownModelCost": false})
    };
    let lines = [
        typed("u1", "", 1, "paint"),
        cost(0.25),
        cost(0.5),
        cost(0.75),
    ];
    let session = session(&lines);
    assert_eq!(session.cost, Some(0.75));
    let own: Value = serde_json::from_str(&session.own.unwrap()).unwrap();
    assert_eq!(own["totalCostUSD"], 0.75);
    assert_eq!(own["modelUsage"]["claude-opus-5-5"]["inputTokens"], 3);
}

#[test]
fn the_session_stands_where_its_last_prompt_says() {
    let stands = |leaf: &str| json!({"type": "last-prompt", "lastPrompt": "paint", "leafUuid": leaf, "sessionId": ID});
    let lines = [
        typed("u1", "", 1, "paint"),
        typed("u2", "u1", 2, "sand"),
        stands("u1"),
    ];
    let found = facts(&lines[2]);
    assert_eq!(
        (found.stands_at.as_deref(), found.is_beside),
        (Some("u1"), true)
    );
    assert_eq!(session(&lines).leaf.as_deref(), Some("u1"));
    let mut on = lines.to_vec();
    on.push(typed("u3", "u1", 3, "polish"));
    assert_eq!(session(&on).leaf.as_deref(), Some("u3"));
}

#[test]
fn a_subagent() {
    let path = format!("-home-ada-boat/{ID}/subagents/agent-b1.jsonl");
    let mut lines = [
        typed("u1", "", 1, "Look around"),
        said("a1", "u1", 2, "msg_1", text("a boat"), 5),
    ];
    for line in &mut lines {
        add(line, json!({"isSidechain": true, "agentId": "b1"}));
    }
    let own = fold(&lines);
    let meta = r#"{"agentType":"general-purpose","description":"Look around","toolUseId":"toolu_1","isBuiltIn":true}"#;
    let beside = format!("-home-ada-boat/{ID}/subagents/agent-b1.meta.json");
    let found = Claude.facts_at(Path::new(&beside), meta.as_bytes());
    assert_eq!(Claude.facts_of_line(meta.as_bytes()), None);
    let mut meta = Fold::default();
    Claude.fold(&mut meta, &found);
    let session = Claude.session(&[
        source(&path, &own, SourcePart::Main),
        source(&beside, &meta, SourcePart::Side),
    ]);
    assert!(session.is_subagent);
    assert_eq!(
        (&*session.id, session.parent_session.as_deref()),
        ("agent-b1", Some(ID))
    );
    assert_eq!(session.name.as_deref(), Some("Look around"));
    assert!(session.own.unwrap().contains(r#""toolUseId":"toolu_1""#));
    assert_eq!((session.typed, session.hidden.is_some()), (None, true));
    // Another agent started it.
    let nested = json!({"agentType": "Explore", "toolUseId": "toolu_2", "spawnDepth": 2, "parentAgentId": "b0"});
    let found = Claude.facts_at(Path::new(&beside), nested.to_string().as_bytes());
    let mut nested = Fold::default();
    Claude.fold(&mut nested, &found);
    let nested = Claude.session(&[
        source(&path, &own, SourcePart::Main),
        source(&beside, &nested, SourcePart::Side),
    ]);
    // It hangs on the session, whose other subagent may be gone.
    assert_eq!(nested.parent_session, session.parent_session);
    assert!(nested.is_subagent);
    assert!(nested.own.unwrap().contains(r#""parentAgentId":"b0""#));
    // Older versions wrote it beside the sessions.
    let old = Claude.session(&[source(
        "-home-ada-boat/agent-b1.jsonl",
        &own,
        SourcePart::Main,
    )]);
    assert_eq!(old.parent_session.as_deref(), Some(ID));
    assert!(old.is_subagent);
}

#[test]
fn places() {
    let place = |path: &str| Claude.place(Path::new(path), false);
    let source = |session: &str, part, unlisted: Option<&str>| Placement::Source {
        session: session.to_owned(),
        part,
        unlisted: unlisted.map(str::to_owned),
    };
    let main = format!("p/{ID}.jsonl");
    let agent = format!("p/{ID}/subagents/agent-b1.jsonl");
    let deep = format!("p/{ID}/subagents/workflows/w1/agent-b2.jsonl");
    for (path, expected) in [
        (main.clone(), source(&main, SourcePart::Main, None)),
        (
            format!("p/{ID}/tool-results/x1.txt"),
            source(&main, SourcePart::Side, None),
        ),
        (agent.clone(), source(&agent, SourcePart::Main, None)),
        (
            agent.replace(".jsonl", ".meta.json"),
            source(&agent, SourcePart::Side, None),
        ),
        (deep.clone(), source(&deep, SourcePart::Main, None)),
        (
            "p/agent-b1.jsonl".into(),
            source("p/agent-b1.jsonl", SourcePart::Main, None),
        ),
        (
            "p/claude-session.jsonl".into(),
            source(
                "p/claude-session.jsonl",
                SourcePart::Main,
                Some("the name is not a session id"),
            ),
        ),
        (
            format!("{ID}.jsonl"),
            source(
                &format!("{ID}.jsonl"),
                SourcePart::Main,
                Some("not directly in a folder that Claude Code lists"),
            ),
        ),
        (
            format!("p/{ID}/subagents/workflows/w1/journal.jsonl"),
            Placement::Ignore("a journal of a workflow"),
        ),
        (
            "p/sessions-index.json".into(),
            Placement::Ignore("not a session file"),
        ),
    ] {
        assert_eq!(place(&path), expected, "{path}");
    }
    assert!(Claude.leaves_out(Path::new("p/memory")).is_some());
    assert!(Claude.leaves_out(Path::new("memory")).is_none());
    let spill = Path::new("p/x/tool-results/x1.txt");
    assert_eq!(Claude.shape_of(spill), Shape::Text);
    assert_eq!(
        Claude.passages_at(spill, b"one\ntwo")[0].class,
        Class::Output
    );
    assert_eq!(Claude.passages_at(spill, b"\x89PNG\0"), []);
}

/// Any line cut anywhere, and with any byte replaced, is read without a panic.
#[test]
fn damaged_lines() {
    let lines = [
        said(
            "a1",
            "u1",
            2,
            "msg_1",
            json!({"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/a"}}),
            5,
        ),
        answered(
            "r1",
            "a1",
            3,
            json!({"type": "tool_result", "tool_use_id": "t", "content": [text("x")]}),
            json!({"filePath": "/a"}),
        ),
        link(
            "attachment",
            "q",
            "",
            1,
            json!({"attachment": {"type": "queued_command", "prompt": [text("x")]}}),
        ),
    ];
    for line in lines {
        let line = line.to_string().into_bytes();
        for at in 0..line.len() {
            for byte in [b'"', b'{', b'}', b'\\', 0xff, b'7'] {
                let mut damaged = line.clone();
                damaged[at] = byte;
                for part in [&damaged[..], &damaged[..at]] {
                    if crate::json::whole(part).is_some() {
                        let facts = Claude.facts(part);
                        if let Some(of_line) = Claude.facts_of_line(part) {
                            assert_eq!(of_line, facts);
                        }
                        let _ = Claude.passages(part);
                        Claude.fold(&mut Fold::default(), &facts);
                    }
                }
            }
        }
    }
}

#[test]
fn what_nests_without_end_beside_a_session_says_nothing() {
    let beside = format!("-home-ada-boat/{ID}/subagents/agent-b1.meta.json");
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let meta = format!(r#"{{"description":"Look around","x":{open}{close}}}"#);
    let found = Claude.facts_at(Path::new(&beside), meta.as_bytes());
    assert_eq!((found.kind.as_str(), found.name), ("meta", None));
}

/// `usage.iterations` of type `advisor_message`: in no sum of the answer, as the server writes it
/// (beside 4 and 683 tokens of claude-sonnet-5 stand 91,627 and 18,716 of claude-opus-4-8).
#[test]
fn what_an_advisor_took_counts_once_under_its_own_model() {
    let one = |kind: &str, model: Value, input: i64, output: i64| {
        json!({"type": kind, "model": model, "input_tokens": input, "output_tokens": output,
            "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5})
    };
    let iterations = json!([
        one("message", Value::Null, 60, 3),
        one("advisor_message", json!("claude-opus-4-8"), 900, 40),
        one("compaction", Value::Null, 20, 1),
        one("advisor_message", json!("claude-haiku-4-5"), 8, 4),
        one("advisor_message", json!("claude-opus-4-8"), 90, 2),
        one("message", Value::Null, 20, 6),
    ]);
    let of = |uuid: &str, parent: &str, block: Value, output: i64, iterations: &Value| {
        let mut line = said(uuid, parent, 2, "msg_1", block, output);
        line["message"]["usage"]["iterations"] = iterations.clone();
        line
    };
    let asked = json!({"type": "server_tool_use", "id": "srv_1", "name": "advisor", "input": {}});
    let told = json!({"type": "advisor_tool_result", "tool_use_id": "srv_1",
        "content": {"type": "advisor_result", "text": "Use oak."}});
    let prompt = typed("a0", "", 1, "Which wood?");
    let none = json!([one("message", Value::Null, 60, 3)]);
    let blocks = [asked, told, text("Oak.")];
    // Any of its lines may say so, whatever it holds, and the last says all.
    for says in 1..=3 {
        let mut lines = vec![prompt.clone()];
        for (at, block) in (1i64..).zip(&blocks) {
            let (uuid, parent) = (format!("a{at}"), format!("a{}", at - 1));
            let iterations = if at < says { &none } else { &iterations };
            lines.push(of(&uuid, &parent, block.clone(), at + 7, iterations));
        }
        let all = fold(&lines);
        // The answer's 100, 10, 20 and 10, and the advisors'.
        assert_eq!(all.tokens, Some(140 + 990 + 42 + 14 + 10 + 8 + 4 + 7 + 5));
        assert_eq!(
            (all.messages, all.model.as_deref()),
            (2, Some("claude-opus-5-5"))
        );
    }
    let mut whole = of("a", "u", blocks[0].clone(), 10, &iterations);
    whole["message"]["content"] = json!(blocks);
    whole["requestId"] = "req_1".into();
    let whole = facts(&whole);
    assert_eq!(whole.usage.as_ref().unwrap().output, Some(10));
    let others = whole.others();
    let [opus, haiku] = &others[..] else {
        panic!("two advisors")
    };
    assert!(opus.silent && opus.is_beside && opus.id.is_none());
    assert_eq!(opus.time_ms, whole.time_ms);
    assert_eq!(opus.copied_with.as_deref(), Some("req_1"));
    let [opus, haiku] = [opus, haiku].map(|of| of.usage.clone().unwrap());
    assert_eq!(opus.model.as_deref(), Some("claude-opus-4-8"));
    assert_eq!((opus.input, opus.output), (Some(990), Some(42)));
    assert_eq!((opus.cache_read, opus.cache_write), (Some(14), Some(10)));
    assert_eq!(
        opus.response_id.as_deref(),
        Some("msg_1/advisor/claude-opus-4-8")
    );
    assert!(opus.is_repeated);
    assert_eq!(haiku.model.as_deref(), Some("claude-haiku-4-5"));
    assert_eq!((haiku.input, haiku.output), (Some(8), Some(4)));
    let plain = of("a", "u", blocks[1].clone(), 10, &none);
    assert!(facts(&plain).others().is_empty());
}

/// However many they are, they push neither themselves nor answers out of what is remembered.
#[test]
fn many_advisors_count_once() {
    let line = |uuid: &str, parent: &str, answer: &str, output: i64, advisors: usize| {
        let mut line = said(uuid, parent, 2, answer, text("Oak."), output);
        let took = |model: usize| {
            json!({"type": "advisor_message", "model": format!("m{model}"), "input_tokens": 10,
                "output_tokens": 1})
        };
        let iterations: Vec<_> = (0..advisors).map(took).collect();
        line["message"]["usage"]["iterations"] = json!(iterations);
        line
    };
    let mut lines = vec![typed("a0", "", 1, "Which wood?")];
    for at in 1..=3 {
        let (uuid, parent) = (format!("a{at}"), format!("a{}", at - 1));
        lines.push(line(&uuid, &parent, "msg_1", at + 7, 16));
    }
    let of_answer = 140;
    assert_eq!(fold(&lines).tokens, Some(of_answer + 16 * 11));

    // Lines of fifteen others stand between those of an answer.
    let mut lines = vec![typed("a0", "", 1, "Which wood?")];
    for at in 1..=17 {
        let (uuid, parent) = (format!("a{at}"), format!("a{}", at - 1));
        let answer = format!("msg_{}", at % 16);
        lines.push(line(&uuid, &parent, &answer, 10, 2));
    }
    assert_eq!(fold(&lines).tokens, Some(16 * (of_answer + 2 * 11)));
}

/// LeaderOnePro, 0/full.jsonl (2.1.267): the environment says that there is no repository.
#[test]
fn head_is_no_branch() {
    let mut line = typed("u", "", 1, "Hello");
    assert_eq!(facts(&line).git_branch.as_deref(), Some("main"));
    line["gitBranch"] = json!("HEAD");
    assert_eq!(facts(&line).git_branch, None);
}

/// What changed while a command ran (2.1.269): giulio333/ClaudeLens, issue 265; `shared` (2.1.280):
/// another command changed the repository, too.
#[test]
fn a_command_touches_what_it_changed() {
    let block =
        json!({"type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": false});
    let of = |diff: Value| {
        let twin = json!({"stdout": "", "stderr": "", "bashEditDiff": diff});
        let files = facts(&answered("r", "a", 3, block.clone(), twin)).files;
        let files = files.into_iter().map(|file| (file.path, file.modified));
        files.collect::<Vec<_>>()
    };
    let changed = json!(["/home/ada/boat/oar.rs", 7, "/home/ada/boat/mast.rs"]);
    let expected = ["/home/ada/boat/oar.rs", "/home/ada/boat/mast.rs"];
    let expected = expected.map(|path| (path.to_owned(), true));
    assert_eq!(
        of(json!({"files": [], "moreFiles": 2, "changedFiles": changed})),
        expected
    );
    assert_eq!(
        of(json!({"files": [], "shared": true, "changedFiles": changed})),
        []
    );
    assert_eq!(
        of(json!({"files": [], "moreFiles": 0, "skipped": true})),
        []
    );
}
