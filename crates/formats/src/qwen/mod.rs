//! Qwen Code's session files: one JSON line a message or event, each naming the line before it.
//! Read as version 0.24.4 writes them, and those without `provenance` of versions before 0.22.

use std::path::Path;

use super::{About, Format, Shape, SourceFacts, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

mod facts;
mod fold;
mod line;
mod place;
#[cfg(test)]
mod tests;
mod text;

pub use fold::State;
use place::Kind;

/// Qwen Code's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Qwen;

impl Format for Qwen {
    fn about(&self) -> About {
        About {
            revision: 9,
            write_mode: WriteMode::Append,
            has_several_files: true,
            ..About::of("qwen")
        }
    }

    fn shape_of(&self, path: &Path) -> Shape {
        match Kind::of(path) {
            Kind::Meta => Shape::Document,
            Kind::Session | Kind::Subagent => Shape::Lines,
        }
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place::place(relative, flat)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        // A project may have any name.
        let is_below_project = folder.components().count() > 1;
        (is_below_project && folder.ends_with("memory")).then_some("what the agent remembers")
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        match Kind::of(path) {
            Kind::Meta => facts::of_meta(record),
            Kind::Session | Kind::Subagent => facts::facts(record),
        }
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(&mut fold.qwen, record, facts);
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        match Kind::of(path) {
            // What a subagent is for stands in the call that started it.
            Kind::Meta => Vec::new(),
            Kind::Session | Kind::Subagent => text::passages(record),
        }
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
