//! What does an answer say of its hits, in which order, and how does it go on?

use std::collections::BTreeSet;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::{BranchPlace, EntryPlace, Hit, Ranking, SearchAnswer};
use sessionary::{Freshness, Index, Indexer};

use crate::findable;

const DAY: i64 = 86_400_000;
/// 2026-03-01T00:00:00Z
const NOW: i64 = 1_772_323_200_000;

fn time(days_ago: i64) -> String {
    let ms = NOW - days_ago * DAY;
    jiff::Timestamp::from_millisecond(ms).unwrap().to_string()
}

fn message(id: &str, parent: Option<&str>, days_ago: i64, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(days_ago), "message": message})
}

fn text_message(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    message(
        id,
        parent,
        1,
        json!({"role": role, "content": [{"type": "text", "text": text}]}),
    )
}

fn tool_call(id: &str, parent: &str, call: &str, command: &str) -> Value {
    let call =
        json!({"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": command}});
    message(
        id,
        Some(parent),
        1,
        json!({"role": "assistant", "content": [call]}),
    )
}

fn tool_result(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    message(
        id,
        Some(parent),
        1,
        json!({"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content, "isError": false}),
    )
}

fn session(id: &str, cwd: &str, entries: &[Value]) -> String {
    let header =
        json!({"type": "session", "version": 3, "id": id, "timestamp": time(2), "cwd": cwd});
    std::iter::once(&header)
        .chain(entries)
        .map(|entry| format!("{entry}\n"))
        .collect()
}

struct World {
    place: findable::Place,
}

impl World {
    fn new(sessions: &[(&str, String)]) -> World {
        let place = findable::Place::new();
        for (name, content) in sessions {
            place.write(&format!("w/{name}.jsonl"), content);
        }
        World { place }
    }

    fn index(&self) -> Index {
        Index::open(&self.place.config(), Freshness::Check).unwrap()
    }

    /// The same question with nothing indexed, and with everything.
    fn both(&self, check: impl Fn(&Index)) {
        check(&self.index());
        Indexer::open(&self.place.config())
            .unwrap()
            .sync(&mut |_| {})
            .unwrap();
        check(&self.index());
    }
}

fn scope() -> SearchScope {
    SearchScope {
        now_ms: NOW,
        ..SearchScope::default()
    }
}

fn ask(index: &Index, query: &str, scope: &SearchScope) -> SearchAnswer {
    index
        .search(query, scope)
        .unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn hits(answer: &SearchAnswer) -> Vec<&Hit> {
    answer
        .sessions
        .iter()
        .flat_map(|group| &group.hits)
        .collect()
}

fn entries(answer: &SearchAnswer) -> Vec<&str> {
    hits(answer).iter().map(|hit| hit.entry.as_str()).collect()
}

#[test]
fn names_before_what_was_typed_before_what_was_printed() {
    let filler = "and some more words to make it about as long";
    // Only once, so that it counts no more for being said often.
    let log = format!("{}    at gearbox:8\n", "    at x:8\n".repeat(9));
    let world = World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                tool_result("out", "x", "c0", &format!("the gearbox {filler}")),
                text_message(
                    "typed",
                    None,
                    "user",
                    &format!("the gearbox {filler}, please"),
                ),
                text_message(
                    "said",
                    Some("typed"),
                    "assistant",
                    &format!("the gearbox {filler}, done"),
                ),
                text_message(
                    "reminder",
                    Some("said"),
                    "user",
                    &format!("<system-reminder>the gearbox {filler}</system-reminder> go on, now"),
                ),
                text_message(
                    "pasted",
                    Some("reminder"),
                    "user",
                    &format!("What is this?\n{log}    at main, {filler}"),
                ),
                json!({"type": "session_info", "id": "name", "parentId": "pasted", "timestamp": time(1), "name": "the gearbox"}),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(
            index,
            "gearbox",
            &SearchScope {
                explain: true,
                ..scope()
            },
        );
        assert_eq!(
            entries(&answer),
            ["name", "typed", "said", "out", "pasted", "reminder"]
        );
        for hit in hits(&answer) {
            let why = hit.explanation.unwrap();
            let product = why.bm25 * why.standing * why.recency * why.text;
            assert!(
                (product - hit.score).abs() < 0.01,
                "{why:?} is {}",
                hit.score
            );
        }
    });
}

#[test]
fn age_counts_a_little() {
    let say = |id: &str, days: i64| {
        message(
            id,
            None,
            days,
            json!({"role": "user", "content": "the crankshaft"}),
        )
    };
    let world = World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                say("new", 1),
                say("old", 700),
                say("newest", 0),
                json!({"type": "label", "id": "l", "parentId": "old", "timestamp": time(900), "targetId": "old", "label": "crankshaft"}),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(index, "crankshaft", &scope());
        // A label is worth more than youth.
        assert_eq!(entries(&answer), ["l", "newest", "new", "old"]);
    });
}

#[test]
fn searches_for_it_come_after_it() {
    let world = World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                tool_call("call", "r", "c1", "sessionary search flywheel flywheel"),
                tool_result(
                    "found",
                    "call",
                    "c1",
                    "flywheel flywheel: s0:1 the flywheel",
                ),
                tool_call(
                    "other",
                    "found",
                    "c2",
                    "grep -r flywheel and a good many other words that say nothing at all",
                ),
                tool_result(
                    "printed",
                    "other",
                    "c2",
                    "a long line in which the flywheel is one word of many and of no weight",
                ),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(index, "flywheel", &scope());
        let order = entries(&answer);
        let first: BTreeSet<&str> = order[..2].iter().copied().collect();
        assert_eq!(first, BTreeSet::from(["other", "printed"]), "{order:?}");
    });
}

