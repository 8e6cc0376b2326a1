//! Is nothing of what is excluded on the disk, whatever was there before?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sessionary::index::{ListScope, SearchScope};
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, RootSpec, Rules};

use crate::sandbox::Sandbox;

/// A session of one message in a file below the root of pi.
fn write(home: &Path, file: &str, cwd: &str, text: &str) {
    let path = home.join("pi").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let header = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{file}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\"}}"
    );
    let mut lines = vec![header];
    for at in 0..20 {
        lines.push(format!(
            "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text} {at}\"}}}}"
        ));
    }
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

fn config(home: &Path, globs: &[&str]) -> Config {
    let agentuse =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents/project");
    let roots = [("pi", home.join("pi")), ("agentuse", agentuse)]
        .map(|(name, path)| RootSpec::new(name, path));
    Config {
        rules: Rules::set(Exclude::new(globs).unwrap(), FollowLinks::WithinRoots),
        ..Config::new(home.join("index"), roots.to_vec())
    }
}

fn sync(config: &Config) {
    Indexer::open(config).unwrap().sync().unwrap();
}

/// The index of two sessions, of which one is to be excluded afterwards.
fn build_index(home: &Path) -> PathBuf {
    write(home, "--a--/open.jsonl", "/code/open", "zanzibar");
    write(home, "--a--/cwd.jsonl", "/code/hush", "quetzalcoatl");
    sync(&config(home, &[]));
    home.join("index")
}

/// In how many files of the index directory, but for the rules, the word stands, forwards or
/// backwards as a term dictionary may hold it.
pub fn files_with(index: &Path, word: &str) -> usize {
    let backwards: Vec<u8> = word.bytes().rev().collect();
    walkdir::WalkDir::new(index)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        // There the globs stand as they were given.
        .filter(|entry| entry.file_name() != "rules.json")
        .filter(|entry| {
            let bytes = fs::read(entry.path()).unwrap().to_ascii_lowercase();
            let holds = |word: &[u8]| memchr::memmem::find(&bytes, word).is_some();
            holds(word.as_bytes()) || holds(&backwards)
        })
        .count()
}

/// Every term in the dictionaries of the words, deleted or not, and the files that are of no
/// segment.
pub fn terms(index: &Path) -> (BTreeSet<String>, Vec<String>) {
    let folder = index.join("v5/words");
    let words = tantivy::Index::open_in_dir(&folder).unwrap();
    let segments = words.searchable_segments().unwrap();
    let known: Vec<String> = segments.iter().map(|s| s.id().uuid_string()).collect();
    let mut left = Vec::new();
    for file in fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_of_segment = name.split('.').next().is_some_and(|stem| stem.len() == 32);
        if is_of_segment && !known.iter().any(|id| name.starts_with(id)) {
            left.push(name);
        }
    }
    let mut terms = BTreeSet::new();
    for segment in segments {
        let reader = tantivy::SegmentReader::open(&segment).unwrap();
        for (field, entry) in words.schema().fields() {
            if !entry.is_indexed() {
                continue;
            }
            let inverted = reader.inverted_index(field).unwrap();
            let mut stream = inverted.terms().stream().unwrap();
            while stream.advance() {
                terms.insert(String::from_utf8_lossy(stream.key()).into_owned());
            }
        }
    }
    (terms, left)
}

fn count_hits(config: &Config, word: &str) -> u64 {
    let index = Index::open(config, Freshness::Check).unwrap();
    let found = index.search(word, &SearchScope::default()).unwrap();
    assert!(found.complete);
    found.total
}

