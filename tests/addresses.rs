//! By what is a session or an entry named where people read it? By what they can type again: eight
//! characters, and more only where others begin as it does.

use serde_json::{Value, json};
use sessionary::index::MOST_CALLED_SO;

use crate::sandbox::Sandbox;

/// Sessions of which some share the first 8, 13 and 20 characters of their ids, and what tells each
/// of them apart.
const SESSIONS: [(&str, &str); 7] = [
    (
        "019b8d10-0000-7000-8000-000000000001",
        "019b8d10-0000-7000-8000-000000000001",
    ),
    (
        "019b8d10-0000-7000-8000-000000000002",
        "019b8d10-0000-7000-8000-000000000002",
    ),
    (
        "019b8d10-0000-7000-8999-000000000003",
        "019b8d10-0000-7000-89",
    ),
    ("019b8d10-0000-7fff-8000-000000000004", "019b8d10-0000-7f"),
    ("019b8d10-ffff-7000-8000-000000000005", "019b8d10-f"),
    ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b"),
    ("f47ac10c", "f47ac10c"),
];

/// Entries of each session, by the same rule.
const ENTRIES: [(&str, &str); 5] = [
    ("aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0"),
    ("aaaaaaaa-1000-4000-8000-000000000002", "aaaaaaaa-1"),
    ("bbbbbbbb-0000-4000-8000-000000000003", "bbbbbbbb"),
    ("01KE6P5WWR000000000000001B", "01KE6P5W"),
    ("c1d2e3f4", "c1d2e3f4"),
];

/// A home with these sessions, of which only the last one is of the current directory.
fn home() -> Sandbox {
    let home = Sandbox::new();
    for (number, (id, _)) in SESSIONS.iter().enumerate() {
        let time = format!("2026-01-05T09:00:0{number}.000Z");
        let cwd = match number {
            2 => "~/code/parser".to_owned(),
            _ => "/elsewhere".to_owned(),
        };
        let head =
            json!({"type": "session", "version": 3, "id": id, "timestamp": time, "cwd": cwd});
        let mut lines = format!("{head}\n");
        let mut parent = Value::Null;
        for (entry, _) in ENTRIES {
            let message = json!({"role": "user", "content": format!("walrus {entry} of {id}")});
            let line = json!({"type": "message", "id": entry, "parentId": parent, "timestamp": time, "message": message});
            lines.push_str(&format!("{line}\n"));
            parent = entry.into();
        }
        home.write(&format!(".pi/agent/sessions/--w--/{number}.jsonl"), &lines);
    }
    home
}

#[test]
fn a_session_is_named_by_what_tells_it_apart_in_the_whole_index() {
    let home = home();
    let column = |shown: &str| {
        let rows = shown
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().nth(1).unwrap().to_owned());
        let mut ids: Vec<String> = rows.collect();
        ids.sort();
        ids
    };
    let listed = home.run(&["list", "--all", "--limit", "7"]);
    let (listed, _) = listed.split_once("--- stderr").unwrap_or((&listed, ""));
    let mut all = SESSIONS.map(|(_, short)| short);
    all.sort_unstable();
    assert_eq!(column(listed), all);
    // The only one that is listed is not the only one there is.
    let here = home.run(&["list"]);
    assert!(here.contains("  019b8d10-0000-7000-89  "), "{here}");
    let found = home.run(&["search", "--every-copy", "--limit", "0", "walrus"]);
    for (id, short) in SESSIONS {
        assert!(
            found.contains(&format!("  {short}:c1d2e3f4\n")),
            "{short}: {found}"
        );
        assert_eq!(home.json(&["show", short, "--json"])["session"]["id"], id);
        for command in ["tree", "context"] {
            let shown = home.run(&[command, short]);
            assert!(shown.contains("c1d2e3f4"), "{command} {short}: {shown}");
        }
        let filter = format!("session:{short}");
        let hits = home.json(&["search", "walrus", &filter, "--json"]);
        assert_eq!(hits["sessions"][0]["session"]["id"], id, "{short}");
        assert_eq!(hits["total_sessions"], 1, "{short}");
    }
    // Programs get the ids themselves.
    let hits = home.json(&["search", "walrus", "--json"]);
    let address = hits["sessions"][0]["hits"][0]["address"].as_str().unwrap();
    assert_eq!(
        address.split_once(':').unwrap().0,
        hits["sessions"][0]["session"]["id"]
    );
    let tsv = home.run(&["list", "--all", "--fields", "id", "--tsv"]);
    assert!(
        tsv.contains("f47ac10b-58cc-4372-a567-0e02b2c3d479\n"),
        "{tsv}"
    );
    let begun = home.run(&["show", "019b8d10-0000-7000-8"]);
    assert!(
        begun.contains("3 sessions fit") && begun.ends_with("--- exit Some(2)\n"),
        "{begun}"
    );
}

