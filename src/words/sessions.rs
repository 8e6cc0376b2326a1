//! Which sessions hold a few remembered words, and which come first?
//!
//! The words need not stand together: a session is ranked by what all of its conversation says, by
//! its best passage, and by how many of the words it holds at all.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use super::WordsError;
use super::collect::{Columns, MatchLimits};
use super::compile::{Compiled, all_of};
use super::damage::reading;
use super::rank;
use super::schema::{NO_TIME, schema};
use super::search::{Answer, Hit, SearchSource, restrict};
use super::statistics::CombinedStatistics;
use super::top::{StandingCursor, rounded};
use crate::model::{ARRIVAL_BITS, Class, Expr, Standing};

/// Passages of a session that are hits.
pub const HITS_A_SESSION: usize = 3;

/// What is known of the sessions that are searched.
pub struct SessionLengths<'a> {
    /// How many there are.
    pub sessions: u64,
    /// How many messages a session has.
    pub of: &'a dyn Fn(u64) -> u32,
    /// How many they have on average.
    pub mean: f32,
}

/// The sessions of `side` that hold any of the words of its expression.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged.
pub fn search_sessions(
    side: &SearchSource<'_>,
    words: &[Expr],
    lengths: &SessionLengths<'_>,
    limit: usize,
) -> Result<Answer, WordsError> {
    let search = || {
        let mut evidence = Evidence::new(words.len(), side.scope.now_ms);
        from_disk(side, words, &mut evidence)?;
        from_overlay(side, &mut evidence)?;
        Ok(evidence.into_answer(lengths, limit))
    };
    match side.disk.is_some() {
        true => reading(search),
        false => search(),
    }
}

fn from_disk(
    side: &SearchSource<'_>,
    words: &[Expr],
    evidence: &mut Evidence,
) -> Result<(), WordsError> {
    let Some(disk) = side.disk else {
        return Ok(());
    };
    let (fields, scope) = (schema().1, &side.scope);
    let both = CombinedStatistics {
        disk: Some(&disk.searcher),
        overlay: side.overlay,
    };
    let scoring = || EnableScoring::enabled_from_statistics_provider(&both, &disk.searcher);
    for class in [Class::Prose, Class::Output] {
        if scope.class.is_some_and(|wanted| wanted != class) {
            continue;
        }
        let mut weights: Vec<Box<dyn Weight>> = Vec::new();
        let mut inexact = Vec::new();
        for word in words {
            let compiled = Compiled::new(Some(word), class);
            inexact.push(!compiled.exact);
            weights.push(compiled.query(&fields).weight(scoring())?);
        }
        let filter = restrict(all_of(class, &fields), scope, &fields, &disk.searcher)?;
        let filter = match scope.has_terms() {
            true => Some(filter.weight(EnableScoring::disabled_from_searcher(&disk.searcher))?),
            false => None,
        };
        let covered = |class| side.overlay.map_or(&[][..], |overlay| overlay.covered(class));
        let within = MatchLimits {
            dead: scope.dead,
            covered: [Class::Prose, Class::Output].map(covered),
            times: scope.times,
            inexact: [false; 2],
            wanted: scope.wanted,
        };
        for reader in disk.searcher.segment_readers() {
            if within.wanted.is_some_and(|wanted| !wanted()) {
                return Err(WordsError::Cancelled);
            }
            let scorers = weights.iter().map(|weight| weight.scorer(reader, 1.0));
            let scorers: Vec<Box<dyn Scorer>> = scorers.collect::<Result<_, _>>()?;
            let filter = filter.as_ref().map(|filter| filter.scorer(reader, 1.0));
            let filter = filter.transpose()?;
            let mut segment = Segment {
                reader,
                class,
                scorers,
                filter,
                inexact: &inexact,
            };
            segment.feed(&within, scope.allow, evidence)?;
        }
    }
    Ok(())
}

/// One segment, asked for passages of one class.
struct Segment<'a> {
    reader: &'a SegmentReader,
    class: Class,
    /// Of each word.
    scorers: Vec<Box<dyn Scorer>>,
    filter: Option<Box<dyn Scorer>>,
    inexact: &'a [bool],
}

