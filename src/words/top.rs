//! Which matches come first?

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, Term};

use super::WordsError;
use super::rank::{self, TYPED};
use super::schema::{NAME_MARK, NO_TIME, schema};
use super::search::{Answer, Hit, Order, TieBreak};
use crate::model::{ARRIVAL_BITS, Class, Standing};

/// Which prose of a segment is a name and which was typed. Asked of documents in their order.
pub(super) struct StandingCursor {
    names: Option<SegmentPostings>,
    typed: Option<SegmentPostings>,
}

impl StandingCursor {
    pub fn open(reader: &SegmentReader) -> Result<Self, WordsError> {
        let fields = schema().1;
        let postings = |field: Field, text: &str| -> Result<Option<SegmentPostings>, WordsError> {
            let term = Term::from_field_text(field, text);
            let index = reader.inverted_index(field)?;
            Ok(index.read_postings(&term, IndexRecordOption::Basic)?)
        };
        Ok(Self {
            names: postings(fields.mark, NAME_MARK)?,
            typed: postings(fields.role, TYPED)?,
        })
    }

    #[inline]
    pub fn of(&mut self, doc: u32, class: Class) -> Standing {
        let holds = |postings: &mut SegmentPostings| {
            if postings.doc() < doc {
                postings.seek(doc);
            }
            postings.doc() == doc
        };
        if class == Class::Output {
            Standing::Output
        } else if self.names.iter_mut().any(holds) {
            Standing::Name
        } else if self.typed.iter_mut().any(holds) {
            Standing::Typed
        } else {
            Standing::Prose
        }
    }
}

/// Scores are rounded to this step, because the order in which a query's parts are added up differs
/// between segments.
const STEP: f32 = 1.0 / 1024.0;

/// To the nearest step. No score is negative, and `round` is a call of a function.
pub(super) fn rounded(score: f32) -> f32 {
    (f64::from(score / STEP) + 0.5) as i64 as f32 * STEP
}

/// Where matches go.
pub(super) trait HitCollector {
    /// A passage matches. `rest`: what it is, and its time; both are looked up only where they
    /// count.
    fn take(
        &mut self,
        key: u64,
        class: Class,
        bm25: f32,
        needs_check: bool,
        rest: (impl FnOnce() -> Standing, impl FnOnce() -> i64),
    );

    /// An empty one like this, for another thread.
    fn apart(&self) -> Self;

    /// Take what such a one was given.
    fn absorb(&mut self, other: Self);
}

/// Matches of several searches, each passage once.
#[derive(Default)]
pub(super) struct MergedHits(HashMap<(u64, Class), Match, FxBuildHasher>);

struct Match {
    bm25: f32,
    needs_check: bool,
    standing: Standing,
    time: i64,
}

impl MergedHits {
    /// Hand all of them on, or the first of each entry, in the order of their keys.
    pub fn into_top(self, top: &mut Top, once_per_entry: bool) {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        if once_per_entry {
            all.dedup_by_key(|((key, _), _)| *key);
        }
        for ((key, class), found) in all {
            let rest = (|| found.standing, || found.time);
            top.take(key, class, found.bm25, found.needs_check, rest);
        }
    }
}

impl HitCollector for MergedHits {
    fn apart(&self) -> Self {
        Self::default()
    }

    fn absorb(&mut self, other: Self) {
        for ((key, class), found) in other.0 {
            let rest = (|| found.standing, || found.time);
            self.take(key, class, found.bm25, found.needs_check, rest);
        }
    }

    /// The best score counts. What is certain on one side needs no check.
    fn take(
        &mut self,
        key: u64,
        class: Class,
        bm25: f32,
        needs_check: bool,
        rest: (impl FnOnce() -> Standing, impl FnOnce() -> i64),
    ) {
        self.0
            .entry((key, class))
            .and_modify(|known| {
                known.bm25 = known.bm25.max(bm25);
                known.needs_check &= needs_check;
            })
            .or_insert_with(|| {
                let (standing, time) = rest;
                Match {
                    bm25,
                    needs_check,
                    standing: standing(),
                    time: time(),
                }
            });
    }
}

/// The first `limit` hits so far.
pub(super) struct Top {
    order: Order,
    limit: usize,
    now_ms: i64,
    heap: BinaryHeap<Reverse<RankedHit>>,
    /// Those that tie with the worst of them.
    tied: Vec<Hit>,
    total: usize,
    sessions: HashSet<u64, FxBuildHasher>,
    last_session: Option<u64>,
    undecided: usize,
}