fn paths(config: &Config) -> Vec<String> {
    let index = Index::open(config, Freshness::Check).unwrap();
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    let mut paths: Vec<String> = rows
        .iter()
        .map(|row| row.path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    paths.sort();
    paths
}

#[test]
fn adding_a_glob_wipes_what_it_excludes() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    write(home, "--a--/open.jsonl", "/code/open", "harmless zanzibar");
    write(
        home,
        "--a--/cwd.jsonl",
        "/code/hush/deep",
        "confidential quetzalcoatl",
    );
    write(
        home,
        "--a--/drafts/path.jsonl",
        "/code/open",
        "confidential popocatepetl",
    );
    let secrets = [
        "quetzalcoatl",
        "popocatepetl",
        "cwd.jsonl",
        "path.jsonl",
        "hush",
    ];
    let all = config(home, &[]);
    sync(&all);
    // Rows that changed leave their older selves behind in the pages.
    write(
        home,
        "--a--/cwd.jsonl",
        "/code/hush/deep",
        "confidential quetzalcoatl again",
    );
    sync(&all);
    let index = home.join("index");
    for secret in secrets.iter().chain(&["zanzibar"]) {
        assert!(
            files_with(&index, secret) > 0,
            "{secret} is not there to be wiped"
        );
    }
    let has = |word: &str| terms(&index).0.iter().any(|term| term.contains(word));
    assert!(has("quetzalcoatl") && has("popocatepetl") && has("zanzibar"));
    assert_eq!(count_hits(&all, "quetzalcoatl"), 20);

    let less = config(home, &["/code/hush", "drafts"]);
    // Any command that looks does it; the words too.
    assert_eq!(
        paths(&less),
        ["open.jsonl", "session.json", "session.json", "session.json"]
    );
    for secret in secrets {
        assert_eq!(files_with(&index, secret), 0, "{secret}");
    }
    assert_eq!(terms(&index).1, Vec::<String>::new());
    assert!(!has("quetzalcoatl") && !has("popocatepetl") && has("zanzibar"));
    assert!(files_with(&index, "zanzibar") > 0);
    assert_eq!(
        (
            count_hits(&less, "quetzalcoatl"),
            count_hits(&less, "zanzibar")
        ),
        (0, 20)
    );
    let status = Index::open(&less, Freshness::Check)
        .unwrap()
        .status()
        .unwrap();
    assert_eq!((status.roots[0].excluded, status.roots[0].files), (2, 1));
    assert!(status.roots[0].error.is_none() && status.problems == 0);

    // It grows, and stays out; what a session is not yet known for is never stored.
    write(
        home,
        "--a--/cwd.jsonl",
        "/code/hush/deep",
        "confidential quetzalcoatl and more of it",
    );
    write(
        home,
        "--b--/new.jsonl",
        "/code/hush",
        "confidential iztaccihuatl",
    );
    sync(&less);
    for secret in secrets.iter().chain(&["iztaccihuatl", "new.jsonl"]) {
        assert_eq!(files_with(&index, secret), 0, "{secret}");
    }
    let unchanged = Index::open(&less, Freshness::Check).unwrap();
    assert_eq!(unchanged.report().unwrap().files_changed, 0);
    assert_eq!(unchanged.verify().unwrap().differences, []);
    assert_eq!(unchanged.status().unwrap().roots[0].excluded, 3);
    drop(unchanged);

    // Without the globs all of it is there again.
    let back = config(home, &[]);
    assert_eq!(paths(&back).len(), 7);
    assert_eq!(count_hits(&back, "quetzalcoatl"), 20);
    sync(&back);
    let index = Index::open(&back, Freshness::AsCommitted).unwrap();
    assert_eq!(index.verify().unwrap().differences, []);
}

#[test]
fn a_session_of_many_files_goes_as_a_whole() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    fs::create_dir_all(home.join("pi")).unwrap();
    let all = config(home, &[]);
    sync(&all);
    assert_eq!(paths(&all).len(), 3);
    let none = config(home, &["/home/ada"]);
    for _ in 0..2 {
        sync(&none);
        let index = Index::open(&none, Freshness::AsCommitted).unwrap();
        assert_eq!(index.list(&ListScope::default()).unwrap().total, 0);
        assert!(index.status().unwrap().roots[1].excluded > 3);
        assert_eq!(index.verify().unwrap().differences, []);
        assert_eq!(index.dump_words().unwrap(), []);
    }
}

#[test]
fn a_working_directory_that_is_told_late_is_swept() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    write(
        home,
        "--a--/late.jsonl",
        "/code/hush",
        "confidential quetzalcoatl",
    );
    let path = home.join("pi/--a--/late.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    // The header lies beyond what a look at the beginning reads.
    let blank = " ".repeat(100 << 10);
    fs::write(&path, format!("{blank}\n{text}")).unwrap();
    let less = config(home, &["hush"]);
    for _ in 0..2 {
        sync(&less);
        assert_eq!(files_with(&home.join("index"), "quetzalcoatl"), 0);
        let index = Index::open(&less, Freshness::AsCommitted).unwrap();
        assert_eq!(index.status().unwrap().roots[0].excluded, 1);
        assert_eq!(index.verify().unwrap().differences, []);
    }
}

