//! The catalogue: all SQL of the house. Rows, checkpoints and the outbox of the words move in one
//! transaction.

pub mod agent_list;
mod answered;
pub mod backlog;
mod beside;
pub mod changes;
mod check;
pub mod children;
mod counted;
mod damage;
pub mod entries;
mod error;
pub mod excluded;
pub mod filter_columns;
mod folders;
mod insert;
pub mod kept;
mod local_days;
mod locks;
mod names;
mod notes;
mod open;
pub mod outbox;
mod proofs;
mod raw;
pub mod read;
mod refusal;
pub mod rows;
mod save;
mod scoped;
mod session;
mod sql;
mod sums;
pub mod values;
mod wal;
pub mod write;

pub use damage::files;
pub use error::Error;
pub use open::{APPLICATION_ID, CONTRACT_VERSION, Catalogue, GENERATION, PATIENCE};
pub use raw::Preview;
pub use refusal::RefusalCause;
pub use rusqlite::version as sqlite_version;
pub use sql::{Rows, SqlPart};
pub use wal::WAL_BYTES;
