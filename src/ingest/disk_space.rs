//! Is there room for the words? They are a fraction of the session files, but of many files that is
//! much; a disk filled to the last byte hurts everybody on it, and searches find everything without
//! them.

use std::path::Path;

use crate::catalogue::{self, Catalogue};
use crate::words;

/// The words of five bytes of session files take at most two while they are made: 0.22 stay, of
/// 0.38 that were measured at the most, when the runs of a batch lie beside its segments.
const WORDS_OF_RAW: (u64, u64) = (2, 5);

/// Why the backlog must wait; `None` when there is room, or the system does not say.
pub fn lacking(
    catalogue: &Catalogue,
    directory: &Path,
) -> Result<Option<String>, catalogue::Error> {
    // If the words were removed, all text is in the backlog.
    let raw = match words::exist(directory) {
        true => catalogue.backlog_bytes()?,
        false => catalogue.source_bytes()?,
    };
    Ok(free(directory).and_then(|free| refusal(free, raw, directory)))
}

fn refusal(free: u64, raw: u64, words: &Path) -> Option<String> {
    let (part, of) = WORDS_OF_RAW;
    let needed = raw / of * part;
    (free < needed).then(|| {
        format!(
            "{}: {} MB free, and indexing the words of {} MB may take {} MB: that is postponed until there is room, and searches read the session files instead",
            words.display(),
            free >> 20,
            raw >> 20,
            (needed >> 20).max(1)
        )
    })
}

/// Bytes that this user may still write where `path` is or will be.
#[cfg(unix)]
fn free(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|folder| folder.exists())?;
    let system = rustix::fs::statvfs(there).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fifths_of_the_raw_bytes_must_be_free() {
        let words = Path::new("/ix/words");
        assert_eq!(refusal(400 << 20, 1000 << 20, words), None);
        assert_eq!(refusal(0, 4, words), None);
        let refused = refusal(399 << 20, 1000 << 20, words).unwrap();
        assert!(
            refused.contains("399 MB free") && refused.contains("400 MB"),
            "{refused}"
        );
        assert!(free(Path::new("/no/such/folder")).is_none_or(|free| free > 0));
    }
}
