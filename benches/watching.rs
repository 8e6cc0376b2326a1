//! How long after an agent's write() is it in SQLite, and found? What does a watcher do while
//! nothing happens, and how much memory has it after many appends?

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sessionary::index::SearchScope;
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::Result;
use crate::pipeline::{Pipeline, THERE_MS};

/// Appends that are timed, in each of two ways.
const TIMED: u32 = 400;
/// An agent does not write faster.
const PAUSE: Duration = Duration::from_millis(15);
/// How long idleness is watched.
const IDLE: Duration = Duration::from_secs(10);

/// Measure over a copy of the sessions in `corpus`.
pub fn measure(binary: &Path, corpus: &Path, work: &Path, appends: u32) -> Result<()> {
    let (root, index_dir) = (work.join("sessions"), work.join("index"));
    copy(corpus, &root)?;
    let files = sessions(&root)?;
    let watcher = Watcher(
        Command::new(binary)
            .args(["--no-default-roots", "--index"])
            .arg(&index_dir)
            .arg("--root")
            .arg(format!("pi:{}", root.display()))
            .arg("watch")
            .env("HOME", work)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?,
    );
    let spec = RootSpec::new("pi", root);
    let config = Config::new(&index_dir, vec![spec]);
    eprintln!("waiting until {} sessions are indexed", files.len());
    let index = loop {
        sleep(Duration::from_millis(500));
        let index = Index::open(&config, Freshness::AsCommitted)?;
        let status = index.status()?;
        if status.watcher.is_some_and(|w| w.lag_ms.is_some()) && status.outstanding == 0 {
            break index;
        }
    };
    let catalogue = Connection::open(index_dir.join("v5/catalogue.sqlite"))?;
    // One that is neither short nor among the longest.
    let mut session = Session::open(&files[files.len() / 2])?;

    let mut entries =
        catalogue.prepare("SELECT consumed FROM sources WHERE root || '/' || relative = ?1")?;
    let path = session.path.display().to_string();
    let mut least = Pipeline::start(&work.join("pipeline"))?;
    let (mut to_row, mut at_least) = (Vec::new(), Vec::new());
    for number in 0..TIMED {
        at_least.push(least.append(&line(number, "row"))?);
        sleep(PAUSE);
        let (written, size) = session.append(number, "row")?;
        while entries.query_row([&path], |r| r.get::<_, i64>(0))? < size as i64 {}
        to_row.push(written.elapsed());
        sleep(PAUSE);
    }
    // What the same pipeline took where the targets were set says how much longer they are here.
    let here = median(&mut at_least) / THERE_MS;
    let target = |ms: f64| format!("p50 {ms} ms, here {:.2} ms", ms * here);
    let there = format!("none; {THERE_MS} ms where the targets were set");
    report(
        "write() to a row and nothing else, in turn with the next",
        &there,
        &mut at_least,
    );
    report("write() to the row in SQLite", &target(0.5), &mut to_row);

    // Who waits for one word asks for it by the letter; as people ask, a word that is found too
    // seldom is looked for with typos and other endings, and one that could be an id among the ids.
    let exact = SearchScope {
        exact: true,
        ..SearchScope::default()
    };
    for (round, (scope, target, what)) in (1..).zip([
        (exact, &*target(2.0), "search() by the letter"),
        (SearchScope::default(), "none", "search() as people ask"),
    ]) {
        let mut to_hit = Vec::new();
        for number in 0..TIMED {
            let word = word(round * TIMED + number);
            let (written, _) = session.append(round * TIMED + number, &word)?;
            while index.search(&word, &scope)?.total == 0 {}
            to_hit.push(written.elapsed());
            sleep(PAUSE);
        }
        report(
            &format!("write() to the hit of {what}"),
            target,
            &mut to_hit,
        );
    }

    let asked = config.clone();
    let mut to_answer = Vec::new();
    for _ in 0..TIMED {
        to_answer.extend(sessionary::index::caught_up(
            &asked,
            Duration::from_millis(20),
        ));
    }
    let unanswered = TIMED as usize - to_answer.len();
    report(
        &format!("a reader's barrier ({unanswered} of {TIMED} not answered within 20 ms)"),
        "none",
        &mut to_answer,
    );

    wait_until_settled(&index)?;
    let (reads, wakes) = watcher.counters();
    sleep(IDLE);
    let (reads_after, wakes_after) = watcher.counters();
    println!(
        "idle for {} s: {} bytes read, {} wake-ups (target: 0, 0)\n",
        IDLE.as_secs(),
        reads_after - reads,
        wakes_after - wakes
    );

    println!(
        "memory in MB after so many appended lines: RSS, anonymous and of files that are mapped"
    );
    println!("  {:>8}  {}", 0, watcher.memory());
    let started = Instant::now();
    for part in 1..=4 {
        for number in 0..appends / 4 {
            session.append(10_000 + part * appends + number, "filler")?;
        }
        while (catalogue_bytes(&mut entries, &path)?) < session.size {
            sleep(Duration::from_millis(1));
        }
        let rate = f64::from(part * (appends / 4)) / started.elapsed().as_secs_f64();
        wait_until_settled(&index)?;
        println!(
            "  {:>8}  {}  ({rate:.0} lines/s)",
            part * (appends / 4),
            watcher.memory()
        );
    }
    Ok(())
}

