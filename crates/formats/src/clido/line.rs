//! The shape of clido's lines twice: as strict as clido reads them, and as loose as facts need.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::json::{self, Flag, Int, Loose, Num, Raw, Text};

/// The newest `meta.schema_version` that clido reads.
const NEWEST_SCHEMA: u32 = 1;

/// clido's own declaration of a line, with the values it keeps as JSON left out. What this refuses
/// clido refuses, and with it the whole session.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(dead_code)]
enum Strict {
    Meta {
        session_id: String,
        schema_version: u32,
        start_time: String,
        project_path: String,
    },
    UserMessage {
        role: String,
        content: Vec<IgnoredAny>,
    },
    AssistantMessage {
        content: Vec<IgnoredAny>,
    },
    ToolCall {
        tool_use_id: String,
        tool_name: String,
        input: IgnoredAny,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        is_error: bool,
        duration_ms: Option<u64>,
        path: Option<String>,
        content_hash: Option<String>,
        mtime_nanos: Option<u64>,
    },
    System {
        subtype: String,
        message: Option<String>,
    },
    Result {
        exit_status: String,
        total_cost_usd: f64,
        num_turns: u32,
        duration_ms: u64,
    },
    Title {
        title: String,
    },
}

/// Why clido refuses the line; `None` when it reads it.
pub(super) fn refusal(record: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(record) else {
        return Some("clido refuses a line: invalid UTF-8".to_owned());
    };
    // clido parses with serde_json's depth limit, so it stays on here.
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict::Meta { schema_version, .. }) if schema_version > NEWEST_SCHEMA => {
            Some(format!("clido refuses schema version {schema_version}"))
        }
        Ok(_) => None,
        Err(error) => {
            let why = json::complaint(&error);
            Some(format!("clido refuses a line: {why}"))
        }
    }
}

/// Any line; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    // meta.
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    pub schema_version: Int,
    #[serde(borrow)]
    pub start_time: Text<'a>,
    #[serde(borrow)]
    pub project_path: Text<'a>,
    // user_message, assistant_message: blocks; tool_result: text.
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    // tool_result.
    #[serde(borrow)]
    pub tool_use_id: Raw<'a>,
    pub is_error: Flag,
    pub duration_ms: Int,
    #[serde(borrow)]
    pub path: Raw<'a>,
    #[serde(borrow)]
    pub content_hash: Raw<'a>,
    // system.
    #[serde(borrow)]
    pub message: Raw<'a>,
    // result.
    #[serde(borrow)]
    pub exit_status: Text<'a>,
    pub total_cost_usd: Num,
    pub num_turns: Int,
    // title.
    #[serde(borrow)]
    pub title: Raw<'a>,
}

/// A content block.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Raw<'a>,
    #[serde(borrow)]
    pub thinking: Raw<'a>,
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub input: Raw<'a>,
    // A tool_result inside a message.
    #[serde(borrow)]
    pub content: Raw<'a>,
}

impl<'a> Line<'a> {
    /// The content blocks with their JSON text; what is no object has no block. `None` where the
    /// second tier is needed.
    pub fn blocks(&self) -> Option<Vec<(Loose<Block<'a>>, &'a str)>> {
        let block = |raw: Raw<'a>| Some((raw.parse::<Loose<Block<'a>>>()?, raw.0?));
        self.content.items()?.into_iter().map(block).collect()
    }
}

/// What a tool was asked about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub command: Text<'a>,
    #[serde(borrow)]
    pub pattern: Text<'a>,
    #[serde(borrow)]
    pub query: Text<'a>,
    #[serde(borrow)]
    pub url: Text<'a>,
}
