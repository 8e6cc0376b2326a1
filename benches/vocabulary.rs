//! What do the words of a synthetic session look like? Zipf ranks over 150,000 words, numbers, hex
//! tokens, paths and CJK.

use rand::RngCore;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Different words.
const WORDS: usize = 150_000;
/// Longest word in bytes; slots of one width make a word one copy.
const WIDTH: usize = 24;
/// Steps of the inverse Zipf distribution kept in memory; between them it is interpolated.
const STEPS: usize = 1 << 16;

/// The first ranks, most frequent first. `return` and `error` stand where the measured corpus has
/// them: `error` in about every third tool result, the phrase `return error` a few times a thousand
/// entries.
const COMMON: &[&str] = &[
    "the", "to", "let", "a", "of", "in", "is", "self", "for", "if", "and", "file", "line", "fn",
    "it", "const", "this", "not", "return", "with", "test", "import", "from", "error", "value",
    "path", "name", "type", "string", "read", "index", "session", "new", "use", "pub", "mut",
    "else", "match", "as", "be", "on", "that", "by", "src", "data", "text", "true", "false",
    "null", "function", "export", "await", "async", "result", "write", "build",
];

const SYLLABLES: &[&str] = &[
    "al", "an", "ar", "ba", "be", "bo", "ca", "con", "de", "der", "di", "do", "el", "en", "er",
    "fa", "fi", "for", "ga", "ge", "go", "ha", "he", "in", "is", "ka", "ke", "la", "le", "li",
    "lo", "ma", "men", "mi", "mo", "na", "ne", "no", "or", "pa", "per", "po", "ra", "re", "ri",
    "ro", "sa", "se", "ser", "so", "ta", "te", "ti", "to", "tra", "un", "va", "ver", "vi", "wo",
];

/// A seeded vocabulary and the ways to draw text from it.
pub struct Vocabulary {
    slots: Vec<[u8; WIDTH]>,
    lengths: Vec<u8>,
    ranks: Vec<u32>,
}

impl Vocabulary {
    /// The vocabulary of one seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut slots = Vec::with_capacity(WORDS);
        let mut lengths = Vec::with_capacity(WORDS);
        let mut word = String::new();
        for rank in 0..WORDS {
            word.clear();
            match COMMON.get(rank) {
                Some(common) => word.push_str(common),
                None => invent(&mut word, &mut rng),
            }
            let mut slot = [0; WIDTH];
            slot[..word.len()].copy_from_slice(word.as_bytes());
            slots.push(slot);
            lengths.push(word.len() as u8);
        }
        // The inverse of a 1/rank distribution is exponential in the drawn number.
        let ranks = (0..=STEPS)
            .map(|step| ((WORDS as f64).powf(step as f64 / STEPS as f64) - 1.0) as u32)
            .collect();
        Vocabulary {
            slots,
            lengths,
            ranks,
        }
    }

    /// Appends one word.
    pub fn word(&self, out: &mut Vec<u8>, drawn: u32) {
        let step = (drawn >> 16) as usize;
        let (low, high) = (self.ranks[step], self.ranks[step + 1]);
        let rank = low + (((high - low) as u64 * (drawn & 0xffff) as u64) >> 16) as u32;
        let rank = rank as usize;
        let end = out.len() + self.lengths[rank] as usize;
        out.extend_from_slice(&self.slots[rank]);
        out.truncate(end);
    }

    /// Appends about `bytes` bytes of text, already escaped for a JSON string.
    pub fn text(&self, out: &mut Vec<u8>, rng: &mut ChaCha8Rng, bytes: usize, cjk: bool) {
        let end = out.len() + bytes;
        while out.len() < end {
            let drawn = rng.next_u64();
            match drawn & 0xff {
                _ if cjk && drawn & 0x100 != 0 => ideographs(out, drawn),
                0..8 => hex(out, drawn >> 32, 8),
                8..18 => number(out, drawn >> 40),
                18..28 => {
                    out.extend_from_slice(b"src/");
                    self.word(out, (drawn >> 32) as u32);
                    out.push(b'/');
                    self.word(out, (drawn >> 24) as u32);
                    out.extend_from_slice(b".rs");
                }
                _ => self.word(out, (drawn >> 32) as u32),
            }
            match (drawn >> 12) & 0xff {
                0..16 => out.extend_from_slice(b"\\n"),
                16..22 => out.extend_from_slice(b"\\n\\t"),
                22..28 => out.extend_from_slice(b" \\\""),
                28..40 => out.extend_from_slice(b", "),
                40..52 => out.extend_from_slice(b". "),
                52..60 => out.push(b'('),
                60..64 => out.extend_from_slice(b" {\\n"),
                _ => out.push(b' '),
            }
        }
    }
}

/// Appends `bytes` bytes of base64, as images and signatures have them.
pub fn base64(out: &mut Vec<u8>, rng: &mut ChaCha8Rng, bytes: usize) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let end = out.len() + bytes;
    while out.len() < end {
        let drawn = rng.next_u64();
        let mut ten = [0; 10];
        for (place, digit) in ten.iter_mut().enumerate() {
            *digit = DIGITS[(drawn >> (6 * place)) as usize & 63];
        }
        out.extend_from_slice(&ten);
    }
    out.truncate(end);
}

/// Appends `digits` lower-case hex digits of `value`.
pub fn hex(out: &mut Vec<u8>, value: u64, digits: usize) {
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * place)) as usize & 15]);
    }
}

fn number(out: &mut Vec<u8>, drawn: u64) {
    // Small numbers are frequent, large ones rare: line numbers and sizes.
    let mut value = drawn >> (drawn & 15).min(14);
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn ideographs(out: &mut Vec<u8>, drawn: u64) {
    let mut rest = drawn >> 20;
    for _ in 0..2 + (drawn >> 60) % 4 {
        // Two draws multiplied favour low code points, as real text favours few characters.
        let point = 0x4e00 + (((rest & 0x3f) * ((rest >> 6) & 0x3f)) as u32);
        if let Some(character) = char::from_u32(point) {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest >>= 7;
    }
}

fn invent(word: &mut String, rng: &mut ChaCha8Rng) {
    let shape = rng.next_u32() % 10;
    let parts = if shape < 7 { 1 } else { 2 };
    for part in 0..parts {
        let start = word.len();
        if part > 0 && shape == 7 {
            word.push('_');
        }
        for _ in 0..2 + rng.next_u32() % 2 {
            word.push_str(SYLLABLES[rng.next_u32() as usize % SYLLABLES.len()]);
        }
        if part > 0 && shape > 7 {
            word[start..=start].make_ascii_uppercase();
        }
    }
}
