//! Which sessions hold a few remembered words, and which come first?
//!
//! The words need not stand together: a session is ranked by what all of its conversation says, by
//! its best passage, and by how many of the words it holds at all.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use super::WordsError;
use super::collect::{Columns, MatchLimits};
use super::compile::{Compiled, all_of};
use super::damage::reading;
use super::rank;
use super::schema::{NO_TIME, schema};
use super::search::{Answer, Hit, SearchSource, SessionScore, restrict};
use super::statistics::CombinedStatistics;
use super::top::{StandingCursor, rounded};
use crate::model::{ARRIVAL_BITS, Class, Expr, Standing};

/// Passages of a session that are hits: its best ones.
const HITS: usize = 3;

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

/// The sessions of `side` that hold any of the words, and all that are demanded: the best of them,
/// until `limit` passages of them are hits. The expression of `side` asks for any of the words.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged.
pub fn search_sessions(
    side: &SearchSource<'_>,
    query: &SessionQuery<'_>,
    limit: usize,
) -> Result<Answer, WordsError> {
    let most = match limit {
        usize::MAX => usize::MAX,
        _ => HITS,
    };
    Ok(evidence(side, query, most)?.into_answer(query, limit))
}

/// The sessions of `side` that hold all words that are demanded.
///
/// # Errors
/// As [`search_sessions`].
pub fn sessions_with_demanded(
    side: &SearchSource<'_>,
    query: &SessionQuery<'_>,
) -> Result<HashSet<u64>, WordsError> {
    let mut evidence = evidence(side, query, 0)?;
    evidence.demand(query.demanded);
    Ok(evidence.sessions.into_keys().collect())
}

fn evidence(
    side: &SearchSource<'_>,
    query: &SessionQuery<'_>,
    most: usize,
) -> Result<Evidence, WordsError> {
    let collect = || {
        let mut evidence = Evidence::new(query.words.len(), most, side.scope.now_ms);
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
    /// How much of its conversation holds each word: passages, by what they are.
    said: Vec<f32>,
    /// Whether tools printed each word.
    printed: Vec<bool>,
    passages: usize,
    undecided: usize,
    /// Its best passages, the best first.
    best: Vec<Hit>,
}

impl SessionEvidence {
    fn new(words: usize) -> SessionEvidence {
        SessionEvidence {
            said: vec![0.0; words],
            printed: vec![false; words],
            passages: 0,
            undecided: 0,
            best: Vec::new(),
        }
    }

    fn holds(&self, word: usize) -> bool {
        self.said[word] > 0.0 || self.printed[word]
    }

    /// How often it holds a word; what tools print counts for less, and once.
    fn times(&self, word: usize) -> f32 {
        self.said[word] + PRINTED * f32::from(u8::from(self.printed[word]))
    }

    fn keep(&mut self, hit: Hit, most: usize) {
        let worst = self.best.last().map_or(f32::MAX, |worst| worst.score);
        if self.best.len() >= most && worst >= hit.score {
            return;
        }
        let at = self.best.partition_point(|known| known.score >= hit.score);
        self.best.insert(at, hit);
        self.best.truncate(most);
    }
}

/// What was found of all sessions.
struct Evidence {
    words: usize,
    /// Hits of a session at most.
    most: usize,
    now_ms: i64,
    sessions: HashMap<u64, SessionEvidence, FxBuildHasher>,
}

impl Evidence {
    fn new(words: usize, most: usize, now_ms: i64) -> Evidence {
        Evidence {
            words,
            most,
            now_ms,
            sessions: HashMap::default(),
        }
    }

    fn take(&mut self, passage: Passage<'_>) {
        let session = passage.key >> ARRIVAL_BITS;
        let session = self.sessions.entry(session);
        let session = session.or_insert_with(|| SessionEvidence::new(self.words));
        session.passages += 1;
        session.undecided += usize::from(passage.needs_check);
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
        let hit = Hit {
            key: passage.key,
            class: passage.class,
            score: bm25 * weight * held / self.words as f32,
            bm25: rounded(bm25),
            standing: passage.standing,
            time_ms: passage.time_ms,
            needs_check: passage.needs_check,
            session: None,
        };
        session.keep(hit, self.most);
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

    fn into_answer(mut self, query: &SessionQuery<'_>, limit: usize) -> Answer {
        let holders = self.holders();
        let absent = (0..self.words).filter(|word| holders[*word] == 0).collect();
        let all = query.sessions.max(self.sessions.len() as u64);
        let weigher = Weigher::new(query, all, &holders, self.sessions.values());
        self.demand(query.demanded);
        let mut answer = Answer {
            sessions: self.sessions.len(),
            absent,
            ..Answer::default()
        };
        let mut ranked = Vec::with_capacity(self.sessions.len());
        for (number, session) in self.sessions {
            answer.total += session.passages;
            answer.undecided += session.undecided;
            ranked.push((weigher.score(number, &session), number, session.best));
        }
        ranked.sort_unstable_by(|(a, newer, _), (b, older, _)| {
            b.score.total_cmp(&a.score).then(older.cmp(newer))
        });
        for (score, _, best) in ranked {
            if answer.hits.len() >= limit {
                break;
            }
            answer.hits.extend(best.into_iter().map(|hit| Hit {
                score: score.score,
                session: Some(score),
                ..hit
            }));
        }
        answer
    }
}

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
        all: u64,
        holders: &[u32],
        sessions: impl Iterator<Item = &'s SessionEvidence>,
    ) -> Weigher<'a> {
        let rarity = holders.iter().map(|holders| {
            let holders = *holders as f32;
            match holders > 0.0 {
                true => (1.0 + (all as f32 - holders + 0.5) / (holders + 0.5)).ln(),
                false => 0.0,
            }
        });
        let rarity: Vec<f32> = rarity.collect();
        let best = sessions.filter_map(|session| Some(session.best.first()?.score));
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
        let passage = session.best.first().map_or(0.0, |hit| hit.score);
        let (whole, passage) = (whole / self.rarities, passage / self.best);
        let held = held / self.rarities;
        SessionScore {
            score: rounded((whole + passage) * held),
            whole,
            passage,
            held,
        }
    }
}
