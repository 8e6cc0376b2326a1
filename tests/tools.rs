//! Do real tools read the catalogue, while it is written and where nothing can be written?
//!
//! `tools/install.sh` puts them below `target/tools`. One that is missing is skipped aloud; with
//! `SESSIONARY_TOOLS=required`, as in the workflow, its test fails.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::{Config, Indexer};

use crate::histories::dump::root;

/// Times that each tool asks.
const ROUNDS: &str = "40";
/// Steps of the history that a copy follows.
const STEPS: u32 = 80;
/// A user who owns nothing.
const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn runs(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a tool is there.
fn there(tool: &str, found: bool) -> bool {
    if !found {
        assert!(
            env::var_os("SESSIONARY_TOOLS").is_none_or(|asked| asked != "required"),
            "{tool} is missing: run `sh tests/tools/install.sh`"
        );
        eprintln!("SKIPPED: {tool} is missing; `sh tests/tools/install.sh` installs it");
    }
    found
}

fn sqlite3() -> bool {
    there(
        "the sqlite3 shell",
        runs(Command::new("sqlite3").arg("--version")),
    )
}

/// Sessions of pi in a folder, and an index of them.
struct World {
    folder: tempfile::TempDir,
    config: Config,
    rng: ChaCha8Rng,
    made: u32,
}

impl World {
    fn new(seed: u64) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("sessions/--x--")).expect("its folder");
        let roots = vec![root("pi", "pi", &folder.path().join("sessions"))];
        let config = Config::new(folder.path().join("index"), roots);
        let rng = ChaCha8Rng::seed_from_u64(seed);
        World {
            folder,
            config,
            rng,
            made: 0,
        }
    }

    fn catalogue(&self) -> PathBuf {
        self.folder.path().join("index/v5/catalogue.sqlite")
    }

    fn uri(&self, how: &str) -> String {
        format!("file:{}?{how}", self.catalogue().display())
    }

    fn sessions(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.folder.path().join("sessions/--x--")).expect("it");
        let mut all: Vec<PathBuf> = folder.map(|file| file.expect("a file").path()).collect();
        all.sort();
        all
    }

    fn any(&mut self) -> Option<PathBuf> {
        let all = self.sessions();
        (!all.is_empty()).then(|| all[self.rng.random_range(0..all.len())].clone())
    }

    fn create(&mut self) {
        self.made += 1;
        let header = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{0}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/x{0}\"}}\n",
            self.made
        );
        let path = self
            .folder
            .path()
            .join(format!("sessions/--x--/{}.jsonl", self.made));
        fs::write(&path, header).expect("a session");
        self.append(&path);
    }

    fn append(&mut self, path: &Path) {
        let mut file = fs::File::options()
            .append(true)
            .open(path)
            .expect("a session");
        let number: u32 = self.rng.random();
        let line = match number % 5 {
            0 => format!(
                r#"{{"type":"session_info","id":"{number:08x}","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","name":"n{number}"}}"#
            ),
            1 => format!(
                r#"{{"type":"message","id":"{number:08x}","parentId":null,"timestamp":"2026-01-05T09:00:02.{:03}Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c{number}","name":"read","arguments":{{"path":"f{}"}}}}],"provider":"p","model":"m","usage":{{"input":{},"output":2,"cost":{{"total":0.5}}}}}}}}"#,
                number % 1000,
                number % 7,
                number % 100
            ),
            2 => format!(
                r#"{{"type":"message","id":"{number:08x}","parentId":null,"timestamp":"2026-01-05T09:00:03.000Z","message":{{"role":"toolResult","toolCallId":"c{number}","toolName":"read","content":[],"isError":true}}}}"#
            ),
            _ => format!(
                r#"{{"type":"message","id":"{number:08x}","parentId":null,"timestamp":"2026-01-05T09:00:04.000Z","message":{{"role":"user","content":"word {number}"}}}}"#
            ),
        };
        writeln!(file, "{line}").expect("a line");
    }

    fn sync(&self) {
        // A process that is being started holds what we hold until it becomes another program: the
        // lock too.
        let indexer = loop {
            match Indexer::open(&self.config) {
                Err(sessionary::Error::Busy { .. }) => std::thread::yield_now(),
                opened => break opened,
            }
        };
        indexer
            .and_then(|mut indexer| indexer.sync())
            .expect("a sync");
    }
}

