//! Do the views for reports tell the truth, and do the documented queries give what the document
//! shows?

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::real_agents;
use crate::sandbox::Sandbox;

const GUIDE: &str = include_str!("../docs/sql.md");

/// A home with the sessions of `fixtures/report`.
pub fn home() -> Sandbox {
    let home = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/report");
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.expect("a fixture");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&from).expect("below it");
            let text = fs::read_to_string(entry.path()).expect("text");
            home.write(&below.display().to_string(), &text);
        }
    }
    home
}

/// The catalogue of that home.
pub fn catalogue(home: &Sandbox) -> std::path::PathBuf {
    home.home.join(".cache/sessionary/v5/catalogue.sqlite")
}

/// `$ [TZ=…] sessionary sql "…"` and its output, each from a block of its own.
fn queries() -> Vec<(String, String)> {
    let blocks = GUIDE.split("```console\n$ ").skip(1);
    blocks
        .map(|block| {
            let block = block.split("```").next().expect("an end");
            let (command, output) = block.split_once('\n').expect("a line");
            (command.to_owned(), output.trim_end().to_owned())
        })
        .collect()
}

#[test]
fn documented_queries_give_what_the_document_shows() {
    let home = home();
    let queries = queries();
    assert!(queries.len() >= 10, "{} queries", queries.len());
    let (mut shown, mut expected) = (String::new(), String::new());
    for (command, output) in &queries {
        let (zone, query) = command
            .split_once("sessionary sql \"")
            .expect("a query of sessionary's");
        let query = query.strip_suffix('"').expect("in quotes");
        let zone = zone.trim().strip_prefix("TZ=").unwrap_or("UTC0");
        let ran = home
            .command(&["--width", "400", "sql", query])
            .env("TZ", zone)
            .output()
            .expect("it runs");
        assert!(ran.status.success(), "{command}: {ran:?}");
        let told = String::from_utf8_lossy(&ran.stdout);
        shown.push_str(&format!("$ {command}\n{}\n\n", told.trim_end()));
        expected.push_str(&format!("$ {command}\n{output}\n\n"));
    }
    assert!(
        shown == expected,
        "the blocks of docs/sql.md should be:\n{shown}"
    );
}

fn numbers(connection: &Connection, query: &str) -> Vec<Option<f64>> {
    let mut statement = connection.prepare(query).expect(query);
    let columns = statement.column_count();
    let mut rows = statement.query([]).expect(query);
    let mut all = Vec::new();
    while let Some(row) = rows.next().expect(query) {
        all.extend((0..columns).map(|at| row.get::<_, Option<f64>>(at).expect(query)));
    }
    all
}

fn one(connection: &Connection, query: &str) -> Option<f64> {
    let all = numbers(connection, query);
    assert_eq!(all.len(), 1, "{query}");
    all[0]
}

fn about(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-9)
}

#[test]
fn usage_is_counted_once_whatever_repeats_it() {
    let home = home();
    let synced = || assert!(home.output(&["sync"]).status.success());
    synced();
    let open = || Connection::open(catalogue(&home)).expect("the catalogue");
    let pi = "SELECT cost_total FROM usage_by_agent WHERE agent = 'pi'";
    let clido = "SELECT cost_total FROM usage_by_agent WHERE agent = 'clido'";
    // By hand, from the files: the parent's five answers and the fork's own.
    let spent = 0.033 + 0.0103 + 0.0525 + 0.003 + 0.0069;
    assert!(about(one(&open(), pi), spent));
    assert!(about(one(&open(), clido), 0.25 + 0.125 + 0.125 + 0.0625));
    // Where nothing is repeated, usage says what the list says; of steps as of totals.
    assert_eq!(
        numbers(
            &open(),
            "SELECT s.session FROM sessions s WHERE s.agent IN ('agentuse', 'indusagi') AND NOT
               (abs(s.cost - (SELECT sum(cost_total) FROM usage u WHERE u.session = s.session)) < 1e-9 AND
                s.tokens = (SELECT sum(input + output + cache_read + cache_write) FROM usage u WHERE u.session = s.session))"
        ),
        []
    );
    assert!(about(
        one(
            &open(),
            "SELECT sum(cost) FROM sessions WHERE agent = 'agentuse'"
        ),
        0.625
    ));
    // What was not recorded is not zero.
    assert_eq!(
        one(
            &open(),
            "SELECT max(cost_input) FROM usage WHERE agent = 'clido'"
        ),
        None
    );
    assert_eq!(
        one(
            &open(),
            "SELECT sum(cost_total) FROM usage WHERE agent = 'indusagi'"
        ),
        Some(0.0)
    );
    assert_eq!(
        one(
            &open(),
            "SELECT count(*) FROM usage WHERE agent = 'pi' AND cost_total IS NULL"
        ),
        Some(1.0)
    );

    // A copy of a file beside it adds nothing, and the copies count when what they copy is gone.
    let folder = home.home.join(".pi/agent/sessions/--home-ada-code-app--");
    let parent = folder.join("2026-01-05T09-00-00-000Z_019b8d5e-7c80-7000-8000-0000000000b1.jsonl");
    fs::copy(&parent, folder.join("copy.jsonl")).expect("a copy");
    synced();
    assert!(about(one(&open(), pi), spent));
    assert_eq!(one(&open(), "SELECT max(records) FROM usage"), Some(3.0));
    fs::remove_file(&parent).expect("gone");
    fs::remove_file(folder.join("copy.jsonl")).expect("gone");
    synced();
    assert!(about(one(&open(), pi), 0.033 + 0.0103 + 0.0069));
    assert_eq!(
        one(&open(), "SELECT count(*) FROM forks WHERE parent IS NULL"),
        Some(1.0)
    );
}

/// In version 1 of pi entries have no ids, and a fork gives them some.
#[test]
fn what_forks_a_session_without_ids_counts_nothing_again() {
    let home = Sandbox::new();
    let id = "019b8d5e-0000-7000-8000-000000000001";
    let mut text = format!(
        r#"{{"type":"session","id":"{id}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code","provider":"p","modelId":"m","thinkingLevel":"off"}}"#
    );
    for second in 1..4 {
        let time = 1_767_603_600_000_u64 + second * 1_000;
        text.push_str(&format!(
            concat!(
                "\n",
                r#"{{"type":"message","timestamp":"2026-01-05T09:00:0{second}.000Z","message":{{"role":"user","content":"Look","timestamp":{time}}}}}"#,
                "\n",
                r#"{{"type":"message","timestamp":"2026-01-05T09:00:0{second}.500Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"t","name":"read","arguments":{{"path":"a.rs"}}}}],"provider":"p","model":"m","usage":{{"input":7,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{{"total":0.25}}}},"stopReason":"toolUse","timestamp":{time}}}}}"#,
                "\n",
                r#"{{"type":"message","timestamp":"2026-01-05T09:00:0{second}.700Z","message":{{"role":"bashExecution","command":"ls","output":"a.rs","exitCode":0,"timestamp":{time}}}}}"#,
            ),
            second = second,
            time = time,
        ));
    }
    text.push('\n');
    home.write(".pi/agent/sessions/--code--/1.jsonl", &text);
    let spent = |records: f64| {
        assert!(home.output(&["sync"]).status.success());
        let catalogue = Connection::open(catalogue(&home)).expect("the catalogue");
        let usage = "SELECT count(*), sum(cost_total), sum(input), max(records) FROM usage";
        assert_eq!(
            numbers(&catalogue, usage),
            [3.0, 0.75, 21.0, records].map(Some)
        );
        assert_eq!(
            numbers(&catalogue, "SELECT calls FROM tools ORDER BY tool"),
            [3.0, 3.0].map(Some)
        );
    };
    spent(1.0);
    let fork = home.json(&["fork", id, "--json"]);
    spent(2.0);
    let fork = fork["session"].as_str().expect("an id");
    let _ = home.json(&["fork", fork, "--json"]);
    spent(3.0);
}

