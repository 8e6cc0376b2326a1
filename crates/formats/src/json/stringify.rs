//! What `JSON.stringify(JSON.parse(text))` writes: the one form in which pi and its forks write
//! every line.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::lenient::escape;
use super::walk::{Token, Tokens};

/// The JSON text as JavaScript writes it again: no white space, no needless escape, numbers as
/// JavaScript shows them (`null` for those too large), keys that are array indices first, of
/// repeated keys the last value at the first place. `None` where `JSON.parse` refuses the text.
/// Nothing recurses.
pub fn stringify(json: &[u8]) -> Option<String> {
    let value = super::whole(json)?;
    let text = String::from_utf8_lossy(&json[value]);
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<Frame> = Vec::new();
    for token in Tokens::of(text.as_bytes()) {
        if let Token::Close = token {
            let Some(frame) = open.pop() else { continue };
            frame.reorder(&mut out);
            out.push(if frame.object { '}' } else { ']' });
            continue;
        }
        if let Some(frame) = open.last_mut()
            && (!frame.object || matches!(token, Token::Key(_)))
        {
            if frame.filled {
                out.push(',');
            }
            frame.filled = true;
        }
        match token {
            Token::Open { object } => {
                out.push(if object { '{' } else { '[' });
                open.push(Frame {
                    object,
                    filled: false,
                    begin: out.len(),
                    members: Vec::new(),
                });
            }
            Token::Key(range) => {
                let begin = out.len();
                string(&mut out, &text[range]);
                if let Some(frame) = open.last_mut() {
                    frame.members.push(begin..out.len());
                }
                out.push(':');
            }
            Token::Text(range) => string(&mut out, &text[range]),
            Token::Number(range) => number(&mut out, &text[range]),
            Token::Word(range) => out.push_str(&text[range]),
            Token::Close => {}
        }
    }
    Some(out)
}

/// An array or object that is being written.
struct Frame {
    object: bool,
    filled: bool,
    /// Where its first member stands in the output.
    begin: usize,
    /// Where the keys of its members stand in the output, with their quotes.
    members: Vec<Range<usize>>,
}

impl Frame {
    /// Puts the members in the order in which JavaScript has them, where that is another one.
    fn reorder(&self, out: &mut String) {
        let keys: Vec<&str> = self.members.iter().map(|key| &out[key.clone()]).collect();
        let indices = keys.iter().map(|key| index(key).unwrap_or(u32::MAX));
        if indices.is_sorted() && !repeats(&keys) {
            return;
        }
        let part = |at: usize| {
            let end = self.members.get(at + 1).map(|next| next.start - 1);
            &out[self.members[at].start..end.unwrap_or(out.len())]
        };
        let mut place: HashMap<&str, usize> = HashMap::new();
        let mut order: Vec<(Option<u32>, usize)> = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            match place.get(key) {
                Some(earlier) => order[*earlier].1 = at,
                None => {
                    place.insert(key, order.len());
                    order.push((index(key), at));
                }
            }
        }
        // Stable: what is no index keeps its order behind those that are.
        order.sort_by_key(|(index, _)| index.unwrap_or(u32::MAX));
        let parts: Vec<&str> = order.into_iter().map(|(_, at)| part(at)).collect();
        let parts = parts.join(",");
        out.truncate(self.begin);
        out.push_str(&parts);
    }
}

/// The array index that a quoted key is: digits without a needless zero, below 2^32 - 1.
fn index(key: &str) -> Option<u32> {
    let digits = &key[1..key.len() - 1];
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    plain
        .then(|| digits.parse().ok())?
        .filter(|index| *index != u32::MAX)
}

fn repeats(keys: &[&str]) -> bool {
    const FEW: usize = 12;
    if keys.len() <= FEW {
        return keys
            .iter()
            .enumerate()
            .any(|(at, key)| keys[..at].contains(key));
    }
    let mut seen = HashSet::with_capacity(keys.len());
    !keys.iter().all(|key| seen.insert(key))
}

/// A string literal with no other escapes than JavaScript writes.
fn string(out: &mut String, literal: &str) {
    let bytes = literal.as_bytes();
    let mut at = 0;
    while let Some(skip) = memchr::memchr(b'\\', &bytes[at..]) {
        out.push_str(&literal[at..at + skip]);
        at += skip;
        let Some(unit) = escape(bytes, at) else {
            match bytes.get(at + 1) {
                Some(b'/') => out.push('/'),
                _ => out.push_str(&literal[at..at + 2]),
            }
            at += 2;
            continue;
        };
        at += 6;
        let low = match unit {
            0xd800..0xdc00 => escape(bytes, at).filter(|low| (0xdc00..0xe000).contains(low)),
            _ => None,
        };
        at += if low.is_some() { 6 } else { 0 };
        out.push_str(&unescaped(unit, low));
    }
    out.push_str(&literal[at..]);
}

