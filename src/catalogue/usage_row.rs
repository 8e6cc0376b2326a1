//! What does an entry record of usage, and by what are its copies known?

use std::borrow::Cow;

use super::write::EntryRow;
use crate::model::{Facts, Usage};
use crate::source::checkpoint::hash;

/// What `_usage.what` says.
pub mod what {
    pub const ANSWER: i64 = 0;
    /// A step of an answer, whose figures include it.
    pub const STEP: i64 = 1;
    /// What a turn of clido's cost.
    pub const TURN: i64 = 2;
    /// It calls, and records nothing else that counts.
    pub const CALLS: i64 = 3;
    /// An answer of which other entries have records too, each of what was known so far.
    pub const REPEATED: i64 = 4;
}

/// What `_usage.counted` says; NULL in a step of an answer that counts itself.
pub mod counted {
    /// A copy that does not count.
    pub const NO: i64 = 0;
    pub const YES: i64 = 1;
    /// Another record of the answer in its session counts, and of this one its calls alone.
    pub const CALLS_ALONE: i64 = 2;
}

/// What an entry has in `_usage`.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow<'e> {
    /// As written; nothing in entries that only call.
    pub usage: Cow<'e, Usage>,
    /// What the row is of.
    pub what: i64,
    /// A hash of the usage and its entry, by which copies of one entry are recognized.
    pub said: i64,
    /// The time of the entry, or else of the entry before it in its file.
    pub time_ms: Option<i64>,
}

impl<'e> UsageRow<'e> {
    /// Nothing, where there is nothing to be counted once.
    pub(super) fn of(entry: &'e EntryRow) -> Option<UsageRow<'e>> {
        let facts = &entry.facts;
        let (usage, what) = match facts.spent() {
            Some((usage, is_step)) => {
                let what = match is_step {
                    true => what::STEP,
                    false if usage.is_repeated => what::REPEATED,
                    false => what::ANSWER,
                };
                (Cow::Borrowed(usage), what)
            }
            None if facts.calls.iter().any(|call| !call.is_result) => {
                (Cow::Owned(Usage::default()), what::CALLS)
            }
            None => return None,
        };
        Some(UsageRow {
            said: said(entry.hash, facts, &usage),
            usage,
            what,
            time_ms: facts.time_ms.or(entry.taken_ms),
        })
    }

    pub(super) fn into_owned(self) -> UsageRow<'static> {
        UsageRow {
            usage: Cow::Owned(self.usage.into_owned()),
            ..self
        }
    }
}

/// A number that all copies of an entry have, and hardly any other: of the response's id, else of
/// what its format says that copies keep, else of the entry's id and time, which forks keep, else
/// of its time, and of what copies agree in; else of all its bytes. Of an entry that only calls, of
/// its calls too: several versions of a message may each hold the calls that are new in it.
fn said(bytes: u64, facts: &Facts, usage: &Usage) -> i64 {
    if facts.spent().is_none() {
        return called(bytes, facts);
    }
    let response = usage.response_id.as_deref().filter(|id| !id.is_empty());
    let id = facts.id.as_deref().filter(|id| !id.is_empty());
    let named = match (response.or(facts.copied_with.as_deref()), id, facts.time_ms) {
        (Some(kept), ..) => (Some(kept), None),
        (None, Some(id), Some(time)) => (Some(id), Some(time)),
        (None, None, Some(time)) => (None, Some(time)),
        (None, ..) => return bytes.cast_signed(),
    };
    if usage.is_repeated {
        let same = (&usage.model, &facts.copied_with);
        return hash(format!("{named:?} {same:?}").as_bytes()).cast_signed();
    }
    // Some servers give one response id to all that they say. A copy may lack the line that said
    // the model (a newer Codex's fork of an older one's rollout).
    let model = usage.model.as_ref().filter(|_| response.is_none());
    let same = (model, usage.input, usage.output, usage.cost_total);
    hash(format!("{named:?} {same:?}").as_bytes()).cast_signed()
}

/// The number of an entry that only calls.
fn called(bytes: u64, facts: &Facts) -> i64 {
    let id = facts.id.as_deref().filter(|id| !id.is_empty());
    let named = match (facts.copied_with.as_deref(), id, facts.time_ms) {
        (Some(with), ..) => (with, None),
        (None, Some(id), Some(time)) => (id, Some(time)),
        (None, ..) => return bytes.cast_signed(),
    };
    let calls = facts.calls.iter().filter(|call| !call.is_result);
    let calls: Vec<_> = calls
        .map(|call| (&call.call_id, &call.tool, &call.subject))
        .collect();
    hash(format!("{named:?} {calls:?}").as_bytes()).cast_signed()
}
