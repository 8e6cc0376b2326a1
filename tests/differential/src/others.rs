//! What do fast-resume and claudex find? Each is a program of its own, with a home of its own.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::ours::FoundSession;
use crate::session::{Session, Sessions, Tokens};

/// The sessions that fast-resume lists, with their titles.
pub fn fast_resume(
    command: &Path,
    home: &Path,
    found: &[FoundSession],
) -> Result<Sessions, Box<dyn Error>> {
    let mut run = Command::new(command);
    let run = run
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin");
    let answers = crate::json_lines(run.args(["--json", "--all"]))?;
    let rows = answers
        .iter()
        .flat_map(|answer| answer["sessions"].as_array().into_iter().flatten());
    let sessions = rows.map(|row| {
        let agent = match row["agent"].as_str().unwrap_or_default() {
            "copilot-cli" => "copilot",
            agent => agent,
        };
        let session = Session {
            title: row["title"].as_str().map(str::to_owned),
            ..Session::default()
        };
        ((agent.to_owned(), key(row, found)), session)
    });
    Ok(sessions.collect())
}

/// The sessions in claudex's index, with their tokens.
pub fn claudex(command: &Path, home: &Path, found: &[FoundSession]) -> Result<Sessions, Box<dyn Error>> {
    let mut run = Command::new(command);
    let run = run.env_clear().env("HOME", home);
    let rows = crate::json_lines(run.arg(home.join(".claudex")))?;
    let sessions = rows.iter().map(|row| {
        let sums = row["tokens"].as_array().map(|sums| {
            let sum = |at: usize| sums.get(at).and_then(Value::as_u64).unwrap_or_default();
            Tokens {
                input: sum(0),
                output: sum(1),
                cache_read: sum(2),
                cache_write: sum(3),
            }
        });
        let session = Session {
            tokens: sums,
            ..Session::default()
        };
        let agent = row["agent"].as_str().unwrap_or_default().to_owned();
        ((agent, key(row, found)), session)
    });
    Ok(sessions.collect())
}

/// The path by which we know the session of that id, else the id.
fn key(row: &Value, found: &[FoundSession]) -> String {
    let id = row["id"].as_str().unwrap_or_default();
    let known = found.iter().find(|session| session.id == id);
    known.map_or_else(|| id.to_owned(), |session| session.path.clone())
}

/// Titles that are cut are the same as far as they go.
pub fn begins_alike(ours: &str, theirs: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let theirs = words(theirs);
    match theirs.strip_suffix("...") {
        Some(theirs) => words(ours).starts_with(theirs.trim_end()),
        None => words(ours) == theirs,
    }
}
