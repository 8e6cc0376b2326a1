//! Does the index follow a file that was just written, and look at no other?

use std::fs;
use std::path::{Path, PathBuf};

use sessionary::index::SearchScope;
use sessionary::session::{Profile, SessionManager, Setup, UserMessage};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::{clean, dump, fresh, root, same};

fn say(session: &mut SessionManager, text: &str) -> PathBuf {
    let message = UserMessage {
        content: text.into(),
        timestamp: 1_767_603_600_250,
        ..Default::default()
    };
    session.append_message(message).expect("appended");
    session.session_file().expect("a file").to_path_buf()
}

/// Message counts and hits for a word, as the index has them without a look at any file.
fn as_committed(config: &Config, word: &str) -> (Vec<String>, u64) {
    let index = Index::open(config, Freshness::AsCommitted).expect("an index");
    let rows = index.sql("SELECT messages FROM sessions ORDER BY id", &[]);
    let counts = rows.expect("rows").rows;
    let scope = SearchScope {
        exact: true,
        every_copy: true,
        ..SearchScope::default()
    };
    (
        counts.iter().map(|row| row[0].to_string()).collect(),
        index.search(word, &scope).expect("found").total,
    )
}

#[test]
fn after_an_append_the_index_is_current_without_a_scan() {
    let place = tempfile::tempdir().expect("a folder");
    let sessions = place.path().join("sessions");
    let setup = Setup::new(Profile::PI, &sessions);
    let config = Config::new(
        place.path().join("index"),
        vec![root("pi", "pi", &sessions)],
    );
    assert!(Indexer::open_existing(&config).expect("none").is_none());

    let begin = |id: &str| {
        let new = sessionary::session::NewSession {
            id: Some(id.to_owned()),
            ..Default::default()
        };
        SessionManager::create_with(&setup, "/w", &new).expect("begun")
    };
    let (mut a, mut b) = (begin("a"), begin("b"));
    // Long enough that reading it again would show.
    let first = say(&mut a, &"walrus ".repeat(20_000));
    say(&mut b, "walrus");
    std::thread::sleep(std::time::Duration::from_millis(60));
    Indexer::open(&config)
        .and_then(|mut indexer| indexer.sync())
        .expect("synced");
    assert_eq!(
        as_committed(&config, "otter"),
        (vec!["1".into(), "1".into()], 0)
    );

    // Both grow; one is named.
    let before = fs::metadata(&first).expect("there").len();
    say(&mut a, "otter");
    let other = say(&mut b, "otter");
    let grown = fs::metadata(&first).expect("there").len() - before;
    let indexer = Indexer::open_existing(&config).expect("opened");
    let mut indexer = indexer.expect("an index");
    let report = indexer
        .sync_files(std::slice::from_ref(&first))
        .expect("synced");
    assert_eq!(
        (report.files_seen, report.files_changed, report.entries),
        (1, 1, 1)
    );
    assert!(report.bytes_read <= 2 * grown + 8192, "{report:?}");
    assert_eq!(
        as_committed(&config, "otter"),
        (vec!["2".into(), "1".into()], 1)
    );
    // Nothing is new: nothing is read. What is not below the root, or no session, is nobody's.
    let nothing = indexer.sync_files(&[place.path().join("x.jsonl"), sessions.clone()]);
    assert_eq!(nothing.expect("synced").files_seen, 0);

    // The rest: what was not named, a new file, and one that is gone.
    let new = say(&mut begin("c"), "otter");
    fs::remove_file(&first).expect("removed");
    let report = indexer.sync_files(&[new, first]).expect("synced");
    assert_eq!((report.files_seen, report.vanished), (1, 1));
    assert_eq!(
        as_committed(&config, "otter"),
        (vec!["1".into(), "1".into()], 1)
    );
    indexer.sync().expect("synced");
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    assert_eq!(
        as_committed(&config, "otter"),
        (vec!["2".into(), "1".into()], 2)
    );
    clean(&index, "after the sync");
    let expected = fresh(&config, &place.path().join("fresh"));
    same(&dump(&index), &dump(&expected), "after the sync");

    // A folder for all directories holds no folders.

    let mut flat = config.clone();
    flat.roots[0].flat = true;
    drop(indexer);
    let report = Indexer::open(&flat)
        .and_then(|mut indexer| indexer.sync_files(std::slice::from_ref(&other)))
        .expect("synced");
    assert_eq!(report.files_seen, 0, "{}", Path::display(&other));
}
