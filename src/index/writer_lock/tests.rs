use super::*;
use crate::index::watch::barrier::{WatcherFence, WatcherState};
use crate::model::Report;
use crate::words::Merge;

#[test]
fn what_is_dropped_is_unlocked_though_a_process_that_is_being_started_holds_it_too() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    let indexer = Indexer::open(&config).unwrap();
    let held_too = indexer.lock.try_clone().unwrap();
    drop(indexer);
    Indexer::open(&config).unwrap();
    drop(held_too);
}

/// An index that is still to be made, of one session.
fn walrus() -> (tempfile::TempDir, Config) {
    let place = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(place.path()).unwrap().join("s/--w--");
    std::fs::create_dir_all(&folder).unwrap();
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n";
    let said = "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"walrus\"}}\n";
    std::fs::write(folder.join("s.jsonl"), header.to_owned() + said).unwrap();
    let spec = crate::source::root::RootSpec::new("pi", folder.parent().unwrap().to_owned());
    let config = Config::new(place.path().join("index"), vec![spec]);
    (place, config)
}

/// How many of four others get the lock before long.
fn others_who_write(config: &Config) -> usize {
    let others = (0..2_000).filter(|_| {
        sleep(Duration::from_millis(5));
        Indexer::try_open(config).is_ok()
    });
    others.take(4).count()
}

#[test]
fn who_waits_for_a_merge_lets_others_write_meanwhile() {
    let (place, config) = walrus();
    Indexer::open(&config)
        .unwrap()
        .sync_catalogue(&mut |_| {})
        .unwrap();
    let merging = WordsLock::take(&config.words_dir(), Duration::ZERO).unwrap();
    let (begin, begun) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let synced = scope.spawn(|| {
            let mut progress = move |_| {
                let _ = begin.send(());
            };
            Indexer::open(&config)?.sync_with(&mut progress)
        });
        begun.recv().unwrap();
        // It has the lock, and then it has not, though it has not ended.
        let others = others_who_write(&config);
        assert!(others > 3, "they have to wait");
        assert!(!synced.is_finished());
        drop(merging);
        let report = synced.join().unwrap().unwrap();
        assert_eq!((report.passages, report.outstanding), (1, 0));
    });
    drop(place);
}

#[test]
fn who_wipes_the_words_lets_others_write_meanwhile() {
    let (place, config) = walrus();
    let mut sync = Indexer::open(&config).unwrap();
    assert_eq!(sync.sync().unwrap().passages, 1);
    drop(sync);
    // They lack nothing: only the wipe needs them.
    let merging = WordsLock::take(&config.words_dir(), Duration::ZERO).unwrap();
    let (synced, is_synced) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let purged = scope.spawn(|| {
            let mut progress = move |event| {
                if matches!(event, crate::model::Event::Done) {
                    let _ = synced.send(());
                }
            };
            Indexer::open(&config)?.purge(&mut progress)
        });
        is_synced.recv().unwrap();
        let others = others_who_write(&config);
        assert!(others > 3, "they have to wait");
        assert!(!purged.is_finished());
        drop(merging);
        let report = purged.join().unwrap().unwrap();
        assert_eq!(report.notes, Vec::<String>::new());
    });
    assert!(!Indexer::open(&config).unwrap().is_wipe_requested().unwrap());
    drop(place);
}

