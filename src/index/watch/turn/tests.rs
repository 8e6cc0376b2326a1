use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::{BREATH, MOST_PUT_OFF, SLICE, scan_time};
use crate::config::Config;
use crate::index::watch::{Watch, WatcherFence};
use crate::index::{Freshness, Index, Indexer, SearchScope, WatchOptions};
use crate::ingest::BatchLimits;
use crate::model::Report;
use crate::source::root::RootSpec;
use crate::words::WordsLock;

#[test]
fn what_was_new_does_not_put_off_the_next_scan() {
    let mut report = Report::default();
    report.ms.discover = 20.0;
    report.ms.catalogue = 600_000.0;
    report.ms.words = 6_000_000.0;
    assert_eq!(scan_time(&report), Duration::from_millis(20));
}

#[test]
fn a_lock_that_another_one_keeps_is_had_later() {
    let refusal =
        crate::index::writer_lock::WATCHING.refusal("/index".as_ref(), "/index/v1".as_ref());
    assert!(super::passes(&refusal), "{refusal}");
}

const LINE: &str = r#"{"type":"message","id":"one","message":{"role":"user","content":"said"}}"#;

/// A watcher of one session, which has not begun.
fn watching(test: impl FnOnce(&mut Watch<'_>, &Path)) {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap().join("sessions");
    fs::create_dir(&root).unwrap();
    let path = root.join("one.jsonl");
    fs::write(
        &path,
        format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{LINE}\n"),
    )
    .unwrap();
    let spec = RootSpec::new("pi", root);
    let config = Config::new(place.path().join("index"), vec![spec]);
    let (options, mut on_event) = (
        WatchOptions::default(),
        |_: crate::index::WatchEvent<'_>| {},
    );
    let presence = WatcherFence::new(&config).unwrap();
    let indexer = Indexer::open(&config).unwrap();
    let mut watch = Watch::new(indexer, &options, presence, &mut on_event)
        .unwrap_or_else(|error| panic!("{error}"));
    test(&mut watch, &path);
}

#[test]
fn a_jump_of_the_clock_is_noticed_either_way() {
    watching(|watch, _| {
        assert!(!watch.clock_jumped());
        let hour = Duration::from_secs(3600);
        for wall in [SystemTime::now() - hour, SystemTime::now() + hour] {
            watch.clock.1 = wall;
            assert!(watch.clock_jumped(), "{wall:?}");
            assert!(!watch.clock_jumped(), "it is noticed once");
        }
    });
}

#[test]
fn a_scan_puts_off_the_next_by_a_part_of_the_time() {
    watching(|watch, _| {
        let before = Instant::now();
        assert!(watch.turn().is_ok());
        assert!(watch.next_full >= before + watch.options.full_scan);
        assert!(watch.not_before >= before);
        assert!(watch.not_before <= Instant::now() + MOST_PUT_OFF);
    });
}

#[test]
fn what_somebody_found_damaged_is_scanned_at_once() {
    watching(|watch, _| {
        assert!(watch.turn().is_ok());
        assert!(watch.full.is_none());
        watch.indexer.catalogue.condemn("it is damaged");
        // Though a full scan had to wait.
        watch.not_before = Instant::now() + Duration::from_secs(60);
        assert!(watch.turn().is_ok());
        assert!(watch.full.is_none() && watch.indexer.condemned().is_none());
    });
}

/// So many segments, each with a commit of its own.
fn segments(watch: &mut Watch<'_>, path: &Path, count: usize) {
    for _ in 0..count {
        said(watch, path);
        let indexer = &mut watch.indexer;
        let report = &mut Report::default();
        assert!(
            indexer
                .words_stage(BatchLimits::default(), &mut |_| {}, report)
                .unwrap()
        );
    }
}

/// One more line is written, reported and catalogued.
fn said(watch: &mut Watch<'_>, path: &Path) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    writeln!(file, "{LINE}").unwrap();
    watch.words = None;
    watch.hint(path);
    assert!(watch.turn().is_ok());
    assert!(watch.hints.is_empty() && !watch.refused);
}

fn committed(config: &Config) -> usize {
    let meta = fs::read(config.words_dir().join("meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    meta["segments"].as_array().unwrap().len()
}

#[test]
fn the_catalogue_goes_on_while_words_are_merged() {
    watching(|watch, path| {
        assert!(watch.turn().is_ok());
        segments(watch, path, 20);
        let config = watch.indexer.config.clone();
        let (before, words) = (committed(&config), config.words_dir());
        assert!(before >= 16);
        said(watch, path);
        // As somebody who merges holds it.
        let held = WordsLock::take(&words, Duration::ZERO).unwrap();
        assert!(watch.index_words(SLICE).is_ok());
        // They wait for that; ours is to be the next merge.
        assert!(watch.words.is_some() && watch.indexer.merging.is_going_on());
        assert!(watch.indexer.catalogue.backlog(0).unwrap().entries > 0);
        let found = || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            let rows = index.sql("SELECT count(*) FROM entries", &[]).unwrap().rows;
            let answer = index.search("said", &SearchScope::default()).unwrap();
            assert!(answer.complete);
            (rows[0][0].as_u64().unwrap(), answer.total)
        };
        let (entries, total) = found();
        for more in 1..3 {
            said(watch, path);
            assert_eq!(found(), (entries + more, total + more));
            watch.words = Some((Instant::now(), Instant::now()));
            assert!(watch.turn().is_ok() && watch.words.is_some());
            // The lock of the index is anybody's: this one looks, and leaves it.
            drop(Indexer::open(&config).unwrap());
        }
        assert!(watch.indexer.merging.is_going_on());
        drop(held);
        while watch.indexer.merging.is_going_on() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(committed(&config) < before);
        assert!(watch.index_words(SLICE).is_ok());
        assert_eq!(watch.indexer.catalogue.backlog(0).unwrap().entries, 0);
    });
}

#[test]
fn what_is_rebuilt_while_the_lock_is_given_up_is_scanned_again() {
    watching(|watch, path| {
        assert!(watch.turn().is_ok());
        segments(watch, path, 1);
        watch.indexer.catalogue.request_wipe().unwrap();
        let mut file = fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "{LINE}").unwrap();
        watch.scan_now("the test");
        let config = watch.indexer.config.clone();
        let entries = || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            let rows = index.sql("SELECT count(*) FROM entries", &[]).unwrap().rows;
            rows[0][0].as_u64()
        };
        let (before, words) = (entries(), config.words_dir());
        let held = WordsLock::take(&words, Duration::ZERO).unwrap();
        std::thread::scope(|scope| {
            let (entries, config) = (&entries, &config);
            scope.spawn(move || {
                while entries() == before {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // A rebuild that is killed as soon as it has begun.
                let rebuild = Indexer::open(config).unwrap();
                rebuild.catalogue.reset(false).unwrap();
                drop((rebuild, held));
            });
            assert!(watch.turn().is_ok() && watch.full.is_none());
        });
        assert!(watch.index_is_other().unwrap());
    });
}

#[test]
fn a_root_that_somebody_forgets_is_scanned_again() {
    watching(|watch, _| {
        assert!(watch.turn().is_ok() && !watch.index_is_other().unwrap());
        let mut config = watch.indexer.config.clone();
        config.roots.clear();
        watch.indexer.give_way().unwrap();
        let mut other = Indexer::open(&config).unwrap();
        other.sync().unwrap();
        assert_eq!(other.forget_roots(None).unwrap().len(), 1);
        drop(other);
        assert!(watch.index_is_other().unwrap());
    });
}

#[test]
fn a_slice_that_was_too_short_is_followed_by_another() {
    watching(|watch, path| {
        said(watch, path);
        let left = |watch: &Watch<'_>| watch.indexer.catalogue.work_left(0).unwrap().1;
        let items = left(watch);
        assert!(items > 1);
        for done in 1..=items {
            assert!(watch.index_words(Duration::ZERO).is_ok());
            assert_eq!(left(watch), items - done);
            // What rests is settled a while later in any case.
            let pause = watch.words.map(|(due, since)| due - since);
            assert_eq!(pause == Some(BREATH), done < items, "{pause:?}");
        }
    });
}

#[test]
fn memory_for_much_work_is_given_back() {
    watching(|watch, path| {
        // The full scan.
        assert!(watch.turn().is_ok());
        assert!(watch.indexer.catalogue.keeps_few_pages());
        // A hint.
        let mut file = fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "{LINE}").unwrap();
        watch.hint(path);
        assert!(watch.turn().is_ok());
        assert!(watch.index_words(SLICE).is_ok());
        let catalogue = &watch.indexer.catalogue;
        assert_eq!(catalogue.backlog(0).unwrap().entries, 0);
        assert!(catalogue.keeps_few_pages());
    });
}
