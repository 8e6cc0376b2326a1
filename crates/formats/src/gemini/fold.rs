//! What a Gemini CLI session is: the fold over its records, and the values that its list shows.
//!
//! The file is a log of what the agent remembers: a message that changed is written again under its
//! id, `$set` may give all messages anew, `$rewindTo` takes the last ones back. Nothing that an
//! earlier line says is forgotten here, and nothing that a later one repeats is taken twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::anew::{Anew, May};
use super::directory::{self, DirectorySearch};
use super::{cut, place, said, text};
use crate::model::{Call, Class, Facts, Fold, Header, SessionFacts};
use crate::parts::parts;
use crate::{SourceFacts, path, stable_hash};

/// So long another model may think about whether the answer is complete; a person reads it.
const GO_ON_MS: u64 = 5000;

/// What is remembered of the lines before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The messages so far.
    messages: BTreeMap<String, Message>,
    /// Calls of tools by their ids: the last message that made them.
    calls: BTreeMap<String, String>,
    /// Those that were answered, with the last message that said so beside its call; `None`: only
    /// one of the answers alone did.
    answers: BTreeMap<String, Option<String>>,
    /// Hashes of what was said so far.
    said: BTreeSet<u64>,
    /// Messages that the last line sets and that stood nowhere before it, or those that the program
    /// writes as it writes what it remembers once more.
    set_anew: BTreeSet<String>,
    /// Hashes of what these say.
    said_anew: Vec<u64>,
    /// Lines that write all of it once more count as one.
    anew: Anew,
    /// When the last message was written, if that is an answer that calls no tool.
    answered_ms: Option<i64>,
    /// A hash of what was typed last.
    typed: Option<u64>,
    /// The last message that the agent remembers.
    last: Option<String>,
    /// Where the session stands, by the entries so far.
    stands: Option<String>,
    /// Somebody said something, its person, a tool or the model: what the program notes is none.
    has_said: bool,
    /// It says itself that it is a subagent's session.
    is_subagent: bool,
    /// The working directory, where what it says proves that.
    cwd: Option<String>,
    /// What was looked at for that.
    looked: DirectorySearch,
}

/// What is remembered of one message, whatever its versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Message {
    /// The one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// An entry says it; else it is only known to come.
    is_told: bool,
    /// A hash of its prose.
    #[serde(skip_serializing_if = "Option::is_none")]
    prose: Option<u64>,
    /// It only repeats what tools gave back: the conversation goes on from the message before it.
    is_copy: bool,
    /// It counts as a message of the conversation.
    is_counted: bool,
    /// It only says under another id what was said before it: so do its later versions.
    #[serde(skip_serializing_if = "crate::model::is_default")]
    repeats_earlier: bool,
    /// The tokens of its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<i64>,
}

impl State {
    /// Whether no entry says this message yet. On taking a session up again the agent also sets
    /// what tools gave back in answers that it knows, as messages of their own.
    pub(super) fn is_new(&self, id: &str) -> bool {
        let is_told = |id| self.messages.get(id).is_some_and(|message| message.is_told);
        !is_told(id) && !id.strip_suffix("_response").is_some_and(is_told)
    }

    /// Notes which messages the agent remembers from here on.
    fn set(&mut self, ids: Vec<String>) {
        self.last = None;
        for id in ids {
            let is_known = self.messages.contains_key(&id);
            if is_known || self.is_new(&id) {
                if !is_known {
                    self.set_anew.insert(id.clone());
                }
                let last = self.last.clone();
                if !self.place(&id, last).is_copy {
                    self.last = Some(id);
                }
            }
        }
    }

    /// The message of that id, which stands behind another one unless its place is known.
    fn place(&mut self, id: &str, before: Option<String>) -> &mut Message {
        let place = || Message {
            before,
            ..Message::default()
        };
        self.messages.entry(id.to_owned()).or_insert_with(place)
    }

    /// Says where the agent stands after a change, if that is not where it stood.
    fn stand(&mut self, facts: &mut Facts) {
        let is_change = matches!(facts.kind.as_str(), "$set" | "$rewindTo");
        let is_told = |id: &String| self.messages.get(id).is_some_and(|message| message.is_told);
        let last = self.on_branch(self.last.clone());
        let last = last.filter(|id| is_change && is_told(id));
        if last.is_some() && last != self.stands {
            facts.stands_at.clone_from(&last);
            self.stands = last;
        }
    }

