//! What if somebody else holds a lock, or replaces the index, or the system gives no more? Readers
//! answer from what is there and say so; who writes waits for who gets on, and names who does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sessionary::index::{ListScope, SearchScope};
use sessionary::{Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::problems::{BoundHome, session};
use crate::sandbox::Sandbox;
use crate::watching::watcher::Watcher;

const CATALOGUE: &str = "v5/catalogue.sqlite";

/// A home with one session, which is indexed.
fn home() -> (Sandbox, PathBuf) {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/one.jsonl",
        &session("0a", "walrus"),
    );
    home.settle();
    assert!(home.output(&["sync"]).status.success());
    let index = home.home.join(".cache/sessionary");
    (home, index)
}

fn config(home: &Sandbox, index: &Path) -> Config {
    let sessions = home.home.join(".pi/agent/sessions");
    Config::new(index.to_path_buf(), vec![root("pi", "pi", &sessions)])
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A program that has begun to write and does not come to an end.
fn open_transaction(index: &Path, statement: &str) -> Connection {
    let other = Connection::open(index.join(CATALOGUE)).expect("the catalogue");
    other.execute_batch(statement).expect("a transaction");
    other
}

#[test]
fn another_programs_transaction_keeps_nobody_from_an_answer() {
    let (home, index) = home();
    let journals = [
        "BEGIN IMMEDIATE; UPDATE _store SET id = id",
        "PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE",
    ];
    for (number, journal) in journals.into_iter().enumerate() {
        let other = open_transaction(&index, journal);
        let holder = format!("is locked by process {} (", std::process::id());
        home.write(
            &format!(".pi/agent/sessions/--w--/new{number}.jsonl"),
            &session(&format!("0b{number}"), "walrus too"),
        );
        for (arguments, answer) in [
            (&["list", "--all", "--json"][..], r#""complete":false"#),
            (&["search", "walrus", "--json"], r#""complete":false"#),
            (&["list", "--all"], "0a"),
            (&["search", "walrus"], "walrus"),
            (&["show", "0a"], "walrus"),
            (&["sql", "SELECT id FROM sessions"], "0a"),
        ] {
            let output = home.output(arguments);
            let (told, said) = (String::from_utf8_lossy(&output.stdout), stderr_of(&output));
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
            assert!(told.contains(answer), "{arguments:?}: {told}");
            let says = answer.starts_with('"') || arguments[0] == "show";
            let names = said.contains(" not been read yet: ") && said.contains(&holder);
            assert!(says || names, "{arguments:?}: {said}");
        }
        // Who asks for no more than a moment.
        let refused = home.output(&["sync", "--no-wait", "--json"]);
        let told = stderr_of(&refused);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        let names = told.contains(&holder) && told.contains(r#""kind":"busy""#);
        assert!(names && !told.contains("space"), "{told}");
        drop(other);
        let list = home.json(&["list", "--all", "--json"]);
        assert_eq!(
            (&list["complete"], &list["total"]),
            (&true.into(), &(number + 2).into())
        );
    }
}

#[test]
fn who_keeps_readers_out_is_named() {
    let (home, index) = home();
    let other = open_transaction(&index, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    let output = home.output(&["list", "--all"]);
    let holder = format!("is locked by process {} (", std::process::id());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).contains(&holder),
        "{}",
        stderr_of(&output)
    );
    drop(other);
    assert!(home.output(&["list", "--all"]).status.success());
}

/// Starts the command.
fn start(home: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = home.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it runs")
}

#[test]
fn who_writes_waits_for_any_writer_that_gets_on() {
    let (home, index) = home();
    let config = config(&home, &index);
    for (arguments, is_removed) in [
        (&["sync"][..], false),
        (&["rebuild"], false),
        (&["clean", "--yes"], true),
    ] {
        let mut writer = Indexer::open(&config).expect("the index");
        let no_wait = home.output(&[arguments, &["--no-wait"]].concat());
        let told = stderr_of(&no_wait);
        assert_eq!(no_wait.status.code(), Some(2), "{arguments:?}: {told}");
        let named = format!("process {} (", std::process::id());
        assert!(told.contains(&named), "{arguments:?}: {told}");
        let mut child = start(&home, arguments);
        sleep(Duration::from_millis(200));
        // Other files than before, while it waits.
        writer.rebuild().expect("it gets on");
        let waits = child.try_wait().expect("its state").is_none();
        assert!(waits, "{arguments:?}");
        drop(writer);
        let output = child.wait_with_output().expect("its end");
        let told = stderr_of(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        assert_eq!(!index.exists(), is_removed, "{arguments:?}: {told}");
    }
}

#[test]
fn a_second_watcher_ends_at_once_though_the_first_is_at_work() {
    let (home, index) = home();
    let config = config(&home, &index);
    let watcher = Watcher::start(&config);
    let turn = Indexer::open(&config).expect("the lock");
    let mut second = start(&home, &["watch"]);
    let began = Instant::now();
    // Less than a watcher that does not get on is waited for.
    while second.try_wait().expect("its state").is_none() {
        if began.elapsed() > Duration::from_secs(40) {
            second.kill().expect("ended");
            panic!("it waits");
        }
        sleep(Duration::from_millis(10));
    }
    let output = second.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).contains("already keeps the index"),
        "{}",
        stderr_of(&output)
    );
    drop(turn);
    watcher.stop();
}

#[test]
fn a_reader_across_anothers_rebuild_or_clean_answers_or_says_to_ask_again() {
    let (home, index) = home();
    let config = config(&home, &index);
    let ask = |index: &Index| -> Result<(usize, u64, usize), Error> {
        let listed = index.list(&ListScope::default())?.sessions.len();
        let found = index.search("walrus", &SearchScope::default())?.total;
        let rows = index.sql("SELECT id FROM sessions", &[])?.rows.len();
        Ok((listed, found, rows))
    };
    for verb in [&["rebuild"][..], &["clean", "--yes"]] {
        for asked_before in [false, true] {
            let reader = Index::open(&config, Freshness::Check).expect("the index");
            if asked_before {
                assert_eq!(ask(&reader).expect("an answer"), (1, 1, 1));
            }
            fs::write(index.join("v5/catalogue.sqlite-damaged"), "it is").expect("a mark");
            assert!(home.output(verb).status.success());
            match ask(&reader) {
                Ok(answer) => assert_eq!(answer, (1, 1, 1), "{verb:?}"),
                Err(error) => assert!(error.is_replaced(), "{verb:?}: {error}"),
            }
            let again = Index::open(&config, Freshness::Check).expect("the index");
            assert_eq!(ask(&again).expect("an answer"), (1, 1, 1));
        }
    }
}

/// Runs the command with a limit of `prlimit`, as a user whom limits bind.
fn run_limited(bound: &BoundHome, limit: &str, arguments: &[&str]) -> Output {
    let command = bound.home.command(arguments);
    let mut limited = Command::new("prlimit");
    limited
        .arg(limit)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .env("HOME", &bound.home.home)
        .current_dir(&bound.home.cwd);
    bound.by_user(&mut limited).output().expect("prlimit runs")
}

/// Runs it as the same user.
fn run_unlimited(bound: &BoundHome, arguments: &[&str]) -> Output {
    let mut command = bound.home.command(arguments);
    bound.by_user(&mut command).output().expect("it runs")
}

fn has_prlimit() -> bool {
    let has = Command::new("prlimit").arg("--version").output().is_ok();
    if !has {
        println!("SKIPPED: there is no prlimit");
    }
    has
}

#[test]
fn without_threads_there_are_answers() {
    let home = Sandbox::new();
    for number in 0..20 {
        home.write(
            &format!(".pi/agent/sessions/--w{number}--/one.jsonl"),
            &session(&format!("{number}a"), &"walrus ".repeat(1_000)),
        );
    }
    home.settle();
    let Some(bound) = BoundHome::new(home).filter(|_| has_prlimit()) else {
        return;
    };
    let index = bound.home.home.join(".cache/sessionary");
    let (mut postponed, mut indexed) = (0, 0);
    // Other processes of that user count too.
    for threads in [1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 64] {
        let limit = format!("--nproc={threads}");
        let _ = fs::remove_dir_all(&index);
        for arguments in [
            &["search", "walrus", "--json"][..],
            &["sync", "--json"],
            &["list", "--all", "--json"],
            &["search", "walrus", "--json"],
        ] {
            let output = run_limited(&bound, &limit, arguments);
            let told = stderr_of(&output);
            let code = output.status.code();
            assert_eq!(code, Some(0), "{threads}: {arguments:?}: {told}");
            assert!(!told.contains("panicked"), "{threads}: {told}");
            let answer: serde_json::Value =
                serde_json::from_slice(&output.stdout).expect("an answer");
            match arguments[0] {
                "sync" if answer["complete"] == true => indexed += 1,
                "sync" => {
                    let why = answer["report"]["notes"].to_string();
                    assert!(why.contains("no thread can be started"), "{threads}: {why}");
                    postponed += 1;
                }
                _ => assert_eq!(answer["total"], 20, "{threads}: {arguments:?}"),
            }
        }
        let verified = run_unlimited(&bound, &["verify"]);
        assert!(
            verified.status.success(),
            "{threads}: {}",
            stderr_of(&verified)
        );
    }
    assert!(postponed > 0 && indexed > 0, "{postponed} {indexed}");
}

/// As on a file system that has no locks: whether somebody writes is not known there.
#[cfg(target_os = "linux")]
#[test]
fn an_index_whose_lock_cannot_be_tried_is_not_removed() {
    let (home, index) = home();
    let without = "#include <errno.h>\nint flock(int f, int o) { errno = ENOLCK; return -1; }\n";
    let source = home.write("without.c", without);
    let library = home.home.join("without.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    if !made.is_ok_and(|made| made.success()) {
        return eprintln!("SKIPPED: there is no compiler");
    }
    for arguments in [&["clean", "--yes"][..], &["clean", "--yes", "--no-wait"]] {
        let mut clean = home.command(arguments);
        let output = clean.env("LD_PRELOAD", &library).output().expect("it runs");
        let told = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        let lock = format!("v{}/lock: ", sessionary::GENERATION);
        let is_told = told.contains(&lock) && told.contains("by hand");
        assert!(is_told, "{told}");
        assert!(index.join(CATALOGUE).exists(), "{told}");
    }
    assert!(home.output(&["clean", "--yes"]).status.success());
    assert!(!index.exists());
}

/// Too many open files, an error of the disk, or as here a link that leads to itself: none of them
/// says that nobody writes.
#[cfg(unix)]
#[test]
fn an_index_whose_lock_cannot_be_opened_is_not_removed() {
    let (home, index) = home();
    let lock = config(&home, &index)
        .catalogue_path()
        .with_file_name("lock");
    fs::remove_file(&lock).expect("removed");
    std::os::unix::fs::symlink(&lock, &lock).expect("a link");
    for arguments in [&["clean", "--yes"][..], &["clean", "--yes", "--no-wait"]] {
        let output = home.output(arguments);
        let told = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("by hand"), "{told}");
        assert!(index.join(CATALOGUE).exists(), "{told}");
    }
    // Without one nobody writes.
    fs::remove_file(&lock).expect("removed");
    assert!(home.output(&["clean", "--yes"]).status.success());
    assert!(!index.exists());
}

#[test]
fn a_limit_on_the_length_of_files_is_a_full_disk() {
    let home = Sandbox::new();
    for number in 0..20 {
        home.write(
            &format!(".pi/agent/sessions/--w{number}--/one.jsonl"),
            &session(
                &format!("{number}a"),
                &format!("walrus {number} ").repeat(1_000),
            ),
        );
    }
    home.settle();
    let Some(bound) = BoundHome::new(home).filter(|_| has_prlimit()) else {
        return;
    };
    let index = bound.home.home.join(".cache/sessionary");
    let (mut refused, mut done) = (0, 0);
    for bytes in [0, 100, 5_000, 40_000, 150_000, 200_000, 300_000, 10_000_000] {
        let _ = fs::remove_dir_all(&index);
        let limit = format!("--fsize={bytes}");
        for arguments in [&["sync"][..], &["list", "--all"], &["search", "walrus"]] {
            let output = run_limited(&bound, &limit, arguments);
            let told = stderr_of(&output);
            match output.status.code() {
                Some(0 | 1) => done += 1,
                Some(2) => {
                    refused += 1;
                    assert!(told.contains("free some space"), "{bytes}: {told}");
                }
                code => panic!("{bytes}: {arguments:?}: {code:?} {told}"),
            }
        }
        for arguments in [&["sync"][..], &["verify"]] {
            let healed = run_unlimited(&bound, arguments);
            assert!(healed.status.success(), "{bytes}: {}", stderr_of(&healed));
        }
    }
    assert!(refused > 0 && done > 0, "{refused} {done}");
}
