//! Which parts of a text are keys and tokens, and when are they left out of what is printed?
//!
//! One pass over a text looks for the beginnings of all [`rules`]; only where one stands is a pattern made and tried, so a text
//! without any costs no more than that pass, and a process that prints none of a session nothing at all.

mod pem;
mod rules;

use std::cmp::Reverse;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, Input, Match, MatchKind, packed};
use regex::Regex;
use sessionary::settings::Redact;

use rules::RULES;

/// As it stands in the configuration file.
pub fn name(when: Redact) -> &'static str {
    match when {
        Redact::Never => "never",
        Redact::NotATerminal => "not-a-terminal",
        Redact::Always => "always",
    }
}

/// Whether what goes to standard output now is redacted.
pub fn now(when: Redact) -> bool {
    match when {
        Redact::Never => false,
        Redact::NotATerminal => !io::stdout().is_terminal(),
        Redact::Always => true,
    }
}

/// What stands where a secret stood.
const MARK: &str = "[redacted]";

/// Something was left out.
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Whether anything was left out so far.
pub fn left_out() -> bool {
    LEFT_OUT.load(Ordering::Relaxed)
}

/// The text with [`MARK`] in place of its secrets; `None` when there are none.
pub fn redacted(text: &str) -> Option<String> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return None;
    }
    LEFT_OUT.store(true, Ordering::Relaxed);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        out.push_str(&text[from..secret.start]);
        out.push_str(MARK);
        from = secret.end;
    }
    out.push_str(&text[from..]);
    Some(out)
}

/// A beginning, and the rule it is of.
type Beginning = (&'static str, usize);

/// What finds some of the beginnings.
struct Scan {
    finder: Finder,
    beginnings: Vec<Beginning>,
}

enum Finder {
    /// Many bytes at once, ready at once.
    Vectors(packed::Searcher),
    /// Where the processor cannot do that.
    Automaton(AhoCorasick),
}

/// The shortest beginnings, and all others: vectors tell apart as many bytes of each as the shortest has, and three of them
/// are found so often in any text that looking again would be most of the work. `None` is never: some eighty short words fit
/// into any limits, which a test holds.
static SCANS: LazyLock<Option<[Scan; 2]>> = LazyLock::new(|| {
    let of_rule = |(number, rule): (usize, &'static rules::Rule)| {
        rule.begins.iter().map(move |begins| (*begins, number))
    };
    let (short, long) = RULES
        .iter()
        .enumerate()
        .flat_map(of_rule)
        .partition(|(begins, _)| begins.len() <= SHORTEST);
    Some([Scan::new(short)?, Scan::new(long)?])
});

/// Bytes of the shortest beginnings.
const SHORTEST: usize = 3;

impl Scan {
    fn new(beginnings: Vec<Beginning>) -> Option<Self> {
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

    /// The first beginning from there on, and its rule.
    fn find(&self, text: &str, from: usize) -> Option<(Match, usize)> {
        let found = match &self.finder {
            Finder::Vectors(vectors) => vectors.find_in(text, (from..text.len()).into()),
            Finder::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
        }?;
        Some((found, self.beginnings[found.pattern().as_usize()].1))
    }
}

/// So many bytes are looked at behind a beginning: the time for a text is bounded whatever stands in it.
const ROOM: usize = 1 << 10;

/// The rule's pattern, made when it is first needed.
fn pattern(rule: usize) -> Option<&'static Regex> {
    static PATTERNS: [OnceLock<Option<Regex>>; RULES.len()] =
        [const { OnceLock::new() }; RULES.len()];
    let make = || Regex::new(&format!("^(?:{})", RULES[rule].rest)).ok();
    PATTERNS.get(rule)?.get_or_init(make).as_ref()
}

fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(scans) = &*SCANS else {
        return found;
    };
    let mut next = scans.each_ref().map(|scan| scan.find(text, 0));
    // Of two at one place the longer.
    let place = |(begins, _): &(Match, usize)| (begins.start(), Reverse(begins.end()));
    while let Some((begins, rule)) = next.into_iter().flatten().min_by_key(place) {
        let from = match secret(text, begins.start(), begins.end(), rule) {
            Some(secret) => {
                let from = secret.end;
                found.push(secret);
                from
            }
            // Another beginning may stand within this one.
            None => begins.start() + 1,
        };
        for (next, scan) in next.iter_mut().zip(scans) {
            if next.is_some_and(|(begins, _)| begins.start() < from) {
                *next = scan.find(text, from);
            }
        }
    }
    found
}

