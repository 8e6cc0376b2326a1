//! Where does each agent keep its sessions, and how does it take one up again?

use std::path::{Path, PathBuf};

use crate::pi::Dialect;

/// Where an agent keeps its sessions, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The agent's name, as shown and filtered by.
    pub name: &'static str,
    /// Name of its [`Format`](crate::Format).
    pub format: &'static str,
    /// Variables that name the agent folder; the first that is set decides, and an empty one means
    /// the default.
    pub dir_variables: &'static [&'static str],
    /// A variable that names the folder above the agent folder, and the agent folder's name below
    /// it.
    pub above_variable: Option<(&'static str, &'static str)>,
    /// Whether the agent expands a leading `~` in its variables and settings, and takes `file://`
    /// URLs for session folders.
    pub expands: bool,
    /// Where the agent folder is when no variable says so, below the home folder (or, with
    /// `data_dir`, below the platform's data folder).
    pub dir_default: &'static str,
    /// Where another program of that name keeps its agent folder by default, beside `dir_default`,
    /// and the name of the [`Format`](crate::Format) that reads it as that program does.
    pub dir_also: Option<(&'static str, &'static str)>,
    /// Where it kept its agent folder under earlier names of its own, below the home folder: these
    /// too are looked into, where they are there.
    pub dirs_before: &'static [&'static str],
    /// `true`: `dir_default` is below the platform's data folder instead of the home folder.
    pub data_dir: bool,
    /// The sessions folders below the agent folder; an empty one is that itself.
    pub sessions: &'static [&'static str],
    /// Variables that name one flat folder for the sessions of all projects.
    pub flat_variables: &'static [&'static str],
    /// Settings files whose key `sessionDir` names a flat folder: below the agent folder, and below
    /// a project.
    pub settings: Option<(&'static str, &'static str)>,
    /// When the agent deletes sessions by itself, as in "after 30 days"; `None`: it does not.
    pub deletes: Option<&'static str>,
    /// The command that takes a session up again: a word `{path}` is the session's path, `{id}` at
    /// the end of a word its id, and a word `{key}` the key that the agent itself records of it
    /// (`session_key` in [`SessionFacts::own`]); empty = not known.
    ///
    /// [`SessionFacts::own`]: crate::model::SessionFacts::own
    pub resume: &'static [&'static str],
    /// Whether it takes up by its id what its own list leaves out, but for subagents. Codex 0.169
    /// lists no session of `codex exec`, and resumes it.
    pub resumes_unlisted: bool,
    /// Whether it finds a session only when it is started in the session's own directory: the
    /// help of Claude Code 2.1.330 and of Qwen Code 0.24.4 and the code of Gemini CLI 0.61.0 say
    /// so. `false`: it finds it anywhere, or that is not known.
    pub resumes_there_alone: bool,
    /// Whether its users also keep an agent folder in a project, under the name that it has below
    /// the home folder (a variable there names it, so that it is found only by looking).
    pub in_projects: bool,
}

impl Agent {
    /// The folders in which its sessions are where no variable and no setting says otherwise, each
    /// with the name of the [`Format`](crate::Format) that reads it. Not all of them need be there.
    /// `home` is the home folder, `data` the platform's data folder.
    pub fn folders(&self, home: &Path, data: &Path) -> Vec<(PathBuf, &'static str)> {
        let above = if self.data_dir { data } else { home };
        let mut folders = vec![(above.join(self.dir_default), self.format)];
        folders.extend(
            self.dir_also
                .map(|(also, format)| (home.join(also), format)),
        );
        let before = self.dirs_before.iter();
        folders.extend(before.map(|before| (home.join(before), self.format)));
        let sessions = |(folder, format): (PathBuf, &'static str)| {
            let below = move |below: &&str| {
                let mut folder = folder.clone();
                folder.extend(Path::new(below));
                (folder, format)
            };
            self.sessions.iter().map(below)
        };
        folders.into_iter().flat_map(sessions).collect()
    }
}

/// The agent of that name.
pub fn agent_called(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|known| known.name == name)
}

/// What an agent has that is not said of it: nothing.
const PLAIN: Agent = Agent {
    name: "",
    format: "",
    dir_variables: &[],
    above_variable: None,
    expands: false,
    dir_default: "",
    dir_also: None,
    dirs_before: &[],
    data_dir: false,
    sessions: &[],
    flat_variables: &[],
    settings: None,
    deletes: None,
    resume: &[],
    resumes_unlisted: false,
    resumes_there_alone: false,
    in_projects: false,
};

