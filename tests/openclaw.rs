//! OpenClaw: rows of its databases and the files of the time before, against what they say by hand.
//! Each test has the name of a case.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sessionary::format::FORMATS;
use sessionary::index::{SearchScope, TreeFilter};
use sessionary::locations::{Environment, not_read};
use sessionary::model::Class::{Output, Prose};
use sessionary::model::SessionRow;
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::{clean, dump, fresh, root, same};
use crate::histories::sync_stopped_at;
use crate::store::{branches, classes_of, hits, hits_once, only, rows, sql, transcript};

/// The tables of 2026.9.6, as far as sessions need them.
const SCHEMA: &str = "
    CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
        updated_at INTEGER NOT NULL, status TEXT, created_at INTEGER, parent_session_key TEXT, spawned_by TEXT, fork_source_session_key TEXT,
        fork_source_session_id TEXT, fork_source_entry_id TEXT, label TEXT, display_name TEXT, archived_at INTEGER,
        last_interaction_at INTEGER, last_activity_at INTEGER) STRICT;
    CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT, reason TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, transcript_updated_at INTEGER, transcript_observed_at INTEGER, status TEXT,
        channel TEXT, account_id TEXT, model_provider TEXT, model TEXT, agent_harness_id TEXT, parent_session_key TEXT, spawned_by TEXT,
        display_name TEXT, FOREIGN KEY (session_key) REFERENCES session_nodes(session_key) ON DELETE CASCADE) STRICT;
    CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL,
        event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq),
        FOREIGN KEY (session_id) REFERENCES session_windows(session_id) ON DELETE CASCADE) STRICT;
    CREATE TABLE session_transcript_index_state (session_id TEXT NOT NULL PRIMARY KEY, indexed_seq INTEGER NOT NULL, leaf_event_id TEXT,
        needs_rebuild INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL,
        FOREIGN KEY (session_id) REFERENCES session_windows(session_id) ON DELETE CASCADE) STRICT;
    CREATE TABLE transcript_rewrite_watermarks (session_id TEXT NOT NULL PRIMARY KEY, generation TEXT NOT NULL, updated_at INTEGER NOT NULL,
        FOREIGN KEY (session_id) REFERENCES session_windows(session_id) ON DELETE CASCADE) STRICT;
    CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL, session_key TEXT NOT NULL,
        reason TEXT NOT NULL, encoding TEXT NOT NULL, archive_blob BLOB NOT NULL, archive_name TEXT NOT NULL UNIQUE,
        created_at INTEGER NOT NULL, published_at INTEGER, PRIMARY KEY (session_id, generation)) STRICT;
    CREATE TABLE session_transcript_cold_archives (session_id TEXT NOT NULL PRIMARY KEY, generation TEXT NOT NULL,
        archive_name TEXT NOT NULL UNIQUE, event_count INTEGER NOT NULL, archived_at INTEGER NOT NULL, storage TEXT NOT NULL,
        archive_blob BLOB, FOREIGN KEY (session_id) REFERENCES session_windows(session_id) ON DELETE CASCADE) STRICT;
    CREATE TABLE trajectory_runtime_events (session_id TEXT, seq INTEGER, run_id TEXT, event_json TEXT, created_at INTEGER) STRICT;";

/// The tables of 2026.8, of which others published a file.
const OLDER: &str = "
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, updated_at INTEGER, label TEXT,
        display_name TEXT);
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, previous_session_id TEXT, reason TEXT,
        created_at INTEGER, updated_at INTEGER);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT NOT NULL, created_at INTEGER, PRIMARY KEY (session_id, seq));";

/// The agent's clock begins long ago, so that no row is too young to be certain.
const BEGIN: i64 = 1_767_603_600_000;
const KEY: &str = "agent:main:main";

fn time(ms: i64) -> String {
    sessionary::model::iso(ms).unwrap()
}

fn header(session: &str, version: i64) -> Value {
    json!({"type": "session", "version": version, "id": session, "timestamp": time(BEGIN), "cwd": "/home/ada/.openclaw/workspace"})
}

fn event(id: &str, parent: Option<&str>, at: i64, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(BEGIN + at * 1000), "message": message})
}

fn user(id: &str, parent: Option<&str>, at: i64, text: &str) -> Value {
    let message = json!({"role": "user", "content": text, "timestamp": BEGIN + at * 1000, "__openclaw": {"senderIsOwner": true}});
    event(id, parent, at, message)
}

fn answer(id: &str, parent: &str, at: i64, text: &str) -> Value {
    let usage = json!({"input": 80, "output": 30, "cacheRead": 20, "cacheWrite": 0, "reasoningTokens": 5, "totalTokens": 130, "cost": {"input": 0.08, "output": 0.17, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}});
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}], "provider": "stub", "model": "m1", "usage": usage,
        "stopReason": "stop", "timestamp": BEGIN + at * 1000, "responseId": format!("response-{id}")});
    event(id, Some(parent), at, message)
}

/// A header, a question and its answer.
fn talk(session: &str, question: &str, reply: &str) -> Vec<Value> {
    let [asked, answered] = ["a", "b"].map(|id| format!("{id}-{session}"));
    vec![
        header(session, 4),
        user(&asked, None, 1, question),
        answer(&answered, &asked, 2, reply),
    ]
}

