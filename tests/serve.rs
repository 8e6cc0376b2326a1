//! Does `serve` answer what the commands print, whoever asks how?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::{Config, Index};

use crate::lines::{Talk, error, pi_session};
use crate::sandbox::Sandbox;

/// Three sessions about a linker, one of them elsewhere.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let said = [
        ("user", "why does the linker fail"),
        ("assistant", "a symbol is missing"),
    ];
    pi_session(
        &home,
        "0199a",
        "code/parser",
        "2026-01-02T09:00:00.000Z",
        &said,
    );
    pi_session(
        &home,
        "0199b",
        "code/parser",
        "2026-01-03T09:00:00.000Z",
        &said[..1],
    );
    pi_session(
        &home,
        "0199c",
        "code/other",
        "2026-01-04T09:00:00.000Z",
        &said,
    );
    home.settle();
    home
}

fn greeted(home: &Sandbox) -> Talk {
    let mut talk = Talk::start(home, &["serve"], &[]);
    assert_eq!(talk.result("hello", json!({"protocol": 1}))["protocol"], 1);
    talk
}

#[test]
fn answers_are_those_of_the_commands() {
    let home = home();
    let mut talk = greeted(&home);
    let here = home.cwd.clone();
    let pairs: [(&str, Value, &[&str]); 9] = [
        ("list", json!({}), &["list", "--all"]),
        (
            "list",
            json!({"here": here, "sort": "created", "reverse": true}),
            &["list", "--sort", "created", "--reverse"],
        ),
        (
            "list",
            json!({"since": "2026-01-03", "with_text": true}),
            &["list", "--all", "--since", "2026-01-03", "--with-text"],
        ),
        (
            "list",
            json!({"max_bytes": 1500}),
            &["list", "--all", "--max-bytes", "1500"],
        ),
        (
            "search",
            json!({"query": "linker symbol", "facets": true}),
            &["search", "linker symbol", "--facets"],
        ),
        (
            "search",
            json!({"query": "linker", "here": here, "limit": 1}),
            &["search", "linker", "--here", "--limit", "1"],
        ),
        (
            "show",
            json!({"address": "0199a:e1", "context": 1}),
            &["show", "0199a:e1", "--context", "1"],
        ),
        (
            "tree",
            json!({"session": "0199c", "filter": "user-only"}),
            &["tree", "0199c", "--filter", "user-only"],
        ),
        ("resume", json!({"session": "0199c"}), &["resume", "0199c"]),
    ];
    for (method, params, arguments) in pairs {
        let mut result = talk.result(method, params);
        let mut printed = home.json(&[arguments, &["--json"]].concat());
        // Each goes on with its own cursor.
        for answer in [&mut result, &mut printed] {
            answer.as_object_mut().unwrap().remove("cursor");
        }
        assert_eq!(result, printed, "{arguments:?}");
    }
    let status = talk.result("freshness", json!({}));
    assert_eq!(
        (&status["sessions"], &status["unread"]),
        (&json!(3), &json!(0))
    );
    // A page goes on where the one before ended.
    let first = talk.result("list", json!({"max_bytes": 1500}));
    let rest = talk.result("list", json!({"cursor": first["cursor"]}));
    let ids = |list: &Value| -> Vec<String> {
        let rows = list["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        [ids(&first), ids(&rest)].concat(),
        ["0199c", "0199b", "0199a"]
    );
    // A limit is that of a page, too.
    let (mut listed, mut cursor) = (Vec::new(), json!(null));
    loop {
        let params = json!({"limit": 1, "max_bytes": 9_000, "cursor": cursor});
        let page = talk.result("list", params);
        listed.push(ids(&page));
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(listed, [["0199c"], ["0199b"], ["0199a"]]);
    assert!(talk.end().1.success());
}

#[test]
fn what_cannot_be_answered_is_said_and_the_talk_goes_on() {
    let home = home();
    let secret = home.write("secret.json", r#"{"type":"session","id":"zz"}"#);
    let mut talk = Talk::start(&home, &["serve"], &[]);
    // Without a version that both speak there is no talk.
    let (code, said) = talk.error("list", json!({}));
    assert!(code == -32600 && said.contains("hello"), "{said}");
    for version in [0, 2] {
        let answer = talk.ask("hello", json!({"protocol": version}));
        assert_eq!(error(&answer).0, -32022, "{answer}");
        let spoken = json!({"kind": "usage", "supported": [1], "requested": version});
        assert_eq!(answer["error"]["data"], spoken);
    }
    assert_eq!(talk.error("list", json!({})).0, -32600);
    talk.result("hello", json!({"protocol": 1, "client": "test"}));
    // Lines that are none.
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    for (line, code) in [
        ("{\"a", -32700),
        ("\u{1b}[31m", -32700),
        ("[]", -32600),
        (&long, -32600),
    ] {
        talk.send(line);
        let answer = talk.next();
        assert_eq!(
            (error(&answer).0, &answer["id"]),
            (code, &Value::Null),
            "{answer}"
        );
    }
    assert_eq!(talk.error("forget", json!({})).0, -32601);
    assert_eq!(talk.error("list", json!({"limt": 1})).0, -32602);
    assert_eq!(talk.error("search", json!({})).0, -32602);
    assert_eq!(talk.error("search", json!({"query": "/(/"})).0, -32602);
    assert_eq!(talk.error("list", json!({"here": "code"})).0, -32602);
    let answer = talk.ask("show", json!({"address": "nothing:e1"}));
    assert_eq!(answer["error"]["data"]["kind"], "not_found", "{answer}");
    // A file is no session because it lies somewhere.
    let answer = talk.ask("show", json!({"address": secret}));
    assert_eq!(answer["error"]["data"]["kind"], "not_found", "{answer}");
    assert_eq!(talk.result("list", json!({}))["total"], 3);
    assert!(talk.end().1.success());
}

#[test]
fn one_of_two_searches_is_called_off() {
    let home = home();
    let mut talk = greeted(&home);
    // The first look at the files is still to come, so both are on their way.
    let search = |id: u32, query: &str| json!({"jsonrpc": "2.0", "id": id, "method": "search", "params": {"query": query}});
    let cancel = |id: u32| json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}});
    let (one, two) = (search(101, "/l.n*k[a-f]r/"), search(102, "linker"));
    talk.send(&format!("{one}\n{two}\n{}\n{}", cancel(101), cancel(7)));
    let answers = talk.answers(2);
    assert_eq!(error(&answers["101"]).0, -32800);
    assert_eq!(answers["102"]["result"]["total_sessions"], 3);
    // The same id may be used again.
    talk.send(&search(101, "symbol").to_string());
    assert_eq!(talk.next()["result"]["total_sessions"], 2);
    assert!(talk.end().1.success());
}

