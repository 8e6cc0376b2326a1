//! What is written beside the lines of a session: why a subagent was started, and what tools
//! printed that was too long for a line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::json;
use crate::model::{Facts, Header};
use crate::path::stem;

/// Fields of `agent-<id>.meta.json` that are kept, under the agent's own names.
const KEPT: [&str; 7] = [
    "agentType",
    "description",
    "toolUseId",
    "spawnDepth",
    "parentAgentId",
    "model",
    "finished",
];

/// The facts of `agent-<id>.meta.json`.
pub(super) fn facts(record: &[u8]) -> Facts {
    let read = json::tiers(record, json::kept);
    let mut own = Map::new();
    if let Some(Value::Object(mut meta)) = read {
        for name in KEPT {
            if let Some(value) = meta.remove(name) {
                own.insert(name.to_owned(), value);
            }
        }
    }
    let description = own.get("description").and_then(Value::as_str);
    Facts {
        kind: "meta".to_owned(),
        name: description.map(str::to_owned),
        agent_sees: true,
        is_beside: true,
        header: Some(Header {
            own: Some(Value::Object(own).to_string()),
            ..Header::default()
        }),
        ..Facts::default()
    }
}

/// The facts of a file with a tool's output. The agent gives the model its beginning only.
pub(super) fn spill(path: &Path) -> Facts {
    Facts {
        kind: "tool-result".to_owned(),
        role: Some("toolResult".to_owned()),
        id: Some(stem(path)),
        is_beside: true,
        ..Facts::default()
    }
}
