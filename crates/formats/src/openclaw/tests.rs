//! The cases of single lines, names and messages.

mod put_in;
mod written_by;

use super::place::{Kind, name, named};
use super::typed::Message;
use super::*;
use crate::model::{Class, SourcePart};

fn typed(text: &str) -> (String, bool) {
    let message = Message::of(text);
    (message.typed.clone(), message.is_own())
}

#[test]
fn typed_text_is_told_from_injected_text() {
    let context = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
    let sender = "Sender (untrusted metadata):\n```json\n{\"label\":\"ada\"}\n```\n";
    for (text, left, is_own) in [
        ("why so slow", "why so slow", false),
        (context, "", true),
        (&format!("{context}\nwhy"), "why", false),
        (&format!("why\n{context}"), "why", false),
        (
            &format!("{sender}\n[Fri 2026-04-10 11:02 GMT+1] why"),
            "why",
            false,
        ),
        (&format!("{sender}{sender}why"), "why", false),
        ("[Fri 2026-04-10 11:02 GMT+1] why", "why", false),
        ("[Fri 2026-04-10 11:02:33 GMT+1] why", "why", false),
        (
            "[Telegram Ada (@ada) id:123 2026-01-12 10:00 PST] why\n[message_id: 55]",
            "why",
            false,
        ),
        (
            "[WhatsApp +15550100 2026-01-12T10:00Z] why\nso slow\n[Message_ID: 3EB0]\nnow",
            "why\nso slow\nnow",
            false,
        ),
        ("[Google Chat Ada] why", "why", false),
        ("[Slack Ada +3m] \n[message_id: 1]", "", true),
        (
            "[cron:7d1c 2026-01-12 10:00] read",
            "[cron:7d1c 2026-01-12 10:00] read",
            true,
        ),
        ("[cron:7d1c morning] read", "[cron:7d1c morning] read", true),
        (
            "A new session was started via /new or /reset. Greet.",
            "A new session was started via /new or /reset. Greet.",
            true,
        ),
        // What only looks alike stays.
        ("[Friday] why", "[Friday] why", false),
        ("[Slack is broken]", "[Slack is broken]", false),
        (
            "[2026-01-12 10:00:01 ERROR: disk full]",
            "[2026-01-12 10:00:01 ERROR: disk full]",
            false,
        ),
        ("[Signals] why", "[Signals] why", false),
        (
            "[due 2026-01-12 10:005] why",
            "[due 2026-01-12 10:005] why",
            false,
        ),
        ("why [Slack Ada]", "why [Slack Ada]", false),
        ("is [message_id: 55] it?", "is [message_id: 55] it?", false),
        ("[message_id: 5] [b]", "[message_id: 5] [b]", false),
        ("[Fri 2026-04-10", "[Fri 2026-04-10", false),
        (
            "see (untrusted): ```a``` b",
            "see (untrusted): ```a``` b",
            false,
        ),
        (
            "Sender (trusted): ```a``` b",
            "Sender (trusted): ```a``` b",
            false,
        ),
        (
            "Sender (untrusted metadata): ```json",
            "Sender (untrusted metadata): ```json",
            false,
        ),
        (
            "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> open",
            "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> open",
            false,
        ),
        ("日本語 ```x``` で", "日本語 ```x``` で", false),
        ("", "", false),
    ] {
        assert_eq!(typed(text), (left.to_owned(), is_own), "{text}");
    }
}

