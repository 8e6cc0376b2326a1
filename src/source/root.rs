//! Where are sessions of an agent?

use std::path::{Path, PathBuf};

use crate::format::{AGENTS, Agent, FORMATS, Format, format_named};
use crate::stored_path;

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
    /// The machine of which its sessions are copies; `None`: they are this one's own.
    pub host: Option<String>,
    /// One folder for all projects, not a folder a project.
    pub flat: bool,
    /// Where the path comes from, for people.
    pub why: String,
}

/// The agent and the format of the roots that are named so: by an agent, by a dialect of it, or by
/// a format.
pub(crate) fn named(name: &str) -> Option<(&'static str, &'static str)> {
    let also = |agent: &Agent| {
        Some((
            agent.name,
            agent.dir_also.filter(|(_, also)| *also == name)?.1,
        ))
    };
    let of_agent = AGENTS.iter().find(|agent| agent.name == name);
    let of_agent = of_agent.map(|agent| (agent.name, agent.format));
    of_agent
        .or_else(|| AGENTS.iter().find_map(also))
        .or_else(|| {
            let format = format_named(FORMATS, name)?;
            Some((format.name(), format.name()))
        })
}

/// The name by which roots of this agent and this format are named; `None`: there is none.
pub(crate) fn name_of<'a>(agent: &'a str, format: &'a str) -> Option<&'a str> {
    let names = [agent, format].into_iter();
    names
        .into_iter()
        .find(|name| named(name) == Some((agent, format)))
}

/// What says where a root is that the user named: the flag, or the configuration file.
pub(crate) const BY_FLAG: &str = "--root";
pub(crate) const BY_FILE: &str = "config";

impl RootSpec {
    /// Whether the user named it, and not an agent's own variables, settings or rules.
    pub fn is_named_by_hand(&self) -> bool {
        self.why == BY_FLAG || self.why == BY_FILE
    }

    /// The path of what is stored as `relative` below it.
    pub(crate) fn at(&self, relative: impl AsRef<Path>) -> PathBuf {
        stored_path::below(&self.path, relative)
    }

    /// Whether the formats of both, which are among these, find the same sessions in a folder.
    pub(crate) fn is_of_family(&self, other: &RootSpec, formats: &[&'static dyn Format]) -> bool {
        let family = |root: &RootSpec| Some(format_named(formats, &root.format)?.family());
        self.format == other.format || family(self).is_some_and(|one| family(other) == Some(one))
    }

    /// Whether the same sessions are found there: in the same folder, whatever its names.
    pub(crate) fn is_same(&self, other: &RootSpec, formats: &[&'static dyn Format]) -> bool {
        let one_folder = || {
            // What is no folder may wait for ever to be opened.
            let are_folders = self.path.is_dir() && other.path.is_dir();
            are_folders && same_file::is_same_file(&self.path, &other.path).unwrap_or(false)
        };
        self.is_of_family(other, formats) && (self.path == other.path || one_folder())
    }
}
