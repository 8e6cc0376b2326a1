//! Does a sync that is killed at any moment lose anything, or read much again? Random SIGKILLs,
//! then `verify`.
//!
//! A cold sync reads every session file twice: once for the catalogue, then each entry once more
//! for the words. So the bytes of the two stages are counted apart, and for each of them
//!
//! ```text
//! bytes read by all processes of a round
//!   ≤ 1.3 × what the stage reads undisturbed + kills in that stage × one batch
//! ```
//!
//! where one batch is what is promised: [`catalogue_batch`], [`words_batch`] or, in every other
//! round, [`SMALL_WORDS_BATCH`], by which the words are made when time is short (unit tests of
//! `ingest` hold the code to these numbers). No batch is larger than what there is: a words batch
//! holds conversation or answers of tools, never both. Every process also reads the index itself;
//! what a sync reads that has nothing to do is granted to each.
//!
//! 20 kills over 20 MB by default; the full run is
//! `SESSIONARY_KILLS=200 SESSIONARY_KILL_MB=200 cargo test --release killed_syncs -- --nocapture`.
//! `SESSIONARY_KILL_SEED=N` takes other moments.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use sessionary::{Config, GENERATION, Indexer};

use crate::corpus::{self, COMMON, RARE, Spec};
use crate::histories::dump::root;

#[path = "../benches/process.rs"]
#[allow(dead_code)] // The benchmark uses the rest.
mod process;

/// Bytes of entries in one batch of the words when time is short.
const SMALL_WORDS_BATCH: u64 = 1 << 20;

/// Bytes of session files that a sync killed in the catalogue stage has read in vain, at most: an
/// open transaction, what waits for it, and of each thread a chunk that it is reading and one that
/// it sent when there was hardly room.
fn catalogue_batch() -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    (64 << 20) + (24 << 20) + 2 * threads * (4 << 20)
}

/// Bytes of entries in one batch of the words when there is no hurry and so many are owed.
fn words_batch(owed: u64) -> u64 {
    (owed / 8).clamp(1 << 30, 4 << 30)
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value}"))
    })
}

/// A corpus with an index beside it.
struct Place {
    home: PathBuf,
    root: PathBuf,
}

impl Place {
    fn command(&self, index: &Path, arguments: &[&str]) -> Command {
        let mut root = std::ffi::OsString::from("pi:");
        root.push(&self.root);
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary"));
        command
            .arg("--index")
            .arg(index)
            .arg("--no-default-roots")
            .arg("--root")
            .arg(root)
            .args(arguments);
        command
            .env("HOME", &self.home)
            .env_remove("SESSIONARY_INDEX_DIR")
            .current_dir(&self.home);
        command.stdin(Stdio::null());
        command
    }

