//! Where agents keep their sessions, of those too that this build does not read: data.
//!
//! Facts of other people's programs, each with where it is known from. They may move in any
//! release: a place that is not there costs one look.

/// What a place lies below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The home folder.
    Home,
    /// The platform's folder for settings.
    Config,
    /// The platform's folder for program data.
    Data,
    /// `$XDG_DATA_HOME`, else `~/.local/share`, on every platform.
    Xdg,
    /// The current directory.
    Project,
}

/// A folder or file in which sessions lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// A variable that names `folder`, where there is one.
    pub variable: &'static str,
    /// What `folder` lies below where that is not set.
    pub base: Base,
    /// The agent's own folder.
    pub folder: &'static str,
    /// Where the sessions are in it; empty: everywhere.
    pub sessions: &'static str,
}

/// An agent's sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Store {
    /// What people call it.
    pub name: &'static str,
    /// What it is called among the [agents](crate::format::AGENTS) once it is read; empty where
    /// another store of the same agent is.
    pub agent: &'static str,
    /// All that are known.
    pub places: &'static [Place],
    /// Where they are known from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who keep the table"))]
    pub known_from: &'static str,
}

const fn at(base: Base, folder: &'static str, sessions: &'static str) -> Place {
    Place {
        variable: "",
        base,
        folder,
        sessions,
    }
}

const fn home(folder: &'static str, sessions: &'static str) -> Place {
    at(Base::Home, folder, sessions)
}

/// What an add-on of Visual Studio Code keeps.
const fn vs_code(folder: &'static str) -> Place {
    at(Base::Config, "Code/User/globalStorage", folder)
}

const fn moved(variable: &'static str, place: Place) -> Place {
    Place { variable, ..place }
}

/// The agent itself wrote there while this was made.
const RUN: &str = "the agent itself, run in November 2026";
/// tokscale counts tokens of many agents; its README lists where it finds them.
const TOKSCALE: &str = "the README of tokscale, November 2026";
/// Fixtures and code of other programs that read it, and issues of its own.
const READERS: &str = "programs that read it, November 2026";

/// Agents whose databases another agent's format reads, where their folder is named, and that
/// format.
pub(super) const READ_BY: [(&str, &str); 2] = [("kilo", "opencode"), ("mimocode", "opencode")];

