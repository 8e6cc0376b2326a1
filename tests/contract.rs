//! The documented views are the real ones: every view and every column, both ways.

use std::collections::{BTreeMap, BTreeSet};

use sessionary::{Config, GENERATION, Indexer};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

/// Their files say which comes first, not the order in which they were read.
#[test]
fn the_largest_of_sessions_that_are_as_large_is_not_that_which_was_read_first() {
    let home = Sandbox::new();
    let write = |id: &str, year: u32| {
        let at = format!("{year}-01-02T09:00:00.000Z");
        pi_session(&home, id, "code/parser", &at, &[("user", "paint it")]);
        let _ = home.run(&["sync"]);
    };
    write("0199-c", 2025);
    write("0199-b", 2026);
    write("0199-a", 2026);
    write("0199-d", 2024);
    let answer = home.json(&["sql", "SELECT id, bytes FROM largest_sessions", "--json"]);
    let rows = answer["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row[1] == rows[0][1]));
    let ids: Vec<_> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(ids, ["0199-d", "0199-c", "0199-a", "0199-b"]);
}

#[test]
fn the_contract_is_documented() {
    let place = tempfile::tempdir().unwrap();
    let config = Config::new(place.path().join("index"), Vec::new());
    drop(Indexer::open(&config).unwrap());
    let catalogue = config
        .index_dir
        .join(format!("v{GENERATION}/catalogue.sqlite"));
    let connection = rusqlite::Connection::open(catalogue).unwrap();
    let mut real: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut views = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT GLOB '[_]*'")
        .unwrap();
    let names: Vec<String> = views
        .query_map([], |r| r.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for name in names {
        let statement = connection
            .prepare(&format!("SELECT * FROM {name}"))
            .unwrap();
        real.insert(
            name.clone(),
            statement.column_names().map(str::to_owned).collect(),
        );
    }
    let mut documented: BTreeMap<String, String> = BTreeMap::new();
    for line in include_str!("../docs/sql.md").lines() {
        if let Some(rest) = line.strip_prefix("| `")
            && let Some((view, columns)) = rest.split_once("` | ")
        {
            documented.insert(view.to_owned(), columns.to_owned());
        }
    }
    assert_eq!(
        real.keys().collect::<Vec<_>>(),
        documented.keys().collect::<Vec<_>>(),
        "views"
    );
    for (view, columns) in &real {
        // Words in backquotes that are no values in brackets are columns.
        let named: BTreeSet<String> = documented[view]
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        let missing: Vec<_> = columns.difference(&named).collect();
        assert!(missing.is_empty(), "{view}: not documented: {missing:?}");
        let values = [
            "bytes", "file", "unread", "root", "changed", "archived", "gone", "result", "fork",
            "subagent",
        ];
        let unknown: Vec<_> = named
            .difference(columns)
            .filter(|n| !values.contains(&n.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{view}: no such column: {unknown:?}");
    }
}
