//! What is written again, and what is written nowhere else.

use serde_json::{Value, json};

use super::*;

/// A turn: a prompt, a call that fails, and an answer.
fn turn(number: u32) -> [Value; 4] {
    let id = |of: &str| format!("{of}{number}");
    let above = match number {
        0 => String::new(),
        _ => format!("b{}", number - 1),
    };
    let (second, call) = (
        number * 4,
        json!({"type": "tool_use", "id": id("t"), "name": "Bash", "input": {"command": "ls"}}),
    );
    let block = json!({"type": "tool_result", "tool_use_id": id("t"), "content": id("no oar "), "is_error": true});
    [
        typed(&id("u"), &above, second, &id("row ")),
        said(&id("a"), &id("u"), second + 1, &id("msg_a"), call, 5),
        answered(
            &id("r"),
            &id("a"),
            second + 2,
            block,
            json!({"stdout": "x"}),
        ),
        said(
            &id("b"),
            &id("r"),
            second + 3,
            &id("msg_b"),
            text("rowed"),
            5,
        ),
    ]
}

/// The facts of each line in the light of those before it, and the state behind the last.
fn related(lines: &[Value]) -> (Vec<Facts>, Fold) {
    let mut fold = Fold::default();
    let related = lines.iter().map(|line| {
        let mut facts = facts(line);
        let record = line.to_string();
        Claude.relate(&mut fold, record.as_bytes(), &mut facts);
        Claude.fold(&mut fold, &facts);
        facts
    });
    (related.collect(), fold)
}

/// Taking a session up again, a second compaction and `stream-json` write what came before once
/// more, as it was or with other fields around it.
#[test]
fn history_that_is_written_again_counts_once() {
    let before: Vec<Value> = (0..10).flat_map(turn).collect();
    let mut copy = before.clone();
    for line in &mut copy {
        add(
            line,
            json!({"slug": "wet-oar", "version": "2.1.331", "cwd": "/elsewhere"}),
        );
    }
    let after = turn(10);
    for copies in [
        vec![],
        vec![&before[..]],
        vec![&copy[..]],
        // The end of it, twice.
        vec![&copy[22..], &before[30..]],
    ] {
        let copies: Vec<Value> = copies.concat();
        let all = [&before[..], &copies, &after].concat();
        let of_all = session(&all);
        assert_eq!((of_all.message_count, of_all.error_count), (33, 11));
        assert_eq!(of_all.tokens, Some(22 * 135));
        assert_eq!(of_all.entry_count, all.len() as u64);
        assert_eq!(
            (&*of_all.cwd, of_all.leaf.as_deref()),
            ("/home/ada/boat", Some("b10"))
        );
        // Read on from any line on as from the first.
        let (related, fold) = related(&all);
        assert_eq!(fold, super::fold(&all));
        let is_again = |facts: &&Facts| facts.is_beside;
        assert_eq!(related.iter().filter(is_again).count(), copies.len());
        for again in related.iter().filter(is_again) {
            assert_eq!(again.repeats, [Class::Prose, Class::Output]);
            assert!(again.calls.is_empty() && again.usage.is_none() && !again.is_error);
            // What names it means the first one.
            assert_eq!((&again.id, &again.parent), (&None, &None));
        }
    }
    // What is said anew under an id that was there is another line.
    let mut other = before[0].clone();
    other["message"]["content"] = "row back".into();
    let lines = [&before[..], &[other]].concat();
    assert_eq!(session(&lines).message_count, 31);
    // What is written again right below a new line goes on from there, and counts no more: so a
    // compaction writes what it kept.
    let summary = link("system", "c", "", 40, json!({"subtype": "hook"}));
    let mut below = before[0].clone();
    below["parentUuid"] = "c".into();
    let lines = [&before[..], &[summary, below, before[1].clone()]].concat();
    assert_eq!(session(&lines).message_count, 30);
    let (found, _) = related(&lines);
    let [.., last, next] = &found[..] else {
        panic!("two lines")
    };
    assert_eq!(last.parent.as_deref(), Some("c"));
    // And so does what hangs on that.
    assert_eq!(next.parent, last.id);
    assert!(next.id.is_some() && !next.is_message && next.usage.is_none());
    assert_eq!(
        (last.role.as_deref(), last.is_message),
        (Some("user"), false)
    );
    assert!(!last.is_beside && last.repeats == [Class::Prose, Class::Output]);
}

