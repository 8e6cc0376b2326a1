//! May twenty readers, four writers and a watcher use one index at once? No reader waits for a
//! writer's lock, and no line is lost.
//!
//! Four processes append to sessions of their own and sync; now and then one of them is stopped
//! wherever it is, with all locks that it holds, and so is the watcher. Four others with five
//! threads each read; some ask the watcher whether it has seen all. A read that needed a lock of a
//! stopped process would end in SQLite's "database is locked", so counting those shows what no
//! clock could. What stood in a file before a reader looked is in its answer when that says that it
//! is complete. Ten seconds; minutes of it:
//!
//! ```sh
//! SESSIONARY_CROWD_SECONDS=300 cargo test --release a_crowd -- --nocapture
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};
use sessionary::index::{ListScope, SearchScope, WatchEvent, WatchOptions, caught_up};
use sessionary::{Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::{clean, root};

const WRITERS: usize = 4;
const READING_PROCESSES: usize = 4;
const READERS_EACH: usize = 5;

/// What a process of the crowd is told: folder, `writer` or `reader`, its number.
const TOLD: &str = "SESSIONARY_CROWD";

fn config(place: &Path) -> Config {
    Config::new(
        place.join("index"),
        vec![root("pi", "pi", &place.join("pi"))],
    )
}

fn session(place: &Path, writer: usize) -> PathBuf {
    place.join(format!("pi/--w--/s{writer}.jsonl"))
}

/// Whole lines that are in a session now.
fn lines(place: &Path, writer: usize) -> u64 {
    let bytes = fs::read(session(place, writer)).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[test]
fn one_of_the_crowd() {
    let Ok(told) = std::env::var(TOLD) else {
        return;
    };
    let told: Vec<&str> = told.split('\n').collect();
    let [place, what, number] = told[..] else {
        panic!("{told:?}");
    };
    let (place, number) = (Path::new(place), number.parse().unwrap());
    let said = match what {
        "writer" => write(place, number),
        "watcher" => watch(place),
        _ => {
            let readers = std::thread::scope(|scope| {
                let readers: Vec<_> = (0..READERS_EACH)
                    .map(|at| scope.spawn(move || read(place, number * READERS_EACH + at)))
                    .collect();
                readers
                    .into_iter()
                    .map(|reader| reader.join().unwrap())
                    .collect::<Vec<_>>()
            });
            readers.join("\n")
        }
    };
    fs::write(place.join(format!("said-{what}-{number}")), said).unwrap();
}

fn is_over(place: &Path) -> bool {
    place.join("over").exists()
}

/// Whether every process of the crowd has done its thing some times.
fn enough(place: &Path) -> bool {
    let readers = (0..READING_PROCESSES * READERS_EACH).map(|number| format!("reads-{number}"));
    let mut all = readers.chain(["synced", "complete", "vouched"].map(str::to_owned));
    all.all(|name| place.join(name).exists())
}

/// Appends lines and syncs, again and again.
fn write(place: &Path, number: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
    let config = config(place);
    let (mut written, mut syncs, mut busy) = (0_u64, 0_u64, 0_u64);
    let path = session(place, number);
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    writeln!(file, r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}}"#).unwrap();
    while !is_over(place) {
        // As fast as a person types, almost: nobody is to be overrun.
        std::thread::sleep(Duration::from_millis(rng.random_range(1..200)));
        for _ in 0..rng.random_range(1..20) {
            written += 1;
            let line = format!(
                r#"{{"type":"message","id":"e{written}","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","message":{{"role":"user","content":"walrus{number} line {written}"}}}}"#
            );
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        // The others' reads take in what is there as well.
        if rng.random_ratio(1, 2) {
            continue;
        }
        match Indexer::open(&config).and_then(|mut indexer| indexer.sync()) {
            Ok(_) => {
                syncs += 1;
                if syncs == 5 {
                    fs::write(place.join("synced"), "").unwrap();
                }
            }
            // Another writer is at it, and takes in what is ours.
            Err(Error::Busy { .. }) => busy += 1,
            Err(error) => panic!("writer {number}: {error}"),
        }
    }
    format!("{written} {syncs} {busy}")
}

/// Watches; how often something was told of and looked at.
fn watch(place: &Path) -> String {
    let config = config(place);
    let (mut looks, cancel) = (0, config.cancel.clone());
    let mut note = |watched: WatchEvent<'_>| match watched {
        WatchEvent::Synced(_) => looks += 1,
        WatchEvent::Delayed(error) => panic!("watcher: {error}"),
        _ => {}
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over(place) {
                std::thread::sleep(Duration::from_millis(50));
            }
            cancel.cancel();
        });
        // Writers may be at it.
        let indexer = loop {
            match Indexer::open(&config) {
                Err(Error::Busy { .. }) => {}
                opened => break opened.unwrap(),
            }
        };
        indexer.watch(&WatchOptions::default(), &mut note).unwrap()
    });
    looks.to_string()
}