#[test]
fn a_call_has_the_answer_that_follows_it() {
    let home = home();
    let line = |id: &str, parent: &str, second: u32, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-05T11:00:0{second}.000Z","message":{message}}}"#
        )
    };
    // Some providers number the calls of each message from the start.
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"call_0","name":"grep","arguments":{"pattern":"x"}}]}"#;
    let answer = |error: bool| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"call_0","toolName":"grep","content":[],"isError":{error}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"calls","timestamp":"2026-01-05T11:00:00.000Z","cwd":"/x"}"#.to_owned(),
        line("c1", "null", 1, call),
        line("c2", "\"c1\"", 2, &answer(true)),
        line("c3", "\"c2\"", 3, call),
        line("c4", "\"c3\"", 4, &answer(false)),
        line("c5", "\"c4\"", 5, call),
        String::new(),
    ];
    home.write(".pi/agent/sessions/--x--/calls.jsonl", &lines.join("\n"));
    let rows = home.json(&[
        "--json",
        "sql",
        "SELECT c.is_error, a.id, c.answer_ms - c.time_ms FROM calls c LEFT JOIN entries a ON a.entry = c.answer
         JOIN sessions s ON s.session = c.session WHERE s.id = 'calls' ORDER BY c.entry",
    ]);
    assert_eq!(
        rows["rows"],
        serde_json::json!([[1, "c2", 1000], [0, "c4", 1000], [null, null, null]])
    );
}

/// What SQLite's header says of the journal: 1 = none beside the file, 2 = WAL.
fn journal(path: &Path) -> u8 {
    fs::read(path).expect("the file")[18]
}

