//! What leaves a machine: are a repository's sessions whole on another one, and is no secret in
//! them?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::{SharedFile, SharedFiles};
use sessionary::locations::foreign_roots;
use sessionary::model::Mask;
use sessionary::share::SharedBytes;
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules, redact};

use crate::databases::{Store, hits};
use crate::histories::dump::root;
use crate::redaction::{NAMED_BESIDE, SECRETS_BESIDE};

const REMOTE: &str = "github.com/ada/boat";

/// Folders of fixtures, and the agents whose roots they are. What copilot recorded is of another
/// repository.
const ROOTS: [(&str, &str); 9] = [
    ("pi", "pi"),
    ("clido", "clido"),
    ("claude", "claude"),
    ("codex", "codex"),
    ("agentuse", "agentuse/subagents/project"),
    ("gemini", "gemini/subagent/tmp"),
    ("qwen", "qwen/fork/projects"),
    ("copilot", "copilot/named"),
    ("pindusagi", "pindusagi"),
];

fn copy(from: &Path, to: &Path, home: &str) {
    for file in walkdir::WalkDir::new(from).into_iter().flatten() {
        let below = file.path().strip_prefix(from).unwrap();
        if !file.file_type().is_file() || below.ends_with("expected.json") {
            continue;
        }
        let target = to.join(below);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let bytes = fs::read(file.path()).unwrap();
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => text.replace("/home/ada", home).into_bytes(),
            Err(other) => other.into_bytes(),
        };
        fs::write(target, bytes).unwrap();
    }
}

/// A machine on which all that ada did was in one repository.
struct Machine {
    place: tempfile::TempDir,
    store: Store,
}

impl Machine {
    fn new() -> Machine {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap().join("ada");
        let git = home.join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let url = format!("[remote \"origin\"]\n\turl = https://{REMOTE}.git\n");
        fs::write(git.join("config"), url).unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for (agent, folder) in ROOTS {
            let to = place.path().join("roots").join(agent);
            copy(&fixtures.join(folder), &to, home.to_str().unwrap());
        }
        let mut store = Store::new(true, "delete");
        store.talk("ses_1", "the quartz keel", "painted");
        store.talk("ses_2", "the mast", "varnished");
        let folder = home.join("parser");
        store.run(&format!(
            "UPDATE session SET directory = '{}'",
            folder.display()
        ));
        Machine { place, store }
    }

    fn folder(&self, agent: &str) -> PathBuf {
        self.place.path().join("roots").join(agent)
    }

    fn config(&self) -> Config {
        let mut roots: Vec<_> = ROOTS
            .iter()
            .map(|(agent, _)| {
                let of = if *agent == "pindusagi" {
                    "indusagi"
                } else {
                    agent
                };
                root(of, agent, &self.folder(agent))
            })
            .collect();
        roots.push(root("opencode", "opencode", &self.store.folder()));
        Config::new(self.place.path().join("index"), roots)
    }
}

fn synced(config: &Config) -> Index {
    Indexer::open(config).unwrap().sync().unwrap();
    Index::open(config, Freshness::Check).unwrap()
}

/// The same where the directories are still there in which the sessions ran.
fn synced_in_place(config: &Config) -> Index {
    let index = synced(config);
    let ran = index
        .sql("SELECT DISTINCT cwd FROM sessions", &[])
        .unwrap()
        .rows;
    for cwd in ran.iter().filter_map(|row| row[0].as_str()) {
        // Only those of this test.
        if Path::new(cwd).starts_with(std::env::temp_dir()) {
            fs::create_dir_all(cwd).unwrap();
        }
    }
    index
}

fn files_of(index: &Index, repositories: &[String]) -> SharedFiles {
    let files = index.ask(|snapshot| snapshot.shared_files(repositories));
    files.unwrap()
}

/// What of a file may leave the machine; `None`: it is gone.
fn read(index: &Index, file: &SharedFile, mask: Option<Mask>) -> Option<SharedBytes> {
    let bytes = index.ask(|snapshot| snapshot.shared_bytes(file, mask.as_ref()));
    bytes.unwrap()
}

fn shared(index: &Index) -> SharedFiles {
    files_of(index, &[format!("https://{REMOTE}")])
}

