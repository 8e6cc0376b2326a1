//! The shape of Gemini CLI's records as far as they are looked at: lines of a log, and the parts of
//! the document that a session was before.

use serde::Deserialize;

use crate::json::{self, Count, Loose, Raw, Text};

/// Any record; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    // Messages.
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Raw<'a>,
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub display_content: Raw<'a>,
    #[serde(borrow)]
    pub thoughts: Raw<'a>,
    pub tokens: Loose<MessageTokens>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub tool_calls: Raw<'a>,
    // Changes.
    #[serde(rename = "$rewindTo", borrow)]
    pub rewind_to: Text<'a>,
    #[serde(rename = "$set", borrow)]
    pub set: Loose<Box<Metadata<'a>>>,
    #[serde(rename = "$patch", borrow)]
    pub patch: Raw<'a>,
    // Headers.
    #[serde(borrow)]
    pub session_id: Text<'a>,
    #[serde(borrow)]
    pub project_hash: Text<'a>,
    /// What kind of session it is.
    #[serde(rename = "kind", borrow)]
    pub session_kind: Text<'a>,
    #[serde(borrow)]
    pub start_time: Raw<'a>,
    #[serde(borrow)]
    pub last_updated: Raw<'a>,
    #[serde(borrow)]
    pub summary: Raw<'a>,
}

/// What a line changes of the session.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub last_updated: Raw<'a>,
    #[serde(borrow)]
    pub summary: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct MessageTokens {
    pub input: Count,
    pub output: Count,
    pub cached: Count,
    pub thoughts: Count,
    pub tool: Count,
    pub total: Count,
}

/// One of a message's `thoughts`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Thought<'a> {
    #[serde(borrow)]
    pub subject: Raw<'a>,
    #[serde(borrow)]
    pub description: Raw<'a>,
}

/// One of a message's `toolCalls`: what a tool was asked and what it gave back.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolCall<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub args: Raw<'a>,
    #[serde(borrow)]
    pub result: Raw<'a>,
    #[serde(borrow)]
    pub result_display: Raw<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
}

/// What a record is, told by its keys, in the order in which Gemini CLI asks for them (0.61.0,
/// `loadConversationRecord`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rewind,
    Message,
    Set,
    Patch,
    Header,
    Unknown,
}

impl<'a> Line<'a> {
    pub fn what(&self) -> Kind {
        if self.rewind_to.as_str().is_some() {
            Kind::Rewind
        } else if self.id.as_str().is_some() {
            Kind::Message
        } else if self.set.object().is_some() {
            Kind::Set
        } else if self.patch.is_value() {
            Kind::Patch
        } else if self
            .session_id
            .as_str()
            .and(self.project_hash.as_str())
            .is_some()
        {
            Kind::Header
        } else {
            Kind::Unknown
        }
    }

    /// The message's calls. `None` where the second tier is needed.
    pub fn calls(&self) -> Option<Vec<ToolCall<'a>>> {
        self.tool_calls.objects()
    }

    /// What was thought before the message. `None` where the second tier is needed.
    pub fn thought(&self) -> Option<Vec<Thought<'a>>> {
        self.thoughts.objects()
    }
}

/// Reads a record with `read`. What stands around the messages of a document or of a `$set` is no
/// JSON by itself, and is completed first.
pub(super) fn read<R>(record: &[u8], read: impl Fn(&Line<'_>) -> Option<R>) -> Option<R> {
    let of_text = |text: &str| match json::parse::<Loose<Line<'_>>>(text)? {
        Loose::Object(line) => read(&line),
        _ => read(&Line::default()),
    };
    if let Some(found) = json::tiers(record, of_text) {
        return Some(found);
    }
    const AROUND: [(&str, &str); 4] = [
        ("", "]}"),
        ("", "]}}"),
        ("{\"messages\":[", ""),
        ("{\"$set\":{\"messages\":[", ""),
    ];
    AROUND.iter().find_map(|(before, behind)| {
        let whole = [before.as_bytes(), record, behind.as_bytes()].concat();
        json::tiers(&whole, of_text)
    })
}
