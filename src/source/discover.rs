//! Which files lie below a root, with the identity of each? Directories are read in parallel; the
//! contents of unchanged directories are not listed.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use self::walk::{Directory, Walk};
use super::fingerprints::{DirectoryFingerprint, Folder, Folders};
use super::identity::{Identity, now_ns};
use super::links::Links;
use crate::databases::companion;
use crate::format::{Format, WriteMode};
use crate::model::{Placement, SourcePart};
use crate::stored_path::{self, slashed};

mod budget;
mod scoped;
mod walk;

pub use scoped::{discover_at, hinted, outermost, relative};

/// A source as found.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct FoundSource {
    /// Path below the root.
    pub relative: String,
    pub identity: Identity,
    /// It is a link to the file.
    pub is_link: bool,
    /// Key of its session below the root.
    pub session_key: String,
    pub part: SourcePart,
    pub unlisted: Option<String>,
}

/// A database as found: whoever knows what is stored of its sessions lists them.
#[derive(Debug, Clone)]
pub struct FoundDatabase {
    /// Path below the root.
    pub relative: String,
    /// `None` when its sessions must be listed again in any case.
    pub fingerprint: Option<DirectoryFingerprint>,
}

/// A file that is no source, or what could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignFile {
    /// Path below the root.
    pub relative: String,
    /// Why it is none.
    pub reason: String,
    /// It may be one, or hold some.
    pub unread: bool,
}

impl ForeignFile {
    /// What is no source, or is left out.
    pub fn left_out(relative: String, why: &str) -> ForeignFile {
        ForeignFile {
            relative,
            reason: why.to_owned(),
            unread: false,
        }
    }

    /// What could not be read.
    pub fn unread(relative: String, why: &dyn Display) -> ForeignFile {
        ForeignFile {
            relative,
            reason: why.to_string(),
            unread: true,
        }
    }

    /// These sorted, one for each path.
    pub fn one_a_path(mut files: Vec<ForeignFile>) -> Vec<ForeignFile> {
        files.sort();
        files.dedup_by(|a, b| a.relative == b.relative);
        files
    }
}

/// All that lies below one root.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The sources, sorted by path.
    pub found: Vec<FoundSource>,
    /// Databases of sessions that changed, none of which is in `found` yet.
    pub databases: Vec<FoundDatabase>,
    /// Files that are no source, and why.
    pub foreign_files: Vec<ForeignFile>,
    /// Directories and files that could not be read: nothing below them counts as gone.
    pub unreadable: Vec<ForeignFile>,
    /// Device of the root.
    pub device: i64,
    /// Its inode there.
    pub inode: i64,
    /// The root itself could not be read: nothing below it counts as gone.
    pub error: Option<String>,
    /// Folders below it that are roots of their own: what they have is found there.
    pub other_roots: Vec<String>,
    /// Every directory whose path is UTF-8, and every database: its sessions lie in it as files lie
    /// in a directory.
    pub folders: Vec<Folder>,
    /// Those of them that were not kept, each with the directories in it. `found` and
    /// `foreign_files` are of these alone.
    pub read: Vec<(String, Vec<String>)>,
}

impl Discovery {
    /// The source of this path below the root.
    pub fn source(&self, relative: &str) -> Option<&FoundSource> {
        let at = (self.found).binary_search_by(|found| (*found.relative).cmp(relative));
        at.ok().map(|at| &self.found[at])
    }

    /// What could not be read below this root, for people.
    pub fn unread_notes(&self, root: &Path) -> impl Iterator<Item = String> {
        self.unreadable.iter().map(move |unread| {
            let path = stored_path::below(root, &unread.relative);
            format!("{}: {}", path.display(), unread.reason)
        })
    }

    /// Whether the root is not there any more. What is unmounted may come back.
    pub fn root_is_gone(&self, root: &Path) -> bool {
        self.error.is_some() && matches!(root.try_exists(), Ok(false))
    }

