//! Does every agent of pi's kind read the same lines as ours does in its dialect?
//!
//! Files that the agents read otherwise, and sessions that the Python package wrote, are listed and
//! opened by the real packages (`oracle/install.sh` puts them there) and by ours: by the session
//! manager from the files, and out of an index.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sessionary::format::pi::{Dialect, Names};
use sessionary::index::{AgentListScope, ListScope, TreeFilter};
use sessionary::session::{
    BranchSummaryEntry, CompactionEntry, ContentBlock, Error, Profile, SessionInfo, SessionManager,
    Setup, TextContent, UserMessage,
};
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::real_agents::{self, node, python};
use crate::session_oracle::{script::World, state::state};

/// pi 0.73.1, from which indusagi for Node has everything but its names.
pub static PI_0_73: Dialect = Dialect {
    name: "pi-0.73",
    names: Names::Last,
    ..Dialect::INDUSAGI
};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#;

fn header(version: &str) -> String {
    HEADER.replace("\"version\":3", version)
}

fn message(id: &str, parent: &str, role: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-05T09:00:0{}.000Z","message":{{"role":"{role}","content":{content},"provider":"p","model":"m","timestamp":176760360{}000}}}}"#,
        id.len(),
        id.len(),
    )
}

fn question() -> String {
    message("a", "null", "user", r#""why?""#)
}

fn answer() -> String {
    let text = r#"[{"type":"text","text":"because"}]"#;
    message("bb", "\"a\"", "assistant", text)
}

/// A name entry; `name` is the rest of its members.
fn name(number: usize, name: &str) -> String {
    format!(
        r#"{{"type":"session_info","id":"n{number}","parentId":"bb","timestamp":"2026-01-05T09:01:0{number}.000Z"{name}}}"#
    )
}

fn lines<S: AsRef<str>>(lines: &[S]) -> String {
    let ended = lines.iter().map(|line| line.as_ref().to_owned() + "\n");
    ended.collect()
}

/// A session with these lines behind its question and answer.
fn and(more: &[&str]) -> String {
    lines(&[HEADER, &question(), &answer()]) + &lines(more)
}

/// The files: what they are called, and what is in them.
fn files() -> Vec<(String, Vec<u8>)> {
    let (question, answer) = (question(), answer());
    let (question, answer) = (question.as_str(), answer.as_str());
    let plain = lines(&[HEADER, question, answer]);
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut file = |name: &str, text: &[u8]| files.push((format!("{name}.jsonl"), text.to_vec()));

    file("plain", plain.as_bytes());
    file("crlf", plain.replace('\n', "\r\n").as_bytes());
    file("empty", b"");
    file("no-header", lines(&[question, answer]).as_bytes());
    file("header-second", lines(&[question, HEADER]).as_bytes());
    file("junk-first", format!("junk\n\n{plain}").as_bytes());
    file("torn", &plain.as_bytes()[..plain.len() - 20]);
    file("bom", format!("\u{feff}{plain}").as_bytes());
    let inside = lines(&[HEADER, &format!("\u{feff}{question}"), answer]);
    file("bom-inside", inside.as_bytes());
    let fused = lines(&[HEADER, &(question.to_owned() + answer)]);
    file("fused", fused.as_bytes());
    for (name, within) in [("", "why"), ("-header", "w\"}")] {
        let mut bad = plain.clone().into_bytes();
        let at = plain.find(within).expect("a part of it");
        bad[at] = 0xff;
        file(&format!("bad-utf8{name}"), &bad);
    }
    for (name, more) in [
        ("junk", &b"\xffjunk\n"[..]),
        ("scalar", b"\"\xff\"\n"),
        ("torn", b"{\"type\":\"message\",\"text\":\"\xe6\x97"),
    ] {
        file(
            &format!("bad-utf8-{name}"),
            &[plain.as_bytes(), more].concat(),
        );
    }

    for (at, scalar) in ["null", "42", "\"x\"", "[]", "true", "0", "false", "\"\""]
        .iter()
        .enumerate()
    {
        file(&format!("scalar-{at}"), and(&[scalar]).as_bytes());
        let inside = lines(&[HEADER, question, scalar, answer]);
        file(&format!("scalar-inside-{at}"), inside.as_bytes());
        let first = format!("{scalar}\n{plain}");
        file(&format!("scalar-first-{at}"), first.as_bytes());
    }
    let names = [
        "",
        r#","name":null"#,
        r#","name":"""#,
        r#","name":"   ""#,
        r#","name":" two ""#,
        r#","name":5"#,
        r#","name":0"#,
        r#","name":false"#,
        r#","name":[ ]"#,
        r#","name":{}"#,
    ];
    for (at, second) in names.iter().enumerate() {
        let [first, second, third] = [(1, r#","name":"one""#), (2, second), (3, r#","name":"""#)]
            .map(|(at, text)| name(at, text));
        file(&format!("name-{at}"), and(&[&first, &second]).as_bytes());
        file(
            &format!("name-{at}-emptied"),
            and(&[&first, &second, &third]).as_bytes(),
        );
    }
    let versions = [
        "1",
        "2",
        "3",
        "99",
        "-1",
        "\"1\"",
        "\"2\"",
        "\"3\"",
        "\"x\"",
        "\"\"",
        "1.0",
        "2.0",
        "3.0",
        "2.5",
        "null",
        "true",
        "false",
        "[1]",
        "{}",
        "123456789012345678901",
        "-123456789012345678901",
    ];
    let compaction = r#"{"type":"compaction","id":"c","parentId":"bb","timestamp":"2026-01-05T09:00:03.000Z","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":9}"#;
    let hook = message("ccc", "\"c\"", "hookMessage", r#""hooked""#);
    for (at, version) in versions.iter().enumerate() {
        let header = header(&format!("\"version\":{version}"));
        let text = lines(&[&header, question, answer, compaction, &hook]);
        file(&format!("version-{at}"), text.as_bytes());
    }
    let without = header(r#""unknown":1"#);
    let text = lines(&[&without, question, "42", answer, compaction, &hook]);
    file("version-missing", text.as_bytes());

    let entry = |more: &str| {
        format!(
            r#"{{"type":"message","id":"o","parentId":"bb","timestamp":"2026-01-05T09:02:00.000Z"{more}}}"#
        )
    };
    for (name, more) in [
        ("message-missing", ""),
        ("message-null", r#","message":null"#),
        (
            "content-null",
            r#","message":{"role":"user","content":null}"#,
        ),
        (
            "content-object",
            r#","message":{"role":"user","content":{}}"#,
        ),
        (
            "content-missing",
            r#","message":{"role":"user","timestamp":1767603700000}"#,
        ),
        (
            "block-null",
            r#","message":{"role":"user","content":[null,{"type":"text","text":"x"}]}"#,
        ),
    ] {
        file(name, and(&[&entry(more)]).as_bytes());
    }

    let bytes = plain.into_bytes();
    files.extend(
        [
            "x.trajectory.jsonl",
            "x.bak-1.jsonl",
            "x.jsonl.bak-2.jsonl",
            "x.checkpoint.y.jsonl",
            "x.jsonl.bak-3",
            "x.jsonl.reset.2026",
            "X.JSONL",
            "x.json",
            ".jsonl",
        ]
        .map(|name| (name.to_owned(), bytes.clone())),
    );
    files
}

/// Puts the files into a folder of the sessions folder.
fn put_files(sessions: &Path) {
    let folder = sessions.join("--w--");
    fs::create_dir_all(&folder).expect("a folder");
    for (name, bytes) in files() {
        fs::write(folder.join(name), bytes).expect("written");
    }
}

type Rows = BTreeMap<String, Value>;

fn row(info: &SessionInfo) -> Value {
    json!({
        "id": info.id, "cwd": info.cwd, "name": info.name,
        "created": info.created_ms, "modified": info.modified_ms, "messageCount": info.message_count,
        "firstMessage": info.first_message.as_deref().unwrap_or("(no messages)"),
        "allMessagesText": info.all_messages_text,
    })
}

/// A folder of sessions that is read in that dialect.
fn root(setup: &Setup, dialect: &Dialect) -> RootSpec {
    RootSpec {
        format: dialect.name.into(),
        ..RootSpec::new(setup.profile.agent, setup.sessions.clone())
    }
}

/// What ours lists in that dialect: the session manager from the files, and an index.
fn our_list(setup: &Setup, dialect: &'static Dialect, index: &Path) -> Rows {
    let go_on = &|_, _| ControlFlow::Continue(());
    let rows = |all: Vec<SessionInfo>| -> Rows {
        let path = |info: &SessionInfo| below(&setup.sessions, &info.path);
        all.iter().map(|info| (path(info), row(info))).collect()
    };
    let manager = SessionManager::list_all(setup).expect("a list");
    let config = Config::new(index, vec![root(setup, dialect)]).with_format(dialect);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    assert!(index.is_complete());
    let with_text = AgentListScope {
        with_text: true,
        ..AgentListScope::default()
    };
    let indexed = index.ask(|snapshot| snapshot.agent_list(setup, &with_text, go_on));
    let indexed = indexed.expect("a list");
    let order = |all: &[SessionInfo]| all.iter().map(|info| info.modified_ms).collect::<Vec<_>>();
    assert!(order(&indexed).is_sorted_by(|a, b| a >= b));
    let (manager, indexed) = (rows(manager), rows(indexed));
    assert_eq!(manager, indexed, "{}: files and index", dialect.name);
    indexed
}

fn below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).expect("below the root");
    below.to_string_lossy().into_owned()
}

/// What ours says of a file that it opens, as session-state.mjs says it of an agent's.
fn our_state(setup: &Setup, path: &Path) -> Value {
    let mut setup = setup.clone();
    setup.ids = Arc::new(World {
        unique: true,
        ..Default::default()
    });
    match SessionManager::open_read_only(&setup, path) {
        // An agent begins a session in an empty file.
        Ok(_) if fs::read(path).is_ok_and(|bytes| bytes.is_empty()) => json!({"opens": false}),
        Ok(session) => serde_json::from_str(&state(&session)).expect("JSON"),
        Err(Error::NotASession { .. }) => json!({"opens": false}),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// The fields of two answers that differ, of those that an agent gave.
fn differences(path: &str, theirs: &Value, ours: &Value) -> Vec<String> {
    let fields = theirs.as_object().expect("fields");
    let differs = |(key, theirs): (&String, &Value)| {
        let ours = &ours[key];
        (theirs != ours).then(|| format!("{path}: {key}: theirs {theirs}, ours {ours}"))
    };
    fields.iter().filter_map(differs).collect()
}

/// The same of an opened session, but for where ours does the safe thing (docs/writing.md, "Where
/// pi loses data").
fn differences_opened(path: &str, theirs: &Value, ours: &Value) -> Vec<String> {
    let mut theirs = theirs.clone();
    let fields = theirs.as_object_mut().expect("fields");
    // The last line has no id: the agent loses its place.
    let is_lost = fields.get("leaf") == Some(&Value::Null) && ours["leaf"].is_string();
    // A message without content: the agent hands it to the model as it is.
    let is_odd = ["message-", "content-"]
        .iter()
        .any(|name| path.starts_with(&format!("--w--/{name}")));
    let excused: &[&str] = match (is_lost, is_odd) {
        (true, _) => &["leaf", "branch", "context", "llm", "model"],
        (_, true) => &["context", "llm"],
        _ => &[],
    };
    fields.retain(|field, _| !excused.contains(&field.as_str()));
    differences(path, &theirs, ours)
}

/// Compares what is listed, path by path and field by field.
fn compare_lists(theirs: &Rows, ours: &Rows) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
    let of = |path: &String| match (theirs.get(path), ours.get(path)) {
        (Some(theirs), Some(ours)) => differences(path, theirs, ours),
        (Some(_), None) => vec![format!("{path}: only theirs lists it")],
        _ => vec![format!("{path}: only ours lists it")],
    };
    paths.into_iter().flat_map(of).collect()
}

fn none(wrong: Vec<String>) {
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A session of ours with everything that the agent's own could have.
fn write_ours(setup: &Setup) -> Result<(), Error> {
    let mut session = SessionManager::create(setup, "/home/ada/ours")?;
    let question = |text: &str| UserMessage {
        content: text.into(),
        timestamp: setup.clock.now_ms(),
        ..Default::default()
    };
    let answer = || sessionary::session::AssistantMessage {
        content: vec![ContentBlock::Text(TextContent {
            text: "an answer".into(),
            ..Default::default()
        })],
        provider: "p".into(),
        model: "m".into(),
        timestamp: setup.clock.now_ms(),
        ..Default::default()
    };
    let first = session.append_message(question("one"))?;
    session.append_message(answer())?;
    session.append_session_info("a name")?;
    session.append_label_change(&first, Some("begin"))?;
    session.append_compaction(CompactionEntry {
        summary: "so far".into(),
        first_kept_entry_id: Some(first.clone()),
        tokens_before: 7,
        ..Default::default()
    })?;
    session.append_message(question("two"))?;
    session.branch_with_summary(
        Some(&first),
        BranchSummaryEntry {
            summary: "tried".into(),
            ..Default::default()
        },
    )?;
    session.append_custom_entry("todo", None)?;
    // The agent would keep the name before.
    let removed = session.append_session_info("");
    assert!(matches!(removed, Err(Error::Unknown { .. })), "{removed:?}");
    session.append_message(answer())?;
    Ok(())
}

#[test]
fn the_python_package_and_ours_read_what_both_write() {
    if !real_agents::are_installed() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let home = place.path().canonicalize().expect("its path");
    let sessions = home.join(".pindusagi/agent/sessions");
    python(&home, &["write"]);
    let written = walkdir::WalkDir::new(&sessions).into_iter().count();
    assert!(written > 12, "only {written} files and folders");
    put_files(&sessions);
    let setup = Setup::new(Profile::PINDUSAGI, &sessions);
    write_ours(&setup).expect("written");

    let out = home.join("answer.json");
    python(&home, &["read", &out.to_string_lossy()]);
    let answer = fs::read(&out).expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let listed_by_them: Vec<(String, Value)> =
        serde_json::from_value(answer["listed"].clone()).expect("rows");
    let modified = |row: &(String, Value)| row.1["modified"].as_i64();
    assert!(listed_by_them.is_sorted_by(|a, b| modified(a) >= modified(b)));
    let theirs: Rows = listed_by_them.into_iter().collect();
    let ours = our_list(&setup, &Dialect::PINDUSAGI, &home.join("index"));
    let mut wrong = compare_lists(&theirs, &ours);

    let all: BTreeMap<String, Value> =
        serde_json::from_value(answer["opened"].clone()).expect("states");
    for (path, theirs) in &all {
        let mut ours = our_state(&setup, &sessions.join(path));
        if theirs["fails"] == "UnicodeDecodeError" {
            // Ours does the safe thing.
            assert!(path.contains("bad-utf8") && ours["id"] == "s", "{path}");
            continue;
        }
        for node in ours["tree"].as_array_mut().into_iter().flatten() {
            // When a label was set is not told.
            if let Some(node) = node.as_array_mut() {
                node.truncate(3);
            }
        }
        wrong.extend(differences_opened(path, theirs, &ours));
    }
    println!(
        "indusagi 0.1.5: {} listed, {} opened",
        theirs.len(),
        all.len()
    );
    none(wrong);
}

/// What pi of that version lists and opens, and what ours does.
fn compare_with_pi(agent: &str, profile: Profile, dialect: &'static Dialect) {
    if !real_agents::are_installed() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let home = place.path().canonicalize().expect("its path");
    let sessions = home.join("sessions");
    put_files(&sessions);
    let setup = Setup::new(
        Profile {
            dialect: *dialect,
            ..profile
        },
        &sessions,
    );

    let out = home.join("list.json");
    node("list.mjs", agent, &[&sessions, &out]);
    let answer = fs::read(&out).expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let mut theirs = Rows::new();
    for row in answer["sessions"].as_array().expect("rows") {
        let mut row = row.as_object().expect("a row").clone();
        row.remove("parentSessionPath");
        let path = row.remove("path").expect("a path");
        theirs.insert(path.as_str().expect("text").to_owned(), Value::Object(row));
    }
    let ours = our_list(&setup, dialect, &home.join("index"));
    let mut wrong = compare_lists(&theirs, &ours);

    let paths: Vec<PathBuf> = files()
        .into_iter()
        .map(|(name, _)| sessions.join("--w--").join(name))
        .collect();
    let names: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    let (input, out) = (home.join("files"), home.join("opened"));
    fs::write(&input, names.join("\n") + "\n").expect("the names");
    node("session-open.mjs", agent, &[&input, &out]);
    let answers = fs::read_to_string(&out).expect("their answers");
    assert_eq!(answers.lines().count(), paths.len());
    for (path, theirs) in paths.iter().zip(answers.lines()) {
        let theirs: Value = serde_json::from_str(theirs).expect("JSON");
        // Ours does the safe thing, which session_oracle looks at.
        if theirs["fails"].is_null() {
            wrong.extend(differences_opened(
                &below(&sessions, path),
                &theirs,
                &our_state(&setup, path),
            ));
        }
    }
    println!("{agent}: {} listed, {} opened", theirs.len(), paths.len());
    none(wrong);
}

#[test]
fn pi_and_ours_read_the_same() {
    compare_with_pi("pi-0.87", Profile::PI, &Dialect::PI);
}

#[test]
fn old_pi_and_the_dialect_of_its_fork_read_the_same() {
    compare_with_pi("pi-0.73", Profile::INDUSAGI, &PI_0_73);
}

/// An index that knows a folder in one dialect reads it again in another.
#[test]
fn a_folder_is_read_again_in_another_dialect() {
    let place = tempfile::tempdir().expect("a folder");
    let sessions = place.path().join("sessions");
    put_files(&sessions);
    let index = place.path().join("index");
    for _ in 0..2 {
        for (profile, dialect) in [
            (Profile::PI, &Dialect::PI),
            (Profile::INDUSAGI, &Dialect::INDUSAGI),
            (Profile::PINDUSAGI, &Dialect::PINDUSAGI),
        ] {
            let profile = Profile {
                agent: "indusagi",
                ..profile
            };
            let setup = Setup::new(profile, &sessions);
            our_list(&setup, dialect, &index);
        }
    }
}

/// The Python package reads a file as one text: a byte that is none keeps it from all of it, even
/// in the header or where no entry is.
#[test]
fn bytes_that_are_no_text_hide_a_session_wherever_they_stand() {
    let place = tempfile::tempdir().expect("a folder");
    let sessions = place.path().join("sessions");
    put_files(&sessions);
    let bad = |profile, dialect| -> Vec<String> {
        let setup = Setup::new(profile, &sessions);
        let listed = our_list(&setup, dialect, &place.path().join(profile.dialect.name));
        let bad = listed.into_keys().filter(|path| path.contains("bad-utf8"));
        bad.collect()
    };
    assert_eq!(bad(Profile::PI, &Dialect::PI).len(), 5);
    let none: [&str; 0] = [];
    assert_eq!(bad(Profile::PINDUSAGI, &Dialect::PINDUSAGI), none);
}

/// Of indusagi for Node there is no package any more: its rule of names, as its source has it.
#[test]
fn indusagi_keeps_the_last_name_that_is_not_empty() {
    let place = tempfile::tempdir().expect("a folder");
    let sessions = place.path().join("sessions");
    put_files(&sessions);
    let setup = Setup::new(Profile::INDUSAGI, &sessions);
    let ours = our_list(&setup, &Dialect::INDUSAGI, &place.path().join("index"));
    for (at, name) in [
        (0, json!("one")),
        (1, json!("one")),
        (2, json!("one")),
        (3, Value::Null),
        (4, json!("two")),
    ] {
        for file in [format!("name-{at}"), format!("name-{at}-emptied")] {
            let path = format!("--w--/{file}.jsonl");
            assert_eq!(ours[&path]["name"], name, "{file}");
            let opened = our_state(&setup, &sessions.join(&path));
            assert_eq!(opened["name"], name, "{file}");
        }
    }
}

/// The header of a fork may spell the path of its parent otherwise than the index does.
#[test]
fn a_fork_knows_its_parent_however_its_path_is_spelled() {
    let place = tempfile::tempdir().expect("a folder");
    let place = fs::canonicalize(place.path()).expect("the folder");
    let sessions = place.join("sessions");
    let folder = sessions.join("--w--");
    fs::create_dir_all(&folder).expect("a folder");
    let parent = folder.join("parent.jsonl");
    fs::write(&parent, and(&[])).expect("the parent");
    let spelled = format!("{}/--v--/..//--w--/./parent.jsonl", sessions.display());
    let header = HEADER.replace("\"id\":\"s\"", "\"id\":\"f\"");
    let header = header.replace(
        "\"cwd\"",
        &format!("\"parentSession\":\"{spelled}\",\"cwd\""),
    );
    let fork = lines(&[&header, &question(), &answer()]);
    fs::write(folder.join("fork.jsonl"), fork).expect("the fork");
    for dialect in Dialect::ALL {
        let setup = Setup::new(Profile::PI, &sessions);
        let at = place.join(dialect.name);
        let config = Config::new(at, vec![root(&setup, dialect)]).with_format(dialect);
        let index = Index::open(&config, Freshness::Check).expect("an index");
        let known = index.sql(
            "SELECT p.id FROM forks JOIN sessions p ON p.session = parent",
            &[],
        );
        assert_eq!(known.expect("rows").rows, [[json!("s")]]);
        let listed = index.list(&ListScope::default()).expect("a list").sessions;
        let tree = |id: &str| {
            let row = listed.iter().find(|row| row.id == id).expect("a row");
            index.tree(row, TreeFilter::All).expect("a tree")
        };
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        assert_eq!(tree("s").forks, [path("fork.jsonl")]);
        assert_eq!(tree("f").ancestors, [path("parent.jsonl")]);
    }
}

/// A dialect of a program's own finds what pi's finds in a folder, so a folder that is named for
/// both is one root.
#[test]
fn a_dialect_of_ones_own_is_of_pis_family() {
    static MINE: Dialect = Dialect {
        name: "mine",
        ..Dialect::PI
    };
    let place = tempfile::tempdir().expect("a folder");
    let place = fs::canonicalize(place.path()).expect("the folder");
    let sessions = place.join("sessions");
    fs::create_dir_all(sessions.join("--w--")).expect("a folder");
    let session = lines(&[HEADER, &question(), &answer()]);
    fs::write(sessions.join("--w--/s.jsonl"), session).expect("a session");
    let setup = Setup::new(Profile::PI, &sessions);
    let roots = vec![root(&setup, &MINE), root(&setup, &Dialect::PI)];
    let config = Config::new(place.join("index"), roots).with_format(&MINE);
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let listed = index.list(&ListScope::default()).expect("a list").sessions;
    assert_eq!(listed.len(), 1, "{listed:?}");
}
