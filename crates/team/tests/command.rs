//! What does the command say?

use std::fs;
use std::io::{BufRead, BufReader};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use sessionary_team::settings::DataFolder;

use crate::machine::{BOAT, Folder, Machine};

#[test]
fn a_day_with_it() {
    let store = Folder::new();
    let ada = Machine::new("ada");
    let said = |output: std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let none = ada.output(&["push"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(said(none).contains("team init dir:PATH"));

    ada.team(&["init", &store.address(), "--host", "ada"]);
    assert_eq!(ada.team(&["share"]), "No repository is shared.\n");
    // The repository around the current directory, and its address, are one.
    ada.team(&["share", "."]);
    ada.team(&["share", "https://ada:token@github.com/ada/boat.git"]);
    assert_eq!(ada.team(&["share"]), format!("{BOAT}\n"));
    ada.write_session(BOAT, "0a", &["one"]);
    let pushed = ada.team(&["push"]);
    assert!(
        pushed.starts_with("Sent 1 file of 1 session: 1 block, "),
        "{pushed}"
    );
    assert_eq!(
        ada.team(&["push"]),
        "Nothing is new: all 1 shared file are in the store.\n"
    );
    let status = ada.json(&["status"]);
    assert_eq!(status["repositories"], json!([BOAT]));
    assert_eq!(status["hosts"][0]["files"], 1);
    assert_eq!(
        ada.team(&["pull"]),
        "No other machine shares anything here.\n"
    );
}

#[test]
fn two_machines_of_one_name_are_told_apart() {
    let store = Folder::new();
    let first = Machine::sharing("box", &store.address());
    // The name is that of who pushes first.
    let late = Machine::sharing("box", &store.address());
    first.json(&["push"]);
    assert_eq!(late.output(&["push"]).status.code(), Some(2));
    late.team(&["init", &store.address(), "--host", "box3"]);
    late.write_session(BOAT, "0a", &["of the boat"]);
    late.json(&["push"]);
    let renamed = late.output(&["init", &store.address(), "--host", "box4"]);
    assert_eq!(renamed.status.code(), Some(2));
    let other = Machine::new("box");
    let output = other.output(&["init", &store.address(), "--host", "box"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("another machine is called box") && said.contains("--host"),
        "{said}"
    );
    other.team(&["init", &store.address(), "--host", "box2"]);
}

#[test]
fn json_says_its_version_and_so_do_errors_in_it() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, "0a", &["one"]);
    for verb in ["share", "push", "status", "pull"] {
        assert_eq!(ada.json(&[verb])["schema_version"], 1, "{verb}");
    }
    let error = |machine: &Machine, arguments: &[&str]| -> Value {
        let output = machine.output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(said["schema_version"], 1, "{said}");
        said["error"].clone()
    };
    let refused = error(&Machine::new("bob"), &["push", "--json"]);
    assert_eq!(refused["kind"], "failed");
    assert_eq!(refused["message"], "there is no store yet");
    let hint = refused["hints"][0].as_str().unwrap();
    assert!(hint.contains("team init dir:PATH"), "{hint}");
    assert_eq!(error(&ada, &["--json", "psuh"])["kind"], "usage");
}

#[test]
fn of_a_setting_that_cannot_be_followed_it_is_said_what_could_be() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let folder = ada.home().join(".config/sessionary");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "timezone = \"Europe/Berln\"\n").unwrap();
    let output = ada.output(&["push"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("\nhint: did you mean Europe/Berlin?"),
        "{said}"
    );
}

/// One that waits for its server would hold all others up in silence.
#[test]
fn who_waits_for_another_says_so() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let data = DataFolder::of(ada.data().parent().unwrap());
    let held = data.lock(&|| panic!("nobody else runs")).unwrap();
    let mut waiting = ada.command(&["share"]).spawn().unwrap();
    let mut said = BufReader::new(waiting.stderr.take().unwrap());
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        tell.send(line)
    });
    let line = told.recv_timeout(Duration::from_secs(120));
    drop(held);
    assert!(waiting.wait().unwrap().success());
    let line = line.expect("nothing was said");
    assert!(
        line.contains("another sessionary-team is running"),
        "{line}"
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    let store = Folder::new();
    let ada = Machine::new("ada");
    for arguments in [
        &["init", "ftp://there"][..],
        &["init", &store.address(), "--host", "../up"],
        &["init", &store.address(), "--host", "Ada"],
    ] {
        assert_eq!(
            ada.output(arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    ada.team(&["init", &store.address(), "--host", "ada"]);
    assert_eq!(ada.output(&["share", "nonsense"]).status.code(), Some(2));
    assert_eq!(ada.output(&["purge"]).status.code(), Some(2));
}
