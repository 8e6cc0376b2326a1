//! What versions from 2.1.27x to 2.1.332 write, as their own files show it.

use serde_json::{Value, json};

use super::*;
use crate::resumes_unlisted;

fn paste(text: &str) -> String {
    format!("<pasted_content id=\"8a62\">\n{text}\n</pasted_content id=\"8a62\">\n")
}

#[test]
fn what_is_pasted_is_typed_and_its_tags_are_not() {
    let asked = format!("fix this please\n\n{}", paste("Trace axolotl"));
    let line = typed("u1", "", 1, &asked);
    let found = facts(&line);
    assert_eq!(found.user_text.as_ref(), Some(&asked));
    assert_eq!(found.role.as_deref(), Some("user"));
    // As written: by its tags it is known where it stands.
    assert_eq!(said_of(&line), [(Class::Prose, vec![asked])]);
    let of_all = session(&[line]);
    assert_eq!(
        of_all.typed.as_deref(),
        Some("fix this please Trace axolotl")
    );
    let first = "fix this please\n\nTrace axolotl";
    assert_eq!(of_all.first_message.as_deref(), Some(first));
    // Whatever is pasted, and in whatever line.
    let notice = paste("<task-notification>done</task-notification>");
    let found = facts(&typed("u1", "", 1, &notice));
    assert_eq!(found.role.as_deref(), Some("user"));
    let queued =
        json!({"type": "queued_command", "prompt": paste("a log"), "commandMode": "prompt"});
    let found = facts(&link(
        "attachment",
        "q",
        "a1",
        2,
        json!({"attachment": queued}),
    ));
    assert_eq!(found.user_text, Some(paste("a log")));
}

#[test]
fn tags_that_are_pasted_take_nothing_of_what_was_typed() {
    let title = |text: &str| session(&[typed("u1", "", 1, text)]).typed.unwrap();
    let between = format!(
        "{}mend the boat first\n{}then paint",
        paste("<a-b> one"),
        paste("two </a-b>")
    );
    let all = "<a-b> one mend the boat first two </a-b> then paint";
    // A title begins with a word.
    assert_eq!(title(&format!("now {between}")), format!("now {all}"));
    let asked = format!("why this? {}", paste("<command-args>rm all</command-args>"));
    let all = "why this? <command-args>rm all</command-args>";
    assert_eq!(title(&asked), all);
    // More is pasted than is looked at.
    let long = format!("see {}", paste(&"log ".repeat(40_000)));
    assert!(title(&long).starts_with("see log log"));
    // Behind a command.
    let words = paste("the <a-b>parser</a-b> </command-args>");
    let command =
        format!("<command-name>/review</command-name><command-args>{words}</command-args>");
    let found = session(&[typed("u1", "", 1, &command)]);
    let said = "the <a-b>parser</a-b> </command-args>";
    assert_eq!(found.typed.as_deref(), Some(said));
    assert_eq!(found.first_message, Some(format!("/review {said}")));
    // Nothing else is known; it is cut.
    for asked in [
        paste("the parser"),
        "<pasted_content id=\"8a62\">\nthe parser".to_owned(),
    ] {
        let last = json!({"type": "last-prompt", "lastPrompt": asked, "sessionId": ID});
        let first = session(&[last]).first_message.unwrap();
        assert_eq!(first.trim(), "the parser");
    }
}

/// `boundary` goes on from the line before, `tail` is the last line that it kept.
fn boundary(uuid: &str, above: Value, before: &str, head: &str, tail: &str) -> Value {
    let kept = json!({"headUuid": head, "anchorUuid": "s1", "tailUuid": tail});
    let metadata = json!({"trigger": "manual", "preTokens": 140, "preservedSegment": kept});
    let more = json!({"subtype": "compact_boundary", "compactMetadata": metadata,
        "parentUuid": above, "logicalParentUuid": before});
    link("system", uuid, "", 30, more)
}

/// "Summarize up to here" of `/rewind`.
#[test]
fn a_summary_of_what_was_said_first_goes_on_from_what_was_said_last() {
    let found = facts(&boundary("c1", Value::Null, "a1", "u2", "a2"));
    assert_eq!(found.parent.as_deref(), Some("a2"));
    let kept = found.compaction.unwrap().first_kept;
    assert_eq!(kept.as_deref(), Some("u2"));
    // `/branch` says what stands before it in the file.
    let found = facts(&boundary("c1", "a0".into(), "a1", "u2", "a2"));
    assert_eq!(found.parent.as_deref(), Some("a0"));
}

