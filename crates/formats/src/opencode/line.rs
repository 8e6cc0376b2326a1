//! The shape of the lines of OpenCode's rows, as loose as facts and text need them.

use serde::Deserialize;

use crate::json::{Count, Flag, Int, Loose, Num, Raw, Text};

/// A line with what its row holds.
pub(super) type WholeLine<'a> = Line<'a, Loose<Box<Data<'a>>>>;

/// A row of any table, with what it holds as `D`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "D: Deserialize<'de> + Default"))]
pub(super) struct Line<'a, D = Raw<'a>> {
    #[serde(borrow)]
    pub table: Text<'a>,
    #[serde(borrow)]
    pub key: Raw<'a>,
    /// What a part's line repeats of its message.
    #[serde(borrow)]
    pub message: Loose<Role<'a>>,
    #[serde(borrow)]
    pub row: Loose<Row<'a, D>>,
}

impl<'a, D> Line<'a, D> {
    /// Its row, where that is an object. `None`: it has none at all.
    pub fn row(&self) -> Option<Option<&Row<'a, D>>> {
        match &self.row {
            Loose::Missing => None,
            row => Some(row.object()),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Role<'a> {
    #[serde(borrow)]
    pub role: Text<'a>,
}

/// A row of any table: of `session` or `session_v2`, of `message`, of `part` or, with a type, of
/// `session_message`. One shape for all, so that a line is gone through once and not again for what
/// its table makes of the row.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "D: Deserialize<'de> + Default"))]
pub(super) struct Row<'a, D = Raw<'a>> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    pub time_created: Int,
    // Of a session.
    #[serde(borrow)]
    pub parent_id: Raw<'a>,
    /// 2.x: the session that this one is a copy of.
    #[serde(borrow)]
    pub fork_session_id: Raw<'a>,
    #[serde(borrow)]
    pub directory: Text<'a>,
    #[serde(borrow)]
    pub title: Text<'a>,
    #[serde(borrow)]
    pub version: Raw<'a>,
    #[serde(borrow)]
    pub agent: Raw<'a>,
    #[serde(borrow)]
    pub project_id: Raw<'a>,
    #[serde(borrow)]
    pub share_url: Raw<'a>,
    #[serde(borrow)]
    pub revert: Loose<Revert<'a>>,
    pub time_updated: Int,
    pub time_archived: Int,
    // Of what is in it.
    #[serde(borrow)]
    pub message_id: Raw<'a>,
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    pub data: D,
}

/// From where on messages are outside the talk.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Revert<'a> {
    #[serde(rename = "messageID", borrow)]
    pub message: Raw<'a>,
}

/// What a message or a part of one says, of any type, in 1.x and in 2.x: one shape, as of a row.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Data<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    pub time: Loose<Times>,
    // A message.
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(rename = "modelID", borrow)]
    pub model_id: Text<'a>,
    #[serde(rename = "providerID", borrow)]
    pub provider_id: Text<'a>,
    pub cost: Num,
    pub tokens: Loose<Tokens>,
    #[serde(borrow)]
    pub finish: Text<'a>,
    #[serde(borrow)]
    pub path: Loose<Place<'a>>,
    /// Of a retry too.
    #[serde(borrow)]
    pub error: Loose<Failure<'a>>,
    // text, reasoning; 2.x: user, system, synthetic, compaction.
    #[serde(borrow)]
    pub text: Raw<'a>,
    pub synthetic: Flag,
    /// Shown to the person, and not to the model.
    pub ignored: Flag,
    // tool.
    #[serde(rename = "callID", borrow)]
    pub call_id: Raw<'a>,
    /// 2.x: the id of the call, and the name of the tool.
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub tool: Raw<'a>,
    #[serde(borrow)]
    pub state: Loose<State<'a>>,
    // file.
    #[serde(borrow)]
    pub mime: Text<'a>,
    #[serde(borrow)]
    pub filename: Raw<'a>,
    // patch; 2.x: what was attached to a prompt, and the skills that it names.
    #[serde(borrow)]
    pub files: Raw<'a>,
    #[serde(borrow)]
    pub skills: Raw<'a>,
    // subtask.
    #[serde(borrow)]
    pub prompt: Raw<'a>,
    #[serde(borrow)]
    pub description: Raw<'a>,
    // 2.x: compaction.
    #[serde(borrow)]
    pub summary: Raw<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
    // 2.x: assistant.
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub model: Loose<Model<'a>>,
    #[serde(borrow)]
    pub snapshot: Loose<Snapshot<'a>>,
    // 2.x: shell; 1.x: a subtask that a command began.
    #[serde(borrow)]
    pub command: Raw<'a>,
    #[serde(borrow)]
    pub output: Raw<'a>,
    pub exit: Int,
}

/// 2.x: what an answer changed.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Snapshot<'a> {
    #[serde(borrow)]
    pub files: Raw<'a>,
}

/// 2.x: what a command printed that a person ran.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Printed<'a> {
    #[serde(borrow)]
    pub output: Raw<'a>,
}

/// 2.x: which model answered.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(rename = "providerID", borrow)]
    pub provider: Text<'a>,
    #[serde(borrow)]
    pub variant: Text<'a>,
}

/// Every time that a row may give, in milliseconds.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Times {
    pub created: Int,
    pub completed: Int,
    pub start: Int,
    pub end: Int,
    /// 2.x: when a tool began.
    pub ran: Int,
}

/// Where an answer was given.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Place<'a> {
    #[serde(borrow)]
    pub cwd: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    pub total: Count,
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

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub data: Loose<Reason<'a>>,
    // 2.x.
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub message: Raw<'a>,
}

impl Failure<'_> {
    /// What it is called.
    pub fn called(&self) -> Option<String> {
        self.name.owned().or_else(|| self.kind.owned())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Reason<'a> {
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
    /// 2.x: what the tool gave back, in blocks.
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    pub error: Raw<'a>,
    pub metadata: Loose<Metadata>,
    /// What `metadata` was called before 2.0.
    pub structured: Loose<Metadata>,
    pub time: Loose<Times>,
}

/// What a tool says beside its output.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Metadata {
    /// With what a command ended.
    pub exit: Int,
}

/// What a tool was asked about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub command: Text<'a>,
    #[serde(rename = "filePath", borrow)]
    pub file_path: Text<'a>,
    #[serde(rename = "patchText", borrow)]
    pub patch_text: Text<'a>,
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub pattern: Text<'a>,
    #[serde(borrow)]
    pub query: Text<'a>,
    #[serde(borrow)]
    pub url: Text<'a>,
    #[serde(borrow)]
    pub description: Text<'a>,
    // Of `invalid`: the tool that was meant, and what was wrong.
    #[serde(borrow)]
    pub tool: Text<'a>,
    #[serde(borrow)]
    pub error: Raw<'a>,
}
