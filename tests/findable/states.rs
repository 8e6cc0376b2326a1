//! Are the hits the same while nothing, a part and all of the words are indexed, and mid-append?

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use sessionary::{Freshness, Index, Indexer};

use super::oracle::Oracle;
use super::{Place, class, copy_fixtures, copy_real, draw};
use crate::corpus;

/// Lines that are hard to read right; each is one entry of one session.
const HARD: &str = r###"{"type":"session","version":3,"id":"019b8d5e-7c80-7000-8000-00000000hard","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/ada/code"}
{"type":"message","id":"h01","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"first\nsecond\tthird\\fourth \"quoted\" caf\u00e9 na\u00EFve \ud83d\ude00smile \u0041BC\u002fslash"}}
{"type":"message","id":"h02","parentId":"h01","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Straße and STRASSE, Ærø, Łódź, İstanbul ıspanak, ﬁne ﬂow, ｗｉｄｅ letters"},{"type":"text","text":"begins here"},{"type":"thinking","thinking":"and ends","thinkingSignature":"c2lnbmF0dXJl"},{"type":"toolCall","id":"call_one","name":"read_file","arguments":{"path":"src/words/tokenizer.rs","limit":42,"deep":[{"oldText":"let fooBar = parseHTTPServer();"},{"newText":"let foo_bar = 1;"}],"id":"ticket-77"}}]}}
{"type":"message","id":"h03","parentId":"h02","timestamp":"2026-01-05T09:00:03.000Z","message":{"role":"toolResult","toolCallId":"call_one","toolName":"read_file","content":[{"type":"text","text":"error[E0502]: cannot borrow `*self` as mutable\n  --> src/main.rs:12:5\nversion v1.2.3 of 10.0.0.1, sha 3f2b8c1e, 0xDEADBEEF\r\n\u001b[31mred\u001b[0m line"}],"details":{"exit":1,"names":"apple\npear\nquince\nmedlar\nsloe\ndamson\ngreengage\nmirabelle\nbullace\ncherry\nrowan\nhawthorn\nelder\nbilberry\ncranberry\nredcurrant\ngooseberry\nloganberry\ntayberry\nboysenberry\nmulberry\nbarberry\nchokeberry\nserviceberry\nhuckleberry\nlingonberry\ncloudberry","callId":"hiddenid"},"isError":true}}
{"type":"message","id":"h04","parentId":"h03","timestamp":"2026-01-05T09:00:04.000Z","message":{"role":"user","content":"日本語のテキスト検索 と カタカナ。中文分词测试 한국어 검색 ﾊﾝｶｸ ガギ が"}}
{"type":"message","id":"h05","parentId":"h04","timestamp":"2026-01-05T09:00:05.000Z","message":{"role":"user","content":"\u65e5\u672c escaped \u00fcber co\u00adoperate zero\u200bwidth join\u200der e\u0301clair Ελλάδα ΟΔΟΣ Привет Ёлка हिन्दी ไทย עברית عربى"}}
{"type":"message","id":"h06","parentId":"h05","timestamp":"2026-01-05T09:00:06.000Z","message":{"role":"bashExecution","command":"rg -n 'TODO|FIXME' --glob '!target/**' ~/Work/my-app","output":"C:\\Users\\ada\\file.txt\n/usr/lib/x86_64-linux-gnu/libc.so.6\nnfoo is no word of foo\nhttps://example.org/a/b?c=d&e=%20f#frag user@example.org","exitCode":0}}
{"type":"label","id":"h07","parentId":"h06","timestamp":"2026-01-05T09:00:07.000Z","targetId":"h02","label":"the borrow checker"}
{"type":"session_info","id":"h08","parentId":"h07","timestamp":"2026-01-05T09:00:08.000Z","name":"A name with 😀 in it"}
{"type":"compaction","id":"h09","parentId":"h08","timestamp":"2026-01-05T09:00:09.000Z","summary":"## Goal\n- make it `findable`\n- keep_snake_case and camelCase2Words","firstKeptEntryId":"h02","tokensBefore":99,"details":{"readFiles":["docs/read-me.md"],"modifiedFiles":["src/lib.rs"]}}
{"type":"custom","id":"h10","parentId":"h09","timestamp":"2026-01-05T09:00:10.000Z","customType":"todo","data":{"items":["wash the dishes",{"note":"twice"}],"price":12.5}}
{"type":"message","id":"h11","parentId":"h10","timestamp":"2026-01-05T09:00:11.000Z","message":{"role":"assistant","content":[{"type":"text","text":"_private __init__ a_b__c FOO_BAR XMLHttpRequest iOS ipv4 utf8String getURLs"}],"errorMessage":"429 rate_limit: slow down"}}
{"type":"message","id":"h12","parentId":"h11","timestamp":"2026-01-05T09:00:12.000Z","message":{"role":"toolResult","toolCallId":"call_two","toolName":"bash","content":[{"type":"text","text":"\u001b[1m\u001B[32m   Compiling\u001b[0m sqlparser v0.1\n\u001b[1m\u001b[38;5;9merror[E0499]\u001b[0m\u001b[1m: cannot borrow\u001b[0m\n\u001b[33mwarning\u001b[39m: unused \u001b]8;;https://example.org/x\u001b\\im\u001b[4:3mport\u001b[m\u001b]8;;\u0007s\none\u001b[2Ktwo\u001b[5Cthree \u001b[01;31m\u001b[Kgrep\u001b[m\u001b[Kped \u001b[1"}],"isError":true}}
"###;

