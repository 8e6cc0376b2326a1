//! All that the agent remembers, written once more: where a call is refused or a saved conversation
//! is taken up, each message becomes a line of its own under a new id, and `$set` names them all
//! behind the last (0.61.0, `setHistory`).

use serde::{Deserialize, Serialize};

use super::line::Line;
use super::said::is_context;
use crate::parts::parts;

/// No more time lies between two of these lines, which are written in one go (0.57.0, 0.61.0: 8 ms
/// at most).
const GAP_MS: u64 = 50;

/// What is remembered of such lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Anew {
    /// What is read stands in a log, and is not in a line that sets messages.
    is_line: bool,
    /// When the last of them was written, while there may be more.
    last_ms: Option<i64>,
    /// It is known whether they begin a branch.
    is_placed: bool,
}

/// What a message may be among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    /// The first: the context, and perhaps what was typed behind it.
    Begin,
    /// Any: an answer that names no model.
    BeAny,
    /// One behind another one.
    Follow,
    /// None of them.
    Not,
}

impl May {
    /// `None` where the second tier is needed.
    pub fn of(line: &Line<'_>) -> Option<May> {
        let is_list = line.content.0.is_some_and(|raw| raw.starts_with('['));
        if !is_list || line.display_content.is_value() || line.model.as_str().is_some() {
            return Some(May::Not);
        }
        Some(match line.kind.as_str() {
            Some("gemini" | "qwen") => May::BeAny,
            Some("user") => {
                let content = parts(&line.content)?;
                let first = content.first().and_then(|part| part.text.text());
                match first.is_some_and(|text| is_context(&text)) {
                    true => May::Begin,
                    false => May::Follow,
                }
            }
            _ => May::Not,
        })
    }
}

impl Anew {
    /// Whether more of them may follow.
    pub fn is_on(&self) -> bool {
        self.last_ms.is_some()
    }

    /// Notes a line of a log, before what it holds.
    pub fn line(&mut self, sets_messages: bool) {
        self.is_line = !sets_messages;
    }

    pub fn end(&mut self) {
        self.last_ms = None;
        self.is_placed = false;
    }

    /// Whether a message of that time goes on with them.
    pub fn goes_on(&self, may: May, time_ms: Option<i64>) -> bool {
        let gap = self
            .last_ms
            .zip(time_ms)
            .map(|(last, now)| last.abs_diff(now));
        self.is_line && may != May::Not && gap.is_some_and(|gap| gap <= GAP_MS)
    }

    /// Whether they begin with a message; only an answer tells that by itself in a document.
    pub fn begins(&mut self, may: May, time_ms: Option<i64>) -> bool {
        let begins = may == May::BeAny || may == May::Begin && self.is_line && time_ms.is_some();
        if begins && self.is_line {
            self.is_placed = may == May::BeAny;
            self.last_ms = time_ms;
        }
        begins
    }

    /// Notes one more. Whether a branch begins with it: the first that says anything was said
    /// before.
    pub fn add(&mut self, time_ms: Option<i64>, says: bool, is_known: bool) -> bool {
        if !self.is_on() {
            return false;
        }
        self.last_ms = time_ms.or(self.last_ms);
        let begins = says && !self.is_placed;
        self.is_placed |= says;
        begins && is_known
    }
}
