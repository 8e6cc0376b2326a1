//! One binary for all integration tests.
//!
//! - `cli`: what the command prints, in a sandbox home
//! - `crash`: a sync killed at random moments
//! - `formats`: every fixture read, cut and folded
//! - `oracle`: our list and trees against the real agents'
//! - `words`: the index against a naive evaluator
mod corpus;
mod crash;
// The real agents need a newer Node than most machines have; the one installed beside them is for this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod oracle;
mod words;
