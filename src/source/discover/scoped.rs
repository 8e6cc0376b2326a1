//! What lies at some paths below a root? Only these paths and what is below them are read.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::Discovery;
use super::walk::{Directory, Walk};
use crate::databases::{companion, is_alone};
use crate::format::Format;
use crate::model::Placement;
use crate::source::fingerprints::Folders;
use crate::source::identity::Identity;
use crate::source::links::Links;
use crate::source::listing::Kind;
use crate::stored_path::slashed;

/// Look at `paths` below the root at `path`: files, directories, or nothing any more. `None` when
/// the root itself cannot be read, or is on another device than `device`: then the whole root has
/// to be scanned.
pub fn discover_at(
    path: &Path,
    flat: bool,
    format: &dyn Format,
    links: &Links,
    device: Option<i64>,
    paths: &BTreeSet<String>,
) -> Option<Discovery> {
    let root = fs::metadata(path).ok().filter(|root| root.is_dir())?;
    let identity = Identity::of(&root);
    if device.is_some_and(|device| device != identity.device) {
        return None;
    }
    let known = Folders::default();
    let mut here = Discovery::default();
    let walk = Walk::new(path, flat, format, links, &known, Vec::new());
    for below in paths {
        // Below a flat root only its own files are looked at.
        let below = Path::new(below);
        if !(flat && below.components().count() > 1) {
            let directory = walk.at(below, identity, &mut here);
            walk.waiting().extend(directory);
        }
    }
    if !walk.waiting().is_empty() {
        std::thread::scope(|scope| walk.walk(scope));
    }
    let other_roots = walk.other_roots();
    let mut all = walk
        .all
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    all.add(here);
    all.other_roots = other_roots;
    all.device = identity.device;
    all.sort();
    Some(all)
}

/// The path below a root at which to look where something happened at `path`: of what is part of
/// a database or in it, the database. `None`: there is nothing to look at, as in a folder that is
/// left out.
pub fn hinted(format: &dyn Format, flat: bool, path: &str) -> Option<String> {
    if format.about().database.is_none() {
        return Some(path.to_owned());
    }
    let is_database = |path: &str| format.place(Path::new(path), flat) == Placement::Database;
    if let Some(database) = companion(path).filter(|database| is_database(database)) {
        return (!is_alone(path)).then(|| database.to_owned());
    }
    let mut ends = path.match_indices('/').map(|(end, _)| &path[..end]);
    let is_left_out = |above| format.leaves_out(Path::new(above)).is_some();
    if ends.clone().any(is_left_out) {
        return None;
    }
    let database = ends.find(|above| is_database(above));
    Some(database.unwrap_or(path).to_owned())
}

/// Of these paths those that are below no other.
pub fn outermost(paths: &BTreeSet<String>) -> BTreeSet<String> {
    let is_below = |path: &str| {
        let mut ends = path.match_indices('/');
        ends.any(|(end, _)| paths.contains(&path[..end]))
    };
    let outer = paths.iter().filter(|path| !is_below(path));
    outer.cloned().collect()
}

