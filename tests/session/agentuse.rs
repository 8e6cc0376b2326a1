//! Is a session of agentuse's read whole, in its order, and written as it writes?

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use serde_json::{Value, json};
use sessionary::index::ListScope;
use sessionary::session::agentuse::{
    Agent, MessageDocument, Part, PartTime, Project, Session, SessionDocument, SessionWriter,
    Status, ToolState, project_folder,
};
use sessionary::session::{Error, Json, RandomIds};
use sessionary::{Config, Freshness, Index, RootSpec};

use super::TickingClock;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse")
}

/// All `session.json` below a folder, sorted.
fn sessions(folder: &Path) -> Vec<PathBuf> {
    walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_name() == "session.json")
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// Ids of the session, its messages and their parts in their order.
fn ids(session: &Session) -> Vec<String> {
    let mut ids = Vec::new();
    for message in &session.messages {
        ids.push(message.document.id.clone());
        ids.extend(message.parts.iter().map(|part| part.id.clone()));
    }
    ids
}

#[test]
fn every_fixture_is_read_whole_in_the_order_of_its_transcript() {
    let (mut compared, mut bad) = (0, 0);
    for case in fs::read_dir(fixtures()).expect("fixtures").flatten() {
        let expected = fs::read(case.path().join("expected.json"));
        let expected: Value = serde_json::from_slice(&expected.expect("expected")).expect("JSON");
        for path in sessions(&case.path()) {
            let folder = path.parent().expect("a folder");
            let session = Session::read_lenient(folder).expect("a session");
            let of_tree = [&session].into_iter().chain(&session.subagents);
            let damaged = of_tree.clone().any(|one| !one.problems.is_empty());
            bad += usize::from(damaged);
            if session.subagents.iter().all(|one| one.subagents.is_empty()) {
                let strict = Session::read(folder);
                assert_eq!(strict.is_err(), damaged, "{}", path.display());
            }
            let Some(transcript) = expected["transcripts"].get(&session.document.id) else {
                continue;
            };
            let rows = transcript.as_array().expect("rows").iter();
            let theirs: Vec<&str> = rows
                .filter(|row| {
                    !matches!(
                        row[1].as_str(),
                        Some("session" | "context" | "artifact" | "tools")
                    )
                })
                .filter_map(|row| row[0].as_str())
                .collect();
            let ours = ids(&session);
            let theirs: Vec<&str> = theirs
                .into_iter()
                .filter(|id| ours.iter().any(|our| our == id))
                .collect();
            assert_eq!(ours, theirs, "{}", path.display());
            compared += ours.len();
        }
    }
    assert!(compared > 40 && bad > 0, "{compared} {bad}");
}

#[test]
fn what_is_damaged_is_named_and_the_rest_is_read() {
    let damage = sessions(&fixtures().join("damage"));
    let folders = damage.iter().filter_map(|path| path.parent());
    let mut errors = 0;
    for folder in folders {
        let lenient = Session::read_lenient(folder).expect("a session");
        match (Session::read(folder), lenient.problems.first()) {
            (Ok(strict), None) => assert_eq!(strict, lenient),
            (Err(Error::BadDocument(first)), Some(problem)) => {
                assert_eq!(&first, problem);
                errors += 1;
            }
            (strict, problem) => panic!("{strict:?} {problem:?}"),
        }
    }
    assert!(errors > 0);
    let none = tempfile::tempdir().expect("a folder");
    assert!(matches!(Session::read(none.path()), Err(Error::Io { .. })));
}

/// A folder that came from elsewhere may hold a link to itself, or so many folders that no stack
/// holds them all.
#[cfg(unix)]
#[test]
fn no_link_to_a_subagent_is_followed_nor_a_chain_without_end() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = |depth: usize| {
        let below = std::iter::repeat_n("subagent/a", depth);
        below.fold(place.path().to_path_buf(), |at, below| at.join(below))
    };
    let write = |folder: &Path| {
        fs::create_dir_all(folder.join("subagent")).expect("a folder");
        fs::write(folder.join("session.json"), "{}").expect("written");
    };
    write(place.path());
    std::os::unix::fs::symlink("..", folder(0).join("subagent/up")).expect("a link");
    let depth = |session: &Session| {
        let mut depth = 0;
        let mut at = session;
        while let Some(below) = at.subagents.first() {
            (at, depth) = (below, depth + 1);
        }
        (depth, at.problems.len())
    };
    let read = |folder: &Path| Session::read_lenient(folder).expect("a session");
    assert_eq!(depth(&read(place.path())), (0, 0));
    // The folder that is asked for may be a link of the user's.
    assert_eq!(depth(&read(&folder(0).join("subagent/up"))), (0, 0));
    for deep in 1..=300 {
        write(&folder(deep));
    }
    assert_eq!(depth(&read(place.path())), (64, 1));
    assert!(matches!(
        Session::read(place.path()),
        Err(Error::BadDocument(_))
    ));
}

/// Whoever opens a fifo waits for a writer.
#[cfg(unix)]
#[test]
fn nothing_but_a_file_is_a_document() {
    for (name, is_read) in [
        ("session.json", false),
        ("m/message.json", false),
        ("x", true),
    ] {
        let place = tempfile::tempdir().expect("a folder");
        fs::create_dir(place.path().join("m")).expect("a folder");
        fs::write(place.path().join("session.json"), "{}").expect("written");
        let fifo = place.path().join(name);
        let _ = fs::remove_file(&fifo);
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
        let (tell, told) = std::sync::mpsc::channel();
        let folder = place.path().to_path_buf();
        std::thread::spawn(move || drop(tell.send(Session::read_lenient(&folder))));
        let read = told.recv_timeout(std::time::Duration::from_secs(20));
        let read = read.expect("it waits for nobody");
        assert_eq!(read.is_ok(), is_read, "{read:?}");
        let told = read.err().map(|error| error.to_string());
        assert!(told.is_none_or(|told| told.contains(name)), "{name}");
    }
}

