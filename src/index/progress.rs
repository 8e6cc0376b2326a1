//! Which process writes the index, and does it make progress?
//!
//! The lock only says that some process writes. Its holder writes the rest into a file beside the
//! lock, because where locks are mandatory a locked file cannot be read.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::private;
use crate::process::named;

/// The file's name.
const FILE: &str = "writer";

/// What the holder of the lock says of itself: its process, and how often it has committed.
pub(super) struct Progress {
    /// `None` when it cannot be written; nothing depends on it.
    file: Option<File>,
    commits: AtomicU64,
    /// Whether the lock is ours: else it is for another one to say.
    holds: AtomicBool,
}

impl Progress {
    /// The progress file in the directory of a generation.
    pub fn new(generation: &Path) -> Self {
        Self {
            file: private::open_or_create(&generation.join(FILE)).ok(),
            commits: AtomicU64::new(0),
            holds: AtomicBool::new(false),
        }
    }

    /// The lock was taken, or something was committed.
    pub fn step(&self) {
        self.holds.store(true, Ordering::Relaxed);
        let commits = self.commits.fetch_add(1, Ordering::Relaxed);
        let said = self.file.as_ref().map(|mut file| {
            file.rewind()?;
            // As long as any other, so that nothing of that is left.
            file.write_all(format!("{:>10} {commits:>20}\n", process::id()).as_bytes())
        });
        // If the state cannot be written, the old one must not stay, because it would be wrong.
        if let Some(Err(_)) = said {
            self.end();
        }
    }

    /// The lock is given up.
    pub fn end(&self) {
        if self.holds.swap(false, Ordering::Relaxed) {
            // What cannot be taken back names who held the lock last.
            let _ = self.file.as_ref().map(|file| file.set_len(0));
        }
    }
}

/// The process that holds the lock, as people know it; `None` where it does not say.
pub(super) fn writer(generation: &Path) -> Option<String> {
    let said = fs::read_to_string(generation.join(FILE)).ok()?;
    said.split_whitespace().next()?.parse().ok().map(named)
}

/// A state that changes whenever the holder of the lock makes progress: its report, and the lengths
/// of the files that it writes, because a single commit may take minutes.
pub(super) fn state(generation: &Path) -> (Option<String>, u64) {
    let said = fs::read_to_string(generation.join(FILE)).ok();
    let lengths = |folder: &Path| -> io::Result<u64> {
        let files = fs::read_dir(folder)?.flatten();
        Ok(files
            .filter_map(|file| Some(file.metadata().ok()?.len()))
            .sum())
    };
    let words = lengths(&generation.join("words")).unwrap_or(0);
    (said, lengths(generation).unwrap_or(0) + words)
}
