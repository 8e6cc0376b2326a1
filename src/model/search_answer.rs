//! What does a search give? `--json` prints exactly this; times are as in the other answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::answer::{SessionRow, all_lossy, is_true, is_zero, lossy, yes};
use super::{Class, Standing};

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Hit {
    /// What `show` takes: `SESSION:ENTRY`, where ENTRY is an entry id or `L<line>`.
    pub address: String,
    pub entry: String,
    pub class: Class,
    pub kind: String,
    pub role: Option<String>,
    pub tool: Option<String>,
    /// When it was written; of an entry that does not say so, when the entry before it in its file
    /// was, else when its session began.
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub time_ms: Option<i64>,
    pub score: f32,
    pub standing: Standing,
    /// Where its bytes are, or which row it is.
    #[serde(default)]
    pub at: EntryPlace,
    /// Where it stands in its session's tree; `null` in sessions that never branch.
    pub place: Option<BranchPlace>,
    /// Entries with the same text that are not shown: those that stand
    /// near behind it or behind the one before (16 places, 64 KiB of lines).
    pub copies: u64,
    /// Decoded text around the best match.
    pub snippet: String,
    /// The matches in `snippet`: from which byte to before which, counted in UTF-8, not in
    /// characters or UTF-16 units.
    pub highlights: Vec<(usize, usize)>,
    /// Entries before and after it along its branch, oldest first; only when asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Neighbour>,
    /// Why it stands where it does; only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Where an entry is: which bytes of a file, or which row of an agent's database.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum EntryPlace {
    /// A row of a database.
    Row {
        /// The database, absolute.
        file: PathBuf,
        /// The table.
        table: String,
        /// What its agent tells the rows of that table apart by.
        key: String,
    },
    /// Bytes of a file.
    Bytes {
        /// The file, absolute.
        file: PathBuf,
        /// Its first line there, from 1.
        line: u64,
        /// Its first byte, from 0.
        start: u64,
        /// How many bytes it has, the end of its line not among them.
        length: u64,
    },
}

impl Default for EntryPlace {
    fn default() -> EntryPlace {
        EntryPlace::Bytes {
            file: PathBuf::new(),
            line: 0,
            start: 0,
            length: 0,
        }
    }
}

/// Where in its session's tree an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BranchPlace {
    /// On the branch that ends at the session's leaf, as the agent sees it.
    Active,
    /// On that branch, but a compaction has put a summary in its place.
    Compacted,
    /// On another branch.
    Abandoned,
}

/// An entry beside a hit, along its branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Neighbour {
    pub entry: String,
    /// Behind the hit, or before it.
    pub after: bool,
    pub kind: String,
    pub role: Option<String>,
    pub time: Option<String>,
    /// The same, in ms since the epoch.
    #[serde(default)]
    pub time_ms: Option<i64>,
    /// The beginning of its text, on one line.
    pub text: String,
}

/// By what hits are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ranking {
    /// The best passage first, and with it the others of its session.
    #[default]
    Passages,
    /// The best session first, of several plain words: its best passages are its hits.
    Sessions,
    /// The newest passage first.
    Newest,
}

/// The factors of a score: their product, to within rounding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Explanation {
    /// How well the words fit: how rare they are, how often they stand there, in how short a text.
    pub bm25: f32,
    /// What the passage is: 2.5 a name or label, 1.5 typed, 1 other prose, 0.5 output.
    pub standing: f32,
    /// How new it is: from 1 down to 0.7.
    pub recency: f32,
    /// What its text tells: 0.2 put there by a program, or a search of this program; 0.5 pasted;
    /// else 1.
    pub text: f32,
    /// Where sessions are ranked as wholes: the parts of its session's score, which counts instead
    /// of the first three.
    pub session: Option<SessionExplanation>,
}

/// The parts of a session's score: `(whole + passage) × held`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionExplanation {
    /// What all of its conversation says of the words: how rare they are, how often they stand
    /// there, in how long a session. From 0 to 2.
    pub whole: f32,
    /// Its best passage, as a part of the best passage of all sessions.
    pub passage: f32,
    /// 3 where its best passage holds the words next to each other, else 0: that counts as much
    /// as all else together.
    pub adjacent: f32,
    /// How many of the words it holds, by how rare they are; what only tools printed counts half.
    pub held: f32,
    /// How many of the words this passage holds, as a part of all: a factor of the passage's own
    /// score, by which the hits of a session are ordered.
    pub share: f32,
    /// How near each other the words stand in this passage, from 0 to 1: their number divided by
    /// that of the words from the first to the last of them. The passage's own score has the
    /// factor 1 + this.
    pub closeness: f32,
}

/// A session or entry whose id was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct NamedMatch {
    /// What `show` takes.
    pub address: String,
    /// `null`: the session as a whole.
    pub entry: Option<String>,
    pub session: SessionRow,
}

/// A value of a filter that no session or entry of the index has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct UnknownValue {
    pub filter: String,
    pub value: String,
    /// Where in the query the value begins, in characters from 1.
    pub column: usize,
    /// Values that there are, the nearest first: ten at most, and none of what is different in
    /// every session.
    pub known: Vec<String>,
    /// The filter that may have been meant.
    pub suggestion: Option<String>,
}

/// How many entries share a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Count {
    pub value: String,
    pub count: u64,
}

