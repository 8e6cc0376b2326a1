//! Lines as Codex 0.28 to 0.171 wrote them.

use serde_json::{Value, json};

use super::shapes::{
    at, call, count, event, header, item, only_facts, read, roles, sent, typed_item,
};
use super::{Rollout, line};
use crate::Format;
use crate::codex::Codex;
use crate::model::Class;

fn response(item: &Value) -> String {
    line("response_item", item)
}

fn output(id: &str, output: &Value) -> String {
    response(&json!({"type": "function_call_output", "call_id": id, "output": output}))
}

fn answer(text: &str) -> String {
    item("assistant", text)
}

/// Of each output whether it is an error, and how long its call took.
fn ends(outputs: &[Value]) -> Vec<(Option<bool>, Option<i64>)> {
    let mut lines = vec![header(&json!({}))];
    for (at, given) in outputs.iter().enumerate() {
        let id = format!("call_{at}_x");
        lines.extend([call(&id, &json!({"cmd": "x"})), output(&id, given)]);
    }
    let talk = read(&lines);
    let results = talk.calls().into_iter().skip(1).step_by(2);
    results.map(|(_, _, is_error, ms)| (is_error, ms)).collect()
}

/// The lines with their numbers, as paginated rollouts have them.
fn numbered(lines: &[String]) -> Vec<String> {
    let numbered = lines.iter().zip(0..).map(|(line, ordinal)| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["ordinal"] = json!(ordinal);
        line.to_string()
    });
    numbered.collect()
}

fn record(id: &str, tokens: i64) -> String {
    let usage = json!({"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens});
    line(
        "token_usage_record",
        &json!({"response_id": id, "usage": usage}),
    )
}

/// Of one agent to another one.
fn told(parts: &Value) -> String {
    response(&json!({"type": "agent_message", "author": "/root", "content": parts}))
}

const NEW_TASK: &str = "Message Type: NEW_TASK\nTask name: /root/torch\nSender: /root\nPayload:\n";

fn subagent(own_from: u64) -> String {
    header(
        &json!({"id": "child", "history_mode": "paginated", "forked_from_id": "parent",
        "timestamp": "2026-01-05T12:00:00.000Z", "subagent_history_start_ordinal": own_from,
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}}}),
    )
}

fn subagents_talk(own_from: u64, task: &Value) -> Vec<String> {
    let lines = [
        subagent(own_from),
        header(&json!({"id": "parent", "history_mode": "paginated"})),
        typed_item("Repair the quartz pump"),
        call("c1", &json!({"cmd": "make"})),
        output("c1", &json!("Process exited with code 2\nOutput:\ngarnet")),
        record("r1", 1000),
        count(1000, 1000),
        answer("It is the valve."),
        event(&json!({"type": "task_started"})),
        told(task),
        call("c9", &json!({"cmd": "ls"})),
        output("c9", &json!("Process exited with code 1\nOutput:\nx")),
        record("r9", 500),
        answer("Child done"),
    ];
    let lines = lines.map(|line| at("2026-01-05T12:00:01.000Z", &line));
    numbered(&lines)
}

#[test]
fn what_a_subagent_repeats_of_its_parents_lines_counts_there() {
    let encrypted = json!([{"type": "input_text", "text": NEW_TASK},
        {"type": "encrypted_content", "encrypted_content": "gAAA"}]);
    let child = read(&subagents_talk(8, &encrypted));
    assert_eq!(child.session.message_count, 1);
    assert_eq!(child.session.error_count, 1);
    assert_eq!(child.session.tokens, Some(500));
    assert_eq!(child.session.first_message.as_deref(), Some("torch"));
    assert_eq!(child.session.typed, None);
    assert_eq!(child.calls().len(), 2);
    let again = [Class::Prose, Class::Output];
    for (at, (facts, _)) in child.entries.iter().enumerate() {
        let expected = if at < 8 { &again[..] } else { &[] };
        assert_eq!(facts.repeats, expected, "{at}");
    }
    let plain = json!([{"type": "input_text", "text": NEW_TASK},
        {"type": "input_text", "text": "Find the torch"}]);
    let child = read(&subagents_talk(8, &plain));
    let first = child.session.first_message.as_deref();
    assert_eq!(first, Some("Find the torch"));
    // Nothing says so: all of it is its own.
    let all = read(&subagents_talk(0, &plain));
    assert_eq!((all.session.message_count, all.session.error_count), (2, 2));
}

