//! The shape of Claude Code's lines as far as facts and text need it: borrowed, every field of any
//! type, the rest skipped.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::json::{self, Count, Flag, Int, Loose, Mixed, Num, Raw, Text, Texts};

/// What facts need of a message's content, read with its line: no block is gone through twice.
pub(super) type Content<'a> = Mixed<'a, IgnoredAny, Loose<Block<'a, Loose<Box<Input<'a>>>>>>;

/// Any line, with its message's content as `C`. Objects are boxed: most lines lack most of them.
#[derive(Deserialize, Default)]
#[serde(
    default,
    rename_all = "camelCase",
    bound(deserialize = "C: Deserialize<'de> + Default")
)]
pub(super) struct Line<'a, C = Raw<'a>> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    /// Of a `system` line: how urgent it is (`info`, `notice`, `warning`), and what it says.
    #[serde(borrow)]
    pub level: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub uuid: Text<'a>,
    #[serde(borrow)]
    pub parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub logical_parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub session_id: Text<'a>,
    /// Of an answer that a fork copied: the session that it was given in.
    #[serde(borrow)]
    pub request_session_id: Text<'a>,
    /// Of any line that `/branch` copied.
    #[serde(borrow)]
    pub forked_from: Loose<Box<ForkedFrom<'a>>>,
    #[serde(borrow)]
    pub request_id: Text<'a>,
    #[serde(borrow)]
    pub agent_id: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub git_branch: Text<'a>,
    pub is_sidechain: Flag,
    pub is_meta: Flag,
    pub is_compact_summary: Flag,
    pub is_visible_in_transcript_only: Flag,
    pub is_api_error_message: Flag,
    /// Of what Claude Code says in the model's place: what went wrong.
    #[serde(borrow)]
    pub error: Raw<'a>,
    /// Of a prompt that was made of a plan, in a session that begins with it.
    #[serde(borrow)]
    pub plan_content: Raw<'a>,
    /// How a prompt came: `typed`, `queued` while the agent worked, `sdk` with `-p`, `system`.
    // Newer versions: of a prompt, and of what belongs to it.
    #[serde(borrow)]
    pub prompt_id: Text<'a>,
    #[serde(borrow)]
    pub prompt_source: Text<'a>,
    #[serde(borrow)]
    pub origin: Loose<Box<Origin<'a>>>,
    #[serde(borrow)]
    pub effort: Text<'a>,
    /// What an answer cost, as versions of early 2025 wrote it on each of its lines.
    #[serde(rename = "costUSD")]
    pub cost_usd: Num,
    #[serde(borrow)]
    pub message: Loose<Box<Message<'a, C>>>,
    #[serde(borrow)]
    pub tool_use_result: Mixed<'a, Box<Twin<'a>>, IgnoredAny>,
    #[serde(borrow)]
    pub attachment: Loose<Box<Attachment<'a>>>,
    pub compact_metadata: Loose<Box<CompactMetadata<'a>>>,
    // Titles and state.
    #[serde(borrow)]
    pub custom_title: Text<'a>,
    #[serde(borrow)]
    pub ai_title: Text<'a>,
    #[serde(borrow)]
    pub summary: Text<'a>,
    #[serde(borrow)]
    pub leaf_uuid: Text<'a>,
    #[serde(borrow)]
    pub last_prompt: Text<'a>,
    #[serde(borrow)]
    pub relocated_cwd: Text<'a>,
    // cost-state.
    #[serde(rename = "totalCostUSD")]
    pub total_cost_usd: Num,
    #[serde(borrow)]
    pub model_usage: Raw<'a>,
    pub has_unknown_model_cost: Flag,
    /// Of `api-request-shape`: system prompt and tools.
    #[serde(borrow)]
    pub shape: Raw<'a>,
}

/// Who put a prompt there, as newer versions say on its line or in its attachment.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Origin<'a> {
    /// `human`, `task-notification`, `peer`, `coordinator`, `channel` and ever more.
    #[serde(borrow)]
    pub kind: Text<'a>,
}

/// From which line of which session one was copied.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow)]
    pub session_id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "C: Deserialize<'de> + Default"))]
pub(super) struct Message<'a, C = Raw<'a>> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    pub content: C,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
    #[serde(borrow)]
    pub usage: Loose<Box<Tokens<'a>>>,
}

/// Tokens of one answer, which each of its lines repeats.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens<'a> {
    pub input_tokens: Count,
    pub output_tokens: Count,
    pub cache_creation_input_tokens: Count,
    pub cache_read_input_tokens: Count,
    pub output_tokens_details: Loose<OutputTokens>,
    /// The requests that it took, those among them that are not in the sums: [`Iteration`].
    #[serde(borrow)]
    pub iterations: Raw<'a>,
}

/// A request of an answer.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Iteration<'a> {
    /// `message`, `compaction`, and `advisor_message`, which alone is in no sum.
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    pub input_tokens: Count,
    pub output_tokens: Count,
    pub cache_creation_input_tokens: Count,
    pub cache_read_input_tokens: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OutputTokens {
    pub thinking_tokens: Count,
}

