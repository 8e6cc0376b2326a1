//! The second tier: bytes that `JSON.parse` accepts and serde does not, made acceptable to both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::walk::{Token, Tokens};

/// The value in `bytes` as strict UTF-8 JSON with the meaning `JSON.parse` gives it: invalid UTF-8
/// and lone surrogates become U+FFFD, numbers too large for a double become null, and of members
/// with one key the last stays. Borrowed when nothing had to change; `None` where `JSON.parse`
/// refuses the bytes.
pub fn normalise(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let value = super::whole(bytes)?;
    let text = match String::from_utf8_lossy(&bytes[value]) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    let edits = edits(&text);
    if edits.is_empty() {
        return Some(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in edits {
        // Edits inside a member that is dropped as a whole are skipped with it.
        if range.start < at {
            continue;
        }
        out.extend_from_slice(&text[at..range.start]);
        out.extend_from_slice(replacement.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    Some(Cow::Owned(out))
}

type Edit = (Range<usize>, &'static str);

/// All changes, in order of their start, an outer one before those inside it.
fn edits(text: &[u8]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    // One map an open object: key -> where its latest member begins; `None` for an array.
    let mut open: Vec<Option<Members>> = Vec::new();
    for token in Tokens::of(text) {
        match token {
            Token::Open { object } => open.push(object.then(Members::default)),
            Token::Close => {
                open.pop();
            }
            Token::Key(range) => {
                lone_surrogates(text, range.clone(), &mut edits);
                if let Some(Some(members)) = open.last_mut() {
                    members.begin(
                        decode(&text[range.clone()]).into_owned(),
                        range.start,
                        &mut edits,
                    );
                }
            }
            Token::Text(range) => lone_surrogates(text, range, &mut edits),
            Token::Number(range) => {
                let number = std::str::from_utf8(&text[range.clone()])
                    .ok()
                    .and_then(|number| number.parse::<f64>().ok());
                if number.is_none_or(f64::is_infinite) {
                    edits.push((range, "null"));
                }
            }
            Token::Word(_) => {}
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    edits
}

/// The members of one object: each begins where its key does and ends where the next one begins.
#[derive(Default)]
struct Members {
    /// Key -> index into `starts` of its latest member.
    latest: HashMap<String, usize>,
    starts: Vec<usize>,
}

impl Members {
    fn begin(&mut self, key: String, start: usize, edits: &mut Vec<Edit>) {
        let index = self.starts.len();
        self.starts.push(start);
        if let Some(earlier) = self.latest.insert(key, index) {
            // This member follows the earlier one, so the range up to the next takes a comma along.
            edits.push((self.starts[earlier]..self.starts[earlier + 1], ""));
        }
    }
}

fn lone_surrogates(text: &[u8], string: Range<usize>, edits: &mut Vec<Edit>) {
    let mut at = string.start;
    while let Some(skip) = memchr::memchr(b'\\', &text[at..string.end]) {
        at += skip;
        match escape(text, at) {
            Some(0xd800..0xdc00) => {
                let paired = matches!(escape(text, at + 6), Some(0xdc00..0xe000));
                if !paired {
                    edits.push((at..at + 6, "\\ufffd"));
                }
                at += if paired { 12 } else { 6 };
            }
            Some(0xdc00..0xe000) => {
                edits.push((at..at + 6, "\\ufffd"));
                at += 6;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
}

/// The code unit that the `\u` escape at `at` names.
pub(super) fn escape(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The text of a string literal (with its quotes), as `JSON.parse` decodes it; lone surrogates and
/// invalid UTF-8 become U+FFFD.
pub fn decode(literal: &[u8]) -> Cow<'_, str> {
    let inner = literal.strip_prefix(b"\"").unwrap_or(literal);
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    if memchr::memchr(b'\\', inner).is_none() {
        // Far faster than to have replaced what is not there.
        return match std::str::from_utf8(inner) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(inner),
        };
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(skip) = memchr::memchr(b'\\', &inner[at..]) {
        out.extend_from_slice(&inner[at..at + skip]);
        at += skip;
        let Some(unit) = escape(inner, at) else {
            let byte = match inner.get(at + 1) {
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(byte) => *byte,
                None => break,
            };
            out.push(byte);
            at += 2;
            continue;
        };
        at += 6;
        let low = if (0xd800..0xdc00).contains(&unit) {
            escape(inner, at)
        } else {
            None
        };
        let c = match low {
            Some(low @ 0xdc00..0xe000) => {
                at += 6;
                char::from_u32(
                    0x10000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00),
                )
            }
            _ => char::from_u32(u32::from(unit)),
        };
        out.extend_from_slice(c.unwrap_or('\u{fffd}').encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.extend_from_slice(inner.get(at..).unwrap_or_default());
    Cow::Owned(match String::from_utf8(out) {
        Ok(text) => text,
        Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
    })
}

/// The string that a JSON literal in text stands for, borrowed where nothing in it is escaped.
/// Meant for keys, ids and the like: for their few bytes a plain loop is faster than memchr.
pub fn unquote(literal: &str) -> Cow<'_, str> {
    match literal
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) if !inner.as_bytes().contains(&b'\\') => Cow::Borrowed(inner),
        _ => decode(literal.as_bytes()),
    }
}
