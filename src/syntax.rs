//! What does the user's query say? Text in, expression and filters out.
//!
//! ```text
//! foo bar                sessions that hold them       +foo bar      not without the first
//! foo AND bar            both, in one passage          "foo bar"    next to each other
//! foo OR bar             either; binds less than AND   -foo, NOT foo   not in that passage
//! (a OR b) c             groups                        foo*         words that begin so
//! foo~                   words one edit away           *foo*        any part of the text
//! /fo+ba[rz]/            a regular expression; /…/i whatever the case
//! role:user              a filter; -role:user its opposite; role:user,assistant either
//! since:2w until:2026-10-05 on:yesterday is:error has:image
//! ```
//! Filters, see [`Filters`], stand wherever words do: `(role:user OR label:x) foo`.
//! `since` and `until` include the moment, day, month or year they name; `after` and `before` do
//! not. What looks like a field but has an unknown name is text; where its name is nearly that of a
//! field a note says so. In quotes everything is text, and so it is after the two characters `\:`.
//! A word that looks like the hash of a commit finds longer and shorter forms of it.

use crate::model::Expr;
use crate::words::regex_error;
use crate::words::tokenizer::segment;

mod alternatives;
mod field;
mod lex;
mod signs;
mod time;
mod word;

use alternatives::{Filter, Tree, alternatives};
#[cfg(test)]
use field::FIELDS;
pub(crate) use field::distance;
use lex::{Lexeme, TokenKind, Value, lex};
pub use time::Now;
use word::word;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// At least one. There are several only where filters stand beside an OR.
    pub alternatives: Vec<Alternative>,
    /// The words, where it is nothing but two or more plain ones and filters: somebody remembers a
    /// session by them.
    pub words: Vec<RememberedWord>,
    /// The values of filters, as they were typed.
    pub typed: Vec<FilterValue>,
    /// What may have been meant otherwise.
    pub notes: Vec<String>,
}

/// One of several plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedWord {
    /// What it asks for.
    pub expr: Expr,
    /// Whether a session must hold it, because a `+` stands before it.
    pub is_demanded: bool,
}

/// A value of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterValue {
    /// Where the value begins, in characters from 1.
    pub column: usize,
    /// The name of the filter.
    pub field: String,
    /// What stands behind it.
    pub value: String,
}

/// Passages that say something, of entries that some filters leave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alternative {
    /// What passages must say; `None` when there are only filters.
    pub expr: Option<Expr>,
    /// Where to look.
    pub filters: Filters,
}

impl Query {
    /// The one alternative, if there is only one.
    pub fn only(&self) -> Option<&Alternative> {
        match self.alternatives.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Write out the `~` that stands for this folder at the beginning of paths.
    pub(super) fn write_out_home(&mut self, home: &str) {
        let mut paths: Vec<&mut String> = Vec::new();
        for alternative in &mut self.alternatives {
            let filters = &mut alternative.filters;
            let names = [
                &mut filters.cwd,
                &mut filters.root,
                &mut filters.project,
                &mut filters.session,
                &mut filters.file,
            ];
            paths.extend(
                names
                    .into_iter()
                    .flat_map(|n| n.any.iter_mut().chain(&mut n.none)),
            );
        }
        let is_path =
            |field: &str| matches!(field, "cwd" | "root" | "project" | "session" | "file");
        let typed = self.typed.iter_mut().filter(|one| is_path(&one.field));
        paths.extend(typed.map(|one| &mut one.value));
        for path in paths {
            if let Some(rest) = path.strip_prefix('~')
                && (rest.is_empty() || rest.starts_with(['/', '\\']))
            {
                *path = format!("{home}{rest}");
            }
        }
    }

    /// Whether system prompts and tool schemas are asked for.
    pub fn asks_for_prompts(&self) -> bool {
        let mut filters = self.alternatives.iter().map(|one| &one.filters);
        filters.any(Filters::asks_for_prompts)
    }
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
    /// Projects, by a part of the last folder of the working directory, or by a path that holds it.
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
    /// Kinds of entries. `system` asks for system prompts and tool schemas as well, which nothing
    /// else finds.
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
        let mut kinds = self.kind.any.iter();
        kinds.any(|kind| kind.eq_ignore_ascii_case("system"))
    }

