//! Many segments: asked together, merged in parts.

use std::path::Path;

use super::index::{all, doc, newest, word};
use crate::model::Class;
use crate::words::merging::MOST_SEGMENTS;
use crate::words::{
    Merge, Order, Scope, TieBreak, Words, WordsError, WordsWriter, condemned, exist, is_merge_due,
    merge, search,
};

#[test]
fn many_matches_in_many_segments_are_asked_on_every_core() {
    const SEGMENTS: u64 = 6;
    const EACH: u64 = 1_200;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = super::writer(dir.path(), 30_000_000, 1).unwrap();
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

/// Also where not all of those that tie fit, and whichever segments and threads they come from.
#[test]
fn hits_that_tie_come_as_whoever_shows_them_says() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = super::writer(dir.path(), 30_000_000, 1).unwrap();
    for segment in 0..5_u64 {
        // Each session has three passages of each time.
        let docs = (0..600).map(|at| {
            let key = ((at % 20) << 24) | (segment * 600 + at);
            doc(key, Class::Prose, (at % 4) as i64, &["common"])
        });
        writer.add(docs).unwrap();
        writer.commit(&segment.to_string()).unwrap();
    }
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    let (expr, scope) = (word("common"), Scope::default());
    // The other way round than their keys do.
    let ties = TieBreak {
        sessions: &|a, b| a.cmp(&b),
        hits: &|a, b| a.key.cmp(&b.key),
    };
    for order in [Order::Ranked, Order::Newest] {
        let first = |limit| {
            let found = search(Some(&words), None, Some(&expr), &scope, order, limit);
            let mut answer = found.unwrap();
            answer.settle(&ties);
            let hits = answer.hits.iter();
            let places = hits.map(|hit| (std::cmp::Reverse(hit.time_ms), hit.key));
            places.collect::<Vec<_>>()
        };
        let all = first(usize::MAX);
        assert_eq!(all.len(), 3_000);
        assert!(all.is_sorted(), "{order:?}");
        for limit in [1, 2, 3, 40, 149, 150, 151, 2_999, 3_000] {
            assert_eq!(first(limit), all[..limit], "{order:?}, {limit}");
        }
    }
}

/// Of very many that tie those that are shown are found without sorting the others, and none of
/// them is dropped before: who shows them may begin with any.
#[test]
fn of_very_many_that_tie_the_first_ones_are_found() {
    const MANY: u64 = 40_000;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = super::writer(dir.path(), 30_000_000, 1).unwrap();
    let docs = (0..MANY).map(|key| doc(key, Class::Prose, 1, &["common"]));
    writer.add(docs).unwrap();
    writer.commit("0").unwrap();
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    let (expr, scope) = (word("common"), Scope::default());
    // In no order that keys are in.
    let place = |key: u64| key.wrapping_mul(7_919) % MANY;
    for limit in [0, 1, 20] {
        let found = search(
            Some(&words),
            None,
            Some(&expr),
            &scope,
            Order::Newest,
            limit,
        );
        let (mut answer, asked) = (found.unwrap(), std::cell::Cell::new(0));
        answer.settle(&TieBreak {
            sessions: &|a, b| a.cmp(&b),
            hits: &|a, b| {
                asked.set(asked.get() + 1);
                place(a.key).cmp(&place(b.key))
            },
        });
        let places: Vec<_> = answer.hits.iter().map(|hit| place(hit.key)).collect();
        assert_eq!(places, (0..limit as u64).collect::<Vec<_>>());
        assert!(asked.get() < 8 * MANY, "{limit}: {}", asked.get());
    }
}

/// Adds so many segments of 50 passages, each with a commit of its own.
fn add(writer: &mut WordsWriter, segments: std::ops::Range<u64>) {
    for segment in segments {
        let docs = (0..50).map(|at| {
            let text = format!("common w{segment}x{at} y{at}");
            doc(segment * 50 + at, Class::Prose, at as i64, &[&text])
        });
        writer.add(docs).unwrap();
        writer.commit(&segment.to_string()).unwrap();
    }
}

