//! Is there any input on which reading panics, hangs, or gives what it should not? Mutated
//! fixtures, by seeds.
//!
//! The targets are those of `fuzz/`, where cargo-fuzz runs them guided by coverage.
//! `SESSIONARY_SEED=N` replays, or begins there:
//!
//! ```sh
//! SESSIONARY_SEED=$(date +%s) SESSIONARY_FUZZ=10000000 cargo test --release fuzzing -- --nocapture
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[path = "fuzzing/reference.rs"]
mod reference;
#[path = "fuzzing/targets.rs"]
mod targets;

/// Executions of each target in every run of the tests.
const USUAL: u64 = 6_000;

/// Pieces of what is read, good and bad.
const TOKENS: [&[u8]; 50] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude00",
    b"\\u0000",
    b"\n",
    b"\r\n",
    b"\0\0\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xed\xa0\x80",
    b"1e400",
    b"-0",
    b"0.1e-7",
    b"01",
    b"9007199254740993",
    b"null",
    b"true",
    b"{\"type\":\"message\"",
    b"\"type\":\"session\"",
    b"\"id\":1",
    b"\"timestamp\":\"2026-13-45T99:00:00Z\"",
    b"\"content\":[{\"type\":\"text\",\"text\":\"x\"}]",
    b"\"role\":\"user\"",
    b"\"__proto__\":1",
    b"\"message\":null",
    b"AND",
    b" OR ",
    b"NOT ",
    b"role:",
    b"since:2w",
    b"/a(b/",
    b"\"a b\"",
    b"*x*",
    b"y~",
    b"-",
    b"()",
    b" | ",
    b"!",
    "“".as_bytes(),
    "’".as_bytes(),
    b"'",
    b"user:x",
];

fn corpus(extensions: &[&str]) -> Vec<Vec<u8>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut corpus = Vec::new();
    for entry in walkdir::WalkDir::new(fixtures)
        .sort_by_file_name()
        .into_iter()
        .flatten()
    {
        let is_one = entry
            .path()
            .extension()
            .is_some_and(|kind| extensions.iter().any(|of| kind == *of));
        if is_one
            && entry.file_name() != "expected.json"
            && entry.metadata().is_ok_and(|m| m.len() < 64 << 10)
        {
            corpus.push(std::fs::read(entry.path()).unwrap());
        }
    }
    assert!(corpus.len() > 50, "{}", corpus.len());
    corpus
}

/// Queries that are right, to be made wrong.
fn queries() -> Vec<Vec<u8>> {
    let queries = [
        "tokenizer bug",
        "\"off by one\" -test role:user",
        "fold OR (unfold AND a)",
        "tok* tokenzier~ *midd*",
        "/error\\[E\\d+\\]/i",
        "name:\"release notes\" since:2w until:2026-10-05T14:30",
        "-is:branch has:image is:error label:x",
        "http://x std::io foo\\:bar",
        "日本語 \"検索 語\"",
        "model:a,b provider:\"c d\"",
        "a | !b ‘c d’ *e f* last week sinec:2w",
    ];
    queries
        .iter()
        .map(|query| query.as_bytes().to_vec())
        .collect()
}

fn mutate(rng: &mut ChaCha8Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus.choose(rng).unwrap().clone();
    if rng.random_ratio(1, 2) && bytes.len() > 400 {
        // A few lines: what is long is slow, and not more.
        let from = rng.random_range(0..bytes.len() - 300);
        bytes = bytes[from..(from + rng.random_range(1..4000)).min(bytes.len())].to_vec();
    }
    for _ in 0..rng.random_range(1..8) {
        let at = rng.random_range(0..=bytes.len());
        let to = (at + rng.random_range(0..40)).min(bytes.len());
        match rng.random_range(0..7) {
            0 => bytes
                .splice(at..at, TOKENS.choose(rng).unwrap().iter().copied())
                .for_each(drop),
            1 => drop(bytes.drain(at..to)),
            2 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            3 if at < bytes.len() => bytes[at] = rng.random(),
            4 => {
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            5 => {
                let other = corpus.choose(rng).unwrap();
                let from = rng.random_range(0..=other.len());
                let piece = other[from..(from + 60).min(other.len())].to_vec();
                bytes.splice(at..to, piece);
            }
            _ => bytes.truncate(bytes.len() - rng.random_range(0..=bytes.len().min(50))),
        }
    }
    bytes
}

fn fuzz(name: &str, corpus: &[Vec<u8>], target: fn(&[u8])) {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|value| value.parse::<u64>().unwrap())
    };
    let first = variable("SESSIONARY_SEED");
    let many = variable("SESSIONARY_FUZZ").unwrap_or(if first.is_some() { 1 } else { USUAL });
    let first = first.unwrap_or(0);
    let mut bytes = 0;
    for seed in first..first + many {
        let input = mutate(&mut ChaCha8Rng::seed_from_u64(seed), corpus);
        bytes += input.len();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            eprintln!(
                "{name}: SESSIONARY_SEED={seed}: {:?}",
                String::from_utf8_lossy(&input)
            );
            resume_unwind(panic);
        }
    }
    println!("{name}: {many} executions, {bytes} bytes");
}

#[test]
fn any_bytes_are_cut_and_read() {
    fuzz("formats", &corpus(&["jsonl", "json"]), targets::formats);
}

#[test]
fn lenient_json_is_that_of_javascript() {
    let lines: Vec<Vec<u8>> = corpus(&["jsonl", "json"])
        .iter()
        .flat_map(|file| {
            file.split(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        })
        .filter(|line| line.len() < 2000)
        .collect();
    fuzz("json", &lines, targets::json);
}

#[test]
fn any_query_has_an_answer_or_an_error_that_points_into_it() {
    fuzz("query", &queries(), targets::query);
}