    /// Whether this value, of a filter by names, is one of those that are wanted.
    pub(super) fn wants(&self, typed: &FilterValue) -> bool {
        let names = match typed.field.as_str() {
            "agent" => &self.agent,
            "project" => &self.project,
            "cwd" => &self.cwd,
            "root" => &self.root,
            "session" => &self.session,
            "name" => &self.name,
            "label" => &self.label,
            "role" => &self.role,
            "kind" => &self.kind,
            "tool" => &self.tool,
            "file" => &self.file,
            "model" => &self.model,
            "provider" => &self.provider,
            "status" => &self.status,
            _ => return false,
        };
        names.any.contains(&typed.value)
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
        typed: Vec::new(),
        notes,
    };
    let tree = parser.either(0)?;
    if let Some(lexeme) = parser.peek() {
        let hint = Some("remove it, or put it in quotes".to_owned());
        return Err(SyntaxError::new(
            lexeme.column,
            "no `)` without `(` before it",
            hint,
        ));
    }
    let Some(tree) = tree else {
        let hint = (!lexemes.is_empty()).then(|| match lexemes.iter().find_map(written) {
            Some(text) => {
                format!("only letters and digits are indexed; *{text}* finds it as it is written")
            }
            None => "only letters and digits are indexed; text between two * is found as it is written, such as *->*"
                .to_owned(),
        });
        return Err(SyntaxError::new(1, "a word to search for", hint));
    };
    parser.notes.extend(lexemes.iter().find_map(signs::note));
    Ok(Query {
        alternatives: alternatives(&tree, now)?,
        words: plain_words(&lexemes).unwrap_or_default(),
        typed: parser.typed,
        notes: parser.notes,
    })
}

/// The words of a query that is nothing but two or more of them and filters.
fn plain_words(lexemes: &[Lexeme]) -> Option<Vec<RememberedWord>> {
    let mut words: Vec<RememberedWord> = Vec::new();
    for lexeme in lexemes {
        match &lexeme.piece {
            TokenKind::Filter { .. } => {}
            TokenKind::Word(text) => {
                // What has no letters is left out, with a minus before it or not.
                let Some(expr) = word(text) else { continue };
                if lexeme.negated || expr.reads_text() {
                    return None;
                }
                match words.iter_mut().find(|known| known.expr == expr) {
                    Some(known) => known.is_demanded |= lexeme.demanded,
                    None => words.push(RememberedWord {
                        expr,
                        is_demanded: lexeme.demanded,
                    }),
                }
            }
            _ => return None,
        }
    }
    (words.len() > 1).then_some(words)
}

struct Parser<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
    now: Now,
    typed: Vec<FilterValue>,
    notes: Vec<String>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.at)
    }

    /// `None`: nothing that can be searched for.
    fn either(&mut self, depth: usize) -> Result<Option<Tree>, SyntaxError> {
        let mut first = self.all(depth)?;
        let mut members = Vec::new();
        while let Some(lexeme) = self.peek().filter(|lexeme| lexeme.piece == TokenKind::Or) {
            self.at += 1;
            let next = self.all(depth)?;
            if first.is_none() && members.is_empty() || next.is_none() {
                let hint = "to search for the word itself, write \"or\"".to_owned();
                return Err(SyntaxError::new(
                    lexeme.column,
                    "a word on both sides of OR",
                    Some(hint),
                ));
            }
            members.extend(first.take());
            members.extend(next);
        }
        Ok(match members.is_empty() {
            true => first,
            false => Some(Tree::Any(members)),
        })
    }

    /// Members that stand side by side, or with AND between them, up to an OR or `)`.
    fn all(&mut self, depth: usize) -> Result<Option<Tree>, SyntaxError> {
        let mut members: Vec<Tree> = Vec::new();
        let mut is_first = true;
        // The column of the NOT before the next lexeme, and whether it and the NOTs before it
        // negate that lexeme.
        let mut not_at: Option<(usize, bool)> = None;
        while let Some(lexeme) = self.peek() {
            let member = match &lexeme.piece {
                TokenKind::Or | TokenKind::Close => break,
                TokenKind::And => {
                    self.at += 1;
                    if is_first || not_at.is_some() || !self.begins_member() {
                        return Err(incomplete_and(lexeme));
                    }
                    continue;
                }
                TokenKind::Not => {
                    not_at = Some((lexeme.column, !is_negated(not_at)));
                    self.at += 1;
                    if !self.begins_member() {
                        break;
                    }
                    continue;
                }
                TokenKind::Filter { name, values } => {
                    let negated = lexeme.negated ^ is_negated(not_at.take());
                    add_filter(&mut members, self.filter(lexeme, name, values, negated)?);
                    self.at += 1;
                    is_first = false;
                    continue;
                }
                TokenKind::Open => self.group(lexeme, depth)?,
                TokenKind::Phrase(text) => {
                    let phrase = searchable(text).then(|| Expr::Phrase(text.clone()));
                    self.text(lexeme, text, phrase)
                }
                TokenKind::Word(text) => self.text(lexeme, text, word(text)),
                TokenKind::Regex {
                    pattern,
                    column,
                    added,
                } => Some(Tree::Text(regex(pattern, *column, *added)?)),
            };
            self.at += 1;
            is_first = false;
            let negated = lexeme.negated ^ is_negated(not_at.take());
            members.extend(member.map(|member| match negated {
                true => Tree::Not(Box::new(member)),
                false => member,
            }));
        }
        if let Some((column, _)) = not_at {
            let hint = "to search for the word itself, write \"not\"".to_owned();
            return Err(SyntaxError::new(column, "a word after NOT", Some(hint)));
        }
        Ok(match members.len() {
            0 => None,
            1 => members.pop(),
            _ => Some(Tree::All(members)),
        })
    }

    /// What stands between `open`, which is a `(`, and its `)`. The `)` is left to the caller.
    fn group(&mut self, open: &Lexeme, depth: usize) -> Result<Option<Tree>, SyntaxError> {
        self.at += 1;
        if depth == MAX_DEPTH {
            return Err(SyntaxError::new(open.column, "fewer nested groups", None));
        }
        let inner = self.either(depth + 1)?;
        match self.peek().map(|lexeme| &lexeme.piece) {
            Some(TokenKind::Close) => Ok(inner),
            _ => Err(SyntaxError::new(
                open.column,
                "a `)` for this `(`",
                Some("to search for `(` as text, put it in quotes".to_owned()),
            )),
        }
    }

    /// A filter with its values. What is wrong with it is reported even where no alternative needs
    /// it.
    fn filter(
        &mut self,
        lexeme: &Lexeme,
        name: &str,
        values: &[Value],
        negated: bool,
    ) -> Result<Filter, SyntaxError> {
        self.typed.extend(values.iter().map(|value| FilterValue {
            column: value.column,
            field: name.to_owned(),
            value: value.text.clone(),
        }));
        let filter = Filter {
            column: lexeme.column,
            value_column: lexeme.column + name.chars().count() + 1 + usize::from(lexeme.negated),
            negated,
            name: name.to_owned(),
            values: values.iter().map(|value| value.text.clone()).collect(),
        };
        Filters::default().take(&filter, negated, self.now)?;
        Ok(filter)
    }

    /// What a word or phrase asks for; where that is nothing, a note says so.
    fn text(&mut self, lexeme: &Lexeme, text: &str, expr: Option<Expr>) -> Option<Tree> {
        if expr.is_none() {
            let text = format!("{}{text}", if lexeme.negated { "-" } else { "" });
            self.notes.push(format!(
                "column {}: {text} has no letters or digits and is left out; *{text}* finds it as it is written",
                lexeme.column
            ));
        }
        expr.map(Tree::Text)
    }

    /// Whether a word, group or filter comes next.
    fn begins_member(&self) -> bool {
        self.peek().is_some_and(|next| {
            !matches!(
                next.piece,
                TokenKind::Or | TokenKind::And | TokenKind::Close
            )
        })
    }
}

