//! What happens beside a watcher: an index rebuilt, another configuration, a place that cannot be
//! written, links.

#[cfg(unix)]
use std::fs::{File, create_dir_all, remove_file, rename};
use std::fs::{create_dir, remove_dir};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::Duration;

#[cfg(target_os = "linux")]
use sessionary::Event;
use sessionary::index::{WatchEnd, WatchEvent, WatchOptions, caught_up};
use sessionary::{Config, Exclude, FollowLinks, Indexer, Rules};
use sessionary::{Freshness, Index};

use super::watcher::{Watcher, until};
use super::{append, config, equals_fresh, message, number, session, write};
#[cfg(unix)]
use crate::histories::dump::root;

const ENTRIES: &str = "SELECT coalesce(max(entries), 0) FROM sessions";

#[test]
#[cfg(target_os = "linux")]
fn an_index_that_is_rebuilt_is_not_vouched_for() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    for number in 0..1100 {
        let path = format!("pi/{}/{number}.jsonl", number % 7);
        write(&place.path().join(path), &session(number, "walrus"));
    }
    let watcher = Watcher::start(&config);
    let sessions = |index: &Index| {
        let count = index.sql("SELECT count(*) FROM sessions", &[]).unwrap();
        count.rows[0][0].as_i64().unwrap()
    };
    until("it vouches", || {
        caught_up(&config, Duration::from_secs(5)).is_some()
    });
    let mut seen = Vec::new();
    let mut indexer = Indexer::open(&config).unwrap();
    let rebuilt = indexer.rebuild_with(&mut |event| {
        if event == Event::Readable && seen.is_empty() {
            let index = Index::open(&config, Freshness::Check).unwrap();
            seen.push((index.is_complete(), sessions(&index)));
        }
    });
    rebuilt.unwrap();
    drop(indexer);
    // Before the first files were in, and said so.
    assert!(matches!(seen[..], [(false, 1..1100)]), "{seen:?}");
    until("it vouches again", || {
        caught_up(&config, Duration::from_secs(5)).is_some()
    });
    let index = Index::open(&config, Freshness::Check).unwrap();
    assert_eq!(sessions(&index), 1100);
    watcher.stop();
}

#[test]
#[cfg(unix)]
fn a_catalogue_that_is_damaged_under_a_watcher_is_rebuilt() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/--w--/one.jsonl");
    write(&path, &session(1, "walrus"));
    // What is damaged again so soon is rebuilt no sooner than that.
    let full_scan = Duration::from_secs(3);
    let watcher = Watcher::start_with(
        &config,
        WatchOptions {
            full_scan,
            ..WatchOptions::default()
        },
    );
    // The length stands in the rows alone: ids have an index.
    let messages = "SELECT count(*) FROM entries WHERE id LIKE 'e%' AND length > 0";
    let entries = || {
        let index = Index::open(&config, Freshness::AsCommitted).ok()?;
        // Between two catalogues there is none, and no row.
        index
            .sql(messages, &[])
            .ok()?
            .rows
            .first()?
            .first()?
            .as_i64()
    };
    let catalogue = config.index_dir.join("v5/catalogue.sqlite");
    let damage = |tree: &str| {
        // Nobody keeps a page of it in memory after that.
        let other = rusqlite::Connection::open(&catalogue).unwrap();
        let page = "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?1";
        other.busy_timeout(Duration::from_secs(60)).unwrap();
        other
            .execute_batch("UPDATE _store SET id = id; PRAGMA wal_checkpoint(TRUNCATE)")
            .unwrap();
        let page = other.query_row(page, [tree], |r| {
            Ok((r.get::<_, u32>(0)?, r.get::<_, u32>(1)?))
        });
        let (page, size) = page.unwrap();
        let file = File::options().write(true).open(&catalogue).unwrap();
        file.write_all_at(&vec![0xa5; size as usize], u64::from((page - 1) * size))
            .unwrap();
    };
    // The watcher meets it.
    until("all is quiet", || {
        number(&config, "SELECT count(*) FROM _outbox") == 0
    });
    damage("_sources");
    append(&path, &message(1, "again"));
    until("it is mended", || entries() == Some(2));
    until("that is told", || {
        let checked = watcher.log().checked;
        checked.iter().any(|why| why == "the catalogue is damaged")
    });
    // A question meets it, and asked again it is answered.
    until("all is quiet", || {
        number(&config, "SELECT count(*) FROM _outbox") == 0
    });
    damage("_entries");
    let ask = || Index::open(&config, Freshness::Check)?.sql(messages, &[]);
    let failed = ask().unwrap_err();
    assert!(failed.is_damage(), "{failed}");
    assert_eq!(ask().unwrap().rows[0][0], 2);
    // Another one is put in its place, and is none.
    let other = place.path().join("other");
    write(&other, &"no catalogue ".repeat(1000));
    rename(&other, &catalogue).unwrap();
    append(&path, &message(2, "and again"));
    until("it is made anew", || entries() == Some(3));
    watcher.stop();
    // One begins with it.
    damage("_changes");
    let watcher = Watcher::start(&config);
    assert_eq!(entries(), Some(3));
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn a_watcher_does_not_bring_back_what_is_excluded_now() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let secret = place.path().join("pi/secret/one.jsonl");
    write(&secret, &session(1, "quetzalcoatl"));
    write(
        &place.path().join("pi/open/two.jsonl"),
        &session(2, "walrus"),
    );
    let watcher = Watcher::start(&config);
    let other = Config {
        rules: Rules::set(Exclude::new(&["secret"]).unwrap(), FollowLinks::WithinRoots),
        ..config.clone()
    };
    Indexer::open(&other).unwrap().sync().unwrap();
    let of_secret = "SELECT count(*) FROM sources WHERE relative LIKE 'secret/%'";
    assert_eq!(number(&config, of_secret), 0);
    append(&secret, &message(1, "popocatepetl"));
    assert_eq!(watcher.ended(), WatchEnd::Reconfigured);
    assert_eq!(number(&config, of_secret), 0);
    // With the same rules it goes on, and what is excluded stays out.
    let watcher = Watcher::start(&other);
    append(&secret, &message(2, "popocatepetl"));
    write(
        &place.path().join("pi/secret/three.jsonl"),
        &session(3, "x"),
    );
    append(
        &place.path().join("pi/open/two.jsonl"),
        &message(1, "walrus"),
    );
    write(&place.path().join("pi/open/four.jsonl"), &session(4, "x"));
    until("all else is read", || {
        number(&other, "SELECT sum(entries) FROM sessions") == 5
    });
    assert_eq!(number(&other, of_secret), 0);
    watcher.stop();
    equals_fresh(&other, place.path());
}