impl Segment<'_> {
    fn feed(
        &mut self,
        within: &MatchLimits<'_>,
        allow: Option<&dyn Fn(u64) -> bool>,
        evidence: &mut Evidence,
    ) -> Result<(), WordsError> {
        let columns = Columns::open(self.reader)?;
        let alive = self.reader.alive_bitset();
        let mut standings = StandingCursor::open(self.reader)?;
        let mut scores = vec![None; self.scorers.len()];
        while let Some(doc) = self.next(&mut scores) {
            if alive.is_some_and(|alive| !alive.is_alive(doc)) || !self.is_admitted(doc) {
                continue;
            }
            let key = columns.key(doc);
            // A segment may hold both classes, and a word only one of its fields.
            let class = self.class;
            if within.is_gone(key, class) || allow.is_some_and(|allow| !allow(key)) {
                continue;
            }
            let time = columns.time.get_val(doc);
            let time_ms = (time != NO_TIME).then_some(time);
            if within.times.are_asked() && !within.times.admit(time_ms) {
                continue;
            }
            let uncertain = |(score, inexact): (&Option<f32>, &bool)| score.is_some() && *inexact;
            let certain = |(score, inexact): (&Option<f32>, &bool)| score.is_some() && !*inexact;
            let pairs = || scores.iter().zip(self.inexact);
            let needs_check = pairs().any(uncertain) && !pairs().any(certain);
            evidence.take(Passage {
                key,
                class,
                standing: standings.of(doc, class),
                time_ms,
                needs_check,
                scores: &scores,
            });
        }
        Ok(())
    }

    /// The next passage that holds any of the words, with the score of each that it holds.
    fn next(&mut self, scores: &mut [Option<f32>]) -> Option<DocId> {
        let doc = self.scorers.iter().map(|scorer| scorer.doc()).min()?;
        if doc == TERMINATED {
            return None;
        }
        for (scorer, score) in self.scorers.iter_mut().zip(scores) {
            *score = (scorer.doc() == doc).then(|| scorer.score());
            if score.is_some() {
                scorer.advance();
            }
        }
        Some(doc)
    }

    fn is_admitted(&mut self, doc: DocId) -> bool {
        let Some(filter) = &mut self.filter else {
            return true;
        };
        if filter.doc() < doc {
            filter.seek(doc);
        }
        filter.doc() == doc
    }
}

fn from_overlay(side: &SearchSource<'_>, evidence: &mut Evidence) -> Result<(), WordsError> {
    let (Some(overlay), scope) = (side.overlay, &side.scope) else {
        return Ok(());
    };
    let fields = schema().1;
    let both = CombinedStatistics {
        disk: side.disk.map(|words| &words.searcher),
        overlay: Some(overlay),
    };
    if both.total_num_docs()? == 0 {
        return Ok(());
    }
    for class in [Class::Prose, Class::Output] {
        if scope.class.is_some_and(|wanted| wanted != class) {
            continue;
        }
        let compiled = overlay.compiled(class);
        let weights = compiled.weights(&both, &fields)?;
        for found in overlay.matches(class) {
            if scope.allow.is_some_and(|allow| !allow(found.key)) {
                continue;
            }
            let scores = compiled.member_scores(found.frequencies, found.norm, &weights);
            evidence.take(Passage {
                key: found.key,
                class,
                standing: found.standing,
                time_ms: (found.time != NO_TIME).then_some(found.time),
                needs_check: false,
                scores: &scores,
            });
        }
    }
    Ok(())
}

/// A passage that holds some of the words.
struct Passage<'a> {
    key: u64,
    class: Class,
    standing: Standing,
    time_ms: Option<i64>,
    needs_check: bool,
    /// Of each word that it holds.
    scores: &'a [Option<f32>],
}

/// What was found of one session.
struct SessionEvidence {
    /// How much of its conversation holds each word.
    held: Vec<f32>,
    /// Which of the words its output holds.
    printed: u64,
    /// Its best passages, the best first.
    best: Vec<Hit>,
}

/// What was found of all sessions.
struct Evidence {
    words: usize,
    now_ms: i64,
    sessions: HashMap<u64, SessionEvidence, FxBuildHasher>,
    total: usize,
    undecided: usize,
}

impl Evidence {
    fn new(words: usize, now_ms: i64) -> Evidence {
        Evidence {
            words,
            now_ms,
            sessions: HashMap::default(),
            total: 0,
            undecided: 0,
        }
    }

