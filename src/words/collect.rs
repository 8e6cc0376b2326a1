//! Which documents of the segments match, on as many cores as that is worth?

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism};

use tantivy::SegmentReader;
use tantivy::columnar::{ColumnIndex, ColumnValues};
use tantivy::query::{EnableScoring, Query, Weight};

use super::WordsError;
use super::damage::reading;
use super::schema::NO_TIME;
use super::scope::TimeRange;
use super::search::Order;
use super::statistics::CombinedStatistics;
use super::top::{HitCollector, StandingCursor};
use crate::model::Class;

/// After this many matches there are probably enough left to make it worth waking other cores.
const MANY: usize = 2_000;

/// What a match must be besides, as far as every thread may ask it.
pub(super) struct MatchLimits<'a> {
    /// Ranges of keys, ascending, whose passages on disk are outdated.
    pub dead: &'a [(u64, u64)],
    /// By class, ranges of keys whose passages are searched in the overlay instead, ascending.
    pub covered: [&'a [(u64, u64)]; 2],
    pub times: TimeRange<'a>,
    /// By class: the index cannot tell for certain.
    pub inexact: [bool; 2],
    /// Whether the answer is still wanted.
    pub wanted: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl MatchLimits<'_> {
    /// Whether no passage of a class is outdated, or searched elsewhere.
    pub(super) fn is_nothing_gone(&self, class: Class) -> bool {
        self.dead.is_empty() && self.covered[class as usize].is_empty()
    }

    #[inline]
    pub(super) fn is_gone(&self, key: u64, class: Class) -> bool {
        is_within(self.dead, key) || is_within(self.covered[class as usize], key)
    }
}

#[inline]
fn is_within(ranges: &[(u64, u64)], key: u64) -> bool {
    // Mostly nothing is outdated.
    if ranges.is_empty() {
        return false;
    }
    let after = ranges.partition_point(|(first, _)| *first <= key);
    after > 0 && key <= ranges[after - 1].1
}
/// Asked with the key of each match.
type Allow<'a> = Option<&'a dyn Fn(u64) -> bool>;

/// Feed the matches on disk that are within and allowed to `top`. Each query finds passages of its
/// class.
pub(super) fn collect<T: HitCollector + Send>(
    queries: &[(Class, Box<dyn Query>)],
    order: Order,
    statistics: &CombinedStatistics<'_>,
    (within, allow): (&MatchLimits<'_>, Allow<'_>),
    top: &mut T,
) -> Result<(), WordsError> {
    let Some(searcher) = statistics.disk else {
        return Ok(());
    };
    let scoring = match order {
        Order::Ranked => EnableScoring::enabled_from_statistics_provider(statistics, searcher),
        Order::Newest => EnableScoring::disabled_from_searcher(searcher),
    };
    let weights = queries.iter().map(|(class, query)| {
        let weight = query.weight(scoring)?;
        Ok((*class, weight))
    });
    // The smallest tells whether to wake other cores; of the rest the largest comes first, so that
    // all cores come to their end together.
    let mut readers: Vec<&SegmentReader> = searcher.segment_readers().iter().collect();
    readers.sort_by_key(|reader| Reverse(reader.max_doc()));
    let smallest = readers.pop();
    readers.splice(0..0, smallest);
    let segments = Segments {
        readers,
        next: AtomicUsize::new(0),
        weights: weights.collect::<tantivy::Result<_>>()?,
        scored: order == Order::Ranked,
        within,
    };
    let mut matches = 0;
    while matches < MANY || allow.is_some() {
        match segments.feed_next(allow, top)? {
            Some(more) => matches += more,
            None => return Ok(()),
        }
    }
    segments.feed_together(top)
}

/// The segments of an index, each asked once.
struct Segments<'a> {
    readers: Vec<&'a SegmentReader>,
    next: AtomicUsize,
    weights: Vec<(Class, Box<dyn Weight>)>,
    scored: bool,
    within: &'a MatchLimits<'a>,
}

