//! Does the command reach its targets? Builds a corpus, runs whole processes over it and prints one
//! table.
//!
//! `cargo bench -- --help` lists the options; docs/performance.md explains the rows.

mod beside;
mod completing;
mod corpus;
mod documents;
mod machine;
mod peers;
#[cfg(target_os = "linux")]
mod picker;
#[cfg(target_os = "linux")]
mod picker_sizes;
mod pipeline;
mod process;
mod relevance;
mod remembered;
mod rows;
mod run;
mod session;
mod watching;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use rows::Row;
use run::Run;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const HELP: &str = "\
cargo bench -- [--size 100MB] [--files N] [--seed N] [--runs N] [--cold-runs N] [--keep DIR] [--pi] [--json] [--only-corpus] [--documents N] [--relevance] [--session] [--peers] [--picker [--large]] [--watch [--appends N]]

  --size SIZE      bytes of all sessions together: 10MB to 5GB (default 100MB)
  --files N        number of sessions (default: a mean of 557 KB each)
  --seed N         other seeds give other sessions (default 1)
  --runs N         runs of each short operation (default 21)
  --cold-runs N    runs of each operation on a never-indexed corpus (default 3, above 2 GB 1)
  --keep DIR       put corpora and index there and leave them (default: corpora stay in the temporary folder, the index goes)
  --pi             fail when pi's listAll cannot be run beside (it is run whenever Node and tests/oracle/node_modules are there)
  --json           print the table as JSON
  --only-corpus    write the corpus, print what is in it, measure nothing
  --documents N    sessions of many small files instead, as agentuse leaves them: N files, such as 100000
  --relevance      ask the judged queries instead: nDCG@10, MRR, and how far index and overlay agree
  --session        open, context, append and memory of single sessions, beside pi; --size is that of the large one (default 200MB)
  --peers          ask other programs the same beside this one: fast-resume, claudex, pi and ripgrep, fetched in pinned versions
  --picker         type into the picker, in a terminal of its own, beside fast-resume where --peers has fetched it (Linux)
  --large          with --picker: also 4,000 and 100,000 sessions (1.2 GB), and one session of 100 MB
  --watch          measure a live watcher instead: write to row, write to hit, idleness, memory
  --appends N      lines appended for the figure of memory (default 20000)";

struct Options {
    size: Option<u64>,
    files: usize,
    seed: u64,
    runs: usize,
    cold_runs: usize,
    keep: Option<PathBuf>,
    pi: bool,
    json: bool,
    only_corpus: bool,
    relevance: bool,
    session: bool,
    peers: bool,
    picker: bool,
    large: bool,
    /// Internal: this process opens that session, and is measured.
    session_in: Option<PathBuf>,
    documents: usize,
    watch: bool,
    appends: u32,
    /// Internal: this process only writes the corpus, so that the memory it takes is not the
    /// measuring process's.
    write_into: Option<PathBuf>,
}

impl Options {
    /// Of all sessions together.
    fn bytes(&self) -> u64 {
        self.size.unwrap_or(100_000_000)
    }
}

