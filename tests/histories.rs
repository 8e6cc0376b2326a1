//! Does an index that followed a history equal one made from what the history left?
//!
//! Random writers do to session files what agents, people and accidents do; between them the index
//! is synced, partly or for some files only, or stopped in the middle. At the end its canonical
//! dump equals that of a fresh index, and `verify` finds nothing. Every test with a seed prints it
//! when it fails. `SESSIONARY_SEED=N` replays that one; with `SESSIONARY_HISTORIES=M` (for planted
//! damages `SESSIONARY_DAMAGES=M`) it is the first of M. A long run, with seeds that no other run
//! has had:
//!
//! ```sh
//! SESSIONARY_SEED=$(date +%s) SESSIONARY_HISTORIES=3000 \
//!   cargo test --release a_history -- --nocapture
//! ```

#[path = "histories/bytes.rs"]
mod bytes;
#[path = "histories/damage.rs"]
pub mod damage;
#[path = "histories/dump.rs"]
pub mod dump;
#[path = "histories/flips.rs"]
mod flips;
#[path = "histories/folders.rs"]
mod folders;
#[path = "histories/fourth.rs"]
mod fourth;
#[cfg(unix)]
#[path = "histories/kills.rs"]
mod kills;
#[path = "histories/lines.rs"]
pub mod lines;
#[cfg(target_os = "linux")]
#[path = "histories/watcher.rs"]
mod watcher;
#[path = "histories/world.rs"]
mod world;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::index::SearchScope;
use sessionary::{Config, Freshness, Index, Indexer};

use dump::{clean, dump, fresh, root, same, same_order};
use folders::Folders;
use world::World;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// The seeds of a test: those of every run from `first` on, or what the environment asks for.
fn seeds(first: u64, usual: u64, how_many: &str) -> Vec<u64> {
    let asked = variable("SESSIONARY_SEED");
    let first = asked.unwrap_or(first);
    let many = variable(how_many).unwrap_or(if asked.is_some() { 1 } else { usual });
    (first..first + many).collect()
}

#[test]
fn a_history_leaves_the_index_that_its_end_would_make() {
    let seeds = seeds(0, 60, "SESSIONARY_HISTORIES");
    let (next, steps) = (AtomicU64::new(0), AtomicU64::new(0));
    #[allow(clippy::type_complexity)]
    let failed: Mutex<Vec<(u64, Vec<String>, Box<dyn std::any::Any + Send>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    if failed.lock().unwrap().len() >= 3 {
                        return;
                    }
                    let mut log = Vec::new();
                    if let Err(why) = catch_unwind(AssertUnwindSafe(|| history(seed, &mut log))) {
                        failed.lock().unwrap().push((seed, log, why));
                    } else {
                        steps.fetch_add(log.len() as u64, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort_by_key(|(_, log, _)| log.len());
    for (seed, log, _) in &failed {
        eprintln!(
            "SESSIONARY_SEED={seed} failed after:\n  {}",
            log.join("\n  ")
        );
    }
    println!(
        "{} histories, {} steps, {} failed",
        seeds.len(),
        steps.into_inner(),
        failed.len()
    );
    if let Some((_, _, why)) = failed.into_iter().next() {
        resume_unwind(why);
    }
}

/// Thrown through a sync to stop it where it is.
struct Stop;

/// An index of what a history writes.
fn config_of(place: &Path) -> Config {
    let roots = [
        ("pi", "pi"),
        ("indusagi", "pi"),
        ("clido", "clido"),
        ("claude", "claude"),
        ("gemini", "gemini"),
        ("qwen", "qwen"),
        ("copilot", "copilot"),
        ("cursor", "cursor"),
        ("codex/sessions", "codex"),
        ("openclaw", "openclaw"),
        ("induscode", "induscode"),
        ("agentuse", "agentuse"),
    ]
    .map(|(agent, format)| root(agent, format, &place.join(agent)));
    Config::new(place.join("index"), roots.to_vec())
}

/// Sync until so many events were told, and stop there as a process that ends does.
pub fn sync_stopped_at(mut left: u32, mut indexer: Indexer, config: &Config) -> Indexer {
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        indexer.sync_with(&mut |_| {
            if left == 0 {
                resume_unwind(Box::new(Stop));
            }
            left -= 1;
        })
    }));
    match stopped {
        Ok(done) => {
            done.unwrap();
            indexer
        }
        Err(why) if why.is::<Stop>() => {
            drop(indexer);
            Indexer::open(config).unwrap()
        }
        Err(why) => resume_unwind(why),
    }
}

fn history(seed: u64, log: &mut Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().unwrap();
    let mut world = World::new(place.path());
    let mut folders = Folders::new(&place.path().join("agentuse"));
    let config = config_of(place.path());
    let mut indexer = Indexer::open(&config).unwrap();
    let silent = &mut |_| {};
    // Every file there ever was, sorted.
    let mut met: BTreeSet<PathBuf> = BTreeSet::new();
    for _ in 0..rng.random_range(10..40) {
        if rng.random_ratio(1, 3) {
            for _ in 0..rng.random_range(1..8) {
                log.push(folders.write(&mut rng));
            }
            continue;
        }
        if rng.random_ratio(2, 3) {
            for _ in 0..rng.random_range(1..5) {
                let at = world.choose(&mut rng);
                log.push(world.write(&mut rng, at));
            }
            continue;
        }
        match rng.random_range(0..12) {
            0..3 => {
                log.push("sync".into());
                indexer.sync().unwrap();
                if rng.random_ratio(1, 4) {
                    clean(
                        &Index::open(&config, Freshness::AsCommitted).unwrap(),
                        "after a sync",
                    );
                }
            }
            3..6 => {
                log.push("sync_catalogue".into());
                indexer.sync_catalogue(silent).unwrap();
            }
            6..8 => {
                log.push("some words".into());
                let budget = Duration::from_micros(rng.random_range(0..4000));
                indexer.index_words(Some(budget), silent).unwrap();
            }
            8..10 => {
                met.extend(world.paths());
                met.extend(folders.paths());
                let mut some: Vec<PathBuf> = met.iter().cloned().collect();
                some.retain(|_| rng.random_ratio(1, 3));
                log.push(format!("sync_files {some:?}"));
                let report = indexer.sync_files(&some).unwrap();
                assert!(report.files_seen <= some.len() as u64);
            }
            _ => {
                let left = rng.random_range(0..12);
                log.push(format!("a sync stopped at event {left}"));
                indexer = sync_stopped_at(left, indexer, &config);
            }
        }
    }
    // What the words do not have yet is found in the files.
    log.push("the end".into());
    indexer.sync_catalogue(silent).unwrap();
    indexer.prove().unwrap();
    let word = ["walrus", "fooBar", "\"src/main.rs\"", "検索"][rng.random_range(0..4)];
    let scope = SearchScope {
        limit: Some(5),
        exact: true,
        every_copy: true,
        ..SearchScope::default()
    };
    let before = Index::open(&config, Freshness::AsCommitted)
        .unwrap()
        .search(word, &scope)
        .unwrap()
        .total;
    indexer.sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let expected = fresh(&config, &place.path().join("fresh"));
    same(&dump(&index), &dump(&expected), "after the history");
    clean(&index, "after the history");
    for query in [word, "walrus fooBar"] {
        same_order(&index, &expected, query, "after the history");
    }
    assert_eq!(
        before,
        expected.search(word, &scope).unwrap().total,
        "search {word} before the words were complete"
    );
}
