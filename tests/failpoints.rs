//! Does the index survive a process that ends, or a disk that fails, at every step of the commit
//! protocol?
//!
//! The steps are the names in the source (`failpoint::reach`, `step`). A child process of this test
//! binary does one of the stages of an index's life and is ended at a step, or has it fail with an
//! error number, at its first and at its last visit. Then reads must answer, the next sync must
//! heal, and what it makes must equal an index made from scratch, row by row and term by term. Only
//! with `cargo test --features failpoints failpoints`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use sessionary::index::{ListScope, SearchScope};
use sessionary::model::Report;
use sessionary::{
    Cancel, Config, Error, Exclude, FollowLinks, Freshness, Index, Indexer, Rules, with_causes,
};

use crate::histories::dump::{clean, dump, fresh, root, same};
use crate::histories::lines;

/// All names in the source.
fn steps() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut steps = BTreeSet::new();
    for entry in walkdir::WalkDir::new(source).into_iter().flatten() {
        if entry.path().extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(entry.path()).unwrap();
            for call in ["reach(\"", "step(\""] {
                let names = text
                    .split(call)
                    .skip(1)
                    .filter_map(|rest| rest.split('"').next());
                steps.extend(names.map(str::to_owned));
            }
        }
    }
    // Those of the archive are visited by a test of their own: there is nothing from which it could
    // be made from scratch.
    steps.retain(|step| !step.starts_with("archive."));
    assert!(steps.len() > 20, "{steps:?}");
    steps
}

/// What the process does that is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Makes the index.
    First,
    /// Takes in what was appended, rewritten and removed since.
    Grown,
    /// Wipes what is excluded now.
    Excluded,
    /// Forgets everything and begins again.
    Rebuilt,
    /// Finds a catalogue that is none.
    Damaged,
    /// Finds words that cannot be read.
    Unreadable,
    /// Looks, answers, and indexes for a moment.
    Answered,
    /// Takes in one more of many small changes, and merges what they left.
    Merged,
    /// Leaves nothing of what is gone.
    Purged,
}

use Stage::{Answered, Damaged, Excluded, First, Grown, Merged, Purged, Rebuilt, Unreadable};

const STAGES: [Stage; 9] = [
    First, Grown, Excluded, Rebuilt, Damaged, Unreadable, Answered, Merged, Purged,
];

/// So many small changes that one more has segments merged.
const CHANGES: u32 = 20;

fn session(seed: u64, number: u32) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"s{number}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w/{number}\"}}\n"
    )
    .into_bytes();
    for at in 0..30 {
        bytes.extend(lines::pi(&mut rng, number * 100 + at));
        bytes.push(b'\n');
    }
    bytes
}

/// Sessions and an index, as a stage finds them.
struct Place {
    folder: tempfile::TempDir,
    stage: Stage,
    /// Every row and term that an index of these sessions has.
    expected: Vec<String>,
}

fn config(folder: &Path, stage: Stage) -> Config {
    let pi = root("pi", "pi", &folder.join("pi"));
    let clido = root("clido", "clido", &folder.join("clido"));
    let mut config = Config::new(folder.join("index"), vec![pi, clido]);
    if stage == Excluded {
        config.rules = Rules::set(
            Exclude::new(&["four.jsonl"]).unwrap(),
            FollowLinks::WithinRoots,
        );
    }
    config
}

