//! What becomes of a session that is picked? Keys are typed at the real program; the screen and the
//! files tell.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::home;
use crate::picker::pty::{Program, Pty};
use crate::sandbox::Sandbox;
use crate::watching::watcher::until;

/// A session with branches.
const PARSER: &str = ".pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl";
const DOCS: &str = ".pi/agent/sessions/--code-docs--/2026-01-04T09-00-00-000Z_0b.jsonl";
/// Alt-A, Alt-C, Alt-P and Alt-Enter.
const ACTIONS: &str = "\x1ba";
const COPY: &str = "\x1bc";
const PIN: &str = "\x1bp";
const ALT_ENTER: &str = "\x1b\r";

/// The picker on a terminal. It goes with the test.
struct Picker {
    pty: Pty,
    program: Program,
}

impl Picker {
    /// Opens it, showing this.
    fn open(home: &Sandbox, arguments: &[&str], shown: &str) -> Self {
        Self::of(&home.command(arguments), shown)
    }

    fn of(command: &Command, shown: &str) -> Self {
        let pty = Pty::new(100, 30);
        let program = pty.start(command);
        pty.until_shown(shown);
        Self { pty, program }
    }

    /// Types this, and waits until this is shown.
    fn types(&self, keys: &str, shown: &str) {
        self.pty.keys(keys);
        self.pty.until_shown(shown);
    }
}

/// A home whose sessions are indexed and have not changed for a while.
fn settled() -> Sandbox {
    let home = home();
    for path in sessions(&home) {
        home.touch(&path, 1_767_600_000);
    }
    let _ = home.run(&["sync"]);
    home
}

fn sessions(home: &Sandbox) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(home.home.join(".pi")).into_iter();
    let files = all.flatten().filter(|entry| entry.file_type().is_file());
    files.map(walkdir::DirEntry::into_path).collect()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What the one file says that is there and was not.
fn new_one(before: &[PathBuf], home: &Sandbox) -> String {
    let now = sessions(home);
    let new: Vec<_> = now.iter().filter(|path| !before.contains(path)).collect();
    let [new] = new[..] else {
        panic!("{new:?}");
    };
    text(new)
}

/// An agent that says where it was started, and with what.
pub fn agent(home: &Sandbox) -> PathBuf {
    let agent = home.write("bin/pi", "#!/bin/sh\necho \"agent in $PWD: $*\"\n");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("it may run");
    agent.parent().expect("a folder").to_path_buf()
}

/// The command with that agent on its path.
fn with_agent(home: &Sandbox, arguments: &[&str]) -> Command {
    let folder = agent(home);
    let mut command = home.command(arguments);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command
}

/// The picker, opened by a program that reads the id from this file.
fn for_another_program(home: &Sandbox, out: &Path) -> Command {
    let mut bash = Command::new("bash");
    let ours = home.command(&["pick", "--print", "id"]);
    let variables = ours.get_envs();
    bash.arg("-c")
        .arg(format!("\"$0\" \"$@\" >{}", out.display()))
        .arg(ours.get_program())
        .args(ours.get_args())
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .current_dir(&home.cwd);
    bash
}

#[test]
fn a_name_with_a_key_in_it_is_not_erased_by_who_cannot_see_it() {
    let home = settled();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let _ = home.run(&["name", "019b8d10", &format!("Token {key}")]);
    let before = text(&home.home.join(PARSER));
    assert!(before.contains(&key));
    let command = for_another_program(&home, &home.home.join("out"));
    let picker = Picker::of(&command, "▌ Token ");
    picker.types(&format!("{ACTIONS}r"), "Name of “Token ");
    picker.types("\r", "It keeps its name");
    assert_eq!(text(&home.home.join(PARSER)), before);
    let another = format!("{ACTIONS}rAnother\r");
    picker.types(&another, "Its name is “Another” now.");
}

