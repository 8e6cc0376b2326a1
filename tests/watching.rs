//! Does a live watcher find what is done to real files? Nothing here depends on how long it takes:
//! what is to come is waited for.

#[path = "watching/watcher.rs"]
pub mod watcher;

#[path = "watching/trouble.rs"]
mod trouble;

#[cfg(unix)]
#[path = "watching/process.rs"]
mod process;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use sessionary::index::{FeedEvent, SearchScope, WatchEnd, WatchEvent, WatchOptions, caught_up};
use sessionary::model::{ChangeKind, SessionChange, WatchMode};
use sessionary::{Config, Error, Event, Freshness, Index, Indexer};

use crate::histories::dump::{clean, dump, fresh, root, same};
use watcher::{Watcher, until};

/// A header and a first message.
pub fn session(id: u32, text: &str) -> String {
    format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"019b8d10-0000-7000-8000-{:012x}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}}"#,
            "\n{}"
        ),
        id,
        message(0, text)
    )
}

/// One message with its newline.
pub fn message(number: u32, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"e{number:07}","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1767603601000}}}}"#
    ) + "\n"
}

pub fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Two roots below a temporary folder; of agentuse's nothing is there yet.
fn config(place: &Path) -> Config {
    fs::create_dir_all(place.join("pi")).unwrap();
    let roots = vec![
        root("pi", "pi", &place.join("pi")),
        root("agentuse", "agentuse", &place.join("later/agentuse")),
    ];
    Config::new(place.join("index"), roots)
}

fn number(config: &Config, query: &str) -> i64 {
    let index = Index::open(config, Freshness::AsCommitted).unwrap();
    let rows = index.sql(query, &[]).unwrap().rows;
    rows[0][0].as_i64().unwrap()
}

/// The index equals one made from the files now.
fn equals_fresh(config: &Config, place: &Path) {
    Indexer::open(config).unwrap().sync().unwrap();
    let index = Index::open(config, Freshness::AsCommitted).unwrap();
    same(
        &dump(&index),
        &dump(&fresh(config, &place.join("fresh"))),
        "after watching",
    );
    clean(&index, "after watching");
}

#[test]
fn an_append_is_found_before_and_after_its_words_are_indexed() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/--w--/one.jsonl");
    write(&path, &session(1, "the first"));
    let watcher = Watcher::start(&config);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let found = |word: &str| index.search(word, &SearchScope::default()).unwrap().total;
    for number in 1..20 {
        append(&path, &message(number, &format!("walrus{number}")));
        until("the append is found", || {
            found(&format!("walrus{number}")) == 1
        });
    }
    let owed = "SELECT count(*) FROM _outbox";
    until("its words are indexed", || number(&config, owed) == 0);
    assert_eq!(found("walrus7"), 1);
    assert_eq!(watcher.stop(), WatchEnd::Cancelled);
    equals_fresh(&config, place.path());
}

#[test]
fn a_stage_reads_an_appended_byte_once() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/--w--/long.jsonl");
    // So long that reading it again would be far beyond what is allowed.
    write(&path, &session(1, &"much was said before ".repeat(100_000)));
    let watcher = Watcher::start(&config);
    let owed = "SELECT count(*) FROM _outbox";
    until("all is indexed", || number(&config, owed) == 0);
    // What is written is seen before the report of it is counted: the file was read by both stages.
    let size = fs::metadata(&path).unwrap().len();
    // (Line ends are no part of what the second one reads.)
    until("both stages are counted", || {
        watcher.read() >= 2 * size - 4096
    });
    let before = watcher.read();
    let mut allowed = 0;
    for turn in 1..25 {
        // Some of several lines, one write each.
        for line in 0..=turn % 3 {
            let text = message(turn * 10 + line, &"walrus ".repeat(turn as usize * 7));
            allowed += 2 * text.len() as u64 + 8192;
            append(&path, &text);
        }
        let size = fs::metadata(&path).unwrap().len() as i64;
        let consumed = "SELECT max(consumed) FROM sources";
        until("the append is catalogued", || {
            number(&config, consumed) == size
        });
    }
    until("all is indexed", || number(&config, owed) == 0);
    let read = watcher.read() - before;
    assert!(read <= allowed, "{read} bytes read, {allowed} allowed");
    watcher.stop();
}

