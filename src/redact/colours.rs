//! Where in a coloured text does a secret stand? What looks for words colours a part of one, and a
//! link or another command to the terminal may break one in two; so may a sign that nobody sees, as
//! chats and web pages put them into long words.

use std::ops::Range;

use crate::format::terminal::{ESC, sequence_length};

/// A text without its colours, all else that a terminal acts on, and signs that nobody sees; and
/// where its parts stood.
pub struct Uncoloured {
    pub text: String,
    /// Where each part begins: here, and in the coloured text.
    parts: Vec<(usize, usize)>,
}

impl Uncoloured {
    /// `None`: it has none of that.
    pub fn of(coloured: &str) -> Option<Self> {
        let bytes = coloured.as_bytes();
        let begins = |byte: u8| byte == ESC || FIRST_OF_UNSEEN.contains(&byte);
        let [two, three, mark] = FIRST_OF_UNSEEN;
        let first = memchr::memchr3(ESC, two, three, bytes);
        let first = first.into_iter().chain(memchr::memchr(mark, bytes)).min()?;
        let (mut text, mut parts, mut from) = (String::new(), Vec::new(), 0);
        let places = (first..bytes.len()).filter(|at| begins(bytes[*at]));
        for at in places {
            // One within the text of another has gone with it.
            if at >= from
                && let Some(length) = length(&bytes[at..])
            {
                parts.push((text.len(), from));
                text.push_str(&coloured[from..at]);
                from = at + length;
            }
        }
        parts.push((text.len(), from));
        text.push_str(&coloured[from..]);
        (parts.len() > 1).then_some(Self { text, parts })
    }

    /// Where in the coloured text that is.
    pub fn coloured(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let part = self.parts.partition_point(|(here, _)| *here <= at);
            let (here, there) = self.parts[part.saturating_sub(1)];
            there + at - here
        };
        place(range.start)..place(range.end - 1) + 1
    }
}

/// With which bytes [`is_unseen`] signs begin.
const FIRST_OF_UNSEEN: [u8; 3] = [0xc2, 0xe2, 0xef];

/// Whether a sign takes no room: soft hyphens, joiners, marks of direction and of byte order.
pub fn is_unseen(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// How long what a terminal acts on, or a sign that nobody sees, is at the beginning of a text.
fn length(bytes: &[u8]) -> Option<usize> {
    let most = match bytes.first()? {
        &ESC => return sequence_length(bytes),
        0xc2 => 2,
        _ => 3,
    };
    let sign = str::from_utf8(bytes.get(..most)?).ok()?;
    sign.chars().next().filter(|sign| is_unseen(*sign))?;
    Some(most)
}
