//! Every token, and every text and number leaf, of a JSON value of any depth, without recursion.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use super::labels::{Labels, are_arguments};
use super::lenient::decode;
use crate::model::{Mask, masked_behind};

/// A piece of a well-formed JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// `{` or `[`.
    Open { object: bool },
    /// `}` or `]`.
    Close,
    /// An object key with its quotes.
    Key(Range<usize>),
    /// A string with its quotes.
    Text(Range<usize>),
    /// A number.
    Number(Range<usize>),
    /// `true`, `false` or `null`.
    Word(Range<usize>),
}

/// Walks a JSON text that [`super::whole`] has accepted.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn string_end(&self) -> usize {
        let mut at = self.at + 1;
        loop {
            match memchr2(b'"', b'\\', self.bytes.get(at..).unwrap_or_default()) {
                Some(skip) if self.bytes[at + skip] == b'"' => return at + skip + 1,
                Some(skip) => at += skip + 2,
                None => return self.bytes.len(),
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let start = self.at;
            match *self.bytes.get(start)? {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => self.at += 1,
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    return Some(Token::Open {
                        object: bracket == b'{',
                    });
                }
                b'}' | b']' => {
                    self.at += 1;
                    return Some(Token::Close);
                }
                b'"' => {
                    self.at = self.string_end();
                    let mut next = self.at;
                    while matches!(self.bytes.get(next), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                        next += 1;
                    }
                    let key = self.bytes.get(next) == Some(&b':');
                    return Some(if key {
                        Token::Key(start..self.at)
                    } else {
                        Token::Text(start..self.at)
                    });
                }
                first => {
                    while self.bytes.get(self.at).is_some_and(|byte| {
                        !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}')
                    }) {
                        self.at += 1;
                    }
                    let number = first == b'-' || first.is_ascii_digit();
                    return Some(if number {
                        Token::Number(start..self.at)
                    } else {
                        Token::Word(start..self.at)
                    });
                }
            }
        }
    }
}

