//! Codex: what a fork inherits is shown with it and found with its origin, and what moves, is cut
//! or is compressed is read on.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::json;
use sessionary::index::{ListScope, SearchScope, ShowScope, SpendingScope, TreeScope, caught_up};
use sessionary::model::{Report, SessionRow};
use sessionary::{Config, Freshness, Index, Indexer, RootSpec};
use tempfile::TempDir;

use crate::store::{Store, hits_once};
use crate::watching::watcher::{Watcher, until};

/// A folder of Codex's in which fixtures lie where Codex puts its rollouts.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new(case: &str) -> Home {
        let home = Home {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(home.day()).unwrap();
        for file in rollouts(case) {
            fs::copy(&file, home.day().join(file.file_name().unwrap())).unwrap();
        }
        home
    }

    fn codex(&self) -> PathBuf {
        self.folder.path().join("codex")
    }

    fn day(&self) -> PathBuf {
        self.codex().join("sessions/2026/01/05")
    }

    fn config(&self) -> Config {
        let roots = ["sessions", "archived_sessions"]
            .map(|folder| RootSpec::new("codex", self.codex().join(folder)));
        Config::new(self.folder.path().join("index"), roots.to_vec())
    }

    /// An index of what is there now, which equals the files.
    fn index(&self) -> Index {
        let config = self.config();
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        index
    }

    fn archive(&self, rollout: &Path) {
        let archived = self.codex().join("archived_sessions");
        fs::create_dir_all(&archived).unwrap();
        fs::rename(self.day().join(rollout), archived.join(rollout)).unwrap();
    }
}

