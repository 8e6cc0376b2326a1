//! Is what is said twice shown once, and counted?

use serde_json::Value;
use sessionary::index::SearchScope;

use super::{World, ask, entries, hits, scope, session, text_message, tool_result};

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
            let all = copies(None);
            assert_eq!(all.len(), 30);
            assert!(all.iter().all(|(_, copies)| *copies == 2), "{all:?}");
            for limit in 1..30 {
                assert_eq!(copies(Some(limit)), all[..limit], "{limit}");
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
                    limit: Some(limit),
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
