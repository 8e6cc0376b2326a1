//! What a Copilot session is: a fold over its events, and the values its picker shows.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::facts::has_failed;
use super::usage::{Run, Scope};
use super::workspace;
use crate::model::{Facts, Fold, Header, SessionFacts, SourcePart, Usage};
use crate::{SourceFacts, stable_hash};

/// Records of usage that are remembered.
const COUNTED: usize = 64;

/// Calls that are remembered until they are answered.
const CALLED: usize = 64;

/// What stands for the prompts of a session that are nothing but images.
const IMAGE: &str = "[Image]";

/// What Copilot says of tokens, premium requests and credits where a run ends.
const FIGURES: [&str; 4] = [
    "inputTokens",
    "outputTokens",
    "totalPremiumRequests",
    "totalNanoAiu",
];

/// What only Copilot's fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// What the newest events say that name it, under Copilot's own names.
    own: BTreeMap<String, Value>,
    /// The figures in it when the last run began that counts from 0.
    before: BTreeMap<String, Value>,
    /// Hashes of the last records of usage: one may be written twice.
    counted: VecDeque<u64>,
    /// Hashes of the ids of calls that are still to be answered, of tools that are no shells: the
    /// text that these give says nothing of an exit code.
    called: VecDeque<u64>,
    /// The tokens of the answers' records when a run's end last said what the session took.
    told_at: Option<i64>,
    /// How many subagents were started.
    subagents: u64,
    /// A prompt has an image.
    shows_image: bool,
    /// The last event, where it has nothing to read: its id, and the event before it that has.
    silent: Option<(String, Option<String>)>,
    /// What the run so far says that it took.
    run: Run,
    /// A later run was in another repository.
    has_moved: bool,
}

/// An event goes on from the last one that has something to read, whatever was noted in between. A
/// run's end says what its answers took that have no records.
pub(super) fn relate(fold: &mut Fold, record: &[u8], facts: &mut Facts) {
    let (state, model) = (&mut fold.copilot, &fold.model);
    if facts.kind == "session.shutdown" && state.run.is_anew() {
        state.before.clone_from(&state.own);
        let is_figure = |name: &String| FIGURES.contains(&name.as_str());
        state.before.retain(|name, _| is_figure(name));
    }
    match state.run.relate(model.is_some(), record, facts) {
        Some(Scope::Run) => {
            if let Some(header) = &mut facts.header {
                add_up(&state.before, header);
            }
        }
        Some(Scope::Session) => state.before.clear(),
        None => {}
    }
    settle_errors(&mut state.called, record, facts);
    let before = state.silent.take();
    if let Some((id, above)) = before
        && facts.parent.as_ref() == Some(&id)
    {
        facts.parent = above;
    }
    if let (true, Some(id)) = (facts.silent, &facts.id) {
        state.silent = Some((id.clone(), facts.parent.clone()));
    }
}

/// What ends like the answer of a shell that failed is an error of a shell alone: other tools show
/// files and pages that may end so.
fn settle_errors(called: &mut VecDeque<u64>, record: &[u8], facts: &mut Facts) {
    let is_shell = |tool: &String| tool.contains("bash") || tool.contains("shell");
    for call in &mut facts.calls {
        let Some(id) = &call.call_id else {
            continue;
        };
        let id = stable_hash::of([id.as_bytes()]);
        let was_called = called.iter().position(|open| *open == id);
        was_called.and_then(|at| called.remove(at));
        if !call.is_result {
            if call.tool.as_ref().is_some_and(|tool| !is_shell(tool)) {
                called.truncate(CALLED - 1);
                called.push_front(id);
            }
        } else if facts.is_error && was_called.is_some() {
            facts.is_error = has_failed(record);
            call.is_error = Some(facts.is_error);
        }
    }
}

