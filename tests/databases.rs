//! Agents' databases: does the index say what their rows say, whatever is done to them, and does
//! the agent notice?

#[path = "databases/turns.rs"]
mod turns;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, params};
use sessionary::index::{ListScope, SearchScope};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::{clean, dump, fresh, root, same};
use crate::histories::sync_stopped_at;

/// The tables of OpenCode 1.x, as far as sessions need them.
const SCHEMA: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL,
        title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
        time_archived INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL REFERENCES message(id) ON DELETE CASCADE,
        session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE INDEX message_session ON message (session_id, time_created, id);
    CREATE INDEX part_message ON part (message_id, id);
    CREATE INDEX part_session ON part (session_id);";
const SEQUENCE: &str =
    "CREATE TABLE event_sequence (aggregate_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);";

/// A folder of OpenCode's, and who writes its database.
pub struct Store {
    pub place: tempfile::TempDir,
    pub writer: Option<Connection>,
    /// The agent's clock, in ms: long ago, so that no row is too young to be certain.
    pub now: i64,
    has_sequence: bool,
}

impl Store {
    pub fn new(has_sequence: bool, mode: &str) -> Store {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("agent")).unwrap();
        let mut store = Store {
            place,
            writer: None,
            now: 1_767_600_000_000,
            has_sequence,
        };
        store.open();
        store.mode(mode);
        store.run(SCHEMA);
        if has_sequence {
            store.run(SEQUENCE);
        }
        store
    }

    pub fn folder(&self) -> PathBuf {
        self.place.path().join("agent")
    }

    pub fn file(&self) -> PathBuf {
        self.folder().join("opencode.db")
    }

    pub fn config(&self) -> Config {
        let roots = vec![root("opencode", "opencode", &self.folder())];
        Config::new(self.place.path().join("index"), roots)
    }

    fn open(&mut self) {
        let writer = Connection::open(self.file()).unwrap();
        writer.execute_batch("PRAGMA foreign_keys = 1").unwrap();
        self.writer = Some(writer);
    }

    pub fn writer(&self) -> &Connection {
        self.writer.as_ref().unwrap()
    }

    fn mode(&self, mode: &str) {
        let mode = format!("PRAGMA journal_mode = {mode}");
        self.writer().query_row(&mode, [], |_| Ok(())).unwrap();
    }

    pub fn run(&self, sql: &str) {
        self.writer().execute_batch(sql).unwrap();
    }

    /// A copy of the database as it is now.
    pub fn backup(&self) -> PathBuf {
        let backup = self.place.path().join("backup.db");
        self.run(&format!("VACUUM INTO '{}'", backup.display()));
        backup
    }

    /// Put a copy in the place of the database, in whose mode it is opened again.
    pub fn restore(&mut self, backup: &Path) {
        let mode = "PRAGMA journal_mode";
        let mode: String = self.writer().query_row(mode, [], |row| row.get(0)).unwrap();
        self.writer = None;
        fs::copy(backup, self.file()).unwrap();
        self.open();
        self.mode(&mode);
    }

    pub fn tick(&mut self) -> i64 {
        self.now += 7;
        self.now
    }

    /// As OpenCode does with every change.
    pub fn note(&self, session: &str) {
        if self.has_sequence {
            let note =
                "INSERT INTO event_sequence VALUES (?1, 0) ON CONFLICT DO UPDATE SET seq = seq + 1";
            self.writer().execute(note, [session]).unwrap();
        }
    }

    pub fn session(&mut self, id: &str, title: &str) {
        let now = self.tick();
        let insert = "INSERT INTO session (id, project_id, directory, title, version, time_created, time_updated)
            VALUES (?1, 'p', '/code/parser', ?2, '1.18.33', ?3, ?3)";
        self.writer()
            .execute(insert, params![id, title, now])
            .unwrap();
        self.note(id);
    }

    pub fn message(&mut self, session: &str, id: &str, role: &str) {
        let now = self.tick();
        let data = match role {
            "user" => format!(r#"{{"role":"user","time":{{"created":{now}}}}}"#),
            role => format!(
                r#"{{"role":"{role}","modelID":"m1","providerID":"stub","cost":0.25,"tokens":{{"total":130,"input":80,"output":25,"reasoning":5,"cache":{{"read":20,"write":0}}}},"time":{{"created":{now},"completed":{}}}}}"#,
                now + 3
            ),
        };
        let insert = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        self.writer()
            .execute(insert, params![id, session, now, data])
            .unwrap();
        self.note(session);
    }

    pub fn part(&mut self, session: &str, message: &str, id: &str, data: &str) {
        let now = self.tick();
        let insert = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
        let values = params![id, message, session, now, data];
        self.writer().execute(insert, values).unwrap();
        self.note(session);
    }

    pub fn text(&mut self, session: &str, message: &str, id: &str, text: &str) {
        let data = format!(r#"{{"type":"text","text":"{text}"}}"#);
        self.part(session, message, id, &data);
    }

    pub fn update(&mut self, session: &str, part: &str, data: &str) {
        let now = self.tick();
        let update = "UPDATE part SET data = ?2, time_updated = ?3 WHERE id = ?1";
        self.writer()
            .execute(update, params![part, data, now])
            .unwrap();
        self.note(session);
    }

    /// A talk of two messages.
    pub fn talk(&mut self, session: &str, question: &str, answer: &str) {
        self.session(session, "A talk");
        let [user, assistant] = ["msg_1", "msg_2"].map(|id| format!("{id}_{session}"));
        self.message(session, &user, "user");
        self.text(session, &user, &format!("prt_1_{session}"), question);
        self.message(session, &assistant, "assistant");
        self.text(session, &assistant, &format!("prt_2_{session}"), answer);
    }

    pub fn sync(&self) -> Index {
        Indexer::open(&self.config()).unwrap().sync().unwrap();
        self.index()
    }

    pub fn index(&self) -> Index {
        Index::open(&self.config(), Freshness::AsCommitted).unwrap()
    }

    /// The index is what one made from the rows would be.
    pub fn is_followed(&self, when: &str) {
        let index = self.sync();
        let fresh_dir = tempfile::tempdir().unwrap();
        let expected = fresh(&self.config(), fresh_dir.path());
        same(&dump(&index), &dump(&expected), when);
        clean(&index, when);
    }
}

pub fn hits(index: &Index, query: &str) -> u64 {
    let scope = SearchScope {
        exact: true,
        every_copy: true,
        ..SearchScope::default()
    };
    index.search(query, &scope).unwrap().total
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn rows_of_a_session_are_its_entries() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", "They grow.");
    // All of it is in the -wal still.
    assert_eq!(
        names(&store.folder()),
        ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    );
    let index = store.sync();
    let list = index.list(&ListScope::default()).unwrap().sessions;
    let [session] = &list[..] else {
        panic!("{list:?}")
    };
    assert_eq!(session.path, store.file().join("ses_1"));
    assert_eq!(session.title, "A talk");
    assert_eq!((session.entries, session.message_count), (5, 2));
    assert_eq!((session.tokens, session.cost), (Some(130), Some(0.25)));
    assert_eq!(hits(&index, "tusks"), 1);
    assert_eq!(hits(&index, "role:user tusks"), 1);
    assert_eq!(hits(&index, "role:assistant grow"), 1);
    let rows = index
        .sql(
            "SELECT row, start, length, line FROM entries ORDER BY entry",
            &[],
        )
        .unwrap();
    let rows: Vec<String> = rows.rows.iter().map(|row| format!("{row:?}")).collect();
    assert_eq!(rows.len(), 5);
    assert!(
        rows[0].contains("session:ses_1") && rows[0].matches("Null").count() == 3,
        "{rows:?}"
    );
    assert!(rows[2].contains("part:prt_1_ses_1"), "{rows:?}");
    let raw = index
        .sql(
            "SELECT raw(entry) FROM entries WHERE row LIKE 'part:prt_1%'",
            &[],
        )
        .unwrap();
    let raw = format!("{:?}", raw.rows);
    assert!(
        raw.contains("walrus tusks") && raw.contains("role"),
        "{raw}"
    );
    clean(&index, "after a sync");
}

#[test]
fn what_is_done_to_rows_is_followed() {
    for has_sequence in [true, false] {
        let mut store = Store::new(has_sequence, "WAL");
        store.talk("ses_1", "walrus", "first");
        store.talk("ses_2", "heron", "second");
        store.is_followed("at first");
        // A tool row that is completed in place.
        let tool = |status: &str| {
            format!(
                r#"{{"type":"tool","tool":"bash","callID":"c","state":{{"status":"{status}","input":{{"command":"ls"}},"output":"{status} otter"}}}}"#
            )
        };
        store.part("ses_1", "msg_2_ses_1", "prt_3", &tool("running"));
        store.is_followed("a tool runs");
        store.update("ses_1", "prt_3", &tool("completed"));
        store.is_followed("a tool is done");
        assert_eq!(hits(&store.index(), "otter"), 1);
        assert_eq!(hits(&store.index(), "running"), 0);
        store.run("DELETE FROM part WHERE id = 'prt_3'");
        store.note("ses_1");
        store.is_followed("a part is taken back");
        assert_eq!(hits(&store.index(), "otter"), 0);
        store.run("DELETE FROM session WHERE id = 'ses_2'");
        store.is_followed("a session is deleted");
        assert_eq!(hits(&store.index(), "heron"), 0);
        store.run("PRAGMA wal_checkpoint(TRUNCATE)");
        store.is_followed("after a checkpoint");
        store.run("VACUUM");
        store.is_followed("after a vacuum");
        store.writer = None;
        assert_eq!(names(&store.folder()), ["opencode.db"]);
        store.is_followed("the agent has ended");
        assert_eq!(
            names(&store.folder()),
            ["opencode.db"],
            "reading makes no file"
        );
        let before = fs::metadata(store.file()).unwrap().modified().unwrap();
        store.sync();
        assert_eq!(
            fs::metadata(store.file()).unwrap().modified().unwrap(),
            before
        );
        fs::remove_file(store.file()).unwrap();
        store.is_followed("the database is gone");
        assert_eq!(hits(&store.index(), "walrus"), 0);
    }
}

#[test]
fn of_two_layouts_the_second_counts() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus", "as it was");
    store.talk("ses_2", "heron", "in the first alone");
    store.is_followed("the first layout");
    store.run(
        "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, fork_session_id TEXT, directory TEXT, title TEXT,
             time_created INTEGER, time_updated INTEGER);
         CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
             time_updated INTEGER, data TEXT);",
    );
    store.is_followed("tables without a row");
    for (session, fork, word) in [("ses_1", "NULL", "otter"), ("ses_3", "'ses_1'", "lynx")] {
        store.run(&format!(
            "INSERT INTO session_v2 VALUES ('{session}', NULL, {fork}, '/code', NULL, 5, 9);
             INSERT INTO session_message VALUES ('msg_{session}', '{session}', 'user', 0, 6, 6, '{{\"text\":\"{word}\"}}');"
        ));
    }
    store.is_followed("both");
    let index = store.index();
    let found = ["walrus", "heron", "otter", "lynx"].map(|word| hits(&index, word));
    assert_eq!(found, [0, 1, 1, 1]);
    let list = index.list(&ListScope::default()).unwrap().sessions;
    assert_eq!(list.len(), 3);
    // A new database has no tables of the first.
    for table in ["part", "message", "session"] {
        store.run(&format!("DROP TABLE {table}"));
    }
    store.is_followed("the second alone");
    assert_eq!(hits(&store.index(), "heron"), 0);
}

