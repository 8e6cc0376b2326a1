//! What becomes of an entry that was written elsewhere? It goes by the rules of its type's own
//! append, and keeps what nobody knows.

use super::append::{is_content, is_usage};
use super::entry::Entry;
use super::error::Error;
use super::manager::SessionManager;
use super::typed::{CompactionEntry, ContextEditEntry, SessionEntry, SessionInfoEntry};
use super::value::{Json, put};
use sessionary_formats::json;

impl SessionManager {
    /// Appends an entry that was written elsewhere. It keeps its type and members, also those that
    /// nobody knows, and gets a new id, parent and time. An entry of a type that has an append of
    /// its own is written as that one writes it: a name on one line, a compaction with the prompt
    /// in force.
    ///
    /// # Errors
    /// What typed appends refuse, and [`Error::Invalid`] where a member that pi knows has a value
    /// that pi cannot use.
    pub fn append_entry(&mut self, entry: &Json) -> Result<String, Error> {
        let invalid = |why: &str| Err(Error::Invalid(why.to_owned()));
        let Some(parsed) = Entry::parse(entry.as_str().as_bytes()) else {
            return invalid("an entry must be a JSON object with a type");
        };
        let typed = parsed.typed();
        check_values(&parsed, &typed)?;
        match (parsed.kind(), typed) {
            ("", _) => return invalid("an entry must be a JSON object with a type"),
            ("session", _) => return invalid("a header is not an entry"),
            (_, SessionEntry::Message(message)) => self.check_message(&message)?,
            ("message", _) => return invalid("a message entry must have a message"),
            (_, SessionEntry::Compaction(entry)) => return self.append_summary(&parsed, entry),
            (_, SessionEntry::SessionInfo(entry)) => return self.append_info(entry),
            (_, SessionEntry::ContextEdit(entry)) => return self.append_replacement(entry),
            (_, SessionEntry::Usage(_)) => self.demand_prompts("usage entries")?,
            (_, SessionEntry::Label(label)) => {
                self.known(&label.target_id)?;
            }
            _ => {}
        }
        self.append(parsed.kind(), parsed.role(), |out| {
            for member in json::members(parsed.json()) {
                if !matches!(&*member.key, "type" | "id" | "parentId" | "timestamp") {
                    put(out, &member.key, &Json::trusted(member.value));
                }
            }
        })
    }

    fn append_summary(&mut self, parsed: &Entry, entry: CompactionEntry) -> Result<String, Error> {
        if parsed
            .member("summary")
            .is_none_or(|summary| summary == "null")
        {
            return Err(Error::Invalid(
                "a compaction must have a summary".to_owned(),
            ));
        }
        self.append_compaction(entry)
    }

    fn append_info(&mut self, mut entry: SessionInfoEntry) -> Result<String, Error> {
        let name = entry.name.take().unwrap_or_default();
        self.append_name(&name, entry)
    }

    fn append_replacement(&mut self, mut entry: ContextEditEntry) -> Result<String, Error> {
        let Some(replacement) = entry.replacement.take() else {
            let why = "a context edit must have a replacement: null, or an object with content";
            return Err(Error::Invalid(why.to_owned()));
        };
        let replacement = Some(replacement.as_str()).filter(|replacement| *replacement != "null");
        self.append_edit(entry, replacement)
    }
}

/// Refuses a member that pi knows with a value that it cannot use.
fn check_values(entry: &Entry, typed: &SessionEntry) -> Result<(), Error> {
    let given = |key| entry.member(key).filter(|value| *value != "null");
    let bad = match typed {
        SessionEntry::CustomMessage(_) if given("content").is_some_and(|all| !is_content(all)) => {
            Some("content")
        }
        SessionEntry::Usage(_) if !given("usage").is_some_and(is_usage) => Some("usage"),
        SessionEntry::Compaction(_) | SessionEntry::BranchSummary(_)
            if given("usage").is_some_and(|usage| !is_usage(usage)) =>
        {
            Some("usage")
        }
        _ => typed.misfit(),
    };
    match bad {
        None => Ok(()),
        Some(key) => Err(Error::Invalid(format!(
            "the `{key}` of an entry of type {} must be one that agents can read",
            entry.kind()
        ))),
    }
}