#[test]
fn a_session_is_named_labelled_and_forked() {
    let home = settled();
    let parser = home.home.join(PARSER);
    let before = text(&parser);
    let mut picker = Picker::open(&home, &[], "Tokenizer work");
    picker.types(&format!("{ACTIONS}r"), "Name of “Tokenizer work”");
    // What was typed there goes first.
    picker.types("\x15A better name\r", "Its name is “A better name” now.");
    picker.types("x", "> x");
    picker.types("\x15", "A better name ");
    picker.types(
        &format!("{ACTIONS}lgood\r"),
        "The entry is labelled “good”.",
    );
    assert!(text(&parser).starts_with(&before), "it is only added to");
    assert!(text(&parser).contains(r#""label":"good""#));
    let all = sessions(&home);
    picker.types(
        &format!("{ACTIONS}f"),
        "Forked: “A better name”, for ~/code/parser.",
    );
    let fork = new_one(&all, &home);
    assert!(
        fork.contains("A better name") && fork.contains("parentSession"),
        "{fork}"
    );
    // What is asked for is done also where the picker is left at once, and said then.
    picker
        .pty
        .keys(&format!("{ACTIONS}r\x15The last name\r\x03"));
    assert_eq!(picker.program.code(), Some(1));
    let named = |file: &PathBuf| text(file).contains("The last name");
    assert!(sessions(&home).iter().any(named));
}

#[test]
fn a_branch_is_exported_to_a_free_name() {
    let home = settled();
    let named = |end: &str| home.cwd.join(format!("session-tokenizer-work{end}"));
    fs::write(named(".md"), "mine").expect("a file");
    let picker = Picker::open(&home, &["pick", "tokenizer"], "Tokenizer work");
    picker.types(
        &format!("{ACTIONS}m"),
        "Written to ~/code/parser/session-tokenizer-work-2.md.",
    );
    // The active branch, on which the match is.
    let active = text(&named("-2.md"));
    assert!(
        active.contains("Try trigrams instead") && !active.contains("bigrams"),
        "{active}"
    );
    assert_eq!(text(&named(".md")), "mine");
    // The branch of what is found.
    picker.types("\x15bigrams", "abandoned Try bigrams");
    picker.types(&format!("{ACTIONS}h"), "session-tokenizer-work.html.");
    let abandoned = text(&named(".html"));
    assert!(
        abandoned.contains("Try bigrams") && !abandoned.contains("trigrams"),
        "{abandoned}"
    );
    let mode = fs::metadata(named(".html"))
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_session_goes_to_the_trash_and_comes_back() {
    let home = settled();
    let parser = home.home.join(PARSER);
    let before = text(&parser);
    let picker = Picker::open(&home, &[], "Tokenizer work");
    let trash = home.home.join(".local/share/Trash/files");
    let question = "Move “Tokenizer work” to the trash? y/N";
    picker.types(&format!("{ACTIONS}t"), question);
    picker.pty.keys("n");
    picker.pty.until_gone(question);
    assert!(parser.exists() && !trash.exists());
    picker.types(
        &format!("{ACTIONS}ty"),
        "In the trash: 1 session; Alt-A u brings back",
    );
    picker.pty.until_gone("Tokenizer work");
    assert!(!parser.exists());
    assert_eq!(fs::read_dir(&trash).expect("the trash").count(), 1);
    picker.types(&format!("{ACTIONS}u"), "Back: 1 session.");
    picker.pty.until_shown("Tokenizer work");
    assert_eq!(text(&parser), before);
    assert_eq!(fs::read_dir(&trash).expect("the trash").count(), 0);
    let listed = home.run(&["list", "--all"]);
    assert!(listed.contains("Tokenizer work"), "{listed}");
}

#[test]
fn what_went_to_the_trash_before_comes_back_too() {
    let home = settled();
    let picker = Picker::open(&home, &["pick", "tokenizer"], "日本語");
    let is_there = |file| home.home.join(file).exists();
    for (file, title) in [(PARSER, "Tokenizer work"), (DOCS, "日本語の")] {
        picker.types(&format!("{ACTIONS}t"), &format!("Move “{title}"));
        picker.pty.keys("y");
        until("it is in the trash", || !is_there(file));
        picker.pty.until_gone(title);
    }
    for file in [DOCS, PARSER] {
        picker.pty.keys(&format!("{ACTIONS}u"));
        until("it is back", || is_there(file));
    }
}

#[test]
fn all_files_of_a_session_come_back_from_the_trash() {
    let home = settled();
    let chats = ".gemini/tmp/aviary/chats";
    let files = ["json", "jsonl"].map(|end| {
        let name = format!("session-2026-01-05T09-00-7d1c0a52.{end}");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/gemini/migrated/tmp/aviary/chats")
            .join(&name);
        home.write(&format!("{chats}/{name}"), &text(&fixture))
    });
    files
        .iter()
        .for_each(|file| home.touch(file, 1_767_600_000));
    let picker = Picker::open(&home, &["pick", "Swifts asleep"], "gemini · 4 messages");
    picker.types(&format!("{ACTIONS}ty"), "In the trash: 1 session; ");
    assert!(files.iter().all(|file| !file.exists()));
    picker.types(&format!("{ACTIONS}u"), "Back: 1 session.");
    assert!(files.iter().all(|file| file.exists()));
}

#[test]
fn a_marked_session_that_others_have_deleted_keeps_none_from_the_trash() {
    let home = settled();
    let picker = Picker::open(&home, &[], "Tokenizer work");
    picker.types("\t\t", "2 marked");
    picker.types(&format!("{ACTIONS}t"), "Move 2 sessions to the trash? y/N");
    fs::remove_file(home.home.join(PARSER)).expect("it is there");
    picker.types("y", "In the trash: 1 session");
    picker.pty.until_shown("Gone already: 1 session.");
    picker.types("\x15", "sessions");
    picker.pty.until_gone("marked");
}

#[test]
fn a_marked_session_that_is_gone_keeps_no_label_or_file_from_the_rest() {
    let home = settled();
    home.write(
        ".pi/agent/sessions/--code-parser--/another.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"0c","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/code/parser"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-03T09:00:01.000Z","message":{"role":"user","content":"Another one","timestamp":1767430801000}}"#, "\n",
        ),
    );
    let _ = home.run(&["sync"]);
    let picker = Picker::open(&home, &[], "Tokenizer work");
    // The index does not learn that the file is gone, and then it does.
    let lock = home.home.join(".cache/sessionary/v5/lock");
    let lock = fs::File::open(lock).expect("an index");
    lock.lock().expect("it is free");
    picker.types("\t\t\t\t", "4 marked");
    picker.types(
        &format!("{ACTIONS}l"),
        "Label of the entry found in 3 sessions",
    );
    fs::remove_file(home.home.join(PARSER)).expect("it is there");
    // Clido has no labels and is passed over, and one is gone.
    picker.types("good\r", "Labelled “good”: 2 entries.");
    picker.pty.until_shown("Not done");
    let labelled = |path: &&PathBuf| text(path).contains(r#""label":"good""#);
    assert_eq!(sessions(&home).iter().filter(labelled).count(), 2);
    picker.types(&format!("{ACTIONS}m"), "Written to ");
    picker.pty.until_shown("has changed since it was read");
    assert!(!home.cwd.join("session-tokenizer-work.md").exists());
    lock.unlock().expect("it is held");
    picker.types("x", "> x");
    picker.pty.keys("\x15");
    picker.pty.until_gone("Tokenizer work");
    picker.types(&format!("{ACTIONS}h"), "Written to ");
    picker.pty.until_shown("Not done for");
    assert!(!home.cwd.join("session-tokenizer-work.html").exists());
}

#[test]
fn what_is_no_longer_in_the_trash_keeps_nothing_else_there() {
    let home = settled();
    let picker = Picker::open(&home, &["pick", "tokenizer"], "日本語");
    let is_there = |file| home.home.join(file).exists();
    for (file, title) in [(PARSER, "Tokenizer work"), (DOCS, "日本語の")] {
        picker.types(&format!("{ACTIONS}t"), &format!("Move “{title}"));
        picker.pty.keys("y");
        until("it is in the trash", || !is_there(file));
        picker.pty.until_gone(title);
    }
    let all = walkdir::WalkDir::new(&home.home).into_iter().flatten();
    for of_docs in all.filter(|entry| entry.path().components().any(|c| c.as_os_str() == "Trash")) {
        if of_docs.file_name().to_string_lossy().contains("_0b.jsonl") {
            fs::remove_file(of_docs.path()).expect("it is there");
        }
    }
    // What is said is longer than a line.
    picker.types(&format!("{ACTIONS}u"), "0b.jsonl is no");
    picker.pty.keys(&format!("{ACTIONS}u"));
    until("the one before is back", || is_there(PARSER));
    picker.pty.until_shown("Tokenizer work");
}

#[test]
fn of_a_session_that_goes_while_its_name_is_typed_that_is_said() {
    for (letter, question, undone) in [
        ("r", "Name of “Tokenizer work”", "renamed"),
        (
            "l",
            "Label of the entry shown of “Tokenizer work”",
            "labelled",
        ),
    ] {
        let home = settled();
        let picker = Picker::open(&home, &[], "Tokenizer work");
        picker.types(&format!("{ACTIONS}{letter}"), question);
        fs::remove_file(home.home.join(PARSER)).expect("it is there");
        let said = format!("“Tokenizer work” is gone; nothing was {undone}.");
        picker.types("new\r", &said);
    }
}

#[test]
fn what_changed_a_moment_ago_stays() {
    let home = home();
    let _ = home.run(&["sync"]);
    let picker = Picker::open(&home, &[], "Tokenizer work");
    let said = "“Tokenizer work” changed in the last minute";
    picker.types(&format!("{ACTIONS}ty"), said);
    assert!(home.home.join(PARSER).exists());
    assert!(!home.home.join(".local/share/Trash").exists());
}

#[test]
fn pins_stand_first_the_next_time() {
    let home = settled();
    let pins = home.home.join(".local/share/sessionary/pins.json");
    let first = Picker::open(&home, &["pick", "project:docs"], "1 found ·");
    first.types(PIN, "Pinned: it stands first");
    assert!(text(&pins).contains("019b87e9"));
    let mode = fs::metadata(&pins).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(first);
    let out = home.home.join("out");
    let mut second = Picker::of(&for_another_program(&home, &out), "▌ ★ 日本語");
    second.pty.keys("\r");
    assert_eq!(second.program.code(), Some(0));
    assert_eq!(text(&out), "019b87e9-0000-7000-8000-00000000000b\n");
    // Unpinned it stands where it stood.
    let third = Picker::open(&home, &[], "▌ ★ 日本語");
    third.types(PIN, "It is no longer pinned.");
    third.pty.until_gone("★");
    fs::write(&pins, "{").expect("damaged");
    third.types(PIN, "kept as ~/.local/share/sessionary/pins.json.damaged");
    assert_eq!(text(&pins.with_file_name("pins.json.damaged")), "{");
    assert!(text(&pins).contains("019b"));
}

#[test]
fn an_agent_goes_on_from_the_entry_that_was_found() {
    let home = settled();
    let all = sessions(&home);
    let before = text(&home.home.join(PARSER));
    let command = with_agent(&home, &["pick", "bigrams"]);
    let mut picker = Picker::of(&command, "abandoned Try bigrams");
    picker.pty.keys(ALT_ENTER);
    let said = format!("agent in {}: --session ", home.cwd.display());
    picker.pty.until("the agent", |screen| {
        screen.contents().replace('\n', "").contains(&said)
    });
    assert_eq!(picker.program.code(), Some(0));
    // It ends at the entry, and its labels come along.
    let new = new_one(&all, &home);
    assert!(
        new.contains("Try bigrams") && !new.contains("trigrams"),
        "{new}"
    );
    assert!(new.contains(r#""label":"start""#), "{new}");
    assert_eq!(text(&home.home.join(PARSER)), before);
}

#[test]
fn an_agent_goes_on_from_where_somebody_has_gone_in_the_preview() {
    let home = settled();
    let all = sessions(&home);
    let mut picker = Picker::of(&with_agent(&home, &[]), "Tokenizer work");
    picker.pty.until_shown("Try trigrams instead");
    // To the preview, and to its beginning.
    picker.types("\x1b[C\x1b[H", "Fix the tokenizer please");
    picker.pty.keys(ALT_ENTER);
    picker.pty.until_shown("agent in");
    assert_eq!(picker.program.code(), Some(0));
    let new = new_one(&all, &home);
    assert!(
        new.contains("Fix the tokenizer please") && !new.contains("camelCase"),
        "{new}"
    );
}

#[test]
fn one_new_session_is_made_however_often_it_is_asked_for() {
    let home = settled();
    let all = sessions(&home);
    let command = with_agent(&home, &["pick", "bigrams"]);
    let mut picker = Picker::of(&command, "abandoned Try bigrams");
    picker.pty.keys(&ALT_ENTER.repeat(3));
    picker.pty.until_shown("agent in");
    assert_eq!(picker.program.code(), Some(0));
    assert!(new_one(&all, &home).contains("Try bigrams"));
    // Whoever leaves meanwhile is told of it.
    let all = sessions(&home);
    let mut picker = Picker::of(&command, "Try bigrams");
    picker.pty.keys(&format!("{ALT_ENTER}\x03"));
    assert_eq!(picker.program.code(), Some(1));
    picker.pty.until_shown("The new session was made already:");
    assert!(new_one(&all, &home).contains("Try bigrams"));
}

#[test]
fn an_agent_goes_on_from_an_entry_of_a_long_session_chosen_in_its_tree() {
    let home = settled();
    let mut long = concat!(
        r#"{"type":"session","version":3,"id":"long","timestamp":"2026-01-05T11:58:00.000Z","#,
        r#""cwd":"~/code/parser"}"#
    )
    .to_owned();
    for at in 1..=2_100 {
        let parent = match at {
            1 => "null".to_owned(),
            _ => format!("\"m{}\"", at - 1),
        };
        long += &format!(
            "\n{{\"type\":\"message\",\"id\":\"m{at}\",\"parentId\":{parent},\"timestamp\":\
             \"2026-01-05T11:58:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"step {at}.\"}}}}"
        );
    }
    let name = PARSER.replace("09-00-00-000Z_0a", "11-58-00-000Z_long");
    home.write(&name, &(long + "\n"));
    let _ = home.run(&["sync"]);
    let all = sessions(&home);
    let mut picker = Picker::of(&with_agent(&home, &[]), "▌ step 1.");
    picker.pty.until_shown("step 2100.");
    // To its preview, its tree, the fifth entry of that, and its branch.
    picker.types("\x1b[Ct", "(leaf)  step 2100.");
    picker.types("\x1b[H\x1b[B\x1b[B\x1b[B\x1b[B", "step 5.");
    picker.types("\r", "Esc list");
    picker.pty.until("where somebody stands", |screen| {
        screen.contents().contains('▶') && screen.contents().contains("step 6.")
    });
    picker.pty.keys(ALT_ENTER);
    picker.pty.until_shown("agent in");
    assert_eq!(picker.program.code(), Some(0));
    let new = new_one(&all, &home);
    assert!(
        new.contains("step 5.") && !new.contains("step 6."),
        "{}",
        new.len()
    );
}

#[test]
fn where_there_are_no_branches_nothing_is_done() {
    let home = settled();
    let all = || {
        let files = walkdir::WalkDir::new(home.home.join("clido")).into_iter();
        files
            .flatten()
            .map(|entry| text(entry.path()))
            .collect::<Vec<_>>()
    };
    let before = all();
    let picker = Picker::of(&with_agent(&home, &["pick", "Deployed"]), "Deployed.");
    picker.types(ALT_ENTER, "a session of clido has no branches");
    assert_eq!(all(), before);
    picker.types(" x", "> Deployed x");
}

#[test]
fn what_is_copied_goes_to_the_terminal() {
    let home = settled();
    let picker = Picker::open(&home, &[], "Tokenizer work");
    picker.types(COPY, "i  id");
    picker.types("i", "Copied: its id.");
    // The id in base64.
    let id = "MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBh";
    let copied = |letters: &str| {
        picker
            .pty
            .written()
            .contains(&format!("\x1b]52;c;{letters}\x07"))
    };
    assert!(copied(id));
    // Two that are marked, on lines of their own.
    picker.types(&format!("\t\t{COPY}i"), "Copied: its id, of 2 sessions.");
    assert!(copied(
        "MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBhCmY0N2FjMTBiLTU4Y2MtNDM3Mi1hNTY3LTBlMDJiMmMzZDQ3OQ=="
    ));
    picker.types(
        &format!("{COPY}m"),
        "Copied: the branch as Markdown, of 2 sessions.",
    );
}

#[test]
fn which_entry_is_meant_is_seen_once_the_preview_was_scrolled_from_the_list() {
    let home = settled();
    let picker = Picker::open(&home, &["pick", "cargo test"], "Tokenizer work");
    picker.types(&format!("{COPY}a"), "Copied: the address of the entry.");
    assert!(!picker.pty.text().contains('▶'), "{}", picker.pty.text());
    // It goes nowhere before all of it is read.
    until("the place is marked", || {
        picker.pty.keys("\x1b[1;2B");
        picker.pty.text().contains('▶')
    });
}

#[test]
fn what_was_found_is_copied() {
    let home = settled();
    let picker = Picker::open(&home, &["pick", "cargo test"], "Tokenizer work");
    let copied = |letters: &str| {
        let sequence = format!("\x1b]52;c;{letters}\x07");
        picker.pty.written().contains(&sequence)
    };
    // `cargo test`, without the tool and what is said beside it.
    picker.types(&format!("{COPY}e"), "Copied: the text of the entry.");
    assert!(copied("Y2FyZ28gdGVzdA=="));
    picker.types(&format!("{COPY}a"), "Copied: the address of the entry.");
    assert!(copied(
        "MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBhOmIx"
    ));
    picker.types("\x15bigrams", "abandoned Try bigrams");
    picker.types(&format!("{COPY}e"), "Copied: the text of the entry.");
    assert!(copied("VHJ5IGJpZ3JhbXM="));
}

#[test]
fn what_is_copied_is_copied_where_the_picker_is_left_at_once() {
    let home = settled();
    let mut picker = Picker::open(&home, &[], "Tokenizer work");
    picker.pty.keys(&format!("{COPY}i\x03"));
    assert_eq!(picker.program.code(), Some(1));
    // In the last frame, or below it where there was none.
    until("it is said", || picker.pty.has_shown("Copied: its id."));
    let id = "MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBh";
    let sequence = format!("\x1b]52;c;{id}\x07");
    assert!(picker.pty.written().contains(&sequence));
}

#[test]
fn what_is_copied_goes_to_the_clipboard_program_too() {
    let home = settled();
    let path = |name: &str| home.home.join(name);
    // One that is missing, and one that stays.
    let script = "#!/bin/sh\ncat >~/copied.part; mv ~/copied.part ~/copied; exec sleep 3\n";
    let xsel = home.write("bin/xsel", &script.replace('~', "$HOME"));
    fs::set_permissions(&xsel, fs::Permissions::from_mode(0o755)).expect("it may run");
    let mut command = home.command(&[]);
    let folder = xsel.parent().expect("a folder");
    // Nothing but what is needed: no other clipboard.
    command
        .env("PATH", format!("{}:/bin", folder.display()))
        .env("DISPLAY", ":77");
    let mut picker = Picker::of(&command, "Tokenizer work");
    picker.types(&format!("{COPY}p"), "Copied: the path of its file.");
    // It is not waited for.
    picker.types("\x03", "");
    assert_eq!(picker.program.code(), Some(1));
    until("it is copied", || path("copied").is_file());
    assert_eq!(text(&path("copied")), path(PARSER).display().to_string());
}

#[test]
fn filters_are_completed_with_what_the_index_knows() {
    let home = settled();
    let picker = Picker::open(&home, &[], "Tokenizer work");
    // Ctrl-Space.
    picker.types("ag\0", "> agent:");
    picker.pty.until_shown("│indusagi ");
    picker.types("cli", "│clido");
    picker.types("\r", "> agent:clido");
    picker.pty.until_shown("Deploy the parser");
    picker.pty.until_gone("Tokenizer work");
    picker.types("\x15label:\0", "> label:start");
    picker.pty.until_shown("Tokenizer work");
    // Of several one is chosen; Esc closes what is offered, and not the picker.
    picker.types("\x15ro\0", "> role:");
    picker.pty.until_shown("bashExecution");
    picker.pty.keys("\t\x1b");
    picker.pty.until_gone("bashExecution");
    picker.types("x", "> role:x");
}

#[test]
fn the_help_has_all_keys_and_goes_back_to_where_one_was() {
    let home = settled();
    let picker = Picker::open(&home, &[], "Tokenizer work");
    picker.types("\x1bOP", "Keys of the picker");
    picker.pty.until_shown("complete a filter");
    picker.pty.keys(" ");
    picker.pty.until_gone("Keys of the picker");
    picker.pty.keys("\x1b[C");
    picker.types("\x1bOP", "Any key closes this.");
    picker.pty.keys("\r");
    picker.pty.until_gone("Any key closes this.");
    // The preview has the keys still: what is typed is no query.
    picker.types("t", "tree");
}
