//! Random passages and expressions: index, overlay, matcher and prefilter against the oracle.

use std::collections::{BTreeMap, BTreeSet};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::index::doc;
use super::{oracle, overlaid};
use crate::model::{Class, Expr};
use crate::words::prefilter::Prefilter;
use crate::words::tokenizer::segment;
use crate::words::{Doc, Hit, Matcher, Order, Scope, Words, search};

/// Short and few, so that random texts meet; every rule of the tokenizer has some.
const ATOMS: &[&str] = &[
    "a",
    "b",
    "A",
    "B",
    "foo",
    "Foo",
    "FOO",
    "HTTP",
    "1",
    "2",
    "v1",
    "V",
    ",",
    "'",
    "234",
    "567",
    ",234",
    "_567",
    "++",
    "+",
    "#",
    "(",
    "c",
    "b3",
    ".js",
    "js",
    " .",
    "_",
    "__",
    ".",
    ".",
    "-",
    "/",
    " ",
    " ",
    " ",
    "::",
    "日",
    "本",
    "語",
    "日本",
    "か",
    "が",
    "か\u{3099}",
    "\u{3099}",
    "\u{309A}",
    "ハ",
    "ﾊ",
    "ﾟ",
    "각",
    "ᄀ",
    "ᅡ",
    "ᆨ",
    "é",
    "e\u{301}",
    "É",
    "ß",
    "ẞ",
    "İ",
    "ı",
    "Σ",
    "ς",
    "ﬁ",
    "Ａ",
    "ａ",
    "１",
    "＿",
    "．",
    "\u{AD}",
    "\u{200D}",
    "\u{FE0F}",
    "\u{200B}",
    "🎉",
    "—",
    "½",
    "²",
    "K",
    "ǅ",
    "क्या",
    "ก็",
    "س",
    "≠",
    "\u{301}",
    "豈",
    "\u{fffd}",
    "\n",
    "\"",
    "\\",
    "\\n",
    "\\tb",
    "n",
    "rFoo",
];

fn text(random: &mut ChaCha8Rng, most: usize) -> String {
    let length = random.random_range(0..=most);
    let mut text = String::new();
    for _ in 0..length {
        if random.random_ratio(1, 150) {
            let long = ["x", "xY", "é", "7", "日", "1."].choose(random).unwrap();
            text.push_str(&long.repeat(random.random_range(20..140)));
        } else {
            text.push_str(ATOMS.choose(random).unwrap());
        }
    }
    text
}

fn atom(random: &mut ChaCha8Rng, docs: &[Doc]) -> Expr {
    // Half of the queries are cut from a passage, so that they find something.
    let text = if random.random_bool(0.5) {
        text(random, 4)
    } else {
        let pieces = &docs.choose(random).unwrap().pieces;
        let piece: Vec<char> = pieces
            .choose(random)
            .map_or(Vec::new(), |piece| piece.chars().collect());
        let start = random.random_range(0..=piece.len());
        let end = (start + random.random_range(1..10)).min(piece.len());
        piece[start..end].iter().collect()
    };
    match random.random_range(0..10) {
        9 => Expr::Longer(text),
        0 | 1 => Expr::Word(text),
        2 | 3 => Expr::Phrase(text),
        4 | 5 => Expr::Prefix(text),
        6 => Expr::Near(text),
        // Case folds differ where one letter becomes several; what is asked is one of the engine.
        7 if !text.is_empty() && !text.contains(['İ', 'ß', 'ﬁ', 'ǅ']) => Expr::Substring(text),
        _ => Expr::Regex(format!(
            "{}{}",
            ["", "(?i)", "^", r"\b"].choose(random).unwrap(),
            regex::escape(&text).replace('a', "(a|b+)")
        )),
    }
}

fn expr(random: &mut ChaCha8Rng, docs: &[Doc], depth: usize) -> Expr {
    if depth == 0 || random.random_bool(0.5) {
        return atom(random, docs);
    }
    let count = random.random_range(0..4);
    let mut members = || (0..count).map(|_| expr(random, docs, depth - 1)).collect();
    match count {
        0 => Expr::Not(Box::new(atom(random, docs))),
        1 => Expr::Not(Box::new(Expr::Or(members()))),
        2 => Expr::Or(members()),
        _ => Expr::And(members()),
    }
}

pub fn docs(random: &mut ChaCha8Rng, count: u64) -> Vec<Doc> {
    (0..count)
        .map(|key| {
            let class = if random.random_bool(0.5) {
                Class::Prose
            } else {
                Class::Output
            };
            let pieces: Vec<String> = (0..random.random_range(1..4))
                .map(|_| text(random, 12))
                .collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            // Keys of two sessions, times with ties.
            let time = random.random_range(0..20);
            Doc {
                is_name: key % 5 == 0,
                ..doc((key % 2) << 24 | key, class, time, &pieces)
            }
        })
        .collect()
}

