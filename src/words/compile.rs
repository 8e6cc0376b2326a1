//! How does an expression become a tantivy query for one class of passages?
//!
//! Output is indexed without positions, so a phrase on it (and on prose one that ends in a prefix)
//! is known only up to two bounds: its
//! tokens all occur (it *may* match), or the token of the whole identifier occurs (it *does*
//! match). A query takes the outer bound, a negated one the inner bound, so that no passage is
//! lost; [`Compiled::exact`] says whether the bounds were the same.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EmptyQuery, InvertedIndexRangeQuery, Occur, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::excluded::Excluded;
use super::pattern::Pattern;
use super::schema::Fields;
use crate::model::{Class, Expr};

/// A query, and whether each of its matches is certain.
pub(super) struct Compiled {
    pub query: Box<dyn Query>,
    pub exact: bool,
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

/// Compile `expr` for passages of `class`.
pub(super) fn compile(expr: &Expr, class: Class, fields: &Fields) -> Compiled {
    let mut compiler = Compiler {
        class,
        fields,
        exact: true,
    };
    let query = compiler.expr(expr, Bounds::Outer);
    Compiled {
        query,
        exact: compiler.exact,
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

struct Compiler<'a> {
    class: Class,
    fields: &'a Fields,
    exact: bool,
}

impl Compiler<'_> {
    fn expr(&mut self, expr: &Expr, bounds: Bounds) -> Box<dyn Query> {
        match expr {
            Expr::Word(text) | Expr::Phrase(text) => {
                self.pattern(&Pattern::new(text, false), bounds)
            }
            Expr::Prefix(text) => self.pattern(&Pattern::new(text, true), bounds),
            Expr::And(members) => self.all(members.iter(), bounds),
            Expr::Not(_) => self.all(std::iter::once(expr), bounds),
            Expr::Or(members) => {
                let members = members
                    .iter()
                    .map(|member| self.expr(member, bounds))
                    .collect();
                any_of(members)
            }
        }
    }

    fn all<'e>(
        &mut self,
        members: impl Iterator<Item = &'e Expr>,
        bounds: Bounds,
    ) -> Box<dyn Query> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut positive = false;
        for member in members {
            if let Expr::Not(inner) = member {
                let excluded = Excluded(self.expr(inner, bounds.flipped()));
                clauses.push((Occur::MustNot, Box::new(excluded)));
            } else {
                positive = true;
                clauses.push((Occur::Must, self.expr(member, bounds)));
            }
        }
        if !positive {
            clauses.push((Occur::Must, all_of(self.class, self.fields)));
        }
        Box::new(BooleanQuery::new(clauses))
    }

    fn pattern(&mut self, pattern: &Pattern, bounds: Bounds) -> Box<dyn Query> {
        let field = self.fields.text(self.class);
        let mut either = Vec::new();
        if let Some(whole) = &pattern.whole {
            either.push(token(field, whole, pattern.prefix));
        }
        let parts = pattern.parts.as_slice();
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
            let mut tokens = match self.class {
                Class::Prose => in_order(field, ordered),
                Class::Output => ordered
                    .iter()
                    .map(|(_, text)| token(field, text, false))
                    .collect(),
            };
            tokens.extend(open.map(|(_, text)| token(field, text, true)));
            either.push(match tokens.len() {
                0 => Box::new(EmptyQuery),
                1 => tokens.remove(0),
                _ => Box::new(BooleanQuery::intersection(tokens)),
            });
        }
        any_of(either)
    }
}

/// At most one query: the tokens of `parts` at their distances.
fn in_order(field: Field, parts: &[(u32, String)]) -> Vec<Box<dyn Query>> {
    match parts {
        [] => Vec::new(),
        [(_, text)] => vec![token(field, text, false)],
        parts => {
            let terms = parts
                .iter()
                .map(|(distance, text)| (*distance as usize, Term::from_field_text(field, text)))
                .collect();
            vec![Box::new(PhraseQuery::new_with_offset(terms))]
        }
    }
}

fn token(field: Field, text: &str, prefix: bool) -> Box<dyn Query> {
    if !prefix {
        return term_query(
            Term::from_field_text(field, text),
            IndexRecordOption::WithFreqs,
        );
    }
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

fn any_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match queries.len() {
        0 => Box::new(EmptyQuery),
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::union(queries)),
    }
}