/// The secret of a rule whose beginning stands there.
fn secret(text: &str, begins: usize, behind: usize, rule: usize) -> Option<Range<usize>> {
    let kind = &RULES[rule];
    if kind.word && !is_start_of_word(&text.as_bytes()[..begins]) {
        return None;
    }
    let mut end = text.len().min(behind + ROOM);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let captures = pattern(rule)?.captures(&text[behind..end])?;
    let secret = captures.get(1).or(captures.get(0))?;
    if !is_no_word(secret.as_str(), kind.letters) {
        return None;
    }
    let (start, mut stop) = (behind + secret.start(), behind + secret.end());
    if stop == end {
        // What it goes on with is part of it.
        let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(byte);
        stop += text.as_bytes()[stop..]
            .iter()
            .take_while(|byte| goes_on(byte))
            .count();
    }
    stop += (kind.more)(&text[stop..]);
    (start < stop).then_some(start..stop)
}

/// Whether there is a digit in it, or so many letters in a row.
fn is_no_word(text: &str, letters: usize) -> bool {
    let text = text.as_bytes();
    let mut runs = text.split(|byte| !byte.is_ascii_alphabetic());
    text.iter().any(u8::is_ascii_digit)
        || letters <= text.len() && runs.any(|run| run.len() >= letters)
}

/// The last letter of an escape is no letter of the text: `\n`, `\x1b`, `\u003e`, `%3D`, and a terminal's `ESC [ 3 2 m`.
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

