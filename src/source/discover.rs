//! Which files lie below a root, with the identity of each. Directories are read in parallel; those known to be
//! unchanged are not read.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::folders::{Folder, Folders};
use super::identity::{Identity, now_ns};
use super::listing::{Kind, Listed, list};
use crate::format::{Format, WriteMode};
use crate::model::{Part, Placement};

/// A source as found.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Found {
    /// Path below the root.
    pub relative: String,
    pub identity: Identity,
    /// Key of its session below the root.
    pub place: String,
    pub part: Part,
    pub unlisted: Option<String>,
}

/// A file that is no source, or what could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stray {
    /// Path below the root.
    pub relative: String,
    /// Why it is none.
    pub reason: String,
    /// It may be one, or hold some.
    pub unread: bool,
}

/// All that lies below one root.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The sources, sorted by path.
    pub found: Vec<Found>,
    /// Files that are no source, and why.
    pub strays: Vec<Stray>,
    /// Directories and files that could not be read: nothing below them counts as gone.
    pub unreadable: Vec<Stray>,
    /// Device of the root.
    pub device: i64,
    /// The root itself could not be read: nothing below it counts as gone.
    pub error: Option<String>,
    /// Every directory, where the agent's way of writing lets directories vouch for their files.
    pub folders: Vec<Folder>,
    /// Those of them that were read, each with the directories in it. `found` and `strays` are of these alone.
    pub read: Vec<(String, Vec<String>)>,
}

impl Discovery {
    /// Whether a source that was not found may still exist.
    pub fn hides(&self, relative: &str) -> bool {
        self.error.is_some()
            || self.unreadable.iter().any(|unread| {
                let below = unread.relative.as_str();
                relative == below
                    || relative
                        .strip_prefix(below)
                        .is_some_and(|rest| rest.starts_with('/'))
            })
    }

    fn stray(&mut self, path: &Path, reason: &str) {
        self.strays.push(Stray {
            relative: in_words(path),
            reason: reason.to_owned(),
            unread: false,
        });
    }

    fn unread(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.unreadable.push(Stray {
            relative: in_words(path),
            reason: why.to_string(),
            unread: true,
        });
    }

    fn add(&mut self, mut other: Discovery) {
        self.found.append(&mut other.found);
        self.strays.append(&mut other.strays);
        self.unreadable.append(&mut other.unreadable);
        self.folders.append(&mut other.folders);
        self.read.append(&mut other.read);
    }
}

/// Whether the times of directories tell of changes to the files in them.
pub fn folders_vouch(flat: bool, format: &dyn Format) -> bool {
    // Windows tells neither inode nor change time.
    cfg!(unix) && !flat && format.write_mode() == WriteMode::Rename
}

/// Walk the root at `path`, and look at every file.
pub fn discover(path: &Path, flat: bool, format: &dyn Format) -> Discovery {
    discover_changes(path, flat, format, &Folders::default())
}

/// The same but for the files in directories that are as they were.
pub fn discover_changes(
    path: &Path,
    flat: bool,
    format: &dyn Format,
    known: &Folders,
) -> Discovery {
    if path.to_str().is_none() {
        return Discovery {
            error: Some("its path is not UTF-8".into()),
            ..Discovery::default()
        };
    }
    // Before the first look: what is changed later is so close to it that it counts as racy.
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
    let walk = Walk {
        root: path,
        flat,
        format,
        known,
        vouches: folders_vouch(flat, format),
        started_ns,
    };
    let identity = Identity::of(&metadata);
    let own = (identity.device, identity.inode);
    let mut all = walk.directory(Path::new(""), identity, &[own]);
    if let Some(at) = all
        .unreadable
        .iter()
        .position(|unread| unread.relative.is_empty())
    {
        all.error = Some(all.unreadable.swap_remove(at).reason);
    }
    all.device = identity.device;
    all.found
        .sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
    all.strays.sort();
    all.unreadable.sort();
    all
}

struct Walk<'a> {
    root: &'a Path,
    flat: bool,
    format: &'a dyn Format,
    known: &'a Folders,
    vouches: bool,
    started_ns: i64,
}

