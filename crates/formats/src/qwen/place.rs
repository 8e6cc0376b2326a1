//! What a file of Qwen Code's is, by its path alone.

use std::path::Path;

use crate::model::{Placement, SourcePart};
use crate::path::{name, stem};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A session's lines.
    Session,
    /// A subagent's lines.
    Subagent,
    /// What is said of a subagent, beside its lines.
    Meta,
}

/// The end of the name of what is said of a subagent.
const META: &str = ".meta.json";

impl Kind {
    pub(super) fn of(path: &Path) -> Kind {
        let name = name(path);
        let folder = path.parent().and_then(Path::parent);
        let is_below_subagents = folder.is_some_and(|folder| folder.ends_with("subagents"));
        match (is_below_subagents, name.ends_with(META)) {
            (true, true) => Kind::Meta,
            (true, false) => Kind::Subagent,
            (false, _) => Kind::Session,
        }
    }
}

/// `<project>/chats/<id>.jsonl` is a session, `<project>/subagents/<id>/agent-….jsonl` one of its
/// subagents.
pub(super) fn place(relative: &Path, flat: bool) -> Placement {
    let path = relative.to_string_lossy();
    let kind = Kind::of(relative);
    if kind == Kind::Meta {
        return Placement::Source {
            session: format!("{}.jsonl", path.trim_end_matches(META)),
            part: SourcePart::Side,
            unlisted: None,
        };
    }
    if relative
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        return Placement::Ignore("not a session file");
    }
    let is_listed = flat
        || relative
            .parent()
            .is_some_and(|folder| folder.ends_with("chats"));
    let unlisted = match kind {
        Kind::Session if !is_session_id(&stem(relative)) => Some("its name is no session id"),
        Kind::Session if !is_listed => Some("not directly in a folder of chats"),
        _ => None,
    };
    Placement::Source {
        session: path.into_owned(),
        part: SourcePart::Main,
        unlisted: unlisted.map(str::to_owned),
    }
}

/// The names under which Qwen Code looks for sessions (0.24.4, `SESSION_FILE_PATTERN`).
fn is_session_id(stem: &str) -> bool {
    let is_in_id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    matches!(stem.len(), 32..=36) && stem.bytes().all(is_in_id)
}

/// The session whose subagents lie in the folder of a file.
pub(super) fn session_above(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?;
    Some(folder.to_string_lossy().into_owned())
}
