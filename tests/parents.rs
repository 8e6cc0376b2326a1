//! Which session is the parent of which, where several have its name?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::{ListScope, SearchScope};
use sessionary::model::SessionRow;
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::{catalogue, clean, fresh, root, same};

/// A folder of rollouts, and what below it is a session of Codex.
struct Store {
    home: tempfile::TempDir,
}

fn codex_id(number: u32) -> String {
    format!("019b8d5e-7c80-7000-8000-{number:012}")
}

/// A rollout that names another one as the one it was forked from, or as the one that started it.
fn rollout(number: u32, parent: Option<(u32, bool)>) -> String {
    let time = "2026-01-03T09:00:00.000Z";
    let mut meta = json!({"id": codex_id(number), "timestamp": time, "cwd": "/w", "source": "exec",
        "originator": "codex_exec", "cli_version": "0.169.0"});
    match parent {
        Some((parent, true)) => {
            let spawn = json!({"parent_thread_id": codex_id(parent), "depth": 1});
            meta["source"] = json!({"subagent": {"thread_spawn": spawn}});
        }
        Some((parent, false)) => meta["forked_from_id"] = codex_id(parent).into(),
        None => {}
    }
    let lines = [
        json!({"timestamp": time, "type": "session_meta", "payload": meta}),
        json!({"timestamp": time, "type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": format!("Paint mast {number}")}]}}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A session of pi that names the file of another one.
fn pi(id: u32, parent: Option<&Path>) -> String {
    let time = "2026-01-03T09:00:00.000Z";
    let mut header = json!({"type": "session", "version": 3, "id": format!("pi-{id}"), "timestamp": time, "cwd": "/w"});
    if let Some(parent) = parent {
        header["parentSession"] = parent.display().to_string().into();
    }
    let said = json!({"type": "message", "id": "m1", "parentId": null, "timestamp": time,
        "message": {"role": "user", "content": format!("Hoist {id}")}});
    format!("{header}\n{said}\n")
}

impl Store {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn rollout(&self, folder: &str, number: u32, parent: Option<(u32, bool)>) -> PathBuf {
        let name = format!(
            "{folder}/rollout-2026-01-03T09-00-00-{}.jsonl",
            codex_id(number)
        );
        self.write(&name, &rollout(number, parent))
    }

    /// Two folders of Codex and one of pi.
    fn config(&self) -> Config {
        let roots = [
            ("codex", "sessions"),
            ("codex", "archived_sessions"),
            ("pi", "pi"),
        ];
        let roots = roots.map(|(agent, folder)| root(agent, agent, &self.path(folder)));
        Config::new(self.path("index"), roots.to_vec())
    }

    fn index(&self) -> Index {
        sync(&self.config())
    }
}

fn sync(config: &Config) -> Index {
    Indexer::open(config).unwrap().sync().unwrap();
    Index::open(config, Freshness::AsCommitted).unwrap()
}

fn row(index: &Index, agent: &str, path: &Path) -> SessionRow {
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    let mut rows = rows.into_iter();
    let found = rows.find(|row| row.agent == agent && row.path == path);
    found.unwrap_or_else(|| panic!("no {agent} session at {}", path.display()))
}

/// The list as people see it: without subagents whose parent is in it.
fn rows_of_list(index: &Index) -> Vec<SessionRow> {
    let folded = ListScope {
        fold_subagents: true,
        ..ListScope::default()
    };
    index.list(&folded).unwrap().sessions
}

/// What comes from a session, and whether it was started by it.
fn children(index: &Index, agent: &str, path: &Path) -> Vec<(PathBuf, bool)> {
    let row = row(index, agent, path);
    let children = index.ask(|snapshot| snapshot.children(&row)).unwrap();
    let children = children.into_iter();
    children
        .map(|child| (child.path, child.is_subagent))
        .collect()
}