#[test]
fn a_snapshot_is_one_private_file_that_nothing_overwrites() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let folder = home.home.join("share");
    fs::create_dir(&folder).expect("a folder");
    let file = folder.join("sessions.sqlite");
    let name = file.to_str().expect("text");
    let saved = home.json(&["--json", "sql", "--snapshot", name]);
    assert_eq!(saved["complete"], true);
    assert_eq!(saved["bytes"], fs::metadata(&file).expect("the file").len());
    assert_eq!(
        fs::metadata(&file).expect("it").permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(journal(&file), 1);
    let was = fs::read(&file).expect("the file");
    insta::assert_snapshot!(home.run(&["sql", "--snapshot", name]), @r"
    --- stderr
    error: cannot write $HOME/share/sessions.sqlite: the file already exists; name a new one
    --- exit Some(2)
    ");
    let nowhere = folder.join("none").join("a.sqlite");
    let nowhere = nowhere.to_str().expect("text");
    insta::assert_snapshot!(home.run(&["sql", "--snapshot", nowhere]), @r"
    --- stderr
    error: cannot access $HOME/share/none: No such file or directory (os error 2)
    --- exit Some(2)
    ");
    assert_eq!(fs::read(&file).expect("the file"), was);
    assert_eq!(
        fs::read_dir(&folder).expect("it").count(),
        1,
        "nothing else is left there"
    );

    // All of it is there, where nothing can be written.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("read-only");
    let copy = Connection::open_with_flags(
        format!("file:{name}?mode=ro"),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI,
    )
    .expect("the copy");
    let live = Connection::open(catalogue(&home)).expect("the catalogue");
    for question in [
        "SELECT session, messages, bytes, cost FROM sessions ORDER BY 1",
        "SELECT entry, hash & 1048575, time_ms FROM entries ORDER BY 1",
        "SELECT entry, cost_total FROM usage ORDER BY 1",
    ] {
        assert_eq!(numbers(&copy, question), numbers(&live, question));
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("writable");
}

/// A transaction that somebody forgot: the WAL stops growing, answers say so, and all goes on when
/// it ends.
#[test]
fn a_forgotten_reader_does_not_let_the_wal_grow_without_bound() {
    use sessionary::{Freshness, Index, Indexer};
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = folder.path().join("sessions/--x--");
    fs::create_dir_all(&sessions).expect("its folder");
    let file = sessions.join("s.jsonl");
    let write = |times: u32| {
        // Each time other bytes, so each time all rows are rebuilt.
        let mut text = String::from(
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#,
        );
        for at in 0..2000 {
            text.push_str(&format!(
                "\n{{\"type\":\"message\",\"id\":\"{times:04}{at:04}\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"round {times}\"}}}}"
            ));
        }
        fs::write(&file, text + "\n").expect("a session");
    };
    let root = crate::histories::dump::root("pi", "pi", &folder.path().join("sessions"));
    let mut config = sessionary::Config::new(folder.path().join("index"), vec![root]);
    config.wal_bytes = 1 << 20;
    let sync = |config: &sessionary::Config| Indexer::open(config)?.sync();
    write(0);
    sync(&config).expect("a first sync");
    let path = folder.path().join("index/v5/catalogue.sqlite");
    let wal = || fs::metadata(path.with_extension("sqlite-wal")).map_or(0, |m| m.len());
    let first = |index: &Index| {
        let rows = index
            .sql("SELECT first_message FROM sessions", &[])
            .expect("a row");
        rows.rows[0][0].as_str().expect("text").to_owned()
    };

    let reader = Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("somebody else");
    reader.execute_batch("BEGIN").expect("a transaction");
    assert_eq!(one(&reader, "SELECT count(*) FROM entries"), Some(2001.0));
    let mut blocked = None;
    let mut written = 0;
    for times in 1..=24 {
        write(times);
        match sync(&config) {
            Ok(_) if blocked.is_none() => written = times,
            Ok(_) => panic!("written while blocked: {blocked:?}"),
            Err(error) => blocked = Some(error),
        }
        // The limit and what one transaction adds.
        let limit = config
            .wal_bytes
            .max(2 * fs::metadata(&path).expect("it").len());
        assert!(wal() <= limit + (2 << 20), "{} bytes after {times}", wal());
    }
    assert!(written > 1, "it is written for a while");
    let told = blocked.expect("it stops").to_string();
    if cfg!(target_os = "linux") {
        let process = format!("process {} (", std::process::id());
        assert!(told.contains(&process), "{told}");
    }
    assert!(told.contains("read transaction"), "{told}");

    // Answers are as of the last sync, and say so; the reader sees what it saw.
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let as_of = first(&index);
    // The sync that was stopped may have come as far as the catalogue.
    assert!(
        [written, written + 1]
            .map(|n| format!("round {n}"))
            .contains(&as_of),
        "{as_of} after {written}"
    );
    let list = index
        .list(&sessionary::index::ListScope::default())
        .expect("a list");
    assert!(!list.complete);
    drop(index);
    assert_eq!(
        one(
            &reader,
            "SELECT count(*) FROM entries WHERE id = '00000001'"
        ),
        Some(1.0)
    );

    drop(reader);
    sync(&config).expect("it goes on");
    assert!(wal() < 2 << 20, "{} bytes in the end", wal());
    let index = Index::open(&config, Freshness::Check).expect("an index");
    assert_eq!(first(&index), "round 24");
    crate::histories::dump::clean(&index, "afterwards");
}

#[test]
fn raw_is_the_record_in_the_file_or_nothing() {
    use sessionary::{Config, Freshness, Index, Indexer};
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = folder.path().join("sessions/--x--");
    fs::create_dir_all(&sessions).expect("its folder");
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/é"}"#;
    let entry = r#"{"type":"session_info","id":"e1","parentId":null,"name":"naïve"}"#;
    let file = sessions.join("s.jsonl");
    fs::write(&file, format!("{header}\n\n {entry} \n")).expect("a session");
    let root = crate::histories::dump::root("pi", "pi", &folder.path().join("sessions"));
    let config = Config::new(folder.path().join("index"), vec![root]);
    Indexer::open(&config)
        .and_then(|mut i| i.sync())
        .expect("a sync");
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    let raw = || {
        let rows = index
            .sql("SELECT raw(entry) FROM entries ORDER BY start", &[])
            .expect("rows");
        serde_json::to_value(rows.rows).expect("values")
    };
    assert_eq!(raw(), serde_json::json!([[header], [entry]]));
    // Changed behind its back, and gone.
    let healing = Index::open(&config, Freshness::Check).expect("an index");
    let changed = entry.replace("naïve", "knave ");
    fs::write(&file, format!("{header}\n\n {changed} \n")).expect("it");
    assert_eq!(raw(), serde_json::json!([[header], [null]]));
    let query = "SELECT raw(entry) FROM entries ORDER BY start";
    let told = index.sql_each(query, &[], None, &mut |_| Ok::<(), sessionary::Error>(()));
    let told = told.expect("rows");
    assert_eq!((told.complete, told.healed), (false, false));
    assert_eq!(told.changed_files, [fs::canonicalize(&file).expect("it")]);
    // Who has looked at the files reads it again, and is answered from what it says now.
    let healed = healing.sql(query, &[]).expect("rows").rows;
    let records: Vec<&serde_json::Value> = healed.iter().flatten().collect();
    assert_eq!(records, [header, changed.as_str()]);
    assert_eq!(raw(), serde_json::json!([[header], [changed]]));
    fs::remove_file(&file).expect("gone");
    assert_eq!(raw(), serde_json::json!([[null], [null]]));
    let rows = index.sql("SELECT raw(NULL), raw(77)", &[]).expect("a row");
    assert!(rows.rows[0].iter().all(serde_json::Value::is_null));
}

/// A fork, its origin, and a copy of the origin, in any order: each answer counts once, where it
/// would count in an index made from scratch.
#[test]
fn an_answer_counts_for_the_session_that_began_first_in_whatever_order_they_come_and_go() {
    use crate::histories::dump::{catalogue, clean, fresh, root, same};
    use sessionary::{Config, Freshness, Index, Indexer};
    let answer = |id: &str, input: u32| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"assistant","content":[],"provider":"p","model":"m","usage":{{"input":{input},"output":2,"totalTokens":1}}}}}}"#
        )
    };
    let session = |id: &str, day: u32, answers: &[String]| {
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-{day:02}T09:00:00.000Z","cwd":"/x"}}"#
        );
        [&[header], answers].concat().join("\n") + "\n"
    };
    // Two answers of one millisecond, told apart by their entries alone.
    let past = [answer("a", 5), answer("b", 5)];
    let files = [
        (
            "fork",
            session("f", 6, &[&past[..], &[answer("c", 7)]].concat()),
        ),
        ("origin", session("o", 5, &past)),
        ("copy", session("o", 5, &past)),
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("sessions/--x--");
        fs::create_dir_all(&folder).expect("its folder");
        let roots = vec![root("pi", "pi", &place.path().join("sessions"))];
        let config = Config::new(place.path().join("index"), roots);
        let path = |at: usize| folder.join(format!("{}.jsonl", files[at].0));
        let steps = order.map(|at| (at, true)).into_iter();
        for (step, (at, comes)) in steps.chain(order.map(|at| (at, false))).enumerate() {
            match comes {
                true => fs::write(path(at), &files[at].1).expect("a session"),
                false => fs::remove_file(path(at)).expect("a session"),
            }
            Indexer::open(&config)
                .and_then(|mut indexer| indexer.sync())
                .expect("a sync");
            let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
            let when = format!("{order:?}, step {step}");
            clean(&index, &when);
            let scratch = fresh(&config, &place.path().join(format!("fresh{step}")));
            same(&catalogue(&index), &catalogue(&scratch), &when);
            let count = |what: &str| {
                let rows = index
                    .sql(&format!("SELECT {what} FROM usage"), &[])
                    .expect("rows");
                rows.rows[0][0].as_u64().unwrap_or(0)
            };
            let there = [0, 1, 2].map(|at| path(at).exists());
            let past = u64::from(there.contains(&true)) * 2;
            assert_eq!(count("count(*)"), past + u64::from(there[0]), "{when}");
            // The parts, not what is written as their total.
            assert_eq!(
                count("sum(total)"),
                past * 7 + u64::from(there[0]) * 9,
                "{when}"
            );
        }
    }
}

#[test]
fn a_tool_is_told_where_the_catalogue_lies() {
    let home = home();
    let said = String::from_utf8(home.output(&["sql", "--path"]).stdout).expect("text");
    let path = Path::new(said.trim_end_matches('\n'));
    assert_eq!(path, catalogue(&home));
    let there = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
    assert!(one(&there.expect("it"), "SELECT count(*) FROM sessions") > Some(0.0));
    assert_eq!(
        home.json(&["sql", "--path", "--json"])["path"],
        said.trim_end()
    );
}

/// What a row of a list is known by, in the list's order and in that of `list_order`.
fn orders(home: &Sandbox) -> [Vec<String>; 2] {
    let listed = home.json(&["--json", "list", "--all"]);
    let listed = listed["sessions"].as_array().expect("sessions");
    let listed = listed
        .iter()
        .map(|s| s["path"].as_str().expect("a path").to_owned());
    let sorted = home.json(&[
        "--json",
        "sql",
        "SELECT path FROM sessions WHERE NOT is_subagent AND listed_by_agent ORDER BY list_order, path",
    ]);
    let sorted = sorted["rows"].as_array().expect("rows").iter();
    let sorted = sorted.map(|row| row[0].as_str().expect("a path").to_owned());
    [listed.collect(), sorted.collect()]
}

