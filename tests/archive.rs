//! Is what an agent deletes still there, and what a person forgets gone?

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::index::{AgentListScope, ListScope, SearchScope};
use sessionary::model::{Report, SessionRow};
use sessionary::session::{Profile, SessionManager, Setup};
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::corpus;
use crate::histories::dump::root;
use crate::watching::watcher::{Watcher, until};

/// A header and messages, each with this text and its number.
pub fn session(id: &str, text: &str, messages: std::ops::Range<usize>) -> String {
    let mut lines = String::new();
    if messages.start == 0 {
        lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/code\"}}\n"
        );
    }
    for at in messages {
        lines.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text} {at}\"}}}}\n"
        ));
    }
    lines
}

/// A home with sessions of pi, an index and an archive.
pub struct Home(pub tempfile::TempDir);

impl Home {
    pub fn new() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.file("")).unwrap();
        home
    }

    /// One whose sessions are kept.
    pub fn keeping() -> Home {
        let home = Home::new();
        home.keep();
        home
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join("pi/--code--").join(name)
    }

    pub fn archive(&self) -> PathBuf {
        self.0.path().join("archive")
    }

    pub fn config(&self) -> Config {
        let roots = vec![root("pi", "pi", &self.0.path().join("pi"))];
        Config {
            archive_dir: Some(self.archive()),
            ..Config::new(self.0.path().join("index"), roots)
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    pub fn keep(&self) {
        let mut indexer = Indexer::open(&self.config()).unwrap();
        indexer.keep(&["pi".to_owned()]).unwrap();
    }

    pub fn sync(&self) -> Report {
        sync(&self.config())
    }

    pub fn index(&self) -> Index {
        Index::open(&self.config(), Freshness::Check).unwrap()
    }

    pub fn list(&self) -> Vec<SessionRow> {
        let scope = ListScope::default();
        self.index().list(&scope).unwrap().sessions
    }

    pub fn one(&self) -> SessionRow {
        let mut all = self.list();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    pub fn hits(&self, query: &str) -> usize {
        let found = self.index().search(query, &SearchScope::default()).unwrap();
        found.sessions.iter().map(|group| group.hits.len()).sum()
    }

    pub fn raw(&self, row: &SessionRow) -> String {
        let mut bytes = Vec::new();
        self.index().copy_raw(row, None, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    pub fn verify(&self) {
        is_whole(&self.config());
    }

    pub fn blocks(&self) -> String {
        every_block(&self.archive())
    }
}

pub fn sync(config: &Config) -> Report {
    Indexer::open(config).unwrap().sync().unwrap()
}

/// Neither store says anything else than the agent's stores and the archive do, which is whole.
pub fn is_whole(config: &Config) {
    let index = Index::open(config, Freshness::Check).unwrap();
    let found = index.verify().unwrap();
    assert_eq!((&*found.differences, &*found.behind), (&[][..], &[][..]));
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    let kept = config.verify_archive().unwrap().unwrap();
    assert_eq!(kept.damage, Vec::<String>::new());
}

/// The text of every block, of whatever age, in every file of the archive.
pub fn every_block(archive: &Path) -> String {
    let mut all = Vec::new();
    for file in fs::read_dir(archive).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        for at in memchr::memmem::find_iter(&bytes, &[0x28, 0xb5, 0x2f, 0xfd]) {
            let mut decoder = zstd::stream::read::Decoder::new(&bytes[at..]).unwrap();
            let _ = std::io::Read::read_to_end(&mut decoder, &mut all);
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn an_agents_own_list_is_without_the_sessions_whose_files_are_gone() {
    let home = Home::keeping();
    for name in ["a", "b"] {
        home.write(&format!("{name}.jsonl"), &session(name, "walrus", 0..2));
    }
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.sync();
    assert_eq!(home.list().len(), 2);
    let profile = Profile::of("pi").expect("a known agent");
    let setup = &Setup::new(profile, home.0.path().join("pi"));
    let go_on = &|_, _| ControlFlow::Continue(());
    let theirs = SessionManager::list_all(setup).unwrap();
    assert_eq!(theirs.len(), 1);
    for directory in [None, Some("/code")] {
        let scope = AgentListScope {
            cwd: directory.map(str::to_owned),
            with_text: true,
        };
        let ours = home
            .index()
            .ask(|snapshot| snapshot.agent_list(setup, &scope, go_on));
        assert_eq!(ours.unwrap(), theirs, "{directory:?}");
    }
}

#[test]
fn a_session_whose_file_is_gone_stays() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    let before = home.one();
    assert!(!before.archived && before.resume.is_some());
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    assert!(gone.archived && gone.gone_since.is_some());
    assert_eq!(gone.resume, None);
    assert_eq!((&gone.path, gone.message_count), (&before.path, 20));
    assert_eq!(home.hits("zanzibar"), 20);
    assert_eq!(home.raw(&gone), text);
    home.verify();
    // Nothing is to be done for it any more.
    assert_eq!(home.sync().files_changed, 0);
    // It is told once.
    let index = home.index();
    let said = index.sql("SELECT what FROM changes", &[]).unwrap();
    let said = serde_json::to_string(&said.rows).unwrap();
    assert!(
        said.contains("archived") && !said.contains("gone"),
        "{said}"
    );
    let sql = "SELECT archived, gone_ms IS NOT NULL FROM sessions";
    assert_eq!(index.sql(sql, &[]).unwrap().rows.len(), 1);
}

#[test]
fn a_rebuilt_index_has_what_only_the_archive_holds() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.sync();
    let before = home.list();
    let mut indexer = Indexer::open(&home.config()).unwrap();
    indexer.rebuild().unwrap();
    drop(indexer);
    let names = |rows: &[SessionRow]| {
        let rows = rows.iter();
        rows.map(|row| (row.id.clone(), row.archived, row.entries))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&home.list()), names(&before));
    assert_eq!(home.hits("zanzibar"), 20);
    home.verify();
    // Even where the whole folder is gone.
    fs::remove_dir_all(home.0.path().join("pi")).unwrap();
    fs::remove_dir_all(home.0.path().join("index")).unwrap();
    assert_eq!(home.list().len(), 2);
    assert_eq!(home.hits("quetzal"), 3);
}

#[test]
fn a_file_that_comes_back_is_the_session_again() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    let restored = home.index().restore(&gone).unwrap().files;
    assert_eq!(restored, [home.file("a.jsonl")]);
    assert_eq!(fs::read_to_string(&restored[0]).unwrap(), text);
    let back = home.one();
    assert!(!back.archived && back.gone_since.is_none() && back.resume.is_some());
    assert_eq!(home.index().versions(&back).unwrap().len(), 1);
    home.verify();
    // A file that is there is left as it is.
    home.write("a.jsonl", "mine\n");
    assert!(home.index().restore(&gone).unwrap().files.is_empty());
    assert_eq!(fs::read_to_string(&restored[0]).unwrap(), "mine\n");
}

#[test]
fn what_was_read_before_is_kept_as_well() {
    let home = Home::new();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    home.keep();
    home.sync();
    // And what is appended.
    let more = text + &session("a", "zanzibar", 20..25);
    home.write("a.jsonl", &more);
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert_eq!(home.raw(&home.one()), more);
    home.verify();
}

#[test]
fn without_an_archive_what_is_gone_is_gone() {
    let home = Home::new();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    assert!(!home.archive().exists());
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert!(home.list().is_empty());
    // An archive that keeps nothing of this agent keeps nothing.
    let mut indexer = Indexer::open(&home.config()).unwrap();
    indexer.keep(&["clido".to_owned()]).unwrap();
    drop(indexer);
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert!(home.list().is_empty());
}

#[test]
fn an_archive_that_is_removed_takes_what_only_it_held() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert_eq!(home.list().len(), 2);
    fs::remove_dir_all(home.archive()).unwrap();
    assert_eq!(home.one().id, "b");
    // Another one is filled from the files that are there.
    home.keep();
    home.sync();
    fs::remove_file(home.file("b.jsonl")).unwrap();
    assert!(home.one().archived);
}

#[test]
fn a_renamed_file_is_one_session() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    fs::rename(home.file("a.jsonl"), home.file("b.jsonl")).unwrap();
    let moved = home.one();
    assert!(!moved.archived && moved.path.ends_with("b.jsonl"));
    home.verify();
    fs::remove_file(home.file("b.jsonl")).unwrap();
    assert_eq!(home.raw(&home.one()), text);
}

