//! What do other programs do with the same sessions? Each is fetched in a pinned version, asked the
//! same questions by turns, and shown beside this one, also where it is the faster one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::corpus::{self, CorpusSize};
use crate::process::{self, Cost};
use crate::remembered;
use crate::rows::Row;
use crate::run::folder_bytes;

/// Pins: what is fetched, and what the head of the table says.
const FAST_RESUME: &str = "2.14.0";
const CLAUDEX: &str = "0.15.1";
const PI: &str = "0.73.1";
const RIPGREP: &str = "15.2.0";

/// Lists with pi's own code, or looks for a word in the text that it keeps of each session, as a
/// word typed at its `/resume` does.
const PI_SCRIPT: &str = "\
const [, , module, word] = process.argv;
const { SessionManager } = await import(module);
const all = await SessionManager.listAll();
const found = word ? all.filter((one) => one.allMessagesText.toLowerCase().includes(word)) : all;
console.log(JSON.stringify({ total: found.length }));
process.exit(0);
";

/// A program and how it is asked.
struct Peer {
    name: &'static str,
    version: &'static str,
    /// Where it comes from.
    registry: &'static str,
    /// What it reads of a session, and what one of its hits is.
    reads: &'static str,
    /// The words of the command, the program first; or why it could not be fetched.
    command: std::result::Result<Vec<String>, String>,
    /// What it is asked beside a question's word; `None`: it has no such command.
    index: Option<&'static [&'static str]>,
    list: Option<&'static [&'static str]>,
    search: &'static [&'static str],
    /// Where a searched word stands: before these.
    search_after: &'static [&'static str],
    /// What it keeps below the home folder.
    cache: Option<&'static str>,
}

/// What is asked of each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    FirstList,
    Index,
    List,
    Search(&'static str),
}

const QUESTIONS: [(Question, &str); 5] = [
    (Question::FirstList, "list all, nothing indexed"),
    (Question::Index, "index everything"),
    (Question::List, "list all again"),
    (Question::Search(corpus::RARE), "search, a rare word"),
    (Question::Search(corpus::COMMON), "search, a common word"),
];

impl Question {
    /// Whether it begins with nothing indexed.
    fn is_cold(self) -> bool {
        matches!(self, Question::FirstList | Question::Index)
    }
}

/// Fetches, measures and prints. `place` keeps what was fetched; `agent` is pi's folder with the
/// sessions in it.
pub fn table(
    place: &Path,
    work: &Path,
    agent: &Path,
    written: &CorpusSize,
    (runs, cold_runs): (usize, usize),
) -> Result<()> {
    let peers = peers(place, work)?;
    let home = work.join("home");
    fs::create_dir_all(home.join(".pi"))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(agent.canonicalize()?, home.join(".pi/agent"))?;
    #[cfg(not(unix))]
    return Err(format!("--peers needs symbolic links to {}", agent.display()).into());

    println!(
        "{:.1} MB in {} sessions of pi, {} lines; {} user messages hold the rare word. \
         Medians of {cold_runs} runs from nothing and of {runs} others, by turns.\n",
        written.bytes as f64 / 1e6,
        written.files,
        written.lines,
        written.rare_entries
    );
    for peer in &peers {
        let Peer {
            name,
            version,
            registry,
            reads,
            ..
        } = peer;
        println!("{name} {version} ({registry}): {reads}");
        if let Err(why) = &peer.command {
            println!("  NOT FETCHED: {why}");
        }
    }
    println!(
        "\n| {:<25} | {:<11} | {:>8} | {:>8} | {:>8} | {:<21} |\n|{:-<27}|{:-<13}|{:->10}|{:->10}|{:->10}|{:-<23}|",
        "operation", "program", "wall ms", "CPU ms", "peak MB", "found", "", "", ":", ":", ":", ""
    );
    for (question, operation) in QUESTIONS {
        let rounds = if question.is_cold() { cold_runs } else { runs };
        let mut asked: Vec<_> = peers.iter().map(|_| (Vec::new(), String::new())).collect();
        // The first round of a warm question only warms.
        for round in usize::from(question.is_cold())..=rounds {
            for (peer, (costs, found)) in peers.iter().zip(&mut asked) {
                let Some((cost, answer)) = peer.ask(question, &home)? else {
                    continue;
                };
                *found = answer;
                if round > 0 {
                    costs.push(cost);
                }
            }
        }
        for (peer, (costs, found)) in peers.iter().zip(asked) {
            if !found.is_empty() {
                let row = Row::beside(operation, costs);
                println!("{}", line(&row, peer.name, &found));
            }
        }
    }
    println!("\nindex on disk, as a share of the sessions:");
    for peer in &peers {
        let cache = peer.cache.map(|cache| home.join(cache));
        if let Some(cache) = cache.filter(|cache| cache.exists()) {
            let share = folder_bytes(&cache)? as f64 / written.bytes as f64;
            println!("  {:<11} {share:.2}", peer.name);
        }
    }
    Ok(())
}