#[test]
fn who_lets_others_write_can_be_called_off_and_brings_back_no_index() {
    let (place, config) = walrus();
    let mut first = Indexer::open(&config).unwrap();
    // Somebody else takes the lock as soon as it is free, and keeps it.
    let lock = File::open(config.generation_dir().join("lock")).unwrap();
    let kept = first.while_others_write(|| {
        lock.lock().unwrap();
        config.cancel.cancel();
    });
    assert!(matches!(kept, Err(Error::Cancelled)), "{kept:?}");
    // Nor does it write when it is asked for more.
    let file = config.roots[0].path.join("--w--/s.jsonl");
    let more = first.sync_files(std::slice::from_ref(&file));
    assert!(matches!(more, Err(Error::Cancelled)), "{more:?}");
    drop((lock, first));
    // Somebody removes the index while the words are waited for.
    let config = Config::new(place.path().join("another"), config.roots.clone());
    let mut first = Indexer::open(&config).unwrap();
    first.sync_catalogue(&mut |_| {}).unwrap();
    let removed = first.while_others_write(|| {
        std::fs::remove_dir_all(&config.index_dir).unwrap();
        let words = config.words_dir();
        words::merge(&words, Merge::Deleted, &|| true).unwrap();
    });
    assert!(removed.is_err_and(|error| error.is_replaced()));
    let more = first.sync_files(&[file]);
    assert!(more.is_err_and(|error| error.is_replaced()));
    let more = first.sync();
    assert!(more.is_err_and(|error| error.is_replaced()));
    assert!(!config.index_dir.exists());
}

#[test]
fn who_answers_keeps_the_lock_whatever_is_to_be_wiped() {
    let (place, config) = walrus();
    let synced = Indexer::open(&config).unwrap().sync().unwrap();
    assert_eq!(synced.passages, 1);
    for patience in [MOMENT, AT_ONCE] {
        let mut reader = Indexer::open_within(&config, patience, &mut |_| {}).unwrap();
        reader.catalogue.request_wipe().unwrap();
        let mut merging = Some(WordsLock::take(&config.words_dir(), Duration::ZERO).unwrap());
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    if Indexer::try_open(&config).is_ok() {
                        merging = None;
                        return true;
                    }
                    sleep(Duration::from_millis(1));
                }
                false
            });
            let report = reader.sync_catalogue(&mut |_| {}).unwrap();
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(!others.join().unwrap(), "another one had the lock");
            let notes = report.notes.join("\n");
            assert!(notes.contains("until a later sync wipes it"), "{notes}");
        });
    }
    assert!(Indexer::open(&config).unwrap().is_wipe_requested().unwrap());
    drop(place);
}

#[test]
fn what_somebody_excludes_while_the_words_are_wiped_stays_out() {
    let (place, config) = walrus();
    let file = config.roots[0].path.join("--w--/s.jsonl");
    let mut first = Indexer::open(&config).unwrap();
    first.sync().unwrap();
    std::fs::copy(&file, file.with_file_name("hushed.jsonl")).unwrap();
    first.catalogue.request_wipe().unwrap();
    let merging = WordsLock::take(&config.words_dir(), Duration::ZERO).unwrap();
    let exclude = crate::source::exclude::Exclude::new(&["hushed.jsonl"]).unwrap();
    let less = Config {
        rules: crate::Rules::set(exclude, crate::FollowLinks::WithinRoots),
        ..config.clone()
    };
    let is_left_out = || {
        let catalogue = catalogue::Catalogue::open_readable(&config.catalogue_path());
        let catalogue = catalogue.unwrap().unwrap();
        catalogue.excluded_by().unwrap() == less.left_out_by()
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(move || first.sync().map(drop));
        let second = scope.spawn(|| Indexer::open(&less)?.sync().map(drop));
        while !is_left_out() && !second.is_finished() {
            sleep(Duration::from_millis(1));
        }
        drop(merging);
        first.join().unwrap().unwrap();
        second.join().unwrap().unwrap();
    });
    assert!(is_left_out());
    let index = crate::index::Index::open(&less, crate::index::Freshness::AsCommitted).unwrap();
    let rows = index.sql("SELECT path FROM sessions", &[]).unwrap().rows;
    assert_eq!(rows, [[serde_json::json!(file)]]);
    drop(place);
}

