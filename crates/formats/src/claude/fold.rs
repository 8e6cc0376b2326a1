//! What a session of Claude Code's is: the fold over its lines, and the values of its list.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod figures;

use self::figures::add_figures;
use super::again::{Again, LineMarks, Lines};
use super::ahead::Ahead;
use super::kept::{self, KeptLines};
use super::queue::Queue;
use super::usage::MODELS;
use super::{GOES_ON_ELSEWHERE, OWN_FILE_GONE, facts, origin, place};
use crate::injected::without_paste_tags;
use crate::model::{Class, Facts, Fold, Header, SessionFacts, SourcePart, keep_last, merged};
use crate::{SourceFacts, json, stable_hash};

/// Answers of which more lines may follow: a subagent's may stand between them in older files.
const ANSWERS: usize = 16;

/// What is remembered of advisors of such answers: more than one answer may have had.
const ADVISORS: usize = 2 * MODELS;

/// Summaries that are remembered until the line comes that they are of.
const SUMMARIES: usize = 64;

/// Sessions whose lines are in one file, of which the first and the last ones are remembered.
const SESSIONS: usize = 64;

/// What only this fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Last title of each kind.
    custom_title: Option<String>,
    ai_title: Option<String>,
    summary: Option<String>,
    /// What was asked for last, as a `last-prompt` says.
    last_prompt: Option<String>,
    /// Summaries whose line has not come, by its id: most are of other sessions of the project.
    summaries: Vec<(String, String)>,
    /// Hashes of the ids of the last lines, of which a summary may be.
    ids: VecDeque<u64>,
    /// The sessions that lines name, in the order of the first line of each.
    sessions: Vec<Begun>,
    /// Whether the file is a subagent's: its first line is, and nobody said anything else.
    is_of_subagent: Option<bool>,
    /// The first line is a subagent's, whatever follows.
    begins_with_subagent: bool,
    /// By what the session may be known in which nothing was typed.
    called: Option<String>,
    /// The session that the last copied line says it was copied from.
    copied_from: Option<String>,
    /// `/branch` copied that line: what the session cost begins with nothing then.
    is_branched: bool,
    /// The session in which the plan was made with which this one begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_in: Option<String>,
    /// It is a copy for certain, though no line may name the session that it was copied from.
    #[serde(skip_serializing_if = "crate::model::is_default")]
    is_surely_copied: bool,
    /// It went on under another id, and nobody said anything since.
    goes_on_elsewhere: bool,
    /// What was read last was copied: the session of this file begins with the next prompt or
    /// answer.
    is_copy: bool,
    cwd: Option<String>,
    /// It was relocated from another directory.
    has_moved: bool,
    /// The last `cost-state`, or what is written beside a subagent's lines.
    own: Option<String>,
    /// The last answers: what is counted of each.
    answers: Vec<Answer>,
    /// The same of what advisors took in answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advisors: Vec<Answer>,
    /// The keys of the last answers that count as messages.
    said: VecDeque<u64>,
    /// The lines so far, any of which may come again.
    history: Lines,
    /// The id of the line before, where it was new.
    before: Option<String>,
    /// What waits to be said.
    queue: Queue,
    /// The last line of a hook: its id, and the one that it goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<(String, Option<String>)>,
    /// What the last compaction kept.
    #[serde(skip_serializing_if = "crate::model::is_default")]
    kept: KeptLines,
    /// What versions of 2025 need.
    #[serde(skip_serializing_if = "crate::model::is_default")]
    older: super::older::Older,
    /// What was written before the line that it hangs on.
    #[serde(skip_serializing_if = "crate::model::is_default")]
    ahead: Ahead,
}

/// When a session begins of which lines are in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Begun {
    id: String,
    at_raw: Option<String>,
    at_ms: Option<i64>,
}

/// The last lines, of which a summary that comes may be.
const SUMMARIZABLE: usize = 16;

