//! Gemini CLI: what a log of changes says, each thing once and nothing forgotten. The fixtures are
//! written by fixtures/gemini.py; each test has the name of a case.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};
use sessionary::model::Class::{Output, Prose};
use sessionary::model::SessionRow;
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::store::{Store, branches, classes_of, hits, only, rows, sql, transcript};
use crate::watching::watcher::{Watcher, until};

const LOG: &str = "tmp/aviary/chats/session-2026-01-05T09-00-7d1c0a52.jsonl";
const DOCUMENT: &str = "tmp/aviary/chats/session-2026-01-05T09-00-7d1c0a52.json";

fn texts(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

const CONTEXT: &str = "d04923d38bb0f6017037e74183378ef4";

#[test]
fn id_twice_is_one_entry_with_the_calls_of_the_second() {
    let store = Store::of("gemini", "id-twice");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.cwd, "/home/ada/code/aviary");
    assert_eq!(row.title, "How many herons nest here?");
    // One prompt and two answers; the tokens of each answer once.
    assert_eq!((row.message_count, row.tokens), (3, Some(260)));
    let shown = transcript(&index, &row, false);
    let twice: Vec<_> = shown.iter().filter(|entry| entry.0 == "m2").collect();
    assert_eq!(twice.len(), 1, "{shown:?}");
    let (_, kind, role, prose, output) = twice[0];
    assert_eq!(
        (kind.as_str(), role.as_deref()),
        ("gemini", Some("assistant"))
    );
    let said = [
        "Counting",
        "the herons stand in the reeds",
        "I look at the nests.",
    ];
    assert_eq!(*prose, said);
    assert_eq!(
        *output,
        ["run_shell_command", "ls nests", "walrus.txt heron.txt"]
    );
    // The copy of what the tool gave back is not on the branch, and found once.
    assert_eq!(
        branches(&index, &row).0,
        texts(&[CONTEXT, "m1", "m2", "m4"])
    );
    assert_eq!(classes_of(&index, "walrus"), [Output]);
    assert_eq!(classes_of(&index, "reeds"), [Prose]);
    assert_eq!(classes_of(&index, "bittern"), [Prose]);
    assert_eq!(hits(&index, "nests role:assistant"), 2);
    let calls = "SELECT tool, subject, is_error FROM calls";
    assert_eq!(
        sql(&index, calls),
        [[json!("run_shell_command"), json!("ls nests"), json!(0)]]
    );
    let usage = "SELECT input, output, cache_read, total, model FROM usage ORDER BY entry";
    let answer = [
        json!(80),
        json!(30),
        json!(20),
        json!(130),
        json!("gemini-2.5-pro"),
    ];
    assert_eq!(sql(&index, usage), [answer.clone(), answer]);
    // A hit of the first version stands on the branch, as the message does.
    assert_eq!(hits(&index, "reeds is:branch"), 0);
}

/// A message is written again for each call that is added to it, and each of these is counted.
#[test]
fn calls_of_all_versions_of_a_message_count() {
    let store = Store::of("gemini", "id-twice");
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","name":"read_file","args":{{"path":"{id}"}},"status":"success"}}"#)
    };
    let calls = [call("d1"), call("d2"), call("d3")];
    let mut lines = fs::OpenOptions::new()
        .append(true)
        .open(store.path(LOG))
        .unwrap();
    for many in 1..=3 {
        let calls = calls[..many].join(",");
        let line = format!(
            r#"{{"id":"m5","timestamp":"2026-01-05T09:00:07.000Z","type":"gemini","content":"","thoughts":[],"tokens":{{"input":5,"output":5,"total":10}},"model":"gemini-2.5-pro","toolCalls":[{calls}]}}"#
        );
        writeln!(lines, "{line}").unwrap();
    }
    let index = store.index();
    let tools = "SELECT calls FROM tools WHERE tool = 'read_file'";
    assert_eq!(sql(&index, tools), [[json!(3)]]);
    let usage = "SELECT count(*), sum(total) FROM usage";
    assert_eq!(sql(&index, usage), [[json!(3), json!(270)]]);
    store.check("with calls in three versions");
}