fn jsonl(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// What is put away of a session that rests.
fn cold(session: &str, events: &[Value]) -> Vec<u8> {
    let mut lines =
        vec![json!({"kind": "header", "version": 1, "sessionId": session, "generation": "g"})];
    for (seq, event) in events.iter().enumerate() {
        lines.push(json!({"kind": "event", "row": {"seq": seq, "event_json": event.to_string(), "created_at": BEGIN}}));
        lines.push(json!({"kind": "fts", "row": {"text": "scratchword", "message_id": null, "role": null, "timestamp": null}}));
    }
    zstd::encode_all(jsonl(&lines).as_bytes(), 3).unwrap()
}

/// A folder of OpenClaw's agents, and who writes the database of the first.
struct Claw {
    place: tempfile::TempDir,
    writer: Option<Connection>,
    now: i64,
}

impl Claw {
    /// Without a database.
    fn of_files() -> Claw {
        Claw {
            place: tempfile::tempdir().unwrap(),
            writer: None,
            now: BEGIN,
        }
    }

    fn new() -> Claw {
        let mut claw = Claw::of_files();
        claw.open("main", SCHEMA);
        claw
    }

    fn database(&self, agent: &str) -> PathBuf {
        self.agents()
            .join(agent)
            .join("agent/openclaw-agent.sqlite")
    }

    fn open(&mut self, agent: &str, schema: &str) {
        let file = self.database(agent);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let writer = Connection::open(file).unwrap();
        writer
            .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
            .unwrap();
        writer.execute_batch("PRAGMA foreign_keys = 1").unwrap();
        writer.execute_batch(schema).unwrap();
        self.writer = Some(writer);
    }

    fn agents(&self) -> PathBuf {
        self.place.path().join("agents")
    }

    fn file(&self, below: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.agents().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn run(&self, sql: &str) {
        self.writer.as_ref().unwrap().execute_batch(sql).unwrap();
    }

    fn execute(&self, sql: &str, values: impl rusqlite::Params) {
        self.writer.as_ref().unwrap().execute(sql, values).unwrap();
    }

    /// A session under a key, which is the one that the key has from here on.
    fn session(&mut self, key: &str, session: &str, events: &[Value]) {
        self.now += 60_000;
        let entry =
            json!({"sessionId": session, "skillsSnapshot": {"prompt": "promptword of all skills"}})
                .to_string();
        self.execute(
            "INSERT INTO session_nodes (session_key, current_session_id, entry_json, updated_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET current_session_id = ?2, entry_json = ?3, updated_at = ?4",
            params![key, session, entry, self.now],
        );
        self.execute(
            "INSERT INTO session_windows (session_id, session_key, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)",
            params![session, key, self.now],
        );
        for event in events {
            self.append(session, event);
        }
    }

    fn append(&mut self, session: &str, event: &Value) {
        self.now += 1000;
        self.execute(
            "INSERT INTO transcript_events (session_id, seq, event_json, created_at)
             VALUES (?1, (SELECT coalesce(max(seq) + 1, 0) FROM transcript_events WHERE session_id = ?1), ?2, ?3)",
            params![session, event.to_string(), self.now],
        );
        self.execute(
            "UPDATE session_windows SET updated_at = ?2 WHERE session_id = ?1",
            params![session, self.now],
        );
    }

    /// Store a row compressed, as newer ones are.
    fn pack(&self, session: &str, seq: i64) {
        let writer = self.writer.as_ref().unwrap();
        let select = "SELECT event_json FROM transcript_events WHERE session_id = ?1 AND seq = ?2";
        let text: String = writer
            .query_row(select, params![session, seq], |row| row.get(0))
            .unwrap();
        self.execute(
            "UPDATE transcript_events SET event_json = NULL, event_zstd = ?3, event_utf8_bytes = ?4, navigation_json = '{}'
             WHERE session_id = ?1 AND seq = ?2",
            params![session, seq, zstd::encode_all(text.as_bytes(), 3).unwrap(), text.len() as i64],
        );
    }

    fn stands_at(&self, session: &str, leaf: &str) {
        self.execute(
            "INSERT OR REPLACE INTO session_transcript_index_state VALUES (?1, 0, ?2, 0, ?3)",
            params![session, leaf, self.now],
        );
    }

    /// As the agent does on a deletion, or a reset: the rows go, one compressed text stays.
    fn put_away(&self, session: &str, reason: &str, events: &[Value]) {
        let name = format!("{session}.jsonl.{reason}.2026-01-05T10-00-00.000Z.g1.zst");
        let text = jsonl(events);
        self.execute(
            "INSERT INTO session_transcript_archives VALUES (?1, 'g1', ?2, ?3, 'zstd', ?4, ?5, ?6, NULL)",
            params![session, KEY, reason, zstd::encode_all(text.trim_end().as_bytes(), 3).unwrap(), name, self.now],
        );
        self.execute(
            "DELETE FROM session_windows WHERE session_id = ?1",
            [session],
        );
    }

    fn config(&self) -> Config {
        let root = root("openclaw", "openclaw", &self.agents());
        Config::new(self.place.path().join("index"), vec![root])
    }

    fn index(&self) -> Index {
        let config = self.config();
        Indexer::open(&config).unwrap().sync().unwrap();
        Index::open(&config, Freshness::AsCommitted).unwrap()
    }

    /// The index is what one made from scratch would be.
    fn check(&self, when: &str) -> Index {
        let index = self.index();
        let scratch = tempfile::tempdir().unwrap();
        let expected = fresh(&self.config(), scratch.path());
        same(&dump(&index), &dump(&expected), when);
        clean(&index, when);
        index
    }
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn by_id<'r>(rows: &'r [SessionRow], id: &str) -> &'r SessionRow {
    rows.iter().find(|row| row.id == id).unwrap()
}

fn counted(index: &Index) -> Vec<Value> {
    let query = "SELECT count(*), sum(total), sum(cost_total) FROM usage WHERE reasoning = 5";
    sql(index, query).remove(0)
}

/// A store with lines of every type, in rows and in a file.
pub fn every_line(look: &mut dyn FnMut(&str, &Index)) {
    let mut claw = Claw::new();
    let at = |type_of: &str, id: &str, more: Value| {
        let mut line =
            json!({"type": type_of, "id": id, "parentId": "b-s1", "timestamp": time(BEGIN)});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line
    };
    let mut lines = talk("s1", "Where is the walrus?", "On the ice.");
    let call = json!({"role": "assistant", "provider": "stub", "model": "m1", "content": [{"type": "toolCall", "id": "t1",
        "name": "read", "arguments": {"path": "/code/a.rs"}}]});
    let result = json!({"role": "toolResult", "toolCallId": "t1", "toolName": "read", "isError": true,
        "content": [{"type": "text", "text": "No such file."}]});
    let task = json!({"role": "user", "content": "[cron:1 daily] Count the walruses."});
    lines.extend([
        event("c", Some("b-s1"), 3, call),
        event("d", Some("c"), 4, result),
        event("e", Some("d"), 5, task),
        at("model_change", "f", json!({"provider": "stub", "modelId": "m2"})),
        at("thinking_level_change", "g", json!({"thinkingLevel": "high"})),
        at("custom", "h", json!({"customType": "model-snapshot", "data": {"n": 1}})),
        at("custom_message", "i", json!({"customType": "openclaw.runtime-context", "content": "It is late.", "display": false})),
        at("compaction", "j", json!({"summary": "Walruses were counted.", "firstKeptEntryId": "d", "tokensBefore": 9})),
        at("label", "k", json!({"targetId": "b-s1", "label": "Ice"})),
        at("leaf", "n", json!({"targetId": "k"})),
        at("session_info", "l", json!({"name": "Birds and beasts"})),
        at("of a later version", "m", json!({"text": "lynx"})),
    ]);
    claw.session(KEY, "s1", &lines);
    claw.stands_at("s1", "b-s1");
    claw.run("INSERT INTO transcript_rewrite_watermarks VALUES ('s1', 'g1', 1)");
    claw.run("UPDATE session_nodes SET label = 'Tusks'");
    claw.run("UPDATE session_windows SET display_name = 'Tusks in winter'");
    claw.session(
        "agent:main:other",
        "s2",
        &talk("s2", "Where is the heron?", "On the roof."),
    );
    claw.put_away(
        "s2",
        "deleted",
        &talk("s2", "Where is the heron?", "On the roof."),
    );
    look("made by tests/openclaw.rs", &claw.index());
}

#[test]
fn rows_are_the_entries_of_their_session() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    claw.run("INSERT INTO trajectory_runtime_events VALUES ('s1', 0, 'r', '{\"text\":\"telemetryword\"}', 1)");
    let index = claw.check("at first");
    let row = only(&index);
    assert_eq!(row.path, claw.database("main").join("s1"));
    assert_eq!(
        (row.id.as_str(), row.title.as_str()),
        ("s1", "Where is the walrus?")
    );
    assert_eq!(
        (row.message_count, row.tokens, row.cost),
        (2, Some(130), Some(0.25))
    );
    assert_eq!(row.modified_ms, Some(claw.now));
    assert_eq!(branches(&index, &row).0, ids(&["a-s1", "b-s1"]));
    assert_eq!(classes_of(&index, "walrus"), [Prose]);
    for word in ["promptword", "telemetryword"] {
        assert_eq!(hits(&index, word), 0, "{word}");
    }
    let named = "SELECT row FROM entries WHERE id = 'b-s1'";
    assert_eq!(sql(&index, named), [[json!("transcript_events:2")]]);
    let raw = "SELECT raw(entry) FROM entries WHERE id = 'b-s1'";
    assert!(sql(&index, raw)[0][0].to_string().contains("On the ice."));
    let argv: Vec<String> = row.resume.unwrap().argv;
    assert_eq!(argv, ["openclaw", "tui", "--session", KEY]);
    // One more turn, and a name.
    claw.append("s1", &user("c", Some("b-s1"), 3, "And the heron?"));
    let index = claw.check("a turn later");
    assert_eq!(hits(&index, "heron"), 1);
    claw.run("UPDATE session_nodes SET label = 'Birds and beasts'");
    assert_eq!(only(&claw.check("named")).title, "Birds and beasts");
    claw.run("UPDATE session_nodes SET display_name = 'Of the ice'");
    assert_eq!(only(&claw.check("named again")).title, "Of the ice");
    claw.run("UPDATE session_nodes SET archived_at = 7");
    let row = rows(&claw.check("archived")).remove(0);
    assert_eq!(row.reason.as_deref(), Some("archived"));
    assert_eq!(row.resume, None);
}

#[test]
fn json_and_zstd_rows_mixed() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    let before = dump(&claw.check("json"));
    claw.pack("s1", 1);
    let index = claw.check("mixed");
    same(&dump(&index), &before, "what was packed says the same");
    assert_eq!(hits(&index, "walrus"), 1);
    claw.append("s1", &user("c", Some("b-s1"), 3, "And the heron?"));
    claw.pack("s1", 3);
    claw.pack("s1", 0);
    let index = claw.check("more of them");
    assert_eq!((hits(&index, "walrus"), hits(&index, "heron")), (1, 1));
    let raw = "SELECT raw(entry) FROM entries WHERE id = 'c'";
    assert!(sql(&index, raw)[0][0].to_string().contains("heron"));
    assert_eq!(only(&index).problems, 0);
}

#[test]
fn rows_that_cannot_be_read_are_problems() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    claw.pack("s1", 1);
    let problems = |index: &Index| sql(index, "SELECT reason FROM problems ORDER BY start");
    for (damage, why) in [
        ("event_utf8_bytes = event_utf8_bytes + 1", "shorter"),
        ("event_utf8_bytes = 3", "longer"),
        ("event_utf8_bytes = 1 << 60", "no line of more than 64 MiB"),
        (
            "event_zstd = x'28b52ffd00'",
            "transcript_events:1 cannot be read",
        ),
        ("event_zstd = NULL", "it has no text"),
    ] {
        claw.run(&format!("UPDATE transcript_events SET {damage} WHERE seq = 1; UPDATE session_windows SET updated_at = updated_at + 1000"));
        let index = claw.check(damage);
        let said = problems(&index);
        let reason = said[0][0].as_str().unwrap();
        assert!(
            reason.contains(why) && reason.contains("restore the database"),
            "{reason}"
        );
        // The others are read.
        assert_eq!(
            (said.len(), hits(&index, "ice"), only(&index).problems),
            (1, 1, 1),
            "{damage}"
        );
    }
    claw.run("UPDATE transcript_events SET event_json = '{\"type\":\"mess' WHERE seq = 1; UPDATE session_windows SET updated_at = updated_at + 1000");
    let index = claw.check("torn");
    assert_eq!((problems(&index).len(), hits(&index, "ice")), (1, 1));
}

