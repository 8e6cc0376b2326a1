//! How long does a session take to open, to give its context and to take an append, and how much
//! memory? Beside pi.
//!
//! Each figure is of a process of its own: this program again, told to do one thing to one file, or
//! Node with pi's package.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use sessionary::session::{Profile, SessionManager, Setup, UserMessage};

use crate::Result;
use crate::corpus::{self, Spec};
use crate::process::{self, Cost};
use crate::rows::{Row, Unit, median};

/// Bytes of a session of 3,000 entries, as the generator writes them.
const EVERYDAY: u64 = 10_000_000;
/// Entries below each other in the longest chain.
const CHAIN: usize = 1_000_000;

/// What one process did to one session.
struct SessionCost {
    open_ms: f64,
    append_ms: f64,
    entries: u64,
    messages: u64,
    cost: Cost,
}

/// All rows.
pub fn rows(home: &Path, large: u64, runs: usize, must_have_pi: bool) -> Result<Vec<Row>> {
    let work = tempfile::Builder::new()
        .prefix("session-")
        .tempdir_in(home)?;
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/node_modules");
    let pi = modules.join("pi-0.87");
    let has_pi = pi.is_dir();
    if must_have_pi && !has_pi {
        return Err("tests/oracle/node_modules is missing: sh tests/oracle/install.sh".into());
    }
    let mut rows = Vec::new();
    for (name, file, target, runs) in [
        (
            "3,000 entries",
            write_session(home, "everyday", EVERYDAY)?,
            Some(10.0),
            runs,
        ),
        (
            "large",
            write_session(home, "large", large)?,
            Some(large as f64 / 200_000.0),
            runs.min(5),
        ),
        ("a chain of 1,000,000", chain(home)?, None, runs.min(3)),
    ] {
        let bytes = fs::metadata(&file)?.len();
        rows.push(Row::beside(
            format!("calibration: read and split, {name}"),
            vec![],
        ));
        if let Some(row) = rows.last_mut() {
            row.measured = Some(read_and_split(&file, runs)?);
        }
        let ours = repeated(runs, || run_ours(&file, work.path()))?;
        let what = format!("{name}, {:.1} MB", bytes as f64 / 1e6);
        let is_everyday = target == Some(10.0);
        rows.push(
            figure(format!("open + context, {what}"), target, &ours, |done| {
                done.open_ms
            })
            .note(format!(
                "{} entries, {} messages of them in the context",
                ours[0].entries, ours[0].messages
            )),
        );
        if !is_everyday {
            let most = ours
                .iter()
                .map(|done| done.cost.peak_rss)
                .max()
                .unwrap_or(0);
            let ratio = (most > 0).then(|| most as f64 / bytes as f64);
            let target = target.map(|_| 1.5);
            rows.push(
                Row {
                    target,
                    floor: None,
                    ..Row::figure(
                        format!("peak memory by the file's size, {name}"),
                        Unit::Ratio,
                        0.0,
                        0.0,
                        ratio,
                    )
                }
                .of(&costs(&ours)),
            );
        }
        rows.push(figure(
            format!("append, {name}"),
            target.map(|_| 1.0),
            &ours,
            |done| done.append_ms,
        ));
        if !has_pi {
            continue;
        }
        // Long strings and deep chains are hard on it: once is enough.
        let theirs = repeated(if is_everyday { runs.min(5) } else { 1 }, || {
            theirs(&file, &modules, &pi, work.path())
        });
        match theirs {
            Ok(theirs) => {
                rows.push(
                    figure(
                        format!("  beside: pi 0.87.1, {name}"),
                        None,
                        &theirs,
                        |done| done.open_ms,
                    )
                    .note(format!(
                        "{} entries, {} messages of them in the context",
                        theirs[0].entries, theirs[0].messages
                    )),
                );
                rows.push(figure(
                    format!("  beside: pi 0.87.1, append, {name}"),
                    None,
                    &theirs,
                    |done| done.append_ms,
                ));
            }
            Err(error) => rows.push(
                Row::beside(format!("  beside: pi 0.87.1, {name}"), vec![])
                    .note(format!("could not: {error}")),
            ),
        }
    }
    Ok(rows)
}

