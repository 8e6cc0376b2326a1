//! Qwen Code: lines that each name the one before, and telemetry that repeats them. The fixtures
//! are written by fixtures/qwen.py; each test has the name of a case.

use std::fs;
use std::io::Write;

use serde_json::json;
use sessionary::index::ListScope;
use sessionary::model::Class::{Output, Prose};

use crate::store::{Store, branches, classes_of, hits, only, rows, sql, transcript};

const LOG: &str =
    "projects/-home-ada-code-harbour/chats/5ea50000-0000-4000-8000-000000000001.jsonl";

#[test]
fn answer_is_found_once() {
    let store = Store::of("qwen", "telemetry");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.title, "Where does the ferry moor?");
    assert_eq!(
        (row.cwd.as_str(), row.git_branch.as_deref()),
        ("/home/ada/code/harbour", Some("main"))
    );
    // A prompt and two answers; what both cost stands in the telemetry.
    assert_eq!((row.message_count, row.tokens), (3, Some(260)));
    assert_eq!(classes_of(&index, "crane"), [Prose]);
    assert_eq!(classes_of(&index, "lighthouse"), [Output]);
    assert_eq!(classes_of(&index, "piers"), [Output]);
    assert!(classes_of(&index, "snapshotword").is_empty());
    let (active, beside) = branches(&index, &row);
    assert_eq!((active.len(), beside.len()), (4, 0));
    let roles: Vec<_> = transcript(&index, &row, false)
        .into_iter()
        .filter_map(|entry| entry.2)
        .collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "assistant"]);
    let usage = "SELECT response_id, input, output, cache_read, reasoning, total FROM usage ORDER BY response_id";
    let spent = |id: &str| {
        vec![
            json!(id),
            json!(80),
            json!(30),
            json!(20),
            json!(5),
            json!(130),
        ]
    };
    assert_eq!(sql(&index, usage), [spent("r1"), spent("r2")]);
    let calls = "SELECT tool, subject, is_error, duration_ms FROM calls";
    assert_eq!(
        sql(&index, calls),
        [[
            json!("run_shell_command"),
            json!("ls piers"),
            json!(0),
            json!(78)
        ]]
    );
}

#[test]
fn fork_counts_once_and_names_its_origin() {
    let store = Store::of("qwen", "fork");
    let index = store.index();
    let [origin, fork] = &rows(&index)[..] else {
        panic!("two sessions");
    };
    let (origin, fork) = match fork.id.ends_with('2') {
        true => (origin, fork),
        false => (fork, origin),
    };
    let edge = "SELECT parent_session FROM sessions WHERE parent_session IS NOT NULL";
    assert_eq!(sql(&index, edge), [[json!(origin.id)]]);
    assert_eq!((origin.tokens, fork.tokens), (Some(260), Some(390)));
    // A fork begins behind what it copied, so that counts for its origin.
    assert!(origin.created_ms < fork.created_ms);
    assert_eq!(
        sql(&index, "SELECT count(*), sum(total) FROM usage"),
        [[json!(3), json!(390)]]
    );
    assert_eq!(sql(&index, "SELECT sum(calls) FROM tools"), [[json!(1)]]);
}

/// Nothing was said in it yet.
#[test]
fn what_a_new_fork_copied_counts_for_its_origin() {
    let store = Store::of("qwen", "fork");
    let log = store.path(&LOG.replace("1.jsonl", "2.jsonl"));
    let lines = fs::read_to_string(&log).unwrap();
    let copied = lines.lines().filter(|line| line.contains("forkedFrom"));
    let copied: String = copied.map(|line| format!("{line}\n")).collect();
    // Of two that begin at one time it would be the first by its path.
    fs::remove_file(&log).unwrap();
    fs::write(store.path(&LOG.replace("1.jsonl", "0.jsonl")), copied).unwrap();
    let index = store.index();
    let counted = "SELECT DISTINCT s.id FROM usage u JOIN sessions s USING (session)";
    let origin = "5ea50000-0000-4000-8000-000000000001";
    assert_eq!(sql(&index, counted), [[json!(origin)]]);
}

/// Qwen Code lists it; it is a count on the session that started it.
#[test]
fn a_session_that_another_one_started_is_its_subagent() {
    let store = Store::of("qwen", "telemetry");
    let origin = only(&store.index());
    let base = |second: u32| {
        json!({"uuid": format!("w{second}"), "parentUuid": null, "sessionId": "5ea50000-0000-4000-8000-000000000009",
            "timestamp": format!("2026-01-05T09:30:{second:02}.000Z"), "cwd": origin.cwd})
    };
    let (mut note, mut asked) = (base(1), base(2));
    note["type"] = "system".into();
    note["subtype"] = "parent_session".into();
    note["systemPayload"] = json!({"parentSessionId": origin.id});
    asked["type"] = "user".into();
    asked["provenance"] = "real_user".into();
    asked["message"] = json!({"role": "user", "parts": [{"text": "Count the buoys"}]});
    let log = store.path(&LOG.replace("1.jsonl", "9.jsonl"));
    fs::write(log, format!("{note}\n{asked}\n")).unwrap();
    let index = store.index();
    let relation =
        "SELECT relation, (SELECT id FROM sessions s WHERE s.session = f.parent) FROM forks f";
    assert_eq!(
        sql(&index, relation),
        [[json!("subagent"), json!(origin.id)]]
    );
    let folded = ListScope {
        fold_subagents: true,
        ..ListScope::default()
    };
    let listed = index.list(&folded).unwrap().sessions;
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].id, listed[0].subagents), (&origin.id, 1));
    assert!(rows(&index).iter().all(|row| row.listed_by_agent));
    store.check("started");
}