/// Segments of words that hold all that was added in so many.
fn segments(dir: &Path, added: u64) -> usize {
    let words = Words::open(dir).unwrap();
    assert_eq!(newest(&words, &word("common")).total as u64, added * 50);
    assert_eq!(words.payload(), Some(&*(added - 1).to_string()));
    assert_eq!(words.damaged_files().unwrap(), [] as [String; 0]);
    words.searcher.segment_readers().len()
}

#[test]
fn what_was_added_is_merged_and_the_commit_stays() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert!(!is_merge_due(dir, Merge::All));
    let mut writer = super::writer(dir, 30_000_000, 1).unwrap();
    add(&mut writer, 0..20);
    assert_eq!(segments(dir, 20), 20, "nothing is merged unasked");
    writer.close().unwrap();
    assert!(is_merge_due(dir, Merge::Small));
    merge(dir, Merge::Small, &|| false).unwrap();
    assert_eq!(segments(dir, 20), 20, "it was not wanted any more");
    merge(dir, Merge::Small, &|| true).unwrap();
    assert_eq!(segments(dir, 20), 1);
    assert!(!is_merge_due(dir, Merge::All));
    // What goes on behind it is the next one of the same words.
    let mut writer = super::writer(dir, 30_000_000, 1).unwrap();
    writer.delete([(0, 49)], "20").unwrap();
    assert_eq!(writer.payload(), Some("20"));
}

#[test]
fn there_never_are_too_many_segments() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut writer = super::writer(dir, 1 << 20, 1).unwrap();
    let mut crowded = 0;
    for number in 0..45 {
        add(&mut writer, number..number + 1);
        assert!(segments(dir, number + 1) <= MOST_SEGMENTS);
        crowded += usize::from(writer.is_crowded().unwrap());
    }
    assert!(crowded > 0, "it is told before");
    writer.close().unwrap();
    // So many of them at once, as there is memory for a few passages only.
    let mut writer = super::writer(dir, 3_000, 1).unwrap();
    let mut adder = writer.adder().unwrap();
    for key in 2_250..4_750 {
        adder
            .add(&doc(key, Class::Prose, 0, &["common", &format!("w{key}")]))
            .unwrap();
    }
    let added = adder.finish().unwrap();
    assert!(added.len() > MOST_SEGMENTS, "{}", added.len());
    writer.take(added).unwrap();
    writer.commit("94").unwrap();
    assert!(segments(dir, 95) <= MOST_SEGMENTS);
    writer.close().unwrap();
    assert_eq!(
        all(&Words::open(dir).unwrap()),
        (0..4_750).collect::<Vec<_>>()
    );
}

/// Readers take no lock: what they open is one commit or another, whatever is merged meanwhile.
#[test]
fn words_are_opened_and_searched_while_they_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut writer = super::writer(dir, 30_000_000, 1).unwrap();
    std::thread::scope(|threads| {
        let merging = threads.spawn(|| {
            for round in 0..6 {
                add(&mut writer, round * 20..round * 20 + 20);
                writer.merge(Merge::All, &|| true).unwrap();
            }
        });
        while !merging.is_finished() {
            let Ok(words) = Words::open(dir) else {
                assert!(!exist(dir), "{:?}", Words::open(dir).err());
                continue;
            };
            let added = words
                .payload()
                .map_or(0, |last| last.parse::<u64>().unwrap() + 1);
            assert_eq!(newest(&words, &word("common")).total as u64, added * 50);
        }
    });
    assert!(segments(dir, 120) < 20);
}

#[test]
fn a_damaged_segment_is_not_merged_and_the_words_are_condemned() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut writer = super::writer(dir, 30_000_000, 1).unwrap();
    add(&mut writer, 0..20);
    writer.close().unwrap();
    let mut files = std::fs::read_dir(dir)
        .unwrap()
        .map(|file| file.unwrap().path());
    let stored = files.find(|path| path.extension().is_some_and(|kind| kind == "store"));
    let mut bytes = std::fs::read(stored.as_ref().unwrap()).unwrap();
    bytes[0] ^= 1;
    std::fs::write(stored.unwrap(), bytes).unwrap();
    let merged = merge(dir, Merge::All, &|| true);
    assert!(
        matches!(merged, Err(WordsError::Unreadable(_))),
        "{merged:?}"
    );
    assert!(condemned(dir).is_some());
}
