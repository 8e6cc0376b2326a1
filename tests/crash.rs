//! Does a sync that is killed at any moment lose anything? Random SIGKILLs, then `verify`.
//!
//! 20 kills over 20 MB by default; the full run is
//! `SESSIONARY_KILLS=200 SESSIONARY_KILL_MB=200 cargo test --release killed_syncs -- --nocapture`.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::corpus::{self, COMMON, RARE, Spec};

#[path = "../benches/process.rs"]
#[allow(dead_code)] // The benchmark uses the rest.
mod process;

/// What a kill may cost at most: one batch of the words stage is read again (`BATCH_BYTES` there).
const BATCH: u64 = 384 << 20;

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
        // Scores depend on how the words lie in segments, so of a search only the number of hits is compared.
        for answer in &mut answers[3..] {
            let json: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(json["complete"], true, "{when}");
            *answer = json["total"].to_string();
        }
        answers
    }
}

/// Starts a sync and kills it after `delay`. Bytes it read, and whether it was done before the kill.
fn kill(place: &Place, index: &Path, delay: Duration) -> (u64, bool) {
    let mut child = place
        .command(index, &["sync"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + delay;
    // Not try_wait: that would reap the child and take its counters with it.
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1).min(end - Instant::now().min(end)));
    }
    // No error when it is done already: it is not reaped yet.
    child.kill().unwrap();
    let read = process::read_when_dead(&child)
        .unwrap()
        .expect("/proc/PID/io of our own child can be read");
    let output = child.wait_with_output().unwrap();
    let done = output.status.success();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(
        done || killed,
        "sync ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    (read, done)
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
    let child = place
        .command(&whole, &["sync"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let undisturbed = process::read_when_dead(&child)
        .unwrap()
        .expect("/proc/PID/io of our own child can be read");
    let took = start.elapsed();
    assert!(child.wait_with_output().unwrap().status.success());
    place.ok(&whole, &["verify"], "after an undisturbed sync");
    let right = place.answers(&whole, "after an undisturbed sync");

    let (index, copied) = (home.path().join("index"), home.path().join("copy"));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut killed, mut rounds, mut all_read) = (0, 0, 0);
    // A round is a cold sync killed again and again until it comes through.
    while killed < kills {
        rounds += 1;
        if index.exists() {
            fs::remove_dir_all(&index).unwrap();
        }
        let (mut read, mut kills_here) = (0, 0);
        while killed < kills {
            // Early moments (open, migrations, first transactions) are as likely as late ones.
            let longest = if rng.random() { took } else { took / 20 };
            let delay = Duration::from_secs_f64(rng.random_range(0.0..=longest.as_secs_f64()));
            let (bytes, done) = kill(&place, &index, delay);
            read += bytes;
            if done {
                break;
            }
            killed += 1;
            kills_here += 1;
            if index.exists() {
                copy(&index, &copied);
                place.ok(
                    &copied,
                    &["list", "--all", "--json"],
                    &format!("after kill {killed} at {delay:?}"),
                );
            }
        }
        let child = place
            .command(&index, &["sync"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        read += process::read_when_dead(&child)
            .unwrap()
            .expect("/proc/PID/io of our own child can be read");
        let output = child.wait_with_output().unwrap();
        let when = format!("after round {rounds}, {killed} kills in all, seed {seed}");
        assert!(
            output.status.success(),
            "sync {when}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        place.ok(&index, &["verify"], &when);
        assert_eq!(place.answers(&index, &when), right, "{when}");

        // Every process counts all its reads here, those of SQLite and of merges too, so the bound is
        // taken from the undisturbed sync where that reads more than the corpus.
        let base = undisturbed.max(written.bytes);
        all_read += read;
        assert!(
            read <= base * 13 / 10 + kills_here * BATCH,
            "{when}: {read} bytes read for {} bytes of sessions and {kills_here} kills; undisturbed {undisturbed}",
            written.bytes
        );
    }
    let again = all_read.saturating_sub(rounds * undisturbed) as f64 / killed.max(1) as f64;
    println!(
        "{killed} kills in {rounds} cold syncs of {:.1} MB ({:.2} s undisturbed, reading {:.2} x the corpus): verify clean each time, \
         {:.1} MB read again a kill",
        written.bytes as f64 / 1e6,
        took.as_secs_f64(),
        undisturbed as f64 / written.bytes as f64,
        again / 1e6
    );
}
