//! Copilot's sessions, case by case: `fixtures/copilot.py` writes them.

use std::path::Path;

use serde_json::{Value, json};

use super::Copilot;
use crate::model::Class::{self, Output, Prose};
use crate::model::{Facts, Fold, SessionFacts, SourcePart};
use crate::testing::{MTIME, Read, only, sessions};
use crate::{Format, Record, SourceFacts, resume};

const SESSION: &str = "6d0b1f6e-0000-4000-8000-0000000000c1";

fn read(case: &str) -> Read {
    only(&Copilot, case)
}

fn roles<'r>(read: &'r Read, kind: &str) -> Vec<&'r str> {
    let roles = read.of_kind(kind).into_iter();
    roles
        .map(|facts| facts.role.as_deref().unwrap_or_default())
        .collect()
}

fn own(read: &Read, key: &str) -> serde_json::Value {
    let own = read.session.own.as_deref().unwrap();
    serde_json::from_str::<serde_json::Value>(own).unwrap()[key].clone()
}

#[test]
fn subagent_inside_the_file() {
    let read = read("subagent");
    // Its messages are those of the session, but nobody typed its prompt and it is none of the
    // talk.
    assert_eq!(roles(&read, "user.message"), ["user", "injected"]);
    assert_eq!(read.session.message_count, 3);
    assert_eq!(
        read.session.first_message.as_deref(),
        Some("Send somebody to the attic.")
    );
    assert_eq!(own(&read, "subagents"), 1);
    // Its prompt is found once, where it was called.
    assert_eq!(read.found("Count the trunks in the attic."), 1);
    assert_eq!(read.found("There are seven."), 2);
    // The session's model stays, and what the subagent took counts.
    assert_eq!(read.session.model.as_deref(), Some("gpt-5"));
    assert_eq!(read.session.tokens, Some(4 * 130));
    let calls = read.entries.iter().flat_map(|facts| &facts.calls);
    let calls: Vec<_> = calls.filter(|call| !call.is_result).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].subject.as_deref(), Some("ls attic"));
}

/// Versions that did not name the subagent name the call that started it.
#[test]
fn subagent_of_versions_that_name_its_call() {
    let read = read("older-subagent");
    assert_eq!(read.session.message_count, 3);
    assert_eq!(read.session.model.as_deref(), Some("gpt-5"));
    assert_eq!(own(&read, "subagents"), 1);
    assert_eq!(read.found("Count the rakes"), 1);
    assert_eq!(read.found("There are two."), 2);
}

#[test]
fn resume_is_two_runs_of_one_session_and_usage_counts_once() {
    let read = read("resumed");
    // Each run's end says what the session took so far.
    assert_eq!(read.session.tokens, Some(2 * 130));
    assert_eq!(own(&read, "inputTokens"), 200);
    assert_eq!(own(&read, "totalPremiumRequests"), 2);
    let usage = read.of_kind("session.usage_record")[0]
        .usage
        .clone()
        .unwrap();
    // What was read from the cache and written to it is no input of ours.
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write),
        (Some(75), Some(20), Some(5))
    );
    assert_eq!((usage.output, usage.reasoning), (Some(30), Some(7)));
    assert_eq!(usage.response_id.as_deref(), Some("r1"));
    assert_eq!(usage.cost_total, None);
    // It stands where the last run was.
    let session = &read.session;
    assert_eq!(session.cwd, "/home/ada/code/app/docs");
    assert_eq!(session.git_branch.as_deref(), Some("cellar"));
    assert_eq!(session.model.as_deref(), Some("gpt-5"));
    assert_eq!(session.thinking_level.as_deref(), Some("high"));
    assert_eq!(
        session.created_raw.as_deref(),
        Some("2026-01-05T09:00:00.000Z")
    );
    assert_eq!(session.version, Some(1));
    let resume = resume("copilot", "copilot", "x", (&session.id, None), &session.cwd).unwrap();
    assert_eq!(resume.argv, ["copilot", &format!("--resume={SESSION}")]);
}

