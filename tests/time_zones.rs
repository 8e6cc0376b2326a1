//! Are days and times those of the reader's zone, whatever the clock does there?

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Zones, and the days there on which the clock was put forward and back in 2026, with their hours.
const ZONES: [(&str, &[(&str, i64)]); 6] = [
    ("UTC", &[("2026-03-29", 24)]),
    ("Asia/Tokyo", &[("2026-11-22", 24)]),
    ("Asia/Kolkata", &[("2026-03-29", 24)]),
    ("Europe/Berlin", &[("2026-03-29", 23), ("2026-10-25", 25)]),
    (
        "America/New_York",
        &[("2026-03-08", 23), ("2026-11-01", 25)],
    ),
    // Half an hour forward in October, back in April.
    (
        "Australia/Lord_Howe",
        &[("2026-10-04", 0), ("2026-04-05", 0)],
    ),
];

const QUARTER_MS: i64 = 15 * 60 * 1000;

/// A session with an answer in every quarter of an hour of some days around each change of a clock.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-03-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    let mut parent = "null".to_owned();
    let days = ZONES.iter().flat_map(|(_, days)| *days);
    let mut days: Vec<&str> = days.map(|(day, _)| *day).collect();
    days.sort_unstable();
    days.dedup();
    for day in days {
        let midnight: jiff::Timestamp = format!("{day}T00:00:00Z").parse().expect("a day");
        for quarter in -80..180 {
            let ms = midnight.as_millisecond() + quarter * QUARTER_MS;
            let time = sessionary::model::iso(ms).expect("a time");
            let id = format!("e{}", ms / QUARTER_MS);
            lines.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{time}\",\"message\":{{\
                 \"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"tick\"}}],\"provider\":\"p\",\"model\":\"m\",\
                 \"usage\":{{\"input\":1,\"output\":{},\"cost\":{{\"total\":0.5}}}}}}}}\n",
                ms / QUARTER_MS
            ));
            parent = format!("\"{id}\"");
        }
    }
    sandbox.write(".pi/agent/sessions/--w--/s.jsonl", &lines);
    sandbox.settle();
    sandbox
}

fn json(sandbox: &Sandbox, zone: &str, arguments: &[&str]) -> Value {
    let output = sandbox.command(arguments).env("TZ", zone).output();
    let output = output.expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

fn count(sandbox: &Sandbox, zone: &str, filter: &str) -> u64 {
    let found = json(sandbox, zone, &["--json", "search", "--limit", "1", filter]);
    found["total"].as_u64().expect("a total")
}

#[test]
fn a_day_is_the_readers_and_filters_facets_and_reports_agree_on_it() {
    let sandbox = sandbox();
    for (zone, days) in ZONES {
        let facets = [
            "--json",
            "search",
            "--limit",
            "1",
            "--facets",
            "role:assistant",
        ];
        let facets = &json(&sandbox, zone, &facets)["facets"];
        assert_eq!(facets["timezone"], zone);
        let reported = "SELECT local_day, answers FROM usage_by_local_day";
        let reported = json(&sandbox, zone, &["--json", "sql", reported]);
        let entries =
            "SELECT local_day(time_ms), count(*) FROM entries WHERE kind = 'message' GROUP BY 1";
        let entries = json(&sandbox, zone, &["--json", "sql", entries]);
        let of_facets = facets["days"].as_array().expect("days").iter();
        let of_facets = of_facets.map(|day| serde_json::json!([day["value"], day["count"]]));
        let of_facets = Value::Array(of_facets.collect());
        assert_eq!(of_facets, reported["rows"], "{zone}");
        assert_eq!(of_facets, entries["rows"], "{zone}");
        for (day, hours) in days {
            let found = count(&sandbox, zone, &format!("on:{day}"));
            let pair = serde_json::json!([day, found]);
            let rows = reported["rows"].as_array().expect("rows");
            assert!(rows.contains(&pair), "{zone}: {pair} in {rows:?}");
            let quarters = match hours {
                // Forward, and back.
                0 if day.contains("-10-") => 94,
                0 => 98,
                hours => u64::try_from(hours * 4).expect("hours"),
            };
            assert_eq!(found, quarters, "{zone} {day}");
            let rest = count(&sandbox, zone, &format!("before:{day} role:assistant"))
                + count(&sandbox, zone, &format!("after:{day} role:assistant"));
            let all = count(&sandbox, zone, "role:assistant");
            assert_eq!(found + rest, all, "{zone} {day}");
        }
    }
}

const ENTRY: &str = "{\"type\":\"message\",\"id\":\"ID\",\"parentId\":null,\"timestamp\":\"TIME\",\"message\":{\"role\":\"user\",\"content\":\"tick\"}}\n";

/// A session with an entry at each of these times.
fn with_entries(times: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"{}\",\"cwd\":\"/w\"}}\n",
        times[0]
    );
    for (at, time) in times.iter().enumerate() {
        let entry = ENTRY.replace("ID", &format!("e{at}"));
        lines.push_str(&entry.replace("TIME", time));
    }
    sandbox.write(".pi/agent/sessions/--w--/s.jsonl", &lines);
    sandbox.settle();
    sandbox
}

