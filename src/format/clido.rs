//! clido's session files: one JSON line an event, read strictly by clido itself.
use std::path::Path;

use super::{Format, Shape, SourceFacts, WriteMode};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts};

/// clido's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clido;

impl Format for Clido {
    fn name(&self) -> &'static str {
        "clido"
    }
    fn revision(&self) -> u32 {
        1
    }
    fn shape(&self) -> Shape {
        Shape::Lines
    }
    fn write_mode(&self) -> WriteMode {
        WriteMode::Overwrite
    }
    fn place(&self, _: &Path, _: bool) -> Placement {
        Placement::Ignore("not read yet")
    }
    fn facts(&self, _: &[u8]) -> Facts {
        Facts::default()
    }
    fn passages(&self, _: &[u8]) -> Vec<Passage> {
        Vec::new()
    }
    fn fold(&self, _: &mut Fold, _: &Facts, _: u64) {}
    fn session(&self, _: &[SourceFacts<'_>]) -> SessionFacts {
        SessionFacts::default()
    }
}
