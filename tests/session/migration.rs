//! How files of old versions become new: on the first append, by rename, with a copy put away.

use std::fs;

use sessionary::session::{Error, SessionManager};

use super::{HEADER, Place, read, user};

const V1: &str = concat!(
    r#"{"type":"session","id":"s1","timestamp":"2026-01-05T09:00:00.000Z", "cwd":"/w","provider":"p"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user", "content":"one \u00e9"}}"#,
    "\r\n",
    "torn {\"type\":\n",
    r#"{"type":"message","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"hookMessage","content":"two"}}"#,
    "\n",
    "\n",
    r#"{"type":"compaction","firstKeptEntryIndex":2,"summary":"s","tokensBefore":7}"#,
    "\n",
    r#"{"type":"message","message":{"role":"user","content":"three"}}"#,
);

#[test]
fn the_first_append_brings_a_file_up_to_date_and_keeps_a_copy() {
    let place = Place::new();
    let path = place.file(V1);
    let mut session = place.open(&path);
    assert_eq!(read(&path), V1, "reading writes nothing");
    let ids: Vec<String> = session
        .entries()
        .iter()
        .flat_map(|e| e.id())
        .map(str::to_owned)
        .collect();
    assert_eq!((ids.len(), session.branch().len()), (4, 4));
    session
        .append_label_change(&ids[0], Some("begin"))
        .expect("appended");

    let [a, b, c, d] = &ids[..] else {
        panic!("{ids:?}")
    };
    let text = read(&path);
    let (migrated, _) = text.split_at(text.rfind("{\"type\":\"label\"").expect("the label"));
    let expected = [
        r#"{"type":"session","id":"s1","timestamp":"2026-01-05T09:00:00.000Z", "cwd":"/w","provider":"p","version":3}"#.to_owned(),
        format!(r#"{{"type":"message","timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user", "content":"one \u00e9"}},"id":"{a}","parentId":null}}"#) + "\r",
        "torn {\"type\":".to_owned(),
        format!(r#"{{"type":"message","timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"custom","content":"two"}},"id":"{b}","parentId":"{a}"}}"#),
        String::new(),
        format!(r#"{{"type":"compaction","summary":"s","tokensBefore":7,"id":"{c}","parentId":"{b}","firstKeptEntryId":"{b}"}}"#),
        format!(r#"{{"type":"message","message":{{"role":"user","content":"three"}},"id":"{d}","parentId":"{c}"}}"#),
        String::new(),
    ];
    assert_eq!(migrated, expected.join("\n"));
    assert_eq!(place.open(&path).entries(), session.entries());

    // Nothing but the session lies in the agent's folder; the copy is in ours, and private.
    assert_eq!(place.names(), ["session.jsonl"]);
    let backups = place.setup.backups.clone().expect("a folder");
    let copies: Vec<_> = fs::read_dir(&backups).expect("made").flatten().collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(read(&copies[0].path()), V1);
    assert!(
        copies[0]
            .file_name()
            .to_string_lossy()
            .ends_with(".v1.session.jsonl")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| {
            fs::metadata(path).expect("there").permissions().mode() & 0o777
        };
        assert_eq!((mode(&backups), mode(&copies[0].path())), (0o700, 0o600));
    }
    // Once is enough.
    session.append_session_info("x").expect("appended");
    assert_eq!(fs::read_dir(&backups).expect("there").count(), 1);
}

#[test]
fn without_a_place_for_the_copy_nothing_happens() {
    let mut place = Place::new();
    place.setup.backups = None;
    let path = place.file(V1);
    let mut session = place.open(&path);
    let error = session.append_session_info("x").expect_err("no backups");
    assert!(
        matches!(error, Error::NoBackups { version: 1, .. }),
        "{error}"
    );
    assert_eq!(read(&path), V1);
}

#[test]
fn a_file_that_another_program_migrates_first_is_not_migrated_twice() {
    let place = Place::new();
    let path = place.file(V1);
    let (mut one, mut two) = (place.open(&path), place.open(&path));
    one.append_session_info("one").expect("appended");
    let before = read(&path);
    let error = two
        .append_session_info("two")
        .expect_err("its ids are nowhere");
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    assert_eq!(read(&path), before);
}

#[test]
fn a_file_that_an_agent_appends_to_meanwhile_is_not_replaced() {
    let mut place = Place::new();
    let meddle = place.meddle();
    let path = place.file(V1);
    let mut session = place.open(&path);
    let theirs =
        "\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"theirs\"}}\n";
    meddle(&path, theirs);
    // Its line has no id in this session, now or later.
    for _ in 0..3 {
        let error = session.append_session_info("x").expect_err("changed");
        assert!(matches!(error, Error::Replaced { .. }), "{error}");
        assert_eq!(read(&path), V1.to_owned() + theirs);
    }
    assert_eq!(place.names(), ["session.jsonl"]);
    let mut session = place.open(&path);
    session.append_session_info("x").expect("appended");
    let again = place.open(&path);
    assert_eq!(
        (again.branch().len(), again.entries()),
        (6, session.entries())
    );
}

#[test]
fn version_two_keeps_its_ids() {
    let place = Place::new();
    let header = HEADER.replace("\"version\":3", "\"version\":2");
    let hook = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"hookMessage","content":"x"}}"#;
    let path = place.file(format!("{header}\n{hook}\n"));
    let mut session = place.open(&path);
    assert_eq!(session.entries()[0].role(), "custom");
    session.append_message(user("b")).expect("appended");
    let text = read(&path);
    assert!(text.starts_with(&format!(
        "{HEADER}\n{}\n",
        hook.replace("hookMessage", "custom")
    )));
    assert_eq!(place.open(&path).branch().len(), 2);
}

#[test]
#[cfg(unix)]
fn a_link_and_the_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let real = place.folder.path().join("real.jsonl");
    fs::write(&real, V1).expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("set");
    let link = place.file("");
    fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    place
        .open(&link)
        .append_session_info("x")
        .expect("appended");
    assert!(link.is_symlink());
    assert_eq!(
        fs::metadata(&real).expect("there").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(place.open(&real).session_name().as_deref(), Some("x"));
}

/// Who may not give the new file to the old one's owner leaves the old one: its owner could not
/// read the new one.
#[test]
#[cfg(unix)]
fn a_file_stays_its_owners() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const CHILD: &str = "SESSIONARY_NOT_THE_OWNER";
    if let Some(path) = std::env::var_os(CHILD) {
        let place = Place::new();
        let mut session = place.open(path.as_ref());
        let refused = session.append_session_info("x").expect_err("another user");
        let backups = place.setup.backups.as_deref().expect("a folder");
        let left = fs::read_dir(backups).expect("the folder").count();
        println!("{left} copies: {}", sessionary::with_causes(&refused));
        return;
    }
    let place = Place::new();
    let path = place.file(V1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).expect("set");
    if chown(&path, Some(1000), Some(1001)).is_err() {
        eprintln!("SKIPPED: only root gives files away");
        return;
    }
    let of = |path: &std::path::Path| {
        let is = fs::metadata(path).expect("there");
        (is.uid(), is.gid(), is.mode() & 0o777)
    };
    let name = "session::migration::a_file_stays_its_owners";
    let told = |mode: u32| {
        for folder in path.ancestors().skip(1).take(3) {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("set");
        }
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, &path)
            .current_dir("/")
            .uid(65_534)
            .gid(1001)
            .output();
        let output = output.ok()?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(told + &String::from_utf8_lossy(&output.stderr))
    };
    for (mode, why) in [
        (
            0o777,
            "rewritten here, it would belong to another user or group",
        ),
        (
            0o755,
            "by a new file in its folder, which cannot be made: permission denied",
        ),
    ] {
        let Some(told) = told(mode) else {
            eprintln!("SKIPPED: another user may not start this test");
            return;
        };
        assert!(told.contains("0 copies: ") && told.contains(why), "{told}");
    }
    assert_eq!((&*read(&path), of(&path)), (V1, (1000, 1001, 0o660)));
    assert_eq!(place.names(), ["session.jsonl"]);
    // Root may.
    let mut session = place.open(&path);
    session.append_session_info("x").expect("appended");
    assert_eq!(of(&path), (1000, 1001, 0o660));
    assert_eq!(place.open(&path).session_name().as_deref(), Some("x"));
}

#[test]
fn a_fork_of_an_old_file_can_be_read() {
    // pi copies entries of version 1 under a header of version 3: without ids, without a branch.
    let place = Place::new();
    let path = place.file(V1);
    let mut fork = SessionManager::fork_from(&place.setup, &path, "/x").expect("a fork");
    assert_eq!(read(&path), V1);
    assert_eq!((fork.branch().len(), fork.cwd()), (4, "/x"));
    assert_eq!(fork.header().parent_session().as_deref(), path.to_str());
    fork.append_session_info("fork").expect("appended");
    // Such a file of pi's gets its ids back.
    let lost = V1.replace("\"cwd\"", "\"version\":3,\"cwd\"");
    let path = place.file(lost);
    let mut session = place.open(&path);
    assert_eq!(session.branch().len(), 4);
    session.append_session_info("found").expect("appended");
    assert_eq!(place.open(&path).branch().len(), 5);
}
