//! Is every answer one that a session gave at some moment while it was read? Sessions are appended
//! to, cut, rewritten and renamed over while they are read, and other processes rebuild and remove
//! the index. Each answer is held against a log of the states that the file was in.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sessionary::index::{ListScope, SearchScope, ShowScope, TreeFilter};
use sessionary::{Config, Error, Freshness, Index, Indexer};

use crate::sandbox::Sandbox;

/// Answers of each kind: in `.ci/long` some ten thousand.
fn reads() -> usize {
    let reads = std::env::var("SESSIONARY_READS").ok();
    reads.and_then(|reads| reads.parse().ok()).unwrap_or(150)
}

/// Ids and texts of the entries in the file, in order.
type State = Vec<(String, String)>;

/// What the file said, state by state. One is begun before it is written and done after it.
#[derive(Default)]
struct Log {
    states: Mutex<Vec<State>>,
    done: AtomicUsize,
}

impl Log {
    fn begin(&self, state: &State) {
        self.states.lock().unwrap().push(state.clone());
    }

    fn done(&self) {
        self.done
            .store(self.states.lock().unwrap().len(), Ordering::SeqCst);
    }

    /// The first state that an answer may be of which is asked for now.
    fn now(&self) -> usize {
        self.done.load(Ordering::SeqCst).saturating_sub(1)
    }

    /// Which states of before an answer is of, and what it says, for people.
    fn describe(&self, from: usize, says: impl Fn(&State) -> bool, answer: &Answer) -> String {
        let states = self.states.lock().unwrap();
        let before: Vec<usize> = (from.saturating_sub(30)..from)
            .filter(|at| says(&states[*at]))
            .collect();
        let lengths: Vec<usize> = states[from.saturating_sub(10)..]
            .iter()
            .map(Vec::len)
            .collect();
        let said = match answer {
            Answer::Entries(entries) => format!("{} entries", entries.len()),
            Answer::Messages(messages) => format!("{messages} messages"),
            Answer::Hits(hits) => format!("{} hits", hits.len()),
            Answer::Incomplete => "incomplete".to_owned(),
        };
        format!("{said}; of the states before: {before:?}; lengths since ten before: {lengths:?}")
    }

    /// Whether the file said that since state `from`.
    fn holds(&self, from: usize, says: impl Fn(&State) -> bool) -> bool {
        self.states.lock().unwrap()[from..].iter().any(says)
    }
}

fn header() -> String {
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\
     \"cwd\":\"/w\"}\n"
        .to_owned()
}

fn line(state: &State, at: usize) -> String {
    let (id, text) = &state[at];
    let parent = match at {
        0 => "null".to_owned(),
        _ => format!("\"{}\"", state[at - 1].0),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\
         \"2026-01-05T09:{:02}:{:02}.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n",
        at / 60 % 60,
        at % 60
    )
}

fn text(state: &State) -> String {
    let lines: String = (0..state.len()).map(|at| line(state, at)).collect();
    header() + &lines
}

/// Writes the file until it is told to end.
fn write(path: &Path, log: &Log, ends: &AtomicBool, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut state: State = Vec::new();
    let mut number = 0;
    let replace = |state: &State| {
        let new = path.with_extension("new");
        fs::write(&new, text(state)).unwrap();
        log.begin(state);
        fs::rename(&new, path).unwrap();
        log.done();
    };
    let mut entry = |random: &mut ChaCha8Rng| {
        number += 1;
        // Lengths differ, so that nothing that changes leaves the file as long as it was.
        let words = "word ".repeat(random.random_range(1..40));
        (format!("e{number}"), format!("common {words}n{number}"))
    };
    for _ in 0..40 {
        state.push(entry(&mut random));
    }
    replace(&state);
    while !ends.load(Ordering::SeqCst) {
        match random.random_range(0..12) {
            0 => {
                let left = random.random_range(1..=state.len());
                let cut = text(&state[..left].to_vec()).len() as u64;
                state.truncate(left);
                log.begin(&state);
                let file = File::options().write(true).open(path).unwrap();
                file.set_len(cut).unwrap();
                log.done();
            }
            1 => {
                let at = random.random_range(0..state.len());
                state[at].1 = entry(&mut random).1;
                replace(&state);
            }
            2 if state.len() > 80 => {
                state = state.split_off(state.len() - 20);
                replace(&state);
            }
            _ => {
                state.push(entry(&mut random));
                log.begin(&state);
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(line(&state, state.len() - 1).as_bytes())
                    .unwrap();
                log.done();
            }
        }
        std::thread::sleep(Duration::from_millis(random.random_range(0..12)));
    }
}

