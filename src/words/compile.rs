//! How does an expression become a query for one class of passages?
//!
//! Output is indexed without positions, so a phrase on it (and on prose one that ends in a prefix)
//! is known only up to two bounds: its tokens all occur (it *may* match), or the token of the whole
//! identifier occurs (it *does* match). A query takes the outer bound, a negated one the inner
//! bound, so that no passage is lost; [`CompiledQuery::exact`] says whether the bounds were the
//! same. An identifier is no phrase on output: see [`Pattern::asks_for_parts`].
//!
//! A [`CompiledQuery`] is asked in two ways that give one score: as a tantivy query of the disk,
//! and of the frequencies of a passage that the disk still lacks.

use std::ops::Bound;

use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, ConstScoreQuery, EmptyQuery,
    InvertedIndexRangeQuery, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Term};

use super::excluded::ExcludedQuery;
use super::near::NearQuery;
use super::pattern::Pattern;
use super::schema::Fields;
use crate::model::{Class, Expr};

/// So many letters of Latin, and fewer, begin thousands of words.
const FIRST_LETTERS: usize = 2;

/// A query for one class of passages.
#[derive(Debug)]
pub(super) struct CompiledQuery {
    class: Class,
    root: Node,
    /// What is scored, numbered.
    pub leaves: Vec<CompiledTerm>,
    /// Whether each match is certain.
    pub exact: bool,
    /// Leaves that ask for hardly anything: the first letters of a word behind others.
    vague: Vec<usize>,
    /// Whether the text of each match that is not certain is read.
    is_checked: bool,
}

/// What the index knows of a passage.
#[derive(Debug)]
pub(super) enum CompiledTerm {
    /// It holds the token; scored by how often.
    Token(String),
    /// It holds a token that begins so; scored alike, whichever and how often.
    Prefix(String),
    /// It holds the token or one that is an edit away; scored alike, whichever and how often.
    Near(String),
    /// Its text holds something that no index knows; scored alike wherever it does.
    Scanned(Expr),
    /// It holds the tokens at their distances; scored by how often.
    Phrase(Vec<(u32, String)>),
}

#[derive(Debug)]
enum Node {
    Nothing,
    /// Every passage of the class, unscored.
    Everything,
    Leaf(usize),
    All {
        of: Vec<Node>,
        but: Vec<Node>,
    },
    Any(Vec<Node>),
    /// What the leaf asks for; the others only add to the score.
    Scored {
        leaf: usize,
        more: Vec<usize>,
    },
}

/// Which side of the truth to err on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    Outer,
    Inner,
}

impl Bounds {
    fn flipped(self) -> Self {
        match self {
            Self::Outer => Self::Inner,
            Self::Inner => Self::Outer,
        }
    }
}

impl CompiledQuery {
    /// Compile `expr` for passages of `class`; `None` asks for all of them.
    pub fn new(expr: Option<&Expr>, class: Class) -> Self {
        let mut compiled = Self {
            class,
            root: Node::Everything,
            leaves: Vec::new(),
            exact: true,
            vague: Vec::new(),
            is_checked: false,
        };
        if let Some(expr) = expr {
            compiled.root = compiled.expr(expr, Bounds::Outer);
        }
        compiled
    }

    /// The same, where matches that are not certain are checked: the first letters of a word need
    /// not be looked up then, which takes long and rules out hardly anything.
    pub fn checked(self) -> Self {
        Self {
            is_checked: true,
            ..self
        }
    }

    fn expr(&mut self, expr: &Expr, bounds: Bounds) -> Node {
        match expr {
            Expr::Word(text) | Expr::Phrase(text) => {
                self.pattern(&Pattern::new(text, false), bounds)
            }
            Expr::Prefix(text) => self.pattern(&Pattern::new(text, true), bounds),
            Expr::Near(text) => {
                let pattern = Pattern::new(text, false);
                match pattern.only_word() {
                    Some(word) => self.leaf(CompiledTerm::Near(word.to_owned())),
                    None => self.pattern(&pattern, bounds),
                }
            }
            Expr::Longer(text) => match Pattern::new(text, true).into_word() {
                Some(word) => self.leaf(CompiledTerm::Prefix(word)),
                None => Node::Nothing,
            },
            Expr::Substring(_) | Expr::Regex(_) => {
                self.exact = false;
                match bounds {
                    Bounds::Outer => self.leaf(CompiledTerm::Scanned(expr.clone())),
                    Bounds::Inner => Node::Nothing,
                }
            }
            Expr::And(members) => self.all(members.iter(), bounds),
            Expr::Not(_) => self.all(std::iter::once(expr), bounds),
            Expr::Or(members) => any_of(
                members
                    .iter()
                    .map(|member| self.expr(member, bounds))
                    .collect(),
            ),
        }
    }