#[test]
fn of_copies_the_nearest_one_is_the_parent() {
    let store = Store::new();
    let mut all = Vec::new();
    for project in ["a", "b"] {
        let parent = store.rollout(&format!("sessions/{project}/chats"), 1, None);
        let child = store.rollout(&format!("sessions/{project}/helpers/1"), 2, Some((1, true)));
        let fork = store.rollout(&format!("sessions/{project}/chats"), 3, Some((1, false)));
        all.push((parent, [(fork, false), (child, true)]));
    }
    let index = store.index();
    for (parent, expected) in &all {
        let found: BTreeSet<_> = children(&index, "codex", parent).into_iter().collect();
        assert_eq!(
            found,
            expected.iter().cloned().collect(),
            "{}",
            parent.display()
        );
        let row = row(&index, "codex", parent);
        assert_eq!(row.subagents, 1);
        let scope = sessionary::index::TreeScope::default();
        let tree = index.tree(&row, scope).unwrap();
        assert_eq!(tree.subagents, [expected[1].0.display().to_string()]);
    }
    // Without the one that lies with it a child is the other one's.
    drop(index);
    fs::remove_file(&all[0].0).unwrap();
    let index = store.index();
    assert_eq!(row(&index, "codex", &all[1].0).subagents, 2);
    clean(&index, "a parent is gone");
}

#[test]
fn a_parent_below_another_root_of_the_agent_is_found() {
    let store = Store::new();
    let parent = store.rollout("sessions/2026", 1, None);
    let child = store.rollout("archived_sessions", 2, Some((1, true)));
    let index = store.index();
    assert_eq!(children(&index, "codex", &parent), [(child.clone(), true)]);
    let paths = |index: &Index| -> Vec<PathBuf> {
        let rows = rows_of_list(index).into_iter();
        rows.map(|row| row.path).collect()
    };
    assert_eq!(paths(&index), std::slice::from_ref(&parent));
    // Where the folder of the one above is not asked for, the one below it is a row.
    let config = store.config();
    let archived = Config::new(
        config.index_dir.clone(),
        vec![root("codex", "codex", &store.path("archived_sessions"))],
    );
    assert_eq!(paths(&sync(&archived)), std::slice::from_ref(&child));
    assert_eq!(paths(&sync(&config)), std::slice::from_ref(&parent));
    // The one below the same root comes first.
    let beside = store.rollout("archived_sessions", 1, None);
    let index = store.index();
    assert_eq!(children(&index, "codex", &beside), [(child, true)]);
    assert_eq!(children(&index, "codex", &parent), []);
    clean(&index, "a copy came");
}

#[test]
fn a_file_that_was_read_for_another_agent_has_a_parent_of_its_own_agent() {
    let store = Store::new();
    let origin = store.write("pi/--w--/origin.jsonl", &pi(1, None));
    let fork = store.write("pi/--w--/fork.jsonl", &pi(2, Some(&origin)));
    let own = store.path("pi/--w--/own.jsonl");
    store.write("pi/--w--/own.jsonl", &pi(3, Some(&own)));
    for agent in ["pi", "indusagi"] {
        let roots = vec![root(agent, agent, &store.path("pi"))];
        let index = sync(&Config::new(store.path("index"), roots));
        assert_eq!(children(&index, agent, &origin), [(fork.clone(), false)]);
        // None is its own.
        assert_eq!(children(&index, agent, &own), []);
        let scope = sessionary::index::TreeScope::default();
        let tree = index.tree(&row(&index, agent, &own), scope).unwrap();
        assert_eq!(tree.ancestors, Vec::<String>::new());
    }
    let index = store.index();
    let sql = "SELECT c.agent, p.agent FROM forks f JOIN sessions c USING (session)
        JOIN sessions p ON p.session = f.parent ORDER BY 1";
    let rows: Vec<Vec<Value>> = index.sql(sql, &[]).unwrap().rows;
    assert_eq!(rows, [["indusagi", "indusagi"], ["pi", "pi"]]);
}

/// pi 0.12.7 to 0.30.2 wrote `branchedFrom`, and no list of pi's reads it.
#[cfg(unix)]
#[test]
fn a_fork_of_pis_first_version_has_a_parent_that_pis_list_does_not_show() {
    let home = crate::sandbox::Sandbox::new();
    let folder = ".pi/agent/sessions/--w--";
    let origin = home.write(&format!("{folder}/a.jsonl"), &pi(1, None));
    let fork = pi(2, Some(&origin)).replace("parentSession", "branchedFrom");
    home.write(
        &format!("{folder}/b.jsonl"),
        &fork.replace("\"version\":3,", ""),
    );
    home.write(&format!("{folder}/c.jsonl"), &pi(3, Some(&origin)));
    let sql = "SELECT c.id, p.id, relation FROM forks f JOIN sessions c USING (session)
        JOIN sessions p ON p.session = f.parent ORDER BY 1";
    let rows = home.json(&["sql", sql, "--json"]);
    let expected = json!([["pi-2", "pi-1", "fork"], ["pi-3", "pi-1", "fork"]]);
    assert_eq!(rows["rows"], expected, "{rows}");
    let listed = home.output(&["list", "--as", "pi", "--jsonl"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let parents = listed.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (
            row["id"].as_str().unwrap().to_owned(),
            row["parentSessionPath"].is_string(),
        )
    });
    let parents: BTreeSet<_> = parents.collect();
    let expected = [("pi-1", false), ("pi-2", false), ("pi-3", true)];
    assert_eq!(
        parents,
        expected.map(|(id, has)| (id.to_owned(), has)).into()
    );
}

