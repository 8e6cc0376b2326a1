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
use super::pattern::Pattern;
use super::rank;
use super::schema::{NO_TIME, schema};
use super::scope::Scope;
use super::search::{Answer, Hit, SearchSource, SessionScore, restrict};
use super::statistics::CombinedStatistics;
use super::top::{StandingCursor, rounded};
use crate::model::{ARRIVAL_BITS, Class, Expr, Standing};

/// Passages of a session that are shown, unless all are asked for: its best ones.
pub const HITS_PER_SESSION: usize = 3;

/// A few remembered words, and what is known of the sessions that are searched for them.
pub struct SessionQuery<'a> {
    /// At least two.
    pub words: &'a [Expr],
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

/// The sessions of `side` that hold any of the words, and all that are demanded: the best of them,
/// until `limit` passages of them can be shown. The expression of `side` asks for any of the words.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged.
pub fn search_sessions(
    side: &SearchSource<'_>,
    query: &SessionQuery<'_>,
    limit: usize,
) -> Result<Answer, WordsError> {
    Ok(evidence(side, query)?.into_answer(query, limit))
}

fn evidence(side: &SearchSource<'_>, query: &SessionQuery<'_>) -> Result<Evidence, WordsError> {
    let collect = || {
        let mut evidence = Evidence::new(query.words.len(), &side.scope);
        from_disk(side, query.words, &mut evidence)?;
        from_overlay(side, &mut evidence)?;
        Ok(evidence)
    };
    match side.disk.is_some() {
        true => reading(collect),
        false => collect(),
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
        for word in words {
            let compiled = Compiled::new(Some(word), class);
            weights.push(compiled.query(&fields).weight(scoring())?);
        }
        let filter = restrict(all_of(class, &fields), scope, &fields, &disk.searcher)?;
        let filter = match scope.has_terms() {
            true => Some(filter.weight(EnableScoring::disabled_from_searcher(&disk.searcher))?),
            false => None,
        };
        let covered = |class| {
            side.overlay
                .map_or(&[][..], |overlay| overlay.covered(class))
        };
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
            let (key, class) = (columns.key(doc), self.class);
            if alive.is_some_and(|alive| !alive.is_alive(doc)) || within.is_gone(key, class) {
                continue;
            }
            evidence.note(key, &scores);
            if !self.is_admitted(doc) || allow.is_some_and(|allow| !allow(key)) {
                continue;
            }
            let time = columns.time.get_val(doc);
            let time_ms = (time != NO_TIME).then_some(time);
            if within.times.are_asked() && !within.times.admit(time_ms) {
                continue;
            }
            evidence.take(Passage {
                key,
                class,
                standing: standings.of(doc, class),
                time_ms,
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
    /// Of each word that it holds.
    scores: &'a [Option<f32>],
}

/// What was found of one session.
struct SessionEvidence {
    /// How much of its conversation holds each word: passages, by what they are.
    said: Vec<f32>,
    /// Whether tools printed each word.
    printed: Vec<bool>,
    /// Passages that hold any of them.
    found: Vec<MatchedPassage>,
    /// The score of the best one.
    best: f32,
}

/// A passage that holds some of the words: what a [`Hit`] is made of.
#[derive(Clone, Copy)]
struct MatchedPassage {
    key: u64,
    score: f32,
    bm25: f32,
    share: f32,
    time_ms: Option<i64>,
    class: Class,
    standing: Standing,
}

impl SessionEvidence {
    fn new(words: usize) -> SessionEvidence {
        SessionEvidence {
            said: vec![0.0; words],
            printed: vec![false; words],
            found: Vec::new(),
            best: 0.0,
        }
    }

    fn holds(&self, word: usize) -> bool {
        self.said[word] > 0.0 || self.printed[word]
    }

    /// How often it holds a word; what tools print counts for less, and once.
    fn times(&self, word: usize) -> f32 {
        self.said[word] + PRINTED * f32::from(u8::from(self.printed[word]))
    }

    /// Its hits, the best first; among equals the newest, then the one with the greatest key.
    fn hits(mut self, session: SessionScore) -> impl Iterator<Item = Hit> {
        self.found.sort_unstable_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            let by_time = by_score.then(b.time_ms.cmp(&a.time_ms));
            by_time.then(b.key.cmp(&a.key)).then(a.class.cmp(&b.class))
        });
        self.found.into_iter().map(move |found| Hit {
            key: found.key,
            class: found.class,
            score: session.score,
            bm25: found.bm25,
            standing: found.standing,
            time_ms: found.time_ms,
            needs_check: false,
            session: Some(SessionScore {
                share: found.share,
                ..session
            }),
        })
    }
}

/// What was found of all sessions.
struct Evidence {
    words: usize,
    now_ms: i64,
    /// Where something is filtered: which of the first words each session holds, whatever the
    /// filters leave of it. How rare a word is does not depend on them.
    unfiltered: Option<HashMap<u64, u64, FxBuildHasher>>,
    sessions: HashMap<u64, SessionEvidence, FxBuildHasher>,
}

impl Evidence {
    fn new(words: usize, scope: &Scope<'_>) -> Evidence {
        Evidence {
            words,
            now_ms: scope.now_ms,
            unfiltered: scope.filters().then(HashMap::default),
            sessions: HashMap::default(),
        }
    }

    /// A session holds these words, whether or not the filters leave the passage.
    fn note(&mut self, key: u64, scores: &[Option<f32>]) {
        if let Some(unfiltered) = &mut self.unfiltered {
            let held = unfiltered.entry(key >> ARRIVAL_BITS).or_default();
            for (word, _) in scores
                .iter()
                .take(64)
                .enumerate()
                .filter(|(_, s)| s.is_some())
            {
                *held |= 1 << word;
            }
        }
    }

    fn take(&mut self, passage: Passage<'_>) {
        self.note(passage.key, passage.scores);
        let session = passage.key >> ARRIVAL_BITS;
        let session = self.sessions.entry(session);
        let session = session.or_insert_with(|| SessionEvidence::new(self.words));
        let (mut bm25, mut held) = (0.0, 0.0);
        for (word, score) in passage.scores.iter().enumerate() {
            let Some(score) = score else { continue };
            bm25 += score;
            held += 1.0;
            match passage.class {
                Class::Prose => session.said[word] += passage.standing.weight(),
                Class::Output => session.printed[word] = true,
            }
        }
        let weight = passage.standing.weight() * rank::recency(passage.time_ms, self.now_ms);
        let share = held / self.words as f32;
        let score = rounded(bm25 * weight * share);
        session.best = session.best.max(score);
        session.found.push(MatchedPassage {
            key: passage.key,
            score,
            bm25: rounded(bm25),
            share,
            time_ms: passage.time_ms,
            class: passage.class,
            standing: passage.standing,
        });
    }

    /// Leave out sessions that lack a word that is demanded.
    fn demand(&mut self, demanded: &[bool]) {
        let holds = |session: &SessionEvidence| {
            let mut demanded = demanded.iter().enumerate();
            demanded.all(|(word, demanded)| !demanded || session.holds(word))
        };
        self.sessions.retain(|_, session| holds(session));
    }

    /// How many sessions hold each word.
    fn holders(&self) -> Vec<u32> {
        let sessions = || self.sessions.values();
        let holders = |word: usize| sessions().filter(|session| session.holds(word)).count() as u32;
        (0..self.words).map(holders).collect()
    }

    /// How many sessions hold a word, whatever the filters leave of them; `left` where they leave
    /// all, or it is not known.
    fn holders_at_all(&self, word: usize, left: u32) -> u32 {
        let Some(all) = self.unfiltered.as_ref().filter(|_| word < 64) else {
            return left;
        };
        let holds = |held: &&u64| **held & 1 << word != 0;
        all.values().filter(holds).count() as u32
    }

    /// How rare each word is: 0 where no session holds it that the filters leave, which says
    /// nothing about any of them.
    fn rarity(&self, holders: &[u32], sessions: u64) -> Vec<f32> {
        let rarity = holders.iter().enumerate().map(|(word, holders)| {
            let holding = self.holders_at_all(word, *holders) as f32;
            let all = (sessions as f32).max(holding);
            match holders {
                0 => 0.0,
                _ => (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln(),
            }
        });
        rarity.collect()
    }

    fn into_answer(mut self, query: &SessionQuery<'_>, limit: usize) -> Answer {
        let holders = self.holders();
        let absent = (0..self.words).filter(|word| holders[*word] == 0);
        let absent: Vec<usize> = absent.collect();
        let nowhere = absent
            .iter()
            .filter(|word| self.holders_at_all(**word, 0) == 0);
        let nowhere = nowhere.copied().collect();
        let rarity = self.rarity(&holders, query.sessions);
        let weigher = Weigher::new(query, rarity, self.sessions.values());
        let any = self.passages();
        self.demand(query.demanded);
        let mut answer = Answer {
            total: self.passages(),
            any,
            sessions: self.sessions.len(),
            absent,
            nowhere,
            ..Answer::default()
        };
        let sessions = self.sessions.into_iter();
        let mut ranked: Vec<(SessionScore, u64, SessionEvidence)> = sessions
            .map(|(number, session)| (weigher.score(number, &session), number, session))
            .collect();
        ranked.sort_unstable_by(|(a, newer, _), (b, older, _)| {
            b.score.total_cmp(&a.score).then(older.cmp(newer))
        });
        let mut shown = 0;
        for (score, _, session) in ranked {
            if shown >= limit {
                break;
            }
            shown = shown.saturating_add(session.found.len().min(HITS_PER_SESSION));
            answer.hits.extend(session.hits(score));
        }
        answer.is_all = answer.hits.len() == answer.total;
        answer
    }

    fn passages(&self) -> usize {
        self.sessions
            .values()
            .map(|session| session.found.len())
            .sum()
    }
}

/// Scores of sessions are rounded to this step, as those of passages are.
const STEP: f32 = 1.0 / 65_536.0;
/// How often a word must stand in a session of average length to count half of what it could.
const K1: f32 = 1.2;
/// How much a session's length counts.
const B: f32 = 0.5;
/// What a word counts that only tools printed, where one passage of prose counts 1.
const PRINTED: f32 = 0.3;

/// Turns what was found of a session into its score.
struct Weigher<'a> {
    query: &'a SessionQuery<'a>,
    /// Of each word; 0 where no session holds it, which says nothing about any session.
    rarity: Vec<f32>,
    /// All of them.
    rarities: f32,
    /// The score of the best passage of all sessions.
    best: f32,
}

impl<'a> Weigher<'a> {
    fn new<'s>(
        query: &'a SessionQuery<'a>,
        rarity: Vec<f32>,
        sessions: impl Iterator<Item = &'s SessionEvidence>,
    ) -> Weigher<'a> {
        let best = sessions.map(|session| session.best);
        Weigher {
            query,
            rarities: rarity.iter().sum::<f32>().max(f32::MIN_POSITIVE),
            rarity,
            best: best.fold(f32::MIN_POSITIVE, f32::max),
        }
    }

    fn score(&self, number: u64, session: &SessionEvidence) -> SessionScore {
        let messages = (self.query.messages)(number) as f32 / self.query.mean_messages.max(1.0);
        let length = 1.0 - B + B * messages;
        let (mut whole, mut held) = (0.0, 0.0);
        for (word, rarity) in self.rarity.iter().enumerate() {
            let times = session.times(word);
            whole += rarity * times / (times + K1 * length);
            held += rarity
                * times.ceil().min(1.0)
                * match session.said[word] > 0.0 {
                    true => 1.0,
                    false => 0.5,
                };
        }
        let (whole, passage) = (whole / self.rarities, session.best / self.best);
        let held = held / self.rarities;
        SessionScore {
            score: ((whole + passage) * held / STEP).round() * STEP,
            whole,
            passage,
            held,
            share: 0.0,
        }
    }
}
