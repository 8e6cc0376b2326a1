//! agentuse: are its folders read as it reads them, and are its secrets nowhere?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sessionary::format::Format;
use sessionary::format::agentuse::Agentuse;
use sessionary::format::json::split;
use sessionary::index::{ListScope, SearchScope, ShowScope, WhereScope};
use sessionary::model::{Class, SessionRow, Standing};
use sessionary::{Config, Freshness, Index, Indexer, RootSpec};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse")
}

/// Every case with what is expected of it.
fn cases() -> BTreeMap<String, Value> {
    fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let expected = fs::read(entry.path().join("expected.json")).unwrap();
            (
                entry.file_name().into_string().unwrap(),
                serde_json::from_slice(&expected).unwrap(),
            )
        })
        .collect()
}

fn root(path: &Path) -> RootSpec {
    RootSpec::new("agentuse", path.to_path_buf())
}

fn config(index_dir: &Path, case: &str) -> Config {
    let project = fixtures().join(case).join("project");
    Config::new(index_dir.to_path_buf(), vec![root(&project)])
}

/// A synced index of one case.
fn index(index_dir: &Path, case: &str) -> Index {
    let config = config(index_dir, case);
    Indexer::open(&config).unwrap().sync().unwrap();
    Index::open(&config, Freshness::AsCommitted).unwrap()
}

/// A row as `agentuse sessions list --all --json` prints it.
fn as_listed(row: &SessionRow, project: &Path) -> Value {
    let mut listed = row.own.clone().unwrap_or(json!({}));
    let object = listed.as_object_mut().unwrap();
    for ours in ["trigger", "version"] {
        object.remove(ours);
    }
    let folder = row.path.parent().unwrap().strip_prefix(project).unwrap();
    object.insert("id".into(), row.id.clone().into());
    object.insert("dirPath".into(), folder.to_str().unwrap().into());
    let created = row.created.as_deref().unwrap_or("1970-01-01T00:00:00.000Z");
    object.insert("created".into(), created.into());
    listed
}

/// Every entry of a session as the expectations write it.
fn transcript(index: &Index, row: &SessionRow) -> Value {
    let all = ShowScope {
        all: true,
        ..ShowScope::default()
    };
    let shown = index.show(row, &all).unwrap();
    let entries = shown.entries.iter().map(|entry| {
        if entry.problem.is_some() {
            return json!("problem");
        }
        let of = |class: Class| -> Vec<&String> {
            let texts = entry.text.iter().filter(|(of, _)| *of == class);
            texts.flat_map(|(_, pieces)| pieces).collect()
        };
        json!([
            entry.id,
            entry.kind,
            entry.role,
            of(Class::Prose),
            of(Class::Output)
        ])
    });
    Value::Array(entries.collect())
}

