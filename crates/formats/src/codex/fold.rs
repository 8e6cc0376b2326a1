//! What does a line say in the light of those before it? The fold over the lines of a rollout.

use serde::{Deserialize, Serialize};

use super::facts::IMAGE;
use super::line::Record;
use super::message::Message;
use super::names::{self, NamedIn};
use super::session::{base, is_legacy, is_spawned, is_subagent};
use super::typed_command::Ran;
use super::{imported, typed_command};
use crate::model::{Class, Facts, Fold, Header};
use crate::{json, stable_hash};

/// What of the lines read so far a later one is understood by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The thread was started by another one: what stands as the user's is its model's.
    is_subagent: bool,
    /// The thread by which a legacy rollout's lines are known: in a fork those of the origin follow
    /// its header. See [`begin`].
    thread: Option<String>,
    /// The thread of the last header in a legacy rollout, by which calls are known that a provider
    /// numbers.
    own: Option<String>,
    /// When a thread began that another one started, or that was forked: what is older is the other
    /// one's.
    began_ms: Option<i64>,
    /// The ordinal of the first line of a subagent's own, while those before it are read.
    own_from: Option<u64>,
    /// The thread's rollout is a legacy one, whose lines its forks repeat.
    is_legacy: bool,
    /// How many calls of the thread came so far. A fork repeats those of its origin in order.
    calls: u64,
    /// Messages stand in items of the context, so events only repeat them.
    has_items: bool,
    /// A message was sent, as an event says.
    has_sent: bool,
    /// The turn's error was told.
    has_failed: bool,
    /// Usage is recorded by answer.
    has_records: bool,
    /// It goes on from another rollout, and its model has said nothing yet.
    goes_on: bool,
    /// Its first message is of a program: what its person types first is still to come.
    is_woken: bool,
    /// The goal that was told last.
    goal: Option<u64>,
    /// What was typed behind the last `/review`.
    review: Option<u64>,
    /// What the last item of the user's says that was taken for Codex's own.
    injected: Option<u64>,
    /// What the line before says, where that is an event which stands for a message.
    sent: Option<u64>,
    /// Images that a tool showed and Codex is still to put there as the user's.
    images: u64,
    /// The answer behind which nothing came so far.
    answer: Option<Said>,
    /// The answer, or the sum, whose usage was counted last.
    counted: Option<String>,
    /// Calls whose output is still to come, with what an event said of how they ended.
    open: Vec<OpenCall>,
    /// Calls of this turn whose output is an error.
    failed: Vec<String>,
    /// A command of its person's of which one line was read.
    ran: Option<Ran>,
    /// When the turn began that is read, where it was taken over from another agent.
    imported_ms: Option<i64>,
    /// The working directory of the first turn.
    pub(super) cwd: Option<String>,
    /// It is no rollout, but what a file beside them says of the thread.
    pub(super) named_in: Option<NamedIn>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct OpenCall {
    id: String,
    is_error: Option<bool>,
    duration_ms: Option<i64>,
    /// It is to show an image.
    is_image: bool,
}

/// By what a text is known again at the end of another one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Said {
    hash: u64,
    bytes: usize,
}

impl Said {
    fn of(text: &str) -> Said {
        Said {
            hash: known_by(text),
            bytes: text.trim().len(),
        }
    }

    /// Whether a text is Codex's preface and it.
    fn is_behind_preface(&self, text: &str) -> bool {
        let text = text.trim();
        let at = text.len().checked_sub(self.bytes);
        let parts = at.and_then(|at| text.split_at_checked(at));
        parts.is_some_and(|(preface, end)| {
            preface.trim_end().ends_with(PREFACE_END) && known_by(end) == self.hash
        })
    }
}

/// How what Codex puts before the summary of a compaction ends (0.87 to 0.142).
const PREFACE_END: &str = "to assist with your own analysis:";

/// What a tool gives that shows an image, where the image itself follows as a message.
const SHOWN: &str = "\"attached local image path\"";

