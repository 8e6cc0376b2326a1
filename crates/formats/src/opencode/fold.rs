//! What an OpenCode session is: the fold over its rows, and the values of its picker.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::documents::DOCUMENTS;
use super::facts::{add_thoughts, usage_figures};
use crate::model::{Facts, Fold, Header, SessionFacts, Usage};
use crate::{SourceFacts, path};

/// What only this fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Id of the message from which on all was taken back.
    reverted: Option<String>,
    /// Whether that message has come.
    is_over: bool,
    /// The last prompt, and when it was given.
    prompt: Option<(String, i64)>,
    /// Where the first answer was given.
    cwd: Option<String>,
    /// The last answer, whose steps may follow.
    answer: Option<Answer>,
}

/// An answer, as far as its steps need it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Answer {
    id: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    created_ms: Option<i64>,
    completed_ms: Option<i64>,
    /// The tokens that the answer itself says, until a step says the same.
    said: Option<[i64; 5]>,
    has_cost: bool,
    /// How many steps there were.
    steps: u64,
}

impl Answer {
    fn of(message: &Facts) -> Answer {
        let usage = message.usage.as_ref();
        let cost = usage.and_then(|usage| usage.cost_total);
        Answer {
            id: message.id.clone(),
            provider: message.provider.clone(),
            model: message.model.clone(),
            created_ms: message.time_ms,
            completed_ms: message.message_ms,
            said: usage.map(usage_figures),
            has_cost: cost.is_some_and(|cost| cost != 0.0),
            steps: 0,
        }
    }

    /// What a step of it spent beside what the answer itself says, which is what its last step
    /// spent: until 0.5 one answer had several. Its cost is that of all.
    fn step(&mut self, mut usage: Usage) -> Option<Usage> {
        self.steps += 1;
        add_thoughts(&mut usage, self.provider.as_deref(), self.model.as_deref());
        if self
            .said
            .take_if(|said| *said == usage_figures(&usage))
            .is_some()
        {
            return None;
        }
        let [created, completed] = [self.created_ms, self.completed_ms];
        Some(Usage {
            provider: self.provider.clone(),
            model: self.model.clone(),
            // As the answer's own, so that a fork's copy of it has the same.
            response_id: created.map(|created| {
                format!("{created}-{}-{}", completed.unwrap_or_default(), self.steps)
            }),
            // Recorded is that it cost nothing more.
            cost_total: match self.has_cost {
                true => Some(0.0),
                false => usage.cost_total,
            },
            ..usage
        })
    }
}

/// What was said in a prompt was said when that was given: its parts have no times of their own,
/// and those that a fork copied have rows of the fork's time. In the session of a subagent nothing
/// is typed: its prompts were written by a model.
pub(super) fn relate(fold: &mut Fold, facts: &mut Facts) {
    let state = &mut fold.opencode;
    if facts.is_message {
        let prompt = facts.id.clone().zip(facts.time_ms);
        state.prompt = prompt.filter(|_| facts.role.as_deref() == Some("user"));
    } else if let (Some((id, given)), Some(parent)) = (&state.prompt, &facts.parent)
        && id == parent
    {
        facts.time_ms = Some(*given);
    }
    if facts.is_message {
        let is_answer = facts.role.as_deref() == Some("assistant");
        state.answer = is_answer.then(|| Answer::of(facts));
    } else if facts.kind == "step-finish" {
        let answer = state
            .answer
            .as_mut()
            .filter(|answer| answer.id == facts.parent);
        facts.usage = facts.usage.take().zip(answer).and_then(|(usage, answer)| {
            let usage = answer.step(usage)?;
            facts.time_ms = answer.created_ms.or(facts.time_ms);
            Some(usage)
        });
    }
    let is_subagent = fold.header.as_ref().is_some_and(is_subagent);
    match facts.role.as_deref() {
        Some("user") if is_subagent => {
            facts.role = Some("injected".to_owned());
            facts.is_message = false;
        }
        // A subagent's session is called by what a plugin asks it, and no other.
        Some("injected") if !is_subagent => facts.asked = None,
        _ => {}
    }
}

