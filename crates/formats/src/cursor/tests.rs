//! Cursor's transcripts, case by case: `fixtures/cursor.py` writes them.

use super::{Cursor, place};
use crate::testing::{MTIME, Read, only, sessions};

const ID: &str = "6d0b1f6e-0000-4000-8000-0000000000e1";
const KID: &str = "6d0b1f6e-0000-4000-8000-0000000000e2";

fn read(case: &str) -> Read {
    only(&Cursor, case)
}

#[test]
fn user_query_is_the_title() {
    let session = read("talk").session;
    assert_eq!(
        session.first_message.as_deref(),
        Some("Where is the walrus?")
    );
    assert_eq!(session.typed.as_deref(), Some("Where is the walrus?"));
    assert_eq!(session.id, ID);
    assert_eq!(session.name, None);
    assert_eq!(session.message_count, 3);
    assert_eq!(session.hidden, None);
}

#[test]
fn no_hit_in_wrappers() {
    let read = read("talk");
    assert_eq!(read.found("zeppelin"), 0);
    assert_eq!(
        read.prose,
        [
            "Where is the walrus?",
            "I look for it.",
            "It is on the ice."
        ]
    );
    let roles = read.of_kind("message").into_iter();
    let roles: Vec<_> = roles
        .map(|facts| facts.role.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(roles, ["user", "assistant", "injected", "assistant"]);
}

#[test]
fn no_models_or_tokens_and_no_times_but_of_prompts() {
    let read = read("talk");
    assert!(
        read.entries
            .iter()
            .all(|facts| facts.time_ms.is_none() && facts.usage.is_none())
    );
    let session = read.session;
    assert_eq!((session.created_ms, session.modified_ms), (None, MTIME));
    assert_eq!((session.tokens, session.model), (None, None));
    // Where no call names a path in the directory only a name made from it is known.
    assert_eq!(session.cwd, "");
    assert_eq!(
        session.own.as_deref(),
        Some(r#"{"project":"home-ada-code-app"}"#)
    );
}

/// `<timestamp>Friday, May 8, 2026, 6:05 AM (UTC+5:30)</timestamp>` before `<user_query>`, or
/// behind what is attached: in 107 of 109 prompts of 857 records that Cursor wrote in May 2026, as
/// potsherd's study of its transcripts says.
#[test]
fn prompts_say_when_they_were_sent() {
    let read = read("times");
    let times: Vec<_> = read.entries.iter().map(|facts| facts.time_ms).collect();
    let at = crate::json::date_ms;
    assert_eq!(
        times,
        [
            at("2026-05-08T00:35:00Z"),
            None,
            at("2026-05-10T19:17:00Z"),
            at("2026-08-31T09:52:00Z"),
            at("2026-09-01T10:00:00Z"),
            // What a person typed or attached is no stamp.
            None,
        ]
    );
    let session = &read.session;
    assert_eq!(session.created_ms, at("2026-05-08T00:35:00Z"));
    assert_eq!(
        session.created_raw.as_deref(),
        Some("Friday, May 8, 2026, 6:05 AM (UTC+5:30)")
    );
    assert_eq!(Some(session.modified_ms), at("2026-09-01T10:00:00Z"));
    // A stamp is nothing that somebody typed, though no other tag may stand behind it.
    assert_eq!(read.prose[4], "No tags around this.");
    assert_eq!(read.found("(UTC"), 1);
}

/// What Cursor asks stands right behind `<user_query>` (4 of 4 in potsherd's study), what people
/// typed on a line of its own (105 of 105): behind a subagent with fixed words, behind a task with
/// `<system_notification>`, as chats that Cursor 3.3.16 exported have it (CodeStorm-Hub/petsphere).
/// Older lines of its command line have what people typed right behind the tag, too.
#[test]
fn what_cursor_asks_is_injected() {
    let read = read("injected");
    let roles: Vec<_> = read
        .entries
        .iter()
        .map(|facts| facts.role.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(
        roles,
        ["user", "injected", "injected", "injected", "user", "user"]
    );
    assert_eq!(
        read.prose,
        [
            "Briefly: what sings?",
            "Ask a whale.",
            "What about <system_notification>?"
        ]
    );
    assert_eq!(read.session.message_count, 3);
    // What a notice says is found, and no tag of it.
    assert_eq!(read.found("title: Start the zither"), 1);
    assert_eq!(read.output.len(), 4);
    assert_eq!(
        read.output[3],
        "Briefly inform the user about the task result, and follow up."
    );
}

/// Queries that waited are one text, each with its time, as in the same exported chats. One ends
/// with the last closing tag before the next (potsherd's study).
#[test]
fn queries_that_waited_are_all_read() {
    let read = read("queued");
    let mut typed = read.entries.iter().map(|facts| facts.user_text.as_deref());
    assert_eq!(
        typed.next(),
        Some(Some("First the ice.\n\nThen the snow.\n\nAnd the picture."))
    );
    // With what Cursor asks in between it is a person's all the same.
    assert_eq!(typed.next(), Some(Some("I typed this.")));
    let pasted = "Close it with </user_query> and go on:\n<user_query>inner</user_query>\nas here";
    assert_eq!(typed.next(), Some(Some(pasted)));
    assert_eq!(typed.next(), Some(Some("Never closed.")));
    assert_eq!(
        read.prose,
        [
            "First the ice.",
            "Then the snow.",
            "And the picture.",
            "I typed this.",
            pasted,
            "Never closed."
        ]
    );
    assert_eq!(read.output.len(), 2);
}

#[test]
fn calls_and_files() {
    let read = read("talk");
    let answer = read.of_kind("message")[1];
    let subjects = answer.calls.iter().map(|call| call.subject.as_deref());
    assert_eq!(
        subjects.collect::<Vec<_>>(),
        [Some("/home/ada/ice.md"), Some("ls ice")]
    );
    assert_eq!(answer.files.len(), 1);
    assert_eq!(
        read.output,
        [
            "read_file",
            "/home/ada/ice.md",
            "run_terminal_cmd",
            "ls ice"
        ]
    );
    assert_eq!(read.of_kind("turn_ended").len(), 1);
}

/// The input of `ApplyPatch` is a text (120 of 120 in potsherd's study), and a call of `Delete`,
/// `EditNotebook` or `ReadLints` names its file by `path`, `target_notebook` or `paths`.
#[test]
fn files_of_every_tool() {
    let read = read("tools");
    let touched: Vec<_> = read
        .entries
        .iter()
        .flat_map(|facts| &facts.files)
        .map(|file| (file.path.as_str(), file.modified))
        .collect();
    assert_eq!(
        touched,
        [
            ("/home/ada/code/app/src/new.rs", true),
            ("/home/ada/code/app/src/seal.rs", true),
            ("/home/ada/code/app/old.rs", true),
            ("/home/ada/code/app/n.ipynb", true),
        ]
    );
    let calls = read.entries.iter().flat_map(|facts| &facts.calls);
    let subjects: Vec<_> = calls.map(|call| call.subject.as_deref()).collect();
    assert_eq!(
        subjects,
        [
            Some("/home/ada/code/app/src/new.rs"),
            Some("/home/ada/code/app/old.rs"),
            Some("/home/ada/code/app/n.ipynb"),
            Some("/home/ada/code/app/src/seal.rs"),
        ]
    );
    assert_eq!(read.found("+fn walrus()"), 1);
}

/// A path that a call names lies in the directory, if its beginning gives the folder's name: every
/// run of other signs is a hyphen (lucifer1004/cursor-helper, `folder_id.rs`; potsherd's study
/// found both real projects so), drives are small letters (`c-Programm` of `C:\Programm`).
#[test]
fn the_directory_is_what_the_folder_is_called_after() {
    let read = read("tools");
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    for (project, path, directory) in [
        (
            "Users-zebra-maths-practice",
            "/Users/zebra/maths_practice/src/a.rs",
            Some("/Users/zebra/maths_practice"),
        ),
        (
            "Users-zebra-maths-practice",
            "/Users/zebra/maths_practice",
            Some("/Users/zebra/maths_practice"),
        ),
        (
            "Users-me-claude",
            "/Users/me/.claude/x",
            Some("/Users/me/.claude"),
        ),
        ("home-ada-a-b", "/home/ada/a - b/x", Some("/home/ada/a - b")),
        (
            "c-Users-ada-app",
            "C:\\Users\\ada\\app\\x.rs",
            Some("C:\\Users\\ada\\app"),
        ),
        (
            "c-Users-ada-app",
            "c:/Users/ada/app/x.rs",
            Some("c:/Users/ada/app"),
        ),
        ("home-ada-app", "/home/ada/app2/x", None),
        ("home-ada-app", "/home/ada", None),
        ("home-ada-app", "home/ada/app/x", None),
        ("home-ada-app", "\\home\\ada\\app", None),
        ("empty-window", "/home/ada/app/x", None),
        ("", "/", None),
    ] {
        assert_eq!(place::directory(project, path), directory, "{path}");
    }
}

#[test]
fn older_places() {
    let sessions = sessions(&Cursor, "older-places");
    let ids = sessions.values().map(|read| read.session.id.as_str());
    assert_eq!(ids.collect::<Vec<_>>(), [ID, KID]);
    assert_eq!(
        sessions.values().next().unwrap().prose,
        ["A plain question."]
    );
    // Plain text is one entry.
    let plain = sessions.values().last().unwrap();
    assert_eq!(plain.entries.len(), 1);
    assert_eq!(plain.found("An older answer."), 1);
    assert_eq!(
        plain.session.first_message.as_deref(),
        Some("An older question.")
    );
    assert_eq!(plain.session.message_count, 1);
}

/// `user:` or `assistant:` alone on a line begins a message, `[Thinking]`, `[Tool call] NAME` and
/// `[Tool result]` what they say; arguments and results are indented (wesm/agentsview, `cursor.go`
/// and its tests, and three more readers).
#[test]
fn a_plain_transcript_has_a_title_calls_and_files() {
    let read = read("txt");
    assert_eq!(
        read.session.typed.as_deref(),
        Some("Find the beluga. assistant: is it there?")
    );
    assert_eq!(read.session.message_count, 1);
    let [facts] = &read.entries[..] else {
        panic!("{} entries", read.entries.len());
    };
    let calls: Vec<_> = facts
        .calls
        .iter()
        .map(|call| (call.tool.as_deref(), call.subject.as_deref()))
        .collect();
    assert_eq!(
        calls,
        [
            (Some("Grep"), Some("/home/ada/code/app/src")),
            (Some("StrReplace"), Some("src/w.rs")),
            (Some("Shell"), Some("ls -l")),
        ]
    );
    let files: Vec<_> = facts.files.iter().map(|file| &*file.path).collect();
    assert_eq!(files, ["src/w.rs"]);
    assert_eq!(read.session.cwd, "/home/ada/code/app");
    let prose: Vec<_> = read.prose.iter().map(|text| text.trim()).collect();
    assert_eq!(
        prose,
        [
            "Find the beluga.\nassistant:\nis it there?",
            "They want a whale.\nA white one.",
            "It is in the sea.",
            "Now rename it.",
            "Renamed."
        ]
    );
    let output: Vec<_> = read.output.iter().map(|text| text.trim()).collect();
    assert_eq!(output[1], "Grep\n  src/w.rs:3: beluga");
    assert_eq!(output.len(), 4);
    assert_eq!(read.found("zeppelin"), 0);
}

#[test]
fn subagents_hang_below_their_session() {
    let sessions = sessions(&Cursor, "subagent");
    let kid = &sessions.values().last().unwrap().session;
    assert_eq!(kid.id, KID);
    assert!(kid.is_subagent);
    assert_eq!(kid.parent_session.as_deref(), Some(ID));
    // Nobody typed what a model asked of it, but it is called by that.
    let kid = sessions.values().last().unwrap();
    let users = kid.entries.iter();
    let users = users.filter(|facts| facts.user_text.is_some());
    let roles: Vec<_> = users.map(|facts| facts.role.as_deref()).collect();
    assert_eq!(roles, [Some("injected")]);
    let answers = kid.entries.iter();
    let answers = answers.filter(|facts| facts.role.as_deref() == Some("assistant"));
    assert_eq!(kid.session.message_count, answers.count() as u64);
    assert_eq!(kid.session.typed, None);
    assert!(kid.session.first_message.is_some());
    let parent = &sessions.values().next().unwrap().session;
    assert!(!parent.is_subagent && parent.parent_session.is_none());
}

/// `turn_ended` says why a turn failed or that it was broken off; of a chat of the editor, whose
/// talk is in its database, a transcript may hold nothing else (a reader's `cursor_ide.rs`).
#[test]
fn turns_that_failed_are_errors() {
    let sessions = sessions(&Cursor, "turns");
    let [failed, alone] = [ID, KID].map(|id| {
        let mut all = sessions.values();
        all.find(|read| read.session.id == id).unwrap()
    });
    let errors: Vec<_> = failed.entries.iter().map(|facts| facts.is_error).collect();
    assert_eq!(errors, [false, false, true, true]);
    assert_eq!(failed.session.error_count, 2);
    assert_eq!(
        failed.output,
        [
            "The connection broke.",
            "User aborted/interrupted manually."
        ]
    );
    assert_eq!(failed.session.hidden, None);
    assert_eq!(alone.session.hidden.as_deref(), Some("no messages"));
}

/// None of it is in the 857 records of potsherd's study; others' fixtures have it.
#[test]
fn results_and_other_roles_are_found() {
    let read = read("unknown");
    assert_eq!(
        read.output,
        ["ice.txt", "a floe", "Shell", "a result", "A new block."]
    );
    assert_eq!(read.prompts, ["Be a good walrus."]);
    assert_eq!(read.prose, ["Look.", "Done."]);
    assert_eq!(read.session.message_count, 2);
}

#[test]
fn odd_lines_cost_nothing_but_themselves() {
    let read = read("odd-lines");
    assert_eq!(read.problems, ["torn"]);
    assert_eq!(read.entries.len(), 4);
    assert_eq!(read.prose, ["Only text."]);
}

#[test]
fn nothing_else_of_a_project_is_a_transcript() {
    assert_eq!(read("noise").prose, ["One."]);
}