/// Which of these programs finds the session that somebody remembers a few words of? Asked are
/// those that find sessions.
pub fn remembered(place: &Path, work: &Path) -> Result<()> {
    let home = work.join("remembered");
    let queries = remembered::write(&home.join(".pi/agent/sessions"))?;
    println!(
        "\n{} queries for one session each: mean reciprocal rank / among the first ten\n",
        queries.len()
    );
    let header = remembered::Kind::ALL.map(|kind| format!(" {:<19} |", kind.name()));
    println!("| {:<11} |{}", "program", header.concat());
    println!(
        "|{:-<13}|{}",
        "",
        format!("{:-<21}|", "").repeat(header.len())
    );
    for peer in peers(place, work)? {
        if !matches!(peer.name, "sessionary" | "fast-resume") || peer.command.is_err() {
            continue;
        }
        if peer.index.is_some() {
            peer.ask(Question::Index, &home)?;
        }
        let figures = remembered::measure_by(&queries, |query| peer.sessions(query, &home))?;
        let cells = remembered::Kind::ALL.map(|kind| {
            let figures = figures.get(&kind).copied().unwrap_or_default();
            format!(
                " {:<19} |",
                format!("{:.3} / {:.3}", figures.mrr, figures.top_ten)
            )
        });
        println!("| {:<11} |{}", peer.name, cells.concat());
    }
    Ok(())
}

fn line(row: &Row, program: &str, found: &str) -> String {
    let whole =
        |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.0}"));
    let tenths = |figure: Option<f64>| match figure {
        Some(figure) if figure < 100.0 => format!("{figure:.1}"),
        figure => whole(figure),
    };
    format!(
        "| {:<25} | {program:<11} | {:>8} | {:>8} | {:>8} | {found:<21} |",
        row.operation,
        tenths(row.wall_ms()),
        tenths(row.cpu_ms()),
        whole(row.rss_mb()),
    )
}