/// A leaf of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Leaf<'a> {
    /// A string, decoded.
    Text(Cow<'a, str>),
    /// A number as written.
    Number(&'a str),
}

/// Call `visit` with every text and number leaf of `json` in order, and the key of the innermost
/// object member that holds it ("" at the top).
pub fn leaves<'a>(json: &'a [u8], mut visit: impl FnMut(&str, Leaf<'a>)) {
    keyed(json, |key, token| match token {
        Token::Text(range) => visit(key, Leaf::Text(decode(&json[range]))),
        Token::Number(range) => {
            if let Ok(number) = std::str::from_utf8(&json[range]) {
                visit(key, Leaf::Number(number));
            }
        }
        _ => {}
    });
}

/// JSON in a string of JSON is followed so many times: what a tool printed may nest it without end,
/// and what is masked within doubles its backslashes each time.
const MOST_WITHIN: u32 = 8;

/// What stands for JSON that is nested deeper, where anything is masked.
const TOO_DEEP: &str = "[redacted]";

/// As [`leaves`], with all that each is called: by its key, and where that says no more than
/// `value` or `text`, by the labels beside it. Where a string is what a tool was given, as JSON,
/// its leaves follow it.
pub fn named_leaves(json: &[u8], visit: &mut impl FnMut(&[&str], Leaf<'_>)) {
    named_leaves_within(json, MOST_WITHIN, visit);
}

fn named_leaves_within(json: &[u8], within: u32, visit: &mut impl FnMut(&[&str], Leaf<'_>)) {
    let labels = Labels::of(json);
    let mut given = Vec::new();
    keyed_in(json, |object, key, token| {
        let leaf = match token {
            Token::Text(range) => Leaf::Text(decode(&json[range])),
            Token::Number(range) => match std::str::from_utf8(&json[range]) {
                Ok(number) => Leaf::Number(number),
                Err(_) => return,
            },
            _ => return,
        };
        let beside = labels.beside(json, object, key);
        let all: Vec<&str> = [key]
            .into_iter()
            .chain(beside.iter().map(|label| &**label))
            .collect();
        if within > 0
            && let Leaf::Text(text) = &leaf
            && are_arguments(key, text)
        {
            given.push(text.clone().into_owned());
        }
        visit(&all, leaf);
    });
    for json in given {
        named_leaves_within(json.as_bytes(), within - 1, visit);
    }
}

/// A string of nothing but base64 that is so long is an image or the like: whatever looks like a
/// part of it is chance.
const ENCODED: usize = 4 << 10;

/// Whether a string is an image or the like.
pub fn is_encoded(string: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=\"".contains(byte);
    string.len() > ENCODED && string.iter().all(is_letter)
}

/// The text of `json` with strings and numbers masked, those behind names as [`masked_behind`]
/// does; all else stays as it is written. `None`: nothing is to be masked.
pub fn masked(json: &str, mask: &Mask) -> Option<String> {
    masked_but(json, mask, |_| false)
}

/// As [`masked`], but for strings that are members of the outermost object, under a key that
/// `stays`.
pub fn masked_but(json: &str, mask: &Mask, stays: impl Fn(&str) -> bool) -> Option<String> {
    masked_within(json, mask, MOST_WITHIN, stays)
}

fn masked_within(
    json: &str,
    mask: &Mask,
    within: u32,
    stays: impl Fn(&str) -> bool,
) -> Option<String> {
    let labels = Labels::of(json.as_bytes());
    let (mut out, mut from, mut depth) = (String::new(), 0, 0_usize);
    keyed_in(json.as_bytes(), |object, key, token| {
        let behind = |said: &str| {
            let beside = labels.beside(json.as_bytes(), object, key);
            let all = [key].into_iter().chain(beside.iter().map(|label| &**label));
            masked_behind(all, said, mask)
        };
        let (range, masked) = match token {
            Token::Open { .. } => return depth += 1,
            Token::Close => return depth = depth.saturating_sub(1),
            Token::Key(range) => (range, mask.of(key)),
            Token::Text(range) if is_encoded(&json.as_bytes()[range.clone()]) => return,
            Token::Text(_) if depth == 1 && stays(key) => return,
            Token::Text(range) => {
                let text = decode(&json.as_bytes()[range.clone()]);
                let given = arguments_within(key, &text, mask, within);
                (range, given.or_else(|| behind(&text)))
            }
            Token::Number(range) => {
                let number = json.get(range.clone()).filter(|number| may_open(number));
                (range, number.and_then(behind))
            }
            Token::Word(_) => return,
        };
        if let Some(masked) = masked
            && let Some(before) = json.get(from..range.start)
        {
            out.push_str(before);
            out.push_str(&serde_json::Value::from(masked).to_string());
            from = range.end;
        }
    });
    (from > 0).then(|| out + json.get(from..).unwrap_or_default())
}

/// Whether a number may be a secret: a few digits, and what is no whole number, open nothing.
fn may_open(number: &str) -> bool {
    number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a tool was given, where it is JSON in a string under that key, with its strings and numbers
/// masked, and as a text. `None`: it is none, or nothing is to be masked in these.
pub fn masked_arguments(key: &str, text: &str, mask: &Mask) -> Option<String> {
    arguments_within(key, text, mask, MOST_WITHIN)
}

fn arguments_within(key: &str, text: &str, mask: &Mask, within: u32) -> Option<String> {
    if !are_arguments(key, text) {
        return None;
    }
    // What is nested so deep that nobody looks into it is not shown.
    let Some(within) = within.checked_sub(1) else {
        return Some(TOO_DEEP.to_owned());
    };
    let masked = masked_within(text, mask, within, |_| false)?;
    Some(mask.of(&masked).unwrap_or(masked))
}

/// What is open in a JSON text.
#[derive(Default)]
struct Level<'a> {
    /// The last key in it.
    key: Option<Cow<'a, str>>,
    /// The level whose key holds what has none in this one. No key is kept twice, however deep what
    /// it holds is.
    held_by: usize,
    /// How many brackets opened before its own; `None`: it has none.
    number: Option<usize>,
}

/// Call `visit` with every token and the key of the innermost object member that holds it; with a
/// key itself it is that.
fn keyed(json: &[u8], mut visit: impl FnMut(&str, Token)) {
    keyed_in(json, |_, key, token| visit(key, token));
}

/// As [`keyed`], and the number of the object that has that key, by how many brackets open before
/// its own.
fn keyed_in(json: &[u8], mut visit: impl FnMut(Option<usize>, &str, Token)) {
    let (mut levels, mut opened) = (vec![Level::default()], 0);
    for token in Tokens::of(json) {
        let innermost = levels.len() - 1;
        match &token {
            Token::Open { .. } => {
                levels.push(Level {
                    key: None,
                    held_by: holder(&levels),
                    number: Some(opened),
                });
                opened += 1;
            }
            Token::Close => {
                if innermost > 0 {
                    levels.pop();
                }
            }
            Token::Key(range) => levels[innermost].key = Some(decode(&json[range.clone()])),
            Token::Text(_) | Token::Number(_) | Token::Word(_) => {}
        }
        let Level { key, number, .. } = &levels[holder(&levels)];
        visit(*number, key.as_deref().unwrap_or_default(), token);
    }
}

/// The level with the key of what comes next.
fn holder(levels: &[Level<'_>]) -> usize {
    let innermost = levels.len() - 1;
    match levels[innermost].key {
        Some(_) => innermost,
        None => levels[innermost].held_by,
    }
}
