//! What becomes of a session that is picked? Keys are typed at the real program, and the files tell.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::cli::home;
use crate::sandbox::Sandbox;
use crate::typed::{Typed, agent, until};

/// A session with branches.
const PARSER: &str = ".pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl";
/// Alt-A, Alt-C and Alt-P.
const ACTIONS: &str = "\x1ba";
const COPY: &str = "\x1bc";
const PIN: &str = "\x1bp";
const ALT_ENTER: &str = "\x1b\r";

/// The picker, opened with these arguments, showing this.
fn picker(home: &Sandbox, arguments: &str, shown: &str) -> Option<Typed> {
    let line = format!("-c 'stty cols 100 rows 30; exec sessionary {arguments}'");
    let mut typed = Typed::at(home, "sh", &line)?;
    typed.shows(shown);
    Some(typed)
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

/// The one file that is there and was not.
fn new_one(before: &[PathBuf], now: &[PathBuf]) -> Option<PathBuf> {
    let mut new = now.iter().filter(|path| !before.contains(path));
    new.next()
        .filter(|path| text(path).ends_with('\n'))
        .cloned()
}

#[test]
fn a_session_is_named_labelled_and_forked() {
    let home = settled();
    let Some(mut picker) = picker(&home, "", "Tokenizer work") else {
        return;
    };
    let parser = home.home.join(PARSER);
    let before = text(&parser);
    // What was typed there goes first.
    picker.types(&format!("{ACTIONS}r\x15A better name\r"));
    until("a name", || {
        text(&parser)
            .contains(r#""name":"A better name""#)
            .then_some(())
    });
    picker.types(&format!("{ACTIONS}lgood\r"));
    until("a label", || {
        text(&parser).contains(r#""label":"good""#).then_some(())
    });
    assert!(text(&parser).starts_with(&before), "it is only added to");
    let all = sessions(&home);
    picker.types(&format!("{ACTIONS}f"));
    let fork = until("a fork", || new_one(&all, &sessions(&home)));
    assert!(text(&fork).contains("A better name") && text(&fork).contains("parentSession"));
    // What is asked for is done also where the picker is left at once.
    picker.types(&format!("{ACTIONS}r\x15The last name\r\x1b"));
    until("a name", || {
        text(&parser).contains("The last name").then_some(())
    });
}

#[test]
fn a_branch_is_exported_to_a_free_name() {
    let home = settled();
    let named = |end: &str| home.cwd.join(format!("session-tokenizer-work{end}"));
    fs::write(named(".md"), "mine").expect("a file");
    let Some(mut picker) = picker(&home, "", "Tokenizer work") else {
        return;
    };
    picker.types(&format!("{ACTIONS}m"));
    until("Markdown", || named("-2.md").is_file().then_some(()));
    assert!(text(&named("-2.md")).contains("Try trigrams instead"));
    assert_eq!(text(&named(".md")), "mine");
    picker.types(&format!("{ACTIONS}h"));
    until("HTML", || named(".html").is_file().then_some(()));
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
    let Some(mut picker) = picker(&home, "", "Tokenizer work") else {
        return;
    };
    let trash = home.home.join(".local/share/Trash/files");
    // No is no. What is typed then is a query again.
    picker.types(&format!("{ACTIONS}tn{ACTIONS}t\r"));
    picker.types(&format!("{ACTIONS}ty"));
    until("it is gone", || (!parser.exists()).then_some(()));
    assert_eq!(fs::read_dir(&trash).expect("the trash").count(), 1);
    until("it is back", || {
        // Offered once it is known that it went; the menu is closed else.
        picker.types(&format!("{ACTIONS}u{ACTIONS}"));
        std::thread::sleep(std::time::Duration::from_millis(100));
        (text(&parser) == before).then_some(())
    });
    assert_eq!(fs::read_dir(&trash).expect("the trash").count(), 0);
    let listed = home.run(&["list", "--all"]);
    assert!(listed.contains("Tokenizer work"), "{listed}");
}

#[test]
fn what_changed_a_moment_ago_stays() {
    let home = home();
    let _ = home.run(&["sync"]);
    let Some(mut picker) = picker(&home, "", "Tokenizer work") else {
        return;
    };
    let parser = home.home.join(PARSER);
    // The name shows that what was asked for before was looked at.
    picker.types(&format!("{ACTIONS}ty{ACTIONS}r\x15Still here\r"));
    until("a name", || {
        text(&parser).contains("Still here").then_some(())
    });
    assert!(!home.home.join(".local/share/Trash").exists());
}

#[test]
fn pins_stand_first_the_next_time() {
    let home = settled();
    let pins = home.home.join(".local/share/sessionary/pins.json");
    let Some(mut first) = picker(&home, "pick project:docs", "tokenizer…") else {
        return;
    };
    first.types(PIN);
    until("a pin", || text(&pins).contains("019b87e9").then_some(()));
    let mode = fs::metadata(&pins).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(first);
    let out = home.home.join("out");
    let arguments = format!("pick --print id >{}", out.display());
    let mut second = picker(&home, &arguments, "★").expect("as before");
    second.types("\r");
    let printed = until("what was chosen", || {
        Some(text(&out)).filter(|text| text.ends_with('\n'))
    });
    assert_eq!(printed, "019b87e9-0000-7000-8000-00000000000b\n");
    // Unpinned it stands where it stood.
    let mut third = picker(&home, "", "★").expect("as before");
    third.types(PIN);
    until("no pin", || {
        text(&pins).contains("\"pins\": []").then_some(())
    });
    fs::write(&pins, "{").expect("damaged");
    third.types(PIN);
    until("a pin", || text(&pins).contains("019b").then_some(()));
    assert_eq!(text(&pins.with_file_name("pins.json.damaged")), "{");
}

#[test]
fn an_agent_goes_on_from_the_entry_that_was_found() {
    let home = settled();
    agent(&home);
    let all = sessions(&home);
    let before = text(&home.home.join(PARSER));
    let Some(mut picker) = picker(&home, "pick bigrams", "Try") else {
        return;
    };
    picker.types(ALT_ENTER);
    let said = format!("agent in {}: --session ", home.cwd.display());
    let started = picker.shows(&said).to_owned();
    let new = new_one(&all, &sessions(&home)).expect("a session");
    let named = picker.shows(".jsonl").to_owned();
    assert!(named.contains(&*new.to_string_lossy()), "{started} {named}");
    // It ends at the entry, and its labels come along.
    let new = text(&new);
    assert!(
        new.contains("Try bigrams") && !new.contains("trigrams"),
        "{new}"
    );
    assert!(new.contains(r#""label":"start""#), "{new}");
    assert_eq!(text(&home.home.join(PARSER)), before);
}

#[test]
fn where_there_are_no_branches_nothing_is_done() {
    let home = settled();
    agent(&home);
    let all = || {
        let files = walkdir::WalkDir::new(home.home.join("clido")).into_iter();
        files
            .flatten()
            .map(|entry| text(entry.path()))
            .collect::<Vec<_>>()
    };
    let before = all();
    let Some(mut picker) = picker(&home, "pick Deployed", "Deployed") else {
        return;
    };
    // The picker stays: the next key goes to it, and what it asks for comes after.
    picker.types(&format!("{ALT_ENTER}{COPY}i"));
    picker.shows("\x1b]52;c;");
    assert_eq!(all(), before);
}

#[test]
fn what_is_copied_goes_to_the_terminal() {
    let home = settled();
    let Some(mut picker) = picker(&home, "", "Tokenizer work") else {
        return;
    };
    picker.types(&format!("{COPY}i"));
    // The id in base64.
    let id = "MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBh";
    picker.shows(&format!("\x1b]52;c;{id}\x07"));
    // Two that are marked, on lines of their own.
    picker.types(&format!("\t\t{COPY}i"));
    let two = picker.shows("\x07").to_owned();
    assert!(
        two.contains("\x1b]52;c;MDE5YjhkMTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDBhC"),
        "{two:?}"
    );
}
