//! Can a list be seen, and called off, while files are still being read for the first time?

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sessionary::index::ListScope;
use sessionary::{Config, Error, Event, Freshness, Index, Indexer, ListEvent, RootSpec};

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
    let root = RootSpec {
        agent: "pi".into(),
        format: "pi".into(),
        path: home.join("sessions"),
        label: None,
        host: None,
        flat: false,
        why: "test".into(),
    };
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
    assert_eq!(index.verify(&mut |_| {}).unwrap().differences, []);
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
