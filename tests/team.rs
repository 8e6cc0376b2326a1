//! Does `sessionary team` run `sessionary-team`, and say where to get it?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::sandbox::Sandbox;

/// Run a copy of the program that stands in a folder of its own.
fn team(program: &Path, path: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", path);
    command.env("HOME", path).output().expect("sessionary runs")
}

/// A program that says which it is and what it is asked for.
fn stand_in(folder: &Path, name: &str) {
    let path = folder.join("sessionary-team");
    fs::write(&path, format!("#!/bin/sh\necho \"{name}: $*\"\nexit 7\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_program_beside_this_one_is_run_or_the_one_on_the_path() {
    let home = Sandbox::new();
    let [own, path] = ["own", "path"].map(|name| home.home.join(name));
    for folder in [&own, &path] {
        fs::create_dir_all(folder).unwrap();
    }
    let program = own.join("sessionary");
    fs::copy(env!("CARGO_BIN_EXE_sessionary"), &program).unwrap();

    let missing = team(&program, &path, &["team", "push"]);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{said}");
    assert!(said.contains("cargo install --locked --path crates/team"));

    stand_in(&path, "on the path");
    let output = team(&program, &path, &["team", "push", "--dry-run", "--json"]);
    assert_eq!(output.stdout, b"on the path: push --dry-run --json\n");
    assert_eq!(output.status.code(), Some(7));
    stand_in(&own, "beside");
    let output = team(&program, &path, &["--json", "team", "push", "--help"]);
    assert_eq!(output.stdout, b"beside: --json push --help\n");
}