/// The least that opening takes: the bytes in memory, and where the lines end. The best of some
/// runs, in ms.
fn read_and_split(file: &Path, runs: usize) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..=runs {
        let start = Instant::now();
        let bytes = fs::read(file)?;
        std::hint::black_box(memchr::memchr_iter(b'\n', &bytes).count());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn figure(
    operation: String,
    target: Option<f64>,
    done: &[SessionCost],
    of: impl Fn(&SessionCost) -> f64,
) -> Row {
    Row {
        target,
        measured: median(done.iter().map(of).collect()),
        ..Row::beside(operation, costs(done))
    }
}

fn costs(done: &[SessionCost]) -> Vec<Cost> {
    done.iter().map(|done| done.cost).collect()
}

fn repeated(runs: usize, once: impl Fn() -> Result<SessionCost>) -> Result<Vec<SessionCost>> {
    // The first one warms the page cache.
    once()?;
    (0..runs).map(|_| once()).collect()
}

/// This program again, on a copy: it appends.
fn run_ours(file: &Path, work: &Path) -> Result<SessionCost> {
    let copy = work.join("session.jsonl");
    fs::copy(file, &copy)?;
    run_session(
        Command::new(std::env::current_exe()?)
            .arg("--session-in")
            .arg(&copy),
        work,
    )
}

fn theirs(file: &Path, modules: &Path, pi: &Path, work: &Path) -> Result<SessionCost> {
    let copy = work.join("session.jsonl");
    fs::copy(file, &copy)?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("sh");
    node.arg(here.join("tests/oracle/node22.sh"))
        .arg(modules)
        .arg(here.join("benches/session.mjs"))
        .args([pi, &copy])
        .env("PI_CODING_AGENT_DIR", work);
    run_session(&mut node, work)
}

fn run_session(command: &mut Command, work: &Path) -> Result<SessionCost> {
    let answer = work.join("answer.json");
    let cost = process::run(
        command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&answer)?),
    )?;
    if cost.code != Some(0) {
        return Err(format!("{command:?} ended with {:?}", cost.code).into());
    }
    let answer: Value = serde_json::from_slice(&fs::read(&answer)?)?;
    let number = |key: &str| {
        answer[key]
            .as_f64()
            .ok_or_else(|| format!("no {key} in {answer}"))
    };
    Ok(SessionCost {
        open_ms: number("open_ms")?,
        append_ms: number("append_ms")?,
        entries: number("entries")? as u64,
        messages: number("messages")? as u64,
        cost,
    })
}

/// In the process that is measured: open, context, and the median of some appends.
pub fn inside(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let setup = Setup::new(Profile::PI, folder);
    let start = Instant::now();
    let mut session = SessionManager::open(&setup, path)?;
    let messages = session.build_session_context().messages.len();
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let entries = session.entries().len();
    let mut appends = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        session.append_message(UserMessage {
            content: "And now the tests".into(),
            timestamp: setup.clock.now_ms(),
            ..Default::default()
        })?;
        appends.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!(
        "{}",
        json!({"open_ms": open_ms, "append_ms": median(appends), "entries": entries, "messages": messages})
    );
    Ok(())
}

/// A session of so many bytes, written once.
fn write_session(home: &Path, name: &str, bytes: u64) -> Result<PathBuf> {
    let kept = home.join(format!(
        "session-{name}-{bytes}-r{}.jsonl",
        corpus::REVISION
    ));
    if kept.exists() {
        return Ok(kept);
    }
    let folder = tempfile::tempdir_in(home)?;
    let spec = Spec {
        bytes,
        files: 1,
        seed: 1,
    };
    corpus::write(folder.path(), spec)?;
    let mut files = walkdir::WalkDir::new(folder.path()).into_iter().flatten();
    let file = files
        .find(|entry| entry.file_type().is_file())
        .ok_or("no session was written")?;
    fs::rename(file.path(), &kept)?;
    Ok(kept)
}

/// Questions below each other.
fn chain(home: &Path) -> Result<PathBuf> {
    let kept = home.join(format!("session-chain-{CHAIN}.jsonl"));
    if kept.exists() {
        return Ok(kept);
    }
    let beside = kept.with_extension("tmp");
    let mut out = std::io::BufWriter::new(fs::File::create(&beside)?);
    writeln!(
        out,
        r#"{{"type":"session","version":3,"id":"chain","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}}"#
    )?;
    for at in 0..CHAIN {
        let parent = at
            .checked_sub(1)
            .map_or_else(|| "null".to_owned(), |at| format!("\"{at:08x}\""));
        writeln!(
            out,
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"question {at}","timestamp":1767603601000}}}}"#
        )?;
    }
    out.into_inner().map_err(|error| error.into_error())?;
    fs::rename(&beside, &kept)?;
    Ok(kept)
}
