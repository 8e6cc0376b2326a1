//! Do `list` and `tree` say what the real agents say of the same files?
//!
//! `oracle/run.sh` has the real packages write, list and open thousands of sessions; here their
//! answers are compared with ours. `SESSIONARY_ORACLE_DIR` names the output of an earlier run to
//! use again, `SESSIONARY_CORPUS` a folder of real version 1 files.

mod compare;
mod differences;

use std::collections::BTreeMap;
use std::env;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use sessionary::index::AgentListScope;
use sessionary::session::{Error, Profile, SessionInfo, SessionManager, Setup};
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, RootSpec, Rules};

use crate::real_agents::{self, succeeded};

use compare::{Golden, Session, Tree};

/// The agent whose answers ours must equal, and the older ones that differ from it in documented
/// ways only.
const NEW: &str = "0.87.1";
const OLD: [&str; 2] = ["0.73.1", "0.74.2"];
/// Fewer sessions than this prove too little.
const ENOUGH: usize = 2000;
/// `tree` is asked for every nth session; a process each.
const EVERY_NTH_TREE: usize = 16;
/// Lines of complaint printed for one comparison.
const SHOWN: usize = 12;

/// The output of `run.sh`, and the folder to delete afterwards when it was made here.
struct Oracle {
    dir: PathBuf,
    _made: Option<tempfile::TempDir>,
}

fn oracle() -> Oracle {
    if let Some(dir) = env::var_os("SESSIONARY_ORACLE_DIR") {
        let dir = PathBuf::from(dir);
        assert!(
            dir.join(format!("golden-{NEW}.json")).exists(),
            "SESSIONARY_ORACLE_DIR holds no golden-{NEW}.json: run tests/oracle/run.sh DIR"
        );
        return Oracle { dir, _made: None };
    }
    let made = tempfile::tempdir().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/run.sh");
    let mut run = Command::new(script);
    run.arg(made.path());
    if let Some(corpus) = env::var_os("SESSIONARY_CORPUS") {
        run.arg(corpus);
    }
    succeeded("tests/oracle/run.sh", run.output());
    Oracle {
        dir: made.path().to_path_buf(),
        _made: Some(made),
    }
}

impl Oracle {
    fn golden(&self, version: &str) -> Golden {
        let path = self.dir.join(format!("golden-{version}.json"));
        let text =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn sessions(&self) -> PathBuf {
        self.dir.join("sessions")
    }
}

/// Our command in a sandbox: a home of its own, an index of its own, the oracle's files as the only
/// root.
struct Sandbox<'a> {
    oracle: &'a Oracle,
    home: tempfile::TempDir,
}

impl Sandbox<'_> {
    fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let mut root = std::ffi::OsString::from("pi:");
        root.push(self.oracle.sessions());
        let output = Command::new(env!("CARGO_BIN_EXE_sessionary"))
            .env_clear()
            .envs(
                ["PATH", "SystemRoot"]
                    .into_iter()
                    .filter_map(|name| Some((name, env::var_os(name)?))),
            )
            .env("HOME", self.home.path())
            .env("PI_CODING_AGENT_DIR", &self.oracle.dir)
            .env("TZ", "UTC")
            .current_dir(self.home.path())
            .arg("--index")
            .arg(self.home.path().join("index"))
            .arg("--root")
            .arg(root)
            // As the agent does.
            .arg("--follow-links")
            .args(arguments)
            .output()
            .map_err(|error| error.to_string())?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            format!(
                "{arguments:?}: {error}; {}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
    }

    /// The rows of `list --all` that the agent is said to list, in their order, with paths below
    /// the root.
    fn list(&self) -> Vec<Session> {
        let answer = self
            .json(&["list", "--all", "--json", "--with-text"])
            .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(answer["schema_version"], 1);
        assert_eq!(answer["complete"], true, "the list is not complete");
        let rows = answer["sessions"].as_array().expect("`sessions` is a list");
        rows.iter()
            .filter(|row| row["listed_by_agent"] == true)
            .map(|row| Session::from_row(row, &self.oracle.sessions()))
            .collect()
    }
}

