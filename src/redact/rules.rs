//! What does a key or token look like, that is not known by its own mark or by its name alone, and
//! what is a rule?
//!
//! JWT is RFC 7519, PEM RFC 7468, the Bearer header RFC 6750, user information in URLs RFC 3986,
//! crypt(3)'s hashes as its manual writes them, `sig=` Azure's shared access signatures, and AWS's
//! and Google's signed URLs.

use super::pem;
use super::value::{Family, ValueContext};

/// One kind of secret: a beginning that stays, and what follows it.
pub struct Rule {
    /// Whose it is, or where it stands: what people are told of it.
    pub name: &'static str,
    /// How it begins. This is shown, so that the reader knows what was there.
    pub begins: &'static [&'static str],
    /// What stands right behind the beginning: a pattern without Unicode classes. With a group only
    /// the group is secret.
    pub rest: &'static str,
    pub before: Boundary,
    /// One of these stands before it in the same command or line.
    pub near: &'static [&'static str],
    pub judged: ValueCheck,
    /// How many bytes behind what the pattern finds are secret too.
    pub more: fn(&str) -> usize,
}

/// What stands before the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    Anything,
    /// No letter, digit or `_`: where the beginning is a word of everybody's.
    NoWord,
    /// No letter, and no digit where the beginning has none but letters and digits, as some of any
    /// base64 or hash.
    NoLetter,
    Digit,
}

/// What else is asked of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueCheck {
    /// Nothing.
    Not,
    /// It stands for no other value.
    Typed,
    /// There is a digit in it, or so many letters in a row, and it is not made of words as names
    /// are.
    NoWords(usize),
    /// As what stands behind a name.
    As(Family, ValueContext),
}

/// So many letters in a row are no word.
const NO_WORD: usize = 30;

/// As issuers make them.
pub const fn issued(
    name: &'static str,
    begins: &'static [&'static str],
    rest: &'static str,
) -> Rule {
    Rule {
        name,
        begins,
        rest,
        before: Boundary::NoLetter,
        near: &[],
        judged: ValueCheck::NoWords(NO_WORD),
        more: |_| 0,
    }
}

