//! What identifies one state of a file: device, inode, size and both times.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file's identity, taken before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Identity {
    pub device: i64,
    pub inode: i64,
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
}

/// What tells two files at one path apart: device and inode, where the system has them.
pub type FileId = (i64, i64);

/// The file at a path.
pub fn file_at(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|m| Identity::of(&m).file())
}

/// A change this close before the observation may be followed by another one that leaves the same
/// ctime: kernels stamp files with a clock of up to 10 ms granularity.
const GRANULARITY_NS: i64 = 20_000_000;

impl Identity {
    /// Which file it is, whatever it holds.
    pub fn file(&self) -> FileId {
        (self.device, self.inode)
    }

    /// All of it as bytes, from which a number is made that is kept.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        let fields = [
            self.device,
            self.inode,
            self.size.cast_signed(),
            self.mtime_ns,
            self.ctime_ns,
        ];
        for (to, field) in bytes.chunks_exact_mut(8).zip(fields) {
            to.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// The identity in `metadata`.
    pub fn of(metadata: &Metadata) -> Identity {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let nanoseconds = |s: i64, n: i64| s.saturating_mul(1_000_000_000).saturating_add(n);
            Identity {
                device: metadata.dev() as i64,
                inode: metadata.ino() as i64,
                size: metadata.len(),
                mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            }
        }
        #[cfg(not(unix))]
        {
            let mtime_ns = metadata
                .modified()
                .map(nanoseconds_since_epoch)
                .unwrap_or(0);
            Identity {
                device: 0,
                inode: 0,
                size: metadata.len(),
                mtime_ns,
                ctime_ns: mtime_ns,
            }
        }
    }

    /// Modification time in milliseconds.
    pub fn mtime_ms(&self) -> i64 {
        nearest_ms(self.mtime_ns)
    }

    /// Whether a later change could have gone unnoticed, seen from the clock at observation.
    pub fn is_racy(&self, now_ns: i64) -> bool {
        self.ctime_ns.saturating_add(GRANULARITY_NS) >= now_ns
    }
}

/// A file time as the agents' `stats.mtime` has it: to the nearest millisecond.
pub fn nearest_ms(ns: i64) -> i64 {
    ns.saturating_add(500_000).div_euclid(1_000_000)
}

/// The wall clock in nanoseconds, the clock that file times are taken from.
pub fn now_ns() -> i64 {
    nanoseconds_since_epoch(SystemTime::now())
}

fn nanoseconds_since_epoch(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX),
    }
}