fn long_lines() -> String {
    let mut lines = String::new();
    for (number, word) in ["heliotrope", "Zebrafish", "終端語"].iter().enumerate() {
        let text = format!(
            "start{number} {} the end is {word}",
            "lorem ipsum\tdolor \"sit\" ".repeat(2500)
        );
        let line = json!({"type": "message", "id": format!("long{number}"), "parentId": null,
            "message": {"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": text}]}});
        lines.push_str(&format!("{line}\n"));
    }
    lines
}

fn small_corpus() -> Place {
    let place = Place::new();
    corpus::write(
        &place.root("pi"),
        corpus::Spec {
            bytes: 160_000,
            files: 7,
            seed: 11,
        },
    )
    .unwrap();
    place.write("hard/hard.jsonl", HARD);
    place.write("hard/long.jsonl", long_lines());
    copy_fixtures(&place);
    copy_real(&place, 80_000);
    place
}

/// The number of queries at each state; more on request.
fn rounds(default: usize) -> usize {
    std::env::var("FINDABLE_QUERIES")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(default)
}

fn compare(place: &Place, index: &Index, state: &str, seed: u64, rounds: usize) {
    let oracle = Oracle::read(place);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut wrong = Vec::new();
    let mut hits = 0;
    for _ in 0..rounds {
        let query = draw::any_query(&oracle, &mut random);
        let wanted = oracle.search(&query.meant);
        let found = place.search(index, &query.typed);
        hits += wanted.len();
        if wanted != found {
            let show = |set: BTreeSet<&super::Address>| -> Vec<String> {
                let short = |path: &Path| {
                    path.strip_prefix(place.folder.path())
                        .unwrap_or(path)
                        .display()
                        .to_string()
                };
                set.iter()
                    .take(3)
                    .map(|(path, entry, of)| format!("{}:{entry} {}", short(path), class(*of)))
                    .collect()
            };
            let missing = show(wanted.difference(&found).collect());
            let surplus = show(found.difference(&wanted).collect());
            wrong.push(format!(
                "{}\n  missing {missing:?}\n  surplus {surplus:?}",
                query.typed
            ));
        }
    }
    let first: Vec<&String> = wrong.iter().take(12).collect();
    assert!(
        wrong.is_empty(),
        "{state}: {} of {rounds} queries differ: {first:#?}",
        wrong.len()
    );
    assert!(
        hits > rounds,
        "the queries find too little to show anything: {hits}"
    );
    eprintln!(
        "{state}: {rounds} queries, {hits} hits, {} passages",
        oracle.passages.len()
    );
}

fn sync_all(place: &Place) {
    let mut indexer = Indexer::open(&place.config()).unwrap();
    let report = indexer.sync().unwrap();
    assert_eq!(report.outstanding, 0);
}

fn open_index(place: &Place) -> Index {
    Index::open(&place.config(), Freshness::Check).unwrap()
}

#[test]
fn nothing_indexed() {
    let place = small_corpus();
    compare(
        &place,
        &open_index(&place),
        "nothing indexed",
        1,
        rounds(150),
    );
}

#[test]
fn everything_indexed() {
    let place = small_corpus();
    sync_all(&place);
    compare(
        &place,
        &open_index(&place),
        "everything indexed",
        2,
        rounds(500),
    );
}

