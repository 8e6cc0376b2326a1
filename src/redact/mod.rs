//! Which parts of a text are keys and tokens, and what does it read without them?
//!
//! `find` looks for them: tokens that their issuers `marked`, what stands behind the `named`, and
//! what other `rules` tell.

mod colours;
mod cookies;
mod escapes;
mod find;
mod marked;
mod named;
mod pem;
mod rules;
mod value;

use std::cmp::Reverse;

use colours::Uncoloured;
use escapes::Unescaped;
pub use find::Secret;

/// What stands where a secret stood.
pub const MARK: &str = "[redacted]";

/// Raised whenever other secrets are found than before: what was redacted by an older revision is
/// redacted again where it was shared.
pub const REVISION: u32 = 5;

/// So often escapes are read: JSON in a URL in JSON.
const ESCAPED: usize = 3;

/// The secrets of a text in their order. One that is found with colours, unseen signs or escapes
/// and without them, or in part, is there twice.
fn secrets(text: &str, escaped: usize) -> Vec<Secret> {
    let mut secrets = find::secrets(text);
    let found = secrets.len();
    if let Some(plain) = Uncoloured::of(text) {
        let found = find::secrets(&plain.text).into_iter();
        secrets.extend(found.map(|secret| Secret {
            range: plain.coloured(secret.range),
            ..secret
        }));
    }
    if let Some(plain) = (escaped > 0).then(|| Unescaped::of(text)).flatten() {
        let found = self::secrets(&plain.text, escaped - 1).into_iter();
        secrets.extend(found.map(|secret| Secret {
            range: plain.escaped(secret.range),
            ..secret
        }));
    }
    if secrets.len() > found {
        // Of two that begin together the longer one is it.
        secrets.sort_by_key(|secret| (secret.range.start, Reverse(secret.range.end)));
    }
    secrets
}

/// The text with [`MARK`] in place of its secrets; `None` when there are none.
pub fn redacted(text: &str) -> Option<String> {
    masked(text, |_| {})
}

/// As [`redacted`]; each secret is told as it is left out.
pub fn masked(text: &str, mut each: impl FnMut(&Secret)) -> Option<String> {
    replaced(text, |secret, out| {
        out.push_str(MARK);
        each(secret);
    })
}

/// As [`redacted`], with as many lines as before: where a secret goes over several, each of them
/// has the mark.
pub fn redacted_by_line(text: &str) -> Option<String> {
    replaced(text, |secret, out| {
        out.push_str(MARK);
        for _ in text[secret.range.clone()].matches('\n') {
            out.push('\n');
            out.push_str(MARK);
        }
    })
}

