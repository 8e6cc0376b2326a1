//! Does no block hold a secret, and are raw bytes the same bytes?

use std::path::Path;

use crate::machine::{BOAT, Folder, Machine, tree};

pub const SECRETS: [&str; 3] = [
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz01",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLF",
];

/// What the blocks of a store say, one behind the other.
fn said(store: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, bytes) in tree(store) {
        if name.ends_with(".zst") {
            all.extend(zstd::bulk::decompress(&bytes, 1 << 20).unwrap());
        } else {
            all.extend(bytes);
        }
    }
    all
}

pub fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|of| of == text.as_bytes())
}

#[test]
fn no_block_holds_a_secret() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let texts: Vec<String> = SECRETS
        .iter()
        .map(|secret| format!("the token is {secret} indeed"))
        .collect();
    let path = ada.write_session(BOAT, "0a", &[&texts[0], "between", &texts[1]]);
    let pushed = ada.json(&["push"]);
    assert_eq!(pushed["sessions"][0]["redactions"], 2);
    // In what is appended neither.
    ada.say(&path, &texts[2]);
    ada.json(&["push"]);
    let said = said(store.path());
    assert!(holds(&said, "between") && holds(&said, "indeed"));
    for secret in SECRETS {
        assert!(!holds(&said, secret), "{secret}");
    }
    // All else of every line is as it was.
    let bob = Machine::sharing("bob", &store.address());
    bob.json(&["pull"]);
    let copies = bob.copies();
    let copy = String::from_utf8(copies.into_values().next().unwrap()).unwrap();
    let mut expected = std::fs::read_to_string(&path).unwrap();
    for secret in SECRETS {
        // What its issuer begins every key of this kind with stays.
        let mark = if secret.starts_with("AKIA") {
            "AKIA[redacted]"
        } else {
            "[redacted]"
        };
        expected = expected.replace(secret, mark);
    }
    assert_eq!(copy, expected);
}

#[test]
fn a_secret_that_arrives_in_two_halves_is_not_sent() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let path = ada.write_session(BOAT, "0a", &["first"]);
    let whole = std::fs::read_to_string(&path).unwrap();
    ada.say(&path, &format!("the token is {} indeed", SECRETS[1]));
    let later = std::fs::read_to_string(&path).unwrap();
    for end in whole.len()..later.len() {
        if end % 29 == 0 {
            std::fs::write(&path, &later[..end]).unwrap();
            ada.json(&["push"]);
            assert!(!holds(&said(store.path()), "ghp_"), "{end}");
        }
    }
}

#[test]
fn raw_bytes_come_out_as_they_went_in() {
    let store = Folder::new();
    let ada = Machine::new("ada");
    ada.team(&["init", &store.address(), "--host", "ada"]);
    ada.team(&["share", BOAT]);
    let path = ada.write_session(BOAT, "0a", &[SECRETS[0], "two"]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"no JSON, no UTF-8: \xff\xfe\0\n{\"torn");
    std::fs::write(&path, &bytes).unwrap();

    let refused = ada.output(&["push", "--raw"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--allow-raw"));
    ada.team(&["init", &store.address(), "--allow-raw"]);
    ada.json(&["push", "--raw"]);
    let bob = Machine::sharing("bob", &store.address());
    bob.json(&["pull"]);
    assert_eq!(bob.copies().into_values().collect::<Vec<_>>(), [bytes]);
    // Without it, all of it is replaced.
    ada.json(&["push"]);
    assert!(!holds(&said(store.path()), SECRETS[0]));
}