/// The first lines of an answer have figures of what it had taken so far. Where it is written again
/// they may be those of all of it, under its own id or, as what a compaction kept, under a new one.
#[test]
fn what_is_written_again_with_later_figures_counts_once() {
    let mut lines = turn(0).to_vec();
    for id in ["a0", "k0"] {
        let mut copy = lines[1].clone();
        copy["uuid"] = id.into();
        copy["message"]["usage"]["output_tokens"] = 50.into();
        copy["message"]["stop_reason"] = "tool_use".into();
        lines.truncate(4);
        lines.push(copy);
        let (found, fold) = related(&lines);
        let copy = &found[4];
        assert!(copy.calls.is_empty() && !copy.is_message, "{id}");
        assert_eq!(copy.repeats, [Class::Prose, Class::Output]);
        assert_eq!(copy.is_beside, id == "a0");
        // What it says more is not lost.
        assert_eq!(copy.usage.as_ref().unwrap().output, Some(50));
        assert_eq!((fold.tokens, fold.messages), (Some(135 + 180), 3));
    }
    // Of an answer long ago they count as well, but not in the sum of the session.
    for answers in [20, 700] {
        let mut lines: Vec<Value> = (0..answers).flat_map(turn).collect();
        for id in ["a0", "k0", "a1"] {
            let mut copy = lines[if id == "a1" { 5 } else { 1 }].clone();
            copy["uuid"] = id.into();
            copy["message"]["usage"]["output_tokens"] = 50.into();
            lines.push(copy);
        }
        let (found, fold) = related(&lines);
        let figures = found[found.len() - 3..].iter();
        let figures = figures.map(|copy| copy.usage.as_ref()?.output);
        // Whoever said so first said it.
        assert!(figures.eq([Some(50), None, Some(50)]), "{answers}");
        assert_eq!(fold.tokens, Some(i64::from(answers) * 2 * 135));
    }
    // Another answer says the same at the same time.
    let mut other = lines[1].clone();
    other["uuid"] = "o0".into();
    other["message"]["id"] = "msg_o".into();
    lines[4] = other;
    let (found, _) = related(&lines);
    assert!(found[4].is_message && !found[4].calls.is_empty());
}

/// Some versions write all links of one hook under one id: each is one below another line.
#[test]
fn links_of_one_id_are_told_apart_by_what_they_hang_on() {
    let hook = |parent: &str| {
        let more = json!({"subtype": "hook", "content": "wet"});
        link("system", "x", parent, 3, more)
    };
    let lines = [hook("u1"), hook("a1"), hook("u1")];
    let beside: Vec<bool> = related(&lines).0.iter().map(|of| of.is_beside).collect();
    assert_eq!(beside, [false, false, true]);
}

/// Of a file without end the first lines are remembered, and the last few.
#[test]
fn the_first_lines_and_the_last_ones_are_remembered() {
    let mut fold = Fold::default();
    let mut is_again = |number: usize| {
        let line = typed(&format!("u{number}"), "", 1, &format!("row {number}")).to_string();
        let mut facts = Claude.facts(line.as_bytes());
        Claude.relate(&mut fold, line.as_bytes(), &mut facts);
        facts.is_beside
    };
    let first = 4 << 10;
    assert!((0..first + 40).all(|number| !is_again(number)));
    assert!(is_again(0) && is_again(first - 1) && is_again(first + 30));
    assert!(!is_again(first));
}

/// A long session that is taken up again.
#[test]
fn history_of_four_thousand_lines_counts_once() {
    let before: Vec<Value> = (0..1020).flat_map(turn).collect();
    let after = turn(1020);
    let (_, fold) = related(&[&before[..], &before[..], &after].concat());
    assert_eq!((fold.messages, fold.errors), (3063, 1021));
    assert_eq!(fold.tokens, Some(2042 * 135));
    // As where the lines before a copy were read in another run.
    let (_, fold) = related(&before);
    let text = serde_json::to_string(&fold).unwrap();
    assert!(text.len() < 60_000, "{}", text.len());
    assert_eq!(serde_json::from_str::<Fold>(&text).unwrap(), fold);
}