/// What an answer says, and whether it says that it may lack something.
enum Answer {
    /// Ids and texts, in order.
    Entries(State),
    /// How many messages there are.
    Messages(u64),
    /// The ids that were found.
    Hits(Vec<String>),
    /// It lacks something, and says so.
    Incomplete,
}

const QUESTIONS: [&str; 6] = ["list", "show", "tree", "search", "branch", "raw"];

fn ask(index: &Index, question: &str) -> Result<Answer, Error> {
    let row = index.resolve("s", &sessionary::index::NameScope::of(Path::new("/w")))?;
    let answer = match question {
        "list" => {
            let list = index.list(&ListScope::default())?;
            match list.complete {
                true => Answer::Messages(list.sessions[0].message_count),
                false => Answer::Incomplete,
            }
        }
        "show" => {
            let shown = index.show(&row, &ShowScope::default())?;
            let said = |pieces: &[(sessionary::model::Class, Vec<String>)]| -> String {
                pieces
                    .iter()
                    .flat_map(|(_, pieces)| pieces.clone())
                    .collect()
            };
            match shown.complete {
                true => {
                    let entries = shown.entries.iter();
                    Answer::Entries(entries.map(|e| (e.id.clone(), said(&e.text))).collect())
                }
                false => Answer::Incomplete,
            }
        }
        "tree" => {
            let tree = index.tree(&row, TreeFilter::All)?;
            match tree.complete {
                true => Answer::Entries(tree.entries.into_iter().map(|r| (r.id, r.text)).collect()),
                false => Answer::Incomplete,
            }
        }
        "search" => {
            let scope = SearchScope {
                limit: None,
                exact: true,
                ..SearchScope::default()
            };
            let answer = index.search("common", &scope)?;
            let hits = answer.sessions.iter().flat_map(|group| &group.hits);
            let mut hits: Vec<String> = hits.map(|hit| hit.entry.clone()).collect();
            hits.sort();
            if answer.complete {
                assert_eq!(
                    (answer.total as usize, answer.total_exact),
                    (hits.len(), true)
                );
            }
            match answer.complete {
                true => Answer::Hits(hits),
                false => Answer::Incomplete,
            }
        }
        "branch" => {
            let mut copied = Vec::new();
            let copy =
                |out: &mut Vec<u8>| index.stream(|snapshot| snapshot.copy_branch(&row, None, out));
            let mut answer = copy(&mut copied);
            for _ in 1..Index::TRIES {
                if !matches!(answer, Err(Error::Changed { .. })) {
                    break;
                }
                copied.clear();
                answer = copy(&mut copied);
            }
            match answer {
                Err(Error::Changed { .. }) => Answer::Incomplete,
                answer => match answer?.1.complete {
                    true => Answer::Entries(entries(&copied)),
                    false => Answer::Incomplete,
                },
            }
        }
        "raw" => {
            let shown = index.show(&row, &ShowScope::default())?;
            let Some(last) = shown.entries.last().filter(|_| shown.complete) else {
                return Ok(Answer::Incomplete);
            };
            match index.ask(|snapshot| snapshot.raw(&row, Some(&last.id))) {
                Ok(bytes) => {
                    let read = entries(&bytes);
                    assert_eq!(read.len(), 1);
                    Answer::Hits(vec![read[0].0.clone()])
                }
                // It has gone since it was shown.
                Err(Error::NoEntry { complete: true, .. } | Error::Changed { .. }) => {
                    Answer::Incomplete
                }
                Err(error) => return Err(error),
            }
        }
        _ => unreachable!(),
    };
    Ok(answer)
}

/// The entries of a session file.
fn entries(bytes: &[u8]) -> State {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let values = lines.map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap());
    values
        .filter(|value| value["type"] == "message")
        .map(|value| {
            let said = value["message"]["content"].as_str().unwrap().to_owned();
            (value["id"].as_str().unwrap().to_owned(), said)
        })
        .collect()
}

/// Cut as a row of a tree is.
fn beginning(state: &State) -> State {
    let cut = |text: &String| text.chars().take(200).collect::<String>();
    state
        .iter()
        .map(|(id, text)| (id.clone(), cut(text)))
        .collect()
}

