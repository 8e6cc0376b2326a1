//! What a Qwen Code session is: the fold over its lines, and the values that its list shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::facts::is_sent;
use super::place::{self, Kind};
use crate::model::{Facts, Fold, Header, SessionFacts, SourcePart};
use crate::{SourceFacts, path};

/// What is remembered of the lines before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// A line says what an answer cost by itself. The answers' own lines repeat it from there on.
    pub counts_apart: bool,
    /// When the first line was written that was not copied from the session of which it is a fork;
    /// until there is one, the last that was.
    begun_raw: Option<String>,
    begun_ms: Option<i64>,
    has_own_line: bool,
    /// A line says which session started it.
    was_started: bool,
    /// Lines that are none of the conversation, each with the last one of it before: the lines
    /// after them name them as their parents.
    beside: BTreeMap<String, Option<String>>,
    /// Calls that started a subagent, and were not answered yet.
    at_work: BTreeSet<String>,
    /// The last line, if it is of a command of the agent's.
    command: Option<Command>,
}

/// A line of a command of the agent's: that it was typed, or what came of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Command {
    id: Option<String>,
    time_ms: Option<i64>,
    /// It becomes a prompt, or does not, where that is said.
    is_sent: Option<bool>,
}

/// So soon behind a command nobody types a prompt.
const EXPANDED_MS: u64 = 1000;

/// What the tool is called that starts a subagent (0.15.6, 0.10.1).
const STARTS: [&str; 2] = ["agent", "task"];

/// What an answer says of its tokens is a repetition where the telemetry is recorded; and the
/// conversation goes on from an answer, whatever was noted in between.
pub(super) fn relate(state: &mut State, record: &[u8], facts: &mut Facts) {
    if facts.role.as_deref() == Some("assistant") && state.counts_apart {
        facts.usage = None;
    }
    relate_calls(state, facts);
    let above = facts
        .parent
        .as_ref()
        .and_then(|parent| state.beside.get(parent));
    if let Some(above) = above {
        facts.parent.clone_from(above);
    }
    relate_command(state, record, facts);
    if let (true, Some(id)) = (facts.is_beside, &facts.id) {
        state.beside.insert(id.clone(), facts.parent.clone());
    }
}

/// What a skill or a command becomes is the next prompt, and counts as one. What was typed is the
/// command.
fn relate_command(state: &mut State, record: &[u8], facts: &mut Facts) {
    if facts.kind == "slash_command" {
        // What came of it goes on from it, and alone says nothing of the prompt.
        let before = state.command.take();
        let before = before.filter(|before| before.id.is_some() && before.id == facts.parent);
        state.command = Some(Command {
            id: facts.id.clone(),
            time_ms: facts.time_ms,
            is_sent: is_sent(record).or_else(|| before.and_then(|before| before.is_sent)),
        });
        return;
    }
    if facts.is_beside {
        return;
    }
    let Some(command) = state.command.take() else {
        return;
    };
    let gap = command.time_ms.zip(facts.time_ms);
    let is_soon = gap.is_some_and(|(before, now)| now.abs_diff(before) <= EXPANDED_MS);
    let is_next = command.id.is_some() && command.id == facts.parent;
    let is_sent = command.is_sent != Some(false) && is_soon;
    if is_next && is_sent && facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
    }
}

