//! What other programs and the disk do to a file that is open here.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use sessionary::session::{Error, NewSession, Profile, SessionManager};

use super::{HEADER, Place, assistant, line, read, user};

pub(super) fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .open(path)
        .expect("the file");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn a_file_appears_when_its_agent_lets_it() {
    for (profile, asked) in [(Profile::PI, 1), (Profile::INDUSAGI, 0)] {
        let place = Place::of(profile);
        let mut session = SessionManager::create(&place.setup, "/w").expect("new");
        session.append_model_change("p", "m").expect("appended");
        session.append_custom_entry("x", None).expect("appended");
        assert_eq!(place.names().len(), 0, "{}", profile.agent);
        session.append_message(user("hello")).expect("appended");
        assert_eq!(place.names().len(), asked, "{}", profile.agent);
        session.append_message(assistant("hi")).expect("appended");
        let path = session.session_file().expect("a file").to_path_buf();
        assert_eq!(read(&path).lines().count(), 5);
        assert_eq!(place.open(&path).entries(), session.entries());
        // The next one, in a file that is there, at once.
        session.append_session_info("name").expect("appended");
        assert_eq!(read(&path).lines().count(), 6);
    }
    let place = Place::new();
    let mut session = SessionManager::in_memory(&place.setup, "/w");
    session.append_message(assistant("hi")).expect("appended");
    assert!(!session.is_persisted() && session.session_file().is_none());
    assert_eq!((session.entries().len(), place.names().len()), (1, 0));
}

#[test]
fn a_question_without_an_answer_is_not_lost_in_a_file_that_is_there() {
    // indusagi withholds what is appended to such a file and never writes it.
    let place = Place::of(Profile::INDUSAGI);
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    place
        .open(&path)
        .append_message(user("b"))
        .expect("appended");
    place
        .open(&path)
        .append_message(assistant("c"))
        .expect("appended");
    assert_eq!(place.open(&path).branch().len(), 3);
    assert_eq!(read(&path).matches("\"session\"").count(), 1);
}

#[test]
fn a_line_without_an_end_is_ended_first() {
    let place = Place::new();
    for (tail, entries) in [
        (line("b", Some("a")), 3),
        (line("b", Some("a"))[..40].to_owned(), 2),
    ] {
        let before = format!("{HEADER}\n{}\n{tail}", line("a", None));
        let path = place.file(&before);
        let mut session = place.open(&path);
        assert_eq!(read(&path), before, "reading writes nothing");
        session.append_message(user("c")).expect("appended");
        let after = read(&path);
        assert!(after.starts_with(&(before + "\n{")) && after.ends_with("}\n"));
        let again = place.open(&path);
        assert_eq!(again.entries().len(), entries);
        assert_eq!(again.branch().len(), entries);
        assert_eq!(again.leaf_id(), session.leaf_id());
    }
}

#[test]
fn what_others_append_is_noticed_and_the_leaf_stays() {
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let mut session = place.open(&path);
    let theirs = place
        .open(&path)
        .append_message(user("theirs"))
        .expect("appended");
    append(&path, &line("half", Some("a"))[..30]);
    let ours = session.append_message(user("ours")).expect("appended");
    assert_eq!(
        session.entry(&ours).and_then(|entry| entry.parent_id()),
        Some("a")
    );
    assert!(session.entry(&theirs).is_some());
    assert_eq!(session.leaf_id(), Some(&*ours));
    session
        .append_label_change(&theirs, Some("x"))
        .expect("a known entry");
    let again = place.open(&path);
    assert_eq!(again.entries(), session.entries());
    assert_eq!(again.label(&theirs), Some("x"));
}

#[test]
fn what_an_agent_appends_while_we_append_is_noticed() {
    let mut place = Place::new();
    let meddle = place.meddle();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let mut session = place.open(&path);
    meddle(&path, &(line("b", Some("a")) + "\n"));
    let ours = session.append_message(user("ours")).expect("appended");
    assert_eq!(session.entries().len(), 3);
    assert_eq!(session.entries()[1].id(), Some("b"));
    assert_eq!(session.leaf_id(), Some(&*ours));
    // Behind a line that was torn when the file was locked, and one that is torn then.
    append(&path, "{\"torn");
    meddle(&path, &format!("\n{}\n{{\"torn", line("c", Some("b"))));
    session.append_session_info("n").expect("appended");
    assert_eq!(session.entries().len(), 5);
    assert_eq!(place.open(&path).entries(), session.entries());

    // An agent that goes on in a line without an end spoils it, here as in the file.
    let path = place.file(format!("{HEADER}\n{}", line("a", None)));
    let mut session = place.open(&path);
    meddle(&path, &(line("b", None) + "\n"));
    let ours = session.append_message(user("ours")).expect("appended");
    session.append_session_info("n").expect("appended");
    assert_eq!(place.open(&path).entries(), session.entries());
    assert!(session.entry("a").is_none() && session.entry(&ours).is_some());
}

