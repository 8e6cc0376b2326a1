//! Does an answer keep to its size, and go on without gaps and repeats?

use std::collections::BTreeSet;

use serde_json::Value;
use sessionary::index::{SearchScope, WhereScope};
use sessionary::model::SearchAnswer;

use super::{World, ask, entries, hits, scope, session, text_message, tool_result};

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
                limit: Some(5),
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
                    limit: Some(25),
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
            limit: Some(5),
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
                limit: Some(5),
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
                    limit: Some(30),
                    max_bytes: Some(max_bytes),
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
            max_bytes: Some(max_bytes),
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
            limit: Some(400),
            max_bytes: Some(max_bytes),
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
            limit: Some(3),
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
                    at: WhereScope::directory("/w"),
                    ..next.clone()
                },
            ),
        ] {
            let error = index.search(query, &other).expect_err(query);
            assert!(error.to_string().contains("another question"), "{error}");
        }
        let wider = SearchScope {
            limit: Some(5),
            context: 1,
            max_bytes: Some(50_000),
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
            limit: Some(1),
            ..scope()
        };
        let answer = ask(index, "manifold", &one);
        assert_eq!((hits(&answer)[0].copies, &answer.cursor), (4, &None));
    });
}
