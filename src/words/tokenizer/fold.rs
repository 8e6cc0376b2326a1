//! What does each character become (rule 1)?

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

pub(super) const LOWER: u8 = 1;
pub(super) const DIGIT: u8 = 2;
pub(super) const UPPER: u8 = 4;
pub(super) const UNDER: u8 = 8;
pub(super) const WIDE: u8 = 16;

/// What each byte is; 0 is a separator.
pub(super) static CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => UPPER,
            b'_' => UNDER,
            128.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Whether a character, which is not ASCII, ends the word before it, and the word after it.
pub(super) fn breaks(character: char) -> (bool, bool) {
    let mut ends = None;
    fold(character, |folded| {
        let breaks = matches!(folded, FoldedChar::Cjk(_) | FoldedChar::Separator);
        ends = Some((ends.map_or(breaks, |(first, _)| first), breaks));
    });
    ends.unwrap_or((false, false))
}

pub(super) fn is_voicing(character: char) -> bool {
    matches!(character, '\u{3099}' | '\u{309A}')
}

/// What a character becomes (rule 1).
#[derive(Debug, Clone, Copy)]
pub(super) enum FoldedChar {
    Dropped,
    Separator,
    Cjk(char),
    /// Its class, and the letter before lowering; `_` has the class [`UNDER`].
    Letter(u8, char),
}

pub(super) fn fold(original: char, mut push: impl FnMut(FoldedChar)) {
    match original {
        '\u{FB00}'..='\u{FB06}' | '\u{FF00}'..='\u{FFEF}' => {
            std::iter::once(original)
                .nfkc()
                .for_each(|character| fold_one(character, &mut push));
        }
        _ => fold_one(original, &mut push),
    }
}

fn fold_one(character: char, push: &mut impl FnMut(FoldedChar)) {
    if character.is_ascii() {
        return push(fold_last(character));
    }
    if is_cjk(character) {
        return std::iter::once(character)
            .nfc()
            .for_each(|one| push(FoldedChar::Cjk(one)));
    }
    // The commonest punctuation, without a look into the tables.
    if matches!(character, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}')
    {
        return push(FoldedChar::Separator);
    }
    std::iter::once(character)
        .nfd()
        .for_each(|one| push(fold_last(one)));
}

fn fold_last(character: char) -> FoldedChar {
    if character.is_ascii() {
        return match CLASS[character as usize] {
            0 => FoldedChar::Separator,
            class => FoldedChar::Letter(class, character),
        };
    }
    if matches!(
        character,
        '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}'
    ) {
        return FoldedChar::Dropped;
    }
    let is_letter = character.is_alphanumeric();
    if is_combining_mark(character)
        && (!character.is_alphabetic() || canonical_combining_class(character) != 0)
    {
        return FoldedChar::Dropped;
    }
    if !is_letter {
        return FoldedChar::Separator;
    }
    let class = if character.is_lowercase() {
        LOWER
    } else if character.is_uppercase() {
        UPPER
    } else {
        DIGIT
    };
    FoldedChar::Letter(class, character)
}

pub(super) fn push_lowered(letter: char, into: &mut String) {
    if letter.is_ascii() {
        return into.push(letter.to_ascii_lowercase());
    }
    for lower in letter.to_lowercase() {
        match lower {
            'ß' => into.push_str("ss"),
            'æ' => into.push_str("ae"),
            'œ' => into.push_str("oe"),
            'ø' => into.push('o'),
            'ł' => into.push('l'),
            'đ' | 'ð' => into.push('d'),
            'þ' => into.push_str("th"),
            'ħ' => into.push('h'),
            'ı' => into.push('i'),
            'ŋ' => into.push('n'),
            'ŧ' => into.push('t'),
            'ſ' => into.push('s'),
            'ĸ' => into.push('k'),
            'ς' => into.push('σ'),
            _ => into.push(lower),
        }
    }
}

fn is_cjk(character: char) -> bool {
    matches!(character,
        '\u{1100}'..='\u{11FF}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}'
        | '\u{3099}' | '\u{309A}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{3131}'..='\u{318E}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97C}'
        | '\u{AC00}'..='\u{D7A3}' | '\u{D7B0}'..='\u{D7FB}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Whether `character`, though not ASCII, can put ASCII letters, digits or `_` into a token, or
/// vanish between two of them. The prefilter lets lines with such a character pass.
pub(in crate::words) fn hides_ascii(character: char) -> bool {
    let mut hides = false;
    fold(character, |folded| match folded {
        FoldedChar::Dropped => hides = true,
        // A voicing mark vanishes unless a kana is before it.
        FoldedChar::Cjk(one) => hides |= is_voicing(one),
        FoldedChar::Separator => {}
        FoldedChar::Letter(_, letter) => {
            let mut text = String::new();
            push_lowered(letter, &mut text);
            hides |= text.bytes().any(|byte| byte.is_ascii());
        }
    });
    hides
}
