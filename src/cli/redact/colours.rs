//! Where in a coloured text does a secret stand? What looks for words colours a part of one.

use std::ops::Range;

const ESC: u8 = 0x1b;

/// A text without its colours, and where its parts stood.
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
            if let Some(length) = colour(&bytes[at..]) {
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

/// The length of what begins or ends a colour, as grep does it too: `ESC [ 0 1 ; 3 1 m`, `ESC [ K`.
fn colour(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"\x1b[")?;
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let numbers = rest.iter().take_while(|byte| is_number(byte)).count();
    matches!(rest.get(numbers), Some(b'm' | b'K')).then_some(2 + numbers + 1)
}
