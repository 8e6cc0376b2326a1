//! What pi's files and lines are: by their paths, and as the extensions of pi write them.

use std::path::Path;

use super::Dialect;
use crate::model::{Class, Fold, Placement, SessionFacts, SourcePart};
use crate::{Format, SourceFacts};

/// The session of a file at this path that holds a header alone.
fn session_of(header: &str, relative: &str) -> SessionFacts {
    let mut fold = Fold::default();
    Dialect::PI.fold(&mut fold, &Dialect::PI.facts(header.as_bytes()));
    Dialect::PI.session(&[SourceFacts {
        relative: Path::new(relative),
        mtime_ms: 0,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }])
}

#[test]
fn copies_of_what_subagents_say_are_no_sessions() {
    // As pi-subagents writes them: 0.33.0 and later, before 0.8.4, and beside a subagent's own.
    for path in [
        "--w--/subagent-artifacts/5f31_scout_0_transcript.jsonl",
        "--w--/subagent-artifacts/5f31_scout_0.jsonl",
        "--w--/2026-05-12T01-02-27-000Z_a1/5f31/run-0/subagent-artifacts/77_scout.jsonl",
    ] {
        let path = Path::new(path);
        for dialect in Dialect::ALL {
            let place = dialect.place(path, false);
            assert!(matches!(place, Placement::Ignore(_)), "{}", path.display());
        }
        assert!(Dialect::PI.leaves_out(path.parent().unwrap()).is_some());
    }
    for session in ["--w--/a.jsonl", "--subagent-artifacts--/a.jsonl"] {
        let path = Path::new(session);
        let place = Dialect::PI.place(path, false);
        assert!(matches!(place, Placement::Source { .. }), "{session}");
        assert_eq!(Dialect::PI.leaves_out(path.parent().unwrap()), None);
    }
}

/// Why pi does not list a session with these lines at this path.
fn hidden(path: &str, lines: &[&str]) -> Option<String> {
    let mut fold = Fold::default();
    for line in lines {
        Dialect::PI.fold(&mut fold, &Dialect::PI.facts(line.as_bytes()));
    }
    let relative = Path::new(path);
    let Placement::Source { unlisted, .. } = Dialect::PI.place(relative, false) else {
        panic!("{path} is no source");
    };
    let source = SourceFacts {
        relative,
        mtime_ms: 0,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: unlisted.as_deref(),
        problems: (0, None),
    };
    Dialect::PI.session(&[source]).hidden
}