impl Segments<'_> {
    /// All that are left, on every core.
    fn feed_together<T: HitCollector + Send>(&self, top: &mut T) -> Result<(), WordsError> {
        let left = self
            .readers
            .len()
            .saturating_sub(self.next.load(Ordering::Relaxed));
        let cores = available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            // As many as can be had: one does it all, too.
            let others: Vec<_> = (1..cores.min(left))
                .map_while(|_| {
                    let mut own = top.apart();
                    let feed = move || reading(|| self.feed_rest(&mut own).map(|()| own));
                    Builder::new().spawn_scoped(scope, feed).ok()
                })
                .collect();
            let mut done = self.feed_rest(top);
            for other in others {
                match other.join() {
                    Ok(Ok(own)) => top.absorb(own),
                    Ok(Err(error)) => done = Err(error),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        })
    }

    fn feed_rest(&self, top: &mut impl HitCollector) -> Result<(), WordsError> {
        while self.feed_next(None, top)?.is_some() {}
        Ok(())
    }

    /// The next one: how many of its documents match. `None`: all were asked.
    fn feed_next(
        &self,
        allow: Allow<'_>,
        top: &mut impl HitCollector,
    ) -> Result<Option<usize>, WordsError> {
        let Some(reader) = self.readers.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
            return Ok(None);
        };
        let within = self.within;
        if within.wanted.is_some_and(|wanted| !wanted()) {
            return Err(WordsError::Cancelled);
        }
        let columns = Columns::open(reader)?;
        let alive = reader.alive_bitset();
        let mut standings = StandingCursor::open(reader)?;
        let mut matches = 0;
        let mut take = |doc: u32, class: Class, score: f32| {
            matches += 1;
            if alive.is_some_and(|alive| !alive.is_alive(doc)) {
                return;
            }
            let key = columns.key(doc);
            if within.is_gone(key, class) || allow.is_some_and(|allow| !allow(key)) {
                return;
            }
            let time = || columns.time.get_val(doc);
            let times = &within.times;
            if times.are_asked() && !times.admit(Some(time()).filter(|t| *t != NO_TIME)) {
                return;
            }
            let standing = || standings.of(doc, class);
            let needs_check = within.inexact[class as usize];
            top.take(key, class, score, needs_check, (standing, time));
        };
        for (class, weight) in &self.weights {
            if self.scored {
                weight.for_each(reader, &mut |doc, score| take(doc, *class, score))?;
            } else {
                weight.for_each_no_score(reader, &mut |docs| {
                    docs.iter().for_each(|doc| take(*doc, *class, 0.0));
                })?;
            }
        }
        Ok(Some(matches))
    }
}

type Column<T> = Arc<dyn ColumnValues<T>>;

pub(super) struct Columns {
    key: Column<u64>,
    class: Column<u64>,
    /// Of all documents, where they have one.
    one_class: Option<Class>,
    pub(super) time: Column<i64>,
}

/// The value of each document. If all documents have one, it is read without a check for missing
/// ones.
fn of_each<T: PartialOrd + Copy + Send + Sync + std::fmt::Debug + 'static>(
    column: tantivy::columnar::Column<T>,
    default: T,
) -> Column<T> {
    match column.index {
        ColumnIndex::Full => column.values,
        _ => column.first_or_default_col(default),
    }
}

impl Columns {
    pub(super) fn open(reader: &SegmentReader) -> Result<Self, WordsError> {
        let fast = reader.fast_fields();
        let class = of_each(fast.u64("class")?, 0);
        let (least, most) = (class.min_value(), class.max_value());
        Ok(Self {
            key: of_each(fast.u64("key")?, 0),
            class,
            one_class: (least == most).then_some(class_of(least)),
            time: of_each(fast.i64("time")?, NO_TIME),
        })
    }

    pub(super) fn key(&self, doc: u32) -> u64 {
        self.key.get_val(doc)
    }

    /// The keys of these documents.
    pub(super) fn keys(&self, docs: &[u32], keys: &mut Vec<u64>) {
        keys.resize(docs.len(), 0);
        self.key.get_vals(docs, keys);
    }

    pub(super) fn time_ms(&self, doc: u32) -> Option<i64> {
        Some(self.time.get_val(doc)).filter(|time| *time != NO_TIME)
    }

    pub(super) fn class(&self, doc: u32) -> Class {
        match self.one_class {
            Some(class) => class,
            None => class_of(self.class.get_val(doc)),
        }
    }
}

fn class_of(value: u64) -> Class {
    match value == Class::Prose as u64 {
        true => Class::Prose,
        false => Class::Output,
    }
}
