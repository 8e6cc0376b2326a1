//! The shape of a Qwen Code line as far as it is looked at, and of what stands beside a subagent's.

use std::borrow::Cow;

use serde::Deserialize;

use crate::json::{Count, Flag, Int, Loose, Raw, Text};
use crate::parts::{Part, is_of_hooks, parts};

/// The last version whose subagents wrote no files, but for those in the background (looked at:
/// 0.15.10; 0.21.2 writes one for each).
const LAST_WITHOUT_FILES: (u32, u32) = (0, 15);

/// Any line; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub uuid: Raw<'a>,
    #[serde(borrow)]
    pub parent_uuid: Raw<'a>,
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    #[serde(borrow)]
    pub timestamp: Raw<'a>,
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub provenance: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub git_branch: Text<'a>,
    /// Of Qwen Code.
    #[serde(borrow)]
    pub version: Text<'a>,
    #[serde(borrow)]
    pub message: Loose<Message<'a>>,
    #[serde(borrow)]
    pub model: Text<'a>,
    pub usage_metadata: Loose<UsageMetadata>,
    #[serde(borrow)]
    pub tool_call_result: Loose<ToolCallResult<'a>>,
    #[serde(borrow)]
    pub system_payload: Loose<Box<Payload<'a>>>,
    #[serde(borrow)]
    pub forked_from: Loose<ForkedFrom<'a>>,
    // A subagent's lines.
    pub is_sidechain: Flag,
    #[serde(borrow)]
    pub agent_id: Raw<'a>,
}

/// What was sent to the model, or came from it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub parts: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    pub prompt_token_count: Count,
    pub candidates_token_count: Count,
    pub thoughts_token_count: Count,
    pub cached_content_token_count: Count,
    pub total_token_count: Count,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolCallResult<'a> {
    #[serde(borrow)]
    pub status: Text<'a>,
    pub duration_ms: Int,
}

/// `systemPayload`, of any subtype.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Payload<'a> {
    // ui_telemetry.
    #[serde(borrow)]
    pub ui_event: Loose<Box<UiEvent<'a>>>,
    // user: what was typed, where the message says more.
    #[serde(borrow)]
    pub display_text: Raw<'a>,
    // custom_title.
    #[serde(borrow)]
    pub custom_title: Text<'a>,
    // parent_session.
    #[serde(borrow)]
    pub parent_session_id: Text<'a>,
    // session_model.
    #[serde(borrow)]
    pub model_id: Text<'a>,
    // slash_command.
    #[serde(borrow)]
    pub phase: Text<'a>,
    #[serde(borrow)]
    pub raw_command: Raw<'a>,
    #[serde(borrow)]
    pub output_history_items: Raw<'a>,
    /// Whether it becomes a prompt; until 0.15 nothing says so.
    pub sent_to_model: Flag,
    // at_command.
    #[serde(borrow)]
    pub files_read: Raw<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
    // chat_compression.
    pub info: Loose<CompressionInfo>,
    #[serde(borrow)]
    pub compressed_history: Raw<'a>,
    // agent_bootstrap, as older versions wrote it.
    #[serde(borrow)]
    pub system_instruction: Raw<'a>,
    #[serde(borrow)]
    pub tools: Raw<'a>,
}

/// What the agent counts. Its texts are copies of what other lines say.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct UiEvent<'a> {
    #[serde(rename = "event.name", borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub response_id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub auth_type: Text<'a>,
    pub input_token_count: Count,
    pub output_token_count: Count,
    pub cached_content_token_count: Count,
    pub thoughts_token_count: Count,
    pub total_token_count: Count,
    #[serde(borrow)]
    pub error_message: Raw<'a>,
    #[serde(borrow)]
    pub error_type: Text<'a>,
    // Of a tool's call.
    #[serde(borrow)]
    pub prompt_id: Text<'a>,
    #[serde(borrow)]
    pub function_name: Raw<'a>,
    #[serde(borrow)]
    pub function_args: Raw<'a>,
    pub success: Flag,
    /// Until 0.12 also why there is no answer.
    #[serde(borrow)]
    pub error: Raw<'a>,
    pub duration_ms: Int,
}

/// What stands in place of an answer that a person did not wait for (0.15.10 and before).
const BROKEN_OFF: (&str, &str) = ("APIUserAbortError", "Request was aborted.");

