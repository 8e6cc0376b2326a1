//! Codex's session files, its *rollouts*: one JSON line per event, one file per thread.
//!
//! Two shapes live side by side. In *legacy* rollouts events repeat the items of the model's
//! context as user and agent messages, in *paginated* ones, those of Codex 0.151 and later, as
//! finished items. A thread's lines are one line in file order; a fork of a paginated rollout holds
//! only what is its own and names what it inherits (`history_base`). The first Codex, in
//! TypeScript, wrote one JSON document for each session.

use std::ops::Range;
use std::path::Path;

use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};
use crate::names::Names;
use crate::{About, Format, Shape, SourceFacts, Structure, WriteMode, json};

mod call;
mod document;
mod facts;
mod fold;
mod imported;
mod line;
mod message;
mod names;
mod place;
mod script;
mod session;
#[cfg(test)]
mod tests;
mod text;
mod typed_command;
mod types;

pub use fold::State;
pub(crate) use place::A_DOCUMENT;

/// Codex's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;

impl Format for Codex {
    fn about(&self) -> About {
        About {
            revision: 17,
            // Codex appends, but a revert may cut a rollout in place (that of 0.171 begins a new
            // page), and a migration rewrites it.
            write_mode: WriteMode::Append,
            structure: Structure::Line,
            // A thread may have several pages, and what it is called stands beside them.
            has_several_files: true,
            ..About::of("codex")
        }
    }

    fn knows(&self, kind: &str) -> bool {
        types::knows(kind)
    }

    fn shape_of(&self, path: &Path) -> Shape {
        match place::is_document(path) {
            true => Shape::Elements,
            false => Shape::Lines,
        }
    }

    fn elements(&self, _path: &Path, document: &[u8]) -> Option<Vec<Range<usize>>> {
        document::elements(document)
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn names(&self, root: &Path) -> Option<&'static Names> {
        names::names(root)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        place::leaves_out(folder)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        facts::of_text(json::utf8(line)?)
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(fold, record, facts);
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        session::session(sources)
    }
}
