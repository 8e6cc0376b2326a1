//! Can this line, still undecoded JSON, match at all? Never "no" for one that does.
//!
//! A token of ASCII comes from characters that are the same up to case, or from characters that
//! fold into ASCII (`é`, `Ａ`), and may have characters in between that vanish (combining marks,
//! soft hyphens); only of a number in groups signs are left out between the groups. In JSON text a
//! letter, digit, `_` or sign of a word is written as itself or as `\u` and four digits; all
//! shorter escapes are of other characters. So a line without such a character, written as itself
//! or as `\u` and digits, holds every ASCII token of its text as it is, up to case. What a terminal
//! does not show ([`seen`](crate::format::terminal::seen)) begins with ESC and vanishes as well: a
//! line with an ESC may hold anything. Keys are no text: what stands at the end of one is not
//! counted.
//!
//! A part of the text itself, and what every match of a regular expression holds, is not folded:
//! only `K` (the Kelvin sign) and `ſ` are cases of ASCII letters, and only `\u` and four digits
//! writes a character differently that has no escape of its own.
//!
//! This supposes that a passage's text is made of the record's strings, and of its numbers as
//! they are written; and of two words of what a tool printed that stand side by side in one piece,
//! that they do so in one string, or that a string ends behind the first.

use std::cell::OnceCell;
use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::literal::{Literal, needed as needed_literals};
use super::pattern::Pattern;
use super::scanned::RequiredLiteral;
use super::tokenizer::{MAX_TOKEN, hides_ascii};
use crate::format::terminal::ESC;
use crate::model::Expr;

/// An expression as far as bytes can tell.
#[derive(Debug)]
pub struct Prefilter {
    /// `None`: every line may match.
    root: Option<Node>,
    escape: Finder<'static>,
}

#[derive(Debug)]
enum Node {
    /// Part of a token.
    Literal(Literal),
    /// Part of the text, whatever its case.
    Text(Literal),
    /// Any character that is not ASCII: no other becomes one in a token.
    Wide,
    /// Two words, the second right behind the first.
    Pair(Pair),
    All(Vec<Node>),
    Any(Vec<Node>),
}

/// What bytes must hold for `expr` to match; `None` when they need not hold anything.
fn node(expr: &Expr) -> Option<Node> {
    match expr {
        Expr::Word(text) | Expr::Phrase(text) => pattern(&Pattern::new(text, false)),
        Expr::Prefix(text) | Expr::Longer(text) => pattern(&Pattern::new(text, true)),
        Expr::Near(text) => {
            let pattern_of = Pattern::new(text, false);
            match pattern_of.only_word() {
                Some(word) => near(word),
                None => pattern(&pattern_of),
            }
        }
        Expr::Substring(_) | Expr::Regex(_) => RequiredLiteral::of(expr).map(needed),
        Expr::And(members) => all(members.iter().filter_map(node).collect()),
        Expr::Or(members) => members
            .iter()
            .map(node)
            .collect::<Option<Vec<_>>>()
            .map(any),
        Expr::Not(_) => None,
    }
}

fn pattern(pattern: &Pattern) -> Option<Node> {
    if pattern.parts.is_empty() {
        // Matches nothing.
        return Some(Node::Any(Vec::new()));
    }
    let literals = pattern.literals().into_iter();
    let literals = literals.map(|literal| Node::Literal(Literal::new(literal.as_bytes())));
    let is_wide = pattern.parts.iter().any(|(_, text)| !text.is_ascii());
    let pairs = Pair::all(pattern).into_iter().map(Node::Pair);
    let wide = is_wide.then_some(Node::Wide);
    all(literals.chain(wide).chain(pairs).collect())
}

/// An edit changes one letter, or two next to each other: of three parts of a word one is left.
/// Where it may make a number, that may be written in groups.
fn near(word: &str) -> Option<Node> {
    let third = word.len() / 3;
    let letters = word.bytes().filter(|byte| !byte.is_ascii_digit()).count();
    if third == 0 || letters < 2 || !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let parts = [0..third, third..2 * third, 2 * third..word.len()];
    let literals = parts.map(|part| Node::Literal(Literal::new(&word.as_bytes()[part])));
    Some(Node::Any(literals.into()))
}

