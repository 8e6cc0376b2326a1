//! What a clido session is: the fold over its lines, and the values clido's list shows of it.

use serde::{Deserialize, Serialize};

use crate::SourceFacts;
use crate::model::{Facts, Fold, SessionFacts, sum_costs};
use crate::path::stem;

/// Characters of a preview.
const PREVIEW: usize = 80;

/// What only clido's fold keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Turns of the last `result` line that records them.
    last_turns: Option<i64>,
    /// Cost of the last `result` line that records one, US dollars.
    last_cost: Option<f64>,
    /// Cost of the runs that ended before the last one, US dollars.
    past_cost: f64,
}

/// Add one line, in file order.
pub(super) fn fold(fold: &mut Fold, facts: &Facts) {
    let first = fold.entries == 0;
    fold.count(facts);
    if let Some(reason) = &facts.breaks_list {
        fold.hidden.get_or_insert_with(|| reason.clone());
    } else if !facts.agent_sees {
        fold.hidden
            .get_or_insert_with(|| "clido refuses a line that is not one JSON value".to_owned());
    }
    if first && facts.kind != "meta" {
        fold.hidden
            .get_or_insert_with(|| "the first line is no meta line".to_owned());
    }
    if let Some(header) = &facts.header {
        if first {
            fold.header = Some(header.clone());
        } else if fold.header.is_none() && fold.late_header.is_none() {
            fold.late_header = Some(header.clone());
        } else if fold.forked_from.is_none() {
            // `sessions fork` copies all lines below a new meta line, the old meta line among them.
            let own = fold.header.as_ref().and_then(|own| own.id.as_ref());
            fold.forked_from = header.id.clone().filter(|id| Some(id) != own);
        }
    }
    if facts.is_message {
        fold.messages += 1;
        if fold.first_message.is_none() {
            fold.first_message = facts.user_text.as_deref().map(preview);
        }
        fold.note_typed(facts);
    }
    if let Some(title) = &facts.name {
        fold.name = (!title.is_empty()).then(|| title.clone());
    }
    // The cost grows within a run and starts again with the next: a fall is the border.
    let (state, run) = (&mut fold.clido, facts.run.as_ref());
    state.last_turns = run.and_then(|run| run.turns).or(state.last_turns);
    if let Some(cost) = run.and_then(|run| run.cost) {
        if let Some(last) = state.last_cost.filter(|last| cost < *last) {
            state.past_cost = sum_costs([Some(state.past_cost), Some(last)]).unwrap_or_default();
        }
        state.last_cost = Some(cost);
        fold.cost = sum_costs([Some(state.past_cost), Some(cost)]);
    }
}

/// The first 80 characters, and an ellipsis if there are more.
fn preview(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The values of the list. A clido session is one file.
pub(super) fn session(sources: &[SourceFacts<'_>]) -> SessionFacts {
    let Some(source) = sources.first() else {
        return SessionFacts::default();
    };
    let fold = source.fold;
    let header = fold
        .header
        .clone()
        .or_else(|| fold.late_header.clone())
        .unwrap_or_default();
    let turns = fold.clido.last_turns;
    let turns = turns.map_or(fold.messages, |turns| u64::try_from(turns).unwrap_or(0));
    let listed_cost = fold.clido.last_cost.unwrap_or(0.0);
    SessionFacts {
        // The file's name counts, not `meta.session_id`.
        id: stem(source.relative),
        cwd: header.cwd.unwrap_or_default(),
        parent_session: fold.forked_from.clone(),
        created_raw: header.created_raw,
        created_ms: header.created_ms,
        modified_ms: source.mtime_ms.div_euclid(1000) * 1000,
        message_count: turns,
        version: header.version,
        listed_cost: (fold.cost != Some(listed_cost)).then_some(listed_cost),
        hidden: hidden(source, turns),
        ..SessionFacts::of(fold)
    }
}

/// Why clido's own list does not show the session.
fn hidden(source: &SourceFacts<'_>, turns: u64) -> Option<String> {
    let fold = source.fold;
    if let Some(reason) = source.unlisted {
        return Some(reason.to_owned());
    }
    if fold.hidden.is_some() {
        return fold.hidden.clone();
    }
    match source.problems {
        (0, _) if fold.entries == 0 => Some("empty file".to_owned()),
        (0, _) if turns == 0 => Some("no turns".to_owned()),
        (0, _) => None,
        (_, reason) => Some(format!(
            "clido refuses a line: {}",
            reason.unwrap_or("not JSON")
        )),
    }
}