#[test]
fn fixtures_are_listed_shown_and_counted_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 9);
    let mut wrong = Vec::new();
    for (case, expected) in &cases {
        let place = tempfile::tempdir().unwrap();
        let index = index(place.path(), case);
        let verified = index.verify().unwrap();
        assert_eq!(verified.differences, [], "{case}");
        let project = fixtures().join(case).join("project");
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        let mut check = |what: &str, found: &Value, wanted: &Value| {
            if found != wanted {
                wrong.push(format!("{case} {what}:\n  {found}\n  expected\n  {wanted}"));
            }
        };
        let listed: Vec<Value> = rows
            .iter()
            .filter(|row| row.listed_by_agent)
            .map(|row| as_listed(row, &project))
            .collect();
        check("list", &Value::Array(listed), &expected["list"]);
        let find = |id: &String| rows.iter().find(|row| row.id == *id).unwrap();
        for (id, wanted) in expected["transcripts"].as_object().into_iter().flatten() {
            check(id, &transcript(&index, find(id)), wanted);
        }
        for (id, wanted) in expected["sessions"].as_object().into_iter().flatten() {
            let row = serde_json::to_value(find(id)).unwrap();
            for (field, wanted) in wanted.as_object().unwrap() {
                check(&format!("{id} {field}"), &row[field], wanted);
            }
        }
        let foreign_files = index
            .sql(
                "SELECT relative, reason FROM problems WHERE what = 'file'",
                &[],
            )
            .unwrap()
            .rows;
        let foreign_files: BTreeMap<String, Value> = foreign_files
            .into_iter()
            .map(|row| (row[0].as_str().unwrap().to_owned(), row[1].clone()))
            .collect();
        let wanted = expected.get("strays").cloned().unwrap_or(json!({}));
        check("strays", &json!(foreign_files), &wanted);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A subagent's session is found from its parent's, and the other way round.
#[test]
fn subagents_and_their_parents_are_linked() {
    let place = tempfile::tempdir().unwrap();
    let index = index(place.path(), "subagents");
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    let named = |name: &str| {
        let is = |row: &&SessionRow| row.name.as_deref() == Some(name);
        rows.iter().find(is).unwrap()
    };
    let (top, mail, spell) = (named("agents/triage"), named("mail"), named("spell"));
    let path = |row: &SessionRow| row.path.to_str().unwrap().to_owned();
    let tree = |row| index.tree(row, sessionary::index::TreeFilter::All).unwrap();
    assert_eq!(tree(top).ancestors, [""; 0]);
    assert_eq!(tree(top).forks, [""; 0]);
    assert_eq!(tree(top).subagents, [path(mail)]);
    assert_eq!(tree(mail).ancestors, [""; 0]);
    assert_eq!(tree(mail).started_by, [path(top)]);
    assert_eq!(tree(spell).started_by, [path(mail), path(top)]);
    assert_eq!(tree(spell).subagents, [""; 0]);
    // Its entries are one line.
    let depths: Vec<u32> = tree(spell).entries.iter().map(|row| row.depth).collect();
    assert_eq!(depths, [0, 1]);
}

/// `list` shows a project's sessions in its root and in the working tree that holds it.
#[test]
#[cfg(unix)]
fn sessions_of_a_project_are_here() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().canonicalize().unwrap();
    let (repository, below) = (home.join("repo"), home.join("repo/sub"));
    fs::create_dir_all(repository.join(".git")).unwrap();
    fs::create_dir_all(&below).unwrap();
    std::os::unix::fs::symlink(&below, home.join("link")).unwrap();
    let folder = home.join("project/h/session/01KE6P4YM00000000000000000-a");
    fs::create_dir_all(&folder).unwrap();
    let session = json!({ "id": "a", "agent": { "id": "a" }, "time": { "created": 1 },
        "project": { "root": home.join("link"), "cwd": "/elsewhere" } });
    fs::write(folder.join("session.json"), session.to_string()).unwrap();
    let config = Config::new(home.join("index"), vec![root(&home.join("project"))]);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let here = |cwd: &Path| {
        let scope = ListScope {
            at: WhereScope::directory(cwd),
            ..ListScope::default()
        };
        index.list(&scope).unwrap().sessions.len()
    };
    let found = [&home, &repository, &below, &home.join("link")].map(|cwd| here(cwd));
    assert_eq!(found, [0, 1, 1, 1]);
}

/// Whoever has them can answer for the user: no file of the index holds them, nor what is not to be
/// indexed.
#[test]
fn secrets_are_nowhere_in_the_index() {
    let mut looked_for = 0;
    for (case, expected) in cases() {
        let Some(secrets) = expected.get("secrets") else {
            continue;
        };
        let place = tempfile::tempdir().unwrap();
        // Open while it is looked at: the write-ahead log is part of it.
        let index = index(place.path(), &case);
        let mut texts = Vec::new();
        for entry in walkdir::WalkDir::new(place.path()) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                texts.push(fs::read(entry.path()).unwrap());
            }
        }
        texts.push(
            index
                .dump_words()
                .unwrap()
                .iter()
                .fold(String::new(), |all, (_, _, _, term)| all + term + "\n")
                .into_bytes(),
        );
        assert!(texts.len() > 5);
        for secret in secrets.as_array().unwrap() {
            looked_for += 1;
            let secret = secret.as_str().unwrap();
            // As written, and as the words would have cut it.
            let mut forms = vec![secret.to_owned(), secret.to_lowercase()];
            forms.extend(
                secret
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(|word| word.len() > 8 && *word != "agentuse")
                    .map(str::to_lowercase),
            );
            for form in forms {
                let found = texts
                    .iter()
                    .any(|text| memchr::memmem::find(text, form.as_bytes()).is_some());
                assert!(!found, "{case}: {form} is in the index");
            }
            let scope = SearchScope {
                exact: true,
                every_copy: true,
                ..SearchScope::default()
            };
            let quoted = format!("\"{secret}\"");
            assert_eq!(index.search(&quoted, &scope).unwrap().total, 0, "{secret}");
        }
    }
    assert!(looked_for >= 6);
}

/// What an agent is and how its run failed is no name of the session, whether the words are indexed
/// or read from the files.
#[test]
fn an_error_of_a_run_is_no_name() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), "errors");
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.sync_catalogue(&mut |_| {}).unwrap();
    for is_indexed in [false, true] {
        if is_indexed {
            indexer.sync().unwrap();
        }
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let scope = SearchScope::default();
        let answer = index
            .search("\"took too long\" kind:session", &scope)
            .unwrap();
        assert_eq!(answer.outstanding == 0, is_indexed);
        let [session] = &answer.sessions[..] else {
            panic!("{answer:?}");
        };
        assert_eq!(session.hits[0].standing, Standing::Prose, "{is_indexed}");
    }
}