/// What a subagent calls counts by the telemetry while somebody waits for it: one that works in the
/// background has a file of its own.
fn relate_calls(state: &mut State, facts: &mut Facts) {
    if facts.kind == "ui_telemetry" {
        if state.at_work.is_empty() && !facts.calls.is_empty() {
            facts.calls.clear();
            facts.files.clear();
            facts.is_error = false;
        }
        return;
    }
    if facts.kind == "user" && facts.is_message {
        // What was broken off has no answer.
        state.at_work.clear();
    }
    for call in &facts.calls {
        let starts = call
            .tool
            .as_deref()
            .is_some_and(|tool| STARTS.contains(&tool));
        match &call.call_id {
            Some(id) if call.is_result => {
                state.at_work.remove(id);
            }
            Some(id) if starts => {
                state.at_work.insert(id.clone());
            }
            _ => {}
        }
    }
}

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
        fold.qwen.counts_apart |= facts.kind == "ui_telemetry";
    }
    if !facts.agent_sees {
        return;
    }
    if let Some(header) = &facts.header {
        note_header(fold, header, facts);
    }
    if facts.id.is_some() && !facts.is_beside {
        fold.leaf.clone_from(&facts.id);
    }
    if let Some(name) = &facts.name {
        fold.name = (!name.is_empty()).then(|| name.clone());
    }
    fold.take_over(facts);
    if let Some(provider) = facts
        .usage
        .as_ref()
        .and_then(|usage| usage.provider.as_ref())
    {
        fold.provider = Some(provider.clone());
    }
    if facts.is_message {
        fold.messages += 1;
        fold.last_message_ms = fold.last_message_ms.max(facts.time_ms);
    }
    fold.note_said(facts);
}

/// A line of the session: the first one, and what later ones say of whose it is and of its begin.
/// Its first own line may stand before the copied ones.
fn note_header(fold: &mut Fold, header: &Header, facts: &Facts) {
    let names_parent = header.parent_session.is_some();
    let is_note = facts.kind == "parent_session";
    let session = fold.header.get_or_insert_with(|| header.clone());
    // Who started it counts before what it began as a copy of.
    if names_parent && (is_note || session.parent_session.is_none()) {
        session.parent_session.clone_from(&header.parent_session);
    }
    let state = &mut fold.qwen;
    state.was_started |= names_parent && is_note;
    if !state.has_own_line {
        state.begun_raw.clone_from(&header.created_raw);
        state.begun_ms = header.created_ms;
        state.has_own_line = is_note || !names_parent;
    }
}

/// The values of the list: a session is one file, beside a subagent's lies another that says what
/// it was for.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources
        .iter()
        .find(|source| source.part != SourcePart::Side)
        .or(sources.first())
    else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let side = sources
        .iter()
        .find(|source| source.part == SourcePart::Side);
    let said_of = side.and_then(|side| side.fold.name.clone());
    let side = side
        .and_then(|side| side.fold.header.clone())
        .unwrap_or_default();
    let is_of_subagent = Kind::of(source.relative) != Kind::Session;
    let above = || place::session_above(source.relative).filter(|_| is_of_subagent);
    let header = fold.header.clone().unwrap_or_default();
    SessionFacts {
        // Qwen Code finds a session by the name of its file.
        id: match is_of_subagent {
            true => side
                .id
                .or(header.id)
                .unwrap_or_else(|| path::stem(source.relative)),
            false => path::stem(source.relative),
        },
        cwd: header.cwd.unwrap_or_default(),
        name: fold.name.clone().or(said_of),
        parent_session: side.parent_session.or(header.parent_session).or_else(above),
        created_raw: fold.qwen.begun_raw.clone(),
        created_ms: fold.qwen.begun_ms,
        modified_ms: source.mtime_ms,
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        model: fold.model.clone().or_else(|| model_beside(sources)),
        is_subagent: is_of_subagent || fold.qwen.was_started,
        hidden: hidden(source, is_of_subagent),
        own: side.own,
        ..SessionFacts::of(fold)
    }
}

fn model_beside(sources: &[SourceFacts<'_>]) -> Option<String> {
    sources.iter().find_map(|source| source.fold.model.clone())
}

/// Why Qwen Code's own list does not show the session.
fn hidden(source: &SourceFacts<'_>, is_of_subagent: bool) -> Option<String> {
    if is_of_subagent {
        return Some("a subagent's session".to_owned());
    }
    if let Some(reason) = source.unlisted {
        return Some(reason.to_owned());
    }
    match (&source.fold.header, source.fold.entries, source.problems) {
        (Some(_), ..) => None,
        (None, 0, (0, _)) => Some("empty file".to_owned()),
        (None, _, (_, Some(reason))) => Some(format!("no line of a session ({reason})")),
        (None, ..) => Some("no line of a session".to_owned()),
    }
}
