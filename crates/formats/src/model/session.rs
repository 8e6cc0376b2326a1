//! What a session is: a fold over the facts of its entries in file order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Facts, Usage, sum, sum_costs};
use crate::title::typed_title;

/// What the first record of a session says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The session's id, as text (numbers and other JSON are kept as their JSON text).
    pub id: Option<String>,
    /// `false` when the id is no string: pi lists such a file but cannot open it.
    pub id_is_string: bool,
    /// Format version; pi: missing = 1.
    pub version: Option<i64>,
    /// Working directory, as written.
    pub cwd: Option<String>,
    /// Creation time as written.
    pub created_raw: Option<String>,
    /// Creation time in ms; `None` when absent or unparsable.
    pub created_ms: Option<i64>,
    /// Path of the session this one was forked from, or its id, as written; pi: a path without
    /// `.`, `..` and needless slashes.
    pub parent_session: Option<String>,
    /// See [`SessionFacts::own`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// The saved state of the fold over one source. Serialised into the catalogue, so that a later
/// append goes on where this one stopped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fold {
    /// Physical lines before the end of what is folded.
    #[serde(skip_serializing_if = "is_default")]
    pub lines: u64,
    /// Records folded so far that the agent itself would parse.
    #[serde(skip_serializing_if = "is_default")]
    pub seen: u64,
    /// All entries, problems not counted.
    #[serde(skip_serializing_if = "is_default")]
    pub entries: u64,
    /// The header in force, as the agent reads it (its first parsed record).
    #[serde(skip_serializing_if = "is_default")]
    pub header: Option<Header>,
    /// A header found elsewhere; shown when there is no `header`.
    #[serde(skip_serializing_if = "is_default")]
    pub late_header: Option<Header>,
    /// Why the agent would not list the file, first reason found.
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: Option<String>,
    /// Messages as the agent counts them.
    #[serde(skip_serializing_if = "is_default")]
    pub messages: u64,
    /// First user message with non-empty text, as the agent shows it.
    #[serde(skip_serializing_if = "is_default")]
    pub first_message: Option<String>,
    /// Of the first user message that has one, its [`typed_title`](crate::typed_title).
    #[serde(skip_serializing_if = "is_default")]
    pub typed: Option<String>,
    /// Current name or title; `None` when never set or cleared.
    #[serde(skip_serializing_if = "is_default")]
    pub name: Option<String>,
    /// Newest message time in ms, as the agent's "modified" takes it.
    #[serde(skip_serializing_if = "is_default")]
    pub last_message_ms: Option<i64>,
    /// Newest time of any entry.
    #[serde(skip_serializing_if = "is_default")]
    pub last_entry_ms: Option<i64>,
    /// Time of the last entry that has one. For every format alike, it is no part of
    /// [`Format::fold`](crate::Format::fold).
    #[serde(skip_serializing_if = "is_default")]
    pub last_time_ms: Option<i64>,
    /// Id of the last entry that has one, among those that the agent sees.
    #[serde(skip_serializing_if = "is_default")]
    pub leaf: Option<String>,
    /// Model in force at the end of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Option<String>,
    /// Provider in force at the end of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub provider: Option<String>,
    /// The git branch that was checked out at the end of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub git_branch: Option<String>,
    /// The repository in which the agent works, as [`remote_of`](crate::remote_of) names it.
    #[serde(skip_serializing_if = "is_default")]
    pub repository: Option<String>,
    /// How much the model was told to think at the end of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub thinking_level: Option<String>,
    /// Sums over all entries that record them.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: Option<i64>,
    /// Sum of recorded costs, US dollars.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: Option<f64>,
    /// Entries that report an error.
    #[serde(skip_serializing_if = "is_default")]
    pub errors: u64,
    /// The id in a second header: the session of which this one is a copy (clido, Codex).
    #[serde(skip_serializing_if = "is_default")]
    pub forked_from: Option<String>,
    /// What the file says that [`Format::cwd_beside`](crate::Format::cwd_beside) names.
    #[serde(skip_serializing_if = "is_default")]
    pub cwd_beside: Option<String>,
    /// What the file says of the session that [`Format::names_beside`](crate::Format::names_beside)
    /// names.
    #[serde(skip_serializing_if = "is_default")]
    pub named_beside: Option<String>,
    /// What only clido's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub clido: crate::clido::State,
    /// Gemini CLI's own.
    #[serde(skip_serializing_if = "is_default")]
    pub gemini: crate::gemini::State,
    /// Qwen Code's own.
    #[serde(skip_serializing_if = "is_default")]
    pub qwen: crate::qwen::State,
    /// What only Claude Code's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub claude: crate::claude::State,
    /// Codex: what later lines of a rollout are understood by.
    #[serde(skip_serializing_if = "is_default")]
    pub codex: crate::codex::State,
    /// What only Copilot's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub copilot: crate::copilot::State,
    /// What only Cursor's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub cursor: crate::cursor::State,
    /// What only induscode's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub induscode: crate::induscode::State,
    /// What only OpenCode's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub opencode: crate::opencode::State,
    /// What only OpenClaw's fold keeps.
    #[serde(skip_serializing_if = "is_default")]
    pub openclaw: crate::openclaw::State,
}

