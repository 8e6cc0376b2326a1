//! Where in a coloured text does a secret stand? What looks for words colours a part of one, and a
//! link or another command to the terminal may break one in two.

use std::ops::Range;

use crate::format::terminal::{ESC, sequence_length};

/// A text without its colours, and all else that a terminal acts on, and where its parts stood.
pub struct Uncoloured {
    pub text: String,
    /// Where each part begins: here, and in the coloured text.
    parts: Vec<(usize, usize)>,
}

impl Uncoloured {
    /// `None`: it has no colours.
    pub fn of(coloured: &str) -> Option<Self> {
        let bytes = coloured.as_bytes();
        let (mut text, mut parts, mut from) = (String::new(), Vec::new(), 0);
        for at in memchr::memchr_iter(ESC, bytes) {
            // One within the text of another has gone with it.
            if at >= from
                && let Some(length) = sequence_length(&bytes[at..])
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
