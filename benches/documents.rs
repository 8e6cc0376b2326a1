//! Sessions of many files, as agentuse leaves them: how are they made, and what does it cost to
//! look at them?

use std::fs;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

use crate::Result;
use crate::rows::{Row, median};
use crate::run::{Run, folder_bytes, report, stage};

const WORDS: &str = "the walrus read src/main.rs and said that the linker error in fooBar must be fixed before tokens run out of memory again";
/// 2026-01-05T09:00:00Z in ms.
const BEGIN: i64 = 1_767_603_600_000;
/// Parts of a session: each is a file.
const PARTS: usize = 500;
/// Seven projects share the sessions.
const PROJECTS: usize = 7;

fn ulid(mut ms: i64, number: usize) -> String {
    let letters = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut time = [0; 10];
    for place in time.iter_mut().rev() {
        *place = letters[(ms % 32) as usize];
        ms /= 32;
    }
    format!("{}{number:016}", String::from_utf8_lossy(&time))
}

/// Write sessions below `root` until there are `files`; how many there are.
pub fn write(root: &Path, files: usize) -> Result<usize> {
    let mut rng = StdRng::seed_from_u64(1);
    let words: Vec<&str> = WORDS.split(' ').collect();
    let sessions = files.div_ceil(PARTS + 2);
    for session in 0..sessions {
        let at = BEGIN + session as i64 * 100_000;
        let (id, message) = (ulid(at, session), ulid(at + 1, session));
        let project = session % PROJECTS;
        let home = root.join(format!("{project:016x}/session/{id}-triage"));
        let parts = home.join(&message).join("part");
        fs::create_dir_all(&parts)?;
        put(
            &home.join("session.json"),
            &json!({"agent": {"id": "triage", "name": "triage", "isSubAgent": false}, "model": "anthropic:x", "version": "1",
                "project": {"root": format!("/w{project}"), "cwd": "/w"}, "id": id, "status": "completed",
                "time": {"created": at, "updated": at + 9}}),
        )?;
        put(
            &home.join(&message).join("message.json"),
            &json!({"id": message, "sessionID": id, "time": {"created": at + 1}, "user": {"prompt": {"task": "sort it"}},
                "assistant": {"modelID": "anthropic:x", "cost": 0,
                    "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}}),
        )?;
        for number in 0..PARTS {
            let start = at + 10 + number as i64;
            let text: Vec<&str> = (0..80)
                .filter_map(|_| words.choose(&mut rng).copied())
                .collect();
            let id = ulid(start, number);
            put(
                &parts.join(format!("{id}.json")),
                &part(&id, &message, number, start, &text.join(" ")),
            )?;
        }
    }
    Ok(sessions * (PARTS + 2))
}

fn part(id: &str, message: &str, number: usize, start: i64, text: &str) -> Value {
    match number % 2 {
        0 => {
            json!({"id": id, "messageID": message, "type": "tool", "callID": format!("c{number}"), "tool": "tools__bash",
            "state": {"status": "completed", "input": {"command": "cargo test"}, "output": text.repeat(3),
                "time": {"start": start, "end": start + 1}}})
        }
        _ => {
            json!({"id": id, "messageID": message, "type": "text", "text": text, "time": {"start": start}})
        }
    }
}

fn put(path: &Path, value: &Value) -> Result<()> {
    Ok(fs::write(path, serde_json::to_string_pretty(value)?)?)
}

/// The table of a corpus of so many files.
pub fn rows(run: &Run, files: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    run.forget()?;
    let (cost, answer) = run.once(&["sync", "--json"], &[0])?;
    let cold = report(&answer)?;
    // Files a second become milliseconds for all of them.
    let a_second = |rate: f64| files as f64 / rate * 1e3;
    for (name, target, stages) in [
        (
            "cold: list and tree ready",
            10_000.0,
            &["discover", "catalogue"][..],
        ),
        (
            "cold: everything indexed",
            5_000.0,
            &["discover", "catalogue", "words"][..],
        ),
    ] {
        let took = stage(&cold, stages)?;
        let row = Row::beside(name, vec![cost])
            .note(format!("{:.0} files a second", files as f64 / took * 1e3));
        rows.push(row.to(a_second(target), Some(took)));
    }
    let index = folder_bytes(&run.index)? as f64 / files as f64;
    let raw = folder_bytes(&run.root)? as f64 / files as f64;
    rows.push(
        Row::beside("index on disk", Vec::new())
            .note(format!("{index:.0} bytes a file, which has {raw:.0}")),
    );

    let (costs, answers) = run.repeat(run.runs, &["sync", "--json"], &[0])?;
    let mut check = Vec::new();
    for answer in &answers {
        check.push(stage(
            &serde_json::from_slice::<Value>(answer)?["report"],
            &["discover", "catalogue", "words"],
        )?);
    }
    rows.push(Row::beside("nothing changed: a stat a directory", costs).to(5.0, median(check)));
    let (costs, _) = run.repeat(run.runs, &["list", "--all", "--json"], &[0])?;
    let row = Row::beside("list --all --json", costs);
    let measured = row.measured;
    rows.push(row.to(20.0, measured));

    let some = some_part(&run.root)?;
    let before = fs::read(&some)?;
    let mut costs = Vec::new();
    for number in 0..run.runs.min(9) {
        let mut value: Value = serde_json::from_slice(&before)?;
        value["again"] = json!(number);
        replace(&some, &serde_json::to_vec_pretty(&value)?)?;
        costs.push(run.once(&["list", "--all", "--json"], &[0])?.0);
    }
    replace(&some, &before)?;
    let row = Row::beside("list --all --json after a part was replaced", costs);
    let measured = row.measured;
    rows.push(row.to(60.0, measured));
    Ok(rows)
}

/// As agentuse writes: a new file takes the old one's name.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("json.tmp");
    fs::write(&beside, bytes)?;
    Ok(fs::rename(beside, path)?)
}

fn some_part(root: &Path) -> Result<PathBuf> {
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry?;
        let is_part = entry
            .path()
            .parent()
            .is_some_and(|above| above.ends_with("part"));
        if is_part && entry.file_type().is_file() {
            return Ok(entry.into_path());
        }
    }
    Err("the corpus has no parts".into())
}
