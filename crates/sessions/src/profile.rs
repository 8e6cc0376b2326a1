//! How does an agent name, begin and fill its session files? The rules of pi and its forks, as
//! data.

use std::path::{Component, Path, PathBuf};

use sessionary_formats::pi::Dialect;

/// When a new session's file appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Creation {
    /// With the first message of the user or the model.
    FirstMessage,
    /// With the first message of the model: a question without an answer leaves no file.
    FirstAnswer,
}

/// Which id a new session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionIds {
    /// A random UUID (version 4).
    Random,
    /// A UUID that begins with the time (version 7).
    Timed,
}

/// What the `fromId` of a branch summary names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FromId {
    /// The leaf that was left.
    Left,
    /// The entry that the new branch grows from.
    Target,
}

/// The rules of one agent. Other forks of pi have profiles of their own making.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The agent's name.
    pub agent: &'static str,
    /// How the agent reads its files.
    pub dialect: Dialect,
    /// When a new session's file appears.
    pub creation: Creation,
    /// Which id a new session gets.
    pub session_ids: SessionIds,
    /// What branch summaries name.
    pub from_id: FromId,
    /// Whether working directories are made plain (`..`, doubled and last slashes gone) before they
    /// are used.
    pub plain_paths: bool,
    /// Whether line ends in a name become spaces.
    pub one_line_names: bool,
    /// Whether the agent knows system messages, usage entries and context edits. Where it does not,
    /// none is written.
    pub knows_prompts: bool,
}

impl Profile {
    /// pi 1.5. It writes what 0.87 writes, but a new session's file appears with the first message.
    pub const PI: Self = Self {
        agent: "pi",
        dialect: Dialect::PI,
        creation: Creation::FirstMessage,
        session_ids: SessionIds::Timed,
        from_id: FromId::Left,
        plain_paths: true,
        one_line_names: true,
        knows_prompts: true,
    };

    /// indusagi 0.12 for Node, a fork of an early pi.
    pub const INDUSAGI: Self = Self {
        agent: "indusagi",
        dialect: Dialect::INDUSAGI,
        creation: Creation::FirstAnswer,
        session_ids: SessionIds::Random,
        from_id: FromId::Target,
        plain_paths: false,
        one_line_names: false,
        knows_prompts: false,
    };

    /// indusagi 0.1 for Python, a port of it.
    pub const PINDUSAGI: Self = Self {
        dialect: Dialect::PINDUSAGI,
        ..Self::INDUSAGI
    };

    /// The profile for the sessions that a [format](sessionary_formats::Format) of that name reads.
    pub fn of(format: &str) -> Option<Self> {
        [Self::PI, Self::INDUSAGI, Self::PINDUSAGI]
            .into_iter()
            .find(|profile| profile.dialect.name == format)
    }

    /// Whether a message of that role makes a new session's file appear.
    pub(super) fn begins_with(&self, role: &str) -> bool {
        match self.creation {
            Creation::FirstMessage => matches!(role, "user" | "assistant"),
            Creation::FirstAnswer => role == "assistant",
        }
    }

    /// The working directory as the agent writes it.
    pub(super) fn cwd(&self, cwd: &str) -> String {
        // What another system wrote is no path here: it stays as it is.
        if !self.plain_paths || !Path::new(cwd).is_absolute() {
            return cwd.to_owned();
        }
        plain(Path::new(cwd)).to_string_lossy().into_owned()
    }

    /// The folder of a working directory, below the agent's sessions folder: one leading slash
    /// goes, every other and every colon becomes `-`, two dashes stand on both sides.
    pub fn folder(&self, cwd: &str) -> String {
        let cwd = self.cwd(cwd);
        let rest = cwd.strip_prefix(['/', '\\']).unwrap_or(&cwd);
        format!("--{}--", rest.replace(['/', '\\', ':'], "-"))
    }
}

/// The name of a session's file: when it began and its id.
pub(super) fn file_name(timestamp: &str, id: &str) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// An absolute path without `.`, `..` and needless slashes, by its text alone.
pub fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Folders that pi 0.74.2 and 0.87.1 made.
    #[test]
    fn folders_are_named_as_the_agents_name_them() {
        for (cwd, pi, old) in [
            (
                "/home/user/my-project",
                "--home-user-my-project--",
                "--home-user-my-project--",
            ),
            ("/", "----", "----"),
            ("/a:b/c", "--a-b-c--", "--a-b-c--"),
            (
                "/home/u/trailing/",
                "--home-u-trailing--",
                "--home-u-trailing---",
            ),
            ("//x/y/", "--x-y--", "---x-y---"),
            ("/a/./b/../c", "--a-c--", "--a-.-b-..-c--"),
            ("/日本 語/é", "--日本 語-é--", "--日本 語-é--"),
        ] {
            assert_eq!(Profile::PI.folder(cwd), pi);
            assert_eq!(Profile::INDUSAGI.folder(cwd), old);
        }
    }
}
