//! Which types of lines are known? Those that versions up to 0.171 wrote, read or passed over.

use super::line::STATE;
use super::names;

const TYPES: [&str; 40] = [
    // Lines by themselves.
    "session_meta",
    "turn_context",
    "world_state",
    "token_usage_record",
    "compacted",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "realtime_item",
    "retained_context",
    STATE,
    // Items of the context.
    "message",
    "agent_message",
    "reasoning",
    "ghost_snapshot",
    "additional_tools",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "other",
    // Events.
    "item_completed",
    "item_started",
    "user_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "turn_aborted",
    "token_count",
    "thread_settings_applied",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_goal_updated",
    "context_compacted",
    "entered_review_mode",
    "exited_review_mode",
    "error",
    "warning",
];

/// Calls, what they gave, and events about them.
const ENDS: [&str; 6] = ["_call", "_output", "_begin", "_end", "_error", "_activity"];

pub(super) fn knows(kind: &str) -> bool {
    kind == names::KIND || TYPES.contains(&kind) || ENDS.iter().any(|end| kind.ends_with(end))
}