/// The rollouts of a case, sorted by their threads.
fn rollouts(case: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex");
    let files = fs::read_dir(folder.join(case)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut rollouts: Vec<_> = files
        .filter(|path| path.extension().unwrap() == "jsonl")
        .collect();
    rollouts.sort();
    rollouts
}

fn name(case: &str, at: usize) -> PathBuf {
    rollouts(case)[at].file_name().unwrap().into()
}

/// The session of the fixtures' thread of this number.
fn session(index: &Index, number: u32) -> SessionRow {
    let sessions = index.list(&ListScope::default()).unwrap().sessions;
    let id = id(number);
    sessions.into_iter().find(|row| row.id == id).unwrap()
}

/// Role, text and origin of all that a session says.
fn said(index: &Index, number: u32) -> Vec<(String, String, bool)> {
    let shown = index
        .show(&session(index, number), &ShowScope::default())
        .unwrap();
    let said = shown.entries.into_iter().map(|entry| {
        let pieces: Vec<String> = entry.text.into_iter().flat_map(|(_, text)| text).collect();
        let role = entry.role.unwrap_or(entry.kind);
        (role, pieces.join(" "), entry.inherited_from.is_some())
    });
    said.filter(|(role, ..)| role != "system").collect()
}

fn typed(index: &Index, number: u32) -> Vec<(String, bool)> {
    let said = said(index, number).into_iter();
    said.filter(|(role, ..)| role == "user")
        .map(|(_, text, inherited)| (text, inherited))
        .collect()
}

fn lost(index: &Index, number: u32) -> Option<String> {
    let row = session(index, number);
    let shown = index.show(&row, &ShowScope::default()).unwrap();
    let tree = index.tree(&row, TreeScope::default()).unwrap();
    assert_eq!(shown.lost, tree.lost);
    shown.lost
}

fn hits(index: &Index, query: &str) -> Vec<String> {
    let found = index.search(query, &SearchScope::default()).unwrap();
    let hits = found.sessions.into_iter().flat_map(|group| group.hits);
    let mut addresses: Vec<String> = hits.map(|hit| hit.address).collect();
    addresses.sort();
    addresses
}

#[test]
fn fork_with_history_base() {
    let home = Home::new("forks");
    let index = home.index();
    let origin = typed(&index, 16);
    assert_eq!(origin, [("Where does the walrus sleep?".to_owned(), false)]);
    assert_eq!(
        typed(&index, 17),
        [
            ("Where does the walrus sleep?".to_owned(), true),
            ("And in summer?".to_owned(), false)
        ]
    );
    let inherited = said(&index, 17)
        .into_iter()
        .filter(|(.., inherited)| *inherited);
    assert_eq!(inherited.count(), said(&index, 16).len());
    let tree = index
        .tree(&session(&index, 17), TreeScope::default())
        .unwrap();
    let rows = tree
        .entries
        .iter()
        .filter(|row| row.inherited_from.is_some());
    assert!(rows.count() > 5);
    assert_eq!(lost(&index, 17), None);
    // What is inherited is found where it stands.
    let found = hits(&index, "walrus");
    assert!(!found.is_empty());
    assert!(
        found
            .iter()
            .all(|address| address.starts_with("019b8d5e-7c80-7000-8000-000000000010:")),
        "{found:?}"
    );
    // All entries of the file are its own.
    let all = ShowScope {
        all: true,
        ..ShowScope::default()
    };
    let own = index.show(&session(&index, 17), &all).unwrap();
    assert!(
        own.entries
            .iter()
            .all(|entry| entry.inherited_from.is_none())
    );
    // 390 of the origin, and 130 of each fork.
    let tokens = [16, 17, 18].map(|number| session(&index, number).tokens.unwrap());
    assert_eq!(tokens, [390, 130, 130]);
}

/// As the tree of a fork names them, whole or shortened.
#[test]
fn what_is_inherited_is_named_in_the_fork_too() {
    let home = Home::new("forks");
    let index = home.index();
    for number in [17, 18] {
        let fork = session(&index, number);
        let short = index
            .ask(|snapshot| snapshot.short_entry_ids(&fork))
            .unwrap();
        let tree = index.tree(&fork, TreeScope::default()).unwrap();
        let rows = tree.entries.into_iter();
        let inherited = rows.filter(|row| row.inherited_from.is_some());
        // An `L<line>` is a line of the fork's own file.
        let with_id = inherited.filter(|row| !row.id.starts_with('L'));
        let named: Vec<String> = with_id.map(|row| row.id).collect();
        assert!(named.len() > 2, "{named:?}");
        for id in named {
            let meant = index.ask(|snapshot| snapshot.entry_named(&fork, short.short(&id)));
            assert_eq!(meant.unwrap(), id);
            assert!(
                index
                    .ask(|snapshot| snapshot.shows_entry(&fork, &id))
                    .unwrap()
            );
            assert!(
                !index
                    .ask(|snapshot| snapshot.has_entry(&fork, &id))
                    .unwrap()
            );
            let scope = ShowScope {
                entry: Some(id.clone()),
                ..ShowScope::default()
            };
            let shown = index.show(&fork, &scope).unwrap();
            let [entry] = &shown.entries[..] else {
                panic!("{shown:?}");
            };
            assert_eq!(entry.id, id);
            assert!(entry.inherited_from.is_some());
            // What goes on from it is the fork, to its end.
            let snapshot = index.snapshot().unwrap();
            let branch = snapshot.branch(&fork, Some(&id)).unwrap();
            assert!(branch.focus().is_some());
            let whole = snapshot.branch(&fork, None).unwrap();
            assert_eq!(branch.len(), whole.len());
            assert!(snapshot.is_on_branch(&fork, &id).unwrap());
            assert!(!snapshot.raw(&fork, Some(&id)).unwrap().is_empty());
        }
    }
    // What its origin has said since is none of it.
    let fork = session(&index, 18);
    let origin = session(&index, 17);
    let branch = index.show(&origin, &ShowScope::default()).unwrap();
    let later = branch.entries.last().unwrap().id.clone();
    let shows = index.ask(|snapshot| snapshot.shows_entry(&fork, &later));
    assert!(!shows.unwrap());
}

#[test]
fn fork_of_a_fork() {
    let home = Home::new("forks");
    let index = home.index();
    assert_eq!(
        typed(&index, 18),
        [
            ("Where does the walrus sleep?".to_owned(), true),
            ("And in summer?".to_owned(), true),
            ("And in autumn?".to_owned(), false)
        ]
    );
    // The answer of its origin stands behind the byte at which it was forked.
    assert!(
        said(&index, 18)
            .iter()
            .all(|(_, text, _)| text != "On the beach.")
    );
}

#[test]
fn parent_archived_or_missing() {
    let home = Home::new("forks");
    home.archive(&name("forks", 0));
    let index = home.index();
    assert_eq!(typed(&index, 17).len(), 2);
    assert_eq!(lost(&index, 17), None);
    let archived = session(&index, 16);
    assert_eq!(archived.reason.as_deref(), Some("archived"));
    // Each knows the other, below whichever of Codex's folders they lie.
    let tree = |index: &Index, number| {
        let row = session(index, number);
        index.tree(&row, TreeScope::default()).unwrap()
    };
    let paths = [16, 17].map(|number| session(&index, number).path);
    let [origin, fork] = paths.map(|path| path.display().to_string());
    assert_eq!(tree(&index, 17).ancestors, [origin]);
    assert_eq!(tree(&index, 16).forks, [fork]);
    drop(index);
    fs::remove_file(
        home.codex()
            .join("archived_sessions")
            .join(name("forks", 0)),
    )
    .unwrap();
    let index = home.index();
    assert_eq!(typed(&index, 17), [("And in summer?".to_owned(), false)]);
    let why = lost(&index, 17).unwrap();
    assert!(why.ends_with("000000000010 is not in the index"), "{why}");
    // What its own origin holds is still there for the fork of the fork.
    assert_eq!(typed(&index, 18).len(), 2);
    assert_eq!(lost(&index, 18), Some(why));
}

#[test]
fn file_cut_by_revert() {
    let home = Home::new("forks");
    home.index();
    // A revert cuts the rollout in place, and the thread goes on with other lines.
    let origin = home.day().join(name("forks", 0));
    let text = fs::read_to_string(&origin).unwrap();
    let mut kept: Vec<&str> = text.split_inclusive('\n').collect();
    kept.truncate(12);
    fs::write(&origin, kept.concat()).unwrap();
    let index = home.index();
    assert_eq!(session(&index, 16).entries, 12);
    let why = lost(&index, 17).unwrap();
    assert!(why.ends_with("was changed since"), "{why}");
    assert_eq!(typed(&index, 17), [("And in summer?".to_owned(), false)]);
    assert_eq!(hits(&index, "pole"), [] as [&str; 0]);
}

#[test]
fn subagent_is_not_at_top_level() {
    let home = Home::new("subagent");
    for file in rollouts("the-same-talk") {
        fs::copy(&file, home.day().join(file.file_name().unwrap())).unwrap();
    }
    let folded = ListScope {
        fold_subagents: true,
        ..ListScope::default()
    };
    let index = home.index();
    assert_eq!(session(&index, 1).subagents, 2);
    let before = index.list(&folded).unwrap().total;
    drop(index);
    // Nor is it where the one that started it is archived.
    home.archive(&name("the-same-talk", 0));
    let index = home.index();
    assert_eq!(session(&index, 1).subagents, 2);
    assert_eq!(index.list(&folded).unwrap().total, before);
    let sessions = index.list(&ListScope::default()).unwrap().sessions;
    let parents: Vec<_> = sessions
        .iter()
        .filter(|row| row.id.ends_with('e') || row.id.ends_with('f'))
        .collect();
    assert!(parents.iter().all(|row| row.parent_session_path.is_some()));
    let roles = index
        .search("role:user seals", &SearchScope::default())
        .unwrap();
    assert_eq!(roles.total, 0);
    assert!(
        index
            .search("role:injected seals", &SearchScope::default())
            .unwrap()
            .total
            > 0
    );
}

#[test]
fn a_word_of_instructions_or_skills_is_found_by_kind_alone() {
    let home = Home::new("the-same-talk");
    let index = home.index();
    for word in ["quagmarine", "zephyrine", "flamingonium"] {
        assert_eq!(
            index.search(word, &SearchScope::default()).unwrap().total,
            0,
            "{word}"
        );
    }
    let prompts = index
        .search("kind:system zephyrine", &SearchScope::default())
        .unwrap();
    assert!(prompts.total > 0);
}

/// Which of several copies is named hangs on no order in which they came.
#[test]
fn of_copies_of_a_prompt_the_same_one_is_named() {
    let named = |order: [usize; 2]| {
        let home = Home::new("the-same-talk");
        let rollout = name("the-same-talk", 0);
        let text = fs::read(home.day().join(&rollout)).unwrap();
        fs::remove_dir_all(home.codex()).unwrap();
        fs::create_dir_all(home.day()).unwrap();
        let copies = [rollout.clone(), format!("ln-{}", rollout.display()).into()];
        for at in order {
            let path = home.day().join(&copies[at]);
            fs::write(&path, &text).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_600_000);
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(time)
                .unwrap();
            drop(home.index());
        }
        let found = home
            .index()
            .search("kind:system zephyrine", &SearchScope::default())
            .unwrap();
        assert_eq!(found.total, 1);
        found.sessions[0]
            .session
            .path
            .file_name()
            .unwrap()
            .to_owned()
    };
    assert_eq!(named([0, 1]), named([1, 0]));
}

