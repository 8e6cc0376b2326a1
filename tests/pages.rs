//! Do programs get no more bytes than they ask for, and all of it page by page, while files grow?

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const FILE: &str = ".pi/agent/sessions/--w--/one.jsonl";

/// A message of pi's.
fn message(id: &str, parent: &str, text: &str) -> String {
    let parent = (!parent.is_empty()).then_some(parent);
    let line = json!({"type": "message", "id": id, "parentId": parent,
        "timestamp": "2026-01-05T09:00:01.000Z", "message": {"role": "user", "content": text}});
    format!("{line}\n")
}

fn header(id: &str) -> String {
    let line = json!({"type": "session", "version": 3, "id": id,
        "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
    format!("{line}\n")
}

/// A session of forty messages, in a line.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let mut text = header("one");
    for at in 0..40 {
        let parent = match at {
            0 => String::new(),
            at => format!("m{}", at - 1),
        };
        text += &message(&format!("m{at}"), &parent, &format!("said \u{202e}{at}"));
    }
    home.write(FILE, &text);
    home
}

fn append(home: &Sandbox, line: &str) {
    let file = OpenOptions::new().append(true).open(home.home.join(FILE));
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("a line");
}

/// The names of all members of the list `list`, of pages of at most so many bytes. After each page
/// `meanwhile` is called with its number.
fn pages(
    home: &Sandbox,
    arguments: &[&str],
    (list, name): (&str, &str),
    most: usize,
    mut meanwhile: impl FnMut(usize),
) -> Vec<String> {
    let (most_text, mut names, mut cursor) = (most.to_string(), Vec::new(), None);
    for number in 0.. {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--json", "--max-bytes", &most_text]);
        let goes_on: Option<String> = cursor.take();
        if let Some(cursor) = &goes_on {
            arguments.extend(["--cursor", cursor]);
        }
        let output = home.output(&arguments);
        assert!(output.stdout.len() <= most, "{arguments:?}");
        let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let members = page[list].as_array().expect("a list");
        names.extend(members.iter().map(|member| match member[name].as_str() {
            Some(name) => name.to_owned(),
            None => member[name].to_string(),
        }));
        meanwhile(number);
        match page["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return names,
        }
        assert!(!members.is_empty() && number < 100, "{page}");
    }
    names
}

fn messages(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|at| format!("m{at}")).collect()
}

#[test]
fn a_transcript_goes_on_where_it_ended_while_its_file_grows() {
    let home = home();
    let shown = |meanwhile: &mut dyn FnMut(usize)| {
        pages(&home, &["show", "one"], ("entries", "id"), 3_000, meanwhile)
    };
    assert_eq!(shown(&mut |_| {}), messages(0..40));
    // It grows, then goes on from an earlier message: what the new branch has in common with the
    // old one is not shown again.
    let all = shown(&mut |page| match page {
        0 => append(&home, &message("m40", "m39", "more")),
        2 => append(&home, &message("m41", "m20", "another way")),
        _ => {}
    });
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(all[..20], messages(0..20));
    assert_eq!(all.last().map(String::as_str), Some("m41"));
}

#[test]
fn a_tree_loses_no_row_that_comes_in_between() {
    let home = home();
    append(&home, &message("m40", "m3", "another branch"));
    let all = pages(&home, &["tree", "one"], ("entries", "id"), 4_000, |page| {
        if page == 1 {
            append(&home, &message("m41", "m1", "between"));
            append(&home, &message("m42", "m39", "below the first branch"));
        }
    });
    let unique: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(unique, messages(0..43).into_iter().collect());
    assert_eq!(all.len(), 43);
}