fn is_subagent(header: &Header) -> bool {
    let own = header.own.as_deref().unwrap_or_default();
    own.contains("\"parent_id\":")
}

/// Add one row.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    fold.last_entry_ms = fold.last_entry_ms.max(facts.message_ms);
    if let Some(header) = &facts.header {
        fold.header = Some(header.clone());
        fold.name = facts.name.clone();
        fold.last_message_ms = facts.message_ms;
        fold.opencode.reverted = revert(header.own.as_deref());
        return;
    }
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
    }
    if facts.model.is_some() {
        fold.provider = facts.provider.clone();
        fold.model = facts.model.clone();
    }
    if fold.opencode.cwd.is_none() {
        fold.opencode.cwd.clone_from(&facts.cwd);
    }
    fold.opencode.is_over |= facts.is_message && facts.id == fold.opencode.reverted;
    if fold.opencode.is_over {
        return;
    }
    if !facts.silent {
        fold.leaf = facts.id.clone();
    }
    fold.messages += u64::from(facts.is_message);
    if fold.first_message.is_none() {
        fold.first_message = facts.user_text.clone().or_else(|| facts.asked.clone());
    }
    fold.note_typed(facts);
}

/// Whether the session's row says the same as the one in the fold: its title, which is its text,
/// and what the rows behind it depend on: who typed, and what was taken back. Its times may be
/// others.
pub(super) fn says_the_same(fold: &Fold, facts: &Facts) -> bool {
    let says = |header: &Header| {
        let reverted = revert(header.own.as_deref());
        let id = (header.id.clone(), header.created_ms);
        (id, is_subagent(header), reverted)
    };
    let (now, before) = (facts.header.as_ref(), fold.header.as_ref());
    now.is_some() && now.map(says) == before.map(says) && facts.name == fold.name
}

/// Put what the session's row says into a fold over it and rows behind it. Not where it has become
/// older: then it is unknown whether a time in the fold was its own.
pub(super) fn renews(fold: &mut Fold, facts: &Facts) -> bool {
    let is_renewed = says_the_same(fold, facts) && facts.message_ms >= fold.last_message_ms;
    if is_renewed {
        fold.header.clone_from(&facts.header);
        fold.last_message_ms = facts.message_ms;
        fold.last_entry_ms = fold.last_entry_ms.max(facts.time_ms.max(facts.message_ms));
    }
    is_renewed
}

/// The session's id by its path, where nothing else says it.
fn called(source: &SourceFacts<'_>) -> String {
    path::name(source.relative).into_owned()
}

fn revert(own: Option<&str>) -> Option<String> {
    let own: serde_json::Value = serde_json::from_str(own?).ok()?;
    own.get("revert")?.as_str().map(str::to_owned)
}

/// What says most of a session: its rows, else its documents, else one that was exported.
fn rank(source: &SourceFacts<'_>) -> u8 {
    match source.relative.parent() {
        Some(store) if store.extension().is_some_and(|end| end == "db") => 0,
        Some(store) if store == Path::new(DOCUMENTS.folder) => 1,
        _ => 2,
    }
}

/// The values of the list.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.iter().min_by_key(|source| rank(source)) else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let header = fold.header.clone().unwrap_or_default();
    let is_subagent = is_subagent(&header);
    let own = header.own.as_deref().unwrap_or_default();
    let is_archived = own.contains("\"time_archived\":");
    let hidden = match () {
        () if source.unlisted.is_some() => source.unlisted,
        () if fold.header.is_none() => Some("it has no row of its own"),
        () if is_subagent => Some("a subagent's session"),
        () if is_archived => Some("archived"),
        () => None,
    };
    SessionFacts {
        id: header.id.unwrap_or_else(|| called(source)),
        cwd: header
            .cwd
            .filter(|cwd| !cwd.is_empty())
            .or_else(|| fold.opencode.cwd.clone())
            .unwrap_or_default(),
        parent_session: header.parent_session,
        created_raw: header.created_raw,
        created_ms: header.created_ms,
        modified_ms: fold.last_message_ms.unwrap_or(source.mtime_ms),
        is_subagent,
        hidden: hidden.map(str::to_owned),
        own: header.own,
        ..SessionFacts::of(fold)
    }
}
