//! Which words does a text hold? One function, [`segment`], for index, overlay, queries and
//! highlights.
//!
//! The rules, in full. *Property* names are those of Unicode; "letter or digit" is the derived
//! property Alphabetic or general category N* (Rust: `char::is_alphanumeric`).
//!
//! **1. Folding.** Each character of the text becomes zero or more folded characters:
//! 1. U+FB00–FB06 (ligatures) and U+FF00–FFEF (full-width and half-width forms) are replaced by
//!    their NFKC form. All further steps apply to each resulting character.
//! 2. A *CJK character* is one in U+1100–11FF, 3005–3007, 3041–3096, 3099, 309A, 309D–309F,
//!    30A1–30FA, 30FC–30FF, 3131–318E, 31F0–31FF, 3400–4DBF, 4E00–9FFF, A960–A97C, AC00–D7A3,
//!    D7B0–D7FB, F900–FAFF, 20000–3FFFF. It is replaced by its NFC form and kept (rule 4). A CJK
//!    character that composes canonically with the CJK character before it in its run (a kana with
//!    U+3099 or U+309A, conjoining jamo) replaces that one by the composed character; U+3099 and
//!    U+309A that do not compose are dropped.
//! 3. Any other character is replaced by its canonical decomposition (NFD), and of that:
//!    - U+00AD, 200C, 200D, 2060, FEFF are dropped; so is every combining mark (general category
//!      M*), except those that are Alphabetic and have combining class 0. *Dropped* means as if it
//!      had never been in the text: it does not end a word;
//!    - a letter or digit becomes its lowercase (`char::to_lowercase`), and then ß → ss, æ → ae,
//!      œ → oe, ø → o, ł → l, đ ð → d, þ → th, ħ → h, ı → i, ŋ → n, ŧ → t, ſ → s, ĸ → k, ς → σ;
//!    - `_` stays; everything else is a *separator*.
//!
//! **2. Words.** A word is a longest run of letters, digits and `_` that are not CJK, without the
//! `_` at its two ends; a run of `_` alone is no word. A word of more than 128 bytes (UTF-8, after
//! folding) is one token: as many of its first characters as fit in 128 bytes. It has no parts.
//!
//! **3. Parts.** A word is split at every run of `_`, and before an uppercase character
//! (property Uppercase, before lowering) whose predecessor in the word is lowercase (property
//! Lowercase), or whose predecessor is another letter or digit and whose successor is lowercase:
//! `fooBar` → foo bar, `HTTPServer` → http server, `utf8String` → utf8 string. There is no
//! boundary between letters and digits otherwise: `e0502`, `sha256`, `DEADBEEF` stay whole.
//! A word of one part is one token, at one position. A word of several parts is the token of the
//! whole (as folded, inner `_` included: `foobar`, `foo_bar`), at the position of its first part,
//! and the tokens of its parts at consecutive positions. Predecessor and successor are the
//! undropped characters next to it in the word; at a `_` there is none.
//!
//! **4. CJK.** Every character of a run of CJK characters takes one position. At it stand the
//! character alone and, unless it is the last of its run, the bigram of it and the next one.
//! A change between CJK and other characters ends a word.
//!
//! **5. Dotted numbers.** A dotted number is a longest sequence of two or more words that are made
//! of ASCII digits in the text itself, before folding (the first may have one `v` or `V` before
//! its digits), with no `_` and no dropped character beside them, and that are joined by a single
//! `.`. Its words are tokens as ever (rule 2). With three or more
//! words the whole (`1.2.3`, `v1.2.3`) is a token as well, at the position of the first. When
//! the first has a `v`, its digits without it (`1`) and, with three or more words, the whole
//! without it (`1.2.3`) are tokens too, at that position. A whole of more than 128 bytes is left
//! out, with and without its `v`.
//! The first may also be the digits at the end of any other word of ASCII letters, digits and `_`,
//! with a letter right before them: `python3.12`. That word stays what it is; its digits (`3`) and,
//! with three or more words, the whole from them on (`3.12.1`) are tokens as well, at the position
//! of its last part.
//!
//! **6. Numbers in groups.** Digits are in groups when the first group has one to three of them,
//! and each of one or more others three. A word that is, after folding, ASCII digits in groups with
//! one `_` between them (`1_234_567`) has as its whole the digits without the `_`. So has a
//! sequence of words of ASCII digits in the text itself that are groups with one `,` between them,
//! or with one `'` (`1,234,567`): the digits together (`1234567`) are a token as well, at the
//! position of the first word. It is no such number right behind a digit and one of `.`, `,` and
//! `'`, nor right before `,` or `'` and a digit, nor with a dropped character beside it, nor when
//! it has more than 128 digits. A query that is one such number asks for the digits together, and
//! not for the groups.
//!
//! **7. Signs.** A word of one part, of ASCII letters and digits in the text itself, with a letter
//! first and no `_` or dropped character beside it, is a token with its signs as well, at its
//! position, unless that has more than 128 bytes. The signs of a word are
//! - a `.` right before it (`.env`) that has no letter, digit, `_`, `.` or dropped character right
//!   before it, but for the letter of what may be an escape (rule 9) and CJK characters, if no `(`
//!   is right behind the word;
//! - `++` right behind it (`C++`, `c++17`) that has no letter, `_`, `+` or dropped character right
//!   behind it, but for CJK characters and ASCII digits;
//! - `#` right behind it (`C#`) that has no letter, digit, `_`, `#` or dropped character right
//!   behind it, but for CJK characters.
//!
//! A query asks for the word with its signs, and not for the word: `c` finds `C++`, `c++` does not
//! find `c`.
//!
//! **8. Names in `.js`.** A word that may have signs (rule 7) and has `.js` right behind it, in any
//! case and with no letter, digit, `_` or dropped character right behind that, but for CJK
//! characters, is a token together with the `js` as well, without the `.`, at its position, unless
//! that has more than 128 bytes: `node.js` → nodejs node js. A query of one such name asks for that
//! token, as it does for the whole of a word of several parts; the beginning of a word (`node.js*`)
//! may go on otherwise (`node.json`) and asks for the parts.
//!
//! **9. Escapes.** Source code and JSON within JSON write the end of a line as `\n`, so the word
//! behind it has a letter too many. Where a longest run of ASCII letters, digits and `_` begins
//! with `n`, `r` or `t`, has a `\` right before it and no `\` before that, and has no character
//! beyond ASCII behind it, its word without that letter is a token as well, at the position of the
//! first part, and so is the first part of that where it has several, that word with the signs
//! behind it (rule 7), and that word with the `js` behind it (rule 8). The word itself stays:
//! `C:\new`.
//!
//! **10. Positions** count from 0 by one for every part, single word and CJK character. Paths,
//! kebab-case, URLs and code fall apart at their separators: the phrase of their words finds them.
//! In a text of several pieces, the first position of a piece is two more than the last position
//! of the piece before it (one more for a piece without words), so no phrase spans two pieces.