#[test]
fn who_does_not_read_holds_up_no_more_than_memory_allows() {
    let home = home();
    let long = "lorem ipsum dolor ".repeat(20_000);
    pi_session(
        &home,
        "0199d",
        "code/parser",
        "2026-01-05T09:00:00.000Z",
        &[("user", &long)],
    );
    home.settle();
    let mut talk = greeted(&home);
    talk.result("list", json!({}));
    let resident = |id: u32| -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    };
    let show = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "show", "params": {"address": "0199d"}});
    let before = resident(talk.id());
    // Seventy megabytes of answers, of which nothing is read.
    for id in 1000..1200 {
        talk.send(&show(id).to_string());
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    if let Some((before, after)) = before.zip(resident(talk.id())) {
        assert!(after < before + (40 << 10), "{before} kB, then {after} kB");
    }
    // It ends with its input, though what it has to say was not taken: that is an error.
    assert_eq!(talk.leave().code(), Some(2));
}

/// Lines that are none, parameters of any type, questions that are called off, and sessions that
/// come and go meanwhile: each request gets one answer, and none is an error of our own.
#[test]
fn each_of_many_odd_requests_is_answered_once() {
    let home = home();
    let mut talk = greeted(&home);
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let comes = home.home.join(".pi/agent/sessions/--x--/0199e.jsonl");
    let (list, show) = (["limit", "here", "since"], ["address", "context"]);
    let methods: [(&str, &[&str]); 8] = [
        ("list", &list),
        ("search", &["query", "limit"]),
        ("show", &show),
        ("tree", &["session"]),
        ("resume", &["session"]),
        ("freshness", &[]),
        ("subscribe", &["since"]),
        ("no such", &list),
    ];
    let values = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!([{}]),
        json!({"a": 1}),
        json!("0199a"),
        json!("0199e:e0"),
        json!("(((\u{0}\""),
        json!("a".repeat(9000)),
        json!("/etc/passwd"),
    ];
    let lines = [
        "{",
        "[]",
        "null",
        "\u{feff}{}",
        r#"{"jsonrpc":"2.0","id":[1],"method":"list"}"#,
    ];
    let (mut asked, mut strange) = (0, 0);
    for turn in 0..400 {
        match random.random_range(0..10) {
            0 => {
                talk.send(lines[random.random_range(0..lines.len())]);
                strange += 1;
            }
            1 => {
                let id = random.random_range(0..asked + 1);
                let cancel = json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}});
                talk.send(&cancel.to_string());
            }
            2 => {
                let said = [("user", "a linker that comes and goes")];
                match comes.exists() {
                    true => fs::remove_file(&comes).unwrap(),
                    false => pi_session(&home, "0199e", "code", "2026-01-05T09:00:00.000Z", &said),
                }
            }
            _ => {
                let (method, names) = methods[turn % methods.len()];
                let of = |name: &&str| {
                    let value = values[random.random_range(0..values.len())].clone();
                    ((*name).to_owned(), value)
                };
                let params: serde_json::Map<String, Value> = names.iter().map(of).collect();
                talk.send(&request(asked, method, params.into()));
                asked += 1;
            }
        }
    }
    let (mut answered, mut refused) = (BTreeMap::<u64, u32>::new(), 0);
    while answered.len() < asked || refused < strange {
        let answer = talk.next();
        assert_ne!(answer["error"]["code"], -32603, "{answer}");
        match answer["id"].as_u64() {
            Some(id) => *answered.entry(id).or_default() += 1,
            None => refused += usize::from(answer.get("id").is_some()),
        }
    }
    assert!(answered.values().all(|times| *times == 1), "{answered:?}");
    // What is left is news.
    let (left, status) = talk.end();
    let is_news = |line: &String| line.contains(r#""method":"change""#);
    assert!(status.success() && left.iter().all(is_news), "{left:?}");
}