#[test]
fn a_list_loses_no_session_that_is_written_meanwhile() {
    let home = Sandbox::new();
    let file = |at: usize| format!(".pi/agent/sessions/--w--/{at:02}.jsonl");
    for at in 0..30 {
        let id = format!("m{at}");
        let path = home.write(&file(at), &(header(&id) + &message("a", "", "hello")));
        home.touch(&path, 1_767_600_000 + at as u64);
    }
    for arguments in [
        &["list", "--all"][..],
        &["list", "--all", "--sort", "modified"],
    ] {
        let all = pages(&home, arguments, ("sessions", "id"), 4_000, |page| {
            // One that was shown, and one that was not.
            for at in [29, 2].into_iter().filter(|_| page == 1) {
                let line = message("b", "a", "more");
                home.write(
                    &file(at),
                    &(header(&format!("m{at}")) + &message("a", "", "x") + &line),
                );
            }
        });
        assert_eq!(all.len(), 30, "{all:?}");
        let unique: BTreeSet<String> = all.into_iter().collect();
        assert_eq!(unique, messages(0..30).into_iter().collect());
    }
    let first = home.json(&[
        "list",
        "--all",
        "--json",
        "--limit",
        "3",
        "--max-bytes",
        "0",
    ]);
    assert_eq!(first["sessions"].as_array().map(Vec::len), Some(3));
    let cursor = first["cursor"].as_str().expect("a cursor");
    let next = home.json(&[
        "list", "--all", "--json", "--limit", "3", "--cursor", cursor,
    ]);
    assert_ne!(first["sessions"][0]["id"], next["sessions"][0]["id"]);
    let other = home.run(&["list", "--all", "--errors", "--json", "--cursor", cursor]);
    assert!(
        other.contains("exit Some(2)") && other.contains("belongs to another"),
        "{other}"
    );
}

#[test]
fn what_the_model_sees_comes_in_pages_too() {
    let home = home();
    let all = pages(
        &home,
        &["context", "one"],
        ("messages", "content"),
        600,
        |page| {
            if page == 1 {
                append(&home, &message("m40", "m39", "said \u{202e}40"));
            }
        },
    );
    let said: Vec<String> = (0..41).map(|at| format!("said \u{202e}{at}")).collect();
    assert_eq!(all, said);
}

#[test]
fn a_single_text_that_is_too_long_is_cut_and_named() {
    let home = Sandbox::new();
    let long = "\u{1b}[31m\"quoted\"\n日本 ".repeat(40_000);
    home.write(
        FILE,
        &(header("one") + &message("m0", "", &long) + &message("m1", "m0", "short")),
    );
    for (verb, list, cut) in [
        ("show", "entries", json!(["firstMessage", "text"])),
        ("context", "messages", json!(["messages"])),
    ] {
        let arguments = [verb, "one", "--json", "--max-bytes", "5000"];
        let output = home.output(&arguments);
        assert!((4_900..=5_000).contains(&output.stdout.len()), "{verb}");
        let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (&page["cut"], page[list].as_array().map(Vec::len)),
            (&cut, Some(1))
        );
        let cursor = page["cursor"].as_str().expect("a cursor");
        let next = home.json(&[&arguments[..], &["--cursor", cursor]].concat());
        assert_eq!(
            (&next["cursor"], next[list].as_array().map(Vec::len)),
            (&Value::Null, Some(1))
        );
        let refused = home.run(&[verb, "one", "--json", "--max-bytes", "60"]);
        assert!(refused.contains("the shortest answer takes"), "{refused}");
        let least = refused
            .split_whitespace()
            .find_map(|word| word.parse::<usize>().ok());
        let least = least.expect("the least number").to_string();
        let shortest = home.output(&[verb, "one", "--json", "--max-bytes", &least]);
        assert!(
            shortest.stdout.len() <= least.parse().expect("a number"),
            "{verb} {least}"
        );
        assert!(shortest.status.success(), "{verb} {least}");
    }
}