#[test]
fn a_text_is_shown_once() {
    let shared: Vec<Value> = ["a", "b"]
        .iter()
        .map(|id| text_message(id, None, "user", &format!("the camshaft of {id}")))
        .collect();
    let output = "camshaft: 12 teeth\nand the rest of a file";
    let world = World::new(&[
        ("a", session("s1", "/w", &shared)),
        ("fork", session("s2", "/w", &shared)),
        (
            "c",
            session(
                "s3",
                "/w",
                &[
                    tool_result("r1", "x", "c1", output),
                    tool_result("r2", "x", "c2", output),
                    tool_result("r3", "x", "c3", output),
                    // Short words of a person are said again each time.
                    text_message("u1", None, "user", "camshaft!"),
                    text_message("u2", None, "user", "camshaft!"),
                ],
            ),
        ),
    ]);
    world.both(|index| {
        let once = ask(index, "camshaft", &scope());
        let copies: Vec<u64> = hits(&once).iter().map(|hit| hit.copies).collect();
        assert_eq!(
            (once.total, hits(&once).len()),
            (9, 5),
            "{:?}",
            entries(&once)
        );
        assert_eq!(copies.iter().sum::<u64>(), 4);
        let all = ask(
            index,
            "camshaft",
            &SearchScope {
                every_copy: true,
                ..scope()
            },
        );
        assert_eq!((all.total, hits(&all).len()), (9, 9));
    });
}

/// r - a - b (abandoned)
///   \ c - [compaction, keeps d] ...: d is kept, r and c are not.
fn tree() -> World {
    World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                text_message("r", None, "user", "piston one"),
                text_message("a", Some("r"), "assistant", "piston two"),
                text_message("b", Some("a"), "user", "piston three"),
                text_message("c", Some("r"), "assistant", "piston four"),
                text_message("d", Some("c"), "user", "piston five"),
                json!({"type": "compaction", "id": "k", "parentId": "d", "timestamp": time(1), "summary": "the engine", "firstKeptEntryId": "d", "tokensBefore": 9}),
                text_message("e", Some("k"), "assistant", "piston six"),
            ],
        ),
    )])
}

#[test]
fn a_hit_tells_its_place_and_what_is_beside_it() {
    tree().both(|index| {
        let answer = ask(
            index,
            "piston",
            &SearchScope {
                context: 1,
                ..scope()
            },
        );
        let found = hits(&answer);
        let place = |entry: &str| found.iter().find(|hit| hit.entry == entry).unwrap().place;
        assert_eq!(
            ["r", "a", "b", "c", "d", "e"].map(place),
            [
                BranchPlace::Compacted,
                BranchPlace::Abandoned,
                BranchPlace::Abandoned,
                BranchPlace::Compacted,
                BranchPlace::Active,
                BranchPlace::Active
            ]
            .map(Some)
        );
        let beside = |entry: &str| -> Vec<(&str, bool)> {
            let hit = found.iter().find(|hit| hit.entry == entry).unwrap();
            hit.context
                .iter()
                .map(|one| (one.entry.as_str(), one.after))
                .collect()
        };
        // Along the branch: c follows r, though a stands behind it in the file.
        assert_eq!(beside("r"), [("c", true)]);
        assert_eq!(beside("c"), [("r", false), ("d", true)]);
        assert_eq!(beside("b"), [("a", false)]);
        let branch = ask(index, "piston is:branch", &scope());
        assert_eq!(
            entries(&branch).into_iter().collect::<BTreeSet<_>>(),
            BTreeSet::from(["a", "b"])
        );
        assert_eq!(ask(index, "piston -is:branch", &scope()).total, 4);
    });
}

#[test]
fn pages_are_full_and_nothing_comes_twice() {
    let many: Vec<Value> = (0..60)
        .map(|number| {
            tool_result(
                &format!("e{number:02}"),
                "x",
                &format!("c{number}"),
                &format!("valve \"spring {number}\" of a valve, spring"),
            )
        })
        .collect();
    let world = World::new(&[("a", session("s1", "/w", &many))]);
    world.both(|index| {
        // Of 60 candidates only ten hold the phrase, which the index does not know of output.
        let phrase = ask(
            index,
            "\"valve spring\"",
            &SearchScope {
                limit: 5,
                ..scope()
            },
        );
        assert_eq!(hits(&phrase).len(), 5);
        let mut cursor = None;
        let mut seen = Vec::new();
        for page in 0.. {
            let answer = ask(
                index,
                "valve",
                &SearchScope {
                    limit: 25,
                    cursor: cursor.take(),
                    ..scope()
                },
            );
            let found: Vec<String> = entries(&answer).into_iter().map(str::to_owned).collect();
            assert_eq!(found.len(), if page == 2 { 10 } else { 25 }, "page {page}");
            assert_eq!(answer.total, 60);
            seen.extend(found);
            cursor = answer.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 60);
    });
}

#[test]
fn a_cursor_stays_where_it_is_while_the_index_grows() {
    let say = |id: String| text_message(&id, None, "user", &format!("the gasket of {id}"));
    let first: Vec<Value> = (0..8).map(|number| say(format!("e{number}"))).collect();
    let world = World::new(&[("a", session("s1", "/w", &first))]);
    let page = ask(
        &world.index(),
        "gasket",
        &SearchScope {
            limit: 5,
            ..scope()
        },
    );
    let mut seen: Vec<String> = entries(&page).into_iter().map(str::to_owned).collect();
    // Better hits than all before arrive.
    let later: Vec<Value> = (0..6)
        .map(|number| say(format!("new{number} gasket gasket")))
        .collect();
    world.place.write("w/b.jsonl", session("s2", "/w", &later));
    let mut cursor = page.cursor;
    while let Some(at) = cursor {
        let answer = ask(
            &world.index(),
            "gasket",
            &SearchScope {
                limit: 5,
                cursor: Some(at),
                ..scope()
            },
        );
        seen.extend(entries(&answer).into_iter().map(str::to_owned));
        cursor = answer.cursor;
    }
    let distinct: BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (14, 14), "{seen:?}");
    assert!(
        world
            .index()
            .search(
                "gasket",
                &SearchScope {
                    cursor: Some("5".into()),
                    ..scope()
                }
            )
            .is_err()
    );
}

