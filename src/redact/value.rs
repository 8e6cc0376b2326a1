//! Is what stands behind a name a secret, or code, a placeholder, a word?

/// How sure the name makes it that a secret follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `password`, `pwd`, `secret`: what follows is chosen by people too, and short.
    Password,
    /// `token`, `api_key`: made by machines.
    Token,
    /// `STRIPE_KEY`, `auth`: a key of something, by its name perhaps not of a door.
    Unsure,
}

/// Where the value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueContext {
    /// Between quotes.
    Quoted,
    /// `NAME=value`, an option's `--name value`: what a shell passes on as it is.
    Passed,
    /// `name value`, where nothing but a blank says that it is one's value.
    Beside,
    /// `name: value`.
    AfterColon,
    /// `name = value`, where in most languages a name is meant.
    Assigned,
}

/// What stands in the place of a value, or tells its type. In lower case, without what joins its
/// words.
const NO_VALUES: &[&str] = &[
    "any",
    "array",
    "auto",
    "base64",
    "basic",
    "bearer",
    "bool",
    "boolean",
    "buffer",
    "bytes",
    "char",
    "changed",
    "changeit",
    "changeme",
    "confirm",
    "credential",
    "credentials",
    "data",
    "default",
    "disabled",
    "dummy",
    "empty",
    "enabled",
    "env",
    "envvar",
    "expired",
    "failed",
    "false",
    "file",
    "filled",
    "foobar",
    "header",
    "hidden",
    "hmac",
    "integer",
    "invalid",
    "keychain",
    "keyring",
    "login",
    "masked",
    "missing",
    "multiline",
    "none",
    "null",
    "number",
    "object",
    "omitted",
    "optional",
    "oauth2",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "placeholder",
    "plain",
    "plaintext",
    "private",
    "prompt",
    "public",
    "pwd",
    "redacted",
    "removed",
    "required",
    "reset",
    "rsa256",
    "secret",
    "sensitive",
    "sha1",
    "sha256",
    "sha512",
    "stdin",
    "str",
    "string",
    "test",
    "text",
    "todo",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "utf8",
    "value",
    "varchar",
    "void",
    "wrong",
    "yes",
];

/// Words within a value that say that the reader is to put one there.
const PLACEHOLDERS: &[&str] = &[
    "change-me",
    "change_me",
    "changeme",
    "change-this",
    "goes-here",
    "goes_here",
    "insert_",
    "insert-",
    "placeholder",
    "redacted",
    "replace-",
    "replace_",
    "replaceme",
    "your-",
    "your_",
    "yourapi",
    "yourpass",
    "yoursecret",
    "yourtoken",
    "xxxx",
    "****",
    "....",
    "0000000000",
    "1234567890abcdef1",
];

/// Names of code: a value with one in it is computed.
const CODE: &[&str] = &[
    "process.env",
    "os.environ",
    "env.",
    "getenv",
    "config.",
    "settings.",
    "self.",
    "this.",
    "vault:",
    "secrets.",
    "arn:aws:",
    "projects/",
    "keyring",
    "op://",
    "ssm:",
    "::",
    "->",
    "=>",
    "()",
    "://",
    "?.",
];

/// How the values of options begin that consist of several: `--secret id=npmrc,src=.npmrc`.
const KEYS_OF_OPTIONS: &[&str] = &["id=", "name=", "type=", "src=", "env="];

/// What people type as a password where nothing else can stand: it may be as short as a letter.
pub fn is_typed(value: &str) -> bool {
    value.is_ascii()
        && !stands_for_another(value)
        && !value.bytes().all(|byte| byte.is_ascii_digit())
}

/// So much of a value tells what it is, at its beginning or at its end. A text of nothing but names
/// and values has a value at each, up to its end.
const JUDGED: usize = 64;