#[test]
fn jsonl_zst() {
    let home = Home::new("the-same-talk");
    let plain = home.index();
    let before = (said(&plain, 1), session(&plain, 1).tokens);
    drop(plain);
    home.archive(&name("the-same-talk", 0));
    let archived = home
        .codex()
        .join("archived_sessions")
        .join(name("the-same-talk", 0));
    let compressed = archived.with_extension("jsonl.zst");
    let text = fs::read(&archived).unwrap();
    fs::write(&compressed, zstd::bulk::compress(&text, 1).unwrap()).unwrap();
    // While both are there the plain one is read, and nothing twice.
    let both = home.index();
    assert_eq!(session(&both, 1).path, archived);
    assert_eq!(said(&both, 1), before.0);
    drop(both);
    fs::remove_file(&archived).unwrap();
    let index = home.index();
    assert_eq!(session(&index, 1).path, compressed);
    assert_eq!((said(&index, 1), session(&index, 1).tokens), before);
}

/// A few kilobytes that become very many are a problem, and fill no disk.
#[test]
fn a_rollout_that_decompresses_to_very_much_is_not_read() {
    let home = Home::new("the-same-talk");
    let compressed = "rollout-2026-01-05T09-00-00-00000000-0000-7000-8000-0000000000ff.jsonl.zst";
    let bomb = zstd::bulk::compress(&vec![b'a'; 100 << 20], 1).unwrap();
    assert!(bomb.len() < 100 << 10, "{}", bomb.len());
    fs::write(home.day().join(compressed), bomb).unwrap();
    let index = home.index();
    assert!(!said(&index, 1).is_empty());
    let unread = "SELECT relative, reason FROM problems WHERE what = 'unread'";
    let unread = index.sql(unread, &[]).unwrap().rows;
    assert_eq!(unread.len(), 1, "{unread:?}");
    let said = unread[0][1].to_string();
    assert!(said.contains("and decompressed more than"), "{said}");
}

/// A sync reads it no better, so it is not behind.
#[test]
fn a_compressed_rollout_that_is_cut_is_unread() {
    let home = Home::new("the-same-talk");
    let plain = home.day().join(name("the-same-talk", 0));
    let compressed = plain.with_extension("jsonl.zst");
    let bytes = zstd::bulk::compress(&fs::read(&plain).unwrap(), 1).unwrap();
    fs::write(&compressed, &bytes).unwrap();
    fs::remove_file(&plain).unwrap();
    drop(home.index());
    fs::write(&compressed, &bytes[..bytes.len() / 2]).unwrap();
    for _ in 0..2 {
        crate::archive::sync(&home.config());
        let index = Index::open(&home.config(), Freshness::AsCommitted).unwrap();
        let found = index.verify().unwrap();
        let unread: Vec<_> = found.unread.iter().map(|unread| &unread.path).collect();
        assert_eq!(unread, [&compressed]);
        assert!(found.behind.is_empty(), "{:?}", found.behind);
    }
}

/// Listed, searched, shown, verified and kept: the archive has the file as it was.
#[test]
fn a_compressed_rollout_is_kept_as_it_was() {
    let home = Home::new("the-same-talk");
    let plain = home.day().join(name("the-same-talk", 0));
    let compressed = plain.with_extension("jsonl.zst");
    let text = fs::read(&plain).unwrap();
    let bytes = zstd::bulk::compress(&text, 1).unwrap();
    fs::write(&compressed, &bytes).unwrap();
    fs::remove_file(&plain).unwrap();
    let archive = home.folder.path().join("archive");
    let config = Config {
        archive_dir: Some(archive),
        ..home.config()
    };
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.sync().unwrap();
    indexer.keep(&["codex".to_owned()]).unwrap();
    indexer.sync().unwrap();
    drop(indexer);
    let index = || Index::open(&config, Freshness::Check).unwrap();
    let live = index();
    let (before, found) = (said(&live, 1), hits(&live, "walrus"));
    assert!(!before.is_empty());
    assert_eq!(session(&live, 1).path, compressed);
    drop(live);
    fs::remove_file(&compressed).unwrap();
    crate::archive::sync(&config);
    crate::archive::is_whole(&config);
    let gone = index();
    let row = session(&gone, 1);
    assert!(row.archived, "{row:?}");
    assert_eq!((said(&gone, 1), hits(&gone, "walrus")), (before, found));
    assert_eq!(
        gone.restore(&row).unwrap().files,
        std::slice::from_ref(&compressed)
    );
    assert_eq!(fs::read(&compressed).unwrap(), bytes);
}

/// What is read of Codex's sessions is kept.
fn keeping(home: &Home) -> Config {
    let config = Config {
        archive_dir: Some(home.folder.path().join("archive")),
        ..home.config()
    };
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&["codex".to_owned()]).unwrap();
    config
}

