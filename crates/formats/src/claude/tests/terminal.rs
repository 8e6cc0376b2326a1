//! What versions from 2.0.60 to 2.1.331 write where somebody sits before them, as their own files
//! show it.

use serde_json::{Value, json};

use super::newer::related;
use super::*;

const THIRD: &str = "0a000000-0000-4000-8000-000000000003";

/// From what each line goes on.
fn above(lines: &[Value]) -> Vec<String> {
    let above = related(lines).into_iter().map(|facts| facts.parent);
    above.map(Option::unwrap_or_default).collect()
}

/// A user line without any mark.
fn put(uuid: &str, parent: &str, second: u32, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    link("user", uuid, parent, second, json!({"message": message}))
}

fn synthetic(text: &str, more: Value) -> Value {
    let usage = json!({"input_tokens": 0, "output_tokens": 0});
    let message = json!({"id": "m1", "model": "<synthetic>", "stop_reason": "stop_sequence",
        "content": [{"type": "text", "text": text}], "usage": usage});
    let mut line = link("assistant", "a1", "u1", 2, json!({"message": message}));
    add(&mut line, json!({"isApiErrorMessage": false}));
    add(&mut line, more);
    line
}

#[test]
fn an_answer_that_was_broken_off_is_the_models_though_no_model_is_named() {
    let said = "The vervet sits in";
    let line = synthetic(said, json!({}));
    let found = facts(&line);
    assert_eq!(found.role.as_deref(), Some("assistant"));
    assert!(found.is_message && !found.is_error);
    assert_eq!((found.model, found.usage), (None, None));
    assert_eq!(said_of(&line), [(Class::Prose, vec![said.to_owned()])]);
    let before = said_in(&[]);
    assert_eq!(
        said_in(std::slice::from_ref(&line)),
        (before.0 + 1, before.1)
    );
    // What Claude Code says itself, and what failed.
    for (text, more) in [
        ("No response requested.", json!({})),
        ("(no content)", json!({})),
        ("API Error: 500", json!({})),
        (said, json!({"isApiErrorMessage": true})),
        (said, json!({"isApiErrorMessage": null})),
        (said, json!({"error": "server_error"})),
        (" ", json!({})),
    ] {
        let line = synthetic(text, more);
        assert_eq!(facts(&line).role.as_deref(), Some("system"), "{line}");
        assert!(!facts(&line).is_message, "{line}");
        let is_output = said_of(&line).iter().all(|of| of.0 == Class::Output);
        assert!(is_output, "{line}");
    }
}

/// The messages and the model of a session with these lines behind an answer.
fn said_in(lines: &[Value]) -> (u64, Option<String>) {
    let answer = said("a0", "u0", 1, "msg_1", text("red"), 5);
    let all = [&[typed("u0", "", 0, "paint"), answer][..], lines].concat();
    let found = session(&all);
    (found.message_count, found.model)
}

#[test]
fn a_command_that_compacts_is_not_typed_twice() {
    for text in ["/compact", "/compact keep the wombat", "/compact\nkeep"] {
        let mut line = put("u1", "a1", 5, text);
        // Earlier versions sent it to the model where they did not know it.
        assert!(facts(&line).is_message && !facts(&line).silent);
        add(&mut line, json!({"promptId": "p1"}));
        let found = facts(&line);
        assert_eq!(found.role.as_deref(), Some("injected"), "{text}");
        assert!(found.silent && !found.is_message && found.user_text.is_none());
        // The command is written once more only where the compaction came to its end.
        assert_eq!(found.repeats, []);
    }
    let boundary = link(
        "system",
        "c1",
        "",
        6,
        json!({"subtype": "compact_boundary",
        "logicalParentUuid": "a1"}),
    );
    let name = "<command-name>/compact</command-name>\n<command-args>keep</command-args>";
    let mut begins = put("u1", "a1", 5, "/compact keep");
    add(&mut begins, json!({"promptId": "p1"}));
    let lines = [
        typed("u0", "", 1, "paint"),
        said("a1", "u0", 2, "msg_1", text("red"), 5),
        begins,
        boundary,
        put("u2", "c1", 7, name),
    ];
    let found = session(&lines);
    assert_eq!(
        (found.message_count, found.leaf.as_deref()),
        (2, Some("u2"))
    );
    // Who types it, pasted or in the middle of a turn, types it.
    let human = json!({"origin": {"kind": "human"}});
    for more in [
        json!({"promptSource": "typed"}),
        json!({"promptSource": "sdk"}),
        human,
    ] {
        let mut line = put("u1", "a1", 5, "/compact keep");
        add(&mut line, json!({"promptId": "p1"}));
        add(&mut line, more);
        assert!(facts(&line).is_message && !facts(&line).silent, "{line}");
    }
    for text in ["/compactor", "see /compact", "/compact-it now"] {
        assert!(facts(&put("u1", "a1", 5, text)).is_message, "{text}");
    }
}