#[test]
fn what_has_not_changed_is_not_read() {
    let mut store = Store::new(true, "WAL");
    for at in 0..20 {
        store.talk(&format!("ses_{at}"), "walrus", "answer");
    }
    store.sync();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut indexer = Indexer::open(&store.config()).unwrap();
    indexer.sync().unwrap();
    let report = indexer.sync().unwrap();
    assert_eq!(
        (report.files_changed, report.bytes_read, report.proof_bytes),
        (0, 0, 0)
    );
    store.text("ses_7", "msg_2_ses_7", "prt_9", "something new");
    let report = indexer.sync().unwrap();
    assert_eq!(report.files_changed, 1, "of twenty sessions one");
    store.text("ses_8", "msg_2_ses_8", "prt_8", "something more");
    let wal = store.folder().join("opencode.db-wal");
    let report = indexer.sync_files(&[wal]).unwrap();
    assert_eq!(report.files_changed, 1, "as the -wal hints");
    drop(indexer);
    assert_eq!(hits(&store.sync(), "something"), 2);
}

/// What is stored of each entry: its key, and by what it stands there.
fn stored(index: &Index) -> Vec<String> {
    let rows = index.sql(
        "SELECT entry, row, kind, role FROM entries ORDER BY entry",
        &[],
    );
    let rows = rows.unwrap().rows;
    rows.iter().map(|row| format!("{row:?}")).collect()
}

