//! Many segments: asked together, merged in parts.

use super::index::{doc, newest, word};
use crate::model::Class;
use crate::words::{Order, Scope, Words, WordsWriter, search};

#[test]
fn many_matches_in_many_segments_are_asked_on_every_core() {
    const SEGMENTS: u64 = 6;
    const EACH: u64 = 1_200;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = WordsWriter::open(dir.path(), 30_000_000, 1).unwrap();
    for segment in 0..SEGMENTS {
        let docs = (0..EACH).map(|at| {
            let key = ((at % 7) << 24) | (segment * EACH + at);
            let text = "common ".repeat(1 + (key % 5) as usize);
            doc(key, Class::Prose, (key % 1_000) as i64, &[&text])
        });
        writer.add(docs).unwrap();
        writer.commit(&segment.to_string()).unwrap();
    }
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    let expr = word("common");
    // What is asked with every key is asked on one core.
    let yes = |_: u64| true;
    for order in [Order::Ranked, Order::Newest] {
        for limit in [1, 30, 100_000] {
            let asked = |allow| {
                let scope = Scope {
                    allow,
                    now_ms: 2_000,
                    ..Scope::default()
                };
                search(Some(&words), None, Some(&expr), &scope, order, limit).unwrap()
            };
            let together = asked(None);
            assert_eq!(together, asked(Some(&yes)), "{order:?}, {limit}");
            assert_eq!(together.total as u64, SEGMENTS * EACH);
            assert_eq!(together.sessions, 7);
        }
    }
}

#[test]
fn what_was_added_is_merged_at_the_end_and_no_more_at_once_than_is_allowed() {
    const SEGMENTS: u64 = 20;
    let segments = |dir: &std::path::Path| {
        let words = Words::open(dir).unwrap();
        assert_eq!(newest(&words, &word("common")).total as u64, SEGMENTS * 50);
        let readers = words.searcher.segment_readers();
        let mut docs: Vec<u32> = readers.iter().map(|reader| reader.num_docs()).collect();
        docs.sort_unstable();
        docs
    };
    // Bytes that may be merged at once, and passages in the largest segment then.
    for (most, largest) in [(u64::MAX, 1_000), (40_000, 950), (1, 50)] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = WordsWriter::open(dir.path(), 30_000_000, 1).unwrap();
        writer.merge_at_the_end();
        writer.merge_at_most(most);
        for segment in 0..SEGMENTS {
            let docs = (0..50).map(|at| {
                let text = format!("common w{segment}x{at} y{at}");
                doc(segment * 50 + at, Class::Prose, at as i64, &[&text])
            });
            writer.add(docs).unwrap();
            writer.commit(&segment.to_string()).unwrap();
        }
        assert_eq!(segments(dir.path()), vec![50; SEGMENTS as usize]);
        writer.close().unwrap();
        let after = segments(dir.path());
        assert!(
            after.iter().all(|docs| *docs <= largest),
            "{most}: {after:?}"
        );
        assert_eq!(
            after.len() as u64 == SEGMENTS,
            most == 1,
            "{most}: {after:?}"
        );
        let words = Words::open(dir.path()).unwrap();
        assert_eq!(words.payload(), Some("19"));
    }
}
