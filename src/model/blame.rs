//! Which session wrote which line: what blame and log give.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The answer of `blame`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Blame {
    pub schema_version: u32,
    pub file: PathBuf,
    /// The calls that wrote lines of it, the oldest first.
    pub calls: Vec<LineCall>,
    /// Every line of the file as it is now.
    pub lines: Vec<BlamedLine>,
    /// How many calls of sessions changed the file, as far as they are known.
    pub changes: u64,
    /// Whether all that is on disk is in this answer.
    pub complete: bool,
    /// Session files that hold other bytes than those catalogued: what they say of it is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<PathBuf>,
}

/// A call that wrote lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct LineCall {
    pub session: SessionRow,
    /// Id of the entry that calls, or `L<line>`.
    pub entry: String,
    pub tool: Option<String>,
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    pub time_ms: Option<i64>,
    /// Whether the entry is on the branch at whose end its session is. What was done on another
    /// branch was done to the file all the same.
    pub on_active_branch: bool,
    /// The entry of the message that led to it: what a person typed last before it on its branch.
    pub prompt_entry: Option<String>,
    /// What that message says.
    pub prompt: Option<String>,
}

/// A line of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct BlamedLine {
    /// Its number, from 1.
    pub line: u64,
    pub origin: LineOrigin,
    /// Which of the calls, from 0; `null` where the line is no session's.
    pub call: Option<usize>,
    pub text: String,
}

/// How a line came to be as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineOrigin {
    /// The call wrote it.
    Edit,
    /// The call wrote it but for its white space: a formatter, or somebody, changed that.
    WhiteSpace,
    /// It stands in a command that names the file, or that is recorded to have changed it, and the
    /// call ran that.
    Command,
    /// No session is known to have written it, or several may have.
    #[default]
    NoSession,
}

/// The answer of `log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct FileLog {
    pub schema_version: u32,
    pub file: PathBuf,
    /// Those that touched it last first.
    pub sessions: Vec<FileSession>,
    /// Whether all that is on disk is in this answer.
    pub complete: bool,
}

/// What a session did to a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct FileSession {
    pub session: SessionRow,
    /// How often it was told to read the file, and to change it; what failed counts, too.
    pub reads: u64,
    pub modifications: u64,
    /// When it did so first and last.
    pub first: Option<String>,
    pub first_ms: Option<i64>,
    pub last: Option<String>,
    pub last_ms: Option<i64>,
}

/// The answer of `commit`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct CommitWriter {
    pub schema_version: u32,
    /// Its whole name.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was made.
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    pub time_ms: i64,
    /// How it is known which session made it; `null`: it is not.
    pub evidence: Option<CommitEvidence>,
    /// The call that made it, or the last one that wrote a line of it.
    pub call: Option<LineCall>,
    /// How many lines it adds that are hardly written twice by chance.
    pub lines: u64,
    /// Sessions that wrote some of these lines, and how many; the one with the most first.
    pub sessions: Vec<CommitSession>,
    /// Whether all that is on disk is in this answer.
    pub complete: bool,
    /// Session files that hold other bytes than those catalogued: what they say is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<PathBuf>,
}

/// How it is known which session made a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommitEvidence {
    /// The session ran `git commit` and was told this name.
    Recorded,
    /// No other session wrote any of its lines, and this one wrote half of them or more.
    Lines,
}

/// A session that wrote lines of a commit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct CommitSession {
    pub session: SessionRow,
    pub lines: u64,
}
