//! Which operations are measured, and how? Each is a whole process, run several times over one
//! corpus.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

use sessionary::index::SearchScope;
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::Result;
use crate::completing;
use crate::corpus::{self, CorpusSize};
use crate::machine::Machine;
use crate::process::{self, Cost};
use crate::rows::{Row, Unit, median};

/// A few remembered words, which rank sessions as wholes, and the most milliseconds that a search
/// for them may take as a process.
const SEVERAL_WORDS: [(&str, &str, f64); 2] = [
    ("three words", "session await build", 20.0),
    ("the commonest words", "the a to", 40.0),
];

/// Size of the corpus that the floors and targets were set for.
const MEASURED_BYTES: f64 = 1.1135e9;

/// Everything one table needs.
pub struct Run {
    /// The command.
    pub binary: PathBuf,
    /// Whose sessions.
    pub agent: &'static str,
    /// The sessions.
    pub root: PathBuf,
    /// Where the index is made, deleted and made again.
    pub index: PathBuf,
    /// A folder for answers; also the HOME of every process.
    pub work: PathBuf,
    /// What the sessions hold.
    pub written: CorpusSize,
    /// Runs of short operations.
    pub runs: usize,
    /// Runs of operations on a never-indexed corpus.
    pub cold_runs: usize,
    /// Whether pi must be there.
    pub pi: bool,
}

impl Run {
    /// All rows, in the order of the table.
    pub fn all(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        // Whatever is measured first would otherwise pay for the cold disk.
        let (read, split) = self.read_and_split()?;
        let looks_there = match self.written.files {
            few if few < 2_000 => few as f64 / 2_000.0,
            _ => self.by_files(1.0, 18.0),
        };
        let (machine, calibration) =
            Machine::measure(&self.root, &self.work, (read, split), looks_there)?;
        rows.extend(calibration);
        self.never_indexed(machine, &mut rows)?;
        self.cold(machine, &mut rows)?;
        // Again: what follows is measured in milliseconds, and minutes have gone by.
        let (machine, _) = Machine::measure(&self.root, &self.work, (read, split), looks_there)?;
        self.unchanged(machine, &mut rows)?;
        self.append(&mut rows)?;
        self.reading(machine, &mut rows)?;
        completing::completions(self, machine, &mut rows)?;
        self.scans(&mut rows)?;
        self.beside(&mut rows)?;
        self.open_index(&mut rows)?;
        Ok(rows)
    }

    /// The share of the corpus in the one that the targets were set for.
    fn scale(&self) -> f64 {
        self.written.bytes as f64 / MEASURED_BYTES
    }

    /// A figure given for 2,000 and 20,000 sessions, on the line through both; never below the
    /// first.
    fn by_files(&self, few: f64, many: f64) -> f64 {
        few + (many - few) * (self.written.files.saturating_sub(2_000) as f64 / 18_000.0)
    }

    fn never_indexed(&self, machine: Machine, rows: &mut Vec<Row>) -> Result<()> {
        for (name, word, target) in [
            ("rare", corpus::RARE, 1_500.0),
            ("common", corpus::COMMON, 3_000.0),
        ] {
            let mut costs = Vec::new();
            let mut incomplete = false;
            for _ in 0..self.cold_runs {
                self.forget()?;
                let (cost, answer) = self.once(&["search", word, "--json"], &[0])?;
                incomplete |=
                    serde_json::from_slice::<Value>(&fs::read(answer)?)?["complete"] != true;
                costs.push(cost);
            }
            let row = Row::wall(
                format!("first search on a never-indexed corpus, {name} word"),
                900.0 * self.scale(),
                target * self.scale(),
                costs,
            )
            .on(machine.bulk);
            rows.push(if incomplete {
                row.note("the answer says complete: false, so this row is not met")
            } else {
                row
            });
        }
        Ok(())
    }

