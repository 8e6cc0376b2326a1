//! The cases of Codex's rollouts, each read from its first line to its last.

use std::path::{Path, PathBuf};

use super::Codex;
use crate::json::split;
use crate::model::{Facts, Fold, Placement, SessionFacts, SourcePart};
use crate::{Format, SourceFacts};

mod document;
mod shapes;
mod versions;

/// A rollout as it is read: what the lines say, in the light of those before them, with their text.
struct Rollout {
    entries: Vec<(Facts, Vec<String>)>,
    session: SessionFacts,
}

fn case(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex");
    let files = std::fs::read_dir(folder.join(name)).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut rollouts: Vec<_> = paths
        .filter(|path| path.extension().unwrap() == "jsonl")
        .collect();
    rollouts.sort();
    rollouts
}

fn read(path: &Path) -> Rollout {
    let bytes = std::fs::read(path).unwrap();
    let (mut fold, mut entries) = (Fold::default(), Vec::new());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        for piece in split(line) {
            if matches!(piece.kind, crate::json::PieceKind::Value { .. }) {
                let record = &line[piece.range];
                let mut facts = Codex.facts(record);
                Codex.relate(&mut fold, record, &mut facts);
                Codex.fold(&mut fold, &facts);
                let passages = Codex.passages(record);
                let texts = match facts.silent {
                    true => Vec::new(),
                    false => passages
                        .into_iter()
                        .flat_map(|passage| passage.pieces)
                        .collect(),
                };
                entries.push((facts, texts));
            }
        }
    }
    let session = Codex.session(&[SourceFacts {
        relative: Path::new(path.file_name().unwrap()),
        mtime_ms: 0,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }]);
    Rollout { entries, session }
}

fn only(name: &str) -> Rollout {
    read(&case(name)[0])
}

/// Tool, what it was about, whether it failed, and how long it took.
type Called<'a> = (Option<&'a str>, Option<&'a str>, Option<bool>, Option<i64>);

impl Rollout {
    /// Role and text of all that says something.
    fn said(&self) -> Vec<(&str, String)> {
        let said = self.entries.iter().filter(|(_, texts)| !texts.is_empty());
        said.map(|(facts, texts)| {
            (
                facts.role.as_deref().unwrap_or(&facts.kind),
                texts.join(" "),
            )
        })
        .collect()
    }

    /// Every call and result.
    fn calls(&self) -> Vec<Called<'_>> {
        let calls = self.entries.iter().flat_map(|(facts, _)| &facts.calls);
        calls
            .map(|call| {
                (
                    call.tool.as_deref(),
                    call.subject.as_deref(),
                    call.is_error,
                    call.duration_ms,
                )
            })
            .collect()
    }

    /// Tokens of each answer: what it is counted by, input, cached, output.
    fn spent(&self) -> Vec<(&str, i64, i64, i64)> {
        let usage = self
            .entries
            .iter()
            .filter_map(|(facts, _)| facts.usage.as_ref());
        usage
            .map(|usage| {
                let id = usage.response_id.as_deref().unwrap();
                (
                    id,
                    usage.input.unwrap(),
                    usage.cache_read.unwrap(),
                    usage.output.unwrap(),
                )
            })
            .collect()
    }

    fn texts(&self) -> String {
        self.said()
            .into_iter()
            .map(|(_, text)| text + "\n")
            .collect()
    }
}

