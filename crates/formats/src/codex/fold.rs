//! What a thread is: the fold over the lines of its rollouts, and what a line says in the light of
//! those before it.

use serde::{Deserialize, Serialize};

use super::line::Record;
use super::message::Message;
use super::names::{self, NamedIn};
use super::place::thread_in;
use crate::model::{Base, Facts, Fold, Header, SessionFacts, SourcePart};
use crate::{SourceFacts, json, stable_hash};

/// What of the lines read so far a later one is understood by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The thread was started by another one: what stands as the user's is its model's.
    #[serde(skip_serializing_if = "is_default")]
    is_subagent: bool,
    /// The thread by which a legacy rollout's lines are known: in a fork those of the origin follow
    /// its header. See [`begin`].
    #[serde(skip_serializing_if = "is_default")]
    thread: Option<String>,
    /// The thread of the last header in a legacy rollout, by which calls are known that a provider
    /// numbers.
    #[serde(skip_serializing_if = "is_default")]
    own: Option<String>,
    /// When a thread began that another one started, or that was forked: what is older is the other
    /// one's.
    #[serde(skip_serializing_if = "is_default")]
    began_ms: Option<i64>,
    /// The thread's rollout is a legacy one, whose lines its forks repeat.
    #[serde(skip_serializing_if = "is_default")]
    is_legacy: bool,
    /// How many calls of the thread came so far. A fork repeats those of its origin in order.
    #[serde(skip_serializing_if = "is_default")]
    calls: u64,
    /// Messages stand in items of the context, so events only repeat them.
    #[serde(skip_serializing_if = "is_default")]
    has_items: bool,
    /// A message was sent, as an event says.
    #[serde(skip_serializing_if = "is_default")]
    has_sent: bool,
    /// The turn's error was told.
    #[serde(skip_serializing_if = "is_default")]
    has_failed: bool,
    /// Usage is recorded by answer.
    #[serde(skip_serializing_if = "is_default")]
    has_records: bool,
    /// It goes on from another rollout, and its model has said nothing yet.
    #[serde(skip_serializing_if = "is_default")]
    goes_on: bool,
    /// Its first message is of a program: what its person types first is still to come.
    #[serde(skip_serializing_if = "is_default")]
    is_woken: bool,
    /// The goal that was told last.
    #[serde(skip_serializing_if = "is_default")]
    goal: Option<u64>,
    /// What was typed behind the last `/review`.
    #[serde(skip_serializing_if = "is_default")]
    review: Option<u64>,
    /// What the last item of the user's says that was taken for Codex's own.
    #[serde(skip_serializing_if = "is_default")]
    injected: Option<u64>,
    /// The answer, or the sum, whose usage was counted last.
    #[serde(skip_serializing_if = "is_default")]
    counted: Option<String>,
    /// Calls whose output is still to come, with what an event said of how they ended.
    #[serde(skip_serializing_if = "is_default")]
    open: Vec<OpenCall>,
    /// Calls of this turn whose output is an error.
    #[serde(skip_serializing_if = "is_default")]
    failed: Vec<String>,
    /// The working directory of the first turn.
    #[serde(skip_serializing_if = "is_default")]
    cwd: Option<String>,
    /// It is no rollout, but what a file beside them says of the thread.
    #[serde(skip_serializing_if = "is_default")]
    named_in: Option<NamedIn>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    id: String,
    is_error: Option<bool>,
    duration_ms: Option<i64>,
}

/// What a paginated rollout says that it is, as JSON.
const PAGINATED: &str = "\"paginated\"";

