//! The shape of a rollout's lines, as loose as facts and text need it.
//!
//! Since the middle of 2025 every line is an envelope around a payload; before, the payload stood
//! alone. Payloads of all types are one struct: hardly a key means two things.

use std::borrow::Cow;

use serde::Deserialize;

use super::document;
use crate::json::{self, Count, Flag, Int, Loose, Num, Raw, Text, Texts};

/// A line, or a payload that stands alone.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub payload: Loose<Box<Payload<'a>>>,
    pub metadata: Loose<About>,
}

/// What stands beside a payload.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct About {
    /// It is what the model gave back when it was told to compact: the summary, no answer.
    pub compaction_output: Flag,
}

/// What an envelope holds.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    // session_meta.
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub originator: Text<'a>,
    #[serde(borrow)]
    pub cli_version: Text<'a>,
    #[serde(borrow)]
    pub source: Raw<'a>,
    #[serde(borrow)]
    pub thread_source: Text<'a>,
    #[serde(borrow)]
    pub forked_from_id: Text<'a>,
    #[serde(borrow)]
    pub parent_thread_id: Text<'a>,
    #[serde(borrow)]
    pub agent_nickname: Text<'a>,
    #[serde(borrow)]
    pub model_provider: Text<'a>,
    #[serde(borrow)]
    pub base_instructions: Loose<Instructions<'a>>,
    #[serde(borrow)]
    pub instructions: Raw<'a>,
    #[serde(borrow)]
    pub history_mode: Text<'a>,
    #[serde(borrow)]
    pub history_base: Raw<'a>,
    #[serde(borrow)]
    pub git: Loose<Git<'a>>,
    // turn_context.
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub effort: Text<'a>,
    #[serde(borrow)]
    pub collaboration_mode: Loose<Collaboration<'a>>,
    // Messages and reasoning.
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub summary: Raw<'a>,
    #[serde(rename = "internal_chat_message_metadata_passthrough", borrow)]
    pub metadata: Loose<Metadata<'a>>,
    // Calls and what they gave.
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arguments: Raw<'a>,
    #[serde(borrow)]
    pub input: Raw<'a>,
    #[serde(borrow)]
    pub action: Raw<'a>,
    #[serde(borrow)]
    pub call_id: Text<'a>,
    #[serde(borrow)]
    pub output: Raw<'a>,
    // Usage.
    #[serde(borrow)]
    pub response_id: Text<'a>,
    pub usage: Loose<Tokens>,
    pub info: Loose<Info>,
    // Events.
    #[serde(borrow)]
    pub message: Raw<'a>,
    /// Of a message that was sent, in 2025: what kind of text it is.
    #[serde(rename = "kind", borrow)]
    pub sent_kind: Text<'a>,
    #[serde(borrow)]
    pub text: Raw<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow)]
    pub error: Loose<Failure<'a>>,
    #[serde(borrow)]
    pub thread_name: Text<'a>,
    #[serde(borrow)]
    pub goal: Loose<Goal<'a>>,
    /// Of a review: what is to be reviewed.
    #[serde(borrow)]
    pub target: Loose<Target<'a>>,
    /// What a review's model was asked, as Codex wrote it in 2025, and what its person was shown.
    #[serde(borrow)]
    pub prompt: Raw<'a>,
    #[serde(borrow)]
    pub user_facing_hint: Raw<'a>,
    /// Of a turn, in seconds.
    #[serde(borrow)]
    pub turn_id: Text<'a>,
    pub started_at: Int,
    pub completed_at: Int,
    pub started_at_ms: Int,
    pub completed_at_ms: Int,
    /// See [`Payload::item`].
    #[serde(borrow)]
    item: Raw<'a>,
    // The end of a call.
    #[serde(borrow)]
    pub status: Text<'a>,
    pub success: Flag,
    pub exit_code: Int,
    #[serde(borrow)]
    pub command: Raw<'a>,
    #[serde(borrow)]
    pub parsed_cmd: Raw<'a>,
    #[serde(borrow)]
    pub aggregated_output: Raw<'a>,
    #[serde(borrow)]
    pub changes: Raw<'a>,
    pub duration: Loose<Duration>,
    /// What a tool of a server gave: `Ok`, or `Err`.
    #[serde(borrow)]
    pub result: Raw<'a>,
    #[serde(borrow)]
    pub summary_text: Raw<'a>,
    /// Of a line between the items, in the middle of 2025.
    #[serde(borrow)]
    pub record_type: Text<'a>,
}