/// Of the catalogue that stands there now, with the lock.
#[test]
fn who_forgets_a_session_forgets_what_others_have_read_of_it_meanwhile() {
    let (place, mut config) = walrus();
    config.archive_dir = Some(place.path().join("archive"));
    let root = &mut config.roots[0];
    (root.agent, root.format) = ("copilot".into(), "copilot".into());
    let id = "6d0b1f6e-0000-4000-8000-0000000000c1";
    let folder = root.path.join(id);
    std::fs::create_dir_all(&folder).unwrap();
    let started = format!(
        "{{\"type\":\"session.start\",\"id\":\"a\",\"data\":{{\"sessionId\":\"{id}\"}}}}\n"
    );
    std::fs::write(folder.join("events.jsonl"), started).unwrap();
    let mut first = Indexer::open(&config).unwrap();
    first.keep(&[]).unwrap();
    first.sync().unwrap();
    let index = crate::index::Index::open(&config, crate::index::Freshness::AsCommitted).unwrap();
    let rows = index.list(&crate::index::ListScope::default()).unwrap();
    let row = rows.sessions.iter().find(|row| row.id == id).unwrap();
    first.give_way().unwrap();
    std::fs::write(folder.join("workspace.yaml"), format!("id: {id}\n")).unwrap();
    let mut second = Indexer::open(&config).unwrap();
    second.renew().unwrap();
    second.sync().unwrap();
    drop(second);
    let kept = || config.archive_status().unwrap().unwrap().agents;
    assert_eq!(kept()[0].sources, 2);
    let forgotten = first.forget(row, &mut Report::default()).unwrap();
    assert_eq!((forgotten, kept()), (2, Vec::new()));
    drop(place);
}

#[test]
fn whoever_sets_rules_last_has_the_last_word() {
    let (place, config) = walrus();
    let set = |glob: &str| Config {
        rules: crate::Rules::set(
            crate::source::exclude::Exclude::new(&[glob]).unwrap(),
            crate::FollowLinks::WithinRoots,
        ),
        ..config.clone()
    };
    let (before, later) = (set("/before"), set("/later"));
    let mut first = Indexer::open(&before).unwrap();
    first.sync_catalogue(&mut |_| {}).unwrap();
    first
        .while_others_write(|| {
            let mut second = Indexer::open(&later).unwrap();
            second.sync_catalogue(&mut |_| {}).unwrap();
        })
        .unwrap();
    first.sync_catalogue(&mut |_| {}).unwrap();
    drop(first);
    let held = config.held().unwrap();
    assert_eq!(held.rules.exclude().globs(), ["/later"]);
    drop(place);
}

#[test]
fn who_asks_for_a_writer_keeps_none_away() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    drop(Indexer::open(&config).unwrap());
    let lock = File::open(config.generation_dir().join("lock")).unwrap();
    // As `has_writer` does, for longer.
    lock.lock_shared().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| Indexer::open(&config).map(drop));
        sleep(Duration::from_millis(50));
        lock.unlock().unwrap();
        assert!(matches!(writer.join(), Ok(Ok(()))));
    });
    lock.lock().unwrap();
    let refused = Indexer::try_open(&config).map(drop);
    assert!(matches!(refused, Err(Error::Busy { .. })), "{refused:?}");
}

#[test]
fn who_writes_waits_for_another_as_long_as_it_gets_on() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    drop(Indexer::open(&config).unwrap());
    let generation = config.generation_dir();
    let path = generation.join("lock");
    let (held, lock) = (File::open(&path).unwrap(), File::open(&path).unwrap());
    let longest = Duration::from_millis(30);
    let patience = |awaited| WaitPolicy {
        awaited,
        longest,
        ..WHILE
    };
    for by_commits in [true, false] {
        held.lock().unwrap();
        let writer = Progress::new(&generation);
        writer.step();
        let began = Instant::now();
        // It writes whenever it is waited for, and has done so for longer than anybody waits
        // for one that hangs.
        let mut gets_on = || {
            match by_commits {
                true => writer.step(),
                false => {
                    let run = generation.join(began.elapsed().as_nanos().to_string());
                    std::fs::write(run, "of the words").unwrap();
                }
            }
            if began.elapsed() > longest * 10 {
                held.unlock().unwrap();
            }
            true
        };
        for awaited in [LockHolder::Nobody, LockHolder::TurnTaker] {
            let waited = lock_within(&generation, &lock, patience(awaited), &mut gets_on);
            assert!(!waited.unwrap(), "{awaited:?}");
        }
        let patience = patience(LockHolder::Writer);
        let waited = lock_within(&generation, &lock, patience, &mut gets_on);
        assert!(waited.unwrap());
        lock.unlock().unwrap();
        held.lock().unwrap();
        let waited = lock_within(&generation, &lock, patience, &mut || true);
        assert!(!waited.unwrap(), "it hangs");
        let refusal = patience.refusal(&config.index_dir, &generation).to_string();
        let us = std::process::id().to_string();
        let named = refusal.contains(&us) && refusal.contains("has made no progress");
        assert!(named, "{refusal}");
        let waited = lock_within(&generation, &lock, WHILE, &mut || false);
        assert!(!waited.unwrap(), "it was called off");
        writer.end();
        let refusal = patience.refusal(&config.index_dir, &generation).to_string();
        assert!(refusal.starts_with("another process"), "{refusal}");
        held.unlock().unwrap();
    }
}

