//! Does the first search of all find and score what the same search does afterwards? It reads only what the first
//! reading of all files has not ruled out.

use serde_json::Value;
use sessionary::index::SearchScope;
use sessionary::model::SearchAnswer;
use sessionary::{Event, Freshness, Index};

use super::{Place, copy_fixtures};
use crate::corpus::{self, RARE};

/// The answer as JSON, and of how many bytes it was read.
fn read_by(search: impl FnOnce(&mut dyn FnMut(Event)) -> SearchAnswer) -> (Value, u64) {
    let mut read = 0;
    let answer = search(&mut |event| {
        if let Event::Scanned { of, .. } = event {
            read = of.max(read);
        }
    });
    (serde_json::to_value(answer).unwrap(), read)
}

#[test]
fn a_first_search_answers_as_a_later_one_and_reads_less() {
    let place = Place::new();
    let spec = corpus::Spec {
        bytes: 3_000_000,
        files: 9,
        seed: 5,
    };
    corpus::write(&place.root("pi"), spec).unwrap();
    place.write("p/rare.jsonl", format!("{}\n{}\n{}",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#,
        r#"{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"caf\u00e9 \u0078ylographic ＸＹＬＯＧＲＡＰＨＩＣ 木版"}}"#,
        // No final newline.
        r#"{"type":"message","id":"n","parentId":"m","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"provisionally xylographic"}}"#,
    ));
    copy_fixtures(&place);
    let words = ["error", "nowhere_at_all", "木版", "cafe", "exyl*"];
    let others = [
        "-error role:assistant",
        "\"the error\"",
        "xylographic OR provisionally",
        "(role:user xylographic) OR (role:toolResult exit)",
        "*graphi*",
        "/xylo[a-z]+/",
        "kind:session_info",
    ];
    for query in [RARE].into_iter().chain(words).chain(others) {
        for any in [false, true] {
            let scope = SearchScope {
                limit: 100,
                explain: true,
                any,
                ..SearchScope::default()
            };
            let _ = std::fs::remove_dir_all(place.index_dir());
            let config = place.config();
            let (first, little) = read_by(|progress| {
                let first = Index::open_and_search(&config, query, &scope, progress);
                first.unwrap().1
            });
            let later = Index::open(&config, Freshness::AsCommitted).unwrap();
            let (later, all) =
                read_by(|progress| later.search_with(query, &scope, progress).unwrap());
            assert_eq!(first, later, "{query} {any}");
            assert!(little <= all, "{query} {any}: {little} of {all}");
            if query == RARE {
                assert_eq!(first["total"], 5, "{first}");
                assert!(little < all * 9 / 10, "{little} of {all}");
            }
        }
    }
}

#[test]
fn a_wrong_query_is_told_before_anything_is_read() {
    let place = Place::new();
    let (config, scope) = (place.config(), SearchScope::default());
    let opened = Index::open_and_search(&config, "(error", &scope, &mut |_| {});
    assert!(matches!(opened, Err(sessionary::Error::Query(_))));
    assert!(!place.index_dir().exists());
}
