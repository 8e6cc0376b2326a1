//! Which of two file names comes first for `String.localeCompare`?
//!
//! The root collation of ICU, as far as names of files go: marks, then digits, then letters, each
//! character for itself (`a10` before `a2`); accents count where all letters are equal, and case,
//! lower first, where the accents are too. Scripts beyond Latin stand in the order of their code
//! points.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// ASCII marks in their order before the digits.
const MARKS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Orders names as `a.localeCompare(b)` does.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collation {
    characters: Vec<(Kind, u32)>,
    accents: Vec<u32>,
    is_upper: Vec<bool>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Mark,
    Digit,
    Letter,
}

impl Collation {
    /// The key of a name.
    pub fn of(name: &str) -> Self {
        let mut key = Self {
            characters: Vec::new(),
            accents: Vec::new(),
            is_upper: Vec::new(),
        };
        for character in name.nfd() {
            if is_combining_mark(character) {
                key.accents.push(u32::from(character));
                continue;
            }
            let weight = if let Some(place) = MARKS.find(character) {
                (Kind::Mark, place as u32)
            } else if character.is_control() {
                continue;
            } else if character.is_ascii_digit() {
                (Kind::Digit, u32::from(character))
            } else {
                (
                    Kind::Letter,
                    character.to_lowercase().next().map_or(0, u32::from),
                )
            };
            key.characters.push(weight);
            key.accents.push(0);
            key.is_upper.push(character.is_uppercase());
        }
        key
    }

    /// A text in ASCII that sorts the other way round, byte by byte.
    pub fn descending(&self) -> String {
        const END: char = '~';
        let digit = |digit: u8| char::from(b'}' - digit);
        let mut key = String::with_capacity(2 * self.characters.len());
        for (kind, weight) in &self.characters {
            let place = match (kind, weight) {
                (Kind::Mark, place) => *place,
                (Kind::Digit, digit) => 40 + digit - u32::from(b'0'),
                (Kind::Letter, letter) => letter.saturating_sub(u32::from(b'a')).min(26) + 50,
            };
            key.push(digit(place as u8));
            if place == 76 {
                key.extend(
                    (0..6)
                        .rev()
                        .map(|nth| digit((weight >> (4 * nth) & 15) as u8)),
                );
            }
        }
        key.push(END);
        // Most names have neither.
        for levels in [
            self.accents.clone(),
            self.is_upper.iter().map(|is| u32::from(*is)).collect(),
        ] {
            let end = levels
                .iter()
                .rposition(|level| *level != 0)
                .map_or(0, |at| at + 1);
            for level in &levels[..end] {
                key.extend(
                    (0..6)
                        .rev()
                        .map(|nth| digit((level >> (4 * nth) & 15) as u8)),
                );
            }
            key.push(END);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorted by `(a, b) => a.localeCompare(b)` of Node 20.
    #[test]
    fn names_stand_as_in_node() {
        let sorted = [
            "0", "9", "a_b", "a-b", "a,b", "a;b", "a:b", "a!b", "a?b", "a.b", "a'b", "a\"b", "a(b",
            "a)b", "a[b", "a]b", "a{b", "a}b", "a@b", "a*b", "a/b", "a\\b", "a&b", "a#b", "a%b",
            "a`b", "a^b", "a+b", "a<b", "a=b", "a>b", "a|b", "a~b", "a$b", "a1", "a10", "a2", "ab",
            "abc", "aBc", "ABC", "abd", "b", "B", "e", "E", "é", "É", "éa", "eb", "f", "x y", "Z",
            "ж", "я", "漢",
        ];
        for pair in sorted.windows(2) {
            let (first, second) = (Collation::of(pair[0]), Collation::of(pair[1]));
            assert!(first < second, "{pair:?}");
            assert!(first.descending() > second.descending(), "{pair:?}");
        }
    }
}
