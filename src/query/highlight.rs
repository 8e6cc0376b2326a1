//! What stands out in a text for somebody who asked for something?

use std::ops::Range;

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
        let loose = query.words.iter().map(|word| words::loose(&word.expr));
        let exprs = query.alternatives.iter().filter_map(|one| one.expr.clone());
        let exprs: Vec<Expr> = match query.words.is_empty() {
            true => exprs.collect(),
            false => loose.collect(),
        };
        (!exprs.is_empty()).then(|| Highlighter(Matcher::new(&Expr::Or(exprs))))
    }

    /// The byte ranges that stand out in a text of this class, ascending and disjoint.
    pub fn marks(&self, class: Class, text: &str) -> Vec<Range<usize>> {
        self.0.highlights(class, text)
    }
}