#[test]
fn background_subagent_has_a_session_of_its_own() {
    let store = Store::of("qwen", "background-agent");
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.subagents, row.tokens), (1, Some(5 * 130)));
    let all = rows(&index);
    let child = all.iter().find(|row| !row.listed_by_agent).unwrap();
    assert_eq!(child.id, "general-purpose-call_9");
    assert_eq!(child.title, "Inspect");
    assert_eq!(child.reason.as_deref(), Some("a subagent's session"));
    assert_eq!(
        (child.model.as_deref(), child.tokens),
        (Some("coder-plus"), None)
    );
    let own = child.own.as_ref().unwrap();
    assert_eq!(own["agentType"], "general-purpose");
    assert_eq!(own["toolUseId"], "call_9");
    let edge = "SELECT parent_session FROM sessions WHERE is_subagent";
    assert_eq!(sql(&index, edge), [[json!(row.id)]]);
    // Neither the notification nor the model's prompt was typed.
    assert_eq!(hits(&index, "buoys role:user"), 1);
    assert_eq!(hits(&index, "notification role:injected"), 1);
    assert_eq!(
        sql(&index, "SELECT sum(total) FROM usage"),
        [[json!(5 * 130)]]
    );
    assert_eq!(hits(&index, "forgetful"), 0);
}

/// Its files lie in another folder than those of the session that started it.
#[test]
fn background_subagent_comes_back_with_its_session() {
    let store = Store::of("qwen", "background-agent");
    store.keep();
    let index = || store.index();
    let row = only(&index());
    let child = rows(&index()).into_iter().find(|row| !row.listed_by_agent);
    let child = child.unwrap().path;
    let texts = [&row.path, &child].map(|path| fs::read(path).unwrap());
    for gone in [&[&row.path, &child][..], &[&child]] {
        for file in gone {
            fs::remove_file(file).unwrap();
        }
        let restored = index().restore(&row).unwrap().files;
        assert_eq!(restored.iter().collect::<Vec<_>>(), gone);
        let again = [&row.path, &child].map(|path| fs::read(path).unwrap());
        assert_eq!(again, texts);
    }
}

#[test]
fn error_turn_without_an_answer() {
    let store = Store::of("qwen", "failed-answer");
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.message_count, row.errors), (1, 1));
    assert_eq!(classes_of(&index, "drawbridge"), [Prose]);
    assert_eq!(classes_of(&index, "winch"), [Output]);
    assert_eq!(branches(&index, &row).0.len(), 2);
}

#[test]
fn tool_error_is_an_error() {
    let store = Store::of("qwen", "tool-error");
    let index = store.index();
    assert_eq!(only(&index).errors, 1);
    assert_eq!(sql(&index, "SELECT is_error FROM calls"), [[json!(1)]]);
    assert_eq!(classes_of(&index, "directory"), [Output]);
}

#[test]
fn resume_goes_on_in_one_file() {
    let store = Store::of("qwen", "telemetry");
    drop(store.index());
    let resumed = fs::read(Store::of("qwen", "resumed").path(LOG)).unwrap();
    let before = fs::read(store.path(LOG)).unwrap();
    assert!(resumed.starts_with(&before));
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(store.path(LOG))
        .unwrap();
    log.write_all(&resumed[before.len()..]).unwrap();
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.message_count, row.tokens), (5, Some(390)));
    assert_eq!(branches(&index, &row).0.len(), 6);
    store.check("resumed");
}

#[test]
fn thought_part_is_prose() {
    let store = Store::of("qwen", "thought");
    assert_eq!(classes_of(&store.index(), "tide"), [Prose]);
}

