//! What is said where no program may look into the trash?

use std::path::PathBuf;

use crate::failure::Failure;

/// Whether this system lets a program look into the trash: then a session comes back from there.
pub const CAN_RESTORE: bool = false;

/// This system's trash is read by nobody but its owner.
pub fn restore(_: &[PathBuf]) -> Result<(), Failure> {
    Err(Failure::usage(
        "no program can look into this trash: open it, and put the files back from there",
    ))
}

/// As [`restore`]: nobody knows.
pub fn trashed(_: &str, _: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    restore(&[]).map(|()| Vec::new())
}

/// What is wrong with the trash, as the system says it.
pub fn reason(error: trash::Error) -> anyhow::Error {
    anyhow::Error::new(error)
}