#[test]
fn what_is_said_of_an_unknown_command_is_nobodys() {
    for said in [
        "Unknown skill: walrus",
        "Unknown slash command: walrus",
        "Unknown command: /walrus",
        "Unknown command: /walrus. Did you mean /wal?",
        "Unknown command: /wal.rus",
    ] {
        let found = facts(&put("u1", "", 1, said));
        assert_eq!(found.role.as_deref(), Some("injected"), "{said}");
        assert!(facts(&typed("u1", "", 1, said)).is_message, "{said}");
    }
    for said in [
        "Unknown command: walrus",
        "Unknown command: /walrus. Did you mean it?",
        "Unknown command: /walrus in the log",
        "Unknown slash command: walrus, why?",
        "Unknown slash command: ",
    ] {
        assert!(facts(&put("u1", "", 1, said)).is_message, "{said}");
    }
}

/// The session in which the plan was made.
fn planned_in(session: &SessionFacts) -> Option<String> {
    let own: Value = serde_json::from_str(session.own.as_deref()?).unwrap();
    own["plannedIn"].as_str().map(str::to_owned)
}

/// What a session begins with where a person accepted a plan and cleared the context.
fn planned(uuid: &str, parent: &str, path: &str, more: Value) -> Value {
    let text = format!(
        "Implement the following plan:\n\n# Paint the shoebill\n\n\nIf you need specific details \
         from before exiting plan mode, read the full transcript at: {path}"
    );
    let mut line = put(uuid, parent, 1, &text);
    line["planContent"] = "# Paint the shoebill".into();
    add(&mut line, more);
    line
}

#[test]
fn a_session_that_begins_with_a_plan_names_the_one_that_made_it() {
    let path = format!("/home/ada/.claude/projects/-home-ada-boat/{PARENT}.jsonl");
    let windows = format!("C:\\Users\\ada\\.claude\\projects\\C--boat\\{PARENT}.jsonl");
    let cost = json!({"type": "cost-state", "sessionId": ID, "totalCostUSD": 0.5});
    for (path, more) in [
        (&path, json!({})),
        (&path, json!({"origin": {"kind": "auto-continuation"}})),
        (&windows, json!({})),
    ] {
        let plan = planned("u1", "", path, more);
        let found = facts(&plan);
        assert_eq!(found.role.as_deref(), Some("injected"));
        let next = typed("u2", "a1", 3, "and the mast");
        let lines = [
            plan,
            said("a1", "u1", 2, "msg_1", text("red"), 5),
            next,
            cost.clone(),
        ];
        let found = session(&lines);
        // It is no copy of that one.
        assert_eq!(found.parent_session, None);
        assert_eq!(planned_in(&found).as_deref(), Some(PARENT));
        assert_eq!((found.message_count, found.cost), (2, Some(0.5)));
        assert_eq!(found.typed.as_deref(), Some("Paint the shoebill"));
        assert_eq!(found.created_ms, facts(&lines[0]).time_ms);
        // A copy of it comes from that one, and costs what that had cost.
        let mut copied = lines.clone();
        copied[1]["requestSessionId"] = THIRD.into();
        let found = session(&copied);
        assert_eq!(found.parent_session.as_deref(), Some(THIRD));
        assert_eq!((found.cost, planned_in(&found)), (None, None));
    }
    // Who pastes such a text typed it, and other paths name no session.
    let mut pasted = planned("u1", "", &path, json!({}));
    pasted.as_object_mut().unwrap().remove("planContent");
    let found = session(&[pasted]);
    assert_eq!((found.message_count, planned_in(&found)), (1, None));
    let found = session(&[planned("u1", "", "/home/ada/notes.jsonl", json!({}))]);
    assert_eq!(planned_in(&found), None);
    let own = planned("u1", "", &format!("/x/{ID}.jsonl"), json!({}));
    assert_eq!(planned_in(&session(&[own])), None);
}

