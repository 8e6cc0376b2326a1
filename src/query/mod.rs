//! Questions: what the user types, and what answers it.

pub mod syntax;
