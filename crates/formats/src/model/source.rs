//! Sources and the records cut from them.

use serde::{Deserialize, Serialize};

/// A byte range of a source: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Range {
    pub start: u64,
    pub end: u64,
}

impl Range {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// What part of a session a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The session itself.
    Main,
    /// A nested agent's part of it.
    Subagent,
    /// A whole earlier copy.
    Copy,
    /// Something beside it that belongs to it.
    Side,
}

/// What a format says about a path below a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// A source of the session named by `session` (a key unique within the root, e.g. the
    /// relative path, or the folder that holds all files of a session).
    Source {
        /// Key of the session within the root.
        session: String,
        /// Which part of it.
        part: Part,
        /// Why the agent itself would not list a session found at this path; `None` if it would.
        unlisted: Option<String>,
    },
    /// A file the format knows and does not catalogue (temporary and foreign files).
    Ignore(&'static str),
}

/// A record: one JSON value cut from a source, or bytes that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Record {
    pub range: Range,
    pub kind: RecordKind,
}

/// What the bytes of a record are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordKind {
    /// One whole JSON value.
    Entry {
        /// One of several values on one line: agents drop all of them.
        fused: bool,
        /// The line's final newline is missing: provisional until it comes.
        unterminated: bool,
    },
    /// Line ends, blank lines, byte order marks.
    Separator,
    /// Bytes that could not be read as an entry, and why.
    Problem(String),
}
