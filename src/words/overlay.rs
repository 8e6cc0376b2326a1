//! What do the passages say that the words on disk still lack? They are read once for each query.
//!
//! A [`Scan`] is an expression made ready for that; each thread reads into a [`ThreadResult`] of
//! its own, and the parts make the [`Overlay`]: the passages that match, as frequencies and
//! lengths, and what is needed to score them together with those on disk.
//!
//! Passages that the raw bytes rule out are not read: how many hold a word is told by the others
//! alone, and how long they usually are is a guess. That is near enough where the disk lacks
//! little, and a rough order where it lacks much.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;

use super::compile::{CompiledQuery, CompiledTerm};
use super::matcher::Matcher;
use super::prefilter::Prefilter;
use super::scanned::TextScanPattern;
use super::schema::{NO_TIME, schema};
use super::sessions::close_tokens;
use super::tally::{Kind, TermCounts};
use crate::model::{Class, Expr, Standing};

/// How long passages of each class usually are. Those that are read say nothing of the others: what
/// holds a word is longer than what does not.
const USUAL_TOKENS: [u64; 2] = [40, 100];

/// An entry whose passages the disk still lacks.
#[derive(Debug, Clone, Copy, Default)]
pub struct BacklogEntry {
    /// `session << 24 | arrival`.
    pub key: u64,
    /// Its time.
    pub time_ms: Option<i64>,
    /// What its prose is.
    pub standing: Standing,
    /// The scope admits it.
    pub admitted: bool,
}

/// An expression made ready to be asked of many passages.
#[derive(Debug)]
pub struct Scan {
    /// `None`: every passage matches.
    matcher: Option<Matcher>,
    prefilter: Prefilter,
    asked: [ClassQuery; 2],
    /// Terms of which it is asked how near each other they stand in prose.
    close: Vec<usize>,
}

/// What is asked of passages of one class.
#[derive(Debug)]
struct ClassQuery {
    compiled: CompiledQuery,
    leaves: Vec<Frequency>,
}

/// Where the frequency of a leaf comes from.
#[derive(Debug)]
enum Frequency {
    Term(usize),
    Run(Vec<(u32, usize)>),
    Text(TextScanPattern),
}

impl Scan {
    /// Make `expr` ready; `None` asks for every passage.
    pub fn new(expr: Option<&Expr>) -> Self {
        Self::filtered(expr, Prefilter::new(expr))
    }

    /// Make `expr` ready to be asked of passages whose bytes may match `read_for` alone: others do
    /// not match. That bounds what an expression costs that bytes rule out nothing for.
    pub fn reading_for(expr: Option<&Expr>, read_for: &Expr) -> Self {
        Self::filtered(expr, Prefilter::new(Some(read_for)))
    }

    fn filtered(expr: Option<&Expr>, prefilter: Prefilter) -> Self {
        let mut matcher = expr.map(Matcher::new);
        let asked = [Class::Prose, Class::Output].map(|class| {
            let compiled = CompiledQuery::new(expr, class);
            let terms = matcher.as_mut().map(|matcher| &mut matcher.terms);
            let leaves = match terms {
                None => Vec::new(),
                Some(terms) => compiled
                    .leaves
                    .iter()
                    .map(|leaf| match leaf {
                        CompiledTerm::Token(text) => {
                            Frequency::Term(terms.add(text, Kind::Whole, false))
                        }
                        CompiledTerm::Prefix(text) => {
                            Frequency::Term(terms.add(text, Kind::Prefix, false))
                        }
                        CompiledTerm::Near(text) => {
                            Frequency::Term(terms.add(text, Kind::Near, false))
                        }
                        CompiledTerm::Scanned(expr) => match TextScanPattern::new(expr) {
                            Some(scanned) => Frequency::Text(scanned),
                            None => Frequency::Run(Vec::new()),
                        },
                        CompiledTerm::Phrase(parts) => Frequency::Run(
                            parts
                                .iter()
                                .map(|(distance, text)| {
                                    (*distance, terms.add(text, Kind::Whole, true))
                                })
                                .collect(),
                        ),
                    })
                    .collect(),
            };
            ClassQuery { compiled, leaves }
        });
        Self {
            matcher,
            prefilter,
            asked,
            close: Vec::new(),
        }
    }

