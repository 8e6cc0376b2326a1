//! Which operations are tried: seeded chance, with texts and values that JavaScript writes in its
//! own way.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::script::{Operation, Script};
use super::state::quoted;

const TEXTS: [&str; 12] = [
    "hello",
    "",
    "two\nlines\r\n\tand a tab",
    "日本語 and é, e\u{301}, 🦀",
    "quotes \" and \\ and / and \u{8}\u{c}\u{1}\u{1f}\u{7f}",
    "\u{2028}\u{2029}\u{feff}\u{85}",
    "  spaces around  ",
    "a\r\n\n\rb",
    "</summary>",
    "`code` ```fence```",
    "0",
    "{\"type\":\"session\"}",
];

/// JSON texts that JavaScript writes in its own way.
const VALUES: [&str; 14] = [
    "null",
    "true",
    "0",
    "-0",
    "1.50",
    "1e21",
    "1E-7",
    "12345678901234567890",
    r#""\ud83d lone \uDE00""#,
    r#""\u00e9\/\u0041""#,
    r#"{ "b" : [1, 2 , {}], "10": 1, "9": {"x":null}, "a": "" }"#,
    r#"{"a":1,"a":2,"__proto__":{"y":1}}"#,
    "[]",
    r#"[[],[[{"deep":[1e400]}]]]"#,
];

impl Operation {
    /// Whether agents before 0.87 know it, and do the same with it.
    fn is_old(&self) -> bool {
        match self {
            Self::Usage { .. } | Self::ContextEdit { .. } => false,
            Self::Message { json } => {
                let lacks_content = ["null,\"text\"", "\"user\",\"text\""];
                !json.contains("\"system\"") && !lacks_content.iter().any(|it| json.contains(it))
            }
            _ => true,
        }
    }
}

/// A script of operations that every agent knows.
pub fn old_script(rng: &mut ChaCha8Rng) -> Script {
    let mut script = script(rng);
    script
        .operations
        .retain(|(_, operation)| operation.is_old());
    script
}

pub fn script(rng: &mut ChaCha8Rng) -> Script {
    let mut operations = vec![(1, first(rng))];
    for _ in 0..rng.random_range(0..40) {
        let after = *pick(rng, &[1, 1, 7, 1000, 86_400_000]);
        operations.push((after, operation(rng)));
    }
    Script {
        start: 1_767_603_600_250 + rng.random_range(0..1_000_000_000),
        operations,
    }
}

fn pick<'a, T>(rng: &mut ChaCha8Rng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}

fn text(rng: &mut ChaCha8Rng) -> String {
    (*pick(rng, &TEXTS)).to_owned()
}

fn value(rng: &mut ChaCha8Rng) -> String {
    (*pick(rng, &VALUES)).to_owned()
}

fn maybe<T>(rng: &mut ChaCha8Rng, make: impl FnOnce(&mut ChaCha8Rng) -> T) -> Option<T> {
    rng.random_bool(0.5).then(|| make(rng))
}

fn target(rng: &mut ChaCha8Rng) -> i64 {
    if rng.random_bool(0.04) {
        -1
    } else {
        rng.random_range(0..1000)
    }
}

fn cwd(rng: &mut ChaCha8Rng) -> String {
    (*pick(
        rng,
        &[
            "/home/ada/code",
            "/",
            "/a:b/c",
            "/日本 語/é",
            "/x/./y/../z/",
            "//double",
        ],
    ))
    .to_owned()
}

fn first(rng: &mut ChaCha8Rng) -> Operation {
    let cwd = cwd(rng);
    match rng.random_range(0..10) {
        0 => Operation::InMemory { cwd },
        1 => Operation::Create {
            cwd,
            dir: Some("flat".to_owned()),
        },
        _ => Operation::Create { cwd, dir: None },
    }
}

