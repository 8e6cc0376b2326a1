//! The rules of the tokenizer's documentation and the meaning of an expression, written a second
//! time, as plainly as possible and with nothing of the room's code.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::model::{Class, Expr};

#[path = "oracle/signs.rs"]
mod signs;
#[path = "oracle/written.rs"]
mod written;

pub use written::in_text;

use signs::{dotted, dotted_tokens, in_groups, with_js, with_signs};

/// One folded character.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Atom {
    Dropped,
    Separator(char),
    Cjk(char),
    /// The character before lowering, and the one of the text it comes from.
    Letter(char, char),
    /// The one of the text that it comes from.
    Underscore(char),
}

const CJK: &[(u32, u32)] = &[
    (0x1100, 0x11FF),
    (0x3005, 0x3007),
    (0x3041, 0x3096),
    (0x3099, 0x309A),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3131, 0x318E),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),
    (0xD7B0, 0xD7FB),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
];

fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for original in text.chars() {
        // The rules below say the same of ASCII, and most text is that.
        if original.is_ascii() {
            atoms.push(match original {
                '_' => Atom::Underscore(original),
                _ if original.is_ascii_alphanumeric() => Atom::Letter(original, original),
                _ => Atom::Separator(original),
            });
            continue;
        }
        let code = original as u32;
        let compatible: String =
            if (0xFB00..=0xFB06).contains(&code) || (0xFF00..=0xFFEF).contains(&code) {
                original.to_string().nfkc().collect()
            } else {
                original.to_string()
            };
        for one in compatible.chars() {
            if CJK
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&(one as u32)))
            {
                atoms.extend(one.to_string().nfc().map(Atom::Cjk));
                continue;
            }
            for part in one.to_string().nfd() {
                let vanishes = "\u{AD}\u{200C}\u{200D}\u{2060}\u{FEFF}".contains(part)
                    || is_combining_mark(part)
                        && !(part.is_alphabetic() && canonical_combining_class(part) == 0);
                atoms.push(if vanishes {
                    Atom::Dropped
                } else if part == '_' {
                    Atom::Underscore(original)
                } else if part.is_alphanumeric() {
                    Atom::Letter(part, original)
                } else {
                    Atom::Separator(original)
                });
            }
        }
    }
    atoms
}

fn lower(letter: char) -> String {
    let lowered: String = letter.to_lowercase().collect();
    if letter.is_ascii() {
        return lowered;
    }
    let table = [
        ("ß", "ss"),
        ("æ", "ae"),
        ("œ", "oe"),
        ("ø", "o"),
        ("ł", "l"),
        ("đ", "d"),
        ("ð", "d"),
        ("þ", "th"),
        ("ħ", "h"),
        ("ı", "i"),
        ("ŋ", "n"),
        ("ŧ", "t"),
        ("ſ", "s"),
        ("ĸ", "k"),
        ("ς", "σ"),
    ];
    table
        .iter()
        .fold(lowered, |text, (from, to)| text.replace(from, to))
}

/// A piece of text that takes positions of its own.
#[derive(Debug)]
enum Item {
    /// Its parts; more than one make a whole.
    Word {
        whole: String,
        parts: Vec<String>,
        number: Option<Number>,
        /// Its tokens without the first letter, which may be that of an escape.
        escaped: Vec<String>,
        /// It with its signs.
        signed: Option<String>,
        /// It with the `js` behind it.
        joined: Option<String>,
    },
    Cjk(Vec<char>),
}

/// A word of ASCII digits, or the digits at the end of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Number {
    from: usize,
    to: usize,
    /// What stands before the digits.
    head: Head,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Head {
    Nothing,
    /// `v`, as part of the number.
    V,
    /// Letters that are none of it.
    Word,
}