    /// The message itself, or the one before it where it only repeats what tools gave back: that is
    /// on no branch.
    fn on_branch(&self, mut id: Option<String>) -> Option<String> {
        let of = |id: &Option<String>| id.as_ref().and_then(|id| self.messages.get(id));
        while let Some(copy) = of(&id).filter(|message| message.is_copy) {
            id.clone_from(&copy.before);
        }
        id
    }

    /// Whether a message that a line sets anew is the only one on the branch from there on that has
    /// what tools gave back: what is kept of the answers that called them has the calls alone.
    fn is_only_here(&self, id: &str, facts: &Facts) -> bool {
        let is_in_line = |call: &Call| {
            let of = call.call_id.as_ref().and_then(|id| self.answers.get(id));
            let of = of.and_then(Option::as_ref);
            of.is_some_and(|of| self.set_anew.contains(of))
        };
        self.set_anew.contains(id) && !facts.calls.iter().any(is_in_line)
    }

    /// Notes that what comes is set anew no more.
    fn end_anew(&mut self) {
        self.anew.end();
        self.set_anew.clear();
        self.said.extend(std::mem::take(&mut self.said_anew));
    }

    /// Whether all of a message was said before what is set anew. Messages that follow each other
    /// may be kept as one.
    fn is_known(&self, said: &[u64]) -> bool {
        let is_known = |said: &u64| self.said.contains(said);
        matches!(said, [each @ .., all]
            if is_known(all) || !each.is_empty() && each.iter().all(is_known))
    }

    /// Notes that the agent forgets a message and all behind it; all, if it does not know it.
    fn rewind(&mut self, id: &str) {
        let message = self.messages.get(id);
        self.last = message.and_then(|message| message.before.clone());
    }
}

/// Notes what a line does to what the agent remembers.
pub(super) fn line(state: &mut State, line: &[u8]) {
    let ids = cut::ids(line);
    let rewinds = cut::changes(line, b"\"$rewindTo\"");
    if ids.is_some() || rewinds || !state.anew.is_on() {
        state.end_anew();
    }
    state.anew.line(ids.is_some());
    if let Some(ids) = ids {
        state.set(ids);
    }
    if rewinds && let Some(id) = super::line::read(line, |line| line.rewind_to.owned()) {
        state.rewind(&id);
    }
}

/// Looks in a record for what proves the working directory, while that is not known. Of a line that
/// sets messages, in those that are new.
pub(super) fn prove(state: &mut State, path: &Path, record: &[u8]) -> ControlFlow<Option<String>> {
    if state.cwd.is_some() {
        return ControlFlow::Break(None);
    }
    let hash = directory::hash_of(path).filter(|_| !state.looked.is_enough());
    let Some(hash) = hash else {
        return ControlFlow::Break(None);
    };
    let mut within = cut::line(state, record);
    if within.is_empty() {
        within.push(0..record.len());
    }
    let mut records = within.into_iter().map(|at| &record[at]);
    if let Some(cwd) = records.find_map(|record| state.looked.look(&hash, record)) {
        state.looked = DirectorySearch::default();
        state.cwd = Some(cwd.clone());
        return ControlFlow::Break(Some(cwd));
    }
    if state.looked.is_enough() {
        state.looked.end();
        return ControlFlow::Break(None);
    }
    ControlFlow::Continue(())
}

/// Adds to the facts of a record what follows from those before it.
pub(super) fn relate(state: &mut State, record: &[u8], facts: &mut Facts) {
    let Some(id) = facts.id.clone().filter(|_| facts.agent_sees) else {
        if facts.kind == "session" {
            state.is_subagent |= is_subagents(record);
        }
        state.stand(facts);
        return;
    };
    state.has_said |= facts.role.is_some();
    if state.is_subagent && facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
    }
    relate_typed(state, record, facts);
    relate_go_on(state, record, facts);
    relate_anew(state, &id, record, facts);
    let last = state.on_branch(state.last.clone());
    // A line that sets all messages places them before it is known which of them are copies.
    let before = state.messages.get(&id).map(|known| known.before.clone());
    facts.parent = before.map_or_else(|| last.clone(), |before| state.on_branch(before));
    // Where it was taken back and is said again.
    let is_last = facts.parent == last;
    let message = state.place(&id, last);
    let was_told = message.is_told;
    let is_only_here = state.is_only_here(&id, facts);
    relate_calls(state, &id, facts);
    relate_said(state, &id, record, facts);
    relate_message(state.place(&id, None), record, facts);
    let is_answer = facts.role.as_deref() == Some("toolResult");
    let is_copy = is_answer && !facts.repeats.is_empty() && !is_only_here;
    facts.is_beside = is_copy;
    if is_copy {
        let message = state.place(&id, None);
        message.is_copy = true;
        message.before.clone_from(&facts.parent);
        return;
    }
    if is_last {
        state.last = Some(id.clone());
    }
    if !was_told {
        state.stands = Some(id);
    }
}

