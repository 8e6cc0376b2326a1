//! OpenCode's sessions: the cases of its databases, and of the JSON documents in which it kept
//! sessions before and exports them since.

use std::fs;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use sessionary::index::{Freshness, ListScope, SearchScope, ShowScope};
use sessionary::model::{BranchPlace, Class, Standing};
use sessionary::{Config, Index, Indexer};

use crate::databases::{Store, hits};
use crate::histories::dump::{clean, dump, fresh, root, same};

const ANSWER: &str = "They grow for as long as it lives.";

/// A session with a tool, an image, injected text, a failed answer and a subagent.
fn store() -> Store {
    let mut store = Store::new(true, "DELETE");
    store.talk("ses_1", "walrus tusks", ANSWER);
    let message = "msg_2_ses_1";
    for (id, data) in [
        (
            "prt_3",
            json!({"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "completed",
            "input": {"command": "ls \u{fc}ber"}, "output": "otter.txt", "metadata": {"output": "otter.txt"},
            "time": {"start": 1_767_600_000_500_i64, "end": 1_767_600_000_900_i64}}}),
        ),
        (
            "prt_4",
            json!({"type": "file", "mime": "image/png", "filename": "heron.png",
            "url": "data:image/png;base64,bGludGVsd29yZA=="}),
        ),
        (
            "prt_5",
            json!({"type": "patch", "hash": "h", "files": ["/code/parser/a.rs"]}),
        ),
        (
            "prt_6",
            json!({"type": "of a later version", "text": "lynx"}),
        ),
    ] {
        store.part("ses_1", message, id, &data.to_string());
    }
    let injected = json!({"type": "text", "synthetic": true, "text": "Called the tool"});
    store.part("ses_1", "msg_1_ses_1", "prt_7", &injected.to_string());
    store.talk("ses_2", "heron", "of the subagent");
    store.run("UPDATE session SET parent_id = 'ses_1', revert = '{\"messageID\":\"msg_2_ses_2\"}' WHERE id = 'ses_2'");
    store
}

/// Stores of both layouts with rows of every type.
pub fn every_row(look: &mut dyn FnMut(&str, &Index)) {
    let mut first = store();
    for (id, data) in [
        ("prt_a1", json!({"type": "reasoning", "text": "hmm"})),
        ("prt_a2", json!({"type": "step-start", "snapshot": "h"})),
        (
            "prt_a3",
            json!({"type": "step-finish", "reason": "stop", "tokens": {"input": 1}}),
        ),
        ("prt_a4", json!({"type": "snapshot", "snapshot": "h"})),
        ("prt_a5", json!({"type": "compaction", "auto": false})),
        (
            "prt_a6",
            json!({"type": "subtask", "prompt": "Count them.", "description": "Count"}),
        ),
        ("prt_a7", json!({"type": "agent", "name": "general"})),
        (
            "prt_a8",
            json!({"type": "retry", "error": {"name": "APIError", "data": {"message": "over the limit"}}}),
        ),
        (
            "prt_a9",
            json!({"type": "tool", "tool": "bash", "callID": "c2", "state": {"status": "running", "input": {"command": "ls"}}}),
        ),
        (
            "prt_b1",
            json!({"type": "tool", "tool": "edit", "callID": "c3", "state": {"status": "error", "error": "refused",
            "input": {"filePath": "/code/a.rs"}}}),
        ),
    ] {
        first.part("ses_1", "msg_2_ses_1", id, &data.to_string());
    }
    let second = Store::new(false, "DELETE");
    second.run(
        "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
         CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
             time_updated INTEGER, data TEXT);
         INSERT INTO session_v2 VALUES ('ses_3', NULL, '/code', 'Counting', 5, 9);",
    );
    for (seq, (kind, data)) in [
        ("user", json!({"text": "Where is the walrus?", "files": [{"name": "narwhal.txt", "uri": "data:,"}]})),
        ("system", json!({"text": "You are a tool."})),
        ("synthetic", json!({"text": "It is late."})),
        ("assistant", json!({"model": {"id": "m1", "providerID": "p"}, "cost": 0.5, "tokens": {"input": 8, "output": 2},
            "content": [{"type": "text", "text": "On the ice."}, {"type": "tool", "id": "c1", "name": "bash",
            "state": {"status": "completed", "input": {"command": "ls"}, "content": [{"type": "text", "text": "a.txt"}]}}],
            "time": {"created": 4, "completed": 9}})),
        ("compaction", json!({"summary": "They were counted."})),
        ("shell", json!({"command": "ls", "output": "b.txt"})),
        ("model-switched", json!({"model": {"id": "m2"}})),
        ("agent-switched", json!({"agent": "plan"})),
        ("location-switched", json!({"directory": "/code"})),
    ]
    .iter()
    .enumerate()
    {
        let insert = "INSERT INTO session_message VALUES (?1, 'ses_3', ?2, ?3, 6, 6, ?4)";
        let values = rusqlite::params![format!("msg_{seq}"), kind, seq as i64, data.to_string()];
        second.writer().execute(insert, values).unwrap();
    }
    look("1.x, made by tests/opencode.rs", &first.sync());
    look("2.x, made by tests/opencode.rs", &second.sync());
}

