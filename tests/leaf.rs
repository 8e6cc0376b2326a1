//! Do all answers agree where a session stands? What `show`, `tree`, `export` and the places of
//! hits say is held against the session manager, which agents' own rules are held against
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::format::{FORMATS, Structure};
use sessionary::index::{ListScope, SearchScope, ShowScope, TreeFilter};
use sessionary::model::{BranchPlace, SessionRow, ShownEntry};
use sessionary::session::{Profile, SessionManager, Setup};
use sessionary::{Config, Error, Freshness, Index};

use crate::histories::dump::root;
use crate::store::Store;

/// A session file in a folder of its own.
struct SessionFile {
    _folder: tempfile::TempDir,
    root: PathBuf,
    path: PathBuf,
}

fn session_file(text: &[u8]) -> SessionFile {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap().join("sessions");
    let path = root.join("--w--/2026-01-05T09-00-00-000Z_s1.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    SessionFile {
        _folder: folder,
        root,
        path,
    }
}

/// The entries on the way from the root to the leaf: how each is named, and its line. What has no
/// id in the file, or another one than its agent gives it, is known by its line.
fn branch_of_manager(written: &SessionFile) -> Option<Vec<(String, String)>> {
    let setup = Setup::new(Profile::of("pi").unwrap(), &written.root);
    let session = SessionManager::open_read_only(&setup, &written.path).ok()?;
    let text = fs::read(&written.path).unwrap();
    let text = String::from_utf8_lossy(&text);
    let lines = (1..).zip(text.split('\n')).filter_map(|(number, line)| {
        let id = session.id_at_line(number).unwrap()?.to_owned();
        let json: Value = serde_json::from_str(line).unwrap_or_default();
        let own = json["id"].as_str().filter(|id| !id.is_empty());
        let own = own.or_else(|| line.contains(&id).then_some(&id));
        let name = own.map_or_else(|| format!("L{number}"), str::to_owned);
        Some((id, (name, line.trim().to_owned())))
    });
    let lines: BTreeMap<String, (String, String)> = lines.collect();
    let branch = session.branch();
    let entries = branch
        .iter()
        .map(|entry| lines[entry.id().unwrap()].clone());
    Some(entries.collect())
}

/// Holds every answer about the file against the session manager's. `false`: it has none.
fn compare(text: &[u8], what: &str) -> bool {
    let written = session_file(text);
    let Some(entries) = branch_of_manager(&written) else {
        return false;
    };
    let branch: Vec<String> = entries.iter().map(|(name, _)| name.clone()).collect();
    let config = Config::new(
        written.root.parent().unwrap().join("index"),
        vec![root("pi", "pi", &written.root)],
    );
    let index = Index::open(&config, Freshness::Check).unwrap();
    let row = index.resolve(
        written.path.to_str().unwrap(),
        &sessionary::index::NameScope::of(Path::new("/")),
    );
    let row = row.unwrap();

    let shown = index.show(&row, &ShowScope::default()).unwrap();
    let ids: Vec<&String> = shown.entries.iter().map(|entry| &entry.id).collect();
    assert_eq!(ids, branch.iter().collect::<Vec<_>>(), "show: {what}");

    let tree = index.tree(&row, TreeFilter::All).unwrap();
    let active = tree.entries.iter().filter(|row| row.on_active_branch);
    let active: BTreeSet<&String> = active.map(|row| &row.id).collect();
    assert_eq!(active, branch.iter().collect(), "tree: {what}");
    let leaf = tree.entries.iter().filter(|row| row.is_leaf);
    let leaf: Vec<&String> = leaf.map(|row| &row.id).collect();
    assert_eq!(
        leaf,
        branch.last().into_iter().collect::<Vec<_>>(),
        "{what}"
    );

    let mut copied = Vec::new();
    let (_, streamed) = index
        .stream(|snapshot| snapshot.copy_branch(&row, None, &mut copied))
        .unwrap();
    assert!(streamed.complete);
    // What is exported stands where the session does.
    let lines = |entries: Vec<(String, String)>| -> Vec<String> {
        entries.into_iter().map(|(_, line)| line).collect()
    };
    let exported = branch_of_manager(&self::session_file(&copied));
    assert_eq!(exported.map(lines), Some(lines(entries)), "export: {what}");

    let scope = SearchScope {
        limit: None,
        exact: true,
        ..SearchScope::default()
    };
    let answer = index.search("kind:message", &scope).unwrap();
    let hits = answer.sessions.iter().flat_map(|group| &group.hits);
    let places: BTreeMap<&String, Option<BranchPlace>> =
        hits.map(|hit| (&hit.entry, hit.place)).collect();
    for (id, place) in places {
        let is_on_branch = matches!(place, Some(BranchPlace::Active | BranchPlace::Compacted));
        assert_eq!(is_on_branch, branch.contains(id), "{id}: {place:?}: {what}");
    }
    compare_parts(&index, &row, &shown.entries, what);
    true
}

