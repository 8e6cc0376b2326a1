//! One binary for all integration tests.
//!
//! - `cli`: what the command prints, in a sandbox home
//! - `crash`: a sync killed at random moments
//! - `formats`: every fixture read, cut and folded
//! - `oracle`: our list against the real agents' lists
//! - `words`: the index against a naive evaluator
// Folders of the home, not those a system hands out, are what these tests look at.
#[cfg(unix)]
mod cli;
mod corpus;
mod crash;
#[cfg(unix)]
mod sandbox;
mod words;