/// A home with a session whose transcript has two megabytes.
fn long_home() -> Sandbox {
    let home = home();
    let long = "lorem ipsum dolor ".repeat(120_000);
    pi_session(
        &home,
        "0199d",
        "code/parser",
        "2026-01-05T09:00:00.000Z",
        &[("user", &long)],
    );
    home.settle();
    home
}

fn request(id: usize, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The answers by their ids, of which each has one.
fn by_id(lines: &[String]) -> BTreeMap<u64, Value> {
    let mut all = BTreeMap::new();
    for line in lines {
        let answer: Value = serde_json::from_str(line).unwrap();
        let id = answer["id"].as_u64().unwrap();
        assert!(all.insert(id, answer).is_none(), "{id} is answered twice");
    }
    all
}

#[test]
fn who_asks_much_and_reads_later_gets_every_answer() {
    let home = long_home();
    let mut talk = greeted(&home);
    talk.result("list", json!({}));
    let show = |id| request(id, "show", json!({"address": "0199d"}));
    let forget = |id| request(id, "forget", json!({}));
    let search = |id| request(id, "search", json!({"query": "linker"}));
    let asked = (1000..1004).map(show);
    let asked = asked.chain((2000..12_000).map(forget));
    let asked: Vec<String> = asked.chain((20_000..30_000).map(search)).collect();
    let (lines, ended) = talk.flood(asked.join("\n") + "\n");
    assert!(ended.success());
    let answers = by_id(&lines);
    assert_eq!(answers.len(), asked.len());
    for (id, answer) in answers {
        match id {
            2000..12_000 => assert_eq!(error(&answer).0, -32601),
            20_000.. if answer.get("error").is_some() => {
                // Where the machine has much else to do, some are not done in time.
                let kind = answer["error"]["data"]["kind"].as_str();
                assert!(matches!(kind, Some("busy" | "cancelled")), "{answer}");
            }
            _ => assert!(answer["result"].is_object()),
        }
    }
}

#[test]
fn a_request_that_was_called_off_is_answered_though_much_waits_to_be_read() {
    let home = long_home();
    let mut talk = greeted(&home);
    talk.result("list", json!({}));
    // One is being printed, one waits to be, and four threads have one more each.
    for id in 1000..1008 {
        talk.send(&request(id, "show", json!({"address": "0199d"})));
    }
    std::thread::sleep(Duration::from_millis(500));
    talk.send(r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1007}}"#);
    let (lines, ended) = talk.end();
    assert!(ended.success());
    let answers = by_id(&lines);
    assert_eq!(answers.len(), 8);
    assert_eq!(error(&answers[&1007]).0, -32800);
    assert_eq!(answers[&1007]["error"]["data"]["kind"], "cancelled");
}

