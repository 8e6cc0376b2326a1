//! What is looked for, as a tree; what is listed, in which order.

use serde::{Deserialize, Serialize};

/// What a passage must say. AND, NOT and phrases hold within one passage.
///
/// The text of `Word`, `Phrase` and `Prefix` is as typed; the words room folds and segments it.
/// `Word` and `Phrase` mean the same: the tokens of the text at consecutive positions, or, when
/// the text is one identifier (`fooBar`, `1.2.3`), the token of the whole. `Prefix` lets the last
/// of these tokens (and that of the whole) go on. A text without any token matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expr {
    /// A word, identifier, path.
    Word(String),
    /// Text in quotes.
    Phrase(String),
    /// The beginning of a word.
    Prefix(String),
    /// All of these; with no member: anything.
    And(Vec<Expr>),
    /// Any of these; with no member: nothing.
    Or(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
}

/// By what a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As the agents sort their own lists; what they would not list comes last.
    #[default]
    Agents,
    /// When it was last modified, newest first.
    Modified,
    /// When it was created, newest first.
    Created,
    /// Messages, most first.
    Messages,
    /// Tokens, most first.
    Tokens,
    /// Cost, dearest first.
    Cost,
    /// Bytes of its files, largest first.
    Size,
    /// Entries that report an error, most first.
    Errors,
}
