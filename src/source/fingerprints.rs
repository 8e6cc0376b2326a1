//! Which directories are known so well that nothing in them needs to be compared with what is
//! stored?
//!
//! Each directory has a *directory fingerprint*: while it is unchanged, everything that is known of
//! the files in it still holds. In most stores it is a hash of every name in the directory with the
//! identity of that file. So each file's identity is looked up, but only the fingerprint is stored
//! and compared. Where an agent replaces files by rename only, a directory's times change whenever
//! a file in it is replaced, added or removed: there the directory's own identity is enough, and
//! nothing in it is looked up. A directory whose fingerprint is that of its last reading is
//! *kept*.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use super::identity::Identity;
use super::listing::Kind;
use crate::databases::DatabaseState;
use crate::format::stable_hash;

/// A directory as it was when it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Path below the root, "" for the root itself.
    pub relative: String,
    /// `None` when what is in it must be compared again in any case.
    pub fingerprint: Option<DirectoryFingerprint>,
    /// Sources directly in it.
    pub files: u64,
}

impl Folder {
    /// A directory without a fingerprint, which the next scan reads again.
    pub fn unsettled(relative: &str) -> Folder {
        Folder {
            relative: relative.to_owned(),
            fingerprint: None,
            files: 0,
        }
    }
}

/// What must be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryFingerprint(pub i64);

impl DirectoryFingerprint {
    /// A directory's own identity.
    pub fn of_directory(identity: &Identity) -> DirectoryFingerprint {
        DirectoryFingerprint(stable_hash::of([&identity.to_bytes()[..]]).cast_signed())
    }

    /// Everything in a directory, in any order.
    pub fn of_files<'a>(
        names: impl Iterator<Item = (&'a OsStr, Kind, &'a Identity)>,
    ) -> DirectoryFingerprint {
        let (mut sum, mut bytes) = (0u64, Vec::new());
        for (name, kind, identity) in names {
            // Of a directory only which it is: what is in it has a fingerprint of its own.
            let identity = match kind {
                Kind::Folder => Identity {
                    device: identity.device,
                    inode: identity.inode,
                    ..Identity::default()
                },
                _ => *identity,
            };
            bytes.clear();
            bytes.push(kind as u8);
            bytes.extend_from_slice(&identity.to_bytes());
            bytes.extend_from_slice(name.to_string_lossy().as_bytes());
            sum = sum.wrapping_add(stable_hash::to_add_up(&bytes));
        }
        DirectoryFingerprint(sum.cast_signed())
    }
}

impl DatabaseState {
    /// What must be the same for all sessions of the database to be as they were, with the
    /// `folders` of other files of it; `None` where a change before the clock's `now_ns` could have
    /// gone unnoticed.
    pub fn fingerprint(&self, folders: &[Identity], now_ns: i64) -> Option<DirectoryFingerprint> {
        let own = [Some(self.file), self.wal].into_iter().flatten();
        let files: Vec<Identity> = own.chain(folders.iter().copied()).collect();
        if files.iter().any(|file| file.is_racy(now_ns)) {
            return None;
        }
        let files: Vec<_> = files.iter().map(Identity::to_bytes).collect();
        let files = files.iter().map(|file| &file[..]);
        Some(DirectoryFingerprint(stable_hash::of(files).cast_signed()))
    }
}

/// All directories below a root as they were.
#[derive(Debug, Default)]
pub struct Folders {
    all: Vec<Folder>,
    by_path: HashMap<String, usize>,
    below: HashMap<String, Vec<String>>,
}

impl Folders {
    /// Of the stored rows.
    pub fn of(all: Vec<Folder>) -> Folders {
        let mut folders = Folders::default();
        for (at, folder) in all.iter().enumerate() {
            folders.by_path.insert(folder.relative.clone(), at);
            if !folder.relative.is_empty() {
                let above = parent(&folder.relative).to_owned();
                let below = folders.below.entry(above).or_default();
                below.push(folder.relative.clone());
            }
        }
        folders.all = all;
        folders
    }