impl Place {
    fn new(stage: Stage) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("pi/--w--")).unwrap();
        fs::create_dir_all(at("clido")).unwrap();
        for (number, name) in (1..).zip(["one", "two", "three", "four"]) {
            fs::write(at(&format!("pi/--w--/{name}.jsonl")), session(7, number)).unwrap();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let clido: Vec<Vec<u8>> = (0..20).map(|id| lines::clido(&mut rng, id)).collect();
        fs::write(at("clido/c.jsonl"), clido.join(&b'\n')).unwrap();
        let before = config(folder.path(), First);
        if stage != First {
            Indexer::open(&before).unwrap().sync().unwrap();
        }
        if stage == Merged {
            for number in 0..CHANGES {
                let name = format!("pi/--w--/more{number}.jsonl");
                fs::write(at(&name), session(u64::from(number), 10 + number)).unwrap();
                let config = Config {
                    cancel: Cancel::default(),
                    ..before.clone()
                };
                let mut indexer = Indexer::open(&config).unwrap();
                indexer.sync_catalogue(&mut |_| {}).unwrap();
                // From now on nothing is merged: that is left to the stage.
                config.cancel.cancel();
                let budget = Some(Duration::from_secs(60));
                indexer.index_words(budget, &mut |_| {}).unwrap();
            }
        }
        if matches!(stage, Grown | Answered | Merged | Purged) {
            let more = [session(7, 1), session(11, 9)].concat();
            fs::write(at("pi/--w--/one.jsonl"), more).unwrap();
            fs::write(at("pi/--w--/two.jsonl"), session(13, 2)).unwrap();
            fs::remove_file(at("pi/--w--/three.jsonl")).unwrap();
            fs::write(at("pi/--w--/five.jsonl"), session(17, 5)).unwrap();
        }
        if stage == Damaged {
            fs::write(
                at("index/v5/catalogue.sqlite"),
                b"SQLite format 3\0 but no database".repeat(99),
            )
            .unwrap();
        }
        if stage == Unreadable {
            fs::write(at("index/v5/words/meta.json"), b"{").unwrap();
        }
        // What changed just now is proven again by every look: let it be old.
        std::thread::sleep(Duration::from_millis(100));
        if stage != First {
            copy(&at("index"), &at("before"));
        }
        let config = config(folder.path(), stage);
        let expected = dump(&fresh(&config, &at("fresh")));
        Place {
            folder,
            stage,
            expected,
        }
    }

    /// The index as it was.
    fn put_back(&self) {
        let (index, before) = (
            self.folder.path().join("index"),
            self.folder.path().join("before"),
        );
        let _ = fs::remove_dir_all(&index);
        if before.exists() {
            copy(&before, &index);
        }
    }

    /// Runs the stage in a child; what it said.
    fn run(&self, steps: &[(&str, String)]) -> ProcessEnd {
        let said = self.folder.path().join("said");
        let _ = fs::remove_file(&said);
        let lines: Vec<String> = steps
            .iter()
            .map(|(name, what)| format!("{name} {what}"))
            .collect();
        let number = STAGES
            .iter()
            .position(|stage| *stage == self.stage)
            .unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "failpoints::the_process_that_is_disturbed",
                "--nocapture",
            ])
            .env(
                STEPS,
                format!(
                    "{number}\n{}\n{}",
                    self.folder.path().display(),
                    lines.join("\n")
                ),
            )
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = fs::read_to_string(said).ok();
        match (output.status.success(), said) {
            (true, Some(said)) => ProcessEnd::Said(said),
            (false, None) if String::from_utf8_lossy(&output.stderr).contains(ENDED) => {
                ProcessEnd::Died
            }
            (_, said) => panic!(
                "{:?} {steps:?}: {} {said:?}\n{}\n{}",
                self.stage,
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    }

    /// Reads answer, the next sync heals, and all is as if nothing had happened.
    fn heals(&self, when: &str) {
        let config = config(self.folder.path(), self.stage);
        answers(&config, Freshness::AsCommitted).unwrap_or_else(|error| panic!("{when}: {error}"));
        let found =
            answers(&config, Freshness::Check).unwrap_or_else(|error| panic!("{when}: {error}"));
        assert!(found > 0, "{when}");
        let report = Indexer::open(&config).and_then(|mut indexer| indexer.sync());
        let report = report.unwrap_or_else(|error| panic!("{when}: {error}"));
        assert_eq!(report.outstanding, 0, "{when}");
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        same(&dump(&index), &self.expected, when);
        clean(&index, when);
    }
}

/// How many sessions are listed; a search answers too.
fn answers(config: &Config, freshness: Freshness) -> Result<usize, Error> {
    let index = Index::open(config, freshness)?;
    let listed = index.list(&ListScope::default())?.sessions.len();
    if index.is_complete() || listed > 0 {
        index.search("walrus", &SearchScope::default())?;
    }
    Ok(listed)
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let to = to.join(entry.path().strip_prefix(from).unwrap());
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(&to).unwrap(),
            false => drop(fs::copy(entry.path(), &to).unwrap()),
        }
    }
}

enum ProcessEnd {
    Said(String),
    Died,
}

