//! The files of the words: how many there are, whose they are, and what stands in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sessionary::index::SearchScope;
use sessionary::index_files::traces;
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::exclusion::{files_with, terms};
use crate::histories::dump::root;
use crate::watching::watcher::{Watcher, until};

fn config(home: &Path) -> Config {
    Config::new(home.join("index"), vec![root("pi", "pi", &home.join("pi"))])
}

fn session(home: &Path, name: &str, texts: &[&str]) -> PathBuf {
    let mut lines = vec![format!(
        r#"{{"type":"session","version":3,"id":"{name}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}}"#
    )];
    lines.extend(texts.iter().enumerate().map(|(at, text)| line(at, text)));
    let path = home.join(format!("pi/--w--/{name}.jsonl"));
    fs::create_dir_all(home.join("pi/--w--")).unwrap();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn line(number: usize, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"e{number}","timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn sync(config: &Config) {
    let report = Indexer::open(config).unwrap().sync().unwrap();
    assert_eq!(report.outstanding, 0);
}

fn count_hits(config: &Config, word: &str) -> u64 {
    let index = Index::open(config, Freshness::Check).unwrap();
    let answer = index.search(word, &SearchScope::default()).unwrap();
    assert!(answer.complete);
    answer.total
}

/// Segments of the last commit.
fn segments(config: &Config) -> usize {
    let Ok(meta) = fs::read(config.index_dir.join("v5/words/meta.json")) else {
        return 0;
    };
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    meta["segments"].as_array().unwrap().len()
}

/// All hits, page by page; `between` comes before each page but the first.
fn pages(config: &Config, word: &str, mut between: impl FnMut()) -> Vec<String> {
    let mut scope = SearchScope {
        limit: Some(7),
        every_copy: true,
        exact: true,
        ..SearchScope::default()
    };
    let mut all = Vec::new();
    loop {
        let index = Index::open(config, Freshness::AsCommitted).unwrap();
        let answer = index.search(word, &scope).unwrap();
        let hits = answer.sessions.iter().flat_map(|group| &group.hits);
        all.extend(hits.map(|hit| hit.address.clone()));
        scope.cursor = answer.cursor;
        if scope.cursor.is_none() {
            return all;
        }
        between();
    }
}

/// So many passages that a segment of them was once too large for a watcher to merge.
const MANY: usize = 1_100;
/// More segments than there may be, if none were merged.
const ROUNDS: usize = 45;

#[test]
fn a_watcher_never_leaves_many_segments_and_cursors_go_on() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    let config = config(home);
    let path = session(home, "one", &["the first"]);
    let watcher = Watcher::start(&config);
    let mut most = 0;
    for round in 0..ROUNDS {
        let mut lines = String::new();
        for at in 0..MANY {
            let text = if at == 0 { "walrus" } else { "much" };
            lines += &(line(round * MANY + at, &format!("{text} w{at}")) + "\n");
        }
        crate::watching::append(&path, &lines);
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        until("its words are indexed", || {
            most = most.max(segments(&config));
            let owed = index.sql("SELECT count(*) FROM _outbox", &[]).unwrap().rows;
            let entries = index.sql("SELECT count(*) FROM entries", &[]).unwrap().rows;
            let all = ((round + 1) * MANY + 2) as u64;
            owed[0][0] == 0 && entries[0][0].as_u64() == Some(all)
        });
        assert!(most <= 40, "{most} segments after {round} rounds");
    }
    assert!(most > 10, "{most}");
    watcher.stop();
    // Pages of an answer, and a merge between them.
    sync(&config);
    let before = pages(&config, "walrus", || {});
    let (mut number, mut merges, mut last) = (0, 0, segments(&config));
    let mut paged = pages(&config, "walrus", || {
        for _ in 0..6 {
            session(home, &format!("s{number}"), &["of something else"]);
            sync(&config);
            number += 1;
            merges += usize::from(segments(&config) < last);
            last = segments(&config);
        }
    });
    assert!(merges > 0, "nothing was merged between the pages");
    let count = paged.len();
    paged.sort();
    paged.dedup();
    assert_eq!(
        (count, paged.len()),
        (ROUNDS, ROUNDS),
        "nothing twice, nothing lost"
    );
    assert_eq!(before.len(), ROUNDS);
}

