//! What a session file holds: its header and its entries, as their lines.

use std::borrow::Cow;

use serde::Deserialize;

use super::message::{Message, known_role};
use super::typed::{
    BranchSummaryEntry, CompactionEntry, ContextEditEntry, CustomEntry, CustomMessageEntry,
    LabelEntry, ModelChangeEntry, SessionEntry, SessionInfoEntry, ThinkingLevelChangeEntry,
    UsageEntry,
};
use super::value::{Value, put};
use crate::format::json::{self, Loose, Raw, Text};

/// One entry as its line: whatever is in it is kept to the byte. [`Entry::typed`] reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    json: Box<str>,
    kind: Cow<'static, str>,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    timestamp: Option<Box<str>>,
    role: Cow<'static, str>,
    has_content: bool,
}

/// Types that need no memory of their own.
const KINDS: [&str; 11] = [
    "message",
    "thinking_level_change",
    "model_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
];

/// What tells one line from another.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Base<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    parent_id: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow)]
    message: Loose<Said<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    content: Loose<Anything>,
}

/// An object, whatever is in it.
#[derive(Deserialize, Default)]
struct Anything {}

impl Entry {
    /// The entry in a line; `None` where that is not one JSON value.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let mut entry = json::tiers(line, |text| {
            Some(match json::parse::<Loose<Base<'_>>>(text)? {
                Loose::Object(base) => Self {
                    role: known_role(
                        base.message
                            .object()
                            .and_then(|said| said.role.as_str())
                            .unwrap_or_default(),
                    ),
                    has_content: base
                        .message
                        .object()
                        .is_some_and(|said| !matches!(said.content, Loose::Missing | Loose::Null)),
                    json: Box::default(),
                    kind: kind(base.kind.as_str().unwrap_or_default()),
                    id: known(base.id.shown().as_deref()),
                    parent: known(base.parent_id.shown().as_deref()),
                    timestamp: known(base.timestamp.shown().as_deref()),
                },
                _ => Self {
                    json: Box::default(),
                    kind: Cow::Borrowed(""),
                    id: None,
                    parent: None,
                    timestamp: None,
                    role: Cow::Borrowed(""),
                    has_content: false,
                },
            })
        })?;
        entry.json = match std::str::from_utf8(line) {
            Ok(text) => text.trim_matches([' ', '\t', '\r', '\n']).into(),
            Err(_) => String::from_utf8_lossy(line)
                .trim_matches([' ', '\t', '\r', '\n'])
                .into(),
        };
        Some(entry)
    }

    /// The entry as it is written, without the line's end. Bytes that are no UTF-8 are U+FFFD, as agents read them.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The type; "" where the line does not say.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The id; of one that is no text its JSON. An entry without an id can be no leaf and no parent.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The parent's id.
    pub fn parent_id(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// When it was written, as it says.
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// The same in ms since the epoch, as JavaScript reads dates; `None` where it cannot.
    pub fn time_ms(&self) -> Option<i64> {
        json::date_ms(self.timestamp()?)
    }

    /// The entry, read.
    pub fn typed(&self) -> SessionEntry {
        let text = self.json();
        match self.kind() {
            "message" => self
                .message()
                .map(|message| SessionEntry::Message(message.into_owned())),
            "thinking_level_change" => {
                ThinkingLevelChangeEntry::read(text).map(SessionEntry::ThinkingLevelChange)
            }
            "model_change" => ModelChangeEntry::read(text).map(SessionEntry::ModelChange),
            "compaction" => CompactionEntry::read(text).map(SessionEntry::Compaction),
            "branch_summary" => BranchSummaryEntry::read(text).map(SessionEntry::BranchSummary),
            "custom" => CustomEntry::read(text).map(SessionEntry::Custom),
            "custom_message" => CustomMessageEntry::read(text).map(SessionEntry::CustomMessage),
            "label" => LabelEntry::read(text).map(SessionEntry::Label),
            "session_info" => SessionInfoEntry::read(text).map(SessionEntry::SessionInfo),
            "usage" => UsageEntry::read(text).map(SessionEntry::Usage),
            "context_edit" => ContextEditEntry::read(text).map(SessionEntry::ContextEdit),
            _ => None,
        }
        .unwrap_or(SessionEntry::Unknown)
    }

    /// The message of a message entry; `None` for any other, and where it is no object.
    pub fn message(&self) -> Option<Message<'_>> {
        let message = (self.kind == "message").then(|| self.member("message"))??;
        message
            .starts_with('{')
            .then(|| Message::trusted(&self.role, message))
    }

    /// The role of a message entry's message; "" for any other.
    pub fn role(&self) -> &str {
        match &*self.kind {
            "message" => &self.role,
            _ => "",
        }
    }

    /// Whether a message entry's message has content.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// A member's JSON text.
    pub(super) fn member(&self, key: &str) -> Option<&str> {
        json::member(&self.json, key)
    }
}