fn is_of(state: &State, question: &str, answer: &Answer) -> bool {
    match answer {
        Answer::Entries(entries) if question == "tree" => beginning(state) == beginning(entries),
        Answer::Entries(entries) => state == entries,
        Answer::Messages(messages) => state.len() as u64 == *messages,
        Answer::Hits(hits) if question == "raw" => state.iter().any(|(id, _)| *id == hits[0]),
        Answer::Hits(hits) => {
            let mut ids: Vec<&String> = state.iter().map(|(id, _)| id).collect();
            ids.sort();
            ids == hits.iter().collect::<Vec<_>>()
        }
        Answer::Incomplete => true,
    }
}

fn sandbox() -> (Sandbox, PathBuf, Config) {
    let home = Sandbox::new();
    let folder = home.home.join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&folder).unwrap();
    let root = crate::histories::dump::root("pi", "pi", folder.parent().unwrap());
    let config = Config::new(home.home.join("index"), vec![root]);
    (home, folder.join("one.jsonl"), config)
}

/// Read beside a writer and, where there is one, beside somebody who disturbs the index.
fn beside_writers(seed: u64, disturb: Option<fn(&Config)>) {
    let (_home, path, config) = sandbox();
    let (log, ends) = (Log::default(), AtomicBool::new(false));
    let incomplete: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    std::thread::scope(|threads| {
        threads.spawn(|| write(&path, &log, &ends, seed));
        while log.now() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(disturb) = disturb {
            let (config, ends) = (&config, &ends);
            threads.spawn(move || {
                while !ends.load(Ordering::SeqCst) {
                    disturb(config);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        let _end = scopeguard(&ends);
        for number in 0..reads() {
            for question in QUESTIONS {
                let from = log.now();
                let answer = Index::open(&config, Freshness::Check)
                    .and_then(|index| ask(&index, question))
                    .or_else(|error| match error {
                        // Somebody has just removed the index, or fills it again.
                        Error::NotFound {
                            complete: false, ..
                        }
                        | Error::NoEntry {
                            complete: false, ..
                        } => Ok(Answer::Incomplete),
                        error => Err(error),
                    })
                    .unwrap_or_else(|error| panic!("{question} {number}: {error}"));
                let is_true = log.holds(from, |state| is_of(state, question, &answer));
                assert!(
                    is_true,
                    "{question} {number}: of no state since {from}: {}",
                    log.describe(from, |state| is_of(state, question, &answer), &answer)
                );
                if let Answer::Incomplete = answer {
                    *incomplete.lock().unwrap().entry(question).or_default() += 1;
                }
            }
        }
    });
    let incomplete = incomplete.into_inner().unwrap();
    println!("seed {seed}: answers that say they are not complete: {incomplete:?}");
    let most = if disturb.is_some() {
        reads()
    } else {
        reads() / 10
    };
    assert!(
        incomplete.values().all(|some| *some <= most),
        "{incomplete:?}"
    );
}

/// Ends the writers also where an assertion fails.
fn scopeguard(ends: &AtomicBool) -> impl Drop + '_ {
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    End(ends)
}

#[test]
fn reads_beside_writers() {
    beside_writers(1, None);
}

#[test]
fn reads_beside_writers_and_rebuilds() {
    beside_writers(
        2,
        Some(|config| {
            // Busy as often as not: readers take turns with it.
            if let Ok(mut indexer) = Indexer::open(config) {
                indexer.rebuild().unwrap();
            }
        }),
    );
}

#[test]
fn reads_beside_writers_while_the_index_is_removed() {
    beside_writers(
        3,
        Some(|config| {
            let _ = sessionary::index_files::traces(&config.index_dir)
                .and_then(|traces| traces.remove());
            std::thread::sleep(Duration::from_millis(80));
        }),
    );
}

/// What a process answers in JSON.
fn answer_of(question: &str, answer: &serde_json::Value) -> Answer {
    if answer["complete"] != true {
        return Answer::Incomplete;
    }
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let entries = answer["entries"].as_array();
    match question {
        "list" => Answer::Messages(answer["sessions"][0]["messageCount"].as_u64().unwrap()),
        "search" => {
            let groups = answer["sessions"].as_array().unwrap();
            let hits = groups
                .iter()
                .flat_map(|group| group["hits"].as_array().unwrap());
            let mut hits: Vec<String> = hits.map(|hit| text(&hit["entry"])).collect();
            hits.sort();
            Answer::Hits(hits)
        }
        "tree" => {
            let rows = entries.unwrap().iter();
            Answer::Entries(
                rows.map(|row| (text(&row["id"]), text(&row["text"])))
                    .collect(),
            )
        }
        _ => {
            let said = |entry: &serde_json::Value| -> String {
                let passages = entry["text"].as_array().unwrap().iter();
                let pieces = passages.flat_map(|passage| passage[1].as_array().unwrap());
                pieces.map(text).collect()
            };
            let entries = entries.unwrap().iter();
            Answer::Entries(entries.map(|e| (text(&e["id"]), said(e))).collect())
        }
    }
}

/// As processes, and beside processes that rebuild the index and remove it.
#[test]
fn processes_read_beside_writers() {
    let (home, path, _) = sandbox();
    let (log, ends) = (Log::default(), AtomicBool::new(false));
    let questions: [&[&str]; 4] = [
        &["list", "--all", "--json"],
        &["show", "s", "--json", "--reveal"],
        &["tree", "s", "--filter", "all", "--json", "--reveal"],
        &["search", "common", "--exact", "--limit", "0", "--json"],
    ];
    std::thread::scope(|threads| {
        threads.spawn(|| write(&path, &log, &ends, 4));
        while log.now() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        threads.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                for disturbance in [&["rebuild"][..], &["clean", "--yes"], &["sync"]] {
                    let _ = home.output(disturbance);
                    std::thread::sleep(Duration::from_millis(150));
                }
            }
        });
        let _end = scopeguard(&ends);
        for number in 0..reads() / 3 {
            for arguments in questions {
                let (question, from) = (arguments[0], log.now());
                let output = home.output(arguments);
                let said = String::from_utf8_lossy(&output.stderr);
                let what = format!("{question} {number}: {:?} {said}", output.status);
                assert!(!said.contains("panicked"), "{what}");
                let lacks = said.contains("not been read yet") || said.contains("has changed");
                let Ok(answer) = serde_json::from_slice(&output.stdout) else {
                    // The session's row is not there while somebody else makes the index.
                    assert!(lacks || output.status.code() == Some(1), "{what}");
                    continue;
                };
                let answer = answer_of(question, &answer);
                let is_true = log.holds(from, |state| is_of(state, question, &answer));
                assert!(is_true, "of no state since {from}: {what}");
            }
        }
    });
}

