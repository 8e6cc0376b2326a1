//! Which files in the folder of the words are ours, and how do they go without anything else?

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use tantivy::directory::{INDEX_WRITER_LOCK, META_LOCK};

use super::damage::MARK;
use crate::failpoint::reach;

/// What is committed. Without it nothing else is an index.
const COMMIT: &str = "meta.json";
/// Which files there are, by tantivy's own account.
const MANAGED: &str = ".managed.json";
/// What the names of a segment's files end with.
const PARTS: [&str; 7] = [
    "idx",
    "pos",
    "term",
    "store",
    "store.temp",
    "fast",
    "fieldnorm",
];

/// Whether there are words, whatever else lies in the folder.
pub fn exist(dir: &Path) -> bool {
    dir.join(COMMIT).exists()
}

/// Whether a file of this name in the folder is one of ours.
pub fn is_ours(name: &str) -> bool {
    [COMMIT, MANAGED, MARK].contains(&name)
        || is_lock(name)
        || is_of_segment(name)
        || is_on_its_way(name)
}

/// The files in the folder that are locked to write or to open the words. A process that takes both
/// takes them in this order, as a writer does, which waits for the second one while it holds the
/// first.
pub fn locks(dir: &Path) -> [PathBuf; 2] {
    [&INDEX_WRITER_LOCK.filepath, &META_LOCK.filepath].map(|lock| dir.join(lock))
}

fn is_lock(name: &str) -> bool {
    locks(Path::new("")).contains(&PathBuf::from(name))
}

fn is_of_segment(name: &str) -> bool {
    let Some((id, part)) = name.split_once('.') else {
        return false;
    };
    let is_id = id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
    let is_deletions = part.strip_suffix(".del").is_some_and(|commit| {
        !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_id && (PARTS.contains(&part) || is_deletions)
}

/// Whether it was to be renamed into place, or to be gone with its handle, when its process was
/// killed.
fn is_on_its_way(name: &str) -> bool {
    name.strip_prefix(".tmp").is_some_and(|rest| {
        rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Remove the words. The lock files stay, because another process may be waiting for them, and so
/// do files that are not ours. The caller holds the lock.
pub(super) fn remove(dir: &Path) -> Result<(), Error> {
    let mut ours = vec![dir.join(COMMIT)];
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let goes = |name: &str| is_ours(name) && !is_lock(name) && name != COMMIT;
        if name.to_str().is_some_and(goes) && !entry.file_type()?.is_dir() {
            ours.push(entry.path());
        }
    }
    for path in ours {
        match reach("words.remove").and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ours_are_told_from_those_of_others() {
        let id = "0123456789abcdef0123456789abcdef";
        for part in PARTS.iter().copied().chain(["17.del", "0.del"]) {
            assert!(is_ours(&format!("{id}.{part}")), "{part}");
        }
        for name in ["meta.json", ".managed.json", "damaged", ".tmpa1B2c3"] {
            assert!(is_ours(name) && !is_lock(name), "{name}");
        }
        assert!(is_lock(".tantivy-writer.lock") && is_lock(".tantivy-meta.lock"));
        let longer = format!("{id}0.idx");
        let of_others = [
            "notes.txt",
            "meta.json.bak",
            "a.jsonl",
            ".tmp",
            ".tmpa1B2c34",
            ".tmpa1B2c.",
            "lock",
            ".idx",
            "idx",
            &id.to_uppercase(),
            &longer,
        ];
        for name in of_others {
            assert!(!is_ours(name), "{name}");
        }
        for part in ["", "idx.bak", "del", ".del", "x.del", "txt"] {
            assert!(!is_ours(&format!("{id}.{part}")), "{part}");
        }
    }

    #[test]
    fn what_is_not_ours_stays() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let id = "0123456789abcdef0123456789abcdef";
        let (segment, folder) = (format!("{id}.idx"), format!("{id}.pos"));
        let ours = ["meta.json", "damaged", &segment, ".tmpa1B2c3"];
        let foreign = ["notes.txt", "a.jsonl", ".tantivy-writer.lock"];
        for name in ours.iter().chain(&foreign) {
            fs::write(at(name), name).unwrap();
        }
        fs::create_dir(at(&folder)).unwrap();
        remove(place.path()).unwrap();
        assert!(ours.iter().all(|name| !at(name).exists()));
        assert!(foreign.iter().all(|name| at(name).exists()));
        assert!(at(&folder).exists() && !exist(place.path()));
    }
}
