//! Which values are secrets by what they are called: `DB_PASS=…`, `"accessToken": "…"`, `--api-key
//! …`, `<password>…</password>`?
//!
//! A name is found by its stem, in any of the three cases that are written; what stands before the
//! stem and behind it tells whether it is the name of a secret (`api_key`, `SECRET_KEY_BASE`) or of
//! something else (`primary_key`, `token_count`).

use std::ops::Range;

use super::value::{Family, ValueContext, is_secret};

/// The stems of the names, with those cases that occur.
pub const STEMS: &[&str] = &[
    "pass", "Pass", "PASS", "pwd", "Pwd", "PWD", "secret", "Secret", "SECRET", "token", "Token",
    "TOKEN", "key", "Key", "KEY", "auth", "Auth", "AUTH", "cred", "Cred", "CRED",
];

/// What else belongs to the word of a stem.
const WORDS: &[(&str, &[&str])] = &[
    ("pass", &["word", "wd", "phrase", "code", "wort", ""]),
    ("pwd", &[""]),
    ("secret", &[""]),
    ("token", &[""]),
    ("key", &[""]),
    ("auth", &[""]),
    ("cred", &["entials", "ential", "s"]),
];

/// What may follow it in the name, joined or not. Digits may too.
const BEHIND: &[&str] = &[
    "",
    "value",
    "val",
    "str",
    "string",
    "data",
    "base",
    "prod",
    "production",
    "dev",
    "staging",
    "stage",
    "test",
    "live",
    "main",
    "primary",
    "secondary",
    "default",
    "admin",
    "root",
    "b64",
    "base64",
    "raw",
    "plain",
    "plaintext",
    "old",
    "new",
    "current",
    "v",
];

/// Words before `key` with which it opens something.
const KEYS: &[&str] = &[
    "api",
    "access",
    "private",
    "priv",
    "secret",
    "encryption",
    "encrypt",
    "decryption",
    "signing",
    "sign",
    "account",
    "master",
    "shared",
    "preshared",
    "storage",
    "auth",
    "app",
    "application",
    "deploy",
    "license",
    "consumer",
    "session",
    "hmac",
    "jwt",
    "aes",
    "cipher",
    "admin",
    "client",
    "service",
    "role",
    "function",
    "subscription",
    "webhook",
    "bot",
    "write",
    "ingest",
    "apiaccess",
    "wallet",
    "signer",
    "deployer",
    "integration",
    "server",
    "token",
    "crypt",
    "authkey",
];

/// Words before `key` with which it names a place, a column, or what everybody may know.
const NO_KEYS: &[&str] = &[
    "public",
    "pub",
    "primary",
    "foreign",
    "cache",
    "sort",
    "partition",
    "idempotency",
    "object",
    "routing",
    "lookup",
    "hash",
    "group",
    "issue",
    "project",
    "unique",
    "storage_path",
    "sha",
    "query",
    "site",
    "publishable",
    "monkey",
    "turkey",
    "hot",
    "dedupe",
    "row",
    "item",
    "map",
    "dict",
    "fingerprint",
    "host",
    "content",
    "block",
    "react",
];

/// Words before `token` with which it is one of a text, or a place in a list.
const NO_TOKENS: &[&str] = &[
    "page",
    "next",
    "continuation",
    "cursor",
    "sync",
    "max",
    "min",
    "total",
    "input",
    "output",
    "prompt",
    "completion",
    "num",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "mask",
    "cls",
    "special",
    "cancellation",
    "cancel",
    "previous",
    "prev",
    "start",
    "end",
    "per",
    "resume",
    "lock",
    "design",
    "cached",
];

/// So much of a name is looked at before and behind its stem.
const NAME: usize = 40;

/// So far is a line indented that has the value of a pair.
const INDENT: usize = 32;

/// So many backslashes are counted before a quote: JSON within JSON within JSON has seven.
const ROOM_OF_ESCAPES: usize = 16;

