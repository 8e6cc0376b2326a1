//! What a line of clido's says.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::value::Json;

/// The newest `schema_version` that clido reads, and the one it writes.
pub const SCHEMA_VERSION: u32 = 1;

/// One line. Members stand in the order in which clido writes them; those of blocks, as there, by
/// name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum SessionLine {
    /// The first line.
    Meta {
        session_id: String,
        schema_version: u32,
        /// RFC 3339.
        start_time: String,
        project_path: String,
    },
    /// What the user says.
    UserMessage {
        /// Always "user".
        role: String,
        content: Vec<Value>,
    },
    /// What the model answers.
    AssistantMessage { content: Vec<Value> },
    /// A call of a tool; its block stands in the answer before it too.
    ToolCall {
        tool_use_id: String,
        tool_name: String,
        input: Value,
    },
    /// What a tool gave back.
    ToolResult {
        tool_use_id: String,
        content: String,
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// The file that the tool wrote.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// SHA-256 of its bytes then, in hex.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_hash: Option<String>,
        /// Its modification time then, in ns since the epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        mtime_nanos: Option<u64>,
    },
    /// Something that happened.
    System {
        subtype: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// How a run ended.
    Result {
        exit_status: String,
        total_cost_usd: f64,
        num_turns: u32,
        duration_ms: u64,
    },
    /// The session's title.
    Title { title: String },
    /// A line of a type that clido does not know, as it is written. Read leniently only; clido
    /// refuses the session.
    #[serde(skip)]
    Other(Json),
}

impl SessionLine {
    /// A user's message of one text.
    pub fn user(text: &str) -> Self {
        Self::UserMessage {
            role: "user".to_owned(),
            content: vec![json!({"type": "text", "text": text})],
        }
    }

    /// A model's answer of one text.
    pub fn assistant(text: &str) -> Self {
        Self::AssistantMessage {
            content: vec![json!({"type": "text", "text": text})],
        }
    }

    /// The line without its end.
    pub(super) fn json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Other(json) => Ok(json.as_str().to_owned()),
            line => serde_json::to_string(line),
        }
    }
}