/// `/branch` of a session of which an end was summarized.
#[test]
fn what_a_compaction_kept_and_writes_again_below_itself_stands_above_it() {
    let mut lines = vec![
        typed("u1", "", 1, "paint the hull"),
        said("a1", "u1", 2, "msg_1", text("red"), 5),
        typed("u2", "a1", 3, "and the mast"),
        said("a2", "u2", 4, "msg_2", text("blue"), 5),
    ];
    let mut copies = lines.clone();
    copies[0]["parentUuid"] = "c1".into();
    let mut summary = typed("s1", "a2", 31, "We painted.");
    summary["isCompactSummary"] = true.into();
    let next = said("a3", "s1", 32, "msg_3", text("done"), 5);
    lines.push(boundary("c1", "a2".into(), "a2", "u1", "a2"));
    lines.extend(copies);
    lines.extend([summary, next]);
    let mut fold = Fold::default();
    let related = lines.iter().map(|line| {
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let (mut facts, record) = (facts(line), line.to_string());
        Claude.relate(&mut fold, record.as_bytes(), &mut facts);
        Claude.fold(&mut fold, &facts);
        (facts.id, facts.parent)
    });
    let related: Vec<_> = related.collect();
    let id = |id: &str| Some(id.to_owned());
    assert_eq!(related[4], (id("c1"), id("a2")));
    assert!(related[5..9].iter().all(|of| *of == (None, None)));
    assert_eq!(related[9..], [(id("s1"), id("c1")), (id("a3"), id("s1"))]);
    assert_eq!(session(&lines).message_count, 5);
}

/// Some compactions write what they kept below their summary.
#[test]
fn what_a_compaction_kept_and_writes_again_below_its_summary_stands_above_it() {
    for first in [0, 2] {
        let mut lines = vec![
            typed("u1", "", 1, "paint the hull"),
            said("a1", "u1", 2, "msg_1", text("red"), 5),
            typed("u2", "a1", 3, "and the mast"),
            said("a2", "u2", 4, "msg_2", text("blue"), 5),
        ];
        let mut copies = lines[first..].to_vec();
        copies[0]["parentUuid"] = "s1".into();
        let head = copies[0]["uuid"].as_str().unwrap().to_owned();
        let mut summary = typed("s1", "c1", 31, "We painted.");
        summary["isCompactSummary"] = true.into();
        lines.push(boundary("c1", Value::Null, "a2", &head, "a2"));
        lines.push(summary);
        lines.extend(copies);
        lines.push(typed("u3", "a2", 40, "and the oar"));
        let found = related(&lines);
        let id = |id: &str| Some(id.to_owned());
        let (last, copies) = found[6..].split_last().unwrap();
        assert!(copies.iter().all(|of| of.is_beside && of.id.is_none()));
        assert_eq!((&last.id, &last.parent), (&id("u3"), &id("s1")));
        assert_eq!(session(&lines).message_count, 5);
        // What is typed there once more, too.
        lines.push(typed("u4", "a2", 41, "and the rudder"));
        assert_eq!(related(&lines).pop().unwrap().parent, id("s1"));
    }
}

pub(super) fn related(lines: &[Value]) -> Vec<Facts> {
    let mut fold = Fold::default();
    let related = lines.iter().map(|line| {
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let (mut facts, record) = (facts(line), line.to_string());
        Claude.relate(&mut fold, record.as_bytes(), &mut facts);
        Claude.fold(&mut fold, &facts);
        facts
    });
    related.collect()
}

#[test]
fn a_compaction_whose_last_line_is_nowhere_goes_on_from_the_one_before() {
    let mut lines = vec![
        typed("u1", "", 1, "Where is the grebe?"),
        said("a2", "u1", 2, "msg_1", text("On the lake."), 5),
        typed("x1", "u1", 3, "Another way?"),
        boundary("c1", Value::Null, "a2", "gone", "gone2"),
    ];
    let parent = |lines: &[Value]| related(lines).pop().unwrap().parent.unwrap();
    assert_eq!(parent(&lines), "a2");
    // One that is there is believed, and so is what is said to be above; where neither of two is
    // there, the last one.
    lines[3] = boundary("c1", Value::Null, "a2", "x1", "x1");
    assert_eq!(parent(&lines), "x1");
    lines[3] = boundary("c1", "gone".into(), "a2", "gone", "gone2");
    assert_eq!(parent(&lines), "gone");
    lines[3] = boundary("c1", Value::Null, "gone", "gone", "gone2");
    assert_eq!(parent(&lines), "gone2");
}