#[test]
fn fixture_without_the_new_columns() {
    let mut claw = Claw::of_files();
    claw.open("main", OLDER);
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    let index = claw.check("older");
    let row = only(&index);
    assert_eq!(
        (row.title.as_str(), row.entries),
        ("Where is the walrus?", 5)
    );
    claw.append("s1", &user("c", Some("b-s1"), 3, "And the heron?"));
    assert_eq!(hits(&claw.check("a turn later"), "heron"), 1);
    // The version that follows adds what it needs.
    claw.run("ALTER TABLE transcript_events ADD COLUMN event_zstd BLOB; ALTER TABLE transcript_events ADD COLUMN event_utf8_bytes INTEGER");
    assert_eq!(hits(&claw.check("brought up to date"), "heron"), 1);
}

#[test]
fn header_version_4_and_3() {
    let mut claw = Claw::new();
    for (session, version) in [("s3", 3), ("s4", 4)] {
        let mut events = talk(session, "Where is the walrus?", "On the ice.");
        events[0] = header(session, version);
        claw.session(&format!("agent:main:{session}"), session, &events);
    }
    let index = claw.check("both");
    let versions = "SELECT id, version FROM sessions ORDER BY id";
    let expected = [[json!("s3"), json!(3)], [json!("s4"), json!(4)]];
    assert_eq!(sql(&index, versions), expected);
    for row in rows(&index) {
        assert!(row.listed_by_agent, "{row:?}");
        assert_eq!(branches(&index, &row).0.len(), 2);
        assert_eq!(row.cwd, "/home/ada/.openclaw/workspace");
    }
}

#[test]
fn cold_archive() {
    let name = format!("{}.jsonl.zst", "ab".repeat(32));
    for storage in ["sqlite", "file"] {
        let mut claw = Claw::new();
        let events = talk("s1", "Where is the walrus?", "On the ice.");
        claw.session(KEY, "s1", &events);
        let before = rows(&claw.check("hot")).remove(0);
        let text = cold("s1", &events);
        let blob = (storage == "sqlite").then(|| text.clone());
        let file = claw.agents().join("main/sessions/cold").join(&name);
        if blob.is_none() {
            claw.file(&format!("main/sessions/cold/{name}"), &text);
        }
        claw.execute(
            "INSERT INTO session_transcript_cold_archives VALUES ('s1', 'g', ?1, 3, 5, ?2, ?3)",
            params![name, storage, blob],
        );
        claw.run("DELETE FROM transcript_events");
        let index = claw.check("cold");
        let row = only(&index);
        assert_eq!((row.entries, row.tokens), (before.entries, before.tokens));
        assert_eq!(
            (hits(&index, "walrus"), hits(&index, "scratchword")),
            (1, 0)
        );
        let raw = "SELECT raw(entry) FROM entries WHERE id = 'b-s1'";
        assert!(sql(&index, raw)[0][0].to_string().contains("On the ice."));
        assert_eq!(branches(&index, &row).0, ids(&["a-s1", "b-s1"]));
        if storage == "sqlite" {
            continue;
        }
        fs::remove_file(&file).unwrap();
        claw.run("UPDATE session_windows SET updated_at = updated_at + 1000");
        let index = claw.check("its file is gone");
        let why = sql(&index, "SELECT reason FROM problems")[0][0].to_string();
        assert!(why.contains(&name) && why.contains("restore it"), "{why}");
        assert_eq!(only(&index).problems, 1);
        // It is restored, which changes nothing in the database: that is not looked at again by
        // itself.
        std::thread::sleep(std::time::Duration::from_millis(100));
        claw.index();
        fs::write(&file, &text).unwrap();
        let index = claw.check("its file is restored");
        assert_eq!((only(&index).problems, hits(&index, "walrus")), (0, 1));
        fs::remove_file(&file).unwrap();
        assert_eq!(only(&claw.check("it is gone again")).problems, 1);
    }
}

#[test]
fn deleted_session_found_in_archives_marked() {
    let mut claw = Claw::new();
    let events = talk("s1", "Where is the walrus?", "On the ice.");
    claw.session(KEY, "s1", &events);
    claw.check("there");
    claw.put_away("s1", "deleted", &events);
    let index = claw.check("deleted");
    let all = rows(&index);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].reason.as_deref(), Some("deleted"));
    assert_eq!((all[0].id.as_str(), all[0].resume.is_none()), ("s1", true));
    assert_eq!((hits(&index, "walrus"), all[0].tokens), (1, Some(130)));
    let raw = "SELECT raw(entry) FROM entries WHERE id = 'a-s1'";
    assert!(sql(&index, raw)[0][0].to_string().contains("walrus"));
    // What was rewritten before it was deleted again is there twice.
    let mut later = events.clone();
    later.push(user("c", Some("b-s1"), 3, "And the heron?"));
    claw.execute(
        "INSERT INTO session_transcript_archives VALUES ('s1', 'g2', ?1, 'deleted', 'identity', ?2, 's1.jsonl.deleted.later', ?3, NULL)",
        params![KEY, jsonl(&later).into_bytes(), claw.now + 5],
    );
    let index = claw.check("deleted twice");
    assert_eq!((hits(&index, "walrus"), hits(&index, "heron")), (1, 1));
    assert_eq!(rows(&index).len(), 1);
    // Then it publishes a file of it.
    let name = "main/sessions/s1.jsonl.deleted.2026-01-05T10-00-00.000Z.g1.zst";
    claw.file(
        name,
        zstd::encode_all(jsonl(&events).as_bytes(), 3).unwrap(),
    );
    let index = claw.check("published");
    assert_eq!((rows(&index).len(), hits_once(&index, "walrus")), (1, 1));
    assert_eq!(counted(&index), [json!(1), json!(130), json!(0.25)]);
    // The file stays when the database forgets it, as its limit of bytes makes it.
    claw.run("DELETE FROM session_transcript_archives");
    let index = claw.check("forgotten");
    assert_eq!(
        (rows(&index)[0].reason.as_deref(), hits(&index, "walrus")),
        (Some("deleted"), 1)
    );
    fs::remove_file(claw.agents().join(name)).unwrap();
    assert!(rows(&claw.check("gone")).is_empty());
}

#[test]
fn reset_chain_of_three_windows_under_one_key() {
    let mut claw = Claw::new();
    let mut before = None;
    for session in ["s1", "s2", "s3"] {
        claw.session(
            KEY,
            session,
            &talk(session, &format!("Question of {session}"), "Answer."),
        );
        claw.execute(
            "UPDATE session_windows SET previous_session_id = ?2, reason = ?3 WHERE session_id = ?1",
            params![session, before, before.map_or("initial", |_| "reset")],
        );
        before = Some(session);
        claw.check(session);
    }
    let index = claw.index();
    assert_eq!(only(&index).id, "s3");
    let all = rows(&index);
    assert_eq!(all.len(), 3);
    for id in ["s1", "s2"] {
        let row = by_id(&all, id);
        assert_eq!(row.reason.as_deref(), Some("another session followed it"));
        assert_eq!(row.title, format!("Question of {id}"));
    }
    let chain = "SELECT id, json_extract(own, '$.session_key'), json_extract(own, '$.previous_session_id') FROM sessions ORDER BY id";
    let previous = [Value::Null, json!("s1"), json!("s2")];
    let expected: Vec<_> = ["s1", "s2", "s3"].iter().zip(previous).collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(id, before)| vec![json!(id), json!(KEY), before])
        .collect();
    assert_eq!(sql(&index, chain), expected);
    // A turn of the last is no reason to read the others.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut indexer = Indexer::open(&claw.config()).unwrap();
    indexer.sync().unwrap();
    claw.append("s3", &user("c", Some("b-s3"), 3, "And the heron?"));
    claw.run("UPDATE session_nodes SET updated_at = updated_at + 9, last_activity_at = 5");
    let report = indexer.sync().unwrap();
    assert_eq!(report.files_changed, 1);
}