#[test]
fn an_answer_keeps_to_its_bytes() {
    let many: Vec<Value> = (0..30)
        .map(|number| {
            text_message(
                &format!("e{number}"),
                None,
                "user",
                &format!("the spark plug {number}"),
            )
        })
        .collect();
    let world = World::new(&[("a", session("s1", "/w", &many))]);
    let index = world.index();
    for max_bytes in [2_000, 3_000, 6_000, 9_000] {
        let mut cursor = None;
        let mut count = 0;
        loop {
            let answer = ask(
                &index,
                "spark",
                &SearchScope {
                    limit: 30,
                    max_bytes,
                    cursor,
                    ..scope()
                },
            );
            let shown = hits(&answer).len();
            let bytes = serde_json::to_vec(&answer).unwrap().len();
            assert!(bytes < max_bytes, "{bytes} bytes of {max_bytes}");
            count += shown;
            cursor = answer.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(count, 30, "in pages of {max_bytes} bytes");
    }
}

#[test]
fn what_is_too_much_for_a_page_is_cut_and_named() {
    let long = |start: &str| format!("{start}{}", " and so on \u{200f}日本".repeat(300));
    let all = [
        text_message("e0", None, "user", &long("the spark plug")),
        text_message("e1", Some("e0"), "assistant", &long("the other spark")),
        text_message(
            "s100",
            Some("e1"),
            "assistant",
            "an entry with the id of its session",
        ),
    ];
    let world = World::new(&[("a", session("s100", "/w", &all))]);
    let index = world.index();
    let asked = |query: &str, max_bytes| {
        let asked = SearchScope {
            max_bytes,
            context: 1,
            facets: true,
            ..scope()
        };
        index.search(query, &asked)
    };
    let printed = |answer: &SearchAnswer| {
        let escapes = |c: &char| *c == '\u{200f}';
        let json = serde_json::to_string(answer).unwrap();
        json.len() + 3 * json.chars().filter(escapes).count() + 1
    };
    for query in ["spark", "s100", "gasket"] {
        let error = asked(query, 150).expect_err("too few bytes");
        let text = error.to_string();
        let least: usize = text.split(' ').find_map(|word| word.parse().ok()).unwrap();
        assert!(asked(query, least - 1).is_err(), "{text}");
        for max_bytes in (least..least + 2_500).step_by(97) {
            let answer =
                asked(query, max_bytes).unwrap_or_else(|error| panic!("{max_bytes}: {error}"));
            assert!(printed(&answer) <= max_bytes, "{query}: {answer:?}");
            if query == "spark" {
                assert!(!hits(&answer).is_empty());
                assert_eq!(answer.cursor.is_some(), hits(&answer).len() < 2);
                let has_facets = answer.facets.is_some();
                assert_eq!(has_facets, !answer.cut.contains(&"facets".to_owned()));
            }
            for hit in hits(&answer) {
                assert!(
                    hit.highlights
                        .iter()
                        .all(|(_, to)| *to <= hit.snippet.len())
                );
            }
        }
    }
    let whole = asked("spark", 1_000_000).unwrap();
    assert!(whole.cut.is_empty() && whole.facets.is_some());
}

#[test]
fn a_cursor_that_grows_leaves_room_or_says_how_much_it_takes() {
    let plug = |number: usize| {
        text_message(
            &format!("e{number}"),
            None,
            "user",
            &format!("the spark plug {number}"),
        )
    };
    let many: Vec<Value> = (0..400).map(plug).collect();
    let world = World::new(&[("a", session("s1", "/w", &many))]);
    let index = world.index();
    let (mut max_bytes, mut cursor, mut count) = (2_000, None, 0);
    loop {
        let asked = SearchScope {
            limit: 400,
            max_bytes,
            cursor: cursor.clone(),
            ..scope()
        };
        let answer = match index.search("spark", &asked) {
            Ok(answer) => answer,
            Err(error) => {
                let text = error.to_string();
                let least: Option<usize> = text.split(' ').find_map(|word| word.parse().ok());
                max_bytes = least.unwrap_or_else(|| panic!("{text}")) + 1_000;
                continue;
            }
        };
        let bytes = serde_json::to_vec(&answer).unwrap().len();
        assert!(bytes < max_bytes, "{bytes} bytes after {count} hits");
        count += hits(&answer).len();
        cursor = answer.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(count, 400);
    assert!(max_bytes > 4_000, "{max_bytes}");
}

#[test]
fn ids_that_begin_alike_are_counted() {
    let entry = |number: usize| text_message(&format!("ab12{number:02}"), None, "user", "hello");
    let entries: Vec<Value> = (0..13).map(entry).collect();
    let sessions: Vec<(String, String)> = (0..12)
        .map(|number| {
            (
                format!("f{number}"),
                session(&format!("cd34{number:02}"), "/w", &[]),
            )
        })
        .chain([("many".to_owned(), session("s1", "/w", &entries))])
        .collect();
    let sessions: Vec<(&str, String)> = sessions
        .iter()
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    World::new(&sessions).both(|index| {
        for (id, all) in [("ab12", 13), ("cd34", 12), ("cd3401", 1)] {
            let few = ask(index, id, &scope());
            assert_eq!(
                (few.named.len(), few.named_total),
                (all.min(10), all as u64),
                "{id}"
            );
            let every = ask(
                index,
                id,
                &SearchScope {
                    limit: 0,
                    ..scope()
                },
            );
            assert_eq!(
                (every.named.len(), every.named_total),
                (all, all as u64),
                "{id}"
            );
        }
    });
}

#[test]
fn facets_count_entries() {
    tree().both(|index| {
        let answer = ask(
            index,
            "piston",
            &SearchScope {
                facets: true,
                limit: 1,
                ..scope()
            },
        );
        let facets = answer.facets.unwrap();
        let list = |counts: &[sessionary::model::Count]| -> Vec<(String, u64)> {
            counts
                .iter()
                .map(|one| (one.value.clone(), one.count))
                .collect()
        };
        assert!(facets.exact);
        assert_eq!(list(&facets.agents), [("pi".to_owned(), 6)]);
        assert_eq!(list(&facets.projects), [("w".to_owned(), 6)]);
        assert_eq!(
            list(&facets.roles),
            [("assistant".to_owned(), 3), ("user".to_owned(), 3)]
        );
        assert_eq!(list(&facets.days), [("2026-02-28".to_owned(), 6)]);
    });
}

#[test]
fn a_typo_is_forgiven_where_the_word_is_rare() {
    let world = World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                text_message("e1", None, "user", "the carburettor leaks"),
                text_message("e2", None, "user", "clean the carburettor"),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(index, "carburetor", &scope());
        assert_eq!(
            (answer.total, answer.also.as_slice()),
            (2, &["carburettor".to_owned()][..])
        );
        assert_eq!(ask(index, "carburetor AND leaks", &scope()).total, 1);
        // Of several words the one that no session holds may have a typo.
        let remembered = ask(index, "carburetor leaks", &scope());
        assert_eq!(
            (remembered.total, remembered.also.as_slice()),
            (2, &["carburettor".to_owned()][..])
        );
        let exact = ask(
            index,
            "carburetor",
            &SearchScope {
                exact: true,
                ..scope()
            },
        );
        assert_eq!(
            (exact.total, exact.missing.as_slice()),
            (0, &["carburetor".to_owned()][..])
        );
        // What was asked for comes first, and is not told as something else.
        assert!(ask(index, "carburettor", &scope()).also.is_empty());
    });
}

