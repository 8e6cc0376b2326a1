//! Adding to a session: every kind of entry, and how it gets into the file.

use super::context::system_message;
use super::disk::{self, FileChange};
use super::entry::Entry;
use super::error::Error;
use super::line::EntryHead;
use super::manager::SessionManager;
use super::message::Message;
use super::profile::FromId;
use super::typed::{
    BranchSummaryEntry, CompactionEntry, ContextEditEntry, CustomEntry, CustomMessageEntry,
    LabelEntry, ModelChangeEntry, SessionInfoEntry, ThinkingLevelChangeEntry, UsageEntry,
};
use super::value::{Json, Value, put, quoted};
use sessionary_formats::json;
use sessionary_formats::pi::Names;

/// How often a file is read again that others keep rewriting.
const TRIES: usize = 8;

/// Where an entry goes.
enum File<'d> {
    InMemory,
    /// To a file that is still to appear.
    Missing(&'d mut disk::Disk),
    There(disk::LockedFile<'d>),
}

/// Every append makes a child of the leaf, becomes the leaf itself and gives its id. It is in the
/// file when it returns, or, where the file is not there yet, when the file appears; when it fails,
/// the session and its file are as they were. (But where [`Setup::sync`](super::Setup::sync) failed
/// and an agent, which locks nothing, went on behind the line meanwhile, it stays: cutting it off
/// would take the agent's line too. The session then finds it as it finds what others append.)
impl SessionManager {
    /// Appends a message (pi: `appendMessage`). Summaries are no messages: they have appends of
    /// their own.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the content of a user's or a model's message is neither text nor an
    /// array of blocks, or an answer has no usage with a cost. (pi writes these; its list then
    /// lacks the session, or it fails as soon as it adds up the costs.) As every append:
    /// [`Error::ReadOnly`]; [`Error::Gone`] and [`Error::Replaced`] where the file is no longer the
    /// one that was opened; [`Error::NoBackups`] and [`Error::Unfinished`] where it is of an old
    /// version; [`Error::NoLock`]; [`Error::Io`].
    pub fn append_message<'m>(&mut self, message: impl Into<Message<'m>>) -> Result<String, Error> {
        let message = message.into();
        self.check_message(&message)?;
        self.append("message", message.role(), |out| {
            put(out, "message", &Json::trusted(message.as_str()));
        })
    }

    /// Refuses a message that the agent does not know or cannot read back.
    pub(super) fn check_message(&self, message: &Message<'_>) -> Result<(), Error> {
        let invalid = |why: &str| Err(Error::Invalid(why.to_owned()));
        let content = message.member("content");
        match message.role() {
            "branchSummary" | "compactionSummary" => {
                invalid("append a summary with branch_with_summary or append_compaction")
            }
            "system" => self.demand_prompts("system messages"),
            "user" | "assistant" if content.is_some_and(|content| !is_content(content)) => {
                invalid("the content of a message must be a text or an array of blocks")
            }
            "assistant" if !is_usage(message.member("usage").unwrap_or_default()) => {
                invalid("an answer must have its usage, an object with a cost")
            }
            _ => Ok(()),
        }
    }

    /// Appends a change of the thinking level (pi: `appendThinkingLevelChange`). As in pi, the
    /// level is not checked: [`THINKING_LEVELS`](crate::THINKING_LEVELS) has those that pi knows.
    ///
    /// # Errors
    /// As every append: see [`SessionManager::append_message`].
    pub fn append_thinking_level_change(&mut self, level: &str) -> Result<String, Error> {
        let entry = ThinkingLevelChangeEntry {
            thinking_level: level.to_owned(),
            ..Default::default()
        };
        self.append("thinking_level_change", "", |out| entry.write_members(out))
    }

    /// Appends a change of the model (pi: `appendModelChange`).
    ///
    /// # Errors
    /// As every append: see [`SessionManager::append_message`].
    pub fn append_model_change(&mut self, provider: &str, model: &str) -> Result<String, Error> {
        let entry = ModelChangeEntry {
            provider: provider.to_owned(),
            model_id: model.to_owned(),
            ..Default::default()
        };
        self.append("model_change", "", |out| entry.write_members(out))
    }

    /// Appends a compaction (pi: `appendCompaction`). Without a first kept entry it keeps none. The
    /// prompt in force is written with it, where there is one.
    ///
    /// # Errors
    /// As every append: see [`SessionManager::append_message`].
    pub fn append_compaction(&mut self, compaction: CompactionEntry) -> Result<String, Error> {
        self.insert("compaction", "", |session, place, out| {
            let mut entry = compaction.clone();
            let own = || place.id.to_owned();
            entry.first_kept_entry_id.get_or_insert_with(own);
            if session.setup.profile.knows_prompts {
                let now = place.timestamp.and_then(String::read);
                let time = now.and_then(|now| json::date_ms(&now)).unwrap_or(0);
                let context = session.build_session_context();
                if let Some(prompt) = system_message(&context.messages, time) {
                    entry.system_message = Some(Json::trusted(&prompt));
                }
            }
            entry.write_members(out);
        })
    }

    /// Appends what an extension keeps (pi: `appendCustomEntry`).
    ///
    /// # Errors
    /// As every append: see [`SessionManager::append_message`].
    pub fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<Json>,
    ) -> Result<String, Error> {
        let entry = CustomEntry {
            custom_type: custom_type.to_owned(),
            data,
            ..Default::default()
        };
        self.append("custom", "", |out| entry.write_members(out))
    }

    /// Appends what an extension says (pi: `appendCustomMessageEntry`).
    ///
    /// # Errors
    /// As every append: see [`SessionManager::append_message`].
    pub fn append_custom_message_entry(
        &mut self,
        message: &CustomMessageEntry,
    ) -> Result<String, Error> {
        self.append("custom_message", "", |out| message.write_members(out))
    }

    /// Names the session, or with an empty name takes the name away (pi: `appendSessionInfo`). The
    /// name is trimmed, and line ends in it become spaces where the profile says.
    ///
    /// # Errors
    /// [`Error::Unknown`] for an empty name where the agent passes over empty names, as indusagi
    /// does: the name before would stay.
    pub fn append_session_info(&mut self, name: &str) -> Result<String, Error> {
        self.append_name(name, SessionInfoEntry::default())
    }

    /// Names the session by an entry that has more to say.
    pub(super) fn append_name(
        &mut self,
        name: &str,
        mut entry: SessionInfoEntry,
    ) -> Result<String, Error> {
        let profile = &self.setup.profile;
        let name = match profile.one_line_names {
            true => one_line(name),
            false => name.to_owned(),
        };
        let name = json::trim(&name);
        if name.is_empty() && profile.dialect.names == Names::LastNotEmpty {
            return Err(Error::Unknown {
                agent: profile.agent,
                what: "names that are taken away",
            });
        }
        entry.name = Some(name.to_owned());
        self.append("session_info", "", |out| entry.write_members(out))
    }

    /// Labels an entry, or without a label takes its label away (pi: `appendLabelChange`).
    ///
    /// # Errors
    /// [`Error::NoEntry`]; as every append: see [`SessionManager::append_message`].
    pub fn append_label_change(
        &mut self,
        target: &str,
        label: Option<&str>,
    ) -> Result<String, Error> {
        self.known(target)?;
        let entry = LabelEntry {
            target_id: target.to_owned(),
            label: label.map(str::to_owned),
            ..Default::default()
        };
        self.append("label", "", |out| entry.write_members(out))
    }

    /// Appends another model's work beside the conversation (pi since 0.87: `appendUsage`).
    ///
    /// # Errors
    /// [`Error::Unknown`] where the agent knows no such entries; as every append: see
    /// [`SessionManager::append_message`].
    pub fn append_usage(&mut self, usage: &UsageEntry) -> Result<String, Error> {
        self.demand_prompts("usage entries")?;
        self.append("usage", "", |out| usage.write_members(out))
    }

    /// Replaces what the model sees of a message on the active branch, from here on (pi since 0.87:
    /// `appendContextEdit`): with other content, text or an array of blocks, or without content not
    /// at all. The message itself stays in the file.
    ///
    /// # Errors
    /// [`Error::NoEntry`]; [`Error::Invalid`] where the entry is not on the active branch, or has
    /// no content that could be seen so; as [`SessionManager::append_usage`].
    pub fn append_context_edit(
        &mut self,
        target: &str,
        content: Option<&Json>,
    ) -> Result<String, Error> {
        let entry = ContextEditEntry {
            target_id: target.to_owned(),
            ..Default::default()
        };
        let replacement = content.map(|content| format!("{{\"content\":{}}}", content.as_str()));
        self.append_edit(entry, replacement.as_deref())
    }

    /// Appends a context edit with this replacement, `{"content":…}`.
    pub(super) fn append_edit(
        &mut self,
        mut entry: ContextEditEntry,
        replacement: Option<&str>,
    ) -> Result<String, Error> {
        self.demand_prompts("context edits")?;
        let invalid = |why: String| Err(Error::Invalid(why));
        let target = &*entry.target_id;
        let edited = self.known(target)?;
        let role = match edited.kind() {
            "custom_message" => "custom",
            // pi edits no message of this role.
            _ if edited.role() == "custom" => "",
            _ => edited.role(),
        };
        if !matches!(role, "user" | "assistant" | "toolResult" | "custom") {
            return invalid(format!("entry {target} has no content that the model sees"));
        }
        if !self.branch().iter().any(|entry| entry.id() == Some(target)) {
            return invalid(format!("entry {target} is not on the active branch"));
        }
        let content = replacement.and_then(|all| json::member(all, "content"));
        let content = content.unwrap_or_default();
        let wants_blocks = matches!(role, "assistant" | "toolResult");
        let replacement = match replacement {
            None => "null".to_owned(),
            Some(_) if wants_blocks && content.starts_with('"') => {
                format!("{{\"content\":[{{\"type\":\"text\",\"text\":{content}}}]}}")
            }
            Some(all) if is_content(content) => all.to_owned(),
            Some(_) => return invalid("content must be a text or an array of blocks".to_owned()),
        };
        entry.replacement = Some(Json::trusted(&replacement));
        self.append("context_edit", "", |out| entry.write_members(out))
    }

    /// Moves to another entry, or before the first, and appends a summary of the branch that is
    /// left (pi: `branchWithSummary`).
    ///
    /// # Errors
    /// [`Error::NoEntry`]; as every append: see [`SessionManager::append_message`].
    pub fn branch_with_summary(
        &mut self,
        at: Option<&str>,
        mut summary: BranchSummaryEntry,
    ) -> Result<String, Error> {
        if let Some(id) = at {
            self.known(id)?;
        }
        let left = match self.setup.profile.from_id {
            FromId::Left => self.leaf_id(),
            FromId::Target => at,
        };
        summary.from_id = left.unwrap_or("root").to_owned();
        let before = std::mem::replace(&mut self.leaf, at.map(Into::into));
        let appended = self.append("branch_summary", "", |out| summary.write_members(out));
        if appended.is_err() {
            self.leaf = before;
        }
        appended
    }

    pub(super) fn demand_prompts(&self, what: &'static str) -> Result<(), Error> {
        let profile = &self.setup.profile;
        match profile.knows_prompts {
            true => Ok(()),
            false => Err(Error::Unknown {
                agent: profile.agent,
                what,
            }),
        }
    }

    pub(super) fn append(
        &mut self,
        kind: &str,
        role: &str,
        members: impl Fn(&mut String),
    ) -> Result<String, Error> {
        self.insert(kind, role, |_, _, out| members(out))
    }

    /// Appends an entry whose members depend on where it goes.
    fn insert(
        &mut self,
        kind: &str,
        role: &str,
        members: impl Fn(&Self, &EntryHead<'_>, &mut String),
    ) -> Result<String, Error> {
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        self.migrate()?;
        for _ in 0..TRIES {
            // The lock is held on the disk's own state, so that is put aside.
            let mut disk = self.disk.take();
            let done = self.try_insert(&mut disk, kind, role, &members);
            self.disk = disk;
            match done? {
                Some(id) => return Ok(id),
                None => {
                    let path = self.session_file().map(Into::into).unwrap_or_default();
                    self.reload(path)?;
                }
            }
        }
        let path = self.session_file().map(Into::into).unwrap_or_default();
        Err(Error::Replaced { path })
    }

    /// `None`: the file is another one; nothing was written.
    fn try_insert(
        &mut self,
        disk: &mut Option<disk::Disk>,
        kind: &str,
        role: &str,
        members: &impl Fn(&Self, &EntryHead<'_>, &mut String),
    ) -> Result<Option<String>, Error> {
        let mut file = File::InMemory;
        if let Some(disk) = disk {
            if disk.exists() {
                let (locked, news) = disk.lock()?;
                match news {
                    FileChange::Nothing => {}
                    FileChange::Appended(entries) if self.written => self.absorb(entries),
                    FileChange::Replaced if self.written => return Ok(None),
                    FileChange::Appended(_) | FileChange::Replaced => {
                        // It was empty, and another session began in it.
                        let path = locked.path().to_path_buf();
                        return Err(Error::Replaced { path });
                    }
                }
                file = File::There(locked);
            } else {
                file = File::Missing(disk);
            }
        }

        let timestamp = quoted(&self.setup.now());
        let id = self.setup.entry_id(|id| self.log.entry(id).is_some());
        let place = EntryHead {
            id: &id,
            parent: self.leaf_entry().and_then(|leaf| leaf.member("id")),
            timestamp: Some(&timestamp),
        };
        let line = place.line(kind, |out| members(self, &place, out));
        let Some(entry) = Entry::parse(line.as_bytes()) else {
            return Err(Error::Invalid("what was given is not JSON".to_owned()));
        };

        let begins = self.begun || kind == "message" && self.setup.profile.begins_with(role);
        let sync = self.setup.sync;
        match file {
            File::There(mut locked) => {
                let lines = match self.written {
                    true => line + "\n",
                    false => self.lines() + &line + "\n",
                };
                let others = locked.append(&lines, sync)?;
                self.absorb(others);
                self.written = true;
            }
            File::Missing(disk) if begins => {
                disk.create((self.lines() + &line + "\n").as_bytes(), sync)?;
                self.written = true;
            }
            File::Missing(_) | File::InMemory => {}
        }
        self.begun = begins;
        self.log.push(entry);
        self.leaf = Some(id.as_str().into());
        Ok(Some(id))
    }

    /// What other programs appended. The leaf stays where it is.
    fn absorb(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            if entry.kind() != "session" {
                self.log.push(entry);
            }
        }
    }

    /// The whole session as the lines of a new file.
    pub(super) fn lines(&self) -> String {
        let mut out = String::new();
        let lines = self.entries().iter().map(Entry::json);
        for line in std::iter::once(self.header.json()).chain(lines) {
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

/// Whether agents can read this as the content of a message: text, or blocks. (pi's list leaves out
/// a session in which it is anything else.)
pub(super) fn is_content(json: &str) -> bool {
    let are_blocks = || json::elements(json).iter().all(|one| one.starts_with('{'));
    json.starts_with('"') || json.starts_with('[') && are_blocks()
}

/// Whether agents can add it up as usage: with an object of costs. (pi's footer fails at any other
/// of an answer.)
pub(super) fn is_usage(json: &str) -> bool {
    json::member(json, "cost").is_some_and(|cost| cost.starts_with('{'))
}

/// Runs of line ends as one space each.
fn one_line(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut in_run = false;
    for c in name.chars() {
        let ends = matches!(c, '\r' | '\n');
        match (ends, in_run) {
            (true, false) => out.push(' '),
            (true, true) => {}
            (false, _) => out.push(c),
        }
        in_run = ends;
    }
    out
}