/// Settles a line by those before it. What is written again says nothing: under its old id it is
/// left out, unless it goes on from a new line right before it; under a new id it stays as a link,
/// as later lines go on from it. An answer counts once, however many lines it has. A line that
/// agents drop is not known for the next.
pub(super) fn relate(fold: &mut Fold, record: &[u8], facts: &mut Facts) {
    let (state, latest) = (&mut fold.claude, fold.last_message_ms);
    if !facts.agent_sees {
        return;
    }
    kept::go_on(record, facts, |id| state.ids.contains(&hash_of(id)));
    join_at_hook(state, facts);
    if let Some(alone) = state.older.take_named_alone(record, facts) {
        state.sessions.retain(|begun| begun.id != alone);
    }
    if facts.is_beside {
        if facts.kind == "queue-operation" {
            state.queue.relate(record, facts);
        }
        return;
    }
    state.note_origin(record, facts);
    let header = facts.header.as_ref();
    if header.is_some_and(|header| copied_from(header).is_some()) {
        let origin = json::utf8(record).and_then(|line| json::member(line, "forkedFrom"));
        state.is_branched = origin.is_some_and(|origin| origin.starts_with('{'));
    }
    let known = LineMarks::of(record, facts);
    let known = known.filter(|_| !state.older.begins_anew(record, facts));
    let again = known.map_or(Again::No, |known| {
        state.history.again(&known, latest, facts)
    });
    if again != Again::No {
        state.leave_figures(facts);
        // Under new ids others hang on it.
        if again == Again::Same && state.kept.note_repeated(facts) {
            state.before = None;
        }
        repeat(state, again, facts);
        return;
    }
    // What `/clear` says of itself may stand before the session, on a root of its own.
    let is_first = fold.messages == 0 && fold.first_message.is_none() && !facts.is_sidechain;
    if is_first && facts.parent.is_none() && state.called.as_deref() == Some("/clear") {
        facts.parent.clone_from(&state.before);
    }
    state.older.pass(record, facts);
    state.kept.pass(facts);
    state.history.note_figures(facts);
    if facts.kind != facts::HOOK {
        state.before.clone_from(&facts.id);
    }
    // Another version begins with a prompt.
    let is_prompt = facts.role.as_deref() == Some("user");
    let line = is_prompt.then(|| json::utf8(record)).flatten();
    let version = line.and_then(|line| json::Raw(json::member(line, "version")).text());
    let is_mail = || facts.kind == "attachment" && facts::is_mail(record);
    if facts.role.is_none() || !is_mail() {
        state.queue.pass(facts, version.as_deref());
    }
    if facts.is_message && facts.role.as_deref() == Some("assistant") {
        facts.is_message = state.note_answer(super::usage::answer(record, facts));
    }
}

/// What is left of a line that comes again.
fn repeat(state: &mut State, again: Again, facts: &mut Facts) {
    // What a compaction kept may be written again below its summary, and goes on from there.
    let is_below = state.before.is_some() && facts.parent == state.before;
    let goes_on = is_below || again == Again::Renamed;
    let mut repeat = Facts {
        kind: std::mem::take(&mut facts.kind),
        time_raw: facts.time_raw.take(),
        time_ms: facts.time_ms,
        agent_sees: true,
        is_sidechain: facts.is_sidechain,
        is_beside: !goes_on,
        silent: !goes_on,
        repeats: vec![Class::Prose, Class::Output],
        usage: facts.usage.take(),
        more_usage: std::mem::take(&mut facts.more_usage),
        copied_with: facts.copied_with.take(),
        ..Facts::default()
    };
    if goes_on {
        (repeat.id, repeat.parent) = (facts.id.take(), facts.parent.take());
        repeat.role = facts.role.take();
    }
    state.before.clone_from(&repeat.id);
    *facts = repeat;
}

/// Many lines of a hook have one `uuid`, by which none of them can be told: what follows one goes
/// on from where that went on.
fn join_at_hook(state: &mut State, facts: &mut Facts) {
    if let Some((hook, above)) = &state.hook
        && facts.parent.as_ref() == Some(hook)
    {
        facts.parent.clone_from(above);
    }
    if facts.kind == facts::HOOK {
        state.hook = facts.id.clone().map(|id| (id, facts.parent.clone()));
    }
}

