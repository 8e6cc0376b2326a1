//! What a Cursor transcript is as a session: a fold over its lines.

use super::place;
use crate::SourceFacts;
use crate::model::{Facts, Fold, SessionFacts};

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.entries += 1;
    fold.seen += u64::from(facts.agent_sees);
    fold.messages += u64::from(facts.is_message);
    if fold.first_message.is_none() {
        fold.first_message = facts.user_text.clone();
    }
    fold.note_typed(facts);
}

/// The values of the list. A transcript is one file, and its time the file's.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.first() else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let is_subagent = place::is_subagent(source.relative);
    let stem = source.relative.file_stem().unwrap_or_default();
    // The directory's name with a hyphen for each other sign, which cannot be undone.
    let project = place::names(source.relative).first().cloned();
    let own = project.map(|project| serde_json::json!({ "project": project }).to_string());
    SessionFacts {
        id: stem.to_string_lossy().into_owned(),
        parent_session: place::parent(source.relative),
        modified_ms: source.mtime_ms,
        message_count: fold.messages,
        first_message: fold.first_message.clone(),
        typed: fold.typed.clone().filter(|_| !is_subagent),
        entry_count: fold.entries,
        is_subagent,
        hidden: (fold.entries == 0).then(|| "empty file".to_owned()),
        own,
        ..SessionFacts::default()
    }
}
