//! Which passages match, and which of them come first?

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, Occur, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Index, IndexMeta, Searcher, SegmentMeta, Term};

use super::collect::{Columns, MatchLimits, collect};
use super::compile::{CompiledQuery, term_query, unscored};
use super::damage::{columns_are_whole, condemned, reading};
use super::directory::IndexDirectory;
use super::schema::{ERROR_MARK, Fields, schema};
use super::scope::Scope;
use super::statistics::CombinedStatistics;
use super::top::{HitCollector, MergedHits, Top};
use super::write::{open_index, open_reader};
use super::{Overlay, WordsError};
use crate::model::{Class, Expr, Standing};

/// The index on disk as one commit left it. Reading takes no lock.
pub struct Words {
    pub(super) searcher: Searcher,
    payload: Option<String>,
}

/// What looks for damage in the segments of a commit.
type DamageCheck = fn(&Index, &[SegmentMeta]) -> Result<(), WordsError>;

impl Words {
    /// Open the index in `dir` at its newest commit.
    ///
    /// # Errors
    /// [`WordsError::Condemned`] when it was found damaged before.
    pub fn open(dir: &Path) -> Result<Self, WordsError> {
        // The columns say to which entry a passage belongs. A wrong one would hide passages without
        // any error, and they are small enough to be checked each time.
        Self::open_where(dir, columns_are_whole)
    }

    /// Open the index in `dir` at its newest commit without looking for damage. It is enough for
    /// callers that only need to know the commit; searching, deleting and merging meet damage
    /// themselves.
    ///
    /// # Errors
    /// As [`Words::open`].
    pub fn open_to_write(dir: &Path) -> Result<Self, WordsError> {
        Self::open_where(dir, |_, _| Ok(()))
    }

    fn open_where(dir: &Path, are_whole: DamageCheck) -> Result<Self, WordsError> {
        match condemned(dir) {
            Some(why) => Err(WordsError::Condemned(why)),
            None => reading(|| Self::open_undamaged(dir, are_whole)),
        }
    }

    fn open_undamaged(dir: &Path, are_whole: DamageCheck) -> Result<Self, WordsError> {
        if !dir.join("meta.json").try_exists()? {
            return Err(WordsError::Missing(dir.to_owned()));
        }
        let (index, _) = open_index(IndexDirectory::open(dir, true)?)?;
        // A commit between the two reads would pair a payload with the segments of another commit;
        // and after it, or after a merge, segments that were being opened may be gone.
        loop {
            let before = index.load_metas().map_err(WordsError::of_reading)?;
            let reader = open_reader(&index);
            let columns = are_whole(&index, &before.segments);
            let after = index.load_metas().map_err(WordsError::of_reading)?;
            let segments = |metas: &IndexMeta| -> Vec<_> {
                metas.segments.iter().map(|segment| segment.id()).collect()
            };
            if before.opstamp == after.opstamp
                && before.payload == after.payload
                && segments(&before) == segments(&after)
            {
                columns?;
                return Ok(Self {
                    searcher: reader?.searcher(),
                    payload: after.payload,
                });
            }
        }
    }

    /// The payload of that commit.
    pub fn payload(&self) -> Option<&str> {
        self.payload.as_deref()
    }

    /// All keys on disk with their classes, ascending.
    pub fn keys(&self) -> Result<Vec<(u64, Class)>, WordsError> {
        reading(|| {
            let mut keys = Vec::new();
            for reader in self.searcher.segment_readers() {
                let columns = Columns::open(reader)?;
                keys.extend(
                    reader
                        .doc_ids_alive()
                        .map(|doc| (columns.key(doc), columns.class(doc))),
                );
            }
            keys.sort_unstable();
            Ok(keys)
        })
    }
}

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The best score; among equals the newest. Those that tie in both go by a [`TieBreak`], else
    /// by the largest key, then prose.
    Ranked,
    /// The newest; those that tie go as above. Scores are 0.
    Newest,
}

/// Which comes first of those that tie? Keys tell in which order files were read, which nobody
/// should see: whoever shows hits knows better.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct TieBreak<'a> {
    pub sessions: &'a dyn Fn(u64, u64) -> Ordering,
    pub hits: &'a dyn Fn(&Hit, &Hit) -> Ordering,
}

impl TieBreak<'_> {
    /// By their numbers, for whoever only counts them.
    pub const BY_NUMBER: TieBreak<'static> = TieBreak {
        sessions: &|a, b| b.cmp(&a),
        hits: &|a, b| b.key.cmp(&a.key).then(a.class.cmp(&b.class)),
    };
}