#[test]
fn who_reads_slowly_gets_all_of_it_after_the_end() {
    let home = long_home();
    let mut talk = greeted(&home);
    talk.result("list", json!({}));
    for id in 1000..1004 {
        talk.send(&request(id, "show", json!({"address": "0199d"})));
    }
    let (said, ended) = talk.end_slowly(Duration::from_millis(10));
    assert!(ended.success());
    let said = String::from_utf8(said).unwrap();
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(by_id(&lines).len(), 4);
}

/// As a pipe into a program that starts slowly, and a script that writes all before it reads.
#[test]
fn who_begins_to_read_late_gets_all_of_it() {
    let home = long_home();
    let mut talk = greeted(&home);
    talk.result("list", json!({}));
    for id in 1000..1004 {
        talk.send(&request(id, "show", json!({"address": "0199d"})));
    }
    // What was not read before the end is no sign that nobody will.
    std::thread::sleep(Duration::from_millis(1_500));
    let (lines, ended) = talk.end_late(Duration::from_millis(1_500));
    assert!(ended.success());
    assert_eq!(by_id(&lines).len(), 4);
}

#[test]
fn what_is_asked_by_a_long_text_is_refused() {
    let home = home();
    let mut talk = greeted(&home);
    let (colons, words) = ("a:".repeat(50_000), "walrus ".repeat(30_000));
    for (method, params) in [
        ("show", json!({"address": colons})),
        ("tree", json!({"session": colons})),
        ("resume", json!({"session": colons})),
        ("search", json!({"query": words})),
    ] {
        let (code, said) = talk.error(method, params);
        assert_eq!(code, -32602, "{said}");
        assert!(said.contains("8192 are the most"), "{said}");
    }
    // As long as it may be.
    let answer = talk.ask("show", json!({"address": &colons[..8192]}));
    assert_eq!(answer["error"]["data"]["kind"], "not_found", "{answer}");
    talk.result("search", json!({"query": &words[..8192]}));
    assert!(talk.end().1.success());
}

#[test]
fn an_error_tells_its_kind_and_advises_what_a_program_can_do() {
    let home = home();
    let mut talk = greeted(&home);
    for (method, params, kind, hints) in [
        ("forget", json!({}), "usage", None),
        ("list", json!({"limt": 1}), "usage", None),
        ("search", json!({"query": "/(/"}), "usage", Some(json!([]))),
        (
            "show",
            json!({"address": "nothing"}),
            "not_found",
            Some(json!([])),
        ),
        (
            "show",
            json!({"address": "0199"}),
            "ambiguous",
            Some(json!(["0199a", "0199b", "0199c"])),
        ),
    ] {
        let mut answer = talk.ask(method, params);
        if let Some(Value::Array(hints)) = answer.pointer_mut("/error/data/hints") {
            hints.sort_by_key(Value::to_string);
        }
        let data = &answer["error"]["data"];
        assert_eq!(data["kind"], kind, "{answer}");
        assert_eq!(data.get("hints"), hints.as_ref());
    }
    let (_, said) = talk.error("list", json!({"since": "banana"}));
    assert_eq!(said, "since banana: not a time");
    let answer = talk.ask("list", json!({"max_bytes": 10}));
    let hint = answer["error"]["data"]["hints"][0].as_str().unwrap();
    assert!(hint.starts_with("max_bytes "), "{hint}");
    talk.send("{");
    assert_eq!(talk.next()["error"]["data"]["kind"], "usage");
    assert!(talk.end().1.success());
}

