//! Is what an agent deletes from its database still there, and what a person forgets gone?

use std::fs;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sessionary::index::{ListScope, SearchScope, ShowScope, TreeScope};
use sessionary::model::{Report, SessionRow};
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::archive::{every_block, every_content, is_whole, sync};
use crate::databases::Store;
use crate::histories::sync_stopped_at;
use crate::kept::damage_a_block;
use crate::sandbox::Sandbox;
use crate::watching::watcher::{Watcher, until};

/// The store of an agent with sessions in a database, an index and an archive.
struct ArchivedStore(Store);

impl ArchivedStore {
    fn new() -> ArchivedStore {
        let kept = ArchivedStore(Store::new(true, "WAL"));
        kept.keep(&["opencode".to_owned()]);
        kept
    }

    fn config(&self) -> Config {
        Config {
            archive_dir: Some(self.archive()),
            ..self.0.config()
        }
    }

    fn archive(&self) -> PathBuf {
        self.0.place.path().join("archive")
    }

    fn database(&self) -> Connection {
        Connection::open(self.archive().join("archive.sqlite")).unwrap()
    }

    fn keep(&self, agents: &[String]) {
        let mut indexer = Indexer::open(&self.config()).unwrap();
        indexer.keep(agents).unwrap();
    }

    fn sync(&self) -> Report {
        sync(&self.config())
    }

    fn delete(&self, session: &str) {
        let delete = format!("DELETE FROM session WHERE id = '{session}'");
        self.0.run(&delete);
    }

    fn index(&self) -> Index {
        Index::open(&self.config(), Freshness::Check).unwrap()
    }

    fn list(&self) -> Vec<SessionRow> {
        let scope = ListScope::default();
        self.index().list(&scope).unwrap().sessions
    }

    fn one(&self, id: &str) -> SessionRow {
        let all = self.list();
        let found = all.iter().find(|row| row.id == id);
        found.unwrap_or_else(|| panic!("{all:?}")).clone()
    }

    fn hits(&self, query: &str) -> usize {
        let scope = SearchScope {
            limit: None,
            ..SearchScope::default()
        };
        let found = self.index().search(query, &scope).unwrap();
        found.sessions.iter().map(|group| group.hits.len()).sum()
    }

    fn raw(&self, row: &SessionRow) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.index().copy_raw(row, None, &mut bytes).unwrap();
        bytes
    }

    fn verify(&self) {
        is_whole(&self.config());
    }

    fn blocks(&self) -> String {
        every_block(&self.archive())
    }
}

/// Every state that the versions of a session's rows lead to, by what docs/archive.md says of them.
fn states(versions: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = versions.split_inclusive(|byte| *byte == b'\n');
    let (mut state, mut all): (Vec<&[u8]>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        if !line.starts_with(b"{\"kept\":") {
            state.push(line);
            continue;
        }
        all.push(state.concat());
        let step: Value = serde_json::from_slice(line).unwrap();
        let old = state.clone();
        state.clear();
        let mut at = 0;
        for change in step["changes"].as_array().unwrap() {
            let number = |at: usize| change[at].as_u64().unwrap() as usize;
            state.extend(&old[at..number(0)]);
            state.extend(lines.by_ref().take(number(2)));
            at = number(0) + number(1);
        }
        state.extend(&old[at..]);
    }
    all.push(state.concat());
    all
}