/// Calls that are remembered as open: a model makes a few at a time.
const MOST_OPEN: usize = 64;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl State {
    /// The open call of that id, which is answered now.
    fn answered(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.id == id)?;
        Some(self.open.remove(at))
    }

    /// Whether an event says that its person typed what the item before it says, though that
    /// begins as Codex's own do.
    fn is_typed_after_all(&mut self, facts: &Facts) -> bool {
        if facts.kind != "user_message" || facts.role.as_deref() != Some("user") {
            return false;
        }
        let injected = self.injected.take();
        injected.is_some() && injected == facts.user_text.as_deref().map(known_by)
    }

    /// Whether a line says once more what was typed behind the last `/review`: as what was sent to
    /// the model that reviews, or as the item of an event. Such a line is silent.
    fn repeats_review(&mut self, facts: &mut Facts) -> bool {
        let said = facts.user_text.as_deref().map(known_by);
        let is_it = said.is_some() && said == self.review;
        match facts.kind.as_str() {
            "entered_review_mode" | "item_completed" if !facts.silent && is_it => {
                facts.silent = true;
            }
            "entered_review_mode" => self.review = said,
            "item_completed" if !facts.silent && said.is_some() => self.review = said,
            "exited_review_mode" | "task_complete" | "turn_complete" | "turn_aborted" => {
                self.review = None;
            }
            "message" if is_it && facts.role.as_deref() == Some("user") => facts.silent = true,
            _ => {}
        }
        facts.silent && is_it
    }

    /// Whether a line is of the thread that started this one, or from which it was forked, with the
    /// time that it had there.
    fn is_inherited(&self, facts: &Facts) -> bool {
        let times = facts.time_ms.zip(self.began_ms);
        times.is_some_and(|(time, began)| time < began)
    }

    /// A goal is told once. Before the first message only a person can have set it; later the model
    /// may.
    fn settle_goal(&mut self, is_first: bool, facts: &mut Facts) {
        let goal = facts.user_text.take().filter(|goal| !goal.is_empty());
        let known = goal.as_deref().map(known_by);
        if known.is_none() || known == self.goal {
            return;
        }
        self.goal = known;
        facts.silent = false;
        if is_first {
            facts.role = Some("user".to_owned());
            facts.is_message = true;
            facts.user_text = goal;
        }
    }

    fn call(&mut self, id: &str) {
        if id.is_empty() {
            return;
        }
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push(OpenCall {
            id: id.to_owned(),
            ..OpenCall::default()
        });
    }
}

/// What the lines before it say of a line. Each text is found once: an event repeats an item of the
/// context, unless there is none, as of a command that ended after its turn was aborted. Usage
/// counts once, by the model in force.
pub(super) fn relate(fold: &mut Fold, record: &[u8], facts: &mut Facts) {
    let is_first = fold.first_message.is_none();
    let state = &mut fold.codex;
    if facts.is_beside {
        state.named_in = json::utf8(record).and_then(NamedIn::of);
        return;
    }
    match facts.kind.as_str() {
        "session_meta" => begin(state, facts.header.as_ref()),
        "thread_goal_updated" => state.settle_goal(is_first, facts),
        "message" => {
            state.has_items = true;
            match facts.role.as_deref() {
                Some("injected") => state.injected = text_of(record),
                Some("user") => state.injected = None,
                _ => {}
            }
        }
        "task_started" | "turn_started" => {
            state.has_failed = false;
            state.failed.clear();
        }
        "error" => state.has_failed = true,
        _ => {}
    }
    // What its parent was asked is not what the subagent was.
    if state.is_subagent && state.is_inherited(facts) {
        (facts.user_text, facts.asked) = (None, None);
    }
    if state.is_subagent && facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
    }
    state.goes_on &= facts.role.as_deref() != Some("assistant");
    let is_typed = state.is_typed_after_all(facts);
    let is_repeat = state.repeats_review(facts);
    match facts.calls.is_empty() {
        false => settle_call(state, facts),
        // The end of a turn repeats the error that was told in it.
        true if matches!(facts.kind.as_str(), "task_complete" | "turn_complete") => {
            facts.is_error &= !state.has_failed;
            facts.silent = !facts.is_error;
        }
        true if is_repeat => {}
        true if facts.role.is_some() => facts.silent &= state.has_items && !is_typed,
        true => {}
    }
    if facts.silent {
        facts.is_message = false;
        facts.role = None;
    }
    settle_usage(fold, facts);
}

/// A header, of the thread itself or of one whose lines follow. In a legacy rollout those of the
/// origin may follow without its header, and nothing says where they end: all lines are known by
/// the origin. What two subagents of one thread spend that began anew hardly ever agrees in model,
/// sum, input and output.
fn begin(state: &mut State, header: Option<&Header>) {
    let own = header.and_then(|header| header.own.as_deref());
    if state.thread.is_none() {
        state.is_subagent = is_subagent(own);
        state.goes_on = own.and_then(base).is_some();
        let has_parent = |header: &&Header| header.parent_session.is_some();
        state.began_ms = header.filter(has_parent).and_then(|of| of.created_ms);
    }
    state.is_legacy = is_legacy(own);
    let origin = header.and_then(origin).filter(|_| state.is_legacy);
    let thread = origin.or_else(|| header?.id.clone());
    // The header may come again in its thread: Codex adds one where a setting changes.
    if state.thread != thread {
        state.calls = 0;
    }
    state.thread = thread;
    let id = header.and_then(|header| header.id.clone());
    state.own = id.filter(|_| state.is_legacy);
}

