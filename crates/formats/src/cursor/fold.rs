//! What a Cursor transcript is as a session: a fold over its lines.

use serde::{Deserialize, Serialize};

use super::{TURN_ENDED, place};
use crate::model::{Facts, Fold, SessionFacts};
use crate::{SourceFacts, path};

/// What only this fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// When the first prompt was sent of which that is written.
    begun_raw: Option<String>,
    begun_ms: Option<i64>,
    /// The first directory that fits the folder's name.
    cwd: Option<String>,
    /// It does not only say how turns ended.
    says_more: bool,
}

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    fold.count(facts);
    fold.messages += u64::from(facts.is_message);
    fold.cursor.says_more |= facts.kind != TURN_ENDED;
    fold.last_message_ms = fold.last_message_ms.max(facts.time_ms);
    if fold.cursor.begun_ms.is_none() {
        fold.cursor.begun_raw.clone_from(&facts.time_raw);
        fold.cursor.begun_ms = facts.time_ms;
    }
    if fold.cursor.cwd.is_none() {
        let header = facts.header.as_ref();
        fold.cursor.cwd = header.and_then(|header| header.cwd.clone());
    }
    if fold.first_message.is_none() {
        fold.first_message = facts.user_text.clone();
    }
    fold.note_typed(facts);
}

/// The values of the list. A transcript is one file, and its time the file's where it says none.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.first() else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let is_subagent = place::is_subagent(source.relative);
    // The directory's name with a hyphen for each other sign, which cannot be undone.
    let project = path::names(source.relative).first().cloned();
    let own = project.map(|project| serde_json::json!({ "project": project }).to_string());
    SessionFacts {
        id: path::stem(source.relative),
        cwd: fold.cursor.cwd.clone().unwrap_or_default(),
        parent_session: place::parent(source.relative),
        created_raw: fold.cursor.begun_raw.clone(),
        created_ms: fold.cursor.begun_ms,
        modified_ms: fold.last_message_ms.unwrap_or(source.mtime_ms),
        typed: fold.typed.clone().filter(|_| !is_subagent),
        is_subagent,
        hidden: hidden(fold).map(str::to_owned),
        own,
        ..SessionFacts::of(fold)
    }
}

fn hidden(fold: &Fold) -> Option<&'static str> {
    match fold {
        fold if fold.entries == 0 => Some("empty file"),
        fold if !fold.cursor.says_more => Some("no messages"),
        _ => None,
    }
}
