//! The words room against an oracle that shares no code with it.

mod index;
mod oracle;
mod random;
mod speed;
mod tokens;