#[test]
fn leaf_by_index_state_after_a_rewind() {
    let mut claw = Claw::new();
    let mut events = talk("s1", "Where is the walrus?", "On the ice.");
    events.push(user("c", Some("b-s1"), 3, "And the heron?"));
    events.push(answer("d", "c", 4, "In the reeds."));
    claw.session(KEY, "s1", &events);
    claw.stands_at("s1", "d");
    let index = claw.check("before");
    assert_eq!(
        branches(&index, &only(&index)).0,
        ids(&["a-s1", "b-s1", "c", "d"])
    );
    claw.stands_at("s1", "b-s1");
    let index = claw.check("rewound");
    let row = only(&index);
    let (active, beside) = branches(&index, &row);
    assert_eq!((active, beside), (ids(&["a-s1", "b-s1"]), ids(&["c", "d"])));
    let said: Vec<String> = transcript(&index, &row, false)
        .into_iter()
        .map(|entry| entry.0)
        .collect();
    assert_eq!(said, ids(&["a-s1", "b-s1"]));
    assert_eq!(
        (hits(&index, "reeds"), hits(&index, "reeds is:branch")),
        (1, 1)
    );
    // An index that has to be made anew says nothing.
    claw.run("UPDATE session_transcript_index_state SET needs_rebuild = 1");
    let index = claw.check("to be made anew");
    assert_eq!(branches(&index, &only(&index)).0.len(), 4);
}

/// A session is found by what its key is called, and not by what the one is that started it.
#[test]
fn names_in_rows_are_found() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    let sub = "agent:main:subagent:1";
    claw.session(sub, "s2", &talk("s2", "Count them.", "Five."));
    claw.run(&format!("UPDATE session_nodes SET display_name = 'Quokka lagoon', label = 'Wombat' WHERE session_key = '{KEY}'"));
    claw.run(&format!(
        "UPDATE session_nodes SET spawned_by = '{KEY}' WHERE session_key = '{sub}'"
    ));
    claw.run(&format!(
        "UPDATE session_windows SET spawned_by = '{KEY}' WHERE session_key = '{sub}'"
    ));
    let index = claw.check("named");
    for name in ["\"quokka lagoon\"", "wombat"] {
        let answer = index.search(name, &SearchScope::default()).unwrap();
        let found: Vec<&str> = answer.sessions.iter().map(|one| &*one.session.id).collect();
        assert_eq!((answer.total, &found[..]), (1, &["s1"][..]), "{name}");
        // It is on no branch, and in a preview it stands above what was said.
        let (row, hit) = (&answer.sessions[0].session, &answer.sessions[0].hits[0]);
        let snapshot = index.snapshot().unwrap();
        let branch = snapshot.branch(row, Some(&hit.entry)).unwrap();
        assert_eq!((branch.focus(), branch.len()), (Some(0), 3), "{name}");
        let tree = snapshot.tree(row, TreeFilter::All).unwrap();
        let shown: Vec<&str> = tree.entries.iter().map(|entry| &*entry.id).collect();
        assert_eq!(shown, ["a-s1", "b-s1"], "{name}");
    }
}

#[test]
fn generation_changed_no_doubled_entries() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    claw.run("INSERT INTO transcript_rewrite_watermarks VALUES ('s1', 'aa', 1)");
    let before = only(&claw.check("before")).entries;
    let rewritten = answer("b-s1", "a-s1", 2, "On the floe.").to_string();
    claw.execute(
        "UPDATE transcript_events SET event_json = ?1 WHERE session_id = 's1' AND seq = 2",
        [rewritten],
    );
    claw.run("UPDATE transcript_rewrite_watermarks SET generation = 'bb'");
    let index = claw.check("rewritten");
    assert_eq!((hits(&index, "ice"), hits(&index, "floe")), (0, 1));
    assert_eq!(
        (only(&index).entries, only(&index).tokens),
        (before, Some(130))
    );
}

#[test]
fn old_jsonl_beside_the_database_same_ids_listed_once() {
    let mut claw = Claw::new();
    let mut events = talk("s1", "Where is the walrus?", "On the ice.");
    events[0] = header("s1", 3);
    // First there is the file alone.
    claw.file("main/sessions/s1.jsonl", jsonl(&events));
    let index = claw.check("the file");
    let row = only(&index);
    assert_eq!(
        (row.id.as_str(), row.title.as_str()),
        ("s1", "Where is the walrus?")
    );
    assert_eq!(row.resume, None, "its key is not known");
    // It is imported, and the talk goes on in the database.
    claw.session(KEY, "s1", &events);
    claw.append("s1", &user("c", Some("b-s1"), 3, "And the heron?"));
    let both = claw.check("both");
    // Then it is put away.
    let imported = "main/session-sqlite-import-archive/s1.jsonl";
    fs::create_dir_all(claw.agents().join(imported).parent().unwrap()).unwrap();
    fs::rename(
        claw.agents().join("main/sessions/s1.jsonl"),
        claw.agents().join(imported),
    )
    .unwrap();
    for index in [both, claw.check("put away")] {
        assert_eq!(rows(&index).len(), 1);
        let row = only(&index);
        assert_eq!(row.path, claw.database("main").join("s1"));
        assert_eq!((row.tokens, row.message_count), (Some(130), 3));
        assert_eq!(
            branches(&index, &row),
            (ids(&["a-s1", "b-s1", "c"]), vec![])
        );
        assert_eq!(
            (hits_once(&index, "walrus"), hits_once(&index, "heron")),
            (1, 1)
        );
        assert_eq!(counted(&index), [json!(1), json!(130), json!(0.25)]);
        assert!(row.resume.is_some());
    }
    // The database is taken away: what was imported is found all the same.
    claw.writer = None;
    fs::remove_file(claw.database("main")).unwrap();
    let index = claw.check("without the database");
    assert_eq!((hits(&index, "walrus"), hits(&index, "heron")), (1, 0));
}

#[test]
fn trajectory_lock_sqlite_checkpoints_bak_no_sessions() {
    let mut claw = Claw::of_files();
    let events = talk("s1", "Where is the walrus?", "On the ice.");
    let telemetry =
        "{\"traceSchema\":1,\"type\":\"context.compiled\",\"text\":\"telemetryword\"}\n";
    claw.file("main/sessions/s1.jsonl", jsonl(&events));
    claw.file("main/sessions/s1.trajectory.jsonl", telemetry);
    claw.file(
        "main/sessions/s1.trajectory.jsonl.deleted.2026-01-05T10-00-00.000Z",
        telemetry,
    );
    let names = json!({KEY: {"sessionId": "s1"}}).to_string();
    claw.file("main/sessions/sessions.json", &names);
    claw.file("main/sessions/sessions.json.bak.1", "{}");
    for copy in [
        "s1.checkpoint.8d1c0a52.jsonl",
        "s1.jsonl.bak-12-34",
        "s1.bak-12-34.jsonl",
    ] {
        claw.file(&format!("main/sessions/{copy}"), jsonl(&events[..2]));
    }
    for lock in ["generation-lock", "generation-writer", "reindex-lock"] {
        claw.file(
            &format!("main/agent/openclaw-agent.sqlite.{lock}.sqlite"),
            "SQLite format 3\0",
        );
    }
    claw.file("main/agent/codex-home/sessions/x.jsonl", telemetry);
    claw.file("main/sessions/s9.jsonl.lock", "");
    let index = claw.check("all of them");
    let row = only(&index);
    assert_eq!((rows(&index).len(), row.problems), (1, 0));
    assert!(
        row.path.ends_with("main/sessions/s1.jsonl"),
        "{:?}",
        row.path
    );
    assert_eq!(
        (hits_once(&index, "walrus"), hits(&index, "telemetryword")),
        (1, 0)
    );
    assert_eq!(branches(&index, &row), (ids(&["a-s1", "b-s1"]), vec![]));
    assert_eq!(
        (row.message_count, counted(&index)),
        (2, vec![json!(1), json!(130), json!(0.25)])
    );
    assert!(sql(&index, "SELECT reason FROM problems WHERE what = 'unread'").is_empty());
    // Of a session whose file is gone a copy is left.
    fs::remove_file(claw.agents().join("main/sessions/s1.jsonl")).unwrap();
    let index = claw.check("a copy is left");
    let row = rows(&index).remove(0);
    assert_eq!(row.reason.as_deref(), Some("a copy made before a change"));
    assert_eq!(hits_once(&index, "walrus"), 1);
    claw.now += 1;
}