impl Walk<'_> {
    /// `below` is the directory's path below the root; `above` are device and inode of every directory on the way
    /// here, so that links cannot lead in circles.
    fn directory(&self, below: &Path, identity: Identity, above: &[(i64, i64)]) -> Discovery {
        let path = below.to_str().filter(|_| self.vouches);
        if let Some((folder, inside)) = path.and_then(|path| self.known.kept(path, &identity)) {
            return self.kept(folder, inside, above);
        }
        let mut here = Discovery::default();
        let mut settled = !identity.is_racy(self.started_ns);
        let mut deeper = Vec::new();
        let listed = list(&self.root.join(below), |listed| {
            let (name, what) = match listed {
                Ok(Listed { name, what }) => (name, what),
                Err(error) => {
                    here.unread(below, &error);
                    settled = false;
                    return;
                }
            };
            let mut path = PathBuf::with_capacity(below.as_os_str().len() + 1 + name.len());
            path.push(below);
            path.push(name);
            let mut is_link = false;
            let (kind, identity) = match what {
                Ok((Kind::Link, _)) => match fs::metadata(self.root.join(&path)) {
                    Ok(metadata) => {
                        is_link = true;
                        // What a link leads to changes without a trace here.
                        settled &= metadata.is_dir();
                        (Kind::of(&metadata), Identity::of(&metadata))
                    }
                    Err(error) => {
                        settled = false;
                        here.stray(&path, &format!("link that leads nowhere: {error}"));
                        return;
                    }
                },
                Ok(found) => found,
                // Gone between the listing and the look.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
                Err(error) => {
                    here.unread(&path, &error);
                    settled = false;
                    return;
                }
            };
            match kind {
                // Often a folder of a project: what lies below it is the project's.
                Kind::Folder if self.flat => {}
                Kind::Folder => {
                    let own = (identity.device, identity.inode);
                    // Without inodes (Windows) a link to a folder above cannot be told; it is not followed.
                    if is_link && (own == (0, 0) || above.contains(&own)) {
                        here.stray(&path, "link to a folder above it");
                    } else {
                        deeper.push((path, identity));
                    }
                }
                Kind::File => {
                    settled &= !self.vouches || !identity.is_racy(self.started_ns);
                    self.file(path, identity, &mut here);
                }
                Kind::Link | Kind::Other => {}
            }
        });
        if let Err(error) = listed {
            here.unread(below, &error);
            here.folders.extend(path.map(Folder::unsettled));
            return here;
        }
        if let Some(path) = path {
            let names = deeper.iter().filter_map(|(path, _)| path.to_str());
            let names: Vec<String> = names.map(str::to_owned).collect();
            settled &= names.len() == deeper.len();
            here.folders.push(Folder {
                relative: path.to_owned(),
                identity: Some(identity).filter(|_| settled),
                files: here.found.len() as u64,
            });
            here.read.push((path.to_owned(), names));
        }
        self.deeper(here, deeper, above)
    }

    /// A directory that is as it was: only the directories in it are looked at.
    fn kept(&self, folder: &Folder, inside: &[String], above: &[(i64, i64)]) -> Discovery {
        let mut here = Discovery::default();
        here.folders.push(folder.clone());
        let mut deeper = Vec::with_capacity(inside.len());
        for below in inside {
            match fs::metadata(self.root.join(below)) {
                Ok(metadata) if metadata.is_dir() => {
                    deeper.push((PathBuf::from(below), Identity::of(&metadata)));
                }
                // Gone since its parent was looked at; the next look will find that one changed.
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    here.unread(Path::new(below), &error);
                    here.folders.push(Folder::unsettled(below));
                }
            }
        }
        self.deeper(here, deeper, above)
    }

    fn deeper(
        &self,
        mut here: Discovery,
        deeper: Vec<(PathBuf, Identity)>,
        above: &[(i64, i64)],
    ) -> Discovery {
        let deeper: Vec<Discovery> = deeper
            .into_par_iter()
            .map(|(path, identity)| {
                let mut above = above.to_vec();
                above.push((identity.device, identity.inode));
                self.directory(&path, identity, &above)
            })
            .collect();
        for each in deeper {
            here.add(each);
        }
        here
    }

    fn file(&self, path: PathBuf, identity: Identity, here: &mut Discovery) {
        match self.format.place(&path, self.flat) {
            Placement::Source {
                session,
                part,
                unlisted,
            } => match path.to_str() {
                Some(relative) => here.found.push(Found {
                    relative: with_slashes(relative),
                    identity,
                    place: session,
                    part,
                    unlisted,
                }),
                // Sessions are named by their paths, in SQL and in JSON: paths are text.
                None => here.unread(&path, &"its name is not UTF-8; renamed, it is read"),
            },
            Placement::Ignore(reason) => here.stray(&path, reason),
        }
    }
}

fn with_slashes(relative: &str) -> String {
    match cfg!(windows) {
        true => relative.replace('\\', "/"),
        false => relative.to_owned(),
    }
}

/// A path below the root as text. Names that differ stay different: bytes that are not UTF-8 become `\xNN`.
fn in_words(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    with_slashes(&text)
}
