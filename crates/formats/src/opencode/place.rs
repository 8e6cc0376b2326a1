//! What a file of OpenCode's is, by its path alone.

use std::path::Path;

use super::documents::DOCUMENTS;
use crate::database::Documents;
use crate::model::Placement;

/// Names that files of other things have, some of which hold keys.
const OTHERS: [&str; 5] = [
    "account.json",
    "models.json",
    "opencode.json",
    "package.json",
    "tui.json",
];

/// What databases of sessions are called: OpenCode's, and those of Kilo CLI and MiMo Code, which
/// came of it and keep its tables.
const DATABASES: [&str; 3] = ["opencode", "kilo", "mimocode"];

/// `opencode.db`, and of other release channels `opencode-<channel>.db`; the folder in which
/// sessions were documents; and documents that were exported, whatever they are called.
pub(super) fn place(relative: &Path) -> Placement {
    let path = relative.to_str().unwrap_or_default();
    let name = relative.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let mut databases = DATABASES.iter();
    let channel = databases.find_map(|own| path.strip_prefix(own)?.strip_suffix(".db"));
    match channel {
        Some(channel) if channel.is_empty() || channel.starts_with('-') => Placement::Database,
        _ if path == DOCUMENTS.folder => Placement::Database,
        _ if name.contains("auth") || name.contains("credential") => {
            Placement::Ignore("the agent's keys, never opened")
        }
        _ if is_of_projects(relative) => Placement::Ignore(
            "of OpenCode 0.5 or older, not read; what a later one took over of it is read there",
        ),
        _ if OTHERS.contains(&name) || relative.starts_with(DOCUMENTS.folder) => {
            Placement::Ignore("no session")
        }
        _ if relative
            .extension()
            .is_some_and(|end| end == Documents::END) =>
        {
            Placement::Database
        }
        _ => Placement::Ignore("no database of sessions"),
    }
}

/// Whether it is below `project/NAME/storage`, where 0.5 kept sessions (0.5.29; 1.0.98 takes over
/// those of folders with git that are still there).
fn is_of_projects(relative: &Path) -> bool {
    let mut folders = relative.components();
    let is_project = folders
        .next()
        .is_some_and(|first| first.as_os_str() == "project");
    is_project
        && folders
            .nth(1)
            .is_some_and(|third| third.as_os_str() == "storage")
}

/// Folders of other things, some of many files.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    match folder.to_str()? {
        "snapshot" => Some("copies of files that the agent may restore"),
        "log" => Some("the agent's log"),
        "repos" | "bin" | "node_modules" => Some("what the agent downloaded"),
        "tool-output" => Some("what tools gave back, too long for the model"),
        "storage/session_diff" => Some("what sessions changed in files"),
        _ => None,
    }
}
