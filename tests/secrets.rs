//! Does `secrets` name every session and entry that holds a key, and never the key?

use serde_json::{Value, json};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const PASSWORD: &str = "q7Zr2LmV9xTb4";
const AT: &str = "2026-01-02T09:00:00.000Z";

/// One session with keys in its title, an output and a branch that was given up; one without.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let typed = format!("deploy with {TOKEN} and again {TOKEN}");
    let url = format!("postgres://ada:{PASSWORD}@db:5432/parser");
    let said = [
        ("user", typed.as_str()),
        ("assistant", "Deployed."),
        ("toolResult", url.as_str()),
    ];
    pi_session(&home, "0199aaaa-with", "code/parser", AT, &said);
    let path = home
        .home
        .join(".pi/agent/sessions/--x--/0199aaaa-with.jsonl");
    let mut file = std::fs::read_to_string(&path).unwrap();
    for (id, text) in [("given", TOKEN), ("other", "no key here")] {
        let text = json!([{"type": "text", "text": text}]);
        let line = json!({"type": "message", "id": id, "parentId": "e1", "timestamp": AT,
            "message": {"role": "assistant", "content": text}});
        file.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, file).unwrap();
    let said = [("user", "the key is under the mat"), ("assistant", "ghp_")];
    pi_session(&home, "0199bbbb-without", "code/mat", AT, &said);
    home
}

/// No form of the answer repeats a value.
fn says_nothing(said: &str) {
    for value in [TOKEN, &TOKEN[4..], PASSWORD] {
        assert!(!said.contains(value), "{said}");
    }
}

#[test]
fn sessions_and_entries_are_named_by_rule_and_values_are_not() {
    let home = home();
    let said = home.run(&["secrets"]);
    says_nothing(&said);
    insta::assert_snapshot!(said, @r#"
    0199aaaa  pi  ~/code/parser  deploy with ghp_[redacted] and again ghp_[redacted]
      0199aaaa:e0  user  GitHub ×2
      0199aaaa:e2  toolResult  password or token in a URL
      0199aaaa:given  assistant  GitHub
    --- stderr
    2 sessions with 9 entries looked through: 3 entries in 1 session hold keys or tokens, which are not shown.
    --- exit Some(1)
    "#);

    let output = home.output(&["secrets", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    says_nothing(&String::from_utf8_lossy(&output.stdout));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["searched"], json!({"sessions": 2, "entries": 9}));
    assert_eq!(answer["complete"], true);
    let sessions = answer["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{answer}");
    let held: Vec<(&Value, &Value)> = sessions[0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["id"], &entry["secrets"]))
        .collect();
    let url = json!({"password or token in a URL": 1});
    let expected = [
        (&json!("e0"), &json!({"GitHub": 2})),
        (&json!("e2"), &url),
        (&json!("given"), &json!({"GitHub": 1})),
    ];
    assert_eq!(held, expected, "{answer}");
    // Each is what `show` takes.
    let id = sessions[0]["session"]["id"].as_str().unwrap();
    for (entry, _) in held {
        let address = format!("{id}:{}", entry.as_str().unwrap());
        assert!(
            home.output(&["show", &address]).status.success(),
            "{address}"
        );
    }
}

#[test]
fn nothing_reveals_a_value() {
    let home = home();
    for arguments in [
        &["secrets", "--reveal"][..],
        &["secrets", "--reveal", "--json"],
        &["secrets", "--project", TOKEN],
        &["secrets", "--agent", TOKEN],
    ] {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        says_nothing(&said);
    }
}

#[test]
fn without_any_it_ends_well_and_says_what_was_read() {
    let home = home();
    let said = home.run(&["secrets", "--project", "mat"]);
    insta::assert_snapshot!(said, @r#"
    --- stderr
    1 session with 3 entries looked through: no key or token that the rules know.
    "#);
    assert_eq!(
        home.output(&["secrets", "--project", "mat"]).status.code(),
        Some(0)
    );
    // Where nothing is there to read that is said, too.
    insta::assert_snapshot!(home.run(&["secrets", "--agent", "clido"]), @r#"
    --- stderr
    No session like that: nothing was looked through.
    "#);
    insta::assert_snapshot!(home.run(&["secrets", "--since", "soon"]), @r#"
    --- stderr
    error: --since soon: not a time
    hint: for example 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026-10 or 2026-10-05
    --- exit Some(2)
    "#);
}

#[test]
fn what_cannot_be_read_is_said() {
    let home = home();
    assert!(home.output(&["sync"]).status.success());
    let path = home
        .home
        .join(".pi/agent/sessions/--x--/0199aaaa-with.jsonl");
    let mut file = std::fs::read_to_string(&path).unwrap();
    // A line that is no JSON is looked through as it stands.
    file.push_str(&format!("{TOKEN} is no JSON\n"));
    std::fs::write(&path, file).unwrap();
    let said = home.run(&["secrets"]);
    says_nothing(&said);
    assert!(said.contains("@"), "{said}");
}
