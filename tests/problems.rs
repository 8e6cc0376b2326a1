//! What does the command say of what it cannot read, and does anything stay hidden?

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use sessionary::index::{SearchScope, ShowScope};
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::sandbox::Sandbox;

const WORDS: &str = ".cache/sessionary/v5/words";

/// A session of one message.
pub fn session(id: &str, text: &str) -> String {
    format!(
        "{}\n{}\n",
        format_args!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}}"#
        ),
        format_args!(
            r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1767603601000}}}}"#
        )
    )
}

fn home() -> Sandbox {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--code-parser--/one.jsonl",
        &session("0a", "Fix the tokenizer"),
    );
    home.write(
        ".pi/agent/sessions/--code-parser--/two.jsonl",
        &session("0b", "The tokenizer again"),
    );
    home.settle();
    home
}

/// Fills all but the ends of the words' files of one kind with ones.
fn damage(words: &Path, kind: &str) {
    for file in fs::read_dir(words).expect("the words") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == kind) {
            let mut bytes = fs::read(&path).expect("its bytes");
            let end = bytes.len() - 160;
            bytes[..end].fill(0xff);
            fs::write(&path, bytes).expect("damaged");
        }
    }
}

#[test]
fn damaged_words_are_no_matter_for_an_answer() {
    let home = home();
    let _ = home.run(&["sync"]);
    for kind in ["term", "fast"] {
        let words = home.home.join(WORDS);
        damage(&words, kind);
        // What a read does of its own accord is not to be seen here.
        let copy = home.home.join("copy");
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy).expect("a folder");
        for file in fs::read_dir(&words).expect("the words") {
            let file = file.expect("a file");
            fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
        }
        let answer = home.output(&["search", "tokenizer", "--json"]);
        let said = String::from_utf8_lossy(&answer.stderr);
        assert_eq!(answer.status.code(), Some(0), "{kind}: {said}");
        assert!(!said.contains("panicked"), "{kind}: {said}");
        assert!(said.contains("All text was read instead"), "{kind}: {said}");
        let json: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("an answer");
        assert_eq!(json["total"], 2, "{kind}");
        assert_eq!(json["complete"], true, "{kind}");
        assert!(json["words_damage"].is_string(), "{kind}: {json}");
        // The read has mended them; as they were, sync does it and says why.
        assert_eq!(
            home.json(&["verify", "--json"])["differences"],
            serde_json::json!([])
        );
        fs::remove_dir_all(&words).expect("gone");
        fs::rename(&copy, &words).expect("back");
        fs::write(words.join("damaged"), "the word index cannot be read: x").expect("a mark");
        let notes = &home.json(&["sync", "--json"])["report"]["notes"];
        assert!(
            notes[0]
                .as_str()
                .is_some_and(|note| note.starts_with("the words are rebuilt: ")),
            "{kind}: {notes}"
        );
        assert_eq!(
            home.json(&["verify", "--json"])["differences"],
            serde_json::json!([])
        );
    }
}