/// A passage that matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The entry's key.
    pub key: u64,
    /// The passage's class.
    pub class: Class,
    /// BM25 weighed by standing and age, to the nearest 1/1024; 0 when ordered by time.
    pub score: f32,
    /// BM25 alone.
    pub bm25: f32,
    /// What the passage is.
    pub standing: Standing,
    /// The entry's time.
    pub time_ms: Option<i64>,
    /// Where sessions are ranked as wholes: the score of its session, and its parts.
    pub session: Option<SessionScore>,
    /// The index could not tell for certain: ask [`super::Matcher`] with the passage's text.
    pub needs_check: bool,
}

/// Why a session stands where it does: `score = (whole + passage + adjacent) × held`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionScore {
    /// To the nearest 1/1024.
    pub score: f32,
    /// What all of its conversation says of the words: how rare they are, how often they stand
    /// there, in how long a session. From 0 to 2.
    pub whole: f32,
    /// Its best passage, as a part of the best passage of all sessions.
    pub passage: f32,
    /// 3 where its best passage holds the words next to each other, else 0.
    pub adjacent: f32,
    /// How many of the words it holds, by how rare they are; what only tools printed counts half.
    pub held: f32,
    /// How many of the words this passage holds, as a part of all.
    pub share: f32,
    /// How many of its passages hold any of the words.
    pub matches: u64,
    /// How near each other they stand in this passage, from 0 to 1: next to each other.
    pub closeness: f32,
}

/// The first hits, and how many there are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// At most as many as asked for, first one first.
    pub hits: Vec<Hit>,
    /// Others that tie with the last of these, for which there was no room.
    pub tied: Vec<Hit>,
    /// All matching passages.
    pub total: usize,
    /// Sessions with a matching passage.
    pub sessions: usize,
    /// How many of `total` need a check. Unless there are none it is an upper bound, and so is
    /// `sessions`.
    pub undecided: usize,
    /// Whether all of `total` are among the hits.
    pub is_all: bool,
    /// Where sessions are ranked as wholes: passages also of sessions that lack a word that is
    /// demanded.
    pub any: usize,
    /// Where sessions are ranked as wholes: words that none holds, by their place in the query.
    pub absent: Vec<usize>,
    /// Where sessions are ranked as wholes: how many of the words one session holds, at most.
    pub most_held: usize,
}

impl Answer {
    /// Put those that tie in score and time into their order: as many hits stay as there are.
    pub fn settle(&mut self, ties: &TieBreak<'_>) {
        let room = self.hits.len();
        self.hits.append(&mut self.tied);
        let tie = |a: &Hit, b: &Hit| a.score == b.score && a.time_ms == b.time_ms;
        // Of very many that tie with the last one only those for which there is room are sorted.
        if let (true, Some(last)) = (self.hits.len() > room, room.checked_sub(1)) {
            let worst = self.hits[last];
            let from = self.hits.partition_point(|hit| !tie(hit, &worst));
            let tied = &mut self.hits[from..];
            tied.select_nth_unstable_by(last - from, |a, b| (ties.hits)(a, b));
            self.hits.truncate(room);
        }
        for tied in self.hits.chunk_by_mut(tie) {
            if tied.len() > 1 {
                tied.sort_by(|a, b| (ties.hits)(a, b));
            }
        }
        self.hits.truncate(room);
    }
}

/// What is searched as if it were one index: the disk, the overlay or both. Scores rest on the
/// statistics of both.
#[derive(Clone, Copy)]
pub struct SearchSource<'a> {
    /// Whatever [reads text](Expr::reads_text) needs a check of every passage on disk, and scores
    /// nothing: ask such an `expr` of an overlay of everything.
    pub disk: Option<&'a Words>,
    /// The overlay of this `expr`, with entries that the scope [admits](Scope::admits).
    pub overlay: Option<&'a Overlay<'a>>,
    /// `None` when only the scope decides.
    pub expr: Option<&'a Expr>,
    /// Which passages are asked at all.
    pub scope: Scope<'a>,
}

/// Search one side: the disk, the overlay or both as if they were one index.
#[cfg(test)]
pub fn search(
    disk: Option<&Words>,
    overlay: Option<&Overlay<'_>>,
    expr: Option<&Expr>,
    scope: &Scope<'_>,
    order: Order,
    limit: usize,
) -> Result<Answer, WordsError> {
    let side = SearchSource {
        disk,
        overlay,
        expr,
        scope: *scope,
    };
    search_any(&[side], order, limit)
}

