//! The cases of rows, each by its name.

use super::*;
use crate::model::Class;

fn row(table: &str, role: &str, row: &str) -> String {
    let message = match role {
        "" => String::new(),
        role => format!(r#""message":{{"role":"{role}"}},"#),
    };
    format!(r#"{{"table":"{table}","key":"k1",{message}"row":{row}}}"#)
}

fn part(role: &str, data: &str) -> (Facts, Vec<Passage>) {
    let row = row(
        "part",
        role,
        &format!(
            r#"{{"id":"k1","message_id":"msg_1","session_id":"ses_1","time_created":5,"time_updated":6,"data":{data}}}"#
        ),
    );
    (
        OpenCode.facts(row.as_bytes()),
        OpenCode.passages(row.as_bytes()),
    )
}

fn message(data: &str) -> Facts {
    let row = row(
        "message",
        "",
        &format!(
            r#"{{"id":"k1","session_id":"ses_1","time_created":5,"time_updated":6,"data":{data}}}"#
        ),
    );
    OpenCode.facts(row.as_bytes())
}

fn words(passages: &[Passage]) -> Vec<(Class, String)> {
    let joined = |passage: &Passage| (passage.class, passage.pieces.join("|"));
    passages.iter().map(joined).collect()
}

#[test]
fn typed_text_is_told_from_injected_text() {
    let (typed, said) = part("user", r#"{"type":"text","text":"\"why so slow\""}"#);
    assert_eq!(typed.role.as_deref(), Some("user"));
    assert_eq!(typed.user_text.as_deref(), Some("why so slow"));
    assert_eq!(words(&said), [(Class::Prose, "\"why so slow\"".to_owned())]);
    // `run` puts a backslash before each quote in it; what a person put between quotes stays.
    for (text, typed) in [
        (r#""say \"why\"""#, r#"say "why""#),
        (r#""[\\"a\\"]""#, r#"[\"a\"]"#),
        (r#""why" and "how""#, r#""why" and "how""#),
        (r#"""#, r#"""#),
    ] {
        let data = serde_json::json!({"type": "text", "text": text});
        let (facts, _) = part("user", &data.to_string());
        assert_eq!(facts.user_text.as_deref(), Some(typed), "{text}");
    }
    let (injected, _) = part(
        "user",
        r#"{"type":"text","synthetic":true,"text":"Called it"}"#,
    );
    assert_eq!(
        (injected.role.as_deref(), injected.user_text),
        (Some("injected"), None)
    );
    let (answer, _) = part("assistant", r#"{"type":"text","text":"because"}"#);
    assert_eq!(
        (answer.role.as_deref(), answer.user_text),
        (Some("assistant"), None)
    );
    assert_eq!(answer.parent.as_deref(), Some("msg_1"));
}

#[test]
fn a_tool_row_is_a_call_and_then_its_answer_too() {
    let (running, _) = part(
        "assistant",
        r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"running","input":{"command":"ls"},"time":{"start":7}}}"#,
    );
    assert_eq!(
        (running.role.as_deref(), running.calls.len()),
        (Some("assistant"), 1)
    );
    let (done, said) = part(
        "assistant",
        r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"error","input":{"command":"ls"},"error":"no such file","title":"List","metadata":{"output":"copy"},"time":{"start":7,"end":19}}}"#,
    );
    assert_eq!(
        (done.role.as_deref(), done.is_error),
        (Some("toolResult"), true)
    );
    let [call, answer] = &done.calls[..] else {
        panic!("{:?}", done.calls)
    };
    assert_eq!(call.subject.as_deref(), Some("ls"));
    assert_eq!(
        (answer.is_error, answer.duration_ms),
        (Some(true), Some(12))
    );
    assert_eq!(
        words(&said),
        [(Class::Output, "bash|ls|no such file".to_owned())]
    );
}

#[test]
fn a_patch_modifies_the_files_that_it_names() {
    let patch = "*** Begin Patch\n*** Update File: src/hull.rs\n*** Move to: src/keel.rs\n\
                 @@\n-old\n+new\n*** Add File: mast.rs\n+tall\n*** End Patch";
    let data = serde_json::json!({"type": "tool", "tool": "apply_patch", "callID": "c1",
        "state": {"status": "completed", "input": {"patchText": patch}, "output": "Done"}});
    let (facts, _) = part("assistant", &data.to_string());
    let files = facts.files.iter().map(|file| (&*file.path, file.modified));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [
            ("src/hull.rs", true),
            ("src/keel.rs", true),
            ("mast.rs", true)
        ]
    );
}

#[test]
fn a_command_that_failed_is_an_error() {
    let ended = |status: &str, exit: &str| {
        let row = format!(
            r#"{{"type":"tool","tool":"bash","callID":"c1","state":{{"status":"{status}","input":{{"command":"ls"}},"output":"none","metadata":{{"output":"none","exit":{exit}}}}}}}"#
        );
        let (facts, _) = part("assistant", &row);
        let answer = facts.calls.get(1).and_then(|answer| answer.is_error);
        (facts.is_error, answer)
    };
    assert_eq!(ended("completed", "2"), (true, Some(true)));
    for exit in ["0", "null", "\"2\"", "{}"] {
        assert_eq!(ended("completed", exit), (false, Some(false)), "{exit}");
    }
    assert_eq!(ended("running", "2"), (false, None));
}

#[test]
fn data_url_is_not_text() {
    let (facts, said) = part(
        "user",
        r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgo=","filename":"p.png"}"#,
    );
    assert!(facts.has_image);
    assert_eq!(words(&said), [(Class::Output, "p.png".to_owned())]);
}

#[test]
fn usage_adds_up_to_the_agents_total() {
    let facts = message(
        r#"{"role":"assistant","modelID":"m1","providerID":"p","cost":0.5,"tokens":{"total":130,"input":80,"output":25,"reasoning":5,"cache":{"read":20,"write":0}},"finish":"stop","time":{"created":1,"completed":9}}"#,
    );
    let usage = facts.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cache_read),
        (Some(80), Some(30), Some(20))
    );
    assert_eq!((usage.total, usage.cost_total), (Some(130), Some(0.5)));
    assert_eq!(usage.response_id.as_deref(), Some("1-9"));
    let begun = message(
        r#"{"role":"assistant","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"time":{"created":1}}"#,
    );
    assert_eq!(begun.usage, None);
}

/// 1.1 and 1.2 counted what was thought within the output, as the total says. Without one it is
/// known by the provider: only Google's count it beside the output.
#[test]
fn what_was_thought_counts_once() {
    for (provider, total, output, expected) in [
        ("p", r#""total":130,"#, 30, 30),
        ("p", r#""total":130,"#, 25, 30),
        ("google-vertex", r#""total":130,"#, 30, 30),
        ("openai", "", 30, 30),
        ("openai", r#""total":0,"#, 30, 30),
        ("google", "", 30, 35),
        ("google-vertex", r#""total":0,"#, 30, 35),
        ("openai", "", 4, 9),
        ("xai", "", 30, 35),
        ("opencode", "", 30, 30),
    ] {
        let facts = message(&format!(
            r#"{{"role":"assistant","providerID":"{provider}","tokens":{{{total}"input":80,"output":{output},"reasoning":5,"cache":{{"read":20,"write":0}}}},"time":{{"created":1,"completed":9}}}}"#
        ));
        let usage = facts.usage.unwrap();
        let found = (usage.output, usage.reasoning);
        assert_eq!(
            found,
            (Some(expected), Some(5)),
            "{provider} {total}{output}"
        );
    }
    // OpenCode's own provider has Google's models as Google's has them.
    let facts = message(
        r#"{"role":"assistant","providerID":"opencode","modelID":"gemini-3-pro","tokens":{"input":80,"output":30,"reasoning":5},"time":{"created":1,"completed":9}}"#,
    );
    assert_eq!(facts.usage.unwrap().output, Some(35));
    // 2.x counts it beside the output, and writes no total.
    let (facts, _) = second(
        "assistant",
        &serde_json::json!({"model": {"id": "m1", "providerID": "openai"},
            "tokens": {"input": 80, "output": 30, "reasoning": 5}, "time": {"created": 1}}),
    );
    assert_eq!(facts.usage.unwrap().output, Some(35));
}

#[test]
fn error_message() {
    let row = row(
        "message",
        "",
        r#"{"id":"k1","data":{"role":"assistant","error":{"name":"APIError","data":{"message":"over the limit"}},"time":{"created":1}}}"#,
    );
    let facts = OpenCode.facts(row.as_bytes());
    assert_eq!(
        (facts.is_error, facts.stop_reason.as_deref()),
        (true, Some("APIError"))
    );
    let said = OpenCode.passages(row.as_bytes());
    assert_eq!(words(&said), [(Class::Prose, "over the limit".to_owned())]);
}

#[test]
fn sub_agent_title_and_revert() {
    let header = row(
        "session",
        "",
        r#"{"id":"ses_1","parent_id":"ses_0","directory":"/w","title":"New session - 2026-01-05T10:00:00.000Z","revert":{"messageID":"msg_2"},"time_created":1,"time_updated":8}"#,
    );
    let mut fold = Fold::default();
    let mut add = |line: &str| {
        let mut facts = OpenCode.facts(line.as_bytes());
        OpenCode.relate(&mut fold, line.as_bytes(), &mut facts);
        OpenCode.fold(&mut fold, &facts);
        facts
    };
    add(&header);
    let mut prompts = Vec::new();
    for (number, role) in [(1, "user"), (2, "assistant"), (3, "user")] {
        let message = format!(
            r#"{{"table":"message","key":"msg_{number}","row":{{"data":{{"role":"{role}","time":{{"created":{number}}}}}}}}}"#
        );
        assert!(add(&message).silent);
        let part = format!(
            r#"{{"table":"part","key":"prt_{number}","message":{{"role":"{role}"}},"row":{{"message_id":"msg_{number}","time_created":90,"data":{{"type":"text","text":"look around"}}}}}}"#
        );
        prompts.push(add(&part));
    }
    // What a model wrote is not typed, and has the time of its message, not of its row.
    let [told, answered, _] = &prompts[..] else {
        panic!("{prompts:?}");
    };
    assert_eq!(
        (told.role.as_deref(), told.time_ms),
        (Some("injected"), Some(1))
    );
    assert_eq!(answered.role.as_deref(), Some("assistant"));
    let session = of_fold(&fold);
    assert_eq!((session.name, session.modified_ms), (None, 8));
    assert_eq!(session.first_message.as_deref(), Some("look around"));
    assert_eq!(session.leaf.as_deref(), Some("prt_1"));
    assert_eq!((session.entry_count, session.message_count), (7, 0));
    assert!(session.is_subagent);
    assert_eq!(session.parent_session.as_deref(), Some("ses_0"));
}

/// The session whose rows come to this.
fn of_fold(fold: &Fold) -> SessionFacts {
    OpenCode.session(&[SourceFacts {
        relative: Path::new("opencode.db/ses_1"),
        mtime_ms: 0,
        fold,
        part: crate::model::SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }])
}

/// The session of these lines.
fn session(lines: &[String]) -> SessionFacts {
    let mut fold = Fold::default();
    for line in lines {
        let mut facts = OpenCode.facts(line.as_bytes());
        OpenCode.relate(&mut fold, line.as_bytes(), &mut facts);
        OpenCode.fold(&mut fold, &facts);
    }
    of_fold(&fold)
}

#[test]
fn a_session_without_a_directory_is_where_its_first_answer_was_given() {
    let cwd = |directory: &str| {
        let own = format!(r#"{{"id":"ses_1"{directory},"title":"Tides","time_created":1}}"#);
        let said = |role: &str, cwd: &str| {
            let data = format!(r#"{{"role":"{role}","path":{{"cwd":"{cwd}","root":"/"}}}}"#);
            row("message", "", &format!(r#"{{"id":"k1","data":{data}}}"#))
        };
        let prompt = row("message", "", r#"{"id":"k0","data":{"role":"user"}}"#);
        session(&[
            row("session", "", &own),
            prompt,
            said("assistant", "/code/harbour"),
            said("assistant", "/code/pier"),
        ])
        .cwd
    };
    assert_eq!(cwd(r#","directory":"/code""#), "/code");
    for none in ["", r#","directory":"""#, r#","directory":null"#] {
        assert_eq!(cwd(none), "/code/harbour", "{none}");
    }
}

#[test]
fn a_session_that_a_command_began_is_called_by_what_it_asked_a_subagent() {
    let part = |kind: &str| {
        let data = format!(r#"{{"type":{kind}}}"#);
        row(
            "part",
            "user",
            &format!(r#"{{"id":"k1","message_id":"msg_1","data":{data}}}"#),
        )
    };
    let asked =
        part(r#""subtask","prompt":"Review the pier","description":"Review","agent":"general""#);
    let added = part(r#""text","synthetic":true,"text":"Summarize the output above""#);
    let prompt = row("message", "", r#"{"id":"msg_1","data":{"role":"user"}}"#);
    let session = session(&[prompt, asked, added]);
    assert_eq!(session.first_message.as_deref(), Some("Review the pier"));
    assert_eq!(session.typed.as_deref(), Some("Review the pier"));
    assert_eq!((session.name, session.message_count), (None, 1));
}

#[test]
fn only_databases_hold_sessions() {
    for name in ["opencode.db", "opencode-beta.db", "kilo.db", "mimocode.db"] {
        assert_eq!(OpenCode.place(Path::new(name), false), Placement::Database);
    }
    // An exported document may have any name.
    let exported = OpenCode.place(Path::new("project/tides/ses_1.json"), false);
    assert_eq!(exported, Placement::Database);
    for name in [
        "auth.json",
        "other.db",
        "opencode.db.bak",
        "x/opencode.db",
        "project/code-tides/storage/session/info/ses_1.json",
    ] {
        let place = OpenCode.place(Path::new(name), false);
        assert!(matches!(place, Placement::Ignore(_)), "{name}");
    }
}

#[test]
fn second_layout_rows_hold_whole_messages() {
    let row = |kind: &str, data: &str| {
        format!(
            r#"{{"table":"session_message","key":"k1","row":{{"id":"k1","session_id":"ses_1","type":"{kind}","seq":3,"time_created":5,"data":{data}}}}}"#
        )
    };
    let answer = row(
        "assistant",
        r#"{"agent":"build","model":{"id":"m1","providerID":"p","variant":"high"},"content":[{"type":"reasoning","text":"hmm"},{"type":"text","text":"done"},{"type":"tool","id":"c1","name":"bash","state":{"status":"completed","input":{"command":"ls"},"content":[{"type":"text","text":"a.txt"}]}}],"tokens":{"input":8,"output":2},"cost":0.5,"time":{"created":4,"completed":9}}"#,
    );
    let facts = OpenCode.facts(answer.as_bytes());
    assert_eq!(
        (facts.kind.as_str(), facts.role.as_deref()),
        ("assistant", Some("assistant"))
    );
    assert_eq!((facts.calls.len(), facts.model.as_deref()), (2, Some("m1")));
    assert_eq!(facts.thinking_level.as_deref(), Some("high"));
    assert_eq!(facts.usage.unwrap().cost_total, Some(0.5));
    let said = words(&OpenCode.passages(answer.as_bytes()));
    let expected = [(Class::Prose, "hmm|done"), (Class::Output, "bash|ls|a.txt")];
    assert_eq!(said, expected.map(|(class, text)| (class, text.to_owned())));
    let system = row("system", r#"{"text":"You are a tool."}"#);
    assert!(OpenCode.facts(system.as_bytes()).has_prompt);
    assert_eq!(OpenCode.passages(system.as_bytes()), []);
    let prompts = OpenCode.prompts_at(Path::new(""), system.as_bytes());
    assert_eq!(prompts, ["You are a tool."]);
    let user = row("user", r#"{"text":"why","time":{"created":1}}"#);
    assert_eq!(
        OpenCode.facts(user.as_bytes()).user_text.as_deref(),
        Some("why")
    );
}

#[test]
fn what_plugins_send_or_put_in_is_not_typed() {
    let prompt = |text: &str| {
        let data = serde_json::json!({"type": "text", "text": text}).to_string();
        let (facts, said) = part("user", &data);
        (
            facts.role.unwrap_or_default(),
            facts.user_text,
            words(&said),
        )
    };
    let notice = "<system-reminder>\nA zebrafish is done.\n</system-reminder>";
    let directive = "[SYSTEM DIRECTIVE: OH-MY-OPENCODE - TODO CONTINUATION]\n\nGo on.";
    let mode = "[search-mode]\nSEARCH.\n---\nAll of it.";
    for sent in [
        format!("{notice}\n<!-- OMO_INTERNAL_INITIATOR -->"),
        format!("{notice}\n<!-- OMO_INTERNAL_INITIATOR -->\n<!-- OMO_INTERNAL_NOREPLY -->"),
        format!("{notice}\n<!-- SLIM_INTERNAL_INITIATOR -->\n"),
        directive.to_owned(),
        format!("ULW {directive}"),
        format!("{mode}\n\n---\n\nultrawork {directive}"),
    ] {
        let expected = [(Class::Prose, sent.trim_end().to_owned())];
        let (role, typed, said) = prompt(&sent);
        assert_eq!((&*role, typed), ("injected", None), "{sent}");
        assert_eq!(said.len(), 1, "{sent}");
        assert_eq!(said[0].1.trim_end(), expected[0].1, "{sent}");
    }
    let ultrawork = "<ultrawork-mode>\n\nA numbat.\n\n---\n\nMore.\n\n</ultrawork-mode>";
    for (text, put_in) in [
        (format!("{mode}\n\n---\n\nthe walrus"), mode.to_owned()),
        (
            format!("{ultrawork}\n\n---\n\n\n\n---\n\n{mode}\n\n---\n\nthe walrus"),
            format!("{ultrawork}|{mode}"),
        ),
        // As later versions do.
        (
            format!("the walrus\n\n---\n\n{ultrawork}"),
            ultrawork.to_owned(),
        ),
    ] {
        let (role, typed, said) = prompt(&text);
        assert_eq!((&*role, typed.as_deref()), ("user", Some("the walrus")));
        let expected = [
            (Class::Prose, "the walrus".to_owned()),
            (Class::Output, put_in),
        ];
        assert_eq!(said, expected, "{text}");
    }
    // What a person may type.
    for text in [
        "ulw fix the heron parser",
        "[search-mode]\nis what it says",
        "one\n\n---\n\ntwo",
        "what is <!-- OMO_INTERNAL_INITIATOR --> for?",
    ] {
        let (role, typed, said) = prompt(text);
        assert_eq!((&*role, typed.as_deref()), ("user", Some(text)));
        assert_eq!(said, [(Class::Prose, text.to_owned())]);
    }
}

#[test]
fn only_a_subagents_session_is_called_by_what_a_plugin_sends() {
    let called = |parent: &str| {
        let own = format!(
            r#"{{"id":"ses_1"{parent},"title":"Child session - 2026-01-05T10:00:00.000Z"}}"#
        );
        let prompt = row("message", "", r#"{"id":"msg_1","data":{"role":"user"}}"#);
        let data = r#"{"type":"text","text":"Look around\n<!-- OMO_INTERNAL_INITIATOR -->"}"#;
        let part = format!(r#"{{"id":"k1","message_id":"msg_1","data":{data}}}"#);
        let part = row("part", "user", &part);
        session(&[row("session", "", &own), prompt, part]).first_message
    };
    assert_eq!(
        called(r#","parent_id":"ses_0""#).as_deref(),
        Some("Look around")
    );
    assert_eq!(called(""), None);
}

#[test]
fn of_a_command_that_a_plugin_writes_out_the_command_was_typed() {
    let prompt = |text: &str| {
        let data = serde_json::json!({"type": "text", "text": text}).to_string();
        let (facts, said) = part("user", &data);
        (
            facts.role.unwrap_or_default(),
            facts.user_text,
            words(&said),
        )
    };
    let written = |given: &str| {
        format!(
            "<auto-slash-command>\n# /loop Command\n\n**Description**: Go on\n\n{given}**Scope**: \
             builtin\n\n---\n\n## Command Instructions\n\nAn okapi.\n</auto-slash-command>"
        )
    };
    for (given, typed) in [
        ("**User Arguments**: path 3.\nNow\n\n", "/loop path 3.\nNow"),
        ("", "/loop"),
    ] {
        let text = written(given);
        let expected = [
            (Class::Prose, typed.to_owned()),
            (Class::Output, text.clone()),
        ];
        let found = prompt(&text);
        assert_eq!(
            found,
            ("user".to_owned(), Some(typed.to_owned()), expected.to_vec())
        );
    }
    let (role, typed, _) = prompt("<auto-slash-command>\nAn okapi.\n</auto-slash-command>");
    assert_eq!((&*role, typed), ("injected", None));
}

#[test]
fn what_is_only_shown_to_a_person_is_not_typed() {
    let (facts, said) = part(
        "user",
        r#"{"type":"text","ignored":true,"text":"a quokka"}"#,
    );
    assert_eq!(
        (facts.role.as_deref(), facts.user_text),
        (Some("injected"), None)
    );
    assert_eq!(words(&said), [(Class::Prose, "a quokka".to_owned())]);
}

/// The facts and the text of a row of 2.x.
fn second(kind: &str, data: &serde_json::Value) -> (Facts, Vec<(Class, String)>) {
    let row = row(
        "session_message",
        "",
        &format!(
            r#"{{"id":"k1","session_id":"ses_1","type":"{kind}","seq":3,"time_created":5,"data":{data}}}"#
        ),
    );
    let facts = OpenCode.facts(row.as_bytes());
    (facts, words(&OpenCode.passages(row.as_bytes())))
}

#[test]
fn second_layout_errors_say_why() {
    let error = serde_json::json!({"type": "provider.rate-limit", "message": "a phalarope"});
    let (facts, said) = second(
        "assistant",
        &serde_json::json!({"error": error, "finish": "error"}),
    );
    let reason = facts.stop_reason.as_deref();
    assert_eq!(
        (facts.is_error, reason),
        (true, Some("provider.rate-limit"))
    );
    assert_eq!(said, [(Class::Prose, "a phalarope".to_owned())]);
    let spent = |status: &str| {
        serde_json::json!({"status": status, "cost": 0.5, "tokens": {"input": 90, "output": 10},
            "model": {"id": "m1", "providerID": "p"}, "time": {"created": 4}})
    };
    let mut failed = spent("failed");
    failed["error"] = error;
    let (facts, said) = second("compaction", &failed);
    assert_eq!((facts.is_error, facts.compaction.is_some()), (true, false));
    assert_eq!(said, [(Class::Prose, "a phalarope".to_owned())]);
    let (facts, _) = second("compaction", &spent("completed"));
    assert_eq!((facts.is_error, facts.compaction.is_some()), (false, true));
    let usage = facts.usage.unwrap();
    let found = (usage.input, usage.output, usage.cost_total);
    assert_eq!(found, (Some(90), Some(10), Some(0.5)));
    assert_eq!(usage.response_id.as_deref(), Some("4-4"));
}

#[test]
fn second_layout_calls_have_their_times_beside_them() {
    let call = |state: serde_json::Value| {
        let call = serde_json::json!({"type": "tool", "id": "c1", "name": "shell", "state": state,
            "time": {"created": 1, "ran": 7, "completed": 19}});
        let data = serde_json::json!({"content": [call],
            "snapshot": {"files": ["a.rs", "made.rs"]}});
        second("assistant", &data).0
    };
    for exit in ["metadata", "structured"] {
        let facts = call(
            serde_json::json!({"status": "completed", "input": {"command": "false"},
            "content": [], exit: {"exit": 1}}),
        );
        let answer = &facts.calls[1];
        assert_eq!(
            (answer.is_error, answer.duration_ms),
            (Some(true), Some(12)),
            "{exit}"
        );
    }
    // A file that no call names, and none twice.
    let facts = call(serde_json::json!({"status": "completed", "content": [],
        "input": {"patchText": "*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** End Patch"}}));
    let files = facts.files.iter().map(|file| (&*file.path, file.modified));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [("a.rs", true), ("made.rs", true)]
    );
}

#[test]
fn second_layout_rows_beside_the_answers() {
    let output = |text: &str| (Class::Output, text.to_owned());
    let prose = |text: &str| (Class::Prose, text.to_owned());
    let (facts, said) = second(
        "shell",
        &serde_json::json!({"command": "git push", "exit": 128,
            "output": {"output": "a whimbrel", "cursor": 5, "size": 5}}),
    );
    assert!(facts.is_error);
    assert_eq!(said, [output("git push|a whimbrel")]);
    let old = serde_json::json!({"command": "ls", "output": "b.txt"});
    assert_eq!(second("shell", &old).1, [output("ls|b.txt")]);
    let skill = serde_json::json!({"skill": "pdf", "name": "pdf-tools", "text": "an ocelot"});
    let (facts, said) = second("skill", &skill);
    assert_eq!(facts.role.as_deref(), Some("injected"));
    assert_eq!(said, [output("pdf-tools|an ocelot")]);
    let (facts, said) = second(
        "user",
        &serde_json::json!({"text": "why", "skills": [skill],
            "files": [{"mime": "image/png", "name": "p.png", "description": "a ptarmigan"}]}),
    );
    assert!(facts.has_image);
    assert_eq!(
        said,
        [
            prose("why"),
            output("p.png|a ptarmigan|pdf-tools|an ocelot")
        ]
    );
    let told = serde_json::json!({"text": "done", "description": "cargo build"});
    assert_eq!(
        second("synthetic", &told).1,
        [prose("done"), output("cargo build")]
    );
    for kind in [
        "idle",
        "agent-switched",
        "model-switched",
        "location-switched",
    ] {
        assert!(second(kind, &serde_json::json!({})).0.silent, "{kind}");
    }
    let sent = serde_json::json!({"text": "[SYSTEM DIRECTIVE: OH-MY-OPENCODE - X]\ngo on"});
    let (facts, _) = second("user", &sent);
    assert_eq!(
        (facts.role.as_deref(), facts.user_text),
        (Some("injected"), None)
    );
}

#[test]
fn what_the_second_version_exports_is_read_as_its_rows() {
    let message = serde_json::json!({"id": "msg_1", "type": "user", "text": "a petrel",
        "time": {"created": 7}});
    let info = serde_json::json!({"id": "ses_1", "title": "Tides", "location": {"directory": "/w"},
        "time": {"created": 5, "updated": 9}});
    let export = serde_json::json!({"info": info, "messages": [message]}).to_string();
    let whole = (documents::DOCUMENTS.within)(&export).unwrap();
    let line = |of, text| {
        let document = crate::database::Document {
            of,
            name: "",
            session: "ses_1",
            text,
            outer: None,
        };
        (documents::DOCUMENTS.line)(&document).unwrap()
    };
    let lines = [
        line("session", whole.session),
        line("message", whole.outer[0].0),
    ];
    assert_eq!(
        lines[1],
        r#"{"table":"session_message","key":"msg_1","row":{"id":"msg_1","session_id":"ses_1","type":"user","time_created":7,"data":{"text":"a petrel","time":{"created":7}}}}"#
    );
    let session = session(&lines);
    assert_eq!((&*session.id, &*session.cwd), ("ses_1", "/w"));
    assert_eq!(session.message_count, 1);
    assert_eq!(session.first_message.as_deref(), Some("a petrel"));
    // It is none that 1.x could import.
    assert_eq!(export::document(&lines.join("\n")), None);
}

/// The line of an answer with these tokens, of which nothing else is said.
fn answer(id: &str, tokens: &str, cost: f64, completed: &str) -> String {
    format!(
        r#"{{"table":"message","key":"{id}","row":{{"data":{{"role":"assistant","modelID":"m1","providerID":"p","cost":{cost},"tokens":{tokens},"time":{{"created":7{completed}}}}}}}}}"#
    )
}

/// The line of a step of it.
fn step(of: &str, tokens: &str, cost: f64) -> String {
    format!(
        r#"{{"table":"part","key":"prt_1","message":{{"role":"assistant"}},"row":{{"message_id":"{of}","time_created":90,"data":{{"type":"step-finish","tokens":{tokens},"cost":{cost}}}}}}}"#
    )
}

/// What is spent by these lines.
fn spent(lines: &[String]) -> Vec<crate::model::Usage> {
    let mut fold = Fold::default();
    let mut found = Vec::new();
    for line in lines {
        // As where it was saved.
        let saved = serde_json::to_string(&fold).unwrap();
        fold = serde_json::from_str(&saved).unwrap();
        let mut facts = OpenCode.facts(line.as_bytes());
        OpenCode.relate(&mut fold, line.as_bytes(), &mut facts);
        OpenCode.fold(&mut fold, &facts);
        if facts.usage.is_some() {
            assert_eq!(facts.time_ms, Some(7), "{line}");
        }
        found.extend(facts.usage);
    }
    found
}

const NONE: &str = r#"{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}"#;
const FEW: &str = r#"{"input":10,"output":3,"reasoning":1,"cache":{"read":2,"write":1}}"#;
const MORE: &str = r#"{"input":20,"output":4,"reasoning":0,"cache":{"read":2,"write":0}}"#;

/// Tokens, cost and name of what each entry spent.
fn figures(lines: &[String]) -> Vec<(i64, Option<f64>, String)> {
    let of = |usage: crate::model::Usage| {
        assert_eq!(
            (usage.provider.as_deref(), usage.model.as_deref()),
            (Some("p"), Some("m1"))
        );
        let name = usage.response_id.clone().unwrap_or_default();
        (usage.tokens().unwrap(), usage.cost_total, name)
    };
    spent(lines).into_iter().map(of).collect()
}

/// Until 0.5 an answer had a step for each request, and its tokens are those of the last one.
#[test]
fn each_step_of_an_answer_counts_once() {
    let done = r#","completed":9"#;
    let own = |tokens: i64, cost: f64| (tokens, Some(cost), "7-9".to_owned());
    // Its cost is that of all: none is left to be estimated.
    let more = |tokens: i64, at: u64| (tokens, Some(0.0), format!("7-9-{at}"));
    // One step that says the same, as since 1.0; none, as of a summary.
    let (m, s) = (
        |tokens| answer("m", tokens, 0.5, done),
        |tokens| step("m", tokens, 0.5),
    );
    assert_eq!(figures(&[m(FEW), s(FEW)]), [own(16, 0.5)]);
    assert_eq!(figures(&[m(FEW)]), [own(16, 0.5)]);
    let of_three = [own(26, 0.5), more(16, 1), more(16, 2)];
    assert_eq!(figures(&[m(MORE), s(FEW), s(FEW), s(MORE)]), of_three);
    let of_same = [own(16, 0.5), more(16, 2)];
    assert_eq!(figures(&[m(FEW), s(FEW), s(FEW)]), of_same);
    // What another answer says is not its.
    let other = answer("n", MORE, 0.5, done);
    assert_eq!(
        figures(&[m(FEW), other, s(MORE)]),
        [own(16, 0.5), own(26, 0.5)]
    );
    // A fork has the same under other ids.
    let fork = [
        answer("f", MORE, 0.5, done),
        step("f", FEW, 0.5),
        step("f", MORE, 0.5),
    ];
    assert_eq!(figures(&[m(MORE), s(FEW), s(MORE)]), figures(&fork));
}

/// A command that a person ran behind `!` has an answer's row, with zeros and no step. That of a
/// server that reports nothing has a step.
#[test]
fn an_answer_that_says_nothing_counts_by_its_steps() {
    let done = r#","completed":9"#;
    let empty = answer("m", NONE, 0.0, done);
    assert_eq!(figures(std::slice::from_ref(&empty)), []);
    let none = (0, Some(0.0), "7-9-1".to_owned());
    assert_eq!(figures(&[empty.clone(), step("m", NONE, 0.0)]), [none]);
    // One that was broken off between two steps.
    let [first, second] =
        [("7-9-1", 16), ("7-9-2", 26)].map(|(name, tokens)| (tokens, Some(0.5), name.to_owned()));
    let steps = [empty, step("m", FEW, 0.5), step("m", MORE, 0.5)];
    assert_eq!(figures(&steps), [first, second]);
    // One that goes on.
    let begun = [answer("m", NONE, 0.0, ""), step("m", FEW, 0.5)];
    assert_eq!(figures(&begun), [(16, Some(0.5), "7-0-1".to_owned())]);
    assert_eq!(figures(&[step("m", FEW, 0.5)]), []);
}

/// 1.x calls a tool of its own in place of one that there is not, or that got no JSON.
#[test]
fn a_call_that_could_not_be_made_is_an_error_of_the_tool_that_was_meant() {
    let called = |tool: &str, input: serde_json::Value| {
        let data = serde_json::json!({"type": "tool", "tool": tool, "callID": "c1",
            "state": {"status": "completed", "input": input, "output": "no such tool"}});
        let (facts, _) = part("assistant", &data.to_string());
        let [call, answer] = &facts.calls[..] else {
            panic!("{:?}", facts.calls)
        };
        assert_eq!(call.tool, answer.tool);
        assert_eq!(answer.is_error, Some(facts.is_error));
        (call.tool.clone().unwrap(), facts.is_error)
    };
    let wrong = serde_json::json!({"tool": "write", "error": "no JSON"});
    assert_eq!(called("invalid", wrong.clone()), ("write".to_owned(), true));
    assert_eq!(called("mcp_call", wrong), ("mcp_call".to_owned(), false));
    let own = serde_json::json!({"tool": "write"});
    assert_eq!(called("invalid", own), ("invalid".to_owned(), false));
}

#[test]
fn of_the_command_init_the_command_was_typed() {
    let said = |text: &str| {
        let data = serde_json::json!({"type": "text", "text": text}).to_string();
        let (facts, said) = part("user", &data);
        (facts.user_text.unwrap_or_default(), words(&said))
    };
    let old = "Please analyze this codebase and create an AGENTS.md file containing:\n1. An okapi\n\n\
               If there's already an AGENTS.md, improve it if it's located in /code/the reef";
    let new = |given: &str| {
        format!(
            "Create or update `AGENTS.md` for this repository.\n\nAn okapi.\n\n\
             User-provided focus or constraints (honor these):\n{given}\n\n\
             ## How to investigate\n\nLook.\n\n## How to investigate\n"
        )
    };
    for (text, typed) in [
        (old.to_owned(), "/init"),
        (format!("{old}\n"), "/init"),
        (
            format!("{old}\n\nthe walrus\n\nand more"),
            "/init the walrus\n\nand more",
        ),
        (new(""), "/init"),
        (
            new("the walrus\n\nand more"),
            "/init the walrus\n\nand more",
        ),
    ] {
        let expected = [
            (Class::Prose, typed.to_owned()),
            (Class::Output, text.trim().to_owned()),
        ];
        assert_eq!(said(&text), (typed.to_owned(), expected.to_vec()), "{text}");
    }
    // What a person may type.
    for text in [
        "Please analyze this codebase and create an AGENTS.md file containing: all of it",
        "Create or update `AGENTS.md` for this repository.",
    ] {
        assert_eq!(
            said(text),
            (text.to_owned(), vec![(Class::Prose, text.to_owned())])
        );
    }
}

#[test]
fn of_a_command_that_asks_a_subagent_its_name_was_typed() {
    let (facts, said) = part(
        "user",
        r#"{"type":"subtask","prompt":"An okapi.","description":"review changes","command":"review"}"#,
    );
    assert_eq!(facts.asked.as_deref(), Some("/review"));
    let expected = [
        (Class::Prose, "/review".to_owned()),
        (Class::Output, "review changes|An okapi.".to_owned()),
    ];
    assert_eq!(words(&said), expected);
}