/// The value behind the stem that stands there; `end`: how far to look.
pub fn secret(text: &str, stem: Range<usize>, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name_ends = end_of_name(bytes, stem.end, end);
    let name_begins = start_of_name(bytes, stem.start);
    let head = &text[name_begins..stem.start];
    let tail = &text[stem.end..name_ends];
    let family = family(head, &text[stem.clone()], tail)?;
    let before = &bytes[..name_begins];
    if before.ends_with(b"/") {
        // A file: `/etc/passwd: …`
        return None;
    }
    let is_option = head.starts_with('-') && !head.ends_with(' ');
    let upper = text[stem.clone()]
        .bytes()
        .all(|byte| byte.is_ascii_uppercase());
    let is_alone = name_begins == stem.start && tail.is_empty();
    let start = NamedValue {
        bytes,
        at: name_ends,
        end,
    };
    let (start, place) = start.value(before, is_option, upper)?;
    let stop = end_of_value(bytes, start, end, place);
    let value = &text[start..stop];
    // What is called, indexed or gone into is code.
    let is_called =
        place != ValueContext::Quoted && matches!(bytes.get(stop), Some(b'(' | b'[' | b'{'));
    let is_other = is_alone && is_no_password(&text[stem], value, place);
    (!is_called && !is_other && is_secret(value, family, place)).then_some(start..stop)
}

