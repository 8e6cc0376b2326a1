//! Are words with signs, and numbers however they are spelled, found as a person means them?

use std::collections::BTreeSet;

use serde_json::json;
use sessionary::{Freshness, Index, Indexer};

use super::Place;

/// What a text is found by, and what it is not found by.
struct Case(
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const CASES: &[Case] = &[
    Case(
        "written in C++, mostly",
        &[
            "C++",
            "c++",
            "c",
            "\"in c++\"",
            "c++*",
            "c++~",
            "mostly C++",
        ],
        &["c#", "c++17", "\"c++ in\""],
    ),
    Case(
        "the letter c, vitamin C.",
        &["c", "C"],
        &["c++", "C#", ".c"],
    ),
    Case(
        "-std=c++17 and libstdc++6, g++-12",
        &["c++", "c++17", "C++17", "c", "libstdc++", "g++", "g++-12"],
        &["c++20", "c++6"],
    ),
    Case("c-17 c 17", &["c-17", "\"c 17\""], &["c++17", "c++"]),
    Case(
        "for (;; i++) { a++b; x--; NotePad++ }",
        &["i++", "i", "a", "x--", "x", "pad"],
        &["a++", "b++", "pad++"],
    ),
    Case(
        "C# (F#) and #hash, issue#123, ##",
        &["c#", "C#", "f#", "c", "hash", "#hash", "issue", "issue#123"],
        &["c++", "hash#", "issue#", "d#"],
    ),
    Case("# About c\n## And f", &["about", "c"], &["c#", "f#"]),
    Case("use std::vector;", &["std::vector", "vector"], &["std++"]),
    Case(
        ".NET and ASP.NET, .net8.0",
        &[".net", ".NET", "net", "asp.net", "ASP.NET", ".net8", "8.0"],
        &[".asp"],
    ),
    Case("ASP.NET alone", &["asp.net", "net"], &[".net"]),
    Case(
        "a net, the env. And more",
        &["net", "env"],
        &[".net", ".env", ".and"],
    ),
    Case(
        "cat src/.env ~/.gitignore '.bashrc' ..rc",
        &[
            ".env",
            "env",
            "src/.env",
            ".gitignore",
            "gitignore",
            ".bashrc",
            ".env*",
            ".git*",
        ],
        &["x.env", ".src", ".rc", ".ignore"],
    ),
    Case(
        "x.map(f)\n    .filter(g)",
        &["filter", ".filter(", "x.map"],
        &[".filter", ".map"],
    ),
    Case(
        "用C++写的，使用.NET开发，要1,234元，版本python3.12。",
        &["c++", "c", ".net", "net", "1234", "3.12"],
        &["c#"],
    ),
    Case(
        r"saved\n.env\nC++\n1.2.3",
        &[".env", "c++", "c", "1.2.3"],
        &[".c"],
    ),
    Case(
        "node.js, Vue.js and src/foo.rs",
        &["node.js", "Node.JS", "vue.js", "foo.rs"],
        &["vue.ts", ".js"],
    ),
    Case(
        "npm i @scope/pkg --no-verify $VAR gpt-4o",
        &[
            "@scope/pkg",
            "scope/pkg",
            "--no-verify",
            "\"--no-verify\"",
            "$VAR",
            "var",
            "gpt-4o",
            "npm --no-verify",
        ],
        &["-verify", "npm -no-verify"],
    ),
    Case(
        "in all 1,234,567 bytes",
        &[
            "1,234,567",
            "1_234_567",
            "1234567",
            "1'234'567",
            "234",
            "123456*",
            "1234568~",
        ],
        &["234567", "1234", "1,234", "12345678"],
    ),
    Case(
        "= 1_234_567;",
        &["1,234,567", "1_234_567", "1234567", "1'234'567"],
        &["1_234"],
    ),
    Case(
        "= 1'234'567;",
        &["1,234,567", "1_234_567", "1234567", "1'234'567"],
        &["1234"],
    ),
    Case(
        "1234567",
        &["1,234,567", "1_234_567", "1'234'567", "1234*"],
        &["234"],
    ),
    Case(
        "$1,234.56",
        &["1234", "1,234", "1,234.56", "234.56"],
        &["1234.56"],
    ),
    Case("1.234.567", &["1.234.567"], &["1234567", "1,234,567"]),
    Case(
        "10,1,234 1,234,56 1,2345 1'234,567 a1,234 1,234b 4321,567",
        &["10,1,234"],
        &["1234", "101234", "123456", "12345", "1234567", "234567"],
    ),
    Case(
        "#!/usr/bin/python3.12",
        &["3.12", "python3.12", "python3", "Python3.12"],
        &["13.12", "3.1", "2.12"],
    ),
    Case(
        "python-3.12 here",
        &["3.12", "python 3.12", "python-3.12"],
        &["python3.12"],
    ),
    Case("3.12.1", &["3.12", "3.12.1"], &["13.12", "3.12.2"]),
    Case(
        "inet 192.168.1.10/24 brd",
        &[
            "192.168",
            "192.168.1",
            "\"192.168.1\"",
            "192.168.1 AND brd",
            "192.168.1.10",
            "192.168.1.1*",
        ],
        &["192.168.10", "192.168.1.1", "192.1.10"],
    ),
    Case(
        "call fooBar v10.0.22621.2506]",
        &["10.0", "10.0.22621", "v10.0.22621", "10.0.22621.2506"],
        &["10.0.22", "v10.0.2262", "10.0.22621.25"],
    ),
    Case("13.12 python13.12", &["13.12"], &["3.12", "3.12*"]),
    Case(
        "py3.12.1 on iOS17.2",
        &["3.12", "3.12.1", "17.2", "iOS17.2", "py3.12.1", "3.12.1*"],
        &["3.12.2", "7.2", "s17.2"],
    ),
];

/// Each text as what a person said and what a tool printed, and once more with its signs written by
/// their numbers.
fn write(place: &Place) {
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "signs", "cwd": "/w",
            "timestamp": "2026-01-05T09:00:00.000Z"})
        .to_string(),
    ];
    for (number, Case(text, ..)) in CASES.iter().enumerate() {
        let content = json!([{"type": "text", "text": text}]);
        let said = json!({"role": "user", "content": &content});
        let printed = json!({"role": "toolResult", "toolCallId": "t", "content": &content});
        for (kind, message) in [("said", said), ("printed", printed)] {
            let line = json!({"type": "message", "id": format!("{kind}-{number}-"),
                "timestamp": "2026-01-05T09:00:01.000Z", "message": message})
            .to_string();
            let escaped = json!(text)
                .to_string()
                .replace('+', "\\u002b")
                .replace('#', "\\u0023")
                .replace(',', "\\u002C")
                .replace('.', "\\u002E");
            lines.push(
                line.replace(&json!(text).to_string(), &escaped)
                    .replace(&format!("-{number}-"), &format!("-{number}-escaped")),
            );
            lines.push(line);
        }
    }
    place.write("signs/signs.jsonl", lines.join("\n") + "\n");
}