/// As docs/usage.md says: where a session began counts, and where Claude Code notes that it moved
/// it.
#[test]
fn a_session_that_goes_on_elsewhere_is_of_where_it_began() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("claude/-code-open");
    fs::create_dir_all(&folder).unwrap();
    let said = |id: &str, at: &str, cwd: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{at}\",\"sessionId\":\"{id}\",\"cwd\":\"{cwd}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
        )
    };
    let moved = "{\"type\":\"relocated\",\"sessionId\":\"b\",\"relocatedCwd\":\"/code/hush\"}\n";
    for (id, more) in [("a", ""), ("b", moved)] {
        let text = said(id, "e1", "/code/open") + &said(id, "e2", "/code/hush") + more;
        fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    }
    let of = |globs: &[&str]| {
        let mut config = config(place.path(), globs);
        config.roots.truncate(1);
        let root = &mut config.roots[0];
        (root.agent, root.format) = ("claude".into(), "claude".into());
        root.path = place.path().join("claude");
        sync(&config);
        paths(&config)
    };
    assert_eq!(of(&[]), ["a.jsonl", "b.jsonl"]);
    assert_eq!(of(&["/code/hush"]), ["a.jsonl"]);
}

/// The sessions of one agent, in a folder of its name.
fn config_of(home: &Path, agent: &str, globs: &[&str]) -> Config {
    let mut config = config(home, globs);
    config.roots.truncate(1);
    let root = &mut config.roots[0];
    (root.agent, root.format) = (agent.into(), agent.into());
    root.path = home.join(agent);
    config
}

/// Whether the rules were there first or the index was.
#[test]
fn a_session_that_was_moved_is_left_out_by_where_it_began_too() {
    let said = |at: u8, cwd: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{at}\",\"sessionId\":\"b\",\"cwd\":\"{cwd}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"quetzalcoatl\"}}}}\n"
        )
    };
    let moved = "{\"type\":\"relocated\",\"sessionId\":\"b\",\"relocatedCwd\":\"/code/open\"}\n";
    let claude = said(1, "/code/hush") + moved + &said(2, "/code/open");
    let event = |at: u8, kind: &str, data: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"data\":{data},\"id\":\"{at}\",\"timestamp\":\"2026-01-01T00:00:0{at}.000Z\",\"parentId\":null}}\n"
        )
    };
    let started = r#"{"sessionId":"b","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-01-01T00:00:00.000Z","context":{"cwd":"/code/hush"}}"#;
    let copilot = event(1, "session.start", started)
        + &event(
            2,
            "user.message",
            r#"{"content":"quetzalcoatl","messageId":"m"}"#,
        )
        + &event(3, "session.context_changed", r#"{"cwd":"/code/open"}"#);
    for (agent, file, text) in [
        ("claude", "-code-hush/b.jsonl", claude),
        ("copilot", "b/events.jsonl", copilot),
    ] {
        for is_indexed_before in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(agent).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
            if is_indexed_before {
                let all = config_of(place.path(), agent, &[]);
                sync(&all);
                let index = Index::open(&all, Freshness::AsCommitted).unwrap();
                let row = index
                    .list(&ListScope::default())
                    .unwrap()
                    .sessions
                    .remove(0);
                assert_eq!(row.cwd, "/code/open", "{agent}");
            }
            let less = config_of(place.path(), agent, &["/code/hush"]);
            for _ in 0..2 {
                sync(&less);
                assert_eq!(paths(&less), [""; 0], "{agent}");
                let index = place.path().join("index");
                assert_eq!(files_with(&index, "quetzalcoatl"), 0, "{agent}");
                let index = Index::open(&less, Freshness::AsCommitted).unwrap();
                assert_eq!(index.status().unwrap().roots[0].excluded, 1, "{agent}");
                assert_eq!(index.verify().unwrap().differences, []);
            }
        }
    }
}

