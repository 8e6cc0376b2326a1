//! How each agent's files are read: pure functions from bytes to facts. No I/O here.
//!
//! A [`Format`] is a way to read session files; an [`Agent`] is a program that writes such files at
//! places of its own. pi and indusagi write files of one family, and each reads them in its own
//! [dialect](crate::pi::Dialect).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::database::Database;
use crate::model::{Facts, Fold, Passage, Placement, Resume, SessionFacts};
use crate::names::Names;
use crate::pi::Dialect;
use crate::{
    agentuse, claude, clido, codex, copilot, cursor, gemini, induscode, openclaw, opencode, qwen,
};

/// How a source is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One JSON value per line.
    Lines,
    /// One JSON value per file.
    Document,
    /// Text that is no record: the whole file is one entry, whatever its bytes.
    Text,
    /// One JSON value per file that holds many records: [`Format::elements`] says where they are.
    Elements,
}

/// The time by which an agent's own list is sorted, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// When the session was last modified, as the agent says.
    Modified,
    /// When it was created; a session without that time comes last.
    Created,
}

/// How the agent changes a file it has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Grows at the end: growth is proven by the tail before it.
    Append,
    /// May change anywhere at any time: every change is proven by all blocks.
    Overwrite,
    /// Replaced as a whole by rename.
    Rename,
}

/// What the file system knows of a source when its session is folded.
#[derive(Debug, Clone)]
pub struct SourceFacts<'a> {
    /// Path below the root.
    pub relative: &'a Path,
    /// Modification time in ms.
    pub mtime_ms: i64,
    /// The fold over the source's entries.
    pub fold: &'a Fold,
    /// Which part of the session it is.
    pub part: crate::model::SourcePart,
    /// From [`Placement::Source`].
    pub unlisted: Option<&'a str>,
    /// Bytes of this source that are no entry (torn lines, garbage): `(count, first reason)`.
    pub problems: (u64, Option<&'a str>),
}

