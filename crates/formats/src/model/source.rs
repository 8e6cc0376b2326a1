//! What a file is to its session.

use serde::{Deserialize, Serialize};

/// What part of a session a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcePart {
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
        part: SourcePart,
        /// Why the agent itself would not list a session found at this path; `None` if it would.
        unlisted: Option<String>,
    },
    /// A database that holds many sessions: see [`About::database`](crate::About::database).
    Database,
    /// A file the format knows and does not catalogue (temporary and foreign files).
    Ignore(&'static str),
}
