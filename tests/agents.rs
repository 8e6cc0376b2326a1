//! Is what the real agents of other vendors wrote listed, found and counted, to the token? And do
//! they learn through `mcp` what another agent's session decided?
//!
//! `agents/run.sh` has each agent hold scripted conversations with a stub that keeps a ledger of
//! what it said, what it said was spent, and what tools told it. It needs `sh
//! tests/agents/install.sh` (1.6 GB), for pi also `sh packages/pi/test/install.sh`, and a system
//! that lets a network namespace be made; without them the tests are skipped and say so.
//! `SESSIONARY_AGENTS` and `SESSIONARY_PI` name the installed `node_modules` where these are
//! others.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

/// What the stub says when its asker is gone.
const LATE: &str = "It boils.";
/// What installs the agents.
const AGENTS: &str = "tests/agents/install.sh";
const PI: &str = "packages/pi/test/install.sh";
/// What `run.sh` exits with where no namespace can be made.
const NO_NAMESPACE: i32 = 77;

/// One agent's conversations.
struct Held {
    home: Sandbox,
    agent: &'static str,
    runs: Vec<Value>,
    /// What the stub answered, in order.
    ledger: Vec<Value>,
}

/// What this script installed, where this variable does not name it.
fn modules(variable: &str, script: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    env::var_os(variable).map_or_else(|| beside.with_file_name("node_modules"), PathBuf::from)
}