impl Top {
    pub fn new(order: Order, limit: usize, now_ms: i64) -> Self {
        Self {
            order,
            limit,
            now_ms,
            heap: BinaryHeap::new(),
            tied: Vec::new(),
            total: 0,
            sessions: HashSet::default(),
            last_session: None,
            undecided: 0,
        }
    }

    /// Keep a hit if it is among the first, or ties with the last of them.
    fn keep(&mut self, ranked: RankedHit) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(ranked));
            return;
        }
        let Some(mut worst) = self.heap.peek_mut() else {
            return;
        };
        let is_better = worst.0 < ranked;
        let left = match is_better {
            true => std::mem::replace(&mut *worst, Reverse(ranked)),
            false => Reverse(ranked),
        };
        drop(worst);
        if self.heap.peek().is_some_and(|worst| left.0.ties(&worst.0)) {
            self.tied.push(left.0.0);
        } else if is_better {
            self.tied.clear();
        }
    }

    /// The hits, first one first.
    pub fn into_answer(mut self) -> Answer {
        self.tied.sort_unstable_by(TieBreak::BY_NUMBER.hits);
        let mut hits: Vec<_> = self
            .heap
            .into_iter()
            .map(|Reverse(ranked)| ranked)
            .collect();
        hits.sort_unstable_by(|a, b| b.cmp(a));
        Answer {
            hits: hits.into_iter().map(|ranked| ranked.0).collect(),
            tied: self.tied,
            total: self.total,
            sessions: self.sessions.len(),
            undecided: self.undecided,
            is_all: self.total <= self.limit,
            any: self.total,
            absent: Vec::new(),
            most_held: 0,
        }
    }
}

impl HitCollector for Top {
    fn apart(&self) -> Self {
        Self::new(self.order, self.limit, self.now_ms)
    }

    fn absorb(&mut self, other: Self) {
        self.total += other.total;
        self.sessions.extend(other.sessions);
        self.undecided += other.undecided;
        for Reverse(ranked) in other.heap {
            self.keep(ranked);
        }
        for tied in other.tied {
            self.keep(RankedHit(tied));
        }
    }

    /// A passage matches: it is counted, and what could be among the first is weighed. Most of a
    /// common word's passages cannot, and nothing more is looked up of them.
    fn take(
        &mut self,
        key: u64,
        class: Class,
        bm25: f32,
        needs_check: bool,
        rest: (impl FnOnce() -> Standing, impl FnOnce() -> i64),
    ) {
        self.total += 1;
        // Matches of a session mostly follow each other.
        let session = key >> ARRIVAL_BITS;
        if self.last_session.replace(session) != Some(session) {
            self.sessions.insert(session);
        }
        self.undecided += usize::from(needs_check);
        let worst = self.heap.peek().map(|worst| worst.0.0.score - STEP);
        let is_full = self.order == Order::Ranked && self.heap.len() >= self.limit;
        let worst = worst.filter(|_| is_full);
        if worst.is_some_and(|worst| rank::most(bm25, class) < worst) {
            return;
        }
        let (standing, time) = (rest.0(), rest.1);
        // Nothing gains by its age.
        if worst.is_some_and(|worst| bm25 * standing.weight() < worst) {
            return;
        }
        let time = time();
        let time_ms = (time != NO_TIME).then_some(time);
        let weighed = match self.order {
            Order::Ranked => bm25 * standing.weight() * rank::recency(time_ms, self.now_ms),
            Order::Newest => 0.0,
        };
        let ranked = RankedHit(Hit {
            key,
            class,
            score: rounded(weighed),
            bm25: rounded(bm25),
            standing,
            time_ms,
            needs_check,
            session: None,
        });
        self.keep(ranked);
    }
}

/// A hit; the greater one comes first. With order by time all scores are equal.
#[derive(PartialEq)]
struct RankedHit(Hit);

impl Eq for RankedHit {}

impl RankedHit {
    /// Whether nothing but their keys tells which comes first.
    fn ties(&self, other: &Self) -> bool {
        self.0.score == other.0.score && self.0.time_ms == other.0.time_ms
    }
}

impl PartialOrd for RankedHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.0, &other.0);
        a.score
            .total_cmp(&b.score)
            .then(a.time_ms.cmp(&b.time_ms))
            .then(a.key.cmp(&b.key))
            .then(b.class.cmp(&a.class))
    }
}
