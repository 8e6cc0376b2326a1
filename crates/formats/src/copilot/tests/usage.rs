//! What runs and sessions took, with and without records of usage.

use serde_json::{Value, json};

use super::{event, own, read, related};
use crate::model::{Facts, SessionFacts};

/// The end of a run, with input, output and what was read from the cache of each model.
fn end(models: &[(&str, [i64; 3])]) -> Value {
    let metrics = models.iter().map(|(model, [input, output, read])| {
        let usage = json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": read});
        ((*model).to_owned(), json!({ "usage": usage }))
    });
    let metrics: serde_json::Map<String, Value> = metrics.collect();
    event("session.shutdown", json!({ "modelMetrics": metrics }))
}

type Row<'f> = (Option<&'f str>, [Option<i64>; 3]);

/// Models and their input, output and cache reads; the same from a fold that was saved.
fn usage_of(events: &[Value]) -> (SessionFacts, Vec<Facts>) {
    let (session, entries) = related(events, false);
    assert_eq!(related(events, true), (session.clone(), entries.clone()));
    (session, entries)
}

fn rows(entries: &[Facts]) -> Vec<Row<'_>> {
    let usage = entries.iter().flat_map(Facts::all_usage);
    usage
        .map(|of| (of.model.as_deref(), [of.input, of.output, of.cache_read]))
        .collect()
}

/// Runs of versions without records count from 0, each of its own: what was taken since the last
/// end of the run is the usage of the next one.
#[test]
fn no_usage_record() {
    let read = read("shutdown-totals");
    assert_eq!(own(&read, "copilotVersion"), "0.0.400");
    let (a, b) = ("model-a", "model-b");
    let events = [
        event("session.start", json!({})),
        end(&[(a, [100, 10, 40])]),
        end(&[(a, [150, 15, 40])]),
        // It says the same again.
        end(&[(a, [150, 15, 40])]),
        event("session.resume", json!({})),
        end(&[(a, [300, 30, 0]), (b, [0, 0, 0])]),
        event("session.resume", json!({})),
        end(&[(a, [20, 2, 0]), (b, [5, 1, 0])]),
        // Nothing was asked.
        event("session.resume", json!({})),
        end(&[]),
    ];
    let (session, entries) = usage_of(&events);
    let row =
        |model, [input, output, read]: [i64; 3]| (model, [Some(input), Some(output), Some(read)]);
    assert_eq!(
        rows(&entries),
        [
            row(Some(a), [60, 10, 40]),
            row(Some(a), [50, 5, 0]),
            row(Some(a), [300, 30, 0]),
            row(Some(a), [20, 2, 0]),
            row(Some(b), [5, 1, 0]),
        ]
    );
    assert_eq!(session.tokens, Some(165 + 330 + 28));
    assert_eq!(session.model.as_deref(), Some(a));
}

/// The runs of versions without records count from 0 in all that they say (as another reader's
/// tests have it of real numbers, "adds per-lifetime shutdowns written by older CLIs"), later ones
/// count on.
#[test]
fn what_all_runs_took_is_the_sessions_own() {
    let ended = |model: [i64; 3], requests: f64, credits: i64| {
        let mut end = end(&[("m", model)]);
        end["data"]["totalPremiumRequests"] = json!(requests);
        end["data"]["totalNanoAiu"] = json!(credits);
        end
    };
    let mut whole = ended([5000, 500, 0], 7.5, 500);
    whole["data"]["accountingSnapshot"] = json!({});
    let events = [
        event("session.start", json!({})),
        ended([500, 50, 0], 1.0, 50),
        // The same run goes on, and the next one ends without a word of requests.
        ended([1000, 100, 0], 3.0, 100),
        event("session.resume", json!({})),
        end(&[("m", [1000, 100, 0])]),
        event("session.resume", json!({})),
        ended([2000, 100, 0], 2.25, 250),
    ];
    let own = |events: &[Value]| {
        let (session, _) = usage_of(events);
        let own: Value = serde_json::from_str(&session.own.unwrap()).unwrap();
        (own, session.tokens)
    };
    let (summed, tokens) = own(&events);
    let figures = json!({"inputTokens": 4000, "outputTokens": 300, "totalPremiumRequests": 5.25,
        "totalNanoAiu": 350});
    assert_eq!((summed, tokens), (figures, Some(4300)));
    let mut later = events.to_vec();
    later.extend([event("session.resume", json!({})), whole]);
    assert_eq!(own(&later).0["totalPremiumRequests"], json!(7.5));
}

/// Rows of usage, the session's tokens, and the input that it calls its own.
fn took(events: &[Value]) -> (Vec<(String, i64, i64)>, i64, Value) {
    let (session, entries) = usage_of(events);
    let own: Value = serde_json::from_str(&session.own.unwrap()).unwrap();
    let rows = rows(&entries).into_iter();
    let rows = rows.map(|(model, [input, output, _])| {
        (model.unwrap().to_owned(), input.unwrap(), output.unwrap())
    });
    (
        rows.collect(),
        session.tokens.unwrap(),
        own["inputTokens"].clone(),
    )
}

/// As versions from 1.0.66 on resume a session, which say that it has no limits.
fn goes_on() -> Value {
    event("session.resume", json!({ "sessionLimits": null }))
}

fn uses(call: &str) -> Value {
    let usage = json!({"model": "a", "apiCallId": call, "inputTokens": 100, "outputTokens": 30});
    event("session.usage_record", json!({ "usage": usage }))
}

