//! What can a program ask? The options of the commands of the same name, with their names. In the
//! schema they are not called as the answers are.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::command::list::SortKey;
use crate::command::tree::Filter;

/// The first request of all.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Hello {
    /// The version of this protocol that the client speaks.
    pub protocol: u32,
    /// What the client is called; for people who look at what goes to and fro.
    #[serde(default)]
    #[allow(dead_code)]
    pub client: Option<String>,
}

/// Which sessions are listed: the options of `list`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ListParams")]
#[serde(default, deny_unknown_fields)]
pub struct List {
    /// Only sessions of the repository around this directory, as `list` takes it; absent: wherever
    /// they ran.
    pub here: Option<PathBuf>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of directories whose name contains this text; a path means itself and all
    /// below it.
    pub project: Option<String>,
    /// Only sessions that used a model whose name contains this text.
    pub model: Option<String>,
    /// Only sessions with a name.
    pub named: bool,
    /// Leave out archived sessions.
    pub only_live: bool,
    /// Only sessions in which something failed.
    pub errors: bool,
    /// Only sessions that cost at least so many US dollars.
    pub cost: Option<f64>,
    /// Only sessions last modified at this time or later: `2w`, `yesterday`, `2026-10-05`.
    pub since: Option<String>,
    /// Only sessions last modified at this time or earlier; with `since`, those in which something
    /// happened between the two.
    pub until: Option<String>,
    /// List sessions of subagents as rows.
    pub subagents: bool,
    /// In which order; absent: first what the agents themselves would list, in their order.
    pub sort: Option<SortKey>,
    /// Reverse the order.
    pub reverse: bool,
    /// At most so many sessions, of one page where there are pages; absent or 0: all.
    pub limit: Option<usize>,
    /// So many are left out at the beginning.
    pub offset: usize,
    /// With the text of all messages.
    pub with_text: bool,
    #[serde(flatten)]
    pub page: Bounds,
}

/// How much of an answer is given at once, and of when it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bounds {
    /// At most so many bytes: `cursor` of the answer fetches the rest, `cut` names what was
    /// shortened.
    pub max_bytes: Option<usize>,
    /// Continue after the answer that had this `cursor`.
    pub cursor: Option<String>,
    /// Answer from what is in the index, without a look at whether it is current.
    pub as_committed: bool,
}

/// What is searched for: the options of `search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SearchParams")]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Words, "phrases" and filters, as `search` takes them.
    pub query: String,
    /// Only sessions of the repository around this directory; absent: wherever they ran.
    #[serde(default)]
    pub here: Option<PathBuf>,
    /// Newest first.
    #[serde(default)]
    pub newest: bool,
    /// At most so many hits; 0: all.
    #[serde(default = "twenty")]
    pub limit: usize,
    /// Only the words as typed.
    #[serde(default)]
    pub exact: bool,
    /// Also entries that repeat the text of a hit.
    #[serde(default)]
    pub every_copy: bool,
    /// Leave out archived sessions.
    #[serde(default)]
    pub only_live: bool,
    /// Rank single passages instead of sessions.
    #[serde(default)]
    pub passages: bool,
    /// So many entries before and after each hit, along its branch.
    #[serde(default)]
    pub context: usize,
    /// Count the entries that match by agent, project, role and day.
    #[serde(default)]
    pub facets: bool,
    /// Explain each hit's score.
    #[serde(default)]
    pub explain: bool,
    /// The query is being typed: nothing is refused, and its last word may go on.
    #[serde(default)]
    pub as_typed: bool,
    #[serde(flatten)]
    pub page: Bounds,
}

fn twenty() -> usize {
    20
}

/// What is read back: the options of `show`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ShowParams")]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Id of a session, the start of one, its path or its whole name; `:ENTRY` names one entry.
    pub address: String,
    /// So many entries before and after ENTRY too.
    #[serde(default)]
    pub context: usize,
    /// The branch that ends at this entry, instead of the active one.
    #[serde(default)]
    pub branch: Option<String>,
    /// All entries in file order, and bytes that are not entries.
    #[serde(default)]
    pub all: bool,
    #[serde(flatten)]
    pub page: Bounds,
}

/// Whose tree: the options of `tree`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "TreeParams")]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Id of a session, the start of one, its path or its whole name.
    pub session: String,
    /// Which entries.
    #[serde(default)]
    pub filter: Filter,
    #[serde(flatten)]
    pub page: Bounds,
}

/// Which session is to go on.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ResumeParams")]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// Id of a session, the start of one, its path or its whole name.
    pub session: String,
    /// Answer from what is in the index, without a look at whether it is current.
    #[serde(default)]
    pub as_committed: bool,
}

/// Nothing: a method without parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nothing {}

/// From where changes are told.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "SubscribeParams")]
#[serde(default, deny_unknown_fields)]
pub struct Subscribe {
    /// Behind this number of the feed; absent: only what comes.
    pub since: Option<i64>,
    /// The index that the number is of, as the answer to an earlier `subscribe` said; absent: the
    /// one that is there now.
    pub index_id: Option<String>,
}

/// Which request is called off.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CancelParams")]
#[allow(dead_code)]
pub struct Cancel {
    /// Its id.
    pub id: Id,
}

/// The id of a request, as the client counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub enum Id {
    Number(i64),
    Text(String),
}
