//! The index on disk: what is committed, deleted, read back.

use std::collections::BTreeSet;

use super::overlaid;
use crate::model::{Class, Expr};
use crate::words::{
    Answer, Doc, Order, Overlay, Scope, TimeRange, Words, WordsError, WordsWriter, search,
};

pub fn doc(key: u64, class: Class, time: i64, pieces: &[&str]) -> Doc {
    Doc {
        key,
        class,
        time_ms: Some(time),
        kind: "message".into(),
        role: Some("user".into()),
        tools: Vec::new(),
        is_error: false,
        is_name: false,
        pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
    }
}

pub fn word(text: &str) -> Expr {
    Expr::Word(text.into())
}

fn keys(answer: &Answer) -> Vec<u64> {
    answer.hits.iter().map(|hit| hit.key).collect()
}

pub fn newest(disk: &Words, expr: &Expr) -> Answer {
    search(
        Some(disk),
        None,
        Some(expr),
        &Scope::default(),
        Order::Newest,
        100,
    )
    .unwrap()
}

#[test]
fn add_commit_search() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(
        Words::open(dir.path()),
        Err(WordsError::Missing(_))
    ));
    let mut writer = super::writer(dir.path(), 30_000_000, 2).unwrap();
    assert_eq!(writer.payload(), None);
    writer
        .add([doc(
            1,
            Class::Prose,
            10,
            &["The fooBar of src/words/mod.rs", "second piece"],
        )])
        .unwrap();
    writer
        .add([doc(1, Class::Output, 10, &["error: cannot find fooBar"])])
        .unwrap();
    writer
        .add([doc(2, Class::Prose, 20, &["foo is not bar"])])
        .unwrap();
    writer.commit("7:1").unwrap();
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    assert_eq!(words.payload(), Some("7:1"));
    assert_eq!(keys(&newest(&words, &word("foo"))), [2, 1, 1]);
    assert_eq!(keys(&newest(&words, &word("fooBar"))), [1, 1]);
    assert_eq!(
        keys(&newest(&words, &Expr::Phrase("words mod.rs second".into()))),
        [] as [u64; 0]
    );
    assert_eq!(keys(&newest(&words, &Expr::Prefix("words/mo".into()))), [1]);
    assert_eq!(keys(&newest(&words, &word("cannot find"))), [1]);
}

fn writer(dir: &std::path::Path) -> WordsWriter {
    super::writer(dir, 15_000_000, 1).unwrap()
}

pub fn all(words: &Words) -> Vec<u64> {
    words
        .keys()
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect()
}

#[test]
fn deletes_take_what_was_added_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(dir.path());
    for key in 0..10 {
        writer.add([doc(key, Class::Prose, 0, &["old"])]).unwrap();
    }
    writer.commit("1:1").unwrap();
    for key in 10..15 {
        writer.add([doc(key, Class::Prose, 0, &["old"])]).unwrap();
    }
    assert_eq!(
        all(&Words::open(dir.path()).unwrap()),
        (0..10).collect::<Vec<_>>(),
        "nothing before the commit"
    );
    writer.delete([(5, 12)], "1:2").unwrap();
    for key in 7..9 {
        writer.add([doc(key, Class::Prose, 0, &["new"])]).unwrap();
    }
    writer.commit("1:3").unwrap();
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    assert_eq!(all(&words), [0, 1, 2, 3, 4, 7, 8, 13, 14]);
    assert_eq!(keys(&newest(&words, &word("new"))), [8, 7]);
    assert_eq!(words.damaged_files().unwrap(), [] as [String; 0]);
}

#[test]
fn what_was_never_there_takes_nothing_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(dir.path());
    for round in 0..3 {
        writer.delete([(0, 100)], "1:1").unwrap();
        writer.add([doc(round, Class::Prose, 0, &["new"])]).unwrap();
        writer.commit("1:2").unwrap();
        assert_eq!(all(&Words::open(dir.path()).unwrap()), [round]);
    }
}

#[test]
fn what_is_not_committed_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut writer = writer(dir.path());
        writer.add([doc(1, Class::Prose, 0, &["kept"])]).unwrap();
        writer.commit("1:1").unwrap();
        writer
            .add([doc(2, Class::Prose, 0, &["rolled back"])])
            .unwrap();
        writer.rollback().unwrap();
        writer.add([doc(3, Class::Prose, 0, &["dropped"])]).unwrap();
    }
    let mut second = writer(dir.path());
    assert_eq!(second.payload(), Some("1:1"));
    assert!(matches!(
        super::writer(dir.path(), 0, 1),
        Err(WordsError::Busy)
    ));
    assert_eq!(all(&Words::open(dir.path()).unwrap()), [1]);
    second.add([doc(4, Class::Prose, 0, &["more"])]).unwrap();
    second.commit("1:2").unwrap();
    second.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    assert_eq!((all(&words), words.payload()), (vec![1, 4], Some("1:2")));
}