/// What was taken back is no more of the talk: it is not shown, and found as on another branch.
#[test]
fn what_was_taken_back_is_on_no_active_branch() {
    let mut store = Store::new(true, "DELETE");
    store.talk("ses_1", "walrus tusks", ANSWER);
    let index = store.sync();
    let found =
        |index: &Index, query: &str| index.search(query, &SearchScope::default()).unwrap().total;
    // A talk of which nothing was taken back has one branch, and says nothing of it.
    assert_eq!(found(&index, "lives is:branch"), 0);
    assert_eq!(found(&index, "lives -is:branch"), 1);
    drop(index);
    store.run("UPDATE session SET revert = '{\"messageID\":\"msg_2_ses_1\"}', time_updated = time_updated + 1");
    let index = store.sync();
    let sessions = index.list(&ListScope::default()).unwrap().sessions;
    let shown = index.show(&sessions[0], &ShowScope::default()).unwrap();
    let shown: Vec<String> = shown.entries.into_iter().map(|entry| entry.id).collect();
    assert_eq!(shown, ["prt_1_ses_1"]);
    assert_eq!(found(&index, "lives is:branch"), 1);
    assert_eq!(found(&index, "walrus is:branch"), 0);
    let hit = &index
        .search("lives", &SearchScope::default())
        .unwrap()
        .sessions[0]
        .hits[0];
    assert_eq!(hit.place, Some(BranchPlace::Abandoned));
    // Somebody who looks at it sees it in its talk.
    let through = index.snapshot().unwrap();
    let branch = through.branch(&sessions[0], Some(&hit.entry)).unwrap();
    assert_eq!(branch.focus(), Some(branch.len() - 1));
}

/// What OpenCode writes of a session as documents: the session, and its messages with their parts.
fn documents(store: &Store, session: &str) -> (Value, Vec<(Value, Vec<Value>)>) {
    let writer = store.writer();
    let info = writer.query_row(
        "SELECT id, project_id, parent_id, directory, title, version, revert, time_created, time_updated
         FROM session WHERE id = ?1",
        [session],
        |row| {
            let text = |at| row.get::<_, Option<String>>(at);
            let revert = text(6)?.map(|revert| serde_json::from_str::<Value>(&revert).unwrap());
            let mut info = Map::new();
            for (name, value) in [("id", text(0)?), ("projectID", text(1)?), ("parentID", text(2)?),
                ("directory", text(3)?), ("title", text(4)?), ("version", text(5)?)]
            {
                info.extend(value.map(|value| (name.to_owned(), json!(value))));
            }
            info.extend(revert.map(|revert| ("revert".to_owned(), revert)));
            let time = json!({"created": row.get::<_, i64>(7)?, "updated": row.get::<_, i64>(8)?});
            info.insert("time".to_owned(), time);
            Ok(Value::Object(info))
        },
    );
    let rows = |table: &str, of: (&str, &str), named: &[(&str, &str)]| {
        let select = format!(
            "SELECT * FROM {table} WHERE {} = '{}' ORDER BY time_created, id",
            of.0, of.1
        );
        let mut statement = writer.prepare(&select).unwrap();
        let read = statement.query_map([], |row| {
            let data: String = row.get("data")?;
            let mut data: Value = serde_json::from_str(&data).unwrap();
            for (name, column) in named {
                data[*name] = json!(row.get::<_, String>(*column)?);
            }
            Ok(data)
        });
        read.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let names = [("id", "id"), ("sessionID", "session_id")];
    let messages = rows("message", ("session_id", session), &names);
    let with_parts = messages.into_iter().map(|message| {
        let names = [
            ("id", "id"),
            ("sessionID", "session_id"),
            ("messageID", "message_id"),
        ];
        let parts = rows(
            "part",
            ("message_id", message["id"].as_str().unwrap()),
            &names,
        );
        (message, parts)
    });
    (info.unwrap(), with_parts.collect())
}

fn put(path: &Path, document: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_string_pretty(document).unwrap()).unwrap();
}

/// The session as a folder of documents.
fn as_tree(store: &Store, session: &str, folder: &Path) {
    let storage = folder.join("storage");
    let (info, messages) = documents(store, session);
    put(&storage.join(format!("session/p/{session}.json")), &info);
    for (message, parts) in messages {
        let id = message["id"].as_str().unwrap();
        put(
            &storage.join(format!("message/{session}/{id}.json")),
            &message,
        );
        for part in parts {
            let part_id = part["id"].as_str().unwrap();
            put(&storage.join(format!("part/{id}/{part_id}.json")), &part);
        }
    }
}

