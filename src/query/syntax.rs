//! What does the user's query say? Text in, expression and filters out.
//!
//! ```text
//! foo bar            both, in one passage          "foo bar"   next to each other
//! foo OR bar         either; binds less than AND   -foo        not in that passage
//! (a OR b) c         groups                        foo*        words that begin so
//! role:user          a filter; -role:user its opposite; role:user,assistant either
//! since:2w until:2026-10-05 is:error
//! ```
//! Filters: `agent project cwd role kind tool session` take names, `since until after before`
//! times, `is` only `error`. They hold for the whole query and stand outside of parentheses.
//! `since` and `until` include the moment, day, month or year they name; `after` and `before` do
//! not. What looks like a field but has an unknown name is an error, unless it looks like code: see
//! `looks_like_code`. In quotes everything is text, and so it is after the two characters `\:`.

use crate::model::Expr;
use crate::words::tokenizer::segment;

mod lex;
mod time;

use lex::{Lexeme, Piece, lex};
pub use time::Now;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What passages must say; `None` when there are only filters.
    pub expr: Option<Expr>,
    /// Where to look.
    pub filters: Filters,
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
    /// Projects.
    pub project: Names,
    /// Working directories.
    pub cwd: Names,
    /// Roles.
    pub role: Names,
    /// Kinds of entries. `system` asks for system prompts and tool schemas as well, which nothing else finds.
    pub kind: Names,
    /// Tools.
    pub tool: Names,
    /// Sessions, by id, prefix of an id, or path.
    pub session: Names,
    /// From this time on, ms.
    pub since_ms: Option<i64>,
    /// Before this time, ms.
    pub until_ms: Option<i64>,
    /// Entries that report an error, or those that do not.
    pub error: Option<bool>,
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

const FIELDS: [&str; 12] = [
    "agent", "project", "cwd", "role", "kind", "tool", "session", "since", "until", "after",
    "before", "is",
];

/// Deeper groups are refused: every level costs stack in whoever walks the tree.
const MAX_DEPTH: usize = 50;

/// Read `text`. Times such as `2w` and `yesterday` count from `now`.
///
/// # Errors
/// Says where and why; the message is fit to be shown.
pub fn parse(text: &str, now: Now) -> Result<Query, SyntaxError> {
    let lexemes = lex(text)?;
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
    Ok(Query { expr, filters })
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
        while let Some(lexeme) = self.peek() {
            let expr = match &lexeme.piece {
                Piece::Or | Piece::Close => break,
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
                Piece::Word(text) => self.word(text),
                Piece::Filter { name, values } => {
                    filter_at = filter_at.or(Some(lexeme.column));
                    self.filter(lexeme, name, values)?;
                    self.at += 1;
                    continue;
                }
            };
            self.at += 1;
            let negated = lexeme.negated;
            members.extend(expr.map(|expr| {
                if negated {
                    Expr::Not(Box::new(expr))
                } else {
                    expr
                }
            }));
        }
        let found = match members.len() {
            0 => None,
            1 => members.pop(),
            _ => Some(Expr::And(members)),
        };
        Ok(Part { found, filter_at })
    }

    fn word(&self, text: &str) -> Option<Expr> {
        if !searchable(text) {
            return None;
        }
        Some(match text.strip_suffix('*') {
            Some(stem) if stem.ends_with(|last: char| last.is_alphanumeric() || last == '_') => {
                Expr::Prefix(stem.to_owned())
            }
            _ => Expr::Word(text.to_owned()),
        })
    }

    fn filter(
        &mut self,
        lexeme: &Lexeme,
        name: &str,
        values: &[String],
    ) -> Result<(), SyntaxError> {
        let value_column = lexeme.column + name.chars().count() + 1 + usize::from(lexeme.negated);
        let names = match name {
            "agent" => &mut self.filters.agent,
            "project" => &mut self.filters.project,
            "cwd" => &mut self.filters.cwd,
            "role" => &mut self.filters.role,
            "kind" => &mut self.filters.kind,
            "tool" => &mut self.filters.tool,
            "session" => &mut self.filters.session,
            "is" => {
                if values.iter().any(|value| value != "error") {
                    return Err(SyntaxError::new(value_column, "`error` after `is:`", None));
                }
                let wanted = !lexeme.negated;
                if self.filters.error.is_some_and(|before| before != wanted) {
                    return Err(SyntaxError::new(
                        lexeme.column,
                        "either is:error or -is:error",
                        None,
                    ));
                }
                self.filters.error = Some(wanted);
                return Ok(());
            }
            _ => return self.time(lexeme, name, values, value_column),
        };
        let list = if lexeme.negated {
            &mut names.none
        } else {
            &mut names.any
        };
        list.extend(values.iter().cloned());
        Ok(())
    }

    fn time(
        &mut self,
        lexeme: &Lexeme,
        name: &str,
        values: &[String],
        column: usize,
    ) -> Result<(), SyntaxError> {
        let [value] = values else {
            return Err(SyntaxError::new(column, "one time", None));
        };
        let span = time::span(value, self.now).ok_or_else(|| {
            let hint = "such as 2026-10, 2026-10-05, 2026-10-05T14:30, today, yesterday, 3d, 2w";
            SyntaxError::new(column, "a date or a length of time", Some(hint.to_owned()))
        })?;
        // Without the minus, from `start`; with it, before what it would be from.
        let (is_lower, bound) = match name {
            "since" => (true, span.start),
            "after" => (true, span.end),
            "before" => (false, span.start),
            _ => (false, span.end),
        };
        if is_lower != lexeme.negated {
            let since = &mut self.filters.since_ms;
            *since = Some(since.map_or(bound, |before| before.max(bound)));
        } else {
            let until = &mut self.filters.until_ms;
            *until = Some(until.map_or(bound, |before| before.min(bound)));
        }
        Ok(())
    }
}

/// Whether `text` holds any word at all.
fn searchable(text: &str) -> bool {
    segment(text, |_| {}) > 0
}

/// Whether `name:value`, with a name that is no field, is plain text: an address or code
/// (`http://x`, `std::fmt`, `C:\x`), a place in a file or a port (`localhost:8080`), a name with
/// capitals (`TypeError:x`), one letter, or a `:` at the end.
fn looks_like_code(name: &str, value: &str) -> bool {
    name.chars().count() < 2
        || value.is_empty()
        || value.starts_with([':', '/', '\\'])
        || value.starts_with(|first: char| first.is_ascii_digit())
        || name.contains(|letter: char| !letter.is_ascii_lowercase())
}

/// The field nearest to `name`, if any is near.
fn nearest(name: &str) -> Option<&'static str> {
    let synonym = match name {
        "in" | "path" | "dir" | "folder" => Some("cwd"),
        "from" | "by" | "author" => Some("role"),
        "type" => Some("kind"),
        "repo" => Some("project"),
        "date" => Some("since"),
        "id" => Some("session"),
        _ => None,
    };
    synonym.or_else(|| {
        FIELDS
            .iter()
            .map(|field| (distance(name, field), *field))
            .filter(|(distance, field)| *distance <= 1 + field.len() / 4)
            .min()
            .map(|(_, field)| field)
    })
}

/// Letters to add, remove or replace between two ASCII words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (above + 1)
                .min(row[j] + 1)
                .min(diagonal + usize::from(x != y));
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