#[test]
fn what_was_asked_last_is_answered_before_the_end() {
    let home = home();
    let mut talk = Talk::start(&home, &["serve"], &[]);
    talk.send(r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}"#);
    talk.send(r#"{"jsonrpc":"2.0","id":"two","method":"search","params":{"query":"linker"}}"#);
    let (lines, ended) = talk.end();
    assert!(ended.success());
    let last: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!((&last["id"], lines.len()), (&json!("two"), 2));
    assert_eq!(last["result"]["total_sessions"], 3);
}

/// Numbers of the feed start again in an index that was rebuilt.
#[test]
fn a_number_of_another_index_is_told_apart() {
    let home = home();
    let mut talk = greeted(&home);
    let told = talk.result("subscribe", json!({}));
    let (seq, index_id) = (told["seq"].as_i64(), told["index_id"].clone());
    assert!(
        seq.is_some_and(|seq| seq > 0) && index_id.is_string(),
        "{told}"
    );
    assert_eq!(
        talk.result("subscribe", json!({"since": seq, "index_id": index_id})),
        told
    );
    let other = json!({"since": seq, "index_id": "another"});
    talk.send(&request(7, "subscribe", other));
    let mut next = [talk.next(), talk.next()];
    next.sort_by_key(|line| line["id"].is_null());
    let missed = json!({"missed": true});
    assert_eq!((&next[0]["id"], &next[1]["params"]), (&json!(7), &missed));
    // What is answered is of the index that is there: who keeps it is not told that again.
    assert_eq!(next[0]["result"], told);
    let beyond = json!({"since": seq.unwrap() + 1});
    talk.send(&request(8, "subscribe", beyond));
    let mut next = [talk.next(), talk.next()];
    next.sort_by_key(|line| line["id"].is_null());
    assert_eq!((&next[0]["result"], &next[1]["params"]), (&told, &missed));
    assert_eq!(
        talk.result("subscribe", json!({"since": seq, "index_id": index_id})),
        told
    );
    assert!(talk.end().1.success());
}

#[test]
fn changes_are_told_as_they_are_committed() {
    let home = home();
    let mut talk = greeted(&home);
    talk.result("subscribe", json!({}));
    pi_session(
        &home,
        "0199e",
        "code",
        "2026-01-05T09:00:00.000Z",
        &[("user", "walrus")],
    );
    let change = talk.next();
    assert_eq!(
        (&change["method"], &change["params"]["id"]),
        (&json!("change"), &json!("0199e"))
    );
    let schema = fs::read_to_string(kept_schema()).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let about = &schema["notifications"]["change"];
    let others = [json!({"missed": true}), json!({"ended": "no more"})];
    for told in others.iter().chain([&change["params"]]) {
        keeps_to(told, about, &schema, "change");
    }
    // What else has changed is told between.
    talk.send(r#"{"jsonrpc":"2.0","id":"w","method":"search","params":{"query":"walrus"}}"#);
    let answer = std::iter::repeat_with(|| talk.next()).find(|line| line["id"] == "w");
    let found = &answer.unwrap()["result"];
    assert_eq!(found["total_sessions"], 1, "{found}");
    assert!(talk.end().1.success());
}

#[test]
fn changes_are_told_though_the_process_that_watched_was_killed() {
    let home = home();
    let config = Config::new(home.home.join(".cache/sessionary"), Vec::new());
    let mut first = greeted(&home);
    first.result("subscribe", json!({}));
    first.result("list", json!({}));
    let waits = std::thread::spawn(move || Index::wait_while_watched(&config));
    let mut second = greeted(&home);
    second.result("subscribe", json!({}));
    second.result("list", json!({}));
    assert!(!waits.is_finished(), "the first one watches");
    first.kill();
    pi_session(
        &home,
        "0199e",
        "code",
        "2026-01-05T09:00:00.000Z",
        &[("user", "walrus")],
    );
    assert_eq!(second.next()["params"]["id"], "0199e");
    assert!(second.end().1.success());
    // The second one may have gone on watching before anybody else saw that the first had ended.
    waits.join().unwrap();
}

#[test]
fn who_is_told_nothing_more_hears_why() {
    let home = home();
    let mut talk = greeted(&home);
    talk.result("subscribe", json!({}));
    talk.result("list", json!({}));
    // Another process syncs by other rules of what is left out.
    home.write(".config/sessionary/config.toml", "exclude = [\"0199c*\"]\n");
    drop(home.run(&["sync"]));
    let mut ended = None;
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(50));
        talk.send(&request(1, "list", json!({"as_committed": true})));
        let told = std::iter::repeat_with(|| talk.next()).take_while(|line| line["id"] != 1);
        let told: Vec<Value> = told.map(|line| line["params"].clone()).collect();
        ended = told.into_iter().find(|told| told.get("ended").is_some());
        if ended.is_some() {
            break;
        }
    }
    let why = json!({"ended": "other settings are in force by now"});
    assert_eq!(ended, Some(why.clone()));
    // Whoever asks for changes later hears it too.
    talk.send(&request(2, "subscribe", json!({})));
    let mut told: Vec<Value> = [talk.next(), talk.next()].into();
    told.sort_by_key(|line| line["id"].is_null());
    assert_eq!((&told[0]["id"], &told[1]["params"]), (&json!(2), &why));
    assert!(talk.end().1.success());
}

