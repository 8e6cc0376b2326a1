//! Is what was found an answer at all?
//!
//! An answer says most of the words in one place. Somewhere in a long session many of them stand
//! together by chance: so the longer it is, the fewer may be missing. What only asks this program
//! for the words says nothing of them.

use std::collections::HashSet;

use sessionary::Error;
use sessionary::index::{Highlighter, ShowScope, Snapshot};
use sessionary::model::{Class, HitGroup, ShownEntry, Standing};
use sessionary::syntax::{self, Now};

use super::question;
use super::tools::{Call, mask};
use crate::output::bounded::Item;

/// A place is so many entries that follow each other.
const PLACE: usize = 7;
/// What a word counts that only tools printed there.
const PRINTED: f32 = 2.0 / 3.0;
/// Of a session that is no longer than a place, less than this part of the words may be missing.
const MISSING: f32 = 0.5;
/// That part is divided by this root of how many places there are.
const ROOT: f32 = 4.0;

/// What tells whether a session is an answer to a question.
pub struct Floor<'a> {
    call: &'a Call,
    words: Vec<Option<Highlighter>>,
    /// What each of them counts, and all together.
    weights: Vec<f32>,
    weight: f32,
    /// Marks all of them.
    any: Option<Highlighter>,
}

/// What an answer has for a question.
#[derive(Default)]
pub struct Fitting {
    pub sessions: Vec<HitGroup>,
    /// At least half of the words stand in one place.
    pub near: Vec<HitGroup>,
    /// Whether some that are no answer have asked for one.
    pub have_asked: bool,
}

impl Fitting {
    /// Those that were looked at after these.
    pub fn add(&mut self, others: Self) {
        self.sessions.extend(others.sessions);
        self.near.extend(others.near);
        self.have_asked = others.have_asked;
    }
}

