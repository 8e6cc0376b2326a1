//! Cursor: a session that has a plain transcript beside its lines is that of its lines.

use std::fs;

use sessionary::Freshness;
use sessionary::Index;

use crate::store::{Store, hits, rows};
use crate::watching::watcher::{Watcher, until};

const FOLDER: &str = "home-ada-code-app/agent-transcripts";
const ID: &str = "6d0b1f6e-0000-4000-8000-0000000000f1";
const PLAIN: &str = "user:\n<user_query>\nCount the zithers\n</user_query>\nassistant:\nSeven.\n";
const LINES: &str = concat!(
    r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nCount the zithers\n</user_query>"}]}}"#,
    "\n",
    r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Seven."}]}}"#,
    "\n",
);

/// Beside the plain file, in a folder of its own, or both in that.
#[test]
fn the_lines_of_a_session_count_and_not_its_plain_transcript() {
    let in_own = format!("{FOLDER}/{ID}/{ID}");
    let alone = format!("{FOLDER}/{ID}");
    for (plain, lines) in [(&alone, &alone), (&alone, &in_own), (&in_own, &in_own)] {
        let store = Store::of("cursor", "talk");
        let others = rows(&store.index()).len();
        let (plain, lines) = (format!("{plain}.txt"), format!("{lines}.jsonl"));
        // The folder may be there before the lines, and stay behind them.
        fs::create_dir_all(store.path(&in_own).parent().unwrap()).unwrap();
        let (plain, lines) = (store.path(&plain), store.path(&lines));
        let check = |sessions: usize, messages: Option<u64>, when: &str| {
            store.check(when);
            let index = store.index();
            let mut all = rows(&index);
            assert_eq!(all.len(), others + sessions, "{when}");
            all.retain(|row| row.id == ID);
            assert_eq!(all.first().map(|row| row.message_count), messages, "{when}");
            assert_eq!(hits(&index, "zithers"), sessions, "{when}");
        };
        fs::write(&plain, PLAIN).unwrap();
        check(1, Some(1), "plain");
        fs::write(&lines, LINES).unwrap();
        check(1, Some(2), "both");
        fs::write(&plain, format!("{PLAIN}user:\nmore\n")).unwrap();
        check(1, Some(2), "the plain one grew");
        fs::remove_file(&lines).unwrap();
        check(1, Some(1), "plain again");
        fs::write(&lines, LINES).unwrap();
        fs::remove_file(&plain).unwrap();
        check(1, Some(2), "lines");
        fs::write(&plain, PLAIN).unwrap();
        check(1, Some(2), "both again");
        fs::remove_file(&plain).unwrap();
        fs::remove_file(&lines).unwrap();
        check(0, None, "none");
    }
}

#[test]
fn a_watcher_sees_which_of_the_two_counts() {
    let store = Store::of("cursor", "talk");
    let folder = store.path(&format!("{FOLDER}/{ID}"));
    let plain = folder.with_extension("txt");
    fs::write(&plain, PLAIN).unwrap();
    let config = store.config();
    drop(store.index());
    let watcher = Watcher::start(&config);
    let waits_for = |messages: u64| {
        until("the session's other file", || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            let mut all = rows(&index);
            all.retain(|row| row.id == ID);
            all.len() == 1 && all[0].message_count == messages
        });
    };
    waits_for(1);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(format!("{ID}.jsonl")), LINES).unwrap();
    waits_for(2);
    fs::remove_dir_all(&folder).unwrap();
    waits_for(1);
    watcher.stop();
    store.check("removed");
}

/// What the archive kept of the plain file is not listed beside the lines.
#[test]
fn a_kept_plain_transcript_gives_way_to_the_lines() {
    let store = Store::of("cursor", "talk");
    store.keep();
    let others = rows(&store.index()).len();
    let plain = store.path(&format!("{FOLDER}/{ID}.txt"));
    fs::write(&plain, PLAIN).unwrap();
    assert_eq!(rows(&store.index()).len(), others + 1);
    fs::create_dir(plain.with_extension("")).unwrap();
    let lines = store.path(&format!("{FOLDER}/{ID}/{ID}.jsonl"));
    fs::write(&lines, LINES).unwrap();
    assert_eq!(rows(&store.index()).len(), others + 1);
    store.check("both");
    fs::remove_file(&plain).unwrap();
    assert_eq!(rows(&store.index()).len(), others + 1);
    store.check("lines");
}