#[test]
fn who_cannot_say_what_it_watches_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/one.jsonl");
    write(&path, &session(1, "one"));
    let watcher = Watcher::start(&config);
    // No file can be written there.
    let watch = config.index_dir.join("v5/watch");
    create_dir(watch.join("state.new")).unwrap();
    // What it has to say changes with the number of files.
    write(&place.path().join("pi/two.jsonl"), &session(2, "two"));
    Indexer::open(&config).unwrap().rebuild().unwrap();
    let mut said = 0;
    until("it has tried to say it", || {
        caught_up(&config, Duration::from_millis(5));
        said += 1;
        append(&path, &message(said, "more"));
        !watch.join("state.json").exists()
    });
    assert_eq!(caught_up(&config, Duration::from_millis(5)), None);
    append(&path, &message(7_000, "more"));
    until("it reads on", || {
        number(&config, ENTRIES) == i64::from(said) + 3
    });
    remove_dir(watch.join("state.new")).unwrap();
    append(&path, &message(8_000, "more"));
    until("it says it at last", || watch.join("state.json").exists());
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn nobody_waits_for_who_reads_what_is_told() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/one.jsonl");
    write(&path, &session(1, "one"));
    let (tell, told) = channel();
    let (go_on, waits) = channel::<()>();
    let watched = config.clone();
    let cancel = config.cancel.clone();
    let thread = spawn(move || {
        let indexer = Indexer::open(&watched).unwrap();
        let mut note = |watched: WatchEvent<'_>| {
            if matches!(watched, WatchEvent::Changed { .. }) {
                tell.send(()).unwrap();
                let _ = waits.recv();
            }
        };
        indexer.watch(&WatchOptions::default(), &mut note).unwrap()
    });
    told.recv().unwrap();
    // It stands still until somebody reads on. The index does not.
    append(&path, &message(1, "more"));
    let mut other = config.clone();
    other.cancel = sessionary::Cancel::default();
    Indexer::open(&other).unwrap().sync().unwrap();
    assert_eq!(number(&config, ENTRIES), 3);
    drop(go_on);
    cancel.cancel();
    assert_eq!(thread.join().unwrap(), WatchEnd::Cancelled);
}