/// Writes what is shared as another machine has it.
fn pulled(index: &Index, mask: bool, place: &Path) -> Config {
    let host = place.join("team/laptop");
    let mut repositories = serde_json::Map::new();
    for file in shared(index).files {
        let mask = mask.then(|| Mask::new(redact::redacted));
        let bytes = read(index, &file, mask).unwrap();
        let path = host.join(&file.agent).join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(!path.exists(), "{file:?}");
        fs::write(&path, &bytes.bytes).unwrap();
        let modified = Duration::from_millis(u64::try_from(file.modified_ms).unwrap());
        let open = fs::File::options().write(true).open(&path).unwrap();
        open.set_modified(SystemTime::UNIX_EPOCH + modified)
            .unwrap();
        if let Some(cwd) = file.cwd {
            repositories.insert(cwd, file.repository.into());
        }
    }
    let repositories = Value::Object(repositories).to_string();
    fs::write(host.join("repositories.json"), repositories).unwrap();
    Config::new(place.join("index"), foreign_roots(&place.join("team")))
}

/// What is asked for, sorted: sessions of one id have no order.
fn rows(index: &Index, sql: &str) -> Vec<String> {
    let rows = index.sql(sql, &[]).unwrap().rows;
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

const SESSIONS: &str = "SELECT agent, id, cwd, name, title, parent_session, created_ms, messages, first_message,
    entries, errors, version, leaf, provider, model, tokens, cost, is_subagent, subagents, git_branch,
    thinking_level, listed_by_agent, own, repository
    FROM sessions WHERE repository = 'github.com/ada/boat'";

const ENTRIES: &str =
    "SELECT s.agent, s.id, e.kind, e.role, e.id, e.parent, CASE WHEN s.agent <> 'opencode' THEN e.time_ms END, e.is_error, e.stop_reason,
    CASE WHEN s.agent <> 'opencode' THEN e.hash END
    FROM entries e JOIN sessions s USING (session) WHERE s.repository = 'github.com/ada/boat'";

/// Of OpenCode a document takes the place of the rows, and says no less but the times of parts.
#[test]
fn a_repositorys_sessions_are_the_same_on_another_machine() {
    let machine = Machine::new();
    let here = synced_in_place(&machine.config());
    let found = shared(&here);
    let agents: BTreeSet<&str> = found.files.iter().map(|file| file.agent.as_str()).collect();
    assert_eq!(agents.len(), ROOTS.len(), "{agents:?}");
    assert!(agents.contains("opencode") && !agents.contains("copilot"));
    let mut unshared: Vec<&str> = found.unshared.iter().map(|one| one.why.as_str()).collect();
    unshared.dedup();
    let alone = "another session in it is of a repository that is not shared";
    assert!(
        unshared.iter().all(|why| *why == alone),
        "{:?}",
        found.unshared
    );
    // Each is what it was.
    for file in &found.files {
        let bytes = read(&here, file, None).unwrap();
        if file.agent != "opencode" {
            let own = fs::read(machine.folder(&file.agent).join(&file.path)).unwrap();
            assert_eq!(bytes.bytes, own, "{}", file.path);
        }
        assert_eq!((bytes.redactions, bytes.unfinished), (0, 0));
    }
    let place = tempfile::tempdir().unwrap();
    let there = synced(&pulled(&here, false, place.path()));
    let (mine, theirs) = (rows(&here, SESSIONS), rows(&there, SESSIONS));
    assert!(mine.len() > 60, "{}", mine.len());
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert_eq!(mine, theirs);
    }
    assert_eq!(mine.len(), theirs.len());
    let (mine, theirs) = (rows(&here, ENTRIES), rows(&there, ENTRIES));
    assert!(mine.len() > 400, "{}", mine.len());
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert_eq!(mine, theirs);
    }
    assert_eq!(mine.len(), theirs.len());
    for query in ["quartz", "keel", "varnished"] {
        assert_eq!(hits(&here, query), hits(&there, query), "{query}");
    }
    let hosts = there
        .sql("SELECT DISTINCT host FROM sessions", &[])
        .unwrap()
        .rows;
    assert_eq!(hosts, [[json!("laptop")]]);
    // What came from elsewhere goes nowhere.
    assert_eq!(shared(&there), SharedFiles::default());
    // Nor does what is of no repository that was named.
    for other in [
        &[][..],
        &["github.com/ada".to_owned()],
        &["github.com/ada/boats".to_owned()],
    ] {
        assert_eq!(files_of(&here, other), SharedFiles::default());
    }
}

