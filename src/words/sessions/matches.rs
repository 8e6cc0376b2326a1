//! Which passages of one segment hold which of the words, and how well?
//!
//! The postings of each word are read from the first to the last into arrays by document. That
//! takes a fraction of the time of asking all words again and again which has the next document.
//! Memory for documents that hold none of the words is never written, so it is not there.

use tantivy::query::Weight;
use tantivy::{DocId, SegmentReader};

use crate::words::WordsError;

/// The passages of one class in one segment, by their documents.
pub(super) struct Matches {
    /// BM25, summed over the words that a passage holds.
    bm25: Vec<f32>,
    /// Of each word, the passages that hold it.
    holders: Vec<DocBits>,
    /// The passages that hold any of the words, and that the filters leave.
    pub left: DocBits,
}

impl Matches {
    /// Ask all passages of a segment for words of these weights. None is left yet.
    pub fn read(reader: &SegmentReader, words: &[Box<dyn Weight>]) -> Result<Matches, WordsError> {
        let count = reader.max_doc();
        let mut bm25 = vec![0.0; count as usize];
        let mut holders = Vec::new();
        let mut is_damaged = false;
        for (at, word) in words.iter().enumerate() {
            let mut docs = DocBits::new(count);
            word.for_each(reader, &mut |doc, score| match bm25.get_mut(doc as usize) {
                Some(sum) => {
                    // Memory that is read before it is written for the first time costs twice.
                    *sum = if at == 0 { score } else { *sum + score };
                    docs.insert(doc);
                }
                None => is_damaged = true,
            })?;
            holders.push(docs);
        }
        if is_damaged {
            let what = "a word stands in a passage that does not exist";
            return Err(WordsError::Unreadable(what.to_owned()));
        }
        Ok(Matches {
            bm25,
            holders,
            left: DocBits::new(count),
        })
    }

    /// In how many groups the passages stand.
    pub fn groups(&self) -> usize {
        self.left.0.len()
    }

    /// Find the passages of a group that hold any of the words, and which words these are.
    pub fn read_group(&self, group: usize, found: &mut Group) {
        found.docs.clear();
        found.words.clear();
        let of_word = |docs: &DocBits| docs.0.get(group).copied().unwrap_or(0);
        found.words.extend(self.holders.iter().map(of_word));
        let any = found.words.iter().fold(0, |a, b| a | b);
        found.docs.extend(docs(group, any));
    }

    /// Which of the words a passage holds.
    pub fn held(&self, doc: DocId) -> impl Iterator<Item = usize> + '_ {
        let holders = self.holders.iter().enumerate();
        let holds = holders.filter(move |(_, docs)| docs.contains(doc));
        holds.map(|(word, _)| word)
    }

    /// The sum of the scores of these.
    #[inline]
    pub fn bm25(&self, doc: DocId) -> f32 {
        self.bm25.get(doc as usize).copied().unwrap_or(0.0)
    }
}

/// The passages of one group that hold any of the words.
#[derive(Default)]
pub(super) struct Group {
    pub docs: Vec<DocId>,
    /// Of each word, a bit for each document of the group that holds it.
    words: Vec<u64>,
}

impl Group {
    /// Which of the words one of its passages holds.
    #[inline]
    pub fn held(&self, doc: DocId, held: &mut Vec<usize>) {
        let bit = 1 << (doc % DocBits::GROUP);
        held.clear();
        for (word, docs) in self.words.iter().enumerate() {
            if docs & bit != 0 {
                held.push(word);
            }
        }
    }

    /// Of each word, whether one of these passages, which follow each other, holds it.
    pub fn holds(&self, docs: &[DocId]) -> impl Iterator<Item = bool> + '_ {
        let bit = |doc: &DocId| 1_u64 << (doc % DocBits::GROUP);
        let among = docs.iter().fold(0, |bits, doc| bits | bit(doc));
        self.words.iter().map(move |docs| docs & among != 0)
    }
}

/// A set of the documents of a segment.
pub(super) struct DocBits(Vec<u64>);

impl DocBits {
    /// So many documents stand in one number.
    const GROUP: u32 = u64::BITS;

    pub fn new(count: u32) -> DocBits {
        DocBits(vec![0; count.div_ceil(DocBits::GROUP) as usize])
    }

    #[inline]
    pub fn insert(&mut self, doc: DocId) {
        if let Some(group) = self.0.get_mut((doc / DocBits::GROUP) as usize) {
            *group |= 1 << (doc % DocBits::GROUP);
        }
    }

    fn contains(&self, doc: DocId) -> bool {
        let group = self.0.get((doc / DocBits::GROUP) as usize);
        group.is_some_and(|group| group & 1 << (doc % DocBits::GROUP) != 0)
    }

    /// Those from one document to another, both included.
    pub fn within(&self, first: DocId, last: DocId) -> impl Iterator<Item = DocId> + '_ {
        let groups = (first / DocBits::GROUP) as usize..=(last / DocBits::GROUP) as usize;
        let all = groups.flat_map(|group| docs(group, self.0.get(group).copied().unwrap_or(0)));
        all.filter(move |doc| (first..=last).contains(doc))
    }
}

/// The documents of a group that these bits stand for, ascending.
fn docs(group: usize, bits: u64) -> impl Iterator<Item = DocId> {
    let first = group as u32 * DocBits::GROUP;
    let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|bits| *bits != 0);
    let bits = std::iter::successors(Some(bits).filter(|bits| *bits != 0), rest);
    bits.map(move |bits| first + bits.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::DocBits;

    #[test]
    fn documents_come_in_order_and_only_those_within() {
        let mut bits = DocBits::new(200);
        for doc in [0, 5, 63, 64, 130, 199] {
            bits.insert(doc);
        }
        bits.insert(256);
        let within = |first, last| bits.within(first, last).collect::<Vec<_>>();
        assert_eq!(within(0, 199), [0, 5, 63, 64, 130, 199]);
        assert_eq!(within(1, 64), [5, 63, 64]);
        assert_eq!(within(65, 129), [0; 0]);
        assert_eq!(within(130, 1000), [130, 199]);
        assert!(bits.contains(63) && !bits.contains(62) && !bits.contains(256));
    }
}
