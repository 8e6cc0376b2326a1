//! Which sessions hold a few remembered words, and which come first?
//!
//! The words need not stand together: a session is ranked by what all of its conversation says, by
//! its best passage, and by how many of the words it holds at all. All passages with any of the
//! words are asked once, for sums; those of the first sessions once more, to be shown.

use std::collections::BTreeSet;

use rayon::prelude::*;
use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;

use super::WordsError;
use super::compile::CompiledQuery;
use super::damage::reading;
use super::pattern::Pattern;
use super::schema::schema;
use super::search::{Answer, Hit, SearchSource, SessionScore, TieBreak};
use super::statistics::CombinedStatistics;
use crate::model::{Class, Expr};

mod closeness;
mod evidence;
mod matches;
mod passage;
mod question;
mod weigher;

pub(super) use closeness::{close_tokens, closeness};
use evidence::{Evidence, RankedEvidence, Stretch};
use passage::{Details, FoundPassage};
use question::{DiskQuestion, ask_overlay};

/// Passages of a session that are shown, unless all are asked for: its best ones.
pub const HITS_PER_SESSION: usize = 3;

/// So many passages of a session are looked through besides for some that repeat no others.
const MOST_REPEATED: usize = 32;

/// A few remembered words, and what is known of the sessions that are searched for them.
pub struct SessionQuery<'a> {
    /// At least two.
    pub words: &'a [Expr],
    /// How many passages of each are shown.
    pub per_session: usize,
    /// Which of them a session must hold.
    pub demanded: &'a [bool],
    /// Of the sessions that hold the most of the words, the newest first, instead of the best of
    /// all that hold any.
    pub newest_first: bool,
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
    if CompiledQuery::new(Some(word), Class::Output).exact {
        return word.clone();
    }
    let mut parts = Pattern::new(text, prefix).parts;
    let last = parts.pop_if(|_| prefix).map(|(_, last)| Expr::Prefix(last));
    // Each once: `日日日` asks for 日日 twice.
    let parts: BTreeSet<String> = parts.into_iter().map(|(_, part)| part).collect();
    let parts = parts.into_iter().map(Expr::Word).chain(last).collect();
    Expr::Or(vec![word.clone(), Expr::And(parts)])
}

