//! What one entry says about itself: facts for the catalogue, passages for the words.

use serde::{Deserialize, Serialize};

/// Facts of one entry. They depend on the entry's own bytes alone, so reading a file in ten
/// pieces yields what reading it in one yields.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// The raw `type` of the record, as written; empty where it has none.
    pub kind: String,
    /// The raw role of a message (`user`, `assistant`, `toolResult`, …).
    pub role: Option<String>,
    /// The entry's own id, an opaque string. v1 entries and all clido lines have none.
    pub id: Option<String>,
    /// The id of the parent entry; `None` for a root and for formats without a tree.
    pub parent: Option<String>,
    /// The entry's time as written.
    pub time_raw: Option<String>,
    /// The entry's time in milliseconds since the epoch, UTC; `None` when absent or unparsable.
    pub time_ms: Option<i64>,
    /// The message's own time (pi: `message.timestamp`, a number), when it has one.
    pub message_ms: Option<i64>,
    /// Would the agent itself use this entry?
    pub agent_sees: bool,
    /// The first record of a session: what the session says about itself.
    pub header: Option<super::Header>,
    /// A message whose text moves the session's "modified" (pi: user and assistant).
    pub moves_modified: bool,
    /// The record counts as a message in the agent's own list.
    pub is_message: bool,
    /// Text of the entry as the agent's list sees it (pi: text blocks joined by one space);
    /// filled for user messages only.
    pub user_text: Option<String>,
    /// What a person asked for, where a program wrote the line that says so. A session in which
    /// nothing was typed is known by it (Claude Code: `/review the parser` in tags, `last-prompt`).
    pub asked: Option<String>,
    /// By what a session may be known in which nothing was typed or asked for (Claude Code: the
    /// name of a command without words, what a subagent or a teammate is told first).
    pub called: Option<String>,
    /// A session name or title set by this entry; `Some("")` clears it.
    pub name: Option<String>,
    /// Why the agent would refuse the whole file because of this entry.
    pub breaks_list: Option<String>,
    /// Tool calls made by this entry and results it reports.
    pub calls: Vec<Call>,
    /// Tokens and cost, when recorded.
    pub usage: Option<Usage>,
    /// What other models took meanwhile, one each: [`Facts::others`].
    pub more_usage: Vec<Usage>,
    /// Tokens and cost of one step of an answer whose total another entry records: it counts only
    /// where that total is missing.
    pub step: Option<Box<Usage>>,
    /// A label put on another entry.
    pub label: Option<Label>,
    /// A compaction of the context.
    pub compaction: Option<Compaction>,
    /// Files named as read or modified.
    pub files: Vec<FileTouch>,
    /// Provider in force from this entry on.
    pub provider: Option<String>,
    /// Model in force from this entry on.
    pub model: Option<String>,
    /// The git branch that was checked out.
    pub git_branch: Option<String>,
    /// The repository in which the agent works, as [`remote_of`](crate::remote_of) names it.
    pub repository: Option<String>,
    /// How much the model was told to think, in the agent's own words, from this entry on.
    pub thinking_level: Option<String>,
    /// The id of the entry at which the session stands from here on, whatever stands last in the
    /// file (Claude Code: `last-prompt.leafUuid`). The entry that says so is none of the tree.
    pub stands_at: Option<String>,
    /// It is on no branch and none of the tree: it says something about the session, or is what
    /// the agent notes for itself (Claude Code: `custom-title`, `cost-state`, `queue-operation`).
    /// An entry that says where the session stands is such a one too.
    pub is_beside: bool,
    /// It is of the conversation of a subagent, within the file of its session, which never stands
    /// there (Claude Code before 2.1: `isSidechain`).
    pub is_sidechain: bool,
    /// Of a session's name: the id of the entry whose session it names (Claude Code:
    /// `summary.leafUuid`).
    pub summarizes: Option<String>,
    /// Why the model stopped, as written.
    pub stop_reason: Option<String>,
    /// The entry reports an error: a failed tool, a failed command, a failed or aborted answer.
    pub is_error: bool,
    /// The entry holds at least one image.
    pub has_image: bool,
    /// Classes of its text that an earlier entry of its source says word for word: they are not
    /// searched again.
    pub repeats: Vec<Class>,
    /// Not all of its text is searched: its data is too long (pi: `custom` entries).
    pub text_cut: bool,
    /// The entry holds what the agent tells the model in its own name: a system prompt or tool
    /// schemas.
    pub has_prompt: bool,
    /// clido `result` lines: the run whose figures they record. Its exit status is the
    /// `stop_reason`.
    pub run: Option<Run>,
    /// What its copies have in common with it beside what is compared anyway. Of an entry that
    /// records calls or usage, where copies get another id or time (Codex: the thread in which a
    /// call was said, and which of its calls it is; OpenCode: when a call began; pi, whose version
    /// 1 has no ids: both times of a message). Of one of several of an answer, where another answer
    /// may have its id (Claude Code: `requestId`). They are one entry, however many of them there
    /// are.
    pub copied_with: Option<String>,
    /// It has nothing to read: what it says stands in another entry of its session, or is a note of
    /// the agent's to itself. It is neither searched nor shown but among all entries.
    pub silent: bool,
    /// The working directory from this entry on.
    pub cwd: Option<String>,
}

/// The kind of an entry that says what another model took.
pub(crate) const OTHER_MODEL: &str = "usage";

impl Facts {
    /// The tokens and cost it records, and whether they are only a step's.
    pub fn spent(&self) -> Option<(&Usage, bool)> {
        let total = self.usage.as_ref().map(|usage| (usage, false));
        total.or_else(|| self.step.as_deref().map(|step| (step, true)))
    }