/// Adds what the runs before took to what a run says that it took.
fn add_up(before: &BTreeMap<String, Value>, header: &mut Header) {
    let own = header.own.as_deref().unwrap_or_default();
    let mut own: BTreeMap<String, Value> = serde_json::from_str(own).unwrap_or_default();
    for (name, figure) in &mut own {
        let Some(before) = before.get(name) else {
            continue;
        };
        let whole = before.as_i64().zip(figure.as_i64());
        let sum = whole.map(|(before, now)| before.saturating_add(now).into());
        let parts = || before.as_f64().zip(figure.as_f64());
        let of_parts = || {
            let sum = parts().map(|(before, now)| before + now);
            sum.and_then(Number::from_f64).map(Value::from)
        };
        if let Some(sum) = sum.or_else(of_parts) {
            *figure = sum;
        }
    }
    header.own = Some(serde_json::json!(own).to_string());
}

/// Add one event, in file order, or the workspace file.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    fold.messages += u64::from(facts.is_message);
    let starts = ["subagent.started", "custom_agent.started"];
    fold.copilot.subagents += u64::from(starts.contains(&facts.kind.as_str()));
    fold.copilot.shows_image |= facts.has_image && facts.is_message;
    for usage in facts.all_usage() {
        let known = known_by(usage, facts.id.as_deref());
        if known.is_none_or(|record| is_new(&mut fold.copilot.counted, record)) {
            fold.add_usage(usage);
        }
    }
    fold.copilot.has_moved |= moves(fold, facts);
    if let Some(header) = &facts.header {
        add_header(fold, header);
    }
    if facts.name.is_some() {
        fold.name.clone_from(&facts.name);
    }
    fold.take_over(facts);
    if facts.repository.is_some() {
        fold.repository.clone_from(&facts.repository);
    }
    fold.note_said(facts);
}

/// Whether a record is none of the last ones, of which it is one from now on.
fn is_new(counted: &mut VecDeque<u64>, record: u64) -> bool {
    if counted.contains(&record) {
        return false;
    }
    counted.truncate(COUNTED - 1);
    counted.push_front(record);
    true
}

/// By what a record is known again: by its call, which it need not name (1.0.102), else by the
/// event. Some servers give one id to all that they say.
fn known_by(usage: &Usage, event: Option<&str>) -> Option<u64> {
    let call = usage.response_id.as_deref().filter(|id| !id.is_empty());
    let call = call.or(event)?;
    let same = (&usage.model, usage.input, usage.output);
    Some(stable_hash::of([format!("{call:?} {same:?}").as_bytes()]))
}

/// Whether the session goes on in another repository, or in another directory of which nothing says
/// that it is of the same one.
fn moves(fold: &Fold, facts: &Facts) -> bool {
    let names_another = |before: &Option<String>, now: &Option<String>| {
        let both = before.as_ref().zip(now.as_ref());
        both.map(|(before, now)| before != now)
    };
    let header = fold.header.as_ref().zip(facts.header.as_ref());
    let directory = header.and_then(|(before, now)| names_another(&before.cwd, &now.cwd));
    let repository = names_another(&fold.repository, &facts.repository);
    repository.or(directory).unwrap_or(false)
}

/// Later runs move the session to another directory, and count on.
fn add_header(fold: &mut Fold, header: &Header) {
    let own = header.own.as_deref().unwrap_or_default();
    let own: BTreeMap<String, Value> = serde_json::from_str(own).unwrap_or_default();
    if total(&own).is_some() {
        fold.copilot.told_at = fold.tokens;
    }
    fold.copilot.own.extend(own);
    match &mut fold.header {
        Some(first) => {
            if header.cwd.is_some() {
                first.cwd.clone_from(&header.cwd);
            }
            if first.id.is_none() {
                first.id.clone_from(&header.id);
            }
        }
        none => {
            let mut header = header.clone();
            header.own = None;
            *none = Some(header);
        }
    }
}