#[test]
fn title_without_sender_wrapper() {
    let wrapped = "Sender (untrusted metadata):\n```json\n{\"label\": \"ada senderword\"}\n```\n\n[Fri 2026-04-10 11:02 GMT+1] Where is the walrus?";
    let context = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nActive contextword sessions\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
    let mut claw = Claw::new();
    let yielded = json!({"type": "custom_message", "customType": "openclaw.runtime-context", "content": "runtimeword", "display": false, "id": "f", "parentId": "e", "timestamp": time(BEGIN + 9000)});
    claw.session(
        KEY,
        "s1",
        &[
            header("s1", 4),
            user(
                "z",
                None,
                0,
                "A new session was started via /new or /reset. Greet the user.",
            ),
            user("a", Some("z"), 1, context),
            user("b", Some("a"), 2, "[cron:7d1c morning] Read the cronword"),
            user("c", Some("b"), 3, wrapped),
            user("d", Some("c"), 4, &format!("{context}\n\nAnd the heron?")),
            user("e", Some("d"), 5, "[draft] (not metadata): stays"),
            yielded,
        ],
    );
    let index = claw.check("wrapped");
    let row = only(&index);
    assert_eq!(row.title, "Where is the walrus?");
    let roles =
        "SELECT id, role FROM entries WHERE id IN ('a','b','c','d','e','f','z') ORDER BY id";
    let injected = |id: &str| {
        [
            json!(id),
            json!(if "abfz".contains(id) {
                "injected"
            } else {
                "user"
            }),
        ]
    };
    assert_eq!(
        sql(&index, roles),
        ["a", "b", "c", "d", "e", "f", "z"].map(injected)
    );
    for (query, found) in [
        ("walrus role:user", 1),
        ("heron role:user", 1),
        ("draft role:user", 1),
        ("cronword role:injected", 1),
        ("runtimeword role:injected", 1),
        ("cronword role:user", 0),
    ] {
        assert_eq!(hits(&index, query), found, "{query}");
    }
    assert_eq!(classes_of(&index, "senderword"), [Output]);
    assert_eq!(classes_of(&index, "walrus"), [Prose]);
    // Nobody typed anything: its key is all that is known.
    claw.session(
        "agent:main:cron:7d1c",
        "s2",
        &[
            header("s2", 4),
            user("k", None, 1, "[cron:7d1c morning] Read it"),
        ],
    );
    let all = rows(&claw.check("of a task"));
    assert_eq!(by_id(&all, "s2").title, "agent:main:cron:7d1c");
}

#[test]
fn two_agents_with_the_same_session_id() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    claw.open("ops", SCHEMA);
    claw.session(
        "agent:ops:main",
        "s1",
        &talk("other", "Where is the heron?", "In the reeds."),
    );
    claw.file(
        "third/sessions/s1.jsonl",
        jsonl(&talk("third", "Where is the owl?", "In the barn.")),
    );
    let index = claw.check("three");
    let mut titles: Vec<String> = rows(&index).into_iter().map(|row| row.title).collect();
    titles.sort();
    assert_eq!(
        titles,
        [
            "Where is the heron?",
            "Where is the owl?",
            "Where is the walrus?"
        ]
    );
    assert!(
        rows(&index)
            .iter()
            .all(|row| row.id == "s1" && row.listed_by_agent)
    );
}

#[test]
fn header_less_live_file_of_the_file_era() {
    let claw = Claw::of_files();
    let mut text = jsonl(&talk("s1", "Where is the walrus?", "On the ice.")[1..]);
    text.push_str("{\"type\":\"mess");
    claw.file("main/sessions/s1.jsonl", &text);
    let index = claw.check("without a header");
    let row = only(&index);
    assert_eq!(
        (row.id.as_str(), row.title.as_str()),
        ("s1", "Where is the walrus?")
    );
    assert_eq!(
        (row.message_count, row.tokens, row.problems),
        (2, Some(130), 1)
    );
    assert_eq!(branches(&index, &row).0, ids(&["a-s1", "b-s1"]));
}

#[test]
fn sessions_json_names_files() {
    let claw = Claw::of_files();
    let names = json!({
        KEY: {"sessionId": "s1", "displayName": "Of the ice", "skillsSnapshot": {"prompt": "promptword"}},
        "agent:main:main:old": {"sessionId": 7},
        "agent:main:subagent:9": {"sessionId": "s2", "spawnedBy": KEY},
    });
    claw.file("main/sessions/sessions.json", names.to_string());
    for session in ["s1", "s2", "s3"] {
        let events = talk(session, "Where is the walrus?", "On the ice.");
        claw.file(&format!("main/sessions/{session}.jsonl"), jsonl(&events));
    }
    let index = claw.check("named");
    let all = rows(&index);
    let row = by_id(&all, "s1");
    assert_eq!(
        (row.title.as_str(), row.listed_by_agent),
        ("Of the ice", true)
    );
    let argv = &row.resume.as_ref().unwrap().argv;
    assert_eq!(*argv, ["openclaw", "tui", "--session", KEY]);
    let reason = |id: &str| by_id(&all, id).reason.as_deref();
    assert_eq!(reason("s2"), Some("a subagent's session"));
    assert_eq!(row.subagents, 1);
    let parent = "SELECT parent_session FROM sessions WHERE id = 's2'";
    assert_eq!(sql(&index, parent), [[json!("s1")]]);
    assert_eq!(reason("s3"), Some("no key leads to it any more"));
    assert_eq!(hits(&index, "promptword"), 0);
    // A reset gives the key to another session, and puts the old one away.
    let old = claw.agents().join("main/sessions/s1.jsonl");
    let new = json!({KEY: {"sessionId": "s4", "displayName": "Of the ice"}});
    claw.file("main/sessions/sessions.json", new.to_string());
    fs::rename(
        &old,
        old.with_file_name("s1.jsonl.reset.2026-01-05T10-00-00.000Z"),
    )
    .unwrap();
    fs::remove_file(old.with_file_name("s2.jsonl")).unwrap();
    claw.file(
        "main/sessions/s4.jsonl",
        jsonl(&talk("s4", "And the heron?", "In the reeds.")),
    );
    let index = claw.check("reset");
    assert_eq!(only(&index).id, "s4");
    assert_eq!(by_id(&rows(&index), "s1").reason.as_deref(), Some("reset"));
    // What is no JSON names nothing, and hides nothing that was named.
    claw.file("main/sessions/sessions.json", "{");
    let more = jsonl(&talk("s4", "And the heron?", "In the reeds."))
        + &jsonl(&[user("c", Some("b-s4"), 3, "Why?")]);
    claw.file("main/sessions/s4.jsonl", more);
    assert_eq!(only(&claw.index()).id, "s4");
}

/// An index that was there before knows no more than one that is made later.
#[test]
fn sessions_json_that_is_gone_says_nothing() {
    let claw = Claw::of_files();
    let names = json!({
        KEY: {"sessionId": "s1", "displayName": "Of the ice"},
        "agent:main:subagent:9": {"sessionId": "s2", "spawnedBy": KEY},
    });
    let names = names.to_string();
    let file = claw.file("main/sessions/sessions.json", &names);
    for session in ["s1", "s2"] {
        let events = talk(session, "Where is the walrus?", "On the ice.");
        claw.file(&format!("main/sessions/{session}.jsonl"), jsonl(&events));
    }
    let said = |index: &Index| {
        let parent = "SELECT parent_session FROM sessions WHERE id = 's2'";
        let title = by_id(&rows(index), "s1").title.clone();
        (title, sql(index, parent)[0][0].clone())
    };
    let named = ("Of the ice".to_owned(), json!("s1"));
    assert_eq!(said(&claw.check("named")), named);
    // One that is half written hides nothing that was named.
    claw.file("main/sessions/sessions.json", &names[..names.len() - 4]);
    assert_eq!(said(&claw.index()), named);
    fs::remove_file(&file).unwrap();
    let nameless = ("Where is the walrus?".to_owned(), Value::Null);
    assert_eq!(said(&claw.check("gone")), nameless);
    claw.file("main/sessions/sessions.json", &names);
    assert_eq!(said(&claw.check("back")), named);
}

/// An index that was there before the reset knows no more of it than one that is made later.
#[test]
fn after_a_reset_a_subagent_is_not_given_to_the_session_that_followed() {
    let claw = Claw::of_files();
    let sub = "agent:main:subagent:9";
    let names = |main: &str| {
        let of_sub = json!({"sessionId": "s2", "spawnedBy": KEY});
        json!({KEY: {"sessionId": main}, sub: of_sub}).to_string()
    };
    claw.file("main/sessions/sessions.json", names("s1"));
    for session in ["s1", "s2"] {
        let events = talk(session, "Where is the walrus?", "On the ice.");
        claw.file(&format!("main/sessions/{session}.jsonl"), jsonl(&events));
    }
    let parent = "SELECT parent_session FROM sessions WHERE id = 's2'";
    assert_eq!(sql(&claw.check("at first"), parent), [[json!("s1")]]);
    let old = claw.agents().join("main/sessions/s1.jsonl");
    let put_away = old.with_file_name("s1.jsonl.reset.2026-01-05T10-00-00.000Z");
    fs::rename(&old, put_away).unwrap();
    claw.file("main/sessions/sessions.json", names("s4"));
    let mut events = talk("s4", "And the heron?", "In the reeds.");
    events[0]["timestamp"] = json!(time(BEGIN + 60_000));
    claw.file("main/sessions/s4.jsonl", jsonl(&events));
    let index = claw.check("reset");
    assert_eq!(sql(&index, parent), [[Value::Null]]);
    let reason = by_id(&rows(&index), "s2").reason.clone();
    assert_eq!(reason.as_deref(), Some("a subagent's session"));
}

