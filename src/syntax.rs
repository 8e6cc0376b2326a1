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
//! not. What looks like a filter but has an unknown name is text, and a note says so. In quotes
//! everything is text, and so it is after the two characters `\:`. A word that looks like the hash
//! of a commit finds longer and shorter forms of it.
//!
//! What people habitually type is read as they mean it, wherever it cannot be code: `a | b`, `!a`,
//! curly and single quotes. A quote or group that is not closed goes up to the end; an operator
//! without a word and a filter without a value are left out. Notes tell what was read otherwise
//! than it may have been meant.

use crate::format::terminal::seen;
use crate::model::Expr;
use crate::words::tokenizer::segment;

mod alternatives;
mod field;
mod habits;
mod lex;
mod notes;
mod parser;
mod quotes;
mod signs;
mod time;
mod word;

#[cfg(test)]
use field::FIELDS;
use lex::lex;
use notes::Notes;
use parser::Parser;
pub(crate) use quotes::opens as opens_quote;
pub use quotes::phrase;
pub use signs::signed;
pub use time::Now;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// At least one; where there is none all the same, everything is left in. There are several
    /// only where filters stand beside an OR.
    pub alternatives: Vec<Alternative>,
    /// The words, where it is nothing but two or more plain ones and filters: somebody remembers a
    /// session by them.
    pub words: Vec<RememberedWord>,
    /// The values of filters, as they were typed.
    pub typed: Vec<FilterValue>,
    /// What was left out, and what may have been meant otherwise: sentences, at most ten.
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
    /// A query that was not typed: passages that say something, where to look. Nothing in it is a
    /// word that somebody remembers, so hits are ranked as passages.
    pub fn new(expr: Option<Expr>, filters: Filters) -> Query {
        Query {
            alternatives: vec![Alternative { expr, filters }],
            words: Vec::new(),
            typed: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The one alternative, if there is only one.
    pub fn only(&self) -> Option<&Alternative> {
        match self.alternatives.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether it says where to look.
    pub fn has_filters(&self) -> bool {
        let none = Filters::default();
        self.alternatives.iter().any(|one| one.filters != none)
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

impl Default for Query {
    /// Leaves everything in: one alternative without words or filters.
    fn default() -> Query {
        Query::new(None, Filters::default())
    }
}

/// Names wanted and not wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// One of these, unless empty. Two filters of one name add up.
    pub any: Vec<String>,
    /// None of these.
    pub none: Vec<String>,
    /// The one of `any` that is half typed: agents, roles, kinds and tools that begin so are meant
    /// too.
    pub half_typed: Option<String>,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Agents.
    pub agent: Names,
    /// Projects, by a part of the last folder of the working directory, or by a path that holds it.
    pub project: Names,
    /// Repositories, by a part of their name, by whole parts of host and path, or by an address.
    pub repo: Names,
    /// Machines that sessions were copied from.
    pub host: Names,
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
            "repo" => &self.repo,
            "host" => &self.host,
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
#[non_exhaustive]
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

/// Read `text`. Times such as `2w` and `yesterday` count from `now`. What is half typed or stands
/// where it means nothing is left out with a note.
///
/// # Errors
/// Says where and why; the message is fit to be shown. What was meant cannot be told then: there is
/// no such time or regular expression, or nothing to search for.
pub fn parse(text: &str, now: Now) -> Result<Query, SyntaxError> {
    read(text, now, false)
}

/// Read `text` while somebody is still typing it: what [`parse`] refuses is left out with a note,
/// and the last word may go on, unless a `-` or `!` stands before it. One letter at the end, of
/// which a word may become, is not looked for yet; of several plain words, two letters are looked
/// for as a word. An agent, role, kind or tool at the end may go on as well. Text that asks for
/// nothing leaves everything in.
pub fn parse_as_typed(text: &str, now: Now) -> Query {
    read(text, now, true).unwrap_or_else(|error| Query {
        notes: vec![error.to_string()],
        ..Query::default()
    })
}

fn read(text: &str, now: Now<'_>, is_typing: bool) -> Result<Query, SyntaxError> {
    // Copied from a terminal, it is what was seen there, as the texts are.
    let characters: Vec<char> = seen(text.into()).chars().collect();
    let mut notes = Notes::new(is_typing);
    let lexemes = lex(&characters, &mut notes)?;
    habits::tell(&lexemes, &characters, &mut notes);
    if let Some((column, what)) = lexemes.iter().find_map(signs::note) {
        notes.say(column, &what);
    }
    Parser::new(&characters, &lexemes, now, notes).query()
}

/// Whether `text` holds any word at all.
fn searchable(text: &str) -> bool {
    segment(text, |_| {}) > 0
}

#[cfg(test)]
mod tests;
