//! Which signs belong to a word (rule 7)?

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
}

/// Where a word of ASCII letters, digits and `_` is together with its signs; `None` where it has
/// none.
fn with_signs(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_under = |at: usize| bytes.get(at) == Some(&b'_');
    let is_plain = word.len() <= MAX_TOKEN
        && bytes[word.start].is_ascii_alphabetic()
        && !bytes[word.clone()].contains(&b'_')
        && !is_under(word.start.wrapping_sub(1))
        && !is_under(word.end)
        && !has_boundary(&bytes[word.clone()]);
    if !is_plain {
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
