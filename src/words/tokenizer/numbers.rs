//! Which numbers are spelled in several words (rules 5 and 6)?

use std::ops::Range;

use super::fold::{CLASS, breaks};
use super::{Kind, MAX_TOKEN, Segmenter, Token};

impl Segmenter {
    /// The dotted number `text[number]` of so many words, the first of which ends at `first_end`.
    /// Returns where what was cut ends.
    pub(super) fn dotted(
        &mut self,
        text: &str,
        number: Range<usize>,
        first_end: usize,
        words: u32,
        position: &mut u32,
        emit: &mut impl FnMut(Token<'_>),
    ) -> usize {
        let Range { start, end } = number;
        let digits = first_end - trailing_digits(&text.as_bytes()[start..first_end]);
        if !matches!(&text[start..digits], "" | "v" | "V") {
            self.ascii(text, start, first_end, position, emit);
            if !text.as_bytes()[digits - 1].is_ascii_alphabetic() {
                return first_end;
            }
            let to = first_end.min(digits + MAX_TOKEN);
            extra(&text[digits..to], digits..first_end, *position - 1, emit);
            if words > 2 && end - digits <= MAX_TOKEN {
                extra(&text[digits..end], digits..end, *position - 1, emit);
            }
            self.number_words(text, first_end + 1..end, position, emit);
            return end;
        }
        let has_v = digits > start;
        if words > 2 && end - start <= MAX_TOKEN {
            self.lowered.clear();
            self.lowered.push_str(&text[start..end]);
            self.lowered.make_ascii_lowercase();
            emit(Token {
                text: &self.lowered,
                position: *position,
                kind: Kind::Whole { span: words },
                start,
                end,
            });
            if has_v {
                extra(&text[digits..end], digits..end, *position, emit);
            }
        }
        if has_v {
            let to = first_end.min(digits + MAX_TOKEN);
            extra(&text[digits..to], digits..first_end, *position, emit);
        }
        self.number_words(text, start..end, position, emit);
        end
    }

    /// Each number of a dotted one as a word of its own.
    fn number_words(
        &mut self,
        text: &str,
        numbers: Range<usize>,
        position: &mut u32,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let mut from = numbers.start;
        for word in text[numbers].split('.') {
            let to = from + word.len();
            self.lowered.clear();
            self.lowered.push_str(&word[..word.len().min(MAX_TOKEN)]);
            self.lowered.make_ascii_lowercase();
            emit(Token {
                text: &self.lowered,
                position: *position,
                kind: Kind::Word,
                start: from,
                end: to,
            });
            *position += 1;
            from = to + 1;
        }
    }

    /// The number in groups whose first group is `text[start..first_end]`, if it is one, as a
    /// whole.
    #[cold]
    pub(super) fn grouped(
        &mut self,
        text: &str,
        start: usize,
        first_end: usize,
        position: u32,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let Some((end, groups)) = number_in_groups(text, start, first_end) else {
            return;
        };
        let digits = text[start..end].chars().filter(char::is_ascii_digit);
        self.lowered.clear();
        self.lowered.extend(digits);
        if self.lowered.len() <= MAX_TOKEN {
            emit(Token {
                text: &self.lowered,
                position,
                kind: Kind::Whole { span: groups },
                start,
                end,
            });
        }
    }
}

/// Digits of a number, found besides its words.
fn extra(digits: &str, place: Range<usize>, position: u32, emit: &mut impl FnMut(Token<'_>)) {
    emit(Token {
        text: digits,
        position,
        kind: Kind::Extra,
        start: place.start,
        end: place.end,
    });
}

fn trailing_digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count()
}

/// Where the dotted number ends whose first number ends at `first_end`, and of how many numbers it
/// is. A number counts as part of it only where a character that ends words follows.
pub(super) fn dotted_number(text: &str, first_end: usize) -> (usize, u32) {
    let bytes = text.as_bytes();
    let (mut end, mut words) = (first_end, 1);
    while bytes.get(end) == Some(&b'.') {
        let mut to = end + 1;
        while bytes.get(to).is_some_and(u8::is_ascii_digit) {
            to += 1;
        }
        if to == end + 1 || !ends_word(text, to) {
            break;
        }
        end = to;
        words += 1;
    }
    (end, words)
}

/// Where the number in groups ends whose first group is `text[start..first_end]`, and of how many
/// groups it is. What follows that group is a `,` or `'`.
fn number_in_groups(text: &str, start: usize, first_end: usize) -> Option<(usize, u32)> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_sign = |at: usize| matches!(bytes.get(at), Some(b',' | b'\''));
    let goes_on =
        start > 1 && (is_sign(start - 1) || bytes[start - 1] == b'.') && is_digit(start - 2);
    if goes_on || first_end - start > 3 || !(start..first_end).all(is_digit) {
        return None;
    }
    let (mut end, mut groups) = (first_end, 1);
    while bytes.get(end) == bytes.get(first_end) && is_digit(end + 1) {
        if !is_digit(end + 2) || !is_digit(end + 3) || !ends_word(text, end + 4) {
            return None;
        }
        end += 4;
        groups += 1;
    }
    let is_more = is_sign(end) && is_digit(end + 1);
    (groups > 1 && !is_more).then_some((end, groups))
}

/// The whole of a word of several parts: as it is, but digits in groups without the `_`.
pub(super) fn whole<'a>(word: &'a str, digits: &'a mut String) -> &'a str {
    let mut groups = word.split('_');
    let is_group = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = |group: &str| (1..=3).contains(&group.len()) && is_group(group);
    if !groups.next().is_some_and(is_first) || !groups.all(|g| g.len() == 3 && is_group(g)) {
        return word;
    }
    digits.clear();
    digits.extend(word.split('_'));
    digits
}

/// Whether no word goes on at `at`.
pub(super) fn ends_word(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        Some(byte) if !byte.is_ascii() => {
            let next = text.get(at..).and_then(|rest| rest.chars().next());
            next.is_some_and(|next| breaks(next).0)
        }
        Some(byte) => CLASS[*byte as usize] == 0,
        None => true,
    }
}