/// The session as `opencode export` prints it.
fn as_export(store: &Store, session: &str, path: &Path) {
    let (info, messages) = documents(store, session);
    let messages = messages.into_iter();
    let messages = messages.map(|(info, parts)| json!({"info": info, "parts": parts}));
    put(
        path,
        &json!({"info": info, "messages": messages.collect::<Vec<_>>()}),
    );
}

struct Home {
    place: tempfile::TempDir,
}

impl Home {
    fn new() -> Home {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("agent")).unwrap();
        Home { place }
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("agent")
    }

    fn config(&self) -> Config {
        let roots = vec![root("opencode", "opencode", &self.folder())];
        Config::new(self.place.path().join("index"), roots)
    }

    fn sync(&self) -> Index {
        Indexer::open(&self.config()).unwrap().sync().unwrap();
        let index = Index::open(&self.config(), Freshness::AsCommitted).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let expected = fresh(&self.config(), scratch.path());
        same(&dump(&index), &dump(&expected), "after a sync");
        clean(&index, "after a sync");
        index
    }
}

/// What an index says of sessions and entries, without where they are.
fn said(index: &Index) -> Vec<String> {
    [
        "SELECT id, name, first_message, cwd, created_ms, modified_ms, messages, entries, tokens, cost, own,
             listed_by_agent, errors, leaf, is_subagent FROM sessions ORDER BY id",
        "SELECT id, kind, role, row, stop_reason, has_image, is_error,
             CASE WHEN kind IN ('session', 'message') THEN time_ms END FROM entries ORDER BY row",
        "SELECT tool, subject, call_id, is_error FROM calls ORDER BY call_id",
        "SELECT response_id, input, output, cost_total FROM usage ORDER BY 1, 2, 3",
    ]
    .iter()
    .flat_map(|query| index.sql(query, &[]).unwrap_or_else(|error| panic!("{query}: {error}")).rows)
    .map(|row| format!("{row:?}"))
    .chain(words(index))
    .collect()
}

fn words(index: &Index) -> Vec<String> {
    let words = index.dump_words().unwrap().into_iter();
    // Of the parts of messages documents do not say when they came.
    let words = words.filter(|(_, _, _, term)| !term.starts_with("time:"));
    let mut words: Vec<String> = words
        .map(|(_, _, class, term)| format!("{class:?} {term}"))
        .collect();
    words.sort();
    words
}

#[test]
fn export_document_and_json_tree_give_the_same_entries_as_the_rows() {
    let store = store();
    let rows = said(&store.sync());
    let (tree, exported) = (Home::new(), Home::new());
    for session in ["ses_1", "ses_2"] {
        as_tree(&store, session, &tree.folder());
        let name = format!("of {session}.json");
        as_export(&store, session, &exported.folder().join("kept").join(name));
    }
    same(&said(&tree.sync()), &rows, "a folder of documents");
    same(&said(&exported.sync()), &rows, "exported documents");
    // What is no session says nothing, and what holds keys is never opened.
    put(
        &tree.folder().join("storage/session_diff/ses_1.json"),
        &json!([]),
    );
    put(
        &tree.folder().join("storage/project/p.json"),
        &json!({"id": "p"}),
    );
    put(
        &exported.folder().join("auth.json"),
        &json!({"info": {"id": "ses_9"}, "messages": []}),
    );
    put(&exported.folder().join("other.json"), &json!({"walrus": 1}));
    same(&said(&tree.sync()), &rows, "beside other documents");
    same(&said(&exported.sync()), &rows, "beside other files");
}

#[test]
fn documents_are_followed_and_damage_costs_one_document() {
    let store = store();
    let home = Home::new();
    as_tree(&store, "ses_1", &home.folder());
    as_tree(&store, "ses_2", &home.folder());
    let storage = home.folder().join("storage");
    assert_eq!(hits(&home.sync(), "walrus"), 1);
    // A part that is rewritten in place, as its message is then; one that comes, and one that goes.
    let part = storage.join("part/msg_1_ses_1/prt_1_ses_1.json");
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.replace("walrus", "badger")).unwrap();
    let new = json!({"id": "prt_9", "messageID": "msg_2_ses_1", "sessionID": "ses_1", "type": "text", "text": "marmot"});
    put(&storage.join("part/msg_2_ses_1/prt_9.json"), &new);
    fs::remove_file(storage.join("part/msg_2_ses_1/prt_3.json")).unwrap();
    let mut indexer = Indexer::open(&home.config()).unwrap();
    indexer.sync_files(std::slice::from_ref(&part)).unwrap();
    drop(indexer);
    let index = home.sync();
    let found = ["walrus", "badger", "marmot", "otter"].map(|word| hits(&index, word));
    assert_eq!(found, [0, 1, 1, 0]);
    // Damage: a part that is cut, one that is no object, and one that cannot be text.
    for (at, bytes) in [&b"{\"id\": \"prt_8\", \"te"[..], b"[]", b"\xff\xfe"]
        .into_iter()
        .enumerate()
    {
        fs::write(
            storage.join(format!("part/msg_2_ses_1/prt_8{at}.json")),
            bytes,
        )
        .unwrap();
    }
    let index = home.sync();
    let problems = index
        .sql("SELECT reason FROM problems ORDER BY 1", &[])
        .unwrap()
        .rows;
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(format!("{problems:?}").contains("prt_80.json is no JSON object; restore it"));
    let found = ["badger", "marmot", "heron"].map(|word| hits(&index, word));
    assert_eq!(found, [1, 1, 2]);
    // Without its own document a session is there, and is not one that its agent lists.
    fs::remove_file(storage.join("session/p/ses_1.json")).unwrap();
    let index = home.sync();
    let list = index.list(&ListScope::default()).unwrap().sessions;
    let one = list.iter().find(|row| row.id == "ses_1").unwrap();
    assert!(!one.listed_by_agent && one.message_count == 2, "{one:?}");
    fs::remove_dir_all(&storage).unwrap();
    assert!(
        home.sync()
            .list(&ListScope::default())
            .unwrap()
            .sessions
            .is_empty()
    );
}

