//! Does the first search of all, which reads the files, find and score what the same search does
//! afterwards?

use sessionary::index::SearchScope;
use sessionary::{Freshness, Index};

use super::{Place, copy_fixtures};
use crate::corpus::{self, RARE};

#[test]
fn a_first_search_answers_as_a_later_one() {
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
    let some = [
        ("provisionally xylographic", true),
        ("provisionally xylographic", false),
    ];
    let all = [RARE].into_iter().chain(words).chain(others);
    for (query, passages) in all.map(|query| (query, false)).chain(some) {
        let scope = SearchScope {
            limit: Some(100),
            explain: true,
            passages,
            // Cursors name the moment.
            now_ms: Some(1_767_614_400_000),
            ..SearchScope::default()
        };
        let _ = std::fs::remove_dir_all(place.index_dir());
        let config = place.config();
        let answer = |freshness| {
            let index = Index::open(&config, freshness).unwrap();
            serde_json::to_value(index.search(query, &scope).unwrap()).unwrap()
        };
        let first = answer(Freshness::Check);
        assert_eq!(first, answer(Freshness::AsCommitted), "{query}");
        if query == RARE {
            assert_eq!(first["total"], 5, "{first}");
        }
    }
}
