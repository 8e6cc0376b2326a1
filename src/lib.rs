//! Find and read back every session you ever had with a coding agent.
//!
//! Open the index, list, search:
//!
//! ```no_run
//! use sessionary::index::{ListScope, SearchScope};
//! use sessionary::settings::Surroundings;
//! use sessionary::{Config, Freshness, Index};
//!
//! let (variables, home) = (std::env::vars_os().collect(), std::env::home_dir());
//! let cwd = std::env::current_dir()?;
//! let config = Config::of(&Surroundings { variables, home, cwd })?;
//! let index = Index::open(&config, Freshness::Check)?;
//! for session in index.list(&ListScope::default())?.sessions {
//!     println!("{} {}", session.id, session.title);
//! }
//! for group in index.search("linker error", &SearchScope::default())?.sessions {
//!     println!("{} {}", group.session.id, group.hits[0].address);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```toml
//! sessionary = { version = "0.1", default-features = false } # the library without the command
//! ```
//!
//! The feature `command`, a default one, builds the command with all it needs, and `schema` gives
//! the types of answers a JSON Schema.
//!
//! That is the index, the folders and the settings of the user's own command; [`Config::new`] names
//! others. What the user excludes stays out of the index whoever opens it: see [`Rules`]. A search
//! reads from their files what is not indexed yet, says how much that is
//! ([`outstanding`](model::SearchAnswer::outstanding)), and leaves it at that:
//! [`Index::index_backlog`] indexes it. [`SearchScope::cancel`](index::SearchScope::cancel) ends a
//! search from another thread.
//!
//! Session files are the truth. The *catalogue* (SQLite) and the *words* (tantivy) are caches made
//! from them: delete the index directory and nothing is lost.
//!
//! ```text
//! session files ──► source ──► format ──► ingest ──► catalogue (rows + checkpoint + outbox)
//!   (truth)       which, new   facts        │            │ outbox
//!                                           └──────────► words (full text)
//!                       query: list · search · tree · show  ◄── both
//! ```
//!
//! The message of an [`Error`] does not repeat its source: [`with_causes`] says both.
//!
//! Two doors: [`Index`] reads, [`Indexer`] writes. Every answer is given on one
//! [`Snapshot`](index::Snapshot), a state of both stores that stays as it is while it is asked.
//! Beside them [`session`] opens one session file, follows it and adds to it.
//!
//! Also public: [`model`], the plain data of answers; [`mod@format`], how each agent's files are
//! read; [`syntax`], the query language; [`index_files`], what lies in an index directory;
//! [`locations`], where agents keep their sessions; [`settings`], what the user has set.
//! [`repository`], which working trees a git repository has; [`redact`], which parts of a text are
//! keys and tokens; [`share`], what of a session's file may leave the machine.
//! `docs/architecture.md` draws the rooms and the main paths.
//!
//! Items that no page shows (`#[doc(hidden)]`) are there for the command and the crates beside this
//! one: they are no promise, and may change in any version.
//!
//! The library prints nothing, reads no environment (but the current directory, where [`session`]
//! or a [root](RootSpec) is given a relative path), starts no process, and opens session files
//! read-only; only [`session`] adds to them.

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

mod archive;
mod blame;
mod catalogue;
mod causes;
mod commits;
mod config;
mod databases;
mod error;
mod failpoint;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod index;
pub mod index_files;
mod ingest;
pub mod locations;
pub mod model;
mod private;
mod process;
mod query;
pub mod redact;
#[doc(hidden)]
pub mod regular;
pub mod repository;
pub mod settings;
pub mod share;
mod source;
mod sqlite_file;
mod stored_path;
pub mod syntax;
mod words;

pub use catalogue::{CONTRACT_VERSION, GENERATION, WAL_BYTES};
pub use causes::with_causes;
pub use config::{Config, FollowLinks, ProjectRoots, Rules};
pub use error::{Error, StoreError, StoreFault};
pub use index::{Freshness, Index, Indexer};
pub use model::{Cancel, Event};
#[doc(inline)]
pub use sessionary_formats as format;
#[doc(inline)]
pub use sessionary_sessions as session;
pub use source::exclude::{BadGlob, Exclude};
pub use source::root::{RootOrigin, RootSpec};

use sessionary_sessions::threads;

/// The examples in the documents are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../docs/formats.md")]
    struct Formats;
    #[doc = include_str!("../docs/library.md")]
    struct Library;
}
