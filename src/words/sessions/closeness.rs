//! How near each other do the words of a passage stand?

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, Term};

use crate::model::Expr;
use crate::words::{WordsError, single_token};

/// The tokens of these words, where each is one and there are several; empty where how near they
/// stand is not asked.
pub(in crate::words) fn close_tokens(words: &[Expr]) -> Vec<String> {
    let tokens = words.iter().map(|word| match word {
        Expr::Word(text) => single_token(text),
        _ => None,
    });
    let tokens: Option<Vec<String>> = tokens.collect();
    tokens.filter(|tokens| tokens.len() > 1).unwrap_or_default()
}

/// How near each other words stand of which these are the positions, each ascending: their number
/// divided by the positions of the shortest stretch that holds one of each. 0 where one of them is
/// nowhere.
pub(in crate::words) fn closeness(words: &[impl AsRef<[u32]>]) -> f32 {
    if words.len() < 2 {
        return 0.0;
    }
    let mut next = vec![0; words.len()];
    let mut shortest = u32::MAX;
    loop {
        let (mut first, mut last) = ((u32::MAX, 0), 0);
        for (word, at) in next.iter().enumerate() {
            let Some(position) = words[word].as_ref().get(*at) else {
                return match shortest {
                    u32::MAX => 0.0,
                    _ => (words.len() as f32 / (shortest + 1) as f32).min(1.0),
                };
            };
            first = first.min((*position, word));
            last = last.max(*position);
        }
        shortest = shortest.min(last - first.0);
        next[first.1] += 1;
    }
}

/// The words of a query in one segment, with their positions.
pub(super) struct Positions {
    words: Vec<SegmentPostings>,
    found: Vec<Vec<u32>>,
}

impl Positions {
    /// `None` where the segment lacks one of the words.
    pub fn open(reader: &SegmentReader, words: &[Term]) -> Result<Option<Positions>, WordsError> {
        let mut postings = Vec::new();
        for word in words {
            let index = reader.inverted_index(word.field())?;
            let found = index.read_postings(word, IndexRecordOption::WithFreqsAndPositions)?;
            let Some(found) = found else {
                return Ok(None);
            };
            postings.push(found);
        }
        Ok(Some(Positions {
            found: vec![Vec::new(); postings.len()],
            words: postings,
        }))
    }

    /// How near each other they stand in a document, which no later one was asked before.
    pub fn closeness(&mut self, doc: u32) -> f32 {
        for (word, positions) in self.words.iter_mut().zip(&mut self.found) {
            if word.doc() < doc {
                word.seek(doc);
            }
            if word.doc() != doc {
                return 0.0;
            }
            word.positions(positions);
        }
        closeness(&self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::closeness;

    #[test]
    fn words_are_as_near_as_the_shortest_stretch_that_holds_them() {
        assert_eq!(closeness(&[&[3][..], &[4]]), 1.0);
        assert_eq!(closeness(&[&[9][..], &[8]]), 1.0, "in any order");
        assert_eq!(closeness(&[&[1, 20][..], &[10, 23]]), 0.5);
        assert_eq!(closeness(&[&[1, 7][..], &[2, 30], &[3, 8]]), 1.0);
        assert_eq!(closeness(&[&[5][..], &[5]]), 1.0, "one token for both");
        assert_eq!(closeness(&[&[5][..], &[]]), 0.0);
    }
}
