//! Where in a text do keys and tokens stand?
//!
//! A pass over the text looks for the beginnings of all rules and the stems of all names; only
//! where one stands is more looked at, and a pattern made when it is first needed. So a text
//! without any costs no more than that pass, and a process that prints none of a session nothing at
//! all.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, Input, Match, MatchKind, packed};
use regex::Regex;

use super::marked::MARKED;
use super::named;
use super::rules::{Boundary, RULES, Rule, ValueCheck};
use super::value::{Family, ValueContext, is_composed, is_secret, is_typed};

/// What a beginning is of.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A rule, by its number in [`rules`].
    Rule(usize),
    /// The name of a secret.
    Name,
}

/// How many rules there are.
const ALL: usize = MARKED.len() + RULES.len();

/// All rules with patterns.
fn rules() -> impl Iterator<Item = &'static Rule> {
    MARKED.iter().chain(RULES)
}

fn rule(number: usize) -> Option<&'static Rule> {
    MARKED
        .get(number)
        .or_else(|| RULES.get(number - MARKED.len()))
}

/// A beginning, and what it is of.
type TokenPrefix = (&'static str, Kind);

/// What finds some of the beginnings.
struct Scan {
    finder: Finder,
    beginnings: Vec<TokenPrefix>,
}

enum Finder {
    /// Many bytes at once, ready at once.
    Vectors(packed::Searcher),
    /// Where the processor cannot do that.
    Automaton(AhoCorasick),
}

/// So many beginnings vectors look for at once.
const AT_ONCE: usize = 64;

/// There are no more scans than this.
const MOST_SCANS: usize = 6;

/// The shortest beginnings first: vectors tell apart as many bytes of each as the shortest has, and
/// three of them are found so often in any text that looking again would be most of the work.
/// `None` is never: a few short words fit into any limits, which a test holds.
static SCANS: LazyLock<Option<Vec<Scan>>> = LazyLock::new(|| {
    let of_rule = |(number, rule): (usize, &'static Rule)| {
        rule.begins
            .iter()
            .map(move |begins| (*begins, Kind::Rule(number)))
    };
    let mut beginnings: Vec<TokenPrefix> = rules().enumerate().flat_map(of_rule).collect();
    beginnings.sort_by_key(|(begins, _)| (begins.len().min(4), *begins));
    let names = named::STEMS
        .iter()
        .map(|stem| (*stem, Kind::Name))
        .collect();
    let (short, long) =
        beginnings.split_at(beginnings.partition_point(|(begins, _)| begins.len() < 4));
    let parts = short
        .chunks(AT_ONCE)
        .chain(long.chunks(AT_ONCE))
        .map(shared_out);
    std::iter::once(names).chain(parts).map(Scan::new).collect()
});

/// Vectors hold so many sets of beginnings, and take the next one for each that they are given.
const SETS: usize = 16;

/// Beginnings, from an order in which like ones stand together, in one that brings these into one
/// set: the fewer letters a set has in a place, the more seldom it seems to be there.
fn shared_out(beginnings: &[TokenPrefix]) -> Vec<TokenPrefix> {
    let of_each = beginnings.len().div_ceil(SETS);
    let turns = (0..of_each).flat_map(|turn| (0..SETS).map(move |set| set * of_each + turn));
    turns.filter_map(|at| beginnings.get(at).copied()).collect()
}

impl Scan {
    fn new(beginnings: Vec<TokenPrefix>) -> Option<Self> {
        let words = || beginnings.iter().map(|(begins, _)| begins);
        let mut vectors = packed::Config::new()
            .match_kind(packed::MatchKind::LeftmostLongest)
            .builder();
        let vectors = vectors.extend(words()).build().map(Finder::Vectors);
        let automaton = || {
            let builder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(words());
            builder.ok().map(Finder::Automaton)
        };
        let finder = vectors.or_else(automaton)?;
        Some(Self { finder, beginnings })
    }

    /// The first beginning from there on, and what it is of.
    fn find(&self, text: &str, from: usize) -> Option<(Match, Kind)> {
        let found = match &self.finder {
            Finder::Vectors(vectors) => vectors.find_in(text, (from..text.len()).into()),
            Finder::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
        }?;
        Some((found, self.beginnings[found.pattern().as_usize()].1))
    }
}

/// So many bytes are looked at behind a beginning: the time for a text is bounded whatever stands
/// in it.
const ROOM: usize = 1 << 10;

/// So many are before it.
const ROOM_BEFORE: usize = 256;

/// The rule's pattern, made when it is first needed.
fn pattern(number: usize) -> Option<&'static Regex> {
    static PATTERNS: [OnceLock<Option<Regex>>; ALL] = [const { OnceLock::new() }; ALL];
    let make = || Regex::new(&format!("^(?:{})", rule(number)?.rest)).ok();
    PATTERNS.get(number)?.get_or_init(make).as_ref()
}

