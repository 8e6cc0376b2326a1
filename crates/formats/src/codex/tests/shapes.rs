//! Shapes of lines that Codex Desktop, subagents and the rollouts of 2025 have, as public sources
//! show them.

use serde_json::{Value, json};

use super::{Rollout, line, of_lines};
use crate::Format;
use crate::codex::Codex;
use crate::model::{Facts, Fold};

const MORNING: &str = "2026-01-05T09:00:00.000Z";
const NOON: &str = "2026-01-05T12:00:00.000Z";

/// The lines as they are read; a fold that was stored between any two says the same of them.
pub(super) fn read(lines: &[String]) -> Rollout {
    let (mut kept, mut stored) = (Fold::default(), Fold::default());
    for line in lines {
        let add = |fold: &mut Fold| {
            let mut facts = Codex.facts(line.as_bytes());
            Codex.relate(fold, line.as_bytes(), &mut facts);
            Codex.fold(fold, &facts);
            facts
        };
        let text = serde_json::to_string(&stored).unwrap();
        stored = serde_json::from_str(&text).unwrap();
        assert_eq!(add(&mut kept), add(&mut stored));
    }
    let text = |fold| serde_json::to_string(fold).unwrap();
    assert_eq!(text(&kept), text(&stored));
    of_lines(lines)
}

pub(super) fn header(more: &Value) -> String {
    let mut header = json!({"id": "own", "cwd": "/w", "source": "cli"});
    for (name, value) in more.as_object().unwrap() {
        header[name] = value.clone();
    }
    line("session_meta", &header)
}

pub(super) fn item(role: &str, text: &str) -> String {
    let content = json!([{"type": "input_text", "text": text}]);
    let item = json!({"type": "message", "role": role, "content": content});
    line("response_item", &item)
}

/// The part of a paginated rollout's message that says of itself that it was typed.
pub(super) fn typed_item(text: &str) -> String {
    let about = json!({"content_item_kinds": ["user.text"]});
    let item = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": text}],
        "internal_chat_message_metadata_passthrough": about});
    line("response_item", &item)
}

pub(super) fn event(payload: &Value) -> String {
    line("event_msg", payload)
}

pub(super) fn sent(text: &str) -> String {
    event(&json!({"type": "user_message", "message": text}))
}

pub(super) fn count(total: i64, last: i64) -> String {
    let tokens =
        |count: i64| json!({"input_tokens": count, "output_tokens": 0, "total_tokens": count});
    let info = json!({"total_token_usage": tokens(total), "last_token_usage": tokens(last)});
    event(&json!({"type": "token_count", "info": info}))
}

pub(super) fn call(id: &str, arguments: &Value) -> String {
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": id,
        "arguments": arguments.to_string()});
    line("response_item", &call)
}

pub(super) fn at(time: &str, line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["timestamp"] = time.into();
    line.to_string()
}

/// What answers are counted by.
pub(super) fn counted_by(rollout: &Rollout) -> Vec<&str> {
    let usages = rollout.entries.iter();
    usages
        .filter_map(|(facts, _)| facts.usage.as_ref()?.response_id.as_deref())
        .collect()
}

/// What the copies of each call have in common.
fn copied_with(rollout: &Rollout) -> Vec<&str> {
    let entries = rollout.entries.iter();
    entries
        .filter(|(facts, _)| !facts.calls.is_empty())
        .filter_map(|(facts, _)| facts.copied_with.as_deref())
        .collect()
}

pub(super) fn roles(rollout: &Rollout) -> Vec<&str> {
    rollout.said().iter().map(|(role, _)| *role).collect()
}

pub(super) fn only_facts(line: &str) -> Facts {
    read(&[header(&json!({})), line.to_owned()])
        .entries
        .remove(1)
        .0
}

#[test]
fn what_was_typed_below_what_the_desktop_shows() {
    let files = "\n# Files mentioned by the user:\n\n## pier.png: /tmp/pier.png\n";
    let browser =
        "\n<in-app-browser-context source=\"ambient-ui-state\">\nx\n</in-app-browser-context>\n";
    for shown in [files, browser] {
        let message = format!("{shown}\n## My request:\npaint the pier\n");
        for item in [item("user", &message), typed_item(&message)] {
            let talk = read(&[header(&json!({})), item, sent(&message)]);
            let first = talk.session.first_message.as_deref();
            assert_eq!(first, Some("paint the pier"));
            assert_eq!(talk.session.typed.as_deref(), Some("paint the pier"));
            assert_eq!(talk.session.message_count, 1);
        }
    }
}