#[test]
fn legacy_and_paginated_of_one_talk_give_the_same_entries() {
    let talks: Vec<Rollout> = case("the-same-talk")
        .iter()
        .map(|path| read(path))
        .collect();
    let [paginated, legacy] = &talks[..] else {
        panic!("two rollouts");
    };
    assert_eq!(paginated.said(), legacy.said());
    let roles: Vec<&str> = paginated.said().iter().map(|(role, _)| *role).collect();
    assert_eq!(
        roles,
        [
            "injected",
            "user",
            "assistant",
            "assistant",
            "toolResult",
            "assistant",
            "toolResult",
            "assistant"
        ]
    );
    let calls = [
        (Some("exec_command"), Some("cat ice.txt"), None, None),
        (None, None, Some(false), Some(17)),
        (Some("exec_command"), Some("cat sea.txt"), None, None),
        (None, None, Some(true), Some(17)),
    ];
    assert_eq!(paginated.calls(), calls);
    assert_eq!(legacy.calls(), calls);
    let counted = |talk: &Rollout| -> Vec<_> {
        talk.spent()
            .iter()
            .map(|(_, input, cached, output)| (*input, *cached, *output))
            .collect()
    };
    assert_eq!(counted(paginated), [(80, 20, 30); 3]);
    assert_eq!(counted(legacy), [(80, 20, 30); 3]);
    let usage = |talk: &Rollout| {
        talk.entries
            .iter()
            .find_map(|(facts, _)| facts.usage.clone())
            .unwrap()
    };
    for talk in [paginated, legacy] {
        assert_eq!(usage(talk).model.as_deref(), Some("gpt-5.9"));
        assert_eq!(usage(talk).provider.as_deref(), Some("openai"));
    }
    assert_eq!(paginated.session.tokens, Some(390));
    assert_eq!(legacy.session.tokens, Some(390));
    // The command's twin knows which files were read.
    let files: Vec<&str> = paginated
        .entries
        .iter()
        .flat_map(|(facts, _)| &facts.files)
        .map(|file| &*file.path)
        .collect();
    assert_eq!(files, ["ice.txt", "sea.txt"]);
}

/// What repeats an item is nobody's: whoever counts the messages of a role counts each once.
#[test]
fn silent_entries_have_no_role() {
    for path in case("the-same-talk") {
        let talk = read(&path);
        let users = talk
            .entries
            .iter()
            .filter(|(facts, _)| facts.role.as_deref() == Some("user"));
        assert_eq!(users.count(), 1);
    }
}

#[test]
fn resume() {
    let talk = only("resume");
    assert_eq!(talk.session.model.as_deref(), Some("gpt-6"));
    let models: Vec<_> = talk
        .entries
        .iter()
        .filter_map(|(facts, _)| facts.usage.as_ref()?.model.as_deref())
        .collect();
    assert_eq!(models, ["gpt-5.9", "gpt-5.9", "gpt-5.9", "gpt-6"]);
}

#[test]
fn compaction() {
    let talk = only("compaction");
    assert!(!talk.texts().contains("gnatcatcher"));
    let compacted: Vec<_> = talk
        .entries
        .iter()
        .filter(|(facts, _)| facts.compaction.is_some())
        .collect();
    assert_eq!(compacted.len(), 1);
    assert_eq!(compacted[0].1, ["What was found: the ice."]);
}

/// What compacting gave is its summary, and no answer. It is spent all the same.
#[test]
fn what_a_compaction_gave_is_found_once() {
    let talk = only("compaction");
    let summary = talk.said();
    let summary = summary.iter().filter(|(_, text)| text.contains("the ice."));
    let roles: Vec<&str> = summary.map(|(role, _)| *role).collect();
    assert_eq!(roles, ["assistant", "compacted"]);
    let spent = talk.spent();
    assert_eq!(spent.last().unwrap().0, "resp_4_4");
}

fn of_lines(lines: &[String]) -> Rollout {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    read(&path)
}

fn line(kind: &str, payload: &serde_json::Value) -> String {
    serde_json::json!({"type": kind, "payload": payload}).to_string()
}

