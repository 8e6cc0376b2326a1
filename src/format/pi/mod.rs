//! pi's session files and those of its forks: one JSON line an entry, a tree by parent ids.

use std::path::Path;

use super::{Format, Shape, SourceFacts, WriteMode, json};
use crate::model::{Facts, Fold, Part, Passage, Placement, SessionFacts};

mod facts;
mod fold;
mod line;
mod text;

pub use facts::header_version;
pub(in crate::format) use facts::touches;

/// The newest version of the format.
pub const CURRENT_VERSION: i64 = 3;

/// pi's format, versions 1 to 3.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pi;

impl Format for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn revision(&self) -> u32 {
        5
    }

    fn shape(&self) -> Shape {
        Shape::Lines
    }

    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    /// pi gives every entry of a file older than version 2 a new id, and the entry before it as its
    /// parent, when it opens it (`migrateV1ToV2`, 0.73.1 to 0.87.1).
    fn is_one_line(&self, version: Option<i64>) -> bool {
        version.is_some_and(|version| version < 2)
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place(relative, flat)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        facts::of_text(json::utf8(line)?)
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn listed_text(&self, record: &[u8]) -> Option<String> {
        facts::listed_text(record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}

/// pi lists `<folder>/<name>.jsonl`, or `<name>.jsonl` in a flat folder. What lies elsewhere or
/// is a copy under another name is catalogued all the same.
fn place(relative: &Path, flat: bool) -> Placement {
    let session = key(relative);
    let name = session.rsplit('/').next().unwrap_or_default();
    let depth = session.split('/').count();
    let listed_depth = if flat { 1 } else { 2 };
    // Nearly every name: of its marks each needs another dot.
    let is_plain = name
        .strip_suffix(".jsonl")
        .is_some_and(|stem| !stem.contains('.'));
    if is_plain && depth == listed_depth {
        return Placement::Source {
            session,
            part: Part::Main,
            unlisted: None,
        };
    }
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".trajectory.jsonl") {
        return Placement::Ignore("telemetry beside a session");
    }
    if lower.ends_with(".lock") || lower.ends_with(".tmp") {
        return Placement::Ignore("a lock or temporary file");
    }
    let renamed = [".jsonl.reset.", ".jsonl.deleted.", ".jsonl.bak-"]
        .iter()
        .any(|mark| lower.contains(mark));
    let is_jsonl = lower.ends_with(".jsonl");
    if !is_jsonl && !renamed {
        return Placement::Ignore("not a session file");
    }
    let unlisted = if renamed {
        Some("a copy under another name".to_owned())
    } else if !name.ends_with(".jsonl") {
        Some("the name does not end in .jsonl".to_owned())
    } else if depth < listed_depth {
        Some("directly in the sessions folder".to_owned())
    } else if depth > listed_depth {
        Some("below the folders that pi lists".to_owned())
    } else {
        None
    };
    let is_copy = renamed || is_jsonl && lower.contains(".checkpoint.");
    Placement::Source {
        session,
        part: if is_copy { Part::Copy } else { Part::Main },
        unlisted,
    }
}

/// The session's key: its path, written the same on every system.
fn key(relative: &Path) -> String {
    let key = relative.to_string_lossy();
    if cfg!(windows) {
        key.replace('\\', "/")
    } else {
        key.into_owned()
    }
}