/// Also what an agent tells the one that started it is nobody's prompt there.
#[test]
fn what_a_thread_is_told_by_its_agents_is_no_title() {
    let task = json!([{"type": "input_text", "text": format!("{NEW_TASK}Find the torch")}]);
    let talk = read(&[header(&json!({})), told(&task), sent("Go on")]);
    assert_eq!(talk.session.first_message.as_deref(), Some("Go on"));
    assert_eq!(talk.session.typed.as_deref(), Some("Go on"));
}

#[test]
fn what_codex_itself_refuses_is_an_error() {
    let refused = [
        "unsupported custom tool call: apply_patch",
        "write_stdin failed: Unknown process id 1",
        "failed to parse function arguments: missing field `cmd` at line 1 column 2",
        "failed to parse exec_command arguments: Error(\"x\")",
        "exec_command failed: CreateProcess { message: \"x\" }",
        "exec_command failed for `/bin/bash -lc x`: CreateProcess",
        "aborted by user after 5.4s",
        "unable to locate image at `/x.png`: No such file",
        "Full-history forked agents inherit the parent agent type; omit agent_type.",
    ];
    for (refused, end) in refused.iter().zip(ends(&refused.map(|text| json!(text)))) {
        assert_eq!(end, (Some(true), None), "{refused}");
    }
    // What a command printed is no refusal, nor is a word of it.
    let printed = [
        json!("Process exited with code 0\nOutput:\nwrite_stdin failed: x"),
        json!("The build said: exec_command failed: x"),
    ];
    assert_eq!(ends(&printed), [(Some(false), None); 2]);
}

#[test]
fn a_script_of_code_mode_is_known_by_its_command_and_may_fail() {
    let about = |code: &str| {
        let call = json!({"type": "custom_tool_call", "name": "exec", "call_id": "s1",
            "input": code});
        let talk = read(&[header(&json!({})), response(&call)]);
        talk.calls()[0].1.map(str::to_owned)
    };
    for (code, subject) in [
        (
            r#"const r = await tools.exec_command({cmd:"echo a; false"}); text(r)"#,
            "echo a; false",
        ),
        (
            r#"await tools.exec_command({"cmd": 'say "\'hi\'"'})"#,
            "say \"'hi'\"",
        ),
        (
            "// first\nawait run({workdir, cmd: `make\nall`})",
            "make\nall",
        ),
        (
            "// first\n\nthrow new Error(argv.cmd)",
            "throw new Error(argv.cmd)",
        ),
        (
            "const cmd = pick(); tools.exec_command({cmd})",
            "const cmd = pick(); tools.exec_command({cmd})",
        ),
        ("run({cmd: \"torn", "run({cmd: \"torn"),
        (
            "p(`*** Begin Patch\n*** Add File: src/a.rs\n+x\n*** End Patch`)",
            "src/a.rs",
        ),
    ] {
        assert_eq!(about(code).as_deref(), Some(subject), "{code}");
    }
    let part = |text: &str| json!({"type": "input_text", "text": text});
    let threw = json!([
        part("Script failed\nWall time 0.1 seconds\nOutput:\n"),
        part("Error: x")
    ]);
    let ran = json!([
        part("Script completed\nWall time 1.5 seconds\nOutput:\n"),
        part("Script failed\n")
    ]);
    let printed = json!("Script failed\nto say why");
    assert_eq!(
        ends(&[threw, ran, printed]),
        [
            (Some(true), Some(100)),
            (Some(false), Some(1500)),
            (Some(false), None)
        ]
    );
}

#[test]
fn patches_in_a_script_of_code_mode_name_their_files() {
    let touched = |code: &str| {
        let call = json!({"type": "custom_tool_call", "name": "exec", "call_id": "s1",
            "input": code});
        let files = only_facts(&response(&call)).files.into_iter();
        files.map(|file| file.path).collect::<Vec<_>>()
    };
    let quoted =
        r#""*** Begin Patch\n*** Add File: a b.rs\n+x\n*** Delete File: c\n*** End Patch""#;
    for (code, expected) in [
        (
            format!("text(await tools.apply_patch({quoted}))"),
            &["a b.rs", "c"][..],
        ),
        (
            format!("const p = {quoted}; await tools.apply_patch(p)"),
            &["a b.rs", "c"],
        ),
        (format!("text({quoted})"), &[]),
        // Also beside one that is known, and each once.
        (
            format!(
                "const p = {quoted}; await tools.apply_patch(p); await tools.apply_patch(p); \
                 await tools.apply_patch(`*** Begin Patch\n*** Delete File: d.rs\n*** End Patch`)"
            ),
            &["a b.rs", "c", "d.rs"],
        ),
        (
            format!(
                "if (a) await tools.apply_patch({quoted}); await tools.exec_command({{cmd: \
                 `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: d.rs\n+x\nEOF`}})"
            ),
            &["d.rs"],
        ),
        // What it names stands there, also where its lines do not.
        (
            "await tools.apply_patch(`*** Begin Patch\n*** Add File: ${a}\n+${b}\n\
             *** Add File: d\n+${b}\n*** End Patch`)"
                .to_owned(),
            &["d"],
        ),
    ] {
        assert_eq!(touched(&code), expected, "{code}");
    }
}

