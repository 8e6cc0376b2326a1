//! agentuse's session files: one folder per session, one JSON document per message and per part,
//! each replaced by rename.

use std::path::Path;

use super::{About, Format, ListOrder, Shape, SourceFacts, Structure, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

mod facts;
mod fold;
mod header;
mod part;
mod place;
mod record;
mod text;

use place::Kind;
pub use place::is_session_folder;

/// agentuse's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Agentuse;

impl Format for Agentuse {
    fn about(&self) -> About {
        About {
            revision: 9,
            shape: Shape::Document,
            write_mode: WriteMode::Rename,
            // A session has no name of its own, only that of its agent; `session.json` also says
            // how the run failed.
            names: &[],
            structure: Structure::Line,
            has_projects: true,
            list_order: ListOrder::Created,
            ..About::of("agentuse")
        }
    }

    fn shape_of(&self, path: &Path) -> Shape {
        place::shape(path)
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(Path::new(""), Kind::Part, record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        facts::facts(path, Kind::of(path), record)
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(Kind::Part, record)
    }

    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        text::passages(Kind::of(path), record)
    }

    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(Kind::of(path), record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
