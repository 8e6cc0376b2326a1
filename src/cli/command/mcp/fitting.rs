//! Is what was found an answer at all?
//!
//! A long session holds half of the words of nearly any question, somewhere. So an answer is a
//! session that holds enough of them, and most of them in one place.

use sessionary::Error;
use sessionary::index::{Highlighter, ShowScope};
use sessionary::model::{HitGroup, SearchAnswer};
use sessionary::syntax::{self, Now};

use super::tools::{Call, MASK};

/// Of the words that tell something, as far as any session holds them, a session must hold this
/// part to be an answer. What only tools printed counts half.
const FLOOR: f32 = 0.5;
/// A place is an entry with so many before it, and so many behind it.
const BESIDE: usize = 3;
/// Of all words, one place of a session must hold more than this part. A session that is no longer
/// than a place is one.
const PLACE: f32 = 2.0 / 3.0;

/// What tells whether a session is an answer to a question.
pub struct Floor<'a> {
    call: &'a Call,
    words: Vec<Option<Highlighter>>,
}

/// What an answer has for a question.
#[derive(Default)]
pub struct Fitting<'a> {
    pub sessions: Vec<&'a HitGroup>,
    /// They hold enough of the words, but scattered.
    pub near: Vec<&'a HitGroup>,
}

impl Floor<'_> {
    /// Of a question of these words.
    pub fn new<'a>(call: &'a Call, words: &[String]) -> Floor<'a> {
        let read = |word: &String| syntax::parse(word, Now::utc(call.screen.now_ms)).ok();
        let words = words.iter().map(|word| Highlighter::new(&read(word)?));
        Floor {
            call,
            words: words.collect(),
        }
    }

    /// The sessions of an answer that are answers, and those that only come near.
    pub fn fitting<'a>(&self, answer: &'a SearchAnswer) -> Result<Fitting<'a>, Error> {
        let mut fitting = Fitting::default();
        let missing = answer.missing.len();
        if missing > 0 && 2 * missing >= self.words.len() {
            return Ok(fitting);
        }
        for group in &answer.sessions {
            if evidence(group) >= FLOOR {
                match self.is_in_one_place(group)? {
                    true => fitting.sessions.push(group),
                    false => fitting.near.push(group),
                }
            }
        }
        Ok(fitting)
    }

    fn is_in_one_place(&self, group: &HitGroup) -> Result<bool, Error> {
        if group.session.entries <= 2 * BESIDE as u64 + 1 {
            return Ok(true);
        }
        for hit in &group.hits {
            let explained = hit.explanation.as_ref();
            // Where a passage has all of the words there is no such figure.
            let alone = explained.and_then(|explanation| explanation.session);
            if alone.map_or(1.0, |session| session.share) > PLACE
                || self.held_around(group, &hit.entry)? > PLACE
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many of the words stand in an entry or beside it, as a part of all.
    fn held_around(&self, group: &HitGroup, entry: &str) -> Result<f32, Error> {
        let scope = ShowScope {
            entry: Some(entry.to_owned()),
            context: BESIDE,
            mask: Some(MASK),
            ..ShowScope::default()
        };
        let around = self.call.index.show(&group.session, &scope)?;
        let texts = around.entries.iter().flat_map(|entry| &entry.text);
        let texts = texts.flat_map(|(class, pieces)| pieces.iter().map(|piece| (*class, piece)));
        let texts: Vec<_> = texts.collect();
        let stands = |word: &&Highlighter| {
            let mut texts = texts.iter();
            texts.any(|(class, text)| !word.marks(*class, text).is_empty())
        };
        let held = self.words.iter().flatten().filter(stands).count();
        Ok(held as f32 / self.words.len() as f32)
    }
}

/// How much of what was asked a session holds, by how rare the words are: from 0 to 1.
fn evidence(group: &HitGroup) -> f32 {
    let explained = group.hits.iter();
    let explained = explained.filter_map(|hit| hit.explanation.as_ref());
    let held = explained.filter_map(|explanation| explanation.session);
    // Where a passage has all of the words there is no such figure.
    let held = held.map(|session| session.held).reduce(f32::max);
    held.unwrap_or(1.0)
}