impl Walk<'_> {
    /// Look at one name; a directory is given back to be walked.
    fn at(&self, below: &Path, root: Identity, here: &mut Discovery) -> Option<Directory> {
        let directory = self.way(below, root)?;
        let path = self.root.join(below);
        let own = match fs::symlink_metadata(&path) {
            Ok(own) => own,
            Err(error) if is_absence(error.kind()) => return None,
            Err(error) => {
                here.unread(below, &error);
                return None;
            }
        };
        let is_link = own.is_symlink();
        let found = match is_link {
            true => match self.target(below) {
                Ok(found) => found,
                Err(reason) => {
                    here.foreign_file(below, &reason);
                    return None;
                }
            },
            false => own,
        };
        let identity = Identity::of(&found);
        match Kind::of(&found) {
            kind if self.is_left(below, kind) => None,
            Kind::File => {
                self.file(below, identity, is_link, here);
                None
            }
            Kind::Folder if !self.flat && self.is_database(below) => {
                self.look_at_documents(below, here);
                None
            }
            Kind::Folder if !self.flat => {
                let entered = self.enter(&directory, below.to_path_buf(), identity, is_link);
                entered.map_err(|why| here.foreign_file(below, why)).ok()
            }
            _ => None,
        }
    }

    /// The directory that `below` is in; `None` where a walk does not come along there: a link is
    /// not followed, or leads to a folder above it.
    fn way(&self, below: &Path, root: Identity) -> Option<Directory> {
        let mut directory = Directory {
            below: PathBuf::new(),
            identity: root,
            above: vec![(root.device, root.inode)],
            behind: None,
        };
        let mut way = PathBuf::new();
        for name in below.parent().into_iter().flat_map(Path::iter) {
            way.push(name);
            let Ok(own) = fs::symlink_metadata(self.root.join(&way)) else {
                // Nothing is there any more.
                continue;
            };
            let is_link = own.is_symlink();
            let found = if is_link {
                self.target(&way).ok()?
            } else {
                own
            };
            let entered = self.enter(&directory, way.clone(), Identity::of(&found), is_link);
            directory = Directory {
                // What is counted behind a link is counted by a walk from the link on.
                behind: None,
                ..entered.ok()?
            };
        }
        Some(directory)
    }
}

/// The name is gone, or what it was below is.
fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// A path below a root as it is stored; `None` where it is no text.
pub fn relative(path: &Path) -> Option<String> {
    path.to_str().map(slashed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::discover::discover;

    #[test]
    fn only_the_outermost_paths_are_scanned() {
        let paths = ["a/b", "a", "a-c/d", "e/f", "e/f/g/h"].map(str::to_owned);
        let outer = outermost(&BTreeSet::from(paths));
        assert_eq!(outer.iter().collect::<Vec<_>>(), ["a", "a-c/d", "e/f"]);
    }

    #[test]
    fn a_scan_of_paths_finds_what_a_scan_of_all_finds_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["a/1.jsonl", "a/b/2.jsonl", "a/b/x.txt", "c.jsonl"] {
            fs::write(root.join(name), "{}\n").unwrap();
        }
        let (format, anywhere) = (crate::format::FORMATS[0], Links::default());
        let scan = |paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            let found = discover_at(root, false, format, &anywhere, None, &paths).unwrap();
            let files = found.found.into_iter().map(|found| found.relative);
            let foreign_files = found
                .foreign_files
                .into_iter()
                .map(|foreign_file| foreign_file.relative);
            files.chain(foreign_files).collect::<Vec<_>>()
        };
        assert_eq!(scan(&["a/1.jsonl", "gone"]), ["a/1.jsonl"]);
        assert_eq!(scan(&["a/b"]), ["a/b/2.jsonl", "a/b/x.txt"]);
        assert_eq!(scan(&["a/1.jsonl/below"]), Vec::<String>::new());
        let all = discover(root, false, format, &anywhere);
        assert_eq!(
            scan(&["a", "c.jsonl"]).len(),
            all.found.len() + all.foreign_files.len()
        );
        let none = BTreeSet::new();
        assert!(discover_at(&root.join("no"), false, format, &anywhere, None, &none).is_none());
        let other = Some(all.device + 1);
        assert!(discover_at(root, false, format, &anywhere, other, &none).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/up")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("a/lost")).unwrap();
        for paths in [&["a"][..], &["a/up", "a/lost"]] {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            let format = crate::format::FORMATS[0];
            let links = Links::within(vec![folder.path().to_path_buf()]);
            let found = discover_at(folder.path(), false, format, &links, None, &paths).unwrap();
            let foreign_files: Vec<_> = found
                .foreign_files
                .iter()
                .map(|s| s.relative.as_str())
                .collect();
            assert_eq!(foreign_files, ["a/lost", "a/up"]);
        }
    }
}
