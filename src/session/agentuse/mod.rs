//! agentuse's sessions: a folder of documents each.

use std::path::Path;

use crate::format::agentuse::is_session_folder;

/// The folder that is the session whose `session.json` this is, with all its messages and subagents. `None` where the
/// folder has no name of a session, so that other things may lie in it.
pub fn folder_of(session_json: &Path) -> Option<&Path> {
    let folder = session_json.parent()?;
    let name = folder.file_name()?.to_str()?;
    is_session_folder(name).then_some(folder)
}
