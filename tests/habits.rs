//! What people habitually type finds what they mean, from the query to the answer.

use insta::assert_snapshot;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use sessionary::index::SearchScope;
use sessionary::model::{Ranking, SearchAnswer};
use sessionary::{Freshness, Index, Indexer};

use crate::findable::Place;
use crate::problems::session;
use crate::sandbox::Sandbox;

const TEXTS: [(&str, &str); 4] = [
    ("s1", "The alphabet\\nbetween lines, said the walrus"),
    (
        "s2",
        "The alpha between lines, and \\\"alpha  bet\\\" in quotes",
    ),
    ("s3", "a walrus that is not here, and vec![1]"),
    ("s4", "an otter"),
];

fn place() -> Place {
    let place = Place::new();
    for (id, text) in TEXTS {
        place.write(&format!("w/{id}.jsonl"), session(id, text));
    }
    place
}

fn found(answer: &SearchAnswer) -> Vec<&str> {
    let mut ids: Vec<&str> = answer
        .sessions
        .iter()
        .map(|group| group.session.id.as_str())
        .collect();
    ids.sort_unstable();
    ids
}

/// The same with nothing indexed, and with everything.
fn both(check: impl Fn(&Index)) {
    let place = place();
    let index = || Index::open(&place.config(), Freshness::Check).unwrap();
    check(&index());
    let mut indexer = Indexer::open(&place.config()).unwrap();
    indexer.sync().unwrap();
    drop(indexer);
    check(&index());
}

#[test]
fn habits_find_what_they_mean() {
    both(|index| {
        for (query, expected) in [
            ("walrus | otter", &["s1", "s3", "s4"][..]),
            ("otter || vec!", &["s3", "s4"]),
            ("lines !walrus", &["s2"]),
            ("‘said the walrus’", &["s1"]),
            ("“said the wal", &[]),
            ("'between lines' -walrus", &["s2"]),
            // One piece of white space stands for any.
            ("*phabet betw*", &["s1"]),
            ("*\"PHA  bet\"*", &["s2"]),
            ("*alpha bet*", &["s2"]),
            ("(walrus OR", &["s1", "s3"]),
        ] {
            let scope = SearchScope {
                exact: true,
                ..SearchScope::default()
            };
            let answer = index.search(query, &scope).unwrap();
            assert_eq!(found(&answer), expected, "{query}: {:?}", answer.notes);
        }
    });
}

#[test]
fn what_is_being_typed_has_an_answer_after_every_key() {
    both(|index| {
        let scope = SearchScope {
            as_typed: true,
            ..SearchScope::default()
        };
        let ask = |query: &str| index.search(query, &scope).unwrap();
        assert_eq!(found(&ask("walr")), ["s1", "s3"]);
        assert_eq!(found(&ask("“said the wal")), ["s1"]);
        assert_eq!(found(&ask("otter since:las")), ["s4"]);
        // Of a word behind others, its first letters.
        assert_eq!(found(&ask("“said th")), ["s1"]);
        assert_eq!(found(&ask("between-li")), ["s1", "s2"]);
        assert!(found(&ask("between-wa")).is_empty());
        // Half of a filter's value, as long as it is being typed.
        for half in ["walrus role:us", "walrus agent:p", "walrus kind:Mess"] {
            assert_eq!(found(&ask(half)), ["s1", "s3"], "{half}");
            assert!(found(&ask(&format!("{half} "))).is_empty(), "{half}");
        }
        assert!(found(&ask("walrus role:assistant,to")).is_empty());
        assert_eq!(found(&ask("walrus -role:us")), ["s1", "s3"]);
        assert!(found(&ask("walrus role:\"us\"")).is_empty());
        assert_eq!(found(&ask("")).len(), TEXTS.len());
        let answer = ask("otter wal");
        assert_eq!(answer.ranking, Ranking::Sessions);
        assert_eq!(found(&answer), ["s1", "s3", "s4"]);
        let typed = "(\"said the walrus\" | otter) -role:tool since:2026-01-01 /w.l/ *a b*";
        for (end, _) in typed.char_indices() {
            ask(&typed[..end]);
        }
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(19);
        let signs = [
            "(", ")", "\"", "'", "“", "-", "!", "|", "+", "*", "~", "/", "[", ":", ",", " ", "\\",
            "a", "walrus", "role:", "since:2w", "is:error", "OR", "AND", "NOT", "\0", "é", "日",
        ];
        for _ in 0..200 {
            let length = random.random_range(0..10);
            let query: String = (0..length)
                .filter_map(|_| signs.choose(&mut random))
                .copied()
                .collect();
            ask(&query);
        }
        let whole = SearchScope::default();
        assert!(index.search("since:las", &whole).is_err());
    });
}

#[test]
fn the_command_tells_how_it_read_them() {
    let home = Sandbox::new();
    for (id, text) in TEXTS {
        home.write(
            &format!(".pi/agent/sessions/--w--/{id}.jsonl"),
            &session(id, text),
        );
    }
    let answer = home.json(&["search", "--json", "otter \"not closed", "user:x"]);
    assert_eq!(
        answer["notes"],
        serde_json::json!(["column 7: the quote is not closed, and is read up to the end"])
    );
    let told = |query: &str| home.run(&["search", "--exact", query]);
    assert_snapshot!(told("user:otter last week"), @r"
    --- stderr
    column 1: user: is no filter, so user:otter is searched as text; did you mean role:user otter?
    column 12: last week is searched as text; on:last-week is the time
    Nothing found for user:otter last week. No session contains user:otter, nor last, nor week.
    --- exit Some(1)
    ");
    assert_snapshot!(told("***"), @r"
    --- stderr
    error: column 1: expected a word to search for; only letters and digits are indexed; /\*\*\*/ finds it as it is written
    hint: `sessionary search --help` explains queries
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["list", "--all", "--since", "2w\" walrus \""]), @r#"
    --- stderr
    error: --since 2w" walrus ": not a time
    hint: for example 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026-10 or 2026-10-05
    --- exit Some(2)
    "#);
    // However long and however strange, at once.
    for sign in [
        "'a ", "|", "(", "*\"a ", "“", "*a ", "-", "role: ", "a) ", "☃ ", "! ", "»a ",
    ] {
        let long = sign.repeat(20_000 / sign.len());
        let output = home.output(&["search", "--", &long]);
        assert!(
            matches!(output.status.code(), Some(0..=2)),
            "{sign}: {output:?}"
        );
        assert!(
            output.stderr.len() < 10_000,
            "{sign}: {}",
            output.stderr.len()
        );
    }
}