/// What is counted of an answer whose lines repeat its usage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Answer {
    /// See [`answer_key`](super::usage::answer_key).
    key: u64,
    output: i64,
    tokens: i64,
}

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    if !facts.agent_sees {
        return;
    }
    if let Some(header) = &facts.header {
        note_header(&mut fold.claude, header, facts);
    }
    note_title(&mut fold.claude, facts);
    note_summarized(&mut fold.claude, facts);
    if facts.kind == "continued-in" || facts.role.is_some() {
        fold.claude.goes_on_elsewhere = facts.kind == "continued-in";
    }
    if facts.kind == "last-prompt" && facts.asked.is_some() {
        fold.claude.last_prompt.clone_from(&facts.asked);
    }
    if let Some(stands_at) = &facts.stands_at {
        fold.leaf = Some(stands_at.clone());
    }
    if facts.is_beside {
        // Of a line that comes again, with more than was known.
        add_figures(fold, facts);
        // What a person typed left the queue for the model.
        fold.messages += u64::from(facts.is_message);
        return;
    }
    fold.last_message_ms = fold.last_message_ms.max(facts.time_ms);
    let is_of_subagent = settle_subagent(fold, facts);
    if facts.is_sidechain && !is_of_subagent {
        add_figures(fold, facts);
        return;
    }
    if facts.id.is_some() && !facts.silent {
        fold.leaf.clone_from(&facts.id);
    }
    let (state, above) = (&mut fold.claude, facts.parent.as_deref());
    let is_known = above.is_some_and(|above| state.ids.contains(&hash_of(above)));
    if let Some(tip) = state.ahead.take_tip(facts, is_known) {
        fold.leaf = Some(tip);
    }
    fold.take_over(facts);
    add_figures(fold, facts);
    fold.messages += u64::from(facts.is_message);
    if fold.claude.called.is_none() && fold.first_message.is_none() {
        fold.claude.called.clone_from(&facts.called);
    }
    if fold.first_message.is_none() {
        let text = facts.user_text.as_ref().or(facts.asked.as_ref());
        let text = text.map(|text| without_paste_tags(text).trim().to_owned());
        fold.first_message = text.filter(|text| !text.is_empty());
    }
    fold.note_typed(facts);
}

/// Settles whether the file is a subagent's so far. It may begin with one's lines and then be a
/// session's: what was taken of them for its own is forgotten then, but for what they spent.
fn settle_subagent(fold: &mut Fold, facts: &Facts) -> bool {
    let state = &mut fold.claude;
    if state.is_of_subagent.is_none() {
        state.begins_with_subagent = facts.is_sidechain;
    }
    let is_of_subagent = state.is_of_subagent.get_or_insert(facts.is_sidechain);
    if *is_of_subagent && !facts.is_sidechain && facts.role.is_some() {
        *is_of_subagent = false;
        state.called = None;
        (fold.messages, fold.leaf, fold.model) = (0, None, None);
        (fold.git_branch, fold.thinking_level) = (None, None);
        (fold.first_message, fold.typed) = (None, None);
    }
    fold.claude.is_of_subagent == Some(true)
}

/// The session that a line was copied from.
fn copied_from(header: &Header) -> Option<&String> {
    let from = header.parent_session.as_ref();
    from.filter(|from| Some(*from) != header.id.as_ref())
}

fn note_header(state: &mut State, header: &Header, facts: &Facts) {
    if header.own.is_some() {
        state.own.clone_from(&header.own);
    }
    if facts.kind == "relocated" || state.cwd.is_none() {
        let is_another = header.cwd.is_some() && state.cwd.is_some() && state.cwd != header.cwd;
        state.has_moved |= is_another;
        state.cwd = header.cwd.clone().or(state.cwd.take());
    }
    if facts.is_beside {
        return;
    }
    let copied_from = copied_from(header);
    // An answer that is copied again goes on to name the session that it was given in. Those of the
    // nearest origin stand behind the ones that this had copied.
    if copied_from.is_some() {
        state.copied_from = copied_from.cloned();
    }
    // Of some copies only the answers say that they are: what follows one may be copied with it.
    let begins = state.is_copy && facts.is_message;
    note_begin(state, header, facts, begins || copied_from.is_some());
    state.is_copy = copied_from.is_some() || (state.is_copy && !facts.is_message);
}

