//! Claude Code: is its store read as it reads it, is each answer counted once, and is nothing found
//! that nobody said? The cases are folders of fixtures/claude; what one line says is tested in the
//! crate of formats.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sessionary::index::{ListScope, SearchScope, ShowScope, TreeFilter};
use sessionary::model::{BranchPlace, Hit, SessionRow, ShownEntry, Tree};
use sessionary::{Config, Freshness, Index, Indexer, RootSpec};

use crate::sandbox::Sandbox;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude")
}

fn config(index_dir: &Path, projects: &Path) -> Config {
    let root = RootSpec::new("claude", projects.to_path_buf());
    Config::new(index_dir.to_path_buf(), vec![root])
}

/// An index of these projects, which equals the files.
fn index(index_dir: &Path, projects: &Path) -> Index {
    let config = config(index_dir, projects);
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let verified = index.verify().unwrap();
    assert_eq!(verified.differences, []);
    assert_eq!(verified.behind, []);
    index
}

/// Asks an index of all cases.
fn with_cases(ask: impl FnOnce(&Index)) {
    let place = tempfile::tempdir().unwrap();
    ask(&index(place.path(), &fixtures()));
}

fn uuid(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-{number:012x}")
}

fn row(index: &Index, id: &str) -> SessionRow {
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    rows.into_iter().find(|row| row.id == id).unwrap()
}

fn tree(index: &Index, number: u32) -> Tree {
    index
        .tree(&row(index, &uuid(number)), TreeFilter::Default)
        .unwrap()
}

/// Text, depth and whether it is on the active branch, row by row.
fn drawn(tree: &Tree) -> Vec<(&str, u32, bool)> {
    let rows = tree.entries.iter();
    rows.map(|row| (&*row.text, row.depth, row.on_active_branch))
        .collect()
}

fn found(index: &Index, query: &str) -> Vec<Hit> {
    let scope = SearchScope {
        every_copy: true,
        exact: true,
        ..SearchScope::default()
    };
    let answer = index.search(query, &scope).unwrap();
    answer
        .sessions
        .into_iter()
        .flat_map(|session| session.hits)
        .collect()
}

fn rows(index: &Index, query: &str) -> Vec<Vec<Value>> {
    index.sql(query, &[]).unwrap().rows
}

fn counts(index: &Index, query: &str) -> Vec<i64> {
    let rows = rows(index, query);
    rows[0]
        .iter()
        .map(|value| value.as_i64().unwrap())
        .collect()
}

#[test]
fn fork() {
    with_cases(|index| {
        let of = |number| {
            format!(
                "session = (SELECT session FROM sessions WHERE id = '{}')",
                uuid(number)
            )
        };
        // Two answers of the origin and one of the fork, though four lines repeat them.
        let sums = |number| {
            format!(
                "SELECT count(*), sum(total) FROM usage WHERE {}",
                of(number)
            )
        };
        assert_eq!(counts(index, &sums(1)), [2, 320]);
        assert_eq!(counts(index, &sums(2)), [1, 160]);
        let edge = rows(
            index,
            &format!("SELECT relation, parent_written FROM forks WHERE {}", of(2)),
        );
        assert_eq!(edge, [["fork".into(), Value::from(uuid(1))]]);
        let origin = row(index, &uuid(1)).path;
        assert_eq!(tree(index, 2).ancestors, [origin.to_str().unwrap()]);
        let hits = found(index, "quokka");
        assert_eq!(hits.len(), 2);
    });
}

#[test]
fn one_answer_in_several_lines_is_counted_once_with_its_last_figures() {
    with_cases(|index| {
        let of = "session = (SELECT session FROM sessions WHERE id = '00000003-0000-4000-8000-000000000003')";
        let usage = rows(
            index,
            &format!("SELECT response_id, output, records FROM usage WHERE {of} ORDER BY time_ms"),
        );
        let answer = |id: &str, records: i64| vec![Value::from(id), 30.into(), records.into()];
        assert_eq!(usage, [answer("msg_a1", 4), answer("msg_a2", 1)]);
        assert_eq!(row(index, &uuid(3)).tokens, Some(320));
        // Calls of lines whose usage another line of the answer has.
        assert_eq!(
            counts(index, "SELECT sum(calls) FROM tools WHERE tool = 'Bash'"),
            [3]
        );
    });
}

#[test]
fn parallel_calls_make_no_branches() {
    with_cases(|index| {
        let tree = index.tree(&row(index, &uuid(3)), TreeFilter::All).unwrap();
        let ids: Vec<Option<&str>> = tree
            .entries
            .iter()
            .map(|row| row.parent.as_deref())
            .collect();
        let above = [None]
            .into_iter()
            .chain(tree.entries.iter().map(|row| Some(&*row.id)));
        assert_eq!(ids, above.take(ids.len()).collect::<Vec<_>>(), "one line");
        assert!(tree.entries.iter().all(|row| row.on_active_branch));
        assert!(found(index, &format!("is:branch id:{}", uuid(3))).is_empty());
        let hit = &found(index, "wombat")[0];
        assert_eq!(hit.place, Some(BranchPlace::Active));
        let shown = index
            .show(&row(index, &uuid(3)), &ShowScope::default())
            .unwrap();
        // Of what is attached there is nothing to read.
        let read = tree.entries.iter().filter(|row| row.kind != "attachment");
        assert_eq!(shown.entries.len(), read.count());
    });
}

#[test]
fn an_answer_names_its_call_in_the_tree() {
    with_cases(|index| {
        let shown = tree(index, 3);
        let answers = shown.entries.iter();
        let answers = answers.filter(|row| row.role.as_deref() == Some("toolResult"));
        let texts: Vec<&str> = answers.map(|row| &*row.text).collect();
        for text in [
            "[Read: /home/ada/boat/pump.txt] the wombat pump",
            "[Bash: ls bilge] water and rope",
        ] {
            assert!(texts.contains(&text), "{texts:?}");
        }
    });
}

#[test]
fn what_has_nothing_to_read_is_shown_among_all_entries_alone() {
    with_cases(|index| {
        let row = row(index, &uuid(7));
        let show = |scope: &ShowScope| index.show(&row, scope).unwrap().entries;
        let read = show(&ShowScope::default());
        // What a tool gave back is shown, an image alone too.
        let is_read = |entry: &ShownEntry| {
            !entry.text.is_empty() || entry.role.as_deref() == Some("toolResult")
        };
        assert!(read.iter().all(is_read), "{read:?}");
        let all = show(&ShowScope {
            all: true,
            ..ShowScope::default()
        });
        let empty = |kind: &str| {
            let of_kind = all.iter().filter(|entry| entry.kind == kind);
            of_kind.filter(|entry| entry.text.is_empty()).count()
        };
        assert!(empty("attachment") > 1 && empty("progress") == 1);
        // A prompt is shown where it is asked for by its name.
        let hit = &found(index, "kind:system careful")[0];
        let (session, entry) = hit.address.split_once(':').unwrap();
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        let row = rows.iter().find(|row| row.id.starts_with(session)).unwrap();
        let asked = ShowScope {
            entry: Some(entry.to_owned()),
            ..ShowScope::default()
        };
        let shown = index.show(row, &asked).unwrap().entries;
        assert!(format!("{:?}", shown[0].text).contains("careful"));
    });
}

