//! Which types of lines are known? Those that versions up to 2.1.332 wrote, read or passed over.

use crate::model::OTHER_MODEL;

/// In order.
pub(super) const TYPES: [&str; 59] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-resumed",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "assistant",
    "atis-latch",
    "attachment",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "data-flow-handover",
    "data-flow-incomplete",
    "data-flow-records",
    "derived-from",
    "dev-mods",
    "ended",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "host-row",
    "hybrid-organization",
    "isolation-latch",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "memory-mode",
    "meta",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "session-owner",
    "speculation-accept",
    "sub-session",
    "summary",
    "system",
    "tag",
    "task-summary",
    "tool-result",
    "tools-used",
    "user",
    "worktree-state",
];

/// The kind of a `system` line is its subtype, of which there are ever more: with `_` in it, it is
/// taken for one.
pub(super) fn knows(kind: &str) -> bool {
    let is_type = || SUBTYPES.contains(&kind) || TYPES.binary_search(&kind).is_ok();
    kind.contains('_') || kind == OTHER_MODEL || is_type()
}

/// Subtypes of one word.
const SUBTYPES: [&str; 2] = ["informational", "init"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_in_order() {
        assert!(TYPES.is_sorted());
        assert!(knows("user") && knows("compact_boundary") && !knows("walrus-state"));
        assert!(knows("resume-head-vouch") && knows("host-row") && knows("data-flow-records"));
        assert!(knows("relocated") && knows("frame-link") && knows("file-history-delta"));
    }
}
