//! What is a thread in the list? What its rollouts and the files beside them come to.

use super::names::NamedIn;
use super::place::thread_in;
use crate::model::{Base, Fold, SessionFacts, SourcePart, merged};
use crate::{SourceFacts, json, path};

/// What a paginated rollout says that it is, as JSON.
const PAGINATED: &str = "\"paginated\"";

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
    let pinned = in_database.and_then(|fold| fold.header.as_ref()?.own.clone());
    if session.own.is_some() {
        session.own = merged(session.own.take(), pinned);
    }
}

fn of_pages(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let (Some(first), Some(last)) = (sources.first(), sources.last()) else {
        return SessionFacts::default();
    };
    let folds = || sources.iter().map(|source| source.fold);
    let header = folds()
        .find_map(|fold| fold.header.clone())
        .unwrap_or_default();
    let name = path::name(first.relative);
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
pub(super) fn is_subagent(own: Option<&str>) -> bool {
    let member = |key| own.and_then(|own| json::member(own, key));
    member("thread_source") == Some("\"subagent\"")
        || member("source").is_some_and(|source| json::member(source, "subagent").is_some())
}

/// Whether its model started it, by a tool, and may have handed its history on.
pub(super) fn is_spawned(own: Option<&str>) -> bool {
    let source = own.and_then(|own| json::member(own, "source"));
    let subagent = source.and_then(|source| json::member(source, "subagent"));
    subagent.is_some_and(|subagent| json::member(subagent, "thread_spawn").is_some())
}

/// Whether a header with these fields begins a legacy rollout.
pub(super) fn is_legacy(own: Option<&str>) -> bool {
    let field = |name| own.and_then(|own| json::member(own, name));
    field("history_mode") != Some(PAGINATED) && field("history_base").is_none()
}

/// What a fork of a paginated rollout goes on from. A page names the one before it so too; pages
/// are one session anyhow.
pub(super) fn base(own: &str) -> Option<Base> {
    let base = json::member(own, "history_base")?;
    Some(Base {
        session: json::unquote(json::member(base, "thread_id")?).into_owned(),
        end: json::member(base, "end_byte_offset")?.parse().ok()?,
    })
}