#[test]
fn the_fields_that_are_asked_for_as_json_and_as_values() {
    let home = home();
    home.write(
        ".pi/agent/sessions/--w--/two.jsonl",
        &(header("two") + &message("a", "", "a\tb\\c\nd\u{1b}[31m")),
    );
    let list = home.json(&["list", "--all", "--json", "--fields", "messageCount,id"]);
    let of = |id: &str, count: u64| json!({"id": id, "messageCount": count});
    let mut sessions = list["sessions"].as_array().cloned().expect("sessions");
    sessions.sort_by_key(|row| row["id"].to_string());
    assert_eq!(
        (sessions, &list["cursor"]),
        (vec![of("one", 40), of("two", 1)], &Value::Null)
    );
    assert!(list.get("cursor").is_none());
    let tsv = [
        "list",
        "--all",
        "--tsv",
        "--header",
        "--fields",
        "id,firstMessage,name",
    ];
    let lines = String::from_utf8(home.output(&tsv).stdout).expect("text");
    assert!(lines.starts_with("id\tfirstMessage\tname\n"), "{lines}");
    assert!(
        lines.contains("two\ta\\tb\\\\c\\nd\\u001b[31m\t\n"),
        "{lines}"
    );
    let hits = [
        "search",
        "said",
        "--limit",
        "1",
        "--fields",
        "address,session.id",
    ];
    let answer = home.json(&[&hits[..], &["--json"]].concat());
    let group = json!({"session": {"id": "one"}, "hits": [{"address": answer["sessions"][0]["hits"][0]["address"]}]});
    assert_eq!(answer["sessions"], json!([group]));
    let lines = String::from_utf8(home.output(&[&hits[..], &["--tsv"]].concat()).stdout);
    assert!(lines.is_ok_and(|lines| lines.starts_with("one:m") && lines.ends_with("\tone\n")));
    let rows = home
        .output(&["tree", "one", "--tsv", "--fields", "id"])
        .stdout;
    assert_eq!(String::from_utf8_lossy(&rows).lines().count(), 40);
    let entries = home.json(&["show", "one", "--json", "--fields", "id,role"]);
    assert_eq!(entries["entries"][1], json!({"id": "m1", "role": "user"}));
    let context = home.json(&["context", "one", "--json", "--fields", "role"]);
    assert_eq!(context["messages"][3], json!({"role": "user"}));
    for wrong in [
        &["list", "--json", "--fields", "nmae"][..],
        &["search", "x", "--json", "--fields", "session.idd"],
        &["show", "one", "--json", "--fields", "roel"],
    ] {
        let refused = home.run(wrong);
        assert!(
            refused.contains("did you mean") && refused.contains("exit Some(2)"),
            "{refused}"
        );
    }
    let refused = home.run(&["list", "--fields", "id"]);
    assert!(
        refused.contains("--fields needs --json or --tsv"),
        "{refused}"
    );
}

