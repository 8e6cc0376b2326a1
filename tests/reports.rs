//! Do the views for reports tell the truth, do the documented queries give what the document shows, and does an older
//! catalogue become the newest?

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::sandbox::Sandbox;

const README: &str = include_str!("../migrations/README.md");

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
    home.home.join(".cache/sessionary/v1/catalogue.sqlite")
}

/// `$ [TZ=…] sessionary sql "…"` and its output, each from a block of its own.
fn queries() -> Vec<(String, String)> {
    let blocks = README.split("```console\n$ ").skip(1);
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
        "the blocks of migrations/README.md should be:\n{shown}"
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

#[test]
fn a_call_has_the_answer_that_follows_it() {
    let home = home();
    let line = |id: &str, parent: &str, second: u32, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-05T11:00:0{second}.000Z","message":{message}}}"#
        )
    };
    // Some providers number the calls of each message anew.
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

/// A catalogue as the first release wrote it becomes the newest, and only the formats that say more now are read again.
#[test]
fn an_older_catalogue_is_migrated() {
    let home = home();
    let path = catalogue(&home);
    fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
    let old = Connection::open(&path).expect("a database");
    old.execute_batch(include_str!("../migrations/0001_catalogue.sql"))
        .expect("its first shape");
    let rows = include_str!("../fixtures/catalogue-0001.sql");
    let rows = rows.replace('~', &home.home.display().to_string());
    old.execute_batch(&format!(
        "PRAGMA application_id = 0x53455359; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;
         PRAGMA foreign_keys = OFF; BEGIN; DELETE FROM _store; {rows}; COMMIT"
    ))
    .expect("its rows");
    let keys = "SELECT key FROM _entries JOIN _sources USING (source) JOIN _roots r USING (root)
                WHERE r.agent = 'indusagi' OR relative LIKE '%b1.jsonl' ORDER BY key";
    let before = numbers(&old, keys);
    assert!(before.len() > 10);
    drop(old);
    assert!(home.output(&["sync"]).status.success());
    let new = Connection::open(&path).expect("the catalogue");
    assert_eq!(
        numbers(&new, keys),
        before,
        "entries of pi are as they were"
    );
    assert_eq!(
        one(&new, "SELECT contract_version FROM contract"),
        Some(2.0)
    );
    assert_eq!(one(&new, "SELECT count(*) FROM runs"), Some(6.0));
    assert_eq!(one(&new, "SELECT sum(step) FROM usage_records"), Some(2.0));
    assert_eq!(
        one(
            &new,
            "SELECT count(*) FROM _sources WHERE revision = 1 AND relative LIKE '%0b4.jsonl'"
        ),
        Some(0.0)
    );
    drop(new);
    let verified = home.run(&["verify"]);
    assert!(
        verified.contains("both stores equal the files"),
        "{verified}"
    );
}
