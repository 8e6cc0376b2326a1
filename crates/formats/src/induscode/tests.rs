//! induscode's cases that are more than one file with what is expected of it: the others are
//! `fixtures/induscode/*/expected.json`, which `fixtures/induscode.py` writes.

use super::Induscode;
use crate::Format;
use crate::json::split;
use crate::model::{Fold, Placement};
use crate::testing::{only, sessions};

#[test]
fn default_place_and_variables() {
    let agent = crate::AGENTS.iter().find(|agent| agent.name == "induscode");
    let agent = agent.unwrap();
    assert_eq!(
        (agent.dir_default, agent.sessions),
        (".pindusagi", &["sessions"][..])
    );
    assert_eq!(
        agent.dir_variables,
        ["INDUSAGI_CODING_AGENT_DIR", "INDUSAGI_HOME"]
    );
    // Its command takes no session.
    assert_eq!(
        crate::resume("induscode", "induscode", "x", ("y", None), "/z"),
        None
    );
}

#[test]
fn ndjson_is_a_session_and_jsonl_is_none() {
    let place = |path: &str| Induscode.place(path.as_ref(), false);
    assert!(matches!(
        place("--a-b--/x.ndjson"),
        Placement::Source { unlisted: None, .. }
    ));
    assert!(matches!(
        place("x.ndjson"),
        Placement::Source {
            unlisted: Some(_),
            ..
        }
    ));
    assert!(matches!(place("--a-b--/x.jsonl"), Placement::Ignore(_)));
}

/// The new turn hangs below the leaf and is no part of the branch that induscode goes on with.
#[test]
fn newer_entries_below_a_stale_head_are_not_lost() {
    let read = only(&Induscode, "stale-head");
    let stands_at = read.of_kind("head")[0].stands_at.clone();
    assert_eq!(read.session.leaf, stands_at);
    let newest = read.entries.last().unwrap();
    assert_eq!(newest.parent, stands_at);
    assert_eq!(read.found("And where does it begin?"), 1);
}

/// Of nodes under one id the later one is induscode's, and they are one answer.
#[test]
fn a_node_written_twice_counts_once() {
    let node = |text: &str, tokens: u64| {
        let usage = serde_json::json!({"input": tokens, "output": 0, "totalTokens": tokens});
        let message = serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": text}], "usage": usage});
        serde_json::json!({"schema": "indus/transcript@1", "kind": "entry", "id": "n1", "prev": null,
            "role": "assistant", "message": message, "at": "2026-01-05T09:00:00Z"})
        .to_string()
    };
    let mut fold = Fold::default();
    for line in [node("one", 110), node("two", 120)] {
        let mut facts = Induscode.facts(line.as_bytes());
        Induscode.relate(&mut fold, line.as_bytes(), &mut facts);
        Induscode.fold(&mut fold, &facts);
    }
    assert_eq!((fold.messages, fold.tokens), (1, Some(110)));
    assert_eq!(fold.entries, 2);
}

/// A branch writes the file again with a line before the others: each entry is there once.
#[test]
fn rewrite_that_changes_the_first_line() {
    let fold = |case: &str| {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/induscode/");
        let file = format!("{fixtures}{case}/01KE6P4YM0000000000000000A.ndjson");
        let mut fold = Fold::default();
        for line in std::fs::read(file).unwrap().split(|byte| *byte == b'\n') {
            for piece in split(line) {
                Induscode.fold(&mut fold, &Induscode.facts(&line[piece.range]));
            }
        }
        fold
    };
    let (before, after) = (fold("file-without-head"), fold("stale-head"));
    assert_eq!((before.messages, after.messages), (2, 3));
    assert_eq!(before.tokens, after.tokens);
    assert_eq!(Induscode.about().write_mode, crate::WriteMode::Overwrite);
}

#[test]
fn a_reset_stands_nowhere() {
    let read = only(&Induscode, "reset");
    assert_eq!(read.session.leaf, None);
    assert_eq!(read.of_kind("head")[0].stands_at, None);
}

#[test]
fn a_renamed_file_has_its_name_for_an_id() {
    let session = only(&Induscode, "renamed-file").session;
    assert_eq!(session.id, "holidays");
    let own = session.own.unwrap();
    assert!(
        own.contains(r#""sessionId":"01KE6P4YM0000000000000000A""#),
        "{own}"
    );
}

#[test]
fn meta_is_not_searched() {
    assert_eq!(
        only(&Induscode, "string-and-blocks").found("never found"),
        0
    );
    assert_eq!(sessions(&Induscode, "other-files").len(), 1);
}

#[test]
fn an_unknown_schema_is_reported_and_not_repeated() {
    let facts = |schema: &str| {
        let line = serde_json::json!({"schema": schema, "kind": "entry", "role": "user",
            "message": {"role": "user", "content": "Not read."}});
        Induscode.facts(line.to_string().as_bytes())
    };
    let why = |schema: &str| facts(schema).breaks_list.unwrap();
    assert_eq!(why("indus/transcript@2"), "indus/transcript@2 is not known");
    assert_eq!(
        why("indus/transcript@my secret"),
        "a line is of no known schema"
    );
    assert_eq!(facts("indus/transcript@2").user_text, None);
}