/// How the entries that were found are spread. Most first, days in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Facets {
    /// `false`: there are no more than so many, as of [`SearchAnswer::total`].
    pub exact: bool,
    pub agents: Vec<Count>,
    /// By the last folder of the working directory.
    pub projects: Vec<Count>,
    /// By the remote of the repository; sessions of none are not among them.
    #[serde(default)]
    pub repositories: Vec<Count>,
    /// By the machine that they were copied from; this one's own are not among them.
    #[serde(default)]
    pub hosts: Vec<Count>,
    /// By role, or kind where there is none.
    pub roles: Vec<Count>,
    /// Of `timezone`, as the filter `on:` takes them; "" = without a time.
    pub days: Vec<Count>,
    /// The time zone that days are of, by its name in the time-zone database, or its POSIX rule.
    #[serde(default)]
    pub timezone: String,
}

/// The hits of one session, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct HitGroup {
    pub session: SessionRow,
    pub hits: Vec<Hit>,
    /// Where sessions are ranked: how many of its passages hold any of the words, shown or not,
    /// copies among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
}

/// The answer of `search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct SearchAnswer {
    pub schema_version: u32,
    pub complete: bool,
    /// Files that are not yet read, cannot be, or hold other bytes than the index knows: each once.
    pub pending_files: u64,
    /// Files that hold other bytes than those catalogued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<PathBuf>,
    /// Passages that match in all: those on other pages, and copies that are not shown, among them.
    /// It is the same whatever the limit.
    pub total: u64,
    /// `false`: at most `total` passages match, in at most `total_sessions` sessions. The exact
    /// numbers would take long to find: tool output is indexed without the order of its words, so
    /// only reading it shows whether it holds a phrase.
    pub total_exact: bool,
    /// Sessions with a match in all, those that are not shown among them.
    #[serde(default)]
    pub total_sessions: u64,
    /// Passages that may match, but were not read: 16 MiB of such lines that do not match were read
    /// for this page. Then `complete` is `false`; a limit of 0 reads all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified: u64,
    /// By what they are ordered.
    pub ranking: Ranking,
    /// `false`: more than a twentieth of the text is not indexed yet, and what a search does not
    /// read of it does not count: the order is rough.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub order_exact: bool,
    pub sessions: Vec<HitGroup>,
    /// Hits outside the scope asked for; `None` when the scope was everything.
    pub elsewhere: Option<u64>,
    /// The working directory that was asked for; absent: `within`, or every one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "lossy"
    )]
    pub cwd: Option<PathBuf>,
    /// The directories that were asked for with all below them; absent: `cwd`, or every one.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "all_lossy"
    )]
    pub within: Vec<PathBuf>,
    /// The repositories that were asked for, wherever their checkouts are: as their remotes name
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// Sessions and entries that the query is the id of, or the beginning of one: ten at most,
    /// unless all hits were asked for.
    pub named: Vec<NamedMatch>,
    /// How many there are of them.
    #[serde(default)]
    pub named_total: u64,
    /// What may have been meant otherwise.
    pub notes: Vec<String>,
    /// Words, one letter off, that hits were found by because the words asked for are rare.
    pub also: Vec<String>,
    /// Remembered words that no session holds; and when nothing is found, the parts of the query
    /// that nothing holds, each by itself.
    pub missing: Vec<String>,
    /// When nothing is found: the values of filters that nothing in the index has. Not told of what
    /// somebody is typing just now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownValue>,
    /// When nothing is found that holds all parts of the query: how much holds some.
    pub with_any: Option<u64>,
    /// When nothing is found and there are filters: how much there is without them.
    pub without_filters: Option<u64>,
    /// `false`: `elsewhere`, `with_any` and `without_filters` are upper bounds, as `total` may be.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub counts_exact: bool,
    /// What asks for the next page; `null` on the last one.
    pub cursor: Option<String>,
    /// What was shortened or left out because it was more than the bytes asked for: `facets`,
    /// `named`, `context`, `firstMessage`, `snippet`, `name`, `notes`. Hits that are left out are
    /// on the next page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Entries that the words lack: they were read from their files, as every search does until
    /// [`Index::index_backlog`](crate::Index::index_backlog), a sync or a watcher has indexed them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outstanding: u64,
    /// Their length in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outstanding_bytes: u64,
    /// The same where it is more than 128 KiB, and the command that indexes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<UnindexedText>,
    /// Only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facets: Option<Facets>,
    /// Why the words could not be read, if so: all text was read instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_damage: Option<String>,
}

/// What the words lack: every search reads it from the session files again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnindexedText {
    /// Entries, each once.
    pub entries: u64,
    /// Bytes of their lines.
    pub bytes: u64,
    /// The command that indexes it at once, with the `--index` and `--root` of this one.
    pub pay: String,
}

impl UnindexedText {
    /// So little text, in bytes of entries, is sooner read by every search than written to the
    /// words once.
    pub(crate) const LITTLE: u64 = 128 << 10;

    /// A backlog of so many entries; `None` where it is little.
    pub(crate) fn of(entries: u64, bytes: u64) -> Option<UnindexedText> {
        (bytes > UnindexedText::LITTLE).then(|| UnindexedText {
            entries,
            bytes,
            pay: "sessionary sync".to_owned(),
        })
    }
}
