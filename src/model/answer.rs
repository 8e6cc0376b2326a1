//! Answers: what list, search, tree and show give. `--json` prints exactly these.
//!
//! Times are ISO 8601 UTC strings with milliseconds, as pi writes them; `null` = absent or
//! unparsable. Beside each stands the same moment in ms since the epoch: `time_ms` beside `time`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};

use super::{Class, Resume};

/// Version of the JSON that the command prints.
pub const SCHEMA_VERSION: u32 = 1;

/// What stands in the place of a first message, and of a title, where nothing was said.
pub(crate) const NO_MESSAGES: &str = "(no messages)";

/// What happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is new, or its rows say something else than before.
    Changed,
    /// Its file is gone: from now on it is read from the archive.
    Archived,
    /// It is there no more; its number never comes back.
    Gone,
}

/// A place in the feed of changes of one index.
///
/// The default is of no index: who reads on from there is told to read all sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeedPosition {
    /// Of which filling of the index, as `index_id` of the view `freshness`: after a rebuild it is
    /// another one, and the numbers start again.
    pub index_id: String,
    /// Number of the last change that is known.
    pub seq: i64,
}

/// One change of a session: a row of the view `changes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Change")
)]
#[non_exhaustive]
pub struct SessionChange {
    /// Number in the feed; each is larger than the one before.
    pub seq: i64,
    /// Number of the session in this index, as [`SessionRow::number`].
    pub session: i64,
    /// What happened to it.
    pub what: ChangeKind,
    /// Id of the session.
    pub id: String,
    /// Path of its main source, as far as its sources were read by then: of a session with several
    /// files it may be another one of them than what a list says later. `session` stays the same.
    pub path: PathBuf,
}

/// One row of a list. The camel-cased fields are pi's `SessionInfo`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionRow {
    /// Agent that wrote the session.
    pub agent: String,
    /// Label of the root, if it has one.
    pub label: Option<String>,
    /// The machine that it was copied from; `null` = it is this one's own.
    #[serde(default)]
    pub host: Option<String>,
    /// Sessions of subagents that it started, and of those that they started.
    #[serde(default)]
    pub subagents: u64,
    /// Absolute path of the session's main source.
    pub path: PathBuf,
    /// The session id as the agent's list shows it.
    pub id: String,
    /// Working directory, "" when unknown.
    pub cwd: String,
    /// What to call it: its name, else the first thing that its person typed, on one line, without
    /// what programs put in and without commands, at most 200 characters of it, else its first
    /// message.
    #[serde(default)]
    pub title: String,
    /// Name or title, as the agent keeps it.
    pub name: Option<String>,
    /// The session it was forked from.
    #[serde(rename = "parentSessionPath")]
    pub parent_session_path: Option<String>,
    /// Creation time.
    pub created: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub created_ms: Option<i64>,
    /// When the agent says it was last modified.
    pub modified: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub modified_ms: Option<i64>,
    /// Messages (pi) or turns (clido).
    #[serde(rename = "messageCount")]
    pub message_count: u64,
    /// First user message; `None` when there is none, for which JSON has "(no messages)".
    #[serde(rename = "firstMessage", with = "first_message")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "String",
            description = "First user message, \"(no messages)\" when there is none."
        )
    )]
    pub first_message: Option<String>,
    /// User and assistant text, only when asked for.
    #[serde(rename = "allMessagesText", skip_serializing_if = "Option::is_none")]
    pub all_messages_text: Option<String>,
    /// Would the agent's own list show it?
    pub listed_by_agent: bool,
    /// Why not.
    pub reason: Option<String>,
    /// All entries.
    pub entries: u64,
    /// Byte ranges that are no entry.
    pub problems: u64,
    /// Entries that report an error.
    pub errors: u64,
    /// Provider in force at the end.
    pub provider: Option<String>,
    /// Model in force at the end.
    pub model: Option<String>,
    /// Tokens, summed; `null` = not recorded.
    pub tokens: Option<i64>,
    /// US dollars, summed over all runs; `null` = not recorded.
    pub cost: Option<f64>,
    /// US dollars as the agent's own list shows them, where that differs.
    pub listed_cost: Option<f64>,
    /// Size of its sources in bytes.
    pub bytes: u64,
    /// How its agent takes it up again; `null` where that is not known, or the agent would not list
    /// it.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// The git branch that was checked out last; `null` = not recorded.
    #[serde(default)]
    pub git_branch: Option<String>,
    /// The repository in which it ran, as the host and the path of its remote; `null` = not known.
    #[serde(default)]
    pub repository: Option<String>,
    /// How much the model was told to think last, in the agent's own words; `null` = not recorded.
    #[serde(default)]
    pub thinking_level: Option<String>,
    /// Whether nothing of it was read yet but what its agent's database says of the session itself:
    /// what is counted of entries is not known then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_read_yet: bool,
    /// Whether its file is gone: what it says is read from the archive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// When its file was found to be gone; only of archived sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_since: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_since_ms: Option<i64>,
    /// What only this agent records of a session, under its own names (agentuse: `status`,
    /// `agentId`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<serde_json::Value>,
    /// Its number in this index, by which [`SessionChange::session`] names it: it stays until the
    /// index is rebuilt.
    #[serde(skip)]
    pub number: i64,
}

