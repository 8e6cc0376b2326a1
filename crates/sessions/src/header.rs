//! How does a session begin, and which lines of a file are its header and which are entries?

use super::entry::Entry;
use super::value::{Value, put};
use sessionary_formats::json;
use sessionary_formats::pi::Dialect;

/// The first line of a session (pi: `SessionHeader`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHeader {
    json: Box<str>,
    id: Box<str>,
    version: i64,
}

impl SessionHeader {
    /// The header that an entry is: of type `session`, with an id that is text.
    pub(super) fn of(dialect: Dialect, entry: &Entry) -> Option<Self> {
        let id = entry.member("id").and_then(String::read)?;
        (entry.kind() == "session").then(|| Self {
            version: dialect.version(entry.member("version")),
            json: entry.json().into(),
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
#[non_exhaustive]
pub enum FileEntry {
    /// A header.
    Header(SessionHeader),
    /// Anything else.
    Entry(Entry),
}

/// Every line that parses, with no look at whether that makes a session (pi:
/// `parseSessionEntries`): headers wherever they stand, values that are no objects as entries of no
/// type. Lines that are no JSON are left out.
pub fn parse_session_entries(content: &str) -> Vec<FileEntry> {
    json::trim(content)
        .split('\n')
        .filter_map(|line| Entry::parse(line.as_bytes()))
        .map(|entry| match SessionHeader::of(Dialect::PI, &entry) {
            Some(header) => FileEntry::Header(header),
            None => FileEntry::Entry(entry),
        })
        .collect()
}
