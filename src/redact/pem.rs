//! How far does a private key go? Its lines are told from what tools put before and between them.

use super::MARK;

/// A line of a key has 64 letters or more, but the last; a commit's hash has 40.
const LINE: usize = 41;
/// Behind nothing but white space a part of a line is enough.
const PART: usize = 16;
/// So much may stand between two lines of a key where neither ends: quotes, or what names the key.
const GAP: usize = 160;
/// So much may where one does: a path and a number before each, colours.
const LONG_GAP: usize = 2_000;
/// So many end before the first of a key: the one that begins it, two headers, and the empty one
/// behind them.
const ENDS: usize = 4;

/// How many bytes behind the line that begins a key are of the key: to the line that ends it, or to
/// the last line there is.
pub fn body(text: &str) -> usize {
    if text.starts_with(MARK) {
        // What follows is of no key any more.
        return 0;
    }
    let bytes = text.as_bytes();
    // `ends`: lines that end between the key and this place.
    let (mut key, mut at, mut ends) = (0, 0, 0);
    while at < bytes.len() && is_near(at - key, ends) {
        let between = &bytes[key..at];
        if let Some(end) = end_of_key(&bytes[at..])
            && (key > 0 || between.iter().all(may_be_of_a_key))
        {
            return at + end;
        }
        ends += usize::from(bytes[at] == b'\n' || bytes[at] == b'n' && between.ends_with(b"\\"));
        let run = bytes[at..].iter().take_while(|b| is_letter(b)).count();
        if run >= LINE || run >= PART && between.iter().all(is_space) {
            (key, ends) = (at + run, 0);
        }
        at += run.max(1);
    }
    key
}

/// Whether what follows so many bytes and ends of lines may be of the key still.
fn is_near(gap: usize, ends: usize) -> bool {
    gap <= GAP || gap <= LONG_GAP && (1..=ENDS).contains(&ends)
}

/// The length of what ends a key, but for the last hyphens.
fn end_of_key(bytes: &[u8]) -> Option<usize> {
    const LAST: &[u8] = b"PRIVATE KEY";
    let kind = bytes.strip_prefix(b"-----END ")?;
    let kind = &kind[..kind.len().min(30 + LAST.len())];
    let at = memchr::memmem::find(kind, LAST)?;
    Some(bytes.len().min(b"-----END ".len() + at + LAST.len()))
}

fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(byte)
}

/// White space, in JSON too.
fn is_space(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || b"\\nr".contains(byte)
}

/// What stands in the short keys of examples, and in headers.
fn may_be_of_a_key(byte: &u8) -> bool {
    is_letter(byte) || byte.is_ascii_whitespace() || b"\\:,.()-".contains(byte)
}

#[cfg(test)]
mod tests {
    use crate::redact::redacted;

    /// A key of several lines as some tool shows it, with its end and cut off before it.
    fn each_way_of_showing(check: impl Fn(&str, &str)) {
        let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2";
        let ways: [fn(usize, &str) -> String; 9] = [
            |_, line| format!("{line}\n"),
            |_, line| format!("{line}\\n"),
            |number, line| format!("{number:6}\u{2192}{line}\n"),
            |number, line| format!("{number} | {line}\n"),
            |_, line| format!("> {line}\r\n"),
            |_, line| format!("  \"{line}\\n\",\n"),
            |number, line| format!("deploy/keys/id_rsa.pem:{number}:{line}\n"),
            |number, line| format!("{}/id_rsa.pem:{number}:{line}\n", "/a-folder".repeat(25)),
            |number, line| {
                format!(
                    "\u{1b}[38;5;238m{number:4}\u{1b}[0m \u{2502} \u{1b}[38;5;231m{line}\u{1b}[0m\n"
                )
            },
        ];
        for way in ways {
            let lines = [
                "Proc-Type: 4,ENCRYPTED",
                "DEK-Info: AES-128-CBC,5E0D0BB9B4C0D2A87C9C6C8E0F1A2B3C",
                "",
                line,
                line,
                line,
                &line[..52],
            ];
            let lines = lines.iter().enumerate();
            let body: String = lines.map(|(at, line)| way(at + 2, line)).collect();
            let begins = way(1, "-----BEGIN RSA PRIVATE KEY-----");
            let ends = way(9, "-----END RSA PRIVATE KEY-----");
            check(&format!("{begins}{body}{ends}and on"), line);
            check(&format!("{begins}{body}and on"), line);
        }
    }

    #[test]
    fn a_key_is_found_however_it_is_shown() {
        each_way_of_showing(|text, line| {
            let shown = redacted(text).unwrap_or_default();
            let is_in = |part: &[u8]| shown.contains(&*String::from_utf8_lossy(part));
            assert!(!line.as_bytes().windows(12).any(is_in), "{text}: {shown}");
            assert!(shown.ends_with("and on"), "{text}: {shown}");
        });
    }

    #[test]
    fn what_speaks_of_keys_is_none() {
        let code = "if text.contains(\"-----BEGIN PRIVATE KEY-----\") && text.contains(\"-----END PRIVATE KEY-----\")";
        let prose = "Files that begin with -----BEGIN RSA PRIVATE KEY----- are refused, see commit 3f2b8c1d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b";
        let far = format!(
            "-----BEGIN PRIVATE KEY-----{}{}",
            " word".repeat(40),
            "Ab1".repeat(30)
        );
        for text in [code, prose, &far] {
            assert_eq!(redacted(text), None, "{text}");
        }
    }
}
