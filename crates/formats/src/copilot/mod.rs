//! GitHub Copilot CLI's session files: one folder per session, its events one JSON line each, and
//! what Copilot says of the session in a small YAML file beside them.

use std::path::Path;

use super::{About, Format, Shape, SourceFacts, Structure, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

mod facts;
mod fold;
mod line;
mod place;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod usage;
mod workspace;

pub use fold::State;

/// Copilot's format, as version 1.0.102 writes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Copilot;

impl Format for Copilot {
    fn about(&self) -> About {
        About {
            revision: 11,
            write_mode: WriteMode::Append,
            // Events are chained by `parentId` in file order, also those of subagents: the chain says
            // nothing about the talk.
            structure: Structure::Line,
            // What a session is called stands in a file of its own.
            has_several_files: true,
            ..About::of("copilot")
        }
    }

    fn knows(&self, kind: &str) -> bool {
        types::knows(kind)
    }

    fn shape_of(&self, path: &Path) -> Shape {
        place::shape(path)
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        place::leaves_out(folder)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        match place::shape(path) {
            Shape::Text => workspace::facts(record),
            _ => facts::facts(record),
        }
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(fold, record, facts);
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        match place::shape(path) {
            Shape::Text => workspace::passages(record),
            _ => text::passages(record),
        }
    }

    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        match place::shape(path) {
            Shape::Text => Vec::new(),
            _ => text::prompts(record),
        }
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