#[test]
fn list_and_tree_equal_the_real_agents() {
    if env::var_os("SESSIONARY_ORACLE_DIR").is_none() && !real_agents::are_installed() {
        return;
    }
    let oracle = oracle();
    let sandbox = Sandbox {
        oracle: &oracle,
        home: tempfile::tempdir().expect("a temporary folder"),
    };
    let ours = sandbox.list();
    let mut wrong = Vec::new();

    let new = oracle.golden(NEW);
    assert!(
        new.sessions.len() >= ENOUGH,
        "only {} generated sessions",
        new.sessions.len()
    );
    let mut deviations = BTreeMap::new();
    let on_purpose: Vec<_> = differences::OURS.iter().collect();
    let complaints = compare::lists(
        &new.sessions,
        &ours,
        &oracle.sessions(),
        &on_purpose,
        &mut deviations,
    );
    println!(
        "oracle {NEW}: {} sessions compared, {} differ, {} deviate on purpose {deviations:?}",
        new.sessions.len(),
        complaints.len(),
        total(&deviations)
    );
    report(&mut wrong, &format!("list, {NEW}"), complaints);
    let complaints = compare::order(&new.sessions, &ours, &oracle.sessions());
    report(&mut wrong, &format!("order of list, {NEW}"), complaints);

    let library = of_the_library(&oracle, &new);
    let complaints = compare::lists(
        &new.sessions,
        &library,
        &oracle.sessions(),
        &on_purpose,
        &mut deviations,
    );
    report(&mut wrong, &format!("list_all, {NEW}"), complaints);
    let complaints = compare::order(&new.sessions, &library, &oracle.sessions());
    report(&mut wrong, &format!("order of list_all, {NEW}"), complaints);

    let documented: Vec<_> = differences::OLD.iter().chain(differences::OURS).collect();
    for version in OLD {
        let old = oracle.golden(version);
        let mut explained = BTreeMap::new();
        let complaints = compare::lists(
            &old.sessions,
            &ours,
            &oracle.sessions(),
            &documented,
            &mut explained,
        );
        println!(
            "oracle {version}: {} sessions compared, {} differ, {} explained {explained:?}",
            old.sessions.len(),
            complaints.len(),
            total(&explained)
        );
        report(&mut wrong, &format!("list, {version}"), complaints);
        // A rule that explains nothing is either wrong or without a test file.
        let idle = differences::OLD
            .iter()
            .filter(|rule| !explained.contains_key(rule.name))
            .map(|rule| format!("never met: {}", rule.name));
        report(
            &mut wrong,
            &format!("documented differences, {version}"),
            idle.collect(),
        );
    }

    let mut asked = 0;
    let mut complaints = Vec::new();
    for session in new
        .sessions
        .iter()
        .filter(|session| differences::tree_is_comparable(&session.path))
        .step_by(EVERY_NTH_TREE)
    {
        let Some(expected) = new.trees.get(&session.path).and_then(Tree::comparable) else {
            continue;
        };
        let path = oracle.sessions().join(&session.path);
        asked += 1;
        match sandbox.json(&["tree", "--filter", "all", &path.to_string_lossy(), "--json"]) {
            Ok(answer) => complaints.extend(
                compare::trees(&expected, &Tree::from_answer(&answer))
                    .map(|why| format!("{}: {why}", session.path)),
            ),
            Err(why) => complaints.push(why),
        }
    }
    println!(
        "oracle {NEW}: {asked} trees compared, {} differ",
        complaints.len()
    );
    report(&mut wrong, &format!("tree, {NEW}"), complaints);

    assert!(
        wrong.is_empty(),
        "ours differs from the real agents:\n{}",
        wrong.join("\n")
    );
}

