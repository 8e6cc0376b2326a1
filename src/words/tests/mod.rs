//! The words room against an oracle that shares no code with it.

mod index;
mod oracle;
mod random;
mod segments;
#[allow(clippy::print_stdout)]
mod speed;
mod tokens;
