//! What a file below Claude Code's `projects` folder is, by its path alone.

use std::borrow::Cow;
use std::path::Path;

use crate::Shape;
use crate::model::{Placement, SourcePart};
use crate::path::{is_uuid, name, names};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lines of a session or of a subagent's session.
    Lines,
    /// What a tool printed, too long for its line: `<session>/tool-results/<name>`.
    Spill,
    /// What a subagent was started for: `agent-<id>.meta.json`.
    Meta,
}

impl Kind {
    /// Decided by the last names of `path`.
    pub fn of(path: &Path) -> Kind {
        let folder = path.parent().and_then(Path::file_name);
        if folder.is_some_and(|folder| folder == "tool-results") {
            return Kind::Spill;
        }
        match name(path).ends_with(".meta.json") {
            true => Kind::Meta,
            false => Kind::Lines,
        }
    }

    pub fn shape(self) -> Shape {
        match self {
            Kind::Lines => Shape::Lines,
            Kind::Spill => Shape::Text,
            Kind::Meta => Shape::Document,
        }
    }
}

/// Where the file belongs. A session's key is the path of its own file.
///
/// `<project>/<id>.jsonl` is a session, `<project>/<id>/tool-results/` is beside it. A subagent's
/// session is `<project>/<id>/subagents/agent-<id>.jsonl`, in older versions
/// `<project>/agent-<id>.jsonl`, with an `agent-<id>.meta.json` beside it.
pub(super) fn place(relative: &Path) -> Placement {
    let parts = names(relative);
    let Some((name, folders)) = parts.split_last() else {
        return Placement::Ignore("not a session file");
    };
    let key = |path: &[Cow<'_, str>], name: &str| {
        let folders = path.iter().map(Cow::as_ref).chain([name]);
        folders.collect::<Vec<_>>().join("/")
    };
    match folders {
        [above @ .., session, folder] if folder == "tool-results" => {
            return source(
                key(above, &format!("{session}.jsonl")),
                SourcePart::Side,
                None,
            );
        }
        _ => {}
    }
    if let Some(agent) = name.strip_suffix(".meta.json") {
        let session = key(folders, &format!("{agent}.jsonl"));
        return match is_agent(name) {
            true => source(session, SourcePart::Side, None),
            false => Placement::Ignore("not a session file"),
        };
    }
    if !name.to_ascii_lowercase().ends_with(".jsonl") {
        return Placement::Ignore("not a session file");
    }
    let stem = name.strip_suffix(".jsonl");
    let unlisted = match stem {
        None => Some("the name does not end in .jsonl"),
        Some(_) if is_agent(name) => None,
        Some("journal") if folders.iter().any(|folder| folder == "workflows") => {
            return Placement::Ignore("a journal of a workflow");
        }
        // `<project>/<session>/resume-head.jsonl` (2.1.332).
        Some("resume-head") if folders.len() > 1 => {
            return Placement::Ignore("an index of a session's lines");
        }
        Some(stem) if !is_session_id(stem) => Some("the name is not a session id"),
        Some(_) if folders.len() != 1 => Some("not directly in a folder that Claude Code lists"),
        Some(_) => None,
    };
    source(key(folders, name), SourcePart::Main, unlisted)
}

fn source(session: String, part: SourcePart, unlisted: Option<&str>) -> Placement {
    Placement::Source {
        session,
        part,
        unlisted: unlisted.map(str::to_owned),
    }
}

/// Whether a file of this name is a subagent's.
pub(super) fn is_agent(name: &str) -> bool {
    name.starts_with("agent-")
}

/// The session whose folder the file of a subagent is in; `None` in older versions.
pub(super) fn session_above(path: &Path) -> Option<Cow<'_, str>> {
    let folders = path.ancestors().skip(1);
    let subagents = folders
        .filter(|folder| name(folder) == "subagents")
        .last()?;
    Some(name(subagents.parent()?)).filter(|name| !name.is_empty())
}

/// Whether a file is called as a session's own is.
pub(super) fn is_session(file: &Path) -> bool {
    name(file).strip_suffix(".jsonl").is_some_and(is_session_id)
}

/// A session id is a UUID: Claude Code lists no file of another name.
pub(super) fn is_session_id(name: &str) -> bool {
    is_uuid(name)
}

/// The id of the session that a file is of.
pub(super) fn session_id(path: &Path) -> String {
    let of_session = match Kind::of(path) {
        Kind::Spill => path.parent().and_then(Path::parent).map(name),
        Kind::Lines | Kind::Meta => Some(name(path)),
    };
    let id = of_session.unwrap_or_default();
    let ends = [".meta.json", ".jsonl"];
    let id = ends
        .iter()
        .find_map(|end| id.strip_suffix(end))
        .unwrap_or(&id);
    id.to_owned()
}
