//! What did a commit change, and under which path was a file before? Read from git's own objects;
//! git is not run.

mod renames;

pub(crate) use renames::{FileNow, former_paths};

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use gix_hash::{ObjectId, Prefix};
use gix_object::tree::EntryMode;
use gix_object::{Exists, FindExt};
use gix_odb::Handle;

/// Files with more bytes than these are not compared: nobody wrote them by hand.
const MOST_BYTES: u64 = 4 << 20;

/// Files that a commit changes are read up to this number: those of more are copied in.
const MOST_FILES: usize = 2_000;

/// Tags of tags that are followed, at most.
const MOST_TAGS: usize = 5;

/// A commit, with what it changed since its first parent.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    /// Its whole name.
    pub id: String,
    /// When it was made.
    pub time_ms: i64,
    /// The first line of its message.
    pub subject: String,
    /// It joins branches: what it changed was made in others.
    pub is_merge: bool,
    /// The files that it changed or added, by their paths in the repository.
    pub files: BTreeMap<String, ChangedFile>,
}

/// A file that a commit changed, where it is text.
#[derive(Debug, Clone)]
pub(crate) struct ChangedFile {
    /// What it was; empty where it is new.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// The commit of this name in the repository with this common folder: its SHA-1, that of a tag
/// of it, or the beginning of either. `None`: there is none, or several.
///
/// # Errors
/// When git's objects cannot be read.
pub(crate) fn commit(common: &Path, name: &str) -> io::Result<Option<Commit>> {
    let objects = gix_odb::at(common.join("objects"), gix_hash::Kind::Sha1)?;
    let Ok(prefix) = Prefix::from_hex(name) else {
        return Ok(None);
    };
    let found = objects
        .lookup_prefix(prefix, None)
        .map_err(io::Error::other)?;
    let Some(Ok(mut id)) = found else {
        return Ok(None);
    };
    let mut buffer = Vec::new();
    // An annotated tag is of a commit, or of another one that is.
    for _ in 0..MOST_TAGS {
        match objects.find_tag(&id, &mut buffer) {
            Ok(tag) => id = tag.target(),
            Err(_) => break,
        }
    }
    let Ok(read) = objects.find_commit(&id, &mut buffer) else {
        return Ok(None);
    };
    let seconds = read.time().map_or(0, |time| time.seconds);
    let subject = read.message.split(|byte| *byte == b'\n').next();
    let mut commit = Commit {
        id: id.to_string(),
        time_ms: seconds.saturating_mul(1000),
        subject: String::from_utf8_lossy(subject.unwrap_or_default()).into_owned(),
        is_merge: read.parents.len() > 1,
        files: BTreeMap::new(),
    };
    let (tree, parent) = (read.tree(), read.parents().next());
    let before = match parent {
        Some(parent) => {
            let mut buffer = Vec::new();
            // Of a shallow clone's last commit the parent is not there: what it changed is not
            // known.
            match objects.find_commit(&parent, &mut buffer) {
                Ok(parent) => Some(parent.tree()),
                Err(_) => return Ok(Some(commit)),
            }
        }
        None => None,
    };
    let mut changes = Changes {
        objects: &objects,
        files: &mut commit.files,
    };
    match changes.between(before, tree) {
        // A partial clone has not all objects: then nobody knows what the commit changed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => commit.files.clear(),
        changed => changed?,
    }
    Ok(Some(commit))
}

struct Changes<'c> {
    objects: &'c Handle,
    files: &'c mut BTreeMap<String, ChangedFile>,
}

impl Changes<'_> {
    /// Adds what changed between two trees.
    fn between(&mut self, before: Option<ObjectId>, after: ObjectId) -> io::Result<()> {
        let mut folders = vec![(before, after, String::new())];
        while let Some((before, after, path)) = folders.pop() {
            if self.files.len() >= MOST_FILES {
                break;
            }
            let inside = self.in_folder(before, after, &path)?;
            folders.extend(inside);
        }
        Ok(())
    }

    /// Adds the files that changed between two trees at this path, and gives back the folders.
    fn in_folder(
        &mut self,
        before: Option<ObjectId>,
        after: ObjectId,
        path: &str,
    ) -> io::Result<Vec<(Option<ObjectId>, ObjectId, String)>> {
        let mut inside = Vec::new();
        let old = match before {
            Some(before) => entries(self.objects, before)?,
            None => BTreeMap::new(),
        };
        for (name, (id, kind)) in entries(self.objects, after)? {
            let was = old.get(&name).copied();
            if was == Some((id, kind)) || self.files.len() >= MOST_FILES {
                continue;
            }
            let was = was.filter(|(_, was)| *was == kind).map(|(id, _)| id);
            let path = [path, &name].concat();
            match kind {
                Kind::Folder => inside.push((was, id, format!("{path}/"))),
                Kind::File => {
                    let before = match was {
                        Some(was) => text(self.objects, was)?,
                        None => Some(String::new()),
                    };
                    let texts = before.zip(text(self.objects, id)?);
                    let file = texts.map(|(before, after)| (path, ChangedFile { before, after }));
                    self.files.extend(file);
                }
            }
        }
        Ok(inside)
    }
}

/// An error of its own kind where there is no such object.
fn is_there(objects: &Handle, id: ObjectId) -> io::Result<()> {
    match objects.exists(&id) {
        true => Ok(()),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Files and folders in a tree.
fn entries(objects: &Handle, tree: ObjectId) -> io::Result<BTreeMap<String, (ObjectId, Kind)>> {
    is_there(objects, tree)?;
    let mut buffer = Vec::new();
    let tree = objects.find_tree(&tree, &mut buffer);
    let tree = tree.map_err(io::Error::other)?;
    let entries = tree.entries.iter().filter_map(|entry| {
        let kind = kind(entry.mode)?;
        let name = String::from_utf8(entry.filename.to_vec()).ok()?;
        Some((name, (entry.oid.to_owned(), kind)))
    });
    Ok(entries.collect())
}

/// What an entry of a tree is; `None`: a link, or another repository.
fn kind(mode: EntryMode) -> Option<Kind> {
    match mode {
        mode if mode.is_tree() => Some(Kind::Folder),
        mode if mode.is_blob() => Some(Kind::File),
        _ => None,
    }
}

/// A file, where it is text.
fn text(objects: &Handle, id: ObjectId) -> io::Result<Option<String>> {
    use gix_odb::HeaderExt;
    is_there(objects, id)?;
    let header = objects.header(id).map_err(io::Error::other)?;
    if header.size() > MOST_BYTES {
        return Ok(None);
    }
    let mut buffer = Vec::new();
    let blob = objects.find_blob(&id, &mut buffer);
    let bytes = blob.map_err(io::Error::other)?.data.to_vec();
    Ok(String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0')))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}