/// The lines under new ids, each going on from the one before and the first one from `above`.
fn renamed(lines: &[Value], above: &str) -> Vec<Value> {
    let mut above = above.to_owned();
    let rename = |(number, line): (usize, &Value)| {
        let mut line = line.clone();
        line["parentUuid"] = std::mem::replace(&mut above, format!("kept{number}")).into();
        line["uuid"] = above.clone().into();
        line
    };
    lines.iter().enumerate().map(rename).collect()
}

/// Some compactions write what they kept below their summary under new ids, with its times and, of
/// answers, `message.id`.
#[test]
fn what_a_compaction_kept_under_new_ids_counts_once() {
    let before: Vec<Value> = (0..12).flat_map(turn).collect();
    let more = json!({"subtype": "compact_boundary"});
    let boundary = link("system", "c", "", 50, more);
    let kept = renamed(&before[4..], "c");
    let mut after = turn(12);
    after[0]["parentUuid"] = kept[kept.len() - 1]["uuid"].clone();
    for line in &mut after {
        line["timestamp"] = "2026-03-01T10:09:00.000Z".into();
    }
    let lines = [&before[..], &[boundary], &kept, &kept, &after].concat();
    let of_all = session(&lines);
    assert_eq!((of_all.message_count, of_all.error_count), (39, 13));
    assert_eq!(of_all.tokens, Some(26 * 135));
    assert_eq!(of_all.leaf.as_deref(), Some("b12"));
    let (found, fold) = related(&lines);
    assert_eq!(fold, super::fold(&lines));
    let kept_at = before.len() + 1;
    for (line, facts) in kept.iter().zip(&found[kept_at..]) {
        // The thread goes on from them.
        let names = |key: &str| line[key].as_str().map(str::to_owned);
        assert_eq!(
            (&facts.id, &facts.parent),
            (&names("uuid"), &names("parentUuid"))
        );
        assert!(!facts.is_beside && facts.role.is_some());
        assert_eq!(facts.repeats, [Class::Prose, Class::Output]);
        assert!(facts.calls.is_empty() && facts.usage.is_none() && !facts.is_message);
    }
    // What is written once more under these ids is the same line.
    let again = &found[kept_at + kept.len()..kept_at + 2 * kept.len()];
    assert!(
        again[1..]
            .iter()
            .all(|facts| facts.is_beside && facts.id.is_none())
    );
}

/// Sessions that programs made have one time for all that was said.
#[test]
fn what_is_said_twice_at_one_time_counts_twice() {
    let lines = [typed("u1", "", 1, "row on"), typed("u2", "u1", 1, "row on")];
    assert_eq!(session(&lines).message_count, 2);
    // Whatever it says, a line is another one at another time.
    let lines = [typed("u1", "", 1, "row on"), typed("u2", "u1", 2, "row on")];
    assert_eq!(session(&lines).message_count, 2);
}

fn queued(operation: &str, content: Option<&str>) -> Value {
    let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": ID,
        "timestamp": "2026-03-01T10:00:02.000Z"});
    if let Some(content) = content {
        line["content"] = content.into();
    }
    line
}

/// A turn during which something comes, by this version; and the facts of these lines.
fn while_it_works(version: &str, lines: &[Value]) -> (Vec<Facts>, SessionFacts) {
    let [prompt, call, result, answer] = turn(0).map(|mut line| {
        line["version"] = version.into();
        line
    });
    let all = [&[prompt, call][..], lines, &[result, answer]].concat();
    let (mut facts, _) = related(&all);
    (facts.drain(2..2 + lines.len()).collect(), session(&all))
}

