//! What is looked for while the files are read for the first time? Where it may stand is noted then, so that the first
//! search reads that alone and not all files once more.

use std::collections::HashMap;
use std::ops::Range;

use super::plan::Plan;
use crate::catalogue::owed::Stretch;
use crate::catalogue::write::{ARRIVAL_BITS, Applied, Chunk};
use crate::catalogue::{Catalogue, Error};
use crate::format::Shape;
use crate::model::Expr;
use crate::words::Prefilter;

/// Bytes of entries that a search reads whatever they say, about: the sample that scores rest on.
const SAMPLE_BYTES: u64 = 512 << 10;
/// Lines are looked through together up to so many bytes.
const SPAN_BYTES: u64 = 32 << 10;
/// Spans that may hold it are read together up to so many bytes.
const STRETCH_BYTES: u64 = 4 << 20;

/// Of how many entries one is in the sample, where there are so many bytes of them.
pub fn sample_step(bytes: u64) -> u64 {
    bytes / SAMPLE_BYTES + 1
}

/// Whether the sample holds the entry with this hash. A hash knows nothing of the text: any share of its values is fair.
pub fn is_sampled(hash: u64, step: u64) -> bool {
    hash.is_multiple_of(step)
}

/// What bytes must hold.
pub struct Sought {
    prefilter: Prefilter,
    /// See [`sample_step`]; 0 until it is known.
    step: u64,
}

/// Some whole lines of a source, and the entries in them by their place in the chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct Span {
    bytes: Range<u64>,
    entries: Range<i64>,
    /// Bytes of these entries.
    length: u64,
    /// They may hold what is looked for, or a sample.
    may_hold: bool,
}

/// Notes of one who reads a source, chunk by chunk.
pub struct Notes<'s> {
    sought: Option<&'s Sought>,
    json: bool,
    spans: Vec<Span>,
    /// Entries of the chunk.
    entries: i64,
    /// Of them those behind the last span: the first, their bytes, and whether one is of the sample.
    first: i64,
    length: u64,
    sampled: bool,
}

impl<'s> Notes<'s> {
    /// For the source of `plan`.
    pub fn new(sought: Option<&'s Sought>, plan: &Plan<'_>) -> Notes<'s> {
        Notes {
            sought,
            json: plan.format.shape_of(&plan.path) != Shape::Text,
            spans: Vec::new(),
            entries: 0,
            first: 0,
            length: 0,
            sampled: false,
        }
    }

    /// The next entry of the chunk.
    pub fn entry(&mut self, hash: u64, length: u64) {
        let Some(sought) = self.sought else { return };
        self.entries += 1;
        self.length += length;
        self.sampled |= is_sampled(hash, sought.step.max(1));
    }

    /// Whether lines of so many bytes are enough for a look.
    pub fn is_due(&self, bytes: u64) -> bool {
        self.sought.is_some() && bytes >= SPAN_BYTES
    }

    /// Look through `lines`, which begin at `start` of the source and hold the entries since the last look.
    pub fn look(&mut self, lines: &[u8], start: u64) {
        let Some(sought) = self.sought else { return };
        let span = Span {
            bytes: start..start + lines.len() as u64,
            entries: self.first..self.entries,
            length: self.length,
            may_hold: self.sampled || sought.prefilter.may_match(lines, self.json),
        };
        (self.first, self.length, self.sampled) = (self.entries, 0, false);
        match self.spans.last_mut() {
            Some(last) if last.goes_on(&span) => {
                last.bytes.end = span.bytes.end;
                last.entries.end = span.entries.end;
                last.length += span.length;
            }
            _ => self.spans.push(span),
        }
    }

    /// The chunk ends.
    pub fn take(&mut self) -> Vec<Span> {
        (self.entries, self.first, self.length, self.sampled) = (0, 0, 0, false);
        std::mem::take(&mut self.spans)
    }
}

impl Span {
    fn goes_on(&self, next: &Span) -> bool {
        let together = next.bytes.end - self.bytes.start;
        self.may_hold == next.may_hold && (!self.may_hold || together <= STRETCH_BYTES)
    }
}

/// Where an expression may stand in a catalogue that was made while it was looked for.
pub struct Sighted {
    expr: Expr,
    sought: Sought,
    found: Found,
    /// Of the catalogue when all was in; `None` before.
    version: Option<i64>,
}

#[derive(Default)]
struct Found {
    stretches: Vec<Stretch>,
    /// Entries that cannot hold it, and their bytes, by session.
    passed: HashMap<i64, (u64, u64)>,
    /// Something was noted of a file that was read again since: none of it counts.
    is_given_up: bool,
}