/// Lets `read` run while lines are appended and synced; `read` gives the numbers of entries it saw.
fn while_written(seed: u64, read: impl FnOnce(&Path) -> Vec<u64>) {
    let mut world = World::new(seed);
    (0..6).for_each(|_| world.create());
    world.sync();
    let path = world.catalogue();
    let done = AtomicBool::new(false);
    let (seen, syncs) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut syncs = 0;
            while !done.load(Ordering::Relaxed) {
                match world.any() {
                    Some(path) if syncs % 9 > 0 => world.append(&path),
                    _ => world.create(),
                }
                world.sync();
                syncs += 1;
            }
            syncs
        });
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&path)));
        done.store(true, Ordering::Relaxed);
        (seen, writer.join().expect("the writer"))
    });
    let seen = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(seen.len() > 2, "{seen:?} while {syncs} syncs went on");
}

/// What `tools/reads.py` saw with a tool.
fn seen_by(tool: &str, catalogue: &Path) -> Vec<u64> {
    let output = Command::new(here().join("target/tools/bin/python"))
        .arg(here().join("tests/tools/reads.py"))
        .args([tool.as_ref(), catalogue.as_os_str(), ROUNDS.as_ref()])
        .output()
        .expect("python");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool}: {said}");
    serde_json::from_slice(&output.stdout).expect("numbers")
}

fn has_module(module: &str) -> bool {
    let mut python = Command::new(here().join("target/tools/bin/python"));
    there(
        module,
        runs(python.args(["-c", &format!("import {module}")])),
    )
}

#[test]
fn python_reads_while_it_is_written() {
    if has_module("sqlite3") {
        while_written(1, |catalogue| seen_by("python", catalogue));
    }
}

#[test]
fn datasette_reads_while_it_is_written() {
    if has_module("datasette") {
        while_written(2, |catalogue| seen_by("datasette", catalogue));
    }
}

#[test]
fn duckdb_reads_while_it_is_written() {
    if has_module("duckdb_extension_sqlite_scanner") {
        while_written(3, |catalogue| seen_by("duckdb", catalogue));
    }
}

#[test]
fn the_sqlite3_shell_reads_while_it_is_written() {
    if !sqlite3() {
        return;
    }
    while_written(4, |catalogue| {
        let uri = format!("file:{}?mode=ro", catalogue.display());
        let both = "SELECT (SELECT count(*) FROM entries), (SELECT sum(entries) FROM sessions)";
        let mut seen: Vec<u64> = Vec::new();
        for _ in 0..60 {
            let output = Command::new("sqlite3")
                .args(["-cmd", ".timeout 5000", &uri, both])
                .output()
                .expect("it");
            assert!(output.status.success(), "{output:?}");
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let (entries, told) = said.split_once('|').expect("two columns");
            assert_eq!(entries, told);
            seen.push(entries.parse().expect("a number"));
        }
        // An entry's own bytes, without `raw`.
        let text = "SELECT json_extract(CAST(substr(readfile(s.root || '/' || s.relative), e.start + 1, e.length) AS TEXT), '$.type')
                    FROM entries e JOIN sources s USING (source) WHERE e.line = 1 LIMIT 1";
        let output = Command::new("sqlite3")
            .args(["-cmd", ".timeout 5000", &uri, text])
            .output()
            .expect("it");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "session\n");
        seen.dedup();
        seen
    });
}