/// Ids, parents, times, usage and keys are the same.
#[test]
fn what_is_redacted_has_the_same_entries() {
    let machine = Machine::new();
    let here = synced_in_place(&machine.config());
    let place = tempfile::tempdir().unwrap();
    let there = synced(&pulled(&here, true, place.path()));
    let entries = "SELECT s.agent, s.id, e.kind, e.role, e.id, e.parent, CASE WHEN s.agent <> 'opencode' THEN e.time_ms END
        FROM entries e JOIN sessions s USING (session) WHERE s.repository = 'github.com/ada/boat' AND e.provisional = 0";
    let (mine, theirs) = (rows(&here, entries), rows(&there, entries));
    let lost: Vec<_> = mine.iter().filter(|one| !theirs.contains(one)).collect();
    let new: Vec<_> = theirs.iter().filter(|one| !mine.contains(one)).collect();
    assert!(lost.is_empty(), "{lost:#?}\n{new:#?}");
    assert_eq!(mine.len(), theirs.len(), "{lost:#?}");
    assert_eq!(mine, theirs);
    let used = "SELECT s.agent, s.id, u.input, u.output, u.cost_total
        FROM usage u JOIN sessions s USING (session) WHERE s.repository = 'github.com/ada/boat'";
    assert_eq!(rows(&here, used), rows(&there, used));
}

/// A session of pi whose lines are these.
fn pi(place: &Path, lines: &str) -> (Index, PathBuf) {
    let git = place.join("boat/.git");
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let url = format!("[remote \"origin\"]\n\turl = https://{REMOTE}\n");
    fs::write(git.join("config"), url).unwrap();
    let path = place.join("pi/--x--/one.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let header = json!({"type": "session", "version": 3, "id": "one", "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": place.join("boat")});
    fs::write(&path, format!("{header}\n{lines}")).unwrap();
    let config = Config::new(
        place.join("index"),
        vec![root("pi", "pi", &place.join("pi"))],
    );
    (synced(&config), path)
}

fn bytes_of(index: &Index, at: usize) -> SharedBytes {
    let files = shared(index).files;
    read(index, &files[at], Some(Mask::new(redact::redacted))).unwrap()
}

/// Put together here, so that nobody takes this file for one with secrets in it.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4".repeat(5))
}

#[test]
fn nothing_is_given_of_a_line_that_is_not_whole() {
    let place = tempfile::tempdir().unwrap();
    let line = |text: &str| {
        let message = json!({"role": "user", "content": text});
        json!({"type": "message", "id": "m1", "parentId": null, "timestamp": "2026-01-01T00:00:01.000Z", "message": message})
            .to_string()
    };
    let whole = line(&format!("use {}", token()));
    let (index, path) = pi(place.path(), "");
    let header = fs::read_to_string(&path).unwrap();
    for end in 0..=whole.len() {
        fs::write(&path, format!("{header}{}", &whole[..end])).unwrap();
        let given = bytes_of(&index, 0);
        let text = String::from_utf8(given.bytes).unwrap();
        assert!(!text.contains("a1B2"), "{text}");
        let is_whole = end == whole.len();
        assert_eq!(text != header, is_whole, "{end}");
        assert_eq!(given.unfinished == 0, is_whole || end == 0, "{end}");
        assert_eq!(given.redactions, usize::from(is_whole));
    }
    // What no agent will read as a line is no JSON, and no secret is in it either.
    for damage in [
        format!("{whole}{whole}\n"),
        format!("{}{whole}\n", &whole[..whole.len() / 2]),
        format!("\0\0\0{whole}\n"),
        format!("TOKEN={}\n", token()),
        format!("{}\n", &whole[..whole.len() - 4]),
    ] {
        fs::write(&path, format!("{header}{damage}")).unwrap();
        let given = bytes_of(&index, 0);
        let text = String::from_utf8(given.bytes).unwrap();
        assert!(!text.contains("a1B2"), "{text}");
        assert!(given.redactions > 0 && given.unfinished == 0, "{damage}");
        assert_eq!(text.lines().count(), 2);
    }
}