/// Which of these words no passage holds, outdated ones included: dictionaries tell that of single
/// words before any passage is asked.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged.
pub fn words_nowhere(side: &SearchSource<'_>, words: &[Expr]) -> Result<Vec<usize>, WordsError> {
    let disk = side.disk.map(|disk| &disk.searcher);
    let both = CombinedStatistics::new(disk, side.overlay);
    let prose = schema().1.text(Class::Prose);
    reading(|| {
        let mut nowhere = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let Expr::Word(text) = word else { continue };
            if let Some(token) = Pattern::new(text, false).only_word()
                && both.doc_freq(&Term::from_field_text(prose, token))? == 0
            {
                nowhere.push(at);
            }
        }
        Ok(nowhere)
    })
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
        let mut evidence = question.gathered(query)?;
        if !query.newest_first && !close_tokens(query.words).is_empty() {
            ask_closeness(question.disk.as_ref(), &mut evidence)?;
        }
        Ok(RankedSessions {
            ranked: evidence.ranked(query),
            words: query.words.len(),
            per_session: query.per_session,
            newest_first: query.newest_first,
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
    let asked = parts.map(|passages| details(disk, &evidence.overlay, passages));
    let asked: Vec<Vec<Details>> = asked.collect::<Result<_, _>>()?;
    evidence.take_details(&candidates, &asked.concat());
    Ok(())
}

/// What these passages of one part are asked besides.
fn details(
    disk: Option<&DiskQuestion<'_>>,
    overlay: &[(FoundPassage, Details)],
    passages: &[FoundPassage],
) -> Result<Vec<Details>, WordsError> {
    let part = passages.first().and_then(|passage| passage.place.part);
    match (part, disk) {
        (Some(part), Some(disk)) => reading(|| disk.details(part, passages)),
        _ => {
            let of = |passage: &FoundPassage| overlay.get(passage.place.number as usize);
            let of = |passage| of(passage).map_or_else(Details::default, |(_, details)| *details);
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
    fn gathered(&self, query: &SessionQuery<'_>) -> Result<Evidence, WordsError> {
        let scope = &self.side.scope;
        let empty = Evidence::new(query, scope);
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
    newest_first: bool,
}

impl RankedSessions<'_> {
    /// The first of them, until `limit` passages of them can be shown. Hits stand by session, the
    /// best or newest first, and so do the passages of each; among equals the newest, then as
    /// `ties` says.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when the disk turns out to be damaged.
    pub fn answer(&self, limit: usize, ties: &TieBreak<'_>) -> Result<Answer, WordsError> {
        let (mut shown, mut chosen, mut first) = (0usize, Vec::new(), Vec::new());
        let in_order = self.ranked.in_order(self.newest_first, ties);
        for (score, session) in in_order {
            if shown >= limit {
                break;
            }
            shown = shown.saturating_add(session.passages.min(self.per_session));
            let stretches = session.stretches.iter();
            let rank = first.len();
            chosen.extend(stretches.map(|stretch| (*stretch, session.number, rank)));
            first.push(*score);
        }
        let most = match limit {
            usize::MAX => usize::MAX,
            _ => self.per_session.saturating_add(MOST_REPEATED),
        };
        Ok(Answer {
            is_all: first.len() == self.ranked.sessions.len(),
            hits: self.hits(chosen, &first, (most, ties))?,
            ..self.ranked.answer.clone()
        })
    }

    /// The best passages of the first sessions, of which these are the scores, not more than `most`
    /// of each, as hits in order. `stretches`: where they stand, of which session, and its rank.
    fn hits(
        &self,
        stretches: Vec<(Stretch, u64, usize)>,
        first: &[SessionScore],
        (most, ties): (usize, &TieBreak<'_>),
    ) -> Result<Vec<Hit>, WordsError> {
        let mut passages = self.passages(stretches)?;
        if !self.newest_first {
            // Those of a session already follow each other in each part.
            passages.sort_by_key(|(rank, _)| *rank);
            let of_sessions = passages.chunk_by_mut(|(a, _), (b, _)| a == b);
            let may_be_shown = of_sessions.flat_map(|all| may_be_best(all, most, self.words));
            passages = may_be_shown.copied().collect();
        }
        passages.sort_unstable_by_key(|(_, passage)| passage.place);
        let mut shown = Vec::new();
        for of_part in passages.chunk_by(|(_, a), (_, b)| a.place.part == b.place.part) {
            let passages: Vec<FoundPassage> = of_part.iter().map(|(_, passage)| *passage).collect();
            let disk = self.question.disk.as_ref();
            let details = details(disk, &self.ranked.overlay, &passages)?;
            let each = of_part.iter().zip(details);
            shown.extend(each.map(|((rank, passage), details)| {
                let score = passage.score(self.words, details, self.question.side.scope.now_ms);
                (*rank, score, passage.hit(self.words, details, first[*rank]))
            }));
        }
        shown.sort_by(|(of_a, a_score, a), (of_b, b_score, b)| {
            let by_score = match self.newest_first {
                true => of_a.cmp(of_b),
                false => of_a.cmp(of_b).then(b_score.total_cmp(a_score)),
            };
            let by_time = by_score.then(b.time_ms.cmp(&a.time_ms));
            by_time.then_with(|| (ties.hits)(a, b))
        });
        let of_sessions = shown.chunk_by(|(a, ..), (b, ..)| a == b);
        let shown = of_sessions.flat_map(|hits| hits.iter().take(most));
        Ok(shown.map(|(_, _, hit)| *hit).collect())
    }

    /// All passages of these stretches, each with the rank of its session.
    fn passages(
        &self,
        mut stretches: Vec<(Stretch, u64, usize)>,
    ) -> Result<Vec<(usize, FoundPassage)>, WordsError> {
        stretches.sort_unstable_by_key(|(stretch, ..)| (stretch.part, stretch.first));
        let mut found = Vec::new();
        for of_part in stretches.chunk_by(|(a, ..), (b, ..)| a.part == b.part) {
            let part = of_part[0].0.part;
            match (part, &self.question.disk) {
                (Some(part), Some(disk)) => {
                    if let Some(matches) = self.ranked.part(part) {
                        found.extend(reading(|| disk.passages(part, matches, of_part))?);
                    }
                }
                _ => {
                    for (Stretch { first, last, .. }, session, rank) in of_part {
                        let overlay = self.ranked.overlay.get(*first as usize..=*last as usize);
                        let own = overlay.into_iter().flatten().map(|(passage, _)| *passage);
                        let own = own.filter(|passage| passage.session() == *session);
                        found.extend(own.map(|passage| (*rank, passage)));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Those of a session's passages that may be among its `most` best, whatever their age and
/// however near each other the words stand in them.
fn may_be_best(
    passages: &mut [(usize, FoundPassage)],
    most: usize,
    words: usize,
) -> impl Iterator<Item = &(usize, FoundPassage)> {
    let mut bar = f32::MIN;
    if passages.len() > most {
        // What is least is in the order of what it is at the base.
        let base = |(_, passage): &(usize, FoundPassage)| passage.base(words);
        let by_base = |a: &_, b: &_| base(b).total_cmp(&base(a));
        let (_, (_, last), _) = passages.select_nth_unstable_by(most - 1, by_base);
        bar = last.bounds(words).0;
    }
    let passages = passages.iter();
    passages.filter(move |(_, passage)| passage.bounds(words).1 >= bar)
}