#[test]
fn a_word_typed_halfway_is_found_where_the_word_itself_is_not() {
    let texts = [
        "OAuth2Token and parseURLv2 of XMLHttpRequest2",
        "commit 7d9f1ab of utf8_to_utf16",
    ];
    let messages: Vec<Value> = texts
        .iter()
        .zip(["e1", "e2"])
        .map(|(text, id)| text_message(id, None, "user", text))
        .collect();
    let world = World::new(&[("a", session("s1", "/w", &messages))]);
    world.both(|index| {
        for (word, found, also) in [
            ("oauth", "e1", "oauth2token"),
            ("parseURL", "e1", "parseurlv2"),
            ("XMLHttpRequest", "e1", "xmlhttprequest2"),
            ("7D9F1", "e2", "7d9f1ab"),
            ("utf", "e2", "utf8_to_utf16"),
        ] {
            let answer = ask(index, word, &scope());
            assert_eq!(entries(&answer), [found], "{word}");
            assert!(answer.also.iter().any(|found| found == also), "{answer:?}");
            let exact = SearchScope {
                exact: true,
                ..scope()
            };
            assert_eq!(ask(index, word, &exact).total, 0, "{word}");
        }
        // By the letter where it is excluded, and never from two letters on.
        assert_eq!(ask(index, "-oauth", &scope()).total, 2);
        assert_eq!(ask(index, "oa", &scope()).total, 0);
    });
}

#[test]
fn another_ending_is_found_where_the_word_itself_is_not() {
    let text = "users stop receiving notifications after reinstalling it";
    let world = World::new(&[(
        "a",
        session("s1", "/w", &[text_message("e1", None, "user", text)]),
    )]);
    world.both(|index| {
        let answer = ask(index, "notification reinstall", &scope());
        assert_eq!(
            (answer.total, &*answer.also),
            (1, &["notifications", "reinstalling"].map(str::to_owned)[..])
        );
        let exact = SearchScope {
            exact: true,
            ..scope()
        };
        assert_eq!(ask(index, "notification reinstall", &exact).total, 0);
        assert_eq!(
            ask(index, "-users \"notification\" OR receives", &scope()).total,
            1
        );
    });
}

#[test]
fn an_empty_answer_says_why() {
    tree().both(|index| {
        let answer = ask(index, "piston AND zeppelin", &scope());
        assert_eq!(
            (answer.total, answer.missing.as_slice()),
            (0, &["zeppelin".to_owned()][..])
        );
        assert_eq!(answer.with_any, Some(6));
        let apart = ask(index, "three AND four", &scope());
        assert_eq!((apart.missing.len(), apart.with_any), (0, Some(2)));
        let remembered = ask(index, "piston zeppelin", &scope());
        assert_eq!(
            (remembered.total, remembered.missing.as_slice()),
            (6, &["zeppelin".to_owned()][..])
        );
        let filtered = ask(index, "piston role:robot", &scope());
        assert_eq!((filtered.total, filtered.without_filters), (0, Some(6)));
    });
}

#[test]
fn ids_name_sessions_and_entries() {
    let id = "019b8d5e-7c80-7000-8000-0000000000a1";
    let world = World::new(&[(
        "a",
        session(id, "/w", &[text_message("5e550001", None, "user", "hello")]),
    )]);
    world.both(|index| {
        for (query, address) in [
            (id, id),
            ("019b8d5e", id),
            ("5e550001", "019b8d5e-7c80-7000-8000-0000000000a1:5e550001"),
            (
                "019b8d5e:5e550001",
                "019b8d5e-7c80-7000-8000-0000000000a1:5e550001",
            ),
        ] {
            let answer = ask(index, query, &scope());
            let named: Vec<&str> = answer
                .named
                .iter()
                .map(|named| named.address.as_str())
                .collect();
            assert_eq!(named, [address], "{query}");
            // No text holds it.
            assert_eq!(answer.total, 0, "{query}");
        }
        assert!(ask(index, "hello", &scope()).named.is_empty());
    });
}