#[test]
fn compaction() {
    with_cases(|index| {
        let tree = tree(index, 4);
        assert!(
            tree.entries.iter().all(|row| row.on_active_branch),
            "one thread"
        );
        assert_eq!(
            tree.entries
                .iter()
                .filter(|row| row.parent.is_none())
                .count(),
            1
        );
        let hit = &found(index, "narwhal")[0];
        assert_eq!(
            (hit.role.as_deref(), hit.place),
            (Some("injected"), Some(BranchPlace::Active))
        );
        let sanded = found(index, "\"Sand the keel\"");
        assert_eq!(sanded[0].place, Some(BranchPlace::Compacted));
        assert_eq!(
            found(index, "\"keel is sanded\"")[0].place,
            Some(BranchPlace::Active),
            "kept"
        );
    });
}

#[test]
fn a_subagent_is_not_listed_and_hangs_on_its_call() {
    with_cases(|index| {
        let parent = row(index, &uuid(5));
        assert_eq!(parent.subagents, 2);
        let child = row(index, "agent-b1");
        assert!(!child.listed_by_agent);
        assert_eq!(child.title, "Look into the hold");
        // All lines of its own file are a subagent's, and it stands at the last of them.
        let shown = index.tree(&child, TreeFilter::Default).unwrap();
        assert!(child.message_count > 0 && shown.entries.iter().any(|entry| entry.is_leaf));
        let call = "SELECT c.tool, a.subject FROM sessions s JOIN calls c ON c.call_id = s.own ->> '$.toolUseId'
            JOIN call_records a ON a.entry = c.answer WHERE s.id = 'agent-b1'";
        assert_eq!(rows(index, call), [["Agent", "agent-b1"].map(Value::from)]);
        let hits = found(index, "pangolin");
        assert_eq!(hits.len(), 2);
        assert!(
            hits.iter()
                .all(|hit| hit.role.as_deref() == Some("injected"))
        );
    });
}

