//! What the commands that write a session write, and that a try writes nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use serde_json::Value;
#[cfg(target_os = "linux")]
use sessionary::{Config, Freshness, Index};

use crate::sandbox::Sandbox;

/// Every file below the home but the index, with its content.
fn files(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let of_clido = walkdir::WalkDir::new(sandbox.home.join("clido"));
    let mut found: Vec<_> = walkdir::WalkDir::new(sandbox.home.join(".pi"))
        .into_iter()
        .chain(of_clido)
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            (
                entry.path().to_owned(),
                fs::read(entry.path()).expect("a file"),
            )
        })
        .collect();
    found.sort();
    found
}

/// Tries the command, which must change no session, then runs it: the answer of the second.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let before = files(sandbox);
    let tried = sandbox.json(&[arguments, &["--dry-run", "--json"]].concat());
    assert_eq!(files(sandbox), before, "{arguments:?} --dry-run");
    let done = sandbox.json(&[arguments, &["--json"]].concat());
    assert_eq!(
        (&tried["dry_run"], &done["dry_run"]),
        (&true.into(), &false.into())
    );
    assert_eq!(tried["rewritten"], done["rewritten"]);
    let kinds = |answer: &Value| -> Vec<Value> {
        let lines = answer["lines"].as_array().expect("lines").iter();
        lines.map(|line| line["type"].clone()).collect()
    };
    assert_eq!(kinds(&tried), kinds(&done), "{arguments:?}");
    done
}

fn text<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {answer}"))
}

