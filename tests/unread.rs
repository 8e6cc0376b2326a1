//! What does the command say of what it cannot read, and does anything stay hidden?

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const WORDS: &str = ".cache/sessionary/v1/words";

fn session(id: &str, text: &str) -> String {
    format!(
        "{}\n{}\n",
        format_args!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/work/parser"}}"#
        ),
        format_args!(
            r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1767603601000}}}}"#
        )
    )
}

fn home() -> Sandbox {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--work-parser--/one.jsonl",
        &session("0a", "Fix the tokenizer"),
    );
    home.write(
        ".pi/agent/sessions/--work-parser--/two.jsonl",
        &session("0b", "The tokenizer again"),
    );
    home.settle();
    home
}

/// Fills all but the ends of the words' files of one kind with ones.
fn damage(words: &Path, kind: &str) {
    for file in fs::read_dir(words).expect("the words") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == kind) {
            let mut bytes = fs::read(&path).expect("its bytes");
            let end = bytes.len() - 160;
            bytes[..end].fill(0xff);
            fs::write(&path, bytes).expect("damaged");
        }
    }
}

#[test]
fn damaged_words_are_no_matter_for_an_answer() {
    let home = home();
    let _ = home.run(&["sync"]);
    for kind in ["term", "fast"] {
        let words = home.home.join(WORDS);
        damage(&words, kind);
        // What a read does of its own accord is not to be seen here.
        let copy = home.home.join("copy");
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy).expect("a folder");
        for file in fs::read_dir(&words).expect("the words") {
            let file = file.expect("a file");
            fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
        }
        let answer = home.output(&["search", "tokenizer", "--json"]);
        let said = String::from_utf8_lossy(&answer.stderr);
        assert_eq!(answer.status.code(), Some(0), "{kind}: {said}");
        assert!(!said.contains("panicked"), "{kind}: {said}");
        assert!(said.contains("All text was read instead"), "{kind}: {said}");
        let json: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("an answer");
        assert_eq!(json["total"], 2, "{kind}");
        assert_eq!(json["complete"], true, "{kind}");
        assert!(json["words_damage"].is_string(), "{kind}: {json}");
        // The read has mended them; as they were, sync does it and says why.
        assert_eq!(
            home.json(&["verify", "--json"])["differences"],
            serde_json::json!([])
        );
        fs::remove_dir_all(&words).expect("gone");
        fs::rename(&copy, &words).expect("back");
        fs::write(words.join("damaged"), "the word index cannot be read: x").expect("a mark");
        let notes = &home.json(&["sync", "--json"])["report"]["notes"];
        assert!(
            notes[0]
                .as_str()
                .is_some_and(|note| note.starts_with("the words are built anew: ")),
            "{kind}: {notes}"
        );
        assert_eq!(
            home.json(&["verify", "--json"])["differences"],
            serde_json::json!([])
        );
    }
}

#[test]
fn the_state_of_damaged_words_is_told() {
    let home = home();
    let _ = home.run(&["sync"]);
    damage(&home.home.join(WORDS), "term");
    assert_snapshot!(said(&home, &["search", "again"]), @r#"
    The tokenizer again  ~/work/parser · pi · 2h
      user · 2h  0b:a1
        The tokenizer again
    --- stderr
    the words cannot be read: ID.term damaged. All text was read instead; they are built anew by and by, or at once by `sessionary sync`.
    1 match in 1 session. --here keeps to this directory.
    "#);
    // Answering has mended them.
    assert_snapshot!(said(&home, &["search", "again"]), @r#"
    The tokenizer again  ~/work/parser · pi · 2h
      user · 2h  0b:a1
        The tokenizer again
    --- stderr
    1 match in 1 session. --here keeps to this directory.
    "#);
    // What damage a sync does not touch it learns of by the mark.
    fs::write(
        home.home.join(WORDS).join("damaged"),
        "the words are damaged: a.term",
    )
    .expect("a mark");
    let status = home.run(&["status"]);
    let freshness = status.lines().find(|line| line.starts_with("freshness"));
    assert_snapshot!(freshness.unwrap_or_default(), @r#"
    freshness last full scan DATE; the words are damaged: a.term; `sessionary sync` builds them anew
    "#);
    assert_snapshot!(home.run(&["verify"]), @r#"
    words: the words are damaged: a.term
    2 files, 4 entries, 2 passages, 576 B read: 1 difference.
    --- stderr
    `sessionary rebuild` makes the index anew.
    --- exit Some(1)
    "#);
}

/// What a command prints, with the random names of files made equal.
fn said(home: &Sandbox, arguments: &[&str]) -> String {
    let text = home.run(arguments);
    let words = text.split(' ').map(|word| match word.split_once('.') {
        Some((name, rest)) if name.len() == 32 => format!("ID.{rest}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}