#[test]
fn an_entry_is_found_on_the_day_that_the_reader_remembers() {
    let sandbox = with_entries(&["2025-11-21T20:00:00.000Z"]);
    for (zone, day) in [
        ("Asia/Tokyo", "2025-11-22"),
        ("UTC", "2025-11-21"),
        // One index, whatever the zone of whoever wrote it.
        ("America/New_York", "2025-11-21"),
        (":Asia/Tokyo", "2025-11-22"),
        ("JST-9", "2025-11-22"),
        ("", "2025-11-21"),
    ] {
        assert_eq!(count(&sandbox, zone, &format!("on:{day}")), 1, "{zone}");
        let other = format!("tick (-on:{day})");
        assert_eq!(count(&sandbox, zone, &other), 0, "{zone}");
    }
    let run = |zone: &str, arguments: &[&str]| {
        let output = sandbox.command(arguments).env("TZ", zone).output();
        let output = output.expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    assert!(run("Asia/Tokyo", &["show", "s"]).contains("user · 2025-11-22 05:00 ·"));
    assert!(run("Asia/Tokyo", &["show", "s", "--utc"]).contains("user · 2025-11-21 20:00 ·"));
    assert!(run("Asia/Tokyo", &["tree", "s"]).contains("2025-11-22 05:00"));
    assert!(run("Asia/Tokyo", &["list", "--all"]).contains("2025-11-22"));
    assert!(run("Asia/Kolkata", &["export", "s"]).contains("- Began: `2025-11-22 01:30 +05:30`"));
    assert!(run("UTC", &["export", "s"]).contains("- Began: `2025-11-21 20:00 UTC`"));
    let since = ["list", "--all", "--since", "2025-11-22", "--json"];
    assert_eq!(json(&sandbox, "Asia/Tokyo", &since)["total"], 1);
    assert_eq!(json(&sandbox, "UTC", &since)["total"], 0);
    // JSON is of no zone.
    let row = &json(&sandbox, "Asia/Tokyo", &["list", "--all", "--json"])["sessions"][0];
    assert_eq!(row["created"], "2025-11-21T20:00:00.000Z");
    assert_eq!(row["created_ms"], 1_763_755_200_000_i64);
    assert_eq!(row["modified_ms"], 1_763_755_200_000_i64);
    let shown = json(&sandbox, "Asia/Tokyo", &["show", "s", "--json"]);
    assert_eq!(shown["entries"][0]["time"], "2025-11-21T20:00:00.000Z");
    assert_eq!(shown["entries"][0]["time_ms"], 1_763_755_200_000_i64);
}

#[test]
fn the_configuration_goes_before_the_variable_and_utc_before_both() {
    let sandbox = with_entries(&["2025-11-21T20:00:00.000Z"]);
    let config = |text: &str| sandbox.write(".config/sessionary/config.toml", text);
    config("timezone = \"Asia/Tokyo\"\n");
    assert_eq!(count(&sandbox, "America/New_York", "on:2025-11-22"), 1);
    let utc = json(
        &sandbox,
        "America/New_York",
        &["--utc", "--json", "search", "on:2025-11-21"],
    );
    assert_eq!(utc["total"], 1);
    let settings = &json(&sandbox, "UTC", &["config", "show", "--json"])["settings"];
    let timezone = serde_json::json!({"value": "Asia/Tokyo", "source": "config"});
    assert_eq!(settings["timezone"], timezone);
    config("timezone = \"Tokyo\"\n");
    let refused = sandbox.run(&["list"]);
    assert!(refused.contains("\"Tokyo\" is no time zone"), "{refused}");
    assert!(refused.contains("did you mean Asia/Tokyo?"), "{refused}");
}

#[test]
fn a_zone_that_cannot_be_read_is_said_and_it_is_utc() {
    let sandbox = with_entries(&["2025-11-21T20:00:00.000Z"]);
    let zone = "Asia/Tokio\u{1b}[31m";
    let output = sandbox
        .command(&["--json", "search", "on:2025-11-21"])
        .env("TZ", zone)
        .output()
        .expect("it runs");
    let warning = "TZ is no time zone: \"Asia/Tokio\\u{1b}[31m\"; times are in UTC";
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(answer["total"], 1);
    let notes = answer["notes"].as_array().expect("notes");
    assert!(
        notes
            .iter()
            .any(|note| note.as_str().is_some_and(|note| note.starts_with(warning)))
    );
}

#[test]
fn today_is_one_day_on_all_pages_of_a_search() {
    let times = [
        "2026-01-05T20:00:00.000Z",
        "2026-01-05T21:00:00.000Z",
        "2026-01-05T22:00:00.000Z",
    ];
    let sandbox = with_entries(&times);
    let page = |now: &str, more: &[&str]| {
        let asked = [
            "--now",
            now,
            "--json",
            "search",
            "--every-copy",
            "--limit",
            "1",
            "on:today",
        ];
        json(&sandbox, "Europe/Berlin", &[&asked[..], more].concat())
    };
    let mut seen = std::collections::BTreeSet::new();
    let mut take = |page: &Value| {
        assert_eq!(page["total"], 3, "{page}");
        let entry = page["sessions"][0]["hits"][0]["entry"]
            .as_str()
            .expect("a hit");
        assert!(seen.insert(entry.to_owned()), "{entry}");
        page["cursor"].as_str().map(str::to_owned)
    };
    let first = take(&page("2026-01-05T22:59:00Z", &[])).expect("a cursor");
    // After midnight in Berlin.
    let second = take(&page("2026-01-05T23:01:00Z", &["--cursor", &first])).expect("a cursor");
    assert_eq!(
        take(&page("2026-01-07T23:01:00Z", &["--cursor", &second])),
        None
    );
    // Elsewhere it is another question.
    let elsewhere = [
        "--json",
        "search",
        "--every-copy",
        "--limit",
        "1",
        "on:today",
        "--cursor",
        &first,
    ];
    let refused = sandbox.command(&elsewhere).env("TZ", "Asia/Tokyo").output();
    assert_eq!(refused.expect("it runs").status.code(), Some(2));
}

#[test]
fn reports_are_of_the_readers_zone_whoever_writes_the_index() {
    let sandbox = sandbox();
    let config = |zone: &str| {
        let roots = vec![sessionary::RootSpec::new(
            "pi",
            sandbox.home.join(".pi/agent/sessions"),
        )];
        let mut config = sessionary::Config::new(sandbox.home.join("index"), roots);
        config.zone = sessionary::model::Zone::named(zone).expect("a zone");
        config
    };
    let days = |zone: &str, query: &str| {
        let index = sessionary::Index::open(&config(zone), sessionary::Freshness::AsCommitted);
        index
            .expect("an index")
            .sql(query, &[])
            .expect("an answer")
            .rows
    };
    let by_view = "SELECT local_day, answers FROM usage_by_local_day";
    let by_row = "SELECT local_day, count(*) FROM usage GROUP BY local_day";
    let by_function = "SELECT local_day(time_ms), count(*) FROM usage GROUP BY 1";
    let dump = "SELECT entry, time_ms, day FROM usage";
    // Who writes lives in Tokyo, and holds the index.
    let mut writer = sessionary::Indexer::open(&config("Asia/Tokyo")).expect("the index");
    writer.sync().expect("a sync");
    let all = days("UTC", dump);
    for (zone, _) in ZONES {
        let expected = days(zone, by_function);
        assert_eq!(days(zone, by_view), expected, "{zone}");
        assert_eq!(days(zone, by_row), expected, "{zone}");
        assert_eq!(days(zone, dump), all, "{zone}");
    }
    assert_ne!(days("UTC", by_view), days("Asia/Tokyo", by_view));
    drop(writer);
    // Other tools see the days of the last writer.
    let stored = || {
        let path = config("UTC").catalogue_path();
        let file = rusqlite::Connection::open(path).expect("the catalogue");
        let mut rows = file
            .prepare("SELECT local_day, answers FROM usage_by_local_day")
            .expect("a view");
        let rows = rows.query_map([], |r| {
            Ok(serde_json::json!([
                r.get::<_, String>(0)?,
                r.get::<_, i64>(1)?
            ]))
        });
        Value::Array(rows.expect("rows").map(|row| row.expect("a row")).collect())
    };
    assert_eq!(stored(), serde_json::json!(days("Asia/Tokyo", by_view)));
    let verified = |zone| {
        let index = sessionary::Index::open(&config(zone), sessionary::Freshness::AsCommitted);
        index
            .expect("an index")
            .verify()
            .expect("a verdict")
            .differences
    };
    assert_eq!(verified("Asia/Tokyo"), []);
    assert_eq!(verified("Europe/Berlin"), []);
    drop(sessionary::Indexer::open(&config("Europe/Berlin")).expect("the index"));
    assert_eq!(stored(), serde_json::json!(days("Europe/Berlin", by_view)));
}