#[test]
fn a_session_that_its_agent_deleted_stays() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.0.talk("ses_2", "heron", "second");
    kept.sync();
    let before = kept.one("ses_2");
    let rows = kept.raw(&before);
    assert!(!before.archived && before.resume.is_some());
    kept.delete("ses_2");
    let gone = kept.one("ses_2");
    assert!(gone.archived && gone.gone_since.is_some());
    assert_eq!(gone.resume, None);
    assert_eq!((&gone.path, &gone.title), (&before.path, &before.title));
    assert_eq!((gone.entries, gone.tokens), (before.entries, before.tokens));
    assert_eq!((kept.hits("heron"), kept.hits("walrus")), (1, 1));
    assert_eq!(kept.raw(&gone), rows);
    let index = kept.index();
    let shown = index.show(&gone, &ShowScope::default()).unwrap();
    assert!(
        serde_json::to_string(&shown.entries)
            .unwrap()
            .contains("heron")
    );
    let tree = index.tree(&gone, TreeScope::default()).unwrap();
    assert!(
        serde_json::to_string(&tree)
            .unwrap()
            .contains("prt_2_ses_2")
    );
    let entry = index
        .ask(|snapshot| snapshot.raw(&gone, Some("prt_1_ses_2")))
        .unwrap();
    assert!(String::from_utf8(entry).unwrap().contains("heron"));
    let sql = "SELECT id, archived, gone_ms IS NOT NULL FROM sessions ORDER BY id";
    let said = serde_json::to_string(&index.sql(sql, &[]).unwrap().rows).unwrap();
    assert_eq!(said, r#"[["ses_1",0,0],["ses_2",1,1]]"#);
    let raw = "SELECT raw(entry) FROM entries WHERE row = 'part:prt_1_ses_2'";
    assert!(format!("{:?}", index.sql(raw, &[]).unwrap().rows).contains("heron"));
    // It is told once, and nothing is to be done for it any more.
    let said = index
        .sql("SELECT what FROM changes WHERE id = 'ses_2'", &[])
        .unwrap();
    let said = serde_json::to_string(&said.rows).unwrap();
    assert_eq!(said.matches("archived").count(), 1, "{said}");
    assert!(!said.contains("gone"), "{said}");
    drop(index);
    kept.verify();
    std::thread::sleep(std::time::Duration::from_millis(50));
    kept.sync();
    assert_eq!(kept.sync().files_changed, 0);
}

/// What was listed and not read is not kept yet; it is once somebody has read it.
#[test]
fn sessions_that_were_listed_first_are_kept_when_they_are_read() {
    let mut kept = ArchivedStore::new();
    for at in 0..60 {
        kept.0.talk(&format!("ses_{at:02}"), "walrus", "They grow.");
    }
    let config = kept.config();
    drop(sync_stopped_at(1, Indexer::open(&config).unwrap(), &config));
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let listed = index.list(&ListScope::default()).unwrap().sessions;
    assert_eq!(listed.len(), 60);
    assert!(listed.iter().all(|row| row.not_read_yet));
    drop(index);
    // This one was never read.
    kept.delete("ses_07");
    kept.sync();
    kept.verify();
    kept.0.run("DELETE FROM session");
    kept.sync();
    kept.verify();
    let all = kept.list();
    assert_eq!((all.len(), kept.hits("grow")), (59, 59));
    assert!(all.iter().all(|row| row.archived && row.entries == 5));
}

#[test]
fn a_rebuilt_index_has_what_only_the_archive_holds() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.0.talk("ses_2", "heron", "second");
    kept.sync();
    kept.delete("ses_2");
    kept.sync();
    let names = || -> Vec<_> {
        let rows = kept.list().into_iter();
        rows.map(|row| (row.id, row.archived, row.entries))
            .collect()
    };
    let before = names();
    assert_eq!(before.len(), 2);
    let mut indexer = Indexer::open(&kept.config()).unwrap();
    indexer.rebuild().unwrap();
    drop(indexer);
    assert_eq!(names(), before);
    kept.verify();
    // By another index, which never saw it; of what is there none is read from the archive.
    fs::remove_dir_all(kept.0.place.path().join("index")).unwrap();
    assert_eq!(names(), before);
    assert_eq!(kept.hits("heron"), 1);
    kept.verify();
}

/// The whole database, or the agent's folder.
#[test]
fn what_goes_with_its_database_stays() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.0.talk("ses_2", "heron", "second");
    kept.sync();
    kept.0.writer = None;
    fs::remove_file(kept.0.file()).unwrap();
    assert!(kept.list().iter().all(|row| row.archived));
    assert_eq!((kept.hits("walrus"), kept.hits("heron")), (1, 1));
    kept.verify();
    fs::remove_dir_all(kept.0.folder()).unwrap();
    fs::remove_dir_all(kept.0.place.path().join("index")).unwrap();
    assert_eq!(kept.list().len(), 2);
    assert_eq!(kept.hits("heron"), 1);
    // What cannot be read is not taken for deleted.
    fs::create_dir(kept.0.folder()).unwrap();
    fs::write(kept.0.file(), "no database ".repeat(100)).unwrap();
    assert_eq!(kept.list().len(), 2);
}