/// Some models number the calls of each message from the start: another message's call is another
/// one, whose text is found. What the tool gave back once more, in a message of its own, is not.
#[test]
fn a_calls_id_is_that_of_its_message() {
    let store = Store::of("gemini", "id-twice");
    let mut lines = fs::OpenOptions::new()
        .append(true)
        .open(store.path(LOG))
        .unwrap();
    for (id, file, said) in [("m5", "dabchick", "moorhen"), ("m6", "fulmar", "gannet")] {
        let given = json!({"functionResponse": {"id": "call_0", "name": "read_file", "response": {"output": said}}});
        let call = json!({"id": "call_0", "name": "read_file", "args": {"path": file}, "status": "success", "result": [given]});
        let answer = json!({"id": id, "timestamp": "2026-01-05T09:00:07.000Z", "type": "gemini", "content": "",
            "toolCalls": [call]});
        writeln!(lines, "{answer}").unwrap();
        let copy = json!({"id": format!("{id}c"), "timestamp": "2026-01-05T09:00:08.000Z", "type": "user", "content": [given]});
        writeln!(lines, "{copy}").unwrap();
    }
    let index = store.index();
    for word in ["dabchick", "moorhen", "fulmar", "gannet"] {
        assert_eq!(classes_of(&index, word), [Output], "{word}");
    }
    let tools = "SELECT calls FROM tools WHERE tool = 'read_file'";
    assert_eq!(sql(&index, tools), [[json!(2)]]);
    store.check("with one id in two messages");
}

#[test]
fn resume_keeps_times_tokens_and_models_and_doubles_nothing() {
    let store = Store::of("gemini", "resumed");
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.message_count, row.tokens), (5, Some(390)));
    assert_eq!(row.name.as_deref(), Some("Herons and owls counted"));
    assert_eq!(row.created.as_deref(), Some("2026-01-05T09:00:00.000Z"));
    let all = [CONTEXT, "m1", "m2", "m4", "m5", "m6"];
    assert_eq!(branches(&index, &row), (texts(&all), Vec::new()));
    for word in ["walrus", "reeds", "bittern", "herons", "owls"] {
        let prose = classes_of(&index, word).len();
        let expected = match word {
            // In the prompt, the thought and the answer; in the answer's summary, which is a name.
            "herons" => 4,
            "owls" => 3,
            _ => 1,
        };
        assert_eq!(prose, expected, "{word}");
    }
    assert!(classes_of(&index, "scratchpadword").is_empty());
    let times = "SELECT DISTINCT id, time_ms FROM entries WHERE id = 'm2'";
    assert_eq!(
        sql(&index, times),
        [[json!("m2"), json!(1_767_603_603_000_i64)]]
    );
    assert_eq!(sql(&index, "SELECT count(*) FROM calls"), [[json!(1)]]);
}

#[test]
fn resume_in_another_minute_begins_another_file_of_the_session() {
    let store = Store::of("gemini", "resumed-later");
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.message_count, row.tokens), (5, Some(390)));
    assert_eq!(row.created.as_deref(), Some("2026-01-05T09:00:00.000Z"));
    assert!(row.path.ends_with(LOG), "{:?}", row.path);
    let all = [CONTEXT, "m1", "m2", "m4", "m5", "m6"];
    assert_eq!(branches(&index, &row), (texts(&all), Vec::new()));
    assert_eq!(classes_of(&index, "walrus"), [Output]);
    assert_eq!(classes_of(&index, "bittern"), [Prose]);
    // The agent may delete the first file later.
    fs::remove_file(store.path(LOG)).unwrap();
    assert_eq!(only(&store.index()).id, row.id);
    store.check("without the first");
}

#[test]
fn failed_prompt_is_still_found() {
    let store = Store::of("gemini", "failed-prompt");
    let index = store.index();
    let row = only(&index);
    assert_eq!(classes_of(&index, "pelican"), [Prose]);
    let (active, beside) = branches(&index, &row);
    assert_eq!(active, texts(&[CONTEXT, "m1", "m2", "m4"]));
    assert_eq!(beside, texts(&["m5"]));
    assert_eq!(hits(&index, "pelican is:branch"), 1);
}