/// What `run.sh` prints for these words. `None`: the agent is not installed, or may not run here.
fn run(agent: &str, home: &Sandbox, words: &[&str]) -> Option<Output> {
    let agents = modules("SESSIONARY_AGENTS", AGENTS);
    let pi = modules("SESSIONARY_PI", PI);
    let itself = match agent {
        "pi" => (pi.join("pi-1.5"), PI),
        agent => (agents.join(agent), AGENTS),
    };
    let needed = [(agents.join("node-26"), AGENTS), itself];
    if let Some((_, script)) = needed.iter().find(|(folder, _)| !folder.exists()) {
        eprintln!("skipped: {agent} cannot run; run `sh {script}`");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/run.sh");
    let output = Command::new(script)
        .arg(agent)
        .arg(&home.home)
        .args(words)
        .env("AGENTS", agents)
        .env("PI", pi)
        .output()
        .expect("tests/agents/run.sh starts");
    if output.status.code() == Some(NO_NAMESPACE) {
        let said = String::from_utf8_lossy(&output.stderr);
        eprintln!("skipped: {agent}: {said}");
        return None;
    }
    Some(output)
}

/// Lets an agent hold the conversations that these words ask for. `None`: as for [`run`].
fn hold(agent: &'static str, home: Sandbox, words: &[&str]) -> Option<Held> {
    let output = run(agent, &home, words)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{agent}: {error}: {said}"));
    let ledger = report["ledger"].as_str().expect("the ledger's path");
    let ledger = std::fs::read_to_string(ledger).expect("the ledger");
    Some(Held {
        home,
        agent,
        runs: report["runs"].as_array().expect("the runs").clone(),
        ledger: ledger
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of the ledger"))
            .collect(),
    })
}

impl Held {
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.home.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{} {arguments:?}: {error}: {said}", self.agent))
    }

    /// The session that the run of this name made.
    fn session(&self, what: &str) -> Option<&str> {
        let mut runs = self.runs.iter();
        runs.find(|run| run["what"] == what)?["session"].as_str()
    }

    /// Every session that the agent has, listed under the id by which the agent resumes it. Gemini
    /// CLI deletes at its next start what holds no answer.
    fn is_listed(&self) {
        let list = self.json(&["--json", "list", "--all", "--limit", "0", "--subagents"]);
        let rows = list["sessions"].as_array().expect("sessions");
        let deletes = |run: &Value| self.agent == "gemini" && run["what"] == "refused";
        for run in self.runs.iter().filter(|run| !deletes(run)) {
            let Some(id) = run["session"].as_str() else {
                continue;
            };
            let row = rows.iter().find(|row| row["id"] == id);
            let row = row.unwrap_or_else(|| panic!("{}: {run} is not listed", self.agent));
            assert_eq!(row["agent"], self.agent);
            let cwd = self.home.cwd.to_str();
            assert_eq!(row["cwd"].as_str(), cwd, "{}: {run}", self.agent);
        }
    }

    /// Every text that the stub sent is found as a phrase.
    fn is_findable(&self) {
        for line in self.ledger.iter().filter(|line| line["is_aside"] == false) {
            let texts = line["texts"].as_array().expect("texts").iter();
            for text in texts.filter(|text| **text != LATE) {
                let text = text.as_str().expect("a text");
                let phrase = format!("\"{}\"", text.trim_end_matches('.'));
                let found = self.json(&["--json", "search", &phrase]);
                let sessions = found["sessions"].as_array().expect("sessions");
                assert!(!sessions.is_empty(), "{}: {text} is not found", self.agent);
            }
        }
    }

    /// A question is found once, as what somebody typed, in the session in which it was typed.
    fn is_typed_once(&self, what: &str, phrase: &str) {
        let id = self.session(what).expect("a session");
        let found = self.json(&["--json", "search", &format!("\"{phrase}\" role:user")]);
        let sessions = found["sessions"].as_array().expect("sessions");
        let [own] = &sessions[..] else {
            panic!("{}: {what} is found in {found}", self.agent);
        };
        assert_eq!(own["session"]["id"], id, "{}: {found}", self.agent);
        assert_eq!(own["hits"].as_array().map(Vec::len), Some(1), "{found}");
    }

    /// What all sessions spent together is what the stub said, each answer once. An answer that
    /// came when nobody waited for it any more is not among them.
    fn adds_up(&self) {
        let lines = self.ledger.iter().filter(|line| line["is_aside"] == false);
        let heard: Vec<&Value> = lines.filter(|line| line["texts"][0] != LATE).collect();
        let sum = |key: &str| -> i64 {
            let all = heard.iter().map(|line| line["spent"][key].as_i64());
            all.map(|tokens| tokens.expect("tokens")).sum()
        };
        let sums = "SELECT count(*), sum(input), sum(cache_read), sum(output) FROM usage
                    WHERE input > 0";
        let ours = self.json(&["--json", "sql", sums]);
        // Reasoning is a part of the output, as most vendors count it.
        let output = sum("output") + sum("reasoning");
        let theirs = [heard.len() as i64, sum("input"), sum("cacheRead"), output];
        let theirs = serde_json::json!([theirs]);
        assert_eq!(ours["rows"], theirs, "{}: {:#?}", self.agent, self.ledger);
    }

    /// The command that goes on with a session is the agent's own.
    fn is_resumed_by(&self, argv: &[&str]) {
        let id = self.session("ask").expect("a session");
        let show = self.json(&["--json", "resume", id, "--print"]);
        let expected: Vec<String> = argv.iter().map(|word| word.replace("ID", id)).collect();
        assert_eq!(
            show["resume"]["argv"],
            serde_json::json!(expected),
            "{show}"
        );
    }

    /// What the agent prints when it is started with these words.
    fn says(&self, words: &[&str]) -> Vec<u8> {
        let said = run(self.agent, &self.home, &[&["start"], words].concat());
        let said = said.expect("it ran before");
        let why = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{words:?}: {why}");
        said.stdout
    }

    /// Of each session that the agent deletes from its database the archive gives back the document
    /// that the agent exported before, to the byte, and the agent takes it back.
    fn comes_back_as_exported(&self) {
        let on = self.home.output(&["archive", "on", self.agent]);
        assert!(on.status.success(), "{on:?}");
        let ids: Vec<&str> = self
            .runs
            .iter()
            .filter_map(|run| run["session"].as_str())
            .collect();
        assert!(!ids.is_empty());
        let exported = ids.iter().map(|id| self.says(&["export", id]));
        let exported: Vec<Vec<u8>> = exported.collect();
        for id in &ids {
            self.says(&["session", "delete", id]);
        }
        self.is_verified();
        for (id, exported) in ids.iter().zip(exported) {
            let restored = self.json(&["--json", "archive", "restore", id]);
            let file = restored["files"][0].as_str().expect("a file");
            let document = std::fs::read(file).expect("the document");
            assert!(
                document == exported,
                "{}",
                String::from_utf8_lossy(&document)
            );
            self.says(&["import", file]);
        }
        self.is_listed();
        // The subagent's session went with its parent, and is no run of its own.
        let archived = self.json(&[
            "--json",
            "sql",
            "SELECT count(*) FROM sessions WHERE archived AND NOT is_subagent",
        ]);
        assert_eq!(archived["rows"][0][0], 0, "{archived}");
        self.is_verified();
    }

    /// What tools told the model before each of its answers.
    fn told(&self) -> Vec<&str> {
        let lines = self.ledger.iter().filter(|line| line["is_aside"] == false);
        let told = lines.map(|line| line["told"].as_str().expect("what was told"));
        told.collect()
    }

    /// The calls of this session are listed by the names that the agent has for them, none failed.
    fn called(&self, id: &str) {
        let sql = format!(
            "SELECT tool, is_error FROM calls JOIN sessions USING (session) WHERE id = '{id}'
             ORDER BY entry, ordinal"
        );
        let ours = self.json(&["--json", "sql", &sql]);
        let calls = self
            .ledger
            .iter()
            .filter_map(|line| line["calls"].as_array());
        let names = calls.flatten().filter_map(|call| call["name"].as_str());
        // Codex writes a namespace beside the name.
        let names = names.map(|name| name.rsplit('/').next());
        let theirs: Vec<Value> = names.map(|name| json!([name, 0])).collect();
        assert_eq!(ours["rows"], json!(theirs), "{}", self.agent);
    }

    /// The index is what the files say.
    fn is_verified(&self) {
        let verified = self.home.output(&["verify"]);
        let said = String::from_utf8_lossy(&verified.stderr);
        assert!(verified.status.success(), "{}: {said}", self.agent);
    }
}