/// A JSON value of any shape, with secrets in some of its strings.
fn value(random: &mut ChaCha8Rng, depth: u32, planted: &mut Vec<String>) -> Value {
    let words = [
        "the keel",
        "日本語",
        "a\nb",
        "\u{1b}[1m",
        "\"q\"",
        "\\",
        "",
        "é",
        "C:\\x",
        "sk-learn",
    ];
    match random.random_range(0..if depth == 0 { 4 } else { 7 }) {
        0 => Value::from(random.random_range(-5..1_000_000_000_i64)),
        1 => [json!(true), json!(null), json!(0.1), json!(1e300)]
            .choose(random)
            .unwrap()
            .clone(),
        2 => Value::from(*words.choose(random).unwrap()),
        3 => secret(random, planted),
        4 => (0..random.random_range(0..4))
            .map(|_| value(random, depth - 1, planted))
            .collect(),
        _ => {
            let names = [
                "id", "text", "command", "content", "usage", "n\"ame", "input", "日", "output",
            ];
            let member = |random: &mut ChaCha8Rng, planted: &mut Vec<String>| {
                let name = names.choose(random).unwrap().to_string();
                (name, value(random, depth - 1, planted))
            };
            let members = random.random_range(0..5);
            (0..members).map(|_| member(random, planted)).collect()
        }
    }
}

/// A string with a secret in it, or one behind the name of one.
fn secret(random: &mut ChaCha8Rng, planted: &mut Vec<String>) -> Value {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    let mut key = |length: usize| -> String {
        let key: String = (0..length - 4)
            .map(|_| *letters.choose(random).unwrap())
            .collect();
        // Whatever chance gives it has digits and letters of both kinds.
        let key = format!("x7Qz{key}");
        planted.push(key.clone());
        key
    };
    let (token, other, name) = (key(36), key(40), key(20));
    match random.random_range(0..6) {
        0 => Value::from(format!("use ghp_{token} now")),
        1 => Value::from(format!("OPENAI_API_KEY=sk-proj-{other}\nnpm test")),
        2 => json!({"password": name, "user": "ada"}),
        3 => Value::from(format!("{{\"api_key\": \"{other}\"}}")),
        4 => json!([{"Authorization": format!("Bearer {other}")}, {"secret": token}]),
        _ => Value::from(format!("\u{1b}[32mghp_{token}\u{1b}[0m")),
    }
}

/// Whether two values are the same but for what their strings say.
fn same_shape(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((a, x), (b, y))| a == b && same_shape(x, y))
        }
        _ => before == after,
    }
}

#[test]
fn lines_keep_their_shape_and_no_secret() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let (mut lines, mut before, mut planted) = (String::new(), Vec::new(), Vec::new());
    for at in 0..1500 {
        let message = value(&mut random, 4, &mut planted);
        let line = json!({"type": "message", "id": format!("e{at:07}"), "parentId": null,
            "timestamp": "2026-01-01T00:00:01.000Z", "message": message});
        lines.push_str(&format!("{line}\n"));
        before.push(line);
    }
    let place = tempfile::tempdir().unwrap();
    let (index, path) = pi(place.path(), &lines);
    let given = bytes_of(&index, 0);
    assert_eq!(given.unfinished, 0);
    let text = String::from_utf8(given.bytes).unwrap();
    // No secret was in any place but one, and each of them is gone.
    let whole = fs::read_to_string(path).unwrap();
    let planted: Vec<&String> = planted
        .iter()
        .filter(|key| whole.contains(key.as_str()))
        .collect();
    assert!(planted.len() > 300, "{}", planted.len());
    for key in &planted {
        assert!(!text.contains(key.as_str()), "{key}");
    }
    assert!(given.redactions >= planted.len(), "{}", given.redactions);
    let after: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(before.len(), after.len());
    let mut changed = 0;
    for (before, after) in before.iter().zip(&after) {
        assert!(same_shape(before, after), "{before}\n{after}");
        for name in ["type", "id", "parentId", "timestamp"] {
            assert_eq!(before[name], after[name]);
        }
        changed += u32::from(before != after);
    }
    assert!((100..1400).contains(&changed), "{changed}");
    // What was redacted stays as it is.
    fs::write(place.path().join("pi/--x--/one.jsonl"), &text).unwrap();
    let again = bytes_of(&index, 0);
    assert_eq!((again.redactions, again.bytes), (0, text.into_bytes()));
}