/// pi writes where the file of a parent is, mostly as an absolute path (0.31 and later), and the
/// store is copied, moved or mounted.
#[test]
fn a_parent_is_found_whose_file_lies_elsewhere_than_it_did() {
    let store = Store::new();
    let name = "2026-05-12T01-02-27-000Z_pi-1.jsonl";
    let fork = |number: u32, parent: &str| {
        let path = format!("pi/--w--/2026-05-13T01-02-27-000Z_pi-{number}.jsonl");
        store.write(&path, &pi(number, Some(Path::new(parent))))
    };
    let forks = [
        fork(2, &format!("/Users/alice/.pi/agent/sessions/--w--/{name}")),
        fork(3, &format!("~/.pi/agent/sessions/--w--/{name}")),
        fork(
            4,
            &format!(r"C:\Users\alice\.pi\agent\sessions\--C--w--\{name}"),
        ),
        fork(5, &format!("/mnt/--Users-alice-w--/{name}")),
    ];
    // Its name alone says nothing of whose it is.
    let other = fork(6, "/Users/alice/.pi/agent/sessions/--x--/session.jsonl");
    let nested = fork(7, "/Users/alice/.pi/agent/sessions/--w--/a/session.jsonl");
    store.write("pi/--w--/b/session.jsonl", &pi(20, None));
    // Its id is that name.
    store.write("pi/--w--/c/session.jsonl", "{}\n");
    let session = store.write("pi/--w--/a/session.jsonl", &pi(21, None));
    let found = |index: &Index, path: &Path| -> BTreeSet<PathBuf> {
        let children = children(index, "pi", path).into_iter();
        children.map(|(path, _)| path).collect()
    };
    // The forks are read before their parent comes.
    let index = store.index();
    assert_eq!(found(&index, &session), BTreeSet::from([nested]));
    drop(index);
    let origin = store.write(&format!("pi/--w--/{name}"), &pi(1, None));
    let copy = store.write(&format!("pi/--v--/{name}"), &pi(1, None));
    let index = store.index();
    assert_eq!(found(&index, &origin), BTreeSet::from(forks.clone()));
    assert_eq!(found(&index, &copy), BTreeSet::new());
    clean(&index, "the parent has come");
    drop(index);
    // It goes, and the copy stands for it.
    fs::remove_file(&origin).unwrap();
    let index = store.index();
    assert_eq!(found(&index, &copy), BTreeSet::from(forks.clone()));
    clean(&index, "the parent is gone");
    drop(index);
    let moved = store.path(&format!("pi/--u--/{name}"));
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&copy, &moved).unwrap();
    let index = store.index();
    assert_eq!(found(&index, &moved), BTreeSet::from(forks));
    let sql = "SELECT count(*) FROM forks WHERE parent IS NULL";
    assert_eq!(index.sql(sql, &[]).unwrap().rows, [[json!(1)]]);
    assert!(other.exists());
    clean(&index, "the copy was moved");
}

#[test]
fn what_is_named_now_comes_before_what_is_not() {
    let store = Store::new();
    let [_, second] = ["a", "b"].map(|folder| store.rollout(folder, 1, None));
    let child = store.rollout("c", 2, Some((1, true)));
    let config = |folders: &[&str]| {
        let roots = folders
            .iter()
            .map(|folder| root("codex", "codex", &store.path(folder)));
        Config::new(store.path("index"), roots.collect())
    };
    drop(sync(&config(&["a", "b", "c"])));
    let index = sync(&config(&["b", "c"]));
    assert_eq!(children(&index, "codex", &second), [(child, true)]);
    let rows = rows_of_list(&index);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0].path, rows[0].subagents), (&second, 1));
    clean(&index, "a root is not named");
    // What lies below a root that is not asked for counts nowhere.
    drop(index);
    let index = sync(&config(&["b"]));
    assert_eq!(rows_of_list(&index)[0].subagents, 0);
}