/// Whether it is a secret.
pub fn is_secret(value: &str, family: Family, place: ValueContext) -> bool {
    if !value.is_ascii() {
        return false;
    }
    let (begins, ends) = (
        &value[..value.len().min(JUDGED)],
        &value[value.len().saturating_sub(JUDGED)..],
    );
    let is_one = |part: &str| is_made_up(part, family, place);
    !stands_for_another(begins) && (is_one(begins) || begins.len() < value.len() && is_one(ends))
}

/// Whether it has what words, names, numbers and paths have not.
fn is_made_up(value: &str, family: Family, place: ValueContext) -> bool {
    let bytes = value.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    // Not of names, numbers, paths and dates.
    let signs = bytes.iter().any(|byte| b"!@#%^*?~+".contains(byte));
    match family {
        Family::Password if place == ValueContext::Beside => false,
        Family::Password => {
            let least = if place == ValueContext::Passed { 3 } else { 4 };
            let spaces = bytes.iter().filter(|byte| **byte == b' ').count();
            if bytes.len() < least || spaces > 0 && (digits == 0 || spaces > 5) {
                return false;
            }
            let mixed = has_odd_case(value);
            match place {
                ValueContext::Passed | ValueContext::Beside => {
                    letters > 0 && !is_composed(value) || digits > 5 || signs
                }
                ValueContext::Quoted => {
                    (digits > 0 && letters > 0 || signs || mixed) && !is_composed(value)
                        || digits == bytes.len() && digits > 5
                }
                ValueContext::AfterColon => {
                    letters > 0
                        && (digits > 0 || signs || mixed)
                        && !is_composed(value)
                        && bytes.len() > 5
                }
                ValueContext::Assigned => {
                    (digits > 0 || signs) && !reads_as_words(value) && bytes.len() > 5
                }
            }
        }
        Family::Token if place != ValueContext::Beside => {
            let (least, entropy) = match bytes.len() {
                ..12 => (if place == ValueContext::Passed { 6 } else { 8 }, 2.2),
                12..20 => (12, 2.8),
                _ => (20, 3.0),
            };
            bytes.len() >= least
                && letters > 0
                && !value.contains(' ')
                && (digits > 0 || bytes.len() >= 20)
                && entropy_of(value) >= entropy
                && !reads_as_words(value)
                && !is_composed(value)
        }
        Family::Token | Family::Unsure => {
            bytes.len() >= 20
                && letters > 0
                && digits > 0
                && !value.contains([' ', ':'])
                && entropy_of(value) >= 3.5
                && !reads_as_words(value)
                && !is_hash_or_uuid(value)
        }
    }
}

/// A variable, a placeholder, a call, a path, an address.
fn stands_for_another(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let joined: String = lower
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    let begins = value.as_bytes().first().copied().unwrap_or_default();
    b"$<{[(%&|*\\".contains(&begins)
        || value.starts_with("#{")
        || value.starts_with("-----")
        || value.starts_with(['/', '.', '~', '@']) && (reads_as_words(value) || is_path(value))
        || NO_VALUES.contains(
            &joined
                .strip_suffix(|c: char| c.is_ascii_digit())
                .unwrap_or(&joined),
        )
        || NO_VALUES.contains(&&*joined)
        || KEYS_OF_OPTIONS.iter().any(|key| lower.starts_with(key))
        || is_member(value)
        || is_port(value)
        || value
            .strip_prefix('!')
            .is_some_and(|tag| tag.bytes().all(|b| b.is_ascii_alphabetic()))
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || CODE.iter().any(|word| lower.contains(word))
        || value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || value.len() > 2 && entropy_of(value) < 1.0
}

/// A path as most are, in small letters.
fn is_path(value: &str) -> bool {
    value.contains('/')
        && !value
            .bytes()
            .any(|byte| byte.is_ascii_uppercase() || b"+=".contains(&byte))
}

/// Ports of a machine, and one of its addresses: `127.0.0.1:3306:3306`.
fn is_port(value: &str) -> bool {
    value.contains(':')
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".:".contains(&byte))
}

