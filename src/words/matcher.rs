//! Does this very text match, and where? The meaning of an expression, without an index.

use std::ops::Range;

use super::near::is_near;
use super::pattern::Pattern;
use super::prefilter::Prefilter;
use super::scanned::TextScanPattern;
use super::tally::{Kind, TermCounts, Terms};
use super::tokenizer::Segmenter;
use crate::model::{Class, Expr};

/// Whether a passage of `class` and of these pieces matches.
#[cfg(test)]
pub fn matches_text(expr: &Expr, class: Class, pieces: &[String]) -> bool {
    Matcher::new(expr).matches(class, pieces)
}

/// What to highlight in a `text` of `class`: byte ranges of all words and phrases that `expr` asks
/// for, ascending and disjoint. What it excludes is not among them.
#[cfg(test)]
pub fn highlights(expr: &Expr, class: Class, text: &str) -> Vec<Range<usize>> {
    Matcher::new(expr).highlights(class, text)
}

/// These ranges, ascending by their start, with those that meet made one.
pub fn disjoint(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut disjoint: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match disjoint.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => disjoint.push(range),
        }
    }
    disjoint
}

/// An expression made ready to be asked of many texts.
#[derive(Debug)]
pub struct Matcher {
    root: Node,
    patterns: Vec<TermPattern>,
    /// Patterns that need a text scan, and whether they are wanted in a hit or excluded from it.
    scanned: Vec<(TextScanPattern, bool)>,
    pub(super) terms: Terms,
    /// Spares taking most texts apart that do not match.
    prefilter: Prefilter,
}

#[derive(Debug)]
enum Node {
    Pattern(usize),
    Scanned(usize),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

/// A [`Pattern`] with its tokens as terms.
#[derive(Debug)]
struct TermPattern {
    parts: Vec<(u32, usize)>,
    /// Whether the parts are asked for, by class.
    in_parts: [bool; 2],
    whole: Option<usize>,
    /// What finds longer numbers where the parts are not asked for.
    longer: Option<usize>,
    /// Wanted, not excluded.
    wanted: bool,
}

/// Where a term was found.
#[derive(Debug, Clone)]
struct TermPosition {
    position: u32,
    start: usize,
    end: usize,
}

impl Matcher {
    /// Make `expr` ready.
    pub fn new(expr: &Expr) -> Self {
        let mut matcher = Self {
            root: Node::All(Vec::new()),
            patterns: Vec::new(),
            scanned: Vec::new(),
            terms: Terms::default(),
            prefilter: Prefilter::new(Some(expr)),
        };
        matcher.root = matcher.node(expr, true);
        matcher
    }

    fn node(&mut self, expr: &Expr, wanted: bool) -> Node {
        match expr {
            Expr::Word(text) | Expr::Phrase(text) => self.pattern(text, false, wanted),
            Expr::Prefix(text) => self.pattern(text, true, wanted),
            Expr::Near(text) => match Pattern::new(text, false).only_word() {
                Some(word) => self.one(word, Kind::Near, wanted),
                None => self.pattern(text, false, wanted),
            },
            Expr::Longer(text) => match Pattern::new(text, true).into_word() {
                Some(word) => self.one(&word, Kind::of(true), wanted),
                None => Node::Any(Vec::new()),
            },
            Expr::Substring(_) | Expr::Regex(_) => {
                self.scanned
                    .extend(TextScanPattern::new(expr).map(|scanned| (scanned, wanted)));
                Node::Scanned(self.scanned.len() - 1)
            }
            Expr::And(members) => Node::All(
                members
                    .iter()
                    .map(|member| self.node(member, wanted))
                    .collect(),
            ),
            Expr::Or(members) => Node::Any(
                members
                    .iter()
                    .map(|member| self.node(member, wanted))
                    .collect(),
            ),
            Expr::Not(inner) => Node::Not(Box::new(self.node(inner, !wanted))),
        }
    }

    /// A single token.
    fn one(&mut self, word: &str, kind: Kind, wanted: bool) -> Node {
        let whole = Some(self.terms.add(word, kind, false));
        self.patterns.push(TermPattern {
            parts: Vec::new(),
            in_parts: [false; 2],
            whole,
            longer: None,
            wanted,
        });
        Node::Pattern(self.patterns.len() - 1)
    }

    fn pattern(&mut self, text: &str, prefix: bool, wanted: bool) -> Node {
        let pattern = Pattern::new(text, prefix);
        let last = pattern.parts.len().saturating_sub(1);
        let placed = pattern.parts.len() > 1;
        let in_parts = [Class::Prose, Class::Output].map(|class| pattern.asks_for_parts(class));
        let terms = &mut self.terms;
        let parts = pattern
            .parts
            .iter()
            .enumerate()
            .map(|(index, (distance, text))| {
                let open = prefix && index == last;
                (*distance, terms.add(text, Kind::of(open), placed))
            })
            .collect();
        let longer = pattern.longer_number();
        let longer = longer.map(|text| terms.add(&text, Kind::Prefix, false));
        let whole = pattern
            .whole
            .map(|text| terms.add(&text, Kind::of(prefix), false));
        self.patterns.push(TermPattern {
            parts,
            in_parts,
            whole,
            longer,
            wanted,
        });
        Node::Pattern(self.patterns.len() - 1)
    }

    /// Whether what tools printed in this record, JSON as it is on disk, may match. `false` is
    /// certain.
    pub fn may_print(&self, record: &[u8]) -> bool {
        self.prefilter.may_print(record)
    }