/// Equal times, names that differ in case, accents and marks alone, and equal names in several
/// folders.
#[test]
fn sessions_can_be_sorted_as_the_agents_list_them() {
    let home = home();
    let line = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"TIME\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}";
    for folder in ["--w--", "--v--"] {
        for (at, name) in [
            "a", "A", "b", "B", "a-b", "a_b", "a10", "a2", "é", "e", "É", "漢", "ж", "a.b",
        ]
        .iter()
        .enumerate()
        {
            let time = ["2026-01-05T09:00:01.000Z", "2026-01-05T09:00:02.000Z"][at % 2];
            let header = format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{folder}{at}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}"
            );
            let path = home.write(
                &format!(".pi/agent/sessions/{folder}/{name}.jsonl"),
                &format!("{header}\n{}\n", line.replace("TIME", time)),
            );
            home.touch(&path, 1_767_600_000 + (at as u64 % 3));
        }
    }
    let [listed, sorted] = orders(&home);
    assert!(listed.len() > 30, "{}", listed.len());
    assert_eq!(listed, sorted);
    // What agents do not list comes last.
    let hidden = home.json(&[
        "--json",
        "sql",
        "SELECT listed_by_agent FROM sessions ORDER BY list_order, path",
    ]);
    let hidden: Vec<i64> = hidden["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row[0].as_i64())
        .collect();
    assert!(hidden.is_sorted_by(|a, b| a >= b), "{hidden:?}");
}

#[test]
fn entries_have_the_time_by_which_searches_know_them() {
    let home = home();
    let without = home.json(&[
        "--json",
        "sql",
        "SELECT count(*), sum(time_ms IS NULL), count(time_written_ms) FROM entries JOIN sessions USING (session) WHERE agent = 'clido'",
    ]);
    let row = &without["rows"][0];
    assert!(row[0].as_i64() > Some(20), "{without}");
    assert_eq!(row[1], 0, "{without}");
    assert!(row[2].as_i64() < Some(5), "{without}");
    // As a search has them: what was said before that day is not found, what was said on it is.
    let said = home.json(&[
        "--json",
        "sql",
        "SELECT DISTINCT date(time_ms / 1000, 'unixepoch') FROM entries e JOIN sessions s USING (session)
         WHERE s.agent = 'clido' AND json_extract(raw(e.entry), '$.content[0].text') = 'Sign the archives'",
    ]);
    assert_eq!(said["rows"], serde_json::json!([["2026-01-02"]]));
    for (query, hits) in [
        ("until:2026-01-01", 0),
        ("since:2026-01-02 until:2026-01-02", 2),
        ("since:2026-01-03", 0),
    ] {
        let query = format!("\"sign the archives\" agent:clido {query}");
        let found = home.json(&["--json", "search", &query]);
        assert_eq!(found["total"], hits, "{query}: {found}");
    }
}

#[test]
fn a_preview_is_one_line_without_secrets() {
    let home = Sandbox::new();
    let key = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let long = "word ".repeat(60);
    home.write(
        ".pi/agent/sessions/--w--/s.jsonl",
        &format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n\
             {{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"  first\\n\\tsecond {key}\"}}}}\n\
             {{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{}{key}\"}}}}\n",
            // The key is where the preview ends.
            &long[..190]
        ),
    );
    let ask = |more: &[&str]| {
        let mut all = vec![
            "--json",
            "sql",
            "SELECT preview(entry) FROM entries WHERE id IN ('a', 'b') ORDER BY id",
        ];
        all.extend(more);
        let rows = home.json(&all)["rows"].clone();
        [0, 1].map(|at| rows[at][0].as_str().expect("a text").to_owned())
    };
    let [first, second] = ask(&[]);
    assert_eq!(first, "first second ghp_[redacted]");
    assert!(!second.contains("a1B2"), "{second}");
    let [first, second] = ask(&["--reveal"]);
    assert_eq!(first, format!("first second {key}"));
    assert!(
        second.ends_with("ghp_a1B2c3…") && second.chars().count() == 201,
        "{second}"
    );
    let none = home.json(&["--json", "sql", "SELECT preview(NULL), preview(7)"]);
    assert_eq!(none["rows"][0], serde_json::json!([null, null]));
}

/// The sessions of an agentuse root.
const AGENTUSE: &str =
    ".local/share/agentuse/project/d56553675460857d/session/01KE6P4YM0000000000000000C-agents-many";

/// A session of one message without totals.
fn of_steps(home: &Sandbox) {
    let session = r#"{"agent":{"id":"agents/many","name":"many","isSubAgent":false},"model":"anthropic:m","version":"0.15.0",
        "project":{"root":"/w","cwd":"/w"},"id":"01KE6P4YM0000000000000000C","status":"completed","time":{"created":1767603600000,"updated":1767603650000}}"#;
    let message = r#"{"id":"01KE6P4ZK8000000000000000C","sessionID":"01KE6P4YM0000000000000000C","time":{"created":1767603601000},
        "user":{"prompt":{"task":"sort"}},"assistant":{"modelID":"anthropic:m","cost":0,"tokens":{"input":0,"output":0}}}"#;
    home.write(&format!("{AGENTUSE}/session.json"), session);
    home.write(
        &format!("{AGENTUSE}/01KE6P4ZK8000000000000000C/message.json"),
        message,
    );
}

/// A part of that message.
fn part(home: &Sandbox, number: usize, says: &str) -> std::path::PathBuf {
    let path = format!(
        "{AGENTUSE}/01KE6P4ZK8000000000000000C/part/01KE6P50JG000000000000{number:04}.json"
    );
    home.write(
        &path,
        &format!(
            r#"{{"id":"01KE6P50JG000000000000{number:04}","sessionID":"01KE6P4YM0000000000000000C","messageID":"01KE6P4ZK8000000000000000C",{says}}}"#
        ),
    )
}

/// The index equals the files.
fn verify(home: &Sandbox, zone: &str) {
    let verified = home.command(&["--json", "verify"]).env("TZ", zone).output();
    let verified = verified.expect("it runs").stdout;
    let verified: serde_json::Value = serde_json::from_slice(&verified).expect("an object");
    assert_eq!(verified["differences"], serde_json::json!([]), "{verified}");
}