/// Whether a header, or the tail of a document, says that the session is a subagent's. Versions
/// that did not give subagents a folder kept their files beside the others.
fn is_subagents(record: &[u8]) -> bool {
    let kind = super::line::read(record, |line| line.session_kind.owned());
    kind.as_deref() == Some("subagent")
}

/// Notes a message of those that are written once more: it is set anew as if all of them stood in
/// one line. The first begins a branch of them, as those that `$set` says alone.
fn relate_anew(state: &mut State, id: &str, record: &[u8], facts: &Facts) {
    let is_told = state.messages.get(id).is_some_and(|known| known.is_told);
    let may = match is_told {
        true => May::Not,
        false => super::line::read(record, May::of).unwrap_or(May::Not),
    };
    if !state.anew.goes_on(may, facts.time_ms) {
        if state.anew.is_on() {
            state.end_anew();
        }
        if !state.anew.begins(may, facts.time_ms) {
            return;
        }
    }
    state.set_anew.insert(id.to_owned());
    let said = words(record);
    let says = !said.is_empty() && !facts.silent;
    let is_known = state.is_known(&said);
    if state.anew.add(facts.time_ms, says, is_known) {
        state.last = None;
    }
}

/// Of what a hook says, which has the prompt before it beside it once more, leaves out the prompt.
fn relate_typed(state: &mut State, record: &[u8], facts: &mut Facts) {
    let typed = facts.user_text.as_ref().filter(|_| facts.is_message);
    let Some(typed) = typed.map(|typed| stable_hash::of([typed.as_bytes()])) else {
        return;
    };
    let is_beside = || super::line::read(record, said::is_beside);
    if state.typed == Some(typed) && is_beside() == Some(true) {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
        facts.user_text = None;
        facts.repeats.push(Class::Prose);
    }
    state.typed = Some(typed);
}

/// What the program says to a model that stopped too early, soon after that answer, is not typed.
fn relate_go_on(state: &mut State, record: &[u8], facts: &mut Facts) {
    let gap = state.answered_ms.zip(facts.time_ms);
    let is_soon = gap.is_some_and(|(answered, now)| now.abs_diff(answered) <= GO_ON_MS);
    let is_answer = facts.role.as_deref() == Some("assistant") && facts.calls.is_empty();
    state.answered_ms = facts.time_ms.filter(|_| is_answer);
    let goes_on = || super::line::read(record, |line| Some(said::goes_on(line)));
    if is_soon && facts.is_message && goes_on() == Some(true) {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
        facts.user_text = None;
    }
}

/// Leaves out what an earlier version of the message says.
fn relate_message(message: &mut Message, record: &[u8], facts: &mut Facts) {
    let prose = prose(record);
    if message.is_told && prose.is_some() && prose == message.prose {
        facts.repeats.push(Class::Prose);
    }
    message.prose = prose.or(message.prose);
    message.is_told = true;
    if message.tokens.is_some() {
        facts.usage = None;
    }
    let tokens = facts.usage.as_ref().and_then(|usage| usage.total);
    message.tokens = message.tokens.or(tokens);
    let was_counted = message.is_counted;
    message.is_counted |= facts.is_message;
    facts.is_message &= !was_counted;
}