/// An index knows the one that started a subagent by its header.
#[test]
fn a_long_header_behind_an_empty_line_is_one() {
    let claw = Claw::of_files();
    let of_sub = json!({"sessionId": "s2", "spawnedBy": KEY});
    let names = json!({KEY: {"sessionId": "s1"}, "agent:main:subagent:9": of_sub});
    claw.file("main/sessions/sessions.json", names.to_string());
    let mut events = talk("s1", "Where is the walrus?", "On the ice.");
    events[0]["cwd"] = json!(format!("/{}", "ice/".repeat(5_000)));
    let parent = "SELECT parent_session FROM sessions WHERE id = 's2'";
    claw.file(
        "main/sessions/s2.jsonl",
        jsonl(&talk("s2", "Look.", "I do.")),
    );
    for before in ["", "\n", " \r\n\n"] {
        claw.file(
            "main/sessions/s1.jsonl",
            before.to_owned() + &jsonl(&events),
        );
        let index = claw.check("of a long header");
        assert_eq!(sql(&index, parent), [[json!("s1")]], "{before:?}");
    }
    events[0]["cwd"] = json!("/ice");
    claw.file("main/sessions/s1.jsonl", format!("\n{}", jsonl(&events)));
    let index = claw.check("behind an empty line");
    assert_eq!(sql(&index, parent), [[json!("s1")]]);
}

/// OpenClaw makes a name of the first message itself.
#[test]
fn a_name_made_of_the_first_message_is_no_title() {
    let mut claw = Claw::new();
    let event = "System: [2026-01-20 09:59:00 UTC] Node: Mac connected to the lagoon";
    let asked = format!("{event}\n\nWhere is the walrus?");
    claw.session(KEY, "s1", &talk("s1", &asked, "On the ice."));
    let called = "SELECT name FROM sessions";
    for table in ["session_windows", "session_nodes"] {
        let name = "System: [2026-01-20 09:59:00 UTC] Node: Mac connected to…";
        claw.run(&format!("UPDATE {table} SET display_name = '{name}'"));
        let index = claw.check(table);
        assert_eq!(only(&index).title, "Where is the walrus?", "{table}");
        assert_eq!(sql(&index, called), [[Value::Null]], "{table}");
    }
    claw.run("UPDATE session_nodes SET display_name = 'Of the ice'");
    assert_eq!(only(&claw.check("named")).title, "Of the ice");
}

/// An empty file has nothing that is still to be read, however it is called.
#[test]
fn an_empty_file_with_a_name_is_read() {
    let claw = Claw::of_files();
    let names = json!({KEY: {"sessionId": "s1", "displayName": "Of the ice"}});
    claw.file("main/sessions/sessions.json", names.to_string());
    claw.file("main/sessions/s1.jsonl", "");
    let row = by_id(&rows(&claw.check("empty")), "s1").clone();
    assert_eq!(
        (row.title.as_str(), row.entries, row.bytes),
        ("Of the ice", 0, 0)
    );
    assert!(!row.not_read_yet);
}

/// One file names all sessions, and each is read with what it says then.
#[test]
fn sessions_json_of_many_sessions() {
    let claw = Claw::of_files();
    let mut names = serde_json::Map::new();
    for number in 0..40 {
        let session = format!("s{number}");
        let events = talk(&session, "Where is the walrus?", "On the ice.");
        claw.file(&format!("main/sessions/{session}.jsonl"), jsonl(&events));
        claw.file(&format!("other/sessions/{session}.jsonl"), jsonl(&events));
        let name = json!({"sessionId": session, "displayName": format!("Of ice floe {number}")});
        names.insert(format!("agent:main:{number}"), name);
    }
    claw.file("main/sessions/sessions.json", json!(names).to_string());
    let index = claw.check("all");
    let rows = rows(&index);
    assert_eq!(rows.len(), 80);
    for row in rows {
        let is_main = row.path.to_string_lossy().contains("main/sessions");
        let number = row.id.trim_start_matches('s');
        let wanted = match is_main {
            true => format!("Of ice floe {number}"),
            false => "Where is the walrus?".to_owned(),
        };
        assert_eq!((row.title, row.listed_by_agent), (wanted, true));
    }
    // With a line more each is read again, with the name of now.
    names.insert(
        "agent:main:7".to_owned(),
        json!({"sessionId": "s7", "displayName": "Of the reeds"}),
    );
    claw.file("main/sessions/sessions.json", json!(names).to_string());
    let mut events = talk("s7", "Where is the walrus?", "On the ice.");
    events.push(user("c", Some("b-s7"), 3, "Why?"));
    claw.file("main/sessions/s7.jsonl", jsonl(&events));
    let index = claw.check("one more line");
    let titles = sql(
        &index,
        "SELECT title FROM sessions WHERE id = 's7' ORDER BY title",
    );
    assert_eq!(titles[0][0], json!("Of the reeds"));
}

/// Nobody waits at a fifo or reads a device, and neither a session nor its name is lost by them.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    use std::os::unix::fs::symlink;
    let mut claw = Claw::new();
    let fifo = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    let live = claw.file(
        "main/sessions/s9.jsonl",
        jsonl(&talk("s9", "Where is the puffin?", "On the cliff.")),
    );
    let names = json!({KEY: {"sessionId": "s9", "displayName": "Of the cliff"}});
    let names = claw.file("main/sessions/sessions.json", names.to_string());
    let names_of_now = |claw: &Claw| by_id(&rows(&claw.index()), "s9").title.clone();
    assert_eq!(names_of_now(&claw), "Of the cliff");
    fs::remove_file(&names).unwrap();
    fifo(&names);
    let mut events = talk("s9", "Where is the puffin?", "On the cliff.");
    events.push(user("c", Some("b-s9"), 3, "Why?"));
    fs::write(&live, jsonl(&events)).unwrap();
    assert_eq!(names_of_now(&claw), "Of the cliff");
    fs::remove_file(&live).unwrap();
    fs::remove_file(&names).unwrap();

    let name = format!("{}.jsonl.zst", "ab".repeat(32));
    let events = talk("s1", "Where is the walrus?", "On the ice.");
    claw.session(KEY, "s1", &events);
    let row =
        "INSERT INTO session_transcript_cold_archives VALUES ('s1', 'g', ?1, 3, 5, 'file', NULL)";
    claw.execute(row, params![name]);
    claw.run("DELETE FROM transcript_events");
    let elsewhere = claw.place.path().join("elsewhere");
    fs::write(&elsewhere, cold("s1", &events)).unwrap();
    let file = claw.agents().join("main/sessions/cold").join(&name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let put: [(&str, &dyn Fn()); 4] = [
        ("fifo", &|| fifo(&file)),
        ("folder", &|| fs::create_dir(&file).unwrap()),
        ("device", &|| symlink("/dev/zero", &file).unwrap()),
        ("link", &|| symlink(&elsewhere, &file).unwrap()),
    ];
    for (what, put) in put {
        put();
        claw.run("UPDATE session_windows SET updated_at = updated_at + 1000");
        let index = claw.check(what);
        assert_eq!(hits(&index, "walrus"), 0, "{what}");
        let why = sql(&index, "SELECT reason FROM problems")[0][0].to_string();
        assert!(why.contains(&name), "{what}: {why}");
        let is_folder = file.symlink_metadata().unwrap().is_dir();
        match is_folder {
            true => fs::remove_dir(&file).unwrap(),
            false => fs::remove_file(&file).unwrap(),
        }
    }
}

/// What the agent does to its files when a session is reset and when it is deleted.
#[test]
fn files_that_are_reset_and_deleted_are_marked() {
    let claw = Claw::of_files();
    let events = talk("s1", "Where is the walrus?", "On the ice.");
    let live = claw.file("main/sessions/s1.jsonl", jsonl(&events));
    assert!(only(&claw.check("live")).listed_by_agent);
    for reason in ["reset", "deleted"] {
        let name = format!("s1.jsonl.{reason}.2026-01-05T10-00-00.000Z");
        let put_away = live.with_file_name(name);
        fs::rename(&live, &put_away).unwrap();
        let index = claw.check(reason);
        let row = rows(&index).remove(0);
        assert_eq!(row.reason.as_deref(), Some(reason));
        assert_eq!(
            (row.id.as_str(), row.tokens, hits(&index, "walrus")),
            ("s1", Some(130), 1)
        );
        assert_eq!(branches(&index, &row).0, ids(&["a-s1", "b-s1"]));
        fs::rename(put_away, &live).unwrap();
    }
    assert!(only(&claw.check("restored")).listed_by_agent);
}