/// A subagent that another one started hangs on the session too, which may have it alone later.
#[test]
fn a_subagent_of_a_subagent() {
    let (place, projects) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = projects.path().join("-code-parser");
    let agents = folder.join(uuid(6)).join("subagents");
    fs::create_dir_all(&agents).unwrap();
    let line = |id: &str, more: Value| {
        let mut line = json!({"type": "user", "uuid": id, "parentUuid": null, "sessionId": uuid(6), "cwd": "/code/parser",
            "timestamp": "2026-01-05T09:00:00.000Z", "message": {"role": "user", "content": "Count the grebes"}});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    fs::write(
        folder.join(format!("{}.jsonl", uuid(6))),
        line("u1", json!({})),
    )
    .unwrap();
    for (agent, starter) in [("outer", Value::Null), ("inner", "outer".into())] {
        let of = json!({"isSidechain": true, "agentId": agent});
        let meta = json!({"agentType": "Explore", "description": agent, "parentAgentId": starter});
        let file = agents.join(format!("agent-{agent}.jsonl"));
        fs::write(file.with_extension("meta.json"), meta.to_string()).unwrap();
        fs::write(file, line(agent, of)).unwrap();
    }
    let index = index(place.path(), projects.path());
    let below = |id: &str| row(&index, id).subagents;
    let counts = [&*uuid(6), "agent-outer", "agent-inner"].map(below);
    assert_eq!(counts, [2, 0, 0]);
    let folded = ListScope {
        fold_subagents: true,
        ..ListScope::default()
    };
    let listed = index.list(&folded).unwrap().sessions;
    assert_eq!(listed.len(), 1);
    assert_eq!((&*listed[0].id, listed[0].subagents), (&*uuid(6), 2));
    let inner = row(&index, "agent-inner");
    let started_by = index.tree(&inner, TreeFilter::Default).unwrap().started_by;
    let path = row(&index, &uuid(6)).path;
    assert_eq!(started_by, [path.display().to_string()]);
    assert_eq!(inner.own.unwrap()["parentAgentId"], "outer");
}

#[test]
fn a_spilled_output_is_found_by_a_word_in_its_last_line() {
    with_cases(|index| {
        let hits = found(index, "tamarack");
        assert_eq!(
            (hits.len(), &*hits[0].entry, &*hits[0].kind),
            (1, "x1", "tool-result")
        );
        assert_eq!(
            hits[0].address,
            format!("{}:x1", &hits[0].address[..hits[0].address.len() - 3])
        );
        assert_eq!(row(index, &uuid(6)).message_count, 3);
    });
}

#[test]
fn nothing_is_found_that_nobody_said() {
    with_cases(|index| {
        for word in [
            "dodo",
            "kakapo",
            "smew",
            "okapi",
            "iVBORw0KGgoAAAANSUhEUgAA",
            "careful",
        ] {
            assert_eq!(found(index, word), [], "{word}");
        }
        let words = format!("{:?}", index.dump_words().unwrap());
        assert!(!words.contains("ivborw0kggo") && words.contains("axolotl"));
        // Each once, though its snapshot and the log of requests have it, in two sessions.
        assert_eq!(found(index, "kind:system careful").len(), 1);
        assert_eq!(found(index, "kind:system kakapo").len(), 1);
        assert_eq!(found(index, "figurehead role:user").len(), 1);
        assert_eq!(found(index, "axolotl")[0].role.as_deref(), Some("user"));
        assert_eq!(row(index, &uuid(7)).cwd, "/home/ada/boat");
    });
}

#[test]
fn an_error_turn_is_shown_as_an_error() {
    with_cases(|index| {
        let tree = tree(index, 8);
        let last = tree.entries.last().unwrap();
        assert!(last.is_error && last.is_leaf);
        assert_eq!(last.role.as_deref(), Some("system"));
        assert_eq!(found(index, "ibex is:error").len(), 1);
        assert_eq!(row(index, &uuid(8)).title, "Leaks and pumps");
    });
}

/// An answer names the call alone.
#[test]
fn an_answer_is_one_of_the_tool_that_was_called() {
    with_cases(|index| {
        let answered = rows(
            index,
            "SELECT c.tool, max(c.is_error) FROM calls c JOIN entries e ON e.entry = c.answer
             GROUP BY 1",
        );
        assert!(answered.len() > 2, "{answered:?}");
        for answer in answered {
            let tool = answer[0].as_str().expect("a tool");
            let answers = format!("tool:{tool} role:toolResult");
            assert!(!found(index, &answers).is_empty(), "{answers}");
            let failed = format!("tool:{tool} is:error");
            let is_error = answer[1] == 1;
            assert_eq!(!found(index, &failed).is_empty(), is_error, "{failed}");
        }
    });
}

#[test]
fn a_branch_made_by_resuming_at_an_entry() {
    with_cases(|index| {
        let tree = tree(index, 9);
        let expected = [
            ("Hoist a sail", 0, true),
            ("Which one?", 1, true),
            ("The red one", 2, false),
            ("Red it is.", 3, false),
            ("The blue one", 2, true),
            ("Blue it is.", 3, true),
            ("", 4, true),
        ];
        assert_eq!(drawn(&tree), expected);
        assert_eq!(
            found(index, "\"Red it is\"")[0].place,
            Some(BranchPlace::Abandoned)
        );
        assert_eq!(found(index, "is:branch red").len(), 2);
    });
}

/// Lines of a case, and its name.
fn lines(case: &str, number: u32) -> (String, Vec<String>) {
    let name = format!("{}.jsonl", uuid(number));
    let file = fs::read_to_string(fixtures().join(case).join(&name)).unwrap();
    (name, file.lines().map(str::to_owned).collect())
}

#[test]
fn the_session_stands_where_it_says_until_another_entry_follows() {
    let place = tempfile::tempdir().unwrap();
    let (name, mut lines) = lines("branch", 9);
    let projects = place.path().join("projects");
    let path = projects.join("p").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let red: Value = serde_json::from_str(&lines[3]).unwrap();
    let red = red["uuid"].as_str().unwrap().to_owned();
    let stands = |at: &str| format!(r#"{{"type":"last-prompt","leafUuid":"{at}"}}"#);
    // Back on the first branch, then something that is not there, then a line on it.
    lines.push(stands(&red));
    for (more, leaf, abandoned) in [
        (stands("nowhere"), &*red, "\"Blue it is\""),
        (
            format!(
                r#"{{"type":"user","uuid":"late","parentUuid":"{red}","message":{{"content":"Hoist it"}}}}"#
            ),
            "late",
            "\"Blue it is\"",
        ),
    ] {
        lines.push(more);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let index = index(&place.path().join("index"), &projects);
        let tree = tree(&index, 9);
        let at: Vec<&str> = tree
            .entries
            .iter()
            .filter(|row| row.is_leaf)
            .map(|row| &*row.id)
            .collect();
        assert_eq!(at, [leaf]);
        assert_eq!(
            found(&index, abandoned)[0].place,
            Some(BranchPlace::Abandoned)
        );
        assert_eq!(
            found(&index, "\"Red it is\"")[0].place,
            Some(BranchPlace::Active)
        );
    }
}

/// Cut at every line and in the middle of it, and completed later.
#[test]
fn a_torn_line_is_completed_later() {
    let place = tempfile::tempdir().unwrap();
    let projects = place.path().join("projects");
    let mut expected = BTreeMap::new();
    let config = config(&place.path().join("index"), &projects);
    let mut indexer = Indexer::open(&config).unwrap();
    for (case, number) in [
        ("parallel-calls", 3),
        ("errors", 8),
        ("branch", 9),
        ("silent", 7),
    ] {
        let (name, lines) = lines(case, number);
        let path = projects.join(case).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        for line in &lines {
            let (begin, end) = line.split_at(line.len() / 2);
            for part in [begin, end, "\n"] {
                file.write_all(part.as_bytes()).unwrap();
                indexer.sync().unwrap();
            }
            if line.len() % 3 == 0 {
                let index = Index::open(&config, Freshness::AsCommitted).unwrap();
                assert_eq!(index.verify().unwrap().differences, []);
            }
        }
        expected.insert(uuid(number), case);
    }
    let whole = Index::open(&config, Freshness::AsCommitted).unwrap();
    with_cases(|at_once| {
        for id in expected.keys() {
            let of = |index: &Index| {
                let row = row(index, id);
                let tree = index.tree(&row, TreeFilter::All).unwrap();
                let drawn: Vec<_> = drawn(&tree)
                    .into_iter()
                    .map(|(text, depth, active)| (text.to_owned(), depth, active))
                    .collect();
                (
                    row.title,
                    row.tokens,
                    row.cost,
                    row.message_count,
                    row.errors,
                    drawn,
                )
            };
            assert_eq!(of(&whole), of(at_once), "{id}");
        }
    });
}

/// A session with a subagent and what was printed at length in the folder beside its file, and
/// another session.
fn with_a_folder(home: &Sandbox) -> [PathBuf; 4] {
    let id = uuid(6);
    let line = |id: &str, said: &str, more: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":null,"sessionId":"{}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/code/parser"{more},"message":{{"role":"user","content":"{said}"}}}}"#,
            uuid(6)
        ) + "\n"
    };
    let projects = ".claude/projects/-code-parser";
    let file = home.write(
        &format!("{projects}/{id}.jsonl"),
        &line("u1", "Print all of it", ""),
    );
    let of_subagent = r#","isSidechain":true,"agentId":"a1""#;
    let subagent = home.write(
        &format!("{projects}/{id}/subagents/agent-a1.jsonl"),
        &line("u2", "Count the grebes", of_subagent),
    );
    let spill = home.write(&format!("{projects}/{id}/tool-results/a.txt"), "all of it");
    let other = home.write(
        &format!("{projects}/{}.jsonl", uuid(7)),
        &line("u3", "Something else", "").replace(&id, &uuid(7)),
    );
    for file in [&file, &subagent, &spill, &other] {
        home.touch(file, 1_767_603_600);
    }
    [file, subagent, spill, other]
}

