//! How the stores are brought up to the files: the only room that writes both.

mod backlog;
mod backpressure;
mod compare;
mod disk_space;
mod entry;
mod exclude;
mod hints;
mod keep;
mod names;
mod open_words;
mod passages;
mod plan;
mod prompts;
mod prove;
mod reading;
mod scan;
mod single;
mod sync;
mod wipe;
mod words;

pub use backlog::scan_owed;
pub use compare::{Comparison, Finding, compare_source};
pub use entry::OpenSource;
pub use exclude::{apply as apply_exclude, leave_out, sweep as sweep_excluded};
pub use hints::{HintedPaths, settle, sync_hints};
pub use keep::{Keeper, can_be_kept, is_meant_unnamed};
pub use names::look_at_names;
pub use open_words::{Agreement, WordsCache, WordsState, are_refused};
pub use passages::passages;
pub use prompts::scan_prompts;
pub use prove::Audits;
pub use scan::{Look, list_databases};
pub use single::catalogue_file;
pub use sync::{count_pending, sync_catalogue};
pub use wipe::{delete_removed, wipe};
pub use words::{BatchLimits, SMALL_WORDS_BATCH, WordsStage, index_words};