#[test]
fn a_rewritten_session_keeps_its_older_versions() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    home.write("a.jsonl", &session("a", "quetzal", 0..5));
    home.sync();
    let row = home.one();
    let versions = home.index().versions(&row).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(versions[0].content.length > versions[1].content.length);
    assert_eq!(home.hits("zanzibar"), 0);
    home.verify();
}

#[test]
fn what_is_forgotten_is_in_no_file() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    home.write("a.jsonl", &session("a", "zanzibar again", 0..9));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let rows = home.list();
    let row = rows.iter().find(|row| row.id == "a").unwrap();
    assert!(home.blocks().contains("zanzibar"));
    let mut indexer = Indexer::open(&home.config()).unwrap();
    let mut report = Report::default();
    assert_eq!(indexer.forget(row, &mut report).unwrap(), 1);
    drop(indexer);
    assert_eq!(report.notes, Vec::<String>::new());
    let blocks = home.blocks();
    assert!(!blocks.contains("zanzibar") && blocks.contains("quetzal"));
    assert_eq!(home.one().id, "b");
    assert_eq!(home.hits("zanzibar"), 0);
    assert_eq!(
        crate::exclusion::files_with(&home.0.path().join("index"), "zanzibar"),
        0
    );
    // It is not kept again.
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    assert!(!home.blocks().contains("zanzibar"));
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert_eq!(home.one().id, "b");
    home.verify();
}