fn items(text: &str) -> Vec<Item> {
    let atoms = atoms(text);
    let mut items = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        match atoms[at] {
            Atom::Cjk(_) => {
                let mut run: Vec<char> = Vec::new();
                while let Some(Atom::Cjk(_) | Atom::Dropped) = atoms.get(at) {
                    if let Atom::Cjk(next) = atoms[at] {
                        let composed: Option<Vec<char>> = run
                            .last()
                            .map(|last| format!("{last}{next}").nfc().collect());
                        match composed {
                            Some(composed) if composed.len() == 1 => {
                                run.pop();
                                run.push(composed[0]);
                            }
                            _ if next == '\u{3099}' || next == '\u{309A}' => {}
                            _ => run.push(next),
                        }
                    }
                    at += 1;
                }
                if !run.is_empty() {
                    items.push(Item::Cjk(run));
                }
            }
            Atom::Letter(..) | Atom::Underscore(_) => {
                let from = at;
                while let Some(Atom::Letter(..) | Atom::Underscore(_) | Atom::Dropped) =
                    atoms.get(at)
                {
                    at += 1;
                }
                let mut found = word(&atoms, from, at);
                if let Some(Item::Word {
                    escaped,
                    signed,
                    joined,
                    ..
                }) = &mut found
                {
                    *joined = with_js(&atoms, from, at);
                    *escaped = without_escape(&atoms, from, at);
                    *signed = with_signs(&atoms, from, at);
                }
                items.extend(found);
            }
            Atom::Dropped | Atom::Separator(_) => at += 1,
        }
    }
    items
}

/// The whole, and the first of several parts, of the word that is left without an escape's letter.
fn without_escape(atoms: &[Atom], from: usize, to: usize) -> Vec<String> {
    let backslash = |back: usize| {
        let at = from.checked_sub(back);
        at.is_some_and(|at| atoms[at] == Atom::Separator('\\'))
    };
    let is_ascii = |atom: &Atom| match atom {
        Atom::Letter(_, original) | Atom::Underscore(original) | Atom::Separator(original) => {
            original.is_ascii()
        }
        _ => false,
    };
    let escapes = matches!(atoms[from], Atom::Letter('n' | 'r' | 't', _));
    let plain = atoms[from..to].iter().chain(atoms.get(to)).all(is_ascii);
    if !backslash(1) || backslash(2) || !escapes || !plain {
        return Vec::new();
    }
    let mut tokens = match word(atoms, from + 1, to) {
        Some(Item::Word { whole, parts, .. }) if parts.len() > 1 => vec![whole, parts[0].clone()],
        Some(Item::Word { whole, .. }) => vec![whole],
        _ => Vec::new(),
    };
    tokens.extend(with_signs(atoms, from + 1, to));
    tokens.extend(with_js(atoms, from + 1, to));
    tokens
}

fn word(atoms: &[Atom], from: usize, to: usize) -> Option<Item> {
    let mut letters: Vec<Atom> = atoms[from..to]
        .iter()
        .copied()
        .filter(|atom| *atom != Atom::Dropped)
        .collect();
    while let Some(Atom::Underscore(_)) = letters.last() {
        letters.pop();
    }
    while let Some(Atom::Underscore(_)) = letters.first() {
        letters.remove(0);
    }
    if letters.is_empty() {
        return None;
    }
    let mut whole = String::new();
    let mut parts = vec![String::new()];
    for (index, atom) in letters.iter().enumerate() {
        let Atom::Letter(letter, _) = atom else {
            whole.push('_');
            parts.push(String::new());
            continue;
        };
        let of = |index: usize| match letters.get(index) {
            Some(Atom::Letter(letter, _)) => Some(*letter),
            _ => None,
        };
        if let Some(before) = index.checked_sub(1).and_then(of)
            && letter.is_uppercase()
            && (before.is_lowercase() || of(index + 1).is_some_and(char::is_lowercase))
        {
            parts.push(String::new());
        }
        whole.push_str(&lower(*letter));
        parts.last_mut().unwrap().push_str(&lower(*letter));
    }
    parts.retain(|part| !part.is_empty());
    if whole.len() > 128 {
        let mut cut = 0;
        for (at, letter) in whole.char_indices() {
            if at + letter.len_utf8() <= 128 {
                cut = at + letter.len_utf8();
            }
        }
        whole.truncate(cut);
        parts = vec![whole.clone()];
    }
    let groups: Vec<&str> = whole.split('_').collect();
    let digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    if groups.len() > 1
        && groups.iter().all(digits)
        && (1..=3).contains(&groups[0].len())
        && groups[1..].iter().all(|group| group.len() == 3)
    {
        whole = groups.concat();
    }
    let beside = [
        from.checked_sub(1).and_then(|at| atoms.get(at)),
        atoms.get(to),
    ];
    let plain = atoms[from..to]
        .iter()
        .enumerate()
        .all(|(index, atom)| match atom {
            Atom::Letter(_, original) => {
                original.is_ascii_digit()
                    || (index == 0 && to - from > 1 && "vV".contains(*original))
            }
            _ => false,
        });
    let ascii = atoms[from..to].iter().all(|atom| match atom {
        Atom::Letter(_, original) | Atom::Underscore(original) => original.is_ascii(),
        _ => false,
    });
    let last_digits = atoms[from..to]
        .iter()
        .rev()
        .take_while(|atom| matches!(atom, Atom::Letter(_, original) if original.is_ascii_digit()));
    let first_digit = to - last_digits.count();
    let behind_letter = first_digit < to
        && first_digit > from
        && matches!(atoms[first_digit - 1], Atom::Letter(..));
    let head = match (plain, first_digit > from) {
        (true, false) => Some(Head::Nothing),
        (true, true) => Some(Head::V),
        (false, _) if ascii && behind_letter => Some(Head::Word),
        _ => None,
    };
    let apart = beside.iter().all(|atom| *atom != Some(&Atom::Dropped));
    Some(Item::Word {
        whole,
        parts,
        number: head.filter(|_| apart).map(|head| Number {
            from: if head == Head::Word {
                first_digit
            } else {
                from
            },
            to,
            head,
        }),
        escaped: Vec::new(),
        signed: None,
        joined: None,
    })
}