#[test]
fn of_agentuse_the_replaced_document_is_read_and_no_other() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let folder = place
        .path()
        .join("later/agentuse/p/session/01KE6P4YM00000000000000000-triage");
    let message = folder.join("01KE6P50JG0000000000000003");
    write(
        &folder.join("session.json"),
        r#"{"id":"01KE6P4YM00000000000000000","time":{"created":1}}"#,
    );
    write(
        &message.join("message.json"),
        r#"{"id":"01KE6P50JG0000000000000003","time":{"created":1}}"#,
    );
    for part in 0..40 {
        let text = "large ".repeat(2000);
        write(
            &message.join(format!("part/{part}.json")),
            &format!(r#"{{"id":"{part}","type":"text","text":"{text}"}}"#),
        );
    }
    let watcher = Watcher::start(&config);
    let owed = "SELECT count(*) FROM _outbox";
    until("all is indexed", || number(&config, owed) == 0);
    // What is written is seen before the report of it is counted: the text of the parts was read by
    // both stages.
    until("both stages are counted", || {
        watcher.read() >= 2 * 40 * "large ".repeat(2000).len() as u64
    });
    let before = watcher.read();
    let replaced = r#"{"id":"7","type":"text","text":"small walrus"}"#;
    write(&message.join("part/.7.tmp"), replaced);
    fs::rename(message.join("part/.7.tmp"), message.join("part/7.json")).unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let found = || {
        index
            .search("walrus", &SearchScope::default())
            .unwrap()
            .total
    };
    until("the document is found", || found() == 1);
    until("all is indexed", || number(&config, owed) == 0);
    let read = watcher.read() - before;
    assert!(read <= 3 * replaced.len() as u64, "{read} bytes");
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn a_file_in_a_directory_made_that_moment_is_found() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let watcher = Watcher::start(&config);
    for number in 0..60 {
        let depth = "a/b/c/d/".repeat(number % 3);
        let path = format!("pi/{depth}--w{number}--/one.jsonl");
        write(&place.path().join(path), &session(number as u32, "walrus"));
    }
    until("all are found", || {
        number(&config, "SELECT count(*) FROM sessions") == 60
    });
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn a_root_that_comes_and_goes_is_followed() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let watcher = Watcher::start(&config);
    let agentuse = place.path().join("later/agentuse");
    let file = agentuse.join("p/session/01KE6P4YM00000000000000000-triage/session.json");
    let sessions = "SELECT count(*) FROM sessions WHERE agent = 'agentuse'";
    for round in 1..4 {
        let document = format!(
            r#"{{"id":"x","model":"a:b","agent":{{"id":"round{round}","name":"round{round}"}},"project":{{"root":"/w","cwd":"/w"}},"time":{{"created":1,"updated":2}}}}"#
        );
        write(&file, &document);
        let named = format!("SELECT count(*) FROM sessions WHERE name = 'round{round}'");
        until("the new root is read", || number(&config, &named) == 1);
        assert_eq!(number(&config, sessions), 1);
        // Moved away: its files may come back, so what is known of them is kept.
        let away = place.path().join("away");
        fs::rename(place.path().join("later"), &away).unwrap();
        fs::remove_dir_all(&away).unwrap();
        until("the watcher has seen that", || {
            caught_up(&config, Duration::from_secs(5)).is_some()
        });
    }
    watcher.stop();
}