#[test]
fn name_and_first_prompt() {
    let named = read("named");
    assert_eq!(named.session.name.as_deref(), Some("Ada's fence"));
    assert_eq!(named.found("Ada's fence"), 1);
    // Without a name the picker shows the first prompt, which the list knows anyway.
    let unnamed = read("first-prompt");
    assert_eq!(unnamed.session.name, None);
    assert_eq!(unnamed.session.typed.as_deref(), Some("Paint the fence."));
    assert_eq!(unnamed.found("Paint the fence."), 1);
    let generated = read("generated-name");
    assert_eq!(
        generated.session.name.as_deref(),
        Some("Fence: painting it")
    );
}

/// Versions that wrote no name wrote a summary, which stands nowhere else.
#[test]
fn summary_in_place_of_a_name() {
    let read = read("older-name");
    assert_eq!(read.session.name.as_deref(), Some("The fence of summer"));
    assert_eq!(read.found("The fence of summer"), 1);
}

#[test]
fn error_turn_without_answer() {
    let read = read("error-without-answer");
    assert_eq!(read.session.error_count, 1);
    assert_eq!(read.session.message_count, 1);
    assert_eq!(read.output, ["400 the model is down"]);
    assert!(read.of_kind("session.error")[0].is_error);
}

#[test]
fn exit_code_2_with_success() {
    let read = read("exit-code");
    let results = read.of_kind("tool.execution_complete");
    let errors: Vec<_> = results
        .iter()
        .map(|facts| facts.calls[0].is_error)
        .collect();
    assert_eq!(errors, [Some(true), Some(true)]);
    assert_eq!(read.session.error_count, 2);
    assert_eq!((read.found("no such well"), read.found("no match")), (1, 1));
    let answer = read.of_kind("assistant.message")[0];
    assert_eq!(answer.calls.len(), 2);
    assert_eq!(answer.files[0].path, "/home/ada/code/app/well.md");
    assert!(answer.files[0].modified);
}

#[test]
fn system_prompt_is_not_found_and_the_prompt_once() {
    let read = read("system-prompt");
    assert_eq!(read.found("keeper of walruses"), 0);
    assert_eq!(
        read.prompts,
        ["You are a keeper of walruses. Speak of nothing but zeppelins."]
    );
    assert_eq!(read.found("Where is the walrus?"), 1);
    assert_eq!(read.found("current_datetime"), 0);
    assert_eq!(read.found("I look for it."), 1);
    // What hooks were given, encrypted thoughts, and a skill but where the model was given it.
    assert_eq!(read.found("zeppelins"), 1);
    assert_eq!((read.found("Zm9vYmFy"), read.found("cXV4")), (0, 0));
    assert_eq!(roles(&read, "user.message"), ["user", "injected"]);
}

#[test]
fn event_over_several_lines() {
    let read = read("several-lines");
    assert_eq!(read.problems, ["torn", "not JSON"]);
    assert_eq!(read.entries.len(), 3);
    assert_eq!(read.found("Third."), 1);
}

#[test]
fn line_separators_stay_in_their_line() {
    let read = read("line-separators");
    assert!(read.problems.is_empty());
    assert_eq!(read.prose, ["one\u{2028}two\u{2029}three\u{85}four"]);
}

#[test]
fn fused_record() {
    let read = read("fused");
    assert_eq!(read.problems, ["torn"]);
    assert_eq!(read.prose, ["First.", "Third."]);
}

#[test]
fn no_workspace_yaml() {
    let read = read("no-workspace");
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    assert_eq!(read.session.name, None);
    assert_eq!(read.session.hidden, None);
    assert_eq!(read.session.modified_ms, 1_767_603_603_000);
}

#[test]
fn folder_without_events_jsonl() {
    let read = read("no-events");
    assert_eq!(read.session.hidden.as_deref(), Some("no events.jsonl"));
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    assert_eq!(read.session.created_ms, Some(1_767_603_600_000));
    assert_eq!(read.session.modified_ms, MTIME);
    assert_eq!(read.session.name.as_deref(), Some("Never begun."));
}

#[test]
fn unknown_event_type() {
    let read = read("unknown-type");
    assert!(read.problems.is_empty());
    let unknown = read.of_kind("session.brand_new");
    assert_eq!(unknown.len(), 1);
    assert!(unknown[0].id.is_some() && unknown[0].time_ms.is_some());
    assert_eq!(read.found("tomorrow"), 0);
    assert_eq!(read.entries.len(), 6);
    assert_eq!(read.session.message_count, 2);
}