/// What cannot be decoded is not the session of which the archive has every byte.
#[test]
fn a_kept_rollout_beside_a_torn_copy_stays() {
    let home = Home::new("the-same-talk");
    let plain = home.day().join(name("the-same-talk", 0));
    let compressed = plain.with_extension("jsonl.zst");
    let bytes = zstd::bulk::compress(&fs::read(&plain).unwrap(), 1).unwrap();
    let config = keeping(&home);
    let look = || {
        crate::archive::sync(&config);
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let row = session(&index, 1);
        (row.archived, row.entries)
    };
    let (_, entries) = look();
    // It is torn while the plain one goes, then once more when that has been gone for long.
    fs::write(&compressed, &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(&plain).unwrap();
    assert_eq!(look(), (true, entries));
    fs::remove_file(&compressed).unwrap();
    assert_eq!(look(), (true, entries));
    fs::write(&compressed, &bytes[..bytes.len() / 3]).unwrap();
    assert_eq!(look(), (true, entries));
    fs::write(&compressed, &bytes).unwrap();
    assert_eq!(look(), (false, entries));
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let versions = index.versions(&session(&index, 1)).unwrap();
    let paths: Vec<_> = versions.into_iter().map(|version| version.path).collect();
    assert_eq!(paths, [plain, compressed]);
}

/// One of them is the session, whichever Codex has made of the other; what is gone is listed once.
#[test]
fn a_kept_rollout_that_is_compressed_or_unpacked_is_one_session() {
    let home = Home::new("the-same-talk");
    let plain = home.day().join(name("the-same-talk", 0));
    let compressed = plain.with_extension("jsonl.zst");
    let text = fs::read(&plain).unwrap();
    let bytes = zstd::bulk::compress(&text, 1).unwrap();
    let config = keeping(&home);
    let look = || {
        crate::archive::sync(&config);
        crate::archive::is_whole(&config);
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let row = session(&index, 1);
        let sources = "SELECT count(*) FROM sources WHERE relative LIKE '%0000000001.jsonl%'";
        let sources = index.sql(sources, &[]).unwrap().rows[0][0].as_i64();
        (row.archived, row.entries, sources)
    };
    let (archived, entries, sources) = look();
    assert_eq!((archived, sources), (false, Some(1)));
    let once = |archived| (archived, entries, Some(1));
    fs::write(&compressed, &bytes).unwrap();
    fs::remove_file(&plain).unwrap();
    assert_eq!(look(), once(false));
    fs::write(&plain, &text).unwrap();
    fs::remove_file(&compressed).unwrap();
    assert_eq!(look(), once(false));
    // Also for an index that is made anew, and when nothing is there any more.
    fs::remove_dir_all(&config.index_dir).unwrap();
    assert_eq!(look(), once(false));
    fs::remove_file(&plain).unwrap();
    assert_eq!(look(), once(true));
    fs::remove_dir_all(&config.index_dir).unwrap();
    assert_eq!(look(), once(true));
    // It comes back as what it was not when it went.
    fs::write(&compressed, &bytes).unwrap();
    assert_eq!(look(), once(false));
    // All of it is forgotten at once.
    let mut indexer = Indexer::open(&config).unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let row = session(&index, 1);
    drop(index);
    assert_eq!(indexer.forget(&row, &mut Report::default()).unwrap(), 2);
    drop(indexer);
    fs::remove_file(&compressed).unwrap();
    crate::archive::sync(&config);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    assert!(rows.iter().all(|other| other.id != row.id));
}

/// Moved to the folder of the archived ones it lies below another root.
#[test]
fn a_forgotten_rollout_is_not_kept_where_codex_archives_it() {
    let home = Home::new("the-same-talk");
    let config = Config {
        archive_dir: Some(home.folder.path().join("archive")),
        ..home.config()
    };
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&["codex".to_owned()]).unwrap();
    indexer.sync().unwrap();
    let row = session(&Index::open(&config, Freshness::AsCommitted).unwrap(), 1);
    assert_eq!(indexer.forget(&row, &mut Report::default()).unwrap(), 1);
    drop(indexer);
    home.archive(&name("the-same-talk", 0));
    crate::archive::sync(&config);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let moved = session(&index, 1);
    assert_ne!(moved.path, row.path);
    assert_eq!(index.versions(&moved).unwrap(), []);
}

#[test]
fn pages_are_one_session() {
    let home = Home::new("resume");
    let whole = home.index();
    let before = (said(&whole, 3), session(&whole, 3).tokens);
    drop(whole);
    // The second turn in a page of its own, which names the first one.
    let first = home.day().join(name("resume", 0));
    let text = fs::read_to_string(&first).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let turn = lines
        .iter()
        .position(|line| line.contains("thread_settings_applied"))
        .unwrap();
    let (one, two) = (lines[..turn].concat(), lines[turn..].concat());
    let id = "019b8d5e-7c80-7000-8000-000000000003";
    let base = serde_json::json!({"thread_id": id, "end_byte_offset": one.len()});
    let header = serde_json::json!({"timestamp": "2026-01-05T09:00:40.000Z", "type": "session_meta",
        "payload": {"id": id, "history_base": base}});
    fs::write(&first, one).unwrap();
    let page = first.to_str().unwrap().replace(".jsonl", "_2.jsonl");
    fs::write(page, format!("{header}\n{two}")).unwrap();
    let index = home.index();
    assert_eq!(index.list(&ListScope::default()).unwrap().total, 1);
    assert_eq!((said(&index, 3), session(&index, 3).tokens), before);
    assert_eq!(lost(&index, 3), None);
}

#[test]
fn usage_of_legacy_forks_counts_once() {
    let home = Home::new("legacy-fork");
    let index = home.index();
    assert_eq!(session(&index, 20).tokens, Some(460));
    let sum = "SELECT sum(input + output + cache_read + cache_write) FROM usage";
    let rows = index.sql(sum, &[]).unwrap();
    assert_eq!(rows.rows[0][0], serde_json::json!(390 + 70));
    let calls = index.sql("SELECT sum(calls) FROM tools", &[]).unwrap();
    assert_eq!(calls.rows[0][0], serde_json::json!(2));
    let report = index
        .ask(|snapshot| snapshot.tool_use(&SpendingScope::default()))
        .unwrap();
    assert_eq!(report.total.calls, 2);
    let records = index.sql("SELECT count(*) FROM calls", &[]).unwrap();
    assert_eq!(records.rows[0][0], serde_json::json!(4));
}

/// A newer version's fork of an older legacy rollout lacks the lines that say the models of its
/// turns.
#[test]
fn usage_of_a_legacy_fork_without_its_models_counts_once() {
    let home = Home::new("legacy-fork");
    let fork = home.day().join(name("legacy-fork", 1));
    let lines = fs::read_to_string(&fork).unwrap();
    let kept = lines
        .lines()
        .filter(|line| !line.contains("\"turn_context\""));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    assert!(kept.len() < lines.len());
    fs::write(fork, kept).unwrap();
    let index = home.index();
    let spent = "SELECT model IS NULL, sum(input + output + cache_read + cache_write) FROM usage GROUP BY 1";
    let rows = serde_json::json!(index.sql(spent, &[]).unwrap().rows);
    assert_eq!(rows, serde_json::json!([[0, 390], [1, 70]]));
}

