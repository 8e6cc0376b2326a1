//! Is a segment of ours what tantivy itself would have written?

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::queued::Queued;
use super::random::docs;
use crate::words::directory::IndexDirectory;
use crate::words::schema::{builder, schema};
use crate::words::{Doc, Words};

/// All terms with where they stand.
fn terms(dir: &std::path::Path) -> Vec<(u64, crate::model::Class, String)> {
    let words = Words::open(dir).unwrap();
    assert_eq!(words.damaged_files().unwrap(), [] as [String; 0]);
    let mut terms = words.terms().unwrap();
    terms.sort();
    terms
}

fn by_tantivy(dir: &std::path::Path, docs: &[Doc]) {
    let index = builder()
        .open_or_create(IndexDirectory::open(dir, false).unwrap())
        .unwrap();
    let mut writer = index
        .writer_with_num_threads::<Queued>(1, 50_000_000)
        .unwrap();
    for doc in docs {
        writer
            .add_document(Queued::new(doc.clone(), schema().1))
            .unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
}

#[test]
fn segments_hold_what_those_of_tantivy_hold() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    for round in 0..6 {
        let mut docs = docs(&mut random, 400);
        // Words that stand everywhere fill whole blocks; long texts fill whole chunks.
        for (number, doc) in docs.iter_mut().enumerate() {
            doc.pieces.push("everywhere ".repeat(1 + number % 7));
            if number % 50 == 0 {
                doc.pieces
                    .push(format!("fooBar_{number} v1.2.{number} ").repeat(900));
            }
        }
        let (theirs, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        by_tantivy(theirs.path(), &docs);
        // With little memory there are runs on the way, with less a run of each document, and
        // several segments.
        let memory = [1 << 30, 100_000, 20_000][round % 3];
        let mut writer = super::writer(ours.path(), memory, 1).unwrap();
        let mut adder = writer.adder().unwrap();
        let mut runs = 0;
        for doc in &docs {
            adder.add(doc).unwrap();
            runs = runs.max(adder.runs());
        }
        assert_eq!(runs > 1, memory < 1 << 30, "{runs} runs");
        writer.take(adder.finish().unwrap()).unwrap();
        writer.commit("1").unwrap();
        writer.close().unwrap();
        let segments = Words::open(ours.path())
            .unwrap()
            .searcher
            .segment_readers()
            .len();
        assert_eq!(segments > 1, memory < 100_000, "{segments} segments");
        assert_eq!(terms(ours.path()), terms(theirs.path()));
    }
}