#[test]
fn a_message_counts_what_its_steps_say_however_far_behind_it_they_come_and_go() {
    let home = Sandbox::new();
    of_steps(&home);
    // Before its parts.
    assert!(home.output(&["sync"]).status.success());
    for number in 0..300 {
        part(&home, number, r#""type":"text","text":"said""#);
    }
    let spent = || {
        let query = "SELECT input, cost_total FROM usage_by_agent";
        let rows = home.json(&["--json", "sql", query])["rows"].clone();
        verify(&home, "UTC0");
        rows
    };
    assert_eq!(spent(), serde_json::json!([[0, null]]));
    let step = part(
        &home,
        300,
        r#""type":"step-finish","cost":0.5,"tokens":{"input":10,"output":1}"#,
    );
    assert_eq!(spent(), serde_json::json!([[10, 0.5]]));
    fs::remove_file(step).expect("gone");
    assert_eq!(spent(), serde_json::json!([[0, null]]));
}

#[test]
fn no_number_that_a_file_claims_keeps_an_index_from_being_written() {
    let home = Sandbox::new();
    of_steps(&home);
    for number in 0..2 {
        let most = format!(
            r#""type":"step-finish","cost":1e308,"tokens":{{"input":{0},"output":{0}}}"#,
            i64::MAX
        );
        part(&home, number, &most);
    }
    let header = |id: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n"
        )
    };
    let answer = |id: usize, time: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"{time}\",\"message\":{{\"role\":\"assistant\",\"content\":[],\"usage\":{{\"input\":{0},\"output\":{0},\"totalTokens\":{0},\"cost\":{{\"total\":1e308}}}}}}}}\n",
            i64::MAX
        )
    };
    let lines = [
        header("s"),
        answer(1, "2026-01-05T09:00:00.000Z"),
        answer(2, "2026-01-05T09:00:01.000Z"),
        // In another quarter of an hour.
        answer(5, "2026-01-05T09:30:00.000Z"),
        // The last day of the calendar, which is over elsewhere, and one beyond it.
        answer(3, "9999-12-31T23:30:00.000Z"),
        answer(4, "+010000-01-01T00:30:00.000Z"),
    ];
    home.write(".pi/agent/sessions/--w--/s.jsonl", &lines.concat());
    let lines = [
        r#"{"type":"meta","schema_version":1,"session_id":"c","project_path":"/w","start_time":"2026-01-05T09:00:00.000Z"}"#.to_owned(),
        r#"{"type":"assistant_message","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]}"#.to_owned(),
        format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":"","is_error":false,"duration_ms":{}}}"#, i64::MAX),
        format!(r#"{{"type":"tool_result","tool_use_id":"t2","content":"","is_error":false,"duration_ms":{}}}"#, i64::MAX),
    ];
    let said = r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"More"}]}"#;
    // Beyond the entries whose sums are made together.
    let mut lines = [&lines[..], &vec![said.to_owned(); 256][..], &lines[1..]].concat();
    for line in lines.iter_mut().rev().take(3) {
        *line = line.replace("\"t1\"", "\"t3\"").replace("\"t2\"", "\"t4\"");
    }
    for cost in ["1e308", "9e307", "8e307"] {
        lines.push(format!(
            r#"{{"type":"result","exit_status":"success","total_cost_usd":{cost},"num_turns":1}}"#
        ));
    }
    lines.push(String::new());
    home.write("clido/sessions/_w/c.jsonl", &lines.join("\n"));
    home.settle();
    let zone = "JST-9";
    let synced = home.command(&["--json", "sync"]).env("TZ", zone).output();
    let synced = synced.expect("it runs");
    assert!(synced.status.success(), "{synced:?}");
    verify(&home, zone);
    let query = "SELECT local_day, total FROM usage WHERE agent = 'pi' ORDER BY time_ms";
    let asked = home
        .command(&["--json", "sql", query])
        .env("TZ", zone)
        .output();
    let asked: serde_json::Value =
        serde_json::from_slice(&asked.expect("it runs").stdout).expect("an object");
    let most = i64::MAX;
    assert_eq!(
        asked["rows"],
        serde_json::json!([
            ["2026-01-05", most],
            ["2026-01-05", most],
            ["2026-01-05", most],
            ["9999-12-31", most],
            [null, most]
        ])
    );
    assert_eq!(
        home.json(&["--json", "sql", "SELECT tool, ms FROM tools, (SELECT max(ms) AS ms FROM _call_sums) WHERE agent = 'clido'"])["rows"],
        serde_json::json!([["Bash", most]])
    );
    for view in ["day", "local_day", "model", "provider", "project", "agent"] {
        let query = format!("SELECT max(input), max(output), max(total) FROM usage_by_{view}");
        let sums = home.json(&["--json", "sql", &query])["rows"].clone();
        assert_eq!(sums, serde_json::json!([[most, most, most]]), "{view}");
    }
    assert_eq!(
        home.json(&[
            "--json",
            "sql",
            "SELECT mean_ms, calls FROM tools WHERE agent = 'clido'"
        ])["rows"],
        serde_json::json!([[most as f64 / 2.0, 4]])
    );
    let rows = home.json(&["list", "--all", "--json"])["sessions"].clone();
    for row in rows.as_array().expect("rows") {
        assert_eq!(row["cost"], f64::MAX, "{row}");
    }
}

#[test]
fn what_can_be_asked_is_printed_and_a_wrong_name_answered_with_the_nearest() {
    let home = home();
    let schema = home.run(&["sql", "--schema"]);
    let sessions = schema.lines().find(|line| line.starts_with("sessions("));
    let sessions = sessions.expect("the view of sessions");
    let schema = home.json(&["sql", "--schema", "--json"]);
    assert_eq!(schema["contract"], sessionary::CONTRACT_VERSION);
    for view in schema["views"].as_array().expect("views") {
        let columns = view["columns"].as_array().expect("columns").iter();
        let columns: Vec<&str> = columns.filter_map(|column| column.as_str()).collect();
        let name = view["name"].as_str().expect("a name");
        let query = format!("SELECT {} FROM {name} LIMIT 0", columns.join(", "));
        assert!(
            home.output(&["sql", "--csv", &query]).stderr.is_empty(),
            "{query}"
        );
        if name == "sessions" {
            assert_eq!(sessions, format!("sessions({})", columns.join(", ")));
        }
    }
    for (query, meant) in [
        ("SELECT cots FROM sessions", "did you mean `cost`?"),
        (
            "SELECT s.modelx FROM sessions AS s",
            "did you mean `model`?",
        ),
        ("SELECT * FROM sesions", "did you mean `sessions`?"),
        ("SELECT zzz FROM sessions", "--schema` lists every view"),
    ] {
        let refused = home.run(&["sql", query]);
        assert!(
            refused.contains(meant) && refused.contains("exit Some(2)"),
            "{refused}"
        );
    }
    let count = "SELECT count(*) AS n FROM sessions";
    let mut piped = home.command(&["sql", "-", "--csv"]);
    let file = home.write("count.sql", &format!("{count}\n"));
    piped.stdin(fs::File::open(file).expect("a file"));
    let piped = piped.output().expect("it runs").stdout;
    assert_eq!(piped, home.output(&["sql", count, "--csv"]).stdout);
    assert!(home.run(&["sql", "-"]).contains("the query is empty"));
}