    fn cold(&self, machine: Machine, rows: &mut Vec<Row>) -> Result<()> {
        let (mut costs, mut catalogue, mut prose, mut all) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.cold_runs {
            self.forget()?;
            let (cost, answer) = self.once(&["sync", "--json"], &[0])?;
            let report = report(&answer)?;
            costs.push(cost);
            catalogue.push(stage(&report, &["discover", "catalogue"])?);
            all.push(stage(&report, &["discover", "catalogue", "words"])?);
            if report["ms"]["prose"].is_number() {
                prose.push(stage(&report, &["discover", "catalogue", "prose"])?);
            }
        }
        let ms = |name: &str, floor: f64, target: f64, figures: Vec<f64>| {
            Row::figure(
                name,
                Unit::Ms,
                floor * self.scale(),
                target * self.scale(),
                median(figures),
            )
            .of(&costs)
            .on(machine.bulk)
        };
        rows.push(ms("cold: list and tree ready", 750.0, 1_200.0, catalogue));
        let prose = ms("cold: conversation text indexed", 4_300.0, 5_000.0, prose);
        rows.push(if prose.measured.is_none() {
            prose.note("the report of sync has no figure for it")
        } else {
            prose
        });
        rows.push(ms("cold: everything indexed", 20_000.0, 20_000.0, all));
        let ratio = folder_bytes(&self.index)? as f64 / self.written.bytes as f64;
        rows.push(Row::figure(
            "index on disk : raw",
            Unit::Ratio,
            0.15,
            0.20,
            Some(ratio),
        ));
        rows.push(peak("peak memory: cold index", 300.0, 350.0, &costs));
        Ok(())
    }

    fn unchanged(&self, machine: Machine, rows: &mut Vec<Row>) -> Result<()> {
        let (costs, answers) = self.repeat(self.runs, &["sync", "--json"], &[0])?;
        let mut check = Vec::new();
        for answer in &answers {
            check.push(stage(
                &serde_json::from_slice::<Value>(answer)?["report"],
                &["discover", "catalogue", "words"],
            )?);
        }
        let (floor, target) = (self.by_files(1.0, 18.0), self.by_files(2.0, 30.0));
        rows.push(
            Row::figure(
                "nothing changed: the check",
                Unit::Ms,
                floor,
                target,
                median(check),
            )
            .of(&costs)
            .on(machine.looks)
            .note("measured is the report's own time; wall ms is the whole process"),
        );
        Ok(())
    }

    /// Appends one line to the largest session, syncs, and takes the line away again.
    fn append(&self, rows: &mut Vec<Row>) -> Result<()> {
        let mut largest: Option<(u64, PathBuf)> = None;
        for path in sessions(&self.root)? {
            let length = path.metadata()?.len();
            if largest.as_ref().is_none_or(|(most, _)| *most < length) {
                largest = Some((length, path));
            }
        }
        let Some((length, path)) = largest else {
            return Err("the corpus is empty".into());
        };
        let modified = path.metadata()?.modified()?;
        let (mut costs, mut read, mut line_bytes) = (Vec::new(), Vec::new(), 0.0);
        for number in 0..self.runs.min(9) {
            let line = corpus::appended_line(number as u32, "appendix");
            line_bytes = line.len() as f64;
            OpenOptions::new()
                .append(true)
                .open(&path)?
                .write_all(line.as_bytes())?;
            let (cost, answer) = self.once(&["sync", "--json"], &[0])?;
            let report = report(&answer)?;
            let bytes = |name: &str| {
                report[name]
                    .as_f64()
                    .ok_or(format!("the report lacks {name}"))
            };
            // A sync reads what grew once more as a whole, in front of nobody: that is no part of
            // the following.
            let size = std::fs::metadata(&path)?.len() as f64;
            read.push(bytes("bytes_read")? + (bytes("proof_bytes")? - size).max(0.0));
            costs.push(cost);
        }
        let (found, _) = self.once(&["search", "appendix", "--json"], &[0, 1])?;
        let file = OpenOptions::new().write(true).open(&path)?;
        file.set_len(length)?;
        file.set_modified(modified)?;
        drop(file);
        self.once(&["sync", "--json"], &[0])?;

        let row = Row::beside("one append: sync process", costs.clone());
        rows.push(if found.code == Some(0) {
            row
        } else {
            row.note("the appended lines were NOT found afterwards")
        });
        rows.push(
            Row::figure(
                "bytes read for one appended line",
                Unit::Bytes,
                line_bytes,
                2.0 * line_bytes + 8192.0,
                median(read),
            )
            .of(&costs)
            .note(format!(
                "appended to a session of {:.1} MB",
                length as f64 / 1e6
            )),
        );
        Ok(())
    }