/// A key or token in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// The name of the rule that found it.
    pub rule: &'static str,
}

/// What a secret is of that only its name tells.
const NAMED: &str = "value of a secret's name";

/// All of them, in order; none lies within another.
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let Some(scans) = &*SCANS else {
        return found;
    };
    let mut next = [None; MOST_SCANS];
    for (next, scan) in next.iter_mut().zip(scans) {
        *next = scan.find(text, 0);
    }
    // Of several at one place the longest is tried first.
    let place = |(_, (begins, _)): &(usize, (Match, Kind))| (begins.start(), Reverse(begins.end()));
    loop {
        let each = next.iter().enumerate();
        let each = each.filter_map(|(scan, next)| Some((scan, (*next)?)));
        let Some((at, (begins, kind))) = each.min_by_key(place) else {
            return found;
        };
        let Some(secret) = secret(text, begins.range(), kind) else {
            // Another beginning may stand within this one.
            next[at] = scans[at].find(text, begins.start() + 1);
            continue;
        };
        for (next, scan) in next.iter_mut().zip(scans) {
            if next.is_some_and(|(begins, _)| begins.start() < secret.end) {
                *next = scan.find(text, secret.end);
            }
        }
        let rule = match kind {
            Kind::Rule(number) => rule(number).map_or(NAMED, |rule| rule.name),
            Kind::Name => NAMED,
        };
        let range = secret;
        found.push(Secret { range, rule });
    }
}

/// The secret whose beginning stands there.
fn secret(text: &str, begins: Range<usize>, kind: Kind) -> Option<Range<usize>> {
    let mut end = text.len().min(begins.end + ROOM);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut secret = match kind {
        Kind::Rule(number) => of_rule(text, begins, number, end),
        Kind::Name => named::secret(text, begins, end),
    }?;
    if secret.end == end {
        // What it goes on with is part of it.
        secret.end += goes_on(&text.as_bytes()[end..]);
    }
    (!secret.is_empty()).then_some(secret)
}

/// The secret of a rule.
fn of_rule(text: &str, begins: Range<usize>, number: usize, end: usize) -> Option<Range<usize>> {
    let rule = rule(number)?;
    let before = &text.as_bytes()[..begins.start];
    let stands = match rule.before {
        Boundary::Anything => true,
        Boundary::NoWord => is_start_of_word(before),
        Boundary::NoLetter => is_start_of_word(before) || may_join(before, &text[begins.clone()]),
        Boundary::Digit => before.last().is_some_and(u8::is_ascii_digit),
    };
    let is_near = rule.near.is_empty() || is_near(before, rule.near);
    let is_given = || rule.programs.is_empty() || is_called(before, rule.programs);
    if !stands || !is_near || !is_given() {
        return None;
    }
    let behind = begins.end;
    let secret = match rule.reads {
        Some(reads) => reads(&text[behind..])?,
        None => {
            let captures = pattern(number)?.captures(&text[behind..end])?;
            // One of several ways to write it.
            let group = captures.iter().skip(1).flatten().next();
            group.or(captures.get(0))?.range()
        }
    };
    let (start, stop) = (behind + secret.start, behind + secret.end);
    let value = &text[start..stop];
    if rule.judged.is_met_by(value) {
        return Some(start..stop + (rule.more)(&text[stop..]));
    }
    // What stood between two quotes may be two values, each with one that is never closed.
    let is_typed = !matches!(rule.judged, ValueCheck::Not | ValueCheck::NoWords(_));
    let word = value.split([' ', '\t', '"']).next().unwrap_or_default();
    let is_one = is_typed && word.len() < value.len() && word.len() > 2;
    (is_one && rule.judged.is_met_by(word)).then(|| start..start + word.len())
}