/// What an editor shows may hold the heading; what a person writes may, too.
#[test]
fn of_several_such_headings_the_last_counts_and_one_in_a_prompt_does_not() {
    let first = |message: &str| {
        let talk = read(&[header(&json!({})), item("user", message), sent(message)]);
        talk.session.first_message
    };
    let selected = "# Context from my IDE setup:\n\n## Active selection of the file:\nold\n\
        ## My request for Codex:\nold text\n## Open tabs:\n- a\n\n\
        ## My request for Codex:\nname the tide\n";
    assert_eq!(first(selected).as_deref(), Some("name the tide"));
    // The one of editors is the surer one.
    let both = "# Context from my IDE setup:\n\n## My request for Codex:\nkeep\n## My request:\nx";
    assert_eq!(
        first(both).as_deref(),
        Some("keep\n## My request:\nx"),
        "what was typed goes on to the end"
    );
    for typed in [
        "We have a pier.\n\n## My request:\npaint it",
        "# A pier\nSay \"## My request:\" aloud.",
        "# A pier\n## My request: paint it",
    ] {
        assert_eq!(first(typed).as_deref(), Some(typed));
    }
}

fn children() -> [Value; 2] {
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}});
    [
        json!({"forked_from_id": "parent"}),
        json!({"source": spawn}),
    ]
}

/// Codex does not always write the origin's header before its lines.
#[test]
fn lines_of_the_origin_without_its_header_count_with_it() {
    let lines = [
        call("call_a", &json!({"cmd": "ls"})),
        count(1050, 1050),
        count(2310, 1260),
    ];
    let parent = header(&json!({"id": "parent"}));
    let origin = read(&[std::slice::from_ref(&parent), &lines[..]].concat());
    assert_eq!(counted_by(&origin), ["parent/1050", "parent/2310"]);
    assert_eq!(copied_with(&origin), ["parent/1"]);
    let own = [call("call_b", &json!({"cmd": "pwd"})), count(2830, 520)];
    for child in children() {
        let read_after = |headers: &[String]| {
            let all = [headers, &lines[..], &own[..]].concat();
            let fork = read(&all);
            let counted = counted_by(&fork).join(" ");
            (counted, copied_with(&fork).join(" "))
        };
        let known = (
            "parent/1050 parent/2310 parent/2830".to_owned(),
            "parent/1 parent/2".to_owned(),
        );
        let child = header(&child);
        assert_eq!(read_after(std::slice::from_ref(&child)), known);
        // As where it does, and where the child's own comes once more.
        assert_eq!(read_after(&[child.clone(), parent.clone()]), known);
        assert_eq!(read_after(&[child.clone(), parent.clone(), child]), known);
    }
}

/// What begins anew repeats nothing.
#[test]
fn a_review_counts_as_itself() {
    let review = json!({"source": {"subagent": "review"}, "parent_thread_id": "parent"});
    let review = read(&[header(&review), count(1050, 1050)]);
    assert_eq!(counted_by(&review), ["own/1050"]);
}

/// In a paginated rollout a subagent repeats its parent's counts, but not the records that these
/// are counted by; what it repeats has the parent's times.
#[test]
fn counts_that_are_older_than_a_paginated_subagent_are_not_its() {
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}});
    let child = json!({"source": source, "history_mode": "paginated", "timestamp": NOON});
    let record = line(
        "token_usage_record",
        &json!({"response_id": "r9", "usage": {"input_tokens": 520, "total_tokens": 520}}),
    );
    let talk = read(&[
        at(NOON, &header(&child)),
        at(MORNING, &typed_item("sail around the world")),
        at(MORNING, &count(1050, 1050)),
        at(MORNING, &count(2310, 1260)),
        at(NOON, &typed_item("count the seals")),
        at(NOON, &count(2310, 1260)),
        at(NOON, &record),
        at(NOON, &count(2830, 520)),
    ]);
    assert_eq!(counted_by(&talk), ["r9"]);
    assert_eq!(talk.session.tokens, Some(520));
    assert_eq!(
        talk.session.first_message.as_deref(),
        Some("count the seals")
    );
}

