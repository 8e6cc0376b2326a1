//! Does a session of ours do what one of the real agents does, and can each read what the other wrote?
//!
//! Random operations run here and in the real packages: every answer, everything the session says of itself, and every
//! byte of every file must be the same. `SESSIONARY_SCRIPTS` says how many, `SESSIONARY_SEED` which.

#[path = "session_oracle/script.rs"]
mod script;
#[path = "session_oracle/state.rs"]
mod state;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sessionary::session::{Creation, Profile};

use script::Script;

/// pi 0.87.1, which has no file before the first answer.
const PI_0_87: Profile = Profile {
    creation: Creation::FirstAnswer,
    ..Profile::PI
};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}

fn oracle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle")
}

/// Runs one of the oracle's programs with an agent.
fn node(program: &str, agent: &str, arguments: &[&Path]) {
    let modules = oracle().join("node_modules");
    let output = Command::new(oracle().join("node22.sh"))
        .arg(&modules)
        .arg(oracle().join(program))
        .arg(modules.join(agent))
        .args(arguments)
        .output()
        .expect("node22.sh starts");
    assert!(
        output.status.success(),
        "{program} with {agent}: these tests need the real agents, tests/oracle/install.sh puts them there\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn scripts(count: u64) -> Vec<(u64, Script)> {
    let seed = number("SESSIONARY_SEED", 1);
    (seed..seed + count)
        .map(|seed| (seed, script::script(&mut ChaCha8Rng::seed_from_u64(seed))))
        .collect()
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
    let at = ours
        .char_indices()
        .zip(theirs.chars())
        .find(|((_, a), b)| a != b)
        .map_or(ours.len().min(theirs.len()), |((at, _), _)| at);
    let around = |text: &str| -> String {
        let from = text.floor_char_boundary(at.saturating_sub(200));
        let to = text.ceil_char_boundary((at + 200).min(text.len()));
        text[from..to].to_owned()
    };
    format!("seed {seed}:\n  ours   …{}…\n  theirs …{}…", around(ours), around(theirs))
}

#[test]
fn every_operation_does_what_it_does_in_pi() {
    let scripts = scripts(number("SESSIONARY_SCRIPTS", 600));
    let home = tempfile::tempdir().expect("a folder");
    let lines: Vec<String> = scripts.iter().map(|(_, script)| script.line()).collect();
    let (input, output) = (home.path().join("scripts"), home.path().join("answers"));
    fs::write(&input, lines.join("\n") + "\n").expect("the scripts");
    let their_home = home.path().join("theirs");
    node("session-run.mjs", "pi-0.87", &[&input, &their_home, &output]);
    let answers = fs::read_to_string(&output).expect("their answers");
    let mut wrong = Vec::new();
    for ((seed, script), theirs) in scripts.iter().zip(answers.lines()) {
        let our_home = home.path().join("ours");
        let mut sessions = Vec::new();
        let ours = script.run(PI_0_87, &our_home, &mut sessions);
        let ours = normal(&ours, &sessions, &our_home);
        let (theirs, their_sessions) = theirs.rsplit_once(",\"sessions\":").unwrap_or((theirs, "[]"));
        let their_sessions: Vec<String> =
            serde_json::from_str(&their_sessions[..their_sessions.len() - 1]).unwrap_or_default();
        let theirs = normal(theirs, &their_sessions, &their_home);
        if ours != theirs {
            wrong.push(differ(*seed, &ours, &theirs));
        }
        let _ = fs::remove_dir_all(&our_home);
    }
    assert_eq!(answers.lines().count(), scripts.len());
    assert!(
        wrong.is_empty(),
        "{} of {} scripts differ:\n{}",
        wrong.len(),
        scripts.len(),
        wrong.into_iter().take(8).collect::<Vec<_>>().join("\n")
    );
}