impl Sighted {
    /// Look for this expression while an empty catalogue is filled; `None` where bytes do not tell.
    pub fn new(expr: &Expr) -> Option<Sighted> {
        let prefilter = Prefilter::new(Some(expr));
        (!prefilter.is_open()).then(|| Sighted {
            expr: expr.clone(),
            sought: Sought { prefilter, step: 0 },
            found: Found::default(),
            version: None,
        })
    }

    /// So many bytes are about to be read. Only the first time counts: there is one sample of all.
    pub fn expect(&mut self, bytes: u64) {
        if self.sought.step == 0 {
            self.sought.step = sample_step(bytes);
        }
    }

    /// The catalogue is begun anew.
    pub fn forget(&mut self) {
        self.found = Found::default();
    }

    /// All is in.
    pub fn close(&mut self, catalogue: &Catalogue) -> Result<(), Error> {
        self.version = Some(catalogue.data_version()?);
        Ok(())
    }

    /// Whether this is what is asked for, and nobody else has written to the catalogue since.
    pub fn answers(&self, expr: Option<&Expr>, catalogue: &Catalogue) -> Result<bool, Error> {
        let is_asked = expr == Some(&self.expr) && !self.found.is_given_up;
        Ok(is_asked && self.version == Some(catalogue.data_version()?))
    }

    /// Of how many entries one is in the sample.
    pub fn step(&self) -> u64 {
        self.sought.step.max(1)
    }

    /// Stretches that may hold it, or a sample.
    pub fn stretches(&self) -> impl Iterator<Item = &Stretch> {
        self.found.stretches.iter()
    }

    /// How many entries of these sessions cannot hold it, and their bytes.
    pub fn passed(&self, may_be: impl Fn(i64) -> bool) -> (u64, u64) {
        let of = self.found.passed.iter();
        let of = of.filter(|(session, _)| may_be(**session));
        of.fold((0, 0), |sum, (_, (entries, bytes))| {
            (sum.0 + entries, sum.1 + bytes)
        })
    }

    /// For those who read, and for the one who writes.
    pub fn split(&mut self) -> (&Sought, Sightings<'_>) {
        (&self.sought, Sightings(&mut self.found))
    }
}

/// What readers have noted, as it comes into the catalogue.
pub struct Sightings<'f>(&'f mut Found);

impl Sightings<'_> {
    /// A file was read twice: all is looked through instead.
    pub fn give_up(&mut self) {
        *self.0 = Found {
            is_given_up: true,
            ..Found::default()
        };
    }

    /// The spans of a chunk that is in.
    pub fn add<E>(&mut self, plan: &Plan<'_>, chunk: &Chunk<E>, applied: &Applied, spans: &[Span]) {
        let session = applied.first >> ARRIVAL_BITS;
        for span in spans {
            if !span.may_hold {
                let (entries, bytes) = self.0.passed.entry(session).or_default();
                *entries += (span.entries.end - span.entries.start).unsigned_abs();
                *bytes += span.length;
            } else if !span.entries.is_empty() {
                self.0.stretches.push(Stretch {
                    source: applied.source,
                    first: applied.first + span.entries.start,
                    last: applied.first + span.entries.end - 1,
                    start: span.bytes.start,
                    end: span.bytes.end,
                    path: plan.path.clone(),
                    format: plan.format.name().to_owned(),
                    identity: (!chunk.racy).then_some(chunk.identity),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_hold_it_is_one_span_and_what_may_is_cut_where_it_is_long() {
        let expr = Expr::Word("needle".into());
        let mut sighted = Sighted::new(&expr).unwrap();
        sighted.expect(1 << 40);
        sighted.expect(1);
        let (sought, _) = sighted.split();
        let mut notes = Notes {
            sought: Some(sought),
            json: true,
            spans: Vec::new(),
            entries: 0,
            first: 0,
            length: 0,
            sampled: false,
        };
        let mut at = 0;
        let mut look = |lines: &str, hash: u64| {
            notes.entry(hash, lines.len() as u64 - 1);
            notes.look(lines.as_bytes(), at);
            at += lines.len() as u64;
        };
        look("some hay\n", 1);
        look("more hay\n", 2);
        // Of the sample.
        look("hay\n", 0);
        look("a needle\n", 3);
        look("{\"needle\":1}\n", 4);
        look(&format!("needle{}\n", "-".repeat(3 << 20)), 5);
        look(&format!("needle{}\n", "-".repeat(3 << 20)), 6);
        let spans = notes.take();
        let of = |span: &Span| (span.entries.clone(), span.may_hold);
        let told: Vec<_> = spans.iter().map(of).collect();
        assert_eq!(
            told,
            [
                (0..2, false),
                (2..4, true),
                (4..5, false),
                (5..6, true),
                (6..7, true)
            ]
        );
        assert_eq!((spans[0].length, spans[0].bytes.clone()), (16, 0..18));
        assert!(notes.take().is_empty());
        assert!(Sighted::new(&Expr::Not(Box::new(expr))).is_none());
    }
}