#[test]
fn rewind_leaves_another_branch() {
    let store = Store::of("gemini", "rewound");
    let index = store.index();
    let row = only(&index);
    let (active, beside) = branches(&index, &row);
    assert_eq!(active, texts(&[CONTEXT, "m1", "m2", "m4", "m7", "m8"]));
    assert_eq!(beside, texts(&["m5", "m6"]));
    assert_eq!(classes_of(&index, "green"), [Prose]);
    // Where nothing follows, it stands where it was rewound to.
    let log = fs::read_to_string(store.path(LOG)).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let rewound = format!("{}\n", lines[..lines.len() - 3].join("\n"));
    assert!(rewound.trim_end().ends_with(r#"{"$rewindTo": "m5"}"#));
    fs::write(store.path(LOG), rewound).unwrap();
    let index = store.index();
    let (active, beside) = branches(&index, &only(&index));
    assert_eq!(active, texts(&[CONTEXT, "m1", "m2", "m4"]));
    assert_eq!(beside, texts(&["m5", "m6"]));
}

#[test]
fn subagent_hangs_on_its_session() {
    let store = Store::of("gemini", "subagent");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.subagents, 1);
    let all = rows(&index);
    let child = all.iter().find(|row| !row.listed_by_agent).unwrap();
    assert_eq!(child.reason.as_deref(), Some("a subagent's session"));
    assert_eq!(child.id, "c0ffee00-0000-4000-8000-000000000009");
    assert_eq!(child.title, "Count all grebes on the pond");
    assert_eq!(child.cwd, "/home/ada/code/aviary");
    let parent = "SELECT parent_session FROM sessions WHERE is_subagent";
    assert_eq!(sql(&index, parent), [[json!(row.id)]]);
    // What its parent model and its program say is none of a person's.
    assert_eq!(hits(&index, "grebes role:user"), 1);
    assert_eq!(hits(&index, "finishing role:injected"), 1);
}

#[test]
fn session_context_has_no_hits_in_prose() {
    let store = Store::of("gemini", "two-sessions");
    let index = store.index();
    assert!(classes_of(&index, "zebraday").is_empty());
    assert_eq!(hits(&index, "zebraday"), 0);
    assert_eq!(hits(&index, "zebraday kind:system"), 1);
}

#[test]
fn session_context_has_one_id_in_two_sessions() {
    let store = Store::of("gemini", "two-sessions");
    let index = store.index();
    let rows = rows(&index);
    let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
    assert_eq!(titles, ["First of two", "Second of two"]);
    for (row, ids) in rows.iter().zip([["m1", "m2"], ["n1", "n2"]]) {
        let (active, _) = branches(&index, row);
        assert_eq!(active, texts(&[CONTEXT, ids[0], ids[1]]));
    }
}

#[test]
fn old_one_document_file_is_rewritten() {
    let store = Store::of("gemini", "document");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.name.as_deref(), Some("Swifts asleep"));
    assert_eq!(
        (row.message_count, row.tokens, row.cwd.as_str()),
        (2, Some(65), "")
    );
    assert_eq!(branches(&index, &row).0, texts(&["o1", "o2", "o3"]));
    assert_eq!(classes_of(&index, "wing"), [Prose]);
    assert_eq!(classes_of(&index, "swiftboat"), [Output]);
    let files = "SELECT path, modifications FROM files";
    assert_eq!(
        sql(&index, files),
        [[json!("/home/ada/code/aviary/swifts.md"), json!(0)]]
    );
    store.check("as it was");
    // Each turn writes all of it anew; half of it may be there, or nothing.
    let document = fs::read(store.path(DOCUMENT)).unwrap();
    let mut longer: Value = serde_json::from_slice(&document).unwrap();
    let more = json!({"id": "o4", "timestamp": "2026-01-05T09:01:00.000Z", "type": "user", "content": "And the kingfisher?"});
    longer["messages"].as_array_mut().unwrap().push(more);
    let longer = longer.to_string().into_bytes();
    for (state, found) in [
        (&longer[..], 1),
        (&longer[..longer.len() / 2], 0),
        (&longer, 1),
        (&[], 0),
        (&document, 0),
    ] {
        fs::write(store.path(DOCUMENT), state).unwrap();
        let index = store.index();
        assert_eq!(hits(&index, "kingfisher"), found);
        let problems = rows(&index).iter().map(|row| row.problems).sum::<u64>();
        let is_cut = state.len() == longer.len() / 2;
        assert_eq!(problems, u64::from(is_cut), "{} bytes", state.len());
        store.check("rewritten");
    }
}