/// pi opens by its path what begins with a header that has an id (0.87.1, `loadEntriesFromFile`):
/// what hides the rest is told first.
#[test]
fn what_is_wrong_in_a_file_is_told_before_where_it_lies() {
    let header = r#"{"type":"session","id":"a"}"#;
    let odd = r#"{"type":"message","id":"m"}"#;
    for (path, lines, reason, opens) in [
        ("--w--/a.jsonl", &[header][..], None, true),
        (
            "a.jsonl",
            &[header],
            Some("directly in the sessions folder"),
            true,
        ),
        (
            "--w--/a/b.jsonl",
            &[header],
            Some("below the folders that pi lists"),
            true,
        ),
        (
            "--w--/a/b.jsonl",
            &[header, odd],
            Some("a message entry has no message"),
            false,
        ),
        (
            "--w--/a/b.jsonl",
            &[odd, header],
            Some("a message entry has no message"),
            false,
        ),
        (
            "--w--/a/b.jsonl",
            &[r#"{"type":"custom"}"#],
            Some("first record is no session header"),
            false,
        ),
        ("--w--/a/b.jsonl", &[], Some("empty file"), false),
        (
            "--w--/a/b.jsonl",
            &[r#"{"type":"session","id":7}"#],
            Some("its id is no text"),
            false,
        ),
    ] {
        let found = hidden(path, lines);
        assert_eq!(found.as_deref(), reason, "{path}");
        assert_eq!(
            found.is_none_or(|reason| super::opens(&reason)),
            opens,
            "{path}"
        );
    }
}

/// Where pi-subagents has the sessions of subagents (0.11.1 to 0.67.0), and by what each knows the
/// session that started it.
#[test]
fn subagents_know_who_started_them() {
    let stem = "2026-05-12T01-02-27-000Z_019e-a1";
    let run = format!("--w--/{stem}/5f31/run-0/session");
    let fork = "2026-05-12T01-05-27-000Z_019e-f1";
    let header = r#"{"type":"session","id":"c","parentSession":"/s/a.jsonl"}"#;
    for (path, parent) in [
        (format!("{run}.jsonl"), Some("019e-a1")),
        (
            format!("--w--/{stem}/5f31/run-12/{fork}.jsonl"),
            Some("019e-a1"),
        ),
        (format!("--w--/{stem}/forks/{fork}.jsonl"), Some("019e-a1")),
        (format!("{stem}/5f31/run-0/session.jsonl"), Some("019e-a1")),
        // One that another subagent started.
        (
            format!("{run}/77/run-1/session.jsonl"),
            Some(&*format!("{run}.jsonl")),
        ),
        (
            format!("--w--/{stem}/forks/{fork}/77/run-1/session.jsonl"),
            Some("019e-f1"),
        ),
        // Folders of people's own.
        ("--w--/forks/a.jsonl".to_owned(), None),
        ("--w--/mine/forks/a.jsonl".to_owned(), None),
        ("bench/case/run-1/session.jsonl".to_owned(), None),
        (format!("--w--/{stem}.jsonl"), None),
        (format!("--w--/{stem}/notes.jsonl"), None),
    ] {
        let session = session_of(header, &path);
        assert_eq!(session.is_subagent, parent.is_some(), "{path}");
        let named = parent.unwrap_or("/s/a.jsonl");
        assert_eq!(session.parent_session.as_deref(), Some(named), "{path}");
    }
}

/// A model asked for it; but what a forked one copied a person may have typed.
#[test]
fn nobody_typed_what_a_subagent_was_asked() {
    let path =
        Path::new("/s/--w--/2026-05-12T01-02-27-000Z_a1/forks/2026-05-12T01-05-27-000Z_f1.jsonl");
    let said = |time: &str| {
        let message = r#""message":{"role":"user","content":"Task: find gizmo"}"#;
        format!(r#"{{"type":"message","id":"m","timestamp":"{time}",{message}}}"#)
    };
    let header = r#"{"type":"session","id":"f1","timestamp":"2026-05-12T01:05:27.000Z"}"#;
    let (copied, asked) = (
        said("2026-05-12T01:02:28.000Z"),
        said("2026-05-12T01:05:28.000Z"),
    );
    for (path, roles) in [
        (path, ["user", "injected"]),
        (
            Path::new("/s/--w--/2026-05-12T01-05-27-000Z_f1.jsonl"),
            ["user", "user"],
        ),
    ] {
        let mut fold = Fold::default();
        Dialect::PI.fold(&mut fold, &Dialect::PI.facts(header.as_bytes()));
        for (line, role) in [&copied, &asked].into_iter().zip(roles) {
            let mut facts = Dialect::PI.facts_at(path, line.as_bytes());
            assert_eq!(
                Dialect::PI.facts_of_line_at(path, line.as_bytes()).as_ref(),
                Some(&facts)
            );
            Dialect::PI.relate(&mut fold, line.as_bytes(), &mut facts);
            assert_eq!(facts.role.as_deref(), Some(role), "{}", path.display());
            assert!(facts.is_message && facts.user_text.is_some());
            Dialect::PI.fold(&mut fold, &facts);
        }
    }
}

/// As pi writes `/skill:pdf merge the invoices` (0.73.1 to 0.87.1) and `pi @notes.md "sum up"`
/// (0.13.2 to 0.87.1).
#[test]
fn skills_and_files_are_no_prose_of_their_person() {
    let skill = "<skill name=\"pdf\" location=\"/k/SKILL.md\">\nUse qpdf.\n</skill>";
    let file = "<file name=\"/w/notes.md\">\n# Notes\n</file>";
    let (two, picture) = (format!("{file}\n{file}"), "<file name=\"/w/a.png\"></file>");
    let tags = "<file name=\"/x/p.xml\">\n<file>a</file> b <c/>\nd\n</file>";
    for (text, prose, output) in [
        (
            format!("{skill}\n\nmerge the invoices"),
            &["merge the invoices"][..],
            &[skill][..],
        ),
        (format!("{two}\nsum these up"), &["sum these up"], &[&two]),
        (
            format!("{picture}\n{picture}\nwhat is this"),
            &["what is this"],
            &[picture, picture],
        ),
        // A file may hold such tags, and a person write them in a sentence.
        (format!("{tags}\nmend it"), &["mend it"], &[tags]),
        (
            format!("my manifest: {file} is odd"),
            &["my manifest: <file name=\"/w/notes.md\">\n# Notes\n</file> is odd"],
            &[],
        ),
        (skill.to_owned(), &[], &[skill]),
        // What a person pastes, and tags that do not end.
        (
            "why <my-tag>x</my-tag>".to_owned(),
            &["why <my-tag>x</my-tag>"],
            &[],
        ),
        (
            "see <file name=\"a\">".to_owned(),
            &["see <file name=\"a\">"],
            &[],
        ),
    ] {
        for content in [
            serde_json::json!(text),
            serde_json::json!([{"type": "text", "text": text}]),
        ] {
            for (role, prose, output) in
                [("user", prose, output), ("assistant", &[&*text][..], &[])]
            {
                let message = serde_json::json!({"role": role, "content": content});
                let line = serde_json::json!({"type": "message", "message": message}).to_string();
                let passages = Dialect::PI.passages(line.as_bytes());
                let of = |class| -> Vec<&str> {
                    let of_class = passages.iter().filter(|passage| passage.class == class);
                    of_class
                        .flat_map(|passage| &passage.pieces)
                        .map(|piece| &**piece)
                        .collect()
                };
                assert_eq!(of(Class::Prose), prose, "{role}: {text}");
                assert_eq!(of(Class::Output), output, "{role}: {text}");
            }
        }
    }
}

/// All pieces of a line's text of this class.
fn pieces(line: &str, class: Class) -> Vec<String> {
    let passages = Dialect::PI.passages(line.as_bytes()).into_iter();
    let of_class = passages.filter(|passage| passage.class == class);
    of_class.flat_map(|passage| passage.pieces).collect()
}

/// pi keeps all of a long output of a command behind `!` in a file (0.87.1).
#[test]
fn the_file_of_a_truncated_output_is_found() {
    let line = r#"{"type":"message","id":"b","message":{"role":"bashExecution","command":"make",
        "output":"end","exitCode":0,"truncated":true,"fullOutputPath":"/tmp/pi-bash-abc.log"}}"#;
    assert_eq!(
        pieces(line, Class::Output),
        ["make", "end", "/tmp/pi-bash-abc.log"]
    );
}

/// As 0.7.6 writes it; later versions write `provider` and `modelId`.
#[test]
fn a_model_may_stand_behind_its_provider() {
    for (kind, said, provider, model) in [
        (
            "session",
            r#""model":"anthropic/claude-4""#,
            Some("anthropic"),
            Some("claude-4"),
        ),
        (
            "model_change",
            r#""model":"openrouter/openai/gpt""#,
            Some("openrouter"),
            Some("openai/gpt"),
        ),
        (
            "model_change",
            r#""provider":"p","modelId":"m/n""#,
            Some("p"),
            Some("m/n"),
        ),
        (
            "model_change",
            r#""provider":"p","modelId":"m","model":"x/y""#,
            Some("p"),
            Some("m"),
        ),
        ("model_change", r#""model":"alone""#, None, None),
    ] {
        let line = format!(r#"{{"type":"{kind}","id":"a",{said}}}"#);
        let facts = Dialect::PI.facts(line.as_bytes());
        assert_eq!(facts.provider.as_deref(), provider, "{line}");
        assert_eq!(facts.model.as_deref(), model, "{line}");
    }
    let line = r#"{"type":"model_change","model":"openai/gpt-5-codex"}"#;
    assert_eq!(pieces(line, Class::Prose), ["openai/gpt-5-codex"]);
}

/// 0.12.7 to 0.30.2 named the parent so, and pi keeps it in files that it migrates.
#[test]
fn a_parent_may_be_named_as_what_was_branched_from() {
    for (named, parent, own) in [
        (
            r#""branchedFrom":"/s//a.jsonl""#,
            Some("/s/a.jsonl"),
            Some(r#"{"branchedFrom":"/s/a.jsonl"}"#),
        ),
        (
            r#""branchedFrom":"/s/a.jsonl","parentSession":"/s/b.jsonl""#,
            Some("/s/b.jsonl"),
            None,
        ),
        (r#""branchedFrom":"""#, None, None),
        (r#""branchedFrom":null"#, None, None),
    ] {
        let header = format!(r#"{{"type":"session","id":"c",{named}}}"#);
        let session = session_of(&header, "--w--/c.jsonl");
        assert_eq!(session.parent_session.as_deref(), parent, "{named}");
        assert_eq!(session.own.as_deref(), own, "{named}");
    }
}

/// A result of codemode as 1.6.0 writes it (`docs/message-types.md`), with what else is in it.
fn result_of_codemode(more: &serde_json::Value) -> String {
    let mut message = serde_json::json!({
        "role": "toolResult", "toolCallId": "c1", "toolName": "codemode",
        "content": [{"type": "text", "text": "Script completed"}],
        "isError": false, "timestamp": 1_795_600_002_000_i64,
        "usage": {"input": 5000, "output": 500, "cacheRead": 0, "cacheWrite": 0,
            "totalTokens": 5500, "cost": {"total": 0.25}}
    });
    for (name, value) in more.as_object().unwrap() {
        message[name] = value.clone();
    }
    serde_json::json!({"type": "message", "id": "a3", "parentId": "a2",
        "timestamp": "2026-11-20T10:00:03.000Z", "message": message})
    .to_string()
}

#[test]
fn what_a_tool_took_counts_unless_its_subagents_say_it() {
    let tokens = |more| {
        let facts = Dialect::PI.facts(result_of_codemode(&more).as_bytes());
        facts.usage.map(|usage| (usage.total, usage.cost_total))
    };
    let all = Some((Some(5500), Some(0.25)));
    assert_eq!(tokens(serde_json::json!({})), all);
    let alone = serde_json::json!({"details": {"results": [{"agent": "scout"}]}});
    assert_eq!(tokens(alone), all);
    for of_none in [
        serde_json::json!({"results": [{"agent": "scout", "sessionFile": null}]}),
        serde_json::json!({"input": {"sessionFile": "/etc/x"}}),
        serde_json::json!({"results": [{"input": {"sessionFile": "/etc/x"}}]}),
    ] {
        assert_eq!(tokens(serde_json::json!({"details": of_none})), all);
    }
    let of_session = serde_json::json!({"details": {"results": [{"sessionFile": "/s/a.jsonl"}]}});
    assert_eq!(tokens(of_session), None);
}

#[test]
fn a_call_within_a_call_with_half_a_sign_is_a_call() {
    let line = result_of_codemode(&serde_json::json!({"nestedCalls": {"calls": [
        {"id": "c1/1", "name": "bash", "status": "ok", "arguments": {"command": "echo HALF zebu"}},
        {"id": "c1/2", "name": "read", "status": "ok", "arguments": {"path": "a.rs"}},
    ]}}));
    let facts = Dialect::PI.facts(line.replace("HALF", "\\ud83d").as_bytes());
    let subjects = facts.calls.iter().map(|call| call.subject.as_deref());
    let wanted = [None, Some("echo \u{fffd} zebu"), None, Some("a.rs"), None];
    assert_eq!(subjects.collect::<Vec<_>>(), wanted);
    assert_eq!(facts.files.len(), 1);
}

#[test]
fn calls_that_a_tool_makes_itself_are_calls() {
    let line = result_of_codemode(
        &serde_json::json!({"nestedCalls": {"complete": true, "calls": [
            {"id": "c1/1", "name": "edit", "status": "ok", "durationMs": 4,
                "arguments": {"path": "src/bongo.ts", "edits": [{"oldText": "a", "newText": "duiker"}]}},
            {"id": "c1/2", "name": "bash", "status": "error", "error": "exit eland", "durationMs": 9,
                "arguments": {"command": "grep zebu x"}},
        ]}}),
    );
    let facts = Dialect::PI.facts(line.as_bytes());
    let calls = facts.calls.iter();
    let calls = calls.map(|call| (call.call_id.as_deref(), call.is_result, call.is_error));
    let wanted = [
        (Some("c1"), true, Some(false)),
        (Some("c1/1"), false, None),
        (Some("c1/1"), true, Some(false)),
        (Some("c1/2"), false, None),
        (Some("c1/2"), true, Some(true)),
    ];
    assert_eq!(calls.collect::<Vec<_>>(), wanted);
    let subjects = facts
        .calls
        .iter()
        .filter_map(|call| call.subject.as_deref());
    assert_eq!(
        subjects.collect::<Vec<_>>(),
        ["src/bongo.ts", "grep zebu x"]
    );
    let files = facts.files.iter().map(|file| (&*file.path, file.modified));
    assert_eq!(files.collect::<Vec<_>>(), [("src/bongo.ts", true)]);
    assert!(!facts.is_error);
    let texts = Dialect::PI.passages(line.as_bytes()).into_iter();
    let texts: Vec<String> = texts.flat_map(|passage| passage.pieces).collect();
    for text in ["duiker", "grep zebu x", "exit eland", "Script completed"] {
        assert!(texts.iter().any(|piece| piece == text), "{text}: {texts:?}");
    }
    let edits = crate::edits::edits(line.as_bytes());
    assert_eq!(
        (edits.len(), edits[0].call_id.as_deref()),
        (1, Some("c1/1"))
    );
    assert_eq!(edits[0].path, "src/bongo.ts");
}
