//! What a file of Gemini CLI's is, by its path alone.

use std::path::{Path, PathBuf};

use crate::model::{Placement, SourcePart};

/// The file beside a project's folder of chats that holds its working directory.
const PROJECT_ROOT: &str = ".project_root";
/// The folder of chats below a project's.
const CHATS: &str = "chats";
/// The folder below a project's in which tools leave what they gave back.
const OUTPUTS: &str = "tool-outputs";

/// Whether the file is one document of the kind that was written until early 2026.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// `<project>/chats/session-<time>-<id>.jsonl` is a session, `<project>/chats/<session
/// id>/<id>.jsonl` one of its subagents. A session may be in several files, whose names end in the
/// first eight letters of its id: until early 2026 it was a `.json`, which is copied into a
/// `.jsonl` when it is taken up again; and whenever it is taken up a file of that minute is begun.
pub(super) fn place(relative: &Path, flat: bool) -> Placement {
    let name = relative.file_name().unwrap_or_default().to_string_lossy();
    let is_session = name.starts_with("session-");
    let is_lines = relative
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let is_source = is_lines || is_session && is_document(relative);
    if !is_source {
        return Placement::Ignore("not a session file");
    }
    let is_listed = is_session && (flat || is_chats(relative.parent()));
    let unlisted = (!is_listed && parent_session(relative).is_none())
        .then(|| "not a session of a folder of chats".to_owned());
    let session = match short_id(&name) {
        Some(id) => relative.with_file_name(format!("session-{id}")),
        None => relative.with_extension("jsonl"),
    };
    Placement::Source {
        session: session.to_string_lossy().into_owned(),
        part: SourcePart::Main,
        unlisted,
    }
}

/// The beginning of a session's id in the name of its file (`session-2026-01-05T09-00-7d1c0a52`).
fn short_id(name: &str) -> Option<&str> {
    const TIME: usize = "2026-01-05T09-00-".len();
    let stem = name.strip_prefix("session-")?.split('.').next()?;
    stem.get(TIME..).filter(|id| id.len() == 8)
}

fn is_chats(folder: Option<&Path>) -> bool {
    folder.is_some_and(|folder| folder.ends_with(CHATS))
}

/// The session whose subagent's file this is.
pub(super) fn parent_session(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let name = folder.file_name()?.to_string_lossy();
    is_chats(folder.parent()).then(|| name.into_owned())
}

/// Where the working directory of the project stands: beside its folder of chats.
pub(super) fn project_root(path: &Path) -> Option<PathBuf> {
    Some(project(path)?.join(PROJECT_ROOT))
}

/// The folder of the project: the one above its folder of chats.
pub(super) fn project(path: &Path) -> Option<&Path> {
    let chats = path
        .ancestors()
        .skip(1)
        .take(2)
        .find(|folder| is_chats(Some(folder)))?;
    chats.parent()
}

/// The folder of chats whose working directory the file holds.
pub(super) fn chats_beside(path: &Path) -> Option<PathBuf> {
    path.ends_with(PROJECT_ROOT)
        .then(|| path.with_file_name(CHATS))
}

/// Why a folder is not entered. A project may have any name.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    let is_below_project = folder.components().count() > 1;
    (is_below_project && folder.ends_with(OUTPUTS)).then_some("what tools gave back")
}
