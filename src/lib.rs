//! Find and read back every session you ever had with a coding agent.

pub mod format;
pub mod model;
