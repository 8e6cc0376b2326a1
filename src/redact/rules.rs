//! What does a key or token look like, that is not known by its own mark or by its name alone, and
//! what is a rule?
//!
//! JWT is RFC 7519, PEM RFC 7468, the Bearer header RFC 6750, user information in URLs RFC 3986,
//! crypt(3)'s hashes as its manual writes them, `sig=` Azure's shared access signatures, and AWS's
//! and Google's signed URLs.

use std::ops::Range;

use super::value::{Family, ValueContext};
use super::{cookies, pem};

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
    /// One of these programs is called before it in the same command or line.
    pub programs: &'static [&'static str],
    pub judged: ValueCheck,
    /// How many bytes behind what the pattern finds are secret too.
    pub more: fn(&str) -> usize,
    /// Finds in what follows the beginning what no pattern tells.
    pub reads: Option<Reads>,
}

/// Finds a secret in what follows a beginning.
pub type Reads = fn(&str) -> Option<Range<usize>>;

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
    /// As a password that a program is given: in quotes it may have blanks.
    Argument,
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
        programs: &[],
        judged: ValueCheck::NoWords(NO_WORD),
        more: |_| 0,
        reads: None,
    }
}

/// What people type in a place of its own.
const fn typed(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Rule {
    let rule = issued(name, begins, rest).within_a_word();
    rule.judged(ValueCheck::Argument)
}

/// What a function finds.
const fn read(name: &'static str, begins: &'static [&'static str], reads: Reads) -> Rule {
    let rule = issued(name, begins, "")
        .within_a_word()
        .judged(ValueCheck::Not);
    let reads = Some(reads);
    Rule { reads, ..rule }
}

/// A pattern of a value in quotes up to the one that closes, or of a word. What stands between a
/// quote and the next one may be none: `"mysql -p", "…"`. Between single quotes a double one is of
/// the value unless it ends what all that stands in, JSON or code: then a comma, a brace, an
/// operator or a blank follows.
macro_rules! quoted_or {
    ($before:literal, $word:literal) => {
        concat!(
            $before,
            "(?:'([^\\s'\"$=\\\\;|&),.-](?:(?:[^'\"\\n\\\\]|\"[^'\\n\\\\ ,:}\\])+;])*[^\\s'\"\\\\])?)'",
            "|\"([^\\s'\"$=\\\\;|&),.-](?:[^\"\\n\\\\]*[^\\s\"\\\\])?)\"",
            "|[\"']?(",
            $word,
            "))"
        )
    };
}

/// What stands between two words of netrc: blanks and ends of lines, and numbers of lines.
macro_rules! between {
    () => {
        "(?:[\\s→:|+-]|\\\\[nt]|[0-9]){1,24}"
    };
}

/// What is near a user and password of a request.
const CURL: &[&str] = &["curl", "wget", "http", "api"];

/// What is near a pass phrase of openssl's.
const OPENSSL: &[&str] = &["openssl", "-passin", "-passout"];

/// Programs to which `-p` gives a password.
const CLIENTS: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlshow",
    "mysqlcheck",
    "mysqlbinlog",
    "mysqlslap",
    "mysqlsh",
    "mysqlpump",
    "mysql_secure_installation",
    "mysql_upgrade",
    "mycli",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
    "mariadb-import",
    "mariadb-check",
    "mariadb-backup",
    "mariabackup",
    "mongo",
    "mongosh",
    "mongodump",
    "mongorestore",
    "mongoexport",
    "mongoimport",
    "mongostat",
    "mongotop",
    "sshpass",
    "docker login",
    "podman login",
    "az login",
    "oc login",
    "7z",
    "7za",
    "7zr",
    "7zz",
];

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
    read(
        "Cookie header",
        &["ookie:", "ookie\":", "ookie':", "ookie\",", "ookie',", "ookie=", "ookie ="],
        cookies::of_header,
    ),
    read("curl's cookies", &[" -b ", " -b'", " -b\"", " --cookie "], cookies::of_argument)
        .near(&["curl"]),
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
        &[" -u ", " --user ", " --user=", " --proxy-user ", " -U ", " -su ", " -sSu ", " -sku ", " -fsSLu "],
        "(?:'[^\\s:\"'$/]{1,64}:((?:[^'\"\\n\\\\]|\"[^'\\n\\\\ ,:}\\])+;])+)'|\"[^\\s:\"'$/]{1,64}:([^\"\\n\\\\]+)\"|[\"']?[^\\s:\"'$/]{1,64}:([^\\s\"'\\\\]+))",
    )
    .judged(ValueCheck::Typed)
    .near(CURL),
    typed("curl's user", &[" -u'"], "[^\\s:\"'$/]{1,64}:(?:((?:[^'\"\\n\\\\]|\"[^'\\n\\\\ ,:}\\])+;])+)'|([^\\s\"'\\\\]+))")
        .judged(ValueCheck::Typed)
        .near(CURL),
    typed("curl's user", &[" -u\""], "[^\\s:\"'$/]{1,64}:(?:([^\"\\n\\\\]+)\"|([^\\s\"'\\\\]+))")
        .judged(ValueCheck::Typed)
        .near(CURL),
    typed("a client's -p", &[" -p"], quoted_or!("[ =]?", "[^\\s\"'$=\\\\-][^\\s\"'\\\\]{2,}"))
        .behind(CLIENTS),
    typed("a client's -a", &[" -a "], quoted_or!("", "[^\\s\"'$\\\\-][^\\s\"'\\\\]{2,}"))
        .behind(&["redis-cli"]),
    typed(
        "zip's -P, ssh-keygen's -N",
        &[" -P ", " -N "],
        quoted_or!("", "[^\\s\"'$\\\\-][^\\s\"'\\\\]{2,}"),
    )
    .behind(&["zip", "unzip", "ssh-keygen"]),
    typed(
        "PowerShell",
        &["ConvertTo-SecureString "],
        "(?:-String )?(?:'([^\\s'$][^'\"\\n]{2,}[^\\s'\"])'|\"([^\\s\"$][^\"\\n]{2,}[^\\s\"])\"|[\"']([^\\s\"'$]{4,}))",
    ),
    typed("openssl's pass:", &["'pass:"], "([^\\s'\"\\\\](?:[^'\"\\n\\\\]|\"[^'\\n\\\\ ,:}\\])+;]){2,})'").near(OPENSSL),
    typed("openssl's pass:", &["\"pass:"], "([^\\s\"\\\\][^\"\\n\\\\]{2,})\"").near(OPENSSL),
    typed("openssl's pass:", &["pass:"], "([^\\s\"'\\\\]{3,})").near(OPENSSL),
    typed(
        "netrc",
        &["machine ", "default "],
        // Its lines may be numbered, as `cat -n` and agents' tools show them.
        concat!(
            "(?:[^\\s\"'\\\\]{1,253}", between!(), ")?(?:#[^\\n]{0,80}", between!(), ")?",
            "(?:(?:login|account)\\s{1,4}[^\\s\"'\\\\]{1,64}", between!(), "){1,2}password\\s{1,4}([^\\s\"'\\\\]{3,})",
            "|[^\\s\"'\\\\]{1,253}", between!(),
            "password\\s{1,4}([^\\s\"'\\\\]{3,})", between!(), "(?:login|account)\\s"
        ),
    ),
    typed("a line of netrc", &["netrc:", "netrc-"], "[0-9]{1,6}[:-]\\s{0,8}password\\s{1,4}([^\\s\"'\\\\]{3,})"),
    typed(
        "a user in SQL",
        &["IDENTIFIED BY ", "identified by ", "WITH PASSWORD ", "with password "],
        "\\\\?(?:'([^\\s'\"\\\\](?:[^'\"\\n\\\\]|\"[^'\\n\\\\ ,:}\\])+;]){2,}[^\\s'\"\\\\])'|\"([^\\s\"\\\\][^\"\\n\\\\]{2,}[^\\s\"\\\\])\"|[\"']([^\\s\"'\\\\]{4,}))",
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

    const fn behind(self, programs: &'static [&'static str]) -> Rule {
        Rule { programs, ..self }
    }

    const fn near(self, near: &'static [&'static str]) -> Rule {
        Rule { near, ..self }
    }
}
