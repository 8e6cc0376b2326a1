//! What was typed while the agent worked, where its queue alone says so.
//!
//! Versions before 2.1.97 hand a prompt from the queue to the model in the middle of a turn and
//! write nothing of it but that it came (`enqueue`) and left (`remove`). Later ones write it again
//! as an attachment, and any writes a prompt that begins a turn (`dequeue`) again as a line of the
//! person's.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::facts::typed_of;
use crate::json::{self, Loose, Raw, Text};
use crate::model::{Facts, keep_last};

/// Of the version that writes what is taken from the queue as an attachment, and of later ones.
const ATTACHES: [u32; 3] = [2, 1, 97];

/// What waits at once, of which the last are remembered.
const WAITING: usize = 64;

/// The queue of a session, as far as its lines were read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Queue {
    /// The version in force writes nothing else of what the model is given in the middle of a turn.
    is_alone: bool,
    /// The file has an attachment from a queue, whatever its versions say.
    attaches: bool,
    /// How many tools work that the model called: while any does, it is given what is queued.
    works: u32,
    /// All of them have answered, and the model has said nothing since: it is given what is queued
    /// now when it calls the next one.
    thinks: bool,
    /// What waits: whether a person typed it.
    waiting: VecDeque<bool>,
}

/// A line of the queue's.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Operation<'a> {
    #[serde(borrow)]
    operation: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

impl Queue {
    /// Notes a line of the conversation, and which version wrote it.
    pub fn pass(&mut self, facts: &Facts, version: Option<&str>) {
        if facts.is_sidechain {
            return;
        }
        if let Some(version) = version.and_then(numbers) {
            self.is_alone = version < ATTACHES;
        }
        self.attaches |= facts.kind == "attachment" && facts.role.is_some();
        let calls = u32::try_from(facts.calls.len()).unwrap_or(u32::MAX);
        let ends = |why: &str| why != "tool_use";
        let is_answer = facts.role.as_deref() == Some("toolResult");
        self.thinks = is_answer || self.thinks && facts.role.is_none();
        match facts.role.as_deref() {
            // What the API's own tools gave back is part of the answer.
            Some("assistant") if facts.stop_reason.as_deref().is_some_and(ends) => self.works = 0,
            Some("assistant") => self.works = self.works.saturating_add(calls),
            Some("toolResult") => self.works = self.works.saturating_sub(calls),
            // What is typed while the answer is written may begin the next turn, on a line of its
            // own.
            Some("user" | "system") => self.works = 0,
            _ => {}
        }
    }

    /// What a line of the queue says. A prompt that no other line may repeat is a person's and is
    /// searched; where it leaves the queue for the model, it is a message.
    pub fn relate(&mut self, record: &[u8], facts: &mut Facts) {
        let is_alone = self.is_alone && !self.attaches;
        let read = json::tiers(record, |text| {
            let Loose::Object(line) = json::parse::<Loose<Operation<'_>>>(text)? else {
                return Some((String::new(), false));
            };
            let said = line.content.text().unwrap_or_default();
            let is_typed = !said.trim().is_empty() && typed_of(&said, false).is_some();
            Some((line.operation.owned().unwrap_or_default(), is_typed))
        });
        let (operation, is_typed) = read.unwrap_or_default();
        match operation.as_str() {
            "enqueue" => {
                keep_last(&mut self.waiting, is_typed, WAITING);
                if is_alone && is_typed && (self.works > 0 || self.thinks) {
                    facts.role = Some("user".to_owned());
                    facts.repeats.clear();
                }
            }
            "dequeue" => {
                self.waiting.pop_front();
            }
            "remove" => facts.is_message = self.waiting.pop_front() == Some(true) && is_alone,
            "popAll" => self.waiting.clear(),
            _ => {}
        }
    }
}

/// The numbers of a version, `2.0.73`.
pub(super) fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}