/// Forms and manifests have the name beside the value, and some agents write down as a string what
/// a tool was given.
#[test]
fn what_a_name_beside_a_value_tells_is_not_shared() {
    let given: Value = serde_json::from_str(NAMED_BESIDE).unwrap();
    for arguments in [given.clone(), Value::from(given.to_string())] {
        let line = json!({"type": "message", "id": "e1", "parentId": null, "message": {
            "role": "assistant", "content": [{"type": "toolCall", "arguments": arguments}]}});
        let place = tempfile::tempdir().unwrap();
        let (index, _) = pi(place.path(), &format!("{line}\n"));
        let shared = bytes_of(&index, 0);
        let text = String::from_utf8(shared.bytes).unwrap();
        assert!(
            !text.contains("Q1w2") && !text.contains("51234567"),
            "{text}"
        );
        assert_eq!(shared.redactions, SECRETS_BESIDE, "{text}");
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let after = &last["message"]["content"][0]["arguments"];
        let after = after
            .as_str()
            .map_or(after.clone(), |json| serde_json::from_str(json).unwrap());
        assert_eq!(after["said"], given["said"]);
        assert_eq!(after["count"], given["count"]);
        assert_eq!(after["password"], redact::MARK);
    }
}

/// What Codex calls its sessions stands in one file of all of them, beside its root: that is not
/// sent, nor named at each push as something that was left out.
#[test]
fn a_name_beside_the_root_is_neither_shared_nor_missed() {
    let machine = Machine::new();
    let sessions = machine.folder("home/sessions");
    fs::create_dir_all(sessions.join("2026/01")).unwrap();
    let talk = machine.folder("codex/the-same-talk");
    fs::rename(talk, sessions.join("2026/01/05")).unwrap();
    let roots = vec![root("codex", "codex", &sessions)];
    let config = Config::new(machine.place.path().join("index"), roots);
    let before = shared(&synced_in_place(&config));
    let names = before.files.iter().map(|file| {
        let line = json!({"id": file.session, "thread_name": "The cormorant"});
        format!("{line}\n")
    });
    let beside = sessions.with_file_name("session_index.jsonl");
    fs::write(beside, names.collect::<String>()).unwrap();
    let index = synced(&config);
    let named = "SELECT id FROM sessions WHERE name = 'The cormorant'";
    assert!(!rows(&index, named).is_empty());
    let after = shared(&index);
    assert_eq!(after.unshared, before.unshared);
    assert_eq!(after.files, before.files);
}

/// A file that names a working directory holds a path: one that is longer is something else.
#[test]
fn a_file_beside_a_session_that_is_too_long_is_not_shared() {
    let machine = Machine::new();
    let index = synced_in_place(&machine.config());
    let beside = || {
        let files = shared(&index).files;
        let paths = files.into_iter().map(|file| file.path);
        paths
            .filter(|path| path.ends_with(".project_root"))
            .collect::<Vec<_>>()
    };
    let [named] = &beside()[..] else {
        panic!("{:?}", beside());
    };
    fs::write(machine.folder("gemini").join(named), "/x".repeat(20_000)).unwrap();
    assert_eq!(beside(), [""; 0]);
}

#[test]
fn what_is_excluded_is_not_shared() {
    let machine = Machine::new();
    let all = shared(&synced_in_place(&machine.config())).files;
    let is_out = |path: &str| path.contains("harbour") || path.starts_with("spill/");
    assert!(all.iter().filter(|file| is_out(&file.path)).count() > 2);
    let mut config = machine.config();
    let globs = ["**/*harbour*", "**/claude/spill/**"];
    config.rules = Rules::set(Exclude::new(&globs).unwrap(), FollowLinks::WithinRoots);
    let left = shared(&synced_in_place(&config)).files;
    let expected: Vec<_> = all.iter().filter(|file| !is_out(&file.path)).collect();
    assert_eq!(
        left.iter().map(|file| &file.path).collect::<Vec<_>>(),
        expected.iter().map(|file| &file.path).collect::<Vec<_>>()
    );
}