/// Events of a session as the index reads them; its fold goes through JSON before each of them, as
/// between two syncs, or never.
fn related(events: &[Value], is_saved: bool) -> (SessionFacts, Vec<Facts>) {
    let (mut fold, mut entries) = (Fold::default(), Vec::new());
    for event in events {
        if is_saved {
            fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        }
        let record = event.to_string();
        let mut facts = Copilot.facts(record.as_bytes());
        Copilot.relate(&mut fold, Record::of(record.as_bytes()), &mut facts);
        Copilot.fold(&mut fold, &facts);
        entries.push(facts);
    }
    let source = SourceFacts {
        relative: Path::new("a/events.jsonl"),
        mtime_ms: MTIME,
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    };
    (Copilot.session(&[source]), entries)
}

fn event(kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data})
}

/// The end of a run, with input, output and what was read from the cache of each model.
fn end(models: &[(&str, [i64; 3])]) -> Value {
    let metrics = models.iter().map(|(model, [input, output, read])| {
        let usage = json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": read});
        ((*model).to_owned(), json!({ "usage": usage }))
    });
    let metrics: serde_json::Map<String, Value> = metrics.collect();
    event("session.shutdown", json!({ "modelMetrics": metrics }))
}

type Row<'f> = (Option<&'f str>, [Option<i64>; 3]);

/// Models and their input, output and cache reads; the same from a fold that was saved.
fn usage_of(events: &[Value]) -> (SessionFacts, Vec<Facts>) {
    let (session, entries) = related(events, false);
    assert_eq!(related(events, true), (session.clone(), entries.clone()));
    (session, entries)
}

fn rows(entries: &[Facts]) -> Vec<Row<'_>> {
    let usage = entries.iter().flat_map(Facts::all_usage);
    usage
        .map(|of| (of.model.as_deref(), [of.input, of.output, of.cache_read]))
        .collect()
}

/// Runs of versions without records count from 0, each of its own: what was taken since the last
/// end of the run is the usage of the next one.
#[test]
fn no_usage_record() {
    let read = read("shutdown-totals");
    assert_eq!(own(&read, "copilotVersion"), "0.0.400");
    let (a, b) = ("model-a", "model-b");
    let events = [
        event("session.start", json!({})),
        end(&[(a, [100, 10, 40])]),
        end(&[(a, [150, 15, 40])]),
        // It says the same again.
        end(&[(a, [150, 15, 40])]),
        event("session.resume", json!({})),
        end(&[(a, [300, 30, 0]), (b, [0, 0, 0])]),
        event("session.resume", json!({})),
        end(&[(a, [20, 2, 0]), (b, [5, 1, 0])]),
        // Nothing was asked.
        event("session.resume", json!({})),
        end(&[]),
    ];
    let (session, entries) = usage_of(&events);
    let row =
        |model, [input, output, read]: [i64; 3]| (model, [Some(input), Some(output), Some(read)]);
    assert_eq!(
        rows(&entries),
        [
            row(Some(a), [60, 10, 40]),
            row(Some(a), [50, 5, 0]),
            row(Some(a), [300, 30, 0]),
            row(Some(a), [20, 2, 0]),
            row(Some(b), [5, 1, 0]),
        ]
    );
    assert_eq!(session.tokens, Some(165 + 330 + 28));
    assert_eq!(session.model.as_deref(), Some(a));
}