impl Fold {
    /// Counts an entry and the error that it reports, and keeps the newest time.
    pub(crate) fn count(&mut self, facts: &Facts) {
        self.entries += 1;
        self.seen += u64::from(facts.agent_sees);
        self.errors += u64::from(facts.is_error);
        self.last_entry_ms = self.last_entry_ms.max(facts.time_ms);
    }

    /// What a person typed, unless it is known already.
    pub(crate) fn note_typed(&mut self, facts: &Facts) {
        if self.typed.is_none() {
            let text = facts.user_text.as_ref().or(facts.asked.as_ref());
            self.typed = text.and_then(|text| typed_title(text));
        }
    }

    /// The first message, and what a person typed, unless they are known already.
    pub(crate) fn note_said(&mut self, facts: &Facts) {
        if self.first_message.is_none() {
            self.first_message = facts.user_text.clone().filter(|text| !text.is_empty());
        }
        self.note_typed(facts);
    }

    /// What is in force from an entry on, as far as it says that.
    pub(crate) fn take_over(&mut self, facts: &Facts) {
        for (in_force, new) in [
            (&mut self.model, &facts.model),
            (&mut self.provider, &facts.provider),
            (&mut self.git_branch, &facts.git_branch),
            (&mut self.thinking_level, &facts.thinking_level),
        ] {
            if new.is_some() {
                in_force.clone_from(new);
            }
        }
    }

    /// Adds to the session's tokens and cost what an answer of it spent.
    pub(crate) fn add_usage(&mut self, usage: &Usage) {
        self.tokens = sum([self.tokens, usage.total_tokens()]);
        self.cost = sum_costs([self.cost, usage.cost_total]);
    }
}

/// What is left out is read as the default: a session of many files has a fold for each.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Puts one more at the end of a list of the last `most`.
pub(crate) fn keep_last<T>(list: &mut VecDeque<T>, one: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(one);
}

/// What a session goes on from without holding it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The id of the session whose beginning is this one's too.
    pub session: String,
    /// How many bytes of it are.
    pub end: u64,
}

/// The values of one session that a list shows, made from the folds of its sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SessionFacts {
    /// The id as the agent's list shows it.
    pub id: String,
    /// Working directory; "" when the header has none.
    pub cwd: String,
    /// Current name or title.
    pub name: Option<String>,
    /// The session this one was forked from, as its header names it: its path, or (clido,
    /// agentuse) its id.
    pub parent_session: Option<String>,
    /// Creation time as written.
    pub created_raw: Option<String>,
    /// Creation time in ms; `None` when absent or unparsable.
    pub created_ms: Option<i64>,
    /// The agent's "modified" in ms.
    pub modified_ms: i64,
    /// Messages (pi) or turns (clido), as the agent's list counts them.
    pub message_count: u64,
    /// First user message; `None` when there is none.
    pub first_message: Option<String>,
    /// The first thing that its person typed, on one line: see [`typed_title`](crate::typed_title).
    pub typed: Option<String>,
    /// All entries.
    pub entry_count: u64,
    /// Format version.
    pub version: Option<i64>,
    /// Leaf entry id.
    pub leaf: Option<String>,
    /// Model in force at the end.
    pub model: Option<String>,
    /// Provider in force at the end.
    pub provider: Option<String>,
    /// The git branch that was checked out last.
    pub git_branch: Option<String>,
    /// The repository in which the agent says that it worked, as [`remote_of`](crate::remote_of)
    /// names it.
    pub repository: Option<String>,
    /// It was in another repository before, or in another directory of which nothing says that it
    /// is of the same one.
    pub has_moved: bool,
    /// How much the model was told to think last, in the agent's own words.
    pub thinking_level: Option<String>,
    /// Tokens, summed.
    pub tokens: Option<i64>,
    /// Cost over all runs, US dollars.
    pub cost: Option<f64>,
    /// The cost the agent's own list shows, where that differs from `cost`.
    pub listed_cost: Option<f64>,
    /// Entries that report an error.
    pub error_count: u64,
    /// A subagent's session: `parent_session` is the id of the session that started it (pi: of one
    /// that a subagent started the path of that one's file below the root).
    pub is_subagent: bool,
    /// Would the agent's own list show this session? `None` = yes, else the reason why not.
    pub hidden: Option<String>,
    /// What only this agent records of a session, under its own names: a JSON object as text.
    pub own: Option<String>,
    /// What it goes on from without holding it.
    pub base: Option<Base>,
}

impl SessionFacts {
    /// What the fold of a session's own file says; its format puts the rest over it.
    pub(crate) fn of(fold: &Fold) -> SessionFacts {
        SessionFacts {
            name: fold.name.clone(),
            message_count: fold.messages,
            first_message: fold.first_message.clone(),
            typed: fold.typed.clone(),
            entry_count: fold.entries,
            leaf: fold.leaf.clone(),
            model: fold.model.clone(),
            provider: fold.provider.clone(),
            git_branch: fold.git_branch.clone(),
            repository: fold.repository.clone(),
            thinking_level: fold.thinking_level.clone(),
            tokens: fold.tokens,
            cost: fold.cost,
            error_count: fold.errors,
            ..SessionFacts::default()
        }
    }
}

/// One object, [as text](SessionFacts::own), with the members of both.
pub(crate) fn merged(a: Option<String>, b: Option<String>) -> Option<String> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (a, b) => return a.or(b),
    };
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let mut all = read(&a);
    all.extend(read(&b));
    Some(Value::Object(all).to_string())
}