#[test]
fn hostile_documents_cost_one_file() {
    let store = Store::of("gemini", "document");
    let id = r#""sessionId":"s","startTime":"2026-01-05T09:00:00.000Z""#;
    let message = r#"{"id":"a","type":"user","content":"a walrus"}"#;
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for (document, entries, problems) in [
        (format!("{{{id},\"messages\":[{message}]}}"), 3, 0),
        // The last of two counts.
        (
            format!("{{{id},\"messages\":[7,8],\"messages\":[{message}]}}"),
            3,
            0,
        ),
        (format!("{{{id},\"messages\":[]}}"), 1, 0),
        (format!("{{{id}}}"), 1, 0),
        (format!("{{{id},\"messages\":{{}}}}"), 0, 1),
        (
            format!("{{{id},\"messages\":[null,\"x\",{message},{deep}]}}"),
            6,
            0,
        ),
        (format!("{{{id},\"messages\":[{message}]}} {{}}"), 0, 1),
        ("[1,2]".to_owned(), 0, 1),
        ("no json".to_owned(), 0, 1),
        (deep.clone(), 0, 1),
    ] {
        fs::write(store.path(DOCUMENT), &document).unwrap();
        let index = store.index();
        let row = rows(&index).remove(0);
        let beginning = &document[..document.len().min(90)];
        assert_eq!(
            (row.entries, row.problems),
            (entries, problems),
            "{beginning}"
        );
        store.check(beginning);
    }
    // Bytes that are no UTF-8.
    let mut document = format!("{{{id},\"messages\":[{message}]}}").into_bytes();
    let at = document
        .windows(6)
        .position(|six| six == b"walrus")
        .unwrap();
    document[at - 1] = 0xff;
    fs::write(store.path(DOCUMENT), document).unwrap();
    assert_eq!(hits(&store.index(), "walrus"), 1);
    store.check("no UTF-8");
}

#[test]
fn jsonl_and_json_of_one_session_are_one() {
    let store = Store::of("gemini", "migrated");
    let index = store.index();
    let row = only(&index);
    assert_eq!((row.message_count, row.tokens), (4, Some(65 + 130)));
    assert_eq!(row.name.as_deref(), Some("Swifts asleep"));
    assert_eq!(
        branches(&index, &row).0,
        texts(&["o1", "o2", "o3", "o4", "o5"])
    );
    let usage = "SELECT count(*), sum(total) FROM usage";
    assert_eq!(sql(&index, usage), [[json!(2), json!(65 + 130)]]);
    assert!(row.path.ends_with(LOG) || row.path.ends_with(DOCUMENT));
    store.check("both");
}

#[test]
fn two_headers_are_one_session() {
    let store = Store::of("gemini", "two-headers");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.created.as_deref(), Some("2026-01-05T09:00:00.000Z"));
    assert_eq!(row.message_count, 5);
    // What was said before is not forgotten, though the agent remembers the context alone.
    assert_eq!(classes_of(&index, "bittern"), [Prose]);
}

#[test]
fn display_content_is_what_was_typed() {
    let store = Store::of("gemini", "display-content");
    let index = store.index();
    assert_eq!(only(&index).title, "Explain @ducks.md");
    assert_eq!(classes_of(&index, "explain"), [Prose]);
    assert_eq!(classes_of(&index, "mallards"), [Output]);
}

#[test]
fn file_deleted_at_the_next_start_takes_its_session() {
    let store = Store::of("gemini", "two-sessions");
    assert_eq!(rows(&store.index()).len(), 2);
    fs::remove_file(store.path(LOG)).unwrap();
    assert_eq!(only(&store.index()).title, "Second of two");
    store.check("deleted");
}

#[test]
fn file_deleted_at_the_next_start_is_kept_as_gone() {
    let store = Store::of("gemini", "two-sessions");
    store.keep();
    assert_eq!(rows(&store.index()).len(), 2);
    fs::remove_file(store.path(LOG)).unwrap();
    let index = store.index();
    let is_second = |row: &SessionRow| row.title == "Second of two";
    let all = rows(&index);
    assert_eq!(all.len(), 2);
    assert!(
        all.iter().all(|row| row.archived != is_second(row)),
        "{all:?}"
    );
    assert_eq!(index.verify().unwrap().differences, []);
}