#[test]
fn damage_and_foreign_indexes_ask_for_a_rebuild() {
    let asks = |dir: &std::path::Path| {
        let read = Words::open(dir).err().unwrap();
        let write = super::writer(dir, 0, 1).err().unwrap();
        assert!(
            read.asks_for_rebuild() && write.asks_for_rebuild(),
            "{read} / {write}"
        );
    };
    let dir = tempfile::tempdir().unwrap();
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("text", tantivy::schema::TEXT);
    tantivy::Index::create_in_dir(dir.path(), schema.build()).unwrap();
    asks(dir.path());

    for damage in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        writer.add([doc(1, Class::Prose, 0, &["text"])]).unwrap();
        writer.commit("1:1").unwrap();
        writer.close().unwrap();
        let postings = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|file| file.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "idx"))
            .unwrap();
        match damage {
            0 => std::fs::write(dir.path().join("meta.json"), "{").unwrap(),
            1 => std::fs::remove_file(postings).unwrap(),
            2 => std::fs::write(postings, "short").unwrap(),
            _ => {
                let length = std::fs::metadata(&postings).unwrap().len() as usize;
                std::fs::write(postings, vec![0; length]).unwrap();
            }
        }
        asks(dir.path());
    }
}

#[test]
fn what_is_found_does_not_depend_on_where_a_passage_lies() {
    let docs: Vec<Doc> = (0..60u64)
        .map(|key| {
            let class = if key % 3 == 0 {
                Class::Output
            } else {
                Class::Prose
            };
            let text = format!(
                "{} {} needle",
                "hay ".repeat(key as usize % 7),
                "needle ".repeat(key as usize % 4)
            );
            doc(key, class, (key % 5) as i64, &[&text, "foo bar"])
        })
        .collect();
    let exprs = [
        word("needle"),
        Expr::And(vec![
            word("needle"),
            Expr::Phrase("foo bar".into()),
            Expr::Prefix("ha".into()),
        ]),
        Expr::Or(vec![
            word("hay"),
            word("needle"),
            Expr::Not(Box::new(word("hay"))),
        ]),
    ];
    let mut answers: Vec<Vec<Answer>> = Vec::new();
    for share in [0u64, 3, 10] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        let (disk, rest): (Vec<_>, Vec<_>) =
            docs.iter().cloned().partition(|doc| doc.key % 10 < share);
        for (index, doc) in disk.into_iter().enumerate() {
            writer.add([doc]).unwrap();
            if index % 7 == 0 {
                writer.commit("x").unwrap();
            }
        }
        writer.commit("y").unwrap();
        writer.close().unwrap();
        let words = Words::open(dir.path()).unwrap();
        let ranked = |expr: &Expr| {
            let scope = Scope::default();
            let mut answer = overlaid(&rest, Some(expr), &scope, |overlay| {
                let disk = Some(&words);
                search(disk, Some(overlay), Some(expr), &scope, Order::Ranked, 100).unwrap()
            });
            // Who read the text is certain where the disk may not be; here it is right.
            answer.undecided = 0;
            for hit in &mut answer.hits {
                hit.needs_check = false;
            }
            answer
        };
        answers.push(exprs.iter().map(ranked).collect());
    }
    let found = |answers: &[Answer]| -> Vec<_> {
        let keys = |answer: &Answer| {
            answer
                .hits
                .iter()
                .map(|hit| hit.key)
                .collect::<BTreeSet<_>>()
        };
        let of = |answer| (keys(answer), answer.total, answer.sessions, answer.is_all);
        answers.iter().map(of).collect()
    };
    assert_eq!(found(&answers[0]), found(&answers[1]));
    assert_eq!(found(&answers[0]), found(&answers[2]));
    assert_eq!(answers[0][0].total, 60);
    assert!(answers[0][0].hits[0].score > answers[0][0].hits[59].score);
}

