//! Does a search, once all is indexed, read only the lines that it shows?
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Bytes that the command asked of the kernel, and what it printed. (Tantivy's files are mapped and
/// not counted.)
fn bytes_read(command: &mut Command) -> (u64, Value) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut answer).unwrap();
    // The count lasts until the ended process is waited for.
    let folder = format!("/proc/{}", child.id());
    while !fs::read_to_string(format!("{folder}/stat"))
        .unwrap()
        .contains(") Z ")
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    let io = fs::read_to_string(format!("{folder}/io")).unwrap();
    let count = io
        .lines()
        .find_map(|line| line.strip_prefix("rchar: "))
        .unwrap();
    child.wait().unwrap();
    (
        count.parse().unwrap(),
        serde_json::from_slice(&answer).unwrap(),
    )
}

fn line(id: &str, text: &str) -> String {
    let line = json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z",
        "message": {"role": "user", "content": text}});
    format!("{line}\n")
}

#[test]
fn a_search_reads_the_lines_it_shows() {
    let sandbox = Sandbox::new();
    let filler = "lorem ipsum dolor sit amet ".repeat(4000);
    let (mut shown, mut all) = (0, 0);
    for session in 0..4 {
        let mut content =
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n");
        // What a list shows of the first message is in the catalogue; here it is short.
        content.push_str(&line(&format!("{session:04}"), "good morning"));
        for entry in 0..40 {
            let word = if entry == 20 { "chrysoberyl" } else { "gravel" };
            let line = line(
                &format!("{session:04}{entry:04}"),
                &format!("{filler} {word}"),
            );
            if entry == 20 {
                shown += line.len() as u64;
            }
            content.push_str(&line);
        }
        all += content.len() as u64;
        sandbox.write(
            &format!(".pi/agent/sessions/--w--/{session}.jsonl"),
            &content,
        );
    }
    sandbox.settle();
    let _ = sandbox.json(&["sync", "--json"]);
    let read = |arguments: &[&str]| bytes_read(&mut sandbox.command(arguments));

    // What a search costs that shows nothing: the catalogue's pages, the system's files.
    let (nothing, answer) = read(&["search", "nowhere", "--json"]);
    assert_eq!(answer["total"], 0);
    assert!(
        nothing < all / 20,
        "a search without a hit read {nothing} bytes of {all}"
    );
    let slack = 128 * 1024;

    let (searched, answer) = read(&["search", "chrysoberyl", "--json"]);
    assert_eq!(answer["total"], 4);
    assert_eq!(answer["complete"], true);
    eprintln!("{searched} bytes for {shown}, {nothing} for none, of {all}");
    assert!(searched >= shown, "{searched}");
    assert!(
        searched < nothing + shown + slack,
        "{searched} bytes to show {shown}; {nothing} to show none"
    );

    // One hit shown of many: one line read.
    let (searched, answer) = read(&["search", "gravel", "--limit", "1", "--json"]);
    assert_eq!(answer["total"], 156);
    assert!(
        searched < nothing + shown / 4 + slack,
        "a page of one hit read {searched} bytes"
    );

    // What a list shows comes from the catalogue.
    let (listed, answer) = read(&["list", "--all", "--json"]);
    assert_eq!(answer["sessions"].as_array().map(Vec::len), Some(4));
    assert!(listed < nothing + slack, "a list read {listed} bytes");
}