#[test]
fn an_entry_is_named_by_what_tells_it_apart_in_its_session() {
    let home = home();
    let tree = home.run(&["tree", "f47ac10b"]);
    let shown = home.run(&["show", "f47ac10b"]);
    let found = home.run(&[
        "search",
        "walrus session:f47ac10b",
        "--passages",
        "--limit",
        "0",
    ]);
    for (id, short) in ENTRIES {
        assert!(tree.contains(&format!(" {short} user ")), "{short}: {tree}");
        assert!(
            shown.contains(&format!(" · {short} ──")),
            "{short}: {shown}"
        );
        assert!(
            found.contains(&format!("  f47ac10b:{short}\n")),
            "{short}: {found}"
        );
        let address = format!("f47ac10b:{short}");
        assert_eq!(home.json(&["show", &address, "--json"])["focus"], id);
        let raw = home.run(&["show", &address, "--raw"]);
        assert!(raw.contains(&format!(r#""id":"{id}""#)), "{raw}");
        let context = home.run(&["context", &address]);
        assert!(context.contains(id), "{context}");
        let branch = home.json(&["show", "f47ac10b", "--branch", short, "--json"]);
        assert_eq!(
            branch["entries"].as_array().unwrap().last().unwrap()["id"],
            id
        );
        let exported = home.run(&["export", &address, "--format", "jsonl"]);
        assert!(exported.contains(id), "{exported}");
        let named = home.json(&["search", &address, "--json"]);
        assert_eq!(named["named"][0]["entry"], id, "{named}");
        assert_eq!(home.run(&["tree", &address]), tree);
        let resumed = home.run(&["resume", &address, "--print"]);
        let advice = format!("hint: `sessionary branch {address}` makes a session that ends there");
        assert!(resumed.contains(&advice), "{resumed}");
        let forked = home.json(&["branch", &address, "--dry-run", "--json"]);
        assert!(forked.to_string().contains(id), "{forked}");
    }
    let labelled = home.json(&["label", "f47ac10b:aaaaaaaa-1", "here", "--json"]);
    let labelled = labelled.to_string();
    assert!(
        labelled.contains("aaaaaaaa-1000-4000-8000-000000000002"),
        "{labelled}"
    );

    let begun = home.run(&["show", "f47ac10b:aaaa"]);
    assert_eq!(
        begun,
        "--- stderr\nerror: 2 entries fit \"aaaa\"\n\
         hint: aaaaaaaa-0000-4000-8000-000000000001\n\
         hint: aaaaaaaa-1000-4000-8000-000000000002\n--- exit Some(2)\n"
    );
    for nothing in ["f47ac10b:dddd", "f47ac10b:L99", "f47ac10b:%", "f47ac10b:_"] {
        let none = home.run(&["show", nothing]);
        assert!(none.ends_with("--- exit Some(1)\n"), "{nothing}: {none}");
    }
}

/// Of two sessions with one id an entry is of the one that has it.
#[test]
fn an_entry_tells_two_sessions_of_one_id_apart() {
    let home = Sandbox::new();
    for (name, word) in [("a", "walrus"), ("b", "heron")] {
        let head = json!({"type": "session", "version": 3, "id": "one", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
        let entry = |id: &str, text: &str| {
            let message = json!({"role": "user", "content": text});
            json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:00.000Z", "message": message})
        };
        let (own, both) = (entry(&format!("{word}1"), word), entry("both", "tusks"));
        let lines = format!("{head}\n{own}\n{both}\n");
        home.write(&format!(".pi/agent/sessions/--w--/{name}.jsonl"), &lines);
    }
    for word in ["walrus", "heron"] {
        let shown = home.run(&["show", &format!("one:{word}1")]);
        assert!(shown.contains(word), "{shown}");
    }
    let refused = home.output(&["show", "one:both"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("2 sessions fit"), "{said}");
}

/// Where a name has more sessions than are candidates, an entry chooses none: another may have it.
#[test]
fn an_entry_does_not_choose_among_more_sessions_than_are_looked_at() {
    let home = Sandbox::new();
    for at in 0..=MOST_CALLED_SO {
        let time = format!("2026-01-05T09:{:02}:{:02}.000Z", at / 60, at % 60);
        let head = json!({"type": "session", "version": 3, "id": format!("s{at:03}"), "timestamp": time, "cwd": "/w"});
        // The oldest and the newest have it.
        let id = match at {
            0 | MOST_CALLED_SO => "both",
            1 => "only",
            _ => "other",
        };
        let message = json!({"role": "user", "content": "Fix tests"});
        let entry = json!({"type": "message", "id": id, "parentId": null, "timestamp": time, "message": message});
        let name = format!(".pi/agent/sessions/--w--/{at:03}.jsonl");
        home.write(&name, &format!("{head}\n{entry}\n"));
    }
    let refused = home.output(&["label", "Fix tests:both", "here"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("sessions fit"), "{said}");
    // All whose ids begin so are looked at.
    let shown = home.run(&["show", "s:only"]);
    assert!(shown.contains("Fix tests"), "{shown}");
}
