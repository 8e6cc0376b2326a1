//! Are entries found that lack what others have, whatever part of the words is indexed? A time, a
//! text, an id.

use serde_json::json;
use sessionary::index::SearchScope;
use sessionary::{Freshness, Index, Indexer};

use sessionary::model::BranchPlace as Place_;

use super::Place;

/// In ms.
fn now() -> i64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    now.as_millis() as i64
}

/// Days before now, as `date` and as the agents write it.
fn ago(days: i64) -> (String, String) {
    let ms = now() - days * 86_400_000;
    let iso = sessionary::model::iso(ms).unwrap();
    (iso[..10].to_owned(), iso)
}

fn index(place: &Place, look: &mut dyn FnMut(&Index, &str)) {
    let open = || Index::open(&place.config(), Freshness::Check).unwrap();
    look(&open(), "nothing indexed");
    let report = Indexer::open(&place.config()).unwrap().sync().unwrap();
    assert_eq!(report.outstanding, 0);
    look(&open(), "everything indexed");
    let verified = open().verify().unwrap();
    assert!(
        verified.differences.is_empty(),
        "{:?}",
        verified.differences
    );
}

fn find(index: &Index, query: &str) -> Vec<String> {
    let scope = SearchScope {
        limit: Some(100),
        now_ms: Some(now()),
        exact: true,
        every_copy: true,
        ..SearchScope::default()
    };
    let answer = index.search(query, &scope).unwrap();
    let hits = answer.sessions.iter().flat_map(|group| &group.hits);
    let mut found: Vec<String> = hits.map(|hit| hit.entry.clone()).collect();
    found.sort();
    found
}

