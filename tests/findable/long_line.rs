//! What does one giant line cost, and is its end found?
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Memory that does not depend on the line: the words' writer, SQLite's pages, code, threads.
const FIXED_KB: u64 = 128 * 1024;

/// Run to the end and measure the most memory the process ever held, in KB.
pub fn peak(command: &mut Command) -> u64 {
    let name = Path::new(command.get_program()).file_name().unwrap();
    let name = format!("Name:\t{}\n", name.to_str().unwrap());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        // Until the process has its own name, its memory may still be that of the tests (Linux
        // wakes the parent of a `vfork` before the new program has taken its place).
        if text.starts_with(&name) {
            peak = peak.max(memory(&text));
        }
        if let Some(exit) = child.try_wait().unwrap() {
            assert!(exit.success(), "{exit}");
            return peak.expect("it was seen while it ran");
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// The most memory that a process held, as its status says, in KB.
fn memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line?.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// One line of `megabytes` whose last kilobyte holds a word of its own.
fn write(path: &Path, megabytes: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(b"{\"type\":\"session\",\"version\":3,\"id\":\"giant\",\"cwd\":\"/w\"}\n")
        .unwrap();
    file.write_all(b"{\"type\":\"message\",\"id\":\"g1\",\"parentId\":null,\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"bash\",\"content\":[{\"type\":\"text\",\"text\":\"").unwrap();
    let mut number = 0u64;
    let mut written = 0;
    while written < megabytes << 20 {
        let line = format!(
            "{number:06} error in src/module_{}/file.rs at \\\"line\\\" {}\\n",
            number % 977,
            number * 7919 % 10007
        );
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
        number += 1;
    }
    file.write_all(b"and at its very end tourmaline\"}],\"isError\":false}}\n")
        .unwrap();
    file.write_all(b"{\"type\":\"message\",\"id\":\"g2\",\"parentId\":\"g1\",\"message\":{\"role\":\"user\",\"content\":\"afterwards jasper\"}}\n").unwrap();
    file.flush().unwrap();
}

/// 40 MB; `FINDABLE_LINE_MB=100` for the size that is promised.
#[test]
fn a_giant_line_costs_no_more_than_twice_its_size() {
    let megabytes: usize = std::env::var("FINDABLE_LINE_MB")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(40);
    let sandbox = Sandbox::new();
    write(
        &sandbox.home.join(".pi/agent/sessions/--w--/giant.jsonl"),
        megabytes,
    );
    let line_kb = megabytes as u64 * 1024;

    let started = Instant::now();
    let synced = peak(&mut sandbox.command(&["sync"]));
    let took = started.elapsed();
    for (word, entry) in [("tourmaline", "g1"), ("jasper", "g2")] {
        let started = Instant::now();
        let answer = sandbox.json(&["search", word, "--json"]);
        assert_eq!(answer["sessions"][0]["hits"][0]["entry"], entry, "{answer}");
        eprintln!("search {word}: {:?}", started.elapsed());
    }
    eprintln!("{megabytes} MB: sync {took:?}, peak {} MB", synced / 1024);
    assert!(
        synced < 2 * line_kb + FIXED_KB,
        "{} MB for a line of {megabytes} MB",
        synced / 1024
    );
}
