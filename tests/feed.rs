//! Does who reads the feed of changes learn of all of them, whatever becomes of the catalogue?

use std::fs;
use std::path::Path;

use sessionary::index::{Feed, FeedEvent, ListScope};
use sessionary::model::{ChangeKind, FeedPosition};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::watching::session;

fn config(place: &Path) -> Config {
    fs::create_dir_all(place.join("pi")).unwrap();
    fs::write(place.join("pi/one.jsonl"), session(1, "one")).unwrap();
    let roots = vec![root("pi", "pi", &place.join("pi"))];
    let config = Config::new(place.join("index"), roots);
    sync(&config);
    config
}

fn sync(config: &Config) {
    Indexer::open(config).unwrap().sync().unwrap();
}

/// Behind this number of the index that is there now.
pub fn at(config: &Config, seq: i64) -> FeedPosition {
    let feed = Index::subscribe(config, None).unwrap();
    FeedPosition {
        seq,
        ..feed.position()
    }
}

/// Nothing that was read before holds, and what is there now follows.
fn begins_again(feed: &mut Feed) {
    assert_eq!(feed.poll().unwrap(), Some(FeedEvent::Missed));
    let Some(FeedEvent::Changes(changes)) = feed.poll().unwrap() else {
        panic!("what is kept follows");
    };
    assert!(changes[0].path.ends_with("one.jsonl"), "{changes:?}");
    assert_eq!(feed.poll().unwrap(), None);
}

#[test]
fn a_feed_goes_on_in_the_catalogue_that_takes_anothers_place() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let beginning = at(&config, 0);
    let mut feeds = [None, Some(&beginning)].map(|since| Index::subscribe(&config, since).unwrap());
    assert_eq!(feeds[0].poll().unwrap(), None);
    assert!(matches!(
        feeds[1].poll().unwrap(),
        Some(FeedEvent::Changes(_))
    ));
    for file in [
        "catalogue.sqlite",
        "catalogue.sqlite-wal",
        "catalogue.sqlite-shm",
    ] {
        let path = config.index_dir.join("v5").join(file);
        assert!(path.exists(), "{file}");
        fs::remove_file(path).unwrap();
    }
    for feed in &mut feeds {
        assert_eq!(feed.poll().unwrap(), None);
    }
    sync(&config);
    for feed in &mut feeds {
        begins_again(feed);
    }
}

#[test]
fn a_number_of_another_filling_is_no_place_in_this_one() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    for since in [at(&config, 1000), FeedPosition::default()] {
        let mut feed = Index::subscribe(&config, Some(&since)).unwrap();
        begins_again(&mut feed);
    }
}

/// Numbers start again: the same one may have been given again by then.
#[test]
fn a_place_that_was_kept_is_known_to_be_of_an_index_that_was_rebuilt() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let kept = Index::subscribe(&config, None).unwrap().position();
    let kept = serde_json::to_string(&kept).unwrap();
    for number in 2..5 {
        let file = place.path().join(format!("pi/{number}.jsonl"));
        fs::write(file, session(number, "more")).unwrap();
    }
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.rebuild().unwrap();
    drop(indexer);
    let kept: FeedPosition = serde_json::from_str(&kept).unwrap();
    assert!(kept.seq <= Index::subscribe(&config, None).unwrap().position().seq);
    let mut feed = Index::subscribe(&config, Some(&kept)).unwrap();
    assert_eq!(feed.poll().unwrap(), Some(FeedEvent::Missed));
    // What follows was not given yet.
    let behind = feed.position();
    let mut again = Index::subscribe(&config, Some(&behind)).unwrap();
    let follows = feed.poll().unwrap();
    assert!(matches!(&follows, Some(FeedEvent::Changes(all)) if all.len() >= 4));
    assert_eq!(again.poll().unwrap(), follows);
    assert_eq!(again.position(), feed.position());
}

#[test]
fn a_list_and_what_follows_have_no_gap_and_name_sessions_alike() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    fs::write(place.path().join("pi/two.jsonl"), session(2, "two")).unwrap();
    let index = Index::open(&config, Freshness::Check).unwrap();
    let asked = index.ask(|snapshot| {
        let list = snapshot.list(&ListScope::default())?;
        Ok((list.sessions, snapshot.feed_position()?))
    });
    let (rows, position) = asked.unwrap();
    let two = rows.iter().find(|row| row.path.ends_with("two.jsonl"));
    let two = two.expect("a row").number;
    let named = index.resolve(&rows[0].id, &Default::default()).unwrap();
    assert_eq!((rows.len(), named.number), (2, rows[0].number));
    fs::remove_file(place.path().join("pi/two.jsonl")).unwrap();
    sync(&config);
    let mut feed = Index::subscribe(&config, Some(&position)).unwrap();
    let Some(FeedEvent::Changes(changes)) = feed.poll().unwrap() else {
        panic!("it is gone");
    };
    let told: Vec<_> = changes.iter().map(|c| (c.session, c.what)).collect();
    assert_eq!(told, [(two, ChangeKind::Gone)]);
    assert_eq!(feed.position().seq, changes[0].seq);
}

#[test]
fn who_waits_is_woken_by_a_commit_and_by_another_folder() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let mut feed = Index::subscribe(&config, None).unwrap();
    // Less than the time after which it looks by itself: what another connection commits wakes it.
    let most = std::time::Duration::from_secs(30);
    let (begin, begun) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let mut told = Vec::new();
        for _ in 0..3 {
            begin.send(()).unwrap();
            told.push(feed.wait(most).unwrap());
        }
        told
    });
    for number in 2..4 {
        begun.recv().unwrap();
        // Long enough for it to wait for what the system reports.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let file = place.path().join(format!("pi/{number}.jsonl"));
        fs::write(file, session(number, "more")).unwrap();
        sync(&config);
    }
    begun.recv().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::remove_dir_all(&config.index_dir).unwrap();
    sync(&config);
    let told = waiting.join().unwrap();
    assert!(matches!(&told[0], Some(FeedEvent::Changes(_))), "{told:?}");
    assert!(matches!(&told[1], Some(FeedEvent::Changes(_))), "{told:?}");
    assert_eq!(told[2], Some(FeedEvent::Missed));
}

/// By its number one session is listed, whatever ids others have.
#[test]
fn what_changed_is_listed_by_its_number() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let mut feed = Index::subscribe(&config, None).unwrap();
    fs::write(place.path().join("pi/two.jsonl"), session(1, "two")).unwrap();
    sync(&config);
    let Some(FeedEvent::Changes(changes)) = feed.poll().unwrap() else {
        panic!("one came");
    };
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let listed = |numbers: Vec<i64>| {
        let scope = ListScope {
            numbers: Some(numbers),
            ..ListScope::default()
        };
        let listed = index.list(&scope).unwrap();
        assert_eq!(listed.total, listed.sessions.len() as u64);
        let mut found: Vec<i64> = listed.sessions.iter().map(|row| row.number).collect();
        found.sort_unstable();
        found
    };
    let all = index.list(&ListScope::default()).unwrap().sessions;
    assert!(all.len() == 2 && all[0].id == all[1].id);
    let new: Vec<i64> = changes.iter().map(|change| change.session).collect();
    assert_eq!(new.len(), 1);
    assert_eq!(listed(new.clone()), new);
    let mut both: Vec<i64> = all.iter().map(|row| row.number).collect();
    both.sort_unstable();
    assert_eq!(listed([&both[..], &[4711]].concat()), both);
    assert!(listed(Vec::new()).is_empty());
}