#[test]
fn tokens_are_those_of_the_rules() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..40_000 {
        let text = text(&mut random, 10);
        let mut found = Vec::new();
        let mut last = 0;
        let positions = segment(&text, |token| {
            assert!(token.position >= last, "{text:?}: positions go back");
            assert!(
                token.text.len() <= 128 && token.start < token.end,
                "{text:?}: {token:?}"
            );
            assert!(
                text.get(token.start..token.end).is_some(),
                "{text:?}: {token:?}"
            );
            last = token.position;
            found.push((token.position, token.text.to_owned()));
        });
        let mut expected = oracle::read(&text);
        found.sort();
        expected.tokens.sort();
        assert_eq!(found, expected.tokens, "{text:?}");
        assert_eq!(positions, expected.positions, "{text:?}");
    }
}

/// A JSON string, escaped in one of the ways that are allowed.
fn json(random: &mut ChaCha8Rng, pieces: &[String]) -> Vec<u8> {
    let mut raw = b"{\"text\":[".to_vec();
    let escape = random.random_ratio(1, 4);
    let colours = random.random_ratio(1, 8);
    for piece in pieces {
        raw.push(b'"');
        for character in piece.chars() {
            // As if they were not there.
            if colours && random.random_ratio(1, 6) {
                let unseen: &[&[u8]] = &[
                    b"\\u001b[31m",
                    b"\\u001B[m",
                    b"\x1b[0m",
                    b"\\u001b]0;x\\u0007",
                ];
                raw.extend(*unseen.choose(random).unwrap());
            }
            match character {
                '"' => raw.extend(b"\\\""),
                '\\' => raw.extend(b"\\\\"),
                '\n' => raw.extend(b"\\n"),
                '/' if escape => raw.extend(b"\\/"),
                _ if escape && random.random_ratio(1, 20) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        raw.extend(format!("\\u{unit:04x}").into_bytes());
                    }
                }
                '\u{fffd}' => raw.push(0xFF),
                _ => raw.extend(character.to_string().into_bytes()),
            }
        }
        raw.extend(b"\",");
    }
    raw.extend(b"null]}");
    raw
}

#[test]
fn matcher_and_prefilter_say_what_the_oracle_says() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut matched, mut refused, mut pairs) = (0, 0, 0);
    for _ in 0..30 {
        let docs = docs(&mut random, 60);
        let tokens: Vec<_> = docs
            .iter()
            .map(|doc| oracle::read_pieces(&doc.pieces))
            .collect();
        let raws: Vec<_> = docs
            .iter()
            .map(|doc| json(&mut random, &doc.pieces))
            .collect();
        for _ in 0..60 {
            let expr = expr(&mut random, &docs, 2);
            let matcher = Matcher::new(&expr);
            let filter = Prefilter::new(Some(&expr));
            for ((doc, tokens), raw) in docs.iter().zip(&tokens).zip(&raws) {
                let expected = oracle::holds(&expr, doc.class, tokens, &doc.pieces);
                assert_eq!(
                    matcher.matches(doc.class, &doc.pieces),
                    expected,
                    "{expr:?} on {:?}",
                    doc.pieces
                );
                let may = filter.may_match(raw, true);
                assert!(
                    may || !expected,
                    "{expr:?} on {:?}",
                    String::from_utf8_lossy(raw)
                );
                assert!(
                    filter.may_print(raw) || !expected,
                    "{expr:?} on {:?}",
                    String::from_utf8_lossy(raw)
                );
                assert!(
                    filter.may_say(&doc.pieces) || !expected,
                    "{expr:?} on {:?}",
                    doc.pieces
                );
                pairs += 1;
                matched += usize::from(expected);
                refused += usize::from(!may);
            }
        }
    }
    assert!(
        matched * 10 > pairs && refused * 20 > pairs,
        "{matched} and {refused} of {pairs}"
    );
}

