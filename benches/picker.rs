//! How long does somebody wait at the picker? The real program in a terminal of its own: from its
//! start to the first frame, and from each key to the frame that answers it.
//!
//! Queries are typed letter by letter, with human pauses. A key is answered when nothing more is
//! drawn for [`QUIET`]: what counts is when the last of it was drawn.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::Result;

/// Nothing more is drawn for a key after so long a silence.
pub const QUIET: Duration = Duration::from_millis(150);
/// A program that draws nothing for so long will draw nothing.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// What is drawn of a list is more than this; what comes before it is less.
const FRAME_BYTES: usize = 1000;
/// The index is read and watched by then.
pub const SETTLED: Duration = Duration::from_secs(2);
/// How long idleness is watched.
const IDLE: Duration = Duration::from_secs(10);
/// Sessions whose words are typed.
const SESSIONS: usize = 10;
/// So many of the keys that take longest are named.
const SLOWEST: usize = 8;
/// So narrow that there is a list alone, and so wide that there is a preview beside it.
const WIDTHS: [(u16, &str); 2] = [(58, "list alone"), (120, "list and preview")];

/// A program to be typed into.
pub struct Typist<'a> {
    pub name: &'a str,
    pub command: &'a dyn Fn() -> Command,
    /// What empties its query line.
    pub clear: &'a str,
    /// What ends it.
    pub leave: &'a str,
}

/// This program over the sessions in a folder.
pub struct Picker<'a> {
    pub binary: &'a Path,
    pub sessions: &'a Path,
    /// The index is made here; also the HOME of the process.
    pub work: &'a Path,
}

impl Picker<'_> {
    pub fn command(&self, verb: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        let root = format!("pi:{}", self.sessions.display());
        command.args(["--no-default-roots", "--root", &root]);
        command.arg("--index").arg(self.work.join("index"));
        command.args(verb).env("HOME", self.work);
        command
    }

    pub fn index(&self) -> Result<()> {
        let mut sync = self.command(&["sync"]);
        let synced = sync.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        match synced.success() {
            true => Ok(()),
            false => Err("the corpus cannot be indexed".into()),
        }
    }
}