/// The runs of versions without records count from 0 in all that they say (as another reader's
/// tests have it of real numbers, "adds per-lifetime shutdowns written by older CLIs"), later ones
/// count on.
#[test]
fn what_all_runs_took_is_the_sessions_own() {
    let ended = |model: [i64; 3], requests: f64, credits: i64| {
        let mut end = end(&[("m", model)]);
        end["data"]["totalPremiumRequests"] = json!(requests);
        end["data"]["totalNanoAiu"] = json!(credits);
        end
    };
    let mut whole = ended([5000, 500, 0], 7.5, 500);
    whole["data"]["accountingSnapshot"] = json!({});
    let events = [
        event("session.start", json!({})),
        ended([500, 50, 0], 1.0, 50),
        // The same run goes on, and the next one ends without a word of requests.
        ended([1000, 100, 0], 3.0, 100),
        event("session.resume", json!({})),
        end(&[("m", [1000, 100, 0])]),
        event("session.resume", json!({})),
        ended([2000, 100, 0], 2.25, 250),
    ];
    let own = |events: &[Value]| {
        let (session, _) = usage_of(events);
        let own: Value = serde_json::from_str(&session.own.unwrap()).unwrap();
        (own, session.tokens)
    };
    let (summed, tokens) = own(&events);
    let figures = json!({"inputTokens": 4000, "outputTokens": 300, "totalPremiumRequests": 5.25,
        "totalNanoAiu": 350});
    assert_eq!((summed, tokens), (figures, Some(4300)));
    let mut later = events.to_vec();
    later.extend([event("session.resume", json!({})), whole]);
    assert_eq!(own(&later).0["totalPremiumRequests"], json!(7.5));
}

/// What has records is counted by them, whatever the end says; the end of later versions says what
/// all runs took.
#[test]
fn what_has_records_is_not_counted_at_the_end_of_its_run() {
    let uses = |call: &str| {
        let usage =
            json!({"model": "m", "apiCallId": call, "inputTokens": 100, "outputTokens": 30});
        event("session.usage_record", json!({ "usage": usage }))
    };
    let mut whole = end(&[("m", [1100, 130, 0])]);
    whole["data"]["usageAccountingWatermarks"] = json!({"s": 1});
    let events = [
        event("session.start", json!({})),
        end(&[("m", [1000, 100, 0])]),
        event("session.resume", json!({})),
        uses("r1"),
        whole.clone(),
        event("session.resume", json!({})),
        whole,
        event("session.resume", json!({})),
        uses("r2"),
        end(&[("m", [100, 30, 0])]),
    ];
    let (session, entries) = usage_of(&events);
    assert_eq!(rows(&entries).len(), 3);
    assert_eq!(session.tokens, Some(1100 + 130 + 130));
}

/// Versions that name no model in the answer name it in the results of its calls and at the end.
#[test]
fn a_model_that_no_answer_names() {
    let done = |data: Value| event("tool.execution_complete", data);
    let model = |events: &[Value]| usage_of(events).0.model;
    let (main, kid) = (
        done(json!({"model": "main"})),
        done(json!({"model": "kid", "parentToolCallId": "t"})),
    );
    assert_eq!(model(&[main.clone(), kid]).as_deref(), Some("main"));
    let ended = event("session.shutdown", json!({"currentModel": "last"}));
    assert_eq!(model(&[main.clone(), ended]).as_deref(), Some("last"));
    assert_eq!(
        model(&[main, end(&[("m", [1, 1, 0])])]).as_deref(),
        Some("main")
    );
    let many = end(&[("m", [1, 1, 0]), ("n", [1, 1, 0])]);
    assert_eq!(model(&[many]), None);
}

/// Damage: no more models are remembered than a run has, and none is counted twice.
#[test]
fn a_run_of_many_models_counts_the_first_ones() {
    let names: Vec<String> = (0..100).map(|number| format!("m{number}")).collect();
    let models: Vec<_> = names.iter().map(|name| (&**name, [1, 1, 0])).collect();
    let (_, entries) = usage_of(&[end(&models), end(&models)]);
    let counted = rows(&entries);
    assert_eq!(counted.len(), 64);
    assert!(
        counted
            .iter()
            .all(|(_, took)| *took == [Some(1), Some(1), Some(0)])
    );
    let fallen = [("m", [9, 9, 0]), ("m", [1, 1, 0]), ("m", [9, 9, 0])];
    let (_, entries) = usage_of(&fallen.map(|model| end(&[model])));
    assert_eq!(rows(&entries).len(), 1);
}