/// As where Codex archives a thread and `archive on` keeps the place that it had.
#[test]
fn what_is_there_comes_before_what_the_archive_has() {
    let store = Store::new();
    let config = Config {
        archive_dir: Some(store.path("archive")),
        ..store.config()
    };
    let origin = store.rollout("sessions/2026", 1, None);
    let child = store.rollout("sessions/2026", 2, Some((1, true)));
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&["codex".into()]).unwrap();
    indexer.sync().unwrap();
    drop(indexer);
    let moved = store
        .path("archived_sessions")
        .join(origin.file_name().unwrap());
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&origin, &moved).unwrap();
    let index = sync(&config);
    assert_eq!(children(&index, "codex", &moved), [(child.clone(), true)]);
    clean(&index, "the origin was moved");
    // Without it the one in the archive is the parent again.
    drop(index);
    fs::remove_file(&moved).unwrap();
    let index = sync(&config);
    assert_eq!(children(&index, "codex", &origin), [(child, true)]);
    clean(&index, "the origin is gone");
}

/// As where an agent cleans up one of two copies of a project.
#[test]
fn what_the_archive_has_stays_with_the_parent_that_it_had() {
    let store = Store::new();
    let config = Config {
        archive_dir: Some(store.path("archive")),
        ..store.config()
    };
    let all = ["sessions/a", "sessions/b", "archived_sessions"].map(|folder| {
        let parent = store.rollout(folder, 1, None);
        (parent, store.rollout(folder, 2, Some((1, true))))
    });
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.keep(&["codex".into()]).unwrap();
    indexer.sync().unwrap();
    drop(indexer);
    for folder in ["", "sessions/a", "archived_sessions"] {
        if !folder.is_empty() {
            fs::remove_dir_all(store.path(folder)).unwrap();
        }
        let index = sync(&config);
        for (parent, child) in &all {
            assert_eq!(children(&index, "codex", parent), [(child.clone(), true)]);
        }
        clean(&index, folder);
    }
}

#[test]
fn subagents_that_started_each_other_are_rows() {
    let store = Store::new();
    let first = store.rollout("sessions", 1, Some((2, true)));
    let second = store.rollout("sessions", 2, Some((1, true)));
    let below = store.rollout("sessions", 3, Some((2, true)));
    let index = store.index();
    let rows = rows_of_list(&index);
    let paths: BTreeSet<_> = rows.iter().map(|row| row.path.clone()).collect();
    assert_eq!(paths, BTreeSet::from([first, second]));
    assert!(rows.iter().all(|row| row.subagents == 2));
    let page = index
        .ask(|snapshot| snapshot.page(&ListScope::default()))
        .unwrap();
    assert!(page.len() == 3 && below.exists());
}

