//! The words: which passages say what. All of tantivy, and nothing of the catalogue.
//!
//! [`WordsWriter`] keeps the index on disk, [`Words`] reads it, [`Overlay`] is what a [`Scan`] of
//! the text that the disk still lacks has found, [`search`] asks both at once. [`Matcher`] answers
//! for a single text: it checks hits that the index could not decide, and finds what to highlight.

mod collect;
mod compile;
mod damage;
mod directory;
mod dump;
mod error;
mod excluded;
mod files;
mod literal;
mod lock;
mod matcher;
mod merging;
mod near;
mod overlay;
mod pattern;
mod postings;
mod prefilter;
mod rank;
mod scanned;
mod schema;
mod scope;
mod search;
mod segment;
mod sessions;
mod sorted_runs;
mod statistics;
mod tally;
mod term;
pub mod tokenizer;
mod top;
mod write;

pub use damage::{condemn, condemned, panic_is_caught};
pub use error::WordsError;
pub use files::{exist, is_ours, locks};
pub use lock::{PATIENCE, WordsLock};
pub use matcher::{Mark, Matcher, disjoint};
#[cfg(test)]
pub use matcher::{highlights, matches_text};
pub use matcher::{other_tokens, single_token};
pub use merging::{Merge, is_merge_due, merge};
pub use overlay::{BacklogEntry, Overlay, Scan, ThreadResult};
pub use rank::recency;
pub use scanned::regex_error;
pub use schema::{Doc, SCHEMA_REVISION};
pub use scope::{Facts, Scope, TimeRange, ValueFilter};
#[cfg(test)]
pub use search::search;
pub use search::{Answer, Hit, Order, SearchSource, TieBreak, Words, search_any};
pub use sessions::{
    HITS_PER_SESSION, RankedSessions, SessionQuery, loose, rank_sessions, words_nowhere,
};
pub use tantivy::version_string as tantivy_version;
pub use write::{Adder, AdderReport, WordsWriter};

#[cfg(test)]
mod tests;