#[test]
fn a_session_that_comes_back_is_the_session_again() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.sync();
    let rows = kept.raw(&kept.one("ses_1"));
    kept.0.run("ATTACH ':memory:' AS aside; CREATE TABLE aside.session AS SELECT * FROM session;
        CREATE TABLE aside.message AS SELECT * FROM message; CREATE TABLE aside.part AS SELECT * FROM part;");
    kept.delete("ses_1");
    assert!(kept.one("ses_1").archived);
    kept.0.run("INSERT INTO session SELECT * FROM aside.session; INSERT INTO message SELECT * FROM aside.message;
        INSERT INTO part SELECT * FROM aside.part;");
    let back = kept.one("ses_1");
    assert!(!back.archived && back.gone_since.is_none() && back.resume.is_some());
    assert_eq!(kept.raw(&back), rows);
    assert_eq!(kept.index().versions(&back).unwrap().len(), 1);
    kept.verify();
}

#[test]
fn every_version_of_a_row_is_kept() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.sync();
    kept.0
        .update("ses_1", "prt_1_ses_1", r#"{"type":"text","text":"otter"}"#);
    kept.sync();
    kept.0.run("DELETE FROM part WHERE id = 'prt_1_ses_1'");
    kept.0
        .update("ses_1", "prt_2_ses_1", r#"{"type":"text","text":"lynx"}"#);
    kept.sync();
    let row = kept.one("ses_1");
    let versions = kept.index().versions(&row).unwrap();
    let lengths: Vec<u64> = versions
        .iter()
        .map(|version| version.content.length)
        .collect();
    let contents = every_content(&kept.database());
    let states = states(contents.last().unwrap());
    let expected: Vec<u64> = states.iter().map(|state| state.len() as u64).collect();
    assert_eq!(lengths, expected);
    assert_eq!(states.last(), Some(&kept.raw(&row)));
    let said: Vec<[bool; 3]> = states
        .iter()
        .map(|state| {
            ["text\":\"walrus", "otter", "lynx"]
                .map(|word| String::from_utf8_lossy(state).contains(word))
        })
        .collect();
    assert_eq!(
        said,
        [
            [true, false, false],
            [false, true, false],
            [false, false, true]
        ]
    );
    assert_eq!(kept.hits("otter"), 0);
    kept.verify();
}

/// And what other files and sessions say goes on to be kept.
#[test]
fn damaged_rows_are_kept_anew() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "first");
    kept.sync();
    damage_a_block(&kept.database());
    kept.0
        .update("ses_1", "prt_1_ses_1", r#"{"type":"text","text":"otter"}"#);
    kept.0.talk("ses_2", "quetzal", "second");
    assert_eq!(kept.sync().notes, Vec::<String>::new());
    let raw = |id: &str| kept.raw(&kept.one(id));
    let before = ["ses_1", "ses_2"].map(raw);
    for session in ["ses_1", "ses_2"] {
        kept.delete(session);
    }
    kept.sync();
    let gone = ["ses_1", "ses_2"].map(|id| kept.one(id).archived);
    assert_eq!(gone, [true, true]);
    assert_eq!(["ses_1", "ses_2"].map(raw), before);
}

#[test]
fn what_was_read_before_is_kept_as_well() {
    let mut kept = ArchivedStore(Store::new(true, "WAL"));
    kept.0.talk("ses_1", "walrus", "first");
    kept.sync();
    kept.keep(&["opencode".to_owned()]);
    kept.sync();
    // And what comes later.
    kept.0.text("ses_1", "msg_2_ses_1", "prt_9", "otter");
    kept.sync();
    let rows = kept.raw(&kept.one("ses_1"));
    kept.delete("ses_1");
    assert_eq!(kept.raw(&kept.one("ses_1")), rows);
    kept.verify();
}

/// Some databases hold many gigabytes, and this agent deletes nothing by itself.
#[test]
fn rows_are_kept_of_an_agent_that_is_named() {
    let mut kept = ArchivedStore(Store::new(true, "WAL"));
    kept.0.talk("ses_1", "walrus", "first");
    kept.keep(&[]);
    let config = kept.config();
    let keeps = |agent| config.keeps(agent).unwrap();
    assert!(keeps("pi") && !keeps("opencode"));
    kept.sync();
    assert!(config.archive_status().unwrap().unwrap().agents.is_empty());
    kept.keep(&["opencode".to_owned()]);
    // Which all agents together do not take back.
    kept.keep(&[]);
    assert!(keeps("pi") && keeps("opencode"));
    kept.sync();
    let status = config.archive_status().unwrap().unwrap();
    assert_eq!(status.agents[0].sources, 1);
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep_no_more(&[]).unwrap();
    assert!(!keeps("pi") && !keeps("opencode"));
}

#[test]
fn what_is_forgotten_is_in_no_file() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "zanzibar", "first");
    kept.0.talk("ses_2", "heron", "second");
    kept.sync();
    // In a state before this one alone, in the newest, and in parts that were joined.
    kept.0
        .update("ses_1", "prt_1_ses_1", r#"{"type":"text","text":"other"}"#);
    for at in 0..40 {
        kept.0.text(
            "ses_1",
            "msg_2_ses_1",
            &format!("prt_9{at:02}"),
            "zanzibar again",
        );
        kept.sync();
    }
    kept.delete("ses_1");
    let row = kept.one("ses_1");
    assert!(row.archived && kept.blocks().contains("zanzibar"));
    let mut indexer = Indexer::open(&kept.config()).unwrap();
    let mut report = Report::default();
    assert_eq!(indexer.forget(&row, &mut report).unwrap(), 1);
    drop(indexer);
    assert_eq!(report.notes, Vec::<String>::new());
    let blocks = kept.blocks();
    assert!(!blocks.contains("zanzibar") && blocks.contains("heron"));
    assert_eq!(kept.list().len(), 1);
    assert_eq!(kept.hits("zanzibar"), 0);
    let index = kept.0.place.path().join("index");
    assert_eq!(crate::exclusion::files_with(&index, "zanzibar"), 0);
    // It is not kept again.
    kept.0.run("DELETE FROM event_sequence");
    kept.0.talk("ses_1", "zanzibar", "again");
    kept.sync();
    assert_eq!(kept.list().len(), 2);
    assert!(!kept.blocks().contains("zanzibar"));
    kept.delete("ses_1");
    assert_eq!(kept.list().len(), 1);
    kept.verify();
}