/// A patch is all that its tool is given, or stands in a command.
#[test]
fn patches_name_their_files() {
    let patch = |file: &str| {
        format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n")
    };
    let heredoc = format!("cd sub && apply_patch <<'E'\n{}E", patch("b.rs"));
    let requests = json!([
        {"toolCallId": "1", "name": "apply_patch", "arguments": patch("a.rs")},
        {"toolCallId": "2", "name": "bash", "arguments": {"command": heredoc}},
        {"toolCallId": "3", "name": "bash", "arguments": {"command": "ls"}},
        {"toolCallId": "4", "name": "echo", "arguments": "text"},
    ]);
    let record = event("assistant.message", json!({ "toolRequests": requests })).to_string();
    let facts = Copilot.facts(record.as_bytes());
    let files = facts.files.iter().map(|file| (&*file.path, file.modified));
    let files: Vec<_> = files.collect();
    assert_eq!(files, [("a.rs", true), ("sub/b.rs", true)]);
    let subjects: Vec<_> = facts
        .calls
        .iter()
        .map(|call| call.subject.as_deref())
        .collect();
    assert_eq!(subjects, [Some("a.rs"), Some("sub/b.rs"), Some("ls"), None]);
}

/// The pieces of an event's passages.
fn pieces(event: &Value) -> Vec<(Class, Vec<String>)> {
    let passages = Copilot.passages(event.to_string().as_bytes());
    let pieces = passages.into_iter().map(|of| (of.class, of.pieces));
    pieces.collect()
}

#[test]
fn attachments_are_found() {
    let attachments = json!([
        {"type": "file", "path": "/code/barn.ts", "displayName": "barn.ts"},
        {"type": "directory", "path": "/code/loft", "displayName": "the loft"},
        {"type": "selection", "filePath": "/code/hay.ts", "displayName": "hay.ts", "text": "bales"},
        {"type": "github_reference", "number": 7, "title": "Mend the gate"},
        {"type": "blob", "mimeType": "image/png", "data": "QUJD", "displayName": "b.png"},
        "none",
    ]);
    let message = json!({"content": "Look.", "attachments": attachments});
    let mut asked = event("user.message", message);
    let output = [
        "/code/barn.ts",
        "/code/loft",
        "the loft",
        "/code/hay.ts",
        "bales",
        "Mend the gate",
        "b.png",
    ];
    let [prose, output] = [&["Look."][..], &output].map(|of| of.iter().map(|of| (*of).to_owned()));
    assert_eq!(
        pieces(&asked),
        [(Prose, prose.collect()), (Output, output.collect())]
    );
    asked["agentId"] = json!("kid");
    assert!(pieces(&asked).is_empty());
}

/// What a later version took over from the layout before `session-state`.
#[test]
fn an_imported_session_has_its_first_prompt() {
    let messages = json!([
        {"role": "system", "content": "You are a fixture."},
        {"role": "user", "content": "Oil the old pump."},
        {"role": "assistant", "content": "It runs."},
        {"role": "tool", "content": "squeak"},
    ]);
    let legacy = json!({"legacySession": {"chatMessages": messages}, "sourceFile": "a.json"});
    let imported = event("session.import_legacy", legacy);
    assert_eq!(
        pieces(&imported),
        [
            (
                Prose,
                vec!["Oil the old pump.".to_owned(), "It runs.".to_owned()]
            ),
            (Output, vec!["squeak".to_owned()]),
        ]
    );
    assert_eq!(read("imported").found("Oil the old pump."), 1);
    let (session, entries) = related(&[imported], true);
    assert_eq!(session.typed.as_deref(), Some("Oil the old pump."));
    assert!(!entries[0].silent && Copilot.knows(&entries[0].kind));
}

/// Chat messages in the form of OpenAI's have lists of parts, or no text.
#[test]
fn an_imported_session_may_begin_with_parts() {
    let prompt = json!([{"type": "image_url"}, {"type": "text", "text": "Oil the pump."}]);
    for first in [
        json!(null),
        json!(""),
        json!([]),
        json!([1]),
        prompt.clone(),
    ] {
        let messages = json!([
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": first},
            {"role": "user", "content": prompt},
        ]);
        let legacy = json!({"legacySession": {"chatMessages": messages}});
        let (session, _) = related(&[event("session.import_legacy", legacy)], true);
        assert_eq!(session.typed.as_deref(), Some("Oil the pump."), "{first}");
    }
}

/// The first run has no record, the second one has one and its end says what both took, the third
/// one has not ended.
#[test]
fn a_record_hides_no_totals_of_before() {
    let read = read("totals-then-records");
    let recorded = read.entries.iter().filter(|facts| facts.usage.is_some());
    assert_eq!(recorded.count(), 2);
    assert_eq!(read.session.tokens, Some(1230 + 130));
}