fn kept_schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/serve.schema.json")
}

#[test]
fn the_schema_is_that_of_the_documents_and_answers_keep_to_it() {
    let home = home();
    let printed = String::from_utf8(home.output(&["serve", "--schema"]).stdout).unwrap();
    let kept = fs::read_to_string(kept_schema()).unwrap();
    assert!(
        printed == kept,
        "`sessionary serve --schema > docs/serve.schema.json` writes it again"
    );
    let schema: Value = serde_json::from_str(&kept).unwrap();
    let mut talk = Talk::start(&home, &["serve"], &[]);
    for (method, params) in [
        ("hello", json!({"protocol": 1})),
        ("list", json!({"with_text": true})),
        (
            "search",
            json!({"query": "linker symbol", "facets": true, "explain": true, "context": 1}),
        ),
        ("search", json!({"query": "linker"})),
        ("show", json!({"address": "0199a"})),
        ("tree", json!({"session": "0199a"})),
        ("resume", json!({"session": "0199a"})),
        ("freshness", json!({})),
        ("subscribe", json!({})),
        ("unsubscribe", json!({})),
    ] {
        let about = &schema["methods"][method];
        keeps_to(&params, &about["params"], &schema, method);
        keeps_to(
            &talk.result(method, params),
            &about["result"],
            &schema,
            method,
        );
    }
    assert!(talk.end().1.success());
}

/// Checks a value against as much of JSON Schema as the types make.
fn keeps_to(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = root.pointer(name.trim_start_matches('#'));
        return keeps_to(value, schema.unwrap_or_else(|| panic!("{name}")), root, at);
    }
    for name in ["anyOf", "oneOf"] {
        if let Some(all) = schema[name].as_array() {
            let fits =
                |one: &Value| std::panic::catch_unwind(|| keeps_to(value, one, root, at)).is_ok();
            assert!(all.iter().any(fits), "{at}: {value} is none of {all:?}");
        }
    }
    let is_of = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        kind => kind == "null" && value.is_null(),
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        Value::Null => Vec::new(),
        kind => vec![kind.clone()],
    };
    assert!(
        kinds.is_empty() || kinds.iter().any(is_of),
        "{at}: {value} is no {kinds:?}"
    );
    let allowed = schema["enum"].as_array();
    assert!(
        allowed.is_none_or(|all| all.contains(value)),
        "{at}: {value}"
    );
    let constant = schema.get("const");
    assert!(constant.is_none_or(|one| one == value), "{at}: {value}");
    if let (Some(members), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        let required = schema["required"].as_array().into_iter().flatten();
        required
            .for_each(|name| assert!(members.contains_key(name.as_str().unwrap()), "{at}: {name}"));
        for (name, member) in members {
            let schema = known
                .get(name)
                .unwrap_or_else(|| panic!("{at}: {name} is not in it"));
            keeps_to(member, schema, root, &format!("{at}.{name}"));
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        let schema = schema["prefixItems"]
            .get(number)
            .unwrap_or(&schema["items"]);
        keeps_to(item, schema, root, &format!("{at}[{number}]"));
    }
}

