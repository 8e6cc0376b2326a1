//! What entries of every type say, read from their lines.

use super::content::{Content, Usage};
use super::message::Message;
use super::value::{Json, object};

/// Members that every entry has; typed entries leave them to [`Entry`].
const BASE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

object! {
    /// A change of the thinking level (pi: `ThinkingLevelChangeEntry`).
    ThinkingLevelChangeEntry skip BASE {
        /// The level from here on.
        thinking_level: "thinkingLevel" String,
    }
}

object! {
    /// A change of the model (pi: `ModelChangeEntry`).
    ModelChangeEntry skip BASE {
        /// Who runs the model.
        provider: "provider" String,
        /// The model from here on.
        model_id: "modelId" String,
    }
}

object! {
    /// What came before, in short (pi: `CompactionEntry`).
    CompactionEntry skip BASE {
        /// The summary.
        summary: "summary" String,
        /// The first entry that the context keeps beside the summary. When it is appended: nothing
        /// is kept where this is absent (pi then writes the entry's own id).
        first_kept_entry_id: "firstKeptEntryId" Option<String>,
        /// Tokens that the context had before.
        tokens_before: "tokensBefore" i64,
        /// What else is known, as files read and changed.
        details: "details" Option<Json>,
        /// What the summary cost.
        usage: "usage" Option<Usage>,
        /// Whether an extension wrote it.
        from_hook: "fromHook" Option<bool>,
        /// The prompt in force (pi since 0.87); written by the manager.
        system_message: "systemMessage" Option<Json>,
    }
}

object! {
    /// What was tried on a branch that was left (pi: `BranchSummaryEntry`).
    BranchSummaryEntry skip BASE {
        /// The entry that was left, or "root"; written by the manager.
        from_id: "fromId" String,
        /// The summary.
        summary: "summary" String,
        /// What else is known, as files read and changed.
        details: "details" Option<Json>,
        /// What the summary cost.
        usage: "usage" Option<Usage>,
        /// Whether an extension wrote it.
        from_hook: "fromHook" Option<bool>,
    }
}

object! {
    /// What an extension keeps; no part of the context (pi: `CustomEntry`).
    CustomEntry skip BASE {
        /// Whose it is.
        custom_type: "customType" String,
        /// Its data.
        data: "data" Option<Json>,
    }
}

object! {
    /// What an extension says; part of the context (pi: `CustomMessageEntry`).
    CustomMessageEntry skip BASE {
        /// Whose it is.
        custom_type: "customType" String,
        /// Text, or text and pictures.
        content: "content" Content,
        /// Whether the user sees it.
        display: "display" bool,
        /// What the extension keeps with it.
        details: "details" Option<Json>,
    }
}

object! {
    /// A label set on an entry, or taken from it (pi: `LabelEntry`).
    LabelEntry skip BASE {
        /// The entry.
        target_id: "targetId" String,
        /// The label; absent or empty takes it away.
        label: "label" Option<String>,
    }
}

object! {
    /// The session's name (pi: `SessionInfoEntry`).
    SessionInfoEntry skip BASE {
        /// The name; absent or empty takes it away.
        name: "name" Option<String>,
    }
}

object! {
    /// Another model's work beside the conversation (pi since 0.87: `UsageEntry`).
    UsageEntry skip BASE {
        /// What the work was.
        kind: "kind" String,
        /// Who runs the model.
        provider: "provider" String,
        /// The model.
        model: "model" String,
        /// What it cost.
        usage: "usage" Usage,
        /// A word about it.
        note: "note" Option<String>,
    }
}

object! {
    /// A message seen otherwise from here on (pi since 0.87: `ContextEditEntry`).
    ContextEditEntry skip BASE {
        /// The entry whose message it is.
        target_id: "targetId" String,
        /// `{"content":…}`, or null where the message is left out.
        replacement: "replacement" Option<Json>,
    }
}

/// An entry, read (pi: `SessionEntry`).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum SessionEntry {
    Message(Message<'static>),
    ThinkingLevelChange(ThinkingLevelChangeEntry),
    ModelChange(ModelChangeEntry),
    Compaction(CompactionEntry),
    BranchSummary(BranchSummaryEntry),
    Custom(CustomEntry),
    CustomMessage(CustomMessageEntry),
    Label(LabelEntry),
    SessionInfo(SessionInfoEntry),
    Usage(UsageEntry),
    ContextEdit(ContextEditEntry),
    /// An entry of another type; [`Entry::json`](super::Entry::json) has its text.
    Unknown,
}

impl SessionEntry {
    /// A member that the entry's type names, whose value is neither null nor of the named type.
    pub(super) fn misfit(&self) -> Option<&'static str> {
        match self {
            Self::Message(_) | Self::Unknown => None,
            Self::ThinkingLevelChange(entry) => entry.misfit(),
            Self::ModelChange(entry) => entry.misfit(),
            Self::Compaction(entry) => entry.misfit(),
            Self::BranchSummary(entry) => entry.misfit(),
            Self::Custom(entry) => entry.misfit(),
            Self::CustomMessage(entry) => entry.misfit(),
            Self::Label(entry) => entry.misfit(),
            Self::SessionInfo(entry) => entry.misfit(),
            Self::Usage(entry) => entry.misfit(),
            Self::ContextEdit(entry) => entry.misfit(),
        }
    }
}
