//! The index on disk: what is committed, deleted, read back.

use crate::model::{Class, Expr};
use crate::words::{Answer, Doc, Order, Overlay, Scope, Words, WordsError, WordsWriter, search};

pub fn doc(key: u64, class: Class, time: i64, pieces: &[&str]) -> Doc {
    Doc {
        key,
        class,
        time_ms: Some(time),
        kind: "message".into(),
        role: Some("user".into()),
        tools: Vec::new(),
        is_error: false,
        pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
    }
}

fn word(text: &str) -> Expr {
    Expr::Word(text.into())
}

fn keys(answer: &Answer) -> Vec<u64> {
    answer.hits.iter().map(|hit| hit.key).collect()
}

fn newest(disk: Option<&Words>, overlay: Option<&Overlay>, expr: &Expr) -> Answer {
    search(
        disk,
        overlay,
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
    let mut writer = WordsWriter::open(dir.path(), 30_000_000, 2).unwrap();
    assert_eq!(writer.payload(), None);
    writer
        .add(doc(
            1,
            Class::Prose,
            10,
            &["The fooBar of src/words/mod.rs", "second piece"],
        ))
        .unwrap();
    writer
        .add(doc(1, Class::Output, 10, &["error: cannot find fooBar"]))
        .unwrap();
    writer
        .add(doc(2, Class::Prose, 20, &["foo is not bar"]))
        .unwrap();
    writer.commit("7:1").unwrap();
    writer.close().unwrap();
    let words = Words::open(dir.path()).unwrap();
    assert_eq!(words.payload(), Some("7:1"));
    assert_eq!(keys(&newest(Some(&words), None, &word("foo"))), [2, 1, 1]);
    assert_eq!(keys(&newest(Some(&words), None, &word("fooBar"))), [1, 1]);
    assert_eq!(
        keys(&newest(
            Some(&words),
            None,
            &Expr::Phrase("words mod.rs second".into())
        )),
        [] as [u64; 0]
    );
    assert_eq!(
        keys(&newest(
            Some(&words),
            None,
            &Expr::Prefix("words/mo".into())
        )),
        [1]
    );
    assert_eq!(keys(&newest(Some(&words), None, &word("cannot find"))), [1]);
}
