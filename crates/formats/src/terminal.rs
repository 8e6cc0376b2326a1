//! What did a person see of text that was made for a terminal?
//!
//! Colours (`ESC [ … m`), commands to the terminal itself (`ESC ] …` up to BEL or `ESC \`, such as
//! titles and links) and the choice of a character set (`ESC ( B`) are as if they had never been in
//! the text. So is "erase to the end of the line" right behind a colour, as grep and gcc write it.
//! Every other `ESC [ …` moves the cursor, or erases: a space stands in its place, which ends a
//! word. What is none of these, or is cut off, stays as it is.

use std::borrow::Cow;

use memchr::memchr;

/// What each sequence begins with.
pub const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;

/// The text as it was seen.
pub fn seen(text: Cow<'_, str>) -> Cow<'_, str> {
    match memchr(ESC, text.as_bytes()) {
        None => text,
        Some(_) => Cow::Owned(without_sequences(&text)),
    }
}

/// What a sequence does to the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    /// Nothing, but that an [`Sequence::Erase`] right behind it does nothing either.
    Colour,
    Nothing,
    /// Erases from the cursor to the end of the line.
    Erase,
    Break,
}

fn without_sequences(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut rest = text;
    let mut behind_colour = false;
    while let Some(at) = memchr(ESC, rest.as_bytes()) {
        seen.push_str(&rest[..at]);
        behind_colour &= at == 0;
        let found = sequence(&rest.as_bytes()[at..]);
        let end = match found {
            Some((Sequence::Break, length)) => {
                seen.push(' ');
                at + length
            }
            Some((Sequence::Erase, length)) => {
                if !behind_colour {
                    seen.push(' ');
                }
                at + length
            }
            Some((Sequence::Colour | Sequence::Nothing, length)) => at + length,
            None => {
                seen.push(char::from(ESC));
                at + 1
            }
        };
        behind_colour = matches!(found, Some((Sequence::Colour, _)));
        rest = &rest[end..];
    }
    seen.push_str(rest);
    seen
}

/// The length of the sequence at the beginning of `bytes`, whatever it does; `None`: there is none.
pub fn sequence_length(bytes: &[u8]) -> Option<usize> {
    match bytes.first() {
        Some(&ESC) => Some(sequence(bytes)?.1),
        _ => None,
    }
}

/// The sequence at the beginning of `bytes`, and its length.
fn sequence(bytes: &[u8]) -> Option<(Sequence, usize)> {
    match bytes.get(1)? {
        b'[' => {
            let run = |from: usize, is_part: fn(&u8) -> bool| {
                let rest = bytes.get(from..).unwrap_or_default();
                from + rest.iter().take_while(|byte| is_part(byte)).count()
            };
            let parameters = run(2, |byte| matches!(byte, 0x30..=0x3F));
            let end = run(parameters, |byte| matches!(byte, 0x20..=0x2F));
            let what = match bytes.get(end)? {
                b'm' => Sequence::Colour,
                b'K' if matches!(&bytes[2..end], b"" | b"0") => Sequence::Erase,
                0x40..=0x7E => Sequence::Break,
                _ => return None,
            };
            Some((what, end + 1))
        }
        b']' => {
            let end = 2 + bytes[2..].iter().position(|byte| *byte < 0x20)?;
            match (bytes[end], bytes.get(end + 1)) {
                (BEL, _) => Some((Sequence::Nothing, end + 1)),
                (ESC, Some(b'\\')) => Some((Sequence::Nothing, end + 2)),
                _ => None,
            }
        }
        b'(' | b')' | b'*' | b'+' => {
            let set = bytes.get(2)?;
            set.is_ascii_alphanumeric()
                .then_some((Sequence::Nothing, 3))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_what_is_left() {
        for (text, left) in [
            ("plain", "plain"),
            ("\x1b[1m\x1b[31merror[E0499]\x1b[0m: x", "error[E0499]: x"),
            ("\x1b[38:2::255:0:0mred\x1b[mdish", "reddish"),
            (
                "\x1b]8;;https://a.b/c\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07end",
                "link end",
            ),
            ("\x1b]8;;https://é.b\x07日\x1b]8;;\x07本", "日本"),
            // grep and gcc
            ("foo\x1b[01;31m\x1b[Kbar\x1b[m\x1b[Kbaz", "foobarbaz"),
            ("foo\x1b[Kbar", "foo bar"),
            ("\x1b[mfoo\x1b[Kbar", "foo bar"),
            (
                "one\x1b[2Ktwo\x1b[10;3Hthree\x1b[?25lfour",
                "one two three four",
            ),
            // tput sgr0
            ("\x1b[1mbold\x1b(B\x1b[mly", "boldly"),
            // No sequences, or cut off.
            ("a\x1bb", "a\x1bb"),
            ("a\x1b[31", "a\x1b[31"),
            ("a\x1b[3é", "a\x1b[3é"),
            ("a\x1b", "a\x1b"),
            ("a\x1b]0;never ended\nb", "a\x1b]0;never ended\nb"),
            ("a\x1b]0;x\x1b[1mb", "a\x1b]0;xb"),
            ("a\x1b]0;x\x1b", "a\x1b]0;x\x1b"),
            ("a\x1b(", "a\x1b("),
            ("\x1b\x1b[1ma", "\x1ba"),
        ] {
            assert_eq!(seen(Cow::Borrowed(text)), left, "{text:?}");
        }
        assert!(matches!(seen(Cow::Borrowed("x")), Cow::Borrowed("x")));
    }
}