/// Notes when the session of a line begins: with its first line, unless that `begins` it anew.
fn note_begin(state: &mut State, header: &Header, facts: &Facts, begins: bool) {
    let Some(id) = &header.id else {
        return;
    };
    let known = state.sessions.iter().position(|begun| begun.id == *id);
    let begun = match known {
        Some(at) => &mut state.sessions[at],
        None => {
            if state.sessions.len() == SESSIONS {
                state.sessions.remove(SESSIONS / 2);
            }
            state.sessions.push(Begun {
                id: id.clone(),
                ..Begun::default()
            });
            let last = state.sessions.len() - 1;
            &mut state.sessions[last]
        }
    };
    if begins || begun.at_ms.is_none() {
        begun.at_raw.clone_from(&facts.time_raw);
        begun.at_ms = facts.time_ms;
    }
}

fn note_title(state: &mut State, facts: &Facts) {
    let title = match facts.kind.as_str() {
        "custom-title" | "meta" => &mut state.custom_title,
        "ai-title" => &mut state.ai_title,
        "summary" => &mut state.summary,
        _ => return,
    };
    let name = facts.name.clone().filter(|title| !title.trim().is_empty());
    match (&facts.summarizes, name) {
        (Some(line), Some(name)) if !state.ids.contains(&hash_of(line)) => {
            if state.summaries.len() == SUMMARIES {
                state.summaries.remove(0);
            }
            state.summaries.push((line.clone(), name));
        }
        (_, name) => *title = name,
    }
}

fn hash_of(id: &str) -> u64 {
    stable_hash::of([id.as_bytes()])
}

/// A line of which a summary was said is of this session.
fn note_summarized(state: &mut State, facts: &Facts) {
    let Some(id) = facts.id.as_ref().filter(|_| !facts.is_beside) else {
        return;
    };
    keep_last(&mut state.ids, hash_of(id), SUMMARIZABLE);
    if let Some(at) = state.summaries.iter().rposition(|(line, _)| line == id) {
        state.summary = Some(state.summaries.remove(at).1);
    }
}

/// The values of the list.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let main = sources
        .iter()
        .find(|source| source.part == SourcePart::Main);
    let Some(source) = main.or(sources.first()) else {
        return SessionFacts::default();
    };
    let (fold, state) = (source.fold, &source.fold.claude);
    let id = place::session_id(source.relative);
    let (begun, before) = state.begun(&id);
    let planned_in = state.planned_in(&id);
    let is_subagent = place::is_agent(&id) || state.is_of_subagent == Some(true);
    // What its starter wrote beside a subagent's lines.
    let meta = sources.iter().find(|source| source.fold.claude.is_meta());
    let meta = meta.map(|source| &source.fold.claude);
    let parent_session = match is_subagent {
        true => place::session_above(source.relative)
            .map(Cow::into_owned)
            .or_else(|| state.first_but(&id).cloned()),
        // What begins with a plan is no copy of the session that made it.
        false => state
            .copied_from
            .as_ref()
            .or(before.filter(|_| planned_in.is_none()))
            .cloned(),
    };
    let is_fork = parent_session.is_some() || state.is_surely_copied;
    let titles = [&state.custom_title, &state.ai_title, &state.summary];
    let title = titles.into_iter().flatten().next();
    let title = title.or(meta.and_then(|meta| meta.custom_title.as_ref()));
    let own = meta.and_then(|meta| meta.own.clone());
    SessionFacts {
        cwd: state.cwd.clone().unwrap_or_default(),
        name: title.cloned(),
        created_raw: begun.and_then(|begun| begun.at_raw.clone()),
        created_ms: begun.and_then(|begun| begun.at_ms),
        modified_ms: fold.last_message_ms.unwrap_or(source.mtime_ms),
        first_message: first_message(fold, is_subagent),
        // It is known by what it was asked, whatever a person said to it later.
        typed: fold
            .typed
            .clone()
            .filter(|_| !is_subagent || state.called.is_none()),
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        has_moved: state.has_moved,
        // A fork begins with what its origin had cost.
        cost: state
            .cost()
            .or(fold.cost.filter(|_| !state.is_branched))
            .filter(|_| is_subagent || !is_fork || state.is_branched),
        is_subagent,
        hidden: hidden(source, main.is_some(), is_subagent),
        own: merged(merged(own, state.own.clone()), planned_in),
        parent_session,
        id,
        ..SessionFacts::of(fold)
    }
}

