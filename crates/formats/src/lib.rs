//! How coding agents' session files are read.
//!
//! [`FORMATS`] are the ways to read them and [`AGENTS`] the programs that write them, with where
//! each keeps its sessions. A [`Format`] cuts a file into records and says of each what it is, as
//! [`Facts`](model::Facts), and what it says, as [`Passage`](model::Passage)s. What agents accept
//! is accepted here: [`json`] reads what JavaScript's `JSON.parse` reads, and what it refuses
//! becomes no entry, as for the agent.
//!
//! All entries below a folder of an agent, with how each begins:
//!
//! ```
//! use sessionary_formats::{FORMATS, format_named, read_file, session_files};
//!
//! let sessions = tempfile::tempdir()?;
//! let folder = sessions.path().join("--home-ada--");
//! std::fs::create_dir(&folder)?;
//! std::fs::write(folder.join("one.jsonl"), r#"{"type":"session","version":3,"id":"01","cwd":"/"}
//! {"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"Hello"}}
//! "#)?;
//!
//! let pi = format_named(FORMATS, "pi").expect("a known format");
//! let found = session_files(pi, sessions.path())?;
//! let read = read_file(pi, sessions.path(), &found.files[0])?;
//! assert_eq!(read.session.id, "01");
//! assert_eq!(read.entries[1].facts.role.as_deref(), Some("user"));
//! assert_eq!(read.entries[1].passages[0].pieces.concat(), "Hello");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `examples/events.rs` does it for every folder of every agent in a home folder.
//!
//! The functions of a format are pure. Two modules beside them know files: [`identity`] says which
//! file it is and whether it changed, [`lines`] cuts a file of any size into whole lines with
//! bounded memory. Nothing here writes, prints, or reads the environment.
//!
//! The crate `sessionary-sessions` opens sessions and adds to them, and `sessionary` finds and
//! searches all of them; both read by these formats.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![warn(missing_debug_implementations, missing_docs)]
#![cfg_attr(
    not(test),
    warn(
        clippy::too_many_lines,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

mod about;
mod agents;
pub mod agentuse;
pub mod claude;
pub mod clido;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod database;
mod document;
pub mod edits;
mod entries;
mod format;
pub mod gemini;
pub mod identity;
pub mod induscode;
mod injected;
pub mod json;
mod known;
pub mod lines;
pub mod model;
pub mod names;
pub mod openclaw;
pub mod opencode;
mod parts;
mod path;
pub mod pi;
mod pieces;
pub mod qwen;
mod remote;
mod resume;
pub mod stable_hash;
pub mod terminal;
#[cfg(test)]
mod testing;
mod title;
mod tools;

pub use about::{About, ListOrder, Shape, Structure, WriteMode};
pub use agents::{AGENTS, Agent, agent_called};
pub use entries::{Entry, Read, SessionFiles, read_file, session_files};
pub use format::{Format, SourceFacts};
pub use injected::{injected_blocks, pasted_blocks};
pub use known::{FORMATS, format_named};
pub use remote::remote_of;
pub use resume::{resume, resumes_unlisted};
pub use title::{LONGEST_TITLE, typed_title};
