//! Which directories are known so well that the files in them need no look?
//!
//! Where an agent replaces files by rename only, a directory's times change whenever a file in it is replaced,
//! added or removed. A directory whose identity is that of its last reading is *kept*: what is known of the
//! files in it still holds, and only the directories in it are looked at.

use std::collections::{HashMap, HashSet};

use super::identity::Identity;

/// A directory as it was when it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Path below the root, "" for the root itself.
    pub relative: String,
    /// Taken before it was read; `None` when what is in it must be looked at again whatever the times say.
    pub identity: Option<Identity>,
    /// Sources directly in it.
    pub files: u64,
}

impl Folder {
    /// A directory of which nothing is certain.
    pub fn unsettled(relative: &str) -> Folder {
        Folder {
            relative: relative.to_owned(),
            identity: None,
            files: 0,
        }
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

    /// The directory if it is as it was, and the directories in it.
    pub fn kept(&self, relative: &str, now: &Identity) -> Option<(&Folder, &[String])> {
        let folder = &self.all[*self.by_path.get(relative)?];
        let below = self.below.get(relative).map_or(&[][..], Vec::as_slice);
        (folder.identity.as_ref() == Some(now)).then_some((folder, below))
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

/// The paths of a directory's own files as half-open ranges: all that begins with it, without what lies in the
/// directories in it.
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