/// Of a message that a line sets anew leaves out what was said before that line: a compression
/// keeps prompts, answers and calls under new ids.
fn relate_said(state: &mut State, message: &str, record: &[u8], facts: &mut Facts) {
    let said = words(record);
    if !state.set_anew.contains(message) {
        facts.is_message &= !state.place(message, None).repeats_earlier;
        state.said.extend(said);
        return;
    }
    let repeats_earlier = match said.is_empty() {
        true => facts.repeats.contains(&Class::Output),
        false => state.is_known(&said),
    };
    if repeats_earlier {
        state.place(message, None).repeats_earlier = true;
        facts.is_message = false;
        facts.repeats.extend(said.first().map(|_| Class::Prose));
    }
    state.said_anew.extend(said);
}

/// Leaves out calls and answers that an earlier version of the message says, or, of answers, a
/// message of them alone. Some models number the calls of each message from the start.
fn relate_calls(state: &mut State, message: &str, facts: &mut Facts) {
    if facts.calls.is_empty() {
        return;
    }
    // A user's message calls no tools; what was typed while they ran may stand beside the answers.
    let is_of_answers = matches!(
        facts.role.as_deref(),
        Some("toolResult" | "user" | "injected")
    );
    // A later version of a message that was kept of the conversation.
    let is_later = !state.set_anew.contains(message) && state.place(message, None).repeats_earlier;
    facts
        .calls
        .retain(|call| match (&call.call_id, call.is_result) {
            (Some(id), false) if is_later && state.calls.contains_key(id) => false,
            (Some(id), true) if is_later && state.answers.contains_key(id) => false,
            // One that was kept of the conversation.
            (Some(id), false) if repeats_call(&state.set_anew, message, state.calls.get(id)) => {
                false
            }
            (Some(id), false) => {
                let known = state.calls.insert(id.clone(), message.to_owned());
                known.as_deref() != Some(message)
            }
            (Some(id), true) if is_of_answers => match state.answers.contains_key(id) {
                true => false,
                false => state.answers.insert(id.clone(), None).is_none(),
            },
            (Some(id), true) => {
                let known = state.answers.insert(id.clone(), Some(message.to_owned()));
                known.is_none_or(|of| of.is_some_and(|of| of != message))
            }
            (None, _) => true,
        });
    let has_failed = facts.calls.iter().any(|call| call.is_error == Some(true));
    facts.is_error = has_failed || facts.kind == "error";
    if facts.calls.is_empty() {
        facts.repeats.push(Class::Output);
        facts.files.clear();
    }
}

/// Whether a message of a line that sets all anew repeats a call of a message before that line.
fn repeats_call(set_anew: &BTreeSet<String>, message: &str, of: Option<&String>) -> bool {
    set_anew.contains(message) && of.is_some_and(|of| !set_anew.contains(of))
}

/// Hashes of who speaks in a record and of each text that is said to the model, or by it, without
/// thoughts and without the context before another text, and last of all of them together; none
/// where it has no text.
fn words(record: &[u8]) -> Vec<u64> {
    super::line::read(record, |line| {
        let content = parts(&line.content)?;
        let said = content.iter().filter(|part| part.thought.0 != Some("true"));
        let mut texts: Vec<_> = said.filter_map(|part| part.text.text()).collect();
        if texts.len() > 1 && said::is_context(&texts[0]) {
            texts.remove(0);
        }
        let who = line.kind.as_str().unwrap_or_default().as_bytes();
        let hash = |text: &str| stable_hash::of([who, text.as_bytes()]);
        let all = texts.concat();
        let each = texts.iter().map(|text| text.trim());
        let all = Some(all.trim()).filter(|all| !all.is_empty());
        let mut said: Vec<u64> = each
            .chain(all)
            .filter(|t| !t.is_empty())
            .map(hash)
            .collect();
        // Of a single text, it and all are the same.
        said.dedup();
        Some(said)
    })
    .unwrap_or_default()
}

/// A hash of all prose of a record; `None` where it has none.
fn prose(record: &[u8]) -> Option<u64> {
    let passages = text::passages(record);
    let prose = passages
        .iter()
        .find(|passage| passage.class == Class::Prose)?;
    Some(stable_hash::of(prose.pieces.iter().map(String::as_bytes)))
}

/// Add one record, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
    }
    if !facts.agent_sees {
        return;
    }
    // A second one stands where the session was taken up again.
    if fold.header.is_none() {
        fold.header.clone_from(&facts.header);
    }
    if let Some(name) = &facts.name {
        fold.name = Some(name.clone()).filter(|name| !name.is_empty());
    }
    fold.leaf.clone_from(&fold.gemini.stands);
    fold.take_over(facts);
    fold.messages += u64::from(facts.is_message);
    fold.note_said(facts);
}