/// What the library lists without an index. The order of every directory's own list is asserted
/// here.
fn of_the_library(oracle: &Oracle, new: &Golden) -> Vec<Session> {
    let root = oracle.sessions();
    let setup = Setup::new(Profile::PI, &root);
    let below = |info: &SessionInfo| {
        let path = info.path.strip_prefix(&root).expect("below the root");
        path.to_string_lossy().into_owned()
    };
    let mut same = 0;
    for (cwd, theirs) in new.folders.iter().filter(|(cwd, _)| cwd.starts_with('/')) {
        let ours = SessionManager::list(&setup, cwd);
        let ours: Vec<String> = ours.expect("a list").iter().map(below).collect();
        let known: Vec<&String> = theirs.iter().filter(|path| ours.contains(path)).collect();
        // What only one of the two lists is told of by list_all.
        let both: Vec<&String> = ours.iter().filter(|path| theirs.contains(path)).collect();
        assert_eq!(both, known, "{cwd}");
        same += both.len();
    }
    assert!(same > ENOUGH / 2, "only {same} in directories");
    let calls = AtomicUsize::new(0);
    let progress = |_, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let all = SessionManager::list_all_with(&setup, &progress).expect("a list");
    of_the_index(&setup, new, &all);
    assert!(calls.into_inner() >= all.len());
    let given_up = SessionManager::list_all_with(&setup, &|_, _| ControlFlow::Break(()));
    assert!(matches!(given_up, Err(Error::Cancelled)));
    let time = |ms: Option<i64>| ms.and_then(sessionary::model::iso);
    all.iter()
        .map(|info| {
            let row = serde_json::json!({
                "path": info.path, "id": info.id, "cwd": info.cwd, "name": info.name,
                "parentSessionPath": info.parent_session_path,
                "created": time(info.created_ms), "modified": time(Some(info.modified_ms)),
                "messageCount": info.message_count,
                "firstMessage": info.first_message.as_deref().unwrap_or("(no messages)"),
                "allMessagesText": info.all_messages_text,
            });
            Session::from_row(&row, &root)
        })
        .collect()
}

/// What an index lists is what the files say, value by value and row by row.
fn of_the_index(setup: &Setup, new: &Golden, all: &[SessionInfo]) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = RootSpec::new("pi", setup.sessions.clone());
    let mut config = Config::new(folder.path(), vec![root]);
    // As the agent does.
    config.rules = Rules::set(Exclude::default(), FollowLinks::Everywhere);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    assert!(index.is_complete());
    let calls = AtomicUsize::new(0);
    let progress = |_, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let with_text = AgentListScope {
        with_text: true,
        ..AgentListScope::default()
    };
    let ours = index.ask(|snapshot| snapshot.agent_list(setup, &with_text, &progress));
    assert_eq!(calls.into_inner(), all.len());
    let ours = ours.expect("a list");
    for (ours, theirs) in ours.iter().zip(all) {
        assert_eq!(ours, theirs);
    }
    let go_on = &|_, _| ControlFlow::Continue(());
    for cwd in new.folders.keys().filter(|cwd| cwd.starts_with('/')) {
        let mut theirs = SessionManager::list(setup, cwd).expect("a list");
        theirs
            .iter_mut()
            .for_each(|info| info.all_messages_text.clear());
        let scope = AgentListScope {
            cwd: Some(cwd.clone()),
            ..AgentListScope::default()
        };
        let ours = index.ask(|snapshot| snapshot.agent_list(setup, &scope, go_on));
        assert_eq!(ours.expect("a list"), theirs, "{cwd}");
    }
    let all = AgentListScope::default();
    let given_up =
        index.ask(|snapshot| snapshot.agent_list(setup, &all, &|_, _| ControlFlow::Break(())));
    assert!(matches!(given_up, Err(sessionary::Error::Cancelled)));
}

fn total(counts: &BTreeMap<&'static str, usize>) -> usize {
    counts.values().sum()
}

fn report(wrong: &mut Vec<String>, what: &str, complaints: Vec<String>) {
    if complaints.is_empty() {
        return;
    }
    wrong.push(format!("-- {what}: {}", complaints.len()));
    wrong.extend(complaints.into_iter().take(SHOWN));
}