/// One escaped character (or pair of them) as JavaScript writes it.
fn unescaped(unit: u16, low: Option<u16>) -> Cow<'static, str> {
    Cow::Borrowed(match unit {
        0x08 => "\\b",
        0x09 => "\\t",
        0x0a => "\\n",
        0x0c => "\\f",
        0x0d => "\\r",
        0x22 => "\\\"",
        0x5c => "\\\\",
        0..0x20 => return Cow::Owned(format!("\\u{unit:04x}")),
        _ => {
            let units = [Some(unit), low];
            return match char::decode_utf16(units.into_iter().flatten()).next() {
                Some(Ok(c)) => Cow::Owned(c.to_string()),
                // A lone surrogate stays an escape.
                _ => Cow::Owned(format!("\\u{unit:04x}")),
            };
        }
    })
}

fn number(out: &mut String, text: &str) {
    // Whole numbers of up to 15 digits are written as they are read.
    if text.len() <= 15 && text != "-0" && !text.contains(['.', 'e', 'E']) {
        out.push_str(text);
        return;
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => out.push_str(&super::js::number(value)),
        _ => out.push_str("null"),
    }
}

/// How far a level of the document is set in.
const INDENT: &str = "  ";
/// How many levels are. Lines further in are set in as these are: what is nested thousands of times
/// would become millions of times as long.
const MOST_INDENTS: usize = 128;

/// JSON without white space as `JSON.stringify(value, null, 2)` sets it in, but for the white space
/// of what is nested very deep.
pub fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut is_escaped) = (0usize, false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_end = in_text && letter == '"' && !is_escaped;
        is_escaped = in_text && letter == '\\' && !is_escaped;
        if in_text {
            out.push(letter);
            in_text = !is_end;
            continue;
        }
        match letter {
            '{' | '[' => {
                out.push(letter);
                if letters.peek().is_some_and(|next| matches!(next, '}' | ']')) {
                    out.extend(letters.next());
                    continue;
                }
                depth += 1;
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            letter => {
                in_text = letter == '"';
                out.push(letter);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(MOST_INDENTS) {
        out.push_str(INDENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts printed by `JSON.stringify(JSON.parse(text))` of Node 20.
    #[test]
    fn texts_are_written_as_javascript_writes_them() {
        for (text, written) in [
            (
                r#" { "b" : 1 , "a" : [ ] , "c" : { } } "#,
                r#"{"b":1,"a":[],"c":{}}"#,
            ),
            (
                r#"{"b":1,"10":2,"9":3,"a":4,"01":5}"#,
                r#"{"9":3,"10":2,"b":1,"a":4,"01":5}"#,
            ),
            (
                r#"{"4294967295":1,"4294967294":2}"#,
                r#"{"4294967294":2,"4294967295":1}"#,
            ),
            (r#"{"a":1,"b":2,"a":{"x":3}}"#, r#"{"a":{"x":3},"b":2}"#),
            (r#"{"\u0061":1,"a":2}"#, r#"{"a":2}"#),
            (
                r#""\/\u00e9\u2028\u0001\u001F\u0022\u005c\n\u000a""#,
                "\"/é\u{2028}\\u0001\\u001f\\\"\\\\\\n\\n\"",
            ),
            (
                r#""\ud83d\ude00 \uD83D x \ude00\ud83d""#,
                r#""😀 \ud83d x \ude00\ud83d""#,
            ),
            (
                "[1.0,1e21,1E-7,-0,-0.0,0.1,100000000000000000000,12345678901234567890,1e400,-1e400]",
                "[1,1e+21,1e-7,0,0,0.1,100000000000000000000,12345678901234567000,null,null]",
            ),
            (
                "[true,false,null,\"\\u007f\"]",
                "[true,false,null,\"\u{7f}\"]",
            ),
            ("7", "7"),
        ] {
            assert_eq!(
                stringify(text.as_bytes()).as_deref(),
                Some(written),
                "{text}"
            );
        }
        for refused in ["", "{", "{\"a\":1}x", "01", "\"\n\""] {
            assert_eq!(stringify(refused.as_bytes()), None, "{refused}");
        }
        assert_eq!(stringify(b"\"\xff\"").as_deref(), Some("\"\u{fffd}\""));
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);
        assert_eq!(stringify(deep.as_bytes()).as_deref(), Some(&*deep));
    }

    #[test]
    fn documents_are_indented_as_javascript_does_it() {
        assert_eq!(
            indented(r#"{"a":[],"b":{},"c":[1,{"d":"x{,:\"]\\"}]}"#),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"x{,:\\\"]\\\\\"\n    }\n  ]\n}"
        );
        assert_eq!(indented("7"), "7");
    }

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + "1" + &"]".repeat(levels)
    }

    #[test]
    fn every_level_is_set_in_up_to_the_last_that_is() {
        let text = indented(&nested(MOST_INDENTS));
        let longest = text.lines().find(|line| line.ends_with('1'));
        let longest = longest.map(|line| line.len() - 1);
        assert_eq!(longest, Some(MOST_INDENTS * INDENT.len()));
        assert_eq!(indented("[[1,{}]]"), "[\n  [\n    1,\n    {}\n  ]\n]");
    }

    #[test]
    fn what_is_nested_thousands_of_times_is_not_millions_of_times_as_long() {
        let json = nested(5_000);
        let text = indented(&json);
        assert!(text.len() < json.len() * (MOST_INDENTS * INDENT.len() + 2));
        assert_eq!(stringify(text.as_bytes()), Some(json));
    }
}
