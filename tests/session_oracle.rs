//! Does a session of ours do what one of the real agents does, and can each read what the other
//! wrote?
//!
//! Random operations run here and in the real packages: every answer, everything the session says
//! of itself, and every byte of every file must be the same. `SESSIONARY_SCRIPTS` says how many,
//! `SESSIONARY_SEED` which.

#[path = "session_oracle/random.rs"]
mod random;
#[path = "session_oracle/script.rs"]
pub mod script;
#[path = "session_oracle/state.rs"]
pub mod state;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sessionary::session::{Creation, Error, Profile, SessionManager, Setup};

use crate::real_agents::{self, node};

use script::Script;

/// pi 0.87.1, which has no file before the first answer.
const PI_0_87: Profile = Profile {
    creation: Creation::FirstAnswer,
    ..Profile::PI
};

/// Of the files that another run left every nth is opened.
const EVERY_NTH_FILE: usize = 4;
/// Differences that are told of one comparison.
const SHOWN: usize = 8;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}

fn scripts(count: u64, make: fn(&mut ChaCha8Rng) -> Script) -> Vec<(u64, Script)> {
    let seed = number("SESSIONARY_SEED", 1);
    (seed..seed + count)
        .map(|seed| (seed, make(&mut ChaCha8Rng::seed_from_u64(seed))))
        .collect()
}

/// Writes the scripts for an agent, and gives its answers and what it calls home.
fn theirs(agent: &str, scripts: &[(u64, Script)], home: &Path) -> (Vec<String>, PathBuf) {
    let lines: Vec<String> = scripts.iter().map(|(_, script)| script.line()).collect();
    let (input, output) = (home.join("scripts"), home.join("answers"));
    fs::write(&input, lines.join("\n") + "\n").expect("the scripts");
    let their_home = home.join(agent);
    node("session-run.mjs", agent, &[&input, &their_home, &output]);
    let answers = fs::read_to_string(&output).expect("their answers");
    let answers: Vec<String> = answers.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), scripts.len());
    (answers, their_home)
}

/// The answers with the names of sessions and places made the same.
fn normal(answer: &str, sessions: &[String], root: &Path) -> String {
    let mut text = answer.replace(&*root.to_string_lossy(), "$HOME");
    for (at, id) in sessions.iter().enumerate() {
        text = text.replace(id, &format!("$SESSION{at}"));
    }
    text
}

/// Shows where two texts part.
fn differ(seed: u64, ours: &str, theirs: &str) -> String {
    let same = ours.chars().zip(theirs.chars());
    let at = same.take_while(|(a, b)| a == b).count();
    let around = |text: &str| -> String {
        text.chars()
            .skip(at.saturating_sub(200))
            .take(400)
            .collect()
    };
    format!(
        "seed {seed}:\n  ours   …{}…\n  theirs …{}…",
        around(ours),
        around(theirs)
    )
}

#[test]
fn every_operation_does_what_it_does_in_pi() {
    if !real_agents::are_installed() {
        return;
    }
    let scripts = scripts(number("SESSIONARY_SCRIPTS", 400), random::script);
    let home = tempfile::tempdir().expect("a folder");
    let (answers, their_home) = theirs("pi-0.87", &scripts, home.path());
    let mut wrong = Vec::new();
    for ((seed, script), theirs) in scripts.iter().zip(&answers) {
        let our_home = home.path().join("ours");
        let mut sessions = Vec::new();
        let ours = script.run(PI_0_87, &our_home, &mut sessions);
        let ours = normal(&ours, &sessions, &our_home);
        let (theirs, their_sessions) = theirs
            .rsplit_once(",\"sessions\":")
            .unwrap_or((theirs, "[]"));
        let their_sessions: Vec<String> =
            serde_json::from_str(&their_sessions[..their_sessions.len() - 1]).unwrap_or_default();
        let theirs = normal(theirs, &their_sessions, &their_home);
        if ours != theirs {
            wrong.push(differ(*seed, &ours, &theirs));
        }
        let _ = fs::remove_dir_all(&our_home);
    }
    none(wrong, scripts.len());
}

fn none(wrong: Vec<String>, of: usize) {
    assert!(
        wrong.is_empty(),
        "{} of {of} differ:\n{}",
        wrong.len(),
        wrong.into_iter().take(SHOWN).collect::<Vec<_>>().join("\n")
    );
}

/// Opens the files with an agent and with ours and compares what both say of them. `excuse` names
/// the documented difference that two answers have; which were met is given back.
fn compare_opened(
    agent: &str,
    files: &[PathBuf],
    home: &Path,
    excuse: impl Fn(&str, &str) -> Option<&'static str>,
) -> BTreeMap<&'static str, usize> {
    let names: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
    let (input, output) = (home.join("files"), home.join("opened"));
    fs::write(&input, names.join("\n") + "\n").expect("the names");
    node("session-open.mjs", agent, &[&input, &output]);
    let answers = fs::read_to_string(&output).expect("their answers");
    assert_eq!(answers.lines().count(), files.len());
    let (mut wrong, mut excused) = (Vec::new(), BTreeMap::new());
    for (path, theirs) in files.iter().zip(answers.lines()) {
        let profile = if agent == "pi-0.87" {
            Profile::PI
        } else {
            Profile {
                dialect: crate::dialects::PI_0_73,
                ..Profile::INDUSAGI
            }
        };
        let mut setup = Setup::new(profile, "/");
        setup.ids = Arc::new(script::World {
            unique: true,
            ..Default::default()
        });
        let ours = match SessionManager::open_read_only(&setup, path) {
            // pi begins a session in an empty file.
            Ok(session) if session.entries().is_empty() && theirs == NOTHING => NOTHING.to_owned(),
            Ok(session) => state::state(&session),
            Err(Error::NotASession { .. }) => NOTHING.to_owned(),
            Err(error) => panic!("{}: {error}", path.display()),
        };
        if ours == theirs {
            continue;
        }
        match excuse(&ours, theirs) {
            Some(rule) => *excused.entry(rule).or_default() += 1,
            None => wrong.push(path.display().to_string() + ": " + &differ(0, &ours, theirs)),
        }
    }
    println!(
        "{agent}: {} files opened, documented differences: {excused:?}",
        files.len()
    );
    none(wrong, files.len());
    excused
}

