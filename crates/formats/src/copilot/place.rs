//! What a file below Copilot's `session-state` is, by its path alone.

use std::path::Path;

use crate::Shape;
use crate::model::{Placement, SourcePart};
use crate::path::names;

/// The events of a session.
const EVENTS: &str = "events.jsonl";
/// What Copilot says of the session: its name and directory.
const WORKSPACE: &str = "workspace.yaml";

/// The workspace file is one entry, whatever is in it.
pub(super) fn shape(path: &Path) -> Shape {
    match path.file_name().is_some_and(|name| name == WORKSPACE) {
        true => Shape::Text,
        false => Shape::Lines,
    }
}

/// `<session>/events.jsonl` and `<session>/workspace.yaml`; before 1.0, `<session>.jsonl`.
pub(super) fn place(relative: &Path) -> Placement {
    let parts = names(relative);
    let names: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let (session, part) = match names[..] {
        [session, EVENTS] => (session, SourcePart::Main),
        [session, WORKSPACE] => (session, SourcePart::Side),
        [file] if file.ends_with(".jsonl") => (file, SourcePart::Main),
        _ => return Placement::Ignore("not a session file"),
    };
    Placement::Source {
        session: session.to_owned(),
        part,
        unlisted: None,
    }
}

/// Only the two files directly in a session's folder are read.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    let is_hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    if folder.file_name().is_some_and(is_hidden) {
        return Some("Copilot's locks");
    }
    (folder.components().count() > 1).then_some("snapshots, checkpoints and files of a session")
}
