//! Answers while somebody commits: between any two steps of SQLite that a reader takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::*;
use crate::config::Config;
use crate::index::{Freshness, ListScope, NameScope, SearchScope, ShowScope, TreeFilter};
use crate::model::Event;
use crate::source::root::RootSpec;

/// Entries that the session has at first; many enough that readers take many steps.
const ENTRIES: usize = 12;
/// Steps of SQLite's machine between two places at which somebody may commit.
const STEPS: i32 = 20;
/// Places that are tried of each question, spread over all of them.
const PLACES: usize = 12;

struct Place {
    _folder: tempfile::TempDir,
    config: Config,
    file: PathBuf,
}

fn line(entry: usize, text: &str) -> String {
    let parent = match entry {
        0 => "null".to_owned(),
        _ => format!("\"e{}\"", entry - 1),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"e{entry}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-05T09:00:{entry:02}.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"common {text} {entry}\"}}}}\n"
    )
}

fn session(entries: usize, text: &str) -> String {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\
                  \"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n";
    let lines: String = (0..entries).map(|entry| line(entry, text)).collect();
    format!("{header}{lines}")
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap().join("sessions");
    fs::create_dir(&root).unwrap();
    let spec = RootSpec::new("pi", root.clone());
    Place {
        config: Config::new(folder.path().join("index"), vec![spec]),
        file: root.join("one.jsonl"),
        _folder: folder,
    }
}

/// What somebody does to the session before it is committed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Grows,
    Shrinks,
    IsRewritten,
    IsRebuilt,
}

fn commit(config: &Config, file: &Path, change: Change) {
    let text = match change {
        Change::Grows => session(ENTRIES + 1, "early"),
        Change::Shrinks => session(ENTRIES / 2, "early"),
        Change::IsRewritten => session(ENTRIES, "later"),
        Change::IsRebuilt => session(ENTRIES, "early"),
    };
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
    let mut indexer = Indexer::open(config).unwrap();
    match change {
        Change::IsRebuilt => indexer.rebuild().unwrap(),
        _ => indexer.sync().unwrap(),
    };
}

type Question = fn(&Index) -> Value;

fn row(index: &Index) -> crate::model::SessionRow {
    index.resolve("s", &NameScope::of(Path::new("/w"))).unwrap()
}

/// What is asked; times of files are no part of an answer.
const QUESTIONS: [(&str, Question); 7] = [
    ("list", |index| {
        let listing = index.list(&ListScope::default()).unwrap();
        let rows = listing.sessions.iter();
        let rows = rows.map(|row| (row.id.clone(), row.entries, row.message_count));
        serde_json::json!([rows.collect::<Vec<_>>(), listing.total, listing.complete])
    }),
    ("written list", |index| {
        let mut out = Vec::new();
        let written = index.stream(|snapshot| {
            snapshot.write_page(&snapshot.page(&ListScope::default())?, &mut out)
        });
        let _ = written.unwrap();
        let list: Value = serde_json::from_slice(&out).unwrap();
        let row = &list["sessions"][0];
        serde_json::json!([row["entries"], row["bytes"], list["complete"]])
    }),
    ("show", |index| {
        let shown = index.show(&row(index), &ShowScope::default()).unwrap();
        let entries = shown.entries.iter();
        let entries = entries.map(|e| (e.id.clone(), e.text.clone(), e.problem.clone()));
        serde_json::json!([entries.collect::<Vec<_>>(), shown.complete])
    }),
    ("tree", |index| {
        let tree = index.tree(&row(index), TreeFilter::All).unwrap();
        let rows = tree.entries.iter();
        let rows = rows.map(|r| (r.id.clone(), r.parent.clone(), r.text.clone(), r.is_leaf));
        serde_json::json!([rows.collect::<Vec<_>>(), tree.complete])
    }),
    ("branch", |index| {
        let mut copied = Vec::new();
        let row = row(index);
        let copy =
            |out: &mut Vec<u8>| index.stream(|snapshot| snapshot.copy_branch(&row, None, out));
        if copy(&mut copied).is_err() {
            copied.clear();
            let (_, streamed) = copy(&mut copied).unwrap();
            assert!(streamed.complete);
        }
        Value::from(String::from_utf8(copied).unwrap())
    }),
    ("search", |index| {
        let scope = SearchScope {
            limit: None,
            exact: true,
            ..SearchScope::default()
        };
        let answer = index.search("common", &scope).unwrap();
        let hits = answer.sessions.iter().flat_map(|group| &group.hits);
        let mut hits: Vec<_> = hits.map(|hit| (&hit.entry, &hit.snippet)).collect();
        hits.sort();
        serde_json::json!([hits, answer.total, answer.complete])
    }),
    ("status", |index| {
        let status = index.status().unwrap();
        serde_json::json!([status.sessions, status.entries, status.problems])
    }),
];