impl<'a> UiEvent<'a> {
    /// Why there is no answer.
    pub fn why(&self) -> Raw<'a> {
        match self.error_message.is_value() {
            true => self.error_message,
            false => self.error,
        }
    }

    /// Whether a person broke the request off.
    pub fn is_broken_off(&self) -> bool {
        self.error_type.as_str() == Some(BROKEN_OFF.0)
            || self.why().text().as_deref() == Some(BROKEN_OFF.1)
    }

    /// Whether a subagent called a tool: `SESSION#NAME-LETTERS#TURN`. Of the session's own calls
    /// it is another id, or `SESSION########TURN`.
    fn is_of_subagent(&self) -> bool {
        let parts: Vec<&str> = self
            .prompt_id
            .as_str()
            .unwrap_or_default()
            .split('#')
            .collect();
        self.name.as_str() == Some("qwen-code.tool_call")
            && matches!(parts[..], [session, agent, turn]
                if ![session, agent, turn].iter().any(|part| part.is_empty()))
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompressionInfo {
    pub original_token_count: Int,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow)]
    pub session_id: Text<'a>,
}

/// `agent-….meta.json`.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta<'a> {
    #[serde(borrow)]
    pub agent_id: Raw<'a>,
    #[serde(borrow)]
    pub agent_type: Text<'a>,
    #[serde(borrow)]
    pub description: Text<'a>,
    #[serde(borrow)]
    pub parent_session_id: Text<'a>,
    #[serde(borrow)]
    pub parent_agent_id: Text<'a>,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub created_at: Text<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
}

/// Who says what a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// A person.
    Typed,
    /// A program, in a person's place.
    Injected,
    /// The model.
    Answer,
    /// A tool.
    Result,
    /// Nobody: what the agent notes for itself.
    Noted,
}

impl Line<'_> {
    /// Its subtype, else its type.
    pub fn name(&self) -> Cow<'_, str> {
        let name = self.subtype.as_str().or(self.kind.as_str());
        name.unwrap_or_default().into()
    }

    /// By `provenance`, which versions before 0.22 did not write: there by the type and by what the
    /// message holds. A subagent is asked by the model that started it, and hooks may say all that
    /// stands where prompts are.
    pub fn said(&self, message: &[Part<'_>]) -> Said {
        let is_answer = |part: &Part<'_>| part.function_response.object().is_some();
        let is_unknown = self.provenance.as_str().is_none();
        let is_typed = match self.provenance.as_str() {
            Some(provenance) => provenance == "real_user",
            None => matches!(
                self.subtype.as_str(),
                None | Some("mid_turn_user_message" | "realtime_message")
            ),
        };
        match self.kind.as_str() {
            Some("user") if is_unknown && message.iter().any(is_answer) => Said::Result,
            Some("user") if !self.shown().is_value() && is_of_hooks(message) => Said::Injected,
            Some("user") if is_typed && self.is_sidechain.0 != Some(true) => Said::Typed,
            Some("user") => Said::Injected,
            Some("assistant") => Said::Answer,
            Some("tool_result") => Said::Result,
            _ => Said::Noted,
        }
    }

    /// What was sent to the model, or came from it. `None` where the second tier is needed.
    pub fn parts(&self) -> Option<Vec<Part<'_>>> {
        match self.message.object() {
            Some(message) => parts(&message.parts),
            None => Some(Vec::new()),
        }
    }

    /// What a person typed, where the message says more.
    pub fn shown(&self) -> Raw<'_> {
        self.payload()
            .map_or(Raw(None), |payload| payload.display_text)
    }

    pub fn payload(&self) -> Option<&Payload<'_>> {
        self.system_payload.object().map(|payload| &**payload)
    }

    pub fn event(&self) -> Option<&UiEvent<'_>> {
        self.payload()?.ui_event.object().map(|event| &**event)
    }

    /// A subagent's call of a tool that stands in no file of the subagent's: until 0.15 there is
    /// none.
    pub fn subagents_call(&self) -> Option<&UiEvent<'_>> {
        let mut numbers = self.version.as_str()?.splitn(3, '.').map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            return None;
        };
        let has_none = (major, minor) <= LAST_WITHOUT_FILES;
        self.event()
            .filter(|event| has_none && event.is_of_subagent())
    }
}