use std::ops::Range;

use unicode_normalization::char::compose;

mod fold;
mod numbers;
mod signs;
mod stream;

pub(super) use fold::hides_ascii;
use fold::{
    CLASS, DIGIT, FoldedChar, LOWER, UNDER, UPPER, WIDE, breaks, fold, is_voicing, push_lowered,
};
use numbers::{dotted_number, ends_word, whole};
pub use stream::WordTokenizer;

/// Longest token in bytes; longer words are cut (rule 2).
pub const MAX_TOKEN: usize = 128;

/// What a token is to the text it was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word, a part of one, a CJK bigram or a lone CJK character. Together they spell the text.
    Word,
    /// A word of several parts or a dotted number, as a whole; `span` positions long.
    Whole {
        /// Number of positions it covers.
        span: u32,
    },
    /// The word at its position with its signs (rule 7): who writes them means this, not the word.
    Signed,
    /// A name that ends in `.js`, without the `.` (rule 8). It covers two positions.
    Joined,
    /// Another way to find what other tokens spell already.
    Extra,
}

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The folded text.
    pub text: &'a str,
    /// Its position (rule 10).
    pub position: u32,
    /// What it is.
    pub kind: Kind,
    /// First byte in the original text.
    pub start: usize,
    /// End in the original text.
    pub end: usize,
}

/// Cut `text` into tokens, in order of their positions. Returns the number of positions.
pub fn segment(text: &str, emit: impl FnMut(Token<'_>)) -> u32 {
    Segmenter::default().run(text, emit)
}

/// Whether a part starts at `this` (rule 3). `next` is 0 at the end of the word.
fn boundary(previous: u8, this: u8, next: u8) -> bool {
    this == UPPER
        && (previous == LOWER || ((previous == UPPER || previous == DIGIT) && next == LOWER))
}

/// Whether a part starts within a word of ASCII letters and digits.
fn has_boundary(word: &[u8]) -> bool {
    let class = |at: usize| word.get(at).map_or(0, |byte| CLASS[*byte as usize]);
    (1..word.len()).any(|at| boundary(class(at - 1), class(at), class(at + 1)))
}

/// One character of a word with other than ASCII characters in it.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// Where its folded text starts.
    at: usize,
    class: u8,
    start: usize,
    end: usize,
}