/// A turn that compacts begins with the last count once more. In a fork, and in a further page,
/// that is what the rollout counted from which it goes on.
#[test]
fn the_last_count_of_the_origin_is_not_the_forks() {
    let tokens = |total: i64| serde_json::json!({"input_tokens": total, "total_tokens": total});
    let count = |total: i64| {
        let info = serde_json::json!({"total_token_usage": tokens(total), "last_token_usage": tokens(130)});
        line(
            "event_msg",
            &serde_json::json!({"type": "token_count", "info": info}),
        )
    };
    let header = |base: serde_json::Value| {
        let header =
            serde_json::json!({"id": "fork", "history_mode": "paginated", "history_base": base});
        line("session_meta", &header)
    };
    let answer = line(
        "response_item",
        &serde_json::json!({"type": "message", "role": "assistant", "content": "On the ice."}),
    );
    let record = line(
        "token_usage_record",
        &serde_json::json!({"response_id": "r1", "usage": tokens(130)}),
    );
    let base = serde_json::json!({"thread_id": "origin", "end_byte_offset": 9});
    let spent = |lines: &[String]| of_lines(lines).session.tokens;
    let began = [header(base.clone()), count(520), count(520), answer.clone()];
    let with_records = [&began[..], &[record, count(650)]].concat();
    assert_eq!(spent(&with_records), Some(130));
    // The same where answers are not recorded.
    assert_eq!(spent(&[&began[..], &[count(650)]].concat()), Some(130));
    assert_eq!(
        spent(&[header(base), answer.clone(), count(650)]),
        Some(130)
    );
    let root = [
        header(serde_json::Value::Null),
        count(130),
        answer,
        count(260),
    ];
    assert_eq!(spent(&root), Some(260));
}

/// A legacy rollout says by an event what was sent. Its item may begin as what Codex adds.
#[test]
fn what_an_event_says_was_sent_is_typed_whatever_it_begins_with() {
    let item = |text: &str| {
        let content = serde_json::json!([{"type": "input_text", "text": text}]);
        line(
            "response_item",
            &serde_json::json!({"type": "message", "role": "user", "content": content}),
        )
    };
    let sent = |text: &str, kind: &str| {
        line(
            "event_msg",
            &serde_json::json!({"type": "user_message", "message": text, "kind": kind}),
        )
    };
    let header = line("session_meta", &serde_json::json!({"id": "t", "cwd": "/w"}));
    let environment = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>";
    for text in [
        "# AGENTS.md instructions should be shorter",
        "<bug_report>the wombat crashes</bug_report>",
    ] {
        let talk = of_lines(&[
            header.clone(),
            item(environment),
            sent(environment, "environment_context"),
            item(text),
            sent(text, "plain"),
            // Once is enough.
            sent(text, "plain"),
        ]);
        assert_eq!(talk.session.message_count, 1, "{text}");
        assert_eq!(talk.session.first_message.as_deref(), Some(text));
        let said = talk.said();
        let typed = said.iter().filter(|(role, _)| *role == "user");
        assert_eq!(typed.collect::<Vec<_>>(), [&("user", text.to_owned())]);
    }
    let plain = of_lines(&[header, item("Why?"), sent("Why?", "plain")]);
    assert_eq!(plain.said(), [("user", "Why?".to_owned())]);
}

#[test]
fn error_turn_with_no_answer() {
    for path in case("error-turn") {
        let talk = read(&path);
        assert_eq!(talk.session.error_count, 1);
        let failed: Vec<_> = talk
            .entries
            .iter()
            .filter(|(facts, _)| facts.is_error)
            .collect();
        assert_eq!(failed[0].1, ["the server is out of reach"]);
    }
}

#[test]
fn abort() {
    let talk = only("abort");
    let said = talk.said();
    let aborted = said
        .iter()
        .find(|(_, text)| text.starts_with("<turn_aborted>"))
        .unwrap();
    assert_eq!(aborted.0, "injected");
    assert_eq!(
        said.last().unwrap(),
        &("toolResult", "the tide was half in".to_owned())
    );
    assert_eq!(
        talk.calls(),
        [
            (Some("exec_command"), Some("sleep 30"), None, None),
            (None, None, Some(true), Some(3900)),
            (None, None, Some(true), Some(17)),
        ]
    );
    let stopped = talk
        .entries
        .iter()
        .find_map(|(facts, _)| facts.stop_reason.as_deref());
    assert_eq!(stopped, Some("interrupted"));
    // The command failed once; that it was stopped is no error.
    assert_eq!(talk.session.error_count, 1);
}

#[test]
fn line_1_of_60_kb() {
    let talk = only("long-first-line");
    assert_eq!(talk.session.cwd, "/home/ada/work");
    assert_eq!(talk.session.git_branch.as_deref(), Some("walrus"));
}

