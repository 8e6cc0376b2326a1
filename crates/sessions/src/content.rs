//! What a message holds: blocks of text, pictures, thoughts and calls, and what they cost.

use super::value::{Json, Value, object, quote};
use sessionary_formats::json;

object! {
    /// Text that is said (pi: `TextContent`).
    TextContent tag "type" = "text" {
        /// The text.
        text: "text" String,
        /// What the provider wants back with it.
        text_signature: "textSignature" Option<String>,
    }
}

object! {
    /// A picture (pi: `ImageContent`).
    ImageContent tag "type" = "image" {
        /// Its bytes in base64.
        data: "data" String,
        /// Its type, as `image/png`.
        mime_type: "mimeType" String,
    }
}

object! {
    /// What the model thought (pi: `ThinkingContent`).
    ThinkingContent tag "type" = "thinking" {
        /// The thought.
        thinking: "thinking" String,
        /// What the provider wants back with it.
        thinking_signature: "thinkingSignature" Option<String>,
        /// Whether the thought is hidden, and only its signature counts.
        redacted: "redacted" Option<bool>,
    }
}

object! {
    /// A call of a tool (pi: `ToolCall`).
    ToolCall tag "type" = "toolCall" {
        /// The call's id, which its result names.
        id: "id" String,
        /// The tool.
        name: "name" String,
        /// What it is given: an object.
        arguments: "arguments" Option<Json>,
        /// What the provider wants back with it.
        thought_signature: "thoughtSignature" Option<String>,
    }
}

/// One block of a message's content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A thought.
    Thinking(ThinkingContent),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A block of another type, as it is written.
    Other(Json),
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }
}

impl Value for ContentBlock {
    fn read(text: &str) -> Option<Self> {
        let kind = json::member(text, "type").and_then(String::read);
        let typed = match kind.as_deref() {
            Some("text") => TextContent::read(text).map(Self::Text),
            Some("image") => ImageContent::read(text).map(Self::Image),
            Some("thinking") => ThinkingContent::read(text).map(Self::Thinking),
            Some("toolCall") => ToolCall::read(text).map(Self::ToolCall),
            _ => None,
        };
        Some(typed.unwrap_or_else(|| Self::Other(Json::trusted(text))))
    }
    fn write(&self, out: &mut String) {
        match self {
            Self::Text(block) => block.write(out),
            Self::Image(block) => block.write(out),
            Self::Thinking(block) => block.write(out),
            Self::ToolCall(block) => block.write(out),
            Self::Other(block) => block.write(out),
        }
    }
}

/// A message's content: plain text, or blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks.
    Blocks(Vec<ContentBlock>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl Value for Content {
    fn read(text: &str) -> Option<Self> {
        match text.starts_with('[') {
            true => Vec::read(text).map(Self::Blocks),
            false => String::read(text).map(Self::Text),
        }
    }
    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => text.write(out),
            Self::Blocks(blocks) => blocks.write(out),
        }
    }
}

object! {
    /// What a turn cost, in US dollars.
    Cost {
        /// For tokens read.
        input: "input" f64,
        /// For tokens written.
        output: "output" f64,
        /// For tokens read from the provider's cache.
        cache_read: "cacheRead" f64,
        /// For tokens written to it.
        cache_write: "cacheWrite" f64,
        /// All together.
        total: "total" f64,
    }
}

object! {
    /// Tokens and costs of a turn (pi: `Usage`).
    Usage {
        /// Tokens read.
        input: "input" i64,
        /// Tokens written.
        output: "output" i64,
        /// Tokens read from the provider's cache.
        cache_read: "cacheRead" i64,
        /// Tokens written to it.
        cache_write: "cacheWrite" i64,
        /// All together.
        total_tokens: "totalTokens" i64,
        /// What they cost.
        cost: "cost" Cost,
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It was done.
    #[default]
    Stop,
    /// It ran out of room.
    Length,
    /// It wants tools to run.
    ToolUse,
    /// Something failed.
    Error,
    /// The user stopped it.
    Aborted,
    /// Another reason, as it is written.
    Other(String),
}

impl Value for StopReason {
    fn read(text: &str) -> Option<Self> {
        Some(match &*String::read(text)? {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "toolUse" => Self::ToolUse,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            other => Self::Other(other.to_owned()),
        })
    }
    fn write(&self, out: &mut String) {
        quote(
            out,
            match self {
                Self::Stop => "stop",
                Self::Length => "length",
                Self::ToolUse => "toolUse",
                Self::Error => "error",
                Self::Aborted => "aborted",
                Self::Other(other) => other,
            },
        );
    }
}