#[test]
fn what_was_typed_while_the_agent_worked_is_found_where_its_queue_alone_says_it() {
    let enqueue = queued("enqueue", Some("mind the heron"));
    let prose = [(Class::Prose, vec!["mind the heron".to_owned()])];
    assert_eq!(said_of(&enqueue), prose);
    // By itself it is taken for what another line says as well.
    assert_eq!(facts(&enqueue).repeats, [Class::Prose]);
    let lines = [enqueue.clone(), queued("remove", None)];
    let (found, of_all) = while_it_works("2.0.73", &lines);
    assert_eq!(found[0].role.as_deref(), Some("user"));
    assert!(found[0].repeats.is_empty() && found[0].is_beside);
    assert_eq!(of_all.message_count, 4);
    // Whose files say it once more, as a line of the person's or as an attachment.
    for (version, then) in [
        ("2.0.73", queued("dequeue", None)),
        ("2.0.73", queued("popAll", Some("mind the heron"))),
        ("2.1.101", queued("remove", None)),
        ("2.1.330", queued("remove", Some("mind the heron"))),
    ] {
        let (found, of_all) = while_it_works(version, &[enqueue.clone(), then]);
        assert_eq!(of_all.message_count, 3, "{version}");
        assert_eq!(found[0].repeats.is_empty(), version == "2.0.73");
    }
    // Another one that waits before it.
    let notice = queued(
        "enqueue",
        Some("<task-notification>done</task-notification>"),
    );
    let remove = || queued("remove", None);
    let (found, of_all) = while_it_works("2.0.73", &[notice, enqueue.clone(), remove(), remove()]);
    assert_eq!((found[0].role.as_deref(), of_all.message_count), (None, 4));
    assert_eq!(found[0].repeats, [Class::Prose]);
    let messages = found.iter().map(|facts| facts.is_message);
    assert_eq!(messages.collect::<Vec<_>>(), [false, false, false, true]);
    let command = json!({"attachment": {"type": "queued_command", "prompt": "go on", "commandMode": "prompt"}});
    let command = link("attachment", "q", "a0", 2, command);
    let (found, of_all) = while_it_works("2.0.73", &[command, enqueue, remove()]);
    assert_eq!(
        (&*found[1].repeats, of_all.message_count),
        (&[Class::Prose][..], 4)
    );
}

/// Between two calls the model thinks: what comes then it is given with the next answer of a tool.
#[test]
fn what_was_typed_between_two_calls_is_found_where_its_queue_alone_says_it() {
    let [prompt, call, result, answer] = turn(0).map(|mut line| {
        line["version"] = "2.0.73".into();
        line
    });
    let enqueue = queued("enqueue", Some("mind the heron"));
    let mut next = call.clone();
    next["uuid"] = "a1".into();
    next["parentUuid"] = "r0".into();
    next["message"]["id"] = "msg_a1".into();
    let progress = link(
        "progress",
        "p",
        "r0",
        2,
        json!({"data": {"type": "hook_progress"}}),
    );
    let lines = [
        prompt.clone(),
        call.clone(),
        result.clone(),
        progress,
        enqueue.clone(),
        next,
        queued("remove", None),
        answer.clone(),
    ];
    let (found, fold) = related(&lines);
    assert_eq!(found[4].role.as_deref(), Some("user"));
    assert!(found[4].repeats.is_empty() && found[6].is_message);
    assert_eq!(fold.messages, 5);
    // What comes while the answer is written may begin the next turn, on a line of its own.
    let (found, _) = related(&[prompt, call, result, answer, enqueue]);
    assert_eq!(found[4].repeats, [Class::Prose]);
}

/// `claude -p` writes each prompt to its queue, when nothing is under way.
#[test]
fn a_prompt_that_begins_a_turn_is_found_once() {
    let [prompt, .., answer] = turn(0).map(|mut line| {
        line["version"] = "2.0.73".into();
        line
    });
    let ask = || [queued("enqueue", Some("row 0")), queued("dequeue", None)];
    let lines = [&ask()[..], &[prompt, answer], &ask()].concat();
    let (found, _) = related(&lines);
    for at in [0, 4] {
        assert_eq!(found[at].repeats, [Class::Prose]);
        assert_eq!(found[at].role, None);
    }
    assert_eq!(session(&lines).message_count, 2);
}