impl Peer {
    /// One answer: what it cost, and what was found. `None`: it was not fetched, or has no such
    /// command.
    fn ask(&self, question: Question, home: &Path) -> Result<Option<(Cost, String)>> {
        let Ok([program, fixed @ ..]) = self.command.as_deref() else {
            return Ok(None);
        };
        let arguments = match question {
            // What keeps no index has nothing to begin with.
            Question::FirstList if self.cache.is_none() => return Ok(None),
            Question::FirstList | Question::List => self.list,
            Question::Index => self.index,
            Question::Search(_) => Some(self.search),
        };
        let Some(arguments) = arguments else {
            return Ok(None);
        };
        if question.is_cold()
            && let Some(cache) = self.cache.map(|cache| home.join(cache))
            && cache.exists()
        {
            fs::remove_dir_all(cache)?;
        }
        let (out, err) = (home.join("stdout"), home.join("stderr"));
        let mut command = Command::new(program);
        command.args(fixed).args(arguments);
        if let Question::Search(word) = question {
            command.arg(word).args(self.search_after);
        }
        command
            .env_clear()
            .env("HOME", home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        let cost = process::run(&mut command)?;
        let found = match cost.code {
            Some(0) if question == Question::Index => "-".to_owned(),
            Some(0) => match (total_of(&fs::read(&out)?), question) {
                (Some(0), _) => "nothing".to_owned(),
                (Some(number), Question::Search(_)) => format!("{number} {}", self.hits()),
                (Some(number), _) => format!("{number} sessions"),
                (None, _) => "?".to_owned(),
            },
            code => format!("exit {code:?}: {}", last_line(&fs::read(&err)?)),
        };
        Ok(Some((cost, found)))
    }

    /// The sessions that it finds, the best first.
    fn sessions(&self, query: &str, home: &Path) -> Result<Vec<String>> {
        let Ok([program, fixed @ ..]) = self.command.as_deref() else {
            return Ok(Vec::new());
        };
        let output = Command::new(program)
            .args(fixed)
            .args(self.search)
            .arg("--")
            .arg(query)
            .env_clear()
            .env("HOME", home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(home)
            .stdin(Stdio::null())
            .output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let sessions = answer["sessions"].as_array().into_iter().flatten();
        let ids = sessions.filter_map(|one| one["id"].as_str().or(one["session"]["id"].as_str()));
        Ok(ids.map(str::to_owned).collect())
    }

    /// What its hits are.
    fn hits(&self) -> &'static str {
        self.reads.rsplit(' ').next().unwrap_or("hits")
    }
}

/// How many an answer says it has: by its own total, by the length of its list, or, of lines that
/// end in `:number`, by their sum.
fn total_of(answer: &[u8]) -> Option<u64> {
    let Ok(json) = serde_json::from_slice::<Value>(answer) else {
        let text = std::str::from_utf8(answer).ok()?;
        let counts = text
            .lines()
            .map(|line| line.rsplit(':').next()?.parse::<u64>().ok());
        return counts.sum();
    };
    let total = json["total"].as_u64().or(json["meta"]["total"].as_u64());
    let list = || json.as_array().or(json["sessions"].as_array());
    total.or_else(|| list().map(|list| list.len() as u64))
}

/// All programs, fetched or not.
fn peers(place: &Path, work: &Path) -> Result<Vec<Peer>> {
    let script = work.join("pi.mjs");
    fs::write(&script, PI_SCRIPT)?;
    let word = |path: PathBuf| path.display().to_string();
    let pi_folder = place.join("pi");
    let pi_module =
        pi_folder.join("node_modules/@mariozechner/pi-coding-agent/dist/core/session-manager.js");
    let (fast_resume, claudex) = (place.join("fast-resume"), place.join("claudex"));
    let ripgrep = place.join("ripgrep");
    Ok(vec![
        Peer {
            name: "sessionary",
            version: env!("CARGO_PKG_VERSION"),
            registry: "this one",
            reads: "every kind of entry; hits are entries",
            command: Ok(vec![env!("CARGO_BIN_EXE_sessionary").to_owned()]),
            index: Some(&["sync"]),
            list: Some(&["list", "--all", "--json"]),
            search: &["search", "--json"],
            search_after: &[],
            cache: Some(".cache/sessionary"),
        },
        Peer {
            name: "fast-resume",
            version: FAST_RESUME,
            registry: "PyPI",
            reads: "what user and assistant said, no tool output; hits are sessions",
            command: cached_file(&fast_resume.join("bin/fr"), || {
                run(Command::new("python3")
                    .args(["-m", "venv"])
                    .arg(&fast_resume))?;
                let pip = fast_resume.join("bin/pip");
                let package = format!("fast-resume=={FAST_RESUME}");
                run(Command::new(pip).args(["install", "--quiet", &package]))
            })
            .map(|program| vec![word(program)]),
            // Its list makes it.
            index: None,
            list: Some(&["--json", "--all"]),
            search: &["--json", "--all"],
            search_after: &[],
            cache: Some(".cache/fast-resume"),
        },
        Peer {
            name: "claudex",
            version: CLAUDEX,
            registry: "crates.io: claudex-cli",
            reads: "what user and assistant said, no tool output; hits are messages",
            command: cached_file(&claudex.join("bin/claudex"), || {
                install("claudex-cli", CLAUDEX, &claudex)
            })
            .map(|program| vec![word(program)]),
            index: Some(&["index"]),
            list: Some(&["sessions", "--json", "--limit", "1000000"]),
            search: &["search", "--json", "--limit", "1000000"],
            search_after: &[],
            cache: Some(".claudex"),
        },
        Peer {
            name: "pi",
            version: PI,
            registry: "npm: @mariozechner/pi-coding-agent",
            reads: "every file each time; searched is what user and assistant said; hits are sessions",
            command: cached_file(&pi_module, || {
                let package = format!("@mariozechner/pi-coding-agent@{PI}");
                run(Command::new("npm")
                    .args([
                        "install",
                        "--ignore-scripts",
                        "--omit=optional",
                        "--no-audit",
                    ])
                    .args(["--no-fund", "--loglevel=error", "--prefix"])
                    .arg(&pi_folder)
                    .arg(package))
            })
            .map(|module| vec!["node".to_owned(), word(script), word(module)]),
            index: None,
            list: Some(&[]),
            search: &[],
            search_after: &[],
            cache: None,
        },
        Peer {
            name: "ripgrep",
            version: RIPGREP,
            registry: "crates.io",
            reads: "every byte each time, as JSON has it; knows no sessions; hits are lines",
            command: cached_file(&ripgrep.join("bin/rg"), || {
                install("ripgrep", RIPGREP, &ripgrep)
            })
            .map(|program| vec![word(program)]),
            index: None,
            list: None,
            search: &[
                "--no-config",
                "--hidden",
                "--with-filename",
                "-c",
                "-i",
                "-F",
            ],
            search_after: &[".pi/agent/sessions/"],
            cache: None,
        },
    ])
}

/// The file that fetching leaves, where it is there already or can be had.
fn cached_file(
    file: &Path,
    fetch: impl FnOnce() -> std::result::Result<(), String>,
) -> std::result::Result<PathBuf, String> {
    if !file.exists() {
        eprintln!("fetching {}", file.display());
        fetch()?;
    }
    match file.exists() {
        true => Ok(file.to_path_buf()),
        false => Err(format!("it left no {}", file.display())),
    }
}

/// Builds a program of crates.io with the dependencies that it was released with.
fn install(package: &str, version: &str, place: &Path) -> std::result::Result<(), String> {
    run(Command::new("cargo")
        .args([
            "install",
            "--quiet",
            "--locked",
            package,
            "--version",
            version,
        ])
        .args(["--target-dir".as_ref(), place.join("target").as_os_str()])
        .args(["--root".as_ref(), place.as_os_str()]))?;
    // Only the program is kept.
    fs::remove_dir_all(place.join("target")).map_err(|error| error.to_string())
}

/// Runs to the end; an error is the last thing that it said.
fn run(command: &mut Command) -> std::result::Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let program = command.get_program().display();
    match output {
        Err(error) => Err(format!("{program}: {error}")),
        Ok(output) if !output.status.success() => Err(last_line(&output.stderr)),
        Ok(_) => Ok(()),
    }
}

fn last_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    last.unwrap_or("it does not say why").trim().to_owned()
}
