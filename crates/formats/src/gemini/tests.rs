//! What a session's header and the kinds of its lines say of the session. What a log of changes
//! says is tested with the index, in `tests/gemini.rs`.

use std::path::Path;

use serde_json::{Value, json};

use super::Gemini;
use crate::model::{Class, Facts, Fold, SessionFacts, SourcePart};
use crate::{Format, SourceFacts};

fn folded(file: &str, records: &[&[u8]]) -> Fold {
    let relative = Path::new("aviary/chats").join(file);
    let mut fold = Fold::default();
    for record in records {
        let mut facts = Gemini.facts_at(&relative, record);
        Gemini.relate(&mut fold, record, &mut facts);
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
/// Qwen Code 0.1.4 wrote these documents, and called its answers so.
#[test]
fn answers_of_qwen_code_are_answers() {
    let answer = |kind: &str| {
        json!({"id": "a2", "type": kind, "content": "a booby", "model": "m1",
            "thoughts": [{"subject": "S", "description": "a frigatebird"}],
            "tokens": {"input": 100, "output": 30, "cached": 20, "total": 130},
            "toolCalls": [{"id": "c1", "name": "write_file", "status": "success",
                "args": {"file_path": "/code/tern.ts"}, "result": [{"functionResponse":
                {"id": "c1", "name": "write_file", "response": {"output": "a skimmer"}}}]}]})
    };
    assert_eq!(texts_of(&answer("qwen")), texts_of(&answer("gemini")));
    let of = |kind: &str| {
        document(&json!({"sessionId": "7d1c0a52", "projectHash": "5e",
            "messages": [says("user", "a gannet"), answer(kind)]}))
    };
    let session = of("qwen");
    assert_eq!(session, of("gemini"));
    assert_eq!((session.message_count, session.tokens), (2, Some(130)));
}

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

/// The facts of lines in the order of their file, read on from what was stored after each of them,
/// and the fold over all.
fn related(lines: &[Value]) -> (Vec<Facts>, Fold) {
    let relative = Path::new("aviary/chats/session-2026-01-05T09-00-7d1c0a52.jsonl");
    let mut fold = Fold::default();
    let mut found = Vec::new();
    for line in lines {
        let bytes = line.to_string().into_bytes();
        fold = serde_json::from_value(serde_json::to_value(&fold).unwrap()).unwrap();
        let mut facts = Gemini.facts_at(relative, &bytes);
        Gemini.relate(&mut fold, &bytes, &mut facts);
        Gemini.fold(&mut fold, &facts);
        found.push(facts);
    }
    let texts: Vec<String> = lines.iter().map(Value::to_string).collect();
    let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let at_once = folded("session-2026-01-05T09-00-7d1c0a52.jsonl", &bytes);
    let shown = |fold: &Fold| serde_json::to_value(fold).unwrap();
    assert_eq!(shown(&fold), shown(&at_once));
    (found, fold)
}

/// All prose, and all output.
fn texts_of(line: &Value) -> (Vec<String>, Vec<String>) {
    let passages = Gemini.passages(line.to_string().as_bytes());
    let of = |class| {
        let passages = passages.iter().filter(|passage| passage.class == class);
        passages
            .flat_map(|passage| passage.pieces.clone())
            .collect()
    };
    (of(Class::Prose), of(Class::Output))
}

fn shell(status: &str, output: &str) -> Value {
    let response = json!({"id": "c1", "name": "run_shell_command", "response": {"output": output}});
    let result = [json!({"functionResponse": response})];
    json!({"id": "g1", "type": "gemini", "content": "", "toolCalls": [{"id": "c1",
        "name": "run_shell_command", "args": {"command": "ls"}, "result": result, "status": status}]})
}

#[test]
fn what_the_program_puts_in_is_not_typed() {
    let editor = "Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{\"activeFile\":\"emu.ts\"}\n```";
    let changes = "Here is a summary of changes in the user's editor context, in JSON format. This is for your information only.\n```json\n{}\n```";
    let folders =
        "- **Workspace Directories:**\n  - /home/ada\n- **Directory Structure:**\n\nemu.ts";
    let snapshot = "<state_snapshot>\n<overall_goal>Count emus</overall_goal>\n</state_snapshot>";
    let mut go_on = says("user", "Please continue.");
    go_on["displayContent"] = json!([{"text": "Feed the owl"}]);
    let lines = [
        header("main"),
        says("user", editor),
        says("user", "Feed the owl"),
        says("user", changes),
        says("user", folders),
        go_on.clone(),
        says("user", snapshot),
    ];
    let (facts, fold) = related(&lines);
    let roles: Vec<_> = facts.iter().filter_map(|f| f.role.as_deref()).collect();
    let put_in = "injected";
    assert_eq!(roles, [put_in, "user", put_in, put_in, put_in, put_in]);
    let session = log(&lines);
    assert_eq!(session.first_message.as_deref(), Some("Feed the owl"));
    assert_eq!((session.message_count, fold.messages), (1, 1));
    let compacted: Vec<bool> = facts.iter().map(|f| f.compaction.is_some()).collect();
    assert_eq!(compacted, [false, false, false, false, false, false, true]);
    // It is found, and what was typed before is not found in it again.
    assert_eq!(texts_of(&lines[1]).0, [editor]);
    assert_eq!(texts_of(&lines[6]).0, [snapshot]);
    let none: [&str; 0] = [];
    assert_eq!(texts_of(&go_on).0, ["Please continue."]);
    assert_eq!(texts_of(&go_on).1, none);
    // The context may stand before the summary.
    let context = "<session_context>\nlark";
    let both =
        json!({"id": "k1", "type": "user", "content": [{"text": context}, {"text": snapshot}]});
    let summary = Gemini.facts(both.to_string().as_bytes());
    assert_eq!(summary.role.as_deref(), Some(put_in));
    assert!(summary.compaction.is_some() && !summary.is_message);
    assert_eq!(texts_of(&both).0, [snapshot]);
    // A person may say so, too.
    let pasted = "System: Potential loop detected. Details: Patterns. What does this mean?\n";
    let facts = Gemini.facts(says("user", pasted).to_string().as_bytes());
    assert_eq!(
        (facts.role.as_deref(), facts.is_message),
        (Some("user"), true)
    );
    for shown in [json!(null), json!([{"text": "Please continue."}])] {
        go_on["displayContent"] = shown;
        let facts = Gemini.facts(go_on.to_string().as_bytes());
        assert_eq!(facts.user_text.as_deref(), Some("Please continue."));
    }
}

/// Until it had a file of its own a subagent worked within the session (0.20.2 to 0.33.0).
#[test]
fn what_a_subagent_within_the_session_is_told_is_not_typed() {
    let told = "Your task is to do a deep investigation of the codebase to find all relevant files, code locations.";
    let asked = "Your task is to answer the following question about Gemini CLI:\n<question>a lynx";
    let warned =
        "You have exceeded the time limit. You have one final chance to complete the task now.";
    let mut lines = vec![says("user", "Ask the helper")];
    for text in [told, asked, warned] {
        lines.extend([says("user", text), says("gemini", text)]);
    }
    lines.push(says(
        "user",
        "You have exceeded the time limit. What does this mean?",
    ));
    let (facts, fold) = related(&lines);
    let roles: Vec<_> = facts.iter().filter_map(|f| f.role.as_deref()).collect();
    let told_and_answered = ["injected", "assistant"].repeat(3);
    assert_eq!(roles[1..7], told_and_answered);
    assert_eq!([roles[0], roles[7]], ["user", "user"]);
    assert_eq!(fold.messages, 5);
    assert_eq!(texts_of(&lines[1]).0, [told]);
    // Where it has a file, that is called by it.
    let mut alone = header("subagent");
    alone["messages"] = json!([lines[1]]);
    assert_eq!(document(&alone).first_message.as_deref(), Some(told));
}

/// What tells it in later versions is not there (0.20.2).
#[test]
fn what_older_versions_put_in_is_not_typed() {
    let init = "\nYou are an AI agent that brings the power of Gemini directly into the terminal. Look at an ibis";
    let mut prompt = says("user", init);
    let facts = Gemini.facts(prompt.to_string().as_bytes());
    assert_eq!(facts.user_text.as_deref(), Some("/init"));
    assert_eq!(facts.role.as_deref(), Some("user"));
    assert_eq!(
        texts_of(&prompt),
        (vec!["/init".to_owned()], vec![init.to_owned()])
    );
    prompt["displayContent"] = json!([{"text": "/init it"}]);
    let facts = Gemini.facts(prompt.to_string().as_bytes());
    assert_eq!(facts.user_text.as_deref(), Some("/init it"));

    let at = |second: u32, mut line: Value| {
        line["timestamp"] = format!("2026-01-05T09:00:{second:02}.000Z").into();
        line
    };
    let go_on = |second| at(second, says("user", "Please continue."));
    let answer = at(10, says("gemini", "I will look"));
    let called = at(10, shell("success", ""));
    let mut as_parts = go_on(11);
    as_parts["content"] = json!([{"text": "Please continue."}]);
    for (before, go_on, typed) in [
        (&answer, go_on(11), false),
        // Later versions say what was typed before, and a person may say so.
        (&answer, as_parts, true),
        (&answer, go_on(30), true),
        (&called, go_on(11), true),
    ] {
        let (facts, fold) = related(&[before.clone(), go_on]);
        assert_eq!(fold.messages, 1 + u64::from(typed));
        let role = if typed { "user" } else { "injected" };
        assert_eq!(facts[1].role.as_deref(), Some(role));
    }
}

/// What is shown with them was typed before (0.61.0, `client`).
#[test]
fn what_the_loop_detector_and_hooks_say_is_not_typed() {
    let shown = |id: &str, text: &str, shown: &str| json!({"id": id, "type": "user", "content": [{"text": text}], "displayContent": [{"text": shown}]});
    let prompt = "walk the dingo";
    let detected = "System: Potential loop detected. Details: Repetitive patterns identified. Please take a step back.";
    let hook = "Tests fail: fix the ocelot";
    let file = "look at @emu.ts\n--- Content from referenced files ---\nemu";
    let lines = [
        header("main"),
        says("user", prompt),
        shown("u2", detected, prompt),
        shown("u3", hook, prompt),
        says("gemini", "Fixed."),
        // Another prompt, what looks alike, and commands and files, which may be typed again.
        shown("u4", hook, "walk the emu"),
        says("user", "walk the emu"),
        shown("u5", "Review it all", "/review"),
        shown("u6", "Review it all again", "/review"),
        shown("u7", file, "look at @emu.ts"),
        shown("u8", file, "look at @emu.ts"),
    ];
    let (facts, fold) = related(&lines);
    let roles: Vec<_> = facts.iter().filter_map(|f| f.role.as_deref()).collect();
    let (put_in, user) = ("injected", "user");
    assert_eq!(roles[..4], [user, put_in, put_in, "assistant"]);
    assert_eq!(roles[4..], [user; 6]);
    assert_eq!(fold.messages, 8);
    // What the hook says is found as output: the prompt is known.
    assert_eq!(facts[3].repeats, [Class::Prose]);
    assert_eq!(texts_of(&lines[3]).1, [hook]);
    assert_eq!(texts_of(&lines[2]).0, [detected]);
}

#[test]
fn what_is_typed_while_tools_run_is_typed() {
    let call = shell("success", "Output: lynx");
    let given = call["toolCalls"][0]["result"][0].clone();
    let words = "use the pelican instead";
    for begin in ["User steering update:", "User hints:"] {
        let text = format!(
            "{begin}\n<user_input>\n{words}\n</user_input>\nInternal instruction: Re-evaluate."
        );
        let hint = json!({"id": "u2", "type": "user", "content": [{"text": text}, given]});
        let lines = [
            header("main"),
            says("user", "Feed the owl"),
            call.clone(),
            hint,
        ];
        let (facts, fold) = related(&lines);
        let hinted = &facts[3];
        assert_eq!(hinted.role.as_deref(), Some("user"));
        assert_eq!(hinted.user_text.as_deref(), Some(words));
        assert!(hinted.is_message && !hinted.is_beside);
        assert_eq!(fold.messages, 3);
        // What the tool gave back beside it is the copy that it always is.
        assert!(hinted.calls.is_empty());
        assert_eq!(hinted.repeats, [Class::Output]);
        let (prose, output) = texts_of(&lines[3]);
        assert_eq!(prose, [words]);
        assert_eq!(output, ["Output: lynx"]);
        let alone = json!({"id": "u2", "type": "user", "content": text});
        let facts = Gemini.facts(alone.to_string().as_bytes());
        assert_eq!(facts.user_text.as_deref(), Some(words));
    }
    // What stands beside the answers else is a tool's.
    let beside = json!({"id": "u2", "type": "user", "content": [{"text": "a page"}, given]});
    let facts = Gemini.facts(beside.to_string().as_bytes());
    assert_eq!(facts.role.as_deref(), Some("toolResult"));
}

/// What 0.61.0 puts beside hints and answers of tools (`local-executor`).
#[test]
fn what_stands_beside_a_hint_or_an_answer_is_found() {
    let call = shell("success", "Output: lynx");
    let given = call["toolCalls"][0]["result"][0].clone();
    let hint =
        json!({"text": "User hints:\n<user_input>\n- prefer pelican\n</user_input>\n\nInternal."});
    let ended = "Background execution update:\n<background_output>\nheron\n</background_output>\n\nIt is done.";
    let user = |parts: Value| json!({"id": "u2", "type": "user", "content": parts});
    // What a subagent is told behind a hint is its title.
    let told = user(json!([hint, {"text": "count the ibex"}]));
    let facts = Gemini.facts(told.to_string().as_bytes());
    assert_eq!(facts.user_text.as_deref(), Some("count the ibex"));
    let none: [&str; 0] = [];
    assert_eq!(texts_of(&told).0, ["- prefer pelican", "count the ibex"]);
    assert_eq!(texts_of(&told).1, none);
    // What ended in the background is nobody's message, and is found though the answers are known.
    for (parts, role, prose) in [
        (json!([{"text": ended}, given]), "injected", &[ended][..]),
        (json!([{"text": ended}]), "injected", &[ended]),
        (
            json!([{"text": ended}, hint, given]),
            "user",
            &[ended, "- prefer pelican"],
        ),
    ] {
        let line = user(parts);
        let (facts, _) = related(&[
            header("main"),
            says("user", "w"),
            call.clone(),
            line.clone(),
        ]);
        assert_eq!(facts[3].role.as_deref(), Some(role));
        assert_eq!(facts[3].is_message, role == "user");
        assert!(!facts[3].is_beside && !facts[3].repeats.contains(&Class::Prose));
        assert!(facts[3].calls.is_empty());
        assert_eq!(texts_of(&line).0, prose);
    }
}

#[test]
fn of_a_command_behind_a_bang_only_the_command_is_typed() {
    let text = "I ran the following shell command:\n```sh\ngit status heron\n```\n\nThis produced the following result:\n```\nOn branch macaw\n```";
    let line = says("user", text);
    let facts = Gemini.facts(line.to_string().as_bytes());
    assert_eq!(facts.role.as_deref(), Some("user"));
    assert_eq!(facts.user_text.as_deref(), Some("git status heron"));
    let (prose, output) = texts_of(&line);
    assert_eq!(prose, ["git status heron"]);
    assert_eq!(output, ["On branch macaw"]);
}

/// A compression makes one message of it and of what was typed next.
#[test]
fn a_prompt_behind_a_command_behind_a_bang_is_typed() {
    let command = "I ran the following shell command:\n```sh\ncat emu\n```\n\nThis produced the following result:\n```\nan emu\n```";
    let both = json!({"id": "u1", "type": "user", "content": [{"text": command}, {"text": "Busy with a lynx"}]});
    let (prose, output) = texts_of(&both);
    assert_eq!(prose, ["cat emu", "Busy with a lynx"]);
    assert_eq!(output, ["an emu"]);
}

#[test]
fn a_command_that_failed_is_an_error() {
    let wrapped = "<untrusted_context>\nOutput: owl\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>";
    let old = "Command: ls\nDirectory: (root)\nOutput: owl\nError: (none)\nExit Code: 1\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7";
    for (output, failed) in [
        (wrapped, true),
        (old, true),
        // As an `AfterTool` hook leaves it.
        (
            &*format!("{wrapped}\n\n<hook_context>be nice\nExit Code: 0</hook_context>"),
            true,
        ),
        (
            "Output: owl\n\n<hook_context>Exit Code: 3</hook_context>",
            false,
        ),
        // A command that says such a mark itself.
        (
            &*wrapped.replace("owl", "grep said\n\n<hook_context> is the mark"),
            true,
        ),
        (&*old.replace("Code: 1", "Code: 0"), false),
        (&*old.replace("Code: 1", "Code: (none)"), false),
        ("Output: Exit Code: 3\nowl\nProcess Group PGID: 7", false),
        ("Output: owl", false),
    ] {
        let call = shell("success", output);
        let given = call["toolCalls"][0]["result"].clone();
        let copy = json!({"id": "u2", "type": "user", "content": given});
        for line in [&call, &copy] {
            let facts = Gemini.facts(line.to_string().as_bytes());
            assert_eq!(facts.is_error, failed, "{output}");
        }
        let (facts, fold) = related(&[header("main"), call.clone(), copy]);
        assert_eq!((facts[1].is_error, facts[2].is_error), (failed, false));
        assert_eq!(fold.errors, u64::from(failed), "{output}");
        // A later version of the message adds another call.
        let mut longer = call.clone();
        let mut second = longer["toolCalls"][0].clone();
        second["id"] = json!("c2");
        second["result"] = json!([]);
        longer["toolCalls"].as_array_mut().unwrap().push(second);
        let (facts, fold) = related(&[header("main"), call, longer]);
        assert_eq!(facts[2].calls.len(), 2, "{output}");
        assert_eq!(fold.errors, u64::from(failed), "{output}");
    }
    // Another tool's answer may say anything.
    let mut read = shell("success", wrapped);
    read["toolCalls"][0]["name"] = json!("read_file");
    assert!(!Gemini.facts(read.to_string().as_bytes()).is_error);
}

/// The facts of all entries of these lines, cut and read on from what was stored after each line,
/// and the fold over all.
fn read_lines(lines: &[Value]) -> (Vec<Facts>, Fold) {
    let saved = read_lines_from(lines, true);
    let at_once = read_lines_from(lines, false);
    let shown = |read: &(Vec<Facts>, Fold)| serde_json::to_value(&read.1).unwrap();
    assert_eq!(shown(&saved), shown(&at_once));
    assert_eq!(saved.0, at_once.0);
    saved
}

fn read_lines_from(lines: &[Value], is_saved: bool) -> (Vec<Facts>, Fold) {
    let relative = Path::new("aviary/chats/session-2026-01-05T09-00-7d1c0a52.jsonl");
    let mut fold = Fold::default();
    let mut found = Vec::new();
    for line in lines {
        let line = line.to_string().into_bytes();
        if is_saved {
            fold = serde_json::from_value(serde_json::to_value(&fold).unwrap()).unwrap();
        }
        Gemini.fold_line(&mut fold, &line);
        let mut within = Gemini.entries_within(&fold, &line);
        if within.is_empty() {
            within.push(0..line.len());
        }
        for at in within {
            let record = &line[at];
            let mut facts = Gemini.facts_at(relative, record);
            Gemini.relate(&mut fold, record, &mut facts);
            Gemini.fold(&mut fold, &facts);
            found.push(facts);
        }
    }
    (found, fold)
}

/// A session that was compressed, as 0.61.0 does it (`chatCompressionService`,
/// `updateMessagesFromHistory`): what it keeps of the conversation has new ids, and so have the
/// answers of tools.
fn compressed(behind: &[Value]) -> Vec<Value> {
    let user =
        |id: &str, text: &str| json!({"id": id, "type": "user", "content": [{"text": text}]});
    let gemini = |id: &str, parts: Value| json!({"id": id, "type": "gemini", "content": parts});
    let mut call = shell("success", "Output: lynx");
    call["id"] = json!("g2");
    let given = call["toolCalls"][0]["result"].clone();
    let asked = json!([{"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}}]);
    let kept = json!([
        user("k1", "<state_snapshot>\nibis\n</state_snapshot>"),
        gemini(
            "k2",
            json!([{"text": "Got it. Thanks for the additional context!"}])
        ),
        user("k3", "walrus two"),
        gemini("k4", asked),
        json!({"id": "k5", "type": "user", "content": given}),
        gemini("k6", json!([{"text": "answer two"}])),
    ]);
    let mut answer = gemini("g3", json!("answer two"));
    answer["thoughts"] = json!([{"subject": "Walrus", "description": "I count"}]);
    let mut lines = vec![
        header("main"),
        user("u1", "whale one"),
        gemini("g1", json!("answer one")),
        user("u2", "walrus two"),
        call,
        json!({"id": "r2", "type": "user", "content": given}),
        answer,
        json!({"$set": {"messages": kept}}),
    ];
    lines.extend(behind.iter().cloned());
    lines
}

#[test]
fn a_compressed_session_goes_on_from_what_was_kept() {
    let prompt = json!({"id": "u3", "type": "user", "content": "heron three"});
    let (facts, fold) = read_lines(&compressed(&[prompt]));
    let parent = |id: &str| {
        let entry = facts.iter().find(|facts| facts.id.as_deref() == Some(id));
        entry.unwrap().parent.clone()
    };
    let mut branch = vec![fold.leaf.unwrap()];
    while let Some(before) = parent(branch.last().unwrap()) {
        branch.push(before);
    }
    branch.reverse();
    assert_eq!(branch, ["k1", "k2", "k3", "k4", "k5", "k6", "u3"]);
}

/// A compression makes one message of those of a person that follow each other (0.61.0,
/// `coalesceConsecutiveRoles`).
#[test]
fn what_a_compression_merges_is_known_and_typed() {
    let user = |id: &str, texts: &[&str]| {
        let parts: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
        json!({"id": id, "type": "user", "content": parts})
    };
    let context = "<session_context>\nBelow /home/ada.\n</session_context>";
    let editor = "Here is the user's editor context as a JSON object. This is for your information only.\n{}";
    for (apart, output) in [
        (["whale one", "walrus two"], &[][..]),
        ([editor, "whale one"], &[editor]),
        ([context, "whale one"], &[]),
    ] {
        let kept = user("k3", &apart);
        let lines = [
            header("main"),
            user("u1", &apart[..1]),
            user("u2", &apart[1..]),
            says("gemini", "One."),
            json!({"$set": {"messages": [user("k1", &["<state_snapshot>"]), kept]}}),
        ];
        let (facts, fold) = read_lines(&lines);
        let typed = apart
            .iter()
            .filter(|text| !["Her", "<se"].contains(&&text[..3]));
        let typed: Vec<&str> = typed.copied().collect();
        assert_eq!(fold.messages, 1 + typed.len() as u64, "{apart:?}");
        let of_kept = facts
            .iter()
            .find(|f| f.id.as_deref() == Some("k3"))
            .unwrap();
        assert_eq!(of_kept.role.as_deref(), Some("user"));
        assert_eq!(of_kept.user_text.as_deref(), Some(&*typed.concat()));
        assert_eq!(of_kept.repeats, [Class::Prose]);
        assert!(!of_kept.is_message && !of_kept.silent);
        let (prose, put_in) = texts_of(&user("k3", &apart));
        assert_eq!(
            (prose, put_in),
            (
                typed.iter().map(|t| t.to_string()).collect(),
                output.iter().map(|t| t.to_string()).collect()
            )
        );
    }
}

/// What is kept and then gets a later version is still no more than what was kept.
#[test]
fn later_versions_of_what_was_kept_count_no_more() {
    let lines = compressed(&[]);
    let kept = |at: usize| lines[7]["$set"]["messages"][at].clone();
    let called = |line: &Value, id: &str| {
        let mut line = line.clone();
        line["toolCalls"] = lines[4]["toolCalls"].clone();
        line["toolCalls"][0]["id"] = json!(id);
        line
    };
    let mut answered = kept(5);
    answered["tokens"] = json!({"input": 5, "output": 2, "total": 7});
    let behind = [
        answered,
        called(&kept(3), "c1"),
        kept(2),
        called(&kept(5), "c9"),
        called(&kept(5), "c9"),
        json!({"id": "u3", "type": "user", "content": "heron three"}),
    ];
    let (facts, fold) = read_lines(&compressed(&behind));
    assert_eq!(fold.messages, 6);
    let calls = facts.iter().flat_map(|facts| &facts.calls);
    let calls = calls.map(|call| (call.call_id.as_deref(), call.is_result));
    let calls: Vec<_> = calls.collect();
    let of = |id: &'static str| [(Some(id), false), (Some(id), true)];
    assert_eq!(calls, [of("c1"), of("c9")].concat());
}

/// Where results of tools are masked, all that is remembered is written once more, each message as
/// a line (0.61.0, `recordSyntheticMessage`). Of a prompt it cannot be told that nobody typed it.
#[test]
fn answers_and_calls_that_are_written_once_more_count_once() {
    let mut lines = compressed(&[json!({"id": "u3", "type": "user", "content": "heron three"})]);
    lines[2]["model"] = json!("gemini-3-pro");
    lines[4]["model"] = json!("gemini-3-pro");
    let set = lines[7]["$set"]["messages"].as_array().unwrap().clone();
    lines.splice(7..7, set[2..].iter().cloned());
    let kept: Vec<_> = set[2..].to_vec();
    lines[11] = json!({"$set": {"messages": kept}});
    let (facts, fold) = read_lines(&lines);
    let calls = facts.iter().flat_map(|facts| &facts.calls);
    assert_eq!(calls.count(), 2);
    // Three prompts, one of them twice, and three answers.
    assert_eq!(fold.messages, 7);
    let of_answer = facts
        .iter()
        .find(|f| f.id.as_deref() == Some("k6"))
        .unwrap();
    assert_eq!(of_answer.repeats, [Class::Prose]);
    // What a model says itself may be the same.
    lines[10]["model"] = json!("gemini-3-pro");
    assert_eq!(read_lines(&lines).1.messages, 8);
}

/// A prompt, an answer, and a line that all is written anew with, each of its time.
fn wrote(second: u32, id: &str, kind: &str, texts: &[&str]) -> Value {
    let parts: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
    json!({"id": id, "timestamp": format!("2026-01-05T09:00:{second:02}.000Z"), "type": kind, "content": parts})
}

/// Where a person refuses a call, 0.57.0 to 0.61.0 write each message once more, and `$set` with
/// all of them (`setHistory`).
fn refused() -> Vec<Value> {
    let context = "<session_context>\nlark";
    let answer = |second, id: &str, text: &str| {
        let mut line = wrote(second, id, "gemini", &[]);
        line["content"] = text.into();
        line["model"] = "gemini-3-pro".into();
        line
    };
    let last_updated = json!({"$set": {"lastUpdated": "2026-01-05T09:00:20.000Z"}});
    let mut call = shell("cancelled", "");
    call["id"] = "g3".into();
    call["timestamp"] = "2026-01-05T09:00:12.000Z".into();
    call["model"] = "gemini-3-pro".into();
    let anew = [
        wrote(20, "k1", "user", &[context, "go on heron"]),
        wrote(20, "k2", "gemini", &["done one"]),
        wrote(20, "k3", "user", &["go on heron"]),
        wrote(20, "k4", "gemini", &["done two"]),
    ];
    let mut lines = vec![
        header("main"),
        json!({"$set": {"messages": [wrote(0, "c0", "user", &[context])]}}),
        wrote(1, "u1", "user", &["go on heron"]),
        answer(2, "g1", "done one"),
        // The same words, typed again.
        wrote(3, "u2", "user", &["go on heron"]),
        answer(4, "g2", "done two"),
        wrote(11, "u3", "user", &["touch the owl"]),
        call,
        wrote(20, "i1", "info", &["Request cancelled."]),
        last_updated.clone(),
    ];
    for line in anew.clone() {
        lines.extend([line, last_updated.clone()]);
    }
    lines.push(json!({"$set": {"messages": anew}}));
    lines
}

fn parents(facts: &[Facts], from: &str) -> Vec<String> {
    let parent = |id: &str| {
        let of = facts.iter().find(|facts| facts.id.as_deref() == Some(id));
        of.and_then(|facts| facts.parent.clone())
    };
    let mut branch = vec![from.to_owned()];
    while let Some(before) = parent(branch.last().unwrap()) {
        branch.push(before);
    }
    branch
}

#[test]
fn what_is_written_anew_for_a_refused_call_counts_once() {
    let mut lines = refused();
    let none_typed = lines.len();
    // Behind it the same may be typed again, as soon as one can.
    lines.push(wrote(20, "u4", "user", &["go on heron"]));
    let mut answer = wrote(21, "g4", "gemini", &[]);
    answer["content"] = "done two".into();
    answer["model"] = "gemini-3-pro".into();
    lines.push(answer);
    // A call has no text and counts as an answer.
    assert_eq!(read_lines(&lines[..10]).1.messages, 6);
    // Cut at any place, none of it counts.
    for read in 10..=none_typed {
        assert_eq!(read_lines(&lines[..read]).1.messages, 6, "{read}");
    }
    let (facts, fold) = read_lines(&lines);
    assert_eq!(fold.messages, 8);
    let of = |id: &str| facts.iter().find(|f| f.id.as_deref() == Some(id)).unwrap();
    for id in ["k1", "k2", "k3", "k4"] {
        assert_eq!(of(id).repeats, [Class::Prose], "{id}");
    }
    assert!(of("u2").is_message && of("u4").repeats.is_empty());
    // It is a branch of its own, from which the session goes on.
    assert_eq!(parents(&facts, "g4"), ["g4", "u4", "k4", "k3", "k2", "k1"]);
    // Refused once more, all of it is still known.
    let mut twice = lines.clone();
    for line in &refused()[10..] {
        let line = line
            .to_string()
            .replace("\"k", "\"l")
            .replace("09:00:", "09:01:");
        twice.push(serde_json::from_str(&line).unwrap());
    }
    assert_eq!(read_lines(&twice).1.messages, 8);
}

/// A program that ended in the middle of it, and what is typed then.
#[test]
fn what_is_typed_behind_what_was_cut_is_typed() {
    let lines = refused();
    for behind in [
        vec![wrote(40, "u5", "user", &["go on heron"])],
        vec![
            json!({"$set": {"sessionId": "7d1c0a52"}}),
            json!({"$set": {"messages": [wrote(20, "k1", "user", &[])]}}),
            wrote(20, "u5", "user", &["go on heron"]),
        ],
    ] {
        for cut in 11..lines.len() {
            let cut = [&lines[..cut], &behind].concat();
            let (facts, fold) = read_lines(&cut);
            assert_eq!(fold.messages, 7);
            let typed = facts.last().unwrap();
            assert!(typed.is_message && typed.repeats.is_empty());
        }
    }
    // What says what was shown for it is none of it.
    let mut lines = lines[..12].to_vec();
    let mut typed = wrote(20, "u5", "user", &["go on heron"]);
    typed["displayContent"] = json!([{"text": "go on heron"}]);
    lines.push(typed);
    assert_eq!(read_lines(&lines).1.messages, 7);
}

/// Of a conversation that another session saved all is new, also where it says a thing twice.
#[test]
fn what_another_session_said_counts() {
    let lines = refused();
    let alone = [&lines[..2], &lines[10..]].concat();
    let (facts, fold) = read_lines(&alone);
    assert_eq!(fold.messages, 4);
    assert!(
        facts
            .iter()
            .all(|facts| facts.repeats.is_empty() || facts.silent)
    );
    // Until 0.53.0 the context is a line of its own.
    let mut apart = lines.clone();
    apart[10]["content"].as_array_mut().unwrap().remove(1);
    apart.insert(11, wrote(20, "k0", "user", &["go on heron"]));
    apart.pop();
    apart.push(wrote(40, "u4", "user", &["heron three"]));
    let (facts, fold) = read_lines(&apart);
    assert_eq!(fold.messages, 7);
    assert_eq!(parents(&facts, "u4"), ["u4", "k4", "k3", "k2", "k0"]);
    // The lines of a document say when each was typed, and none of them is written anew.
    let of_document = apart[..12].iter().filter(|line| line["id"].is_string());
    let of_document: Vec<_> = of_document.cloned().collect();
    let (_, fold) = related(&of_document);
    assert_eq!(fold.messages, 7);
}

/// A context in the middle says nothing of what stands behind it.
#[test]
fn what_is_typed_again_behind_a_context_is_typed() {
    let context = |id: &str| json!({"id": id, "type": "user", "content": [{"text": "<session_context>\nlark"}]});
    let prompt =
        |id: &str, text: &str| json!({"id": id, "type": "user", "content": [{"text": text}]});
    let answer = |id: &str, text: &str| json!({"id": id, "type": "gemini", "model": "gemini-3-pro", "content": text});
    let (facts, fold) = read_lines(&[
        header("main"),
        context("c0"),
        prompt("u1", "go on heron"),
        answer("g1", "done one"),
        context("c1"),
        prompt("u2", "go on heron"),
        prompt("u3", "new owl"),
        answer("g2", "done two"),
    ]);
    assert_eq!(fold.messages, 5);
    let of = |id: &str| facts.iter().find(|f| f.id.as_deref() == Some(id)).unwrap();
    assert!(of("u2").is_message && of("u2").repeats.is_empty());
    // It is one branch.
    for (id, parent) in [("u2", "c1"), ("c1", "g1"), ("u1", "c0")] {
        assert_eq!(of(id).parent.as_deref(), Some(parent), "{id}");
    }
}

/// What it keeps was said, asked and answered before: it counts once, and is found once.
#[test]
fn what_a_compression_keeps_counts_once() {
    let prompt = json!({"id": "u3", "type": "user", "content": "heron three"});
    let answer = json!({"id": "g4", "type": "gemini", "content": "answer two"});
    let lines = compressed(&[prompt, answer]);
    let (facts, fold) = read_lines(&lines);
    let of = |id: &str| {
        let entry = facts.iter().find(|facts| facts.id.as_deref() == Some(id));
        entry.unwrap()
    };
    // Three prompts and four answers, one of which says what another one did.
    assert_eq!(fold.messages, 7);
    assert!(of("g4").is_message && of("g4").repeats.is_empty());
    for id in ["k3", "k6"] {
        assert_eq!(of(id).repeats, [Class::Prose], "{id}");
    }
    assert_eq!(of("k4").repeats, [Class::Output]);
    let calls = |is_result: bool| {
        let all = facts.iter().flat_map(|facts| &facts.calls);
        all.filter(|call| call.is_result == is_result).count()
    };
    assert_eq!((calls(false), calls(true)), (1, 1));
    // The program says in the model's place that it knows the summary.
    assert_eq!(of("k2").role.as_deref(), Some("injected"));
    // A second compression keeps the same under other ids again.
    let mut twice = lines.clone();
    let set = lines[7].to_string().replace("\"k", "\"l");
    twice.push(serde_json::from_str(&set).unwrap());
    assert_eq!(read_lines(&twice).1.messages, 7);
    // What a file begins with was said nowhere before it.
    let alone = [lines[0].clone(), lines[7].clone()];
    assert_eq!(read_lines(&alone).1.messages, 3);
}

/// What is kept of the answer that called a tool does not have what that gave back.
#[test]
fn what_tools_gave_back_is_on_the_branch_that_is_kept() {
    let mut lines = compressed(&[json!({"id": "u3", "type": "user", "content": "heron three"})]);
    let set = lines[7]["$set"]["messages"].as_array_mut().unwrap();
    set.truncate(5);
    let mut second = set[4].clone();
    second["id"] = json!("k7");
    set.push(second);
    let stands = read_lines(&lines[..8]).1.leaf;
    assert_eq!(stands.as_deref(), Some("k7"));
    let (facts, _) = read_lines(&lines);
    let parents: Vec<_> = facts
        .iter()
        .rev()
        .take(4)
        .map(|f| f.parent.as_deref())
        .collect();
    assert_eq!(parents, [Some("k7"), None, Some("k5"), Some("k4")]);
    let (_, fold) = read_lines(&lines[..6]);
    assert_eq!(fold.leaf.as_deref(), Some("g2"));
    // Where the answer itself says what it was given, the message says it again.
    let mut called = lines[4].clone();
    called["id"] = json!("k4");
    let set = lines[7]["$set"]["messages"].as_array_mut().unwrap();
    set[3] = called;
    set.truncate(5);
    let alone = [lines[0].clone(), lines[7].clone()];
    assert_eq!(read_lines(&alone).1.leaf.as_deref(), Some("k4"));
}

/// What `sha256sum` says of `/home/ada/my aviary (2)`.
const AVIARY: &str = "2ef28aa54a03f175a66bce2e27581dc9a65a9f3dd9f77ba7903305affdafb595";

/// What a record of the file at `path` proves.
fn proven(path: &str, fold: &mut Fold, record: &Value) -> Option<String> {
    let proven = Gemini.prove_cwd(Path::new(path), fold, record.to_string().as_bytes());
    proven.break_value().flatten()
}

/// Until early 2026 a project's folder is called by the SHA-256 of its working directory (0.3.4 to
/// 0.28.2, `getProjectHash`). Of these two it is what `sha256sum` says.
#[test]
fn a_session_proves_the_directory_of_which_its_folder_has_the_hash() {
    let unix = AVIARY;
    let windows = "1b8ecf0026cdf1ac6adb60ae1025e1c4524a1c60228365add9bf8f28a291c0cd";
    let cwd = |hash: &str, record: &Value| {
        let path =
            format!("/home/ada/.gemini/tmp/{hash}/chats/session-2025-09-05T09-00-7d1c0a52.json");
        proven(&path, &mut Fold::default(), record)
    };
    let call = |args: Value, output: &str| {
        let result = json!([{"functionResponse": {"id": "c1", "name": "t", "response": {"output": output}}}]);
        json!({"id": "g1", "type": "gemini", "content": "", "toolCalls": [{"id": "c1", "name": "t",
            "args": args, "result": result, "status": "success"}]})
    };
    let known = "/home/ada/my aviary (2)";
    for found in [
        call(
            json!({"absolute_path": "/home/ada/my aviary (2)/src/a.rs"}),
            "an owl",
        ),
        call(json!({"path": "/home/ada/my aviary (2)"}), ""),
        call(json!({"path": "/home/ada/my aviary (2)/"}), ""),
        call(
            json!({"paths": ["/etc/hosts", "/home/ada/my aviary (2)/b"]}),
            "",
        ),
        call(
            json!({"command": "cat '/home/ada/my aviary (2)/b' /etc/hosts"}),
            "",
        ),
        call(
            json!({}),
            "Found 1 file in /tmp, (none) and /home/ada/my aviary (2)/x.md\n---",
        ),
        call(
            json!({}),
            "Directory listing for /home/ada/my aviary (2):\n[DIR] src",
        ),
        says("user", "See file:///home/ada/my aviary (2)/a.md, please"),
        says(
            "user",
            "<session_context>\nI work in /home/ada/my aviary (2)\n",
        ),
    ] {
        assert_eq!(cwd(unix, &found).as_deref(), Some(known), "{found}");
        // A name says nothing of the directory.
        assert_eq!(cwd("aviary", &found), None);
        assert_eq!(cwd(&"5e".repeat(32), &found), None);
    }
    for none in [
        call(json!({"path": "src/home/ada/my aviary (2)"}), ""),
        call(json!({"path": "/home/ada/my aviary (3)/a"}), "/home/ada"),
        says("user", "https://home/ada"),
        header("main"),
    ] {
        assert_eq!(cwd(unix, &none), None, "{none}");
    }
    for path in [
        "C:\\Users\\Ada\\aviary\\src\\a.rs",
        "c:/Users/Ada/aviary/src",
        "C:\\Users\\Ada\\aviary",
    ] {
        let record = call(json!({"file_path": path}), "");
        assert_eq!(
            cwd(windows, &record).as_deref(),
            Some("C:\\Users\\Ada\\aviary"),
            "{path}"
        );
    }
}

/// However much a record names, so many directories are tried and no more.
#[test]
fn a_record_that_names_many_directories_is_no_burden() {
    let path = format!(
        "tmp/{}/chats/session-2025-09-05T09-00-7d1c0a52.json",
        "5e".repeat(32)
    );
    for text in ["/a/b ", "/a)", "/é/", "C:\\", "\\/", "/", "/a/"] {
        let record = says("user", &text.repeat(200_000)).to_string();
        let proven = Gemini.prove_cwd(Path::new(&path), &mut Fold::default(), record.as_bytes());
        assert_eq!(proven.break_value().flatten(), None);
    }
}

/// Nor is a session, however many records it has: what is tried is remembered, and is little.
#[test]
fn of_a_session_so_much_is_looked_at() {
    let path = format!("tmp/{AVIARY}/chats/session-2025-09-05T09-00-7d1c0a52.jsonl");
    let proof = says("user", "Look at /home/ada/my aviary (2)/a.md");
    let names = |from: usize| {
        let all = (from..from + 20).map(|at| format!("/usr/lib/{at} "));
        says("user", &all.collect::<String>())
    };
    for (records, is_proven) in [
        // The same is tried once.
        (vec![names(0); 100], true),
        ((0..10).map(|at| names(20 * at)).collect(), true),
        ((0..20).map(|at| names(20 * at)).collect(), false),
        (vec![says("info", &"reeds ".repeat(2_000)); 80], true),
        (vec![says("info", &"reeds ".repeat(2_000)); 90], false),
    ] {
        let mut fold = Fold::default();
        for record in &records {
            assert_eq!(proven(&path, &mut fold, record), None);
        }
        let found = proven(&path, &mut fold, &proof);
        assert_eq!(found.is_some(), is_proven, "{}", records[0]);
        // Nothing that was tried is kept once it is known, or given up.
        let saved = serde_json::to_string(&fold).unwrap();
        assert!(saved.len() < 500, "{saved}");
    }
    // In a folder with a name nothing is looked at.
    let mut fold = Fold::default();
    let named = "tmp/aviary/chats/session-2025-09-05T09-00-7d1c0a52.jsonl";
    assert_eq!(proven(named, &mut fold, &proof), None);
    assert_eq!(fold, Fold::default());
}

/// Of a line that sets messages, each that is new may prove it.
#[test]
fn messages_that_are_set_prove_the_directory() {
    let path = format!("tmp/{AVIARY}/chats/session-2025-09-05T09-00-7d1c0a52.jsonl");
    let messages = json!([
        says("user", "Feed the owl"),
        says("user", "Look at /home/ada/my aviary (2)/a.md")
    ]);
    let line = json!({"$set": {"messages": messages}});
    let found = proven(&path, &mut Fold::default(), &line);
    assert_eq!(found.as_deref(), Some("/home/ada/my aviary (2)"));
}