fn lines(path: &str) -> Vec<Value> {
    let content = fs::read_to_string(path).expect("the file");
    let lines = content
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

fn with_input(sandbox: &Sandbox, arguments: &[&str], input: &str) -> Output {
    let mut command = sandbox.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// Who would write to a session that only the archive has, or read it as its agent does, is told
/// what brings its file back; `show` reads it from the archive.
#[test]
fn of_a_session_that_is_in_the_archive_alone_it_is_said_what_brings_it_back() {
    let sandbox = Sandbox::new();
    let new = sandbox.json(&["new", "Fix the clock", "--json"]);
    let of_clido = sandbox.json(&["new", "Write the notes", "--agent", "clido", "--json"]);
    let (id, clido) = (text(&new, "session"), text(&of_clido, "session"));
    assert!(sandbox.output(&["archive", "on"]).status.success());
    for new in [&new, &of_clido] {
        fs::remove_file(text(new, "path")).expect("it was there");
    }
    for arguments in [
        &["append", id, "--user", "More"][..],
        &["append", id, "--user", "More", "--dry-run"],
        &["name", id, "The clock"],
        &["label", id, "good"],
        &["branch", id],
        &["branch", id, "--dry-run"],
        &["fork", id],
        &["migrate", id],
        &["context", id],
        &["append", clido, "--user", "More"],
        &["append", clido, "--user", "More", "--dry-run"],
        &["name", clido, "The notes"],
        &["fork", clido],
        &["context", clido],
    ] {
        let said = sandbox.run(arguments);
        let id = arguments[1];
        let expected = format!("{id} is gone already, and only the archive has it");
        assert!(said.contains(&expected), "{arguments:?}: {said}");
        let remedy = format!("`sessionary archive restore {id}` writes it back");
        assert!(said.contains(&remedy), "{arguments:?}: {said}");
        assert!(
            said.ends_with("--- exit Some(2)\n"),
            "{arguments:?}: {said}"
        );
    }
    let shown = sandbox.run(&["show", id]);
    assert!(shown.contains("Fix the clock"), "{shown}");
}

#[test]
fn a_session_is_begun_gone_on_with_named_labelled_and_copied() {
    let sandbox = Sandbox::new();
    let new = run(&sandbox, &["new", "Fix the clock"]);
    let (id, path) = (text(&new, "session"), text(&new, "path"));
    let folder = format!(
        "--{}--",
        sandbox.cwd.to_string_lossy()[1..].replace('/', "-")
    );
    assert!(Path::new(path).starts_with(sandbox.home.join(".pi/agent/sessions").join(folder)));
    let question = text(&new, "entry");

    run(&sandbox, &["append", id, "--model", "anthropic/opus"]);
    let answer = run(&sandbox, &["append", id, "--assistant", "Done."]);
    run(&sandbox, &["append", id, "--thinking", "high"]);
    run(&sandbox, &["name", id, "The clock"]);
    let labelled = format!("{id}:{question}");
    run(&sandbox, &["label", &labelled, "begin"]);
    let other = run(&sandbox, &["append", &labelled, "--user", "Another way"]);
    assert_eq!(other["lines"][0]["parentId"], question);

    // Every reading verb sees it at once.
    let row = &sandbox.json(&["list", "--json"])["sessions"][0];
    assert_eq!(
        (&row["name"], &row["messageCount"]),
        (&"The clock".into(), &3.into())
    );
    let context = sandbox.json(&[
        "context",
        &format!("{id}:{}", text(&answer, "entry")),
        "--json",
    ]);
    assert_eq!(context["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&context["model"], &context["thinkingLevel"]),
        (&"opus".into(), &"off".into())
    );
    assert_eq!(sandbox.json(&["search", "Another", "--json"])["total"], 1);

    // One branch, and all of it.
    let branch = run(&sandbox, &["branch", id]);
    let kinds: Vec<_> = lines(text(&branch, "path"))
        .iter()
        .map(|line| line["type"].clone())
        .collect();
    assert_eq!(kinds, ["session", "message", "message", "label"]);
    assert_eq!(lines(text(&branch, "path"))[0]["parentSession"], path);
    let elsewhere = sandbox.home.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let fork = run(
        &sandbox,
        &["fork", id, "--in", &elsewhere.to_string_lossy()],
    );
    let forked = lines(text(&fork, "path"));
    assert_eq!(forked[1..], lines(path)[1..]);
    assert_eq!(forked[0]["cwd"], elsewhere.to_string_lossy().into_owned());

    run(&sandbox, &["label", &labelled, "--clear"]);
    run(&sandbox, &["name", id, ""]);
    assert_eq!(
        sandbox.json(&["show", id, "--json"])["session"]["name"],
        Value::Null
    );
}

#[test]
fn a_label_without_an_entry_is_the_last_entrys_that_says_something() {
    let sandbox = Sandbox::new();
    let new = run(&sandbox, &["new", "Fix the clock"]);
    let (id, question) = (text(&new, "session"), text(&new, "entry"));
    run(&sandbox, &["name", id, "Clock"]);
    for label in ["one", "two"] {
        let labelled = run(&sandbox, &["label", id, label]);
        assert_eq!(labelled["lines"][0]["targetId"], question);
    }
    // A setting is an entry that no view shows.
    let other = run(&sandbox, &["new", "Fix the alarm"]);
    let (of, asked) = (text(&other, "session"), text(&other, "entry"));
    run(&sandbox, &["append", of, "--thinking", "high"]);
    let labelled = run(&sandbox, &["label", of, "done"]);
    assert_eq!(labelled["lines"][0]["targetId"], asked);
    run(&sandbox, &["append", of, "--thinking", "low"]);
    let cleared = run(&sandbox, &["label", of, "--clear"]);
    assert_eq!(cleared["lines"][0]["targetId"], asked);
    // What is taken along by a branch is the label that it has now.
    let branch = run(&sandbox, &["branch", id]);
    let copied = lines(text(&branch, "path"));
    let labels: Vec<_> = copied.iter().map(|line| &line["label"]).collect();
    assert_eq!(labels[..3], [&Value::Null; 3]);
    assert_eq!(labels[3..], ["two"]);
    let cleared = run(&sandbox, &["label", id, "--clear"]);
    assert_eq!(cleared["lines"][0]["targetId"], question);
    assert_eq!(cleared["lines"][0]["label"], Value::Null);
    let before = files(&sandbox);
    for named in [id.to_owned(), format!("{id}:{question}")] {
        let refused = sandbox.run(&["label", &named, "--clear"]);
        let why = format!("entry {question} has no label");
        assert!(refused.contains(&why), "{refused}");
        assert!(refused.ends_with("--- exit Some(2)\n"), "{refused}");
    }
    assert_eq!(files(&sandbox), before);
}

/// The folder, below the home, of the session that this writes, where these variables are set.
fn folder_of_new(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = sandbox.command(arguments);
    for (name, below) in variables {
        command.env(name, sandbox.home.join(below));
    }
    let output = command.arg("--json").output().expect("sessionary runs");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let path = Path::new(text(&answer, "path"));
    assert!(path.is_file(), "{}", path.display());
    let folder = path.parent().expect("a folder");
    let below = folder.strip_prefix(&sandbox.home).expect("below the home");
    // And it is found again.
    let list = sandbox.json(&["list", "--all", "--json"])["sessions"].take();
    if variables.is_empty() {
        let rows = list.as_array().expect("rows");
        let listed = rows.iter().any(|row| row["id"] == answer["session"]);
        assert!(listed, "{answer} in {list}");
    }
    below.display().to_string()
}

/// What a folder of this directory is called in a folder of folders.
fn folder_called(directory: &Path) -> String {
    format!("--{}--", directory.to_string_lossy()[1..].replace('/', "-"))
}

#[test]
fn a_session_begins_where_its_agent_looks_for_it() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.home.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let there = &*elsewhere.to_string_lossy();
    let own = ".pi/agent/sessions/";
    let begin = |variables: &[(&str, &str)]| {
        let new = folder_of_new(&sandbox, &["new", "hello"], variables);
        let fork = folder_of_new(&sandbox, &["fork", "last"], variables);
        assert_eq!(new, fork);
        let other = folder_of_new(&sandbox, &["new", "hello", "--in", there], variables);
        let fork = folder_of_new(&sandbox, &["fork", "last", "--in", there], variables);
        assert_eq!(other, fork);
        [new, other]
    };
    let usual = [&*sandbox.cwd, &*elsewhere].map(|cwd| own.to_owned() + &folder_called(cwd));
    assert_eq!(begin(&[]), usual);
    // Each of these gives way to the next.
    sandbox.write(".pi/agent/settings.json", r#"{"sessionDir":"~/all"}"#);
    assert_eq!(begin(&[]), ["all", "all"]);
    sandbox.write("elsewhere/.pi/settings.json", r#"{"sessionDir":"mine"}"#);
    assert_eq!(begin(&[]), ["all", "elsewhere/mine"]);
    let variable = [("PI_CODING_AGENT_SESSION_DIR", "flat")];
    assert_eq!(begin(&variable), ["flat", "flat"]);

    let clido = ["new", "hello", "--agent", "clido"];
    let folder = sandbox.cwd.to_string_lossy().replace('/', "_");
    let usual = format!("clido/sessions/{folder}");
    assert_eq!(folder_of_new(&sandbox, &clido, &[]), usual);
    let variable = [("CLIDO_SESSION_DIR", "one")];
    assert_eq!(folder_of_new(&sandbox, &clido, &variable), "one");
    let new = sandbox.json(&[&clido[..], &["--json"]].concat());
    let fork = ["fork", text(&new, "session")];
    assert_eq!(folder_of_new(&sandbox, &fork, &variable), "one");
}

#[test]
fn a_fork_lies_where_its_agent_looks_for_it_wherever_the_session_does() {
    let sandbox = Sandbox::new();
    let session = |folder: &str| {
        let lines = [
            r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1}}"#,
        ];
        let content = lines.join("\n") + "\n";
        let path = sandbox.write(&format!("{folder}/0a.jsonl"), &content);
        path.to_string_lossy().into_owned()
    };
    let here = folder_called(&sandbox.cwd);
    let own = format!(".pi/agent/sessions/{here}");
    // In no folder of an agent's, and in one that is called as none is by pi.
    for folder in ["Downloads", ".pi/agent/sessions/old"] {
        let path = session(folder);
        assert_eq!(folder_of_new(&sandbox, &["fork", &path], &[]), own);
        fs::remove_file(path).expect("removed");
    }
    // One branch of it lies beside it, as in pi.
    let path = session(".pi/agent/sessions/old");
    let beside = folder_of_new(&sandbox, &["branch", &path], &[]);
    assert_eq!(beside, ".pi/agent/sessions/old");
    fs::remove_file(path).expect("removed");
    // One folder for all that is called as one of many.
    let path = session("x/--all--");
    let variable = [("PI_CODING_AGENT_SESSION_DIR", "x/--all--")];
    for verb in ["fork", "branch"] {
        let folder = folder_of_new(&sandbox, &[verb, &path], &variable);
        assert_eq!(folder, "x/--all--", "{verb}");
    }
    // What the user named is kept together, of either kind.
    for (folder, expected) in [
        ("kept/--w--", format!("kept/{here}")),
        ("one", "one".to_owned()),
    ] {
        let path = session(folder);
        let root = sandbox.home.join(folder.split('/').next().expect("a name"));
        let root = format!("pi:{}", root.display());
        let variable = [("PI_CODING_AGENT_SESSION_DIR", "flat")];
        let fork = folder_of_new(&sandbox, &["--root", &root, "fork", &path], &variable);
        assert_eq!(fork, expected);
    }
}

/// As where NFS has no lock manager.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_locked_is_not_written_and_said() {
    use std::process::Command;
    let sandbox = Sandbox::new();
    let new = sandbox.json(&["new", "hello", "--json"]);
    let (id, path) = (text(&new, "session"), text(&new, "path"));
    let before = fs::read(path).expect("the file");
    let command = sandbox.command(&["name", id, "x"]);
    let variables = command.get_envs();
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-P", path])
        .args(["-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(&sandbox.cwd)
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no `strace`");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") {
        eprintln!("SKIPPED: no program may be traced here");
        return;
    }
    let expected = "cannot be locked, and nothing is written without a lock: No locks available";
    assert!(said.contains(expected), "{said}");
    assert!(said.contains("hint: some network file systems"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(path).expect("the file"), before);
}

/// Entries in the index as it is, with no look at any file.
#[cfg(target_os = "linux")]
fn indexed_entries(sandbox: &Sandbox) -> String {
    let config = Config::new(sandbox.home.join(".cache/sessionary"), Vec::new());
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    let rows = index
        .sql("SELECT count(*) FROM entries", &[])
        .expect("a count");
    rows.rows[0][0].to_string()
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_command_wrote_is_in_the_index_when_it_ends() {
    let sandbox = Sandbox::new();
    // Nothing makes an index but what needs one.
    let new = sandbox.json(&["new", "hello", "--json"]);
    assert!(!sandbox.home.join(".cache/sessionary").exists());
    let id = text(&new, "session");
    let _ = sandbox.json(&["list", "--json"]);
    let mut entries = vec![indexed_entries(&sandbox)];
    for arguments in [
        &["append", id, "--user", "again"][..],
        &["name", id, "A"],
        &["label", id, "b"],
        &["fork", id],
        &["branch", id],
        &["new", "another"],
    ] {
        let output = sandbox.run(arguments);
        assert!(!output.contains("--- exit"), "{output}");
        entries.push(indexed_entries(&sandbox));
    }
    // A header is an entry too; labels are copied again.
    assert_eq!(entries, ["2", "3", "4", "5", "10", "15", "17"]);
}

#[test]
fn an_entry_is_read_from_standard_input_and_checked() {
    let sandbox = Sandbox::new();
    let new = run(&sandbox, &["new", "hello"]);
    let (id, path) = (
        text(&new, "session").to_owned(),
        text(&new, "path").to_owned(),
    );
    let custom = r#"{"type":"custom","id":"mine","customType":"todo","data":{"b":1.0,"1":[]}}"#;
    let output = with_input(&sandbox, &["append", &id], custom);
    assert!(output.status.success());
    let address = String::from_utf8(output.stdout).expect("text");
    let entry = address
        .trim_end()
        .strip_prefix(&format!("{id}:"))
        .expect("an address");
    let content = fs::read_to_string(&path).expect("the file");
    let last = content.lines().last().expect("a line");
    let begins =
        format!(r#"{{"type":"custom","customType":"todo","data":{{"1":[],"b":1}},"id":"{entry}","#);
    assert!(last.starts_with(&begins), "{last}");
    for bad in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"type":"session"}"#,
        r#"{"type":"message","message":7}"#,
        r#"{"type":"label","targetId":"x"}"#,
        r#"{"type":"session_info","name":5}"#,
        r#"{"type":"message","message":{"role":"user","content":null}}"#,
        r#"{"type":"context_edit","targetId":"x","replacement":null}"#,
    ] {
        let output = with_input(&sandbox, &["append", &id], bad);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(
            !output.stderr.is_empty() && output.stdout.is_empty(),
            "{bad}"
        );
    }
    assert_eq!(fs::read_to_string(&path).expect("the file"), content);
}

#[test]
fn an_old_file_is_migrated_and_a_copy_kept() {
    let sandbox = Sandbox::new();
    let old = concat!(
        r#"{"type":"session","id":"0ld","timestamp":"2025-01-05T09:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-05T09:00:01.000Z","message":{"role":"user","content":"hi"}}"#,
        "\n",
    );
    let path = sandbox.write(".pi/agent/sessions/--w--/old.jsonl", old);
    let tried = sandbox.run(&["migrate", "0ld", "--dry-run"]);
    let folder = "sessionary/backups";
    assert!(tried.contains("A copy of the old file would be kept in") && tried.contains(folder));
    let done = run(&sandbox, &["migrate", "0ld"]);
    assert_eq!(
        (
            &done["rewritten"],
            lines(&path.to_string_lossy())[0]["version"].as_i64()
        ),
        (&true.into(), Some(3))
    );
    let data = files_below(&sandbox.home);
    let copies: Vec<_> = data
        .iter()
        .filter(|path| path.to_string_lossy().contains("backups"))
        .collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(fs::read_to_string(copies[0]).expect("the copy"), old);
    // Nothing is left to do.
    let said = sandbox.run(&["migrate", "0ld"]);
    assert!(said.contains("Nothing to do"), "{said}");
    let again = sandbox.json(&["migrate", "0ld", "--json"]);
    assert_eq!(
        (&again["rewritten"], again["lines"].as_array().map(Vec::len)),
        (&false.into(), Some(0))
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_migration_that_fails_leaves_no_copy() {
    let sandbox = Sandbox::new();
    let folder = sandbox.home.join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&folder).expect("a folder");
    let long = "much was said ".repeat(2_500);
    sandbox.write(
        "old.jsonl",
        &[
            r#"{"type":"session","id":"0ld","timestamp":"2025-01-05T09:00:00.000Z","cwd":"/w"}"#.to_owned(),
            r#"{"type":"message","timestamp":"2025-01-05T09:00:01.000Z","message":{"role":"user","content":"TEXT"}}"#
                .replace("TEXT", &long),
            String::new(),
        ]
        .join("\n"),
    );
    // There is room for the file, and not for its new form beside it.
    let script = r#"
        mount -t tmpfs -o size=64k tmpfs "$HOME/.pi/agent/sessions/--w--"
        cp "$HOME/old.jsonl" "$HOME/.pi/agent/sessions/--w--"
        code=0
        "$SESSIONARY" migrate 0ld || code=$?
        cmp "$HOME/old.jsonl" "$HOME/.pi/agent/sessions/--w--/old.jsonl"
        ls -A "$HOME/.local/share/sessionary/backups"
        echo "ended with $code"
    "#;
    let variables = [
        ("HOME", sandbox.home.as_os_str()),
        ("SESSIONARY", env!("CARGO_BIN_EXE_sessionary").as_ref()),
    ];
    let Some(told) = crate::scale::unshared(script, &variables) else {
        return;
    };
    assert!(told.starts_with("ended with 2\n"), "{told}");
    assert!(
        told.contains("old.jsonl: No space left on device"),
        "{told}"
    );
}

fn files_below(home: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(home).into_iter().flatten();
    all.filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
        .collect()
}

#[test]
fn a_model_without_a_provider_answers_nothing() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"model_change","id":"a1","parentId":null,"modelId":"walrus-1"}"#,
    ];
    sandbox.write(
        ".pi/agent/sessions/--w--/0a.jsonl",
        &(lines.join("\n") + "\n"),
    );
    assert_snapshot!(sandbox.run(&["append", "0a", "--assistant", "x"]), @r"
    --- stderr
    error: the current model, walrus-1, has no provider, so the answer cannot be attributed
    hint: set one first: --model PROVIDER/MODEL
    --- exit Some(2)
    ");
}

#[test]
fn what_cannot_be_written_is_said() {
    let sandbox = Sandbox::new();
    run(&sandbox, &["new", "hello"]);
    for (arguments, said) in [
        (
            &["append", "last:nosuch", "--user", "x"][..],
            "entry nosuch not found",
        ),
        (&["append", "last", "--model", "x"], "not PROVIDER/MODEL"),
        (&["append", "last", "--model", "a/"], "not PROVIDER/MODEL"),
        (&["append", "last", "--model", "/x"], "not PROVIDER/MODEL"),
        (&["append", "last", "--model", " / "], "not PROVIDER/MODEL"),
        (&["append", "last", "--assistant", "x"], "no current model"),
        (&["append", "last", "--user", " "], "the message is empty"),
        (
            &["append", "last", "--thinking", "bogus"],
            "thinking levels: off, minimal, low, medium, high, xhigh, max",
        ),
        (&["new", ""], "the message is empty"),
        (&["new", "x", "--in", "nowhere"], "--in nowhere: "),
        (
            &["new", "x", "--agent", "indusagi"],
            "starts with the first answer",
        ),
        (&["new", "x", "--agent", "agentuse"], "cannot be started"),
        (&["fork", "last", "--in", "nowhere"], "--in nowhere: "),
        (&["append", "last:L9", "--user", "x"], "entry L9 not found"),
        (&["label", "last:L1", "x"], "entry L1 not found"),
        (&["label", "last", ""], "--clear removes a label"),
        (&["fork", "last:x"], "a fork copies the whole session"),
        (&["name", "nosuch", "x"], "no session is named"),
    ] {
        let output = sandbox.run(arguments);
        assert!(
            output.contains(said) && output.contains("--- exit"),
            "{arguments:?}: {output}"
        );
    }
}

/// Names of what is in the trash, with how many files each is.
#[cfg(target_os = "linux")]
fn trash_contents(sandbox: &Sandbox) -> Vec<(String, usize)> {
    let trash = sandbox.home.join(".local/share/Trash/files");
    let mut found: Vec<_> = fs::read_dir(&trash)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, files_below(&entry.path()).len())
        })
        .collect();
    found.sort();
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_goes_to_the_trash_and_its_forks_stay() {
    let sandbox = Sandbox::new();
    let new = sandbox.json(&["new", "hello", "--json"]);
    let (id, path) = (text(&new, "session"), text(&new, "path"));
    let fork = sandbox.json(&["fork", id, "--json"]);
    sandbox.touch(Path::new(path), 1_767_600_000);
    let name = Path::new(path).file_name().expect("a name");
    let folder = Path::new(path).parent().and_then(Path::file_name);
    let folder = folder.expect("a folder").to_string_lossy();
    // It holds the path of the sandbox.
    let size = format!("{} B", fs::metadata(path).expect("its size").len());
    let normal = |said: String| {
        let said = said.replace(id, "ID").replace(&*folder, "FOLDER");
        said.replace(&size, "SIZE")
    };

    assert_snapshot!(normal(sandbox.run(&["delete", id, "--dry-run"])), @r#"
    ~/.pi/agent/sessions/FOLDER/2026-01-05T12-00-00-000Z_ID.jsonl
      pi · hello · SIZE · its fork stays
    --- stderr
    Would be moved to ~/.local/share/Trash:
    "#);
    // Nobody is there to ask.
    assert_snapshot!(normal(sandbox.run(&["delete", id])), @r"
    --- stderr
    To be moved to ~/.local/share/Trash:
    ~/.pi/agent/sessions/FOLDER/2026-01-05T12-00-00-000Z_ID.jsonl
      pi · hello · SIZE · its fork stays
    error: nothing was moved: there is no terminal to ask on
    hint: --yes moves without asking
    --- exit Some(2)
    ");
    let used = text(&fork, "session");
    let refused = sandbox.run(&["delete", used, "--yes"]);
    assert!(refused.contains("changed in the last minute"), "{refused}");
    assert_eq!(
        (trash_contents(&sandbox), Path::new(path).exists()),
        (vec![], true)
    );

    let mut tried = sandbox.json(&["delete", id, "--dry-run", "--json"]);
    let mut done = sandbox.json(&["delete", id, "--yes", "--json"]);
    assert_eq!(tried["dry_run"].take(), true);
    assert_eq!(done["dry_run"].take(), false);
    assert_eq!(tried, done);
    let gone = &done["sessions"][0];
    assert_eq!(gone["forks"], serde_json::json!([used]));
    assert_eq!(
        Path::new(text(gone, "trash")),
        sandbox.home.join(".local/share/Trash")
    );
    assert_eq!(
        trash_contents(&sandbox),
        [(name.to_string_lossy().into_owned(), 1)]
    );
    // The index knows without a look, and the fork has its rows.
    assert_eq!(indexed_entries(&sandbox), "2");
    let rows = sandbox.json(&["list", "--json"])["sessions"].take();
    assert_eq!(
        (rows.as_array().map(Vec::len), &rows[0]["id"]),
        (Some(1), &fork["session"])
    );
    assert_eq!(rows[0]["parentSessionPath"], path);
    let forced = sandbox.run(&["delete", used, "--yes", "--force"]);
    assert!(!forced.contains("--- exit"), "{forced}");
    assert!(forced.contains("Moved to the trash:\n"), "{forced}");
    assert_eq!(indexed_entries(&sandbox), "0");
    // It comes back as that says.
    let way = format!("`sessionary delete --restore {used}` moves back what was moved.");
    assert!(forced.contains(&way), "{forced}");
    let back = sandbox.json(&["delete", "--restore", used, "--json"]);
    assert_eq!(back["restored"], serde_json::json!([fork["path"]]));
    // Nothing of it is left in the trash, and what is still there stays.
    assert_eq!(
        trash_contents(&sandbox),
        [(name.to_string_lossy().into_owned(), 1)]
    );
    let rows = sandbox.json(&["list", "--json"])["sessions"].take();
    assert_eq!(rows[0]["id"], used);
}

/// Subagents that have files of their own are no forks, and stay as these do.
#[test]
fn subagents_that_stay_are_told_from_forks() {
    let sandbox = Sandbox::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex");
    for case in ["the-same-talk", "subagent", "forks"] {
        for file in fs::read_dir(fixtures.join(case)).expect("the case") {
            let file = file.expect("a file").path();
            if file
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let name = file.file_name().expect("a name").display();
                let text = fs::read_to_string(&file).expect("a rollout");
                sandbox.write(&format!(".codex/sessions/2026/01/05/{name}"), &text);
            }
        }
    }
    let id = |end: &str| format!("019b8d5e-7c80-7000-8000-{end:0>12}");
    let (parent, origin) = (id("1"), id("10"));
    assert_snapshot!(sandbox.run(&["delete", &parent, &origin, "--dry-run"]), @r"
    ~/.codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-019b8d5e-7c80-7000-8000-000000000001.jsonl
      codex · Where does the walrus sleep? · 9.0 KB · its 2 subagents stay
    ~/.codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-019b8d5e-7c80-7000-8000-000000000010.jsonl
      codex · Where does the walrus sleep? · 9.0 KB · its fork loses its beginning
    --- stderr
    Would be moved to ~/.local/share/Trash:
    ");
    let answer = sandbox.json(&["delete", &parent, &origin, "--dry-run", "--json"]);
    let ids = |ends: &[&str]| serde_json::json!(ends.iter().map(|end| id(end)).collect::<Vec<_>>());
    let stays = |at: usize, what: &str| {
        let mut ids = answer["sessions"][at][what].clone();
        let all = ids.as_array_mut().expect("ids");
        all.sort_by_key(Value::to_string);
        ids
    };
    assert_eq!(
        (stays(0, "forks"), stays(0, "staying_subagents")),
        (ids(&[]), ids(&["e", "f"]))
    );
    assert_eq!(
        (stays(1, "leaning_forks"), stays(1, "staying_subagents")),
        (ids(&["11"]), ids(&[]))
    );
}

/// The lines of a page of a thread of Codex's.
#[cfg(target_os = "linux")]
fn page(thread: &str, first: u64, text: &str) -> String {
    let line = |ordinal: u64, kind: &str, payload: Value| {
        let timestamp = format!("2026-01-05T09:00:{ordinal:02}.000Z");
        let line = serde_json::json!({
            "timestamp": timestamp, "ordinal": ordinal, "type": kind, "payload": payload
        });
        format!("{line}\n")
    };
    let mut head = serde_json::json!({
        "id": thread, "session_id": thread, "timestamp": "2026-01-05T09:00:00.000Z",
        "cwd": "/home/ada/work", "cli_version": "0.169.0", "source": "cli",
        "history_mode": "paginated"
    });
    if first > 0 {
        head["history_base"] = serde_json::json!({
            "thread_id": thread, "end_ordinal_exclusive": first, "end_byte_offset": 0
        });
    }
    let said = serde_json::json!({
        "type": "message", "role": "user", "id": format!("msg_{first}"),
        "content": [{"type": "input_text", "text": text}],
        "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}
    });
    line(first, "session_meta", head) + &line(first + 1, "response_item", said)
}

/// Pages of a thread, a document and the lines that it was copied into, what was put away.
#[cfg(target_os = "linux")]
#[test]
fn every_file_of_a_session_goes_to_the_trash() {
    let thread = "019b8d5e-7c80-7000-8000-000000000077";
    let rollout = format!(".codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-{thread}");
    let document = ".gemini/tmp/aviary/chats/session-2026-01-05T09-00-7d1c0a52";
    let fixture = |end: &str| {
        let chats = "fixtures/gemini/migrated/tmp/aviary/chats";
        let name = format!("{chats}/session-2026-01-05T09-00-7d1c0a52.{end}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        fs::read_to_string(path).expect("the fixture")
    };
    let claw = ".openclaw/agents/main/sessions/claw-1.jsonl";
    let told = |text: &str| {
        let head = r#"{"type":"session","version":3,"id":"claw-1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/ada"}"#;
        let said = serde_json::json!({
            "type": "message", "id": "a", "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z",
            "message": {"role": "user", "content": text}
        });
        format!("{head}\n{said}\n")
    };
    for (id, files) in [
        (
            thread,
            vec![
                (format!("{rollout}.jsonl"), page(thread, 0, "zebra")),
                (format!("{rollout}_0001.jsonl"), page(thread, 2, "giraffe")),
            ],
        ),
        (
            "7d1c0a52",
            ["json", "jsonl"]
                .map(|end| (format!("{document}.{end}"), fixture(end)))
                .into(),
        ),
        (
            "claw-1",
            ["", ".reset.2026-01-05T10-00-00.000Z", ".bak-1"]
                .map(|end| (format!("{claw}{end}"), told(end)))
                .into(),
        ),
    ] {
        let sandbox = Sandbox::new();
        let paths: Vec<PathBuf> = files
            .iter()
            .map(|(file, text)| sandbox.write(file, text))
            .collect();
        paths
            .iter()
            .for_each(|path| sandbox.touch(path, 1_767_603_700));
        let shown = sandbox.run(&["delete", id, "--dry-run"]);
        for path in &paths {
            let name = path.file_name().expect("a name").to_string_lossy();
            assert!(shown.contains(&format!("{name}\n")), "{shown}");
            // Named by any of them it is all of it.
            let path = path.to_str().expect("text");
            assert_eq!(sandbox.run(&["delete", path, "--dry-run"]), shown);
        }
        let answer = sandbox.json(&["delete", id, "--yes", "--json"])["sessions"][0].take();
        assert_eq!(answer["files"], files.len(), "{answer}");
        let others = answer["other_paths"].as_array().map(Vec::len);
        assert_eq!(others, Some(files.len() - 1), "{answer}");
        let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
        assert_eq!(answer["bytes"], bytes, "{answer}");
        assert_eq!(trash_contents(&sandbox).len(), files.len());
        assert!(paths.iter().all(|path| !path.exists()));
        let left = sandbox.json(&["list", "--all", "--json"]);
        assert_eq!(left["sessions"], serde_json::json!([]), "{left}");
        if id.len() < 8 {
            continue;
        }
        // All of it comes back, or nothing where something stands in a place of it.
        sandbox.write(&files[1].0, "another");
        let refused = sandbox.run(&["delete", "--restore", id]);
        assert!(refused.contains("nothing was moved back"), "{refused}");
        assert!(!paths[0].exists());
        assert_eq!(fs::read(&paths[1]).expect("the file"), b"another");
        fs::remove_file(&paths[1]).expect("the file");
        let _ = sandbox.json(&["delete", "--restore", id, "--json"]);
        assert!(paths.iter().all(|path| path.exists()));
    }
}

/// What `delete --restore` would not find is brought back by hand.
#[cfg(target_os = "linux")]
#[test]
fn where_no_command_brings_a_session_back_none_is_named() {
    let sandbox = Sandbox::new();
    let id = "019b8d5e-7c80-7000-8000-0000000000b1";
    let line = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n"
    );
    let delete = ["delete", id, "--yes", "--force"];
    let told = |place: &str, command: &[&str]| {
        let file = sandbox.write(&format!("{place}/{id}.jsonl"), &line);
        let said = sandbox.run(command);
        assert!(!file.exists(), "{said}");
        said.contains("sessionary delete --restore")
    };
    assert!(told(".pi/agent/sessions/--w--", &delete));
    // Below a root that a flag names for once, and below none.
    let root = format!("pi:{}", sandbox.home.join("copies").display());
    assert!(!told(
        "copies/--w--",
        &[&["--root", &root], &delete[..]].concat()
    ));
    let file = sandbox.home.join(format!("elsewhere/{id}.jsonl"));
    let file = file.to_string_lossy();
    assert!(!told("elsewhere", &["delete", &file, "--yes", "--force"]));
}

/// One that changed a moment ago keeps the others.
#[cfg(target_os = "linux")]
#[test]
fn a_session_of_several_files_is_in_use_with_each_of_them() {
    let sandbox = Sandbox::new();
    let thread = "019b8d5e-7c80-7000-8000-000000000077";
    let rollout = format!(".codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-{thread}");
    let first = sandbox.write(&format!("{rollout}.jsonl"), &page(thread, 0, "zebra"));
    sandbox.write(
        &format!("{rollout}_0001.jsonl"),
        &page(thread, 2, "giraffe"),
    );
    sandbox.touch(&first, 1_767_603_700);
    let refused = sandbox.run(&["delete", thread, "--yes"]);
    assert!(refused.contains("changed in the last minute"), "{refused}");
    assert!(first.exists());
    assert_eq!(trash_contents(&sandbox), []);
}

/// A fork that holds only what is its own would have no beginning without its origin.
#[cfg(target_os = "linux")]
#[test]
fn what_a_fork_begins_in_is_not_moved_without_it() {
    let sandbox = Sandbox::new();
    let forks = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/forks");
    let id = |end: u8| format!("019b8d5e-7c80-7000-8000-{end:0>12}");
    let [origin, fork, third] = [10, 11, 12].map(|end| {
        let name = format!("rollout-2026-01-05T09-00-00-{}.jsonl", id(end));
        let text = fs::read_to_string(forks.join(&name)).expect("the fixture");
        let file = sandbox.write(&format!(".codex/sessions/2026/01/05/{name}"), &text);
        sandbox.touch(&file, 1_767_603_700);
        file
    });
    let refused = sandbox.run(&["delete", &id(10), "--yes"]);
    let why = format!("its fork {} holds only what is its own", id(11));
    assert!(refused.contains(&why), "{refused}");
    assert!(
        refused.contains("its fork loses its beginning"),
        "{refused}"
    );
    // The fork of the fork stays.
    let refused = sandbox.run(&["delete", &id(10), &id(11), "--yes"]);
    let why = format!("its fork {} holds only what is its own", id(12));
    assert!(refused.contains(&why), "{refused}");
    assert_eq!(trash_contents(&sandbox), []);

    let both = [&*id(11), &*id(12)];
    let tried = sandbox.json(&["delete", both[0], both[1], "--dry-run", "--json"]);
    let leaning = |at: usize| tried["sessions"][at]["leaning_forks"].clone();
    assert_eq!(
        [leaning(0), leaning(1)],
        [(); 2].map(|()| serde_json::json!([]))
    );
    let moved = sandbox.run(&["delete", both[0], both[1], "--yes"]);
    assert!(!moved.contains("--- exit"), "{moved}");
    assert!(origin.exists() && !fork.exists() && !third.exists());
    // Now nothing leans on it.
    let moved = sandbox.run(&["delete", &id(10), "--yes"]);
    assert!(!moved.contains("--- exit"), "{moved}");
    assert!(!origin.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_fork_begins_in_is_moved_by_force() {
    let sandbox = Sandbox::new();
    let forks = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/forks");
    let id = |end: u8| format!("019b8d5e-7c80-7000-8000-{end:0>12}");
    for end in [10, 11] {
        let name = format!("rollout-2026-01-05T09-00-00-{}.jsonl", id(end));
        let text = fs::read_to_string(forks.join(&name)).expect("the fixture");
        sandbox.write(&format!(".codex/sessions/2026/01/05/{name}"), &text);
    }
    let answer = sandbox.json(&["delete", &id(10), "--yes", "--force", "--json"]);
    let moved = &answer["sessions"][0];
    assert_eq!(
        moved["leaning_forks"],
        serde_json::json!([id(11)]),
        "{answer}"
    );
    assert_eq!(moved["forks"], serde_json::json!([]), "{answer}");
}

/// What the archive could not be made to forget is said of every session, and is no success.
#[cfg(target_os = "linux")]
#[test]
fn what_the_archive_still_holds_of_a_deleted_session_is_said() {
    for as_json in [false, true] {
        let sandbox = Sandbox::new();
        assert!(sandbox.output(&["archive", "on"]).status.success());
        let new = ["one", "two"].map(|text| sandbox.json(&["new", text, "--json"]));
        let ids = [text(&new[0], "session"), text(&new[1], "session")];
        for new in &new {
            sandbox.touch(Path::new(text(new, "path")), 1_767_600_000);
        }
        assert!(sandbox.output(&["sync"]).status.success());
        let archive = sandbox.home.join(".local/share/sessionary/archive");
        let (file, aside) = (archive.join("archive.sqlite"), archive.join("aside"));
        fs::rename(&file, &aside).expect("moved");
        fs::create_dir(&file).expect("a folder in its place");
        let mut delete = vec!["delete", "--yes", ids[0], ids[1]];
        delete.extend(as_json.then_some("--json"));
        let output = sandbox.output(&delete);
        let said = String::from_utf8_lossy(&output.stderr);
        for id in ids {
            let wanted = format!("The archive still holds {id}: ");
            assert!(said.contains(&wanted), "{said}");
            let remedy = format!("`sessionary archive forget {id}`");
            assert!(said.contains(&remedy), "{said}");
        }
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(trash_contents(&sandbox).len(), 2);
        if as_json {
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let moved = answer["sessions"].as_array().expect("sessions");
            assert_eq!(moved.len(), 2, "{answer}");
            assert!(
                moved.iter().all(|row| row["still_archived"] == true),
                "{answer}"
            );
        }
        // The remedy is one.
        fs::remove_dir(&file).expect("removed");
        fs::rename(&aside, &file).expect("moved back");
        for id in ids {
            let said = sandbox.run(&["archive", "forget", id, "--yes"]);
            assert!(!said.contains("--- exit"), "{said}");
        }
    }
}

/// It is written anew after the last one, and not for each.
#[cfg(target_os = "linux")]
#[test]
fn nothing_of_several_deleted_sessions_stays_in_the_archive() {
    let sandbox = Sandbox::new();
    assert!(sandbox.output(&["archive", "on"]).status.success());
    let new = ["one", "two", "three"].map(|text| sandbox.json(&["new", text, "--json"]));
    let [first, second, _] = [0, 1, 2].map(|at| text(&new[at], "session"));
    assert!(sandbox.output(&["sync"]).status.success());
    let said = sandbox.run(&["delete", first, second, "--yes", "--force"]);
    assert!(!said.contains("--- exit"), "{said}");
    let archive = archive_of(&sandbox);
    let one = |sql: &str| archive.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    assert_eq!(one("SELECT count(*) FROM sources"), Ok(Some(1)));
    assert_eq!(one("SELECT unwiped FROM store"), Ok(None));
    assert_eq!(one("PRAGMA freelist_count"), Ok(Some(0)));
}

/// Whatever the archive answered, it is asked what it holds afterwards.
#[cfg(target_os = "linux")]
#[test]
fn what_the_archive_did_not_forget_is_no_success() {
    let sandbox = Sandbox::new();
    assert!(sandbox.output(&["archive", "on"]).status.success());
    let new = sandbox.json(&["new", "one", "--json"]);
    let id = text(&new, "session");
    assert!(sandbox.output(&["sync"]).status.success());
    for table in ["sources", "generations"] {
        let stays = format!(
            "CREATE TRIGGER {table}_stay BEFORE DELETE ON {table} BEGIN SELECT RAISE(IGNORE); END"
        );
        archive_of(&sandbox).execute_batch(&stays).expect("made");
    }
    let output = sandbox.output(&["delete", id, "--yes", "--force", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains(&format!("The archive still holds {id}; ")),
        "{said}"
    );
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["sessions"][0]["still_archived"], true, "{answer}");
}

#[cfg(target_os = "linux")]
fn archive_of(sandbox: &Sandbox) -> rusqlite::Connection {
    let file = ".local/share/sessionary/archive/archive.sqlite";
    rusqlite::Connection::open(sandbox.home.join(file)).expect("the archive")
}

/// Every file of the session that goes, and those that were gone before, leave the archive.
#[cfg(target_os = "linux")]
#[test]
fn what_was_gone_before_of_a_deleted_session_leaves_the_archive() {
    let copilot = "6d0b1f6e-0000-4000-8000-0000000000c1";
    let agentuse = "01KE6P4YM00000000000000000";
    let mail = "agentuse/project/d56553675460857d/session/01KE6P4YM00000000000000000-agents-triage/\
        subagent/01KE6P53G80000000000000000-mail";
    let state = format!(".copilot/session-state/{copilot}");
    let cases = [
        (
            copilot,
            "copilot/named",
            ".copilot/session-state",
            format!("{state}/workspace.yaml"),
            2,
        ),
        // A part of a subagent.
        (
            agentuse,
            "agentuse/subagents",
            ".local/share/agentuse",
            format!(".local/share/{mail}/01KE6P53G80000000000000009/message.json"),
            7,
        ),
        // A subagent as a whole.
        (
            agentuse,
            "agentuse/subagents",
            ".local/share/agentuse",
            format!(".local/share/{mail}/subagent"),
            7,
        ),
    ];
    for (id, fixture, place, gone, files) in cases {
        let sandbox = Sandbox::new();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for file in files_below(&fixtures.join(fixture)) {
            let below = file.strip_prefix(fixtures.join(fixture)).expect("below");
            if below.components().count() > 1 {
                let text = fs::read_to_string(&file).expect("text");
                sandbox.write(&format!("{place}/{}", below.display()), &text);
            }
        }
        let kept = || {
            let count = "SELECT count(*) FROM sources";
            let archive = archive_of(&sandbox);
            archive
                .query_row(count, [], |r| r.get::<_, i64>(0))
                .expect("a count")
        };
        for words in [&["archive", "on"][..], &["sync"]] {
            assert!(sandbox.output(words).status.success(), "{words:?}");
        }
        assert_eq!(kept(), files, "{gone}");
        let away = sandbox.home.join("away");
        fs::rename(sandbox.home.join(&gone), &away).expect("moved away");
        let deleted = sandbox.run(&["delete", id, "--yes", "--force"]);
        assert!(!deleted.contains("--- exit"), "{gone}: {deleted}");
        assert_eq!(kept(), 0, "{gone}: {deleted}");
        let listed = sandbox.json(&["list", "--all", "--subagents", "--json"]);
        assert_eq!(listed["total"], 0, "{gone}: {listed}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_of_agentuse_goes_with_its_folder_and_its_subagents() {
    let sandbox = Sandbox::new();
    let project = sandbox.home.join(".local/share/agentuse/project");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents");
    for file in files_below(&fixtures) {
        let below = file.strip_prefix(&fixtures).expect("below");
        if below.components().count() > 1 {
            let text = fs::read_to_string(&file).expect("text");
            let written =
                sandbox.write(&format!(".local/share/agentuse/{}", below.display()), &text);
            sandbox.touch(&written, 1_767_600_000);
        }
    }
    let rows = sandbox.json(&[
        "list",
        "--all",
        "--subagents",
        "--agent",
        "agentuse",
        "--json",
    ]);
    let before = rows["sessions"].as_array().expect("rows").len();
    let top = sandbox.json(&["list", "--all", "--agent", "agentuse", "--json"]);
    let id = text(&top["sessions"][0], "id").to_owned();
    assert_snapshot!(sandbox.run(&["delete", &id, "--dry-run"]), @r#"
    ~/.local/share/agentuse/project/d56553675460857d/session/01KE6P4YM00000000000000000-agents-triage/subagent/01KE6P53G80000000000000000-mail/subagent/01KE6P54FG0000000000000000-spell
      agentuse · spell · subagent
    ~/.local/share/agentuse/project/d56553675460857d/session/01KE6P4YM00000000000000000-agents-triage/subagent/01KE6P53G80000000000000000-mail
      agentuse · mail · subagent
    ~/.local/share/agentuse/project/d56553675460857d/session/01KE6P4YM00000000000000000-agents-triage
      agentuse · agents/triage · 7 files, 3.6 KB
    --- stderr
    Would be moved to ~/.local/share/Trash:
    "#);
    let files = files_below(&project).len();
    let done = sandbox.json(&["delete", &id, "--yes", "--json"]);
    let moved = done["sessions"].as_array().expect("sessions");
    assert_eq!(moved.last().map(|row| &row["id"]), Some(&id.clone().into()));
    assert_eq!(trash_contents(&sandbox).len(), 1);
    assert_eq!(
        files_below(&project).len() + trash_contents(&sandbox)[0].1,
        files
    );
    let config = Config::new(sandbox.home.join(".cache/sessionary"), Vec::new());
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    let left = index
        .sql("SELECT count(*) FROM sessions", &[])
        .expect("a count");
    assert_eq!(
        left.rows[0][0].to_string(),
        (before - moved.len()).to_string()
    );

    // A folder that is no session's may hold other things.
    sandbox.write(
        ".local/share/agentuse/project/x/session/short/session.json",
        "{}",
    );
    let refused = sandbox.run(&[
        "delete",
        ".local/share/agentuse/project/x/session/short/session.json",
        "--yes",
        "--force",
    ]);
    assert!(refused.contains("--- exit"), "{refused}");
}

#[test]
fn an_entry_is_named_by_its_line_too() {
    let sandbox = Sandbox::new();
    let new = sandbox.json(&["new", "one", "--json"]);
    let (id, path, first) = (
        text(&new, "session"),
        text(&new, "path"),
        text(&new, "entry"),
    );
    let _ = run(&sandbox, &["append", id, "--user", "two"]);
    let at = |line: &str| format!("{id}:{line}");
    let labelled = run(&sandbox, &["label", &at("L2"), "begin"]);
    assert_eq!(labelled["lines"][0]["targetId"], first);
    let other = run(&sandbox, &["append", &at("L2"), "--user", "another way"]);
    assert_eq!(other["lines"][0]["parentId"], first);
    let context = sandbox.json(&["context", &at("L2"), "--json"]);
    assert_eq!(context["messages"].as_array().map(Vec::len), Some(1));
    let branch = run(&sandbox, &["branch", &at("L3")]);
    assert_eq!(lines(text(&branch, "path")).len(), 4);
    assert_eq!(lines(path).len(), 5);

    // Where entries have no ids yet, and lines between them are none.
    let old = concat!(
        r#"{"type":"session","id":"0ld","timestamp":"2025-01-05T09:00:00.000Z","cwd":"/w"}"#,
        "\n\n",
        "no JSON\n",
        r#"{"type":"message","timestamp":"2025-01-05T09:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-05T09:00:02.000Z","message":{"role":"user","content":"two"}}"#,
        "\n",
    );
    let path = sandbox.write(".pi/agent/sessions/--w--/old.jsonl", old);
    let context = sandbox.json(&["context", "0ld:L4", "--json"]);
    assert_eq!(context["messages"][0]["content"], "one");
    assert_eq!(context["messages"].as_array().map(Vec::len), Some(1));
    let other = run(&sandbox, &["append", "0ld:L4", "--user", "another way"]);
    let written = fs::read_to_string(path).expect("the file");
    let line = written.lines().nth(3).expect("a line");
    let first: Value = serde_json::from_str(line).expect("JSON");
    let last: Value = serde_json::from_str(written.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (&last["parentId"], &other["entry"]),
        (&first["id"], &last["id"])
    );
}

#[test]
fn a_session_of_clido_is_begun_and_its_context_is_what_clido_would_send() {
    let sandbox = Sandbox::new();
    let new = run(&sandbox, &["new", "Write the notes", "--agent", "clido"]);
    let (id, path) = (text(&new, "session"), text(&new, "path"));
    let folder = sandbox.cwd.to_string_lossy().replace('/', "_");
    assert_eq!(
        Path::new(path),
        sandbox
            .home
            .join("clido/sessions")
            .join(folder)
            .join(format!("{id}.jsonl"))
    );
    let kinds: Vec<_> = lines(path)
        .iter()
        .map(|line| line["type"].clone())
        .collect();
    assert_eq!(kinds, ["meta", "user_message"]);
    assert_eq!(
        lines(path)[0]["project_path"],
        sandbox.cwd.to_string_lossy().into_owned()
    );
    let row = &sandbox.json(&["list", "--json"])["sessions"][0];
    assert_eq!(
        (&row["id"], &row["listed_by_agent"]),
        (&id.into(), &true.into())
    );
    let call = concat!(
        r#"{"type":"assistant_message","content":[{"type":"text","text":"I look."},{"id":"t1","input":{"path":"a"},"name":"Read","type":"tool_use"}]}"#,
        "\n",
    );
    let mut content = fs::read_to_string(path).expect("the file");
    content.push_str(call);
    fs::write(path, content).expect("written");
    assert_snapshot!(sandbox.run(&["context", id]), @r#"
    user
    Write the notes

    assistant
    I look.
    → Read {"path":"a"}

    user
    [interrupted — tool execution did not complete]
    --- stderr
    3 messages · clido records no model
    "#);
    assert_snapshot!(sandbox.run(&["context", &format!("{id}:L2")]), @r"
    user
    Write the notes
    --- stderr
    1 message · clido records no model
    ");
    let messages = sandbox.json(&["context", id, "--json"])["messages"].take();
    assert_eq!(messages.as_array().map(Vec::len), Some(3));
    sandbox.write(".local/share/agentuse/project/x/session/01KE6P4YM00000000000000000-a/session.json",
        r#"{"id":"01KE6P4YM00000000000000000","agent":{"name":"a"},"project":{"root":"/w","cwd":"/w"},"time":{"created":1,"updated":1}}"#);
    let refused = sandbox.run(&["context", "01KE6P4YM00000000000000000"]);
    assert!(refused.contains("of agentuse is not known"), "{refused}");
}

#[test]
fn a_session_of_clido_is_gone_on_with_named_and_forked() {
    let sandbox = Sandbox::new();
    let new = run(&sandbox, &["new", "Write the notes", "--agent", "clido"]);
    let (id, path) = (text(&new, "session"), text(&new, "path"));
    let _ = sandbox.json(&["list", "--json"]);

    let answer = run(
        &sandbox,
        &["append", id, "--assistant", "They are in sk-1."],
    );
    assert_eq!(answer["entry"], "L3");
    run(&sandbox, &["append", id, "--user", "Shorter"]);
    run(&sandbox, &["name", id, "The\nnotes"]);
    let result = r#"{"type":"result","exit_status":"success","total_cost_usd":0.5,"num_turns":2,"duration_ms":9}"#;
    let output = with_input(&sandbox, &["append", id], result);
    assert_eq!(
        String::from_utf8(output.stdout).expect("text"),
        format!("{id}:L6\n")
    );
    let content = fs::read_to_string(path).expect("the file");
    let added: Vec<_> = content.lines().skip(2).collect();
    assert_eq!(
        added,
        [
            r#"{"type":"assistant_message","content":[{"text":"They are in sk-[REDACTED]","type":"text"}]}"#,
            r#"{"type":"user_message","role":"user","content":[{"text":"Shorter","type":"text"}]}"#,
            r#"{"type":"title","title":"The notes"}"#,
            result,
        ]
    );
    // The index is current without a look.
    #[cfg(target_os = "linux")]
    assert_eq!(indexed_entries(&sandbox), "6");
    let row = &sandbox.json(&["list", "--json"])["sessions"][0];
    assert_eq!(
        (&row["name"], &row["messageCount"], &row["cost"]),
        (&"The notes".into(), &2.into(), &0.5.into())
    );

    let elsewhere = sandbox.home.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let there = elsewhere.to_string_lossy();
    let fork = run(&sandbox, &["fork", id, "--in", &there]);
    let folder = there.replace('/', "_");
    let target = sandbox.home.join("clido/sessions").join(folder);
    let name = format!("{}.jsonl", text(&fork, "session"));
    assert_eq!(Path::new(text(&fork, "path")), target.join(name));
    let forked = fs::read_to_string(text(&fork, "path")).expect("the fork");
    let (own, rest) = forked.split_once('\n').expect("lines");
    assert_eq!(rest, content);
    let own: Value = serde_json::from_str(own).expect("JSON");
    assert_eq!(own["project_path"], *there);
    let rows = sandbox.json(&["list", "--all", "--json"])["sessions"].take();
    let parent = rows.as_array().expect("rows").iter();
    let parent = parent.filter(|row| row["id"] == fork["session"]);
    let parent: Vec<_> = parent.map(|row| &row["parentSessionPath"]).collect();
    assert_eq!(parent, [&Value::from(id)]);

    assert_snapshot!(sandbox.run(&["name", id, "Notes", "--dry-run"]).replace(id, "ID").replace(&sandbox.cwd.to_string_lossy().replace('/', "_"), "FOLDER"), @r#"
    {"type":"title","title":"Notes"}
    --- stderr
    Would write to ~/clido/sessions/FOLDER/ID.jsonl
    "#);
    assert_snapshot!(sandbox.run(&["append", id, "--user", "my key is AKIA1"]).replace(id, "ID").replace(&sandbox.cwd.to_string_lossy().replace('/', "_"), "FOLDER"), @r"
    ID:L7
    --- stderr
    Written to ~/clido/sessions/FOLDER/ID.jsonl
    What looks like a key was written as [REDACTED], as clido writes it.
    If clido has this session open, it overwrites what others add: close it first.
    ");
}

#[test]
fn what_clido_and_agentuse_have_no_notion_of_is_refused_and_said() {
    let sandbox = Sandbox::new();
    let new = sandbox.json(&["new", "hi", "--agent", "clido", "--json"]);
    let id = text(&new, "session");
    sandbox.write(
        ".local/share/agentuse/project/x/session/01KE6P4YM00000000000000000-a/session.json",
        r#"{"id":"01KE6P4YM00000000000000000","agent":{"name":"a"},"project":{"root":"/w","cwd":"/w"},"time":{"created":1,"updated":1}}"#,
    );
    let run_of = "01KE6P4YM00000000000000000";
    let line = format!("{id}:L2");
    let before = files_below(&sandbox.home);
    for (arguments, said) in [
        (&["label", id, "x"][..], "a session of clido has no labels"),
        (&["branch", id], "a session of clido has no branches"),
        (
            &["migrate", id],
            "has no old versions: there is nothing to migrate",
        ),
        (&["append", id, "--model", "a/b"], "has no models"),
        (
            &["append", id, "--thinking", "high"],
            "has no thinking levels",
        ),
        (
            &["append", &line, "--user", "x"],
            "has no branches: lines are added only at its end",
        ),
        (&["fork", &line], "a fork copies the whole session"),
        (&["append", run_of, "--user", "x"], "is one run of an agent"),
        (&["name", run_of, "x"], "is one run of an agent"),
        (&["label", run_of, "x"], "is one run of an agent"),
        (&["fork", run_of], "is one run of an agent"),
        (&["branch", run_of], "is one run of an agent"),
        (&["migrate", run_of], "is one run of an agent"),
    ] {
        let output = sandbox.run(arguments);
        assert!(
            output.contains(said) && output.contains("--- exit Some(2)"),
            "{arguments:?}: {output}"
        );
    }
    for (bad, said) in [
        ("", "not a JSON value"),
        ("{}", "missing field `type`"),
        (r#"{"type":"later"}"#, "unknown variant `later`"),
        (
            r#"{"type":"meta","session_id":"x","schema_version":1,"start_time":"x","project_path":"/"}"#,
            "already has its `meta`",
        ),
        (
            r#"{"type":"user_message","role":"assistant","content":[]}"#,
            "role of a user_message",
        ),
        (
            r#"{"type":"user_message","role":"user","content":"x"}"#,
            "expected a sequence",
        ),
        (
            r#"{"type":"user_message","role":"user","content":[{"type":"odd"}]}"#,
            "does not know the block",
        ),
        (
            r#"{"type":"title","title":"x","color":"red"}"#,
            "no member `color`",
        ),
    ] {
        let output = with_input(&sandbox, &["append", id], bad);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{bad}: {told}");
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
    // What clido does not read it would not open with one more line either.
    let torn = sandbox.write(
        "clido/sessions/_w/torn.jsonl",
        "{\"type\":\"meta\",\"session_id\":\"torn\",\"schema_version\":1,\"start_time\":\"x\",\"project_path\":\"/w\"}\n{\"type\":\"ti",
    );
    for arguments in [&["append", "torn", "--user", "x"][..], &["fork", "torn"]] {
        let output = sandbox.run(arguments);
        assert!(output.contains("torn.jsonl: line 2: "), "{output}");
    }
    fs::remove_file(torn).expect("removed");
    let now = files_below(&sandbox.home);
    let sessions = |files: &[PathBuf]| -> Vec<PathBuf> {
        let kept = files
            .iter()
            .filter(|path| !path.starts_with(sandbox.home.join(".cache")));
        kept.cloned().collect()
    };
    assert_eq!(sessions(&now), sessions(&before));
}

#[test]
fn a_line_of_clido_is_named_as_it_stands_in_the_file() {
    let sandbox = Sandbox::new();
    let line = |text: &str| {
        format!(
            "{{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n"
        )
    };
    let meta = r#"{"type":"meta","session_id":"c1","schema_version":1,"start_time":"2026-01-05T09:00:00+00:00","project_path":"/w"}"#;
    sandbox.write(
        "clido/sessions/_w/c1.jsonl",
        &format!("{meta}\n\n\n{}{}not JSON\n", line("one"), line("two")),
    );
    // What stands behind the line that is named is not asked.
    assert_snapshot!(sandbox.run(&["context", "c1:L4"]), @r"
    user
    one
    --- stderr
    1 message · clido records no model
    ");
    for missing in ["c1:L2", "c1:L0", "c1:x", "c1:L9"] {
        let output = sandbox.run(&["context", missing]);
        assert!(output.contains("--- exit Some("), "{missing}: {output}");
    }
}

#[test]
fn each_name_of_a_session_to_delete_means_what_it_means_alone() {
    let sandbox = Sandbox::new();
    let line = |id: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n"
        )
    };
    sandbox.write(".pi/agent/sessions/--w--/known.jsonl", &line("known"));
    let beside = sandbox.write("elsewhere/beside.jsonl", &line("known"));
    let beside = beside.display().to_string();
    for names in [[beside.as_str(), "known"], ["known", beside.as_str()]] {
        let answer = sandbox.json(&["delete", names[0], names[1], "--dry-run", "--json"]);
        let sessions = answer["sessions"].as_array().expect("sessions");
        assert_eq!(sessions.len(), 2, "{answer}");
    }
}