/// Holds the parts of every branch against what `show` says of it.
fn compare_parts(index: &Index, row: &SessionRow, active: &[ShownEntry], what: &str) {
    let snapshot = index.snapshot().unwrap();
    let read = |through: Option<&str>, is_upwards: bool| {
        let branch = snapshot.branch(row, through).unwrap();
        let mut positions: Vec<usize> = (0..branch.len()).collect();
        if is_upwards {
            positions.reverse();
        }
        let mut entries = Vec::new();
        snapshot
            .read_branch(row, &branch, positions, None, &mut |at, entry| {
                assert_eq!(branch.position(entry.ordinal.unwrap()), Some(at), "{what}");
                entries.push(entry);
                Ok::<(), Error>(())
            })
            .unwrap();
        if is_upwards {
            entries.reverse();
        }
        (branch.focus(), entries)
    };
    assert_eq!(read(None, false), (None, active.to_vec()), "{what}");
    assert_eq!(read(None, true).1, active, "upwards: {what}");
    let all = ShowScope {
        all: true,
        ..ShowScope::default()
    };
    let all = index.show(row, &all).unwrap().entries;
    for named in all.iter().filter(|entry| entry.kind != "session") {
        let Ok(found) = snapshot.branch(row, Some(&named.id)) else {
            assert_eq!(named.kind, "problem", "{what}");
            continue;
        };
        let (focus, entries) = read(Some(&named.id), false);
        assert_eq!(focus, found.focus());
        assert_eq!(entries[focus.unwrap()].id, named.id, "{what}");
        if active.iter().any(|entry| entry.id == named.id) {
            assert_eq!(entries, active, "through {}: {what}", named.id);
            continue;
        }
        let scope = ShowScope {
            branch: entries.last().map(|entry| entry.id.clone()),
            ..ShowScope::default()
        };
        let shown = index.show(row, &scope).unwrap().entries;
        assert_eq!(entries, shown, "through {}: {what}", named.id);
        // It goes on to an end. What the agent does not see goes on nowhere.
        let end = entries.last().unwrap();
        let mut children = all
            .iter()
            .filter(|entry| entry.agent_sees && entry.parent.as_ref() == Some(&end.id))
            // A cycle has none.
            .filter(|entry| entries.iter().all(|shown| shown.id != entry.id));
        let next = children.next().filter(|_| end.agent_sees);
        assert_eq!(next, None, "through {}: {what}", named.id);
    }
}

/// Whether each id is of one entry. Files in which none has an id are left out where text that is
/// no object stands among them: pi cannot open those.
fn has_own_ids(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<Value> = text
        .lines()
        .skip(1)
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let ids = lines.iter().filter_map(|line| line["id"].as_str());
    let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    let own: BTreeSet<&&str> = ids.iter().collect();
    own.len() == ids.len() && (!ids.is_empty() || lines.iter().all(Value::is_object))
}

#[test]
fn every_answer_about_a_fixture_agrees_where_it_stands() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pi");
    let mut compared = 0;
    for case in fs::read_dir(fixtures).unwrap() {
        let case = case.unwrap().path();
        for file in fs::read_dir(&case).unwrap() {
            let file = file.unwrap().path();
            let text = fs::read(&file).unwrap_or_default();
            if file.extension().is_some_and(|of| of == "jsonl") && has_own_ids(&text) {
                compared += usize::from(compare(&text, &file.display().to_string()));
            }
        }
    }
    println!("{compared} fixtures");
    assert!(compared > 25, "{compared}");
}