/// How the session files of an agent are read.
pub trait Format: Send + Sync {
    /// Its name, as stored and as typed in `--root NAME:DIR`.
    fn name(&self) -> &'static str;
    /// The name of the format whose files these are too: in a folder both find the same sessions.
    fn family(&self) -> &'static str {
        self.name()
    }
    /// Raised when the same bytes yield other facts or passages: sources of this format are read
    /// again.
    fn revision(&self) -> u32;
    /// Whether an entry of this [kind](Facts::kind) is of a type that some version of the agent is
    /// known to write, whatever is read of it. A format that cannot tell says yes.
    fn knows(&self, kind: &str) -> bool {
        let _ = kind;
        true
    }
    /// How sources are cut into records.
    fn shape(&self) -> Shape;
    /// How the source at `path` is cut, where a session's files are not all alike.
    fn shape_of(&self, path: &Path) -> Shape {
        let _ = path;
        self.shape()
    }
    /// Whether a session is so many small files that its row is made once all of them are in.
    fn has_many_sources(&self) -> bool {
        self.shape() == Shape::Document
    }
    /// How the agent writes.
    fn write_mode(&self) -> WriteMode;
    /// The file whose text is the working directory of the session at `path`, for agents that
    /// write it nowhere else.
    fn cwd_beside(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }
    /// The file that names the sessions beside the source at `path`, and what it calls that
    /// session, for agents that write their names nowhere else.
    fn names_beside(&self, path: &Path) -> Option<(PathBuf, String)> {
        let _ = path;
        None
    }
    /// What that file says of each session, by what it calls it: an object as JSON, which is kept
    /// in [`Fold::named_beside`]; of a session that it does not name, an empty one. `None`: it
    /// cannot be read.
    fn names_in(&self, names: &[u8]) -> Option<BTreeMap<String, String>> {
        let _ = names;
        None
    }
    /// Whether entries have ids but no tree: they are shown in one line, by time, each followed by
    /// those that name it as their parent.
    fn is_linear(&self) -> bool {
        false
    }
    /// Whether the entries of a session of this version are one line in file order, each going on
    /// from the one before, whatever ids and parents they name.
    fn is_one_line(&self, version: Option<i64>) -> bool {
        let _ = version;
        false
    }
    /// Whether a session may be in several files of which some grow line by line: then a last line
    /// that is not whole yet does not count in the session's row.
    fn has_several_files(&self) -> bool {
        false
    }
    /// Whether an entry with the id of an earlier one is that one as it is now: it is shown in the
    /// earlier one's place.
    fn same_id_replaces(&self) -> bool {
        false
    }
    /// Whether a session may branch, so that entries stand on its active branch or on another.
    /// Without ids they are one branch.
    fn has_branches(&self) -> bool {
        !self.is_linear()
    }
    /// Whether each answer of a tool hangs on the line of its own call, beside the next call of the
    /// same answer of the model. Such answers stand where their calls stand: only something else
    /// than them makes a branch.
    fn answers_hang_on_calls(&self) -> bool {
        false
    }
    /// Whether sessions are of projects, which the agent records as `projectRoot` beside their
    /// working directories.
    fn has_projects(&self) -> bool {
        false
    }
    /// How the agent's own list is sorted.
    fn list_order(&self) -> ListOrder {
        ListOrder::Modified
    }
    /// What the file at `relative` (below a root; `flat` when the root is one folder for all
    /// projects) is.
    fn place(&self, relative: &Path, flat: bool) -> Placement;
    /// The database of the agent's that holds many sessions, at the paths that [`Format::place`]
    /// calls one. A session in it is a source whose path is the database's with the session's key
    /// below it, of one line for each row.
    fn database(&self) -> Option<&'static Database> {
        None
    }
    /// The key of the session to which the rows under `key` in the database at `database` (below a
    /// root) belong, where files belong to it too; `None`: it is in that database alone.
    fn place_within(&self, database: &Path, key: &str) -> Option<String> {
        let _ = (database, key);
        None
    }
    /// The files beside the root at `root` that say what its sessions are called, where its agent
    /// has such files. What one of them says of a session is a source of the session at the place
    /// that is the session's id; of others it says nothing.
    fn names(&self, root: &Path) -> Option<&'static Names> {
        let _ = root;
        None
    }
    /// The document that the agent itself exports of a session in [`Format::database`] with these
    /// lines of rows; `None` where it exports none, or it is not known how.
    fn exported(&self, rows: &str) -> Option<String> {
        let _ = rows;
        None
    }
    /// Whether there is such a document of most sessions.
    fn exports(&self) -> bool {
        false
    }
    /// Why nothing below the folder at `folder` (below a root) belongs to a session; `None` if
    /// something may. Such a folder is not listed.
    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        let _ = folder;
        None
    }
    /// Where the records of the source at `path` are whose shape is [`Shape::Elements`], in order
    /// and without overlap; what lies between them holds nothing. A record need not be JSON by
    /// itself: what stands around the elements of an array is given to [`Format::facts_at`] as it
    /// stands. `None`: the document is not of a known shape, and is one problem.
    fn elements(&self, path: &Path, document: &[u8]) -> Option<Vec<Range<usize>>> {
        let _ = path;
        Some(std::iter::once(0..document.len()).collect())
    }
    /// How many bytes of a file that begins so are passed over before its first line begins.
    fn passed_over(&self, beginning: &[u8]) -> usize {
        let _ = beginning;
        0
    }
    /// The facts of one record. `record` is one JSON value that `JSON.parse` accepts.
    fn facts(&self, record: &[u8]) -> Facts;
    /// The facts of one record in the source at `path`, for formats whose file names say what a
    /// record is.
    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        let _ = path;
        self.facts(record)
    }
    /// The facts of the only record of a line, where reading them also proves that the line holds
    /// nothing but that record and white space. `None`: not known, and the line is looked at
    /// closely. Never an answer that [`Format::facts`] would not give; a format may leave this out.
    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        let _ = line;
        None
    }
    /// Notes what such a line that is looked at closely does to its session, whatever is in it: the
    /// agent may not get beyond it. Called before its records are folded.
    fn fold_line(&self, fold: &mut Fold, line: &[u8]) {
        let _ = (fold, line);
    }
    /// Whether the first line of a session in a database, which is about the session itself, says
    /// of it what it said when `fold` was saved, apart from what was spent and when it was changed.
    /// Then entries of equal lines behind it are equal.
    fn says_the_same(&self, fold: &Fold, facts: &Facts) -> bool {
        let _ = (fold, facts);
        false
    }
    /// Make a fold over the first lines of a session in a database what it would be with this first
    /// line. `false`: it says more than when the fold was saved, or other things.
    fn renews(&self, fold: &mut Fold, facts: &Facts) -> bool {
        let _ = (fold, facts);
        false
    }
    /// Where the entries are in a record of a line, where one record holds several of which only
    /// some are new: in order and without overlap, each given to [`Format::facts_at`] as it stands.
    /// None of them: the record is one entry. Called after [`Format::fold_line`], before any of
    /// them is folded.
    fn entries_within(&self, fold: &Fold, record: &[u8]) -> Vec<Range<usize>> {
        let _ = (fold, record);
        Vec::new()
    }
    /// Adds to the facts of an entry what follows from the entries before it in its source, for
    /// agents whose files are a log of changes: from which entry it goes on, and what of it was
    /// said before. Called before [`Format::fold`], with the fold of all that stands before, in
    /// which it may note what it has to know of this one later. So reading in ten pieces still
    /// gives what reading in one gives.
    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        let _ = (fold, record, facts);
    }
    /// All searchable text of one record, at most one passage per class.
    fn passages(&self, record: &[u8]) -> Vec<Passage>;
    /// All searchable text of one record in the source at `path`, at most one passage per class.
    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        let _ = path;
        self.passages(record)
    }
    /// What the agent tells the model in its own name, system prompts and tool schemas, of a record
    /// whose facts say [`Facts::has_prompt`]. No part of its passages: most sessions repeat it word
    /// for word.
    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        let _ = (path, record);
        Vec::new()
    }
    /// The record's share of what the agent's own list offers as all text of a session (pi:
    /// `allMessagesText`); `None` when it has none.
    fn listed_text(&self, record: &[u8]) -> Option<String> {
        let _ = record;
        None
    }
    /// Add one entry to the fold of its source. Called in file order.
    fn fold(&self, fold: &mut Fold, facts: &Facts);
    /// What the session is, from all its sources in path order.
    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts;
}

