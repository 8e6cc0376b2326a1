//! Where in a text does a secret stand of which JSON, a programming language or a URL has escaped a
//! sign: `sk\u002dproj`, `token%3Dabc`, `https:\/\/`?

use std::ops::Range;

/// JSON within JSON within JSON has seven before a sign.
const MOST_BACKSLASHES: usize = 16;

/// A text with its escapes read, and where its parts stood.
pub struct Unescaped {
    pub text: String,
    /// Where each part begins: here, and in the escaped text. A part is what stood as it is, or the
    /// one sign of an escape; each begins where the one before it ends.
    parts: Vec<(usize, usize)>,
}

impl Unescaped {
    /// `None`: it has no escapes of signs.
    pub fn of(escaped: &str) -> Option<Self> {
        let bytes = escaped.as_bytes();
        let (mut text, mut parts, mut from) = (String::new(), Vec::new(), 0);
        for at in memchr::memchr2_iter(b'\\', b'%', bytes) {
            // One of several backslashes has gone with the first.
            if at >= from
                && let Some((sign, length)) = sign(&bytes[at..])
            {
                parts.push((text.len(), from));
                text.push_str(&escaped[from..at]);
                parts.push((text.len(), at));
                text.push(sign);
                from = at + length;
            }
        }
        parts.push((text.len(), from));
        text.push_str(&escaped[from..]);
        (parts.len() > 1).then_some(Self { text, parts })
    }

    /// Where in the escaped text that is.
    pub fn escaped(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let part = self.parts.partition_point(|(here, _)| *here <= at);
            let (here, there) = self.parts[part.saturating_sub(1)];
            there + at - here
        };
        place(range.start)..place(range.end)
    }
}

/// The sign that an escape stands for, and how long the escape is: `%2D`, `\x2d`, `\u002d`, `\/`,
/// with more backslashes in JSON within JSON.
fn sign(bytes: &[u8]) -> Option<(char, usize)> {
    let (skipped, digits) = match bytes {
        [b'%', ..] => (1, 2),
        _ => {
            let slashes = bytes.iter().take(MOST_BACKSLASHES);
            let slashes = slashes.take_while(|byte| **byte == b'\\').count();
            match bytes.get(slashes)? {
                b'/' => return Some(('/', slashes + 1)),
                b'x' => (slashes + 1, 2),
                b'u' => (slashes + 1, 4),
                _ => return None,
            }
        }
    };
    let hex = bytes.get(skipped..skipped + digits)?;
    let hex = str::from_utf8(hex)
        .ok()
        .filter(|hex| !hex.starts_with('+'))?;
    let sign = char::from(u8::try_from(u16::from_str_radix(hex, 16).ok()?).ok()?);
    let is_sign = sign.is_ascii_graphic() || matches!(sign, ' ' | '\n' | '\r' | '\t' | '\u{1b}');
    is_sign.then_some((sign, skipped + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_found_where_it_stood() {
        let escaped = r"a\u002db%2Dc\\/d\x2d 日 %zz 100% \n \u00e9";
        let plain = Unescaped::of(escaped).unwrap();
        assert_eq!(plain.text, r"a-b-c/d- 日 %zz 100% \n \u00e9");
        for (part, stood) in [
            ("a", "a"),
            ("-b", r"\u002db"),
            ("a-b-", r"a\u002db%2D"),
            ("c/d", r"c\\/d"),
            ("d-", r"d\x2d"),
            ("日", "日"),
            (r"\u00e9", r"\u00e9"),
        ] {
            let at = plain.text.find(part).unwrap();
            assert_eq!(&escaped[plain.escaped(at..at + part.len())], stood);
        }
        assert!(Unescaped::of(r"100% \n \u00e9 C:\dir").is_none());
    }
}