impl ValueCheck {
    fn is_met_by(self, value: &str) -> bool {
        match self {
            ValueCheck::Not => true,
            ValueCheck::NoWords(letters) => is_no_word(value, letters) && !is_composed(value),
            ValueCheck::Typed => is_typed(value),
            ValueCheck::As(family, place) => is_secret(value, family, place),
            ValueCheck::Argument => is_secret(
                &value.replace(' ', ""),
                Family::Password,
                ValueContext::Passed,
            ),
        }
    }
}

/// How many bytes of a key that goes on follow.
fn goes_on(bytes: &[u8]) -> usize {
    let goes_on = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(byte);
    bytes.iter().take_while(goes_on).count()
}

/// Whether one of the words stands before it in the same command or line.
fn is_near(before: &[u8], words: &[&str]) -> bool {
    let command = command(before);
    words
        .iter()
        .any(|word| memchr::memmem::find(command, word.as_bytes()).is_some())
}

/// Whether one of the programs is called before it in the same command or line: it is a word of its
/// own, perhaps with a path before it, and a blank follows. What only has its name in it is no
/// program: `-f mysql.yml`, `-lmysqlclient`, `"mysql"`.
fn is_called(before: &[u8], programs: &[&str]) -> bool {
    let command = command(before);
    programs.iter().any(|program| {
        memchr::memmem::find_iter(command, program.as_bytes()).any(|at| {
            let (before, behind) = (&command[..at], &command[at + program.len()..]);
            let version = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
            let version = behind.iter().take_while(version).count();
            let behind = behind.strip_prefix(b".exe").unwrap_or(&behind[version..]);
            // A path may stand in quotes.
            let is_path = matches!(before.last(), Some(b'/' | b'\\'));
            let quote = behind
                .first()
                .filter(|byte| is_path && b"\"'".contains(byte));
            let behind = &behind[usize::from(quote.is_some())..];
            let is_behind = matches!(before.last(), Some(b'-' | b'.' | b'='));
            let is_before = behind.first().is_none_or(|byte| b" \t".contains(byte));
            is_before && !is_behind && is_start_of_word(before)
        })
    })
}

/// What stands before it in the same command or line.
fn command(before: &[u8]) -> &[u8] {
    let before = &before[before.len().saturating_sub(ROOM_BEFORE)..];
    // What a shell goes on with behind the end of a line stands before it: `\`, in PowerShell a
    // backtick, in Windows' own `^`. The end may be escaped, or part of a path there.
    let ends = |at: &usize| match &before[..=*at] {
        [.., b';' | b'|' | b'&'] => true,
        [line @ .., b'\n'] => {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            !matches!(line, [.., b'\\' | b'`' | b'^'])
        }
        [.., b'\\', b'\\', b'n'] => false,
        [line @ .., b'\\', b'n'] => !is_of_windows(line),
        _ => false,
    };
    let begins = (0..before.len()).rev().find(ends).map_or(0, |at| at + 1);
    &before[begins..]
}

/// Whether it ends within a path of Windows: `C:`, `D:\a`, `\\host\a`.
fn is_of_windows(text: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'=".contains(byte);
    let path = text.rsplit(ends).next().unwrap_or_default();
    path.starts_with(b"\\\\")
        || matches!(path, [drive, b':', rest @ ..]
            if drive.is_ascii_alphabetic() && matches!(rest, [] | [b'\\', ..]))
}

/// Whether there is a digit in it, or so many letters in a row.
fn is_no_word(text: &str, letters: usize) -> bool {
    let text = text.as_bytes();
    let mut runs = text.split(|byte| !byte.is_ascii_alphabetic());
    text.iter().any(u8::is_ascii_digit)
        || letters <= text.len() && runs.any(|run| run.len() >= letters)
}