const NOTHING: &str = "{\"opens\":false}";

/// Where ours does the safe thing: docs/writing.md, "Where pi loses data".
fn safer(ours: &str, theirs: &str) -> Option<&'static str> {
    let before = |text: &str, key: &str| text.split(key).next().map(str::to_owned);
    if theirs.starts_with("{\"fails\"") {
        return Some("pi fails");
    }
    let leaf = "\"leaf\":";
    if before(ours, leaf) == before(theirs, leaf) && theirs.contains("\"leaf\":null") {
        return Some("the last line has no id: pi loses its place");
    }
    if theirs
        .split("\"id\":")
        .skip(1)
        .any(|rest| !rest.starts_with('"'))
    {
        return Some("ids that are no text are shown as text");
    }
    if without(ours, "model", "llm") == without(theirs, "model", "llm") {
        return Some("an answer that names no model says nothing of it");
    }
    if without(ours, "children", "name") == without(theirs, "children", "name") {
        return Some("an entry that names no parent is a root");
    }
    if ends_in_relative_cwd(ours, theirs) {
        return Some("a working directory of another system stays as it is");
    }
    if theirs.contains("\"context\":[\"hi\",") {
        return Some("a message that is no object is none");
    }
    let no_ids = !theirs.contains("\"parentId\"") && ours.contains("\"parentId\"");
    no_ids.then_some("a fork of version 1 gets ids again")
}

/// The text without the member `key`, which `next` follows.
fn without(text: &str, key: &str, next: &str) -> Option<(String, String)> {
    let (before, rest) = text.split_once(&format!(",\"{key}\":"))?;
    let at = rest.find(&format!(",\"{next}\":"))?;
    Some((before.to_owned(), rest[at..].to_owned()))
}

fn ends_in_relative_cwd(ours: &str, theirs: &str) -> bool {
    let split = |text: &str| {
        let (before, cwd) = text.rsplit_once(",\"cwd\":\"")?;
        Some((before.to_owned(), cwd.to_owned()))
    };
    let (Some((a, ours)), Some((b, theirs))) = (split(ours), split(theirs)) else {
        return false;
    };
    a == b && !ours.starts_with('/') && theirs.ends_with(&ours)
}

#[test]
fn every_agent_and_ours_read_what_the_other_wrote() {
    if !real_agents::are_installed() {
        return;
    }
    for agent in ["pi-0.73", "pi-0.74", "pi-0.87"] {
        let scripts = scripts(
            number("SESSIONARY_SCRIPTS", 80),
            if agent == "pi-0.87" {
                random::script
            } else {
                random::old_script
            },
        );
        let home = tempfile::tempdir().expect("a folder");
        let (answers, _) = theirs(agent, &scripts, home.path());
        let mut files = Vec::new();
        let mut keep = |content: &str| {
            let path = home.path().join(format!("{}.jsonl", files.len()));
            fs::write(&path, content).expect("a file");
            files.push(path);
        };
        for answer in &answers {
            let from = answer.find(",\"files\":").expect("files") + ",\"files\":".len();
            let to = answer.rfind(",\"sessions\":").expect("sessions");
            let written: BTreeMap<String, String> =
                serde_json::from_str(&answer[from..to]).expect("names and contents");
            written.values().for_each(|content| keep(content));
        }
        for (_, script) in &scripts {
            let our_home = home.path().join("ours");
            script.run(Profile::PI, &our_home, &mut Vec::new());
            script::files(&our_home)
                .iter()
                .for_each(|(_, content)| keep(content));
            let _ = fs::remove_dir_all(&our_home);
        }
        compare_opened(agent, &files, home.path(), |_, _| None);
    }
}

#[test]
fn damaged_and_old_files_are_read_as_pi_reads_them() {
    if !real_agents::are_installed() {
        return;
    }
    let mut files: Vec<PathBuf> =
        script::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pi"))
            .into_iter()
            .map(|(name, _)| {
                Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("fixtures/pi")
                    .join(name)
            })
            .collect();
    if let Some(dir) = std::env::var_os("SESSIONARY_ORACLE_DIR") {
        let dir = PathBuf::from(dir).join("sessions");
        let names = script::files(&dir)
            .into_iter()
            .map(|(name, _)| dir.join(name));
        files.extend(names.step_by(EVERY_NTH_FILE));
    }
    let home = tempfile::tempdir().expect("a folder");
    let excused = compare_opened("pi-0.87", &files, home.path(), safer);
    // A rule that excuses nothing is wrong or without a file: two of them need those that
    // oracle/raw.mjs makes.
    assert!(excused.len() >= 5, "{excused:?}");
}
