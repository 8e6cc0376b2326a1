//! Gemini CLI's session files: a log of changes, one JSON line each, as 0.61.0 writes it; and the
//! one JSON document per session that versions until early 2026 wrote anew with every message.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use super::{About, Format, Shape, SourceFacts, Structure, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

mod anew;
mod cut;
mod directory;
mod facts;
mod fold;
mod line;
mod place;
mod said;
#[cfg(test)]
mod tests;
mod text;

pub use fold::State;

/// Gemini CLI's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Format for Gemini {
    fn about(&self) -> About {
        About {
            revision: 12,
            write_mode: WriteMode::Append,
            structure: Structure::RewrittenTree,
            has_several_files: true,
            ..About::of("gemini")
        }
    }

    fn shape_of(&self, path: &Path) -> Shape {
        match place::is_document(path) {
            true => Shape::Elements,
            false => Shape::Lines,
        }
    }

    fn cwd_beside(&self, path: &Path) -> Option<PathBuf> {
        place::project_root(path)
    }

    fn cwd_lists(&self, path: &Path) -> Option<(Vec<PathBuf>, String)> {
        directory::lists(path)
    }

    fn cwds_in_list(&self, list: &[u8]) -> Option<BTreeMap<String, String>> {
        directory::in_list(list)
    }

    fn folder_beside(&self, path: &Path) -> Option<PathBuf> {
        place::chats_beside(path)
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place::place(relative, flat)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        place::leaves_out(folder)
    }

    fn elements(&self, _path: &Path, document: &[u8]) -> Option<Vec<Range<usize>>> {
        cut::document(document)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(Path::new(""), record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        facts::facts(path, record)
    }

    fn fold_line(&self, fold: &mut Fold, line: &[u8]) {
        fold::line(&mut fold.gemini, line);
    }

    fn entries_within(&self, fold: &Fold, record: &[u8]) -> Vec<Range<usize>> {
        cut::line(&fold.gemini, record)
    }

    fn prove_cwd(
        &self,
        path: &Path,
        fold: &mut Fold,
        record: &[u8],
    ) -> ControlFlow<Option<String>> {
        fold::prove(&mut fold.gemini, path, record)
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(&mut fold.gemini, record, facts);
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
        fold::session(sources)
    }
}
