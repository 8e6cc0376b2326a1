//! Is what changed within a session file read again, whoever meets it?

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(target_os = "linux")]
use sessionary::index::WatchOptions;
use sessionary::index::{SearchScope, TreeScope};
use sessionary::model::Report;
use sessionary::{Cancel, Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::{clean, dump, fresh, root, same};
#[cfg(target_os = "linux")]
use crate::watching::watcher::{Watcher, until};
use crate::watching::{append, message, session};

/// Where the word stands that is changed: further from the end than any look proves, in each file.
const AT: usize = 2_000;
const OLD: &str = "walrus";
const NEW: &str = "puffin";

/// A folder with an index of pi's sessions and of agentuse's.
struct Place {
    folder: tempfile::TempDir,
    config: Config,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = [("pi", "pi"), ("agentuse", "agentuse")].map(|(agent, format)| {
            let path = folder.path().join(agent);
            fs::create_dir_all(&path).unwrap();
            root(agent, format, &path)
        });
        let config = Config::new(folder.path().join("index"), roots.to_vec());
        Self { folder, config }
    }

    /// A session of so many bytes, about, with the old word at its place.
    fn session(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.folder.path().join(format!("pi/{name}.jsonl"));
        let mut text = session(1, "the first");
        // The word itself comes after the opening of its line.
        let before = AT - text.len() - message(1, "").find("\",\"timestamp\":17").unwrap();
        let said = format!("{}{OLD} and more", "a ".repeat(before / 2 + before % 2));
        text.push_str(&message(1, &said[before % 2..]));
        for number in 2.. {
            if text.len() >= bytes {
                break;
            }
            text.push_str(&message(number, &"much was said ".repeat(40)));
        }
        assert_eq!(text.get(AT..AT + OLD.len()), Some(OLD));
        fs::write(&path, text).unwrap();
        path
    }

    /// Let the files be old enough for the clock to tell the next change.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(60));
    }

    fn indexer(&self) -> Indexer {
        Indexer::open(&self.config).unwrap()
    }

    fn sync(&self) -> Report {
        self.indexer().sync().unwrap()
    }

    /// What the index says, without a look at any file.
    fn index(&self) -> Index {
        Index::open(&self.config, Freshness::AsCommitted).unwrap()
    }

    fn number(&self, query: &str) -> i64 {
        self.index().sql(query, &[]).unwrap().rows[0][0]
            .as_i64()
            .unwrap()
    }

    fn source(&self, name: &str) -> i64 {
        let of = format!("SELECT source FROM sources WHERE relative LIKE '%{name}'");
        self.number(&of)
    }

    fn found(&self, word: &str) -> u64 {
        let scope = SearchScope {
            exact: true,
            ..SearchScope::default()
        };
        self.index().search(word, &scope).unwrap().total
    }

    fn equals_fresh(&self) {
        let index = self.index();
        let expected = fresh(&self.config, &self.folder.path().join("fresh"));
        same(&dump(&index), &dump(&expected), "after healing");
        clean(&index, "after healing");
    }
}

/// Of a tree of which somebody has seen enough no more is read.
#[test]
fn rows_that_are_left_out_of_a_tree_are_not_read() {
    let place = Place::new();
    let file = place.session("a", 6_000);
    place.settle();
    let _ = place.sync();
    change(&file, AT, NEW);
    let index = place.index();
    let listing = index.list(&sessionary::index::ListScope::default());
    let row = listing.unwrap().sessions.remove(0);
    let all = index.snapshot().unwrap().tree(&row, TreeScope::default());
    let mut rows = all.unwrap().entries.into_iter();
    let at = rows.find(|row| row.id == "e0000001").unwrap().ordinal;
    for (is_left_out, changed) in [(true, 0), (false, 1)] {
        let without = |place| is_left_out && place == at;
        let scope = TreeScope {
            without: Some(&without),
            ..TreeScope::default()
        };
        let tree = index.snapshot().unwrap().tree(&row, scope).unwrap();
        assert_eq!(tree.changed_files.len(), changed);
        let is_there = tree.entries.iter().any(|row| row.ordinal == at);
        assert_eq!(is_there, !is_left_out);
        assert!(tree.entries.len() > 3);
    }
}