/// By name.
pub(super) const STORES: &[Store] = &[
    Store {
        name: "Amp",
        agent: "amp",
        places: &[at(Base::Xdg, "amp", "threads")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Antigravity",
        agent: "antigravity",
        places: &[
            home(".gemini/antigravity-cli", "conversations"),
            home(".gemini/antigravity", "conversations"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "Cherry Studio",
        agent: "cherry-studio",
        places: &[
            at(Base::Config, "CherryStudio", "Data/Agents/.claude/projects"),
            at(Base::Config, "CherryStudio", ".claude/projects"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "Claude Code",
        agent: "claude",
        places: &[moved("CLAUDE_CONFIG_DIR", home(".claude", "projects"))],
        known_from: RUN,
    },
    Store {
        name: "Cline",
        agent: "cline",
        places: &[
            moved("CLINE_DATA_DIR", home(".cline/data", "sessions")),
            vs_code("saoudrizwan.claude-dev/tasks"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "CodeBuddy",
        agent: "codebuddy",
        places: &[home(".codebuddy", "projects")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Codebuff",
        agent: "codebuff",
        places: &[moved(
            "CODEBUFF_DATA_DIR",
            home(".config/manicode", "projects"),
        )],
        known_from: TOKSCALE,
    },
    Store {
        name: "Codex",
        agent: "codex",
        places: &[
            moved("CODEX_HOME", home(".codex", "sessions")),
            moved("CODEX_HOME", home(".codex", "archived_sessions")),
        ],
        known_from: RUN,
    },
    Store {
        name: "Command Code",
        agent: "commandcode",
        places: &[home(".commandcode", "projects")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Crush",
        agent: "crush",
        places: &[at(Base::Project, ".crush", "crush.db")],
        known_from: READERS,
    },
    Store {
        name: "Cursor",
        agent: "cursor",
        places: &[home(".cursor", "projects")],
        known_from: READERS,
    },
    Store {
        name: "Cursor's command line",
        agent: "",
        places: &[home(".cursor", "chats")],
        known_from: READERS,
    },
    Store {
        name: "Cursor's editor",
        agent: "",
        places: &[at(Base::Config, "Cursor/User/globalStorage", "state.vscdb")],
        known_from: READERS,
    },
    Store {
        name: "Droid",
        agent: "droid",
        places: &[home(".factory", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Gajae-Code",
        agent: "gjc",
        places: &[
            moved("GJC_CODING_AGENT_DIR", home(".gjc/agent", "sessions")),
            at(Base::Xdg, "gjc", "sessions"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "Gemini CLI",
        agent: "gemini",
        places: &[home(".gemini", "tmp")],
        known_from: RUN,
    },
    Store {
        name: "GitHub Copilot CLI",
        agent: "copilot",
        places: &[moved("COPILOT_HOME", home(".copilot", "session-state"))],
        known_from: RUN,
    },
    Store {
        name: "GitHub Copilot CLI, before its session-state",
        agent: "",
        places: &[moved(
            "COPILOT_HOME",
            home(".copilot", "history-session-state"),
        )],
        known_from: READERS,
    },
    Store {
        name: "GitHub Copilot in JetBrains",
        agent: "",
        places: &[home(".copilot", "jb")],
        known_from: READERS,
    },
    Store {
        name: "Goose",
        agent: "goose",
        places: &[
            at(Base::Data, "goose", "sessions"),
            at(Base::Xdg, "goose", "sessions"),
            at(Base::Data, "Block/goose", "sessions"),
            at(Base::Data, "Block/goose/data", "sessions"),
        ],
        known_from: READERS,
    },
    Store {
        name: "Grok Build",
        agent: "grok",
        places: &[moved("GROK_HOME", home(".grok", "sessions"))],
        known_from: TOKSCALE,
    },
    Store {
        name: "Hermes Agent",
        agent: "hermes",
        places: &[
            moved("HERMES_HOME", home(".hermes", "state.db")),
            moved("HERMES_HOME", home(".hermes", "profiles")),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "iFlow",
        agent: "iflow",
        places: &[home(".iflow", "projects")],
        known_from: READERS,
    },
    Store {
        name: "induscode",
        agent: "induscode",
        places: &[moved("INDUSAGI_HOME", home(".pindusagi", "sessions"))],
        known_from: RUN,
    },
    Store {
        name: "Jcode",
        agent: "jcode",
        places: &[moved("JCODE_HOME", home(".jcode", "sessions"))],
        known_from: TOKSCALE,
    },
    Store {
        name: "Junie",
        agent: "junie",
        places: &[home(".junie", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Kilo CLI",
        agent: "kilo",
        places: &[at(Base::Xdg, "kilo", "kilo.db")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Kilo Code",
        agent: "kilo-code",
        places: &[vs_code("kilocode.kilo-code/tasks")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Kimchi",
        agent: "kimchi",
        places: &[moved(
            "KIMCHI_CODING_AGENT_DIR",
            home(".config/kimchi/harness", "sessions"),
        )],
        known_from: TOKSCALE,
    },
    Store {
        name: "Kimi CLI",
        agent: "kimi",
        places: &[
            home(".kimi", "sessions"),
            moved("KIMI_CODE_HOME", home(".kimi-code", "sessions")),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "Kiro",
        agent: "kiro",
        places: &[
            home(".kiro", "sessions"),
            at(Base::Data, "kiro-cli", "data.sqlite3"),
            at(Base::Config, "Kiro/User/globalStorage", "kiro.kiroagent"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "MiMo Code",
        agent: "mimocode",
        places: &[at(Base::Xdg, "mimocode", "mimocode.db")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Mux",
        agent: "mux",
        places: &[home(".mux", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Oh My Pi",
        agent: "omp",
        places: &[home(".omp/agent", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "OpenClaw",
        agent: "openclaw",
        places: &[
            moved("OPENCLAW_STATE_DIR", home(".openclaw", "agents")),
            home(".clawdbot", "agents"),
            home(".moltbot", "agents"),
        ],
        known_from: RUN,
    },
    Store {
        name: "OpenCode",
        agent: "opencode",
        places: &[
            at(Base::Xdg, "opencode", "opencode.db"),
            at(Base::Xdg, "opencode", "storage/session"),
        ],
        known_from: RUN,
    },
    Store {
        name: "OpenCodeReview",
        agent: "opencodereview",
        places: &[home(".opencodereview", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Prime Agent",
        agent: "prime",
        places: &[home(".prime/agent", "sessions")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Qwen Code",
        agent: "qwen",
        places: &[home(".qwen", "projects")],
        known_from: RUN,
    },
    Store {
        name: "Roo Code",
        agent: "roo-code",
        places: &[vs_code("rooveterinaryinc.roo-cline/tasks")],
        known_from: TOKSCALE,
    },
    Store {
        name: "Senpi",
        agent: "senpi",
        places: &[moved(
            "SENPI_CODING_AGENT_DIR",
            home(".senpi/agent", "sessions"),
        )],
        known_from: TOKSCALE,
    },
    Store {
        name: "WorkBuddy",
        agent: "workbuddy",
        places: &[home(".workbuddy", "projects")],
        known_from: TOKSCALE,
    },
    Store {
        name: "ZCode",
        agent: "zcode",
        places: &[
            home(".zcode", "cli/db/db.sqlite"),
            home(".zcode", "projects"),
        ],
        known_from: TOKSCALE,
    },
    Store {
        name: "Zed",
        agent: "zed",
        places: &[
            at(Base::Data, "zed", "threads/threads.db"),
            at(Base::Data, "Zed", "threads/threads.db"),
        ],
        known_from: READERS,
    },
];