    fn all<'e>(&mut self, members: impl Iterator<Item = &'e Expr>, bounds: Bounds) -> Node {
        let (mut of, mut but) = (Vec::new(), Vec::new());
        for member in members {
            if let Expr::Not(inner) = member {
                but.push(self.expr(inner, bounds.flipped()));
            } else {
                of.push(self.expr(member, bounds));
            }
        }
        if of.is_empty() {
            of.push(Node::Everything);
        }
        Node::All { of, but }
    }

    fn pattern(&mut self, pattern: &Pattern, bounds: Bounds) -> Node {
        let parts = pattern.parts.as_slice();
        let mut either = Vec::new();
        if let Some(whole) = &pattern.whole {
            if !pattern.asks_for_parts(self.class) {
                let whole = self.identifier(whole, parts, pattern.prefix);
                let longer = pattern.longer_number();
                let longer = longer.map(|number| self.token(&number, true));
                return any_of(std::iter::once(whole).chain(longer).collect());
            }
            either.push(self.token(whole, pattern.prefix));
        }
        // tantivy's own phrase with a prefix opens every term of the prefix at once and misplaces
        // it after a gap (CJK): only the words before it are asked for in order.
        let (ordered, open) = match parts.split_last() {
            Some((last, heads)) if pattern.prefix => (heads, Some(last)),
            _ => (parts, None),
        };
        let undecided = match self.class {
            Class::Prose => open.is_some() && !ordered.is_empty(),
            Class::Output => parts.len() > 1,
        };
        self.exact &= !undecided;
        if !undecided || bounds == Bounds::Outer {
            let mut tokens: Vec<Node> = match (self.class, ordered) {
                (Class::Prose, [_, _, ..]) => {
                    vec![self.leaf(CompiledTerm::Phrase(ordered.to_vec()))]
                }
                _ => ordered
                    .iter()
                    .map(|(_, text)| self.token(text, false))
                    .collect(),
            };
            if let Some((_, text)) = open {
                if !ordered.is_empty() && text.len() <= FIRST_LETTERS {
                    self.vague.push(self.leaves.len());
                }
                tokens.push(self.token(text, true));
            }
            either.push(match tokens.len() {
                0 => Node::Nothing,
                1 => tokens.remove(0),
                _ => Node::All {
                    of: tokens,
                    but: Vec::new(),
                },
            });
        }
        any_of(either)
    }

    /// An identifier that is searched as one word. Its parts find it as well, and prose is scored
    /// by both.
    fn identifier(&mut self, whole: &str, parts: &[(u32, String)], prefix: bool) -> Node {
        let first = self.leaves.len();
        self.token(whole, prefix);
        let closed = parts.len() - usize::from(prefix && !parts.is_empty());
        for (_, text) in &parts[..closed] {
            self.token(text, false);
        }
        Node::Scored {
            leaf: first,
            more: (first + 1..self.leaves.len()).collect(),
        }
    }

    fn token(&mut self, text: &str, prefix: bool) -> Node {
        let text = text.to_owned();
        self.leaf(if prefix {
            CompiledTerm::Prefix(text)
        } else {
            CompiledTerm::Token(text)
        })
    }

    fn leaf(&mut self, leaf: CompiledTerm) -> Node {
        self.leaves.push(leaf);
        Node::Leaf(self.leaves.len() - 1)
    }

    /// The query of the disk.
    pub fn query(&self, fields: &Fields) -> Box<dyn Query> {
        self.node_query(&self.root, fields)
    }

    fn node_query(&self, node: &Node, fields: &Fields) -> Box<dyn Query> {
        match node {
            Node::Nothing => Box::new(EmptyQuery),
            Node::Everything => all_of(self.class, fields),
            // It scores as it would if it were looked up.
            Node::Leaf(number) if self.is_checked && self.vague.contains(number) => {
                Box::new(ConstScoreQuery::new(all_of(self.class, fields), 1.0))
            }
            Node::Leaf(number) => match &self.leaves[*number] {
                CompiledTerm::Scanned(_) => all_of(self.class, fields),
                leaf => leaf.query(fields.text(self.class)),
            },
            Node::All { of, but } => {
                let of = of
                    .iter()
                    .map(|node| (Occur::Must, self.node_query(node, fields)));
                let but = but.iter().map(|node| {
                    let excluded = ExcludedQuery(self.node_query(node, fields));
                    (Occur::MustNot, Box::new(excluded) as Box<dyn Query>)
                });
                Box::new(BooleanQuery::new(of.chain(but).collect()))
            }
            Node::Scored { leaf, more } => {
                let text = fields.text(self.class);
                let more = more
                    .iter()
                    .map(|leaf| (Occur::Should, self.leaves[*leaf].query(text)));
                let leaf = std::iter::once((Occur::Must, self.leaves[*leaf].query(text)));
                Box::new(BooleanQuery::new(leaf.chain(more).collect()))
            }
            Node::Any(members) => Box::new(BooleanQuery::union(
                members
                    .iter()
                    .map(|node| self.node_query(node, fields))
                    .collect(),
            )),
        }
    }

    /// What each leaf weighs; `None` where its score does not depend on frequencies.
    pub fn weights(
        &self,
        statistics: &dyn Bm25StatisticsProvider,
        fields: &Fields,
    ) -> tantivy::Result<Vec<Option<Bm25Weight>>> {
        let field = fields.text(self.class);
        self.leaves
            .iter()
            .map(|leaf| {
                let terms = leaf.terms(field);
                (!terms.is_empty())
                    .then(|| Bm25Weight::for_terms(statistics, &terms))
                    .transpose()
            })
            .collect()
    }

    /// The score of a passage that holds each leaf as often as `times` says and whose length is
    /// that of `norm`; `None` when it does not match.
    pub fn score(&self, times: &[u32], norm: u8, weights: &[Option<Bm25Weight>]) -> Option<Score> {
        self.node_score(&self.root, times, norm, weights)
    }

    /// The scores of the members of an `Or`, as [`CompiledQuery::score`] gives them.
    pub fn member_scores(
        &self,
        times: &[u32],
        norm: u8,
        weights: &[Option<Bm25Weight>],
    ) -> Vec<Option<Score>> {
        let members = match &self.root {
            Node::Any(members) => members.as_slice(),
            root => std::slice::from_ref(root),
        };
        let score = |node| self.node_score(node, times, norm, weights);
        members.iter().map(score).collect()
    }

    fn leaf_score(
        &self,
        number: usize,
        times: &[u32],
        norm: u8,
        weights: &[Option<Bm25Weight>],
    ) -> Option<Score> {
        match (times[number], &weights[number]) {
            (0, _) => None,
            (_, None) => Some(1.0),
            (times, Some(weight)) => Some(weight.score(
                norm,
                match self.class {
                    Class::Prose => times,
                    // The disk does not know how often.
                    Class::Output => 1,
                },
            )),
        }
    }

    fn node_score(
        &self,
        node: &Node,
        times: &[u32],
        norm: u8,
        weights: &[Option<Bm25Weight>],
    ) -> Option<Score> {
        let score = |node: &Node| self.node_score(node, times, norm, weights);
        match node {
            Node::Nothing => None,
            Node::Everything => Some(0.0),
            Node::Leaf(number) => self.leaf_score(*number, times, norm, weights),
            Node::Scored { leaf, more } => {
                let of = |leaf: &usize| self.leaf_score(*leaf, times, norm, weights);
                Some(of(leaf)? + more.iter().filter_map(of).sum::<Score>())
            }
            Node::All { of, but } => {
                if but.iter().any(|node| score(node).is_some()) {
                    return None;
                }
                of.iter().map(score).sum()
            }
            Node::Any(members) => members.iter().filter_map(score).reduce(|a, b| a + b),
        }
    }
}

