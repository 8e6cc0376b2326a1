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
    /// Kinds of entries.
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

const FIELDS: [&str; 21] = [
    "agent", "project", "cwd", "root", "session", "name", "label", "role", "kind", "tool", "file",
    "model", "provider", "status", "is", "has", "since", "until", "after", "before", "on",
];

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
                Piece::Regex { pattern, column } => {
                    if let Some((at, message)) = regex_error(pattern) {
                        let hint = format!("to search for the text, write \"/{pattern}/\"");
                        return Err(SyntaxError::new(
                            column + at,
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

    fn filter(
        &mut self,
        lexeme: &Lexeme,
        negated: bool,
        name: &str,
        values: &[String],
    ) -> Result<(), SyntaxError> {
        let value_column = lexeme.column + name.chars().count() + 1 + usize::from(lexeme.negated);
        let names = match name {
            "agent" => &mut self.filters.agent,
            "project" => &mut self.filters.project,
            "cwd" => &mut self.filters.cwd,
            "root" => &mut self.filters.root,
            "name" => &mut self.filters.name,
            "label" => &mut self.filters.label,
            "file" => &mut self.filters.file,
            "model" => &mut self.filters.model,
            "provider" => &mut self.filters.provider,
            "status" => &mut self.filters.status,
            "role" => &mut self.filters.role,
            "kind" => &mut self.filters.kind,
            "tool" => &mut self.filters.tool,
            "session" => &mut self.filters.session,
            "is" | "has" => {
                let value = match values {
                    [value] => value.as_str(),
                    _ => "",
                };
                let (mark, expected) = match (name, value) {
                    ("is", "error") => (&mut self.filters.error, ""),
                    ("is", "branch") => (&mut self.filters.branch, ""),
                    ("is", "named") => (&mut self.filters.named, ""),
                    ("has", "image") => (&mut self.filters.image, ""),
                    ("is", _) => (
                        &mut self.filters.error,
                        "`error`, `branch` or `named` after `is:`",
                    ),
                    _ => (&mut self.filters.image, "`image` after `has:`"),
                };
                if !expected.is_empty() {
                    let hint = match values.first().map(String::as_str) {
                        Some("image") => Some("did you mean has:image?"),
                        Some("errors" | "failed" | "error") => Some("did you mean is:error?"),
                        Some("name" | "named") => Some("did you mean is:named?"),
                        Some("label" | "labeled" | "labelled") => Some("did you mean label:NAME?"),
                        _ => None,
                    };
                    return Err(SyntaxError::new(
                        value_column,
                        expected,
                        hint.map(str::to_owned),
                    ));
                }
                if mark.is_some_and(|before| before == negated) {
                    return Err(SyntaxError::new(
                        lexeme.column,
                        format!("either {name}:{value} or -{name}:{value}"),
                        None,
                    ));
                }
                *mark = Some(!negated);
                return Ok(());
            }
            _ => return self.time(negated, name, values, value_column),
        };
        let list = if negated {
            &mut names.none
        } else {
            &mut names.any
        };
        list.extend(values.iter().cloned());
        Ok(())
    }

    fn time(
        &mut self,
        negated: bool,
        name: &str,
        values: &[String],
        column: usize,
    ) -> Result<(), SyntaxError> {
        let [value] = values else {
            return Err(SyntaxError::new(column, "one time", None));
        };
        let span = time::span(value, self.now).ok_or_else(|| {
            let hint =
                "such as 2026-10, 2026-10-05, 2026-10-05T14:30, today, yesterday, monday, 3d, 2w";
            SyntaxError::new(column, "a date or a length of time", Some(hint.to_owned()))
        })?;
        if name == "on" {
            // `on:3d` is the day that lies so far back.
            let span = time::whole_day(span, self.now);
            if negated {
                self.filters.outside_ms.push((span.start, span.end));
            } else {
                self.not_before(span.start);
                self.not_after(span.end);
            }
            return Ok(());
        }
        // Without the minus, from `start`; with it, before what it would be from.
        let (is_lower, bound) = match name {
            "since" => (true, span.start),
            "after" => (true, span.end),
            "before" => (false, span.start),
            _ => (false, span.end),
        };
        if is_lower != negated {
            self.not_before(bound);
        } else {
            self.not_after(bound);
        }
        Ok(())
    }

    fn not_before(&mut self, bound: i64) {
        let since = &mut self.filters.since_ms;
        *since = Some(since.map_or(bound, |before| before.max(bound)));
    }

    fn not_after(&mut self, bound: i64) {
        let until = &mut self.filters.until_ms;
        *until = Some(until.map_or(bound, |before| before.min(bound)));
    }
}

/// What a word that is not in quotes asks for.
fn word(text: &str) -> Option<Expr> {
    let middle = text
        .strip_prefix('*')
        .and_then(|rest| rest.strip_suffix('*'));
    if let Some(middle) = middle.filter(|middle| !middle.is_empty() && !middle.contains('*')) {
        return Some(Expr::Substring(middle.to_owned()));
    }
    if !searchable(text) {
        return None;
    }
    let goes_on = |stem: &&str| stem.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    if let Some(stem) = text.strip_suffix('*').filter(goes_on) {
        return Some(Expr::Prefix(stem.to_owned()));
    }
    if let Some(stem) = text.strip_suffix('~').filter(goes_on) {
        return Some(Expr::Near(stem.to_owned()));
    }
    Some(if is_commit(text) {
        commit(text)
    } else {
        Expr::Word(text.to_owned())
    })
}

/// Letters of a commit's hash that git shows at least, and that people write at most in short.
const COMMIT: std::ops::RangeInclusive<usize> = 7..=12;

/// Whether a word looks like the hash of a commit, or the beginning of one.
fn is_commit(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    (*COMMIT.start()..=40).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
}

/// A commit, however much of its hash is written: as much as was typed and more, or less.
fn commit(text: &str) -> Expr {
    let mut forms = vec![Expr::Prefix(text.to_owned())];
    let shorter = COMMIT.filter(|length| *length < text.len());
    forms.extend(shorter.map(|length| Expr::Word(text[..length].to_owned())));
    match forms.len() {
        1 => forms.remove(0),
        _ => Expr::Or(forms),
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
