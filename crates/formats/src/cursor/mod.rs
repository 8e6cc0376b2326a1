//! Cursor's transcripts (`agent-transcripts`): what was said and which tools were called, one JSON
//! line each. They say no models, tokens, ids or results of tools, and when only of prompts.

use std::path::Path;

use super::{About, Format, Shape, SourceFacts, Structure, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

mod fold;
mod line;
mod place;
mod plain;
mod said;
#[cfg(test)]
mod tests;

pub use fold::State;

/// The type of a line that says that a turn ended, and how.
const TURN_ENDED: &str = "turn_ended";

/// The format of Cursor's transcripts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cursor;

impl Format for Cursor {
    fn about(&self) -> About {
        About {
            revision: 10,
            // Whether Cursor only appends is not known.
            write_mode: WriteMode::Overwrite,
            // Of a chat of the editor only that its turns ended may be written here.
            kinds_that_stand_alone: &[TURN_ENDED],
            structure: Structure::Line,
            ..About::of("cursor")
        }
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
        line::facts(record, None)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        match place::shape(path) {
            Shape::Text => plain::facts(record, place::project(path).as_deref()),
            _ => {
                let facts = line::facts(record, place::project(path).as_deref());
                match place::is_subagent(path) {
                    true => line::of_subagent(facts),
                    false => facts,
                }
            }
        }
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        line::passages(record)
    }

    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        match place::shape(path) {
            Shape::Text => plain::passages(record),
            _ => line::passages(record),
        }
    }

    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        match place::shape(path) {
            Shape::Text => Vec::new(),
            _ => line::prompts(record),
        }
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