/// What else the program puts in and says, by what 2026.1.24 and later versions write.
#[test]
fn typed_text_is_told_from_threads_notes_and_prompts_of_its_program() {
    let event = "System: [2026-01-20 09:59:00 UTC] Exec finished (keen, code 0)";
    let done = "An async command you ran earlier has completed. The result is shown in the system \
                messages above. Please relay it.";
    let due = "A scheduled reminder has been triggered. The reminder content is:\n\nFeed the owl";
    let note = "Note: The previous agent run was aborted by the user. Resume carefully or ask for \
                clarification.";
    let told = "Conversation info (untrusted metadata):\n```json\n{\"sender\":\"ada\"}\n```";
    let sender = "[Slack #pond Ada 2026-01-20 10:02 UTC]";
    let starter = "[Thread starter - for context]\n[Slack #pond Bob 2026-01-19 09:00 UTC] old";
    let history = "[Thread history - for context]\n[Slack Bob (user) 2026-01-19 09:00 UTC] old\n\n\
                   [Slack Owl (assistant) 2026-01-19 09:01 UTC] hoot";
    let forwarded = "[Forwarded from Bob at 2026-01-19T10:00:00.000Z]";
    let photo = "[media attached: /w/x.jpg (image/jpeg) | /w/x.jpg]\n\
                 To send an image back, add a line like: MEDIA:https://example.com/image.jpg (no \
                 spaces). Keep caption in the text body.\n";
    let quoted = "[Quoting Bob id:5]\n\"old text\"\n[/Quoting]";
    for (text, left, is_own) in [
        (&*format!("{event}\n\n{done}"), done, true),
        (&format!("{event}\n\n{due}"), due, true),
        (&format!("{note}\n\n{sender} why"), "why", false),
        (&format!("{event}\n\n{note}\n\n{told}\n\nwhy"), "why", false),
        (
            &format!("{starter}\n\nmore\n\n{sender} why\n\n{sender} said"),
            &format!("why\n\n{sender} said"),
            false,
        ),
        (
            &format!("{starter}\n\n{event}\n\n{told}\n\nwhy"),
            "why",
            false,
        ),
        (
            &format!("{photo}{starter}\n\nwhy\n\nso"),
            "why\n\nso",
            false,
        ),
        (&format!("{history}\n\n{sender} why"), "why", false),
        (
            &format!("{history}\n\n{told}\n\nwhy\n\n{sender} said"),
            &format!("why\n\n{sender} said"),
            false,
        ),
        (starter, "", true),
        (&format!("{sender} {forwarded}\nwhy"), "why", false),
        (&format!("{photo}{sender} why"), "why", false),
        (&format!("{sender} why\n\n{quoted}"), "why", false),
        // What only looks alike stays.
        (
            "why [Forwarded from Bob]\nno",
            "why [Forwarded from Bob]\nno",
            false,
        ),
        (forwarded, forwarded, false),
        (
            "A scheduled reminder has been triggered. Why?",
            "A scheduled reminder has been triggered. Why?",
            false,
        ),
        (
            "Note: The previous agent run was long",
            "Note: The previous agent run was long",
            false,
        ),
        (
            "[Thread starter - for context]",
            "[Thread starter - for context]",
            false,
        ),
        ("[Quoting Bob]\nno", "[Quoting Bob]\nno", false),
    ] {
        assert_eq!(typed(text), (left.to_owned(), is_own), "{text}");
    }
    let sent = Message::of(&format!("{starter}\n\n{sender} {forwarded}\nwhy"));
    assert_eq!(
        sent.put_in,
        [starter, &sender[1..sender.len() - 1], forwarded]
    );
}

/// What happened holds any text in 2026.1.24, which marks the first line of it alone, and begins a
/// session with what its channels say (`prependSystemEvents`, `buildChannelSummary`).
#[test]
fn typed_text_is_told_from_what_happened_in_many_lines() {
    let event = "System: [2026-01-20 09:59:00 UTC] Exec finished (node=mac id=1, code 0)\nline one";
    let sender = "[Telegram Ada id:77 2026-01-20 10:02 UTC]";
    let told = "Conversation info (untrusted metadata):\n```json\n{\"sender\":\"ada\"}\n```";
    let group = "[Chat messages since your last reply - for context]\n\
                 [Discord #general bob 2026-01-20 10:02 UTC] hi\n\n\
                 [Current message - respond to this]\n";
    let heartbeat = "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.";
    let channels = "System: WhatsApp: linked +15550100 auth 2m ago\n\
                    System:   - default (dm:pairing)\nSystem: Telegram: not configured";
    let pasted = "why\n\n[2026-01-20 10:00:00] a log";
    for (text, left, is_own) in [
        (
            &*format!("{event}\n\nline two\n\n{sender} why\n\n{sender} no"),
            &*format!("why\n\n{sender} no"),
            false,
        ),
        (
            &format!("{event}\n\nline two\n\n{group}{sender} why"),
            "why",
            false,
        ),
        (
            &format!("{event}\n\nline two\n\n{told}\n\nwhy"),
            "why",
            false,
        ),
        (
            &format!("{event}\n\nline two\n\n{heartbeat}"),
            heartbeat,
            true,
        ),
        (&format!("{channels}\n\n{sender} why"), "why", false),
        (&format!("{channels}\n\nwhy"), "why", false),
        // Without a sender nothing says where it ends.
        (&format!("{event}\n\n{pasted}"), pasted, false),
        (&format!("{event}\n\n{told}\n\n{pasted}"), pasted, false),
        // What only looks alike stays.
        (
            &format!("{channels}\nand more"),
            &format!("{channels}\nand more"),
            false,
        ),
        (
            "System: Printer: disabledly",
            "System: Printer: disabledly",
            false,
        ),
    ] {
        assert_eq!(typed(text), (left.to_owned(), is_own), "{text}");
    }
}

