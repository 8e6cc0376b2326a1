//! Does it matter that lists and searches are asked while the files are looked at?

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

const GENERATION: &str = ".cache/sessionary/v5";

fn home() -> Sandbox {
    let home = Sandbox::new();
    for (id, text) in [("0a", "Fix the tokenizer"), ("0b", "The tokenizer again")] {
        let lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/c\"}}\n\
             {{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        );
        home.write(&format!(".pi/agent/sessions/--c--/{id}.jsonl"), &lines);
    }
    home.settle();
    let _ = home.run(&["sync"]);
    home.settle();
    home
}

/// Overwrites the first pages of the indexes on sessions, which every look at the files begins
/// with.
fn damage(catalogue: &Path) {
    let connection = rusqlite::Connection::open(catalogue).expect("the catalogue");
    let mut pages = connection
        .prepare(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema
             WHERE tbl_name = '_sessions' AND type = 'index'",
        )
        .expect("a statement");
    let pages: Vec<(u32, u32)> = pages
        .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))
        .and_then(Iterator::collect)
        .expect("their first pages");
    let mut bytes = fs::read(catalogue).expect("its bytes");
    for (page, size) in pages {
        bytes[((page - 1) * size) as usize..][..size as usize].fill(0xff);
    }
    fs::write(catalogue, bytes).expect("damaged");
}

#[test]
fn a_damaged_catalogue_is_rebuilt_whoever_asks_first() {
    for arguments in [
        &["search", "tokenizer", "--json"][..],
        &["list", "--all", "--json"],
    ] {
        let home = home();
        damage(&home.home.join(GENERATION).join("catalogue.sqlite"));
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("is rebuilt"), "{arguments:?}: {said}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["sessions"].as_array().expect("rows").len(), 2);
        assert_eq!(answer["complete"], true);
    }
}

#[test]
fn words_by_other_rules_are_rebuilt_after_an_answer() {
    let home = home();
    let meta = home.home.join(GENERATION).join("words/meta.json");
    let committed = || {
        let json = fs::read(&meta).ok()?;
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        Some(json["payload"].as_str()?.to_owned())
    };
    let own = || committed().expect("a payload");
    let rules = |payload: &str| payload.rsplit(':').next().expect("a revision").to_owned();
    let before = own();
    let older = format!("{}0", &before[..before.len() - rules(&before).len()]);
    let text = fs::read_to_string(&meta).expect("their last commit");
    fs::write(&meta, text.replace(&before, &older)).expect("of an older version");
    home.settle();
    assert_eq!(rules(&own()), "0");
    // A slow machine may need the time after more than one answer.
    for _ in 0..50 {
        let answer = home.json(&["search", "tokenizer", "--json"]);
        assert_eq!(answer["total"], 2);
        if committed().is_some() {
            break;
        }
    }
    assert_eq!(rules(&own()), rules(&before));
    assert_eq!(home.json(&["status", "--json"])["outstanding"], 0);
    assert_eq!(home.json(&["search", "tokenizer", "--json"])["total"], 2);
}