#[test]
fn what_is_renamed_moved_and_deleted_is_followed() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let pi = place.path().join("pi");
    for name in ["a/one.jsonl", "a/two.jsonl", "b/three.jsonl"] {
        write(&pi.join(name), &session(name.len() as u32, name));
    }
    let watcher = Watcher::start(&config);
    let paths = || -> Vec<String> {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let rows = index
            .sql("SELECT relative FROM sources ORDER BY relative", &[])
            .unwrap();
        rows.rows
            .iter()
            .map(|row| row[0].as_str().unwrap().to_owned())
            .collect()
    };
    let are = |expected: &[&str]| until(&format!("{expected:?}"), || paths() == expected);
    are(&["a/one.jsonl", "a/two.jsonl", "b/three.jsonl"]);
    // Over another one.
    let beside = place.path().join("beside");
    write(&beside, &session(99, "replaced"));
    fs::rename(&beside, pi.join("a/one.jsonl")).unwrap();
    let replaced = "SELECT count(*) FROM sessions WHERE first_message = 'replaced'";
    until("the other one is read", || number(&config, replaced) == 1);
    fs::rename(pi.join("a/two.jsonl"), pi.join("b/two.jsonl")).unwrap();
    are(&["a/one.jsonl", "b/three.jsonl", "b/two.jsonl"]);
    // A whole directory, and what is written in it under its new name.
    fs::rename(pi.join("b"), pi.join("c")).unwrap();
    are(&["a/one.jsonl", "c/three.jsonl", "c/two.jsonl"]);
    append(&pi.join("c/two.jsonl"), &message(1, "after the move"));
    write(&pi.join("c/four.jsonl"), &session(4, "new there"));
    are(&[
        "a/one.jsonl",
        "c/four.jsonl",
        "c/three.jsonl",
        "c/two.jsonl",
    ]);
    // Out of the root and back in.
    let away = place.path().join("away");
    fs::rename(pi.join("c"), &away).unwrap();
    are(&["a/one.jsonl"]);
    fs::rename(&away, pi.join("a/c")).unwrap();
    are(&[
        "a/c/four.jsonl",
        "a/c/three.jsonl",
        "a/c/two.jsonl",
        "a/one.jsonl",
    ]);
    fs::remove_file(pi.join("a/c/four.jsonl")).unwrap();
    fs::remove_dir_all(pi.join("a/c")).unwrap();
    are(&["a/one.jsonl"]);
    // A directory of the same name as one that is gone.
    write(&pi.join("a/c/five.jsonl"), &session(5, "again"));
    are(&["a/c/five.jsonl", "a/one.jsonl"]);
    append(&pi.join("a/c/five.jsonl"), &message(1, "and more"));
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn others_write_the_index_as_if_there_was_no_watcher() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/one.jsonl");
    write(&path, &session(1, "one"));
    let watcher = Watcher::start(&config);
    let second = Indexer::open(&config).unwrap();
    let refused = second.watch(&WatchOptions::default(), &mut |_| {});
    assert!(matches!(refused, Err(Error::Watched { .. })), "{refused:?}");
    for number in 1..30 {
        append(&path, &message(number, "more"));
        let mut indexer = Indexer::open(&config).unwrap();
        match number % 10 {
            0 => drop(indexer.rebuild().unwrap()),
            5 => drop(indexer.sync().unwrap()),
            _ => drop(indexer.sync_catalogue(&mut |_| {}).unwrap()),
        }
        drop(indexer);
        let entries = "SELECT entries FROM sessions";
        assert_eq!(self::number(&config, entries), i64::from(number) + 2);
    }
    append(&path, &message(77, "after all"));
    until("the watcher goes on", || {
        number(&config, "SELECT entries FROM sessions") == 32
    });
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
#[cfg(target_os = "linux")]
fn a_watcher_that_answers_spares_the_look_at_all_files() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    for number in 0..1100 {
        let path = format!("pi/{}/{number}.jsonl", number % 7);
        write(&place.path().join(path), &session(number, "walrus"));
    }
    let looked = |config: &Config| {
        // A reader that meets the watcher at work for long says that its answer is not complete.
        let mut index = Index::open(config, Freshness::Check).unwrap();
        until("an answer is complete", || {
            if index.obstacle().is_some() {
                index = Index::open(config, Freshness::Check).unwrap();
            }
            index.is_complete() && index.obstacle().is_none()
        });
        index.report().is_some()
    };
    Indexer::open(&config).unwrap().sync().unwrap();
    assert!(looked(&config), "nobody watches");
    let watcher = Watcher::start(&config);
    let path = place.path().join("pi/3/10.jsonl");
    let mut spared = 0;
    for number in 1..40 {
        append(&path, &message(number, "more"));
        // On a busy machine the answer may take longer than it is waited for.
        spared += u32::from(!looked(&config));
        let entries = "SELECT entries FROM sessions WHERE path LIKE '%/3/10.jsonl'";
        assert_eq!(self::number(&config, entries), i64::from(number) + 2);
    }
    assert!(spared > 0);
    // It knows nothing of another root.
    let mut wider = config.clone();
    fs::create_dir(place.path().join("other")).unwrap();
    wider
        .roots
        .push(root("pi", "pi", &place.path().join("other")));
    assert!(looked(&wider));
    assert!(caught_up(&wider, Duration::from_secs(5)).is_none());
    // Nor is told what is written by another name.
    let (other, twice) = (
        place.path().join("other.jsonl"),
        place.path().join("pi/twice.jsonl"),
    );
    write(&other, &session(2000, "walrus"));
    fs::hard_link(&other, &twice).unwrap();
    until("it vouches no more", || {
        caught_up(&config, Duration::from_secs(5)).is_none()
    });
    append(&other, &message(1, "more"));
    assert!(looked(&config));
    let entries = "SELECT entries FROM sessions WHERE path LIKE '%/twice.jsonl'";
    assert_eq!(self::number(&config, entries), 3);
    fs::remove_file(&twice).unwrap();
    watcher.stop();
    let watcher = Watcher::start(&config);
    until("it vouches again", || {
        caught_up(&config, Duration::from_secs(5)).is_some()
    });
    // What a link leads to changes without being told.
    std::os::unix::fs::symlink(&path, place.path().join("pi/link.jsonl")).unwrap();
    until("it vouches no more", || {
        caught_up(&config, Duration::from_secs(5)).is_none()
    });
    assert!(looked(&config));
    watcher.stop();
    assert!(caught_up(&config, Duration::from_secs(5)).is_none());
    equals_fresh(&config, place.path());
}