#[test]
fn a_reader_waits_for_a_watcher_and_no_longer_than_agreed() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    drop(Indexer::open(&config).unwrap());
    let mut presence = WatcherFence::new(&config).unwrap();
    presence.say(&WatcherState::new(0));
    let generation = config.generation_dir();
    let path = generation.join("lock");
    let (held, lock) = (File::open(&path).unwrap(), File::open(&path).unwrap());
    held.lock().unwrap();
    let patience = WaitPolicy {
        longest: Duration::from_millis(30),
        ..MOMENT
    };
    let mut waits = 0;
    let mut hangs = || {
        waits += 1;
        true
    };
    assert!(!lock_within(&generation, &lock, patience, &mut hangs).unwrap());
    assert!(waits > 0);
    let mut ends = || held.unlock().is_ok();
    assert!(lock_within(&generation, &lock, patience, &mut ends).unwrap());
}

// Windows removes no file that is open.
#[cfg(unix)]
#[test]
fn a_lock_that_was_removed_while_it_was_waited_for_is_taken_again() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    let first = Indexer::open(&config).unwrap();
    let mut removed = Some(first);
    let second = Indexer::open_with(&config, &mut |_| {
        if let Some(first) = removed.take() {
            std::fs::remove_dir_all(&config.index_dir).unwrap();
            drop(first);
        }
    });
    assert!(!second.unwrap().is_removed());
}

#[test]
fn who_waits_is_heard_and_ends_a_turn() {
    let (place, config) = walrus();
    let folder = config.roots[0].path.join("--w--");
    let text = std::fs::read_to_string(folder.join("s.jsonl")).unwrap();
    for other in 1..5 {
        let text = text.replace("\"s\"", &format!("\"s{other}\""));
        std::fs::write(folder.join(format!("s{other}.jsonl")), text).unwrap();
    }
    let mut indexer = Indexer::open(&config).unwrap();
    let mut report = indexer.sync_catalogue(&mut |_| {}).unwrap();
    let generation = config.generation_dir();
    let waiter = turns::WaiterProbe::of(&generation);
    assert!(!waiter.somebody_waits(), "nobody waits");
    // Who waits for the lock says so, as long as it waits.
    let lock = File::open(generation.join("lock")).unwrap();
    let mut heard = Vec::new();
    let mut waits = || {
        heard.push(waiter.somebody_waits());
        heard.len() < 3
    };
    assert!(!lock_within(&generation, &lock, WHILE, &mut waits).unwrap());
    assert_eq!(heard, [true; 3]);
    assert!(!waiter.somebody_waits());
    // A turn ends with what it has, and gets somewhere.
    let waiting = turns::WaiterLock::begin(&generation).unwrap();
    for left in [8, 6] {
        let long = Duration::from_secs(3600);
        indexer.index_words_in_slices(long, &mut report).unwrap();
        assert_eq!(report.outstanding, left);
    }
    drop(waiting);
    indexer
        .index_words_in_slices(Duration::from_secs(3600), &mut report)
        .unwrap();
    assert_eq!(report.outstanding, 0);
    drop(place);
}