/// Open the index, as readers do that a watcher spares the scan.
fn open(config: &Config) -> Index {
    Index {
        heals: true,
        ..Index::open(config, Freshness::AsCommitted).unwrap()
    }
}

/// Ask while somebody commits at the `nth` place; how many places there were.
fn asked(
    index: &mut Index,
    question: Question,
    nth: usize,
    commit: impl Fn() + Send + 'static,
) -> (Value, usize) {
    let met = Arc::new(AtomicUsize::new(0));
    let (counted, once) = (Arc::clone(&met), Mutex::new(Some(commit)));
    index.stores.catalogue.each_step(STEPS, move || {
        if counted.fetch_add(1, Ordering::Relaxed) == nth
            && let Some(commit) = once.lock().unwrap().take()
        {
            std::thread::scope(|threads| threads.spawn(commit).join().unwrap());
        }
    });
    let answer = question(index);
    index.stores.catalogue.each_step(0, || {});
    (answer, met.load(Ordering::Relaxed))
}

/// An answer is of one state, wherever somebody commits this change in between.
fn is_of_one_state(change: Change) {
    for (name, question) in QUESTIONS {
        let place = place();
        let begin = || {
            commit(&place.config, &place.file, Change::IsRebuilt);
            open(&place.config)
        };
        let mut before = begin();
        let (old, places) = asked(&mut before, question, usize::MAX, || {});
        commit(&place.config, &place.file, change);
        let new = question(&open(&place.config));
        assert!(old != new || change != Change::Grows, "{name}: {old}");
        drop(before);
        assert!(places > 2, "{name}: {places} places");
        for nth in (0..places).step_by(places.div_ceil(PLACES)) {
            let mut index = begin();
            let (config, file) = (place.config.clone(), place.file.clone());
            let (told, _) = asked(&mut index, question, nth, move || {
                commit(&config, &file, change);
            });
            assert!(
                told == old || told == new,
                "{name}, {change:?} at {nth} of {places}: {told}\nis neither {old}\nnor {new}"
            );
        }
    }
}

#[test]
fn an_answer_is_of_one_state_where_a_file_grows_meanwhile() {
    is_of_one_state(Change::Grows);
}

#[test]
fn an_answer_is_of_one_state_where_a_file_shrinks_meanwhile() {
    is_of_one_state(Change::Shrinks);
}

#[test]
fn an_answer_is_of_one_state_where_a_file_is_rewritten_meanwhile() {
    is_of_one_state(Change::IsRewritten);
}

#[test]
fn an_answer_is_of_one_state_where_the_index_is_rebuilt_meanwhile() {
    is_of_one_state(Change::IsRebuilt);
}