/// Measures this program over the sessions in `corpus`, indexed before, and `others` in the same
/// terminal.
pub fn measure(binary: &Path, corpus: &Path, work: &Path, others: &[Typist<'_>]) -> Result<()> {
    let picker = Picker {
        binary,
        sessions: corpus,
        work,
    };
    picker.index()?;
    let queries = queries(corpus)?;
    let keys: usize = queries.iter().map(|query| query.chars().count()).sum();
    println!("{} queries, {keys} keys; milliseconds\n", queries.len());
    println!(
        "{:<34} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "first", "median", "p90", "p99", "max"
    );
    let own = Typist {
        name: "sessionary",
        command: &|| picker.command(&[]),
        clear: "\u{15}",
        leave: "\u{1b}",
    };
    for (width, what) in WIDTHS {
        for typist in std::iter::once(&own).chain(others) {
            let name = format!("{}, {what}", typist.name);
            line(&name, &type_all(typist, width, &queries)?);
        }
    }
    idle(&own)
}

/// What was measured of one program, in milliseconds.
pub struct Waits {
    pub first: f64,
    /// Of each key: what was typed up to it.
    pub keys: Vec<(String, f64)>,
}

/// Prints a row of the table.
pub fn line(name: &str, waits: &Waits) {
    let mut keys: Vec<&(String, f64)> = waits.keys.iter().collect();
    keys.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let at = |part: f64| keys[((keys.len() - 1) as f64 * part) as usize].1;
    let [median, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(at);
    println!(
        "{name:<34} {:>8.1} {median:>8.1} {p90:>8.1} {p99:>8.1} {max:>8.1}",
        waits.first
    );
    let slowest = keys.iter().rev().take(SLOWEST);
    let slowest: Vec<String> = slowest
        .map(|(typed, ms)| format!("`{typed}` {ms:.1}"))
        .collect();
    println!("    slowest: {}", slowest.join(", "));
}

/// Types all prefixes of all queries.
pub fn type_all(typist: &Typist<'_>, width: u16, queries: &[String]) -> Result<Waits> {
    let mut terminal = Terminal::open(width, 40)?;
    let begun = Instant::now();
    let mut program = terminal.start((typist.command)())?;
    let first = ms(terminal.first_frame()? - begun);
    sleep(SETTLED);
    terminal.answered(QUIET)?;
    let mut keys = Vec::new();
    for query in queries {
        for (at, letter) in query.char_indices() {
            let typed = Instant::now();
            terminal.type_in(&letter.to_string())?;
            let answered = terminal.answered(QUIET)?;
            let so_far = &query[..at + letter.len_utf8()];
            keys.extend(answered.map(|at| (so_far.to_owned(), ms(at - typed))));
        }
        terminal.type_in(typist.clear)?;
        terminal.answered(QUIET)?;
    }
    terminal.type_in(typist.leave)?;
    terminal.answered(QUIET)?;
    let _ = program.kill();
    program.wait()?;
    Ok(Waits { first, keys })
}

/// What it takes while nothing happens, and how much memory it has then.
fn idle(typist: &Typist<'_>) -> Result<()> {
    let mut terminal = Terminal::open(120, 40)?;
    let mut program = terminal.start((typist.command)())?;
    sleep(SETTLED);
    for letter in "error in the".chars() {
        terminal.type_in(&letter.to_string())?;
        terminal.answered(QUIET)?;
    }
    // `setsid` has become the program.
    let id = program.id();
    let before = ticks(id)?;
    sleep(IDLE);
    let after = ticks(id)?;
    println!(
        "\nidle for {} s: {} ms of CPU; {:.1} MB of memory are its own",
        IDLE.as_secs(),
        (after - before) * 10,
        private(id)? as f64 / 1e6
    );
    let _ = program.kill();
    program.wait()?;
    Ok(())
}

/// Clock ticks of computing.
fn ticks(id: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let (_, rest) = stat.rsplit_once(") ").ok_or("a process")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}

/// Bytes of memory that it alone has written to.
fn private(id: u32) -> Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
    let line = rollup
        .lines()
        .find(|line| line.starts_with("Private_Dirty:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kib.ok_or("its memory")?.parse::<u64>()? * 1024)
}

pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What is typed: words that people wrote, camelCase and typos of them, open quotes, single
/// letters.
pub fn queries(corpus: &Path) -> Result<Vec<String>> {
    let mut files = sessions(corpus)?;
    files.sort();
    let step = (files.len() / SESSIONS).max(1);
    let mut queries = Vec::new();
    for (number, file) in files.iter().step_by(step).take(SESSIONS).enumerate() {
        let words = words(file)?;
        let [one, two, three] = &words[..] else {
            continue;
        };
        queries.push(match number % 5 {
            0 => format!("{one} {two} {three}"),
            1 => format!("{one} {two}"),
            2 => format!("\"{one} {two}"),
            3 => {
                let (head, tail) = two.split_at(two.len() / 2);
                format!("{one} {head}{}", tail.get(1..).unwrap_or_default())
            }
            _ => {
                let mut letters = two.chars();
                let capital = letters.next().map(|c| c.to_ascii_uppercase());
                format!("{one}{}{}", capital.unwrap_or_default(), letters.as_str())
            }
        });
    }
    queries.extend(["the error", "e", "(const", "role:user fn"].map(str::to_owned));
    Ok(queries)
}

/// Three words of the first thing that its person wrote, of four letters and more.
fn words(file: &Path) -> Result<Vec<String>> {
    for line in BufReader::new(File::open(file)?).lines() {
        let entry: Value = serde_json::from_str(&line?)?;
        let message = &entry["message"];
        if message["role"] != "user" {
            continue;
        }
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            pieces => pieces[0]["text"].as_str().unwrap_or_default().to_owned(),
        };
        let words = text.split(|c: char| !c.is_ascii_lowercase());
        let words: BTreeSet<&str> = words.filter(|word| word.len() > 3).collect();
        if words.len() >= 3 {
            return Ok(words.into_iter().take(3).map(str::to_owned).collect());
        }
    }
    Ok(Vec::new())
}

fn sessions(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for project in fs::read_dir(folder)? {
        for file in fs::read_dir(project?.path())? {
            files.push(file?.path());
        }
    }
    Ok(files)
}

/// A terminal of a program's own.
pub struct Terminal {
    master: File,
    slave: std::os::fd::OwnedFd,
    /// All that was written to it.
    pub written: Vec<u8>,
}

impl Terminal {
    pub fn open(columns: u16, rows: u16) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let slave = ioctl_tiocgptpeer(&master, flags)?;
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size)?;
        Ok(Self {
            master: File::from(master),
            slave,
            written: Vec::new(),
        })
    }

    /// Starts a program that the terminal belongs to.
    pub fn start(&self, command: Command) -> Result<Child> {
        let stream = || self.slave.try_clone().map(Stdio::from);
        let mut program = Command::new("setsid");
        program.arg("--ctty").arg(command.get_program());
        program.args(command.get_args());
        let variables = command.get_envs();
        program.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        program.env("TERM", "xterm-256color");
        program.stdin(stream()?).stdout(stream()?).stderr(stream()?);
        Ok(program.spawn()?)
    }

    pub fn type_in(&mut self, keys: &str) -> Result<()> {
        Ok(self.master.write_all(keys.as_bytes())?)
    }

    /// When there was more on the screen than what makes it ready to be drawn on.
    pub fn first_frame(&mut self) -> Result<Instant> {
        loop {
            let at = self.read(PATIENCE)?.ok_or("nothing is drawn")?;
            if self.written.len() >= FRAME_BYTES {
                return Ok(at);
            }
        }
    }

    /// Reads until nothing has come for so long: when the last of it came.
    pub fn answered(&mut self, quiet: Duration) -> Result<Option<Instant>> {
        let mut last = None;
        while let Some(at) = self.read(quiet)? {
            last = Some(at);
        }
        Ok(last)
    }

    /// Reads what is written next, within so long: when it came.
    pub fn read(&mut self, patience: Duration) -> Result<Option<Instant>> {
        let timeout = Timespec::try_from(patience)?;
        let mut waited = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut waited, Some(&timeout))? == 0 {
            return Ok(None);
        }
        let mut some = [0; 65536];
        // A terminal that nobody has open any more cannot be read.
        let Ok(length @ 1..) = self.master.read(&mut some) else {
            return Ok(None);
        };
        let at = Instant::now();
        self.written.extend_from_slice(&some[..length]);
        self.answer_questions(&some[..length])?;
        Ok(Some(at))
    }

    /// Programs ask where the cursor is, and what the terminal is.
    fn answer_questions(&mut self, written: &[u8]) -> Result<()> {
        let asks = |question: &[u8]| written.windows(question.len()).any(|part| part == question);
        if asks(b"\x1b[6n") {
            self.type_in("\u{1b}[1;1R")?;
        }
        if asks(b"\x1b[c") {
            self.type_in("\u{1b}[?62;c")?;
        }
        Ok(())
    }
}
