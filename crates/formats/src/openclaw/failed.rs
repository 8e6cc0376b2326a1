//! Did a tool fail? Until July 2026 `isError` hardly ever says it, and in 2026.9 not of commands:
//! the details of the result do.

use serde::Deserialize;

use super::line;
use crate::json::{self, Flag, Num, Raw, Text};
use crate::model::Facts;

/// What the details say of a tool that failed (source, 2026.7.1, `isToolResultError`).
const FAILED: [&str; 16] = [
    "error",
    "failed",
    "failure",
    "timeout",
    "timed_out",
    "blocked",
    "denied",
    "forbidden",
    "unavailable",
    "approval-unavailable",
    "disabled",
    "aborted",
    "cancelled",
    "canceled",
    "killed",
    "invalid",
];

/// The details of a result that say how it ended.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Details<'a> {
    ok: Flag,
    success: Flag,
    #[serde(borrow)]
    status: Text<'a>,
    timed_out: Flag,
    #[serde(borrow)]
    error: Raw<'a>,
    exit_code: Num,
}

impl Details<'_> {
    fn is_failure(&self) -> bool {
        let said = [self.ok.0, self.success.0];
        let status = self.status.as_str().unwrap_or_default().trim();
        let is_failed = FAILED.iter().any(|one| status.eq_ignore_ascii_case(one));
        said.contains(&Some(false))
            || is_failed && !said.contains(&Some(true))
            || self.timed_out.0 == Some(true)
            || self.error.0.is_some_and(json::is_truthy)
            || self.exit_code.0.is_some_and(|code| code != 0.0)
    }
}

/// Notes of the result of a tool that it failed, where only its details say that.
pub(super) fn note(record: &[u8], facts: &mut Facts) {
    let is_result = facts.role.as_deref() == Some("toolResult") && !facts.is_error;
    if !is_result || memchr::memmem::find(record, b"\"details\"").is_none() {
        return;
    }
    let is_failure = line::read(record, |line| {
        Some(line.message.object()?.details.object()?.is_failure())
    });
    if is_failure == Some(true) {
        facts.is_error = true;
        // Its own stands before those that the tool made.
        if let Some(call) = facts.calls.first_mut() {
            call.is_error = Some(true);
        }
    }
}
