//! Where in a record are the calls, and what are they given?

use serde_json::Value;

use crate::json;

/// A call of a tool, with all that it is given.
pub(super) struct Call {
    pub id: Option<String>,
    pub tool: String,
    pub arguments: Value,
}

/// The calls in a record, in its order. Each agent has a place of its own for them; no record has
/// two of these.
pub(super) fn calls(record: &Value) -> Vec<Call> {
    let message = &record["message"];
    let row = row_data(record);
    let payload = match &record["payload"] {
        Value::Null => record,
        payload => payload,
    };
    let mut calls = Vec::new();
    // pi, Claude Code, clido, Cursor, induscode, OpenClaw: blocks of a message.
    calls.extend(items(&message["content"]).filter_map(block));
    calls.extend(items(&record["content"]).filter_map(block));
    // pi: calls that a tool made itself, in its result.
    let nested = |call| named(call, &["id"], &["arguments"]);
    calls.extend(items(&message["nestedCalls"]["calls"]).filter_map(nested));
    // Qwen Code: parts of a message.
    let part = |part: &Value| named(&part["functionCall"], &["id"], &["args"]);
    calls.extend(items(&message["parts"]).filter_map(part));
    // Gemini CLI: beside the text.
    let beside = |call| named(call, &["id"], &["args"]);
    calls.extend(items(&record["toolCalls"]).filter_map(beside));
    // GitHub Copilot CLI: requests of an answer.
    let request = |call| named(call, &["toolCallId"], &["arguments"]);
    calls.extend(items(&record["data"]["toolRequests"]).filter_map(request));
    // Codex: an item for each.
    calls.extend(codex(payload));
    // agentuse, OpenCode: a part with call and answer.
    calls.extend(states(record, row.as_ref()).filter_map(part_with_state));
    calls
}

/// The parts of a record that hold a call with its answer: the record itself, its row's data, or
/// what that holds.
pub(super) fn states<'v>(
    record: &'v Value,
    row: Option<&'v Value>,
) -> impl Iterator<Item = &'v Value> {
    let held = row.map(|row| items(&row["content"])).into_iter().flatten();
    let itself = std::iter::once(record).chain(row);
    itself.chain(held).filter(|part| part["type"] == "tool")
}

/// What a row of a database holds as JSON: OpenCode.
pub(super) fn row_data(record: &Value) -> Option<Value> {
    match &record["row"]["data"] {
        Value::String(text) => json::tiers(text.as_bytes(), |text| serde_json::from_str(text).ok()),
        Value::Null => None,
        data => Some(data.clone()),
    }
}

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of the first of these keys that has one.
pub(super) fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value[*key].as_str())
}

fn block(block: &Value) -> Option<Call> {
    let kind = block["type"].as_str()?;
    let is_call = matches!(kind, "toolCall" | "tool_use" | "tool-call");
    is_call.then(|| named(block, &["id", "toolCallId"], &["arguments", "input"]))?
}

fn part_with_state(part: &Value) -> Option<Call> {
    Some(Call {
        id: text(part, &["callID", "id"]).map(str::to_owned),
        tool: text(part, &["tool", "name"])?.to_owned(),
        arguments: part["state"]["input"].clone(),
    })
}

fn codex(payload: &Value) -> Option<Call> {
    let kind = payload["type"].as_str()?;
    let tool = match kind {
        "local_shell_call" => "shell",
        "function_call" | "custom_tool_call" => payload["name"].as_str()?,
        _ => return None,
    };
    let given = ["arguments", "action", "input"];
    let given = given.iter().map(|key| &payload[*key]);
    Some(Call {
        id: text(payload, &["call_id", "id"]).map(str::to_owned),
        tool: tool.to_owned(),
        arguments: unpacked(given.into_iter().find(|value| !value.is_null())?),
    })
}

fn named(call: &Value, ids: &[&str], arguments: &[&str]) -> Option<Call> {
    let given = arguments.iter().map(|key| &call[*key]);
    Some(Call {
        id: text(call, ids).map(str::to_owned),
        tool: call["name"].as_str()?.to_owned(),
        arguments: unpacked(given.into_iter().find(|value| !value.is_null())?),
    })
}

/// Arguments that are JSON in a string.
fn unpacked(arguments: &Value) -> Value {
    let text = arguments
        .as_str()
        .filter(|text| text.trim_start().starts_with('{'));
    let within = text.and_then(|text| serde_json::from_str(text).ok());
    within.unwrap_or_else(|| arguments.clone())
}