fn new(name: &str) -> SessionDocument {
    SessionDocument {
        agent: Agent {
            id: Some(format!("agents/{name}")),
            name: name.into(),
            ..Default::default()
        },
        trigger: Some("manual".into()),
        model: "anthropic:claude-sonnet-4-6".into(),
        version: "0.15.0".into(),
        project: Project {
            root: "/home/ada/mono".into(),
            cwd: "/home/ada/mono/sub".into(),
            ..Default::default()
        },
        ..Default::default()
    }
}

#[test]
fn what_is_written_is_read_back_and_listed() {
    let place = tempfile::tempdir().expect("a folder");
    let project = project_folder(place.path(), "/home/ada/mono");
    let ticking = Arc::new(TickingClock(AtomicI64::new(1_767_603_600_000)));
    let clock = || ticking.clone();
    let random = Arc::new(RandomIds);
    let writer = SessionWriter::create(&project, new("Triage Bot"), clock(), random, true);
    let writer = writer.expect("begun");
    let name = writer
        .folder()
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert_eq!(name, format!("{}-agents-triage-bot", writer.id()));
    assert!(writer.id().starts_with("01KE6P4YM0"));

    let message = writer
        .write_message(MessageDocument::task("Sort the inbox"))
        .expect("written");
    let timed = |mut part: Part, start| {
        part.time = Some(PartTime {
            start: Some(start),
            ..Default::default()
        });
        part
    };
    let second = writer
        .write_part(&message, timed(Part::text("second"), 20))
        .expect("written");
    let call = Part {
        kind: "tool".into(),
        call_id: Some("call_1".into()),
        tool: Some("read".into()),
        state: Some(ToolState {
            status: "running".into(),
            input: Json::parse(r#"{"path": "a.txt"}"#),
            time: Some(PartTime {
                start: Some(10),
                ..Default::default()
            }),
            ..Default::default()
        }),
        ..Default::default()
    };
    let call_id = writer.write_part(&message, call.clone()).expect("written");
    let helper = writer.create_subagent(new("mail")).expect("begun");
    helper
        .set_status(
            Status::Error,
            Json::parse(r#"{"message":"no","code":"TIMEOUT"}"#).as_ref(),
        )
        .expect("written");

    // Another writer of the same session puts the finished call in the place of the running one.
    let again = SessionWriter::open(writer.folder(), clock(), Arc::new(RandomIds)).expect("opened");
    let mut done = Part {
        id: call_id.clone(),
        ..call
    };
    let state = done.state.as_mut().expect("a state");
    "completed".clone_into(&mut state.status);
    state.output = Json::parse(r#""text""#);
    assert_eq!(again.write_part(&message, done).expect("written"), call_id);
    again.set_status(Status::Completed, None).expect("written");

    let session = Session::read(writer.folder()).expect("a session");
    assert_eq!(ids(&session), [message.clone(), call_id, second]);
    assert_eq!(session.document.status, Some(Status::Completed));
    assert!(session.document.time.updated > session.document.time.created);
    let below = &session.subagents[0].document;
    assert_eq!(below.parent_session_id.as_deref(), Some(writer.id()));
    assert_eq!(
        (below.agent.is_sub_agent, &below.status),
        (true, &Some(Status::Error))
    );

    // As JavaScript writes it, with nothing left beside it.
    let text = fs::read_to_string(writer.folder().join("session.json")).expect("text");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
    assert_eq!(keys.len(), 8, "{keys:?}");
    let pretty = text.lines().all(|line| {
        line.len() - line.trim_start().len() == line.chars().take_while(|c| *c == ' ').count()
    });
    assert!(
        pretty
            && text.starts_with("{\n  \"trigger\": \"manual\",\n  \"agent\": {\n    \"id\"")
            && text.ends_with("\n}")
    );
    let names = walkdir::WalkDir::new(place.path()).into_iter().flatten();
    assert!(
        names
            .into_iter()
            .all(|entry| !entry.file_name().to_string_lossy().ends_with(".tmp"))
    );

    // The other reader, that of the index, has the same.
    let root = RootSpec::new("agentuse", place.path().join("project"));
    let config = Config::new(place.path().join("index"), vec![root]);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let rows = index.list(&ListScope::default()).expect("a list").sessions;
    let by_id: HashMap<&str, _> = rows.iter().map(|row| (&*row.id, row)).collect();
    let row = by_id[writer.id()];
    assert_eq!(
        (
            row.listed_by_agent,
            row.own.as_ref().map(|own| &own["status"])
        ),
        (true, Some(&json!("completed")))
    );
    assert_eq!(
        by_id[helper.id()].parent_session_path.as_deref(),
        Some(writer.id())
    );
    let shown = index
        .show(row, &sessionary::index::ShowScope::default())
        .expect("shown");
    let theirs: Vec<&str> = shown.entries.iter().map(|entry| &*entry.id).collect();
    assert_eq!(ids(&session), theirs);

    // What is no id is no file's name.
    for bad in ["", "../x", "a/b"] {
        assert!(
            matches!(
                writer.write_part(bad, Part::text("x")),
                Err(Error::Invalid(_))
            ),
            "{bad}"
        );
    }
}