/// Where an agent keeps its sessions, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The agent's name, as shown and filtered by.
    pub name: &'static str,
    /// Name of its [`Format`].
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
    /// and the name of the [`Format`] that reads it as that program does.
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
    pub resume: &'static [&'static str],
    /// Whether it takes up by its id what its own list leaves out, but for subagents. Codex 0.169
    /// lists no session of `codex exec`, and resumes it.
    pub resumes_unlisted: bool,
    /// Whether its users also keep an agent folder in a project, under the name that it has below
    /// the home folder (a variable there names it, so that it is found only by looking).
    pub in_projects: bool,
}

/// How the agent called `agent` takes the session up again that lies at `path` and is read in
/// `format`, with what its agent records of it ([`SessionFacts::own`]); `None` = not known.
pub fn resume(
    agent: &str,
    format: &str,
    path: &str,
    (id, own): (&str, Option<&str>),
    cwd: &str,
) -> Option<Resume> {
    let agent = agent_called(agent)?;
    // Another program of that name, the Python package indusagi (0.1.5), cannot be told which
    // session to resume.
    if agent.dir_also.is_some_and(|(_, other)| other == format) {
        return None;
    }
    // An id comes from a file, and one that begins with a hyphen would be taken for an option.
    if id.starts_with('-') && agent.resume.contains(&"{id}") {
        return None;
    }
    let word = |word: &&str| match word.strip_suffix("{id}") {
        Some(before) => Some(format!("{before}{id}")),
        None if *word == "{path}" => Some(path.to_owned()),
        None if *word == "{key}" => session_key(own?),
        None => Some((*word).to_owned()),
    };
    Some(Resume {
        cwd: Some(cwd.into()).filter(|_| !cwd.is_empty()),
        argv: agent.resume.iter().map(word).collect::<Option<_>>()?,
    })
    .filter(|resume| !resume.argv.is_empty())
}

/// The name under which the agent finds what it calls a session, where that is not the session's
/// id; none that would be taken for an option.
fn session_key(own: &str) -> Option<String> {
    let own: serde_json::Value = serde_json::from_str(own).ok()?;
    let key = own.get("session_key")?.as_str()?;
    Some(key.to_owned()).filter(|key| !key.starts_with('-'))
}

/// The agent of that name.
pub fn agent_called(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|known| known.name == name)
}

/// The formats this build knows.
pub static FORMATS: &[&dyn Format] = &[
    &Dialect::PI,
    &Dialect::INDUSAGI,
    &Dialect::PINDUSAGI,
    &clido::Clido,
    &agentuse::Agentuse,
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &cursor::Cursor,
    &gemini::Gemini,
    &induscode::Induscode,
    &openclaw::OpenClaw,
    &opencode::OpenCode,
    &qwen::Qwen,
];

/// The [family](Format::family) of the format of that name; of one that this build does not know
/// its own name.
pub fn family(name: &str) -> &str {
    let known = FORMATS.iter().find(|format| format.name() == name);
    known.map_or(name, |format| format.family())
}