/// In the agent view a person turns to an agent of a team.
#[test]
fn what_a_person_says_to_an_agent_is_theirs() {
    let to_agent = |uuid: &str, parent: &str, text: &str, more: Value| {
        let mut line = link("user", uuid, parent, 1, more);
        add(
            &mut line,
            json!({"isSidechain": true, "agentId": "b1",
                "message": {"role": "user", "content": text}}),
        );
        line
    };
    let human = json!({"origin": {"kind": "human"}});
    let asked = to_agent("u1", "", "Look for the heron", json!({}));
    let told = to_agent("u2", "u1", "and the kestrel", human.clone());
    let lead = json!({"origin": {"kind": "coordinator"}});
    for line in [&asked, &to_agent("u3", "u2", "and the coot", lead)] {
        assert_eq!(facts(line).role.as_deref(), Some("injected"));
    }
    assert_eq!(facts(&told).role.as_deref(), Some("user"));
    let found = session_at("p/agent-b1.jsonl", &[asked, told]);
    assert_eq!((found.message_count, found.is_subagent), (1, true));
    // It is known by what it was asked.
    assert_eq!(found.first_message.as_deref(), Some("Look for the heron"));
    assert_eq!(found.typed, None);
    // Whatever that goes on from.
    let asked = to_agent("u1", "gone", "Look for the heron", json!({}));
    let told = to_agent("u2", "u1", "and the kestrel", human.clone());
    let found = session_at("p/agent-b1.jsonl", &[asked, told]);
    assert_eq!(found.first_message.as_deref(), Some("Look for the heron"));
    assert_eq!(found.typed, None);
    // Older versions do not say that it is an agent's.
    let reminder = "/review the heron <system-reminder>x</system-reminder>";
    let asked = link(
        "user",
        "u1",
        "",
        1,
        json!({"message": {"role": "user", "content": reminder}}),
    );
    let found = session_at("p/agent-b1.jsonl", &[asked]);
    assert_eq!(found.typed.as_deref(), Some("the heron"));
    let queued = json!({"type": "queued_command", "prompt": "wait", "origin": {"kind": "human"}});
    let more = json!({"attachment": queued, "isSidechain": true, "agentId": "b1"});
    let found = facts(&link("attachment", "q", "u2", 2, more));
    assert_eq!(found.user_text.as_deref(), Some("wait"));
}

#[test]
fn an_index_of_lines_is_no_session() {
    let place = |path: &str| Claude.place(Path::new(path), false);
    let ignored = Placement::Ignore("an index of a session's lines");
    assert_eq!(place(&format!("p/{ID}/resume-head.jsonl")), ignored);
    assert_ne!(place("p/resume-head.jsonl"), ignored);
}

#[test]
fn a_file_that_a_person_names_is_read_and_found() {
    let attached = |attachment: Value| {
        link(
            "attachment",
            "f",
            "u1",
            2,
            json!({"attachment": attachment}),
        )
    };
    let file = json!({"filePath": "/w/notes.md", "content": "okapi", "numLines": 1});
    let named = attached(json!({"type": "file", "filename": "/w/notes.md",
        "content": {"type": "text", "file": file}, "displayPath": "notes.md"}));
    let found = facts(&named);
    assert_eq!(
        (found.silent, found.role, found.is_message),
        (false, None, false)
    );
    let touch = |path: &str| crate::model::FileTouch {
        path: path.to_owned(),
        modified: false,
    };
    assert_eq!(found.files, [touch("/w/notes.md")]);
    assert_eq!(said_of(&named), [(Class::Output, vec!["okapi".to_owned()])]);
    // Of a picture and a PDF only the name.
    for other in [
        json!({"type": "file", "filename": "/w/a.png",
            "content": {"type": "image", "file": {"base64": "b2thcGk="}}}),
        json!({"type": "pdf_reference", "filename": "/w/a.png", "pageCount": 90}),
    ] {
        let line = attached(other);
        assert_eq!(facts(&line).files, [touch("/w/a.png")]);
        assert_eq!(said_of(&line), []);
    }
    // What is in a directory is found, which is no file.
    let listed = |content: &str| {
        attached(
            json!({"type": "directory", "path": "/w/animals", "content": content,
            "displayPath": "animals"}),
        )
    };
    let line = listed("okapi.md\nquoll.md");
    let found = facts(&line);
    assert_eq!(
        (found.silent, found.role, found.files),
        (false, None, vec![])
    );
    let listing = "okapi.md\nquoll.md".to_owned();
    assert_eq!(said_of(&line), [(Class::Output, vec![listing])]);
    assert!(facts(&listed("\n")).silent && said_of(&listed("\n")).is_empty());
    // What the model has read already is not repeated.
    let line = attached(
        json!({"type": "already_read_file", "filename": "/w/notes.md",
        "content": {"type": "text", "file": {"content": "okapi"}}}),
    );
    assert_eq!(facts(&line).files, [touch("/w/notes.md")]);
    assert_eq!(said_of(&line), []);
    // Behind a compaction Claude Code shows the model again what was read.
    let summary = typed("s1", "c1", 31, "We painted.");
    let mut lines = [
        typed("u1", "", 1, "see @notes.md"),
        boundary("c1", "u1".into(), "u1", "u1", "u1"),
        summary,
        named.clone(),
    ];
    for (source, is_again) in [(Value::Null, true), ("typed".into(), false)] {
        lines[2]["isCompactSummary"] = is_again.into();
        lines[2]["promptSource"] = source;
        let mut fold = Fold::default();
        let related = lines.iter().map(|line| {
            let (mut facts, record) = (facts(line), line.to_string());
            Claude.relate(&mut fold, record.as_bytes(), &mut facts);
            facts
        });
        let last = related.last().unwrap();
        assert_eq!((last.silent, last.files.is_empty()), (is_again, is_again));
        assert_eq!(last.repeats == [Class::Output], is_again);
    }
    // A person may name one with a command.
    for (command, is_again) in [("compact", true), ("review", false)] {
        let name = format!("<command-name>/{command}</command-name>");
        let command = format!("{name}<command-args>@notes.md</command-args>");
        lines[2] = typed("u2", "s1", 32, &command);
        let last = related(&lines).pop().unwrap();
        assert_eq!((last.silent, last.files.is_empty()), (is_again, is_again));
    }
    // What was changed meanwhile is a reminder.
    let line = attached(json!({"type": "edited_text_file", "filename": "/w/e.md", "snippet": "x"}));
    assert!(facts(&line).silent && facts(&line).files.is_empty());
}

