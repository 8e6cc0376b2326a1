//! What is looked for, as a tree.

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