#[test]
fn subagents_and_forks_name_their_origin() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    let key = "agent:main:subagent:9";
    claw.session(key, "s2", &talk("s2", "Count the tusks", "Two."));
    claw.execute(
        "UPDATE session_windows SET spawned_by = ?2 WHERE session_key = ?1",
        params![key, KEY],
    );
    claw.session(
        "agent:main:fork",
        "s3",
        &talk("s3", "Where is the walrus?", "On the ice."),
    );
    claw.run("UPDATE session_nodes SET fork_source_session_id = 's1', fork_source_entry_id = 'a-s1' WHERE session_key = 'agent:main:fork'");
    let index = claw.check("all");
    let all = rows(&index);
    let child = by_id(&all, "s2");
    assert_eq!(child.reason.as_deref(), Some("a subagent's session"));
    assert_eq!(by_id(&all, "s1").subagents, 1);
    let parents =
        "SELECT id, parent_session, is_subagent FROM sessions WHERE id <> 's1' ORDER BY id";
    let expected = [
        [json!("s2"), json!("s1"), json!(1)],
        [json!("s3"), json!("s1"), json!(0)],
    ];
    assert_eq!(sql(&index, parents), expected);
    // The row of the key above is one of its rows.
    let above = "SELECT raw(entry) FROM entries WHERE row = 'session_nodes:agent:main:main' AND session = (SELECT session FROM sessions WHERE id = 's2')";
    assert!(
        sql(&index, above)[0][0]
            .to_string()
            .contains("agent:main:main")
    );
    // Its key alone says who started it, as of what was brought up to a newer version.
    claw.run("UPDATE session_windows SET spawned_by = NULL");
    claw.execute(
        "UPDATE session_nodes SET spawned_by = ?2 WHERE session_key = ?1",
        params![key, KEY],
    );
    let index = claw.check("said of the key");
    assert_eq!(sql(&index, parents), expected);
    // What the agent above said is nothing that a person typed.
    assert_eq!(
        (
            hits(&index, "tusks role:user"),
            hits(&index, "tusks role:injected")
        ),
        (0, 1)
    );
}

/// What began as a copy has pi's header, in files and in rows that were imported from them.
#[test]
fn headers_name_the_origin_of_a_fork() {
    let mut claw = Claw::new();
    let origin = talk("s1", "Where is the walrus?", "On the ice.");
    claw.session(KEY, "s1", &origin);
    claw.file("ops/sessions/s1.jsonl", jsonl(&origin));
    let database = claw.database("main");
    for (session, named) in [
        (
            "s2",
            "/home/ada/.openclaw/agents/main/sessions/s1.jsonl".to_owned(),
        ),
        ("s3", format!("sqlite:main:s1:{}", database.display())),
        ("s4", "s1".to_owned()),
    ] {
        let mut events = origin.clone();
        events[0] = header(session, 3);
        events[0]["parentSession"] = json!(named);
        events.push(user("c", Some("b-s1"), 3, "And the heron?"));
        claw.session(&format!("{KEY}:thread:{session}"), session, &events);
        claw.file(&format!("ops/sessions/{session}.jsonl"), jsonl(&events));
    }
    let index = claw.check("forks");
    let forks = "SELECT c.id, p.id, f.relation FROM forks f JOIN sessions c USING (session) JOIN sessions p ON p.session = f.parent
                 WHERE (c.path LIKE '%/ops/%') = (p.path LIKE '%/ops/%') ORDER BY c.id";
    let fork = |id: &str| vec![json!(id), json!("s1"), json!("fork")];
    let expected = ["s2", "s2", "s3", "s3", "s4", "s4"].map(fork);
    assert_eq!(sql(&index, forks), expected);
}