/// What the program puts before a message, in a chat as in a group, hides no sender behind it.
#[test]
fn typed_text_is_told_from_news_before_it() {
    let event = "System: [2026-01-20 09:59:00] Node: Mac connected";
    // So versions since April 2026 write it (public transcripts of April to June).
    let untrusted = "System (untrusted): [2026-04-09 15:09:01 UTC] Exec failed (tide, signal 9)";
    let told = "Conversation info (untrusted metadata):\n```json\n{\"sender\":\"ada\"}\n```";
    let group = "[Chat messages since your last reply - for context]\n\
                 [Discord #general bob 2026-01-20 10:02 UTC] hi\n\n\
                 [Current message - respond to this]\n";
    let photo = "[media attached: /w/x.jpg (image/jpeg) | /w/x.jpg]\n\
                 To send an image back, prefer the message tool (media/path/filePath).\n";
    let replied = "[Replying to Bob id:5]\nold text\n[/Replying]";
    let heartbeat = "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.";
    for (text, left, is_own) in [
        (heartbeat, heartbeat, true),
        (&format!("{event}\n\n{heartbeat}"), heartbeat, true),
        (&format!("{untrusted}\n\n{heartbeat}"), heartbeat, true),
        (
            &format!("{untrusted}\n{untrusted}\n\n{told}\n\nwhy"),
            "why",
            false,
        ),
        (event, "", true),
        (
            "System: [2026-01-20T09:59:00Z] Node: Mac connected\n\n[Slack Ada] why",
            "why",
            false,
        ),
        (
            &format!(
                "System: WhatsApp: linked\n{event}\n\n[Telegram Ada 2026-01-20 10:02 UTC] why"
            ),
            "why",
            false,
        ),
        (
            &format!("{group}[Discord #general ada 2026-01-20 10:03 UTC] why"),
            "why",
            false,
        ),
        (&format!("{event}\n\n{group}{photo}why"), "why", false),
        (
            &format!("{photo}[WhatsApp +1555 2026-01-20 10:01 UTC] why\n\nso"),
            "why\n\nso",
            false,
        ),
        (
            &format!("[media attached: 2 files]\n[media attached 1/2: /w/x.jpg]\n{photo}why"),
            "why",
            false,
        ),
        (&format!("{replied}\n[Slack Ada] why"), "why", false),
        (&format!("[Telegram Ada] why\n\n{replied}"), "why", false),
        (
            &format!("[Telegram Ada] {replied}\nwhy {replied}"),
            "why",
            false,
        ),
        // What only looks alike stays.
        (
            "System: all is well\n\nwhy",
            "System: all is well\n\nwhy",
            false,
        ),
        (
            "System (untrusted): all is well",
            "System (untrusted): all is well",
            false,
        ),
        ("System: [tides] rise", "System: [tides] rise", false),
        ("[media attached, see", "[media attached, see", false),
        (
            "why [Replying to Bob] no",
            "why [Replying to Bob] no",
            false,
        ),
        ("[Replying to Bob]\nno", "[Replying to Bob]\nno", false),
        (
            "[Chat messages since your last reply - for context]",
            "[Chat messages since your last reply - for context]",
            false,
        ),
        (
            "why does it say Read HEARTBEAT.md if it exists",
            "why does it say Read HEARTBEAT.md if it exists",
            false,
        ),
    ] {
        assert_eq!(typed(text), (left.to_owned(), is_own), "{text}");
    }
    let sent = Message::of(&format!(
        "{event}\n\n{group}{photo}[Slack Ada] {replied} why"
    ));
    let history = "[Discord #general bob 2026-01-20 10:02 UTC] hi";
    assert_eq!((sent.typed.as_str(), sent.put_in.len()), ("why", 6));
    assert!(sent.put_in[0].contains("old text") && sent.put_in[1] == event);
    assert!(sent.put_in[2].contains(history) && sent.put_in[5] == "Slack Ada");
}