#[test]
fn filters_by_files_models_labels_and_marks() {
    let read = json!({"role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "usage": {"input": 1, "output": 1},
        "content": [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "src/engine/lexer.rs"}}], "stopReason": "toolUse"});
    let image = json!({"role": "user", "content": [{"type": "text", "text": "a picture"}, {"type": "image", "data": "aGFsbG8=", "mimeType": "image/png"}]});
    let world = World::new(&[
        (
            "a",
            session(
                "s1",
                "/home/ada/engine",
                &[
                    message("read", None, 1, read),
                    tool_result("text", "read", "c1", "fn main"),
                    message("image", Some("text"), 1, image),
                    json!({"type": "label", "id": "l", "parentId": "image", "timestamp": time(1), "targetId": "image", "label": "good one"}),
                    json!({"type": "session_info", "id": "n", "parentId": "l", "timestamp": time(1), "name": "Engine room"}),
                ],
            ),
        ),
        (
            "b",
            session(
                "s2",
                "/home/ada/wheel",
                &[text_message("other", None, "user", "round")],
            ),
        ),
    ]);
    world.both(|index| {
        for (query, expected) in [
            ("file:lexer.rs", &["read", "text"][..]),
            ("file:src/engine", &["read", "text"]),
            ("file:*.rs", &["read", "text"]),
            ("file:engine.rs", &[]),
            ("label:good", &["image"]),
            ("label:\"good one\" role:user", &["image"]),
            ("has:image", &["image"]),
            ("-has:image role:user", &["other"]),
            ("model:opus role:user", &["image"]),
            ("-model:opus role:user", &["other"]),
            ("provider:anthropic role:user", &["image"]),
            ("name:engine role:user", &["image"]),
            ("is:named role:user", &["image"]),
            ("-is:named", &["other"]),
            ("status:toolUse", &["read"]),
            ("root:/nowhere", &[]),
            ("-root:/nowhere role:user", &["image", "other"]),
            ("project:wheel", &["other"]),
            ("on:2026-02-28 role:user", &["image", "other"]),
            ("-on:2026-02-28", &[]),
            ("on:yesterday role:user", &["image", "other"]),
            ("tool:read", &["read"]),
        ] {
            let answer = ask(index, query, &scope());
            let found: BTreeSet<&str> = entries(&answer).into_iter().collect();
            assert_eq!(found, expected.iter().copied().collect(), "{query}");
        }
    });
}

#[test]
fn a_cursor_goes_on_with_its_own_question_only() {
    let say = |number: usize| {
        text_message(
            &format!("e{number}"),
            None,
            "user",
            &format!("the gasket {number}"),
        )
    };
    let many: Vec<Value> = (0..8).map(say).collect();
    let world = World::new(&[("a", session("s1", "/w", &many))]);
    world.both(|index| {
        let page = SearchScope {
            limit: 3,
            ..scope()
        };
        let cursor = ask(index, "gasket", &page).cursor;
        assert!(cursor.is_some());
        let next = SearchScope { cursor, ..page };
        for (query, other) in [
            ("gaske*", next.clone()),
            ("gasket role:user", next.clone()),
            (
                "gasket",
                SearchScope {
                    newest_first: true,
                    ..next.clone()
                },
            ),
            (
                "gasket",
                SearchScope {
                    cwd: Some("/w".into()),
                    ..next.clone()
                },
            ),
        ] {
            let error = index.search(query, &other).expect_err(query);
            assert!(error.to_string().contains("another question"), "{error}");
        }
        let wider = SearchScope {
            limit: 5,
            context: 1,
            max_bytes: 50_000,
            ..next
        };
        let rest = ask(index, "gasket", &wider);
        assert_eq!(hits(&rest).len(), 5);
        assert_eq!(rest.cursor, None);
    });
}

#[test]
fn the_last_page_has_no_cursor_where_only_copies_follow() {
    let same =
        "the manifold that is warped, as it was told to be before the test was run, said twice";
    let mut all = vec![text_message("first", None, "user", same)];
    all.extend((0..4).map(|number| text_message(&format!("copy{number}"), None, "user", same)));
    let world = World::new(&[("a", session("s1", "/w", &all))]);
    world.both(|index| {
        let one = SearchScope {
            limit: 1,
            ..scope()
        };
        let answer = ask(index, "manifold", &one);
        assert_eq!((hits(&answer)[0].copies, &answer.cursor), (4, &None));
    });
}

#[test]
fn copies_are_the_same_on_pages_of_any_length() {
    // Every text is there three times, with others between them.
    let text = |of: usize| {
        format!(
            "the camshaft number {of} and everything else that is to be said about camshafts of its kind"
        )
    };
    let many: Vec<Value> = (0..90)
        .map(|number| {
            text_message(
                &format!("e{number}"),
                None,
                "user",
                &text(number / 9 * 3 + number % 3),
            )
        })
        .collect();
    let world = World::new(&[("a", session("s1", "/w", &many))]);
    world.both(|index| {
        for newest_first in [false, true] {
            let copies = |limit| -> Vec<(String, u64)> {
                let asked = SearchScope {
                    limit,
                    newest_first,
                    passages: true,
                    ..scope()
                };
                let answer = ask(index, "camshaft", &asked);
                hits(&answer)
                    .iter()
                    .map(|hit| (hit.entry.clone(), hit.copies))
                    .collect()
            };
            let all = copies(0);
            assert_eq!(all.len(), 30);
            assert!(all.iter().all(|(_, copies)| *copies == 2), "{all:?}");
            for limit in 1..30 {
                assert_eq!(copies(limit), all[..limit], "{limit}");
            }
        }
    });
}

/// Sessions say the same things, as copies of one do, and each shows what none before it has shown.
#[test]
fn copies_of_a_session_show_as_much_on_many_pages_as_on_one() {
    let texts = |copy: usize| -> Vec<Value> {
        let text = |number: usize| {
            let text = format!(
                "the camshaft of kind {number} turns the piston, and everything else that is said of it by anybody"
            );
            // Of one half the lines are the same, of the other the texts alone.
            let id = format!("e{}-{number}", copy % 2 * copy);
            text_message(&id, None, "user", &text)
        };
        (0..12).map(text).collect()
    };
    let sessions: Vec<(String, String)> = (0..10)
        .map(|copy| {
            let id = format!("s{copy}");
            (id.clone(), session(&id, "/w", &texts(copy)))
        })
        .collect();
    let sessions: Vec<(&str, String)> = (sessions.iter())
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    let world = World::new(&sessions);
    world.both(|index| {
        for newest_first in [false, true] {
            let shown = |limit| -> Vec<String> {
                let mut asked = SearchScope {
                    limit,
                    newest_first,
                    ..scope()
                };
                let mut shown = Vec::new();
                loop {
                    let answer = ask(index, "camshaft piston", &asked);
                    shown.extend(hits(&answer).iter().map(|hit| hit.address.clone()));
                    match answer.cursor {
                        Some(cursor) => asked.cursor = Some(cursor),
                        None => return shown,
                    }
                }
            };
            let all = shown(100);
            assert_eq!(all.len(), 12, "{all:?}");
            for limit in 1..12 {
                assert_eq!(shown(limit), all, "{limit}");
            }
        }
    });
}