/// What the session is known by that has no name. One without messages is not known by a command.
fn first_message(fold: &Fold, is_subagent: bool) -> Option<String> {
    let state = &fold.claude;
    let called = state.called.as_ref();
    let called = called.filter(|_| is_subagent || fold.messages > 0);
    let said = fold.first_message.as_ref().or(state.last_prompt.as_ref());
    match is_subagent {
        true => called.or(said).cloned(),
        false => said.or(called).cloned(),
    }
}

/// Why Claude Code's own list does not show the session.
fn hidden(source: &SourceFacts<'_>, has_main: bool, is_subagent: bool) -> Option<String> {
    let why = match source.fold {
        _ if !has_main => OWN_FILE_GONE,
        _ if is_subagent => "a subagent's session",
        _ if source.unlisted.is_some() => source.unlisted.unwrap_or_default(),
        fold if fold.claude.begins_with_subagent => "its first line is a subagent's",
        fold if fold.entries == 0 && source.problems.0 == 0 => "empty file",
        fold if fold.messages == 0 => "no messages",
        fold if fold.claude.goes_on_elsewhere => GOES_ON_ELSEWHERE,
        _ => return None,
    };
    Some(why.to_owned())
}

impl State {
    /// Notes an answer: whether no line of it came before, as far as is remembered. One without an
    /// id is an answer by itself.
    fn note_answer(&mut self, answer: Option<u64>) -> bool {
        let Some(id) = answer else {
            return true;
        };
        if self.said.contains(&id) {
            return false;
        }
        keep_last(&mut self.said, id, ANSWERS);
        true
    }

    /// Notes what a line says of the session that this one comes from. What a compaction goes on
    /// from stands before it, so a file that begins with one is a copy.
    fn note_origin(&mut self, record: &[u8], facts: &Facts) {
        match facts.role.as_deref() {
            Some("injected") if self.planned_in.is_none() && facts.kind == "user" => {
                self.planned_in = origin::planned_in(record);
            }
            None if facts.kind == "attachment" => {
                self.is_surely_copied |= origin::is_briefing(record);
            }
            None if self.ids.is_empty() => {
                self.is_surely_copied |=
                    facts.compaction.is_some() && facts.parent.is_some() && !facts.is_sidechain;
            }
            _ => {}
        }
    }

    /// The session in which the plan was made that this one begins with, where it is no copy of
    /// such a session, as an object.
    fn planned_in(&self, id: &str) -> Option<String> {
        let is_copy = self.copied_from.is_some() || self.is_surely_copied;
        let planned_in = self.planned_in.as_ref().filter(|_| !is_copy);
        let planned_in = planned_in.filter(|planned_in| *planned_in != id)?;
        Some(serde_json::json!({ "plannedIn": planned_in }).to_string())
    }

    /// Whether it is of `agent-<id>.meta.json`.
    fn is_meta(&self) -> bool {
        self.own.is_some() && self.sessions.is_empty() && self.cost().is_none()
    }

    /// The first session that lines name, but for this one.
    fn first_but(&self, id: &str) -> Option<&String> {
        let mut named = self.sessions.iter().map(|begun| &begun.id);
        named.find(|named| *named != id)
    }

    /// When this session begins, of which the file is, and from which it goes on: older versions
    /// began a file with the lines of that one, or wrote all of them under its id. Where no line
    /// names this one, it begins with the last one that they name.
    fn begun(&self, id: &str) -> (Option<&Begun>, Option<&String>) {
        let own = self.sessions.iter().position(|begun| begun.id == id);
        let last = self.sessions.len().checked_sub(1);
        let before = match place::is_session_id(id) {
            true => own.or(Some(self.sessions.len())),
            false => own.or(last),
        };
        let before = before.and_then(|own| self.sessions.get(own.checked_sub(1)?));
        (
            own.or(last).and_then(|own| self.sessions.get(own)),
            before.map(|before| &before.id),
        )
    }

    /// US dollars so far, with what its subagents cost.
    fn cost(&self) -> Option<f64> {
        let own: Value = serde_json::from_str(self.own.as_deref()?).ok()?;
        let total = own.get("totalCostUSD")?.as_f64();
        total.filter(super::usage::is_cost)
    }
}