/// Search these sides. A passage that is found on several counts once, with its best score.
///
/// # Errors
/// [`WordsError::Unreadable`] when the disk turns out to be damaged: then all text must be in the
/// overlay.
pub fn search_any(
    sides: &[SearchSource<'_>],
    order: Order,
    limit: usize,
) -> Result<Answer, WordsError> {
    let now_ms = sides.first().map_or(0, |side| side.scope.now_ms);
    let search = || {
        let mut top = Top::new(order, limit, now_ms);
        let once_per_entry = sides.iter().any(|side| side.scope.once_per_entry);
        match sides {
            [side] if !once_per_entry => search_side(side, order, &mut top)?,
            _ => {
                let mut all = MergedHits::default();
                for side in sides {
                    search_side(side, order, &mut all)?;
                }
                all.into_top(&mut top, once_per_entry);
            }
        }
        Ok(top.into_answer())
    };
    match sides.iter().any(|side| side.disk.is_some()) {
        true => reading(search),
        false => search(),
    }
}

fn search_side(
    side: &SearchSource<'_>,
    order: Order,
    top: &mut (impl HitCollector + Send),
) -> Result<(), WordsError> {
    let SearchSource {
        disk,
        overlay,
        expr,
        scope,
    } = side;
    let (expr, overlay) = (*expr, *overlay);
    let fields = schema().1;
    let classes = [Class::Prose, Class::Output]
        .into_iter()
        .filter(|class| scope.class.is_none_or(|wanted| wanted == *class));
    let both = CombinedStatistics::new(disk.map(|words| &words.searcher), overlay);
    if disk.is_some() {
        let mut inexact = [false; 2];
        let mut queries = Vec::new();
        for class in classes.clone() {
            let compiled = CompiledQuery::new(expr, class).checked();
            inexact[class as usize] = !compiled.exact;
            let query = compiled.query(&fields);
            let query = match disk {
                Some(words) => restrict(query, scope, &fields, &words.searcher)?,
                None => query,
            };
            queries.push((class, query));
        }
        let covered = |class| overlay.map_or(&[][..], |overlay| overlay.covered(class));
        let within = MatchLimits {
            dead: scope.dead,
            covered: [Class::Prose, Class::Output].map(covered),
            times: scope.times,
            inexact,
            wanted: scope.wanted,
        };
        collect(&queries, order, &both, (&within, scope.allow), top)?;
    }
    for (overlay, class) in overlay
        .into_iter()
        .flat_map(|o| classes.clone().map(move |c| (o, c)))
    {
        let compiled = overlay.compiled(class);
        let weights = match order {
            Order::Ranked if both.total_num_docs()? > 0 => compiled.weights(&both, &fields)?,
            _ => Vec::new(),
        };
        for found in overlay.matches(class) {
            if scope.allow.is_some_and(|allow| !allow(found.key)) {
                continue;
            }
            let score = match order {
                Order::Ranked => compiled.score(found.frequencies, found.norm, &weights),
                Order::Newest => None,
            };
            let rest = (|| found.standing, || found.time);
            top.take(found.key, class, score.unwrap_or(0.0), false, rest);
        }
    }
    Ok(())
}

/// Add the parts of the scope that are terms of the index.
pub(super) fn restrict(
    query: Box<dyn Query>,
    scope: &Scope<'_>,
    fields: &Fields,
    searcher: &Searcher,
) -> Result<Box<dyn Query>, WordsError> {
    let mut clauses = vec![(Occur::Must, query)];
    let raw = |field: Field, text: &str| {
        term_query(Term::from_field_text(field, text), IndexRecordOption::Basic)
    };
    for (pick, field) in [
        (scope.kinds, fields.kind),
        (scope.roles, fields.role),
        (scope.tools, fields.tool),
    ] {
        if !pick.any.is_empty() {
            let any = spellings(searcher, field, |value| pick.wants(value))?;
            let any = any.iter().map(|text| raw(field, text)).collect();
            clauses.push((Occur::Must, unscored(Box::new(BooleanQuery::union(any)))));
        }
        if !pick.none.is_empty() {
            let none = spellings(searcher, field, |value| pick.refuses(value))?;
            clauses.extend(none.iter().map(|text| (Occur::MustNot, raw(field, text))));
        }
    }
    match scope.error {
        Some(true) => clauses.push((Occur::Must, unscored(raw(fields.mark, ERROR_MARK)))),
        Some(false) => clauses.push((Occur::MustNot, raw(fields.mark, ERROR_MARK))),
        None => {}
    }
    Ok(match clauses.len() {
        1 => clauses.remove(0).1,
        _ => Box::new(BooleanQuery::new(clauses)),
    })
}

/// The values of a field that are asked for, as they are spelled. Such fields have few values.
fn spellings(
    searcher: &Searcher,
    field: Field,
    is_one: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, WordsError> {
    let mut found = BTreeSet::new();
    for reader in searcher.segment_readers() {
        let terms = reader.inverted_index(field)?;
        let mut terms = terms.terms().stream()?;
        while terms.advance() {
            if let Ok(text) = std::str::from_utf8(terms.key())
                && is_one(text)
                && !found.contains(text)
            {
                found.insert(text.to_owned());
            }
        }
    }
    Ok(found)
}