/// What tools gave back and subagents are beside the file of their session.
#[test]
fn what_belongs_to_a_session_goes_with_its_file() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude");
    let names = [5, 6].map(|id| format!("0000000{id}-0000-4000-8000-00000000000{id}"));
    let globs = names.clone().map(|name| format!("**/{name}.jsonl"));
    let globs = [&*globs[0], &*globs[1]];
    for is_indexed_before in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("claude/-boat");
        for (case, file) in [
            ("subagent", format!("{}.jsonl", names[0])),
            ("subagent", format!("{}/subagents/agent-b1.jsonl", names[0])),
            (
                "subagent",
                format!("{}/subagents/agent-b1.meta.json", names[0]),
            ),
            ("subagent", "agent-b2.jsonl".to_owned()),
            ("spill", format!("{}.jsonl", names[1])),
            ("spill", format!("{}/tool-results/x1.txt", names[1])),
        ] {
            fs::create_dir_all(folder.join(&file).parent().unwrap()).unwrap();
            fs::copy(fixtures.join(case).join(&file), folder.join(&file)).unwrap();
        }
        let all = config_of(place.path(), "claude", &[]);
        if is_indexed_before {
            assert_eq!(paths(&all).len(), 4);
        }
        let less = config_of(place.path(), "claude", &globs);
        for _ in 0..2 {
            sync(&less);
            // Until 2025 a subagent was beside the sessions, and is one by itself.
            assert_eq!(paths(&less), ["agent-b2.jsonl"]);
            let index = Index::open(&less, Freshness::AsCommitted).unwrap();
            assert_eq!(index.status().unwrap().roots[0].excluded, 5);
            assert_eq!(index.verify().unwrap().differences, []);
            for word in ["agent-b1", "x1.txt"] {
                assert_eq!(files_with(&place.path().join("index"), word), 0, "{word}");
            }
        }
        // What comes later too.
        let later = folder.join(format!("{}/tool-results/x2.txt", names[0]));
        fs::create_dir_all(later.parent().unwrap()).unwrap();
        fs::write(&later, "quetzalcoatl").unwrap();
        assert_eq!(paths(&less), ["agent-b2.jsonl"]);
        assert_eq!(files_with(&place.path().join("index"), "quetzalcoatl"), 0);
        assert_eq!(paths(&all).len(), 4);
    }
}

/// Nor is it said with every command for good.
#[test]
fn a_root_that_is_excluded_may_be_unreadable() {
    for is_indexed_before in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let (home, root) = (place.path(), place.path().join("pi"));
        let all = config_of(home, "pi", &[]);
        if is_indexed_before {
            write(home, "--a--/one.jsonl", "/code/open", "quetzalcoatl");
            sync(&all);
            fs::rename(&root, home.join("aside")).unwrap();
        }
        // What is no folder cannot be read as one, whoever reads it.
        fs::write(&root, "").unwrap();
        let opened = Index::open(&all, Freshness::Check).unwrap();
        assert!(!opened.is_complete());
        drop(opened);
        let less = config_of(home, "pi", &["pi"]);
        sync(&less);
        for is_there in [true, false] {
            if !is_there {
                fs::remove_file(&root).unwrap();
            }
            let index = Index::open(&less, Freshness::Check).unwrap();
            assert!(index.is_complete());
            assert_eq!(index.report().unwrap().notes, Vec::<String>::new());
            let status = index.status().unwrap();
            assert_eq!((status.sessions, status.problems), (0, 0));
            assert_eq!(status.roots[0].error, None);
            let verified = index.verify().unwrap();
            assert_eq!(verified.differences, []);
            assert!(verified.unread.is_empty(), "{:?}", verified.unread);
            assert_eq!(files_with(&home.join("index"), "quetzalcoatl"), 0);
        }
        // Without the glob it is there again.
        if is_indexed_before {
            fs::rename(home.join("aside"), &root).unwrap();
            assert_eq!(paths(&all), ["one.jsonl"]);
        }
    }
}

/// Also where the index is new, and knows of nothing that is gone.
#[test]
fn what_is_archived_of_a_session_goes_with_its_file() {
    for is_new in [false, true] {
        let sandbox = Sandbox::new();
        let id = "00000006-0000-4000-8000-000000000006";
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude/spill");
        let files = [format!("{id}.jsonl"), format!("{id}/tool-results/x1.txt")].map(|file| {
            let text = fs::read_to_string(fixture.join(&file)).unwrap();
            sandbox.write(&format!(".claude/projects/-boat/{file}"), &text)
        });
        assert!(sandbox.output(&["archive", "on"]).status.success());
        assert!(sandbox.output(&["sync"]).status.success());
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        let listed = || sandbox.json(&["list", "--all", "--json"])["sessions"].take();
        assert_eq!(listed()[0]["archived"], true);
        if is_new {
            fs::remove_dir_all(sandbox.home.join(".cache")).unwrap();
        }
        let rule = format!("exclude = [\"{id}.jsonl\"]\n");
        sandbox.write(".config/sessionary/config.toml", &rule);
        assert_eq!(listed(), serde_json::json!([]), "{is_new}");
        let archive = sandbox.home.join(".local/share/sessionary/archive");
        let archive = rusqlite::Connection::open(archive.join("archive.sqlite")).unwrap();
        let kept = archive.query_row("SELECT count(*) FROM sources", [], |row| row.get(0));
        assert_eq!(kept, Ok(0), "{is_new}");
    }
}

