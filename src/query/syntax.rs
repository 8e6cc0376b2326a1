//! What does the user's query say? Text in, expression and filters out.
//!
//! ```text
//! foo bar, foo AND bar   both, in one passage          "foo bar"    next to each other
//! foo OR bar             either; binds less than AND   -foo, NOT foo   not in that passage
//! (a OR b) c             groups                        foo*         words that begin so
//! foo~                   words one edit away           *foo*        any part of the text
//! /fo+ba[rz]/            a regular expression; /…/i whatever the case
//! role:user              a filter; -role:user its opposite; role:user,assistant either
//! since:2w until:2026-10-05 on:yesterday is:error has:image
//! ```
//! Filters: see [`Filters`]. They hold for the whole query and stand outside of parentheses.
//! `since` and `until` include the moment, day, month or year they name; `after` and `before` do
//! not. What looks like a field but has an unknown name is text; where its name is nearly that of a
//! field a note says so. In quotes everything is text, and so it is after the two characters `\:`.
//! A word that looks like the hash of a commit finds longer and shorter forms of it.

use crate::model::Expr;
use crate::words::regex_error;
use crate::words::tokenizer::segment;

mod field;
mod lex;
mod time;
mod word;

#[cfg(test)]
use field::FIELDS;
use lex::{Lexeme, Piece, lex};
pub use time::Now;
use word::word;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What passages must say; `None` when there are only filters.
    pub expr: Option<Expr>,
    /// Where to look.
    pub filters: Filters,
    /// What may have been meant otherwise.
    pub notes: Vec<String>,
}

/// Names wanted and not wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// One of these, unless empty. Two filters of one name add up.
    pub any: Vec<String>,
    /// None of these.
    pub none: Vec<String>,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Agents.
    pub agent: Names,
    /// Projects, by a part of the last folder of the working directory.
    pub project: Names,
    /// Working directories and what is below them.
    pub cwd: Names,
    /// Roots, by label or path.
    pub root: Names,
    /// Sessions, by id, prefix of an id, or path.
    pub session: Names,
    /// Sessions, by a part of their name.
    pub name: Names,
    /// Entries with a label, by a part of it.
    pub label: Names,
    /// Roles.
    pub role: Names,
    /// Kinds of entries. `system` asks for system prompts and tool schemas as well, which nothing else finds.
    pub kind: Names,
    /// Tools.
    pub tool: Names,
    /// Entries that read, write or name a file, by its path, a part of that, or `*.rs`.
    pub file: Names,
    /// Sessions that used a model, by a part of its name.
    pub model: Names,
    /// Sessions that used a provider, by a part of its name.
    pub provider: Names,
    /// Sessions of a status, and entries that ended so.
    pub status: Names,
    /// From this time on, ms.
    pub since_ms: Option<i64>,
    /// Before this time, ms.
    pub until_ms: Option<i64>,
    /// Not within these times: from the first ms until before the second.
    pub outside_ms: Vec<(i64, i64)>,
    /// Entries that report an error, or those that do not.
    pub error: Option<bool>,
    /// Entries that are not on their session's active branch, or those that are.
    pub branch: Option<bool>,
    /// Entries of sessions with a name, or of those without.
    pub named: Option<bool>,
    /// Entries that hold an image, or those that do not.
    pub image: Option<bool>,
}

impl Filters {
    /// Whether system prompts and tool schemas are asked for.
    pub fn asks_for_prompts(&self) -> bool {
        self.kind.any.iter().any(|kind| kind == "system")
    }
}

/// Why a query cannot be read, and how it could.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}{}", .suggestion.as_ref().map(|s| format!("; {s}")).unwrap_or_default())]
pub struct SyntaxError {
    /// The first character that is not understood, counted from 1.
    pub column: usize,
    /// What would have been understood there.
    pub expected: String,
    /// What may have been meant.
    pub suggestion: Option<String>,
}

impl SyntaxError {
    fn new(column: usize, expected: impl Into<String>, suggestion: Option<String>) -> Self {
        Self {
            column,
            expected: expected.into(),
            suggestion,
        }
    }
}

/// Deeper groups are refused: every level costs stack in whoever walks the tree.
const MAX_DEPTH: usize = 50;

/// Read `text`. Times such as `2w` and `yesterday` count from `now`.
///
/// # Errors
/// Says where and why; the message is fit to be shown.
pub fn parse(text: &str, now: Now) -> Result<Query, SyntaxError> {
    let (lexemes, notes) = lex(text)?;
    let mut parser = Parser {
        lexemes: &lexemes,
        at: 0,
        now,
        filters: Filters::default(),
    };
    let expr = parser.either(0)?;
    if let Some(lexeme) = parser.peek() {
        let hint = Some("remove it, or put it in quotes".to_owned());
        return Err(SyntaxError::new(
            lexeme.column,
            "no `)` without `(` before it",
            hint,
        ));
    }
    let filters = parser.filters;
    let expr = expr.found;
    if expr.is_none() && filters == Filters::default() {
        let hint = (!lexemes.is_empty()).then(|| "only letters and digits are searched".to_owned());
        return Err(SyntaxError::new(1, "a word to search for", hint));
    }
    Ok(Query {
        expr,
        filters,
        notes,
    })
}