/// Whoever calls a tree off waits for no more of it, neither before its first row nor after that.
#[test]
fn of_a_tree_that_is_called_off_no_more_is_read() {
    let place = Place::new();
    place.session("a", 6_000);
    place.settle();
    let _ = place.sync();
    let index = place.index();
    let listing = index.list(&sessionary::index::ListScope::default());
    let row = listing.unwrap().sessions.remove(0);
    // The third part is the first row.
    for after in [0, 3] {
        let cancel = Cancel::default();
        let scope = TreeScope {
            cancel: cancel.clone(),
            ..TreeScope::default()
        };
        if after == 0 {
            cancel.cancel();
        }
        let mut parts = 0;
        let snapshot = index.snapshot().unwrap();
        let ended = snapshot.tree_each(&row, scope, &mut |_| {
            parts += 1;
            if parts == after {
                cancel.cancel();
            }
            Ok::<(), Error>(())
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
        assert_eq!(parts, after);
    }
}

/// Other bytes of the same length stand there from now on.
fn change(path: &Path, at: usize, new: &str) {
    let mut file = File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(new.as_bytes()).unwrap();
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn to_heal_a_source_reads_its_file_and_no_other() {
    let place = Place::new();
    let (one, two) = (place.session("one", 100_000), place.session("two", 100_000));
    place.settle();
    place.sync();
    for path in [&one, &two] {
        change(path, AT, NEW);
        append(path, &message(1_000, "the last"));
    }
    let mut indexer = place.indexer();
    let report = indexer.heal(&[place.source("one.jsonl"), 999_999]).unwrap();
    assert_eq!((report.files_seen, report.files_changed), (1, 1));
    assert_eq!((report.bytes_read, report.proof_bytes), (size(&one), 0));
    assert_eq!((place.found(NEW), place.found("last")), (1, 1));
    drop(indexer);
    // What is as it was is read all the same, and found to be so.
    place.sync();
    let before = dump(&place.index());
    let report = place.indexer().heal(&[place.source("one.jsonl")]).unwrap();
    assert_eq!(report.bytes_read, size(&one));
    place.sync();
    same(&dump(&place.index()), &before, "healed in vain");
}

#[test]
fn what_changes_before_the_words_read_it_is_read_again() {
    let place = Place::new();
    let path = place.session("one", 100_000);
    let mut indexer = place.indexer();
    let report = indexer.sync_catalogue(&mut |_| {}).unwrap();
    assert_eq!(report.files_changed, 1);
    change(&path, AT, NEW);
    append(&path, &message(1_000, "the last"));
    let report = indexer.index_words(None, &mut |_| {}).unwrap();
    assert_eq!(report.outstanding, 0, "{report:?}");
    assert_eq!(report.files_changed, 1);
    assert_eq!((place.found(NEW), place.found(OLD)), (1, 0));
    drop(indexer);
    place.equals_fresh();
}

#[test]
fn what_changes_within_a_file_that_grows_is_found() {
    let place = Place::new();
    let path = place.session("one", 100_000);
    place.settle();
    place.sync();
    assert_eq!((place.found(OLD), place.found(NEW)), (1, 0));
    change(&path, AT, NEW);
    append(&path, &message(1_000, "the last"));
    let report = place.sync();
    // Read once as far as it held, and once as a whole.
    assert_eq!((report.files_seen, report.files_changed), (1, 1));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    assert_eq!((place.found(OLD), place.found(NEW)), (0, 1));
    assert_eq!(place.found("last"), 1);
    place.equals_fresh();
}

#[test]
fn a_sync_reads_what_grew_once_more_and_then_no_more() {
    let place = Place::new();
    let path = place.session("one", 200_000);
    place.session("two", 200_000);
    place.settle();
    assert_eq!(place.sync().proof_bytes, 0);
    append(&path, &message(1_000, "the last"));
    place.settle();
    // By its tail, which is all that a look reads.
    let mut indexer = place.indexer();
    let report = indexer.sync_catalogue(&mut |_| {}).unwrap();
    assert_eq!(report.proof_bytes, 4 << 10);
    assert_eq!(
        place.number("SELECT count(*) FROM _sources WHERE unproven"),
        1
    );
    drop(indexer);
    assert_eq!(place.sync().proof_bytes, size(&path));
    assert_eq!(place.sync().proof_bytes, 0);
    assert_eq!(
        place.number("SELECT count(*) FROM _sources WHERE unproven"),
        0
    );
}

/// Lets a watcher that waits so long for a file to rest do `work`; the bytes that its proofs have
/// read.
#[cfg(target_os = "linux")]
fn watch_during(place: &Place, rest: Duration, work: impl FnOnce()) -> u64 {
    let options = WatchOptions {
        rest,
        ..WatchOptions::default()
    };
    let watcher = Watcher::start_with(&place.config, options);
    work();
    let log = watcher.log();
    watcher.stop();
    log.proven
}

#[cfg(target_os = "linux")]
#[test]
fn a_watcher_proves_what_rests() {
    let place = Place::new();
    let path = place.session("one", 100_000);
    place.settle();
    place.sync();
    watch_during(&place, Duration::from_millis(20), || {
        change(&path, AT, NEW);
        append(&path, &message(1_000, "the last"));
        until("the change is found", || place.found(NEW) == 1);
    });
    place.sync();
    place.equals_fresh();
}

#[cfg(target_os = "linux")]
#[test]
fn a_watcher_proves_nothing_while_it_is_written_to_and_all_at_its_full_look() {
    let place = Place::new();
    let path = place.session("one", 100_000);
    place.settle();
    place.sync();
    let unproven = || place.number("SELECT count(*) FROM _sources WHERE unproven");
    let proven = watch_during(&place, Duration::from_secs(36_000), || {
        for number in 1_000..1_010 {
            append(&path, &message(number, "one more"));
            let size = size(&path) as i64;
            let consumed = "SELECT max(consumed) FROM sources";
            until("it is catalogued", || place.number(consumed) == size);
        }
        let racy = "SELECT count(*) FROM _sources WHERE racy";
        until("the clock can tell it", || place.number(racy) == 0);
    });
    assert_eq!((proven, unproven()), (0, 1));
    let proven = watch_during(&place, Duration::from_secs(36_000), || {
        until("all is proven", || unproven() == 0);
    });
    assert_eq!(proven, size(&path));
    assert_eq!(place.sync().proof_bytes, 0);
    place.equals_fresh();
}

/// A session of agentuse's with two parts, each so long; the folder, and the parts.
fn agentuse(place: &Place) -> (PathBuf, [PathBuf; 2]) {
    let folder = "agentuse/p/session/01KE6P4YM00000000000000000-triage";
    let folder = place.folder.path().join(folder);
    let message = folder.join("01KE6P50JG0000000000000003");
    fs::create_dir_all(message.join("part")).unwrap();
    let document = r#"{"id":"01KE6P4YM00000000000000000","time":{"created":1}}"#;
    fs::write(folder.join("session.json"), document).unwrap();
    let document = r#"{"id":"01KE6P50JG0000000000000003","time":{"created":1}}"#;
    fs::write(message.join("message.json"), document).unwrap();
    let parts = ["1", "2"].map(|part| {
        let path = message.join(format!("part/{part}.json"));
        let text = format!("{OLD} {}", "said ".repeat(2_000));
        let document = format!(r#"{{"id":"{part}","type":"text","text":"{text}"}}"#);
        fs::write(&path, document).unwrap();
        path
    });
    (folder, parts)
}

#[test]
fn a_document_that_its_folder_vouches_for_is_read_again() {
    let place = Place::new();
    let (_, [one, two]) = agentuse(&place);
    place.settle();
    place.sync();
    assert_eq!(place.sync().bytes_read, 0);
    let at = fs::read_to_string(&one).unwrap().find(OLD).unwrap();
    for path in [&one, &two] {
        change(path, at, NEW);
    }
    place.settle();
    assert_eq!(place.sync().files_changed, 0, "its folder vouches for it");
    let report = place
        .indexer()
        .heal(&[place.source("part/1.json")])
        .unwrap();
    assert_eq!(report.bytes_read, size(&one));
    assert_eq!(place.found(NEW), 1);
    // Of a root that is not asked for it is left to who looks at it next.
    let source = place.source("part/2.json");
    let elsewhere = Config {
        roots: Vec::new(),
        ..place.config.clone()
    };
    let report = Indexer::open(&elsewhere).unwrap().heal(&[source]).unwrap();
    assert_eq!((report.files_seen, report.bytes_read), (0, 0));
    assert_eq!(place.sync().files_changed, 1);
    assert_eq!((place.found(NEW), place.found(OLD)), (2, 0));
    place.equals_fresh();
}