#[test]
fn one_message_more_writes_that_message_alone() {
    let mut store = Store::new(true, "WAL");
    store.run("ALTER TABLE session ADD COLUMN cost REAL DEFAULT 0 NOT NULL");
    store.talk("ses_1", "walrus", "answer");
    for at in 0..300 {
        store.message("ses_1", &format!("msg_3{at:03}"), "user");
        let (message, part) = (format!("msg_3{at:03}"), format!("prt_3{at:03}"));
        store.text("ses_1", &message, &part, "a heron stands");
    }
    let before = stored(&store.sync());
    assert_eq!(before.len(), 605);
    // The session's own row changes with it, and becomes longer or shorter.
    for (turn, cost) in ["0.25", "0.123456", "3.5"].iter().enumerate() {
        let (message, part) = (format!("msg_4{turn}"), format!("prt_4{turn}"));
        store.message("ses_1", &message, "user");
        store.text("ses_1", &message, &part, &format!("an otter swims {turn}"));
        store.run(&format!(
            "UPDATE session SET cost = {cost}, time_updated = {} WHERE id = 'ses_1'",
            store.now
        ));
        store.note("ses_1");
        let mut indexer = Indexer::open(&store.config()).unwrap();
        let report = indexer.sync_catalogue(&mut |_| {}).unwrap();
        assert_eq!((report.files_changed, report.entries), (1, 2));
        drop(indexer);
        // Nothing but these two is owed to the words; searches find them nevertheless.
        let index = store.index();
        assert_eq!(index.status().unwrap().outstanding, 2);
        assert_eq!(hits(&index, &format!("\"swims {turn}\"")), 1);
        assert_eq!(hits(&index, "walrus"), 1);
        let now = stored(&index);
        assert_eq!((now.len(), &now[..605]), (607 + 2 * turn, &before[..]));
        drop(index);
        store.is_followed("a message more");
    }
    // What is changed in place is written again with all behind it, and no more.
    store.update("ses_1", "prt_3299", r#"{"type":"text","text":"a lynx"}"#);
    let mut indexer = Indexer::open(&store.config()).unwrap();
    let report = indexer.sync_catalogue(&mut |_| {}).unwrap();
    assert_eq!(report.entries, 7);
    drop(indexer);
    store.is_followed("a part has changed");
    // What the session's row says of all of them is no mere change of the row.
    store.run("UPDATE session SET parent_id = 'ses_0', time_updated = time_updated + 1");
    store.note("ses_1");
    store.is_followed("it is a subagent's");
    assert_eq!(hits(&store.index(), "role:user swims"), 0);
    store.run(r#"UPDATE session SET revert = '{"messageID":"msg_41"}', title = 'Otters'"#);
    store.note("ses_1");
    store.is_followed("something was taken back");
}

/// Bytes that this thread asked of the kernel.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
}

/// Of all sessions one is read, once, and of the words that are owed their own rows.
#[cfg(target_os = "linux")]
#[test]
fn a_search_after_one_message_reads_its_session_once() {
    let mut store = Store::new(true, "WAL");
    store.run("BEGIN");
    for session in ["ses_1", "ses_2", "ses_3"] {
        store.talk(session, "walrus", "answer");
        for at in 0..400 {
            let (message, part) = (
                format!("msg_3{at:03}{session}"),
                format!("prt_3{at:03}{session}"),
            );
            store.message(session, &message, "assistant");
            store.text(session, &message, &part, &"heron ".repeat(1000));
        }
    }
    store.run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    let one = fs::metadata(store.file()).unwrap().len() / 3;
    drop(store.sync());
    // What was written just now is looked at once more.
    std::thread::sleep(std::time::Duration::from_millis(100));
    drop(store.sync());
    let search = |store: &Store, word: &str| {
        let before = bytes_read();
        let index = Index::open(&store.config(), Freshness::Check).unwrap();
        let found = hits(&index, word);
        (found, bytes_read() - before)
    };
    let (found, nothing_new) = search(&store, "otter");
    assert_eq!(found, 0);
    assert!(
        nothing_new < one / 4,
        "{nothing_new} bytes of {one} where nothing has changed"
    );
    store.message("ses_2", "msg_4", "user");
    store.text("ses_2", "msg_4", "prt_4", "an otter");
    let (found, read) = search(&store, "otter");
    assert_eq!(found, 1);
    let more = read - nothing_new;
    assert!(
        more < one + one / 4,
        "{more} bytes more, of a session of {one}"
    );
}

fn history(seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut log = Vec::new();
    let mode = ["WAL", "DELETE", "TRUNCATE"][rng.random_range(0..3)];
    let mut store = Store::new(rng.random_ratio(1, 2), mode);
    store.run("ALTER TABLE session ADD COLUMN cost REAL DEFAULT 0 NOT NULL");
    let config = store.config();
    let mut indexer = Indexer::open(&config).unwrap();
    let mut parts: Vec<(String, String, String)> = Vec::new();
    let (mut sessions, mut made): (Vec<String>, u64) = (Vec::new(), 0);
    // So many that they are listed before they are read.
    if seed % 3 == 2 {
        for at in 0..60 {
            store.talk(&format!("ses_of_{at:02}"), "walrus", "at the beginning");
            sessions.push(format!("ses_of_{at:02}"));
        }
    }
    for _ in 0..rng.random_range(20..60) {
        made += 1;
        match rng.random_range(0..20) {
            16.. if !sessions.is_empty() => {
                let session = &sessions[rng.random_range(0..sessions.len())];
                let change = match rng.random_range(0..8) {
                    0 => format!("title = 'Lynx {made}'"),
                    1 => format!("revert = '{{\"messageID\":\"msg_2_{session}\"}}'"),
                    2 => "parent_id = 'ses_0'".to_owned(),
                    _ => format!("cost = {}", rng.random_range(0..2000) as f64 / 64.0),
                };
                log.push(format!("{session}: {change}"));
                let now = store.tick();
                store.run(&format!(
                    "UPDATE session SET {change}, time_updated = {now} WHERE id = '{session}'"
                ));
                store.note(session);
            }
            0 | 1 => {
                let id = format!("ses_{made}");
                log.push(format!("session {id}"));
                store.talk(&id, "walrus", &format!("answer {made}"));
                parts.push((id.clone(), format!("msg_2_{id}"), format!("prt_2_{id}")));
                sessions.push(id);
            }
            2..5 if !parts.is_empty() => {
                let (session, message, _) = parts[rng.random_range(0..parts.len())].clone();
                let id = format!("prt_{made:04}");
                log.push(format!("part {id} of {session}"));
                let long = "heron ".repeat(rng.random_range(1..2000));
                store.text(&session, &message, &id, &long);
                parts.push((session, message, id));
            }
            5..7 if !parts.is_empty() => {
                let (session, _, id) = parts[rng.random_range(0..parts.len())].clone();
                log.push(format!("update {id}"));
                let data = format!("{{\"type\":\"text\",\n\"text\":\"otter {made}\"}}");
                store.update(&session, &id, &data);
            }
            7 if !parts.is_empty() => {
                let (session, _, id) = parts.swap_remove(rng.random_range(0..parts.len()));
                log.push(format!("delete {id}"));
                store.run(&format!("DELETE FROM part WHERE id = '{id}'"));
                store.note(&session);
            }
            8 if !sessions.is_empty() => {
                let session = sessions.swap_remove(rng.random_range(0..sessions.len()));
                log.push(format!("delete {session}"));
                store.run(&format!("DELETE FROM session WHERE id = '{session}'"));
                parts.retain(|(of, ..)| *of != session);
            }
            9 => {
                let what = [
                    "VACUUM",
                    "PRAGMA wal_checkpoint(TRUNCATE)",
                    "PRAGMA wal_checkpoint(PASSIVE)",
                ];
                let what = what[rng.random_range(0..3)];
                log.push(what.into());
                store.run(what);
            }
            10 => {
                log.push("the agent starts again".into());
                store.writer = None;
                store.open();
            }
            11 => {
                log.push("sync".into());
                indexer.sync().unwrap();
            }
            12 => {
                log.push("a hint".into());
                indexer.sync_files(&[store.file()]).unwrap();
            }
            _ => {
                let left = rng.random_range(0..8);
                log.push(format!("a sync stopped at event {left}"));
                indexer = sync_stopped_at(left, indexer, &config);
            }
        }
    }
    drop(indexer);
    let followed = catch_unwind(AssertUnwindSafe(|| store.is_followed("after the history")));
    if let Err(why) = followed {
        eprintln!("seed {seed} failed after:\n  {}", log.join("\n  "));
        resume_unwind(why);
    }
    log
}

#[test]
fn a_history_of_rows_leaves_the_index_that_its_end_would_make() {
    let seeds = std::env::var("SESSIONARY_DATABASES").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        history(seed);
    }
}