/// Whether it ends with a bracket and the numbers behind it.
fn is_control_sequence(text: &[u8]) -> bool {
    let is_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let numbers = text.iter().rev().take(32).take_while(is_number).count();
    text[..text.len() - numbers].ends_with(b"[")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        redacted(text).unwrap_or_else(|| text.to_owned())
    }

    /// So many letters and digits.
    fn random(length: usize) -> String {
        "a1B2c3D4e5F6g7H8".chars().cycle().take(length).collect()
    }

    #[test]
    fn every_rule_finds_its_own() {
        for scan in SCANS.as_ref().unwrap() {
            let of = &scan.beginnings;
            assert!(of.len() <= 64, "{}", of.len());
            assert!(of.iter().all(|(begins, _)| begins.len() >= SHORTEST));
            #[cfg(target_arch = "x86_64")]
            assert!(!is_x86_feature_detected!("avx2") || matches!(scan.finder, Finder::Vectors(_)));
        }
        let hex = "0123456789abcdef".repeat(4);
        for (number, rule) in RULES.iter().enumerate() {
            assert!(pattern(number).is_some(), "{}", rule.rest);
            for begins in rule.begins {
                let rest = match *begins {
                    "glp" => format!("at-{}", random(20)),
                    "glr" => format!("t-{}", random(20)),
                    "dapi" => hex[..32].to_owned(),
                    "dop_v1_" => hex.clone(),
                    "shp" => format!("at_{hex}"),
                    "xox" | "xapp" => format!("-{}", random(40)),
                    "sk_" | "rk_" => format!("live_{}", random(24)),
                    "AKIA" | "ASIA" => "IOSFODNN7EXAMPLE".to_owned(),
                    "AGE-SECRET-KEY-1" => "QQPQYQ2L0C5".repeat(5),
                    "cio" => random(32),
                    "SG." => format!("{}.{}", random(22), random(43)),
                    "eyJ" => {
                        format!("{}.eyJ{}.{}", random(20), random(1500), random(43))
                    }
                    "-----BEGIN " => {
                        format!("RSA PRIVATE KEY-----\n{}\n", random(64))
                    }
                    "://" => format!("ada:{}@host/x", random(8)),
                    _ if rule.begins[0] == "API_KEY" => format!("=\"{}\"", random(40)),
                    _ => random(70),
                };
                // As text, and within JSON within JSON.
                for before in ["", "is ", "\n", "\\n", "\\\\n", "=", "\""] {
                    let text = format!("{before}{begins}{rest} and on");
                    let shown = shown(&text);
                    let parts: Vec<&str> = shown.split(MARK).collect();
                    assert!(parts.len() == 2, "{text:?}: {shown:?}");
                    assert!(
                        parts[0].starts_with(&format!("{before}{begins}")),
                        "{shown}"
                    );
                    assert!(parts[1].ends_with("and on"), "{shown}");
                    for piece in rest.as_bytes().windows(12) {
                        let piece = String::from_utf8_lossy(piece);
                        let kept = piece.starts_with("RSA PRIV")
                            || !piece.contains(|c: char| c.is_ascii_digit());
                        assert!(kept || !shown.contains(&*piece), "{shown}");
                    }
                    assert_eq!(redacted(&shown), None, "{shown}");
                }
            }
        }
    }

    #[test]
    fn what_stands_around_a_secret_stays() {
        for (text, expected) in [
            (
                "curl -H 'Authorization: Bearer abc123abc123abc123' x",
                "curl -H 'Authorization: Bearer [redacted]' x",
            ),
            (
                "postgres://ada:s3cret!!@db:5432/x https://a.b/c:d@e",
                "postgres://ada:[redacted]@db:5432/x https://a.b/c:d@e",
            ),
            (
                r#"{"api_key": "0123456789abcdef0", "n": 1}"#,
                r#"{"api_key": "[redacted]", "n": 1}"#,
            ),
            (
                r#""api_key": ["0123456789abcdef0"]"#,
                r#""api_key": ["[redacted]"]"#,
            ),
            (
                r#"{\"password\":\"0123456789abcdef0\"}"#,
                r#"{\"password\":\"[redacted]\"}"#,
            ),
            (
                "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----\nb",
                "a\n-----BEGIN OPENSSH PRIVATE KEY-----[redacted]-----\nb",
            ),
            ("日本ghp_a1B2c3D4e5F6g7H8日本", "日本ghp_[redacted]日本"),
            ("task-ghp_a1B2c3D4e5F6g7H8", "task-ghp_[redacted]"),
            (
                "sk-a1B2c3D4e5F6g7H8 ghp_a1B2c3D4e5F6g7H8 password=sk-a1B2c3D4e5F6g7H8 xoxb-1234567890 TOKEN",
                "sk-[redacted] ghp_[redacted] password=[redacted] xoxb-[redacted] TOKEN",
            ),
            (
                "\u{1b}[32mghp_a1B2c3D4e5F6g7H8\u{1b}[0m",
                "\u{1b}[32mghp_[redacted]\u{1b}[0m",
            ),
            (
                "\u{1b}[01;31m\u{1b}[Ksk-a1B2c3D4e5F6g7H8",
                "\u{1b}[01;31m\u{1b}[Ksk-[redacted]",
            ),
            (r"\u001b[1mghp_a1B2c3D4e5F6g7H8", r"\u001b[1mghp_[redacted]"),
            (r"\u003eghp_a1B2c3D4e5F6g7H8", r"\u003eghp_[redacted]"),
            (r"\x3dghp_a1B2c3D4e5F6g7H8", r"\x3dghp_[redacted]"),
            ("?key%3Dghp_a1B2c3D4e5F6g7H8", "?key%3Dghp_[redacted]"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn a_key_is_one_without_any_digit() {
        let letters = "QwErTyUiOpAsDfGhJkLzXcVbNm".repeat(3);
        for (begins, length) in [
            ("hf_", 34),
            ("npm_", 36),
            ("ghp_", 36),
            ("sk-", 48),
            ("glpat-", 20),
            ("AKIA", 16),
            ("sk_live_", 24),
        ] {
            let mut key = letters[..length].to_owned();
            if begins == "AKIA" {
                key.make_ascii_uppercase();
            }
            let expected = format!("is {begins}{MARK} here");
            assert_eq!(shown(&format!("is {begins}{key} here")), expected);
        }
        // As often as not one of GitLab's has one of these in it.
        assert_eq!(shown("glpat-QwErTyU_iOpAsDfGhJkL"), "glpat-[redacted]");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "pip install sk-learn-contrib-something-long; class sk-fading-circle-animated",
            "task-019b8d5e-7c80-7000-8000-0000000000a1",
            "commit 3f2b8c1d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b",
            "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP==",
            "let api_key = config.get_the_key_of_the_user(name);",
            "API_KEY=$OPENAI_API_KEY TOKEN=<your-token>",
            "the bearer of bad news; Bearer authentication-scheme-of-http",
            "-----BEGIN CERTIFICATE-----\nMIIB1234567890abcdef\n-----END CERTIFICATE-----",
            "http://localhost:8080/a@b https://example.com:443/x mailto:a@b.c",
            "npm_config_cache=/home/ada/.npm npm_lifecycle_event=test1",
            "hf_model_name_with_many_words_2_large",
            "hf_hub_download_of_the_model npm_lifecycle_script_of_package",
            "glpat-your-personal-access-token sk_live_of_the_payment_provider",
            "AKIA_OF_THE_ACCOUNT ASIA_PACIFIC_SOUTHEAST ASIAN",
            "const apiKey = readTheApiKeyOfTheUserFromTheEnvironment",
            "[12mm-sk-learn the 100%-sk-learn-contrib-something",
        ] {
            assert_eq!(redacted(text), None, "{text}");
        }
    }

    #[test]
    fn hostile_text_costs_no_more_than_its_size_many_times_over() {
        for begins in [
            "-eyJ",
            "-sk-",
            "://",
            "-----BEGIN PRIVATE KEY-----",
            "api_key=",
        ] {
            let text = begins.repeat(200_000 / begins.len());
            let _ = redacted(&text);
        }
    }
}