/// The text with what is written for each of its secrets; `None` when there are none.
fn replaced(text: &str, mut write: impl FnMut(&Secret, &mut String)) -> Option<String> {
    let mut apart: Vec<Secret> = Vec::new();
    for secret in secrets(text, ESCAPED) {
        match apart.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
            }
            _ => apart.push(secret),
        }
    }
    if apart.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in apart {
        out.push_str(&text[from..secret.range.start]);
        write(&secret, &mut out);
        from = secret.range.end;
    }
    out.push_str(&text[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        redacted(text).unwrap_or_else(|| text.to_owned())
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
            (
                "\u{1b}[32mghp_\u{1b}[01;31m\u{1b}[Ka1B2\u{1b}[m\u{1b}[Kc3D4e5F6g7H8\u{1b}[0m",
                "\u{1b}[32mghp_\u{1b}[01;31m\u{1b}[K[redacted]\u{1b}[0m",
            ),
            (
                "日\u{1b}[1mpassword\u{1b}[0m=\u{1b}[31ms3cr3tpw\u{1b}[0m \u{1b}[1m日本ghp_a1B2c3D4e5F6g7H8",
                "日\u{1b}[1mpassword\u{1b}[0m=\u{1b}[31m[redacted]\u{1b}[0m \u{1b}[1m日本ghp_[redacted]",
            ),
            // Links and other commands to a terminal.
            (
                "ghp_a1B2\u{1b}]8;;https://a.b\u{1b}\\c3D4e5F6\u{1b}]8;;\u{7}g7H8 x",
                "ghp_[redacted] x",
            ),
            (
                "ghp_a1B2\u{1b}[2Kc3D4\u{1b}(Be5F6g7H8 x",
                "ghp_[redacted] x",
            ),
            (r"\u001b[1mghp_a1B2c3D4e5F6g7H8", r"\u001b[1mghp_[redacted]"),
            // Signs that nobody sees, as they are and escaped.
            (
                "\u{feff}ghp_a1B2c3D4e5F6g7H8\u{200b}i9J0k1L2m3N4o5P6 x\u{ad}y",
                "\u{feff}ghp_[redacted] x\u{ad}y",
            ),
            (
                "gh\u{ad}p_a1B2\u{2060}c3D4\u{200d}e5F6\u{feff}g7H8 “日”",
                "gh\u{ad}p_[redacted] “日”",
            ),
            (
                r"ghp_a1B2\u200bc3D4e5F6&shy;g7H8&#8203;i9J0&#x200b;k1L2 x",
                "ghp_[redacted] x",
            ),
            (r"\u003eghp_a1B2c3D4e5F6g7H8", r"\u003eghp_[redacted]"),
            (r"\x3dghp_a1B2c3D4e5F6g7H8", r"\x3dghp_[redacted]"),
            ("?key%3Dghp_a1B2c3D4e5F6g7H8", "?key%3Dghp_[redacted]"),
            // In the names of files, and behind numbers.
            (
                "/tmp/dump_ghp_a1B2c3D4e5F6g7H8.txt",
                "/tmp/dump_ghp_[redacted].txt",
            ),
            ("run2sk-a1B2c3D4e5F6g7H8", "run2sk-[redacted]"),
            ("key_AKIAZ9Y8X7W6V5U4T3S2_old", "key_AKIA[redacted]_old"),
            ("v1_eyJhbGciOiJ9.eyJzdWIiOiJ9.a1B2", "v1_eyJ[redacted]"),
            // With a sign that is escaped, and escaped again.
            (r"ghp\u005fa1B2c3D4e5F6g7H8 x", r"ghp\u005f[redacted] x"),
            (
                r"sk\\u002dproj\\u002da1B2c3D4e5F6g7H8",
                r"sk\\u002d[redacted]",
            ),
            (r"sk-a1B2c3D4\x2de5F6g7H8\x2d x", r"sk-[redacted] x"),
            (
                "next=%2Fgo%3Ftoken%3Da1B2c3D4e5F6g7H8%26n",
                "next=%2Fgo%3Ftoken%3D[redacted]%26n",
            ),
            (
                "password%253Ds3cr3tpw%2526n",
                "password%253D[redacted]%2526n",
            ),
            (
                "<i>password=&quot;s3cr3tpw9&quot;</i>",
                "<i>password=&quot;[redacted]&quot;</i>",
            ),
            (
                "Authorization: Bearer\ta1B2c3D4e5F6g7H8 x",
                "Authorization: Bearer\t[redacted] x",
            ),
            ("Bearer%20a1B2c3D4e5F6g7H8", "Bearer%20[redacted]"),
            (
                "https%3A%2F%2Fada%3As3cr3tpw%40host",
                "https%3A%2F%2Fada%3A[redacted]%40host",
            ),
            (
                r"{\u0022password\u0022:\u0022s3cr3tpw\u0022}",
                r"{\u0022password\u0022:\u0022[redacted]\u0022}",
            ),
            (
                r"ghp_\u001b[01;31m\u001b[Ka1B2\u001b[m\u001b[Kc3D4e5F6g7H8",
                r"ghp_\u001b[01;31m\u001b[K[redacted]",
            ),
            // A quote of the value's own, in JSON and in JSON within JSON.
            (
                r#"{"password":"s3c\"r3t\\word", "n": "\n"}"#,
                r#"{"password":"[redacted]", "n": "\n"}"#,
            ),
            (
                r#"{\"password\":\"s3c\\\"r3t!\", \"n\": 1}"#,
                r#"{\"password\":\"[redacted]\", \"n\": 1}"#,
            ),
            (
                r#"{"command":"PGPASSWORD='s3c\"r3t;x' psql\nls"}"#,
                r#"{"command":"PGPASSWORD='[redacted]' psql\nls"}"#,
            ),
            (
                "psql postgres://ada:s3c@ret@db:5432/x ada@example.com",
                "psql postgres://ada:[redacted]@db:5432/x ada@example.com",
            ),
            (
                "machine a.example login ada password s3cr3tpw x",
                "machine a.example login ada password [redacted] x",
            ),
            (
                "machine a.example\n  login ada\n  password s3cr3tpw\n",
                "machine a.example\n  login ada\n  password [redacted]\n",
            ),
            (
                r#"{"text":"default login ada\npassword s3cr3tpw\n"}"#,
                r#"{"text":"default login ada\npassword [redacted]\n"}"#,
            ),
            (
                "mysql -u ada \\\n -ps3cr3tpw x",
                "mysql -u ada \\\n -p[redacted] x",
            ),
            (
                "     1→machine a.example # of mine\n     2→  login ada\n     3→  password s3cr3tpw\n",
                "     1→machine a.example # of mine\n     2→  login ada\n     3→  password [redacted]\n",
            ),
            (
                "machine a.example login ada account b password s3cr3tpw\nmachine b password s3cr3tpw login ada",
                "machine a.example login ada account b password [redacted]\nmachine b password [redacted] login ada",
            ),
            (
                "/home/ada/.netrc:3:  password s3cr3tpw\n",
                "/home/ada/.netrc:3:  password [redacted]\n",
            ),
            (
                "mysql -u ada `\r\n -ps3cr3tpw x",
                "mysql -u ada `\r\n -p[redacted] x",
            ),
            (
                r"mysql.exe --defaults-file=C:\new.cnf -ps3cr3tpw x",
                r"mysql.exe --defaults-file=C:\new.cnf -p[redacted] x",
            ),
            // A quote that is never closed takes nothing of what stands behind the text it is in.
            (
                r#"{"command": "curl -u'ada:S3cr3tPw9x", "n": 1, "o": {"value": "curl -u'ada:S3cr3tPw8x"}}"#,
                r#"{"command": "curl -u'ada:[redacted]", "n": 1, "o": {"value": "curl -u'ada:[redacted]"}}"#,
            ),
            ("curl -u 'ada:pa\"ss9word' x", "curl -u 'ada:[redacted]' x"),
            (
                "| curl -u 'ada:S3cr3tPw1x … | curl -u 'bob:S3cr3tPw2x … |",
                "| curl -u 'ada:[redacted] … | curl -u 'bob:[redacted] … |",
            ),
            (
                r#"{"command":"curl -b 'sid=a1B2c3D4e5F6g7H8", "n":1}"#,
                r#"{"command":"curl -b 'sid=[redacted]", "n":1}"#,
            ),
            (
                r#""C:\mysql\bin\mysql.exe" -ps3cr3tpw x '/opt/bin/mysql5.7' -ps3cr3tpw x"#,
                r#""C:\mysql\bin\mysql.exe" -p[redacted] x '/opt/bin/mysql5.7' -p[redacted] x"#,
            ),
            (
                "Set-Cookie: lang=de; Path=/, session=a1B2c3D4e5F6g7H8; HttpOnly\nCookie: a b=1;; [x]=2; sid=a1B2c3D4e5F6g7H8",
                "Set-Cookie: lang=de; Path=/, session=[redacted]; HttpOnly\nCookie: a b=1;; [x]=2; sid=[redacted]",
            ),
            // By its end.
            (
                "API_TOKEN=billing-department-production-service-account-in-europe-west-cluster-x9K2mQ7vL4pR8sT1wZ6bN3 x",
                "API_TOKEN=[redacted] x",
            ),
            // All cookies of a header that may be keys.
            (
                "curl -b x -H 'Cookie: lang=de; session=a1B2c3D4e5F6g7H8; auth=b1B2c3D4e5F6g7H8; n=1' y",
                "curl -b x -H 'Cookie: lang=de; session=[redacted]; n=1' y",
            ),
            (
                r#"{"Cookie": "session=a1B2c3D4e5F6g7H8; n=1"}"#,
                r#"{"Cookie": "session=[redacted]; n=1"}"#,
            ),
            // However many others stand before them, and whatever is in one between.
            (
                &format!("Cookie: {}sid=a1B2c3D4e5F6g7H8", "lang=de; ".repeat(60)),
                &format!("Cookie: {}sid=[redacted]", "lang=de; ".repeat(60)),
            ),
            (
                "> Cookie: sessionid=a1B2c3D4e5F6g7H8; prefs=tz:Berlin; auth=b1B2c3D4e5F6g7H8; n=1\nx",
                "> Cookie: sessionid=[redacted]; n=1\nx",
            ),
            (
                r#"Cookie: sid="a1B2c3D4e5F6g7H8"; n=1"#,
                r#"Cookie: sid="[redacted]"; n=1"#,
            ),
            (
                "Cookie: cookie-consent=1; my_cookie=a:2; sid_cookie=a1B2c3D4e5F6g7H8; cookie=b1B2c3D4e5F6g7H8; n=1",
                "Cookie: cookie-consent=1; my_cookie=a:2; sid_cookie=[redacted]; n=1",
            ),
            (
                "headers: { Cookie: `theme=dark; sid=a1B2c3D4e5F6g7H8` }",
                "headers: { Cookie: `theme=dark; sid=[redacted]` }",
            ),
            (
                "curl -b 'n=1; session=a1B2c3D4e5F6g7H8' https://a.example",
                "curl -b 'n=1; session=[redacted]' https://a.example",
            ),
            (
                "curl --cookie \"session=a1B2c3D4e5F6g7H8\" https://a.example",
                "curl --cookie \"session=[redacted]\" https://a.example",
            ),
            (
                "curl -s -b session=a1B2c3D4e5F6g7H8 https://a.example/b?c=d",
                "curl -s -b session=[redacted] https://a.example/b?c=d",
            ),
            (
                "curl --cookie=session=a1B2c3D4e5F6g7H8 https://a.example",
                "curl --cookie=session=[redacted] https://a.example",
            ),
            // A value in quotes goes to the one that closes.
            (
                "mysql -u root -p'S3cr3t Pw9' db",
                "mysql -u root -p'[redacted]' db",
            ),
            (
                "/usr/bin/mysql -u root -p\"S3cr3t Pw9\" db",
                "/usr/bin/mysql -u root -p\"[redacted]\" db",
            ),
            (
                "sshpass -p 'correct horse staple' ssh ada@host",
                "sshpass -p '[redacted]' ssh ada@host",
            ),
            (
                "redis-cli -a 'S3cr3t Pw9' ping; zip -P \"S3cr3t Pw9\" a.zip b",
                "redis-cli -a '[redacted]' ping; zip -P \"[redacted]\" a.zip b",
            ),
            (
                "curl -u 'ada:S3cr3t Pw9' x; curl -u'ada:S3cr3t Pw9' x; curl --user \"ada:S3cr3t Pw9\" x",
                "curl -u 'ada:[redacted]' x; curl -u'ada:[redacted]' x; curl --user \"ada:[redacted]\" x",
            ),
            (
                "openssl rsa -passin 'pass:S3cr3t Pw9' -in k",
                "openssl rsa -passin 'pass:[redacted]' -in k",
            ),
            (
                "CREATE USER ada IDENTIFIED BY 'S3cr3t Pw9';",
                "CREATE USER ada IDENTIFIED BY '[redacted]';",
            ),
            (
                "mysqldump -uroot -pS3cret99 app | mongosh -u a -p s3cr3tpw",
                "mysqldump -uroot -p[redacted] app | mongosh -u a -p [redacted]",
            ),
            // What manifests say of a container.
            (
                "- name: DB_PASSWORD\n        value: s3cr3tpw\n",
                "- name: DB_PASSWORD\n        value: [redacted]\n",
            ),
            (
                "     1→- name: DB_PASSWORD\n     2→  value: s3cretpw\n",
                "     1→- name: DB_PASSWORD\n     2→  value: [redacted]\n",
            ),
            (
                "12 | - name: DB_PASSWORD\n13 |   value: s3cretpw\n",
                "12 | - name: DB_PASSWORD\n13 |   value: [redacted]\n",
            ),
            (
                "+- name: DB_PASSWORD\n+  value: s3cretpw\n",
                "+- name: DB_PASSWORD\n+  value: [redacted]\n",
            ),
            (
                r#"{"name":"API_TOKEN","value":"0123456789abcdef0"}"#,
                r#"{"name":"API_TOKEN","value":"[redacted]"}"#,
            ),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    /// However long it is: a JWT has two thousand letters.
    #[test]
    fn nothing_of_a_long_secret_is_left() {
        let long = "a1B2c3D4-e5F6.g7H8_".repeat(200);
        for (before, behind) in [
            ("TOKEN=", " and on"),
            ("{\"access_token\": \"", "\"}"),
            ("Authorization: Bearer ", "\n"),
        ] {
            let expected = format!("{before}{MARK}{behind}");
            assert_eq!(shown(&format!("{before}{long}{behind}")), expected);
        }
    }

    /// What was redacted stays as it is: an agent that reads a redacted answer writes it down.
    #[test]
    fn a_mark_ends_a_private_key() {
        let public = "AAAAC3NzaC1lZDI1NTE5AAAAIJ1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6A7B8C9D0E1";
        let redacted = format!("-----BEGIN PRIVATE KEY-----{MARK}-----\nssh-ed25519 {public}\n");
        assert_eq!(shown(&redacted), redacted);
    }

    /// Whoever shows a file line by line has as many as it has.
    #[test]
    fn by_line_no_line_is_lost() {
        let key = "-----BEGIN PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END PRIVATE KEY-----";
        let text = format!("a\r\n{key}\r\nTOKEN=a1B2c3D4e5F6g7H8\nb\n");
        let expected = format!(
            "a\r\n-----BEGIN PRIVATE KEY-----{MARK}\n{MARK}\n{MARK}\n{MARK}-----\r\nTOKEN={MARK}\nb\n"
        );
        assert_eq!(redacted_by_line(&text), Some(expected.clone()));
        assert_eq!(redacted_by_line(&expected), None);
        assert_eq!(redacted_by_line("a\nb\n"), None);
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
            "--- PASS: TestParse2 (0.00s)\nPASS: test1",
            "cd /srv; pwd=/srv/App2; PWD=/Users/Ada/Git2",
            "archive.open(member, pwd=pwd)",
            "On the login page the password field is empty; a machine where the login and the password differ",
            "docker pull mysql\ngit log -p main1234",
            "netrc: password lines of it; a machine password based login; the default password protects account ada",
            r#"sql = "CREATE USER a IDENTIFIED BY '" + userPassword1 + "'"; curl -u 'admin:" + password1 + "'"#,
            r#"{"command":"docker pull mysql\ngit log -p main1234"}"#,
            "- name: DB_PASSWORD\n- name: OTHER\n  value: other1\nThe password\n3 | has 2 values",
            "docker compose -f mysql.yml -p myproject up",
            "gcc -lmysqlclient -pthread -o x",
            r#"grep -r "mysql" -pattern x"#,
            "gzip -N notes1.txt; sysbench --db-driver=mysql -pattern1 x",
            r#"run("mysql -u root -p", "then it asks 2 times"); sh -c "mysql -p" and "x1 y2""#,
            r#"curl -u "ada:" -H "a: b1" -b cookies.txt -c jar2.txt x"#,
            "Cookie: theme=dark; lang=de; consent=2026-01-05T09:00:00Z; page=/a/b/c/d/e/f/g/h1",
            "Set-Cookie: a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Domain=app1.example.com; HttpOnly",
            "A cookie: it has a name and a value; then session=never_expires_in_the_browser follows",
            "let cookie = parse(header); cookie==other; Cookie::new(name, value)",
            "sort -b session=a1B2c3D4e5F6g7H8; git checkout -b feature=a1B2c3D4e5F6g7H8",
            "docker run --name mysql -p 3306:3306 -p 127.0.0.1:33060:33060 x",
            "Set-Cookie: theme=dark; Path=/; session-expired=never",
            "glpk-4.65-h4d5e6f7a8b9c0d1e2 https://example.com/glrF00d1234567890abcd",
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password1",
            "restore_key-d41d8cd98f00b204e9800998ecf8427e 4api-3f2b8c1d-9e8f-7a6b-5c4d-3e2f1a0b9c8d",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b4b1d34ca495991b7852b855a1b2c",
            "my_sk-learn-contrib-something-long task_hf_hub_download_of_the_model",
            "printf('%20s %2d %5d', 100%, 3%a4) \\u00e9 \\x41 C:\\/dir %TEMP%",
            "https%3A%2F%2Fexample.com%2Fa%3Fpage%3D2%26sort%3Dname",
        ] {
            assert_eq!(redacted(text), None, "{text}");
        }
    }

    /// Wherever it is looked at no further.
    #[test]
    fn letters_of_many_bytes_are_cut_nowhere() {
        for begins in [
            "Cookie: a=1; ",
            "curl -b 'a=1; ",
            "api_key=",
            "mysql -p'",
            "machine ",
        ] {
            for before in ["", "x", "xy"] {
                for letters in ["é".repeat(3000), "→ ".repeat(3000)] {
                    let text = format!("{before}{begins}{before}{letters}");
                    let read = redacted(&text).unwrap_or_else(|| text.clone());
                    // What is left stands in the text, in the same order.
                    let mut rest = text.as_str();
                    for left in read.split(MARK) {
                        let at = rest.find(left);
                        rest = &rest[at.expect("it is of the text") + left.len()..];
                    }
                    assert!(read.starts_with(&text[..before.len() + 1]), "{read}");
                }
            }
        }
    }

    #[test]
    fn hostile_text_comes_to_an_end() {
        for begins in [
            "-eyJ",
            "-sk-",
            "://",
            "-----BEGIN PRIVATE KEY-----",
            "api_key=",
            "PASSWORD=",
            "password ",
            "token: \"",
            " mysql -p",
            "curl -u a",
            "Cookie: sid",
            "ookie:",
            "ookie: a;",
            "Cookie: a=1;",
            "Cookie: session=\"",
            "ookie=,",
            "ookie=a=b;",
            "a=ookie=;",
            "ookie=;sid=a1B2c3D4e5F6g7H8;",
            "Cookie: a=b; a-cookie.c=d;",
            " -b a=b;",
            " mysql -p'",
            "mysql ",
            "Authorization: ",
            "%25",
            "&#",
            "&amp;",
            "\\",
            "\\u005c",
            "%5Cu002d",
            &format!(
                "{}\n{}\n",
                "-----BEGIN PRIVATE KEY-----".repeat(30),
                "n ".repeat(400)
            ),
        ] {
            let text = begins.repeat(50_000 / begins.len());
            let _ = redacted(&text);
        }
    }
}