/// An AND that lacks a word before or after it.
fn incomplete_and(and: &Lexeme) -> SyntaxError {
    let hint = "to search for the word itself, write \"and\"".to_owned();
    SyntaxError::new(and.column, "a word on both sides of AND", Some(hint))
}

/// A regular expression that can be run. `column`: where its pattern stands in the query; `added`:
/// so many characters at its beginning were made from flags and not typed.
fn regex(pattern: &str, column: usize, added: usize) -> Result<Expr, SyntaxError> {
    match regex_error(pattern) {
        None => Ok(Expr::Regex(pattern.to_owned())),
        Some((at, message)) => Err(SyntaxError::new(
            column + at.saturating_sub(added),
            format!("a regular expression ({message})"),
            Some(format!(
                "to search for the text, write \"/{}/\"",
                &pattern[added..]
            )),
        )),
    }
}

/// Whether the NOTs before a lexeme ask for its opposite: two of them do not.
fn is_negated(not_at: Option<(usize, bool)>) -> bool {
    not_at.is_some_and(|(_, negated)| negated)
}

/// Names of one filter side by side add up: `role:user role:assistant` is either.
fn add_filter(members: &mut Vec<Tree>, filter: Filter) {
    let same = members.iter_mut().find_map(|member| match member {
        Tree::Filter(other) if other.name == filter.name && other.negated == filter.negated => {
            Some(other)
        }
        _ => None,
    });
    match same {
        Some(other) if filter.takes_names() => other.values.extend(filter.values),
        _ => members.push(Tree::Filter(filter)),
    }
}

/// What could be looked for as a part of the text.
fn written(lexeme: &Lexeme) -> Option<&str> {
    match &lexeme.piece {
        TokenKind::Word(text) | TokenKind::Phrase(text) => Some(text.trim()),
        _ => None,
    }
    .filter(|text| !text.is_empty() && !text.contains('*') && !text.contains(char::is_whitespace))
}

/// Whether `text` holds any word at all.
fn searchable(text: &str) -> bool {
    segment(text, |_| {}) > 0
}

#[cfg(test)]
mod tests;
