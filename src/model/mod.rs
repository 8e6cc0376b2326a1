//! Plain data that crosses the walls between the rooms. No logic but conversions, no I/O.

mod entry;
mod session;
mod source;

pub use entry::{Call, Class, Compaction, Facts, FileTouch, Label, Passage, Usage};
pub use session::{Fold, Header, SessionFacts};
pub use source::{Part, Placement, Range, Record, RecordKind};