#[test]
fn no_project_root_leaves_the_directory_empty() {
    let store = Store::of("gemini", "no-project-root");
    assert_eq!(only(&store.index()).cwd, "");
    // Nothing else changes.
    let file = store.path("tmp/aviary/.project_root");
    for cwd in ["/w", "/v", "/away/from/here"] {
        fs::write(&file, format!("{cwd}\n")).unwrap();
        assert_eq!(only(&store.index()).cwd, cwd);
        store.check(cwd);
    }
    let config = store.config();
    let watcher = Watcher::start(&config);
    for cwd in [Some("/watched"), None] {
        match cwd {
            Some(cwd) => fs::write(&file, cwd).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        until("the directory", || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            only(&index).cwd == cwd.unwrap_or_default()
        });
    }
    watcher.stop();
    store.check("removed");
}

/// The hash by which a version until early 2026 called the folder of `/home/ada/code/aviary`.
const HASH: &str = "42837ebc9088fcde5860e401f26107427852e1cc30cc4a41b9358c8999d30a68";

/// A store whose project's folder has that name, and no `.project_root`.
fn of_hash(case: &str) -> Store {
    let store = Store::of("gemini", case);
    fs::rename(store.path("tmp/aviary"), store.path(&format!("tmp/{HASH}"))).unwrap();
    let _ = fs::remove_file(store.path(&format!("tmp/{HASH}/.project_root")));
    store
}