/// The variable in which the process below finds what to do: stage, folder, then a line a step: its
/// name and what happens there.
const STEPS: &str = "SESSIONARY_FAILPOINTS";
/// What it says when a step has ended it.
const ENDED: &str = "ended at this step";

#[test]
fn the_process_that_is_disturbed() {
    let Ok(steps) = std::env::var(STEPS) else {
        return;
    };
    let mut steps = steps.lines();
    let stage = STAGES[steps.next().unwrap().parse::<usize>().unwrap()];
    let folder = PathBuf::from(steps.next().unwrap());
    let visits: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let mut disturbed = Vec::new();
    for line in steps {
        let (name, what) = line.split_once(' ').unwrap();
        if what == "count" {
            let (of, visits) = (name.to_owned(), Arc::clone(&visits));
            let count = move || *visits.lock().unwrap().entry(of.clone()).or_default() += 1;
            fail::cfg_callback(name, count).unwrap();
        } else {
            fail::cfg(name, what).unwrap();
            disturbed.push((name, what));
        }
    }
    // As a kill would: nothing is unwound, nothing is dropped.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.to_string().contains("failpoint") {
            eprintln!("{ENDED}");
            std::process::abort();
        }
        usual(panic);
    }));
    let config = config(&folder, stage);
    let done = disturb(&config, stage);
    let mut said = match done {
        Ok(notes) => format!("done\n{}\n", notes.join("\n")),
        Err(error) => format!("error: {}\n", with_causes(&error)),
    };
    // The disk goes on failing there: what can be read is read all the same.
    for (name, what) in disturbed {
        let number = what
            .rsplit_once("return(")
            .map_or("5", |(_, rest)| &rest[..rest.len() - 1]);
        fail::cfg(name, &format!("return({number})")).unwrap();
        for freshness in [Freshness::Check, Freshness::AsCommitted] {
            if let Err(error) = answers(&config, freshness) {
                said.push_str(&format!(
                    "no answer: {freshness:?}: {}\n",
                    with_causes(&error)
                ));
            }
        }
    }
    for (name, count) in visits.lock().unwrap().iter() {
        said.push_str(&format!("visited {name} {count}\n"));
    }
    fs::write(folder.join("said"), said).unwrap();
}

fn disturb(config: &Config, stage: Stage) -> Result<Vec<String>, Error> {
    let notes = match stage {
        First | Grown | Excluded | Damaged | Unreadable | Merged => {
            Indexer::open(config)?.sync()?.notes
        }
        Purged => Indexer::open(config)?.purge(&mut |_| {})?.notes,
        Rebuilt => Indexer::open(config)?.rebuild()?.notes,
        Answered => {
            let mut index = Index::open(config, Freshness::Check)?;
            index.list(&ListScope::default())?;
            index.index_backlog(Duration::from_secs(60))?;
            let obstacle = index.obstacle().map(|error| with_causes(error));
            obstacle.into_iter().collect()
        }
    };
    Ok(notes)
}