/// What was said from a message on is written again beside it, as where a tool's result was
/// shortened. With ids of the provider, and without.
#[test]
fn what_is_written_anew_counts_once() {
    for has_ids in [true, false] {
        let mut claw = Claw::new();
        let mut call = answer("b2", "b-s1", 3, "Reading.");
        call["message"]["content"] = json!([{"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "/code/a.rs"}}]);
        let result = json!({"role": "toolResult", "toolCallId": "t1", "toolName": "read", "isError": true, "timestamp": BEGIN + 4000,
            "content": [{"type": "text", "text": "No such file."}]});
        let mut events = talk("s1", "Where is the walrus?", "On the ice.");
        events.extend([
            call,
            event("c", Some("b2"), 4, result),
            answer("d", "c", 5, "It is gone."),
            user("e", Some("d"), 6, "And the heron?"),
            answer("f", "e", 7, "In the reeds."),
        ]);
        for event in events.iter_mut().filter(|_| !has_ids) {
            event["message"]["responseId"].take();
        }
        claw.session(KEY, "s1", &events);
        claw.stands_at("s1", "f");
        let said = |index: &Index| {
            let row = by_id(&rows(index), "s1").clone();
            let tools = "SELECT tool, calls, errors FROM tools";
            let errors = "SELECT errors FROM sessions WHERE id = 's1'";
            let (tools, errors) = (sql(index, tools), sql(index, errors));
            let sums = (row.tokens, row.cost, row.message_count);
            (sums, counted(index), tools, errors)
        };
        let before = said(&claw.check("before"));
        assert_eq!(before.0, (Some(520), Some(1.0), 7));
        let (mut last, mut written) = ("b2".to_owned(), Vec::new());
        for (at, event) in events[4..].iter().enumerate() {
            let mut anew = event.clone();
            let id = format!("anew-{}", event["id"].as_str().unwrap());
            anew["id"] = json!(id);
            anew["parentId"] = json!(last);
            anew["timestamp"] = json!(time(BEGIN + 60_000 + at as i64));
            anew["appendMode"] = json!("side");
            if at == 0 {
                anew["message"]["content"][0]["text"] = json!("[truncated]");
            }
            claw.append("s1", &anew);
            written.push(anew);
            last = id;
        }
        let leaf = json!({"type": "leaf", "id": "l", "parentId": last, "timestamp": time(BEGIN + 61_000), "targetId": last});
        claw.append("s1", &leaf);
        let branch = ids(&["a-s1", "b-s1", "b2", "anew-c", "anew-d", "anew-e", "anew-f"]);
        for standing in ["DELETE FROM session_transcript_index_state", ""] {
            claw.run(standing);
            let index = claw.check("written anew");
            assert_eq!(said(&index), before, "{has_ids}");
            assert_eq!(branches(&index, &only(&index)).0, branch);
            claw.stands_at("s1", &last);
        }
        // A fork has what was written anew alone.
        let mut fork: Vec<Value> = events[1..4].to_vec();
        fork.extend(written);
        fork.insert(0, header("s2", 4));
        claw.session("agent:main:fork", "s2", &fork);
        let index = claw.check("forked");
        assert_eq!(said(&index), before, "{has_ids}");
        let tokens = "SELECT tokens, messages FROM sessions WHERE id = 's2'";
        assert_eq!(sql(&index, tokens), [[json!(520), json!(7)]]);
    }
}

/// Where no row says it, a line does: in rows, in what is put away and in files.
#[test]
fn leaf_lines_say_where_a_session_stands() {
    let taken_back = |session: &str| {
        let mut events = talk(session, "Where is the walrus?", "On the ice.");
        let [last, heron, reeds] = ["b", "c", "d"].map(|id| format!("{id}-{session}"));
        events.push(user(&heron, Some(&last), 3, "And the heron?"));
        events.push(answer(&reeds, &heron, 4, "In the reeds."));
        events.push(json!({"type": "leaf", "id": format!("l-{session}"), "parentId": reeds, "timestamp": time(BEGIN + 5000), "targetId": last}));
        events
    };
    let mut claw = Claw::new();
    claw.session(KEY, "s1", &taken_back("s1"));
    claw.stands_at("s1", "b-s1");
    claw.run("UPDATE session_transcript_index_state SET needs_rebuild = 1");
    claw.session("agent:main:two", "s2", &taken_back("s2"));
    claw.put_away("s2", "deleted", &taken_back("s2"));
    claw.file("main/sessions/s3.jsonl", jsonl(&taken_back("s3")));
    claw.file(
        "main/sessions/s3.jsonl.bak-1-2",
        jsonl(&taken_back("s3")[..5]),
    );
    let index = claw.check("taken back");
    for session in ["s1", "s2", "s3"] {
        let row = by_id(&rows(&index), session).clone();
        let of = |ids: &[&str]| {
            ids.iter()
                .map(|id| format!("{id}-{session}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(branches(&index, &row), (of(&["a", "b"]), of(&["c", "d"])));
    }
    assert_eq!(hits(&index, "heron is:branch"), 3);
    // The talk goes on, from what the line names and from the line; a copy of what was is no part
    // of it.
    let mut on = taken_back("s3");
    on.push(user("e-s3", Some("b-s3"), 6, "And the seal?"));
    claw.file("main/sessions/s3.jsonl", jsonl(&on));
    claw.file(
        "main/session-sqlite-import-archive/s1.jsonl",
        jsonl(&taken_back("s1")),
    );
    claw.append("s1", &user("e-s1", Some("l-s1"), 6, "And the seal?"));
    let index = claw.check("and on");
    for session in ["s1", "s3"] {
        let row = by_id(&rows(&index), session).clone();
        let of = |ids: &[&str]| {
            ids.iter()
                .map(|id| format!("{id}-{session}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            branches(&index, &row),
            (of(&["a", "b", "e"]), of(&["c", "d"])),
            "{session}"
        );
    }
}

#[test]
fn what_no_model_said_is_not_counted() {
    let mut claw = Claw::new();
    let mut events = talk("s1", "Where is the walrus?", "On the ice.");
    let mut mirrored = answer("c", "b-s1", 3, "mirrorword");
    mirrored["message"]["model"] = json!("delivery-mirror");
    mirrored["message"]["provider"] = json!("openclaw");
    events.push(mirrored);
    claw.session(KEY, "s1", &events);
    let index = claw.check("mirrored");
    let row = only(&index);
    assert_eq!((row.model.as_deref(), row.tokens), (Some("m1"), Some(130)));
    assert_eq!(
        (hits(&index, "mirrorword"), counted(&index)[0].clone()),
        (1, json!(1))
    );
}

fn history(seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut log = Vec::new();
    let mut claw = Claw::new();
    let config = claw.config();
    let mut indexer = Indexer::open(&config).unwrap();
    // Sessions that are there, each with what its rows say.
    let mut there: Vec<(String, Vec<Value>)> = Vec::new();
    for made in 0..rng.random_range(20..60) {
        let at = (!there.is_empty()).then(|| rng.random_range(0..there.len()));
        match (rng.random_range(0..14), at) {
            (0 | 1, _) => {
                let id = format!("s{made}");
                log.push(format!("session {id}"));
                let events = talk(&id, "Where is the walrus?", &format!("Answer {made}."));
                let key = format!("agent:main:{}", rng.random_range(0..3));
                claw.session(&key, &id, &events);
                there.push((id, events));
            }
            (2..5, Some(at)) => {
                let (id, events) = &mut there[at];
                log.push(format!("a turn of {id}"));
                let parent = events[rng.random_range(1..events.len())]["id"].clone();
                let event = user(
                    &format!("t{made}"),
                    parent.as_str(),
                    made,
                    &"heron ".repeat(rng.random_range(1..900)),
                );
                claw.append(id, &event);
                events.push(event);
            }
            (5, Some(at)) => {
                let (id, events) = &there[at];
                let seq = rng.random_range(0..events.len());
                let select = "SELECT event_json IS NOT NULL FROM transcript_events WHERE session_id = ?1 AND seq = ?2";
                let writer = claw.writer.as_ref().unwrap();
                let is_plain =
                    writer.query_row(select, params![id, seq as i64], |row| row.get::<_, bool>(0));
                if is_plain == Ok(true) {
                    log.push(format!("row {seq} of {id} is packed"));
                    claw.pack(id, seq as i64);
                }
            }
            (6, Some(at)) => {
                let (id, events) = &there[at];
                let leaf = events[rng.random_range(1..events.len())]["id"]
                    .as_str()
                    .unwrap();
                log.push(format!("{id} stands at {leaf}"));
                claw.stands_at(id, leaf);
            }
            (7, Some(at)) => {
                let (id, events) = &mut there[at];
                log.push(format!("{id} is rewritten"));
                events.truncate(3);
                claw.now += 1000;
                claw.execute(
                    "DELETE FROM transcript_events WHERE session_id = ?1 AND seq > 2",
                    [&*id],
                );
                claw.execute(
                    "INSERT OR REPLACE INTO transcript_rewrite_watermarks VALUES (?1, ?2, 1)",
                    params![&*id, made.to_string()],
                );
            }
            (8, Some(at)) => {
                let (id, events) = there.swap_remove(at);
                let reason = ["deleted", "reset"][rng.random_range(0..2)];
                log.push(format!("{id} is {reason}"));
                claw.put_away(&id, reason, &events);
                if rng.random_ratio(1, 2) {
                    claw.file(
                        &format!("main/sessions/{id}.jsonl.{reason}.2026-01-05T10-00-00.000Z"),
                        jsonl(&events),
                    );
                }
            }
            (9, Some(at)) => {
                let (id, events) = there.swap_remove(at);
                log.push(format!("{id} rests"));
                let name = format!("{made:064}.jsonl.zst");
                claw.execute(
                    "INSERT INTO session_transcript_cold_archives VALUES (?1, 'g', ?2, 3, 5, 'sqlite', ?3)",
                    params![id, name, cold(&id, &events)],
                );
                claw.execute("DELETE FROM transcript_events WHERE session_id = ?1", [id]);
            }
            (10, Some(at)) => {
                let (id, events) = &there[at];
                log.push(format!("a file of {id}"));
                let end = rng.random_range(1..=events.len());
                let name = [
                    "sessions/{}.jsonl",
                    "session-sqlite-import-archive/{}.jsonl",
                    "sessions/{}.checkpoint.1.jsonl",
                ];
                let name = name[rng.random_range(0..3)].replace("{}", id);
                claw.file(&format!("main/{name}"), jsonl(&events[..end]));
            }
            (11, _) => {
                log.push("sync".into());
                indexer.sync().unwrap();
            }
            (12, _) => {
                log.push("a hint".into());
                indexer.sync_files(&[claw.database("main")]).unwrap();
            }
            _ => {
                let left = rng.random_range(0..8);
                log.push(format!("a sync stopped at event {left}"));
                indexer = sync_stopped_at(left, indexer, &config);
            }
        }
    }
    drop(indexer);
    let checked = catch_unwind(AssertUnwindSafe(|| claw.check("after the history")));
    if let Err(why) = checked {
        eprintln!("seed {seed} failed after:\n  {}", log.join("\n  "));
        resume_unwind(why);
    }
    log
}

#[test]
fn a_history_of_rows_and_files_leaves_the_index_that_its_end_would_make() {
    let seeds = std::env::var("SESSIONARY_DATABASES").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        history(seed);
    }
}

/// Another process that writes as the Gateway does, and ends at the first refusal.
const WRITER: &str = r#"
import sqlite3, sys, time, json
path, turns = sys.argv[1], int(sys.argv[2])
db = sqlite3.connect(path, timeout=0, isolation_level=None)
assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
for turn in range(turns):
    now = int(time.time() * 1000)
    event = {"type": "message", "id": "w%d" % turn, "parentId": "b-s1" if turn == 0 else "w%d" % (turn - 1),
             "timestamp": "2026-01-05T09:00:00.000Z", "message": {"role": "user", "content": "written %d" % turn}}
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s1', (SELECT max(seq) + 1 FROM transcript_events WHERE session_id = 's1'), ?, ?)", (json.dumps(event), now))
    db.execute("UPDATE session_windows SET updated_at = ?, transcript_updated_at = ? WHERE session_id = 's1'", (now, now))
    db.execute("COMMIT")
    if turn % 50 == 49:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    time.sleep(0.001)
db.close()
"#;

#[test]
fn gateway_writing_while_we_read() {
    let mut claw = Claw::new();
    claw.session(
        KEY,
        "s1",
        &talk("s1", "Where is the walrus?", "On the ice."),
    );
    claw.writer = None;
    let file = claw.database("main");
    let folder = file.parent().unwrap();
    let mut writer = Command::new("python3");
    writer.args(["-c", WRITER, file.to_str().unwrap(), "200"]);
    let writer = writer.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let Ok(mut writer) = writer else {
        eprintln!("skipped: no python3");
        return;
    };
    let (mut looks, mut indexer) = (0, Indexer::open(&claw.config()).unwrap());
    while writer.try_wait().unwrap().is_none() {
        indexer.sync().unwrap();
        looks += 1;
        for name in fs::read_dir(folder).unwrap() {
            let name = name.unwrap().file_name().into_string().unwrap();
            let end = name.strip_prefix("openclaw-agent.sqlite");
            assert!(matches!(end, Some("" | "-wal" | "-shm")), "{name}");
        }
    }
    let end = writer.wait_with_output().unwrap();
    assert!(
        end.status.success(),
        "{}",
        String::from_utf8_lossy(&end.stderr)
    );
    assert!(looks > 1, "{looks}");
    drop(indexer);
    let index = claw.check("written");
    let found = index.search("written", &SearchScope::default()).unwrap();
    assert_eq!(found.total, 200);
    assert_eq!(branches(&index, &only(&index)).0.len(), 202);
}

#[test]
fn openclaw_is_a_format_with_its_places() {
    let agent = sessionary::format::agent_called("openclaw").unwrap();
    assert_eq!(
        (agent.dir_default, agent.sessions),
        (".openclaw", &["agents"][..])
    );
    assert_eq!(agent.dir_variables, ["OPENCLAW_STATE_DIR"]);
    assert!(
        FORMATS
            .iter()
            .any(|format| format.about().name == agent.format)
    );
    // It is no longer told as one that is not read.
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".openclaw/agents/main/sessions/s1.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "{}\n").unwrap();
    let environment = Environment {
        home: Some(home.path().to_path_buf()),
        data_dir: None,
        var: &|_| None,
        cwd: home.path().to_path_buf(),
        read_settings: true,
    };
    assert_eq!(not_read(&environment, &[]), []);
}