#[test]
fn what_is_excluded_leaves_the_archive() {
    for glob in ["*a.jsonl", "/code"] {
        let home = Home::new();
        home.keep();
        home.write("a.jsonl", &session("a", "zanzibar", 0..20));
        home.sync();
        fs::remove_file(home.file("a.jsonl")).unwrap();
        assert!(home.one().archived);
        assert!(home.blocks().contains("zanzibar"));
        let config = Config {
            rules: Rules::set(Exclude::new(&[glob]).unwrap(), FollowLinks::WithinRoots),
            ..home.config()
        };
        assert_eq!(sync(&config).notes.len(), 1);
        assert!(home.list().is_empty(), "{glob}");
        assert!(!home.blocks().contains("zanzibar"), "{glob}");
        home.verify();
    }
}

/// What was removed is in no free page and not in the write-ahead log, of which a reader may keep
/// the file.
fn assert_wiped(home: &Home, archive: &rusqlite::Connection) {
    let pages = |what| archive.pragma_query_value(None, what, |r| r.get::<_, i64>(0));
    assert_eq!(pages("freelist_count").unwrap(), 0);
    assert!(!home.blocks().contains("zanzibar"));
}

fn open_archive(home: &Home) -> rusqlite::Connection {
    let archive = rusqlite::Connection::open(home.archive().join("archive.sqlite")).unwrap();
    let read = archive.query_row("SELECT count(*) FROM blocks", [], |r| r.get::<_, i64>(0));
    assert!(read.unwrap() > 0);
    archive
}

/// A session of which a part fits into a page, and another one takes several.
fn keep_pages(home: &Home) {
    for lines in [20, 2000] {
        home.write("a.jsonl", &session("a", "zanzibar", 0..lines));
        home.sync();
    }
}

/// After `clean`, or with other roots, no catalogue knows what is kept.
#[test]
fn what_is_excluded_and_in_the_archive_alone_is_wiped() {
    let home = Home::keeping();
    keep_pages(&home);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    let reader = open_archive(&home);
    assert!(home.blocks().contains("zanzibar"));
    fs::remove_dir_all(home.0.path().join("index")).unwrap();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let config = Config {
        rules: Rules::set(
            Exclude::new(&["*a.jsonl"]).unwrap(),
            FollowLinks::WithinRoots,
        ),
        ..home.config()
    };
    assert_eq!(sync(&config).notes, Vec::<String>::new());
    assert_wiped(&home, &reader);
    assert_eq!(home.one().id, "b");
}