fn ids(index: &Index) -> Vec<String> {
    let list = index.list(&ListScope::default()).unwrap().sessions;
    let mut ids: Vec<String> = list.into_iter().map(|row| row.id).collect();
    ids.sort();
    ids
}

fn paths(index: &Index) -> Vec<String> {
    let found = index
        .sql("SELECT relative FROM sources ORDER BY 1", &[])
        .unwrap();
    let text = |row: &Vec<Value>| row[0].as_str().unwrap().to_owned();
    found.rows.iter().map(text).collect()
}

/// Until what is there now looks like nothing that was just written.
fn settle() {
    std::thread::sleep(std::time::Duration::from_secs(3));
}

/// OpenCode 1.2 took the documents over into its database, and left them where they were.
#[test]
fn a_folder_that_a_database_took_over_is_left_alone() {
    let mut store = store();
    for session in ["ses_1", "ses_2"] {
        as_tree(&store, session, &store.folder());
    }
    store.is_followed("documents and rows");
    let index = store.index();
    assert_eq!(ids(&index), ["ses_1", "ses_2"]);
    assert_eq!(
        (hits(&index, "walrus"), hits(&index, "\"They grow\"")),
        (1, 1)
    );
    let spent = index
        .sql("SELECT count(*), sum(output) FROM usage", &[])
        .unwrap()
        .rows;
    assert_eq!(spent, [[json!(2), json!(60)]]);
    assert_eq!(paths(&index), ["opencode.db/ses_1", "opencode.db/ses_2"]);
    // What its user deleted does not come back.
    settle();
    store.sync();
    store.run("DELETE FROM session WHERE id = 'ses_1'");
    store.note("ses_1");
    store.is_followed("a session that was deleted");
    assert_eq!(ids(&store.index()), ["ses_2"]);
    assert_eq!(hits(&store.index(), "walrus"), 0);
    // A database that cannot be read keeps what is known of it, and of the folder.
    store.writer = None;
    let whole = fs::read(store.file()).unwrap();
    fs::write(store.file(), b"SQLite is no more.").unwrap();
    let index = store.sync();
    assert_eq!(paths(&index), ["opencode.db/ses_2"]);
    clean(&index, "a damaged database");
    fs::write(store.file(), whole).unwrap();
    store.is_followed("a database that was put back");
    assert_eq!(ids(&store.index()), ["ses_2"]);
    fs::remove_file(store.file()).unwrap();
    store.is_followed("without a database");
    assert_eq!(paths(&store.index()), ["storage/ses_1", "storage/ses_2"]);
}

/// Of many a user OpenCode made a database and never took the documents over.
#[test]
fn a_folder_beside_a_database_of_others_is_read() {
    let old = store();
    let mut store = Store::new(true, "DELETE");
    store.talk("ses_9", "heron", "in the database alone");
    as_tree(&old, "ses_1", &store.folder());
    store.is_followed("documents beside other rows");
    assert_eq!(ids(&store.index()), ["ses_1", "ses_9"]);
    // It does so now, and what is hinted is the database.
    settle();
    store.sync();
    store.talk("ses_1", "walrus tusks", ANSWER);
    let behind = store.index().verify().unwrap().behind;
    let left = store.folder().join("storage/ses_1");
    let is_told = |found: &sessionary::model::Difference| found.source.as_ref() == Some(&left);
    assert!(behind.iter().any(is_told), "{behind:?}");
    let mut indexer = Indexer::open(&store.config()).unwrap();
    indexer.sync_files(&[store.file()]).unwrap();
    drop(indexer);
    let index = store.index();
    assert_eq!(paths(&index), ["opencode.db/ses_1", "opencode.db/ses_9"]);
    store.is_followed("once they are taken over");
    assert_eq!(hits(&store.index(), "walrus"), 1);
}

