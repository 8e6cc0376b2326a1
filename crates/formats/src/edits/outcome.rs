//! What does an agent record of a file beside the answer of the tool that changed it?

use serde_json::Value;

use super::call::{items, row_data, states, text};
use super::parsed;
use super::patch::{self, Hunk, HunkLine};

/// What is known of a change that was made. A call without any has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The call that it answers.
    pub call_id: Option<String>,
    /// All of the file as it was before.
    pub before: Option<String>,
    /// Whether the file was there before; `None`: not known.
    pub is_new: Option<bool>,
    /// The lines that changed.
    pub hunks: Option<Vec<Hunk>>,
    /// A person changed what the call asked for before it was done.
    pub is_altered: bool,
}

/// What the answers in a record say of files beside their text, in its order.
pub fn outcomes(record: &[u8]) -> Vec<Outcome> {
    let Some(record) = parsed(record) else {
        return Vec::new();
    };
    let message = &record["message"];
    let row = row_data(&record);
    let mut found = Vec::new();
    found.extend(claude(&record));
    if let Some(id) = message["toolCallId"].as_str() {
        found.push(pi(id, &message["details"]));
    }
    // Gemini CLI: beside the call.
    found.extend(items(&record["toolCalls"]).map(|call| shown(&call["id"], call)));
    // Qwen Code: beside the message.
    let beside = &record["toolCallResult"];
    if beside.is_object() {
        found.push(shown(&beside["callId"], beside));
    }
    found.extend(copilot(&record["data"]));
    found.extend(states(&record, row.as_ref()).map(opencode));
    found
}

/// Claude Code: `toolUseResult` beside the block, which is the only one then.
fn claude(record: &Value) -> Option<Outcome> {
    let result = record["toolUseResult"].as_object()?;
    let id = answered(record)?;
    let of = |key: &str| result.get(key).unwrap_or(&Value::Null);
    Some(Outcome {
        call_id: Some(id.to_owned()),
        before: of("originalFile").as_str().map(str::to_owned),
        is_new: of("type").as_str().map(|kind| kind == "create"),
        hunks: hunks(of("structuredPatch")).filter(|hunks| !hunks.is_empty()),
        is_altered: of("userModified") == true,
    })
}

/// The call that a line of Claude Code's answers, if that is one.
pub(super) fn answered(record: &Value) -> Option<&str> {
    let blocks = items(&record["message"]["content"]);
    let mut ids = blocks.filter_map(|block| block["tool_use_id"].as_str());
    ids.next().filter(|_| ids.next().is_none())
}

/// Changed lines as Claude Code writes them; `None`: one of them is none.
pub(super) fn hunks(of: &Value) -> Option<Vec<Hunk>> {
    let hunk = |hunk: &Value| -> Option<Hunk> {
        let lines = items(&hunk["lines"]).map(|line| line.as_str());
        let lines = lines.filter(|line| !line.is_some_and(|line| line.starts_with('\\')));
        lines.map(|line| signed(line?)).collect()
    };
    items(of).map(hunk).collect()
}

/// `None`: it is no line of a change, of which none holds an end of a line.
fn signed(line: &str) -> Option<HunkLine> {
    if line.contains('\n') {
        return None;
    }
    let text = line.get(1..)?.trim_end_matches('\r').to_owned();
    match line.get(..1)? {
        " " => Some(HunkLine::Same(text)),
        "-" => Some(HunkLine::Old(text)),
        "+" => Some(HunkLine::New(text)),
        _ => None,
    }
}

fn pi(id: &str, details: &Value) -> Outcome {
    Outcome {
        call_id: Some(id.to_owned()),
        hunks: details["diff"].as_str().and_then(patch::numbered),
        ..Outcome::default()
    }
}

/// What Gemini CLI and Qwen Code show of a change.
fn shown(id: &Value, of: &Value) -> Outcome {
    let shown = &of["resultDisplay"];
    let by_person = |key: &str| shown["diffStat"][key].as_i64() > Some(0);
    Outcome {
        call_id: id.as_str().map(str::to_owned),
        before: shown["originalContent"].as_str().map(str::to_owned),
        is_new: match (&shown["isNewFile"], &shown["originalContent"]) {
            (Value::Bool(is_new), _) => Some(*is_new),
            (_, Value::String(before)) if !before.is_empty() => Some(false),
            _ => None,
        },
        hunks: shown["fileDiff"].as_str().and_then(patch::unified),
        is_altered: by_person("user_added_lines") || by_person("user_removed_lines"),
    }
}

fn copilot(data: &Value) -> Option<Outcome> {
    let id = data["toolCallId"].as_str()?;
    let diff = data["result"]["detailedContent"].as_str();
    Some(Outcome {
        call_id: Some(id.to_owned()),
        hunks: diff.and_then(patch::unified),
        ..Outcome::default()
    })
}

fn opencode(part: &Value) -> Outcome {
    let told = &part["state"]["metadata"];
    let before = told["filediff"]["before"].as_str().map(str::to_owned);
    // Of a patch of several files it is all of theirs, one behind the other.
    let is_of_one = items(&told["files"]).nth(1).is_none();
    let diff = told["diff"].as_str().filter(|_| is_of_one);
    Outcome {
        call_id: text(part, &["callID", "id"]).map(str::to_owned),
        before,
        is_new: told["exists"].as_bool().map(|exists| !exists),
        hunks: diff.and_then(patch::unified),
        is_altered: false,
    }
}
