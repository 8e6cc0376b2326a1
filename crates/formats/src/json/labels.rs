//! What does a form or a manifest call the value beside, where its key does not tell?
//! `{"name": "DB_PASSWORD", "value": "…"}`.

use std::ops::Range;

use super::lenient::decode;
use super::walk::{Token, Tokens};

/// Members that hold what somebody called something else.
const VALUES: [&str; 2] = ["value", "text"];

/// Members that tell what that is called: of a variable, of a header, of a field on a page.
const LABELS: [&str; 6] = ["name", "key", "element", "field", "label", "selector"];

/// So many of them are looked at in one object.
const MOST: usize = 4;

/// No label is longer.
const LONGEST: usize = 128;

/// What a field on a page is called behind what it is for.
const FIELDS: [&str; 5] = ["textbox", "field", "input", "box", "edit"];

/// Behind such a word it is said where the field is.
const PLACES: [&str; 7] = ["for", "of", "in", "on", "at", "to", "with"];

/// Where the labels stand in each object of a JSON text: by how many brackets open before its own.
pub(super) struct Labels(Vec<Vec<Range<usize>>>);

impl Labels {
    pub(super) fn of(json: &[u8]) -> Labels {
        let (mut all, mut open, mut is_label) = (Vec::new(), Vec::new(), false);
        for token in Tokens::of(json) {
            let label_next = matches!(&token, Token::Key(key) if is_one(&LABELS, inner(json, key)));
            match token {
                Token::Open { .. } => {
                    open.push(all.len());
                    all.push(Vec::new());
                }
                Token::Close => {
                    open.pop();
                }
                Token::Text(text) if is_label && text.len() <= LONGEST => {
                    let of = open.last().and_then(|at: &usize| all.get_mut(*at));
                    let of = of.filter(|labels: &&mut Vec<_>| labels.len() < MOST);
                    of.into_iter().for_each(|labels| labels.push(text.clone()));
                }
                _ => {}
            }
            is_label = label_next;
        }
        Labels(all)
    }

    /// What the value under that key is called by others of its object.
    pub(super) fn beside(&self, json: &[u8], object: Option<usize>, key: &str) -> Vec<String> {
        let labels = object.filter(|_| is_one(&VALUES, key.as_bytes()));
        let labels = labels.and_then(|object| self.0.get(object));
        let labels = labels.into_iter().flatten();
        let labels = labels.flat_map(|label| plain(&decode(&json[label.clone()])));
        labels.filter(|label| !label.is_empty()).collect()
    }
}

fn is_one(words: &[&str], key: &[u8]) -> bool {
    words
        .iter()
        .any(|word| key.eq_ignore_ascii_case(word.as_bytes()))
}

/// A string without its quotes.
fn inner<'a>(json: &'a [u8], string: &Range<usize>) -> &'a [u8] {
    let inner = string.start + 1..string.end.saturating_sub(1);
    json.get(inner).unwrap_or_default()
}

/// The label without what people and pages say around it: `Password textbox`, `#password`,
/// `input[name="password"]`, `Password of ada`; and each of its words, of which any may be it:
/// `input#password-field.form-control`.
fn plain(label: &str) -> Vec<String> {
    let is_between = |sign: char| !(sign.is_ascii_alphanumeric() || "_-.".contains(sign));
    let words = label.split(is_between).filter(|word| !word.is_empty());
    let is_place = |word: &str| is_one(&PLACES, word.as_bytes());
    let mut words: Vec<&str> = without_place(words.collect(), is_place)
        .into_iter()
        .enumerate()
        .map_while(|(at, word)| (at == 0 || !is_place(word)).then_some(word))
        .collect();
    while words.len() > 1 && words.last().is_some_and(|w| is_one(&FIELDS, w.as_bytes())) {
        words.pop();
    }
    let joined = words.join("_");
    let parts = words.iter().flat_map(|word| word.split('.'));
    let parts = parts.map(without_field).filter(|part| *part != joined);
    let parts: Vec<String> = parts.map(str::to_owned).collect();
    // The last part of a long selector tells as well.
    let last = parts
        .iter()
        .skip(MOST.max(parts.len().saturating_sub(MOST)));
    let last = last.cloned().collect::<Vec<_>>();
    [joined]
        .into_iter()
        .chain(parts.into_iter().take(MOST))
        .chain(last)
        .collect()
}

/// A field may be called by where it is alone: `Textbox for the password`.
fn without_place(words: Vec<&str>, is_place: impl Fn(&str) -> bool) -> Vec<&str> {
    match &*words {
        [field, place, "the" | "a" | "your", rest @ ..] | [field, place, rest @ ..]
            if is_one(&FIELDS, field.as_bytes()) && is_place(place) && !rest.is_empty() =>
        {
            rest.to_vec()
        }
        _ => words,
    }
}

/// A word without the field that it ends with: `password-input`, `passwordField`.
fn without_field(word: &str) -> &str {
    let without = |field: &&str| {
        let head = word.get(..word.len().checked_sub(field.len())?)?;
        let tail = &word[head.len()..];
        let is_apart = head.ends_with(['-', '_']) || tail.starts_with(|c: char| c.is_uppercase());
        (tail.eq_ignore_ascii_case(field) && is_apart).then(|| head.trim_end_matches(['-', '_']))
    };
    FIELDS.iter().find_map(without).unwrap_or(word)
}

/// Members that hold what a tool was given, which some agents write as a string.
const ARGUMENTS: [&str; 3] = ["arguments", "args", "input"];

/// Whether it is JSON that a tool was given.
pub(super) fn are_arguments(key: &str, text: &str) -> bool {
    let text = text.trim_matches([' ', '\n', '\r', '\t']);
    ARGUMENTS.contains(&key)
        && text.starts_with(['{', '['])
        && super::whole(text.as_bytes()).is_some_and(|value| value == (0..text.len()))
}