#[test]
fn many_writers_lose_nothing() {
    const EACH: usize = 40;
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    // All stand at the same place.
    let mut sessions: Vec<_> = (0..4).map(|_| place.open(&path)).collect();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let mut session = sessions.pop().expect("one each");
            scope.spawn(move || {
                for at in 0..EACH {
                    let text = format!("{writer} {at} {}", "x".repeat(at * 300));
                    session.append_message(user(&text)).expect("appended");
                }
                assert_eq!(session.branch().len(), EACH + 1);
            });
        }
    });
    let session = place.open(&path);
    assert_eq!(session.entries().len(), 4 * EACH + 1);
    let ids: std::collections::HashSet<_> = session.entries().iter().map(|e| e.id()).collect();
    assert_eq!(ids.len(), 4 * EACH + 1);
}

#[test]
fn a_file_that_another_program_wrote_again_is_read_again() {
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let mut session = place.open(&path);
    // With our place in it.
    let rewritten = format!("{HEADER}\n{}\n{}\n", line("z", None), line("a", Some("z")));
    fs::write(&path, &rewritten).expect("written");
    session.append_message(user("b")).expect("appended");
    assert_eq!(session.branch().len(), 3);
    assert!(read(&path).starts_with(&rewritten));
    // Without it.
    let rewritten = format!("{HEADER}\n{}\n", line("other", None));
    fs::write(&path, &rewritten).expect("written");
    let error = session
        .append_message(user("c"))
        .expect_err("no place to stand");
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    assert_eq!(read(&path), rewritten);
    assert_eq!(session.branch().len(), 3, "nothing is forgotten");
    // And when it is gone it does not come back without its beginning, as pi's would.
    fs::remove_file(&path).expect("removed");
    let error = session.append_message(user("c")).expect_err("no file");
    assert!(matches!(error, Error::Gone { .. }), "{error}");
    assert!(!path.exists());
}

#[test]
fn what_is_no_session_is_left_alone() {
    let place = Place::new();
    let with_bom = format!("\u{feff}{HEADER}\n");
    let header_second = format!("{}\n{HEADER}\n", line("a", None));
    for content in ["my only copy\n", "{}\n", &with_bom, &header_second, "\n"] {
        let path = place.file(content);
        for open in [SessionManager::open, SessionManager::open_read_only] {
            let error = open(&place.setup, &path).err();
            assert!(
                matches!(error, Some(Error::NotASession { .. })),
                "{content:?}"
            );
        }
        assert_eq!(read(&path), content);
    }
}

#[test]
fn an_empty_file_is_filled_by_the_first_append() {
    let place = Place::new();
    let path = place.file("");
    let mut session = SessionManager::open_in(&place.setup, &path, "/w").expect("a session");
    assert_eq!(read(&path), "");
    session
        .append_session_info(" a\r\n\nname ")
        .expect("appended");
    let again = place.open(&path);
    assert_eq!(again.header(), session.header());
    assert_eq!(again.session_name().as_deref(), Some("a name"));
    assert_eq!(read(&path).lines().count(), 2);

    // Two that saw it empty: one session comes of it.
    let path = place.file("");
    let open = || SessionManager::open_in(&place.setup, &path, "/w").expect("a session");
    let (mut one, mut two) = (open(), open());
    one.append_message(user("one")).expect("appended");
    let before = read(&path);
    assert!(matches!(
        two.append_message(user("two")),
        Err(Error::Replaced { .. })
    ));
    assert_eq!(read(&path), before);

    // A path where nothing is yet is kept.
    let path = path.with_file_name("mine.jsonl");
    let mut session = SessionManager::open_in(&place.setup, &path, "/w").expect("a session");
    assert!(!path.exists());
    session.append_message(user("one")).expect("appended");
    assert_eq!(place.open(&path).entries().len(), 1);
}

#[test]
fn a_session_to_look_at_is_not_changed() {
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}", line("a", None)));
    let mut session = SessionManager::open_read_only(&place.setup, &path).expect("a session");
    assert!(matches!(
        session.append_session_info("x"),
        Err(Error::ReadOnly)
    ));
    assert!(matches!(session.migrate(), Err(Error::ReadOnly)));
    assert_eq!(read(&path), format!("{HEADER}\n{}", line("a", None)));
    let missing = path.with_file_name("none.jsonl");
    assert!(SessionManager::open_read_only(&place.setup, &missing).is_err());
    assert_eq!(place.names(), ["session.jsonl"]);
}