/// The values of the list, from the events and the workspace file.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let is_main = |source: &&SourceFacts<'_>| source.part == SourcePart::Main;
    let main = sources.iter().find(is_main);
    let Some(first) = main.or(sources.first()) else {
        return SessionFacts::default();
    };
    let workspace = sources.iter().find(|source| !is_main(source));
    let said = workspace.and_then(|workspace| workspace.fold.header.clone());
    let said = said.unwrap_or_default();
    let header = main.and_then(|main| main.fold.header.clone());
    let header = header.unwrap_or_default();
    let fold = first.fold;
    let mut own = workspace.map(|workspace| workspace.fold.copilot.own.clone());
    let own = own.get_or_insert_default();
    own.extend(fold.copilot.own.clone());
    if fold.copilot.subagents > 0 {
        own.insert("subagents".to_owned(), fold.copilot.subagents.into());
    }
    let image = || fold.copilot.shows_image.then(|| IMAGE.to_owned());
    let (created_raw, created_ms) = match header.created_raw {
        Some(raw) => (Some(raw), header.created_ms),
        None => (said.created_raw, said.created_ms),
    };
    SessionFacts {
        id: header.id.or(said.id).unwrap_or_else(|| by_path(first)),
        cwd: header.cwd.or(said.cwd).unwrap_or_default(),
        name: workspace.and_then(|workspace| name(workspace.fold, fold)),
        parent_session: header.parent_session,
        created_raw,
        created_ms,
        modified_ms: fold.last_entry_ms.unwrap_or(first.mtime_ms),
        first_message: fold.first_message.clone().or_else(image),
        typed: fold.typed.clone().or_else(image),
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        version: header.version,
        has_moved: fold.copilot.has_moved,
        tokens: tokens(fold, own),
        hidden: hidden(first),
        own: (!own.is_empty()).then(|| serde_json::json!(own).to_string()),
        ..SessionFacts::of(fold)
    }
}

/// The name of the session's folder, or of its file.
fn by_path(source: &SourceFacts<'_>) -> String {
    let folder = source
        .relative
        .parent()
        .and_then(|folder| folder.file_name());
    let name = folder.or(source.relative.file_stem());
    name.map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The name that the picker shows, but for the first prompt, which it shows where a session has
/// none, and of which a long one is cut.
fn name(workspace: &Fold, events: &Fold) -> Option<String> {
    let name = workspace.name.clone()?;
    let is_given = workspace.copilot.own.get("user_named") == Some(&Value::Bool(true));
    let prompt = events.first_message.as_deref().unwrap_or_default();
    (is_given || !begins_so(prompt, &name)).then_some(name)
}

/// Whether a prompt begins with the words of a name, of which the last may be cut as well.
fn begins_so(prompt: &str, name: &str) -> bool {
    let mut words = prompt.split_whitespace();
    let is_next = |word| words.next() == Some(word);
    let Some(cut) = name.strip_suffix(workspace::CUT) else {
        return name.split_whitespace().all(is_next);
    };
    let last = cut.split_whitespace().next_back().unwrap_or_default();
    let whole = cut.trim_end().strip_suffix(last).unwrap_or_default();
    whole.split_whitespace().all(is_next) && words.next().is_some_and(|word| word.starts_with(last))
}

/// What the session took. Earlier versions wrote no usage of an answer, only where a run ended what
/// it took, later ones what the session took so far; what has a record since then comes on top.
fn tokens(fold: &Fold, own: &BTreeMap<String, Value>) -> Option<i64> {
    let told = total(own).map(|total| {
        let since = fold.tokens.unwrap_or(0);
        let since = since.saturating_sub(fold.copilot.told_at.unwrap_or(0));
        total.saturating_add(since)
    });
    told.max(fold.tokens)
}

/// What the last run said that the session took.
fn total(own: &BTreeMap<String, Value>) -> Option<i64> {
    let part = |name: &str| own.get(name).and_then(Value::as_i64);
    let parts = [part("inputTokens"), part("outputTokens")];
    parts.into_iter().flatten().reduce(i64::saturating_add)
}

/// Why Copilot could not take the session up again.
fn hidden(source: &SourceFacts<'_>) -> Option<String> {
    match source.part {
        SourcePart::Main if source.fold.entries == 0 => Some("no events".to_owned()),
        SourcePart::Main => None,
        _ => Some("no events.jsonl".to_owned()),
    }
}