/// Which steps each stage visits, and how often.
fn visits(place: &Place, steps: &BTreeSet<String>) -> BTreeMap<String, u32> {
    place.put_back();
    let counted: Vec<(&str, String)> = steps
        .iter()
        .map(|name| (&**name, "count".to_owned()))
        .collect();
    let ProcessEnd::Said(said) = place.run(&counted) else {
        panic!("nothing ends a process that is only watched");
    };
    place.heals(&format!("{:?}, undisturbed", place.stage));
    said.lines()
        .filter_map(|line| line.strip_prefix("visited ")?.split_once(' '))
        .map(|(name, count)| (name.to_owned(), count.parse().unwrap()))
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Visits {
    First,
    Last,
    Both,
}

/// Disturbs every step of every stage at these visits.
fn everywhere(what: &str, at: Visits, check: impl Fn(ProcessEnd, &str) + Sync) {
    let steps = steps();
    let in_stage = |stage: Stage| {
        let (mut visited, mut disturbed) = (BTreeSet::new(), 0);
        let place = Place::new(stage);
        for (name, count) in visits(&place, &steps) {
            let mut chosen = BTreeSet::from([0, count - 1]);
            match at {
                Visits::First => chosen.retain(|nth| *nth == 0),
                Visits::Last => chosen.retain(|nth| *nth == count - 1),
                Visits::Both => {}
            }
            for nth in chosen {
                let when = format!(
                    "{stage:?}, {what} at visit {} of {count} to {name}",
                    nth + 1
                );
                place.put_back();
                let term = match nth {
                    0 => format!("1*{what}"),
                    _ => format!("{nth}*off->1*{what}"),
                };
                check(place.run(&[(&*name, term)]), &when);
                place.heals(&when);
                disturbed += 1;
            }
            visited.insert(name);
        }
        (visited, disturbed)
    };
    let stages: Vec<(BTreeSet<String>, u32)> = STAGES.into_par_iter().map(in_stage).collect();
    let visited = stages
        .iter()
        .flat_map(|(visited, _)| visited.iter().cloned());
    let visited: BTreeSet<String> = visited.collect();
    assert_eq!(visited, steps, "steps that no stage comes by");
    let disturbed: u32 = stages.iter().map(|(_, disturbed)| disturbed).sum();
    println!("{disturbed} times {what}, {} steps", steps.len());
}

#[test]
fn a_process_may_end_at_every_step() {
    everywhere("panic", Visits::Both, |ended, when| {
        // Threads share the work differently each time: a last visit may come to nothing.
        let may_go_on = !when.contains("visit 1 of");
        assert!(
            may_go_on || matches!(ended, ProcessEnd::Died),
            "{when}: went on"
        );
    });
}

fn check_error(ended: ProcessEnd, when: &str, error: &str) {
    let ProcessEnd::Said(said) = ended else {
        panic!("{when}: died");
    };
    assert!(!said.contains("no answer"), "{when}: {said}");
    let is_told = said.starts_with("done") || said.contains(error) || said.contains("/index");
    assert!(is_told, "{when}: {said}");
}

#[test]
fn every_step_may_meet_an_error_of_the_disk() {
    everywhere("return(5)", Visits::First, |ended, when| {
        check_error(ended, when, "os error 5")
    });
}

#[test]
fn every_step_may_meet_a_full_disk() {
    everywhere("return(28)", Visits::Last, |ended, when| {
        check_error(ended, when, "os error 28")
    });
}

/// Where a step of the archive fails the sync goes on without it, and the next one keeps what is
/// owed: nothing is lost. What is to be forgotten is forgotten by the next attempt.
#[test]
fn an_archive_that_fails_at_any_step_is_caught_up_with() {
    for (step, number) in [
        ("archive.keep", 28),
        ("archive.commit", 28),
        ("archive.commit", 5),
    ] {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("pi/--w--/one.jsonl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let config = Config {
            archive_dir: Some(place.path().join("archive")),
            ..config(place.path(), First)
        };
        let sync = || {
            let mut indexer = Indexer::open(&config).unwrap();
            indexer.sync().unwrap().notes
        };
        Indexer::open(&config).unwrap().keep(&[]).unwrap();
        fs::write(&file, session(1, 1)).unwrap();
        fail::cfg(step, &format!("return({number})")).unwrap();
        let notes = sync();
        fail::remove(step);
        assert!(
            notes.iter().any(|note| note.contains("archive")),
            "{notes:?}"
        );
        assert_eq!(sync(), Vec::<String>::new(), "{step}");
        fs::remove_file(&file).unwrap();
        let index = Index::open(&config, Freshness::Check).unwrap();
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        assert!(rows.len() == 1 && rows[0].archived, "{step}: {rows:?}");
        clean(&index, step);
        drop(index);
        for step in ["archive.forget", "archive.wipe"] {
            fail::cfg(step, "return(28)").unwrap();
            let mut report = Report::default();
            let forgotten = Indexer::open(&config)
                .unwrap()
                .forget(&rows[0], &mut report);
            fail::remove(step);
            assert!(forgotten.is_err() || !report.notes.is_empty(), "{step}");
        }
        assert_eq!(sync(), Vec::<String>::new());
        let kept = config.archive_status().unwrap().unwrap();
        assert!(kept.agents.is_empty(), "{kept:?}");
    }
    // Where it cannot be made, that is an error.
    let place = tempfile::tempdir().unwrap();
    let config = Config {
        archive_dir: Some(place.path().join("archive")),
        ..config(place.path(), First)
    };
    fail::cfg("archive.create", "return(28)").unwrap();
    let made = Indexer::open(&config).unwrap().keep(&[]);
    fail::remove("archive.create");
    assert!(made.is_err());
}
