//! What are the alternatives of a query? Each asks for some text in the entries that its filters
//! leave.
//!
//! Filters are not part of an [`Expr`]: the index finds text, and filters decide beforehand which
//! entries are searched. So `(role:user OR kind:label) hook` is `role:user hook` or
//! `kind:label hook`. Text without filters stays together: `a OR b OR role:user` has two
//! alternatives, not three.

use super::{Alternative, Filters, Now, SyntaxError};
use crate::model::Expr;

/// Alternatives of one query at most: each is searched by itself.
const MOST: usize = 32;

/// A query as it was typed.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Text(Expr),
    Filter(Filter),
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
}

/// `name:values`, or with a minus before it.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// Where it starts, in characters from 1.
    pub column: usize,
    /// Where its values start.
    pub value_column: usize,
    pub negated: bool,
    pub name: String,
    pub values: Vec<String>,
    /// The last value may go on.
    pub is_half_typed: bool,
}

/// Some of the text and filters, all of which must hold.
#[derive(Clone, Default)]
struct Branch<'t> {
    exprs: Vec<Expr>,
    filters: Vec<(&'t Filter, bool)>,
}

impl Tree {
    /// Where its first filter is.
    fn filter(&self) -> Option<&Filter> {
        match self {
            Tree::Text(_) => None,
            Tree::Filter(filter) => Some(filter),
            Tree::All(members) | Tree::Any(members) => members.iter().find_map(Tree::filter),
            Tree::Not(inner) => inner.filter(),
        }
    }

    /// What it says, where there are no filters.
    fn expr(&self) -> Option<Expr> {
        let all = |members: &[Tree]| members.iter().map(Tree::expr).collect::<Option<_>>();
        Some(match self {
            Tree::Text(expr) => expr.clone(),
            Tree::Filter(_) => return None,
            Tree::All(members) => Expr::And(all(members)?),
            Tree::Any(members) => Expr::Or(all(members)?),
            Tree::Not(inner) => Expr::Not(Box::new(inner.expr()?)),
        })
    }

    /// What it says without its filters.
    pub fn text_alone(&self) -> Option<Expr> {
        let all = |members: &[Tree]| -> Vec<Expr> {
            members.iter().filter_map(Tree::text_alone).collect()
        };
        let joined = |mut members: Vec<Expr>, join: fn(Vec<Expr>) -> Expr| match members.len() {
            0 | 1 => members.pop(),
            _ => Some(join(members)),
        };
        match self {
            Tree::Text(expr) => Some(expr.clone()),
            Tree::Filter(_) => None,
            Tree::All(members) => joined(all(members), Expr::And),
            Tree::Any(members) => joined(all(members), Expr::Or),
            Tree::Not(inner) => Some(Expr::Not(Box::new(inner.text_alone()?))),
        }
    }

    /// `None`: there are too many.
    fn branches<'t>(&'t self, negated: bool) -> Option<Vec<Branch<'t>>> {
        let text = |expr: Expr| Branch {
            exprs: vec![if negated {
                Expr::Not(Box::new(expr))
            } else {
                expr
            }],
            filters: Vec::new(),
        };
        if let Some(expr) = self.expr() {
            return Some(vec![text(expr)]);
        }
        let branches = match (self, negated) {
            (Tree::Text(expr), _) => vec![text(expr.clone())],
            (Tree::Filter(filter), _) => vec![Branch {
                exprs: Vec::new(),
                filters: vec![(filter, filter.negated ^ negated)],
            }],
            (Tree::Not(inner), _) => inner.branches(!negated)?,
            (Tree::All(members), false) | (Tree::Any(members), true) => {
                let mut all = vec![Branch::default()];
                for member in members {
                    let more = member.branches(negated)?;
                    if all.len() * more.len() > MOST {
                        return None;
                    }
                    let both = |one: &Branch<'t>, other: &Branch<'t>| Branch {
                        exprs: [one.exprs.as_slice(), &other.exprs].concat(),
                        filters: [one.filters.as_slice(), &other.filters].concat(),
                    };
                    let with = |one| more.iter().map(move |other| both(one, other));
                    all = all.iter().flat_map(with).collect();
                }
                all
            }
            (Tree::Any(members), false) | (Tree::All(members), true) => {
                let (mut any, mut said) = (Vec::new(), Vec::new());
                for member in members {
                    match member.expr() {
                        Some(expr) => said.push(expr),
                        None => any.extend(member.branches(negated)?),
                    }
                }
                match (said.len(), negated) {
                    (0, _) => {}
                    (1, _) => any.extend(said.pop().map(text)),
                    (_, false) => any.push(text(Expr::Or(said))),
                    (_, true) => any.push(text(Expr::And(said))),
                }
                any
            }
        };
        (branches.len() <= MOST).then_some(branches)
    }
}

/// The alternatives of a query, at least one.
pub(super) fn alternatives(tree: &Tree, now: Now) -> Result<Vec<Alternative>, SyntaxError> {
    let Some(branches) = tree.branches(false) else {
        let column = tree.filter().map_or(1, |filter| filter.column);
        let hint = Some("each choice doubles the alternatives; role:a,b is one".to_owned());
        let expected = format!("at most {MOST} alternatives with filters");
        return Err(SyntaxError::new(column, expected, hint));
    };
    let (mut found, mut refused) = (Vec::new(), None);
    for branch in branches {
        let mut filters = Filters::default();
        for (at, (filter, negated)) in branch.filters.iter().enumerate() {
            once(filter, *negated, &branch.filters[..at])?;
        }
        let mut all = branch.filters.iter();
        let taken = all.try_for_each(|(filter, negated)| filters.take(filter, *negated, now));
        match taken {
            Ok(()) => found.push(Alternative {
                expr: match branch.exprs.len() {
                    0 => None,
                    1 => branch.exprs.into_iter().next(),
                    _ => Some(Expr::And(branch.exprs)),
                },
                filters,
            }),
            // Nothing is both: the other alternatives are left.
            Err(error) => refused = Some(error),
        }
    }
    match (found.is_empty(), refused) {
        (true, Some(error)) => Err(error),
        _ => Ok(found),
    }
}

/// Refuses a filter by names where one of the same name stands at another level of nesting: both
/// would have to hold, which is hardly meant. Side by side, their values are alternatives.
fn once(filter: &Filter, negated: bool, before: &[(&Filter, bool)]) -> Result<(), SyntaxError> {
    let is_same = |other: &&(&Filter, bool)| !other.1 && other.0.name == filter.name;
    match before.iter().find(is_same) {
        Some((other, _)) if !negated && filter.takes_names() => {
            let name = &filter.name;
            let expected = format!("no {name}: beside the one in column {}", other.column);
            let hint = format!("{name}:a,b is either; put both inside or both outside of ( )");
            Err(SyntaxError::new(filter.column, expected, Some(hint)))
        }
        _ => Ok(()),
    }
}