fn main() -> ExitCode {
    match options().and_then(|options| options.map_or(Ok(()), |options| bench(&options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Option<Options>> {
    let mut options = Options {
        size: None,
        files: 0,
        seed: 1,
        runs: 21,
        cold_runs: 0,
        keep: None,
        pi: false,
        json: false,
        only_corpus: false,
        relevance: false,
        session: false,
        peers: false,
        picker: false,
        large: false,
        session_in: None,
        documents: 0,
        watch: false,
        appends: 20_000,
        write_into: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} wants a value"))
        };
        match argument.as_str() {
            // cargo bench adds it.
            "--bench" => {}
            "--size" => options.size = Some(size(&value()?)?),
            "--files" => options.files = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--runs" => options.runs = value()?.parse::<usize>()?.max(1),
            "--cold-runs" => options.cold_runs = value()?.parse::<usize>()?.max(1),
            "--keep" => options.keep = Some(value()?.into()),
            "--write-into" => options.write_into = Some(value()?.into()),
            "--pi" => options.pi = true,
            "--json" => options.json = true,
            "--only-corpus" => options.only_corpus = true,
            "--documents" => options.documents = value()?.parse()?,
            "--relevance" => options.relevance = true,
            "--peers" => options.peers = true,
            "--picker" => options.picker = true,
            "--large" => options.large = true,
            "--session" => options.session = true,
            "--session-in" => options.session_in = Some(value()?.into()),
            "--watch" => options.watch = true,
            "--appends" => options.appends = value()?.parse()?,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(None);
            }
            other => return Err(format!("unknown argument {other}\n{HELP}").into()),
        }
    }
    if options.cold_runs == 0 {
        options.cold_runs = if options.bytes() > 2_000_000_000 {
            1
        } else {
            3
        };
    }
    Ok(Some(options))
}

fn size(text: &str) -> Result<u64> {
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &upper[digits.len()..] {
        "" | "B" => 1.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return Err(format!("{text}: a size is a number with KB, MB or GB").into()),
    };
    Ok((digits.trim().parse::<f64>()? * unit) as u64)
}

fn bench(options: &Options) -> Result<()> {
    if let Some(path) = &options.session_in {
        return session::inside(path);
    }
    if options.session {
        let home = home(options);
        fs::create_dir_all(&home)?;
        let large = options.size.unwrap_or(200_000_000);
        let rows = session::rows(&home, large, options.runs, options.pi)?;
        if options.json {
            let rows: Vec<Value> = rows.iter().map(Row::json).collect();
            println!(
                "{}",
                serde_json::to_string_pretty(&json!({ "rows": rows }))?
            );
        } else {
            rows::print(&rows);
        }
        return Ok(());
    }
    if options.relevance {
        return judge();
    }
    if options.documents > 0 {
        return many_files(options);
    }
    let spec = corpus::Spec {
        bytes: options.bytes(),
        files: options.files,
        seed: options.seed,
    };
    if let Some(root) = &options.write_into {
        let written = corpus::write(root, spec)?;
        println!(
            "{}",
            json!({"bytes": written.bytes, "files": written.files, "lines": written.lines,
                   "rare_entries": written.rare_entries, "shares": written.shares})
        );
        return Ok(());
    }
    let home = home(options);
    let (corpus, written) = build_or_reuse(&home, spec)?;
    if options.only_corpus {
        println!("{}", corpus.join("agent/sessions").display());
        for ((name, wanted), bytes) in corpus::SHARES.iter().zip(written.shares) {
            println!(
                "{name:>15}: {:5.1} % of the bytes, {:4.1} % in the measured corpus",
                bytes as f64 / written.bytes as f64 * 100.0,
                wanted * 100.0
            );
        }
        return Ok(());
    }
    let work = tempfile::Builder::new().prefix("run-").tempdir_in(&home)?;
    if options.peers {
        peers::remembered(&home.join("peers"), work.path())?;
        return peers::table(
            &home.join("peers"),
            work.path(),
            &corpus.join("agent"),
            &written,
            (options.runs, options.cold_runs),
        );
    }
    if options.picker {
        return type_into_picker(options, &home, &corpus, work.path());
    }
    if options.watch {
        return watching::measure(
            env!("CARGO_BIN_EXE_sessionary").as_ref(),
            &corpus.join("agent/sessions"),
            work.path(),
            options.appends,
        );
    }
    let run = Run {
        binary: env!("CARGO_BIN_EXE_sessionary").into(),
        agent: "pi",
        root: corpus.join("agent/sessions"),
        index: if options.keep.is_some() {
            home.join("index")
        } else {
            work.path().join("index")
        },
        work: work.path().to_owned(),
        written,
        runs: options.runs,
        cold_runs: options.cold_runs,
        pi: options.pi,
    };
    let rows = run.all()?;
    if options.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let corpus = json!({"bytes": run.written.bytes, "files": run.written.files, "lines": run.written.lines, "seed": options.seed});
        println!(
            "{}",
            serde_json::to_string_pretty(&json!({"corpus": corpus, "rows": rows}))?
        );
    } else {
        println!(
            "{:.1} MB in {} sessions, {} lines, seed {}; floors and targets per GB are scaled from 1113.5 MB\n",
            run.written.bytes as f64 / 1e6,
            run.written.files,
            run.written.lines,
            options.seed
        );
        rows::print(&rows);
    }
    Ok(())
}