#[test]
fn a_path_that_is_not_there_is_named_by_status() {
    let sandbox = Sandbox::new();
    let rules = "exclude = [\"~/code/infraa\", \"~/code/parser\", \"**/x\", \"private\"]\n";
    sandbox.write(".config/sessionary/config.toml", rules);
    let said = sandbox.run(&["status"]);
    let names: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("`exclude`"))
        .collect();
    assert_eq!(
        names,
        ["`exclude` names ~/code/infraa, which is not there."],
        "{said}"
    );
}

/// Of a session in several files the others go on to be it.
#[test]
fn one_of_several_files_is_left_out_alone() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/gemini/migrated/tmp");
    for is_indexed_before in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let chats = place.path().join("gemini/aviary/chats");
        fs::create_dir_all(&chats).unwrap();
        for file in fs::read_dir(fixtures.join("aviary/chats")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), chats.join(file.file_name())).unwrap();
        }
        if is_indexed_before {
            sync(&config_of(place.path(), "gemini", &[]));
        }
        let name = "session-2026-01-05T09-00-7d1c0a52";
        let less = config_of(place.path(), "gemini", &["session-*.json"]);
        assert_eq!(paths(&less), [format!("{name}.jsonl")]);
        let both = config_of(place.path(), "gemini", &["session-*-7d1c0a52.*"]);
        assert_eq!(paths(&both), [""; 0]);
    }
}

/// Its words are wiped or rebuilt, and no answer waits for it.
#[test]
fn damaged_words_do_not_keep_what_is_excluded() {
    for part in ["fast", "pos", "store"] {
        let place = tempfile::tempdir().unwrap();
        let home = place.path();
        let index = build_index(home);
        let mut damaged = BTreeSet::new();
        for file in fs::read_dir(index.join("v5/words")).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == part) {
                let mut bytes = fs::read(&path).unwrap();
                bytes[0] ^= 0x55;
                fs::write(&path, bytes).unwrap();
                damaged.insert(path);
            }
        }
        assert!(!damaged.is_empty(), "{part}");
        let less = config(home, &["/code/hush"]);
        assert_eq!(paths(&less).len(), 4, "{part}");
        assert_eq!(files_with(&index, "quetzalcoatl"), 0, "{part}");
        let counts = || {
            (
                count_hits(&less, "quetzalcoatl"),
                count_hits(&less, "zanzibar"),
            )
        };
        assert_eq!(counts(), (0, 20), "{part}");
        sync(&less);
        assert_eq!(counts(), (0, 20), "{part}");
        let made = Index::open(&less, Freshness::AsCommitted).unwrap();
        // How many segments there are depends on the threads: the wipe reads those that hold what
        // goes, and a damaged one beside them is left to `verify`.
        let left: BTreeSet<_> = made
            .verify()
            .unwrap()
            .differences
            .into_iter()
            .map(|difference| difference.what)
            .collect();
        let beside: BTreeSet<_> = damaged
            .iter()
            .filter(|path| path.exists())
            .map(|path| format!("{} is damaged", path.file_name().unwrap().display()))
            .collect();
        assert_eq!(left, beside, "{part}");
        assert!(beside.len() < damaged.len(), "{part}");
    }
}

/// What was to be wiped from the words stood in it.
#[test]
fn a_catalogue_that_is_rebuilt_leaves_no_words_of_what_is_excluded() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    let index = build_index(home);
    assert!(terms(&index).0.contains("quetzalcoatl"));
    fs::write(index.join("v5/catalogue.sqlite-damaged"), "it is damaged").unwrap();
    let less = config(home, &["/code/hush"]);
    assert_eq!(paths(&less).len(), 4);
    let words = index.join("v5/words/meta.json");
    assert!(!words.exists() || !terms(&index).0.contains("quetzalcoatl"));
    assert_eq!(files_with(&index, "quetzalcoatl"), 0);
    sync(&less);
    assert!(!terms(&index).0.contains("quetzalcoatl"));
    assert_eq!(count_hits(&less, "zanzibar"), 20);
}

