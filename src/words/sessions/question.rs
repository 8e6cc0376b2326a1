//! What is asked of the passages: which of the words each holds.

use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, SegmentReader, Term};

use super::closeness::{Positions, close_tokens};
use super::evidence::{Evidence, Stretch};
use super::matches::{DocBits, Group, Matches};
use super::passage::{Details, FoundPassage, Passage, Place};
use crate::model::{ARRIVAL_BITS, Class, Expr};
use crate::words::collect::{Columns, MatchLimits};
use crate::words::compile::{CompiledQuery, all_of};
use crate::words::schema::{NO_TIME, schema};
use crate::words::scope::Scope;
use crate::words::search::{SearchSource, Words, restrict};
use crate::words::statistics::CombinedStatistics;
use crate::words::top::StandingCursor;
use crate::words::{Overlay, WordsError};

/// A key's entry is admitted by the filters.
pub(super) type Allow<'a> = Option<&'a dyn Fn(u64) -> bool>;

/// A few words, ready to be asked of the index on disk, by any thread.
pub(super) struct DiskQuestion<'a> {
    readers: &'a [SegmentReader],
    /// Of each of them.
    columns: Vec<Columns>,
    classes: Vec<ClassQuestion>,
    within: MatchLimits<'a>,
}

/// A few words, ready to be asked of passages of one class.
struct ClassQuestion {
    class: Class,
    /// Of each word.
    weights: Vec<Box<dyn Weight>>,
    /// What filters by terms of the index leave.
    filter: Option<Box<dyn Weight>>,
    /// The words that must be near each other; empty where that is not asked.
    close: Vec<Term>,
}

