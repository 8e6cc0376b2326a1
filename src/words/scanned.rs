//! Which patterns can only be found by reading the text itself? Parts of words, and regular
//! expressions.
//!
//! Bytes that hold none of the ASCII text which every match must hold need not be decoded;
//! [`RequiredLiteral`] says which that is.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, LookSet};

use crate::model::Expr;

/// A text or a regular expression to be looked for in decoded text.
#[derive(Debug)]
pub(super) struct TextScanPattern {
    /// `None`: it cannot be read as one, and matches nothing.
    regex: Option<Regex>,
    /// The regex without its word boundaries, if it has some. It matches everything that the regex
    /// matches, and unlike the regex it is fast in text beyond ASCII, too.
    loose: Option<Regex>,
}

impl TextScanPattern {
    /// What `expr` looks for, if it is of this kind.
    pub fn new(expr: &Expr) -> Option<Self> {
        let pattern = pattern(expr)?;
        let build = |pattern: &str| by_lines(pattern).build().ok();
        let mut parser = ParserBuilder::new().multi_line(true).crlf(true).build();
        let hir = parser.parse(&pattern).ok();
        let loose = hir.filter(|hir| hir.properties().look_set().contains_word_unicode());
        Some(Self {
            regex: build(&pattern),
            loose: loose.and_then(|hir| build(&without_words(hir).to_string())),
        })
    }

    /// Whether a text holds it.
    pub fn is_in(&self, text: &str) -> bool {
        let holds = |regex: &Regex| regex.is_match(text);
        self.loose.as_ref().is_none_or(holds) && self.regex.as_ref().is_some_and(holds)
    }

    /// Where a text holds it. Empty matches are left out.
    pub fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = self
            .regex
            .iter()
            .flat_map(move |regex| regex.find_iter(text));
        found
            .map(|found| found.range())
            .filter(|range| !range.is_empty())
    }
}

/// `^` and `$` are the ends of lines, also of those that end as on Windows and in HTTP.
fn by_lines(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.multi_line(true).crlf(true);
    builder
}

fn pattern(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Substring(text) => Some(format!("(?i){}", with_any_blanks(&regex::escape(text)))),
        Expr::Regex(pattern) => Some(pattern.clone()),
        _ => None,
    }
}

/// White space as a pattern for any: text may be broken into lines anywhere.
fn with_any_blanks(escaped: &str) -> String {
    let mut pattern = String::new();
    let mut after_blank = false;
    for letter in escaped.chars() {
        let is_blank = letter.is_whitespace();
        match is_blank {
            true if after_blank => {}
            true => pattern.push_str(r"\s+"),
            false => pattern.push(letter),
        }
        after_blank = is_blank;
    }
    pattern
}

/// The regular expression without its word boundaries.
fn without_words(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Look(look) if LookSet::singleton(look).contains_word() => Hir::empty(),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(without_words(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => without_words(*capture.sub),
        HirKind::Concat(members) => Hir::concat(members.into_iter().map(without_words).collect()),
        HirKind::Alternation(members) => {
            Hir::alternation(members.into_iter().map(without_words).collect())
        }
    }
}

/// Why `pattern` is no regular expression: the place in characters, and what is wrong there.
pub fn regex_error(pattern: &str) -> Option<(usize, String)> {
    let (at, message) = match regex_syntax::parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => {
            (error.span().start.offset, error.kind().to_string())
        }
        Err(regex_syntax::Error::Translate(error)) => {
            (error.span().start.offset, error.kind().to_string())
        }
        Err(error) => (0, error.to_string()),
        Ok(_) => match by_lines(pattern).build() {
            Ok(_) => return None,
            Err(error) => (0, error.to_string()),
        },
    };
    Some((pattern[..at.min(pattern.len())].chars().count(), message))
}

/// What text must hold to match, in whatever case.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequiredLiteral {
    /// These ASCII characters, letters lowercase, next to each other: those that JSON writes as
    /// themselves.
    Run(Vec<u8>),
    All(Vec<RequiredLiteral>),
    Any(Vec<RequiredLiteral>),
}

impl RequiredLiteral {
    /// What a match of `expr` needs; `None` when there is nothing that it always needs.
    pub fn of(expr: &Expr) -> Option<RequiredLiteral> {
        need(&regex_syntax::parse(&pattern(expr)?).ok()?)
    }
}

