//! Claude Code's session files: one JSON line an event, a tree by `parentUuid`, with what tools
//! printed and what subagents did in files beside them. See docs/agents/claude.md.

use std::path::{Path, PathBuf};

use super::{About, Format, Shape, SourceFacts, Structure, WriteMode, json};
use crate::model::{Facts, Fold, LeafRule, Passage, Placement, SessionFacts};

mod again;
mod ahead;
mod commands;
mod facts;
mod fold;
mod kept;
mod line;
mod meta;
mod older;
mod origin;
mod own_words;
mod place;
mod queue;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod usage;

pub use fold::State;
use place::Kind;

/// Why a session is not listed whose own file is gone: what lies in the folder beside it is all
/// that is left of it.
pub const OWN_FILE_GONE: &str = "its session file is gone";

/// Why a session is not listed that went on under another id, above all in the background.
pub const GOES_ON_ELSEWHERE: &str = "it goes on in another session";

/// Claude Code's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

impl Format for Claude {
    fn about(&self) -> About {
        About {
            revision: 16,
            write_mode: WriteMode::Append,
            // Lines of the conversation say where and when, or who.
            kinds_that_stand_alone: &types::TYPES,
            structure: Structure::LooseTree,
            passes_over_nuls: true,
            ..About::of("claude")
        }
    }

    fn knows(&self, kind: &str) -> bool {
        types::knows(kind)
    }

    fn shape_of(&self, path: &Path) -> Shape {
        Kind::of(path).shape()
    }

    fn folder_of(&self, main: &Path) -> Option<PathBuf> {
        place::is_session(main).then(|| main.with_extension(""))
    }

    fn leaf_rule(&self, _own: Option<&serde_json::Value>) -> LeafRule {
        // A subagent's line, after which no session stands, is an entry as any other.
        LeafRule::Named
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        let is_memory = folder.ends_with("memory") && folder.components().count() == 2;
        is_memory.then_some("what the agent remembers of a project, no session")
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        match Kind::of(path) {
            Kind::Lines => facts::facts(record),
            Kind::Spill => meta::spill(path),
            Kind::Meta => meta::facts(record),
        }
    }

    /// A file beside the lines has no line with a type.
    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        facts::of_text(json::utf8(line)?).filter(|facts| !facts.kind.is_empty())
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        match Kind::of(path) {
            Kind::Lines => text::passages(record),
            Kind::Spill => text::spill(record),
            // The session is called so.
            Kind::Meta => Vec::new(),
        }
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(fold, record, facts);
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