/// The kind of a line that says what one answer took.
const RECORD: &str = "token_usage_record";

/// Calls that are remembered as open: a model makes a few at a time.
const MOST_OPEN: usize = 64;

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
    /// time that it had there; or with another one, where the header says which lines are.
    fn is_inherited(&mut self, record: &[u8], facts: &Facts) -> bool {
        if let Some(own_from) = self.own_from {
            let ordinal = json::utf8(record).and_then(|line| json::member(line, "ordinal"));
            let ordinal = ordinal.and_then(|ordinal| ordinal.parse::<u64>().ok());
            self.own_from = Some(own_from).filter(|from| ordinal.is_none_or(|at| at < *from));
        }
        let times = facts.time_ms.zip(self.began_ms);
        self.own_from.is_some() || times.is_some_and(|(time, began)| time < began)
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

    fn call(&mut self, id: &str, is_image: bool) {
        if id.is_empty() {
            return;
        }
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push(OpenCall {
            id: id.to_owned(),
            is_image,
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
    imported::relate(&mut state.imported_ms, record, facts);
    let sent = state.sent.take();
    match facts.kind.as_str() {
        "session_meta" => begin(state, record, facts.header.as_ref()),
        "thread_goal_updated" => state.settle_goal(is_first, facts),
        "message" => message(state, sent, record, facts),
        "task_started" | "turn_started" => {
            state.has_failed = false;
            state.failed.clear();
        }
        "error" => state.has_failed = true,
        _ => {}
    }
    let is_inherited = state.is_inherited(record, facts);
    if state.is_subagent {
        of_subagent(state, is_inherited, facts);
    } else if facts.kind == "agent_message" {
        facts.asked = None;
    }
    state.goes_on &= facts.role.as_deref() != Some("assistant");
    let is_typed = state.is_typed_after_all(facts);
    let is_repeat = state.repeats_review(facts);
    match facts.calls.is_empty() {
        false => settle_call(state, record, facts),
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
    } else {
        if facts.kind == "user_message" && !is_typed {
            state.sent = facts.user_text.as_deref().map(known_by);
        }
        typed_command::relate(&mut state.ran, record, facts);
        settle_answer(fold, record, facts);
    }
    settle_usage(fold, is_inherited, facts);
}

/// An item of the context that is a message. Until 0.9x an image that a tool showed is one of the
/// user's; in a session that was taken over from Claude Code a prompt's event stands before it.
fn message(state: &mut State, sent: Option<u64>, record: &[u8], facts: &mut Facts) {
    state.has_items = true;
    match facts.role.as_deref() {
        Some("injected") => state.injected = text_of(record).map(|text| known_by(&text)),
        Some("user") => {
            state.injected = None;
            let said = facts.user_text.as_deref().map(known_by);
            facts.silent |= sent.is_some() && sent == said;
            if state.images > 0 && facts.has_image && said == Some(known_by(IMAGE)) {
                state.images -= 1;
                // A person may send one: then an event says so.
                state.injected = said;
                facts.role = Some("injected".to_owned());
                (facts.is_message, facts.user_text) = (false, None);
            }
        }
        Some("assistant") => state.images = 0,
        _ => {}
    }
}

/// What a model gave when it was told to compact is no answer, in versions that put it there so:
/// the line `compacted` behind it says it below what Codex tells the next model.
fn settle_answer(fold: &mut Fold, record: &[u8], facts: &mut Facts) {
    let answer = fold.codex.answer.take();
    match facts.kind.as_str() {
        "message" if facts.is_message && facts.role.as_deref() == Some("assistant") => {
            fold.codex.answer = text_of(record).map(|text| Said::of(&text));
        }
        "compacted" if answer.is_some_and(|answer| is_summary(&answer, record)) => {
            fold.messages = fold.messages.saturating_sub(1);
            facts.repeats = vec![Class::Prose];
        }
        _ => {}
    }
}

/// Whether a line `compacted` says that answer.
fn is_summary(answer: &Said, record: &[u8]) -> bool {
    json::tiers(record, |text| {
        let record = Record::read(text)?;
        let message = record.and_then(|record| record.payload.message.text());
        Some(message.is_some_and(|message| answer.is_behind_preface(&message)))
    })
    .unwrap_or_default()
}

/// What its parent was asked is not what the subagent was. What it repeats of its parent's lines
/// with new times stands there: it is neither counted nor found again.
fn of_subagent(state: &State, is_inherited: bool, facts: &mut Facts) {
    if facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
    }
    if is_inherited {
        (facts.user_text, facts.asked) = (None, None);
    }
    if state.own_from.is_some() {
        (facts.is_message, facts.is_error) = (false, false);
        facts.name = None;
        facts.calls.clear();
        facts.files.clear();
        facts.repeats = vec![Class::Prose, Class::Output];
        if facts.kind == RECORD {
            facts.usage = None;
        }
    }
}

/// A header, of the thread itself or of one whose lines follow. In a legacy rollout those of the
/// origin may follow without its header, and nothing says where they end: all lines are known by
/// the origin. What two subagents of one thread spend that began anew hardly ever agrees in sum,
/// input and output.
fn begin(state: &mut State, record: &[u8], header: Option<&Header>) {
    let own = header.and_then(|header| header.own.as_deref());
    if state.thread.is_none() {
        state.is_subagent = is_subagent(own);
        state.goes_on = own.and_then(base).is_some();
        let has_parent = |header: &&Header| header.parent_session.is_some();
        state.began_ms = header.filter(has_parent).and_then(|of| of.created_ms);
        state.own_from = own_from(record).filter(|_| state.is_subagent);
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

/// Where the lines of a subagent's own begin, as its header says.
fn own_from(header: &[u8]) -> Option<u64> {
    let payload = json::member(json::utf8(header)?, "payload")?;
    let from = json::member(payload, "subagent_history_start_ordinal")?;
    from.parse().ok()
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

/// The text of a message.
fn text_of(record: &[u8]) -> Option<String> {
    json::tiers(record, |text| {
        let Some(record) = Record::read(text)? else {
            return Some(None);
        };
        let parts = Message::read(&record.payload)?.parts;
        let texts: Vec<&str> = parts.iter().map(|(_, text)| &**text).collect();
        Some(Some(texts.join("\n")))
    })
    .flatten()
}

/// What an event says of how a call ended goes to its output, which follows. Where that was there
/// before, the event is all that says so.
fn settle_call(state: &mut State, record: &[u8], facts: &mut Facts) {
    let Some(call) = facts.calls.first_mut() else {
        return;
    };
    let id = call.call_id.as_deref().unwrap_or_default();
    if !call.is_result {
        state.call(id, call.tool.as_deref() == Some("view_image"));
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
        let shows = |line: &str| line.contains(SHOWN);
        state.images += u64::from(open.is_image && json::utf8(record).is_some_and(shows));
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
fn settle_usage(fold: &mut Fold, is_inherited: bool, facts: &mut Facts) {
    let (state, kind) = (&mut fold.codex, facts.kind.as_str());
    let is_inherited = !state.is_legacy && is_inherited;
    let Some(usage) = &mut facts.usage else {
        return;
    };
    let is_record = kind == RECORD;
    // Codex guesses how full the context is of a session that it took over.
    let parts = [usage.output, usage.cache_read, usage.cache_write];
    let is_guess = usage.input == Some(0) && parts.iter().all(|part| part.unwrap_or(0) == 0);
    // A turn that compacts begins with the last count, here with that of the rollout before. What a
    // subagent repeats of its parent's counts stands there as records.
    let is_base = (state.goes_on || is_inherited || is_guess) && !is_record;
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
    fold.count(facts);
    if facts.kind == names::KIND && facts.is_beside {
        fold.name.clone_from(&facts.name);
        fold.header.clone_from(&facts.header);
        return;
    }
    fold.messages += u64::from(facts.is_message && facts.agent_sees);
    fold.take_over(facts);
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