/// Some providers number the calls of each answer from the start.
#[test]
fn calls_of_one_number_are_each_counted() {
    let home = Home::new("legacy-fork");
    let call = |hour: u32| {
        format!(
            r#"{{"timestamp":"2026-01-05T{hour:02}:00:00.000Z","type":"response_item","payload":{{"type":"function_call","name":"again","call_id":"call_0","arguments":"{{}}"}}}}"#
        )
    };
    for (number, origin) in [(7, None), (8, Some(7))] {
        let id = |number| format!("019b8d5e-7c80-7000-8000-0000000007{number:02}");
        let meta = |number| {
            format!(
                r#"{{"timestamp":"2026-01-05T09:00:00.000Z","type":"session_meta","payload":{{"id":"{}","cwd":"/w"}}}}"#,
                id(number)
            )
        };
        // A fork writes the lines of its origin anew, at its own time. A header may come again.
        let headers = [Some(number), origin].into_iter().flatten().map(meta);
        let again = meta(origin.unwrap_or(number));
        let lines = headers.chain([call(number), again, call(number + 1)]);
        let file = format!("rollout-2026-01-05T09-00-00-{}.jsonl", id(number));
        let lines: String = lines.map(|line| line + "\n").collect();
        fs::write(home.day().join(file), lines).unwrap();
    }
    // Of paginated rollouts no fork repeats a line, and each page numbers from the start.
    let thread = "019b8d5e-7c80-7000-8000-000000000709";
    for (page, hour, base) in [
        ("", 10, ""),
        ("_2", 11, r#","history_base":{"thread_id":"x"}"#),
    ] {
        let meta = format!(
            r#"{{"timestamp":"2026-01-05T09:00:00.000Z","type":"session_meta","payload":{{"id":"{thread}","cwd":"/w","history_mode":"paginated"{base}}}}}"#
        );
        let file = format!("rollout-2026-01-05T09-00-00-{thread}{page}.jsonl");
        let lines = format!("{meta}\n{}\n", call(hour).replace("again", "paged"));
        fs::write(home.day().join(file), lines).unwrap();
    }
    let index = home.index();
    let calls = index.sql(
        "SELECT tool, calls FROM tools WHERE tool IN ('again', 'paged')",
        &[],
    );
    let twice = serde_json::json!([["again", 2], ["paged", 2]]);
    assert_eq!(serde_json::json!(calls.unwrap().rows), twice);
}

/// What a line says may depend on those before it, so reading on gives what reading at once gives.
#[test]
fn a_rollout_that_grows_is_read_on() {
    for (case, number) in [("abort", 7), ("the-same-talk", 2), ("legacy-fork", 20)] {
        let whole = Home::new(case);
        let whole = (whole.index(), whole);
        let wanted = (said(&whole.0, number), session(&whole.0, number).tokens);
        let growing = Home::new(case);
        for rollout in rollouts(case) {
            let bytes = fs::read(&rollout).unwrap();
            let file = growing.day().join(rollout.file_name().unwrap());
            for part in 1..=5 {
                fs::write(&file, &bytes[..bytes.len() * part / 5]).unwrap();
                growing.index();
            }
        }
        let index = growing.index();
        let found = (said(&index, number), session(&index, number).tokens);
        assert_eq!(found, wanted, "{case}");
    }
}

/// What Codex's own database says of its threads.
struct Threads {
    connection: Connection,
    folder: PathBuf,
}

impl Threads {
    /// One of this number, written as a live Codex does: what was said last is in its `-wal`.
    fn new(home: &Home, number: u32) -> Threads {
        let folder = home.codex();
        let connection = Connection::open(folder.join(format!("state_{number}.sqlite"))).unwrap();
        let schema = "PRAGMA journal_mode = wal;
            CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '',
                first_user_message TEXT NOT NULL DEFAULT '', history_mode TEXT NOT NULL,
                name TEXT, is_pinned INTEGER NOT NULL DEFAULT 0);";
        connection.execute_batch(schema).unwrap();
        Threads { connection, folder }
    }

    fn add(&self, number: u32, mode: &str, title: &str) {
        let sql = "INSERT INTO threads (id, history_mode, title, first_user_message)
            VALUES (?1, ?2, ?3, 'Where is the walrus?')";
        let row = [&id(number), mode, title];
        self.connection.execute(sql, row).unwrap();
    }

    fn call(&self, number: u32, name: Option<&str>) {
        let sql = "UPDATE threads SET name = ?2 WHERE id = ?1";
        let changed = self.connection.execute(sql, (id(number), name));
        assert_eq!(changed.unwrap(), 1);
    }

    fn run(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }
}

fn id(number: u32) -> String {
    format!("019b8d5e-7c80-7000-8000-{number:012x}")
}

fn name_of(index: &Index, number: u32) -> Option<String> {
    session(index, number).name
}

/// Adds to the index of names.
fn note_name(home: &Home, number: u32, name: &str) {
    let path = home.codex().join("session_index.jsonl");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    let line = serde_json::json!({"id": id(number), "thread_name": name,
        "updated_at": "2026-01-05T10:00:00Z"});
    text.push_str(&format!("{line}\n"));
    fs::write(path, text).unwrap();
}

/// A name comes, is another one and goes, while nothing is written to the rollout.
#[test]
fn a_name_in_the_database_is_current() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "Where is the walrus?");
    let index = home.index();
    assert_eq!(name_of(&index, 1), None);
    let said_before = said(&index, 1);
    threads.call(1, Some("The cormorant of Tuesday"));
    let before = threads.files();
    let index = home.index();
    assert_eq!(name_of(&index, 1).unwrap(), "The cormorant of Tuesday");
    let found = hits(&index, "cormorant");
    assert!(
        matches!(&found[..], [one] if one.starts_with(&id(1))),
        "{found:?}"
    );
    let named = said(&index, 1);
    let talk = named.iter().filter(|(role, ..)| role != "title").cloned();
    assert_eq!(talk.collect::<Vec<_>>(), said_before);
    let tree = index
        .tree(&session(&index, 1), TreeScope::default())
        .unwrap();
    assert!(
        tree.entries.iter().all(|row| row.kind != "title"),
        "it is none of the tree"
    );
    assert_eq!(threads.files(), before, "no file appears in Codex's folder");
    threads.call(1, Some("The puffin"));
    // As Codex 0.169 does, which reads it there no more.
    note_name(&home, 1, "The puffin");
    let index = home.index();
    assert_eq!(name_of(&index, 1).unwrap(), "The puffin");
    assert_eq!(hits(&index, "cormorant"), Vec::<String>::new());
    assert_eq!(hits(&index, "puffin").len(), 1);
    threads.call(1, None);
    fs::remove_file(home.codex().join("session_index.jsonl")).unwrap();
    let index = home.index();
    assert_eq!(name_of(&index, 1), None);
    assert_eq!(hits(&index, "puffin"), Vec::<String>::new());
}

/// A page of all entries goes on where the one before it ended, though the thread has a name since.
#[test]
fn a_name_moves_no_entry() {
    let home = Home::new("the-same-talk");
    let places = || {
        let index = home.index();
        let all = ShowScope {
            all: true,
            ..ShowScope::default()
        };
        let shown = index.show(&session(&index, 1), &all).unwrap();
        let entries = shown.entries.into_iter();
        entries
            .map(|entry| (entry.id, entry.ordinal))
            .collect::<Vec<_>>()
    };
    let before = places();
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    let named = places();
    assert_eq!(named.len(), before.len() + 1);
    assert_eq!(named[..before.len()], before);
}