/// The rows of `report --json`: what they have in common, and sums.
fn reported(home: &Sandbox, arguments: &[&str]) -> Vec<(Option<String>, [Option<f64>; 5])> {
    let answer = home.json(&[&["report", "--json"], arguments].concat());
    let rows = answer["rows"].as_array().expect("rows").iter();
    rows.map(|row| {
        let numbers = ["answers", "sessions", "total", "cache_read", "cost"];
        let key = row["key"].as_str().map(str::to_owned);
        (key, numbers.map(|name| row[name].as_f64()))
    })
    .collect()
}

#[test]
fn a_report_says_what_the_views_say() {
    let home = home();
    assert!(home.output(&["sync"]).status.success());
    let connection = Connection::open(catalogue(&home)).expect("the catalogue");
    for (by, view, key) in [
        ("day", "usage_by_local_day", "local_day"),
        ("model", "usage_by_model", "model"),
        ("project", "usage_by_project", "nullif(cwd, '')"),
        ("agent", "usage_by_agent", "agent"),
    ] {
        let query = format!(
            "SELECT {key}, answers, sessions, total, cache_read, cost_total FROM {view} ORDER BY 1"
        );
        let mut statement = connection.prepare(&query).expect(&query);
        let rows = statement.query_map([], |row| {
            let numbers: [Option<f64>; 5] = [
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ];
            Ok((row.get::<_, Option<String>>(0)?, numbers))
        });
        let expected: Vec<_> = rows.expect(&query).map(Result::unwrap).collect();
        let mut found = reported(&home, &["--by", by]);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(found.len(), expected.len(), "{by}");
        assert!(found.len() > 1, "{by}");
        for (one, other) in found.iter().zip(&expected) {
            assert_eq!(one.0, other.0, "{by}");
            for (one, other) in one.1.iter().zip(other.1) {
                let is_same = one.is_some() == other.is_some();
                let differs = (one.unwrap_or(0.0) - other.unwrap_or(0.0)).abs();
                assert!(is_same && differs < 1e-9, "{by}: {found:?} {expected:?}");
            }
        }
    }
}

#[test]
fn a_report_is_of_what_was_asked_for() {
    let home = home();
    let all = |arguments: &[&str]| {
        let answer = home.json(&[&["report", "--json"], arguments].concat());
        let rows = reported(&home, arguments);
        let of_rows: f64 = rows.iter().filter_map(|row| row.1[0]).sum();
        // All rows are the total.
        assert_eq!(answer["total"]["answers"].as_f64(), Some(of_rows));
        (rows, of_rows)
    };
    let (_, everything) = all(&[]);
    let (agents, of_agents) = all(&["--by", "agent"]);
    assert_eq!(everything, of_agents);
    let of_pi = agents.iter().find(|row| row.0.as_deref() == Some("pi"));
    let (only_pi, of_only_pi) = all(&["--agent", "pi"]);
    assert_eq!(of_pi.expect("pi").1[0], Some(of_only_pi));
    // A day is a part of its week and of its month.
    let days: Vec<&str> = only_pi.iter().filter_map(|row| row.0.as_deref()).collect();
    let (first, last) = (days[0], days[days.len() - 1]);
    let (_, since) = all(&["--since", last, "--agent", "pi"]);
    let (_, until) = all(&["--until", first, "--agent", "pi"]);
    assert!(since > 0.0 && until > 0.0 && since < everything);
    for by in ["week", "month"] {
        let (rows, answers) = all(&["--by", by]);
        assert_eq!(answers, everything, "{by}");
        let keys = rows.iter().filter_map(|row| row.0.as_deref());
        for key in keys {
            match by {
                "month" => assert_eq!(key.len(), 7),
                _ => {
                    let day: jiff::civil::Date = key.parse().unwrap();
                    assert_eq!(day.weekday(), jiff::civil::Weekday::Monday, "{key}");
                }
            }
        }
    }
    let nothing = home.run(&["report", "--since", "2100"]);
    assert!(nothing.contains("No answer"), "{nothing}");
    assert!(nothing.contains("--- exit Some(1)"), "{nothing}");
}

/// What was copied elsewhere counts all the same where that other place is not asked.
#[test]
fn a_report_is_of_all_that_a_list_shows() {
    let home = home();
    let whole = |arguments: &[&str]| {
        let spent = home.json(&[arguments, &["report", "--json"]].concat());
        let called = home.json(&[arguments, &["report", "--by", "tool", "--json"]].concat());
        (spent["total"].clone(), called["total"].clone())
    };
    let mine = whole(&[]);
    // Of two copies the one whose path comes first counts.
    let backup = home.home.join("+backup");
    let sessions = home.home.join(".pi/agent/sessions");
    let project = "--home-ada-code-app--";
    fs::create_dir_all(backup.join(project)).expect("a folder");
    for file in fs::read_dir(sessions.join(project)).expect("sessions") {
        let file = file.expect("a session");
        fs::copy(file.path(), backup.join(project).join(file.file_name())).expect("a copy");
    }
    let root = format!("pi:{}", backup.display());
    let both = whole(&["--root", &root]);
    let rounded = |(mut spent, called): (Value, Value)| {
        // In another order they are added up to another last digit.
        let cost = spent["cost"].as_f64().unwrap_or_default();
        spent["cost"] = format!("{cost:.9}").into();
        (spent, called)
    };
    assert_eq!(rounded(both), rounded(mine.clone()));
    let owners =
        "SELECT DISTINCT root FROM usage JOIN sessions USING (session) WHERE sessions.agent = 'pi'";
    let owners = home.json(&["--json", "sql", owners])["rows"].clone();
    assert_eq!(owners, serde_json::json!([[backup]]));
    assert_eq!(rounded(whole(&[])), rounded(mine));
    let alone = ["--no-default-roots", "--root", &root];
    let (spent, called) = whole(&alone);
    let pi = home.json(&["report", "--json", "--agent", "pi"])["total"].clone();
    assert_eq!(spent["answers"], pi["answers"]);
    assert!(about(
        spent["cost"].as_f64(),
        pi["cost"].as_f64().expect("a cost")
    ));
    let pi = home.json(&["report", "--by", "tool", "--json", "--agent", "pi"])["total"].clone();
    assert_eq!(called["calls"], pi["calls"]);
    let days = reported(&home, &["--agent", "pi"]);
    let alone: Vec<_> = home.json(&[&alone[..], &["report", "--json"]].concat())["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["key"].as_str().map(str::to_owned))
        .collect();
    let days: Vec<_> = days.into_iter().map(|(day, _)| day).collect();
    assert_eq!(alone, days);
}

/// An answer of pi's with this usage, in a session of its own.
fn pi_answer(home: &Sandbox, id: &str, time: &str, usage: &str) {
    let lines = [
        format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"/x"}}"#),
        format!(
            r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"{time}","message":{{"role":"assistant","provider":"p","model":"claude-haiku-4-5","content":[],"usage":{usage}}}}}"#
        ),
        String::new(),
    ];
    home.write(
        &format!(".pi/agent/sessions/--x--/{id}.jsonl"),
        &lines.join("\n"),
    );
}