/// The last letter of an escape is no letter of the text: `\n`, `\x1b`, `\u003e`, `%3D`, and a
/// terminal's `ESC [ 3 2 m`.
fn is_start_of_word(before: &[u8]) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'x', a, b] | [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        // Logs often lack the ESC.
        [rest @ .., b'm' | b'K'] if is_control_sequence(rest) => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

/// Whether a beginning may stand right behind that, as in `backup_ghp_…` and `2ghp_…`.
fn may_join(before: &[u8], begins: &str) -> bool {
    let has_sign = || begins.bytes().any(|byte| !byte.is_ascii_alphanumeric());
    match before.last() {
        Some(b'_') => true,
        Some(byte) => byte.is_ascii_digit() && has_sign(),
        None => true,
    }
}

/// Whether it ends with a bracket and the numbers behind it.
fn is_control_sequence(text: &[u8]) -> bool {
    let is_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let numbers = text.iter().rev().take(32).take_while(is_number).count();
    text[..text.len() - numbers].ends_with(b"[")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::redact::{MARK, redacted};

    #[test]
    fn every_pattern_is_one_and_the_beginnings_are_looked_for_at_once() {
        for number in 0..ALL {
            let rule = rule(number).unwrap();
            assert!(pattern(number).is_some(), "{}: {}", rule.name, rule.rest);
        }
        let begins: HashSet<_> = rules().flat_map(|rule| rule.begins).collect();
        let all: usize = rules().map(|rule| rule.begins.len()).sum();
        assert_eq!(
            begins.len(),
            all,
            "of two with one beginning the second is never tried"
        );
        assert!(SCANS.as_ref().unwrap().len() <= MOST_SCANS);
        for scan in SCANS.as_ref().unwrap() {
            let of = &scan.beginnings;
            assert!(of.len() <= AT_ONCE, "{}", of.len());
            assert!(of.iter().all(|(begins, _)| begins.len() >= 3));
            #[cfg(target_arch = "x86_64")]
            assert!(!is_x86_feature_detected!("avx2") || matches!(scan.finder, Finder::Vectors(_)));
        }
    }

    /// What may stand behind a mark.
    fn samples() -> Vec<String> {
        let random = |length: usize| {
            "a1B2c3D4e5F6g7H8"
                .chars()
                .cycle()
                .take(length)
                .collect::<String>()
        };
        let hex = |length: usize| {
            "3f8b1c9d0e7a2645"
                .chars()
                .cycle()
                .take(length)
                .collect::<String>()
        };
        let large = |length: usize| {
            "QW7E2RT5YUI3OPA6"
                .chars()
                .cycle()
                .take(length)
                .collect::<String>()
        };
        let uuid = format!("{}-{}-{}-{}-{}", hex(8), hex(4), hex(4), hex(4), hex(12));
        let lengths = [16, 20, 24, 26, 31, 32, 33, 38, 40, 43, 48, 64, 70, 110];
        let mut samples = vec![
            uuid,
            format!("-{}", random(40)),
            format!("live_{}", random(40)),
            format!("live_{}", hex(40)),
            format!("at-{}", random(20)),
            format!("t-{}", random(20)),
            format!("at_{}", hex(32)),
            format!("{}.{}", random(22), random(43)),
            format!("{}.{}", random(14), hex(64)),
            format!("pt.{}", random(43)),
            format!("123456789012345678/{}", random(68)),
            format!("{}.{}", large(24), large(64)),
            format!("{}-{}", large(6), large(26)),
            format!("{}_{}", random(8), random(24)),
            format!("{}-{}", hex(24), hex(34)),
            format!("{}-{}", hex(24), hex(146)),
            format!("ud-{}", hex(64)),
            format!("123456789012345:{}", hex(32)),
            format!(
                "{}-{}",
                "a1b2c3d4e5f6g7h8i9j0k1l2m3",
                "a1b2c3d4e5f6g7h8".repeat(3)
            ),
            format!("r_{}", random(100)),
            format!("local_{}", hex(40)),
        ];
        for length in lengths {
            samples.extend([random(length), hex(length), large(length)]);
        }
        samples.push("QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi".to_owned());
        samples
    }

    #[test]
    fn every_mark_finds_its_own() {
        let samples = samples();
        for rule in MARKED {
            for begins in rule.begins {
                let digit = if rule.before == Boundary::Digit {
                    "123456789"
                } else {
                    ""
                };
                // As text, and within JSON within JSON.
                for before in ["", "is ", "\n", "\\n", "\\\\n", "=", "\""] {
                    let catches = |rest: &String| {
                        let shown = redacted(&format!("{before}{digit}{begins}{rest} and on"));
                        shown.is_some_and(|shown| {
                            assert_eq!(redacted(&shown), None, "{shown}");
                            shown.starts_with(&format!("{before}{digit}{begins}"))
                                && shown.ends_with(&format!("{MARK} and on"))
                        })
                    };
                    assert!(
                        samples.iter().any(catches),
                        "{}: {before:?} {begins}",
                        rule.name
                    );
                }
            }
        }
    }
}