/// Lines of a session as agents and their add-ons write them: of every version, with ids and
/// without, with parents that are there and others, two on one line, and text that is no object.
fn random_session(random: &mut ChaCha8Rng) -> String {
    let versions = [
        json!(3),
        json!(3),
        json!(2),
        json!(1),
        json!("0x1"),
        json!([]),
        Value::Null,
    ];
    let version = &versions[random.random_range(0..versions.len())];
    let header = json!({
        "type": "session", "version": version, "id": "s1", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w",
    });
    let is_new = *version == 3 || *version == 2;
    let has_ids = random.random_bool(0.7);
    let (mut lines, mut ids) = (vec![header.to_string()], Vec::<String>::new());
    let mut is_first = true;
    for number in 0..random.random_range(1..25) {
        let is_object = !is_new || !has_ids || std::mem::take(&mut is_first);
        let line = match random.random_range(if is_object { 2 } else { 0 }..14) {
            0 => "42".to_owned(),
            1 => "\"text\"".to_owned(),
            13 => {
                let two = ["a", "b"].map(|half| {
                    let id = format!("f{number}{half}");
                    ids.push(id.clone());
                    json!({
                        "type": "message", "id": id, "parentId": null,
                        "message": {"role": "user", "content": format!("fused {number}{half}")},
                    })
                });
                format!("{}{}", two[0], two[1])
            }
            12 => json!({
                "type": "message", "id": "", "parentId": ids.last(),
                "message": {"role": "user", "content": format!("empty id {number}")},
            })
            .to_string(),
            4.. if !has_ids => json!({
                "type": "message", "timestamp": format!("2026-01-05T09:00:{number:02}.000Z"),
                "message": {"role": "user", "content": format!("without id {number}")},
            })
            .to_string(),
            2 => json!({"type": "leaf", "targetId": ids.last()}).to_string(),
            3 => json!({"type": "message", "parentId": ids.last(), "message": {"role": "user", "content": "none"}}).to_string(),
            kind => {
                let any = |random: &mut ChaCha8Rng| {
                    let at = random.random_range(0..ids.len());
                    Some(ids[at].clone())
                };
                let parent = match random.random_range(0..8) {
                    _ if ids.is_empty() => None,
                    0 => None,
                    1 => Some("elsewhere".to_owned()),
                    2 => any(random),
                    _ => ids.last().cloned(),
                };
                let id = format!("e{number}");
                ids.push(id.clone());
                let mut line = json!({
                    "type": "message", "id": id, "parentId": parent,
                    "timestamp": format!("2026-01-05T09:00:{number:02}.000Z"),
                    "message": {"role": "user", "content": format!("said {number}")},
                });
                if kind == 4 {
                    line = json!({"type": "custom", "id": id, "parentId": parent, "customType": "x", "data": 1});
                }
                line.to_string()
            }
        };
        lines.push(line);
    }
    lines.push(String::new());
    lines.join("\n")
}

#[test]
fn every_answer_about_a_generated_session_agrees_where_it_stands() {
    let mut compared = 0;
    for seed in 0..150 {
        let text = random_session(&mut ChaCha8Rng::seed_from_u64(seed));
        if has_own_ids(text.as_bytes()) {
            compared += usize::from(compare(text.as_bytes(), &format!("seed {seed}:\n{text}")));
        }
    }
    assert!(compared > 100, "{compared}");
}