/// A member of something in code: `form.csrf_token2`.
fn is_member(value: &str) -> bool {
    let is_name = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() < letters.len() + 3
            && !letters.is_empty()
            && letters
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    value.contains('.') && value.split('.').all(is_name)
}

/// Two words or more that something joins, as names are: `user.password`, `newPassword`,
/// `current-password`.
pub fn is_composed(value: &str) -> bool {
    let joined = value.contains(['_', '-', '.', '/', ':', ' ', '|']);
    let mut bytes = value.as_bytes().windows(2);
    let mut humps =
        || bytes.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let lower = value.to_ascii_lowercase();
    // `my-secret-v1`
    let speaks = ["secret", "passw", "token"]
        .iter()
        .any(|word| lower.contains(word));
    (joined || !digits && humps()) && reads_as_words(value) || joined && speaks
}

/// Letters of both cases, and not as words have them.
fn has_odd_case(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && !reads_as_words(value)
}

/// Whether it is letters in words, as names in code are, with a number here and there.
pub fn reads_as_words(value: &str) -> bool {
    let shape = Shape::of(value);
    shape.letters * 2 >= value.len()
        && shape.pieces * 7 <= shape.letters * 2
        && shape.numbers <= 1 + value.len() / 12
        && shape.vowels * 5 >= shape.letters
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./: ,'|".contains(&byte))
}

/// Bits a character, after Shannon.
pub fn entropy_of(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len().max(1) as f64;
    let counts = counts.iter().filter(|count| **count > 0);
    counts
        .map(|count| f64::from(*count) / length)
        .map(|part| -part * part.log2())
        .sum()
}

/// A digest in hex, or a UUID: ids far more often than keys.
fn is_hash_or_uuid(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// What letters and digits a value is made of.
#[derive(Default)]
struct Shape {
    letters: usize,
    vowels: usize,
    /// Runs of letters as words have them: `word`, `Word`, `WORD`.
    pieces: usize,
    /// Runs of digits.
    numbers: usize,
}

impl Shape {
    fn of(value: &str) -> Shape {
        let mut shape = Shape::default();
        let mut before = b' ';
        let mut upper = 0;
        for byte in value.bytes() {
            if byte.is_ascii_alphabetic() {
                shape.letters += 1;
                shape.vowels += usize::from(b"aeiouAEIOU".contains(&byte));
                let begins = match (before.is_ascii_alphabetic(), byte.is_ascii_uppercase()) {
                    (false, _) => true,
                    (true, true) => before.is_ascii_lowercase(),
                    // `HTTPServer`: the last of several capitals begins the next word.
                    (true, false) => upper > 1,
                };
                shape.pieces += usize::from(begins);
            } else if byte.is_ascii_digit() {
                shape.numbers += usize::from(!before.is_ascii_digit());
            }
            upper = if byte.is_ascii_uppercase() {
                upper + 1
            } else {
                0
            };
            before = byte;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_read_as_words_and_keys_do_not() {
        for text in [
            "nextPageTokenFromResponse2",
            "get_password_from_keyring_v2",
            "response2.body",
            "current-password",
            "HTTPServerPassword",
            "your-api-key-here",
            "OPENAI_API_KEY",
            "login.password.label",
            "gpt2tokenizer",
        ] {
            assert!(reads_as_words(text), "{text}");
        }
        for text in [
            "a1B2c3D4e5F6g7H8",
            "0123456789abcdef0",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "3f2b8c1d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b",
            "JBSWY3DPEHPK3PXP",
            "k9x2m4q7w1z8r5t3",
            "Zk3QpLmVxTrNwSdBgHjK",
        ] {
            assert!(!reads_as_words(text), "{text}");
        }
    }

    #[test]
    fn entropy_is_that_of_shannon() {
        assert_eq!(entropy_of("aaaa"), 0.0);
        assert_eq!(entropy_of("abab"), 1.0);
        assert_eq!(entropy_of("0123456789abcdef"), 4.0);
        assert_eq!(entropy_of(""), 0.0);
    }
}
