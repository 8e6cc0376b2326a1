//! In which order do hits and sessions come?

use std::collections::BTreeSet;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::{Hit, Ranking, SearchAnswer};

use super::{
    World, ask, entries, hits, message, said, scope, session, text_message, time, tool_call,
    tool_result,
};

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
        // So it does for who says no moment, as by the command.
        let counts = |ignore_age| {
            let scope = SearchScope {
                ignore_age,
                explain: true,
                ..SearchScope::default()
            };
            let answer = ask(index, "crankshaft", &scope);
            let old = hits(&answer).into_iter().find(|hit| hit.entry == "old");
            old.and_then(|hit| hit.explanation).map(|why| why.recency)
        };
        assert!(counts(false) < Some(0.8), "{:?}", counts(false));
        assert_eq!(counts(true), Some(1.0));
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
                    limit: Some(2),
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
                limit: Some(1),
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
            limit: None,
            every_copy: true,
            ..scope()
        };
        assert_eq!(entries(&ask(index, "propeller shaft", &all)).len(), 11);
        // As many of each as are asked for, whether several words rank sessions or one.
        for (most, limit, found) in [
            (1, Some(20), 2),
            (1, Some(1), 1),
            (2, Some(20), 4),
            (2, None, 4),
            (9, None, 11),
        ] {
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
                    "{query}: {most} of each, {limit:?}"
                );
                assert_eq!((answer.total, answer.total_sessions), (11, 2));
                assert_eq!(answer.cursor.is_some(), limit == Some(1));
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
