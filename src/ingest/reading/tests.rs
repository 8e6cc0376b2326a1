//! Does what is read of a file belong to one state of it, whatever somebody does to it meanwhile?

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::*;
use crate::archive;
use crate::catalogue::Catalogue;
use crate::catalogue::read::StoredSource;
use crate::catalogue::write::EntryRows;
use crate::format::Format;
use crate::format::pi::Dialect;
use crate::source::root::RootSpec;

/// Lines that make more than one chunk.
const MANY: usize = CHUNK_BYTES as usize / 1_000 + 200;

fn text(lines: usize) -> String {
    let long = "word ".repeat(200);
    let line = |n| format!("{{\"type\":\"custom\",\"id\":\"e{n:07}\",\"said\":\"{long}\"}}\n");
    (0..lines).map(line).collect()
}

/// A file in a folder of its own, and the catalogue that it is read into.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
    catalogue: Catalogue,
    root: i64,
    /// What it is called in the archive, if it is kept there.
    kept_as: Option<archive::SourcePath>,
}

/// What came of reading the file while `meanwhile` was done to it between two chunks of each
/// reading.
struct Read {
    /// How many entries the catalogue has of it.
    entries: usize,
    reads: usize,
    unproven: bool,
    revision: u32,
    outcome: std::io::Result<Outcome>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::in_memory().unwrap();
        let spec = RootSpec {
            flat: true,
            ..RootSpec::new("pi", folder.path().to_path_buf())
        };
        Place {
            root: catalogue.ensure_root(&spec).unwrap(),
            path: folder.path().join("one.jsonl"),
            catalogue,
            kept_as: None,
            _folder: folder,
        }
    }

    fn read_while(&self, meanwhile: impl Fn(&Path)) -> Read {
        let known = self.catalogue.known_sources(self.root).unwrap().pop();
        let checkpoint = |known: &StoredSource| self.catalogue.checkpoint(known.source).unwrap();
        let (path, name) = (self.path.clone().into(), "one.jsonl");
        let plan = SourcePlan {
            kept_as: self.kept_as.clone(),
            known: known.as_ref(),
            checkpoint: known.as_ref().and_then(checkpoint),
            ..SourcePlan::whole(self.root, path, name, name, &Dialect::PI)
        };
        let mut cost = Cost::default();
        let (mut unproven, mut revision) = (false, 0);
        let mut emit = |chunk: Chunk<EntryRows>, _| {
            self.catalogue.apply(&chunk, &Dialect::PI).unwrap();
            if chunk.forget_from.is_some() {
                meanwhile(&self.path);
            }
            (unproven, revision) = (chunk.unproven, chunk.revision);
        };
        let outcome = read_source(&plan, &mut Vec::new(), &mut cost, &mut emit);
        let source = self.catalogue.known_sources(self.root).unwrap()[0].source;
        let rows = self.catalogue.each_entry_of_source(source).unwrap();
        let entries = rows.map(Result::unwrap).count();
        Read {
            entries,
            reads: cost.reads,
            unproven,
            revision,
            outcome,
        }
    }
}

fn cut(path: &Path, lines: usize) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(text(lines).len() as u64).unwrap();
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_read_again() {
    let place = Place::new();
    fs::write(&place.path, text(MANY)).unwrap();
    let read = place.read_while(|path| cut(path, 10));
    assert!(matches!(read.outcome, Ok(Outcome::Read)));
    assert_eq!((read.entries, read.reads), (10, 2));
    assert_eq!(
        (read.unproven, read.revision),
        (false, Dialect::PI.about().revision)
    );
}

#[test]
fn a_file_that_is_cut_after_its_tail_was_proven_is_read_again() {
    let place = Place::new();
    fs::write(&place.path, text(50)).unwrap();
    assert_eq!(place.read_while(|_| {}).entries, 50);
    fs::write(&place.path, text(50 + MANY)).unwrap();
    let read = place.read_while(|path| cut(path, 10));
    assert!(matches!(read.outcome, Ok(Outcome::Read)));
    assert_eq!((read.entries, read.reads), (10, 2));
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_once_and_proven_later() {
    let place = Place::new();
    fs::write(&place.path, text(MANY)).unwrap();
    let read = place.read_while(|path| {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(text(1).as_bytes()).unwrap();
    });
    assert!(matches!(read.outcome, Ok(Outcome::Read)));
    assert_eq!((read.entries, read.reads), (MANY + 1, 1));
    assert_eq!(
        (read.unproven, read.revision),
        (true, Dialect::PI.about().revision)
    );
}

/// Its last bytes do not tell.
#[test]
fn a_kept_file_that_is_rewritten_and_grows_while_it_is_read_is_read_again() {
    for (is_kept, reads) in [(false, 1), (true, 2)] {
        let mut place = Place::new();
        place.kept_as = is_kept.then(|| archive::SourcePath {
            agent: "pi".into(),
            root: "/pi".into(),
            relative: "one.jsonl".into(),
        });
        fs::write(&place.path, text(MANY)).unwrap();
        let rewritten = text(MANY + 1).replacen("word", "WORD", 1);
        let once = Cell::new(true);
        let read = place.read_while(|path| {
            if once.take() {
                fs::write(path, &rewritten).unwrap();
            }
        });
        assert!(matches!(read.outcome, Ok(Outcome::Read)));
        assert_eq!((read.entries, read.reads), (MANY + 1, reads));
    }
}

#[test]
fn what_is_read_of_a_file_that_never_stands_still_proves_nothing() {
    let place = Place::new();
    fs::write(&place.path, text(MANY)).unwrap();
    let read = place.read_while(|path| {
        let length = fs::metadata(path).unwrap().len() as usize;
        cut(path, length / text(1).len() - 1);
    });
    let error = read.outcome.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    assert_eq!((read.reads, read.revision), (READS, NO_REVISION));
    // Nobody changes it any more.
    let read = place.read_while(|_| {});
    let lines = fs::read_to_string(&place.path).unwrap().lines().count();
    assert_eq!((read.entries, read.reads), (lines, 1));
}
