//! What is in a file comes back: typed, to the byte, however deep, long or damaged it is.

use sessionary::session::{
    AgentMessage, BranchSummaryEntry, CURRENT_SESSION_VERSION, CompactionEntry, ContentBlock,
    Error, FileEntry, Json, Message, Profile, SessionEntry, SessionManager, StopReason,
    parse_session_entries,
};

use super::{HEADER, Place, assistant, line, user};

#[test]
fn entries_are_typed_and_what_no_type_names_is_kept() {
    let place = Place::new();
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"é","textSignature":"t"},{"type":"thinking","thinking":"h","more":1},{"type":"toolCall","id":"c","name":"n","arguments":{"b":1,"a":[1.50]}},{"type":"video","url":"u"}],"api":"a","provider":"p","model":"m","usage":{"input":3,"output":4,"cacheRead":0,"cacheWrite":0,"totalTokens":7,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25},"reasoning":2},"stopReason":"napping","timestamp":5,"thinkingLevel":"high"}"#;
    let path = place.file(format!(
        "{HEADER}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"x\",\"message\":{answer}}}\n{{\"type\":\"later\",\"id\":\"b\",\"parentId\":\"a\",\"what\":[ 1 ]}}\n"
    ));
    let mut session = place.open(&path);
    let message = session.entries()[0]
        .message()
        .expect("a message")
        .into_owned();
    let AgentMessage::Assistant(typed) = message.typed() else {
        panic!("{message:?}");
    };
    assert_eq!(typed.stop_reason, StopReason::Other("napping".to_owned()));
    assert_eq!(
        (typed.usage.total_tokens, typed.usage.cost.total),
        (7, 0.25)
    );
    assert_eq!(
        typed.other.get("thinkingLevel").map(Json::as_str),
        Some("\"high\"")
    );
    assert!(
        matches!(&typed.content[3], ContentBlock::Other(json) if json.as_str().contains("video"))
    );
    let ContentBlock::ToolCall(call) = &typed.content[2] else {
        panic!("{typed:?}");
    };
    assert_eq!(
        call.arguments.as_ref().map(Json::as_str),
        Some(r#"{"b":1,"a":[1.50]}"#)
    );
    // Written again, nothing is missing.
    let AgentMessage::Assistant(again) = Message::from(typed.clone()).typed() else {
        panic!("{typed:?}");
    };
    assert_eq!(again, typed);

    let unknown = &session.entries()[1];
    assert_eq!(
        (unknown.kind(), unknown.typed()),
        ("later", SessionEntry::Unknown)
    );
    assert!(unknown.json().ends_with("\"what\":[ 1 ]}"));
    assert_eq!(session.leaf_id(), Some("b"));
    // A type that nobody knows yet can be appended too; an entry without one cannot.
    let later = Json::parse(r#"{"type":"later","id":"z","what":2e0}"#).expect("JSON");
    let id = session.append_entry(&later).expect("appended");
    let expected =
        format!(r#"{{"type":"later","id":"{id}","parentId":"b","timestamp":"2026-01-05T"#);
    let written = session.leaf_entry().expect("the entry").json();
    assert!(
        written.starts_with(&expected) && written.ends_with(",\"what\":2}"),
        "{written}"
    );
    for bad in [
        "7",
        "{}",
        r#"{"type":"session"}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"label","targetId":"none"}"#,
    ] {
        assert!(
            session
                .append_entry(&Json::parse(bad).expect("JSON"))
                .is_err(),
            "{bad}"
        );
    }
}

#[test]
fn lines_are_parsed_without_a_look_at_what_they_make() {
    let content = format!("\u{feff}{}\r\nnot json\n\n42\n{HEADER}\n", line("a", None));
    let lines = parse_session_entries(&content);
    assert_eq!(lines.len(), 3);
    assert!(matches!(&lines[0], FileEntry::Entry(entry) if entry.id() == Some("a")));
    assert!(matches!(&lines[1], FileEntry::Entry(entry) if entry.json() == "42"));
    assert!(
        matches!(&lines[2], FileEntry::Header(header) if header.version() == CURRENT_SESSION_VERSION)
    );
}

#[test]
fn circles_end() {
    let place = Place::new();
    let lines = [
        line("self", Some("self")),
        line("b", Some("c")),
        line("c", Some("b")),
        line("d", Some("c")),
        line("twin", None),
        line("twin", Some("twin")),
    ];
    let path = place.file(format!("{HEADER}\n{}\n", lines.join("\n")));
    let session = place.open(&path);
    let ids = |id: &str| -> Vec<String> {
        session
            .branch_of(id)
            .iter()
            .flat_map(|e| e.id())
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(ids("self"), ["self"]);
    assert_eq!(ids("d"), ["b", "c", "d"]);
    assert_eq!(ids("twin"), ["twin"]);
    assert_eq!(ids("none"), [""; 0]);
    let tree = session.tree();
    let shown: Vec<(usize, &str)> = tree
        .walk()
        .map(|(depth, node)| (depth, node.entry.id().unwrap_or_default()))
        .collect();
    // Every entry once; of a circle the first one is the root.
    assert_eq!(
        shown,
        [
            (0, "self"),
            (0, "b"),
            (1, "c"),
            (2, "d"),
            (0, "twin"),
            (0, "twin")
        ]
    );
    assert_eq!(session.build_session_context().messages.len(), 1);
    assert_eq!(
        session
            .build_session_context_at("d")
            .expect("known")
            .messages
            .len(),
        3
    );
}

#[test]
fn a_long_chain_and_deep_values_need_no_stack() {
    const ENTRIES: usize = 150_000;
    let place = Place::new();
    let mut content = format!("{HEADER}\n");
    for at in 0..ENTRIES {
        let parent = at.checked_sub(1).map(|parent| parent.to_string());
        content.push_str(&line(&at.to_string(), parent.as_deref()));
        content.push('\n');
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    content.push_str(&format!(
        "{{\"type\":\"custom\",\"customType\":\"x\",\"data\":{deep},\"id\":\"deep\",\"parentId\":\"{}\"}}\n",
        ENTRIES - 1
    ));
    let path = place.file(content);
    let setup = place.setup.clone();
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let work = move || {
        let mut session = SessionManager::open(&setup, &path).expect("a session");
        assert_eq!(session.branch().len(), ENTRIES + 1);
        assert_eq!(
            session.tree().walk().last().map(|(depth, _)| depth),
            Some(ENTRIES)
        );
        assert_eq!(session.build_session_context().messages.len(), ENTRIES);
        let SessionEntry::Custom(custom) = session.entries()[ENTRIES].typed() else {
            panic!("custom");
        };
        session
            .append_custom_entry("y", custom.data)
            .expect("appended");
        session.create_branched_session("7").expect("a branch");
        assert_eq!(session.entries().len(), 8);
    };
    small
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn an_agent_gets_nothing_that_it_does_not_know() {
    let place = Place::of(Profile::INDUSAGI);
    let mut session = SessionManager::create(&place.setup, "/w").expect("new");
    let id = session.append_message(assistant("hi")).expect("appended");
    let system = Message::parse(r#"{"role":"system","content":"x","timestamp":1}"#).expect("JSON");
    assert!(matches!(
        session.append_message(system),
        Err(Error::Unknown { .. })
    ));
    // The name before would stay.
    for empty in ["", " \n"] {
        assert!(matches!(
            session.append_session_info(empty),
            Err(Error::Unknown { .. })
        ));
    }
    assert!(matches!(
        session.append_usage(&Default::default()),
        Err(Error::Unknown { .. })
    ));
    assert!(matches!(
        session.append_context_edit(&id, None),
        Err(Error::Unknown { .. })
    ));
    let other = session.append_message(user("b")).expect("appended");
    let summary = || BranchSummaryEntry {
        summary: "s".to_owned(),
        ..Default::default()
    };
    session
        .branch_with_summary(Some(&id), summary())
        .expect("appended");
    let SessionEntry::BranchSummary(written) = session.leaf_entry().expect("it").typed() else {
        panic!("a summary");
    };
    assert_eq!(written.from_id, id, "indusagi names the target");
    session
        .append_compaction(CompactionEntry {
            summary: "c".to_owned(),
            ..Default::default()
        })
        .expect("appended");
    assert_eq!(
        session.build_session_context().messages.len(),
        1,
        "nothing is kept"
    );
    session.set_leaf(&other).expect("known");
    assert!(matches!(
        session.set_leaf("none"),
        Err(Error::NoEntry { .. })
    ));
    assert_eq!(session.leaf_id(), Some(&*other));
}

/// As `header.version ?? 1` is compared with numbers in JavaScript.
#[test]
fn a_version_that_is_text_is_the_number_that_it_names() {
    for (version, is_older) in [
        ("3", false),
        ("\"3\"", false),
        ("\" 3 \"", false),
        ("\"later\"", false),
        ("{}", false),
        ("2", true),
        ("\"1\"", true),
        ("\"\"", true),
        ("null", true),
        ("true", true),
    ] {
        let place = Place::new();
        let header = HEADER.replace("\"version\":3", &format!("\"version\":{version}"));
        assert!(header.contains(version), "{header}");
        let path = place.file(format!("{header}\n{}\n", line("a", None)));
        let mut session = place.open(&path);
        session.append_message(assistant("answer")).expect("it");
        // Who appends to an older version migrates it first.
        let text = std::fs::read_to_string(&path).expect("it");
        assert_eq!(!text.starts_with(&header), is_older, "{version}: {text}");
    }
}

#[test]
fn a_model_is_named_where_its_provider_is_not() {
    let place = Place::new();
    let entry = r#"{"type":"model_change","id":"a","parentId":null,"timestamp":"x","modelId":"m"}"#;
    let path = place.file(format!("{HEADER}\n{entry}\n"));
    let model = place.open(&path).build_session_context().model;
    let model = model.expect("it is named");
    assert_eq!((model.provider, &*model.model_id), (None, "m"));
}

#[test]
fn a_label_is_copied_with_its_time_as_it_is_written() {
    for (time, copied) in [
        (
            r#","timestamp":"2026-01-05T09:00:02.000Z""#,
            r#","timestamp":"2026-01-05T09:00:02.000Z""#,
        ),
        (r#","timestamp":1.0e3"#, r#","timestamp":1000"#),
        ("", ""),
    ] {
        let place = Place::new();
        let label = format!(
            r#"{{"type":"label","id":"b","parentId":"a"{time},"targetId":"a","label":"L"}}"#
        );
        let path = place.file(format!("{HEADER}\n{}\n{label}\n", line("a", None)));
        let mut session = place.open(&path);
        session.create_branched_session("b").expect("a branch");
        let copy = session.leaf_entry().expect("the label");
        let id = copy.id().expect("an id");
        let expected = format!(
            r#"{{"type":"label","id":"{id}","parentId":"a"{copied},"targetId":"a","label":"L"}}"#
        );
        assert_eq!(copy.json(), expected);
    }
}

#[test]
fn what_is_set_counts_for_more_than_what_was_read() {
    let read = r#"{"role":"user","content":null,"timestamp":"then","more":null}"#;
    let AgentMessage::User(mut message) = Message::parse(read).expect("JSON").typed() else {
        panic!("a user's message");
    };
    // As it was read it stays.
    let again = Message::from(message.clone());
    assert_eq!(
        again.as_str(),
        r#"{"role":"user","content":null,"timestamp":"then","more":null}"#
    );
    message.content = "new".into();
    let again = Message::from(message.clone());
    assert_eq!(
        again.as_str(),
        r#"{"role":"user","content":"new","timestamp":"then","more":null}"#
    );
    message.timestamp = 7;
    let again = Message::from(message);
    assert_eq!(
        again.as_str(),
        r#"{"role":"user","content":"new","timestamp":7,"more":null}"#
    );
    // Of a key that is written twice the last value counts, whichever of them fits.
    for (twice, content) in [
        (r#"{"role":"user","content":"a","content":7}"#, "7"),
        (r#"{"role":"user","content":7,"content":"a"}"#, r#""a""#),
    ] {
        let again = Message::from(Message::parse(twice).expect("JSON").typed());
        let written = format!(r#"{{"role":"user","content":{content},"timestamp":0}}"#);
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(json(again.as_str()), json(&written));
        assert_eq!(again.as_str().matches("content").count(), 1);
    }
}
