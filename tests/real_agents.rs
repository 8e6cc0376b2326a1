//! The real agents that tests compare with, which `oracle/install.sh` puts beside it: are they
//! there, and how is one run?

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn oracle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle")
}

/// The folder of the packages from npm.
fn modules() -> PathBuf {
    oracle().join("node_modules")
}

fn equal(a: &Path, b: &Path) -> bool {
    fs::read(a).is_ok_and(|a| fs::read(b).is_ok_and(|b| a == b))
}

/// Whether what the lock files ask for is installed. Without it a test is skipped, aloud; where
/// `SESSIONARY_ORACLE` is `required`, as `.ci/run` sets it, it fails.
pub fn are_installed() -> bool {
    let node = oracle();
    let are = equal(
        &node.join("package-lock.json"),
        &modules().join(".installed-lock"),
    ) && equal(
        &node.join("requirements.txt"),
        &node.join("venv/.oracle-lock"),
    );
    if !are {
        let remedy = "the real agents are not installed; `sh tests/oracle/install.sh` does it";
        let required = env::var_os("SESSIONARY_ORACLE").is_some_and(|asked| asked == "required");
        assert!(!required, "{remedy}");
        eprintln!("SKIPPED: {remedy}");
    }
    are
}

/// Runs one of the oracle's programs with an agent.
pub fn node(program: &str, agent: &str, arguments: &[&Path]) {
    let output = Command::new(oracle().join("node22.sh"))
        .arg(modules())
        .arg(oracle().join(program))
        .arg(modules().join(agent))
        .args(arguments)
        .output();
    succeeded(&format!("{program} with {agent}"), output);
}

/// Runs the Python package indusagi in a home.
pub fn python(home: &Path, arguments: &[&str]) {
    let output = Command::new(oracle().join("python.sh"))
        .arg(home)
        .args(arguments)
        .output();
    succeeded("indusagi.py", output);
}

/// What a program printed, which must have ended well.
pub fn succeeded(what: &str, output: std::io::Result<Output>) -> Output {
    let output = output.unwrap_or_else(|error| panic!("{what} does not start: {error}"));
    assert!(
        output.status.success(),
        "{what} failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
