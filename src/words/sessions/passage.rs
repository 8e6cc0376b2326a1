//! A passage that holds some of the words.

use crate::model::{ARRIVAL_BITS, Class, Standing};
use crate::words::rank;
use crate::words::search::{Hit, SessionScore};
use crate::words::top::rounded;

/// A passage that holds some of the words, on its way to the evidence.
pub(super) struct Passage<'a> {
    pub key: u64,
    pub class: Class,
    pub standing: Standing,
    /// BM25, summed over the words that it holds.
    pub bm25: f32,
    /// Which of the words it holds.
    pub held: &'a [usize],
    pub place: Place,
    /// Looked up only where it matters.
    pub time_ms: &'a dyn Fn() -> Option<i64>,
}

/// Where a passage was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which part of what is searched; `None`: text that is not indexed yet.
    pub part: Option<u16>,
    /// The document, or which of the passages that are not indexed.
    pub number: u32,
}

/// What few passages are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Details {
    pub time_ms: Option<i64>,
    /// How near each other the words stand: 1 where they are next to each other, 0 where it is
    /// not known.
    pub closeness: f32,
}

/// A passage that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundPassage {
    pub key: u64,
    pub place: Place,
    bm25: f32,
    /// How many of the words it holds.
    held: u16,
    class: Class,
    standing: Standing,
}

impl FoundPassage {
    #[inline]
    pub fn new(passage: &Passage<'_>) -> FoundPassage {
        FoundPassage {
            key: passage.key,
            place: passage.place,
            bm25: passage.bm25,
            held: u16::try_from(passage.held.len()).unwrap_or(u16::MAX),
            class: passage.class,
            standing: passage.standing,
        }
    }

    pub fn session(&self) -> u64 {
        self.key >> ARRIVAL_BITS
    }

    /// Its score among those of one session, but for age, which makes it no more, and closeness.
    #[inline]
    pub fn base(&self, words: usize) -> f32 {
        self.bm25 * self.standing.weight() * self.share(words)
    }

    /// Whether it holds all of the words, where their positions are known.
    #[inline]
    pub fn may_be_close(&self, words: usize) -> bool {
        self.class == Class::Prose && usize::from(self.held) == words
    }

    /// Whether it is asked first how near each other the words stand.
    pub fn precedes(&self, other: &FoundPassage, words: usize) -> bool {
        let by_score = self.base(words).total_cmp(&other.base(words));
        by_score.then(self.key.cmp(&other.key)).is_ge()
    }

    /// Of so many words, how many it holds.
    fn share(&self, words: usize) -> f32 {
        f32::from(self.held) / words.max(1) as f32
    }

    /// Its score among those of one session.
    pub fn score(&self, words: usize, details: Details, now_ms: i64) -> f32 {
        let recency = rank::recency(details.time_ms, now_ms);
        rounded(self.base(words) * recency * (1.0 + details.closeness))
    }

    /// Its score at the least and at the most, whatever its details are.
    pub fn bounds(&self, words: usize) -> (f32, f32) {
        let base = self.base(words);
        let closeness = f32::from(u8::from(self.may_be_close(words)));
        (
            rounded(base * rank::LASTING),
            rounded(base * (1.0 + closeness)),
        )
    }

    /// It as a hit of a session with this score.
    pub fn hit(&self, words: usize, details: Details, session: SessionScore) -> Hit {
        Hit {
            key: self.key,
            class: self.class,
            score: session.score,
            bm25: rounded(self.bm25),
            standing: self.standing,
            time_ms: details.time_ms,
            needs_check: false,
            session: Some(SessionScore {
                share: self.share(words),
                closeness: details.closeness,
                ..session
            }),
        }
    }
}