/// What lies in a folder beside a session's file is a part of it, and goes with it: what was
/// printed at length, and its subagents, which the archive forgets too.
#[test]
fn a_session_is_deleted_with_the_folder_beside_its_file() {
    let home = Sandbox::new();
    let ([file, subagent, spill, other], id) = (with_a_folder(&home), uuid(6));
    let _ = home.run(&["archive", "on", "claude"]);
    let shown = home.run(&["delete", &id, "--dry-run"]);
    assert!(shown.contains("subagent"), "{shown}");
    assert!(shown.contains("3 files"), "{shown}");
    assert!(file.exists() && spill.exists());
    let said = home.run(&["delete", &id, "--yes", "--json"]);
    assert!(said.contains(r#""still_archived":false"#), "{said}");
    let folder = file.with_extension("");
    assert!(!file.exists() && !folder.exists() && other.exists());
    for word in ["grebes", "Print"] {
        let found = home.run(&["search", word, "--json"]);
        assert!(found.contains(r#""total":0"#), "{found}");
    }
    assert!(home.run(&["list", "--all"]).contains("Something else"));
    if cfg!(target_os = "macos") {
        return;
    }
    // And comes back with it.
    let said = home.run(&["delete", "--restore", &id]);
    assert!(said.contains("Moved back from the trash"), "{said}");
    assert!(file.exists() && spill.exists() && subagent.exists());
    let found = home.run(&["search", "Print", "--json"]);
    assert!(!found.contains(r#""total":0"#), "{found}");
    for (name, why) in [
        (&id[..], "no file of a session in the trash"),
        ("0", "too short"),
        ("passwords", "no file of a session in the trash"),
    ] {
        let refused = home.run(&["delete", "--restore", name]);
        assert!(refused.contains(why), "{refused}");
    }
}

/// A folder is a session's by its name alone, which is an id; and below no root nobody knows.
#[test]
fn what_is_not_the_sessions_stays() {
    let home = Sandbox::new();
    let [file, subagent, ..] = with_a_folder(&home);
    let (project, stray) = (file.parent().unwrap(), "-code-parser.jsonl");
    let line = fs::read_to_string(&file)
        .unwrap()
        .replace(&uuid(6), &uuid(8));
    home.write(&format!(".claude/projects/{stray}"), &line);
    let memory = home.write(".claude/projects/-code-parser/memory/MEMORY.md", "kept");
    let line = line.replace(&uuid(8), &uuid(9));
    home.write(".claude/projects/-code-parser/memory.jsonl", &line);
    for stray in [
        format!("projects/{stray}"),
        "projects/-code-parser/memory.jsonl".into(),
    ] {
        let stray = home.home.join(".claude").join(stray);
        let _ = home.run(&["delete", stray.to_str().unwrap(), "--yes", "--force"]);
        assert!(!stray.exists(), "{stray:?}");
    }
    assert!(project.exists() && memory.exists() && subagent.exists());
    let copy = home.home.join("backup");
    fs::rename(project, &copy).unwrap();
    let file = copy.join(file.file_name().unwrap());
    let said = home.run(&["delete", file.to_str().unwrap(), "--yes", "--force"]);
    assert!(said.contains("maybe the folder") && file.exists(), "{said}");
}

/// A copy of a project has both again: each subagent hangs on the session that is beside it.
#[test]
fn a_copied_project_hangs_together_by_itself() {
    let home = Sandbox::new();
    let [file, subagent, ..] = with_a_folder(&home);
    let project = file.parent().unwrap();
    let projects = project.parent().unwrap();
    for copy in ["-a", "-z"] {
        for from in [&file, &subagent] {
            let to = projects
                .join(copy)
                .join(from.strip_prefix(project).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), projects);
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let forks = "SELECT c.path, p.path FROM forks f JOIN sessions c USING (session)
        JOIN sessions p ON p.session = f.parent ORDER BY 1";
    let forks = index.sql(forks, &[]).unwrap().rows;
    assert_eq!(forks.len(), 3);
    for row in forks {
        let [child, parent] = [0, 1].map(|at| PathBuf::from(row[at].as_str().unwrap()));
        assert!(
            child.starts_with(parent.with_extension("")),
            "{child:?} {parent:?}"
        );
    }
}

/// Their prompts are gone as well, whether its files are there or not.
#[test]
fn a_session_is_forgotten_with_its_subagents() {
    let home = Sandbox::new();
    let ([file, ..], id) = (with_a_folder(&home), uuid(6));
    let _ = home.run(&["archive", "on", "claude"]);
    fs::remove_file(&file).unwrap();
    fs::remove_dir_all(file.with_extension("")).unwrap();
    let all = ["list", "--all", "--subagents", "--json"];
    let kept = home.run(&all);
    assert_eq!(kept.matches(r#""archived":true"#).count(), 2, "{kept}");
    let shown = home.run(&["show", &id]);
    assert!(shown.contains("its file is gone since 20"), "{shown}");
    let said = home.run(&["archive", "forget", &id, "--yes"]);
    assert!(
        said.contains(&format!("forgotten: {id}, 3 files, nowhere else\n")),
        "{said}"
    );
    let kept = home.run(&all);
    assert!(!kept.contains(r#""archived":true"#), "{kept}");
    // Nor are they kept again.
    with_a_folder(&home);
    let _ = home.run(&["sync"]);
    let said = home.run(&["archive", "versions", &id]);
    assert!(said.contains("it was forgotten, or"), "{said}");
    fs::remove_file(&file).unwrap();
    fs::remove_dir_all(file.with_extension("")).unwrap();
    let kept = home.run(&all);
    assert!(!kept.contains(r#""archived":true"#), "{kept}");
}

/// They come back with it, and where it is there itself; who forgets it is told what is lost.
#[test]
fn a_session_comes_back_with_its_subagents() {
    let home = Sandbox::new();
    let ([file, subagent, spill, _], id) = (with_a_folder(&home), uuid(6));
    let texts = [&file, &subagent, &spill].map(|file| fs::read(file).expect("a file"));
    let _ = home.run(&["archive", "on", "claude"]);
    let restored = || home.json(&["archive", "restore", &id, "--json"])["files"].clone();
    let folder = file.with_extension("");
    fs::remove_file(&file).expect("it was there");
    fs::remove_dir_all(&folder).expect("it was there");
    assert_eq!(restored(), json!([file, spill, subagent]));
    let again = [&file, &subagent, &spill].map(|file| fs::read(file).expect("a file"));
    assert_eq!(again, texts);
    fs::remove_dir_all(subagent.parent().expect("a folder")).expect("it was there");
    assert_eq!(restored(), json!([subagent]));
    assert_eq!(restored(), json!([]));
    fs::remove_dir_all(&folder).expect("it was there");
    #[cfg(target_os = "linux")]
    if let Some(seen) = home.on_terminal(&["archive", "forget", &id], "n\n") {
        assert!(seen.contains("2 of its 3 files are nowhere else"), "{seen}");
    }
    let said = home.json(&["archive", "forget", &id, "--yes", "--json"]);
    let counted = [&said["files"], &said["nowhere_else"]];
    assert_eq!(counted, [&json!(3), &json!(2)]);
}

/// Whatever else is in its place, and whichever of them it is.
#[test]
fn a_file_that_cannot_come_back_keeps_none_of_the_others_away() {
    let home = Sandbox::new();
    let ([file, first, spill, _], id) = (with_a_folder(&home), uuid(6));
    let text = fs::read_to_string(&first).expect("a subagent");
    let subagent = |name: &str| {
        let place = first.with_file_name(format!("agent-{name}.jsonl"));
        let text = text.replace(r#""a1""#, &format!(r#""{name}""#));
        fs::write(&place, text.replace("u2", &format!("u-{name}"))).expect("a file");
        home.touch(&place, 1_767_603_600);
        place
    };
    let (second, third) = (subagent("a2"), subagent("a3"));
    let _ = home.run(&["archive", "on", "claude"]);
    let folder = file.with_extension("");
    let all = [&file, &spill, &first, &second, &third];
    for in_place in [&[&second][..], &[&spill], &[&file, &third]] {
        fs::remove_file(&file).expect("it was there");
        fs::remove_dir_all(&folder).expect("it was there");
        for place in in_place {
            fs::create_dir_all(place).expect("a folder");
        }
        let arguments = ["archive", "restore", &id, "--json"];
        let output = home.output(&arguments);
        assert_eq!(output.status.code(), Some(2), "{in_place:?}");
        let said: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        let back: Vec<_> = all.iter().filter(|of| !in_place.contains(of)).collect();
        assert_eq!(said["files"], json!(back), "{in_place:?}");
        assert!(back.iter().all(|of| of.is_file()), "{in_place:?}");
        let failed = said["failed"].as_array().expect("those that failed");
        let failed: Vec<&Value> = failed.iter().map(|of| &of["path"]).collect();
        assert_eq!(json!(failed), json!(in_place), "{said}");
        assert_eq!(said["lost"], Value::Null, "{said}");
        // Each is named.
        let named = String::from_utf8(output.stderr).expect("text");
        let is_named = |of: &&PathBuf| named.contains(&*of.file_name().unwrap().to_string_lossy());
        assert!(in_place.iter().all(is_named), "{named}");
        for place in in_place {
            fs::remove_dir(place).expect("it is empty");
        }
        let said = home.run(&["archive", "restore", &id]);
        assert_eq!(said.matches("restored: ").count(), in_place.len(), "{said}");
        assert!(!said.contains("--- exit"), "{said}");
    }
}

/// What lies in the folder beside its file is there still, and is not the session.
#[test]
fn a_session_that_is_lost_is_not_said_to_be_there() {
    let home = Sandbox::new();
    let ([file, ..], id) = (with_a_folder(&home), uuid(6));
    let there = home.run(&["archive", "restore", &id]);
    assert!(there.contains("Its files are all there"), "{there}");
    fs::remove_file(&file).unwrap();
    let lost = home.run(&["archive", "restore", &id]);
    assert!(lost.contains("Nothing is kept of this session"), "{lost}");
    assert!(lost.ends_with("--- exit Some(1)\n"), "{lost}");
    let versions = home.run(&["archive", "versions", &id]);
    assert_eq!(lost, versions);
}

/// Nor where that comes back which is kept of the folder.
#[test]
fn a_session_is_lost_whatever_of_its_folder_comes_back() {
    let home = Sandbox::new();
    let ([file, subagent, spill, _], id) = (with_a_folder(&home), uuid(6));
    let _ = home.run(&["sync"]);
    fs::remove_file(&file).unwrap();
    let _ = home.run(&["archive", "on", "claude"]);
    let lost = "The session's own file is gone, and nothing of it is kept.\n--- exit Some(1)\n";
    for gone in [true, false] {
        if gone {
            fs::remove_dir_all(file.with_extension("")).unwrap();
            let resumed = home.run(&["resume", &id, "--print"]);
            assert!(resumed.contains("its session file is gone"), "{resumed}");
            assert!(!resumed.contains("writes it back"), "{resumed}");
        }
        let said = home.run(&["archive", "restore", &id]);
        assert!(said.ends_with(lost), "{said}");
        assert!(!said.contains("archive on"), "{said}");
        assert_eq!(said.contains("restored: "), gone, "{said}");
        assert!(subagent.exists() && spill.exists());
    }
    fs::remove_dir_all(file.with_extension("")).unwrap();
    let said = home.json(&["archive", "restore", &id, "--json"]);
    assert_eq!(said["files"], json!([spill, subagent]));
    assert_eq!(said["lost"], true, "{said}");
}

/// A line of a session that works in that folder.
fn line_of(cwd: &Path, number: u32, parent: Value, more: &Value) -> String {
    let mut line = json!({
        "uuid": uuid(number), "parentUuid": parent, "sessionId": uuid(9), "isSidechain": false,
        "cwd": cwd, "version": "2.1.330", "timestamp": "2026-01-05T10:00:00.000Z",
    });
    let fields = line.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    line.to_string()
}

/// A prompt of the agent's own is of no interest to who reads a session back; `--all` shows that
/// it is there.
#[test]
fn entries_that_say_nothing_are_shown_where_all_are() {
    let home = Sandbox::new();
    let talk = |number, parent, more| line_of(&home.home, number, parent, &more);
    let lines = [
        talk(
            1,
            Value::Null,
            json!({"type": "user", "message": {"role": "user", "content": "Where is the grebe?"}}),
        ),
        talk(
            2,
            json!(uuid(1)),
            json!({"type": "attachment", "attachment": {"type": "date"}, "renderedRole": "system",
                   "rendered": [{"content": "<system-reminder>A day.</system-reminder>"}]}),
        ),
    ];
    let file = format!(".claude/projects/-x/{}.jsonl", uuid(9));
    home.write(&file, &(lines.join("\n") + "\n"));
    let shown = home.run(&["show", &uuid(9)]);
    assert!(shown.contains("Where is the grebe?"), "{shown}");
    assert!(!shown.contains("attachment"), "{shown}");
    let all = home.run(&["show", &uuid(9), "--all"]);
    assert!(all.contains("attachment"), "{all}");
}

/// A command of Claude Code's own may run while a tool works: it is found, and is no branch.
#[test]
fn what_a_local_command_printed_is_found_and_is_no_branch() {
    let home = Sandbox::new();
    let line = |number, parent, more| line_of(&home.home, number, parent, &more);
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "oars"});
    let printed = "<local-command-stdout>the numbat is full</local-command-stdout>";
    let lines = [
        line(
            1,
            Value::Null,
            json!({"type": "user", "message": {"role": "user", "content": "Where is the grebe?"}}),
        ),
        line(
            2,
            json!(uuid(1)),
            json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}}),
        ),
        line(
            3,
            json!(uuid(2)),
            json!({"type": "system", "subtype": "local_command", "content": printed}),
        ),
        line(
            4,
            json!(uuid(2)),
            json!({"type": "user", "message": {"role": "user", "content": [result]}}),
        ),
    ];
    let file = format!(".claude/projects/-x/{}.jsonl", uuid(9));
    home.write(&file, &(lines.join("\n") + "\n"));
    let found = home.run(&["search", "numbat"]);
    assert!(found.contains("numbat is full"), "{found}");
    let shown = home.run(&["show", &uuid(9)]);
    assert!(
        shown.contains("numbat") && shown.contains("oars"),
        "{shown}"
    );
}

/// A subagent's lines, which older versions wrote into the file of its session, are a branch of
/// their own, on which the session never stands.
#[test]
fn a_session_that_ends_with_a_subagents_lines_stands_before_them() {
    let home = Sandbox::new();
    let talk = |number: u32, parent: Value, is_sidechain: bool, said: &str| {
        let line = json!({
            "type": "user", "uuid": uuid(number), "parentUuid": parent, "sessionId": uuid(9),
            "isSidechain": is_sidechain, "cwd": home.home, "timestamp": "2026-01-05T10:00:00.000Z",
            "message": {"role": "user", "content": said},
        });
        line.to_string()
    };
    let lines = [
        talk(1, Value::Null, false, "Where is the grebe?"),
        talk(2, json!(uuid(1)), false, "And the heron?"),
        talk(3, Value::Null, true, "Look in the reeds"),
        talk(4, json!(uuid(3)), true, "Look again"),
    ];
    let file = format!(".claude/projects/-x/{}.jsonl", uuid(9));
    home.write(&file, &(lines.join("\n") + "\n"));
    let shown = home.run(&["show", &uuid(9)]);
    assert!(shown.contains("And the heron?"), "{shown}");
    assert!(!shown.contains("Look"), "{shown}");
    // What is on a branch that was given up.
    let found = home.json(&["search", "grebe is:branch", "--json"]);
    assert_eq!(found["total_sessions"], 0, "{found}");
    let found = home.json(&["search", "reeds is:branch", "--json"]);
    assert_eq!(found["total_sessions"], 1, "{found}");
}

/// A line of the session 9: who said it, its number, that of the entry it goes on from, and more.
fn said(kind: &str, number: u32, parent: Option<u32>, text: &str, more: Value) -> Value {
    let mut line = json!({
        "type": kind, "uuid": uuid(number), "parentUuid": parent.map(uuid), "sessionId": uuid(9),
        "isSidechain": false, "cwd": "/w", "timestamp": format!("2026-01-05T10:{number:02}:00.000Z"),
        "message": {"role": kind, "content": [{"type": "text", "text": text}]},
    });
    if kind == "assistant" {
        line["message"]["id"] = format!("msg_{number}").into();
    }
    let fields = line.as_object_mut().unwrap();
    fields.extend(more.as_object().cloned().unwrap_or_default());
    line
}

/// An index of the session 9 that was synced after each of its lines, and equals its file.
fn grown(place: &Path, lines: &[Vec<u8>]) -> Index {
    let projects = place.join("projects");
    let path = projects.join("p").join(format!("{}.jsonl", uuid(9)));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::File::create(&path).unwrap();
    for line in lines {
        file.write_all(line).unwrap();
        file.write_all(b"\n").unwrap();
        index(&place.join("index"), &projects);
    }
    index(&place.join("index"), &projects)
}

fn bytes(lines: &[Value]) -> Vec<Vec<u8>> {
    let lines = lines.iter();
    lines.map(|line| line.to_string().into_bytes()).collect()
}

/// The numbers of the entries that `show` shows.
fn shown(index: &Index) -> Vec<u32> {
    let shown = index.show(&row(index, &uuid(9)), &ShowScope::default());
    let entries = shown.unwrap().entries.into_iter();
    entries
        .map(|entry| u32::from_str_radix(entry.id.split('-').next().unwrap(), 16).unwrap())
        .collect()
}

/// Claude Code names lines as parents that it never wrote.
#[test]
fn what_names_a_parent_that_was_never_written_goes_on_from_the_line_before() {
    let place = tempfile::tempdir().unwrap();
    let side = json!({"isSidechain": true});
    let lines = bytes(&[
        said("user", 1, None, "Where is the grebe?", Value::Null),
        said("assistant", 2, Some(1), "On the lake.", Value::Null),
        said("user", 3, None, "Look in the reeds", side.clone()),
        said("assistant", 4, Some(3), "No grebe here.", side),
        said("user", 5, Some(90), "And the heron?", Value::Null),
        said("assistant", 6, Some(5), "In the reeds.", Value::Null),
    ]);
    let index = grown(place.path(), &lines);
    assert_eq!(shown(&index), [1, 2, 5, 6]);
    assert_eq!(found(&index, "grebe is:branch").len(), 1, "the subagent's");
    let hit = &found(&index, "\"On the lake\"")[0];
    assert_eq!(hit.place, Some(BranchPlace::Active));
    let tree = tree(&index, 9);
    let above = tree.entries.iter().find(|row| row.id == uuid(5)).unwrap();
    assert_eq!(above.parent, Some(uuid(2)));
}

/// What a compaction kept stands behind its summary, and the compaction names it as what it goes on
/// from.
#[test]
fn a_compaction_that_keeps_messages_does_not_cut_the_thread() {
    let place = tempfile::tempdir().unwrap();
    let boundary = json!({
        "subtype": "compact_boundary", "logicalParentUuid": uuid(6), "message": null,
        "compactMetadata": {"trigger": "auto", "preTokens": 100, "preservedSegment":
            {"headUuid": uuid(6), "anchorUuid": uuid(5), "tailUuid": uuid(6)}},
    });
    let lines = bytes(&[
        said("user", 1, None, "Where is the grebe?", Value::Null),
        said("assistant", 2, Some(1), "On the lake.", Value::Null),
        said("user", 3, Some(2), "And the heron?", Value::Null),
        said("system", 4, None, "", boundary),
        said(
            "user",
            5,
            Some(4),
            "They watch birds.",
            json!({"isCompactSummary": true}),
        ),
        said("assistant", 6, Some(5), "In the reeds.", Value::Null),
        said("user", 7, Some(6), "And the coot?", Value::Null),
    ]);
    let index = grown(place.path(), &lines);
    assert_eq!(shown(&index), [1, 2, 3, 4, 5, 6, 7]);
    let tree = tree(&index, 9);
    assert!(tree.entries.iter().all(|row| row.on_active_branch));
    let place_of = |query: &str| found(&index, query)[0].place;
    assert_eq!(place_of("lake"), Some(BranchPlace::Compacted));
    assert_eq!(place_of("\"In the reeds\""), Some(BranchPlace::Active));
}

/// "Summarize up to here" of `/rewind` keeps what was said last.
#[test]
fn what_a_summary_of_the_beginning_kept_is_of_the_thread() {
    let place = tempfile::tempdir().unwrap();
    let boundary = json!({
        "subtype": "compact_boundary", "logicalParentUuid": uuid(2), "message": null,
        "compactMetadata": {"trigger": "manual", "preTokens": 100, "preservedSegment":
            {"headUuid": uuid(3), "anchorUuid": uuid(6), "tailUuid": uuid(4)}},
    });
    let summary = json!({"isCompactSummary": true});
    let lines = bytes(&[
        said("user", 1, None, "Where is the grebe?", Value::Null),
        said("assistant", 2, Some(1), "On the lake.", Value::Null),
        said("user", 3, Some(2), "And the heron?", Value::Null),
        said("assistant", 4, Some(3), "In the reeds.", Value::Null),
        said("system", 5, None, "", boundary),
        said("user", 6, Some(5), "They watch birds.", summary),
        said("user", 7, Some(6), "And the coot?", Value::Null),
    ]);
    let index = grown(place.path(), &lines);
    assert_eq!(shown(&index), [1, 2, 3, 4, 5, 6, 7]);
    let place_of = |query: &str| found(&index, query)[0].place;
    assert_eq!(place_of("lake"), Some(BranchPlace::Compacted));
    assert_eq!(place_of("heron"), Some(BranchPlace::Active));
}

/// A compaction writes what it kept again below its summary, under the same ids.
#[test]
fn what_is_written_again_below_a_summary_makes_no_branches() {
    let place = tempfile::tempdir().unwrap();
    let boundary =
        json!({"subtype": "compact_boundary", "logicalParentUuid": uuid(4), "message": null});
    let summary = json!({"isCompactSummary": true});
    let kept = |above| said("user", 3, Some(above), "And the heron?", Value::Null);
    let answer = said("assistant", 4, Some(3), "In the reeds.", Value::Null);
    let lines = bytes(&[
        said("user", 1, None, "Where is the grebe?", Value::Null),
        said("assistant", 2, Some(1), "On the lake.", Value::Null),
        kept(2),
        answer.clone(),
        said("system", 5, None, "", boundary),
        said("user", 6, Some(5), "They watch birds.", summary),
        kept(6),
        answer,
        said("user", 7, Some(4), "And the coot?", Value::Null),
    ]);
    let index = grown(place.path(), &lines);
    let tree = tree(&index, 9);
    assert!(tree.entries.iter().all(|row| row.on_active_branch));
}

/// Mail comes while the tools of an answer work.
#[test]
fn what_is_attached_between_results_makes_no_branch() {
    let call = |number: u32, above| {
        let block = json!({"type": "tool_use", "id": format!("t{number}"), "name": "Bash",
            "input": {"command": "ls"}});
        let message = json!({"id": "msg_1", "role": "assistant", "content": [block]});
        said(
            "assistant",
            number,
            Some(above),
            "",
            json!({"message": message}),
        )
    };
    let result = |number: u32, above: u32| {
        let block = json!({"type": "tool_result", "tool_use_id": format!("t{above}"),
            "content": "x"});
        let message = json!({"role": "user", "content": [block]});
        said("user", number, Some(above), "", json!({"message": message}))
    };
    let mail = json!({"message": null, "attachment": {"type": "teammate_mailbox",
        "messages": [{"from": "matey", "text": "the quetzal"}]}});
    let place = tempfile::tempdir().unwrap();
    let lines = bytes(&[
        said("user", 1, None, "Row.", Value::Null),
        call(2, 1),
        call(3, 2),
        result(4, 2),
        said("attachment", 5, Some(4), "", mail),
        result(6, 3),
        said("assistant", 7, Some(6), "Rowed.", Value::Null),
    ]);
    let index = grown(place.path(), &lines);
    assert!(
        tree(&index, 9)
            .entries
            .iter()
            .all(|row| row.on_active_branch)
    );
    assert_eq!(shown(&index), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(found(&index, "quetzal role:injected").len(), 1);
}

/// All lines of a hook have one `uuid`.
#[test]
fn what_hooks_said_when_a_session_began_cuts_no_thread() {
    let place = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let mut last = None;
    for number in 1..7 {
        let hook = json!({"content": ["Count birds"], "message": null});
        lines.push(said("saved_hook_context", 80, last, "", hook));
        let kind = if number % 2 == 1 { "user" } else { "assistant" };
        let text = format!("Bird {number}");
        lines.push(said(kind, number, Some(80), &text, Value::Null));
        last = Some(number);
    }
    let index = grown(place.path(), &bytes(&lines));
    assert_eq!(shown(&index), [1, 2, 3, 4, 5, 6]);
    assert!(found(&index, "is:branch bird").is_empty());
    let above =
        "SELECT count(*) FROM entries c JOIN entries p ON p.id = c.parent AND p.session = c.session
        WHERE c.kind <> 'saved_hook_context'";
    assert_eq!(counts(&index, above), [5], "one each, but for the first");
}

/// Editors had a subagent warm up before the person typed anything.
#[test]
fn a_session_that_begins_with_a_subagents_lines_is_the_persons() {
    let place = tempfile::tempdir().unwrap();
    let side = json!({"isSidechain": true});
    let lines = bytes(&[
        said("user", 1, None, "Warmup", side.clone()),
        said("assistant", 2, Some(1), "Ready here.", side.clone()),
        said("user", 3, None, "Where is the grebe?", Value::Null),
        said("assistant", 4, Some(3), "On the lake.", Value::Null),
        said("assistant", 5, Some(2), "Still ready.", side),
    ]);
    let index = grown(place.path(), &lines);
    assert_eq!(shown(&index), [3, 4]);
    assert_eq!(row(&index, &uuid(9)).message_count, 2);
    let hit = &found(&index, "ready")[0];
    assert_eq!(hit.place, Some(BranchPlace::Abandoned));
}

/// Claude Code passes over the NUL bytes that a crash leaves before a line.
#[test]
fn a_line_behind_nul_bytes_is_a_line() {
    let place = tempfile::tempdir().unwrap();
    let mut lines = bytes(&[
        said("user", 1, None, "Where is the grebe?", Value::Null),
        said("assistant", 2, Some(1), "On the lake.", Value::Null),
        said("user", 3, Some(2), "And the heron?", Value::Null),
        said("assistant", 4, Some(3), "In the reeds.", Value::Null),
    ]);
    lines[2].splice(0..0, [0; 40]);
    let index = grown(place.path(), &lines);
    assert_eq!(shown(&index), [1, 2, 3, 4]);
    assert_eq!(row(&index, &uuid(9)).message_count, 4);
    let sql = "SELECT count(*), sum(length) FROM problems";
    assert_eq!(counts(&index, sql), [1, 40], "the damage is told");
    let sql = "SELECT count(*) FROM entries WHERE fused OR NOT agent_sees";
    assert_eq!(counts(&index, sql), [0]);
}

/// What an agent records deeper than anybody keeps it is left out, and every session is listed.
#[test]
fn a_value_of_any_depth_hides_no_session() {
    let home = Sandbox::new();
    let depths = [1, 63, 64, 65, 100, 124, 125, 126, 127, 128, 200];
    for (number, depth) in (1..).zip(depths) {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let id = uuid(number);
        let lines = format!(
            "{}\n{}\n",
            json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": id, "cwd": "/w",
                   "timestamp": "2026-01-05T09:00:00.000Z",
                   "message": {"role": "user", "content": format!("Depth {depth}")}}),
            format_args!(
                r#"{{"type":"cost-state","totalCostUSD":1.5,"modelUsage":{deep},"sessionId":"{id}"}}"#
            )
        );
        home.write(&format!(".claude/projects/-w/{id}.jsonl"), &lines);
    }
    let _ = home.run(&["sync"]);
    let sql = "SELECT count(*), sum(cost) FROM sessions";
    let counted = home.run(&["sql", sql]);
    assert!(
        counted.contains("11") && counted.contains("16.5"),
        "{counted}"
    );
    let listed = home.run(&["list", "--all"]);
    for depth in depths {
        assert!(listed.contains(&format!("Depth {depth}")), "{listed}");
    }
    assert!(!listed.contains("rebuilt"), "{listed}");
}

/// Taking a session up again may write all that was said into its file once more: it is shown and
/// found once, and nothing branches.
#[test]
fn history_that_is_written_again_is_shown_and_found_once() {
    let (place, projects) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = projects.path().join(format!("-w/{}.jsonl", uuid(9)));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let talk = |number: u32, more: Value| {
        let parent = (number > 1).then(|| uuid(number - 1));
        let mut line = json!({
            "type": "user", "uuid": uuid(number), "parentUuid": parent, "sessionId": uuid(9),
            "isSidechain": false, "cwd": "/w", "timestamp": format!("2026-01-05T10:00:{number:02}.000Z"),
            "message": {"role": "user", "content": format!("Grebe {number}")},
        });
        let fields = line.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let lines = |numbers: std::ops::Range<u32>, more: Value| -> String {
        numbers.map(|number| talk(number, more.clone())).collect()
    };
    fs::write(&file, lines(1..21, json!({}))).unwrap();
    drop(index(place.path(), projects.path()));
    let again = lines(1..21, json!({"slug": "wet-oar"})) + &lines(21..22, json!({}));
    let mut grown = OpenOptions::new().append(true).open(&file).unwrap();
    grown.write_all(again.as_bytes()).unwrap();
    let index = index(place.path(), projects.path());
    assert_eq!(row(&index, &uuid(9)).message_count, 21);
    let shown = tree(&index, 9);
    assert_eq!(shown.entries.len(), 21);
    assert!(shown.entries.iter().all(|row| row.on_active_branch));
    let hits = found(&index, "\"Grebe 3\"");
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].place, Some(BranchPlace::Active));
    assert!(found(&index, "is:branch grebe").is_empty());
}

/// What an advisor took is in none of its answer's sums, and may stand on any of its lines, beside
/// the answer's own figures.
#[test]
fn what_advisors_took_counts_once_under_their_models() {
    let place = tempfile::tempdir().unwrap();
    let request = |model: &str, input: i64, output: i64| {
        json!({"type": "advisor_message", "model": model, "input_tokens": input,
            "output_tokens": output})
    };
    let line = |number: u32, block: Value, output: i64, iterations: Value| {
        let mut line = said("assistant", number, Some(number - 1), "", json!({}));
        line["requestId"] = "req_1".into();
        line["message"] = json!({"id": "msg_1", "role": "assistant", "model": "sonnet",
            "content": [block], "usage": {"input_tokens": 4, "output_tokens": output,
            "iterations": iterations}});
        line
    };
    let asked = json!({"type": "server_tool_use", "id": "s", "name": "advisor", "input": {}});
    let told = json!({"type": "advisor_tool_result", "tool_use_id": "s",
        "content": {"type": "advisor_result", "text": "Use oak."}});
    let all = json!([
        request("opus", 900, 40),
        request("haiku", 8, 2),
        request("opus", 90, 2)
    ]);
    let mut lines = vec![
        said("user", 1, None, "Which wood?", json!({})),
        line(2, asked, 1, Value::Null),
        line(3, told, 1, json!([request("opus", 900, 40)])),
        line(
            4,
            json!({"type": "text", "text": "Oak, by the heron."}),
            683,
            all,
        ),
    ];
    let spent = "SELECT model, input, output FROM usage ORDER BY model";
    let expected = json!([["haiku", 8, 2], ["opus", 990, 42], ["sonnet", 4, 683]]);
    let expected: Vec<Vec<Value>> = serde_json::from_value(expected).unwrap();
    let grown = grown(place.path(), &bytes(&lines));
    assert_eq!(rows(&grown, spent), expected);
    assert_eq!(row(&grown, &uuid(9)).message_count, 2);
    assert_eq!(found(&grown, "heron").len(), 1);
    // They have no bytes, and are none of the tree, of which the call of an advisor is no part.
    assert_eq!(tree(&grown, 9).entries.len(), 2);
    let others = "SELECT count(*), sum(length), count(raw(entry)), count(id) FROM entries
        WHERE kind = 'usage'";
    assert_eq!(counts(&grown, others), [3, 0, 0, 0]);
    assert_eq!(counts(&grown, "SELECT entries FROM sessions"), [7]);
    // The line is what its address names, and all that a copy holds of it.
    let session = row(&grown, &uuid(9));
    for (scope, ids) in [
        (
            ShowScope {
                entry: Some("L4".to_owned()),
                ..ShowScope::default()
            },
            vec![uuid(4)],
        ),
        (
            ShowScope {
                branch: Some("L4".to_owned()),
                ..ShowScope::default()
            },
            shown(&grown).into_iter().map(uuid).collect(),
        ),
    ] {
        let shown = grown.show(&session, &scope).unwrap().entries;
        let shown: Vec<_> = shown.into_iter().map(|entry| entry.id).collect();
        assert_eq!(shown, ids, "{scope:?}");
    }
    let mut raw = Vec::new();
    grown.copy_raw(&session, Some("L4"), &mut raw).unwrap();
    assert_eq!(raw.trim_ascii_end(), bytes(&lines)[3]);
    for leaf in [None, Some("L4")] {
        let mut copy = Vec::new();
        let copied = grown.stream(|snapshot| snapshot.copy_branch(&session, leaf, &mut copy));
        let (copied, _) = copied.unwrap();
        assert_eq!(copied.lines, 4, "{leaf:?}");
        assert_eq!(copy, [bytes(&lines).join(&b'\n'), vec![b'\n']].concat());
    }
    drop(grown);

    // A fork has them too.
    for (number, line) in (5..).zip(&mut lines) {
        line["sessionId"] = uuid(8).into();
        line["uuid"] = uuid(number).into();
        line["parentUuid"] = (number > 5).then(|| uuid(number - 1)).into();
    }
    let projects = place.path().join("projects");
    let fork = projects.join("p").join(format!("{}.jsonl", uuid(8)));
    fs::write(fork, bytes(&lines).join(&b'\n')).unwrap();
    for index_dir in ["index", "fresh"] {
        let index = index(&place.path().join(index_dir), &projects);
        assert_eq!(rows(&index, spent), expected, "{index_dir}");
    }
}

/// Older versions hand what is typed while they work to the model, and only their queue says so.
#[test]
fn what_only_the_queue_says_is_found() {
    let (place, projects) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = projects.path().join(format!("-w/{}.jsonl", uuid(9)));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let said = json!({
        "type": "user", "uuid": uuid(1), "parentUuid": null, "sessionId": uuid(9), "cwd": "/w",
        "isSidechain": false, "version": "2.0.73", "timestamp": "2026-01-05T10:00:00.000Z",
        "message": {"role": "user", "content": "Where is the grebe?"},
    });
    let queue = |operation: &str, content: Value| {
        json!({"type": "queue-operation", "operation": operation, "content": content,
            "sessionId": uuid(9), "timestamp": "2026-01-05T10:00:01.000Z"})
    };
    let call = json!({
        "type": "assistant", "uuid": uuid(2), "parentUuid": uuid(1), "sessionId": uuid(9),
        "cwd": "/w", "isSidechain": false, "version": "2.0.73",
        "timestamp": "2026-01-05T10:00:01.000Z",
        "message": {"role": "assistant", "id": "msg_1", "content": [
            {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "ls"}}]},
    });
    let lines = [
        said,
        call,
        queue("enqueue", "And the heron?".into()),
        queue("remove", Value::Null),
    ];
    fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let index = index(place.path(), projects.path());
    assert_eq!(row(&index, &uuid(9)).message_count, 3);
    assert_eq!(found(&index, "heron role:user").len(), 1);
    assert_eq!(tree(&index, 9).entries.len(), 2);
}
