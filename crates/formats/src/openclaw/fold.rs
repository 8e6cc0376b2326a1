//! What an OpenClaw session is: the fold over its lines and rows, and the values of its list.
//!
//! A key (`agent:main:main`) has one session after the other: each reset begins a new one. The list
//! shows the one that each key has now.

use std::mem::take;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::anew::Anew;
use super::called;
use super::facts::INJECTED;
use super::leaves::{self, Leaves};
use super::names::Named;
use super::place::{self, Kind, Name};
use super::rows::{self, Row};
use super::typed::Message;
use super::{PI, line, own};
use crate::model::{Facts, Fold, Header, SessionFacts};
use crate::{Format, SourceFacts};

/// What the rows beside a transcript say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    window: Option<Box<Window>>,
    node: Option<Box<Node>>,
    /// The session that the key has now which started this one.
    starter: Option<String>,
    /// The session, and why it was put away.
    put_away: Option<(String, String)>,
    /// What its first message asks of a subagent, if it does.
    task: Option<String>,
    /// How its first message begins, as it was said.
    begins: Option<String>,
    /// Where the session stands.
    leaf: Option<String>,
    /// Whether its last `leaf` line selects nothing, and no entry came behind it.
    stands_nowhere: bool,
    /// Lines that say where it stood before.
    leaves: Leaves,
    anew: Anew,
}

/// A row of `session_windows`; of one that was put away what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Window {
    id: Option<String>,
    key: Option<String>,
    created_ms: Option<i64>,
    updated_ms: Option<i64>,
    previous: Option<String>,
    reason: Option<String>,
    channel: Option<String>,
    account: Option<String>,
    harness: Option<String>,
    spawned_by: Option<String>,
    display_name: Option<String>,
}

/// A row of `session_nodes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Node {
    current: Option<String>,
    label: Option<String>,
    display_name: Option<String>,
    archived_ms: Option<i64>,
    spawned_by: Option<String>,
    fork_of: Option<String>,
    fork_entry: Option<String>,
}

impl State {
    fn note(&mut self, kind: rows::Kind, row: &Row<'_>) {
        match kind {
            rows::Kind::Window => self.window = Some(Box::new(window(row))),
            rows::Kind::Node if row.session_key.as_str() == self.key() => {
                self.node = Some(Box::new(node(row)));
            }
            rows::Kind::Node => self.starter = row.current_session_id.owned(),
            rows::Kind::Archive => {
                self.window.get_or_insert_with(|| {
                    Box::new(Window {
                        updated_ms: None,
                        created_ms: None,
                        ..window(row)
                    })
                });
                let id = row.session_id.shown().unwrap_or_default();
                self.put_away = Some((id, row.reason.owned().unwrap_or_default()));
            }
            rows::Kind::Index => self.leaf = rows::stands_at(kind, row),
            rows::Kind::Other => {}
        }
    }

    /// Notes how the first message begins, by which OpenClaw may call the session: the first that
    /// is not another session's (source, `readFirstUserMessageFromTranscript`).
    fn note_beginning(&mut self, record: &[u8], facts: &Facts) {
        let is_said = matches!(facts.role.as_deref(), Some("user" | "injected"));
        if self.begins.is_some()
            || !(facts.is_message && is_said)
            || memchr::memmem::find(record, b"\"inter_session\"").is_some()
        {
            return;
        }
        let said = PI.facts(record).user_text;
        self.begins = said.and_then(|said| called::beginning(&said));
    }

    /// Whether a name is one that OpenClaw made of the first message.
    fn is_beginning(&self, name: &str) -> bool {
        let begins = self.begins.as_deref();
        begins.is_some_and(|begins| called::is_beginning(name, begins))
    }

    fn key(&self) -> Option<&str> {
        self.window.as_ref()?.key.as_deref()
    }

    fn is_subagent(&self) -> bool {
        let none = (Window::default(), Node::default());
        let window = self.window.as_deref().unwrap_or(&none.0);
        is_subagent(window, self.node.as_deref().unwrap_or(&none.1))
    }
}

/// The key that started a session.
fn spawned_by<'s>(window: &'s Window, node: &'s Node) -> Option<&'s str> {
    node.spawned_by.as_deref().or(window.spawned_by.as_deref())
}

fn is_subagent(window: &Window, node: &Node) -> bool {
    let is_key = |key: &String| key.contains(":subagent:");
    spawned_by(window, node).is_some() || window.key.as_ref().is_some_and(is_key)
}

fn window(row: &Row<'_>) -> Window {
    Window {
        id: row.session_id.shown(),
        key: row.session_key.owned(),
        created_ms: row.created_at.0,
        updated_ms: row.updated_at.0,
        previous: row.previous_session_id.owned(),
        reason: row.reason.owned(),
        channel: row.channel.owned(),
        account: row.account_id.owned(),
        harness: row.agent_harness_id.owned(),
        spawned_by: row.spawned_by.owned(),
        display_name: row.display_name.owned(),
    }
}

