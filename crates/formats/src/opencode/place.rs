//! What a file of OpenCode's is, by its path alone.

use std::path::Path;

use crate::model::Placement;

/// `opencode.db`, and of other release channels `opencode-<channel>.db`.
pub(super) fn place(relative: &Path) -> Placement {
    let name = relative.to_str().unwrap_or_default();
    let channel = name
        .strip_prefix("opencode")
        .and_then(|rest| rest.strip_suffix(".db"));
    match channel {
        Some(channel) if channel.is_empty() || channel.starts_with('-') => Placement::Database,
        _ if name == "auth.json" => Placement::Ignore("the agent's keys, never opened"),
        _ => Placement::Ignore("no database of sessions"),
    }
}

/// Folders of other things, some of many files.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    match folder.to_str()? {
        "snapshot" => Some("copies of files that the agent may restore"),
        "log" => Some("the agent's log"),
        "repos" | "bin" => Some("what the agent downloaded"),
        "tool-output" => Some("what tools gave back, too long for the model"),
        _ => None,
    }
}
