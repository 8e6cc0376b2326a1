//! What a file of agentuse's is, by its path alone.

use std::borrow::Cow;
use std::path::Path;

use crate::Shape;
use crate::model::{Placement, SourcePart};
use crate::path::{name, names};

/// Letters of a ULID.
const ULID: usize = 26;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `session.json`.
    Session,
    /// `message.json`, or a file of the first layout's `message/`.
    Message,
    /// A part of a message.
    Part,
    /// What a tool gave back, too long for its part.
    Artifact,
    /// `context.json`: the conversation as it was compacted.
    Context,
    /// `tools.json`: the tools' descriptions.
    Tools,
}

impl Kind {
    /// Decided by the last names of `path`; a file that they do not name is read as a part.
    pub(super) fn of(path: &Path) -> Kind {
        match name(path).as_ref() {
            "session.json" => return Kind::Session,
            "message.json" => return Kind::Message,
            _ => {}
        }
        match folder(path).as_ref() {
            "artifact" => Kind::Artifact,
            "message" => Kind::Message,
            "part" => Kind::Part,
            _ => match name(path).as_ref() {
                "context.json" => Kind::Context,
                "tools.json" => Kind::Tools,
                _ => Kind::Part,
            },
        }
    }
}

/// Artifacts that are no `.json` are plain text.
pub(super) fn shape(path: &Path) -> Shape {
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    if Kind::of(path) == Kind::Artifact && !is_json {
        Shape::Text
    } else {
        Shape::Document
    }
}

/// The message that a file belongs to, by its folders: `<message>/part/x.json`,
/// `<message>/message.json`, and in the first layout `part/<message>/x.json`,
/// `message/<message>.json`.
pub(super) fn message(path: &Path) -> Option<String> {
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy());
    let above = || path.parent().and_then(Path::parent).map(name);
    let found = match (Kind::of(path), folder(path).as_ref()) {
        (Kind::Message, "message") => stem(),
        (Kind::Message, _) => Some(folder(path)),
        (Kind::Part | Kind::Artifact, "part" | "artifact") => above(),
        (Kind::Part, _) => Some(folder(path)),
        _ => None,
    };
    found
        .map(Cow::into_owned)
        .filter(|message| !message.is_empty())
}

/// Where the file belongs. Any folder name is taken below `project/`, also the old `global`;
/// sessions of subagents are nested and stand for themselves.
pub(super) fn place(relative: &Path) -> Placement {
    let parts = names(relative);
    let Some((name, folders)) = parts.split_last() else {
        return Placement::Ignore("not a session file");
    };
    if name.ends_with(".tmp") {
        return Placement::Ignore("a temporary file");
    }
    let is_home = |at: usize| {
        is_session_folder(&folders[at])
            || at > 0 && matches!(folders[at - 1].as_ref(), "session" | "subagent")
    };
    let home = (0..folders.len()).rev().find(|at| is_home(*at));
    let rest = home.map_or(&parts[..], |at| &parts[at + 1..]);
    let rest: Vec<&str> = rest.iter().map(Cow::as_ref).collect();
    let is_json = name.ends_with(".json");
    let is_side = match rest[..] {
        ["context.json" | "tools.json"] | [_, "message.json"] => true,
        ["message", _] | ["part", _, _] | [_, "part", _] => is_json,
        [_, "artifact", file] => {
            file.starts_with("tool-output-") && (is_json || file.ends_with(".txt"))
        }
        _ => false,
    };
    match home {
        Some(at) if is_side => Placement::Source {
            session: folders[..=at].join("/"),
            part: SourcePart::Side,
            unlisted: None,
        },
        _ if name == "session.json" => Placement::Source {
            session: folders.join("/"),
            part: SourcePart::Main,
            unlisted: folders
                .last()
                .is_none_or(|folder| !is_session_folder(folder))
                .then(|| "the folder's name does not begin with a session id".to_owned()),
        },
        _ => Placement::Ignore("not a session file"),
    }
}

/// What agentuse lists: 26 letters and digits, a separator, and at least one character more.
pub fn is_session_folder(name: &str) -> bool {
    name.encode_utf16().count() >= ULID + 2 && session_id(name).is_some()
}

/// The session id at the beginning of a folder's name.
pub(super) fn session_id(name: &str) -> Option<&str> {
    name.get(..ULID)
        .filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// What follows the id and the separator.
pub(super) fn agent_name(name: &str) -> &str {
    let rest = name.get(ULID..).unwrap_or_default();
    let mut letters = rest.chars();
    letters.next();
    letters.as_str()
}

/// When the ULID at the end of a file's name was made.
pub(super) fn ulid_ms(path: &Path) -> Option<i64> {
    let stem = path.file_stem()?.to_str()?;
    let ulid = stem.get(stem.len().checked_sub(ULID)?..)?;
    let mut ms = 0i64;
    for letter in ulid.bytes().take(10) {
        let digit = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
            .iter()
            .position(|known| *known == letter)?;
        ms = ms << 5 | digit as i64;
    }
    Some(ms)
}

/// The name of the folder that holds a file.
pub(super) fn folder(path: &Path) -> Cow<'_, str> {
    path.parent().map(name).unwrap_or_default()
}
