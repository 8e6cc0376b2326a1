//! The files themselves: which there are, whether they changed, and how they are cut into lines.

pub mod checkpoint;
pub mod clock;
pub mod content;
pub mod discover;
pub mod events;
pub mod exclude;
pub mod filesystem;
pub mod fingerprints;
pub mod links;
pub mod listing;
pub mod place;
pub mod root;

pub use sessionary_formats::{identity, lines};