#[test]
fn an_image_alone_is_a_message_whatever_stands_around_it() {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA"});
    let before = text("<image name=[Image #1] path=\"/tmp/a.png\">");
    let message = |content: &[Value]| {
        let item = json!({"type": "message", "role": "user", "content": content});
        line("response_item", &item)
    };
    let alone = message(&[before.clone(), image.clone(), text("</image>")]);
    let talk = read(&[header(&json!({})), alone.clone(), sent("")]);
    assert_eq!(talk.session.first_message.as_deref(), Some("[Image]"));
    assert_eq!(talk.session.message_count, 1);
    assert_eq!(only_facts(&alone).role.as_deref(), Some("user"));
    // No image, or more than it.
    let none = message(&[before, text("</image>")]);
    assert_eq!(only_facts(&none).role.as_deref(), Some("injected"));
    let more = message(&[image, text("<image> of <turn_aborted>")]);
    assert_eq!(only_facts(&more).role.as_deref(), Some("injected"));
}

#[test]
fn a_goal_is_what_was_typed_and_is_told_once() {
    let goal = |objective: &str, status: &str| {
        let goal = json!({"objective": objective, "status": status});
        event(&json!({"type": "thread_goal_updated", "goal": goal}))
    };
    let talk = read(&[
        header(&json!({})),
        goal("Ship the pier", "active"),
        item("assistant", "working"),
        goal("Ship the pier", "complete"),
        // The model may have set it.
        goal("Ship the quay", "active"),
    ]);
    assert_eq!(talk.session.first_message.as_deref(), Some("Ship the pier"));
    assert_eq!(talk.session.typed.as_deref(), Some("Ship the pier"));
    assert_eq!(
        (&talk.session.hidden, talk.session.message_count),
        (&None, 2)
    );
    let said = talk.said();
    let said: Vec<_> = said.iter().map(|(role, text)| (*role, &**text)).collect();
    assert_eq!(
        said,
        [
            ("user", "Ship the pier"),
            ("assistant", "working"),
            ("thread_goal_updated", "Ship the quay"),
        ]
    );
}

#[test]
fn a_servers_tool_that_failed_is_an_error() {
    let is_error = |result: &Value| {
        let end = json!({"type": "mcp_tool_call_end", "call_id": "c", "result": result});
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "nope"});
        let talk = read(&[
            header(&json!({})),
            call("c", &json!({})),
            event(&end),
            line("response_item", &output),
        ]);
        (talk.session.error_count, talk.calls()[1].2)
    };
    assert_eq!(is_error(&json!({"Err": "gone"})), (1, Some(true)));
    let ok = |is_error| json!({"Ok": {"content": [], "isError": is_error}});
    assert_eq!(is_error(&ok(true)), (1, Some(true)));
    assert_eq!(is_error(&ok(false)), (0, Some(false)));
    assert_eq!(is_error(&json!({"Ok": {"content": []}})), (0, Some(false)));
}

#[test]
fn a_patch_that_did_not_fit_is_an_error() {
    let is_error = |output: &str| {
        let output = json!({"type": "custom_tool_call_output", "call_id": "c", "output": output});
        only_facts(&line("response_item", &output)).is_error
    };
    assert!(is_error(
        "apply_patch verification failed: Failed to find expected lines in pier.rs:\n-a"
    ));
    assert!(!is_error("log.txt: apply_patch verification failed"));
    assert!(!is_error(
        "Success. Updated the following files:\nM pier.rs"
    ));
}