/// What programs say by such a name: of a test that has passed, and a shell of its folder.
fn is_no_password(name: &str, value: &str, place: ValueContext) -> bool {
    match name {
        "PASS" => place == ValueContext::AfterColon,
        "pwd" | "PWD" => value.starts_with(['/', '~']),
        _ => false,
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn end_of_name(bytes: &[u8], from: usize, end: usize) -> usize {
    let run = bytes[from..end.min(from + NAME)]
        .iter()
        .take_while(|byte| is_of_name(**byte));
    from + run.count()
}

/// A blank joins `API key` too.
fn start_of_name(bytes: &[u8], stem: usize) -> usize {
    let before = &bytes[stem.saturating_sub(NAME)..stem];
    let joins = |byte: u8| is_of_name(byte) || byte == b'.';
    let is_key = bytes[stem..]
        .get(..3)
        .is_some_and(|key| key.eq_ignore_ascii_case(b"key"));
    let blank = usize::from(is_key && before.ends_with(b" "));
    let mut run = before[..before.len() - blank]
        .iter()
        .rev()
        .take_while(|b| joins(**b))
        .count();
    // The letter of an escape before it is none of the name: `\nPASSWORD`.
    if run > 0 && run < before.len() - blank && before[before.len() - blank - run - 1] == b'\\' {
        run -= 1;
    }
    stem - run - blank
}

/// Whether a name is one of secrets.
fn family(head: &str, stem: &str, tail: &str) -> Option<Family> {
    let is_title = stem.starts_with(|c: char| c.is_ascii_uppercase())
        && !stem.ends_with(|c: char| c.is_ascii_uppercase());
    let (head, stem, tail) = (
        head.to_ascii_lowercase(),
        stem.to_ascii_lowercase(),
        tail.to_ascii_lowercase(),
    );
    let (_, words) = WORDS.iter().find(|(of, _)| *of == stem)?;
    let (word, rest) = words
        .iter()
        .find_map(|word| Some((*word, tail.strip_prefix(word)?)))?;
    let rest = rest
        .trim_start_matches(['_', '-'])
        .trim_end_matches(|c: char| c.is_ascii_digit());
    if !BEHIND.contains(&rest.trim_end_matches(['_', '-'])) {
        return None;
    }
    let joined = head.trim_end_matches(['_', '-', '.', ' ']);
    // The word right before the stem, where one is told from it.
    let last = joined
        .rsplit(['_', '-', '.', ' ', '$'])
        .next()
        .unwrap_or_default();
    let is_word = joined.len() < head.len() || head.is_empty() || is_title;
    match &*stem {
        "pass" if word.is_empty() => {
            let glued = ["pg", "db", "mysql", "ssh", "user", "my"].contains(&last);
            (is_word || glued).then_some(Family::Password)
        }
        "pass" => Some(Family::Password),
        "pwd" => (is_word || last.ends_with("db")).then_some(Family::Password),
        "secret" => Some(Family::Password),
        "token" => (!NO_TOKENS.iter().any(|no| last.ends_with(no))).then_some(Family::Token),
        "key" if KEYS.iter().any(|key| last.ends_with(key)) => Some(Family::Token),
        "key" => {
            let other = last.is_empty() || NO_KEYS.iter().any(|no| last.ends_with(no));
            (!other && is_word && !head.ends_with(' ')).then_some(Family::Unsure)
        }
        "auth" => (is_word && !head.ends_with(' ')).then_some(Family::Unsure),
        _ => is_word.then_some(Family::Token),
    }
}

/// What follows a name.
struct NamedValue<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl NamedValue<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..self.end]
    }

    fn takes(&mut self, word: &[u8]) -> bool {
        let takes = self.rest().starts_with(word);
        self.at += if takes { word.len() } else { 0 };
        takes
    }

    /// Blanks and ends of lines, as JSON writes them too.
    fn blanks(&mut self, most: usize) -> usize {
        let from = self.at;
        for _ in 0..most {
            let ways: [&[u8]; 7] = [b" ", b"\t", b"\n", b"\r\n", b"\\n", b"\\t", b"\\r\\n"];
            if !ways.iter().any(|way| self.takes(way)) {
                break;
            }
        }
        self.at - from
    }

    /// A quote, escaped or not.
    fn quote(&mut self) -> Option<u8> {
        let escapes = self
            .rest()
            .iter()
            .take(4)
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = *self.rest().get(escapes)?;
        let is_quote = matches!(quote, b'"' | b'\'' | b'`');
        self.at += if is_quote { escapes + 1 } else { 0 };
        is_quote.then_some(quote)
    }

    /// Where the value begins, and how it stands there.
    fn value(
        mut self,
        before: &[u8],
        is_option: bool,
        upper: bool,
    ) -> Option<(usize, ValueContext)> {
        let name_ends = self.at;
        let closed = self.quote().is_some();
        // A lookup that is indexed is no assignment to a name in quotes.
        let indexed = self.takes(b"]");
        // `<password>…`, `<string name="password">…`
        if (closed || before.ends_with(b"<")) && self.takes(b">") {
            return Some((self.at, ValueContext::AfterColon));
        }
        // `.password("…")`
        if !closed && self.takes(b"(") {
            return self.quote().map(|_| (self.at, ValueContext::Quoted));
        }
        if let Some(found) = self.pair() {
            return Some(found);
        }
        // `**Token**: …`, and a row of a table.
        let _ = self.takes(b"**");
        let from = self.at;
        if self.blanks(1) > 0 && self.takes(b"|") && self.blanks(3) > 0 {
            return Some((self.at, ValueContext::AfterColon));
        }
        self.at = from;
        let blanks = self.blanks(3);
        let has_colon = self.rest().first() == Some(&b':');
        let separators: [&[u8]; 7] = [b":=", b"=>", b"=", b":", b"value=", b"Value=", b"is "];
        let separator = separators
            .iter()
            .position(|separator| self.takes(separator));
        if self.rest().starts_with(b"=") || self.rest().starts_with(b":") {
            // A comparison, or a path: `Token::Str`.
            return None;
        }
        let place = match separator {
            Some(6) => (!closed && blanks == 1).then_some(ValueContext::AfterColon)?,
            Some(_) => {
                let spaced = self.blanks(3) > 0 || blanks > 0;
                match (has_colon, spaced) {
                    (true, _) => ValueContext::AfterColon,
                    (false, false) if !indexed => ValueContext::Passed,
                    (false, _) => ValueContext::Assigned,
                }
            }
            // `setenv("TOKEN", "…")`
            None if closed && self.takes(b",") => {
                self.blanks(1);
                return self.quote().map(|_| (self.at, ValueContext::Quoted));
            }
            None if blanks == 1 && !closed => {
                let sets = before.ends_with(b"setenv ") || before.ends_with(b"ENV ");
                return Some(self.value_after_blank(is_option || upper && sets));
            }
            None => return None,
        };
        let _ = self.takes(b"[") && self.blanks(2) > 0;
        self.wrapper();
        match self.quote() {
            Some(_) => {
                // A quote that closes what the name stands in: `"password="`.
                let opens = self
                    .rest()
                    .first()
                    .is_some_and(|b| !b.is_ascii_whitespace());
                opens.then_some((self.at, ValueContext::Quoted))
            }
            None if self.at > name_ends => Some((self.at, place)),
            None => None,
        }
    }

    /// The value behind a single blank: `--password …`, `setenv TOKEN …`, `PASSWORD '…'`.
    /// `is_passed`: what stands before the name says that a value follows.
    fn value_after_blank(&mut self, is_passed: bool) -> (usize, ValueContext) {
        let from = self.at;
        if self.quote().is_some_and(|quote| quote != b'`') {
            return (self.at, ValueContext::Quoted);
        }
        self.at = from;
        match is_passed {
            true => (from, ValueContext::Passed),
            false => (from, ValueContext::Beside),
        }
    }

    /// The value of a pair, as manifests have them: `name: TOKEN` and in the next line `value: …`;
    /// `"name": "TOKEN", "value": "…"`.
    fn pair(&mut self) -> Option<(usize, ValueContext)> {
        let from = self.at;
        let is_apart = self.takes(b",") | (self.blanks(INDENT) > 0);
        self.beginning_of_line();
        let _ = self.quote();
        let is_value = is_apart && (self.takes(b"value") || self.takes(b"Value"));
        let _ = self.quote();
        if is_value && self.takes(b":") {
            self.blanks(2);
            let place = self
                .quote()
                .map_or(ValueContext::AfterColon, |_| ValueContext::Quoted);
            return Some((self.at, place));
        }
        self.at = from;
        None
    }

    /// What tools put before a line: its number, or the sign of a diff.
    fn beginning_of_line(&mut self) {
        let number = self.rest().iter().take(8);
        self.at += number.take_while(|byte| byte.is_ascii_digit()).count();
        let signs: [&[u8]; 5] = ["→".as_bytes(), b"|", b":", b"+", b"-"];
        self.blanks(1);
        let _ = signs.iter().any(|sign| self.takes(sign));
        self.blanks(INDENT);
    }

    /// A prefix of a string, or one call around it: `b"…"`, `String::from("…")`.
    fn wrapper(&mut self) {
        let from = self.at;
        let of_call = |byte: &&u8| {
            byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b':' | b'.' | b'(')
        };
        let called = self.rest().iter().take(32).take_while(of_call).count();
        let prefix = &self.rest()[..called];
        // What is looked up is a name: `config.get("api_key")`.
        let looks_up = [&b"get("[..], b"env("]
            .iter()
            .any(|call| prefix.ends_with(call));
        let is_one = prefix.ends_with(b"(") && !looks_up
            || matches!(prefix, b"b" | b"r" | b"u" | b"f" | b"rb");
        self.at += called;
        let here = self.at;
        if !is_one || called == 0 || self.quote().is_none() {
            self.at = from;
        } else {
            self.at = here;
        }
    }
}