/// Sessions of five names come, go, are moved and change their parents below two folders of one
/// agent and one of two; after each sync the parents are those of an index from scratch.
#[test]
fn parents_are_those_that_an_index_from_scratch_finds() {
    let mut related = 0;
    for seed in 0..8 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let store = Store::new();
        let config = store.config();
        let folders = [
            "sessions/a",
            "sessions/a/b",
            "sessions/c",
            "archived_sessions",
            "archived_sessions/a",
            "pi/--w--",
            "pi/--v--",
        ];
        let mut seconds = 1_767_000_000;
        for round in 0..9 {
            for _ in 0..random.random_range(1..5) {
                let folder = folders[random.random_range(0..folders.len())];
                let (number, parent) = (random.random_range(0..5), random.random_range(0..5));
                let has_parent = random.random_bool(0.7);
                let path = match folder.starts_with("pi") {
                    true => {
                        let parent = format!("{folder}/t_pi-{parent}.jsonl");
                        let parent = match random.random_range(0..4) {
                            0 => store.path(&parent),
                            1 => Path::new("/elsewhere/.pi").join(parent),
                            2 => parent
                                .replace('/', r"\")
                                .replacen("pi", r"C:\Users\ada", 1)
                                .into(),
                            _ => parent.replacen(folder, "/elsewhere/--x--", 1).into(),
                        };
                        let text = pi(number, has_parent.then_some(parent.as_path()));
                        store.write(&format!("{folder}/t_pi-{number}.jsonl"), &text)
                    }
                    false => {
                        let is_subagent = random.random_bool(0.5);
                        store.rollout(folder, number, has_parent.then_some((parent, is_subagent)))
                    }
                };
                seconds += 1;
                let time = UNIX_EPOCH + Duration::from_secs(seconds);
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(time)
                    .unwrap();
                match random.random_range(0..6) {
                    0 => fs::remove_file(&path).unwrap(),
                    1 => {
                        let of_agent = if folder.starts_with("pi") { 5..7 } else { 0..5 };
                        let to = store.path(folders[random.random_range(of_agent)]);
                        fs::create_dir_all(&to).unwrap();
                        fs::rename(&path, to.join(path.file_name().unwrap())).unwrap();
                    }
                    _ => {}
                }
            }
            let index = sync(&config);
            if round % 3 < 2 {
                continue;
            }
            let again = fresh(&config, &store.path(&format!("fresh-{round}")));
            same(
                &catalogue(&index),
                &catalogue(&again),
                &format!("seed {seed}, round {round}"),
            );
            clean(&index, &format!("seed {seed}, round {round}"));
            let sql = "SELECT count(parent) FROM forks";
            related += index.sql(sql, &[]).unwrap().rows[0][0].as_i64().unwrap();
        }
    }
    assert!(related > 50, "{related}");
}

/// A session of pi that says what another one does, as forks do.
fn copy(id: &str, minute: u32, parent: Option<&Path>) -> String {
    let time = |minute: u32| format!("2026-05-12T01:{minute:02}:27.000Z");
    let mut header =
        json!({"type": "session", "version": 3, "id": id, "timestamp": time(minute), "cwd": "/w"});
    if let Some(parent) = parent {
        header["parentSession"] = parent.display().to_string().into();
    }
    let said = json!({"type": "message", "id": "a1", "parentId": null, "timestamp": time(2),
        "message": {"role": "user", "content": "the camshaft turns the piston"}});
    format!("{header}\n{said}\n")
}

/// The addresses of all hits, page by page.
fn found(index: &Index, query: &str, scope: &SearchScope) -> Vec<String> {
    let (mut scope, mut found) = (scope.clone(), Vec::new());
    loop {
        let answer = index.search(query, &scope).unwrap();
        let hits = answer.sessions.iter().flat_map(|group| &group.hits);
        found.extend(hits.map(|hit| hit.address.clone()));
        match answer.cursor {
            Some(cursor) => scope.cursor = Some(cursor),
            None => return found,
        }
    }
}

/// One in a subagent's session comes last.
#[test]
fn of_copies_the_original_is_found_first_whatever_was_read_first() {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let store = Store::new();
        let original = store.path("pi/--w--/2026-05-12T01-02-27-000Z_p1.jsonl");
        let of = Some(original.as_path());
        let forks = "pi/--w--/2026-05-12T01-02-27-000Z_p1/forks";
        let files = [
            (
                "pi/--w--/2026-05-12T01-02-27-000Z_p1.jsonl".to_owned(),
                copy("p1", 2, None),
            ),
            (
                "pi/--w--/2026-05-12T01-04-27-000Z_k1.jsonl".to_owned(),
                copy("k1", 4, of),
            ),
            (
                format!("{forks}/2026-05-12T01-03-27-000Z_f1.jsonl"),
                copy("f1", 3, of),
            ),
        ];
        for at in order {
            let (name, text) = &files[at];
            store.write(name, text);
            sync(&store.config());
        }
        let index = store.index();
        for query in ["camshaft", "camshaft piston"] {
            for kind in 0..8 {
                let mut scope = SearchScope {
                    limit: Some(1),
                    passages: kind & 1 != 0,
                    newest_first: kind & 2 != 0,
                    ..SearchScope::default()
                };
                if kind & 4 != 0 {
                    scope.limit = Some(2);
                }
                assert_eq!(
                    found(&index, query, &scope),
                    ["p1:a1"],
                    "{order:?}, {scope:?}"
                );
                scope.every_copy = true;
                let all = found(&index, query, &scope);
                assert_eq!(all, ["p1:a1", "k1:a1", "f1:a1"], "{order:?}, {scope:?}");
            }
        }
    }
}
