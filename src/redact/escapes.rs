//! Where in a text does a secret stand of which JSON, a programming language, a URL or HTML has
//! escaped a sign: `sk\u002dproj`, `token%3Dabc`, `https:\/\/`, `password=&quot;`?

use std::ops::Range;

use super::colours::is_unseen;

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
        for at in memchr::memchr3_iter(b'\\', b'%', b'&', bytes) {
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

/// Signs that have a name in HTML.
const NAMED: [(&[u8], char); 6] = [
    (b"&shy;", '\u{ad}'),
    (b"&quot;", '"'),
    (b"&apos;", '\''),
    (b"&amp;", '&'),
    (b"&lt;", '<'),
    (b"&gt;", '>'),
];

/// The sign that an escape stands for, and how long the escape is: `%2D`, `\x2d`, `\u002d`, `\/`,
/// with more backslashes in JSON within JSON, `&quot;`, `&#45;`.
fn sign(bytes: &[u8]) -> Option<(char, usize)> {
    let (skipped, digits) = match bytes {
        [b'&', b'#', number @ ..] => return numbered(number),
        [b'&', ..] => {
            let named = NAMED.iter().find(|(name, _)| bytes.starts_with(name));
            return named.map(|(name, sign)| (*sign, name.len()));
        }
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
    Some((of_number(hex, 16)?, skipped + digits))
}

/// What a number in HTML stands for, behind `&#`: `45;`, `x2d;`.
fn numbered(number: &[u8]) -> Option<(char, usize)> {
    let end = number.iter().take(6).position(|byte| *byte == b';')?;
    let sign = match &number[..end] {
        [b'x' | b'X', hex @ ..] => of_number(hex, 16),
        decimal => of_number(decimal, 10),
    };
    Some((sign?, end + 3))
}

/// A sign that may stand in a secret or around one, also unseen.
fn of_number(digits: &[u8], radix: u32) -> Option<char> {
    let digits = str::from_utf8(digits)
        .ok()
        .filter(|digits| !digits.starts_with('+'))?;
    let sign = char::from_u32(u32::from(u16::from_str_radix(digits, radix).ok()?))?;
    let is_sign = sign.is_ascii_graphic() || matches!(sign, ' ' | '\n' | '\r' | '\t' | '\u{1b}');
    let is_sign = is_sign || is_unseen(sign);
    is_sign.then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_found_where_it_stood() {
        let escaped =
            r"a\u002db%2Dc\\/d\x2d&#45;&#x2d;&lt;e 日 %zz 100% \n \u00e9 &nbsp; &#; &#999;";
        let plain = Unescaped::of(escaped).unwrap();
        assert_eq!(
            plain.text,
            r"a-b-c/d---<e 日 %zz 100% \n \u00e9 &nbsp; &#; &#999;"
        );
        for (part, stood) in [
            ("a", "a"),
            ("-b", r"\u002db"),
            ("a-b-", r"a\u002db%2D"),
            ("c/d", r"c\\/d"),
            ("d-", r"d\x2d"),
            ("-<e", r"&#x2d;&lt;e"),
            ("日", "日"),
            (r"\u00e9", r"\u00e9"),
        ] {
            let at = plain.text.find(part).unwrap();
            assert_eq!(&escaped[plain.escaped(at..at + part.len())], stood);
        }
        assert!(Unescaped::of(r"100% \n \u00e9 C:\dir").is_none());
    }
}
