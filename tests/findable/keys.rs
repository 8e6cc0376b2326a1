//! Does anything but text lead to a hit: a key, an id, an escape, a signature, base64?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sessionary::{Freshness, Index, Indexer};

use super::oracle::{Condition, Oracle};
use super::{Place, copy_fixtures, copy_real, rules};
use sessionary::model::Expr;

/// What stands for every text.
const TEXT: &str = "quux";

fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(members) => members.iter().for_each(|member| keys_of(member, keys)),
        Value::Object(members) => {
            for (key, member) in members {
                keys.insert(key.clone());
                keys_of(member, keys);
            }
        }
        _ => {}
    }
}

fn names_no_text(key: &str) -> bool {
    let key = key.to_lowercase();
    key == "id"
        || ["id", "signature", "hash", "data"]
            .iter()
            .any(|end| key.ends_with(end))
}

/// The same line with every text replaced, but for types, roles and what is no text by its key;
/// these are collected.
fn neutral(key: &str, value: &Value, within: bool, others: &mut BTreeSet<String>) -> Value {
    match value {
        Value::Array(members) => members
            .iter()
            .map(|member| neutral(key, member, within, others))
            .collect(),
        Value::Object(members) => {
            // In arguments and unknown places an id may be what the talk is about.
            let within = within || matches!(key, "arguments" | "input");
            // What a custom entry calls its data is text.
            let custom = members.get("type").is_some_and(|kind| kind == "custom");
            let replaced = members.iter().map(|(key, member)| {
                let inner = within || custom && key == "data";
                (key.clone(), neutral(key, member, inner, others))
            });
            Value::Object(replaced.collect())
        }
        Value::String(text) if !within && matches!(key, "type" | "role") => json!(text),
        Value::String(text) if !within && names_no_text(key) && key != "modelId" => {
            others.insert(text.clone());
            json!(text)
        }
        Value::String(_) => json!(TEXT),
        Value::Number(_) if !within && matches!(key, "version" | "v" | "schema_version") => {
            value.clone()
        }
        Value::Number(_) => json!(0),
        _ => value.clone(),
    }
}

/// All fixtures and some more, without any text but [`TEXT`]; their keys, and their ids and the
/// like.
fn neutral_corpus() -> (Place, BTreeSet<String>, BTreeSet<String>) {
    let (from, to) = (Place::new(), Place::new());
    copy_fixtures(&from);
    copy_real(&from, 200_000);
    let (mut keys, mut others) = (BTreeSet::new(), BTreeSet::new());
    for format in ["pi", "clido"] {
        let folder = from.root(format);
        for (_, path) in from.files().into_iter().filter(|(of, _)| *of == format) {
            let content = fs::read(&path).unwrap();
            let mut lines = String::new();
            for line in content.split(|byte| *byte == b'\n') {
                let Ok(value) = serde_json::from_slice::<Value>(line) else {
                    continue;
                };
                keys_of(&value, &mut keys);
                if value.is_object() {
                    lines.push_str(&format!("{}\n", neutral("", &value, false, &mut others)));
                }
            }
            let path = to.root(format).join(path.strip_prefix(&folder).unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, lines).unwrap();
        }
    }
    (to, keys, others)
}

fn typed(text: &str) -> Option<String> {
    let fit = !text.contains('"') && !text.ends_with('\\') && rules::read(text).positions > 0;
    fit.then(|| format!("\"{text}\""))
}

#[test]
fn no_key_and_no_id_is_found() {
    let (place, keys, others) = neutral_corpus();
    for known in [
        "type",
        "parentId",
        "toolCallId",
        "isError",
        "firstKeptEntryId",
        "content_hash",
        "tool_use_id",
        "cacheRead",
    ] {
        assert!(keys.contains(known), "the fixtures have no key {known}");
    }
    assert!(
        keys.len() > 80 && others.len() > 50,
        "{} {}",
        keys.len(),
        others.len()
    );
    for state in ["nothing indexed", "all indexed"] {
        if state == "all indexed" {
            Indexer::open(&place.config()).unwrap().sync().unwrap();
        }
        let index = Index::open(&place.config(), Freshness::Check).unwrap();
        assert!(
            place.search(&index, TEXT).len() > 200,
            "{state}: the corpus holds no text"
        );
        let mut found = Vec::new();
        for text in keys
            .iter()
            .chain(&others)
            .filter(|text| text.as_str() != "0" && text.as_str() != TEXT)
        {
            let Some(query) = typed(text) else { continue };
            if let Some((path, entry, _)) = place.search(&index, &query).into_iter().next() {
                let path = path
                    .strip_prefix(place.root("pi").parent().unwrap())
                    .unwrap()
                    .display()
                    .to_string();
                found.push(format!("{text} in {path}:{entry}"));
            }
        }
        assert!(found.is_empty(), "{state}: {found:#?}");
    }
}

