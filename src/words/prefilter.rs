//! Can this line, still undecoded JSON, match at all? Never "no" for one that does.
//!
//! A token of ASCII letters comes from characters that are those letters up to case, or from
//! characters that fold into ASCII (`é`, `Ａ`), and may have characters in between that vanish
//! (combining marks, soft hyphens). In JSON text a letter, digit or `_` is written as itself or
//! as `\u` and four digits; all shorter escapes are of other characters. So a line with neither
//! `\u` nor such a character holds every ASCII token of its text as it is, up to case.
//!
//! This supposes that a passage's text is made of the record's strings, and of its numbers as
//! they are written.

use std::cell::RefCell;
use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::pattern::Pattern;
use super::tokenizer::hides_ascii;
use crate::model::Expr;

/// An expression as far as raw bytes can tell.
#[derive(Debug)]
pub struct Prefilter {
    /// `None`: every line may match.
    root: Option<Node>,
}

#[derive(Debug)]
enum Node {
    Literal(Box<Finder<'static>>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

/// The prefilter of `expr`.
pub fn prefilter(expr: &Expr) -> Prefilter {
    Prefilter { root: node(expr) }
}

/// What bytes must hold for `expr` to match; `None` when they need not hold anything.
fn node(expr: &Expr) -> Option<Node> {
    match expr {
        Expr::Word(text) | Expr::Phrase(text) => pattern(&Pattern::new(text, false)),
        Expr::Prefix(text) => pattern(&Pattern::new(text, true)),
        Expr::And(members) => all(members.iter().filter_map(node).collect()),
        Expr::Or(members) => members
            .iter()
            .map(node)
            .collect::<Option<Vec<_>>>()
            .map(Node::Any),
        Expr::Not(_) => None,
    }
}

fn pattern(pattern: &Pattern) -> Option<Node> {
    if pattern.parts.is_empty() {
        // Matches nothing.
        return Some(Node::Any(Vec::new()));
    }
    let finder = |literal: &[u8]| Node::Literal(Box::new(Finder::new(literal).into_owned()));
    all(pattern.literals().into_iter().map(finder).collect())
}

fn all(mut nodes: Vec<Node>) -> Option<Node> {
    match nodes.len() {
        0 => None,
        1 => nodes.pop(),
        _ => Some(Node::All(nodes)),
    }
}

impl Prefilter {
    /// Whether a passage of this record may match. `false` is certain.
    pub fn may_match(&self, raw: &[u8]) -> bool {
        thread_local! {
            static LOWERED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let Some(root) = &self.root else {
            return true;
        };
        let holds = LOWERED.with_borrow_mut(|lowered| {
            lowered.clear();
            lowered.extend_from_slice(raw);
            lowered.make_ascii_lowercase();
            let holds = holds(root, lowered);
            // One huge line must not keep its memory for good.
            if lowered.capacity() > 4 << 20 {
                *lowered = Vec::new();
            }
            holds
        });
        holds || has_unicode_escape(raw) || has_hidden_ascii(raw)
    }
}

fn holds(node: &Node, lowered: &[u8]) -> bool {
    match node {
        Node::Literal(finder) => finder.find(lowered).is_some(),
        Node::All(nodes) => nodes.iter().all(|node| holds(node, lowered)),
        Node::Any(nodes) => nodes.iter().any(|node| holds(node, lowered)),
    }
}

/// Also true for `\\u`, an escaped backslash before a letter: rare, and on the safe side.
fn has_unicode_escape(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', raw).any(|at| raw.get(at + 1) == Some(&b'u'))
}

fn has_hidden_ascii(raw: &[u8]) -> bool {
    if raw.is_ascii() {
        return false;
    }
    let table = hiding_characters();
    let mut rest = raw;
    // Jump over ASCII: most lines are nearly all of it.
    while let Some(at) = rest.iter().position(|byte| !byte.is_ascii()) {
        let end = rest[at..]
            .iter()
            .position(u8::is_ascii)
            .map_or(rest.len(), |length| at + length);
        for chunk in rest[at..end].utf8_chunks() {
            // Invalid bytes are decoded as U+FFFD, a separator.
            if chunk.valid().chars().any(|character| {
                let code = character as usize;
                table
                    .get(code / 64)
                    .is_none_or(|bits| bits >> (code % 64) & 1 != 0)
            }) {
                return true;
            }
        }
        rest = &rest[end..];
    }
    false
}

/// One bit for each character: can it put ASCII into a token, or vanish within one?
/// Asked of the tokenizer itself, so that the two cannot differ. Characters beyond the table, from
/// U+40000 on, count as hiding; some of them are marks.
fn hiding_characters() -> &'static [u64] {
    static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![0u64; 0x40000 / 64];
        for code in 0x80..0x40000u32 {
            // Surrogates are no characters; Han and Hangul are CJK and never hide anything.
            let plain = matches!(code, 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0x20000..);
            if !plain && char::from_u32(code).is_some_and(hides_ascii) {
                table[code as usize / 64] |= 1 << (code % 64);
            }
        }
        table
    })
}
