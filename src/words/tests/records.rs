//! Do the bytes of a record say "no" only where its text does?

use std::fs;
use std::path::Path;

use crate::format::{FORMATS, Format, Shape};
use crate::model::{Class, Expr};
use crate::words::matcher::Matcher;
use crate::words::prefilter::Prefilter;

/// So many of each piece are asked.
const PAIRS: usize = 50;

/// Whatever two words stand side by side in what a tool printed, the record may say so.
#[test]
fn words_side_by_side_in_output_are_so_in_the_record() {
    let mut pairs = 0;
    for format in FORMATS {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let fixtures = walkdir::WalkDir::new(fixtures.join(format.about().name));
        for file in fixtures.into_iter().filter_map(Result::ok) {
            if file.file_type().is_file() {
                let bytes = fs::read(file.path()).unwrap();
                let path = file.path();
                pairs += match format.shape_of(path) {
                    Shape::Lines => (bytes.split(|byte| *byte == b'\n'))
                        .map(|record| pairs_of(*format, path, record))
                        .sum(),
                    Shape::Document => pairs_of(*format, path, &bytes),
                    Shape::Text | Shape::Elements => 0,
                };
            }
        }
    }
    assert!(pairs > 700, "{pairs}");
}

/// How many pairs of words there were.
fn pairs_of(format: &dyn Format, path: &Path, record: &[u8]) -> usize {
    let mut pairs = 0;
    for passage in format.passages_at(path, record) {
        let pieces = passage.pieces;
        if passage.class != Class::Output {
            continue;
        }
        let words: Vec<Vec<&str>> = pieces
            .iter()
            .map(|p| p.split_whitespace().collect())
            .collect();
        for pair in words.iter().flat_map(|words| words.windows(2).take(PAIRS)) {
            let phrase = Expr::Phrase(format!("{} {}", pair[0], pair[1]));
            if Matcher::new(&phrase).matches(Class::Output, &pieces) {
                let may = Prefilter::new(Some(&phrase)).may_print(record);
                assert!(may, "{phrase:?} of {}: {pieces:?}", path.display());
                pairs += 1;
            }
        }
    }
    pairs
}
