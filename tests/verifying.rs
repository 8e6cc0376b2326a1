//! Does `verify` tell the truth while agents write and others sync: nothing that is none is a
//! difference, and what is one is found?
//!
//! 200 of them by default; more, and with other moments:
//!
//! ```sh
//! SESSIONARY_VERIFIES=5000 SESSIONARY_SEED=$(date +%s) \
//!   cargo test --release verify_beside_writers -- --nocapture
//! ```

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use sessionary::model::{Verdict, Verification};
use sessionary::{Config, Error, Event, Freshness, Index, Indexer};

use crate::histories::damage::forget_passages;
use crate::histories::dump::root;
use crate::histories::lines;
use crate::sandbox::Sandbox;

/// Sessions of pi and clido, with an index beside them.
struct Place {
    folder: tempfile::TempDir,
    config: Config,
}

impl Place {
    /// Each session has some lines.
    fn new(sessions: &[&str]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let roots = ["pi", "clido"].map(|agent| root(agent, agent, &path.join(agent)));
        let config = Config::new(path.join("index"), roots.to_vec());
        let place = Place { folder, config };
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for session in sessions {
            let path = place.path(session);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, some_lines(&mut rng, 1..40)).unwrap();
        }
        // What changed within the clock's granularity is proven again by the next look.
        std::thread::sleep(Duration::from_millis(100));
        place
    }

    fn path(&self, session: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize().unwrap();
        folder.join("pi/--w--").join(session)
    }

    fn sync(&self) {
        let mut indexer = Indexer::open(&self.config).unwrap();
        indexer.sync().unwrap();
    }

    fn verify(&self) -> Verification {
        let index = Index::open(&self.config, Freshness::AsCommitted).unwrap();
        index.verify().unwrap()
    }

    fn catalogue(&self) -> Connection {
        let path = self.config.index_dir.join("v5/catalogue.sqlite");
        let catalogue = Connection::open(path).unwrap();
        catalogue.busy_timeout(Duration::from_secs(20)).unwrap();
        catalogue
    }

    /// The verdict on a file.
    fn verdict(&self, verified: &Verification, session: &str) -> Verdict {
        let path = self.path(session);
        let file = verified.files.iter().find(|file| file.path == path);
        file.unwrap_or_else(|| panic!("{session}: {:#?}", verified.files))
            .verdict
    }
}

/// Whole lines; the first of a session names it.
fn some_lines(rng: &mut ChaCha8Rng, ids: std::ops::Range<u32>) -> Vec<u8> {
    let mut text = Vec::new();
    if ids.start < 2 {
        text.extend(
            br#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
        );
        text.push(b'\n');
    }
    for id in ids {
        text.extend(lines::pi(rng, id));
        text.push(b'\n');
    }
    text
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = File::options()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(bytes).unwrap();
}

/// A file begins again that has become so long.
const MOST_BYTES: u64 = 200_000;

/// Does to files what agents and people do, one thing at a time.
fn write(place: &Place, rng: &mut ChaCha8Rng, id: &mut u32) {
    *id += 3;
    // Or on a slow machine there would be more and more to compare.
    let grows = place.path("grows.jsonl");
    if fs::metadata(&grows).is_ok_and(|file| file.len() > MOST_BYTES) {
        fs::write(&grows, some_lines(rng, 1..3)).unwrap();
    }
    let more = some_lines(rng, *id..*id + 3);
    match rng.random_range(0..10) {
        // In two pieces, so that a line may be seen without its end.
        0..5 => {
            let (first, rest) = more.split_at(rng.random_range(0..more.len()));
            append(&grows, first);
            std::thread::sleep(Duration::from_millis(rng.random_range(0..3)));
            append(&grows, rest);
        }
        5 => {
            let beside = place.path("renamed.jsonl.tmp");
            let lines = rng.random_range(2..60);
            fs::write(&beside, some_lines(rng, 1..lines)).unwrap();
            fs::rename(beside, place.path("renamed.jsonl")).unwrap();
        }
        6 => fs::write(place.path("rewritten.jsonl"), some_lines(rng, 1..30)).unwrap(),
        7 => {
            let file = File::options().write(true).open(place.path("cut.jsonl"));
            file.unwrap().set_len(rng.random_range(0..2000)).unwrap();
            append(&place.path("cut.jsonl"), b"\n");
            append(&place.path("cut.jsonl"), &more);
        }
        8 => append(&place.path(&format!("new{}.jsonl", *id % 5)), &more),
        _ => drop(fs::remove_file(
            place.path(&format!("new{}.jsonl", *id % 5)),
        )),
    }
}

