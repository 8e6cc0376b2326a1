//! Does the package for pi do what docs/pi.md says, in the real pi?
//!
//! The tests are written for Node and stand beside the package: `packages/pi/test`. They run pi in
//! two versions over its RPC mode and in tmux, each with a home of its own and without an account.
//! `sh packages/pi/test/install.sh` installs both (360 MB); without them the tests are skipped and
//! say so. `SESSIONARY_PI` names the installed `node_modules` where that is another one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use sessionary::model::acts;

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/pi")
}

/// Runs one file of tests by the installed Node. Without it nothing is run.
fn run(file: &str) {
    let beside = || package().join("test/node_modules");
    let modules = env::var_os("SESSIONARY_PI").map_or_else(beside, PathBuf::from);
    let node = modules.join("node-22/bin/node");
    if !node.exists() {
        eprintln!("SKIPPED: pi is not installed; run `sh packages/pi/test/install.sh`");
        return;
    }
    let output = Command::new(node)
        .args(["--test", "--test-reporter=tap"])
        .arg(package().join("test").join(file))
        .env_clear()
        .envs(["PATH", "HOME"].map(|name| (name, env::var_os(name).unwrap_or_default())))
        .env("PI_MODULES", modules)
        .env("SESSIONARY_BIN", env!("CARGO_BIN_EXE_sessionary"))
        .output()
        .expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    for line in said.lines().filter(|line| line.contains("# SKIP")) {
        eprintln!("SKIPPED: {line}");
    }
    let passed = said.lines().any(|line| line.starts_with("# pass "));
    assert!(output.status.success() && passed, "{file}:\n{said}");
}

#[test]
fn lists_find_and_the_tool_in_rpc_mode() {
    run("rpc.test.mjs");
}

#[test]
fn resume_and_find_at_a_terminal() {
    run("tmux.test.mjs");
}

#[test]
fn npm_packages_install_and_run() {
    run("npm.test.mjs");
}

#[test]
fn what_acts_or_hides_is_kept_from_person_and_model() {
    let code = fs::read_to_string(package().join("src/overlay.ts")).expect("the file");
    let (_, class) = code.split_once("  /[").expect("a class");
    let (class, _) = class.split_once("]+/gu;").expect("its end");
    let known = Regex::new(&format!("^[{class}]$")).expect("a class");
    for character in '\0'..=char::MAX {
        let is_known = known.is_match(character.encode_utf8(&mut [0; 4]));
        assert_eq!(is_known, acts(character), "{character:?}");
    }
}
