//! Who indexes the words after an answer? A process of its own, where that is much and allowed, and
//! whoever asked.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use sessionary::index::SearchScope;
use sessionary::model::Event;
use sessionary::{Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::sandbox::Sandbox;

/// How long a spawned process may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Messages of which nobody indexes all in passing, and more than are taken apart for a typo.
const MUCH: usize = 700;
const TOO_MUCH: usize = 2_200;

/// A home with one session of so many messages, of 8,600 bytes each.
fn home(messages: usize) -> Sandbox {
    let home = Sandbox::new();
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"much","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
    );
    let words = "nobody indexes all of this text in passing ".repeat(200);
    for at in 0..messages {
        text.push_str(&format!(
            "\n{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}"
        ));
    }
    home.write(".pi/agent/sessions/--w--/much.jsonl", &(text + "\n"));
    home
}

/// The command with these arguments, of whose index the environment says where it is.
fn command(home: &Sandbox, arguments: &str) -> Command {
    let mut command = home.command(&arguments.split(' ').collect::<Vec<_>>());
    command.env("SESSIONARY_INDEX_DIR", home.home.join("index"));
    command
}

/// What the command says on stderr, which is no terminal.
fn said(mut command: Command) -> String {
    let output = command.output().expect("sessionary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command on a terminal: what it says there, or `None` where there is no `script` to make
/// one.
fn on_terminal(home: &Sandbox, arguments: &str) -> Option<String> {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_sessionary"));
    let told = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env_clear()
        .envs([
            ("HOME", home.home.as_os_str()),
            ("SESSIONARY_INDEX_DIR", home.home.join("index").as_os_str()),
            ("SHELL", "/bin/sh".as_ref()),
        ])
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&home.cwd)
        .stdin(Stdio::null())
        .output();
    match told {
        Ok(told) => Some(String::from_utf8_lossy(&told.stdout).into_owned()),
        Err(_) => {
            eprintln!("SKIPPED: there is no `script`");
            None
        }
    }
}

/// The entries that the words lack, asked without any work on them: of the last commit of the
/// words, not of what is being written into them.
fn outstanding(home: &Sandbox) -> u64 {
    let config = Config::new(home.home.join("index"), Vec::new());
    let index = Index::open(&config, Freshness::AsCommitted).expect("the index");
    let answer = index.search("walrus", &SearchScope::default());
    answer.expect("an answer").outstanding
}

/// Waits until the process in the background has done all of it.
fn await_end(home: &Sandbox) {
    let started = Instant::now();
    while outstanding(home) > 0 {
        let left = outstanding(home);
        assert!(started.elapsed() < PATIENCE, "{left} are left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Nothing is done any more, and not all was.
fn assert_nobody_goes_on(home: &Sandbox) {
    let left = outstanding(home);
    std::thread::sleep(Duration::from_millis(500));
    assert!(left > 0 && outstanding(home) == left, "{left}");
}

#[test]
fn a_process_is_started_from_a_terminal_and_comes_to_its_end() {
    let home = home(MUCH);
    let Some(told) = on_terminal(&home, "search passing --limit 1") else {
        return;
    };
    assert!(told.contains("700 matches in 1 session"), "{told}");
    await_end(&home);
}

#[test]
fn a_process_is_started_while_somebody_reads_in_a_pager() {
    let home = home(MUCH);
    let program = env!("CARGO_BIN_EXE_sessionary");
    let is_done = format!("{program} status --json | grep -q '\"outstanding\":0,'");
    let wait = format!("until {is_done}; do sleep 0.1; done; cat > $HOME/got");
    let pager = home.write("pager", &wait);
    let command = format!("stty rows 3 cols 80; {program} search passing --limit 0");
    let told = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env_clear()
        .envs([
            ("TERM", "xterm"),
            ("PATH", "/usr/bin:/bin"),
            ("SHELL", "/bin/sh"),
        ])
        .env(
            "PAGER",
            format!("timeout {} sh {}", PATIENCE.as_secs(), pager.display()),
        )
        .env("HOME", &home.home)
        .env("SESSIONARY_INDEX_DIR", home.home.join("index"))
        .stdin(Stdio::null())
        .output();
    let Ok(told) = told else {
        eprintln!("SKIPPED: there is no `script`");
        return;
    };
    let seen = String::from_utf8_lossy(&told.stdout);
    let got = std::fs::read_to_string(home.home.join("got")).expect("what the pager got");
    assert!(got.contains("passing"), "{seen}");
    assert!(seen.contains("700 matches"), "{seen}");
}

#[test]
fn a_process_is_started_for_a_program_and_comes_to_its_end() {
    let home = home(MUCH);
    let told = said(command(&home, "search passing --limit 1 --json"));
    assert!(
        told.contains("until a process in the background has indexed it"),
        "{told}"
    );
    await_end(&home);
    // What the last commit has indexed is struck off the list a moment later.
    let started = Instant::now();
    while said(command(&home, "search passing --limit 1 --json")).contains("not indexed") {
        assert!(started.elapsed() < PATIENCE, "it is never said to be done");
    }
}

#[test]
fn who_has_had_enough_of_a_script_ends_the_process_with_it() {
    #[cfg(unix)]
    {
        let home = home(TOO_MUCH);
        let mut search = command(&home, "search passing --limit 1");
        std::os::unix::process::CommandExt::process_group(&mut search, 0);
        let mut search = search.stderr(Stdio::null()).spawn().expect("it runs");
        let group = search.id();
        assert!(search.wait().expect("it ends").success());
        let kill = format!("kill -KILL -{group}");
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("a shell").success(), "there is no process");
        assert_nobody_goes_on(&home);
    }
}

#[test]
fn a_pipe_of_the_callers_ends_while_the_process_still_works() {
    #[cfg(unix)]
    {
        let home = home(TOO_MUCH);
        let search = command(&home, "search passing --limit 1");
        let mut shell = Command::new("sh");
        shell.args(["-c", r#""$0" "$@" 3>&1 >/dev/null 2>/dev/null"#]);
        shell.arg(search.get_program()).args(search.get_args());
        let variables = search.get_envs();
        shell.env_clear();
        shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(&home.cwd).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("a shell");
        let mut read = Vec::new();
        let mut pipe = shell.stdout.take().expect("its output");
        pipe.read_to_end(&mut read).expect("it is read");
        let left = outstanding(&home);
        assert!(left > 0, "the process had the pipe open to its end");
        assert!(shell.wait().expect("it ends").success());
        await_end(&home);
    }
}

#[test]
fn nothing_is_started_where_the_configuration_forbids_it() {
    let home = home(MUCH);
    home.write(".config/sessionary/config.toml", "background = false\n");
    let told = said(command(&home, "search passing --limit 1"));
    assert!(told.contains("700 matches in 1 session"), "{told}");
    assert!(told.contains("until you run `sessionary sync`"), "{told}");
    assert_nobody_goes_on(&home);
    assert!(!home.home.join("index/v5/words").exists());
    if let Some(told) = on_terminal(&home, "search passing --limit 1") {
        assert!(told.contains("until you run `sessionary sync`"), "{told}");
        assert_nobody_goes_on(&home);
    }
}

#[test]
fn nothing_is_started_in_a_build_or_for_an_index_named_by_a_flag() {
    let home = home(TOO_MUCH);
    let mut build = command(&home, "search passing --limit 1");
    build.env("CI", "true");
    assert!(said(build).contains("until you run `sessionary sync`"));
    assert!(!home.home.join("index/v5/words").exists());
    let index = home.home.join("index").display().to_string();
    let named = format!("--index {index} search passing --limit 1");
    assert!(said(command(&home, &named)).contains("each command indexes a part of them"));
    assert_nobody_goes_on(&home);
}

#[test]
fn what_is_owed_is_said_with_what_pays_it_and_costs_no_more_than_a_bound() {
    let home = home(TOO_MUCH);
    let search = |query: &str| {
        let mut search = command(&home, &format!("search {query} --limit 1 --json"));
        let output = search.env("CI", "1").output().expect("sessionary runs");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let answer = search("passinh");
    let bytes = answer["outstanding_bytes"].as_u64();
    assert!(bytes > Some(16 << 20), "{answer}");
    let owed = json!({"entries": 2_201, "bytes": bytes, "pay": "sessionary sync"});
    assert_eq!(answer["owed"], owed);
    let notes = &answer["notes"];
    assert_eq!(answer["total"], 0);
    assert!(
        notes[0]
            .as_str()
            .is_some_and(|note| note.contains("18 MiB are not")),
        "{notes}"
    );
    // Bytes alone tell where endings and longer words are.
    assert_eq!(search("passed")["total"], 2_200);
    let mut status = command(&home, "status --json");
    let output = status.env("CI", "1").output().expect("sessionary runs");
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["owed"], owed);
    said(command(&home, "sync"));
    let answer = search("passinh");
    assert_eq!(
        (&answer["total"], &answer["owed"]),
        (&json!(2_200), &json!(null))
    );
    assert_eq!(answer["notes"], json!([]));
}

#[test]
fn what_is_owed_is_counted_in_entries_each_once() {
    let home = Sandbox::new();
    let message = |id: String, message: serde_json::Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z", "message": message});
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"}),
    ];
    for at in 0..40 {
        lines.push(message(
            format!("a{at}"),
            json!({"role": "assistant", "content": [
            {"type": "text", "text": "I look"},
            {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]}),
        ));
        lines.push(message(
            format!("r{at}"),
            json!({"role": "toolResult", "toolCallId": "c",
            "toolName": "bash", "content": [{"type": "text", "text": "src"}]}),
        ));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write("pi/--w--/1.jsonl", &text);
    let config = Config::new(
        home.home.join("index"),
        vec![root("pi", "pi", &home.home.join("pi"))],
    );
    let mut indexer = Indexer::open(&config).expect("the index");
    indexer.sync_catalogue(&mut |_| {}).expect("it reads");
    let owed = || {
        let index = Index::open(&config, Freshness::AsCommitted).expect("the index");
        let status = index.status().expect("its state");
        (status.outstanding, status.outstanding_bytes)
    };
    // Without the ends of the lines.
    let all = (81, (text.len() - lines.len()) as u64);
    assert_eq!(owed(), all);
    let answers: Vec<_> = lines
        .iter()
        .filter(|line| line["message"]["role"] == "toolResult")
        .collect();
    let bytes: usize = answers.iter().map(|line| line.to_string().len()).sum();
    let answers = (answers.len() as u64, bytes as u64);
    // What is said comes first, as a whole.
    let mut told = all;
    for budget in (1..).step_by(3) {
        let budget = Some(Duration::from_millis(budget));
        let report = indexer.index_words(budget, &mut |_| {});
        let report = report.expect("they are indexed");
        told = (report.outstanding, report.outstanding_bytes);
        assert_eq!(owed(), told);
        if told != all {
            break;
        }
    }
    assert!(told == answers || told == (0, 0), "{told:?} of {all:?}");
    let report = indexer.sync().expect("it syncs");
    assert_eq!((report.outstanding, report.outstanding_bytes), (0, 0));
    assert_eq!(owed(), (0, 0));
}

#[test]
fn a_sync_whose_time_is_over_keeps_what_it_has_done() {
    let (_home, config) = two_batches();
    let mut indexer = Indexer::open(&config).expect("the index");
    // One batch of each is always done: first what was said, then what tools gave.
    for left in [1, 0] {
        let report = indexer.sync_for(Duration::ZERO, &mut |_| {});
        assert_eq!(report.expect("it syncs").outstanding, left);
    }
}

#[test]
fn a_sync_may_take_as_long_as_it_wants() {
    let (_home, config) = two_batches();
    let mut indexer = Indexer::open(&config).expect("the index");
    let report = indexer.sync_for(Duration::MAX, &mut |_| {});
    assert_eq!(report.expect("it syncs").outstanding, 0);
}

/// A session of a message and of what a tool printed: two batches of words.
fn two_batches() -> (Sandbox, Config) {
    let home = Sandbox::new();
    let line = |role: &str, id: &str| json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z", "message": {"role": role, "content": [{"type": "text", "text": "walrus"}]}});
    let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
    let text = [header, line("user", "a"), line("toolResult", "b")];
    let text: String = text.iter().map(|line| format!("{line}\n")).collect();
    home.write(".pi/agent/sessions/--w--/1.jsonl", &text);
    let root = root("pi", "pi", &home.home.join(".pi/agent/sessions"));
    let config = Config::new(home.home.join("index"), vec![root]);
    (home, config)
}

#[test]
fn a_sync_in_the_background_lets_readers_look_at_the_files_between_two_batches() {
    let (home, config) = two_batches();
    let mut indexer = Indexer::open(&config).expect("the index");
    let mut turns = 0;
    let report = indexer.sync_for(PATIENCE, &mut |event| {
        turns += usize::from(matches!(event, Event::Waiting));
        if !matches!(event, Event::Waiting) || turns > 1 {
            return;
        }
        let line = json!({"type": "message", "id": "c", "parentId": null, "timestamp": "2026-01-05T09:00:02.000Z", "message": {"role": "user", "content": "narwhal"}});
        let file = home.home.join(".pi/agent/sessions/--w--/1.jsonl");
        let mut file = File::options().append(true).open(file).expect("the session");
        writeln!(file, "{line}").expect("it is written");
        let index = Index::open(&config, Freshness::Check).expect("the index");
        assert!(index.has_writer(), "another one would be started");
        let found = index.search("narwhal", &SearchScope::default());
        let found = found.expect("an answer");
        assert_eq!((found.total, found.complete), (1, true));
    });
    assert_eq!(report.expect("it syncs").outstanding, 0);
    assert!(turns > 0, "the lock was never given up");
    drop(indexer);
    assert!(
        !Index::open(&config, Freshness::AsCommitted)
            .expect("the index")
            .has_writer()
    );
}

#[test]
fn there_is_one_sync_in_the_background_of_an_index() {
    let (_home, config) = two_batches();
    let mut indexer = Indexer::open(&config).expect("the index");
    let mut refused = 0;
    let report = indexer.sync_for(PATIENCE, &mut |event| {
        if matches!(event, Event::Waiting) {
            let mut other = Indexer::try_open(&config).expect("it is not its turn");
            let error = other
                .sync_for(PATIENCE, &mut |_| {})
                .expect_err("a second one");
            assert!(matches!(error, Error::Busy { .. }), "{error}");
            refused += 1;
        }
    });
    assert_eq!(report.expect("it syncs").outstanding, 0);
    assert!(refused > 0);
}

#[test]
fn the_process_ends_when_its_time_is_over() {
    let (home, config) = two_batches();
    let mut list = command(&home, "list --all");
    assert!(
        list.env("CI", "1")
            .output()
            .expect("it runs")
            .status
            .success()
    );
    // It ends with the batch it is at, or before.
    let ended = command(&home, "sync --background=0").output();
    ended.expect("it ends");
    assert!(outstanding(&home) > 0, "it went on");
    let too_long = command(&home, &format!("sync --background={}", u64::MAX)).output();
    assert_eq!(too_long.expect("it ends").status.code(), Some(2));
    said(command(&home, "sync --background=600"));
    assert_eq!(outstanding(&home), 0);
    drop(config);
}

#[cfg(unix)]
#[test]
fn root_in_the_home_of_another_starts_nothing_that_writes_there() {
    use std::os::unix::fs::{MetadataExt, chown};
    let home = home(MUCH);
    if std::fs::metadata(&home.home).expect("the home").uid() != 0 {
        eprintln!("SKIPPED: only root can give a folder away");
        return;
    }
    chown(&home.home, Some(65_534), Some(65_534)).expect("root can");
    let told = said(command(&home, "search passing --limit 1"));
    assert!(told.contains("until you run `sessionary sync`"), "{told}");
    assert_nobody_goes_on(&home);
    assert!(!home.home.join("index/v5/words").exists());
    // In its own home it does.
    chown(&home.home, Some(0), Some(0)).expect("root can");
    said(command(&home, "search passing --limit 1"));
    await_end(&home);
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_keeps_no_directory_of_its_callers_busy() {
    let home = home(TOO_MUCH);
    // Places are given from where the caller stands.
    let mut sync = home.command(&["--index", "mine", "sync", "--background=600"]);
    let mut sync = sync.stdout(Stdio::null()).spawn().expect("it runs");
    let link = format!("/proc/{}/cwd", sync.id());
    let started = Instant::now();
    while std::fs::read_link(&link).is_ok_and(|cwd| cwd != std::path::Path::new("/")) {
        assert!(started.elapsed() < PATIENCE, "it stays where it was");
        assert!(
            sync.try_wait().expect("its state").is_none(),
            "it never left"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(sync.wait().expect("it ends").success());
    assert!(home.cwd.join("mine/v5/catalogue.sqlite").is_file());
}