fn node(row: &Row<'_>) -> Node {
    Node {
        current: row.current_session_id.owned(),
        label: row.label.owned(),
        display_name: row.display_name.owned(),
        archived_ms: row.archived_at.0,
        spawned_by: row.spawned_by.owned(),
        fork_of: row.fork_source_session_id.owned(),
        fork_entry: row.fork_source_entry_id.owned(),
    }
}

/// Notes what a row says, and takes from a person what only the agent above a subagent said.
pub(super) fn relate(fold: &mut Fold, record: &[u8], facts: &mut Facts) {
    let is_first = fold.messages == 0;
    let state = &mut fold.openclaw;
    if rows::is_row(&facts.kind) {
        let noted = rows::read(record, |_, kind, row| {
            let mut noted = state.clone();
            noted.note(kind, row);
            noted
        });
        *state = noted.unwrap_or_default();
        return;
    }
    // What agents drop moves nothing, and repeats nothing.
    if facts.agent_sees {
        if is_without_parent(record, facts) {
            facts.parent.clone_from(&fold.leaf);
        }
        state.note_beginning(record, facts);
        state.leaves.relate(facts);
        state.anew.relate(record, facts);
    }
    if is_first && facts.is_message && facts.role.as_deref() == Some("injected") {
        state.task = task(record);
    }
    if state.is_subagent() && facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
        facts.user_text = None;
    }
}

/// Whether an entry is an answer of OpenClaw's own that does not say from which entry it goes on
/// (2026.1.24): to a command that ran no model, and what was injected.
fn is_without_parent(record: &[u8], facts: &Facts) -> bool {
    let is_injected = facts.stop_reason.as_deref() == Some(INJECTED);
    let says_none = || line::read(record, |line| Some(line.parent_id.0.is_none()));
    is_injected && facts.parent.is_none() && says_none() == Some(true)
}

/// What a line asks of a subagent, if it is the first message to one.
fn task(record: &[u8]) -> Option<String> {
    memchr::memmem::find(record, b"[Subagent Context]")?;
    let said = PI.facts(record).user_text?;
    own::task(&Message::of(&said).typed).map(str::to_owned)
}

/// Add one line or row, in order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    if rows::is_row(&facts.kind) {
        fold.entries += 1;
        return;
    }
    let before = fold.leaf.clone();
    let counted = (fold.messages, fold.errors, fold.tokens, fold.cost);
    PI.fold(fold, facts);
    let anew = &mut fold.openclaw.anew;
    let (is_aside, is_again) = (take(&mut anew.is_aside), take(&mut anew.is_again));
    if leaves::is_leaf(facts) && facts.agent_sees {
        fold.leaf.clone_from(&facts.parent);
        fold.openclaw.stands_nowhere = facts.parent.is_none();
    } else if is_aside {
        fold.leaf = before;
    }
    if is_again {
        (fold.messages, fold.errors, fold.tokens, fold.cost) = counted;
    }
}

/// What of a session's sources says most of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Rows,
    Live,
    PutAway,
    File(Kind),
}

fn rank(source: &SourceFacts<'_>, name: Option<Name<'_>>) -> Rank {
    let state = &source.fold.openclaw;
    match (state.put_away.is_some(), name.map(|name| name.kind)) {
        (true, _) => Rank::PutAway,
        (_, None) => Rank::Rows,
        (_, Some(Kind::Live)) => Rank::Live,
        (_, Some(kind)) => Rank::File(kind),
    }
}

/// The values of the list.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    // Of several put away at other times the last.
    let mut ranked: Vec<_> = sources.iter().rev().collect();
    ranked.sort_by_key(|source| rank(source, place::name(source.relative)));
    let Some(source) = ranked.first() else {
        return SessionFacts::default();
    };
    let (fold, state) = (source.fold, &source.fold.openclaw);
    let name = place::name(source.relative);
    let named = named(fold);
    let beside = beside(&named);
    let window = state.window.as_deref().unwrap_or(&beside.0);
    let node = state.node.as_deref().unwrap_or(&beside.1);
    let header = fold.header.clone().or_else(|| fold.late_header.clone());
    let header = header.unwrap_or_default();
    let id = window.id.clone();
    let id = id.or_else(|| name.map(|name| name.session.to_owned()));
    let id = id.or_else(|| header.id.clone()).unwrap_or_default();
    let own = own(window, node);
    // A key that was forked has one session that began so, and those after its resets.
    let fork_of = node.fork_of.clone().filter(|_| window.previous.is_none());
    let starter = state.starter.clone();
    let starter = starter.or_else(|| named.starter_before(header.created_ms));
    SessionFacts {
        cwd: header.cwd.clone().unwrap_or_default(),
        name: name_of(fold, window, node),
        // One that names itself comes from nothing.
        parent_session: (fork_of.or(starter).or_else(|| origin(&header))).filter(|of| *of != id),
        created_raw: header.created_raw.clone(),
        created_ms: header.created_ms.or(window.created_ms),
        modified_ms: modified(source, window, &header),
        first_message: first_message(fold, window),
        typed: fold.typed.clone().filter(|_| asked_of(fold).is_none()),
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        version: header.version,
        leaf: (ranked.iter())
            .find_map(|source| stands_at(source.fold))
            .flatten(),
        is_subagent: state.task.is_some() || is_subagent(window, node),
        hidden: hidden(source, window, node, &id),
        own,
        id,
        ..SessionFacts::of(fold)
    }
}

