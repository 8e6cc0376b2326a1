//! The shape of agentuse's documents, as loose as facts and text need them.

use serde::Deserialize;

use crate::json::{Count, Int, Loose, Num, Raw, Text};

/// `message.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    pub time: Loose<Times>,
    #[serde(borrow)]
    pub user: Loose<User<'a>>,
    #[serde(borrow)]
    pub assistant: Loose<Assistant<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct User<'a> {
    #[serde(borrow)]
    pub prompt: Loose<Prompt<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Prompt<'a> {
    #[serde(borrow)]
    pub task: Raw<'a>,
    #[serde(borrow)]
    pub user: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Assistant<'a> {
    #[serde(rename = "modelID", borrow)]
    pub model: Text<'a>,
    #[serde(rename = "providerID", borrow)]
    pub provider: Text<'a>,
    pub cost: Num,
    pub tokens: Loose<Tokens>,
    #[serde(borrow)]
    pub error: Raw<'a>,
    #[serde(borrow)]
    pub summary: Raw<'a>,
    #[serde(borrow)]
    pub system: Raw<'a>,
}

/// `tools.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tools<'a> {
    #[serde(borrow)]
    pub tools: Raw<'a>,
}

/// Of a message, or of one step of it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    pub input: Count,
    pub output: Count,
    pub reasoning: Count,
    pub cache: Loose<Cache>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Cache {
    pub read: Count,
    pub write: Count,
}

/// Every time that a document may give, in milliseconds.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Times {
    pub created: Int,
    pub completed: Int,
    pub start: Int,
    pub end: Int,
}

/// A part of a message, of any type.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(rename = "messageID", borrow)]
    pub message_id: Raw<'a>,
    pub time: Loose<Times>,
    // text, reasoning.
    #[serde(borrow)]
    pub text: Raw<'a>,
    #[serde(borrow)]
    pub role: Text<'a>,
    // tool.
    #[serde(rename = "callID", borrow)]
    pub call_id: Raw<'a>,
    #[serde(borrow)]
    pub tool: Raw<'a>,
    #[serde(borrow)]
    pub state: Loose<State<'a>>,
    // file, agent.
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub filename: Raw<'a>,
    #[serde(borrow)]
    pub url: Raw<'a>,
    #[serde(borrow)]
    pub source: Raw<'a>,
    // step-finish.
    pub cost: Num,
    pub tokens: Loose<Tokens>,
    // snapshot, patch.
    #[serde(borrow)]
    pub snapshot: Raw<'a>,
    #[serde(borrow)]
    pub files: Raw<'a>,
    // compaction, learning, error, log.
    #[serde(borrow)]
    pub reason: Raw<'a>,
    #[serde(rename = "tokensBefore")]
    pub tokens_before: Int,
    #[serde(borrow)]
    pub titles: Raw<'a>,
    #[serde(borrow)]
    pub detail: Raw<'a>,
    #[serde(borrow)]
    pub code: Raw<'a>,
    #[serde(borrow)]
    pub message: Raw<'a>,
}

/// How far a tool call has come.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct State<'a> {
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub input: Raw<'a>,
    #[serde(borrow)]
    pub output: Raw<'a>,
    #[serde(borrow)]
    pub error: Raw<'a>,
    #[serde(borrow)]
    pub title: Raw<'a>,
    #[serde(borrow)]
    pub metadata: Raw<'a>,
    pub time: Loose<Times>,
    #[serde(rename = "suspendedAt")]
    pub suspended: Int,
    #[serde(rename = "resumePayload", borrow)]
    pub waits_for: Raw<'a>,
}

/// What a suspended call waits for. Its token and its URL let whoever has them answer: they are
/// read by nothing.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub prompt: Raw<'a>,
    #[serde(rename = "childAgentName", borrow)]
    pub child: Raw<'a>,
    #[serde(rename = "reviewEscalation", borrow)]
    pub review: Loose<Judgement<'a>>,
}

/// What a judge says of a run's result.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Judgement<'a> {
    #[serde(borrow)]
    pub critique: Raw<'a>,
}

/// What a tool was asked about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub command: Text<'a>,
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(rename = "filePath", borrow)]
    pub file_path_camel: Text<'a>,
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub pattern: Text<'a>,
    #[serde(borrow)]
    pub query: Text<'a>,
    #[serde(borrow)]
    pub url: Text<'a>,
}

/// `provider:model`, split at the first colon.
pub(super) fn provider_and_model(name: &str) -> (Option<String>, String) {
    match name.split_once(':') {
        Some((provider, model)) => (Some(provider.to_owned()), model.to_owned()),
        None => (None, name.to_owned()),
    }
}
