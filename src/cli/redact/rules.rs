//! What does a key or token look like? By the marks that its issuer put on it so that it can be found where it should not be.
//!
//! The marks are those that the issuers document for secret scanning, the same that GitHub's push protection and gitleaks
//! go by; JWT is RFC 7519, PEM RFC 7468, the Bearer header RFC 6750, user information in URLs RFC 3986.

use super::pem;

/// One kind of secret: a beginning that stays, and what follows it.
pub struct Rule {
    /// How it begins. This is shown, so that the reader knows what was there.
    pub begins: &'static [&'static str],
    /// What stands right behind the beginning: a pattern without Unicode classes. With a group only the group is secret.
    pub rest: &'static str,
    /// No letter, digit or `_` stands before it.
    pub word: bool,
    /// There is a digit in it, or so many letters in a row: names made of words have neither.
    pub letters: usize,
    /// How many bytes behind what the pattern finds are secret too.
    pub more: fn(&str) -> usize,
}

/// So many letters in a row are no word.
const NO_WORD: usize = 30;

/// Names that stand before a secret in settings, environments and JSON.
const NAMED: &[&str] = &[
    "API_KEY",
    "api_key",
    "apiKey",
    "api-key",
    "ACCESS_KEY",
    "access_key",
    "SECRET_KEY",
    "secret_key",
    "secretKey",
    "CLIENT_SECRET",
    "client_secret",
    "clientSecret",
    "_SECRET",
    "_TOKEN",
    "_token",
    "Token",
    "_PASSWORD",
    "password",
];

/// As issuers make them.
const fn issued(begins: &'static [&'static str], rest: &'static str) -> Rule {
    Rule {
        begins,
        rest,
        word: true,
        letters: NO_WORD,
        more: |_| 0,
    }
}

/// All of them. Lengths are the shortest that are issued, or less: a key whose end is cut off is one still. There are no more
/// than 64 beginnings of three bytes, no more than 64 longer ones, and none is shorter: so they are looked for at once.
pub const RULES: &[Rule] = &[
    // OpenAI, Anthropic, OpenRouter, DeepSeek and others
    issued(&["sk-"], "[A-Za-z0-9_-]{16,}"),
    // GitHub
    issued(
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        "[A-Za-z0-9_]{16,}",
    ),
    // GitLab
    issued(&["glp", "glr"], "(?:at|tt|t)-([A-Za-z0-9_.-]{16,})").with_letters(10),
    // AWS
    issued(&["AKIA", "ASIA"], "[A-Z0-9]{16}").with_letters(16),
    // Google
    issued(&["AIza"], "[A-Za-z0-9_-]{20,}"),
    // Google
    issued(&["ya29.", "GOCSPX-"], "[A-Za-z0-9_-]{16,}"),
    // Slack
    issued(&["xox", "xapp"], "[abeoprs]?-([A-Za-z0-9-]{10,})"),
    // Slack
    issued(&["hooks.slack.com/services/"], "[A-Za-z0-9/]{20,}"),
    // Stripe
    issued(&["sk_", "rk_"], "(?:live|test)_([A-Za-z0-9]{16,})").with_letters(20),
    // Stripe
    issued(&["whsec_"], "[A-Za-z0-9]{16,}").with_letters(20),
    // npm
    issued(&["npm_"], "[A-Za-z0-9]{30,}"),
    // PyPI
    issued(&["pypi-AgE"], "[A-Za-z0-9_-]{16,}"),
    // crates.io
    issued(&["cio"], "[A-Za-z0-9]{32}"),
    // Hugging Face
    issued(&["hf_"], "[A-Za-z0-9]{30,}"),
    // Groq
    issued(&["gsk_"], "[A-Za-z0-9]{30,}"),
    // xAI, Perplexity
    issued(&["xai-", "pplx-"], "[A-Za-z0-9]{30,}"),
    // Replicate
    issued(&["r8_"], "[A-Za-z0-9]{30,}"),
    // SendGrid
    issued(&["SG."], "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}"),
    // DigitalOcean
    issued(&["dop_v1_"], "[0-9a-f]{16,}"),
    // Linear, Notion
    issued(&["lin_api_", "ntn_"], "[A-Za-z0-9]{30,}"),
    // Atlassian
    issued(&["ATATT3"], "[A-Za-z0-9_=-]{30,}"),
    // Vault
    issued(&["hvs.", "hvb."], "[A-Za-z0-9_-]{20,}"),
    // Databricks
    issued(&["dapi"], "[0-9a-f]{32}"),
    // Shopify
    issued(&["shp"], "(?:at|ca|pa|ss)_([0-9a-fA-F]{16,})"),
    // Tailscale
    issued(&["tskey-"], "[A-Za-z0-9-]{16,}"),
    // age
    issued(&["AGE-SECRET-KEY-1"], "[A-Z0-9]{16,}"),
    // JWT: header, claims, and a signature if there is one
    issued(
        &["eyJ"],
        "[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?",
    ),
    // Bearer header
    issued(&["Bearer ", "bearer "], "[A-Za-z0-9._~+/=-]{16,}"),
    // Basic header
    issued(
        &["uthorization: Basic ", "uthorization: basic "],
        "[A-Za-z0-9+/=]{8,}",
    )
    .within_a_word(),
    // PEM: a private key to its end, or as far as it goes
    Rule {
        begins: &["-----BEGIN "],
        rest: "[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----()",
        word: false,
        letters: 0,
        more: pem::body,
    },
    // the password in a URL
    Rule {
        begins: &["://"],
        rest: "[^/\\s:@\"'\\\\<>]{0,64}:([^/\\s@\"'\\\\<>\\[\\]]{4,})@",
        word: false,
        letters: 0,
        more: |_| 0,
    },
    // what is named so
    issued(
        NAMED,
        "(?:\\\\?[\"'])?\\s{0,2}(?::=|=>|=|:)\\s{0,2}(?:\\[\\s{0,2})?(?:\\\\?[\"'])?([A-Za-z0-9_+/=.~-]{16,})",
    )
    .within_a_word()
    .with_letters(usize::MAX),
];

impl Rule {
    const fn within_a_word(self) -> Rule {
        Rule {
            word: false,
            ..self
        }
    }

    const fn with_letters(self, letters: usize) -> Rule {
        Rule { letters, ..self }
    }
}