/// The values of the list. A session may lie there in several files: as the document that it was
/// and as the log into which that was copied, and with another log for each time when it was taken
/// up again, which mostly holds nothing.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.first() else {
        return SessionFacts::default();
    };
    let newest_first = || {
        let mut sources: Vec<_> = sources.iter().collect();
        sources.sort_by_key(|source| std::cmp::Reverse(source.fold.last_entry_ms));
        sources.into_iter()
    };
    let first = |of: fn(&Fold) -> Option<String>| newest_first().find_map(|s| of(s.fold));
    let headers = sources
        .iter()
        .filter_map(|source| source.fold.header.clone());
    let header = headers.min_by_key(|header| header.created_ms.unwrap_or(i64::MAX));
    let parent = place::parent_session(source.relative);
    // Versions that kept subagents beside the others gave both one id: what the person's file says
    // counts.
    let is_subagents = |source: &SourceFacts<'_>| source.fold.gemini.is_subagent;
    let is_persons =
        |source: &SourceFacts<'_>| source.fold.header.is_some() && !is_subagents(source);
    let is_subagent =
        parent.is_some() || sources.iter().any(is_subagents) && !sources.iter().any(is_persons);
    let hidden = hidden(sources, header.as_ref(), is_subagent);
    let header = header.unwrap_or_default();
    let (messages, tokens) = counted(sources);
    // What several files say is mostly the same.
    let errors = sources.iter().map(|source| source.fold.errors);
    SessionFacts {
        id: header.id.unwrap_or_else(|| path::stem(source.relative)),
        cwd: first(|fold| fold.cwd_beside.clone())
            .or_else(|| first(|fold| fold.gemini.cwd.clone()))
            .unwrap_or_default(),
        name: first(|fold| fold.name.clone()),
        parent_session: parent,
        created_raw: header.created_raw,
        created_ms: header.created_ms,
        modified_ms: sources
            .iter()
            .filter_map(|source| source.fold.last_entry_ms)
            .max()
            .unwrap_or(source.mtime_ms),
        message_count: messages,
        first_message: sources.iter().find_map(|s| s.fold.first_message.clone()),
        typed: sources.iter().find_map(|source| source.fold.typed.clone()),
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        leaf: first(|fold| fold.leaf.clone()),
        model: first(|fold| fold.model.clone()),
        tokens,
        error_count: errors.max().unwrap_or_default(),
        is_subagent,
        hidden,
        ..SessionFacts::default()
    }
}

/// Messages and tokens, those of a message once.
fn counted(sources: &[SourceFacts<'_>]) -> (u64, Option<i64>) {
    if let [source] = sources {
        return (source.fold.messages, source.fold.tokens);
    }
    let mut all: BTreeMap<&str, &Message> = BTreeMap::new();
    for source in sources {
        for (id, message) in &source.fold.gemini.messages {
            let known = all.entry(id).or_insert(message);
            if known.tokens.is_none() && message.tokens.is_some() {
                *known = message;
            }
        }
    }
    let messages = all.values().filter(|message| message.is_counted).count();
    let tokens = all.values().filter_map(|message| message.tokens);
    (messages as u64, tokens.reduce(i64::saturating_add))
}

/// Why Gemini CLI's own list does not show the session.
fn hidden(
    sources: &[SourceFacts<'_>],
    header: Option<&Header>,
    is_subagent: bool,
) -> Option<String> {
    if is_subagent {
        return Some("a subagent's session".to_owned());
    }
    if let Some(reason) = sources.iter().find_map(|source| source.unlisted) {
        return Some(reason.to_owned());
    }
    let entries: u64 = sources.iter().map(|source| source.fold.entries).sum();
    let problem = sources.iter().find_map(|source| source.problems.1);
    match (header, entries, problem) {
        (Some(_), ..) if !sources.iter().any(|s| s.fold.gemini.has_said) => {
            Some("no messages".to_owned())
        }
        (Some(_), ..) => None,
        (None, 0, None) => Some("empty file".to_owned()),
        (None, _, Some(reason)) => Some(format!("no session header ({reason})")),
        (None, ..) => Some("no session header".to_owned()),
    }
}