    /// This scan for any of these words, which also measures how close they stand to each other.
    pub fn remembering(mut self, expr: Option<&Expr>) -> Self {
        if let (Some(matcher), Some(Expr::Or(words))) = (&mut self.matcher, expr) {
            let tokens = close_tokens(words);
            let tokens = tokens.iter();
            let terms = tokens.map(|token| matcher.terms.add(token, Kind::Whole, true));
            self.close = terms.collect();
        }
        self
    }

    /// Whether a word is asked for, whose matches differ in score.
    fn is_scored(&self) -> bool {
        let matcher = self.matcher.as_ref();
        matcher.is_some_and(|matcher| matcher.terms.len() > 0)
    }

    /// Room for what one thread reads.
    pub fn part(&self) -> ThreadResult<'_> {
        let terms = self.matcher.as_ref().map_or(0, |m| m.terms.len());
        ThreadResult {
            scan: self,
            tally: TermCounts::default(),
            found: Default::default(),
            seen: [ClassCounts::new(terms), ClassCounts::new(terms)],
            covered: [Vec::new(), Vec::new()],
        }
    }
}

/// Passages of one class that match, side by side.
#[derive(Debug, Default)]
struct ClassMatches {
    keys: Vec<u64>,
    times: Vec<i64>,
    standings: Vec<Standing>,
    norms: Vec<u8>,
    /// How near each other the words stand, where that is asked.
    closeness: Vec<f32>,
    /// As many for each passage as there are leaves.
    frequencies: Vec<u32>,
}

/// Counts over the passages of one class that were read.
#[derive(Debug)]
struct ClassCounts {
    passages: u64,
    /// Passages that hold a term, by its number.
    with: Vec<u64>,
}

impl ClassCounts {
    fn new(terms: usize) -> Self {
        Self {
            passages: 0,
            with: vec![0; terms],
        }
    }

    fn add(&mut self, other: &ClassCounts) {
        self.passages += other.passages;
        for (sum, more) in self.with.iter_mut().zip(&other.with) {
            *sum += more;
        }
    }
}

/// What one thread has read.
#[derive(Debug)]
pub struct ThreadResult<'a> {
    scan: &'a Scan,
    tally: TermCounts,
    found: [ClassMatches; 2],
    seen: [ClassCounts; 2],
    covered: [Vec<(u64, u64)>; 2],
}

impl ThreadResult<'_> {
    /// From now on the overlay stands in for the passages of `class` with keys from `first` to
    /// `last`, both included, that may be on disk.
    pub fn cover(&mut self, class: Class, first: u64, last: u64) {
        self.covered[class as usize].push((first, last));
    }

    /// Whether a passage of these records, as they are on disk, may match. `false` is certain.
    /// `json`: they are that, not plain text.
    pub fn may_match(&self, records: &[u8], json: bool) -> bool {
        self.scan.prefilter.may_match(records, json)
    }

    /// Whether bytes rule out anything at all.
    pub fn rules_out(&self) -> bool {
        !self.scan.prefilter.is_open()
    }

    /// Read a passage of an entry that the scope admits.
    pub fn read<T: AsRef<str>>(&mut self, entry: BacklogEntry, class: Class, pieces: &[T]) {
        let scan = self.scan;
        if !entry.admitted || !scan.prefilter.may_say(pieces) {
            return;
        }
        let seen = &mut self.seen[class as usize];
        seen.passages += 1;
        let tally = &mut self.tally;
        if let Some(matcher) = &scan.matcher {
            // Where no word is scored only the text decides.
            if scan.is_scored() {
                tally.count(&matcher.terms, pieces);
                for term in 0..matcher.terms.len() {
                    seen.with[term] += u64::from(tally.times(term) > 0);
                }
            }
            if !matcher.holds(class, tally, pieces) {
                return;
            }
        }
        let found = &mut self.found[class as usize];
        found.keys.push(entry.key);
        found.times.push(entry.time_ms.unwrap_or(NO_TIME));
        found.standings.push(match class {
            Class::Prose => entry.standing,
            Class::Output => Standing::Output,
        });
        found
            .norms
            .push(FieldNormReader::fieldnorm_to_id(tally.tokens));
        let is_asked = class == Class::Prose && !scan.close.is_empty();
        found.closeness.push(match is_asked {
            true => tally.closeness(&scan.close),
            false => 0.0,
        });
        let leaves = &scan.asked[class as usize].leaves;
        found
            .frequencies
            .extend(leaves.iter().map(|leaf| match leaf {
                Frequency::Term(term) => tally.times(*term),
                Frequency::Run(parts) => tally.runs(parts),
                Frequency::Text(scanned) => {
                    u32::from(pieces.iter().any(|piece| scanned.is_in(piece.as_ref())))
                }
            }));
    }
}