#[test]
fn only_repositories_that_are_named_are_shared_and_no_path_twice() {
    let place = tempfile::tempdir().unwrap();
    let (_, path) = pi(place.path(), "");
    let header = fs::read_to_string(&path).unwrap();
    let session = |root: &str, id: &str, cwd: &str| {
        let text = header
            .replace("\"one\"", &format!("\"{id}\""))
            .replace("/boat\"", &format!("/{cwd}\""));
        let path = place.path().join(root).join(format!("--x--/{id}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    fs::create_dir(place.path().join("boat/src")).unwrap();
    session("pi", "below", "boat/src");
    session("pi", "other", "ship");
    session("pi", "none", "nowhere");
    session("flat", "below", "boat");
    session("copy", "below", "boat");
    let git = place.path().join("ship/.git");
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("HEAD"), "").unwrap();
    fs::write(
        git.join("config"),
        "[remote \"origin\"]\n\turl = github.com:ada/ship\n",
    )
    .unwrap();
    let flat = sessionary::RootSpec {
        flat: true,
        ..root("pi", "pi", &place.path().join("flat/--x--"))
    };
    let roots = ["pi", "copy"].map(|folder| root("pi", "pi", &place.path().join(folder)));
    let roots = roots.into_iter().chain([flat]).collect();
    let index = synced(&Config::new(place.path().join("index2"), roots));
    let found = shared(&index);
    let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        ["--x--/below.jsonl", "--x--/one.jsonl", "flat/below.jsonl"]
    );
    let [twice] = &found.unshared[..] else {
        panic!("{:?}", found.unshared);
    };
    assert_eq!(
        twice.why,
        "another folder of its agent has a file of that name"
    );
    let both = [REMOTE.to_owned(), "git@github.com:ada/ship.git".to_owned()];
    let both = files_of(&index, &both).files;
    assert!(both.iter().any(|file| file.session == "other") && both.len() == 4);
    // One that is gone meanwhile is told to be so.
    fs::remove_file(&path).unwrap();
    assert_eq!(read(&index, &found.files[1], None), None);
}

#[test]
fn where_a_directory_is_gone_its_repository_is_a_guess() {
    let place = tempfile::tempdir().unwrap();
    let secret = place.path().join("boat/secret");
    fs::create_dir_all(secret.join(".git")).unwrap();
    fs::write(secret.join(".git/HEAD"), "").unwrap();
    let other = "[remote \"origin\"]\n\turl = https://github.com/ada/secret\n";
    fs::write(secret.join(".git/config"), other).unwrap();
    let (_, path) = pi(place.path(), "");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("/boat\"", "/boat/secret\"")).unwrap();
    let roots = vec![root("pi", "pi", &place.path().join("pi"))];
    let config = |index: &str| Config::new(place.path().join(index), roots.clone());
    assert_eq!(shared(&synced(&config("before"))).files, []);
    // The next index finds the repository above it.
    fs::remove_dir_all(&secret).unwrap();
    let found = shared(&synced(&config("after")));
    assert_eq!(found.files, []);
    assert!(found.unshared[0].why.contains("guess"), "{found:?}");
}

/// What ran where another repository was before, or none: git's log says when it was cloned to its
/// directory, as far as it goes back; what is written with a repository says so where it does not.
#[test]
fn of_what_ran_before_a_clone_its_repository_is_a_guess() {
    let place = tempfile::tempdir().unwrap();
    let (_, path) = pi(place.path(), "");
    let began = fs::read_to_string(&path).unwrap();
    assert!(began.contains("2026-01-01T00:00:00.000Z"), "{began}");
    let log = place.path().join("boat/.git/logs/HEAD");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let (none, one) = ("0".repeat(40), "1".repeat(40));
    let roots = vec![root("pi", "pi", &place.path().join("pi"))];
    let config = Config::new(place.path().join("clones"), roots);
    for (seconds, what, is_shared) in [
        (
            1_767_225_601,
            "clone: from https://github.com/ada/boat",
            false,
        ),
        (
            1_767_225_600,
            "clone: from https://github.com/ada/boat",
            true,
        ),
        (1_767_225_601, "commit (initial): What was there", true),
        (1_767_225_601, "pull origin main: initial pull", false),
    ] {
        let line = format!("{none} {one} Ada <ada@b.c> {seconds} +0100\t{what}\n");
        fs::write(&log, line).unwrap();
        is(&config, is_shared);
    }
    // Older lines of the log were cleaned up.
    fs::write(
        &log,
        format!("{one} {one} Ada <ada@b.c> 1767225601 +0100\tcommit: On\n"),
    )
    .unwrap();
    is(&config, true);
    let description = place.path().join("boat/.git/description");
    for (seconds, is_shared) in [(1_767_225_601, false), (1_767_225_600, true)] {
        written(&description, seconds);
        is(&config, is_shared);
    }
    // It is a working tree of a repository that is older.
    let tree = place.path().join("boat");
    fs::rename(tree.join(".git"), place.path().join("common")).unwrap();
    let private = place.path().join("common/worktrees/boat");
    fs::create_dir_all(&private).unwrap();
    fs::write(private.join("commondir"), "../..\n").unwrap();
    fs::write(private.join("HEAD"), "").unwrap();
    fs::write(
        tree.join(".git"),
        format!("gitdir: {}\n", private.display()),
    )
    .unwrap();
    for (seconds, is_shared) in [(1_767_225_601, false), (1_767_225_600, true)] {
        written(&tree.join(".git"), seconds);
        is(&config, is_shared);
    }
}

