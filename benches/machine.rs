//! How fast is this machine, compared with the one that floors and targets were set on? Asked in
//! the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs, io};

use crate::Result;
use crate::process;
use crate::rows::{Row, median};

/// Reading and splitting lines on both cores, in bytes a millisecond, where the targets were set.
const SPLIT: f64 = 10.7e6;
/// An empty Rust program from spawn to exit there, in milliseconds.
const EMPTY: f64 = 1.2;

/// By how much longer it takes.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// To read and split lines.
    pub bulk: f64,
    /// To look at every file.
    pub looks: f64,
    /// To start a process that looks at every file.
    pub starts: f64,
}

impl Machine {
    /// Measure, and say so in rows. `looks_there` is the time of a look at every file where the
    /// targets were set.
    pub fn measure(
        root: &Path,
        work: &Path,
        (bytes, split_ms): (u64, f64),
        looks_there: f64,
    ) -> Result<(Machine, Vec<Row>)> {
        let looks = looks(root)?;
        let empty = empty(work);
        let machine = Machine {
            bulk: split_ms * SPLIT / bytes as f64,
            looks: looks / looks_there,
            starts: (empty.unwrap_or(EMPTY) + looks) / (EMPTY + looks_there),
        };
        let row = |name: &str, there: f64, measured: Option<f64>, note: &str| {
            let mut row = Row::beside(format!("calibration: {name}"), Vec::new()).note(note);
            row.floor = Some(there);
            row.measured = measured;
            row
        };
        let rows = vec![
            row(
                "read and split all lines",
                bytes as f64 / SPLIT,
                Some(split_ms),
                "",
            ),
            row(
                "look at all files",
                looks_there,
                Some(looks),
                "readdir and a stat a file on all cores",
            ),
            row(
                "an empty Rust program",
                EMPTY,
                empty,
                if empty.is_some() {
                    ""
                } else {
                    "SKIPPED: there is no rustc on the PATH"
                },
            ),
        ];
        Ok((machine, rows))
    }
}

/// The least milliseconds in which all names and sizes below `root` are told.
fn looks(root: &Path) -> io::Result<f64> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let mut least = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        let folders = fs::read_dir(root)?.map(|entry| Ok(entry?.path()));
        let folders = Mutex::new(folders.collect::<io::Result<Vec<PathBuf>>>()?);
        let look = || -> io::Result<u64> {
            let mut bytes = 0;
            loop {
                let next = folders.lock().map_or(None, |mut folders| folders.pop());
                let Some(folder) = next else {
                    return Ok(bytes);
                };
                for entry in fs::read_dir(folder)? {
                    bytes += entry?.metadata()?.len();
                }
            }
        };
        std::thread::scope(|scope| -> io::Result<()> {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(look)).collect();
            std::hint::black_box(look()?);
            for other in others {
                std::hint::black_box(other.join().unwrap_or(Ok(0))?);
            }
            Ok(())
        })?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(least)
}

/// The median milliseconds of a program that does nothing.
fn empty(work: &Path) -> Option<f64> {
    let (source, program) = (
        work.join("empty.rs"),
        work.join(format!("empty{}", env::consts::EXE_SUFFIX)),
    );
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut compile = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compile.args(["-O", "-o"]).arg(&program).arg(&source);
    let made = compile.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !made.ok()?.success() {
        return None;
    }
    let run = |_| process::run(Command::new(&program).stdin(Stdio::null())).ok();
    let costs = (0..21).filter_map(run);
    median(costs.map(|cost| cost.wall.as_secs_f64() * 1e3).collect())
}