    fn reading(&self, machine: Machine, rows: &mut Vec<Row>) -> Result<()> {
        let (costs, _) = self.repeat(self.runs, &["list", "--all", "--json"], &[0])?;
        let row = Row::wall(
            "list --all --json",
            self.by_files(4.0, 28.0),
            self.by_files(6.0, 40.0),
            costs.clone(),
        );
        rows.push(row.on(machine.starts));
        rows.push(peak("peak memory: list", 6.0, 10.0, &costs));
        let phrase = format!("\"{}\"", corpus::PHRASE);
        let mut searches = Vec::new();
        for (name, query, floor, target) in [
            ("rare word", corpus::RARE, 2.8, 5.0),
            ("common word", corpus::COMMON, 4.3, 8.0),
            ("phrase", phrase.as_str(), 14.0, 20.0),
        ] {
            let (costs, answers) = self.repeat(self.runs, &["search", query, "--json"], &[0])?;
            let total = match answers.first() {
                Some(answer) => serde_json::from_slice::<Value>(answer)?["total"].as_u64(),
                None => None,
            };
            searches.extend_from_slice(&costs);
            let row = Row::wall(format!("search, {name}"), floor, target, costs).on(machine.starts);
            let expected = (query == corpus::RARE).then_some(self.written.rare_entries);
            rows.push(match (total, expected) {
                (Some(total), Some(expected)) if total != expected => {
                    row.note(format!("WRONG: {total} hits, {expected} were written"))
                }
                (Some(total), _) => row.note(format!("{total} hits")),
                (None, _) => row,
            });
        }
        rows.push(peak("peak memory: search", 28.0, 30.0, &searches));
        for (name, query, target) in SEVERAL_WORDS {
            let words: Vec<&str> = query.split(' ').collect();
            let arguments = [&["search", "--json"], words.as_slice()].concat();
            let (costs, _) = self.repeat(self.runs, &arguments, &[0])?;
            let row = Row::beside(format!("search, {name}: {query}"), costs);
            let measured = row.measured;
            rows.push(row.to(target, measured).on(machine.starts));
        }
        Ok(())
    }

    /// Several words in an index that stays open. Asked last: it makes this process large.
    fn open_index(&self, rows: &mut Vec<Row>) -> Result<()> {
        let root = RootSpec::new(self.agent, self.root.clone());
        let config = Config::new(&self.index, vec![root]);
        let index = Index::open(&config, Freshness::AsCommitted)?;
        for (name, query, _) in SEVERAL_WORDS {
            let scope = SearchScope::default();
            let mut times = Vec::new();
            index.search(query, &scope)?;
            for _ in 0..self.runs {
                let start = Instant::now();
                std::hint::black_box(index.search(query, &scope)?);
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let row = Row::beside(format!("open index, {name}: {query}"), Vec::new());
            let target = (name == "three words").then_some(8.0);
            rows.push(match target {
                Some(target) => row.to(target, median(times)),
                None => Row {
                    measured: median(times),
                    ..row
                },
            });
        }
        Ok(())
    }

    /// Deletes the index.
    pub fn forget(&self) -> Result<()> {
        if self.index.exists() {
            fs::remove_dir_all(&self.index)?;
        }
        Ok(())
    }

    /// Runs the command once; its answer is left in a file, so that this process stays small.
    pub fn once(&self, arguments: &[&str], accepted: &[i32]) -> Result<(Cost, PathBuf)> {
        let (out, err) = (self.work.join("stdout"), self.work.join("stderr"));
        let mut root = std::ffi::OsString::from(format!("{}:", self.agent));
        root.push(&self.root);
        let mut command = Command::new(&self.binary);
        command
            .arg("--index")
            .arg(&self.index)
            .arg("--no-default-roots")
            .arg("--root")
            .arg(root)
            .args(arguments);
        command
            .env("HOME", &self.work)
            .env_remove("SESSIONARY_INDEX_DIR")
            .current_dir(&self.work);
        // A list is measured, not read: a file of megabytes would be measured with it.
        let listed = match arguments.first() {
            Some(&"list") => Stdio::null(),
            _ => File::create(&out)?.into(),
        };
        command
            .stdin(Stdio::null())
            .stdout(listed)
            .stderr(File::create(&err)?);
        let cost = process::run(&mut command)?;
        if !cost.code.is_some_and(|code| accepted.contains(&code)) {
            let talk = fs::read_to_string(&err)?;
            return Err(format!(
                "sessionary {} ended with {:?}\n{talk}",
                arguments.join(" "),
                cost.code
            )
            .into());
        }
        Ok((cost, out))
    }

    /// Runs the command `runs` times after one run that does not count; answers longer than 64 KB
    /// are cut.
    pub fn repeat(
        &self,
        runs: usize,
        arguments: &[&str],
        accepted: &[i32],
    ) -> Result<(Vec<Cost>, Vec<Vec<u8>>)> {
        let (mut costs, mut answers) = (Vec::new(), Vec::new());
        self.once(arguments, accepted)?;
        for _ in 0..runs {
            let (cost, out) = self.once(arguments, accepted)?;
            costs.push(cost);
            if arguments.first() != Some(&"list") {
                answers.push(fs::read(out)?);
            }
        }
        Ok((costs, answers))
    }

    /// Reads all sessions and looks for newlines: bytes, and milliseconds of the fastest of three
    /// runs.
    fn read_and_split(&self) -> Result<(u64, f64)> {
        let paths = sessions(&self.root)?;
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let queue = Mutex::new(paths.iter());
            let read = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads)
                    .map(|_| scope.spawn(|| split(&queue)))
                    .collect();
                workers
                    .into_iter()
                    .map(|worker| worker.join().unwrap_or(Ok(0)))
                    .sum::<std::io::Result<u64>>()
            })?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
            bytes = read;
        }
        Ok((bytes, best))
    }
}