fn view(id: &str, gives: &str) -> [String; 2] {
    let call = json!({"type": "function_call", "name": "view_image", "call_id": id,
        "arguments": "{\"path\": \"a.png\"}"});
    [response(&call), output(id, &json!(gives))]
}

fn image() -> String {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA"});
    response(&json!({"type": "message", "role": "user", "content": [image]}))
}

const SHOWN: &str = "attached local image path";

fn messages(lines: &[Vec<String>]) -> Rollout {
    let talk = [header(&json!({})), item("user", "Look"), sent("Look")];
    read(&[&talk[..], &lines.concat()].concat())
}

#[test]
fn an_image_that_a_tool_showed_is_nobodys_prompt() {
    let shown = [view("c1", SHOWN), view("c2", SHOWN)].concat();
    let talk = messages(&[shown.clone(), vec![image(), image(), answer("Seen.")]]);
    assert_eq!(talk.session.message_count, 2);
    let last = |talk: &Rollout| talk.entries.last().unwrap().0.role.clone();
    // What a person sends is theirs: after the images, after an answer, and where an event says so.
    let sent_image = vec![image(), sent("")];
    let more = messages(&[shown.clone(), vec![image(), image()], sent_image.clone()]);
    assert_eq!(more.session.message_count, 2);
    let later = messages(&[shown.clone(), vec![answer("Seen."), image()]]);
    assert_eq!(later.session.message_count, 3);
    assert_eq!(last(&later).as_deref(), Some("user"));
    let broken_off = messages(&[shown, sent_image]);
    assert_eq!(broken_off.session.message_count, 2);
    assert_eq!(last(&broken_off).as_deref(), Some("user"));
    // No image was shown.
    let none = messages(&[
        view("c1", "no images for this model").to_vec(),
        vec![image()],
    ]);
    assert_eq!(none.session.message_count, 2);
    assert_eq!(last(&none).as_deref(), Some("user"));
}

/// `externalAgentConfig/import` of 0.171.
#[test]
fn a_prompt_whose_event_stands_before_it_is_one() {
    let of_answer = event(&json!({"type": "agent_message", "message": "It shines."}));
    let lines = [
        header(&json!({})),
        sent("Is it citrine?"),
        item("user", "Is it citrine?"),
        of_answer.clone(),
        answer("It shines."),
        sent("Again"),
        item("user", "Again"),
        count(49, 0),
    ];
    let talk = read(&lines);
    assert_eq!(talk.session.message_count, 3);
    assert_eq!(roles(&talk), ["user", "assistant", "user"]);
    assert_eq!(talk.session.tokens, None);
    let first = talk.session.first_message.as_deref();
    assert_eq!(first, Some("Is it citrine?"));
    // Typed once more: by events alone, then with items.
    let again = read(&[
        header(&json!({})),
        sent("Go on"),
        of_answer,
        item("user", "Go on"),
    ]);
    assert_eq!(again.session.message_count, 3);
    // A count of nothing else than what was cached is one.
    assert_eq!(
        read(&[header(&json!({})), count(49, 49)]).session.tokens,
        Some(49)
    );
}