#[test]
fn a_value_that_nothing_has_is_named() {
    tree().both(|index| {
        for (query, column, suggestion) in [
            ("role:usr", 6, Some("role:user")),
            ("gasket kind:mesage", 13, Some("kind:message")),
            ("agent:pie", 7, Some("agent:pi")),
            ("project:q9z", 9, None),
            ("status:bogus", 8, None),
            ("tool:bash,bsh nowhere", 11, None),
            ("model:gpt-9", 7, None),
            ("provider:nobody", 10, None),
            ("session:zzzz", 9, None),
            ("name:zzzz", 6, None),
            ("label:zzzz", 7, None),
            ("file:zzzz.rs", 6, None),
            ("cwd:/zzzz", 5, None),
            ("root:zzzz", 6, None),
            ("(role:usr OR kind:mesage) x", 7, Some("role:user")),
        ] {
            let answer = ask(index, query, &scope());
            assert_eq!(answer.total, 0, "{query}");
            let unknown = &answer.unknown[0];
            if query.starts_with("tool") {
                assert_eq!(
                    answer
                        .unknown
                        .iter()
                        .find(|one| one.value == "bsh")
                        .map(|one| one.column),
                    Some(11)
                );
                continue;
            }
            assert_eq!(
                (unknown.column, unknown.suggestion.as_deref()),
                (column, suggestion),
                "{query}: {unknown:?}"
            );
        }
        let answer = ask(index, "role:usr", &scope());
        assert!(answer.unknown[0].known.contains(&"assistant".to_owned()));
        // What is known, what is not wanted and what was found are not told.
        for query in [
            "role:user nowhere",
            "-role:usr nowhere",
            "kind:system nowhere",
            "role:usr,user",
        ] {
            assert!(ask(index, query, &scope()).unknown.is_empty(), "{query}");
        }
    });
}

#[test]
fn filters_take_any_case() {
    let entries = [
        text_message("Ab12cd34", None, "user", "the clutch"),
        tool_call("cd56ef78", "Ab12cd34", "c1", "clutch"),
        text_message("12ab34cd", Some("cd56ef78"), "toolResult", "none"),
    ];
    let world = World::new(&[("a", session("f47ac10b", "/Work/Clutch", &entries))]);
    world.both(|index| {
        for (query, count) in [
            ("role:User", 1),
            ("role:USER,Assistant", 2),
            ("kind:Message", 3),
            ("tool:BASH", 1),
            ("-tool:BASH role:USER", 1),
            ("clutch -role:User", 1),
            ("session:F47AC", 3),
            ("agent:PI", 3),
        ] {
            let answer = ask(index, query, &scope());
            let messages = hits(&answer)
                .iter()
                .filter(|hit| hit.kind == "message")
                .count();
            assert_eq!(messages, count, "{query}");
        }
        for id in [
            "Ab12cd34", "CD56EF78", "cd56ef78", "12AB34", "f47ac10b", "F47AC10B",
        ] {
            assert_eq!(ask(index, id, &scope()).named.len(), 1, "{id}");
        }
    });
}

#[test]
fn paths_and_addresses_are_taken_as_they_are_printed() {
    let world = World::new(&[(
        "a",
        session(
            "3f2b8c1e-5a6b",
            "/home/ada/find-it",
            &[
                text_message("Ab12cd34", None, "user", "the rotor"),
                text_message("x2", Some("Ab12cd34"), "user", "none"),
            ],
        ),
    )]);
    world.both(|index| {
        let at_home = SearchScope {
            home: Some("/home/ada".into()),
            ..scope()
        };
        for query in [
            "project:/home/ada/find-it rotor",
            "project:/home/ada rotor",
            "project:~/find-it rotor",
            "cwd:~ rotor",
            "project:*find* rotor",
            "project:f*it rotor",
        ] {
            assert_eq!(ask(index, query, &at_home).total, 1, "{query}");
        }
        let root = world.place.config().roots[0].path.clone();
        let above = root.parent().unwrap().to_owned();
        let home = SearchScope {
            home: Some(above),
            ..scope()
        };
        let name = root.file_name().unwrap().to_str().unwrap();
        assert_eq!(ask(index, &format!("root:~/{name} rotor"), &home).total, 1);
        assert_eq!(ask(index, "project:/home/ad rotor", &at_home).total, 0);
        for (address, entry) in [
            ("3f2b8c1e-5a6b:Ab12cd34", "Ab12cd34"),
            ("3F2B8C1E-5a6b:Ab12cd34", "Ab12cd34"),
            ("3f2b8c1e-5a6b:L2", "Ab12cd34"),
            ("3f2b:l3", "x2"),
        ] {
            let named = ask(index, address, &scope()).named;
            let named: Vec<_> = named.iter().map(|one| one.entry.as_deref()).collect();
            assert_eq!(named, [Some(entry)], "{address}");
        }
    });
}

#[test]
fn a_phrase_says_which_of_its_words_nothing_holds() {
    let world = World::new(&[(
        "a",
        session(
            "s100",
            "/w",
            &[text_message(
                "e1",
                None,
                "user",
                "the signature of a webhook",
            )],
        ),
    )]);
    world.both(|index| {
        for (query, missing) in [
            ("\"webhok signature\"", &["webhok"][..]),
            ("\"signature webhook\"", &["\"signature webhook\""]),
            ("the \"webhok zignature\"", &["webhok", "zignature"]),
            ("nowhere", &["nowhere"]),
        ] {
            assert_eq!(ask(index, query, &scope()).missing, missing, "{query}");
        }
    });
}

