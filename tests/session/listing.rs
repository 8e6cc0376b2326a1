//! Does an index list what the files say, also where it does not know them?

use std::ops::ControlFlow;

use sessionary::index::AgentListScope;
use sessionary::session::{SessionInfo, SessionManager};
use sessionary::{Config, Freshness, Index, RootSpec};

use super::{Place, user};

fn scope(cwd: Option<&str>, with_text: bool) -> AgentListScope {
    AgentListScope {
        cwd: cwd.map(str::to_owned),
        with_text,
    }
}

fn root(place: &Place, flat: bool) -> RootSpec {
    let of_flat = place.setup.flat.as_ref().filter(|_| flat);
    RootSpec {
        flat,
        ..RootSpec::new("pi", of_flat.unwrap_or(&place.setup.sessions).clone())
    }
}

#[test]
fn an_index_lists_a_flat_folder_and_what_it_does_not_know_as_the_files_say() {
    let mut place = Place::new();
    place.setup.flat = Some(place.folder.path().join("flat"));
    for (cwd, text) in [("/a", "one"), ("/b", "two"), ("/a", "three")] {
        let mut session = SessionManager::create(&place.setup, cwd).expect("begun");
        session.append_message(user(text)).expect("appended");
    }
    let setup = &place.setup;
    let go_on = &|_, _| ControlFlow::Continue(());
    let list = |cwd: Option<&str>| match cwd {
        Some(cwd) => SessionManager::list(setup, cwd).expect("a list"),
        None => SessionManager::list_all(setup).expect("a list"),
    };
    let said = |list: &[SessionInfo]| -> Vec<String> {
        let texts = list.iter().map(|info| info.all_messages_text.clone());
        texts.collect()
    };
    assert_eq!(said(&list(Some("/a"))), ["three", "one"]);
    let index = |name: &str, flat: bool| {
        let config = Config::new(place.folder.path().join(name), vec![root(&place, flat)]);
        Index::open(&config, Freshness::Check).expect("an index")
    };
    for index in [index("knows", true), index("does-not", false)] {
        for cwd in [Some("/a"), Some("/b"), Some("/c"), None] {
            let ours = index
                .ask(|snapshot| snapshot.agent_list(setup, &scope(cwd, true), go_on))
                .expect("a list");
            assert_eq!(ours, list(cwd));
            let short = index
                .ask(|snapshot| snapshot.agent_list(setup, &scope(cwd, false), go_on))
                .expect("a list");
            assert!(said(&short).iter().all(String::is_empty));
        }
    }
    // What the index has is not read again.
    let known = index("knows", true);
    std::fs::remove_dir_all(place.folder.path().join("flat")).expect("removed");
    let kept = known.ask(|snapshot| snapshot.agent_list(setup, &scope(Some("/a"), false), go_on));
    assert_eq!(kept.expect("a list").len(), 2);
}

/// What cannot be read hides itself alone, as it does for the agent; all else comes out of the
/// index.
#[cfg(unix)]
#[test]
fn an_unreadable_file_is_tried_again_alone() {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let setup = &place.setup;
    let go_on = &|_, _| ControlFlow::Continue(());
    for (cwd, text) in [("/a", "one"), ("/a", "two"), ("/b", "three")] {
        let mut session = SessionManager::create(setup, cwd).expect("begun");
        session.append_message(user(text)).expect("appended");
    }
    let config = Config::new(place.folder.path().join("index"), vec![root(&place, false)]);
    Index::open(&config, Freshness::Check).expect("an index");
    let all = SessionManager::list_all(setup).expect("a list");
    assert_eq!(all.len(), 3);
    // Permissions do not bind root, who finds a name that is no text as unreadable.
    let bad = &all[0].path;
    let forbid = |mode| fs::set_permissions(bad, fs::Permissions::from_mode(mode)).expect("set");
    forbid(0);
    let no_text = std::ffi::OsStr::from_bytes(b"\xff.jsonl");
    fs::write(bad.with_file_name(no_text), "").expect("written");
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let same = |when: &str| {
        for cwd in [Some("/a"), Some("/b"), None] {
            let theirs = match cwd {
                Some(cwd) => SessionManager::list(setup, cwd),
                None => SessionManager::list_all(setup),
            };
            let ours = index
                .ask(|snapshot| snapshot.agent_list(setup, &scope(cwd, true), go_on))
                .expect("a list");
            assert_eq!(ours, theirs.expect("a list"), "{when} {cwd:?}");
        }
    };
    assert!(!index.is_complete() && index.report().is_some());
    same("unreadable");
    // Readable again, it is there; what is elsewhere is not read: it is not even missed.
    forbid(0o600);
    same("readable again");
    let others: Vec<_> = all[1..].iter().map(|info| &info.path).collect();
    others
        .iter()
        .for_each(|path| fs::remove_file(path).expect("removed"));
    let ours = index
        .ask(|snapshot| snapshot.agent_list(setup, &scope(None, false), go_on))
        .expect("a list");
    assert_eq!(ours.len(), 3);
}

/// A file that was written anew since the index was opened is read itself, alone.
#[test]
fn a_row_whose_file_has_changed_is_read_from_it() {
    let place = Place::new();
    let setup = &place.setup;
    let go_on = &|_, _| ControlFlow::Continue(());
    for (cwd, text) in [("/a", "one"), ("/b", "two"), ("/a", "three")] {
        let mut session = SessionManager::create(setup, cwd).expect("begun");
        session.append_message(user(text)).expect("appended");
    }
    let config = Config::new(place.folder.path().join("index"), vec![root(&place, false)]);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let rows = |cwd: Option<&str>, with_text: bool| {
        let mut rows = Vec::new();
        let each = &mut |row: SessionInfo| rows.push(row);
        let asked = index.stream(|snapshot| {
            snapshot.agent_list_each(setup, &scope(cwd, with_text), go_on, each)
        });
        let _ = asked.expect("a list");
        rows
    };
    let files = || SessionManager::list_all(setup).expect("a list");
    let before = files();
    assert_eq!(rows(None, true), before);
    // The newest one, whose place is the same before and after.
    let path = &before[0].path;
    let text = std::fs::read_to_string(path).expect("read");
    std::fs::write(path, text.replace("three", "and three is four")).expect("written");
    let now = files();
    assert_ne!(now, before);
    assert_eq!(rows(None, true), now);
    // Meanwhile the index has read it again, without being asked to look at the files.
    let listed = rows(Some("/a"), false);
    assert_eq!(listed[0].first_message, now[0].first_message);
    std::fs::remove_file(path).expect("removed");
    assert_eq!(rows(None, true), files());
    // Who breaks off gets nothing more.
    let mut count = 0;
    let give_up = &|_, _| ControlFlow::Break(());
    let given_up = index.stream(|snapshot| {
        snapshot.agent_list_each(setup, &scope(None, true), give_up, &mut |_| count += 1)
    });
    assert!(matches!(given_up, Err(sessionary::Error::Cancelled)) && count == 0);
}