/// The agents this build knows.
pub static AGENTS: &[Agent] = &[
    Agent {
        name: "pi",
        format: Dialect::PI.name,
        dir_variables: &["PI_CODING_AGENT_DIR"],
        above_variable: None,
        expands: true,
        dir_default: ".pi/agent",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["sessions"],
        flat_variables: &["PI_CODING_AGENT_SESSION_DIR"],
        settings: Some(("settings.json", ".pi/settings.json")),
        deletes: None,
        resume: &["pi", "--session", "{path}"],
        resumes_unlisted: false,
        in_projects: false,
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
        dirs_before: &[],
        data_dir: false,
        sessions: &["sessions"],
        flat_variables: &["INDUSAGI_CODING_AGENT_SESSION_DIR"],
        settings: Some(("settings.json", ".indusagi/settings.json")),
        deletes: None,
        resume: &["indusagi", "--session", "{path}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "clido",
        format: "clido",
        dir_variables: &["CLIDO_DATA_DIR"],
        above_variable: None,
        expands: false,
        // The `directories` crate adds a level on Windows.
        dir_default: if cfg!(windows) { "clido/data" } else { "clido" },
        dir_also: None,
        dirs_before: &[],
        data_dir: true,
        sessions: &["sessions"],
        flat_variables: &["CLIDO_SESSION_DIR"],
        settings: None,
        deletes: None,
        resume: &["clido", "--resume", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "agentuse",
        format: "agentuse",
        dir_variables: &[],
        // agentuse uses this folder on every platform, macOS and Windows too.
        above_variable: Some(("XDG_DATA_HOME", "agentuse")),
        expands: false,
        dir_default: ".local/share/agentuse",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["project"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &["agentuse", "sessions", "resume", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "claude",
        format: "claude",
        dir_variables: &["CLAUDE_CONFIG_DIR"],
        above_variable: None,
        expands: false,
        dir_default: ".claude",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["projects"],
        flat_variables: &[],
        settings: None,
        // By its setting `cleanupPeriodDays`.
        deletes: Some("after 30 days"),
        resume: &["claude", "--resume", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "codex",
        format: "codex",
        dir_variables: &["CODEX_HOME"],
        above_variable: None,
        expands: false,
        dir_default: ".codex",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["sessions", "archived_sessions"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &["codex", "resume", "{id}"],
        resumes_unlisted: true,
        in_projects: true,
    },
    Agent {
        name: "copilot",
        format: "copilot",
        dir_variables: &["COPILOT_HOME"],
        above_variable: None,
        expands: false,
        dir_default: ".copilot",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["session-state"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &["copilot", "--resume={id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "cursor",
        format: "cursor",
        dir_variables: &[],
        above_variable: None,
        expands: false,
        dir_default: ".cursor",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["projects"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &[],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "gemini",
        format: "gemini",
        dir_variables: &[],
        above_variable: Some(("GEMINI_CLI_HOME", ".gemini")),
        expands: false,
        dir_default: ".gemini",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["tmp"],
        flat_variables: &[],
        settings: None,
        deletes: Some("after 30 days, and at once what holds no answer"),
        resume: &["gemini", "--resume", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "induscode",
        format: "induscode",
        dir_variables: &["INDUSAGI_CODING_AGENT_DIR", "INDUSAGI_HOME"],
        above_variable: None,
        expands: true,
        dir_default: ".pindusagi",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["sessions"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        // `pindus --resume` asks which one, and takes no id (0.1.6).
        resume: &[],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "openclaw",
        format: "openclaw",
        dir_variables: &["OPENCLAW_STATE_DIR"],
        above_variable: None,
        expands: true,
        dir_default: ".openclaw",
        dir_also: None,
        // As Clawdbot and as Moltbot.
        dirs_before: &[".clawdbot", ".moltbot"],
        data_dir: false,
        sessions: &["agents"],
        flat_variables: &[],
        settings: None,
        // By its setting `session.maintenance` what nobody typed in; it puts the rest away.
        deletes: None,
        resume: &["openclaw", "tui", "--session", "{key}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "opencode",
        format: "opencode",
        dir_variables: &[],
        // OpenCode uses this folder on macOS and Windows too.
        above_variable: Some(("XDG_DATA_HOME", "opencode")),
        expands: false,
        dir_default: ".local/share/opencode",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        // The databases lie in the folder itself.
        sessions: &[""],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &["opencode", "-s", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
    Agent {
        name: "qwen",
        format: "qwen",
        // As in 0.24.4: `getRuntimeBaseDir`, then `resolveQwenHome`.
        dir_variables: &["QWEN_RUNTIME_DIR", "QWEN_HOME"],
        above_variable: None,
        expands: true,
        dir_default: ".qwen",
        dir_also: None,
        dirs_before: &[],
        data_dir: false,
        sessions: &["projects"],
        flat_variables: &[],
        settings: None,
        deletes: None,
        resume: &["qwen", "--resume", "{id}"],
        resumes_unlisted: false,
        in_projects: false,
    },
];