/// What a person writes may look like what stands before a message.
#[test]
fn what_a_person_writes_ends_no_thread_and_is_nothing_that_happened() {
    let event = "System: [2026-01-20 09:59:00 UTC] Node: Mac connected";
    let old = "[Slack #pond Bob 2026-01-19 09:00 UTC] old";
    let starter = format!("[Thread starter - for context]\n{old}");
    let history = format!("[Thread history - for context]\n{old}");
    let ada = "[Slack #pond Ada 2026-01-20 10:02 UTC]";
    let fri = "[Fri 2026-04-10 11:02 GMT+1]";
    let why = "why does the dingo bark here:";
    let media = "[media attached: /w/x (1).jpg (image/jpeg) | /w/x (1).jpg]";
    for (before, words) in [
        (format!("{starter}\n\n{ada} "), format!("{why}\n\n{event}")),
        (
            format!("{starter}\n\n{ada} "),
            format!("{why}\n\n{event}\n\nany idea?"),
        ),
        (format!("{starter}\n\n{fri} "), format!("{why}\n\n{event}")),
        (
            format!("{starter}\n\n[Signal handlers]\n\n{ada} "),
            why.to_owned(),
        ),
        (
            format!("{history}\n\n{ada} "),
            format!("{why}\n\n[2026-01-20 10:00:00] boom"),
        ),
        (
            format!("{history}\n\n{ada} "),
            format!("{why}\n\n[Signal handlers] are they set?"),
        ),
        (
            format!("{event}\n\n"),
            "my words\n\n[media attached: see the docs (all)]".to_owned(),
        ),
        // In its whole form it ends what happened.
        (format!("{event}\n\nmore\n\n{media}\n"), why.to_owned()),
        (
            format!("{event}\n\nmore\n\n[media attached: 2 files]\n{media}\n"),
            why.to_owned(),
        ),
        (
            String::new(),
            "System: Bluetooth: not configured".to_owned(),
        ),
        (
            String::new(),
            "System: Wi-Fi: disabled since the update\n\nhow do I mend it?".to_owned(),
        ),
        (
            String::new(),
            "System: Telegram: disabled since the update".to_owned(),
        ),
        (
            String::new(),
            "A scheduled reminder has been triggered. The reminder came too late".to_owned(),
        ),
    ] {
        let text = format!("{before}{words}");
        assert_eq!(typed(&text), (words, false), "{text}");
    }
    let due = "A scheduled reminder has been triggered. The reminder message is shown in the \
               system messages above. Please relay this reminder to the user.";
    assert_eq!(typed(due), (due.to_owned(), true));
}

/// Each mark of a thread is written once: what repeats them costs no more than other text.
#[test]
fn of_many_threads_two_are_looked_at() {
    let starter = "[Thread starter - for context]\nx\n\n";
    let message = Message::of(&starter.repeat(2_000));
    assert_eq!(message.put_in.len(), 2);
    assert_eq!(message.typed.matches("[Thread starter").count(), 1_998);
}