#[test]
fn what_is_excluded_leaves_the_archive() {
    for glob in ["*ses_1", "/code/parser"] {
        let mut kept = ArchivedStore::new();
        kept.0.talk("ses_1", "zanzibar", "first");
        kept.sync();
        kept.0
            .update("ses_1", "prt_1_ses_1", r#"{"type":"text","text":"other"}"#);
        kept.sync();
        kept.delete("ses_1");
        assert!(kept.one("ses_1").archived);
        assert!(kept.blocks().contains("zanzibar"));
        let config = Config {
            rules: Rules::set(Exclude::new(&[glob]).unwrap(), FollowLinks::WithinRoots),
            ..kept.config()
        };
        assert_eq!(sync(&config).notes.len(), 1);
        assert!(kept.list().is_empty(), "{glob}");
        assert!(!kept.blocks().contains("zanzibar"), "{glob}");
        kept.verify();
    }
}

/// A message writes about its own bytes, and so does a row that changes before others, though the
/// session's own row, the first of all, changes with each.
#[test]
fn a_change_writes_about_its_own_bytes() {
    let mut kept = ArchivedStore::new();
    kept.0.session("ses_1", "long");
    kept.0.message("ses_1", "msg_1", "assistant");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut words = |count: usize| -> String {
        let words = (0..count).map(|_| format!("w{} ", random.random_range(0..100_000)));
        words.collect()
    };
    for at in 0..400 {
        kept.0
            .text("ses_1", "msg_1", &format!("prt_{at:04}"), &words(300));
    }
    kept.sync();
    let bytes = |kept: &ArchivedStore| -> i64 {
        let sum = "SELECT sum(length) FROM generations";
        kept.database()
            .query_row(sum, [], |row| row.get(0))
            .unwrap()
    };
    let (mut before, mut most) = (bytes(&kept), 0);
    assert!(before > 800_000, "{before}");
    let whole = before;
    for at in 0..20 {
        let text = words(300);
        match at % 2 {
            0 => kept
                .0
                .text("ses_1", "msg_1", &format!("prt_9{at:03}"), &text),
            _ => {
                let data = format!(r#"{{"type":"text","text":"{text}"}}"#);
                kept.0.update("ses_1", &format!("prt_{at:04}"), &data);
            }
        }
        let now = kept.0.now;
        kept.0
            .run(&format!("UPDATE session SET time_updated = {now}"));
        kept.sync();
        let own = text.len() as i64 + 800;
        let written = bytes(&kept) - before;
        assert!((1..own).contains(&written), "{at}: {written} for {own}");
        (before, most) = (bytes(&kept), most.max(written - text.len() as i64));
    }
    println!("a session of {whole} bytes: a changed row of 2 kB writes itself and {most} bytes");
    kept.verify();
}

/// The document is the one that OpenCode 1.18.33 prints of a session with such rows.
#[test]
fn a_session_comes_back_as_the_document_that_its_agent_exports() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "why \\\"so\\\" slow\\n{[", "first");
    kept.0.run("ALTER TABLE session ADD slug TEXT; ALTER TABLE session ADD cost REAL; ALTER TABLE session ADD model TEXT;
        ALTER TABLE session ADD summary_additions INTEGER; ALTER TABLE session ADD tokens_input INTEGER;");
    kept.0.run(r#"UPDATE session SET slug = 'calm-fox', cost = 0.0, model = '{"id":"m1","providerID":"stub"}', summary_additions = 3,
        tokens_input = 80, revert = '{"messageID":"msg_2_ses_1","snapshot":"9f"}'"#);
    kept.0.message("ses_1", "msg_3_ses_1", "user");
    kept.sync();
    let row = kept.one("ses_1");
    let target = kept.0.place.path().join("ses_1.json");
    kept.delete("ses_1");
    assert!(kept.one("ses_1").archived);
    let index = kept.index();
    assert!(index.export_document(&row, &target).unwrap());
    let written = fs::read_to_string(&target).unwrap();
    let document: Value = serde_json::from_str(&written).unwrap();
    let created = document["info"]["time"]["created"].as_i64().unwrap();
    let (asked, answered) = (created + 7, created + 21);
    let expected = json!({
        "info": {"id": "ses_1", "slug": "calm-fox", "projectID": "p", "directory": "/code/parser",
            "title": "A talk", "model": {"id": "m1", "providerID": "stub"}, "version": "1.18.33",
            "summary": {"additions": 3, "deletions": 0, "files": 0}, "cost": 0,
            "tokens": {"input": 80, "cache": {}}, "revert": {"messageID": "msg_2_ses_1", "snapshot": "9f"},
            "time": {"created": created, "updated": created}},
        "messages": [
            {"info": {"role": "user", "time": {"created": asked}, "id": "msg_1_ses_1", "sessionID": "ses_1"},
             "parts": [{"type": "text", "text": "why \"so\" slow\n{[", "id": "prt_1_ses_1", "sessionID": "ses_1", "messageID": "msg_1_ses_1"}]},
            {"info": {"role": "assistant", "modelID": "m1", "providerID": "stub", "cost": 0.25,
                "tokens": {"total": 130, "input": 80, "output": 25, "reasoning": 5, "cache": {"read": 20, "write": 0}},
                "time": {"created": answered, "completed": answered + 3}, "id": "msg_2_ses_1", "sessionID": "ses_1"},
             "parts": [{"type": "text", "text": "first", "id": "prt_2_ses_1", "sessionID": "ses_1", "messageID": "msg_2_ses_1"}]},
            {"info": {"role": "user", "time": {"created": created + 35}, "id": "msg_3_ses_1", "sessionID": "ses_1"}, "parts": []},
        ]
    });
    assert_eq!(document, expected);
    // Set in by two, as the agent writes it.
    assert!(
        written.starts_with("{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"slug\""),
        "{written}"
    );
    assert!(
        written.ends_with("      \"parts\": []\n    }\n  ]\n}\n"),
        "{written}"
    );
    assert!(written.contains("\"cost\": 0,\n"), "{written}");
    // What is there stays as it is.
    fs::write(&target, "mine").unwrap();
    assert!(index.export_document(&row, &target).is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

/// Of 2.x it is not known what it exports, but every row is there.
#[test]
fn rows_of_the_second_generation_are_kept() {
    let mut kept = ArchivedStore::new();
    kept.0.talk("ses_1", "walrus", "as it was");
    kept.sync();
    kept.0.run(
        "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
         CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
             time_updated INTEGER, data TEXT);
         INSERT INTO session_v2 VALUES ('ses_1', '/code', 'about', 5, 9);
         INSERT INTO session_message VALUES ('msg_9', 'ses_1', 'user', 0, 6, 6, '{\"text\":\"otter\"}');",
    );
    kept.sync();
    let row = kept.one("ses_1");
    assert_eq!(kept.index().versions(&row).unwrap().len(), 2);
    kept.0
        .run("DROP TABLE session_v2; DROP TABLE session_message; DELETE FROM session");
    assert!(kept.one("ses_1").archived);
    assert_eq!((kept.hits("otter"), kept.hits("walrus")), (1, 0));
    let target = kept.0.place.path().join("ses_1.json");
    assert!(!kept.index().export_document(&row, &target).unwrap());
    assert!(!target.exists());
    kept.verify();
}

/// Whatever the agent does with them soon afterwards.
#[test]
fn rows_that_were_there_for_a_moment_are_kept_by_the_watcher() {
    let mut kept = ArchivedStore::new();
    let watcher = Watcher::start(&kept.config());
    let number = |kept: &ArchivedStore, sql: &str| {
        let index = Index::open(&kept.config(), Freshness::AsCommitted).unwrap();
        index.sql(sql, &[]).unwrap().rows[0][0].as_i64().unwrap()
    };
    for at in 0..3 {
        let id = format!("ses_{at}");
        kept.0.talk(&id, "zanzibar", "first");
        kept.0
            .text(&id, &format!("msg_2_{id}"), &format!("prt_3_{id}"), "otter");
        let there = format!(
            "SELECT entries FROM sessions WHERE id = '{id}' UNION SELECT 0 ORDER BY 1 DESC"
        );
        until("it is read", || number(&kept, &there) == 6);
        kept.delete(&id);
        let archived = format!("SELECT count(*) FROM sessions WHERE id = '{id}' AND archived");
        until("it is known to be gone", || number(&kept, &archived) == 1);
        let rows = String::from_utf8(kept.raw(&kept.one(&id))).unwrap();
        assert!(
            rows.contains("zanzibar") && rows.contains("otter"),
            "{rows}"
        );
    }
    watcher.stop();
    kept.verify();
}

/// What an agent or a person may do to sessions in a database.
fn disturb(random: &mut ChaCha8Rng, kept: &mut ArchivedStore, number: &mut usize) {
    *number += 1;
    let made = *number;
    let session = format!("ses_{}", random.random_range(0..3));
    let count = |sql: &str| -> i64 {
        let one = kept.0.writer.as_ref().unwrap();
        one.query_row(sql, [&session], |row| row.get(0)).unwrap()
    };
    let is_there = count("SELECT count(*) FROM session WHERE id = ?1") > 0;
    let part = || -> Option<String> {
        let one = "SELECT id FROM part WHERE session_id = ?1 ORDER BY random() LIMIT 1";
        let writer = kept.0.writer.as_ref().unwrap();
        writer.query_row(one, [&session], |row| row.get(0)).ok()
    };
    let text = "heron ".repeat(random.random_range(1..500));
    match (random.random_range(0..9), is_there) {
        (_, false) => kept.0.talk(&session, "walrus", &format!("answer {made}")),
        (0, true) => kept.delete(&session),
        (1 | 2, true) => {
            if let Some(part) = part() {
                let data = format!(r#"{{"type":"text","text":"otter {made}"}}"#);
                kept.0.update(&session, &part, &data);
            }
        }
        (3, true) => {
            if let Some(part) = part() {
                let writer = kept.0.writer.as_ref().unwrap();
                let delete = "DELETE FROM part WHERE id = ?1";
                writer.execute(delete, params![part]).unwrap();
                kept.0.note(&session);
            }
        }
        (4, true) => {
            let revert = format!(
                "UPDATE session SET revert = '{{\"messageID\":\"m{made}\"}}', time_updated = {made}"
            );
            kept.0.run(&format!("{revert} WHERE id = '{session}'"));
        }
        (5, true) => kept.0.run("PRAGMA wal_checkpoint(TRUNCATE)"),
        (6, true) => {
            let message = format!("msg_{made:05}");
            kept.0.message(&session, &message, "user");
            kept.0
                .text(&session, &message, &format!("prt_{made:05}"), &text);
        }
        _ => {
            let message = format!("msg_2_{session}");
            kept.0
                .text(&session, &message, &format!("prt_{made:05}"), &text);
        }
    }
}

/// Whatever happens to rows between two syncs: what a sync has read is there, row by row.
#[test]
fn histories_with_deletions_lose_no_row() {
    let rounds = std::env::var("SESSIONARY_ARCHIVES").map_or(25, |n| n.parse().unwrap());
    let first = std::env::var("SESSIONARY_SEED").map_or(0, |n| n.parse().unwrap());
    let (mut contents, mut rows) = (0, 0);
    for seed in first..first + rounds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut kept = ArchivedStore::new();
        let (mut read, mut number) = (Vec::<Vec<u8>>::new(), 0);
        for _ in 0..random.random_range(2..25) {
            disturb(&mut random, &mut kept, &mut number);
            if random.random_bool(0.5) {
                continue;
            }
            if random.random_bool(0.1) {
                let _ = fs::remove_dir_all(kept.0.place.path().join("index"));
            }
            kept.sync();
            let index = Index::open(&kept.config(), Freshness::AsCommitted).unwrap();
            for row in index.list(&ListScope::default()).unwrap().sessions {
                let mut bytes = Vec::new();
                index.copy_raw(&row, None, &mut bytes).unwrap();
                read.push(bytes);
            }
        }
        kept.sync();
        let all: Vec<Vec<u8>> = every_content(&kept.database())
            .iter()
            .flat_map(|versions| states(versions))
            .collect();
        for state in &read {
            contents += 1;
            rows += state.iter().filter(|byte| **byte == b'\n').count();
            assert!(
                all.contains(state),
                "seed {seed}: {} bytes are missing",
                state.len()
            );
        }
        // What is listed can be read, and says what is kept.
        for row in kept.list() {
            assert!(all.contains(&kept.raw(&row)), "seed {seed}: {}", row.id);
            let there = "SELECT count(*) FROM session WHERE id = ?1";
            let writer = kept.0.writer.as_ref().unwrap();
            let there: i64 = writer
                .query_row(there, [&row.id], |row| row.get(0))
                .unwrap();
            assert_eq!(row.archived, there == 0, "seed {seed}");
        }
        kept.verify();
    }
    println!("{contents} contents of {rows} rows in {rounds} histories, 0 rows missing");
}

/// What the catalogue says is kept, at whatever moment a sync is killed, is in the archive; and
/// after the next sync everything is, and comes back.
#[cfg(unix)]
#[test]
fn a_killed_sync_loses_nothing_that_is_said_to_be_kept() {
    use std::process::{Command, Stdio};
    let kills = std::env::var("SESSIONARY_ARCHIVE_KILLS").map_or(8, |n| n.parse().unwrap());
    let seed = std::env::var("SESSIONARY_SEED").map_or(1, |n| n.parse().unwrap());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut store = Store::new(true, "WAL");
    let place = store.place.path().to_path_buf();
    let root = format!("opencode:{}", store.folder().display());
    let index = place.join("index").display().to_string();
    let command = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary"));
        command.args(["--index", &index, "--no-default-roots", "--root", &root]);
        command.args(words).env_clear().current_dir(&place);
        command
            .env("HOME", &place)
            .env("XDG_DATA_HOME", place.join("data"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let run = |words: &[&str]| command(words).status().unwrap().success();
    assert!(run(&["archive", "on", "opencode"]));
    let archive = place.join("data/sessionary/archive/archive.sqlite");
    let catalogue = place.join(format!(
        "index/v{}/catalogue.sqlite",
        sessionary::GENERATION
    ));
    let (mut was_killed, mut proven) = (0, 0u64);
    for round in 0..kills {
        for at in 0..40 {
            let session = format!("ses_{}", random.random_range(0..12));
            let there = "SELECT count(*) FROM session WHERE id = ?1";
            let writer = store.writer.as_ref().unwrap();
            let there: i64 = writer
                .query_row(there, [&session], |row| row.get(0))
                .unwrap();
            if there == 0 {
                store.talk(&session, "walrus", "zanzibar");
            }
            let text = "heron ".repeat(random.random_range(1..8000));
            let message = format!("msg_2_{session}");
            store.text(&session, &message, &format!("prt_{round:03}{at:03}"), &text);
        }
        let mut sync = command(&["sync"]).spawn().unwrap();
        let moment = random.random_range(1..250);
        std::thread::sleep(std::time::Duration::from_millis(moment));
        let _ = sync.kill();
        was_killed += u64::from(!sync.wait().unwrap().success());
        let contents = every_content(&Connection::open(&archive).unwrap());
        let all: Vec<Vec<u8>> = contents.iter().flat_map(|kept| states(kept)).collect();
        let catalogue = Connection::open(&catalogue).unwrap();
        let mut kept = catalogue
            .prepare("SELECT relative, consumed FROM _sources WHERE is_kept = 1")
            .unwrap();
        let mut rows = kept.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (relative, length): (String, i64) = (row.get(0).unwrap(), row.get(1).unwrap());
            let session = relative.rsplit('/').next().unwrap();
            let own = format!("\"key\":\"{session}\"");
            let found = all.iter().any(|kept| {
                kept.len() as i64 == length && memchr::memmem::find(kept, own.as_bytes()).is_some()
            });
            assert!(found, "round {round}, seed {seed}: {relative}");
            proven += 1;
        }
    }
    assert!(run(&["sync"]));
    let sessions: Vec<String> = {
        let writer = store.writer.as_ref().unwrap();
        let mut ids = writer.prepare("SELECT id FROM session").unwrap();
        let ids = ids.query_map([], |row| row.get(0)).unwrap();
        ids.map(Result::unwrap).collect()
    };
    let texts = |store: &Store, session: &str| -> i64 {
        let sum = "SELECT count(*) FROM part WHERE session_id = ?1";
        let writer = store.writer.as_ref().unwrap();
        writer.query_row(sum, [session], |row| row.get(0)).unwrap()
    };
    let expected: Vec<i64> = sessions.iter().map(|id| texts(&store, id)).collect();
    store.run("DELETE FROM session");
    assert!(run(&["verify"]));
    let mut delete = command(&["delete", &sessions[0], "--yes"]);
    let refused = delete.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("`sessionary archive forget"), "{said}");
    for (session, parts) in sessions.iter().zip(expected) {
        assert!(run(&["archive", "restore", session]), "{session}");
        let written = fs::read(place.join(format!("{session}.json"))).unwrap();
        let document: Value = serde_json::from_slice(&written).unwrap();
        let messages = document["messages"].as_array().unwrap().iter();
        let found: usize = messages.map(|m| m["parts"].as_array().unwrap().len()).sum();
        assert_eq!(found as i64, parts, "{session}");
        // What is there is not replaced.
        assert!(!run(&["archive", "restore", session]), "{session}");
    }
    let to = store.folder().join("ses.json");
    let inside = [
        "archive",
        "restore",
        &sessions[0],
        "--to",
        to.to_str().unwrap(),
    ];
    assert!(
        !run(&inside) && !Path::new(&to).exists(),
        "in the agent's folder"
    );
    assert!(run(&["archive", "verify"]));
    println!("{was_killed} of {kills} syncs killed, {proven} kept sources proven, 0 rows missing");
}

/// What is kept of a session are its lines, which would not say which of OpenClaw's rows they are.
#[test]
fn rows_that_hold_lines_are_refused() {
    let home = Sandbox::new();
    let said = home.run(&["archive", "on", "openclaw"]);
    assert!(said.contains("which are not kept so far"), "{said}");
    assert!(said.contains("exit Some(2)"), "{said}");
}
