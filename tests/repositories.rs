//! Is a repository one, wherever its checkouts are? By its remote, which is read from `.git` or
//! which its agent recorded.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::shells::offered;

const REMOTE: &str = "github.com/ada/boat";
const CATALOGUE: &str = ".cache/sessionary/v5/catalogue.sqlite";

/// A session of pi in this folder.
fn pi(home: &Sandbox, id: &str, folder: &str) {
    let text = format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-02T09:00:00.000Z","cwd":"{folder}"}}"#,
            "\n",
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-02T09:00:00.000Z","message":{{"role":"user","content":"Paint {id}"}}}}"#,
            "\n",
        ),
        id = id,
        folder = folder
    );
    home.write(&format!(".pi/agent/sessions/--x--/{id}.jsonl"), &text);
}

/// A session of Codex in a folder that is gone, with what it recorded of git.
fn codex(home: &Sandbox, number: u32, url: &str) -> String {
    let id = format!("019b8d5e-7c80-7000-8000-{number:012}");
    let time = "2026-01-03T09:00:00.000Z";
    let lines = [
        json!({"timestamp": time, "type": "session_meta", "payload": {"id": id, "timestamp": time, "cwd": "/gone/codex",
               "originator": "codex_exec", "cli_version": "0.169.0", "source": "exec",
               "git": {"branch": "main", "repository_url": url}}}),
        json!({"timestamp": time, "type": "response_item", "payload": {"type": "message", "role": "user",
               "content": [{"type": "input_text", "text": "Paint the mast"}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(
        &format!(".codex/sessions/2026/01/03/rollout-2026-01-03T09-00-00-{id}.jsonl"),
        &text,
    );
    id
}

/// A session of Copilot in a folder that is gone, with what it recorded of git.
fn copilot(home: &Sandbox, number: u32, context: Value) -> String {
    let id = format!("6d0b1f6e-0000-4000-8000-{number:012}");
    let time = "2026-01-04T09:00:00.000Z";
    let mut context = context;
    context["cwd"] = "/gone/copilot".into();
    let lines = [
        json!({"type": "session.start", "id": "e1", "timestamp": time, "parentId": null,
               "data": {"sessionId": id, "version": 1, "copilotVersion": "1.0.102", "startTime": time, "context": context}}),
        json!({"type": "user.message", "id": "e2", "timestamp": time, "parentId": "e1",
               "data": {"content": "Paint the hull"}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(&format!(".copilot/session-state/{id}/events.jsonl"), &text);
    id
}

/// A repository with this address for a remote.
fn repository(home: &Sandbox, folder: &str, url: &str) {
    home.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
    let config = format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n");
    home.write(&format!("{folder}/.git/config"), &config);
}

/// Two checkouts of one remote, and one of another; a session in each, and in a folder below.
fn home() -> Sandbox {
    let mut home = Sandbox::new();
    repository(&home, "code/boat", "git@github.com:ada/boat.git");
    repository(
        &home,
        "old/boat",
        "https://ada:sekret-walrus@GitHub.com/ada/boat",
    );
    repository(&home, "code/mail", "https://github.com/ada/mail.git");
    pi(&home, "boat", "~/code/boat/src");
    pi(&home, "old", "~/old/boat");
    pi(&home, "mail", "~/code/mail");
    pi(&home, "none", "~/code");
    home.cwd = home.home.join("code/boat");
    home
}

/// The ids of an answer's sessions, sorted.
fn ids(answer: &Value) -> Vec<String> {
    let rows = answer["sessions"].as_array().expect("rows").iter();
    let id = |row: &Value| {
        row.get("session").unwrap_or(row)["id"]
            .as_str()
            .map(str::to_owned)
    };
    let mut ids: Vec<String> = rows.filter_map(id).collect();
    ids.sort();
    ids
}

/// The repository of each session, by its id.
fn repositories(home: &Sandbox) -> Vec<(String, Option<String>)> {
    let asked = "SELECT id, repository FROM sessions ORDER BY id";
    let rows = home.json(&["sql", asked, "--json"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let rows = rows["rows"].as_array().expect("rows").iter();
    rows.map(|row| (text(&row[0]).expect("an id"), text(&row[1])))
        .collect()
}

#[test]
fn another_checkout_of_the_same_remote_is_here() {
    let home = home();
    let answer = home.json(&["list", "--json"]);
    assert_eq!(ids(&answer), ["boat", "old"]);
    assert_eq!(answer["remotes"], json!([REMOTE]));
    assert_eq!(answer["within"], json!([home.home.join("code/boat")]));
    assert_eq!(answer["elsewhere"], 2);
    let none = home.run(&["list", "--named"]);
    let there = "No matching sessions in the repository ~/code/boat; there are 2.";
    assert!(none.contains(there), "{none}");
    let of = |row: &Value| row["repository"].as_str() == Some(REMOTE);
    assert!(answer["sessions"].as_array().expect("rows").iter().all(of));
    let found = home.json(&["search", "--here", "paint", "--json"]);
    assert_eq!(ids(&found), ["boat", "old"]);
    assert_eq!(found["remotes"], json!([REMOTE]));
    // The directory alone is no checkout.
    assert_eq!(ids(&home.json(&["list", "--dir", "--json"])), [""; 0]);
    assert_eq!(
        ids(&home.json(&["search", "paint", "--dir", "--json"])),
        [""; 0]
    );
    // What is known of a checkout outlives it, also when its session goes on.
    fs::remove_dir_all(home.home.join("old")).expect("it was there");
    let old = home.home.join(".pi/agent/sessions/--x--/old.jsonl");
    let mut text = fs::read_to_string(&old).expect("the session");
    text.push_str(concat!(
        r#"{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-01-02T10:00:00.000Z","message":{"role":"user","content":"Paint more"}}"#,
        "\n"
    ));
    fs::write(&old, text).expect("one line more");
    let answer = home.json(&["list", "--json"]);
    assert_eq!(ids(&answer), ["boat", "old"]);
    assert_eq!(
        home.json(&["show", "last", "--json"])["session"]["id"],
        "old"
    );
    let said = home.run(&["verify"]);
    assert!(!said.contains("--- exit"), "{said}");
}

#[test]
fn no_user_and_no_token_is_stored() {
    let home = home();
    codex(
        &home,
        1,
        "https://x-access-token:sekret-walrus@github.com/ada/boat.git",
    );
    copilot(
        &home,
        2,
        json!({"repository": "https://sekret-walrus@github.com/ada/boat"}),
    );
    let _ = home.run(&["sync"]);
    let known = repositories(&home);
    let boats = known.iter().filter(|(_, of)| of.as_deref() == Some(REMOTE));
    assert_eq!(boats.count(), 4, "{known:?}");
    for file in walkdir::WalkDir::new(home.home.join(".cache")) {
        let file = file.expect("a file");
        if file.file_type().is_file() {
            let bytes = fs::read(file.path()).expect("its bytes");
            let holds = memchr::memmem::find(&bytes, b"sekret").is_some();
            assert!(!holds, "{}", file.path().display());
        }
    }
}

#[test]
fn what_agents_recorded_counts_where_the_folder_is_gone() {
    let home = home();
    let mine = [
        codex(&home, 1, "ssh://git@github.com:22/ada/boat"),
        copilot(&home, 2, json!({"repository": "ada/boat"})),
        copilot(
            &home,
            3,
            json!({"repository": "ada/boat", "hostType": "github", "repositoryHost": "github.com"}),
        ),
    ];
    codex(&home, 4, "git@gitlab.com:ada/boat.git");
    codex(&home, 5, "");
    copilot(
        &home,
        6,
        json!({"repository": "ada/boat", "repositoryHost": "boat.ghe.com", "hostType": "github"}),
    );
    copilot(
        &home,
        7,
        json!({"repository": "ada/sea/boat", "hostType": "ado"}),
    );
    copilot(&home, 8, json!({}));
    let mut all = vec!["boat".to_owned(), "old".to_owned()];
    all.extend(mine);
    all.sort();
    assert_eq!(ids(&home.json(&["list", "--json"])), all);
    assert_eq!(
        ids(&home.json(&["search", "--here", "paint", "--json", "--every-copy"])),
        all
    );
    let known = repositories(&home);
    let of = |end: &str| {
        let one = known.iter().find(|(id, _)| id.ends_with(end));
        one.expect("a session").1.as_deref()
    };
    assert_eq!(of("0004"), Some("gitlab.com/ada/boat"));
    assert_eq!(of("0006"), Some("boat.ghe.com/ada/boat"));
    for none in ["0005", "0007", "0008", "none"] {
        assert_eq!(of(none), None, "{none}");
    }
}

#[test]
fn repositories_are_asked_for_and_counted() {
    let home = home();
    let found = |query: &str| {
        let query = format!("{query} paint");
        ids(&home.json(&["search", "--json", "--", &query]))
    };
    for (query, sessions) in [
        ("repo:boat", &["boat", "old"][..]),
        ("repo:ada/boat", &["boat", "old"]),
        ("repo:https://github.com/ada/boat.git", &["boat", "old"]),
        ("repo:git@github.com:ada/boat", &["boat", "old"]),
        ("repo:boat,mail", &["boat", "mail", "old"]),
        ("repo:github.com/ada", &["boat", "mail", "old"]),
        ("-repo:boat", &["mail", "none"]),
        ("-repo:ada/mail -repo:ada/boat", &["none"]),
        ("repo:bo/at", &[]),
    ] {
        assert_eq!(found(query), sessions, "{query}");
    }
    let nothing = home.json(&["search", "repo:boad paint", "--json"]);
    assert_eq!(nothing["unknown"][0]["filter"], "repo");
    assert_eq!(
        nothing["unknown"][0]["known"],
        json!([REMOTE, "github.com/ada/mail"])
    );
    let answer = home.json(&["search", "paint", "--facets", "--json"]);
    assert_eq!(
        answer["facets"]["repositories"],
        json!([{"value": REMOTE, "count": 2}, {"value": "github.com/ada/mail", "count": 1}])
    );
    let words = ["search", "repo:"];
    let all = "repo:github.com/ada/boat\nrepo:github.com/ada/mail";
    assert_eq!(offered(&home, "bash", &words), all);
    let said = home.run(&["search", "paint", "--facets"]);
    assert!(
        said.contains("repos     github.com/ada/boat 2 · "),
        "{said}"
    );
    // Where no session is of one there is nothing to say.
    let said = home.run(&["search", "paint -repo:github.com/ada", "--facets"]);
    assert!(!said.contains("repos  "), "{said}");
}

#[test]
fn a_home_in_git_is_no_repository_of_what_lies_in_it() {
    let mut home = home();
    repository(&home, ".", "https://github.com/ada/dots");
    repository(&home, "src/dots", "https://github.com/ada/dots");
    pi(&home, "dots", "~/src/dots");
    home.cwd = home.home.join("src/dots");
    assert_eq!(ids(&home.json(&["list", "--json"])), ["dots"]);
}

/// Makes the catalogue what the version before wrote: without the columns, and with what was read
/// by the formats before.
fn make_old(catalogue: &Connection) {
    let first = include_str!("../migrations/0001_catalogue.sql");
    let (_, view) = first.split_once("CREATE VIEW sessions AS").expect("a view");
    let (view, _) = view.split_once(';').expect("its end");
    let summed = [
        "tools",
        "runs",
        "_answers",
        "usage_by_day",
        "usage_by_local_day",
        "usage_by_model",
        "usage_by_provider",
        "usage_by_project",
        "usage_by_agent",
        "forks",
    ];
    let summed = summed.map(|name| {
        let (_, view) = first
            .split_once(&format!("CREATE VIEW {name} AS"))
            .expect("a view");
        let (view, _) = view.split_once(';').expect("its end");
        format!("DROP VIEW {name}; CREATE VIEW {name} AS {view};")
    });
    // A moment before 1970 was in the quarter of an hour after it.
    let summed = format!(
        "{} DROP VIEW _recorded; DROP INDEX _usage_copies; UPDATE _usage_sums SET quarter_ms = 0;
         UPDATE _quarters SET quarter_ms = 0, day = '1970-01-01', local_day = '1970-01-01';",
        summed.join("")
    );
    let old = format!(
        "{summed} DROP INDEX IF EXISTS _sessions_remote;
         DROP VIEW sessions;
         CREATE VIEW sessions AS {view};
         ALTER TABLE _sessions DROP COLUMN repository;
         ALTER TABLE _sessions DROP COLUMN remote;
         ALTER TABLE _checkpoints DROP COLUMN turn;
         ALTER TABLE _sessions DROP COLUMN has_moved;
         DROP INDEX _sessions_parent;
         DROP INDEX _sessions_path;
         DROP INDEX _sessions_parent_session;
         DROP INDEX _sessions_parent_file;
         ALTER TABLE _sessions DROP COLUMN parent;
         CREATE INDEX _sessions_subagents ON _sessions (root, parent_session) WHERE subagent;
         ALTER TABLE _store DROP COLUMN archive_changes;
         ALTER TABLE _roots DROP COLUMN archive_forgets;
         UPDATE _rows SET json = replace(replace(json, ',\"repository\":null', ''), ',\"repository\":\"{REMOTE}\"', '');
         UPDATE _sources SET revision = revision - 1
           WHERE root IN (SELECT root FROM _roots WHERE agent IN ('codex', 'copilot'));
         UPDATE _roots SET folders_revision = folders_revision - 1 WHERE agent IN ('codex', 'copilot');
         PRAGMA user_version = 1;"
    );
    catalogue.execute_batch(&old).expect("an old catalogue");
}

#[test]
fn a_catalogue_of_the_version_before_is_brought_up_to_this_one() {
    let home = home();
    let mine = codex(&home, 1, "https://github.com/ada/boat");
    let lines = [
        json!({"type": "session", "version": 3, "id": "spent", "timestamp": "1969-12-31T23:59:59.000Z", "cwd": "/x"}),
        json!({"type": "message", "id": "m1", "parentId": null, "timestamp": "1969-12-31T23:59:59.000Z", "message": {
            "role": "assistant", "model": "m", "content": [{"type": "toolCall", "id": "c1", "name": "grep", "arguments": {}}],
            "usage": {"input": 7, "cost": {"total": 0.5}}}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(".pi/agent/sessions/--x--/spent.jsonl", &text);
    home.settle();
    let _ = home.run(&["sync"]);
    let known = repositories(&home);
    let spent = || {
        let view =
            |name: &str| home.json(&["--json", "sql", &format!("SELECT * FROM {name} ORDER BY 1")]);
        [
            "usage_by_local_day",
            "usage_by_model",
            "tools",
            "runs",
            "usage",
        ]
        .map(view)
    };
    let sums = spent();
    let catalogue = Connection::open(home.home.join(CATALOGUE)).expect("a catalogue");
    let one = |sql: &str| -> String {
        let value = catalogue.query_row(sql, [], |row| row.get(0));
        value.unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    let index = one("SELECT index_id FROM freshness");
    let number = "SELECT CAST(session AS TEXT) FROM sessions WHERE id = 'boat'";
    let boat = one(number);
    make_old(&catalogue);
    // No version before knew the column.
    let asked = catalogue
        .prepare("SELECT repository FROM sessions")
        .map(drop);
    assert!(asked.is_err());
    let said = home.run(&["list", "--all"]);
    assert!(
        !said.contains("rebuilt") && said.contains("Paint boat"),
        "{said}"
    );
    assert_eq!(repositories(&home), known);
    assert_eq!(spent(), sums);
    let row = home.json(&["list", "--json"]);
    let mut here = vec!["boat".to_owned(), "old".to_owned(), mine];
    here.sort();
    assert_eq!(ids(&row), here);
    // Nothing was read again but what has more to say now; who keeps a copy learns of it.
    assert_eq!(one(number), boat);
    assert_eq!(
        one("SELECT CAST(user_version AS TEXT) FROM pragma_user_version"),
        "10"
    );
    assert_ne!(one("SELECT index_id FROM freshness"), index);
    let said = home.run(&["verify"]);
    assert!(!said.contains("--- exit"), "{said}");
}
