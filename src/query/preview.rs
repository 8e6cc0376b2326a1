//! What does an entry say, on one line? `preview(entry)` in SQL.

use std::path::Path;

use super::masked::mask_pieces;
use crate::catalogue::Preview;
use crate::format::Format;
use crate::model::Mask;

/// Characters of a preview.
const LONGEST: usize = 200;

/// Previews of entries of these formats, masked before they are cut.
pub(crate) fn preview(formats: Vec<&'static dyn Format>, mask: Option<&Mask>) -> Preview {
    let mask = mask.cloned();
    let line = move |format: &dyn Format, path: &Path, record: &[u8]| {
        let mut pieces: Vec<String> = format
            .passages_at(path, record)
            .into_iter()
            .flat_map(|passage| passage.pieces)
            .collect();
        if let Some(mask) = &mask {
            mask_pieces(record, pieces.iter_mut(), mask);
        }
        let words = pieces.iter().flat_map(|piece| piece.split_whitespace());
        first_words(words, LONGEST)
    };
    Preview {
        formats,
        line: Box::new(line),
    }
}

/// The words on one line, in so many characters at most.
pub(super) fn first_words<'a>(words: impl Iterator<Item = &'a str>, most: usize) -> String {
    let mut line = String::new();
    let mut characters = 0;
    for word in words {
        let blank = (!line.is_empty()).then_some(' ');
        for character in blank.into_iter().chain(word.chars()) {
            if characters == most {
                line.push('…');
                return line;
            }
            line.push(character);
            characters += 1;
        }
    }
    line
}