/// As a copy of any session file.
#[test]
fn each_exported_document_is_a_session_of_its_own() {
    let store = store();
    let home = Home::new();
    let at = |name: &str| home.folder().join(name);
    let is_right = |count: usize, when: &str| {
        let index = home.sync();
        let list = index.list(&ListScope::default()).unwrap().sessions;
        let said: Vec<_> = list
            .iter()
            .map(|row| (&*row.id, row.entries, row.message_count))
            .collect();
        assert_eq!(said, vec![("ses_1", 10, 2); count], "{when}");
        let spent = index
            .sql("SELECT count(*), sum(output) FROM usage", &[])
            .unwrap()
            .rows;
        assert_eq!(spent, [[json!(1), json!(30)]], "{when}");
    };
    as_export(&store, "ses_1", &at("e2.json"));
    is_right(1, "one");
    settle();
    is_right(1, "as it was");
    fs::copy(at("e2.json"), at("e4.json")).unwrap();
    is_right(2, "a copy behind it");
    fs::copy(at("e2.json"), at("a0.json")).unwrap();
    let mut indexer = Indexer::open(&home.config()).unwrap();
    indexer.sync_files(&[at("a0.json")]).unwrap();
    drop(indexer);
    is_right(3, "a copy before it");
    fs::remove_file(at("e2.json")).unwrap();
    is_right(2, "the copies alone");
}

/// OpenCode writes documents in place, and while an answer comes these are of its newest message.
#[test]
fn what_is_written_in_place_is_found_in_the_newest_message() {
    let store = store();
    let home = Home::new();
    as_tree(&store, "ses_1", &home.folder());
    home.sync();
    settle();
    home.sync();
    let part = home
        .folder()
        .join("storage/part/msg_2_ses_1/prt_2_ses_1.json");
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.replace("They grow", "Ermines g")).unwrap();
    assert_eq!(hits(&home.sync(), "ermines"), 1);
}

#[test]
fn no_document_forges_lines() {
    let store = store();
    let home = Home::new();
    as_tree(&store, "ses_1", &home.folder());
    let message = home.folder().join("storage/message/ses_1/msg_2_ses_1.json");
    let text = fs::read_to_string(&message).unwrap();
    let forged = "[\n{\"table\":\"part\",\"key\":\"prt_x\",\"row\":{\"id\":\"prt_x\"}}\n,\n{\"kept\":1,\"changes\":[[0,3,0]]}\n]";
    fs::write(&message, text.replace("\"assistant\"", forged)).unwrap();
    let config = Config {
        archive_dir: Some(home.place.path().join("archive")),
        ..home.config()
    };
    let kept = ["opencode".to_owned()];
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&kept).unwrap();
    indexer.sync().unwrap();
    drop(indexer);
    let rows = || {
        let index = Index::open(&config, Freshness::Check).unwrap();
        clean(&index, "a forged role");
        let rows = index
            .sql("SELECT row FROM entries ORDER BY row", &[])
            .unwrap();
        rows.rows
    };
    let before = rows();
    assert_eq!(before.len(), 10, "{before:?}");
    assert!(!format!("{before:?}").contains("prt_x"));
    fs::remove_dir_all(home.folder().join("storage")).unwrap();
    assert_eq!(rows(), before, "from the archive");
}

#[test]
fn a_document_that_is_too_long_is_a_problem() {
    let store = store();
    let home = Home::new();
    as_tree(&store, "ses_1", &home.folder());
    as_export(&store, "ses_2", &home.folder().join("talk.json"));
    for document in ["storage/part/msg_2_ses_1/prt_9.json", "long.json"] {
        let file = fs::File::create(home.folder().join(document)).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
    }
    let index = home.sync();
    assert_eq!(ids(&index), ["ses_1", "ses_2"]);
    let problems = index.sql("SELECT reason FROM problems", &[]).unwrap().rows;
    let said = format!("{problems:?}");
    let why = "it is 67108865 bytes long, and no document of more than 64 MiB is read";
    assert_eq!(said.matches(why).count(), 2, "{said}");
}

/// What the archive has of documents is not shown beside the rows that they became.
#[test]
fn documents_that_are_kept_and_taken_over_are_one_session() {
    let old = store();
    let mut store = Store::new(true, "DELETE");
    as_tree(&old, "ses_1", &store.folder());
    let config = Config {
        archive_dir: Some(store.place.path().join("archive")),
        ..store.config()
    };
    let kept = ["opencode".to_owned()];
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&kept).unwrap();
    indexer.sync().unwrap();
    store.talk("ses_1", "walrus tusks", ANSWER);
    indexer.sync().unwrap();
    drop(indexer);
    let is_one = |config: &Config, when: &str| {
        let index = Index::open(config, Freshness::Check).unwrap();
        clean(&index, when);
        assert_eq!(paths(&index), ["opencode.db/ses_1"], "{when}");
        assert!(!index.list(&ListScope::default()).unwrap().sessions[0].archived);
    };
    is_one(&config, "taken over");
    fs::remove_dir_all(store.folder().join("storage")).unwrap();
    is_one(&config, "the folder is gone");
    let other = Config {
        index_dir: store.place.path().join("other"),
        ..config
    };
    is_one(&other, "by another index");
}