/// A reader who does not read keeps nobody from writing: nothing is held while it is printed.
#[cfg(unix)]
#[test]
fn a_reader_who_does_not_read_holds_nothing() {
    use std::io::Read;
    use std::process::Stdio;

    let (home, path, _) = sandbox();
    let long: State = (0..400)
        .map(|n| (format!("e{n}"), "word ".repeat(2_000)))
        .collect();
    fs::write(&path, text(&long)).unwrap();
    for n in 0..300 {
        let other = path.with_file_name(format!("{n}.jsonl"));
        let said = text(&vec![(format!("o{n}"), "first ".repeat(300))]);
        let id = format!("\"id\":\"other{n}\"");
        fs::write(other, said.replace("\"id\":\"s\"", &id)).unwrap();
    }
    assert!(home.output(&["sync"]).status.success());
    let questions: [&[&str]; 5] = [
        &["list", "--all", "--json"],
        &["show", "s", "--json"],
        &["export", "s"],
        &[
            "sql",
            "SELECT a.path, b.path FROM sessions a, sessions b LIMIT 40000",
            "--jsonl",
        ],
        &["tree", "s", "--filter", "all", "--json"],
    ];
    for arguments in questions {
        let mut reader = home
            .command(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = reader.stdout.take().unwrap();
        // Some of it is printed: from now on nobody reads.
        let mut first = [0];
        out.read_exact(&mut first).unwrap();
        let catalogue = home.home.join(".cache/sessionary/v5/catalogue.sqlite");
        let emptied: i64 = rusqlite::Connection::open(&catalogue)
            .and_then(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0)))
            .unwrap();
        assert_eq!(emptied, 0, "{arguments:?}: it holds a read transaction");
        assert!(
            reader.try_wait().unwrap().is_none(),
            "{arguments:?}: too short to wait"
        );
        let file = File::options().append(true).open(&path);
        writeln!(
            file.unwrap(),
            "{{\"type\":\"custom\",\"id\":\"{}\",\"parentId\":\"e399\"}}",
            arguments[0]
        )
        .unwrap();
        let synced = home.output(&["sync", "--json"]);
        assert!(synced.status.success(), "{arguments:?}: it holds a lock");
        drop(out);
        reader.wait().unwrap();
    }
}