/// The session of the fixture read a file in it.
#[test]
fn a_folder_called_by_a_hash_is_of_the_directory_that_its_session_names() {
    let store = of_hash("document");
    assert_eq!(only(&store.index()).cwd, "/home/ada/code/aviary");
    store.check("proven");
    let file = store.path(&format!("tmp/{HASH}/.project_root"));
    for cwd in ["/home/ada/code/aviary", "/w"] {
        fs::write(&file, cwd).unwrap();
        assert_eq!(only(&store.index()).cwd, cwd);
        store.check(cwd);
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(only(&store.index()).cwd, "/home/ada/code/aviary");
    store.check("proven again");
    // In a session that names no path nothing is guessed.
    assert_eq!(only(&of_hash("no-project-root").index()).cwd, "");
}

/// Beside the folder of all projects.
#[test]
fn a_folder_called_by_a_hash_is_of_the_directory_that_the_agent_lists() {
    let store = of_hash("no-project-root");
    // What is called otherwise is in no list.
    let other = store.path("tmp/aviary/chats");
    fs::create_dir_all(&other).unwrap();
    let log = fs::read_dir(store.path(&format!("tmp/{HASH}/chats"))).unwrap();
    let log = log.map(|file| file.unwrap().path()).next().unwrap();
    fs::copy(log, other.join("session-2026-01-05T09-02-7d1c0a52.jsonl")).unwrap();
    let aviary = "/home/ada/code/aviary";
    let cwds = |when: &str| {
        store.check(when);
        let rows = rows(&store.index()).into_iter();
        let mut cwds: Vec<_> = rows.map(|row| row.cwd).collect();
        cwds.sort();
        cwds
    };
    let (none, one) = (["", ""], ["", aviary]);
    assert_eq!(cwds("no list"), none);
    let (projects, trusted) = (
        store.path("projects.json"),
        store.path("trustedFolders.json"),
    );
    let opened = |path: &str| json!({"projects": {"/w": "w", path: "aviary"}}).to_string();
    for (list, said) in [
        (opened("/home/ada/code/aviary/nests"), none),
        (opened(aviary), one),
        (opened(aviary)[1..].to_owned(), none),
        (opened(aviary), one),
    ] {
        fs::write(&projects, &list).unwrap();
        assert_eq!(cwds(&list), said, "{list}");
    }
    fs::remove_file(&projects).unwrap();
    assert_eq!(cwds("no list any more"), none);
    fs::write(&trusted, json!({aviary: "TRUST_FOLDER"}).to_string()).unwrap();
    assert_eq!(cwds("trusted"), one);
    // What stands beside the sessions comes first.
    let file = store.path(&format!("tmp/{HASH}/.project_root"));
    fs::write(&file, "/w").unwrap();
    assert_eq!(cwds("beside"), ["", "/w"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(cwds("trusted again"), one);
    let exclude = Exclude::new(&[aviary]).unwrap();
    let excluded = Config {
        rules: Rules::set(exclude, FollowLinks::WithinRoots),
        ..store.config()
    };
    for (list, left) in [(aviary, 1), ("/w", 2), (aviary, 1)] {
        fs::write(&trusted, json!({list: "TRUST_FOLDER"}).to_string()).unwrap();
        Indexer::open(&excluded).unwrap().sync().unwrap();
        let index = Index::open(&excluded, Freshness::AsCommitted).unwrap();
        assert_eq!(rows(&index).len(), left, "{list}");
        assert_eq!(index.verify().unwrap().differences, []);
    }
}

/// Nothing of it is stored while nobody can tell what the list says.
#[test]
fn what_a_list_excludes_stays_out_where_the_list_is_not_whole() {
    let store = of_hash("no-project-root");
    let list = store.path("projects.json");
    let aviary = "/home/ada/code/aviary";
    let config = |folder: &str| Config {
        rules: Rules::set(Exclude::new(&[folder]).unwrap(), FollowLinks::WithinRoots),
        ..store.config()
    };
    let listed = |config: &Config| {
        let report = Indexer::open(config).unwrap().sync().unwrap();
        let index = Index::open(config, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        (rows(&index).len(), report.files_unreadable)
    };
    let whole = json!({"projects": {aviary: "aviary", "/w": "w"}}).to_string();
    let longer = json!({"projects": {aviary: "aviary", "/w": "w".repeat(4 << 20)}}).to_string();
    let (out, unread, read) = ((0, 0), (0, 1), (1, 0));
    for (text, expected) in [
        // At first in a new index.
        (&whole[..whole.len() - 3], unread),
        (&*whole, out),
        (&whole[..whole.len() - 3], unread),
        ("", unread),
        (&*format!("\u{feff}{whole}"), unread),
        (&*longer, unread),
        (&*whole, out),
        // A whole list that does not name it says so.
        ("{}", read),
        (&*whole, out),
    ] {
        fs::write(&list, text).unwrap();
        for _ in 0..2 {
            let beginning = &text[..text.len().min(80)];
            assert_eq!(listed(&config(aviary)), expected, "{beginning}");
        }
    }
    // What proves its directory needs no list, and without a rule none is missed.
    fs::write(&list, "{").unwrap();
    let without = Config {
        rules: Rules::set(Exclude::default(), FollowLinks::WithinRoots),
        ..store.config()
    };
    assert_eq!(listed(&without), read);
    let store = of_hash("document");
    fs::write(store.path("projects.json"), "{").unwrap();
    for (folder, expected) in [(aviary, out), ("/w", read)] {
        let rules = Rules::set(Exclude::new(&[folder]).unwrap(), FollowLinks::WithinRoots);
        let config = Config {
            rules,
            ..store.config()
        };
        assert_eq!(listed(&config), expected, "{folder}");
    }
}

/// Also of a log, whose proof stands far behind its beginning.
#[test]
fn a_proven_directory_decides_what_is_excluded() {
    let store = of_hash("document");
    store.keep();
    let log = store.path(&format!(
        "tmp/{HASH}/chats/session-2026-01-05T09-01-7d1c0a53.jsonl"
    ));
    let mut lines = fs::read_to_string(Store::of("gemini", "id-twice").path(LOG)).unwrap();
    for number in 0..400 {
        let note =
            json!({"id": format!("n{number}"), "type": "info", "content": "reeds ".repeat(50)});
        lines += &format!("{note}\n");
    }
    let last =
        json!({"id": "m9", "type": "user", "content": "Look at /home/ada/code/aviary/nests"});
    fs::write(&log, format!("{lines}{last}\n")).unwrap();
    let config = |folders: &[&str]| Config {
        rules: Rules::set(Exclude::new(folders).unwrap(), FollowLinks::WithinRoots),
        ..store.config()
    };
    let listed = |config: &Config| {
        let report = Indexer::open(config).unwrap().sync().unwrap();
        let index = Index::open(config, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        (rows(&index).len(), report.bytes_read)
    };
    let excluded = config(&["/home/ada/code"]);
    for _ in 0..2 {
        // Nothing of it is stored, even for a moment.
        assert_eq!(listed(&excluded), (0, 0));
    }
    assert_eq!(listed(&config(&["/elsewhere"])).0, 2);
    assert_eq!(listed(&excluded).0, 0);
}

/// Neither is it stored for a moment, nor is `.project_root` that comes or goes overlooked.
#[test]
fn a_session_that_is_excluded_by_its_proof_is_remembered() {
    let store = of_hash("document");
    let chats = store.path(&format!("tmp/{HASH}/chats"));
    fs::remove_dir_all(&chats).unwrap();
    fs::create_dir_all(&chats).unwrap();
    let log = chats.join("session-2026-01-05T09-01-7d1c0a53.jsonl");
    let header = fs::read_to_string(Store::of("gemini", "id-twice").path(LOG)).unwrap();
    let header = header.lines().next().unwrap();
    let says = |id: &str, text: &str| json!({"id": id, "type": "user", "content": text});
    let proof = says("m2", "Look at /home/ada/code/aviary/nests");
    let set = json!({"$set": {"messages": [says("m1", "Feed the heron"), proof]}});
    let rules = |folder: &str| Config {
        rules: Rules::set(Exclude::new(&[folder]).unwrap(), FollowLinks::WithinRoots),
        ..store.config()
    };
    let excluded = rules("/home/ada/code");
    let synced = || {
        let report = Indexer::open(&excluded).unwrap().sync().unwrap();
        let index = Index::open(&excluded, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        (rows(&index).len(), report.bytes_read)
    };
    // Nothing of it is stored, also where a line sets the message that proves it.
    for lines in [format!("{header}\n{proof}\n"), format!("{header}\n{set}\n")] {
        fs::write(&log, lines).unwrap();
        for _ in 0..3 {
            assert_eq!(synced(), (0, 0));
        }
    }
    // Nothing of it is excluded where `.project_root` says another directory, and it is again when
    // that is gone.
    let file = store.path(&format!("tmp/{HASH}/.project_root"));
    fs::write(&file, "/open").unwrap();
    assert_eq!(synced().0, 1);
    fs::remove_file(&file).unwrap();
    assert_eq!(synced().0, 0);
    assert_eq!(synced(), (0, 0));
    // Where only that file said that it is excluded, its absence is noticed.
    fs::write(
        &log,
        format!("{header}\n{}\n", says("m1", "Feed the heron")),
    )
    .unwrap();
    fs::write(&file, "/home/ada/code").unwrap();
    assert_eq!(synced(), (0, 0));
    fs::remove_file(&file).unwrap();
    assert_eq!(synced().0, 1);
}

/// It is read once, and stays left out.
#[test]
fn a_proof_far_behind_the_beginning_is_looked_for_once() {
    let store = of_hash("document");
    let log = "chats/session-2026-01-05T09-01-7d1c0a53.jsonl";
    let log = store.path(&format!("tmp/{HASH}/{log}"));
    let header = fs::read_to_string(Store::of("gemini", "id-twice").path(LOG)).unwrap();
    let header = header.lines().next().unwrap();
    let image = json!({"mimeType": "image/png", "data": "A".repeat(17 << 20)});
    let image = json!({"id": "m1", "type": "user", "content": [{"inlineData": image}]});
    let proof = json!({"id": "m2", "type": "user", "content": "Look at /home/ada/code/aviary/a"});
    fs::write(&log, format!("{header}\n{image}\n{proof}\n")).unwrap();
    let excluded = Config {
        rules: Rules::set(
            Exclude::new(&["/home/ada/code"]).unwrap(),
            FollowLinks::WithinRoots,
        ),
        ..store.config()
    };
    let synced = || {
        let report = Indexer::open(&excluded).unwrap().sync().unwrap();
        let index = Index::open(&excluded, Freshness::AsCommitted).unwrap();
        (rows(&index).len(), report.bytes_read)
    };
    let (listed, read) = synced();
    assert_eq!(listed, 0);
    assert!(read > 17 << 20);
    // One that changed a moment ago may change unnoticed, and is read again.
    until("it is remembered", || synced() == (0, 0));
}

/// Whichever is there first, and whichever changes.
#[test]
fn project_root_decides_what_is_excluded() {
    let store = Store::of("gemini", "no-project-root");
    store.keep();
    let rules = Rules::set(
        Exclude::new(&["/secret"]).unwrap(),
        FollowLinks::WithinRoots,
    );
    let config = Config {
        rules,
        ..store.config()
    };
    let listed = || {
        Indexer::open(&config).unwrap().sync().unwrap();
        rows(&Index::open(&config, Freshness::AsCommitted).unwrap()).len()
    };
    let all = listed();
    assert!(all > 0);
    let file = store.path("tmp/aviary/.project_root");
    for (cwd, expected) in [("/secret", 0), ("/open", all), ("/secret", 0)] {
        fs::write(&file, cwd).unwrap();
        assert_eq!(listed(), expected, "{cwd}");
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
    }
    // Nor is anything of it kept.
    fs::remove_dir_all(store.path("tmp")).unwrap();
    assert_eq!(listed(), 0);
}

#[test]
fn torn_last_line_is_read_when_it_is_whole() {
    let store = Store::of("gemini", "torn");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.problems, 1);
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(store.path(LOG))
        .unwrap();
    let whole = fs::read(Store::of("gemini", "id-twice").path(LOG)).unwrap();
    let torn = fs::read(store.path(LOG)).unwrap();
    log.write_all(&whole[torn.len()..]).unwrap();
    assert_eq!(only(&store.index()).problems, 0);
    store.check("whole");
}

/// What stands in `$set` alone is an entry of its own; what it repeats is not said again.
#[test]
fn messages_that_only_a_set_says_are_entries() {
    let store = Store::of("gemini", "set-anew");
    let index = store.index();
    let row = only(&index);
    assert_eq!(classes_of(&index, "flamingo"), [Prose]);
    assert_eq!(classes_of(&index, "bittern"), [Prose]);
    let shown = transcript(&index, &row, true);
    let k2 = shown.iter().find(|entry| entry.0 == "k2").unwrap();
    assert_eq!(
        (k2.2.as_deref(), &k2.3),
        (Some("assistant"), &vec!["Got it.".to_owned()])
    );
    let (active, _) = branches(&index, &row);
    assert_eq!(active[active.len() - 3..], texts(&["m4", "m5", "m6"]));
    // The summary that a compression leaves is nobody's message.
    assert_eq!(row.message_count, 6);
    assert_eq!(hits(&index, "flamingo role:injected"), 1);
    assert_eq!(
        sql(&index, "SELECT count(*) FROM compactions"),
        [[json!(1)]]
    );
}

#[test]
fn images_and_what_is_not_known_are_no_text() {
    let store = Store::of("gemini", "odd");
    let index = store.index();
    let row = only(&index);
    assert_eq!(row.problems, 0);
    for (word, classes) in [
        ("bird", &[Prose][..]),
        ("parrot", &[Output]),
        ("seeds", &[Output]),
        ("tooting", &[Output]),
        ("stork", &[Prose, Output]),
        ("denied", &[Output]),
        ("secretpatchword", &[]),
        ("ivborw0kggoaaaansuheugaaaaeaaaabcayaaaaffcsj", &[]),
    ] {
        assert_eq!(classes_of(&index, word), classes, "{word}");
    }
    assert_eq!(hits(&index, "has:image"), 1);
    let kinds = sql(&index, "SELECT kind FROM entries ORDER BY start");
    let kinds: Vec<&str> = kinds.iter().filter_map(|row| row[0].as_str()).collect();
    let expected = [
        "session", "user", "info", "warning", "fanfare", "$patch", "", "", "", "gemini",
    ];
    assert_eq!(kinds, expected);
    let calls = "SELECT tool, subject, is_error FROM calls";
    assert_eq!(
        sql(&index, calls),
        [[json!("replace"), json!("/w/birds.md"), json!(1)]]
    );
    assert_eq!(
        sql(&index, "SELECT path FROM files"),
        [[json!("/w/birds.md")]]
    );
}

/// Reading a file in pieces, cut anywhere, gives what reading it in one gives.
#[test]
fn any_cut_reads_as_the_whole() {
    for case in Store::cases("gemini") {
        let store = Store::of("gemini", &case);
        for file in store.files() {
            let whole = fs::read(&file).unwrap();
            let is_log = file
                .extension()
                .is_some_and(|extension| extension == "jsonl");
            for tenth in 0..if is_log { 8 } else { 0 } {
                fs::write(&file, &whole[..whole.len() * tenth / 8]).unwrap();
                drop(store.index());
            }
            fs::write(&file, &whole).unwrap();
        }
        store.check(&case);
    }
}
