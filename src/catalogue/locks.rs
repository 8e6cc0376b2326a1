//! Who holds a lock on the catalogue? SQLite only says that it is locked; Linux says by which
//! process.
//!
//! Where the locks lie is part of SQLite's file format: "WAL locks" in its walformat.html, and the
//! "lock-byte page" of its fileformat2.html.

use std::path::Path;

/// Processes with a read transaction; none where the system does not tell.
pub(super) fn readers(path: &Path) -> Vec<String> {
    processes(path, |lock| lock.of_index && lock.meets(123, 127))
}

/// Processes that keep others from writing, or from reading too; none where the system does not
/// tell.
pub(super) fn writers(path: &Path) -> Vec<String> {
    // Without a WAL a writer holds bytes of the lock-byte page.
    const PAGE: u64 = 0x4000_0000;
    processes(path, |lock| {
        lock.is_write
            && match lock.of_index {
                // The write lock, the recovery lock, and the lock of a process that rebuilds the
                // file.
                true => [120, 122, 128].iter().any(|&byte| lock.meets(byte, byte)),
                false => lock.meets(PAGE, PAGE + 511),
            }
    })
}

/// A lock on the database or on the index of its WAL.
struct Lock {
    of_index: bool,
    is_write: bool,
    first: u64,
    last: u64,
}

impl Lock {
    fn meets(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

#[cfg(target_os = "linux")]
fn processes(path: &Path, of_interest: impl Fn(&Lock) -> bool) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;

    let inode = |path: &Path| std::fs::metadata(path).ok().map(|m| m.ino());
    let index = crate::sqlite_file::beside(path, "-shm");
    let (file, index) = (inode(path), inode(&index));
    // The system lists locks one page at a time, and a lock that is held all the time may be
    // missing between two pages.
    const LOOKS: usize = 3;
    for _ in 0..LOOKS {
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let mut processes: Vec<u32> = locks
            .lines()
            .filter_map(|line| {
                // 1: POSIX  ADVISORY  READ 4711 fe:00:131078 123 123
                let fields: Vec<&str> = line.split_whitespace().collect();
                let ["POSIX", _, kind, process, place, first, last] = fields.get(1..)? else {
                    return None;
                };
                let inode = place.rsplit(':').next()?.parse().ok();
                if inode != file && inode != index {
                    return None;
                }
                let lock = Lock {
                    of_index: inode == index,
                    is_write: *kind == "WRITE",
                    first: first.parse().ok()?,
                    // Or to the end of the file: "EOF".
                    last: last.parse().unwrap_or(u64::MAX),
                };
                process.parse().ok().filter(|_| of_interest(&lock))
            })
            .collect();
        if !processes.is_empty() {
            processes.sort_unstable();
            processes.dedup();
            return processes.into_iter().map(crate::process::named).collect();
        }
    }
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn processes(_: &Path, _: impl Fn(&Lock) -> bool) -> Vec<String> {
    Vec::new()
}