#[test]
fn snapshots_that_live_together_are_of_one_state() {
    let place = place();
    commit(&place.config, &place.file, Change::IsRebuilt);
    let index = open(&place.config);
    let count =
        |snapshot: &Snapshot<'_>| snapshot.list(&ListScope::default()).unwrap().sessions[0].entries;
    let first = index.snapshot().unwrap();
    let entries = count(&first);
    commit(&place.config, &place.file, Change::Grows);
    let second = index.snapshot().unwrap();
    assert_eq!(count(&second), entries);
    drop(first);
    assert_eq!(count(&second), entries, "its own state stays");
    drop(second);
    assert_eq!(count(&index.snapshot().unwrap()), entries + 1);
}

#[test]
fn a_snapshot_that_is_older_than_the_words_says_so() {
    let place = place();
    commit(&place.config, &place.file, Change::IsRebuilt);
    let index = open(&place.config);
    let snapshot = index.snapshot().unwrap();
    commit(&place.config, &place.file, Change::Grows);
    let told = snapshot.search("common", &SearchScope::default());
    assert!(matches!(told, Err(Error::Outdated)), "{told:?}");
    drop(snapshot);
    assert!(
        index
            .search("common", &SearchScope::default())
            .unwrap()
            .complete
    );
}

#[test]
fn what_has_changed_is_read_again_or_shown_as_it_stands() {
    let place = place();
    commit(&place.config, &place.file, Change::IsRebuilt);
    let index = open(&place.config);
    let blank = || {
        let text = fs::read_to_string(&place.file).unwrap();
        fs::write(&place.file, text.replace("early 3", "other 3")).unwrap();
    };
    let said = |index: &Index| {
        let shown = index.show(&row(index), &ShowScope::default()).unwrap();
        let text: Vec<String> = shown.entries[3]
            .text
            .iter()
            .flat_map(|(_, text)| text.clone())
            .collect();
        (text.concat(), shown.complete, shown.changed_files)
    };
    let other = "common other 3".to_owned();
    blank();
    let keeps = Index {
        heals: false,
        ..open(&place.config)
    };
    assert_eq!(
        said(&keeps),
        (other.clone(), false, vec![place.file.clone()])
    );
    assert_eq!(said(&index), (other.clone(), true, Vec::new()));
    assert_eq!(
        said(&keeps),
        (other, true, Vec::new()),
        "another one has read it again"
    );
}

#[test]
fn what_is_not_found_while_somebody_fills_the_index_again_may_not_be_read_yet() {
    let place = place();
    commit(&place.config, &place.file, Change::IsRebuilt);
    let index = Index::open(&place.config, Freshness::Check).unwrap();
    let found = row(&index);
    let mut asked = 0;
    let mut ask = || {
        let resolved = index
            .resolve("s", &NameScope::of(Path::new("/w")))
            .map(drop);
        let shown = index.show(&found, &ShowScope::default()).map(drop);
        let tree = index.tree(&found, TreeFilter::All).map(drop);
        for told in [resolved, shown, tree] {
            assert!(
                matches!(
                    told,
                    Err(Error::NotFound {
                        complete: false,
                        ..
                    })
                ),
                "{told:?}"
            );
            asked += 1;
        }
    };
    let mut indexer = Indexer::open(&place.config).unwrap();
    indexer
        .rebuild_with(&mut |event| {
            if let Event::Discovered { .. } = event {
                ask();
            }
        })
        .unwrap();
    assert_eq!(asked, 3);
    assert!(index.show(&row(&index), &ShowScope::default()).is_ok());
    let unknown = index.resolve("t", &NameScope::of(Path::new("/w")));
    assert!(
        matches!(unknown, Err(Error::NotFound { complete: true, .. })),
        "all was looked at"
    );
}

#[test]
#[cfg(unix)]
fn an_index_of_which_nobody_can_tell_is_not_taken_for_none() {
    let place = place();
    let catalogue = place.config.catalogue_path();
    fs::create_dir_all(catalogue.parent().unwrap()).unwrap();
    let open = || Index::open(&place.config, Freshness::AsCommitted);
    assert!(!open().unwrap().is_made());
    // It leads to itself.
    std::os::unix::fs::symlink(&catalogue, &catalogue).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("catalogue.sqlite"), "{error}");
}