/// Sessions come, are taken over, exported and deleted, and all of it or one path is looked at.
#[test]
fn a_history_of_documents_leaves_the_index_that_its_end_would_make() {
    let old = store();
    for seed in 0..8 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut store = Store::new(true, "DELETE");
        let (folder, file) = (store.folder(), store.file());
        store.sync();
        for step in 0..12 {
            let session = ["ses_1", "ses_2"][random.random_range(0..2)];
            let export = folder.join(format!("{}.json", random.random_range(0..3)));
            let storage = folder.join("storage");
            let changed = match random.random_range(0..8) {
                0 | 1 => {
                    as_tree(&old, session, &folder);
                    storage.join(format!("message/{session}"))
                }
                2 => {
                    as_export(&old, session, &export);
                    export
                }
                3 => {
                    // What is gone already is no error, nor what is there.
                    let _ = fs::remove_file(&export);
                    export
                }
                4 => {
                    store.run(&format!("DELETE FROM session WHERE id = '{session}'"));
                    store.talk(session, "walrus", &format!("at step {step}"));
                    file.clone()
                }
                5 => {
                    store.run(&format!("DELETE FROM session WHERE id = '{session}'"));
                    file.clone()
                }
                6 => {
                    let _ = fs::remove_file(storage.join(format!("session/p/{session}.json")));
                    let _ = fs::remove_dir_all(storage.join(format!("message/{session}")));
                    storage
                }
                _ => {
                    let _ = fs::remove_dir_all(&storage);
                    storage
                }
            };
            if random.random() {
                store.sync();
                continue;
            }
            let mut indexer = Indexer::open(&store.config()).unwrap();
            indexer.sync_files(&[changed]).unwrap();
            drop(indexer);
            let scratch = tempfile::tempdir().unwrap();
            let expected = paths(&fresh(&store.config(), scratch.path()));
            assert_eq!(paths(&store.index()), expected, "seed {seed}, step {step}");
        }
        store.is_followed(&format!("seed {seed}"));
    }
}

#[test]
fn an_exported_document_is_read_where_it_lies() {
    let store = store();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("talk.json");
    as_export(&store, "ses_1", &path);
    let index = Index::of_file(&store.config(), &path).unwrap();
    let list = index.list(&ListScope::default()).unwrap().sessions;
    let [session] = &list[..] else {
        panic!("{list:?}")
    };
    assert_eq!((&*session.id, &*session.title), ("ses_1", "A talk"));
    assert_eq!((&*session.agent, session.entries), ("opencode", 10));
}

/// A fork copies messages under new ids and with their times, and only its title says so.
#[test]
fn fork_copies_count_once() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    for (id, state) in [
        (
            "prt_3",
            json!({"status": "completed", "input": {"command": "ls"}, "output": "a",
            "time": {"start": 1_767_600_000_500_i64, "end": 1_767_600_000_900_i64}}),
        ),
        (
            "prt_4",
            json!({"status": "completed", "input": {"command": "ls"}, "output": "a",
            "time": {"start": 1_767_600_001_500_i64, "end": 1_767_600_001_900_i64}}),
        ),
    ] {
        // Some providers number the calls of each message from the start.
        let part = json!({"type": "tool", "tool": "bash", "callID": "call_0", "state": state});
        store.part("ses_1", "msg_2_ses_1", id, &part.to_string());
    }
    store.session("ses_2", "A talk (fork #1)");
    store.run(
        "INSERT INTO message SELECT id || 'f', 'ses_2', time_created + 500, time_updated + 500, data
             FROM message WHERE session_id = 'ses_1';
         INSERT INTO part SELECT id || 'f', message_id || 'f', 'ses_2', time_created + 500, time_updated + 500, data
             FROM part WHERE session_id = 'ses_1'",
    );
    store.message("ses_2", "msg_9", "user");
    store.text("ses_2", "msg_9", "prt_8", "and otters");
    store.message("ses_2", "msg_9a", "assistant");
    store.text("ses_2", "msg_9a", "prt_9", "Otters have none.");
    let index = store.sync();
    let rows = |query: &str| index.sql(query, &[]).unwrap().rows;
    assert_eq!(
        rows("SELECT id, name, parent_session, tokens FROM sessions ORDER BY id"),
        [
            [json!("ses_1"), json!("A talk"), json!(null), json!(130)],
            [
                json!("ses_2"),
                json!("A talk (fork #1)"),
                json!(null),
                json!(260)
            ],
        ]
    );
    assert_eq!(
        rows("SELECT count(*), sum(total), sum(cost_total) FROM usage"),
        [[json!(2), json!(260), json!(0.5)]]
    );
    assert_eq!(
        rows("SELECT calls, (SELECT count(*) FROM calls) FROM tools"),
        [[json!(2), json!(4)]]
    );
}