#[test]
fn the_state_of_damaged_words_is_told() {
    let home = home();
    let _ = home.run(&["sync"]);
    damage(&home.home.join(WORDS), "term");
    assert_snapshot!(stderr_of(&home, &["search", "again"]), @r"
    The tokenizer again  ~/code/parser · pi · 2h
      user · 2h  0b:a1
        The tokenizer again
    --- stderr
    the words cannot be read: ID.term damaged. All text was read instead. The words are rebuilt bit by bit, or at once by `sessionary sync`.
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show 0b:a1 · sessionary resume 0b
    ");
    // Answering has mended them.
    assert_snapshot!(stderr_of(&home, &["search", "again"]), @r"
    The tokenizer again  ~/code/parser · pi · 2h
      user · 2h  0b:a1
        The tokenizer again
    --- stderr
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show 0b:a1 · sessionary resume 0b
    ");
    // What damage a sync does not touch it learns of by the mark.
    fs::write(
        home.home.join(WORDS).join("damaged"),
        "the words are damaged: a.term",
    )
    .expect("a mark");
    let status = home.run(&["status"]);
    let freshness = status.lines().find(|line| line.starts_with("freshness"));
    assert_snapshot!(freshness.unwrap_or_default(), @r"
    freshness last full scan DATE; the words are damaged: a.term; `sessionary sync` rebuilds them
    ");
    assert_snapshot!(stderr_of(&home, &["verify"]), @r"
    words: the words are damaged: a.term
    2 files, 4 entries, 2 passages, SIZE read: 1 difference.
    --- stderr
    `sessionary rebuild` rebuilds the index; where only words differ, `sessionary sync` repairs them.
    --- exit Some(1)
    ");
}

/// What a command prints, with the random names of files made equal, and sizes, which depend on the
/// path of the home.
fn stderr_of(home: &Sandbox, arguments: &[&str]) -> String {
    let text = home.run(arguments);
    let text = match text.split_once("B read: ") {
        Some((before, after)) => {
            let (before, _) = before.rsplit_once(", ").expect("a size");
            format!("{before}, SIZE read: {after}")
        }
        None => text,
    };
    let words = text.split(' ').map(|word| match word.split_once('.') {
        Some((name, rest)) if name.len() == 32 => format!("ID.{rest}"),
        _ => word.to_owned(),
    });
    let text = words.collect::<Vec<_>>().join(" ");
    // How many segments there are is up to the threads.
    text.replace("ID.term, ", "")
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_not_utf8_is_said() {
    use std::os::unix::ffi::OsStrExt;
    let home = home();
    let folder = home.home.join(".pi/agent/sessions/--code-parser--");
    for name in [&b"caf\xe9.jsonl"[..], b"caf\xe8.jsonl", b"caf\xe9.txt"] {
        let path = folder.join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, "{}\n").expect("a file of that name");
    }
    assert_snapshot!(home.run(&["list"]), @r#"
    AGE  SESSION  AGENT  MSGS  TITLE
    2h   0b       pi        1  The tokenizer again
    2h   0a       pi        1  Fix the tokenizer
    --- stderr
    $HOME/.pi/agent/sessions/--code-parser--/caf\xE8.jsonl: its name is not UTF-8; rename it to have it read
    $HOME/.pi/agent/sessions/--code-parser--/caf\xE9.jsonl: its name is not UTF-8; rename it to have it read
    This answer is incomplete, as 2 files could not be read: `sessionary sql "SELECT * FROM problems WHERE what IN ('unread', 'root')"` lists them.
    "#);
    assert_snapshot!(home.run(&["sql", "SELECT what, relative, reason FROM problems"]), @r"
    what    relative                       reason
    unread  --code-parser--/caf\xE8.jsonl  its name is not UTF-8; rename it to have it read
    unread  --code-parser--/caf\xE9.jsonl  its name is not UTF-8; rename it to have it read
    file    --code-parser--/caf\xE9.txt    not a session file
    --- stderr
    $HOME/.pi/agent/sessions/--code-parser--/caf\xE8.jsonl: its name is not UTF-8; rename it to have it read
    $HOME/.pi/agent/sessions/--code-parser--/caf\xE9.jsonl: its name is not UTF-8; rename it to have it read
    ");
    assert_snapshot!(stderr_of(&home, &["verify"]), @r"
    unread: ~/.pi/agent/sessions/--code-parser--/caf\xE8.jsonl: its name is not UTF-8; rename it to have it read
    unread: ~/.pi/agent/sessions/--code-parser--/caf\xE9.jsonl: its name is not UTF-8; rename it to have it read
    2 files, 4 entries, 2 passages, SIZE read: both stores equal the files that could be read, 2 could not.
    ");
    let status = home.run(&["status"]);
    let line = |of: &str| status.lines().find(|line| line.starts_with(of));
    assert_snapshot!(line("unread").unwrap_or_default(), @r#"
    unread    2 files could not be read: `sessionary sql "SELECT * FROM problems WHERE what IN ('unread', 'root')"` lists them
    "#);
    let unread = "SELECT * FROM problems WHERE what IN ('unread', 'root')";
    let rows = home.json(&["sql", unread, "--json"])["rows"].take();
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
    // What is no session is nothing that is wrong.
    assert_snapshot!(line("contents").unwrap_or_default(), @r"
    contents  2 sessions, 4 entries, 2 problems, 1 file passed over
    ");
    let status = home.json(&["status", "--json"]);
    assert_eq!(
        (&status["problems"], &status["passed_over"]),
        (&3.into(), &1.into())
    );
    // The same where somebody else writes: what cannot be looked at is not there for a reader
    // either.
    let lock = fs::File::options()
        .write(true)
        .open(home.home.join(".cache/sessionary/v5/lock"))
        .expect("the lock");
    lock.lock().expect("held");
    let list = home.json(&["list", "--json"]);
    assert_eq!(list["complete"], false);
    assert_eq!(list["pending_files"], 2);
}

#[test]
fn a_file_that_changes_under_a_reader_is_one_file_and_its_entries_say_so() {
    let home = Sandbox::new();
    // Prose, and what a tool answered: two shares of one file.
    let answer = r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"walrus"}],"isError":false,"timestamp":1767603602000}}"#;
    let text = format!("{}{answer}\n", session("0a", "walrus"));
    let path = home.write(".pi/agent/sessions/--a--/one.jsonl", &text);
    let root = RootSpec::new("pi", home.home.join(".pi/agent/sessions"));
    let config = Config::new(home.home.join("index"), vec![root]);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let scope = SearchScope::default();
    let before = index.search("walrus", &scope).expect("an answer");
    assert_eq!((before.complete, before.pending_files), (true, 0));
    assert!(before.total > 0);
    let row = index
        .list(&Default::default())
        .expect("a list")
        .sessions
        .remove(0);

    let now = fs::read_to_string(&path).expect("the file");
    fs::write(&path, now.replace("walrus", "badger")).expect("written");
    // Whoever takes what is committed as it is reads nothing again.
    let committed = Index::open(&config, Freshness::AsCommitted).expect("an index");
    let after = committed.search("walrus", &scope).expect("an answer");
    assert_eq!((after.complete, after.pending_files), (false, 1));
    assert_eq!(
        (after.sessions.len(), &after.changed_files),
        (0, &vec![path.clone()])
    );
    let said = |index: &Index| {
        let shown = index
            .show(&row, &ShowScope::default())
            .expect("a transcript");
        assert_eq!(shown.entries.len(), 2);
        for entry in &shown.entries {
            assert!(format!("{:?}", entry.text).contains("badger"), "{entry:?}");
        }
        let problems = shown.entries.iter().filter(|entry| entry.problem.is_some());
        (problems.count(), shown.complete, shown.changed_files)
    };
    assert_eq!(
        said(&committed),
        (2, false, vec![path.clone()]),
        "as the file stands"
    );
    // Whoever brings the index up to the files does so.
    let after = index.search("walrus", &scope).expect("an answer");
    assert_eq!(
        (after.complete, after.pending_files, after.total),
        (true, 0, 0)
    );
    assert_eq!(said(&index), (0, true, Vec::new()));
    let again = index.search("badger", &scope).expect("an answer");
    assert_eq!(
        (again.complete, again.pending_files, again.total),
        (true, 0, before.total)
    );
}

#[test]
fn nuls_are_accounted_for() {
    let home = Sandbox::new();
    home.write(".config/sessionary/config.toml", "background = false\n");
    let folder = ".pi/agent/sessions/--code-parser--";
    let nuls = home.write(&format!("{folder}/nuls.jsonl"), &"\0".repeat(5_000_000));
    let after = home.write(
        &format!("{folder}/after.jsonl"),
        &(session("0a", "before the crash") + &"\0".repeat(4096)),
    );
    [nuls, after]
        .iter()
        .for_each(|path| home.touch(path, 1_767_600_000));
    assert_snapshot!(home.run(&["list", "--all"]), @r#"
    AGE  SESSION  AGENT  MSGS  PROJECT        TITLE
    2h   0a       pi        1  ~/code/parser  before the crash
    4h   nuls     pi        0                 [unlisted: no session header (NUL bytes)] (no messages)
    "#);
    assert_snapshot!(home.run(&["sql", "SELECT relative, length, reason FROM problems"]), @r#"
    relative                      length  reason
    --code-parser--/after.jsonl     4096  NUL bytes
    --code-parser--/nuls.jsonl   5000000  NUL bytes
    "#);
    assert_snapshot!(stderr_of(&home, &["verify"]), @r#"
    2 files, 2 entries, 1 passage, SIZE read: both stores equal the files.
    "#);
}

/// A home whose commands are run by a user whom permissions bind: ourselves, or nobody if we are
/// root.
pub struct BoundHome {
    pub home: Sandbox,
    nobody: bool,
}

const NOBODY: u32 = 65534;

impl BoundHome {
    /// `None`, and a line that says why, where no such user can be had.
    pub fn new(home: Sandbox) -> Option<BoundHome> {
        use std::os::unix::fs::MetadataExt;
        let nobody = fs::metadata(&home.home).expect("the home").uid() == 0;
        let bound = BoundHome { home, nobody };
        let probe = bound.home.write("probe", "secret");
        bound.give_away();
        permit(&probe, 0o000);
        let mut cat = std::process::Command::new("cat");
        match bound.by_user(&mut cat).arg(&probe).output() {
            Ok(output) if !output.status.success() => Some(bound),
            Ok(_) => {
                println!("SKIPPED: permissions do not bind the user of this test");
                None
            }
            Err(error) => {
                println!("SKIPPED: no process can be run as another user: {error}");
                None
            }
        }
    }

    pub fn by_user<'c>(
        &self,
        command: &'c mut std::process::Command,
    ) -> &'c mut std::process::Command {
        use std::os::unix::process::CommandExt;
        match self.nobody {
            // Other groups are given up with it.
            true => command.uid(NOBODY).gid(NOBODY),
            false => command,
        }
    }

    /// All that is in the home belongs to the user.
    pub fn give_away(&self) {
        if self.nobody {
            let folder = self.home.home.parent().expect("the sandbox");
            for entry in walkdir::WalkDir::new(folder) {
                let entry = entry.expect("an entry");
                std::os::unix::fs::lchown(entry.path(), Some(NOBODY), Some(NOBODY)).expect("given");
            }
        }
    }

    fn json(&self, arguments: &[&str]) -> (serde_json::Value, Option<i32>) {
        let mut command = self.home.command(arguments);
        let output = self
            .by_user(&mut command)
            .output()
            .expect("sessionary runs");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            panic!("{arguments:?}: {error}\n{said}")
        });
        (json, output.status.code())
    }
}

pub fn permit(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn permissions_that_are_lost_lose_nothing() {
    let home = home();
    let known_file = home.write(
        ".pi/agent/sessions/--a--/known.jsonl",
        &session("0c", "walrus one"),
    );
    let in_folder = home.write(
        ".pi/agent/sessions/--b--/known.jsonl",
        &session("0d", "walrus two"),
    );
    let Some(bound) = BoundHome::new(home) else {
        return;
    };
    let sessions = |json: &serde_json::Value| json["sessions"].as_array().map(Vec::len);
    let (before, _) = bound.json(&["sync", "--json"]);
    assert_eq!(before["complete"], true);
    // A file that is known, a folder of known files, and a file that nobody has seen yet.
    let new_file = bound.home.write(
        ".pi/agent/sessions/--a--/new.jsonl",
        &session("0e", "walrus three"),
    );
    bound.give_away();
    let folder = in_folder.parent().expect("its folder");
    let all = [known_file.as_path(), folder, new_file.as_path()];
    all.iter().for_each(|path| permit(path, 0o000));
    let (listed, code) = bound.json(&["list", "--all", "--json"]);
    assert_eq!((sessions(&listed), code), (Some(4), Some(0)), "{listed}");
    assert_eq!(listed["complete"], false);
    assert_eq!(listed["pending_files"], 3);
    let (verified, code) = bound.json(&["verify", "--json"]);
    assert_eq!(verified["differences"], serde_json::json!([]), "{verified}");
    assert_eq!(code, Some(0));
    let mut unread: Vec<&str> = verified["unread"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|unread| unread["path"].as_str())
        .collect();
    unread.sort_unstable();
    let mut expected: Vec<&str> = all.iter().filter_map(|path| path.to_str()).collect();
    expected.sort_unstable();
    assert_eq!(unread, expected);
    assert_eq!(bound.json(&["status", "--json"]).0["unread"], 3);
    // Words stay as well; what cannot be read again is no hit, and that is said.
    let (found, _) = bound.json(&["search", "walrus", "--json"]);
    assert_eq!(found["complete"], false, "{found}");
    // All of it is back with the permissions.
    for path in all {
        permit(path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    let (listed, _) = bound.json(&["list", "--all", "--json"]);
    assert_eq!(
        (sessions(&listed), &listed["complete"]),
        (Some(5), &true.into())
    );
    let (found, _) = bound.json(&["search", "walrus", "--json"]);
    assert_eq!(
        (&found["total"], &found["complete"]),
        (&3.into(), &true.into())
    );
    let (_, _) = bound.json(&["sync", "--json"]);
    let (verified, _) = bound.json(&["verify", "--json"]);
    assert_eq!(verified["unread"], serde_json::json!([]));
    assert_eq!(verified["differences"], serde_json::json!([]));
}

#[test]
fn what_verify_finds_in_the_words_the_next_sync_mends() {
    let home = home();
    let _ = home.run(&["sync"]);
    // A byte that no search need ever meet.
    for file in fs::read_dir(home.home.join(WORDS)).expect("the words") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|kind| kind == "store") {
            let mut bytes = fs::read(&path).expect("its bytes");
            bytes[0] ^= 1;
            fs::write(&path, bytes).expect("damaged");
        }
    }
    let differences = || home.json(&["verify", "--json"])["differences"].clone();
    assert_ne!(differences(), serde_json::json!([]));
    let notes = home.json(&["sync", "--json"])["report"]["notes"].clone();
    let note = notes[0].as_str().expect("a note");
    assert!(
        note.starts_with("the words are rebuilt: ") && note.ends_with(".store is damaged"),
        "{notes}"
    );
    assert_eq!(differences(), serde_json::json!([]));
}
