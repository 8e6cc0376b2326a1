//! Does what is read of a file belong to one state of it, whatever somebody does to it meanwhile?

use std::fs::{self, OpenOptions};
use std::io::Write;

use super::*;
use crate::format::pi::Pi;
use crate::model::Part;

/// Lines that make more than one chunk.
const MANY: usize = CHUNK_BYTES as usize / 1_000 + 200;

fn text(lines: usize) -> String {
    let long = "word ".repeat(200);
    let line = |n| format!("{{\"type\":\"custom\",\"id\":\"e{n}\",\"said\":\"{long}\"}}\n");
    (0..lines).map(line).collect()
}

/// What was read of a file of [`MANY`] lines while `meanwhile` was done to it between two chunks of
/// each reading.
struct Read {
    entries: usize,
    reads: usize,
    unproven: bool,
    changed_meanwhile: bool,
}

fn read_while(meanwhile: impl Fn(&Path)) -> Read {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("one.jsonl");
    fs::write(&path, text(MANY)).unwrap();
    let plan = Plan {
        root: 1,
        path: path.clone(),
        relative: "one.jsonl",
        place: "one.jsonl",
        part: Part::Main,
        unlisted: None,
        format: &Pi,
        known: None,
        checkpoint: None,
        size: 0,
        mtime_ns: 0,
        until: None,
    };
    let (mut cost, mut entries, mut unproven) = (Cost::default(), 0, false);
    let mut emit = |chunk: Chunk<Vec<EntryRow>>, _| {
        if chunk.forget_from == Some(0) {
            entries = 0;
            meanwhile(&path);
        }
        entries += chunk.entries.len();
        unproven = chunk.unproven;
    };
    let outcome = read_source(&plan, None, &mut Vec::new(), &mut cost, &mut emit).unwrap();
    let Outcome::Read { changed_meanwhile } = outcome else {
        unreachable!("nothing is known of it")
    };
    Read {
        entries,
        reads: cost.reads,
        unproven,
        changed_meanwhile,
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_read_again() {
    let cut = |path: &Path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(text(10).len() as u64).unwrap();
    };
    let read = read_while(cut);
    assert_eq!((read.entries, read.reads), (10, 2));
    assert!(!read.changed_meanwhile && !read.unproven);
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_once_and_proven_later() {
    let append = |path: &Path| {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(text(1).as_bytes()).unwrap();
    };
    let read = read_while(append);
    assert_eq!((read.entries, read.reads), (MANY + 1, 1));
    assert!(!read.changed_meanwhile && read.unproven);
}

#[test]
fn a_file_that_never_stands_still_is_told() {
    let cut = |path: &Path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(length - text(1).len() as u64).unwrap();
    };
    let read = read_while(cut);
    assert_eq!(read.reads, READS);
    assert!(read.changed_meanwhile);
}