/// The last line of the older file counts, and of the newer shape none. What the database calls a
/// thread of the older shape its title, where it is not its first message.
#[test]
fn names_by_the_shape_of_their_threads() {
    let home = Home::new("the-same-talk");
    for number in [1, 2] {
        note_name(&home, number, "An early name");
        note_name(&home, number, "A later name");
        note_name(&home, number, " ");
    }
    let index = home.index();
    let names = |index: &Index| [1, 2].map(|number| name_of(index, number));
    let given = |name: &str| Some(name.to_owned());
    assert_eq!(names(&index), [None, given("A later name")]);
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "A title");
    threads.add(2, "legacy", "Where is the walrus?");
    let index = home.index();
    assert_eq!(names(&index), [None, given("A later name")]);
    threads.run("UPDATE threads SET title = 'A title'");
    assert_eq!(names(&home.index()), [None, given("A title")]);
    fs::remove_file(home.codex().join("session_index.jsonl")).unwrap();
    threads.run("UPDATE threads SET title = first_user_message");
    assert_eq!(names(&home.index()), [None, None]);
}

#[test]
fn the_newest_database_counts_and_says_what_is_pinned() {
    let home = Home::new("the-same-talk");
    let old = Threads::new(&home, 9);
    old.add(1, "paginated", "");
    old.call(1, Some("Of the older one"));
    assert_eq!(name_of(&home.index(), 1).unwrap(), "Of the older one");
    let new = Threads::new(&home, 10);
    new.add(1, "paginated", "");
    new.run("UPDATE threads SET is_pinned = 1");
    let index = home.index();
    assert_eq!(name_of(&index, 1), None);
    let own = "SELECT json_extract(own, '$.is_pinned') FROM sessions ORDER BY id";
    let pinned = index.sql(own, &[]).unwrap().rows;
    assert_eq!(pinned[0][0], serde_json::json!(1));
    assert_eq!(pinned[1][0], serde_json::Value::Null);
}

/// What is kept of a session has its name as long as Codex says one.
#[test]
fn names_are_not_kept() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    let config = keeping(&home);
    let sync = || {
        let mut indexer = Indexer::open(&config).unwrap();
        indexer.sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        index
    };
    let index = sync();
    let row = session(&index, 1);
    assert_eq!(row.name.as_deref(), Some("The grebe"));
    let mut bytes = Vec::new();
    index.copy_raw(&row, None, &mut bytes).unwrap();
    assert_eq!(bytes, fs::read(&row.path).unwrap());
    fs::remove_file(&row.path).unwrap();
    let index = sync();
    let row = session(&index, 1);
    assert_eq!(
        (row.archived, row.name.as_deref()),
        (true, Some("The grebe"))
    );
    threads.call(1, None);
    assert_eq!(name_of(&sync(), 1), None);
}

/// A new index knows no session yet that only the archive has.
#[test]
fn a_new_index_has_the_names_of_kept_sessions() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    note_name(&home, 2, "The puffin");
    // Of one that is nowhere there is no name.
    threads.add(77, "paginated", "");
    threads.call(77, Some("The auk"));
    let config = keeping(&home);
    crate::archive::sync(&config);
    for file in fs::read_dir(home.day()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let named = || {
        crate::archive::sync(&config);
        crate::archive::is_whole(&config);
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let names = "SELECT name, archived FROM sessions ORDER BY name";
        index.sql(names, &[]).unwrap().rows
    };
    let before = named();
    assert!(before.len() >= 2, "{before:?}");
    fs::remove_dir_all(&config.index_dir).unwrap();
    assert_eq!(named(), before);
}

/// A name comes from the file in which Codex keeps it: only the rollout is written back.
#[test]
fn a_session_that_has_a_name_is_restored() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    note_name(&home, 2, "The puffin");
    let config = keeping(&home);
    let index = || Index::open(&config, Freshness::Check).unwrap();
    for (number, name) in [(1, "The grebe"), (2, "The puffin")] {
        let row = session(&index(), number);
        let rollout = fs::read(&row.path).unwrap();
        fs::remove_file(&row.path).unwrap();
        let index = index();
        let gone = session(&index, number);
        assert_eq!((gone.archived, gone.name.as_deref()), (true, Some(name)));
        assert_eq!(
            index.restore(&gone).unwrap().files,
            std::slice::from_ref(&row.path)
        );
        assert_eq!(fs::read(&row.path).unwrap(), rollout);
        // All of it is there.
        assert_eq!(index.restore(&gone).unwrap().files, [] as [PathBuf; 0]);
    }
    let index = index();
    assert!(
        [1, 2]
            .iter()
            .all(|number| !session(&index, *number).archived)
    );
}

/// Of a thread that has no rollout a name is no session.
#[test]
fn a_name_goes_where_its_rollout_goes() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    for number in [1, 2, 3] {
        threads.add(number, "paginated", "");
        threads.call(number, Some("The grebe"));
    }
    let index = home.index();
    assert_eq!(index.list(&ListScope::default()).unwrap().total, 2);
    assert_eq!(hits(&index, "grebe").len(), 2);
    home.archive(&name("the-same-talk", 0));
    let index = home.index();
    assert_eq!(session(&index, 1).reason.as_deref(), Some("archived"));
    assert_eq!(name_of(&index, 1).unwrap(), "The grebe");
    assert_eq!(hits(&index, "grebe").len(), 2);
    fs::remove_file(home.day().join(name("the-same-talk", 1))).unwrap();
    let index = home.index();
    assert_eq!(index.list(&ListScope::default()).unwrap().total, 1);
    assert_eq!(hits(&index, "grebe").len(), 1);
    // And comes back with it.
    fs::copy(
        &rollouts("the-same-talk")[1],
        home.day().join(name("the-same-talk", 1)),
    )
    .unwrap();
    assert_eq!(hits(&home.index(), "grebe").len(), 2);
}

/// Of the file that a thread was in nothing is left, and it is in another one: it has its name.
#[test]
fn a_name_stays_when_its_rollout_moves() {
    let home = Home::new("the-same-talk");
    note_name(&home, 2, "The grebe");
    assert_eq!(name_of(&home.index(), 2).unwrap(), "The grebe");
    let rollout = home.day().join(name("the-same-talk", 1));
    fs::rename(
        &rollout,
        home.day()
            .join(format!("rollout-2026-01-05T08-00-00-{}.jsonl", id(2))),
    )
    .unwrap();
    let index = home.index();
    assert_eq!(index.list(&ListScope::default()).unwrap().total, 2);
    assert_eq!(name_of(&index, 2).unwrap(), "The grebe");
    assert_eq!(hits(&index, "grebe").len(), 1);
}

