//! How coding agents' session files are read.
//!
//! [`FORMATS`] are the ways to read them and [`AGENTS`] the programs that write them, with where
//! each keeps its sessions. A [`Format`] cuts a file into records and says of each what it is, as
//! [`Facts`](model::Facts), and what it says, as [`Passage`](model::Passage)s. What agents accept
//! is accepted here: [`json`] reads what JavaScript's `JSON.parse` reads, and what it refuses
//! becomes no entry, as for the agent.
//!
//! All entries of a session file, of whatever agent, with how each begins:
//!
//! ```
//! use std::path::Path;
//!
//! use sessionary_formats::json::{PieceKind, split};
//! use sessionary_formats::{FORMATS, Format, Shape};
//!
//! fn entries(format: &dyn Format, path: &Path) -> std::io::Result<Vec<(String, String)>> {
//!     let file = std::fs::read(path)?;
//!     let parts: Vec<&[u8]> = match format.shape_of(path) {
//!         Shape::Lines => file.split_inclusive(|byte| *byte == b'\n').collect(),
//!         Shape::Elements => {
//!             let elements = format.elements(path, &file).unwrap_or_default();
//!             elements.into_iter().map(|element| &file[element]).collect()
//!         }
//!         Shape::Document | Shape::Text => vec![&file],
//!     };
//!     let mut entries = Vec::new();
//!     for part in parts {
//!         for piece in split(part) {
//!             if let PieceKind::Value { .. } = piece.kind {
//!                 let record = &part[piece.range];
//!                 let facts = format.facts_at(path, record);
//!                 let mut texts = format.passages_at(path, record).into_iter();
//!                 let text = texts.next().map(|passage| passage.pieces.concat());
//!                 entries.push((facts.role.unwrap_or(facts.kind), text.unwrap_or_default()));
//!             }
//!         }
//!     }
//!     Ok(entries)
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("one.jsonl");
//! std::fs::write(&path, r#"{"type":"session","version":3,"id":"01","cwd":"/home/ada"}
//! {"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"Hello"}}
//! "#)?;
//! let pi = FORMATS.iter().find(|format| format.name() == "pi").expect("a known format");
//! let entries = entries(*pi, &path)?;
//! assert_eq!(entries[1], ("user".to_owned(), "Hello".to_owned()));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The functions of a format are pure. Two modules beside them know files: [`identity`] says which
//! file it is and whether it changed, [`lines`] cuts a file of any size into whole lines with
//! bounded memory. Nothing here writes, prints, or reads the environment.
//!
//! The crate `sessionary-sessions` opens sessions and adds to them, and `sessionary` finds and
//! searches all of them; both read by these formats.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod agentuse;
pub mod claude;
pub mod clido;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod database;
mod format;
pub mod gemini;
pub mod identity;
pub mod induscode;
mod injected;
pub mod json;
pub mod lines;
pub mod model;
pub mod names;
pub mod openclaw;
pub mod opencode;
mod parts;
pub mod pi;
mod pieces;
pub mod qwen;
pub mod terminal;
#[cfg(test)]
mod testing;
mod title;

pub use format::{
    AGENTS, Agent, FORMATS, Format, ListOrder, Shape, SourceFacts, WriteMode, agent_called, family,
    resume,
};
pub use injected::injected_blocks;
pub use title::typed_title;
