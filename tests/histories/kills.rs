//! Does a process that is killed, or stopped for a while, at any moment of a sync lose anything,
//! while writers go on writing?
//!
//! Each history syncs in processes of its own, most of which get SIGKILL or SIGSTOP after a random
//! while; readers answer while one is stopped. At the end the index equals one made from scratch.
//! `SESSIONARY_SEED=N` replays what writers did, not when the signal came; a long run:
//!
//! ```sh
//! SESSIONARY_SEED=$(date +%s) SESSIONARY_KILLED=400 \
//!   cargo test --release killed_histories -- --nocapture
//! ```

use std::cell::RefCell;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};
use sessionary::index::{ListScope, SearchScope};
use sessionary::{Config, Freshness, Index, Indexer, StoreFault};

use super::dump::{clean, dump, fresh, same};
use super::folders::Folders;
use super::world::World;
use super::{config_of, seeds};

/// What the process below is told: the folder, then `sync`, `catalogue` or `words`.
const TOLD: &str = "SESSIONARY_KILLED_HISTORY";

#[test]
fn the_process_of_a_history() {
    let Ok(told) = std::env::var(TOLD) else {
        return;
    };
    let (place, what) = told.rsplit_once('\n').unwrap();
    let config = config_of(Path::new(place));
    let mut indexer = Indexer::open(&config).unwrap();
    let silent = &mut |_| {};
    match what {
        "sync" => drop(indexer.sync().unwrap()),
        "catalogue" => drop(indexer.sync_catalogue(silent).unwrap()),
        "words" => {
            let budget = Some(Duration::from_secs(60));
            indexer.index_words(budget, silent).unwrap();
        }
        _ => drop(indexer.rebuild().unwrap()),
    }
}

fn process(place: &Path, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "histories::kills::the_process_of_a_history"])
        .env(TOLD, format!("{}\n{what}", place.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: Signal) {
    // Not reaped yet, so the number is still its own.
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Readers answer, whatever the writer's process is doing. One that is stopped while SQLite
/// recovers the WAL for it keeps them out: then they name it.
fn read(config: &Config) {
    for freshness in [Freshness::AsCommitted, Freshness::Check] {
        let index = match Index::open(config, freshness) {
            Err(error) if error.fault() == Some(StoreFault::Locked) => {
                assert!(
                    error.to_string().contains("is locked by process"),
                    "{error}"
                );
                continue;
            }
            index => index.unwrap(),
        };
        let scope = ListScope {
            limit: Some(5),
            ..ListScope::default()
        };
        index.list(&scope).unwrap();
        index.search("walrus", &SearchScope::default()).unwrap();
    }
}

/// What happened, told when the history fails.
#[derive(Default)]
struct Log(RefCell<Vec<String>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("after:\n  {}", self.0.borrow().join("\n  "));
        }
    }
}

#[derive(Default)]
struct Counts {
    kills: u64,
    stops: u64,
    steps: u64,
}

fn history(seed: u64, counts: &mut Counts) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().unwrap();
    let mut world = World::new(place.path());
    let mut folders = Folders::new(&place.path().join("agentuse"));
    let config = config_of(place.path());
    let log = Log::default();
    let to_the_end = || {
        log.add("catalogue, to its end");
        let output = process(place.path(), "catalogue")
            .wait_with_output()
            .unwrap();
        assert!(
            output.status.success(),
            "seed {seed}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    };
    let mut write = |world: &mut World, rng: &mut ChaCha8Rng| {
        if rng.random_ratio(1, 3) {
            log.add(folders.write(rng));
            return;
        }
        let at = world.choose(rng);
        log.add(world.write(rng, at));
    };
    for _ in 0..rng.random_range(10..20) {
        for _ in 0..rng.random_range(1..9) {
            counts.steps += 1;
            write(&mut world, &mut rng);
        }
        let what = ["sync", "sync", "catalogue", "words", "rebuild"][rng.random_range(0..5)];
        let mut child = process(place.path(), what);
        log.add(format!("{what} begins"));
        // The process itself needs some milliseconds before it begins, more on a busy machine.
        std::thread::sleep(Duration::from_micros(rng.random_range(0..60_000)));
        if rng.random_ratio(1, 2) {
            write(&mut world, &mut rng);
        }
        if rng.random_ratio(1, 4) {
            signal(&child, Signal::STOP);
            log.add("stopped");
            counts.stops += 1;
            read(&config);
            write(&mut world, &mut rng);
            if rng.random() {
                signal(&child, Signal::CONT);
            }
        }
        if rng.random_ratio(9, 10) {
            signal(&child, Signal::KILL);
            log.add("killed");
            counts.kills += 1;
        } else {
            signal(&child, Signal::CONT);
        }
        child.wait().unwrap();
        match rng.random_range(0..6) {
            0 => read(&config),
            1 => to_the_end(),
            _ => {}
        }
    }
    let mut indexer = Indexer::open(&config).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let synced = indexer.sync();
    synced.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    drop(indexer);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let expected = fresh(&config, &place.path().join("fresh"));
    same(&dump(&index), &dump(&expected), &format!("seed {seed}"));
    clean(&index, &format!("seed {seed}"));
}

#[test]
fn killed_histories_leave_the_index_that_their_end_would_make() {
    let seeds = seeds(0, 4, "SESSIONARY_KILLED");
    let mut counts = Counts::default();
    let many = seeds.len();
    for (number, seed) in seeds.into_iter().enumerate() {
        history(seed, &mut counts);
        if number % 50 == 49 {
            println!(
                "{} histories, {} kills, {} stops, 0 differences",
                number + 1,
                counts.kills,
                counts.stops
            );
        }
    }
    println!(
        "{many} histories, {} steps of writers, {} kills, {} stops: 0 differences",
        counts.steps, counts.kills, counts.stops
    );
}
