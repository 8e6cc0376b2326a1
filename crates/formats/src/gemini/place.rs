//! What a file of Gemini CLI's is, by its path alone.

use std::path::{Path, PathBuf};

use crate::model::{Placement, SourcePart};

/// Folders below a project's that hold no session.
const NOISE: [&str; 4] = ["tool-outputs", "logs", "plans", "tracker"];

/// Whether the file is one document of the kind that was written until early 2026.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// `<project>/chats/session-….jsonl` is a session, `<project>/chats/<session id>/<id>.jsonl` one of
/// its subagents. A `.json` of the name of a `.jsonl` is what it was before: Gemini CLI copies such
/// a session into a new file when it takes it up again.
pub(super) fn place(relative: &Path, flat: bool) -> Placement {
    let name = relative.file_name().unwrap_or_default().to_string_lossy();
    let is_session = name.starts_with("session-");
    let is_lines = relative
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    if !is_lines && !(is_session && is_document(relative)) {
        return Placement::Ignore("not a session file");
    }
    let is_listed = is_session && (flat || is_chats(relative.parent()));
    let unlisted = (!is_listed && parent_session(relative).is_none())
        .then(|| "not a session of a folder of chats".to_owned());
    Placement::Source {
        session: relative
            .with_extension("jsonl")
            .to_string_lossy()
            .into_owned(),
        part: SourcePart::Main,
        unlisted,
    }
}

fn is_chats(folder: Option<&Path>) -> bool {
    folder.is_some_and(|folder| folder.ends_with("chats"))
}

/// The session whose subagent's file this is.
pub(super) fn parent_session(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let name = folder.file_name()?.to_string_lossy();
    is_chats(folder.parent()).then(|| name.into_owned())
}

/// Where the working directory of the project stands: beside its folder of chats.
pub(super) fn project_root(path: &Path) -> Option<PathBuf> {
    let chats = path
        .ancestors()
        .skip(1)
        .take(2)
        .find(|folder| is_chats(Some(folder)))?;
    Some(chats.parent()?.join(".project_root"))
}

/// Why a folder is not entered.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    let name = folder.file_name()?.to_str()?;
    (NOISE.contains(&name) && !is_chats(folder.parent()))
        .then_some("what tools gave back, and logs")
}