const SESSIONS: [&str; 6] = [
    "rests.jsonl",
    "grows.jsonl",
    "renamed.jsonl",
    "rewritten.jsonl",
    "cut.jsonl",
    "rests_too.jsonl",
];

/// Write and sync on threads of their own while `ask` asks. `syncs`: by how many ways the index is
/// brought up to the files.
fn beside_writers(place: &Place, seed: u64, syncs: u32, ask: impl FnOnce()) -> (u64, u64) {
    let (over, written, synced) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    /// Ends the threads, also when `ask` has failed.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut rng, mut id) = (ChaCha8Rng::seed_from_u64(seed), 100);
            while !over.load(Ordering::Relaxed) {
                write(place, &mut rng, &mut id);
                written.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(rng.random_range(0..20)));
            }
        });
        scope.spawn(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed + 1);
            while !over.load(Ordering::Relaxed) {
                let way = rng.random_range(0..syncs);
                let synced_now = Indexer::open(&place.config).and_then(|mut indexer| match way {
                    0..12 => indexer.sync(),
                    12..19 => indexer.sync_catalogue(&mut |_| {}),
                    _ => indexer.rebuild(),
                });
                match synced_now {
                    Ok(_) => drop(synced.fetch_add(1, Ordering::Relaxed)),
                    // Whoever asks whether somebody writes holds the lock for a moment.
                    Err(Error::Busy { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                std::thread::sleep(Duration::from_millis(rng.random_range(0..10)));
            }
        });
        let _end = End(&over);
        ask();
    });
    (written.into_inner(), synced.into_inner())
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value}"))
    })
}

#[test]
fn verify_beside_writers_tells_no_difference() {
    let verifies = variable("SESSIONARY_VERIFIES", 200);
    let seed = variable("SESSIONARY_SEED", 1);
    println!("SESSIONARY_SEED={seed}");
    let place = Place::new(&SESSIONS);
    place.sync();
    let (mut behind, mut equal) = (0, 0);
    let (written, synced) = beside_writers(&place, seed, 20, || {
        for verify in 0..verifies {
            let verified = place.verify();
            assert!(
                verified.differences.is_empty(),
                "verify {verify}: {:#?}",
                verified.differences
            );
            assert_eq!(verified.unread, [], "verify {verify}");
            behind += verified.behind.len();
            let is_equal = |file: &&sessionary::model::FileVerdict| file.verdict == Verdict::Equal;
            equal += verified.files.iter().filter(is_equal).count();
        }
    });
    println!(
        "{verifies} verifies beside {written} writes and {synced} syncs: {behind} files behind, {equal} equal"
    );
    assert!(behind > 0 && equal > 0, "{behind} {equal}");
    // Left alone, all of it is equal.
    std::thread::sleep(Duration::from_millis(100));
    place.sync();
    let verified = place.verify();
    assert_eq!((verified.differences, verified.behind), (vec![], vec![]));
}

