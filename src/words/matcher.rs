//! Does this very text match, and where? The meaning of an expression, without an index.

use std::collections::HashMap;
use std::ops::Range;

use super::pattern::Pattern;
use super::tokenizer::{Segmenter, Token};
use crate::model::Expr;

/// Whether a passage of these pieces matches.
#[cfg(test)]
pub fn matches_text(expr: &Expr, pieces: &[String]) -> bool {
    Matcher::new(expr).matches(pieces)
}

/// What to highlight in `text`: byte ranges of all words and phrases that `expr` asks for,
/// ascending and disjoint. What it excludes is not among them.
#[cfg(test)]
pub fn highlights(expr: &Expr, text: &str) -> Vec<Range<usize>> {
    Matcher::new(expr).highlights(text)
}

/// An expression made ready to be asked of many texts.
#[derive(Debug)]
pub struct Matcher {
    root: Node,
    patterns: Vec<Pattern>,
    /// Whether the pattern is wanted, not excluded.
    wanted: Vec<bool>,
    /// What a token of this text is for.
    terms: HashMap<String, Vec<Slot>>,
    /// What a token that begins so is for.
    prefixes: Vec<(String, Slot)>,
}

#[derive(Debug)]
enum Node {
    Pattern(usize),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    pattern: usize,
    /// `None` for the whole.
    part: Option<usize>,
}

/// Where a part or whole was found.
#[derive(Debug, Clone)]
struct Place {
    position: u32,
    start: usize,
    end: usize,
}

/// What was found of one pattern.
#[derive(Debug, Default)]
struct Found {
    whole: Vec<Place>,
    parts: Vec<Vec<Place>>,
}

impl Matcher {
    /// Make `expr` ready.
    pub fn new(expr: &Expr) -> Self {
        let mut matcher = Self {
            root: Node::All(Vec::new()),
            patterns: Vec::new(),
            wanted: Vec::new(),
            terms: HashMap::new(),
            prefixes: Vec::new(),
        };
        matcher.root = matcher.node(expr, true);
        matcher
    }

    fn node(&mut self, expr: &Expr, wanted: bool) -> Node {
        match expr {
            Expr::Word(text) | Expr::Phrase(text) => self.pattern(text, false, wanted),
            Expr::Prefix(text) => self.pattern(text, true, wanted),
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

    fn pattern(&mut self, text: &str, prefix: bool, wanted: bool) -> Node {
        let pattern = Pattern::new(text, prefix);
        let number = self.patterns.len();
        let last = pattern.parts.len().saturating_sub(1);
        let parts = pattern
            .parts
            .iter()
            .enumerate()
            .map(|(index, (_, text))| (Some(index), text));
        for (part, text) in parts.chain(pattern.whole.iter().map(|text| (None, text))) {
            let slot = Slot {
                pattern: number,
                part,
            };
            if prefix && part.is_none_or(|part| part == last) {
                self.prefixes.push((text.clone(), slot));
            } else {
                self.terms.entry(text.clone()).or_default().push(slot);
            }
        }
        self.patterns.push(pattern);
        self.wanted.push(wanted);
        Node::Pattern(number)
    }

    /// Whether a passage of these pieces matches.
    pub fn matches<T: AsRef<str>>(&self, pieces: &[T]) -> bool {
        let found = self.find(pieces);
        self.holds(&self.root, &found)
    }

    fn holds(&self, node: &Node, found: &[Found]) -> bool {
        match node {
            Node::Pattern(number) => {
                !found[*number].whole.is_empty()
                    || self.runs(*number, &found[*number]).next().is_some()
            }
            Node::All(members) => members.iter().all(|member| self.holds(member, found)),
            Node::Any(members) => members.iter().any(|member| self.holds(member, found)),
            Node::Not(inner) => !self.holds(inner, found),
        }
    }

    /// See [`highlights`].
    pub fn highlights(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.find(&[text]);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (number, found) in found
            .iter()
            .enumerate()
            .filter(|(number, _)| self.wanted[*number])
        {
            ranges.extend(found.whole.iter().map(|place| place.start..place.end));
            ranges.extend(self.runs(number, found));
        }
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut disjoint: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match disjoint.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => disjoint.push(range),
            }
        }
        disjoint
    }

    fn find<T: AsRef<str>>(&self, pieces: &[T]) -> Vec<Found> {
        let mut found: Vec<Found> = self
            .patterns
            .iter()
            .map(|pattern| Found {
                whole: Vec::new(),
                parts: vec![Vec::new(); pattern.parts.len()],
            })
            .collect();
        let mut segmenter = Segmenter::default();
        let mut first = 0;
        for piece in pieces {
            let mut note = |slot: Slot, token: &Token<'_>| {
                let place = Place {
                    position: first + token.position,
                    start: token.start,
                    end: token.end,
                };
                let found = &mut found[slot.pattern];
                match slot.part {
                    Some(part) => found.parts[part].push(place),
                    None => found.whole.push(place),
                }
            };
            first += 1 + segmenter.run(piece.as_ref(), |token| {
                for slot in self.terms.get(token.text).into_iter().flatten() {
                    note(*slot, &token);
                }
                for (prefix, slot) in &self.prefixes {
                    if token.text.starts_with(prefix.as_str()) {
                        note(*slot, &token);
                    }
                }
            });
        }
        found
    }

    /// Where the parts of a pattern stand at their distances.
    fn runs<'a>(
        &'a self,
        number: usize,
        found: &'a Found,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let parts = &self.patterns[number].parts;
        let (heads, rest) = match found.parts.split_first() {
            Some((heads, rest)) => (heads.as_slice(), rest),
            None => (&[][..], &[][..]),
        };
        heads.iter().filter_map(move |head| {
            let mut end = head.end;
            for (places, (distance, _)) in rest.iter().zip(&parts[1..]) {
                let wanted = head.position + distance - parts[0].0;
                let at = places.partition_point(|place| place.position < wanted);
                let place = places.get(at).filter(|place| place.position == wanted)?;
                end = end.max(place.end);
            }
            Some(head.start..end)
        })
    }
}
