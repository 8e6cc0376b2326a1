//! Do the rooms of the index use only those that docs/architecture.md lists for them?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn below(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The table of rooms: what each may use.
fn allowed_arrows() -> Arrows {
    let text = fs::read_to_string(below("docs/architecture.md")).unwrap();
    let (_, text) = text.split_once("## Rooms of the index").unwrap();
    let (text, _) = text.split_once("\n## ").unwrap();
    let mut rooms = Arrows::new();
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [room, _, uses] = cells[..] else {
            panic!("not three cells: {row}");
        };
        let room = room.trim_matches('`').to_owned();
        let uses = match uses {
            "all of the above" => rooms.keys().cloned().collect(),
            "" => BTreeSet::new(),
            uses => uses.split(", ").map(str::to_owned).collect(),
        };
        for used in &uses {
            assert!(
                rooms.contains_key(used),
                "{room} uses {used}, which is not above it"
            );
        }
        rooms.insert(room, uses);
    }
    rooms
}

/// The code of every room, but for comments and unit tests.
fn rooms_code() -> Vec<(String, String)> {
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    let mut code = Vec::new();
    for file in walkdir::WalkDir::new(below("src")).into_iter().flatten() {
        let relative = file.path().strip_prefix(below("src")).unwrap().to_owned();
        let is_code = relative.extension().is_some_and(|end| end == "rs");
        let is_test = relative
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        if !is_code || is_test {
            continue;
        }
        let room = relative.iter().next().unwrap_or_default();
        let room = room.to_string_lossy().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(file.path()).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        code.push((room, comment.replace_all(text, "").into_owned()));
    }
    code
}

/// Every `crate::ROOM` of the library, but for comments and unit tests.
fn drawn_arrows() -> Arrows {
    let path = Regex::new(r"\bcrate::(\{[^;]*?\}|\w+)").unwrap();
    let first = Regex::new(r"(?:^\{|,)\s*(\w+)").unwrap();
    let mut rooms = Arrows::new();
    for (room, text) in rooms_code() {
        if ["cli", "lib"].contains(&room.as_str()) {
            continue;
        }
        let arrows = rooms.entry(room.clone()).or_default();
        for found in path.captures_iter(&text) {
            let found = &found[1];
            let mut names: Vec<&str> = first
                .captures_iter(found)
                .map(|name| name.get(1).unwrap().as_str())
                .collect();
            if !found.starts_with('{') {
                names = vec![found];
            }
            arrows.extend(names.into_iter().map(str::to_owned));
        }
        arrows.remove(&room);
    }
    rooms
}

#[test]
fn rooms_use_only_what_the_architecture_lists() {
    let (allowed, drawn) = (allowed_arrows(), drawn_arrows());
    assert!(drawn.len() > 15, "{drawn:?}");
    for (room, uses) in &drawn {
        let Some(may_use) = allowed.get(room) else {
            panic!("docs/architecture.md has no room `{room}`");
        };
        let wrong: Vec<_> = uses.difference(may_use).collect();
        assert!(wrong.is_empty(), "`{room}` uses {wrong:?}");
    }
    for (room, may_use) in allowed.iter().filter(|(room, _)| *room != "index") {
        let uses = drawn.get(room).cloned().unwrap_or_default();
        let unused: Vec<_> = may_use.difference(&uses).collect();
        assert!(unused.is_empty(), "`{room}` does not use {unused:?}");
    }
}

/// SQLite, tantivy and clap are known to the rooms that keep something in them alone, and SQLite to
/// the one that reads agents' databases.
#[test]
fn each_engine_stands_in_its_rooms() {
    let engine = Regex::new(r"\b(rusqlite|tantivy|clap)\w*::").unwrap();
    let mut rooms_of = Arrows::new();
    for (room, text) in rooms_code() {
        for found in engine.captures_iter(&text) {
            let rooms = rooms_of.entry(found[1].to_owned()).or_default();
            rooms.insert(room.clone());
        }
    }
    let expected = [
        ("rusqlite", &["archive", "catalogue", "databases"][..]),
        ("tantivy", &["words"]),
        ("clap", &["cli"]),
    ];
    let rooms = |rooms: &[&str]| rooms.iter().map(|room| (*room).to_owned()).collect();
    let expected = expected.map(|(engine, names)| (engine.to_owned(), rooms(names)));
    assert_eq!(rooms_of, Arrows::from(expected));
}

#[test]
fn the_four_paths_are_drawn_as_they_are() {
    let text = fs::read_to_string(below("docs/architecture.md")).unwrap();
    let (_, paths) = text.split_once("## Four paths").unwrap();
    let (paths, _) = paths.split_once("\n## ").unwrap();
    let quoted = Regex::new("`([^`]+)`").unwrap();
    let mut hops = 0;
    for row in paths
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| hop"))
    {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let code: String = quoted
            .captures_iter(cells[2])
            .map(|file| fs::read_to_string(below("src").join(&file[1])).unwrap())
            .collect();
        let first = quoted.captures(cells[1]).unwrap()[1]
            .rsplit("::")
            .next()
            .unwrap()
            .to_owned();
        assert!(code.contains(&format!("fn {first}")), "{first}: {row}");
        hops += 1;
    }
    assert_eq!(hops, 29);
}