impl<'a> Payload<'a> {
    /// What a paginated rollout says of a finished item, under the names that the events of a
    /// legacy one have. An item within an item is none: a line may nest them without end. `None` as
    /// in [`Raw::parse`], of what is there.
    pub fn item(&self) -> Option<Option<Payload<'a>>> {
        if self.item.0.is_none() {
            return Some(None);
        }
        Some(match self.item.parse()? {
            Loose::Object(item) => Some(item),
            _ => None,
        })
    }

    /// What a person typed behind `/review`. Of a branch, a commit or what is not committed Codex
    /// itself says what is to be reviewed; before there were targets, such a prompt was another
    /// text than what its person was shown.
    pub fn reviews(&self) -> Option<Cow<'a, str>> {
        let asked = match self.target.object() {
            Some(target) => target.instructions.text()?,
            None => {
                let prompt = self.prompt.text()?;
                let shown = self.user_facing_hint.text()?;
                Some(prompt).filter(|prompt| prompt.trim() == shown.trim())?
            }
        };
        (!asked.trim().is_empty()).then_some(asked)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Instructions<'a> {
    #[serde(borrow)]
    pub text: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Git<'a> {
    #[serde(borrow)]
    pub branch: Text<'a>,
    #[serde(borrow)]
    pub repository_url: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Collaboration<'a> {
    #[serde(borrow)]
    pub settings: Loose<Settings<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Settings<'a> {
    #[serde(borrow)]
    pub reasoning_effort: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Metadata<'a> {
    /// What each part of the content is.
    #[serde(borrow)]
    pub content_item_kinds: Texts<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    pub input_tokens: Count,
    pub cached_input_tokens: Count,
    pub cache_write_input_tokens: Count,
    pub output_tokens: Count,
    pub reasoning_output_tokens: Count,
    pub total_tokens: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Info {
    pub total_token_usage: Loose<Tokens>,
    pub last_token_usage: Loose<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub message: Raw<'a>,
}

/// What a person told Codex to work on until it is done.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Goal<'a> {
    #[serde(borrow)]
    pub objective: Raw<'a>,
}

/// What a review is of.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Target<'a> {
    #[serde(borrow)]
    pub instructions: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Duration {
    pub secs: Int,
    pub nanos: Int,
}

/// A part of a content or an output.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Raw<'a>,
}

/// What a tool was asked, as far as a list of calls shows it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub cmd: Raw<'a>,
    #[serde(borrow)]
    pub command: Raw<'a>,
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(borrow)]
    pub query: Text<'a>,
    #[serde(borrow)]
    pub pattern: Text<'a>,
    #[serde(borrow)]
    pub url: Text<'a>,
    #[serde(borrow)]
    pub message: Text<'a>,
    #[serde(borrow)]
    pub workdir: Text<'a>,
    /// A patch, where the tool that takes one is a function.
    #[serde(borrow)]
    pub input: Raw<'a>,
}

/// An output that says how the call ended.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Output<'a> {
    #[serde(borrow)]
    pub output: Raw<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    pub success: Flag,
    pub metadata: Loose<CommandEnd>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct CommandEnd {
    pub exit_code: Int,
    pub duration_seconds: Num,
}

/// The kind of a line that older rollouts have between the items (`{"record_type":"state"}`).
pub(super) const STATE: &str = "state";

/// What a line is about, whether it stands in an envelope or not.
pub(super) struct Record<'a> {
    /// The envelope's type; empty where there is none.
    pub envelope: String,
    pub timestamp: Text<'a>,
    pub payload: Box<Payload<'a>>,
    /// See [`About::compaction_output`].
    pub is_of_compaction: bool,
}

impl<'a> Record<'a> {
    /// `None` where the second tier is needed; `Some(None)` where the text is no object.
    pub fn read(text: &'a str) -> Option<Option<Record<'a>>> {
        if let Some(header) = document::header(text) {
            let payload = json::parse::<Box<Payload<'a>>>(header)?;
            return Some(Some(Record {
                envelope: String::new(),
                timestamp: payload.timestamp.clone(),
                payload,
                is_of_compaction: false,
            }));
        }
        let Loose::Object(line) = json::parse::<Loose<Line<'a>>>(text)? else {
            return Some(None);
        };
        if let Loose::Object(payload) = line.payload {
            return Some(Some(Record {
                envelope: line.kind.owned().unwrap_or_default(),
                timestamp: line.timestamp,
                payload,
                is_of_compaction: line
                    .metadata
                    .object()
                    .is_some_and(|about| about.compaction_output.0 == Some(true)),
            }));
        }
        let Loose::Object(payload) = json::parse::<Loose<Box<Payload<'a>>>>(text)? else {
            return Some(None);
        };
        Some(Some(Record {
            envelope: String::new(),
            timestamp: line.timestamp,
            payload,
            is_of_compaction: false,
        }))
    }

    /// What the record is called: the type of its payload where that has one.
    pub fn kind(&self) -> &str {
        match self.payload.kind.as_str() {
            Some(kind) if self.is_of("response_item") || self.is_of("event_msg") => kind,
            // The first line of a rollout from before the envelope has no type.
            None if self.envelope.is_empty() && self.payload.id.as_str().is_some() => {
                "session_meta"
            }
            Some(kind) if self.envelope.is_empty() => kind,
            None if self.is_state() => STATE,
            _ => &self.envelope,
        }
    }

    /// Whether it only says that the rollout's state was saved.
    fn is_state(&self) -> bool {
        self.envelope.is_empty() && self.payload.record_type.as_str() == Some(STATE)
    }

    /// Whether it is of that envelope. What stands alone is an item of a response.
    pub fn is_of(&self, envelope: &str) -> bool {
        match self.envelope.as_str() {
            "" => envelope == "response_item",
            known => known == envelope,
        }
    }
}
