//! Is a message one that was written before? Where OpenClaw shortens the result of a tool or
//! repairs what was thought, it writes all from there on anew, beside what stands there: with other
//! ids and times around the same messages, which say their own times.

use std::collections::VecDeque;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::line::{self, Line};
use crate::model::{Facts, keep_last};
use crate::stable_hash;

/// So many messages are known: more than a model is given at once, which is what is written anew.
const KNOWN: usize = 1_024;

/// What is known of the last messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Anew {
    /// A hash of what each of them keeps.
    said: VecDeque<u64>,
    /// Whether the last entry was written beside where the session stands.
    #[serde(skip)]
    pub is_aside: bool,
    /// Whether it is a message that was written before.
    #[serde(skip)]
    pub is_again: bool,
}

fn is_aside(record: &[u8]) -> bool {
    let is_side = |line: &Line<'_>| Some(line.append_mode.as_str() == Some("side"));
    memmem::find(record, b"\"appendMode\"").is_some() && line::read(record, is_side) == Some(true)
}

/// What a message keeps where it is written anew: who says it and when, which calls it makes or
/// answers, and what it spent.
fn kept(facts: &Facts) -> Option<u64> {
    let time = facts.message_ms.filter(|_| facts.is_message)?;
    let calls: Vec<_> = facts.calls.iter().map(|call| &call.call_id).collect();
    let spent = facts.usage.as_ref();
    let spent = spent.map(|usage| (&usage.model, usage.input, usage.output, usage.cost_total));
    let kept = format!("{time} {:?} {calls:?} {spent:?}", facts.role);
    Some(stable_hash::of([kept.as_bytes()]))
}

impl Anew {
    /// Notes an entry.
    pub fn relate(&mut self, record: &[u8], facts: &Facts) {
        self.is_aside = is_aside(record);
        let Some(kept) = kept(facts) else {
            self.is_again = false;
            return;
        };
        self.is_again = self.is_aside && self.said.contains(&kept);
        if self.is_again {
            return;
        }
        keep_last(&mut self.said, kept, KNOWN);
    }
}

/// Names an answer, or a message that calls, by the time and the calls that it keeps, unless its
/// provider gave it an id: by that it is one answer however often it was written.
pub(super) fn name(facts: &mut Facts) {
    let Some(time) = facts.message_ms else {
        return;
    };
    let calls = facts.calls.iter().filter(|call| !call.is_result);
    let ids = calls.filter_map(|call| call.call_id.clone());
    let name = std::iter::once(time.to_string()).chain(ids);
    let name = name.collect::<Vec<_>>().join(" ");
    match &mut facts.usage {
        Some(usage) if usage.response_id.as_deref().unwrap_or_default().is_empty() => {
            usage.response_id = Some(name);
        }
        Some(_) => {}
        None if facts.calls.iter().any(|call| !call.is_result) => facts.copied_with = Some(name),
        None => {}
    }
}