#[test]
fn names_of_files_say_what_they_are() {
    for (path, session, kind) in [
        ("main/sessions/s1.jsonl", "s1", Kind::Live),
        ("main/sessions/s1-topic-7.jsonl", "s1-topic-7", Kind::Live),
        (
            "main/sessions/s1.jsonl.reset.2026-01-05T10-00-00.000Z",
            "s1",
            Kind::Reset,
        ),
        (
            "main/sessions/s1.jsonl.deleted.2026-01-05T10-00-00.000Z.g.zst",
            "s1",
            Kind::Deleted,
        ),
        ("main/sessions/s1.checkpoint.8d1c.jsonl", "s1", Kind::Copy),
        ("main/sessions/s1.bak-12-34.jsonl", "s1", Kind::Copy),
        ("main/sessions/s1.jsonl.bak-12-34", "s1", Kind::Copy),
        (
            "main/session-sqlite-import-archive/s1.jsonl",
            "s1",
            Kind::Imported,
        ),
        (
            "main/session-sqlite-import-archive/run-1/s1.jsonl",
            "s1",
            Kind::Imported,
        ),
        (
            "main/session-sqlite-import-archive/2026-07-01/sessions/s1.jsonl",
            "s1",
            Kind::Imported,
        ),
        (
            "main/session-sqlite-import-archive/2026-07-01/sessions/s1.checkpoint.8d1c.jsonl",
            "s1",
            Kind::Copy,
        ),
        (
            "main/session-sqlite-import-archive/agent_main_main.s1.jsonl.imported-1796062761582",
            "s1",
            Kind::Imported,
        ),
        (
            "main/session-sqlite-import-archive/agent_main_1@g.us.s1-topic-7.jsonl.imported-1.1",
            "s1-topic-7",
            Kind::Imported,
        ),
        (
            "main/session-sqlite-import-archive/archive-tier.s1.checkpoint.8d1c.jsonl.imported-1",
            "s1",
            Kind::Copy,
        ),
        (
            "main/session-sqlite-import-archive/s1.jsonl.imported-1",
            "s1",
            Kind::Imported,
        ),
    ] {
        let found = name(Path::new(path)).unwrap();
        assert_eq!(
            (found.agent, found.session, found.kind),
            ("main", session, kind),
            "{path}"
        );
        // From the root of the file system too.
        let whole = Path::new("/home/sessions/agents").join(path);
        assert_eq!(name(&whole).unwrap().session, session);
        let Placement::Source {
            session: key,
            part,
            unlisted,
        } = OpenClaw.place(Path::new(path), false)
        else {
            panic!("{path}")
        };
        assert_eq!(key, format!("main/{session}"));
        assert_eq!(unlisted.is_none(), kind == Kind::Live, "{path}");
        assert_eq!(part == SourcePart::Copy, kind == Kind::Copy, "{path}");
    }
    for path in [
        "main/sessions/sessions.json",
        "main/sessions/s1.trajectory.jsonl",
        "main/sessions/s1.trajectory-path.json",
        "main/sessions/.jsonl",
        "main/sessions/s1.jsonl.lock",
        "main/session-sqlite-import-archive/legacy-store.sessions.json.imported-1796062761754",
        "main/session-sqlite-import-archive/agent_main_main.s1.trajectory.jsonl.imported-1",
        "main/session-sqlite-import-archive/agent_main_main..jsonl.imported-1",
        "main/sessions/x/s1.jsonl",
        "main/agent/openclaw-agent.sqlite.reindex-lock.sqlite",
        "main/agent/auth-profiles.json",
        "sessions/s1.jsonl",
        "s1.jsonl",
    ] {
        let place = OpenClaw.place(Path::new(path), false);
        assert!(matches!(place, Placement::Ignore(_)), "{path}: {place:?}");
    }
    let database = Path::new("main/agent/openclaw-agent.sqlite");
    assert_eq!(OpenClaw.place(database, false), Placement::Database);
    assert_eq!(
        OpenClaw.place_within(database, "s1").as_deref(),
        Some("main/s1")
    );
    for folder in [
        "main",
        "main/agent",
        "main/sessions",
        "main/session-sqlite-import-archive/run-1",
        "main/session-sqlite-import-archive/2026-07-01/sessions",
    ] {
        assert_eq!(OpenClaw.leaves_out(Path::new(folder)), None, "{folder}");
    }
    for folder in [
        "main/agent/codex-home",
        "main/sessions/cold",
        "main/workspace",
    ] {
        assert!(OpenClaw.leaves_out(Path::new(folder)).is_some(), "{folder}");
    }
}

#[test]
fn rows_beside_the_transcript_say_nothing_by_themselves() {
    let row = br#"{"table":"session_transcript_index_state","key":"s1","row":{"session_id":"s1","leaf_event_id":"b","needs_rebuild":0}}"#;
    let facts = OpenClaw.facts(row);
    assert_eq!(facts.stands_at.as_deref(), Some("b"));
    assert!(facts.is_beside && facts.silent);
    assert_eq!(OpenClaw.passages(row), []);
    let anew = br#"{"table":"session_transcript_index_state","key":"s1","row":{"leaf_event_id":"b","needs_rebuild":1}}"#;
    assert_eq!(OpenClaw.facts(anew).stands_at, None);
}