#[test]
fn a_copy_that_names_no_origin_has_no_cost_of_its_own() {
    let cost = json!({"type": "cost-state", "sessionId": ID, "totalCostUSD": 0.5});
    let of = |lines: &[Value]| {
        let found = session(&[lines, std::slice::from_ref(&cost)].concat());
        (found.cost, found.parent_session)
    };
    let more = json!({"subtype": "compact_boundary", "logicalParentUuid": "gone"});
    let boundary = link("system", "c1", "", 1, more);
    let mut summary = put("s1", "c1", 1, "We painted.");
    summary["isCompactSummary"] = true.into();
    let next = typed("u1", "s1", 2, "and the mast");
    // `--fork-session` of a session that was compacted begins with the compaction.
    assert_eq!(
        of(&[boundary.clone(), summary.clone(), next.clone()]),
        (None, None)
    );
    let asked = typed("u0", "", 0, "paint");
    let lines = [asked.clone(), boundary.clone(), summary, next];
    assert_eq!(of(&lines), (Some(0.5), None));
    // One that is compacted before anything is said goes on from nothing.
    let first = link(
        "system",
        "c1",
        "",
        1,
        json!({"subtype": "compact_boundary"}),
    );
    assert_eq!(of(&[first]), (Some(0.5), None));
    // `/branch` begins its figure with nothing.
    let mut branched = boundary;
    branched["forkedFrom"] = json!({"sessionId": PARENT, "messageUuid": "c1"});
    assert_eq!(of(&[branched]), (Some(0.5), Some(PARENT.to_owned())));
    // `/fork`.
    let attached = |attachment: Value| {
        link(
            "attachment",
            "f1",
            "u0",
            3,
            json!({"attachment": attachment}),
        )
    };
    let briefing = attached(json!({"type": "fork_briefing", "text": "You are a fork."}));
    assert_eq!(of(&[asked.clone(), briefing.clone()]), (None, None));
    let path = format!("/home/ada/.claude/projects/-home-ada-boat/{PARENT}.jsonl");
    // Of a session that began with a plan it is no copy of the one that made that.
    assert_eq!(
        of(&[planned("u0", "", &path, json!({})), briefing]),
        (None, None)
    );
    let other = attached(json!({"type": "skill_listing", "content": "\"fork_briefing\""}));
    assert_eq!(of(&[asked, other]), (Some(0.5), None));
}

#[test]
fn what_a_hook_told_the_model_of_a_tool_that_ran_is_found() {
    let told = |event: &str, said: &str| {
        let error = json!({"blockingError": said, "command": "lint"});
        let attachment = json!({"type": "hook_blocking_error", "hookName": "PostToolUse:Bash",
            "hookEvent": event, "blockingError": error});
        link(
            "attachment",
            "h1",
            "r1",
            3,
            json!({"attachment": attachment}),
        )
    };
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let line = told(event, "[lint]: tenrec is unused");
        let found = facts(&line);
        assert_eq!((found.silent, found.role), (false, None));
        let said = "[lint]: tenrec is unused".to_owned();
        assert_eq!(said_of(&line), [(Class::Output, vec![said])]);
    }
    // Of others other lines say it, too.
    for line in [
        told("Stop", "tenrec"),
        told("PreToolUse", "tenrec"),
        told("PostToolUse", " "),
    ] {
        assert!(facts(&line).silent, "{line}");
        assert_eq!(said_of(&line), [], "{line}");
    }
}

#[test]
fn that_another_model_answers_is_a_notice() {
    let notice = "Switched to Sonnet 4.6 due to high demand for Opus 4.6";
    let more = json!({"subtype": "model_fallback", "content": notice, "level": "warning"});
    let line = link("system", "s1", "a1", 3, more);
    let found = facts(&line);
    assert_eq!((found.silent, found.role), (false, None));
    assert_eq!(said_of(&line), [(Class::Output, vec![notice.to_owned()])]);
}

#[test]
fn what_clear_says_of_itself_stands_above_the_session() {
    let name = "<command-name>/clear</command-name>\n<command-args></command-args>";
    let mut caveat = put(
        "m1",
        "",
        1,
        "<local-command-caveat>Caveat: no</local-command-caveat>",
    );
    caveat["isMeta"] = true.into();
    let printed = json!({"subtype": "local_command",
        "content": "<local-command-stdout></local-command-stdout>"});
    let mut lines = vec![
        caveat,
        put("m2", "m1", 1, name),
        link("system", "m3", "m2", 1, printed),
        typed("u1", "", 2, "paint the hull"),
        said("a1", "u1", 3, "msg_1", text("red"), 5),
    ];
    assert_eq!(above(&lines), ["", "m1", "m2", "m3", "u1"]);
    // A person may go back to before all of it.
    lines.push(typed("u2", "", 4, "paint the mast"));
    assert_eq!(above(&lines)[5], "");
    // Another command says nothing of the sort.
    lines[1] = put("m2", "m1", 1, &name.replace("clear", "model"));
    assert_eq!(above(&lines)[3], "");
}