#[test]
fn what_a_terminal_showed_is_found_indexed_or_not() {
    let place = Place::new();
    place.write("hard/hard.jsonl", HARD);
    let look = |state: &str| {
        let index = open_index(&place);
        for query in [
            "error[E0499]",
            "warning",
            "\"compiling sqlparser\"",
            "\"unused imports\"",
            "imports",
            "\"two three\"",
            "grepped",
            "import*",
            "imprts~",
            "*e0499]:*",
            "/warning: unused imports$/",
            "\"one two\"",
        ] {
            let found = place.search(&index, query);
            assert_eq!(found.len(), 1, "{state}: {query}");
        }
        for query in [
            "31merror",
            "33mwarning",
            "onetwo",
            "example.org/x",
            "*[31m*",
            "*[0m*",
        ] {
            let found = place.search(&index, query);
            assert!(found.is_empty(), "{state}: {query}");
        }
        let snippet = |query: &str| {
            let scope = sessionary::index::SearchScope::default();
            let answer = index.search(query, &scope).unwrap();
            answer.sessions[0].hits[0].snippet.clone()
        };
        assert!(snippet("E0499").contains("Compiling sqlparser v0.1"));
        assert!(!snippet("E0499").contains("[0m"));
    };
    look("nothing indexed");
    sync_all(&place);
    look("everything indexed");
}

/// A third of the files is indexed, the others came later.
#[test]
fn some_files_indexed() {
    let place = small_corpus();
    let aside = tempfile::tempdir().unwrap();
    let mut moved = Vec::new();
    for (number, (_, path)) in place.files().into_iter().enumerate() {
        if number % 3 != 0 {
            let to = aside.path().join(number.to_string());
            fs::rename(&path, &to).unwrap();
            moved.push((to, path));
        }
    }
    sync_all(&place);
    for (from, to) in moved {
        fs::rename(from, to).unwrap();
    }
    compare(
        &place,
        &open_index(&place),
        "some files indexed",
        3,
        rounds(150),
    );
}

/// The words stage was stopped in the midst of its work.
#[test]
fn some_words_indexed() {
    let place = Place::new();
    corpus::write(
        &place.root("pi"),
        corpus::Spec {
            bytes: 7_000_000,
            files: 9,
            seed: 12,
        },
    )
    .unwrap();
    place.write("hard/hard.jsonl", HARD);
    let mut indexer = Indexer::open(&place.config()).unwrap();
    indexer.sync_catalogue(&mut |_| {}).unwrap();
    // With no time at all nothing is done, and what is owed is not yet counted.
    let some = |indexer: &mut Indexer, ms| {
        let budget = Some(Duration::from_millis(ms));
        indexer.index_words(budget, &mut |_| {}).unwrap()
    };
    let mut report = some(&mut indexer, 0);
    let all = report.outstanding;
    assert!(all > 0, "nothing is owed");
    let mut budget = 1;
    while report.outstanding * 10 > all * 8 {
        report = some(&mut indexer, budget);
        budget += 3;
    }
    assert!(
        report.outstanding > 0,
        "a budget of {budget} ms was enough for everything"
    );
    drop(indexer);
    let index = Index::open(&place.config(), Freshness::AsCommitted).unwrap();
    let share = 100 - report.outstanding * 100 / all;
    compare(
        &place,
        &index,
        &format!("{share} % of the words indexed"),
        4,
        rounds(30),
    );
}

/// Lines came after the words were indexed: whole ones, one without its newline, and a torn one.
#[test]
fn mid_append() {
    let place = small_corpus();
    sync_all(&place);
    for (number, (format, path)) in place.files().into_iter().enumerate() {
        let content = fs::read(&path).unwrap();
        if format != "pi" || !content.ends_with(b"\n") {
            continue;
        }
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let line = corpus::appended_line(number as u32, "Halfway naïve 途中 half_way");
        let torn = "{\"type\":\"message\",\"id\":\"torn\",\"message\":{\"role\":\"user\",\"content\":\"torn off";
        match number % 4 {
            0 => file.write_all(line.as_bytes()).unwrap(),
            1 => file.write_all(line.trim_end().as_bytes()).unwrap(),
            2 => file.write_all(format!("{line}{torn}").as_bytes()).unwrap(),
            _ => {}
        }
    }
    let index = open_index(&place);
    compare(&place, &index, "mid-append", 5, rounds(250));
    let found = place.search(&index, "\"appended later\" halfway");
    assert!(found.len() > 20, "{}", found.len());
    assert!(place.search(&index, "\"torn off\"").is_empty());
}
