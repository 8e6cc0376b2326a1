//! Does the program keep what SECURITY.md promises beside what the other tests show: no network, no
//! text in errors?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

/// What stands in damaged places only.
const MARKED: &str = "walrusonlyinfiles";

/// Files of every format, damaged in every way, what is damaged marked.
fn damaged_home() -> Sandbox {
    let home = Sandbox::new();
    let pi = ".pi/agent/sessions/--code-parser--";
    let header = r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#;
    let lines = [
        header.to_owned(),
        format!(r#"{{"type":"message","id":"{MARKED}"#),
        format!("{MARKED} is no JSON"),
        format!(r#"{{"type":"message","id":"a1","message":"{MARKED}"}}"#),
        format!(
            r#"{{"type":"message","id":7,"message":{{"role":["{MARKED}"],"content":{{"{MARKED}":1}}}}}}"#
        ),
        format!(
            r#"{{"type":"compaction","id":"a2","summary":["{MARKED}"],"firstKeptEntryId":{{"{MARKED}":1}}}}"#
        ),
        format!(r#"["{MARKED}"]"#),
        format!(
            r#"{{"type":"message","id":"a3","timestamp":"{MARKED}","message":{{"role":"user","content":"said"}}}}{{"{MARKED}":"#
        ),
        format!("{MARKED}\u{0}\u{0}"),
    ];
    home.write(
        &format!("{pi}/one.jsonl"),
        &(lines.join("\n") + "\n" + MARKED),
    );
    home.write(&format!("{pi}/two.jsonl"), &format!("{MARKED}\n{MARKED}"));
    home.write(
        &format!("{pi}/three.jsonl"),
        &format!(
            r#"{{"type":"session","version":"{MARKED}","id":["{MARKED}"],"cwd":{{"{MARKED}":1}}}}"#
        ),
    );
    let clido = [
        format!(
            r#"{{"type":"meta","session_id":"c1","schema_version":"{MARKED}","start_time":["{MARKED}"]}}"#
        ),
        format!(r#"{{"type":"user_message","role":"user","content":"{MARKED}"}}"#),
        format!(
            r#"{{"type":"tool_call","tool_use_id":["{MARKED}"],"tool_name":{{"{MARKED}":1}}}}"#
        ),
        format!(r#"{{"type":"result","total_cost_usd":"{MARKED}","num_turns":"{MARKED}"}}"#),
        format!(r#"{{"type":"{MARKED}"#),
    ];
    home.write("clido/sessions/c1.jsonl", &clido.join("\n"));
    let place = ".local/share/agentuse/project/global/session/01KE6P4YM00000000000000000-x";
    home.write(
        &format!("{place}/session.json"),
        &format!(r#"{{"id":"{MARKED}"#),
    );
    home.write(
        &format!("{place}/01KE6P50JG0000000000000003/part/1.json"),
        &format!("{MARKED} is no JSON"),
    );
    home.write(
        ".pi/agent/settings.json",
        &format!(r#"{{"sessionDir": {MARKED}"#),
    );
    home.settle();
    home
}

#[test]
fn no_error_repeats_what_a_session_says() {
    let home = damaged_home();
    let files = [
        ".pi/agent/sessions/--code-parser--/one.jsonl",
        ".pi/agent/sessions/--code-parser--/two.jsonl",
        ".pi/agent/sessions/--code-parser--/three.jsonl",
        "clido/sessions/c1.jsonl",
    ];
    let paths: Vec<String> = files
        .iter()
        .map(|file| home.home.join(file).display().to_string())
        .collect();
    let mut commands: Vec<Vec<&str>> = [
        &["sync"][..],
        &["status"],
        &["status", "--roots"],
        &["verify"],
        &["sql", "SELECT what, relative, reason FROM problems"],
        &["sql", "SELECT raw(entry, 1) FROM entries"],
        &["rebuild"],
        &["list", "--all"],
        &["search", "said"],
        &["show", "0a:a9"],
        &["context", "0a:a9"],
        &["label", "0a:a9", "x"],
    ]
    .map(<[&str]>::to_vec)
    .to_vec();
    for path in &paths {
        for verb in ["tree", "context", "resume", "migrate", "fork", "show"] {
            commands.push(vec![verb, path]);
        }
        commands.push(vec!["append", path, "--user", "x", "--dry-run"]);
        commands.push(vec!["name", path, "x", "--dry-run"]);
    }
    for arguments in &commands {
        for form in [&[][..], &["--json"]] {
            let arguments = [arguments, form].concat();
            let output = home.output(&arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains(MARKED), "{arguments:?}: {said}");
            // What these print is about files, not of them.
            if ["sync", "status", "verify", "sql", "rebuild"].contains(&arguments[0]) {
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(!said.contains(MARKED), "{arguments:?}: {said}");
            }
        }
    }
    // It was there to be repeated.
    let raw = home.output(&["show", &paths[0], "--raw"]).stdout;
    assert!(String::from_utf8_lossy(&raw).contains(MARKED));
}

/// Crates that open connections, or exist to. `mio` comes with notify, which waits for file events
/// with it.
const OF_THE_NETWORK: [&str; 26] = [
    "async-std",
    "attohttpc",
    "curl",
    "h2",
    "hickory-resolver",
    "http",
    "hyper",
    "isahc",
    "minreq",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "rustls",
    "sentry",
    "smol",
    "socket2",
    "surf",
    "tiny_http",
    "tokio",
    "tonic",
    "tungstenite",
    "ureq",
    "webpki",
    "opentelemetry",
];

#[test]
fn no_dependency_is_for_the_network() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let lock = fs::read_to_string(lock).expect("Cargo.lock");
    let names: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    assert!(names.contains("rusqlite"), "{names:?}");
    let found: Vec<&&str> = OF_THE_NETWORK
        .iter()
        .filter(|name| names.contains(**name))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn everything_works_where_there_is_no_network() {
    let home = damaged_home();
    let without = |arguments: &[&str]| {
        let command = home.command(arguments);
        let mut without = Command::new("unshare");
        without
            .args(["--net", "--map-root-user", "--"])
            .arg(command.get_program())
            .args(command.get_args());
        without
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(&home.cwd);
        without.output()
    };
    match Command::new("unshare")
        .args(["--net", "--map-root-user", "true"])
        .status()
    {
        Ok(status) if status.success() => {}
        _ => {
            eprintln!("SKIPPED: no network namespace may be made here");
            return;
        }
    }
    for arguments in [
        &["sync"][..],
        &["list", "--all"],
        &["search", "said"],
        &["show", "0a"],
        &["verify"],
        &["status"],
    ] {
        let output = without(arguments).expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    }
}

#[test]
fn the_tests_that_the_promises_name_exist() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(project.join("SECURITY.md")).expect("SECURITY.md");
    let words = page.split('`').skip(1).step_by(2);
    let tests: Vec<&str> = words
        .filter(|word| word.contains("::") && !word.contains(' '))
        .collect();
    assert!(tests.len() > 10, "{tests:?}");
    for test in tests {
        let (modules, name) = test.rsplit_once("::").expect("a test in a module");
        let place = modules.replace("::", "/");
        let of_tests = [
            format!("tests/{place}.rs"),
            format!("src/{place}.rs"),
            format!("src/{}.rs", place.trim_end_matches("/tests")),
            format!("src/{}/mod.rs", place.trim_end_matches("/tests")),
            format!("crates/{}.rs", place.replacen("team/", "team/tests/", 1)),
        ];
        let text = of_tests
            .iter()
            .find_map(|file| fs::read_to_string(project.join(file)).ok());
        let text = text.unwrap_or_else(|| panic!("{test}: none of {of_tests:?}"));
        assert!(text.contains(&format!("fn {name}(")), "{test}");
    }
}

#[test]
fn sql_only_reads() {
    let home = damaged_home();
    let _ = home.output(&["sync"]);
    let beside = home.home.join("beside.sqlite");
    let attach = format!("ATTACH '{}' AS beside", beside.display());
    let into = format!("VACUUM INTO '{}'", beside.display());
    let before = home
        .output(&["sql", "--jsonl", "SELECT * FROM entries"])
        .stdout;
    for query in [
        "DELETE FROM _entries",
        "INSERT INTO _roots SELECT * FROM _roots",
        "UPDATE _sessions SET cwd = ''",
        "DROP VIEW sessions",
        "CREATE TEMP TABLE t (x)",
        "VACUUM",
        "SELECT 1; DELETE FROM _entries",
        "WITH a AS (SELECT 1) DELETE FROM _entries",
        "EXPLAIN DELETE FROM _entries",
        "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = DELETE",
        "SELECT load_extension('evil')",
        "BEGIN IMMEDIATE",
        &attach,
        &into,
    ] {
        let output = home.output(&["sql", query]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{query}: {said}");
        let why = match query.contains("load_extension") {
            true => "error: not authorized to use function: load_extension",
            false => "error: only reading is allowed: SELECT",
        };
        assert!(said.starts_with(why), "{query}: {said}");
        assert!(!beside.exists(), "{query}");
    }
    let two = home.run(&["sql", "SELECT 1; SELECT 2"]);
    assert!(
        two.contains("more than one statement") && two.contains("exit Some(2)"),
        "{two}"
    );
    let after = home
        .output(&["sql", "--jsonl", "SELECT * FROM entries"])
        .stdout;
    assert!(!before.is_empty() && before == after);
}

#[test]
fn the_index_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = damaged_home();
    // Whatever the user's usual permissions are.
    let sync = home.command(&["sync"]);
    let mut open = Command::new("sh");
    open.args(["-c", "umask 000; exec \"$0\" \"$@\""])
        .arg(sync.get_program())
        .args(sync.get_args());
    open.env_clear()
        .envs(
            sync.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(&home.cwd);
    assert!(open.status().expect("it runs").success());
    let index = home.home.join(".cache/sessionary");
    let mode = |path: &Path| fs::metadata(path).expect("its mode").permissions().mode() & 0o777;
    assert_eq!(mode(&index), 0o700);
    let mut files = 0;
    for entry in walkdir::WalkDir::new(&index).into_iter().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|kind| kind == "sqlite") {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
        files += usize::from(path.is_file());
    }
    assert!(files > 3);
    // An index of another user is not used; only root can make one to try.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&index, Some(65534), Some(65534)).expect("given away");
        let output = home.output(&["list", "--all"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("belongs to another user"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn root_makes_nothing_in_the_home_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can try it");
        return;
    }
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--x--/1.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"one\",\"cwd\":\"/x\"}\n",
    );
    std::os::unix::fs::chown(&home.home, Some(65534), Some(65534)).expect("given away");
    for arguments in [
        &["list", "--all"][..],
        &["sync"],
        &["archive", "on"],
        &["status"],
    ] {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("the home folder is another user's"), "{said}");
        assert!(!home.home.join(".cache").exists() && !home.home.join(".local").exists());
    }
    let index = home.home.with_extension("index");
    let index = index.display().to_string();
    let named = home.output(&["list", "--all", "--index", &index]);
    assert_eq!(named.status.code(), Some(0));
    fs::remove_dir_all(index).expect("ours");
}

/// While the process is at work, and when it is done, all that lies below the folder is its owner's
/// alone. How many files were looked at.
fn is_private_while(child: &mut std::process::Child, index: &Path) -> usize {
    use std::os::unix::fs::PermissionsExt;
    let mut looked = 0;
    loop {
        let has_ended = child.try_wait().expect("its state").is_some();
        for entry in walkdir::WalkDir::new(index).into_iter().flatten() {
            // It may be gone already.
            let Ok(metadata) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
            let mode = metadata.permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{}", entry.path().display());
            looked += 1;
        }
        if has_ended {
            return looked;
        }
    }
}

#[test]
fn every_file_of_the_index_is_private_from_its_first_moment() {
    let home = damaged_home();
    let text = "much is said of walruses ".repeat(40);
    for number in 0..40 {
        let lines: Vec<String> = (0..60)
            .map(|at| {
                format!(
                    r#"{{"type":"message","id":"m{at}","timestamp":"2026-01-05T09:00:00.000Z","message":{{"role":"user","content":"{text} w{number}x{at}"}}}}"#
                )
            })
            .collect();
        let header = format!(
            r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}}"#
        );
        home.write(
            &format!(".pi/agent/sessions/--w--/{number}.jsonl"),
            &format!("{header}\n{}\n", lines.join("\n")),
        );
    }
    let index = home.home.join("index");
    let start = |arguments: &[&str]| {
        let mut all = vec!["--index", "index"];
        all.extend(arguments);
        let command = home.command(&all);
        // Whatever the user's usual permissions are.
        let mut open = Command::new("sh");
        open.args(["-c", "umask 000; exec \"$0\" \"$@\""])
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(&home.home)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        open.spawn().expect("it runs")
    };
    let mut looked = 0;
    let mut run = |arguments: &[&str]| looked += is_private_while(&mut start(arguments), &index);
    run(&["sync"]);
    // A watcher, who asks it, and a mark on words that are damaged.
    let mut watch = start(&["watch"]);
    let mut tries = 0;
    while !index.join("v5/watch/state.json").exists() && tries < 1000 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        tries += 1;
    }
    run(&["list", "--all"]);
    run(&["status"]);
    for number in 0..20 {
        let line = format!(
            r#"{{"type":"message","id":"n{number}","timestamp":"2026-01-05T09:00:00.000Z","message":{{"role":"user","content":"more of it"}}}}"#
        );
        let path = home.home.join(".pi/agent/sessions/--w--/1.jsonl");
        let text = fs::read_to_string(&path).expect("the session") + &line + "\n";
        fs::write(path, text).expect("written");
        run(&["list"]);
    }
    watch.kill().expect("it is killed");
    watch.wait().expect("it ended");
    fs::write(home.home.join("index/v5/words/meta.json"), "{").expect("damaged");
    run(&["search", "walruses"]);
    run(&["sync", "--purge"]);
    run(&["rebuild"]);
    assert!(looked > 100, "{looked}");
}
