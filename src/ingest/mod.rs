//! How the stores are brought up to the files: the only room that writes both.

mod cancel;
mod compare;
mod look;
mod owed;
mod plan;
mod reading;
mod single;
mod sync;
mod words;

pub use cancel::Cancel;
pub use compare::{Comparison, compare_source};
pub use owed::scan_owed;
pub use reading::entry_bytes;
pub use single::catalogue_file;
pub use sync::{Event, count_pending, sync_catalogue};
pub use words::{Found, WordsStage, index_words, open_words};
