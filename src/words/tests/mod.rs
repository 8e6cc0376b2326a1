//! The words room against an oracle that shares no code with it.

mod index;
mod oracle;
mod random;
#[allow(clippy::print_stdout)]
mod speed;
mod tokens;
