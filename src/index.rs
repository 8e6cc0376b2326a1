//! The two doors of the library: [`Index`] reads, [`Indexer`] writes.

use std::path::{Path, PathBuf};

use crate::model::{
    Listing, Report, SearchAnswer, SessionRow, Status, Transcript, Tree, Verification,
};

/// A directory to scan for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpec {
    /// Agent name, shown and filtered by.
    pub agent: String,
    /// Name of the format that reads it.
    pub format: String,
    /// Directory.
    pub path: PathBuf,
    /// A label to tell roots apart.
    pub label: Option<String>,
    /// One folder for all projects, not a folder a project.
    pub flat: bool,
    /// Where the path comes from, for people.
    pub why: String,
}