/// A fork goes on from what its origin says, not from what that is called.
#[test]
fn a_fork_inherits_no_name() {
    let home = Home::new("forks");
    let before = said(&home.index(), 17);
    let threads = Threads::new(&home, 5);
    threads.add(16, "paginated", "");
    threads.call(16, Some("The grebe"));
    let index = home.index();
    assert_eq!(name_of(&index, 16).unwrap(), "The grebe");
    assert_eq!((said(&index, 17), name_of(&index, 17)), (before, None));
    assert_eq!(lost(&index, 17), None);
}

/// What cannot be read is said, and what was known stays.
#[test]
fn a_damaged_database_costs_no_name() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    drop(threads);
    assert_eq!(name_of(&home.index(), 1).unwrap(), "The grebe");
    fs::write(home.codex().join("state_5.sqlite"), "no database").unwrap();
    let config = home.config();
    let report = Indexer::open(&config).unwrap().sync().unwrap();
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("state_5.sqlite")),
        "{:?}",
        report.notes
    );
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    assert_eq!(name_of(&index, 1).unwrap(), "The grebe");
}

/// What stands where a database of names might, and is none, counts for nothing.
#[test]
fn a_stray_database_of_names_costs_no_name() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.add(2, "legacy", "The title of now");
    threads.call(1, Some("The grebe"));
    threads.run("UPDATE threads SET is_pinned = 1");
    note_name(&home, 2, "A name of before");
    let pinned = "SELECT json_extract(own, '$.is_pinned') FROM sessions";
    let known = |index: &Index| {
        let names = [1, 2].map(|number| name_of(index, number).unwrap());
        (names, index.sql(pinned, &[]).unwrap().rows)
    };
    let before = known(&home.index());
    assert_eq!(before.0, ["The grebe", "The title of now"]);
    let stray = |number: u32| home.codex().join(format!("state_{number}.sqlite"));
    fs::create_dir(stray(9)).unwrap();
    assert_eq!(known(&home.index()), before, "a folder");
    fs::write(stray(8), "").unwrap();
    assert_eq!(known(&home.index()), before, "an empty file");
    let other = Connection::open(stray(7)).unwrap();
    other.execute_batch("CREATE TABLE others (id)").unwrap();
    assert_eq!(known(&home.index()), before, "a database of something else");
    fs::write(stray(6), "no database at all").unwrap();
    assert_eq!(known(&home.index()), before, "no database");
    // And what is noted in the good one is current nevertheless.
    threads.call(1, Some("The puffin"));
    assert_eq!(name_of(&home.index(), 1).unwrap(), "The puffin");
}

/// The one that counts cannot be read: what was known stays, what an older one says too.
#[test]
fn a_locked_database_costs_no_name() {
    let home = Home::new("the-same-talk");
    let old = Threads::new(&home, 5);
    old.add(1, "paginated", "");
    old.call(1, Some("Of the older one"));
    assert_eq!(name_of(&home.index(), 1).unwrap(), "Of the older one");
    let new = Threads::new(&home, 6);
    new.add(1, "paginated", "");
    new.call(1, Some("Of the newer one"));
    // Who writes has locked its file in `-wal` mode too.
    let lock = |mode: &str| {
        new.run(&format!("PRAGMA locking_mode = {mode}"));
        new.run("UPDATE threads SET is_pinned = 1");
    };
    lock("EXCLUSIVE");
    let config = home.config();
    let report = Indexer::open(&config).unwrap().sync().unwrap();
    let notes = report.notes.join("\n");
    assert!(
        notes.contains("state_6.sqlite") && notes.contains("locked"),
        "{notes}"
    );
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    assert_eq!(name_of(&index, 1).unwrap(), "Of the older one");
    drop(index);
    lock("NORMAL");
    assert_eq!(name_of(&home.index(), 1).unwrap(), "Of the newer one");
    lock("EXCLUSIVE");
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    assert_eq!(name_of(&index, 1).unwrap(), "Of the newer one");
}

/// Nobody waits at a fifo for what it might say.
#[cfg(unix)]
#[test]
fn a_fifo_in_the_place_of_names_is_not_waited_for() {
    let home = Home::new("the-same-talk");
    let place = |name: &str| home.codex().join(name);
    fifo(&place("session_index.jsonl"));
    fifo(&place("state_9.sqlite"));
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    threads.call(1, Some("The grebe"));
    assert_eq!(name_of(&home.index(), 1).unwrap(), "The grebe");
    // A database whose own journal would be waited for is not read meanwhile.
    let journal = place("state_5.sqlite-journal");
    fifo(&journal);
    threads.call(1, Some("The puffin"));
    let config = home.config();
    let report = Indexer::open(&config).unwrap().sync().unwrap();
    let notes = report.notes.join("\n");
    assert!(notes.contains("-journal: it is no regular file"), "{notes}");
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    assert_eq!(name_of(&index, 1).unwrap(), "The grebe");
    drop(index);
    fs::remove_file(journal).unwrap();
    assert_eq!(name_of(&home.index(), 1).unwrap(), "The puffin");
}

/// Each name is read out of the one file that holds all of them, whoever asks, and the last counts
/// wherever it stands.
#[test]
fn a_name_among_many() {
    let home = Home::new("the-same-talk");
    let mut text = String::new();
    for number in (0..2000).chain([2]) {
        let name = format!("The {number}th name of {}", text.len());
        let line = serde_json::json!({"id": id(number), "thread_name": name});
        text.push_str(&format!("{line}\n"));
        if number == 2 {
            text.push_str("\n[1]\nno json\n");
        }
    }
    // The last line has no end, and one is longer than any line of names.
    let name = "x".repeat(2 << 20);
    let line = serde_json::json!({"id": id(2), "thread_name": name});
    text.push_str(&format!("{line}\n"));
    let line = serde_json::json!({"id": id(3), "thread_name": "The last"});
    text.push_str(&line.to_string());
    let path = home.codex().join("session_index.jsonl");
    fs::write(&path, &text).unwrap();
    let last = text.find("The 2th name of").map(|at| at + 1).unwrap();
    let last = text[last..].find("The 2th name of").unwrap() + last;
    let end = text[last..].find('"').unwrap() + last;
    let index = home.index();
    assert_eq!(name_of(&index, 2).unwrap(), text[last..end]);
    let raw = "SELECT raw(entry) FROM entries WHERE kind = 'title'";
    let raw = index.sql(raw, &[]).unwrap().rows;
    let is_last = |row: &Vec<serde_json::Value>| row[0].to_string().contains(&text[last..end]);
    assert_eq!(
        (raw.len(), raw.iter().filter(|row| is_last(row)).count()),
        (2, 1)
    );
    // A shorter file with other places.
    drop(index);
    fs::remove_file(&path).unwrap();
    note_name(&home, 2, "The grebe");
    assert_eq!(name_of(&home.index(), 2).unwrap(), "The grebe");
}