fn kind(name: &str) -> Cow<'static, str> {
    match KINDS.iter().find(|kind| **kind == name) {
        Some(kind) => Cow::Borrowed(kind),
        None => Cow::Owned(name.to_owned()),
    }
}

fn known(text: Option<&str>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}

/// What every entry begins with, or, where its agent writes them last, ends with.
pub(super) struct Place<'a> {
    pub id: &'a str,
    /// The parent's id as it is written, in JSON.
    pub parent: Option<&'a str>,
    pub timestamp: &'a str,
}

impl Place<'_> {
    /// The line of an entry, as `JSON.stringify` writes it: `members` adds what its type has beside the base.
    pub(super) fn line(&self, kind: &str, members: impl FnOnce(&mut String)) -> String {
        let mut out = "{".to_owned();
        put(&mut out, "type", &kind.to_owned());
        // Of these two pi makes the object in another order.
        if matches!(kind, "custom" | "custom_message") {
            members(&mut out);
            self.write(&mut out);
        } else {
            self.write(&mut out);
            members(&mut out);
        }
        out.push('}');
        // What callers hand in may be written in any way.
        json::stringify(out.as_bytes()).unwrap_or(out)
    }

    fn write(&self, out: &mut String) {
        put(out, "id", &self.id.to_owned());
        out.push_str(",\"parentId\":");
        out.push_str(self.parent.unwrap_or("null"));
        put(out, "timestamp", &self.timestamp.to_owned());
    }
}

/// The first line of a session (pi: `SessionHeader`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHeader {
    json: Box<str>,
    id: Box<str>,
    version: i64,
}

impl SessionHeader {
    /// The header that an entry is: of type `session`, with an id that is text.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        let id = entry.member("id").and_then(String::read)?;
        (entry.kind() == "session").then(|| Self {
            version: match entry.member("version") {
                // `header.version ?? 1`; what is no number is less than none.
                None | Some("null") => 1,
                Some(version) => {
                    f64::read(version).map_or(super::CURRENT_SESSION_VERSION, |n| n as i64)
                }
            },
            json: entry.json.clone(),
            id: id.into(),
        })
    }

    /// A new header.
    pub(super) fn new(id: &str, timestamp: &str, cwd: &str, parent: Option<&str>) -> Self {
        let mut out = "{".to_owned();
        put(&mut out, "type", &"session".to_owned());
        put(&mut out, "version", &super::CURRENT_SESSION_VERSION);
        put(&mut out, "id", &id.to_owned());
        put(&mut out, "timestamp", &timestamp.to_owned());
        put(&mut out, "cwd", &cwd.to_owned());
        put(&mut out, "parentSession", &parent.map(str::to_owned));
        out.push('}');
        Self {
            json: out.into(),
            id: id.into(),
            version: super::CURRENT_SESSION_VERSION,
        }
    }

    /// The header as it is written.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The format's version; 1 where the header has none.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// When the session began, as it says.
    pub fn timestamp(&self) -> Option<String> {
        self.text("timestamp")
    }

    /// The working directory.
    pub fn cwd(&self) -> Option<String> {
        self.text("cwd")
    }

    /// The file this session was forked from.
    pub fn parent_session(&self) -> Option<String> {
        self.text("parentSession")
    }

    fn text(&self, key: &str) -> Option<String> {
        json::member(&self.json, key).and_then(String::read)
    }
}

/// A line of a session file (pi: `FileEntry`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEntry {
    /// A header.
    Header(SessionHeader),
    /// Anything else.
    Entry(Entry),
}

/// Every line that parses, with no look at whether that makes a session (pi: `parseSessionEntries`): headers wherever
/// they stand, values that are no objects as entries of no type. Lines that are no JSON are left out.
pub fn parse_session_entries(content: &str) -> Vec<FileEntry> {
    json::trim(content)
        .split('\n')
        .filter_map(|line| Entry::parse(line.as_bytes()))
        .map(|entry| match SessionHeader::of(&entry) {
            Some(header) => FileEntry::Header(header),
            None => FileEntry::Entry(entry),
        })
        .collect()
}
