//! All integration tests, one binary.

mod corpus;
#[cfg(target_os = "linux")]
mod crash;