/// The passages that match among those that the disk still lacks.
#[derive(Debug)]
pub struct Overlay<'a> {
    scan: &'a Scan,
    found: Vec<[ClassMatches; 2]>,
    covered: [Vec<(u64, u64)>; 2],
    passages: u64,
    tokens: [u64; 2],
    /// How many passages hold a term, that of their class among them.
    with: HashMap<Term, u64>,
}

/// A passage of the overlay that matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match<'a> {
    pub key: u64,
    pub time: i64,
    pub standing: Standing,
    pub norm: u8,
    /// How near each other the words stand, where that was asked.
    pub closeness: f32,
    pub frequencies: &'a [u32],
}

impl<'a> Overlay<'a> {
    /// What the parts of `scan` have found among so many entries whose passages the disk lacks,
    /// read or not.
    pub fn new(scan: &'a Scan, parts: Vec<ThreadResult<'_>>, lacking: u64) -> Self {
        let terms = scan.matcher.as_ref().map_or(0, |m| m.terms.len());
        let mut seen = [ClassCounts::new(terms), ClassCounts::new(terms)];
        let mut covered = [Vec::new(), Vec::new()];
        let mut found = Vec::new();
        for part in parts {
            for class in 0..2 {
                seen[class].add(&part.seen[class]);
                covered[class].extend_from_slice(&part.covered[class]);
            }
            found.push(part.found);
        }
        covered.iter_mut().for_each(|ranges| ranges.sort_unstable());
        let mut with = HashMap::new();
        let fields = schema().1;
        for class in [Class::Prose, Class::Output] {
            let seen = &seen[class as usize];
            let of_class = Term::from_field_u64(fields.class, class as u64);
            with.insert(of_class, seen.passages);
            let whole = scan.matcher.iter().flat_map(|m| m.terms.whole());
            with.extend(whole.map(|(number, text)| {
                let term = Term::from_field_text(fields.text(class), text);
                (term, seen.with[number])
            }));
        }
        let read = seen[0].passages + seen[1].passages;
        let passages = lacking.max(read);
        let tokens = [0, 1].map(|class: usize| seen[class].passages * USUAL_TOKENS[class]);
        Self {
            scan,
            found,
            covered,
            passages,
            tokens,
            with,
        }
    }

    /// Key ranges, both ends included, ascending, of all passages of `class` that were read.
    pub(super) fn covered(&self, class: Class) -> &[(u64, u64)] {
        &self.covered[class as usize]
    }

    pub(super) fn compiled(&self, class: Class) -> &CompiledQuery {
        &self.scan.asked[class as usize].compiled
    }

    /// The passages of `class` that match.
    pub(super) fn matches(&self, class: Class) -> impl Iterator<Item = Match<'_>> {
        let leaves = self.compiled(class).leaves.len();
        self.found.iter().flat_map(move |found| {
            let found = &found[class as usize];
            (0..found.keys.len()).map(move |at| Match {
                key: found.keys[at],
                time: found.times[at],
                standing: found.standings[at],
                norm: found.norms[at],
                closeness: found.closeness[at],
                frequencies: &found.frequencies[at * leaves..(at + 1) * leaves],
            })
        })
    }

    /// How many passages the disk lacks, about.
    pub(super) fn total_num_docs(&self) -> u64 {
        self.passages
    }

    /// The tokens of those that were read, about.
    pub(super) fn total_num_tokens(&self, field: Field) -> u64 {
        let fields = schema().1;
        [Class::Prose, Class::Output]
            .into_iter()
            .find(|class| fields.text(*class) == field)
            .map_or(0, |class| self.tokens[class as usize])
    }

    /// How many of those that were read hold a term that is asked for, or are of a class.
    pub(super) fn doc_freq(&self, term: &Term) -> u64 {
        self.with.get(term).copied().unwrap_or(0)
    }
}
