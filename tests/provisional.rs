//! Can a list be seen, and called off, while files are still being read for the first time?

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sessionary::index::{ListEvent, ListScope};
use sessionary::model::SessionRow;
use sessionary::{Config, Error, Event, Freshness, Index, Indexer, RootSpec};

use crate::databases::{Store, hits};
use crate::histories::sync_stopped_at;

const FILES: u64 = 400;

/// Sessions of fifty entries each, the higher the number the newer; no file is read in one
/// transaction with all others.
fn config(home: &Path) -> Config {
    let folder = home.join("sessions/--x--");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..FILES {
        let minute = format!("{:02}:{:02}", number / 60, number % 60);
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{number:03}\",\"timestamp\":\"2026-01-01T{minute}:00.000Z\",\"cwd\":\"/x\"}}\n"
        );
        for entry in 0..49 {
            text.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"e{entry}\",\"parentId\":null,\"timestamp\":\"2026-01-01T{minute}:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
            ));
        }
        let path = folder.join(format!("{number}.jsonl"));
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600 + number * 60);
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
    // A file that was changed just now is looked into once more by the next check.
    std::thread::sleep(Duration::from_millis(50));
    let root = RootSpec::new("pi", home.join("sessions"));
    Config::new(home.join("index"), vec![root])
}

