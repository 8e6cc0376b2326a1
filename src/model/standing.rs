//! What is a passage to somebody who searches?

use serde::{Deserialize, Serialize};

/// What a passage is to somebody who searches. Names rank before what a person typed, that before
/// what the agent answered, and that before what tools printed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Standing {
    /// The name of a session, or a label.
    Name,
    /// What a person typed.
    Typed,
    /// What an agent said or thought, and whatever else is prose.
    #[default]
    Prose,
    /// What tools were given and gave back.
    Output,
}
