//! Which sessions hold a few remembered words, and which come first?
//!
//! The words need not stand together: a session is ranked by what all of its conversation says, by
//! its best passage, and by how many of the words it holds at all. All passages with any of the
//! words are asked once, for sums; those of the first sessions once more, to be shown.

use std::collections::HashMap;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::WordsError;
use super::compile::Compiled;
use super::damage::reading;
use super::pattern::Pattern;
use super::search::{Answer, Hit, SearchSource};
use crate::model::{Class, Expr};

mod closeness;
mod evidence;
mod passage;
mod question;
mod weigher;

pub(super) use closeness::{close_tokens, closeness};
use evidence::{Evidence, RankedEvidence};
use passage::{Details, FoundPassage};
use question::{DiskQuestion, ask_overlay};

/// Passages of a session that are shown, unless all are asked for: its best ones.
pub const HITS_PER_SESSION: usize = 3;

/// A few remembered words, and what is known of the sessions that are searched for them.
pub struct SessionQuery<'a> {
    /// At least two.
    pub words: &'a [Expr],
    /// How many passages of each are shown.
    pub per_session: usize,
    /// Which of them a session must hold.
    pub demanded: &'a [bool],
    /// How many sessions there are.
    pub sessions: u64,
    /// How many messages a session has.
    pub messages: &'a dyn Fn(u64) -> u32,
    /// How many they have on average.
    pub mean_messages: f32,
}

/// A word for a query of several: where the index could not tell whether its parts stand
/// together in what tools print, there they may stand apart. Where they do stand together in a
/// conversation counts for more.
pub fn loose(word: &Expr) -> Expr {
    let (text, prefix) = match word {
        Expr::Word(text) | Expr::Near(text) => (text, false),
        Expr::Prefix(text) => (text, true),
        _ => return word.clone(),
    };
    if Compiled::new(Some(word), Class::Output).exact {
        return word.clone();
    }
    let mut parts: Vec<Expr> = Pattern::new(text, prefix)
        .parts
        .into_iter()
        .map(|(_, part)| Expr::Word(part))
        .collect();
    if prefix && let Some(Expr::Word(last)) = parts.pop() {
        parts.push(Expr::Prefix(last));
    }
    Expr::Or(vec![word.clone(), Expr::And(parts)])
}

/// Rank the sessions of `side` that hold any of the words, and all that are demanded. The
/// expression of `side` asks for any of the words.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged.
pub fn rank_sessions<'a>(
    side: &SearchSource<'a>,
    query: &SessionQuery<'_>,
) -> Result<RankedSessions<'a>, WordsError> {
    let rank = || {
        let disk = side
            .disk
            .map(|disk| DiskQuestion::new(side, disk, query.words));
        let question = Question {
            disk: disk.transpose()?,
            side: *side,
        };
        let mut evidence = question.gathered(query.words.len())?;
        if !close_tokens(query.words).is_empty() {
            ask_closeness(question.disk.as_ref(), &mut evidence)?;
        }
        Ok(RankedSessions {
            ranked: evidence.ranked(query),
            words: query.words.len(),
            per_session: query.per_session,
            question,
        })
    };
    match side.disk.is_some() {
        true => reading(rank),
        false => rank(),
    }
}

/// Ask the best passages how near each other the words stand.
fn ask_closeness(
    disk: Option<&DiskQuestion<'_>>,
    evidence: &mut Evidence,
) -> Result<(), WordsError> {
    let candidates = evidence.candidates();
    let parts = candidates.par_chunk_by(|a, b| a.place.part == b.place.part);
    let asked = parts.map(|passages| details(disk, &evidence.owed, passages));
    let asked: Vec<Vec<Details>> = asked.collect::<Result<_, _>>()?;
    evidence.take_details(&candidates, &asked.concat());
    Ok(())
}

/// What these passages of one part are asked besides.
fn details(
    disk: Option<&DiskQuestion<'_>>,
    owed: &[Details],
    passages: &[FoundPassage],
) -> Result<Vec<Details>, WordsError> {
    let part = passages.first().and_then(|passage| passage.place.part);
    match (part, disk) {
        (Some(part), Some(disk)) => reading(|| disk.details(part, passages)),
        _ => {
            let of = |passage: &FoundPassage| owed.get(passage.place.number as usize);
            let of = |passage| of(passage).copied().unwrap_or_default();
            Ok(passages.iter().map(of).collect())
        }
    }
}