    fn take(&mut self, passage: Passage<'_>) {
        self.total += 1;
        self.undecided += usize::from(passage.needs_check);
        let session = passage.key >> ARRIVAL_BITS;
        let of_session = self.sessions.entry(session).or_insert_with(|| SessionEvidence {
            held: vec![0.0; self.words],
            printed: 0,
            best: Vec::with_capacity(HITS_A_SESSION + 1),
        });
        let (mut bm25, mut words) = (0.0, 0);
        for (at, score) in passage.scores.iter().enumerate() {
            let Some(score) = score else { continue };
            bm25 += score;
            words += 1;
            match passage.class {
                Class::Prose => of_session.held[at] += passage.standing.weight(),
                Class::Output => of_session.printed |= 1 << at.min(63),
            }
        }
        let share = words as f32 / self.words as f32;
        let score = bm25
            * share
            * passage.standing.weight()
            * rank::recency(passage.time_ms, self.now_ms);
        let best = &mut of_session.best;
        if best.len() == HITS_A_SESSION && best[HITS_A_SESSION - 1].score >= score {
            return;
        }
        let at = best.partition_point(|known| known.score >= score);
        best.insert(
            at,
            Hit {
                key: passage.key,
                class: passage.class,
                score,
                bm25,
                standing: passage.standing,
                time_ms: passage.time_ms,
                needs_check: passage.needs_check,
            },
        );
        best.truncate(HITS_A_SESSION);
    }

    fn into_answer(self, lengths: &SessionLengths<'_>, limit: usize) -> Answer {
        let n = lengths.sessions.max(self.sessions.len() as u64) as f32;
        let mut holding = vec![0_u32; self.words];
        for session in self.sessions.values() {
            for (at, held) in session.held.iter().enumerate() {
                holding[at] += u32::from(*held > 0.0 || session.printed & 1 << at.min(63) != 0);
            }
        }
        let rarity: Vec<f32> = holding
            .iter()
            .map(|df| {
                let df = *df as f32;
                (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
            })
            .collect();
        let known: f32 = rarity
            .iter()
            .zip(&holding)
            .filter(|(_, df)| **df > 0)
            .map(|(rarity, _)| rarity)
            .sum();
        let best = self
            .sessions
            .values()
            .filter_map(|session| Some(session.best.first()?.score));
        let best = best.fold(f32::MIN_POSITIVE, f32::max);
        let sessions = self.sessions.len();
        let mut ranked: Vec<(f32, u64, Vec<Hit>)> = self
            .sessions
            .into_iter()
            .map(|(number, session)| {
                let length = 1.0 - B + B * (lengths.of)(number) as f32 / lengths.mean.max(1.0);
                let (mut whole, mut held) = (0.0, 0.0);
                for (at, rarity) in rarity.iter().enumerate() {
                    let times = session.held[at]
                        + PRINTED * f32::from(session.printed & 1 << at.min(63) != 0);
                    whole += rarity * times * (K1 + 1.0) / (times + K1 * length);
                    held += match session.held[at] > 0.0 {
                        true => *rarity,
                        false if times > 0.0 => rarity * 0.5,
                        false => 0.0,
                    };
                }
                let passage = session.best.first().map_or(0.0, |hit| hit.score) / best;
                let whole = whole / (known * (K1 + 1.0)).max(f32::MIN_POSITIVE);
                let held = held / known.max(f32::MIN_POSITIVE);
                let score = (WHOLE * whole + PASSAGE * passage) * held.powf(COVERAGE);
                (score, number, session.best)
            })
            .collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let mut hits = Vec::new();
        for (score, _, best) in ranked {
            if hits.len() >= limit {
                break;
            }
            let top = best.first().map_or(1.0, |hit| hit.score).max(f32::MIN_POSITIVE);
            hits.extend(best.into_iter().map(|hit| Hit {
                // The hits of a session stand together, unless their text makes them worth less.
                score: rounded(1000.0 * score + hit.score / top),
                ..hit
            }));
        }
        Answer {
            hits,
            total: self.total,
            sessions,
            undecided: self.undecided,
        }
    }
}

const K1: f32 = 1.2;
const B: f32 = 0.5;
const PRINTED: f32 = 0.3;
const WHOLE: f32 = 1.0;
const PASSAGE: f32 = 1.0;
const COVERAGE: f32 = 1.0;