    /// What it says of [other models](Facts::more_usage), each as an entry of its own behind it: an
    /// entry has one usage. They have no bytes and nothing to read.
    pub fn others(&self) -> Vec<Facts> {
        let other = |usage: &Usage| Facts {
            kind: OTHER_MODEL.to_owned(),
            time_raw: self.time_raw.clone(),
            time_ms: self.time_ms,
            agent_sees: self.agent_sees,
            usage: Some(usage.clone()),
            copied_with: self.copied_with.clone(),
            is_beside: true,
            is_sidechain: self.is_sidechain,
            silent: true,
            ..Facts::default()
        };
        self.more_usage.iter().map(other).collect()
    }

    /// All that models took in it.
    pub(crate) fn all_usage(&self) -> impl Iterator<Item = &Usage> {
        self.usage.iter().chain(&self.more_usage)
    }
}

/// One tool call, or the result of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Call {
    /// The id by which call and result find each other.
    pub call_id: Option<String>,
    /// The tool's name; clido results have none.
    pub tool: Option<String>,
    /// `true` for the result, `false` for the call.
    pub is_result: bool,
    /// Whether the result is an error; `None` on a call.
    pub is_error: Option<bool>,
    /// The arguments' main path or command.
    pub subject: Option<String>,
    /// Milliseconds the call took, where recorded.
    pub duration_ms: Option<i64>,
}

impl Call {
    /// The result of this call, where one entry holds both. `start` and `end` are in ms.
    pub(crate) fn result(&self, is_error: bool, start: Option<i64>, end: Option<i64>) -> Call {
        Call {
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            is_result: true,
            is_error: Some(is_error),
            subject: None,
            duration_ms: start
                .zip(end)
                .and_then(|(start, end)| end.checked_sub(start)),
        }
    }
}

/// Tokens, and cost in US dollars, of one model answer. `None` = not recorded, `Some(0)` = recorded
/// as zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Who ran the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The id that the provider gave the answer.
    pub response_id: Option<String>,
    /// Tokens that the model was given, without those of the cache.
    pub input: Option<i64>,
    /// Tokens that it gave, what it thought among them.
    pub output: Option<i64>,
    /// Tokens that it was given from the cache.
    pub cache_read: Option<i64>,
    /// Tokens that it was given and that the cache kept.
    pub cache_write: Option<i64>,
    /// Tokens of what it thought: a part of the output.
    pub reasoning: Option<i64>,
    /// All tokens, as the agent wrote it: many write none, some another provider's idea of it.
    /// [`Usage::total_tokens`] is what an index counts.
    pub total: Option<i64>,
    /// What the input cost.
    pub cost_input: Option<f64>,
    /// What the output cost.
    pub cost_output: Option<f64>,
    /// What was paid for tokens from the cache.
    pub cost_cache_read: Option<f64>,
    /// What was paid for tokens that the cache kept.
    pub cost_cache_write: Option<f64>,
    /// As written, else the sum of its parts.
    pub cost_total: Option<f64>,
    /// Several entries of one answer record its usage, each as far as it was known: the one with
    /// the most output counts. The `response_id` is the answer's alone.
    pub is_repeated: bool,
}

impl Usage {
    /// All tokens: the parts `input`, `output`, `cache_read` and `cache_write`, where any is
    /// recorded, else the total as written.
    pub fn total_tokens(&self) -> Option<i64> {
        // What is written as the total lacks parts in some stores, or is another provider's idea.
        self.tokens().or(self.total)
    }

    /// All tokens, as far as any part is recorded.
    pub(crate) fn tokens(&self) -> Option<i64> {
        let (input, output) = (self.input, self.output);
        sum([input, output, self.cache_read, self.cache_write])
    }
}

/// The sum of what is there; `None` when nothing is.
pub(crate) fn sum<const N: usize>(parts: [Option<i64>; N]) -> Option<i64> {
    parts.into_iter().flatten().reduce(i64::saturating_add)
}

/// Costs as one. A file may claim any, and JSON knows no infinity. `None` when there are none.
pub(crate) fn sum_costs(costs: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let add = |sum: f64, cost: f64| (sum + cost).clamp(f64::MIN, f64::MAX);
    costs.into_iter().flatten().reduce(add)
}

/// A label on `target`; `None` or empty text clears it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Label {
    pub target: String,
    pub text: Option<String>,
}

/// A compaction entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Compaction {
    pub first_kept: Option<String>,
    pub tokens_before: Option<i64>,
    /// pi's version 1, whose entries have no ids: the number of the first one kept among those that
    /// pi reads, the header being 0.
    pub first_kept_index: Option<i64>,
}

/// What clido writes at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// Turns of the run so far.
    pub turns: Option<i64>,
    /// Cost of the run so far, US dollars.
    pub cost: Option<f64>,
    /// Milliseconds, as written.
    pub duration_ms: Option<i64>,
}

/// A file that an entry says was read or modified.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileTouch {
    /// The path as written.
    pub path: String,
    /// `true` when modified, `false` when read.
    pub modified: bool,
}

/// The two classes of text. Prose is what people and models say; output is what tools were given
/// and gave back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Messages, thinking, summaries, names, labels.
    Prose = 0,
    /// Tool arguments, tool output, command output, custom data.
    Output = 1,
}

/// The unit of match: the text of one class within one entry. Pieces (content blocks, string
/// leaves) are separate so that no phrase spans two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Prose or output.
    pub class: Class,
    /// The decoded text, piece by piece, in the order of the record.
    pub pieces: Vec<String>,
}