/// The answer of `list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Listing {
    pub schema_version: u32,
    /// First the agents' rows in the agents' order, then what they would not list.
    pub sessions: Vec<SessionRow>,
    /// How many sessions there are in the scope; `sessions` may be a page of them.
    #[serde(default)]
    pub total: u64,
    /// Sessions of other directories that pass the same filters.
    pub elsewhere: u64,
    /// The working directory that was asked for; absent: `within`, or every one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "lossy"
    )]
    pub cwd: Option<PathBuf>,
    /// The directories that were asked for with all below them; absent: `cwd`, or every one.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "all_lossy"
    )]
    pub within: Vec<PathBuf>,
    /// The repositories that were asked for, wherever their checkouts are: as their remotes name
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// Whether all that is on disk is in this answer. Last, as it is known last.
    pub complete: bool,
    /// Files known to be not yet read.
    pub pending_files: u64,
}

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(super) fn is_false(value: &bool) -> bool {
    !*value
}

pub(super) fn is_true(value: &bool) -> bool {
    *value
}

pub(super) fn yes() -> bool {
    true
}

/// A directory whose name need not be UTF-8, as JSON takes it.
pub(super) fn lossy<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|path| path.to_string_lossy())
        .serialize(to)
}

pub(super) fn all_lossy<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// One row of a tree, parents before children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct TreeRow {
    /// Entry id, or `L<line>`.
    pub id: String,
    pub parent: Option<String>,
    pub depth: u32,
    pub kind: String,
    pub role: Option<String>,
    pub label: Option<String>,
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub time_ms: Option<i64>,
    pub on_active_branch: bool,
    pub is_leaf: bool,
    /// Decoded beginning of the text, one line; of an answer, behind its call: `[tool: subject]`.
    pub text: String,
    pub is_error: bool,
    /// Whether it holds an image; not written where it does not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_image: bool,
    /// Whether the agent reads the entry; not written where it does.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub agent_sees: bool,
    /// Its number among the session's entries in file order, from 0: it stays while files grow.
    #[serde(skip)]
    pub ordinal: u32,
    /// The id of the session in which it stands and has its address, where this one inherits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
}

/// The answer of `tree`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Tree {
    pub schema_version: u32,
    pub session: SessionRow,
    /// Paths of the sessions that started this one to work for them, nearest first, where it is a
    /// subagent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started_by: Vec<String>,
    /// Sessions this one was forked from, nearest first (paths as written where not catalogued).
    pub ancestors: Vec<String>,
    /// Paths of sessions forked from this one.
    pub forks: Vec<String>,
    /// Paths of the sessions of its subagents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<String>,
    pub entries: Vec<TreeRow>,
    /// Why the beginning that it inherits is not among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Whether all that is on disk is in this answer. Last, as it is known last.
    pub complete: bool,
    /// Files that hold other bytes than those catalogued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<PathBuf>,
}

/// A session that comes from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildSession {
    /// Its path.
    pub path: PathBuf,
    /// Whether the other one started it to work for it, and it is no fork.
    pub is_subagent: bool,
}

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct ShownEntry {
    /// Its id, else `L<line>`; of bytes that are no entry `@<start>`, which names nothing.
    pub id: String,
    pub parent: Option<String>,
    /// 1-based physical line; 0 where the format has no lines.
    pub line: u64,
    pub start: u64,
    pub end: u64,
    pub kind: String,
    pub role: Option<String>,
    pub label: Option<String>,
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub time_ms: Option<i64>,
    pub is_error: bool,
    /// Whether it holds an image; not written where it does not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_image: bool,
    /// Whether the agent reads the entry; not written where it does.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub agent_sees: bool,
    /// Decoded text by class, in order. Of bytes that are no entry their beginning, as the file
    /// stands.
    pub text: Vec<(Class, Vec<String>)>,
    /// Why there is nothing to show: of kind `problem` for bytes that are no entry, else for an
    /// entry whose bytes are no longer what was read of them.
    pub problem: Option<String>,
    /// Its number among the session's entries in file order, from 0: it stays while files grow.
    /// `None`: bytes that are no entry.
    #[serde(skip)]
    pub ordinal: Option<u32>,
    /// The id of the session in which it stands and has its address, where this one inherits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
}

/// The answer of `show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Transcript {
    pub schema_version: u32,
    pub session: SessionRow,
    pub entries: Vec<ShownEntry>,
    /// The entry asked for, when one was.
    pub focus: Option<String>,
    /// Why the beginning that it inherits is not among the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Whether all that is on disk is in this answer. Last, as it is known last.
    pub complete: bool,
    /// Files that hold other bytes than those catalogued. Entries of them are shown as the file
    /// stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<PathBuf>,
}

/// The first message as JSON has it, which has one for every session, as pi's list does.
mod first_message {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::NO_MESSAGES;

    pub fn serialize<S: Serializer>(said: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(said.as_deref().unwrap_or(NO_MESSAGES))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
        let said = String::deserialize(from)?;
        Ok((said != NO_MESSAGES).then_some(said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_messages_is_written_as_ever_and_read_as_one() {
        for (said, written) in [(Some("Hello"), "Hello"), (None, "(no messages)")] {
            let row = SessionRow {
                first_message: said.map(str::to_owned),
                ..SessionRow::default()
            };
            let json = serde_json::to_value(&row).unwrap();
            assert_eq!(json["firstMessage"], written);
            assert_eq!(serde_json::from_value::<SessionRow>(json).unwrap(), row);
        }
    }
}
