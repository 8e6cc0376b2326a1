//! What is said where nothing was found, and what is taken for it?

use serde_json::Value;
use sessionary::index::{SearchScope, WhereScope};

use super::{World, ask, entries, scope, session, text_message, tree};

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

/// Whether text is indexed or not, it is what the filters leave that a word may be missing from.
#[test]
fn words_near_one_that_only_the_filters_leave_out_are_searched() {
    let texts = [
        ("user", "walrus here"),
        ("assistant", "zebra answer"),
        ("user", "zebras only"),
    ];
    let messages = |texts: &[(&str, &str)]| -> Vec<Value> {
        let message = |(at, (role, text)): (usize, &(&str, &str))| {
            text_message(&format!("e{at}"), None, role, text)
        };
        texts.iter().enumerate().map(message).collect()
    };
    let lib = [("user", "zebrs typo"), ("assistant", "koala")];
    let world = World::new(&[
        ("a", session("s1", "/app", &messages(&texts))),
        ("b", session("s2", "/lib", &messages(&lib))),
    ]);
    world.both(|index| {
        let said = |query: &str, scope: &SearchScope| {
            let mut answer = ask(index, query, scope);
            answer.also.sort();
            (answer.total, answer.also, answer.missing)
        };
        let told = |total, also: &[&str], missing: &[&str]| {
            let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            (total, list(also), list(missing))
        };
        let both = told(3, &["zebras", "zebrs"], &["zebra"]);
        assert_eq!(said("walrus zebra role:user", &scope()), both);
        let zebrs = told(2, &["zebrs"], &["zebra"]);
        assert_eq!(said("koala zebra project:lib", &scope()), zebrs);
        // Beside a word that is in no dictionary, too.
        let three = told(3, &["zebras", "zebrs"], &["zebra", "quokka"]);
        assert_eq!(said("walrus zebra quokka role:user", &scope()), three);
        let there = SearchScope {
            at: WhereScope::directory("/lib"),
            ..scope()
        };
        assert_eq!(said("koala zebra", &there), zebrs);
        let exact = SearchScope {
            exact: true,
            ..scope()
        };
        let one = told(1, &[], &["zebra"]);
        assert_eq!(said("walrus zebra role:user", &exact), one);
        // Where the word itself stands, nothing near it is searched.
        assert_eq!(said("walrus zebra role:assistant", &scope()).0, 1);
    });
}

/// Two folders: of two words one is said here, and elsewhere both are.
fn here_and_elsewhere() -> (World, SearchScope) {
    let said = |id: &str, cwd: &str, texts: &[&str]| {
        let messages = texts.iter().enumerate();
        let messages: Vec<Value> = messages
            .map(|(at, text)| text_message(&format!("{id}{at}"), None, "user", text))
            .collect();
        session(id, cwd, &messages)
    };
    let world = World::new(&[
        (
            "a",
            said("a", "/here", &["walrus one", "walrus two", "walrus three"]),
        ),
        ("b", said("b", "/there", &["walrus and koala"])),
        ("c", said("c", "/there", &["a zebra"])),
    ]);
    let here = SearchScope {
        at: WhereScope::directory("/here"),
        ..scope()
    };
    (world, here)
}

#[test]
fn what_is_elsewhere_is_told_however_sessions_are_ordered() {
    let (world, here) = here_and_elsewhere();
    let newest = SearchScope {
        newest_first: true,
        ..here.clone()
    };
    world.both(|index| {
        for scope in [&here, &newest] {
            let answer = ask(index, "walrus koala", scope);
            let counted = (answer.total, answer.elsewhere, answer.counts_exact);
            // Those elsewhere hold both words, and so there are fewer of them.
            assert_eq!(counted, (3, Some(1), true), "{:?}", scope.newest_first);
        }
    });
}

#[test]
fn what_a_typo_would_find_is_elsewhere_where_nothing_else_is() {
    let (world, here) = here_and_elsewhere();
    world.both(|index| {
        for query in ["zebra", "zebrs"] {
            let answer = ask(index, query, &here);
            assert_eq!((answer.total, answer.elsewhere), (0, Some(1)), "{query}");
        }
        let exact = SearchScope {
            exact: true,
            ..here.clone()
        };
        assert_eq!(ask(index, "zebrs", &exact).elsewhere, Some(0));
        // Without --here the word itself is found, and nothing like it is searched.
        assert_eq!(ask(index, "koala", &here).elsewhere, Some(1));
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