impl Floor<'_> {
    /// Of a question of these words.
    pub fn new<'a>(call: &'a Call, words: &[String]) -> Floor<'a> {
        let read = |words: &str| {
            let query = syntax::parse(words, Now::utc(call.screen.now_ms)).ok()?;
            Highlighter::with_endings(&query)
        };
        let weights: Vec<f32> = words.iter().map(|word| question::weight(word)).collect();
        Floor {
            call,
            weight: weights.iter().sum(),
            weights,
            words: words.iter().map(|word| read(word)).collect(),
            any: read(&words.join(" ")),
        }
    }

    /// Those of the sessions that are answers, and those that only come near. Before there is no
    /// answer, `more` gives more passages of the sessions with these ids: the best passage need not
    /// stand in the best place.
    pub fn fitting(
        &self,
        groups: &[HitGroup],
        more: impl Fn(&[String]) -> Result<Vec<HitGroup>, Error>,
    ) -> Result<Fitting, Error> {
        let judged = groups.iter().map(|group| self.judged(group.clone()));
        let mut judged: Vec<Judged> = judged.collect::<Result<_, _>>()?;
        if !judged.iter().any(|session| session.fits) {
            let groups = judged.iter().map(|session| &session.group);
            let open = groups.filter(|group| has_more(group));
            let open: Vec<String> = open.map(|group| group.session.id.clone()).collect();
            for group in more(&open)? {
                let mut known = judged.iter_mut();
                // A copy has the same id.
                let number = group.session.number();
                let is_of = |known: &&mut Judged| known.group.session.number() == number;
                if let Some(known) = known.find(is_of) {
                    *known = self.judged(group)?;
                }
            }
        }
        let mut fitting = Fitting::default();
        for session in judged {
            fitting.have_asked |= session.has_asked && !session.fits;
            if session.fits {
                fitting.sessions.push(session.group);
            } else if session.missing <= MISSING {
                fitting.near.push(session.group);
            }
        }
        Ok(fitting)
    }

    /// How much is missing in the place of a session that holds the most; its passages come first.
    fn judged(&self, mut group: HitGroup) -> Result<Judged, Error> {
        let asking = |snapshot: &Snapshot<'_>| snapshot.asking_entries(&group.session);
        let mut asking = self.call.index.ask(asking)?;
        let has_asked = !asking.is_empty();
        if has_asked {
            // It may be called what it asked.
            let names = group
                .hits
                .iter()
                .filter(|hit| hit.standing == Standing::Name);
            asking.extend(names.map(|hit| hit.entry.clone()));
        }
        let mut hits = Vec::new();
        for hit in std::mem::take(&mut group.hits) {
            let missing = self.missing_around(&group, &hit.entry, &asking)?;
            hits.push((missing, hit));
        }
        hits.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let missing = hits.first().map_or(1.0, |(missing, _)| *missing);
        group.hits = hits.into_iter().map(|(_, hit)| hit).collect();
        let fits = missing < self.may_be_missing(group.session.entries);
        Ok(Judged {
            group,
            missing,
            fits,
            has_asked,
        })
    }

    /// Less than this part of the words may be missing in a session of so many entries.
    fn may_be_missing(&self, entries: u64) -> f32 {
        // A single word stands where it stands.
        if self.words.len() == 1 {
            return 1.0;
        }
        let places = entries as f32 / PLACE as f32;
        MISSING / places.max(1.0).powf(1.0 / ROOT)
    }

    /// Which part of the words is missing in the place with an entry that holds the most of them,
    /// where these entries hold none.
    fn missing_around(
        &self,
        group: &HitGroup,
        entry: &str,
        asking: &HashSet<String>,
    ) -> Result<f32, Error> {
        let scope = ShowScope {
            entry: Some(entry.to_owned()),
            context: PLACE - 1,
            mask: Some(mask()),
            ..ShowScope::default()
        };
        let around = self.call.index.show(&group.session, &scope)?;
        let entries = around.entries.iter();
        let held = entries.map(|entry| match asking.contains(&entry.id) {
            true => vec![0.0; self.words.len()],
            false => self.held(entry),
        });
        let held: Vec<_> = held.collect();
        let places = held.windows(PLACE.min(held.len()).max(1));
        let most = places.map(|place| {
            let words = self.weights.iter().enumerate();
            let most = words.map(|(word, weight)| {
                weight * place.iter().map(|held| held[word]).fold(0.0, f32::max)
            });
            most.sum()
        });
        let most: f32 = most.fold(0.0, f32::max);
        Ok(1.0 - most / self.weight)
    }

    /// What each of the words counts in an entry.
    fn held(&self, entry: &ShownEntry) -> Vec<f32> {
        let mut held = vec![0.0; self.words.len()];
        for (class, pieces) in &entry.text {
            for piece in pieces {
                self.note(*class, piece, &mut held);
            }
        }
        held
    }

    /// What each of the words counts that stand in a text.
    fn note(&self, class: Class, text: &str, held: &mut [f32]) {
        let Some(any) = &self.any else { return };
        let marks = any.marks(class, text).into_iter();
        let marked = marks.filter_map(|range| text.get(range));
        // Of a long text little is marked, and each word is looked for in that alone.
        let marked: String = marked.flat_map(|word| [word, " "]).collect();
        let counts = match class {
            Class::Prose => 1.0,
            Class::Output => PRINTED,
        };
        for (word, held) in self.words.iter().zip(held) {
            let stands = |word: &Highlighter| !word.marks(class, &marked).is_empty();
            if *held < counts && word.as_ref().is_some_and(stands) {
                *held = counts;
            }
        }
    }
}

/// A session, looked at.
struct Judged {
    group: HitGroup,
    missing: f32,
    fits: bool,
    /// Whether this program was asked in it.
    has_asked: bool,
}

/// Whether more passages of a session hold words than are there.
fn has_more(group: &HitGroup) -> bool {
    let looked_at = group.hits.len() as u64;
    group.matches.is_some_and(|all| all > looked_at)
}