#[test]
fn a_patch_in_the_arguments_of_a_function_names_its_files() {
    let patch = "*** Begin Patch\n*** Update File: src/pier.rs\n@@\n-a\n+b\n*** End Patch";
    let asked = |tool: &str| {
        let arguments = json!({"input": patch}).to_string();
        let call = json!({"type": "function_call", "name": tool, "call_id": "c",
            "arguments": arguments});
        only_facts(&line("response_item", &call))
    };
    let facts = asked("apply_patch");
    let files: Vec<_> = facts.files.iter().map(|f| (&*f.path, f.modified)).collect();
    assert_eq!(files, [("src/pier.rs", true)]);
    assert_eq!(facts.calls[0].subject.as_deref(), Some("src/pier.rs"));
    assert!(asked("write_stdin").files.is_empty());
}

#[test]
fn what_the_desktop_starts_a_turn_with_was_not_typed() {
    let heartbeat = "<heartbeat>\n  <automation_id>daily</automation_id>\n  <instructions>\n\
        Check the pier\n  </instructions>\n</heartbeat>";
    let delegated = "<codex_delegation>\n  <source_thread_id>t</source_thread_id>\n  \
        <input>Check the pier</input>\n</codex_delegation>";
    let spoken = "<realtime_delegation>\n  <input>Check the pier</input>\n  \
        <transcript_delta>user: hello</transcript_delta>\n</realtime_delegation>";
    for block in [heartbeat, delegated, spoken] {
        for item in [item("user", block), typed_item(block)] {
            let woken = [header(&json!({})), item, sent(block)];
            let talk = read(&woken);
            let session = &talk.session;
            assert_eq!(roles(&talk), ["injected"], "{block}");
            assert!(talk.texts().contains("Check the pier"));
            assert_eq!(session.first_message.as_deref(), Some("Check the pier"));
            assert_eq!((session.message_count, &session.typed), (0, &None));
            assert_eq!(session.hidden, None);
            // The first thing that is typed then is the title.
            let more = ["And the quay?", "Why?"].map(|text| [typed_item(text), sent(text)]);
            let talk = read(&[&woken[..], &more.concat()].concat());
            assert_eq!(talk.session.typed.as_deref(), Some("And the quay?"));
            assert_eq!(
                talk.session.first_message.as_deref(),
                Some("Check the pier")
            );
        }
        // Only events.
        let talk = read(&[header(&json!({})), sent(block)]);
        assert_eq!(roles(&talk), ["injected"]);
        // What is asked about such a block was typed.
        let about = format!("{block}\nWhat is this?");
        let talk = read(&[header(&json!({})), item("user", &about), sent(&about)]);
        assert_eq!(roles(&talk), ["user"]);
    }
}

#[test]
fn what_agents_say_to_each_other_is_found() {
    let said = json!({"author": "/root", "recipient": "/root/ada", "content": "look at the pier",
        "trigger_turn": true});
    let talk = read(&[
        header(&json!({})),
        line("inter_agent_communication", &said),
        line("inter_agent_communication_metadata", &json!({"id": "m"})),
        line("security_risk_score", &json!({"score": 1})),
        line("realtime_item", &json!({"id": "r"})),
    ]);
    assert_eq!(talk.said(), [("injected", "look at the pier".to_owned())]);
    assert_eq!(talk.session.message_count, 0);
    for (facts, _) in &talk.entries {
        assert!(Codex.knows(&facts.kind), "{}", facts.kind);
        assert_eq!(facts.silent, facts.kind != "inter_agent_communication");
    }
}

#[test]
fn that_the_state_was_saved_says_nothing() {
    let state = json!({"record_type": "state"}).to_string();
    let message = json!({"type": "message", "role": "user", "content": "hello"}).to_string();
    let header = json!({"id": "own", "timestamp": MORNING}).to_string();
    let other = json!({"record_type": "hologram"}).to_string();
    let talk = read(&[header, state.clone(), message, state, other]);
    let silent: Vec<bool> = talk.entries.iter().map(|(of, _)| of.silent).collect();
    assert_eq!(silent, [true, true, false, true, false]);
    assert!(Codex.knows(&talk.entries[1].0.kind));
    assert!(!Codex.knows(&talk.entries[4].0.kind));
}

/// A provider that numbers its calls gives the same ids to all threads that one started.
#[test]
fn numbered_calls_are_told_by_their_ids() {
    for (id, is_numbered) in [
        ("call_0", true),
        ("functions.shell:0", true),
        ("7", true),
        ("call_Zk3", false),
        ("call_9081726354", false),
        ("call_", false),
        ("", false),
    ] {
        assert_eq!(super::super::fold::is_numbered(id), is_numbered, "{id}");
    }
}

