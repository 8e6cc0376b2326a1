//! Plain data that crosses the walls between the rooms. No logic but conversions, no I/O.

mod acts;
mod answer;
mod cancel;
mod entry;
mod event;
mod leaf;
mod mask;
mod query;
mod session;
mod siblings;
mod source;
mod time;

pub use acts::acts;
pub use answer::{
    Change, ChangeKind, Count, Difference, Explanation, Facets, FileVerdict, Hit, HitGroup,
    Listing, Named, Neighbour, Place, Report, Resume, RootStatus, SCHEMA_VERSION, SearchAnswer,
    SessionRow, ShownEntry, StageMs, Status, StoredRoot, Transcript, Tree, TreeRow, UnknownValue,
    Unread, Verdict, Verification, WatcherStatus,
};
pub use cancel::Cancel;
pub(crate) use entry::ARRIVAL_BITS;
pub use entry::{Call, Class, Compaction, Facts, FileTouch, Label, Passage, Run, Standing, Usage};
pub use event::Event;
pub use leaf::Leaf;
pub use mask::{MASKED_BEHIND, Mask, masked_behind};
pub use query::{Expr, Sort};
pub use session::{Fold, Header, SessionFacts};
pub(crate) use siblings::sort_siblings;
pub use source::{Part, Placement, Range, Record, RecordKind};
pub use time::iso;
