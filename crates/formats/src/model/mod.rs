//! What is read of session files, as plain data. No logic but conversions, no I/O.

mod entry;
mod leaf;
mod mask;
mod resume;
mod session;
mod siblings;
mod source;
mod time;

pub use entry::{Call, Class, Compaction, Facts, FileTouch, Label, Passage, Run, Usage};
pub(crate) use entry::{OTHER_MODEL, sum, sum_costs};
pub use leaf::{Leaf, LeafRule};
pub use mask::{MASKED_BEHIND, Mask, masked_behind};
pub use resume::Resume;
pub use session::{Base, Fold, Header, SessionFacts};
pub(crate) use session::{is_default, keep_last, merged};
pub use siblings::sort_siblings;
pub use source::{Placement, SourcePart};
pub use time::iso;