/// What is still to be wiped from the archive is noted in it: the catalogue is a cache.
#[test]
fn a_wipe_of_the_archive_outlasts_the_catalogue() {
    let home = Home::keeping();
    keep_pages(&home);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    let archive = open_archive(&home);
    archive.execute_batch("BEGIN; SELECT * FROM store").unwrap();
    let read = archive.query_row("SELECT count(*) FROM blocks", [], |r| r.get::<_, i64>(0));
    assert_eq!(read.unwrap(), 3);
    let rows = home.list();
    let row = rows.iter().find(|row| row.id == "a").unwrap();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let mut indexer = Indexer::open(&home.config()).unwrap();
    let mut report = Report::default();
    let path = home.file("a.jsonl");
    assert!(indexer.forget_deleted(row, [&path]).unwrap());
    indexer.wipe(&mut report).unwrap();
    assert!(report.notes[0].contains("until a later sync wipes it"));
    assert!(indexer.is_wipe_requested().unwrap());
    drop(indexer);
    fs::remove_dir_all(home.0.path().join("index")).unwrap();
    archive.execute_batch("COMMIT").unwrap();
    assert!(home.blocks().contains("zanzibar"));
    assert_eq!(home.sync().notes, Vec::<String>::new());
    assert_wiped(&home, &archive);
    assert!(
        !Indexer::open(&home.config())
            .unwrap()
            .is_wipe_requested()
            .unwrap()
    );
    assert_eq!(home.one().id, "b");
}

/// Who verifies a large archive reads it for minutes.
#[test]
fn who_reads_the_archive_keeps_neither_an_answer_nor_the_watcher() {
    let home = Home::keeping();
    keep_pages(&home);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let rows = home.list();
    let row = rows.iter().find(|row| row.id == "a").unwrap();
    let archive = open_archive(&home);
    archive.execute_batch("BEGIN").unwrap();
    let read = archive.query_row("SELECT count(*) FROM blocks", [], |r| r.get::<_, i64>(0));
    assert_eq!(read.unwrap(), 3);
    let mut indexer = Indexer::open(&home.config()).unwrap();
    let mut report = Report::default();
    assert_eq!(indexer.forget(row, &mut report).unwrap(), 1);
    // Who asked for it waits, and is told. The index is wiped all the same.
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].contains("another process uses the archive"));
    drop(indexer);
    let catalogue = home.0.path().join("index");
    assert_eq!(crate::exclusion::files_with(&catalogue, "zanzibar"), 0);

    let is_wipe_requested = || {
        Indexer::open(&home.config())
            .unwrap()
            .is_wipe_requested()
            .unwrap()
    };
    let watcher = Watcher::start(&home.config());
    until("it has looked", || !watcher.log().checked.is_empty());
    assert_eq!(watcher.log().notes, Vec::<String>::new());
    watcher.stop();
    // Nobody vouches for the index, so this one looks.
    let index = home.index();
    assert_eq!(index.report().unwrap().notes, Vec::<String>::new());
    assert!(is_wipe_requested());
    archive.execute_batch("COMMIT").unwrap();
    // To write all of it anew is no part of an answer.
    assert_eq!(home.one().id, "b");
    assert!(is_wipe_requested());
    home.sync();
    assert_wiped(&home, &archive);
    assert!(!is_wipe_requested());
}

#[test]
fn deleted_files_leave_the_archive() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    // Another process may have noticed it already.
    home.sync();
    let row = home.one();
    let mut indexer = Indexer::open(&home.config()).unwrap();
    let path = home.file("a.jsonl");
    assert!(indexer.forget_deleted(&row, [&path]).unwrap());
    indexer.wipe(&mut Report::default()).unwrap();
    drop(indexer);
    assert!(home.list().is_empty());
    assert!(!home.blocks().contains("zanzibar"));
}