/// Files of a person in the folder of the words: whatever rebuilds the words, they stay.
#[test]
fn what_is_not_ours_is_never_removed() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    session(home, "one", &["a walrus", "quetzalcoatl"]);
    let all = config(home);
    sync(&all);
    let words = home.join("index/v5/words");
    let foreign = ["notes.txt", "draft/a.jsonl", "meta.json.old", "a.idx"];
    fs::create_dir(words.join("draft")).unwrap();
    for name in foreign {
        fs::write(words.join(name), name).unwrap();
    }
    let stays = |when: &str| {
        for name in foreign {
            let text = fs::read_to_string(words.join(name));
            assert_eq!(text.ok().as_deref(), Some(name), "{when}");
        }
        assert_eq!(count_hits(&all, "walrus"), 1, "{when}");
    };
    let damage = || fs::write(words.join("meta.json"), "{").unwrap();
    damage();
    sync(&all);
    stays("words that cannot be read");
    Indexer::open(&all).unwrap().rebuild().unwrap();
    stays("rebuild");
    // What is excluded is wiped with them, and the words cannot be read.
    session(home, "two", &["hush"]);
    sync(&all);
    let less = Config {
        rules: Rules::set(
            Exclude::new(&["two.jsonl"]).unwrap(),
            FollowLinks::WithinRoots,
        ),
        ..all.clone()
    };
    damage();
    sync(&less);
    stays("a wipe");
    fs::write(home.join("index/v5/catalogue.sqlite-damaged"), "it is").unwrap();
    sync(&less);
    stays("a damaged catalogue");
    let index = Index::open(&all, Freshness::AsCommitted).unwrap();
    assert_eq!(index.verify().unwrap().differences, []);
    drop(index);
    let traces = traces(&home.join("index")).unwrap();
    traces.remove().unwrap();
    for name in foreign {
        assert!(words.join(name).exists(), "{name}");
    }
    assert!(!words.join("meta.json").exists());
}

const SECRET: &str = "quetzalcoatl7";

/// Small sessions, each with a segment of its own, until those are merged.
fn until_merged(home: &Path, config: &Config, name: &str) {
    let mut last = segments(config);
    for number in 0.. {
        session(home, &format!("{name}{number}"), &["of something else"]);
        sync(config);
        if segments(config) < last {
            break;
        }
        last = segments(config);
    }
}

/// A session in which a secret is said and named. Its segment is one with those of others: it stays
/// when the secret is gone.
fn session_with_a_secret(home: &Path, config: &Config) -> PathBuf {
    let path = session(home, "one", &[&format!("the key is {SECRET}"), "a walrus"]);
    let name = format!(r#"{{"type":"session_info","id":"i","name":"{SECRET}"}}"#);
    crate::watching::append(&path, &(name + "\n"));
    sync(config);
    until_merged(home, config, "before");
    path
}

/// Blanks it where it is said; its name goes with its length.
fn blank(path: &Path) {
    // What changed within the clock's granularity is proven again by the next look.
    std::thread::sleep(Duration::from_millis(100));
    let text = fs::read_to_string(path).unwrap();
    let text = text.replacen(SECRET, &"*".repeat(SECRET.len()), 1);
    fs::write(path, text.replace(SECRET, "gone")).unwrap();
}

#[test]
fn text_that_is_gone_is_found_no_more_and_a_purge_leaves_nothing_of_it() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    let config = config(home);
    let path = session_with_a_secret(home, &config);
    assert_eq!(count_hits(&config, SECRET), 2);
    let index = home.join("index");
    let stands = || terms(&index).0.iter().any(|term| term.contains(SECRET));
    assert!(stands() && files_with(&index, SECRET) > 0);
    blank(&path);
    assert_eq!(count_hits(&config, SECRET), 0, "not found at once");
    sync(&config);
    assert_eq!(count_hits(&config, SECRET), 0);
    assert!(stands(), "deleted passages stay until they are merged");
    let report = Indexer::open(&config).unwrap().purge(&mut |_| {}).unwrap();
    assert_eq!(report.notes, Vec::<String>::new());
    assert!(!stands());
    assert_eq!(terms(&index).1, Vec::<String>::new());
    assert_eq!(files_with(&index, SECRET), 0);
    let counts = ["walrus", "key", "gone"].map(|word| count_hits(&config, word));
    assert_eq!(counts, [1, 1, 1]);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    assert_eq!(index.verify().unwrap().differences, []);
}

#[test]
fn a_merge_leaves_nothing_of_what_was_deleted() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    let config = config(home);
    let path = session_with_a_secret(home, &config);
    blank(&path);
    sync(&config);
    let index = home.join("index");
    assert!(terms(&index).0.contains(SECRET));
    until_merged(home, &config, "after");
    assert!(!terms(&index).0.contains(SECRET));
    assert_eq!(terms(&index).1, Vec::<String>::new());
}