/// Everything the index would hold of `text`, and what a query of that text asks for.
#[derive(Debug, Default)]
pub struct Reading {
    /// All tokens with their positions.
    pub tokens: Vec<(u32, String)>,
    /// The tokens that spell the text.
    pub spelled: Vec<(u32, String)>,
    /// The token of the whole, when the text is one identifier or dotted number.
    pub whole: Option<String>,
    /// Whether that is a name that ends in `.js`.
    pub joined: bool,
    /// Number of positions.
    pub positions: u32,
}

/// Read `text` by the rules.
pub fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    let all = atoms(text);
    let items = items(text);
    let mut at = 0u32;
    let mut wholes: Vec<(String, u32)> = Vec::new();
    let mut in_dotted = 0;
    let mut has_signs = false;
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Cjk(run) => {
                for (index, one) in run.iter().enumerate() {
                    reading.tokens.push((at, one.to_string()));
                    if let Some(next) = run.get(index + 1) {
                        reading.tokens.push((at, format!("{one}{next}")));
                        reading.spelled.push((at, format!("{one}{next}")));
                    }
                    if run.len() == 1 {
                        reading.spelled.push((at, one.to_string()));
                    }
                    at += 1;
                }
            }
            Item::Word {
                whole,
                parts,
                number,
                escaped,
                signed,
                joined,
            } => {
                let extras = escaped
                    .iter()
                    .chain(signed)
                    .chain(joined)
                    .map(|text| (at, text.clone()));
                reading.tokens.extend(extras);
                if let Some(joined) = joined {
                    wholes.push((joined.clone(), 2));
                    reading.joined |= true;
                }
                if let Some(first) = number
                    && first.head == Head::Nothing
                    && let Some((together, groups)) = in_groups(&all, first.from)
                {
                    reading.tokens.push((at, together.clone()));
                    wholes.push((together, groups));
                }
                if let Some(first) = number
                    && in_dotted == 0
                {
                    let words = dotted(&all, &items[index..], *first);
                    if words > 1 {
                        in_dotted = words;
                        let last_part = at + parts.len() as u32 - 1;
                        for (text, is_whole) in dotted_tokens(&all, *first, words) {
                            reading.tokens.push((last_part, text.clone()));
                            if is_whole {
                                wholes.push((text, words as u32));
                            }
                        }
                    }
                }
                in_dotted = in_dotted.saturating_sub(1);
                if parts.len() > 1 {
                    reading.tokens.push((at, whole.clone()));
                    wholes.push((whole.clone(), parts.len() as u32));
                }
                for (index, part) in parts.iter().enumerate() {
                    reading.tokens.push((at, part.clone()));
                    let spelled = signed.as_ref().filter(|_| index == 0).unwrap_or(part);
                    has_signs |= signed.is_some();
                    reading.spelled.push((at, spelled.clone()));
                    at += 1;
                }
            }
        }
    }
    reading.positions = at;
    reading.whole = wholes
        .into_iter()
        .find(|(_, span)| *span == at && !has_signs)
        .map(|(text, _)| text);
    if let Some(number) = &reading.whole
        && number.chars().all(|c| c.is_ascii_digit())
    {
        reading.spelled = vec![(0, number.clone())];
        reading.whole = None;
    }
    reading
}