fn lines(values: &[serde_json::Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn write_clido(place: &Place, name: &str, content: &str) {
    let path = place.root("clido").join("_w").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn what_has_no_time_has_that_of_what_is_before_it() {
    let place = Place::new();
    let [three, ten, forty] = [3, 10, 40].map(ago);
    let said = |text: &str| json!({"type": "user_message", "role": "user", "content": [{"type": "text", "text": text}]});
    let meta = |time: &str| json!({"type": "meta", "session_id": "s", "schema_version": 1, "start_time": time, "project_path": "/w"});
    write_clido(
        &place,
        "new.jsonl",
        &lines(&[meta(&ten.1), said("starfruit one"), said("starfruit two")]),
    );
    // What is before the first time is as old as the session.
    write_clido(
        &place,
        "late.jsonl",
        &lines(&[said("starfruit late"), meta(&forty.1)]),
    );
    let message = |id: &str, time: Option<&str>| {
        let mut entry = json!({"type": "message", "id": id, "parentId": null,
            "message": {"role": "user", "content": format!("starfruit {id}")}});
        if let Some(time) = time {
            entry["timestamp"] = json!(time);
        }
        entry
    };
    place.write(
        "p/pi.jsonl",
        lines(&[
            json!({"type": "session", "version": 3, "id": "p", "timestamp": forty.1, "cwd": "/w"}),
            message("p1", None),
            message("p2", Some(&three.1)),
            message("p3", None),
        ]),
    );
    // Nothing tells when.
    place.write(
        "p/never.jsonl",
        lines(&[
            json!({"type": "session", "version": 3, "id": "n", "cwd": "/w"}),
            message("n1", None),
        ]),
    );
    index(&place, &mut |index, state| {
        let old = ["L1", "p1"];
        let all = ["L1", "L2", "L3", "n1", "p1", "p2", "p3"];
        for (query, entries) in [
            ("starfruit since:2w", &["L2", "L3", "p2", "p3"][..]),
            ("starfruit before:2w", &old),
            ("starfruit -since:2w", &["L1", "n1", "p1"]),
            (&*format!("starfruit on:{}", ten.0), &["L2", "L3"]),
            (&*format!("starfruit on:{}", three.0), &["p2", "p3"]),
            ("starfruit since:2w OR starfruit -since:2w", &all),
            ("starfruit before:5d OR starfruit -before:5d", &all),
        ] {
            assert_eq!(find(index, query), entries, "{state}: {query}");
        }
        let scope = SearchScope {
            limit: Some(100),
            now_ms: Some(now()),
            newest_first: true,
            passages: true,
            facets: true,
            every_copy: true,
            ..SearchScope::default()
        };
        let answer = index
            .search("starfruit agent:clido OR starfruit agent:pi", &scope)
            .unwrap();
        let hits = answer.sessions.iter().flat_map(|group| &group.hits);
        let days: Vec<_> = hits
            .map(|hit| hit.time.as_ref().map(|time| time[..10].to_owned()))
            .collect();
        let expected = [&three, &three, &ten, &ten, &forty, &forty];
        let expected: Vec<_> = expected
            .iter()
            .map(|day| Some(day.0.clone()))
            .chain([None])
            .collect();
        assert_eq!(days, expected, "{state}");
        let days = answer.facets.unwrap().days;
        let days: Vec<_> = days
            .iter()
            .map(|day| (day.value.as_str(), day.count))
            .collect();
        let expected = [("", 1), (&*forty.0, 2), (&*ten.0, 2), (&*three.0, 2)];
        assert_eq!(days, expected, "{state}");
    });
    // What comes later is told by what was there before.
    let path = place.root("clido").join("_w").join("new.jsonl");
    let mut content = std::fs::read_to_string(&path).unwrap();
    content += &lines(&[said("starfruit three")]);
    std::fs::write(&path, content).unwrap();
    index(&place, &mut |index, state| {
        let query = format!("starfruit on:{}", ten.0);
        assert_eq!(find(index, &query), ["L2", "L3", "L4"], "{state}");
    });
    // The views tell what the files say, and what searches make of it; nothing tells when the two
    // of `never.jsonl` were.
    let catalogue =
        rusqlite::Connection::open(place.index_dir().join("v5/catalogue.sqlite")).unwrap();
    let timed: (i64, i64, i64) = catalogue
        .query_row(
            "SELECT count(time_written_ms), count(time_ms), count(*) FROM entries",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!(timed, (4, 10, 12));
}

#[test]
fn a_session_that_began_at_another_time_takes_its_undated_entries_along() {
    let place = Place::new();
    let path = "_w/late.jsonl";
    let (day, time) = ago(5);
    let said = json!({"type": "user_message", "role": "user", "content": [{"type": "text", "text": "starfruit"}]});
    let meta = json!({"type": "meta", "session_id": "s", "schema_version": 1, "start_time": time, "project_path": "/w"});
    write_clido(&place, "late.jsonl", &lines(std::slice::from_ref(&said)));
    index(&place, &mut |index, state| {
        assert_eq!(find(index, "starfruit since:2w"), [""; 0], "{state}");
    });
    std::fs::write(place.root("clido").join(path), lines(&[said, meta])).unwrap();
    index(&place, &mut |index, state| {
        assert_eq!(
            find(index, &format!("starfruit on:{day}")),
            ["L1"],
            "{state}"
        );
    });
}

#[test]
fn entries_without_ids_stand_on_the_one_branch_there_is() {
    let place = Place::new();
    let header = |more: serde_json::Value| {
        let mut header = json!({"type": "session", "id": "v1", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
        header
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        header
    };
    let said = |text: &str| json!({"type": "message", "timestamp": "2026-01-05T09:00:01.000Z", "message": {"role": "user", "content": text}});
    let compaction = |index: i64| {
        json!({"type": "compaction", "timestamp": "2026-01-05T09:00:02.000Z", "summary": "starfruit summary",
            "firstKeptEntryIndex": index, "tokensBefore": 9})
    };
    let v1 = |name: &str, index: i64| {
        let content = lines(&[
            header(json!({"id": name})),
            said("starfruit one"),
            said("starfruit two"),
            said("starfruit three"),
            compaction(index),
            said("starfruit four"),
        ]);
        // What pi drops is not counted.
        let content = content.replacen("\n", "\n{\"torn\n{} {}\n", 1);
        place.write(&format!("p/{name}.jsonl"), content);
    };
    // The third message is the third entry that pi reads, behind the header.
    v1("third", 3);
    v1("nothing", 0);
    v1("beyond", 77);
    // One entry without an id among others stands nowhere, and is no leaf.
    let mut named = said("starfruit named");
    named["id"] = json!("a");
    place.write(
        "p/mixed.jsonl",
        lines(&[
            header(json!({"id": "mixed", "version": 3})),
            named,
            said("starfruit alone"),
        ]),
    );
    let meta = json!({"type": "meta", "session_id": "s", "schema_version": 1, "start_time": "", "project_path": "/w"});
    let clido = json!({"type": "user_message", "role": "user", "content": [{"type": "text", "text": "starfruit clido"}]});
    write_clido(&place, "c.jsonl", &lines(&[meta, clido]));
    index(&place, &mut |index, state| {
        let places = |session: &str| -> Vec<_> {
            let scope = SearchScope {
                limit: Some(100),
                every_copy: true,
                ..SearchScope::default()
            };
            let answer = index
                .search(&format!("starfruit session:{session}"), &scope)
                .unwrap();
            let hits = answer.sessions.iter().flat_map(|group| &group.hits);
            let mut places: Vec<_> = hits.map(|hit| (hit.entry.clone(), hit.place)).collect();
            places.sort_by_key(|(entry, _)| entry.clone());
            places
        };
        let told = |places: [Place_; 5]| -> Vec<_> {
            let entries = ["L4", "L5", "L6", "L7", "L8"].map(str::to_owned);
            entries.into_iter().zip(places.map(Some)).collect()
        };
        use Place_::{Active, Compacted};
        let (none, third) = (
            told([Compacted, Compacted, Compacted, Active, Active]),
            told([Compacted, Compacted, Active, Active, Active]),
        );
        assert_eq!(places("third"), third, "{state}");
        assert_eq!(places("nothing"), none, "{state}");
        assert_eq!(places("beyond"), none, "{state}");
        assert_eq!(
            places("mixed"),
            [
                ("L3".to_owned(), None),
                ("a".to_owned(), Some(Place_::Active))
            ],
            "{state}"
        );
        assert_eq!(places("c"), [("L2".to_owned(), None)], "{state}");
        assert_eq!(find(index, "starfruit is:branch"), ["L3"], "{state}");
        assert_eq!(find(index, "starfruit -is:branch").len(), 17, "{state}");
    });
}

#[test]
fn what_has_no_text_is_found_by_filters() {
    let place = Place::new();
    let message = |id: &str, message: serde_json::Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z", "message": message});
    let image = json!([{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]);
    place.write(
        "p/s.jsonl",
        lines(&[
            json!({"type": "session", "version": 3, "id": "p", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"}),
            message("image", json!({"role": "user", "content": image})),
            message("aborted", json!({"role": "assistant", "content": [], "stopReason": "aborted"})),
            message("failed", json!({"role": "toolResult", "toolCallId": "t", "content": [], "isError": true})),
            message("other", json!({"role": "toolResult", "toolCallId": "u", "content": [], "isError": true})),
            message("empty", json!({"role": "user", "content": ""})),
            message("said", json!({"role": "user", "content": "starfruit"})),
        ]),
    );
    let meta = json!({"type": "meta", "session_id": "s", "schema_version": 1, "start_time": "2026-01-05T09:00:00Z", "project_path": "/w"});
    let result = json!({"type": "result", "exit_status": "max_turns_reached", "total_cost_usd": 0.5, "num_turns": 2, "duration_ms": 10});
    write_clido(&place, "c.jsonl", &lines(&[meta, result]));
    index(&place, &mut |index, state| {
        for (query, entries) in [
            ("has:image", &["image"][..]),
            ("status:aborted", &["aborted"]),
            ("is:error agent:pi", &["aborted", "failed", "other"]),
            ("is:error agent:clido", &["L2"]),
            ("status:max_turns_reached", &["L2"]),
            ("role:user", &["image", "said"]),
            ("role:user -starfruit", &["image"]),
            ("starfruit", &["said"]),
            ("has:image starfruit", &[]),
        ] {
            assert_eq!(find(index, query), entries, "{state}: {query}");
        }
        let scope = SearchScope {
            facets: true,
            ..SearchScope::default()
        };
        let answer = index.search("is:error", &scope).unwrap();
        assert_eq!(answer.total, 4, "{state}");
        let roles: Vec<_> = answer
            .facets
            .unwrap()
            .roles
            .into_iter()
            .map(|role| (role.value, role.count))
            .collect();
        let expected = [("toolResult", 2), ("assistant", 1), ("result", 1)];
        assert_eq!(
            roles,
            expected.map(|(role, count)| (role.to_owned(), count)),
            "{state}"
        );
        // None of them repeats another.
        let hits: usize = answer.sessions.iter().map(|group| group.hits.len()).sum();
        assert_eq!(hits, 4, "{state}");
    });
}

#[test]
fn words_behind_an_escape_are_found() {
    let place = Place::new();
    let log = r#"{"log":"first line\nmigration failed\tquietly\r\nnoise"} C:\new \\table"#;
    let result = |id: &str, text: &str| {
        json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-01-05T09:00:01.000Z",
            "message": {"role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": text, "isError": false}})
    };
    let header = json!({"type": "session", "version": 3, "id": "e", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
    let said = json!({"type": "message", "id": "said", "parentId": null, "timestamp": "2026-01-05T09:00:02.000Z",
        "message": {"role": "user", "content": r"one line\nmigrationFailed twice"}});
    place.write("p/e.jsonl", lines(&[header, result("log", log), said]));
    index(&place, &mut |index, state| {
        for (query, entries) in [
            ("migration", &["log", "said"][..]),
            ("quietly", &["log"]),
            ("\"first line migration failed quietly\"", &["log"]),
            ("\"line migration\"", &["log", "said"]),
            // Printed text is asked for an identifier as a whole.
            ("migrationFailed", &["said"]),
            ("\"migration failed\"", &["log", "said"]),
            ("nmigration", &["log", "said"]),
            ("noise", &["log"]),
            ("new", &["log"]),
            ("ew", &["log"]),
            ("migratoin~", &["log", "said"]),
            ("quiet*", &["log"]),
            ("able", &[]),
        ] {
            assert_eq!(find(index, query), entries, "{state}: {query}");
        }
    });
}