/// `externalAgentConfig/import` writes all lines at once; a turn says when it began.
#[test]
fn what_was_taken_over_has_its_own_times() {
    let (import, own_ms) = ("2026-07-08T10:05:43.713Z", 1_783_505_143_713);
    let turn = |kind: &str, id: &str, times: Value| {
        let mut payload = json!({"type": kind, "turn_id": id});
        let members = payload.as_object_mut().unwrap();
        members.extend(times.as_object().cloned().unwrap_or_default());
        event(&payload)
    };
    let began = |id: &str, time: i64| turn("task_started", id, json!({"started_at": time}));
    let lines = [
        header(&json!({})),
        began("external-import-turn-1", 1_767_603_600),
        sent("Is it citrine?"),
        item("user", "Is it citrine?"),
        answer("It shines."),
        turn("task_complete", "external-import-turn-1", json!({})),
        began("external-import-turn-2", 1_767_607_200),
        item("user", "Again"),
        turn(
            "task_complete",
            "external-import-turn-2",
            json!({"completed_at": 1_767_607_205}),
        ),
        turn("thread_settings_applied", "", json!({})),
        began("01a2", 1_783_505_143),
        item("user", "And now?"),
    ];
    let talk = read(&lines.map(|line| at(import, &line)));
    let times = talk
        .entries
        .iter()
        .map(|(facts, _)| facts.time_ms.unwrap() / 1000);
    let (one, two, own) = (1_767_603_600, 1_767_607_200, 1_783_505_143);
    let ended = two + 5;
    assert_eq!(
        times.collect::<Vec<_>>(),
        [own, one, one, one, one, one, two, two, ended, own, own, own]
    );
    // A turn without a time has that of its lines.
    let unknown = [
        header(&json!({})),
        turn("task_started", "external-import-turn-1", json!({})),
        item("user", "Go on"),
    ];
    let talk = read(&unknown.map(|line| at(import, &line)));
    let last = talk.entries.last().unwrap();
    assert_eq!(last.0.time_ms.unwrap() / 1000, own);
    // Nor is any number one.
    for (seconds, ms) in [
        (253_402_300_799, 253_402_300_799_000),
        (253_402_300_800, own_ms),
        (i64::MAX, own_ms),
        (-i64::MAX, own_ms),
    ] {
        let began = began("external-import-turn-1", seconds);
        let lines = [header(&json!({})), began, item("user", "Go on")];
        let talk = read(&lines.map(|line| at(import, &line)));
        let times = talk.entries.iter().skip(1).map(|(facts, _)| facts.time_ms);
        assert_eq!(times.collect::<Vec<_>>(), [Some(ms); 2], "{seconds}");
    }
}

/// The event of a command that its person ran.
fn ended(printed: &str) -> String {
    event(
        &json!({"type": "exec_command_end", "call_id": "u1", "exit_code": 0,
        "command": ["/bin/zsh", "-lc", "ls shed"], "aggregated_output": printed}),
    )
}

/// What a message tells the model of such a command.
fn block(command: &str, printed: &str) -> String {
    let about = "Exit code: 0\nDuration: 0.1000 seconds";
    format!(
        "<user_shell_command>\n<command>\n{command}\n</command>\n<result>\n\
        {about}\nOutput:\n{printed}\n</result>\n</user_shell_command>"
    )
}

fn told_of(command: &str, printed: &str) -> String {
    item("user", &block(command, printed))
}

/// Of which lines the output is found.
fn searched(lines: &[String]) -> Vec<bool> {
    let lines = [&[header(&json!({}))], lines].concat();
    let repeats = read(&lines).entries.into_iter().skip(1);
    let repeats = repeats.map(|(facts, _)| !facts.repeats.contains(&Class::Output));
    repeats.collect()
}

/// What a command of a person's printed stands in its event and in the message to the model.
#[test]
fn what_a_typed_command_printed_is_found_once() {
    let item_ended = |printed: &str| {
        let item = json!({"type": "CommandExecution", "id": "u1", "status": "completed",
            "command": ["pwsh", "-NoProfile", "-Command", "ls shed"], "exit_code": 0,
            "aggregated_output": printed});
        event(&json!({"type": "item_completed", "item": item}))
    };
    for (lines, expected) in [
        (
            [ended("a rake\n"), told_of("ls shed", "a rake\n")],
            [true, false],
        ),
        (
            [item_ended("a rake\n"), told_of("ls shed", "a rake")],
            [true, false],
        ),
        (
            [told_of("ls shed", "a rake"), ended("a rake")],
            [true, false],
        ),
        // The message is cut, or the event is.
        (
            [
                ended("a rake and a spade"),
                told_of("ls shed", "a ... spade"),
            ],
            [true, false],
        ),
        (
            [
                ended("a ... spade"),
                told_of("ls shed", "a rake and a spade"),
            ],
            [true, true],
        ),
        ([ended("a rake"), told_of("ls", "a rake")], [true, true]),
        ([ended("a rake"), ended("a rake")], [true, true]),
        (
            [told_of("ls shed", "a rake"), told_of("ls shed", "a rake")],
            [true, true],
        ),
    ] {
        assert_eq!(searched(&lines), expected, "{lines:?}");
    }
    let pair = [ended("a rake"), told_of("ls shed", "a rake")];
    let twice = [pair.clone(), pair].concat();
    assert_eq!(searched(&twice), [true, false, true, false]);
    let passages = Codex
        .passages(told_of("ls shed", "a rake").as_bytes())
        .into_iter();
    let passages: Vec<_> = passages.map(|of| (of.class, of.pieces.join(" "))).collect();
    let result = "Exit code: 0\nDuration: 0.1000 seconds\nOutput:\na rake".to_owned();
    let expected = [
        (Class::Prose, "ls shed".to_owned()),
        (Class::Output, result),
    ];
    assert_eq!(passages, expected);
}

