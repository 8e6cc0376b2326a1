//! What is said in a session: messages of every role.

use std::borrow::Cow;

use super::content::{Content, ContentBlock, StopReason, Usage};
use super::value::{Json, Value, object, put};
use sessionary_formats::json;

object! {
    /// What the model is told before everything else (pi since 0.87: `SystemMessage`).
    SystemMessage tag "role" = "system" {
        /// The prompt.
        content: "content" Content,
        /// Named parts of it; null removes one.
        sections: "sections" Option<Json>,
        /// Tools the model may call from here on.
        tools_added: "toolsAdded" Option<Json>,
        /// Tools it may no longer call.
        tools_removed: "toolsRemoved" Option<Json>,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

object! {
    /// What the user says (pi: `UserMessage`).
    UserMessage tag "role" = "user" {
        /// Text, or text and pictures.
        content: "content" Content,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

object! {
    /// What the model answers (pi: `AssistantMessage`).
    AssistantMessage tag "role" = "assistant" {
        /// Text, thoughts and calls.
        content: "content" Vec<ContentBlock>,
        /// The interface it was asked by, as `anthropic-messages`.
        api: "api" String,
        /// Who runs the model.
        provider: "provider" String,
        /// The model.
        model: "model" String,
        /// What it cost.
        usage: "usage" Usage,
        /// Why it stopped.
        stop_reason: "stopReason" StopReason,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
        /// What failed.
        error_message: "errorMessage" Option<String>,
    }
}

object! {
    /// What a tool gave back (pi: `ToolResultMessage`).
    ToolResultMessage tag "role" = "toolResult" {
        /// The call it answers.
        tool_call_id: "toolCallId" String,
        /// The tool.
        tool_name: "toolName" String,
        /// Text and pictures.
        content: "content" Vec<ContentBlock>,
        /// What the tool tells the program, not the model.
        details: "details" Option<Json>,
        /// Whether it failed.
        is_error: "isError" bool,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

object! {
    /// A command that the user ran (pi: `BashExecutionMessage`).
    BashExecutionMessage tag "role" = "bashExecution" {
        /// The command.
        command: "command" String,
        /// What it printed.
        output: "output" String,
        /// How it ended; absent when it did not.
        exit_code: "exitCode" Option<i64>,
        /// Whether it was stopped.
        cancelled: "cancelled" bool,
        /// Whether the output is cut.
        truncated: "truncated" bool,
        /// Where all of the output is.
        full_output_path: "fullOutputPath" Option<String>,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
        /// Whether the model does not see it.
        exclude_from_context: "excludeFromContext" Option<bool>,
    }
}

object! {
    /// What an extension says (pi: `CustomMessage`).
    CustomMessage tag "role" = "custom" {
        /// Whose it is.
        custom_type: "customType" String,
        /// Text, or text and pictures.
        content: "content" Content,
        /// Whether the user sees it.
        display: "display" bool,
        /// What the extension keeps with it.
        details: "details" Option<Json>,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

object! {
    /// What was tried on a branch that was left (pi: `BranchSummaryMessage`); in contexts only.
    BranchSummaryMessage tag "role" = "branchSummary" {
        /// The summary.
        summary: "summary" String,
        /// The entry that was left.
        from_id: "fromId" String,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

object! {
    /// What came before, in short (pi: `CompactionSummaryMessage`); in contexts only.
    CompactionSummaryMessage tag "role" = "compactionSummary" {
        /// The summary.
        summary: "summary" String,
        /// Tokens that the context had before.
        tokens_before: "tokensBefore" i64,
        /// When, in ms since the epoch.
        timestamp: "timestamp" i64,
    }
}

/// A message of any role (pi: `AgentMessage`).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum AgentMessage {
    System(SystemMessage),
    User(UserMessage),
    Assistant(AssistantMessage),
    ToolResult(ToolResultMessage),
    BashExecution(BashExecutionMessage),
    Custom(CustomMessage),
    BranchSummary(BranchSummaryMessage),
    CompactionSummary(CompactionSummaryMessage),
    /// A message of another role, as it is written.
    Other(Json),
}

/// One message as its JSON text: what a file holds is kept to the byte. [`Message::typed`] reads
/// it; every typed message converts into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    json: Cow<'a, str>,
    role: Cow<'static, str>,
}

impl<'a> Message<'a> {
    /// The message that is written so; `None` where the text is no JSON object.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = &text[json::whole(text.as_bytes())?];
        let role = json::member(text, "role").and_then(String::read);
        text.starts_with('{')
            .then(|| Self::trusted(&role.unwrap_or_default(), text))
    }

    /// A text that is known to be an object with that role.
    pub(super) fn trusted(role: &str, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            json: text.into(),
            role: known_role(role),
        }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.json
    }

    /// This message with a text that it owns.
    pub fn into_owned(self) -> Message<'static> {
        Message {
            json: Cow::Owned(self.json.into_owned()),
            role: self.role,
        }
    }

    /// Who speaks; "" where the message does not say.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The message, read.
    pub fn typed(&self) -> AgentMessage {
        let text = self.as_str();
        match self.role() {
            "system" => SystemMessage::read(text).map(AgentMessage::System),
            "user" => UserMessage::read(text).map(AgentMessage::User),
            "assistant" => AssistantMessage::read(text).map(AgentMessage::Assistant),
            "toolResult" => ToolResultMessage::read(text).map(AgentMessage::ToolResult),
            "bashExecution" => BashExecutionMessage::read(text).map(AgentMessage::BashExecution),
            "custom" => CustomMessage::read(text).map(AgentMessage::Custom),
            "branchSummary" => BranchSummaryMessage::read(text).map(AgentMessage::BranchSummary),
            "compactionSummary" => {
                CompactionSummaryMessage::read(text).map(AgentMessage::CompactionSummary)
            }
            _ => None,
        }
        .unwrap_or_else(|| AgentMessage::Other(Json::trusted(text)))
    }

    pub(super) fn member(&self, key: &str) -> Option<&str> {
        json::member(&self.json, key)
    }

    /// The message with another value of that member, at its place or else at the end.
    pub(super) fn with(&self, key: &str, value: &str) -> Message<'static> {
        Message {
            json: Cow::Owned(super::splice::set(&self.json, key, value)),
            role: self.role.clone(),
        }
    }
}

/// A role, without memory of its own where it is a usual one.
pub(super) fn known_role(role: &str) -> Cow<'static, str> {
    const ROLES: [&str; 8] = [
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
        "custom",
        "system",
        "branchSummary",
        "compactionSummary",
    ];
    match ROLES.iter().find(|known| **known == role) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(role.to_owned()),
    }
}

/// Starts to write a message of that role.
pub(super) fn begin(role: &str) -> String {
    let mut out = "{".to_owned();
    put(&mut out, "role", &role.to_owned());
    out
}

macro_rules! into_message {
    ($($variant:ident($type:ident),)*) => {$(
        impl From<$type> for AgentMessage {
            fn from(message: $type) -> Self {
                Self::$variant(message)
            }
        }
        impl From<$type> for Message<'static> {
            fn from(message: $type) -> Self {
                AgentMessage::$variant(message).into()
            }
        }
    )*
        impl From<AgentMessage> for Message<'static> {
            fn from(message: AgentMessage) -> Self {
                let mut out = String::new();
                match message {
                    $(AgentMessage::$variant(message) => message.write(&mut out),)*
                    AgentMessage::Other(message) => message.write(&mut out),
                }
                let role = json::member(&out, "role").and_then(String::read);
                Message::trusted(&role.unwrap_or_default(), out)
            }
        }
    };
}

into_message! {
    System(SystemMessage),
    User(UserMessage),
    Assistant(AssistantMessage),
    ToolResult(ToolResultMessage),
    BashExecution(BashExecutionMessage),
    Custom(CustomMessage),
    BranchSummary(BranchSummaryMessage),
    CompactionSummary(CompactionSummaryMessage),
}