/// All tokens of a passage.
pub fn read_pieces(pieces: &[String]) -> Vec<(u32, String)> {
    let mut tokens = Vec::new();
    let mut base = 0;
    for piece in pieces {
        let reading = read(piece);
        tokens.extend(
            reading
                .tokens
                .into_iter()
                .map(|(at, text)| (base + at, text)),
        );
        base += reading.positions + 1;
    }
    tokens
}

/// Whether a passage of this class, with these tokens and this text, matches.
pub fn holds(expr: &Expr, class: Class, tokens: &[(u32, String)], pieces: &[String]) -> bool {
    let said = |text: &str, prefix: bool| said(text, class, prefix, tokens);
    let holds = |expr: &Expr| holds(expr, class, tokens, pieces);
    match expr {
        Expr::Word(text) | Expr::Phrase(text) => said(text, false),
        Expr::Prefix(text) => said(text, true),
        Expr::Near(text) => match single(text) {
            Some(word) => tokens.iter().any(|(_, token)| is_near(&word, token)),
            None => said(text, false),
        },
        Expr::Longer(text) => {
            let asked = read(text);
            let word = single(text).or(asked.whole);
            word.is_some_and(|word| tokens.iter().any(|(_, token)| token.starts_with(&word)))
        }
        Expr::And(members) => members.iter().all(holds),
        Expr::Or(members) => members.iter().any(holds),
        Expr::Not(inner) => !holds(inner),
        // Substrings and regular expressions; it knows no other.
        _ => pieces.iter().any(|piece| in_text(expr, piece)),
    }
}

/// The token of a text that is one word of one part.
pub fn single(text: &str) -> Option<String> {
    let asked = read(text);
    match (asked.spelled.as_slice(), asked.whole) {
        ([(_, word)], None) => Some(word.clone()),
        _ => None,
    }
}

/// Whether one word is at most one edit away from another that has no wider letters.
pub fn is_near(word: &str, token: &str) -> bool {
    let widest = |text: &str| text.chars().map(char::len_utf8).max().unwrap_or(0);
    edits(word, token) <= 1 && (widest(token) < 3 || widest(word) >= 3)
}

/// Edits between two words, 2 for more; a swap of neighbours is one.
fn edits(one: &str, other: &str) -> usize {
    if one.len().abs_diff(other.len()) > 8 {
        return 2;
    }
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return 2;
    }
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let differs = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (table[i - 1][j] + 1)
                    .min(table[i][j - 1] + 1)
                    .min(table[i - 1][j - 1] + differs);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(table[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    table[a.len()][b.len()].min(2)
}

fn said(text: &str, class: Class, prefix: bool, tokens: &[(u32, String)]) -> bool {
    let mut asked = read(text);
    if prefix && asked.joined {
        asked.whole = None;
    }
    let fits = |token: &str, wanted: &str, open: bool| {
        if open {
            token.starts_with(wanted)
        } else {
            token == wanted
        }
    };
    if let Some(whole) = &asked.whole
        && tokens.iter().any(|(_, token)| fits(token, whole, prefix))
    {
        return true;
    }
    // What tools print holds an identifier as a whole, or not; a number may go on.
    if class == Class::Output
        && let Some(whole) = &asked.whole
    {
        let begins = |token: &str| token.starts_with(&format!("{whole}."));
        return whole.contains('.') && tokens.iter().any(|(_, token)| begins(token));
    }
    let Some(((first_at, _), (last_at, _))) = asked.spelled.first().zip(asked.spelled.last())
    else {
        return false;
    };
    tokens.iter().any(|(start, _)| {
        asked.spelled.iter().all(|(at, wanted)| {
            let open = prefix && at == last_at;
            tokens.iter().any(|(position, token)| {
                *position == start + at - first_at && fits(token, wanted, open)
            })
        })
    })
}