fn compare(place: &Place, state: &str) {
    let index = Index::open(&place.config(), Freshness::Check).unwrap();
    let mut wrong = Vec::new();
    for (number, Case(text, finds, not)) in CASES.iter().enumerate() {
        let forms = ["said", "printed"]
            .into_iter()
            .flat_map(|kind| ["", "escaped"].map(|written| format!("{kind}-{number}-{written}")));
        let forms: Vec<String> = forms.collect();
        let queries = finds.iter().map(|query| (query, true));
        for (query, is_wanted) in queries.chain(not.iter().map(|query| (query, false))) {
            let found: BTreeSet<String> = place
                .search(&index, query)
                .into_iter()
                .map(|(_, entry, _)| entry)
                .collect();
            for form in forms
                .iter()
                .filter(|form| found.contains(*form) != is_wanted)
            {
                wrong.push(format!("{query} on {form}, {text:?}: not {is_wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{state}: {wrong:#?}");
}

#[test]
fn words_with_signs_are_found_as_they_are_meant_indexed_or_not() {
    let place = Place::new();
    write(&place);
    compare(&place, "nothing indexed");
    let mut indexer = Indexer::open(&place.config()).unwrap();
    assert_eq!(indexer.sync().unwrap().outstanding, 0);
    compare(&place, "everything indexed");
}
