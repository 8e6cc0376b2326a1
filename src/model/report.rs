//! What do sync, `status` and `verify` say of the index? `--json` prints exactly this. Times are as
//! in the other answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::UnindexedText;

/// Milliseconds by stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct StageMs {
    pub discover: f64,
    pub catalogue: f64,
    /// The part of `words` after which all conversation was indexed; `null` when none was lacking.
    #[serde(default)]
    pub prose: Option<f64>,
    pub words: f64,
}

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Report {
    pub files_seen: u64,
    pub files_changed: u64,
    pub files_unreadable: u64,
    /// Bytes read to learn something new; proofs apart.
    pub bytes_read: u64,
    /// Bytes read again only to prove that they had not changed.
    pub proof_bytes: u64,
    pub entries: u64,
    pub problems: u64,
    pub vanished: u64,
    /// Passages given to the words.
    pub passages: u64,
    /// Entries still to be given to the words, each once. They are found all the same.
    pub outstanding: u64,
    /// Bytes of their lines.
    #[serde(default)]
    pub outstanding_bytes: u64,
    pub ms: StageMs,
    /// Why stores were rebuilt, roots could not be read, files were read again.
    pub notes: Vec<String>,
}

impl Report {
    /// Note what is met again each time that it is tried.
    pub(crate) fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A root that the index holds, named now or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredRoot {
    /// Whose sessions are read there.
    pub agent: String,
    /// How the user calls it.
    pub label: Option<String>,
    /// The folder, as it was named first.
    pub path: PathBuf,
    /// How many sessions are stored of it.
    pub sessions: u64,
    /// Whether the last sync named it; else its sessions are in the index and in no list.
    pub current: bool,
}

/// One root and what was found there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct RootStatus {
    pub agent: String,
    pub label: Option<String>,
    pub path: PathBuf,
    /// Where the path comes from: default, a variable, a settings file, a flag. As
    /// [`RootOrigin`](crate::RootOrigin) says it.
    pub why: String,
    pub exists: bool,
    pub files: u64,
    pub sessions: u64,
    /// Files that are there and excluded.
    #[serde(default)]
    pub excluded: u64,
    /// Symbolic links that are there and not followed: they lead out of the roots, or to folders
    /// that a root lies in.
    #[serde(default)]
    pub links_not_followed: u64,
    /// Newest session's `modified`.
    pub newest: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub newest_ms: Option<i64>,
    /// Files in which nothing is known: no header, no directory, no message of anybody.
    #[serde(default)]
    pub unknown: u64,
    /// The first of them, by path.
    #[serde(default)]
    pub first_unknown: Option<PathBuf>,
    /// Entries, of all sessions.
    #[serde(default)]
    pub entries: u64,
    /// Runs of bytes that are no entry.
    #[serde(default)]
    pub unparsed: u64,
    /// Types of lines that are not known, of each version of the agent that writes many of them in
    /// its last sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_types: Vec<UnknownTypes>,
    /// Why it could not be read, if so.
    pub error: Option<String>,
}

/// Entries of types that are not known: see
/// [`Format::knows`](crate::format::Format::knows).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct UnknownTypes {
    /// Of the agent, where its sessions say it.
    pub version: Option<String>,
    /// The types, by name.
    pub kinds: Vec<String>,
    /// How many of the entries that were looked at are of one of them.
    pub entries: u64,
    /// How many were looked at.
    pub of: u64,
}

