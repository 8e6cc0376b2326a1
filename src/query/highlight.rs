//! What stands out in a text for somebody who asked for something?

use std::ops::Range;

use super::search::forms;
use crate::model::{Class, Expr};
use crate::syntax::Query;
use crate::words::{self, Matcher};

/// Finds what a query asks for in any text, as it would be marked in a snippet. Filters, and what
/// the query excludes, mark nothing.
#[derive(Debug)]
pub struct Highlighter(Matcher);

impl Highlighter {
    /// Of a query; `None` where it consists of filters alone.
    pub fn new(query: &Query) -> Option<Highlighter> {
        of_any(asked(query))
    }

    /// The same, and an English word of it with other endings, too: `test` marks `tests`, `tested`
    /// and `testing`.
    pub fn with_endings(query: &Query) -> Option<Highlighter> {
        let mut exprs = asked(query);
        let mut endings = Vec::new();
        exprs
            .iter()
            .for_each(|expr| with_endings(expr, &mut endings));
        exprs.extend(endings);
        of_any(exprs)
    }

    /// The byte ranges that stand out in a text of this class, ascending and disjoint.
    pub fn marks(&self, class: Class, text: &str) -> Vec<Range<usize>> {
        self.0.highlights(class, text)
    }
}

/// What a query asks for; nothing where it consists of filters alone.
fn asked(query: &Query) -> Vec<Expr> {
    let loose = query.words.iter().map(|word| words::loose(&word.expr));
    let exprs = query.alternatives.iter().filter_map(|one| one.expr.clone());
    match query.words.is_empty() {
        true => exprs.collect(),
        false => loose.collect(),
    }
}

fn of_any(exprs: Vec<Expr>) -> Option<Highlighter> {
    (!exprs.is_empty()).then(|| Highlighter(Matcher::new(&Expr::Or(exprs))))
}

/// The words of an expression with other endings.
fn with_endings(expr: &Expr, found: &mut Vec<Expr>) {
    match expr {
        Expr::Word(text) => found.extend(forms(text).into_iter().map(Expr::Word)),
        Expr::And(members) | Expr::Or(members) => {
            members
                .iter()
                .for_each(|member| with_endings(member, found));
        }
        _ => {}
    }
}