    /// Runs the command and demands exit code 0.
    fn ok(&self, index: &Path, arguments: &[&str], when: &str) -> Output {
        let output = self.command(index, arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?} {when}: {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
                .chars()
                .take(2_000)
                .collect::<String>(),
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// What must not depend on kills: rows, hits and the whole list.
    fn answers(&self, index: &Path, when: &str) -> Vec<String> {
        let questions: [&[&str]; 5] = [
            &["list", "--all", "--json"],
            &["sql", "--json", "SELECT count(*) FROM sessions"],
            &["sql", "--json", "SELECT count(*) FROM entries"],
            &["search", RARE, "--json"],
            &["search", COMMON, "--json"],
        ];
        let text =
            |question: &&[&str]| String::from_utf8(self.ok(index, question, when).stdout).unwrap();
        let mut answers: Vec<String> = questions.iter().map(text).collect();
        // Scores depend on how the words lie in segments, so of a search only the number of hits is
        // compared.
        for answer in &mut answers[3..] {
            let json: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(json["complete"], true, "{when}");
            *answer = json["total"].to_string();
        }
        answers
    }
}

/// Bytes that something read, by stage.
#[derive(Debug, Clone, Copy, Default)]
struct Stages {
    catalogue: u64,
    words: u64,
}

impl Stages {
    fn add(&mut self, other: Stages) {
        self.catalogue += other.catalogue;
        self.words += other.words;
    }
}

/// What the sync below is told: index, sessions, where to write what the first stage read, `hurry`
/// or nothing.
const TOLD: &str = "SESSIONARY_KILLED_SYNC";

/// The process that is killed: what `sessionary sync` does, and between the stages it says what it
/// has read.
#[test]
fn the_sync_that_is_killed() {
    let Ok(told) = std::env::var(TOLD) else {
        return;
    };
    let told: Vec<&str> = told.split('\n').collect();
    let [index, sessions, said, hurry] = told[..] else {
        panic!("{TOLD}={told:?}");
    };
    let config = Config::new(index, vec![root("pi", "pi", Path::new(sessions))]);
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.sync_catalogue(&mut |_| {}).unwrap();
    let counters = fs::read_to_string("/proc/self/io").unwrap();
    let read = counters.lines().find_map(|l| l.strip_prefix("rchar: "));
    fs::write(said, read.unwrap()).unwrap();
    let budget = (!hurry.is_empty()).then_some(Duration::from_secs(3600));
    let report = indexer.index_words(budget, &mut |_| {}).unwrap();
    assert_eq!(report.outstanding, 0);
}

/// A sync that is killed after some time, or that runs to its end. What it read, and whether it
/// came to its end.
fn sync(place: &Place, index: &Path, hurry: bool, delay: Option<Duration>) -> (Stages, bool) {
    let said = place.home.join("said");
    let _ = fs::remove_file(&said);
    let told = [
        index.to_str().unwrap(),
        place.root.to_str().unwrap(),
        said.to_str().unwrap(),
        if hurry { "hurry" } else { "" },
    ];
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_sync_that_is_killed"])
        .env(TOLD, told.join("\n"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(delay) = delay {
        let end = Instant::now() + delay;
        // Not try_wait: that would reap the child and take its counters with it.
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1).min(end - Instant::now().min(end)));
        }
        // No error when it is done already: it is not reaped yet.
        child.kill().unwrap();
    }
    let all = process::read_when_dead(&child)
        .unwrap()
        .expect("/proc/PID/io of our own child can be read");
    let output = child.wait_with_output().unwrap();
    let done = output.status.success();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(
        done || (killed && delay.is_some()),
        "sync ended with {}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let first: Option<u64> = fs::read_to_string(&said).ok().and_then(|n| n.parse().ok());
    let catalogue = first.unwrap_or(all);
    let read = Stages {
        catalogue,
        words: all - catalogue,
    };
    (read, done)
}

/// The largest batch of the words that these sessions can make: all conversation, or all answers of
/// tools.
fn largest_words_batch(index: &Path) -> u64 {
    let catalogue = index.join(format!("v{GENERATION}/catalogue.sqlite"));
    let bytes = |answers: i64| -> u64 {
        rusqlite::Connection::open(&catalogue)
            .unwrap()
            .query_row(
                "SELECT coalesce(sum(length), 0) FROM _entries WHERE (flags & 16 != 0) = ?1",
                [answers],
                |row| row.get::<_, i64>(0),
            )
            .unwrap() as u64
    };
    bytes(0).max(bytes(1))
}

/// Copies an index as a kill left it, so that looking at it does not repair it.
fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).unwrap();
            fs::set_permissions(&target, entry.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn killed_syncs_lose_nothing() {
    let kills = variable("SESSIONARY_KILLS", 20);
    let megabytes = variable("SESSIONARY_KILL_MB", 20);
    let seed = variable("SESSIONARY_KILL_SEED", 1);
    let home = tempfile::tempdir().unwrap();
    let place = Place {
        home: home.path().to_owned(),
        root: home.path().join("agent/sessions"),
    };
    let written = corpus::write(
        &place.root,
        Spec {
            bytes: megabytes * 1_000_000,
            files: 0,
            seed,
        },
    )
    .unwrap();

    // One sync that nobody disturbs: how long it takes, what it reads, what is right.
    let whole = home.path().join("whole");
    let start = Instant::now();
    let (undisturbed, _) = sync(&place, &whole, false, None);
    let took = start.elapsed();
    place.ok(&whole, &["verify"], "after an undisturbed sync");
    let right = place.answers(&whole, "after an undisturbed sync");
    let (idle, _) = sync(&place, &whole, false, None);
    let catalogue_batch = catalogue_batch().min(written.bytes);
    let words_batch = words_batch(2 * written.bytes).min(largest_words_batch(&whole));

    let (index, copied) = (home.path().join("index"), home.path().join("copy"));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut killed, mut rounds) = (0, 0);
    // By stage and hurry: kills, and bytes read beyond what the stage reads undisturbed.
    let mut again: [(u64, u64); 3] = Default::default();
    // A round is a cold sync killed again and again until it comes through.
    while killed < kills {
        rounds += 1;
        let hurry = rounds % 2 == 0;
        if index.exists() {
            fs::remove_dir_all(&index).unwrap();
        }
        let mut read = Stages::default();
        let (mut in_catalogue, mut in_words, mut done) = (0, 0, false);
        // Whoever opens the catalogue next reads what the killed one left in its log.
        let mut left_in_log = 0;
        while killed < kills {
            // Early moments (open, migrations, first transactions) are as likely as late ones.
            let longest = if rng.random() { took } else { took / 20 };
            let delay = Duration::from_secs_f64(rng.random_range(0.0..=longest.as_secs_f64()));
            let bytes;
            (bytes, done) = sync(&place, &index, hurry, Some(delay));
            read.add(bytes);
            if done {
                break;
            }
            killed += 1;
            let log = index.join(format!("v{GENERATION}/catalogue.sqlite-wal"));
            left_in_log += fs::metadata(log).map_or(0, |log| log.len());
            match bytes.words {
                0 => in_catalogue += 1,
                _ => in_words += 1,
            }
            if index.exists() {
                copy(&index, &copied);
                place.ok(
                    &copied,
                    &["list", "--all", "--json"],
                    &format!("after kill {killed} at {delay:?}"),
                );
            }
        }
        if !done {
            read.add(sync(&place, &index, hurry, None).0);
        }
        let when = format!("after round {rounds}, {killed} kills in all, seed {seed}");
        place.ok(&index, &["verify"], &when);
        assert_eq!(place.answers(&index, &when), right, "{when}");

        let batch = if hurry {
            // What would be left behind the last one is taken as well.
            SMALL_WORDS_BATCH * 5 / 4
        } else {
            words_batch
        };
        let processes = in_catalogue + in_words + 1;
        for (stage, read, undisturbed, idle, kills, batch) in [
            (
                0,
                read.catalogue.saturating_sub(left_in_log),
                undisturbed.catalogue,
                idle.catalogue,
                in_catalogue,
                catalogue_batch,
            ),
            (
                1 + usize::from(hurry),
                read.words,
                undisturbed.words,
                idle.words,
                in_words,
                batch,
            ),
        ] {
            let most = undisturbed * 13 / 10 + kills * batch + processes * idle;
            let name = ["catalogue", "words", "words in small batches"][stage];
            assert!(
                read <= most,
                "{when}: {name}: {read} bytes read, at most {most} are right for {kills} kills; undisturbed {undisturbed}, idle {idle}"
            );
            again[stage].0 += kills;
            again[stage].1 += read.saturating_sub(undisturbed + processes * idle);
        }
    }
    println!(
        "{killed} kills in {rounds} cold syncs of {:.1} MB ({:.2} s undisturbed; the catalogue reads {:.2} x, the words {:.2} x the corpus): \
         verify clean each time",
        written.bytes as f64 / 1e6,
        took.as_secs_f64(),
        undisturbed.catalogue as f64 / written.bytes as f64,
        undisturbed.words as f64 / written.bytes as f64,
    );
    let batches = [catalogue_batch, words_batch, SMALL_WORDS_BATCH];
    for ((name, (kills, bytes)), batch) in ["catalogue", "words", "words in small batches"]
        .into_iter()
        .zip(again)
        .zip(batches)
    {
        println!(
            "{name}: {kills} kills, {:.2} MB read again a kill, at most {:.1} MB are promised",
            bytes as f64 / kills.max(1) as f64 / 1e6,
            batch as f64 / 1e6
        );
    }
}