fn needed(need: RequiredLiteral) -> Node {
    match need {
        RequiredLiteral::Run(text) => Node::Text(Literal::new(&text)),
        RequiredLiteral::All(needs) => Node::All(needs.into_iter().map(needed).collect()),
        RequiredLiteral::Any(needs) => Node::Any(needs.into_iter().map(needed).collect()),
    }
}

/// Alternatives that are compared with one another, at most: of more, few would be left out.
const MOST_COMPARED: usize = 100;

/// Any of these. A text that holds another one need not be looked for: of a word with its endings
/// that leaves the word.
fn any(nodes: Vec<Node>) -> Node {
    if nodes.len() > MOST_COMPARED {
        return Node::Any(nodes);
    }
    let mut kept: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes.into_iter().flat_map(members) {
        if !kept.iter().any(|known| is_implied(known, &node)) {
            kept.retain(|known| !is_implied(&node, known));
            kept.push(node);
        }
    }
    Node::Any(kept)
}

/// The alternatives of a node.
fn members(node: Node) -> Vec<Node> {
    match node {
        Node::Any(nodes) => nodes,
        node => vec![node],
    }
}

/// Whether what holds `longer` holds `shorter`.
fn is_implied(shorter: &Node, longer: &Node) -> bool {
    match (shorter, longer) {
        (Node::Literal(shorter), Node::Literal(longer)) => shorter.is_within(longer),
        _ => false,
    }
}

fn all(mut nodes: Vec<Node>) -> Option<Node> {
    match nodes.len() {
        0 => None,
        1 => nodes.pop(),
        _ => Some(Node::All(nodes)),
    }
}

impl Prefilter {
    /// The prefilter of `expr`; `None` lets everything pass.
    pub fn new(expr: Option<&Expr>) -> Self {
        Self {
            root: expr.and_then(node),
            escape: Finder::new(b"\\u"),
        }
    }

    /// Whether nothing can be ruled out by its bytes.
    pub fn is_open(&self) -> bool {
        self.root.is_none()
    }

    /// Whether a passage of these records may match. `false` is certain. `json`: they are that;
    /// otherwise plain text, which has no keys.
    pub fn may_match(&self, records: &[u8], json: bool) -> bool {
        // Of what people said parts are left out, so words may stand side by side that do not in
        // the record.
        self.may_hold(records, json, |_| true)
    }