/// The buffers of [`segment`], to be used again for the next text.
#[derive(Debug, Clone, Default)]
pub struct Segmenter {
    lowered: String,
    digits: String,
    folded: String,
    units: Vec<Unit>,
    parts: Vec<(usize, usize)>,
    cjk: Vec<(char, usize, usize)>,
}

impl Segmenter {
    /// See [`segment`].
    pub fn run(&mut self, text: &str, mut emit: impl FnMut(Token<'_>)) -> u32 {
        let bytes = text.as_bytes();
        let mut position = 0u32;
        let mut at = 0;
        while at < bytes.len() {
            if CLASS[bytes[at] as usize] == 0 {
                at += 1;
                continue;
            }
            let start = at;
            let mut seen = 0;
            while at < bytes.len() {
                let class = CLASS[bytes[at] as usize];
                if class == 0 {
                    break;
                }
                seen |= class;
                at += 1;
            }
            if seen & WIDE != 0 && bytes.get(start.wrapping_sub(1)) == Some(&b'.') {
                // A word at the start may have a `.` before it: .net开发
                at = word_before_break(text, start, at);
                let classes = bytes[start..at].iter().map(|byte| CLASS[*byte as usize]);
                seen = classes.fold(0, |seen, class| seen | class);
            }
            if seen & WIDE == 0 {
                at = self.narrow(text, start..at, seen, &mut position, &mut emit);
                continue;
            }
            // A number at the end may be the first of several, a word may have signs: 版本1.2.3
            if matches!(bytes.get(at), Some(b'.' | b',' | b'\'' | b'+' | b'#')) {
                at = word_after_break(text, start, at);
            }
            self.wide(text, start, at, &mut position, &mut emit);
        }
        position
    }

    /// A run of ASCII letters, digits and `_`; `seen`: the classes of its characters. Returns the
    /// end of what was cut.
    fn narrow(
        &mut self,
        text: &str,
        run: Range<usize>,
        seen: u8,
        position: &mut u32,
        emit: &mut impl FnMut(Token<'_>),
    ) -> usize {
        let bytes = text.as_bytes();
        let Range { start, end } = run;
        let before = bytes.get(start.wrapping_sub(1));
        let behind = bytes.get(end);
        if before == Some(&b'\\') {
            self.escaped(text, start, end, *position, emit);
        }
        if before == Some(&b'.') || matches!(behind, Some(b'+' | b'#')) {
            self.signed(text, start..end, *position, Kind::Signed, emit);
        }
        if behind == Some(&b'.') && matches!(bytes.get(end + 1), Some(b'j' | b'J')) {
            self.joined(text, start..end, *position, Kind::Joined, emit);
        }
        match behind {
            Some(b'.') if bytes[end - 1].is_ascii_digit() => {
                let (last, words) = dotted_number(text, end);
                if words > 1 {
                    return self.dotted(text, start..last, end, words, position, emit);
                }
            }
            Some(b',' | b'\'') if bytes[end - 1].is_ascii_digit() => {
                self.grouped(text, start, end, *position, emit);
            }
            _ => {}
        }
        if seen & (UPPER | UNDER) == 0 {
            let cut = end.min(start + MAX_TOKEN);
            emit(Token {
                text: &text[start..cut],
                position: *position,
                kind: Kind::Word,
                start,
                end,
            });
            *position += 1;
        } else {
            self.ascii(text, start, end, position, emit);
        }
        end
    }

    /// What stands behind a `\`, if its first letter may be that of an escape (rule 9).
    #[cold]
    fn escaped(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        position: u32,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let bytes = text.as_bytes();
        let is_doubled = start > 1 && bytes[start - 2] == b'\\';
        if is_doubled || !matches!(bytes[start], b'n' | b'r' | b't') {
            return;
        }
        let rest = text[start + 1..end].trim_start_matches('_');
        let start = end - rest.len();
        let rest = rest.trim_end_matches('_');
        let end = start + rest.len();
        if rest.is_empty() {
            return;
        }
        self.lowered.clear();
        self.lowered.push_str(&rest[..rest.len().min(MAX_TOKEN)]);
        self.lowered.make_ascii_lowercase();
        let mut extra = |text: &str, end: usize| {
            emit(Token {
                text,
                position,
                kind: Kind::Extra,
                start,
                end,
            });
        };
        extra(whole(&self.lowered, &mut self.digits), end);
        let class = |at: usize| CLASS[bytes[at] as usize];
        let ends = |at: &usize| {
            let next = if at + 1 < end { class(at + 1) } else { 0 };
            class(*at) == UNDER || boundary(class(at - 1), class(*at), next)
        };
        if rest.len() <= MAX_TOKEN
            && let Some(part) = (start + 1..end).find(ends)
        {
            extra(&self.lowered[..part - start], part);
        }
        self.signed(text, start..end, position, Kind::Extra, emit);
        self.joined(text, start..end, position, Kind::Extra, emit);
    }

    /// An ASCII word with capitals or `_` in it.
    fn ascii(
        &mut self,
        text: &str,
        mut start: usize,
        mut end: usize,
        position: &mut u32,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        let bytes = text.as_bytes();
        while start < end && bytes[start] == b'_' {
            start += 1;
        }
        while end > start && bytes[end - 1] == b'_' {
            end -= 1;
        }
        if start == end {
            return;
        }
        self.lowered.clear();
        self.lowered
            .push_str(&text[start..end.min(start + MAX_TOKEN)]);
        self.lowered.make_ascii_lowercase();
        self.parts.clear();
        if end - start <= MAX_TOKEN {
            self.ascii_parts(bytes, start, end);
        }
        let several = self.parts.len() > 1;
        emit(Token {
            text: whole(&self.lowered, &mut self.digits),
            position: *position,
            kind: if several {
                Kind::Whole {
                    span: self.parts.len() as u32,
                }
            } else {
                Kind::Word
            },
            start,
            end,
        });
        if several {
            for (index, (from, to)) in self.parts.iter().enumerate() {
                emit(Token {
                    text: &self.lowered[from - start..to - start],
                    position: *position + index as u32,
                    kind: Kind::Word,
                    start: *from,
                    end: *to,
                });
            }
        }
        *position += self.parts.len().max(1) as u32;
    }

    /// Find the parts of an ASCII word, as bytes from and to (rule 3).
    fn ascii_parts(&mut self, bytes: &[u8], start: usize, end: usize) {
        let class = |at: usize| bytes.get(at).map_or(0, |byte| CLASS[*byte as usize]);
        let mut from = start;
        for at in start + 1..end {
            let this = class(at);
            if this == UNDER {
                if at > from {
                    self.parts.push((from, at));
                }
                from = at + 1;
            } else if this == UPPER
                && at > from
                && boundary(
                    class(at - 1),
                    this,
                    if at + 1 < end { class(at + 1) } else { 0 },
                )
            {
                self.parts.push((from, at));
                from = at;
            }
        }
        self.parts.push((from, end));
    }

    /// A run without ASCII separators that holds other than ASCII characters.
    fn wide(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        position: &mut u32,
        emit: &mut impl FnMut(Token<'_>),
    ) {
        for (offset, original) in text[start..end].char_indices() {
            let from = start + offset;
            let to = from + original.len_utf8();
            fold(original, |folded| match folded {
                FoldedChar::Dropped => {
                    if let Some(last) = self.cjk.last_mut() {
                        last.2 = to;
                    } else if let Some(last) = self.units.last_mut() {
                        last.end = to;
                    }
                }
                FoldedChar::Separator => {
                    self.end_word(position, emit);
                    self.end_cjk(position, emit);
                }
                FoldedChar::Cjk(character) => {
                    self.end_word(position, emit);
                    let composed = self.cjk.last().and_then(|last| compose(last.0, character));
                    match (self.cjk.last_mut(), composed) {
                        (Some(last), Some(composed)) => {
                            last.0 = composed;
                            last.2 = to;
                        }
                        (last, None) if is_voicing(character) => {
                            if let Some(last) = last {
                                last.2 = to;
                            }
                        }
                        _ => self.cjk.push((character, from, to)),
                    }
                }
                FoldedChar::Letter(class, letter) => {
                    self.end_cjk(position, emit);
                    let at = self.folded.len();
                    self.units.push(Unit {
                        at,
                        class,
                        start: from,
                        end: to,
                    });
                    push_lowered(letter, &mut self.folded);
                }
            });
        }
        self.end_word(position, emit);
        self.end_cjk(position, emit);
    }

    /// Emit the word in `units`, if there is one.
    fn end_word(&mut self, position: &mut u32, emit: &mut impl FnMut(Token<'_>)) {
        if self.units.is_empty() {
            return;
        }
        let first = self.units.iter().position(|unit| unit.class != UNDER);
        let last = self.units.iter().rposition(|unit| unit.class != UNDER);
        if let (Some(first), Some(last)) = (first, last) {
            let text_end = |index: usize, units: &[Unit], folded: &str| {
                units.get(index + 1).map_or(folded.len(), |unit| unit.at)
            };
            let to = text_end(last, &self.units, &self.folded);
            self.parts.clear();
            if to - self.units[first].at <= MAX_TOKEN {
                self.unit_parts(first, last);
            }
            let (units, folded) = (&self.units, &self.folded);
            let from = units[first].at;
            let (start, end) = (units[first].start, units[last].end);
            let several = self.parts.len() > 1;
            let mut cut = to.min(from + MAX_TOKEN);
            while !folded.is_char_boundary(cut) {
                cut -= 1;
            }
            let span = self.parts.len() as u32;
            emit(Token {
                text: whole(&folded[from..cut], &mut self.digits),
                position: *position,
                kind: if several {
                    Kind::Whole { span }
                } else {
                    Kind::Word
                },
                start,
                end,
            });
            if several {
                for (index, (open, close)) in self.parts.iter().enumerate() {
                    emit(Token {
                        text: &folded[units[*open].at..text_end(*close, units, folded)],
                        position: *position + index as u32,
                        kind: Kind::Word,
                        start: units[*open].start,
                        end: units[*close].end,
                    });
                }
            }
            *position += span.max(1);
        }
        self.units.clear();
        self.folded.clear();
    }

    /// Find the parts of the word in `units`, as its first and last unit (rule 3).
    fn unit_parts(&mut self, first: usize, last: usize) {
        let units = &self.units;
        let mut open = first;
        for index in first + 1..=last {
            let class = units[index].class;
            if class == UNDER {
                if index > open {
                    self.parts.push((open, index - 1));
                }
                open = index + 1;
            } else if index > open
                && boundary(
                    units[index - 1].class,
                    class,
                    if index < last {
                        units[index + 1].class
                    } else {
                        0
                    },
                )
            {
                self.parts.push((open, index - 1));
                open = index;
            }
        }
        self.parts.push((open, last));
    }

    /// Emit the run in `cjk`, if there is one.
    fn end_cjk(&mut self, position: &mut u32, emit: &mut impl FnMut(Token<'_>)) {
        let mut buffer = [0u8; 8];
        let alone = self.cjk.len() == 1;
        for (index, &(character, start, end)) in self.cjk.iter().enumerate() {
            let length = character.encode_utf8(&mut buffer).len();
            if let Some(&(next, _, next_end)) = self.cjk.get(index + 1) {
                let both = length + next.encode_utf8(&mut buffer[length..]).len();
                emit(Token {
                    text: std::str::from_utf8(&buffer[..both]).unwrap_or_default(),
                    position: *position,
                    kind: Kind::Word,
                    start,
                    end: next_end,
                });
            }
            emit(Token {
                text: std::str::from_utf8(&buffer[..length]).unwrap_or_default(),
                position: *position,
                kind: if alone { Kind::Word } else { Kind::Extra },
                start,
                end,
            });
            *position += 1;
        }
        self.cjk.clear();
    }
}

/// Where the ASCII word at the end of `text[start..end]` begins, if a character that ends words is
/// before it; else `end`.
fn word_after_break(text: &str, start: usize, end: usize) -> usize {
    let run = &text[start..end];
    let ascii = run.len() - run.bytes().rev().take_while(u8::is_ascii).count();
    let before = run[..ascii].chars().next_back();
    match before.is_some_and(|before| breaks(before).1) {
        true => start + ascii,
        false => end,
    }
}

/// Where the ASCII word at the start of `text[start..end]` ends, if a character that ends words is
/// behind it; else `end`.
fn word_before_break(text: &str, start: usize, end: usize) -> usize {
    let ascii = text[start..end].bytes().take_while(u8::is_ascii).count();
    match ascii > 0 && ends_word(text, start + ascii) {
        true => start + ascii,
        false => end,
    }
}