#[test]
fn disk_and_overlay_find_what_the_oracle_finds() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let mut found = 0;
    for round in 0..6 {
        let docs = docs(&mut random, 150);
        let tokens: Vec<_> = docs
            .iter()
            .map(|doc| oracle::read_pieces(&doc.pieces))
            .collect();
        let queries: Vec<_> = (0..60).map(|_| expr(&mut random, &docs, 2)).collect();
        for on_disk in [0, 30, 100] {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = super::writer(dir.path(), 15_000_000, 1).unwrap();
            let mut adder = writer.adder().unwrap();
            let mut rest = Vec::new();
            for doc in &docs {
                if random.random_ratio(on_disk, 100) {
                    adder.add(doc).unwrap();
                    if random.random_ratio(1, 30) {
                        let added = std::mem::replace(&mut adder, writer.adder().unwrap());
                        writer.take(added.finish().unwrap()).unwrap();
                        writer.commit("some").unwrap();
                    }
                } else {
                    rest.push(doc.clone());
                    // A stale text on disk under the same key must not count.
                    if random.random_ratio(1, 10) {
                        let mut stale = doc.clone();
                        stale.pieces = vec!["foo a b 日本 1".into()];
                        adder.add(&stale).unwrap();
                    }
                }
            }
            writer.take(adder.finish().unwrap()).unwrap();
            writer.commit("all").unwrap();
            writer.close().unwrap();
            let words = Words::open(dir.path()).unwrap();
            for expr in &queries {
                let expected: BTreeSet<u64> = docs
                    .iter()
                    .zip(&tokens)
                    .filter(|(doc, tokens)| oracle::holds(expr, doc.class, tokens, &doc.pieces))
                    .map(|(doc, _)| doc.key)
                    .collect();
                let scope = Scope::default();
                let asked = |order| {
                    overlaid(&rest, Some(expr), &scope, |overlay| {
                        search(Some(&words), Some(overlay), Some(expr), &scope, order, 1000)
                            .unwrap()
                    })
                };
                // However the passages are divided, and in either order, the same ones.
                for order in [Order::Newest, Order::Ranked] {
                    let answer = asked(order);
                    assert_eq!(answer.total, answer.hits.len());
                    let found_keys: BTreeSet<u64> = answer
                        .hits
                        .iter()
                        .filter(|hit| holds(hit, expr, &docs))
                        .map(|hit| hit.key)
                        .collect();
                    assert_eq!(found_keys, expected, "round {round}, {on_disk} %: {expr:?}");
                    found += expected.len();
                    let times: Vec<_> = answer
                        .hits
                        .iter()
                        .map(|hit| (hit.time_ms, hit.key))
                        .collect();
                    if order == Order::Newest {
                        assert!(times.is_sorted_by(|a, b| a > b), "{times:?}");
                    }
                }
            }
        }
    }
    assert!(found > 10_000, "only {found} hits tested");
}

/// Whether a hit is one, asked of the text where the index is not certain.
fn holds(hit: &Hit, expr: &Expr, docs: &[Doc]) -> bool {
    let doc = docs.iter().find(|doc| doc.key == hit.key).unwrap();
    assert_eq!((doc.class, doc.time_ms), (hit.class, hit.time_ms));
    !hit.needs_check || Matcher::new(expr).matches(doc.class, &doc.pieces)
}

#[test]
fn a_few_passages_in_the_overlay_score_nearly_as_on_disk() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let mut compared = 0;
    for round in 0..6 {
        let docs = docs(&mut random, 150);
        // What only the text tells is not asked of the disk.
        let queries: Vec<_> = std::iter::repeat_with(|| expr(&mut random, &docs, 2))
            .filter(|expr| !expr.reads_text())
            .take(60)
            .collect();
        let mut scores: Vec<BTreeMap<u64, f32>> = vec![BTreeMap::new(); queries.len()];
        for on_disk in [100, 96, 40, 0] {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = super::writer(dir.path(), 15_000_000, 1).unwrap();
            let (disk, rest): (Vec<Doc>, Vec<Doc>) = docs
                .iter()
                .cloned()
                .partition(|_| random.random_ratio(on_disk, 100));
            // In a few segments.
            for some in disk.chunks(40) {
                writer.add(some.iter().cloned()).unwrap();
                writer.commit("some").unwrap();
            }
            writer.commit("all").unwrap();
            writer.close().unwrap();
            let words = Words::open(dir.path()).unwrap();
            for (number, expr) in queries.iter().enumerate() {
                let scope = Scope::default();
                let answer = overlaid(&rest, Some(expr), &scope, |overlay| {
                    let disk = Some(&words);
                    search(disk, Some(overlay), Some(expr), &scope, Order::Ranked, 1000).unwrap()
                });
                let found: BTreeMap<u64, f32> = answer
                    .hits
                    .iter()
                    .filter(|hit| holds(hit, expr, &docs))
                    .map(|hit| (hit.key, hit.score))
                    .collect();
                if on_disk == 100 {
                    scores[number] = found;
                    continue;
                }
                let keys = |scores: &BTreeMap<u64, f32>| scores.keys().copied().collect::<Vec<_>>();
                assert_eq!(keys(&scores[number]), keys(&found));
                if on_disk < 95 {
                    continue;
                }
                for (key, score) in found {
                    let before = scores[number][&key];
                    assert!(
                        (before - score).abs() < 0.1 * before + 0.1,
                        "round {round}: {expr:?} scores {before} and {score} on {key}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 5_000, "only {compared} scores compared");
}
