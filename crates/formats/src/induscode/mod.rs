//! induscode's transcripts (`indus/transcript@1`): a tree of nodes, one JSON line each, and a first
//! line that says where the session stands once it has branched. The Python package on PyPI.

use std::path::Path;

use super::{About, Format, SourceFacts, WriteMode};
use crate::model::{Facts, Fold, LeafRule, Passage, Placement, SessionFacts, SourcePart};
use crate::path::names;

mod fold;
mod line;
#[cfg(test)]
mod tests;

pub use fold::State;

/// induscode's format, as version 0.1.6 writes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Induscode;

impl Format for Induscode {
    fn about(&self) -> About {
        About {
            revision: 8,
            // A branch or a reset writes the whole file again, with another first line.
            write_mode: WriteMode::Overwrite,
            ..About::of("induscode")
        }
    }

    /// Its first line says so, before the entry that it names.
    fn leaf_rule(&self, _own: Option<&serde_json::Value>) -> LeafRule {
        LeafRule::Named
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place(relative, flat)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        line::facts(record)
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        line::passages(record)
    }

    fn relate(&self, fold: &mut Fold, _record: &[u8], facts: &mut Facts) {
        fold::relate(&mut fold.induscode, facts);
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}

/// `--<project>--/<id>.ndjson`.
fn place(relative: &Path, flat: bool) -> Placement {
    let key = names(relative);
    let is_transcript = relative
        .extension()
        .is_some_and(|extension| extension == "ndjson");
    if !is_transcript {
        return Placement::Ignore("not a session file");
    }
    let listed_depth = if flat { 1 } else { 2 };
    let is_listed = key.len() == listed_depth;
    Placement::Source {
        session: key.join("/"),
        part: SourcePart::Main,
        unlisted: (!is_listed).then(|| "outside the folders that induscode lists".to_owned()),
    }
}