/// The thread whose lines a legacy rollout may repeat. Reviews and the like begin anew.
fn origin(header: &Header) -> Option<String> {
    let own = header.own.as_deref();
    let begins_anew = is_subagent(own) && !is_spawned(own);
    header.parent_session.clone().filter(|_| !begins_anew)
}

/// By what the text of a message is known again.
fn known_by(text: &str) -> u64 {
    stable_hash::of([text.trim().as_bytes()])
}

/// The text of a message, by what it is known again.
fn text_of(record: &[u8]) -> Option<u64> {
    json::tiers(record, |text| {
        let Some(record) = Record::read(text)? else {
            return Some(None);
        };
        let parts = Message::read(&record.payload)?.parts;
        let texts: Vec<&str> = parts.iter().map(|(_, text)| &**text).collect();
        Some(Some(known_by(&texts.join("\n"))))
    })
    .flatten()
}

/// What an event says of how a call ended goes to its output, which follows. Where that was there
/// before, the event is all that says so.
fn settle_call(state: &mut State, facts: &mut Facts) {
    let Some(call) = facts.calls.first_mut() else {
        return;
    };
    let id = call.call_id.as_deref().unwrap_or_default();
    if !call.is_result {
        state.call(id);
        // In a fork of a legacy rollout the lines of the origin have other times.
        state.calls += 1;
        // Some providers number the calls of each answer from the start: those of all threads that
        // one starts would be the same.
        let thread = match state.is_subagent && is_numbered(id) {
            true => &state.own,
            false => &state.thread,
        };
        let thread = thread.as_ref().filter(|_| state.is_legacy);
        facts.copied_with = thread.map(|thread| format!("{thread}/{}", state.calls));
    } else if !facts.silent {
        let open = state.answered(id).unwrap_or_default();
        facts.is_error = call.is_error.or(open.is_error).unwrap_or(false);
        call.is_error = Some(facts.is_error);
        call.duration_ms = open.duration_ms.or(call.duration_ms);
        if facts.is_error && state.failed.len() < MOST_OPEN {
            state.failed.push(id.to_owned());
        }
    } else if let Some(open) = state.open.iter_mut().find(|open| open.id == id) {
        (open.is_error, open.duration_ms) = (call.is_error, call.duration_ms);
        facts.calls.clear();
        facts.is_error = false;
    } else {
        facts.silent = false;
        // A command that was stopped has failed once.
        facts.is_error &= !state.failed.iter().any(|failed| failed == id);
    }
}

/// Whether an id ends in a number of at most four digits, as those do of providers that number the
/// calls of each answer: `call_0`, `functions.shell:0`.
pub(super) fn is_numbered(id: &str) -> bool {
    let number = id.rsplit(['_', '-', ':']).next().unwrap_or_default();
    (1..5).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A record of usage counts once for each answer. Where there are none, the counts do whose sum has
/// changed: repeats are common. The sum is made the answer's id, so that copies of it in forks,
/// which are written with other times, are known as such.
fn settle_usage(fold: &mut Fold, facts: &mut Facts) {
    let (state, kind) = (&mut fold.codex, facts.kind.as_str());
    let is_inherited = !state.is_legacy && state.is_inherited(facts);
    let Some(usage) = &mut facts.usage else {
        return;
    };
    let is_record = kind == "token_usage_record";
    // A turn that compacts begins with the last count, here with that of the rollout before. What a
    // subagent repeats of its parent's counts stands there as records.
    let is_base = (state.goes_on || is_inherited) && !is_record;
    let is_counted = usage.response_id.is_some() && state.counted == usage.response_id;
    if is_base {
        state.counted.clone_from(&usage.response_id);
    }
    if is_base || is_counted || state.has_records && !is_record {
        facts.usage = None;
        return;
    }
    state.has_records |= is_record;
    state.counted.clone_from(&usage.response_id);
    if let (false, Some(sum)) = (is_record, &usage.response_id) {
        let thread = state.thread.as_deref().unwrap_or_default();
        usage.response_id = Some(format!("{thread}/{sum}"));
    }
    usage.model.clone_from(&fold.model);
    usage.provider.clone_from(&fold.provider);
}

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.entries += 1;
    if facts.kind == names::KIND && facts.is_beside {
        fold.name.clone_from(&facts.name);
        fold.header.clone_from(&facts.header);
        return;
    }
    fold.seen += u64::from(facts.agent_sees);
    fold.messages += u64::from(facts.is_message && facts.agent_sees);
    fold.errors += u64::from(facts.is_error);
    fold.last_entry_ms = fold.last_entry_ms.max(facts.time_ms);
    for (in_force, new) in [
        (&mut fold.model, &facts.model),
        (&mut fold.provider, &facts.provider),
        (&mut fold.git_branch, &facts.git_branch),
        (&mut fold.thinking_level, &facts.thinking_level),
    ] {
        if new.is_some() {
            in_force.clone_from(new);
        }
    }
    // The header of the thread itself comes before that of the one it was forked from.
    if fold.repository.is_none() {
        fold.repository.clone_from(&facts.repository);
    }
    if facts.id.is_some() && facts.agent_sees && !facts.silent {
        fold.leaf.clone_from(&facts.id);
    }
    if let Some(name) = &facts.name {
        fold.name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    }
    if let Some(header) = &facts.header {
        match &fold.header {
            None => fold.header = Some(header.clone()),
            // A fork of a legacy rollout holds that one's header below its own.
            Some(own) if header.id.is_some() && header.id != own.id => {
                fold.forked_from
                    .get_or_insert_with(|| header.id.clone().unwrap_or_default());
            }
            Some(_) => {}
        }
    }
    if fold.codex.cwd.is_none() {
        fold.codex.cwd.clone_from(&facts.cwd);
    }
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
    }
    note_sent(fold, facts);
}