impl<'a> DiskQuestion<'a> {
    pub fn new(
        side: &SearchSource<'a>,
        disk: &'a Words,
        words: &[Expr],
    ) -> Result<DiskQuestion<'a>, WordsError> {
        let scope = &side.scope;
        let mut classes = Vec::new();
        for class in [Class::Prose, Class::Output] {
            if scope.class.is_none_or(|wanted| wanted == class) {
                classes.push(ClassQuestion::new(side, disk, words, class)?);
            }
        }
        let overlay = side.overlay;
        let covered = |class| overlay.map_or(&[][..], |overlay| overlay.covered(class));
        let readers = disk.searcher.segment_readers();
        let columns = readers.iter().map(Columns::open);
        Ok(DiskQuestion {
            readers,
            columns: columns.collect::<Result<_, _>>()?,
            classes,
            within: MatchLimits {
                dead: scope.dead,
                covered: [Class::Prose, Class::Output].map(covered),
                times: scope.times,
                inexact: [false; 2],
                wanted: scope.wanted,
            },
        })
    }

    /// In how many parts it is asked.
    pub fn parts(&self) -> u16 {
        u16::try_from(self.classes.len() * self.readers.len()).unwrap_or(u16::MAX)
    }

    /// A part: passages of one class in one segment.
    fn part(&self, part: u16) -> Option<(&ClassQuestion, &SegmentReader, &Columns)> {
        let part = usize::from(part);
        let segment = part % self.readers.len().max(1);
        let (reader, columns) = (self.readers.get(segment)?, self.columns.get(segment)?);
        Some((
            self.classes.get(part / self.readers.len())?,
            reader,
            columns,
        ))
    }

    /// Ask the passages of a part.
    pub fn ask(
        &self,
        part: u16,
        allow: Allow<'_>,
        evidence: &mut Evidence,
    ) -> Result<(), WordsError> {
        if self.within.wanted.is_some_and(|wanted| !wanted()) {
            return Err(WordsError::Cancelled);
        }
        match self.part(part) {
            Some((question, reader, columns)) => {
                let mut segment = Segment::open(question, reader, columns, part)?;
                let matches = segment.feed(&self.within, allow, evidence)?;
                evidence.parts.push((part, matches));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The passages of these stretches of a part, each with the rank of its session.
    pub fn passages(
        &self,
        part: u16,
        matches: &Matches,
        stretches: &[(Stretch, u64, usize)],
    ) -> Result<Vec<(usize, FoundPassage)>, WordsError> {
        let Some((question, reader, columns)) = self.part(part) else {
            return Ok(Vec::new());
        };
        let mut docs = Vec::new();
        for (Stretch { first, last, .. }, session, rank) in stretches {
            let within = matches.left.within(*first, *last);
            let with_key = within.map(|doc| (doc, columns.key(doc), *rank));
            docs.extend(with_key.filter(|(_, key, _)| key >> ARRIVAL_BITS == *session));
        }
        docs.sort_unstable();
        let mut standings = StandingCursor::open(reader)?;
        let mut held = Vec::new();
        let found = docs.into_iter().map(|(doc, key, rank)| {
            held.clear();
            held.extend(matches.held(doc));
            let passage = FoundPassage::new(&Passage {
                key,
                class: question.class,
                standing: standings.of(doc, question.class),
                bm25: matches.bm25(doc),
                held: &held,
                place: Place {
                    part: Some(part),
                    number: doc,
                },
                time_ms: &|| None,
            });
            (rank, passage)
        });
        Ok(found.collect())
    }

    /// What `passages` of a part are asked besides, in the order of their documents.
    pub fn details(
        &self,
        part: u16,
        passages: &[FoundPassage],
    ) -> Result<Vec<Details>, WordsError> {
        let Some((question, reader, columns)) = self.part(part) else {
            return Ok(Vec::new());
        };
        let mut positions = Positions::open(reader, &question.close)?;
        let details = passages.iter().map(|passage| {
            let doc = passage.place.number;
            let positions = positions.as_mut();
            Details {
                time_ms: columns.time_ms(doc),
                closeness: positions.map_or(0.0, |positions| positions.closeness(doc)),
            }
        });
        Ok(details.collect())
    }
}

impl ClassQuestion {
    fn new(
        side: &SearchSource<'_>,
        disk: &Words,
        words: &[Expr],
        class: Class,
    ) -> Result<ClassQuestion, WordsError> {
        let (fields, scope) = (schema().1, &side.scope);
        let both = CombinedStatistics::new(Some(&disk.searcher), side.overlay);
        let mut weights: Vec<Box<dyn Weight>> = Vec::new();
        for word in words {
            let compiled = CompiledQuery::new(Some(word), class);
            let scoring = EnableScoring::enabled_from_statistics_provider(&both, &disk.searcher);
            weights.push(compiled.query(&fields).weight(scoring)?);
        }
        let filter = match scope.has_terms() {
            true => {
                let all = all_of(class, &fields);
                let filter = restrict(all, scope, &fields, &disk.searcher)?;
                Some(filter.weight(EnableScoring::disabled_from_searcher(&disk.searcher))?)
            }
            false => None,
        };
        // What tools print is indexed without positions.
        let close = match class {
            Class::Prose => close_tokens(words),
            Class::Output => Vec::new(),
        };
        let close = close.iter();
        let close = close.map(|token| Term::from_field_text(fields.text(class), token));
        Ok(ClassQuestion {
            class,
            weights,
            filter,
            close: close.collect(),
        })
    }
}

/// One segment, asked for passages of one class.
struct Segment<'a> {
    question: &'a ClassQuestion,
    reader: &'a SegmentReader,
    columns: &'a Columns,
    part: u16,
    filter: Option<Box<dyn Scorer>>,
}

impl<'a> Segment<'a> {
    fn open(
        question: &'a ClassQuestion,
        reader: &'a SegmentReader,
        columns: &'a Columns,
        part: u16,
    ) -> Result<Segment<'a>, WordsError> {
        let filter = question.filter.as_ref();
        let filter = filter.map(|filter| filter.scorer(reader, 1.0));
        Ok(Segment {
            question,
            reader,
            columns,
            part,
            filter: filter.transpose()?,
        })
    }

    fn feed(
        &mut self,
        within: &MatchLimits<'_>,
        allow: Allow<'_>,
        evidence: &mut Evidence,
    ) -> Result<Matches, WordsError> {
        let (class, columns) = (self.question.class, self.columns);
        let alive = self.reader.alive_bitset();
        let mut standings = StandingCursor::open(self.reader)?;
        let mut matches = Matches::read(self.reader, &self.question.weights)?;
        let mut left = DocBits::new(self.reader.max_doc());
        let (mut found, mut keys, mut held) = (Group::default(), Vec::new(), Vec::new());
        let is_whole = alive.is_none() && within.is_nothing_gone(class);
        let takes_groups = class == Class::Output && is_whole && evidence.takes_groups();
        for group in 0..matches.groups() {
            matches.read_group(group, &mut found);
            columns.keys(&found.docs, &mut keys);
            if takes_groups {
                found.docs.iter().for_each(|doc| left.insert(*doc));
                let (bm25, time_ms) = (|doc| matches.bm25(doc), |doc| columns.time_ms(doc));
                evidence.take_printed(self.part, (&found, &keys), bm25, &time_ms);
                continue;
            }
            for (doc, key) in found.docs.iter().copied().zip(keys.iter().copied()) {
                if alive.is_some_and(|alive| !alive.is_alive(doc)) || within.is_gone(key, class) {
                    continue;
                }
                found.held(doc, &mut held);
                evidence.note(key, &held);
                if !self.is_admitted(doc) || allow.is_some_and(|allow| !allow(key)) {
                    continue;
                }
                if within.times.are_asked() && !within.times.admit(columns.time_ms(doc)) {
                    continue;
                }
                left.insert(doc);
                evidence.take(&Passage {
                    key,
                    class,
                    standing: standings.of(doc, class),
                    bm25: matches.bm25(doc),
                    held: &held,
                    place: Place {
                        part: Some(self.part),
                        number: doc,
                    },
                    time_ms: &|| columns.time_ms(doc),
                });
            }
        }
        matches.left = left;
        Ok(matches)
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

/// Ask the passages that the disk lacks.
pub(super) fn ask_overlay(
    disk: Option<&Words>,
    overlay: &Overlay<'_>,
    scope: &Scope<'_>,
    evidence: &mut Evidence,
) -> Result<(), WordsError> {
    let fields = schema().1;
    let both = CombinedStatistics::new(disk.map(|words| &words.searcher), Some(overlay));
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
            let details = Details {
                time_ms: (found.time != NO_TIME).then_some(found.time),
                closeness: found.closeness,
            };
            let held = scores.iter().enumerate();
            let held = held.filter(|(_, score)| score.is_some());
            let held: Vec<usize> = held.map(|(word, _)| word).collect();
            evidence.note(found.key, &held);
            let passage = evidence.take(&Passage {
                key: found.key,
                class,
                standing: found.standing,
                bm25: scores.iter().flatten().sum(),
                held: &held,
                place: Place {
                    part: None,
                    number: evidence.next_in_overlay(),
                },
                time_ms: &|| details.time_ms,
            });
            evidence.overlay.push((passage, details));
        }
    }
    Ok(())
}