/// Where the archive cannot be written the answer is complete all the same, and what was read is
/// kept as soon as it can be.
#[test]
fn an_archive_that_cannot_be_written_is_caught_up_with() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    let other = rusqlite::Connection::open(home.archive().join("archive.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let report = home.sync();
    assert!(
        report.notes.iter().any(|note| note.contains("archive")),
        "{:?}",
        report.notes
    );
    assert_eq!(home.hits("zanzibar"), 20);
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(home.sync().notes, Vec::<String>::new());
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert_eq!(home.raw(&home.one()), text);
    home.verify();
}

/// The same where it cannot even be opened: of a session that is kept, of a new one, and of one
/// that goes meanwhile, of which the archive has what was kept before.
#[test]
fn an_archive_that_cannot_be_opened_is_caught_up_with() {
    let home = Home::keeping();
    for name in ["a", "gone"] {
        home.write(&format!("{name}.jsonl"), &session(name, "zanzibar", 0..20));
    }
    home.sync();
    let file = home.archive().join("archive.sqlite");
    let aside = home.archive().join("aside");
    fs::rename(&file, &aside).unwrap();
    fs::create_dir(&file).unwrap();
    for name in ["a", "gone"] {
        home.write(&format!("{name}.jsonl"), &session(name, "zanzibar", 0..30));
    }
    home.write("new.jsonl", &session("new", "heron", 0..5));
    let report = home.sync();
    assert!(
        report.notes.iter().any(|note| note.contains("archive")),
        "{:?}",
        report.notes
    );
    assert_eq!(home.hits("zanzibar"), 20);
    fs::remove_file(home.file("gone.jsonl")).unwrap();
    home.sync();
    fs::remove_dir(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    home.sync();
    for name in ["a", "new"] {
        fs::remove_file(home.file(&format!("{name}.jsonl"))).unwrap();
    }
    home.sync();
    let all = home.list();
    let raw = |id: &str| home.raw(all.iter().find(|row| row.id == id).unwrap());
    assert_eq!(raw("a"), session("a", "zanzibar", 0..30));
    assert_eq!(raw("new"), session("new", "heron", 0..5));
    assert_eq!(raw("gone"), session("gone", "zanzibar", 0..20));
    home.verify();
}

/// Who may not see them can leave them out.
#[test]
fn only_live_sessions_are_found_where_that_is_asked_for() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.write("b.jsonl", &session("b", "zanzibar heron", 0..3));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let index = home.index();
    let scope = ListScope {
        only_live: true,
        ..ListScope::default()
    };
    let live = index.list(&scope).unwrap().sessions;
    assert_eq!(live.iter().map(|row| &*row.id).collect::<Vec<_>>(), ["b"]);
    let found = |only_live| {
        let scope = SearchScope {
            only_live,
            limit: None,
            ..SearchScope::default()
        };
        index.search("zanzibar", &scope).unwrap().sessions.len()
    };
    assert_eq!((found(true), found(false)), (1, 2));
}

/// The archive takes hardly more than its bytes do when they are compressed file by file.
#[test]
fn blocks_pages_and_rows_take_little_room() {
    let home = Home::keeping();
    let spec = corpus::Spec {
        bytes: 8 << 20,
        files: 0,
        seed: 1,
    };
    let written = corpus::write(&home.0.path().join("pi"), spec).unwrap();
    home.sync();
    let kept = home.config().archive_status().unwrap().unwrap();
    let bytes: u64 = kept.agents.iter().map(|agent| agent.bytes).sum();
    assert_eq!(bytes, written.bytes);
    let mut least = 0;
    for file in walkdir::WalkDir::new(home.0.path().join("pi")) {
        let file = file.unwrap();
        if file.file_type().is_file() {
            let bytes = fs::read(file.path()).unwrap();
            least += zstd::bulk::compress(&bytes, 1).unwrap().len() as u64;
        }
    }
    // Its write-ahead log is emptied by and by.
    let stored = fs::metadata(home.archive().join("archive.sqlite")).unwrap();
    let stored = stored.len();
    assert!(stored < least * 11 / 10, "{stored} where {least} would do");
}

/// Whatever the agent does with it soon afterwards.
#[test]
fn a_file_that_was_there_for_a_moment_is_kept_by_the_watcher() {
    let home = Home::keeping();
    let watcher = Watcher::start(&home.config());
    let number = |sql: &str| {
        let index = Index::open(&home.config(), Freshness::AsCommitted).unwrap();
        index.sql(sql, &[]).unwrap().rows[0][0].as_i64().unwrap()
    };
    for at in 0..3 {
        let name = format!("{at}.jsonl");
        let text = session(&name, "zanzibar", 0..30);
        home.write(&name, &text);
        let there = format!("SELECT count(*) FROM sessions WHERE id = '{name}'");
        until("it is read", || number(&there) == 1);
        fs::remove_file(home.file(&name)).unwrap();
        let archived = format!("SELECT count(*) FROM sessions WHERE id = '{name}' AND archived");
        until("it is known to be gone", || number(&archived) == 1);
        let rows = home.list();
        let row = rows.iter().find(|row| row.id == name).unwrap();
        assert_eq!(home.raw(row), text);
    }
    watcher.stop();
    home.verify();
}

/// What the catalogue says is kept, at whatever moment a sync is killed, is in the archive; and
/// after the next sync everything is.
#[cfg(unix)]
#[test]
fn a_killed_sync_loses_nothing_that_is_said_to_be_kept() {
    use std::process::{Command, Stdio};
    let kills = std::env::var("SESSIONARY_ARCHIVE_KILLS").map_or(12, |n| n.parse().unwrap());
    let seed = std::env::var("SESSIONARY_SEED").map_or(1, |n| n.parse().unwrap());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let home = Home::new();
    let place = home.0.path();
    let root = format!("pi:{}", place.join("pi").display());
    let index = place.join("index").display().to_string();
    let command = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary"));
        command.args(["--index", &index, "--no-default-roots", "--root", &root]);
        command.args(words).env_clear();
        command
            .env("HOME", place)
            .env("XDG_DATA_HOME", place.join("data"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    assert!(command(&["archive", "on"]).status().unwrap().success());
    let database = place.join("data/sessionary/archive/archive.sqlite");
    let (mut was_killed, mut proven) = (0, 0u64);
    for round in 0..kills {
        for _ in 0..20 {
            let name = format!("{}.jsonl", random.random_range(0..30));
            let before = fs::read_to_string(home.file(&name)).unwrap_or_default();
            let lines = random.random_range(50..1500);
            let text = format!("w{} zanzibar", random.random_range(0..500));
            let begin = usize::from(!before.is_empty());
            home.write(&name, &(before + &session(&name, &text, begin..lines)));
        }
        let mut sync = command(&["sync"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(
            random.random_range(1..250),
        ));
        let _ = sync.kill();
        was_killed += u64::from(!sync.wait().unwrap().success());
        let contents = every_content(&rusqlite::Connection::open(&database).unwrap());
        let catalogue = place.join(format!(
            "index/v{}/catalogue.sqlite",
            sessionary::GENERATION
        ));
        let catalogue = rusqlite::Connection::open(catalogue).unwrap();
        let mut kept = catalogue
            .prepare("SELECT relative, consumed FROM _sources WHERE is_kept = 1")
            .unwrap();
        let mut rows = kept.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (relative, length): (String, usize) =
                (row.get(0).unwrap(), row.get::<_, i64>(1).unwrap() as usize);
            let bytes = fs::read(place.join("pi").join(&relative)).unwrap();
            let is_kept = contents
                .iter()
                .any(|kept| kept.starts_with(&bytes[..length]));
            assert!(is_kept, "round {round}, seed {seed}: {relative}");
            proven += 1;
        }
    }
    assert!(command(&["sync"]).status().unwrap().success());
    let files: Vec<_> = fs::read_dir(home.file("")).unwrap().flatten().collect();
    let texts: Vec<_> = files
        .iter()
        .map(|file| fs::read(file.path()).unwrap())
        .collect();
    fs::remove_dir_all(place.join("pi")).unwrap();
    assert!(command(&["verify"]).status().unwrap().success());
    for (file, text) in files.iter().zip(texts) {
        let id = file.file_name().into_string().unwrap();
        let restored = command(&["archive", "restore", &id]).status().unwrap();
        assert!(restored.success(), "{id}");
        assert_eq!(fs::read(file.path()).unwrap(), text, "{id}");
    }
    assert!(command(&["archive", "verify"]).status().unwrap().success());
    println!("{was_killed} of {kills} syncs killed, {proven} kept sources proven, 0 bytes missing");
}

/// What an agent, a person or an accident may do to a file.
fn disturb(random: &mut ChaCha8Rng, file: &Path, others: &Path, number: &mut usize) {
    let there = fs::read(file).ok();
    let text = format!("w{} zanzibar", random.random_range(0..500));
    *number += 1;
    let mut more = session("a", &text, *number..*number + random.random_range(1..30)).into_bytes();
    match (random.random_range(0..9), there) {
        (0, Some(_)) => fs::remove_file(file).unwrap(),
        (1, Some(_)) => fs::rename(file, others).unwrap(),
        (2, Some(bytes)) => {
            let length = random.random_range(0..=bytes.len());
            fs::write(file, &bytes[..length]).unwrap();
        }
        (3, Some(mut bytes)) if !bytes.is_empty() => {
            let at = random.random_range(0..bytes.len());
            bytes[at] = b'Q';
            fs::write(file, bytes).unwrap();
        }
        // A line that is not whole yet.
        (4, Some(mut bytes)) => {
            more.truncate(random.random_range(1..=more.len()));
            bytes.extend(more);
            fs::write(file, bytes).unwrap();
        }
        (5..9, Some(mut bytes)) => {
            bytes.extend(more);
            fs::write(file, bytes).unwrap();
        }
        _ => fs::write(file, session("a", &text, 0..random.random_range(0..40))).unwrap(),
    }
}

/// Whatever happens to files between two syncs: what a sync has read is there byte for byte.
#[test]
fn histories_with_deletions_lose_no_byte() {
    let rounds = std::env::var("SESSIONARY_ARCHIVES").map_or(25, |n| n.parse().unwrap());
    let first = std::env::var("SESSIONARY_SEED").map_or(0, |n| n.parse().unwrap());
    let mut contents = 0;
    for seed in first..first + rounds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let home = Home::new();
        home.keep();
        let names = ["a.jsonl", "b.jsonl", "c.jsonl"];
        let mut read: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 3];
        let mut number = 0;
        for _ in 0..random.random_range(2..12) {
            let (at, other) = (random.random_range(0..3), random.random_range(0..3));
            disturb(
                &mut random,
                &home.file(names[at]),
                &home.file(names[other]),
                &mut number,
            );
            if random.random_bool(0.5) {
                continue;
            }
            if random.random_bool(0.1) {
                let _ = fs::remove_dir_all(home.0.path().join("index"));
            }
            home.sync();
            for (name, read) in names.iter().zip(&mut read) {
                if let Ok(bytes) = fs::read(home.file(name)) {
                    read.push(bytes);
                }
            }
        }
        home.sync();
        let archived = rusqlite::Connection::open(home.archive().join("archive.sqlite")).unwrap();
        let all = every_content(&archived);
        for bytes in read.iter().flatten() {
            contents += 1;
            assert!(
                all.iter().any(|kept| kept.starts_with(bytes)),
                "seed {seed}: {} bytes are missing",
                bytes.len()
            );
        }
        // What is listed can be read, and says what is kept.
        for row in home.list() {
            let raw = home.raw(&row).into_bytes();
            assert!(all.contains(&raw), "seed {seed}: {}", row.path.display());
            assert_eq!(row.archived, !row.path.exists(), "seed {seed}");
        }
        home.verify();
    }
    println!("{contents} contents in {rounds} histories, 0 bytes missing");
}

/// Every content of every source, joined from its blocks.
pub fn every_content(archive: &rusqlite::Connection) -> Vec<Vec<u8>> {
    let sql = "SELECT generation, b.length, data FROM parts JOIN blocks b USING (block) ORDER BY generation, start";
    let mut parts = archive.prepare(sql).unwrap();
    let mut rows = parts.query([]).unwrap();
    let mut all = vec![(0, Vec::new())];
    while let Some(row) = rows.next().unwrap() {
        let (generation, length): (i64, i64) = (row.get(0).unwrap(), row.get(1).unwrap());
        let data: Vec<u8> = row.get(2).unwrap();
        let bytes = zstd::bulk::decompress(&data, length as usize).unwrap();
        if all.last().unwrap().0 != generation {
            all.push((generation, Vec::new()));
        }
        all.last_mut().unwrap().1.extend(bytes);
    }
    all.into_iter().map(|(_, bytes)| bytes).collect()
}