    /// Whether a source that was not found may still exist.
    pub fn hides(&self, relative: &str) -> bool {
        let mut unreadable = self.unreadable.iter();
        self.error.is_some() || unreadable.any(|unread| is_at_or_below(relative, &unread.relative))
    }

    /// The folder below the root that is a root of its own, to which a source belongs.
    pub fn other_root_of(&self, relative: &str) -> Option<&str> {
        let mut others = self.other_roots.iter();
        let is_its = |other: &&String| is_at_or_below(relative, other);
        others.find(is_its).map(String::as_str)
    }

    fn foreign_file(&mut self, path: &Path, reason: &str) {
        let left_out = ForeignFile::left_out(in_words(path), reason);
        self.foreign_files.push(left_out);
    }

    fn unread(&mut self, path: &Path, why: &dyn Display) {
        let unread = ForeignFile::unread(in_words(path), why);
        self.unreadable.push(unread);
    }

    /// Take in a file. `false`: it is reported in every scan, so its directory has to be read in
    /// every scan.
    fn file(
        &mut self,
        path: &Path,
        identity: Identity,
        is_link: bool,
        flat: bool,
        format: &dyn Format,
    ) -> bool {
        if is_companion(path, flat, format) {
            return true;
        }
        let placement = format.place(path, flat);
        match (placement, path.to_str().map(slashed)) {
            (
                Placement::Source {
                    session,
                    part,
                    unlisted,
                },
                Some(relative),
            ) => self.found.push(FoundSource {
                relative,
                identity,
                is_link,
                session_key: session,
                part,
                unlisted,
            }),
            (Placement::Database, Some(relative)) => self.databases.push(FoundDatabase {
                relative,
                fingerprint: None,
            }),
            (Placement::Ignore(reason), _) => self.foreign_file(path, reason),
            (_, None) => {
                // Sessions are named by their paths, in SQL and in JSON: paths are text.
                self.unread(path, &"its name is not UTF-8; rename it to have it read");
                return false;
            }
        }
        true
    }

    /// Take in a directory that was read, and the directories in it. It keeps its fingerprint only
    /// if each of them has a UTF-8 path: others would be missed while the fingerprint holds.
    fn folder(
        &mut self,
        relative: String,
        fingerprint: Option<DirectoryFingerprint>,
        files: u64,
        deeper: &[Directory],
        databases: Vec<String>,
    ) {
        let names = deeper.iter().filter_map(|inside| inside.below.to_str());
        let mut names: Vec<String> = names.map(slashed).collect();
        self.folders.push(Folder {
            relative: relative.clone(),
            fingerprint: fingerprint.filter(|_| names.len() == deeper.len()),
            files,
        });
        names.extend(databases);
        self.read.push((relative, names));
    }

    fn add(&mut self, mut other: Discovery) {
        self.found.append(&mut other.found);
        self.databases.append(&mut other.databases);
        self.foreign_files.append(&mut other.foreign_files);
        self.unreadable.append(&mut other.unreadable);
        self.folders.append(&mut other.folders);
        self.read.append(&mut other.read);
    }

    /// Every list by path.
    pub fn sort(&mut self) {
        self.found
            .sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        self.foreign_files.sort();
        self.unreadable.sort();
    }
}

/// Walk the root at `path`, and look at every file.
pub fn discover(path: &Path, flat: bool, format: &dyn Format, links: &Links) -> Discovery {
    discover_changes(path, flat, format, links, &Folders::default())
}