#[test]
fn pages_come_newest_first_and_say_that_they_are_not_all() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    let scope = ListScope {
        limit: Some(5),
        ..ListScope::default()
    };
    let (mut pages, mut reports) = (Vec::new(), Vec::new());
    let index = Index::open_listing(&config, &scope, &mut |listed| {
        match listed {
            ListEvent::Page(page) => pages.push(page),
            ListEvent::Loaded { loaded, total } => reports.push((loaded, total)),
            other => panic!("{other:?}"),
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let first = pages.first().expect("a page before the end");
    assert!(!first.complete && first.pending_files > 0);
    assert!((1..FILES).contains(&first.total), "{}", first.total);
    // Threads finish in any order, but what is read first is what is newest.
    let newest: u64 = first.sessions[0].id[1..].parse().unwrap();
    assert!(newest >= FILES - 10, "{newest}");
    assert!(first.sessions.is_sorted_by(|a, b| a.modified > b.modified));
    assert_eq!(reports.first(), Some(&(0, FILES)));
    assert_eq!(reports.last(), Some(&(FILES, FILES)));
    assert!(reports.is_sorted());
    let all = index.list(&scope).unwrap();
    assert!(all.complete && all.total == FILES);
    // Nothing to be read: nothing to be told.
    let again = Index::open_listing(&config, &scope, &mut |listed| {
        assert!(matches!(listed, ListEvent::Loaded { .. }), "{listed:?}");
        ControlFlow::Continue(())
    });
    assert_eq!(again.unwrap().list(&scope).unwrap(), all);
}

#[test]
fn what_was_read_before_it_was_called_off_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    let scope = ListScope::default();
    let called_off = Config {
        cancel: Default::default(),
        ..config.clone()
    };
    let mut seen = 0;
    let result = Index::open_listing(&called_off, &scope, &mut |listed| match listed {
        ListEvent::Page(page) => {
            seen = page.total;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(result, Err(Error::Cancelled)));
    let kept = Index::open(&config, Freshness::AsCommitted).unwrap();
    let kept = kept.list(&scope).unwrap().total;
    assert!((seen..FILES).contains(&kept) && seen > 0, "{seen} {kept}");
    let index = Index::open(&config, Freshness::Check).unwrap();
    assert_eq!(index.list(&scope).unwrap().total, FILES);
    assert!(index.report().unwrap().files_changed <= FILES - seen);
    assert_eq!(index.verify().unwrap().differences, []);
}

/// A directory that is again as it was before a sync that did not come to its end: nothing of that
/// sync remains.
#[test]
fn a_file_that_goes_after_a_sync_was_called_off_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/--x--");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str| {
        let line = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{name}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/x\"}}\n"
        );
        fs::write(folder.join(format!("{name}.jsonl")), line).unwrap();
    };
    let config = || {
        let root = crate::histories::dump::root("pi", "pi", &home.path().join("sessions"));
        Config::new(home.path().join("index"), vec![root])
    };
    let sessions = || {
        let index = Index::open(&config(), Freshness::Check).unwrap();
        index.list(&ListScope::default()).unwrap().sessions.len()
    };
    write("a");
    // Until the file is old enough for a fingerprint.
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(sessions(), 1);
    }

    write("b");
    let config = config();
    let mut indexer = Indexer::open(&config).unwrap();
    let stopped = indexer.sync_catalogue(&mut |event| {
        if matches!(event, Event::Catalogued { .. }) {
            config.cancel.cancel();
        }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    drop(indexer);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let read = index.list(&ListScope::default()).unwrap().sessions.len();
    assert_eq!(read, 2, "the file was read before");
    fs::remove_file(folder.join("b.jsonl")).unwrap();
    assert_eq!(sessions(), 1);
}

/// A database of so many sessions, one of which has no title yet.
fn database(sessions: usize) -> Store {
    let mut store = Store::new(true, "WAL");
    store.run("BEGIN");
    for at in 0..sessions {
        store.talk(&format!("ses_{at:03}"), "walrus", "They grow.");
    }
    store.run(
        "UPDATE session SET title = 'New session - 2026-01-05T09:00:00.000Z' WHERE id = 'ses_299';
         COMMIT",
    );
    store
}

/// Of a large database all sessions are listed by their own rows before any other row is read.
#[test]
fn sessions_of_a_large_database_are_listed_before_they_are_read() {
    let store = database(300);
    let (config, scope) = (store.config(), ListScope::default());
    let mut pages = Vec::new();
    let index = Index::open_listing(&config, &scope, &mut |listed| {
        if let ListEvent::Page(page) = listed {
            pages.push(page);
        }
        ControlFlow::Continue(())
    });
    let first = pages.first().expect("a page before the end");
    assert_eq!((first.complete, first.pending_files), (false, 300));
    // A few screens full of the newest, but for the one that is called by its first prompt.
    assert_eq!((first.total, &*first.sessions[0].id), (250, "ses_298"));
    for row in &first.sessions {
        assert!(row.not_read_yet, "{row:?}");
        assert_eq!((&*row.title, &*row.cwd), ("A talk", "/code/parser"));
        assert_eq!((row.tokens, row.cost), (None, None));
    }
    let all = index.unwrap().list(&scope).unwrap();
    assert_eq!((all.complete, all.total), (true, 300));
    let is_read =
        |row: &SessionRow| !row.not_read_yet && (row.message_count, row.entries) == (2, 5);
    assert!(all.sessions.iter().all(is_read));
    store.is_followed("a first list");
}

/// What is listed and not read yet is read by whoever comes next, as it is then.
#[test]
fn entries_are_owed_until_they_are_read() {
    for left in [1, 2, 40] {
        let mut store = database(300);
        let config = store.config();
        let indexer = Indexer::open(&config).unwrap();
        drop(sync_stopped_at(left, indexer, &config));
        let owed = |index: &Index| {
            let listed = index.list(&ListScope::default()).unwrap();
            let owed = listed
                .sessions
                .iter()
                .filter(|row| row.not_read_yet)
                .count();
            (listed.complete, owed)
        };
        let index = store.index();
        let (complete, many) = owed(&index);
        assert!(!complete && many > 0, "{left}: {many}");
        let entries = "SELECT count(*) FROM sessions s WHERE s.entries <>
            (SELECT count(*) FROM entries e WHERE e.session = s.session)";
        assert_eq!(index.sql(entries, &[]).unwrap().rows, [[0]], "{left}");
        assert!(
            !index
                .search("walrus", &Default::default())
                .unwrap()
                .complete
        );
        drop(index);
        // Meanwhile one grows, one gets a name and one is gone.
        store.text("ses_290", "msg_2_ses_290", "prt_9", "a heron");
        let now = store.tick();
        store.run(&format!(
            "UPDATE session SET title = 'Tusks', time_updated = {now} WHERE id = 'ses_299';
             DELETE FROM session WHERE id = 'ses_298'"
        ));
        store.is_followed("read by the next");
        let index = store.index();
        assert_eq!(owed(&index), (true, 0));
        assert_eq!((hits(&index, "heron"), hits(&index, "grow")), (1, 299));
    }
}

#[test]
fn few_sessions_are_read_at_once() {
    let store = database(40);
    let mut seen = Vec::new();
    let index = Index::open_listing(&store.config(), &ListScope::default(), &mut |listed| {
        if let ListEvent::Page(page) = listed {
            seen.extend(page.sessions);
        }
        ControlFlow::Continue(())
    });
    assert!(index.is_ok() && seen.iter().all(|row| !row.not_read_yet));
}