/// Runs a script that uses a client; `None`: there is nothing to run it with.
fn with_client(home: &Sandbox, program: &str, folder: &str, script: &str) -> Option<Value> {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/clients");
    let file = home.write(&format!("{folder}/script"), "");
    fs::write(
        &file,
        script.replace("CLIENTS", &clients.display().to_string()),
    )
    .unwrap();
    let output = Command::new(program)
        .args(if program == "node" {
            &["--input-type=module", "-"][..]
        } else {
            &["-"]
        })
        .stdin(fs::File::open(&file).unwrap())
        .stderr(Stdio::inherit())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home.home)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PROGRAM", env!("CARGO_BIN_EXE_sessionary"))
        .current_dir(&home.cwd)
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no `{program}`");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    Some(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")))
}

/// What each script does with its client.
fn told(home: &Sandbox) -> Value {
    json!({
        "protocol": 1,
        "found": ["0199c", "0199a"],
        "refused": -32602,
        "called off": -32800,
        "change": home.home.join(".pi/agent/sessions/--x--/0199f.jsonl"),
        "no server": true,
        "other version": [-32022, "ended"],
        // Half an emoji is; what is no JSON is not, nor a line that is too long.
        "not understood": [null, -32700, -32600],
    })
}

#[test]
fn a_client_in_node() {
    let home = home();
    let session = r#"{"type":"session","version":3,"id":"0199f","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/"}"#;
    let script = r#"
        import { readFileSync, writeFileSync } from 'node:fs'
        const { Sessionary } = await import('CLIENTS/sessionary.mjs')
        const client = await Sessionary.start({ program: process.env.PROGRAM })
        const stop = new AbortController()
        const slow = client.ask('search', { query: '/l.n*k[a-f]r/' }, { signal: stop.signal })
        stop.abort()
        const calledOff = await slow.catch((error) => error.code)
        const answer = await client.ask('search', { query: 'missing symbol' })
        const refused = await client.ask('list', { limt: 1 }).catch((error) => error.code)
        // Deeper than any request.
        const deep = JSON.parse('['.repeat(500) + ']'.repeat(500))
        const notUnderstood = []
        for (const query of ['linker \ud83d', deep, 'x'.repeat(1 << 20)]) {
          const never = new Promise((resolve) => setTimeout(resolve, 60_000).unref())
          const asked = client.ask('search', { query }).then(() => null, (error) => error.code)
          notUnderstood.push(await Promise.race([asked, never]))
        }
        const change = new Promise((resolve) => (client.onChange = resolve))
        await client.ask('subscribe')
        writeFileSync(process.env.HOME + '/.pi/agent/sessions/--x--/0199f.jsonl', `SESSION\n`)
        const { path } = await change
        // A program that says something else.
        writeFileSync('serve', 'console.log("hello"); setTimeout(() => {}, 60_000)')
        const noServer = await Sessionary.start({ program: process.execPath }).catch((error) => error)
        // One of another version, which goes on for ten minutes.
        const refusal = { jsonrpc: '2.0', id: 1, error: { code: -32022, message: 'another' } }
        writeFileSync('serve', `
          require('node:fs').writeFileSync('pid', String(process.pid))
          process.stdin.once('data', () => console.log(${JSON.stringify(JSON.stringify(refusal))}))
          setTimeout(() => {}, 600_000)
        `)
        const other = await Sessionary.start({ program: process.execPath }).catch((error) => error.code)
        const isLeft = () => {
          try {
            return process.kill(Number(readFileSync('pid', 'utf8')), 0)
          } catch {
            return false
          }
        }
        for (let tries = 0; tries < 600 && isLeft(); tries++)
          await new Promise((resolve) => setTimeout(resolve, 100))
        console.log(JSON.stringify({
          protocol: client.server.protocol, 'no server': noServer instanceof Error,
          'other version': [other, isLeft() ? 'left' : 'ended'],
          found: answer.sessions.map((group) => group.session.id),
          refused, 'called off': calledOff, change: path, 'not understood': notUnderstood,
        }))
        client.close()
    "#;
    if let Some(said) = with_client(&home, "node", "js", &script.replace("SESSION", session)) {
        assert_eq!(said, told(&home));
    }
}

