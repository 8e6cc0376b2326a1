//! Random session operations, written for a real agent and done with ours.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use sessionary::session::{
    BranchSummaryEntry, Clock, CompactionEntry, CustomMessageEntry, Error, Ids, Json, Message,
    NewSession, Profile, SessionEntry, SessionManager, Setup, UsageEntry, parse_session_entries,
};

use super::state::{quoted, state};

/// The clock and the ids of oracle/session-run.mjs.
#[derive(Debug, Default)]
pub struct World {
    pub now: AtomicI64,
    pub calls: AtomicU32,
    /// Whether every id is free.
    pub unique: bool,
}

impl Clock for World {
    fn now_ms(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }
}

impl Ids for World {
    fn random(&self) -> String {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        // Every seventh id is not free.
        let key = if n % 7 == 6 && !self.unique { n - 1 } else { n };
        let first = (key + 1).wrapping_mul(0x9e37_79b1);
        format!("{first:08x}-0000-4000-8000-{n:012}")
    }

    fn timed(&self, ms: i64) -> String {
        // Agents count on within a millisecond; sessions are compared by their order anyhow.
        format!("{ms:012x}-7000-8000")
    }
}

/// One operation. `json` members are JSON texts; `Option<i64>` names an entry by the order of
/// appends, -1 none there is.
#[derive(Debug, Clone)]
pub enum Operation {
    Create {
        cwd: String,
        dir: Option<String>,
    },
    InMemory {
        cwd: String,
    },
    NewSession {
        parent: Option<String>,
    },
    Message {
        json: String,
    },
    Thinking {
        level: String,
    },
    Model {
        provider: String,
        model: String,
    },
    Compaction {
        summary: String,
        first: Option<i64>,
        tokens: i64,
        details: Option<String>,
        hook: Option<bool>,
    },
    Custom {
        kind: String,
        data: Option<String>,
    },
    CustomMessage {
        kind: String,
        content: String,
        display: bool,
        details: Option<String>,
    },
    Name {
        name: String,
    },
    Label {
        target: i64,
        label: Option<String>,
    },
    Usage {
        note: Option<String>,
    },
    ContextEdit {
        target: i64,
        content: Option<String>,
    },
    Branch {
        target: i64,
    },
    ResetLeaf,
    BranchWithSummary {
        target: Option<i64>,
        summary: String,
        details: Option<String>,
    },
    Branched {
        target: i64,
    },
    Fork {
        cwd: String,
    },
    Reopen,
}

/// Operations, each so many ms after the one before.
pub struct Script {
    pub start: i64,
    pub operations: Vec<(i64, Operation)>,
}

impl Script {
    /// As a line for oracle/session-run.mjs.
    pub fn line(&self) -> String {
        let mut out = format!("{{\"start\":{},\"operations\":[", self.start);
        for (at, (after, operation)) in self.operations.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write!(out, "{{\"after\":{after},{}}}", operation.members()).expect("a string");
        }
        out + "]}"
    }

    /// Does it with ours, in a folder of its own; the answers in the text that session-run.mjs
    /// makes.
    pub fn run(&self, profile: Profile, home: &Path, session_ids: &mut Vec<String>) -> String {
        let root = home.join("sessions");
        let world = Arc::new(World::default());
        world.now.store(self.start, Ordering::Relaxed);
        let mut setup = Setup::new(profile, &root);
        (setup.clock, setup.ids) = (world.clone(), world.clone());
        let mut session = None;
        let mut ids = Vec::new();
        let mut results = Vec::new();
        for (after, operation) in &self.operations {
            world.now.fetch_add(*after, Ordering::Relaxed);
            let done = operation.run(&mut setup, &mut session, &ids);
            let current = session
                .as_ref()
                .expect("the first operation makes a session");
            let result = match done {
                Ok(Some(id)) => {
                    ids.push(id.clone());
                    quoted(&id)
                }
                Ok(None) => "null".to_owned(),
                Err(_) => "\"error\"".to_owned(),
            };
            if !session_ids.iter().any(|id| id == current.session_id()) {
                session_ids.push(current.session_id().to_owned());
            }
            let leaf = current.leaf_id().map_or_else(|| "null".to_owned(), quoted);
            results.push(format!("[{result},{leaf}]"));
        }
        let session = session.expect("a session");
        let files: Vec<String> = files(&root)
            .into_iter()
            .map(|(name, content)| format!("{}:{}", quoted(&name), quoted(&content)))
            .collect();
        format!(
            "{{\"results\":[{}],\"state\":{},\"files\":{{{}}}",
            results.join(","),
            state(&session),
            files.join(",")
        )
    }
}

/// Session files below a folder, by name.
pub fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
        let name = entry
            .path()
            .strip_prefix(root)
            .expect("below")
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".jsonl")
            && let Ok(content) = fs::read(entry.path())
        {
            found.push((name, String::from_utf8_lossy(&content).into_owned()));
        }
    }
    found.sort();
    found
}

fn name_of(ids: &[String], target: i64) -> String {
    match usize::try_from(target) {
        Ok(at) if !ids.is_empty() => ids[at % ids.len()].clone(),
        _ => "nothing!".to_owned(),
    }
}