struct Parser<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
    now: Now,
    filters: Filters,
}

/// What a part of the query came to.
#[derive(Default)]
struct Part {
    found: Option<Expr>,
    /// Where it holds a filter.
    filter_at: Option<usize>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.at)
    }

    fn either(&mut self, depth: usize) -> Result<Part, SyntaxError> {
        let mut first = self.all(depth)?;
        let mut members = Vec::new();
        let mut is_choice = false;
        while let Some(lexeme) = self.peek().filter(|lexeme| lexeme.piece == Piece::Or) {
            self.at += 1;
            let next = self.all(depth)?;
            if let Some(column) = first.filter_at.or(next.filter_at) {
                let hint = "filters hold for the whole query; role:a,b means either".to_owned();
                return Err(SyntaxError::new(column, "no filter beside OR", Some(hint)));
            }
            if first.found.is_none() && !is_choice || next.found.is_none() {
                let hint = "to search for the word itself, write \"or\"".to_owned();
                return Err(SyntaxError::new(
                    lexeme.column,
                    "a word on both sides of OR",
                    Some(hint),
                ));
            }
            is_choice = true;
            members.extend(first.found.take());
            members.extend(next.found);
        }
        Ok(if is_choice {
            Part {
                found: Some(Expr::Or(members)),
                filter_at: None,
            }
        } else {
            first
        })
    }

    fn all(&mut self, depth: usize) -> Result<Part, SyntaxError> {
        let mut members = Vec::new();
        let mut filter_at = None;
        // A NOT that stands before the next lexeme.
        let mut not_at = None;
        while let Some(lexeme) = self.peek() {
            let expr = match &lexeme.piece {
                Piece::Or | Piece::Close => break,
                Piece::And => {
                    let is_first = members.is_empty() && filter_at.is_none();
                    self.at += 1;
                    if is_first || not_at.is_some() || !self.begins_member() {
                        let hint = "to search for the word itself, write \"and\"".to_owned();
                        return Err(SyntaxError::new(
                            lexeme.column,
                            "a word on both sides of AND",
                            Some(hint),
                        ));
                    }
                    continue;
                }
                Piece::Not => {
                    not_at = Some(lexeme.column);
                    self.at += 1;
                    if !self.begins_member() {
                        break;
                    }
                    continue;
                }
                Piece::Open => {
                    self.at += 1;
                    if depth == MAX_DEPTH {
                        return Err(SyntaxError::new(lexeme.column, "fewer nested groups", None));
                    }
                    let inner = self.either(depth + 1)?;
                    if self
                        .peek()
                        .is_none_or(|lexeme| lexeme.piece != Piece::Close)
                    {
                        let hint = "to search for `(` as text, put it in quotes".to_owned();
                        return Err(SyntaxError::new(
                            lexeme.column,
                            "a `)` for this `(`",
                            Some(hint),
                        ));
                    }
                    if let Some(column) = inner.filter_at {
                        let hint = "filters hold for the whole query".to_owned();
                        return Err(SyntaxError::new(
                            column,
                            "no filter inside of ( )",
                            Some(hint),
                        ));
                    }
                    inner.found
                }
                Piece::Phrase(text) => searchable(text).then(|| Expr::Phrase(text.clone())),
                Piece::Word(text) => word(text),
                Piece::Regex {
                    pattern,
                    column,
                    added,
                } => {
                    if let Some((at, message)) = regex_error(pattern) {
                        // What flags are made into nobody typed.
                        let typed = &pattern[*added..];
                        let hint = format!("to search for the text, write \"/{typed}/\"");
                        return Err(SyntaxError::new(
                            column + at.saturating_sub(*added),
                            format!("a regular expression ({message})"),
                            Some(hint),
                        ));
                    }
                    Some(Expr::Regex(pattern.clone()))
                }
                Piece::Filter { name, values } => {
                    filter_at = filter_at.or(Some(lexeme.column));
                    let negated = lexeme.negated ^ not_at.take().is_some();
                    self.filter(lexeme, negated, name, values)?;
                    self.at += 1;
                    continue;
                }
            };
            self.at += 1;
            let negated = lexeme.negated ^ not_at.take().is_some();
            members.extend(expr.map(|expr| {
                if negated {
                    Expr::Not(Box::new(expr))
                } else {
                    expr
                }
            }));
        }
        if let Some(column) = not_at {
            let hint = "to search for the word itself, write \"not\"".to_owned();
            return Err(SyntaxError::new(column, "a word after NOT", Some(hint)));
        }
        let found = match members.len() {
            0 => None,
            1 => members.pop(),
            _ => Some(Expr::And(members)),
        };
        Ok(Part { found, filter_at })
    }

    /// Whether a word, group or filter comes next.
    fn begins_member(&self) -> bool {
        self.peek()
            .is_some_and(|next| !matches!(next.piece, Piece::Or | Piece::And | Piece::Close))
    }
}

/// Whether `text` holds any word at all.
fn searchable(text: &str) -> bool {
    segment(text, |_| {}) > 0
}

#[cfg(test)]
mod tests;
