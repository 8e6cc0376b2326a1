//! pi's session files and those of its forks: one JSON line an entry, a tree by parent ids.
//! [`Dialect`] says in what the agents differ.

use std::path::Path;

use super::{About, Format, SourceFacts, Structure, WriteMode, json};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts, SourcePart};

mod dialect;
mod facts;
mod fold;
mod line;
mod said;
mod subagents;
#[cfg(test)]
mod tests;
mod text;

pub use dialect::{BadBytes, ByteOrderMark, Dialect, Names, OddValues, Scalars, Versions};
pub(crate) use facts::add_message as add_message_facts;
pub(crate) use text::add_message as add_message_text;

/// The newest version of the format.
pub const CURRENT_VERSION: i64 = 3;

/// pi's format, versions 1 to 3, as one agent reads it.
impl Format for Dialect {
    fn about(&self) -> About {
        let dialect = Self::ALL.iter().position(|known| known.name == self.name);
        About {
            family: Self::PI.name,
            // None is another dialect's: what was read in one is read again in another.
            revision: 20 + 1000 * dialect.unwrap_or(Self::ALL.len()) as u32,
            write_mode: WriteMode::Append,
            ..About::of(self.name)
        }
    }

    /// pi gives every entry of a file older than version 2 a new id, and the entry before it as its
    /// parent, when it opens it (`migrateV1ToV2`, 0.73.1 to 0.87.1).
    fn structure_of(&self, version: Option<i64>) -> Structure {
        match is_one_line(version) {
            true => Structure::Line,
            false => Structure::Tree,
        }
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place(relative, flat)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        subagents::is_beside(folder).then_some(subagents::COPIES)
    }

    fn passed_over(&self, beginning: &[u8]) -> usize {
        Dialect::passed_over(self, beginning)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(self, record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        let facts = self.facts(record);
        match subagents::is_subagent(path) {
            true => subagents::of_subagent(facts),
            false => facts,
        }
    }

    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        facts::of_text(self, json::utf8(line)?)
    }

    fn facts_of_line_at(&self, path: &Path, line: &[u8]) -> Option<Facts> {
        let facts = self.facts_of_line(line)?;
        Some(match subagents::is_subagent(path) {
            true => subagents::of_subagent(facts),
            false => facts,
        })
    }

    fn relate(&self, fold: &mut Fold, _record: &[u8], facts: &mut Facts) {
        subagents::relate(fold, facts);
    }

    fn fold_line(&self, fold: &mut Fold, line: &[u8]) {
        if self.bad_bytes == BadBytes::HideSession && json::utf8(line).is_none() {
            let why = || "bytes that are no UTF-8".to_owned();
            fold.hidden.get_or_insert_with(why);
        }
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn listed_text(&self, record: &[u8]) -> Option<String> {
        said::listed_text(record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}

/// See [`Format::structure_of`].
fn is_one_line(version: Option<i64>) -> bool {
    version.is_some_and(|version| version < 2)
}

/// Why pi's list does not show a session for where it lies, or for its name.
const ASIDE: &str = "a copy under another name";
const OTHER_NAME: &str = "the name does not end in .jsonl";
const ABOVE: &str = "directly in the sessions folder";
const BELOW: &str = "below the folders that pi lists";

/// Whether pi opens a session that its list leaves out for this reason. `pi --session PATH` asks no
/// list where there is a slash in PATH, and opens any file that begins with a header (0.73.1 to
/// 0.87.1: `resolveSessionPath`, `loadEntriesFromFile`). Without one 0.73 empties the file.
pub(crate) fn opens(reason: &str) -> bool {
    [ASIDE, OTHER_NAME, ABOVE, BELOW].contains(&reason)
}

/// pi and its forks list `<folder>/<name>.jsonl`, or `<name>.jsonl` in a flat folder, whatever the
/// name is else. What lies elsewhere, or was put aside under a longer name (OpenClaw does that), is
/// catalogued all the same.
fn place(relative: &Path, flat: bool) -> Placement {
    if subagents::is_beside(relative) {
        return Placement::Ignore(subagents::COPIES);
    }
    let session = key(relative);
    let name = session.rsplit('/').next().unwrap_or_default();
    let depth = session.split('/').count();
    let listed_depth = if flat { 1 } else { 2 };
    let is_session = name.ends_with(".jsonl");
    if is_session && depth == listed_depth {
        return Placement::Source {
            session,
            part: SourcePart::Main,
            unlisted: None,
        };
    }
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".lock") || lower.ends_with(".tmp") {
        return Placement::Ignore("a lock or temporary file");
    }
    let is_jsonl = lower.ends_with(".jsonl");
    let is_aside = [".jsonl.reset.", ".jsonl.deleted.", ".jsonl.bak-"]
        .iter()
        .any(|mark| !is_jsonl && lower.contains(mark));
    let unlisted = match (is_jsonl, is_aside) {
        (false, false) => return Placement::Ignore("not a session file"),
        (false, true) => ASIDE,
        (true, _) if !is_session => OTHER_NAME,
        (true, _) if depth < listed_depth => ABOVE,
        (true, _) => BELOW,
    };
    Placement::Source {
        session,
        part: if is_aside {
            SourcePart::Copy
        } else {
            SourcePart::Main
        },
        unlisted: Some(unlisted.to_owned()),
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