    /// Whether a passage of `class` and of these pieces matches.
    pub fn matches<T: AsRef<str>>(&self, class: Class, pieces: &[T]) -> bool {
        if !self.prefilter.may_say(pieces) {
            return false;
        }
        let mut tally = TermCounts::default();
        tally.count(&self.terms, pieces);
        self.holds(class, &tally, pieces)
    }

    /// Whether a passage of these pieces matches, whose tokens have been counted.
    pub(super) fn holds<T: AsRef<str>>(
        &self,
        class: Class,
        tally: &TermCounts,
        pieces: &[T],
    ) -> bool {
        self.node_holds(&self.root, class, tally, pieces)
    }

    fn node_holds<T: AsRef<str>>(
        &self,
        node: &Node,
        class: Class,
        tally: &TermCounts,
        pieces: &[T],
    ) -> bool {
        let holds = |node: &Node| self.node_holds(node, class, tally, pieces);
        match node {
            Node::Scanned(number) => {
                let scanned = &self.scanned[*number].0;
                pieces.iter().any(|piece| scanned.is_in(piece.as_ref()))
            }
            Node::Pattern(number) => {
                let pattern = &self.patterns[*number];
                let has = |term: Option<usize>| term.is_some_and(|term| tally.times(term) > 0);
                has(pattern.whole)
                    || match pattern.in_parts[class as usize] {
                        true => tally.runs(&pattern.parts) > 0,
                        false => has(pattern.longer),
                    }
            }
            Node::All(members) => members.iter().all(holds),
            Node::Any(members) => members.iter().any(holds),
            Node::Not(inner) => !holds(inner),
        }
    }

    /// What to highlight in a `text` of `class`: byte ranges of all words and phrases that are
    /// wanted, ascending and disjoint.
    pub fn highlights(&self, class: Class, text: &str) -> Vec<Range<usize>> {
        disjoint(self.marks(class, text).into_iter().map(|mark| mark.range))
    }

    /// All words and phrases in a `text` of `class` that are wanted, ascending.
    pub fn marks(&self, class: Class, text: &str) -> Vec<Mark> {
        let mut found: Vec<Vec<TermPosition>> = vec![Vec::new(); self.terms.len()];
        Segmenter::default().run(text, |token| {
            for number in self.terms.of(token.text) {
                found[number].push(TermPosition {
                    position: token.position,
                    start: token.start,
                    end: token.end,
                });
            }
        });
        let mut marks: Vec<Mark> = Vec::new();
        let patterns = self.patterns.iter().enumerate();
        for (number, pattern) in patterns.filter(|(_, pattern)| pattern.wanted) {
            let mut add = |range| marks.push(Mark { range, number });
            let in_parts = pattern.in_parts[class as usize];
            let longer = pattern.longer.filter(|_| !in_parts);
            let single = pattern.whole.into_iter().chain(longer);
            let places = single.flat_map(|term| &found[term]);
            places.for_each(|at| add(at.start..at.end));
            if in_parts {
                runs(&pattern.parts, &found).into_iter().for_each(add);
            }
        }
        let scanned = self.scanned.iter().enumerate();
        for (number, (scanned, _)) in scanned.filter(|(_, (_, wanted))| *wanted) {
            let number = self.patterns.len() + number;
            let places = scanned.places(text);
            marks.extend(places.map(|range| Mark { range, number }));
        }
        marks.sort_unstable_by_key(|mark| (mark.range.start, mark.range.end, mark.number));
        marks
    }
}

/// A word or phrase in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its bytes.
    pub range: Range<usize>,
    /// Which of those that are asked for.
    pub number: usize,
}

/// Where the parts of a pattern stand at their distances.
fn runs(parts: &[(u32, usize)], found: &[Vec<TermPosition>]) -> Vec<Range<usize>> {
    let Some(((start, head), rest)) = parts.split_first() else {
        return Vec::new();
    };
    let run = |head: &TermPosition| {
        let mut end = head.end;
        for (distance, term) in rest {
            let wanted = head.position + distance - start;
            let places = &found[*term];
            let at = places.partition_point(|place| place.position < wanted);
            let place = places.get(at).filter(|place| place.position == wanted)?;
            end = end.max(place.end);
        }
        Some(head.start..end)
    };
    found[*head].iter().filter_map(run).collect()
}

/// The token of a word or identifier; `None` if the text is several tokens or none.
pub fn single_token(text: &str) -> Option<String> {
    Pattern::new(text, false).into_word()
}

/// Whether one edit leads from a word to a token. A word that has signs is not the word without.
fn is_typo(word: &str, token: &str) -> bool {
    word.chars().all(char::is_alphanumeric) && is_near(word, token)
}

/// The tokens of `text` that are one edit away from one of these words, go on after one of them, or
/// are one of the other `forms`, but are none of the words.
pub fn other_tokens(words: &[&str], forms: &[String], text: &str) -> Vec<String> {
    let asked: Vec<String> = words.iter().filter_map(|word| single_token(word)).collect();
    let mut others = Vec::new();
    Segmenter::default().run(text, |token| {
        let is_form = || forms.iter().any(|form| form == token.text);
        let goes_on = |word: &String| token.text.starts_with(word.as_str());
        let is_other = || {
            let mut asked = asked.iter();
            asked.any(|word| goes_on(word) || is_typo(word, token.text))
        };
        if !asked.iter().any(|word| word == token.text) && (is_other() || is_form()) {
            others.push(token.text.to_owned());
        }
    });
    others
}
