//! The cases of what single versions write.

use super::*;
use crate::openclaw::called::{beginning, is_beginning};

/// As results of tools are in lines of several versions, by what their details say.
#[test]
fn tools_fail_by_the_details_of_their_result() {
    for (details, is_error) in [
        // 2026.1.24, 2026.3.13, 2026.9.6.
        (r#"{"status":"error","tool":"exec","error":"code 3"}"#, true),
        (
            r#"{"status":"completed","exitCode":3,"aggregated":"x"}"#,
            true,
        ),
        (r#"{"exitCode":3}"#, true),
        // What else is a failure.
        (r#"{"status":" Timed_Out "}"#, true),
        (r#"{"status":"approval-unavailable"}"#, true),
        (r#"{"ok":false}"#, true),
        (r#"{"success":false,"status":"completed"}"#, true),
        (r#"{"timedOut":true}"#, true),
        (r#"{"error":{"message":"no"}}"#, true),
        (r#"{"error":"\ud83e"}"#, true),
        // What is none.
        (r#"{"status":"completed","exitCode":0}"#, false),
        (r#"{"status":"accepted","childSessionKey":"k"}"#, false),
        (r#"{"status":"running","exitCode":null}"#, false),
        (r#"{"status":"error","ok":true}"#, false),
        (r#"{"error":"","timedOut":false}"#, false),
        (r#"{"error":null,"exitCode":"3"}"#, false),
        (r#"{"status":"errors"}"#, false),
        ("[3]", false),
        ("null", false),
    ] {
        let result = format!(
            r#"{{"type":"message","id":"a","message":{{"role":"toolResult","toolCallId":"t","toolName":"exec","content":[],"details":{details},"isError":false}}}}"#
        );
        let facts = OpenClaw.facts(result.as_bytes());
        let call = facts.calls[0].is_error;
        assert_eq!(
            (facts.is_error, call),
            (is_error, Some(is_error)),
            "{details}"
        );
        let fold = folded(&[&result]).1;
        assert_eq!(fold.errors, u64::from(is_error), "{details}");
    }
    // What nobody else than a tool says is no failure.
    let said = r#"{"type":"message","id":"a","message":{"role":"user","content":"x","details":{"status":"error"}}}"#;
    assert!(!OpenClaw.facts(said.as_bytes()).is_error);
}

/// 2026.1.24 writes answers of its own without `parentId`, and went on from them.
#[test]
fn an_injected_answer_goes_on_from_the_entry_before_it() {
    let asked =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"why"}}"#;
    let compacted = r#"{"type":"compaction","id":"b","parentId":"a","summary":"x"}"#;
    let injected = r#"{"type":"message","id":"c","timestamp":"2026-11-30T17:58:12.439Z","message":{"role":"assistant","content":[{"type":"text","text":"Compacted"}],"timestamp":7,"stopReason":"injected","usage":{"input":0,"output":0,"totalTokens":0}}}"#;
    let next = r#"{"type":"custom","id":"d","parentId":"c"}"#;
    let (all, fold) = folded(&[asked, compacted, injected, next]);
    let parents: Vec<_> = all.iter().map(|facts| facts.parent.as_deref()).collect();
    assert_eq!(parents, [None, Some("a"), Some("b"), Some("c")]);
    assert_eq!(fold.leaf.as_deref(), Some("d"));
    // It is a message, and no answer of a model.
    assert_eq!((all[2].is_message, &all[2].usage), (true, &None));
    assert_eq!((fold.messages, fold.tokens), (2, None));
    // An index that grew knows it too: what it was told is kept with the fold.
    let kept = serde_json::to_string(&folded(&[asked, compacted]).1).unwrap();
    let mut grown: Fold = serde_json::from_str(&kept).unwrap();
    let record = injected.as_bytes();
    let mut facts = OpenClaw.facts(record);
    OpenClaw.relate(&mut grown, record, &mut facts);
    assert_eq!(facts.parent.as_deref(), Some("b"));
    // What says that it goes on from nothing does, and so does what a model said.
    for (from, to) in [
        (r#""id":"c","#, r#""id":"c","parentId":null,"#),
        ("\"injected\"", "\"stop\""),
    ] {
        let other = injected.replace(from, to);
        assert_eq!(folded(&[asked, &other]).0[1].parent, None, "{to}");
    }
    let counted = injected.replace("\"injected\"", "\"stop\"");
    assert!(OpenClaw.facts(counted.as_bytes()).usage.is_some());
}

/// Names as 2026.9.6 made them of first messages.
#[test]
fn a_name_that_is_the_beginning_of_the_first_message_is_none() {
    let sender = "```json\n{\n  \"label\": \"openclaw-tui (gateway-client)\"\n}\n```\n\n[Mon] New";
    let imported = format!("Sender: ⟦openclaw:ctx⟧\n{sender}");
    let written = format!("Sender (untrusted metadata):\n{sender}");
    let cron = "[cron:f8236e89-8934-4d60-b1f5-21b33852d106 Cron lambda] Cron text lambda\nnow";
    let long = "Count the walruses && the narwhals {\"on\":\"the ice of the far north\"}";
    for (name, message) in [
        (
            "Sender (untrusted metadata): ```json { \"label\":…",
            &*imported,
        ),
        (
            "Sender (untrusted metadata): ```json { \"label\":…",
            &*written,
        ),
        (
            "[cron:f8236e89-8934-4d60-b1f5-21b33852d106 Cron lambda]…",
            cron,
        ),
        (
            "Count the walruses && the narwhals {\"on\":\"the ice of the…",
            long,
        ),
        (
            " why  so slow [message_id: 5]",
            "why so\nslow\n[message_id: 5] ",
        ),
        ("I trust (untrusted: why", "I trust (untrusted: why"),
        (
            "Which of the walruses was it who wrote (untrusted…",
            "Which of the walruses was it who wrote (untrusted metadata of ice): why",
        ),
    ] {
        let begins = beginning(message).unwrap();
        assert!(is_beginning(name, &begins), "{name} of {message}");
    }
    for (name, message) in [
        ("Walruses", long),
        ("Count…", long),
        ("Count the walruses", long),
        (
            "Count the walruses && the penguins {\"on\":\"the ice of the…",
            long,
        ),
        ("why so slow", "why so slow today"),
        // The mark does not end.
        ("I trust", "I trust (untrusted certificates: why"),
    ] {
        let begins = beginning(message).unwrap();
        assert!(!is_beginning(name, &begins), "{name} of {message}");
    }
    assert_eq!(beginning(" \n"), None);
    // No more is kept, nor looked at, of a long one.
    assert_eq!(beginning(&"x ".repeat(1 << 20)).unwrap().len(), 61);
}

/// The title of a session whose key or file is called like this.
fn title_of(name: &str, lines: &[&str]) -> (Option<String>, Option<String>) {
    let row = r#"{"table":"session_windows","key":"s1","row":{"session_id":"s1","session_key":"k","display_name":NAME}}"#;
    let row = row.replace("NAME", &serde_json::to_string(name).unwrap());
    let all: Vec<&str> = std::iter::once(&*row)
        .chain(lines.iter().copied())
        .collect();
    let fold = folded(&all).1;
    let session = OpenClaw.session(&[SourceFacts {
        relative: Path::new("main/agent/openclaw-agent.sqlite/s1"),
        mtime_ms: 7,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }]);
    (session.name, session.typed)
}

#[test]
fn what_was_typed_is_the_title_where_nobody_named_the_session() {
    let line = |id: &str, more: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(
            r#"{{"type":"message","id":"{id}","message":{{"role":"user"{more},"content":{text}}}}}"#
        )
    };
    let context = "System: [2026-11-30 18:02:14 UTC] Remind the otter of the owl\n\nIn the new one";
    let asked = line("a", "", context);
    let made = "System: [2026-11-30 18:02:14 UTC] Remind the otter of the…";
    let typed = Some("In the new one".to_owned());
    assert_eq!(title_of(made, &[&asked]), (None, typed.clone()));
    let given = "Otters and owls of the northern lagoon…".to_owned();
    assert_eq!(title_of(&given, &[&asked]), (Some(given), typed.clone()));
    // What another session said before is not what it made the name of.
    let provenance = r#","provenance":{"kind":"inter_session"}"#;
    let other = line("b", provenance, "A message of another session to this one");
    assert_eq!(title_of(made, &[&other, &asked]), (None, typed));
}

/// After a reset its key leads to another session than the one that started a subagent.
#[test]
fn a_session_that_began_later_started_no_subagent() {
    let path = Path::new("/x/agents/main/sessions/s2.jsonl");
    let names = br#"{"k":{"sessionId":"s2","spawnedBy":"l"},"l":{"sessionId":"s3"}}"#;
    let said = OpenClaw.names_in(names).unwrap()["s2"].clone();
    let file = OpenClaw.names_depend_on(path, &said).unwrap();
    assert_eq!(file, Path::new("/x/agents/main/sessions/s3.jsonl"));
    let header = |id: &str, time: &str| {
        format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-11-30T{time}Z"}}"#)
    };
    let parent = |line: &str| {
        let mut fold = folded(&[&header("s2", "18:10:58.449")]).1;
        fold.named_beside = Some(OpenClaw.names_with(&said, line.as_bytes()));
        let session = OpenClaw.session(&[SourceFacts {
            relative: Path::new("main/sessions/s2.jsonl"),
            mtime_ms: 7,
            fold: &fold,
            part: SourcePart::Main,
            unlisted: None,
            problems: (0, None),
        }]);
        assert!(session.is_subagent);
        session.parent_session
    };
    assert_eq!(parent(&header("s3", "18:02:31.479")).as_deref(), Some("s3"));
    assert_eq!(parent(&header("s3", "18:12:10.108")), None);
    assert_eq!(parent(""), None);
    // Nothing is looked for elsewhere.
    for starter in ["../s3", "", "s3.jsonl.reset.2026"] {
        let said = serde_json::json!({"key": "k", "starter": starter}).to_string();
        assert_eq!(OpenClaw.names_depend_on(path, &said), None, "{starter}");
    }
    assert_eq!(OpenClaw.names_depend_on(path, "{}"), None);
}