#[test]
fn a_session_in_memory_stays_there_with_the_entries_of_a_file() {
    let place = Place::new();
    let old = HEADER.replace("\"version\":3", "\"version\":2");
    for header in [HEADER, &old] {
        let content = format!("{header}\n{}\n", line("a", None));
        let path = place.file(&content);
        let mut session = SessionManager::in_memory(&place.setup, "/w");
        session.set_session_file(&path).expect("a session");
        assert_eq!((session.entries().len(), session.leaf_id()), (1, Some("a")));
        session.append_message(assistant("b")).expect("appended");
        assert_eq!(session.branch().len(), 2);
        assert!(!session.is_persisted() && session.session_file().is_none());
        let next = session.new_session(&NewSession::default());
        assert_eq!(next.expect("a session"), None);
        session.append_message(assistant("c")).expect("appended");
        assert_eq!(read(&path), content);
        assert_eq!(place.names(), ["session.jsonl"]);
    }
    // So does one that is to have the entries of a file that is not there.
    let mut session = SessionManager::in_memory(&place.setup, "/w");
    let none = place.folder.path().join("sessions/none.jsonl");
    session.set_session_file(&none).expect("a session");
    session.append_message(assistant("d")).expect("appended");
    assert_eq!(place.names(), ["session.jsonl"]);
}

#[test]
fn the_session_used_last_is_continued() {
    let mut place = Place::new();
    let make = |place: &Place, cwd: &str, text: &str| {
        let mut session = SessionManager::create(&place.setup, cwd).expect("new");
        session.append_message(user(text)).expect("appended");
        session.session_file().expect("a file").to_path_buf()
    };
    let touch = |path: &Path, seconds: u64| {
        let file = OpenOptions::new()
            .append(true)
            .open(path)
            .expect("the file");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.set_modified(time).expect("its time");
    };
    let (old, new) = (make(&place, "/w", "old"), make(&place, "/w", "new"));
    touch(&old, 2000);
    touch(&new, 1000);
    fs::write(old.with_file_name("z.jsonl"), "no session").expect("a file");
    let session = SessionManager::continue_recent(&place.setup, "/w").expect("a session");
    assert_eq!(session.session_file(), Some(&*old));
    let fresh = SessionManager::continue_recent(&place.setup, "/elsewhere").expect("a session");
    assert!(!fresh.session_file().expect("a file").exists());

    // In one folder for all projects only this project's sessions count.
    place.setup.flat = Some(place.folder.path().join("flat"));
    let (mine, other) = (make(&place, "/w/", "mine"), make(&place, "/x", "other"));
    touch(&mine, 1000);
    touch(&other, 2000);
    let session = SessionManager::continue_recent(&place.setup, "/w").expect("a session");
    assert_eq!(session.session_file(), Some(&*mine));
}

#[test]
fn ids_of_sessions_are_checked_and_files_are_never_overwritten() {
    let place = Place::new();
    for id in ["", "-a", "a/b", "a ", "ä", "..", "a."] {
        let new = NewSession {
            id: Some(id.to_owned()),
            ..Default::default()
        };
        assert!(
            SessionManager::create_with(&place.setup, "/w", &new).is_err(),
            "{id:?}"
        );
    }
    let new = NewSession {
        id: Some("my.own_id-7".to_owned()),
        ..Default::default()
    };
    let mut session = SessionManager::create_with(&place.setup, "/w", &new).expect("new");
    let path = session.session_file().expect("a file").to_path_buf();
    assert!(path.ends_with("--w--/2026-01-05T09-00-00-250Z_my.own_id-7.jsonl"));
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, "something").expect("written");
    assert!(session.append_message(user("hello")).is_err());
    assert_eq!(read(&path), "something");
    assert_eq!((session.entries().len(), session.leaf_id()), (0, None));
}

/// Runs in a process of its own, whose files may not grow beyond a few KiB.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_nothing_half_written() {
    const CHILD: &str = "SESSIONARY_FULL_DISK";
    let long = "x".repeat(3000);
    if let Some(path) = std::env::var_os(CHILD) {
        let place = Place::new();
        let mut session = place.open(Path::new(&path));
        let mut fit = 0;
        let error = loop {
            match session.append_message(user(&long)) {
                Ok(_) => fit += 1,
                Err(error) => break error,
            }
            assert!(fit < 100, "the limit is not there");
        };
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert_eq!(session.entries().len(), 1 + fit);
        assert_eq!(place.open(Path::new(&path)).entries(), session.entries());
        // A short one still fits behind it, and a new file that does not fit is not there.
        session.append_session_info("n").expect("appended");
        let mut new = SessionManager::create(&place.setup, "/w").expect("new");
        assert!(new.append_message(user(&"y".repeat(20_000))).is_err());
        assert_eq!((place.names().len(), new.entries().len()), (0, 0));
        println!("{fit} fit");
        return;
    }
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let name = "session::files::a_full_disk_leaves_nothing_half_written";
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, &path)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("2 fit"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = read(&path);
    assert!(text.ends_with("}\n"));
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.lines()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );
}