#[test]
fn what_agents_of_a_team_wrote_meanwhile_is_found() {
    let mail = json!({"type": "teammate_mailbox", "messages": [
        {"from": "matey", "text": "the quetzal is found", "summary": "s"}, {"from": "x"}]});
    let mail = link("attachment", "m", "a1", 2, json!({"attachment": mail}));
    let found = facts(&mail);
    assert_eq!(
        (found.role.as_deref(), found.is_message),
        (Some("injected"), false)
    );
    let prose = [(Class::Prose, vec!["the quetzal is found".to_owned()])];
    assert_eq!(said_of(&mail), prose);
    let none = json!({"attachment": {"type": "teammate_mailbox", "messages": []}});
    assert!(facts(&link("attachment", "m", "a1", 2, none)).silent);
    // It says nothing of the queue of what a person types, which old versions alone write.
    let queued = |operation: &str| {
        json!({"type": "queue-operation", "operation": operation, "sessionId": ID,
            "content": "mind the heron", "timestamp": "2026-03-01T10:00:02.000Z"})
    };
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}});
    let mut lines = [
        typed("u1", "", 1, "row"),
        said("a1", "u1", 2, "msg_1", call, 5),
        mail,
        queued("enqueue"),
        queued("remove"),
    ];
    lines[0]["version"] = "2.0.73".into();
    assert_eq!(session(&lines).message_count, 3);
}

/// To move a session to the background copies it under a new id.
#[test]
fn a_session_that_goes_on_elsewhere_is_not_listed_and_can_be_resumed() {
    let mut lines = vec![
        typed("u1", "", 1, "paint the hull"),
        json!({"type": "continued-in", "continuedInSessionId": PARENT, "sessionId": ID}),
        json!({"type": "last-prompt", "lastPrompt": "paint the hull", "sessionId": ID}),
    ];
    let hidden = session(&lines).hidden;
    assert_eq!(hidden.as_deref(), Some("it goes on in another session"));
    assert!(resumes_unlisted(
        "claude",
        &hidden.unwrap_or_default(),
        false
    ));
    assert!(!resumes_unlisted("claude", "no messages", false));
    lines.push(typed("u2", "u1", 4, "and the mast"));
    assert_eq!(session(&lines).hidden, None);
}

#[test]
fn a_branch_begins_with_no_cost_and_a_fork_with_its_origins() {
    let cost =
        json!({"type": "cost-state", "sessionId": ID, "totalCostUSD": 0.5, "modelUsage": {}});
    let copied = |more: Value| {
        let mut answer = said("a1", "u1", 2, "msg_1", text("red"), 5);
        add(&mut answer, more);
        let lines = [answer, typed("u2", "a1", 3, "and the mast"), cost.clone()];
        session(&lines)
    };
    let branch = json!({"forkedFrom": {"sessionId": PARENT, "messageUuid": "a1"}});
    let fork = json!({"requestSessionId": PARENT});
    for more in [
        json!({"forkedFrom": null, "requestSessionId": PARENT}),
        json!({"toolUseResult": {"forkedFrom": {}}, "requestSessionId": PARENT}),
    ] {
        assert_eq!(copied(more).cost, None);
    }
    let of_both = [copied(branch), copied(fork)];
    let found = of_both
        .each_ref()
        .map(|of| (of.cost, of.parent_session.as_deref()));
    assert_eq!(found, [(Some(0.5), Some(PARENT)), (None, Some(PARENT))]);
}