/// Debian's shell is older than the SQLite of the program.
#[test]
fn the_sqlite3_shell_reads_every_view() {
    if !sqlite3() {
        return;
    }
    let mut world = World::new(5);
    world.create();
    world.sync();
    let uri = world.uri("mode=ro");
    let ask = |sql: &str| {
        let output = Command::new("sqlite3").args([&uri, sql]).output();
        let output = output.expect("it");
        assert!(output.status.success(), "{sql}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let views = ask("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name");
    assert!(views.lines().any(|view| view == "forks"), "{views}");
    for view in views.lines() {
        ask(&format!("SELECT * FROM {view} LIMIT 1"));
    }
}

/// Node 22 or newer, which has SQLite built in: the machine's own, or the one the oracle installs.
fn node() -> Option<Command> {
    let node = || {
        let mut node = Command::new("sh");
        node.arg(here().join("tests/oracle/node22.sh"))
            .arg(here().join("tests/oracle/node_modules"));
        node
    };
    there("Node 22", runs(node().arg("--version"))).then(node)
}

#[test]
fn a_copy_in_node_follows_the_changes() {
    let Some(mut node) = node() else {
        return;
    };
    let mut world = World::new(5);
    (0..4).for_each(|_| world.create());
    world.sync();
    let mut child = node
        .arg("--disable-warning=ExperimentalWarning")
        .arg(here().join("tests/tools/copy.mjs"))
        .arg(world.catalogue())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node");
    let mut ask = child.stdin.take().expect("its input");
    let mut answers = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut last = serde_json::Value::Null;
    for step in 0..STEPS {
        match world.rng.random_range(0..20) {
            0..=3 => world.create(),
            4..=6 => {
                if let Some(path) = world.any() {
                    fs::remove_file(path).expect("gone");
                }
            }
            7 => {
                let label = world.rng.random_bool(0.5).then(|| format!("label {step}"));
                world.config.roots[0].label = label;
            }
            8 => {
                let indexer = Indexer::open(&world.config);
                indexer.and_then(|mut i| i.rebuild()).expect("a rebuild");
            }
            9 => {
                if let Some(path) = world.any() {
                    let text = fs::read_to_string(&path).expect("a session");
                    let cut = text.lines().next().expect("its header").to_owned() + "\n";
                    fs::write(&path, cut).expect("cut");
                }
            }
            _ => {
                if let Some(path) = world.any() {
                    world.append(&path);
                }
            }
        }
        world.sync();
        if step % 3 == 0 {
            writeln!(ask).expect("asked");
            let answer = answers.next().expect("an answer").expect("text");
            last = serde_json::from_str(&answer).expect("JSON");
            assert_eq!(last["equal"], true, "step {step}: {answer}");
        }
    }
    drop(ask);
    assert!(child.wait().expect("its end").success());
    // By the feed, and again after each rebuild only.
    let count = |name: &str| last[name].as_u64().expect("a number");
    assert!(count("changed") > 10 && count("gone") > 2, "{last}");
    assert!((2..20).contains(&count("whole")), "{last}");
    assert!(count("sessions") > 2, "{last}");
}

/// The URIs of docs/sql.md, as a user who may write neither the folder nor the files.
#[test]
fn a_folder_that_cannot_be_written_is_read_by_the_documented_uris() {
    let is_root = rustix::process::geteuid().is_root();
    if !sqlite3() || is_root && !there("setpriv", runs(Command::new("setpriv").arg("--version"))) {
        return;
    }
    let mut world = World::new(6);
    (0..3).for_each(|_| world.create());
    world.sync();
    let folder = world.catalogue().parent().expect("a folder").to_path_buf();
    let saved = folder.join("saved.sqlite");
    let index = sessionary::Index::open(&world.config, sessionary::Freshness::AsCommitted);
    index
        .and_then(|index| index.save_catalogue(&saved))
        .expect("a snapshot");
    let ask = |uri: &str| {
        let query = "SELECT count(*) FROM sessions";
        let mut command = Command::new(if is_root { "setpriv" } else { "sqlite3" });
        if is_root {
            command.args(NOBODY).arg("sqlite3");
        }
        let output = command.args([uri, query]).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let lock = |yes: bool| {
        let files = fs::read_dir(&folder).expect("it").flatten();
        for file in files.filter(|file| file.path().is_file()) {
            let mode = if yes { 0o444 } else { 0o600 };
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        }
        let above = [
            world.folder.path(),
            folder.parent().expect("a folder"),
            &folder,
        ];
        for folder in above {
            let mode = if yes { 0o555 } else { 0o700 };
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("a mode");
        }
    };
    lock(true);
    assert_eq!(ask(&world.uri("mode=ro")), "3", "beside its WAL");
    assert_eq!(
        ask(&format!("file:{}?mode=ro", saved.display())),
        "3",
        "a snapshot"
    );
    lock(false);
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(format!("{}{suffix}", world.catalogue().display())).expect(suffix);
    }
    lock(true);
    assert_eq!(
        ask(&world.uri("mode=ro")),
        "",
        "without its WAL it has to be made"
    );
    assert_eq!(ask(&world.uri("immutable=1")), "3");
    assert_eq!(ask(&format!("file:{}?mode=ro", saved.display())), "3");
    lock(false);
}
