//! Under which paths was a file before? Where it came into the repository, or since the last
//! commit, one file went that was the same: then it was moved. What is alike in two files that went
//! was moved from neither, as far as anybody knows.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::FindExt;
use gix_odb::Handle;

use super::{Kind, entries, kind, text};

/// Commits that are walked back at most.
const MOST_COMMITS: usize = 5_000;
/// How often a file is followed to another path.
const MOST_PATHS: usize = 8;
/// Where more files went at once, none of them is looked at.
const MOST_GONE: usize = 300;

/// A path that a file had in its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormerPath {
    pub path: String,
    /// When it was moved, in milliseconds since 1970; `None`: since the last commit.
    pub until_ms: Option<i64>,
}

/// What commits say of the paths of a file.
#[derive(Debug, Default)]
pub(crate) struct FormerPaths {
    /// The paths that it had before, the last one first.
    pub paths: Vec<FormerPath>,
    /// Paths of the file under which there was another one before, and when a commit took that
    /// away.
    pub others: Vec<(String, i64)>,
}

/// A file of a repository as it is now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileNow<'f> {
    /// The working tree.
    pub top: &'f Path,
    /// The commit that is checked out there.
    pub head: &'f str,
    /// Its path in it.
    pub path: &'f str,
    /// What is in it.
    pub text: &'f str,
}

/// Whether one text, which went, is the other, which came.
pub(crate) type IsSame<'s> = &'s dyn Fn(&str, &str) -> bool;

/// The paths that a file had before, in the repository with this common folder.
///
/// # Errors
/// When git's objects cannot be read.
pub(crate) fn former_paths(
    common: &Path,
    file: FileNow<'_>,
    is_same: IsSame<'_>,
) -> io::Result<FormerPaths> {
    let objects = gix_odb::at(common.join("objects"), gix_hash::Kind::Sha1)?;
    let history = History {
        objects: &objects,
        is_same,
    };
    let mut found = FormerPaths::default();
    let Some(mut commit) = history.commit(ObjectId::from_hex(file.head.as_bytes()).ok()) else {
        return Ok(found);
    };
    // Paths to which it was moved: what had them before was another file.
    let mut left: Vec<String> = Vec::new();
    let mut path = Some(file.path.to_owned());
    if history.file_at(commit.tree, file.path)?.is_none() {
        let gone = history.gone_from(commit.tree, file.top)?;
        let Some(before) = history.only_same(gone, file.text)? else {
            return Ok(found);
        };
        left.extend(path.replace(before.clone()));
        found.paths.push(FormerPath {
            path: before,
            until_ms: None,
        });
    }
    for _ in 0..MOST_COMMITS {
        // Of a shallow clone's last commit the parent is not there.
        let Some(before) = history.commit(commit.parent) else {
            break;
        };
        let came = match &path {
            Some(here) if history.file_at(before.tree, here)?.is_none() => {
                Some(match found.paths.len() < MOST_PATHS {
                    true => history.moved_from(&before, &commit, here)?,
                    false => None,
                })
            }
            _ => None,
        };
        // It may have been moved away and back.
        left.retain(|path| came.as_ref().and_then(Option::as_ref) != Some(path));
        for path in std::mem::take(&mut left) {
            match history.file_at(before.tree, &path)? {
                Some(_) => found.others.push((path, commit.time_ms)),
                None => left.push(path),
            }
        }
        if let Some((moved, here)) = came.zip(path.clone()) {
            found.paths.extend(moved.clone().map(|path| FormerPath {
                path,
                until_ms: Some(commit.time_ms),
            }));
            if moved.is_some() {
                left.push(here);
            }
            path = moved;
        }
        if path.is_none() && left.is_empty() {
            break;
        }
        commit = before;
    }
    Ok(found)
}

struct History<'h> {
    objects: &'h Handle,
    is_same: IsSame<'h>,
}

/// What is asked of a commit.
struct Step {
    tree: ObjectId,
    parent: Option<ObjectId>,
    time_ms: i64,
}

