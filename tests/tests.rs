//! One binary for all integration tests.
//!
//! - `cli`: what the command prints, in a sandbox home
//! - `crash`: a sync killed at random moments
//! - `formats`: every fixture read, cut and folded
//! - `oracle`: our list against the real agents' lists
//! - `words`: the index against a naive evaluator
mod corpus;
mod crash;
mod formats;
mod words;
