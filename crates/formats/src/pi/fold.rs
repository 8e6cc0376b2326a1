//! What a pi session is: the fold over its lines, and the values pi's list shows of it.

use super::subagents;
use crate::model::{Facts, Fold, Header, SessionFacts, SourcePart};
use crate::{SourceFacts, json, path};

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    let first = fold.seen == 0;
    fold.count(facts);
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
    }
    if !facts.agent_sees {
        keep_late_header(fold, facts);
        return;
    }

    if first && facts.kind == "session" {
        fold.header = facts.header.clone();
        fold.provider = facts.provider.clone();
        fold.model = facts.model.clone();
        return;
    }
    if let Some(reason) = &facts.breaks_list {
        fold.hidden.get_or_insert_with(|| reason.clone());
    }
    if first {
        fold.hidden
            .get_or_insert_with(|| "first record is no session header".to_owned());
    }
    if facts.header.is_some() {
        keep_late_header(fold, facts);
        return;
    }

    // Nothing goes on from an entry without an id. Into the text that is there: this is done for
    // every line.
    if facts.id.is_some() {
        fold.leaf.clone_from(&facts.id);
    }
    if let Some(name) = &facts.name {
        fold.name = (!name.is_empty()).then(|| name.clone());
    }
    // model_change and answers; a usage entry tells of another model's work beside the talk.
    if facts.model.is_some() && facts.kind != "usage" {
        fold.provider.clone_from(&facts.provider);
        fold.model.clone_from(&facts.model);
    }
    if facts.thinking_level.is_some() {
        fold.thinking_level.clone_from(&facts.thinking_level);
    }
    if facts.is_message {
        fold.messages += 1;
    }
    if facts.moves_modified {
        let time = facts.message_ms.or(facts.time_ms);
        fold.last_message_ms = fold.last_message_ms.max(time);
    }
    fold.note_said(facts);
}

fn keep_late_header(fold: &mut Fold, facts: &Facts) {
    if fold.header.is_none() && fold.late_header.is_none() {
        fold.late_header = facts.header.clone();
    }
}

/// The values of the list, as pi's own has them, from the session's own file.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources
        .iter()
        .find(|source| source.part == SourcePart::Main)
        .or(sources.first())
    else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let header = fold.header.clone().or_else(|| fold.late_header.clone());
    let (id, header) = match header {
        Some(header) => (header.id.clone().unwrap_or_default(), header),
        None => (path::stem(source.relative), Default::default()),
    };
    let started_by = subagents::parent(source.relative);
    // Only a header's time that is a string counts.
    let header_ms = header.created_raw.as_deref().and_then(json::date_ms);
    // Where entries are one line, no id tells where it stands.
    let leaf = fold.leaf.clone();
    let leaf = leaf.filter(|_| !super::is_one_line(header.version));
    SessionFacts {
        id,
        parent_session: started_by.clone().or_else(|| parent(&header)),
        cwd: header.cwd.unwrap_or_default(),
        created_raw: header.created_raw,
        created_ms: header.created_ms,
        modified_ms: fold
            .last_message_ms
            .or(header_ms)
            .unwrap_or(source.mtime_ms),
        typed: fold.typed.clone().filter(|_| started_by.is_none()),
        version: header.version,
        leaf,
        is_subagent: started_by.is_some(),
        hidden: hidden(source),
        own: header.own,
        ..SessionFacts::of(fold)
    }
}

/// The parent that a header names, in `branchedFrom` where it is in no other member.
fn parent(header: &Header) -> Option<String> {
    header.parent_session.clone().or_else(|| {
        let own: serde_json::Value = serde_json::from_str(header.own.as_deref()?).ok()?;
        own["branchedFrom"].as_str().map(str::to_owned)
    })
}

/// Why pi's own list does not show the session: for what stands in the file, else for where it
/// lies. Whatever lies elsewhere and is whole pi opens by its path (see [`super::opens`]).
fn hidden(source: &SourceFacts<'_>) -> Option<String> {
    let fold = source.fold;
    if fold.hidden.is_some() {
        return fold.hidden.clone();
    }
    match (&fold.header, fold.entries, source.problems) {
        (Some(header), ..) => source.unlisted.map(|place| match header.id_is_string {
            true => place.to_owned(),
            false => "its id is no text".to_owned(),
        }),
        (None, 0, (0, _)) => Some("empty file".to_owned()),
        (None, _, (_, Some(reason))) => Some(format!("no session header ({reason})")),
        (None, ..) => Some("no session header".to_owned()),
    }
}