#[test]
fn what_is_asked_while_much_is_written_is_read_once() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/one.jsonl");
    write(&path, &session(1, "one"));
    let watcher = Watcher::start(&config);
    let asked = config.clone();
    let asking = spawn(move || {
        for _ in 0..300 {
            caught_up(&asked, Duration::from_millis(20));
        }
    });
    // More than is written to the catalogue at once, several times.
    let much = "much is said here ".repeat(600);
    for round in 0..3 {
        let lines = (0..500).map(|line| message(round * 500 + line, &much));
        append(&path, &lines.collect::<String>());
        append(&path, &message(9_000 + round, "little"));
    }
    asking.join().unwrap();
    until("all is read", || number(&config, ENTRIES) == 1505);
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
#[cfg(unix)]
fn a_folder_with_two_names_is_followed_by_both() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    write(&at("real/a/one.jsonl"), &session(1, "one"));
    // A root of two names is one.
    symlink("real", at("named")).unwrap();
    create_dir_all(at("more")).unwrap();
    for link in ["more/linked", "more/beside"] {
        symlink("../real/a", at(link)).unwrap();
    }
    let roots = ["real", "named", "more"].map(|name| root("pi", "pi", &at(name)));
    let config = Config::new(at("index"), roots.to_vec());
    let watcher = Watcher::start(&config);
    let all = |count: i64| {
        let like = format!("SELECT count(*) FROM sessions WHERE entries = {count}");
        until("all names are followed", || number(&config, &like) == 3);
    };
    all(2);
    for number in 1..6 {
        append(&at("real/a/one.jsonl"), &message(number, "more"));
        all(i64::from(number) + 2);
    }
    // It is not sure of what it is not told of.
    assert_eq!(caught_up(&config, Duration::from_millis(50)), None);
    // The directory is not watched any less when one of its names goes.
    remove_file(at("more/linked")).unwrap();
    until("the link is gone", || {
        number(&config, "SELECT count(*) FROM sessions") == 2
    });
    append(&at("real/a/one.jsonl"), &message(6, "more"));
    let grown = "SELECT count(*) FROM sessions WHERE entries = 8";
    until("both names are followed", || number(&config, grown) == 2);
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
#[cfg(unix)]
fn a_link_to_a_folder_above_makes_no_ghosts() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/p/one.jsonl");
    write(&path, &session(1, "one"));
    let watcher = Watcher::start(&config);
    create_dir_all(place.path().join("pi/a")).unwrap();
    symlink("..", place.path().join("pi/a/up")).unwrap();
    let mut entries = 2;
    let mut grow = |what: &str| {
        append(&path, &message(entries, "more"));
        entries += 1;
        until(what, || number(&config, ENTRIES) == i64::from(entries));
        assert_eq!(number(&config, "SELECT count(*) FROM sources"), 1, "{what}");
    };
    grow("beside the link");
    let foreign_files = "SELECT count(*) FROM _strays";
    until("the link is told", || number(&config, foreign_files) == 1);
    grow("with the link");
    let mut indexer = Indexer::open(&config).unwrap();
    let ghost = place.path().join("pi/a/up/p/one.jsonl");
    assert_eq!(indexer.sync_files(&[ghost]).unwrap().files_seen, 0);
    drop(indexer);
    remove_file(place.path().join("pi/a/up")).unwrap();
    until("it is gone", || number(&config, foreign_files) == 0);
    grow("without the link");
    // Where its folder was, another one is.
    rename(place.path().join("pi"), place.path().join("away")).unwrap();
    create_dir_all(path.parent().unwrap()).unwrap();
    write(&path, &session(2, "another"));
    append(&place.path().join("away/p/one.jsonl"), &message(99, "more"));
    until("the other root is read", || number(&config, ENTRIES) == 2);
    append(&path, &message(5, "more"));
    until("and watched", || number(&config, ENTRIES) == 3);
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn a_watcher_outlives_another_programs_transaction() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/--w--/one.jsonl");
    write(&path, &session(1, "walrus"));
    let watcher = Watcher::start(&config);
    let owed = "SELECT count(*) FROM _outbox";
    until("all is quiet", || number(&config, owed) == 0);
    let other = rusqlite::Connection::open(config.index_dir.join("v5/catalogue.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    append(&path, &message(1, "again"));
    until("that is told", || !watcher.log().delayed.is_empty());
    let told = watcher.log().delayed.concat();
    assert!(told.contains("is locked by "), "{told}");
    let index = Index::open(&config, Freshness::Check).unwrap();
    assert!(!index.is_complete(), "one line is not read yet");
    assert_eq!(number(&config, ENTRIES), 2);
    other.execute_batch("ROLLBACK").unwrap();
    until("it goes on", || number(&config, ENTRIES) == 3);
    // The same while words are owed.
    until("all is quiet", || number(&config, owed) == 0);
    watcher.stop();
    equals_fresh(&config, place.path());
}