/// The answer of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Status {
    pub schema_version: u32,
    pub index_dir: PathBuf,
    pub generation: u32,
    pub roots: Vec<RootStatus>,
    pub sessions: u64,
    pub entries: u64,
    pub problems: u64,
    /// Files, folders and roots that could not be read; among the problems.
    #[serde(default)]
    pub unread: u64,
    /// Files that are no sessions, and links that are not followed: among the problems, and nothing
    /// is wrong with them.
    #[serde(default)]
    pub passed_over: u64,
    /// Entries still to be given to the words, each once. They are found all the same.
    pub outstanding: u64,
    /// Bytes of their lines.
    #[serde(default)]
    pub outstanding_bytes: u64,
    /// The same where it is more than 128 KiB, and the command that indexes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<UnindexedText>,
    /// Why the words cannot be read, if so: searches read all text until the next sync has
    /// rebuilt them.
    #[serde(default)]
    pub words_damage: Option<String>,
    pub catalogue_bytes: u64,
    pub words_bytes: u64,
    pub source_bytes: u64,
    /// Last full scan.
    pub last_scan: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub last_scan_ms: Option<i64>,
    /// Whether another process holds the writer lock.
    pub writer: bool,
    /// The live watcher, if there is one.
    #[serde(default)]
    pub watcher: Option<WatcherStatus>,
}

/// A process that keeps the index up to date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WatcherStatus {
    /// Its number.
    pub pid: u32,
    /// Since when it watches.
    pub since: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub since_ms: Option<i64>,
    /// `watch` where the system tells of changes, `poll` where all files are looked at again and
    /// again.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub mode: WatchMode,
    /// Why it polls, or why its word is no proof that the index equals the files.
    pub why: Option<String>,
    /// Directories that it watches.
    pub directories: u64,
    /// How long it took until all that was on disk when it was asked was in the catalogue, in ms;
    /// `null`: no answer, or it polls.
    pub lag_ms: Option<f64>,
}

/// How a watcher learns of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WatchMode {
    /// The system tells of them.
    Watch,
    /// All files are looked at again and again.
    Poll,
}

/// A store of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum StoreName {
    /// The catalogue: sessions, entries, calls, usage.
    Catalogue,
    /// The words: full text.
    Words,
}

impl std::fmt::Display for StoreName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StoreName::Catalogue => "catalogue",
            StoreName::Words => "words",
        })
    }
}

/// What `verify` says of a file, or of a store as a whole: that it differs, or that it is behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Difference {
    pub store: StoreName,
    pub source: Option<PathBuf>,
    pub what: String,
}

/// How what is stored of a file stands to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Both stores say what the file says.
    Equal,
    /// The file could not be read: nothing of it is compared.
    Unread,
    /// The file was written since it was catalogued, or while it was compared. The next sync reads
    /// it.
    Behind,
    /// The stores say something else than the bytes that they were made of.
    Differs,
}

/// The verdict on one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct FileVerdict {
    pub path: PathBuf,
    pub verdict: Verdict,
    /// Why it is not equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// A file, folder or root that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct UnreadablePath {
    pub path: PathBuf,
    pub reason: String,
}

/// The answer of `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Verification {
    pub schema_version: u32,
    pub sources: u64,
    pub entries: u64,
    pub passages: u64,
    pub bytes_read: u64,
    /// What only `rebuild` makes right, or where the words alone differ `sync`.
    pub differences: Vec<Difference>,
    /// What was written since it was catalogued, or while it was compared: no difference.
    #[serde(default)]
    pub behind: Vec<Difference>,
    /// What is on disk and could not be read: nothing of it is compared.
    #[serde(default)]
    pub unread: Vec<UnreadablePath>,
    /// Each file once, sorted by path: sources, and what else lies below the roots where it is not
    /// as it is stored.
    #[serde(default)]
    pub files: Vec<FileVerdict>,
    /// Numbers of the sources whose files hold other bytes than were catalogued: they are to be
    /// read again from the beginning, for nothing else may tell the next sync so.
    #[serde(skip)]
    #[doc(hidden)]
    pub condemned: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_and_watchers_are_named_in_lower_case() {
        let names = serde_json::json!([
            StoreName::Catalogue,
            StoreName::Words,
            WatchMode::Watch,
            WatchMode::Poll
        ]);
        assert_eq!(names.to_string(), r#"["catalogue","words","watch","poll"]"#);
        assert_eq!(StoreName::Words.to_string(), "words");
    }
}
