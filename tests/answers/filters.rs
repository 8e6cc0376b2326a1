//! Which entries do filters, ids and facets name?

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sessionary::index::{NameScope, SearchScope};
use sessionary::model::Expr;
use sessionary::syntax::{self, Filters, Now, Query};
use sessionary::{Error, Freshness, Index};

use super::{
    World, ask, entries, hits, message, scope, session, text_message, time, tool_call, tool_result,
    tree,
};

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
                    limit: None,
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
                limit: Some(1),
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
fn a_whole_path_finds_what_is_named_as_seen_from_the_sessions_directory() {
    let read = |path: &str| {
        json!({"role": "assistant", "provider": "p", "model": "m", "usage": {"input": 1, "output": 1}, "stopReason": "toolUse",
            "content": [{"type": "toolCall", "id": path, "name": "read", "arguments": {"path": path}}]})
    };
    let world = World::new(&[(
        "a",
        session(
            "s1",
            "/home/ada/wheel",
            &[
                text_message("said", None, "user", "round"),
                tool_call("sed", "said", "c1", "sed -n 1,5p src/axle.rs"),
                tool_call("test", "sed", "c2", "cargo test"),
                message("here", Some("test"), 1, read("axle.rs")),
                message("dot", Some("here"), 1, read("./notes/axle.txt")),
                message("up", Some("dot"), 1, read("../engine/notes.txt")),
                message("round", Some("up"), 1, read("src/../lib.rs")),
                message("tilde", Some("round"), 1, read("~/.profile")),
                tool_call("home", "tilde", "c3", "wc -l <$HOME/.profile|cat"),
                tool_call("out", "home", "c4", "make 2>log/all.txt&"),
                message("marks", Some("out"), 1, read("/x/spa\u{308}ter.md")),
            ],
        ),
    )]);
    world.both(|index| {
        for (query, expected) in [
            // A command names a file as a path does, and is none itself.
            ("file:/home/ada/wheel/src/axle.rs", &["sed"][..]),
            ("file:/home/ada/wheel/src", &["sed", "round"]),
            // What lies in its directory is all that it names: only a path that leads up is told.
            ("file:/home/ada/wheel", &["round"]),
            ("file:/home/ada", &["up", "round", "tilde", "home"]),
            // Not whatever ends so.
            ("file:/home/ada/wheel/axle.rs", &["here"]),
            ("file:/Home/Ada/Wheel/notes/*.txt", &["dot"]),
            ("file:/home/ada/engine/notes.txt", &["up"]),
            ("file:/home/ada/engine", &["up"]),
            ("file:/home/ada/wheel/lib.rs", &["round"]),
            ("file:/home/*/wheel/axle.rs", &["here"]),
            // As shells complete it, and as `find .` and compilers print it.
            ("file:./axle.rs", &["sed", "here"]),
            ("file:./src/axle.rs", &["sed"]),
            ("file:./src//axle.rs:10", &["sed"]),
            ("file:src/axle.rs:10:5", &["sed"]),
            ("file:/home/ada/wheel/./src/axle.rs", &["sed"]),
            ("file:/home/ada//wheel/notes/", &["dot"]),
            ("file:notes/./axle.txt", &["dot"]),
            ("file:/home/*/src/axle.rs", &[]),
            // Where the home is may have been left to the shell.
            ("file:~/.profile", &["tilde", "home"]),
            ("file:/home/ada/.profile", &["tilde", "home"]),
            ("file:/home/ada/wheel/log/all.txt", &["out"]),
            ("file:all.txt", &["out"]),
            // One letter, stored as two characters.
            ("file:sp\u{e4}ter.md", &["marks"]),
            ("file:/x/sp\u{e4}ter.md", &["marks"]),
            ("file:/home/ada/eng", &[]),
        ] {
            let answer = ask(index, query, &scope());
            let found: BTreeSet<&str> = entries(&answer).into_iter().collect();
            assert_eq!(found, expected.iter().copied().collect(), "{query}");
        }
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
            // The call names it as seen from where its session ran.
            (
                "file:/home/ada/engine/src/engine/lexer.rs",
                &["read", "text"],
            ),
            ("file:/home/ada/engine/src", &["read", "text"]),
            ("file:/home/ada/wheel/src", &[]),
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

/// Of several calls of one entry each has its own answer.
#[test]
fn a_file_of_one_call_does_not_find_the_answer_of_another() {
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
    let calls = [
        call("c1", "read", json!({"path": "src/lib.rs"})),
        call("c2", "bash", json!({"command": "uptime"})),
    ];
    let all = [
        text_message("said", None, "user", "look"),
        message(
            "both",
            Some("said"),
            1,
            json!({"role": "assistant", "content": calls}),
        ),
        tool_result("read", "both", "c1", "fn main"),
        tool_result("up", "read", "c2", "up 3 days"),
    ];
    World::new(&[("a", session("s1", "/w", &all))]).both(|index| {
        let answer = ask(index, "file:lib.rs", &scope());
        let found: BTreeSet<&str> = entries(&answer).into_iter().collect();
        assert_eq!(found, BTreeSet::from(["both", "read"]));
    });
}

/// A name in capitals is that session's, and not the one whose id begins alike.
#[test]
fn a_name_comes_before_an_id_in_another_case() {
    let named = json!({"type": "session_info", "id": "n", "parentId": "m", "timestamp": time(1), "name": "DB"});
    let one = text_message("m", None, "user", "one");
    let world = World::new(&[
        ("a", session("db93aaaa", "/w", std::slice::from_ref(&one))),
        ("b", session("f47ac10b", "/w", &[one, named])),
    ]);
    world.both(|index| {
        for (name, id) in [("DB", "f47ac10b"), ("db", "db93aaaa"), ("DB93", "db93aaaa")] {
            let named = index.resolve(name, &NameScope::of("/w".as_ref())).unwrap();
            assert_eq!(named.id, id, "{name}");
        }
    });
}

/// `ä` is one character as it is typed, and two as macOS writes names of files.
#[test]
fn letters_with_marks_are_the_same_however_they_are_stored() {
    let entries = [
        text_message("said", None, "user", "the clutch"),
        json!({"type": "label", "id": "l", "parentId": "said", "timestamp": time(1), "targetId": "said", "label": "spa\u{308}ter"}),
        json!({"type": "session_info", "id": "n", "parentId": "l", "timestamp": time(1), "name": "Gro\u{308}\u{df}e"}),
    ];
    let world = World::new(&[("a", session("f47ac10b", "/w/Ra\u{308}der", &entries))]);
    world.both(|index| {
        for query in [
            "label:sp\u{e4}ter",
            "name:gr\u{f6}\u{df}e",
            "project:r\u{e4}d",
            "cwd:/w/R\u{e4}der",
        ] {
            let query = format!("{query} role:user");
            assert_eq!(ask(index, &query, &scope()).total, 1, "{query}");
        }
        for name in ["GR\u{d6}\u{df}E", "F47AC"] {
            let named = index.resolve(name, &NameScope::of("/w".as_ref())).unwrap();
            assert_eq!(named.id, "f47ac10b");
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
        for query in [
            "project:/home/ada/find-it rotor",
            "project:/home/ada rotor",
            "project:~/find-it rotor",
            "cwd:~ rotor",
            "project:*find* rotor",
            "project:f*it rotor",
        ] {
            assert_eq!(ask(index, query, &scope()).total, 1, "{query}");
        }
        let root = world.place.config().roots[0].path.clone();
        let above = root.parent().unwrap().to_owned();
        let name = root.file_name().unwrap().to_str().unwrap();
        let at_home = format!("root:~/{name} rotor");
        for (home, total) in [(Some(above), 1), (None, 0)] {
            let mut config = world.config();
            config.home = home;
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            assert_eq!(ask(&index, &at_home, &scope()).total, total);
        }
        assert_eq!(ask(index, "project:/home/ad rotor", &scope()).total, 0);
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

/// Nobody typed it, and it holds an alternative all the same.
#[test]
fn a_query_of_values_is_one_alternative() {
    let said = |id: &str, cwd: &str| {
        let text = format!("the rotor of {id} hums");
        session(
            id,
            cwd,
            &[text_message(&format!("{id}e"), None, "user", &text)],
        )
    };
    let world = World::new(&[
        ("a", said("s1", "/home/ada/a")),
        ("b", said("s2", "/home/ada/b")),
    ]);
    let mut filters = Filters::default();
    filters.cwd.any = vec!["/home/ada/a".to_owned()];
    let rotor = Some(Expr::Word("rotor".to_owned()));
    world.both(|index| {
        for (query, total) in [
            (Query::default(), 2),
            (Query::new(rotor.clone(), Filters::default()), 2),
            (Query::new(rotor.clone(), filters.clone()), 1),
        ] {
            assert!(query.only().is_some());
            let found = index.ask(|snapshot| snapshot.search_query(&query, &scope(), &mut |_| {}));
            let found = found.unwrap();
            assert_eq!(found.total, total, "{query:?}");
        }
    });
}

/// What no text can say by mistake: the value is one, whatever stands in it.
#[test]
fn a_query_that_was_put_together_is_searched_as_one_that_was_typed() {
    let said = |id: &str, cwd: &str| {
        let text = format!("the rotor of {id} hums");
        let entry = text_message(&format!("{id}e"), None, "user", &text);
        session(id, cwd, &[entry])
    };
    let odd = r#"/home/ada/a" OR b\"#;
    let world = World::new(&[
        ("a", said("s1", odd)),
        ("b", said("s2", "/home/ada/plain")),
        ("c", said("s3", "/home/ada/plain")),
    ]);
    let of = |text: &str, cwd: &str| {
        let mut query = syntax::parse(text, Now::utc(scope().now_ms.unwrap())).unwrap();
        for one in &mut query.alternatives {
            one.filters.cwd.any = vec![cwd.to_owned()];
        }
        query
    };
    world.both(|index| {
        let found = |query: &Query, scope: &SearchScope| {
            let answer = index.ask(|snapshot| snapshot.search_query(query, scope, &mut |_| {}));
            let answer = answer.unwrap();
            (answer.total, answer.cursor)
        };
        for (text, cwd, total) in [
            ("rotor", odd, 1),
            ("rotor hums", "~/plain", 2),
            ("rotor role:user", "/home/ada", 3),
            ("rotor cwd:/home/ada/plain", odd, 1),
        ] {
            assert_eq!(found(&of(text, cwd), &scope()).0, total, "{text} {cwd}");
        }
        let everything = ask(index, "-agent:nobody", &scope()).total;
        assert_eq!(found(&Query::default(), &scope()).0, everything);
        // Page by page, as long as it is the same query.
        let mut page = SearchScope {
            limit: Some(1),
            every_copy: true,
            ..scope()
        };
        let query = of("rotor", "/home/ada/plain");
        page.cursor = found(&query, &page).1;
        assert!(page.cursor.is_some());
        assert_eq!(found(&query, &page).1, None);
        let other =
            index.ask(|snapshot| snapshot.search_query(&of("rotor", odd), &page, &mut |_| {}));
        assert!(matches!(other, Err(Error::OtherCursor)), "{other:?}");
    });
}