/// A fifo at this path.
#[cfg(unix)]
fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn a_watcher_sees_a_name() {
    let home = Home::new("the-same-talk");
    let threads = Threads::new(&home, 5);
    threads.add(1, "paginated", "");
    let config = home.config();
    let watcher = Watcher::start(&config);
    for name in ["The cormorant", "The puffin"] {
        threads.call(1, Some(name));
        until("the name", || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            name_of(&index, 1).as_deref() == Some(name)
        });
    }
    note_name(&home, 2, "The grebe");
    until("the name in the older file", || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        name_of(&index, 2).as_deref() == Some("The grebe")
    });
    watcher.stop();
    home.index();
}

/// What came of a patch of several files is of each of them.
#[test]
fn each_file_of_a_patch_finds_what_came_of_it() {
    let home = Home::new("no-envelope");
    let rollout = fs::read_dir(home.day()).unwrap().next().unwrap().unwrap();
    let mut text = fs::read_to_string(rollout.path()).unwrap();
    text.push_str(concat!(
        r#"{"timestamp":"2026-01-05T09:00:00.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","#,
        r#""call_id":"p1","input":"*** Begin Patch\n*** Update File: src/one.rs\n@@\n-a\n+b\n*** Update File: src/two.rs\n@@\n-a\n+b\n*** End Patch\n"}}"#,
        "\n",
        r#"{"timestamp":"2026-01-05T09:00:01.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"p1","#,
        r#""output":"Exit code: 1\nOutput:\nno such line"}}"#,
        "\n"
    ));
    fs::write(rollout.path(), text).unwrap();
    let index = home.index();
    for file in ["src/one.rs", "src/two.rs"] {
        assert_eq!(hits(&index, &format!("file:{file}")).len(), 2, "{file}");
        assert_eq!(
            hits(&index, &format!("file:{file} line")).len(),
            1,
            "{file}"
        );
    }
}

/// What is written at its end is not notified where the link lies, so who asks looks for itself.
#[cfg(target_os = "linux")]
#[test]
fn a_watcher_does_not_vouch_for_names_behind_a_link() {
    let home = Home::new("the-same-talk");
    drop(Threads::new(&home, 5));
    let config = home.config();
    let vouches = || caught_up(&config, Duration::from_secs(5)).is_some();
    let watcher = Watcher::start(&config);
    until("it vouches", vouches);
    let (file, elsewhere) = (
        home.codex().join("state_5.sqlite"),
        home.folder.path().join("dot"),
    );
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    until("it vouches no more", || !vouches());
    watcher.stop();
    let watcher = Watcher::start(&config);
    assert!(!vouches());
    watcher.stop();
}

/// Beside the plain rollout the compressed one was none, and nothing happens to it when it is one.
#[test]
fn a_watcher_reads_the_compressed_rollout_that_is_left() {
    let home = Home::new("the-same-talk");
    let plain = home.day().join(name("the-same-talk", 0));
    let compressed = plain.with_extension("jsonl.zst");
    let bytes = zstd::bulk::compress(&fs::read(&plain).unwrap(), 1).unwrap();
    fs::write(&compressed, bytes).unwrap();
    let config = home.config();
    let watcher = Watcher::start(&config);
    fs::remove_file(&plain).unwrap();
    until("the compressed rollout", || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        rows.iter().any(|row| row.path == compressed)
    });
    watcher.stop();
    home.index();
}

/// As Codex wrote them until the middle of 2025: in the folders of today.
#[test]
fn a_rollout_without_an_envelope_is_listed_and_found() {
    let home = Home::new("no-envelope");
    let index = home.index();
    let list = index.list(&ListScope::default()).unwrap().sessions;
    let [session] = &list[..] else {
        panic!("{list:?}")
    };
    assert_eq!(session.id, "019b8d5e-7c80-7000-8000-000000000009");
    assert_eq!(
        (&*session.cwd, &*session.title),
        ("/home/ada/work", "List the shore.")
    );
    assert_eq!((session.listed_by_agent, session.errors), (true, 1));
    assert_eq!(hits(&index, "\"are pebbles\"").len(), 1);
    assert_eq!(hits(&index, "quagmarine").len(), 0);
    // Today's Codex takes it up again: it goes on in the same file, with an envelope.
    let rollout = rollouts("no-envelope")[0].clone();
    let rollout = home.day().join(rollout.file_name().unwrap());
    let mut text = fs::read_to_string(&rollout).unwrap();
    text.push_str(concat!(
        r#"{"timestamp":"2026-01-05T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","#,
        r#""content":[{"type":"output_text","text":"And a heron."}]}}"#,
        "\n"
    ));
    fs::write(&rollout, text).unwrap();
    assert_eq!(hits(&home.index(), "heron").len(), 1);
}

/// Codex's first versions wrote a document anew with each item.
#[test]
fn a_document_that_grows_is_read_again() {
    const FILE: &str = "rollout-2025-05-17-0af3af15-7a69-40ba-b7e3-7214a2bc3ed6.json";
    let says = |text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "message", "role": "user", "content": content})
    };
    let output = json!({"output": "no ]} owls\n", "metadata": {"exit_code": 2}}).to_string();
    let items = [
        says("Which egrets are here?"),
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "shell",
            "arguments": "{\"command\":[\"ls\"]}"}),
        json!({"type": "function_call_output", "call_id": "call_1", "output": output}),
        says("Then look for terns. ]}"),
    ];
    let header = json!({
        "timestamp": "2025-05-17T09:30:00.000Z",
        "id": "0af3af15-7a69-40ba-b7e3-7214a2bc3ed6",
        "instructions": ""
    });
    let store = Store::of("codex", "no-envelope");
    fs::create_dir_all(store.path("sessions")).unwrap();
    let file = store.path("sessions").join(FILE);
    for count in 0..=items.len() {
        let items = json!(items[..count]);
        let compact = format!("{{\"session\":{header},\"items\":{items}}}");
        let indented = format!("{{\n  \"session\": {header:#},\n  \"items\": {items:#}\n}}");
        for text in [format!("{compact}\n"), compact, indented] {
            fs::write(&file, text).unwrap();
            store.check(&format!("{count} items"));
        }
    }
    let index = store.index();
    for word in ["egrets", "owls", "terns"] {
        assert_eq!(hits_once(&index, word), 1, "{word}");
    }
    // What stands behind the last item, and is no end, is an entry.
    let more = format!("{{\"session\":{header},\"items\":[],\"more\":[7]}}");
    fs::write(&file, more).unwrap();
    store.check("more");
}