/// Writes a file, or goes on with it, and sets when that was.
fn written(path: &Path, seconds: u64) {
    let file = fs::File::options()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        .unwrap();
}

fn is(config: &Config, is_shared: bool) {
    let found = shared(&synced(config));
    assert_eq!(found.files.len() == 1, is_shared, "{found:?}");
    assert!(found.unshared.iter().all(|one| one.is_a_guess), "{found:?}");
    assert_eq!(found.unshared.is_empty(), is_shared, "{found:?}");
}

/// A folder that was looked at once, as another machine's or a backup, is none of this machine's
/// sessions. Of two that are named the file counts which was written last.
#[test]
fn what_is_in_folders_that_are_named_no_longer_is_not_shared() {
    let place = tempfile::tempdir().unwrap();
    let (_, path) = pi(place.path(), "");
    let text = fs::read_to_string(&path).unwrap();
    let in_copy = |name: &str, text: &str| {
        let path = place.path().join("a-copy/--x--").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    in_copy("one.jsonl", text.lines().next().unwrap());
    in_copy("two.jsonl", &text.replace("\"one\"", "\"two\""));
    let config = |folders: &[&str]| {
        let roots = folders
            .iter()
            .map(|folder| root("pi", "pi", &place.path().join(folder)));
        Config::new(place.path().join("folders"), roots.collect())
    };
    let sizes = |index: &Index| -> Vec<(String, u64)> {
        let files = shared(index).files.into_iter();
        files.map(|file| (file.session, file.bytes)).collect()
    };
    let live = ("one".to_owned(), text.len() as u64);
    let both = sizes(&synced(&config(&["pi", "a-copy"])));
    assert_eq!(both, [live.clone(), ("two".to_owned(), text.len() as u64)]);
    assert_eq!(sizes(&synced(&config(&["pi"]))), [live]);
}

/// What was said before it moved stands in its file.
#[test]
fn a_session_that_came_from_elsewhere_is_not_shared() {
    let place = tempfile::tempdir().unwrap();
    let _ = pi(place.path(), "");
    let (private, boat) = (place.path().join("private"), place.path().join("boat"));
    let claude = |id: &str, relocated: bool| {
        let from = if relocated { &private } else { &boat };
        let mut lines = vec![
            json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": id, "cwd": from,
                "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "Paint"}}),
            json!({"type": "relocated", "sessionId": id, "relocatedCwd": boat}),
        ];
        lines.truncate(1 + usize::from(relocated));
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let path = place.path().join(format!("claude/-x-/{id}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let ids = [
        "0a000000-0000-4000-8000-000000000001",
        "0a000000-0000-4000-8000-000000000002",
    ];
    claude(ids[0], false);
    claude(ids[1], true);
    let roots = vec![root("claude", "claude", &place.path().join("claude"))];
    let found = shared(&synced(&Config::new(place.path().join("moved"), roots)));
    let files: Vec<&str> = found.files.iter().map(|file| &*file.session).collect();
    let unshared: Vec<&str> = found.unshared.iter().map(|one| &*one.session).collect();
    assert_eq!((files, unshared), (vec![ids[0]], vec![ids[1]]));
    assert!(
        found.unshared[0]
            .why
            .contains("in another directory before"),
        "{found:?}"
    );
}
