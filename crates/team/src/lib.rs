//! Share the sessions of chosen repositories between machines and people, by a store that is a
//! folder or a PostgreSQL database.
//!
//! What travels is *files of sessions*, their secrets left out, cut into *blocks*. Of each file a
//! *manifest* names its blocks in order. [`push`](mod@push) puts what this machine shares into a
//! [`Store`]; [`pull`](mod@pull) writes what other hosts share as plain files below `team/HOST` of
//! the data folder, where `sessionary` reads them as it reads any other folder of an agent.
//!
//! ```text
//! sessions of this host ─► push ─► redact ─► cut ─► store ─► pull ─► team/HOST/AGENT/… ─► index
//! ```
//!
//! The library prints nothing and reads no environment; `src/cli` does.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![warn(missing_docs)]
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

pub mod block;
mod copies;
mod error;
mod files;
pub mod manifest;
pub mod names;
pub mod pull;
pub mod push;
mod repositories;
pub mod rows;
pub mod sessions;
pub mod settings;
pub mod store;

pub use error::{Error, Problem};
pub use settings::Settings;
pub use store::Store;