/// The same command may have run before, or in a script of the model's: only what it printed says
/// which two lines are of one.
#[test]
fn what_another_run_of_a_typed_command_printed_is_found() {
    let zebra = told_of("ls shed", "zebra");
    let cut = told_of("ls shed", "a ... spade");
    let both = [block("ls shed", "a rake"), block("ls", "zebra")];
    let both = both.map(|text| json!({"type": "input_text", "text": text}));
    let both = json!({"type": "message", "role": "user", "content": both});
    let looked = answer("Looked.");
    for (lines, expected) in [
        (
            vec![ended("walruswalrus"), looked.clone(), zebra.clone()],
            vec![true, true, true],
        ),
        (vec![ended("walruswalrus"), zebra.clone()], vec![true, true]),
        (vec![ended("otter"), zebra.clone()], vec![true, true]),
        (
            vec![
                ended("a rake, a spade"),
                told_of("ls shed", "an oar, a spade"),
            ],
            vec![true, true],
        ),
        (
            vec![zebra.clone(), looked.clone(), ended("oak")],
            vec![true, true, true],
        ),
        (
            vec![ended("walrus"), zebra.clone(), ended("zebra")],
            vec![true, true, false],
        ),
        // In the same words it is said, whatever stands between.
        (
            vec![ended("zebra"), looked.clone(), zebra],
            vec![true, true, false],
        ),
        (
            vec![ended("a rake and a spade"), looked, cut],
            vec![true, true, true],
        ),
        (vec![ended("a rake"), response(&both)], vec![true, true]),
    ] {
        assert_eq!(searched(&lines), expected, "{lines:?}");
    }
}

/// 0.142 and 0.154 put the summary there as an answer, without a mark.
#[test]
fn the_summary_of_a_compaction_is_no_answer() {
    let compacted = |summary: &str| {
        let message = format!("Go on from this, to assist with your own analysis:\n{summary}");
        line(
            "compacted",
            &json!({"message": message, "replacement_history": []}),
        )
    };
    let talk = |between: &[String], summary: &str| {
        let before = [answer("Working."), answer("Chalcedony stays.\n")];
        let after = [compacted(summary), answer("Done.")];
        messages(&[before.to_vec(), between.to_vec(), after.to_vec()])
    };
    let is_found = |talk: &Rollout| {
        let found = talk
            .entries
            .iter()
            .find(|(facts, _)| facts.kind == "compacted");
        found.unwrap().0.repeats.is_empty()
    };
    let summary = talk(&[record("r1", 5), count(5, 5)], "Chalcedony stays.");
    assert_eq!(summary.session.message_count, 3);
    assert!(!is_found(&summary));
    let other = talk(&[], "Agate stays.");
    assert_eq!((other.session.message_count, is_found(&other)), (4, true));
    // An answer that the summary of another version only ends with.
    let longer = talk(&[], "Agate, woodcock; last: Chalcedony stays.");
    assert_eq!((longer.session.message_count, is_found(&longer)), (4, true));
    let typed = [item("user", "Go on")];
    let earlier = talk(&typed, "Chalcedony stays.");
    assert_eq!(
        (earlier.session.message_count, is_found(&earlier)),
        (5, true)
    );
}

/// It repeats what was answered to a question, which stands in an output.
#[test]
fn what_0_171_retains_is_silent() {
    let retained = json!({"type": "verified_answer", "call_id": "c1",
        "questions": [{"question": "Which gem?", "answer": "Jade"}]});
    let talk = read(&[header(&json!({})), line("retained_context", &retained)]);
    let (facts, texts) = &talk.entries[1];
    assert!(Codex.knows(&facts.kind) && facts.silent && texts.is_empty());
}
