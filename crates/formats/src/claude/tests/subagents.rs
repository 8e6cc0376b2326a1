//! What is a session called in which nobody typed, and whose is a file that holds a subagent's
//! lines?

use serde_json::{Value, json};

use super::*;

fn aside(mut line: Value) -> Value {
    line["isSidechain"] = true.into();
    line
}

/// A line that some program wrote where prompts are.
fn put(text: &str) -> Value {
    let mut line = typed("u1", "", 1, text);
    line.as_object_mut().unwrap().remove("promptSource");
    line
}

#[test]
fn a_session_in_which_nothing_was_typed_is_called_by_what_it_was_started_for() {
    let answer = said("a1", "u1", 2, "msg_1", text("red"), 5);
    let called = |line: &Value| session(&[line.clone(), answer.clone()]);
    let command = "<command-message>deploy-all</command-message>\n\
        <command-name>/deploy-all</command-name>";
    let team = |summary: &str| {
        format!(
            "<teammate-message teammate_id=\"lead\"{summary}>\nLook for leaks\n</teammate-message>"
        )
    };
    for (said, name) in [
        (command.to_owned(), "/deploy-all"),
        (team(" summary=\"Leaks\""), "Leaks"),
        (team(""), "Look for leaks"),
    ] {
        let found = called(&put(&said));
        assert_eq!(found.first_message.as_deref(), Some(name));
        assert_eq!((found.typed, found.name), (None, None));
    }
    // What was asked for says more, and what was typed most.
    let last = json!({"type": "last-prompt", "lastPrompt": "/deploy-all now", "sessionId": ID});
    let with_last = session(&[put(command), answer.clone(), last]);
    assert_eq!(with_last.first_message.as_deref(), Some("/deploy-all now"));
    let thanks = typed("u2", "a1", 3, "thanks");
    let with_thanks = session(&[put(command), answer.clone(), thanks]);
    assert_eq!(with_thanks.first_message.as_deref(), Some("thanks"));
    // Nothing came of it, or a program put it there.
    assert_eq!(session(&[put(command)]).first_message, None);
    let mut of_program = put(command);
    of_program["isMeta"] = true.into();
    assert_eq!(called(&of_program).first_message, None);
}

/// Older versions wrote nothing of a subagent beside its lines.
#[test]
fn a_subagent_is_called_by_what_it_was_asked() {
    let lines = [
        typed(
            "u1",
            "",
            1,
            "<system-reminder>be brief</system-reminder>Look for the heron",
        ),
        said("a1", "u1", 2, "msg_1", text("one heron"), 5),
        typed("u2", "a1", 3, "and another"),
    ]
    .map(aside);
    let found = session_at("-home-ada-boat/agent-b1.jsonl", &lines);
    assert_eq!(found.first_message.as_deref(), Some("Look for the heron"));
    assert_eq!((found.typed, found.is_subagent), (None, true));
}

/// Editors start a subagent before anybody types, and write its lines into the session's file.
#[test]
fn a_file_that_begins_with_a_subagents_lines_is_the_persons() {
    let lines = [
        aside(typed("s1", "", 1, "Warmup")),
        typed("u1", "", 2, "paint the hull"),
        aside(said("s2", "s1", 3, "msg_s", text("ready"), 5)),
        said("a1", "u1", 4, "msg_1", text("red"), 5),
        aside(said("s3", "s2", 5, "msg_t", text("still ready"), 5)),
    ];
    let found = session(&lines);
    assert_eq!(
        (found.message_count, found.leaf.as_deref()),
        (2, Some("a1"))
    );
    assert_eq!(found.first_message.as_deref(), Some("paint the hull"));
    assert_eq!((found.is_subagent, found.tokens), (false, Some(3 * 135)));
    assert_eq!(
        found.hidden.as_deref(),
        Some("its first line is a subagent's")
    );
    // Until somebody else says something it is the subagent's, whatever the file is called.
    let early = session(&lines[..1]);
    assert!(early.is_subagent);
    assert_eq!(early.first_message.as_deref(), Some("Warmup"));
    assert_eq!(early.parent_session, None);
    assert_eq!(early.hidden.as_deref(), Some("a subagent's session"));
    // Lines of one behind the first change nothing.
    assert_eq!(session(&lines[1..]).hidden, None);
}
