//! How the stores are brought up to the files: the only room that writes both.

mod plan;
mod reading;
mod sync;
mod words;

pub use reading::entry_bytes;
pub use sync::{Event, sync_catalogue};
pub use words::{WordsStage, doc, index_words, open_words, owed_documents};