/// All of it, and what more may be asked of it. `resume`: the command that goes on with the session
/// `ID`.
fn is_read_as_it_was_held(agent: &'static str, resume: &[&str]) -> Option<Held> {
    let held = hold(agent, Sandbox::new(), &["hold"])?;
    held.is_listed();
    held.is_findable();
    held.is_typed_once("tool error", "List the shed");
    held.adds_up();
    held.is_resumed_by(resume);
    held.is_verified();
    Some(held)
}

/// An agent to which `setup` gave our tools is asked what was decided, and learns it from a session
/// of pi. `is_known`: it tells which session asks; else that one comes last, marked as live.
fn learns_what_was_decided(agent: &'static str, is_known: bool) {
    let home = Sandbox::new();
    let decision = "We decided that a screw drives the cider press, not a lever.";
    let said = [
        ("user", "What should drive the cider press?"),
        ("assistant", decision),
    ];
    let at = "2026-01-02T09:00:00.000Z";
    pi_session(&home, "0199a", "code/parser", at, &said);
    let words = ["remember", env!("CARGO_BIN_EXE_sessionary")];
    let Some(held) = hold(agent, home, &words) else {
        return;
    };
    let setup = &held.runs[0];
    assert_eq!(setup["status"], 0, "{agent}: {setup}");

    let told = held.told();
    let [.., found, shown] = told[..] else {
        panic!("{agent}: {told:?}");
    };
    let recorded = format!("> {decision}");
    for answer in [found, shown] {
        let repeats = answer.lines().filter(|line| line.contains(decision));
        let repeats: Vec<&str> = repeats.collect();
        assert_eq!(repeats, [&recorded], "{agent}: {answer}");
        let is_framed = answer.contains("Recorded in earlier sessions.");
        let has_origin = answer.contains("\nsession 0199a · pi · 2026-01-02T09:00Z");
        assert!(is_framed && has_origin, "{agent}: {answer}");
    }
    assert!(shown.contains("\n0199a:e1 · assistant"), "{agent}: {shown}");

    let asking = held.session("remember").expect("a session");
    let sessions = found.lines().filter(|line| line.starts_with("session "));
    let others: Vec<&str> = sessions.skip(1).collect();
    if is_known {
        assert!(!found.contains(asking), "{agent}: {found}");
    } else {
        let [last] = others[..] else {
            panic!("{agent}: {found}");
        };
        let is_it = last.starts_with(&format!("session {asking} · {agent} ·"));
        assert!(is_it && last.ends_with(" · live"), "{agent}: {found}");
    }
    held.is_listed();
    held.called(asking);
    held.is_verified();
}

#[test]
fn claude_code() {
    is_read_as_it_was_held("claude", &["claude", "--resume", "ID"]);
}

#[test]
fn codex() {
    is_read_as_it_was_held("codex", &["codex", "resume", "ID"]);
}

#[test]
fn copilot() {
    is_read_as_it_was_held("copilot", &["copilot", "--resume=ID"]);
}

#[test]
fn gemini() {
    is_read_as_it_was_held("gemini", &["gemini", "--resume", "ID"]);
}

#[test]
fn opencode() {
    if let Some(held) = is_read_as_it_was_held("opencode", &["opencode", "-s", "ID"]) {
        held.comes_back_as_exported();
    }
}

#[test]
fn qwen() {
    is_read_as_it_was_held("qwen", &["qwen", "--resume", "ID"]);
}

#[test]
fn claude_code_learns_what_was_decided() {
    learns_what_was_decided("claude", true);
}

#[test]
fn codex_learns_what_was_decided() {
    learns_what_was_decided("codex", true);
}

#[test]
fn copilot_learns_what_was_decided() {
    learns_what_was_decided("copilot", true);
}

#[test]
fn gemini_learns_what_was_decided() {
    learns_what_was_decided("gemini", false);
}

#[test]
fn opencode_learns_what_was_decided() {
    learns_what_was_decided("opencode", false);
}

#[test]
fn pi_learns_what_was_decided() {
    learns_what_was_decided("pi", false);
}

#[test]
fn qwen_learns_what_was_decided() {
    learns_what_was_decided("qwen", false);
}
