//! What does a word ask for that is not in quotes?

use super::searchable;
use crate::model::Expr;

/// What a word asks for; `None`: nothing that can be searched for.
pub(super) fn word(text: &str) -> Option<Expr> {
    let middle = text
        .strip_prefix('*')
        .and_then(|rest| rest.strip_suffix('*'));
    if let Some(middle) = middle.filter(|middle| !middle.is_empty() && !middle.contains('*')) {
        return Some(Expr::Substring(middle.to_owned()));
    }
    if !searchable(text) {
        return None;
    }
    let goes_on = |stem: &&str| stem.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    if let Some(stem) = text.strip_suffix('*').filter(goes_on) {
        return Some(Expr::Prefix(stem.to_owned()));
    }
    if let Some(stem) = text.strip_suffix('~').filter(goes_on) {
        return Some(Expr::Near(stem.to_owned()));
    }
    Some(if is_commit(text) {
        commit(text)
    } else {
        Expr::Word(text.to_owned())
    })
}

/// Letters of a commit's hash that git shows at least, and that people write at most in short.
const COMMIT: std::ops::RangeInclusive<usize> = 7..=12;

/// Whether a word looks like the hash of a commit, or the beginning of one.
fn is_commit(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    (*COMMIT.start()..=40).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// Finds a commit by as much of its hash as was typed, and by longer and shorter forms of it.
fn commit(text: &str) -> Expr {
    let mut forms = vec![Expr::Prefix(text.to_owned())];
    let shorter = COMMIT.filter(|length| *length < text.len());
    forms.extend(shorter.map(|length| Expr::Word(text[..length].to_owned())));
    match forms.len() {
        1 => forms.remove(0),
        _ => Expr::Or(forms),
    }
}