/// It goes on from the one before.
fn line(number: u32, word: &str) -> String {
    let said = "some words that are said in answers ".repeat(8);
    let before = number.wrapping_sub(1);
    format!(
        r#"{{"type":"message","id":"b{number:07}","parentId":"b{before:07}","timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{word} {said}","timestamp":1767603601000}}}}"#
    ) + "\n"
}

/// In ms.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// A word of letters that is in no session.
fn word(number: u32) -> String {
    let letters = number.to_string().into_bytes().into_iter();
    let letters = letters.map(|digit| char::from(b'a' + (digit - b'0')));
    format!("qqhit{}", letters.collect::<String>())
}

fn catalogue_bytes(entries: &mut rusqlite::Statement<'_>, path: &str) -> Result<u64> {
    Ok(entries.query_row([path], |r| r.get::<_, i64>(0))? as u64)
}

/// Wait until all words are indexed and what is lazy is done.
fn wait_until_settled(index: &Index) -> Result<()> {
    while index.status()?.outstanding > 0 {
        sleep(Duration::from_millis(200));
    }
    sleep(Duration::from_secs(3));
    Ok(())
}

struct Session {
    path: PathBuf,
    file: File,
    size: u64,
}

impl Session {
    fn open(path: &Path) -> Result<Session> {
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Session {
            path: path.to_path_buf(),
            size: file.metadata()?.len(),
            file,
        })
    }

    /// One line by one write(), as pi writes it: when that began, and how long the file is now.
    fn append(&mut self, number: u32, word: &str) -> Result<(Instant, u64)> {
        let line = line(number, word);
        self.size += line.len() as u64;
        let written = Instant::now();
        self.file.write_all(line.as_bytes())?;
        Ok((written, self.size))
    }
}

struct Watcher(Child);

impl Watcher {
    fn status(&self, name: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{name}", self.0.id())).unwrap_or_default()
    }

    /// Bytes read, and times that any of its threads was woken.
    fn counters(&self) -> (u64, u64) {
        let number = |text: &str, name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse().ok())
                .unwrap_or(0)
        };
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.id()));
        let wakes = threads.into_iter().flatten().flatten().map(|thread| {
            let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            number(&status, "voluntary_ctxt_switches:")
        });
        (number(&self.status("io"), "rchar:"), wakes.sum())
    }

    fn memory(&self) -> String {
        let status = self.status("status");
        let mb = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kb = line.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok());
            kb.unwrap_or(0.0) / 1000.0
        };
        let [all, anonymous, mapped] = ["VmRSS:", "RssAnon:", "RssFile:"].map(mb);
        format!("{all:.1} = {anonymous:.1} + {mapped:.1}")
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn report(what: &str, target: &str, times: &mut [Duration]) {
    const EDGES: [f64; 11] = [
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
        1.0,
        2.0,
        5.0,
        10.0,
        50.0,
        f64::INFINITY,
    ];
    times.sort_unstable();
    let ms = |time: &Duration| time.as_secs_f64() * 1000.0;
    let at = |share: usize| times.get(times.len() * share / 100).map_or(0.0, ms);
    println!(
        "{what}: p50 {:.3} ms, p90 {:.3} ms, p99 {:.3} ms, longest {:.3} ms; target {target}",
        at(50),
        at(90),
        at(99),
        times.last().map_or(0.0, ms)
    );
    let mut from = 0.0;
    for to in EDGES {
        let count = times
            .iter()
            .filter(|time| (from..to).contains(&ms(time)))
            .count();
        if count > 0 {
            let bar = "#".repeat((count * 60).div_ceil(times.len()));
            println!("  {from:>5} to {to:>5} ms  {count:>5}  {bar}");
        }
        from = to;
    }
    println!();
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => drop(fs::copy(entry.path(), to)?),
        }
    }
    Ok(())
}

/// All session files, by length.
fn sessions(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => folders.push(entry.path()),
                false => files.push((entry.metadata()?.len(), entry.path())),
            }
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}