/// Another process that writes as an agent does, and ends at the first refusal.
const WRITER: &str = r#"
import sqlite3, sys, time
path, mode, turns = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(path, timeout=0, isolation_level=None)
assert db.execute("PRAGMA journal_mode = " + mode).fetchone()[0] == mode.lower()
for turn in range(turns):
    now = int(time.time() * 1000)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO part VALUES (?, 'msg_2_ses_1', 'ses_1', ?, ?, ?)",
               ("prt_w%05d" % turn, now, now, '{"type":"text","text":"written %d"}' % turn))
    db.execute("UPDATE session SET time_updated = ? WHERE id = 'ses_1'", (now,))
    db.execute("UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = 'ses_1'")
    db.execute("COMMIT")
    if turn % 50 == 49 and mode == "WAL":
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    time.sleep(0.001)
db.close()
"#;

fn write_beside(store: &Store, mode: &str, turns: usize) -> Option<Child> {
    let mut writer = Command::new("python3");
    let file = store.file();
    writer.args([
        "-c",
        WRITER,
        file.to_str().unwrap(),
        mode,
        &turns.to_string(),
    ]);
    writer
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()
}

#[test]
fn an_agent_that_writes_does_not_notice() {
    for (mode, beside) in [("WAL", &["-wal", "-shm"][..]), ("DELETE", &["-journal"])] {
        let mut store = Store::new(true, mode);
        store.talk("ses_1", "walrus", "answer");
        store.writer = None;
        let mut allowed = vec!["opencode.db".to_owned()];
        allowed.extend(beside.iter().map(|end| format!("opencode.db{end}")));
        let Some(mut writer) = write_beside(&store, mode, 300) else {
            eprintln!("skipped: no python3");
            return;
        };
        let (mut looks, mut indexer) = (0, Indexer::open(&store.config()).unwrap());
        while writer.try_wait().unwrap().is_none() {
            indexer.sync().unwrap();
            looks += 1;
            let there = names(&store.folder());
            assert!(there.iter().all(|name| allowed.contains(name)), "{there:?}");
        }
        let end = writer.wait_with_output().unwrap();
        assert!(
            end.status.success(),
            "{mode}: {}",
            String::from_utf8_lossy(&end.stderr)
        );
        assert!(looks > 1, "{looks}");
        drop(indexer);
        store.is_followed(mode);
        assert_eq!(hits(&store.index(), "written"), 300, "{mode}");
    }
}

