//! Which words have signs, which names end in `.js`, and which numbers are spelled in several
//! words?

use super::{Atom, Head, Item, Number, word};

fn is_ascii_word(atom: &Atom) -> bool {
    matches!(atom, Atom::Letter(_, original) if original.is_ascii())
}

/// Whether the word of these atoms may have signs.
fn may_have_signs(atoms: &[Atom], from: usize, to: usize) -> bool {
    let one_part = match word(atoms, from, to) {
        Some(Item::Word { parts, .. }) => parts.len() == 1,
        _ => false,
    };
    if !one_part {
        return false;
    }
    let begins = matches!(atoms[from], Atom::Letter(_, 'a'..='z' | 'A'..='Z'));
    let before = from.checked_sub(1).map(|at| atoms[at]);
    begins && before != Some(Atom::Dropped) && atoms[from..to].iter().all(is_ascii_word)
}

/// The word of these atoms and the `js` of a `.js` behind it as one, if that is behind it.
pub(super) fn with_js(atoms: &[Atom], from: usize, to: usize) -> Option<String> {
    let is_letter = |at: usize, letter: char| match atoms.get(at) {
        Some(Atom::Letter(_, original)) => original.eq_ignore_ascii_case(&letter),
        _ => false,
    };
    let is_js = atoms.get(to) == Some(&Atom::Separator('.'))
        && is_letter(to + 1, 'j')
        && is_letter(to + 2, 's');
    let ends = matches!(
        atoms.get(to + 3),
        None | Some(Atom::Cjk(_) | Atom::Separator(_))
    );
    if !is_js || !ends || to + 2 - from > 128 || !may_have_signs(atoms, from, to) {
        return None;
    }
    let letters = atoms[from..to].iter().filter_map(|atom| match atom {
        Atom::Letter(letter, _) => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    Some(letters.chain(['j', 's']).collect())
}

/// The word of these atoms with its signs, if it has some.
pub(super) fn with_signs(atoms: &[Atom], from: usize, to: usize) -> Option<String> {
    if !may_have_signs(atoms, from, to) {
        return None;
    }
    let at = |at: usize| atoms.get(at).copied();
    let back = |back: usize| from.checked_sub(back).and_then(at);
    let ends_words =
        |atom: Option<Atom>| matches!(atom, None | Some(Atom::Cjk(_) | Atom::Separator(_)));
    let is = |atom: Option<Atom>, sign: char| atom == Some(Atom::Separator(sign));
    let escape = matches!(back(2), Some(Atom::Letter(_, 'n' | 'r' | 't')))
        && is(back(3), '\\')
        && !is(back(4), '\\');
    let dot = is(back(1), '.')
        && (escape || ends_words(back(2)) && !is(back(2), '.'))
        && !is(at(to), '(');
    let digit = matches!(at(to + 2), Some(Atom::Letter(_, original)) if original.is_ascii_digit());
    let plus = is(at(to), '+')
        && is(at(to + 1), '+')
        && (digit || ends_words(at(to + 2)) && !is(at(to + 2), '+'));
    let sharp = is(at(to), '#') && ends_words(at(to + 1)) && !is(at(to + 1), '#');
    let letters = atoms[from..to].iter().filter_map(|atom| match atom {
        Atom::Letter(letter, _) => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    let mut text: String = dot.then_some('.').into_iter().chain(letters).collect();
    text.push_str(match (plus, sharp) {
        (true, _) => "++",
        (_, true) => "#",
        _ => "",
    });
    ((dot || plus || sharp) && text.len() <= 128).then_some(text)
}

/// The number in groups that begins with the word of these items, and of how many groups it is.
pub(super) fn in_groups(atoms: &[Atom], from: usize) -> Option<(String, u32)> {
    let digits = |from: usize| {
        let rest = &atoms[from.min(atoms.len())..];
        let digit = |atom: &Atom| match atom {
            Atom::Letter(_, original) if original.is_ascii_digit() => Some(*original),
            _ => None,
        };
        rest.iter().map_while(digit).collect::<String>()
    };
    let is_sign = |at: usize, signs: &str| match atoms.get(at) {
        Some(Atom::Separator(sign)) => signs.contains(*sign),
        _ => false,
    };
    if from > 1 && is_sign(from - 1, ".,'") && !digits(from - 2).is_empty() {
        return None;
    }
    if from > 0 && !matches!(atoms[from - 1], Atom::Separator(_) | Atom::Cjk(_)) {
        return None;
    }
    let mut groups = vec![digits(from)];
    let mut to = from + groups[0].len();
    let sign = atoms.get(to).copied().filter(|_| is_sign(to, ",'"))?;
    while atoms.get(to) == Some(&sign) && !digits(to + 1).is_empty() {
        groups.push(digits(to + 1));
        to += 1 + groups.last().unwrap().len();
    }
    let goes_on = is_sign(to, ",'") && !digits(to + 1).is_empty()
        || !matches!(
            atoms.get(to),
            None | Some(Atom::Separator(_) | Atom::Cjk(_))
        );
    let shape = (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|g| g.len() == 3);
    let together = groups.concat();
    (groups.len() > 1 && shape && !goes_on && together.len() <= 128)
        .then_some((together, groups.len() as u32))
}

/// How many words the dotted number has that begins with the first of these items.
pub(super) fn dotted(atoms: &[Atom], items: &[Item], first: Number) -> usize {
    let mut last = first;
    let mut words = 1;
    for next in &items[1..] {
        let Item::Word {
            number: Some(number),
            ..
        } = next
        else {
            break;
        };
        let joined = number.from == last.to + 1
            && atoms[last.to] == Atom::Separator('.')
            && number.head == Head::Nothing;
        if !joined {
            break;
        }
        words += 1;
        last = *number;
    }
    words
}

/// The tokens of a dotted number besides its words, and which of them is what a query asks for.
pub(super) fn dotted_tokens(atoms: &[Atom], first: Number, words: usize) -> Vec<(String, bool)> {
    let text: String = atoms[first.from..]
        .iter()
        .map_while(|atom| match atom {
            Atom::Letter(_, original) => Some(original.to_ascii_lowercase()),
            Atom::Separator('.') => Some('.'),
            _ => None,
        })
        .collect();
    let dotted = text.split('.').take(words).collect::<Vec<_>>().join(".");
    let plain = dotted.strip_prefix('v').unwrap_or(&dotted).to_owned();
    let digits: String = plain.chars().take_while(|c| *c != '.').take(128).collect();
    let has_whole = words > 2 && dotted.len() <= 128;
    let mut tokens = Vec::new();
    if has_whole {
        tokens.push((dotted, first.head != Head::Word));
    }
    if has_whole && first.head == Head::V {
        tokens.push((plain, false));
    }
    if first.head != Head::Nothing {
        tokens.push((digits, false));
    }
    tokens
}
