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
    // Without it, all of it is replaced, and what cannot be is taken back.
    let gone = ada.write_session(BOAT, "0b", &[SECRETS[0], "gone"]);
    ada.json(&["push", "--raw"]);
    std::fs::remove_file(gone).unwrap();
    assert_eq!(ada.json(&["push"])["taken_back"], 1);
    assert!(!holds(&said(store.path()), SECRETS[0]));
}

/// Which blocks the other one needs is not known then.
#[test]
fn raw_bytes_go_though_another_manifest_cannot_be_read() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.team(&["init", &store.address(), "--allow-raw"]);
    ada.write_session(BOAT, "0a", &[SECRETS[0]]);
    let gone = ada.write_session(BOAT, "0b", &["of the boat"]);
    ada.json(&["push", "--raw"]);
    assert!(holds(&said(store.path()), SECRETS[0]));
    std::fs::remove_file(gone).unwrap();
    let mut files = tree(store.path()).into_iter();
    let is_other = |of: &[u8]| String::from_utf8_lossy(of).contains("\"0b\"");
    let other = files.find(|(name, of)| name.contains("/files/") && is_other(of));
    std::fs::write(store.path().join(&other.unwrap().0[1..]), "{").unwrap();
    assert_eq!(ada.output(&["push"]).status.code(), Some(1));
    let said = said(store.path());
    assert!(holds(&said, "of the boat") && !holds(&said, SECRETS[0]));
}

/// Of a file its path, its session and its directory are told too.
#[test]
fn no_manifest_holds_a_secret() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, SECRETS[1], &["of that name"]);
    let path = ada.write_session(BOAT, "0b", &["in that directory"]);
    let below = ada.cwd(BOAT).join(SECRETS[1]);
    std::fs::create_dir_all(&below).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let cwd = ada.cwd(BOAT).display().to_string();
    std::fs::write(&path, text.replacen(&cwd, &below.display().to_string(), 1)).unwrap();
    let output = ada.output(&["push"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("key or a token") && !told.contains(SECRETS[1]),
        "{told}"
    );
    let said = said(store.path());
    assert!(holds(&said, "in that directory") && !holds(&said, "of that name"));
    assert!(!holds(&said, SECRETS[1]));
}