    /// Whether what tools printed in this record, which is JSON, may match. `false` is certain.
    pub fn may_print(&self, record: &[u8]) -> bool {
        self.may_hold(record, true, |pair| pair.may_stand_in(record, br#"\""#))
    }

    fn may_hold(&self, records: &[u8], json: bool, has_pair: impl Fn(&Pair) -> bool) -> bool {
        let Some(root) = &self.root else {
            return true;
        };
        let (folds, writes) = (OnceCell::new(), OnceCell::new());
        let has_esc = || memchr::memchr(ESC, records).is_some();
        let may_fold = || {
            *folds.get_or_init(|| {
                self.has_escape(records, is_part_of_token) || has_hiding(records) || has_esc()
            })
        };
        let is_there = |literal: &Literal| {
            let mut places = literal.places(records);
            places.any(|at| !json || !ends_key(records, at + literal.len()))
        };
        holds(root, &|node| match node {
            Node::Text(literal) => {
                is_there(literal)
                    || *writes.get_or_init(|| self.has_escape(records, is_plain_case) || has_esc())
                    || holds_case(literal, records)
            }
            Node::Literal(literal) => is_there(literal) || may_fold(),
            Node::Pair(pair) => has_pair(pair) || may_fold(),
            _ => !records.is_ascii() || self.escape.find(records).is_some(),
        })
    }

    /// Whether a passage of these pieces, decoded text, may match. `false` is certain.
    pub fn may_say<T: AsRef<str>>(&self, pieces: &[T]) -> bool {
        let Some(root) = &self.root else {
            return true;
        };
        let bytes = || pieces.iter().map(|piece| piece.as_ref().as_bytes());
        let is_there = |literal: &Literal| bytes().any(|bytes| literal.find(bytes, 0).is_some());
        holds(root, &|node| match node {
            Node::Text(literal) => {
                is_there(literal) || bytes().any(|bytes| holds_case(literal, bytes))
            }
            Node::Literal(literal) => is_there(literal) || bytes().any(has_hiding),
            Node::Pair(pair) => {
                bytes().any(|bytes| pair.may_stand_in(bytes, br"\")) || bytes().any(has_hiding)
            }
            _ => bytes().any(|bytes| !bytes.is_ascii()),
        })
    }

    /// Whether a character that counts is written by its number. Takes `\\u`, an escaped backslash
    /// before a letter, for one as well: that letter is found as it is.
    fn has_escape(&self, records: &[u8], counts: fn(u32) -> bool) -> bool {
        let unit = |at: usize| {
            let digits = std::str::from_utf8(records.get(at..at + 4)?).ok()?;
            u32::from_str_radix(digits, 16).ok()
        };
        self.escape.find_iter(records).any(|at| {
            let Some(first) = unit(at + 2) else {
                return true;
            };
            counts(match first {
                0xD800..0xDC00 if records[at + 6..].starts_with(b"\\u") => {
                    let second = unit(at + 8).unwrap_or_default();
                    0x10000 + ((first - 0xD800) << 10) + (second & 0x3FF)
                }
                _ => first,
            })
        })
    }
}

/// Two words at neighbouring positions, as far as their ASCII tells.
#[derive(Debug)]
struct Pair {
    first: Literal,
    /// What the second begins with.
    second: Vec<u8>,
}

impl Pair {
    /// Those of a pattern whose text is always as it was typed, up to case: no numbers, which may
    /// be written in groups or behind a `v`, and no word so long that it may have been cut.
    fn all(pattern: &Pattern) -> Vec<Pair> {
        let last = pattern.parts.len().saturating_sub(1);
        let pairs = pattern.parts.windows(2).enumerate();
        let pair = |(at, pair): (usize, &[(u32, String)])| {
            let [(here, first), (next, second)] = pair else {
                return None;
            };
            let is_open = pattern.prefix && at + 1 == last;
            let begins = *needed_literals(second, is_open).first()?;
            let is_plain = first.len() < MAX_TOKEN
                && needed_literals(first, false) == [first.as_str()]
                && first.bytes().any(|byte| byte.is_ascii_alphabetic())
                && begins.starts_with(|letter: char| letter.is_ascii_alphabetic());
            (is_plain && next - here == 1).then(|| Pair {
                first: Literal::new(first.as_bytes()),
                second: begins.as_bytes().to_vec(),
            })
        };
        pairs.filter_map(pair).collect()
    }

    /// Whether a piece of text may hold it. `false` is certain where nothing in it folds into
    /// ASCII: then only signs stand between the words, or the second within the first (`fooBar` is
    /// foobar, and the next word is bar). Behind one of these `ends` it may go on anyhow: behind a
    /// backslash (of `\nword` both `nword` and `word` are words), and in JSON behind a quote, since
    /// one text may be made of several strings.
    fn may_stand_in(&self, text: &[u8], ends: &[u8]) -> bool {
        let is_sign =
            |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !ends.contains(byte);
        let mut places = self.first.places(text);
        places.any(|at| {
            let behind = &text[at + self.first.len()..];
            let signs = behind.iter().take_while(|byte| is_sign(byte)).count();
            let is_known = behind.get(signs).is_none_or(u8::is_ascii_alphanumeric);
            let end = at + self.first.len() + signs + self.second.len();
            let within = &text[at + 1..end.min(text.len())];
            let mut windows = within.windows(self.second.len());
            !is_known || windows.any(|window| window.eq_ignore_ascii_case(&self.second))
        })
    }
}

/// `has` is asked for what is neither [`Node::All`] nor [`Node::Any`].
fn holds(node: &Node, has: &dyn Fn(&Node) -> bool) -> bool {
    match node {
        Node::All(nodes) => nodes.iter().all(|node| holds(node, has)),
        Node::Any(nodes) => nodes.iter().any(|node| holds(node, has)),
        leaf => has(leaf),
    }
}

/// Whether a character can be part of a token of ASCII, or vanish within one.
fn is_part_of_token(code: u32) -> bool {
    match u8::try_from(code) {
        Ok(ESC) => true,
        Ok(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || b"_.+#".contains(&byte),
        _ => hides(code),
    }
}

/// Whether a character is ASCII that needs no escape, or a case of such a one, or can vanish with
/// what follows.
fn is_plain_case(code: u32) -> bool {
    matches!(code, 0x20..0x7F | 0x17F | 0x212A) || code == u32::from(ESC)
}

/// Whether bytes hold a character that is not ASCII, but a case of a letter of this text.
fn holds_case(literal: &Literal, bytes: &[u8]) -> bool {
    let holds = |case: &str| memchr::memmem::find(bytes, case.as_bytes()).is_some();
    literal.holds(b'k') && holds("\u{212A}") || literal.holds(b's') && holds("\u{17F}")
}

/// Whether the word that goes on at `at` is the last of a key: only a key has `":` behind it, with
/// the quote right behind a letter.
fn ends_key(record: &[u8], at: usize) -> bool {
    let rest = &record[at..];
    let word = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .unwrap_or(rest.len());
    rest[word..].starts_with(b"\":")
}

fn has_hiding(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    // Jump over ASCII: most lines are nearly all of it.
    while !rest.is_ascii()
        && let Some(at) = rest.iter().position(|byte| !byte.is_ascii())
    {
        let end = rest[at..]
            .iter()
            .position(u8::is_ascii)
            .map_or(rest.len(), |length| at + length);
        for chunk in rest[at..end].utf8_chunks() {
            // Invalid bytes are decoded as U+FFFD, a separator.
            if chunk.valid().chars().any(|one| hides(u32::from(one))) {
                return true;
            }
        }
        rest = &rest[end..];
    }
    false
}

/// Whether a character can put ASCII into a token, or vanish within one. The tokenizer itself is
/// asked, so that the two cannot differ, once for each 64 characters that lines have. Characters
/// from U+40000 on count as hiding; some of them are marks.
fn hides(code: u32) -> bool {
    static KNOWN: [OnceLock<u64>; 0x40000 / 64] = [const { OnceLock::new() }; 0x40000 / 64];
    let Some(known) = KNOWN.get(code as usize / 64) else {
        return true;
    };
    let hiding = known.get_or_init(|| {
        let codes = (code & !63)..(code | 63) + 1;
        codes.rev().fold(0, |hiding, code| {
            // Surrogates are no characters.
            let hides = char::from_u32(code).is_some_and(|one| !one.is_ascii() && hides_ascii(one));
            hiding << 1 | u64::from(hides)
        })
    });
    hiding >> (code % 64) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_phrase_stand_side_by_side() {
        let phrase = Expr::Prefix("alraloAu".to_owned());
        let filter = Prefilter::new(Some(&phrase));
        for text in [
            "alraloAuto",
            "the ALRALO, au",
            "alralo_aux",
            "alraloaux",
            "alralo\\nAu",
            "alralo 字 au",
            "alralo alralo\tau",
            "al\u{AD}ralo x au",
        ] {
            assert!(filter.may_say(&[text]), "{text}");
        }
        for text in [
            "alralo a",
            "alralo or au",
            "au alralo",
            "alralo",
            "alra lo au",
        ] {
            assert!(!filter.may_say(&[text]), "{text}");
        }
        assert!(!filter.may_say(&["alralo", "au"]));
        // One text may be made of several strings of a record, or of parts of one.
        assert!(filter.may_print(br#"{"a":"alralo","b":"x","c":"au"}"#));
        assert!(filter.may_print(br#"["alralo\n au","b"]"#));
        assert!(!filter.may_print(br#"["alralo or au"]"#));
        assert!(filter.may_match(br#"["alralo or au"]"#, true));
        for (phrase, text) in [
            ("\"foobar bar\"", "fooBar"),
            ("\"alralo 1\"", "alralo v1.2"),
            ("\"alralo 1000\"", "alralo 1,000"),
            ("\"c++ node.js\"", "C++: Node.js"),
            ("\"node js\"", "nodejs js"),
        ] {
            let phrase = Expr::Phrase(phrase.trim_matches('"').to_owned());
            assert!(Prefilter::new(Some(&phrase)).may_say(&[text]), "{text}");
        }
    }

    #[test]
    fn a_word_with_its_endings_is_looked_for_once() {
        let word = |text: &str| Expr::Word(text.to_owned());
        let endings = Expr::Or(["linkers", "linker", "linking"].map(word).to_vec());
        let nodes = |expr: &Expr| match Prefilter::new(Some(expr)).root {
            Some(Node::Any(nodes)) => nodes.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(nodes(&endings), 2);
        let longer = Expr::Longer("link".to_owned());
        assert_eq!(nodes(&Expr::Or(vec![endings, longer])), 1);
    }
}