#[test]
fn the_scope_holds_before_the_limit() {
    use crate::words::ValueFilter;
    let mut docs: Vec<Doc> = (0..20u64)
        .map(|key| {
            doc(
                (key % 4) << 24 | key,
                [Class::Prose, Class::Output][key as usize % 2],
                key as i64,
                &["x"],
            )
        })
        .collect();
    docs[1].role = None;
    docs[2].role = Some("assistant".into());
    docs[3].tools = vec!["bash".into(), "read".into()];
    docs[3].is_error = true;
    docs[4].time_ms = None;
    docs[5].kind = "compaction".into();
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(dir.path());
    writer.add(docs.clone()).unwrap();
    writer.commit("1").unwrap();
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    // Arrivals, newest first, the same on both sides.
    let asked = |scope: Scope<'_>, limit: usize| {
        let mut found = Vec::new();
        for expr in [None, Some(word("x"))] {
            let expr = expr.as_ref();
            let newest = |disk: Option<&Words>, overlay: Option<&Overlay<'_>>| {
                search(disk, overlay, expr, &scope, Order::Newest, limit).unwrap()
            };
            for answer in [
                newest(Some(&words), None),
                overlaid(&docs, expr, &scope, |overlay| newest(None, Some(overlay))),
            ] {
                let arrivals: Vec<u64> =
                    answer.hits.iter().map(|hit| hit.key & 0xFF_FFFF).collect();
                found.push((arrivals, answer.total));
            }
        }
        assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
        found.swap_remove(0)
    };
    let any = |list: &[&str]| {
        list.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(asked(Scope::default(), 3), (vec![19, 18, 17], 20));
    let session = |key: u64| key >> 24 == 2;
    assert_eq!(
        asked(
            Scope {
                allow: Some(&session),
                ..Scope::default()
            },
            2
        ),
        (vec![18, 14], 5)
    );
    assert_eq!(
        asked(
            Scope {
                class: Some(Class::Output),
                ..Scope::default()
            },
            1
        ),
        (vec![19], 10)
    );
    let roles = any(&["assistant", "system"]);
    let pick = ValueFilter {
        any: &roles,
        ..ValueFilter::default()
    };
    assert_eq!(
        asked(
            Scope {
                roles: pick,
                ..Scope::default()
            },
            9
        ),
        (vec![2], 1)
    );
    let none = any(&["user"]);
    let pick = ValueFilter {
        none: &none,
        ..ValueFilter::default()
    };
    assert_eq!(
        asked(
            Scope {
                roles: pick,
                ..Scope::default()
            },
            9
        ),
        (vec![2, 1], 2)
    );
    let tools = any(&["read"]);
    let pick = ValueFilter {
        any: &tools,
        ..ValueFilter::default()
    };
    assert_eq!(
        asked(
            Scope {
                tools: pick,
                ..Scope::default()
            },
            9
        ),
        (vec![3], 1)
    );
    let kinds = any(&["compaction"]);
    let pick = ValueFilter {
        any: &kinds,
        ..ValueFilter::default()
    };
    assert_eq!(
        asked(
            Scope {
                kinds: pick,
                ..Scope::default()
            },
            9
        ),
        (vec![5], 1)
    );
    assert_eq!(
        asked(
            Scope {
                error: Some(true),
                ..Scope::default()
            },
            9
        ),
        (vec![3], 1)
    );
    assert_eq!(
        asked(
            Scope {
                error: Some(false),
                ..Scope::default()
            },
            1
        ),
        (vec![19], 19)
    );
    assert_eq!(
        asked(
            Scope {
                times: TimeRange {
                    until_ms: Some(6),
                    ..TimeRange::default()
                },
                ..Scope::default()
            },
            9
        ),
        (vec![5, 3, 2, 1, 0], 5)
    );
    let times = Scope {
        times: TimeRange {
            since_ms: Some(3),
            until_ms: Some(6),
            outside_ms: &[],
        },
        ..Scope::default()
    };
    assert_eq!(asked(times, 9), (vec![5, 3], 2));
    // Passages without a time come last.
    assert_eq!(asked(Scope::default(), 20).0.last(), Some(&4));

    // Dead ranges concern the disk alone.
    let dead = [(0, 8), (3 << 24, u64::MAX)];
    let scope = Scope {
        dead: &dead,
        ..Scope::default()
    };
    let expr = word("x");
    let count = |disk: Option<&Words>, overlay: Option<&Overlay<'_>>| {
        search(disk, overlay, Some(&expr), &scope, Order::Newest, 99)
            .unwrap()
            .total
    };
    assert_eq!(count(Some(&words), None), 12);
    overlaid(&docs, Some(&expr), &scope, |overlay| {
        assert_eq!(count(None, Some(overlay)), 20);
        assert_eq!(count(Some(&words), Some(overlay)), 20);
    });
}

#[test]
fn an_excluded_phrase_on_output_loses_nothing() {
    let docs = [
        doc(1, Class::Output, 1, &["bar foo x"]),
        doc(2, Class::Output, 2, &["foo bar x"]),
        doc(3, Class::Output, 3, &["foobar x"]),
    ];
    let phrase = Expr::Or(vec![word("foobar"), word("foo-bar")]);
    let expr = Expr::And(vec![word("x"), Expr::Not(Box::new(phrase))]);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(dir.path());
    for doc in &docs {
        writer.add([doc.clone()]).unwrap();
    }
    writer.commit("1").unwrap();
    writer.close().unwrap();
    let answer = newest(&Words::open(dir.path()).unwrap(), &expr);
    // 2 is for the caller to check; 3 is excluded for certain.
    assert_eq!(keys(&answer), [2, 1]);
    assert!(answer.undecided > 0 && answer.hits.iter().all(|hit| hit.needs_check));
    // Who reads the text knows.
    let scope = Scope::default();
    let answer = overlaid(&docs, Some(&expr), &scope, |overlay| {
        search(None, Some(overlay), Some(&expr), &scope, Order::Newest, 9).unwrap()
    });
    assert_eq!(keys(&answer), [1]);
    assert!(answer.undecided == 0 && !answer.hits[0].needs_check);
}