#[test]
fn a_client_in_python() {
    let home = home();
    let session = r#"{"type":"session","version":3,"id":"0199f","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/"}"#;
    let script = r#"
import json, os, queue, sys
sys.path.insert(0, "CLIENTS")
from sessionary import Refused, Sessionary

def code(ask, *arguments):
    try:
        ask(*arguments)
    except Refused as refused:
        return refused.code

def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True

changes = queue.Queue()

def on_change(change):
    # Whoever is told of a change asks what it is.
    client.begin("list")[1].result(60)
    changes.put(change)

with Sessionary(os.environ["PROGRAM"], on_change=on_change) as client:
    # Whoever does not wait for an answer keeps nobody else from theirs.
    client.begin("search", query="linker")[1].cancel()
    number, slow = client.begin("search", query="/l.n*k[a-f]r/")
    client.cancel(number)
    called_off = code(slow.result)
    answer = client.ask("search", query="missing symbol")
    refused = code(lambda: client.ask("list", limt=1))
    # Deeper than any request.
    deep = json.loads("[" * 500 + "]" * 500)
    odd = ["linker \ud83d", deep, "x" * (1 << 20)]
    not_understood = [code(client.begin("search", query=query)[1].result, 60) for query in odd]
    client.ask("subscribe")
    with open(os.environ["HOME"] + "/.pi/agent/sessions/--x--/0199f.jsonl", "w") as file:
        file.write("""SESSION""" + "\n")
    # A program that says something else.
    with open("serve", "w") as file:
        file.write("import time; print('hello', flush=True); time.sleep(60)")
    try:
        no_server = Sessionary(sys.executable) is None
    except ConnectionError:
        no_server = True
    # One of another version, which goes on for ten minutes.
    refusal = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "another"}}
    with open("serve", "w") as file:
        file.write("import os, sys, time\n")
        file.write("with open('pid', 'w') as pid: pid.write(str(os.getpid()))\n")
        file.write(f"sys.stdin.readline(); print({json.dumps(refusal)!r}, flush=True); time.sleep(600)")
    other = code(Sessionary, sys.executable)
    with open("pid") as pid:
        refuser = int(pid.read())
    print(json.dumps({
        "protocol": client.server["protocol"], "no server": no_server,
        "other version": [other, "left" if is_there(refuser) else "ended"],
        "found": [group["session"]["id"] for group in answer["sessions"]],
        "refused": refused, "called off": called_off, "change": changes.get(timeout=90)["path"],
        "not understood": not_understood,
    }))
"#;
    if let Some(said) = with_client(&home, "python3", "py", &script.replace("SESSION", session)) {
        assert_eq!(said, told(&home));
    }
}

/// What it sends may wait for the server, which may wait until its answers are taken.
#[test]
fn a_client_in_python_takes_answers_while_it_sends() {
    let home = home();
    let script = r#"
import json, sys
sys.path.insert(0, "CLIENTS")
from sessionary import Sessionary

# A server that reads the last request only when its answer to the one before was taken.
with open("serve", "w") as file:
    file.write("""
import json, os, select, sys, time

def line():
    read = b""
    while not read.endswith(b"\\n"):
        read += os.read(0, 1)
    return json.loads(read)

def answer(asked):
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}), flush=True)

answer(line())
before = line()
# It is being sent, and more than a pipe holds.
select.select([0], [], [])
answer(before)
until = time.monotonic() + 30
while not os.path.exists("taken"):
    if time.monotonic() > until:
        sys.exit("its answer was not taken")
    time.sleep(0.01)
answer(json.loads(sys.stdin.readline()))
""")
with Sessionary(sys.executable) as client:
    before = client.begin("before")[1]
    before.add_done_callback(lambda answer: open("taken", "w").close())
    print(json.dumps(client.ask("last", text="x" * 1_000_000)))
"#;
    if let Some(said) = with_client(&home, "python3", "py", script) {
        assert_eq!(said, json!({}));
    }
}
