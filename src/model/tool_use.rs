//! Which tools were called, and how often did they fail? `report --by tool --json` prints exactly
//! this.

use serde::{Deserialize, Serialize};

/// Calls of one tool, each counted once although forks repeat it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct ToolUse {
    /// The tool, as its agent names it; `None`: it is not recorded, or these are all.
    pub tool: Option<String>,
    /// Sessions in which it was called.
    pub sessions: u64,
    pub calls: u64,
    /// Calls of which it is known whether they failed.
    pub answered: u64,
    pub errors: u64,
    /// How long a call took on average, in ms; `None`: of none it is known.
    pub mean_ms: Option<f64>,
}

/// The answer of `report --by tool`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct ToolReport {
    pub schema_version: u32,
    /// The tool with the most calls first.
    pub tools: Vec<ToolUse>,
    /// All of them as one.
    pub total: ToolUse,
    /// Whether all that is on disk is in this answer.
    pub complete: bool,
}