impl CompiledTerm {
    fn query(&self, field: Field) -> Box<dyn Query> {
        match self {
            CompiledTerm::Token(text) => term_query(
                Term::from_field_text(field, text),
                IndexRecordOption::WithFreqs,
            ),
            CompiledTerm::Prefix(text) => {
                // No term holds the byte FF, so all terms with this prefix sort before it and FF.
                let mut end = text.as_bytes().to_vec();
                end.push(0xFF);
                let mut upper = Term::from_field_text(field, "");
                upper.append_bytes(&end);
                Box::new(InvertedIndexRangeQuery::new(
                    Bound::Included(Term::from_field_text(field, text)),
                    Bound::Excluded(upper),
                ))
            }
            CompiledTerm::Near(text) => {
                Box::new(NearQuery::new(Term::from_field_text(field, text)))
            }
            CompiledTerm::Scanned(_) => Box::new(EmptyQuery),
            CompiledTerm::Phrase(parts) => {
                let terms = parts
                    .iter()
                    .map(|(distance, text)| {
                        (*distance as usize, Term::from_field_text(field, text))
                    })
                    .collect();
                Box::new(PhraseQuery::new_with_offset(terms))
            }
        }
    }

    /// The terms whose rarity counts.
    fn terms(&self, field: Field) -> Vec<Term> {
        match self {
            CompiledTerm::Token(text) => vec![Term::from_field_text(field, text)],
            CompiledTerm::Prefix(_) | CompiledTerm::Near(_) | CompiledTerm::Scanned(_) => {
                Vec::new()
            }
            CompiledTerm::Phrase(parts) => parts
                .iter()
                .map(|(_, text)| Term::from_field_text(field, text))
                .collect(),
        }
    }
}

fn any_of(mut members: Vec<Node>) -> Node {
    match members.len() {
        0 => Node::Nothing,
        1 => members.remove(0),
        _ => Node::Any(members),
    }
}

/// All passages of one class.
pub(super) fn all_of(class: Class, fields: &Fields) -> Box<dyn Query> {
    unscored(term_query(
        Term::from_field_u64(fields.class, class as u64),
        IndexRecordOption::Basic,
    ))
}

/// The passages of `query`, adding nothing to their score.
pub(super) fn unscored(query: Box<dyn Query>) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

pub(super) fn term_query(term: Term, option: IndexRecordOption) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, option))
}