    /// The directory if it has this fingerprint still.
    pub fn kept(&self, relative: &str, now: DirectoryFingerprint) -> Option<&Folder> {
        let folder = &self.all[*self.by_path.get(relative)?];
        (folder.fingerprint == Some(now)).then_some(folder)
    }

    /// The directories in a directory.
    pub fn inside(&self, relative: &str) -> &[String] {
        self.below.get(relative).map_or(&[], Vec::as_slice)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What must be stored and what forgotten so that the rows say what was `seen`.
    pub fn changes<'a>(&'a self, seen: &'a [Folder]) -> (Vec<&'a Folder>, Vec<&'a str>) {
        let known = |folder: &Folder| self.by_path.get(&folder.relative).map(|at| &self.all[*at]);
        let changed = seen.iter().filter(|f| known(f) != Some(f)).collect();
        let seen: HashSet<&str> = seen.iter().map(|f| f.relative.as_str()).collect();
        let gone = self.all.iter().map(|f| f.relative.as_str());
        (changed, gone.filter(|path| !seen.contains(path)).collect())
    }
}

/// The directory that holds a path.
pub fn parent(relative: &str) -> &str {
    relative.rsplit_once('/').map_or("", |(above, _)| above)
}

/// The paths of a directory's own files as half-open ranges: all that begins with it, without what
/// lies in the directories in it.
pub fn ranges_of_files(relative: &str, below: &[String]) -> Vec<(String, String)> {
    let (start, end) = match relative {
        "" => (String::new(), char::MAX.to_string()),
        // `0` follows `/`.
        folder => (format!("{folder}/"), format!("{folder}0")),
    };
    let mut inside: Vec<&String> = below.iter().collect();
    inside.sort_by(|a, b| a.bytes().chain(*b"/").cmp(b.bytes().chain(*b"/")));
    let mut ranges = Vec::with_capacity(inside.len() + 1);
    let mut from = start;
    for folder in inside {
        ranges.push((from, format!("{folder}/")));
        from = format!("{folder}0");
    }
    ranges.push((from, end));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_of_each_name_with_its_own_file() {
        let file = |inode, size| Identity {
            inode,
            size,
            ..Identity::default()
        };
        let fingerprint = |names: &[(&str, Kind, Identity)]| {
            DirectoryFingerprint::of_files(names.iter().map(|(n, k, i)| (OsStr::new(*n), *k, i)))
        };
        let (a, b) = (("a", Kind::File, file(1, 9)), ("b", Kind::File, file(2, 9)));
        let expected = fingerprint(&[a, b]);
        assert_eq!(expected, fingerprint(&[b, a]), "in any order");
        for other in [
            vec![a],
            vec![a, b, b],
            vec![("a", Kind::File, b.2), ("b", Kind::File, a.2)],
            vec![a, ("b", Kind::File, file(2, 10))],
            vec![a, ("b", Kind::Other, b.2)],
            vec![a, ("c", Kind::File, b.2)],
            vec![a, b, ("d", Kind::Folder, file(3, 1))],
        ] {
            assert_ne!(expected, fingerprint(&other), "{other:?}");
        }
        let folder = |size| fingerprint(&[("d", Kind::Folder, file(3, size))]);
        assert_eq!(folder(1), folder(2), "what is in a directory has its own");
        let other = fingerprint(&[("d", Kind::Folder, file(4, 1))]);
        assert_ne!(folder(1), other, "another directory, or a link to one");
    }

    #[test]
    fn a_directorys_own_files_are_all_paths_but_those_below() {
        let below = ["a/b", "a/b-c", "a/é"].map(str::to_owned);
        let ranges = ranges_of_files("a", &below);
        let holds = |path: &str| {
            ranges
                .iter()
                .any(|(from, to)| **from <= *path && *path < **to)
        };
        for own in [
            "a/b.json",
            "a/b-",
            "a/b-c0",
            "a/z",
            "a/é.json",
            "a/b0",
            "a/gone/x",
        ] {
            assert!(holds(own), "{own}");
        }
        for other in ["a", "a.json", "a/b/x", "a/b-c/x", "a/é/x", "a0", "b/x"] {
            assert!(!holds(other), "{other}");
        }
    }
}