fn operation(rng: &mut ChaCha8Rng) -> Operation {
    match rng.random_range(0..100) {
        0..38 => Operation::Message { json: message(rng) },
        38..42 => Operation::Thinking { level: text(rng) },
        42..46 => Operation::Model {
            provider: text(rng),
            model: text(rng),
        },
        46..51 => Operation::Compaction {
            summary: text(rng),
            first: maybe(rng, target),
            tokens: rng.random_range(0..1_000_000),
            details: maybe(rng, value),
            hook: maybe(rng, |rng| rng.random_bool(0.5)),
        },
        51..55 => Operation::Custom {
            kind: text(rng),
            data: maybe(rng, value),
        },
        55..59 => Operation::CustomMessage {
            kind: text(rng),
            content: content(rng),
            display: rng.random_bool(0.5),
            details: maybe(rng, value),
        },
        59..63 => Operation::Name { name: text(rng) },
        63..73 => Operation::Label {
            target: target(rng),
            label: maybe(rng, text),
        },
        73..75 => Operation::Usage {
            note: maybe(rng, text),
        },
        75..79 => Operation::ContextEdit {
            target: target(rng),
            content: maybe(rng, content),
        },
        79..85 => Operation::Branch {
            target: target(rng),
        },
        85..86 => Operation::ResetLeaf,
        86..90 => Operation::BranchWithSummary {
            target: rng.random_bool(0.8).then(|| target(rng)),
            summary: text(rng),
            details: maybe(rng, value),
        },
        90..94 => Operation::Branched {
            target: target(rng),
        },
        94..96 => Operation::Fork { cwd: cwd(rng) },
        96..97 => Operation::NewSession {
            parent: maybe(rng, |_| "/old.jsonl".to_owned()),
        },
        _ => Operation::Reopen,
    }
}

fn block(rng: &mut ChaCha8Rng) -> String {
    let said = quoted(&text(rng));
    match rng.random_range(0..5) {
        0 | 1 => format!(r#"{{"type":"text","text":{said}}}"#),
        2 => r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#.to_owned(),
        3 => format!(r#"{{"type":"thinking","thinking":{said},"thinkingSignature":"x"}}"#),
        _ => format!(
            r#"{{"type":"toolCall","id":"c1","name":"bash","arguments":{{"command":{said},"more":{}}}}}"#,
            value(rng)
        ),
    }
}

fn blocks(rng: &mut ChaCha8Rng) -> String {
    let blocks: Vec<String> = (0..rng.random_range(0..4)).map(|_| block(rng)).collect();
    format!("[{}]", blocks.join(", "))
}

fn content(rng: &mut ChaCha8Rng) -> String {
    if rng.random_bool(0.4) {
        quoted(&text(rng))
    } else {
        blocks(rng)
    }
}

fn message(rng: &mut ChaCha8Rng) -> String {
    let said = quoted(&text(rng));
    let more = value(rng);
    match rng.random_range(0..16) {
        0..4 => format!(
            r#"{{"role":"user","content":{},"timestamp":{}}}"#,
            content(rng),
            rng.random_range(0..2_000_000_000_000i64)
        ),
        4..9 => format!(
            r#"{{"role":"assistant","content":{},"api":"a","provider":{said},"model":"m","usage":{{"input":1,"output":2,"cost":{{"total":0.10}}}},"stopReason":"stop","timestamp":5,"extra":{more}}}"#,
            blocks(rng)
        ),
        9 | 10 => format!(
            r#"{{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":{},"details":{more},"isError":false,"timestamp":6}}"#,
            blocks(rng)
        ),
        11 => format!(
            r#"{{"role":"bashExecution","command":{said},"output":{},"exitCode":{},"cancelled":{},"truncated":true,"fullOutputPath":"/tmp/é","timestamp":7{}}}"#,
            quoted(&text(rng)),
            pick(rng, &["0", "1", "-1", "null"]),
            rng.random_bool(0.3),
            pick(rng, &["", ",\"excludeFromContext\":true"]),
        ),
        12 => format!(
            r#"{{"role":"custom","customType":"t","content":{},"display":true,"timestamp":8}}"#,
            content(rng)
        ),
        13 => format!(
            r#"{{"role":"system","content":{},"sections":{{{said}:"s","gone":{}}},"toolsAdded":[{{"name":{},"description":{said}}}],"timestamp":9}}"#,
            if rng.random_bool(0.5) {
                said.clone()
            } else {
                format!("[{{\"type\":\"text\",\"text\":{said}}}]")
            },
            pick(rng, &["\"here\"", "null"]),
            pick(rng, &["\"read\"", "\"7\""]),
        ),
        14 => format!(
            r#"{{"role":"system","content":"","toolsRemoved":[{{"name":"read"}}],"timestamp":{}}}"#,
            pick(rng, &["10", "null"])
        ),
        // Of a user's null is refused here, and hides the session in pi.
        _ => format!(
            r#"{{"role":{},"text":{more}}}"#,
            pick(
                rng,
                &[
                    r#""user""#,
                    r#""toolResult","content":null"#,
                    r#""system","content":null"#,
                    r#""stranger","content":null"#,
                ]
            )
        ),
    }
}