fn split(queue: &Mutex<std::slice::Iter<'_, PathBuf>>) -> std::io::Result<u64> {
    let mut buffer = vec![0; 256 << 10];
    let (mut bytes, mut lines) = (0, 0);
    loop {
        let Some(path) = queue
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .next()
        else {
            break;
        };
        let mut file = File::open(path)?;
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            bytes += length as u64;
            lines += memchr::memchr_iter(b'\n', &buffer[..length]).count();
        }
    }
    std::hint::black_box(lines);
    Ok(bytes)
}

/// The report in an answer of sync, which must be complete.
pub fn report(answer: &Path) -> Result<Value> {
    let mut answer: Value = serde_json::from_reader(BufReader::new(File::open(answer)?))?;
    if answer["complete"] != true {
        return Err(format!("sync was not complete: {answer}").into());
    }
    Ok(answer["report"].take())
}

/// The milliseconds of these stages together.
pub fn stage(report: &Value, stages: &[&str]) -> Result<f64> {
    stages
        .iter()
        .map(|stage| {
            report["ms"][stage]
                .as_f64()
                .ok_or_else(|| format!("the report lacks ms.{stage}").into())
        })
        .sum()
}

/// A row for the largest resident set of any run.
fn peak(name: &str, floor: f64, target: f64, costs: &[Cost]) -> Row {
    let most = costs
        .iter()
        .map(|cost| cost.peak_rss)
        .max()
        .filter(|bytes| *bytes > 0);
    let row = Row::figure(
        name,
        Unit::Mb,
        floor,
        target,
        most.map(|bytes| bytes as f64 / 1e6),
    )
    .of(costs);
    match own_peak() {
        // Before it runs its own program a child counts the memory of its parent.
        Some(own) if most.is_some_and(|most| most <= own) => {
            row.note("this process was as large: the figure is an upper bound")
        }
        _ => row,
    }
}

/// This process's largest resident set.
fn own_peak() -> Option<u64> {
    let status = BufReader::new(File::open("/proc/self/status").ok()?);
    let line = status
        .lines()
        .map_while(std::result::Result::ok)
        .find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

fn sessions(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for folder in fs::read_dir(root)? {
        for file in fs::read_dir(folder?.path())? {
            paths.push(file?.path());
        }
    }
    Ok(paths)
}

pub fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let metadata = entry?.metadata()?;
        if metadata.is_file() {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}