/// From 1.0.66 on a run goes on from the totals of the last end, so that an end says what those
/// runs took as well; of each model.
#[test]
fn a_run_may_go_on_from_the_totals_of_the_last_end() {
    let events = [
        event("session.start", json!({})),
        end(&[("a", [400, 120, 0])]),
        goes_on(),
        end(&[("a", [500, 150, 0])]),
        goes_on(),
        end(&[("a", [500, 150, 0]), ("b", [60, 6, 0])]),
        goes_on(),
        end(&[("a", [600, 180, 0]), ("b", [80, 8, 0])]),
    ];
    let row = |model: &str, input, output| (model.to_owned(), input, output);
    let expected = vec![
        row("a", 400, 120),
        row("a", 100, 30),
        row("b", 60, 6),
        row("a", 100, 30),
        row("b", 20, 2),
    ];
    assert_eq!(took(&events), (expected, 780 + 88, json!(680)));
}

/// One session may be run by versions of which some count from 0 and others go on.
#[test]
fn a_run_goes_on_from_what_another_version_took() {
    let row = ("a".to_owned(), 100, 30);
    // The third run did not end.
    let events = [
        event("session.start", json!({})),
        end(&[("a", [100, 30, 0])]),
        event("session.resume", json!({})),
        end(&[("a", [100, 30, 0])]),
        event("session.resume", json!({})),
        goes_on(),
        end(&[("a", [200, 60, 0])]),
    ];
    assert_eq!(took(&events), (vec![row; 3], 390, json!(300)));
    // The second one has records, and its end says what the session took.
    let mut whole = end(&[("a", [200, 60, 0])]);
    whole["data"]["accountingSnapshot"] = json!({});
    let events = [
        event("session.start", json!({})),
        end(&[("a", [100, 30, 0])]),
        goes_on(),
        uses("r1"),
        whole,
        goes_on(),
        end(&[("a", [300, 90, 0])]),
    ];
    let (rows, tokens, input) = took(&events);
    assert_eq!((rows.len(), tokens, input), (3, 390, json!(300)));
}

/// What has records is counted by them, whatever the end says; the end of later versions says what
/// all runs took.
#[test]
fn what_has_records_is_not_counted_at_the_end_of_its_run() {
    let uses = |call: &str| {
        let usage =
            json!({"model": "m", "apiCallId": call, "inputTokens": 100, "outputTokens": 30});
        event("session.usage_record", json!({ "usage": usage }))
    };
    let mut whole = end(&[("m", [1100, 130, 0])]);
    whole["data"]["usageAccountingWatermarks"] = json!({"s": 1});
    let events = [
        event("session.start", json!({})),
        end(&[("m", [1000, 100, 0])]),
        event("session.resume", json!({})),
        uses("r1"),
        whole.clone(),
        event("session.resume", json!({})),
        whole,
        event("session.resume", json!({})),
        uses("r2"),
        end(&[("m", [100, 30, 0])]),
    ];
    let (session, entries) = usage_of(&events);
    assert_eq!(rows(&entries).len(), 3);
    assert_eq!(session.tokens, Some(1100 + 130 + 130));
}

/// Versions that name no model in the answer name it in the results of its calls and at the end.
#[test]
fn a_model_that_no_answer_names() {
    let done = |data: Value| event("tool.execution_complete", data);
    let model = |events: &[Value]| usage_of(events).0.model;
    let (main, kid) = (
        done(json!({"model": "main"})),
        done(json!({"model": "kid", "parentToolCallId": "t"})),
    );
    assert_eq!(model(&[main.clone(), kid]).as_deref(), Some("main"));
    let ended = event("session.shutdown", json!({"currentModel": "last"}));
    assert_eq!(model(&[main.clone(), ended]).as_deref(), Some("last"));
    assert_eq!(
        model(&[main, end(&[("m", [1, 1, 0])])]).as_deref(),
        Some("main")
    );
    let many = end(&[("m", [1, 1, 0]), ("n", [1, 1, 0])]);
    assert_eq!(model(&[many]), None);
}

/// Damage: no more models are remembered than a run has, and none is counted twice.
#[test]
fn a_run_of_many_models_counts_the_first_ones() {
    let names: Vec<String> = (0..100).map(|number| format!("m{number}")).collect();
    let models: Vec<_> = names.iter().map(|name| (&**name, [1, 1, 0])).collect();
    let (_, entries) = usage_of(&[end(&models), end(&models)]);
    let counted = rows(&entries);
    assert_eq!(counted.len(), 64);
    assert!(
        counted
            .iter()
            .all(|(_, took)| *took == [Some(1), Some(1), Some(0)])
    );
    let fallen = [("m", [9, 9, 0]), ("m", [1, 1, 0]), ("m", [9, 9, 0])];
    let (_, entries) = usage_of(&fallen.map(|model| end(&[model])));
    assert_eq!(rows(&entries).len(), 1);
}

/// The first run has no record, the second one has one and its end says what both took, the third
/// one has not ended.
#[test]
fn a_record_hides_no_totals_of_before() {
    let read = read("totals-then-records");
    let recorded = read.entries.iter().filter(|facts| facts.usage.is_some());
    assert_eq!(recorded.count(), 2);
    assert_eq!(read.session.tokens, Some(1230 + 130));
}

/// One record that stands there twice counts once; two of one id that say something else count
/// both, as in `usage`.
#[test]
fn a_record_twice_counts_once() {
    let read = read("record-twice");
    assert_eq!(read.session.tokens, Some(130 + 130 + 131));
}

/// So does one that names no call, as the schema of 1.0.102 allows: its event is known.
#[test]
fn a_record_without_a_call_counts_once() {
    let uses = |id: &str| {
        let usage = json!({"model": "m", "inputTokens": 100, "outputTokens": 30});
        let mut record = event("session.usage_record", json!({ "usage": usage }));
        record["id"] = json!(id);
        record
    };
    let (session, _) = usage_of(&[uses("a"), uses("a"), uses("b")]);
    assert_eq!(session.tokens, Some(2 * 130));
}