/// Where the value ends.
fn end_of_value(bytes: &[u8], start: usize, end: usize, place: ValueContext) -> usize {
    let rest = &bytes[start..end];
    if place == ValueContext::Quoted {
        return start + length_in_quotes(&bytes[..start], rest);
    }
    let run = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"\"'`<>&;|,()[]{}\\".contains(byte));
    let mut stop = start + run.unwrap_or(rest.len());
    // The full stop of a sentence.
    if bytes[start..stop].ends_with(b".") {
        stop -= 1;
    }
    stop
}

/// How far it is to the quote that closes, or to the end of the line. `before` ends with the quote
/// that opens: what has more escapes than that one is a quote of the value's own, or a backslash.
fn length_in_quotes(before: &[u8], rest: &[u8]) -> usize {
    let escapes = |bytes: &[u8]| {
        let escapes = bytes.iter().rev().take(ROOM_OF_ESCAPES);
        escapes.take_while(|byte| **byte == b'\\').count()
    };
    let Some((quote, before)) = before.split_last() else {
        return rest.len();
    };
    let own = escapes(before);
    for (at, byte) in rest.iter().enumerate() {
        let of_this = || escapes(&rest[..at]);
        match byte {
            b'\n' => return at,
            b'n' | b'r' | b't' if at > 0 && rest[at - 1] == b'\\' => return at - of_this(),
            byte if byte == quote => {
                let escapes = of_this();
                if escapes < own || escapes % (2 * own + 2) == own {
                    return at - own.min(escapes);
                }
            }
            _ => {}
        }
    }
    rest.len()
}