#[test]
fn no_provenance() {
    let store = Store::of("qwen", "no-provenance");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.title, "Which rope holds?");
    // Without telemetry the answers say what they cost.
    assert_eq!(row.tokens, Some(260));
    assert_eq!(hits(&index, "rope role:user"), 1);
    assert_eq!(
        sql(&index, "SELECT path FROM files"),
        [[json!("/w/ropes.md")]]
    );
    // What a tool gave back may stand as the user's.
    let answer = json!({"type": "user", "uuid": "r9", "parentUuid": null, "sessionId": row.id, "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/w",
        "message": {"role": "user", "parts": [{"functionResponse": {"id": "c9", "name": "ls", "response": {"output": "puffin"}}}]}});
    let log = store.path(LOG);
    let lines = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{lines}{answer}\n")).unwrap();
    let index = store.index();
    assert_eq!(classes_of(&index, "puffin"), [Output]);
    assert_eq!(hits(&index, "puffin role:user"), 0);
    assert_eq!(only(&index).message_count, row.message_count);
    // Where it is said whose it is, that counts, whatever stands beside what was typed.
    let mut typed = answer;
    typed["provenance"] = "real_user".into();
    typed["uuid"] = "r10".into();
    typed["message"]["parts"] = json!([{"text": "gannet"}, {"functionResponse": {"id": "c8", "response": {"output": "x"}}}]);
    fs::write(&log, format!("{lines}{typed}\n")).unwrap();
    assert_eq!(hits(&store.index(), "gannet role:user"), 1);
}

#[test]
fn unknown_subtype_is_an_entry_and_no_text() {
    let store = Store::of("qwen", "unknown-subtype");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.problems, 0);
    assert!(classes_of(&index, "forecastword").is_empty());
    let kinds =
        "SELECT kind FROM entries WHERE kind IN ('tide_forecast', 'carnival') ORDER BY kind";
    assert_eq!(
        sql(&index, kinds),
        [[json!("carnival")], [json!("tide_forecast")]]
    );
    assert!(classes_of(&index, "ivborw0kggoaaaansuheugaaaaeaaaabcayaaaaffcsj").is_empty());
    assert_eq!(hits(&index, "has:image"), 1);
    assert_eq!(branches(&index, &row).0.len(), 5);
}

#[test]
fn torn_last_line() {
    let store = Store::of("qwen", "torn");
    let index = store.index();
    assert_eq!(only(&index).problems, 1);
    let whole = fs::read(Store::of("qwen", "telemetry").path(LOG)).unwrap();
    fs::write(store.path(LOG), whole).unwrap();
    assert_eq!(only(&store.index()).problems, 0);
    store.check("whole");
}

#[test]
fn two_directories_with_one_folder() {
    let store = Store::of("qwen", "two-directories");
    let index = store.index();
    let mut places: Vec<_> = rows(&index)
        .into_iter()
        .map(|row| (row.cwd, row.title))
        .collect();
    places.sort();
    assert_eq!(
        places[0],
        (
            "/home/ada/code-harbour".into(),
            "In the second harbour".into()
        )
    );
    assert_eq!(
        places[1],
        (
            "/home/ada/code/harbour".into(),
            "In the first harbour".into()
        )
    );
}

#[test]
fn compress_that_changes_nothing_writes_telemetry_alone() {
    let store = Store::of("qwen", "compressed-nothing");
    let index = store.index();
    let row = only(&index);
    assert!(classes_of(&index, "compressionword").is_empty());
    assert_eq!((row.tokens, branches(&index, &row).0.len()), (Some(390), 4));
}

#[test]
fn compression_is_a_compaction() {
    let store = Store::of("qwen", "compressed");
    let index = store.index();
    assert_eq!(classes_of(&index, "moorings"), [Prose]);
    assert_eq!(classes_of(&index, "ferry").len(), 2);
    let before = "SELECT tokens_before FROM compactions";
    assert_eq!(sql(&index, before), [[json!(900)]]);
}

#[test]
fn rewind_leaves_another_branch() {
    let store = Store::of("qwen", "rewound");
    let index = store.index();
    assert_eq!(hits(&index, "sink is:branch"), 1);
    assert_eq!(hits(&index, "save is:branch"), 0);
    assert_eq!(branches(&index, &only(&index)).0.len(), 7);
}

#[test]
fn titles_and_commands() {
    let store = Store::of("qwen", "notes");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.name.as_deref(), Some("The winch"));
    assert_eq!(row.first_message.as_deref(), Some("Explain @winch.md"));
    assert_eq!(classes_of(&index, "anchors"), [Prose, Output]);
    assert_eq!(classes_of(&index, "explain"), [Prose]);
    assert_eq!(classes_of(&index, "brief"), [Prose]);
    let files = "SELECT path, reads FROM files";
    assert_eq!(sql(&index, files), [[json!("/w/winch.md"), json!(1)]]);
}

/// Reading a file in pieces, cut anywhere, gives what reading it in one gives.
#[test]
fn any_cut_reads_as_the_whole() {
    for case in Store::cases("qwen") {
        let store = Store::of("qwen", &case);
        for file in store.files() {
            let whole = fs::read(&file).unwrap();
            for eighth in 0..8 {
                fs::write(&file, &whole[..whole.len() * eighth / 8]).unwrap();
                drop(store.index());
            }
            fs::write(&file, &whole).unwrap();
        }
        store.check(&case);
    }
}