/// With the texts as they are, a key is found where it is a word of the text and nowhere else.
#[test]
fn keys_are_found_as_words_of_text_only() {
    let place = Place::new();
    copy_fixtures(&place);
    let mut keys = BTreeSet::new();
    for (_, path) in place.files() {
        for line in fs::read(path).unwrap().split(|byte| *byte == b'\n') {
            if let Ok(value) = serde_json::from_slice::<Value>(line) {
                keys_of(&value, &mut keys);
            }
        }
    }
    let oracle = Oracle::read(&place);
    Indexer::open(&place.config()).unwrap().sync().unwrap();
    let index = Index::open(&place.config(), Freshness::Check).unwrap();
    for key in &keys {
        let Some(query) = typed(key) else { continue };
        assert_eq!(
            place.search(&index, &query),
            oracle.search(&Condition::Text(Expr::Phrase(key.clone()))),
            "{key}"
        );
    }
}

/// One line of everything that is no text.
#[test]
fn escapes_signatures_and_base64_are_not_found() {
    let place = Place::new();
    let letters = "QWxhZGRpbjpvcGVuIHNlc2FtZQ".repeat(20);
    let wrapped: String = letters
        .as_bytes()
        .chunks(76)
        .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
        .collect();
    let lines = [
        json!({"type": "session", "version": 3, "id": "sessionid77", "cwd": "/w", "timestamp": "2026-01-05T09:00:01.000Z"}),
        json!({"type": "message", "id": "entryid77", "parentId": "parentid77", "message": {"role": "assistant", "responseId": "resp77", "content": [
            {"type": "thinking", "thinking": "plain", "thinkingSignature": "thinksig77"},
            {"type": "text", "text": "see data:image/png;base64,aW1hZ2U3Nw== here", "textSignature": "textsig77"},
            {"type": "image", "data": "aW1hZ2VkYXRh", "mimeType": "image/png"},
            {"type": "toolCall", "id": "callid77", "name": "read", "thoughtSignature": "thoughtsig77", "arguments": {"blob": letters}},
        ]}}),
        json!({"type": "message", "id": "entryid78", "parentId": "entryid77", "message": {"role": "toolResult", "toolCallId": "callid77", "toolName": "read",
            "content": [{"type": "text", "text": letters}, {"type": "text", "text": wrapped}, {"type": "image", "data": "aW1hZ2VkYXRh", "mimeType": "image/webp"}],
            "details": {"blob": wrapped, "taskId": "taskid77", "encryptedContent": "sealed77", "resumeToken": "resume77", "approvalUrl": "approve77"}, "isError": true}}),
        json!({"type": "label", "id": "entryid79", "parentId": "entryid78", "targetId": "targetid77", "label": ["one", {"inner": "two"}]}),
        json!({"type": "compaction", "id": "entryid80", "parentId": "entryid79", "firstKeptEntryId": "keptid77", "summary": {"text": "three"}, "tokensBefore": 5}),
    ];
    let mut content: String = lines.iter().map(|line| format!("{line}\n")).collect();
    content.push_str("{\"type\":\"message\",\"id\":\"entryid81\",\"message\":{\"role\":\"user\",\"content\":\"\\u00e9clair\\nfoo\\tbar\\rbaz\\\\qux \\\"end\\\"\"}}\n");
    place.write("w/one.jsonl", content);
    let clido = "{\"type\":\"meta\",\"session_id\":\"clidoid77\",\"schema_version\":1,\"start_time\":\"2026-01-05T09:00:00Z\",\"project_path\":\"/w\"}
{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"},{\"type\":\"tool_result\",\"tool_use_id\":\"useid77\",\"content\":[{\"type\":\"text\",\"text\":\"four\\nfive\"}],\"is_error\":false}]}
{\"type\":\"tool_result\",\"tool_use_id\":\"useid77\",\"content\":\"done\",\"is_error\":false,\"content_hash\":\"hash77\",\"mtime_nanos\":77}
";
    fs::create_dir_all(place.root("clido").join("w")).unwrap();
    fs::write(place.root("clido").join(Path::new("w/c.jsonl")), clido).unwrap();

    for state in ["nothing indexed", "all indexed"] {
        if state == "all indexed" {
            Indexer::open(&place.config()).unwrap().sync().unwrap();
        }
        let index = Index::open(&place.config(), Freshness::Check).unwrap();
        for text in [
            "eclair", "foo", "bar", "baz", "qux", "end", "plain", "see", "here", "read", "one",
            "two", "three", "hello", "four", "five", "done",
        ] {
            assert!(
                !place.search(&index, text).is_empty(),
                "{state}: {text} is not found"
            );
        }
        let nothing = [
            "sessionid77",
            "entryid77",
            "parentid77",
            "resp77",
            "thinksig77",
            "textsig77",
            "thoughtsig77",
            "callid77",
            "taskid77",
            "sealed77",
            "resume77",
            "approve77",
            "targetid77",
            "keptid77",
            "entryid81",
            "clidoid77",
            "useid77",
            "hash77",
            "77",
            "aW1hZ2U3Nw",
            "aW1hZ2VkYXRh",
            "QWxh*",
            "image",
            "png",
            "base64",
            "u00e9clair",
            "u00e9",
            "00e9",
            "nfoo",
            "tbar",
            "rbaz",
            "n",
            "t",
            "true",
            "false",
            "null",
            "inner",
            "tool_result",
            "toolresult",
            "assistant",
            "webp",
        ];
        let found: Vec<&str> = nothing
            .into_iter()
            .filter(|text| !place.search(&index, text).is_empty())
            .collect();
        assert!(found.is_empty(), "{state}: {found:?}");
    }
}
