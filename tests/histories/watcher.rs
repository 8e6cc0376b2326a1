//! Does an index that a live watcher kept equal one made from what the writers left?

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::index::{WatchOptions, caught_up};
use sessionary::{Freshness, Index, Indexer};

use super::dump::{catalogue, clean, dump, fresh, same};
use super::folders::Folders;
use super::world::World;
use super::{config_of, seeds};
use crate::watching::watcher::{Watcher, until};

#[test]
fn a_watched_history_leaves_the_index_that_its_end_would_make() {
    let mut unanswered = 0;
    for seed in seeds(0, 6, "SESSIONARY_HISTORIES") {
        println!("SESSIONARY_SEED={seed}");
        unanswered += history(seed);
    }
    println!("{unanswered} times the watcher did not vouch");
}

fn history(seed: u64) -> u32 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().unwrap();
    let mut world = World::new(place.path());
    let mut folders = Folders::new(&place.path().join("agentuse"));
    let config = config_of(place.path());
    let options = WatchOptions {
        rest: Duration::from_millis(20),
        ..WatchOptions::default()
    };
    let watcher = Watcher::start_with(&config, options);
    let mut unanswered = 0;
    // The watcher has seen all that was written.
    let mut barrier = || {
        if caught_up(&config, Duration::from_secs(20)).is_none() {
            unanswered += 1;
            Indexer::open(&config)
                .unwrap()
                .sync_catalogue(&mut |_| {})
                .unwrap();
        }
    };
    for _ in 0..rng.random_range(20..60) {
        for _ in 0..rng.random_range(1..12) {
            match rng.random_ratio(1, 3) {
                true => drop(folders.write(&mut rng)),
                false => {
                    let at = world.choose(&mut rng);
                    world.write(&mut rng, at);
                }
            }
        }
        match rng.random_range(0..8) {
            0 => barrier(),
            1 => drop(Indexer::open(&config).unwrap().sync().unwrap()),
            2 => drop(Index::open(&config, Freshness::Check).unwrap()),
            3 => std::thread::sleep(Duration::from_millis(rng.random_range(0..80))),
            _ => {}
        }
    }
    barrier();
    // It proves what grew when it has time to.
    until("all is proven", || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let unproven = index.sql("SELECT count(*) FROM _sources WHERE unproven", &[]);
        unproven.unwrap().rows[0][0] == 0
    });
    let expected = fresh(&config, &place.path().join("fresh"));
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    same(
        &catalogue(&index),
        &catalogue(&expected),
        &format!("SESSIONARY_SEED={seed}: after the barrier"),
    );
    drop(index);
    watcher.stop();
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    same(&dump(&index), &dump(&expected), "after the words");
    clean(&index, "after the watched history");
    unanswered
}
