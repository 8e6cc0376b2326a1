//! When was said what Codex took over from another agent? Its lines have the time of the import; of
//! each turn a line says when it began, and of the last one also when it ended.

use super::line::Record;
use crate::json;
use crate::model::Facts;

/// With what the name of such a turn begins.
const TURN: &str = "external-import-turn-";

/// When the year 10000 begins, in ms since the epoch. What is said to be later is no time.
const FAR_MS: i64 = 253_402_300_800_000;

/// Gives a line of such a turn the time of the turn: nothing says when its answers were given.
pub(super) fn relate(turn_ms: &mut Option<i64>, record: &[u8], facts: &mut Facts) {
    let begins = matches!(facts.kind.as_str(), "task_started" | "turn_started");
    let ends = matches!(facts.kind.as_str(), "task_complete" | "turn_complete");
    let said = (begins || ends).then(|| said(record)).flatten();
    if begins {
        *turn_ms = said;
    }
    facts.time_ms = said.or(*turn_ms).or(facts.time_ms);
    if ends {
        *turn_ms = None;
    }
}

/// When such a turn began, or ended, as the line says it.
fn said(record: &[u8]) -> Option<i64> {
    json::tiers(record, |text| {
        let Some(record) = Record::read(text)? else {
            return Some(None);
        };
        let payload = &record.payload;
        let is_imported = payload
            .turn_id
            .as_str()
            .is_some_and(|id| id.starts_with(TURN));
        let seconds = payload.completed_at.0.or(payload.started_at.0);
        Some(seconds.filter(|_| is_imported))
    })
    .flatten()
    .and_then(|seconds| seconds.checked_mul(1000))
    .filter(|ms| (0..FAR_MS).contains(ms))
}