#[test]
fn what_tools_print_counts_alike_with_a_filter_that_leaves_all() {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let words = ["sprocket", "flange", "gasket", "bolt", "shim", "washer"];
    let printed = |random: &mut ChaCha8Rng, id: usize| {
        let length = random.random_range(1..6);
        let text: Vec<&str> = (0..length)
            .filter_map(|_| words.choose(random).copied())
            .collect();
        let (id, call) = (format!("e{id}"), format!("c{id}"));
        [
            tool_call(&format!("{id}a"), "root", &call, "make parts"),
            tool_result(&id, "root", &call, &text.join(" ")),
        ]
    };
    let sessions = (0..12).map(|number| {
        let id = format!("s{number}");
        let length = random.random_range(1..60);
        let entries: Vec<Value> = (0..length)
            .flat_map(|entry| printed(&mut random, entry))
            .collect();
        (id.clone(), session(&id, "/w", &entries))
    });
    let sessions: Vec<(String, String)> = sessions.collect();
    let named = sessions
        .iter()
        .map(|(id, text)| (id.as_str(), text.clone()));
    let world = World::new(&named.collect::<Vec<_>>());
    world.both(|index| {
        for query in [
            "sprocket flange",
            "gasket bolt shim",
            "washer make zeppelin",
        ] {
            let found = |query: &str| {
                let answer = ask(index, query, &scope());
                let of_hit = |hit: &Hit| (hit.entry.clone(), hit.score.to_bits());
                let groups = answer.sessions.iter().map(|group| {
                    let hits: Vec<_> = group.hits.iter().map(of_hit).collect();
                    (group.session.id.clone(), hits)
                });
                let groups: Vec<_> = groups.collect();
                (answer.total, answer.total_sessions, groups)
            };
            let all = found(query);
            assert!(all.0 > 12, "{query}");
            // Each passage is looked at by itself then.
            assert_eq!(all, found(&format!("{query} until:2100")), "{query}");
        }
    });
}

#[test]
fn several_words_find_the_session_that_holds_them_apart() {
    let talk = |id: &str, texts: &[&str]| {
        let said: Vec<Value> = (1..)
            .zip(texts)
            .map(|(at, text)| text_message(&format!("{id}{at}"), None, "user", text))
            .collect();
        session(id, "/w", &said)
    };
    let world = World::new(&[
        (
            "a",
            talk(
                "apart",
                &["the crankshaft is bent", "order a new gasket", "torque it"],
            ),
        ),
        (
            "b",
            talk("near", &["crankshaft", "nothing of it", "no more"]),
        ),
        (
            "c",
            talk("other", &["a gasket for the kitchen", "tea", "torque"]),
        ),
        ("d", talk("none", &["the weather", "is fine", "today"])),
    ]);
    let ids = |answer: &SearchAnswer| -> Vec<String> {
        let groups = answer.sessions.iter();
        groups.map(|group| group.session.id.clone()).collect()
    };
    world.both(|index| {
        let answer = ask(index, "crankshaft gasket", &scope());
        assert_eq!(answer.ranking, Ranking::Sessions);
        assert_eq!(ids(&answer)[0], "apart");
        assert_eq!((answer.total, answer.total_sessions), (4, 3));
        assert_eq!(answer.sessions[0].hits.len(), 2);
        // A word that is nowhere changes no order.
        let wrong = ask(index, "crankshaft gasket zeppelin", &scope());
        assert_eq!(
            (ids(&wrong), &wrong.missing[..]),
            (ids(&answer), &["zeppelin".to_owned()][..])
        );
        // One that is demanded leaves out sessions without it.
        let demanded = ask(index, "+crankshaft gasket", &scope());
        assert_eq!(ids(&demanded), ["apart", "near"]);
        assert_eq!((demanded.total, demanded.total_sessions), (3, 2));
        assert_eq!(ask(index, "crankshaft +zeppelin", &scope()).total, 0);
        // Together they must stand in one passage.
        let passages = SearchScope {
            passages: true,
            ..scope()
        };
        for (query, scope) in [
            ("crankshaft gasket", &passages),
            ("crankshaft AND gasket", &scope()),
        ] {
            let answer = ask(index, query, scope);
            assert_eq!(
                (answer.total, answer.ranking),
                (0, Ranking::Passages),
                "{query}"
            );
        }
        // Page by page: each hit once.
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = ask(
                index,
                "crankshaft gasket torque",
                &SearchScope {
                    limit: 2,
                    cursor: cursor.take(),
                    ..scope()
                },
            );
            seen.extend(hits(&page).iter().map(|hit| hit.address.clone()));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        let all = ask(index, "crankshaft gasket torque", &scope());
        let all: Vec<String> = hits(&all).iter().map(|hit| hit.address.clone()).collect();
        assert_eq!((seen.len(), &seen), (6, &all));
    });
}

