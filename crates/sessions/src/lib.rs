//! A session as its agent has it: open or begin one, read its branches, add to it, fork it.
//!
//! [`SessionManager`] is the counterpart of pi's class of that name, method by method, on the same
//! files: what one writes the other reads. Where pi loses data or never comes back it does the safe
//! thing instead; docs/writing.md and the methods say so. [`clido`] and [`agentuse`] read and write
//! the sessions of those agents, which are kept otherwise.
//!
//! A session file is changed in two ways only: whole lines are appended under a lock, and a file of
//! an old version is replaced once, by rename, after a copy of it was put away. Nothing here knows
//! the index, reads the environment or prints: folders, [`Clock`] and [`Ids`] come from the caller.
//! One thing is asked of the process, its working directory: relative paths start there, as
//! everywhere in the standard library, and a session whose header names no directory is taken to be
//! there, as in pi. With absolute paths and [`SessionManager::open_in`] nothing is.
//!
//! Begin a session, add to it, look at it again, and fork it for another folder:
//!
//! ```
//! use sessionary_sessions::{Profile, SessionManager, Setup, UserMessage};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let sessions = home.path().join("sessions");
//! let setup = Setup::new(Profile::PI, &sessions);
//! let mut session = SessionManager::create(&setup, "/home/ada/code")?;
//! let question = session.append_message(UserMessage {
//!     content: "What is a monad?".into(),
//!     timestamp: setup.clock.now_ms(),
//!     ..Default::default()
//! })?;
//! session.append_label_change(&question, Some("the question"))?;
//! let path = session.session_file().ok_or("in memory")?.to_path_buf();
//!
//! let again = SessionManager::open_read_only(&setup, &path)?;
//! assert_eq!(again.label(&question), Some("the question"));
//! assert_eq!(again.build_session_context().messages.len(), 1);
//!
//! let fork = SessionManager::fork_from(&setup, &path, "/home/ada/other")?;
//! assert_eq!(fork.entries().len(), again.entries().len());
//! # Ok(())
//! # }
//! ```
//!
//! How the lines of a session file are read is the crate `sessionary-formats`, here as
//! [`mod@format`].

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

pub mod agentuse;
mod append;
mod chance;
pub mod clido;
mod content;
mod context;
mod cores;
mod disk;
mod elsewhere;
mod entry;
mod error;
mod fork;
mod header;
mod line;
mod listing;
mod load;
mod log;
mod manager;
mod message;
mod migrate;
mod open;
mod profile;
mod read;
mod replace;
mod splice;
mod text;
// The index reads with the same threads.
#[doc(hidden)]
pub mod threads;
mod typed;
mod value;

pub use chance::{Clock, Ids, RandomIds, SystemClock};
pub use content::{
    Content, ContentBlock, Cost, ImageContent, StopReason, TextContent, ThinkingContent, ToolCall,
    Usage,
};
pub use context::{ModelChoice, SessionContext, convert_to_llm};
pub use entry::Entry;
pub use error::Error;
pub use header::{FileEntry, SessionHeader, parse_session_entries};
pub use listing::{Progress, SessionInfo};
// The index keeps the agents' own list up to date with these.
#[doc(hidden)]
pub use listing::{in_order, read_again};
pub use log::{Tree, TreeNode};
pub use manager::{NewSession, SessionManager, Setup};
pub use message::{
    AgentMessage, AssistantMessage, BashExecutionMessage, BranchSummaryMessage,
    CompactionSummaryMessage, CustomMessage, Message, SystemMessage, ToolResultMessage,
    UserMessage,
};
// The index names files so too.
#[doc(hidden)]
pub use profile::plain;
pub use profile::{Creation, FromId, Profile, SessionIds};
#[doc(no_inline)]
pub use sessionary_formats as format;
pub use typed::{
    BranchSummaryEntry, CompactionEntry, ContextEditEntry, CustomEntry, CustomMessageEntry,
    LabelEntry, ModelChangeEntry, SessionEntry, SessionInfoEntry, ThinkingLevelChangeEntry,
    UsageEntry,
};
pub use value::{Json, Members};

/// The version of the files that are written (pi: `CURRENT_SESSION_VERSION`).
pub const CURRENT_SESSION_VERSION: i64 = sessionary_formats::pi::CURRENT_VERSION;

/// The thinking levels that pi 0.87 knows, least first. A session may hold others; pi then takes
/// the nearest that the model has, or none.
pub const THINKING_LEVELS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];