#[test]
fn real_differences_are_found_beside_writers() {
    let rounds = variable("SESSIONARY_VERIFIES", 200) / 10;
    let place = Place::new(&SESSIONS);
    place.sync();
    let catalogue = place.catalogue();
    let key = |session: &str| -> i64 {
        let key = "SELECT key FROM _entries JOIN _sources USING (source)
                   WHERE relative = ?1 AND role = 'user' ORDER BY key DESC LIMIT 1";
        let relative = format!("--w--/{session}");
        catalogue
            .query_row(key, [relative], |row| row.get(0))
            .unwrap()
    };
    // Rows of a file that rests, and of one that grows all the time; and the words of another that
    // rests.
    for session in ["rests.jsonl", "grows.jsonl"] {
        let planted = "UPDATE _entries SET stop_reason = 'planted' WHERE key = ?1";
        catalogue.execute(planted, [key(session)]).unwrap();
    }
    let words = place.config.index_dir.join("v5/words");
    forget_passages(&words, key("rests_too.jsonl") as u64);
    drop(catalogue);
    let expected: BTreeSet<_> = [
        ("catalogue", "rests.jsonl"),
        ("catalogue", "grows.jsonl"),
        ("words", "rests_too.jsonl"),
    ]
    .map(|(store, session)| (store.to_owned(), Some(place.path(session))))
    .into();
    let check = || {
        let verified = place.verify();
        let found = verified.differences.iter();
        let found: BTreeSet<_> = found
            .map(|one| (one.store.to_string(), one.source.clone()))
            .collect();
        assert_eq!(found, expected, "{:#?}", verified.differences);
        for (_, path) in &expected {
            let of_path = verified
                .files
                .iter()
                .filter(|file| Some(&file.path) == path.as_ref());
            let verdicts: Vec<Verdict> = of_path.map(|file| file.verdict).collect();
            assert_eq!(verdicts, [Verdict::Differs], "one line a file");
        }
    };
    check();
    // Nothing that they do makes these right.
    let grow = || {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for id in 0..rounds as u32 {
            append(
                &place.path("grows.jsonl"),
                &some_lines(&mut rng, 100 + id..102 + id),
            );
            fs::write(place.path("rewritten.jsonl"), some_lines(&mut rng, 1..20)).unwrap();
            match Indexer::open(&place.config) {
                Ok(mut indexer) => drop(indexer.sync().unwrap()),
                Err(Error::Busy { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    std::thread::scope(|scope| {
        let growing = scope.spawn(grow);
        while !growing.is_finished() {
            check();
        }
        growing.join().unwrap();
    });
}

#[test]
fn what_was_written_since_it_was_catalogued_is_behind() {
    let place = Place::new(&SESSIONS);
    place.sync();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let verified = place.verify();
    assert_eq!(
        (&verified.differences, &verified.behind),
        (&vec![], &vec![])
    );
    assert!(
        verified
            .files
            .iter()
            .all(|file| file.verdict == Verdict::Equal)
    );
    assert_eq!(verified.files.len(), SESSIONS.len());

    append(&place.path("grows.jsonl"), &some_lines(&mut rng, 100..103));
    append(&place.path("new.jsonl"), &some_lines(&mut rng, 1..3));
    append(&place.path("notes.txt"), b"no session");
    fs::remove_file(place.path("rests_too.jsonl")).unwrap();
    // Other bytes of the same length at the same place, and the file is made to look older than it
    // is.
    let cut = place.path("cut.jsonl");
    let before = fs::metadata(&cut).unwrap().modified().unwrap();
    let text = fs::read_to_string(&cut).unwrap();
    fs::write(&cut, text.replace("\"cwd\":\"/w\"", "\"cwd\":\"/v\"")).unwrap();
    let file = File::options().append(true).open(&cut).unwrap();
    file.set_modified(before).unwrap();
    fs::write(place.path("renamed.jsonl"), "shorter").unwrap();

    let verified = place.verify();
    assert_eq!(verified.differences, []);
    for session in [
        "grows.jsonl",
        "new.jsonl",
        "notes.txt",
        "rests_too.jsonl",
        "cut.jsonl",
        "renamed.jsonl",
    ] {
        assert_eq!(
            place.verdict(&verified, session),
            Verdict::Behind,
            "{session}"
        );
    }
    for session in ["rests.jsonl", "rewritten.jsonl"] {
        assert_eq!(
            place.verdict(&verified, session),
            Verdict::Equal,
            "{session}"
        );
    }
    assert_eq!(verified.behind.len(), 6, "{:#?}", verified.behind);
    let source = |session: &str| -> i64 {
        let source = "SELECT source FROM _sources WHERE relative = ?1";
        let relative = format!("--w--/{session}");
        place
            .catalogue()
            .query_row(source, [relative], |row| row.get(0))
            .unwrap()
    };
    let mut condemned = verified.condemned;
    condemned.sort_unstable();
    let mut other_bytes = vec![source("cut.jsonl"), source("renamed.jsonl")];
    other_bytes.sort_unstable();
    assert_eq!(condemned, other_bytes);
    // The next sync reads all of it.
    place.sync();
    let verified = place.verify();
    assert_eq!((verified.differences, verified.behind), (vec![], vec![]));
}

/// A file of which only a part is in yet, as a killed sync leaves it, is no difference either.
#[test]
fn a_file_that_is_read_in_parts_is_behind() {
    let place = Place::new(&["rests.jsonl"]);
    let mut text = some_lines(&mut ChaCha8Rng::seed_from_u64(1), 1..2);
    for line in 0..18_000 {
        let said = format!(
            r#"{{"type":"message","id":"e{line}","parentId":null,"message":{{"role":"user","content":"{}"}}}}"#,
            "walrus ".repeat(70)
        );
        text.extend(said.bytes().chain(*b"\n"));
    }
    fs::write(place.path("long.jsonl"), text).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let mut told = Vec::new();
    let mut indexer = Indexer::open(&place.config).unwrap();
    let report = indexer.sync_catalogue(&mut |event| {
        if event == Event::Readable {
            told.push(place.verify());
        }
    });
    report.unwrap();
    drop(indexer);
    let is_behind = |verified: &Verification| {
        let long = place.path("long.jsonl");
        let file = verified.files.iter().find(|file| file.path == long);
        file.is_some_and(|file| file.verdict == Verdict::Behind)
    };
    assert!(
        told.len() > 1 && told.iter().all(is_behind),
        "{}",
        told.len()
    );
    for verified in told {
        assert_eq!(verified.differences, []);
    }
    assert_eq!(place.verify().behind, []);
}

#[test]
fn progress_is_told_of_every_file_and_byte() {
    let place = Place::new(&SESSIONS);
    place.sync();
    let mut events = Vec::new();
    let index = Index::open(&place.config, Freshness::AsCommitted).unwrap();
    let verified = index.verify_with(&mut |event| events.push(event)).unwrap();
    let Some(Event::Discovered { files, bytes }) = events.first() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (*files, *bytes),
        (SESSIONS.len() as u64, verified.bytes_read)
    );
    let compared: Vec<(u64, u64)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Compared { files, bytes } => Some((*files, *bytes)),
            _ => None,
        })
        .collect();
    assert!(
        compared.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1),
        "{compared:?}"
    );
    assert!(compared.len() >= SESSIONS.len());
    assert_eq!(compared.last(), Some(&(*files, *bytes)));
    assert_eq!(events.last(), Some(&Event::Done));
}

#[test]
fn the_command_says_behind_beside_a_writer_and_differs_when_it_does() {
    let home = Sandbox::new();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let text = String::from_utf8_lossy(&some_lines(&mut rng, 1..200)).into_owned();
    let path = home.write(".pi/agent/sessions/--w--/grows.jsonl", &text);
    home.write(".pi/agent/sessions/--w--/rests.jsonl", &text);
    home.settle();
    let _ = home.run(&["sync"]);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut id = 300;
            while !over.load(Ordering::Relaxed) {
                append(
                    &path,
                    &some_lines(&mut ChaCha8Rng::seed_from_u64(2), id..id + 1),
                );
                id += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let verified: Vec<_> = (0..8).map(|_| home.output(&["verify"])).collect();
        over.store(true, Ordering::Relaxed);
        for output in verified {
            let out = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{out}{said}");
            assert!(!said.contains("rebuild"), "{said}");
            assert!(out.contains("both stores equal the files"), "{out}");
        }
    });
    home.settle();
    let catalogue = home.home.join(".cache/sessionary/v5/catalogue.sqlite");
    let planted = "UPDATE _entries SET stop_reason = 'planted' WHERE source = 2";
    let _ = home.run(&["sync"]);
    Connection::open(catalogue)
        .unwrap()
        .execute(planted, [])
        .unwrap();
    let output = home.output(&["verify"]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("rebuild"));
    let lines = out.lines().filter(|line| line.starts_with("differs: "));
    assert_eq!(lines.count(), 1, "{out}");
    let json = home.json(&["verify", "--json"]);
    let verdicts = json["files"].as_array().unwrap().iter();
    let mut verdicts: Vec<&str> = verdicts
        .filter_map(|file| file["verdict"].as_str())
        .collect();
    verdicts.sort_unstable();
    assert_eq!(verdicts, ["differs", "equal"], "{json}");
    assert_eq!(json["behind"], serde_json::json!([]));
}
