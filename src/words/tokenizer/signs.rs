//! Which signs belong to a word (rule 7), and which names end in `.js` (rule 8)?

use std::ops::Range;

use super::fold::{CLASS, breaks};
use super::numbers::ends_word;
use super::{Kind, MAX_TOKEN, Segmenter, Token, has_boundary};

impl Segmenter {
    /// The word `text[word]` with its signs, if it has some.
    #[cold]
    pub(super) fn signed(
        &mut self,
        text: &str,
        word: Range<usize>,
        position: u32,
        kind: Kind,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let Some(Range { start, end }) = with_signs(text, word) else {
            return;
        };
        self.lowered.clear();
        self.lowered.push_str(&text[start..end]);
        self.lowered.make_ascii_lowercase();
        emit(Token {
            text: &self.lowered,
            position,
            kind,
            start,
            end,
        });
    }

    /// The word `text[word]` and the `js` of a `.js` behind it as one, if that is behind it.
    #[cold]
    pub(super) fn joined(
        &mut self,
        text: &str,
        word: Range<usize>,
        position: u32,
        kind: Kind,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let end = word.end + JS.len();
        let behind = text.as_bytes().get(word.end..end);
        let is_name = behind.is_some_and(|behind| behind.eq_ignore_ascii_case(JS))
            && word.len() + 2 <= MAX_TOKEN
            && is_plain(text, &word)
            && ends_word(text, end);
        if !is_name {
            return;
        }
        self.lowered.clear();
        self.lowered.push_str(&text[word.clone()]);
        self.lowered.make_ascii_lowercase();
        self.lowered.push_str("js");
        emit(Token {
            text: &self.lowered,
            position,
            kind,
            start: word.start,
            end,
        });
    }
}

/// What the names of rule 8 end in.
const JS: &[u8] = b".js";

/// Whether a word of ASCII letters, digits and `_` may have signs.
fn is_plain(text: &str, word: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_under = |at: usize| bytes.get(at) == Some(&b'_');
    word.len() <= MAX_TOKEN
        && bytes[word.start].is_ascii_alphabetic()
        && !bytes[word.clone()].contains(&b'_')
        && !is_under(word.start.wrapping_sub(1))
        && !is_under(word.end)
        && !has_boundary(&bytes[word.clone()])
}

/// Where a word of ASCII letters, digits and `_` is together with its signs; `None` where it has
/// none.
fn with_signs(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    if !is_plain(text, &word) {
        return None;
    }
    let start = word.start - usize::from(has_dot(text, &word));
    let end = word.end + signs_behind(text, word.end);
    let signed = start..end;
    (signed != word && signed.len() <= MAX_TOKEN).then_some(signed)
}

/// Whether the `.` of `.env` is before this word.
fn has_dot(text: &str, word: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let Some(dot) = word.start.checked_sub(1).filter(|at| bytes[*at] == b'.') else {
        return false;
    };
    let is_call = bytes.get(word.end) == Some(&b'(');
    !is_call
        && match text[..dot].chars().next_back() {
            None => true,
            Some(before) if !before.is_ascii() => breaks(before).1,
            Some('n' | 'r' | 't') => {
                text[..dot - 1].ends_with('\\') && !text[..dot - 1].ends_with("\\\\")
            }
            Some(before) => before != '.' && CLASS[before as usize] == 0,
        }
}

/// How many bytes the `++` or `#` takes that belongs to a word which ends at `end`.
fn signs_behind(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let next = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    match (next(end), next(end + 1)) {
        (b'+', b'+') => {
            let stops = ends_word(text, end + 2) || next(end + 2).is_ascii_digit();
            2 * usize::from(stops && next(end + 2) != b'+')
        }
        (b'#', behind) => usize::from(ends_word(text, end + 1) && behind != b'#'),
        _ => 0,
    }
}
