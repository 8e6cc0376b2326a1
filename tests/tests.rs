//! One binary for all integration tests.
//!
//! - `agentuse`: its folders against what was expected of them by hand
//! - `answers`: order, pages, places and reasons of hits
//! - `cli`: what the command prints, in a sandbox home
//! - `contract`: the documented views are the real ones
//! - `crash`: a sync killed at random moments
//! - `findable`: every word of a corpus is found, whatever part of it is indexed
//! - `formats`: every fixture read, cut and folded
//! - `histories`: random writers, syncs and kills against an index made from scratch
//! - `oracle`: our list and trees against the real agents'
//! - `relevance`: judged queries find their target
//! - `tour`: the README's tour, command by command
mod agentuse;
mod answers;
// The home folder is what these tests look at; Windows asks the system for it, not a variable.
#[cfg(unix)]
mod cli;
mod contract;
mod corpus;
mod crash;
mod findable;
mod formats;
mod histories;
// The real agents need a newer Node than most machines have; the one installed beside them is for this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod oracle;
mod relevance;
#[cfg(unix)]
mod sandbox;
#[cfg(unix)]
mod tour;

// The tokenizer's written rules, read a second time beside its own tests, name the types so.
use sessionary::model;