/// Reads in every way, again and again; how often, and what was wrong.
fn read(place: &Path, number: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(1000 + number as u64);
    let config = config(place);
    let (mut reads, mut complete) = (0_u64, 0_u64);
    let mut wrong = Vec::new();
    let mut seen = [0_u64; WRITERS];
    while !is_over(place) {
        let freshness = if rng.random_ratio(1, 3) {
            Freshness::Check
        } else {
            Freshness::AsCommitted
        };
        let before: Vec<u64> = (0..WRITERS).map(|writer| lines(place, writer)).collect();
        let asks = freshness == Freshness::AsCommitted && rng.random_ratio(1, 4);
        let answer = || -> Result<(bool, Vec<u64>), Error> {
            let vouched = asks && caught_up(&config, Duration::from_millis(20)).is_some();
            if vouched {
                fs::write(place.join("vouched"), "").unwrap();
            }
            let index = Index::open(&config, freshness)?;
            let listed = index.list(&ListScope::default())?;
            let entries = (0..WRITERS)
                .map(|writer| {
                    let id = format!("s{writer}");
                    listed
                        .sessions
                        .iter()
                        .find(|row| row.id == id)
                        .map_or(0, |row| row.entries)
                })
                .collect();
            let word = format!("walrus{}", number % WRITERS);
            let found = index.search(&word, &SearchScope::default())?;
            let rows = index.sql("SELECT count(*) FROM entries", &[])?;
            assert_eq!(rows.rows.len(), 1);
            Ok((
                vouched || freshness == Freshness::Check && index.is_complete() && found.complete,
                entries,
            ))
        };
        match answer() {
            // Before the first writer there is no index.
            Err(Error::NoIndex) => {}
            Err(error) => wrong.push(error.to_string()),
            Ok((is_complete, entries)) => {
                reads += 1;
                if reads == 10 {
                    fs::write(place.join(format!("reads-{number}")), "").unwrap();
                }
                complete += u64::from(is_complete);
                if is_complete {
                    fs::write(place.join("complete"), "").unwrap();
                }
                for writer in 0..WRITERS {
                    if entries[writer] < seen[writer]
                        || is_complete && entries[writer] < before[writer]
                    {
                        wrong.push(format!(
                            "s{writer}: {} entries after {}, {} lines, complete {is_complete}",
                            entries[writer], seen[writer], before[writer]
                        ));
                    }
                    seen[writer] = entries[writer];
                }
            }
        }
    }
    format!("{reads} {complete} {}", wrong.join("; "))
}

fn process(place: &Path, what: &str, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crowd::one_of_the_crowd", "--nocapture"])
        .env(TOLD, format!("{}\n{what}\n{number}", place.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

#[test]
fn a_crowd_of_readers_and_writers_waits_for_nobody_and_loses_nothing() {
    let seconds =
        std::env::var("SESSIONARY_CROWD_SECONDS").map_or(10, |seconds| seconds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::create_dir_all(place.join("pi/--w--")).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seconds);
    let mut writers: Vec<Child> = (0..WRITERS)
        .map(|number| process(place, "writer", number))
        .collect();
    writers.push(process(place, "watcher", 0));
    let readers: Vec<Child> = (0..READING_PROCESSES)
        .map(|number| process(place, "reader", number))
        .collect();
    let (end, mut stops) = (Instant::now() + Duration::from_secs(seconds), 0);
    // On a machine that is busy with other things it takes longer to see enough.
    let patience = Duration::from_secs(240);
    while Instant::now() < end || !enough(place) {
        assert!(Instant::now() < end + patience, "too little happened");
        std::thread::sleep(Duration::from_millis(rng.random_range(20..200)));
        let writer = Pid::from_child(&writers[rng.random_range(0..=WRITERS)]);
        kill_process(writer, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_millis(rng.random_range(20..200)));
        kill_process(writer, Signal::CONT).unwrap();
        stops += 1;
    }
    fs::write(place.join("over"), "").unwrap();
    for child in writers.iter_mut().chain(&mut { readers }) {
        assert!(child.wait().unwrap().success());
    }
    let numbers =
        |text: &str, at: usize| -> u64 { text.split(' ').nth(at).unwrap().parse().unwrap() };
    let (mut written, mut syncs, mut busy) = (0, 0, 0);
    for number in 0..WRITERS {
        let said = fs::read_to_string(place.join(format!("said-writer-{number}"))).unwrap();
        (written, syncs, busy) = (
            written + numbers(&said, 0),
            syncs + numbers(&said, 1),
            busy + numbers(&said, 2),
        );
    }
    let looks = fs::read_to_string(place.join("said-watcher-0")).unwrap();
    let (mut reads, mut complete) = (0, 0);
    for number in 0..READING_PROCESSES {
        for said in fs::read_to_string(place.join(format!("said-reader-{number}")))
            .unwrap()
            .lines()
        {
            let wrong = said.splitn(3, ' ').nth(2).unwrap();
            assert_eq!(wrong, "", "reader");
            (reads, complete) = (reads + numbers(said, 0), complete + numbers(said, 1));
        }
    }
    let config = config(place);
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    clean(&index, "after the crowd");
    let entries: u64 = index
        .list(&ListScope::default())
        .unwrap()
        .sessions
        .iter()
        .map(|row| row.entries)
        .sum();
    assert_eq!(entries, written + WRITERS as u64);
    let all = SearchScope {
        limit: Some(1),
        exact: true,
        every_copy: true,
        ..SearchScope::default()
    };
    assert_eq!(index.search("line", &all).unwrap().total, written);
    assert!(stops > 10, "{stops}");
    println!(
        "{seconds} s: {written} lines in {syncs} syncs ({busy} found another at it, {stops} stops), {looks} looks of the watcher, {reads} reads, {complete} of them \
         complete; 0 waited for a lock, 0 lines lost"
    );
}