/// What somebody named the session, or its key.
fn name_of(fold: &Fold, window: &Window, node: &Node) -> Option<String> {
    let given = |name: &&String| !fold.openclaw.is_beginning(name);
    let names = [
        node.display_name.as_ref().filter(given),
        node.label.as_ref(),
        window.display_name.as_ref().filter(given),
        fold.name.as_ref(),
    ];
    let mut names = names.into_iter().flatten();
    names.find(|name| !name.trim().is_empty()).cloned()
}

/// What a subagent is asked by its first message, if anything: it is called so whatever is typed
/// in its session later.
fn asked_of(fold: &Fold) -> Option<&String> {
    let task = fold.openclaw.task.as_ref();
    task.filter(|task| !task.is_empty())
}

/// Of a subagent what it is to do, else what was typed first, else the key.
fn first_message(fold: &Fold, window: &Window) -> Option<String> {
    let task = asked_of(fold).cloned();
    let first = task.or_else(|| fold.first_message.clone());
    first.or_else(|| window.key.clone())
}

/// Of a file what `sessions.json` says of it.
fn named(fold: &Fold) -> Named {
    let named = fold.named_beside.as_deref();
    named.map(Named::read).unwrap_or_default()
}

fn beside(named: &Named) -> (Window, Node) {
    let window = Window {
        key: named.key.clone(),
        spawned_by: named.spawned_by.clone(),
        ..Window::default()
    };
    let node = Node {
        display_name: named.display_name.clone(),
        label: named.label.clone(),
        ..Node::default()
    };
    (window, node)
}

/// The session of which it is a copy by its header, as pi says it.
fn origin(header: &Header) -> Option<String> {
    let origin = place::named(header.parent_session.as_deref()?)?;
    Some(origin.to_owned()).filter(|origin| Some(origin) != header.id.as_ref())
}

/// The entry at which the session stands, if any; `None`: the source does not say.
fn stands_at(fold: &Fold) -> Option<Option<String>> {
    let state = &fold.openclaw;
    let leaf = state.leaf.as_ref().or(fold.leaf.as_ref());
    match leaf {
        None if !state.stands_nowhere => None,
        leaf => Some(leaf.cloned()),
    }
}

/// When it was last changed, as the agent's list says; of a file the time of its last message.
fn modified(source: &SourceFacts<'_>, window: &Window, header: &Header) -> i64 {
    let known = window.updated_ms.or(source.fold.last_message_ms);
    known.or(header.created_ms).unwrap_or(source.mtime_ms)
}

fn own(window: &Window, node: &Node) -> Option<String> {
    let mut own = Map::new();
    for (name, value) in [
        ("session_key", window.key.as_deref()),
        ("reason", window.reason.as_deref()),
        ("previous_session_id", window.previous.as_deref()),
        ("channel", window.channel.as_deref()),
        ("account_id", window.account.as_deref()),
        ("agent_harness_id", window.harness.as_deref()),
        ("spawned_by", spawned_by(window, node)),
        ("fork_source_entry_id", node.fork_entry.as_deref()),
    ] {
        own.extend(value.map(|value| (name.to_owned(), Value::from(value))));
    }
    if let Some(archived) = node.archived_ms {
        own.insert("archived_at".to_owned(), archived.into());
    }
    (!own.is_empty()).then(|| Value::Object(own).to_string())
}

/// Why OpenClaw's own list does not show the session.
fn hidden(source: &SourceFacts<'_>, window: &Window, node: &Node, id: &str) -> Option<String> {
    let state = &source.fold.openclaw;
    if let Some((_, reason)) = &state.put_away {
        return Some(reason.clone());
    }
    if let Some(reason) = source.unlisted {
        return Some(reason.to_owned());
    }
    let current = node.current.as_deref();
    // A file of names that does not name it.
    let is_nameless = source.fold.named_beside.is_some() && window.key.is_none();
    let hidden = match () {
        () if state.task.is_some() || is_subagent(window, node) => "a subagent's session",
        () if node.archived_ms.is_some() => "archived",
        () if current.is_some_and(|current| current != id) => "another session followed it",
        () if is_nameless => "no key leads to it any more",
        () if source.fold.entries == 0 && source.problems.0 == 0 => "empty file",
        () => return None,
    };
    Some(hidden.to_owned())
}