/// `/review` begins with an event, of which the rollout's policy keeps the request: with a target
/// since November 2025 (`codex-rs/protocol`, `ReviewTarget`), before with the prompt, which was
/// what its person had typed where they were shown the same (`chatwidget.rs`,
/// `open_custom_prompt`). In paginated rollouts it is an item. What was typed is sent to the model
/// that reviews, and some versions write that as a message of the person's.
#[test]
fn what_was_typed_behind_review_is_found_once() {
    let custom = json!({"type": "custom", "instructions": " Mind the anchor "});
    let old = |prompt: &str, hint: &str| json!({"type": "entered_review_mode", "prompt": prompt, "user_facing_hint": hint});
    let entered = json!({"type": "EnteredReviewMode", "id": "i1", "target": custom});
    for begins in [
        json!({"type": "entered_review_mode", "target": custom, "user_facing_hint": "Mind"}),
        json!({"type": "item_completed", "item": entered}),
        old("Mind the anchor", "Mind the anchor"),
    ] {
        for repeats in [
            vec![],
            vec![sent("Mind the anchor"), sent("Mind the anchor")],
        ] {
            let begins = [header(&json!({})), event(&begins)];
            let ends = event(&json!({"type": "exited_review_mode", "review_output": null}));
            let answer = item("assistant", "It holds.");
            let rollout = read(&[&begins[..], &repeats, &[ends, answer]].concat());
            let found: Vec<_> = rollout.said().into_iter().map(|(role, _)| role).collect();
            assert_eq!(found, ["user", "assistant"]);
            assert_eq!(rollout.said()[0].1.trim(), "Mind the anchor");
            assert_eq!(rollout.session.message_count, 2);
            let first = rollout.session.first_message.as_deref();
            assert_eq!(first, Some("Mind the anchor"));
        }
    }
    // What is to be reviewed says Codex.
    let branch = json!({"type": "baseBranch", "branch": "main"});
    for begins in [
        json!({"type": "entered_review_mode", "target": branch, "user_facing_hint": "main"}),
        json!({"type": "entered_review_mode", "target": {"type": "custom", "instructions": " "}}),
        old("Review the changes against main.", "changes against main"),
    ] {
        let rollout = read(&[header(&json!({})), event(&begins)]);
        assert!(rollout.said().is_empty(), "{begins}");
        assert_eq!(rollout.session.message_count, 0);
        assert_eq!(rollout.session.hidden.as_deref(), Some("no message"));
    }
    // In a later turn the same may be typed, also behind a review that was interrupted.
    let begins = event(&json!({"type": "entered_review_mode", "target": custom}));
    for ends in ["exited_review_mode", "turn_aborted"] {
        let ends = event(&json!({"type": ends}));
        let again = sent("Mind the anchor");
        let rollout = read(&[header(&json!({})), begins.clone(), ends, again]);
        let typed = roles(&rollout).into_iter().filter(|role| *role == "user");
        assert_eq!(typed.count(), 2);
    }
}

/// Made up: an item beside the event, and what was sent as an item of the context.
#[test]
fn what_was_typed_behind_review_is_found_once_where_items_say_it_too() {
    let custom = json!({"type": "custom", "instructions": "Mind the anchor"});
    let old = event(&json!({"type": "entered_review_mode", "target": custom}));
    let entered = json!({"type": "EnteredReviewMode", "id": "i1", "target": custom});
    let new = event(&json!({"type": "item_completed", "item": entered}));
    let typed = item("user", "Mind the anchor");
    for begins in [
        vec![old.clone(), new.clone()],
        vec![new.clone(), old.clone()],
        vec![old.clone(), typed.clone(), sent("Mind the anchor")],
        vec![new, typed, sent("Mind the anchor")],
    ] {
        let answer = item("assistant", "It holds.");
        let rollout = read(&[&[header(&json!({}))][..], &begins, &[answer]].concat());
        assert_eq!(roles(&rollout), ["user", "assistant"]);
        assert_eq!(rollout.session.message_count, 2);
    }
}
