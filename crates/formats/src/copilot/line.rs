//! The shape of Copilot's events, as loose as facts and texts need it.

use serde::Deserialize;

use crate::json::{Count, Flag, Int, Loose, Num, Raw, Text};

/// One line of `events.jsonl`; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub parent_id: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    /// Set on all events of a subagent.
    #[serde(borrow)]
    pub agent_id: Raw<'a>,
    #[serde(borrow)]
    pub data: Loose<Box<Data<'a>>>,
}

impl Event<'_> {
    /// Whether it is none of a subagent's. Versions that did not name the subagent in every event
    /// name the call that started it in its messages and results.
    pub fn is_main(&self) -> bool {
        let data = self.data.object();
        let call = data.is_some_and(|data| data.parent_tool_call_id.is_value());
        !call && !self.agent_id.is_value()
    }
}

/// What an event says, of whatever type.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    // session.start, session.resume.
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    pub version: Int,
    #[serde(borrow)]
    pub copilot_version: Raw<'a>,
    #[serde(borrow)]
    pub start_time: Text<'a>,
    #[serde(borrow)]
    pub selected_model: Text<'a>,
    #[serde(borrow)]
    pub context: Loose<Context<'a>>,
    #[serde(borrow)]
    pub detached_from_spawning_parent_session_id: Text<'a>,
    /// Of a resumption: `null` where there are none, absent in versions before 1.0.66.
    #[serde(borrow)]
    pub session_limits: Raw<'a>,
    // session.context_changed.
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub branch: Text<'a>,
    #[serde(borrow)]
    pub repository: Raw<'a>,
    #[serde(borrow)]
    pub repository_host: Text<'a>,
    #[serde(borrow)]
    pub host_type: Text<'a>,
    // session.model_change; the effort also session.start and session.resume.
    #[serde(borrow)]
    pub new_model: Text<'a>,
    #[serde(borrow)]
    pub reasoning_effort: Text<'a>,
    // user.message, system.message, assistant.message.
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub source: Text<'a>,
    pub is_autopilot_continuation: Flag,
    #[serde(borrow)]
    pub attachments: Raw<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub reasoning_text: Raw<'a>,
    #[serde(borrow)]
    pub tool_requests: Raw<'a>,
    /// See [`Event::is_main`].
    #[serde(borrow)]
    pub parent_tool_call_id: Raw<'a>,
    // tool.execution_complete, tool.user_requested.
    #[serde(borrow)]
    pub tool_call_id: Raw<'a>,
    #[serde(borrow)]
    pub tool_name: Raw<'a>,
    #[serde(borrow)]
    pub arguments: Raw<'a>,
    pub success: Flag,
    #[serde(borrow)]
    pub result: Raw<'a>,
    /// An object, or text.
    #[serde(borrow)]
    pub error: Raw<'a>,
    pub shell_execution: Loose<ShellExecution>,
    // session.usage_record.
    #[serde(borrow)]
    pub usage: Loose<Box<UsageRecord<'a>>>,
    // abort.
    #[serde(borrow)]
    pub reason: Text<'a>,
    // session.error, session.info, session.warning.
    #[serde(borrow)]
    pub message: Raw<'a>,
    // session.compaction_complete.
    #[serde(borrow)]
    pub summary_content: Raw<'a>,
    pub pre_compaction_tokens: Int,
    // session.shutdown.
    #[serde(borrow)]
    pub model_metrics: Raw<'a>,
    #[serde(borrow)]
    pub total_premium_requests: Raw<'a>,
    #[serde(borrow)]
    pub total_nano_aiu: Raw<'a>,
    #[serde(borrow)]
    pub current_model: Text<'a>,
    /// With this or the next one the totals are the session's, without them those of its run, or
    /// of this and those from which it goes on.
    #[serde(borrow)]
    pub usage_accounting_watermarks: Raw<'a>,
    #[serde(borrow)]
    pub accounting_snapshot: Raw<'a>,
    // session.import_legacy.
    #[serde(borrow)]
    pub legacy_session: Loose<LegacySession<'a>>,
}

/// Where a session runs.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Context<'a> {
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub branch: Text<'a>,
    #[serde(borrow)]
    pub repository: Raw<'a>,
    #[serde(borrow)]
    pub repository_host: Text<'a>,
    #[serde(borrow)]
    pub host_type: Text<'a>,
}

/// What is attached to a message.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow)]
    pub mime_type: Text<'a>,
    /// Of a file or a folder.
    #[serde(borrow)]
    pub path: Raw<'a>,
    /// Of a selection.
    #[serde(borrow)]
    pub file_path: Raw<'a>,
    #[serde(borrow)]
    pub display_name: Raw<'a>,
    #[serde(borrow)]
    pub title: Raw<'a>,
    /// What is selected.
    #[serde(borrow)]
    pub text: Raw<'a>,
}

/// A session of the layout before `session-state`, as a later version took it over.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LegacySession<'a> {
    #[serde(borrow)]
    pub chat_messages: Raw<'a>,
}

/// A message of such a session.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct LegacyMessage<'a> {
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
}

/// A part of such a message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct LegacyPart<'a> {
    #[serde(borrow)]
    pub text: Text<'a>,
}

/// A tool call as the model asked for it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolRequest<'a> {
    #[serde(borrow)]
    pub tool_call_id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub arguments: Raw<'a>,
}

/// What a tool was asked about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Arguments<'a> {
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

/// What a tool gave back; `error` has a message in the same place.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub detailed_content: Raw<'a>,
    #[serde(borrow)]
    pub message: Raw<'a>,
}

/// How a command ended.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ShellExecution {
    pub exit_code: Num,
}

/// What one answer of a model took. Its input includes what was read from the cache and written to
/// it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageRecord<'a> {
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub model_provider: Text<'a>,
    #[serde(borrow)]
    pub api_call_id: Text<'a>,
    #[serde(borrow)]
    pub finish_reason: Text<'a>,
    pub input_tokens: Count,
    pub output_tokens: Count,
    pub cache_read_tokens: Count,
    pub cache_write_tokens: Count,
    pub reasoning_tokens: Count,
}

/// What a model took in a run or a session so far.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ModelMetrics {
    pub usage: Loose<ModelTokens>,
}

/// See [`ModelMetrics`].
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelTokens {
    pub input_tokens: Count,
    pub output_tokens: Count,
    pub cache_read_tokens: Count,
    pub cache_write_tokens: Count,
    pub reasoning_tokens: Count,
}