fn json(text: &str) -> Json {
    Json::parse(text).expect("JSON")
}

impl Operation {
    fn members(&self) -> String {
        let mut out = String::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let comma = if out.is_empty() { "" } else { "," };
                write!(out, "{comma}\"{key}\":{value}").expect("a string");
            }
        };
        let number = |target: &Option<i64>| {
            Some(target.map_or_else(|| "null".to_owned(), |target| target.to_string()))
        };
        match self {
            Self::Create { cwd, dir } => {
                put("op", Some(quoted("create")));
                put("cwd", Some(quoted(cwd)));
                put("dir", dir.as_deref().map(quoted));
            }
            Self::InMemory { cwd } => {
                put("op", Some(quoted("inMemory")));
                put("cwd", Some(quoted(cwd)));
            }
            Self::NewSession { parent } => {
                put("op", Some(quoted("newSession")));
                put("parent", parent.as_deref().map(quoted));
            }
            Self::Message { json } => {
                put("op", Some(quoted("message")));
                put("message", Some(json.clone()));
            }
            Self::Thinking { level } => {
                put("op", Some(quoted("thinking")));
                put("level", Some(quoted(level)));
            }
            Self::Model { provider, model } => {
                put("op", Some(quoted("model")));
                put("provider", Some(quoted(provider)));
                put("model", Some(quoted(model)));
            }
            Self::Compaction {
                summary,
                first,
                tokens,
                details,
                hook,
            } => {
                put("op", Some(quoted("compaction")));
                put("summary", Some(quoted(summary)));
                put("first", number(first));
                put("tokens", Some(tokens.to_string()));
                put("details", details.clone());
                put("fromHook", hook.map(|hook| hook.to_string()));
            }
            Self::Custom { kind, data } => {
                put("op", Some(quoted("custom")));
                put("customType", Some(quoted(kind)));
                put("data", data.clone());
            }
            Self::CustomMessage {
                kind,
                content,
                display,
                details,
            } => {
                put("op", Some(quoted("customMessage")));
                put("customType", Some(quoted(kind)));
                put("content", Some(content.clone()));
                put("display", Some(display.to_string()));
                put("details", details.clone());
            }
            Self::Name { name } => {
                put("op", Some(quoted("name")));
                put("name", Some(quoted(name)));
            }
            Self::Label { target, label } => {
                put("op", Some(quoted("label")));
                put("target", Some(target.to_string()));
                put("label", label.as_deref().map(quoted));
            }
            Self::Usage { note } => {
                put("op", Some(quoted("usage")));
                put("kind", Some(quoted("search")));
                put("provider", Some(quoted("p")));
                put("model", Some(quoted("m")));
                put("usage", Some(USAGE.to_owned()));
                put("note", note.as_deref().map(quoted));
            }
            Self::ContextEdit { target, content } => {
                put("op", Some(quoted("contextEdit")));
                put("target", Some(target.to_string()));
                put("content", content.clone());
            }
            Self::Branch { target } => {
                put("op", Some(quoted("branch")));
                put("target", Some(target.to_string()));
            }
            Self::ResetLeaf => put("op", Some(quoted("resetLeaf"))),
            Self::BranchWithSummary {
                target,
                summary,
                details,
            } => {
                put("op", Some(quoted("branchWithSummary")));
                put("target", number(target));
                put("summary", Some(quoted(summary)));
                put("details", details.clone());
            }
            Self::Branched { target } => {
                put("op", Some(quoted("branched")));
                put("target", Some(target.to_string()));
            }
            Self::Fork { cwd } => {
                put("op", Some(quoted("fork")));
                put("cwd", Some(quoted(cwd)));
            }
            Self::Reopen => put("op", Some(quoted("reopen"))),
        }
        out
    }

    /// The entry that it writes, as another program would give it; `None`: it writes none, or one
    /// for which more is asked.
    fn entry(&self, ids: &[String]) -> Option<String> {
        let mut out = String::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let comma = if out.is_empty() { "" } else { "," };
                write!(out, "{comma}\"{key}\":{value}").expect("a string");
            }
        };
        match self {
            Self::Message { json } => {
                put("message", Some(json.clone()));
                put("type", Some(quoted("message")));
            }
            Self::Compaction {
                summary,
                first,
                tokens,
                details,
                hook,
            } => {
                put("tokensBefore", Some(tokens.to_string()));
                put("summary", Some(quoted(summary)));
                put("fromHook", hook.map(|hook| hook.to_string()));
                put("details", details.clone());
                let first = first.map(|first| quoted(&name_of(ids, first)));
                put("firstKeptEntryId", first);
                put("type", Some(quoted("compaction")));
            }
            Self::Name { name } => {
                put("name", Some(quoted(name)));
                put("type", Some(quoted("session_info")));
            }
            Self::Label { target, label } => {
                put("type", Some(quoted("label")));
                put("targetId", Some(quoted(&name_of(ids, *target))));
                put("label", label.as_deref().map(quoted));
            }
            Self::ContextEdit { target, content } => {
                let replacement = content
                    .as_ref()
                    .map(|content| format!("{{\"content\":{content}}}"));
                put(
                    "replacement",
                    Some(replacement.unwrap_or("null".to_owned())),
                );
                put("targetId", Some(quoted(&name_of(ids, *target))));
                put("type", Some(quoted("context_edit")));
            }
            _ => return None,
        }
        Some(format!("{{{out}}}"))
    }

    fn run(
        &self,
        setup: &mut Setup,
        session: &mut Option<SessionManager>,
        ids: &[String],
    ) -> Result<Option<String>, Error> {
        match self {
            Self::Create { cwd, dir } => {
                setup.flat = dir.as_ref().map(|dir| setup.sessions.join(dir));
                *session = Some(SessionManager::create(setup, cwd)?);
                return Ok(None);
            }
            Self::InMemory { cwd } => {
                *session = Some(SessionManager::in_memory(setup, cwd));
                return Ok(None);
            }
            _ => {}
        }
        let current = session
            .as_mut()
            .expect("the first operation makes a session");
        // Every other entry comes from elsewhere: that makes no difference.
        if ids.len() % 2 == 1
            && let Some(entry) = self.entry(ids)
        {
            return current.append_entry(&json(&entry)).map(Some);
        }
        match self {
            Self::Create { .. } | Self::InMemory { .. } => Ok(None),
            Self::NewSession { parent } => {
                let new = NewSession {
                    id: None,
                    parent_session: parent.clone(),
                };
                current.new_session(&new).map(|_| None)
            }
            Self::Message { json } => current
                .append_message(Message::parse(json).expect("JSON"))
                .map(Some),
            Self::Thinking { level } => current.append_thinking_level_change(level).map(Some),
            Self::Model { provider, model } => {
                current.append_model_change(provider, model).map(Some)
            }
            Self::Compaction {
                summary,
                first,
                tokens,
                details,
                hook,
            } => current
                .append_compaction(CompactionEntry {
                    summary: summary.clone(),
                    first_kept_entry_id: first.map(|first| name_of(ids, first)),
                    tokens_before: *tokens,
                    details: details.as_deref().map(json),
                    from_hook: *hook,
                    ..Default::default()
                })
                .map(Some),
            Self::Custom { kind, data } => current
                .append_custom_entry(kind, data.as_deref().map(json))
                .map(Some),
            Self::CustomMessage {
                kind,
                content,
                display,
                details,
            } => {
                // Typed content as a file of a stranger gives it.
                let line = format!(r#"{{"type":"custom_message","content":{content}}}"#);
                let typed = parse_session_entries(&line);
                let Some(sessionary::session::FileEntry::Entry(entry)) = typed.first() else {
                    panic!("{line}");
                };
                let SessionEntry::CustomMessage(typed) = entry.typed() else {
                    panic!("{line}");
                };
                current
                    .append_custom_message_entry(&CustomMessageEntry {
                        custom_type: kind.clone(),
                        display: *display,
                        details: details.as_deref().map(json),
                        ..typed
                    })
                    .map(Some)
            }
            Self::Name { name } => current.append_session_info(name).map(Some),
            Self::Label { target, label } => current
                .append_label_change(&name_of(ids, *target), label.as_deref())
                .map(Some),
            Self::Usage { note } => {
                let mut usage = UsageEntry {
                    kind: "search".to_owned(),
                    provider: "p".to_owned(),
                    model: "m".to_owned(),
                    // pi leaves an empty note out.
                    note: note.clone().filter(|note| !note.is_empty()),
                    ..Default::default()
                };
                usage.usage.input = 1;
                usage.usage.cost.total = 0.5;
                current.append_usage(&usage).map(Some)
            }
            Self::ContextEdit { target, content } => current
                .append_context_edit(
                    &name_of(ids, *target),
                    content.as_deref().map(json).as_ref(),
                )
                .map(Some),
            Self::Branch { target } => current.set_leaf(&name_of(ids, *target)).map(|()| None),
            Self::ResetLeaf => {
                current.reset_leaf();
                Ok(None)
            }
            Self::BranchWithSummary {
                target,
                summary,
                details,
            } => current
                .branch_with_summary(
                    target.map(|target| name_of(ids, target)).as_deref(),
                    BranchSummaryEntry {
                        summary: summary.clone(),
                        details: details.as_deref().map(json),
                        ..Default::default()
                    },
                )
                .map(Some),
            Self::Branched { target } => current
                .create_branched_session(&name_of(ids, *target))
                .map(|_| None),
            Self::Fork { cwd } => {
                let path = current.session_file().map(Path::to_path_buf);
                let path = path.ok_or_else(|| Error::Invalid("in memory".to_owned()))?;
                setup.flat = None;
                *session = Some(SessionManager::fork_from(setup, &path, cwd)?);
                Ok(None)
            }
            Self::Reopen => {
                let path = current.session_file().map(Path::to_path_buf);
                if let Some(path) = path.filter(|path| path.exists()) {
                    current.set_session_file(&path)?;
                }
                Ok(None)
            }
        }
    }
}

const USAGE: &str = r#"{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}}"#;