#[test]
fn a_forgotten_reader_delays_the_wipe_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    let index = build_index(home);
    let database = index.join("v5/catalogue.sqlite");
    let reader = rusqlite::Connection::open(&database).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |c: &rusqlite::Connection| {
        c.query_row("SELECT count(*) FROM sessions", [], |r| r.get::<_, i64>(0))
    };
    assert_eq!(count(&reader), Ok(5));

    let less = config(home, &["/code/hush"]);
    let wal = index.join("v5/catalogue.sqlite-wal");
    let lengths: Vec<u64> = (0..3)
        .map(|_| {
            let index = Index::open(&less, Freshness::Check).unwrap();
            assert_eq!(index.list(&ListScope::default()).unwrap().total, 4);
            let notes = index.report().unwrap().notes.join("\n");
            assert!(notes.contains("until a later sync wipes it"), "{notes}");
            fs::metadata(&wal).unwrap().len()
        })
        .collect();
    assert!(
        lengths[2] == lengths[1],
        "the WAL grows with every command: {lengths:?}"
    );
    assert!(files_with(&index, "cwd.jsonl") > 0);

    reader.execute_batch("COMMIT").unwrap();
    let wiped = Index::open(&less, Freshness::Check).unwrap();
    assert_eq!(wiped.report().unwrap().notes, Vec::<String>::new());
    assert_eq!(files_with(&index, "cwd.jsonl"), 0);
}

#[test]
fn a_rebuild_under_new_globs_wipes() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path();
    write(home, "--a--/open.jsonl", "/code/open", "zanzibar");
    let secrets: Vec<String> = (0..20).map(|n| format!("secret-{n}.jsonl")).collect();
    for secret in &secrets {
        write(home, &format!("--a--/{secret}"), "/code/hush", "quetzal");
    }
    sync(&config(home, &[]));
    let index = home.join("index");
    assert!(secrets.iter().all(|secret| files_with(&index, secret) > 0));
    let less = config(home, &["/code/hush"]);
    let mut indexer = Indexer::open(&less).unwrap();
    indexer.rebuild().unwrap();
    for secret in &secrets {
        assert_eq!(files_with(&index, secret), 0, "{secret}");
    }
}

/// Excluded is excluded, by whatever name a file is found.
#[cfg(unix)]
/// A program that goes on, as `mcp` and `serve` do, opens the index again and again.
#[test]
fn rules_are_set_once_and_then_those_of_others_hold() {
    for (own, of_another) in [(&[][..], &["hush"][..]), (&["hush"], &[])] {
        let home = tempfile::tempdir().unwrap();
        build_index(home.path());
        let is_out = |config: &Config| !paths(config).contains(&"cwd.jsonl".to_owned());
        let mut goes_on = config(home.path(), own);
        let index = Index::open(&goes_on, Freshness::Check).unwrap();
        assert!(!index.config().rules.are_set());
        goes_on.rules = goes_on.rules.as_stored();
        assert_eq!(is_out(&goes_on), !own.is_empty());
        sync(&config(home.path(), of_another));
        assert_eq!(is_out(&goes_on), own.is_empty());
        // Made anew it is by what the program began with.
        fs::remove_dir_all(home.path().join("index")).unwrap();
        assert_eq!(is_out(&goes_on), !own.is_empty());
        sync(&config(home.path(), of_another));
        // One that has just begun sets its own.
        assert_eq!(is_out(&config(home.path(), own)), !own.is_empty());
    }
}

