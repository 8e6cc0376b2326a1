//! What a file below Cursor's `projects` is, by its path alone.

use std::path::Path;

use crate::Shape;
use crate::model::{Placement, SourcePart};
use crate::path::names;

/// The folder of a project's transcripts.
const TRANSCRIPTS: &str = "agent-transcripts";

/// Older transcripts are plain text.
pub(super) fn shape(path: &Path) -> Shape {
    match path.extension().is_some_and(|extension| extension == "txt") {
        true => Shape::Text,
        false => Shape::Lines,
    }
}

/// `<project>/agent-transcripts/<id>/<id>.jsonl`, or without the folder `<id>`; subagents lie in a
/// folder `subagents` below.
pub(super) fn place(relative: &Path) -> Placement {
    let key = names(relative);
    let is_transcript = matches!(&key[..], [_, folder, .., file]
        if folder == TRANSCRIPTS && (file.ends_with(".jsonl") || file.ends_with(".txt")));
    if !is_transcript {
        return Placement::Ignore("not a transcript");
    }
    Placement::Source {
        session: key.join("/"),
        part: SourcePart::Main,
        unlisted: None,
    }
}

/// The session that started a subagent's, by the folders of its transcript.
pub(super) fn parent(relative: &Path) -> Option<String> {
    let names = names(relative);
    let subagents = names.iter().position(|name| name == "subagents")?;
    let above = names.get(subagents.checked_sub(1)?)?;
    (above != TRANSCRIPTS).then(|| above.clone().into_owned())
}

/// Whether the transcript is a subagent's.
pub(super) fn is_subagent(relative: &Path) -> bool {
    names(relative).iter().any(|name| name == "subagents")
}

/// The folder of the project in whose transcripts this one is.
pub(super) fn project(path: &Path) -> Option<String> {
    let names = names(path);
    let transcripts = names.iter().rposition(|name| name == TRANSCRIPTS)?;
    Some(names[transcripts.checked_sub(1)?].clone().into_owned())
}

/// The part of an absolute path that is the directory of the project in this folder. The folder is
/// called like it with one hyphen for all signs between two letters or digits, which cannot be
/// undone: `/home/ada/my_app`, `/home/ada/my-app` and `/home/ada/my/app` are all called
/// `home-ada-my-app`, and the drive of `C:\app` is a small letter.
pub(super) fn directory<'p>(project: &str, path: &'p str) -> Option<&'p str> {
    let is_of_drive = matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..]
        if letter.is_ascii_alphabetic());
    if !path.starts_with('/') && !is_of_drive || project.is_empty() {
        return None;
    }
    let (mut rest, mut is_between) = (project, false);
    for (at, letter) in path.char_indices() {
        let is_separator = letter == '/' || letter == '\\' && is_of_drive;
        if is_separator && rest.is_empty() {
            return Some(&path[..at]);
        }
        if !letter.is_ascii_alphanumeric() {
            is_between = true;
            continue;
        }
        if is_between && rest.len() < project.len() {
            rest = rest.strip_prefix('-')?.trim_start_matches('-');
        }
        is_between = false;
        let letter = match at == 0 && is_of_drive {
            true => letter.to_ascii_lowercase(),
            false => letter,
        };
        rest = rest.strip_prefix(letter)?;
    }
    rest.is_empty().then_some(path)
}

/// A project's folder holds terminals, tools' descriptions and more beside its transcripts.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    match &names(folder)[..] {
        [_, name] if name != TRANSCRIPTS => Some("no transcripts"),
        _ => None,
    }
}
