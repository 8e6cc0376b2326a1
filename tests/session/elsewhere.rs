//! An entry that was written elsewhere goes by the rules of its type, and keeps what nobody knows.

use sessionary::session::{CompactionEntry, Error, Json, Message, Profile, SessionManager};

use super::{HEADER, Place, assistant, line, read, user};

fn appended(session: &mut SessionManager, entry: &str) -> Result<String, Error> {
    session.append_entry(&Json::parse(entry).expect("JSON"))
}

/// What stands behind the entry's base.
fn members(session: &SessionManager) -> &str {
    let written = session.leaf_entry().expect("an entry").json();
    written.split_once("Z\",").expect("a time").1
}

#[test]
fn what_makes_an_agent_fail_is_not_written() {
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let mut session = place.open(&path);
    let answer = session.append_message(assistant("b")).expect("appended");
    session.append_session_info("name").expect("appended");
    let before = read(&path);
    let edit = |members: &str| format!(r#"{{"type":"context_edit",{members}}}"#);
    let message = |members: &str| format!(r#"{{"type":"message","message":{{{members}}}}}"#);
    for bad in [
        edit(&format!(r#""targetId":"{answer}""#)),
        edit(&format!(r#""targetId":"{answer}","replacement":{{}}"#)),
        edit(&format!(r#""targetId":"{answer}","replacement":"x""#)),
        edit(&format!(
            r#""targetId":"{answer}","replacement":{{"content":5}}"#
        )),
        edit(&format!(
            r#""targetId":"{answer}","replacement":{{"content":[null]}}"#
        )),
        edit(r#""targetId":"none","replacement":null"#),
        edit(r#""targetId":7,"replacement":null"#),
        edit(&format!(
            r#""targetId":"{}","replacement":null"#,
            session.leaf_id().expect("a leaf")
        )),
        r#"{"type":"session_info","name":5}"#.to_owned(),
        r#"{"type":"label","targetId":"a","label":{}}"#.to_owned(),
        r#"{"type":"custom_message","customType":"t","content":7,"display":true}"#.to_owned(),
        r#"{"type":"custom_message","content":[null]}"#.to_owned(),
        r#"{"type":"compaction","summary":5,"tokensBefore":1}"#.to_owned(),
        r#"{"type":"compaction","tokensBefore":1}"#.to_owned(),
        r#"{"type":"compaction","summary":"s","usage":{"input":1}}"#.to_owned(),
        r#"{"type":"usage","kind":"k","provider":"p","model":"m"}"#.to_owned(),
        r#"{"type":"usage","kind":"k","provider":"p","model":"m","usage":{}}"#.to_owned(),
        r#"{"type":"thinking_level_change","thinkingLevel":3}"#.to_owned(),
        r#"{"type":"message","message":"hi"}"#.to_owned(),
        message(r#""role":"compactionSummary","summary":"s""#),
        message(r#""role":"user","content":null"#),
        message(r#""role":"user","content":7"#),
        message(r#""role":"user","content":["x"]"#),
        message(r#""role":"assistant","content":[null],"usage":{"cost":{}}"#),
        message(r#""role":"assistant","content":[]"#),
        message(r#""role":"assistant","content":[],"usage":{"input":1}"#),
    ] {
        let refused = appended(&mut session, &bad);
        assert!(
            matches!(refused, Err(Error::Invalid(_) | Error::NoEntry { .. })),
            "{bad}: {refused:?}"
        );
    }
    assert_eq!(read(&path), before);
    // Nor by the typed append.
    let null = Message::parse(r#"{"role":"user","content":null}"#).expect("JSON");
    assert!(matches!(
        session.append_message(null),
        Err(Error::Invalid(_))
    ));
    // What the agent does not know.
    let mut other = SessionManager::in_memory(&Place::of(Profile::INDUSAGI).setup, "/w");
    let usage = r#"{"type":"usage","usage":{"cost":{}}}"#;
    let refused = appended(&mut other, usage);
    assert!(matches!(refused, Err(Error::Unknown { .. })), "{refused:?}");
}

#[test]
fn it_is_written_as_its_own_append_writes_it() {
    let place = Place::new();
    let path = place.file(format!("{HEADER}\n{}\n", line("a", None)));
    let mut session = place.open(&path);
    let answer = session.append_message(assistant("b")).expect("appended");
    for (entry, written) in [
        // On one line, as agents show it.
        (
            r#"{"type":"session_info","name":"a\n\nb  ","color":"red"}"#,
            r#""name":"a b","color":"red"}"#,
        ),
        (r#"{"type":"session_info","name":null}"#, r#""name":""}"#),
        // An answer's content is blocks.
        (
            &format!(
                r#"{{"type":"context_edit","targetId":"{answer}","replacement":{{"content":"x"}},"by":"me"}}"#
            ),
            &format!(
                r#""targetId":"{answer}","replacement":{{"content":[{{"type":"text","text":"x"}}]}},"by":"me"}}"#
            ),
        ),
        (
            r#"{"type":"context_edit","targetId":"a","replacement":{"why":1,"content":"x"}}"#,
            r#""targetId":"a","replacement":{"why":1,"content":"x"}}"#,
        ),
        (
            r#"{"type":"context_edit","replacement":null,"targetId":"a"}"#,
            r#""targetId":"a","replacement":null}"#,
        ),
        // Members that nobody knows.
        (
            r#"{"type":"message","id":"z","message":{"role":"user","content":"hi"},"agentId":"sub-7","extension":{"a":1.0}}"#,
            r#""message":{"role":"user","content":"hi"},"agentId":"sub-7","extension":{"a":1}}"#,
        ),
        (
            r#"{"type":"model_change","modelId":"m"}"#,
            r#""modelId":"m"}"#,
        ),
    ] {
        appended(&mut session, entry).expect("appended");
        assert_eq!(members(&session), written);
    }
    assert_eq!(place.open(&path).entries(), session.entries());
}

/// pi 0.87.1 writes the same.
#[test]
fn a_compaction_takes_the_prompt_along() {
    let prompt =
        r#"{"role":"system","content":"You are pi.","toolsAdded":[{"name":"read"}],"timestamp":1}"#;
    let begun = || {
        let place = Place::new();
        let mut session = SessionManager::in_memory(&place.setup, "/w");
        let prompt = Message::parse(prompt).expect("JSON");
        session.append_message(prompt).expect("appended");
        let kept = session.append_message(user("hi")).expect("appended");
        (session, kept)
    };
    let (mut session, kept) = begun();
    let entry = format!(
        r#"{{"type":"compaction","summary":"S","tokensBefore":5,"firstKeptEntryId":"{kept}"}}"#
    );
    appended(&mut session, &entry).expect("appended");
    let written = format!(
        r#""summary":"S","firstKeptEntryId":"{kept}","tokensBefore":5,"systemMessage":{{"role":"system","content":"You are pi.","toolsAdded":[{{"name":"read"}}],"timestamp":1767603604250}}}}"#
    );
    assert_eq!(members(&session), written);
    let context = session.build_session_context();
    let roles: Vec<&str> = context.messages.iter().map(Message::role).collect();
    assert_eq!(roles, ["system", "compactionSummary", "user"]);
    // As the typed append does.
    let (mut typed, own) = begun();
    let written = written.replace(&kept, &own);
    let compaction = CompactionEntry {
        summary: "S".to_owned(),
        first_kept_entry_id: Some(own),
        tokens_before: 5,
        ..Default::default()
    };
    typed.append_compaction(compaction).expect("appended");
    assert_eq!(members(&typed), written);
    // What keeps nothing names itself.
    for first in ["", r#","firstKeptEntryId":null"#] {
        let entry = format!(r#"{{"type":"compaction","summary":"S","tokensBefore":5{first}}}"#);
        let id = appended(&mut session, &entry).expect("appended");
        let own = format!(r#""summary":"S","firstKeptEntryId":"{id}","tokensBefore":5,"#);
        assert!(members(&session).starts_with(&own), "{first}");
    }
}