#[test]
fn a_word_of_instructions_or_skills() {
    for path in case("the-same-talk") {
        let talk = read(&path);
        assert!(!talk.texts().contains("quagmarine"));
        assert!(!talk.texts().contains("zephyrine"));
        assert!(!talk.texts().contains("flamingonium"));
        let bytes = std::fs::read(&path).unwrap();
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let prompts: String = lines
            .flat_map(|line| Codex.prompts_at(&path, line))
            .collect();
        assert!(prompts.contains("quagmarine") && prompts.contains("zephyrine"));
    }
}

#[test]
fn no_envelope() {
    let talk = only("no-envelope");
    assert_eq!(talk.session.cwd, "/home/ada/work");
    let roles: Vec<&str> = talk.said().iter().map(|(role, _)| *role).collect();
    assert_eq!(roles[..3], ["injected", "user", "assistant"]);
    assert_eq!(
        talk.calls(),
        [
            (Some("shell"), Some("ls shore"), None, None),
            (None, None, Some(true), Some(250)),
            (Some("apply_patch"), Some("shore.md"), None, None),
            (None, None, Some(false), Some(0)),
            (Some("local_shell"), Some("pwd"), None, None),
            (Some("web_search"), Some("shores of the north"), None, None),
        ]
    );
}

#[test]
fn ordinal_twice() {
    let talk = only("ordinal-twice");
    let typed: Vec<_> = talk
        .said()
        .into_iter()
        .filter(|(role, _)| *role == "user")
        .collect();
    assert_eq!(typed.len(), 2);
}

#[test]
fn subagent() {
    for path in case("subagent") {
        let talk = read(&path);
        assert!(talk.session.is_subagent);
        assert!(talk.said().iter().all(|(role, _)| *role != "user"));
        assert_eq!(talk.session.typed, None);
        // What its parent's model asked is no message, as in other agents' subagents.
        let said = talk.entries.iter().filter(|(facts, _)| facts.is_message);
        assert!(said.clone().count() > 0);
        assert!(
            said.into_iter()
                .all(|(facts, _)| facts.role.as_deref() == Some("assistant"))
        );
    }
}

#[test]
fn what_codexs_own_list_leaves_out() {
    let hidden = |name: &str| only(name).session.hidden;
    assert_eq!(
        hidden("named-by-exec").as_deref(),
        Some("codex exec ran it")
    );
    assert_eq!(hidden("subagent").as_deref(), Some("a subagent"));
    assert_eq!(hidden("the-same-talk"), None);
    assert_eq!(
        only("named-by-exec").session.name.as_deref(),
        Some("The tide table")
    );
}

/// As if it were not there: of no other program, and of a legacy rollout.
#[test]
fn what_is_null_in_a_header_says_nothing() {
    let of = |header: serde_json::Value| {
        let call = serde_json::json!({"type": "function_call", "name": "shell", "call_id": "c1",
            "arguments": "{}"});
        let sent = serde_json::json!({"type": "user_message", "message": "When is the flood?"});
        let lines = [
            line("session_meta", &header),
            line("event_msg", &sent),
            line("response_item", &call),
        ];
        let read = of_lines(&lines);
        let copied_with = read
            .entries
            .iter()
            .find_map(|(facts, _)| facts.copied_with.clone());
        (read.session, copied_with)
    };
    let nulls = serde_json::json!({"id": "tides", "source": null, "history_base": null});
    assert_eq!(of(nulls), of(serde_json::json!({"id": "tides"})));
}

