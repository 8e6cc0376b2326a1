//! Plain data that crosses the walls between the rooms. No logic but conversions, no I/O.

mod answer;
mod blame;
mod cancel;
mod event;
mod json_text;
mod mask;
mod project;
mod query;
mod report;
mod search_answer;
mod short_ids;
mod spending;
mod standing;
mod terminal_controls;
mod tool_use;
mod zone;

pub(crate) use answer::NO_MESSAGES;
pub use answer::{
    ChangeKind, ChildSession, FeedPosition, Listing, SCHEMA_VERSION, SessionChange, SessionRow,
    ShownEntry, Transcript, Tree, TreeRow,
};
pub use blame::{
    Blame, BlamedLine, CommitEvidence, CommitSession, CommitWriter, FileLog, FileSession, LineCall,
    LineOrigin,
};
pub use cancel::Cancel;
pub use event::Event;
pub(crate) use json_text::end_of_cut;
pub use json_text::shorten;
pub use project::project_name;
pub use query::{Expr, Sort};
pub use report::{
    Difference, FileVerdict, Report, RootStatus, StageMs, Status, StoreName, StoredRoot,
    UnknownTypes, UnreadablePath, Verdict, Verification, WatchMode, WatcherStatus,
};
pub use search_answer::{
    BranchPlace, Count, EntryPlace, Explanation, Facets, Hit, HitGroup, NamedMatch, Neighbour,
    Ranking, SearchAnswer, SessionExplanation, UnindexedText, UnknownValue,
};
pub(crate) use sessionary_formats::model::sort_siblings;
pub use sessionary_formats::model::{
    Base, Call, Class, Compaction, Facts, FileTouch, Fold, Header, Label, Leaf, LeafRule,
    MASKED_BEHIND, Mask, Passage, Placement, Resume, Run, SessionFacts, SourcePart, Usage, iso,
    masked_behind,
};
pub use short_ids::ShortIds;
pub use spending::{Spending, SpendingBy, Spent, Tokens, WithoutCost};
pub use standing::Standing;
#[doc(hidden)]
pub use terminal_controls::acts;
pub use terminal_controls::{is_safe_json, json_escape, terminal_safe_json};
pub use tool_use::{ToolReport, ToolUse};
pub use zone::Zone;

/// Kinds of entries that set a session's model or how much it thinks (pi and its forks): nobody
/// said, thought, ran or printed them.
#[doc(hidden)]
pub const SETTINGS: &[&str] = &["model_change", "thinking_level_change"];

/// An entry's key is its session's number followed by so many bits that count arrivals in the
/// session.
#[doc(hidden)]
pub const ARRIVAL_BITS: u32 = 24;