/// A document cut anywhere is still tiled, and never read as something else than damage.
#[test]
fn every_prefix_of_every_document_is_tiled() {
    let mut documents = 0;
    for entry in walkdir::WalkDir::new(fixtures()) {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() || entry.file_name() == "expected.json" {
            continue;
        }
        documents += 1;
        let bytes = fs::read(entry.path()).unwrap();
        for end in 0..=bytes.len() {
            let mut at = 0;
            for piece in split(&bytes[..end]) {
                assert_eq!(piece.range.start, at);
                at = piece.range.end;
                let record = &bytes[piece.range];
                let _ = Agentuse.facts_at(entry.path(), record);
                let _ = Agentuse.passages_at(entry.path(), record);
            }
            assert_eq!(at, end, "{}", entry.path().display());
        }
    }
    assert!(documents > 50, "{documents}");
}

/// Directories vouch for their files: only what lies in a changed one is looked at, `verify` looks
/// at everything, and so does a check from time to time.
#[test]
#[cfg(unix)]
fn a_check_looks_at_directories() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().join("project");
    let session = "d56553675460857d/session/01KE6P4YM00000000000000000-triage";
    let put = |path: &str, text: &str| {
        let to = base.join(session).join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let beside = to.with_extension("json.1.tmp");
        let part = json!({ "id": path, "type": "text", "text": text, "time": { "start": 5 } });
        fs::write(&beside, part.to_string()).unwrap();
        fs::rename(&beside, &to).unwrap();
    };
    for part in 0..5 {
        put(&format!("m/part/{part}.json"), "walrus");
        put(&format!("n/part/{part}.json"), "walrus");
    }
    fs::write(base.join(session).join("n/part/0.json.1.tmp"), "half").unwrap();
    let config = Config::new(place.path().join("index"), vec![root(&base)]);
    let settle = || std::thread::sleep(std::time::Duration::from_millis(60));
    let check = |changed: u64, word: &str, total: u64| {
        settle();
        let mut indexer = Indexer::open(&config).unwrap();
        let report = indexer.sync().unwrap();
        assert_eq!(
            (report.files_changed, report.files_unreadable),
            (changed, 0)
        );
        drop(indexer);
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let scope = SearchScope {
            exact: true,
            every_copy: true,
            ..SearchScope::default()
        };
        let answer = index.search(word, &scope).unwrap();
        let hits: usize = answer.sessions.iter().map(|group| group.hits.len()).sum();
        assert_eq!(hits as u64, total, "{word}");
        // What was changed in place is counted until somebody has read it again.
        assert_eq!(answer.total_exact, answer.complete, "{word}");
        let foreign_files = index
            .sql("SELECT count(*) FROM problems", &[])
            .unwrap()
            .rows;
        assert_eq!(foreign_files[0][0], 1, "the half-written file is told");
        (report, index)
    };
    assert_eq!(check(10, "walrus", 10).0.files_seen, 10);
    assert_eq!(check(0, "walrus", 10).0.files_seen, 10);
    // Not as agentuse writes: in place, and the directory says nothing.
    let edited = r#"{"id":"m/part/0.json","type":"text","text":"otter","time":{"start":5}}"#;
    fs::write(base.join(session).join("m/part/0.json"), edited).unwrap();
    let (_, index) = check(0, "walrus", 10 - 1);
    let verified = index.verify().unwrap();
    assert_eq!(verified.differences, []);
    let behind: Vec<_> = verified.behind.iter().map(|one| &one.source).collect();
    assert_eq!(behind, [&Some(base.join(session).join("m/part/0.json"))]);
    assert_eq!(
        verified.condemned.len(),
        1,
        "nothing tells the next look of it"
    );
    // A change in another directory does not lead there; one in the same directory does.
    put("n/part/1.json", "otter");
    check(1, "otter", 1);
    put("m/part/1.json", "otter");
    fs::remove_file(base.join(session).join("m/part/2.json")).unwrap();
    let (report, index) = check(3, "otter", 3);
    assert_eq!(report.files_seen, 9);
    assert_eq!(index.verify().unwrap().differences, []);
    // From time to time every file is looked at.
    fs::write(base.join(session).join("n/part/4.json"), edited).unwrap();
    check(0, "otter", 3);
    let catalogue = place.path().join("index/v5/catalogue.sqlite");
    rusqlite::Connection::open(catalogue)
        .unwrap()
        .execute("UPDATE _roots SET full_scan_ms = 0", [])
        .unwrap();
    let (_, index) = check(1, "otter", 4);
    assert_eq!(index.verify().unwrap().differences, []);
    // A folder that goes takes its rows along.
    fs::remove_dir_all(base.join(session).join("n")).unwrap();
    fs::write(base.join("d56553675460857d/x"), "").unwrap();
    fs::remove_dir_all(base.join(session).join("m/part")).unwrap();
    let index = {
        Indexer::open(&config).unwrap().sync().unwrap();
        Index::open(&config, Freshness::AsCommitted).unwrap()
    };
    assert_eq!(index.list(&ListScope::default()).unwrap().sessions, []);
    assert_eq!(index.verify().unwrap().differences, []);
}