/// What list, report and the views say was spent in all.
fn said_by_all(home: &Sandbox, name: &str, column: &str) -> [serde_json::Value; 3] {
    let list = home.json(&["list", "--all", "--json"])["sessions"][0][name].clone();
    let reported = match name {
        "tokens" => "total",
        name => name,
    };
    let report = home.json(&["report", "--json"])["total"][reported].clone();
    let view = format!("SELECT {column} FROM usage_by_agent");
    let view = home.json(&["--json", "sql", &view])["rows"][0][0].clone();
    [list, report, view]
}

#[test]
fn a_cost_of_which_only_the_parts_are_recorded_is_recorded() {
    let home = Sandbox::new();
    let usage =
        r#"{"input":1000000,"output":0,"cost":{"input":0.25,"output":0.5,"cacheRead":0.125}}"#;
    pi_answer(&home, "one", "2026-01-05T09:00:02.000Z", usage);
    let all = said_by_all(&home, "cost", "cost_total");
    assert_eq!(all, [0.875, 0.875, 0.875].map(serde_json::Value::from));
    let report = home.json(&["report", "--json"]);
    assert_eq!(report["total"]["cost_estimated"], serde_json::Value::Null);
}

#[test]
fn there_are_no_tokens_below_nothing() {
    let home = Sandbox::new();
    let usage = r#"{"input":-5,"output":10,"cacheRead":-7.5}"#;
    pi_answer(&home, "one", "2026-01-05T09:00:02.000Z", usage);
    let all = said_by_all(&home, "tokens", "total");
    assert_eq!(all, [10, 10, 10].map(serde_json::Value::from));
    let parts = "SELECT input, output, cache_read FROM usage";
    let parts = home.json(&["--json", "sql", parts])["rows"].clone();
    assert_eq!(parts, serde_json::json!([[null, 10, null]]));
}

/// A turn of clido's whose result has no cost leaves that of the run so far as it was.
#[test]
fn a_result_without_a_cost_begins_no_run() {
    let home = Sandbox::new();
    let result = |cost: &str| {
        format!(
            r#"{{"type":"result","exit_status":"success","total_cost_usd":{cost},"num_turns":1,"duration_ms":300}}"#
        )
    };
    let lines = [
        r#"{"type":"meta","schema_version":1,"session_id":"c","project_path":"/w","start_time":"2026-01-05T09:00:00.000Z"}"#.to_owned(),
        result("0.25"),
        result("null"),
        result("null"),
        result("0.375"),
        String::new(),
    ];
    home.write("clido/sessions/_w/c.jsonl", &lines.join("\n"));
    let all = said_by_all(&home, "cost", "cost_total");
    assert_eq!(all, [0.375, 0.375, 0.375].map(serde_json::Value::from));
    let runs = "SELECT cost FROM runs ORDER BY entry";
    let runs = home.json(&["--json", "sql", runs])["rows"].clone();
    assert_eq!(runs, serde_json::json!([[0.25], [null], [null], [0.125]]));
    verify(&home, "UTC0");
}

/// Before 1970 a quarter of an hour begins before its moments too, and beyond the calendar of the
/// views there are no days.
#[test]
fn days_of_a_report_are_those_of_the_views() {
    let home = Sandbox::new();
    for (id, time) in [
        ("a", "1969-12-31T23:59:59.000Z"),
        ("b", "-000001-06-01T00:00:00.000Z"),
        ("c", "9999-12-31T23:59:00.000Z"),
        ("d", "+010000-01-01T00:00:00.000Z"),
        ("e", "-100000-01-01T00:00:00.000Z"),
        ("f", "2026-01-05T09:00:00.000Z"),
    ] {
        pi_answer(&home, id, time, r#"{"input":1}"#);
    }
    assert!(home.output(&["sync"]).status.success());
    let view = "SELECT local_day, answers FROM usage_by_local_day ORDER BY local_day IS NOT NULL, local_day";
    let view = home.json(&["--json", "sql", view])["rows"].clone();
    let days = reported(&home, &[]).into_iter();
    let days: Vec<_> = days
        .map(|(day, sums)| (day, sums[0].map(|answers| answers as u64)))
        .collect();
    assert_eq!(view, serde_json::json!(days));
    let day = "SELECT day FROM usage JOIN sessions USING (session) WHERE id = 'a'";
    let day = home.json(&["--json", "sql", day])["rows"].clone();
    assert_eq!(day, serde_json::json!([["1969-12-31"]]));
    assert_eq!(days.len(), 5, "{days:?}");
    assert_eq!(days[0], (None, Some(2)));
    let until = reported(&home, &["--until", "1970-01-01"]);
    assert_eq!(
        until.iter().filter_map(|row| row.1[0]).sum::<f64>(),
        3.0,
        "{until:?}"
    );
    verify(&home, "UTC0");
}

#[test]
fn a_spreadsheet_makes_no_formula_of_a_name() {
    let home = Sandbox::new();
    let line = |id: &str, name: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"assistant","model":"{name}","usage":{{"input":1}},"content":[{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{}}}}]}}}}"#
        )
    };
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"one","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#.to_owned(),
    ];
    let names = ["=HYPERLINK(1)", "+1", "-1", "@a", "\\t=1", "a  =b", "bash"];
    let ids = ["a1", "a2", "a3", "a4", "a5", "a6", "a7"];
    lines.extend(ids.iter().zip(names).map(|(id, name)| line(id, name)));
    lines.push(String::new());
    home.write(".pi/agent/sessions/--x--/one.jsonl", &lines.join("\n"));
    for by in ["tool", "model"] {
        let csv = home.run(&["report", "--by", by, "--csv"]);
        let (rows, _) = csv.split_once("--- stderr").unwrap_or((&csv, ""));
        let mut named: Vec<&str> = rows
            .lines()
            .skip(1)
            .filter_map(|row| row.split(',').next())
            .collect();
        named.sort_unstable();
        let expected = [
            "'\t=1",
            "'+1",
            "'-1",
            "'=HYPERLINK(1)",
            "'@a",
            "a  =b",
            "bash",
        ];
        assert_eq!(named, expected, "{by}: {csv}");
    }
}

#[test]
fn a_report_for_people_is_a_table_or_a_page() {
    let home = home();
    let table = home.run(&["report", "--by", "agent"]);
    assert!(table.starts_with("AGENT "), "{table}");
    assert!(table.contains("▇▇▇"), "{table}");
    let csv = home.run(&["report", "--by", "agent", "--csv"]);
    assert!(csv.starts_with("agent,sessions,answers,input,"), "{csv}");
    let page = home.run(&["report", "--by", "project", "--html"]);
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    for loads in ["<script", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(loads), "{loads}: {page}");
    }
    let rows = page.matches("<tr><th>").count();
    assert!(rows > 2, "{page}");
    assert_eq!(page.matches("<rect ").count(), rows - 1);
}

