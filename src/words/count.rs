//! How many tokens and positions does ASCII text hold? Counted 64 bytes at once, without cutting
//! it.
//!
//! The tokenizer's rules 2, 3 and 9, as far as they concern ASCII, with one bit for each byte.
//! Numbers of several words (rules 5 and 6), what may have signs (rule 7) or be an escape (rule 8)
//! and words longer than a block are left to the tokenizer.

/// Bytes of a block.
const BLOCK: usize = 64;

/// What is counted of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub tokens: u32,
    pub positions: u32,
}

/// A text that begins and ends at places where no word is cut in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextChunk {
    pub end: usize,
    /// `None`: the tokenizer has to tell.
    pub count: Option<Count>,
}

/// The chunk of `text` that starts at `start`.
pub(super) fn chunk(text: &[u8], start: usize) -> TextChunk {
    let rest = &text[start..];
    let mut padded = [b' '; BLOCK];
    let block = match rest.first_chunk::<BLOCK>() {
        Some(block) => block,
        None => {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        }
    };
    let masks = Masks::of(block);
    let end = if rest.len() <= BLOCK {
        rest.len()
    } else {
        BLOCK - masks.cuts().leading_zeros() as usize
    };
    if end == 0 {
        // A word or URL fills the block.
        let more = rest[BLOCK..].iter().position(|byte| is_cut(*byte));
        return TextChunk {
            end: more.map_or(text.len(), |more| start + BLOCK + more + 1),
            count: None,
        };
    }
    TextChunk {
        end: start + end,
        count: masks.first(end).count(),
    }
}

/// Whether no word, number, sign, escape or CJK run can continue across this byte, whatever is
/// before it.
fn is_cut(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"_.\\+#,'".contains(&byte)
}

/// One bit for each byte of a block, the lowest for the first.
#[derive(Debug, Clone, Copy)]
struct Masks {
    upper: u64,
    lower: u64,
    digit: u64,
    under: u64,
    dot: u64,
    backslash: u64,
    /// `+` and `#`.
    sign: u64,
    /// `,` and `'`.
    comma: u64,
    wide: u64,
}

impl Masks {
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut masks = Self {
            upper: 0,
            lower: 0,
            digit: 0,
            under: 0,
            dot: 0,
            backslash: 0,
            sign: 0,
            comma: 0,
            wide: 0,
        };
        for (at, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            // Eight bytes at once; those that are not ASCII are asked for last and spoil the rest.
            let from = |byte: u8| (word & !HIGH).wrapping_add(ONES * u64::from(0x80 - byte));
            let between = |first: u8, last: u8| gather(from(first) & !from(last + 1)) << (8 * at);
            masks.upper |= between(b'A', b'Z');
            masks.lower |= between(b'a', b'z');
            masks.digit |= between(b'0', b'9');
            masks.under |= between(b'_', b'_');
            masks.dot |= between(b'.', b'.');
            masks.backslash |= between(b'\\', b'\\');
            masks.sign |= between(b'+', b'+') | between(b'#', b'#');
            masks.comma |= between(b',', b',') | between(b'\'', b'\'');
            masks.wide |= gather(word) << (8 * at);
        }
        masks
    }

    fn cuts(self) -> u64 {
        let words = self.upper | self.lower | self.digit | self.under | self.wide;
        let in_number = self.comma & (self.digit << 1);
        !(words | self.dot | self.backslash | self.sign | in_number)
    }

    /// The first `length` bytes alone.
    fn first(self, length: usize) -> Self {
        let keep = u64::MAX >> (BLOCK - length);
        Self {
            upper: self.upper & keep,
            lower: self.lower & keep,
            digit: self.digit & keep,
            under: self.under & keep,
            dot: self.dot & keep,
            backslash: self.backslash & keep,
            sign: self.sign & keep,
            comma: self.comma & keep,
            wide: self.wide & keep,
        }
    }

    fn count(self) -> Option<Count> {
        let letters = self.upper | self.lower | self.digit;
        let words = letters | self.under;
        let number = self.digit & ((self.dot | self.comma) >> 1) & (self.digit >> 2);
        let escaped = (self.backslash << 1) & self.lower;
        let alone = self.dot & !((words | self.dot) << 1);
        let signed = letters & (self.sign >> 1) | letters & (alone << 1);
        if self.wide | number | escaped | signed != 0 {
            return None;
        }
        // Runs without `_`, and within them the capitals that begin a part.
        let runs = letters & !(letters << 1);
        let capitals = self.upper
            & ((self.lower << 1) | (((self.upper | self.digit) << 1) & (self.lower >> 1)));
        let parts = (runs | capitals).count_ones();
        // The parts that are not the first of their word: those behind a `_` which is not among
        // the leading ones. Adding the start of such a run of `_` carries to the first behind it.
        let starts = words & !(words << 1);
        let leading = self.under.wrapping_add(starts & self.under) & !self.under;
        let later = capitals | (runs & !starts & !leading);
        // Adding them to the words carries a bit behind each word that has some.
        let (sum, carry) = words.overflowing_add(later);
        let several = sum & !words & (words << 1);
        Some(Count {
            tokens: parts + several.count_ones() + u32::from(carry),
            positions: parts,
        })
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// The highest bits of eight bytes.
fn gather(bytes: u64) -> u64 {
    ((bytes & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};

    use super::{Count, chunk};
    use crate::words::tokenizer::segment;

    #[test]
    fn counted_is_what_the_tokenizer_cuts() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let atoms = [
            "a",
            "b",
            "A",
            "Z",
            "1",
            "9",
            "_",
            "__",
            ".",
            "-",
            " ",
            " ",
            "Ab",
            "HTTPServer",
            "v1",
            "@",
            "[",
            "`",
            "{",
            "/",
            ":",
            "\u{7f}",
            "\n",
        ];
        let (mut counted, mut cut) = (0, 0);
        for round in 0..30_000 {
            let mut text = String::new();
            for _ in 0..random.random_range(0..120) {
                text.push_str(atoms.choose(&mut random).unwrap());
                if round % 10 == 0 && random.random_ratio(1, 20) {
                    text.push_str(["é", "日", "\u{301}", "—"].choose(&mut random).unwrap());
                }
                if round % 10 == 2 && random.random_ratio(1, 8) {
                    let sign = ["+", "++", "#", ",", "'", ",234", "'567", "("].choose(&mut random);
                    text.push_str(sign.unwrap());
                }
                if round % 10 == 1 && random.random_ratio(1, 20) {
                    text.push_str(["\\", "\\n", "\\tB", "\\\\r"].choose(&mut random).unwrap());
                }
            }
            let cuts = |text: &str| {
                let mut tokens = 0;
                let positions = segment(text, |_| tokens += 1);
                Count { tokens, positions }
            };
            let mut sum = Count {
                tokens: 0,
                positions: 0,
            };
            let mut at = 0;
            while at < text.len() {
                let found = chunk(text.as_bytes(), at);
                assert!(found.end > at, "{text:?}");
                let part = &text[at..found.end];
                let expected = cuts(part);
                match found.count {
                    Some(count) => {
                        assert_eq!(count, expected, "{part:?}");
                        counted += 1;
                    }
                    None => cut += 1,
                }
                sum.tokens += expected.tokens;
                sum.positions += expected.positions;
                at = found.end;
            }
            assert_eq!(sum, cuts(&text), "{text:?}");
        }
        assert!(counted > 30_000 && cut > 5_000, "{counted} and {cut}");
    }
}