#[test]
fn what_a_query_finds_stands_out_in_a_transcript() {
    let home = Sandbox::new();
    let text = "A walrus\nand\tanother WALRUS, not a walrusette";
    home.write(FILE, &(header("one") + &message("m0", "", text)));
    let show = |query: &str| {
        let output = home.output(&["show", "one", "--color", "always", "--highlight", query]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mark = |text: &str| format!("\u{1b}[1;33m{text}\u{1b}[0m");
    let shown = show("walrus -seal role:user");
    let marked = format!(
        "A {}\nand    another {}, not a walrusette\n",
        mark("walrus"),
        mark("WALRUS")
    );
    assert!(shown.contains(&marked), "{shown}");
    assert!(show("walrus another").contains(&mark("another")));
    assert!(!show("role:user").contains("1;33m"));
    let plain = home.run(&["show", "one", "--highlight", "walrus"]);
    assert_eq!(plain, home.run(&["show", "one"]));
    let refused = home.run(&["show", "one", "--highlight", "/(/"]);
    assert!(refused.contains("exit Some(2)"), "{refused}");
}

#[test]
fn what_cannot_be_given_is_refused() {
    let home = home();
    for typed in [
        // Lines have no cursor that would tell of the rest.
        &[
            "list",
            "--all",
            "--tsv",
            "--fields",
            "id",
            "--max-bytes",
            "60",
        ][..],
        &["list", "--all", "--jsonl", "--max-bytes", "60"],
        &["show", "one", "--tsv", "--fields", "id", "--cursor", "p1-"],
        &[
            "tree",
            "one",
            "--tsv",
            "--fields",
            "id",
            "--max-bytes",
            "60",
        ],
        &[
            "context",
            "one",
            "--tsv",
            "--fields",
            "role",
            "--max-bytes",
            "60",
        ],
        &[
            "search",
            "said",
            "--tsv",
            "--fields",
            "entry",
            "--max-bytes",
            "600",
        ],
        // An answer that people read has neither.
        &["search", "said", "--max-bytes", "600"],
        &["search", "said", "--cursor", "x"],
        &["search", "said", "--max-bytes", "0"],
        &["list", "--all", "--max-bytes", "0"],
        &["tree", "one", "--max-bytes", "0"],
        &["list", "--all", "--provisional"],
        &["list", "--as", "pi", "--jsonl", "--provisional"],
        // The bytes of a file have no neighbours, and are never cut.
        &["show", "one", "--raw", "--context", "3"],
        &["show", "one", "--raw", "--full"],
        &["list", "--all", "--dir"],
        &["list", "--project", "app", "--dir"],
        &["list", "--as", "pi", "--jsonl", "--model", "m"],
        // Nor have they columns, and a table of values has no colours and no facets.
        &["show", "one", "--raw", "--tsv"],
        &["show", "one", "--highlight", "said", "--tsv"],
        &["search", "said", "--facets", "--tsv"],
        &["search", "said", "--facets", "--jsonl"],
        // There are no such fields.
        &["context", "one", "--json", "--fields", "foo"],
        &["list", "--all", "--json", "--fields", "id.x"],
        &["list", "--all", "--json", "--fields", "resume.nope"],
        &[
            "search",
            "said",
            "--json",
            "--fields",
            "session.resume.nope",
        ],
        &["list", "--all", "--cursor", "x", "--json"],
    ] {
        let refused = home.run(typed);
        assert!(refused.contains("exit Some(2)"), "{typed:?}: {refused}");
        assert!(!refused.contains("search cursor"), "{refused}");
    }
    for typed in [
        &["list", "--all", "--json", "--fields", "resume.cwd,own.x"][..],
        &[
            "search",
            "said",
            "--json",
            "--fields",
            "at.line,session.resume.argv",
        ],
        // An option that every verb has may stand before it.
        &["--json", "search", "said", "--max-bytes", "6000"],
        &["--json", "show", "one", "--max-bytes", "6000"],
        &["--json", "tree", "one", "--max-bytes", "6000"],
        &["--json", "context", "one", "--max-bytes", "6000"],
        &["--json", "list", "--all", "--max-bytes", "6000"],
        &["--json", "list", "--all", "--provisional"],
    ] {
        assert!(home.output(typed).status.success(), "{typed:?}");
    }
    for (typed, meant) in [
        (&["list", "--fields", "session,title"][..], "`id`"),
        (&["list", "--fields", "project"], "`cwd`"),
        (&["list", "--fields", "messages"], "`messageCount`"),
        (&["search", "x", "--fields", "text"], "`snippet`"),
        (&["search", "x", "--fields", "date"], "`session.modified`"),
    ] {
        let refused = home.run(&[typed, &["--tsv"]].concat());
        let said = format!("did you mean {meant}?");
        assert!(refused.contains(&said), "{refused}");
    }
    // Without names lines of values have the columns of a table, and lines of JSON all fields.
    let printed = |typed: &[&str]| String::from_utf8(home.output(typed).stdout).expect("text");
    for (typed, header) in [
        (&["list", "--all"][..], "id\tagent\tmodified\tcwd\ttitle\n"),
        (&["search", "said"], "address\trole\ttime\tsnippet\n"),
    ] {
        let lines = printed(&[typed, &["--tsv", "--header"]].concat());
        assert!(lines.starts_with(header), "{lines}");
        let fields: Vec<&str> = header.trim_end().split('\t').take(2).collect();
        let json = printed(&[typed, &["--jsonl", "--fields", &fields.join(",")]].concat());
        assert_eq!(json.lines().count(), lines.lines().count() - 1, "{json}");
        for line in json.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let named: Vec<&String> = line.as_object().expect("an object").keys().collect();
            assert_eq!(named.len(), 2, "{line}");
            assert!(!line[fields[0]].is_null(), "{line}");
        }
    }
    let text = ["list", "--all", "--tsv", "--fields", "allMessagesText"];
    let all = String::from_utf8(home.output(&text).stdout).expect("text");
    assert!(all.contains("said"), "{all:?}");
    assert_eq!(
        home.output(&[&text[..], &["--with-text"]].concat()).stdout,
        all.as_bytes()
    );
}