fn need(hir: &Hir) -> Option<RequiredLiteral> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) | HirKind::Concat(_) => {
            let mut needs = Vec::new();
            let mut run = Vec::new();
            gather(hir, &mut run, &mut needs);
            end(&mut run, &mut needs);
            all(needs)
        }
        HirKind::Capture(capture) => need(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => need(&repetition.sub),
        HirKind::Alternation(members) => {
            let needs: Option<Vec<RequiredLiteral>> = members.iter().map(need).collect();
            needs.map(RequiredLiteral::Any)
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// Whether a byte is a character that JSON needs no escape for. `/` needs none, but some give it
/// one.
fn is_itself(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'/')
}

/// Characters that stand next to each other grow one run; whatever else comes between ends it.
fn gather(hir: &Hir, run: &mut Vec<u8>, needs: &mut Vec<RequiredLiteral>) {
    match hir.kind() {
        HirKind::Literal(literal) => {
            for byte in &literal.0 {
                match is_itself(*byte) {
                    true => run.push(byte.to_ascii_lowercase()),
                    false => end(run, needs),
                }
            }
        }
        HirKind::Class(class) => match letter(class) {
            Some(letter) => run.push(letter),
            None => end(run, needs),
        },
        HirKind::Concat(members) => members.iter().for_each(|member| gather(member, run, needs)),
        HirKind::Empty | HirKind::Look(_) => {}
        _ => {
            end(run, needs);
            needs.extend(need(hir));
        }
    }
}

fn end(run: &mut Vec<u8>, needs: &mut Vec<RequiredLiteral>) {
    if !run.is_empty() {
        needs.push(RequiredLiteral::Run(std::mem::take(run)));
    }
}

fn all(mut needs: Vec<RequiredLiteral>) -> Option<RequiredLiteral> {
    match needs.len() {
        0 => None,
        1 => needs.pop(),
        _ => Some(RequiredLiteral::All(needs)),
    }
}

/// The one ASCII letter that all characters of a class are a case of (`k`, `K` and the Kelvin
/// sign).
fn letter(class: &Class) -> Option<u8> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let mut found = None;
    for range in class.ranges() {
        if range.end() as u32 - range.start() as u32 > 3 {
            return None;
        }
        for character in range.start()..=range.end() {
            let lower = match character {
                '\u{212A}' => b'k',
                '\u{17F}' => b's',
                _ => u8::try_from(character).ok()?.to_ascii_lowercase(),
            };
            if !lower.is_ascii_alphanumeric() || found.is_some_and(|before| before != lower) {
                return None;
            }
            found = Some(lower);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(need: &RequiredLiteral) -> String {
        let list = |needs: &[RequiredLiteral], sign: &str| {
            let shown: Vec<String> = needs.iter().map(show).collect();
            format!("({})", shown.join(sign))
        };
        match need {
            RequiredLiteral::Run(run) => String::from_utf8_lossy(run).into_owned(),
            RequiredLiteral::All(needs) => list(needs, " & "),
            RequiredLiteral::Any(needs) => list(needs, " | "),
        }
    }

    #[test]
    fn what_a_match_needs() {
        for (pattern, expected) in [
            ("abc", Some("abc")),
            ("(?i)Kiss9", Some("kiss9")),
            ("a_b", Some("a_b")),
            (r"error\[E\d+", Some("error[e")),
            (r"a\nb/c", Some("(a & b & c)")),
            ("foo.*bar", Some("(foo & bar)")),
            ("fo+bar", Some("(f & o & bar)")),
            ("fo*bar", Some("(f & bar)")),
            ("(foo|bar)baz", Some("((foo | bar) & baz)")),
            ("foo|b*", None),
            ("foo(bar)?", Some("foo")),
            (r"\bfoo\b", Some("foo")),
            (r"\d+ms", Some("ms")),
            ("[Ff]oo", Some("foo")),
            ("[fg]oo", None),
            ("caf\u{e9}s", Some("(caf & s)")),
            (".*", None),
            ("", None),
        ] {
            let need = RequiredLiteral::of(&Expr::Regex(pattern.to_owned()));
            // What is said of a class of two letters is up to the parser, which may split it.
            if pattern != "[fg]oo" {
                assert_eq!(need.as_ref().map(show).as_deref(), expected, "{pattern}");
            }
        }
        let part = RequiredLiteral::of(&Expr::Substring("Re-Use x".to_owned()));
        assert_eq!(part.as_ref().map(show).as_deref(), Some("(re-use & x)"));
    }

    #[test]
    fn ends_of_words_are_asked_for_last() {
        let scanned =
            |pattern: &str| TextScanPattern::new(&Expr::Regex(pattern.to_owned())).unwrap();
        for (pattern, text, holds) in [
            (r"\bq\w+z\b", "日 quiz 本", true),
            (r"\bq\w+z\b", "日quiz", false),
            (r"(?i)^(\bé|\Bx{2,})$", "a\nÉ\nb", true),
            (r"(?i)^(\bé|\Bx{2,})$", "xx", false),
            (r"\bz$", "z\r\na", true),
            (r"^\bz$", "a\r\nz\r\n", true),
            (r"^\bz.$", "z\r\na", false),
            (r"\b", "日", true),
            (r"\b", " ", false),
        ] {
            let scanned = scanned(pattern);
            assert!(scanned.loose.is_some(), "{pattern}");
            assert_eq!(scanned.is_in(text), holds, "{pattern} in {text}");
        }
        assert!(scanned("^a$").loose.is_none());
    }

    #[test]
    fn lines_end_in_either_way() {
        let scanned = TextScanPattern::new(&Expr::Regex("^f.*d$".to_owned())).unwrap();
        assert!(scanned.loose.is_none());
        for text in ["failed", "a\nfailed\nb", "a\r\nfailed\r\nb", "failed\r\n"] {
            assert!(scanned.is_in(text), "{text:?}");
            let places: Vec<&str> = scanned.places(text).map(|range| &text[range]).collect();
            assert_eq!(places, ["failed"], "{text:?}");
        }
        assert!(!scanned.is_in("fail\r\ned"));
    }

    #[test]
    fn errors_tell_the_place() {
        assert_eq!(regex_error("日(a"), Some((1, "unclosed group".to_owned())));
        assert_eq!(regex_error("a|b"), None);
        assert!(regex_error(r"\w{9999}{9999}").is_some());
    }
}
