//! What an agentuse session is: a fold over each of its documents, and the values agentuse's list
//! shows.

use std::collections::BTreeMap;

use super::{header, place};
use crate::SourceFacts;
use crate::model::{Facts, Fold, SessionFacts, SourcePart, sum, sum_costs};
use crate::path::name;

/// Add one document.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    // `message_ms` is when the document says it was done.
    fold.last_entry_ms = fold.last_entry_ms.max(facts.message_ms);
    fold.leaf = facts.id.clone();
    if let Some(usage) = facts.usage.as_ref().or(facts.step.as_deref()) {
        fold.add_usage(usage);
    }
    if !facts.agent_sees {
        if fold.late_header.is_none() {
            fold.late_header = facts.header.clone();
        }
        return;
    }
    if facts.header.is_some() {
        fold.header = facts.header.clone();
        fold.name = facts.name.clone();
    }
    if facts.model.is_some() {
        fold.provider = facts.provider.clone();
        fold.model = facts.model.clone();
    }
    if facts.is_message {
        fold.messages += 1;
        fold.first_message = facts.user_text.clone();
        fold.note_typed(facts);
        fold.last_message_ms = facts.time_ms;
    }
}

/// The values of the list.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let main = sources
        .iter()
        .find(|source| source.part == SourcePart::Main);
    let header = main.and_then(|main| main.fold.header.clone());
    // Without one agentuse goes by the folder's name.
    let folder = sources.first().map(home).unwrap_or_default();
    let folder_id = || place::session_id(&folder).unwrap_or(&folder).to_owned();
    let unread = main.and_then(|main| main.fold.late_header.clone());
    let by_time = |source: &&SourceFacts<'_>| source.fold.last_message_ms;
    let messages = || sources.iter().filter(|source| source.fold.messages > 0);
    let spent = TokenTotals::of(sources);
    let model = main
        .filter(|main| main.fold.model.is_some())
        .or_else(|| messages().max_by_key(by_time));
    let last_ms = sources
        .iter()
        .filter_map(|source| source.fold.last_entry_ms)
        .max();
    let is_read = header.is_some();
    let header = header.unwrap_or_default();
    SessionFacts {
        id: match header.id {
            Some(id) => id,
            None => folder_id(),
        },
        cwd: header
            .cwd
            .or_else(|| unread.and_then(|header| header.cwd))
            .unwrap_or_default(),
        name: if is_read {
            main.and_then(|main| main.fold.name.clone())
        } else {
            Some(place::agent_name(&folder).to_owned()).filter(|name| !name.is_empty())
        },
        parent_session: header.parent_session,
        created_raw: header.created_raw,
        created_ms: header.created_ms,
        modified_ms: last_ms
            .or_else(|| sources.iter().map(|source| source.mtime_ms).max())
            .unwrap_or_default(),
        message_count: messages().count() as u64,
        first_message: earliest(sources, |fold| fold.first_message.clone()),
        typed: earliest(sources, |fold| fold.typed.clone()),
        entry_count: sources.iter().map(|source| source.fold.entries).sum(),
        leaf: sources
            .iter()
            .filter(|source| source.part != SourcePart::Main)
            .max_by_key(|source| source.fold.last_entry_ms)
            .and_then(|source| source.fold.leaf.clone()),
        model: model.and_then(|source| source.fold.model.clone()),
        provider: model.and_then(|source| source.fold.provider.clone()),
        tokens: spent.tokens,
        cost: spent.cost,
        error_count: sources.iter().map(|source| source.fold.errors).sum(),
        is_subagent: is_subagent(header.own.as_deref()),
        hidden: hidden(main, header.own.as_deref()),
        own: header.own.or_else(|| main.map(own_of_unread)),
        ..SessionFacts::default()
    }
}

/// What the earliest message that has it says.
fn earliest(sources: &[SourceFacts<'_>], of: fn(&Fold) -> Option<String>) -> Option<String> {
    let messages = sources.iter().filter(|source| source.fold.messages > 0);
    messages
        .filter_map(|source| Some((source.fold.last_message_ms, of(source.fold)?)))
        .min_by_key(|&(at_ms, _)| at_ms)
        .map(|(_, text)| text)
}

/// The name of the session's folder: what is left of a file's path without its own place in the
/// folder.
fn home(source: &SourceFacts<'_>) -> String {
    let path = source.relative;
    let folder = path.ancestors().skip(1).find(|folder| {
        place::session_id(&name(folder)).is_some() && name(folder).len() > 26
            || matches!(place::folder(folder).as_ref(), "session" | "subagent")
    });
    match folder {
        Some(folder) => name(folder).into_owned(),
        None => place::folder(path).into_owned(),
    }
}

/// By the names of the session's folder and of the project's.
fn own_of_unread(source: &SourceFacts<'_>) -> String {
    let project = source
        .relative
        .ancestors()
        .find(|folder| name(folder) == "session")
        .map(place::folder)
        .unwrap_or_default();
    let home = home(source);
    header::own_of_unread(place::agent_name(&home), &project)
}

/// Tokens and cost of a session. Totals of a message win over those of its steps.
#[derive(Default)]
struct TokenTotals {
    tokens: Option<i64>,
    cost: Option<f64>,
}

impl TokenTotals {
    fn of(sources: &[SourceFacts<'_>]) -> TokenTotals {
        let mut messages: BTreeMap<String, [TokenTotals; 2]> = BTreeMap::new();
        for source in sources
            .iter()
            .filter(|source| source.part == SourcePart::Side)
        {
            if source.fold.tokens.is_none() && source.fold.cost.is_none() {
                continue;
            }
            let message = place::message(source.relative).unwrap_or_default();
            let of =
                &mut messages.entry(message).or_default()[usize::from(source.fold.messages == 0)];
            of.tokens = sum([of.tokens, source.fold.tokens]);
            of.cost = sum_costs([of.cost, source.fold.cost]);
        }
        let mut spent = TokenTotals::default();
        for [total, steps] in messages.into_values() {
            // A message begins with zeros: they are no total yet.
            let tokens = total.tokens.filter(|tokens| *tokens != 0);
            let cost = total.cost.filter(|cost| *cost != 0.0);
            spent.tokens = sum([spent.tokens, tokens.or(steps.tokens).or(total.tokens)]);
            spent.cost = sum_costs([spent.cost, cost.or(steps.cost).or(total.cost)]);
        }
        spent
    }
}

/// Why agentuse's own list does not show the session. What it cannot read it lists all the same.
fn hidden(main: Option<&SourceFacts<'_>>, own: Option<&str>) -> Option<String> {
    let Some(main) = main else {
        return Some("no session.json".to_owned());
    };
    if let Some(reason) = main.unlisted {
        return Some(reason.to_owned());
    }
    is_subagent(own).then(|| "a subagent's session".to_owned())
}

fn is_subagent(own: Option<&str>) -> bool {
    // Written by ourselves, keys sorted and without spaces.
    own.is_some_and(|own| own.contains(r#""isSubAgent":true"#))
}