/// Types into the picker, and into fast-resume where it is there.
#[cfg(target_os = "linux")]
fn type_into_picker(options: &Options, home: &Path, corpus: &Path, work: &Path) -> Result<()> {
    let program = home.join("peers/fast-resume/bin/fr");
    let fast_resume = picker::Typist {
        name: "fast-resume",
        command: &|| {
            let mut command = Command::new(&program);
            command.env("HOME", work);
            command
        },
        clear: "\u{15}",
        leave: "\u{1b}",
    };
    let sessions = corpus.join("agent/sessions");
    let mut others = Vec::new();
    if program.exists() {
        // It reads pi's usual place.
        let place = work.join(".pi/agent");
        fs::create_dir_all(&place)?;
        std::os::unix::fs::symlink(&sessions, place.join("sessions"))?;
        // Its list makes its index.
        let made = (fast_resume.command)()
            .args(["--json", "--all"])
            .stdout(Stdio::null())
            .status()?;
        if !made.success() {
            return Err("fast-resume cannot index the corpus".into());
        }
        others.push(fast_resume);
    } else {
        println!("fast-resume is not there: `cargo bench -- --peers` fetches it");
    }
    let binary = env!("CARGO_BIN_EXE_sessionary").as_ref();
    picker::measure(binary, &sessions, work, &others)?;
    if options.large {
        picker_sizes::measure(binary, work, &|bytes, files| {
            let seed = options.seed;
            let spec = corpus::Spec { bytes, files, seed };
            let (corpus, _) = build_or_reuse(home, spec)?;
            Ok(corpus.join("agent/sessions"))
        })?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn type_into_picker(_: &Options, _: &Path, _: &Path, _: &Path) -> Result<()> {
    Err("the picker is measured on Linux only".into())
}

/// Where corpora are kept.
fn home(options: &Options) -> PathBuf {
    let usual = || std::env::temp_dir().join("sessionary-bench");
    options.keep.clone().unwrap_or_else(usual)
}

/// Measures sessions of many files.
fn many_files(options: &Options) -> Result<()> {
    let home = home(options);
    let root = home.join(format!("documents-{}", options.documents));
    let marker = home.join(format!("documents-{}.json", options.documents));
    if !marker.exists() {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let files = documents::write(&root, options.documents)?;
        fs::write(&marker, files.to_string())?;
    }
    let files = fs::read_to_string(&marker)?.trim().parse()?;
    let work = tempfile::Builder::new().prefix("run-").tempdir_in(&home)?;
    let run = Run {
        binary: env!("CARGO_BIN_EXE_sessionary").into(),
        agent: "agentuse",
        root,
        index: work.path().join("index"),
        work: work.path().to_owned(),
        written: corpus::CorpusSize::default(),
        runs: options.runs,
        cold_runs: options.cold_runs,
        pi: false,
    };
    println!("{files} files as agentuse leaves them\n");
    rows::print(&documents::rows(&run, files)?);
    Ok(())
}

/// Asks the judged queries with nothing indexed and with everything.
fn judge() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let sessions = folder.path().join("sessions");
    relevance::write(&sessions)?;
    let config = |name: &str| {
        let root = sessionary::RootSpec::new("pi", sessions.clone());
        sessionary::Config::new(folder.path().join(name), vec![root])
    };
    let states = relevance::States::make(&sessions, config)?;
    for (state, index) in [
        ("overlay", &states.nothing),
        ("95 %", &states.nearly_all),
        ("index", &states.all),
    ] {
        let mut late = Vec::new();
        let figures = relevance::measure(index, |query, _| late.push(query.to_owned()))?;
        println!(
            "{state:>8}: {} queries, nDCG@10 {:.3}, MRR {:.3}; not first: {}",
            figures.queries,
            figures.ndcg,
            figures.mrr,
            late.join(" · ")
        );
    }
    let agreement = relevance::agreement(&states.nearly_all, &states.all)?;
    println!(
        "the last two agree on {:.1} % of the first 20 hits",
        agreement * 100.0
    );
    let folder = tempfile::tempdir()?;
    let sessions = folder.path().join("sessions");
    let queries = remembered::write(&sessions)?;
    let root = sessionary::RootSpec::new("pi", sessions);
    let config = sessionary::Config::new(folder.path().join("index"), vec![root]);
    sessionary::Indexer::open(&config)?.sync()?;
    let index = sessionary::Index::open(&config, sessionary::Freshness::AsCommitted)?;
    for (kind, figures) in remembered::measure(&index, &queries)? {
        println!(
            "{kind:?}: {} queries, MRR {:.3}, {:.0} % among the first ten",
            figures.queries,
            figures.mrr,
            figures.top_ten * 100.0
        );
    }
    Ok(())
}

/// Writes the corpus unless a whole one of the same arguments is there.
fn build_or_reuse(home: &Path, spec: corpus::Spec) -> Result<(PathBuf, corpus::CorpusSize)> {
    let corpus::Spec { bytes, files, seed } = spec;
    let name = format!("corpus-{bytes}-{files}-{seed}-r{}", corpus::REVISION);
    let corpus = home.join(name);
    let marker = corpus.join("written.json");
    if !marker.exists() {
        if corpus.exists() {
            fs::remove_dir_all(&corpus)?;
        }
        let root = corpus.join("agent/sessions");
        fs::create_dir_all(&root)?;
        let start = Instant::now();
        let arguments = [
            ("--size", bytes),
            ("--files", files as u64),
            ("--seed", seed),
        ];
        let mut writer = Command::new(std::env::current_exe()?);
        for (name, value) in arguments {
            writer.arg(name).arg(value.to_string());
        }
        let output = writer
            .arg("--write-into")
            .arg(&root)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err("the corpus could not be written".into());
        }
        fs::write(&marker, &output.stdout)?;
        eprintln!("corpus written in {:.1} s", start.elapsed().as_secs_f64());
    }
    let marker: Value = serde_json::from_slice(&fs::read(&marker)?)?;
    let count = |name: &str| {
        marker[name]
            .as_u64()
            .ok_or(format!("the corpus's written.json lacks {name}"))
    };
    let mut shares = [0; 7];
    for (share, value) in shares
        .iter_mut()
        .zip(marker["shares"].as_array().into_iter().flatten())
    {
        *share = value.as_u64().unwrap_or(0);
    }
    let written = corpus::CorpusSize {
        bytes: count("bytes")?,
        files: count("files")? as usize,
        lines: count("lines")?,
        rare_entries: count("rare_entries")?,
        shares,
    };
    Ok((corpus, written))
}