#[test]
fn compactions_and_messages_of_its_own() {
    let compact = br#"{"type":"compact","id":"a","parentId":null,"summary":"all of it"}"#;
    assert!(OpenClaw.facts(compact).compaction.is_some());
    let own = br#"{"type":"custom_message","customType":"openclaw.sessions_yield","content":"yielded","id":"a"}"#;
    let facts = OpenClaw.facts(own);
    assert_eq!(
        (facts.role.as_deref(), facts.user_text),
        (Some("injected"), None)
    );
    let said = OpenClaw.passages(own);
    assert_eq!(
        (said[0].class, said[0].pieces.join("")),
        (Class::Prose, "yielded".to_owned())
    );
    // The same words of a model are a model's.
    let answer = br#"{"type":"message","id":"b","message":{"role":"assistant","content":"[cron:1 x] y","model":"delivery-mirror","provider":"openclaw","usage":{"input":1}}}"#;
    let facts = OpenClaw.facts(answer);
    assert_eq!(
        (facts.role.as_deref(), facts.model, facts.usage),
        (Some("assistant"), None, None)
    );
}

#[test]
fn names_are_read_leniently() {
    let path = Path::new("/x/agents/main/sessions/s1.jsonl");
    let (file, session) = OpenClaw.names_beside(path).expect("a file of names");
    assert_eq!(file, Path::new("/x/agents/main/sessions/sessions.json"));
    let said = |names: &str| {
        let named = OpenClaw.names_in(names.as_bytes());
        named.map(|named| named.get(&session).cloned())
    };
    let key = r#"{"key":"k","label":"l"}"#.to_owned();
    let names =
        r#"{"j":null,"k":{"sessionId":"s1","label":"l","displayName":7},"l":{"sessionId":"s1"}}"#;
    assert_eq!(said(names), Some(Some(key)));
    let spawned = r#"{"k":{"sessionId":"s1","spawnedBy":"l"},"l":{"sessionId":"s2"}}"#;
    let starter = r#"{"key":"k","spawned_by":"l","starter":"s2"}"#.to_owned();
    assert_eq!(said(spawned), Some(Some(starter)));
    assert_eq!(said(r#"{"k":{"sessionId":"s2"}}"#), Some(None));
    assert_eq!(said(r#"{"k":{"sessionId":"s1"#), None);
    assert_eq!(said("[\"s1\"]"), None);
    let reset = Path::new("/x/agents/main/sessions/s1.jsonl.reset.2026");
    assert_eq!(OpenClaw.names_beside(reset), None);
}

/// The facts of lines, one after the other, and what they come to.
fn folded(lines: &[&str]) -> (Vec<Facts>, Fold) {
    let mut fold = Fold::default();
    let mut all = Vec::new();
    for line in lines {
        let record = line.as_bytes();
        let mut facts = OpenClaw.facts(record);
        OpenClaw.relate(&mut fold, record, &mut facts);
        OpenClaw.fold(&mut fold, &facts);
        all.push(facts);
    }
    (all, fold)
}

#[test]
fn a_leaf_line_selects_an_entry() {
    let leaf = r#"{"type":"leaf","id":"l","parentId":"b","targetId":"a"}"#;
    let behind = r#"{"type":"custom","id":"c","parentId":"l"}"#;
    let (all, fold) = folded(&[leaf]);
    assert!(all[0].is_beside && all[0].silent);
    assert_eq!(OpenClaw.passages(leaf.as_bytes()), []);
    assert_eq!(fold.leaf.as_deref(), Some("a"));
    // What names the line goes on from what it selects, also through another such line.
    let other = r#"{"type":"leaf","id":"m","parentId":"c","targetId":"l"}"#;
    let last = r#"{"type":"custom","id":"d","parentId":"m"}"#;
    let (all, fold) = folded(&[leaf, behind, other, last]);
    let parents: Vec<_> = all.iter().map(|facts| facts.parent.as_deref()).collect();
    assert_eq!(parents, [Some("a"); 4]);
    assert_eq!(fold.leaf.as_deref(), Some("d"));
    // All was taken back.
    let none = r#"{"type":"leaf","id":"n","parentId":"d","targetId":null}"#;
    let first = r#"{"type":"custom","id":"e","parentId":"n"}"#;
    assert_eq!(folded(&[behind, none]).1.leaf, None);
    let (all, fold) = folded(&[behind, none, first]);
    assert_eq!((&all[2].parent, fold.leaf.as_deref()), (&None, Some("e")));
    // One that selects nothing is no such line.
    let odd = r#"{"type":"leaf","id":"o","parentId":"c"}"#;
    assert!(!folded(&[odd]).0[0].is_beside);
    // One that agents drop moves nothing.
    let mut fold = folded(&[behind]).1;
    let mut dropped = OpenClaw.facts(leaf.as_bytes());
    dropped.agent_sees = false;
    OpenClaw.relate(&mut fold, leaf.as_bytes(), &mut dropped);
    OpenClaw.fold(&mut fold, &dropped);
    assert_eq!(fold.leaf.as_deref(), Some("c"));
    // A copy beside the session knows less of where it stands.
    let (live, copy) = (folded(&[behind, none]).1, folded(&[behind]).1);
    let source = |path, fold, part| SourceFacts {
        relative: Path::new(path),
        mtime_ms: 7,
        fold,
        part,
        unlisted: None,
        problems: (0, None),
    };
    let session = OpenClaw.session(&[
        source("main/sessions/s.jsonl", &live, SourcePart::Main),
        source("main/sessions/s.jsonl.bak-1-2", &copy, SourcePart::Copy),
    ]);
    assert_eq!(session.leaf, None);
    // Nor does a session stand at what is written beside.
    let aside = r#"{"type":"custom","id":"p","appendMode":"side"}"#;
    assert_eq!(folded(&[behind, aside]).1.leaf.as_deref(), Some("c"));
}

#[test]
fn a_message_that_is_written_anew_counts_once() {
    let said = r#"{"type":"message","id":"a","timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"assistant","model":"m","timestamp":7,"stopReason":"error","usage":{"input":3,"output":4,"cost":{"total":0.5}}}}"#;
    let again = said
        .replace("\"id\":\"a\"", "\"id\":\"b\",\"appendMode\":\"side\"")
        .replace("09:00", "10:00");
    let counted = |lines: &[&str]| {
        let fold = folded(lines).1;
        (fold.messages, fold.errors, fold.tokens, fold.cost)
    };
    let once = (1, 1, Some(7), Some(0.5));
    assert_eq!(counted(&[said, &again]), once);
    // Of a fork only what was written anew is there.
    assert_eq!(counted(&[&again]), once);
    // Both are known as one answer.
    let (all, fold) = folded(&[said, &again]);
    let named = |facts: &Facts| facts.usage.as_ref().unwrap().response_id.clone();
    assert_eq!(
        (named(&all[0]), named(&all[1])),
        (Some("7".into()), Some("7".into()))
    );
    // What is known of them is kept from one look to the next.
    let kept = serde_json::to_string(&fold).unwrap();
    assert_eq!(serde_json::from_str::<Fold>(&kept).unwrap(), fold);
    // Another one at that time is another one.
    for (from, to) in [("\"input\":3", "\"input\":2"), ("side", "main")] {
        assert_eq!(counted(&[said, &again.replace(from, to)]).0, 2, "{to}");
    }
    let named_by_provider = said.replace("\"model\"", "\"responseId\":\"r\",\"model\"");
    assert_eq!(named(&folded(&[&named_by_provider]).0[0]), Some("r".into()));
}

#[test]
fn headers_name_their_origin() {
    for (origin, session) in [
        ("/h/.openclaw/agents/main/sessions/s1.jsonl", Some("s1")),
        (
            r"C:\h\sessions\s1.jsonl.reset.2026-01-05T10-00-00.000Z",
            Some("s1"),
        ),
        (
            "sqlite:main:s1:/h/agents/main/agent/openclaw-agent.sqlite",
            Some("s1"),
        ),
        ("s1", Some("s1")),
        ("sqlite:main", None),
        ("/h/", None),
        (" ", None),
    ] {
        assert_eq!(named(origin), session, "{origin}");
    }
}