#[test]
fn damage_is_told_and_loses_nothing() {
    let mut store = Store::new(true, "DELETE");
    for at in 0..30 {
        store.talk(&format!("ses_{at}"), "walrus", &"answer ".repeat(300));
    }
    store.writer = None;
    assert_eq!(hits(&store.sync(), "walrus"), 30);
    let whole = fs::read(store.file()).unwrap();
    let problem = |index: &Index| {
        let query = "SELECT relative, reason FROM problems WHERE what = 'unread'";
        format!("{:?}", index.sql(query, &[]).unwrap().rows)
    };
    for (what, bytes) in [
        ("cut short", whole[..whole.len() / 2].to_vec()),
        ("not a database", b"not a database at all ".repeat(100)),
    ] {
        fs::write(store.file(), bytes).unwrap();
        let index = store.sync();
        assert!(
            problem(&index).contains("opencode.db"),
            "{what}: {}",
            problem(&index)
        );
        assert_eq!(
            index.list(&ListScope::default()).unwrap().sessions.len(),
            30,
            "{what}"
        );
    }
    fs::write(store.file(), &whole).unwrap();
    let index = store.sync();
    assert_eq!(
        (hits(&index, "walrus"), problem(&index)),
        (30, "[]".to_owned())
    );
    // Another process holds it for itself, in the middle of a change.
    let hold = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\ndb.execute('PRAGMA cache_size = 1')\ndb.execute('BEGIN EXCLUSIVE')\ndb.execute(\"UPDATE part SET data = data || ' '\")\nprint('held', flush=True)\nsys.stdin.read()\n";
    let mut holder = Command::new("python3");
    holder.args(["-c", hold, store.file().to_str().unwrap()]);
    holder.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut holder) = holder.spawn() else {
        eprintln!("skipped: no python3");
        return;
    };
    let mut said = [0; 4];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut said).unwrap();
    let index = store.sync();
    assert!(
        problem(&index).contains("opencode.db"),
        "{}",
        problem(&index)
    );
    let listed = index.list(&ListScope::default()).unwrap().sessions.len();
    assert_eq!(listed, 30, "what is locked is no longer read, and is kept");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    store.is_followed("after the change was undone");
    assert_eq!(problem(&store.index()), "[]");
}
