//! Where are sessions of an agent?

use std::fmt;
use std::path::{Path, PathBuf};

use crate::format::{AGENTS, Agent, FORMATS, Format, format_named};
use crate::stored_path;

/// A directory to scan for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// Where the path comes from.
    pub why: RootOrigin,
}

/// Where the path of a root comes from; [`Display`](fmt::Display) gives it as `status --roots`
/// shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RootOrigin {
    /// A program has named it, as by [`RootSpec::new`].
    Program,
    /// The user, by the flag `--root`.
    Flag,
    /// The user, in the configuration file.
    File,
    /// A variable of the agent's, by its name.
    Variable(String),
    /// `sessionDir` in this file of the agent's settings.
    Setting(PathBuf),
    /// The agent keeps its sessions there when nothing says otherwise.
    Default,
    /// An earlier version of the agent kept them there, under another name.
    EarlierName,
    /// The folder of that name which the agent keeps in a project.
    Project(String),
    /// It holds sessions of another machine, which were shared.
    Team,
}

impl fmt::Display for RootOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RootOrigin::Program => f.write_str("named by the program"),
            RootOrigin::Flag => f.write_str("--root"),
            RootOrigin::File => f.write_str("config"),
            RootOrigin::Variable(name) => write!(f, "${name}"),
            RootOrigin::Setting(file) => write!(f, "sessionDir of {}", file.display()),
            RootOrigin::Default => f.write_str("default"),
            RootOrigin::EarlierName => f.write_str("under an earlier name"),
            RootOrigin::Project(folder) => write!(f, "{folder} in a project"),
            RootOrigin::Team => f.write_str("team"),
        }
    }
}

/// The agent and the format of the roots that are named so: by an agent, by a dialect of it, or by
/// a format.
fn named(name: &str) -> Option<(&'static str, &'static str)> {
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
            let format = format_named(FORMATS, name)?.about();
            Some((format.name, format.name))
        })
}

/// The name by which roots of this agent and this format are named; `None`: there is none.
pub(crate) fn name_of<'a>(agent: &'a str, format: &'a str) -> Option<&'a str> {
    let names = [agent, format].into_iter();
    names
        .into_iter()
        .find(|name| named(name) == Some((agent, format)))
}

impl RootSpec {
    /// A folder with a folder a project, of an agent whose format is called as it is. What is
    /// otherwise is said by a struct update:
    ///
    /// ```
    /// use sessionary::RootSpec;
    /// let all_in_one = RootSpec {
    ///     flat: true,
    ///     ..RootSpec::new("pi", "/home/ada/all-sessions")
    /// };
    /// # assert_eq!(all_in_one.format, "pi");
    /// ```
    pub fn new(agent: impl Into<String>, path: impl Into<PathBuf>) -> RootSpec {
        let agent = agent.into();
        RootSpec {
            format: agent.clone(),
            agent,
            path: path.into(),
            label: None,
            host: None,
            flat: false,
            why: RootOrigin::Program,
        }
    }

    /// The same by a name that `--root` takes: of an agent, of a dialect of it or of a format of
    /// [`FORMATS`]. `None`: nothing is called so.
    ///
    /// ```
    /// use sessionary::RootSpec;
    /// let root = RootSpec::named("pindusagi", "/home/ada/.pindusagi/sessions");
    /// assert_eq!(root.map(|root| root.agent).as_deref(), Some("indusagi"));
    /// ```
    pub fn named(name: &str, path: impl Into<PathBuf>) -> Option<RootSpec> {
        let (agent, format) = named(name)?;
        Some(RootSpec {
            format: format.to_owned(),
            ..RootSpec::new(agent, path)
        })
    }

    /// Whether the user named it, and not an agent's own variables, settings or rules.
    pub fn is_named_by_hand(&self) -> bool {
        matches!(self.why, RootOrigin::Flag | RootOrigin::File)
    }

    /// The path of what is stored as `relative` below it.
    pub(crate) fn at(&self, relative: impl AsRef<Path>) -> PathBuf {
        stored_path::below(&self.path, relative)
    }

    /// Whether the formats of both, which are among these, find the same sessions in a folder.
    pub(crate) fn is_of_family(&self, other: &RootSpec, formats: &[&'static dyn Format]) -> bool {
        let family = |root: &RootSpec| Some(format_named(formats, &root.format)?.about().family);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_made_of_a_name_and_a_folder() {
        let root = RootSpec::new("notebook", "/notes");
        assert_eq!(
            (root.agent, root.format),
            ("notebook".into(), "notebook".into())
        );
        assert_eq!(root.why, RootOrigin::Program);
        assert_eq!(RootSpec::named("notebook", "/notes"), None);
        let dialect = RootSpec::named("pindusagi", "/sessions").unwrap();
        assert_eq!(dialect.agent, "indusagi");
        assert_eq!(dialect.format, "pindusagi");
    }

    #[test]
    fn who_named_a_root_is_shown_as_ever() {
        for (origin, shown) in [
            (RootOrigin::Flag, "--root"),
            (RootOrigin::File, "config"),
            (RootOrigin::Variable("PI_DIR".into()), "$PI_DIR"),
            (
                RootOrigin::Setting("/a.json".into()),
                "sessionDir of /a.json",
            ),
            (RootOrigin::Default, "default"),
        ] {
            assert_eq!(origin.to_string(), shown);
            let by_hand = matches!(origin, RootOrigin::Flag | RootOrigin::File);
            let root = RootSpec {
                why: origin,
                ..RootSpec::new("pi", "/sessions")
            };
            assert_eq!(root.is_named_by_hand(), by_hand);
        }
    }
}
