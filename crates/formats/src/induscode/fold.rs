//! What an induscode session is: a fold over its lines, and the values its picker shows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::{Facts, Fold, SessionFacts};
use crate::{SourceFacts, path, stable_hash};

/// What only induscode's fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The nodes so far that count as messages or say what they spent, by hashes of their ids.
    counted: BTreeSet<u64>,
}

/// A node that was written again under its id counts once.
pub(super) fn relate(state: &mut State, facts: &mut Facts) {
    let counts = facts.is_message || facts.usage.is_some();
    let Some(id) = facts.id.as_deref().filter(|_| counts) else {
        return;
    };
    if !state.counted.insert(stable_hash::of([id.as_bytes()])) {
        facts.is_message = false;
        facts.usage = None;
    }
}

/// Characters of a title.
const TITLE: usize = 72;

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    fold.messages += u64::from(facts.is_message);
    if let Some(reason) = &facts.breaks_list {
        fold.hidden.get_or_insert_with(|| reason.clone());
    }
    if let Some(usage) = &facts.usage {
        fold.add_usage(usage);
    }
    if let Some(header) = &facts.header {
        // Where the session stands, by the first line: nodes that were appended later hang below
        // it, and induscode goes on from it all the same.
        fold.header = Some(header.clone());
        fold.leaf.clone_from(&facts.stands_at);
    } else if fold.header.is_none() && facts.id.is_some() {
        fold.leaf.clone_from(&facts.id);
    }
    if facts.model.is_some() {
        fold.provider.clone_from(&facts.provider);
        fold.model.clone_from(&facts.model);
    }
    if fold.first_message.is_none() {
        fold.first_message = facts.user_text.as_deref().and_then(title);
    }
    fold.note_typed(facts);
}

/// On one line, cut as induscode's picker cuts it.
fn title(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(TITLE) {
        Some(_) => line
            .char_indices()
            .nth(TITLE - 1)
            .map(|(end, _)| format!("{}…", &line[..end])),
        None => Some(line).filter(|line| !line.is_empty()),
    }
}

/// The values of the list. An induscode session is one file.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.first() else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    // The file's name counts: one that was renamed still says its old id in its first line.
    let id = path::stem(source.relative);
    let folder = source.relative.parent().map(path::name);
    let mut own = serde_json::Map::new();
    // The directory stands nowhere in the file, and its name in the folder's cannot be undone.
    if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
        own.insert("project".to_owned(), folder.into());
    }
    let written = fold.header.as_ref().and_then(|header| header.id.clone());
    if let Some(written) = written.filter(|written| *written != id) {
        own.insert("sessionId".to_owned(), written.into());
    }
    SessionFacts {
        id,
        modified_ms: source.mtime_ms,
        hidden: hidden(source),
        own: (!own.is_empty()).then(|| serde_json::Value::from(own).to_string()),
        ..SessionFacts::of(fold)
    }
}

/// Why induscode's own list does not show the session. It leaves out what it cannot read of one.
fn hidden(source: &SourceFacts<'_>) -> Option<String> {
    if let Some(reason) = source.unlisted {
        return Some(reason.to_owned());
    }
    match (source.fold.entries, source.fold.seen) {
        (0, _) => Some("empty file".to_owned()),
        (_, 0) => source.fold.hidden.clone(),
        _ => None,
    }
}