/// One record that stands there twice counts once; two of one id that say something else count
/// both, as in `usage`.
#[test]
fn a_record_twice_counts_once() {
    let read = read("record-twice");
    assert_eq!(read.session.tokens, Some(130 + 130 + 131));
}

/// So does one that names no call, as the schema of 1.0.102 allows: its event is known.
#[test]
fn a_record_without_a_call_counts_once() {
    let uses = |id: &str| {
        let usage = json!({"model": "m", "inputTokens": 100, "outputTokens": 30});
        let mut record = event("session.usage_record", json!({ "usage": usage }));
        record["id"] = json!(id);
        record
    };
    let (session, _) = usage_of(&[uses("a"), uses("a"), uses("b")]);
    assert_eq!(session.tokens, Some(2 * 130));
}

#[test]
fn flat_file_of_the_older_layout() {
    let read = read("flat-file");
    assert_eq!(read.session.id, SESSION);
    assert_eq!(read.session.hidden, None);
    assert_eq!(read.prose, ["An old question.", "An old answer."]);
}

#[test]
fn compaction_attachments_and_what_is_not_typed() {
    let read = read("compacted-and-more");
    let compaction = read.of_kind("session.compaction_complete")[0]
        .compaction
        .clone();
    assert_eq!(compaction.unwrap().tokens_before, Some(9000));
    assert_eq!(read.found("They kept what counts."), 1);
    assert_eq!(roles(&read, "user.message"), ["user", "user", "injected"]);
    assert!(read.of_kind("user.message")[1].has_image);
    assert_eq!(read.found("iVBORw0KGgo"), 0);
    assert_eq!(read.of_kind("tool.user_requested")[0].calls.len(), 1);
    assert_eq!(read.output, ["a.png", "bash", "make kites"]);
}

#[test]
fn nothing_else_in_the_folders_is_a_session() {
    let sessions = sessions(&Copilot, "noise");
    assert_eq!(sessions.keys().collect::<Vec<_>>(), [SESSION]);
}

/// Every type of event that the JSON Schema of version 1.0.102 has, with whether it is written to
/// the file. `tests/agents/copilot_events.py` writes the list.
#[test]
fn every_event_of_the_schema_is_an_entry_of_its_type() {
    let events = include_str!("../../../../fixtures/copilot-events.txt");
    let mut written = 0;
    for line in events.lines() {
        let (kind, is_written) = line.split_once(' ').unwrap();
        written += u32::from(is_written == "written");
        let event = serde_json::json!({"type": kind, "id": "a", "parentId": null,
            "timestamp": "2026-01-05T09:00:00.000Z",
            "data": {"content": "the content", "summary": "the summary", "message": "the message"}});
        let event = event.to_string();
        let facts = Copilot.facts(event.as_bytes());
        assert_eq!(facts.kind, kind);
        assert_eq!(facts.time_ms, Some(1_767_603_600_000), "{kind}");
        let found = Copilot.passages(event.as_bytes());
        let found: Vec<_> = found
            .into_iter()
            .flat_map(|passage| passage.pieces)
            .collect();
        let expected: &[&str] = match kind {
            "user.message" | "assistant.message" | "system.notification" => &["the content"],
            "session.error" | "session.info" | "session.warning" => &["the message"],
            _ => &[],
        };
        assert_eq!(found, expected, "{kind}");
    }
    assert_eq!((events.lines().count(), written), (163, 78));
}

/// Damage costs the record in which it is, and nothing panics.
#[test]
fn damaged_records_are_read_as_far_as_they_go() {
    let whole = br#"{"type":"assistant.message","id":"a","data":{"content":"x","toolRequests":[{"name":"bash","arguments":{"command":"ls"}}]}}"#;
    for at in 0..whole.len() {
        for byte in [b'"', b'{', b'}', b'0', b'\\', 0xff, 0] {
            let mut record = whole.to_vec();
            record[at] = byte;
            Copilot.facts(&record);
            Copilot.passages(&record);
        }
    }
    let deep = format!(
        r#"{{"type":"session.shutdown","data":{{"totalNanoAiu":{}1{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(Copilot.facts(deep.as_bytes()).header.is_some());
}