/// It shows threads of its terminal, of editors and of two programs; all others it leaves out,
/// whatever they are called.
#[test]
fn threads_of_which_sources_codexs_own_list_shows() {
    let hidden = |source: serde_json::Value| {
        let mut header = serde_json::json!({"id": "tides"});
        if !source.is_null() {
            header["source"] = source;
        }
        let sent = serde_json::json!({"type": "user_message", "message": "When is the flood?"});
        let lines = [line("session_meta", &header), line("event_msg", &sent)];
        of_lines(&lines).session.hidden
    };
    for shown in [
        serde_json::json!("cli"),
        serde_json::json!("vscode"),
        serde_json::json!({"custom": "atlas"}),
        serde_json::json!({"custom": "chatgpt"}),
        serde_json::Value::Null,
    ] {
        assert_eq!(hidden(shown.clone()), None, "{shown}");
    }
    for (source, why) in [
        (serde_json::json!("exec"), "codex exec ran it"),
        (serde_json::json!("mcp"), "another program ran it"),
        (serde_json::json!("unknown"), "another program ran it"),
        (
            serde_json::json!({"custom": "lighthouse"}),
            "another program ran it",
        ),
        (
            serde_json::json!({"internal": "memory_consolidation"}),
            "Codex ran it for itself",
        ),
        (serde_json::json!({"subagent": "review"}), "a subagent"),
    ] {
        assert_eq!(hidden(source.clone()).as_deref(), Some(why), "{source}");
    }
}

#[test]
fn legacy_fork_repeats_the_counts_of_its_origin() {
    let rollouts = case("legacy-fork");
    let (origin, fork) = (read(&rollouts[0]), read(&rollouts[1]));
    let (before, after) = (origin.spent(), fork.spent());
    assert_eq!(before, after[..3]);
    assert_eq!(after[3].1, 40);
}

#[test]
fn where_rollouts_lie() {
    let thread = "019b8d5e-7c80-7000-8000-000000000001";
    let name = format!("rollout-2026-01-05T09-00-00-{thread}");
    let place = |path: String| match Codex.place(Path::new(&path), false) {
        Placement::Source {
            session, unlisted, ..
        } => Some((session, unlisted.is_none())),
        Placement::Ignore(_) | Placement::Database => None,
    };
    let session = |listed| Some((thread.to_owned(), listed));
    assert_eq!(place(format!("2026/01/05/{name}.jsonl")), session(true));
    assert_eq!(place(format!("2026/01/06/{name}_2.jsonl")), session(true));
    assert_eq!(
        place(format!("sessions/2026/01/05/{name}.jsonl")),
        session(true)
    );
    assert_eq!(place(format!("2026/01/05/{name}.jsonl.zst")), session(true));
    assert_eq!(place(format!("{name}.jsonl")), session(false));
    assert_eq!(
        place(format!("archived_sessions/{name}.jsonl.zst")),
        session(false)
    );
    let copy = format!("backup/{name}.jsonl");
    assert_eq!(place(copy.clone()), Some((copy, false)));
    for other in [
        "history.jsonl",
        "session_index.jsonl",
        "state_5.sqlite",
        "config.toml",
    ] {
        assert_eq!(place(other.to_owned()), None);
    }
}

/// A stack holds thousands of levels, not these.
const DEEP: usize = 100_000;

fn nested(open: &str, within: &str) -> String {
    format!("{}{within}{}", open.repeat(DEEP), "}".repeat(DEEP))
}

#[test]
fn what_nests_without_end_is_read() {
    let event = |item| format!(r#"{{"type":"event_msg","payload":{item}}}"#);
    let item = event(nested(r#"{"item":"#, r#"{"type":"Plan"}"#));
    assert_eq!(Codex.facts(item.as_bytes()).kind, "event_msg");
    let plan = event(r#"{"item":{"type":"Plan","text":"first the keel"}}"#.to_owned());
    let texts = |line: &str| -> Vec<String> {
        let passages = Codex.passages(line.as_bytes());
        passages.into_iter().flat_map(|p| p.pieces).collect()
    };
    assert_eq!(texts(&plan), ["first the keel"]);
    let torn = event(r#"{"item":{"type":"Plan","id":"\ud800","text":"then the mast"}}"#.to_owned());
    assert_eq!(texts(&torn), ["then the mast"]);
    let given = |output: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"c","output":{output}}}}}"#
        )
    };
    let wrapped = given(r#"{"output":{"output":"two knots"}}"#);
    assert_eq!(texts(&wrapped), ["two knots"]);
    let _ = texts(&given(&nested(r#"{"output":"#, r#""two knots""#)));
}
