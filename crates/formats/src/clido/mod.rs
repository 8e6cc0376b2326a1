//! clido's session files: one JSON line an event, no ids, no tree; one bad line and clido shows
//! none of it.

use std::path::Path;

use super::{About, Format, SourceFacts, Structure, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts, SourcePart};
use crate::path::names;

mod facts;
mod fold;
mod line;
mod text;

pub use fold::State;

/// clido's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clido;

impl Format for Clido {
    fn about(&self) -> About {
        About {
            revision: 8,
            // Failed turns are rolled back, and a title written beside the main writer is
            // overwritten.
            write_mode: WriteMode::Overwrite,
            structure: Structure::Line,
            ..About::of("clido")
        }
    }

    fn place(&self, relative: &Path, flat: bool) -> Placement {
        place(relative, flat)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}

/// clido lists `<project>/<id>.jsonl`; with `--workdir .` the file lies directly in `sessions/`.
fn place(relative: &Path, flat: bool) -> Placement {
    let key = names(relative);
    let name = key
        .last()
        .map(|name| name.to_ascii_lowercase())
        .unwrap_or_default();
    if !name.ends_with(".jsonl") {
        return Placement::Ignore("not a session file");
    }
    let unlisted = if relative
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        Some("the extension is not exactly jsonl".to_owned())
    } else if key.len() > if flat { 1 } else { 2 } {
        Some("below the folders that clido lists".to_owned())
    } else {
        None
    };
    Placement::Source {
        session: key.join("/"),
        part: SourcePart::Main,
        unlisted,
    }
}