/// A few words, ready to be asked of everything that is searched.
struct Question<'a> {
    disk: Option<DiskQuestion<'a>>,
    side: SearchSource<'a>,
}

impl Question<'_> {
    /// What all passages say, asked on every core unless a filter asks the catalogue.
    fn gathered(&self, words: usize) -> Result<Evidence, WordsError> {
        let scope = &self.side.scope;
        let empty = Evidence::new(words, scope);
        let mut evidence = match &self.disk {
            None => empty,
            Some(disk) if scope.allow.is_some() => {
                let mut evidence = empty;
                for part in 0..disk.parts() {
                    disk.ask(part, scope.allow, &mut evidence)?;
                }
                evidence
            }
            Some(disk) => {
                let ask = |mut found: Evidence, part| -> Result<Evidence, WordsError> {
                    reading(|| disk.ask(part, None, &mut found))?;
                    Ok(found)
                };
                let parts = (0..disk.parts()).into_par_iter();
                let asked = parts.try_fold(|| empty.apart(), ask);
                asked.try_reduce(|| empty.apart(), |sum, part| Ok(sum.with(part)))?
            }
        };
        if let Some(overlay) = self.side.overlay {
            ask_overlay(self.side.disk, overlay, scope, &mut evidence)?;
        }
        Ok(evidence)
    }
}

/// Sessions, ranked.
pub struct RankedSessions<'a> {
    question: Question<'a>,
    ranked: RankedEvidence,
    words: usize,
    per_session: usize,
}

impl RankedSessions<'_> {
    /// The first of them, until `limit` passages of them can be shown. Hits stand by session, the
    /// best first; among equals the newest, then the one with the greatest key.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when the disk turns out to be damaged.
    pub fn answer(&self, limit: usize) -> Result<Answer, WordsError> {
        let mut first: HashMap<u64, usize, FxBuildHasher> = HashMap::default();
        let mut shown = 0usize;
        for (rank, (_, session)) in self.ranked.sessions.iter().enumerate() {
            if shown >= limit {
                break;
            }
            shown = shown.saturating_add(session.passages.min(self.per_session));
            first.insert(session.number, rank);
        }
        let (mut last, mut found) = (None, Vec::new());
        for passage in self.ranked.found.iter() {
            // The next one is mostly of the same session.
            let session = passage.session();
            let rank = match last {
                Some((known, rank)) if known == session => rank,
                _ => first.get(&session).copied(),
            };
            last = Some((session, rank));
            found.extend(rank.map(|rank| (rank, *passage)));
        }
        let hits = self.hits(found)?;
        Ok(Answer {
            is_all: hits.len() == self.ranked.answer.total,
            hits,
            ..self.ranked.answer.clone()
        })
    }

    /// These passages of sessions, each with the rank of its session, as hits in order.
    fn hits(&self, mut found: Vec<(usize, FoundPassage)>) -> Result<Vec<Hit>, WordsError> {
        found.sort_unstable_by_key(|(_, passage)| passage.place);
        let mut shown = Vec::new();
        for part in found.chunk_by(|(_, a), (_, b)| a.place.part == b.place.part) {
            let passages: Vec<FoundPassage> = part.iter().map(|(_, passage)| *passage).collect();
            let disk = self.question.disk.as_ref();
            let details = details(disk, &self.ranked.owed, &passages)?;
            let each = part.iter().zip(details);
            shown.extend(each.map(|((rank, passage), details)| {
                let score = passage.score(self.words, details, self.question.side.scope.now_ms);
                let session = self.ranked.sessions[*rank].0;
                (*rank, score, passage.hit(self.words, details, session))
            }));
        }
        shown.sort_unstable_by(|(of_a, a_score, a), (of_b, b_score, b)| {
            let by_score = of_a.cmp(of_b).then(b_score.total_cmp(a_score));
            let by_time = by_score.then(b.time_ms.cmp(&a.time_ms));
            by_time.then(b.key.cmp(&a.key)).then(a.class.cmp(&b.class))
        });
        Ok(shown.into_iter().map(|(_, _, hit)| hit).collect())
    }
}
