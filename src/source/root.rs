//! Where are sessions of an agent?

use std::path::PathBuf;

use crate::format::family;

/// A directory to scan for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpec {
    /// Agent name, shown and filtered by.
    pub agent: String,
    /// Name of the format that reads it.
    pub format: String,
    /// Directory. A relative one starts at the current directory of the process.
    pub path: PathBuf,
    /// A label to tell roots apart.
    pub label: Option<String>,
    /// One folder for all projects, not a folder a project.
    pub flat: bool,
    /// Where the path comes from, for people.
    pub why: String,
}

impl RootSpec {
    /// Whether the format of that name finds the same sessions in the folder.
    pub fn is_of_family(&self, format: &str) -> bool {
        family(&self.format) == family(format)
    }

    /// Whether the same sessions are found there: in the same folder, whatever its names.
    pub(crate) fn is_same(&self, other: &RootSpec) -> bool {
        let one_folder = || {
            // What is no folder may wait for ever to be opened.
            let are_folders = self.path.is_dir() && other.path.is_dir();
            are_folders && same_file::is_same_file(&self.path, &other.path).unwrap_or(false)
        };
        self.is_of_family(&other.format) && (self.path == other.path || one_folder())
    }
}
