//! Which types of lines are known? Those that versions up to 2.1.330 wrote, read or passed over.

use crate::model::OTHER_MODEL;

/// In order.
pub(super) const TYPES: [&str; 49] = [
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
    "ended",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "isolation-latch",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "memory-mode",
    "meta",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
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
        assert!(knows("relocated") && knows("frame-link") && knows("file-history-delta"));
    }
}
