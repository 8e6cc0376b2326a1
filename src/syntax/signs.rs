//! Which signs of a query are searched, and which are not?

use std::ops::Range;

use super::lex::{Lexeme, TokenKind};
use crate::words::tokenizer::{Kind, segment};

/// Signs that say something at the edge of a word; all others are taken for punctuation.
const SIGNS: &str = "$@#%&^=+-";

/// Where the words of a text stand that are searched with their signs (`C++`, `C#`, `.env`), signs
/// included: byte ranges, ascending.
///
/// ```
/// use sessionary::syntax::signed;
/// let text = "is it C#, or --flag?";
/// assert_eq!(signed(text), [6..8]);
/// ```
pub fn signed(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    segment(text, |token| {
        if token.kind == Kind::Signed {
            words.push(token.start..token.end);
        }
    });
    words
}

/// What a word or phrase does not find because of the signs at its edges, and in which column it
/// stands.
pub(super) fn note(lexeme: &Lexeme) -> Option<(usize, String)> {
    let (TokenKind::Word(text) | TokenKind::Phrase { text, .. }) = &lexeme.piece else {
        return None;
    };
    let is_part = text.len() > 1 && text.starts_with('*') && text.ends_with('*');
    if lexeme.negated || is_part {
        return None;
    }
    let (mut start, mut end, mut tokens, mut signed) = (text.len(), 0, 0, false);
    segment(text, |token| {
        start = start.min(token.start);
        end = end.max(token.end);
        tokens += 1;
        signed |= token.kind == Kind::Signed;
    });
    let column = lexeme.column;
    if tokens == 0 {
        return None;
    }
    if let Some(name) = text.strip_prefix('.')
        && (signed, tokens, start..end) == (true, 2, 0..text.len())
    {
        let what = format!("{text} is a name that starts with a dot; {name} finds x{text}, too");
        return Some((column, what));
    }
    let is_sign = |edge: &str| !edge.is_empty() && edge.chars().all(|one| SIGNS.contains(one));
    let (before, behind) = (text.get(..start)?, text.get(end..)?);
    let from = if is_sign(before) { start } else { 0 };
    let to = if is_sign(behind) { end } else { text.len() };
    let dropped = if from > 0 { before } else { behind };
    if (from, to) == (0, text.len()) {
        return None;
    }
    let found = text.get(from..to)?;
    let written = match text.contains(['*', '~']) || text.contains(char::is_whitespace) {
        true => String::new(),
        false => format!("; *{text}* finds it as it is written"),
    };
    let what = format!("{dropped} is not searched, so {text} finds {found}{written}");
    Some((column, what))
}
