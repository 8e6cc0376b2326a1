//! Are words with flipped bytes noticed when they are touched? Then the answer is complete all the
//! same, the next sync says why it rebuilds them, and what nobody touched `verify` reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::index::SearchScope;
use sessionary::model::{Report, SearchAnswer};
use sessionary::{Config, Freshness, GENERATION, Index, Indexer};

use super::damage::copy_all;
use super::dump::{clean, root};
use super::lines;

/// Syncs that each leave a segment or two; some are merged on the way.
const SEGMENTS: u32 = 15;

const QUERIES: [&str; 6] = [
    "walrus",
    "\"src/main.rs\"",
    "fooBar OR 検索",
    "wal*",
    "kind:message -walrus",
    "src role:user",
];

/// An index of many segments, and what it answers.
struct WholeIndex {
    place: tempfile::TempDir,
    config: Config,
}

impl WholeIndex {
    fn new(rng: &mut ChaCha8Rng) -> WholeIndex {
        let place = tempfile::tempdir().unwrap();
        let pi = place.path().join("pi");
        let config = Config::new(place.path().join("index"), vec![root("pi", "pi", &pi)]);
        let whole = WholeIndex { place, config };
        for number in 0..SEGMENTS {
            whole.write(rng, number);
            let report = whole.sync(&whole.config);
            assert_eq!(report.outstanding, 0);
        }
        whole
    }

    fn file(&self, number: u32) -> PathBuf {
        let folder = self.place.path().join("pi/--w--");
        fs::create_dir_all(&folder).unwrap();
        folder.join(format!("s{number}.jsonl"))
    }

    fn write(&self, rng: &mut ChaCha8Rng, number: u32) {
        let mut bytes = format!(
            r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"2026-02-05T09:00:00.000Z","cwd":"/w"}}"#
        )
        .into_bytes();
        bytes.push(b'\n');
        for id in 0..20 {
            bytes.extend(lines::pi(rng, number * 100 + id));
            bytes.push(b'\n');
        }
        fs::write(self.file(number), bytes).unwrap();
    }

    fn sync(&self, config: &Config) -> Report {
        Indexer::open(config).unwrap().sync().unwrap()
    }

    /// A copy of the index with some bytes flipped in a file of the words.
    fn damaged(&self, rng: &mut ChaCha8Rng, number: usize) -> (Config, String) {
        let config = Config {
            index_dir: self.place.path().join(format!("damaged{number}")),
            ..self.config.clone()
        };
        copy_all(&self.config.index_dir, &config.index_dir);
        let what = flip(&words(&config), rng);
        (config, what)
    }
}

fn words(config: &Config) -> PathBuf {
    config.index_dir.join(format!("v{GENERATION}/words"))
}

fn flip(words: &Path, rng: &mut ChaCha8Rng) -> String {
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(words).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Lock files are empty, and the list of files is only for deleting.
        if !name.starts_with('.') {
            let kind = name.rsplit('.').next().unwrap_or("").to_owned();
            kinds.entry(kind).or_default().push(path);
        }
    }
    kinds.values_mut().for_each(|paths| paths.sort());
    let kinds: Vec<&Vec<PathBuf>> = kinds.values().collect();
    let file = kinds
        .choose(rng)
        .and_then(|paths| paths.choose(rng))
        .unwrap();
    let mut bytes = fs::read(file).unwrap();
    let mut places = Vec::new();
    for _ in 0..*[1, 1, 4, 64].choose(rng).unwrap() {
        let at = rng.random_range(0..bytes.len());
        bytes[at] ^= rng.random_range(1..=255u8);
        places.push(at);
    }
    fs::write(file, bytes).unwrap();
    format!(
        "{} at {places:?}",
        file.file_name().unwrap().to_string_lossy()
    )
}

fn search(config: &Config, query: &str, newest_first: bool) -> SearchAnswer {
    let scope = SearchScope {
        newest_first,
        limit: Some(1000),
        ..SearchScope::default()
    };
    Index::open(config, Freshness::AsCommitted)
        .unwrap()
        .search(query, &scope)
        .unwrap()
}

fn addresses(answer: &SearchAnswer) -> Vec<String> {
    let hits = answer.sessions.iter().flat_map(|group| &group.hits);
    let mut all: Vec<String> = hits.map(|hit| hit.address.clone()).collect();
    all.sort();
    all
}

