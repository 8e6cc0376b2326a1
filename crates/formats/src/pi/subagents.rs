//! What does the extension pi-subagents write beside and below a session of pi's?
//!
//! Since 0.11.1 a subagent has a session of its own below the folder that is called as the file of
//! the session that started it (0.67.0: `getSubagentSessionRoot`, `sessionDirForIndex`,
//! `createForkContextResolver`):
//!
//! - `<session>/<run>/run-<n>/session.jsonl`, whose header names no parent;
//! - `<session>/forks/<time>_<id>.jsonl`, which begins with a copy of the session.

use std::path::Path;

use crate::model::{Facts, Fold};

/// Why a file of [`is_beside`] is no session.
pub(super) const COPIES: &str = "a copy of what the session of a subagent says";

/// Bytes of the time with which pi begins the name of a file (`2026-05-12T01-02-27-000Z`).
const TIME: usize = 24;

/// The extension (0.67.0, `getArtifactsDir`) writes beside a session what each of its subagents was
/// told and said: `<run>_<agent>_transcript.jsonl`, before 0.8.4 the events of `pi --mode json` as
/// `<run>_<agent>.jsonl`, which begin with the header of the subagent's own session.
pub(super) fn is_beside(path: &Path) -> bool {
    let mut parts = path.components();
    parts.any(|part| part.as_os_str() == "subagent-artifacts")
}

/// Whether the file at `path` is the session of a subagent.
pub(super) fn is_subagent(path: &Path) -> bool {
    starter(path).is_some()
}

/// What the session that started the one at `relative` is called: by its id, which its file's name
/// holds; of a subagent that started another one by the path of its file below the root.
pub(super) fn parent(relative: &Path) -> Option<String> {
    let folder = starter(relative)?;
    let id = id_in(folder.file_name()?.to_str()?);
    Some(match id {
        Some(id) => id.to_owned(),
        None => super::key(&folder.with_extension("jsonl")),
    })
}

/// The folder called as the file of the session that started the one at `path`.
fn starter(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    let above = match folder.file_name()?.to_str()? {
        "forks" => folder.parent()?,
        name if is_run(name) => folder.parent()?.parent()?,
        _ => return None,
    };
    let is_nested = || {
        let run = above.parent().and_then(Path::file_name);
        run.and_then(|run| run.to_str()).is_some_and(is_run)
    };
    match above.file_name()?.to_str()? {
        "session" => is_nested().then_some(above),
        name => id_in(name).map(|_| above),
    }
}

fn is_run(name: &str) -> bool {
    let number = name.strip_prefix("run-");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The id in the name of a file that pi itself chose.
fn id_in(stem: &str) -> Option<&str> {
    let (time, id) = stem.split_once('_')?;
    let is_time = time.len() == TIME
        && time.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 | 13 | 16 | 19 => byte == b'-',
            10 => byte == b'T',
            23 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        });
    (is_time && !id.is_empty()).then_some(id)
}

/// What was asked of a subagent was asked by a model. Its session is called by that all the same.
pub(super) fn of_subagent(mut facts: Facts) -> Facts {
    if facts.kind == "message" && facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
    }
    facts
}

/// But not what its session copied from the one that started it: that is older than its header.
pub(super) fn relate(fold: &Fold, facts: &mut Facts) {
    if facts.role.as_deref() != Some("injected") {
        return;
    }
    let header = fold.header.as_ref().and_then(|header| header.created_ms);
    let is_older = facts
        .time_ms
        .zip(header)
        .is_some_and(|(time, of)| time < of);
    if facts.kind == "message" && is_older {
        facts.role = Some("user".to_owned());
    }
}
