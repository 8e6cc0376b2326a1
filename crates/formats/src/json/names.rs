//! What is a value called in JSON? By its key, and by a member beside it, where forms and manifests
//! have their names: `{"name": "DB_PASSWORD", "value": "…"}`.

use std::ops::Range;

use super::lenient::decode;
use super::walk::{Token, Tokens};

/// Members that hold what somebody called something else.
const VALUES: [&str; 2] = ["value", "text"];

/// Members that tell what that is called: of a variable, of a header, of a field on a page.
const NAMES: [&str; 6] = ["name", "key", "element", "field", "label", SELECTOR];

/// The one of them that leads to an element of a page.
const SELECTOR: &str = "selector";

/// So many of them are looked at in one object.
const MOST: usize = 4;

/// No name is longer.
const LONGEST: usize = 128;

/// What a field on a page is called behind what it is for.
const FIELDS: [&str; 5] = ["textbox", "field", "input", "box", "edit"];

/// Behind such a word it is said where the field is.
const PLACES: [&str; 7] = ["for", "of", "in", "on", "at", "to", "with"];

/// What may stand before what a field is called.
const ARTICLES: [&str; 4] = ["the", "a", "an", "your"];

/// Where a name stands, and whether it leads to an element.
type Name = (Range<usize>, bool);

/// The names in each object of a JSON text: by how many brackets open before its own.
pub(super) struct Names(Vec<Vec<Name>>);

impl Names {
    pub(super) fn of(json: &[u8]) -> Names {
        let (mut all, mut open, mut named_by) = (Vec::new(), Vec::new(), None);
        for token in Tokens::of(json) {
            let names_next = match &token {
                Token::Key(key) => Some(inner(json, key)).filter(|key| is_one(&NAMES, key)),
                _ => None,
            };
            match token {
                Token::Open { .. } => {
                    open.push(all.len());
                    all.push(Vec::new());
                }
                Token::Close => {
                    open.pop();
                }
                Token::Text(text) if text.len() <= LONGEST => {
                    let of = open.last().and_then(|at: &usize| all.get_mut(*at));
                    let of = of.filter(|names: &&mut Vec<_>| names.len() < MOST);
                    if let Some((names, key)) = of.zip(named_by) {
                        names.push((text.clone(), is_one(&[SELECTOR], key)));
                    }
                }
                _ => {}
            }
            named_by = names_next;
        }
        Names(all)
    }

    /// What the value under that key is called by others of its object.
    pub(super) fn beside(&self, json: &[u8], object: Option<usize>, key: &str) -> Vec<String> {
        let names = object.filter(|_| is_one(&VALUES, key.as_bytes()));
        let names = names.and_then(|object| self.0.get(object));
        let names = names.into_iter().flatten();
        let names = names.flat_map(|(name, is_selector)| {
            let name = decode(&json[name.clone()]);
            match is_selector {
                true => of_element(&name),
                false => vec![plain(&name)],
            }
        });
        names.filter(|name| !name.is_empty()).collect()
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

/// The name without what people and pages say around it: `Password textbox`, `Password of ada`,
/// `Textbox for the password`.
fn plain(name: &str) -> String {
    let is_between = |sign: char| !(sign.is_ascii_alphanumeric() || "_-.".contains(sign));
    // What stands in brackets is said of it.
    let called = name.split('(').find(|part| !part.trim().is_empty());
    let all = called.unwrap_or_default().split(is_between);
    let all: Vec<&str> = all.filter(|word| !word.is_empty()).collect();
    let is_field = |word: &&str| is_one(&FIELDS, word.as_bytes());
    let is_place = |word: &&str| is_one(&PLACES, word.as_bytes());
    let mut words = &all[..];
    // A field that is called by where it is.
    let fields = words.iter().take_while(|word| is_field(word)).count();
    if fields > 0 && words.get(fields).is_some_and(is_place) {
        words = &words[fields + 1..];
        let articles = words
            .iter()
            .take_while(|word| is_one(&ARTICLES, word.as_bytes()));
        words = &words[articles.count()..];
    }
    let end = words.iter().skip(1).position(is_place);
    words = &words[..end.map_or(words.len(), |end| end + 1)];
    while let [before @ .., last] = words
        && !before.is_empty()
        && is_field(last)
    {
        words = before;
    }
    words.join("_")
}

/// What an element of a page may be called by a selector: each word of the last part that says more
/// than that it is a field, as `password-field` in `form#login input#password-field.form-control`.
fn of_element(selector: &str) -> Vec<String> {
    let is_between = |sign: char| !(sign.is_ascii_alphanumeric() || "_-".contains(sign));
    let words = |part: &str| -> Vec<String> {
        let words = part.rsplit(is_between).filter(|word| !word.is_empty());
        let words = words.filter(|word| !is_one(&FIELDS, word.as_bytes()));
        let words = words.map(without_field).take(MOST);
        words.map(str::to_owned).collect()
    };
    let mut parts = selector.rsplit([' ', '>', '+', '~']).map(words);
    parts.find(|words| !words.is_empty()).unwrap_or_default()
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
