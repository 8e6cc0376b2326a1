//! Does a search, once all is indexed, read only the lines that it shows, and of others no more
//! than it says?
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

/// What a tool printed.
fn printed_line(id: &str, text: &str) -> String {
    let line = json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z",
        "message": {"role": "toolResult", "toolCallId": "c", "toolName": "bash",
            "content": [{"type": "text", "text": text}]}});
    format!("{line}\n")
}

/// An indexed session in which a tool printed each of these.
fn session(texts: impl Iterator<Item = String>) -> (Sandbox, u64) {
    let sandbox = Sandbox::new();
    let mut content =
        String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n");
    for (number, text) in texts.enumerate() {
        content.push_str(&printed_line(&format!("e{number}"), &text));
    }
    sandbox.write(".pi/agent/sessions/--w--/1.jsonl", &content);
    sandbox.settle();
    let _ = sandbox.json(&["sync", "--json"]);
    (sandbox, content.len() as u64)
}

#[test]
fn an_identifier_in_tool_output_is_one_word_that_the_index_knows() {
    let filler = "lorem ipsum dolor sit amet ".repeat(2000);
    let text = |number| match number {
        7 => format!("it calls parseS {filler}"),
        8 => format!("it parses {filler}"),
        // All parts of the identifier, and even one after the other.
        _ => format!("parse s {filler} number {number}"),
    };
    let (sandbox, all) = session((0..80).map(text));
    let read = |arguments: &[&str]| bytes_read(&mut sandbox.command(arguments));
    let (nothing, _) = read(&["search", "nowhere", "--json"]);
    for limit in ["1", "20", "0"] {
        let (searched, answer) = read(&["search", "parseS", "--exact", "--limit", limit, "--json"]);
        assert_eq!(answer["total"], 2, "{limit}");
        assert_eq!(answer["total_exact"], true, "{limit}");
        let shown = 2 * all / 80 + (128 << 10);
        assert!(
            searched < nothing + shown,
            "--limit {limit} read {searched} bytes of {all}; a search without a hit {nothing}"
        );
    }
}

#[test]
fn a_phrase_in_tool_output_reads_so_much_in_vain_and_says_so() {
    const VAIN: u64 = 16 << 20;
    let filler = "lorem ipsum dolor sit amet ".repeat(15_000);
    let text = |number| match number {
        // The longest text fits worst.
        0 => format!("quartz obsidian {filler} {filler}"),
        _ => format!("obsidian quartz {filler}"),
    };
    let (sandbox, all) = session((0..60).map(text));
    assert!(all > VAIN + (4 << 20), "{all}");
    let read = |arguments: &[&str]| bytes_read(&mut sandbox.command(arguments));
    let phrase = "\"quartz obsidian\"";
    let (searched, answer) = read(&["search", phrase, "--exact", "--json"]);
    assert!(searched < VAIN + (4 << 20), "{searched} bytes of {all}");
    assert_eq!(answer["sessions"], json!([]));
    assert_eq!(answer["complete"], false);
    assert!(answer["unverified"].as_u64() > Some(0), "{answer}");
    assert_eq!(answer["total"], 60);
    assert_eq!(answer["total_exact"], false);
    let told = sandbox.run(&["search", phrase, "--exact"]);
    assert!(told.contains("--limit 0 reads them"), "{told}");
    assert!(!told.contains("could not be read"), "{told}");
    // Who asks for all hits gets them.
    let (_, answer) = read(&["search", phrase, "--exact", "--limit", "0", "--json"]);
    assert_eq!(answer["sessions"][0]["hits"][0]["entry"], "e0");
    assert_eq!(answer["complete"], true);
}