/// The agents this build knows.
pub static AGENTS: &[Agent] = &[
    Agent {
        name: "pi",
        format: Dialect::PI.name,
        dir_variables: &["PI_CODING_AGENT_DIR"],
        expands: true,
        dir_default: ".pi/agent",
        sessions: &["sessions"],
        flat_variables: &["PI_CODING_AGENT_SESSION_DIR"],
        settings: Some(("settings.json", ".pi/settings.json")),
        resume: &["pi", "--session", "{path}"],
        ..PLAIN
    },
    Agent {
        name: "indusagi",
        format: Dialect::INDUSAGI.name,
        dir_variables: &["INDUSAGI_AGENT_DIR", "INDUSAGI_CODING_AGENT_DIR"],
        above_variable: Some(("INDUSAGI_DIR", "agent")),
        expands: true,
        dir_default: ".indusagi/agent",
        // The Python package (indusagi 0.1.5) asks for the same variables as the one on npm.
        dir_also: Some((".pindusagi/agent", Dialect::PINDUSAGI.name)),
        sessions: &["sessions"],
        flat_variables: &["INDUSAGI_CODING_AGENT_SESSION_DIR"],
        settings: Some(("settings.json", ".indusagi/settings.json")),
        resume: &["indusagi", "--session", "{path}"],
        ..PLAIN
    },
    Agent {
        name: "clido",
        format: "clido",
        dir_variables: &["CLIDO_DATA_DIR"],
        // The `directories` crate adds a level on Windows.
        dir_default: if cfg!(windows) { "clido/data" } else { "clido" },
        data_dir: true,
        sessions: &["sessions"],
        flat_variables: &["CLIDO_SESSION_DIR"],
        resume: &["clido", "--resume", "{id}"],
        ..PLAIN
    },
    Agent {
        name: "agentuse",
        format: "agentuse",
        // agentuse uses this folder on every platform, macOS and Windows too.
        above_variable: Some(("XDG_DATA_HOME", "agentuse")),
        dir_default: ".local/share/agentuse",
        sessions: &["project"],
        resume: &["agentuse", "sessions", "resume", "{id}"],
        ..PLAIN
    },
    Agent {
        name: "claude",
        format: "claude",
        dir_variables: &["CLAUDE_CONFIG_DIR"],
        dir_default: ".claude",
        sessions: &["projects"],
        // By its setting `cleanupPeriodDays`.
        deletes: Some("after 30 days"),
        resume: &["claude", "--resume", "{id}"],
        resumes_there_alone: true,
        ..PLAIN
    },
    Agent {
        name: "codex",
        format: "codex",
        dir_variables: &["CODEX_HOME"],
        dir_default: ".codex",
        sessions: &["sessions", "archived_sessions"],
        resume: &["codex", "resume", "{id}"],
        resumes_unlisted: true,
        in_projects: true,
        ..PLAIN
    },
    Agent {
        name: "copilot",
        format: "copilot",
        dir_variables: &["COPILOT_HOME"],
        dir_default: ".copilot",
        sessions: &["session-state"],
        resume: &["copilot", "--resume={id}"],
        ..PLAIN
    },
    Agent {
        name: "cursor",
        format: "cursor",
        dir_default: ".cursor",
        sessions: &["projects"],
        ..PLAIN
    },
    Agent {
        name: "gemini",
        format: "gemini",
        above_variable: Some(("GEMINI_CLI_HOME", ".gemini")),
        dir_default: ".gemini",
        sessions: &["tmp"],
        deletes: Some("after 30 days, and at once what holds no answer"),
        resume: &["gemini", "--resume", "{id}"],
        resumes_there_alone: true,
        ..PLAIN
    },
    // `pindus --resume` asks which one, and takes no id (0.1.6).
    Agent {
        name: "induscode",
        format: "induscode",
        dir_variables: &["INDUSAGI_CODING_AGENT_DIR", "INDUSAGI_HOME"],
        expands: true,
        dir_default: ".pindusagi",
        sessions: &["sessions"],
        ..PLAIN
    },
    // By its setting `session.maintenance` it deletes what nobody typed in, and puts the rest away.
    Agent {
        name: "openclaw",
        format: "openclaw",
        dir_variables: &["OPENCLAW_STATE_DIR"],
        expands: true,
        dir_default: ".openclaw",
        // As Clawdbot and as Moltbot.
        dirs_before: &[".clawdbot", ".moltbot"],
        sessions: &["agents"],
        resume: &["openclaw", "tui", "--session", "{key}"],
        ..PLAIN
    },
    Agent {
        name: "opencode",
        format: "opencode",
        // OpenCode uses this folder on macOS and Windows too.
        above_variable: Some(("XDG_DATA_HOME", "opencode")),
        dir_default: ".local/share/opencode",
        // The databases lie in the folder itself.
        sessions: &[""],
        resume: &["opencode", "-s", "{id}"],
        ..PLAIN
    },
    Agent {
        name: "qwen",
        format: "qwen",
        // As in 0.24.4: `getRuntimeBaseDir`, then `resolveQwenHome`.
        dir_variables: &["QWEN_RUNTIME_DIR", "QWEN_HOME"],
        expands: true,
        dir_default: ".qwen",
        sessions: &["projects"],
        resume: &["qwen", "--resume", "{id}"],
        resumes_there_alone: true,
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FORMATS, format_named};

    #[test]
    fn every_folder_of_an_agent_is_read_by_the_format_that_reads_it() {
        let folders = |name| {
            let all = agent_called(name)
                .unwrap()
                .folders("/home".as_ref(), "/data".as_ref());
            let all = all.into_iter();
            all.map(|(folder, format)| (folder.to_str().unwrap().replace('\\', "/"), format))
                .collect::<Vec<_>>()
        };
        let expected = [
            ("/home/.indusagi/agent/sessions", "indusagi"),
            ("/home/.pindusagi/agent/sessions", "pindusagi"),
        ];
        assert_eq!(
            folders("indusagi"),
            expected.map(|(at, by)| (at.to_owned(), by))
        );
        let before =
            ["openclaw", "clawdbot", "moltbot"].map(|name| format!("/home/.{name}/agents"));
        assert_eq!(folders("openclaw"), before.map(|at| (at, "openclaw")));
        assert!(folders("clido")[0].0.starts_with("/data/clido"));
        assert_eq!(folders("opencode")[0].0, "/home/.local/share/opencode");
        let all = AGENTS.iter().flat_map(|agent| folders(agent.name));
        assert!(
            all.into_iter()
                .all(|(_, format)| format_named(FORMATS, format).is_some())
        );
    }
}
