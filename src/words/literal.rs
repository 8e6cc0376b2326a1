//! Where do bytes hold this ASCII text, in whatever case?

/// How many bytes are compared before checking whether any of them was a candidate.
const BLOCK: usize = 64;
/// Letters and digits, the rarest in source code and English first. In JSON signs are more frequent
/// than any of them.
const RARITY: &[u8] = b"zqjxkwvyb98765432g10hfpumdclsinroate";

/// ASCII that the text of a token must hold, up to case: none for a token that is not ASCII. A
/// number may be written in groups of three digits, and `nodejs` as `node.js`. `open`: the token
/// may be the beginning of a longer one.
pub(super) fn needed(token: &str, open: bool) -> Vec<&str> {
    if !token.is_ascii() || token.is_empty() {
        return Vec::new();
    }
    if !token.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![before_js(token, open)];
    }
    if open {
        // Where a group of the longer one ends is not known.
        return vec![&token[..1]];
    }
    let first = token.len() % 3;
    let groups = (first..token.len()).step_by(3).map(|at| &token[at..at + 3]);
    let first = (first > 0).then_some(&token[..first]);
    first.into_iter().chain(groups).collect()
}

/// A token without the `js` before which its text may have a `.`.
fn before_js(token: &str, open: bool) -> &str {
    let rest = token.strip_suffix("js");
    let rest = rest.or_else(|| token.strip_suffix('j').filter(|_| open));
    let is_word = |rest: &&str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    rest.filter(is_word).unwrap_or(token)
}

/// ASCII to look for, its letters lowercase.
#[derive(Debug)]
pub(super) struct Literal {
    text: Vec<u8>,
    /// Where its two rarest bytes are: where bytes hold both at their distance is a candidate.
    probes: [usize; 2],
}

impl Literal {
    /// `text` is not empty.
    pub fn new(text: &[u8]) -> Self {
        let mut places: Vec<usize> = (0..text.len()).collect();
        let rank = |byte: u8| RARITY.iter().position(|known| *known == byte);
        places.sort_by_key(|at| rank(text[*at]).unwrap_or(RARITY.len()));
        let first = places.first().copied().unwrap_or(0);
        Self {
            text: text.to_vec(),
            probes: [first, places.get(1).copied().unwrap_or(first)],
        }
    }

    /// Whether whatever holds `other` holds this one.
    pub fn is_within(&self, other: &Literal) -> bool {
        self.find(&other.text, 0).is_some()
    }

    /// Where `bytes` hold the text, at or after `from`.
    pub fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let [(i, a), (j, b)] = self.probes.map(|at| (at, self.text[at] | 0x20));
        let starts = (bytes.len() + 1).saturating_sub(self.text.len());
        let mut at = from;
        while at < starts {
            let end = starts.min(at + BLOCK);
            let (first, second) = (&bytes[at + i..end + i], &bytes[at + j..end + j]);
            let may_be = match (first.first_chunk::<BLOCK>(), second.first_chunk::<BLOCK>()) {
                (Some(first), Some(second)) => {
                    // No early exit: so it is done for many bytes at once.
                    let mut any = false;
                    for (x, y) in first.iter().zip(second) {
                        any |= (x | 0x20 == a) & (y | 0x20 == b);
                    }
                    any
                }
                _ => true,
            };
            let is_here = |at: &usize| {
                bytes[*at + i] | 0x20 == a
                    && bytes[*at..*at + self.text.len()].eq_ignore_ascii_case(&self.text)
            };
            if may_be && let Some(place) = (at..end).find(is_here) {
                return Some(place);
            }
            at = end;
        }
        None
    }

    /// Where `bytes` hold the text, ascending.
    pub fn places<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let place = self.find(bytes, from)?;
            from = place + 1;
            Some(place)
        })
    }

    /// Whether this byte is part of the text.
    pub fn holds(&self, byte: u8) -> bool {
        self.text.contains(&byte)
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Literal;

    #[test]
    fn every_place_is_found_in_any_case_and_block() {
        for text in ["a", "ab", "error", "1a2", "_", "e[e0", "a-b c"] {
            let literal = Literal::new(text.as_bytes());
            for before in 0..200 {
                let mut bytes = vec![b'x'; before];
                bytes.extend(text.to_ascii_uppercase().bytes());
                bytes.extend(b"..");
                bytes.extend(text.bytes());
                let places: Vec<usize> = literal.places(&bytes).collect();
                assert_eq!(places, [before, before + text.len() + 2], "{text} {before}");
            }
            assert_eq!(literal.places(b"").count(), 0);
        }
        // A byte that differs from a letter in the bit of case alone is no letter.
        assert_eq!(Literal::new(b"a1").places(b"a\x11 A1 !1").count(), 1);
    }
}