#[test]
fn a_session_shows_its_three_best_passages_and_none_is_taken_up_by_what_is_not_shown() {
    let id = "019b8d5e-7c80-7000-8000-0000000000f1";
    let long = "the propeller shaft and its bearings, taken apart and put together again, with new \
                seals all round and the old bolts";
    let shared: Vec<Value> = (0..5)
        .map(|at| text_message(&format!("c{at}"), None, "user", &format!("{long} {at}")))
        .collect();
    let mut fork = shared.clone();
    fork.push(text_message("own", None, "user", "shaft: only here"));
    fork.extend((0..30).map(|at| text_message(&format!("f{at}"), None, "user", "tea")));
    let mut printed: Vec<Value> = (0..6)
        .flat_map(|at| {
            let (call, result) = (format!("call{at}"), format!("r{at}"));
            [
                tool_call(&format!("t{at}"), "t", &call, "ls"),
                tool_result(&result, "t", &call, "rs of main in src"),
            ]
        })
        .collect();
    printed.push(tool_result(
        "true",
        "t",
        "call0",
        "compiled src/main.rs well",
    ));
    let world = World::new(&[
        ("a", session("shared", "/w", &shared)),
        ("b", session("fork", "/w", &fork)),
        ("c", session(id, "/w", &printed)),
    ]);
    let entries = |answer: &SearchAnswer| -> Vec<String> {
        hits(answer).iter().map(|hit| hit.entry.clone()).collect()
    };
    world.both(|index| {
        let answer = ask(index, "propeller shaft", &scope());
        assert_eq!((answer.total, answer.total_sessions), (11, 2));
        let found = entries(&answer);
        // Three of each: of the fork those that are not copies of what was shown.
        assert_eq!(found, ["c4", "c3", "c2", "c1", "c0", "own"]);
        // Pages show the same.
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = SearchScope {
                limit: 1,
                cursor: cursor.take(),
                ..scope()
            };
            let page = ask(index, "propeller shaft", &page);
            seen.extend(entries(&page));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, found);
        let all = SearchScope {
            limit: 0,
            every_copy: true,
            ..scope()
        };
        assert_eq!(entries(&ask(index, "propeller shaft", &all)).len(), 11);
        // As many of each as are asked for, whether several words rank sessions or one.
        for (most, limit, found) in [(1, 20, 2), (1, 1, 1), (2, 20, 4), (2, 0, 4), (9, 0, 11)] {
            for query in ["propeller shaft", "shaft"] {
                let few = SearchScope {
                    per_session: Some(most),
                    limit,
                    ..all.clone()
                };
                let answer = ask(index, query, &few);
                assert_eq!(
                    entries(&answer).len(),
                    found,
                    "{query}: {most} of each, {limit}"
                );
                assert_eq!((answer.total, answer.total_sessions), (11, 2));
                assert_eq!(answer.cursor.is_some(), limit == 1);
            }
        }
        // Tools may have printed the parts of a path apart.
        for query in ["src/main.rs nowhere", "+src/main.rs nowhere"] {
            let answer = ask(index, query, &all);
            assert_eq!((answer.total, entries(&answer).len()), (7, 7), "{query}");
        }
        // A filter does not make a word unknown.
        let filtered = ask(index, "propeller compiled session:fork", &scope());
        assert_eq!(
            (filtered.total, &filtered.missing[..]),
            (5, &["compiled".to_owned()][..])
        );
        assert!(filtered.also.is_empty());
        let apart = ask(index, "shaft -> +propeller", &scope());
        assert_eq!((apart.ranking, apart.total), (Ranking::Sessions, 11));
    });
}

/// A session of things that a person said.
fn said(id: &str, texts: &[String]) -> String {
    let mut entries = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let parent = number.checked_sub(1).map(|last| format!("{id}{last:03}"));
        let own = format!("{id}{number:03}");
        entries.push(text_message(&own, parent.as_deref(), "user", text));
    }
    session(id, "/w/app", &entries)
}

#[test]
fn words_side_by_side_come_first_and_near_ones_before_distant_ones() {
    let apart = |gap: usize| {
        format!(
            "walrus {}sonata {}",
            "of and ".repeat(gap),
            "end ".repeat(9)
        )
    };
    let often: Vec<String> = ["walrus", "sonata"]
        .repeat(8)
        .iter()
        .map(|w| (*w).into())
        .collect();
    let world = World::new(&[
        (
            "beside",
            said(
                "beside",
                &[format!("{}a sonata walrus", "tale ".repeat(60))],
            ),
        ),
        ("often", said("often", &often)),
        ("near", said("near", &[apart(3)])),
        ("distant", said("distant", &[apart(40)])),
    ]);
    world.both(|index| {
        let scope = SearchScope {
            explain: true,
            ..scope()
        };
        let answer = ask(index, "walrus sonata", &scope);
        let ids: Vec<&str> = answer
            .sessions
            .iter()
            .map(|g| g.session.id.as_str())
            .collect();
        let place = |id: &str| ids.iter().position(|known| *known == id);
        assert_eq!(place("beside"), Some(0), "{ids:?}");
        assert!(place("near") < place("distant"), "{ids:?}");
        let why = |id: &str| {
            let group = answer.sessions.iter().find(|group| group.session.id == id);
            let first = group.and_then(|group| group.hits.first());
            first
                .and_then(|hit| hit.explanation.as_ref()?.session)
                .expect("it is explained")
        };
        assert_eq!(
            (why("beside").adjacent, why("beside").closeness),
            (3.0, 1.0)
        );
        assert_eq!((why("near").adjacent, why("near").closeness), (0.0, 0.25));
        assert_eq!(why("often").closeness, 0.0);
        let of = |id: &str| {
            answer
                .sessions
                .iter()
                .find(|g| g.session.id == id)
                .and_then(|g| g.matches)
        };
        assert_eq!((of("often"), of("near")), (Some(16), Some(1)));
    });
}

#[test]
fn a_hit_says_where_its_bytes_are_and_what_its_session_is_called() {
    let world = World::new(&[(
        "one",
        said(
            "one",
            &[
                "/clear".into(),
                "<skill name=\"x\">long</skill>\nFind the walrus".into(),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(index, "walrus", &scope());
        let group = &answer.sessions[0];
        assert_eq!(group.session.title, "Find the walrus");
        assert_eq!(group.session.first_message, "/clear");
        assert_eq!(group.matches, None);
        let EntryPlace::Bytes {
            file,
            line: number,
            start,
            length,
        } = &group.hits[0].at
        else {
            panic!("{:?}", group.hits[0].at)
        };
        let bytes = std::fs::read(file).unwrap();
        let line = &bytes[*start as usize..(start + length) as usize];
        let entry: Value = serde_json::from_slice(line).unwrap();
        assert_eq!((entry["id"].as_str(), *number), (Some("one001"), 3));
    });
}