#[test]
fn a_watcher_is_ended_without_the_rest_of_its_configuration() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    for is_called_off_before in [false, true] {
        let options = WatchOptions::default();
        if is_called_off_before {
            options.cancel.cancel();
        }
        let indexer = Indexer::open_to_watch(&config, &mut |_| {}).unwrap();
        let ended = indexer.watch(&options, &mut |told| {
            if let WatchEvent::Watching(_) | WatchEvent::Polling(_) = told {
                options.cancel.cancel();
            }
        });
        assert_eq!(ended.unwrap(), WatchEnd::Cancelled);
        assert!(!config.cancel.is_cancelled());
        let path = place
            .path()
            .join(format!("pi/{is_called_off_before}.jsonl"));
        write(&path, &session(1 + u32::from(is_called_off_before), "one"));
        let index = Index::open(&config, Freshness::Check).unwrap();
        assert!(index.is_complete());
    }
    assert_eq!(number(&config, "SELECT count(*) FROM sessions"), 2);
}

#[test]
fn polling_finds_the_same() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let options = WatchOptions {
        poll: true,
        interval: Duration::from_millis(20),
        ..WatchOptions::default()
    };
    let watcher = Watcher::start_with(&config, options);
    let path = place.path().join("pi/new/one.jsonl");
    write(&path, &session(1, "one"));
    let entries = "SELECT coalesce(max(entries), 0) FROM sessions";
    until("the file is found", || number(&config, entries) == 2);
    append(&path, &message(1, "two"));
    until("the append is found", || number(&config, entries) == 3);
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let status = index.status().unwrap().watcher.unwrap();
    assert_eq!((status.mode, status.lag_ms), (WatchMode::Poll, None));
    assert!(status.why.unwrap().contains("asked for"));
    assert!(watcher.log().polling);
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn the_feed_leads_to_what_is_there() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let watcher = Watcher::start(&config);
    let mut feed = Index::subscribe(&config, Some(&crate::feed::at(&config, 0))).unwrap();
    let pi = place.path().join("pi");
    for number in 0..40_u32 {
        write(
            &pi.join(format!("{}.jsonl", number % 9)),
            &session(number, "x"),
        );
        if number % 4 == 3 {
            fs::remove_file(pi.join(format!("{}.jsonl", (number - 2) % 9))).unwrap();
        }
        if number % 5 == 4 {
            until("the watcher keeps up", || {
                !cfg!(target_os = "linux") || caught_up(&config, Duration::from_secs(5)).is_some()
            });
        }
    }
    let mut told = Vec::new();
    let sessions = |changes: &[SessionChange]| {
        let mut paths = std::collections::BTreeMap::new();
        for change in changes {
            match change.what {
                ChangeKind::Changed => paths.insert(change.session, change.path.clone()),
                _ => paths.remove(&change.session),
            };
        }
        let mut paths: Vec<_> = paths.into_values().collect();
        paths.sort();
        paths
    };
    let mut there: Vec<_> = fs::read_dir(&pi)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    there.sort();
    until("the feed is at its end", || {
        if let Some(FeedEvent::Changes(changes)) = feed.wait(Duration::from_millis(5)).unwrap() {
            told.extend(changes);
        }
        sessions(&told) == there
    });
    until("the watcher tells the same", || {
        sessions(&watcher.log().changes) == there
    });
    let numbers = told.iter().map(|change| change.seq);
    assert!(numbers.clone().zip(numbers.skip(1)).all(|(a, b)| a < b));
    // After a rebuild nothing that was read of the feed holds any more.
    Indexer::open(&config).unwrap().rebuild().unwrap();
    assert_eq!(
        feed.wait(Duration::from_secs(60)).unwrap(),
        Some(FeedEvent::Missed)
    );
    let Some(FeedEvent::Changes(again)) = feed.poll().unwrap() else {
        panic!("what is kept follows");
    };
    assert_eq!(sessions(&again), there);
    assert_eq!(feed.poll().unwrap(), None);
    watcher.stop();
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_cannot_be_watched_is_no_reason_to_poll() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let program = place.path().join("program");
    // Nobody may read a program of mode 0711; nobody at all can follow this link.
    std::os::unix::fs::symlink(&program, &program).unwrap();
    let options = WatchOptions {
        executable: Some(program),
        ..WatchOptions::default()
    };
    let watcher = Watcher::start_with(&config, options);
    assert!(!watcher.log().polling);
    watcher.stop();
}