/// Walk the root at `path`, and look at the files in directories that changed since they were
/// `known`.
pub fn discover_changes(
    path: &Path,
    flat: bool,
    format: &dyn Format,
    links: &Links,
    known: &Folders,
) -> Discovery {
    if path.to_str().is_none() {
        return Discovery {
            error: Some("its path is not UTF-8".into()),
            ..Discovery::default()
        };
    }
    // Before the first scan: what is changed later is so close to it that it counts as racy.
    let started_ns = now_ns();
    let metadata = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => {
            return Discovery {
                error: Some("not a directory".into()),
                ..Discovery::default()
            };
        }
        Err(error) => {
            return Discovery {
                error: Some(error.to_string()),
                ..Discovery::default()
            };
        }
    };
    let identity = Identity::of(&metadata);
    let waiting = vec![Directory {
        below: PathBuf::new(),
        identity,
        above: vec![(identity.device, identity.inode)],
        behind: None,
    }];
    let mut walk = Walk::new(path, flat, format, links, known, waiting);
    walk.started_ns = started_ns;
    std::thread::scope(|scope| walk.walk(scope));
    let other_roots = walk.other_roots();
    let mut all = walk
        .all
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = all
        .unreadable
        .iter()
        .position(|unread| unread.relative.is_empty())
    {
        all.error = Some(all.unreadable.swap_remove(at).reason);
    }
    (all.device, all.inode) = identity.file();
    all.other_roots = other_roots;
    all.sort();
    all
}

/// Whether directories vouch for the files in them.
pub fn vouches(flat: bool, format: &dyn Format) -> bool {
    // Windows reports neither inode nor change time.
    // Databases are written in place.
    let about = format.about();
    let is_renamed = about.write_mode == WriteMode::Rename && about.database.is_none();
    cfg!(unix) && !flat && is_renamed
}

/// Whether the file is a part of a database beside it.
fn is_companion(path: &Path, flat: bool, format: &dyn Format) -> bool {
    format.about().database.is_some()
        && path
            .to_str()
            .and_then(companion)
            .is_some_and(|database| format.place(Path::new(database), flat) == Placement::Database)
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path below the root as text. Names that differ stay different: bytes that are not UTF-8 become
/// `\xNN`.
fn in_words(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    slashed(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::budget::MOST_BEHIND;
    use super::*;
    use std::os::unix::fs::symlink;

    fn discover_all(root: &Path) -> Discovery {
        let links = Links::anywhere(vec![root.to_path_buf()]);
        discover(root, false, crate::format::FORMATS[0], &links)
    }

    #[test]
    fn what_lies_behind_a_link_has_an_end_unless_it_is_sessions() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("root")).unwrap();
        fs::write(at("root/own.jsonl"), "{}\n").unwrap();
        for (folder, kind) in [("sessions", "jsonl"), ("others", "txt")] {
            symlink(at(folder), at("root").join(folder)).unwrap();
            for folder in (0..25).map(|number| at(&format!("{folder}/{number}"))) {
                fs::create_dir_all(&folder).unwrap();
                for number in 0..25 {
                    fs::write(folder.join(format!("{number}.{kind}")), "{}\n").unwrap();
                }
            }
        }
        let found = discover_all(&at("root"));
        assert_eq!(found.found.len(), 1 + 25 * 25);
        let [unread] = &found.unreadable[..] else {
            panic!("{:?}", found.unreadable)
        };
        assert_eq!(unread.relative, "others");
        assert!(found.hides("others/1/1.txt") && !found.hides("sessions/1/1.jsonl"));
        assert!((1..=MOST_BEHIND).contains(&found.foreign_files.len()));
    }

    #[test]
    fn links_that_lead_to_one_another_have_an_end() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: String| place.path().join(name);
        fs::create_dir(at("root".to_owned())).unwrap();
        // There are more ways through them than anybody could go.
        for from in 0..14 {
            fs::create_dir(at(format!("{from}"))).unwrap();
            for to in 0..14 {
                symlink(at(format!("{to}")), at(format!("{from}/{to}"))).unwrap();
            }
        }
        symlink(at("0".to_owned()), at("root/link".to_owned())).unwrap();
        let found = discover_all(&at("root".to_owned()));
        assert_eq!(found.unreadable[0].relative, "link");
    }
}