/// What an agent does not see is marked, and what is no entry stands where it is in the file.
#[cfg(unix)]
#[test]
fn what_the_agent_does_not_see_is_marked() {
    let home = crate::sandbox::Sandbox::new();
    let line = |id: &str, parent: &str, said: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"{said}\"}}}}"
        )
    };
    let text = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}".to_owned(),
        line("a1", "null", "seen"),
        line("a2", "\"a1\"", "first of two") + &line("a3", "\"a2\"", "second of two"),
        "no entry, but a key: ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned(),
        String::new(),
        line("a4", "\"a1\"", "at the end"),
        "42".to_owned(),
        String::new(),
    ];
    home.write(".pi/agent/sessions/--w--/s.jsonl", &text.join("\n"));
    insta::assert_snapshot!(home.run(&["tree", "s", "--filter", "all"]), @r#"
    seen
    pi · /w · 2026-01-05 09:00 · 6 entries
    ~/.pi/agent/sessions/--w--/s.jsonl

    ● a1 user  seen
    ├─ ○ a2 user (the agent does not see it)  first of two
    └─ ◆ a4 user (leaf)  at the end
    ○ a3 user (the agent does not see it)  second of two
    ○ L7   42
    "#);
    insta::assert_snapshot!(home.run(&["show", "s", "--all"]), @r#"
    seen
    pi · /w · 2026-01-05 09:00 · 6 entries
    ~/.pi/agent/sessions/--w--/s.jsonl

    ── session · 2026-01-05 09:00 · s ──────────────────────────────────────────────────────────────────

    ── user · a1 ───────────────────────────────────────────────────────────────────────────────────────
    seen

    ── user · the agent does not see it · a2 ───────────────────────────────────────────────────────────
    first of two

    ── user · the agent does not see it · a3 ───────────────────────────────────────────────────────────
    second of two

    ── not an entry: not JSON · line 4 ─────────────────────────────────────────────────────────────────
      │ no entry, but a key: ghp_[redacted]

    ── user · a4 ───────────────────────────────────────────────────────────────────────────────────────
    at the end

    ──  · L7 ───────────────────────────────────────────────────────────────────────────────────────────
      │ 42
    --- stderr
    Keys and tokens are redacted; --reveal shows them.
    "#);
    // Around one entry, what stands between those that are shown.
    for (scope, unreadable) in [
        (&["s:a1"][..], 0),
        (&["s:a4"], 0),
        (&["s:a4", "--context", "1"], 1),
    ] {
        let shown = home.json(&[&["show"], scope, &["--all", "--json"]].concat());
        let entries = shown["entries"].as_array().unwrap().iter();
        let found = entries.filter(|entry| entry["kind"] == "problem").count();
        assert_eq!(found, unreadable, "{scope:?}");
    }
    home.write(
        ".pi/agent/sessions/--w--/torn.jsonl",
        &(text[0].replace("\"s\"", "\"t\"") + "\n{\"type\":\"mess"),
    );
    let shown = home.json(&["show", "t", "--all", "--json"]);
    assert_eq!(shown["entries"][1]["problem"], "torn");
    let shown = home.json(&["show", "s", "--all", "--json"]);
    let entries = shown["entries"].as_array().unwrap().iter();
    let unseen: Vec<&str> = entries
        .filter(|entry| entry["agent_sees"] == false)
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(unseen.len(), 3, "{unseen:?}");
}

/// Holds the leaf in each session's row against the one in its tree. `of` is the format of all of
/// them.
fn compare_with_rows(of: &str, what: &str, index: &Index) -> usize {
    let format = FORMATS
        .iter()
        .find(|format| format.about().name == of)
        .unwrap();
    let rows = index
        .sql("SELECT path, leaf FROM sessions", &[])
        .unwrap()
        .rows;
    let mut compared = 0;
    for session in index.list(&ListScope::default()).unwrap().sessions {
        let of_path = |row: &&Vec<Value>| row[0].as_str() == session.path.to_str();
        let named = rows.iter().find(of_path).unwrap()[1].as_str();
        let tree = index.tree(&session, TreeFilter::All).unwrap();
        let leaf = tree.entries.iter().find(|row| row.is_leaf);
        let leaf = leaf.map(|row| row.id.as_str());
        let what = format!("{what}: {}: {}", session.path.display(), session.id);
        // What its agent does not open stands nowhere for it.
        if named.is_none() && !session.listed_by_agent {
            continue;
        }
        match leaf.filter(|id| id.starts_with('L')) {
            // Without an id it has no name.
            Some(_) => assert_eq!(named, None, "{what}"),
            None => assert_eq!(named, leaf, "{what}"),
        }
        compared += 1;
    }
    println!("{compared} of {}", format.about().name);
    compared
}

/// Every agent has a rule of its own, by which its row is made as well as its tree. Where all is
/// one line, there is nothing to tell.
#[test]
fn the_row_and_the_tree_of_every_fixture_agree_where_it_stands() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut compared = 0;
    for format in FORMATS
        .iter()
        .filter(|format| format.about().structure != Structure::Line)
    {
        let (name, folder) = (format.about().name, fixtures.join(format.about().name));
        if !folder.is_dir() {
            continue;
        }
        let place = tempfile::tempdir().unwrap();
        let cases = Store::cases(name).into_iter();
        let roots = cases.map(|case| root(name, name, &folder.join(case)));
        let config = Config::new(place.path().join("index"), roots.collect());
        let index = Index::open(&config, Freshness::Check).unwrap();
        compared += compare_with_rows(name, "the fixtures", &index);
    }
    for (of, every) in [
        ("openclaw", crate::openclaw::every_line as EveryLine),
        ("opencode", crate::opencode::every_row),
    ] {
        every(&mut |made, index| compared += compare_with_rows(of, made, index));
    }
    assert!(compared > 80, "{compared}");
}

type EveryLine = fn(&mut dyn FnMut(&str, &Index));
