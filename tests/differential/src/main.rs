//! Holds sessionary beside other readers of the same stores, and prints every difference.
//!
//! `cargo run -- SESSIONARY HOME [--fast-resume FR] [--claudex PROGRAM]`: SESSIONARY is the built
//! command, HOME a folder in which agents' stores lie as in a person's home. FR is the command of
//! fast-resume 2.14, PROGRAM what is built in `claudex/`. The programs get copies of HOME, an
//! environment that says nothing but where that is, and no network is needed.

mod compare;
mod others;
mod ours;
mod session;
mod theirs;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use compare::Other;
use ours::Sessionary;

const USAGE: &str = "usage: SESSIONARY HOME [--fast-resume FR] [--claudex PROGRAM]";

fn main() -> ExitCode {
    match run() {
        Ok(differences) => {
            println!("\n{differences} differences");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<usize, Box<dyn Error>> {
    let (mut named, mut fast_resume, mut claudex) = (Vec::new(), None, None);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--fast-resume") => fast_resume = arguments.next().map(PathBuf::from),
            Some("--claudex") => claudex = arguments.next().map(PathBuf::from),
            _ => named.push(PathBuf::from(argument)),
        }
    }
    let [command, stores] = named.try_into().map_err(|_| USAGE)?;
    let place = tempfile::tempdir()?;
    let home = |name: &str| -> Result<PathBuf, Box<dyn Error>> {
        let home = place.path().join(name);
        let copied = Command::new("cp")
            .arg("-a")
            .arg(&stores)
            .arg(&home)
            .status()?;
        copied
            .success()
            .then_some(home)
            .ok_or_else(|| "cp failed".into())
    };
    let sessionary = Sessionary {
        command: command.canonicalize()?,
        home: home("ours")?,
        index: place.path().join("index"),
    };
    let (ours, found) = sessionary.sessions()?;
    println!("sessionary: {} sessions", ours.len());
    let (theirs, problems) = theirs::sessions(&home("agent-sessions")?);
    problems
        .iter()
        .for_each(|problem| println!("agent-sessions could not read {problem}"));
    let mut other = Other {
        name: &format!("agent-sessions {}", agent_sessions::VERSION),
        same_title: |ours, theirs| ours == theirs,
        counts_tokens: true,
    };
    let mut differences = compare::compare(&ours, &theirs, other);
    if let Some(command) = fast_resume {
        let theirs = others::fast_resume(&command, &home("fast-resume")?, &found)?;
        other = Other {
            name: "fast-resume",
            same_title: others::begins_alike,
            counts_tokens: false,
        };
        differences += compare::compare(&ours, &theirs, other);
    }
    if let Some(command) = claudex {
        let theirs = others::claudex(&command, &home("claudex")?, &found)?;
        other.name = "claudex";
        other.counts_tokens = true;
        differences += compare::compare(&ours, &theirs, other);
    }
    Ok(differences)
}

/// A path below a home, as the same in each copy of it.
fn below(home: &Path, path: &Path) -> String {
    let below = path.strip_prefix(home).unwrap_or(path);
    below.to_string_lossy().into_owned()
}

/// Runs a command, each line of whose output is JSON.
fn json_lines(command: &mut Command) -> Result<Vec<Value>, Box<dyn Error>> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Result<Vec<Value>, _> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(serde_json::from_str)
        .collect();
    // It ends with another code where it found nothing.
    lines.map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{command:?}: {error}; it said: {said}").into()
    })
}