/// What people type in a place of its own.
const fn typed(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Rule {
    let rule = issued(name, begins, rest).within_a_word();
    rule.judged(ValueCheck::As(Family::Password, ValueContext::Passed))
}

/// All of them but those of `marked` and `named`: no beginning is shorter than three bytes.
pub const RULES: &[Rule] = &[
    // Header, claims, and a signature if there is one.
    issued(
        "JWT",
        &["eyJ"],
        "[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?",
    ),
    issued("Bearer header", &["Bearer ", "bearer ", "BEARER "], "[A-Za-z0-9._~+/=-]{16,}"),
    issued(
        "Authorization header",
        &["uthorization", "UTHORIZATION"],
        "(?:\\\\{0,2}[\"'])?\\s{0,2}(?:[:=,]|=>)\\s{0,2}(?:\\\\{0,2}[\"'`])?(?:[A-Za-z][A-Za-z-]{2,15}[ \\t])?([A-Za-z0-9._~+/=:-]{8,})",
    )
    .within_a_word()
    .judged(ValueCheck::As(Family::Token, ValueContext::Passed)),
    issued(
        "Basic header",
        &["uthorization: Basic ", "uthorization: basic "],
        "[A-Za-z0-9+/=]{8,}",
    )
    .within_a_word(),
    Rule {
        more: further_cookies,
        ..issued(
        "Cookie header",
        &["ookie: ", "ookie\": \"", "ookie\":\""],
        "[^\\n\"']{0,200}?(?i:sess|sid|auth|token|jwt|remember)[A-Za-z0-9_.-]{0,20}=([A-Za-z0-9%._~+/=-]{16,})",
        )
        .within_a_word()
        .judged(ValueCheck::As(Family::Token, ValueContext::Passed))
    },
    // A private key to its end, or as far as it goes.
    Rule {
        more: pem::body,
        ..issued("PEM", &["-----BEGIN "], "[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----()").within_a_word().judged(ValueCheck::Not)
    },
    Rule {
        more: pem::body,
        ..issued("PuTTY", &["Private-Lines: "], "[0-9]{1,3}\\s()").judged(ValueCheck::Not)
    },
    typed(
        "password or token in a URL",
        // As JSON may escape it, where a line is shown as it stands.
        &["://", ":\\/\\/"],
        "(?:[^/\\s:@\"'\\\\<>]{0,64}:([^/\\s\"'\\\\<>\\[\\]]{3,})|([A-Za-z0-9_-]{20,}))@",
    ),
    typed(
        "curl's user",
        &[" -u ", " --user ", " --user=", " -u'", " -u\"", " --proxy-user ", " -U ", " -su ", " -sSu ", " -sku ", " -fsSLu "],
        "[\"']?[^\\s:\"'$/]{1,64}:([^\\s\"'\\\\]{1,})",
    )
    .judged(ValueCheck::Typed)
    .near(&["curl", "wget", "http", "api"]),
    typed("a client's -p", &[" -p"], "[ =]?[\"']?([^\\s\"'$=\\\\-][^\\s\"'\\\\]{2,})")
        .near(&["mysql", "mariadb", "sshpass", "docker login", "podman login", "az login", "mongo", "oc login", "7z "]),
    typed("a client's -a", &[" -a "], "[\"']?([^\\s\"'$\\\\-][^\\s\"'\\\\]{2,})").near(&["redis-cli"]),
    typed("zip's -P, ssh-keygen's -N", &[" -P ", " -N "], "[\"']?([^\\s\"'$\\\\-][^\\s\"'\\\\]{2,})")
        .near(&["zip", "ssh-keygen"]),
    typed("PowerShell", &["ConvertTo-SecureString "], "(?:-String )?[\"']([^\\s\"'$]{4,})"),
    typed("openssl's pass:", &["pass:"], "([^\\s\"'\\\\]{3,})").near(&["openssl", "-passin", "-passout"]),
    typed(
        "netrc",
        &["machine ", "default "],
        "(?:[^\\s\"'\\\\]{1,253}(?:\\s|\\\\n){1,8})?login\\s{1,4}[^\\s\"'\\\\]{1,64}(?:\\s|\\\\n){1,8}password\\s{1,4}([^\\s\"'\\\\]{3,})",
    ),
    typed(
        "a user in SQL",
        &["IDENTIFIED BY ", "identified by ", "WITH PASSWORD ", "with password "],
        "\\\\?[\"']([^\\s\"'\\\\]{4,})",
    ),
    issued("signed URL", &["sig=", "X-Amz-Signature=", "X-Goog-Signature=", "&Signature="], "[A-Za-z0-9%+/=_-]{20,}"),
    issued("key of a request", &["?code=", "&code=", "?key=", "&key="], "[A-Za-z0-9_+/-]{32,}={0,2}").within_a_word(),
    issued("hash of a password", &["$2a$", "$2b$", "$2y$"], "[0-9]{2}\\$([A-Za-z0-9./]{40,})").within_a_word().judged(ValueCheck::Not),
    issued(
        "hash of a password",
        &["$apr1$", "$1$", "$5$", "$6$", "$y$", "$argon2"],
        "[^\\s$:\"']{1,40}\\$(?:[^\\s$:\"']{1,40}\\$){0,2}([A-Za-z0-9./+]{20,})",
    )
    .within_a_word()
    .judged(ValueCheck::Not),
    issued(
        "words of a wallet",
        &["mnemonic", "MNEMONIC", "eed phrase", "SEED_PHRASE", "seed_phrase"],
        "[\\s:=\"'\\\\a-z]{1,8}?[\\s:=\"'\\\\]((?:[a-z]{3,8} ){11,23}[a-z]{3,8})",
    )
    .within_a_word()
    .judged(ValueCheck::Not),
];

/// How many bytes hold further cookies of a header, up to the last one that is as long as keys are.
fn further_cookies(text: &str) -> usize {
    let is_of_value = |c: char| c.is_ascii_alphanumeric() || "%._~+/=-".contains(c);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let (mut rest, mut end) = (text, 0);
    while let Some(pair) = rest.strip_prefix(';') {
        let pair = pair.trim_start_matches(' ');
        let Some(value) = pair.trim_start_matches(is_of_name).strip_prefix('=') else {
            break;
        };
        rest = value.trim_start_matches(is_of_value);
        if value.len() - rest.len() >= LEAST_COOKIE {
            end = text.len() - rest.len();
        }
    }
    end
}

/// The value of a cookie that is a key has so many letters.
const LEAST_COOKIE: usize = 16;

impl Rule {
    pub const fn within_a_word(self) -> Rule {
        let before = Boundary::Anything;
        Rule { before, ..self }
    }

    pub const fn beside_no_word(self) -> Rule {
        let before = Boundary::NoWord;
        Rule { before, ..self }
    }

    pub const fn behind_a_digit(self) -> Rule {
        let before = Boundary::Digit;
        Rule { before, ..self }
    }

    pub const fn with_letters(self, letters: usize) -> Rule {
        self.judged(ValueCheck::NoWords(letters))
    }

    const fn judged(self, judged: ValueCheck) -> Rule {
        Rule { judged, ..self }
    }

    const fn near(self, near: &'static [&'static str]) -> Rule {
        Rule { near, ..self }
    }
}