/// A block of a message's content, or of a tool's answer, with the arguments of a call as `I`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "I: Deserialize<'de> + Default"))]
pub(super) struct Block<'a, I = Raw<'a>> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Raw<'a>,
    #[serde(borrow)]
    pub thinking: Raw<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    pub input: I,
    // tool_result.
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    pub is_error: Flag,
}

impl<I> Block<'_, I> {
    pub fn is(&self, kind: &str) -> bool {
        self.kind.as_str() == Some(kind)
    }

    /// A call of a tool, of Claude Code's or of the API's own.
    pub fn is_call(&self) -> bool {
        matches!(self.kind.as_str(), Some("tool_use" | "server_tool_use"))
    }
}

/// The blocks of a content; what is no object has no block. `None` where the second tier is needed.
pub(super) fn blocks<'a>(content: &Raw<'a>) -> Option<Vec<Loose<Block<'a>>>> {
    match content.0 {
        Some(raw) if raw.starts_with('[') => json::parse(raw),
        _ => Some(Vec::new()),
    }
}

/// The same, each with its JSON text, which takes reading all of it once more.
pub(super) fn blocks_as_written<'a>(content: &Raw<'a>) -> Option<Vec<(Loose<Block<'a>>, &'a str)>> {
    let block = |raw: Raw<'a>| Some((raw.parse::<Loose<Block<'a>>>()?, raw.0?));
    content.items()?.into_iter().map(block).collect()
}

/// The arguments of a call that say what it is about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(borrow)]
    pub notebook_path: Text<'a>,
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
    #[serde(borrow)]
    pub description: Text<'a>,
}

/// `toolUseResult`, the richer twin of a tool's answer, where it is no text.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Twin<'a> {
    pub duration_ms: Int,
    pub total_duration_ms: Int,
    pub interrupted: Flag,
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(borrow)]
    pub agent_id: Text<'a>,
    /// Of a command (2.1.269): what it made of files.
    #[serde(borrow)]
    pub bash_edit_diff: Loose<Box<BashEditDiff<'a>>>,
}

/// What changed in the repository while a command ran.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct BashEditDiff<'a> {
    /// All files, or 200 of them.
    #[serde(borrow)]
    pub changed_files: Texts<'a>,
    /// Another command changed the repository meanwhile.
    pub shared: Flag,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    // queued_command.
    #[serde(borrow)]
    pub prompt: Raw<'a>,
    #[serde(borrow)]
    pub command_mode: Text<'a>,
    #[serde(borrow)]
    pub origin: Loose<Box<Origin<'a>>>,
    // prompt_snapshot.
    #[serde(borrow)]
    pub system_prompt: Raw<'a>,
    // file, pdf_reference, directory: what a person named behind `@`.
    #[serde(borrow)]
    pub filename: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    // teammate_mailbox.
    #[serde(borrow)]
    pub messages: Raw<'a>,
    // hook_blocking_error.
    #[serde(borrow)]
    pub hook_event: Text<'a>,
    #[serde(borrow)]
    pub blocking_error: Raw<'a>,
}

impl<'a> Attachment<'a> {
    /// The text of a file; nothing of pictures, PDFs and notebooks.
    pub fn text_of_file(&self) -> Option<Cow<'a, str>> {
        let file = json::member(self.content.0?, "file")?;
        Raw(json::member(file, "content")).text()
    }

    /// What is in a directory that a person named; `None` where nothing is.
    pub fn listing(&self) -> Option<Cow<'a, str>> {
        let is_one = self.kind.as_str() == Some("directory");
        let listing = self.content.text().filter(|_| is_one)?;
        (!listing.trim().is_empty()).then_some(listing)
    }

    /// What a hook told the model of a tool that had run. What hooks say of anything else stands in
    /// other lines, too.
    pub fn told_of_tool(&self) -> Option<Cow<'a, str>> {
        let is_one = self.kind.as_str() == Some("hook_blocking_error")
            && matches!(
                self.hook_event.as_str(),
                Some("PostToolUse" | "PostToolUseFailure")
            );
        let told = json::member(self.blocking_error.0.filter(|_| is_one)?, "blockingError");
        let told = Raw(told).text()?;
        (!told.trim().is_empty()).then_some(told)
    }

    /// What agents of the team wrote meanwhile.
    pub fn mail(&self) -> Option<Vec<Cow<'a, str>>> {
        let text = |message: &Raw<'a>| Raw(json::member(message.0?, "text")).text();
        Some(self.messages.items()?.iter().filter_map(text).collect())
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompactMetadata<'a> {
    pub pre_tokens: Int,
    #[serde(borrow)]
    pub preserved_segment: Loose<Segment<'a>>,
}

/// The entries that a compaction kept.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Segment<'a> {
    #[serde(borrow)]
    pub head_uuid: Text<'a>,
    #[serde(borrow)]
    pub tail_uuid: Text<'a>,
}