/// Of each tool: calls, how many were answered, how many failed.
fn tools(home: &Sandbox, arguments: &[&str]) -> BTreeMap<Option<String>, [u64; 3]> {
    let answer = home.json(&[&["report", "--by", "tool", "--json"], arguments].concat());
    let numbers = |tool: &serde_json::Value| {
        ["calls", "answered", "errors"].map(|name| tool[name].as_u64().expect(name))
    };
    let tools = answer["tools"].as_array().expect("tools").iter();
    let tools: BTreeMap<_, _> = tools
        .map(|tool| (tool["tool"].as_str().map(str::to_owned), numbers(tool)))
        .collect();
    let mut sums = [0; 3];
    for numbers in tools.values() {
        sums.iter_mut()
            .zip(numbers)
            .for_each(|(sum, more)| *sum += more);
    }
    assert_eq!(sums, numbers(&answer["total"]), "{answer}");
    // A session in which several were called is one.
    let sessions = |tool: &serde_json::Value| tool["sessions"].as_u64();
    let rows = answer["tools"].as_array().expect("tools").iter();
    let (most, sum) = (
        rows.clone().map(sessions).max(),
        rows.filter_map(sessions).sum(),
    );
    let total = sessions(&answer["total"]);
    assert!(
        most.unwrap_or_default() <= total && total <= Some(sum),
        "{answer}"
    );
    tools
}

#[test]
fn a_report_of_tools_says_what_their_view_says() {
    let home = home();
    assert!(home.output(&["sync"]).status.success());
    let connection = Connection::open(catalogue(&home)).expect("the catalogue");
    let viewed = |which: &str| -> BTreeMap<Option<String>, [u64; 3]> {
        let query = format!(
            "SELECT tool, sum(calls), sum(answered), coalesce(sum(errors), 0) FROM tools {which} GROUP BY tool"
        );
        let mut statement = connection.prepare(&query).expect(&query);
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
        });
        rows.expect(&query).map(Result::unwrap).collect()
    };
    let all = tools(&home, &[]);
    assert!(all.len() > 1 && all.values().any(|numbers| numbers[2] > 0));
    assert_eq!(all, viewed(""));
    assert_eq!(
        tools(&home, &["--agent", "pi"]),
        viewed("WHERE agent = 'pi'")
    );
    let since = tools(&home, &["--since", "2026-01-05T09:30"]);
    let until = tools(&home, &["--until", "2026-01-05T09:29"]);
    let calls = |of: &BTreeMap<_, [u64; 3]>| -> u64 { of.values().map(|of| of[0]).sum() };
    assert!(calls(&since) > 0 && calls(&until) > 0);
    assert_eq!(calls(&since) + calls(&until), calls(&all));

    let table = home.run(&["report", "--by", "tool"]);
    assert!(table.starts_with("TOOL "), "{table}");
    let csv = home.run(&["report", "--by", "tool", "--csv"]);
    assert!(
        csv.starts_with("tool,sessions,calls,answered,errors,mean_ms"),
        "{csv}"
    );
    let page = home.run(&["report", "--by", "tool", "--html"]);
    assert!(page.contains("--- exit Some(2)"), "{page}");
    let nothing = home.run(&["report", "--by", "tool", "--since", "2100"]);
    assert!(nothing.contains("No tool was called"), "{nothing}");
    assert!(nothing.contains("--- exit Some(1)"), "{nothing}");
}

/// A tool may be called by a key.
#[test]
fn a_report_of_tools_prints_no_key() {
    let home = Sandbox::new();
    let (key, shown) = ("ghp_0123456789abcdefghijABCDEFGHIJ456789", "ghp_[redacted]");
    let line = format!(
        r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c1","name":"{key}","arguments":{{}}}}]}}}}"#
    );
    let first = r#"{"type":"session","version":3,"id":"one","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#;
    let path = ".pi/agent/sessions/--x--/one.jsonl";
    home.write(path, &format!("{first}\n{line}\n"));
    for form in [&[][..], &["--csv"], &["--json"]] {
        let asked = [&["report", "--by", "tool"], form].concat();
        let said = home.run(&asked);
        assert!(said.contains(shown) && !said.contains(key), "{said}");
        let revealed = home.run(&[&asked[..], &["--reveal"]].concat());
        assert!(revealed.contains(key), "{revealed}");
    }
}

/// One answer with a cost says nothing of the next one, of the same model and minute.
#[test]
fn answers_without_a_cost_are_told_apart() {
    let home = Sandbox::new();
    let answer = |id: &str, input: u64, cost: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"assistant","model":"claude-haiku-4-5","content":[],"usage":{{"input":{input},"output":0{cost}}}}}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"one","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#.to_owned(),
        answer("a1", 1_000_000, ""),
        answer("a2", 1_000, r#","cost":{"total":0.01}"#),
    ];
    home.write(
        ".pi/agent/sessions/--x--/one.jsonl",
        &(lines.join("\n") + "\n"),
    );
    let report = home.json(&["report", "--json", "--by", "model"]);
    let row = &report["rows"][0];
    assert_eq!(row["cost"], 0.01, "{row}");
    assert_eq!(row["cost_estimated"], 1.0, "{row}");
    assert_eq!(row["without_cost"][0]["answers"], 1, "{row}");
}

/// One answer that says what its tokens were gives no price to the next one, which does not.
#[test]
fn answers_without_a_price_are_told_apart() {
    let home = Sandbox::new();
    for (id, usage) in [
        ("a", r#"{"input":1000000,"output":0}"#),
        ("b", r#"{"totalTokens":9}"#),
    ] {
        pi_answer(&home, id, "2026-01-05T09:00:02.000Z", usage);
    }
    // Both in one session, too.
    let path = home.home.join(".pi/agent/sessions/--x--/a.jsonl");
    let lines = fs::read_to_string(&path).expect("a session");
    let more = r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-05T09:00:03.000Z","message":{"role":"assistant","provider":"p","model":"claude-haiku-4-5","content":[],"usage":{"totalTokens":7}}}"#;
    fs::write(&path, format!("{lines}{more}\n")).expect("written");
    let report = home.json(&["report", "--json", "--by", "model"]);
    let row = &report["rows"][0];
    assert_eq!(row["cost_estimated"], 1.0, "{row}");
    let without = row["without_cost"].as_array().expect("a list");
    let counts: Vec<_> = without
        .iter()
        .map(|of| (&of["answers"], &of["total"]))
        .collect();
    let (one, two) = (
        serde_json::json!([1, 1_000_000]),
        serde_json::json!([2, 16]),
    );
    let counts = serde_json::json!(counts);
    assert!(
        counts == serde_json::json!([one, two]) || counts == serde_json::json!([two, one]),
        "{row}"
    );
    let said = home.run(&["report"]);
    assert!(said.contains("There is no price for 2 answers."), "{said}");
}

/// The table of prices is what the script makes of the package that it names.
#[test]
fn prices_are_those_of_the_package() {
    if !real_agents::are_installed() {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = std::process::Command::new("node")
        .arg(project.join("tests/oracle/prices.mjs"))
        .output();
    let ran = real_agents::succeeded("prices.mjs", ran);
    let kept = include_str!("../src/cli/command/report/prices.tsv");
    assert!(String::from_utf8_lossy(&ran.stdout) == kept);
}