/// Until 0.5 an answer had a step for each request, and says itself what the last one took.
#[test]
fn steps_that_come_count_once() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    let message = "msg_2_ses_1";
    let own = json!({"total": 130, "input": 80, "output": 25, "reasoning": 5,
        "cache": {"read": 20, "write": 0}});
    let other =
        json!({"input": 40, "output": 10, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let later = json!({"total": 140, "input": 90, "output": 25, "reasoning": 5,
        "cache": {"read": 20, "write": 0}});
    let step = |tokens: &Value| json!({"type": "step-finish", "cost": 0.25, "tokens": tokens});
    let spent = |store: &Store, when: &str, expected: Value| {
        store.is_followed(when);
        let query = "SELECT count(*), sum(total), sum(cost_total) FROM usage";
        let rows = store.index().sql(query, &[]).unwrap().rows;
        assert_eq!(json!(rows), json!([expected]), "{when}");
    };
    spent(&store, "no step", json!([1, 130, 0.25]));
    store.part("ses_1", message, "prt_s1", &step(&other).to_string());
    spent(&store, "another step", json!([2, 180, 0.25]));
    store.part("ses_1", message, "prt_s2", &step(&own).to_string());
    spent(&store, "the step that it says", json!([2, 180, 0.25]));
    // It goes on.
    let now = store.tick();
    store.run(&format!(
        "UPDATE message SET data = json_set(data, '$.tokens', json('{later}')), time_updated = {now}
             WHERE id = '{message}'"
    ));
    store.note("ses_1");
    store.part("ses_1", message, "prt_s3", &step(&later).to_string());
    spent(&store, "a later step", json!([3, 320, 0.25]));
    // What a person runs behind `!` has an answer's row, and no step.
    store.message("ses_1", "msg_8", "user");
    store.message("ses_1", "msg_9", "assistant");
    store.run(
        "UPDATE message SET data = json_set(data, '$.cost', 0, '$.tokens', json('{\"input\":0,\"output\":0}'))
             WHERE id = 'msg_9'",
    );
    spent(&store, "a command", json!([3, 320, 0.25]));
    store.session("ses_2", "A talk (fork #1)");
    store.run(
        "INSERT INTO message SELECT id || 'f', 'ses_2', time_created + 500, time_updated + 500, data
             FROM message WHERE session_id = 'ses_1';
         INSERT INTO part SELECT id || 'f', message_id || 'f', 'ses_2', time_created + 500, time_updated + 500, data
             FROM part WHERE session_id = 'ses_1'",
    );
    spent(&store, "a fork", json!([3, 320, 0.25]));
}

/// 1.0 and 1.1 left the folder of a session's messages when they deleted it.
#[test]
fn an_empty_folder_is_no_session() {
    let store = store();
    let home = Home::new();
    as_tree(&store, "ses_1", &home.folder());
    let message = home.folder().join("storage/message");
    fs::create_dir_all(message.join("ses_0")).unwrap();
    assert_eq!(ids(&home.sync()), ["ses_1"]);
    // One that is deleted now.
    for folder in ["session/p", "message/ses_1"] {
        let folder = home.folder().join("storage").join(folder);
        for file in fs::read_dir(folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    assert!(ids(&home.sync()).is_empty());
    assert!(message.join("ses_1").is_dir());
}

/// A blank title is none.
#[test]
fn blank_titles_are_none() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    store.talk("ses_2", "walrus teeth", ANSWER);
    store.run("UPDATE session SET title = ' \t' WHERE id = 'ses_1'; UPDATE session SET title = ' A b ' WHERE id = 'ses_2'");
    let index = store.sync();
    assert_eq!(
        index
            .sql("SELECT name, title FROM sessions ORDER BY id", &[])
            .unwrap()
            .rows,
        [
            [json!(null), json!("walrus tusks")],
            [json!("A b"), json!("A b")]
        ]
    );
}

/// A compaction is a part that asks for it, and the answer to that.
#[test]
fn compaction_is_no_prompt_and_its_summary_is_found() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    store.message("ses_1", "msg_3", "user");
    let asked = json!({"type": "compaction", "auto": false}).to_string();
    store.part("ses_1", "msg_3", "prt_5", &asked);
    store.message("ses_1", "msg_4", "assistant");
    store.run(
        "UPDATE message SET data = json_set(data, '$.summary', json('true'), '$.mode', 'compaction') WHERE id = 'msg_4'",
    );
    store.text(
        "ses_1",
        "msg_4",
        "prt_6",
        "Tusks were talked about, and sealions.",
    );
    let index = store.sync();
    let rows = |query: &str| index.sql(query, &[]).unwrap().rows;
    assert_eq!(hits(&index, "sealions"), 1);
    assert_eq!(rows("SELECT count(*) FROM compactions"), [[json!(1)]]);
    assert_eq!(rows("SELECT tokens FROM sessions"), [[json!(260)]]);
    assert_eq!(
        rows("SELECT role FROM entries WHERE id = 'prt_5'"),
        [[json!(null)]]
    );
    clean(&index, "after a compaction");
}

/// The first versions had no columns for what they add to sessions later; their messages say it.
#[test]
fn schema_without_token_columns_says_the_same() {
    let (older, mut newer) = (store(), store());
    newer.run(
        "ALTER TABLE session ADD COLUMN cost REAL;
         ALTER TABLE session ADD COLUMN tokens_input INTEGER;
         ALTER TABLE session ADD COLUMN tokens_output INTEGER;
         ALTER TABLE session ADD COLUMN metadata TEXT;
         ALTER TABLE session ADD COLUMN path TEXT;
         ALTER TABLE session ADD COLUMN agent TEXT;
         ALTER TABLE session ADD COLUMN model TEXT;
         UPDATE session SET cost = 0.25, tokens_input = 80, tokens_output = 30, model = '{\"id\":\"m1\"}'",
    );
    newer.now += 1;
    same(
        &said(&newer.sync()),
        &said(&older.sync()),
        "with columns of later versions",
    );
}

/// Each release channel has a database of its own; a session that is in both is one that was
/// copied.
#[test]
fn databases_of_two_channels_are_both_read() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    let beta = store.folder().join("opencode-beta.db");
    store.run(&format!("VACUUM INTO '{}'", beta.display()));
    let writer = Connection::open(&beta).unwrap();
    writer
        .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
        .unwrap();
    let stable = store.writer.replace(writer);
    store.talk("ses_2", "heron", "They stand.");
    store.is_followed("two databases");
    let index = store.index();
    let both = [
        "opencode-beta.db/ses_1",
        "opencode-beta.db/ses_2",
        "opencode.db/ses_1",
    ];
    assert_eq!(paths(&index), both);
    let counted = "SELECT count(*), sum(total) FROM usage";
    let counted = |index: &Index| index.sql(counted, &[]).unwrap().rows;
    assert_eq!(counted(&index), [[json!(2), json!(260)]]);
    // What is written into one of them is read of that one alone.
    let mut indexer = Indexer::open(&store.config()).unwrap();
    indexer.sync().unwrap();
    store.text("ses_1", "msg_2_ses_1", "prt_9", "a lynx");
    let wal = store.folder().join("opencode-beta.db-wal");
    let report = indexer.sync_files(&[wal]).unwrap();
    assert_eq!(report.files_changed, 1);
    drop(indexer);
    assert_eq!(hits(&store.index(), "lynx"), 1);
    store.is_followed("one of them has grown");
    store.writer = stable;
    fs::remove_file(beta).unwrap();
    store.is_followed("one channel is gone");
    assert_eq!(paths(&store.index()), both[2..]);
    assert_eq!(counted(&store.index()), [[json!(1), json!(130)]]);
}

