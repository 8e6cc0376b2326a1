//! What do sessions hold that their agents may delete? One SQLite file of compressed blocks, which
//! is truth and no cache: what is in it may be nowhere else any more.
//!
//! A *source* (the file of a session) has one *generation* for each content that it ever had and
//! that the next one did not begin with. A generation is tiled by *parts*, each of which names a
//! *block*: bytes that are stored once, whoever holds them. A chain of SHA-256 over the parts
//! proves every byte of a generation.

mod content;
mod error;
mod forget;
mod keep;
mod open;
mod pack;
mod restore;
mod sources;
mod verify;

pub use content::ArchivedFile;
pub use error::Error;
pub use open::{Archive, PATIENCE};
pub use pack::{PackedBytes, Packer};
pub use sources::{ArchiveTotals, Generation, SessionName, SourcePath, twin};
pub use verify::ArchiveCheck;

#[cfg(test)]
mod tests;