#[test]
fn flipped_bytes_in_the_words_are_noticed_on_touch() {
    let seed = super::variable("SESSIONARY_SEED").unwrap_or(5);
    let trials = super::variable("SESSIONARY_FLIPS").unwrap_or(12) as usize;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let whole = WholeIndex::new(&mut rng);
    let right: Vec<Vec<String>> = QUERIES
        .iter()
        .map(|query| addresses(&search(&whole.config, query, false)))
        .collect();
    assert!(right.iter().all(|found| !found.is_empty()));
    let (mut noticed, mut silent) = (0, 0);
    for trial in 0..trials {
        let (config, what) = whole.damaged(&mut rng, trial);
        let when = format!("SESSIONARY_SEED={seed}, trial {trial}: {what}");
        let mut said = None;
        for (query, right) in QUERIES.iter().zip(&right) {
            let answer = search(&config, query, trial % 2 == 0);
            if let Some(damage) = answer.words_damage {
                assert!(answer.complete, "{when}");
                assert_eq!(&addresses(&answer_of(&config, query)), right, "{when}");
                said = Some(damage);
            }
        }
        match said {
            Some(damage) => {
                noticed += 1;
                let verified = Index::open(&config, Freshness::AsCommitted)
                    .and_then(|index| index.verify())
                    .unwrap();
                let reported: Vec<&str> = verified
                    .differences
                    .iter()
                    .map(|d| d.what.as_str())
                    .collect();
                assert_eq!(reported, [damage.as_str()], "{when}");
                let report = whole.sync(&config);
                assert_eq!(
                    report.notes,
                    [format!("the words are rebuilt: {damage}")],
                    "{when}"
                );
            }
            None => {
                let verified = Index::open(&config, Freshness::AsCommitted)
                    .and_then(|index| index.verify())
                    .unwrap();
                // Not every byte says something: white space and versions in a footer, for one.
                if verified.differences.is_empty() {
                    silent += 1;
                    fs::remove_dir_all(&config.index_dir).unwrap();
                    continue;
                }
                // As if nobody had verified: writing touches the rest, an addition merges, a
                // deletion reads keys.
                let _ = fs::remove_file(words(&config).join("damaged"));
                let extra = whole.file(SEGMENTS + 1);
                whole.write(&mut rng, SEGMENTS + 1);
                whole.sync(&config);
                fs::remove_file(&extra).unwrap();
                whole.sync(&config);
                let left = Index::open(&config, Freshness::AsCommitted)
                    .and_then(|index| index.verify())
                    .unwrap();
                // What none of that touched is as it was, and told: then it is mended.
                if !left.differences.is_empty() {
                    assert_eq!(left.differences, verified.differences, "{when}");
                    whole.sync(&config);
                }
            }
        }
        clean(
            &Index::open(&config, Freshness::AsCommitted).unwrap(),
            &when,
        );
        fs::remove_dir_all(&config.index_dir).unwrap();
    }
    println!("{trials} damages: {noticed} noticed by a search, {silent} without meaning");
    assert!(noticed * 10 > trials, "{noticed} of {trials}");
    assert!(silent * 2 < trials, "{silent} of {trials}");
}

/// The files of the words whose names end so.
fn files(config: &Config, kind: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(words(config)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|of| of == kind))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Bytes at the end of a file of the words that say which version wrote it, their length and a
/// number that every file has: nothing of it that is another is missed.
fn footer(whole: &[u8]) -> usize {
    let (_, end) = whole.split_last_chunk::<8>().unwrap();
    u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize + end.len()
}

/// Flip a bit in so many places all over what a file says, one at a time, and let `ask` see each.
fn flip_all_over(config: &Config, file: &Path, places: usize, mut ask: impl FnMut(&str)) {
    let whole = fs::read(file).unwrap();
    let last = whole.len() - footer(&whole) - 1;
    for place in 0..places {
        let at = place * last / (places - 1);
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (place % 8);
        fs::write(file, bytes).unwrap();
        ask(&format!(
            "bit {} of byte {at} of {}",
            place % 8,
            file.display()
        ));
        let _ = fs::remove_file(words(config).join("damaged"));
    }
    fs::write(file, whole).unwrap();
}

#[test]
fn a_flipped_bit_in_the_columns_gives_no_other_entry() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let whole = WholeIndex::new(&mut rng);
    let config = &whole.config;
    let queries = ["walrus", "src role:user since:2020-01-01"];
    let right = queries.map(|query| addresses(&search(config, query, false)));
    assert!(right.iter().all(|found| !found.is_empty()));
    let (mut healed, mut asked) = (0, 0);
    for file in files(config, "fast").iter().take(2) {
        flip_all_over(config, file, 32, |when| {
            let (query, right) = (queries[asked % 2], &right[asked % 2]);
            let answer = search(config, query, asked % 3 == 0);
            assert_eq!(&addresses(&answer), right, "{when}: {query}");
            assert!(answer.complete, "{when}: {query}");
            healed += usize::from(answer.words_damage.is_some());
            asked += 1;
        });
    }
    assert_eq!(healed, asked, "all bits say something, or their sum does");
}

#[test]
fn what_is_shown_says_what_was_asked_for_whatever_the_index_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let whole = WholeIndex::new(&mut rng);
    let config = &whole.config;
    let queries = ["walrus", "kind:message -walrus"];
    let right = queries.map(|query| addresses(&search(config, query, false)));
    let mut healed = 0;
    let kinds = ["idx", "pos"].map(|kind| files(config, kind));
    for file in kinds.iter().flat_map(|files| files.iter().take(2)) {
        flip_all_over(config, file, 12, |when| {
            for (query, right) in queries.iter().zip(&right) {
                let answer = search(config, query, false);
                let found = addresses(&answer);
                let wrong = found.iter().find(|address| !right.contains(address));
                assert_eq!(wrong, None, "{when}: {query}");
                if answer.words_damage.is_some() {
                    assert_eq!(&found, right, "{when}: {query}");
                    healed += 1;
                }
            }
        });
    }
    assert!(healed > 0, "{healed}");
}

fn answer_of(config: &Config, query: &str) -> SearchAnswer {
    search(config, query, false)
}