/// The title that the agent made, and the one that follows it; what it is called until then is not
/// searched.
#[test]
fn a_title_is_found_and_opens_the_session() {
    let mut store = Store::new(true, "WAL");
    store.talk("ses_1", "walrus tusks", ANSWER);
    let title = |title: &str| {
        store.run(&format!(
            "UPDATE session SET title = '{title}', time_updated = time_updated + 1"
        ));
        store.sync()
    };
    assert_eq!(
        hits(
            &title("New session - 2026-01-05T08:00:00.000Z"),
            "\"new session\""
        ),
        0
    );
    let index = title("Quokka lagoon");
    let answer = index
        .search("\"quokka lagoon\"", &SearchScope::default())
        .unwrap();
    let [session] = &answer.sessions[..] else {
        panic!("{answer:?}");
    };
    let hit = &session.hits[0];
    assert_eq!((&*hit.entry, hit.standing), ("ses_1", Standing::Name));
    let entry = Some(hit.entry.clone());
    let row = &session.session;
    let shown = index
        .show(
            row,
            &ShowScope {
                entry,
                ..ShowScope::default()
            },
        )
        .unwrap();
    assert_eq!(shown.entries.len(), 1);
    assert_eq!(
        shown.entries[0].text,
        [(Class::Prose, vec!["Quokka lagoon".to_owned()])]
    );
    // In the picker's preview it stands above what was said.
    let snapshot = index.snapshot().unwrap();
    let branch = snapshot.branch(row, Some(&hit.entry)).unwrap();
    let active = snapshot.branch(row, None).unwrap();
    assert_eq!((branch.focus(), branch.len()), (Some(0), active.len() + 1));
    // It is the line with which a copy of a branch begins.
    let mut copied = Vec::new();
    let written = snapshot.copy_branch(row, Some(&hit.entry), &mut copied);
    assert_eq!(
        (
            written.unwrap().lines,
            copied.split_inclusive(|byte| *byte == b'\n').count()
        ),
        (1, 1)
    );
    drop(snapshot);
    let index = title("Wombat hill");
    assert_eq!((hits(&index, "quokka"), hits(&index, "wombat")), (0, 1));
    store.is_followed("with another title");
}