#[test]
#[cfg(target_os = "linux")]
fn a_watcher_of_an_index_at_a_relative_path_answers() {
    let place = tempfile::tempdir().unwrap();
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let below = place.path().strip_prefix("/").unwrap().join("index");
    let config = Config {
        index_dir: Path::new(&"../".repeat(up)).join(below),
        ..config(place.path())
    };
    let watcher = Watcher::start(&config);
    assert!(caught_up(&config, Duration::from_secs(60)).is_some());
    watcher.stop();
}

#[test]
fn a_watcher_ends_with_its_program_and_its_index() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let program = place.path().join("program");
    fs::write(&program, "old").unwrap();
    let options = WatchOptions {
        executable: Some(program.clone()),
        ..WatchOptions::default()
    };
    let watcher = Watcher::start_with(&config, options.clone());
    let new = place.path().join("program.new");
    fs::write(&new, "newer").unwrap();
    fs::rename(&new, &program).unwrap();
    assert_eq!(watcher.ended(), WatchEnd::Replaced);
    let watcher = Watcher::start_with(&config, options);
    fs::remove_dir_all(&config.index_dir).unwrap();
    assert_eq!(watcher.ended(), WatchEnd::Removed);
    assert!(!config.index_dir.exists());
}

#[test]
fn a_sync_beside_a_watcher_does_nothing_twice() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let path = place.path().join("pi/one.jsonl");
    write(&path, &session(1, &"much was said ".repeat(10_000)));
    let watcher = Watcher::start(&config);
    let current = || {
        until("the watcher is current", || {
            !cfg!(target_os = "linux") || caught_up(&config, Duration::from_secs(5)).is_some()
        });
    };
    let entries = "SELECT entries FROM sessions";
    for round in 1..20_u32 {
        let line = message(round, "more");
        append(&path, &line);
        if round % 2 == 0 {
            current();
        }
        // Whoever comes first reads it, and the other one finds it read.
        let mut indexer = Indexer::open(&config).unwrap();
        let report = match round % 3 {
            0 => indexer.sync().unwrap(),
            1 => indexer.sync_catalogue(&mut |_| {}).unwrap(),
            _ => indexer.sync_files(std::slice::from_ref(&path)).unwrap(),
        };
        drop(indexer);
        assert_eq!(number(&config, entries), i64::from(round) + 2);
        assert!(report.entries <= 1, "{report:?}");
        current();
        assert_eq!(number(&config, entries), i64::from(round) + 2);
    }
    let rows = "SELECT count(*) FROM entries";
    assert_eq!(number(&config, rows), 21, "each once");
    watcher.stop();
    equals_fresh(&config, place.path());
}

#[test]
fn the_first_scan_tells_how_far_it_is() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    for number in 0..1100 {
        let path = format!("pi/{}/{number}.jsonl", number % 7);
        write(&place.path().join(path), &session(number, "walrus"));
    }
    let watcher = Watcher::start(&config);
    let told = watcher.log().progress;
    let found = |event: &Event| matches!(event, Event::Discovered { files: 1100, .. });
    assert_eq!(told.iter().position(found), Some(0), "{:?}", told.first());
    let end = |event: &Event| matches!(event, Event::Catalogued { files: 1100, .. });
    let end = told.iter().position(end);
    let readable = told.iter().position(|event| *event == Event::Readable);
    // What was read first can be asked for before all is read.
    assert!(readable.is_some() && readable < end, "{readable:?} {end:?}");
    watcher.stop();
}