#[test]
fn what_a_link_leads_to_is_excluded_by_its_own_path() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let home = &place.path().canonicalize().unwrap();
    write(home, "--a--/open.jsonl", "/code", "harmless zanzibar");
    write(home, "--b--/deep.jsonl", "/code", "hush popocatepetl");
    write(home, "../secret/hidden.jsonl", "/code", "hush quetzalcoatl");
    write(home, "../secret/no-session.txt", "/code", "nothing");
    symlink("../secret", home.join("pi/--link--")).unwrap();
    symlink(
        "../../secret/hidden.jsonl",
        home.join("pi/--a--/alias.jsonl"),
    )
    .unwrap();
    symlink("pi", home.join("root")).unwrap();
    let config = |name: &str, globs: &[&str]| {
        let mut config = config(home, globs);
        config.index_dir = home.join(name);
        // The folder of sessions is a link itself.
        config.roots[0].path = home.join("root");
        config.rules = Rules::set(config.rules.exclude().clone(), FollowLinks::Everywhere);
        config
    };
    let globs = ["secret", "pi/--b--"].map(|path| home.join(path).display().to_string());
    let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
    let all = [
        "alias.jsonl",
        "deep.jsonl",
        "hidden.jsonl",
        "open.jsonl",
        "session.json",
        "session.json",
        "session.json",
    ];
    let left = ["open.jsonl", "session.json", "session.json", "session.json"];
    let secrets = [
        "quetzalcoatl",
        "popocatepetl",
        "hush",
        "alias",
        "no-session",
    ];
    // Of one index it was there before, of the other it never was.
    sync(&config("old", &[]));
    assert_eq!(paths(&config("old", &[])), all);
    for secret in secrets {
        assert!(files_with(&home.join("old"), secret) > 0, "{secret}");
    }
    for name in ["old", "new"] {
        let less = config(name, &globs);
        sync(&less);
        assert_eq!(paths(&less), left, "{name}");
        // What grows stays out, be it looked for or told of.
        write(
            home,
            "../secret/hidden.jsonl",
            "/code",
            "hush quetzalcoatl more",
        );
        let told = ["root/--link--/hidden.jsonl", "root/--a--/alias.jsonl"];
        let told = told.map(|path| home.join(path));
        let mut indexer = Indexer::open(&less).unwrap();
        indexer.sync_files(&told).unwrap();
        drop(indexer);
        sync(&less);
        for secret in secrets {
            assert_eq!(files_with(&home.join(name), secret), 0, "{name}: {secret}");
        }
        assert!(files_with(&home.join(name), "zanzibar") > 0, "{name}");
        let index = Index::open(&less, Freshness::Check).unwrap();
        assert_eq!(index.verify().unwrap().differences, []);
        assert_eq!(index.status().unwrap().roots[0].excluded, 4, "{name}");
    }
}

/// People name a folder by the link they come by, agents note where that leads; or the other way
/// round.
#[cfg(unix)]
#[test]
fn a_working_directory_is_excluded_by_any_of_its_names() {
    let place = tempfile::tempdir().unwrap();
    let home = &place.path().canonicalize().unwrap();
    let at = |path: &str| home.join(path).display().to_string();
    fs::create_dir_all(home.join("disk/code/hush")).unwrap();
    std::os::unix::fs::symlink("disk/code", home.join("code")).unwrap();
    write(home, "--a--/open.jsonl", &at("disk/code/open"), "zanzibar");
    write(
        home,
        "--a--/real.jsonl",
        &at("disk/code/hush"),
        "quetzalcoatl",
    );
    write(
        home,
        "--a--/link.jsonl",
        &at("code/hush/deep"),
        "popocatepetl",
    );
    sync(&config(home, &[]));
    assert_eq!(count_hits(&config(home, &[]), "quetzalcoatl"), 20);
    for name in ["code/hush", "disk/code/hush", "code/h*"] {
        let glob = at(name);
        let less = config(home, &[&glob]);
        sync(&less);
        for secret in ["quetzalcoatl", "popocatepetl", "real.jsonl", "link.jsonl"] {
            assert_eq!(
                files_with(&home.join("index"), secret),
                0,
                "{name}: {secret}"
            );
        }
        assert_eq!(count_hits(&less, "zanzibar"), 20, "{name}");
        // And is back where nothing is excluded.
        sync(&config(home, &[]));
        assert_eq!(count_hits(&config(home, &[]), "popocatepetl"), 20, "{name}");
    }
}

/// Of agents that put nothing into a folder that is called like a session's file.
#[test]
fn a_session_in_a_folder_that_is_called_like_another_one_stays() {
    let place = tempfile::tempdir().unwrap();
    let home = &place.path().canonicalize().unwrap();
    let cwd = home.join("code").display().to_string();
    write(home, "--x--/boat.jsonl", &cwd, "quetzalcoatl");
    write(home, "--x--/boat/other.jsonl", &cwd, "zanzibar");
    sync(&config(home, &[]));
    for _ in 0..2 {
        let less = config(home, &["boat.jsonl"]);
        sync(&less);
        assert_eq!(count_hits(&less, "quetzalcoatl"), 0);
        assert_eq!(count_hits(&less, "zanzibar"), 20);
        // A new index has not seen it before.
        fs::remove_dir_all(home.join("index")).unwrap();
    }
}
