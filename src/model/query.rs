//! What is looked for, as a tree; what is listed, in which order.

use serde::{Deserialize, Serialize};

/// What a passage must say. AND, NOT and phrases hold within one passage.
///
/// The text of `Word`, `Phrase` and `Prefix` is as typed; the words room folds and segments it.
/// `Word` and `Phrase` mean the same: the tokens of the text at consecutive positions, or, when the
/// text is one identifier (`fooBar`, `1.2.3`), the token of the whole. `Prefix` lets the last of
/// these tokens (and that of the whole) go on, `Near` takes tokens that one edit makes of a single
/// one, `Longer` those that begin with the single one or that of the whole. A text without any
/// token matches nothing.
///
/// `Substring` and `Regex` look at the text as it is written, piece by piece; no index knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Expr {
    /// A word, identifier, path.
    Word(String),
    /// Text in quotes.
    Phrase(String),
    /// The beginning of a word.
    Prefix(String),
    /// A word, or one with a letter added, dropped, replaced or swapped with its neighbour; CJK and
    /// other letters of three bytes are added only to a word that has some. Text that is several
    /// words or parts is taken as [`Expr::Word`].
    Near(String),
    /// A word or identifier that begins with all of this, which is one itself.
    Longer(String),
    /// Any part of the text, whatever its case; white space in it stands for any white space.
    Substring(String),
    /// A regular expression of the `regex` crate; `^` and `$` are ends of lines.
    Regex(String),
    /// All of these; with no member: anything.
    And(Vec<Expr>),
    /// Any of these; with no member: nothing.
    Or(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
}

impl Expr {
    /// Whether a part of it is known from the text alone, so that all text must be read.
    pub fn reads_text(&self) -> bool {
        match self {
            Expr::Substring(_) | Expr::Regex(_) => true,
            Expr::Word(_) | Expr::Phrase(_) | Expr::Prefix(_) | Expr::Near(_) | Expr::Longer(_) => {
                false
            }
            Expr::And(members) | Expr::Or(members) => members.iter().any(Expr::reads_text),
            Expr::Not(inner) => inner.reads_text(),
        }
    }
}

/// By what a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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
