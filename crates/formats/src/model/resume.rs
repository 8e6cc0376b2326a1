//! How does an agent take a session up again?

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A command that takes a session up again. It is never meant for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resume {
    /// Where to run it, as the session says; `null` when it does not.
    pub cwd: Option<PathBuf>,
    /// The program and its arguments.
    pub argv: Vec<String>,
}
