//! Are the synthetic sessions what they claim to be: valid, repeatable, with the measured shares?

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../benches/corpus.rs"]
mod generator;
pub use generator::{COMMON, PHRASE, RARE, Spec, appended_line, write};

fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            all.push((path.strip_prefix(root).unwrap().to_owned(), bytes));
        }
    }
    all.sort();
    all
}

#[test]
fn the_same_arguments_give_the_same_valid_sessions() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spec = Spec {
        bytes: 3_000_000,
        files: 9,
        seed: 7,
    };
    let written = write(one.path(), spec).unwrap();
    assert_eq!(written, write(two.path(), spec).unwrap());
    let files = files(one.path());
    assert_eq!(files, self::files(two.path()));
    assert_eq!(files.len(), 9);

    let (mut lines, mut rare, mut bytes) = (0, 0, 0);
    for (path, content) in &files {
        let text = std::str::from_utf8(content).unwrap();
        assert!(text.ends_with('\n'), "{}", path.display());
        bytes += content.len() as u64;
        let mut ids = HashSet::new();
        for (at, line) in text.lines().enumerate() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            lines += 1;
            rare += line.matches(RARE).count() as u64;
            assert_eq!(at == 0, entry["type"] == "session");
            let time: jiff::Timestamp = entry["timestamp"].as_str().unwrap().parse().unwrap();
            if entry["type"] == "message" {
                assert_eq!(entry["message"]["timestamp"], time.as_millisecond());
            }
            if let Some(parent) = entry["parentId"].as_str() {
                assert!(ids.contains(parent), "parent {parent} before its child");
            }
            ids.insert(entry["id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!((lines, bytes), (written.lines, written.bytes));
    assert_eq!((rare, written.rare_entries), (3, 3));
    assert!((2_700_000..3_600_000).contains(&bytes), "{bytes}");
}

#[test]
fn another_seed_gives_other_sessions() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spec = Spec {
        bytes: 40_000,
        files: 2,
        seed: 1,
    };
    write(one.path(), spec).unwrap();
    write(two.path(), Spec { seed: 2, ..spec }).unwrap();
    assert_ne!(files(one.path()), files(two.path()));
}

#[test]
fn shares_are_those_of_the_measured_corpus() {
    let root = tempfile::tempdir().unwrap();
    let written = write(
        root.path(),
        Spec {
            bytes: 12_000_000,
            files: 6,
            seed: 3,
        },
    )
    .unwrap();
    for ((name, wanted), bytes) in generator::SHARES.iter().zip(written.shares) {
        let share = bytes as f64 / written.bytes as f64;
        assert!(
            (share / wanted - 1.0).abs() < 0.5,
            "{name}: {share:.3}, wanted {wanted}"
        );
    }

    let files = files(root.path());
    let lines = |word: &str| {
        let lines = files
            .iter()
            .flat_map(|(_, content)| std::str::from_utf8(content).unwrap().lines());
        lines.filter(|line| line.contains(word)).count() as f64 / written.lines as f64
    };
    // About 0.4 and 0.005 of all entries in the measured corpus.
    assert!((0.2..0.7).contains(&lines(COMMON)), "{}", lines(COMMON));
    assert!((0.001..0.01).contains(&lines(PHRASE)), "{}", lines(PHRASE));
}

#[test]
fn an_appended_line_is_one_user_message() {
    let line = generator::appended_line(7, "word");
    assert!(line.ends_with('\n') && !line.trim_end().contains('\n'));
    let entry: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(entry["message"]["role"], "user");
    assert_eq!(
        entry["message"]["content"][0]["text"],
        "appended later: word"
    );
}