/// The title is the first message that was sent. What an event says of it is sure; an item of the
/// context may be Codex's own.
fn note_sent(fold: &mut Fold, facts: &Facts) {
    let text = facts.user_text.as_deref().or(facts.asked.as_deref());
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return;
    };
    let is_event = facts.kind != "message";
    let is_typed = facts.user_text.is_some();
    let is_first = fold.first_message.is_none() || is_event && !fold.codex.has_sent;
    if is_first {
        fold.first_message = Some(text.trim().to_owned());
    }
    if (is_first || is_typed && fold.codex.is_woken) && !fold.codex.is_subagent {
        fold.typed = None;
        if is_typed {
            fold.note_typed(facts);
        }
        fold.codex.is_woken = !is_typed;
    }
    fold.codex.has_sent |= is_event;
}

/// The values of the list. A thread is one file, or several pages, and what files beside them call
/// it.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let (pages, names): (Vec<_>, Vec<_>) = sources
        .iter()
        .cloned()
        .partition(|source| source.part == SourcePart::Main);
    let mut session = of_pages(&pages);
    session.entry_count += names.iter().map(|name| name.fold.entries).sum::<u64>();
    name(&mut session, &names);
    session
}

/// What Codex's own list calls the thread: what the database says, for threads in the older shape
/// else the index. Where neither names it, the rollout may.
fn name(session: &mut SessionFacts, names: &[SourceFacts<'_>]) {
    let named_in = |file| {
        let mut names = names.iter().map(|name| name.fold);
        names.find(|fold| fold.codex.named_in == Some(file))
    };
    let own = session.own.as_deref();
    let mode = own.and_then(|own| json::member(own, "history_mode"));
    let in_index = named_in(NamedIn::Index).filter(|_| mode != Some(PAGINATED));
    let in_database = named_in(NamedIn::Database);
    let given = [in_database, in_index].into_iter().flatten();
    if let Some(name) = given.filter_map(|fold| fold.name.clone()).next() {
        session.name = Some(name);
    }
    let pinned = in_database.and_then(|fold| fold.header.as_ref()?.own.as_deref());
    if let (Some(pinned), Some(own)) = (pinned, &session.own) {
        session.own = Some(joined(own, pinned));
    }
}

/// One object with the members of both.
fn joined(own: &str, more: &str) -> String {
    let read = |text| serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap_or_default();
    let mut own = read(own);
    own.extend(read(more));
    serde_json::Value::Object(own).to_string()
}

fn of_pages(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let (Some(first), Some(last)) = (sources.first(), sources.last()) else {
        return SessionFacts::default();
    };
    let folds = || sources.iter().map(|source| source.fold);
    let header = folds()
        .find_map(|fold| fold.header.clone())
        .unwrap_or_default();
    let name = first
        .relative
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let newest =
        |value: fn(&Fold) -> &Option<String>| folds().rev().find_map(|fold| value(fold).clone());
    let sum = |value: fn(&Fold) -> u64| folds().map(value).sum();
    let cwd = header.cwd.clone().filter(|cwd| !cwd.is_empty());
    SessionFacts {
        id: header
            .id
            .clone()
            .or_else(|| thread_in(&name).map(str::to_owned))
            .unwrap_or_else(|| name.into_owned()),
        cwd: cwd
            .or_else(|| folds().find_map(|fold| fold.codex.cwd.clone()))
            .unwrap_or_default(),
        name: newest(|fold| &fold.name),
        parent_session: header
            .parent_session
            .clone()
            .or_else(|| first.fold.forked_from.clone()),
        created_raw: header.created_raw.clone(),
        created_ms: header.created_ms,
        modified_ms: folds()
            .filter_map(|fold| fold.last_entry_ms)
            .max()
            .unwrap_or(last.mtime_ms),
        message_count: sum(|fold| fold.messages),
        first_message: folds().find_map(|fold| fold.first_message.clone()),
        typed: folds().find_map(|fold| fold.typed.clone()),
        entry_count: sum(|fold| fold.entries),
        leaf: newest(|fold| &fold.leaf),
        model: newest(|fold| &fold.model),
        provider: newest(|fold| &fold.provider),
        git_branch: newest(|fold| &fold.git_branch),
        repository: folds().find_map(|fold| fold.repository.clone()),
        thinking_level: newest(|fold| &fold.thinking_level),
        tokens: folds()
            .filter_map(|fold| fold.tokens)
            .reduce(i64::saturating_add),
        error_count: sum(|fold| fold.errors),
        is_subagent: is_subagent(header.own.as_deref()),
        hidden: hidden(sources, header.own.as_deref()),
        base: header
            .own
            .as_deref()
            .and_then(base)
            .filter(|base| Some(&base.session) != header.id.as_ref()),
        own: header.own,
        ..SessionFacts::default()
    }
}

/// Why Codex's own list does not show the thread.
fn hidden(sources: &[SourceFacts<'_>], own: Option<&str>) -> Option<String> {
    let unlisted = sources.iter().find_map(|source| source.unlisted);
    let source = own.and_then(|own| json::member(own, "source"));
    let has_header = sources.iter().any(|of| of.fold.header.is_some());
    let has_message = sources.iter().any(|of| of.fold.first_message.is_some());
    unlisted
        .or_else(|| (!has_header).then_some("no session_meta line"))
        .or_else(|| is_subagent(own).then_some("a subagent"))
        .or_else(|| source.and_then(ran_without_a_person))
        .or_else(|| (!has_message).then_some("no message"))
        .map(str::to_owned)
}

/// Programs whose threads Codex's own list shows beside those of its terminal and its editors
/// (`INTERACTIVE_SESSION_SOURCES`).
const SHOWN_PROGRAMS: [&str; 2] = ["atlas", "chatgpt"];

/// Why the list does not show threads of that source; rollouts from before there were sources have
/// none and are shown.
fn ran_without_a_person(source: &str) -> Option<&'static str> {
    let custom = json::member(source, "custom").map(json::unquote);
    match json::unquote(source).as_ref() {
        "cli" | "vscode" => None,
        _ if custom.is_some_and(|custom| SHOWN_PROGRAMS.contains(&&*custom)) => None,
        "exec" => Some("codex exec ran it"),
        _ if json::member(source, "internal").is_some() => Some("Codex ran it for itself"),
        _ => Some("another program ran it"),
    }
}

/// Whether another thread started this one, by what only Codex records of it.
fn is_subagent(own: Option<&str>) -> bool {
    let member = |key| own.and_then(|own| json::member(own, key));
    member("thread_source") == Some("\"subagent\"")
        || member("source").is_some_and(|source| json::member(source, "subagent").is_some())
}

/// Whether its model started it, by a tool, and may have handed its history on.
fn is_spawned(own: Option<&str>) -> bool {
    let source = own.and_then(|own| json::member(own, "source"));
    let subagent = source.and_then(|source| json::member(source, "subagent"));
    subagent.is_some_and(|subagent| json::member(subagent, "thread_spawn").is_some())
}

/// Whether a header with these fields begins a legacy rollout.
fn is_legacy(own: Option<&str>) -> bool {
    let field = |name| own.and_then(|own| json::member(own, name));
    field("history_mode") != Some(PAGINATED) && field("history_base").is_none()
}

/// What a fork of a paginated rollout goes on from. A page names the one before it so too; pages
/// are one session anyhow.
fn base(own: &str) -> Option<Base> {
    let base = json::member(own, "history_base")?;
    Some(Base {
        session: json::unquote(json::member(base, "thread_id")?).into_owned(),
        end: json::member(base, "end_byte_offset")?.parse().ok()?,
    })
}