impl History<'_> {
    fn commit(&self, id: Option<ObjectId>) -> Option<Step> {
        let mut buffer = Vec::new();
        let commit = self.objects.find_commit(&id?, &mut buffer).ok()?;
        let seconds = commit.time().map_or(0, |time| time.seconds);
        Some(Step {
            tree: commit.tree(),
            parent: commit.parents().next(),
            time_ms: seconds.saturating_mul(1000),
        })
    }

    /// The file at a path of a tree.
    fn file_at(&self, tree: ObjectId, path: &str) -> io::Result<Option<ObjectId>> {
        let mut at = (tree, Kind::Folder);
        for part in path.split('/') {
            let (Kind::Folder, tree) = (at.1, at.0) else {
                return Ok(None);
            };
            let mut buffer = Vec::new();
            let tree = self.objects.find_tree(&tree, &mut buffer);
            let tree = tree.map_err(io::Error::other)?;
            let mut named = tree.entries.iter();
            let found = named.find(|entry| entry.filename == part.as_bytes());
            let found = found.and_then(|entry| Some((entry.oid.to_owned(), kind(entry.mode)?)));
            match found {
                Some(found) => at = found,
                None => return Ok(None),
            }
        }
        Ok((at.1 == Kind::File).then_some(at.0))
    }

    /// From which path a file came that a commit added.
    fn moved_from(&self, before: &Step, commit: &Step, path: &str) -> io::Result<Option<String>> {
        let Some(id) = self.file_at(commit.tree, path)? else {
            return Ok(None);
        };
        let Some(said) = text(self.objects, id)? else {
            return Ok(None);
        };
        let gone = self.gone_between(before.tree, commit.tree)?;
        self.only_same(gone, &said)
    }

    /// The files of a tree that another one has not.
    fn gone_between(
        &self,
        before: ObjectId,
        after: ObjectId,
    ) -> io::Result<Vec<(String, ObjectId)>> {
        let mut gone = Vec::new();
        let mut folders = vec![(String::new(), before, Some(after))];
        while let Some((folder, before, after)) = folders.pop() {
            let left = match after {
                Some(after) => entries(self.objects, after)?,
                None => BTreeMap::new(),
            };
            for (name, (id, kind)) in entries(self.objects, before)? {
                let now = left.get(&name).filter(|(_, now)| *now == kind);
                let path = [&*folder, &name].concat();
                match (kind, now) {
                    (_, Some((now, _))) if *now == id => {}
                    (Kind::Folder, now) => {
                        folders.push((format!("{path}/"), id, now.map(|(now, _)| *now)));
                    }
                    (Kind::File, Some(_)) => {}
                    (Kind::File, None) => gone.push((path, id)),
                }
            }
            if gone.len() > MOST_GONE {
                break;
            }
        }
        Ok(gone)
    }

    /// The files of a tree that a working tree has not.
    fn gone_from(&self, tree: ObjectId, top: &Path) -> io::Result<Vec<(String, ObjectId)>> {
        let mut gone = Vec::new();
        let mut folders = vec![(String::new(), tree)];
        while let Some((folder, tree)) = folders.pop() {
            for (name, (id, kind)) in entries(self.objects, tree)? {
                let path = [&*folder, &name].concat();
                match kind {
                    Kind::Folder => folders.push((format!("{path}/"), id)),
                    Kind::File if top.join(&path).symlink_metadata().is_err() => {
                        gone.push((path, id));
                    }
                    Kind::File => {}
                }
            }
            if gone.len() > MOST_GONE {
                break;
            }
        }
        Ok(gone)
    }

    /// The one file among those that went which is this one.
    fn only_same(&self, gone: Vec<(String, ObjectId)>, said: &str) -> io::Result<Option<String>> {
        if gone.len() > MOST_GONE {
            return Ok(None);
        }
        let mut only = None;
        for (path, id) in gone {
            let before = text(self.objects, id)?;
            if before.is_some_and(|before| (self.is_same)(&before, said))
                && only.replace(path).is_some()
            {
                return Ok(None);
            }
        }
        Ok(only)
    }
}
